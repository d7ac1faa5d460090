/* A plan stands once, under one line, and costs what it did under its other names; every key is
 * varied. */
#include <stdlib.h>
#include <string.h>

#include "models/outcome/cost.h"
#include "search/search.h"
#include "tests/drawn_spaces.h"

static const struct fr_search_options options = {.max_lossy = 1, .per_iteration = true};

static void same_price(const struct fr_outcome *a, const struct fr_outcome *b,
                       const char *line) {
    FR_TRUE(a->reasons == b->reasons, "%s", line);
    FR_TRUE(fabs(a->time_s - b->time_s) <= 1e-12 * a->time_s, "%s: %.17g, %.17g", line,
            a->time_s, b->time_s);
    FR_TRUE(isnan(a->energy_J) || fabs(a->energy_J - b->energy_J) <= 1e-9 * a->energy_J,
            "%s: %.17g, %.17g", line, a->energy_J, b->energy_J);
    FR_TRUE(fabs(a->memory_peak_B - b->memory_peak_B) <= 1e-12 * a->memory_peak_B, "%s", line);
}

/* A plan without reasons costs the same once its idle keys are put back and its equivalent plans renamed. */
static void settled_costs_the_same(void **state) {
    (void)state;
    uint64_t dice = 1181783497276652981u;
    for (int j = 0; j < FR_TEST_JOBS; j++) {
        struct fr_job job;
        int compared = 0;
        fr_test_job(fr_test_jobs[j][0], fr_test_jobs[j][1], NULL, &job);
        for (int n = 0; n < fr_sample(9000, 4000); n++) {
            struct fr_json_document *document = NULL;
            struct fr_plan plan, resolved;
            struct fr_plan_lists lists;
            struct fr_space space;
            struct fr_outcome before, after;
            char ranks[32], line[FR_PLAN_LINE];
            bool fits = false;
            assert_int_equal(fr_test_plan_document(&dice, 3 + (uint64_t)n % 8, &document), 0);
            assert_int_equal(fr_plan_read(document, &plan, &lists, NULL), FR_OK);
            plan.layer_tp_best = false;
            fr_cost(&job, &plan, &before);
            snprintf(ranks, sizeof ranks, "%lld", (long long)fr_plan_ranks(&plan));
            if (isfinite(before.time_s)) {
                assert_int_equal(
                    fr_space_make(ranks, NULL, 0, &plan, true, true, NULL, &space, NULL),
                    FR_OK);
                assert_true(fr_space_plan(&space, &job.workload, 0, &resolved, &fits) && fits);
                fr_cost(&job, &resolved, &after);
                fr_plan_line(&plan, 0, line, sizeof line);
                same_price(&before, &after, line);
                assert_int_equal(resolved.resolved & ~FR_PLAN_RESOLVED, 0); /* else refused */
                fr_space_free(&space);
                compared++;
            }
            fr_plan_lists_free(&lists);
            fr_json_free(document);
        }
        FR_TRUE(compared > 0, "%s: %d", fr_test_jobs[j][1], compared);
        fr_job_free(&job);
    }
}

