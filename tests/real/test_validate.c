/* Scoring of real runs: samples made from predictions, so that every error, the regret and the
 * correlation are known. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/file.h"
#include "models/job/job.h"
#include "real/validate/choose.h"
#include "real/validate/judge.h"
#include "tests/cmocka.h"

static void load(struct fr_job *job) {
    const struct fr_job_names names = {.cluster = "frontier"};
    struct fr_error err = {.status = FR_OK};
    memset(job, 0, sizeof *job);
    if (fr_job_load(&names, job, &err) != FR_OK) fail_msg("%s: %s", err.where, err.detail);
}

/* A file with the cases of @p v, each measured at factor[i % n] times its prediction, or not at all
 * where that is 0. */
static void write_samples(const struct fr_validation *v, const double *factor, int n,
                          const char *path, const char *tail) {
    FILE *file = fopen(path, "w");
    struct fr_text text = {0};
    struct fr_json_writer w = {.text = &text};
    assert_non_null(file);
    for (int i = 0; i < v->n_rows; i++) {
        const struct fr_validate_row *row = &v->rows[i];
        double s = row->predicted_s * factor[i % n];
        fr_json_begin_object(&w);
        fr_json_add_string(&w, "kind", "case");
        fr_json_add_integer(&w, "id", row->run.id);
        fr_json_add_integer(&w, "ranks", row->run.ranks);
        fr_json_add_string(&w, "app", row->run.app);
        fr_json_add_string(&w, "group", row->run.group);
        fr_json_add_string(&w, "label", row->run.label);
        fr_json_add_string(&w, "model", row->run.model);
        fr_json_add_string(&w, "plan", row->run.plan);
        fr_json_end_object(&w);
        fprintf(file, "%s\n", fr_text_get(&text));
        fr_text_free(&text);
        w = (struct fr_json_writer){.text = &text};
        if (s == 0) continue;
        fprintf(file, "{\"kind\": \"run\", \"id\": %d, \"pass\": 0, \"time_s\": [",
                (int)row->run.id);
        for (int k = 0; k < 9; k++)
            fprintf(file, "%s%.17g", k ? ", " : "", s * (1 + 1e-6 * (k - 4)));
        fprintf(file, "]}\n{\"kind\": \"phases\", \"id\": %d, \"pass\": 0, \"step_s\": %.17g, ",
                (int)row->run.id, s);
        fprintf(file, "\"compute_s\": %.17g, \"launch_s\": %.17g, ",
                row->predicted_term_s[FR_TERM_COMPUTE], row->predicted_term_s[FR_TERM_LAUNCH]);
        fprintf(file, "\"collective_s\": %.17g, \"wait_s\": 0}\n",
                row->predicted_term_s[FR_TERM_COLLECTIVE] + s - row->predicted_s);
    }
    fputs(tail, file);
    fclose(file);
}

static void measure(const char *app, const double *factor, int n, const char *tail,
                    struct fr_validation *out) {
    char path[] = "/tmp/forerun-validate-XXXXXX";
    struct fr_job job;
    struct fr_validation v = {0};
    struct fr_error err = {.status = FR_OK};
    load(&job);
    *out = (struct fr_validation){0};
    assert_int_equal(fr_validate_design(app, 2, &v, &err), FR_OK);
    assert_int_equal(fr_validate_score(&job.cluster, 2, &v, &err), FR_OK);
    close(mkstemp(path));
    write_samples(&v, factor, n, path, tail);
    fr_status status = fr_validate_read(path, out, &err);
    unlink(path);
    if (status != FR_OK) fail_msg("%s: %s", err.where, err.detail);
    assert_int_equal(fr_validate_score(&job.cluster, 2, out, &err), FR_OK);
    assert_int_equal(out->n_rows, v.n_rows);
    fr_validation_free(&v);
    fr_job_free(&job);
}

