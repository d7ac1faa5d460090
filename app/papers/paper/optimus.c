/* Song et al. 2023, Optimus-CC: volumes, the fused embedding, Table 2, Figures 10, 14 and 16.
 *
 * What the authors' public artifact does is simulated: fp32, sequence 1024, full recompute, 1F1B
 * without interleaving, blocking exchanges, one adapter a node of eight GPUs.  One number, the
 * adapter's rate, is fitted to the 8.3B baseline, and the 2.5B baseline predicted; the share of
 * the peak rate that large products reach is assumed, and what another share would give is shown.
 * Several of the paper's gains do not follow from volumes and schedules: such rows say
 * not_explained. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "app/papers/reproduce.h"
#include "base/alloc.h"
#include "calibrate/numbers/nlfit.h"
#include "models/work/transformer.h"
#include "sim/run.h"

/* 230K iterations in so many days (Table 2). */
static const double days_s = 86400.0 / 230000;

static const struct table2 {
    const char *model;
    double baseline_days, cb, cb_fe, cb_fe_sc; /* speed-ups over the baseline */
} table2[] = {{"gpt-8.3b", 37.27, 0.0701, 0.1349, 0.4491},
              {"gpt-2.5b", 14.72, 0.0800, 0.1509, 0.1729}};

enum step { BASELINE, CB, FE, SC };

struct setting {
    struct fr_job job;
    double preset_flop_per_s, preset_B_per_s; /* what the preset takes from here */
};

static fr_status load(const char *model, struct setting *s, struct fr_error *err) {
    static const char *const sets[] = {"tp=8",          "pp=4",           "dp=4",
                                       "micro_batch=8", "recompute=full", "p2p=duplex"};
    const struct fr_job_names names = {
        .cluster = "a100-hdr", .model = model, .sets = sets, .n_sets = 6};
    FR_TRY(fr_job_load(&names, &s->job, err));
    s->preset_flop_per_s = s->job.cluster.device.gemm[FR_FP32].peak_flop_per_s;
    s->preset_B_per_s = s->job.cluster.levels.level[1].rate_B_per_s;
    return FR_OK;
}

static struct fr_plan plan_of(const struct setting *s, enum step step,
                              int64_t compressed_stages) {
    struct fr_plan plan = s->job.plan;
    if (step >= CB) plan.compression.scope = FR_SCOPE_EPILOGUE;
    if (step >= FE) plan.compression.fused_embedding = true;
    if (step >= SC) plan.compression.gradient_stages = compressed_stages;
    return plan;
}

/* The outcome; and, where asked, the stage whose gradients end last. */
static struct fr_outcome outcome_of(const struct setting *s, enum step step,
                                    int64_t compressed_stages, int *last) {
    struct fr_plan plan = plan_of(s, step, compressed_stages);
    struct fr_simulation simulation;
    fr_status status = fr_simulate(&s->job, &plan, NULL, &simulation, NULL);
    struct fr_outcome out = simulation.outcome;
    if (status != FR_OK) out.time_s = NAN;
    if (last) *last = 0;
    for (int32_t i = 1; last && i < simulation.n_stages; i++)
        if (simulation.stages[i].stream_s > simulation.stages[*last].stream_s) *last = i;
    fr_simulation_free(&simulation);
    return out;
}

static double time_s(const struct setting *s, enum step step, int64_t compressed_stages) {
    return outcome_of(s, step, compressed_stages, NULL).time_s;
}

/* Shares of the data sheet's TF32 rate and of an HDR adapter's 200 Gb/s. */
static const double peak_flop_per_s = 156e12, adapter_B_per_s = 25e9;

static void apply(struct setting *s, double efficiency, double adapter) {
    s->job.cluster.device.gemm[FR_FP32].peak_flop_per_s = peak_flop_per_s * efficiency;
    /* Ranks are numbered tensor, data, pipeline there, so that a node's eight all are replicas of
     * one stage and send at once: each has an eighth of the adapter. */
    struct fr_level *system = &s->job.cluster.levels.level[1];
    system->rate_B_per_s = adapter_B_per_s * adapter / 8;
    system->shared_by = 1;
}

struct fitting {
    struct setting *larger;
    double efficiency;
};

static void residuals(void *context, const double *params, double *out) {
    struct fitting *f = context;
    apply(f->larger, f->efficiency, params[0]);
    out[0] = log(time_s(f->larger, BASELINE, 0) / (table2[0].baseline_days * days_s));
}

