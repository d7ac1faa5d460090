#include "search/recipe.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "models/job/runtime.h"
#include "models/outcome/cost.h"
#include "models/work/domain.h"
#include "models/workload/attention.h"
#include "models/workload/hybrid.h"

/* Inputs on which the values depend. */
struct from {
    const struct fr_job *job;
    const struct fr_transformer *t; /* NULL: another kind */
    int64_t ranks, node;            /* at most; of a unit of the innermost level */
    bool lossy;
};

/* ---- lists ---------------------------------------------------------------------------------------- */

static void add(struct fr_text *values, int64_t value) {
    fr_text_addf(values, "%s%" PRId64, values->length ? "," : "", value);
}

/* Numbers up to @p most that divide @p a and @p b. */
static void divisors(struct fr_text *values, int64_t a, int64_t b, int64_t most) {
    for (int64_t d = 1; d <= most && d <= a; d++)
        if (a % d == 0 && b % d == 0) add(values, d);
}

static int64_t smaller(int64_t a, int64_t b) { return a < b ? a : b; }

static bool is_kind(const struct from *f, const struct fr_kind *kind) {
    return f->job->workload.kind == kind;
}

/* ---- one function a key: nothing for a key that this model does not read ----------------------- */

/* Can the method divide this transformer at all: its experts, its attention, its blocks? */
static bool is_priced(const struct from *f, const struct fr_method *m) {
    struct fr_plan plan = f->job->plan;
    struct fr_outcome out;
    plan.method = m;
    plan.tp = plan.ghost = 1;
    plan.sequence_parallel = false;
    fr_cost(f->job, &plan, &out);
    return !(out.reasons & FR_BECAUSE(FR_REASON_METHOD));
}

/* The user's own words ask for ghost neurons. */
static bool asks_for_ghost_neurons(const struct from *f) {
    return fr_job_plan_says(f->job, "method") && f->job->plan.method->uses_ghost;
}

static bool has_ghost_neurons(const struct from *f) {
    bool allowed = f->lossy || asks_for_ghost_neurons(f);
    if (f->t) return allowed && is_priced(f, FR_METHOD_WITH(uses_ghost));
    return allowed && (is_kind(f, &fr_kind_ffn) || is_kind(f, &fr_kind_mlp));
}

static bool is_tried(const struct from *f, const struct fr_method *m) {
    if (m->uses_ghost) return has_ghost_neurons(f);
    if (f->t && f->lossy) return is_priced(f, m); /* the four papers' question */
    if (f->t) return m->megatron;
    if (is_kind(f, &fr_kind_branches)) return m->branches;
    if (is_kind(f, &fr_kind_cnn)) return m->grids;
    return f->job->workload.n_layers > 0 && !m->branches;
}

/* Exact ones first. */
static void methods(const struct from *f, struct fr_text *values) {
    const char *comma = "";
    for (int ghost_neurons = 0; ghost_neurons < 2; ghost_neurons++)
        for (const struct fr_method *const *m = fr_methods; *m; m++) {
            if ((*m)->uses_ghost != ghost_neurons || !is_tried(f, *m)) continue;
            fr_text_addf(values, "%s%s", comma, (*m)->name);
            comma = ",";
        }
}

static void ghost_neurons(const struct from *f, struct fr_text *values) {
    if (has_ghost_neurons(f)) fr_text_addf(values, "4,16,64");
}

/* Heads that tp divides: attention's; where no layer attends, groups of state-space heads. */
static int64_t whole_heads(const struct fr_transformer *t) {
    return fr_block_counts_of(t).attention > 0 ? t->heads : t->ssm_groups;
}

/* Values of tp: inside a node for a transformer, where links are fast; over all ranks for grids and sub-graphs, and for ghost
 * neurons of nodes of one rank, since there are none without tp. */
static void tensor_ways(const struct from *f, struct fr_text *values) {
    enum { WAYS_MOST = 1 << 16 };
    bool one = f->node == 1 && asks_for_ghost_neurons(f);
    if (f->t)
        divisors(values, f->ranks, whole_heads(f->t), one ? f->ranks : f->node);
    else if (f->job->workload.n_layers > 0)
        divisors(values, f->ranks, f->ranks, WAYS_MOST);
}

