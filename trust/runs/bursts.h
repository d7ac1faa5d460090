/** @file
 *  Which device is a reading of, where a log does not say?
 *
 *  A program that reads n devices every second writes n lines close together and then waits: with one time stamp,
 *  or with n that differ by milliseconds.  Lines of one such burst are devices 0 to n-1, in their order. */
#ifndef FR_TRUST_RUNS_BURSTS_H
#define FR_TRUST_RUNS_BURSTS_H

/** Devices that @p n readings at @p time_s, in the order written, are of.
 *  @param[out] device  device[n], from 0; -1 of a first burst that lacks some
 *  @return how many; 1 where each reading stands alone; 0: they cannot be distinguished (bursts of several lengths, or
 *          a time that is NaN); -1: no memory */
int fr_bursts(const double *time_s, int n, int *device);

#endif
