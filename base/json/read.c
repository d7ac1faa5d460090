#include "base/json.h"

#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/text/meant.h"
#include "base/text/whole.h"

/* The value that was found, for "expected X, found Y". */
static const char *found(const struct fr_json *node, char *out, size_t capacity) {
    const json_t *v = node->value;
    if (!v)
        snprintf(out, capacity, "nothing");
    else if (json_is_object(v))
        snprintf(out, capacity, "an object");
    else if (json_is_array(v))
        snprintf(out, capacity, "an array");
    else if (json_is_string(v))
        snprintf(out, capacity, "\"%.40s\"", json_string_value(v));
    else if (json_is_integer(v))
        snprintf(out, capacity, "%" PRId64, (int64_t)json_integer_value(v));
    else if (json_is_real(v))
        snprintf(out, capacity, "%g", json_real_value(v));
    else if (json_is_boolean(v))
        snprintf(out, capacity, json_is_true(v) ? "true" : "false");
    else
        snprintf(out, capacity, "null");
    return out;
}

static fr_status wrong(const struct fr_json *node, const char *expected, struct fr_error *err) {
    char what[64];
    if (!node->value) return fr_json_fail(node, err, "is missing; expected %s", expected);
    return fr_json_fail(node, err, "expected %s, found %s", expected,
                        found(node, what, sizeof what));
}

/* A range for a sentence; a bound that only keeps integers from overflowing is not shown. */
static const char *range_text(double min, double max, char *out, size_t capacity) {
    char low[40], high[40];
    fr_number_write(min, low, sizeof low);
    fr_number_write(max, high, sizeof high);
    if (min == max)
        snprintf(out, capacity, "%s", low);
    else if (max >= 1ULL << 40)
        snprintf(out, capacity, "at least %s", low);
    else if (min <= -1e18)
        snprintf(out, capacity, "at most %s", high);
    else
        snprintf(out, capacity, "%s to %s", low, high);
    return out;
}

/* "$schema" of a file as a whole, by which editors complete it. */
static bool is_for_editors(const struct fr_json *node, const char *key, const json_t *value) {
    return !node->parent && json_is_string(value) && strcmp(key, "$schema") == 0;
}

fr_status fr_json_object(const struct fr_json *node, const char *const *keys,
                         struct fr_error *err) {
    if (!json_is_object((const json_t *)node->value)) return wrong(node, "an object", err);
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)node->value, key, value) {
        const char *const *known = keys;
        while (*known && strcmp(*known, key) != 0) known++;
        if (*known || is_for_editors(node, key, value)) continue;
        struct fr_json member = fr_json_member(node, key);
        const char *near = fr_suggest(key, keys);
        if (near) return fr_json_fail(&member, err, "unknown key; did you mean \"%s\"?", near);
        enum { LISTED_MOST = 12 };
        size_t count = 0;
        while (keys[count]) count++;
        if (count > LISTED_MOST)
            return fr_json_fail(&member, err,
                                "unknown key, and like none of the %zu known here", count);
        struct fr_text list = {0};
        for (known = keys; *known; known++)
            fr_text_addf(&list, "%s%s", known == keys ? "" : ", ", *known);
        fr_status status =
            fr_json_fail(&member, err, "unknown key; known here: %s", fr_text_get(&list));
        fr_text_free(&list);
        return status;
    }
    return FR_OK;
}

fr_status fr_json_array(const struct fr_json *node, int64_t min, int64_t max,
                        struct fr_error *err) {
    if (!json_is_array((const json_t *)node->value)) return wrong(node, "an array", err);
    int64_t length = fr_json_array_length(node);
    if (length < min || length > max) {
        char range[96];
        return fr_json_fail(node, err, "has %" PRId64 " elements; expected %s", length,
                            range_text((double)min, (double)max, range, sizeof range));
    }
    return FR_OK;
}

