/* Any JSON is drawn by every figure, or refused with a place; in the script no name ends its
 * quotes.  gnuplot is not started: the linker puts our fr_gnuplot_draw for the real one. */
#include "plots/figure.h"
#include "plots/gnuplot.h"
#include "plots/paper/sheet.h"
#include "tests/fuzz/fuzz.h"

fr_status __wrap_fr_gnuplot_draw(const struct fr_gnuplot_job *job,
                                 const struct fr_figure_options *o, struct fr_error *err);

/* Quotes are closed on their line, in ours and in the names of others. */
fr_status __wrap_fr_gnuplot_draw(const struct fr_gnuplot_job *job,
                                 const struct fr_figure_options *o, struct fr_error *err) {
    (void)o;
    (void)err;
    char quote = 0;
    for (const char *c = job->script; *c; c++) {
        FR_FUZZ_REQUIRE(!(quote && *c == '\n'));
        FR_FUZZ_REQUIRE(quote || (*c != '`' && *c != '|') || c[1] == '|' || c[-1] == '|');
        if (!quote && (*c == '\'' || *c == '"'))
            quote = *c;
        else if (quote && *c == quote)
            quote = 0;
        else if (!quote && *c == '#')
            while (c[1] && c[1] != '\n') c++;
    }
    FR_FUZZ_REQUIRE(!quote);
    return FR_OK;
}

/* Every figure and table that rows may be of, without the folder. */
static void draw_papers(const struct fr_json *root, const struct fr_figure_options *o) {
    struct fr_paper_rows rows;
    struct fr_error err = {0};
    if (fr_paper_rows_read(root, &rows, &err) != FR_OK) FR_FUZZ_REQUIRE(err.detail[0]);
    for (const struct fr_sheet *s = fr_sheets; s->name; s++) {
        struct fr_picture p;
        if (!fr_sheet_stated(s, &rows)) continue;
        fr_picture_begin(&p, 1, 1);
        fr_sheet_draw(s, &rows, &p);
        fr_picture_end(&p, FR_OK, o, &err);
    }
    for (const struct fr_sheet_table *t = fr_sheet_tables; t->name; t++) {
        struct fr_text text = {0};
        fr_sheet_table_latex(t, &rows, &text);
        fr_sheet_table_markdown(t, &rows, &text);
        fr_text_free(&text);
    }
    fr_paper_rows_free(&rows);
}

FR_FUZZ_TEXT(text, size) {
    const struct fr_figure_options o = {.output = "x.svg"};
    struct fr_json_document *document = NULL;
    struct fr_error err = {0};
    if (fr_json_parse(text, size, "fuzz", &document, &err) != FR_OK) return;
    struct fr_json root = fr_json_root(document);
    for (int i = 0; fr_figures[i]; i++) {
        err = (struct fr_error){0};
        if (fr_figures[i]->draw_folder) {
            draw_papers(&root, &o);
            continue;
        }
        if (fr_figure_draw(fr_figures[i], &root, 1, &o, &err) != FR_OK)
            FR_FUZZ_REQUIRE(err.detail[0]);
    }
    fr_json_free(document);
}
