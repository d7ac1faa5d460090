#include "studies/rows_table.h"

#include <math.h>
#include <stdio.h>

#include "base/escape.h"

/* A number as the text output writes it, "-" for none. */
static void put_number(struct fr_text *out, double value, const char *format) {
    char text[48] = "-";
    if (isfinite(value)) snprintf(text, sizeof text, format, value);
    fr_text_addf(out, "%s", text);
}

static double error_of(const struct fr_reproduce_row *row) {
    return row->published != 0 ? 100 * (row->ours / row->published - 1) : NAN;
}

static const char *verdict(const struct fr_reproduce_row *row) {
    return !row->judged ? "-" : row->holds ? "yes" : "no";
}

typedef void (*fr_escape)(struct fr_text *out, const char *text);

static void put_row(const struct fr_reproduce_row *row, const char *between, fr_escape escape,
                    struct fr_text *out) {
    escape(out, row->id);
    fr_text_addf(out, "%s", between);
    put_number(out, row->published, "%.6g");
    fr_text_addf(out, "%s", between);
    put_number(out, row->ours, "%.6g");
    fr_text_addf(out, "%s", between);
    escape(out, row->unit);
    fr_text_addf(out, "%s", between);
    put_number(out, error_of(row), "%+.2f");
    fr_text_addf(out, "%s", between);
    escape(out, fr_role_names[row->role]);
    fr_text_addf(out, "%s%s", between, verdict(row));
}

void fr_rows_latex(const struct fr_paper *paper, const struct fr_reproduction *r,
                   struct fr_text *out) {
    fr_text_addf(out, "%% needs \\usepackage{booktabs,longtable}\n"
                      "\\begin{longtable}{lrrlrll}\n\\caption{");
    fr_escape_latex(out, paper->title);
    fr_text_addf(out, "}\\\\\n\\toprule\nrow & published & ours & unit & error [\\%%] & role & "
                      "holds \\\\\n\\midrule\n\\endhead\n");
    for (size_t i = 0; i < r->count; i++) {
        if (r->rows[i].detail) continue;
        put_row(&r->rows[i], " & ", fr_escape_latex, out);
        fr_text_addf(out, " \\\\\n");
    }
    fr_text_addf(out, "\\bottomrule\n\\end{longtable}\n");
}

void fr_rows_markdown(const struct fr_paper *paper, const struct fr_reproduction *r,
                      struct fr_text *out) {
    fr_escape_markdown(out, paper->title);
    fr_text_addf(out, "\n\n| row | published | ours | unit | error [%%] | role | holds |\n"
                      "|---|---:|---:|---|---:|---|---|\n");
    for (size_t i = 0; i < r->count; i++) {
        if (r->rows[i].detail) continue;
        fr_text_addf(out, "| ");
        put_row(&r->rows[i], " | ", fr_escape_markdown, out);
        fr_text_addf(out, " |\n");
    }
}
