/* Names that mean harm, through every writer: what comes out has the mark-up of the page of a
 * harmless name, is JSON, CSV or XML that another reader takes, and drives no terminal. */
#include "tests/hostile.h"

#include <sys/stat.h>

#include "answer/page/page.h"
#include "base/csv.h"
#include "base/escape.h"
#include "calibrate/judge/calibration_page.h"
#include "plots/gnuplot.h"
#include "plots/html.h"
#include "tests/app/command.h"
#include "tests/scratch.h"

static void put(const char *name, const char *text) {
    assert_int_equal(fr_file_write(name, text, strlen(text), NULL), FR_OK);
}

static char *get(const char *name) {
    char *text = NULL;
    size_t length = 0;
    if (fr_file_read(name, FR_FILE_MAX_B, &text, &length, NULL) != FR_OK)
        fail_msg("no %s", name);
    assert_int_equal(strlen(text), length);
    return text;
}

/* Nothing that a name asked for was run. */
static void nothing_happened(const char *what) {
    if (fr_file_exists("pwned")) fail_msg("%s ran a command", what);
}

/* ---- pages ----------------------------------------------------------------------------------- */

/* Chart.js is long, and no name reaches it. */
static void cut_library(char *page) {
    char *from = page ? strstr(page, "<script>/*!") : NULL,
         *to = from ? strstr(from, "</script>") : NULL;
    if (to) memmove(from, to + 10, strlen(to + 10) + 1);
}

/* The page of a document without Chart.js, or NULL when it is refused. */
static char *page_of(const char *json) {
    struct fr_json_document *document = NULL;
    struct fr_checks checks = {0};
    struct fr_page page = {.gaps = 0};
    struct fr_error err;
    if (fr_json_parse(json, strlen(json), "fit", &document, &err) != FR_OK)
        fail_msg("%s: %s", err.where, err.detail);
    struct fr_json root = fr_json_root(document);
    if (fr_calibration_check(&root, &checks, &err) == FR_OK)
        fr_calibration_page(&page, &root, &checks);
    fr_text_free(&page.lost);
    fr_json_free(document);
    cut_library(page.html.data);
    return page.html.data;
}

/* A fit of every operation, with sources and series that have names. */
static char *make_fit(void) {
    static const char command[] =
        "sh " FR_SOURCE_DIR "/tests/golden/in/samples.sh | head -n 420 >s.jsonl && " FR_BIN_DIR
        "/forerun fit s.jsonl --json >fit.json";
    struct fr_text text = {0};
    assert_int_equal(system(command), 0);
    char *fit = get("fit.json"), *brace = strchr(fit, '{');
    fr_text_addf(&text,
                 "{\"sources\": [{\"file\": \"f\", \"tool\": \"t\", \"tool_version\": \"v\", "
                 "\"setup\": \"s\", \"dtype\": \"d\", \"ranks\": 2, \"nodes\": 1}],%s",
                 strstr(fit, "\"sources\"") ? "" : brace + 1);
    if (strstr(fit, "\"sources\"")) {
        fr_text_free(&text);
        return fit;
    }
    free(fit);
    return text.data;
}

/* Pictures are images, whose names no reader of the page's mark-up sees: they have a test of their own, and
 * are not drawn for a thousand pages here. */
static void cut(char *page, const char *begins, const char *ends) {
    char *from, *to;
    while ((from = strstr(page, begins)) && (to = strstr(from, ends)))
        memmove(from, to + strlen(ends), strlen(to + strlen(ends)) + 1);
}

static char *without_pictures(char *page) {
    if (!page) return NULL;
    cut(page, "<figure><img ", "</figure>\n");
    cut(page, "<img alt=", "\">");
    return page;
}