static void exact_runs_have_no_error(void **state) {
    (void)state;
    const double factor[] = {1};
    struct fr_validation v;
    measure("all", factor, 1, "", &v);
    assert_int_equal(v.n_scored, v.n_rows);
    FR_TRUE(v.median_error < 1e-9 && v.p90_error < 1e-9, "%g, %g", v.median_error, v.p90_error);
    FR_TRUE(v.regret == 0 && v.regret_worst == 0, "%g, %g", v.regret, v.regret_worst);
    FR_NEAR(v.rank_correlation, 1, 1e-12);
    FR_NEAR(v.coverage, 1, 1e-12);
    for (int i = 0; i < v.n_rows; i++) assert_int_equal(v.rows[i].off, -1);
    fr_validation_free(&v);
}

/* Measured eight times as slow: every prediction is an eighth, outside what priors allow, and the clocks put it on collectives. */
static void a_factor_is_the_error_and_names_its_term(void **state) {
    (void)state;
    const double factor[] = {8};
    struct fr_validation v;
    measure("phantom", factor, 1, "", &v);
    FR_NEAR(v.median_error, 0.875, 1e-9);
    FR_NEAR(v.rank_correlation, 1, 1e-12);
    assert_true(v.regret == 0);
    for (int i = 0; i < v.n_rows; i++) {
        FR_NEAR(v.rows[i].error, -0.875, 1e-9);
        assert_int_equal(v.rows[i].off, FR_TERM_COLLECTIVE);
    }
    fr_validation_free(&v);
}

/* Within each group of three phantom widths the first is predicted best; measured 3 x slower it
 * is not, and choosing it costs what the next one would have saved. */
static void regret_is_what_the_choice_costs(void **state) {
    (void)state;
    const double factor[] = {3, 1, 1};
    struct fr_validation v;
    measure("phantom", factor, 3, "", &v);
    assert_int_equal(v.n_rows % 3, 0);
    double worst = 0;
    for (int i = 0; i < v.n_rows; i += 3) {
        double first_s = v.rows[i].measured_s, second_s = v.rows[i + 1].measured_s;
        assert_true(v.rows[i].predicted_s < v.rows[i + 1].predicted_s);
        worst = fmax(worst, first_s / second_s - 1);
    }
    assert_int_equal(v.n_groups, v.n_rows / 3);
    FR_NEAR(v.regret_worst, worst, 1e-9);
    assert_true(v.regret > 0 && v.regret <= v.regret_worst);
    fr_validation_free(&v);
}

/* The time was over in two of six groups of three: they have no regret, though their fastest run would have the
 * largest, no places, and are counted; the others have what they had. */
static void what_was_not_run_is_not_judged(void **state) {
    (void)state;
    double factor[18];
    struct fr_validation v, whole;
    for (int i = 0; i < 18; i++) factor[i] = i % 3 == 0 ? (i < 6 ? 9 : 3) : 1;
    measure("phantom", factor, 18, "", &whole);
    assert_int_equal(whole.n_rows, 18);
    assert_int_equal(whole.n_run, 18);
    assert_int_equal(whole.n_not_run + whole.n_open, 0);
    factor[2] = factor[4] = factor[5] = 0;
    measure("phantom", factor, 18, "", &v);
    assert_int_equal(v.n_run, 15);
    assert_int_equal(v.n_not_run, 3);
    assert_int_equal(v.n_open, 2);
    assert_int_equal(v.n_groups, 4);
    assert_int_equal(v.n_scored, 15);
    double worst = 0;
    for (int i = 0; i < 18; i++) {
        assert_int_equal(v.rows[i].whole, i >= 6);
        assert_int_equal(v.rows[i].measured_place, i >= 6 ? whole.rows[i].measured_place : 0);
        assert_int_equal(v.rows[i].predicted_place, i >= 6 ? whole.rows[i].predicted_place : 0);
        if (i >= 6 && i % 3 == 0)
            worst = fmax(worst, v.rows[i].measured_s / v.rows[i + 1].measured_s - 1);
    }
    FR_NEAR(v.regret_worst, worst, 1e-9);
    FR_TRUE(whole.regret_worst > 2 * worst, "%g, %g", whole.regret_worst, worst);
    struct fr_job job;
    struct fr_text text = {0};
    load(&job);
    fr_validate_judge(&job.cluster, &v, &text);
    FR_TRUE(strstr(fr_text_get(&text), "of 15 of 18 configurations") != NULL, "%s",
            fr_text_get(&text));
    fr_text_free(&text);
    fr_job_free(&job);
    fr_validation_free(&v);
    fr_validation_free(&whole);
}

