#include "studies/reproduction.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/text/wrap.h"

enum { CELL = 32, NOTE = 4, NAME_MOST = 40 };
enum { PUBLISHED, OURS, UNIT, ERROR, CELLS };

static const char *const heads[CELLS] = {"published", "ours", "unit", "error"};
static const char *const roles[] = {
    [FR_ROLE_IDENTITY] = "must hold to rounding",
    [FR_ROLE_FITTED] = "our model was fitted to these very numbers",
    [FR_ROLE_PREDICTED] = "it was not fitted to these",
    [FR_ROLE_ORDERING] = "which is more is claimed, not by how much",
    [FR_ROLE_NOT_EXPLAINED] = "our model does not follow these, and is not tuned to",
};

typedef struct fr_reproduce_row row_t;

/* ---- cells ------------------------------------------------------------------------------------- */

static double error_of(const row_t *row) {
    return row->published != 0 ? row->ours / row->published - 1 : NAN;
}

/* Rows that the model does not follow show their distance; nothing is claimed of them. */
static const char *verdict(const row_t *row) {
    return !row->judged ? "-" : row->holds ? "yes" : "NO";
}

static void put_number(char *cell, double value, const char *format) {
    snprintf(cell, CELL, "-");
    if (isfinite(value)) snprintf(cell, CELL, format, value);
}

static void cells_of(const row_t *row, char cell[CELLS][CELL]) {
    put_number(cell[PUBLISHED], row->published, "%.6g");
    put_number(cell[OURS], row->ours, "%.6g");
    put_number(cell[ERROR], 100 * error_of(row), "%+.2f %%");
    snprintf(cell[UNIT], CELL, "%s", row->unit);
}

/* An order has no size, and 1 is no unit to read. */
static void plain_cells_of(const row_t *row, char cell[CELLS][CELL]) {
    cells_of(row, cell);
    if (strcmp(row->unit, "1") == 0) *cell[UNIT] = '\0';
    for (int i = 0; i < CELLS && row->role == FR_ROLE_ORDERING; i++) *cell[i] = '\0';
}

/* ---- in 80 columns ----------------------------------------------------------------------------- */

struct layout {
    int name, width[CELLS];
    bool stated[sizeof roles / sizeof *roles]; /* what a role is, said already */
};

static int larger(int a, int b) { return a > b ? a : b; }

/* Columns as wide as what stands in them; what is left is the name's. */
static struct layout lay_out(const struct fr_reproduction *r) {
    enum { VERDICT = 5 };
    struct layout l = {.name = 0};
    char cell[CELLS][CELL];
    int left = FR_COLUMNS - 2 - VERDICT;
    for (size_t i = 0; i < r->count; i++) {
        if (r->rows[i].detail) continue;
        plain_cells_of(&r->rows[i], cell);
        const int name = (int)strlen(r->rows[i].id);
        if (name <= NAME_MOST) l.name = larger(l.name, name);
        for (int c = 0; c < CELLS; c++) l.width[c] = larger(l.width[c], (int)strlen(cell[c]));
    }
    for (int c = 0; c < CELLS; c++) {
        l.width[c] = larger(l.width[c], (int)strlen(heads[c]));
        left -= l.width[c] + 1;
    }
    l.name = l.name < left ? l.name : left;
    return l;
}

/* On lines of its own, broken behind a slash where it must. */
static void put_name(struct fr_text *text, const char *name) {
    int width = FR_COLUMNS;
    while ((int)strlen(name) > width) {
        int slash = width;
        while (slash > 0 && name[slash - 1] != '/') slash--;
        const int most = slash > 0 ? slash : width;
        fr_text_addf(text, "%.*s\n%*s", most, name, NOTE, "");
        name += most;
        width = FR_COLUMNS - NOTE;
    }
    fr_text_addf(text, "%s\n", name);
}

static void put_cells(struct fr_text *text, const struct layout *l, const char *name,
                      char cell[CELLS][CELL], const char *last) {
    if ((int)strlen(name) > l->name) {
        put_name(text, name);
        name = "";
    }
    fr_text_addf(text, "%-*s %*s %*s %-*s %*s  %s", l->name, name, l->width[PUBLISHED],
                 cell[PUBLISHED], l->width[OURS], cell[OURS], l->width[UNIT], cell[UNIT],
                 l->width[ERROR], cell[ERROR], last);
    fr_end_line(text);
}

