/* The leash: nothing that a file or a file name holds is run, and nothing is left behind. */
#include "plots/gnuplot.h"

#include <sys/stat.h>

#include "tests/plots/figure_check.h"

/* Each would make the file `touched` if gnuplot or a shell obeyed it. */
static const char *const hostile[] = {
    "`touch touched`",
    "$(touch touched)",
    "'; system('touch touched'); '",
    "\" . system(\"touch touched\") . \"",
    "'.system('touch touched').'",
    "x\nsystem('touch touched')\n",
    "x\r!touch touched\r",
    "x'\n!touch touched\n'",
    "|touch touched",
    "< touch touched",
    "@system('touch touched')",
    "{/=50 braces} %s %d ^a _b \\n \\",
    "EOD\n!touch touched",
    "\xc2\x85!touch touched",
    "''", /* quotes only */
};
enum { N_HOSTILE = sizeof hostile / sizeof *hostile };

static void quoted(const char *string, const char *wanted) {
    struct fr_text text = {0};
    fr_gnuplot_quote(&text, string);
    assert_string_equal(fr_text_get(&text), wanted);
    fr_text_free(&text);
}

static void quoting(void **state) {
    (void)state;
    quoted("", "''");
    quoted("plain", "'plain'");
    quoted("it's", "'it'.\"'\".'s'");
    quoted("''", "''.\"'\".''.\"'\".''");
    quoted("`touch x`", "'`touch x`'");
    quoted("a\nb\tc\x7f", "'a b c '");
    quoted("a\xc2\x85z", "'a z'");      /* U+0085, next line */
    quoted("\xc2\xb5s", "'\xc2\xb5s'"); /* but not the letters behind it */
    quoted("\\n \"q\" $x @y", "'\\n \"q\" $x @y'");
}

/* Read the expression as gnuplot does: literals with no quote inside, joined by dots. */
static void quoting_gives_literals_and_dots(void **state) {
    (void)state;
    for (int i = 0; i < N_HOSTILE; i++) {
        struct fr_text text = {0};
        fr_gnuplot_quote(&text, hostile[i]);
        for (const char *c = text.data; *c;) {
            const char *end = strchr(c + 1, *c); /* the same quote closes */
            if ((*c != '\'' && *c != '"') || !end || (end[1] != '.' && end[1] != '\0'))
                fail_msg("%s: no literal at \"%s\"", text.data, c);
            c = end + 1 + (end[1] == '.');
        }
        for (const char *c = text.data; *c; c++)
            if ((unsigned char)*c < 0x20) fail_msg("%s: control character", text.data);
        fr_text_free(&text);
    }
}

/* A JSON string literal of @p string, without its quotes. */
static char *escaped(const char *string) {
    struct fr_text text = {0};
    struct fr_json_writer w = {.text = &text};
    fr_json_put_string(&w, string);
    text.data[text.length - 1] = '\0';
    char *inside = strdup(text.data + 1);
    fr_text_free(&text);
    return inside;
}

static void hostile_names_are_only_text(void **state) {
    char *phantom = read_text(FIXTURES "phantom.json"), *fit = read_text(FIXTURES "fit.json");
    (void)state;
    for (int i = 0; i < N_HOSTILE; i++) {
        char *name = escaped(hostile[i]);
        char *model = with(phantom, "ffn-16384", name), *host = with(fit, "node17", name);
        char *op = with(fit, "send_recv", name);
        draws("energy-time", model, "out.svg");
        draws("gemm", host, "out.svg");
        if (strlen(hostile[i]) < 32) draws("fit", op, "out.svg");
        if (fr_file_exists("touched")) fail_msg("\"%s\" was run", hostile[i]);
        free(name), free(model), free(host), free(op);
    }
    unlink("out.svg");
    free(phantom), free(fit);
}

static void hostile_file_names_too(void **state) {
    static const char *const outputs[] = {"|touch touched.svg", "< touch touched.svg",
                                          "`touch touched`.svg", "it's $(touch touched).svg"};
    char *phantom = read_text(FIXTURES "phantom.json");
    (void)state;
    for (size_t i = 0; i < sizeof outputs / sizeof *outputs; i++) {
        char *saved[2] = {with(outputs[i], ".svg", ".gp"), with(outputs[i], ".svg", ".dat")};
        struct fr_error err = {0};
        struct fr_figure_options o = {.output = outputs[i], .keep_script = true};
        assert_int_equal(draw_text("pareto", phantom, "results.json", &o, &err), FR_OK);
        assert_false(fr_file_exists("touched"));
        assert_true(fr_file_exists(outputs[i]));
        assert_true(fr_file_exists(saved[0]) && fr_file_exists(saved[1]));
        unlink(outputs[i]), unlink(saved[0]), unlink(saved[1]);
        free(saved[0]), free(saved[1]);
    }
    free(phantom);
}

/* Run what was kept by hand, in its folder: the same picture. */
static void a_kept_script_draws_the_picture_again(void **state) {
    char *phantom = read_text(FIXTURES "phantom.json");
    struct fr_error err = {0};
    struct fr_figure_options o = {.output = "kept.svg", .keep_script = true};
    (void)state;
    assert_int_equal(draw_text("pareto", phantom, "results.json", &o, &err), FR_OK);
    char *first = read_text("kept.svg");
    unlink("kept.svg");
    assert_int_equal(system("gnuplot -d kept.gp"), 0);
    char *second = read_text("kept.svg");
    assert_string_equal(first, second);
    unlink("kept.svg"), unlink("kept.gp"), unlink("kept.dat");
    free(first), free(second), free(phantom);
}

