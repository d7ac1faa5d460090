/* One operation fitted: every algorithm is found again in times that it makes; and what is said of each form, on
 * what it was fitted to and on what was held out, is what fitting without it and asking says. */
#include <math.h>
#include <stdlib.h>

#include "calibrate/fit/fitter.h"
#include "calibrate/fit/parts.h"
#include "models/network/collective.h"
#include "tests/cmocka.h"

enum { POINTS = 64 };

static double uniform(uint64_t *dice) {
    *dice ^= *dice << 13, *dice ^= *dice >> 7, *dice ^= *dice << 17;
    return (double)(*dice % 1000000007u) / 1000000007.0;
}

struct points {
    struct fr_fit_point item[POINTS];
    int n;
};

static struct fr_fit_point *add(struct points *all, fr_op op, int64_t ranks, int64_t nodes,
                                double size_B) {
    struct fr_fit_point *p = &all->item[all->n++];
    *p = (struct fr_fit_point){.op = op,
                               .level = nodes > 1,
                               .n_ranks = ranks,
                               .n_nodes = nodes,
                               .size_B = size_B,
                               .uncertainty = 1e9,
                               .n = 1};
    return p;
}

/* ---- algorithms ---------------------------------------------------------------------------------- */

static double made_s(const struct fr_collective *row, const struct fr_fit_point *p,
                     struct fr_link_cost link) {
    struct fr_group group = fr_fit_group(p);
    struct fr_collective_args args = fr_group_args(&group, p->size_B);
    args.inner = args.outer = args.ring = link;
    return row->applicable(&args) ? row->time_s(&args) : NAN;
}

/* It needs links of a class (topology/link_class.h), which a fit does not know. */
static bool by_nccl_alone(const struct fr_collective *row) {
    return strcmp(row->name, "tree") == 0 || strcmp(row->name, "switch") == 0;
}

/* Whoever made them, or one that takes as long: its times to the last digit, on the link that they were made on. */
static void every_algorithm_is_found_again(void **state) {
    static const struct fr_link_cost links[] = {{3e-6, 4e-11}, {20e-6, 1e-10}, {1e-6, 9e-10}};
    int found = 0, itself = 0;
    (void)state;
    for (const struct fr_collective *const *row = fr_collectives; *row; row++)
        for (size_t l = 0; l < sizeof links / sizeof *links; l++) {
            static struct points all;
            struct fr_price price = {.op = (*row)->op};
            bool applies = true;
            all.n = 0;
            for (int64_t ranks = 8; ranks <= 32; ranks *= 2)
                for (double size_B = 64; size_B <= 1 << 24; size_B *= 16) {
                    struct fr_fit_point *p = add(&all, (*row)->op, ranks, ranks / 4, size_B);
                    p->time_s = p->median_s = made_s(*row, p, links[l]);
                    applies = applies && p->time_s > 0;
                }
            if (by_nccl_alone(*row)) continue;
            FR_TRUE(applies, "%s %s", fr_op_names[(*row)->op], (*row)->name);
            assert_int_equal(fr_fitter_algorithm.fit(all.item, all.n, false, &price), FR_OK);
            assert_ptr_equal(price.form, &fr_form_algorithm);
            for (int i = 0; i < all.n; i++)
                FR_NEAR(fr_fit_price_s(&price, &all.item[i]), all.item[i].time_s, 1e-6);
            found++;
            if (price.algorithm != *row) continue;
            itself++;
            FR_NEAR(price.link.latency_s, links[l].latency_s, 1e-6);
            FR_NEAR(price.link.s_per_B, links[l].s_per_B, 1e-6);
            /* two points tell of two terms, and of nothing else */
            struct fr_price few = {.op = (*row)->op};
            assert_int_equal(fr_fitter_algorithm.fit(all.item, 2, false, &few), FR_OK);
            assert_null(few.form);
        }
    FR_TRUE(found > 60 && itself > found / 2, "%d, %d", found, itself);
}

/* ---- what is said of a form ----------------------------------------------------------------------- */

struct stated {
    double error[2 * POINTS], octaves_squared;
    int n;
};

static void tell(struct stated *t, double predicted_s, double measured_s) {
    t->error[t->n++] = fabs(predicted_s / measured_s - 1);
    t->octaves_squared += pow(log2(predicted_s / measured_s), 2);
}

static int ascending(const void *x, const void *y) {
    double a = *(const double *)x, b = *(const double *)y;
    return (a > b) - (a < b);
}

static double median(double *x, int n) {
    qsort(x, (size_t)n, sizeof *x, ascending);
    return n ? 0.5 * (x[(n - 1) / 2] + x[n / 2]) : 0;
}

static void is_as_reported(const struct fr_fit_quality *q, struct stated *t) {
    assert_int_equal(q->n, t->n);
    if (t->n == 0) return;
    FR_NEAR(q->median, median(t->error, t->n), 1e-9);
    FR_NEAR(q->rmse_log2, sqrt(t->octaves_squared / t->n), 1e-9);
    assert_true(q->p90 >= q->median && q->p90 <= t->error[t->n - 1] * (1 + 1e-9));
}