/* The adapter's rate from the larger model's baseline; applied to both. */
static fr_status fit(struct setting both[2], double efficiency, double *adapter,
                     struct fr_error *err) {
    struct fitting f = {&both[0], efficiency};
    double rms = 0;
    *adapter = 0.1;
    FR_TRY(fr_nlfit(residuals, &f, 1, 1, adapter, &rms, err));
    for (int k = 0; k < 2; k++) apply(&both[k], efficiency, *adapter);
    return FR_OK;
}

static void add_volumes(struct fr_reproduction *r, const struct setting *s,
                        const double want[5], const char *model) {
    struct fr_pipeline p;
    struct fr_stage_work first;
    uint32_t extrapolated = 0;
    struct fr_plan plan = s->job.plan;
    plan.compression.scope = FR_SCOPE_ALL;
    if (fr_pipeline_make(&s->job, &plan, &p, &extrapolated, NULL) == FR_OK) {
        fr_transformer_stage(&s->job.workload, &plan, 0, &first);
        fr_reproduce_add(r, FR_ROLE_IDENTITY, want[0], 8 * p.message_B / 1e6, "MB", 1e-3,
                         "through one adapter, a micro-batch", "volume/%s/p2p", model);
        fr_reproduce_add(r, FR_ROLE_IDENTITY, want[1], p.stage[1].gradient_B / 1e9, "GB", 2e-3,
                         "of one GPU", "volume/%s/gradient", model);
        fr_reproduce_add(r, FR_ROLE_IDENTITY, want[2], 8 * 1.5 * p.stage[1].gradient_B / 1e9,
                         "GB", 3e-3, "ring traffic of one adapter", "volume/%s/gradient_ring",
                         model);
        fr_reproduce_add(r, FR_ROLE_IDENTITY, want[3], 4 * first.embedding_rank / 1e6, "MB",
                         1e-3, "of one GPU", "volume/%s/embedding", model);
        fr_reproduce_add(r, FR_ROLE_IDENTITY, want[4], p.message_B / p.small_message_B, "1",
                         2e-3, "rank 16", "volume/%s/p2p_ratio", model);
    }
    fr_pipeline_free(&p);
}

static void add_equations(struct fr_reproduction *r) {
    double D = 4, separate = (3 * D - 2) / D, fused = (2 * D - 1) / D;
    fr_reproduce_add(r, FR_ROLE_IDENTITY, 0.429, separate / fused - 1, "1", 2e-3,
                     "Eqs. 15, 16 at D = 4: a speed-up of 3/7; the paper calls it a reduction",
                     "eq15_16/speedup");
    fr_reproduce_add(r, FR_ROLE_IDENTITY, 0.300, 1 - fused / separate, "1", 1e-9,
                     "the reduction is 30.0 %", "eq15_16/reduction");
}

/* The paper's ladder: each step over the one before, published and ours. */
static void add_ladder(struct fr_reproduction *r, const struct setting *s,
                       const struct table2 *t, double gains[3]) {
    double steps_s[4];
    for (int k = BASELINE; k <= SC; k++) steps_s[k] = time_s(s, (enum step)k, 3);
    const double published[] = {1 + t->cb, (1 + t->cb_fe) / (1 + t->cb),
                                (1 + t->cb_fe_sc) / (1 + t->cb_fe)};
    static const char *const names[] = {"cb", "fe", "sc_75"};
    for (int k = 0; k < 3; k++) {
        gains[k] = steps_s[k] / steps_s[k + 1] - 1;
        fr_reproduce_add(
            r, FR_ROLE_NOT_EXPLAINED, published[k] - 1, gains[k], "1", 0.05,
            "gain of this step over the one before; larger than volumes and schedule allow",
            "table2/%s/%s_gain", t->model, names[k]);
    }
}

static void add_orderings(struct fr_reproduction *r, const struct setting *both,
                          double gains[2][3]) {
    fr_reproduce_add_ordering(r, gains[1][0] > gains[0][0],
                              "compressed backpropagation gains more on 2.5B than on 8.3B",
                              "ordering/cb_larger_for_2.5b");
    fr_reproduce_add_ordering(r, gains[1][1] > gains[0][1], "so does the fused embedding",
                              "ordering/fe_larger_for_2.5b");
    struct setting slow = both[0];
    slow.job.cluster.levels.level[1].rate_B_per_s /= 4;
    fr_reproduce_add_ordering(r,
                              time_s(&slow, BASELINE, 0) / time_s(&slow, CB, 0) >
                                  time_s(&both[0], BASELINE, 0) / time_s(&both[0], CB, 0),
                              "and on a network four times slower",
                              "ordering/cb_larger_on_slow_network");
}

