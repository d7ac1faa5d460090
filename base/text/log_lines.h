/** @file
 *  Which text did the program print, without the words that others put around it?
 *
 *  Launchers put ranks before each line, clusters pod names and times, terminals colours, mails quote marks; what
 *  a web page held comes in fences.  Every reader of printed text takes it through here first, and then knows
 *  nothing of that.  Lines keep their numbers: the n-th line out is the n-th line in.
 *
 *  Taken away at the beginning of a line, as often as it stands there:
 *      [1,0]<stdout>:  [prterun-n0-1@1,0]<stdout>:   Open MPI 4 and 5       [host:pid]   Open MPI's own messages
 *      [0]                                           Hydra -l               0:           srun -l, flux -l
 *      [rank0]:  [default0]:                         torchrun               >            quote marks
 *      [pod/NAME/CONTAINER]                          kubectl --prefix       2026-05-09T03:57:48Z and other times
 *      May  9 03:57:48 host unit[12]:                journald, syslog       #, #033[0m, ESC[0m: escapes anywhere
 *      2026-05-09T03:57:48Z stdout F                 a container's runtime  (NAME pid=12, ip=10.0.0.1)  Ray, SkyPilot
 *      <13>                                          syslog's priority
 *  Records of collectors become their texts: Docker's, Loki's, journald's objects, logfmt (base/text/log_wrapped.h).
 *  Where nearly all lines of the file have it:
 *      host:  (pdsh, clush)   host 0:  (PALS)   name |  (docker compose)   pod container  (stern)
 *  Messages of NCCL that were printed into a line ("... -1node-0:12:34 [0] NCCL INFO ...") are cut off there; what
 *  the line goes on with stands on a later one.
 *
 *  To add a prefix: a row of the table in base/text/log_prefix.c.
 */
#ifndef FR_BASE_TEXT_LOG_LINES_H
#define FR_BASE_TEXT_LOG_LINES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"
#include "base/text.h"

/** The text before a line. */
struct fr_log_tag {
    int64_t rank;  /**< of the process that printed it; -1: nothing said */
    int64_t host;  /**< of several, numbered from 0 as they came; -1: nothing said */
    double time_s; /**< base/text/log_time.h; NaN: none */
};

struct fr_log_text {
    char *text; /**< NUL-terminated, and no other NUL */
    size_t length;
    struct fr_log_tag *tag; /**< [n_lines] */
    size_t n_lines;
};

/** Parts that are left in place. */
enum {
    FR_LOG_KEEP_TIMES = 1, /**< `time_s` is set all the same */
};

/** Clean @p text; UTF-16 with its mark becomes UTF-8.
 *  @return FR_OK, or FR_ERR_NOMEM with @p out empty. */
fr_status fr_log_text_clean(const char *text, size_t length, unsigned keep,
                            struct fr_log_text *out);
void fr_log_text_free(struct fr_log_text *cleaned);

/** Take away one more word that nearly all lines begin with ("INFO:root:", "[launcher] ").  No row knows such a logger;
 *  a reader that finds nothing in the text as it is tries this.
 *  @return whether there was one; text, length and tags of @p cleaned change */
bool fr_log_text_peel(struct fr_log_text *cleaned);

/** The tag of the line @p number, counted from 1; past the end that of no tag. */
struct fr_log_tag fr_log_text_tag(const struct fr_log_text *cleaned, long number);

#endif
