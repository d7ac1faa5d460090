/* A plan that cannot be is a document with reasons, whatever the verb, the engine and the key that makes it so; an error
 * line is for what cannot be read. */
#include "base/json.h"
#include "tests/app/command.h"
#include "tests/plan_values.h"

enum { COMMANDS = 320, KEYS = 3 };

static const char *const inputs[] = {"--cluster dgx-h100 --model llama-3-8b",
                                     "--cluster a100-hdr --model gpt-2.5b",
                                     "--cluster dgx-h100 --model mixtral-8x7b",
                                     "--cluster frontier --model ffn-4096",
                                     "--cluster cori-knl --model alexnet",
                                     "--cluster lassen --model t5-large-mod",
                                     NULL};
/* %s: inputs and what is set. */
static const char *const verbs[] = {"predict %s",
                                    "predict --engine event %s",
                                    "predict --explain %s",
                                    "simulate %s",
                                    "simulate --network shared %s",
                                    "search --ranks 8 --threads 1 --vary p2p=async %s",
                                    "place %s",
                                    NULL};
enum { VERBS = sizeof verbs / sizeof *verbs - 1 };

/* Numbers also at the ends of what the key takes, and such as divide nothing. */
static void value_of(const struct fr_plan_key *key, uint64_t *dice, char *out,
                     size_t capacity) {
    static const double far[] = {7, 63, 1000, 1 << 20};
    bool mesh = strlen(key->name) == 2;
    if (key->type != &fr_plan_integer || fr_test_random(dice, 2)) {
        fr_test_value(key, dice, out, capacity);
        return;
    }
    double value = fr_test_random(dice, 4) || mesh ? far[fr_test_random(dice, 4)] : key->most;
    bool passes = key == &fr_plan_keys[FR_PLAN_KEY_global_batch]; /* a simulation writes each */
    if (passes && value > 1000) value = 1000;
    if (value > key->most) value = key->most;
    if (value < key->least) value = key->least;
    snprintf(out, capacity, "%.0f", value);
}

static void add_keys(uint64_t *dice, char *line, size_t capacity) {
    bool set[FR_PLAN_KEYS] = {false};
    for (int i = 0, n = 1 + (int)fr_test_random(dice, KEYS); i < n; i++) {
        int k = (int)fr_test_random(dice, FR_PLAN_KEYS);
        char value[200];
        value_of(&fr_plan_keys[k], dice, value, sizeof value);
        /* Words of a line are apart by blanks; p2p is what the search varies. */
        if (set[k] || strchr(value, ' ') || k == FR_PLAN_KEY_p2p) continue;
        set[k] = true;
        size_t used = strlen(line);
        snprintf(line + used, capacity - used, " --set %s=%s", fr_plan_keys[k].name, value);
    }
}

/* Does the outcome that a document is or holds say that it cannot be, and why? */
static bool says_why(const struct fr_json *root) {
    struct fr_json outcome = fr_json_member(root, "outcome"),
                   best = fr_json_member(root, "best"),
                   why = fr_json_member(root, "infeasible_reasons"),
                   reasons = fr_json_member(root, "reasons");
    if (fr_json_present(&outcome)) return says_why(&outcome);
    if (fr_json_present(&why)) return fr_json_is_null(&best) && fr_json_array_length(&why) > 0;
    bool feasible = true;
    return fr_json_get_bool(root, "feasible", true, &feasible, NULL) == FR_OK && !feasible &&
           fr_json_array_length(&reasons) > 0;
}

static bool run(const char *line) {
    struct output o = fr_test_run(line);
    struct fr_json_document *document = NULL;
    struct fr_error err = {.status = FR_OK};
    FR_TRUE(o.exit_code == 0 || o.exit_code == 4, "%s: exit %d: %s", line, o.exit_code, o.err);
    if (fr_json_parse(o.out, strlen(o.out), "answer", &document, &err) != FR_OK)
        fail_msg("%s: no document: %s%s", line, err.detail, o.err);
    struct fr_json root = fr_json_root(document);
    FR_TRUE(o.exit_code == 0 || says_why(&root), "%s: exit 4 without a reason:\n%s", line,
            o.out);
    fr_json_free(document);
    bool can = o.exit_code == 0;
    fr_test_output_free(&o);
    return can;
}

