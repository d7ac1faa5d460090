/* Coefficients from runs: what made the runs is found again; what they do not feel stays. */
#include "trust/interval.h"
#include "trust/tune_report.h"

#include <gsl/gsl_min.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "models/job/preset.h"
#include "tests/cmocka.h"
#include "trust/effects/evidence.h"
#include "trust/study.h"

enum { N = 24 };

struct fixture {
    struct fr_cluster prior;
    struct fr_runs runs;
    const struct fr_run *use[N];
};

static void make_cluster(struct fr_cluster *cluster) {
    struct fr_json_document *document = NULL;
    assert_int_equal(fr_preset_or_file_read("cluster", "dgx-a100", &document, NULL), FR_OK);
    assert_int_equal(fr_cluster_read(document, cluster, NULL), FR_OK);
    fr_json_free(document);
}

/* Runs over tp, pp and micro-batch, timed by a cluster whose efficiency is 0.6 instead of 0.8 and
 * whose node bandwidth is 1.3 times the prior's. */
static void make(struct fixture *f) {
    static struct fr_run runs[N];
    struct fr_cluster truth;
    fr_run_skip skip;
    make_cluster(&f->prior);
    truth = f->prior;
    truth.device.gemm[FR_FP16].tiles.efficiency = 0.6;
    truth.levels.level[0].rate_B_per_s *= 1.3;
    for (int i = 0; i < N; i++) {
        const struct fr_run_place place = {.where = "row"};
        struct fr_run_row row = {0};
        fr_run_row_set(&row, "id", "%d", i);
        fr_run_row_set(&row, "model", "gpt-2.5b");
        fr_run_row_set(&row, "model.dtype", "fp16");
        fr_run_row_set(&row, "plan.tp", "%d", 1 << i % 4);
        fr_run_row_set(&row, "plan.pp", "%d", 1 << i / 12);
        fr_run_row_set(&row, "plan.micro_batch", "%d", 1 << i / 4 % 3);
        fr_run_row_set(&row, "plan.global_batch", "32");
        fr_run_row_set(&row, "measured_s", "1");
        assert_int_equal(fr_run_make(&row, &place, &runs[i], &skip, NULL), FR_OK);
        runs[i].measured_s = fr_run_predict_s(&truth, &runs[i]);
        f->use[i] = &runs[i];
    }
    f->runs.count = 0;
}

static void drop(struct fixture *f) {
    for (int i = 0; i < N; i++) fr_run_free((struct fr_run *)(uintptr_t)f->use[i]);
    fr_cluster_free(&f->prior);
}

/* Every coefficient that the cluster has is known once, but what is held. */
static void stands_once(const struct fr_tune_result *r, uint32_t fixed) {
    for (int j = 0; j < fr_coefficient_count(); j++) {
        int times = 0;
        for (int k = 0; k < r->n_known; k++) times += r->index[k] == j;
        assert_int_equal(times, r->tuned[j].present && !(fixed >> j & 1));
    }
}

static void coefficients_are_found(void **state) {
    struct fixture f;
    struct fr_tune_result r;
    struct fr_error err = {0};
    const struct fr_tune_options options = {.threads = 2};
    (void)state;
    make(&f);
    if (fr_tune(&f.prior, f.use, N, &options, &r, &err) != FR_OK) fail_msg("%s", err.detail);
    stands_once(&r, 0);
    double efficiency = r.cluster.device.gemm[FR_FP16].tiles.efficiency;
    /* The prior, 0.8, and what other terms can take over keep it a little above. */
    if (fabs(efficiency / 0.6 - 1) > 0.08)
        fail_msg("efficiency: got %g, wanted 0.6", efficiency);
    if (r.mean_error > 0.005) fail_msg("mean error: got %g", r.mean_error);
    /* one node: the network is not felt, and stays */
    int network = fr_coefficient_find("network_bandwidth");
    assert_false(r.tuned[network].fitted);
    assert_true(r.tuned[network].value == r.tuned[network].prior);
    /* what the rows feel most is known better than before */
    const struct fr_tuned *t = &r.tuned[fr_coefficient_find("efficiency")];
    FR_TRUE(t->sigma < 0.5 * t->sigma_prior && t->learned > 0.75, "got %g", t->sigma);
    for (int j = 0; j < fr_coefficient_count(); j++) /* as a share of the prior's variance */
        if (r.tuned[j].known)
            FR_NEAR(1 + r.tuned[j].learned,
                    1 + fmax(0, 1 - pow(r.tuned[j].sigma / r.tuned[j].sigma_prior, 2)), 1e-12);
    drop(&f);
}

/* Rows that say an odd dimension costs nothing, or even saves: the factor ends at 1, below which
 * it has no meaning, and is described like any other. */
static void odd_stays_at_least_one(void **state) {
    struct fixture f;
    struct fr_tune_result r;
    struct fr_error err = {0};
    const struct fr_tune_options options = {.threads = 1};
    int j = fr_coefficient_find("odd");
    double gradient[FR_KNOWN_MAX];
    (void)state;
    make(&f);
    f.prior.device.gemm[FR_FP16].tiles.odd = 1.02;
    for (int i = 0; i < N; i++) {
        struct fr_run *run = (struct fr_run *)(uintptr_t)f.use[i];
        run->workload.transformer.ffn += 8; /* over tp, no multiple of 8 values */
        run->measured_s = 0.8 * fr_run_predict_s(&f.prior, run);
    }
    if (fr_tune(&f.prior, f.use, N, &options, &r, &err) != FR_OK) fail_msg("%s", err.detail);
    assert_true(r.tuned[j].fitted);
    FR_NEAR(r.tuned[j].value, 1, 1e-12);
    FR_NEAR(r.cluster.device.gemm[FR_FP16].tiles.odd, 1, 1e-12);
    assert_true(isfinite(fr_tune_gradient(&r, f.use[0], gradient)));
    drop(&f);
}

static void few_rows_move_the_efficiency_alone(void **state) {
    struct fixture f;
    struct fr_tune_result r;
    const struct fr_tune_options options = {.threads = 1};
    (void)state;
    make(&f);
    assert_int_equal(fr_tune(&f.prior, f.use, 5, &options, &r, NULL), FR_OK);
    assert_int_equal(r.n_fitted, 1);
    stands_once(&r, 0);
    assert_int_equal(r.index[0], fr_coefficient_find("efficiency"));
    drop(&f);
}

static void held_coefficients_stay(void **state) {
    struct fixture f;
    struct fr_tune_result r;
    struct fr_tune_options options = {.threads = 1};
    (void)state;
    make(&f);
    options.fixed = (uint32_t)1 << fr_coefficient_find("efficiency");
    assert_int_equal(fr_tune(&f.prior, f.use, N, &options, &r, NULL), FR_OK);
    stands_once(&r, options.fixed);
    assert_true(r.cluster.device.gemm[FR_FP16].tiles.efficiency ==
                f.prior.device.gemm[FR_FP16].tiles.efficiency);
    drop(&f);
}

/* A fixed value is certain, unless a width is given: then it adds that width, times what the run feels of it, to the
 * deviation. */
