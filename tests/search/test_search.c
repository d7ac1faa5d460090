/* The search against brute force over the same space, whatever the number of threads. */
#include "search/search.h"

#include "base/clock.h"
#include "tests/job.h"

struct search {
    struct fr_job job;
    struct fr_space space;
    struct fr_search_result result;
};

static void start(struct search *s, const char *cluster, const char *model,
                  const char *const *sets, const char *ranks, const char *const *vary,
                  int n_vary, bool dp_set, bool tp_set) {
    struct fr_error err = {0};
    fr_test_job(cluster, model, sets, &s->job);
    if (fr_space_make(ranks, vary, n_vary, &s->job.plan, dp_set, tp_set, NULL, &s->space,
                      &err) != FR_OK)
        fail_msg("%s: %s", err.where, err.detail);
}

static void run(struct search *s, const struct fr_search_options *o) {
    struct fr_error err = {0};
    double begun_s = fr_now_s();
    if (fr_search(&s->job, &s->space, o, &s->result, &err) != FR_OK) fail_msg("%s", err.detail);
    double took_s = fr_now_s() - begun_s; /* and what the search says of itself lies in it */
    FR_TRUE(s->result.elapsed_s > 0 && s->result.elapsed_s <= took_s, "%g of %g s",
            s->result.elapsed_s, took_s);
}

static void end(struct search *s) {
    fr_search_result_free(&s->result);
    fr_space_free(&s->space);
    fr_job_free(&s->job);
}

static void against_brute_force(struct search *s, const struct fr_search_options *o) {
    int64_t evaluated = 0, feasible = 0, best = -1;
    double least = INFINITY;
    fr_ranking by = s->result.by;
    for (int64_t i = 0; i < s->space.size; i++) {
        struct fr_outcome out;
        if (!fr_search_evaluate(&s->job, &s->space, o, by, i, &out)) continue;
        evaluated++;
        if (out.reasons) continue;
        feasible++;
        double value = fr_objective_value(o->objective, by, &out);
        if (value < least) least = value, best = i;
    }
    assert_int_equal(s->result.evaluated, evaluated);
    assert_int_equal(s->result.feasible, feasible);
    assert_int_equal(s->result.infeasible, evaluated - feasible);
    assert_true(feasible > 0 && s->result.top.count > 0);
    assert_int_equal(s->result.top.items[0].index, best);
    for (size_t i = 1; i < s->result.top.count; i++)
        assert_true(fr_objective_value(o->objective, by, &s->result.top.items[i - 1].outcome) <=
                    fr_objective_value(o->objective, by, &s->result.top.items[i].outcome));
}

/* Time and energy of an iteration, or of a sample of it where batches differ. */
static struct fr_outcome ranked(const struct search *s, struct fr_outcome out) {
    double samples = s->result.by == FR_RANK_SAMPLE ? (double)out.plan.global_batch : 1;
    out.time_s /= samples;
    out.energy_J /= samples;
    return out;
}

static bool as_good(const struct fr_outcome *a, const struct fr_outcome *b) {
    return a->time_s <= b->time_s && a->energy_J <= b->energy_J &&
           a->memory_peak_B <= b->memory_peak_B;
}

static bool dominates(const struct fr_outcome *a, const struct fr_outcome *b) {
    return as_good(a, b) && (a->time_s < b->time_s || a->energy_J < b->energy_J ||
                             a->memory_peak_B < b->memory_peak_B);
}

/* Nothing on the front is dominated; everything off it is matched by something on it. */
static void front_is_right(const struct search *s, const struct fr_search_options *o) {
    const struct fr_found_list *front = &s->result.pareto;
    for (int64_t i = 0; i < s->space.size; i++) {
        struct fr_outcome out;
        bool covered = false;
        if (!fr_search_evaluate(&s->job, &s->space, o, FR_RANK_ITERATION, i, &out) ||
            out.reasons)
            continue;
        out = ranked(s, out);
        for (size_t f = 0; f < front->count; f++) {
            const struct fr_outcome on = ranked(s, front->items[f].outcome);
            assert_false(dominates(&out, &on));
            covered = covered || front->items[f].index == i || as_good(&on, &out);
        }
        assert_true(covered);
    }
}

