#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "base/json.h"

static void new_line(struct fr_json_writer *w) {
    if (!w->indent) return;
    fr_text_addf(w->text, "\n%*s", w->depth * w->indent, "");
}

/* Before any value: the comma and line break that its place asks for. */
static void begin_value(struct fr_json_writer *w) {
    if (w->after_key) {
        w->after_key = false;
        return;
    }
    if (w->depth == 0) return;
    if (w->used[w->depth - 1]) fr_text_add(w->text, w->indent ? "," : ", ", w->indent ? 1 : 2);
    w->used[w->depth - 1] = true;
    new_line(w);
}

static void open_level(struct fr_json_writer *w, const char *bracket) {
    begin_value(w);
    fr_text_add(w->text, bracket, 1);
    assert(w->depth < FR_JSON_MAX_DEPTH); /* what we write is nested by us, not by a user */
    w->used[w->depth++] = false;
}

static void close_level(struct fr_json_writer *w, const char *bracket) {
    bool used = w->used[--w->depth];
    if (used) new_line(w);
    fr_text_add(w->text, bracket, 1);
    if (w->depth == 0 && w->indent) fr_text_add(w->text, "\n", 1);
}

void fr_json_begin_object(struct fr_json_writer *w) { open_level(w, "{"); }
void fr_json_end_object(struct fr_json_writer *w) { close_level(w, "}"); }
void fr_json_begin_array(struct fr_json_writer *w) { open_level(w, "["); }
void fr_json_end_array(struct fr_json_writer *w) { close_level(w, "]"); }

/* Hidden characters are written by their number, so that JSON on a terminal is text.  Bytes
 * that are no UTF-8 would not be JSON (RFC 8259). */
static void put_hidden(struct fr_text *text, uint32_t code) {
    if (code > 0xffff) {
        fr_text_addf(text, "\\u%04x", 0xd800 + ((code - 0x10000) >> 10));
        code = 0xdc00 + (code & 0x3ff);
    }
    fr_text_addf(text, "\\u%04x", code);
}

static void put_quoted(struct fr_text *text, const char *value) {
    fr_text_add(text, "\"", 1);
    for (const char *c = value; *c;) {
        uint32_t code;
        int length = fr_utf8_character(c, &code);
        if (*c == '"' || *c == '\\')
            fr_text_addf(text, "\\%c", *c);
        else if (*c == '\n')
            fr_text_add(text, "\\n", 2);
        else if (*c == '\t')
            fr_text_add(text, "\\t", 2);
        else if (length == 0 || fr_is_hidden(code))
            put_hidden(text, length ? code : 0xfffd);
        else
            fr_text_add(text, c, (size_t)length);
        c += length ? length : 1;
    }
    fr_text_add(text, "\"", 1);
}

void fr_json_key(struct fr_json_writer *w, const char *key) {
    begin_value(w);
    put_quoted(w->text, key);
    fr_text_add(w->text, ": ", 2);
    w->after_key = true;
}

void fr_json_put_string(struct fr_json_writer *w, const char *value) {
    begin_value(w);
    put_quoted(w->text, value);
}

const char *fr_number_write(double value, char *out, size_t capacity) {
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(out, capacity, "%.*g", digits, value);
        if (strtod(out, NULL) == value) break;
    }
    return out;
}

void fr_json_put_number(struct fr_json_writer *w, double value) {
    char out[40];
    if (!isfinite(value)) {
        fr_json_put_null(w);
        return;
    }
    begin_value(w);
    fr_number_write(value, out, sizeof out);
    fr_text_add(w->text, out, strlen(out));
}

void fr_json_put_integer(struct fr_json_writer *w, int64_t value) {
    begin_value(w);
    fr_text_addf(w->text, "%" PRId64, value);
}

void fr_json_put_bool(struct fr_json_writer *w, bool value) {
    begin_value(w);
    fr_text_addf(w->text, "%s", value ? "true" : "false");
}

void fr_json_put_null(struct fr_json_writer *w) {
    begin_value(w);
    fr_text_add(w->text, "null", 4);
}

void fr_json_add_string(struct fr_json_writer *w, const char *key, const char *value) {
    fr_json_key(w, key);
    fr_json_put_string(w, value);
}

void fr_json_add_number(struct fr_json_writer *w, const char *key, double value) {
    fr_json_key(w, key);
    fr_json_put_number(w, value);
}

void fr_json_add_integer(struct fr_json_writer *w, const char *key, int64_t value) {
    fr_json_key(w, key);
    fr_json_put_integer(w, value);
}

void fr_json_add_bool(struct fr_json_writer *w, const char *key, bool value) {
    fr_json_key(w, key);
    fr_json_put_bool(w, value);
}

void fr_json_add_object(struct fr_json_writer *w, const char *key) {
    fr_json_key(w, key);
    fr_json_begin_object(w);
}

void fr_json_add_array(struct fr_json_writer *w, const char *key) {
    fr_json_key(w, key);
    fr_json_begin_array(w);
}
