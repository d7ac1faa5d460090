/* --plan takes what forerun printed of a plan: each document that holds one gives back the same outcome. */
#include <stdio.h>

#include "tests/app/command.h"
#include "tests/scratch.h"

static char *run(const char *line, int exit_code) {
    struct output o = fr_test_run(line);
    if (o.exit_code != exit_code)
        fail_msg("%s: exit %d\n%s%s", line, o.exit_code, o.out, o.err);
    free(o.err);
    return o.out;
}

/* A plan that states all keys says the same as one that leaves them to be assumed. */
static char *before_provenance(char *outcome) {
    char *at = strstr(outcome, "\"provenance\"");
    assert_non_null(at);
    *at = '\0';
    return outcome;
}

static void put(const char *name, const char *text) {
    FILE *file = fopen(name, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0 && fclose(file) == 0);
}

static const struct {
    const char *inputs, *plan;
} plans[] = {
    {"--cluster dgx-h100 --model llama-3-8b",
     "--set tp=2 --set dp=8 --set zero=1 --set micro_batch=1"},
    {"--cluster frontier --model ffn-16384", "--set tp=8 --set method=phantom --set ghost=16"},
    {"--cluster cori-knl --model alexnet", "--set method=grid --set tp=4 --set dp=8"},
    {"--cluster a100-hdr --model gpt-2.5b",
     "--set tp=8 --set pp=4 --set dp=2 --set compression.backward.scope=all --set "
     "global_batch=64 --set micro_batch=2"},
    {"--cluster dgx-a100 --model gpt-2", "--set tp=7 --set dp=2"}, /* cannot be */
};
enum { N_PLANS = sizeof plans / sizeof *plans };

/* "VERB ..." whose document holds the plan of what predict prints. */
static const char *const printed[] = {"predict --json", "predict --explain --json",
                                      "predict --samples 1M --json", "simulate --json"};

static void same_outcome(void **state) {
    (void)state;
    for (int i = 0; i < N_PLANS; i++) {
        bool can = i + 1 < N_PLANS;
        char line[600];
        snprintf(line, sizeof line, "forerun predict --json %s %s", plans[i].inputs,
                 plans[i].plan);
        char *whole = run(line, can ? 0 : 4), *outcome = before_provenance(strdup(whole));
        for (size_t k = 0; k < sizeof printed / sizeof *printed; k++) {
            snprintf(line, sizeof line, "forerun %s %s %s", printed[k], plans[i].inputs,
                     plans[i].plan);
            char *document = run(line, can ? 0 : 4);
            put("document.json", document);
            snprintf(line, sizeof line, "forerun predict --json %s --plan document.json",
                     plans[i].inputs);
            char *again = run(line, can ? 0 : 4);
            FR_TRUE(strcmp(before_provenance(again), outcome) == 0,
                    "%s, %s: another outcome of its document", printed[k], plans[i].plan);
            free(again), free(document);
        }
        put("document.json", whole);
        snprintf(line, sizeof line,
                 "forerun compare-plans --json %s document.json document.json",
                 plans[i].inputs);
        if (can) free(run(line, 0));
        free(outcome), free(whole);
    }
}

/* A search gives its best plan, and so do plans side by side; the plan beside it is changed. */
static void the_best(void **state) {
    (void)state;
    static const char inputs[] = "--cluster dgx-h100 --model llama-3-8b";
    char line[400];
    snprintf(line, sizeof line,
             "forerun search %s --ranks 16 --vary tp=1,2,4 --vary zero=0,1 --json", inputs);
    char *found = run(line, 0);
    put("best.json", found);
    const char *time = strstr(strstr(found, "\"best\": {"), "\"iteration_time_s\": ");
    char time_text[64];
    snprintf(time_text, sizeof time_text, "%.*s", (int)strcspn(time, ","), time);
    static const char *const verbs[] = {"predict", "simulate"};
    for (int v = 0; v < 2; v++) {
        snprintf(line, sizeof line, "forerun %s %s --plan best.json --json", verbs[v], inputs);
        char *text = run(line, 0);
        if (v == 0) assert_non_null(strstr(text, time_text));
        free(text);
    }
    snprintf(line, sizeof line,
             "forerun predict %s --plan best.json --set plan.micro_batch=1 --json", inputs);
    fr_test_expect(line, 0, "\"micro_batch\": 1", NULL);
    snprintf(line, sizeof line, "forerun compare-plans %s best.json {\"tp\":8,\"dp\":2} --json",
             inputs);
    char *compared = run(line, 0);
    put("compared.json", compared);
    snprintf(line, sizeof line, "forerun predict %s --plan compared.json --json", inputs);
    fr_test_expect(line, 0, time_text, NULL);
    snprintf(line, sizeof line,
             "forerun search %s --ranks 16 --vary tp=1,2,4 --vary zero=0,1 --include best.json",
             inputs);
    fr_test_expect(line, 0, "rank 1 of", NULL);
    free(found), free(compared);
}

/* Where nothing could be, where there is no plan, and where it is not one: the sentence says so. */
static void no_plan(void **state) {
    (void)state;
    static const char inputs[] = "--cluster dgx-h100 --model llama-3-8b";
    static const struct {
        const char *text, *where, *says;
    } bad[] = {{"{\"schema\": \"forerun/search/1\", \"best\": null}", "bad.json#/best",
                "none of the plans of this search can be"},
               {"{\"schema\": \"forerun/list/1\"}", "bad.json#/", "holds no plan"},
               {"{\"schema\": \"forerun/compare-plans/1\", \"best\": \"x\", \"plans\": []}",
                "bad.json#/", "holds no plan"},
               {"{\"schema\": \"forerun/outcome/1\", \"plan\": {\"tq\": 2}}", "bad.json#/plan",
                "did you mean"},
               {"{\"schema\": \"forerun/search/1\", \"best\": {\"schema\": "
                "\"forerun/outcome/1\", \"plan\": "
                "{\"tp\": 0}}}",
                "bad.json#/best/plan", "tp"},
               {"{\"schema\": \"other\"}", "bad.json#/", "schema"}};
    char line[200];
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        put("bad.json", bad[i].text);
        snprintf(line, sizeof line, "forerun predict %s --plan bad.json", inputs);
        fr_test_expect(line, 3, NULL, bad[i].where);
        fr_test_expect(line, 3, NULL, bad[i].says);
    }
}

/* Each plan says its own keys, so a setting of one would be lost; the batch is everybody's. */
static void settings_of_plans_are_refused(void **state) {
    static const char *const sets[] = {"zero=3", "plan.tp=2", "pass=forward",
                                       "compression.codec=topk"};
    char line[200];
    (void)state;
    for (size_t i = 0; i <= sizeof sets / sizeof *sets; i++) {
        bool lost = i < sizeof sets / sizeof *sets;
        snprintf(
            line, sizeof line,
            "forerun compare-plans {\"tp\":4} {\"tp\":8} --cluster dgx-h100 --model llama-3-8b "
            "--set %s",
            lost ? sets[i] : "global_batch=32");
        fr_test_expect(line, lost ? 2 : 0, lost ? NULL : "32 x 8,192",
                       lost ? "a key of plans" : NULL);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(same_outcome),
                                       cmocka_unit_test(the_best), cmocka_unit_test(no_plan),
                                       cmocka_unit_test(settings_of_plans_are_refused)};
    return cmocka_run_group_tests(tests, fr_scratch_enter, fr_scratch_leave);
}
