#include "models/job/assume.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "models/job/condition.h"
#include "models/job/formula.h"
#include "models/job/runtime.h"
#include "models/plan/copies.h"
#include "models/plan/key.h"

/* ---- values that depend on the plan ------------------------------------------------------------- */

static int64_t largest_divisor(int64_t n, int64_t most) {
    while (n % most != 0) most--;
    return most;
}

/* Ranks of an innermost unit, of a node where that is a package of dies, and how far apart neighbours in dp are numbered. */
static int64_t unit_of(const struct fr_job *job, const struct fr_plan *plan, int64_t *apart) {
    const struct fr_levels levels =
        fr_levels_take(&job->cluster.levels, fr_plan_ranks(plan), plan->placement.row->units);
    *apart = plan->rank_order == FR_ORDER_TP_DP_PP ? plan->tp : plan->tp * plan->pp;
    return levels.level[fr_levels_near(&levels)].ranks;
}

/* Ranks of such a unit that share experts: neighbours in dp, with whole experts also in tp. */
static bool take_copies(const struct fr_job *job, struct fr_plan *plan) {
    int64_t apart, unit = unit_of(job, plan, &apart), tp = plan->tp,
                   with = fr_plan_expert_tp(plan) == 1 ? tp : 1;
    int64_t near = unit / apart * with;
    if (near < with) near = unit < with ? unit : with;
    if (near < 1) return false; /* of no cluster in particular */
    plan->dispatch_ranks = near >= plan->ep ? 1 : largest_divisor(plan->ep, near);
    return true;
}

static bool groups_divide(const struct fr_plan *plan, int64_t ranks) {
    struct fr_plan of = *plan;
    of.zero_ranks = ranks;
    for (int k = 0; k < FR_COPIES; k++) {
        int64_t copies = fr_plan_copies(&of, (fr_copies)k);
        if (copies > 1 && copies % fr_plan_dividing(&of, (fr_copies)k) != 0) return false;
    }
    return true;
}

/* Replicas of an innermost unit divide what zero divides; where that has all of them or one alone, nobody says how many. */
static bool take_near(const struct fr_job *job, struct fr_plan *plan) {
    int64_t apart, unit = unit_of(job, plan, &apart), replicas = fr_plan_replicas(plan),
                   near = unit / apart;
    if (near >= replicas) return false;
    while (near > 1 && !groups_divide(plan, near)) near--;
    if (near < 2) return false;
    plan->zero_ranks = near;
    return true;
}

