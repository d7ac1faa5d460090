/* Every method over a transformer's stages keeps the laws of stages.h, and methods that are wrong on
 * purpose do not. */
#include "tests/laws/stages.h"

struct tried {
    law_of_stages *law;
    struct law_why why;
    struct fr_plan plan;
    const char *model;
    int cases;
};

static bool walk_plans(const struct fr_method *method, struct law_model *c,
                       struct tried *tried) {
    for (int k = 0; k < 3 * 2 * 2 * 3 * 3; k++) {
        c->plan = c->job.plan;
        c->plan.method = method;
        c->plan.tp = 1 << k % 3;
        c->plan.pp = 1 + k / 3 % 2;
        c->plan.dp = 1 + k / 6 % 2;
        c->plan.branches = (fr_branches)(k / 12 % 3);
        c->plan.common_subgrid = k / 36 == 1;
        c->plan.sequence_parallel = k / 36 == 2;
        c->plan.attention = k % 2 ? FR_ATTENTION_FLASH : FR_ATTENTION_PLAIN;
        c->plan.ghost = 4 + 12 * (k % 2);
        c->plan.micro_batch = 4;
        c->plan.global_batch = 16;
        if (!law_stages_accepted(c)) continue;
        tried->cases++;
        tried->plan = c->plan;
        if (!tried->law(c, &tried->why)) return false;
    }
    return true;
}

static bool traverse(const struct fr_method *method, struct tried *tried) {
    static const char *const models[] = {"gpt-2", "llama-3-8b", "transformer-base"};
    const char *sets[] = {"model.vocabulary=65536", "model.dtype=fp32", "model.head_kernels=2",
                          "cluster.device.gemm.fp32.half_dim=0", NULL};
    bool went_on = true;
    for (size_t m = 0; m < sizeof models / sizeof *models && went_on; m++) {
        struct law_model c;
        tried->model = models[m];
        fr_test_job("frontier", models[m], sets, &c.job);
        went_on = walk_plans(method, &c, tried);
        fr_job_free(&c.job);
    }
    return went_on;
}

static void every_method_keeps_them(void **state) {
    (void)state;
    for (const struct fr_method *const *m = fr_methods; *m; m++)
        for (size_t k = 0; k < sizeof laws_of_stages / sizeof *laws_of_stages; k++) {
            struct tried t = {.law = laws_of_stages[k].holds};
            if (!traverse(*m, &t))
                fail_msg("%s, %s, %s, tp %d pp %d dp %d branches %d cSub %d sp %d: %s",
                         (*m)->name, t.model, laws_of_stages[k].name, (int)t.plan.tp,
                         (int)t.plan.pp, (int)t.plan.dp, t.plan.branches, t.plan.common_subgrid,
                         t.plan.sequence_parallel, t.why.text);
            FR_TRUE(t.cases >= 20, "%s: %d cases", (*m)->name, t.cases);
        }
}

/* ---- methods that are wrong on purpose -------------------------------------------------------- */

static const struct fr_method *right;
static void (*spoil)(const struct fr_plan *plan, struct fr_rank_work *work);

/* All of a pass `factor` as often; every operation of a kind once; the forward products once more in the
 * backward pass, whatever is recomputed. */
static void of_pass(struct fr_rank_work *w, fr_pass_kind pass, double factor) {
    for (int i = 0; i < w->n_ops; i++)
        if (w->op[i].pass == pass) w->op[i].times *= factor;
}
static void each_once(struct fr_rank_work *w, fr_work_kind kind) {
    for (int i = 0; i < w->n_ops; i++)
        if (w->op[i].kind == kind) w->op[i].times = 1;
}
static void repeat_forward(struct fr_rank_work *w) {
    for (int i = 0; i < w->n_ops; i++)
        if (test_is_product(&w->op[i]) && w->op[i].pass == FR_PASS_INPUT) w->op[i].times *= 2;
}
static void gather_back(struct fr_rank_work *w) {
    for (int i = 0; i < w->n_ops; i++)
        if (w->op[i].kind == FR_WORK_COLLECTIVE && w->op[i].pass == FR_PASS_INPUT &&
            w->op[i].op == FR_OP_REDUCE_SCATTER)
            w->op[i].op = FR_OP_ALL_GATHER;
}

static fr_reasons wrong_check(const struct fr_work_part *part) { return right->check(part); }
static void wrong_stage(const struct fr_work_part *part, struct fr_rank_work *work) {
    right->lower(part, work);
    spoil(part->plan, work);
}

#define SPOIL(name, ...)                                                                       \
    static void name(const struct fr_plan *plan, struct fr_rank_work *w) {                     \
        (void)plan;                                                                            \
        __VA_ARGS__;                                                                           \
    }
