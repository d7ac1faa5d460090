#include "traces/clean.h"

#include "base/escape.h"

static void add_clean(struct fr_text *out, const char *value, bool line) {
    while (*value) {
        uint32_t code;
        int length = fr_utf8_character(value, &code);
        if (length == 0)
            fr_text_add(out, "?", 1);
        else if (line && fr_is_hidden(code))
            fr_text_add(out, " ", 1);
        else if (line && *value == '"')
            fr_text_add(out, "'", 1);
        else
            fr_text_add(out, value, (size_t)length);
        value += length ? length : 1;
    }
}

void fr_clean_utf8(struct fr_text *out, const char *value) { add_clean(out, value, false); }
void fr_clean_line(struct fr_text *out, const char *value) { add_clean(out, value, true); }
