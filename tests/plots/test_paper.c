/* The figures of a paper: which rows a pattern takes (by hand), and what stands in the pictures and
 * tables made of a few rows (by hand).  That every figure of a paper finds rows:
 * tests/app/papers_drawn.sh, which has the papers. */
#include "figure_check.h"

#include <sys/stat.h>

#include "plots/paper/sheet_layout.h"
#include "plots/picture.h"

static void a_pattern_takes(const char *pattern, const char *id, const char *x, const char *s) {
    char got_x[FR_PAPER_WORD], got_s[FR_PAPER_WORD];
    if (!fr_paper_id_fits(pattern, id, got_x, got_s)) fail_msg("%s leaves %s", pattern, id);
    assert_string_equal(got_x, x);
    assert_string_equal(got_s, s);
}

static void a_pattern_leaves(const char *pattern, const char *id) {
    char x[FR_PAPER_WORD], s[FR_PAPER_WORD];
    if (fr_paper_id_fits(pattern, id, x, s)) fail_msg("%s takes %s", pattern, id);
}

static void patterns(void **state) {
    (void)state;
    a_pattern_takes("t/p={x}/{s}/e", "t/p=8/tensor/e", "8", "tensor");
    a_pattern_takes("t/p={x}/e", "t/p=8/e", "8", "");
    a_pattern_takes("f/{x}/{x}/gain", "f/tp=8/pp=4/gain", "tp=8 pp=4", "");
    a_pattern_takes("f/{x}/{*}/gain", "f/gpt/pp=4/gain", "gpt", "");
    a_pattern_takes("f/{x}_gain", "f/sc_75_gain", "sc_75", ""); /* up to the last of it */
    a_pattern_takes("f/{x}/{s}", "f/1x8/a b", "1x8", "a b");
    a_pattern_leaves("t/p={x}/{s}/e", "t/p=8/tensor/e/literal");
    a_pattern_leaves("t/p={x}/{s}/e", "t/p=8/e");
    a_pattern_leaves("t/p={x}/{s}/e", "t/p=/tensor/e");
    a_pattern_leaves("t/p={x}", "u/p=8");
    a_pattern_leaves("t/{x}", "t");
    a_pattern_leaves("t/{x}", "");
}

#define ROW(id, published, ours, unit)                                                         \
    "{\"id\":\"" id "\",\"published\":" published ",\"ours\":" ours ",\"unit\":\"" unit        \
    "\",\"role\":\"predicted\"}"

static const char rows[] =
    "{\"schema\":\"forerun/reproduce/1\",\"paper\":\"phantom\",\"title\":\"Somebody, 2025: a "
    "table\",\"rows\":[" ROW("table1/p=8/tensor/parameters", "537", "536.904", "M") "," ROW(
        "table1/p=8/tensor/energy_per_epoch", "181.2", "190",
        "J") "," ROW("table1/p=16/tensor/energy_per_epoch", "333.6", "340",
                     "J") "," ROW("fig5b/p=8/tensor/iteration", "null", "0.05", "s") "]}";

/* Bars stand side by side among the series of their own panel: four, then the last three of them. */
static void bars_by_panel(void **state) {
    static const char *const ids[] = {"fig14/tp=8/pp=4/baseline/iteration",
                                      "fig14/tp=8/pp=4/cb/iteration",
                                      "fig14/tp=8/pp=4/fe/iteration",
                                      "fig14/tp=8/pp=4/sc/iteration",
                                      "fig14/tp=8/pp=4/cb/on",
                                      "fig14/tp=8/pp=4/fe/on",
                                      "fig14/tp=8/pp=4/sc/on"};
    struct fr_paper_row row[7] = {{.ours = 1}};
    const struct fr_paper_rows all = {.row = row, .n = 7};
    struct fr_sheet_layout *layout = calloc(1, sizeof *layout);
    const struct fr_sheet *sheet = fr_sheets;
    (void)state;
    while (strcmp(sheet->paper, "optimus") != 0 || strcmp(sheet->name, "fig14") != 0) sheet++;
    for (int i = 0; i < 7; i++) snprintf(row[i].id, sizeof row[i].id, "%s", ids[i]);
    fr_sheet_lay_out(sheet, &all, layout);
    assert_int_equal(layout->n_fields, 2);
    for (int k = 0; k < 2; k++) {
        const struct fr_sheet_field *f = &layout->field[k];
        assert_int_equal(f->n_bars, k ? 3 : 4);
        for (int i = 0; i < f->n; i++) assert_int_equal(f->bar[f->spot[i].series], i);
    }
    free(layout);
}

/* A column of any width: no line ends beside the sign of an equation, and none before a version. */
static void equations_stay_on_a_line(void **state) {
    static const char text[] = "The text names widths; trained here at n = 1024 and loss = "
                               "0.12 of them. forerun 0.2.0";
    (void)state;
    for (int width_px = 100; width_px < 600; width_px += 7) {
        struct fr_text lines = {0};
        fr_picture_wrap(text, 8, width_px, &lines);
        const char *got = fr_text_get(&lines);
        for (const char *c = strchr(got, '\n'); c; c = strchr(c + 1, '\n')) {
            if (c[1] == '=' || c[-1] == '=' || (c[1] >= '0' && c[1] <= '9'))
                fail_msg("%d px:\n%s", width_px, got);
        }
        fr_text_free(&lines);
    }
}

