/* Iterations to the loss: given, shared by exact methods, interpolated, unknown. */
#include <math.h>
#include <string.h>

#include "models/outcome/cost.h"
#include "models/outcome/rates.h"
#include "models/plan/iterations.h"
#include "models/work/method.h"
#include "tests/job.h"
#include "tests/plan_values.h"

#include <stdlib.h>
#include <unistd.h>

static fr_iterations_origin find(const struct fr_job *job, const struct fr_method *m,
                                 int64_t tp, int64_t k, double *nu) {
    struct fr_plan plan = fr_plan_default();
    plan.method = m;
    plan.tp = tp;
    plan.ghost = k;
    return fr_iterations_find(&job->workload, &plan, (struct fr_lossy){0, 0, 0},
                              job->workload.global_batch, nu);
}

/* Table I is of one width, depth and batch (Eq. 2): elsewhere nothing is known, unless the user
 * says that samples decide, or brings a table of his own. */
static void measured_for_one_network(void **state) {
    static const char *const others[] = {"model.layers=8", "model.width=8192",
                                         "model.global_batch=32", "global_batch=32", NULL};
    (void)state;
    for (int i = 0; others[i]; i++) {
        const char *sets[] = {"method=phantom", "tp=8", "ghost=16", others[i], NULL};
        struct fr_job job;
        struct fr_outcome out;
        fr_test_job("frontier", "ffn-16384", sets, &job);
        fr_cost(&job, &job.plan, &out);
        assert_int_equal(out.reasons, 0);
        FR_TRUE(out.iterations_origin == FR_ITERATIONS_UNKNOWN && isnan(out.total_time_s),
                "%s: %g iterations", others[i], out.iterations);
        fr_job_free(&job);
    }
    const char *same[] = {"method=phantom", "tp=8", "ghost=16", "global_batch=452", NULL},
               *scaled[] = {"method=phantom",
                            "tp=8",
                            "ghost=16",
                            "global_batch=113",
                            "model.iterations.scaling=samples",
                            NULL},
               *own[] = {"method=phantom",  "tp=8",           "ghost=16",
                         "global_batch=32", "iterations=500", NULL};
    struct fr_job job;
    struct fr_outcome out;
    fr_test_job("frontier", "ffn-16384", same, &job);
    fr_cost(&job, &job.plan, &out);
    FR_NEAR(out.iterations, 157, 0);
    fr_job_free(&job);
    fr_test_job("frontier", "ffn-16384", scaled, &job);
    fr_cost(&job, &job.plan, &out);
    assert_int_equal(out.iterations_origin, FR_ITERATIONS_SCALED);
    FR_NEAR(out.iterations, 157 * 4, 1e-12); /* a quarter of the batch, four times as many */
    fr_job_free(&job);
    fr_test_job("frontier", "ffn-16384", own, &job);
    fr_cost(&job, &job.plan, &out);
    FR_NEAR(out.iterations, 500, 0);
    fr_job_free(&job);
}

static void table1(void **state) {
    (void)state;
    struct fr_job job;
    double nu = 0;
    fr_test_job("frontier", "ffn-16384", NULL, &job);
    assert_int_equal(find(&job, &fr_method_phantom, 8, 16, &nu), FR_ITERATIONS_GIVEN);
    FR_NEAR(nu, 157, 0);
    assert_int_equal(find(&job, &fr_method_tensor, 99, 0, &nu), FR_ITERATIONS_GIVEN);
    FR_NEAR(nu, 453, 0);
    assert_int_equal(find(&job, &fr_method_grid, 7, 0, &nu),
                     FR_ITERATIONS_GIVEN); /* exact, like tensor */
    FR_NEAR(nu, 453, 0);
    /* k = 4 is known at 32 (267) and 256 (232): at 64, a third of the way in log2 p. */
    assert_int_equal(find(&job, &fr_method_phantom, 64, 4, &nu), FR_ITERATIONS_INTERPOLATED);
    FR_NEAR(nu, 267 * pow(232.0 / 267, 1.0 / 3), 1e-12);
    assert_int_equal(find(&job, &fr_method_phantom, 8, 4, &nu),
                     FR_ITERATIONS_UNKNOWN); /* outside */
    assert_int_equal(find(&job, &fr_method_phantom, 512, 4, &nu),
                     FR_ITERATIONS_UNKNOWN); /* outside */
    fr_job_free(&job);
}

