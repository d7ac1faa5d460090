#include "base/range.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/sort.h"
#include "base/text/whole.h"
#include "base/units.h"

struct list {
    int64_t *items;
    size_t count, capacity;
};

static bool append(struct list *list, int64_t value) {
    if (list->count == list->capacity) {
        size_t capacity = list->capacity ? 2 * list->capacity : 64;
        int64_t *grown = fr_realloc(list->items, capacity, sizeof *grown);
        if (!grown) return false;
        list->items = grown;
        list->capacity = capacity;
    }
    list->items[list->count++] = value;
    return true;
}

struct place { /* of a value in the list */
    int64_t value;
    size_t index;
};

static int by_value_then_index(const void *a, const void *b) {
    const struct place *x = a, *y = b;
    if (x->value != y->value) return FR_ORDER(x->value, y->value);
    return FR_ORDER(x->index, y->index);
}

/* Keep the first of equal values, and the order of the rest. */
static bool drop_repeated(struct list *list) {
    struct place *places = fr_malloc(list->count + 1, sizeof *places);
    bool *again = fr_calloc(list->count + 1, sizeof *again);
    bool ok = places && again;
    for (size_t i = 0; ok && i < list->count; i++)
        places[i] = (struct place){list->items[i], i};
    if (ok) fr_sort_items(places, list->count, sizeof *places, by_value_then_index);
    for (size_t i = 1; ok && i < list->count; i++)
        again[places[i].index] = places[i].value == places[i - 1].value;
    size_t kept = 0;
    for (size_t i = 0; ok && i < list->count; i++)
        if (!again[i]) list->items[kept++] = list->items[i];
    if (ok) list->count = kept;
    free(places);
    free(again);
    return ok;
}

/* One number, which must take up all of @p text. */
static fr_status number(const char *text, bool sizes, int64_t min, const char *where,
                        int64_t *value, struct fr_error *err) {
    char *end = NULL;
    double size_B = 0;
    errno = 0;
    long long whole = strtoll(text, &end, 10);
    bool plain = *text && *end == '\0' && errno == 0;
    if (!plain && sizes) {
        if (fr_quantity_parse(text, FR_QUANTITY_SIZE, where, &size_B, err) != FR_OK) {
            if (err) err->status = FR_ERR_USAGE; /* it stands on the command line */
            return FR_ERR_USAGE;
        }
        if (size_B != floor(size_B) || fabs(size_B) > 1e15)
            return fr_fail(err, FR_ERR_USAGE, where, "\"%.40s\" is no whole number of bytes",
                           text);
        whole = (long long)size_B;
        plain = true;
    }
    char meant[80];
    if (!plain && *fr_whole_meant(text, meant, sizeof meant))
        return fr_fail(err, FR_ERR_USAGE, where, "\"%.40s\" is no whole number%s", text, meant);
    if (!plain)
        return fr_fail(err, FR_ERR_USAGE, where,
                       "\"%.40s\" is no whole number; ranges are "
                       "written 1..64, 1..64*2, 8..64+8 or a,b,c",
                       text);
    if (whole < min)
        return fr_fail(err, FR_ERR_USAGE, where,
                       "%lld is too small; expected at least %" PRId64, whole, min);
    *value = whole;
    return FR_OK;
}

static fr_status add_span(char *text, char *dots, bool sizes, int64_t min, const char *where,
                          struct list *list, struct fr_error *err) {
    int64_t first, last, step = 1;
    char *second = dots + 2, *op = strpbrk(second, "*+"), how = op ? *op : '+';
    *dots = '\0';
    if (op) *op = '\0';
    FR_TRY(number(text, sizes, min, where, &first, err));
    FR_TRY(number(second, sizes, min, where, &last, err));
    if (op) FR_TRY(number(op + 1, sizes && how == '+', how == '*' ? 2 : 1, where, &step, err));
    if (last < first)
        return fr_fail(err, FR_ERR_USAGE, where,
                       "%" PRId64 "..%" PRId64 " runs backwards; write %" PRId64 "..%" PRId64,
                       first, last, last, first);
    if (how == '*' && first < 1)
        return fr_fail(err, FR_ERR_USAGE, where,
                       "a range that multiplies must start at 1 or more");
    for (int64_t v = first; v <= last; v = how == '*' ? v * step : v + step) {
        if (list->count >= FR_RANGE_MAX)
            return fr_fail(err, FR_ERR_USAGE, where, "has more than %d values", FR_RANGE_MAX);
        if (!append(list, v)) return fr_fail(err, FR_ERR_NOMEM, where, "out of memory");
        if (how == '*' ? v > last / step : v > last - step) break;
    }
    return FR_OK;
}

