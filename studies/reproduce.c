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

void fr_reproduce_add(struct fr_reproduction *r, fr_role role, double published, double ours,
                      const char *unit, double tolerance, const char *note,
                      const char *id_format, ...) {
    struct fr_reproduce_row *row = append(r);
    va_list ap;
    if (!row) return;
    *row = (struct fr_reproduce_row){.published = published,
                                     .ours = ours,
                                     .low = NAN,
                                     .high = NAN,
                                     .unit = unit,
                                     .role = role};
    row->judged = !isnan(published);
    row->holds = row->judged && fabs(ours - published) <= tolerance * fabs(published);
    snprintf(row->note, sizeof row->note, "%s", note ? note : "");
    va_start(ap, id_format);
    vsnprintf(row->id, sizeof row->id, id_format, ap);
    va_end(ap);
}

void fr_reproduce_add_point(struct fr_reproduction *r, double ours, const char *unit,
                            const char *id_format, ...) {
    struct fr_reproduce_row *row = append(r);
    va_list ap;
    if (!row) return;
    *row = (struct fr_reproduce_row){.published = NAN,
                                     .ours = ours,
                                     .low = NAN,
                                     .high = NAN,
                                     .unit = unit,
                                     .role = FR_ROLE_PREDICTED,
                                     .detail = true};
    va_start(ap, id_format);
    vsnprintf(row->id, sizeof row->id, id_format, ap);
    va_end(ap);
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
    struct fr_reproduce_row *row = append(r);
    va_list ap;
    if (!row) return;
    *row = (struct fr_reproduce_row){.published = 1,
                                     .ours = holds,
                                     .low = NAN,
                                     .high = NAN,
                                     .unit = "1",
                                     .role = FR_ROLE_ORDERING,
                                     .judged = true,
                                     .holds = holds};
    snprintf(row->note, sizeof row->note, "%s", note ? note : "");
    va_start(ap, id_format);
    vsnprintf(row->id, sizeof row->id, id_format, ap);
    va_end(ap);
}
