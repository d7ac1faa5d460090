/* Numbers of `levels`, however they are changed: each changes the time of what crosses its level, in every preset and
 * every form, and a what-if of --explain is the same change made by --set. */
#include <math.h>
#include <stdlib.h>

#include "answer/predict/explain.h"
#include "models/job/preset.h"
#include "models/outcome/cost.h"
#include "tests/job.h"
#include "tests/laws/law.h"

/* ---- every number of levels ------------------------------------------------------------------- */

/* Forms of all kinds, of one node and of several. */
static const char forms[] = "cluster.collectives={"
                            "\"all_reduce\": {\"form\": \"log\", \"c1\": \"20 us\", \"c2\": "
                            "\"0.01 ns/B\", \"message\": \"total\"},"
                            "\"send_recv\": {\"form\": \"log\", \"level\": \"system\", \"c1\": "
                            "\"20 us\", \"c2\": \"0.01 ns/B\", "
                            "\"message\": \"total\"},"
                            "\"broadcast\": {\"form\": \"algorithm\", \"name\": \"binomial\", "
                            "\"latency\": \"4 us\", \"per_byte\": "
                            "\"0.1 ns/B\"},"
                            "\"all_gather\": {\"form\": \"segments\", \"message\": \"total\", "
                            "\"fits\": [{\"level\": \"system\", "
                            "\"ranks\": 2, \"min\": \"1 B\", \"max\": \"1 GB\", \"segments\": "
                            "[{\"up_to\": \"1 GB\", \"latency\": \"9 "
                            "us\", \"per_byte\": \"0.1 ns/B\"}]}]},"
                            "\"reduce_scatter\": {\"form\": \"similarity\", \"message\": "
                            "\"total\", \"laws\": [{\"level\": \"node\", "
                            "\"steps\": \"p - 1\", \"bytes\": \"(p - 1)/p\", \"slow\": 0.2, "
                            "\"fast\": 0.1}], \"tables\": [{\"level\": "
                            "\"node\", \"ranks\": 2, \"nodes\": 1, \"size\": [1, 1000000, "
                            "1000000000], \"unit\": \"us\", \"time\": [9, "
                            "20, 9000]}]}}";

/* With the values @p set, each NULL or one; none stands behind a NULL. */
static double time_of(const char *preset, const char *const set[3], fr_op op, int l,
                      double size_B) {
    const char *sets[4] = {NULL};
    struct fr_job job;
    for (int k = 0, n = 0; k < 3; k++)
        if (set[k]) sets[n++] = set[k];
    fr_test_job(preset, NULL, sets, &job);
    const struct fr_levels *levels = &job.cluster.levels;
    struct fr_group group = fr_group_make(levels, 2, l > 0 ? levels->level[l - 1].ranks : 1);
    bool outside = false;
    double time_s = fr_comm_time_s(&job.cluster.price[op], &group, size_B, &outside);
    assert_int_equal(group.level, l);
    fr_job_free(&job);
    return time_s;
}