static const char *const vary[] = {"method=tensor,phantom,grid", "ghost=1..40", "dp=1,2,3,4",
                                   "global_batch=96,452"};

static void brute_force(void **state) {
    (void)state;
    for (int objective = FR_OBJECTIVE_TIME; objective <= FR_OBJECTIVE_EDP; objective++) {
        struct search s;
        struct fr_search_options o = {.max_lossy = 1,
                                      .objective = (fr_objective)objective,
                                      .per_iteration = true,
                                      .top = 7,
                                      .threads = 2};
        start(&s, "frontier", "ffn-16384", NULL, "4..64+4", vary, 4, false, false);
        run(&s, &o);
        against_brute_force(&s, &o);
        front_is_right(&s, &o);
        end(&s);
    }
}

static void same_for_any_threads(void **state) {
    (void)state;
    struct search a, b;
    struct fr_search_options o = {.max_lossy = 1,
                                  .objective = FR_OBJECTIVE_ENERGY,
                                  .per_iteration = true,
                                  .top = 0,
                                  .threads = 1};
    const char *many[] = {"method=tensor,phantom", "ghost=1..1000"};
    start(&a, "frontier", "ffn-16384", NULL, "2..64", many, 2, false, false);
    start(&b, "frontier", "ffn-16384", NULL, "2..64", many, 2, false, false);
    assert_true(a.space.size > 3 * 4096); /* several pieces */
    run(&a, &o);
    o.threads = 7;
    run(&b, &o);
    assert_int_equal(a.result.ranked.count, b.result.ranked.count);
    assert_int_equal(a.result.ranked.count, a.result.feasible);
    for (size_t i = 0; i < a.result.ranked.count; i++)
        assert_int_equal(a.result.ranked.items[i].index, b.result.ranked.items[i].index);
    assert_int_equal(a.result.pareto.count, b.result.pareto.count);
    for (int r = 0; r < FR_REASON_COUNT; r++)
        assert_int_equal(a.result.because[r], b.result.because[r]);
    end(&a);
    end(&b);
}

struct seen {
    const struct search *s;
    size_t n, stop_at;
    double last;
};

static bool see(void *context, size_t rank, const struct fr_outcome *out) {
    struct seen *seen = context;
    const struct fr_search_result *r = &seen->s->result;
    double value = fr_objective_value(FR_OBJECTIVE_ENERGY, true, out);
    assert_int_equal(rank, seen->n++);
    assert_true(value == r->ranked.items[rank].value && value >= seen->last);
    seen->last = value;
    return seen->n != seen->stop_at;
}

/* All that are kept are stored as a number each; their costs come back as they were. */
static void all_are_seen_in_order(void **state) {
    (void)state;
    struct search s;
    struct fr_search_options o = {
        .max_lossy = 1, .objective = FR_OBJECTIVE_ENERGY, .per_iteration = true, .threads = 3};
    const char *many[] = {"method=tensor,phantom", "ghost=1..4000"};
    start(&s, "frontier", "ffn-16384", NULL, "2..64", many, 2, false, false);
    run(&s, &o);
    size_t all = s.result.ranked.count;
    assert_true(all > 4096 + FR_SEARCH_PRICED && s.result.top.count == FR_SEARCH_PRICED);
    struct seen seen = {.s = &s}, some = {.s = &s, .stop_at = 5000};
    assert_int_equal(fr_search_each(&s.job, &s.space, &o, &s.result, see, &seen, NULL), FR_OK);
    assert_int_equal(seen.n, all);
    assert_int_equal(fr_search_each(&s.job, &s.space, &o, &s.result, see, &some, NULL), FR_OK);
    assert_int_equal(some.n, 5000);
    assert_true(sizeof *s.result.ranked.items <= 32);

    /* However many are asked for, they are the first of all. */
    struct fr_search_result whole = s.result;
    for (size_t top = 1; top < 3 * all; top = 3 * top + 2) {
        struct search few;
        o.top = top;
        start(&few, "frontier", "ffn-16384", NULL, "2..64", many, 2, false, false);
        run(&few, &o);
        assert_int_equal(few.result.ranked.count, top < all ? top : all);
        for (size_t i = 0; i < few.result.ranked.count; i++)
            assert_int_equal(few.result.ranked.items[i].index, whole.ranked.items[i].index);
        end(&few);
    }
    end(&s);
}

