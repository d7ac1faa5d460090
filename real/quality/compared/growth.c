#include <math.h>

#include "real/quality/compared/known.h"

/* Iterations of the exact plan of the table: exact plans learn alike. */
static double exact_of(const struct fr_qualities *q) {
    for (int i = 0; i < q->found.n_rows; i++)
        if (fr_known_row(q, i) && fr_known_exact(&q->plans[i].cost.plan) &&
            fr_known_batch(q, i) == fr_known_basis(q))
            return q->found.rows[i].steps.mean;
    return NAN;
}

/* Training @p i as a point of a law; false where it loses something else too, or nothing. */
static bool point_of(const struct fr_qualities *q, int i, fr_law_along *of,
                     struct fr_growth_point *point) {
    const struct fr_outcome *out = &q->plans[i].cost;
    const struct fr_plan_compression *c = &out->plan.compression;
    const bool ghosts = !out->plan.method->exact, backward = out->lossy_backward > 0,
               gradient = out->lossy_gradient > 0;
    if (!fr_known_row(q, i) || fr_known_batch(q, i) != fr_known_basis(q) ||
        out->lossy_forward > 0)
        return false;
    if (ghosts + backward + gradient != 1) return false;
    *of = ghosts ? FR_LAW_GHOST : backward ? FR_LAW_BACKWARD : FR_LAW_GRADIENT;
    *point = (struct fr_growth_point){
        .x = {[FR_GROWTH_GHOST] = (double)out->plan.ghost,
              [FR_GROWTH_TP] = (double)out->plan.tp,
              [FR_GROWTH_RANK] = (double)(backward ? c->backward_rank : c->gradient_rank),
              [FR_GROWTH_SHARE] = backward ? out->lossy_backward : out->lossy_gradient,
              [FR_GROWTH_WIDTH] = (double)fr_workload_width(&q->job.workload),
              [FR_GROWTH_DEPTH] = (double)fr_workload_depth(&q->job.workload)},
        .ratio = q->found.rows[i].steps.mean / exact_of(q)};
    return true;
}

/* Those of earlier files, then of these trainings. */
static struct fr_growth_points points_of(const struct fr_qualities *q) {
    struct fr_growth_points all = q->with;
    struct fr_growth_point point;
    fr_law_along of;
    for (int i = 0; i < q->found.n_rows; i++)
        if (point_of(q, i, &of, &point)) fr_growth_points_add(&all, of, &point);
    return all;
}

void fr_quality_put_growth(struct fr_json_writer *w, const struct fr_qualities *q) {
    const struct fr_growth_points all = points_of(q);
    fr_growth_points_put(w, &all);
}

void fr_quality_say_growth(struct fr_text *text, const struct fr_qualities *q) {
    const struct fr_growth_points all = points_of(q);
    fr_growth_points_say(text, &all);
}