/* None, and each place where division by height may end. */
static void domains(const struct from *f, struct fr_text *values) {
    const struct fr_workload *model = &f->job->workload;
    int most = is_kind(f, &fr_kind_cnn) ? fr_domain_most(model) : -1;
    for (int k = 0; k <= most; k++)
        if (!fr_domain_cuts(model, k)) add(values, k);
}

static void stages(const struct from *f, struct fr_text *values) {
    enum { STAGES_MOST = 64 };
    if (f->t) divisors(values, f->ranks, f->ranks, smaller(f->t->layers, STAGES_MOST));
}

/* Ranks that share a sequence have at least so many tokens each. */
static void context_ways(const struct from *f, struct fr_text *values) {
    enum { TOKENS_LEAST = 4096, WAYS_MOST = 16 };
    if (f->t)
        divisors(values, f->ranks, f->t->sequence,
                 smaller(f->t->sequence / TOKENS_LEAST, WAYS_MOST));
}

static void expert_ways(const struct from *f, struct fr_text *values) {
    if (f->t && f->t->experts > 1) divisors(values, f->t->experts, f->ranks, f->ranks);
}

/* So many that stages of equal chunks have whole layers; or logits and embedding as one each besides. */
static void chunk_counts(const struct from *f, struct fr_text *values) {
    enum { CHUNKS_MOST = 12 };
    for (int64_t v = 1; f->t && v <= CHUNKS_MOST; v++)
        if (f->t->layers % v == 0 || (f->t->layers + 2) % v == 0) add(values, v);
}

static void micro_batches(const struct from *f, struct fr_text *values) {
    enum { SAMPLES_MOST = 8 };
    int64_t batch = fr_job_batch(f->job, &f->job->plan);
    for (int64_t b = 1; f->t && b <= smaller(SAMPLES_MOST, batch); b *= 2) add(values, b);
}

static bool runs_on(const struct from *f, const char *software) {
    const struct fr_runtime *runtime = f->job->runtime;
    return runtime && strncmp(runtime->name, software, strlen(software)) == 0;
}

/* Nothing, all of a layer, and between them what spares most memory for its time: of what the framework has. */
static void recomputes(const struct from *f, struct fr_text *values) {
    bool scores =
        f->job->plan.attention == FR_ATTENTION_PLAIN && fr_job_plan_says(f->job, "attention");
    if (!f->t) return;
    bool experts = f->t->experts > 1, latent = fr_attention_is_latent(f->t),
         dense = !experts && !latent && !fr_transformer_is_hybrid(f->t);
    const char *some = scores || f->t->lora_rank > 0 ? "selective,"
                       : runs_on(f, "torchtitan")    ? dense ? "selective_op," : ""
                       : runs_on(f, "maxtext")       ? dense ? "save_qkv_out," : ""
                       : experts && latent           ? "moe_act+layernorm+mla_up_proj,"
                       : experts                     ? "moe_act+layernorm,"
                                                     : "mlp,";
    fr_text_addf(values, "none,%sfull", some);
}

/* ---- what a model must be for a row of words ----------------------------------------------------- */

static bool whole(const struct from *f) { return f->t != NULL; }
static bool mixed(const struct from *f) { return f->t && f->t->experts > 1; }
/* Where losses are allowed the space is that of methods, ghost neurons and compression.  Other keys, which exact plans
 * try, are held or have fewer values there, and the answer says so. */
static bool exact(const struct from *f) { return f->t && !f->lossy; }
static bool exact_nested(const struct from *f) {
    return exact(f) && f->job->cluster.levels.count > 1;
}
static bool exact_tied(const struct from *f) { return exact(f) && f->t->tied; }
static bool lossy_tied(const struct from *f) { return f->t && f->lossy && f->t->tied; }
/* Only a cluster that says how fast its hosts are offers them. */
static bool hosted(const struct from *f) {
    const struct fr_device *device = &f->job->cluster.device;
    return f->t && device->host_link_B_per_s > 0 && device->host_rate_B_per_s > 0;
}
static bool lossy(const struct from *f) { return f->t && f->lossy; }

