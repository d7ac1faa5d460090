/* A paper's table with published values and ours in every cell, in LaTeX and Markdown. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/escape.h"
#include "plots/paper/sheet.h"

/* How a format marks up a line of cells. */
struct look {
    const char *line, *between, *end;
};
static const struct look latex = {"", " & ", " \\\\\n"}, markdown = {"| ", " | ", " |\n"};

static const struct fr_paper_row *find(const struct fr_paper_rows *rows, const char *ids,
                                       const char *place) {
    char x[FR_PAPER_WORD], s[FR_PAPER_WORD];
    for (size_t i = 0; i < rows->n; i++)
        if (fr_paper_id_fits(ids, rows->row[i].id, x, s) && strcmp(x, place) == 0)
            return &rows->row[i];
    return NULL;
}

/* "181.2 (181.2)": as many digits of ours as a paper would print. */
static void put_cell(struct fr_text *out, const struct fr_paper_row *row) {
    char published[32] = "-";
    if (!row) {
        fr_text_addf(out, "-");
        return;
    }
    double whole = fabs(row->published), size = fabs(row->ours);
    if (isfinite(row->published))
        snprintf(published, sizeof published, "%.*f",
                 whole == floor(whole) ? 0
                 : whole >= 10         ? 1
                 : whole >= 1          ? 2
                                       : 3,
                 row->published);
    int digits = size >= 1000 ? 0 : size >= 10 ? 1 : size >= 1 ? 2 : 3;
    fr_text_addf(out, isfinite(row->ours) ? "%s (%.*f)" : "%s", published, digits, row->ours);
}

static void put_word(struct fr_text *out, const char *word, bool tex) {
    (tex ? fr_escape_latex : fr_escape_markdown)(out, word);
}

static void put_rows(const struct fr_sheet_table *table, const struct fr_paper_rows *rows,
                     bool tex, struct fr_text *out) {
    const struct look *look = tex ? &latex : &markdown;
    for (size_t i = 0; i < rows->n; i++) {
        char x[FR_PAPER_WORD], s[FR_PAPER_WORD];
        if (!fr_paper_id_fits(table->column[0].ids, rows->row[i].id, x, s)) continue;
        fr_text_addf(out, "%s", look->line);
        put_word(out, x, tex);
        for (int c = 0; c < FR_SHEET_COLUMNS && table->column[c].ids; c++) {
            fr_text_addf(out, "%s", look->between);
            put_cell(out, find(rows, table->column[c].ids, x));
        }
        fr_text_addf(out, "%s", look->end);
    }
}

static void put_head(const struct fr_sheet_table *table, bool tex, struct fr_text *out) {
    const struct look *look = tex ? &latex : &markdown;
    fr_text_addf(out, "%s%s", look->line, table->x);
    for (int c = 0; c < FR_SHEET_COLUMNS && table->column[c].ids; c++) {
        fr_text_addf(out, "%s", look->between);
        put_word(out, table->column[c].heading, tex);
    }
    fr_text_addf(out, "%s", look->end);
}

static bool told(const struct fr_sheet_table *table, const struct fr_paper_rows *rows) {
    char x[FR_PAPER_WORD], s[FR_PAPER_WORD];
    for (size_t i = 0; i < rows->n; i++)
        if (fr_paper_id_fits(table->column[0].ids, rows->row[i].id, x, s)) return true;
    return false;
}

void fr_sheet_table_latex(const struct fr_sheet_table *table, const struct fr_paper_rows *rows,
                          struct fr_text *out) {
    if (!told(table, rows)) return;
    fr_text_addf(out, "%% needs \\usepackage{booktabs}\n\\begin{tabular}{l");
    for (int c = 0; c < FR_SHEET_COLUMNS && table->column[c].ids; c++) fr_text_addf(out, "r");
    fr_text_addf(out, "}\n\\toprule\n");
    put_head(table, true, out);
    fr_text_addf(out, "\\midrule\n");
    put_rows(table, rows, true, out);
    fr_text_addf(out, "\\bottomrule\n\\end{tabular}\n%% %s\n", table->title);
}

void fr_sheet_table_markdown(const struct fr_sheet_table *table,
                             const struct fr_paper_rows *rows, struct fr_text *out) {
    if (!told(table, rows)) return;
    fr_text_addf(out, "%s\n\n", table->title);
    put_head(table, false, out);
    fr_text_addf(out, "|---|");
    for (int c = 0; c < FR_SHEET_COLUMNS && table->column[c].ids; c++)
        fr_text_addf(out, "---:|");
    fr_text_addf(out, "\n");
    put_rows(table, rows, false, out);
}