/* The question on Frontier: phantom, 8 ranks, 16 ghost neurons, by total energy. */
static void least_energy_to_the_loss(void **state) {
    (void)state;
    struct search s;
    struct fr_search_options o = {.max_lossy = 1, .objective = FR_OBJECTIVE_ENERGY, .top = 0};
    const char *keys[] = {"method=tensor,phantom", "ghost=2,4,6,16"};
    start(&s, "frontier", "ffn-16384", NULL, "8,16,32,64,128,256", keys, 2, false, false);
    run(&s, &o);
    const struct fr_plan *best = &s.result.top.items[0].outcome.plan;
    assert_true(best->method == &fr_method_phantom && best->tp == 8 && best->ghost == 16);
    assert_int_equal(s.result.by, FR_RANK_TOTAL);
    assert_int_equal(s.result.because[FR_REASON_ITERATIONS], 16);
    assert_int_equal(s.result.evaluated,
                     6 + 24); /* tensor once a rank count, not once a ghost */
    /* At every rank count some phantom plan needs less than tensor, as Table I has it. */
    for (size_t r = 0; r < s.space.n_ranks; r++) {
        double tensor_J = NAN, phantom_J = INFINITY;
        for (size_t i = 0; i < s.result.top.count; i++) {
            const struct fr_outcome *out = &s.result.top.items[i].outcome;
            if (out->ranks != s.space.ranks[r]) continue;
            if (out->plan.method == &fr_method_tensor)
                tensor_J = out->total_energy_J;
            else
                phantom_J = fmin(phantom_J, out->total_energy_J);
        }
        assert_true(phantom_J < tensor_J);
    }
    end(&s);
}

/* Iterations of several global batches are not one another's equals: a sample ranks them.  By an
 * iteration the smallest batch would always win, as it does less. */
static void batches_are_ranked_by_the_sample(void **state) {
    (void)state;
    for (int objective = 0; objective < 3; objective++) {
        struct search s;
        struct fr_search_options o = {.max_lossy = 1, .objective = (fr_objective)objective};
        const char *keys[] = {"global_batch=64,256,1024"},
                   *sets[] = {"cluster.device.power={\"busy\": \"400 W\", \"idle\": \"80 W\"}",
                              "tp=4", "pp=2", NULL};
        start(&s, "a100-hdr", "gpt-2.5b", sets, "32", keys, 1, false, true);
        run(&s, &o);
        assert_int_equal(s.result.by, FR_RANK_SAMPLE);
        assert_int_equal(s.result.top.count, 3);
        const struct fr_outcome *best = &s.result.top.items[0].outcome;
        assert_int_equal(best->plan.global_batch, 1024); /* fills the pipeline best */
        double share = 1.0 / 1024, time_s = best->time_s * share,
               energy_J = best->energy_J * share;
        FR_NEAR(fr_objective_value(o.objective, s.result.by, best),
                objective == 0   ? time_s
                : objective == 1 ? energy_J
                                 : time_s * energy_J,
                1e-12);
        for (size_t i = 1; i < 3; i++)
            assert_true(s.result.top.items[i].outcome.time_s < best->time_s);
        against_brute_force(&s, &o);
        end(&s);
    }
}

