/* Whose gradients are reduced: bytes of a stage's weights, of experts, of common layers and of groups on grids of their
 * own are there where somebody else holds a copy of these, and nowhere else; of branches of heads all are in common. */
#include "models/outcome/cost.h"
#include "models/price/pipeline.h"
#include "tests/job.h"

static const struct {
    const char *model, *sets[8];
    int own, experts, common; /* copies: of the rest, of experts, of common layers */
} rows[] = {
    {"gpt-2", {"tp=1"}, 1, 1, 1},
    {"gpt-2", {"tp=4"}, 1, 1, 1},
    {"gpt-2", {"tp=2", "dp=2"}, 2, 2, 1},
    {"gpt-2", {"pp=2", "dp=2"}, 2, 2, 1},
    {"mixtral-8x7b", {"tp=2"}, 1, 1, 1},
    {"mixtral-8x7b", {"dp=4", "ep=4"}, 4, 1, 1},
    {"mixtral-8x7b", {"dp=8", "ep=4"}, 8, 2, 1},
    {"mixtral-8x7b", {"dp=2"}, 2, 2, 1},
    {"transformer-base",
     {"method=subgraph", "branches=heads", "micro_batch=4", "tp=2"},
     1,
     1,
     2},
    {"transformer-base",
     {"method=subgraph", "branches=heads", "micro_batch=4", "tp=2", "dp=2"},
     1,
     2,
     4},
    {"transformer-base",
     {"method=subgraph", "branches=heads", "micro_batch=4", "tp=2", "common=subgrid"},
     1,
     1,
     2},
};

static void where_somebody_else_holds_a_copy(void **state) {
    (void)state;
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        const char *sets[16] = {"global_batch=16", "micro_batch=1", "model.dtype=bf16"};
        struct fr_job job;
        struct fr_pipeline p;
        uint32_t extrapolated = 0;
        for (int i = 0; i < 8; i++) sets[3 + i] = rows[k].sets[i];
        fr_test_job("dgx-h100", rows[k].model, sets, &job);
        struct fr_outcome out;
        fr_cost(&job, &job.plan, &out);
        FR_TRUE(!(out.reasons & ~FR_BECAUSE(FR_REASON_MEMORY)), "row %zu: %llx", k,
                (unsigned long long)out.reasons);
        assert_int_equal(fr_pipeline_make(&job, &job.plan, &p, &extrapolated, NULL), FR_OK);
        bool mixture = job.workload.transformer.experts > 0;
        bool branches = job.plan.method == &fr_method_subgraph;
        for (int32_t i = 0; i < p.args.stages; i++) {
            const struct fr_stage *s = &p.stage[i];
            FR_TRUE((s->gradient_B > 0) == (rows[k].own > 1) && s->gradient_B >= 0,
                    "row %zu: %g B of a stage", k, s->gradient_B);
            FR_TRUE((s->expert_B > 0) == (mixture && rows[k].experts > 1) && s->expert_B >= 0 &&
                        (s->expert_B > 0 || s->expert_B == 0),
                    "row %zu: %g B of experts", k, s->expert_B);
            FR_TRUE((s->common_B > 0) == (branches && rows[k].common > 1),
                    "row %zu: %g B in common", k, s->common_B);
            for (int g = 0; g < FR_GRIDS; g++)
                FR_TRUE(s->grid_B[g] == 0, "row %zu: %g B of group %d", k, s->grid_B[g], g);
        }
        fr_pipeline_free(&p);
        fr_job_free(&job);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(where_somebody_else_holds_a_copy)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
