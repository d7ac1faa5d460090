/* Song et al. 2023, Optimus-CC, on preset a100-hdr: what optimus.study computes with. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "models/outcome/cost.h"
#include "models/work/transformer.h"
#include "sim/run.h"
#include "studies/engine/study.h"
#include "studies/optimus/turned_off.h"
#include "trust/numbers/nlfit.h"

/* A step compresses these.  The paper's ladder comes first, each step with those before it; then the last step without
 * one of them, and what Figure 3 calls naive. */
struct step {
    const char *name;
    fr_scope scope; /* of backward messages */
    bool fused;     /* embedding */
    bool stages;    /* gradients of as many stages as are asked for */
};
static const struct step steps[] = {
    {"baseline", FR_SCOPE_NONE, false, false}, {"cb", FR_SCOPE_EPILOGUE, false, false},
    {"fe", FR_SCOPE_EPILOGUE, true, false},    {"sc", FR_SCOPE_EPILOGUE, true, true},
    {"without_cb", FR_SCOPE_NONE, true, true}, {"without_fe", FR_SCOPE_EPILOGUE, false, true},
    {"naive_dp", FR_SCOPE_NONE, false, true},  {"naive_cb", FR_SCOPE_ALL, false, false},
    {"naive_both", FR_SCOPE_ALL, false, true}};
enum { STEPS = sizeof steps / sizeof *steps };
static const struct step *const baseline = &steps[0], *const cb = &steps[1],
                                *const fe = &steps[2], *const sc = &steps[3];

/* A model with its plan on the cluster, and what the preset takes from here. */
struct setting {
    struct fr_job job;
    double preset_flop_per_s, preset_B_per_s;
    bool copied; /* what it points to is another's */
};

enum { SETTINGS_MAX = 16 };

struct all {
    struct setting of[SETTINGS_MAX];
    int n;
};

/* The data sheet's TF32 rate, and an HDR adapter's 200 Gb/s. */
static const double peak_flop_per_s = 156e12, adapter_B_per_s = 25e9;

static struct setting *setting_of(const struct fr_study_call *c) {
    struct all *all = c->context;
    double which = fr_call_number(c, "of", 0, 0);
    return &all->of[which >= 0 && which < all->n ? (int)which : 0];
}

static const struct step *step_of(const struct fr_study_call *c) {
    const char *name = fr_call_word(c, "step", 1);
    int step = 0;
    while (step < STEPS - 1 && strcmp(steps[step].name, name) != 0) step++;
    return &steps[step];
}

static int64_t stages_of(const struct fr_study_call *c, int place) {
    return (int64_t)fr_call_number(c, "stages", place, 0);
}

/* ---- settings ------------------------------------------------------------------------------- */

static fr_status no_capacity(const struct fr_study_call *c) {
    return fr_fail(c->err, FR_ERR_INPUT, NULL, "more than %d settings", SETTINGS_MAX);
}

static fr_status load(struct fr_study_call *c) {
    static const char *const sets[] = {"tp=8",          "pp=4",           "dp=4",
                                       "micro_batch=8", "recompute=full", "p2p=duplex"};
    struct all *all = c->context;
    const struct fr_job_names names = {
        .cluster = "a100-hdr", .model = fr_call_word(c, "model", 0), .sets = sets, .n_sets = 6};
    if (all->n == SETTINGS_MAX) return no_capacity(c);
    struct setting *s = &all->of[all->n];
    all->n++;
    FR_TRY(fr_job_load(&names, &s->job, c->err));
    s->preset_flop_per_s = s->job.cluster.device.gemm[FR_FP32].peak_flop_per_s;
    s->preset_B_per_s = s->job.cluster.levels.level[1].rate_B_per_s;
    return fr_say(c, all->n - 1);
}

static fr_status copy(struct fr_study_call *c) {
    struct all *all = c->context;
    if (all->n == SETTINGS_MAX) return no_capacity(c);
    all->of[all->n] = *setting_of(c);
    all->of[all->n].copied = true;
    return fr_say(c, all->n++);
}

