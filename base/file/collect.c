#include "base/file/collect.h"

#include <stdarg.h>
#include <stdio.h>

static _Thread_local struct fr_collected *here;

struct fr_collected *fr_collect(struct fr_collected *into) {
    struct fr_collected *before = here;
    here = into;
    return before;
}

struct fr_collected *fr_collecting(void) {
    return here;
}

void fr_note(const char *format, ...) {
    va_list words;
    va_start(words, format);
    if (here)
        fr_text_addv(&here->notes, format, words);
    else
        vfprintf(stderr, format, words);
    va_end(words);
}
