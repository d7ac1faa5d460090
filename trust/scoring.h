/** @file
 *  Predictions beside measured runs, as a table for a person and as JSON ("forerun/score/1"). */
#ifndef FR_TRUST_SCORING_H
#define FR_TRUST_SCORING_H

#include "base/text.h"
#include "models/job/job.h"
#include "models/outcome/fits/fits.h"
#include "models/plan/reason.h"
#include "trust/runs/runs.h"
#include "trust/score.h"

enum { FR_SCORING_COLUMNS = 16, FR_SCORING_KEY = 256 };

/* Published runs ran: a reason why one cannot be is an error of the model, or of what the file says. */
struct fr_refused {
    int unpriced[FR_REASON_COUNT], infeasible[FR_REASON_COUNT];
    int n_unpriced, n_infeasible;
};

/** All of [runs.count]. */
struct fr_scoring {
    struct fr_job job; /**< the cluster of --cluster, if it is given */
    struct fr_runs runs;
    const struct fr_run **use;
    struct fr_scored *scored, *joules; /**< of the iteration's time, and of its energy */
    double *watts_error;               /**< of the mean power, given no time */
    fr_reasons *reasons;
    struct fr_scored *
        memory; /**< of the fullest rank [B], in the fields for seconds, counted as the run's is */
    struct fr_fits *fits;
    double *peak_B; /**< of tensors */
    char (*key)[FR_SCORING_KEY];
    char columns_text[512];
    const char *columns[FR_SCORING_COLUMNS + 1];
    struct fr_refused refused;
};

struct fr_energy_score {
    struct fr_score score;
    double watts_error; /**< mean of |predicted W / measured W - 1| */
};

/** Scores of the runs whose energy was metered. */
fr_status fr_scoring_energy(const struct fr_scoring *s, struct fr_energy_score *e,
                            struct fr_error *err);

/** Scores of the runs whose memory was counted as @p at; intervals are of the memory that allocators count. */
fr_status fr_scoring_memory(const struct fr_scoring *s, fr_run_counted at,
                            struct fr_score *score, struct fr_error *err);

/** The scores of all runs, then of those with each key, in order of appearance. */
typedef void fr_scoring_visit(void *context, const char *name, const struct fr_score *score);
fr_status fr_scoring_each(const struct fr_scoring *s, fr_scoring_visit *each, void *context,
                          struct fr_error *err);

/** The score on one screen (base/text/brief.h).
 *  @param again  the command that asked, to be gone on with; "" where it cannot be repeated */
fr_status fr_scoring_brief(const struct fr_scoring *s, const char *again, struct fr_text *text,
                           struct fr_error *err);
/** All of it. */
fr_status fr_scoring_print(const struct fr_scoring *s, struct fr_text *text,
                           struct fr_error *err);
fr_status fr_scoring_json(const struct fr_scoring *s, struct fr_text *text,
                          struct fr_error *err);

#endif
