/* Laws of recomputation, over every word and all sets of modules, on models that have them: what is made again takes
 * time, flop and energy, and spares memory; modules add up; a block of n layers lies on the line between none and all. */
#include <math.h>

#include "models/outcome/cost.h"
#include "models/outcome/rates.h"
#include "models/price/pipeline.h"
#include "models/work/recompute.h"
#include "models/work/transformer.h"
#include "sim/run.h"
#include "tests/job.h"
#include "tests/laws/law.h"
#include "tests/plan_values.h"
#include "tests/work.h"

static const struct setting {
    const char *model, *sets[14];
    int lacks; /* modules that it refuses */
} settings[] = {{"llama-3-8b",
                 {"tp=2", "dp=2", "sequence_parallel=true", "zero=1", "global_batch=8"},
                 FR_RECOMPUTE_MOE_ACT | FR_RECOMPUTE_MLA_UP_PROJ},
                {"gpt-2",
                 {"pp=2", "dp=2", "attention=plain", "global_batch=16", "model.dtype=bf16"},
                 FR_RECOMPUTE_MOE_ACT | FR_RECOMPUTE_MLA_UP_PROJ},
                {"mixtral-8x7b",
                 {"model.layers=4", "tp=2", "ep=4", "dp=4", "etp=1", "sequence_parallel=true",
                  "zero=1", "global_batch=16"},
                 FR_RECOMPUTE_MLA_UP_PROJ},
                {"deepseek-v3",
                 {"model.layers=6", "pp=2", "dp=8", "ep=8", "etp=1", "zero=1",
                  "global_batch=32", "graphs=none"},
                 0}};
enum { SETTINGS = sizeof settings / sizeof *settings, SETS = 1 << 7 };

static void load(int k, struct fr_job *job) {
    const char *sets[16] = {"cluster.device.memory=100 TB", "attention=flash"};
    int n = 2;
    for (int i = 0; settings[k].sets[i]; i++) sets[n++] = settings[k].sets[i];
    fr_test_job("dgx-h100", settings[k].model, sets, job);
}

struct priced {
    struct fr_outcome out;
    double flop, stored_B, held_B,
        backward_s; /* held_B: with what a pass makes again; of all stages */
};

static struct priced price(struct fr_job *job, fr_recompute recompute, int64_t layers) {
    struct priced p = {.flop = 0};
    uint32_t extrapolated = 0;
    struct fr_pipeline pipeline;
    job->plan.recompute = recompute;
    job->plan.recompute_layers = layers;
    fr_cost(job, &job->plan, &p.out);
    p.flop = fr_rates_of(job, &p.out).hardware_flop_per_s_per_device * p.out.time_s;
    if (p.out.reasons) return p;
    assert_int_equal(fr_pipeline_make(job, &job->plan, &pipeline, &extrapolated, NULL), FR_OK);
    for (int32_t i = 0; i < pipeline.args.stages; i++) {
        p.stored_B += pipeline.stage[i].activation_B;
        p.held_B += pipeline.stage[i].activation_B + pipeline.stage[i].working_B;
        p.backward_s += fr_pass_s(&pipeline.stage[i].backward, FR_WITH_ALL);
    }
    fr_pipeline_free(&pipeline);
    return p;
}