static int by_text(const void *a, const void *b) {
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void line_of(const struct fr_plan *plan, char line[FR_PLAN_LINE]) {
    fr_plan_line(plan, 0, line, FR_PLAN_LINE);
    size_t used_up = strlen(line);
    fr_line_addf(line, FR_PLAN_LINE, &used_up, " on %lld", (long long)fr_plan_ranks(plan));
}

/* Lines of what is listed, in order. */
static char **lines_of(const struct fr_space *space, const struct fr_job *job, size_t *count) {
    char **lines = calloc((size_t)space->size, sizeof *lines);
    *count = 0;
    for (int64_t i = 0; i < space->size; i++) {
        struct fr_plan plan;
        char line[FR_PLAN_LINE];
        bool fits;
        if (!fr_space_plan(space, &job->workload, i, &plan, &fits) || !fits) continue;
        line_of(&plan, line);
        lines[(*count)++] = strdup(line);
    }
    qsort(lines, *count, sizeof *lines, by_text);
    return lines;
}

/* Random spaces: no two configurations have a line and a rank count in common. */
static void stands_once(void **state) {
    (void)state;
    uint64_t dice = 2862933555777941757u;
    size_t listed = 0;
    for (int n = 0; n < fr_sample(300, 80); n++) {
        struct fr_job job;
        struct fr_space space;
        char vary[6][512];
        size_t count;
        fr_test_draw_space(&dice, n, vary, &job, &space);
        char **lines = lines_of(&space, &job, &count);
        listed += count;
        for (size_t i = 1; i < count; i++)
            FR_TRUE(strcmp(lines[i - 1], lines[i]) != 0, "twice: %s, of %s; %s; %s; %s; %s; %s",
                    lines[i], vary[0], vary[1], vary[2], vary[3], vary[4], vary[5]);
        for (size_t i = 0; i < count; i++) free(lines[i]);
        free(lines);
        fr_space_free(&space);
        fr_job_free(&job);
    }
    assert_true(listed > 250);
}

/* Configuration @p index as it is written: the last dimension varies fastest, a varied order says how many
 * stages and chunks there are where nobody else does. @return its rank count */
static int64_t as_written(const struct fr_space *space, int64_t index, struct fr_plan *plan) {
    *plan = space->base;
    for (int d = space->n_dimensions; d-- > 0;) {
        const struct fr_dimension *of = &space->dimension[d];
        memcpy((char *)plan + of->key->offset,
               of->values + index % (int64_t)of->count * (int64_t)of->key->size, of->key->size);
        index /= (int64_t)of->count;
    }
    if (plan->order && plan->order != space->base.order) {
        if (plan->pp == 1) plan->pp = plan->order->stages;
        if (plan->chunks == 1) plan->chunks = plan->order->chunks;
    }
    return space->ranks[index];
}

/* Random spaces: each configuration is listed by the line that it has alone.  (Of grids of layers the first
 * mesh stands for all, which has a line of its own.) */
static void nothing_is_lost(void **state) {
    (void)state;
    uint64_t dice = 2862933555777941757u;
    size_t found = 0, others = 0;
    for (int n = 0; n < fr_sample(140, 40); n++) {
        struct fr_job job;
        struct fr_space space;
        char vary[6][512];
        size_t count;
        fr_test_draw_space(&dice, n, vary, &job, &space);
        char **lines = lines_of(&space, &job, &count);
        for (int64_t i = 0; i < space.size; i++) {
            struct fr_plan plan, alone;
            struct fr_space one;
            char ranks[32], line[FR_PLAN_LINE], *text = line;
            bool fits = false;
            snprintf(ranks, sizeof ranks, "%lld", (long long)as_written(&space, i, &plan));
            if (plan.layer_tp || plan.layer_tp_best) continue;
            assert_int_equal(fr_space_make(ranks, NULL, 0, &plan, space.dp_given,
                                           space.tp_given, NULL, &one, NULL),
                             FR_OK);
            if (fr_space_plan(&one, &job.workload, 0, &alone, &fits) && fits) {
                line_of(&alone, line);
                FR_TRUE(bsearch(&text, lines, count, sizeof *lines, by_text),
                        "lost: %s, of %s; %s; %s; %s; %s; %s", line, vary[0], vary[1], vary[2],
                        vary[3], vary[4], vary[5]);
                found++;
                others += !fr_space_plan(&space, &job.workload, i, &plan, &fits);
            }
            fr_space_free(&one);
        }
        for (size_t i = 0; i < count; i++) free(lines[i]);
        free(lines);
        fr_space_free(&space);
        fr_job_free(&job);
    }
    FR_TRUE(found > 3000 && others > 1000, "%zu, %zu", found, others);
}

static int plans_of(const char *ranks, const char *const *vary, int n_vary) {
    struct fr_plan base = fr_plan_default(), plan;
    struct fr_space space;
    struct fr_error err = {0};
    int count = 0;
    bool fits;
    if (fr_space_make(ranks, vary, n_vary, &base, false, false, NULL, &space, &err) != FR_OK)
        fail_msg("%s", err.detail);
    for (int64_t i = 0; i < space.size; i++)
        count += fr_space_plan(&space, NULL, i, &plan, &fits) && fits;
    fr_space_free(&space);
    return count;
}

/* `best` chooses a grid of all ranks for each layer: tp and dp are no choice beside it. */
static void best_grids_are_one_choice(void **state) {
    (void)state;
    const char *tp[] = {"method=grid", "layer_tp=best", "tp=1,2,4,8"};
    const char *dp[] = {"method=grid", "layer_tp=best", "dp=16,3,2,4,8"};
    const char *two[] = {"method=grid", "layer_tp=uniform,best", "tp=1,2,4,8"};
    assert_int_equal(plans_of("8", tp, 3), 1);
    assert_int_equal(plans_of("8,16", tp, 3), 2);
    assert_int_equal(plans_of("8", dp, 3), 1);
    assert_int_equal(plans_of("8", two, 3), 4 + 1);
}

static int of_model(const char *cluster, const char *model, const char *ranks,
                    const char *const *sets, const char *const *vary, int n_vary, bool dp_set,
                    bool tp_set, char lines[8][FR_PLAN_LINE]) {
    struct fr_job job;
    struct fr_space space;
    struct fr_error err = {0};
    int count = 0;
    fr_test_job(cluster, model, sets, &job);
    if (fr_space_make(ranks, vary, n_vary, &job.plan, dp_set, tp_set, NULL, &space, &err) !=
        FR_OK)
        fail_msg("%s", err.detail);
    for (int64_t i = 0; i < space.size; i++) {
        struct fr_plan plan;
        bool fits;
        if (!fr_space_plan(&space, &job.workload, i, &plan, &fits) || !fits) continue;
        if (count < 8) fr_plan_line(&plan, 0, lines[count], FR_PLAN_LINE);
        count++;
    }
    fr_space_free(&space);
    fr_job_free(&job);
    return count;
}

/* A list that says what nobody needs to say is no plan of its own: stages' layers as they are divided
 * anyway, one grid for every layer. */
static void lists_that_say_the_default(void **state) {
    char lines[8][FR_PLAN_LINE];
    (void)state;
    /* 52 layers over 4 are 13 each; the others are other plans. */
    const char *const layers[] = {
        "stage_layers=equal,[13,13,13,13],[14,13,13,12],[12,13,13,14]"};
    const char *const four[] = {"pp=4", NULL}, *const list[] = {"stage_layers=[13,13,13,13]"};
    assert_int_equal(of_model("a100-hdr", "gpt-2.5b", "4", four, layers, 1, false, true, lines),
                     3);
    assert_int_equal(of_model("a100-hdr", "gpt-2.5b", "4", four, list, 1, false, true, lines),
                     1);
    assert_null(strstr(lines[0], "layers"));
    /* alexnet's eight: each uniform grid once, by whichever mesh; others of all ranks once. */
    const char *const grid[] = {"method=grid", NULL};
    const char *const all[] = {"tp=1,2,4,8", "layer_tp=uniform,[2,2,2,2,2,2,2,2],"
                                             "[4,4,4,4,4,4,4,4],[1,1,1,1,1,4,4,4]"};
    assert_int_equal(of_model("cori-knl", "alexnet", "8", grid, all, 2, false, true, lines),
                     4 + 1);
    const char *const dp[] = {"dp=2,4", "layer_tp=uniform,[2,2,2,2,2,2,2,2]"};
    assert_int_equal(of_model("cori-knl", "alexnet", "8", grid, dp, 2, true, false, lines), 2);
    const char *const both[] = {"tp=1,2,4", "dp=8,4,2", "layer_tp=[1,1,1,1,1,4,4,4]"};
    assert_int_equal(of_model("cori-knl", "alexnet", "8", grid, both, 3, true, true, lines), 1);
    /* A mesh that does not divide the ranks stands for none. */
    const char *const wide[] = {"tp=16,2", "layer_tp=[1,1,1,1,1,4,4,4]"};
    assert_int_equal(of_model("cori-knl", "alexnet", "8", grid, wide, 2, false, true, lines),
                     1);
    const char *const three[] = {"tp=3,2,4", "layer_tp=[1,1,1,1,1,4,4,4]"};
    assert_int_equal(of_model("cori-knl", "alexnet", "8", grid, three, 2, false, true, lines),
                     1);
    /* No mesh of this space has two rows: the list is its only name, and stays under the shorter. */
    const char *const one[] = {"method=grid", "tp=1", NULL},
                      *const two[] = {"layer_tp=uniform,[2,2,2,2,2,2,2,2]"};
    assert_int_equal(of_model("cori-knl", "alexnet", "8", one, two, 1, false, true, lines), 2);
    FR_TRUE(strstr(lines[1], "grid tp 2 x dp 4") && !strstr(lines[1], "grids"), "%s", lines[1]);
}

/* Over layers that are all connected a grid of one row is data parallelism as tensor is; over others tensor
 * is refused. */
static void one_row_is_tensor(void **state) {
    char lines[8][FR_PLAN_LINE];
    const char *const vary[] = {"method=grid,tensor", "tp=1,2"},
                      *const grid[] = {"method=grid"},
                      *const all[] = {"method=subgraph,grid,tensor", "tp=1,2",
                                      "common=all,subgrid"},
                      *const set[] = {"micro_batch=1", NULL};
    (void)state;
    /* Sub-graphs of one rank likewise: five of tensor, grid and two common layers at tp 2, and one at tp 1; of a
     * transformer they are another plan, whose memory is counted at fewer moments. */
    assert_int_equal(of_model("frontier", "ffn-4096", "8", NULL, all, 3, false, true, lines),
                     5);
    assert_int_equal(of_model("dgx-a100", "gpt-2", "8", set, all, 3, false, true, lines), 6);
    assert_int_equal(of_model("cori-knl", "alexnet", "8", NULL, all, 3, false, true, lines), 6);
    assert_int_equal(of_model("frontier", "ffn-4096", "8", NULL, vary, 2, false, true, lines),
                     3);
    assert_int_equal(of_model("frontier", "ffn-4096", "8", NULL, grid, 1, false, true, lines),
                     1);
    assert_non_null(strstr(lines[0], "tensor"));
    assert_int_equal(of_model("cori-knl", "alexnet", "8", NULL, vary, 2, false, true, lines),
                     4);
}

/* No two listed plans that can be priced cost the same to the last bit in time, energy, memory and bytes: an
 * equivalent plan would. */
static void what_is_listed_differs(void **state) {
    static const struct {
        const char *cluster, *model, *ranks;
        const char *vary[5];
        int n;
    } spaces[] = {
        {"frontier",
         "ffn-4096",
         "8,16",
         {"method=tensor,grid,phantom", "tp=1,2,4,8", "ghost=2,4"},
         3},
        {"cori-knl",
         "alexnet",
         "8",
         {"method=grid,tensor", "tp=1,2,4",
          "layer_tp=uniform,best,[2,2,2,2,2,2,2,2],[1,1,1,1,1,1,4,4]"},
         3},
        {"a100-hdr",
         "gpt-2.5b",
         "16",
         {"tp=1,2", "pp=1,2,4", "schedule=1f1b,interleaved", "chunks=1,2",
          "stage_layers=equal,[26,26],[13,13,13,13]"},
         5},
        {"dgx-h100", "mixtral-8x7b", "16", {"tp=2,4", "ep=1,2,4", "etp=1,2,4", "zero=0,1"}, 4},
        {"a100-hdr",
         "gpt-2.5b",
         "16",
         {"tp=2,4", "pp=1,4", "sequence_parallel=true,false", "recompute=none,full",
          "zero=0,1,3"},
         5},
    };
    (void)state;
    for (size_t n = 0; n < sizeof spaces / sizeof *spaces; n++) {
        struct fr_job job;
        struct fr_space space;
        const char *const sets[] = {"global_batch=64", NULL};
        static struct fr_outcome out[512];
        int count = 0;
        fr_test_job(spaces[n].cluster, spaces[n].model, sets, &job);
        assert_int_equal(fr_space_make(spaces[n].ranks, spaces[n].vary, spaces[n].n, &job.plan,
                                       false, true, NULL, &space, NULL),
                         FR_OK);
        for (int64_t i = 0; i < space.size; i++) {
            struct fr_outcome *one = &out[count];
            if (!fr_search_evaluate(&job, &space, &options, FR_RANK_ITERATION, i, one))
                continue;
            if (!isfinite(one->time_s) || one->plan.layer_tp_best) continue;
            for (int k = 0; k < count; k++) {
                char a[FR_PLAN_LINE], b[FR_PLAN_LINE];
                if (out[k].ranks != one->ranks || out[k].time_s != one->time_s ||
                    out[k].memory_peak_B != one->memory_peak_B ||
                    memcmp(out[k].sent_B, one->sent_B, sizeof one->sent_B) != 0)
                    continue;
                fail_msg("%s costs as %s", fr_plan_line(&one->plan, 0, a, sizeof a),
                         fr_plan_line(&out[k].plan, 0, b, sizeof b));
            }
            count++;
        }
        FR_TRUE(count > 3, "%zu: %d", n, count);
        fr_space_free(&space);
        fr_job_free(&job);
    }
}

/* One key at a time, by a value that --set would take. */
static void every_key_is_varied(void **state) {
    (void)state;
    uint64_t dice = 99;
    struct fr_plan base = fr_plan_default();
    for (int k = 0; k < FR_PLAN_KEYS; k++) {
        struct fr_space space;
        struct fr_error err = {0};
        struct fr_plan plan;
        char vary[256], value[160], line[FR_PLAN_LINE];
        const char *text = vary;
        bool fits;
        snprintf(vary, sizeof vary, "%s=%s", fr_plan_keys[k].name,
                 fr_test_value(&fr_plan_keys[k], &dice, value, sizeof value));
        if (fr_space_make("1..64", &text, 1, &base, false, false, NULL, &space, &err) != FR_OK)
            fail_msg("%s: %s", vary, err.detail);
        assert_true(fr_space_plan(&space, NULL, 0, &plan, &fits));
        fr_plan_line(&plan, 0, line, sizeof line);
        fr_space_free(&space);
    }
}

static void twice(const char *const *vary, int n_vary, const char *const *sets,
                  int64_t evaluated) {
    struct fr_job job;
    struct fr_space space;
    struct fr_search_result result;
    fr_test_job("a100-hdr", "gpt-2.5b", sets, &job);
    assert_int_equal(
        fr_space_make("16", vary, n_vary, &job.plan, false, true, NULL, &space, NULL), FR_OK);
    assert_int_equal(fr_search(&job, &space, &options, &result, NULL), FR_OK);
    FR_TRUE(result.evaluated == evaluated, "%lld, not %lld", (long long)result.evaluated,
            (long long)evaluated);
    fr_search_result_free(&result);
    fr_space_free(&space);
    fr_job_free(&job);
}

/* Counted by hand. */
static void named_by_the_issue(void **state) {
    (void)state;
    const char *const sets[] = {"tp=4", NULL};
    /* One stage: once. Four: 1f1b, and interleaved by 2; with one chunk it is 1f1b, which has one. */
    const char *const chunks[] = {"pp=1,4", "schedule=1f1b,interleaved", "chunks=1,2"};
    twice(chunks, 3, sets, 1 + 2);
    /* Without tensor parallel nothing is divided along the sequence. */
    const char *const one[] = {"tp=1", NULL}, *const sp[] = {"sequence_parallel=true,false"};
    twice(sp, 1, one, 1);
    /* A rank is of what goes compressed. */
    const char *const rank[] = {"compression.gradient.stages=0,1",
                                "compression.gradient.rank=4,16,64"};
    twice(rank, 2, sets, 1 + 3);
    /* The identity is linear. */
    const char *const rank_map[] = {"placement=linear,by-axis:tp-pp-dp,round-robin"};
    twice(rank_map, 1, sets, 2);
    /* A dense model does not read these. */
    const char *const experts[] = {"ep=1,2,4", "overlap_experts=true,false"};
    twice(experts, 2, sets, 1);
}

/* The sequence and a link's rate as inputs of the search: each value is a job of its own. */
static void inputs_are_varied(void **state) {
    (void)state;
    static const char *const sets[] = {"tp=4", "global_batch=64", "attention=flash"};
    static const char *const vary[] = {"model.sequence=2048,4096",
                                       "cluster.levels.1.bandwidth=25 GB/s,50 GB/s", "pp=1,2"};
    const struct fr_job_names names = {
        .cluster = "dgx-h100", .model = "llama-3-8b", .sets = sets, .n_sets = 3};
    struct fr_job job;
    struct fr_space space;
    struct fr_error err = {0};
    assert_int_equal(fr_job_load(&names, &job, NULL), FR_OK);
    if (fr_space_make("32", vary, 3, &job.plan, false, true, &names, &space, &err) != FR_OK)
        fail_msg("%s", err.detail);
    assert_int_equal(space.size, 2 * 2 * 2);
    char seen[8][FR_PLAN_LINE];
    for (int64_t i = 0; i < space.size; i++) {
        struct fr_outcome out, alone;
        assert_true(fr_search_evaluate(&job, &space, &options, true, i, &out));
        const struct fr_job *one = out.job;
        assert_int_equal(one->workload.transformer.sequence, i < 4 ? 2048 : 4096);
        assert_true(one->cluster.levels.level[1].rate_B_per_s == (i / 2 % 2 ? 50e9 : 25e9));
        fr_cost(one, &out.plan, &alone);
        assert_true(alone.time_s == out.time_s);
        line_of(&out.plan, seen[i]);
        size_t used_up = strlen(seen[i]);
        for (int k = 0; k < one->n_varied; k++)
            fr_line_addf(seen[i], sizeof seen[i], &used_up, ", %s", one->varied[k]);
        for (int64_t k = 0; k < i; k++) assert_string_not_equal(seen[k], seen[i]);
    }
    fr_space_free(&space);
    fr_job_free(&job);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(settled_costs_the_same), cmocka_unit_test(stands_once),
        cmocka_unit_test(nothing_is_lost),        cmocka_unit_test(best_grids_are_one_choice),
        cmocka_unit_test(every_key_is_varied),    cmocka_unit_test(named_by_the_issue),
        cmocka_unit_test(inputs_are_varied),      cmocka_unit_test(lists_that_say_the_default),
        cmocka_unit_test(one_row_is_tensor),      cmocka_unit_test(what_is_listed_differs)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
