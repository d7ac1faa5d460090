#include "models/job/assume.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "models/plan/key.h"

enum { PACKED_DOCUMENT = 250, PACKED_SEQUENCE = 4096 };

/* ---- what rows ask ------------------------------------------------------------------------------ */

/* Devices that multiply 4-bit values, each block with a scale: Blackwell. */
static bool scales_blocks(const struct fr_job *job) {
    return job->cluster.device.gemm[FR_FP4].form != NULL;
}

static bool mixture(const struct fr_job *job, const struct fr_plan *plan) {
    (void)plan;
    return job->workload.transformer.experts > 0;
}

static bool always(const struct fr_job *job, const struct fr_plan *plan) {
    (void)job, (void)plan;
    return true;
}

static bool divides_sequence(const struct fr_job *job, const struct fr_plan *plan) {
    return job->workload.transformer.sequence % (plan->tp * plan->cp) == 0;
}

static bool divides_optimizer(const struct fr_job *job, const struct fr_plan *plan) {
    return mixture(job, plan) && fr_plan_reduces(plan) && !fr_plan_compresses(plan) &&
           !plan->offload;
}

static bool overlaps(const struct fr_job *job, const struct fr_plan *plan) {
    (void)job;
    return plan->zero != 3 && !plan->blocking && !fr_plan_compresses(plan);
}

static bool has_whole_experts(const struct fr_job *job, const struct fr_plan *plan) {
    (void)job;
    return plan->ep > 1 && plan->tp > 1 && plan->sequence_parallel && plan->zero_ranks == 0;
}

static bool records_iterations(const struct fr_job *job, const struct fr_plan *plan) {
    return mixture(job, plan) && scales_blocks(job) && !plan->blocking;
}

static bool records_layers(const struct fr_job *job, const struct fr_plan *plan) {
    const struct fr_device *device = &job->cluster.device;
    return mixture(job, plan) && !scales_blocks(job) && device->gemm[FR_FP8].form &&
           device->fp8_transpose && !plan->blocking;
}

/* Of a rank in a step; a replica's samples are pipelined one by one unless someone says otherwise. */
static bool has_micro_batches(const struct fr_job *job, const struct fr_plan *plan) {
    int64_t all = fr_job_batch(job, plan) / plan->dp,
            micro = plan->micro_batch ? plan->micro_batch : job->workload.micro_batch;
    return micro >= 0 && all > (micro ? micro : 1);
}

static bool overlaps_experts(const struct fr_job *job, const struct fr_plan *plan) {
    return scales_blocks(job) && has_micro_batches(job, plan) && !plan->blocking;
}

static bool has_modules(const struct fr_job *job, const struct fr_plan *plan) {
    (void)plan;
    return job->lighter != NULL;
}

static bool narrow_gradients(const struct fr_job *job, const struct fr_plan *plan) {
    (void)plan;
    return fr_dtype_size_B(job->workload.dtype) <= 2;
}

static bool eight_bits(const struct fr_job *job, const struct fr_plan *plan) {
    (void)plan;
    return job->workload.dtype == FR_FP8 && scales_blocks(job);
}

/* Fine-tuning's samples are short, and packed, into sequences of up to 4096 tokens in recipes; longer ones are tuned on
 * long documents (MLPerf's GovReport at 8192).  A window or cross-attention is not priced beside that. */
static bool packs(const struct fr_job *job, const struct fr_plan *plan) {
    const struct fr_transformer *t = &job->workload.transformer;
    (void)plan;
    return t->lora_rank > 0 && t->window == 0 && t->cross_layers == 0 && !t->pattern[0] &&
           t->sequence > PACKED_DOCUMENT && t->sequence <= PACKED_SEQUENCE;
}

static bool eight_bit_experts(const struct fr_job *job, const struct fr_plan *plan) {
    return job->workload.dtype == FR_FP8 && mixture(job, plan);
}

/* ---- values that depend on the plan ------------------------------------------------------------- */

static int64_t largest_divisor(int64_t n, int64_t most) {
    while (n % most != 0) most--;
    return most;
}

/* Ranks of an innermost unit that share experts: neighbours in dp, with whole experts also in tp. */
static bool take_copies(const struct fr_job *job, struct fr_plan *plan) {
    const struct fr_levels levels =
        fr_levels_take(&job->cluster.levels, fr_plan_ranks(plan), plan->placement.row->units);
    int64_t unit = levels.level[0].ranks, tp = plan->tp,
            apart = plan->rank_order == FR_ORDER_TP_DP_PP ? tp : tp * plan->pp,
            with = fr_plan_expert_tp(plan) == 1 ? tp : 1;
    int64_t near = unit / apart * with;
    if (near < with) near = unit < with ? unit : with;
    plan->dispatch_ranks = near >= plan->ep ? 1 : largest_divisor(plan->ep, near);
    return true;
}

