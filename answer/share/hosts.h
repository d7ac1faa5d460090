/** @file
 *  Names of hosts in a text, taken out of it. */
#ifndef FR_ANSWER_SHARE_HOSTS_H
#define FR_ANSWER_SHARE_HOSTS_H

#include <stdbool.h>

#include "base/text.h"

enum { FR_HOSTS_MAX = 256, FR_HOST_B = 128 };

/** Names in the forms that are looked for: gpu-017.example.org, gpu-017, example.org, and "gpu-" before any number. */
struct fr_hosts {
    int n;
    struct {
        char name[FR_HOST_B];
        bool stem; /**< any digits may follow */
    } of[FR_HOSTS_MAX];
};

/** Add the forms of each name in @p names, which blanks and commas separate.  Those beyond FR_HOSTS_MAX are dropped.
 *  @return false when some was dropped */
bool fr_hosts_add(struct fr_hosts *hosts, const char *names);

/** Append @p text with @p instead for each word that is one of @p hosts, in letters of either case, and names of folders left out
 *  before file names. */
void fr_hosts_leave_out(const struct fr_hosts *hosts, const char *text, const char *instead,
                        struct fr_text *out);

/** Does a word of @p text name one of @p hosts? */
bool fr_hosts_named(const struct fr_hosts *hosts, const char *text);

#endif
