/** @file
 *  Which time stands at the beginning of a line of a log?
 *
 *  Programs that collect logs (kubectl, journald, syslog, docker, moreutils' ts) and programs that write them
 *  (Python's logging, nvidia-smi) print the time in a dozen forms.  Times without a zone count as UTC, those
 *  without a year as of 1970, those without a day as of its first day: differences between two lines of one
 *  form are right.
 */
#ifndef FR_BASE_TEXT_LOG_TIME_H
#define FR_BASE_TEXT_LOG_TIME_H

#include <stdbool.h>
#include <stddef.h>

/** Length of the time that @p text begins with, 0 where there is none.  Forms:
 *      2026-05-09T03:57:48.161Z   2026-05-09 03:57:48,161   2026/05/09 03:57:48.161+02:00   20260509 03:57:48
 *      May  9 03:57:48.123   Sat May  9 03:57:48 2026   03:57:48.161
 *  @param[out] time_s  since the beginning of 1970; may be NULL */
size_t fr_log_time(const char *text, double *time_s);

/** The same of seconds since 1970 as a number, 1746763068.123, or milliseconds, 1746763068123: from 2001 to 2065. */
size_t fr_log_time_epoch(const char *text, double *time_s);

#endif
