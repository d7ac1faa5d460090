/* Every method over every kind of layer keeps the laws of methods.h, and methods that are wrong on
 * purpose do not. */
#include "models/job/job.h"
#include "models/work/method.h"
#include "tests/laws/methods.h"

typedef bool visit_layer(const struct law_layer *c, void *context);

static void load(const char *model, struct fr_job *job) {
    struct fr_job_names names = {.cluster = "lassen", .model = model};
    struct fr_error err = {0};
    if (fr_job_load(&names, job, &err) != FR_OK) fail_msg("%s: %s", err.where, err.detail);
}

/* Every mesh on which @p method accepts a layer of @p job; false as soon as @p visit is. */
static bool walk_shards(const struct fr_method *method, const struct fr_job *job, int layer,
                        visit_layer *visit, void *context) {
    struct law_layer c = {
        .method = method, .workload = &job->workload, .layer = job->workload.layers[layer]};
    for (int k = 0; k < 4 * 3 * 2 * 2 * 3; k++) {
        int tp = 1 << k % 4, dp = 1 << k / 4 % 3, batch = 8 << k / 12 % 2;
        c.shard = (struct fr_shard){.tp = tp,
                                    .dp = dp,
                                    .batch = batch,
                                    .ghost = k / 24 % 2 ? 16 : 3,
                                    .common_subgrid = k / 48 == 1,
                                    .gather_all = k / 48 == 2};
        if (law_accepts(&c) && !visit(&c, context)) return false;
    }
    return true;
}

static bool traverse(const struct fr_method *method, visit_layer *visit, void *context) {
    static const char *const models[] = {"ffn-4096", "alexnet", "attention-branches"};
    bool went_on = true;
    for (size_t m = 0; m < sizeof models / sizeof *models && went_on; m++) {
        struct fr_job job;
        load(models[m], &job);
        for (int i = 0; i < job.workload.n_layers && went_on; i++)
            went_on = walk_shards(method, &job, i, visit, context);
        fr_job_free(&job);
    }
    return went_on;
}

struct tried {
    law_of_layers *law;
    struct law_why why;
    struct fr_shard shard;
    int cases;
};

static bool try_one(const struct law_layer *c, void *context) {
    struct tried *tried = context;
    tried->cases++;
    tried->shard = c->shard;
    return tried->law(c, &tried->why);
}

static void every_method_keeps_them(void **state) {
    (void)state;
    for (const struct fr_method *const *m = fr_methods; *m; m++)
        for (size_t k = 0; k < sizeof laws_of_layers / sizeof *laws_of_layers; k++) {
            struct tried tried = {.law = laws_of_layers[k].holds};
            if (!traverse(*m, try_one, &tried))
                fail_msg("%s, %s, tp %g dp %g batch %g ghost %g: %s", (*m)->name,
                         laws_of_layers[k].name, tried.shard.tp, tried.shard.dp,
                         tried.shard.batch, tried.shard.ghost, tried.why.text);
            FR_TRUE(tried.cases >= 20, "%s: %d cases", (*m)->name, tried.cases);
        }
}

/* ---- methods that are wrong on purpose -------------------------------------------------------- */

static const struct fr_method *right; /* what the wrong one is made of */
static void (*spoil)(const struct fr_layer *layer, const struct fr_shard *shard,
                     struct fr_rank_work *work);

/* All operations of a pass, `factor` as often. */
static void each_of(struct fr_rank_work *w, fr_pass_kind pass, double factor) {
    for (int i = 0; i < w->n_ops; i++)
        if (w->op[i].pass == pass) w->op[i].times *= factor;
}

static fr_reasons wrong_check(const struct fr_work_part *part) { return right->check(part); }
static void wrong_layer(const struct fr_work_part *part, struct fr_rank_work *work) {
    right->lower(part, work);
    spoil(part->layer, &part->shard, work);
}

