/* A rank for each stage: of all combinations of 5 ranks on 4 stages none is faster, and among the equally fast ours is the
 * least compressed on every stage.  Lists read, print and refuse as they should. */
#include "search/stage_ranks.h"

#include <math.h>
#include <string.h>

#include "models/price/pipeline.h"
#include "search/chosen.h"
#include "tests/job.h"
#include "tests/plan_values.h"

enum { STAGES = 4, ALL = 625 };

static double time_of(const struct fr_job *job, const int64_t *ranks) {
    struct fr_plan plan = job->plan;
    struct fr_outcome out;
    plan.gradient_ranks = ranks;
    plan.n_gradient_ranks = STAGES;
    plan.gradient_ranks_best = false;
    plan.compression.gradient_rank = fr_plan_default().compression.gradient_rank;
    fr_cost(job, &plan, &out);
    /* beside passes, one stage at least is not compressed */
    if (plan.overlap && out.reasons == FR_BECAUSE(FR_REASON_OVERLAP)) return INFINITY;
    FR_TRUE(out.reasons == 0, "%s", fr_reason_names[__builtin_ctzll(out.reasons | 1ull << 40)]);
    return out.time_s;
}

/* How little a rank compresses: 0 least. */
static double kept(int64_t rank) { return rank ? (double)rank : INFINITY; }

static void against_all(const char *cluster, const char *model, const char *const *sets) {
    struct fr_job job;
    int64_t tried[FR_STAGE_RANKS], ranks[STAGES], own[STAGES], most[STAGES];
    double least = INFINITY, ours;
    fr_test_job(cluster, model, sets, &job);
    assert_int_equal(fr_stage_ranks_tried(job.plan.compression.gradient_rank, tried),
                     FR_STAGE_RANKS);
    assert_int_equal(fr_stage_ranks_best(&job, &job.plan, own, NULL), FR_OK);
    ours = time_of(&job, own);
    static double times[ALL];
    for (int c = 0; c < ALL; c++) {
        for (int i = 0, rest = c; i < STAGES; i++, rest /= 5) ranks[i] = tried[rest % 5];
        times[c] = time_of(&job, ranks);
        least = fmin(least, times[c]);
    }
    FR_NEAR(ours, least, 1e-9);
    memcpy(most, own, sizeof most);
    for (int c = 0; c < ALL; c++)
        for (int i = 0, rest = c; i < STAGES && times[c] <= least * (1 + 1e-9); i++, rest /= 5)
            if (kept(tried[rest % 5]) > kept(most[i])) most[i] = tried[rest % 5];
    for (int i = 0; i < STAGES; i++)
        FR_TRUE(most[i] == own[i], "%s, stage %d: %d, could be %d", sets[0], i, (int)own[i],
                (int)most[i]);
    fr_job_free(&job);
}

static void brute_force_agrees(void **state) {
#define PIPE "pp=4", "compression.gradient.stages=4", "compression.gradient.ranks=best"
    static const char *const sets[][11] = {
        {"tp=8", "dp=4", "micro_batch=8", "recompute=full", PIPE},
        {"tp=8", "dp=4", "micro_batch=8", PIPE, "cluster.levels.1.bandwidth=25GB/s"},
        {"tp=4", "dp=8", "micro_batch=8", PIPE, "cluster.levels.1.bandwidth=1GB/s"},
        {"tp=8", "dp=4", "micro_batch=4", PIPE, "stage_layers=[16,12,12,12]"},
        {"tp=8", "dp=4", "micro_batch=8", PIPE, "compression.gradient.rank=512"},
        {"tp=8", "dp=4", "micro_batch=4", PIPE, "schedule=interleaved", "chunks=13"},
        {"tp=8", "dp=4", "micro_batch=4", PIPE, "schedule=zero-bubble"},
        {"tp=8", "dp=4", "micro_batch=4", PIPE, "compression.embedding=fused"},
        {"tp=8", "dp=4", "micro_batch=4", PIPE, "zero=1"},
        {"tp=8", "dp=4", "micro_batch=4", PIPE, "overlap=gradient"},
        {"tp=8", "dp=4", "micro_batch=4", PIPE, "overlap=gradient",
         "stage_layers=[4,16,16,16]"},
        {"tp=8", "dp=4", "micro_batch=4", PIPE, "overlap=gradient", "schedule=interleaved",
         "chunks=13"}};
    static const char *const clusters[] = {"a100-hdr", "frontier"};
    (void)state;
    for (size_t i = 0; i < sizeof sets / sizeof *sets; i++)
        against_all(clusters[i % 2], "gpt-2.5b", sets[i]);
}

/* A plan of a search and the same plan chosen for good: one price. */
static void one_price(void **state) {
    const char *const sets[] = {"tp=8", "dp=4", "micro_batch=8", "recompute=full", PIPE, NULL};
    struct fr_job job;
    struct fr_outcome out, searched;
    fr_reasons lacks = 0;
    (void)state;
    fr_test_job("a100-hdr", "gpt-2.5b", sets, &job);
    fr_cost_chosen(&job, &job.plan, &searched);
    assert_true(searched.plan.gradient_ranks_best && !searched.plan.gradient_ranks);
    assert_int_equal(fr_job_choose(&job, &lacks, NULL), FR_OK);
    assert_true(lacks == 0 && job.plan.gradient_ranks && job.plan.n_gradient_ranks == STAGES);
    fr_cost(&job, &job.plan, &out);
    FR_NEAR(out.time_s, searched.time_s, 0);
    FR_NEAR(out.lossy_gradient, searched.lossy_gradient, 0);
    fr_job_free(&job);
}

