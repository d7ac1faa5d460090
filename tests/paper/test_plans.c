/* Published plans beside the search: rows made up, regret and rank by brute force. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "answer/search/search.h"
#include "base/file.h"
#include "models/outcome/cost.h"
#include "studies/paper_table.h"
#include "tests/job.h"

static const char head[] = "row_id,round,accelerator,accelerators,model,sequence,global_batch_"
                           "seqs,micro_batch_seqs,tp,pp,"
                           "vpp_chunks,cp,sequence_parallel,precision,fp8_recipe,distributed_"
                           "optimizer,overlap_grad_reduce,"
                           "gradient_sync_dtype,gradient_bucket,rank_order,measured_step_time_"
                           "s,derived_step_time_wall_s,"
                           "duplicate_of,quality\n";
static const char rows[] =
    "good,v1,H100-SXM5-80GB,8,llama3.1-8b,8192,16,1,2,1,1,1,yes,bf16,,zero1,yes,bf16,,,1,,,A\n"
    "slow,v1,H100-SXM5-80GB,8,llama3.1-8b,8192,16,1,8,1,1,1,no,bf16,,zero1,no,bf16,,,1,,,A\n"
    "large,v1,H100-SXM5-80GB,8,llama3.1-8b,8192,16,2,1,1,1,1,no,bf16,,,no,bf16,,,1,,,A\n"
    "other,v1,Cerebras-WSE3,8,llama3.1-8b,8192,16,1,8,1,1,1,no,bf16,,,no,bf16,,,1,,,A\n"
    "copy,v1,H100-SXM5-80GB,8,llama3.1-8b,8192,16,1,8,1,1,1,no,bf16,,,no,bf16,,,1,,good,A\n";

static const struct fr_reproduce_row *row(const struct fr_reproduction *r, const char *id) {
    for (size_t i = 0; i < r->count; i++)
        if (strcmp(r->rows[i].id, id) == 0) return &r->rows[i];
    return NULL;
}

static void run(struct fr_reproduction *r) {
    char folder[] = "/tmp/forerun_plans_XXXXXX", path[128], text[4096];
    struct fr_error err = {0};
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/mlperf", folder);
    assert_int_equal(mkdir(path, 0777), 0);
    snprintf(path, sizeof path, "%s/mlperf/time_pretraining.csv", folder);
    snprintf(text, sizeof text, "%s%s", head, rows);
    assert_int_equal(fr_file_write(path, text, strlen(text), &err), FR_OK);
    setenv("FORERUN_DATA", folder, 1);
    fr_status status = fr_paper_plans.run(r, &err);
    unlink(path);
    snprintf(path, sizeof path, "%s/mlperf", folder);
    rmdir(path);
    rmdir(folder);
    if (status != FR_OK) fail_msg("%s: %s", err.where, err.detail);
}

/* The search that the paper is to make, by the user's own way in. */
static void search(struct fr_searched *s) {
    static const char *const sets[] = {"global_batch=16", "model.sequence=8192",
                                       "model.dtype=bf16", "model.gradient_dtype=bf16", NULL};
    struct fr_error err = {0};
    *s = (struct fr_searched){.options = {.top = 0, .max_lossy = 1, .per_iteration = true}};
    fr_test_job("dgx-h100", "llama-3-8b", sets, &s->job);
    /* The table's search is of today, whose software takes memory of its own. */
    const struct fr_job_names today = {.cluster = "dgx-h100", .model = "llama-3-8b"};
    struct fr_job job;
    if (fr_job_load(&today, &job, &err) != FR_OK) fail_msg("%s", err.detail);
    s->job.cluster.device.shown = job.cluster.device.shown;
    s->job.cluster.device.framework = job.cluster.device.framework;
    fr_job_free(&job);
    if (fr_searched_make("8", NULL, 0, NULL, s, &err) != FR_OK) fail_msg("%s", err.detail);
}

static void regret_and_rank(void **state) {
    struct fr_reproduction r = {0};
    struct fr_searched s;
    (void)state;
    run(&r);
    search(&s);
    for (int k = 0; k < 2; k++) {
        struct fr_plan plan = s.job.plan;
        struct fr_outcome out;
        char id[32], rank[48];
        int64_t faster = 0;
        plan.tp = k ? 8 : 2, plan.dp = k ? 1 : 4, plan.micro_batch = 1, plan.zero = 1;
        plan.attention = FR_ATTENTION_FLASH, plan.rank_order = FR_ORDER_TP_DP_PP;
        plan.sequence_parallel = plan.overlap = !k;
        plan.resolved = 0;
        fr_cost(&s.job, &plan, &out);
        for (size_t i = 0; i < s.result.ranked.count; i++)
            faster += s.result.ranked.items[i].value < out.time_s * (1 - 1e-9);
        snprintf(id, sizeof id, "regret/%s", k ? "slow" : "good");
        const struct fr_reproduce_row *x = row(&r, id);
        assert_non_null(x);
        double regret = 100 * (out.time_s / s.result.top.items[0].outcome.time_s - 1);
        FR_TRUE(fabs(x->ours - regret) < 1e-9, "%s: %g, %g", id, x->ours, regret);
        snprintf(rank, sizeof rank, "rank %s%ld of %ld,", faster < 2000 ? "" : "above ",
                 faster < 2000 ? (long)faster + 1 : 2000, (long)s.result.feasible);
        FR_TRUE(strstr(x->note, rank) != NULL, "%s: \"%s\" not in \"%s\"", id, rank, x->note);
        FR_TRUE(x->judged && x->holds == (regret <= 5), "%s: %g", id, regret);
    }
    fr_searched_free(&s);
    free(r.rows);
}

static void what_cannot_be_is_named(void **state) {
    struct fr_reproduction r = {0};
    (void)state;
    run(&r);
    const struct fr_reproduce_row *large = row(&r, "infeasible/large"),
                                  *all = row(&r, "summary/infeasible"),
                                  *within = row(&r, "summary/within_5");
    assert_true(large && all && within);
    FR_TRUE(strstr(large->note, "85.52 GB") && !large->holds, "%s", large->note);
    FR_TRUE(all->ours == 1 && !all->holds, "%g", all->ours);
    FR_TRUE(strstr(within->note, "of 3 plans") && strstr(within->note, "1 rows have no preset"),
            "%s", within->note);
    assert_null(row(&r, "regret/other"));
    assert_null(row(&r, "regret/copy"));
    free(r.rows);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(regret_and_rank),
                                       cmocka_unit_test(what_cannot_be_is_named)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
