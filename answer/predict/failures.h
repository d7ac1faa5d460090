/** @file
 *  A training that fails now and then and starts again from its last checkpoint: how often to write one,
 *  and what is left of the time.
 *
 *  Devices fail independently, each once in so much time; the job fails when one does.  Work
 *  since the last checkpoint is lost.  A restart takes R, in which the job may fail as well.
 *
 *      M      = mean time between failures of a device / devices                              [s]
 *      delta  = checkpoint's bytes / rate of the storage, while the training waits            [s]
 *      E(tau) = M exp(R/M) (exp((tau + delta)/M) - 1)                                         [s]
 *               expected for tau of work and its checkpoint (Daly, FGCS 22, 2006, Eq. 20)
 *      goodput(tau) = tau / E(tau)
 *
 *  The best tau has (1 - tau/M) exp((tau + delta)/M) = 1.  Young (CACM 17, 1974): tau = sqrt(2 delta M);
 *  Daly, Eq. 37:  tau = sqrt(2 delta M) (1 + x/3 + x^2/9) - delta,  x = sqrt(delta / 2M),  for
 *  delta < 2M, else M. */
#ifndef FR_ANSWER_PREDICT_FAILURES_H
#define FR_ANSWER_PREDICT_FAILURES_H

#include <stdbool.h>

struct fr_failures {
    double mtbf_s;       /**< M, of the job */
    double checkpoint_s; /**< delta */
    double restart_s;    /**< R */
};

/** Expected time of @p work_s of work and the checkpoint after it [s]; infinite where it never ends. */
double fr_failures_expected_s(const struct fr_failures *f, double work_s);

/** Share of the time that is work which lasts, with a checkpoint after every @p work_s. */
double fr_failures_goodput(const struct fr_failures *f, double work_s);

/** Work between checkpoints: the best, Young's and Daly's [s]. */
double fr_failures_best_s(const struct fr_failures *f);
double fr_failures_young_s(const struct fr_failures *f);
double fr_failures_daly_s(const struct fr_failures *f);

/** The best number of whole iterations of @p iteration_s between checkpoints, at least one. */
double fr_failures_iterations(const struct fr_failures *f, double iteration_s);

#endif
