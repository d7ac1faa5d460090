/* Plans of two names: each row against what it says, for random plans. */
#include "models/price/rank_map.h"
#include "search/equivalent.h"
#include "tests/job.h"
#include "tests/plan_values.h"

static const struct fr_equivalent *row(int key) {
    const struct fr_equivalent *equivalent = fr_equivalent_keys;
    while (equivalent->is && equivalent->key != key) equivalent++;
    assert_non_null(equivalent->is);
    return equivalent;
}

/* An order of axes places ranks linearly where every rank gets the slot of its number. */
static void orders_that_seat_linearly(void **state) {
    const struct fr_equivalent *equivalent = row(FR_PLAN_KEY_placement);
    uint64_t dice = 88172645463325252u;
    int linear = 0, others = 0;
    (void)state;
    for (int round = 0; round < 3000; round++) {
        struct fr_plan plan = fr_plan_default();
        bool same = true;
        plan.tp = 1 + (int64_t)fr_test_random(&dice, 3);
        plan.dp = 1 + (int64_t)fr_test_random(&dice, 3);
        plan.pp = 1 + (int64_t)fr_test_random(&dice, 3);
        plan.rank_order = (fr_rank_order)fr_test_random(&dice, 2);
        plan.method = fr_methods[fr_test_random(&dice, 4)];
        plan.placement.row = &fr_placement_by_axis;
        for (int i = 0; i < FR_MESH_AXES; i++) plan.placement.order[i] = (uint8_t)i;
        for (int i = FR_MESH_AXES - 1; i > 0; i--) {
            int k = (int)fr_test_random(&dice, (uint64_t)i + 1);
            uint8_t axis = plan.placement.order[i];
            plan.placement.order[i] = plan.placement.order[k];
            plan.placement.order[k] = axis;
        }
        struct fr_mesh mesh = fr_rank_map_mesh(&plan);
        for (int64_t rank = 0; rank < fr_mesh_ranks(&mesh); rank++) {
            int64_t place[FR_MESH_AXES], left = rank, slot = 0, stride = 1;
            for (int i = 0; i < FR_MESH_AXES; i++) {
                place[mesh.order[i]] = left % mesh.size[mesh.order[i]];
                left /= mesh.size[mesh.order[i]];
            }
            for (int i = 0; i < FR_MESH_AXES; i++) {
                slot += place[plan.placement.order[i]] * stride;
                stride *= mesh.size[plan.placement.order[i]];
            }
            same = same && slot == rank;
        }
        FR_TRUE(equivalent->is(NULL, &plan) == same, "round %d", round);
        plan.placement.row = &fr_placement_linear; /* the default is no other name */
        assert_false(equivalent->is(NULL, &plan));
        same ? linear++ : others++;
    }
    FR_TRUE(linear > 300 && others > 300, "%d, %d", linear, others);
}

/* Stages' layers that differ by one at most, the earlier ones having more, and are the model's in sum, are the
 * equal ones; but where chunks outnumber layers the default is another. */
static void layers_that_are_equal(void **state) {
    const struct fr_equivalent *equivalent = row(FR_PLAN_KEY_stage_layers);
    uint64_t dice = 362436069362436069u;
    int equal = 0, others = 0;
    (void)state;
    for (int round = 0; round < 4000; round++) {
        struct fr_layer listed[3] = {{.repeat = 0}};
        struct fr_workload model = {.layers = listed,
                                    .n_layers = (int)fr_test_random(&dice, 4)};
        struct fr_plan plan = fr_plan_default();
        int64_t list[5], sum = 0, n = 0;
        bool even = true;
        if (model.n_layers == 0)
            model.transformer.layers = n = 1 + (int64_t)fr_test_random(&dice, 12);
        for (int k = 0; k < model.n_layers; k++)
            n += (int64_t)(listed[k].repeat = 1 + (double)fr_test_random(&dice, 5));
        plan.pp = 1 + (int64_t)fr_test_random(&dice, 5);
        plan.chunks = 1 + (int64_t)fr_test_random(&dice, 2);
        for (int64_t i = 0; i < plan.pp; i++)
            list[i] =
                n / plan.pp + (i < n % plan.pp) +
                (fr_test_random(&dice, 6) == 0 ? (int64_t)fr_test_random(&dice, 3) - 1 : 0);
        plan.stage_layers = list;
        plan.n_stage_layers = (int)plan.pp;
        for (int64_t i = 0; i < plan.pp; i++) {
            sum += list[i];
            even = even && list[i] <= list[0] && list[i] >= list[0] - 1 &&
                   (i == 0 || list[i] <= list[i - 1]);
        }
        even = even && sum == n && plan.pp * plan.chunks <= n;
        FR_TRUE(equivalent->is(&model, &plan) == even, "round %d", round);
        assert_false(equivalent->is(NULL, &plan)); /* it hangs on the model */
        plan.n_stage_layers++;
        assert_false(equivalent->is(&model, &plan));
        plan.stage_layers = NULL;
        plan.n_stage_layers = (int)plan.pp;
        assert_false(equivalent->is(&model, &plan));
        plan.stage_layers_best = true; /* one stage has all of them, whatever the model */
        assert_int_equal(equivalent->is(&model, &plan), plan.pp == 1);
        assert_int_equal(equivalent->is(NULL, &plan), plan.pp == 1);
        even ? equal++ : others++;
    }
    FR_TRUE(equal > 500 && others > 500, "%d, %d", equal, others);
}