static void best_grid(void **state) {
    (void)state;
    struct search s;
    struct fr_search_options o = {.max_lossy = 1, .objective = FR_OBJECTIVE_TIME, .top = 3};
    const char *keys[] = {"method=grid", "tp=1..512*2"}, *sets[] = {"global_batch=2048", NULL};
    start(&s, "cori-knl", "alexnet", sets, "512", keys, 2, false, false);
    run(&s, &o);
    const struct fr_plan *best = &s.result.top.items[0].outcome.plan;
    assert_int_equal(best->tp, 4);
    assert_int_equal(best->dp, 128);
    assert_int_equal(s.result.by,
                     FR_RANK_ITERATION); /* every grid trains alike, and nobody said how long */
    double margin =
        s.result.top.items[1].outcome.time_s / s.result.top.items[0].outcome.time_s - 1;
    assert_true(margin > 0.03 && margin < 0.06);
    end(&s);
}

/* A grid for every layer is at least as fast as the best one for all, and can be had. */
static void best_grid_of_each_layer(void **state) {
    (void)state;
    struct fr_search_options o = {.max_lossy = 1, .objective = FR_OBJECTIVE_TIME, .top = 3};
    const char *keys[] = {"method=grid", "tp=1..512*2"};
    const char *sets[][3] = {{"global_batch=2048", NULL},
                             {"global_batch=2048", "layer_tp=best", NULL}};
    double time_s[2];
    for (int i = 0; i < 2; i++) {
        struct search s;
        start(&s, "cori-knl", "alexnet", sets[i], "512", keys, 2, false, false);
        run(&s, &o);
        assert_true(s.result.feasible > 0 && s.result.top.items[0].outcome.reasons == 0);
        time_s[i] = s.result.top.items[0].outcome.time_s;
        end(&s);
    }
    assert_true(time_s[1] < time_s[0]);
}

/* Stages and chunks of an order that is varied need not be said; those that are stay. */
static void an_order_says_its_mesh(void **state) {
    (void)state;
    struct fr_plan base = fr_plan_default(), plan;
    struct fr_space space;
    bool fits = false;
    const char *two[] = {"schedule=[\"F0 F1 B0 B1\",\"F0 B0 F1 B1\"]"};
    const char *chunks[] = {"schedule=[\"F0.0 F0.1 B0.1 B0.0\",\"F0.0 F0.1 B0.1 B0.0\"]"};
    for (int given = 0; given < 2; given++) {
        base.pp = given ? 2 : 1;
        assert_int_equal(fr_space_make("8", two, 1, &base, false, false, NULL, &space, NULL),
                         FR_OK);
        assert_true(fr_space_plan(&space, NULL, 0, &plan, &fits) && fits);
        assert_int_equal(plan.pp, 2);
        assert_int_equal(plan.chunks, 1);
        assert_int_equal(plan.tp, 4);
        fr_space_free(&space);
        base.chunks = given ? 2 : 1;
        assert_int_equal(fr_space_make("8", chunks, 1, &base, false, false, NULL, &space, NULL),
                         FR_OK);
        assert_true(fr_space_plan(&space, NULL, 0, &plan, &fits) && fits);
        assert_int_equal(plan.pp, 2);
        assert_int_equal(plan.chunks, 2);
        fr_space_free(&space);
        base.chunks = 1;
    }
}

/* Where stages, or chunks, are varied too the order is listed once, as the configuration that says them itself,
 * whatever the mesh. */