/* Worse by a factor 2 in one number, so slower where that number is all that counts. */
static bool law_number(const char *preset, const char *first, int l,
                       const struct fr_level *level, int64_t inside, struct law_why *why) {
    static const char *const numbers[] = {"bandwidth", "latency", "shared_by"};
    char set[3][96], of_node[96], value[48];
    snprintf(set[0], sizeof set[0], "cluster.levels.%d.bandwidth=%s", l,
             fr_quantity_write(level->rate_B_per_s / 2, FR_QUANTITY_RATE, value, sizeof value));
    snprintf(set[1], sizeof set[1], "cluster.levels.%d.latency=%s", l,
             fr_quantity_write(level->latency_s * 2, FR_QUANTITY_TIME, value, sizeof value));
    snprintf(of_node, sizeof of_node, "cluster.levels.0.latency=%s",
             fr_quantity_write(2 * level[-l].latency_s, FR_QUANTITY_TIME, value, sizeof value));
    snprintf(set[2], sizeof set[2], "cluster.levels.%d.shared_by=%d", l,
             (int)(2 * level->shared_by));
    for (int op = 0; op < FR_OP_COUNT; op++)
        for (int k = 0; k < 3; k++) {
            double size_B = k == 1 ? 1 : 1e10;
            if (k == 2 && 2 * level->shared_by > inside) continue;
            /* A collective of NCCL starts at the node's latency: models/network/nccl.h. */
            const char *node = k == 1 && l > 0 && level->link ? of_node : NULL;
            double before_s = time_of(preset, (const char *[3]){first}, (fr_op)op, l, size_B),
                   alone_s =
                       time_of(preset, (const char *[3]){first, set[k]}, (fr_op)op, l, size_B),
                   after_s = time_of(preset, (const char *[3]){first, set[k], node}, (fr_op)op,
                                     l, size_B);
            LAW(law_near(after_s, 2 * before_s, 0.02),
                "%s, %s over level %d: %g s, and %g s at half its %s", preset, fr_op_names[op],
                l, before_s, after_s, numbers[k]);
            LAW(alone_s > 1.3 * before_s,
                "%s, %s over level %d: %g s, and %g s at half its %s alone", preset,
                fr_op_names[op], l, before_s, alone_s, numbers[k]);
        }
    return true;
}

/* Changed and changed back, forms say what they said. */
static void changed_back(const char *preset, const char *first, int l,
                         const struct fr_level *level) {
    char sets[2][96], value[48];
    const char *both[] = {sets[0], sets[1], first, NULL};
    for (int k = 0; k < 2; k++)
        snprintf(sets[k], sizeof sets[k], "cluster.levels.%d.bandwidth=%s", l,
                 fr_quantity_write(level->rate_B_per_s / (2 - k), FR_QUANTITY_RATE, value,
                                   sizeof value));
    struct fr_job job;
    if (first) both[0] = first, both[1] = sets[0], both[2] = sets[1];
    fr_test_job(preset, NULL, both, &job);
    struct fr_link_ratio ratio = fr_level_changed(&job.cluster.levels, l);
    FR_NEAR(ratio.per_byte, 1, 1e-12);
    FR_NEAR(ratio.latency, 1, 1e-12);
    fr_job_free(&job);
}

static void walk_levels(const char *preset, const char *first) {
    const char *sets[] = {first, NULL};
    struct law_why why;
    struct fr_job job;
    fr_test_job(preset, NULL, sets, &job);
    for (int l = 0; l < job.cluster.levels.count; l++) {
        const struct fr_level *level = &job.cluster.levels.level[l];
        int64_t inside = l > 0 ? level[-1].ranks : level->ranks;
        if (!law_number(preset, first, l, level, inside, &why)) fail_msg("%s", why.text);
        changed_back(preset, first, l, level);
    }
    fr_job_free(&job);
}

static void every_number_of_levels_counts(void **state) {
    (void)state;
    for (const struct fr_preset *row = fr_presets; row->kind; row++)
        if (strcmp(row->kind, "cluster") == 0) walk_levels(row->name, NULL);
    walk_levels("dgx-h100", forms);
}

/* ---- what-ifs ---------------------------------------------------------------------------------- */

enum { SETS = 24, SET = 96 };

struct changes {
    char text[SETS][SET];
    const char *set[SETS + 1];
    int n;
};

static void change(struct changes *c, const char *path, double si, fr_quantity quantity) {
    char value[48];
    assert_true(c->n < SETS);
    snprintf(c->text[c->n], SET, "cluster.%s=%s", path,
             fr_quantity_write(si, quantity, value, sizeof value));
    c->set[c->n] = c->text[c->n];
    c->n++;
}