SPOIL(seventh_of_the_flop, test_scale_products(w, 1. / 7))
SPOIL(fifth_of_the_parameters, w->parameters /= 5; w->parameters_rank /= 5)
SPOIL(a_fifth_on_a_rank, w->parameters_rank /= 5)
SPOIL(all_on_a_rank, w->parameters_rank = w->parameters * 3)
SPOIL(no_activations, w->activation_B = 0)
SPOIL(keeps_more_when_recomputing, w->activation_B *= 1 + 9.0 * (double)plan->recompute)
SPOIL(activations_grow_with_ranks, w->activation_B *= (double)(plan->tp * plan->tp))
SPOIL(gradients_of_half, w->common_rank = -w->parameters_rank)
SPOIL(flop_of_one_sample, test_scale_products(w, 1 / (double)plan->micro_batch))
SPOIL(state_of_the_batch, w->parameters_rank *= (double)plan->micro_batch)
SPOIL(as_many_kernels_whatever_the_layers, each_once(w, FR_WORK_KERNELS))
SPOIL(activations_of_one_layer, w->activation_B = 1e12 * (double)plan->micro_batch)
SPOIL(does_everything_again_twice, repeat_forward(w))
SPOIL(nothing_again, of_pass(w, FR_PASS_AGAIN, 0))
SPOIL(no_products, test_scale_products(w, 0); test_scale(w, FR_WORK_ATTENTION, 0);
      test_scale(w, FR_WORK_TRAFFIC, 0))
SPOIL(gathers_back_what_was_gathered, gather_back(w))
SPOIL(the_issue, seventh_of_the_flop(plan, w); fifth_of_the_parameters(plan, w);
      no_activations(plan, w))

static const struct {
    const char *wrong;
    void (*spoil)(const struct fr_plan *, struct fr_rank_work *);
    const char *law;
} wrongs[] = {
#define WRONG(spoil, law)                                                                      \
    { #spoil, spoil, law }
    WRONG(the_issue, "flop"),
    WRONG(the_issue, "parameters"),
    WRONG(the_issue, "activations"),
    WRONG(seventh_of_the_flop, "flop"),
    WRONG(fifth_of_the_parameters, "parameters"),
    WRONG(a_fifth_on_a_rank, "parameters"),
    WRONG(all_on_a_rank, "parameters"),
    WRONG(no_activations, "activations"),
    WRONG(keeps_more_when_recomputing, "activations"),
    WRONG(activations_grow_with_ranks, "ranks"),
    WRONG(gradients_of_half, "gradients"),
    WRONG(flop_of_one_sample, "growth"),
    WRONG(state_of_the_batch, "growth"),
    WRONG(as_many_kernels_whatever_the_layers, "growth"),
    WRONG(activations_of_one_layer, "growth"),
    WRONG(does_everything_again_twice, "passes"),
    WRONG(nothing_again, "passes"),
    WRONG(no_products, "passes"),
    WRONG(gathers_back_what_was_gathered, "duals"),
};

static law_of_stages *law_named(const char *name) {
    for (size_t k = 0; k < sizeof laws_of_stages / sizeof *laws_of_stages; k++)
        if (strcmp(laws_of_stages[k].name, name) == 0) return laws_of_stages[k].holds;
    fail_msg("no law %s", name);
    return NULL;
}

static void wrong_methods_are_refused(void **state) {
    (void)state;
    for (int exact = 0; exact < 2; exact++)
        for (size_t k = 0; k < sizeof wrongs / sizeof *wrongs; k++) {
            const struct fr_method wrong = {.name = exact ? "wrong" : "phantom",
                                            .exact = exact,
                                            .uses_ghost = !exact,
                                            .check = wrong_check,
                                            .lower = wrong_stage};
            struct tried tried = {.law = law_named(wrongs[k].law)};
            right = exact ? &fr_method_tensor : &fr_method_phantom;
            spoil = wrongs[k].spoil;
            FR_TRUE(!traverse(&wrong, &tried), "%s as %s passes the law of %s", wrongs[k].wrong,
                    wrong.name, wrongs[k].law);
        }
}

/* The laws' own arithmetic: GPT-2 small with its own vocabulary of 50257 padded to 50304 has
 * 12 (12 h^2 + 13 h) + 50304 h + 1024 h + 2 h parameters at h = 768. */
static void by_hand(void **state) {
    (void)state;
    struct law_model c;
    struct law_why why;
    const char *sets[] = {"model.vocabulary=50304", NULL};
    fr_test_job("frontier", "gpt-2", sets, &c.job);
    c.plan = c.job.plan;
    c.plan.micro_batch = 1;
    assert_true(law_stages_sum(&c).parameters ==
                12 * (12 * 768.0 * 768 + 13 * 768) + 50304.0 * 768 + 1024.0 * 768 + 2 * 768);
    assert_true(law_small_parameters(&c.job.workload.transformer) == (12 * 13 + 2) * 768);
    assert_true(law_stages_flop(&c, &why) && law_stages_parameters(&c, &why));
    fr_job_free(&c.job);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_method_keeps_them),
                                       cmocka_unit_test(wrong_methods_are_refused),
                                       cmocka_unit_test(by_hand)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
