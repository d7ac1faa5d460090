/** @file
 *  Energy and power of a node, from whatever meters it has.
 *
 *  A meter is a counter of energy or a gauge of power.  It is read now and then into a log of
 *  readings; the energy between two times is the counter's difference, or the integral of the
 *  power by trapezoids, readings interpolated at both edges.  Energy is never negative: a
 *  counter's wrap is undone by its meter, and a reading that fails is a gap, bridged by the
 *  readings around it.
 *
 *  Every figure states its quality (FR_QUALITY_* of samples.h).  `measured` is a counter of the
 *  energy drawn.  `sampled` is a power that was read now and then (NVML on A100 and H100 looks a
 *  quarter of the time).  `estimated` is stated, or extrapolated over a gap.  `unavailable` is no
 *  figure.
 *
 *  To add a meter: calibrate/measure/power/<name>.c exporting fr_meter_<name>, and a row
 *  FR_METER(<name>) in calibrate/measure/power_list.h.
 */
#ifndef FR_CALIBRATE_MEASURE_POWER_H
#define FR_CALIBRATE_MEASURE_POWER_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"
#include "calibrate/samples/samples.h"

struct fr_meter {
    const char *name;
    const char *summary;  /**< what it reads */
    const char *argument; /**< what follows the name and a colon, or NULL */
    const char *ask;      /**< what to install or ask for where it does not work */
    int quality;          /**< at best */
    bool counter;         /**< value is energy since some time [J], else power now [W] */
    bool by_request;      /**< not tried unless it is named */
    double period_s;      /**< between readings; more often tells nothing new */
    /** @param argument  NULL, or what followed the name.
     *  @return FR_OK; FR_ERR_UNSUPPORTED with the reason; FR_ERR_NOMEM. */
    fr_status (*open)(const char *argument, void **state, struct fr_error *err);
    /** @param[out] value    as `counter` says; a counter never falls
     *  @param[out] quality  of this reading, starts as the meter's own
     *  @return FR_OK, or FR_ERR_IO: no reading this time. */
    fr_status (*read)(void *state, double now_s, double *value, int *quality,
                      struct fr_error *err);
    void (*close)(void *state);
};

/** Rows that others name. */
extern const struct fr_meter fr_meter_powercap, fr_meter_nvml, fr_meter_rocm_smi,
    fr_meter_slurm, fr_meter_slurm_job, fr_meter_log, fr_meter_constant;
/** Rows in table order, then NULL. */
extern const struct fr_meter *const fr_meters[];

/** Readings of one meter in order of time; start zeroed but for `counter`. */
struct fr_power_log {
    bool counter;
    double *t_s, *value;
    int *quality;
    size_t n, capacity;
};

/** Append; what does not ascend in time, is not finite or negative, or lets a counter fall is
 *  no reading.  @return FR_OK or FR_ERR_NOMEM. */
fr_status fr_power_log_add(struct fr_power_log *log, double t_s, double value, int quality);
void fr_power_log_free(struct fr_power_log *log);

/** Energy between two times [J], >= 0.
 *  @param[out] quality  the worst of the readings used; FR_QUALITY_ESTIMATED where the log does
 *                       not reach over both times, FR_QUALITY_UNAVAILABLE (and 0 J) where it
 *                       has no two readings (a gauge: one) */
double fr_power_log_energy_J(const struct fr_power_log *log, double from_s, double to_s,
                             int *quality);

/** A meter at work: a thread reads it.  Opaque. */
struct fr_power_session;

/** Open "NAME", "NAME:ARGUMENT", or with NULL the first that works, and start to read.
 *  @return FR_OK; FR_ERR_USAGE for an unknown name; FR_ERR_UNSUPPORTED with the reasons. */
fr_status fr_power_open(const char *which, struct fr_power_session **session,
                        struct fr_error *err);
const struct fr_meter *fr_power_meter(const struct fr_power_session *session);
/** As fr_power_log_energy_J, of times of fr_now_s; takes a reading of its own first. */
double fr_power_energy_J(struct fr_power_session *session, double from_s, double to_s,
                         int *quality);
void fr_power_close(struct fr_power_session *session);

/** The value of a small text file as a number.  @return FR_OK or FR_ERR_IO with the reason. */
fr_status fr_power_read_number(const char *path, double *value, struct fr_error *err);

#endif