/* Of all stages compressed: more for the larger model.  As stages are compressed one by one from
 * the first, the next one is the last to end. */
static void add_stage_orderings(struct fr_reproduction *r, const struct setting *both) {
    double all[2];
    bool moves = true;
    for (int k = 0; k < 2; k++)
        all[k] = time_s(&both[k], FE, 0) / time_s(&both[k], SC, both[k].job.plan.pp);
    fr_reproduce_add_ordering(r, all[0] > all[1],
                              "compressing all gradients gains more on 8.3B than on 2.5B",
                              "ordering/sc_larger_for_8.3b");
    for (int stages = 0; stages < both[0].job.plan.pp; stages++) {
        int last = -1;
        outcome_of(&both[0], SC, stages, &last);
        moves = moves && last == stages;
    }
    fr_reproduce_add_ordering(r, moves,
                              "the stage that ends last moves 0, 1, ... to the last as stages "
                              "are compressed",
                              "ordering/last_stage_moves");
}

/* What backward messages are worth: the iteration without them, that is, with them compressed to
 * nothing by a codec that takes no time. */
static double without_backward_s(const struct setting *s, enum step step) {
    struct fr_plan plan = plan_of(s, step, 0);
    struct fr_pipeline p;
    struct fr_program program = {0};
    uint32_t extrapolated = 0;
    double end_s = NAN;
    plan.compression.scope = FR_SCOPE_ALL;
    fr_status status = fr_pipeline_make(&s->job, &plan, &p, &extrapolated, NULL);
    p.encode_s = p.decode_s = 0;
    for (int32_t i = 0; status == FR_OK && i < p.args.stages; i++)
        p.stage[i].small_message_s = 0;
    if (status == FR_OK) status = fr_program_make(&p, &program, NULL);
    double *class_s = fr_malloc((size_t)(program.n_classes + 1), sizeof *class_s);
    double *ends_s = fr_malloc((size_t)(program.n_tasks + 1), sizeof *ends_s);
    if (status == FR_OK && class_s && ends_s) {
        fr_price_classes(&p, &program, FR_WITH_ALL, class_s);
        end_s = fr_engine_run(&program, class_s, ends_s) + s->job.cluster.device.fixed_s;
    }
    free(class_s);
    free(ends_s);
    fr_program_free(&program);
    fr_pipeline_free(&p);
    return end_s;
}

/* The embedding's share of the data-parallel all-reduce and its own, or both in one. */
static double embedding_s(const struct setting *s, enum step step) {
    struct fr_plan plan = plan_of(s, step, 0);
    struct fr_pipeline p;
    struct fr_stage_work first;
    uint32_t extrapolated = 0;
    double time_s = NAN;
    if (fr_pipeline_make(&s->job, &plan, &p, &extrapolated, NULL) == FR_OK) {
        fr_transformer_stage(&s->job.workload, &plan, 0, &first);
        time_s = p.embedding_s;
        if (step < FE)
            time_s += p.stage[0].gradient_s * 4 * first.embedding_rank / p.stage[0].gradient_B;
    }
    fr_pipeline_free(&p);
    return time_s;
}

static double communicating_s(const struct fr_outcome *out) {
    return out->part_s[FR_PART_PP_COMM] + out->part_s[FR_PART_DP_COMM] +
           out->part_s[FR_PART_EMBEDDING_COMM] + out->part_s[FR_PART_COMPRESSION];
}

/* Figure 10: the iteration in parts, each step of the ladder.  The text gives three numbers; the
 * bars themselves carry none. */