/* Chunk k of the pp v of a pipeline has c = ceil(L / (pp v)) of the L layers, those after the L-th none: the last ones, which make
 * further tokens and logits, have fewer. */
static void lighten(int64_t layers, int64_t pp, int64_t v, int64_t *list) {
    int64_t c = (layers + pp * v - 1) / (pp * v), left = layers;
    for (int64_t i = 0; i < pp; i++) list[i] = 0;
    for (int64_t k = 0; k < pp * v; k++) {
        int64_t own = left < c ? left : c;
        list[k % pp] += own;
        left -= own;
    }
}

static int64_t lists_before(int64_t layers, int64_t pp) {
    int64_t n = 0;
    for (int64_t p = 1; p < pp; p++) n += layers / p * p;
    return n;
}

/* Lists of every number of stages and of chunks, so that plans of a search may point to them. */
static fr_status make_lighter(struct fr_job *job, struct fr_error *err) {
    enum { LAYERS_MAX = 512 };
    int64_t layers = job->workload.transformer.layers, *at;
    if (job->workload.transformer.predicted == 0 || layers > LAYERS_MAX) return FR_OK;
    at = job->lighter =
        fr_malloc((size_t)lists_before(layers, layers + 1), sizeof *job->lighter);
    if (!at) return fr_fail(err, FR_ERR_NOMEM, "assumed", "out of memory");
    for (int64_t pp = 1; pp <= layers; pp++)
        for (int64_t v = 1; v <= layers / pp; v++, at += pp) lighten(layers, pp, v, at);
    return FR_OK;
}

static bool take_lighter(const struct fr_job *job, struct fr_plan *plan) {
    int64_t layers = job->workload.transformer.layers, pp = plan->pp,
            v = plan->schedule->interleaves ? plan->chunks : 1;
    if (pp * v > layers || plan->schedule->folds || plan->order) return false;
    const int64_t *list = job->lighter + lists_before(layers, pp) + (v - 1) * pp;
    if (list[pp - 1] < 1 || list[pp - 1] >= list[0]) return false;
    plan->stage_layers = list;
    plan->n_stage_layers = (int)pp;
    return true;
}

/* ---- rows ---------------------------------------------------------------------------------------- */

static void take_gradients(struct fr_workload *w) { w->gradient_dtype = FR_BF16; }
static void take_scaling(struct fr_workload *w) { w->fp8_blocks = true; }
static void take_weights(struct fr_workload *w) { w->weight_dtype = FR_FP8; }
static void take_document(struct fr_workload *w) { w->transformer.document = PACKED_DOCUMENT; }

enum { OF_MODEL = -1, OF_MODEL_ANY_YEAR = -2 }; /* the latter unless 2019 is named */

