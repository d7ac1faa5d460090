#include "trust/fitted_row.h"

#include <math.h>

static const double NEXT_TO_NOTHING = 0.1;

void fr_fitted_head_print(const char *what, struct fr_text *text) {
    fr_text_addf(text, "%-18s %-7s %11s %6s %12s %7s %6s %5s\n", what, "group", "prior", "+-",
                 "posterior", "+-", "learnt", "rows");
}

bool fr_fitted_row_print(const struct fr_fitted_row *r, struct fr_text *text) {
    bool marked = !r->fixed && r->learned < NEXT_TO_NOTHING;
    fr_text_addf(text, "%-18s %-7s %11s %5.0f%%", r->name, r->group, r->prior,
                 100 * expm1(r->sigma_prior));
    if (r->fixed)
        fr_text_addf(text, " %12s %7s %6s %5d\n", r->fixed, "", "", r->rows);
    else
        fr_text_addf(text, " %12s %6.1f%% %5.0f%% %5d%s\n", r->value, 100 * expm1(r->sigma),
                     100 * r->learned, r->rows, marked ? "*" : "");
    return marked;
}

void fr_fitted_mark_print(struct fr_text *text) {
    fr_text_addf(text, "* the rows say next to nothing of it\n");
}
