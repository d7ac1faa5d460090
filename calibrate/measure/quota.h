/** @file
 *  Processors that this process may use: those of its affinity mask, or fewer where a control group
 *  grants less time than that. */
#ifndef FR_CALIBRATE_MEASURE_QUOTA_H
#define FR_CALIBRATE_MEASURE_QUOTA_H

/** Processors' worth of time that control groups (version 2, or 1) grant; 1e9 without a limit: the least
 *  of this process's group and all above it, as they are seen from here.
 *  @param root  where they are mounted, "/sys/fs/cgroup"
 *  @param self  which group this is, "/proc/self/cgroup" */
double fr_quota_cores(const char *root, const char *self);

/** The least of affinity and quota, rounded down, at least 1. */
int fr_cores_usable(void);

#endif
