/* Random samples of an accelerator, each fitted a second time by hand: launches, the host's link, passes over memory, what
 * products lose beside collectives, and what runs at once.  Every value is a median of some of the samples. */
#include <math.h>
#include <stdlib.h>

#include "base/random.h"
#include "calibrate/fit/parts.h"
#include "tests/cmocka.h"

enum { MOST = 60 };

struct measured {
    struct fr_sample_kernel kernel[MOST];
    struct fr_sample_link link[MOST];
    struct fr_sample_memory memory[MOST];
    struct fr_sample_overlap overlap[MOST];
    struct fr_sample_pairs pairs[MOST];
    struct fr_sample_collective alone[MOST], several[MOST];
    struct fr_samples samples;
};

static int ascending(const void *x, const void *y) {
    double a = *(const double *)x, b = *(const double *)y;
    return (a > b) - (a < b);
}

static double middle(double *x, size_t n) {
    qsort(x, n, sizeof *x, ascending);
    return n == 0 ? 0 : 0.5 * (x[(n - 1) / 2] + x[n / 2]);
}

/* Median of @p value over the samples @p one of a list of which @p wanted is true. */
#define MEDIAN(type, list, count, wanted, value)                                               \
    __extension__({                                                                            \
        double found_[MOST];                                                                   \
        size_t n_ = 0;                                                                         \
        for (size_t i_ = 0; i_ < (count); i_++) {                                              \
            const struct type *one = &(list)[i_];                                              \
            if (wanted) found_[n_++] = (value);                                                \
        }                                                                                      \
        middle(found_, n_);                                                                    \
    })

/* ---- samples ------------------------------------------------------------------------------------ */

static int below(uint64_t *dice, int n) { return (int)(fr_random_next(dice) % (uint64_t)n); }
static double time_of(uint64_t *dice) {
    return 1e-4 * (1 + fr_random_uniform(fr_random_next(dice)));
}

static void measure(struct measured *m, uint64_t *dice) {
    const size_t n = (size_t)below(dice, MOST);
    *m = (struct measured){.samples = {.provenance = {.device = "drawn",
                                                      .device_memory_B = 8e10,
                                                      .ranks = 8,
                                                      .ranks_per_node = 8,
                                                      .nodes = 1}}};
    for (size_t i = 0; i < n; i++) {
        m->kernel[i] =
            (struct fr_sample_kernel){.graph = below(dice, 2), .time_s = time_of(dice)};
        m->link[i] = (struct fr_sample_link){.way = below(dice, 2),
                                             .pinned = below(dice, 2),
                                             .size_B = 1 << (10 + below(dice, 4)),
                                             .time_s = time_of(dice)};
        double size_B = 1e8 * (1 << below(dice, 5));
        m->memory[i] = (struct fr_sample_memory){.kernel = below(dice, FR_TRAFFIC_OPERANDS),
                                                 .size_B = size_B,
                                                 .moved_B = 1.5 * size_B,
                                                 .time_s = time_of(dice)};
        m->overlap[i] = (struct fr_sample_overlap){.op = below(dice, 2) ? FR_OP_ALL_REDUCE
                                                                        : FR_OP_ALL_GATHER,
                                                   .part = below(dice, 4),
                                                   .n_ranks = 8,
                                                   .size_B = 1 << (20 + below(dice, 2)),
                                                   .m = 512,
                                                   .n = 512,
                                                   .k = 512 << below(dice, 2)};
        m->overlap[i].time_s =
            time_of(dice) * (m->overlap[i].part == FR_OVERLAP_DURING ? 1.4 : 1);
        m->pairs[i] = (struct fr_sample_pairs){.level = below(dice, 2),
                                               .direction = below(dice, 2),
                                               .n_pairs = 1 << below(dice, 3),
                                               .size_B = 1 << (20 + below(dice, 3)),
                                               .time_s = time_of(dice)};
        struct fr_sample_collective one = {
            .op = below(dice, 2) ? FR_OP_ALL_REDUCE : FR_OP_ALL_GATHER,
            .level = FR_SAMPLE_NODE,
            .n_ranks = 2 << below(dice, 2),
            .n_nodes = 1,
            .n_groups = 1,
            .size_B = below(dice, 6) ? 1 << (20 + below(dice, 4)) : 0,
            .time_s = time_of(dice)};
        m->alone[i] = one;
        one.n_groups = 2 << below(dice, 2), one.layout = below(dice, 2);
        one.size_B = below(dice, 6) ? 1 << (20 + below(dice, 5)) : 0;
        one.time_s = 1.5 * time_of(dice);
        m->several[i] = one;
    }
    struct fr_samples *s = &m->samples;
    s->kernel = m->kernel, s->link = m->link, s->memory = m->memory;
    s->overlap = m->overlap, s->pairs = m->pairs;
    s->collective = m->alone, s->segmented = m->several;
    s->n_kernel = s->n_link = s->n_memory = s->n_overlap = s->n_pairs = n;
    s->n_collective = s->n_segmented = n;
}