static void held_with_a_width_is_uncertain(void **state) {
    struct fixture f;
    struct fr_tune_result certain, unsure;
    double sigmas[FR_COEFFICIENT_MAX] = {0}, gradient[FR_KNOWN_MAX] = {0};
    int j = fr_coefficient_find("efficiency"), at = -1;
    struct fr_tune_options options = {.threads = 1, .fixed = (uint32_t)1 << j};
    (void)state;
    make(&f);
    assert_int_equal(fr_tune(&f.prior, f.use, N, &options, &certain, NULL), FR_OK);
    sigmas[j] = 0.3;
    options.sigmas = sigmas;
    assert_int_equal(fr_tune(&f.prior, f.use, N, &options, &unsure, NULL), FR_OK);
    assert_true(unsure.tuned[j].value == certain.tuned[j].value && !unsure.tuned[j].fitted);
    assert_int_equal(unsure.n_known, certain.n_known + 1);
    for (int k = 0; k < unsure.n_known; k++)
        if (unsure.index[k] == j) at = k;
    assert_true(at >= 0);
    gradient[at] = 0.5;
    for (int k = unsure.n_known; k < FR_KNOWN_MAX; k++) gradient[k] = 7; /* of nothing */
    double wanted = 0.5 * unsure.tuned[j].sigma;
    assert_true(unsure.tuned[j].known && !certain.tuned[j].known && wanted > 0);
    if (fabs(fr_tune_deviation(&unsure, gradient) / wanted - 1) > 1e-12)
        fail_msg("got %g, wanted %g", fr_tune_deviation(&unsure, gradient), wanted);
    drop(&f);
}

/* Folds are predicted the same whatever the number of threads, and close to the truth. */
/* A term that the fitted rows had none of is known less well, and only that. */
static void unseen_kinds_are_less_certain(void **state) {
    struct fixture f;
    struct fr_tune_result r;
    struct fr_run kinds[4];
    (void)state;
    make(&f);
    const struct fr_tune_options options = {.threads = 1};
    assert_int_equal(fr_tune(&f.prior, f.use, N, &options, &r, NULL), FR_OK);
    for (int i = 0; i < 4; i++) {
        kinds[i] = *f.use[0];
        if (i & 1) kinds[i].workload.transformer.experts = 8;
        if (i & 2) kinds[i].plan.zero = 3;
        /* the model was among the rows; and the plan, unless it divides what theirs do not */
        double wanted = sqrt(
                   pow(fr_effects_of(r.effect, 1, (const bool[]){false, i & 2, i & 2}), 2) +
                   0.01 * ((i & 1) + i / 2)),
               got = fr_tune_spread(&r, &kinds[i]);
        if (fabs(got / wanted - 1) > 1e-12)
            fail_msg("kind %d: got %g, wanted %g", i, got, wanted);
    }
    r.experts = r.sharded = true;
    /* of mixtures 1.9 times as much is missed of model and plan, and no more of releases and iterations */
    double model_error = 0;
    for (int k = 0; k < FR_EFFECTS - 2; k++)
        model_error += pow(r.effect[k] * (k <= FR_EFFECT_KIND ? 1.9 : 1), 2);
    kinds[3].workload.transformer.layers++;
    FR_NEAR(fr_tune_spread(&r, &kinds[3]), sqrt(model_error), 1e-12);
    FR_NEAR(fr_tune_own(&r, &kinds[3]),
            sqrt(model_error - pow(1.9 * r.effect[FR_EFFECT_MODEL], 2)), 1e-12);
    kinds[2].workload.transformer.layers++;
    assert_true(fr_tune_spread(&r, &kinds[2]) == r.spread);
    r.experts = r.sharded = false;
    kinds[0].workload.transformer.experts = 1,
    kinds[0].plan.zero = 1; /* neither is one of them */
    /* neither, of a model of theirs; what replicas divide is the plan's */
    FR_NEAR(fr_tune_spread(&r, &kinds[0]),
            fr_effects_of(r.effect, 1, (const bool[]){false, true, true}), 1e-15);
    FR_NEAR(fr_tune_own(&r, &kinds[0]), fr_tune_spread(&r, &kinds[0]), 1e-15);
    drop(&f);
}

/* One row of a kind is enough for it to be among them, the first as well as the last. */
static void kinds_among_the_rows_are_seen(void **state) {
    struct fixture f;
    const struct fr_tune_options options = {.threads = 1};
    (void)state;
    make(&f);
    for (int at = 0; at < N; at += N - 1)
        for (int kind = 0; kind < 4; kind++) {
            struct fr_tune_result r;
            struct fr_run *run = (struct fr_run *)(uintptr_t)f.use[at];
            const struct fr_run kept = *run;
            struct fr_transformer *t = &run->workload.transformer;
            if (kind == 1) t->experts = 4, t->experts_per_token = 1, t->expert_ffn = t->ffn;
            if (kind == 3) t->experts = 1, t->experts_per_token = 1, t->expert_ffn = t->ffn;
            if (kind == 2) run->plan.zero = 2, run->plan.dp = 2;
            run->measured_s = fr_run_predict_s(&f.prior, run);
            assert_true(isfinite(run->measured_s));
            assert_int_equal(fr_tune(&f.prior, f.use, N, &options, &r, NULL), FR_OK);
            assert_int_equal(r.rows, N);
            assert_int_equal(r.experts, kind == 1);
            assert_int_equal(r.sharded, kind == 2);
            *run = kept;
        }
    drop(&f);
}

/* Derivatives by hand: 2 % of a coefficient, and a hundredth of an operation's deviation; an interval is
 * the prediction times exp(+- stretch of all deviations). */
static void gradients_and_intervals_by_hand(void **state) {
    struct fixture f;
    struct fr_tune_result r;
    const struct fr_tune_options options = {.threads = 1};
    double g[FR_KNOWN_MAX], model_error = 0, variance = 0;
    struct fr_interval of;
    (void)state;
    make(&f);
    assert_int_equal(fr_tune(&f.prior, f.use, N, &options, &r, NULL), FR_OK);
    /* The covariance of fitted values is symmetric, and no larger for any two than for each with
     * itself. */
    assert_true(r.n_fitted > 1);
    for (int a = 0; a < r.n_fitted; a++)
        for (int b = 0; b < r.n_fitted; b++) {
            const double *c = r.covariance;
            int n = r.n_known;
            FR_TRUE(c[a * n + a] > 0, "%d: %g", a, c[a * n + a]);
            FR_NEAR(c[a * n + b], c[b * n + a], 1e-9);
            FR_TRUE(fabs(c[a * n + b]) <= sqrt(c[a * n + a] * c[b * n + b]) * (1 + 1e-9),
                    "%d, %d: %g", a, b, c[a * n + b]);
        }
    double base_s = fr_tune_gradient(&r, f.use[5], g);
    FR_NEAR(base_s, fr_run_predict_s(&r.cluster, f.use[5]), 1e-15);
    for (int k = 0; k < r.n_known; k++) {
        struct fr_cluster moved = r.cluster;
        if (r.index[k] >= FR_COEFFICIENT_MAX) continue;
        *fr_coefficients[r.index[k]].at(&moved, FR_FP16) *= exp(0.001);
        double slope = log(fr_run_predict_s(&moved, f.use[5]) / base_s) / 0.001;
        FR_TRUE(fabs(g[k] - slope) < 0.02 * fabs(slope) + 1e-3, "%s: got %g, wanted %g",
                fr_coefficients[r.index[k]].name, g[k], slope);
    }
    for (int a = 0; a < r.n_known; a++)
        for (int b = 0; b < r.n_known; b++)
            variance += g[a] * g[b] * r.covariance[a * r.n_known + b];
    for (int k = 0; k < r.n_known; k++)
        if (r.index[k] >= FR_KNOWN_SEEN) {
            const struct fr_tuning_seen *seen = &r.seen[r.index[k] - FR_KNOWN_SEEN];
            assert_true(g[k] == fr_run_is(f.use[5], seen));
            model_error += g[k] * seen->model_error;
        }
    fr_tune_interval(&r, f.use[5], &of);
    bool unknown[] = {
        false, false,
        true}; /* its model and plan were seen, and its kind where there was room */
    for (int k = 0; k < r.n_seen; k++)
        unknown[2] &= r.seen[k].what != FR_SEEN_KIND || !fr_run_is(f.use[5], &r.seen[k]);
    double left = fr_effects_of(r.effect, 1, unknown),
           half = r.stretch * sqrt(variance + left * left);
    FR_NEAR(of.model_s, base_s, 1e-15);
    FR_NEAR(of.expected_s, base_s * exp(model_error), 1e-12);
    FR_NEAR(of.low_s, of.expected_s * exp(-half), 1e-9);
    FR_NEAR(of.high_s, of.expected_s * exp(half), 1e-9);
    /* half a 90 % interval of a mixture of normals with the same variance */
    FR_TRUE(r.stretch > 1 && r.stretch < 1.66, "%g", r.stretch);
    drop(&f);
}

