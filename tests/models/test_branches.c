/* Kind branches: what is read, and what method subgraph makes of it; by hand and against grid. */
#include "models/outcome/cost.h"
#include "models/work/method.h"
#include "tests/job.h"

static const char *const text =
    "{\"kind\": \"branches\", \"width\": 512, \"positions\": 64, \"repeat\": 6, "
    "\"global_batch\": 32,"
    " \"layers\": [{\"out\": 1536},"
    "  {\"branches\": 8, \"split\": \"slice\", \"join\": \"concatenation\","
    "   \"layers\": [{\"attention\": 64}]},"
    "  {\"out\": 512},"
    "  {\"branches\": 4, \"split\": \"copy\", \"join\": \"sum\","
    "   \"layers\": [{\"out\": 2048}, {\"out\": 512}]}]}";

static fr_status read(const char *model, struct fr_workload *w, struct fr_error *err) {
    struct fr_json_document *document = NULL;
    fr_status status = fr_json_parse(model, strlen(model), "model", &document, err);
    if (status == FR_OK) status = fr_workload_read(document, w, err);
    fr_json_free(document);
    return status;
}

static void layers_by_hand(void **state) {
    (void)state;
    struct fr_workload w;
    struct fr_error err = {0};
    if (read(text, &w, &err) != FR_OK) fail_msg("%s: %s", err.where, err.detail);
    assert_int_equal(w.n_layers, 36); /* six times; an attention is two layers */
    const struct fr_layer *qkv = &w.layers[0], *scores = &w.layers[1], *sum = &w.layers[2],
                          *up = &w.layers[4], *down = &w.layers[5];
    assert_true(qkv->branches == 0 && qkv->weights == 512 * 1536 && qkv->biases == 1536);
    assert_true(scores->branches == 8 && scores->weights == 0 &&
                scores->joint_in == FR_JOINT_SLICE && scores->joint_out == FR_JOINT_NONE);
    assert_true(scores->inputs == 1536 * 64 && scores->outputs == 8 * 64 * 64);
    assert_true(sum->joint_out == FR_JOINT_CONCATENATION && sum->outputs == 512 * 64);
    assert_true(up->branches == 4 && up->joint_in == FR_JOINT_SPLIT && up->inputs == 512 * 64);
    assert_true(down->joint_out == FR_JOINT_SUM && down->outputs == 4 * 512 * 64);
    assert_true(up->weights == 4 * 512 * 2048);
    fr_workload_free(&w);
}

static void load(struct fr_job *job) {
    struct fr_error err = {0};
    fr_test_job("lassen", "transformer-base", NULL, job);
    fr_workload_free(&job->workload);
    assert_int_equal(read(text, &job->workload, &err), FR_OK);
}

/* One way is data parallelism, which method grid prices as well, with P_r = 1. */
static void one_way_is_the_grid_of_one_row(void **state) {
    (void)state;
    struct fr_job job;
    struct fr_outcome a, b;
    load(&job);
    job.plan.dp = 8;
    job.plan.method = &fr_method_grid;
    fr_cost(&job, &job.plan, &a);
    job.plan.method = &fr_method_subgraph;
    fr_cost(&job, &job.plan, &b);
    FR_NEAR(b.part_s[FR_PART_COMPUTE], a.part_s[FR_PART_COMPUTE], 1e-12);
    FR_NEAR(b.part_s[FR_PART_LAUNCH], a.part_s[FR_PART_LAUNCH], 1e-12);
    FR_NEAR(b.sent_B[FR_SENT_DP], a.sent_B[FR_SENT_DP], 1e-12);
    FR_NEAR(b.parameters, a.parameters, 1e-12);
    fr_job_free(&job);
}

/* Bytes of one rank over tp: 4 ways, b = 8 samples a group, d values of a sample, six repeats.
 * Slice and concatenation send 3/4 of b/4 (1536 + 512) 64 values each way; copy and sum 3/4 of
 * b 512 64 values, each way. */
static void traffic_by_hand(void **state) {
    (void)state;
    struct fr_job job;
    struct fr_outcome out, gathered;
    load(&job);
    job.plan.method = &fr_method_subgraph;
    job.plan.tp = 4;
    job.plan.dp = 4;
    fr_cost(&job, &job.plan, &out);
    double slices = 8. / 4 * (1536 + 512) * 64, copies = 8. * 2 * 512 * 64;
    FR_NEAR(out.sent_B[FR_SENT_TP], 6 * 4 * 2 * 0.75 * (slices + copies), 1e-12);
    job.plan.gather_all = true; /* four times the bytes, of the slices alone */
    fr_cost(&job, &job.plan, &gathered);
    FR_NEAR(gathered.sent_B[FR_SENT_TP], 6 * 4 * 2 * 0.75 * (4 * slices + copies), 1e-12);
    /* Branches launch a quarter of their kernels, and two more for each joint and way. */
    double one = 12 * (1 + 8 + 8 + 1 + 4 + 4) / 2.,
           four = 12 * (1 + 2 + 2 + 1 + 1 + 1) / 2. + 16;
    FR_NEAR(out.part_s[FR_PART_LAUNCH], 6 * four * job.cluster.device.host_launch_s, 1e-12);
    assert_true(four < one);
    fr_job_free(&job);
}

