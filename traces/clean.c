#include "traces/clean.h"

/* Bytes of the UTF-8 character at @p c, 0 when there is none: RFC 3629, table 3-7 of Unicode. */
static int character_length(const unsigned char *c) {
    if (c[0] < 0x80) return 1;
    if (c[0] < 0xc2 || c[0] > 0xf4) return 0;
    int length = c[0] < 0xe0 ? 2 : c[0] < 0xf0 ? 3 : 4;
    unsigned char low = c[0] == 0xe0 ? 0xa0 : c[0] == 0xf0 ? 0x90 : 0x80;
    unsigned char high = c[0] == 0xed ? 0x9f : c[0] == 0xf4 ? 0x8f : 0xbf;
    if (c[1] < low || c[1] > high) return 0;
    for (int i = 2; i < length; i++)
        if ((c[i] & 0xc0) != 0x80) return 0;
    return length;
}

static void add_clean(struct fr_text *out, const char *value, bool line) {
    for (const unsigned char *c = (const unsigned char *)value; *c;) {
        int length = character_length(c);
        if (length == 0)
            fr_text_add(out, "?", 1);
        else if (line && (*c < 0x20 || *c == 0x7f))
            fr_text_add(out, " ", 1);
        else if (line && *c == '"')
            fr_text_add(out, "'", 1);
        else
            fr_text_add(out, (const char *)c, (size_t)length);
        c += length ? length : 1;
    }
}

void fr_clean_utf8(struct fr_text *out, const char *value) { add_clean(out, value, false); }
void fr_clean_line(struct fr_text *out, const char *value) { add_clean(out, value, true); }
