/* Plans that a search does not price, or prices once for many, change nothing of its answer: every key varied,
 * bounds, and random spaces against every plan priced alone. */
#include <stdlib.h>
#include <string.h>

#include "models/outcome/bounded.h"
#include "models/outcome/cost.h"
#include "search/keep.h"
#include "search/search.h"
#include "tests/job.h"
#include "tests/plan_values.h"

struct base {
    const char *cluster, *model;
    const char *sets[8];
};

/* Plans that can be, to walk away from. */
static const struct base bases[] = {
    {"dgx-a100",
     "gpt3-175b",
     {"tp=8", "pp=8", "dp=4", "global_batch=64", "cluster.device.memory=400 GB", NULL}},
    {"a100-hdr", "gpt-2.5b", {"tp=2", "pp=4", "dp=2", "global_batch=32", NULL}},
    {"dgx-h100", "mixtral-8x7b", {"tp=4", "pp=4", "dp=4", "ep=2", "global_batch=32", NULL}},
    {"lassen", "t5-large-mod", {"tp=2", "pp=2", "dp=2", "global_batch=16", NULL}},
    {"lassen", "t5-large-mod", {"method=subgraph", "tp=2", "dp=2", "global_batch=16", NULL}},
    {"frontier", "ffn-4096", {"tp=2", "pp=2", "dp=2", "global_batch=16", NULL}},
    {"frontier", FR_SOURCE_DIR "/tests/golden/in/stages.json", {NULL}}};
enum { N_BASES = sizeof bases / sizeof *bases };

/* ---- one plan ------------------------------------------------------------------------------------ */

struct least {
    double time_s, energy_J, memory_B;
    bool asked;
};

static bool all(const void *context, struct fr_outcome *out) {
    struct least *least = *(struct least *const *)context;
    *least = (struct least){out->time_s, out->energy_J, out->memory_peak_B, true};
    return true;
}

static bool same(double a, double b) { return a == b || (isnan(a) && isnan(b)); }

static void same_outcome(const struct fr_outcome *a, const struct fr_outcome *b,
                         const char *line) {
    FR_TRUE(a->reasons == b->reasons, "%s: reasons %llx, %llx", line,
            (unsigned long long)a->reasons, (unsigned long long)b->reasons);
    FR_TRUE(same(a->time_s, b->time_s), "%s: %.17g, %.17g s", line, a->time_s, b->time_s);
    FR_TRUE(same(a->energy_J, b->energy_J), "%s: %.17g, %.17g J", line, a->energy_J,
            b->energy_J);
    FR_TRUE(same(a->total_time_s, b->total_time_s), "%s", line);
    FR_TRUE(memcmp(a->memory_B, b->memory_B, sizeof a->memory_B) == 0, "%s: memory", line);
    FR_TRUE(memcmp(a->sent_B, b->sent_B, sizeof a->sent_B) == 0, "%s: bytes", line);
    FR_TRUE(a->memory_peak_B == b->memory_peak_B, "%s: memory", line);
    FR_TRUE(a->peak_stage == b->peak_stage && a->peak_rank == b->peak_rank, "%s: fullest",
            line);
    FR_TRUE(a->lossy_gradient == b->lossy_gradient && a->lossy_backward == b->lossy_backward &&
                a->lossy_forward == b->lossy_forward,
            "%s: loss", line);
    FR_TRUE(a->break_even_gradient_B_per_s == b->break_even_gradient_B_per_s &&
                a->break_even_backward_B_per_s == b->break_even_backward_B_per_s &&
                a->break_even_forward_B_per_s == b->break_even_forward_B_per_s,
            "%s: break even", line);
    FR_TRUE(a->extrapolated == b->extrapolated && a->ranks == b->ranks, "%s", line);
    FR_TRUE(same(a->parameters, b->parameters), "%s: parameters", line);
}