/* A gnuplot that draws one empty picture, in a moment. */
static void draw_nothing(const char *path) {
    static const char program[] = "#!/bin/sh\necho '<svg></svg>' >figure.out\n";
    struct fr_text first = {0};
    assert_int_equal(mkdir("quick", 0755), 0);
    put("quick/gnuplot", program);
    assert_int_equal(chmod("quick/gnuplot", 0755), 0);
    fr_text_addf(&first, "%s/quick:%s", fr_scratch, path);
    setenv("PATH", fr_text_get(&first), 1);
    fr_text_free(&first);
}

static void pages_keep_their_markup(void **state) {
    (void)state;
    char *fit = make_fit(), *path = strdup(getenv("PATH"));
    /* The names of the chosen form and of the schema stay. */
    const char *saved = ",schema,chosen,";
    int n = 0, pages = 0;
    draw_nothing(path);
    for (;; n++) {
        char *plain = with_names(fit, "x", n, saved), *want = NULL, *page = NULL;
        if (!plain) break;
        if (n > 100) { /* the points of later operations are as those of earlier ones */
            free(plain);
            continue;
        }
        page = without_pictures(page_of(plain));
        want = page ? skeleton(page) : NULL;
        free(page);
        free(plain);
        for (int h = 0; want && h < N_HOSTILE; h += 3 + n % 5) {
            char *evil = with_names(fit, hostile[h], n, saved);
            page = without_pictures(page_of(evil));
            char *got = page ? skeleton(page) : NULL;
            if (got && strcmp(got, want) != 0)
                fail_msg("member %d, name %s: the mark-up changes", n, hostile[h]);
            if (page && first_hidden(page))
                fail_msg("member %d, name %s: %.40s", n, hostile[h], first_hidden(page));
            pages += page != NULL;
            free(got);
            free(page);
            free(evil);
        }
        free(want);
    }
    setenv("PATH", path, 1);
    assert_true(n > 20 && pages > 60);
    free(path);
    free(fit);
}

static void pages_forbid_scripts(void **state) {
    (void)state;
    char *fit = make_fit(), *long_name = very_long_name(),
         *evil = with_names(fit, long_name, -1, ",schema,chosen,"), *page = page_of(fit);
    assert_non_null(strstr(page, "Content-Security-Policy"));
    assert_non_null(strstr(page, "default-src 'none'"));
    /* Our script, which the policy names by its hash: tests/pages/browser.py. */
    assert_non_null(strstr(page, "; script-src 'sha256-"));
    const char *script = strstr(page, "<script");
    assert_true(script && !strstr(script + 1, "<script"));
    char *of_long = page_of(evil);
    if (of_long) assert_null(strstr(of_long, "<b>very"));
    free(of_long);
    free(page);
    free(evil);
    free(long_name);
    free(fit);
}

static void markup_stands_in_the_format_only(void **state) {
    struct fr_text html = {0};
    (void)state;
    fr_html_addf(&html, "{b[title=\"%s\"] %s}%d %+.1f%% %s", "\" onclick='x'", "<i>&`\xff", 3,
                 -2.25, "\xc2\x9b\xe2\x80\xae");
    assert_string_equal(html.data, "<b title=\"&quot; onclick=&#39;x&#39;\">&lt;i&gt;&amp;&#96;"
                                   "\xef\xbf\xbd</b>3 -2.2% \xef\xbf\xbd\xef\xbf\xbd");
    fr_text_free(&html);
    /* Elements nest, close by name in a later format, and have the classes that are no "". */
    fr_html_addf(&html, "{table.s.%s {tr", "");
    fr_html_addf(&html, "{td.%s.%s[data-v=\"%g\"] %s}{td}{img[alt=\"%s\"]}{/tr}{/table}\n{p\n",
                 "l", "m", 1.5, "} {x {/p}", "]");
    assert_string_equal(
        html.data, "<table class=s><tr><td class=\"l m\" data-v=\"1.5\">} {x {/p}</td><td></td>"
                   "<img alt=\"]\"></tr></table>\n<p>\n");
    fr_text_free(&html);
    fr_text_free(&html);
}

/* ---- pictures -------------------------------------------------------------------------------- */