/* The same as answer/predict/explain.c does, in words of the file. */
static void changes_of(const struct fr_cluster *cluster, int which, struct changes *c) {
    const struct fr_device *device = &cluster->device;
    const struct {
        const char *path;
        double s;
    } host[] = {{"device.launch", device->launch_s},
                {"device.host_launch", device->host_launch_s},
                {"device.host_pass", device->host_pass_s},
                {"device.host_experts", device->host_experts_s}};
    const char *inner = cluster->levels.level[0].name; /* dies of a package: in the node */
    const int near = strcmp(inner, "package") == 0;
    char path[48];
    for (int l = 0; l < cluster->levels.count && which < 2; l++) {
        if ((l > near) != (which == 0)) continue;
        snprintf(path, sizeof path, "levels.%d.bandwidth", l);
        change(c, path, 2 * cluster->levels.level[l].rate_B_per_s, FR_QUANTITY_RATE);
    }
    for (int k = 0; k < 4 && which == 2; k++)
        change(c, host[k].path, host[k].s / 2, FR_QUANTITY_TIME);
    if (which < 3) return;
    change(c, "device.memory", 1.2 * device->memory_B, FR_QUANTITY_SIZE);
    change(c, "device.memory_bandwidth", 1.2 * device->memory_rate_B_per_s, FR_QUANTITY_RATE);
}

static bool law_what_if(const char *preset, const char *model, const char *const *plan,
                        int *tried, struct law_why *why) {
    struct fr_job job;
    fr_test_job(preset, model, plan, &job);
    for (int which = 0; which < FR_SCENARIOS; which++) {
        struct changes c = {.n = 0};
        struct fr_outcome out;
        struct fr_job other;
        for (; plan[c.n]; c.n++) c.set[c.n] = plan[c.n];
        changes_of(&job.cluster, which, &c);
        c.set[c.n] = NULL;
        fr_test_job(preset, model, c.set, &other);
        fr_cost(&other, &other.plan, &out);
        double stated_s = fr_scenario_s(&job, &job.plan, which), done_s = out.time_s;
        fr_job_free(&other);
        *tried += isfinite(done_s);
        LAW(law_near(stated_s, done_s, 1e-9) || (!isfinite(stated_s) && !isfinite(done_s)),
            "%s, %s, %s %s %s: %s would take %.12g s, and takes %.12g", preset, model, plan[0],
            plan[1], plan[2], fr_scenarios[which].name, stated_s, done_s);
    }
    fr_job_free(&job);
    return true;
}

static void what_ifs_are_changes(void **state) {
    static const char *const plans[][9] = {
        {"tp=4", "pp=4", "dp=4", "global_batch=64", "model.dtype=bf16",
         "sequence_parallel=true"},
        {"tp=1", "pp=1", "dp=24", "global_batch=48", "model.dtype=bf16", "zero=3"},
        {"tp=2", "pp=2", "dp=6", "global_batch=24", "model.dtype=bf16", "zero=1",
         "rank_order=tp-dp-pp"},
        {"tp=2", "pp=3", "dp=4", "global_batch=12", "model.dtype=bf16",
         "cluster.topology=fat-tree down=16,32 up=8"},
    };
    int tried = 0;
    (void)state;
    for (const struct fr_preset *row = fr_presets; row->kind; row++) {
        struct law_why why;
        if (strcmp(row->kind, "cluster") != 0) continue;
        for (size_t k = 0; k < 4; k++) {
            bool fabric = strncmp(plans[k][5] ? plans[k][5] : "", "cluster.topology", 16) == 0;
            if (fabric && strcmp(row->name, "dgx-h100") != 0) continue;
            if (!law_what_if(row->name, "gpt-2", plans[k], &tried, &why))
                fail_msg("%s", why.text);
        }
    }
    assert_true(tried > 100);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_number_of_levels_counts),
        cmocka_unit_test(what_ifs_are_changes),
    };
    return cmocka_run_group_tests_name("laws.levels", tests, NULL, NULL);
}