/* A walk over plans, a key changed a step: what was priced before is remembered or not, as it falls. */
static void remembered_is_priced_alone(void **state) {
    (void)state;
    const int steps = fr_sample(2400, 800);
    enum { RANKS_MOST = 1024, SEATS_MOST = 8 };
    uint64_t dice = 88172645463325252u;
    for (int n = 0; n < N_BASES; n++) {
        struct fr_job job;
        fr_test_job(bases[n].cluster, bases[n].model, bases[n].sets, &job);
        struct fr_pricer *pricer = fr_pricer_make(&job);
        struct fr_plan_lists *lists = calloc((size_t)steps, sizeof *lists);
        struct fr_plan at = job.plan;
        int priced = 0, bounded = 0;
        for (int step = 0; step < steps; step++) {
            int k = (int)fr_test_random(&dice, FR_PLAN_KEYS);
            struct fr_json_document *document = NULL;
            struct fr_plan label, plan = at;
            struct fr_outcome alone, ranked;
            struct least least = {.asked = false}, *stated = &least;
            char text[160], line[FR_PLAN_LINE];
            assert_int_equal(fr_json_parse("{}", 2, "plan", &document, NULL), FR_OK);
            assert_int_equal(
                fr_json_set(document, fr_plan_keys[k].name,
                            fr_test_value(&fr_plan_keys[k], &dice, text, sizeof text), "test",
                            NULL),
                FR_OK);
            fr_status status = fr_plan_read(document, &label, &lists[step], NULL);
            fr_json_free(document);
            if (status != FR_OK) continue;
            fr_plan_key_copy(&fr_plan_keys[k], &label, &plan);
            int64_t ranks = fr_plan_ranks(&plan);
            if (plan.layer_tp_best || ranks > RANKS_MOST) continue;
            if (plan.placement.row->searches && ranks > SEATS_MOST) continue;
            if (plan.order && plan.order != at.order) plan.pp = plan.order->stages;
            fr_plan_line(&plan, 0, line, sizeof line);
            fr_cost(&job, &plan, &alone);
            fr_cost_cached(pricer, &plan, &ranked);
            same_outcome(&ranked, &alone, line);
            FR_TRUE(memcmp(ranked.part_s, alone.part_s, sizeof alone.part_s) == 0, "%s: parts",
                    line);
            fr_cost_bounded(pricer, &plan, all, &stated, &ranked);
            same_outcome(&ranked, &alone, line);
            if (isnan(alone.time_s)) continue;
            priced++;
            FR_TRUE(least.asked, "%s: nobody was asked", line);
            FR_TRUE(least.time_s <= alone.time_s, "%s: at least %.17g s, takes %.17g s", line,
                    least.time_s, alone.time_s);
            FR_TRUE(isnan(alone.energy_J) || least.energy_J <= alone.energy_J,
                    "%s: at least %.17g J, takes %.17g J", line, least.energy_J,
                    alone.energy_J);
            FR_TRUE(least.memory_B == alone.memory_peak_B, "%s: memory", line);
            bounded += least.time_s < alone.time_s && least.time_s > 0.5 * alone.time_s;
            if (fr_test_random(&dice, 3) == 0) at = plan;
        }
        FR_TRUE(priced > steps / 40, "%s: only %d priced", bases[n].model, priced);
        FR_TRUE(job.workload.n_layers > 0 || bounded > 0, "%s: no bound says anything",
                bases[n].model);
        for (int step = 0; step < steps; step++) fr_plan_lists_free(&lists[step]);
        free(lists);
        fr_pricer_free(pricer);
        fr_job_free(&job);
    }
}