static fr_status add_entry(char *entry, bool sizes, int64_t min, const char *where,
                           struct list *list, struct fr_error *err) {
    char *dots = strstr(entry, "..");
    int64_t value = 0;
    if (dots) return add_span(entry, dots, sizes, min, where, list, err);
    FR_TRY(number(entry, sizes, min, where, &value, err));
    return append(list, value) ? FR_OK : fr_fail(err, FR_ERR_NOMEM, where, "out of memory");
}

/* "1,024": the second number of a list would hardly begin with a 0.  @return the number that was meant, or 0 */
static int64_t grouped(const char *text) {
    int64_t value = 0;
    bool leading = false;
    size_t n = strspn(text, "0123456789");
    if (n < 1 || n > 3 || text[n] != ',') return 0;
    for (;;) {
        for (size_t i = 0; i < n; i++) value = 10 * value + (text[i] - '0');
        text += n;
        if (!*text) return leading ? value : 0;
        n = *text == ',' ? strspn(++text, "0123456789") : 0;
        if (n != 3 || value > INT64_MAX / 10000) return 0;
        leading = leading || *text == '0';
    }
}

/* "8-64", "1:8", "8;16", "1 2 4" and "[1,2]" as they are written here.  @return false for what is none of them */
static bool rewrite(const char *text, bool sizes, char *out, size_t capacity) {
    bool spans = false;
    size_t used = 0;
    const char *at = text;
    for (; *at && used + 3 < capacity; at++) {
        bool number = used > 0 && strchr("0123456789", out[used - 1]);
        if (strchr("0123456789*+", *at)) {
            out[used++] = *at;
            if (strchr("*+", *at)) spans = true;
        } else if (number && (strchr("-:", *at) || strncmp(at, "..", 2) == 0)) {
            used += (size_t)snprintf(out + used, 3, "%s", spans ? "+" : "..");
            spans = true;
            at += *at == '.';
        } else if (strchr(",; |/", *at)) {
            if (number) out[used++] = ',';
            spans = false;
        } else if (sizes && isalpha((unsigned char)*at)) {
            out[used++] = *at;
        } else if (!strchr("[](){}", *at)) {
            return false;
        }
    }
    while (used > 0 && out[used - 1] == ',') used--;
    out[used] = '\0';
    return !*at && used > 0 && strcmp(out, text) != 0;
}

fr_status fr_range_parse(const char *text, bool sizes, int64_t min, const char *where,
                         int64_t **values, size_t *count, struct fr_error *err) {
    struct list list = {0};
    fr_status status = FR_OK;
    if (grouped(text) > 0)
        return fr_fail(err, FR_ERR_USAGE, where,
                       "\"%.40s\" is a list, in which a number begins with 0; write %" PRId64,
                       text, grouped(text));
    char *copy = fr_strdup(text), *entry = copy;
    if (!copy) return fr_fail(err, FR_ERR_NOMEM, where, "out of memory");
    while (entry && status == FR_OK) {
        char *comma = strchr(entry, ',');
        if (comma) *comma = '\0';
        status = add_entry(entry, sizes, min, where, &list, err);
        entry = comma ? comma + 1 : NULL;
    }
    free(copy);
    if (status == FR_OK && !drop_repeated(&list))
        status = fr_fail(err, FR_ERR_NOMEM, where, "out of memory");
    char meant[96];
    int64_t *others = NULL;
    size_t n_others = 0;
    if (status == FR_ERR_USAGE && rewrite(text, sizes, meant, sizeof meant) &&
        fr_range_parse(meant, sizes, min, where, &others, &n_others, NULL) == FR_OK)
        fr_fail(err, FR_ERR_USAGE, where, "\"%.40s\" is no whole number or range; write %s",
                text, meant);
    free(others);
    if (status != FR_OK) {
        free(list.items);
        return status;
    }
    *values = list.items;
    *count = list.count;
    return FR_OK;
}