/* Values that are counted, by a function; or words, of what `is` holds of. */
static const struct {
    int key;
    void (*values)(const struct from *f, struct fr_text *values);
    bool (*is)(const struct from *f);
    const char *words;
    const char *why; /* of a single value */
} rows[] = {
    {FR_PLAN_KEY_method, methods, NULL, NULL, "others by --vary method=..."},
    {FR_PLAN_KEY_tp, tensor_ways, NULL, NULL, NULL},
    {FR_PLAN_KEY_pp, stages, NULL, NULL, NULL},
    {FR_PLAN_KEY_cp, context_ways, NULL, NULL, NULL},
    {FR_PLAN_KEY_ep, expert_ways, NULL, NULL, NULL},
    {FR_PLAN_KEY_ghost, ghost_neurons, NULL, NULL, NULL},
    {FR_PLAN_KEY_domain, domains, NULL, NULL, NULL},
    {FR_PLAN_KEY_rank_order, NULL, exact_nested, "tp-pp-dp,tp-dp-pp", NULL},
    {FR_PLAN_KEY_rank_order, NULL, lossy, "tp-pp-dp", "others without --max-lossy"},
    {FR_PLAN_KEY_schedule, NULL, exact, "1f1b,interleaved,zero-bubble", NULL},
    {FR_PLAN_KEY_schedule, NULL, lossy, "1f1b,interleaved", NULL},
    {FR_PLAN_KEY_chunks, chunk_counts, NULL, NULL, NULL},
    {FR_PLAN_KEY_backward_scope, NULL, lossy, "none,epilogue,all", NULL},
    {FR_PLAN_KEY_backward_rank, NULL, lossy, "16,64", NULL},
    {FR_PLAN_KEY_embedding, NULL, exact_tied, "separate,fused", NULL},
    {FR_PLAN_KEY_embedding, NULL, lossy_tied, "fused", "exact, and sends less"},
    {FR_PLAN_KEY_gradient_stages, NULL, lossy, "0,1,2,4,8", NULL},
    {FR_PLAN_KEY_gradient_rank, NULL, lossy, "16,128", NULL},
    {FR_PLAN_KEY_gradient_ranks, NULL, lossy, "one",
     "best by --vary compression.gradient.ranks=..."},
    {FR_PLAN_KEY_forward_rank, NULL, lossy, "0", "diverged in Song et al., 2023"},
    {FR_PLAN_KEY_codec, NULL, lossy, "powersgd", "others by --vary compression.codec=..."},
    {FR_PLAN_KEY_sequence_parallel, NULL, whole, "true,false", NULL},
    {FR_PLAN_KEY_attention, NULL, whole, "flash", "exact, and holds no scores"},
    {FR_PLAN_KEY_zero, NULL, whole, "0,1,2,3", NULL},
    {FR_PLAN_KEY_overlap, NULL, whole, "none,gradient", NULL},
    {FR_PLAN_KEY_overlap_tp, NULL, exact, "false,true", NULL},
    {FR_PLAN_KEY_overlap_tp, NULL, lossy, "false", "tried without --max-lossy"},
    {FR_PLAN_KEY_overlap_experts, NULL, mixed, "false,true", NULL},
    {FR_PLAN_KEY_recompute, recomputes, NULL, NULL, NULL},
    {FR_PLAN_KEY_offload, NULL, hosted, "none,optimizer,activations,all", NULL},
    {FR_PLAN_KEY_micro_batch, micro_batches, NULL, NULL, NULL},
};

/* The values of row @p i worth trying. */
static void values_of(size_t i, const struct from *f, struct fr_text *values) {
    if (rows[i].values)
        rows[i].values(f, values);
    else if (rows[i].is(f))
        fr_text_addf(values, "%s", rows[i].words);
}

static void add_row(struct fr_recipe *recipe, const char *key, const char *values,
                    const char *why) {
    if (recipe->n == sizeof recipe->row / sizeof *recipe->row) return;
    struct fr_recipe_row *row = &recipe->row[recipe->n++];
    row->why = why;
    snprintf(row->key, sizeof row->key, "%s", key);
    snprintf(row->values, sizeof row->values, "%s", values);
}

