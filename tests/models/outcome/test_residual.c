/* Networks with residual blocks and batch norm (kind cnn): published counts, and what blocks send, by hand. */
#include <math.h>

#include "models/outcome/cost.h"
#include "models/price/layers.h"
#include "tests/job.h"

static struct fr_job job_of(const char *model, const char *const *sets) {
    struct fr_job job;
    fr_test_job("cori-knl", model, sets, &job);
    return job;
}

/* torchvision.models.resnet50: num_params 25557032, GFLOPS 4.09 (multiply-adds), ResNet50_Weights.IMAGENET1K_V1.  The sum of
 * multiply-adds is also written out block by block, after Table 1 of He et al. 2016 with the stride in the 3x3. */
static void resnet_50_is_as_published(void **state) {
    static const double width[] = {64, 128, 256, 512}, side[] = {56, 28, 14, 7},
                        blocks[] = {3, 4, 6, 3};
    const char *none[] = {NULL};
    struct fr_job job = job_of("resnet-50", none);
    const struct fr_workload *w = &job.workload;
    double parameters = 0, products = 0, by_hand = 112. * 112 * 64 * 49 * 3 + 2048. * 1000;
    int convolutions = 0, adds = 0, shortcuts = 0;
    (void)state;
    for (int i = 0; i < w->n_layers; i++) {
        const struct fr_layer *l = &w->layers[i];
        parameters += l->repeat * (l->weights + l->biases);
        products += l->repeat * l->positions * l->rows * l->inner;
        convolutions += !l->fully_connected;
        adds += l->adds;
        shortcuts += l->shortcut;
    }
    for (int i = 0; i < 4; i++) {
        double in = i ? 4 * width[i - 1] : 64, c = width[i], s = side[i] * side[i],
               before = i ? 4 * s : s;
        by_hand += before * in * c + s * 9 * c * c + s * 4 * c * c + s * in * 4 * c;
        by_hand += (blocks[i] - 1) * s * (4 * c * c + 9 * c * c + 4 * c * c);
    }
    FR_NEAR(parameters, 25557032, 0);
    FR_NEAR(products, by_hand, 0);
    FR_NEAR(products, 4.09e9, 0.005 / 4.09); /* as rounded there */
    assert_int_equal(convolutions, 53);
    assert_int_equal(adds, 16);
    assert_int_equal(shortcuts, 4);
    fr_job_free(&job);
}

#define CONV(filters, kernel, more)                                                            \
    "{\"type\": \"conv\", \"filters\": " #filters ", \"kernel\": " #kernel                     \
    ", \"norm\": true" more "}"
#define NET(layers)                                                                            \
    "{\"kind\": \"cnn\", \"name\": \"small\", \"dtype\": \"fp32\", \"optimizer\": "            \
    "\"momentum\", \"global_batch\": 16, \"input\": [8, 12, 12], \"layers\": [" layers ", "    \
    "{\"type\": \"full\", \"outputs\": 4}]}"
#define PLAIN CONV(8, 3, ", \"padding\": 1") ", " CONV(16, 1, "")
#define IDENTITY                                                                               \
    NET(CONV(16, 1, "") ", {\"type\": \"residual\", \"layers\": [" CONV(                       \
        8, 3, ", \"padding\": 1") ", " CONV(16, 1, "") "], \"pool\": \"average\"}")
#define PROJECTED                                                                              \
    NET("{\"type\": \"residual\", \"layers\": [" CONV(                                         \
        8, 3,                                                                                  \
        ", \"padding\": 1, \"stride\": "                                                       \
        "2") ", " CONV(16, 1, "") "], \"shortcut\": " CONV(16, 1, ", \"stride\": 2") "}")

static struct fr_rank_work work_of(const struct fr_job *job, int entry) {
    struct fr_layers l = fr_layers_of_stage(job, &job->plan, 0);
    struct fr_rank_work work = {0};
    while (l.entry < entry && fr_layers_next(&l)) continue;
    assert_int_equal(l.entry, entry);
    fr_layers_lower(&l, &work);
    return work;
}

static double sent_B(const struct fr_rank_work *work, fr_op op, fr_axis axis,
                     fr_pass_kind pass) {
    double sum = 0;
    for (int k = 0; k < work->n_ops; k++)
        if (work->op[k].kind == FR_WORK_COLLECTIVE && work->op[k].op == op &&
            work->op[k].axis == axis && work->op[k].pass == pass)
            sum += work->op[k].times * work->op[k].size;
    return sum;
}

/* 16 samples over 2 x 2: 8 a rank.  A shortcut is added before the sum is gathered, so it costs no exchange; a mean leaves
 * one value a channel. */