static void an_order_is_listed_once(void **state) {
    static const char *const two = "schedule=[\"F0 F1 B0 B1\",\"F0 B0 F1 B1\"]",
                             *const chunks =
                                 "schedule=[\"F0.0 F0.1 B0.1 B0.0\",\"F0.0 F0.1 B0.1 B0.0\"]";
    (void)state;
    for (int of = 0; of < 2; of++)
        for (int64_t dp = 1; dp <= 8; dp *= 2)
            for (int first = 0; first < 2; first++) {
                const char *other = of ? "chunks=1,2" : "pp=1,2", *order = of ? chunks : two;
                const char *given[] = {first ? order : other, first ? other : order};
                struct fr_plan base = fr_plan_default(), plan;
                struct fr_space space;
                bool fits = false;
                int listed = 0;
                base.dp = dp;
                assert_int_equal(
                    fr_space_make("16", given, 2, &base, true, false, NULL, &space, NULL),
                    FR_OK);
                for (int64_t i = 0; i < space.size; i++) {
                    if (!fr_space_plan(&space, NULL, i, &plan, &fits)) continue;
                    listed++;
                    FR_TRUE(fits && plan.pp == 2 && plan.chunks == (of ? 2 : 1) &&
                                plan.dp == dp && plan.tp == 8 / dp,
                            "%s, dp %d", other, (int)dp);
                }
                FR_TRUE(listed == 1, "%s, dp %d: %d", other, (int)dp, listed);
                fr_space_free(&space);
            }
}

/* A million millions, and no more. */
static void a_space_has_an_end(void **state) {
    (void)state;
    struct fr_plan base = fr_plan_default();
    struct fr_space space;
    const char *most[] = {"ghost=1..1000000", "micro_batch=1..1000000"};
    assert_int_equal(fr_space_make("8", most, 2, &base, false, false, NULL, &space, NULL),
                     FR_OK);
    assert_true(space.size == 1000000000000);
    fr_space_free(&space);
    struct fr_error err = {0};
    assert_int_equal(fr_space_make("8,16", most, 2, &base, false, false, NULL, &space, &err),
                     FR_ERR_USAGE);
    assert_non_null(strstr(err.detail, "2e+12 configurations"));
    fr_space_free(&space);
}

/* Every reason that was met has the first configuration with it, priced; others have none. */
static void reasons_have_examples(void **state) {
    (void)state;
    struct search s;
    struct fr_search_options o = {.max_lossy = 1, .per_iteration = true, .threads = 3};
    const char *keys[] = {"method=tensor,phantom,grid", "ghost=1..40", "dp=1,2,3,4",
                          "layer_tp=uniform,[2,2]", "micro_batch=1,3"};
    int met = 0;
    start(&s, "frontier", "ffn-16384", NULL, "4..64+4", keys, 5, false, false);
    run(&s, &o);
    for (int r = 0; r < FR_REASON_COUNT; r++) {
        const struct fr_found *example = &s.result.example[r];
        int64_t count = 0, first = -1;
        for (int64_t i = 0; i < s.space.size; i++) {
            struct fr_outcome out;
            if (!fr_search_evaluate(&s.job, &s.space, &o, s.result.by, i, &out) ||
                !(out.reasons >> r & 1))
                continue;
            if (count++ == 0) first = i;
        }
        assert_int_equal(s.result.because[r], count);
        assert_int_equal(example->index, first);
        if (first >= 0) assert_true(example->outcome.reasons >> r & 1);
        met += first >= 0;
    }
    FR_TRUE(met >= 4, "%d", met);
    end(&s);
}

static void energy_needs_power_and_memory_has_a_limit(void **state) {
    (void)state;
    struct search s;
    struct fr_search_options o = {.max_lossy = 1, .objective = FR_OBJECTIVE_ENERGY, .top = 3};
    const char *keys[] = {"method=grid", "tp=1..512*2"};
    start(&s, "cori-knl", "alexnet", NULL, "512", keys, 2, false, false);
    run(&s, &o);
    assert_int_equal(s.result.feasible, 0);
    assert_true(s.result.because[FR_REASON_POWER] > 0);
    fr_search_result_free(&s.result);
    o = (struct fr_search_options){
        .objective = FR_OBJECTIVE_TIME, .top = 3, .memory_limit_B = 200e6};
    run(&s, &o);
    assert_int_equal(s.result.top.items[0].outcome.plan.tp, 8); /* 4 x 128 needs 239 MB */
    assert_true(s.result.because[FR_REASON_MEMORY] > 0);
    end(&s);
}

