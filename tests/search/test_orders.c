/* Orders of passes that are varied, or set, beside stages and chunks that are: which plans a space has, counted by
 * going through all combinations of values. */
#include <stdio.h>
#include <string.h>

#include "search/space.h"
#include "tests/job.h"
#include "tests/plan_values.h"

static const struct {
    const char *text;
    int64_t stages, chunks;
} orders[] = {{"[\"F0 B0 F1 B1\"]", 1, 1},
              {"[\"F0 F1 B0 B1\",\"F0 B0 F1 B1\"]", 2, 1},
              {"[\"F0.0 F0.1 B0.1 B0.0\",\"F0.0 F0.1 B0.1 B0.0\"]", 2, 2},
              {"[\"F0 B0\",\"F0 B0\",\"F0 B0\",\"F0 B0\"]", 4, 1}};
enum { ORDERS = sizeof orders / sizeof *orders };

/* Some of these values, at least one, in their order. */
struct some {
    int n;
    int64_t value[4];
};
static struct some draw(uint64_t *dice, const int64_t *values, int n) {
    struct some some = {0};
    while (some.n == 0)
        for (int i = 0; i < n; i++)
            if (fr_test_random(dice, 2)) some.value[some.n++] = values[i];
    return some;
}

static bool has(const struct some *some, int64_t value) {
    for (int i = 0; i < some->n; i++)
        if (some->value[i] == value) return true;
    return false;
}

static void write(const char *key, const struct some *some, bool order, char *out,
                  size_t size) {
    size_t used = (size_t)snprintf(out, size, "%s=", key);
    for (int i = 0; i < some->n; i++) {
        used += (size_t)snprintf(out + used, size - used, "%s", i ? "," : "");
        if (order)
            used +=
                (size_t)snprintf(out + used, size - used, "%s", orders[some->value[i]].text);
        else
            used += (size_t)snprintf(out + used, size - used, "%d", (int)some->value[i]);
    }
}

/* A combination takes stages or chunks from an order where its own are 1, and nothing that another combination states
 * itself. An order that all plans have states nothing: the value beside it stands.  An order that all plans have says
 * nothing: what is given beside it stands. */
static bool resolve(int64_t stated, bool varied, const struct some *values, int64_t *value) {
    if (!varied || *value != 1 || stated == 1) return true;
    *value = stated;
    return !has(values, stated);
}

static void go_through(uint64_t *dice, int round) {
    static const int64_t all_orders[] = {0, 1, 2, 3}, stages[] = {1, 2, 4}, chunks[] = {1, 2};
    struct some of_order = draw(dice, all_orders, ORDERS), of_pp = draw(dice, stages, 3),
                of_chunks = draw(dice, chunks, 2);
    bool vary_order = round % 3 != 0, vary_pp = fr_test_random(dice, 3) != 0,
         vary_chunks = fr_test_random(dice, 3) != 0;
    char words[3][400];
    const char *vary[3];
    int n_vary = 0;
    struct fr_plan base = fr_plan_default();
    struct fr_plan_lists lists = {0};
    struct fr_json_document *document = NULL;
    struct fr_space space;
    struct fr_error err = {0};
    if (!vary_order) { /* set, of all plans */
        of_order.n = 1;
        assert_int_equal(fr_json_parse("{}", 2, "plan", &document, NULL), FR_OK);
        assert_int_equal(
            fr_json_set(document, "schedule", orders[of_order.value[0]].text, "--set", NULL),
            FR_OK);
        assert_int_equal(fr_plan_read(document, &base, &lists, NULL), FR_OK);
    }
    if (!vary_pp) of_pp = (struct some){1, {base.pp}};
    if (!vary_chunks) of_chunks = (struct some){1, {base.chunks}};
    write("schedule", &of_order, true, words[0], sizeof *words);
    write("pp", &of_pp, false, words[1], sizeof *words);
    write("chunks", &of_chunks, false, words[2], sizeof *words);
    if (vary_pp) vary[n_vary++] = words[1];
    if (vary_order) vary[n_vary++] = words[0];
    if (vary_chunks) vary[n_vary++] = words[2];
    if (fr_space_make("8", vary, n_vary, &base, false, false, NULL, &space, &err) != FR_OK)
        fail_msg("%s %s: %s", words[0], words[1], err.detail);
    int64_t index = 0;
    for (int p = 0; p < of_pp.n; p++)
        for (int o = 0; o < of_order.n; o++)
            for (int c = 0; c < of_chunks.n; c++, index++) {
                int64_t pp = of_pp.value[p], v = of_chunks.value[c], k = of_order.value[o];
                struct fr_plan plan;
                bool fits = false,
                     wanted = resolve(orders[k].stages, vary_order, &of_pp, &pp) || !vary_pp,
                     got;
                wanted =
                    (resolve(orders[k].chunks, vary_order, &of_chunks, &v) || !vary_chunks) &&
                    wanted;
                got = fr_space_plan(&space, NULL, index, &plan, &fits);
                FR_TRUE(got == wanted, "%s %s %s: %d: %d, not %d", words[0], words[1], words[2],
                        (int)index, got, wanted);
                if (!got) continue;
                FR_TRUE(fits && plan.pp == pp && plan.chunks == v && plan.tp == 8 / pp,
                        "%s %s %s: %d: pp %d, chunks %d, not %d, %d", words[0], words[1],
                        words[2], (int)index, (int)plan.pp, (int)plan.chunks, (int)pp, (int)v);
                FR_TRUE(plan.order && plan.order->stages == orders[k].stages &&
                            plan.order->chunks == orders[k].chunks,
                        "%s %s %s", words[0], words[1], words[2]);
            }
    assert_int_equal(space.size, index);
    fr_space_free(&space);
    fr_plan_lists_free(&lists);
    fr_json_free(document);
}