/* ---- how sure ------------------------------------------------------------------------------------- */

/* One coefficient by a second hand: a grid of the sizes of effects would be the same sum over nodes; here the law
 * alone.  Rows that agree with the preset leave it surer than before, more of them no less so, and not as
 * sure as if each were an opinion of its own. */
static void rows_that_agree_make_surer(void **state) {
    struct fixture f;
    double before = 1;
    (void)state;
    make(&f);
    for (int i = 0; i < N; i++) {
        struct fr_run *run = (struct fr_run *)(uintptr_t)f.use[i];
        run->measured_s = fr_run_predict_s(&f.prior, run) * exp(0.01 * (i % 5 - 2));
    }
    for (int n = 3; n <= N; n += 7) {
        const struct fr_tune_options options = {.threads = 1, .keep_unrefuted = true};
        struct fr_tune_result r;
        struct fr_interval of;
        assert_int_equal(fr_tune(&f.prior, f.use, n, &options, &r, NULL), FR_OK);
        assert_true(r.unmoved);
        fr_tune_interval(&r, f.use[N - 1], &of);
        double half = log(of.high_s / of.low_s) / 2;
        FR_TRUE(half < before * 1.05, "%d rows: %g after %g", n, half, before);
        FR_TRUE(half > 1.645 * 0.01 * sqrt(2), "%d rows of one model: %g", n, half);
        before = half;
    }
    FR_TRUE(before < 0.12, "got %g", before); /* alone: more than 0.2 */
    drop(&f);
}

/* The same rows twice, or a thousand times by weight, say little more of another model than once: a tuned file is
 * never surer than its data. */
static void repeated_rows_are_no_new_opinion(void **state) {
    struct fixture f;
    struct fr_tune_result once, often;
    const struct fr_tune_options options = {.threads = 1, .keep_unrefuted = true};
    (void)state;
    make(&f);
    for (int i = 0; i < N; i++) {
        struct fr_run *run = (struct fr_run *)(uintptr_t)f.use[i];
        run->measured_s = fr_run_predict_s(&f.prior, run) * exp(0.04 * (i % 5 - 2));
    }
    assert_int_equal(fr_tune(&f.prior, f.use, N, &options, &once, NULL), FR_OK);
    for (int i = 0; i < N; i++) ((struct fr_run *)(uintptr_t)f.use[i])->weight = 1000;
    assert_int_equal(fr_tune(&f.prior, f.use, N, &options, &often, NULL), FR_OK);
    FR_TRUE(often.spread > 0.7 * once.spread, "got %g of %g", often.spread, once.spread);
    drop(&f);
}

/* Errors of 20 % that go up and down from one plan to the next refute the cluster's values, and no coefficient predicts
 * a plan left out better than they do: nothing moves, where a fit would.  Errors that are all from an efficiency
 * of 0.4 are resolved. */
static void what_rows_do_not_resolve_stays(void **state) {
    struct fixture f;
    (void)state;
    make(&f);
    for (int scattered = 0; scattered < 2; scattered++)
        for (int keep = 0; keep < 2; keep++) {
            const struct fr_tune_options options = {.threads = 1, .keep_unrefuted = keep};
            struct fr_tune_result r;
            struct fr_cluster truth = f.prior;
            truth.device.gemm[FR_FP16].tiles.efficiency = scattered ? 0.8 : 0.4;
            for (int i = 0; i < N; i++) {
                struct fr_run *run = (struct fr_run *)(uintptr_t)f.use[i];
                int plan = i % 4 + i / 12; /* tp, and with pp the other way round */
                double off = scattered ? (plan % 2 ? 0.2 : -0.2) : 0;
                run->measured_s = fr_run_predict_s(&truth, run) * exp(off);
            }
            assert_int_equal(fr_tune(&f.prior, f.use, N, &options, &r, NULL), FR_OK);
            assert_int_equal(r.unmoved, keep && scattered);
            double efficiency = r.tuned[fr_coefficient_find("efficiency")].value;
            if (!scattered) FR_TRUE(efficiency < 0.5, "got %g", efficiency);
            if (r.unmoved) assert_true(r.n_fitted == 0);
        }
    drop(&f);
}

/* ---- models and plans that were seen -------------------------------------------------------------- */

/* Half the interval of @p run by hand: deviation of what is known and spread, over the stretch. */
static double deviation_of(const struct fr_tune_result *r, const struct fr_run *run) {
    struct fr_interval of;
    fr_tune_interval(r, run, &of);
    return log(of.high_s / of.low_s) / 2 / r->stretch;
}

/* Rows that agree with the preset order their uncertainties: a run of their model and plan is surer than one of their
 * model, that than one of a model and plan that nobody has seen, and its gain is the share of the rows: without the
 * entries of models and plans, all else as it is, each is as unsure as if it were new.  */
static void what_was_seen_is_surer(void **state) {
    struct fixture f;
    const struct fr_tune_options options = {.threads = 1, .keep_unrefuted = true};
    struct fr_tune_result r;
    (void)state;
    make(&f);
    for (int i = 0; i < N; i++) {
        struct fr_run *run = (struct fr_run *)(uintptr_t)f.use[i];
        run->measured_s = fr_run_predict_s(&f.prior, run) * exp(0.02 * (i % 5 - 2));
    }
    assert_int_equal(fr_tune(&f.prior, f.use, N, &options, &r, NULL), FR_OK);
    int models = 0, plans = 0;
    for (int k = 0; k < r.n_seen; k++) {
        models += r.seen[k].what == FR_SEEN_MODEL;
        plans += r.seen[k].what == FR_SEEN_PLAN;
    }
    assert_true(models == 1 && plans > 5);
    struct fr_run both = *f.use[5], model = both, none = both;
    model.plan.zero = none.plan.zero = 1;
    none.workload.transformer.layers += 4; /* nearly the same derivatives */
    double of_both = deviation_of(&r, &both), of_model = deviation_of(&r, &model),
           of_none = deviation_of(&r, &none);
    FR_TRUE(of_both < of_model && of_model < of_none, "%g, %g, %g", of_both, of_model, of_none);
    struct fr_tune_result unseen = r;
    unseen.n_seen = 0;
    for (int k = 0; k < r.n_known; k++)
        if (r.index[k] >= FR_KNOWN_SEEN)
            for (int a = 0; a < r.n_known; a++)
                unseen.covariance[a * r.n_known + k] = unseen.covariance[k * r.n_known + a] = 0;
    FR_TRUE(deviation_of(&unseen, &both) > of_both, "%g", of_both);
    drop(&f);
}

/* Where runs moved nothing, a plan that none of them ran is predicted as under presets: nine in ten within 1.25
 * standard deviations, not within as many as the sizes' own law says; a plan that was seen by that law; where they
 * moved something, all. */