/* ---- by hand ------------------------------------------------------------------------------------ */

/* Copies of the largest pinned size count, one way. */
static double link_rate(const struct measured *m, int way) {
    const size_t n = m->samples.n_link;
    double most = 0;
    for (size_t i = 0; i < n; i++)
        if (m->link[i].pinned) most = fmax(most, m->link[i].size_B);
    return MEDIAN(fr_sample_link, m->link, n,
                  one->pinned && one->way == way && one->size_B == most,
                  one->size_B / one->time_s);
}

/* Over the kernel's largest set; 0 where that is less than a fifth of a copy's. */
static double memory_rate(const struct measured *m, int kernel) {
    const size_t n = m->samples.n_memory;
    double most = 0, copied = 0;
    for (size_t i = 0; i < n; i++) {
        if (m->memory[i].kernel == kernel) most = fmax(most, m->memory[i].size_B);
        if (m->memory[i].kernel == FR_TRAFFIC_STREAM)
            copied = fmax(copied, m->memory[i].size_B);
    }
    return most < 0.2 * copied ? 0
                               : MEDIAN(fr_sample_memory, m->memory, n,
                                        one->kernel == kernel && one->size_B == most,
                                        one->moved_B / one->time_s);
}

static double spread(const struct measured *m) {
    double copy = memory_rate(m, FR_TRAFFIC_STREAM), sum = 0;
    int others = 0;
    for (int kernel = 0; kernel < FR_TRAFFIC_OPERANDS; kernel++) {
        double rate = memory_rate(m, kernel);
        if (kernel == FR_TRAFFIC_STREAM || rate <= 0) continue;
        sum += pow(log(rate / copy), 2);
        others++;
    }
    return copy > 0 && others > 0 ? sqrt(sum / others) : 0;
}

/* The median share of the shorter one that a product beside a collective takes longer than alone. */
static double interference(const struct measured *m) {
    const size_t n = m->samples.n_overlap;
    double share[MOST];
    size_t shares = 0;
    for (size_t k = 0; k < n; k++) {
        const struct fr_sample_overlap *of = &m->overlap[k];
        if (of->part != FR_OVERLAP_DURING) continue;
        double part_s[2];
        for (int part = 0; part < 2; part++)
            part_s[part] =
                MEDIAN(fr_sample_overlap, m->overlap, n,
                       one->part == (part ? FR_OVERLAP_COMPUTE : FR_OVERLAP_COMM) &&
                           one->op == of->op && one->size_B == of->size_B && one->k == of->k,
                       one->time_s);
        if (!(part_s[0] > 0 && part_s[1] > 0)) continue;
        double longer_s = of->time_s - part_s[1],
               shorter_s = part_s[0] < part_s[1] ? part_s[0] : part_s[1];
        share[shares++] = longer_s < 0 ? 0 : longer_s > shorter_s ? 1 : longer_s / shorter_s;
    }
    return middle(share, shares);
}

/* Times as long as alone that @p a takes, of the largest size of its kind that was measured both ways; 0: none was. */
static double groups_slower(const struct measured *m, const struct fr_fit_at_once *a) {
    const size_t n = m->samples.n_segmented;
    for (double size_B = 1 << 26; size_B >= 1 << 20; size_B /= 2) {
        double both = MEDIAN(fr_sample_collective, m->several, n,
                             one->op == a->op && one->n_ranks == a->n_ranks &&
                                 one->layout == a->layout && one->n_groups == a->n &&
                                 one->size_B == size_B,
                             one->time_s),
               alone = MEDIAN(fr_sample_collective, m->alone, n,
                              one->op == a->op && one->n_ranks == a->n_ranks &&
                                  one->size_B == size_B,
                              one->time_s);
        if (both > 0 && alone > 0) {
            FR_NEAR(a->size_B, size_B, 0);
            return both / alone;
        }
    }
    return 0;
}

