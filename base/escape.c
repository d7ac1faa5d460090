#include "base/escape.h"

#include <string.h>

int fr_utf8_character(const char *at, uint32_t *code) {
    const unsigned char *c = (const unsigned char *)at;
    if (code) *code = c[0];
    if (c[0] < 0x80) return 1;
    if (c[0] < 0xc2 || c[0] > 0xf4) return 0;
    int length = c[0] < 0xe0 ? 2 : c[0] < 0xf0 ? 3 : 4;
    /* Table 3-7 of Unicode: no overlong forms, no surrogates, nothing past U+10FFFF. */
    unsigned char low = c[0] == 0xe0 ? 0xa0 : c[0] == 0xf0 ? 0x90 : 0x80;
    unsigned char high = c[0] == 0xed ? 0x9f : c[0] == 0xf4 ? 0x8f : 0xbf;
    if (c[1] < low || c[1] > high) return 0;
    uint32_t value = c[0] & (0x7fU >> length);
    for (int i = 1; i < length; i++) {
        if ((c[i] & 0xc0) != 0x80) return 0;
        value = value << 6 | (c[i] & 0x3fU);
    }
    if (code) *code = value;
    return length;
}

bool fr_is_hidden(uint32_t code) {
    static const struct {
        uint32_t first, last;
    } hidden[] = {{0, 0x1f},        {0x7f, 0x9f},     {0x61c, 0x61c},     {0x200e, 0x200f},
                  {0x2028, 0x202e}, {0x2066, 0x206f}, {0xfff9, 0xfffb},   {0xfffe, 0xffff},
                  {0xfeff, 0xfeff}, {0xfdd0, 0xfdef}, {0xe0000, 0xe0fff}, {0x180e, 0x180e}};
    for (size_t i = 0; i < sizeof hidden / sizeof *hidden; i++)
        if (code >= hidden[i].first && code <= hidden[i].last) return true;
    return (code & 0xfffe) == 0xfffe; /* no characters, in any plane */
}

/* Bytes of a character that a terminal may show: 0 where it is to be hidden.  A NUL inside a
 * text is. */
static int shown(const char *at, const char *end) {
    uint32_t code;
    int length = fr_utf8_character(at, &code);
    if (length > end - at) return 0;
    if (code == '\r' && end - at > 1 && at[1] == '\n') return 1; /* a line's end, RFC 4180 */
    return code == '\n' || code == '\t' ? 1 : length == 0 || fr_is_hidden(code) ? 0 : length;
}

/* How far @p at is ordinary ASCII, which nearly all of every output is. */
static size_t plain_bytes(const char *at, const char *end) {
    const char *from = at;
    while (at < end && ((*at >= 0x20 && *at < 0x7f) || *at == '\n')) at++;
    return (size_t)(at - from);
}

bool fr_is_plain(const char *text, size_t length) {
    const char *end = text + length;
    for (const char *at = text + plain_bytes(text, end); at < end; at += plain_bytes(at, end)) {
        int bytes = shown(at, end);
        if (bytes == 0) return false;
        at += bytes;
    }
    return true;
}

void fr_escape_terminal(struct fr_text *out, const char *text, size_t length) {
    const char *end = text + length;
    while (text < end) {
        size_t plain = plain_bytes(text, end);
        fr_text_add(out, text, plain);
        text += plain;
        if (text == end) break;
        int bytes = shown(text, end);
        uint32_t code;
        int whole = fr_utf8_character(text, &code);
        fr_text_add(out, bytes ? text : "?", bytes ? (size_t)bytes : 1);
        text += whole > 0 && whole <= end - text ? whole : 1;
    }
}

/* The characters of @p text, in turn, through @p entities; what they do not name as it is. */
struct entity {
    char character;
    const char *written;
};

static void escape(struct fr_text *out, const char *text, const struct entity *entities,
                   const char *unknown) {
    while (*text) {
        uint32_t code;
        int length = fr_utf8_character(text, &code);
        const struct entity *e = entities;
        while (e->written && (uint32_t)e->character != code) e++;
        if (length == 1 && (code == '\n' || code == '\t' || code == '\r'))
            fr_text_add(out, " ", 1);
        else if (length == 0 || fr_is_hidden(code))
            fr_text_add(out, unknown, strlen(unknown));
        else if (e->written)
            fr_text_add(out, e->written, strlen(e->written));
        else
            fr_text_add(out, text, (size_t)length);
        text += length ? length : 1;
    }
}

void fr_escape_xml(struct fr_text *out, const char *text) {
    static const struct entity entities[] = {{'&', "&amp;"},  {'<', "&lt;"},   {'>', "&gt;"},
                                             {'"', "&quot;"}, {'\'', "&#39;"}, {'`', "&#96;"},
                                             {0, NULL}};
    escape(out, text, entities, "\xEF\xBF\xBD");
}

void fr_escape_markdown(struct fr_text *out, const char *text) {
    static const struct entity entities[] = {{'&', "&amp;"}, {'<', "&lt;"}, {'>', "&gt;"},
                                             {'|', "\\|"},   {'`', "'"},    {'[', "\\["},
                                             {0, NULL}};
    escape(out, text, entities, "?");
}

void fr_escape_latex(struct fr_text *out, const char *text) {
    static const char special[] = "&%$#_{}\\~^<>|";
    static const char *const set_as[] = {"\\&",
                                         "\\%",
                                         "\\$",
                                         "\\#",
                                         "\\_",
                                         "\\{",
                                         "\\}",
                                         "\\textbackslash{}",
                                         "\\textasciitilde{}",
                                         "\\textasciicircum{}",
                                         "\\textless{}",
                                         "\\textgreater{}",
                                         "\\textbar{}"};
    while (*text) {
        uint32_t code;
        int length = fr_utf8_character(text, &code);
        const char *at = code < 0x80 ? strchr(special, (int)code) : NULL;
        if (length == 0)
            fr_text_add(out, "?", 1);
        else if (fr_is_hidden(code))
            fr_text_add(out, " ", 1);
        else if (at)
            fr_text_addf(out, "%s", set_as[at - special]);
        else
            fr_text_add(out, text, (size_t)length);
        text += length ? length : 1;
    }
}
