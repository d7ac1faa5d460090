#include "base/csv.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/file.h"

/* Characters that begin a formula. */
static const char FORMULA[] = "=+-@\t\r";

enum { COLUMNS_MAX = 4096, ROWS_MAX = 1 << 24 };

/* Where the parser stands. */
struct scan {
    char *at;
    int line;
};

static fr_status fail_line(const struct fr_csv *csv, int line, struct fr_error *err,
                           const char *what) {
    char where[300];
    snprintf(where, sizeof where, "%s:%d", csv->name, line);
    return fr_fail(err, FR_ERR_INPUT, where, "%s", what);
}

/* One cell, unquoted in place.  @p end tells what followed: ',', '\n' or 0. */
static fr_status next_cell(const struct fr_csv *csv, struct scan *s, char **cell, char *end,
                           struct fr_error *err) {
    char *out = s->at, *in = s->at;
    *cell = out;
    if (*in == '"') {
        int first = s->line;
        for (in++;; in++) {
            if (*in == '\0') return fail_line(csv, first, err, "a quote is not closed");
            if (*in == '"' && in[1] != '"') break;
            if (*in == '"') in++;
            if (*in == '\n') s->line++;
            *out++ = *in;
        }
        in++;
    }
    while (*in && *in != ',' && *in != '\n' && !(in[0] == '\r' && in[1] == '\n'))
        *out++ = *in++;
    if (*in == '\r') in++;
    *end = *in;
    s->at = *in ? in + 1 : in;
    if (*end == '\n') s->line++;
    *out = '\0';
    /* The mark that fr_csv_put sets. */
    if (cell[0][0] == '\'' && cell[0][1] && strchr(FORMULA, cell[0][1])) ++*cell;
    return FR_OK;
}

static fr_status read_header(struct fr_csv *csv, struct scan *s, struct fr_error *err) {
    char *cell = NULL, end = ',';
    int capacity = 0;
    while (end == ',') {
        FR_TRY(next_cell(csv, s, &cell, &end, err));
        if (csv->n_columns == COLUMNS_MAX) return fail_line(csv, 1, err, "too many columns");
        if (csv->n_columns == capacity) {
            capacity = capacity ? 2 * capacity : 32;
            const char **more = fr_realloc(csv->column, (size_t)capacity, sizeof *more);
            if (!more)
                return fr_fail(err, FR_ERR_NOMEM, NULL, "the table does not fit in memory");
            csv->column = more;
        }
        for (int i = 0; i < csv->n_columns; i++)
            if (strcmp(csv->column[i], cell) == 0)
                return fr_fail(err, FR_ERR_INPUT, csv->name,
                               "the column \"%.60s\" stands twice", cell);
        csv->column[csv->n_columns++] = cell;
    }
    if (csv->n_columns == 1 && csv->column[0][0] == '\0')
        return fr_fail(err, FR_ERR_INPUT, csv->name,
                       "has no header; expected a line of column names");
    return FR_OK;
}

static fr_status grow(struct fr_csv *csv, int *capacity, struct fr_error *err) {
    int more = *capacity ? 2 * *capacity : 64;
    size_t width = (size_t)csv->n_columns;
    const char **cell = fr_realloc(csv->cell, (size_t)more * width, sizeof *cell);
    if (cell) csv->cell = cell;
    int *line = fr_realloc(csv->line, (size_t)more, sizeof *line);
    if (line) csv->line = line;
    if (!cell || !line)
        return fr_fail(err, FR_ERR_NOMEM, NULL, "the table does not fit in memory");
    *capacity = more;
    return FR_OK;
}

static fr_status read_row(struct fr_csv *csv, struct scan *s, struct fr_error *err) {
    char *cell = NULL, end = ',', what[96];
    int line = s->line, n = 0;
    for (; end == ','; n++) {
        FR_TRY(next_cell(csv, s, &cell, &end, err));
        if (n < csv->n_columns)
            csv->cell[(size_t)csv->n_rows * (size_t)csv->n_columns + (size_t)n] = cell;
    }
    if (n == 1 && cell[0] == '\0') return FR_OK; /* an empty line */
    if (n != csv->n_columns) {
        snprintf(what, sizeof what, "has %d cells, but the header has %d columns", n,
                 csv->n_columns);
        return fail_line(csv, line, err, what);
    }
    csv->line[csv->n_rows++] = line;
    return FR_OK;
}

