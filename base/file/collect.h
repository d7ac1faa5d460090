/** @file
 *  Where do the words of a command go?  To standard output and standard error of a program; in a library, whose caller owns
 *  both, into a collection.
 *
 *  A thread that collects has no standard input either: whatever would be read there is refused (fr_file_read).
 *  Threads that it starts print nothing. */
#ifndef FR_BASE_FILE_COLLECT_H
#define FR_BASE_FILE_COLLECT_H

#include "base/text.h"

struct fr_collected {
    struct fr_text out;   /**< what would stand on standard output */
    struct fr_text notes; /**< and on standard error, a line each */
};

/** From now on this thread collects in @p into (NULL: it prints again).  @return where it did before */
struct fr_collected *fr_collect(struct fr_collected *into);

/** Where this thread collects, or NULL: it prints. */
struct fr_collected *fr_collecting(void);

/** Say something beside the answer: on standard error, or in the notes. */
#if defined(__GNUC__)
__attribute__((format(printf, 1, 2)))
#endif
void fr_note(const char *format, ...);

#endif