static void what_stays_is_told_as_presets_are(void **state) {
    struct fixture f;
    struct fr_tune_options options = {.threads = 1, .keep_unrefuted = true};
    struct fr_tune_result r;
    (void)state;
    make(&f);
    for (int moved = 0; moved < 2; moved++) {
        for (int i = 0; i < N; i++) {
            struct fr_run *run = (struct fr_run *)(uintptr_t)f.use[i];
            run->measured_s = fr_run_predict_s(&f.prior, run) * exp(moved ? 0.3 : 0.02);
        }
        assert_int_equal(fr_tune(&f.prior, f.use, 1, &options, &r, NULL), FR_OK);
        assert_int_equal(r.unmoved, !moved);
        FR_TRUE(r.stretch > 1.3, "%g", r.stretch);
        struct fr_run seen = *f.use[0], other = seen;
        other.workload.transformer.layers += 4;
        const struct fr_run *const both[] = {&seen, &other};
        for (int k = 0; k < 2; k++) {
            double gradient[FR_KNOWN_MAX];
            fr_tune_gradient(&r, both[k], gradient);
            FR_NEAR(deviation_of(&r, both[k]) * r.stretch,
                    hypot(fr_tune_deviation(&r, gradient), fr_tune_spread(&r, both[k])) *
                        (k && !moved ? 1.25 : r.stretch),
                    1e-9);
        }
    }
    drop(&f);
}

/* The file's own statement of values counts where they stay, of one or of several together: the sum is known no less
 * than that, however little the runs say of it.  It counts no more for a value that the runs move, and for sums with
 * it: their machine is another. */
static void what_stays_is_as_sure_as_stated(void **state) {
    enum { STATED = 1, MOVED = 2 };
    const int efficiency = fr_coefficient_find("efficiency"),
              memory = fr_coefficient_find("memory_bandwidth");
    struct fr_tune_options options = {.threads = 1, .keep_unrefuted = true};
    struct fixture f;
    struct fr_tune_result r;
    double of_sum[4];
    (void)state;
    make(&f);
    f.prior.uncertainty = (struct fr_uncertainty){0};
    for (int how = 0; how < 4; how++) {
        for (int i = 0; i < N; i++) {
            struct fr_run *run = (struct fr_run *)(uintptr_t)f.use[i];
            run->measured_s =
                fr_run_predict_s(&f.prior, run) * exp(how & MOVED ? 0.3 : 0.02 * (i % 3 - 1));
        }
        struct fr_cluster prior = f.prior;
        if (how & STATED) {
            prior.uncertainty.sigma[FR_VALUE_MEMORY_RATE][FR_FP16] = 0.11;
            prior.uncertainty.n_correlated = 1;
            prior.uncertainty.correlated[0] =
                (struct fr_correlated){.sigma = 0.01,
                                       .n = 2,
                                       .of = {{FR_VALUE_EFFICIENCY, FR_FP16, 1},
                                              {FR_VALUE_MEMORY_RATE, FR_DTYPE_COUNT, 0.5}}};
        }
        assert_int_equal(fr_tune(&prior, f.use, how & MOVED ? 1 : 4, &options, &r, NULL),
                         FR_OK);
        assert_int_equal(r.unmoved, !(how & MOVED));
        int a = 0, b = 0;
        while (r.index[a] != efficiency) a++;
        while (r.index[b] != memory) b++;
        of_sum[how] = sqrt(r.covariance[a * r.n_known + a] + r.covariance[a * r.n_known + b] +
                           r.covariance[b * r.n_known + b] / 4);
        FR_NEAR(r.tuned[memory].sigma_prior, how & STATED ? 0.11 : 0.2, 1e-12);
        FR_NEAR(r.tuned[efficiency].sigma_prior, 0.2, 1e-12);
    }
    FR_TRUE(of_sum[STATED] < 0.011 && of_sum[0] > 0.03, "%g, unstated %g", of_sum[STATED],
            of_sum[0]);
    FR_TRUE(of_sum[STATED | MOVED] > 0.03, "%g, unstated %g", of_sum[STATED | MOVED],
            of_sum[MOVED]);
    drop(&f);
}

/* A run of another release refutes a preset where it is further off than one of the same must be: sqrt(2 * 5.02) of
 * the model error and the difference of releases.  The model error of plans is as large as before: the difference of
 * releases is an effect of its own, where they are named. */
static void releases_differ_once(void **state) {
    struct fixture f;
    (void)state;
    make(&f);
    struct fr_run *run = (struct fr_run *)(uintptr_t)f.use[0];
    double own_s = fr_run_predict_s(&f.prior, run);
    for (int far = 0; far < 3; far++) {
        static struct fr_tune_result same, other;
        struct fr_tune_options options = {.threads = 1, .keep_unrefuted = true};
        run->measured_s = own_s * exp((const double[]){0.02, 0.18, 0.22}[far]);
        assert_int_equal(fr_tune(&f.prior, f.use, 1, &options, &same, NULL), FR_OK);
        options.release = FR_TUNE_RELEASE;
        assert_int_equal(fr_tune(&f.prior, f.use, 1, &options, &other, NULL), FR_OK);
        FR_TRUE(same.unmoved == (far == 0) && other.unmoved == (far < 2), "%d: %d, %d", far,
                same.unmoved, other.unmoved);
        for (int k = 0; far == 0 && k < FR_EFFECTS; k++)
            FR_NEAR(other.effect[k], same.effect[k], 1e-12);
        assert_true(same.model_error == FR_TUNE_MODEL_ERROR &&
                    other.model_error == FR_TUNE_MODEL_ERROR);
    }
    drop(&f);
}

/* ---- how likely ----------------------------------------------------------------------------------- */

/* Runs 20 % off, one plan of a model each, are likelier with a model error of 10 % than of 1 %, or where runs vary by
 * that, runs 1 % off the other way round; whatever was asked before, and in whatever order they come.  How far off
 * each is is its error over what is stated of it. */
static void evidence_of_what_is_missed(void **state) {
    struct fixture f;
    (void)state;
    make(&f);
    for (int large = 0; large < 2; large++) {
        struct fr_evidence *of = NULL, *turned = NULL;
        const struct fr_run *other[N];
        double little, much, varied, again, other_way, gradient[FR_KNOWN_MAX];
        const struct fr_evidence_stated few = {0.01, 0.01}, many = {0.1, 0.01},
                                        loose = {0.01, 0.1};
        static struct fr_tune_result known;
        for (int i = 0; i < N; i++) {
            struct fr_run *run = (struct fr_run *)(uintptr_t)f.use[i];
            run->measured_s =
                fr_run_predict_s(&f.prior, run) * exp((large ? 0.2 : 0.01) * sin(1 + i * i));
            other[N - 1 - i] = run;
        }
        assert_int_equal(fr_evidence_make(&f.prior, f.use, N, &of, NULL), FR_OK);
        assert_int_equal(fr_evidence_make(&f.prior, other, N, &turned, NULL), FR_OK);
        assert_int_equal(fr_evidence_runs(of), N);
        assert_int_equal(fr_evidence_at(of, few, NULL, &little, NULL), FR_OK);
        assert_int_equal(fr_evidence_at(of, many, NULL, &much, NULL), FR_OK);
        assert_int_equal(fr_evidence_at(of, loose, NULL, &varied, NULL), FR_OK);
        assert_int_equal(fr_evidence_at(of, few, NULL, &again, NULL), FR_OK);
        assert_int_equal(fr_evidence_at(turned, few, NULL, &other_way, NULL), FR_OK);
        FR_TRUE(large ? much > little + 5 : little > much + 5, "%d: %g, %g", large, little,
                much);
        FR_TRUE(large ? varied > little + 5 : little > varied + 5, "%d: %g, %g", large, little,
                varied);
        assert_true(again == little);
        FR_NEAR(other_way, little, 0.05 * fabs(little));
        fr_interval_known(&f.prior, FR_FP16, &known);
        double model_s = fr_tune_gradient(&known, f.use[0], gradient);
        FR_NEAR(fr_evidence_off(of, 0),
                log(model_s / f.use[0]->measured_s) / hypot(fr_tune_deviation(&known, gradient),
                                                            fr_tune_spread(&known, f.use[0])),
                1e-9);
        fr_evidence_free(of);
        fr_evidence_free(turned);
    }
    drop(&f);
}

