/** @file
 *  Timers that a trainer prints beside its steps: how long did the phases of a step take, on the fastest and on the
 *  slowest rank?
 *
 *  Megatron-LM's, by its --timing-log-option (megatron/core/timers.py):
 *
 *      (min, max) time across ranks (ms):                    minmax, the default
 *          forward-backward ........: (5012.34, 5013.45)
 *      max time across ranks (ms):                           max
 *          forward-backward ........: 5013.45
 *      times across ranks (ms):                              all
 *        forward-backward:
 *           rank  0: 5012.34
 *      time (ms) | forward-compute: 1700.1 | ...             until 2022, of the last rank
 *
 *  Times are those of an iteration.  A rank that is slow in its passes makes the others wait for it in the reduction of
 *  gradients: there the least of the ranks' times is the exchange, the rest is waiting. */
#ifndef FR_ANSWER_TRAINER_TIMERS_H
#define FR_ANSWER_TRAINER_TIMERS_H

#include <stdbool.h>
#include <stdint.h>

enum { FR_TIMER_PASSES, FR_TIMER_GRADIENTS, FR_TIMER_OPTIMIZER, FR_TIMER_KINDS };
/** Names in order. */
extern const char *const fr_timer_names[];

enum { FR_TIMER_REPORTS = 5, FR_TIMER_RANKS = 1024 };

/** Zeroed at first. */
struct fr_timers {
    int reports; /**< so many were printed; the last ones are kept */
    struct {
        double least_s, most_s; /**< 0: not printed */
    } report[FR_TIMER_REPORTS][FR_TIMER_KINDS];
    bool open;   /**< lines of a report may follow */
    int current; /**< kind whose ranks follow, -1: none */
    int n_ranks; /**< whose passes the last report has */
    double rank_s[FR_TIMER_RANKS];
};

/** Take @p line.  @return whether it is a timer's */
bool fr_timers_line(struct fr_timers *timers, const char *line);
/** Medians of the last reports, of the fastest and of the slowest rank.  @return false where none says the phase */
bool fr_timers_of(const struct fr_timers *timers, int kind, double *least_s, double *most_s);
/** The rank whose passes take longest.  @param[out] excess  over the median of ranks, relative
 *  @return -1 where no report has a line a rank */
int64_t fr_timers_slowest(const struct fr_timers *timers, double *excess);

#endif
