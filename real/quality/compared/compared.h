/** @file
 *  Effects of compression on learning (real/quality/quality.h), with the cost of an iteration
 *  on a cluster: loss against iterations, time and energy, as JSON and CSV. */
#ifndef FR_ANSWER_QUALITY_H
#define FR_ANSWER_QUALITY_H

#include "base/json.h"
#include "models/outcome/cost.h"
#include "models/plan/key.h"
#include "real/iterations/growth_points.h"
#include "real/quality/corpus.h"
#include "real/quality/quality.h"

/** One plan of those compared. */
struct fr_quality_plan {
    char *text; /**< of its plan file */
    char label[FR_PLAN_LINE];
    struct fr_outcome cost; /**< of an iteration on the cluster; NaN where it is not priced */
};

struct fr_qualities {
    struct fr_job job; /**< cluster that prices, model that is trained, plan that is varied */
    struct fr_corpus corpus;
    double entropy; /**< floor of the loss [nat a token]; NaN: not known */
    struct fr_quality_options options;
    struct fr_text model; /**< text of the model file */
    struct fr_quality_plan *plans;
    const char **texts; /**< theirs */
    int n_plans;
    struct fr_quality found;
    struct fr_growth_points with; /**< of earlier trainings */
};

/** The plans of @p q's job on @p ranks with @p vary ("KEY=RANGE" of the plan's keys), each once, and
 *  what they cost; options.plans and options.model.
 *  @return FR_OK; FR_ERR_USAGE for what cannot be varied or leaves no plan; FR_ERR_NOMEM. */
fr_status fr_qualities_plans(const char *ranks, const char *const *vary, int n_vary,
                             struct fr_qualities *q, struct fr_error *err);
void fr_qualities_free(struct fr_qualities *q);

/** The unit of a loss. */
const char *fr_quality_unit(const struct fr_qualities *q);

/** Bytes that plan @p i sends in an iteration over those of the plan that sends most. */
double fr_quality_sent_share(const struct fr_qualities *q, int i);

/** To the target, NaN unless known: iterations times what one costs. */
struct fr_quality_mean fr_quality_times(struct fr_quality_mean iterations, double cost);

/** Two plans that are distinguished, or not, as a sentence.  @return @p out. */
const char *fr_quality_sentence(const struct fr_qualities *q,
                                const struct fr_quality_pair *pair, char *out, size_t capacity);

/** The model with a table of these iterations, which search reads (docs/reference/model-keys.md): a row for every plan
 *  that reached the target with all seeds, of compressed ones with the keys that decide. */
void fr_qualities_model(struct fr_text *text, const struct fr_qualities *q);

/** The documents of --json and --csv (docs/reference/outputs.md). */
void fr_qualities_json(struct fr_text *text, const struct fr_qualities *q);
void fr_qualities_csv(struct fr_text *text, const struct fr_qualities *q);

#endif