#define SPOIL(name, ...)                                                                       \
    static void name(const struct fr_layer *layer, const struct fr_shard *shard,               \
                     struct fr_rank_work *w) {                                                 \
        (void)layer;                                                                           \
        (void)shard;                                                                           \
        __VA_ARGS__;                                                                           \
    }
SPOIL(seventh_of_the_flop, test_scale_products(w, 1. / 7))
SPOIL(fifth_of_the_parameters, w->parameters /= 5, w->parameters_mean /= 5,
      w->parameters_rank /= 5)
SPOIL(a_fifth_on_a_rank, w->parameters_mean /= 5, w->parameters_rank /= 5)
SPOIL(no_activations, w->activation_B = 0)
SPOIL(nothing_beside_products, test_scale(w, FR_WORK_TRAFFIC, 0))
SPOIL(no_weight_gradient, each_of(w, FR_PASS_WEIGHT, 0))
SPOIL(cheap_weight_gradient, each_of(w, FR_PASS_WEIGHT, 0.5))
SPOIL(one_launch, test_scale(w, FR_WORK_KERNELS, 0.01))
SPOIL(gradients_twice, each_of(w, FR_PASS_ONCE, 2))
SPOIL(no_gradients, each_of(w, FR_PASS_ONCE, 0))
SPOIL(no_exchange, test_scale(w, FR_WORK_COLLECTIVE, 0))
SPOIL(no_buffer, w->working_B = 0)
SPOIL(activations_grow_with_ranks, w->activation_B *= shard->tp * shard->tp * shard->dp)
SPOIL(flop_of_one_sample, test_scale_products(w, 1 / shard->batch))
SPOIL(activations_of_one_sample, w->activation_B /= shard->batch)
SPOIL(state_of_the_batch, w->parameters *= shard->batch)
SPOIL(activations_of_any_width, w->activation_B = 1e9 * shard->batch)
SPOIL(the_issue, seventh_of_the_flop(layer, shard, w); fifth_of_the_parameters(layer, shard, w);
      no_activations(layer, shard, w))

