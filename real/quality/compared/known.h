/** @file
 *  Which of the plans that were trained may stand in a table of iterations, and for what? */
#ifndef FR_REAL_QUALITY_COMPARED_KNOWN_H
#define FR_REAL_QUALITY_COMPARED_KNOWN_H

#include <math.h>

#include "models/plan/growth.h"
#include "models/plan/method.h"
#include "real/quality/compared/compared.h"

static inline bool fr_known_compresses(const struct fr_plan *plan) {
    const struct fr_plan_compression *c = &plan->compression;
    return c->scope != FR_SCOPE_NONE || c->forward_rank > 0 || c->gradient_stages > 0;
}

/** Learns as one processor would. */
static inline bool fr_known_exact(const struct fr_plan *plan) {
    return plan->method->exact && !fr_known_compresses(plan);
}

/** Rows of the table are of one batch: that of the first plan that reached the loss. */
static inline int64_t fr_known_batch(const struct fr_qualities *q, int i) {
    return fr_job_batch(&q->job, &q->plans[i].cost.plan);
}

/** May it stand in the table?  A plan may if all its seeds reached the loss. */
static inline bool fr_known_row(const struct fr_qualities *q, int i) {
    return isfinite(q->found.rows[i].steps.mean);
}

static inline int64_t fr_known_basis(const struct fr_qualities *q) {
    for (int i = 0; i < q->found.n_rows; i++)
        if (fr_known_row(q, i)) return fr_known_batch(q, i);
    return 0;
}

/** The members "growth": laws of these trainings, and of those in the model files q->with.
 *  A law stands there where they say enough for one (real/iterations/growth.h). */
void fr_quality_put_growth(struct fr_json_writer *w, const struct fr_qualities *q);

/** The same for people, a paragraph each. */
void fr_quality_say_growth(struct fr_text *text, const struct fr_qualities *q);

#endif