void fr_recipe_choose(const struct fr_job *job, int64_t ranks, bool lossy,
                      struct fr_recipe *recipe) {
    const struct fr_levels levels =
        fr_levels_take(&job->cluster.levels, ranks, FR_UNITS_SEGMENTS);
    const struct from from = {
        .job = job,
        .t = job->workload.kind == &fr_kind_transformer ? &job->workload.transformer : NULL,
        .ranks = ranks,
        .node = levels.level[fr_levels_near(&levels)].ranks,
        .lossy = lossy};
    *recipe = (struct fr_recipe){.chosen = true};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *name = fr_plan_keys[rows[i].key].name;
        struct fr_text values = {0};
        if (!fr_job_plan_says(job, name)) values_of(i, &from, &values);
        if (values.length) add_row(recipe, name, fr_text_get(&values), rows[i].why);
        fr_text_free(&values);
    }
}

void fr_recipe_take(const char *text, struct fr_recipe *recipe) {
    char key[64];
    const char *equals = strchr(text, '=');
    if (!equals) return;
    snprintf(key, sizeof key, "%.*s", (int)(equals - text), text);
    add_row(recipe, key, equals + 1, NULL);
}

/* The row of the key before the "=", or NULL; @p values what stands behind it. */
static struct fr_recipe_row *row_of(const char *text, struct fr_recipe *recipe,
                                    const char **values) {
    const char *equals = strchr(text, '=');
    *values = equals ? equals + 1 : "";
    for (int i = 0; equals && i < recipe->n; i++)
        if (strlen(recipe->row[i].key) == (size_t)(equals - text) &&
            strncmp(recipe->row[i].key, text, (size_t)(equals - text)) == 0)
            return &recipe->row[i];
    return NULL;
}

void fr_recipe_narrow(const char *text, struct fr_recipe *recipe) {
    const char *values;
    struct fr_recipe_row *row = row_of(text, recipe, &values);
    if (!row) {
        fr_recipe_take(text, recipe);
        return;
    }
    row->why = NULL;
    snprintf(row->values, sizeof row->values, "%s", values);
}

/* Is the word of @p length at @p word one of "a,b,c"? */
static bool among(const char *words, const char *word, size_t length) {
    for (const char *at = words; at; at = strchr(at, ',')) {
        at += *at == ',';
        if (strcspn(at, ",") == length && strncmp(at, word, length) == 0) return true;
    }
    return false;
}

void fr_recipe_restrict(const char *text, struct fr_recipe *recipe) {
    const char *values;
    struct fr_recipe_row *row = row_of(text, recipe, &values);
    struct fr_text rest = {0};
    for (const char *at = row ? row->values : ""; *at; at += strspn(at, ",")) {
        size_t length = strcspn(at, ",");
        if (among(values, at, length))
            fr_text_addf(&rest, "%s%.*s", rest.length ? "," : "", (int)length, at);
        at += length;
    }
    if (rest.length && !rest.failed)
        snprintf(row->values, sizeof row->values, "%s", fr_text_get(&rest));
    else if (row && !fr_recipe_varies(row)) { /* one that is held, at a value that cannot be */
        snprintf(row->values, sizeof row->values, "%s", values);
        row->why = NULL;
    }
    fr_text_free(&rest);
}

bool fr_recipe_varies(const struct fr_recipe_row *row) {
    return strchr(row->values, ',') || strstr(row->values, "..");
}

void fr_recipe_tell(const struct fr_recipe *recipe, bool varied, struct fr_text *text) {
    const char *between = "";
    for (int i = 0; i < recipe->n; i++) {
        const struct fr_recipe_row *row = &recipe->row[i];
        if (fr_recipe_varies(row) != varied) continue;
        fr_text_addf(text, "%s%s %s", between, row->key, row->values);
        if (!varied && row->why) fr_text_addf(text, " (%s)", row->why);
        between = "; ";
    }
}

void fr_recipe_put(const struct fr_recipe *recipe, struct fr_json_writer *w) {
    for (int varied = 1; varied >= 0; varied--) {
        fr_json_add_object(w, varied ? "varied" : "held");
        for (int i = 0; i < recipe->n; i++)
            if (fr_recipe_varies(&recipe->row[i]) == varied)
                fr_json_add_string(w, recipe->row[i].key, recipe->row[i].values);
        fr_json_end_object(w);
    }
}
