/** @file
 *  Would a few ranks more or less, or another batch, do better?
 *
 *  Replicas share a batch evenly: dp divides B, and n = dp x pp x tp x cp.  A rank count that has little in common with
 *  the batch leaves few meshes, or none: 63 ranks and 512 samples, 64 ranks and 500.  Where gcd(B, n) < min(B, n) the
 *  same search is made for
 *    - the nearest rank count that has all of min(B, n) in common with the batch and fills whole nodes;
 *    - the nearest batch that has it with the ranks: a multiple of n, below n a divisor;
 *  and is reported where it gains 2 % or more, or where no plan satisfies the request. */
#ifndef FR_ANSWER_SEARCH_NEARBY_H
#define FR_ANSWER_SEARCH_NEARBY_H

#include "base/json.h"
#include "models/job/job.h"
#include "models/outcome/outcome.h"
#include "models/plan/key.h"

enum { FR_NEARBY_MAX = 2 };

struct fr_searched;

/** One of them. */
struct fr_nearby {
    const char *key; /**< "ranks", "global_batch" */
    int64_t value;
    double time_s, energy_J; /**< of its best plan, an iteration */
    double
        gain; /**< of samples a second and rank, or of energy a sample; NaN: nothing could be */
    char line[FR_PLAN_LINE];
};

/** The nearest rank count above 1, @p most at most, that fits the batch and fills nodes of @p node; 0: none within half
 *  of @p ranks. */
int64_t fr_nearby_ranks(int64_t ranks, int64_t batch, int64_t node, int64_t most);
/** The nearest batch that fits the ranks. */
int64_t fr_nearby_batch(int64_t ranks, int64_t batch);

/** Fill r->nearby of a search that is done; what cannot be searched is left out.
 *  @param vary, names  as of that search */
fr_status fr_nearby_search(const char *const *vary, int n_vary,
                           const struct fr_job_names *names, struct fr_searched *r,
                           struct fr_error *err);

/** "64 ranks (63): 6.49 s an iteration, 12 % more samples a second and rank" */
void fr_nearby_say(const struct fr_searched *r, const struct fr_nearby *one,
                   struct fr_text *text);
/** The member "nearby" of the document, where there is one. */
void fr_nearby_put(const struct fr_searched *r, struct fr_json_writer *w);

#endif
