#include "trust/runs/row/where.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WHERE_MAX = 64 };

/* Length of COLUMN, and where VALUE starts; @return '=', '>', '<', or 0 where it is no condition. */
static char split(const char *condition, int *length, const char **value) {
    size_t at = strcspn(condition, "=<>");
    char how = condition[at];
    *length = (int)at;
    if (at == 0 || !how || (how != '=' && condition[at + 1] != '=')) return 0;
    *value = condition + at + (how == '=' ? 1 : 2);
    return how;
}

fr_status fr_where_check(const char *const *where, int n, struct fr_error *err) {
    if (n > WHERE_MAX)
        return fr_fail(err, FR_ERR_USAGE, "--where", "is given %d times; expected at most %d",
                       n, WHERE_MAX);
    for (int i = 0; i < n; i++) {
        const char *value;
        int length;
        if (!split(where[i], &length, &value))
            return fr_fail(err, FR_ERR_USAGE, "--where",
                           "\"%.64s\" is not of the form COLUMN=VALUE (or >=, <=)", where[i]);
    }
    return FR_OK;
}

/* The value of a run's key, of a key whose first word is left out, or of the file's own column; NULL: none. */
static const char *value_of(const char *column, const struct fr_run_source *in,
                            const struct fr_run_row *row) {
    static const char *const prefixes[] = {"note.", "plan.", "model.", "cluster.", "runtime."};
    const char *value = fr_run_row_get(row, column);
    char key[64];
    for (size_t i = 0; !value && i < sizeof prefixes / sizeof *prefixes; i++) {
        snprintf(key, sizeof key, "%s%.50s", prefixes[i], column);
        value = fr_run_row_get(row, key);
    }
    return value ? value : fr_csv_get(in->csv, in->row, column);
}

/* < 0, 0, > 0: as numbers where both are, else by their letters. */
static int order(const char *a, const char *b) {
    char *end_a = NULL, *end_b = NULL;
    double x = strtod(a, &end_a), y = strtod(b, &end_b);
    if (end_a != a && !*end_a && end_b != b && !*end_b) return (x > y) - (x < y);
    return strcmp(a, b);
}

bool fr_where_holds(const char *const *where, int n, const struct fr_run_source *in,
                    const struct fr_run_row *row, uint64_t *known) {
    bool all = true;
    for (int i = 0; i < n; i++) {
        const char *wanted = "";
        char column[128];
        int length = 0;
        char how = split(where[i], &length, &wanted);
        snprintf(column, sizeof column, "%.*s", length, where[i]);
        const char *value = value_of(column, in, row);
        if (value) *known |= (uint64_t)1 << i;
        int side = order(value ? value : "", wanted);
        all = all && (how == '=' ? side == 0
                                 : value && *value && (how == '>' ? side >= 0 : side <= 0));
    }
    return all;
}