static void pictures_keep_their_markup(void **state) {
    static const char *const figures[][2] = {
        {"fit", "fit"},           {"pareto", "front"},     {"energy-time", "phantom"},
        {"gantt", "trace"},       {"ghost", "iterations"}, {"score", "score"},
        {"validate", "validate"}, {"speed-up", "stages"},  {"ways", "ways"},
        {"quality", "quality"}};
    (void)state;
    if (!fr_gnuplot_installed()) skip();
    int drawn = 0;
    for (size_t f = 0; f < sizeof figures / sizeof *figures; f++) {
        char path[400], line[128];
        snprintf(path, sizeof path, FR_SOURCE_DIR "/tests/plots/fixtures/%s.json",
                 figures[f][1]);
        snprintf(line, sizeof line, "forerun plot %s in.json -o x.svg -f", figures[f][0]);
        char *text = get(path);
        for (int h = -1; h < N_HOSTILE; h += h < 0 ? 1 : 3 + (int)f % 2) {
            char *evil =
                with_names(text, h < 0 ? "x" : hostile[h], -1,
                           ",schema,method,op,level,ph,objective,ranked_by,kind,dtype,"
                           "chosen,schedule,form,cat,displayTimeUnit,placement,common,");
            if (!evil) break; /* a figure of numbers alone */
            put("in.json", evil);
            free(evil);
            unlink("x.svg");
            struct output o = fr_test_run(line);
            nothing_happened(line);
            if (o.exit_code != 0 && o.exit_code != 3) fail_msg("%s: %s", line, o.err);
            if (first_hidden(o.err)) fail_msg("%s: %s", line, o.err);
            int code = o.exit_code;
            fr_test_output_free(&o);
            if (code != 0) continue;
            char *svg = get("x.svg"), *got = skeleton(svg);
            if (strstr(got, "OPEN") || strstr(got, "script") || first_hidden(svg))
                fail_msg("%s with %s", line, h < 0 ? "x" : hostile[h]);
            if (system("command -v xmllint >/dev/null") == 0 &&
                system("xmllint --noout --nonet x.svg") != 0)
                fail_msg("%s with %s: no XML", line, h < 0 ? "x" : hostile[h]);
            drawn += h >= 0;
            free(svg);
            free(got);
        }
        free(text);
    }
    assert_true(drawn > 25);
}

/* The kept script makes the same picture, whatever its title and its file are called: all control characters, and what
 * hides otherwise. */
static void kept_scripts_draw_again(void **state) {
    static const char fit[] = FR_SOURCE_DIR "/tests/golden/in/plots/fit.json";
    char all[64] = "";
    for (int c = 1; c < 32; c++) all[c - 1] = (char)(c == '/' ? ' ' : c);
    strcpy(all + 31, "\x7f\xc2\x85\xc2\x9b\xe2\x80\xa8\xff'\"`\\");
    const char *const names[] = {
        all, "a\nb", "\x1b]0;x\a", "\xe2\x80\xaex", "|touch pwned", "%s$(touch pwned)"};
    (void)state;
    if (!fr_gnuplot_installed()) skip();
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char picture[128], script[128], program[4096];
        const char *ending = i % 2 ? "png" : "svg";
        snprintf(picture, sizeof picture, "k%s.%s", names[i], ending);
        snprintf(script, sizeof script, "k%s.gp", names[i]);
        snprintf(program, sizeof program, "%s/forerun", FR_BIN_DIR);
        const char *const draw[] = {program, "plot",          "fit",     fit,      "-o",
                                    picture, "--keep-script", "--title", names[i], NULL},
                          *const again[] = {"gnuplot", script, NULL};
        struct fr_ended ended;
        struct fr_error err = {0};
        struct fr_text printed = {0};
        char *first = NULL, *second = NULL;
        size_t lengths[2] = {0};
        assert_int_equal(
            fr_process_run(&(struct fr_process){.words = draw, .err.text = &printed}, &ended,
                           &err),
            FR_OK);
        FR_TRUE(ended.code == 0, "name %zu: %s", i, fr_text_get(&printed));
        assert_int_equal(fr_file_read(picture, FR_FILE_MAX_B, &first, &lengths[0], &err),
                         FR_OK);
        unlink(picture);
        printed.length = 0;
        /* In another locale gnuplot complains of its own degree sign. */
        static const char *const utf8[] = {"LC_ALL=C.UTF-8", NULL};
        assert_int_equal(
            fr_process_run(
                &(struct fr_process){.words = again, .variables = utf8, .err.text = &printed},
                &ended, &err),
            FR_OK);
        FR_TRUE(ended.code == 0 && printed.length == 0, "name %zu: %s", i,
                fr_text_get(&printed));
        if (fr_file_read(picture, FR_FILE_MAX_B, &second, &lengths[1], &err) != FR_OK)
            fail_msg("name %zu: %s", i, err.detail);
        FR_TRUE(lengths[0] == lengths[1] && memcmp(first, second, lengths[0]) == 0,
                "name %zu draws another", i);
        nothing_happened(script);
        fr_text_free(&printed);
        free(first), free(second);
    }
}

