#include "base/text/log_wrapped.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static bool is_key(const char *at, size_t n, const char *const *keys) {
    for (; *keys; keys++)
        if (strlen(*keys) == n && strncmp(at, *keys, n) == 0) return true;
    return false;
}

/* The end of the string that begins at @p at, a quote mark; NULL: none on the line. */
static const char *string_end(const char *at, const char *stop) {
    for (at++; at < stop && *at != '"'; at++)
        if (*at == '\\') at++;
    return at < stop ? at : NULL;
}

/* The text of an object, behind its quote mark; NULL: the line is none, or has no key beside. */
static const char *of_object(const char *line, const char *stop) {
    static const char *const texts[] = {"log",     "line", "textPayload", "MESSAGE",
                                        "message", "msg",  NULL},
                             *const besides[] = {"stream",     "time",       "timestamp",
                                                 "ts",         "@timestamp", "labels",
                                                 "severity",   "level",      "_HOSTNAME",
                                                 "kubernetes", "fields",     NULL};
    const char *text = NULL;
    bool more = false;
    int depth = 0;
    if (*line != '{') return NULL;
    for (const char *at = line; at < stop; at++) {
        depth += (*at == '{' || *at == '[') - (*at == '}' || *at == ']');
        if (*at != '"') continue;
        const char *end = string_end(at, stop), *colon = end ? end + 1 : stop;
        if (!end) break;
        while (colon < stop && *colon == ' ') colon++;
        const bool key = depth == 1 && colon < stop && *colon == ':';
        if (key && is_key(at + 1, (size_t)(end - at - 1), besides)) more = true;
        if (key && is_key(at + 1, (size_t)(end - at - 1), texts)) {
            const char *value = colon + 1;
            while (value < stop && *value == ' ') value++;
            if (value < stop && *value == '"' && string_end(value, stop)) text = value + 1;
        }
        at = end;
    }
    return more ? text : NULL;
}

/* The text of logfmt, behind its quote mark. */
static const char *of_logfmt(const char *line, const char *stop) {
    static const char *const begins[] = {"time=", "ts=", "level="};
    static const char mark[] = " msg=\"";
    bool known = false;
    for (size_t i = 0; i < sizeof begins / sizeof *begins; i++)
        known |= strncmp(line, begins[i], strlen(begins[i])) == 0;
    for (const char *at = line; known && at + sizeof mark - 1 < stop; at++) {
        if (strncmp(at, mark, sizeof mark - 1) != 0) continue;
        at += sizeof mark - 1;
        return string_end(at - 1, stop) ? at : NULL;
    }
    return NULL;
}

static const char *text_of(const char *line, const char *stop) {
    const char *text = of_object(line, stop);
    return text ? text : of_logfmt(line, stop);
}

static int hex(const char *at) {
    int value = 0;
    for (int i = 0; i < 4; i++) {
        const char c = (char)tolower((unsigned char)at[i]);
        if (!isxdigit((unsigned char)c)) return -1;
        value = 16 * value + (isdigit((unsigned char)c) ? c - '0' : c - 'a' + 10);
    }
    return value;
}

/* "\u003c" of the basic plane as UTF-8, which is shorter. */
static char *put_code(char *out, int code) {
    if (code >= 0x800) {
        *out++ = (char)(0xe0 | code >> 12);
        *out++ = (char)(0x80 | (code >> 6 & 0x3f));
    } else if (code >= 0x80) {
        *out++ = (char)(0xc0 | code >> 6);
    }
    *out++ = code < 0x80 ? (char)code : (char)(0x80 | (code & 0x3f));
    return out;
}

/* The string from @p at on without its escapes; an end of line inside is none. */
static char *put_text(char *out, const char *at, const char *stop) {
    for (; at < stop && *at != '"'; at++) {
        if (*at != '\\' || at + 1 >= stop) {
            *out++ = *at;
            continue;
        }
        at++;
        const int code = *at == 'u' && at + 4 < stop ? hex(at + 1) : -1;
        if (code > 0) {
            at += 4;
            if (code != '\n' && code != '\r') out = put_code(out, code);
        } else if (*at == 't')
            *out++ = '\t';
        else if (*at != 'n' && *at != 'r')
            *out++ = *at;
    }
    return out;
}

/* Are nearly all lines records? */
static bool are_records(const char *text, size_t length) {
    size_t lines = 0, records = 0;
    for (const char *at = text, *end; at < text + length; at = end + 1) {
        end = memchr(at, '\n', (size_t)(text + length - at));
        if (!end) end = text + length;
        lines += end > at;
        records += end > at && text_of(at, end) != NULL;
    }
    return records > 0 && 10 * records >= 9 * lines;
}

size_t fr_log_unwrap(char *text, size_t length) {
    char *out = text;
    if (!are_records(text, length)) return length;
    for (const char *at = text, *end; at < text + length; at = end + 1) {
        end = memchr(at, '\n', (size_t)(text + length - at));
        const bool last = !end;
        if (last) end = text + length;
        const char *own = text_of(at, end);
        if (own) {
            out = put_text(out, own, end);
        } else {
            memmove(out, at, (size_t)(end - at));
            out += end - at;
        }
        if (!last) *out++ = '\n';
    }
    *out = '\0';
    return (size_t)(out - text);
}