fr_status fr_json_number(const struct fr_json *node, double min, double max, double *out,
                         struct fr_error *err) {
    if (!json_is_number((const json_t *)node->value)) return wrong(node, "a number", err);
    double number = json_number_value(node->value);
    if (!isfinite(number)) return fr_json_fail(node, err, "is not a finite number");
    if (number < min || number > max) {
        char is[40], range[96];
        return fr_json_fail(node, err, "is %s; expected %s",
                            fr_number_write(number, is, sizeof is),
                            range_text(min, max, range, sizeof range));
    }
    *out = number;
    return FR_OK;
}

fr_status fr_json_integer(const struct fr_json *node, int64_t min, int64_t max, int64_t *out,
                          struct fr_error *err) {
    const json_t *v = node->value;
    double real = json_is_real(v) ? json_real_value(v) : 0;
    bool whole =
        json_is_integer(v) || (json_is_real(v) && real == floor(real) && fabs(real) < 1e15);
    if (!whole && json_is_string(v)) {
        char meant[80];
        const char *text = json_string_value(v);
        return fr_json_fail(node, err, "expected a whole number, found \"%.40s\"%s", text,
                            fr_whole_meant(text, meant, sizeof meant));
    }
    if (!whole) return wrong(node, "a whole number", err);
    int64_t number = json_is_integer(v) ? (int64_t)json_integer_value(v) : (int64_t)real;
    if (number < min || number > max) {
        char range[96];
        return fr_json_fail(node, err, "is %" PRId64 "; expected %s", number,
                            range_text((double)min, (double)max, range, sizeof range));
    }
    *out = number;
    return FR_OK;
}

fr_status fr_json_quantity(const struct fr_json *node, fr_quantity quantity, double min,
                           double max, double *out, struct fr_error *err) {
    char where[384], low[48], high[48];
    const json_t *v = node->value;
    if (json_is_number(v)) {
        char what[64];
        return fr_json_fail(node, err, "%s has no unit; write e.g. \"%s\"",
                            found(node, what, sizeof what), fr_quantity_example(quantity));
    }
    if (!json_is_string(v)) {
        char expected[96];
        snprintf(expected, sizeof expected, "%s such as \"%s\"", fr_quantity_name(quantity),
                 fr_quantity_example(quantity));
        return wrong(node, expected, err);
    }
    double si = 0;
    fr_json_where(node, where, sizeof where);
    FR_TRY(fr_quantity_parse(json_string_value(v), quantity, where, &si, err));
    if (si < min || si > max) {
        if (min == 0 && si < 0)
            return fr_json_fail(node, err, "\"%.40s\" is negative", json_string_value(v));
        return fr_json_fail(node, err, "\"%.40s\" is outside %s to %s", json_string_value(v),
                            fr_quantity_write(min, quantity, low, sizeof low),
                            fr_quantity_write(max, quantity, high, sizeof high));
    }
    *out = si;
    return FR_OK;
}

fr_status fr_json_text(const struct fr_json *node, const char **out, struct fr_error *err) {
    if (!json_is_string((const json_t *)node->value)) return wrong(node, "a string", err);
    *out = json_string_value(node->value);
    return FR_OK;
}

/* Absent and optional: leave the default.  Every get_ function starts with this. */
#define SKIP_IF_ABSENT(member)                                                                 \
    do {                                                                                       \
        if (!(member).value && !required) return FR_OK;                                        \
    } while (0)

fr_status fr_json_get_number(const struct fr_json *object, const char *key, bool required,
                             double min, double max, double *out, struct fr_error *err) {
    struct fr_json member = fr_json_member(object, key);
    SKIP_IF_ABSENT(member);
    return fr_json_number(&member, min, max, out, err);
}

fr_status fr_json_get_known(const struct fr_json *object, const char *key, double min,
                            double max, double *out, struct fr_error *err) {
    struct fr_json member = fr_json_member(object, key);
    bool unknown = !member.value || fr_json_is_null(&member);
    *out = (double)NAN;
    return unknown ? FR_OK : fr_json_number(&member, min, max, out, err);
}

