/* Plans that the program mesh refuses before anything runs. */
#include <inttypes.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "models/plan/key.h"
#include "real/apps/ffn.h"
#include "real/apps/mesh/blocking.h"
#include "real/apps/mesh/mesh.h"

/* A pass's messages are distinguished by tags, of which MPI promises so many. */
enum { PASSES_MAX = 16000 };

int64_t fr_mesh_micro_batch(const struct fr_real_case *run) {
    const struct fr_plan *plan = run->plan;
    const struct fr_workload *w = run->workload;
    if (plan->micro_batch) return plan->micro_batch;
    bool passes = plan->pp > 1 || w->transformer.layers, all = w->micro_batch < 0;
    if (passes && !all) return w->micro_batch > 0 ? w->micro_batch : 1;
    return fr_real_batch(run) / plan->dp;
}

int64_t fr_mesh_columns(const struct fr_real_case *run) {
    int64_t sequence = run->workload->transformer.sequence, samples = fr_mesh_micro_batch(run);
    if (run->plan->method->branches && !run->plan->common_subgrid)
        samples /= run->plan->tp; /* of sub-grids parts */
    return samples * (run->workload->transformer.layers ? sequence / run->plan->cp : 1);
}

int64_t fr_mesh_micro_batches(const struct fr_real_case *run) {
    return fr_real_batch(run) / run->plan->dp / fr_mesh_micro_batch(run);
}

/* Keys that the program runs; iterations and a warm-up are of more than the steps that are
 * timed. */
#define KEY(word) FR_PLAN_KEY_BIT(FR_PLAN_KEY_##word)
static const fr_plan_key_set runs =
    KEY(method) | KEY(tp) | KEY(dp) | KEY(pp) | KEY(ghost) | KEY(phantom_parts) | KEY(domain) |
    KEY(rank_order) | KEY(schedule) | KEY(chunks) | KEY(stage_layers) | KEY(backward_scope) |
    KEY(backward_rank) | KEY(lazy_error) | KEY(forward_rank) | KEY(gradient_stages) |
    KEY(gradient_rank) | KEY(gradient_ranks) | KEY(codec) | KEY(embedding) | KEY(warm_up) |
    KEY(global_batch) | KEY(micro_batch) | KEY(recompute) | KEY(branches) | KEY(exchange) |
    KEY(overlap) | KEY(bucket) | KEY(zero) | KEY(sequence_parallel) | KEY(cp) | KEY(context) |
    KEY(iterations) | KEY(zero_ranks) | KEY(overlap_tp) | KEY(p2p) | KEY(common) |
    KEY(attention) | KEY(layer_tp) | KEY(divide);

/* A key that has a value of its own and is not run, or NULL. */
static const struct fr_plan_key *find_lacking(const struct fr_plan *plan) {
    const struct fr_plan none = fr_plan_default();
    for (int i = 0; i < FR_PLAN_KEYS; i++) {
        const struct fr_plan_key *key = &fr_plan_keys[i];
        if (!(runs >> i & 1) && !key->type->same(key, plan, &none)) return key;
    }
    return NULL;
}

static fr_status check_recomputed(const struct fr_real_case *run, struct fr_error *err) {
    const struct fr_plan *plan = run->plan;
    char word[FR_RECOMPUTE_TEXT];
    if (plan->recompute && !run->workload->transformer.layers)
        return fr_fail(err, FR_ERR_INPUT, NULL, "only transformers recompute here");
    if (fr_recompute_saves(plan->recompute) || fr_recomputes_modules(plan->recompute))
        return fr_fail(err, FR_ERR_INPUT, NULL,
                       "recompute %s is not run here; selective and full are",
                       fr_recompute_text(plan->recompute, word, sizeof word));
    return FR_OK;
}

/* Gradients that go beside passes. */
static fr_status check_gradients(const struct fr_plan *plan, struct fr_error *err) {
    bool coded = plan->compression.gradient_stages > 0;
    if (plan->zero > 1 && (plan->compression.fused_embedding || coded))
        return fr_fail(
            err, FR_ERR_INPUT, NULL,
            "zero %" PRId64
            " is run with gradients that go whole, and an embedding that is not fused",
            plan->zero);
    if (plan->overlap && plan->zero == 3)
        return fr_fail(err, FR_ERR_INPUT, NULL,
                       "overlap is run without zero 3, which leaves it nothing to do");
    return FR_OK;
}