static void add_figure10(struct fr_reproduction *r, const struct setting *s, const char *model,
                         bool published) {
    static const char *const steps[] = {"baseline", "cb", "cb_fe", "cb_fe_sc"};
    struct fr_outcome out[4];
    for (int k = BASELINE; k <= SC; k++) {
        out[k] = outcome_of(s, (enum step)k, 3, NULL);
        for (int part = 0; part < FR_PART_COUNT; part++) {
            if (out[k].part_s[part] <= 0) continue;
            fr_reproduce_add(r, FR_ROLE_NOT_EXPLAINED, NAN, out[k].part_s[part] / out[0].time_s,
                             "1", 0, "share of the baseline's iteration", "fig10/%s/%s/%s",
                             model, steps[k], fr_part_names[part]);
            r->rows[r->count - 1].detail = true;
        }
    }
    double whole_s = out[BASELINE].time_s - without_backward_s(s, BASELINE),
           left_s = out[CB].time_s - without_backward_s(s, CB);
    fr_reproduce_add(r, FR_ROLE_NOT_EXPLAINED, published ? 0.7857 : NAN, 1 - left_s / whole_s,
                     "1", 0.1, "of the exposed backward messages, by CB; its codec counts",
                     "fig10/%s/backward_reduction", model);
    fr_reproduce_add(r, FR_ROLE_NOT_EXPLAINED, published ? 0.40 : NAN,
                     1 - embedding_s(s, FE) / embedding_s(s, BASELINE), "1", 0.1,
                     "of the embedding's all-reduces, by FE; volumes give 30.0 % (Eqs. 15, 16)",
                     "fig10/%s/embedding_reduction", model);
    fr_reproduce_add(r, FR_ROLE_NOT_EXPLAINED, published ? 0.6329 : NAN,
                     1 - communicating_s(&out[SC]) / communicating_s(&out[BASELINE]), "1", 0.1,
                     "of all exposed communication, by CB+FE+SC; codecs count",
                     "fig10/%s/communication_reduction", model);
}

/* Figure 16: tp = 8, more GPUs for larger models; the bars carry no numbers.  The paper does not
 * say its stages: four to 16 here, so that a stage of 175B has as many layers as can be. */
static fr_status add_figure16(struct fr_reproduction *r, double efficiency, double adapter,
                              struct fr_error *err) {
    static const struct {
        const char *model;
        int64_t pp;
    } models[] = {{"gpt-2.5b", 4}, {"gpt-8.3b", 4}, {"gpt3-175b", 16}};
    double gain[3] = {NAN, NAN, NAN};
    for (int k = 0; k < 3; k++) {
        struct setting s = {0};
        fr_status status = load(models[k].model, &s, err);
        if (status == FR_OK) {
            apply(&s, efficiency, adapter);
            s.job.cluster.levels.level[1].ranks = 512; /* more nodes than the paper lists */
            s.job.plan.pp = models[k].pp;
            s.job.plan.global_batch = 512;
            s.job.workload.dtype = s.job.workload.gradient_dtype = FR_FP32;
            int64_t stages = models[k].pp * 3 / 4;
            gain[k] = time_s(&s, BASELINE, 0) / time_s(&s, SC, stages) - 1;
            fr_reproduce_add(r, FR_ROLE_NOT_EXPLAINED, NAN, gain[k], "1", 0,
                             "CB+FE+SC over the baseline, tp 8, dp 4", "fig16/%s/pp=%d/gain",
                             models[k].model, (int)models[k].pp);
        }
        fr_job_free(&s.job);
        FR_TRY(status);
    }
    fr_reproduce_add_ordering(r, gain[2] > gain[1] && gain[2] > 0,
                              "the gain does not shrink from 8.3B to 175B",
                              "ordering/gain_scales_with_model");
    return FR_OK;
}

/* Figure 14: 9.2B on tp x pp = 8 x 4, 4 x 8, 2 x 16 at dp = 4. */
static fr_status add_figure14(struct fr_reproduction *r, double efficiency, double adapter,
                              struct fr_error *err) {
    struct setting s = {0};
    double cb[3], sc[3];
    fr_status status = load("gpt-9.2b", &s, err);
    if (status != FR_OK) {
        fr_job_free(&s.job);
        return status;
    }
    apply(&s, efficiency, adapter);
    for (int k = 0; k < 3; k++) {
        s.job.plan.tp = 8 >> k;
        s.job.plan.pp = 4 << k;
        double base_s = time_s(&s, BASELINE, 0), cb_s = time_s(&s, CB, 0),
               fe_s = time_s(&s, FE, 0);
        double sc_s = time_s(&s, SC, s.job.plan.pp * 3 / 4);
        cb[k] = base_s / cb_s - 1;
        sc[k] = fe_s / time_s(&s, SC, s.job.plan.pp) - 1;
        fr_reproduce_add(r, FR_ROLE_NOT_EXPLAINED, 0.192, base_s / sc_s - 1, "1", 0.05,
                         "all steps together; the paper's least over all configurations",
                         "fig14/tp=%d/pp=%d/gain", (int)s.job.plan.tp, (int)s.job.plan.pp);
    }
    fr_reproduce_add_ordering(r, cb[0] < cb[1] && cb[1] < cb[2],
                              "compressed backpropagation gains more with depth",
                              "ordering/cb_grows_with_depth");
    fr_reproduce_add(r, FR_ROLE_NOT_EXPLAINED, NAN, sc[2] / sc[0], "1", 0,
                     "gain of compressing all gradients at 16 stages over that at 4; the paper "
                     "sees it shrink, "
                     "though tp x pp, and so the bytes of a GPU, stay the same",
                     "fig14/sc_depth_ratio");
    /* Where depth does reduce a GPU's parameters, at constant tp, it must. */
    s.job.cluster.levels.level[1].ranks = 512; /* more nodes than the paper had */
    for (int k = 0; k < 3; k++) {
        s.job.plan.tp = 8;
        s.job.plan.pp = 4 << k;
        sc[k] = time_s(&s, FE, 0) / time_s(&s, SC, s.job.plan.pp) - 1;
    }
    fr_reproduce_add_ordering(
        r, sc[0] > sc[1] && sc[1] > sc[2],
        "compressing all stages' gradients gains less with depth, at tp = 8, dp = 4",
        "ordering/sc_shrinks_with_depth");
    fr_job_free(&s.job);
    return FR_OK;
}

