/** @file
 *  What several series of held-out measurements say together: medians over series for each form,
 *  and the targets that the project set itself.  For studies/paper/collectives.c. */
#ifndef FR_STUDIES_HELD_OUT_H
#define FR_STUDIES_HELD_OUT_H

#include "calibrate/fit/fit.h"
#include "studies/reproduce.h"

/** Who the numbers of a case count for. */
typedef enum {
    FR_HELD_GPU_NODES,
    FR_HELD_GPU_NODE,
    FR_HELD_CPU_NODES,
    FR_HELD_CPU_NODE,
    FR_HELD_PLACES
} fr_held_place;
extern const char *const fr_held_place_names[];

/** One series and operation with a part held out, in all forms. */
struct fr_held_case {
    fr_held_place place;
    int n;
    double median[FR_FIT_FORMS],
        p90[FR_FIT_FORMS]; /**< NaN: could not be fitted; [FR_FIT_BEST]: the form chosen */
    double coverage;       /**< of the similarity table's 90 % intervals */
};
enum { FR_HELD_CASES_MAX = 1024 };
struct fr_held_cases {
    struct fr_held_case *items;
    int count, capacity;
};

/** Append the rows summary/... */
void fr_held_summarise(struct fr_reproduction *r, const struct fr_held_cases *by_sizes,
                       const struct fr_held_cases *by_ranks);

#endif
