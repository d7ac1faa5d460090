/* A paper's table with published values and ours in every cell, in LaTeX and Markdown. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/escape.h"
#include "plots/paper/sheet.h"

/* How a format marks up a line of cells.  A page is wide; a column of a paper is not, so there ours stand
 * below what is published. */
struct look {
    const char *line, *between, *end;
    bool below;
};
static const struct look latex = {"", " & ", " \\\\\n", true},
                         markdown = {"| ", " | ", " |\n", false};

static const struct fr_paper_row *find(const struct fr_paper_rows *rows, const char *ids,
                                       const char *place) {
    char x[FR_PAPER_WORD], s[FR_PAPER_WORD];
    for (size_t i = 0; i < rows->n; i++)
        if (fr_paper_id_fits(ids, rows->row[i].id, x, s) && strcmp(x, place) == 0)
            return &rows->row[i];
    return NULL;
}

static void put_published(struct fr_text *out, const struct fr_paper_row *row) {
    double whole = row ? fabs(row->published) : NAN;
    int digits = whole == floor(whole) ? 0 : whole >= 10 ? 1 : whole >= 1 ? 2 : 3;
    if (isfinite(whole))
        fr_text_addf(out, "%.*f", digits, row->published);
    else
        fr_text_addf(out, "-");
}

/* "(181.2)": as many digits of ours as a paper would print. */
static void put_ours(struct fr_text *out, const struct fr_paper_row *row) {
    if (!row || !isfinite(row->ours)) return;
    double size = fabs(row->ours);
    int digits = size >= 1000 ? 0 : size >= 10 ? 1 : size >= 1 ? 2 : 3;
    fr_text_addf(out, "(%.*f)", digits, row->ours);
}

static void put_word(struct fr_text *out, const char *word, bool tex) {
    (tex ? fr_escape_latex : fr_escape_markdown)(out, word);
}

/* A line of cells of the place @p x: published, ours, or both, one behind the other. */
static void put_cells(const struct fr_sheet_table *table, const struct fr_paper_rows *rows,
                      const struct look *look, const char *x, bool published, bool ours,
                      struct fr_text *out) {
    for (int c = 0; c < FR_SHEET_COLUMNS && table->column[c].ids; c++) {
        const struct fr_paper_row *row = find(rows, table->column[c].ids, x);
        fr_text_addf(out, "%s", look->between);
        if (published) put_published(out, row);
        if (published && ours && row && isfinite(row->ours)) fr_text_addf(out, " ");
        if (ours) put_ours(out, row);
    }
    fr_text_addf(out, "%s", look->end);
}

static void put_rows(const struct fr_sheet_table *table, const struct fr_paper_rows *rows,
                     bool tex, struct fr_text *out) {
    const struct look *look = tex ? &latex : &markdown;
    for (size_t i = 0; i < rows->n; i++) {
        char x[FR_PAPER_WORD], s[FR_PAPER_WORD];
        if (!fr_paper_id_fits(table->column[0].ids, rows->row[i].id, x, s)) continue;
        fr_text_addf(out, "%s", look->line);
        put_word(out, x, tex);
        put_cells(table, rows, look, x, true, !look->below, out);
        if (look->below) put_cells(table, rows, look, x, false, true, out);
    }
}

/* In LaTeX a word below the other, broken at blanks and behind strokes. */
static void put_heading(const char *heading, bool tex, struct fr_text *out) {
    char word[64];
    if (tex) fr_text_addf(out, "\\shortstack{");
    for (const char *at = heading; tex && *at;) {
        int n = (int)strcspn(at, " /");
        n += at[n] == '/';
        snprintf(word, sizeof word, "%.*s", n, at);
        fr_text_addf(out, "%s{", at == heading ? "" : "\\\\");
        put_word(out, word, tex);
        fr_text_addf(out, "}");
        at += n + strspn(at + n, " ");
    }
    if (tex) fr_text_addf(out, "}");
    if (!tex) put_word(out, heading, tex);
}

static void put_head(const struct fr_sheet_table *table, bool tex, struct fr_text *out) {
    const struct look *look = tex ? &latex : &markdown;
    fr_text_addf(out, "%s%s", look->line, table->x);
    for (int c = 0; c < FR_SHEET_COLUMNS && table->column[c].ids; c++) {
        fr_text_addf(out, "%s", look->between);
        put_heading(table->column[c].heading, tex, out);
    }
    fr_text_addf(out, "%s", look->end);
}

static bool stated(const struct fr_sheet_table *table, const struct fr_paper_rows *rows) {
    char x[FR_PAPER_WORD], s[FR_PAPER_WORD];
    for (size_t i = 0; i < rows->n; i++)
        if (fr_paper_id_fits(table->column[0].ids, rows->row[i].id, x, s)) return true;
    return false;
}

void fr_sheet_table_latex(const struct fr_sheet_table *table, const struct fr_paper_rows *rows,
                          struct fr_text *out) {
    if (!stated(table, rows)) return;
    fr_text_addf(out,
                 "%% needs \\usepackage{booktabs}\n{\\footnotesize\\setlength{\\tabcolsep}{2pt}"
                 "\n\\begin{tabular}{@{}l");
    for (int c = 0; c < FR_SHEET_COLUMNS && table->column[c].ids; c++) fr_text_addf(out, "r");
    fr_text_addf(out, "@{}}\n\\toprule\n");
    put_head(table, true, out);
    fr_text_addf(out, "\\midrule\n");
    put_rows(table, rows, true, out);
    fr_text_addf(out, "\\bottomrule\n\\end{tabular}}\n%% %s\n", table->title);
}

void fr_sheet_table_markdown(const struct fr_sheet_table *table,
                             const struct fr_paper_rows *rows, struct fr_text *out) {
    if (!stated(table, rows)) return;
    fr_text_addf(out, "%s\n\n", table->title);
    put_head(table, false, out);
    fr_text_addf(out, "|---|");
    for (int c = 0; c < FR_SHEET_COLUMNS && table->column[c].ids; c++)
        fr_text_addf(out, "---:|");
    fr_text_addf(out, "\n");
    put_rows(table, rows, false, out);
}
