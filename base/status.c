#include "base/status.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>

#include "base/escape.h"

const char *fr_status_text(fr_status s) {
    switch (s) {
#define FR_STATUS_TEXT(code, exit_code, text)                                                  \
    case code:                                                                                 \
        return text;
        FR_STATUS_LIST(FR_STATUS_TEXT)
#undef FR_STATUS_TEXT
    }
    return "unknown status";
}

int fr_status_exit_code(fr_status s) {
    switch (s) {
#define FR_STATUS_EXIT(code, exit_code, text)                                                  \
    case code:                                                                                 \
        return exit_code;
        FR_STATUS_LIST(FR_STATUS_EXIT)
#undef FR_STATUS_EXIT
    }
    return 1;
}

/* Text of the user may hold escape sequences; a terminal must not obey them. */
static void make_printable(char *text) {
    char *out = text;
    while (*text) {
        uint32_t code;
        int length = fr_utf8_character(text, &code);
        bool shown = length > 0 && !fr_is_hidden(code);
        if (!shown) *out++ = '?';
        for (int i = 0; shown && i < length; i++) *out++ = text[i];
        text += length ? length : 1;
    }
    *out = '\0';
}

fr_status fr_fail(struct fr_error *err, fr_status s, const char *where, const char *fmt, ...) {
    if (!err) return s;
    va_list ap;
    err->status = s;
    snprintf(err->where, sizeof err->where, "%s", where ? where : "");
    va_start(ap, fmt);
    vsnprintf(err->detail, sizeof err->detail, fmt, ap);
    va_end(ap);
    make_printable(err->where);
    make_printable(err->detail);
    return s;
}
