/** @file
 *  A job of trainings on a corpus (real/quality/corpus.h).  All ranks together train every
 *  line "learn", a step after another on samples never seen before.  They evaluate it every so
 *  often on samples that are held out.
 *
 *      {"kind": "learn", "id": 0, "model": "{...}", "plan": "{...}", "seed": 1, "rate": 0.003,
 *       "steps": 600, "every": 20, "held_out": 256, "held_out_from": 0}
 *
 *  and, appended as each ends,
 *
 *      {"kind": "learnt", "id": 0, "train_s": 9.1, "sent_B": 148480, "loss": [4.85, ...],
 *       "train_loss": [4.85, ...], "observed": [{"rank": 1, "kept": 0.2, "lazy": 0.3, "cosine":
 *       [...], "alike": [...], "error": [...], "error_mean": [...], "difference_mean": [...]}]}
 *
 *  sent_B: bytes that all ranks sent in the last step.  loss: held-out loss before step 0,
 *  every, 2 every, ..., steps.  train_loss: mean loss of the steps since the entry before.
 *  Losses are null from where they are no number.  observed: where messages go compressed, the
 *  effects of that (observe.h).  It has those of each rank that sends and each micro-batch, as
 *  means over the steps before evaluations.  Lines that are there already are passed over.
 *  The rate grows linearly over the first tenth of the steps and falls linearly to a tenth of
 *  itself until the last.
 */
#ifndef FR_REAL_APPS_LEARN_LEARN_H
#define FR_REAL_APPS_LEARN_LEARN_H

#include "real/apps/learn/observe.h"
#include "real/quality/corpus.h"

struct fr_learning {
    struct fr_real_case run; /**< seed: of weights, of samples */
    const struct fr_corpus *corpus;
    double rate;
    int64_t steps, every;            /**< steps divide by every */
    int64_t held_out, held_out_from; /**< samples, from which; divide by the global batch */
};

/** Evaluations of a training. */
static inline int64_t fr_learning_points(const struct fr_learning *l) {
    return l->steps / l->every + 1;
}

/** The rate of step @p i, of which the largest is @p rate. */
double fr_learning_rate(double rate, int64_t i, int64_t steps);

/** FR_OK, or FR_ERR_INPUT with what the program cannot run, on a job of @p n_ranks. */
fr_status fr_learn_check(const struct fr_learning *l, int n_ranks, struct fr_error *err);

/** Results of a training. */
struct fr_learnt {
    double *loss, *train_loss;   /**< fr_learning_points each, the same on all ranks */
    double sent_B;               /**< by all ranks in the last step */
    struct fr_coded_watch watch; /**< of this rank, where it sends compressed messages */
};
/** Capacity for it; FR_OK or FR_ERR_NOMEM.  Free in any case. */
fr_status fr_learnt_open(const struct fr_learning *l, struct fr_learnt *out,
                         struct fr_error *err);
void fr_learnt_free(struct fr_learnt *out);

/** Train what was checked.
 *  @return FR_OK, also where it diverges; FR_ERR_NOMEM, FR_ERR_EXTERNAL. */
fr_status fr_learn(const struct fr_learning *l, MPI_Comm world, struct fr_learnt *out,
                   struct fr_error *err);

/** Append "observed" of all ranks of @p world, on rank 0 alone; collective. */
fr_status fr_learnt_put_observed(const struct fr_learnt *learnt, MPI_Comm world,
                                 struct fr_json_writer *w, struct fr_error *err);

/** A job: a file of cases, the corpus called @p corpus, and rank 0 appends to @p out. */
struct fr_learn_job {
    const char *text, *name; /**< of the cases, and of their file */
    const char *corpus, *out;
    bool progress;
};

/** All of its trainings on MPI_COMM_WORLD.  @param[out] refused  nothing was begun: all ranks alike
 *  refuse the corpus or a line, each checked before the first is trained
 *  @return FR_OK, FR_ERR_INPUT, FR_ERR_IO, FR_ERR_NOMEM, FR_ERR_EXTERNAL. */
fr_status fr_learn_run(const struct fr_learn_job *job, bool *refused, struct fr_error *err);

#endif