static const struct row {
    struct fr_assumption told;
    int key; /* of the plan; below 0: the model's */
    bool (*when)(const struct fr_job *, const struct fr_plan *);
    bool (*compute)(const struct fr_job *, struct fr_plan *); /* NULL: the value */
    void (*model)(struct fr_workload *);
} rows[] = {
    {{"model.gradient_dtype", "bf16", "products of 16 bits or fewer",
      "Megatron-Bridge's mixed precision (grad_reduce_in_fp32 false)"},
     OF_MODEL,
     narrow_gradients,
     NULL,
     take_gradients},
    {{"model.fp8_scaling", "block", "fp8 on devices that scale blocks",
      "MXFP8 is what recipes for Blackwell use (Megatron-Bridge, bf16_with_mxfp8_mixed)"},
     OF_MODEL,
     eight_bits,
     NULL,
     take_scaling},
    {{"model.weight_dtype", "fp8", "mixtures of experts in fp8",
      "Megatron-Bridge gathers such weights as they are multiplied (fp8_param_gather)"},
     OF_MODEL,
     eight_bit_experts,
     NULL,
     take_weights},
    {{"model.document", "250", "adapters (lora_rank), sequences of 251 to 4096 tokens",
      "question and answer of SQuAD in the mean over tokens, as NeMo packs them"},
     OF_MODEL_ANY_YEAR,
     packs,
     NULL,
     take_document},
    {{"attention", "flash", "always", "Dao et al. 2022; every framework's default"},
     FR_PLAN_KEY_attention,
     always,
     NULL,
     NULL},
    {{"sequence_parallel", "true", "tp above 1 that divides the sequence",
      "Korthikanti et al. 2022"},
     FR_PLAN_KEY_sequence_parallel,
     divides_sequence,
     NULL,
     NULL},
    {{"rank_order", "tp-dp-pp", "always",
      "Megatron-LM numbers tp, cp, ep, dp, pp from inner to outer (parallel_state)"},
     FR_PLAN_KEY_rank_order,
     always,
     NULL,
     NULL},
    {{"etp", "1", "ep and tp above 1, with sequence_parallel",
      "recipes for mixtures keep experts whole (Megatron-Bridge, expert_tensor_parallel_size "
      "1)"},
     FR_PLAN_KEY_etp,
     has_whole_experts,
     NULL,
     NULL},
    {{"zero", "1", "mixtures of experts whose gradients are reduced and not compressed",
      "Megatron-Bridge's recipes use the distributed optimizer"},
     FR_PLAN_KEY_zero,
     divides_optimizer,
     NULL,
     NULL},
    {{"overlap", "gradient",
      "replicas reduce gradients, but with zero 3, compression or blocking launches",
      "Li et al., PyTorch Distributed, 2020; Megatron-LM's overlap_grad_reduce"},
     FR_PLAN_KEY_overlap,
     overlaps,
     NULL,
     NULL},
    {{"dispatch_ranks", NULL, "ep above 1",
      "DeepEP and HybridEP send a token once to a rank of its NVLink domain, and once to each "
      "other "
      "domain"},
     FR_PLAN_KEY_dispatch_ranks,
     mixture,
     take_copies,
     NULL},
    {{"graphs", "iteration", "mixtures on devices that scale blocks",
      "Megatron-Bridge's recipes for Blackwell since 2026-06"},
     FR_PLAN_KEY_graphs,
     records_iterations,
     NULL,
     NULL},
    {{"graphs", "layers", "mixtures on earlier devices with fp8",
      "Megatron-Bridge's recipes for Hopper record attention and routers"},
     FR_PLAN_KEY_graphs,
     records_layers,
     NULL,
     NULL},
    {{"overlap_experts", "true", "ep and micro-batches above 1 on devices that scale blocks",
      "Megatron-Bridge's recipes for Blackwell since 2026-06"},
     FR_PLAN_KEY_overlap_experts,
     overlaps_experts,
     NULL,
     NULL},
    {{"stage_layers", NULL, "models that predict further tokens, in a pipeline",
      "Megatron-Bridge's layouts for DeepSeek-V3: every chunk as many, the last ones the rest"},
     FR_PLAN_KEY_stage_layers,
     has_modules,
     take_lighter,
     NULL}};
enum { ROWS = sizeof rows / sizeof *rows };

const struct fr_assumption *fr_assumption_at(int i) { return i < ROWS ? &rows[i].told : NULL; }

/* "1" or "true", but of a word "\"flash\"". */
static const char *quote_of(const char *value) {
    bool plain = strspn(value, "0123456789") == strlen(value) || strcmp(value, "true") == 0;
    return plain ? "" : "\"";
}

/* The value of a row of the plan, in a plan of its own. */
static fr_status read_value(const struct row *row, struct fr_plan *plan, struct fr_error *err) {
    char text[96];
    const char *quote = quote_of(row->told.value);
    struct fr_json_document *document = NULL;
    struct fr_plan_lists none = {0};
    snprintf(text, sizeof text, "{\"%s\": %s%s%s}", row->told.key, quote, row->told.value,
             quote);
    FR_TRY(fr_json_parse(text, strlen(text), "assumed", &document, err));
    struct fr_json root = fr_json_root(document);
    fr_status status = fr_plan_read_object(&root, plan, &none, err);
    fr_json_free(document);
    return status;
}

/* ---- completing ----------------------------------------------------------------------------------- */

/* Of a transformer whose products divide over tp as Megatron-LM's. */
static bool applies(const struct fr_job *job, const struct fr_plan *plan) {
    return job->workload.modern && job->workload.transformer.layers > 0 &&
           plan->method == &fr_method_tensor;
}

uint64_t fr_job_open(const struct fr_json *plan) {
    fr_plan_key_set open = 0;
    for (int i = 0; i < ROWS; i++) {
        if (rows[i].key < 0) continue;
        struct fr_json member = fr_json_member(plan, rows[i].told.key);
        if (!fr_json_present(&member)) open |= FR_PLAN_KEY_BIT(rows[i].key);
    }
    return open;
}

