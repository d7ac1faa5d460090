/* How large is the model error of models, plans and plans of models under presets as they are?  Compare the values
 * that intervals assume (trust/effects/groups.h, trust/numbers/components.h) with those from sources of measured
 * runs.
 *
 * A source is the measurements of one team on one kind of device that a preset describes.  (No preset describes
 * TorchTitan's H100 of 500 W, nor the V100 of BLOOM's logs, on another network.) A source counts as one plan of a
 * model, however many it has, since the user is another team.  The likeliest value along each axis, all else as
 * assumed (trust/effects/evidence.h):
 *
 *      missed  the root mean square of what is missed of a plan of a model, over what is stated
 *      common  how far that is from source to source: the deviation of its factor's logarithm
 *      apart   the same of models, plans and plans of models within one
 *      run     how far apart runs of one plan of a model under one release are, over what is stated
 *      widths  root mean square of the factor by which coefficients lie further from presets than stated
 *
 * and again with each source left out.  Then the errors of plans of models, in stated standard deviations: nine
 * tenths of them lie within `stretch`, with equal weight for each source.  Nothing is fitted to a run.  But presets
 * were set with some of the runs in view (docs/explanation/accuracy.md), and the assumed values with all of them, so
 * intervals of their tables are calibrated. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/parallel.h"
#include "base/sort.h"
#include "studies/training/mlperf.h"
#include "studies/training/table.h"
#include "trust/effects/evidence.h"
#include "trust/effects/groups.h"

#define DGXC "training/dgxc_benchmarking.csv"
#define BRIDGE "training/megatron_bridge.csv"
#define MPT "training/llmfoundry_mpt_fsdp.csv"
#define PRETRAINING "mlperf/time_pretraining.csv"
#define ADAPTERS "mlperf/time_lora.csv"

static const struct source {
    const char *name, *file, *preset;
    struct fr_table_selection take;
} sources[] = {
    {"vtrain_single", "training/vtrain_single_node.csv", "dgx-a100", {0}},
    {"vtrain_multi", "training/vtrain_multi_node.csv", "dgx-a100", {0}},
    {"sc21", "training/megatron_sc21_table1.csv", "dgx-a100", {0}},
    {"seqsel", "training/megatron_seqsel_table5.csv", "dgx-a100", {0}},
    {"bloom", "training/bigscience_bloom_a100.csv", "a100-opa", {.from_date = "02-25"}},
    {"bloom_logs", "training/bloom_production_logs.csv", "a100-opa", {.device = "A100"}},
    {"bigscience_v100", "training/bigscience_1b3_v100.csv", "dgx-v100", {0}},
    {"dgxc", DGXC, "dgx-h100", {.dtype = "bf16", .device = "H100"}},
    {"dgxc_fp8", DGXC, "dgx-h100", {.dtype = "fp8", .device = "H100"}},
    {"bridge_h100", BRIDGE, "dgx-h100", {.dtype = "fp8", .device = "H100"}},
    {"bridge_b200", BRIDGE, "dgx-b200", {.dtype = "fp8", .device = "DGX-B200"}},
    {"bridge_b300", BRIDGE, "dgx-b300", {.dtype = "fp8", .device = "DGX-B300"}},
    {"bridge_gb200", BRIDGE, "gb200-nvl72", {.dtype = "fp8", .device = "GB200"}},
    {"bridge_gb300", BRIDGE, "gb300-nvl72", {.dtype = "fp8", .device = "GB300"}},
    {"mpt_a100_40gb", MPT, "dgx-a100", {.dtype = "bf16", .device = "a100_40gb"}},
    {"mpt_a100_80gb", MPT, "dgx-a100", {.dtype = "bf16", .device = "a100_80gb"}},
    {"mpt_h100", MPT, "dgx-h100", {.dtype = "bf16", .device = "h100"}},
    {"simumax_b200", "training/simumax_b200.csv", "dgx-b200", {0}},
    {"mi325x", "training/mi325x_megatron_logs.csv", "mi325x", {0}},
    {"mlperf_h100", PRETRAINING, "dgx-h100", {0}},
    {"mlperf_b200", PRETRAINING, "dgx-b200", {0}},
    {"mlperf_gb200", PRETRAINING, "gb200-nvl72", {0}},
    {"lora_h100", ADAPTERS, "dgx-h100", {0}},
    {"lora_b200", ADAPTERS, "dgx-b200", {0}},
    {"lora_gb200", ADAPTERS, "gb200-nvl72", {0}},
    {"lora_mi325x", ADAPTERS, "mi325x", {0}},
    {"lora_mi300x", ADAPTERS, "mi300x", {0}},
};

enum { SOURCES = sizeof sources / sizeof *sources };

static const double model_error[] = {0.5, 0.6, 0.7, 0.8, 0.9, 1, 1.1, 1.25, 1.5},
                    common[] = {0.1, 0.2, 0.3, 0.4, 0.55, 0.75},
                    apart[] = {0.2, 0.3, 0.5, 0.7, 1, 1.4},
                    run_of[] = {0.35, 0.5, 0.7, 1, 1.4, 2},
                    widths[] = {0.35, 0.5, 0.7, 1, 1.4, 2};

enum { MODEL_ERROR, COMMON, APART, RUN, WIDTHS, AXES, VALUES = 9 };

static const struct axis {
    const char *what;
    const double *value;
    int n;
} axes[AXES] = {{"missed", model_error, sizeof model_error / sizeof *model_error},
                {"common", common, sizeof common / sizeof *common},
                {"apart", apart, sizeof apart / sizeof *apart},
                {"run", run_of, sizeof run_of / sizeof *run_of},
                {"widths", widths, sizeof widths / sizeof *widths}};

static const double coverage = 0.9;

/* A plan of a model: how far off, in standard deviations, and how much it counts. */
struct off {
    double away, weight;
    int source;
};