/* ---- what was missed of them ----------------------------------------------------------------------- */

static double shift_of(const struct fr_tune_result *r, const struct fr_run *run) {
    struct fr_interval of;
    fr_tune_interval(r, run, &of);
    return log(of.expected_s / of.model_s);
}

/* One run that took 6 % longer than predicted, which refutes nothing: so do others of its plan of its model on more
 * replicas, but for a tenth; of another plan, model, micro-batch or overlap nobody knows. */
static void one_run_speaks_of_its_kind_alone(void **state) {
    struct fixture f;
    struct fr_tune_result r;
    const struct fr_tune_options options = {.threads = 1, .keep_unrefuted = true};
    (void)state;
    make(&f);
    struct fr_run *run = (struct fr_run *)(uintptr_t)f.use[3];
    run->measured_s = fr_run_predict_s(&f.prior, run) * 1.06;
    assert_int_equal(fr_tune(&f.prior, f.use + 3, 1, &options, &r, NULL), FR_OK);
    assert_true(r.unmoved && r.n_seen == 3);
    struct fr_run wider = *run, split = *run, larger = *run, longer = *run, fused = *run;
    wider.plan.dp *= 2;
    split.plan.zero++;
    larger.plan.micro_batch *= 2;
    longer.workload.transformer.layers += 4;
    FR_TRUE(shift_of(&r, &wider) > 0.9 * log(1.06) && shift_of(&r, &wider) < log(1.06), "%g",
            shift_of(&r, &wider));
    assert_true(shift_of(&r, &split) == 0 && shift_of(&r, &larger) == 0 &&
                shift_of(&r, &longer) == 0);
    fused.plan.overlap = !fused.plan.overlap;
    assert_true(shift_of(&r, &fused) == 0);
    drop(&f);
}

/* Runs of two models under one plan and another: where those of one plan took longer and of the other shorter, so will
 * that plan at a micro-batch that nobody has seen; where each did by turns, or all rows are of one model, plans say nothing
 * of others; and models never. */
static void plans_speak_where_they_tell(void **state) {
    (void)state;
    for (int alike = 0; alike < 3; alike++) { /* 2: of one model */
        struct fixture f;
        struct fr_tune_result r;
        const struct fr_tune_options options = {
            .threads = 1, .keep_unrefuted = true, .model_error = 0.2};
        make(&f);
        for (int i = 0; i < N; i++) {
            struct fr_run *run = (struct fr_run *)(uintptr_t)f.use[i];
            bool shorter = alike == 0 ? i / 4 % 2 : i % 2;
            run->plan.tp = run->plan.pp = run->plan.cp = run->plan.chunks = 1;
            run->plan.micro_batch = 1 << i / 4 % 3;
            run->plan.global_batch = 32 * run->plan.dp;
            run->plan.zero = i % 2;
            if (alike < 2 && i / 2 % 2)
                run->workload.transformer.hidden += 64 * run->workload.transformer.heads;
            run->measured_s = fr_run_predict_s(&f.prior, run) *
                              exp((shorter ? -0.08 : 0.08) + 0.01 * (i % 5 - 2));
            assert_true(isfinite(run->measured_s));
        }
        assert_int_equal(fr_tune(&f.prior, f.use, N, &options, &r, NULL), FR_OK);
        assert_true(r.unmoved);
        struct fr_run other = *f.use[0], model = other;
        other.plan.micro_batch = 8;
        model.plan.micro_batch = 8, model.plan.zero = 2;
        double shift = shift_of(&r, &other);
        if (alike == 1)
            FR_TRUE(shift > 0.04 && shift < 0.1, "got %g", shift);
        else
            FR_TRUE(shift == 0, "%d: got %g", alike, shift);
        assert_true(shift_of(&r, &model) == 0);
        drop(&f);
    }
}

/* A plan beyond the capacity, here the last eight of sixteen plans after 24 models, counts as unseen. */
static void more_models_than_room(void **state) {
    struct fixture f;
    const struct fr_tune_options options = {.threads = 1};
    struct fr_tune_result r;
    (void)state;
    make(&f);
    for (int i = 0; i < N; i++) {
        struct fr_run *run = (struct fr_run *)(uintptr_t)f.use[i];
        run->workload.transformer.hidden += 64 * run->workload.transformer.heads * i;
        run->plan.zero = i / 4 % 2;
        run->measured_s = fr_run_predict_s(&f.prior, run);
        assert_true(isfinite(run->measured_s));
    }
    assert_int_equal(fr_tune(&f.prior, f.use, N, &options, &r, NULL), FR_OK);
    assert_int_equal(r.n_seen, FR_TUNING_SEEN_MAX);
    assert_true(r.seen[FR_TUNING_SEEN_MAX - 1].what == FR_SEEN_PLAN);
    FR_NEAR(fr_tune_spread(&r, f.use[N - 1]),
            fr_effects_of(r.effect, 1, (const bool[]){false, true, true}), 1e-15);
    FR_NEAR(fr_tune_spread(&r, f.use[0]),
            fr_effects_of(r.effect, 1, (const bool[]){false, false, true}), 1e-15);
    drop(&f);
}

/* A tuned cluster file says the same of every run as the fit did. */
static void a_file_says_the_same(void **state) {
    struct fixture f;
    const struct fr_tune_options options = {.threads = 1};
    struct fr_tune_result r, known;
    struct fr_text text = {0};
    struct fr_json_writer w = {.text = &text};
    struct fr_json_document *document = NULL;
    struct fr_error err = {0};
    (void)state;
    make(&f);
    assert_int_equal(fr_tune(&f.prior, f.use, N, &options, &r, NULL), FR_OK);
    fr_tune_json(&w, &r, f.use, N);
    const char *stated = fr_text_get(&text);
    assert_int_equal(fr_json_parse(stated, strlen(stated), "tuning", &document, &err), FR_OK);
    struct fr_json root = fr_json_root(document);
    struct fr_cluster cluster = r.cluster;
    if (fr_tuning_read(&root, &cluster.tuning, &err) != FR_OK)
        fail_msg("%s: %s", err.where, err.detail);
    fr_interval_known(&cluster, FR_FP16, &known);
    for (int i = 0; i <= N; i++) {
        struct fr_run run = *f.use[i % N];
        if (i == N) run.workload.transformer.layers += 4;
        double got = deviation_of(&known, &run), wanted = deviation_of(&r, &run);
        FR_TRUE(fabs(got / wanted - 1) < 1e-6, "%d: got %g, wanted %g", i, got, wanted);
    }
    fr_json_free(document);
    fr_text_free(&text);
    drop(&f);
}