static void shortcuts_exchange_nothing(void **state) {
    const char *sets[] = {"method=grid", "tp=2", "dp=2", NULL};
    const struct {
        const char *model;
        double gathered[4], reduced[4]; /* values a sample */
    } nets[] = {{IDENTITY, {16 * 144, 8 * 144, 16, 4}, {8 * 144, 16 * 144, 8 * 144, 16}},
                {PROJECTED, {8 * 36, 16 * 36, 0, 4}, {8 * 144, 8 * 36, 0, 16 * 36}}};
    (void)state;
    for (int n = 0; n < 2; n++) {
        struct fr_job job = job_of(nets[n].model, sets);
        for (int i = 0; i < 4; i++) {
            struct fr_rank_work work = work_of(&job, i);
            FR_NEAR(sent_B(&work, FR_OP_ALL_GATHER, FR_AXIS_TP, FR_PASS_FORWARD),
                    nets[n].gathered[i] * 8 * 4, 1e-12);
            FR_NEAR(sent_B(&work, FR_OP_ALL_REDUCE, FR_AXIS_TP, FR_PASS_INPUT),
                    nets[n].reduced[i] * 8 * 4, 1e-12);
        }
        fr_job_free(&job);
    }
}

/* Passes over a layer's rows: 5 with an activation, 8 more with a norm, 6 more with a sum, 2 more with a mean. */
static void traffic_is_counted(void **state) {
    const char *sets[] = {"method=grid", "dp=2", NULL};
    const double values[] = {16 * 144, 8 * 144, 16 * 144, 4},
                 passes[] = {5 + 8, 5 + 8, 5 + 8 + 6 + 2, 5},
                 kept[] = {8 * 144 + 16 * 144, 16 * 144 + 8 * 144, 8 * 144 + 16 * 144, 16 + 4},
                 projected[] = {8 * 36, 16 * 36, 16 * 36},
                 of_projected[] = {5 + 8, 5 + 8 + 6, 8},
                 kept_projected[] = {8 * 144 + 8 * 36, 8 * 36 + 16 * 36, 16 * 36};
    (void)state;
    struct fr_job job = job_of(IDENTITY, sets), other = job_of(PROJECTED, sets);
    for (int i = 0; i < 7; i++) {
        struct fr_rank_work work = i < 4 ? work_of(&job, i) : work_of(&other, i - 4);
        double moved_B = 0, value = i < 4 ? values[i] : projected[i - 4];
        for (int k = 0; k < work.n_ops; k++)
            if (work.op[k].kind == FR_WORK_TRAFFIC) moved_B += work.op[k].moved.all_B;
        FR_NEAR(moved_B, 8 * 4 * value * (i < 4 ? passes[i] : of_projected[i - 4]), 1e-12);
        FR_NEAR(work.activation_B, 8 * 4 * (i < 4 ? kept[i] : kept_projected[i - 4]), 1e-12);
    }
    fr_job_free(&job);
    fr_job_free(&other);
}

/* Only where asked, and only between replicas: mean, deviation and count of a channel forward, two sums backward. */
static void statistics_are_exchanged_where_asked(void **state) {
    static const struct {
        const char *set, *dp;
        double replicas; /* 0: nothing is exchanged */
    } rows[] = {{"model.sync_norms=false", "dp=2", 0},
                {"model.sync_norms=true", "dp=1", 0},
                {"model.sync_norms=true", "dp=2", 2},
                {"model.sync_norms=true", "dp=8", 8}};
    (void)state;
    for (int k = 0; k < 4; k++) {
        const char *sets[] = {"method=grid", "tp=2", rows[k].dp, rows[k].set, NULL};
        struct fr_job job = job_of(IDENTITY, sets);
        struct fr_rank_work work = work_of(&job, 0), last = work_of(&job, 3);
        double n = rows[k].replicas;
        FR_NEAR(sent_B(&work, FR_OP_ALL_GATHER, FR_AXIS_DP, FR_PASS_FORWARD),
                n * (2 * 8 + 1) * 4, 1e-12);
        FR_NEAR(sent_B(&work, FR_OP_ALL_REDUCE, FR_AXIS_DP, FR_PASS_INPUT),
                n > 0 ? 2 * 8 * 4 : 0, 1e-12);
        assert_true(sent_B(&last, FR_OP_ALL_GATHER, FR_AXIS_DP, FR_PASS_FORWARD) == 0);
        fr_job_free(&job);
    }
}