/* Which axis is filled: dp when tp is given, else tp; both given must fit. */
static void mesh(void **state) {
    (void)state;
    struct fr_plan base = fr_plan_default(), plan;
    struct fr_space space;
    bool fits = false;
    const char *tp[] = {"tp=4"}, *dp[] = {"dp=3"}, *both[] = {"tp=4", "dp=2"};
    assert_int_equal(fr_space_make("24", NULL, 0, &base, false, false, NULL, &space, NULL),
                     FR_OK);
    assert_true(fr_space_plan(&space, NULL, 0, &plan, &fits) && fits && plan.tp == 24 &&
                plan.dp == 1);
    fr_space_free(&space);
    assert_int_equal(fr_space_make("24", tp, 1, &base, false, false, NULL, &space, NULL),
                     FR_OK);
    assert_true(fr_space_plan(&space, NULL, 0, &plan, &fits) && fits && plan.tp == 4 &&
                plan.dp == 6);
    fr_space_free(&space);
    assert_int_equal(fr_space_make("24", dp, 1, &base, false, false, NULL, &space, NULL),
                     FR_OK);
    assert_true(fr_space_plan(&space, NULL, 0, &plan, &fits) && fits && plan.tp == 8 &&
                plan.dp == 3);
    fr_space_free(&space);
    assert_int_equal(fr_space_make("24", both, 2, &base, false, false, NULL, &space, NULL),
                     FR_OK);
    assert_true(fr_space_plan(&space, NULL, 0, &plan, &fits) && !fits);
    fr_space_free(&space);
}

static void refuses(void **state) {
    (void)state;
    static const char *const bad[] = {"ghosts=1", "ghost",        "ghost=", "ghost=4..1",
                                      "ghost=-1", "method=tensr", "tp=1e3"};
    struct fr_plan base = fr_plan_default();
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct fr_space space;
        struct fr_error err = {0};
        FR_TRUE(fr_space_make("8", &bad[i], 1, &base, false, false, NULL, &space, &err) ==
                    FR_ERR_USAGE,
                "%s", bad[i]);
        assert_true(err.detail[0]);
        fr_space_free(&space);
    }
}

/* Who does not ask why is refused all the same, and as the caller's mistake. */
static void refusals_need_no_error(void **state) {
    static const char *const bad[] = {"dp=0", "dp=1,x", "method=none", "ghost=4..1",
                                      "nobody=1"};
    const struct fr_plan base = fr_plan_default();
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct fr_space space;
        struct fr_error err = {.status = FR_OK};
        fr_status stated =
            fr_space_make("8", &bad[i], 1, &base, false, false, NULL, &space, &err);
        fr_space_free(&space);
        FR_TRUE(stated == FR_ERR_USAGE && err.status == stated, "%s: %d, %d", bad[i], stated,
                err.status);
        assert_int_equal(
            fr_space_make("8", &bad[i], 1, &base, false, false, NULL, &space, NULL), stated);
        fr_space_free(&space);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(brute_force),
        cmocka_unit_test(same_for_any_threads),
        cmocka_unit_test(all_are_seen_in_order),
        cmocka_unit_test(least_energy_to_the_loss),
        cmocka_unit_test(batches_are_ranked_by_the_sample),
        cmocka_unit_test(best_grid),
        cmocka_unit_test(best_grid_of_each_layer),
        cmocka_unit_test(an_order_says_its_mesh),
        cmocka_unit_test(an_order_is_listed_once),
        cmocka_unit_test(a_space_has_an_end),
        cmocka_unit_test(reasons_have_examples),
        cmocka_unit_test(energy_needs_power_and_memory_has_a_limit),
        cmocka_unit_test(mesh),
        cmocka_unit_test(refuses),
        cmocka_unit_test(refusals_need_no_error)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