/* ---- what commands print and write ----------------------------------------------------------- */

static void check_json(const char *text, const char *what) {
    struct fr_json_document *document = NULL;
    struct fr_error err;
    if (fr_json_parse(text, strlen(text), "out", &document, &err) != FR_OK)
        fail_msg("%s: %s %s", what, err.where, err.detail);
    fr_json_free(document);
}

/* No cell is a formula to a spreadsheet: read apart from base/csv.c. */
static void check_csv(const char *text, const char *what) {
    bool quoted = false, begins = true;
    for (const char *c = text; *c; c++) {
        char *end = NULL;
        if (begins) {
            const char *cell = *c == '"' ? c + 1 : c;
            double number = strtod(cell, &end);
            bool is_number = end > cell && strchr(",\"\r\n", *end) && number == number;
            if (*cell && strchr("=+-@\t", *cell) && !is_number)
                fail_msg("%s: a cell begins with %.20s", what, cell);
        }
        if (*c == '"') quoted = !quoted;
        begins = !quoted && (*c == ',' || *c == '\n');
    }
}

static void check_xml(const char *name, const char *what) {
    char *text = get(name), line[200], *got = skeleton(text);
    if (strstr(got, "OPEN") || strstr(got, "script")) fail_msg("%s: %s", what, text);
    snprintf(line, sizeof line, "xmllint --noout --nonet %s", name);
    if (system("command -v xmllint >/dev/null") == 0 && system(line) != 0)
        fail_msg("%s: no XML", what);
    free(got);
    free(text);
}

static const char cluster[] =
    "{\"name\": \"N\", \"source\": \"N\", \"device\": {\"name\": \"N\", \"memory\": \"64 GB\", "
    "\"memory_bandwidth\": \"1 TB/s\", \"gemm\": {\"fp32\": {\"peak\": \"10 TFLOP/s\"}}, "
    "\"power\": {\"busy\": \"500 W\", \"idle\": \"90 W\", \"quality\": \"estimated\", "
    "\"source\": \"N\"}}, \"levels\": [{\"name\": \"N\", \"ranks\": 4, \"latency\": \"2 us\", "
    "\"bandwidth\": \"50 GB/s\"}, {\"name\": \"system\", \"ranks\": 64, \"latency\": \"5 us\", "
    "\"bandwidth\": \"25 GB/s\"}]}";
static const char model[] =
    "{\"kind\": \"ffn\", \"name\": \"N\", \"source\": \"N\", \"width\": 1024, \"layers\": 4}";

static const char runtime[] = "{\"name\": \"N\", \"source\": \"N\", \"from\": \"papers-2019\"}";

/* @p form with @p name wherever it says "N". */
static void put_named(const char *file, const char *form, const char *name) {
    struct fr_text text = {0};
    for (const char *at = form; *at; at++)
        if (strncmp(at, "\"N\"", 3) == 0) {
            fr_text_addf(&text, "\"%s\"", name);
            at += 2;
        } else
            fr_text_add(&text, at, 1);
    put(file, text.data);
    fr_text_free(&text);
}

