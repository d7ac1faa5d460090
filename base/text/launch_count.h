/** @file
 *  Which count does a word of a launch line hold? */
#ifndef FR_BASE_TEXT_LAUNCH_COUNT_H
#define FR_BASE_TEXT_LAUNCH_COUNT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** No count beyond it is believed. */
static const int64_t FR_LAUNCH_COUNT_MAX = (int64_t)1 << 31;

/** Are the @p length letters of @p text a whole number from 1 on? */
bool fr_launch_count(const char *text, size_t length, int64_t *out);

/** Names of a list "a:8,b:8" and their slots: each name a node, however often it stands there; without a number a
 *  slot each time. */
void fr_launch_hosts(const char *list, int64_t *hosts, int64_t *slots);

/** Nodes that @p ranks take where the slots of one are filled before those of the next; 0: there are too few. */
int64_t fr_launch_hosts_filled(const char *list, int64_t ranks);

/** Names in Slurm's "node[0-3,7],login1"; 0: it is no such list. */
int64_t fr_launch_names(const char *list);

#endif
