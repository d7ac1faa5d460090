/** @file
 *  A job must not outlive who started it, however that ends (kill -9 included).
 *
 *  The starter says in the environment who it is: its process id, when it was started (ids are used
 *  again) and where ids mean the same, the kernel's boot and the namespace of processes.  A rank in
 *  that namespace looks whether it still lives; one elsewhere does not, and is ended by its launcher,
 *  which the kernel ends with its parent (calibrate/measure/launch.c). */
#ifndef FR_CALIBRATE_MEASURE_LEASH_H
#define FR_CALIBRATE_MEASURE_LEASH_H

#include <stdbool.h>
#include <stddef.h>

#define FR_LEASH_VARIABLE "FORERUN_LEASH"
enum { FR_LEASH_B = 192 };

/** This process as "PID START BOOT NAMESPACE", or "" where the system does not tell. */
void fr_leash_make(char text[FR_LEASH_B]);

/** Does the process that @p text names live?  True where @p text is NULL, unreadable or of another
 *  namespace: then nobody here can tell. */
bool fr_leash_holds(const char *text);

/** Does @p text name a process of this namespace of this machine, so that its id means here what it means there? */
bool fr_leash_is_here(const char *text);

#endif
