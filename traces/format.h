/** @file
 *  A timeline as a file that viewers open: a trace format.
 *
 *  Formats with a clock count whole nanoseconds.  Both ends of a span are rounded, never its
 *  duration, so that spans which touch still touch and no two of a lane overlap.
 *  The bytes depend on the arguments alone: no clock, no locale, equal times in the order of
 *  the timeline.  Cost is O(n log n) in the spans, for putting their ends in order.
 *
 *  To add one: traces/format/<name>.c exporting fr_format_<name>, and a row FR_FORMAT(<name>)
 *  in traces/format_list.h.
 */
#ifndef FR_TRACES_FORMAT_H
#define FR_TRACES_FORMAT_H

#include "models/outcome/timeline.h"

#include "base/text.h"

/** Where the timeline came from, one fact: {"cluster", "frontier"}. */
struct fr_trace_note {
    const char *key, *value;
};

/** A quantity of one rank over time; each value holds until the next. */
struct fr_trace_series {
    const double *at_s; /**< ascending */
    const double *value;
    int64_t n;
};

struct fr_trace_options {
    const char *title;                 /**< or NULL */
    const struct fr_trace_note *notes; /**< keys differ, and none is "title" */
    int n_notes;
    const struct fr_trace_series *memory_B; /**< [n_ranks], or NULL */
    /** Power of a rank that computes, only communicates, does neither [W].  Unknown where
     *  busy_W is 0 or NaN; a NaN communicating_W counts as idle. */
    double busy_W, communicating_W, idle_W;
    const double *rank_busy_W; /**< [n_ranks], where ranks have clocks of their own; or NULL */
};

struct fr_format {
    const char *name;
    const char *ending;  /**< of its files, ".json" */
    const char *summary; /**< what opens it, one line */
    /** Append the trace of @p timeline to @p out.
     *  @return FR_OK; FR_ERR_UNSUPPORTED for a makespan beyond what the format counts;
     *          FR_ERR_NOMEM, also when @p out has failed. */
    fr_status (*write)(const struct fr_timeline *timeline, const struct fr_trace_options *o,
                       struct fr_text *out, struct fr_error *err);
};

/** Rows that others name. */
extern const struct fr_format fr_format_chrome, fr_format_paje, fr_format_csv;

/** Rows in table order, then NULL. */
extern const struct fr_format *const fr_formats[];

/** The format called @p name; on FR_ERR_USAGE the nearest one is suggested. */
fr_status fr_format_find(const char *name, const struct fr_format **format,
                         struct fr_error *err);

/** The format that the ending of @p path asks for, in either case; ".trace" is Paje too.
 *  @return FR_OK, or FR_ERR_USAGE naming the endings. */
fr_status fr_format_for_file(const char *path, const struct fr_format **format,
                             struct fr_error *err);

#endif
