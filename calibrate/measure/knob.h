/** @file
 *  The clock of what computes, set for a while.
 *
 *  Nothing is set unless it was asked for, and the earlier clock comes back, whatever happens.  A
 *  guardian, a process of its own session, holds the other end of a pipe.  It restores the clock
 *  when we close the pipe or die in any way, SIGKILL included.  That is the only way back, so it is
 *  taken each time.
 *
 *  To add one: calibrate/measure/knob/<name>.c exporting fr_knob_<name>, and a row FR_KNOB(<name>) in
 *  calibrate/measure/knob_list.h. */
#ifndef FR_CALIBRATE_MEASURE_KNOB_H
#define FR_CALIBRATE_MEASURE_KNOB_H

#include <stdbool.h>

#include "base/status.h"

enum { FR_KNOB_CLOCKS_MAX = 512 };

struct fr_knob {
    const char *name;
    const char *summary;  /**< what it sets */
    const char *argument; /**< what follows the name and a colon */
    /** Find out what is there; sets nothing.
     *  @param argument  NULL, or what followed the name
     *  @return FR_OK; FR_ERR_UNSUPPORTED with the reason; FR_ERR_NOMEM. */
    fr_status (*open)(const char *argument, void **state, struct fr_error *err);
    /** @param[out] clock_Hz  [FR_KNOB_CLOCKS_MAX], ascending  @return how many */
    int (*clocks)(const void *state, double *clock_Hz);
    fr_status (*set)(void *state, double clock_Hz, struct fr_error *err);
    /** As it was at open; called in the guardian.  @return false: something could not be restored */
    bool (*restore)(void *state);
    void (*close)(void *state);
};

/** Rows that others name. */
extern const struct fr_knob fr_knob_cpufreq, fr_knob_nvidia;
/** Rows in table order, then NULL. */
extern const struct fr_knob *const fr_knobs[];

/** A knob under its guardian.  Opaque. */
struct fr_knob_session;

/** Open "NAME" or "NAME:ARGUMENT".
 *  @return FR_OK; FR_ERR_USAGE for an unknown name; FR_ERR_UNSUPPORTED with the reason. */
fr_status fr_knob_open(const char *which, struct fr_knob_session **session,
                       struct fr_error *err);
/** Clocks, at most @p n of them, spread evenly over those there are, ends included; ascending.
 *  @return how many */
int fr_knob_clocks(const struct fr_knob_session *session, int n, double *clock_Hz);
fr_status fr_knob_set(struct fr_knob_session *session, double clock_Hz, struct fr_error *err);
/** Put back what was there and free; NULL is allowed.
 *  @return FR_OK; FR_ERR_EXTERNAL where something could not be put back. */
fr_status fr_knob_close(struct fr_knob_session *session, struct fr_error *err);

#endif
