/** @file
 *  A line on stderr that says how far a long run is: where main allows it, on a terminal only, after
 *  a second, with the time left at the rate so far.  Calls may come from several threads. */
#ifndef FR_BASE_PROGRESS_H
#define FR_BASE_PROGRESS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct fr_progress {
    const char *what; /**< "searching" */
    int64_t total;    /**< steps */
    bool on;          /**< stderr is a terminal */
    double start_s, shown_s;
    atomic_int_least64_t done;
    atomic_flag busy; /**< one thread writes at a time */
};

/** Runs of this program may show a line (of the process: for main).  Without it, as in a library,
 *  none does. */
void fr_progress_allow(void);

/** Start; nothing is written before a second has passed. */
void fr_progress_begin(struct fr_progress *progress, const char *what, int64_t total);
/** @p steps more are done. */
void fr_progress_add(struct fr_progress *progress, int64_t steps);
/** Take the line away. */
void fr_progress_end(struct fr_progress *progress);

/** The text of the line after @p elapsed_s; for fr_progress_add, and tests.  @return @p out. */
const char *fr_progress_text(const char *what, int64_t done, int64_t total, double elapsed_s,
                             char *out, int capacity);

/** How far a measurement is. */
struct fr_progress_points {
    int visited, total;
    int reached;       /**< of them, those that are known to half_width or better */
    double half_width; /**< relative */
    double left_s;     /**< at most */
};

/** "312 of 1,516 points, 2 % reached by 201, 3 min left".  @return @p out. */
const char *fr_progress_points_text(const struct fr_progress_points *points, char *out,
                                    int capacity);

#endif