static const struct fr_gnuplot_job line = {"plot [0:1][0:1] data using 1:2", "0 0\n1 1\n", 200,
                                           100};

static fr_status draw_job(const struct fr_gnuplot_job *job, const char *output,
                          struct fr_error *err) {
    struct fr_figure_options o = {.output = output};
    *err = (struct fr_error){0};
    return fr_gnuplot_draw(job, &o, err);
}

static void endings_choose_the_form(void **state) {
    static const struct {
        const char *path, *starts;
    } cases[] = {
        {"a.svg", "<?xml"}, {"a.png", "\x89PNG"}, {"a.pdf", "%PDF"}, {"a.SVG", "<?xml"}};
    struct fr_error err;
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(draw_job(&line, cases[i].path, &err), FR_OK);
        char *bytes = read_text(cases[i].path);
        assert_memory_equal(bytes, cases[i].starts, strlen(cases[i].starts));
        unlink(cases[i].path);
        free(bytes);
    }
    static const char *const others[] = {"a.jpg", "a", "a.", "-", ".svg/a", "a.svgz"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        assert_int_equal(draw_job(&line, others[i], &err), FR_ERR_USAGE);
        holds(others[i], err.detail, ".svg, .png or .pdf");
    }
}

static void complaints_are_told_and_nothing_is_written(void **state) {
    struct fr_gnuplot_job job = line;
    struct fr_error err;
    (void)state;
    job.script = "plot nonsense(";
    assert_int_equal(draw_job(&job, "a.svg", &err), FR_ERR_EXTERNAL);
    holds("error", err.detail, "line");
    job.script = "plot [0:1][0:1] data using 1:7"; /* a warning; gnuplot ends with 0 */
    assert_int_equal(draw_job(&job, "a.svg", &err), FR_ERR_EXTERNAL);
    holds("warning", err.detail, "warning");
    job.script = "exit status 3";
    assert_int_equal(draw_job(&job, "a.svg", &err), FR_ERR_EXTERNAL);
    holds("status", err.detail, "3");
    assert_false(fr_file_exists("a.svg"));
}

static void an_old_picture_outlives_a_failure(void **state) {
    struct fr_gnuplot_job job = line;
    struct fr_error err;
    (void)state;
    assert_int_equal(fr_file_write("a.svg", "old", 3, &err), FR_OK);
    job.script = "plot nonsense(";
    assert_int_equal(draw_job(&job, "a.svg", &err), FR_ERR_EXTERNAL);
    char *text = read_text("a.svg");
    assert_string_equal(text, "old");
    unlink("a.svg");
    free(text);
}

static void a_missing_gnuplot_is_named(void **state) {
    char *path = strdup(getenv("PATH"));
    struct fr_error err;
    (void)state;
    setenv("PATH", test_folder, 1);
    fr_status status = draw_job(&line, "a.svg", &err);
    setenv("PATH", path, 1);
    free(path);
    assert_int_equal(status, FR_ERR_EXTERNAL);
    holds("missing", err.detail, "install gnuplot-nox");
    assert_false(fr_file_exists("a.svg"));
}

static void places_that_cannot_be_written(void **state) {
    struct fr_error err;
    (void)state;
    assert_int_equal(draw_job(&line, "no/such/folder/a.svg", &err), FR_ERR_IO);
    assert_string_equal(err.where, "no/such/folder/a.svg");
    setenv("TMPDIR", "/no-such-folder", 1);
    assert_int_equal(draw_job(&line, "a.svg", &err), FR_ERR_IO);
    holds("TMPDIR", err.where, "/no-such-folder");
    setenv("TMPDIR", test_folder, 1);
}

/* A start-up file in the home or the working folder is not read. */
static void no_start_up_file(void **state) {
    static const char startup[] = "system('touch touched')\n";
    char *home = getenv("HOME") ? strdup(getenv("HOME")) : NULL;
    struct fr_error err;
    (void)state;
    assert_int_equal(fr_file_write(".gnuplot", startup, strlen(startup), &err), FR_OK);
    setenv("HOME", test_folder, 1);
    assert_int_equal(draw_job(&line, "a.svg", &err), FR_OK);
    if (home) setenv("HOME", home, 1);
    free(home);
    unlink(".gnuplot"), unlink("a.svg");
    assert_false(fr_file_exists("touched"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(quoting),
        cmocka_unit_test(quoting_gives_literals_and_dots),
        cmocka_unit_test(hostile_names_are_only_text),
        cmocka_unit_test(hostile_file_names_too),
        cmocka_unit_test(a_kept_script_draws_the_picture_again),
        cmocka_unit_test(endings_choose_the_form),
        cmocka_unit_test(complaints_are_told_and_nothing_is_written),
        cmocka_unit_test(an_old_picture_outlives_a_failure),
        cmocka_unit_test(a_missing_gnuplot_is_named),
        cmocka_unit_test(places_that_cannot_be_written),
        cmocka_unit_test(no_start_up_file),
    };
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
