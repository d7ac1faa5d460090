/* Words that mean something else than who wrote them thinks are asked back, not priced. */
#include "calibrate/measure/launch.h"
#include "tests/app/command.h"

/* "1" may be one percent: a bare number from a tenth on names a unit, what has one is what it says. */
static void shares_name_their_unit(void **state) {
    (void)state;
    static const char line_of[] =
        "forerun search --cluster dgx-a100 --model gpt-2 --ranks 2 --set global_batch=8 --vary "
        "tp=1,2 --objective energy --json --max-slowdown ";
    static const struct {
        const char *word;
        double share; /* negative: asked back */
    } shares[] = {{"0", 0},    {"1%", 0.01},    {"0.01", 0.01}, {"0.09", 0.09},   {"9%", 0.09},
                  {"100%", 1}, {"0.5%", 0.005}, {"1", -1},      {"0.1", -1},      {"0.5", -1},
                  {"2", -1},   {"1000", -1},    {"-1%", -1},    {"1001%", -1},    {"1%%", -1},
                  {"%", -1},   {"nan", -1},     {"inf%", -1},   {"1 percent", -1}};
    for (size_t i = 0; i < sizeof shares / sizeof *shares; i++) {
        char line[400], limit[64];
        snprintf(line, sizeof line, "%s%s", line_of, shares[i].word);
        snprintf(limit, sizeof limit, "\"limit\": %.9g,", shares[i].share);
        if (shares[i].share < 0)
            fr_test_expect(line, 2, NULL,
                           strchr(shares[i].word, ' ') ? NULL : "--max-slowdown");
        else
            fr_test_expect(line, 0, limit, NULL);
    }
    char line[400];
    snprintf(line, sizeof line, "%s1", line_of);
    fr_test_expect(line, 2, NULL, "\"1\" may be 1 % or 100 %; write \"1%\" or \"100%\"");
}

/* A measured time is one of a plan of the user's, above 0 and with a unit. */
static void measured_times_are_of_plans(void **state) {
    (void)state;
    static const char line_of[] =
        "forerun search --cluster dgx-h100 --model llama-3-8b --ranks 16 --set global_batch=64 "
        "--vary tp=1,2,4,8 --json";
    static const struct {
        const char *words, *found, *printed;
        int code;
    } cases[] = {{"--measured 2s", NULL, "stands 1 times beside 0 of --include", 2},
                 {"--tuned", NULL, "is said of plans of --include", 2},
                 {"--include {\"tp\":2} --measured 2", NULL, "has no unit", 3},
                 {"--include {\"tp\":2} --measured 0s", NULL, "no time above 0", 2},
                 {"--include {\"tp\":2} --measured -2s", NULL, "--measured", 2},
                 {"--include {\"tp\":2} --measured 2s --measured 3s", NULL,
                  "stands 2 times beside 1", 2},
                 {"--include {\"tp\":2} --measured 2s --include {\"tp\":4}",
                  "\"measured_s\": 2,", NULL, 0},
                 {"--include {\"tp\":2} --tuned", "\"tuned\": true", NULL, 0},
                 {"--include {\"tp\":8} --measured 900s", "\"claim\": \"faster\"", NULL, 0},
                 {"--include {\"tp\":8} --measured 1ms", "\"claim\": \"slower\"", NULL, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char line[400];
        snprintf(line, sizeof line, "%s %s", line_of, cases[i].words);
        fr_test_expect(line, cases[i].code, cases[i].found, cases[i].printed);
    }
}

/* More ranks than cores measure the scheduler; whoever means that says so, and launchers know their own cores. */
static void ranks_have_cores(void **state) {
    (void)state;
    static const char *const how[] = {"", "--quick ", "--check ", "--refresh "};
    int cores = fr_launch_cores() > 2 ? fr_launch_cores() : 2;
    char line[300], found[40];
    snprintf(found, sizeof found, "more than the %d core", fr_launch_cores());
    for (size_t i = 0; i < sizeof how / sizeof *how; i++)
        for (int more = 1; more < 2000; more *= 10) {
            snprintf(line, sizeof line, "forerun calibrate %s--ranks %d", how[i], cores + more);
            fr_test_expect(line, 2, NULL, found);
        }
    /* The next thing that is wrong is found then. */
    static const char *const meant[] = {"--oversubscribe", "--launcher nosuch"};
    for (int i = 0; i < 2; i++) {
        snprintf(line, sizeof line,
                 "forerun calibrate --ranks 1000 --out /nonexistent/c.json %s", meant[i]);
        fr_test_expect(line, 1, NULL, "/nonexistent/c.json");
    }
    snprintf(line, sizeof line, "forerun calibrate --ranks %d --out /nonexistent/c.json",
             cores);
    fr_test_expect(line, 1, NULL, "/nonexistent/c.json");
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(shares_name_their_unit),
                                       cmocka_unit_test(measured_times_are_of_plans),
                                       cmocka_unit_test(ranks_have_cores)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
