/* Files kept from each release (tests/releases) read to the answers that the release itself gave on them: times, energies,
 * bytes and counts to rounding.  Intervals and shares are of today.  0.1 is what commit e79ef0f0 printed. */
#include <math.h>

#include "base/json.h"
#include "base/text.h"
#include "tests/app/command.h"

static const char *const releases[] = {"0.1", "0.2"};
enum { RELEASES = sizeof releases / sizeof *releases };

/* Words of each command, "@" before a file of the release, and the answer that it kept.  A runtime is a file since 0.2. */
static const struct {
    const char *line, *answer;
    bool since_2;
} commands[] = {
    {"predict -c @cluster.json -m @model.json -p @plan.json", "outcome.json", false},
    {"predict -c @cluster.json -m @model.json -p @plan.json --runtime @runtime.json",
     "outcome.json", true},
    {"predict -c @cluster.json -m @model.json -p @outcome.json", "outcome.json", false},
    {"search -c @cluster.json -m @model.json --ranks 8 --vary method=tensor,phantom --top 1",
     "search.json", false},
    {"score -c @cluster.json --runs @runs.csv", "score.json", false},
    {"collective -c @samples.jsonl --op all_reduce --ranks 8 --size 8..1MiB*64",
     "collective.json", false}};
enum { COMMANDS = sizeof commands / sizeof *commands };

static void line_of(const char *release, const char *words, struct fr_text *line) {
    fr_text_addf(line, "forerun ");
    for (; *words; words++)
        if (*words == '@')
            fr_text_addf(line, "%s/tests/releases/%s/", FR_SOURCE_DIR, release);
        else
            fr_text_add(line, words, 1);
    fr_text_addf(line, " --json");
}

/* ---- answers side by side ------------------------------------------------------------------------- */

/* Numbers that a version's model of errors or its accounting of useful work sets. */
static bool may_differ(const char *key) {
    static const char *const keys[] = {"elapsed_s", "mfu",     "hfu",           "provenance",
                                       "plan",      "odds",    "crossovers",    "sensitivity",
                                       "coverage",  "version", "probability",   "bounds",
                                       "evaluated", "pruned",  "uncertainties", NULL};
    for (int i = 0; keys[i]; i++)
        if (strcmp(keys[i], key) == 0) return true;
    return strstr(key, "low_") || strstr(key, "high_") || strstr(key, "flop_per_s") ||
           strstr(key, "_low") || strstr(key, "_high");
}

/* Counts the numbers that agree. */
static int compare(const struct fr_json *then, const struct fr_json *now, const char *what) {
    double a = 0, b = 0;
    int n = 0;
    if (fr_json_is_number(then)) {
        FR_TRUE(fr_json_is_number(now), "%s: no number any more", what);
        fr_json_number(then, -1e300, 1e300, &a, NULL);
        fr_json_number(now, -1e300, 1e300, &b, NULL);
        FR_TRUE(fabs(a - b) <= 1e-9 * fmax(fabs(a), fabs(b)), "%s: %.12g, and was %.12g", what,
                b, a);
        return 1;
    }
    for (int64_t i = 0; fr_json_is_array(then) && i < fr_json_array_length(then); i++) {
        struct fr_json x = fr_json_element(then, i), y = fr_json_element(now, i);
        n += compare(&x, &y, what);
    }
    if (fr_json_is_object(then))
        for (const char *key = NULL; (key = fr_json_key_after(then, key)) != NULL;) {
            struct fr_json x = fr_json_member(then, key), y = fr_json_member(now, key);
            char path[256];
            if (may_differ(key)) continue;
            snprintf(path, sizeof path, "%.180s/%.60s", what, key);
            n += compare(&x, &y, path);
        }
    return n;
}

static void hold(const char *release, int c) {
    struct fr_json_document *then = NULL, *now = NULL;
    struct fr_text line = {0};
    char path[1024];
    line_of(release, commands[c].line, &line);
    snprintf(path, sizeof path, "%s/tests/releases/%s/%s", FR_SOURCE_DIR, release,
             commands[c].answer);
    struct output o = fr_test_run(fr_text_get(&line));
    FR_TRUE(o.exit_code == 0, "%s: %s", fr_text_get(&line), o.err);
    assert_int_equal(fr_json_read(path, &then, NULL), FR_OK);
    assert_int_equal(fr_json_parse(o.out, strlen(o.out), "now", &now, NULL), FR_OK);
    struct fr_json a = fr_json_root(then), b = fr_json_root(now);
    FR_TRUE(compare(&a, &b, fr_text_get(&line)) >= 4, "%s: too little compared",
            fr_text_get(&line));
    fr_json_free(then), fr_json_free(now);
    fr_test_output_free(&o);
    fr_text_free(&line);
}

static void same_answers(void **state) {
    (void)state;
    for (int r = 0; r < RELEASES; r++)
        for (int c = 0; c < COMMANDS; c++)
            if (r > 0 || !commands[c].since_2) hold(releases[r], c);
}

/* A report of what an older release answered, and plans in it. */
static void answers_are_read(void **state) {
    static const char *const answers[] = {"outcome.json", "search.json", "score.json",
                                          "collective.json"};
    (void)state;
    for (int r = 0; r < RELEASES; r++)
        for (size_t i = 0; i < sizeof answers / sizeof *answers; i++) {
            char line[1500];
            snprintf(line, sizeof line, "forerun report %s/tests/releases/%s/%s -o -",
                     FR_SOURCE_DIR, releases[r], answers[i]);
            fr_test_expect(line, 0, "<html", NULL);
        }
}

/* Values that a version may set anew are not compared; all others are. */
static void intervals_are_left_out(void **state) {
    struct fr_json_document *then = NULL, *now = NULL;
    static const char a[] = "{\"time_s\": 1, \"low_s\": 1, \"rows\": [{\"n\": 2}]}",
                      b[] = "{\"time_s\": 1, \"low_s\": 2, \"rows\": [{\"n\": 2}]}";
    (void)state;
    assert_int_equal(fr_json_parse(a, strlen(a), "a", &then, NULL), FR_OK);
    assert_int_equal(fr_json_parse(b, strlen(b), "b", &now, NULL), FR_OK);
    struct fr_json x = fr_json_root(then), y = fr_json_root(now);
    assert_int_equal(compare(&x, &y, ""), 2);
    fr_json_free(then), fr_json_free(now);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(same_answers),
        cmocka_unit_test(answers_are_read),
        cmocka_unit_test(intervals_are_left_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
