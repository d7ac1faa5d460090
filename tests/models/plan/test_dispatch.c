/* The plan of a mixture of experts that does not state its dispatch sends a copy of a token to each node of those
 * that hold its experts, so many neighbours as divide them; where one node holds all, to each expert's rank. */
#include "tests/job.h"

static void neighbours_of_a_node(void **state) {
    (void)state;
    for (int ep = 1; ep <= 64; ep++) {
        char degree[16], ways[16], batch[32];
        const char *sets[] = {degree, ways, batch};
        const struct fr_job_names names = {
            .cluster = "dgx-h100", .model = "qwen3-235b-a22b", .sets = sets, .n_sets = 3};
        struct fr_error err = {0};
        struct fr_job job;
        if (128 % ep != 0) continue; /* experts */
        snprintf(degree, sizeof degree, "dp=%d", 2 * ep);
        snprintf(ways, sizeof ways, "ep=%d", ep);
        snprintf(batch, sizeof batch, "global_batch=%d", 4 * ep);
        if (fr_job_load(&names, &job, &err) != FR_OK) fail_msg("%s: %s", err.where, err.detail);
        if (ep > 1)
            FR_TRUE(job.plan.dispatch_ranks == (ep <= 8 ? 1 : 8), "ep %d: %d", ep,
                    (int)job.plan.dispatch_ranks);
        fr_job_free(&job);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(neighbours_of_a_node)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