/* A tuned file keeps widths of what it has no posterior of, here of what was held, and none where none is left. */
static void a_tuned_file_keeps_other_widths(void **state) {
    static const char *const kept[] = {"{\"device.attention.backward\": 0.044}", NULL};
    struct fixture f;
    struct fr_tune_result r;
    (void)state;
    make(&f);
    for (int all = 0; all < 2; all++) {
        struct fr_tune_options options = {.threads = 1};
        struct fr_json_document *document = NULL;
        struct fr_text text = {0};
        struct fr_json_writer w = {.text = &text};
        assert_int_equal(fr_preset_or_file_read("cluster", "dgx-a100", &document, NULL), FR_OK);
        if (!all) options.fixed = 1u << fr_coefficient_find("flash_backward");
        assert_int_equal(fr_tune(&f.prior, f.use, N, &options, &r, NULL), FR_OK);
        assert_int_equal(fr_tune_apply(document, &r, f.use, N, NULL), FR_OK);
        struct fr_json root = fr_json_root(document), at = fr_json_member(&root, "widths");
        assert_int_equal(fr_json_present(&at), kept[all] != NULL);
        if (kept[all]) {
            fr_json_put_copy(&w, &at);
            assert_string_equal(fr_text_get(&text), kept[all]);
        }
        fr_text_free(&text);
        fr_json_free(document);
    }
    drop(&f);
}

static bool felt(const struct fixture *f, int j) {
    struct fr_cluster moved = f->prior;
    *fr_coefficients[j].at(&moved, FR_FP16) *= 1.1;
    for (int i = 0; i < N; i++)
        if (fr_run_predict_s(&moved, f->use[i]) != fr_run_predict_s(&f->prior, f->use[i]))
            return true;
    return false;
}

/* A value that no row feels is as uncertain as before, times how much more or less than stated its like is. */
static void what_no_row_feels_stays_uncertain(void **state) {
    struct fixture f;
    struct fr_tune_result r;
    const struct fr_tune_options options = {.threads = 1};
    int unfelt = 0;
    (void)state;
    make(&f);
    assert_int_equal(fr_tune(&f.prior, f.use, N, &options, &r, NULL), FR_OK);
    for (int j = 0; j < fr_coefficient_count(); j++) {
        const struct fr_tuned *t = &r.tuned[j];
        if (!t->present || felt(&f, j)) continue;
        bool network = fr_coefficients[j].group == FR_GROUP_NETWORK;
        double wanted =
            t->sigma_prior * r.effect[network ? FR_EFFECT_NETWORK : FR_EFFECT_DEVICE];
        FR_TRUE(t->known && !t->fitted, "%s", fr_coefficients[j].name);
        FR_TRUE(fabs(t->sigma / wanted - 1) < 1e-6, "%s: got %g, wanted %g",
                fr_coefficients[j].name, t->sigma, wanted);
        unfelt++;
    }
    assert_true(unfelt > 1);
    drop(&f);
}

/* A cluster whose every run is 4 % slower is not refuted, one whose runs are 25 % slower is; one kind of run
 * at 17 % is not, one kind at 18 % is (chi-squared of one: 5.02, twice 0.05 squared, so exp(0.158)). */
static void what_is_not_refuted_stays(void **state) {
    static const struct {
        int n;
        double slower;
        bool unmoved;
    } want[] = {{N, 1.04, true}, {N, 1.25, false}, {1, 1.17, true}, {1, 1.18, false}};
    struct fixture f;
    (void)state;
    make(&f);
    for (size_t k = 0; k < sizeof want / sizeof *want; k++)
        for (int keep = 0; keep < 2; keep++) {
            const struct fr_tune_options options = {.threads = 1, .keep_unrefuted = keep};
            struct fr_tune_result r;
            struct fr_error err = {0};
            for (int i = 0; i < N; i++) {
                struct fr_run *run = (struct fr_run *)(uintptr_t)f.use[i];
                run->measured_s = want[k].slower * fr_run_predict_s(&f.prior, run);
            }
            if (fr_tune(&f.prior, f.use, want[k].n, &options, &r, &err) != FR_OK)
                fail_msg("%s", err.detail);
            /* Which values moved is the fit's choice, as several explain a slower run alike. */
            double moved =
                fr_run_predict_s(&f.prior, f.use[0]) / fr_run_predict_s(&r.cluster, f.use[0]);
            assert_int_equal(r.unmoved, keep && want[k].unmoved);
            FR_TRUE(r.unmoved ? moved == 1 : moved < 0.99, "%zu: predictions moved by %g", k,
                    moved);
            FR_TRUE(r.n_fitted > 0 && r.tuned[r.index[0]].sigma > 0, "no posterior");
        }
    drop(&f);
}

/* A value that the rows do not move is known no less than before, a coefficient to the width of its prior, operations
 * and products beyond those measured to one, as their shifts are counted; and two of them share what either shares.
 * */
static void what_is_not_moved_is_known_no_less(void **state) {
    struct fixture f;
    struct fr_tune_result r;
    int certain, of_operations = 0, beyond = 0;
    (void)state;
    make(&f);
    const struct fr_tune_options options = {.threads = 1};
    assert_int_equal(fr_tune(&f.prior, f.use, N, &options, &r, NULL), FR_OK);
    certain = r.n_known;
    f.prior.price[FR_OP_ALL_REDUCE].residual_p90 = 0.2;
    f.prior.price[FR_OP_ALL_TO_ALL].residual_p90 = 0.1;
    f.prior.device.gemm[FR_FP16].beyond_octave = 0.05;
    assert_int_equal(fr_tune(&f.prior, f.use, N, &options, &r, NULL), FR_OK);
    FR_TRUE(r.n_known > r.n_fitted + 3 && r.n_known <= certain + 3, "%d, %d", r.n_known,
            certain);
    for (int a = 0; a < r.n_known; a++)
        for (int b = 0; b < r.n_known; b++) {
            bool network = r.index[a] < FR_COEFFICIENT_MAX &&
                           fr_coefficients[r.index[a]].group == FR_GROUP_NETWORK;
            double of_prior = r.effect[network ? FR_EFFECT_NETWORK : FR_EFFECT_DEVICE],
                   prior = r.index[a] < FR_COEFFICIENT_MAX
                               ? fr_coefficients[r.index[a]].sigma * fmax(1, of_prior)
                               : 1;
            double shared = r.covariance[a * r.n_known + b];
            FR_NEAR(shared, r.covariance[b * r.n_known + a], 1e-12);
            FR_TRUE(shared * shared <= (1 + 1e-9) * r.covariance[a * r.n_known + a] *
                                           r.covariance[b * r.n_known + b],
                    "%d, %d: %g", a, b, shared);
            if (a >= r.n_fitted && a == b)
                FR_TRUE(shared > 0 && shared <= (1 + 1e-9) * prior * prior, "%d: %g of %g", a,
                        shared, prior * prior);
            of_operations +=
                a == b && r.index[a] >= FR_COEFFICIENT_MAX && r.index[a] < FR_KNOWN_SEEN;
            beyond += a == b && r.index[a] == FR_KNOWN_BEYOND;
        }
    FR_TRUE(of_operations >= 3 && beyond == 1, "%d, %d", of_operations, beyond);
    drop(&f);
}

/* ---- what refutes, of several models and kinds -------------------------------------------------- */

/* Runs to begin with, their errors in units of 0.05; of the second model where `other` says so. */
struct stated {
    int n;
    double error[6];
    bool other[6], same_kind[6]; /* as the run before, on twice the ranks */
    double quantile;             /* of chi-squared, 97.5 % */
    double statistic;            /* that it is held against, at these errors */
};

static bool is_kept(struct fixture *f, const struct stated *stated, double times) {
    const struct fr_tune_options options = {.threads = 1, .keep_unrefuted = true};
    struct fr_tune_result r;
    for (int i = 0; i < stated->n; i++) {
        struct fr_run *run = (struct fr_run *)(uintptr_t)f->use[i];
        const struct fr_run *before = f->use[i ? i - 1 : 0];
        if (stated->same_kind[i]) {
            run->plan = before->plan;
            run->plan.dp = 2 * before->plan.dp;
            run->plan.global_batch = 2 * before->plan.global_batch;
        }
        if (stated->other[i]) run->workload.transformer.layers /= 2;
        run->measured_s =
            fr_run_predict_s(&f->prior, run) * exp(-0.05 * times * stated->error[i]);
        assert_true(isfinite(run->measured_s));
    }
    assert_int_equal(fr_tune(&f->prior, f->use, stated->n, &options, &r, NULL), FR_OK);
    return r.unmoved;
}