static void a_cut_last_line_loses_itself_alone(void **state) {
    (void)state;
    const double factor[] = {1};
    struct fr_validation v;
    measure("tensor", factor, 1, "{\"kind\": \"run\", \"id\": 0, \"pa", &v);
    for (int i = 0; i < v.n_rows; i++) assert_int_equal(v.rows[i].n_samples, 9);
    fr_validation_free(&v);
}

/* The file and the case are named, whichever of its lines is wrong. */
static void faults_name_their_file(void **state) {
#define CASE(model)                                                                            \
    "{\"kind\": \"case\", \"id\": 7, \"ranks\": 2, \"app\": \"tensor\", \"group\": \"g\", "    \
    "\"label\": "                                                                              \
    "\"l\", \"model\": \"" model "\", \"plan\": \"{}\"}\n"
    static const struct {
        const char *text, *where, *detail;
    } files[] = {{CASE("{}"), "", "case 7, its model"},
                 {CASE("[]") "{\"kind\": \"run\", \"id\": 7, \"time_s\": [0]}\n",
                  ": line 2#/time_s/0", "is 0; expected 1e-12 to"}};
    (void)state;
    struct fr_job job;
    load(&job);
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        char path[] = "/tmp/forerun-validate-XXXXXX", where[100];
        struct fr_validation v = {0};
        struct fr_error err = {.status = FR_OK};
        assert_true(mkstemp(path) >= 0);
        assert_int_equal(fr_file_write(path, files[i].text, strlen(files[i].text), NULL),
                         FR_OK);
        fr_status status = fr_validate_read(path, &v, &err);
        if (status == FR_OK) status = fr_validate_score(&job.cluster, 2, &v, &err);
        snprintf(where, sizeof where, "%s%s", path, files[i].where);
        assert_int_equal(status, FR_ERR_INPUT);
        assert_string_equal(err.where, where);
        if (!strstr(err.detail, files[i].detail)) fail_msg("%s", err.detail);
        fr_validation_free(&v);
        unlink(path);
    }
    fr_job_free(&job);
#undef CASE
}

static void more_ranks_than_cores_are_not_scored(void **state) {
    (void)state;
    struct fr_job job;
    struct fr_validation v = {0};
    struct fr_error err = {.status = FR_OK};
    load(&job);
    assert_int_equal(fr_validate_design("grid", 4, &v, &err), FR_OK);
    assert_int_equal(fr_validate_score(&job.cluster, 2, &v, &err), FR_OK);
    for (int i = 0; i < v.n_rows; i++) assert_false(v.rows[i].scored);
    assert_int_equal(v.n_scored, 0);
    assert_int_equal(fr_validate_design("grit", 4, &v, &err), FR_ERR_USAGE);
    assert_non_null(strstr(err.detail, "did you mean \"grid\"?"));
    fr_validation_free(&v);
    fr_job_free(&job);
}

/* ---- sizes of the user's own ----------------------------------------------------------------- */

static fr_status choose(const char *app, int64_t ranks, const char *const *sets,
                        const char *const *vary, struct fr_validation *v,
                        struct fr_error *err) {
    struct fr_validate_choice choice = {.sets = sets, .vary = vary};
    *v = (struct fr_validation){0};
    while (sets && sets[choice.n_sets]) choice.n_sets++;
    while (vary && vary[choice.n_vary]) choice.n_vary++;
    assert_true(fr_validate_chosen(&choice));
    return fr_validate_choose(app, ranks, &choice, v, err);
}