static void along_ghost_at_one_p(void **state) {
    (void)state;
    const char *sets[] = {
        "model.iterations=[{\"method\": \"phantom\", \"tp\": 8, \"ghost\": 4, \"iterations\": "
        "400},"
        "{\"method\": \"phantom\", \"tp\": 8, \"ghost\": 16, \"iterations\": 100}]",
        NULL};
    struct fr_job job;
    double nu = 0;
    fr_test_job("frontier", "ffn-16384", sets, &job);
    assert_int_equal(find(&job, &fr_method_phantom, 8, 8, &nu), FR_ITERATIONS_INTERPOLATED);
    FR_NEAR(nu, 200, 1e-12);
    assert_int_equal(find(&job, &fr_method_tensor, 8, 0, &nu), FR_ITERATIONS_UNKNOWN);
    fr_job_free(&job);
}

/* Rows of the table in any order: what is asked is given where a row is of it, else lies between the nearest rows on both
 * sides, along tp or along ghost, as a power of it; beyond the rows it is not known. */
static void between_the_nearest_rows(void **state) {
    struct fr_job job;
    uint64_t dice = 33;
    int between = 0;
    (void)state;
    fr_test_job("frontier", "ffn-16384", NULL, &job);
    for (int round = 0; round < 3000; round++) {
        enum { ROWS = 6 };
        struct fr_iterations_row rows[ROWS];
        struct fr_job of = job;
        bool along_tp = fr_test_random(&dice, 2);
        int n = 1 + (int)fr_test_random(&dice, ROWS), below = -1, above = -1, given = -1;
        int64_t fixed = 4, asked = 1 + (int64_t)fr_test_random(&dice, 12);
        for (int i = 0; i < n; i++) {
            bool again = true;
            int64_t at = 0;
            while (again) {
                at = 1 + (int64_t)fr_test_random(&dice, 12);
                again = false;
                for (int k = 0; k < i; k++)
                    again = again || (along_tp ? rows[k].tp : rows[k].ghost) == at;
            }
            rows[i] = (struct fr_iterations_row){.method = &fr_method_phantom,
                                                 .tp = along_tp ? at : fixed,
                                                 .ghost = along_tp ? fixed : at,
                                                 .iterations =
                                                     100 + (double)fr_test_random(&dice, 1000)};
        }
        of.workload.iterations = rows, of.workload.n_iterations = n;
        for (int i = 0; i < n; i++) {
            int64_t at = along_tp ? rows[i].tp : rows[i].ghost;
#define AT(k) (along_tp ? rows[k].tp : rows[k].ghost)
            if (at == asked) given = i;
            if (at < asked && (below < 0 || at > AT(below))) below = i;
            if (at > asked && (above < 0 || at < AT(above))) above = i;
        }
        double nu = -1;
        fr_iterations_origin origin = find(&of, &fr_method_phantom, along_tp ? asked : fixed,
                                           along_tp ? fixed : asked, &nu);
        if (given >= 0) {
            assert_int_equal(origin, FR_ITERATIONS_GIVEN);
            FR_NEAR(nu, rows[given].iterations, 0);
        } else if (below >= 0 && above >= 0) {
            double power = log(rows[above].iterations / rows[below].iterations) /
                           log((double)AT(above) / (double)AT(below));
            assert_int_equal(origin, FR_ITERATIONS_INTERPOLATED);
            FR_NEAR(nu, rows[below].iterations * pow((double)asked / (double)AT(below), power),
                    1e-12);
            between++;
        } else
            FR_TRUE(origin == FR_ITERATIONS_UNKNOWN || origin == FR_ITERATIONS_LAW,
                    "round %d: origin %d", round, (int)origin);
#undef AT
    }
    FR_TRUE(between > 300, "%d", between);
    fr_job_free(&job);
}

