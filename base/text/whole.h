/** @file
 *  Which whole number did somebody mean who wrote it in another way?
 *
 *  "4,096" and "1_024" have groups of three, "1e3" and "8.0" are whole, "8k" may be 8000 or 8192, and "stage3" and
 *  "64gpus" have one number among letters. */
#ifndef FR_BASE_TEXT_WHOLE_H
#define FR_BASE_TEXT_WHOLE_H

#include <stddef.h>

/** "; write 4096", the end of a sentence that refuses @p text; "" where nothing is likely.  @return @p out */
const char *fr_whole_meant(const char *text, char *out, size_t capacity);

#endif