/* With one degree of freedom the quantile is the square of the normal's of 98.75 %, with two -2 ln 0.025.  Kinds of a
 * model are I + 1 1' apart, so that n of them with one error e are n e^2 / (1 + n), and what they differ by counts
 * whole; of runs of one kind the mean; models add up.  Those of the row TORN contradict each other: no coefficient
 * makes up for it, so that all stays where they refute it, too. */
static void refuted_is_what_is_beyond_the_quantile(void **state) {
    enum { TORN = 11 };
    const double one = 2.2414027276049473 * 2.2414027276049473, two = -2 * log(0.025);
    const struct stated rows[] = {
        {1, {1}, {0}, {0}, one, 1 / 2.},
        {2, {1, 1}, {0}, {0}, one, 2 / 3.},
        {3, {1, 1, 1}, {0}, {0}, one, 3 / 4.},
        {2, {1, -1}, {0}, {0}, one, 2},
        {3, {1, 0, -1}, {0}, {0}, two, 2},
        {2, {1, 1}, {0, 1}, {0}, two, 1 / 2. + 1 / 2.},
        {3, {1, 1, 1}, {0, 0, 1}, {0}, two, 2 / 3. + 1 / 2.},
        {3, {1, 1, -1}, {1, 0, 0}, {0}, one, 2},
        {4, {1, -1, 1, -1}, {0, 0, 1, 1}, {0}, two, 4},
        {2, {1.5, 0.5}, {0}, {0, 1}, one, 1 / 2.},
        {3, {1, 1.5, 0.5}, {0}, {0, 0, 1}, one, 2 / 3.},
        {3, {-1, 1.5, 0.5}, {0}, {0, 0, 1}, one, 2},
        {4, {1, 1.5, 0.5, 1}, {0, 0, 0, 1}, {0, 0, 1, 0}, two, 2 / 3. + 1 / 2.},
    };
    (void)state;
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++)
        for (int beyond = 0; beyond < 2; beyond++) {
            struct fixture f;
            make(&f);
            double times = sqrt(rows[k].quantile / rows[k].statistic) * (beyond ? 1.01 : 0.99);
            FR_TRUE(is_kept(&f, &rows[k], times) == (!beyond || k == TORN), "row %zu at %g", k,
                    times);
            drop(&f);
        }
}

/* Where a fit starts changes what it takes, not where it ends; nothing moves where all stays. */
static void a_start_is_no_end(void **state) {
    struct fixture f;
    struct fr_tune_result cold, from;
    (void)state;
    make(&f);
    assert_int_equal(
        fr_tune(&f.prior, f.use, N, &(struct fr_tune_options){.threads = 1}, &cold, NULL),
        FR_OK);
    struct fr_tune_result start = cold;
    for (int far = 0; far < 2; far++) {
        struct fr_tune_options options = {.threads = 1, .start = &start};
        if (far) start.tuned[cold.index[0]].value *= 1.15;
        assert_int_equal(fr_tune(&f.prior, f.use, N, &options, &from, NULL), FR_OK);
        assert_int_equal(from.n_fitted, cold.n_fitted);
        for (int k = 0; k < cold.n_fitted; k++) {
            const struct fr_tuned *a = &cold.tuned[cold.index[k]],
                                  *b = &from.tuned[cold.index[k]];
            FR_TRUE(fabs(log(a->value / b->value)) < 0.05 * a->sigma + 1e-3, "%s: %g, %g",
                    fr_coefficients[cold.index[k]].name, a->value, b->value);
        }
        for (int i = 0; i < N; i++)
            ((struct fr_run *)(uintptr_t)f.use[i])->measured_s =
                1.01 * fr_run_predict_s(&f.prior, f.use[i]);
        options.keep_unrefuted = true;
        assert_int_equal(fr_tune(&f.prior, f.use, N, &options, &from, NULL), FR_OK);
        assert_true(from.unmoved);
        for (int j = 0; j < fr_coefficient_count(); j++)
            assert_true(!from.tuned[j].present || from.tuned[j].value == from.tuned[j].prior);
        drop(&f);
        make(&f);
    }
    drop(&f);
}

/* ---- the sum that is made least, by a second hand ----------------------------------------------- */

struct objective {
    const struct fixture *f;
    double rows_max, scale, sigma;
};

static double weight_of(const struct objective *o) {
    double sum = 0;
    for (int i = 0; i < N; i++) sum += o->f->use[i]->weight;
    return o->rows_max > 0 && sum > o->rows_max ? o->rows_max / sum : 1;
}

/* sum w rho(e / scale) + (x / sigma)^2 of the efficiency alone, at a factor exp(x) of the prior's. */
static double sum_at(double x, void *with) {
    const struct objective *o = with;
    struct fr_cluster moved = o->f->prior;
    double sum = pow(x / o->sigma, 2);
    moved.device.gemm[FR_FP16].tiles.efficiency *= exp(x);
    for (int i = 0; i < N; i++) {
        const struct fr_run *run = o->f->use[i];
        double e = log(fr_run_predict_s(&moved, run) / run->measured_s) / o->scale;
        sum += weight_of(o) * run->weight * 2 * 4 * (sqrt(1 + e * e / 4) - 1);
    }
    return sum;
}

/* A fitted coefficient is where the sum is least, whatever the rows weigh, and however many of them count; some rows
 * are far off, so that their errors are bent.  Its uncertainty has the same weights. */
static void a_coefficient_is_where_the_sum_is_least(void **state) {
    static const struct {
        double rows_max, scale, sigma;
    } of[] = {{0, 0, 0},     {4, 0, 0},         {4, 0.2, 0},
              {0.5, 0, 0.3}, {1000, 0.02, 0.4}, {2, 0.05, 0.1}};
    struct fixture f;
    (void)state;
    make(&f);
    for (int i = 0; i < N; i++) {
        struct fr_run *run = (struct fr_run *)(uintptr_t)f.use[i];
        run->weight = 0.25 + i % 4;
        if (i % 5 == 0) run->measured_s *= i % 2 ? 0.6 : 2;
    }
    for (size_t k = 0; k < sizeof of / sizeof *of; k++) {
        int j = fr_coefficient_find("efficiency");
        double sigmas[FR_COEFFICIENT_MAX] = {0};
        sigmas[j] = of[k].sigma;
        const struct fr_tune_options options = {.threads = 1,
                                                .fixed = ~((uint32_t)1 << j),
                                                .model_error = of[k].scale,
                                                .rows_max = of[k].rows_max,
                                                .sigmas = sigmas};
        struct objective o = {&f, of[k].rows_max, of[k].scale > 0 ? of[k].scale : 0.05,
                              of[k].sigma > 0 ? of[k].sigma : 0.2};
        struct fr_tune_result r;
        assert_int_equal(fr_tune(&f.prior, f.use, N, &options, &r, NULL), FR_OK);
        assert_int_equal(r.n_fitted, 1);
        gsl_min_fminimizer *search = gsl_min_fminimizer_alloc(gsl_min_fminimizer_brent);
        gsl_function sum = {sum_at, &o};
        gsl_min_fminimizer_set(search, &sum, -0.1, -1.2, 0.2);
        for (int turn = 0; turn < 40; turn++) gsl_min_fminimizer_iterate(search);
        double x = gsl_min_fminimizer_x_minimum(search);
        gsl_min_fminimizer_free(search);
        double got = log(r.tuned[j].value / r.tuned[j].prior);
        FR_TRUE(fabs(got - x) < 2e-3, "%zu: got %g, want %g", k, got, x);
        FR_TRUE(x < -0.005 && x > -1, "%zu: %g is at no end", k, x);
    }
    drop(&f);
}

