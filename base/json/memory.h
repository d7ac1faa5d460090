/** @file
 *  How jansson fails without memory, in a program that has to go on.
 *
 *  jansson's reader passes over a failure in the middle of a word: a byte of a text is lost, and where
 *  that is the closing quote it reads and writes past its blocks.  A command ends at the first failure
 *  (base/alloc.h) and never sees it.  A library keeps memory back before it reads; once memory has run
 *  out jansson gets that, and what it made of it is thrown away. */
#ifndef FR_BASE_JSON_MEMORY_H
#define FR_BASE_JSON_MEMORY_H

#include <stdbool.h>
#include <stddef.h>

/** Let jansson ask here: of the process, for a library's constructor.  The functions in place
 *  before are called as before.  A failure is noted in the call to which it belongs
 *  (fr_alloc_watch). */
void fr_json_memory_watch(void);

struct fr_json_reserve {
    char *block; /**< NULL: nobody watches, none is kept */
    size_t size, used;
};

/** Keep memory for reading @p length bytes, from here to fr_json_reserve_end in this thread.
 *  @return false where there is none */
bool fr_json_reserve_begin(struct fr_json_reserve *reserve, size_t length);

/** Give it back; what jansson made must be gone before where the reserve was drawn on
 *  (reserve->used > 0). */
void fr_json_reserve_end(struct fr_json_reserve *reserve);

#endif
