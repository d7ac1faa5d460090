#include "studies/paper_table.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/alloc.h"

const struct fr_paper *const fr_papers[] = {
#define FR_PAPER(name) &fr_paper_##name,
#include "studies/paper_list.h"
#undef FR_PAPER
    NULL};

const char *const fr_role_names[] = {"identity", "fitted",        "predicted",
                                     "ordering", "not_explained", NULL};

static struct fr_reproduce_row *append(struct fr_reproduction *r) {
    if (r->count == r->capacity) {
        size_t capacity = r->capacity ? 2 * r->capacity : 128;
        struct fr_reproduce_row *grown = fr_realloc(r->rows, capacity, sizeof *grown);
        if (!grown) {
            r->failed = true;
            return NULL;
        }
        r->rows = grown;
        r->capacity = capacity;
    }
    r->rows[r->count] = (struct fr_reproduce_row){.low = NAN, .high = NAN};
    return &r->rows[r->count++];
}

/* A row of that id, with neither a published value nor a judgement; NULL without memory. */
static struct fr_reproduce_row *named(struct fr_reproduction *r, fr_role role, double ours,
                                      const char *unit, const char *note, const char *id_format,
                                      va_list ap) {
    struct fr_reproduce_row *row = append(r);
    if (!row) return NULL;
    row->role = role;
    row->published = NAN;
    row->ours = ours;
    snprintf(row->unit, sizeof row->unit, "%s", unit);
    snprintf(row->note, sizeof row->note, "%s", note ? note : "");
    vsnprintf(row->id, sizeof row->id, id_format, ap);
    return row;
}

void fr_reproduce_add(struct fr_reproduction *r, fr_role role, double published, double ours,
                      const char *unit, double tolerance, const char *note,
                      const char *id_format, ...) {
    va_list ap;
    va_start(ap, id_format);
    struct fr_reproduce_row *row = named(r, role, ours, unit, note, id_format, ap);
    va_end(ap);
    if (!row) return;
    row->published = published;
    row->judged = !isnan(published);
    row->holds = row->judged && fabs(ours - published) <= tolerance * fabs(published);
}

void fr_reproduce_add_point(struct fr_reproduction *r, double ours, const char *unit,
                            const char *id_format, ...) {
    va_list ap;
    va_start(ap, id_format);
    struct fr_reproduce_row *row = named(r, FR_ROLE_PREDICTED, ours, unit, NULL, id_format, ap);
    va_end(ap);
    if (row) row->detail = true;
}

void fr_reproduce_judge(struct fr_reproduction *r, bool holds) {
    if (r->failed || r->count == 0) return;
    r->rows[r->count - 1].judged = true;
    r->rows[r->count - 1].holds = holds;
}

void fr_reproduce_interval(struct fr_reproduction *r, double low, double high) {
    if (r->failed || r->count == 0) return;
    struct fr_reproduce_row *row = &r->rows[r->count - 1];
    if (!(low <= row->ours && row->ours <= high) || !isfinite(high)) return;
    row->low = low;
    row->high = high;
}

void fr_reproduce_add_ordering(struct fr_reproduction *r, bool holds, const char *note,
                               const char *id_format, ...) {
    va_list ap;
    va_start(ap, id_format);
    struct fr_reproduce_row *row = named(r, FR_ROLE_ORDERING, holds, "1", note, id_format, ap);
    va_end(ap);
    if (!row) return;
    row->published = 1;
    row->judged = true;
    row->holds = holds;
}