struct likelihood {
    struct fr_evidence *evidence; /* NULL: no runs */
    double at[AXES][VALUES];
    fr_status status;
    struct fr_error err;
};

struct study {
    struct likelihood of[SOURCES];
    struct off *offs; /* by distance */
    int n_offs;
};

/* ---- what a source says --------------------------------------------------------------------- */

/* The first of them's dtype, of MLPerf's rows those of the preset's device. */
static void keep(const struct source *x, struct fr_table_set *set) {
    bool mlperf = strncmp(x->file, "mlperf/", 7) == 0;
    int kept = 0;
    fr_table_keep(set, &x->take);
    for (int i = 0; i < set->n; i++) {
        const char *of = mlperf ? fr_mlperf_preset(set->use[i]) : x->preset;
        if (!of || strcmp(of, x->preset) != 0) continue;
        if (kept && set->use[i]->workload.dtype != set->use[0]->workload.dtype) continue;
        set->use[kept++] = set->use[i];
    }
    set->n = kept;
}

static fr_status read(const struct source *x, struct likelihood *s, struct fr_error *err) {
    struct fr_table_set set = {0};
    fr_status status = fr_table_read(x->file, &set, err);
    if (status == FR_OK) keep(x, &set);
    if (status == FR_OK && set.n > 0) {
        const struct fr_cluster *cluster = set.use[0]->cluster; /* each source has one */
        status = fr_evidence_make(cluster, set.use, set.n, &s->evidence, err);
        if (status == FR_ERR_INPUT) status = FR_OK; /* none can be priced: it says nothing */
    }
    fr_table_free(&set);
    return status;
}

static void ask_all(void *context, int64_t i) {
    struct likelihood *s = &((struct study *)context)->of[i];
    if (!s->evidence) return;
    for (int k = 0; k < AXES; k++)
        for (int v = 0; v < axes[k].n && s->status == FR_OK; v++) {
            double value = axes[k].value[v];
            struct fr_sizes sizes = fr_sizes_usual;
            if (k == COMMON) sizes.common = value;
            if (k == APART) sizes.apart = value;
            if (k == WIDTHS) sizes.device = sizes.network = value;
            const struct fr_evidence_stated stated = {(k == MODEL_ERROR ? value : 1) *
                                                          FR_TUNE_MODEL_ERROR,
                                                      (k == RUN ? value : 1) * FR_TUNE_RUN};
            s->status = fr_evidence_at(s->evidence, stated, &sizes, &s->at[k][v], &s->err);
        }
}

static int nearer(const void *a, const void *b) {
    return FR_ORDER(((const struct off *)a)->away, ((const struct off *)b)->away);
}

static fr_status collect(struct study *study, struct fr_error *err) {
    int n = 0;
    for (int i = 0; i < SOURCES; i++)
        if (study->of[i].evidence) n += fr_evidence_kinds(study->of[i].evidence);
    study->offs = fr_calloc((size_t)n + 1, sizeof *study->offs);
    if (!study->offs) return fr_fail(err, FR_ERR_NOMEM, NULL, "out of memory");
    for (int i = 0; i < SOURCES; i++) {
        const struct fr_evidence *e = study->of[i].evidence;
        for (int k = 0; e && k < fr_evidence_kinds(e); k++)
            study->offs[study->n_offs++] =
                (struct off){fabs(fr_evidence_off(e, k)), 1.0 / fr_evidence_kinds(e), i};
    }
    fr_sort_items(study->offs, (size_t)n, sizeof *study->offs, nearer);
    return FR_OK;
}

/* ---- rows ----------------------------------------------------------------------------------- */

/* ln L of all sources but @p out (-1: all), each as one plan of a model; @return the likeliest value. */
static int likeliest(const struct study *study, int k, int out, double sum[VALUES]) {
    int best = 0;
    for (int v = 0; v < axes[k].n; v++) {
        sum[v] = 0;
        for (int i = 0; i < SOURCES; i++) {
            const struct likelihood *s = &study->of[i];
            if (i != out && s->evidence) sum[v] += s->at[k][v] / fr_evidence_kinds(s->evidence);
        }
        if (sum[v] > sum[best]) best = v;
    }
    return best;
}

