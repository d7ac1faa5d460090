/* Trainings of plans give these, without training anything: intervals, the way to a loss, rates, which plans are
 * distinguished, the file of trainings. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/file.h"
#include "real/quality/cells.h"
#include "tests/cmocka.h"

static const char *const plans[] = {
    "{\"pp\": 2}", "{\"pp\": 2, \"compression\": {\"forward\": {\"rank\": 2}}}", "{\"dp\": 2}"};

static struct fr_quality_options options(int n_plans) {
    struct fr_quality_options o = fr_quality_defaults();
    o.model = "{}";
    o.samples = "quality.jsonl";
    o.plans = plans;
    o.n_plans = n_plans;
    o.seeds = 5;
    o.steps = 100;
    o.every = 10;
    o.target = 2;
    o.launch.n_ranks = 2;
    return o;
}

/* Student's example: 1, 2, 3, 4, 5 have mean 3 and s = sqrt(2.5); t of 4 degrees is 2.776445. */
static void an_interval_by_hand(void **state) {
    (void)state;
    const double x[] = {2, 5, 3, 1, 4};
    struct fr_quality_mean m = fr_quality_mean_of(x, 5, 0.95);
    FR_NEAR(m.mean, 3, 1e-15);
    FR_NEAR(m.high - m.mean, 2.7764451052 * sqrt(2.5 / 5), 1e-9);
    FR_NEAR(m.mean - m.low, m.high - m.mean, 1e-12);
    m = fr_quality_mean_of(x, 1, 0.95);
    assert_true(m.mean == 2 && isnan(m.low) && isnan(m.high));
    assert_true(isnan(fr_quality_mean_of(x, 0, 0.95).mean));
}

static void the_way_to_a_loss(void **state) {
    (void)state;
    struct fr_quality_options o = options(1);
    double loss[11] = {4, 3, 2.5, 1.5, 2.2, 1, 1, 1, 1, 1, 1};
    FR_NEAR(fr_quality_reached(&o, loss), 25, 1e-12); /* half way from 2.5 to 1.5 */
    o.target = 1.2;
    FR_NEAR(fr_quality_reached(&o, loss), 40 + 10 * (1.0 / 1.2), 1e-12);
    o.target = 0.5;
    assert_true(isnan(fr_quality_reached(&o, loss)));
    for (int i = 2; i < 11; i++) loss[i] = NAN; /* diverged */
    o.target = 2;
    assert_true(isnan(fr_quality_reached(&o, loss)));
    o.target = NAN;
    assert_true(isnan(fr_quality_reached(&o, loss)));
}

/* ---- rates ----------------------------------------------------------------------------------- */

/* A training falls from 4 along a line; the worse the rate, the less; seeds differ a little. */
struct law {
    double best_rate; /* 0: all diverge */
    double ends[3];   /* of each plan, at that rate */
    double noise;     /* of a seed, on all plans alike */
    double own;       /* of a seed, on each plan by itself */
};

static double end_of(const struct law *law, const struct fr_cell *c) {
    double off = log2(c->rate / law->best_rate), seed = (double)(c->seed % 8) - 3;
    double own = c->plan > 0 ? sin(7.0 * (double)(c->seed % 8) + c->plan) : 0;
    return law->ends[c->plan] + 0.05 * off * off + law->noise * seed + law->own * own;
}

static void train(const struct law *law, const struct fr_quality_options *o,
                  struct fr_cells *cells) {
    int n = fr_quality_points(o);
    for (int i = 0; i < cells->n; i++) {
        struct fr_cell *c = &cells->items[i];
        if (c->done || c->plan < 0) continue;
        c->done = true;
        c->sent_B = 100 - c->plan;
        c->observed = fr_strdup("[]");
        for (int j = 0; j < n; j++) {
            double share = (double)j / (n - 1);
            c->loss[j] = law->best_rate > 0 ? 4 - share * (4 - end_of(law, c)) : NAN;
            c->train_loss[j] = c->loss[j];
        }
    }
}

static struct fr_quality learn(const struct law *law, const struct fr_quality_options *o,
                               struct fr_cells *cells) {
    struct fr_quality q = {0};
    struct fr_error err = {0};
    bool more = true;
    for (int round = 0; more; round++) {
        assert_true(round < 20);
        assert_int_equal(fr_quality_next(o, cells, &more, &err), FR_OK);
        train(law, o, cells);
    }
    assert_int_equal(fr_quality_rows(o, cells, &q, &err), FR_OK);
    assert_int_equal(fr_quality_compare(o, &q, &err), FR_OK);
    return q;
}