static void refuses(void **state) {
    (void)state;
    static const char *const bad[] = {
        "{\"kind\": \"branches\", \"layers\": [{\"out\": 4}]}",
        "{\"kind\": \"branches\", \"width\": 4, \"layers\": []}",
        "{\"kind\": \"branches\", \"width\": 4, \"layers\": [{\"attention\": 4}]}",
        "{\"kind\": \"branches\", \"width\": 4, \"repeat\": 2, \"layers\": [{\"out\": 5}]}",
        "{\"kind\": \"branches\", \"width\": 4, \"layers\": [{\"branches\": 3, \"split\": "
        "\"slice\", \"layers\": [{\"out\": 1}]}]}",
        "{\"kind\": \"branches\", \"width\": 4, \"layers\": [{\"branches\": 2, \"layers\": "
        "[{\"branches\": 2}]}]}",
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct fr_workload w;
        struct fr_error err = {0};
        FR_TRUE(read(bad[i], &w, &err) == FR_ERR_INPUT, "%s was accepted", bad[i]);
        FR_TRUE(strncmp(err.where, "model#", 6) == 0, "%s: %s", err.where, err.detail);
        fr_workload_free(&w);
    }
    /* Methods that know nothing of branches say so. */
    struct fr_job job;
    struct fr_outcome out;
    load(&job);
    fr_cost(&job, &job.plan, &out);
    assert_int_equal(out.reasons, FR_BECAUSE(FR_REASON_LAYER));
    job.plan.method = &fr_method_subgraph;
    job.plan.tp = 8;
    fr_cost(&job, &job.plan, &out);
    assert_int_equal(out.reasons, FR_BECAUSE(FR_REASON_BRANCHES)); /* four of them */
    fr_job_free(&job);
}

/* A layer's ends exchange these bytes in a group of p ranks; backward goes the other way (a gather's is a scatter, a
 * broadcast's a sum). */
static void what_the_ends_of_a_layer_exchange(void **state) {
    static const struct {
        fr_joint joint;
        bool into;                             /* from common layers to branches */
        fr_op subgrid[2], all[2], gathered[2]; /* forward, backward */
    } rows[] = {
        {FR_JOINT_SPLIT,
         true,
         {FR_OP_BROADCAST, FR_OP_REDUCE},
         {FR_OP_ALL_GATHER, FR_OP_REDUCE_SCATTER},
         {FR_OP_ALL_GATHER, FR_OP_REDUCE_SCATTER}},
        {FR_JOINT_SUM,
         false,
         {FR_OP_REDUCE, FR_OP_BROADCAST},
         {FR_OP_REDUCE_SCATTER, FR_OP_ALL_GATHER},
         {FR_OP_REDUCE_SCATTER, FR_OP_ALL_GATHER}},
        {FR_JOINT_SLICE,
         true,
         {FR_OP_SCATTER, FR_OP_GATHER},
         {FR_OP_ALL_TO_ALL, FR_OP_ALL_TO_ALL},
         {FR_OP_ALL_GATHER, FR_OP_ALL_GATHER}},
        {FR_JOINT_CONCATENATION,
         false,
         {FR_OP_GATHER, FR_OP_SCATTER},
         {FR_OP_ALL_TO_ALL, FR_OP_ALL_TO_ALL},
         {FR_OP_ALL_GATHER, FR_OP_ALL_GATHER}},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (int how = 0; how < 3; how++) {
            const struct fr_workload w = {.dtype = FR_FP32};
            struct fr_layer layer = {.repeat = 1,
                                     .inputs = 96,
                                     .outputs = 64,
                                     .rows = 64,
                                     .positions = 1,
                                     .inner = 96,
                                     .groups = 1,
                                     .branches = 4,
                                     .weights = 64 * 96};
            const struct fr_work_part part = {.workload = &w,
                                              .layer = &layer,
                                              .shard = {.tp = 4,
                                                        .dp = 1,
                                                        .batch = 8,
                                                        .common_subgrid = how == 0,
                                                        .gather_all = how == 2}};
            static struct fr_rank_work work;
            if (rows[i].into)
                layer.joint_in = rows[i].joint;
            else
                layer.joint_out = rows[i].joint;
            fr_method_subgraph.lower(&part, &work);
            const fr_op *want = how == 0   ? rows[i].subgrid
                                : how == 1 ? rows[i].all
                                           : rows[i].gathered;
            double values = rows[i].into ? 96 : rows[i].joint == FR_JOINT_SUM ? 64 / 4. : 64;
            int n = 0;
            for (int k = 0; k < work.n_ops; k++) {
                const struct fr_operation *o = &work.op[k];
                if (o->kind != FR_WORK_COLLECTIVE || o->axis != FR_AXIS_TP) continue;
                int backward = o->pass != FR_PASS_FORWARD;
                FR_TRUE(n < 2 && o->op == want[backward], "joint %d, %d: %s %s",
                        (int)rows[i].joint, how, fr_op_names[o->op],
                        backward ? "backward" : "forward");
                FR_NEAR(o->times * o->size,
                        values * 8 * 4 / (o->op == FR_OP_ALL_TO_ALL ? 4 : 1), 1e-12);
                n++;
            }
            assert_int_equal(n, 2);
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_the_ends_of_a_layer_exchange),
        cmocka_unit_test(layers_by_hand),
        cmocka_unit_test(one_way_is_the_grid_of_one_row),
        cmocka_unit_test(traffic_by_hand),
        cmocka_unit_test(refuses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
