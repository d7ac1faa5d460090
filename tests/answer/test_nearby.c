/* Other ranks and batches that are offered: the nearest that fit, and priced as a search of them prices them. */
#include "answer/search/nearby.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "answer/search/search.h"
#include "tests/cmocka.h"

static int64_t common(int64_t a, int64_t b) { return b ? common(b, a % b) : a; }

static bool fits(int64_t ranks, int64_t batch) {
    return common(ranks, batch) == (ranks < batch ? ranks : batch);
}

static bool fills(int64_t ranks, int64_t node) {
    return ranks > node ? ranks % node == 0 : node % ranks == 0;
}

/* For every rank count and batch, the offer fits and nothing nearer does. */
static void nearest_that_fit(void **state) {
    (void)state;
    static const int64_t nodes[] = {1, 4, 8};
    for (int64_t n = 2; n <= 130; n++)
        for (int64_t b = 1; b <= 300; b += n % 2 ? 1 : 3) {
            int64_t batch = fr_nearby_batch(n, b), far = llabs(batch - b);
            FR_TRUE(batch > 0 && fits(n, batch),
                    "%" PRId64 " ranks, batch %" PRId64 ": %" PRId64, n, b, batch);
            for (int64_t x = b - far + 1; x < b + far; x++)
                FR_TRUE(x < 1 || !fits(n, x) || (b >= n) != (x >= n),
                        "%" PRId64 " ranks, batch %" PRId64 ": %" PRId64
                        " is nearer than %" PRId64,
                        n, b, x, batch);
            for (int i = 0; i < 3; i++) {
                int64_t m = fr_nearby_ranks(n, b, nodes[i], 144),
                        reach = m ? llabs(m - n) : n / 2 + 1;
                FR_TRUE(!m || (m > 1 && m <= 144 && fits(m, b) && fills(m, nodes[i])),
                        "batch %" PRId64 ", %" PRId64 " ranks: %" PRId64, b, n, m);
                for (int64_t x = n - reach + 1; x < n + reach; x++)
                    FR_TRUE(x < 2 || x == n || x > 144 || !fits(x, b) || !fills(x, nodes[i]),
                            "batch %" PRId64 ", %" PRId64 " ranks: %" PRId64
                            " is nearer than %" PRId64,
                            b, n, x, m);
            }
        }
}

static void search(const char *ranks, int64_t batch, bool advise, fr_objective objective,
                   struct fr_searched *r) {
    char set[64];
    const char *const sets[] = {set, "method=tensor"};
    static const char *const vary[] = {"tp=1,2,4,8", "pp=1,2,4", "zero=0,1"};
    const struct fr_job_names names = {
        .cluster = "dgx-h100", .model = "llama-3-8b", .sets = sets, .n_sets = 2};
    struct fr_error err = {.status = FR_OK};
    snprintf(set, sizeof set, "global_batch=%" PRId64, batch);
    *r = (struct fr_searched){
        .advise = advise,
        .options = {.top = 5, .max_lossy = 1, .threads = 1, .objective = objective}};
    if (fr_job_load(&names, &r->job, &err) != FR_OK ||
        fr_searched_make(ranks, vary, 3, &names, r, &err) != FR_OK)
        fail_msg("%s: %s", err.where, err.detail);
}

static double of_sample(const struct fr_searched *r, int64_t batch) {
    const struct fr_outcome *out = &r->result.top.items[0].outcome;
    bool energy = r->options.objective == FR_OBJECTIVE_ENERGY;
    return (energy ? out->energy_J : out->time_s * (double)out->ranks) / (double)batch;
}

/* An offer is the answer of a search for it, and its gain is that of the two answers. */
static void offers_hold(void **state) {
    (void)state;
    static const struct {
        const char *ranks;
        int64_t batch;
    } asked[] = {{"63", 512}, {"64", 500}, {"24", 128}, {"12", 64}, {"16", 20},
                 {"40", 512}, {"64", 512}, {"8", 64},   {"32", 33}, {"48", 7}};
    struct fr_searched *r = calloc(2, sizeof *r);
    int offers = 0, alone = 0;
    for (size_t i = 0; r && i < sizeof asked / sizeof *asked; i++)
        for (int energy = 0; energy < 2; energy++) {
            fr_objective objective = energy ? FR_OBJECTIVE_ENERGY : FR_OBJECTIVE_TIME;
            search(asked[i].ranks, asked[i].batch, true, objective, &r[0]);
            if (fits(atol(asked[i].ranks), asked[i].batch)) assert_int_equal(r[0].n_nearby, 0);
            for (int k = 0; k < r[0].n_nearby; k++) {
                const struct fr_nearby *one = &r[0].nearby[k];
                char ranks[32];
                bool changes = strcmp(one->key, "ranks") == 0;
                int64_t batch = changes ? asked[i].batch : one->value;
                snprintf(ranks, sizeof ranks, "%" PRId64,
                         changes ? one->value : atol(asked[i].ranks));
                search(ranks, batch, false, objective, &r[1]);
                assert_true(r[1].result.top.count > 0);
                assert_true(r[1].result.top.items[0].outcome.time_s == one->time_s);
                assert_int_equal(r[1].n_nearby, 0);
                bool none = r[0].result.top.count == 0;
                double gain =
                    none ? 0 : of_sample(&r[0], asked[i].batch) / of_sample(&r[1], batch) - 1;
                FR_TRUE(none ? isnan(one->gain)
                             : fabs(one->gain - gain) < 1e-12 && gain >= 0.02,
                        "%s ranks, batch %" PRId64 ", %s: %g and %g", asked[i].ranks,
                        asked[i].batch, one->key, one->gain, gain);
                fr_searched_free(&r[1]);
                offers++, alone += none;
            }
            fr_searched_free(&r[0]);
        }
    free(r);
    FR_TRUE(offers >= 8 && alone >= 2, "%d offers, %d where nothing could be", offers, alone);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(nearest_that_fit),
                                       cmocka_unit_test(offers_hold)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