static void every_combination_is_a_configuration(void **state) {
    (void)state;
    const char *const vary[] = {"model.width=512,1024", "ghost=4..16*2", "global_batch=32,64",
                                NULL};
    struct fr_validation v;
    struct fr_error err = {0};
    assert_int_equal(choose("phantom", 2, NULL, vary, &v, &err), FR_OK);
    assert_int_equal(v.n_rows, 2 * 3 * 2);
    const struct fr_validate_case *last = &v.rows[11].run;
    assert_string_equal(last->group, "ffn n=1024 b=64 p=2");
    assert_string_equal(last->label, "phantom ghost=16");
    for (int i = 0; i < v.n_rows; i++) {
        const struct fr_validate_case *a = &v.rows[i].run;
        assert_int_equal(a->id, i);
        assert_non_null(strstr(a->plan, "\"method\": \"phantom\""));
        assert_non_null(strstr(a->plan, "\"tp\": 2"));
        for (int j = 0; j < i; j++) /* none twice */
            assert_true(strcmp(a->model, v.rows[j].run.model) != 0 ||
                        strcmp(a->plan, v.rows[j].run.plan) != 0);
    }
    fr_validation_free(&v);
    /* The number of ghost neurons does not concern a method without any. */
    assert_int_equal(choose("tensor", 2, NULL, vary, &v, &err), FR_OK);
    assert_int_equal(v.n_rows, 2 * 2);
    for (int i = 0; i < v.n_rows; i++) assert_null(strstr(v.rows[i].run.label, "ghost"));
    fr_validation_free(&v);
}

/* dp takes what tp leaves, tp what dp leaves, in a pipeline dp. */
static void the_axis_left_takes_the_rest(void **state) {
    (void)state;
    const char *const by_tp[] = {"tp=1,2", NULL}, *const by_dp[] = {"dp=1,2", NULL},
                      *const by_pp[] = {"pp=1,2,4", NULL};
    static const char *const axes[] = {"\"dp\": 4", "\"dp\": 2", "\"tp\": 4", "\"tp\": 2"};
    struct fr_validation v[3];
    struct fr_error err = {0};
    assert_int_equal(choose("grid", 4, NULL, by_tp, &v[0], &err), FR_OK);
    assert_int_equal(choose("grid", 4, NULL, by_dp, &v[1], &err), FR_OK);
    for (int i = 0; i < 4; i++)
        FR_TRUE(strstr(v[i / 2].rows[i % 2].run.plan, axes[i]) != NULL, "%s lacks %s",
                v[i / 2].rows[i % 2].run.plan, axes[i]);
    assert_int_equal(choose("pipeline", 4, NULL, by_pp, &v[2], &err), FR_OK);
    assert_non_null(strstr(v[2].rows[1].run.plan, "\"dp\": 2"));
    assert_null(strstr(v[2].rows[2].run.plan, "\"dp\""));
    for (int i = 0; i < 3; i++) fr_validation_free(&v[i]);
}

static void bad_sizes_are_refused(void **state) {
    (void)state;
    static const struct {
        const char *app, *vary, *says;
        fr_status status;
    } bad[] = {{"grid", "tp=3", "is no multiple of dp x pp x tp x cp = 3", FR_ERR_INPUT},
               {"phantom", "ghost=4,", "is no whole number", FR_ERR_USAGE},
               {"phantom", "ghost", "is not of the form KEY=RANGE", FR_ERR_USAGE},
               {"grid", "placement=,x", "is no list of values", FR_ERR_USAGE},
               {"phantom", "ghost=9..4", "", FR_ERR_USAGE}};
    static const struct {
        const char *app, *vary, *says;
    } refused[] = {{"phantom", "ghost=4,128", "ghost = 128 is not below (n/p)(1 - 1/p) = 128"},
                   {"phantom", "model.width=513", "does not divide a layer's 513 outputs"},
                   {"phantom", "model.width=512", "needs ghost"},
                   {"grid", "global_batch=31", "31"}};
    struct fr_validation v;
    struct fr_error err = {0};
    struct fr_job job;
    load(&job);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        const char *const vary[] = {bad[i].vary, NULL};
        FR_TRUE(choose(bad[i].app, 2, NULL, vary, &v, &err) == bad[i].status, "%s %s: %s",
                bad[i].app, bad[i].vary, err.detail);
        if (bad[i].says[0]) FR_TRUE(strstr(err.detail, bad[i].says) != NULL, "%s", err.detail);
        fr_validation_free(&v);
    }
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        const char *const vary[] = {refused[i].vary, NULL};
        const char *const sets[] = {i == 1 ? "ghost=4" : "model.layers=2",
                                    i == 3 ? "tp=1" : NULL, NULL};
        assert_int_equal(choose(refused[i].app, 2, sets, vary, &v, &err), FR_OK);
        assert_int_equal(fr_validate_score(&job.cluster, 2, &v, &err), FR_OK);
        assert_int_equal(fr_validate_refuse(&job.cluster, &v, &err), FR_ERR_INPUT);
        FR_TRUE(strstr(err.detail, refused[i].says) != NULL, "%s %s: %s", refused[i].app,
                refused[i].vary, err.detail);
        fr_validation_free(&v);
    }
    fr_job_free(&job);
}