/* One module more is no faster, and keeps no more; what refuses does so with a sentence. */
static void each_module(void **state) {
    (void)state;
    for (int k = 0; k < SETTINGS; k++) {
        struct fr_job job;
        uint64_t dice = 7;
        load(k, &job);
        for (int t = 0; t < 24; t++) {
            int set = (int)fr_test_random(&dice, SETS) & ~settings[k].lacks;
            struct priced before = price(&job, (fr_recompute)set, 0);
            for (int bit = 1; bit < SETS; bit <<= 1) {
                if (set & bit) continue;
                struct priced after = price(&job, (fr_recompute)(set | bit), 0);
                if (bit & settings[k].lacks) {
                    FR_TRUE(after.out.reasons == FR_BECAUSE(FR_REASON_RECOMPUTE) &&
                                fr_recompute_refused(&job.workload, &job.plan),
                            "%s, %d and %d", settings[k].model, set, bit);
                    continue;
                }
                FR_TRUE(after.out.reasons == 0 && before.out.reasons == 0, "%s, %d and %d",
                        settings[k].model, set, bit);
                FR_TRUE(after.backward_s >= before.backward_s * (1 - 1e-12) &&
                            after.out.time_s >= before.out.time_s * (1 - 1e-12) &&
                            after.out.energy_J >= before.out.energy_J * (1 - 1e-12) &&
                            after.flop >= before.flop * (1 - 1e-12),
                        "%s, %d and %d: %g s after %g", settings[k].model, set, bit,
                        after.backward_s, before.backward_s);
                FR_TRUE(after.stored_B <= before.stored_B * (1 + 1e-12) &&
                            after.held_B <= before.held_B * (1 + 1e-12) &&
                            after.out.memory_peak_B <= before.out.memory_peak_B * (1 + 1e-12),
                        "%s, %d and %d: %g B held after %g", settings[k].model, set, bit,
                        after.held_B, before.held_B);
            }
        }
        fr_job_free(&job);
    }
}

/* A module spares and recomputes its tensors beside any other outside it. */
static void modules_add_up(void **state) {
    (void)state;
    for (int k = 0; k < SETTINGS; k++) {
        struct fr_job job;
        load(k, &job);
        double none_B = price(&job, FR_RECOMPUTE_NONE, 0).stored_B,
               none = price(&job, FR_RECOMPUTE_NONE, 0).flop;
        for (int set = 0; set < SETS; set++) {
            double spared_B = 0, flop = 0;
            if (set & settings[k].lacks) continue;
            int apart = set & FR_RECOMPUTE_MOE
                            ? set & ~(FR_RECOMPUTE_MOE_ACT | FR_RECOMPUTE_SHARED_EXPERTS)
                            : set;
            for (int bit = 1; bit < SETS; bit <<= 1) {
                if (!(apart & bit)) continue;
                struct priced one = price(&job, (fr_recompute)bit, 0);
                spared_B += none_B - one.stored_B;
                flop += one.flop - none;
            }
            struct priced all = price(&job, (fr_recompute)set, 0);
            FR_NEAR(none_B - spared_B, all.stored_B, 1e-9);
            FR_NEAR(none + flop, all.flop, 1e-9);
        }
        fr_job_free(&job);
    }
}

/* All modules leave a layer's input, queries, keys and values that no latents spare, and what the heads made; full
 * leaves the input alone, and makes the rest of the products, too. */
static void all_and_full(void **state) {
    (void)state;
    for (int k = 0; k < SETTINGS; k++) {
        struct fr_job job;
        load(k, &job);
        struct priced none = price(&job, FR_RECOMPUTE_NONE, 0),
                      all = price(&job, (fr_recompute)((SETS - 1) & ~settings[k].lacks), 0),
                      full = price(&job, FR_RECOMPUTE_FULL, 0);
        FR_TRUE(full.stored_B < all.stored_B && all.stored_B < 0.6 * none.stored_B,
                "%s: %g, %g, %g B", settings[k].model, none.stored_B, all.stored_B,
                full.stored_B);
        FR_TRUE(full.flop > all.flop && all.flop > none.flop &&
                    full.out.time_s > none.out.time_s,
                "%s: %g, %g, %g flop", settings[k].model, none.flop, all.flop, full.flop);
        fr_job_free(&job);
    }
}