static fr_status change(struct fr_study_call *c) {
    struct fr_job *job = &setting_of(c)->job;
    const char *what = fr_call_word(c, "what", 1);
    double value = fr_call_number(c, "value", 2, 1);
    if (strcmp(what, "tp") == 0)
        job->plan.tp = (int64_t)value;
    else if (strcmp(what, "pp") == 0)
        job->plan.pp = (int64_t)value;
    else if (strcmp(what, "global_batch") == 0)
        job->plan.global_batch = (int64_t)value;
    else if (strcmp(what, "nodes") == 0)
        job->cluster.levels.level[1].ranks = (int64_t)value;
    else if (strcmp(what, "slower") == 0)
        job->cluster.levels.level[1].rate_B_per_s /= value;
    else if (strcmp(what, "fp32") == 0)
        job->workload.dtype = job->workload.gradient_dtype = FR_FP32;
    else if (strcmp(what, "all_fp32") == 0)
        job->workload.dtype = job->workload.gradient_dtype = job->workload.weight_dtype =
            FR_FP32;
    else
        return fr_fail(c->err, FR_ERR_INPUT, NULL, "nothing called \"%.40s\" to change", what);
    return FR_OK;
}

static fr_status preset(struct fr_study_call *c) {
    const struct setting *s = setting_of(c);
    bool peak = strcmp(fr_call_word(c, "what", 1), "peak") == 0;
    return fr_say(c, peak ? s->preset_flop_per_s : s->preset_B_per_s);
}

/* Products and the adapter at these shares of their nominal rates. */
static void apply(struct setting *s, double efficiency, double adapter) {
    s->job.cluster.device.gemm[FR_FP32].peak_flop_per_s = peak_flop_per_s * efficiency;
    /* Ranks are numbered tensor, data, pipeline there, so that a node's eight all are replicas of
     * one stage and send at once: each has an eighth of the adapter. */
    struct fr_level *system = &s->job.cluster.levels.level[1];
    system->rate_B_per_s = adapter_B_per_s * adapter / 8;
    system->shared_by = 1;
}

static fr_status apply_to(struct fr_study_call *c) {
    apply(setting_of(c), fr_call_number(c, "efficiency", 1, 1),
          fr_call_number(c, "adapter", 2, 1));
    return FR_OK;
}

/* ---- iterations ----------------------------------------------------------------------------- */

static struct fr_plan plan_of(const struct setting *s, const struct step *step,
                              int64_t stages) {
    struct fr_plan plan = s->job.plan;
    plan.compression.scope = step->scope;
    plan.compression.fused_embedding = step->fused;
    if (step->stages) plan.compression.gradient_stages = stages;
    return plan;
}