/* Loops that take 1, 1.5 and 2 times what the cluster file says: so the drift is found; those of
 * oversubscribed jobs do not count, and memory needs rates by working set. */
static void drift_is_what_the_loops_took(void **state) {
    (void)state;
    struct fr_job job;
    struct fr_validation v = {0};
    const struct fr_gemm_shape square = {512, 512, 512, 1, 0};
    bool outside = false;
    load(&job);
    double product_s = fr_gemm_time_s(&job.cluster.device, FR_FP32, &square, &outside);
    double s_per_B = 1 / job.cluster.device.memory_rate_B_per_s;
    struct fr_validate_reference references[4];
    for (int i = 0; i < 4; i++)
        references[i] = (struct fr_validate_reference){.ranks = i < 3 ? 2 : 8,
                                                       .set_B = 64e6,
                                                       .stream_s_per_B = 3 * s_per_B,
                                                       .edge = 512,
                                                       .product_s = (1 + 0.5 * i) * product_s};
    v.references = references;
    v.n_references = 4;
    assert_int_equal(fr_validate_drifts(&job.cluster, 4, &v, NULL), FR_OK);
    assert_int_equal(v.products.n, 3);
    FR_NEAR(v.products.median, 1.5, 1e-12);
    FR_NEAR(v.products.low, 1, 1e-12);
    FR_NEAR(v.products.high, 2, 1e-12);
    assert_int_equal(v.memory.n, 0);
    job.cluster.device.working_sets = (struct fr_working_sets){
        .n = 2, .log_size = {log(32e6), log(128e6)}, .share = {{1.5, 1.5}}};
    assert_int_equal(fr_validate_drifts(&job.cluster, 4, &v, NULL), FR_OK);
    FR_NEAR(v.memory.median, 2, 1e-12);
    fr_job_free(&job);
}

/* Earlier visits 1 s in the mean and later ones 1.25 s: the earlier half misses the later by a fifth, and what was
 * measured lies between.  Four visits are no interval; and files of before, which state no pass, are distinguished by
 * their order. */
static void the_floor_is_what_the_machine_changes(void **state) {
    (void)state;
    for (int k = 0; k < 2; k++) {
        struct fr_validation designed = {0}, v = {0};
        struct fr_error err = {.status = FR_OK};
        struct fr_job job;
        char path[] = "/tmp/forerun-floor-XXXXXX", pass[40];
        FILE *file = fdopen(mkstemp(path), "w");
        load(&job);
        assert_int_equal(fr_validate_design("phantom", 2, &designed, &err), FR_OK);
        const struct fr_validate_case *run = &designed.rows[0].run;
        struct fr_text text = {0};
        struct fr_json_writer w = {.text = &text};
        fr_json_begin_object(&w);
        fr_json_add_string(&w, "kind", "case");
        fr_json_add_integer(&w, "id", 0);
        fr_json_add_string(&w, "app", run->app);
        fr_json_add_integer(&w, "ranks", 2);
        fr_json_add_string(&w, "group", "g");
        fr_json_add_string(&w, "label", "l");
        fr_json_add_string(&w, "model", run->model);
        fr_json_add_string(&w, "plan", run->plan);
        fr_json_end_object(&w);
        fprintf(file, "%s\n", fr_text_get(&text));
        for (int i = 0; i < 4; i++) {
            snprintf(pass, sizeof pass, ", \"pass\": %d", i);
            double mean_s = i < 2 ? 1.0 : 1.25; /* of which one step in three was interrupted */
            fprintf(file, "{\"kind\": \"run\", \"id\": 0%s, \"time_s\": [%g, %g, %g]}\n",
                    k == 0 ? pass : "", mean_s - 0.5, mean_s + 1, mean_s - 0.5);
        }
        fclose(file);
        if (fr_validate_read(path, &v, &err) != FR_OK) fail_msg("%s", err.detail);
        assert_int_equal(fr_validate_score(&job.cluster, 2, &v, &err), FR_OK);
        FR_NEAR(v.floor, 0.2, 1e-12);
        FR_NEAR(v.rows[0].measured_s, 1.125, 1e-12);
        assert_false(v.rows[0].sure);
        unlink(path);
        fr_text_free(&text);
        fr_validation_free(&v);
        fr_validation_free(&designed);
        fr_job_free(&job);
    }
}