/* The tp of a list that says the same of all its entries. */
static void grids_that_are_one(void **state) {
    const struct fr_equivalent *equivalent = row(FR_PLAN_KEY_layer_tp);
    const struct fr_workload transformer = {.transformer = {.layers = 4}},
                             listed = {.n_layers = 3};
    uint64_t dice = 521288629362436069u;
    (void)state;
    for (int round = 0; round < 2000; round++) {
        struct fr_plan plan = fr_plan_default();
        int64_t list[3], one;
        plan.tp = 1 << fr_test_random(&dice, 2);
        plan.n_layer_tp = (int)fr_test_random(&dice, 4);
        plan.layer_tp = list;
        plan.pairs = fr_test_random(&dice, 4) == 0;
        for (int i = 0; i < 3; i++) list[i] = 1 << fr_test_random(&dice, 2);
        one = plan.n_layer_tp > 0 ? list[0] : 0;
        for (int i = 0; i < plan.n_layer_tp; i++)
            if (list[i] != list[0]) one = 0;
        assert_int_equal(fr_equivalent_uniform(&plan), one);
        assert_int_equal(equivalent->is(&transformer, &plan),
                         !plan.pairs && one == plan.tp && plan.n_layer_tp == FR_GRIDS);
        assert_false(equivalent->is(&listed, &plan) || equivalent->is(NULL, &plan));
        plan.layer_tp = NULL;
        assert_int_equal(fr_equivalent_uniform(&plan), 0);
    }
}

/* A grid of one row is data parallelism, where tensor takes the model: any transformer, layers that are all
 * fully connected; branches of a transformer are not, whose memory is counted at fewer moments. */
static void grids_of_one_row(void **state) {
    const struct fr_equivalent *equivalent = row(FR_PLAN_KEY_method);
    (void)state;
    for (int m = 0; fr_methods[m]; m++)
        for (int kind = 0; kind < 6; kind++)
            for (int bits = 0; bits < 8; bits++) {
                struct fr_layer layers[2] = {{.fully_connected = kind != 3},
                                             {.fully_connected = kind != 2}};
                const int64_t list[] = {1, 1};
                struct fr_workload model = {.layers = layers, .n_layers = kind ? 2 : 0};
                struct fr_plan plan = fr_plan_default();
                if (kind == 4) model.transformer.layers = 3, model.n_layers = 0;
                plan.method = fr_methods[m];
                plan.tp = bits & 1 ? 2 : 1;
                if (bits & 2) plan.layer_tp = list, plan.n_layer_tp = 2;
                plan.layer_tp_best = bits & 4;
                model.micro_batch = m % 2 ? 1 : -1;
                bool takes = kind == 1 || (kind == 4 && !plan.method->branches),
                     one = plan.method->grids || plan.method->branches;
                FR_TRUE(equivalent->is(kind == 5 ? NULL : &model, &plan) ==
                            (takes && one && bits == 0),
                        "%s, kind %d, %d", fr_methods[m]->name, kind, bits);
            }
}

static void one_chunk_and_whole_experts(void **state) {
    (void)state;
    for (int s = 0; fr_schedules[s]; s++)
        for (int n = 1; n <= 3; n++) {
            struct fr_plan plan = fr_plan_default();
            plan.schedule = fr_schedules[s];
            plan.chunks = n;
            plan.tp = 2;
            plan.etp = n - 1; /* 0: open */
            assert_int_equal(row(FR_PLAN_KEY_schedule)->is(NULL, &plan),
                             strcmp(fr_schedules[s]->name, "interleaved") == 0 && n == 1);
            assert_int_equal(row(FR_PLAN_KEY_etp)->is(NULL, &plan), n == 3);
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(orders_that_seat_linearly), cmocka_unit_test(layers_that_are_equal),
        cmocka_unit_test(grids_that_are_one), cmocka_unit_test(grids_of_one_row),
        cmocka_unit_test(one_chunk_and_whole_experts)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