/* A stage that begins inside a block receives the shortcut too. */
static void stages_pass_shortcuts_on(void **state) {
    static const struct {
        const char *model, *layers;
        double values;
    } rows[] = {{IDENTITY, "stage_layers=[1,3]", 16 * 144},
                {IDENTITY, "stage_layers=[2,2]", 8 * 144 + 16 * 144},
                {IDENTITY, "stage_layers=[3,1]", 16},
                {PROJECTED, "stage_layers=[1,3]", 8 * 36 + 8 * 144},
                {PROJECTED, "stage_layers=[2,2]", 8 * 144 + 16 * 36},
                {PROJECTED, "stage_layers=[3,1]", 16 * 36}};
    (void)state;
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        const char *sets[] = {"method=grid", "pp=2", "micro_batch=4", rows[k].layers, NULL};
        struct fr_job job = job_of(rows[k].model, sets);
        struct fr_pipeline p;
        uint32_t extrapolated = 0;
        assert_int_equal(fr_pipeline_make(&job, &job.plan, &p, &extrapolated, NULL), FR_OK);
        FR_NEAR(p.stage[0].message_B, rows[k].values * 4 * 4, 1e-12);
        fr_pipeline_free(&p);
        fr_job_free(&job);
    }
}

/* Sub-graphs know nothing of norms, sums and means, so they are not priced as if there were none. */
static void sub_graphs_are_refused(void **state) {
    const char *sets[] = {"method=subgraph", "tp=2", NULL};
    const char *nets[] = {NET(CONV(8, 3, "")), IDENTITY,
                          NET("{\"type\": \"conv\", \"filters\": 8, \"kernel\": 3, \"pool\": "
                              "\"average\"}")};
    (void)state;
    for (size_t k = 0; k < sizeof nets / sizeof *nets; k++) {
        struct fr_job job = job_of(nets[k], sets);
        FR_TRUE(fr_pipeline_check(&job, &job.plan) & FR_BECAUSE(FR_REASON_LAYER), "net %zu", k);
        fr_job_free(&job);
    }
}

/* A message names what a block lacks. */
static void blocks_that_cannot_be_are_refused(void **state) {
    static const struct {
        const char *model, *says;
    } rows[] = {
        {NET("{\"type\": \"residual\", \"layers\": [" PLAIN "]}"),
         "adds 8 x 12 x 12 to 16 x 12 x 12; a \"shortcut\" convolution has to make them alike"},
        {NET("{\"type\": \"residual\", \"layers\": [{\"type\": \"full\", \"outputs\": 8}]}"),
         "a residual block holds convolutions alone"},
        {NET("{\"type\": \"residual\", \"layers\": [" CONV(
             8, 3, ", \"padding\": 1, \"pool\": \"average\"") "]}"),
         "pools inside a residual block"},
        {NET("{\"type\": \"residual\", \"layers\": []}"), "1"},
        {NET("{\"type\": \"residual\", \"repeat\": 4096, \"layers\": [" CONV(
             8, 3, ", \"padding\": 1") ", " CONV(8, 1, "") "]}"),
         "makes more than 4096 layers"},
        {NET(CONV(8, 3, ", \"pool\": \"max\"")), "average"},
        /* A key of another type says something that nothing would read. */
        {NET("{\"type\": \"full\", \"outputs\": 8, \"norm\": true}"), "unknown key"},
        {NET(CONV(8, 3, ", \"repeat\": 3")), "unknown key"},
        {NET("{\"type\": \"residual\", \"kernel\": 3, \"layers\": []}"), "unknown key"},
        {NET("{\"tpye\": \"conv\", \"filters\": 8, \"kernel\": 3}"), "did you mean \"type\"?"},
        {NET("{\"filters\": 8, \"kernel\": 3}"), "known: conv, full, residual"},
        {NET("\"conv\""), "object"},
    };
    (void)state;
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        struct fr_job_names names = {.cluster = "cori-knl", .model = rows[k].model};
        struct fr_error err = {0};
        struct fr_job job;
        assert_int_equal(fr_job_load(&names, &job, &err), FR_ERR_INPUT);
        FR_TRUE(strstr(err.detail, rows[k].says), "%s: %s", err.where, err.detail);
        fr_job_free(&job);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(resnet_50_is_as_published),
        cmocka_unit_test(shortcuts_exchange_nothing),
        cmocka_unit_test(traffic_is_counted),
        cmocka_unit_test(statistics_are_exchanged_where_asked),
        cmocka_unit_test(stages_pass_shortcuts_on),
        cmocka_unit_test(sub_graphs_are_refused),
        cmocka_unit_test(blocks_that_cannot_be_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