/* The best rate is found wherever it is, with a worse one on both sides. */
static void rates_grow_until_the_best_is_inside(void **state) {
    (void)state;
    for (double best = 0.001; best < 0.1; best *= 2) {
        const struct law law = {best, {1.5, 1.5, 1.5}, 0.01, 0};
        struct fr_quality_options o = options(1);
        struct fr_cells cells = {0};
        struct fr_quality q = learn(&law, &o, &cells);
        const struct fr_quality_row *row = &q.rows[0];
        FR_TRUE(row->rate > 0.7 * best && row->rate < 1.5 * best, "got %g, want %g", row->rate,
                best);
        assert_true(row->tried[0] < row->rate && row->tried[row->n_tried - 1] > row->rate);
        assert_int_equal(row->n_seeds, 5);
        assert_int_equal(cells.n, FR_QUALITY_TUNINGS * row->n_tried + 5);
        fr_quality_free(&q);
        fr_cells_free(&cells);
    }
}

/* One rate is taken as it is; where all diverge the search ends and says so. */
static void rates_that_are_no_choice(void **state) {
    (void)state;
    const double one[] = {0.01};
    const struct law fine = {1, {1.5}, 0, 0}, none = {0};
    struct fr_quality_options o = options(1);
    struct fr_cells cells = {0};
    o.rates = one;
    o.n_rates = 1;
    struct fr_quality q = learn(&fine, &o, &cells);
    FR_NEAR(q.rows[0].rate, 0.01, 1e-15);
    assert_int_equal(cells.n, 5);
    fr_quality_free(&q);
    fr_cells_free(&cells);
    o = options(1);
    q = learn(&none, &o, &cells);
    assert_true(isnan(q.rows[0].rate) && isnan(q.rows[0].loss.mean));
    assert_int_equal(q.rows[0].n_tried, FR_QUALITY_RATES_MAX);
    assert_int_equal(q.n_pairs, 0);
    fr_quality_free(&q);
    fr_cells_free(&cells);
}

/* Means over seeds of what ranks saw; lists of other lengths, or of other ranks, are no such thing. */
static void what_was_observed_is_averaged(void **state) {
    (void)state;
    static const char form[] = "[{\"rank\": 3, \"kept\": %d, \"lazy\": 2, \"cosine\": [%d, "
                               "-1], \"alike\": [0, 0], \"error\": "
                               "[0, 1], \"error_mean\": [0, 0], \"difference_mean\": [0, 0]}]";
    char texts[2][300];
    struct fr_cell cell[2];
    const struct fr_cell *both[] = {&cell[0], &cell[1]};
    struct fr_quality_row row = {0};
    struct fr_error err = {0};
    for (int i = 0; i < 2; i++) {
        snprintf(texts[i], sizeof texts[i], form, 1 + 2 * i, 4 * i);
        cell[i].observed = texts[i];
    }
    assert_int_equal(fr_quality_observe(both, 2, &row, &err), FR_OK);
    assert_int_equal(row.n_observed, 1);
    assert_int_equal(row.observed[0].rank, 3);
    FR_NEAR(row.observed[0].kept, 2, 1e-15);
    FR_NEAR(row.observed[0].lazy, 2, 1e-15);
    FR_NEAR(row.observed[0].micro[FR_QUALITY_OBSERVED_cosine][0], 2, 1e-15);
    FR_NEAR(row.observed[0].micro[FR_QUALITY_OBSERVED_cosine][1], -1, 1e-15);
    FR_NEAR(row.observed[0].micro[FR_QUALITY_OBSERVED_error][1], 1, 1e-15);
    fr_quality_observed_free(&row);
    static char none[] = "[]", bare[] = "[{\"rank\": 3}]";
    char *const others[] = {none, bare};
    for (int i = 0; i < 2; i++) {
        cell[1].observed = others[i];
        assert_int_equal(fr_quality_observe(both, 2, &row, &err), FR_ERR_INPUT);
        fr_quality_observed_free(&row);
    }
}

/* ---- comparisons ----------------------------------------------------------------------------- */

static const struct fr_quality_pair *pair_of(const struct fr_quality *q, int a, int b, int by) {
    for (int i = 0; i < q->n_pairs; i++)
        if (q->pairs[i].a == a && q->pairs[i].b == b && q->pairs[i].by == by)
            return &q->pairs[i];
    return NULL;
}

/* Seeds scatter by 0.2 on both plans alike and by 0.002 on each: 0.05 is distinguished, 0.0005 is not.  A plan that
 * did not reach the loss with every seed is compared by loss alone. */
