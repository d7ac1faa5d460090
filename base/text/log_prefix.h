/** @file
 *  Prefixes that launchers and log collectors put before a line.  For base/text/log_lines.c. */
#ifndef FR_BASE_TEXT_LOG_PREFIX_H
#define FR_BASE_TEXT_LOG_PREFIX_H

#include "base/text/log_lines.h"

/** One at the beginning of @p line; @return its length, 0: it is none.  Sets what it says in @p tag. */
struct fr_log_prefix {
    size_t (*match)(const char *line, struct fr_log_tag *tag);
    unsigned unless; /**< left in place where `keep` has it */
};
/** Rows in the order tried, then one without match. */
extern const struct fr_log_prefix fr_log_prefixes[];

/** The tag of a stream at @p at, "[1,0]<stdout>:"; @return its length, 0: it is none. */
size_t fr_log_prefix_stream(const char *at, struct fr_log_tag *tag);

/** One that is taken away only where nearly all lines have it, since a clean line may look the same.
 *  @p name_B is set to the length of the name that must be one of few. */
struct fr_log_vote {
    size_t (*match)(const char *line, struct fr_log_tag *tag, size_t *name_B);
};
extern const struct fr_log_vote fr_log_votes[];
enum { FR_LOG_VOTES = 4 };

#endif