/* The legend has a mark for those series alone of which something is published. */
static void marks_are_of_published_series(void **state) {
    static const char both[] =
        "{\"schema\":\"forerun/reproduce/1\",\"paper\":\"dsp\",\"title\":\"T\",\"rows\":[" ROW(
            "fig13/gpt-2/gpus=4/4_way", "1.47", "1.9",
            "1") "," ROW("fig13/gpt-2/gpus=4/4_way_cSub", "null", "1.6", "1") "]}";
    struct fr_error err = {0};
    struct fr_figure_options o = {.output = "marks", .keep_script = true};
    (void)state;
    if (draw_text("paper", both, "rows.json", &o, &err) != FR_OK) fail_msg("%s", err.detail);
    char *script = read_text("marks/fig13.gp");
    int marks = 0;
    for (const char *c = script; (c = strstr(c, " point lc rgb ")); c++) marks++;
    assert_int_equal(marks, 2); /* of 4-way, and of "mark: published" */
    free(script);
    assert_int_equal(system("rm -r marks"), 0);
}

static void remove_all(const char *folder, const char *const *names) {
    for (int i = 0; names[i]; i++) {
        char path[64];
        snprintf(path, sizeof path, "%s/%s", folder, names[i]);
        if (unlink(path) != 0) fail_msg("no %s", path);
    }
    assert_int_equal(rmdir(folder), 0); /* and nothing else */
}

static void figures_and_tables(void **state) {
    static const char *const made[] = {"table1.svg", "fig5.svg", "table1.tex", "table1.md",
                                       NULL};
    (void)state;
    draws("paper", rows, "figures");
    char *svg = read_text("figures/table1.svg"), *tex = read_text("figures/table1.tex"),
         *md = read_text("figures/table1.md"), *fig5 = read_text("figures/fig5.svg");
    holds("table1.svg", svg, "width=\"317\""); /* 3.3 inches at 96 to the inch */
    holds("table1.svg", svg, "tensor");
    holds("table1.svg", svg, "mark: published");
    holds("table1.svg", svg, "Somebody, 2025");
    holds("fig5.svg", fig5, "no number published");
    holds("table1.tex", tex, "8 & 537 & 181.2 & - & - & - & - \\\\");
    holds("table1.tex", tex, " & (536.9) & (190.0) &  &  &  &  \\\\");
    holds("table1.md", md, "| 8 | 537 (536.9) | 181.2 (190.0) | - |");
    free(svg), free(tex), free(md), free(fig5);
    remove_all("figures", made);
}

static void as_asked_for(void **state) {
    static const char *const made[] = {"table1.svg", "fig5.svg", "table1.tex", "table1.md",
                                       NULL};
    struct fr_error err = {0};
    struct fr_figure_options o = {.output = "wide",
                                  .title = "My <own> title",
                                  .width_in = 5,
                                  .face = "DejaVu Serif",
                                  .font_pt = 8};
    (void)state;
    if (draw_text("paper", rows, "rows.json", &o, &err) != FR_OK) fail_msg("%s", err.detail);
    char *svg = read_text("wide/table1.svg");
    holds("table1.svg", svg, "width=\"5in\"");
    holds("table1.svg", svg, "My &lt;own> title");
    holds("table1.svg", svg, "DejaVu Serif");
    free(svg);
    o.no_title = true;
    if (draw_text("paper", rows, "rows.json", &o, &err) != FR_OK) fail_msg("%s", err.detail);
    svg = read_text("wide/table1.svg");
    assert_null(strstr(svg, "own> title"));
    free(svg);
    remove_all("wide", made);
}

static void refused(const char *json, const char *why) {
    struct fr_error err = {0};
    struct fr_figure_options o = {.output = "refused"};
    assert_int_equal(draw_text("paper", json, "rows.json", &o, &err), FR_ERR_INPUT);
    struct fr_text message = {0};
    fr_text_addf(&message, "%s: %s", err.where, err.detail);
    holds("the message", fr_text_get(&message), why);
    fr_text_free(&message);
    struct stat there;
    assert_int_not_equal(stat("refused", &there), 0);
}

static void refusals(void **state) {
    (void)state;
    refused("{\"schema\":\"forerun/reproduce/1\",\"paper\":\"x\",\"rows\":[]}",
            "there are those of phantom, grid, optimus, dsp");
    refused("{\"schema\":\"forerun/reproduce/1\",\"paper\":\"phantom\",\"rows\":[]}",
            "no figures of \"phantom\"");
    refused("{\"schema\":\"forerun/reproduce/1\",\"paper\":\"phantom\",\"rows\":[{}]}",
            "#/rows/0/id: is missing");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equations_stay_on_a_line),
        cmocka_unit_test(marks_are_of_published_series),
        cmocka_unit_test(patterns),
        cmocka_unit_test(bars_by_panel),
        cmocka_unit_test(figures_and_tables),
        cmocka_unit_test(as_asked_for),
        cmocka_unit_test(refusals),
    };
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
