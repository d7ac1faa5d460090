/* Pairs of dies as a level inside the node (preset frontier): links between neighbours get faster, and nothing else that
 * is said of nodes changes.  Held against the same machine without that level. */
#include <string.h>

#include "models/outcome/cost.h"
#include "search/recipe.h"
#include "tests/job.h"

#define WITHOUT                                                                                \
    "cluster.levels=[{\"name\": \"node\", \"ranks\": 8, \"latency\": \"2 us\", "               \
    "\"bandwidth\": "                                                                          \
    "\"50 GB/s\"}, {\"name\": \"system\", \"ranks\": 75264, \"latency\": \"5 us\", "           \
    "\"bandwidth\": \"25 GB/s\", \"shared_by\": 2}]"

static struct fr_outcome price(bool packages, const char *model, const char *const *sets) {
    const char *all[12] = {NULL};
    struct fr_job job;
    struct fr_outcome out;
    int n = 0;
    if (!packages) all[n++] = WITHOUT;
    while (*sets) all[n++] = *sets++;
    fr_test_job("frontier", model, all, &job);
    fr_cost(&job, &job.plan, &out);
    fr_job_free(&job);
    return out;
}

/* OLCF, Frontier user guide: 200 GB/s between the two dies of a package; 50 GB/s is what one link between packages has. */
static void a_message_pays_its_own_link(void **state) {
    struct fr_job job;
    (void)state;
    fr_test_job("frontier", NULL, NULL, &job);
    for (int64_t a = 0; a < 8; a++)
        for (int64_t b = 0; b < 8; b++) {
            if (a == b) continue;
            struct fr_group pair = fr_group_pair(&job.cluster.levels, a, b);
            FR_NEAR(1 / pair.outer.s_per_B, a / 2 == b / 2 ? 200e9 : 50e9, 1e-12);
        }
    assert_int_equal(job.cluster.levels.level[fr_levels_node(&job.cluster.levels)].ranks, 8);
    fr_job_free(&job);
}

/* The paper's fits are by rank count, so what they price stays what they say, wherever the ranks sit. */
static void fits_stay(void **state) {
    static const char *const plans[][6] = {
        {"tp=2"},
        {"tp=8"},
        {"tp=64", "method=phantom", "ghost=2"},
        {"tp=2", "dp=32", "global_batch=4096"},
        {"tp=16", "dp=2", "method=grid", "global_batch=4096"}};
    (void)state;
    for (size_t i = 0; i < sizeof plans / sizeof *plans; i++) {
        struct fr_outcome with = price(true, "ffn-16384", plans[i]),
                          without = price(false, "ffn-16384", plans[i]);
        FR_TRUE(with.time_s > 0 && with.time_s == without.time_s &&
                    with.energy_J == without.energy_J,
                "plan %zu: %.17g s with packages, %.17g without", i, with.time_s,
                without.time_s);
    }
}

/* Two stages in a package send over its link; a stage's neighbour in another package is as far as before. */
static void stages_of_a_package_are_near(void **state) {
    static const char *const near[] = {"pp=2", "micro_batch=113", NULL}, *const far[] = {
                                                                             "tp=4", "pp=2",
                                                                             "micro_batch=113",
                                                                             NULL};
    (void)state;
    FR_TRUE(price(true, "ffn-16384", near).time_s < price(false, "ffn-16384", near).time_s,
            "two stages on two dies of a package are not faster");
    FR_TRUE(price(true, "ffn-16384", far).time_s == price(false, "ffn-16384", far).time_s,
            "stages in different packages changed");
}

static void recipes_know_the_node(void **state) {
    static const char *const sets[] = {"global_batch=64", WITHOUT};
    struct fr_recipe recipe[2];
    (void)state;
    for (int k = 0; k < 2; k++) {
        struct fr_job job;
        fr_test_job("frontier", "gpt-2.5b", (const char *[]){sets[0], k ? sets[1] : NULL, NULL},
                    &job);
        fr_recipe_choose(&job, 64, false, &recipe[k]);
        fr_job_free(&job);
    }
    assert_int_equal(recipe[0].n, recipe[1].n);
    for (int i = 0; i < recipe[0].n; i++)
        assert_string_equal(recipe[0].row[i].values, recipe[1].row[i].values);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_message_pays_its_own_link),
        cmocka_unit_test(fits_stay),
        cmocka_unit_test(stages_of_a_package_are_near),
        cmocka_unit_test(recipes_know_the_node),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