static void outputs_stay_what_they_are(void **state) {
#define INPUTS " --cluster c.json --model m.json --runtime r.json "
    static const struct {
        const char *line, *written;
    } commands[] = {
        {"forerun predict" INPUTS "--set dp=4", NULL},
        {"forerun predict" INPUTS "--set dp=4 --json", NULL},
        {"forerun predict" INPUTS "--set dp=4 --csv", NULL},
        {"forerun predict" INPUTS "--set dp=4 --explain", NULL},
        {"forerun search" INPUTS "--ranks 4 --vary method=tensor,phantom --explain", NULL},
        {"forerun search" INPUTS "--ranks 4 --json", NULL},
        {"forerun search" INPUTS "--ranks 4 --csv", NULL},
        {"forerun simulate" INPUTS "--set tp=4", NULL},
        {"forerun simulate" INPUTS "--set tp=4 --json --trace t.json", "t.json"},
        {"forerun simulate" INPUTS "--set tp=4 --trace t.paje", "t.paje"},
        {"forerun simulate" INPUTS "--set tp=4 --trace t.csv", "t.csv"},
        {"forerun export simgrid --cluster c.json --ranks 8", NULL},
        {"forerun export simgrid --cluster c.json --ranks 8 -o p.xml", "p.xml"},
        {"forerun place --cluster c.json --runtime r.json --ranks 16 --ways 4", NULL},
        {"forerun place --cluster c.json --ranks 16 --ways 4 --json", NULL},
        {"forerun place --cluster c.json --ranks 16 --ways 4 --emit slurm", NULL},
        {"forerun place --cluster c.json --ranks 16 --ways 4 --emit rankfile", NULL},
        {"forerun collective --cluster c.json --set runtime=r.json --op all_reduce --ranks 8 "
         "--algorithm all",
         NULL},
        {"forerun fit named.jsonl --json", NULL},
        {"forerun fit named.jsonl --out -", NULL},
        {"forerun report named.jsonl", NULL},
        {"forerun compare named.jsonl named.jsonl", NULL},
    };
    (void)state;
    char *samples = get("s.jsonl"), *long_name = very_long_name();
    int n = 0, ok = 0;
    while (hostile[n]) n++;
    for (int h = 0; h <= n; h++) {
        const char *name = h < n ? hostile[h] : long_name;
        put_named("c.json", cluster, name);
        put_named("m.json", model, name);
        put_named("r.json", runtime, name);
        char *evil = with_names(samples, name, -1,
                                ",schema,kind,op,dtype,level,version,reason,"
                                "date,quality,");
        put("named.jsonl", evil);
        free(evil);
        for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
            const char *line = commands[i].line, *written = commands[i].written;
            if (h % 4 && strncmp(line, "forerun fit", 11) == 0)
                continue; /* half a second each */
            struct output o = fr_test_run(line);
            if (o.exit_code < 0 || o.exit_code == 1) fail_msg("%s, %s: %s", name, line, o.err);
            if (first_hidden(o.out) || first_hidden(o.err))
                fail_msg("%s, %s: %.60s", name, line,
                         first_hidden(o.out) ? first_hidden(o.out) : first_hidden(o.err));
            nothing_happened(line);
            if (o.exit_code == 0 && strstr(line, "--json")) check_json(o.out, line);
            if (o.exit_code == 0 && strstr(line, "--csv")) check_csv(o.out, line);
            if (o.exit_code == 0 && written) {
                char *text = get(written);
                if (strstr(written, ".json")) check_json(text, line);
                if (strstr(written, ".csv")) check_csv(text, line);
                if (strstr(written, ".xml")) check_xml(written, line);
                if (!strstr(written, ".csv") && first_hidden(text))
                    fail_msg("%s, %s: %.60s", name, line, first_hidden(text));
                free(text);
            }
            ok += o.exit_code == 0;
            fr_test_output_free(&o);
        }
    }
    assert_true(ok > 200);
    free(long_name);
    free(samples);
}