uint64_t fr_job_complete(const struct fr_job *job, uint64_t open, struct fr_plan *plan) {
    fr_plan_key_set taken = 0;
    if (!job->usual || !applies(job, plan)) return 0;
    for (int i = 0; i < ROWS; i++) {
        const struct row *row = &rows[i];
        if (row->key < 0) continue;
        const struct fr_plan_key *key = &fr_plan_keys[row->key];
        fr_plan_key_set bit = FR_PLAN_KEY_BIT(row->key);
        if (!(open & bit) || (taken & bit) || !row->when(job, plan)) continue;
        if (fr_plan_missing_of(key->needs, &job->workload, plan)) continue;
        if (row->compute && !row->compute(job, plan)) continue;
        if (!row->compute) fr_plan_key_copy(key, &job->usual[i], plan);
        taken |= bit;
    }
    return taken;
}

void fr_job_forget(const struct fr_job *job, uint64_t keys, struct fr_plan *plan) {
    const struct fr_plan plain = fr_plan_default();
    for (int i = 0; i < ROWS; i++)
        if (rows[i].key >= 0 && (keys & job->open & FR_PLAN_KEY_BIT(rows[i].key)))
            fr_plan_key_copy(&fr_plan_keys[rows[i].key], &plain, plan);
}

static fr_status read_values(struct fr_job *job, struct fr_error *err) {
    job->usual = fr_calloc(ROWS, sizeof *job->usual);
    if (!job->usual) return fr_fail(err, FR_ERR_NOMEM, "assumed", "out of memory");
    for (int i = 0; i < ROWS; i++) {
        if (rows[i].key < 0) continue;
        job->usual[i] = fr_plan_default();
        if (rows[i].told.value) FR_TRY(read_value(&rows[i], &job->usual[i], err));
    }
    return FR_OK;
}

/* A transformer of today, or for some rows one that names no year. */
static bool takes(const struct fr_job *job, const struct row *row) {
    return job->workload.modern || (row->key == OF_MODEL_ANY_YEAR && !job->workload.of_2019);
}

/* Rows of keys of the model. */
static void complete_model(struct fr_job *job) {
    if (job->plan.method != &fr_method_tensor) return;
    for (int i = 0; i < ROWS; i++) {
        if (rows[i].key >= 0 || !takes(job, &rows[i]) ||
            fr_job_model_says(job, rows[i].told.key) || !rows[i].when(job, &job->plan))
            continue;
        rows[i].model(&job->workload);
        job->assumed_of_model |= UINT32_C(1) << i;
    }
}

fr_status fr_job_assume(struct fr_job *job, struct fr_error *err) {
    if (job->workload.transformer.layers == 0) return FR_OK;
    complete_model(job);
    if (!job->workload.modern) return FR_OK;
    FR_TRY(read_values(job, err));
    struct fr_json plan = fr_json_root(fr_job_plan(job));
    job->open = fr_job_open(&plan);
    FR_TRY(make_lighter(job, err));
    job->assumed = fr_job_complete(job, job->open, &job->plan);
    return FR_OK;
}

const char *fr_job_assumed(const struct fr_job *job, const struct fr_plan *plan, char *out,
                           size_t capacity) {
    struct fr_plan own = plan ? *plan : job->plan, bare = own;
    size_t used = 0;
    char value[FR_ASSUMED];
    *out = '\0';
    fr_job_forget(job, job->open, &bare);
    fr_plan_key_set taken = fr_job_complete(job, job->open, &bare);
    if (job->workload.sequence_assumed)
        fr_line_addf(out, capacity, &used, "model.sequence %" PRId64,
                     job->workload.transformer.sequence);
    for (int i = 0; i < ROWS; i++)
        if (job->assumed_of_model >> i & 1)
            fr_line_addf(out, capacity, &used, "%s%s %s", used ? ", " : "", rows[i].told.key,
                         rows[i].told.value);
    for (int i = 0; i < FR_PLAN_KEYS; i++) {
        const struct fr_plan_key *key = &fr_plan_keys[i];
        if (!(taken >> i & 1) || !key->type->same(key, &bare, &own)) continue;
        fr_line_addf(out, capacity, &used, "%s%s %s", used ? ", " : "", key->name,
                     key->type->text(key, &own, value, sizeof value));
    }
    return out;
}
