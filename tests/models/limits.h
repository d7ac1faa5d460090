/** @file
 *  Numbers of a file at their ends: what is within is read, what is beyond is refused by its name, and so is a
 *  file without a number that it needs. */
#ifndef FR_TESTS_MODELS_LIMITS_H
#define FR_TESTS_MODELS_LIMITS_H

#include <stdlib.h>

#include "base/json.h"
#include "tests/cmocka.h"

struct limit {
    const char *path;          /**< as --set takes it */
    const char *below, *least; /**< refused, read; NULL: not tried */
    const char *most, *above;
    bool needed; /**< without it the file is refused */
};

/** Read a document into what it is, and free that. */
typedef fr_status limits_reader(const struct fr_json_document *document, struct fr_error *err);

static inline fr_status limits_read(const char *text, const char *path, const char *value,
                                    limits_reader *read, struct fr_error *err) {
    struct fr_json_document *document = NULL;
    if (fr_json_parse(text, strlen(text), "f", &document, err) != FR_OK)
        fail_msg("%s: %s\n%s", err->where, err->detail, text);
    if (value && fr_json_set(document, path, value, "--set", err) != FR_OK)
        fail_msg("%s=%s: %s", path, value, err->detail);
    fr_status status = read(document, err);
    fr_json_free(document);
    return status;
}

/* "a.0.b" as messages have it: a/0/b. */
static inline void limits_pointer(const char *path, char *pointer, size_t capacity) {
    snprintf(pointer, capacity, "%s", path);
    for (char *at = pointer; *at; at++) *at = *at == '.' ? '/' : *at;
}

static inline bool limits_named(const struct fr_error *err, const char *path) {
    char pointer[160];
    limits_pointer(path, pointer, sizeof pointer);
    const char *last = strrchr(pointer, '/');
    return strstr(err->where, pointer) || strstr(err->detail, last ? last + 1 : pointer);
}

static inline void limits_value(const char *text, const struct limit *l, const char *value,
                                bool read_it, limits_reader *read) {
    struct fr_error err = {0};
    if (!value) return;
    fr_status status = limits_read(text, l->path, value, read, &err);
    if (read_it)
        FR_TRUE(status == FR_OK, "%s=%s: %s %s", l->path, value, err.where, err.detail);
    else
        FR_TRUE(status == FR_ERR_INPUT && limits_named(&err, l->path), "%s=%s: %s %s", l->path,
                value, err.where, err.detail);
}

/* The end of the value that begins at @p at. */
static inline const char *limits_skip(const char *at) {
    int depth = 0;
    bool quoted = false;
    for (;; at++) {
        if (*at == '"') quoted = !quoted;
        if (quoted) continue;
        if (depth == 0 && (*at == ',' || *at == '}' || *at == ']')) return at;
        depth += *at == '{' || *at == '[';
        depth -= *at == '}' || *at == ']';
    }
}

/** @p text without the member that @p path names, each of its words standing for the first such key after
 *  the one before; an index for so many elements. */
static inline void limits_without(const char *text, const char *path, char *out,
                                  size_t capacity) {
    const char *at = text;
    char word[64], quoted[72];
    for (const char *w = path; *w;) {
        size_t n = strcspn(w, ".");
        snprintf(word, sizeof word, "%.*s", (int)n, w);
        if (strspn(word, "0123456789") == n) {
            at = strchr(at, '[') + 1;
            for (int k = atoi(word); k > 0; k--) at = limits_skip(at) + 1;
        } else {
            snprintf(quoted, sizeof quoted, "\"%s\":", word);
            at = strstr(at, quoted);
            if (!at) fail_msg("%s: not in %s", path, text);
            if (w[n]) at += strlen(quoted);
        }
        w += n + (w[n] == '.');
    }
    const char *end = limits_skip(at), *from = at;
    if (*end == ',') end++;
    while (*end != ',' && strchr("]}", *end) && from[-1] == ' ') from--;
    if (end[-1] != ',' && from[-1] == ',') from--; /* the last of several */
    snprintf(out, capacity, "%.*s%s", (int)(from - text), text, end);
}

static inline void limits_hold(const char *text, const struct limit *limits, size_t n,
                               limits_reader *read) {
    struct fr_error err = {0};
    if (limits_read(text, NULL, NULL, read, &err) != FR_OK)
        fail_msg("%s: %s", err.where, err.detail);
    for (size_t i = 0; i < n; i++) {
        const struct limit *l = &limits[i];
        char rest[8192];
        limits_value(text, l, l->least, true, read);
        limits_value(text, l, l->most, true, read);
        limits_value(text, l, l->below, false, read);
        limits_value(text, l, l->above, false, read);
        limits_without(text, l->path, rest, sizeof rest);
        fr_status status = limits_read(rest, NULL, NULL, read, &err);
        FR_TRUE(status == (l->needed ? FR_ERR_INPUT : FR_OK), "without %s: %s %s\n%s", l->path,
                status == FR_OK ? "read" : err.where, err.detail, rest);
    }
}

/** A key that nobody knows is refused by its name in every object of @p text but @p passed_over of them,
 *  which hold what is written for people. */
static inline void limits_strangers(const char *text, int passed_over, limits_reader *read) {
    int accepted = 0;
    for (const char *at = text; (at = strchr(at, '{')); at++) {
        char with[8192];
        struct fr_error err = {0};
        snprintf(with, sizeof with, "%.*s\"stranger\": 1, %s", (int)(at + 1 - text), text,
                 at + 1);
        fr_status status = limits_read(with, NULL, NULL, read, &err);
        accepted += status == FR_OK;
        if (status != FR_OK)
            FR_TRUE(strstr(err.where, "stranger"), "%s: %s\n%s", err.where, err.detail, with);
    }
    FR_TRUE(accepted == passed_over, "%d objects take any key, not %d: %s", accepted,
            passed_over, text);
}

/** A list: as few and as many elements as it may have. */
struct length {
    const char *path;
    int least, most;
};

/* Is a list of @p n ones refused for its length?  Other errors of ones are found later. */
static inline bool limits_refused_length(const char *text, const char *path, int n,
                                         limits_reader *read) {
    struct fr_error err = {0};
    char pointer[160];
    char *list = malloc((size_t)n * 2 + 3), *at = list + 1;
    assert_non_null(list);
    list[0] = '[';
    for (int i = 0; i < n; i++) *at++ = '1', *at++ = ',';
    at -= n > 0; /* in place of the last comma */
    at[0] = ']', at[1] = '\0';
    fr_status status = limits_read(text, path, list, read, &err);
    free(list);
    limits_pointer(path, pointer, sizeof pointer);
    const char *named = strstr(err.where, pointer);
    return status == FR_ERR_INPUT && strstr(err.detail, " elements; expected ") && named &&
           strchr(" ", named[strlen(pointer)]); /* or at its end */
}

static inline void limits_lengths(const char *text, const struct length *lengths, size_t n,
                                  limits_reader *read) {
    for (size_t i = 0; i < n; i++) {
        const struct length *l = &lengths[i];
        const int tried[] = {l->least - 1, l->least, l->most, l->most + 1};
        for (int k = tried[0] < 0; k < 4; k++)
            FR_TRUE(limits_refused_length(text, l->path, tried[k], read) == (k == 0 || k == 3),
                    "%s of %d elements", l->path, tried[k]);
    }
}

#endif