static void one_number_is_for_all(void **state) {
    (void)state;
    const char *sets[] = {"model.iterations=1000", NULL};
    struct fr_job job;
    double nu = 0;
    fr_test_job("frontier", "ffn-16384", sets, &job);
    assert_int_equal(find(&job, &fr_method_phantom, 3, 7, &nu), FR_ITERATIONS_GIVEN);
    FR_NEAR(nu, 1000, 0);
    fr_job_free(&job);
}

static void from_a_file(void **state) {
    (void)state;
    char path[] = "/tmp/forerun-nu-XXXXXX", set[96];
    int fd = mkstemp(path);
    const char *text = "{\"source\": \"a test\", \"table\": [{\"method\": \"phantom\", "
                       "\"ghost\": 3, \"iterations\": 77}]}";
    struct fr_job job;
    double nu = 0;
    assert_true(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text));
    close(fd);
    snprintf(set, sizeof set, "model.iterations=%s", path);
    const char *sets[] = {set, NULL};
    fr_test_job("frontier", "ffn-16384", sets, &job);
    assert_int_equal(find(&job, &fr_method_phantom, 12, 3, &nu), FR_ITERATIONS_GIVEN);
    FR_NEAR(nu, 77, 0);
    fr_job_free(&job);
    unlink(path);
    struct fr_error err = fr_test_refused("frontier", "ffn-16384", set);
    assert_int_equal(err.status, FR_ERR_INPUT);
}

/* No exact run tells the effect of compression on learning: it has rows of its own, or one number for all. */
static void compressed(void **state) {
    static const char *const tables[] = {
        "model.iterations={\"table\": [{\"method\": \"tensor\", \"iterations\": 100}]}",
        ("model.iterations={\"table\": [{\"method\": \"tensor\", \"iterations\": 100}, "
         "{\"method\": \"tensor\", \"compressed\": true, \"iterations\": 130}]}"),
        "model.iterations=120"};
    static const double plain[] = {100, 100, 120}, coded[] = {NAN, 130, 120};
    (void)state;
    for (int k = 0; k < 3; k++)
        for (int c = 0; c < 2; c++) {
            const char *sets[] = {
                tables[k], "dp=8", "model.global_batch=64",
                c ? "compression.gradient.stages=1" : "compression.gradient.stages=0", NULL};
            struct fr_job job;
            struct fr_outcome out;
            fr_test_job("frontier", "ffn-4096", sets, &job);
            fr_cost(&job, &job.plan, &out);
            double want = c ? coded[k] : plain[k];
            assert_int_equal(out.lossy_gradient > 0, c);
            if (isnan(want))
                assert_true(isnan(out.total_time_s));
            else
                FR_NEAR(out.iterations, want, 0);
            fr_job_free(&job);
        }
}

/* 1,281,167 images by 2,048: 625.57 iterations an epoch. */
static void epochs(void **state) {
    static const char *const sets[] = {"model.samples=1281167", "method=grid", "tp=4", "dp=128",
                                       NULL},
                             *const silent[] = {"method=grid", "tp=4", "dp=128", NULL};
    struct fr_job job;
    struct fr_outcome out;
    (void)state;
    fr_test_job("cori-knl", "alexnet", sets, &job);
    fr_cost(&job, &job.plan, &out);
    struct fr_rates rates = fr_rates_of(&job, &out);
    FR_NEAR(rates.iterations_per_epoch, 1281167 / 2048.0, 1e-15);
    FR_NEAR(rates.epoch_time_s, 1281167 / 2048.0 * out.time_s, 1e-15);
    fr_job_free(&job);
    fr_test_job("cori-knl", "alexnet", silent, &job);
    fr_cost(&job, &job.plan, &out);
    rates = fr_rates_of(&job, &out);
    assert_true(isnan(rates.iterations_per_epoch) && isnan(rates.epoch_time_s));
    fr_job_free(&job);
}