/* Buckets are of values, whatever width gradients have. */
static void take_bucket(const struct fr_job *job, const struct fr_formula *values,
                        struct fr_plan *plan) {
    enum { LEAST_B = 1 };
    static const double most_B = 1e15; /* of the key */
    double size_B =
        fr_formula_value(values, plan) * fr_dtype_size_B(job->workload.gradient_dtype);
    plan->bucket_size_B = fmin(fmax(round(size_B), LEAST_B), most_B);
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

static bool take_lighter(const struct fr_job *job, struct fr_plan *plan) {
    int64_t layers = job->workload.transformer.layers, pp = plan->pp,
            v = plan->schedule->interleaves ? plan->chunks : 1;
    if (!job->lighter || pp * v > layers || plan->schedule->folds || plan->order) return false;
    const int64_t *list = job->lighter + lists_before(layers, pp) + (v - 1) * pp;
    if (list[pp - 1] < 1 || list[pp - 1] >= list[0]) return false;
    plan->stage_layers = list;
    plan->n_stage_layers = (int)pp;
    return true;
}

/* ---- rules ---------------------------------------------------------------------------------------- */

/* Values of facts that depend on the plan, by the word that stands for them. */
static const struct rule {
    int key;
    const char *word;
    bool (*take)(const struct fr_job *, struct fr_plan *);
} rules[] = {{FR_PLAN_KEY_dispatch_ranks, "\"domain\"", take_copies},
             {FR_PLAN_KEY_stage_layers, "\"lighter\"", take_lighter},
             {FR_PLAN_KEY_zero_ranks, "\"node\"", take_near}};
enum { RULES = sizeof rules / sizeof *rules };

static const struct rule *rule_of(int key, const char *text) {
    for (int i = 0; i < RULES; i++)
        if (rules[i].key == key && strcmp(rules[i].word, text) == 0) return &rules[i];
    return NULL;
}

/* "max(40e6, 1e6 dp cp)", quoted, as a value of @p key: of none but buckets. */
static bool is_formula(int key, const char *text) {
    return key == FR_PLAN_KEY_bucket && *text == '"' && fr_formula_is(text);
}

static fr_status read_formula(const char *text, struct fr_formula *formula,
                              struct fr_error *err) {
    char bare[sizeof((struct fr_fact *)0)->text];
    size_t length = strlen(text);
    snprintf(bare, sizeof bare, "%.*s", (int)(length > 1 ? length - 2 : 0), text + 1);
    return fr_formula_read(bare, formula, err);
}

fr_status fr_assume_read(int key, const char *text, struct fr_plan *plan,
                         struct fr_error *err) {
    struct fr_json_document *document = NULL;
    struct fr_plan_lists none = {0};
    char object[192];
    *plan = fr_plan_default();
    struct fr_formula formula;
    if (rule_of(key, text)) return FR_OK;
    if (is_formula(key, text)) return read_formula(text, &formula, err);
    snprintf(object, sizeof object, "{\"%s\": %s}", fr_plan_keys[key].name, text);
    FR_TRY(fr_json_parse(object, strlen(object), "runtime", &document, err));
    struct fr_json root = fr_json_root(document);
    fr_status status = fr_plan_read_object(&root, plan, &none, err);
    if (status == FR_OK && (none.layer_tp || none.stage_layers || none.gradient_ranks ||
                            none.rank_map || none.clock_Hz))
        status = fr_fail(err, FR_ERR_INPUT, fr_plan_keys[key].name,
                         "a list is no value of a runtime; expected a rule");
    fr_plan_lists_free(&none);
    fr_json_free(document);
    return status;
}

/* A fact of the plan, as plans are completed by it. */
struct fr_usual {
    int key, when;
    const struct rule *rule;   /* NULL: the value */
    struct fr_formula formula; /* of steps: what it comes to */
    struct fr_plan value;
};

/* The next fact of @p row behind @p i, in the nearest file that has any of it; -1: none. */
static int next_fact(const struct fr_runtime *runtime, int row, int i) {
    int file = i >= 0 ? runtime->fact[i].file : 0;
    for (int k = i + 1; k < runtime->n_facts; k++) {
        if (runtime->fact[k].row != row) continue;
        return i >= 0 && runtime->fact[k].file != file ? -1 : k;
    }
    return -1;
}

bool fr_assumption_at(const struct fr_runtime *runtime, int i, struct fr_assumption *out) {
    for (int row = 0; row < fr_fact_count; row++) {
        if (fr_facts[row].kind != FR_FACT_PLAN && fr_facts[row].kind != FR_FACT_MODEL) continue;
        for (int k = next_fact(runtime, row, -1); k >= 0; k = next_fact(runtime, row, k)) {
            const struct fr_fact *fact = &runtime->fact[k];
            if (fact->none || i-- > 0) continue;
            *out = (struct fr_assumption){.key = fr_facts[row].key,
                                          .when = fr_condition_words(fact->when),
                                          .why = fact->source};
            fr_fact_text(fact, out->value, sizeof out->value);
            return true;
        }
    }
    return false;
}

/* ---- completing ----------------------------------------------------------------------------------- */

/* Is it a transformer whose products divide over tp as Megatron-LM's do? */
static bool applies(const struct fr_job *job, const struct fr_plan *plan) {
    return job->workload.modern && job->workload.transformer.layers > 0 &&
           plan->method->megatron;
}

/* Keys that facts of some runtime may take. */
static fr_plan_key_set all_keys(void) {
    fr_plan_key_set all = 0;
    for (int i = 0; i < fr_fact_count; i++)
        if (fr_facts[i].kind == FR_FACT_PLAN) all |= FR_PLAN_KEY_BIT(fr_facts[i].plan_key);
    return all;
}

uint64_t fr_job_open(const struct fr_json *plan) {
    fr_plan_key_set open = 0, all = all_keys();
    for (int i = 0; i < FR_PLAN_KEYS; i++) {
        if (!(all & FR_PLAN_KEY_BIT(i))) continue;
        struct fr_json member = fr_json_member(plan, fr_plan_keys[i].name);
        if (!fr_json_present(&member)) open |= FR_PLAN_KEY_BIT(i);
    }
    return open;
}

/* One key stands for a recipe: who states it states the rest, as far as it differs. */
static fr_recipe_source recipe_of(const struct fr_job *job, fr_plan_key_set open) {
    bool stated = !(open & FR_PLAN_KEY_BIT(FR_PLAN_KEY_graphs));
    if (job->workload.transformer.experts == 0 || stated) return FR_RECIPE_STATED;
    return job->runtime && job->runtime->guessed ? FR_RECIPE_UNKNOWN : FR_RECIPE_OF_RELEASE;
}

uint64_t fr_job_complete(const struct fr_job *job, uint64_t open, struct fr_plan *plan) {
    fr_plan_key_set taken = 0;
    if (!job->usual || !applies(job, plan)) return 0;
    plan->recipe = recipe_of(job, open);
    for (int i = 0; i < job->n_usual; i++) {
        const struct fr_usual *usual = &job->usual[i];
        const struct fr_plan_key *key = &fr_plan_keys[usual->key];
        fr_plan_key_set bit = FR_PLAN_KEY_BIT(usual->key);
        if (!(open & bit) || (taken & bit) || !fr_condition_holds(usual->when, job, plan))
            continue;
        if (fr_plan_missing_of(key->needs, &job->workload, plan)) continue;
        if (usual->rule && !usual->rule->take(job, plan)) continue;
        if (usual->formula.n > 0)
            take_bucket(job, &usual->formula, plan);
        else if (!usual->rule)
            fr_plan_key_copy(key, &usual->value, plan);
        taken |= bit;
    }
    return taken;
}

void fr_job_forget(const struct fr_job *job, uint64_t keys, struct fr_plan *plan) {
    const struct fr_plan plain = fr_plan_default();
    for (int i = 0; i < job->n_usual; i++)
        if (keys & job->open & FR_PLAN_KEY_BIT(job->usual[i].key))
            fr_plan_key_copy(&fr_plan_keys[job->usual[i].key], &plain, plan);
}

/* Facts of the plan in the order in which they are taken. */
static fr_status read_values(struct fr_job *job, struct fr_error *err) {
    const struct fr_runtime *runtime = job->runtime;
    job->usual = fr_calloc((size_t)runtime->n_facts + 1, sizeof *job->usual);
    if (!job->usual) return fr_fail(err, FR_ERR_NOMEM, "assumed", "out of memory");
    for (int row = 0; row < fr_fact_count; row++) {
        if (fr_facts[row].kind != FR_FACT_PLAN) continue;
        for (int k = next_fact(runtime, row, -1); k >= 0; k = next_fact(runtime, row, k)) {
            const struct fr_fact *fact = &runtime->fact[k];
            struct fr_usual *usual = &job->usual[job->n_usual];
            if (fact->none) continue;
            usual->key = fr_facts[row].plan_key;
            usual->when = fact->when;
            usual->rule = rule_of(usual->key, fact->text);
            if (is_formula(usual->key, fact->text))
                FR_TRY(read_formula(fact->text, &usual->formula, err));
            else
                FR_TRY(fr_assume_read(usual->key, fact->text, &usual->value, err));
            job->n_usual++;
        }
    }
    return FR_OK;
}

/* Facts of keys of the model; where a model of 2019 names a runtime of today, for what it costs, none. */
static void complete_model(struct fr_job *job) {
    const struct fr_runtime *runtime = job->runtime;
    if (!job->plan.method->megatron) return;
    if (runtime->modern && !job->workload.modern) return;
    for (int row = 0; row < fr_fact_count; row++) {
        if (fr_facts[row].kind != FR_FACT_MODEL || fr_job_model_says(job, fr_facts[row].key))
            continue;
        for (int k = next_fact(runtime, row, -1); k >= 0; k = next_fact(runtime, row, k)) {
            const struct fr_fact *fact = &runtime->fact[k];
            if (fact->none || !fr_condition_holds(fact->when, job, &job->plan)) continue;
            if (!fr_facts[row].model(&job->workload, fact->number)) continue;
            job->of_model[job->n_of_model++] = k;
            break;
        }
    }
}

/* Lists of every number of stages and of chunks, so that plans of a search may point to them; where some fact takes one. */
static fr_status make_lighter(struct fr_job *job, struct fr_error *err) {
    enum { LAYERS_MAX = 512 };
    int64_t layers = job->workload.transformer.layers, *at;
    bool asked = false;
    for (int i = 0; i < job->n_usual; i++)
        asked = asked || (job->usual[i].rule && job->usual[i].rule->take == take_lighter);
    if (!asked || layers > LAYERS_MAX) return FR_OK;
    at = job->lighter =
        fr_malloc((size_t)lists_before(layers, layers + 1), sizeof *job->lighter);
    if (!at) return fr_fail(err, FR_ERR_NOMEM, "assumed", "out of memory");
    for (int64_t pp = 1; pp <= layers; pp++)
        for (int64_t v = 1; v <= layers / pp; v++, at += pp) lighten(layers, pp, v, at);
    return FR_OK;
}

fr_status fr_job_assume(struct fr_job *job, struct fr_error *err) {
    if (job->workload.transformer.layers == 0 || !job->runtime) return FR_OK;
    complete_model(job);
    if (!job->workload.modern) return FR_OK;
    FR_TRY(read_values(job, err));
    struct fr_json plan = fr_json_root(fr_job_plan(job));
    job->open = fr_job_open(&plan);
    FR_TRY(make_lighter(job, err));
    job->assumed = fr_job_complete(job, job->open, &job->plan);
    return FR_OK;
}

const char *fr_job_left_out(const struct fr_plan *plan) {
    return plan->recipe == FR_RECIPE_UNKNOWN
               ? "; recipes for speed are off, since no release is named"
               : "";
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
    for (int i = 0; i < job->n_of_model; i++) {
        const struct fr_fact *fact = &job->runtime->fact[job->of_model[i]];
        fr_line_addf(out, capacity, &used, "%s%s %s", used ? ", " : "", fr_facts[fact->row].key,
                     fr_fact_text(fact, value, sizeof value));
    }
    for (int i = 0; i < FR_PLAN_KEYS; i++) {
        const struct fr_plan_key *key = &fr_plan_keys[i];
        if (!(taken >> i & 1) || !key->type->same(key, &bare, &own)) continue;
        fr_line_addf(out, capacity, &used, "%s%s %s", used ? ", " : "", key->name,
                     key->type->text(key, &own, value, sizeof value));
    }
    return out;
}