/* A rank for each stage, or one for all: stages are alike, and priced once, only where they compress alike. */
static void ranks_of_stages_are_priced_alone(void **state) {
    static const char *const sets[] = {"tp=2", "pp=8", "dp=4", "global_batch=64", NULL};
    static const int64_t ranks[] = {0, 8, 64};
    enum { STAGES = 8, PLANS = 300 };
    int64_t list[PLANS][STAGES];
    uint64_t dice = 6364136223846793005u;
    struct fr_job job;
    int priced = 0;
    (void)state;
    fr_test_job("a100-hdr", "gpt-2.5b", sets, &job);
    struct fr_pricer *pricer = fr_pricer_make(&job);
    for (int n = 0; n < PLANS; n++) {
        struct fr_plan plan = job.plan;
        struct fr_outcome alone, ranked;
        struct least least = {.asked = false}, *stated = &least;
        char line[FR_PLAN_LINE];
        plan.compression.gradient_stages = 1 + (int64_t)fr_test_random(&dice, STAGES);
        for (int i = 0; i < STAGES; i++) list[n][i] = ranks[fr_test_random(&dice, 3)];
        if (fr_test_random(&dice, 4)) {
            plan.gradient_ranks = list[n];
            plan.n_gradient_ranks = (int)plan.compression.gradient_stages;
        }
        fr_plan_line(&plan, 0, line, sizeof line);
        fr_cost(&job, &plan, &alone);
        fr_cost_bounded(pricer, &plan, all, &stated, &ranked);
        same_outcome(&ranked, &alone, line);
        priced += !isnan(alone.time_s);
    }
    FR_TRUE(priced > PLANS / 2, "only %d priced", priced);
    fr_pricer_free(pricer);
    fr_job_free(&job);
}

/* ---- a space ------------------------------------------------------------------------------------- */

struct expected {
    struct fr_ranked *feasible; /* [n]: in order of rank */
    size_t n;
    int64_t evaluated, because[FR_REASON_COUNT], example[FR_REASON_COUNT];
    struct fr_outcome *front;
    int64_t *front_index;
    size_t n_front;
};

static int by_rank(const void *x, const void *y) {
    const struct fr_ranked *a = x, *b = y;
    if (a->value != b->value) return a->value < b->value ? -1 : 1;
    if (a->lossy != b->lossy) return a->lossy < b->lossy ? -1 : 1;
    return (a->index > b->index) - (a->index < b->index);
}

static void measures(fr_ranking by, const struct fr_outcome *o, double m[4]) {
    double samples = by == FR_RANK_SAMPLE ? fr_search_samples(o) : 1;
    bool total = by == FR_RANK_TOTAL;
    double energy_J = (total ? o->total_energy_J : o->energy_J) / samples;
    m[0] = (total ? o->total_time_s : o->time_s) / samples;
    m[1] = isfinite(energy_J) ? energy_J : 0;
    m[2] = o->memory_peak_B;
    m[3] = o->lossy_gradient + o->lossy_backward + o->lossy_forward;
}

/* To the twelve digits at which the same sum in another order is the same. */
static bool no_more(double x, double y) { return x <= y * (1 + 1e-12); }

static bool as_good(fr_ranking by, const struct fr_outcome *a, const struct fr_outcome *b) {
    double x[4], y[4];
    measures(by, a, x);
    measures(by, b, y);
    return no_more(x[0], y[0]) && no_more(x[1], y[1]) && no_more(x[2], y[2]) && x[3] <= y[3];
}

static void add_to_front(struct expected *e, fr_ranking by, const struct fr_outcome *out,
                         int64_t index) {
    size_t kept = 0;
    for (size_t i = 0; i < e->n_front; i++)
        if (as_good(by, &e->front[i], out)) return;
    for (size_t i = 0; i < e->n_front; i++)
        if (!as_good(by, out, &e->front[i])) {
            e->front[kept] = e->front[i];
            e->front_index[kept++] = e->front_index[i];
        }
    e->front = realloc(e->front, (kept + 1) * sizeof *e->front);
    e->front_index = realloc(e->front_index, (kept + 1) * sizeof *e->front_index);
    e->front[kept] = *out;
    e->front_index[kept] = index;
    e->n_front = kept + 1;
}