static const struct {
    const char *wrong;
    void (*spoil)(const struct fr_layer *, const struct fr_shard *, struct fr_rank_work *);
    const char *law; /* one that refuses it */
} wrongs[] = {
#define WRONG(spoil, law)                                                                      \
    { #spoil, spoil, law }
    WRONG(the_issue, "flop"),
    WRONG(the_issue, "parameters"),
    WRONG(the_issue, "activations"),
    WRONG(seventh_of_the_flop, "flop"),
    WRONG(fifth_of_the_parameters, "parameters"),
    WRONG(a_fifth_on_a_rank, "parameters"),
    WRONG(no_activations, "activations"),
    WRONG(nothing_beside_products, "activations"),
    WRONG(no_weight_gradient, "passes"),
    WRONG(cheap_weight_gradient, "passes"),
    WRONG(one_launch, "passes"),
    WRONG(gradients_twice, "gradients"),
    WRONG(no_gradients, "gradients"),
    WRONG(no_exchange, "exchange"),
    WRONG(no_buffer, "exchange"),
    WRONG(activations_grow_with_ranks, "ranks"),
    WRONG(flop_of_one_sample, "growth"),
    WRONG(activations_of_one_sample, "growth"),
    WRONG(state_of_the_batch, "growth"),
    WRONG(activations_of_any_width, "growth"),
};

static law_of_layers *law_named(const char *name) {
    for (size_t k = 0; k < sizeof laws_of_layers / sizeof *laws_of_layers; k++)
        if (strcmp(laws_of_layers[k].name, name) == 0) return laws_of_layers[k].holds;
    fail_msg("no law %s", name);
    return NULL;
}

/* Each in the guise of a method that is exact, and of one that is not. */
static void wrong_methods_are_refused(void **state) {
    (void)state;
    for (int exact = 0; exact < 2; exact++)
        for (size_t k = 0; k < sizeof wrongs / sizeof *wrongs; k++) {
            const struct fr_method wrong = {.name = exact ? "wrong" : "phantom",
                                            .exact = exact,
                                            .uses_ghost = !exact,
                                            .check = wrong_check,
                                            .lower = wrong_layer};
            struct tried tried = {.law = law_named(wrongs[k].law)};
            right = exact ? &fr_method_tensor : &fr_method_phantom;
            spoil = wrongs[k].spoil;
            FR_TRUE(!traverse(&wrong, try_one, &tried), "%s as %s passes the law of %s",
                    wrongs[k].wrong, wrong.name, wrongs[k].law);
        }
}

/* Not exact, and without a formula of its own: refused before anything is compared. */
static void a_method_without_a_formula_is_refused(void **state) {
    (void)state;
    struct fr_method stranger = fr_method_tensor;
    struct tried tried = {.law = law_layer_flop};
    stranger.name = "stranger";
    stranger.exact = false;
    assert_false(traverse(&stranger, try_one, &tried));
    assert_non_null(strstr(tried.why.text, "own_weights"));
}

/* The laws' own arithmetic, by hand: 64 -> 64 with biases on 4 ranks, 8 samples, 2 ghost neurons. */
static void by_hand(void **state) {
    (void)state;
    struct fr_workload workload = {.dtype = FR_FP32,
                                   .gradient_dtype = FR_FP32,
                                   .weight_dtype = FR_FP32,
                                   .optimizer_state_B = 8};
    struct law_layer c = {.method = &fr_method_phantom,
                          .workload = &workload,
                          .layer = fr_layer_fully_connected(64, 64, true, 1),
                          .shard = {.tp = 4, .dp = 1, .batch = 8, .ghost = 2}};
    /* n^2/p + k n p + n = 1024 + 512 + 64 */
    assert_true(law_work(&c).parameters == 1600);
    assert_true(law_weights(&c) == 1536);
    assert_true(law_sum(&c).flop * 4 == 6 * 8 * 1536);
    c.method = &fr_method_tensor;
    assert_true(law_work(&c).parameters == 64 * 64 + 64);
    assert_true(law_sum(&c).flop * 4 == 6 * 8 * 64 * 64);
    assert_true(law_layer_memory_B(&c) == 1040 * 16 + 8 * (64 + 16) * 4);
}

/* Either side that the ranks do not divide is refused by who needs it divided, and says so. */
static void widths_that_do_not_divide(void **state) {
    (void)state;
    const struct fr_shard shard = {.tp = 4, .dp = 1, .batch = 8, .ghost = 2};
    const struct fr_layer sides[] = {fr_layer_fully_connected(64, 64, true, 1),
                                     fr_layer_fully_connected(64, 62, true, 1),
                                     fr_layer_fully_connected(62, 64, true, 1)};
    const bool phantom[] = {false, true, true}, tensor[] = {false, true, false};
    struct fr_work_part part = {.layer = &sides[0], .shard = shard};
    for (int i = 0; i < 3; i++) {
        part.layer = &sides[i];
        assert_int_equal(fr_method_phantom.check(&part),
                         phantom[i] ? FR_BECAUSE(FR_REASON_WIDTH) : 0);
        assert_int_equal(fr_method_tensor.check(&part),
                         tensor[i] ? FR_BECAUSE(FR_REASON_WIDTH) : 0);
    }
    part.layer = &sides[0];
    part.shard.ghost = 12; /* Eq. 8: k < 64 / 4 (1 - 1 / 4) */
    assert_int_equal(fr_method_phantom.check(&part), FR_BECAUSE(FR_REASON_GHOST_EQ8));
    part.shard.ghost = 0;
    assert_int_equal(fr_method_phantom.check(&part), FR_BECAUSE(FR_REASON_GHOST));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_method_keeps_them), cmocka_unit_test(wrong_methods_are_refused),
        cmocka_unit_test(a_method_without_a_formula_is_refused),
        cmocka_unit_test(widths_that_do_not_divide), cmocka_unit_test(by_hand)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