static fr_status check_keys(const struct fr_real_case *run, struct fr_error *err) {
    const struct fr_plan *plan = run->plan;
    const char *needs = NULL;
    if (run->workload->n_layers == 0 && run->workload->transformer.layers == 0)
        return fr_fail(err, FR_ERR_INPUT, NULL,
                       "the model has no layers; expected ffn, mlp, cnn or transformer");
    const struct fr_plan_key *idle = fr_plan_idle_key(run->workload, plan, &needs);
    if (idle)
        return fr_fail(err, FR_ERR_INPUT, NULL, "\"%s\" would have no effect: it needs %s",
                       idle->name, needs);
    const struct fr_plan_key *lacks = find_lacking(plan);
    FR_TRY(check_recomputed(run, err));
    FR_TRY(check_gradients(plan, err));
    if (plan->sequence_parallel && !plan->method->megatron && !plan->method->grids)
        return fr_fail(err, FR_ERR_INPUT, NULL,
                       "sequence_parallel is run with methods tensor and grid, not with %s",
                       plan->method->name);
    if (plan->stage_layers_best)
        return fr_fail(err, FR_ERR_INPUT, NULL,
                       "stage_layers must be numbers here; forerun predict says the best");
    if (lacks)
        return fr_fail(err, FR_ERR_INPUT, NULL, "\"%s\" must have its default in real runs",
                       lacks->name);
    return FR_OK;
}

/* Ranks that share a sample have a part of its tokens, and may exchange these for heads. */
static fr_status check_context(const struct fr_real_case *run, struct fr_error *err) {
    const struct fr_plan *plan = run->plan;
    const struct fr_transformer *t = &run->workload->transformer;
    if (plan->cp == 1) return FR_OK;
    if (plan->attention != FR_ATTENTION_PLAIN && !plan->context_heads)
        return fr_fail(err, FR_ERR_INPUT, NULL,
                       "a ring of keys is run with \"attention\": \"plain\"; attention that "
                       "keeps no scores is with \"context\": \"all-to-all\"");
    FR_TRY(fr_real_divides("the sequence", t->sequence, "cp", plan->cp, err));
    if (!plan->context_heads) return FR_OK;
    return fr_real_divides("the number of heads", t->heads, "tp x cp", plan->tp * plan->cp,
                           err);
}

/* A group of a transformer's products on P_r ranks: whole samples of the attention and of the positions, whole tokens
 * of the MLP. */
static fr_status check_grid(const struct fr_real_case *run, int group, struct fr_error *err) {
    const struct fr_plan *plan = run->plan;
    int64_t p = fr_plan_grid(plan, group), next = fr_plan_grid(plan, (group + 1) % FR_GRIDS);
    bool tokens = group == FR_GRID_MLP;
    int64_t share = tokens ? fr_mesh_columns(run) : fr_mesh_micro_batch(run);
    FR_TRY(fr_real_divides("the ranks of a stage", plan->tp * fr_plan_replicas(plan),
                           "a P_r of layer_tp", p, err));
    FR_TRY(fr_real_divides(tokens ? "what P_r ranks of layer_tp have, in tokens"
                                  : "what P_r ranks of layer_tp have, in samples",
                           share * p, "tp", plan->tp, err));
    if (p % next != 0 && next % p != 0)
        return fr_fail(err, FR_ERR_INPUT, NULL,
                       "of layer_tp one of %" PRId64 " and %" PRId64 " must divide the other",
                       p, next);
    if (plan->cp > 1 && !tokens && fr_plan_own_grid(plan, group))
        return fr_fail(
            err, FR_ERR_INPUT, NULL,
            "with cp above 1 only the MLP has a P_r of its own in layer_tp; expected "
            "%" PRId64 " for attention and for embedding and logits",
            plan->tp);
    return FR_OK;
}

