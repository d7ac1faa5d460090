#include "base/script/script.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/escape.h"
#include "base/json.h"

/* ---- comments -------------------------------------------------------------------------------- */

/* A character in a comment: itself, or its replacement. */
static const char *shown(const char *at, int length, uint32_t code) {
    if (length == 1 && (code == '\n' || code == '\r' || code == '\t')) return " ";
    return length == 0 || fr_is_hidden(code) ? "?" : at;
}

/* @return false where there was more than fits */
static bool one_line(struct fr_text *script, const char *text) {
    size_t from = script->length;
    while (*text) {
        uint32_t code;
        int length = fr_utf8_character(text, &code);
        const char *as = shown(text, length, code);
        if (script->length - from + 4 > FR_SCRIPT_COMMENT_B || script->failed) return false;
        fr_text_add(script, as, as == text ? (size_t)length : 1);
        text += length ? length : 1;
    }
    return true;
}

void fr_script_comment(struct fr_text *script, const char *fmt, ...) {
    struct fr_text plain = {0};
    char line[FR_SCRIPT_COMMENT_B + 4];
    va_list args;
    va_start(args, fmt);
    int length = vsnprintf(line, sizeof line, fmt, args);
    va_end(args);
    bool whole = one_line(&plain, line) && length < (int)sizeof line;
    fr_text_addf(script, "# %s%s\n", fr_text_get(&plain), whole ? "" : "...");
    script->failed = script->failed || plain.failed;
    fr_text_free(&plain);
}

/* ---- words ----------------------------------------------------------------------------------- */

static bool is_bare(const char *text) {
    static const char bare[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_@%+=:,./-";
    return *text && text[strspn(text, bare)] == '\0';
}

/* Where a byte would end the quotes or the line, $'...', with no byte that is more than ASCII: it reads a backslash,
 * which some encodings have as the second byte of a character. */
static void bash_word(struct fr_text *script, const char *text) {
    if (is_bare(text)) {
        fr_text_add(script, text, strlen(text));
        return;
    }
    if (!strpbrk(text, "'\n\t\r") && fr_is_plain(text, strlen(text))) {
        fr_text_addf(script, "'%s'", text);
        return;
    }
    fr_text_add(script, "$'", 2);
    for (const unsigned char *c = (const unsigned char *)text; *c; c++)
        if (*c == '\'' || *c == '\\')
            fr_text_addf(script, "\\%c", *c);
        else
            fr_text_addf(script, *c >= 0x20 && *c < 0x7f ? "%c" : "\\x%02x", *c);
    fr_text_add(script, "'", 1);
}

/* Python, YAML 1.2 and TOML read these alike. */
static void string(struct fr_text *script, const char *text) {
    fr_text_add(script, "\"", 1);
    while (*text) {
        uint32_t code;
        int length = fr_utf8_character(text, &code);
        if (length == 0)
            fr_text_add(script, "\xEF\xBF\xBD", 3);
        else if (code == '"' || code == '\\')
            fr_text_addf(script, "\\%c", (char)code);
        else if (fr_is_hidden(code))
            fr_text_addf(script, code > 0xffff ? "\\U%08x" : "\\u%04x", (unsigned)code);
        else
            fr_text_add(script, text, (size_t)length);
        text += length ? length : 1;
    }
    fr_text_add(script, "\"", 1);
}

void fr_script_word(struct fr_text *script, fr_script_language language, const char *text) {
    struct fr_json_writer w = {.text = script};
    switch (language) {
    case FR_SCRIPT_BASH:
        bash_word(script, text);
        break;
    case FR_SCRIPT_PYTHON:
    case FR_SCRIPT_YAML:
    case FR_SCRIPT_TOML:
        string(script, text);
        break;
    case FR_SCRIPT_JSON:
        fr_json_put_string(&w, text);
        break;
    }
}

void fr_script_piece(struct fr_text *script, const char *ours) {
    fr_text_add(script, ours, strlen(ours));
}