/* n of L layers: on the line from none to all, in memory, time of passes and flop; from L on all. */
static void blocks(void **state) {
    static const fr_recompute words[] = {
        FR_RECOMPUTE_FULL,
        FR_RECOMPUTE_SELECTIVE,
        FR_RECOMPUTE_MLP,
        FR_RECOMPUTE_SAVE_QKV,
        FR_RECOMPUTE_SELECTIVE_OP,
        (fr_recompute)(FR_RECOMPUTE_MOE_ACT | FR_RECOMPUTE_LAYERNORM)};
    (void)state;
    for (int k = 0; k < SETTINGS; k++) {
        struct fr_job job;
        load(k, &job);
        int64_t stage = job.workload.transformer.layers / job.plan.pp;
        double none_s = price(&job, FR_RECOMPUTE_NONE, 0).backward_s;
        for (size_t w = 0; w < sizeof words / sizeof *words; w++) {
            struct priced none = price(&job, FR_RECOMPUTE_NONE, 0),
                          all = price(&job, words[w], 0);
            if (all.out.reasons) continue;
            for (int64_t n = 1; n <= stage + 2; n++) {
                struct priced part = price(&job, words[w], n);
                double share = fmin(1, (double)n / (double)stage);
                FR_TRUE(part.out.reasons == 0, "%s, %d layers", settings[k].model, (int)n);
                FR_NEAR(part.stored_B, none.stored_B + share * (all.stored_B - none.stored_B),
                        1e-9);
                FR_NEAR(part.held_B, none.held_B + share * (all.held_B - none.held_B), 1e-9);
                FR_NEAR(part.backward_s, none_s + share * (all.backward_s - none_s), 1e-9);
                FR_NEAR(part.flop, none.flop + share * (all.flop - none.flop), 1e-9);
            }
        }
        fr_job_free(&job);
    }
}

/* The event engine runs the same. */
static void engines_agree(void **state) {
    (void)state;
    for (int k = 0; k < SETTINGS; k++) {
        struct fr_job job;
        uint64_t dice = 3;
        load(k, &job);
        for (int t = 0; t < 6; t++) {
            struct fr_simulate_options options = {.network = NULL};
            struct fr_simulation s;
            int set = (int)fr_test_random(&dice, SETS) & ~settings[k].lacks;
            for (int i = 0; fr_networks[i]; i++)
                if (strcmp(fr_networks[i]->name, "isolated") == 0)
                    options.network = fr_networks[i];
            double closed_s = price(&job, (fr_recompute)set, set ? t % 3 : 0).out.time_s;
            assert_int_equal(fr_simulate(&job, &job.plan, &options, &s, NULL), FR_OK);
            FR_NEAR(s.outcome.time_s, closed_s, 1e-9);
            fr_simulation_free(&s);
        }
        fr_job_free(&job);
    }
}

/* By hand, of Llama 3 8B, two ranks with sequence parallel, T tokens of one sample: what each word keeps of a layer. */
static void by_hand(void **state) {
    double T = 8192, h = 4096, f = 14336, q = 4096, kv = 1024, p = 2;
    const struct {
        fr_recompute recompute;
        double layer;
    } rows[] = {{FR_RECOMPUTE_NONE, 4 * h / p + (q + 2 * kv) / p + q / p + 3 * f / p},
                {FR_RECOMPUTE_MLP, 3 * h / p + (q + 2 * kv) / p + q / p},
                {FR_RECOMPUTE_SELECTIVE_OP, h / p + (q + kv + q) / p + f / p + h + 2 * h / p},
                {FR_RECOMPUTE_FULL, h / p}};
    struct fr_job job;
    (void)state;
    load(0, &job);
    job.plan.pp = 4; /* the second stage has layers alone */
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct fr_rank_work work;
        job.plan.recompute = rows[i].recompute;
        fr_transformer_stage(&job.workload, &job.plan, 1, &work);
        FR_NEAR(work.activation_B, 8 * 2 * T * rows[i].layer, 1e-12);
    }
    fr_job_free(&job);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_module),   cmocka_unit_test(modules_add_up),
        cmocka_unit_test(all_and_full),  cmocka_unit_test(blocks),
        cmocka_unit_test(engines_agree), cmocka_unit_test(by_hand)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
