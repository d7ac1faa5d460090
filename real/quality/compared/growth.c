#include <math.h>
#include <string.h>

#include "base/text/wrap.h"
#include "real/iterations/growth.h"
#include "real/quality/compared/known.h"

static const fr_law_along kinds[] = {FR_LAW_GHOST, FR_LAW_BACKWARD, FR_LAW_GRADIENT};
enum { KINDS = sizeof kinds / sizeof *kinds };

/* Iterations of the exact plan of the table: exact plans learn alike. */
static double exact_of(const struct fr_qualities *q) {
    for (int i = 0; i < q->found.n_rows; i++)
        if (fr_known_row(q, i) && fr_known_exact(&q->plans[i].cost.plan) &&
            fr_known_batch(q, i) == fr_known_basis(q))
            return q->found.rows[i].steps.mean;
    return NAN;
}

/* Training @p i as a point of a law; false where it loses something else too, or nothing. */
static bool point_of(const struct fr_qualities *q, int i, fr_law_along of,
                     struct fr_growth_point *point) {
    const struct fr_outcome *out = &q->plans[i].cost;
    const struct fr_plan_compression *c = &out->plan.compression;
    const bool ghosts = !out->plan.method->exact, backward = out->lossy_backward > 0,
               gradient = out->lossy_gradient > 0;
    if (!fr_known_row(q, i) || fr_known_batch(q, i) != fr_known_basis(q) ||
        out->lossy_forward > 0)
        return false;
    if (ghosts + backward + gradient != 1) return false;
    if (of == FR_LAW_GHOST ? !ghosts : of == FR_LAW_BACKWARD ? !backward : !gradient)
        return false;
    *point = (struct fr_growth_point){
        .x = {[FR_GROWTH_GHOST] = (double)out->plan.ghost,
              [FR_GROWTH_TP] = (double)out->plan.tp,
              [FR_GROWTH_RANK] = (double)(backward ? c->backward_rank : c->gradient_rank),
              [FR_GROWTH_SHARE] = backward ? out->lossy_backward : out->lossy_gradient,
              [FR_GROWTH_WIDTH] = (double)fr_workload_width(&q->job.workload),
              [FR_GROWTH_DEPTH] = (double)fr_workload_depth(&q->job.workload)},
        .ratio = q->found.rows[i].steps.mean / exact_of(q)};
    return point->ratio > 0;
}

static int points_of(const struct fr_qualities *q, int kind, struct fr_growth_point *points) {
    int n = 0;
    for (int i = 0; i < q->n_with; i++)
        if (q->with[i].of == kinds[kind]) points[n++] = q->with[i].point;
    for (int i = 0; i < q->found.n_rows && n < FR_QUALITY_POINTS_MAX; i++)
        n += point_of(q, i, kinds[kind], &points[n]);
    return n;
}

static void put_points(struct fr_json_writer *w, const struct fr_growth *law,
                       const struct fr_growth_point *points, int n) {
    fr_json_add_array(w, "points");
    for (int i = 0; i < n; i++) {
        fr_json_begin_array(w);
        for (int t = 0; t < FR_GROWTH_TERMS; t++)
            if (law->uses[t]) fr_json_put_number(w, points[i].x[t]);
        fr_json_put_number(w, points[i].ratio);
        fr_json_end_array(w);
    }
    fr_json_end_array(w);
}

void fr_quality_put_growth(struct fr_json_writer *w, const struct fr_qualities *q) {
    struct fr_growth_point points[FR_QUALITY_POINTS_MAX];
    struct fr_growth law;
    bool any = false;
    for (int k = 0; k < KINDS; k++) {
        int n = points_of(q, k, points);
        if (!fr_growth_fit(kinds[k], points, n, &law)) continue;
        if (!any) fr_json_add_array(w, "growth");
        any = true;
        fr_json_begin_object(w);
        fr_growth_write(w, &law);
        put_points(w, &law, points, n);
        fr_json_end_object(w);
    }
    if (any) fr_json_end_array(w);
}

/* ---- words ------------------------------------------------------------------------------------- */

static bool varies(const struct fr_growth_point *points, int n, int term) {
    for (int i = 1; i < n; i++)
        if (points[i].x[term] != points[0].x[term]) return true;
    return false;
}

