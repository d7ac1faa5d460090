/* Any JSON is drawn by every figure, or refused with a place; in the script no name ends its
 * quotes.  gnuplot is not started: the linker puts our fr_gnuplot_draw for the real one. */
#include "plots/figure.h"
#include "plots/gnuplot.h"
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

FR_FUZZ_TEXT(text, size) {
    const struct fr_figure_options o = {.output = "x.svg"};
    struct fr_json_document *document = NULL;
    struct fr_error err = {0};
    if (fr_json_parse(text, size, "fuzz", &document, &err) != FR_OK) return;
    struct fr_json root = fr_json_root(document);
    for (int i = 0; fr_figures[i]; i++) {
        err = (struct fr_error){0};
        if (fr_figure_draw(fr_figures[i], &root, 1, &o, &err) != FR_OK)
            FR_FUZZ_REQUIRE(err.detail[0]);
    }
    fr_json_free(document);
}
