/* Timers of Megatron-LM in each of its forms: phases of the fastest and the slowest rank. */
#include <math.h>
#include <string.h>

#include "answer/trainer/timers.h"
#include "tests/cmocka.h"

static void take(struct fr_timers *t, const char *text) {
    char line[400];
    *t = (struct fr_timers){.reports = 0};
    for (size_t n; *text; text += n + (text[n] == '\n')) {
        n = strcspn(text, "\n");
        snprintf(line, sizeof line, "%.*s", (int)n, text);
        fr_timers_line(t, line);
    }
}

static const struct {
    const char *what, *text;
    double least_ms[FR_TIMER_KINDS], most_ms[FR_TIMER_KINDS]; /* 0: not printed */
} forms[] = {
    {"minmax",
     "(min, max) time across ranks (ms):\n"
     "    forward-backward ...............................: (5012.50, 5013.25)\n"
     "    forward-compute ................................: (1700.00, 1701.00)\n"
     "    backward-compute ...............................: (3300.00, 3301.00)\n"
     "    layernorm-grads-all-reduce .....................: (0.02, 0.03)\n"
     "    all-grads-sync .................................: (10.00, 400.00)\n"
     "    optimizer-inner-step ...........................: (30.00, 31.00)\n"
     "    optimizer ......................................: (40.00, 45.00)\n",
     {5012.5, 10, 40},
     {5013.25, 400, 45}},
    {"max",
     "max time across ranks (ms):\n    forward-backward ....: 5013.25\n    optimizer ....: "
     "45.00\n",
     {5013.25, 0, 45},
     {5013.25, 0, 45}},
    {"all",
     "times across ranks (ms):\n  forward-backward:\n     rank  0: 5012.50\n     rank  1: "
     "5113.25\n"
     "  all-grads-sync:\n     rank  0: 110.00\n     rank  1: 10.00\n",
     {5012.5, 10, 0},
     {5113.25, 110, 0}},
    {"until 2022",
     "time (ms) | forward-compute: 1700.00 | backward-compute: 3300.00 | "
     "backward-params-all-reduce: 100.00 | backward-embedding-all-reduce: 3.00 | optimizer: "
     "45.00 "
     "| batch-generator: 2.00\n",
     {5000, 100, 45},
     {5000, 100, 45}},
    {"the last of two reports in the middle of a log",
     "max time across ranks (ms):\n    optimizer ....: 50.00\n iteration 2/ 10 | consumed "
     "samples\n"
     "    optimizer ....: 90.00\n",
     {0, 0, 50},
     {0, 0, 50}},
};

static void every_form(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        struct fr_timers t;
        take(&t, forms[i].text);
        for (int k = 0; k < FR_TIMER_KINDS; k++) {
            double least_s = 0, most_s = 0;
            fr_timers_of(&t, k, &least_s, &most_s);
            FR_TRUE(fabs(1e3 * least_s - forms[i].least_ms[k]) < 1e-9 &&
                        fabs(1e3 * most_s - forms[i].most_ms[k]) < 1e-9,
                    "%s, %s: %g to %g ms", forms[i].what, fr_timer_names[k], 1e3 * least_s,
                    1e3 * most_s);
        }
    }
}

/* The rank that was made slow is found among any number, with its excess over the median. */
static void the_slow_rank_is_found(void **state) {
    (void)state;
    for (int ranks = 2; ranks <= 64; ranks++) {
        struct fr_timers t = {.reports = 0};
        char line[80];
        double excess = 0;
        const int slow = ranks * 5 / 7;
        fr_timers_line(&t, "times across ranks (ms):");
        fr_timers_line(&t, "  forward-backward:");
        for (int r = 0; r < ranks; r++) {
            snprintf(line, sizeof line, "     rank %2d: %.2f", r, r == slow ? 1200.0 : 1000.0);
            fr_timers_line(&t, line);
        }
        assert_int_equal(fr_timers_slowest(&t, &excess), slow);
        FR_TRUE(fabs(excess - 0.2) < 1e-12, "%d ranks: %g", ranks, excess);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_form),
                                       cmocka_unit_test(the_slow_rank_is_found)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
