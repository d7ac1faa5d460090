/** @file
 *  A whole training of so many tokens or samples: days, energy, money and CO2, from one iteration.
 *
 *      iterations  n = ceil(tokens / (B s))        B the global batch, s tokens a sample
 *      time        n T, its interval n times T's   T of an iteration
 *      energy      n E                             E of an iteration, all ranks, with nodes, network and building
 *      price       ranks n T times what a device costs a second
 *      CO2         n E times what the grid emits a joule
 *
 *  With a mean time between failures of a device, all of these are divided by the goodput of the
 *  best interval between checkpoints (answer/predict/failures.h).  A device that waits or restarts
 *  is paid for, and is assumed to draw its training power.  The energy of an iteration includes the
 *  PUE, and so does the total.  Evaluations are not included. */
#ifndef FR_ANSWER_PREDICT_TRAINING_H
#define FR_ANSWER_PREDICT_TRAINING_H

#include "answer/predict/failures.h"
#include "models/job/job.h"
#include "models/outcome/outcome.h"

/** The request, as the command line words it; NULL: not asked for. */
struct fr_training_words {
    const char *tokens, *samples; /**< "1T", "300B", "15e12": one of them */
    const char *price;            /**< of a device: "2.5 USD/h" */
    const char *carbon;           /**< "0.4 kg/kWh", "380 g/kWh" */
    const char *pue;              /**< "1.2" */
    const char *mtbf;             /**< of a device: "50000 h" */
    const char *storage;          /**< rate at which a checkpoint is written: "100 GB/s" */
    const char *checkpoint_size;  /**< "1.2 TB"; absent: weights and optimiser state */
    const char *restart;          /**< "10 min" */
};

struct fr_training {
    double tokens, samples; /**< 0: not asked for */
    double price_per_s;     /**< 0: not stated */
    char currency[16];
    double carbon_kg_per_J; /**< likewise */
    double pue;             /**< of each iteration, by fr_job_names.pue; 0: not stated */
    double device_mtbf_s;   /**< 0: nothing fails */
    double storage_B_per_s, checkpoint_B, restart_s; /**< 0: not stated */
};

/** NaN what is not known or was not asked for. */
struct fr_training_cost {
    double iterations, samples, tokens;
    double time_s, low_s, high_s; /**< low and high 0 without an interval */
    double device_s, energy_J, price, carbon_kg;
    /* Where devices fail; else goodput is 1. */
    struct fr_failures failures;
    double checkpoint_B;
    double interval_iterations, interval_s; /**< between checkpoints, without their writing */
    double goodput, n_failures;             /**< expected */
};

/** Does anything ask for a training? */
static inline bool fr_training_asked(const struct fr_training *training) {
    return training->tokens > 0 || training->samples > 0;
}

/** Read the words.  @return FR_OK; FR_ERR_USAGE for tokens and samples at once, a price or carbon
 *  without either, or words that cannot be read. */
fr_status fr_training_read(const struct fr_training_words *words, struct fr_training *training,
                           struct fr_error *err);

/** @return FR_OK; FR_ERR_INPUT where tokens are asked of a model that has none. */
fr_status fr_training_check(const struct fr_training *training, const struct fr_job *job,
                            struct fr_error *err);

/** The cost with the plan of @p out. */
struct fr_training_cost fr_training_cost_of(const struct fr_training *training,
                                            const struct fr_job *job,
                                            const struct fr_outcome *out);

/** The object of --json (docs/reference/outputs.md). */
void fr_training_put(struct fr_json_writer *w, const struct fr_training *training,
                     const struct fr_training_cost *cost);

#endif
