/** @file
 *  Which samples may be fitted together.
 *
 *  A series is one tool and version on one system with one library and setup: all that a
 *  source's texts say but its file and element type.  Our own harness is a series of its own.
 *  Two files that should be of one series but measured the same point more than half an octave
 *  apart are two setups that nobody named, so they are distinguished too. */
#ifndef FR_CALIBRATE_SAMPLES_SERIES_H
#define FR_CALIBRATE_SAMPLES_SERIES_H

#include "calibrate/samples/samples.h"

struct fr_series {
    char name[512]; /**< "system; device; library; setup; tool version", "" for the harness */
    bool gpu;       /**< of a GPU library's own benchmark */
    int source;     /**< one of its sources, plus 1; 0: the harness */
};

struct fr_series_list {
    struct fr_series *items;
    int count;
    int *of_source; /**< series of each source; [0] that of the harness, or -1 */
};

/** @return FR_OK or FR_ERR_NOMEM.  Free @p list with fr_series_free, also on error. */
fr_status fr_series_find(const struct fr_samples *samples, struct fr_series_list *list);

/** Join series with @p text in their names that differ in the versions of tool and library alone: whoever
 *  names both by one text states that they are of one cluster. */
void fr_series_join(const struct fr_samples *samples, struct fr_series_list *list,
                    const char *text);
void fr_series_free(struct fr_series_list *list);

#endif