fr_status fr_csv_parse(const char *text, size_t length, const char *name, struct fr_csv *csv,
                       struct fr_error *err) {
    int capacity = 0;
    *csv = (struct fr_csv){0};
    snprintf(csv->name, sizeof csv->name, "%s", name);
    if (memchr(text, '\0', length))
        return fr_fail(err, FR_ERR_INPUT, name, "is no text: it holds a zero byte");
    csv->text = fr_malloc(length + 1, 1);
    if (!csv->text) return fr_fail(err, FR_ERR_NOMEM, NULL, "the table does not fit in memory");
    memcpy(csv->text, text, length);
    csv->text[length] = '\0';
    struct scan s = {csv->text, 1};
    if (strncmp(s.at, "\xEF\xBB\xBF", 3) == 0) s.at += 3;
    while (*s.at == '\n' || (s.at[0] == '\r' && s.at[1] == '\n'))
        s.at += strcspn(s.at, "\n") + 1, s.line++;
    FR_TRY(read_header(csv, &s, err));
    while (*s.at) {
        if (csv->n_rows == ROWS_MAX) return fail_line(csv, s.line, err, "too many rows");
        if (csv->n_rows == capacity) FR_TRY(grow(csv, &capacity, err));
        FR_TRY(read_row(csv, &s, err));
    }
    return FR_OK;
}

fr_status fr_csv_read(const char *path, struct fr_csv *csv, struct fr_error *err) {
    char *text = NULL;
    size_t length = 0;
    *csv = (struct fr_csv){0};
    FR_TRY(fr_file_read(path, FR_FILE_MAX_B, &text, &length, err));
    fr_status status =
        fr_csv_parse(text, length, strcmp(path, "-") == 0 ? "standard input" : path, csv, err);
    free(text);
    return status;
}

void fr_csv_free(struct fr_csv *csv) {
    free(csv->text);
    free(csv->column);
    free(csv->cell);
    free(csv->line);
    *csv = (struct fr_csv){0};
}

int fr_csv_find(const struct fr_csv *csv, const char *name) {
    for (int i = 0; i < csv->n_columns; i++)
        if (strcmp(csv->column[i], name) == 0) return i;
    return -1;
}

const char *fr_csv_get(const struct fr_csv *csv, int row, const char *name) {
    int i = fr_csv_find(csv, name);
    return i < 0 ? NULL : csv->cell[(size_t)row * (size_t)csv->n_columns + (size_t)i];
}

fr_status fr_csv_fail(const struct fr_csv *csv, int row, const char *column,
                      struct fr_error *err, const char *fmt, ...) {
    char where[400], what[400];
    va_list args;
    va_start(args, fmt);
    vsnprintf(what, sizeof what, fmt, args);
    va_end(args);
    snprintf(where, sizeof where, "%s:%d%s%s", csv->name, csv->line[row], column ? "#" : "",
             column ? column : "");
    return fr_fail(err, FR_ERR_INPUT, where, "%s", what);
}

/* Would a spreadsheet take the cell for a formula?  (OWASP, CSV injection.)  Numbers stay. */
static bool is_formula(const char *cell) {
    char *end = NULL;
    if (!*cell || !strchr(FORMULA, *cell)) return false;
    if (*cell != '+' && *cell != '-') return true;
    strtod(cell, &end);
    return end == cell || *end;
}

void fr_csv_put(struct fr_text *text, const char *cell) {
    bool formula = is_formula(cell);
    if (!formula && !strpbrk(cell, ",\"\r\n")) {
        fr_text_addf(text, "%s", cell);
        return;
    }
    fr_text_addf(text, formula ? "\"'" : "\"");
    for (; *cell; cell++) fr_text_addf(text, *cell == '"' ? "\"\"" : "%c", *cell);
    fr_text_addf(text, "\"");
}