/* The outcome; and, where asked, the stage whose gradients end last. */
static struct fr_outcome outcome_of(const struct setting *s, const struct step *step,
                                    int64_t stages, int *last) {
    struct fr_plan plan = plan_of(s, step, stages);
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

static fr_status simulate(struct fr_study_call *c) {
    struct fr_outcome outcome = outcome_of(setting_of(c), step_of(c), stages_of(c, 2), NULL);
    return fr_say_outcome(c, &outcome, NULL);
}

static fr_status time_s(struct fr_study_call *c) {
    return fr_say(c, outcome_of(setting_of(c), step_of(c), stages_of(c, 2), NULL).time_s);
}

static fr_status last_stage(struct fr_study_call *c) {
    int last = -1;
    outcome_of(setting_of(c), sc, stages_of(c, 1), &last);
    return fr_say(c, last);
}

struct fitting {
    struct setting *larger;
    double efficiency, time_s;
};

static void residuals(void *context, const double *params, double *out) {
    const struct fitting *f = context;
    apply(f->larger, f->efficiency, params[0]);
    out[0] = log(outcome_of(f->larger, baseline, 0, NULL).time_s / f->time_s);
}

/* fit(efficiency, time): the adapter's rate from the baseline of the first setting; applied to the first two. */
static fr_status fit(struct fr_study_call *c) {
    struct all *all = c->context;
    struct fitting f = {&all->of[0], fr_call_number(c, "efficiency", 0, 1),
                        fr_call_number(c, "time_s", 1, 1)};
    double rms = 0, adapter = 0.1;
    FR_TRY(fr_nlfit(residuals, &f, 1, 1, &adapter, &rms, c->err));
    for (int k = 0; k < 2; k++) apply(&all->of[k], f.efficiency, adapter);
    return fr_say(c, adapter);
}

/* ---- pipelines ------------------------------------------------------------------------------ */

/* A value of the pipeline of a plan; NaN where it has none. */
static double of_pipeline(const struct setting *s, const struct fr_plan *plan,
                          double (*ask)(const struct setting *, const struct fr_plan *,
                                        struct fr_pipeline *)) {
    struct fr_pipeline p;
    uint32_t extrapolated = 0;
    double value = NAN;
    if (fr_pipeline_make(&s->job, plan, &p, &extrapolated, NULL) == FR_OK)
        value = ask(s, plan, &p);
    fr_pipeline_free(&p);
    return value;
}

#define ASK(name, value)                                                                       \
    static double name(const struct setting *s, const struct fr_plan *plan,                    \
                       struct fr_pipeline *p) {                                                \
        (void)s, (void)plan;                                                                   \
        return value;                                                                          \
    }
ASK(message_B, p->message_B)
ASK(small_B, p->stage[0].small_message_B)
ASK(gradient_B, p->stage[1].gradient_B) /* of a stage between the ends: no embedding */
ASK(sent_B, p->stage[1].gradient_B + p->stage[1].coded_B)
ASK(message_codec_B, p->stage[0].message_codec_B)
ASK(encode, p->stage[0].sends_whole ? NAN : p->stage[0].message_B / p->stage[0].encode_s / 1e9)
ASK(decode, p->stage[0].sends_whole ? NAN : p->stage[0].message_B / p->stage[0].decode_s / 1e9)

static double embedding(const struct setting *s, const struct fr_plan *plan,
                        struct fr_pipeline *p) {
    struct fr_rank_work first;
    (void)p;
    fr_transformer_stage(&s->job.workload, plan, 0, &first);
    return first.embedding_rank;
}

/* The embedding's share of the data-parallel all-reduce and its own, or both in one. */
static double embedding_time_s(const struct setting *s, const struct fr_plan *plan,
                               struct fr_pipeline *p) {
    double own_s = p->embedding_s;
    if (plan->compression.fused_embedding) return own_s;
    return own_s + p->stage[0].gradient_s * 4 * embedding(s, plan, p) / p->stage[0].gradient_B;
}

static fr_status volume(struct fr_study_call *c) {
    const struct setting *s = setting_of(c);
    const char *what = fr_call_word(c, "what", 1);
    struct fr_plan plan = s->job.plan;
    plan.compression.scope = FR_SCOPE_ALL;
    return fr_say(c, of_pipeline(s, &plan,
                                 strcmp(what, "message") == 0    ? message_B
                                 : strcmp(what, "gradient") == 0 ? gradient_B
                                 : strcmp(what, "small") == 0    ? small_B
                                                                 : embedding));
}

/* without(setting, step, stages, what): an iteration with that turned off. */
static fr_status without_s(struct fr_study_call *c) {
    const struct setting *s = setting_of(c);
    struct fr_plan plan = plan_of(s, step_of(c), stages_of(c, 2));
    return fr_say(
        c, fr_optimus_without_s(&s->job, &plan, fr_optimus_off(fr_call_word(c, "what", 3))));
}

static fr_status embedding_s(struct fr_study_call *c) {
    const struct setting *s = setting_of(c);
    struct fr_plan plan = plan_of(s, step_of(c), 0);
    return fr_say(c, of_pipeline(s, &plan, embedding_time_s));
}

/* Memory hangs on what is held, not on how messages wait. */
static struct fr_plan lazy_plan(const struct fr_study_call *c) {
    struct fr_plan plan = plan_of(setting_of(c), cb, 0);
    plan.duplex = false;
    plan.compression.lazy_error = fr_call_number(c, "lazy", 1, 0) != 0;
    return plan;
}

static fr_status codec_B(struct fr_study_call *c) {
    const struct setting *s = setting_of(c);
    struct fr_plan plan = lazy_plan(c);
    return fr_say(c, of_pipeline(s, &plan, message_codec_B));
}

static fr_status peak_B(struct fr_study_call *c) {
    const struct setting *s = setting_of(c);
    struct fr_plan plan = lazy_plan(c);
    struct fr_outcome outcome;
    fr_cost(&s->job, &plan, &outcome);
    return fr_say(c, outcome.memory_peak_B);
}

/* At the gradient rank asked for. */
static struct setting at_rank(const struct fr_study_call *c) {
    struct setting at = *setting_of(c);
    at.job.plan.compression.gradient_rank = (int64_t)fr_call_number(c, "rank", 2, 128);
    return at;
}

static fr_status gain(struct fr_study_call *c) {
    struct setting at = at_rank(c);
    double before_s = outcome_of(setting_of(c), fe, 0, NULL).time_s;
    return fr_say(c, before_s / outcome_of(&at, sc, stages_of(c, 1), NULL).time_s - 1);
}

/* Bytes of a stage's gradients over what is sent. */
static fr_status gradient_ratio(struct fr_study_call *c) {
    struct setting at = at_rank(c);
    const struct setting *s = setting_of(c);
    struct fr_plan coded = plan_of(&at, sc, stages_of(c, 1)), whole = plan_of(s, fe, 0);
    return fr_say(c, of_pipeline(s, &whole, gradient_B) / of_pipeline(&at, &coded, sent_B));
}

/* GB/s of a message at a rank; NaN where it goes whole. */
static fr_status codec_rate(struct fr_study_call *c) {
    const struct setting *s = setting_of(c);
    struct fr_plan plan = plan_of(s, cb, 0);
    plan.compression.backward_rank = (int64_t)fr_call_number(c, "rank", 1, 16);
    return fr_say(
        c, of_pipeline(s, &plan,
                       strcmp(fr_call_word(c, "which", 2), "encode") == 0 ? encode : decode));
}

static fr_status run(struct fr_reproduction *r, struct fr_error *err) {
    static const struct fr_study_function functions[] = {{"load", load},
                                                         {"copy", copy},
                                                         {"change", change},
                                                         {"preset", preset},
                                                         {"apply", apply_to},
                                                         {"fit", fit},
                                                         {"simulate", simulate},
                                                         {"time", time_s},
                                                         {"last_stage", last_stage},
                                                         {"volume", volume},
                                                         {"without", without_s},
                                                         {"embedding_s", embedding_s},
                                                         {"codec_B", codec_B},
                                                         {"peak_B", peak_B},
                                                         {"gain", gain},
                                                         {"gradient_ratio", gradient_ratio},
                                                         {"codec_rate", codec_rate},
                                                         {NULL, NULL}};
    extern const char fr_study_optimus[];
    const struct fr_study_text study = {"optimus", fr_study_optimus, functions};
    struct all *all = fr_calloc(1, sizeof *all);
    if (!all) return fr_fail(err, FR_ERR_NOMEM, NULL, "out of memory");
    fr_status status = fr_study_run(&study, all, r, err);
    for (int k = 0; k < all->n; k++)
        if (!all->of[k].copied) fr_job_free(&all->of[k].job);
    free(all);
    return status;
}

const struct fr_paper fr_paper_optimus = {
    .name = "optimus",
    .title = "Song et al., Optimus-CC: Efficient Large NLP Model Training with 3D Parallelism "
             "Aware Communication Compression, 2023: volumes, Eqs. 15 and 16, Table 2, "
             "Figures 3, 10 and 12 to 16; pipelines by the event engine",
    .run = run,
    .more =
        "Trainings on this machine, in the small, add Figures 9 and 11 and perplexities. First "
        "run forerun quality --vary compression.backward.scope=none,epilogue,all --vary "
        "compression.gradient.stages=0,1 --set pp=2 --set dp=2 --ranks 4 --cluster a100-hdr "
        "--json > quality.json. Then run forerun reproduce optimus --quality quality.json. "
        "Tables 3 and 4 need the paper's trained models.",
};