static void every_key_and_verb(void **state) {
    (void)state;
    uint64_t dice = 20261126;
    int can = 0;
    for (int i = 0; i < COMMANDS; i++) {
        char words[1200], line[1600], format[200];
        snprintf(words, sizeof words, "%s --json", fr_test_one_of(&dice, inputs));
        add_keys(&dice, words, sizeof words);
        snprintf(format, sizeof format, "forerun %s", verbs[i % VERBS]);
        char *at = strstr(format, "%s");
        *at = '\0';
        snprintf(line, sizeof line, "%s%s%s", format, words, at + 2);
        can += run(line);
    }
    FR_TRUE(can >= COMMANDS / 10 && can <= COMMANDS * 9 / 10, "%d of %d can be", can, COMMANDS);
}

/* Those that had ended in an error line: what is to be chosen and cannot, lists of another length, a key that no plan of
 * a search reads, ranks that the cluster has not. */
static void what_ended_in_a_line(void **state) {
    (void)state;
    static const struct {
        const char *keys, *says;
    } cases[] = {
        {"--cluster a100-hdr --model gpt-2.5b --set pp=64 --set stage_layers=best",
         "too few for pp x chunks = 64"},
        {"--cluster a100-hdr --model gpt-2.5b --set pp=1048576 --set stage_layers=best", ""},
        {"--cluster frontier --model ffn-4096 --set tp=2 --set layer_tp=best",
         "layer_tp would have no effect: it needs method grid"},
        {"--cluster cori-knl --model alexnet --set method=grid --set layer_tp=[1,1]",
         "layer_tp has 2 entries, the model 8 layers"},
        {"--cluster dgx-h100 --model llama-3-8b --set method=grid --set tp=2 --set "
         "layer_tp=[2]",
         "layer_tp has 1 entries, the model 3 groups: attention, MLP, embedding and logits"},
        {"--cluster cori-knl --model alexnet --set method=grid --set dp=7 --set layer_tp=best "
         "--set "
         "global_batch=5",
         ""},
        {"--cluster a100-hdr --model gpt-2.5b --set tp=8 --set pp=2 --set "
         "compression.gradient.rank=8",
         "compression.gradient.rank would have no effect"},
        {"--cluster a100-hdr --model gpt-2.5b --set dp=1048576", ""},
        {"--cluster dgx-h100 --model llama-3-8b --set tp=3", ""}};
    static const char *const asked[] = {"predict", "predict --engine event", "simulate",
                                        "place",
                                        "search --ranks 64 --vary p2p=async --threads 1"};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (size_t v = 0; v < sizeof asked / sizeof *asked; v++) {
            char line[500];
            if (strstr(cases[i].keys, "1048576") && strstr(asked[v], "search")) continue;
            snprintf(line, sizeof line, "forerun %s %s --json", asked[v], cases[i].keys);
            FR_TRUE(!run(line), "%s: can be", line);
            fr_test_expect(line, 4, cases[i].says, NULL);
        }
}

/* An unreadable document stays an error. */
static void errors_stay(void **state) {
    (void)state;
    static const char *const bad[] = {"--set tq=2", "--set tp=0", "--set tp=two",
                                      "--set bucket=5", "--set placement=file:/nonexistent"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        for (int v = 0; verbs[v]; v++) {
            char words[200], line[400], format[200];
            snprintf(words, sizeof words, "--cluster dgx-h100 --model llama-3-8b --json %s",
                     bad[i]);
            snprintf(format, sizeof format, "forerun %s", verbs[v]);
            *strstr(format, "%s") = '\0';
            snprintf(line, sizeof line, "%s%s", format, words);
            struct output o = fr_test_run(line);
            FR_TRUE((o.exit_code == 3 || o.exit_code == 2) && !*o.out && *o.err,
                    "%s: exit %d, prints %s", line, o.exit_code, o.out);
            fr_test_output_free(&o);
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_key_and_verb),
                                       cmocka_unit_test(what_ended_in_a_line),
                                       cmocka_unit_test(errors_stay)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