#define TABLE                                                                                  \
    "model.iterations={\"width\": 32, \"layers\": 4, \"sequence\": 32, \"global_batch\": 16, " \
    "\"source\": \"us\", \"table\": [{\"method\": \"tensor\", \"iterations\": 200}, "          \
    "{\"method\": "                                                                            \
    "\"tensor\", \"tp\": 1, \"plan\": {\"pp\": 2, \"micro_batch\": 2, "                        \
    "\"compression.backward.scope\": \"all\", \"compression.backward.rank\": 2}, "             \
    "\"iterations\": 400}]}"

/* The effect of compression on learning holds for the codec, rank, scope and stages it was measured with. */
static void rows_that_name_a_plan(void **state) {
    static const struct {
        const char *sets[4];
        double iterations; /* 0: unknown */
    } cases[] = {
        {{"pp=2"}, 200},
        {{"dp=2", "pp=1"}, 200},
        {{"pp=2", "compression.backward.scope=all", "compression.backward.rank=2"}, 400},
        {{"pp=2", "compression.backward.scope=all", "compression.backward.rank=4"}, 0},
        {{"pp=2", "compression.backward.scope=epilogue", "compression.backward.rank=2"}, 0},
        {{"pp=4", "compression.backward.scope=all", "compression.backward.rank=2"}, 0},
        {{"pp=2", "compression.backward.scope=all", "compression.backward.rank=2",
          "compression.backward.lazy_error=false"},
         0},
        {{"pp=2", "compression.backward.scope=all", "compression.backward.rank=2",
          "micro_batch=4"},
         0},
        {{"pp=2", "model.sequence=64"}, 0},
        {{"pp=2", "global_batch=32"}, 0},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *sets[6] = {TABLE};
        struct fr_job job;
        struct fr_outcome out;
        for (int j = 0; j < 4 && cases[i].sets[j]; j++) sets[j + 1] = cases[i].sets[j];
        fr_test_job("a100-hdr", "gpt-tiny", sets, &job);
        fr_cost(&job, &job.plan, &out);
        double got = isfinite(out.iterations) ? out.iterations : 0;
        FR_TRUE(got == cases[i].iterations, "case %zu: got %g, want %g", i, got,
                cases[i].iterations);
        fr_job_free(&job);
    }
}

static void rows_that_name_no_plan_are_refused(void **state) {
    static const char *const rows[][2] = {
        {"{\"tp\": 2}", "unknown key"},
        {"{\"stage_layers\": [1, 3]}", "unknown key"},
        {"{\"compression.backward.rank\": 0}", "rank"},
        {"{\"compression.backward.scope\": \"some\"}", "some"},
        {"7", "object"}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char set[300];
        snprintf(set, sizeof set,
                 "model.iterations={\"table\": [{\"method\": \"tensor\", \"plan\": %s, "
                 "\"iterations\": 1}]}",
                 rows[i][0]);
        struct fr_error err = fr_test_refused("a100-hdr", "gpt-tiny", set);
        FR_TRUE(strstr(err.detail, rows[i][1]) || strstr(err.where, rows[i][1]),
                "%s: got \"%s: %s\"", rows[i][0], err.where, err.detail);
    }
}

/* ---- laws -------------------------------------------------------------------------------------- */