/* Every configuration priced alone, with all its parts. */
static void expect(const struct fr_job *job, const struct fr_space *space,
                   const struct fr_search_options *o, fr_ranking by, struct expected *e) {
    *e = (struct expected){.n = 0};
    memset(e->example, -1, sizeof e->example);
    e->feasible = calloc((size_t)space->size, sizeof *e->feasible);
    for (int64_t i = 0; i < space->size; i++) {
        struct fr_outcome out;
        if (!fr_search_evaluate(job, space, o, by, i, &out)) continue;
        e->evaluated++;
        for (int r = 0; r < FR_REASON_COUNT; r++)
            if (out.reasons >> r & 1) {
                e->because[r]++;
                if (e->example[r] < 0) e->example[r] = i;
            }
        if (out.reasons) continue;
        e->feasible[e->n++] = (struct fr_ranked){fr_objective_value(o->objective, by, &out),
                                                 fr_lossiness(&out), i};
        add_to_front(e, by, &out, i);
    }
    qsort(e->feasible, e->n, sizeof *e->feasible, by_rank);
}

static void as_expected(const struct fr_search_result *r, const struct expected *e, size_t top,
                        const char *label) {
    size_t listed = e->n < top ? e->n : top;
    FR_TRUE(r->evaluated == e->evaluated && r->feasible == (int64_t)e->n, "%s: counts", label);
    FR_TRUE(memcmp(r->because, e->because, sizeof e->because) == 0, "%s: reasons", label);
    for (int k = 0; k < FR_REASON_COUNT; k++)
        FR_TRUE(r->example[k].index == e->example[k], "%s: example of reason %d", label, k);
    FR_TRUE(r->ranked.count == listed, "%s: %zu listed", label, r->ranked.count);
    for (size_t i = 0; i < listed; i++)
        FR_TRUE(r->ranked.items[i].index == e->feasible[i].index &&
                    r->ranked.items[i].value == e->feasible[i].value &&
                    r->ranked.items[i].lossy == e->feasible[i].lossy,
                "%s: place %zu is %lld at %.17g, lossy %g; expected %lld at %.17g, lossy %g",
                label, i, (long long)r->ranked.items[i].index, r->ranked.items[i].value,
                r->ranked.items[i].lossy, (long long)e->feasible[i].index, e->feasible[i].value,
                e->feasible[i].lossy);
    FR_TRUE(r->pareto.count == e->n_front, "%s: %zu on the front, %zu expected", label,
            r->pareto.count, e->n_front);
    for (size_t i = 0; i < r->pareto.count; i++) {
        bool found = false;
        for (size_t k = 0; k < e->n_front && !found; k++)
            found = e->front_index[k] == r->pareto.items[i].index &&
                    e->front[k].time_s == r->pareto.items[i].outcome.time_s;
        FR_TRUE(found, "%s: %lld on the front", label, (long long)r->pareto.items[i].index);
    }
}

/* Keys of a random space, each with values that some plan can have, and now and then with any. */
static int draw_keys(uint64_t *dice, char vary[][200], double most) {
    static const struct {
        const char *text;
        double n;
    } rows[] = {{"tp=1,2,4,8", 4},
                {"pp=1,2,4,8", 4},
                {"schedule=1f1b,interleaved,zero-bubble,1f1b-double", 4},
                {"chunks=1,2,4", 3},
                {"micro_batch=1,2,4", 3},
                {"recompute=none,selective,full", 3},
                {"zero=0..3", 4},
                {"sequence_parallel=true,false", 2},
                {"overlap=none,gradient", 2},
                {"attention=plain,flash", 2},
                {"rank_order=tp-pp-dp,tp-dp-pp", 2},
                {"compression.backward.scope=none,epilogue,all", 3},
                {"compression.backward.rank=4,64", 2},
                {"compression.gradient.stages=0,1,2", 3},
                {"compression.embedding=separate,fused", 2},
                {"global_batch=32,64", 2}};
    enum { ROWS = sizeof rows / sizeof *rows };
    bool taken[ROWS] = {false};
    double size = 1;
    int n = 0;
    for (int tries = 0; tries < 40 && n < 10; tries++) {
        char text[160];
        size_t r = fr_test_random(dice, ROWS);
        int k = (int)fr_test_random(dice, FR_PLAN_KEYS);
        bool free_key = fr_test_random(dice, 12) == 0 && k > FR_PLAN_KEY_pp;
        if (free_key) {
            snprintf(vary[n], 200, "%s=%.160s", fr_plan_keys[k].name,
                     fr_test_value(&fr_plan_keys[k], dice, text, sizeof text));
            n += !strstr(vary[n], "optimised") && !strstr(vary[n], "best");
        } else if (!taken[r] && size * rows[r].n <= most) {
            taken[r] = true;
            size *= rows[r].n;
            snprintf(vary[n++], 200, "%s", rows[r].text);
        }
    }
    return n;
}

