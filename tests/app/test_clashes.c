/* Words of a command line that contradict each other are refused, whatever the verb and the key. */
#include "app/clashes.h"
#include "app/verb.h"
#include "models/plan/key.h"
#include "tests/app/command.h"

static bool takes(const struct fr_verb *verb, const char *name) {
    for (const struct fr_option *o = verb->options; o->name; o++)
        if (strcmp(o->name, name) == 0) return true;
    return false;
}

/* Two forms of one answer: of every verb that has them. */
static void one_form(void **state) {
    (void)state;
    static const char *const forms[] = {"json", "csv", "latex", "markdown", "wide"};
    enum { FORMS = sizeof forms / sizeof *forms };
    char line[200], says[120];
    int pairs = 0;
    for (const struct fr_verb *const *v = fr_verbs; *v; v++)
        for (int a = 0; a < FORMS; a++)
            for (int b = 0; b < FORMS; b++) {
                if (a == b || !takes(*v, forms[a]) || !takes(*v, forms[b])) continue;
                snprintf(line, sizeof line, "forerun %s --%s --%s", (*v)->name, forms[a],
                         forms[b]);
                snprintf(says, sizeof says, "--%s and --%s are two forms of one answer",
                         forms[a < b ? a : b], forms[a < b ? b : a]);
                fr_test_expect(line, 2, NULL, says);
                pairs++;
            }
    assert_true(pairs >= 12);
    fr_test_expect("forerun place --cluster frontier --ranks 8 --ways 2 --emit slurm --json", 2,
                   NULL, "--emit");
}

/* "VERB --A KEY=VALUE --B KEY=OTHER", for every verb and any two of the options that change a key. */
static void one_value(void **state) {
    (void)state;
    static const char *const options[] = {"set", "fix", "vary"};
    char line[200], says[120];
    int pairs = 0;
    for (const struct fr_verb *const *v = fr_verbs; *v; v++)
        for (int a = 0; a < 3; a++)
            for (int b = 0; b < 3; b++) {
                if (!takes(*v, options[a]) || !takes(*v, options[b])) continue;
                snprintf(line, sizeof line, "forerun %s --%s tp=2 --%s plan.tp=4", (*v)->name,
                         options[a], options[b]);
                snprintf(says, sizeof says,
                         "tp is given twice, \"2\" by --%s and \"4\" by --%s", options[a],
                         options[b]);
                fr_test_expect(line, 2, NULL, says);
                pairs++;
            }
    assert_true(pairs >= 20);
}

static const struct fr_option both[] = {{"set", "KEY=VALUE", "", 's'},
                                        {"vary", "KEY=RANGE", "", 0},
                                        FR_OPTION_MODEL,
                                        FR_OPTION_IDLE,
                                        FR_OPTION_END};

static fr_status parsed(const char *const *words, int n, struct fr_error *err) {
    static struct fr_args args;
    char *argv[8];
    for (int i = 0; i < n; i++) argv[i] = (char *)(uintptr_t)words[i];
    *err = (struct fr_error){.status = FR_OK};
    assert_int_equal(fr_args_parse(n, argv, both, &args, err), FR_OK);
    return fr_clashes_check(&args, err);
}

/* Every key of the plan, however it is spelt; the same value twice says one thing; and neither a key that another
 * begins with nor one of another input is the same. */
static void every_key(void **state) {
    (void)state;
    struct fr_error err;
    for (int k = 0; k < FR_PLAN_KEYS; k++) {
        char bare[96], full[96], other[96], longer[96], model[96];
        const char *name = fr_plan_keys[k].name;
        snprintf(bare, sizeof bare, "%s=1", name);
        snprintf(full, sizeof full, "plan.%s=1", name);
        snprintf(other, sizeof other, "plan.%s=1,2", name);
        snprintf(longer, sizeof longer, "%sx=2", name);
        snprintf(model, sizeof model, "model.%s=2", name);
        const char *const good[][4] = {{"--set", bare, "--set", full},
                                       {"--set", bare, "--vary", longer},
                                       {"--set", bare, "-s", model}};
        const char *const bad[][4] = {{"--set", bare, "--vary", other},
                                      {"--vary", other, "-s", bare}};
        for (size_t i = 0; i < 3; i++) assert_int_equal(parsed(good[i], 4, &err), FR_OK);
        for (size_t i = 0; i < 2; i++)
            FR_TRUE(parsed(bad[i], 4, &err) == FR_ERR_USAGE, "%s and %s go together", bare,
                    other);
        assert_non_null(strstr(err.detail, name));
    }
}

/* Options that stand for a key are that key. */
static void options_that_are_keys(void **state) {
    (void)state;
    struct fr_error err;
    const char *const bad[][4] = {
        {"--defaults", "2019", "--set", "model.defaults=modern"},
        {"--defaults", "2019", "--defaults", "modern"},
        {"--runtime", "nemo-24.03", "--defaults", "2019"},
        {"--defaults", "2019", "--runtime", "nemo-24.03"},
        {"--defaults", "modern", "--runtime", "nemo-24.03"},
        {"--defaults", "modern", "--runtime", "papers-2019"},
        {"--runtime", "nemo-24.03", "--set", "runtime=nemo-24.11"},
        {"--runtime", "nemo-24.03", "--vary", "runtime=nemo-24.03,nemo-24.11"},
        {"--set", "cluster.device.undisturbed=false", "--undisturbed"}};
    const char *const good[][4] = {
        {"--defaults", "2019", "--set", "model.defaults=2019"},
        {"--defaults", "2019", "--runtime", "papers-2019"},
        {"--defaults", "2019", "--set", "runtime=papers-2019"},
        {"--runtime", "nemo-24.03", "--set", "runtime=nemo-24.03"},
        {"--runtime", "nemo-24.03", "--set", "runtime.host_launch=1us"},
        {"--runtime", "nemo-24.03", "--set", "model.defaults=2019"},
        {"--set", "cluster.device.undisturbed=true", "--undisturbed"}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        FR_TRUE(parsed(bad[i], bad[i][3] ? 4 : 3, &err) == FR_ERR_USAGE, "%s %s is taken",
                bad[i][0], bad[i][1]);
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        FR_TRUE(parsed(good[i], good[i][3] ? 4 : 3, &err) == FR_OK, "%s", err.detail);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(one_form), cmocka_unit_test(one_value),
                                       cmocka_unit_test(every_key),
                                       cmocka_unit_test(options_that_are_keys)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