/* The curve that a point is of: where it begins, how long it is. */
static void curve_of(const struct points *all, int i, int *from, int *n) {
#define SAME(a, b)                                                                             \
    (all->item[a].n_ranks == all->item[b].n_ranks &&                                           \
     all->item[a].n_nodes == all->item[b].n_nodes)
    *from = i;
    while (*from > 0 && SAME(*from - 1, i)) --*from;
    *n = 0;
    while (*from + *n < all->n && SAME(*from + *n, i)) ++*n;
}

static bool of_most_ranks(const struct points *all, int i) {
    const struct fr_fit_point *p = &all->item[i];
    bool fewer = false;
    for (int k = 0; k < all->n; k++) {
        const struct fr_fit_point *o = &all->item[k];
        bool beside = o->level == p->level &&
                      (p->level == 0 || o->n_ranks / o->n_nodes == p->n_ranks / p->n_nodes);
        if (beside && o->n_ranks > p->n_ranks) return false;
        fewer = fewer || (beside && o->n_ranks < p->n_ranks);
    }
    return fewer;
}

/* Up to which size a curve is kept where its two largest octaves are not. */
static double stored_B(const struct points *all, int from, int n) {
    double last_B = all->item[from + n - 1].size_B;
    return all->item[from].size_B * 16 <= last_B ? last_B / 4 : last_B;
}

enum { EVEN, ODD, RANKS, SIZES };

static bool is_out(const struct points *all, int i, int what) {
    int from, n;
    curve_of(all, i, &from, &n);
    if (what == RANKS) return of_most_ranks(all, i);
    if (what == SIZES) return all->item[i].size_B > stored_B(all, from, n);
    return i > from && i < from + n - 1 && (i - from) % 2 == (what == ODD);
}

/* Fit what is kept; @p predicted gets what it says of each point that is not, NAN of the others. */
static void leave_out(const struct points *all, int form, int what, double predicted[POINTS]) {
    static struct points kept;
    struct fr_price price = {.op = all->item->op};
    kept.n = 0;
    for (int i = 0; i < all->n; i++)
        if (!is_out(all, i, what)) kept.item[kept.n++] = all->item[i];
    for (int i = 0; i < all->n; i++) predicted[i] = NAN;
    if (kept.n == 0 || kept.n == all->n) return;
    assert_int_equal(fr_fitters[form - 1]->fit(kept.item, kept.n, false, &price), FR_OK);
    for (int i = 0; price.form && i < all->n; i++)
        if (is_out(all, i, what)) predicted[i] = fr_fit_price_s(&price, &all->item[i]);
    fr_price_free(&price);
}

static void same_domain(const struct points *all, const struct fr_price_domain *d) {
    bool one = false, several = false;
    for (int i = 0; i < all->n; i++) {
        const struct fr_fit_point *p = &all->item[i];
        one = one || p->level == 0, several = several || p->level > 0;
        assert_true(d->min_ranks <= p->n_ranks && p->n_ranks <= d->max_ranks &&
                    d->min_B <= p->size_B && p->size_B <= d->max_B);
    }
    bool least = false, most = false, smallest = false, largest = false;
    for (int i = 0; i < all->n; i++) {
        least = least || all->item[i].n_ranks == d->min_ranks;
        most = most || all->item[i].n_ranks == d->max_ranks;
        smallest = smallest || all->item[i].size_B == d->min_B;
        largest = largest || all->item[i].size_B == d->max_B;
    }
    assert_true(d->stated && least && most && smallest && largest && d->one_node == one &&
                d->several_nodes == several);
}