/* @return false where what was drawn is no space */
static bool try_space(uint64_t *dice, int number, int64_t *unpriced) {
    static const char *const ranks[] = {"8", "16", "64", "8,16", "4,64"};
    const struct base *base = &bases[fr_test_random(dice, N_BASES)];
    static char vary[10][200];
    const char *texts[10];
    struct fr_job job;
    struct fr_space space;
    struct fr_search_result result;
    struct expected e;
    struct fr_error err = {0};
    char label[800];
    struct fr_search_options o = {.objective = (fr_objective)fr_test_random(dice, 3),
                                  .per_iteration = fr_test_random(dice, 4) > 0,
                                  .top = 1 + fr_test_random(dice, 12),
                                  .memory_limit_B = fr_test_random(dice, 3) ? 0 : 40e9,
                                  .max_lossy = fr_test_random(dice, 3) ? 1 : 0.5,
                                  .threads = 1 + (int)fr_test_random(dice, 3)};
    fr_test_job(base->cluster, base->model, base->sets, &job);
    int n = draw_keys(dice, vary, number % 10 == 0 ? 60000 : 6000);
    for (int i = 0; i < n; i++) texts[i] = vary[i];
    snprintf(label, sizeof label, "space %d: %s, %s, %s, %s", number, base->model, vary[0],
             n > 1 ? vary[1] : "", n > 2 ? vary[2] : "");
    fr_status status = fr_space_make(ranks[fr_test_random(dice, 5)], texts, n, &job.plan, false,
                                     fr_test_random(dice, 2), NULL, &space, &err);
    FR_TRUE(status == FR_OK || status == FR_ERR_USAGE || status == FR_ERR_INPUT, "%s: %s",
            label, err.detail);
    if (status == FR_OK) {
        assert_int_equal(fr_search(&job, &space, &o, &result, NULL), FR_OK);
        expect(&job, &space, &o, result.by, &e);
        as_expected(&result, &e, o.top, label);
        *unpriced += result.unpriced;
        fr_search_result_free(&result);
        o.exhaustive = true;
        assert_int_equal(fr_search(&job, &space, &o, &result, NULL), FR_OK);
        as_expected(&result, &e, o.top, label);
        assert_int_equal(result.unpriced, 0);
        fr_search_result_free(&result);
        free(e.feasible);
        free(e.front);
        free(e.front_index);
    }
    fr_space_free(&space);
    fr_job_free(&job);
    return status == FR_OK;
}

static void spaces_as_priced_alone(void **state) {
    (void)state;
    uint64_t dice = 2463534242u;
    int64_t unpriced = 0;
    enum { SPACES = 50 };
    for (int tried = 0; tried < SPACES;) tried += try_space(&dice, tried, &unpriced);
    assert_true(unpriced > 1000);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(remembered_is_priced_alone),
                                       cmocka_unit_test(ranks_of_stages_are_priced_alone),
                                       cmocka_unit_test(spaces_as_priced_alone)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
