/** @file
 *  The end of a line that holds its digest.  For journal.h. */
#ifndef FR_BASE_JOURNAL_SEAL_H
#define FR_BASE_JOURNAL_SEAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text.h"

typedef enum { FR_SEAL_NONE, FR_SEAL_GOOD, FR_SEAL_BROKEN } fr_seal;

/** Append the object @p line of @p length bytes with its digest, and the line's end.
 *  @param question  of a header; NULL: of another line */
void fr_seal_add(struct fr_text *out, const char *line, size_t length,
                 const uint64_t *question);

/** Does the line verify?  @param[out] body_B  bytes of it before `, "digest"`
 *  @param[out] digest  that it states; both where it states one */
fr_seal fr_seal_check(const char *line, size_t length, size_t *body_B, uint64_t *digest);

/** Take `, "question": "Q"` off the end of @p body.  @return bytes before it, or @p body_B where there is none. */
size_t fr_seal_question(const char *body, size_t body_B, uint64_t *question);

/** Does a first line state a digest or a question, whole or damaged? */
bool fr_seal_is_stated(const char *line, size_t length);

#endif