static fr_status reproduce(struct setting both[2], struct fr_reproduction *r,
                           struct fr_error *err) {
    static const double volumes[2][5] = {{100.7, 1.020, 12.23, 78.6, 48.0},
                                         {62.9, 0.288, 3.45, 49.2, 41.7}};
    static const double assumed = 0.7, others[] = {0.45, 0.9};
    double adapter = 0, gains[2][3];
    for (int k = 0; k < 2; k++) add_volumes(r, &both[k], volumes[k], table2[k].model);
    add_equations(r);
    for (int k = 0; k < 2; k++) {
        FR_TRY(fit(both, others[k], &adapter, err));
        fr_reproduce_add(r, FR_ROLE_PREDICTED, table2[1].baseline_days * days_s,
                         time_s(&both[1], BASELINE, 0), "s", 0.06,
                         "products at this share of the TF32 peak instead; tolerance 6 %",
                         "table2/gpt-2.5b/baseline/efficiency=%.2f", others[k]);
    }
    FR_TRY(fit(both, assumed, &adapter, err));
    fr_reproduce_add(
        r, FR_ROLE_FITTED, NAN, adapter * adapter_B_per_s / 1e9, "GB/s", 0,
        "of one adapter, 25 GB/s nominal; products at 0.7 of the TF32 peak assumed",
        "fit/adapter_rate");
    fr_reproduce_add(r, FR_ROLE_IDENTITY, adapter * adapter_B_per_s / 1e9,
                     both[0].preset_B_per_s / 1e9, "GB/s", 1e-3,
                     "what the preset a100-hdr says, against the fit", "preset/adapter_rate");
    fr_reproduce_add(r, FR_ROLE_IDENTITY, assumed * peak_flop_per_s / 1e12,
                     both[0].preset_flop_per_s / 1e12, "TFLOP/s", 1e-12,
                     "likewise, against the share assumed", "preset/peak");
    fr_reproduce_add(r, FR_ROLE_FITTED, table2[0].baseline_days * days_s,
                     time_s(&both[0], BASELINE, 0), "s", 1e-6, "the one number fitted to",
                     "table2/gpt-8.3b/baseline");
    fr_reproduce_add(r, FR_ROLE_PREDICTED, table2[1].baseline_days * days_s,
                     time_s(&both[1], BASELINE, 0), "s", 0.05, "tolerance 5 %",
                     "table2/gpt-2.5b/baseline");
    for (int k = 0; k < 2; k++) add_ladder(r, &both[k], &table2[k], gains[k]);
    add_orderings(r, both, gains);
    add_stage_orderings(r, both);
    for (int k = 0; k < 2; k++) add_figure10(r, &both[k], table2[k].model, k == 0);
    FR_TRY(add_figure14(r, assumed, adapter, err));
    return add_figure16(r, assumed, adapter, err);
}

static fr_status run(struct fr_reproduction *r, struct fr_error *err) {
    struct setting both[2] = {0};
    fr_status status = load(table2[0].model, &both[0], err);
    if (status == FR_OK) status = load(table2[1].model, &both[1], err);
    if (status == FR_OK) status = reproduce(both, r, err);
    for (int k = 0; k < 2; k++) fr_job_free(&both[k].job);
    return status;
}

const struct fr_paper fr_paper_optimus = {
    .name = "optimus",
    .title = "Song et al., Optimus-CC: Efficient Large NLP Model Training with 3D Parallelism "
             "Aware Communication Compression, 2023: volumes, Eqs. 15 and 16, Table 2, "
             "Figures 10, 14, 16; pipelines by the event engine",
    .run = run,
};
