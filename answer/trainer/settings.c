#include "answer/trainer/settings.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

#define FR_SYNTAX(name) extern const struct fr_syntax fr_syntax_##name;
#include "answer/trainer/syntax_list.h"
#undef FR_SYNTAX

const struct fr_syntax *const fr_syntaxes[] = {
#define FR_SYNTAX(name) &fr_syntax_##name,
#include "answer/trainer/syntax_list.h"
#undef FR_SYNTAX
    NULL};

enum { NAME_MAX_B = 200, VALUE_MAX_B = 8192, SETTINGS_MAX = 20000 };

/* A copy of its own; NULL without memory. */
static char *copy(const char *text, size_t length) {
    char *out = fr_malloc(length + 1, 1);
    if (!out) return NULL;
    memcpy(out, text, length);
    out[length] = '\0';
    return out;
}

static bool is_edge(char c) { return isspace((unsigned char)c) || c == '"' || c == '\''; }

/* "70_000" of YAML, TOML and Python as "70000". */
static void join_digits(char *value) {
    const size_t n = strlen(value);
    char *to = value;
    if (strspn(value, "0123456789_") != n || !isdigit((unsigned char)*value)) return;
    for (const char *from = value; *from; from++)
        if (*from != '_') *to++ = *from;
    *to = '\0';
}

static bool grow(struct fr_settings *s) {
    if (s->n < s->capacity) return true;
    int capacity = s->capacity ? 2 * s->capacity : 64;
    struct fr_setting *more = fr_realloc(s->item, (size_t)capacity, sizeof *more);
    if (!more) return false;
    s->item = more;
    s->capacity = capacity;
    return true;
}

void fr_settings_add(struct fr_settings *s, const char *name, size_t name_length,
                     const char *value, size_t value_length, int line) {
    while (name_length && *name == '-') name++, name_length--;
    while (value_length && is_edge(*value)) value++, value_length--;
    while (value_length && is_edge(value[value_length - 1])) value_length--;
    if (!name_length || name_length > NAME_MAX_B || s->n == SETTINGS_MAX || s->failed) return;
    if (value_length > VALUE_MAX_B) value_length = VALUE_MAX_B;
    struct fr_setting one = {copy(name, name_length), copy(value, value_length), line};
    if (!one.name || !one.value || !grow(s)) {
        free(one.name);
        free(one.value);
        s->failed = true;
        return;
    }
    for (char *c = one.name; *c; c++) *c = *c == '-' ? '_' : *c;
    join_digits(one.value);
    s->item[s->n++] = one;
}

void fr_settings_free(struct fr_settings *s) {
    for (int i = 0; i < s->n; i++) {
        free(s->item[i].name);
        free(s->item[i].value);
    }
    free(s->item);
    *s = (struct fr_settings){0};
}

bool fr_setting_is(const char *full, const char *name) {
    size_t all = strlen(full), own = strlen(name);
    return all >= own && strcmp(full + all - own, name) == 0 &&
           (all == own || full[all - own - 1] == '.');
}

const struct fr_setting *fr_settings_find(const struct fr_settings *s, const char *name) {
    for (int i = s->n; i-- > 0;)
        if (fr_setting_is(s->item[i].name, name)) return &s->item[i];
    return NULL;
}

bool fr_settings_line(const char *text, size_t end, size_t *at, const char **line,
                      size_t *length) {
    if (*at >= end) return false;
    const char *stop = memchr(text + *at, '\n', end - *at);
    *line = text + *at;
    *length = stop ? (size_t)(stop - *line) : end - *at;
    *at += *length + 1;
    if (*length && (*line)[*length - 1] == '\r') --*length;
    return true;
}
