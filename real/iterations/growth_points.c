#include "real/iterations/growth_points.h"

#include <math.h>
#include <string.h>

#include "base/text/wrap.h"

static const fr_law_along kinds[] = {FR_LAW_GHOST, FR_LAW_BACKWARD, FR_LAW_GRADIENT};
enum { KINDS = sizeof kinds / sizeof *kinds };

/* Those of one kind, in order, and their law; false where they say too little for one. */
static bool law_of(const struct fr_growth_points *all, int kind, struct fr_growth_point *points,
                   int *n, struct fr_growth *law) {
    *n = 0;
    for (int i = 0; i < all->n; i++)
        if (all->items[i].of == kinds[kind]) points[(*n)++] = all->items[i].point;
    return fr_growth_fit(kinds[kind], points, *n, law);
}

void fr_growth_points_add(struct fr_growth_points *all, fr_law_along of,
                          const struct fr_growth_point *point) {
    if (all->n == FR_GROWTH_POINTS_MAX || !(point->ratio > 0)) return;
    all->items[all->n].of = of;
    all->items[all->n++].point = *point;
}

/* ---- files ------------------------------------------------------------------------------------- */

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

void fr_growth_points_put(struct fr_json_writer *w, const struct fr_growth_points *all) {
    struct fr_growth_point points[FR_GROWTH_POINTS_MAX];
    struct fr_growth law;
    bool any = false;
    for (int k = 0, n; k < KINDS; k++) {
        if (!law_of(all, k, points, &n, &law)) continue;
        if (!any) fr_json_add_array(w, "growth");
        any = true;
        fr_json_begin_object(w);
        fr_growth_write(w, &law);
        put_points(w, &law, points, n);
        fr_json_end_object(w);
    }
    if (any) fr_json_end_array(w);
}

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

static fr_status read_points(const struct fr_json *node, struct fr_growth_points *all,
                             struct fr_error *err) {
    struct fr_growth law;
    struct fr_json rows = fr_json_member(node, "points");
    bool uses[FR_GROWTH_TERMS];
    FR_TRY(fr_growth_read(node, &law, err));
    fr_growth_uses(law.of, uses);
    if (memcmp(uses, law.uses, sizeof uses) != 0)
        return fr_json_fail(node, err, "has other terms than laws that are fitted here");
    FR_TRY(fr_json_array(&rows, 1, FR_GROWTH_POINTS_MAX, err));
    for (int64_t i = 0; i < fr_json_array_length(&rows); i++) {
        struct fr_json row = fr_json_element(&rows, i);
        struct fr_growth_point point;
        if (all->n == FR_GROWTH_POINTS_MAX)
            return fr_json_fail(&row, err, "is one training too many: %d at most",
                                FR_GROWTH_POINTS_MAX);
        FR_TRY(read_point(&row, &law, &point, err));
        fr_growth_points_add(all, law.of, &point);
    }
    return FR_OK;
}

fr_status fr_growth_points_read(const char *path, struct fr_growth_points *all,
                                struct fr_error *err) {
    struct fr_json_document *document = NULL;
    FR_TRY(fr_json_read(path, &document, err));
    struct fr_json root = fr_json_root(document), inside = fr_json_member(&root, "iterations"),
                   list = fr_json_member(fr_json_present(&inside) ? &inside : &root, "growth");
    fr_status status =
        fr_json_present(&list)
            ? fr_json_array(&list, 1, KINDS, err)
            : fr_json_fail(&root, err,
                           "has no \"growth\"; --out writes it where three lossy "
                           "plans reached the loss");
    for (int64_t i = 0; status == FR_OK && i < fr_json_array_length(&list); i++) {
        struct fr_json one = fr_json_element(&list, i);
        status = read_points(&one, all, err);
    }
    fr_json_free(document);
    return status;
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

void fr_growth_points_say(struct fr_text *text, const struct fr_growth_points *all) {
    static const char *const of[KINDS] = {"ghost neurons", "compressed messages",
                                          "compressed gradients"};
    struct fr_growth_point points[FR_GROWTH_POINTS_MAX];
    struct fr_growth law;
    for (int k = 0, n; k < KINDS; k++) {
        struct fr_text words = {0};
        if (!law_of(all, k, points, &n, &law)) continue;
        fr_text_addf(&words, "iterations with %s, by %d plans that reached the loss: ", of[k],
                     n);
        say_law(&law, points, n, &words);
        fr_text_addf(&words, "; 90 %% intervals, plans scatter by %.1f %%",
                     100 * expm1(law.deviation));
        fr_text_addf(text, "\n");
        fr_wrap(text, fr_text_get(&words), 0, 2, FR_COLUMNS);
        fr_end_line(text);
        fr_text_free(&words);
    }
}