/* ---- cells ----------------------------------------------------------------------------------- */

static void cells_are_no_formulas(void **state) {
    static const struct {
        const char *cell, *written;
    } cells[] = {{"=1+1", "\"'=1+1\""}, {"-5", "-5"},
                 {"+1e-3", "+1e-3"},    {"-5 apples", "\"'-5 apples\""},
                 {"@x", "\"'@x\""},     {"\tx", "\"'\tx\""},
                 {"\rx", "\"'\rx\""},   {"-", "\"'-\""},
                 {"'=1", "'=1"},        {"a\"b", "\"a\"\"b\""},
                 {"plain", "plain"},    {"", ""}};
    (void)state;
    for (size_t i = 0; i < sizeof cells / sizeof *cells; i++) {
        struct fr_text text = {0};
        struct fr_csv csv;
        fr_text_addf(&text, "a,b\n");
        fr_csv_put(&text, cells[i].cell);
        fr_text_addf(&text, ",x\n");
        assert_non_null(strstr(text.data, cells[i].written));
        check_csv(text.data, cells[i].cell);
        assert_int_equal(fr_csv_parse(text.data, text.length, "t", &csv, NULL), FR_OK);
        if (strcmp(cells[i].cell, "'=1") != 0)
            assert_string_equal(fr_csv_get(&csv, 0, "a"), cells[i].cell);
        fr_csv_free(&csv);
        fr_text_free(&text);
    }
}

/* Runs come from tables, which hold any bytes. */
static void runs_of_others_are_imported_harmless(void **state) {
    (void)state;
    char *runs = get(FR_SOURCE_DIR "/tests/golden/in/runs.csv");
    struct fr_text text = {0};
    const char *line_end = strchr(runs, '\n');
    fr_text_addf(&text, "%.*s,note\n", (int)(line_end - runs), runs);
    for (const char *at = line_end + 1; *at; at = strchr(at, '\n') + 1)
        fr_text_addf(&text, "%.*s,\"=cmd|'/C \xff\x1b[2J\xc2\x9b\xe2\x80\xae\"\n",
                     (int)strcspn(at, "\n"), at);
    put("runs.csv", text.data);
    struct output o = fr_test_run("forerun import runs runs.csv");
    if (o.exit_code != 0 && o.exit_code != 3) fail_msg("%s", o.err);
    assert_null(first_hidden(o.out));
    assert_null(first_hidden(o.err));
    check_csv(o.out, "import runs");
    fr_test_output_free(&o);
    fr_text_free(&text);
    free(runs);
}

static void words_of_the_line_are_harmless(void **state) {
    (void)state;
    static const char *const lines[] = {
        "forerun predict --cluster \x1b[2J\xe2\x80\xae\xff --model x",
        "forerun \x1b]0;x\x07",
        "forerun predict --\x1b[2J",
        "forerun plot \xc2\x9b",
        "forerun import osu \x1b[31m",
        "forerun-mpi calibrate --\x1b[31m",
    };
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        struct output o = fr_test_run(lines[i]);
        assert_true(o.exit_code > 0);
        if (first_hidden(o.err) || first_hidden(o.out)) fail_msg("%s", o.err);
        fr_test_output_free(&o);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pages_keep_their_markup),
        cmocka_unit_test(pages_forbid_scripts),
        cmocka_unit_test(markup_stands_in_the_format_only),
        cmocka_unit_test(pictures_keep_their_markup),
        cmocka_unit_test(kept_scripts_draw_again),
        cmocka_unit_test(outputs_stay_what_they_are),
        cmocka_unit_test(cells_are_no_formulas),
        cmocka_unit_test(runs_of_others_are_imported_harmless),
        cmocka_unit_test(words_of_the_line_are_harmless),
    };
    return cmocka_run_group_tests(tests, fr_scratch_enter, fr_scratch_leave);
}
