/* Stages, grids and ranks that a plan leaves to be chosen are chosen once.  Its price is that of a job whose plan states
 * what was chosen, and the plan of the outcome leaves it as open as it was. */
#include "search/chosen.h"

#include "models/outcome/cost.h"
#include "tests/job.h"

static const struct {
    const char *cluster, *model, *sets[9];
} rows[] = {
    {"a100-hdr",
     "gpt-2.5b",
     {"tp=2", "pp=4", "dp=4", "global_batch=64", "compression.gradient.stages=2",
      "compression.gradient.ranks=best", NULL}},
    {"a100-hdr",
     "gpt-2.5b",
     {"tp=2", "pp=8", "dp=4", "global_batch=64", "compression.gradient.stages=8",
      "compression.gradient.rank=64", "compression.gradient.ranks=best", "stage_layers=best",
      NULL}},
    {"a100-hdr",
     "gpt-2.5b",
     {"tp=4", "pp=7", "global_batch=64", "micro_batch=2", "stage_layers=best", NULL}},
    {"a100-hdr",
     "gpt-2.5b",
     {"method=grid", "tp=8", "dp=2", "global_batch=64", "layer_tp=best", "divide=pairs", NULL}},
    {"a100-hdr",
     "gpt-2.5b",
     {"method=grid", "tp=4", "dp=2", "pp=3", "global_batch=64", "layer_tp=best",
      "stage_layers=best", NULL}},
    {"cori-knl",
     "alexnet",
     {"method=grid", "tp=4", "dp=8", "global_batch=64", "layer_tp=best"}},
};

static void same_but_for_nothing(const struct fr_plan *got, const struct fr_plan *given,
                                 size_t row) {
    FR_TRUE(got->stage_layers == given->stage_layers &&
                got->n_stage_layers == given->n_stage_layers &&
                got->stage_layers_best == given->stage_layers_best,
            "row %zu: stages", row);
    FR_TRUE(got->layer_tp == given->layer_tp && got->n_layer_tp == given->n_layer_tp &&
                got->layer_tp_best == given->layer_tp_best,
            "row %zu: grids", row);
    FR_TRUE(got->gradient_ranks == given->gradient_ranks &&
                got->n_gradient_ranks == given->n_gradient_ranks &&
                got->gradient_ranks_best == given->gradient_ranks_best &&
                got->compression.gradient_rank == given->compression.gradient_rank,
            "row %zu: ranks", row);
}

static void priced_as_stated_and_left_open(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct fr_job job;
        struct fr_outcome open, stated;
        fr_reasons lacks = 0;
        fr_test_job(rows[i].cluster, rows[i].model, rows[i].sets, &job);
        const struct fr_plan given = job.plan;
        FR_TRUE(given.stage_layers_best || given.layer_tp_best || given.gradient_ranks_best,
                "row %zu leaves nothing open", i);
        fr_cost_chosen(&job, &given, &open);
        same_but_for_nothing(&open.plan, &given, i);
        assert_int_equal(fr_job_choose(&job, &lacks, NULL), FR_OK);
        fr_cost(&job, &job.plan, &stated);
        FR_TRUE(lacks == 0 && open.reasons == stated.reasons, "row %zu: %llx, %llx", i,
                (unsigned long long)open.reasons, (unsigned long long)stated.reasons);
        FR_TRUE(open.time_s > 0, "row %zu", i);
        FR_NEAR(open.time_s, stated.time_s, 1e-12);
        FR_NEAR(open.memory_peak_B, stated.memory_peak_B, 1e-12);
        fr_job_free(&job);
    }
}

/* Where nothing can be chosen the outcome says what it lacks, and is the plan's as it was given. */
static void what_cannot_be_chosen_is_refused(void **state) {
    static const char *const sets[] = {"pp=64", "global_batch=64", "stage_layers=best", NULL};
    struct fr_job job;
    struct fr_outcome out;
    (void)state;
    fr_test_job("a100-hdr", "gpt-2.5b", sets, &job); /* of 52 layers */
    fr_cost_chosen(&job, &job.plan, &out);
    assert_true(out.reasons != 0);
    same_but_for_nothing(&out.plan, &job.plan, 99);
    fr_job_free(&job);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(priced_as_stated_and_left_open),
                                       cmocka_unit_test(what_cannot_be_chosen_is_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