static void put_head(struct fr_text *text, const struct layout *l) {
    char cell[CELLS][CELL];
    for (int c = 0; c < CELLS; c++) snprintf(cell[c], CELL, "%s", heads[c]);
    put_cells(text, l, "row", cell, "holds");
}

static void put_role(struct fr_text *text, struct layout *l, fr_role role) {
    fr_text_addf(text, "\n%s%s%s\n", fr_role_names[role], l->stated[role] ? "" : ": ",
                 l->stated[role] ? "" : roles[role]);
    l->stated[role] = true;
}

static void put_narrow(struct fr_text *text, const struct fr_reproduction *r) {
    struct layout l = lay_out(r);
    const row_t *before = NULL;
    const char *note = "";
    char cell[CELLS][CELL];
    put_head(text, &l);
    for (size_t i = 0; i < r->count; i++) {
        const row_t *row = &r->rows[i];
        if (row->detail) continue;
        if (!before || row->role != before->role) {
            put_role(text, &l, row->role);
            note = "";
        }
        before = row;
        plain_cells_of(row, cell);
        const bool again = *row->note && strcmp(row->note, note) == 0;
        char last[CELL];
        snprintf(last, sizeof last, "%s%s", verdict(row), again ? " \"" : "");
        put_cells(text, &l, row->id, cell, last);
        if (!*row->note || again) continue;
        note = row->note;
        fr_text_addf(text, "%*s", NOTE, "");
        fr_wrap(text, note, NOTE, NOTE, FR_COLUMNS);
        fr_end_line(text);
    }
}

/* ---- wide -------------------------------------------------------------------------------------- */

static void put_wide(struct fr_text *text, const struct fr_reproduction *r) {
    char cell[CELLS][CELL];
    fr_text_addf(text, "%-52s %14s %14s %-5s %8s  %-13s %s\n", "row", "published", "ours",
                 "unit", "error", "role", "holds");
    for (size_t i = 0; i < r->count; i++) {
        const row_t *row = &r->rows[i];
        if (row->detail) continue;
        cells_of(row, cell);
        fr_text_addf(text, "%-52s %14s %14s %-5s %8s  %-13s %s%s%s\n", row->id, cell[PUBLISHED],
                     cell[OURS], cell[UNIT], cell[ERROR], fr_role_names[row->role],
                     verdict(row), *row->note ? "  " : "", row->note);
    }
}

/* ---- both -------------------------------------------------------------------------------------- */

static void put_counts(struct fr_text *text, const struct fr_reproduction *r, int columns) {
    size_t n_holds = 0, judged = 0, details = 0, distances = 0, used = 0;
    char line[240];
    for (size_t i = 0; i < r->count; i++) {
        const row_t *row = &r->rows[i];
        const bool distance = row->role == FR_ROLE_NOT_EXPLAINED;
        details += row->detail;
        if (row->detail) continue;
        distances += distance;
        judged += !distance && row->judged;
        n_holds += !distance && row->holds;
    }
    if (details) fr_text_addf(text, "\nand %zu one by one, in --json\n", details);
    const size_t unjudged = r->count - details - judged - distances;
    fr_line_addf(line, sizeof line, &used, "%zu of %zu judged rows hold", n_holds, judged);
    if (unjudged)
        fr_line_addf(line, sizeof line, &used,
                     "; %zu have nothing published to be held against", unjudged);
    if (distances)
        fr_line_addf(line, sizeof line, &used, "; %zu are not explained by this model",
                     distances);
    fr_text_addf(text, "\n");
    fr_wrap(text, line, 0, 0, columns);
    fr_text_addf(text, "\n\n");
}

void fr_reproduction_text(const struct fr_paper *paper, const struct fr_reproduction *r,
                          bool wide, struct fr_text *text) {
    const int columns = wide ? FR_COLUMNS_WIDE : FR_COLUMNS;
    const int head = (int)strlen(paper->name) + 2;
    fr_text_addf(text, "%s: ", paper->name);
    fr_wrap(text, paper->title, head, head, columns);
    fr_text_addf(text, "\n\n");
    if (wide)
        put_wide(text, r);
    else
        put_narrow(text, r);
    put_counts(text, r, columns);
}