/* Within what nine tenths of all but @p out (-1: all) lie, in standard deviations. */
static double stretch(const struct study *study, int out) {
    double all = 0, sum = 0;
    for (int i = 0; i < study->n_offs; i++)
        if (study->offs[i].source != out) all += study->offs[i].weight;
    for (int i = 0; i < study->n_offs; i++) {
        if (study->offs[i].source != out) sum += study->offs[i].weight;
        if (sum >= coverage * all) return study->offs[i].away;
    }
    return NAN;
}

static void add_source(struct fr_reproduction *r, const struct study *study, int i) {
    const struct likelihood *s = &study->of[i];
    char note[300];
    int best = 0;
    for (int v = 0; v < axes[MODEL_ERROR].n; v++)
        if (s->at[MODEL_ERROR][v] > s->at[MODEL_ERROR][best]) best = v;
    snprintf(
        note, sizeof note,
        "of what is stated; %d runs, %d plans of models, off by %.1f %% (root mean square)",
        fr_evidence_runs(s->evidence), fr_evidence_kinds(s->evidence),
        100 * fr_evidence_rms(s->evidence));
    fr_reproduce_add(r, FR_ROLE_FITTED, NAN, model_error[best], "1", 0, note, "of/%s",
                     sources[i].name);
}

/* How much less likely each value is. */
static void add_axis(struct fr_reproduction *r, const struct study *study, int k,
                     double assumed) {
    double sum[VALUES];
    int best = likeliest(study, k, -1, sum);
    char note[300];
    snprintf(note, sizeof note,
             "assumed: %.4g; ln L a plan of a source, less the likeliest's:", assumed);
    for (int v = 0; v < axes[k].n; v++) {
        size_t used = strlen(note);
        snprintf(note + used, sizeof note - used, "%s %.4g: %.2f", v ? "," : "",
                 axes[k].value[v], sum[v] - sum[best]);
    }
    fr_reproduce_add(r, FR_ROLE_FITTED, NAN, axes[k].value[best], "1", 0, note, "all/%s",
                     axes[k].what);
}

static void add_without(struct fr_reproduction *r, const struct study *study, int out) {
    double sum[VALUES];
    char note[160] = "likeliest:";
    for (int k = 0; k < AXES; k++) {
        size_t used = strlen(note);
        snprintf(note + used, sizeof note - used, "%s %s %.4g", k ? "," : "", axes[k].what,
                 axes[k].value[likeliest(study, k, out, sum)]);
    }
    fr_reproduce_add(r, FR_ROLE_FITTED, NAN, stretch(study, out), "1", 0, note,
                     "stretch_without/%s", sources[out].name);
}

static fr_status make(struct fr_reproduction *r, struct study *study, struct fr_error *err) {
    const struct fr_sizes *u = &fr_sizes_usual;
    const double assumed[AXES] = {1, u->common, u->apart, 1, u->device};
    int there = 0;
    for (int i = 0; i < SOURCES; i++) {
        fr_status status = read(&sources[i], &study->of[i], err);
        if (status == FR_ERR_IO) {
            fr_reproduce_add(r, FR_ROLE_NOT_EXPLAINED, NAN, NAN, "1", 0, err->detail,
                             "skipped/%s", sources[i].name);
            status = FR_OK;
        }
        FR_TRY(status);
        there += study->of[i].evidence != NULL;
    }
    if (there == 0) return FR_OK;
    FR_TRY(collect(study, err));
    fr_parallel_for(fr_processors(), SOURCES, ask_all, study);
    for (int i = 0; i < SOURCES; i++)
        if (study->of[i].status != FR_OK) return *err = study->of[i].err, study->of[i].status;
    for (int i = 0; i < SOURCES; i++)
        if (study->of[i].evidence) add_source(r, study, i);
    for (int k = 0; k < AXES; k++) add_axis(r, study, k, assumed[k]);
    char note[160];
    snprintf(
        note, sizeof note,
        "assumed: %.4g; nine plans of models in ten lie within so many standard deviations",
        FR_TUNE_STRETCH);
    fr_reproduce_add(r, FR_ROLE_FITTED, NAN, stretch(study, -1), "1", 0, note, "all/stretch");
    for (int i = 0; i < SOURCES; i++)
        if (study->of[i].evidence && there > 1) add_without(r, study, i);
    return FR_OK;
}

static fr_status run(struct fr_reproduction *r, struct fr_error *err) {
    struct study *study = fr_calloc(1, sizeof *study);
    if (!study) return fr_fail(err, FR_ERR_NOMEM, NULL, "out of memory");
    fr_status status = make(r, study, err);
    for (int i = 0; i < SOURCES; i++) fr_evidence_free(study->of[i].evidence);
    free(study->offs);
    free(study);
    return status;
}

const struct fr_paper fr_paper_effects = {
    .name = "effects",
    .title = "what the model misses, as intervals assume it, beside what sources of measured "
             "runs say",
    .run = run,
    .measured = true,
};