/* @return what it is chosen by */
static double a_form_is_told(const struct points *all, const struct fr_fit_op *op, int form) {
    const struct fr_fit_candidate *c = &op->candidate[form];
    static struct stated on_all, held;
    double predicted[POINTS], beyond[POINTS];
    on_all = held = (struct stated){.n = 0};
    for (int i = 0; i < all->n; i++)
        tell(&on_all, fr_fit_price_s(&c->price, &all->item[i]), all->item[i].time_s);
    is_as_reported(&c->quality, &on_all);
    for (int k = 0; k < op->n_curves; k++) {
        int from = (int)(op->curves[k].points - all->item);
        on_all.n = 0, on_all.octaves_squared = 0;
        for (int i = from; i < from + op->curves[k].n_points; i++)
            tell(&on_all, fr_fit_price_s(&c->price, &all->item[i]), all->item[i].time_s);
        is_as_reported(&op->curves[k].quality[form], &on_all);
    }
    for (int what = EVEN; what <= ODD; what++) {
        leave_out(all, form, what, predicted);
        for (int i = 0; i < all->n; i++) {
            bool end = !is_out(all, i, EVEN) && !is_out(all, i, ODD);
            if (end) assert_true(isnan(c->held_s[i]));
            if (isnan(predicted[i])) continue;
            FR_NEAR(c->held_s[i], predicted[i], 1e-12);
            tell(&held, predicted[i], all->item[i].time_s);
        }
    }
    is_as_reported(&c->held_sizes, &held);
    held = (struct stated){.n = 0};
    leave_out(all, form, RANKS, predicted);
    for (int i = 0; i < all->n; i++)
        if (!isnan(predicted[i])) tell(&held, predicted[i], all->item[i].time_s);
    is_as_reported(&c->held_ranks, &held);
    leave_out(all, form, SIZES, predicted);
    int n = 0;
    for (int i = 0; i < all->n; i++) {
        int from, length;
        curve_of(all, i, &from, &length);
        double octaves = log2(all->item[i].size_B / stored_B(all, from, length));
        if (!isnan(predicted[i]) && octaves >= 0.5)
            beyond[n++] = fabs(log(predicted[i] / all->item[i].time_s)) / octaves;
    }
    FR_NEAR(c->price.beyond_octave, fmin(10, median(beyond, n) / 0.6745), 1e-9);
    const struct fr_fit_quality *own = c->held_sizes.n ? &c->held_sizes : &c->quality;
    assert_true(c->price.residual_median == own->median && c->price.residual_p90 == own->p90 &&
                c->price.residual_points == own->n);
    same_domain(all, &c->price.domain);
    return c->held_sizes.n + c->held_ranks.n > 0 ? c->held_sizes.median + c->held_ranks.median
                                                 : 2 * c->quality.median;
}

/* By the table, but where another form is clearly better: by two fifths, by three where no rank count could be held
 * out. */
static void choice(const struct fr_fit_op *op, const double by[FR_FIT_FORMS]) {
    bool ranks = op->candidate[FR_FIT_SIMILARITY].held_ranks.n > 0;
    int best = FR_FIT_SIMILARITY;
    double least = by[best] * (ranks ? 0.6 : 0.4);
    for (int form = FR_FIT_LOG; form < FR_FIT_SIMILARITY; form++)
        if (by[form] < least) least = by[form], best = form;
    FR_TRUE((int)op->chosen == best, "chose %s, want %s", fr_fit_form_names[op->chosen],
            fr_fit_form_names[best]);
}

/* Curves within a node and over several, of as many sizes as there are, by a law, nearly or hardly. */
static void draw(uint64_t *dice, int round, struct points *all) {
    static const int64_t shape[][2] = {{2, 1}, {4, 1}, {8, 2}, {16, 4}, {16, 8}};
    double noise = round % 3 == 0   ? 0
                   : round % 3 == 1 ? 0.05
                                    : 1,
           alpha_s = 5e-6, beta = 1e-10 * (1 + uniform(dice));
    all->n = 0;
    for (int c = 0; c < 5; c++) {
        if (round % 5 != 4 && uniform(dice) < 0.3) continue;
        if (round % 7 == 6 && all->n > 0) break; /* one curve alone */
        double p = (double)shape[c][0], size_B = 8 + floor(100 * uniform(dice));
        int sizes = 1 + (int)(uniform(dice) * (round % 4 ? 10 : 3));
        for (int i = 0; i < sizes; i++, size_B = floor(size_B * (1.3 + 4 * uniform(dice))))
            add(all, FR_OP_ALL_REDUCE, shape[c][0], shape[c][1], size_B)->time_s =
                (log2(p) * alpha_s * (1 + c) + beta * size_B) *
                (round % 2 && size_B > 4096 ? 3 : 1) * exp(noise * (uniform(dice) - 0.5));
    }
    if (all->n == 0) add(all, FR_OP_ALL_REDUCE, 2, 1, 8)->time_s = 1e-6;
}

static void what_is_said_of_forms(void **state) {
    uint64_t dice = 246813579246813579u;
    int chosen[FR_FIT_FORMS] = {0}, stated = 0;
    (void)state;
    for (int round = 0; round < 160; round++) {
        static struct points all;
        double by[FR_FIT_FORMS];
        draw(&dice, round, &all);
        struct fr_fit_op op = {.points = all.item, .n_points = all.n};
        assert_int_equal(fr_fit_operation(&op, FR_FIT_BEST), FR_OK);
        for (int form = FR_FIT_LOG; form < FR_FIT_FORMS; form++) {
            by[form] = HUGE_VAL;
            if (!op.candidate[form].price.form) { /* says nothing of itself */
                assert_true(op.candidate[form].price.residual_median < 0 &&
                            op.candidate[form].price.residual_p90 < 0);
                continue;
            }
            by[form] = a_form_is_told(&all, &op, form);
            stated++;
        }
        choice(&op, by);
        chosen[op.chosen]++;
        fr_fit_operation_free(&op);
    }
    FR_TRUE(stated > 300 && chosen[FR_FIT_SIMILARITY] > 10 && chosen[FR_FIT_SIMILARITY] < 150,
            "%d; %d by the table", stated, chosen[FR_FIT_SIMILARITY]);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_algorithm_is_found_again),
                                       cmocka_unit_test(what_is_said_of_forms)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
