/* A form that counts a message by what each rank holds reads its tables at an p-th of the whole, for the
 * operations whose size is divided, and no other. */
#include "models/job/job.h"
#include "tests/job.h"

static double time_of(const char *op_form, fr_op op, double size_B) {
    const char *const sets[] = {op_form, NULL};
    struct fr_job job;
    bool outside = false;
    fr_test_job("dgx-a100", "gpt-2.5b", sets, &job);
    struct fr_group group = fr_group_make(&job.cluster.levels, 4, 1);
    double time_s = fr_comm_time_s(&job.cluster.price[op], &group, size_B, &outside);
    fr_job_free(&job);
    return time_s;
}

static void tables_by_rank(void **state) {
    static const struct {
        const char *name;
        fr_op op;
        bool divided;
    } ops[] = {
        {"all_gather", FR_OP_ALL_GATHER, true}, {"reduce_scatter", FR_OP_REDUCE_SCATTER, true},
        {"all_to_all", FR_OP_ALL_TO_ALL, true}, {"scatter", FR_OP_SCATTER, true},
        {"gather", FR_OP_GATHER, true},         {"all_reduce", FR_OP_ALL_REDUCE, false},
        {"broadcast", FR_OP_BROADCAST, false},  {"reduce", FR_OP_REDUCE, false}};
    static const char *const forms[] = {
        "{\"form\": \"segments\", \"message\": \"%s\", \"fits\": [{\"ranks\": 4, \"level\": "
        "\"node\", \"min\": \"8 B\", \"max\": \"1 GB\", \"segments\": [{\"up_to\": \"1 GB\", "
        "\"latency\": \"1 us\", \"per_byte\": \"1 ns/B\"}]}]}",
        "{\"form\": \"log\", \"message\": \"%s\", \"c1\": \"0.5 us\", \"c2\": \"1 ns/B\"}"};
    (void)state;
    for (size_t i = 0; i < sizeof ops / sizeof *ops; i++)
        for (int f = 0; f < 2; f++)
            for (int per_rank = 0; per_rank < 2; per_rank++) {
                char form[400], set[480];
                snprintf(form, sizeof form, forms[f], per_rank ? "per_rank" : "total");
                snprintf(set, sizeof set, "cluster.collectives.%s=%s", ops[i].name, form);
                double n = per_rank && ops[i].divided ? 4e6 / 4 : 4e6;
                FR_NEAR(time_of(set, ops[i].op, 4e6), 1e-6 + 1e-9 * n, 1e-9);
            }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(tables_by_rank)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