static double nu_of(const char *model, const char *const *plan, fr_iterations_origin *origin) {
    const char *sets[12] = {model};
    struct fr_job job;
    struct fr_outcome out;
    int n = 1;
    while (plan && *plan) sets[n++] = *plan++;
    sets[n] = NULL;
    fr_test_job("frontier", "ffn-16384", sets, &job);
    fr_cost(&job, &job.plan, &out);
    *origin = out.iterations_origin;
    fr_job_free(&job);
    return out.iterations;
}

/* nu(B) = S (1 + 100 / B): at 50 three S, at 100 two, at 200 one and a half. */
static void a_law_of_batches(void **state) {
    static const char model[] =
        "model.iterations={\"global_batch\": 100, \"laws\": [{\"along\": \"batch\", "
        "\"critical_batch\": 100, \"from\": 50, \"to\": 200}], \"table\": [{\"method\": "
        "\"tensor\", \"iterations\": 40}]}";
    static const struct {
        const char *batch;
        double nu;
    } cases[] = {{"global_batch=100", 40},
                 {"global_batch=50", 60},
                 {"global_batch=200", 30},
                 {"global_batch=49", NAN},
                 {"global_batch=201", NAN}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *plan[] = {cases[i].batch, NULL};
        fr_iterations_origin origin;
        double nu = nu_of(model, plan, &origin);
        if (isnan(cases[i].nu))
            FR_TRUE(isnan(nu) && origin == FR_ITERATIONS_UNKNOWN, "%s: %g", cases[i].batch, nu);
        else
            FR_NEAR(nu, cases[i].nu, 1e-12);
        if (i == 1) assert_int_equal(origin, FR_ITERATIONS_LAW);
    }
}

/* 1000 / sqrt(k) p between what it was fitted to; a row goes before it; another method has none. */
static void a_law_of_ghosts(void **state) {
    static const char model[] =
        "model.iterations={\"laws\": [{\"along\": \"ghost\", \"method\": \"phantom\", "
        "\"iterations\": 1000, \"ghost_power\": -0.5, \"tp_power\": 1, \"from\": 4, \"to\": "
        "64, "
        "\"tp_from\": 2, \"tp_to\": 8}], \"table\": [{\"method\": \"phantom\", \"tp\": 4, "
        "\"ghost\": 4, \"iterations\": 77}]}";
    static const struct {
        const char *plan[4];
        double nu;
    } cases[] = {{{"method=phantom", "tp=4", "ghost=4"}, 77},
                 {{"method=phantom", "tp=4", "ghost=16"}, 1000},
                 {{"method=phantom", "tp=8", "ghost=64"}, 1000},
                 {{"method=phantom", "tp=2", "ghost=4"}, 1000},
                 {{"method=phantom", "tp=16", "ghost=16"}, NAN},
                 {{"method=phantom", "tp=4", "ghost=2"}, NAN},
                 {{"method=tensor", "tp=4"}, NAN}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        fr_iterations_origin origin;
        double nu = nu_of(model, cases[i].plan, &origin);
        if (isnan(cases[i].nu))
            FR_TRUE(isnan(nu), "%s %s: %g", cases[i].plan[1], cases[i].plan[2], nu);
        else
            FR_NEAR(nu, cases[i].nu, 1e-12);
    }
}

/* exp(ln 4 s) times the iterations without: of a batch of four micro-batches on two stages the epilogue is one of
 * four messages.  Nothing is known of another rank, or with gradients coded besides. */
