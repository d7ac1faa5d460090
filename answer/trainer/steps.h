/** @file
 *  How long does a step of a logged run take, and which steps count?
 *
 *  A trainer's reader says of each line what it is.  Steps that tell nothing of a usual step are left out and counted:
 *
 *      warm-up      the first two timed lines, where there are more than four
 *      ramp-up      steps of another global batch than most of the later ones
 *      evaluation, checkpoint   a step behind a line that says so
 *      skipped      an iteration without an optimiser step
 *      healing      steps behind the line that turns a run of 4 bits to 8
 *      stall        more than 1.5 times the median of the rest: not in the mean without stalls
 *
 *  The time is the median of what is left.  Time stamps of the lines are held against it: a mean that the trainer prints
 *  without waiting for the device is short, as the blocks of NeMo 26.04 are by 1 to 12 %.  Differences of stamps that are
 *  up to 30 % longer go before it; other disagreements are reported.
 *
 *  Symbols:  t  time of a step [s]   d  difference of stamps a step [s]   e  resolution of stamps over their span [1] */
#ifndef FR_ANSWER_TRAINER_STEPS_H
#define FR_ANSWER_TRAINER_STEPS_H

#include <stdint.h>

#include "base/status.h"
#include "base/text.h"

typedef enum {
    FR_LINE_OTHER,
    FR_LINE_PART, /**< says something of the step whose time is still to come */
    FR_LINE_STEP,
    FR_LINE_MALFORMED, /**< begins as a step does; its time cannot be read */
    FR_LINE_EVALUATION,
    FR_LINE_CHECKPOINT,
    FR_LINE_HEALING
} fr_line_kind;

/** Facts about a step in a line; NaN: none. */
struct fr_logged_step {
    double time_s;
    double tokens_per_s;  /**< of a device */
    double samples_per_s; /**< of the run */
    double number, batch; /**< of the step, of its samples */
    double stamp_s;       /**< when the line was printed, since 1970 */
    double total;         /**< steps of the whole run, as the line says */
    int64_t rank;         /**< that printed the line; -1: nothing says */
    bool skipped;
    bool after_evaluation, after_checkpoint, after_healing; /**< of fr_steps_add */
};

struct fr_logged_steps {
    struct fr_logged_step *item;
    int n, capacity, malformed, first_malformed; /**< line of the first */
    struct fr_logged_step next;                  /**< parts of the step to come */
    bool evaluation, checkpoint, healing;        /**< stood in a line before */
};

/** The time of a step, and its statistics. */
struct fr_logged_time {
    double time_s;                      /**< NaN: rates alone */
    double tokens_per_s, samples_per_s; /**< medians, NaN without */
    double mean_s, stamped_s, resolution;
    double batch; /**< of the steps that count; NaN where no line says */
    int counted, warm_up, ramp_up, evaluation, checkpoint, skipped, healing, stalls;
    bool by_stamps; /**< time_s is of differences of stamps */
};

/** A step without anything known. */
struct fr_logged_step fr_step_none(void);
/** Take line @p number, which is @p kind, with what s->next holds of a step.
 *  @return FR_OK or FR_ERR_NOMEM. */
fr_status fr_steps_add(struct fr_logged_steps *s, fr_line_kind kind, int number,
                       struct fr_error *err);
void fr_steps_free(struct fr_logged_steps *s);

/** Kinds of timed lines.  The first counts, the others are left out. */
typedef enum {
    FR_STEP_COUNTS,
    FR_STEP_WARM_UP,
    FR_STEP_RAMP_UP,
    FR_STEP_EVALUATION,
    FR_STEP_CHECKPOINT,
    FR_STEP_SKIPPED,
    FR_STEP_HEALING,
    FR_STEP_KINDS
} fr_step_kind;

/** The kind of each of the lines.
 *  @param[out] kind  kind[s->n]  @return the batch of the steps that count; NaN where no line says */
double fr_steps_kinds(const struct fr_logged_steps *s, fr_step_kind *kind);
/** Which steps count, and their time. */
void fr_steps_time(const struct fr_logged_steps *s, struct fr_logged_time *timed);
/** Choose between @p stated_s, a time that the log says, and the stamps'.  Sets time_s, by_stamps. */
void fr_steps_choose(struct fr_logged_time *timed, double stated_s);
/** Print the counts, a line each. */
void fr_steps_print(const struct fr_logged_time *timed, double stated_s, struct fr_text *text);

/** For readers: the number behind @p label in @p line, with commas for thousands, and K, M, G for powers.
 *  @return whether there is one, finite. */
bool fr_step_number(const char *line, const char *label, double *number);
/** A progress bar, " 3%|## | 30/1000 [01:30<48:30,  3.00s/it, loss=2.1]": number, total and time_s of @p step.
 *  @return whether the line is one. */
bool fr_step_bar(const char *line, struct fr_logged_step *step);
/** Seconds since 1970 of the first time stamp in @p line, NaN without: "2025-01-08 10:00:01,123", "10/17/2025 16:31:56",
 *  or "I0811 21:54:55.531340", whose year is not known. */
double fr_step_stamp(const char *line);

#endif
