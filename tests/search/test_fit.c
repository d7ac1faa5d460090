/* How surely must plans fit?  Ranked plans are as sure as asked, and plans that are better but less sure are
 * reported, against all plans of the space.  A plan that is not refused ranks as without a level. */
#include <math.h>
#include <stdlib.h>

#include "models/outcome/fits/fits.h"
#include "search/blocks.h"
#include "tests/job.h"

static const struct {
    const char *cluster, *model, *ranks, *memory;
    const char *vary[6];
    int n_vary;
    fr_objective objective;
} spaces[] = {
    {"dgx-a100",
     "gpt-2.5b",
     "16",
     "cluster.device.memory=16 GB",
     {"tp=1,2,4,8", "pp=1,2,4,8,16", "micro_batch=1,2,4,8", "recompute=none,selective,full",
      "schedule=1f1b,interleaved,gpipe,zero-bubble", "zero=0..3"},
     6,
     FR_OBJECTIVE_TIME},
    {"dgx-h100",
     "llama-3-8b",
     "8",
     "cluster.device.memory=81559 MiB",
     {"tp=1,2,4,8", "pp=1,2,4,8", "micro_batch=1,2,4,8,16", "recompute=none,full", "zero=0..3"},
     5,
     FR_OBJECTIVE_ENERGY},
    {"dgx-h100",
     "mixtral-8x7b",
     "32",
     "cluster.device.memory=32 GB",
     {"tp=1,2,4,8", "ep=1,2,4,8", "pp=1,2,4", "micro_batch=1,2,4", "recompute=none,full",
      "zero=0..3"},
     6,
     FR_OBJECTIVE_TIME},
    {"dgx-h100",
     "mixtral-8x7b",
     "32",
     "cluster.device.memory=50 GB",
     {"tp=1,2,4,8", "ep=1,2,4,8", "pp=1,2,4", "micro_batch=1,2,4", "recompute=none,full",
      "zero=0..3"},
     6,
     FR_OBJECTIVE_TIME},
    {"dgx-h100",
     "llama-3-8b",
     "8",
     "cluster.device.memory=24 GB",
     {"tp=1,2,4,8", "pp=1,2,4,8", "micro_batch=1,2", "zero=0..3"},
     4,
     FR_OBJECTIVE_TIME},
    {"dgx-a100",
     "gpt-2.5b",
     "4",
     "cluster.device.memory=0 B",
     {"tp=1,2,4", "pp=1,2,4", "micro_batch=1,2", "zero=0..3"},
     4,
     FR_OBJECTIVE_TIME},
};
enum { SPACES = sizeof spaces / sizeof *spaces };

struct search {
    struct fr_job job;
    struct fr_space space;
    struct fr_search_options options;
};

static void start(int i, size_t top, double fit, struct search *s) {
    struct fr_error err = {0};
    const char *sets[] = {"runtime=megatron-bridge-26.06", spaces[i].memory, "global_batch=64",
                          NULL};
    *s = (struct search){.options = {.objective = spaces[i].objective,
                                     .top = top,
                                     .max_lossy = 1,
                                     .per_iteration = true,
                                     .threads = 2}};
    fr_search_ask_fit(&s->options, fit);
    fr_test_job(spaces[i].cluster, spaces[i].model, sets, &s->job);
    if (fr_space_make(spaces[i].ranks, spaces[i].vary, spaces[i].n_vary, &s->job.plan, false,
                      true, NULL, &s->space, &err) != FR_OK)
        fail_msg("%s: %s", err.where, err.detail);
}

static void end(struct search *s) {
    fr_space_free(&s->space);
    fr_job_free(&s->job);
}

static void find(const struct search *s, struct fr_search_result *result) {
    struct fr_error err = {0};
    if (fr_search(&s->job, &s->space, &s->options, result, &err) != FR_OK)
        fail_msg("%s", err.detail);
}

static double value_of(const struct search *s, const struct fr_search_result *r,
                       const struct fr_outcome *out) {
    return fr_objective_value(s->options.objective, r->by, out);
}

/* Every plan of the space, one by one. */
struct all {
    struct fr_outcome *out;
    int64_t *index, n;
};

static struct all everything(const struct search *s, fr_ranking by) {
    struct search any = *s;
    struct all a = {malloc((size_t)s->space.size * sizeof *a.out),
                    malloc((size_t)s->space.size * sizeof *a.index), 0};
    assert_true(a.out && a.index);
    fr_search_ask_fit(&any.options, 0);
    for (int64_t i = 0; i < s->space.size; i++) {
        if (!fr_search_evaluate(&s->job, &s->space, &any.options, by, i, &a.out[a.n])) continue;
        if (a.out[a.n].reasons) continue;
        a.index[a.n++] = i;
    }
    return a;
}

/* The best of plans whose probability lies from one on and below another; INFINITY: none. */
static double best_within(const struct search *s, const struct fr_search_result *r,
                          const struct all *a, double least, double below) {
    double best = INFINITY;
    for (int64_t i = 0; i < a->n; i++) {
        double p = fr_fits_probability(a->out[i].memory_spare);
        if (p >= least && p < below) best = fmin(best, value_of(s, r, &a->out[i]));
    }
    return best;
}

static bool near(double a, double b) { return fabs(a - b) <= 1e-9 * fabs(b); }