static void plans_are_compared_seed_by_seed(void **state) {
    (void)state;
    const struct law law = {0.008, {1.5, 1.5005, 1.55}, 0.1, 0.002},
                     far = {0.008, {1.5, 2.5, 1.9}, 0.1, 0.002};
    struct fr_quality_options o = options(3);
    struct fr_cells cells = {0};
    struct fr_quality q = learn(&law, &o, &cells);
    assert_int_equal(q.n_pairs, 6);
    FR_NEAR(q.confidence, 1 - 0.05 / 6, 1e-12);
    for (int by = 0; by < 2; by++) {
        assert_false(pair_of(&q, 0, 1, by)->apart);
        assert_true(pair_of(&q, 0, 2, by)->apart);
        assert_true(pair_of(&q, 1, 2, by)->apart);
    }
    FR_NEAR(pair_of(&q, 0, 2, FR_QUALITY_BY_LOSS)->d.mean, 0.05, 0.1);
    assert_true(pair_of(&q, 0, 2, FR_QUALITY_BY_ITERATIONS)->d.low > 1);
    /* Alone the intervals of the two overlap: seeds make more of a difference than plans. */
    assert_true(q.rows[0].loss.high > q.rows[2].loss.low);
    fr_quality_free(&q);
    fr_cells_free(&cells);
    q = learn(&far, &o, &cells);
    assert_null(pair_of(&q, 0, 1, FR_QUALITY_BY_ITERATIONS));
    assert_true(pair_of(&q, 0, 1, FR_QUALITY_BY_LOSS)->apart);
    assert_int_equal(q.rows[1].n_reached, 0);
    assert_true(isnan(q.rows[1].steps.mean));
    assert_true(q.rows[2].n_reached > 0 && q.rows[2].n_reached < 5 &&
                isnan(q.rows[2].steps.mean));
    fr_quality_free(&q);
    fr_cells_free(&cells);
}

/* ---- the file -------------------------------------------------------------------------------- */

static void the_file_comes_back(void **state) {
    (void)state;
    const struct law law = {0.008, {1.5, 1.6, 1.7}, 0.1, 0.002};
    struct fr_quality_options o = options(3), other = o;
    struct fr_cells cells = {0}, again = {0};
    struct fr_error err = {0};
    char *first = NULL, *second = NULL;
    size_t n_first = 0, n_second = 0;
    struct fr_quality q = learn(&law, &o, &cells);
    fr_quality_free(&q);
    cells.items[3].loss[7] = cells.items[3].train_loss[9] = NAN;
    assert_int_equal(fr_cells_write(&cells, fr_quality_cells_of(&o), &err), FR_OK);
    assert_int_equal(fr_cells_read(&again, fr_quality_cells_of(&o), &err), FR_OK);
    assert_int_equal(again.n, cells.n);
    assert_int_equal(fr_cells_done(&again), fr_cells_done(&cells));
    fr_file_read(o.samples, FR_FILE_MAX_B, &first, &n_first, NULL);
    assert_int_equal(fr_cells_write(&again, fr_quality_cells_of(&o), &err), FR_OK);
    fr_file_read(o.samples, FR_FILE_MAX_B, &second, &n_second, NULL);
    assert_string_equal(first, second);
    /* A run of fewer plans leaves the others' trainings in the file. */
    other.n_plans = 1;
    assert_int_equal(fr_cells_read(&again, fr_quality_cells_of(&other), &err), FR_OK);
    assert_int_equal(again.n, cells.n);
    /* A line cut at any byte is no line. */
    for (size_t cut = n_first - 1; cut > n_first - 400; cut -= 13) {
        fr_file_write(o.samples, first, cut, NULL);
        assert_int_equal(fr_cells_read(&again, fr_quality_cells_of(&o), &err), FR_OK);
        assert_int_equal(fr_cells_done(&again), fr_cells_done(&cells) - 1);
    }
    fr_cells_free(&again);
    fr_cells_free(&cells);
    free(first);
    free(second);
    unlink(o.samples);
}

static void another_file_is_not_resumed(void **state) {
    (void)state;
    struct fr_quality_options o = options(1);
    struct fr_cells cells = {0};
    struct fr_error err = {0};
    assert_int_equal(fr_cells_write(&cells, fr_quality_cells_of(&o), &err), FR_OK);
    struct fr_quality_options others[] = {o, o, o, o, o, o};
    static const char *const why[] = {"--steps", "--every", "--held-out",
                                      "model",   "corpus",  "same name"};
    others[0].steps = 200;
    others[1].every = 20;
    others[2].held_out = 8;
    others[3].model = "{\"layers\": 2}";
    others[4].corpus = "grammar:2";
    others[5].digest = 7;
    for (int i = 0; i < 6; i++) {
        assert_int_equal(fr_cells_read(&cells, fr_quality_cells_of(&others[i]), &err),
                         FR_ERR_INPUT);
        FR_TRUE(strstr(err.detail, why[i]), "got \"%s\", want \"%s\"", err.detail, why[i]);
    }
    fr_cells_free(&cells);
    unlink(o.samples);
}

static char folder[] = "/tmp/forerun-test-quality.XXXXXX";
static int enter(void **state) {
    (void)state;
    return mkdtemp(folder) && chdir(folder) == 0 ? 0 : -1;
}
static int leave(void **state) {
    (void)state;
    return chdir("/") == 0 && rmdir(folder) == 0 ? 0 : -1;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_interval_by_hand),
        cmocka_unit_test(the_way_to_a_loss),
        cmocka_unit_test(rates_grow_until_the_best_is_inside),
        cmocka_unit_test(rates_that_are_no_choice),
        cmocka_unit_test(what_was_observed_is_averaged),
        cmocka_unit_test(plans_are_compared_seed_by_seed),
        cmocka_unit_test(the_file_comes_back),
        cmocka_unit_test(another_file_is_not_resumed),
    };
    return cmocka_run_group_tests(tests, enter, leave);
}