static void a_law_of_shares(void **state) {
    static const char model[] =
        "model.iterations={\"laws\": [{\"along\": \"backward\", \"slope\": 1.3862943611198906, "
        "\"from\": 0, \"to\": 1, \"plan\": {\"compression.backward.rank\": 8, \"pp\": 2}}], "
        "\"table\": [{\"method\": \"tensor\", \"iterations\": 100}]}";
    static const struct {
        const char *plan[7];
        double nu;
    } cases[] = {{{"pp=2", "micro_batch=113"}, 100},
                 {{"pp=2", "micro_batch=113", "compression.backward.scope=all",
                   "compression.backward.rank=8"},
                  400},
                 {{"pp=2", "micro_batch=113", "compression.backward.scope=epilogue",
                   "compression.backward.rank=8"},
                  141.4213562373095},
                 {{"pp=2", "micro_batch=113", "compression.backward.scope=all",
                   "compression.backward.rank=4"},
                  NAN},
                 {{"pp=2", "dp=2", "micro_batch=113", "compression.backward.scope=all",
                   "compression.backward.rank=8", "compression.gradient.stages=1"},
                  NAN}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        fr_iterations_origin origin;
        double nu = nu_of(model, cases[i].plan, &origin);
        if (isnan(cases[i].nu))
            FR_TRUE(isnan(nu), "case %zu: %g", i, nu);
        else
            FR_NEAR(nu, cases[i].nu, 1e-12);
    }
}

/* A law for whatever plan is one of backward messages alone, too. */
static void a_law_of_shares_of_any_plan(void **state) {
    static const char model[] =
        "model.iterations={\"laws\": [{\"along\": \"backward\", \"slope\": 1.3862943611198906, "
        "\"from\": 0, \"to\": 1}], \"table\": [{\"method\": \"tensor\", \"iterations\": 100}]}";
    const char *plan[7] = {"pp=2", "dp=2", "micro_batch=113", "compression.backward.scope=all",
                           "compression.backward.rank=8"};
    fr_iterations_origin origin;
    (void)state;
    FR_NEAR(nu_of(model, plan, &origin), 400, 1e-12);
    plan[5] = "compression.gradient.stages=1";
    FR_TRUE(isnan(nu_of(model, plan, &origin)), "known of both");
}

static void laws_that_are_none(void **state) {
    static const char *const sets[] = {
        "model.iterations={\"laws\": [{\"along\": \"width\", \"from\": 1, \"to\": 2}], "
        "\"table\": "
        "[{\"method\": \"tensor\", \"iterations\": 1}]}",
        "model.iterations={\"laws\": [{\"along\": \"batch\", \"critical_batch\": 3, \"from\": "
        "9, "
        "\"to\": 2}], \"table\": [{\"method\": \"tensor\", \"iterations\": 1}]}",
        "model.iterations={\"laws\": [{\"along\": \"backward\", \"from\": 0, \"to\": 1}], "
        "\"table\": [{\"method\": \"tensor\", \"iterations\": 1}]}",
        "model.iterations={\"laws\": [{\"along\": \"ghost\", \"from\": 1, \"to\": 9}], "
        "\"table\": [{\"method\": \"tensor\", \"iterations\": 1}]}"};
    static const char *const says[] = {"along", "to", "slope", "method"};
    (void)state;
    for (size_t i = 0; i < sizeof sets / sizeof *sets; i++) {
        struct fr_error err = fr_test_refused("frontier", "ffn-16384", sets[i]);
        FR_TRUE(strstr(err.where, says[i]) || strstr(err.detail, says[i]), "%s: %s %s", sets[i],
                err.where, err.detail);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(rows_that_name_a_plan),
                                       cmocka_unit_test(rows_that_name_no_plan_are_refused),
                                       cmocka_unit_test(a_law_of_batches),
                                       cmocka_unit_test(a_law_of_ghosts),
                                       cmocka_unit_test(a_law_of_shares),
                                       cmocka_unit_test(a_law_of_shares_of_any_plan),
                                       cmocka_unit_test(laws_that_are_none),
                                       cmocka_unit_test(table1),
                                       cmocka_unit_test(measured_for_one_network),
                                       cmocka_unit_test(along_ghost_at_one_p),
                                       cmocka_unit_test(between_the_nearest_rows),
                                       cmocka_unit_test(one_number_is_for_all),
                                       cmocka_unit_test(from_a_file),
                                       cmocka_unit_test(compressed),
                                       cmocka_unit_test(epochs)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