/* Where the trainings are on average, and with which power each quantity counts. */
static void say_law(const struct fr_growth *law, const struct fr_growth_point *points, int n,
                    struct fr_text *words) {
    const char *comma = " at ";
    fr_text_addf(words, "x %.3g", exp(law->intercept));
    for (int t = 0; t < FR_GROWTH_TERMS; t++) {
        if (!law->uses[t]) continue;
        fr_text_addf(words, "%s%s %.3g", comma, fr_growth_terms[t], exp(law->centre[t]));
        comma = ", ";
    }
    comma = "; it grows with ";
    for (int t = 0; t < FR_GROWTH_TERMS; t++) {
        const double half = law->quantile * sqrt(law->covariance[1 + t][1 + t]);
        if (!law->uses[t]) continue;
        fr_text_addf(words, "%s%s^%.2f (%.2f to %.2f%s)", comma, fr_growth_terms[t],
                     law->power[t] + 0.0, law->power[t] - half, law->power[t] + half,
                     varies(points, n, t) ? "" : ", assumed: not varied");
        comma = ", ";
    }
}

void fr_quality_say_growth(struct fr_text *text, const struct fr_qualities *q) {
    static const char *const of[KINDS] = {"ghost neurons", "compressed messages",
                                          "compressed gradients"};
    struct fr_growth_point points[FR_QUALITY_POINTS_MAX];
    struct fr_growth law;
    for (int k = 0; k < KINDS; k++) {
        struct fr_text words = {0};
        const int n = points_of(q, k, points);
        if (!fr_growth_fit(kinds[k], points, n, &law)) continue;
        fr_text_addf(&words, "iterations with %s, by %d plans that reached the loss: ", of[k],
                     n);
        say_law(&law, points, n, &words);
        fr_text_addf(&words, "; 90 %% intervals, a plan is %.1f %% off",
                     100 * expm1(law.deviation));
        fr_text_addf(text, "\n");
        fr_wrap(text, fr_text_get(&words), 0, 2, FR_COLUMNS);
        fr_end_line(text);
        fr_text_free(&words);
    }
}

/* ---- earlier trainings ------------------------------------------------------------------------- */

static fr_status read_point(const struct fr_json *row, const struct fr_growth *law,
                            struct fr_growth_point *point, struct fr_error *err) {
    int column = 0, columns = 1;
    for (int t = 0; t < FR_GROWTH_TERMS; t++) columns += law->uses[t];
    FR_TRY(fr_json_array(row, columns, columns, err));
    for (int t = 0; t <= FR_GROWTH_TERMS; t++) {
        if (t < FR_GROWTH_TERMS && !law->uses[t]) continue;
        struct fr_json one = fr_json_element(row, column++);
        FR_TRY(fr_json_number(&one, 1e-9, 1e15,
                              t < FR_GROWTH_TERMS ? &point->x[t] : &point->ratio, err));
    }
    return FR_OK;
}

static fr_status read_points(const struct fr_json *node, struct fr_qualities *q,
                             struct fr_error *err) {
    struct fr_growth law;
    struct fr_json rows = fr_json_member(node, "points");
    bool uses[FR_GROWTH_TERMS];
    FR_TRY(fr_growth_read(node, &law, err));
    fr_growth_uses(law.of, uses);
    if (memcmp(uses, law.uses, sizeof uses) != 0)
        return fr_json_fail(node, err, "has other terms than laws that quality fits");
    FR_TRY(fr_json_array(&rows, 1, FR_QUALITY_POINTS_MAX, err));
    for (int64_t i = 0; i < fr_json_array_length(&rows); i++) {
        struct fr_json row = fr_json_element(&rows, i);
        if (q->n_with == FR_QUALITY_POINTS_MAX)
            return fr_json_fail(&row, err, "is one training too many: %d at most",
                                FR_QUALITY_POINTS_MAX);
        q->with[q->n_with].of = law.of;
        FR_TRY(read_point(&row, &law, &q->with[q->n_with].point, err));
        q->n_with++;
    }
    return FR_OK;
}

fr_status fr_quality_with(struct fr_qualities *q, const char *path, struct fr_error *err) {
    struct fr_json_document *document = NULL;
    FR_TRY(fr_json_read(path, &document, err));
    struct fr_json root = fr_json_root(document), inside = fr_json_member(&root, "iterations"),
                   list = fr_json_member(fr_json_present(&inside) ? &inside : &root, "growth");
    fr_status status = fr_json_present(&list)
                           ? fr_json_array(&list, 1, KINDS, err)
                           : fr_json_fail(&root, err,
                                          "has no \"growth\"; forerun quality --out writes it "
                                          "where three lossy plans reached the loss");
    for (int64_t i = 0; status == FR_OK && i < fr_json_array_length(&list); i++) {
        struct fr_json one = fr_json_element(&list, i);
        status = read_points(&one, q, err);
    }
    fr_json_free(document);
    return status;
}