/* Runs at 1, or at a thousand times, their predictions: nine in ten that meet confirm, fewer do not, and no
 * number of them does where the calibration failed. */
static void nine_in_ten_confirm(void **state) {
    static const struct {
        const char *verdict;
        int off; /* of ten */
        fr_confirmation confirmed;
        const char *printed;
    } cases[] = {{"PASS", 0, FR_CONFIRMED, "confirmed: 100 % of the 90 % intervals"},
                 {"", 0, FR_CONFIRMED, "confirmed: 100 %"},
                 {"WARN", 1, FR_CONFIRMED, "confirmed: 9"},
                 {"PASS", 2, FR_NOT_CONFIRMED, "not confirmed: "},
                 {"PASS", 10, FR_NOT_CONFIRMED, "not confirmed: 0 %"},
                 {"FAIL", 0, FR_NOT_CONFIRMED,
                  "not confirmed: the calibration failed, whatever the runs say; 100 %"}};
    struct fr_job job;
    (void)state;
    load(&job);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double factor[10];
        struct fr_validation v;
        struct fr_text text = {0};
        for (int k = 0; k < 10; k++) factor[k] = k < cases[i].off ? 1000 : 1;
        measure("all", factor, 10, "", &v);
        if (cases[i].off == 1) v.coverage = 0.9; /* not a row more, whatever their number */
        snprintf(job.cluster.calibration.verdict, sizeof job.cluster.calibration.verdict, "%s",
                 cases[i].verdict);
        fr_validate_judge(&job.cluster, &v, &text);
        if (fr_validate_confirmed(&job.cluster, &v) != cases[i].confirmed ||
            strncmp(fr_text_get(&text), cases[i].printed, strlen(cases[i].printed)) != 0)
            fail_msg("%s, %d of ten off: %s", cases[i].verdict, cases[i].off,
                     fr_text_get(&text));
        fr_text_free(&text);
        v.n_scored = 0;
        assert_int_equal(fr_validate_confirmed(&job.cluster, &v), FR_NOT_JUDGED);
        fr_validation_free(&v);
    }
    fr_job_free(&job);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exact_runs_have_no_error),
        cmocka_unit_test(a_factor_is_the_error_and_names_its_term),
        cmocka_unit_test(regret_is_what_the_choice_costs),
        cmocka_unit_test(what_was_not_run_is_not_judged),
        cmocka_unit_test(a_cut_last_line_loses_itself_alone),
        cmocka_unit_test(faults_name_their_file),
        cmocka_unit_test(more_ranks_than_cores_are_not_scored),
        cmocka_unit_test(every_combination_is_a_configuration),
        cmocka_unit_test(the_axis_left_takes_the_rest),
        cmocka_unit_test(bad_sizes_are_refused),
        cmocka_unit_test(drift_is_what_the_loops_took),
        cmocka_unit_test(the_floor_is_what_the_machine_changes),
        cmocka_unit_test(nine_in_ten_confirm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
