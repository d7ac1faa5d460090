/* A stage between the ends does its layers' work: n layers do n times as much as one, of every kind of operation in
 * every pass; and so does its memory. */
#include "tests/laws/stages.h"

/* Counts by kind, pass, axis and collective: how often, and how much. */
enum { OPERATIONS = 32, KINDS = 16, PASSES = 8 };
struct amounts {
    double times[KINDS][PASSES][FR_AXES][OPERATIONS], all[KINDS][PASSES][FR_AXES][OPERATIONS];
    double parameters, parameters_rank, activation_B;
};

static void measure(const struct law_model *c, struct amounts *sum) {
    struct fr_rank_work w;
    *sum = (struct amounts){.parameters = 0};
    test_stage(&c->job.workload, &c->plan, 1, &w);
    for (int k = 0; k < w.n_ops; k++) {
        const struct fr_operation *o = &w.op[k];
        bool shared = o->kind == FR_WORK_COLLECTIVE;
        int axis = shared ? o->axis : 0, op = shared ? o->op : 0;
        assert_true(o->kind < KINDS && o->pass < PASSES && op < OPERATIONS);
        if (o->pass == FR_PASS_ONCE) continue; /* gradients: by what is held */
        if (shared) sum->times[o->kind][o->pass][axis][op] += o->times; /* a latency each */
        sum->all[o->kind][o->pass][axis][op] += test_amount(o);
    }
    sum->parameters = w.parameters;
    sum->parameters_rank = w.parameters_rank;
    sum->activation_B = w.activation_B;
}

/* @return how many operations there are */
static int are_n_times(const struct amounts *one, const struct amounts *more, double n) {
    int found = 0;
    FR_NEAR(more->parameters, n * one->parameters, 1e-12);
    FR_NEAR(more->parameters_rank, n * one->parameters_rank, 1e-12);
    FR_NEAR(more->activation_B, n * one->activation_B, 1e-12);
    for (int kind = 0; kind < KINDS; kind++)
        for (int pass = 0; pass < PASSES; pass++)
            for (int axis = 0; axis < FR_AXES; axis++)
                for (int op = 0; op < OPERATIONS; op++) {
                    double times = one->times[kind][pass][axis][op],
                           all = one->all[kind][pass][axis][op];
                    FR_NEAR(more->times[kind][pass][axis][op], n * times, 1e-12);
                    FR_NEAR(more->all[kind][pass][axis][op], n * all, 1e-12);
                    found += times > 0 || all > 0;
                }
    return found;
}

/* The plan is refused or keeps the law. @return cases */
static int tried(struct law_model *c) {
    static struct amounts one, more;
    if (!law_stages_accepted(c)) return 0;
    measure(c, &one);
    for (int n = 2; n <= 3; n++) {
        c->job.workload.transformer.layers = 3 * n;
        measure(c, &more);
        FR_TRUE(are_n_times(&one, &more, n) > 4, "%s: next to nothing", c->plan.method->name);
    }
    c->job.workload.transformer.layers = 3;
    return 1;
}

static void of_every_method(void **state) {
    static const char *const models[] = {"gpt-2", "llama-3-8b", "mixtral-8x7b"};
    static const fr_recompute words[] = {FR_RECOMPUTE_NONE, FR_RECOMPUTE_SELECTIVE,
                                         FR_RECOMPUTE_FULL, FR_RECOMPUTE_SAVE_QKV,
                                         FR_RECOMPUTE_SAVE_QKV_OUT};
    (void)state;
    for (size_t m = 0; m < sizeof models / sizeof *models; m++) {
        const char *sets[] = {"model.layers=3", NULL};
        struct law_model c;
        int cases = 0;
        fr_test_job("dgx-h100", models[m], sets, &c.job);
        for (const struct fr_method *const *method = fr_methods; *method; method++)
            for (int k = 0; k < 3 * 5 * 2 * 2 * 2 * 2; k++) {
                c.plan = c.job.plan;
                c.plan.method = *method;
                c.plan.pp = 3;
                c.plan.tp = 1 << k % 3;
                c.plan.recompute = words[k / 3 % 5];
                c.plan.sequence_parallel = k / 15 % 2;
                c.plan.attention = k / 30 % 2 ? FR_ATTENTION_FLASH : FR_ATTENTION_PLAIN;
                c.plan.cp = 1 + k / 60 % 2;
                c.plan.ep = 1 + k / 120 % 2;
                c.plan.dp = 2;
                c.plan.micro_batch = 2;
                c.plan.global_batch = 16;
                c.plan.ghost = 16;
                cases += tried(&c);
            }
        FR_TRUE(cases > 60, "%s: %d cases", models[m], cases);
        fr_job_free(&c.job);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(of_every_method)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
