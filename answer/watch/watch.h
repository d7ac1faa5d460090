/** @file
 *  A run in flight beside its prediction: how fast it is, whether that was to be expected, what is likely off, and when it
 *  ends.
 *
 *  The time of a step, its prediction and its interval are those of `forerun score --from LOG`, of the same lines
 *  (answer/trainer/steps.h).  Beside them stands the median of the last lines: of a run of weeks the median of all says
 *  nothing of today.  A run is outside where one of the two is, with lines enough to say so.
 *
 *  Symbols:  v  time of a step on a line [s]   u  median of v around a line [s]   w  wall time between lines, a step [s]
 *      lost        sum of w - u over lines with w > 1.5 u: evaluation, checkpoint or a stall, by what stood before
 *      stopped     silent for more than 10 lines' time before its last step
 *      time left   steps left (recent + lost / steps)
 *      timers      what Megatron's timers say goes before shares (answer/trainer/timers.h): gradients that take longer on every
 *                  rank than all that was predicted to be exposed of their exchange, and ranks that wait for one another
 *      off         an error e = ln(measured / predicted) is shared among what the prediction is unsure of,
 *                  by variance: part_j = e (C g)_j g_j / (g' C g + s^2)     (trust/tune.h) */
#ifndef FR_ANSWER_WATCH_WATCH_H
#define FR_ANSWER_WATCH_WATCH_H

#include "answer/predict/training.h"
#include "answer/trainer/trainer.h"
#include "trust/score.h"

/** Parts that may be off. */
#define FR_WATCH_OFF_LIST(X)                                                                   \
    X(COMPUTE, compute, "compute: products, attention or memory")                              \
    X(COMMUNICATION, communication, "exposed communication")                                   \
    X(HOST, host, "the host: launches and fixed work")                                         \
    X(MODEL, model, "the prediction itself: its model of such runs")                           \
    X(CHANGE, change, "a change since the run began: clocks, links, files")                    \
    X(SLOW_RANK, slow_rank, "one slow rank")                                                   \
    X(STALL, stall, "stalls")                                                                  \
    X(EVALUATION, evaluation, "evaluation")                                                    \
    X(CHECKPOINT, checkpoint, "checkpoints")

typedef enum {
#define FR_WATCH_OFF_ENUM(code, name, words) FR_WATCH_##code,
    FR_WATCH_OFF_LIST(FR_WATCH_OFF_ENUM)
#undef FR_WATCH_OFF_ENUM
        FR_WATCH_OFF_COUNT
} fr_watch_off;
extern const char *const fr_watch_off_names[];
extern const char *const fr_watch_off_words[];
/** The first of them, of which a prediction is unsure; the others are seen in the log. */
enum { FR_WATCH_UNSURE = FR_WATCH_CHANGE };

/** The prediction of a run. */
struct fr_watch_expected {
    struct fr_scored scored; /**< as score has it */
    struct fr_job job;       /**< borrows all from the run */
    struct fr_outcome out;
    double share[FR_WATCH_UNSURE]; /**< of the variance of its logarithm */
};

/** @return FR_OK or FR_ERR_NOMEM */
fr_status fr_watch_expect(const struct fr_run *run, struct fr_watch_expected *expected,
                          struct fr_error *err);

/** Where a run is. */
typedef enum {
    FR_WATCH_RUNNING,
    FR_WATCH_COMPLETE,
    FR_WATCH_IDLE,
    FR_WATCH_INTERRUPTED,
    FR_WATCH_READ /**< the log is as it was read: not followed */
} fr_watch_state;
extern const char *const fr_watch_states[];

struct fr_watch_ask {
    const char *log; /**< its name */
    const struct fr_run *run;
    const struct fr_watch_expected *expected;
    const struct fr_trainer_result *read;
    const struct fr_training
        *training;    /**< price, carbon; its tokens and samples as they are asked */
    double steps;     /**< of the whole run, as the user says; 0: not said */
    double written_s; /**< when the log was last written, since 1970 */
    double
        silent_s; /**< for so long nothing was written to a log that is followed; 0: not known */
    fr_watch_state state;
};

/** NaN what is not known. */
struct fr_watch {
    const struct fr_watch_ask *of;
    fr_watch_state state; /**< complete where the last step was printed */
    double time_s, error; /**< of a usual step; predicted / measured - 1, as score has it */
    double recent_s, recent_error;
    int recent_n;        /**< lines that it is of */
    double trend;        /**< the last third of the lines over the first third, - 1 */
    bool inside, judged; /**< the whole log; enough recent lines to say so of them */
    bool stopped;        /**< nothing came, and it is not at its end */
    bool outside;        /**< exit code 6 */
    double tokens_per_s, samples_per_s, mfu;
    double step, total, done;          /**< the last that was printed, of how many, share */
    double step_wall_s;                /**< with what is lost */
    double left_s, ends_s, ends_log_s; /**< since 1970: UTC, and by the log's own clock */
    double whole_s, device_s, energy_J, price, carbon_kg; /**< of the whole run */
    double lost[FR_WATCH_OFF_COUNT];                      /**< share of the time */
    double
        off[FR_WATCH_OFF_COUNT]; /**< what it adds to a predicted step, relative; 0: nothing */
    int order[FR_WATCH_OFF_COUNT], n_off; /**< that matter, the largest first, the model last */
    int64_t slow_rank;                    /**< -1: none, or no line says which */
};

/** @return FR_OK or FR_ERR_NOMEM */
fr_status fr_watch_of(const struct fr_watch_ask *ask, struct fr_watch *w, struct fr_error *err);

/** On one screen (base/text/brief.h).  @param again  the command, to be gone on with, or "" */
void fr_watch_brief(const struct fr_watch *w, const char *again, struct fr_text *text);
/** One line of at most 80 columns: while it is followed. */
void fr_watch_line(const struct fr_watch *w, struct fr_text *text);
/** "forerun/watch/1".  @param indent  0: one line */
void fr_watch_json(const struct fr_watch *w, int indent, struct fr_text *text);

#endif
