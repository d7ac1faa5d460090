#include "real/apps/mesh/layer.h"

/* What the layers of a decoder pass on is two matrices. */
static fr_status check_crossing(const struct fr_real_case *run, struct fr_error *err) {
    const struct fr_plan *plan = run->plan;
    const struct fr_plan_compression *c = &plan->compression;
    if (run->workload->transformer.cross_layers == 0) return FR_OK;
    if (plan->method != &fr_method_tensor || plan->sequence_parallel)
        return fr_fail(err, FR_ERR_INPUT, NULL,
                       "cross-attention is run with method tensor, without sequence_parallel");
    if (plan->pp > 1 && (plan->chunks > 1 || c->scope != FR_SCOPE_NONE || c->forward_rank > 0))
        return fr_fail(err, FR_ERR_INPUT, NULL,
                       "stages of an encoder and a decoder are run with one chunk each and "
                       "messages that go whole");
    return FR_OK;
}

fr_status fr_layer_check(const struct fr_unit *u, struct fr_error *err) {
    const struct fr_transformer *t = &u->run->workload->transformer;
    const char *lacks =
        t->gated                  ? "gated MLPs are not trained here"
        : t->experts              ? "mixtures of experts are not trained here"
        : t->kv_heads != t->heads ? "grouped key-value heads are not trained here"
        : t->qk_norms             ? "norms of queries and keys are not trained here"
        : !t->norm_biases         ? "RMSNorm is not trained here; \"norm\": \"layer\" is"
        : !t->biases              ? "products without biases are not trained here"
        : t->predicted            ? "further tokens are not predicted here"
        : t->kv_latent            ? "latent attention is not trained here"
        : t->both_ways            ? "attention in both directions is not trained here"
        : t->masked_head          ? "a head for masked words is not trained here"
        : t->pattern[0]           ? "hybrids of one block a layer are not trained here"
        : t->lora_rank            ? "adapters beside frozen weights are not trained here"
                                  : NULL;
    if (lacks) return fr_fail(err, FR_ERR_INPUT, NULL, "%s", lacks);
    FR_TRY(check_crossing(u->run, err));
    FR_TRY(fr_real_divides("the number of heads", t->heads, "tp", u->tp, err));
    return fr_real_divides("the MLP's width", t->ffn, "tp", u->tp, err);
}

/* ---- buffers --------------------------------------------------------------------------------- */

static fr_recompute again(const struct fr_unit *u) { return u->run->plan->recompute; }

/* Is nothing kept but the input? */
static bool keeps_input(const struct fr_unit *u) {
    return again(u) == FR_RECOMPUTE_FULL && !u->splits;
}

/* Values of the parts of the room: what a pass has; what is deferred, and what is saved, where weights'
 * gradients follow at once; a softmax, and an output, that are made again. */
enum { PASS, DEFERRED, SAVED, SOFTMAX, OUTPUT, PARTS };
static void parts_of(const struct fr_unit *u, int64_t n[PARTS]) {
    n[PASS] = u->kind->way->room(u);
    n[DEFERRED] = u->kind->way->deferred(u);
    n[SAVED] = keeps_input(u) ? u->kind->way->saved(u, false) : 0;
    n[SOFTMAX] = again(u) != FR_RECOMPUTE_NONE ? u->kind->way->softmax(u) : 0;
    n[OUTPUT] = again(u) == FR_RECOMPUTE_FULL ? (int64_t)u->out * u->columns : 0;
}

int64_t fr_layer_room(const struct fr_unit *u) {
    int64_t n[PARTS], sum = 0;
    parts_of(u, n);
    for (int i = 0; i < PARTS; i++) sum += n[i];
    return sum;
}

static void *part_at(const struct fr_real *real, const struct fr_unit *u, int part) {
    int64_t n[PARTS], before = 0;
    parts_of(u, n);
    for (int i = 0; i < part; i++) before += n[i];
    return fr_at(real->k, u->room, (size_t)before);
}

/* What is saved; what is deferred, and the gradient of the output, where they must last. */
void fr_layer_keeps(const struct fr_unit *u, int64_t n[3]) {
    n[0] = keeps_input(u) ? 0 : u->kind->way->saved(u, again(u) == FR_RECOMPUTE_NONE);
    n[1] = u->splits ? u->kind->way->deferred(u) : 0;
    n[2] = u->splits ? (int64_t)u->out * u->columns : 0;
}

static struct fr_layer_at places(const struct fr_real *real, const struct fr_unit *u,
                                 const struct fr_unit_kept *kept) {
    bool all = again(u) == FR_RECOMPUTE_NONE;
    return (struct fr_layer_at){
        .room = part_at(real, u, PASS),
        .deferred = kept->more,
        .saved = keeps_input(u) ? part_at(real, u, SAVED) : kept->own[0],
        .softmax = all ? NULL : part_at(real, u, SOFTMAX),
    };
}

/* ---- passes ---------------------------------------------------------------------------------- */

fr_status fr_layer_forward(struct fr_real *real, struct fr_unit *u, struct fr_unit_kept *kept,
                           void *next, struct fr_error *err) {
    const struct fr_layer_at at = places(real, u, kept);
    return u->kind->way->forward(real, u, &at, kept->x, next, err);
}

/* What the forward pass made and did not keep. */
static fr_status recompute(struct fr_real *real, struct fr_unit *u, struct fr_unit_kept *kept,
                           const struct fr_layer_at *at, struct fr_error *err) {
    if (again(u) == FR_RECOMPUTE_FULL)
        return fr_layer_forward(real, u, kept, part_at(real, u, OUTPUT), err);
    if (again(u) == FR_RECOMPUTE_SELECTIVE) return u->kind->way->attend(real, u, at, err);
    return FR_OK;
}

fr_status fr_layer_input(struct fr_real *real, struct fr_unit *u, struct fr_unit_kept *kept,
                         void *dy, void *dx, struct fr_error *err) {
    int values = u->out * u->columns;
    kept->d = u->splits ? kept->own[2] : dy;
    kept->more = u->splits ? kept->own[1] : part_at(real, u, DEFERRED);
    if (u->splits) FR_COMPUTE(real, real->k->copy(1, values, dy, values, kept->d, values));
    const struct fr_layer_at at = places(real, u, kept);
    FR_TRY(recompute(real, u, kept, &at, err));
    return u->kind->way->input(real, u, &at, kept->x, dy, dx, err);
}

void fr_layer_weight(struct fr_real *real, struct fr_unit *u, const struct fr_unit_kept *kept) {
    const struct fr_layer_at at = places(real, u, kept);
    u->kind->way->weight(real, u, &at, kept->x, kept->d);
}