static fr_status check_grids(const struct fr_real_case *run, struct fr_error *err) {
    const struct fr_plan *plan = run->plan;
    if (plan->layer_tp_best)
        return fr_fail(err, FR_ERR_INPUT, NULL,
                       "layer_tp must be numbers here; forerun predict says the best");
    if (!plan->layer_tp) return FR_OK;
    if (!run->workload->transformer.layers)
        return fr_fail(err, FR_ERR_INPUT, NULL,
                       "\"layer_tp\" of layers is run by program grid");
    if (plan->n_layer_tp != FR_GRIDS || !plan->method->grids)
        return fr_fail(err, FR_ERR_INPUT, NULL,
                       "layer_tp of a transformer lists P_r of its attention, its MLP, and "
                       "embedding and logits, for method grid");
    if (fr_mesh_fused(run) && fr_plan_own_grid(plan, FR_GRID_ENDS))
        return fr_fail(err, FR_ERR_INPUT, NULL,
                       "an embedding with a P_r of its own in layer_tp is not fused");
    for (int g = 0; g < FR_GRIDS; g++) FR_TRY(check_grid(run, g, err));
    return FR_OK;
}

/* Groups of neighbours that divide what zero divides make up all copies of each kind. */
static fr_status check_zero_copies(const struct fr_plan *plan, struct fr_error *err) {
    for (int h = 0; h < FR_HOLDERS; h++)
        FR_TRY(fr_real_divides("the copies of parameters", fr_real_copies(plan, h),
                               "those that divide them", fr_real_dividing(plan, h), err));
    return FR_OK;
}

/* Neighbours that divide what zero divides make up all copies; one alone would scatter nothing. */
static fr_status check_zero_ranks(const struct fr_real_case *run, struct fr_error *err) {
    const struct fr_plan *plan = run->plan;
    int64_t replicas = fr_plan_replicas(plan), z = plan->zero_ranks;
    if (z == 0) return FR_OK;
    if (z > replicas || (z == 1 && plan->zero > 1))
        return fr_fail(err, FR_ERR_INPUT, NULL,
                       "zero_ranks is %" PRId64 "; expected 0 or %d to dp x cp, %" PRId64, z,
                       plan->zero > 1 ? 2 : 1, replicas);
    FR_TRY(fr_real_divides("the replicas, dp x cp", replicas, "zero_ranks", z, err));
    return check_zero_copies(plan, err);
}

static fr_status check_batch(const struct fr_real_case *run, struct fr_error *err) {
    const struct fr_plan *plan = run->plan;
    FR_TRY(fr_real_divides("the global batch", fr_real_batch(run), "dp", plan->dp, err));
    return fr_real_divides("a replica's batch", fr_real_batch(run) / plan->dp, "micro_batch",
                           fr_mesh_micro_batch(run), err);
}

/* Orders in which blocking messages end. */
static fr_status check_blocking(const struct fr_plan *plan, const struct fr_schedule_args *args,
                                struct fr_error *err) {
    if (!plan->duplex) return FR_OK;
    if (plan->chunks > 1)
        return fr_fail(err, FR_ERR_INPUT, NULL, "p2p duplex is run with one chunk a stage");
    int64_t n = fr_schedule_slots(plan->schedule, args);
    struct fr_slot *slots = fr_blocking_orders(plan->schedule, args);
    struct fr_blocking_state *at = fr_calloc((size_t)args->stages, sizeof *at);
    bool whole = slots && at;
    int stuck = whole ? fr_blocking_deadlock(args->stages, slots, n, at) : -1;
    free(slots);
    free(at);
    if (!whole) return fr_fail(err, FR_ERR_NOMEM, NULL, "%" PRId64 " passes of a stage", n);
    return stuck < 0 ? FR_OK
                     : fr_fail(err, FR_ERR_INPUT, NULL,
                               "with schedule %s and p2p duplex stages wait for each other: "
                               "stage %d never ends",
                               plan->schedule->name, stuck);
}