/* A list of one rank is that rank; of zeros nothing is compressed. */
static void lists_are_what_they_say(void **state) {
    static const char *const base[] = {"tp=8", "dp=4", "pp=4", "micro_batch=8",
                                       "recompute=full"};
    static const char *const pairs[][2][2] = {
        {{"compression.gradient.ranks=[64,64,64]", "compression.gradient.stages=3"},
         {"compression.gradient.rank=64", "compression.gradient.stages=3"}},
        {{"compression.gradient.ranks=[128,0]", "compression.gradient.stages=2"},
         {"compression.gradient.rank=128", "compression.gradient.stages=1"}},
        {{"compression.gradient.ranks=[0,0]", "compression.gradient.stages=2"},
         {"compression.gradient.stages=0", "dp=4"}}};
    (void)state;
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        struct fr_outcome out[2];
        for (int k = 0; k < 2; k++) {
            const char *sets[8] = {NULL};
            struct fr_job job;
            for (int s = 0; s < 5; s++) sets[s] = base[s];
            sets[5] = pairs[i][k][0];
            sets[6] = pairs[i][k][1];
            fr_test_job("a100-hdr", "gpt-2.5b", sets, &job);
            fr_cost(&job, &job.plan, &out[k]);
            assert_true(out[k].reasons == 0);
            fr_job_free(&job);
        }
        FR_NEAR(out[0].time_s, out[1].time_s, 1e-12);
        FR_NEAR(out[0].memory_peak_B, out[1].memory_peak_B, 1e-12);
        FR_NEAR(out[0].lossy_gradient, out[1].lossy_gradient, 1e-12);
    }
}

static void a_list_of_another_length_cannot_be(void **state) {
    const char *const sets[] = {"tp=8",
                                "dp=4",
                                "pp=4",
                                "compression.gradient.stages=3",
                                "compression.gradient.ranks=[64,64]",
                                NULL};
    struct fr_job job;
    struct fr_outcome out;
    (void)state;
    fr_test_job("a100-hdr", "gpt-2.5b", sets, &job);
    fr_cost(&job, &job.plan, &out);
    assert_true(out.reasons & FR_BECAUSE(FR_REASON_STAGES));
    fr_job_free(&job);
}

static void made(const struct fr_job *job, const struct fr_plan *plan, struct fr_pipeline *p) {
    uint32_t extrapolated = 0;
    assert_int_equal(fr_pipeline_make(job, plan, p, &extrapolated, NULL), FR_OK);
}

/* Whatever the others do, a stage's own gradients cost what they cost where all stages have its rank. */
static void a_stage_pays_for_its_own_rank(void **state) {
    enum { DEPTH = 8, N_RANKS = 3, LISTS = 100 };
    static const char *const sets[] = {"tp=2", "pp=8", "dp=4", "global_batch=64", NULL};
    static const int64_t ranks[N_RANKS] = {0, 8, 64};
    struct fr_pipeline same[N_RANKS], mixed;
    struct fr_job job;
    uint64_t dice = 1442695040888963407u;
    (void)state;
    fr_test_job("a100-hdr", "gpt-2.5b", sets, &job);
    for (int r = 0; r < N_RANKS; r++) {
        struct fr_plan plan = job.plan;
        plan.compression.gradient_stages = ranks[r] ? DEPTH : 0;
        if (ranks[r]) plan.compression.gradient_rank = ranks[r];
        made(&job, &plan, &same[r]);
    }
    for (int n = 0; n < LISTS; n++) {
        struct fr_plan plan = job.plan;
        int64_t list[DEPTH];
        int which[DEPTH];
        for (int i = 0; i < DEPTH; i++)
            list[i] = ranks[which[i] = (int)fr_test_random(&dice, N_RANKS)];
        plan.compression.gradient_stages = plan.n_gradient_ranks = DEPTH;
        plan.gradient_ranks = list;
        made(&job, &plan, &mixed);
        for (int i = 0; i < DEPTH; i++) {
            const struct fr_stage *own = &mixed.stage[i], *alone = &same[which[i]].stage[i];
            FR_NEAR(own->gradient_s, alone->gradient_s, 1e-14);
            FR_NEAR(own->gradient_codec_s, alone->gradient_codec_s, 1e-14);
            FR_NEAR(own->coded_B, alone->coded_B, 1e-14);
        }
        fr_pipeline_free(&mixed);
    }
    for (int r = 0; r < N_RANKS; r++) fr_pipeline_free(&same[r]);
    fr_job_free(&job);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(brute_force_agrees),
                                       cmocka_unit_test(one_price),
                                       cmocka_unit_test(a_stage_pays_for_its_own_rank),
                                       cmocka_unit_test(lists_are_what_they_say),
                                       cmocka_unit_test(a_list_of_another_length_cannot_be)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