fr_status fr_json_get_integer(const struct fr_json *object, const char *key, bool required,
                              int64_t min, int64_t max, int64_t *out, struct fr_error *err) {
    struct fr_json member = fr_json_member(object, key);
    SKIP_IF_ABSENT(member);
    return fr_json_integer(&member, min, max, out, err);
}

fr_status fr_json_get_quantity(const struct fr_json *object, const char *key, bool required,
                               fr_quantity quantity, double min, double max, double *out,
                               struct fr_error *err) {
    struct fr_json member = fr_json_member(object, key);
    SKIP_IF_ABSENT(member);
    return fr_json_quantity(&member, quantity, min, max, out, err);
}

fr_status fr_json_get_string(const struct fr_json *object, const char *key, bool required,
                             char *out, size_t capacity, struct fr_error *err) {
    struct fr_json member = fr_json_member(object, key);
    const char *text = NULL;
    SKIP_IF_ABSENT(member);
    FR_TRY(fr_json_text(&member, &text, err));
    if (strlen(text) >= capacity)
        return fr_json_fail(&member, err, "is longer than %zu bytes", capacity - 1);
    snprintf(out, capacity, "%s", text);
    return FR_OK;
}

fr_status fr_json_get_bool(const struct fr_json *object, const char *key, bool required,
                           bool *out, struct fr_error *err) {
    struct fr_json member = fr_json_member(object, key);
    SKIP_IF_ABSENT(member);
    if (!json_is_boolean((const json_t *)member.value)) {
        static const char *const words[] = {"true", "false", NULL};
        char what[64], tail[96];
        found(&member, what, sizeof what);
        struct fr_meant meant = fr_meant(what, words);
        bool sure = meant.how == FR_MEANT_SAME || meant.how == FR_MEANT_ALIAS;
        snprintf(tail, sizeof tail, "true or false, found %s%s%s", what, sure ? "; write " : "",
                 sure ? meant.known[0] : "");
        return fr_json_fail(&member, err, "expected %s", tail);
    }
    *out = json_is_true((const json_t *)member.value);
    return FR_OK;
}

fr_status fr_json_get_choice(const struct fr_json *object, const char *key, bool required,
                             const char *const *choices, int *out, struct fr_error *err) {
    struct fr_json member = fr_json_member(object, key);
    SKIP_IF_ABSENT(member);
    const char *text = json_string_value(member.value); /* NULL: it is no string */
    for (int i = 0; text && choices[i]; i++)
        if (strcmp(choices[i], text) == 0) {
            *out = i;
            return FR_OK;
        }
    char what[64], tail[400];
    found(&member, what, sizeof what);
    return fr_json_fail(&member, err, "unknown value %s%s", what,
                        fr_meant_tail(text ? text : what, choices, tail, sizeof tail));
}

double fr_json_number_at(const struct fr_json *object, const char *key) {
    struct fr_json node = fr_json_member(object, key);
    double value = NAN;
    if (!fr_json_is_number(&node) ||
        fr_json_number(&node, -1e300, 1e300, &value, NULL) != FR_OK)
        return NAN;
    return value;
}

const char *fr_json_text_at(const struct fr_json *object, const char *key) {
    struct fr_json node = fr_json_member(object, key);
    const char *text = "";
    if (!fr_json_is_string(&node) || fr_json_text(&node, &text, NULL) != FR_OK) return "";
    return text;
}

const char *fr_json_key_at(const struct fr_json *object, int64_t i) {
    void *iter = json_object_iter((json_t *)object->value);
    while (iter && i-- > 0) iter = json_object_iter_next((json_t *)object->value, iter);
    return iter ? json_object_iter_key(iter) : NULL;
}

const char *fr_json_key_after(const struct fr_json *object, const char *key) {
    json_t *value = (json_t *)object->value;
    void *iter = key ? json_object_iter_at(value, key) : json_object_iter(value);
    if (key && iter) iter = json_object_iter_next(value, iter);
    return iter ? json_object_iter_key(iter) : NULL;
}