static fr_status check_stages(const struct fr_real_case *run, int64_t layers,
                              struct fr_error *err) {
    const struct fr_plan *plan = run->plan;
    int64_t parts = plan->pp * plan->chunks, m = fr_mesh_micro_batches(run), listed = 0;
    for (int i = 0; i < plan->n_stage_layers; i++) listed += plan->stage_layers[i];
    if (plan->stage_layers && (plan->n_stage_layers != plan->pp || listed != layers))
        return fr_fail(err, FR_ERR_INPUT, NULL,
                       "stage_layers are %" PRId64 " layers of %d stages, not %" PRId64
                       " of %" PRId64,
                       listed, plan->n_stage_layers, layers, plan->pp);
    bool words = run->workload->transformer.layers > 0, folds = plan->schedule->folds;
    bool stand = words && plan->chunks > 1 && !folds; /* both ends, as layers */
    if (parts > layers + (stand ? 2 : 0))
        return fr_fail(err, FR_ERR_INPUT, NULL,
                       "%" PRId64 " stages of %" PRId64 " chunks for %" PRId64 " layers",
                       plan->pp, plan->chunks, layers);
    if (plan->chunks > 1 && plan->stage_layers)
        return fr_fail(err, FR_ERR_INPUT, NULL, "stages of chunks have equal layers here");
    if (plan->chunks > 1 && (!words || folds))
        FR_TRY(fr_real_divides("the number of layers", layers, "pp x chunks", parts, err));
    if (m * plan->chunks > PASSES_MAX)
        return fr_fail(err, FR_ERR_INPUT, NULL, "more than %d passes of a stage", PASSES_MAX);
    struct fr_schedule_args args = {(int32_t)plan->pp, (int32_t)m, (int32_t)plan->chunks,
                                    plan->order};
    const char *why = plan->schedule->refuses(&args);
    return why ? fr_fail(err, FR_ERR_INPUT, NULL, "schedule %s: %s", plan->schedule->name, why)
               : check_blocking(plan, &args, err);
}

static fr_status check_compression(const struct fr_real_case *run, struct fr_error *err) {
    const struct fr_plan *plan = run->plan;
    int64_t stages = plan->compression.gradient_stages;
    if (stages > plan->pp)
        return fr_fail(err, FR_ERR_INPUT, NULL,
                       "compression.gradient.stages is more than the plan has stages (pp)");
    if (plan->gradient_ranks_best)
        return fr_fail(err, FR_ERR_INPUT, NULL,
                       "compression.gradient.ranks must be numbers here; forerun predict says "
                       "the best");
    if (plan->gradient_ranks && plan->n_gradient_ranks != stages)
        return fr_fail(
            err, FR_ERR_INPUT, NULL,
            "compression.gradient.ranks lists %d stages, compression.gradient.stages "
            "is %" PRId64,
            plan->n_gradient_ranks, stages);
    return FR_OK;
}

/* A rank sends its part of the data between units: rows or, for a transformer, tokens. */
static fr_status check_units(const struct fr_chain *chain, struct fr_error *err) {
    const struct fr_plan *plan = chain->run->plan;
    for (int i = 0; i < chain->n; i++) {
        const struct fr_unit u = fr_chain_unit(chain, i, 0, 1);
        if (!u.kind)
            return fr_fail(err, FR_ERR_INPUT, NULL, "method %s is not run on these layers",
                           plan->method->name);
        if (u.kind->check) FR_TRY(u.kind->check(&u, err));
        if (i > 0 && !fr_chain_reads_words(chain))
            FR_TRY(fr_real_divides("a layer's inputs", u.layer.inputs, "tp", plan->tp, err));
    }
    return FR_OK;
}

static fr_status check_tokens(const struct fr_real_case *run, struct fr_error *err) {
    const struct fr_plan *plan = run->plan;
    bool parts = plan->pp > 1 || plan->sequence_parallel;
    if (!run->workload->transformer.layers || !parts || plan->method->divided) return FR_OK;
    return fr_real_divides("a micro-batch's tokens", fr_mesh_columns(run), "tp", plan->tp, err);
}

fr_status fr_mesh_check(const struct fr_real_case *run, struct fr_error *err) {
    struct fr_chain chain;
    FR_TRY(check_keys(run, err));
    FR_TRY(check_context(run, err));
    FR_TRY(check_zero_ranks(run, err));
    FR_TRY(check_grids(run, err));
    fr_status status = fr_chain_make(run, &chain, err);
    if (status == FR_OK) status = check_units(&chain, err);
    if (status == FR_OK) status = check_batch(run, err);
    if (status == FR_OK) status = check_tokens(run, err);
    if (status == FR_OK) status = check_stages(run, chain.n_layers, err);
    fr_chain_free(&chain);
    return status == FR_OK ? check_compression(run, err) : status;
}