/* Pairs are asked for the largest size at which so many were measured, whether alone or not. */
static double pairs_slower(const struct measured *m, const struct fr_fit_at_once *a) {
    const size_t n = m->samples.n_pairs;
    double most = 0;
    for (size_t i = 0; i < n; i++)
        if (m->pairs[i].level == a->level && m->pairs[i].direction == a->layout &&
            m->pairs[i].n_pairs == a->n)
            most = fmax(most, m->pairs[i].size_B);
    FR_NEAR(a->size_B, most, 0);
    double s[2];
    for (int k = 0; k < 2; k++)
        s[k] = MEDIAN(fr_sample_pairs, m->pairs, n,
                      one->level == a->level && one->direction == a->layout &&
                          one->n_pairs == (k ? a->n : 1) && one->size_B == most,
                      one->time_s);
    return s[0] > 0 ? s[1] / s[0] : 0;
}

/* Kinds of which something was measured both ways. */
static int kinds_at_once(const struct measured *m) {
    int kinds = 0;
    for (int k = 0; k < 32; k++) {
        struct fr_fit_at_once a = {.op = k & 1 ? FR_OP_ALL_REDUCE : FR_OP_ALL_GATHER,
                                   .layout = k >> 1 & 1,
                                   .n_ranks = 2 << (k >> 2 & 1),
                                   .n = 2 << (k >> 3 & 1)};
        if (k >= 16) break;
        for (a.size_B = 1 << 20; a.size_B < 1 << 26; a.size_B *= 2) {
            bool both = false, alone = false;
            for (size_t i = 0; i < m->samples.n_segmented; i++) {
                const struct fr_sample_collective *s = &m->several[i], *o = &m->alone[i];
                both = both || (s->op == a.op && s->layout == a.layout && s->n_groups == a.n &&
                                s->n_ranks == a.n_ranks && s->size_B == a.size_B);
                alone = alone ||
                        (o->op == a.op && o->n_ranks == a.n_ranks && o->size_B == a.size_B);
            }
            if (!both || !alone) continue;
            kinds++;
            break;
        }
    }
    return kinds;
}

static void cards_fit_as_by_hand(void **state) {
    uint64_t dice = 20261127;
    int interfered = 0, at_once = 0;
    (void)state;
    for (int round = 0; round < 400; round++) {
        static struct measured m;
        struct fr_fit_result r = {0};
        const struct fr_fit_options options = {.busy_W = -1, .idle_W = -1};
        measure(&m, &dice);
        assert_int_equal(fr_fit_card(&m.samples, &options, &r), FR_OK);
        const struct fr_fit_card *c = &r.card;
        const size_t n = m.samples.n_kernel;
        double to_device = link_rate(&m, FR_WAY_TO_DEVICE),
               to_host = link_rate(&m, FR_WAY_TO_HOST);
        assert_true(c->present && c->memory_B == 8e10);
        FR_NEAR(c->launch_s, MEDIAN(fr_sample_kernel, m.kernel, n, !one->graph, one->time_s),
                0);
        FR_NEAR(c->graph_s, MEDIAN(fr_sample_kernel, m.kernel, n, one->graph, one->time_s), 0);
        FR_NEAR(c->link_rate_B_per_s,
                to_device > 0 && to_host > 0 && to_host < to_device ? to_host
                : to_device > 0                                     ? to_device
                                                                    : to_host,
                1e-12);
        FR_NEAR(c->memory_rate_B_per_s, memory_rate(&m, FR_TRAFFIC_STREAM), 1e-12);
        FR_NEAR(c->memory_spread, spread(&m), 1e-9);
        FR_NEAR(c->interference, interference(&m), 1e-12);
        interfered += c->interference > 0.05 && c->interference < 0.95;
        int groups = 0;
        for (int i = 0; i < c->n_at_once; i++) {
            const struct fr_fit_at_once *a = &c->at_once[i];
            bool pairs = a->op == FR_OP_SEND_RECV;
            FR_NEAR(a->slower, pairs ? pairs_slower(&m, a) : groups_slower(&m, a), 1e-12);
            assert_true(!pairs || (a->n > 1 && a->n_ranks == 2));
            groups += !pairs;
        }
        assert_int_equal(groups, kinds_at_once(&m));
        at_once += groups;
        fr_fit_free(&r);
    }
    FR_TRUE(interfered > 50 && at_once > 400, "%d, %d", interfered, at_once);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(cards_fit_as_by_hand)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