/* Ten rows, not nine, are enough for more than the efficiency; a row of no weight is none. */
static void ten_rows_move_more_than_the_efficiency(void **state) {
    struct fixture f;
    const struct fr_tune_options options = {.threads = 1};
    (void)state;
    make(&f);
    for (int n = 9; n <= 11; n++)
        for (int none = 0; none < 2; none++) {
            struct fr_tune_result r;
            struct fr_run *run = (struct fr_run *)(uintptr_t)f.use[n - 1];
            run->weight = !none;
            assert_int_equal(fr_tune(&f.prior, f.use, n, &options, &r, NULL), FR_OK);
            assert_int_equal(r.rows, n - none);
            FR_TRUE((r.n_fitted > 1) == (n - none >= 10), "%d rows: %d", n - none, r.n_fitted);
            for (int k = 0; k < r.n_fitted; k++)
                assert_true(r.tuned[r.index[k]].rows >=
                            fr_coefficients[r.index[k]].rows_needed);
            run->weight = 1;
        }
    drop(&f);
}

/* Runs twice as fast as the device's peak: the efficiency ends at 1; one that the file has above 1 may stay
 * there. */
static void no_efficiency_above_one(void **state) {
    struct fixture f;
    struct fr_tune_result r;
    int j = fr_coefficient_find("efficiency");
    const struct fr_tune_options options = {.threads = 1, .fixed = ~((uint32_t)1 << j)};
    (void)state;
    make(&f);
    for (int i = 0; i < N; i++)
        ((struct fr_run *)(uintptr_t)f.use[i])->measured_s =
            0.5 * fr_run_predict_s(&f.prior, f.use[i]);
    assert_int_equal(fr_tune(&f.prior, f.use, N, &options, &r, NULL), FR_OK);
    FR_NEAR(r.tuned[j].value, 1, 1e-12);
    f.prior.device.gemm[FR_FP16].tiles.efficiency = 1.2;
    assert_int_equal(fr_tune(&f.prior, f.use, N, &options, &r, NULL), FR_OK);
    FR_TRUE(r.tuned[j].value > 1.2, "%g", r.tuned[j].value);
    drop(&f);
}

/* Mixtures of experts need four times as much to reject: one kind of run is not rejected at 87 %, and is at 90 %. A
 * difference in one of these is of another kind, and each of two kinds may be off. */
static void kinds_are_of_one_model_and_plan(void **state) {
    struct fixture f;
    (void)state;
    make(&f);
    struct fr_run *run = (struct fr_run *)(uintptr_t)f.use[0];
    struct fr_transformer *t = &run->workload.transformer;
    t->experts = 4, t->experts_per_token = 1, t->expert_ffn = t->ffn;
    for (int k = 0; k < 2; k++) {
        const struct fr_tune_options options = {.threads = 1, .keep_unrefuted = true};
        struct fr_tune_result r;
        run->measured_s = (k ? 1.90 : 1.87) * fr_run_predict_s(&f.prior, run);
        assert_int_equal(fr_tune(&f.prior, f.use, 1, &options, &r, NULL), FR_OK);
        assert_int_equal(r.unmoved, k == 0);
    }
    struct fr_run one = *f.use[1], other = one;
    assert_true(fr_run_one_kind(&one, &other));
    other.plan.dp *= 2, other.plan.global_batch *= 2, other.measured_s *= 2;
    assert_true(fr_run_one_kind(&one, &other));
    int64_t *const of[] = {&other.workload.transformer.hidden,
                           &other.workload.transformer.layers,
                           &other.workload.transformer.sequence,
                           &other.plan.tp,
                           &other.plan.pp,
                           &other.plan.cp,
                           &other.plan.ep,
                           &other.plan.micro_batch,
                           &other.plan.chunks};
    for (size_t k = 0; k < sizeof of / sizeof *of; k++) {
        *of[k] += 1;
        assert_false(fr_run_one_kind(&one, &other));
        *of[k] -= 1;
    }
    other.plan.zero++;
    assert_false(fr_run_one_kind(&one, &other));
    drop(&f);
}

static void folds_do_not_depend_on_threads(void **state) {
    static const char *const columns[] = {"plan.tp", NULL};
    struct fixture f;
    struct fr_scored one[N], four[N];
    struct fr_tune_options options = {.threads = 1};
    struct fr_score score;
    int folds = 0;
    (void)state;
    make(&f);
    assert_int_equal(
        fr_study_cross(&f.prior, f.use, N, NULL, 0, columns, &options, one, &folds, NULL),
        FR_OK);
    options.threads = 4;
    assert_int_equal(
        fr_study_cross(&f.prior, f.use, N, NULL, 0, columns, &options, four, NULL, NULL),
        FR_OK);
    assert_int_equal(folds, 4);
    for (int i = 0; i < N; i++) {
        assert_true(one[i].predicted_s == four[i].predicted_s && one[i].low_s == four[i].low_s);
        assert_true(one[i].low_s < one[i].predicted_s && one[i].predicted_s < one[i].high_s);
    }
    assert_int_equal(fr_score_make(one, N, &score, NULL), FR_OK);
    if (score.mape > 0.05) fail_msg("mean error of folds: got %g", score.mape);
    drop(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(coefficients_are_found),
        cmocka_unit_test(odd_stays_at_least_one),
        cmocka_unit_test(few_rows_move_the_efficiency_alone),
        cmocka_unit_test(held_coefficients_stay),
        cmocka_unit_test(held_with_a_width_is_uncertain),
        cmocka_unit_test(unseen_kinds_are_less_certain),
        cmocka_unit_test(what_was_seen_is_surer),
        cmocka_unit_test(what_stays_is_told_as_presets_are),
        cmocka_unit_test(what_stays_is_as_sure_as_stated),
        cmocka_unit_test(releases_differ_once),
        cmocka_unit_test(evidence_of_what_is_missed),
        cmocka_unit_test(one_run_speaks_of_its_kind_alone),
        cmocka_unit_test(plans_speak_where_they_tell),
        cmocka_unit_test(more_models_than_room),
        cmocka_unit_test(a_file_says_the_same),
        cmocka_unit_test(a_tuned_file_keeps_other_widths),
        cmocka_unit_test(kinds_among_the_rows_are_seen),
        cmocka_unit_test(gradients_and_intervals_by_hand),
        cmocka_unit_test(rows_that_agree_make_surer),
        cmocka_unit_test(repeated_rows_are_no_new_opinion),
        cmocka_unit_test(what_rows_do_not_resolve_stays),
        cmocka_unit_test(what_no_row_feels_stays_uncertain),
        cmocka_unit_test(what_is_not_refuted_stays),
        cmocka_unit_test(what_is_not_moved_is_known_no_less),
        cmocka_unit_test(refuted_is_what_is_beyond_the_quantile),
        cmocka_unit_test(a_start_is_no_end),
        cmocka_unit_test(a_coefficient_is_where_the_sum_is_least),
        cmocka_unit_test(ten_rows_move_more_than_the_efficiency),
        cmocka_unit_test(no_efficiency_above_one),
        cmocka_unit_test(kinds_are_of_one_model_and_plan),
        cmocka_unit_test(folds_do_not_depend_on_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