static void orders_beside_stages_and_chunks(void **state) {
    uint64_t dice = 0xda942042e4dd58b5u;
    (void)state;
    for (int round = 0; round < 600; round++) go_through(&dice, round);
}

/* Grids of layers are of all ranks, however tp and dp divide them: each list stands once, in whatever order the axes are
 * varied, one of them or both. */
static void grids_of_layers_stand_once(void **state) {
    static const char *const axes[][3] = {
        {"dp=1,2,4", "tp=1,2,4", "layer_tp=[1,2],[4,2]"},
        {"tp=4,2,1", "dp=4,1,2", "layer_tp=[1,2],[4,2]"},
        {"dp=1,2,4", "layer_tp=[1,2],[4,2]", "tp=1,2,4"},
        {"layer_tp=[1,2],[4,2]", "dp=2,4", "tp=1,2"},
        {"layer_tp=[1,2],[4,2]", "tp=2,4,1", "dp=1,2,4"},
        {"dp=1,2,4", "layer_tp=[1,2],[4,2]"}, /* the other axis is what is left */
        {"layer_tp=[1,2],[4,2]", "dp=4,2"},
        {"layer_tp=[1,2],[4,2]", "tp=2,4,1"},
        {"tp=1,4", "layer_tp=[1,2],[4,2]"}};
    (void)state;
    for (size_t k = 0; k < sizeof axes / sizeof *axes; k++) {
        const char *sets[] = {"method=grid", NULL};
        struct fr_job job;
        struct fr_space space;
        struct fr_error err = {0};
        int listed[2] = {0};
        fr_test_job("frontier", "ffn-4096", sets, &job);
        if (fr_space_make("4", axes[k], axes[k][2] ? 3 : 2, &job.plan, false, false, NULL,
                          &space, &err) != FR_OK)
            fail_msg("%s: %s", axes[k][0], err.detail);
        for (int64_t i = 0; i < space.size; i++) {
            struct fr_plan plan;
            bool fits = false;
            if (!fr_space_plan(&space, &job.workload, i, &plan, &fits) || !fits) continue;
            assert_true(plan.layer_tp && plan.n_layer_tp == 2 && plan.tp * plan.dp == 4);
            listed[plan.layer_tp[0] == 4]++;
        }
        FR_TRUE(listed[0] == 1 && listed[1] == 1, "%s %s %s: %d and %d", axes[k][0], axes[k][1],
                axes[k][2] ? axes[k][2] : "", listed[0], listed[1]);
        fr_space_free(&space);
        fr_job_free(&job);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(orders_beside_stages_and_chunks),
                                       cmocka_unit_test(grids_of_layers_stand_once)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