/* One for each band in which somebody is better than the best and all that are surer. */
static void is_stated(const struct search *s, const struct fr_search_result *r,
                      const struct all *a) {
    static const double bands[] = {0.75, 0.5, 0.25, 0};
    double least = r->ranked.count ? r->ranked.items[0].value : INFINITY,
           above = s->options.fit;
    size_t stated = r->less_sure.count;
    for (int b = 0; b < 4; b++) {
        if (bands[b] >= above) continue;
        double best = best_within(s, r, a, bands[b], above);
        above = bands[b];
        if (!(best < least * (1 - 1e-9))) continue;
        assert_true(stated > 0);
        const struct fr_outcome *out = &r->less_sure.items[--stated].outcome;
        FR_TRUE(near(value_of(s, r, out), best) && out->reasons == 0, "band %d: %g, %g", b,
                value_of(s, r, out), best);
        least = best;
    }
    FR_TRUE(stated == 0, "%zu more", stated);
}

static void against_all_plans(void **state) {
    static const double levels[] = {0.95, 0.6, 0.999};
    int stated = 0, none = 0;
    (void)state;
    for (int i = 0; i < SPACES; i++)
        for (int l = 0; l < 3; l++) {
            struct search s;
            struct fr_search_result r;
            int64_t sure = 0;
            start(i, 0, levels[l], &s);
            find(&s, &r);
            struct all a = everything(&s, r.by);
            for (int64_t k = 0; k < a.n; k++)
                sure += !(a.out[k].memory_spare < s.options.fit_spare);
            FR_TRUE(r.feasible == sure && (int64_t)r.ranked.count == sure &&
                        r.because[FR_REASON_UNSURE] == a.n - sure,
                    "space %d: %ld ranked, %ld less sure; %ld and %ld", i, (long)r.feasible,
                    (long)r.because[FR_REASON_UNSURE], (long)sure, (long)(a.n - sure));
            if (sure > 0) {
                double best = best_within(&s, &r, &a, levels[l], 2);
                if (a.out[0].memory_spare == a.out[0].memory_spare) /* it is known */
                    FR_TRUE(near(r.ranked.items[0].value, best), "space %d: %g, %g", i,
                            r.ranked.items[0].value, best);
                assert_true(r.surest.index < 0);
            } else if (a.n > 0) {
                double most = -INFINITY;
                for (int64_t k = 0; k < a.n; k++) most = fmax(most, a.out[k].memory_spare);
                assert_true(r.surest.outcome.memory_spare == most);
                none++;
            }
            is_stated(&s, &r, &a);
            stated += (int)r.less_sure.count;
            free(a.out);
            free(a.index);
            fr_search_result_free(&r);
            end(&s);
        }
    FR_TRUE(stated > 4, "%d told", stated);
    FR_TRUE(none > 0, "a surest plan was never asked for");
}

/* Short lists, in one piece and in blocks, have the head of the whole one and tell of the same plans. */
static void bounds_change_nothing(void **state) {
    (void)state;
    for (int i = 0; i < SPACES; i++) {
        struct search s, few;
        struct fr_search_result whole, cut, joined;
        struct fr_blocks b;
        struct fr_error err = {0};
        start(i, 0, 0.95, &s);
        start(i, 5, 0.95, &few);
        find(&s, &whole);
        find(&few, &cut);
        assert_int_equal(fr_blocks_open(&few.job, &few.space, &few.options, &b, &err), FR_OK);
        for (int64_t k = b.n - 1; k >= 0; k--) {
            struct fr_text line = {0};
            assert_int_equal(fr_blocks_search(&b, k, 2, &line, &err), FR_OK);
            assert_int_equal(fr_blocks_take(&b, fr_text_get(&line), &err), FR_OK);
            fr_text_free(&line);
        }
        if (fr_blocks_join(&b, &joined, &err) != FR_OK) fail_msg("%s", err.detail);
        const struct fr_search_result *other[] = {&cut, &joined};
        for (int o = 0; o < 2; o++) {
            const struct fr_search_result *r = other[o];
            FR_TRUE(r->feasible == whole.feasible && r->surest.index == whole.surest.index &&
                        r->less_sure.count == whole.less_sure.count,
                    "space %d, %d", i, o);
            for (size_t k = 0; k < r->ranked.count; k++)
                FR_TRUE(near(r->ranked.items[k].value, whole.ranked.items[k].value),
                        "space %d, %d: rank %zu", i, o, k);
            for (size_t k = 0; k < r->less_sure.count; k++)
                FR_TRUE(r->less_sure.items[k].index == whole.less_sure.items[k].index,
                        "space %d, %d: %zu", i, o, k);
        }
        fr_blocks_free(&b);
        fr_search_result_free(&whole);
        fr_search_result_free(&cut);
        fr_search_result_free(&joined);
        end(&s);
        end(&few);
    }
}

/* More certainty never makes the best better, and any is what is not refused. */
static void certainty_costs(void **state) {
    static const double levels[] = {0, 0.05, 0.3, 0.5, 0.8, 0.95, 0.999};
    (void)state;
    for (int i = 0; i < SPACES; i++) {
        double before = -INFINITY;
        for (size_t l = 0; l < sizeof levels / sizeof *levels; l++) {
            struct search s;
            struct fr_search_result r;
            start(i, 3, levels[l], &s);
            find(&s, &r);
            double best = r.ranked.count ? r.ranked.items[0].value : INFINITY;
            FR_TRUE(best >= before * (1 - 1e-12) || !isfinite(before), "space %d at %g: %g, %g",
                    i, levels[l], best, before);
            for (size_t k = 0; k < r.top.count; k++)
                FR_TRUE(!(fr_fits_probability(r.top.items[k].outcome.memory_spare) <
                          levels[l] - 1e-12),
                        "space %d at %g", i, levels[l]);
            if (l == 0) assert_int_equal(r.because[FR_REASON_UNSURE] + r.less_sure.count, 0);
            before = best;
            fr_search_result_free(&r);
            end(&s);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(against_all_plans),
        cmocka_unit_test(bounds_change_nothing),
        cmocka_unit_test(certainty_costs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
