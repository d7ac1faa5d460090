#include "models/plan.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

const char *const fr_plan_keys[] = {"dp",
                                    "pp",
                                    "tp",
                                    "method",
                                    "ghost",
                                    "global_batch",
                                    "micro_batch",
                                    "schedule",
                                    "chunks",
                                    "p2p",
                                    "recompute",
                                    "overlap",
                                    "compression",
                                    "placement",
                                    "common",
                                    "exchange",
                                    "branches",
                                    "iterations",
                                    "layer_tp",
                                    "stage_layers",
                                    "sequence_parallel",
                                    "bucket",
                                    "attention",
                                    "rank_order",
                                    "cp",
                                    "zero",
                                    "ep",
                                    "etp",
                                    "overlap_experts",
                                    NULL};

struct fr_plan fr_plan_default(void) {
    return (struct fr_plan){.dp = 1,
                            .pp = 1,
                            .tp = 1,
                            .cp = 1,
                            .ep = 1,
                            .method = &fr_method_tensor,
                            .schedule = &fr_schedule_one_f_one_b,
                            .chunks = 1,
                            .placement = fr_placement_default(),
                            .compression = {.codec = &fr_compression_powersgd,
                                            .backward_rank = 16,
                                            .lazy_error = true,
                                            .gradient_rank = 128}};
}

const char *const fr_branches_names[] = {"heads", "attention", "layer", NULL};
const char *const fr_common_names[] = {"all", "subgrid", NULL};
const char *const fr_exchange_names[] = {"all_to_all", "all_gather", NULL};

static fr_status read_placement(const struct fr_json *root, struct fr_plan *plan,
                                int64_t **owned, struct fr_error *err) {
    struct fr_json node = fr_json_member(root, "placement");
    const char *text = NULL;
    char where[384];
    if (!fr_json_present(&node)) return FR_OK;
    if (fr_json_is_array(&node))
        return fr_placement_read_list(&node, &plan->placement, owned, err);
    FR_TRY(fr_json_text(&node, &text, err));
    return fr_placement_parse(text, fr_json_where(&node, where, sizeof where), &plan->placement,
                              owned, err);
}

static fr_status read_subgraph(const struct fr_json *root, struct fr_plan *plan,
                               struct fr_error *err) {
    int common = 0, exchange = 0, branches = 0;
    FR_TRY(fr_json_get_choice(root, "common", false, fr_common_names, &common, err));
    FR_TRY(fr_json_get_choice(root, "exchange", false, fr_exchange_names, &exchange, err));
    FR_TRY(fr_json_get_choice(root, "branches", false, fr_branches_names, &branches, err));
    plan->common_subgrid = common == 1;
    plan->gather_all = exchange == 1;
    plan->branches = (fr_branches)branches;
    return FR_OK;
}

/* The order of a file or list says how many stages and chunks there are, unless the plan does. */
static fr_status take_order(const struct fr_json *root, struct fr_plan *plan,
                            const struct fr_schedule_order *order) {
    struct fr_json pp = fr_json_member(root, "pp"), chunks = fr_json_member(root, "chunks");
    if (!fr_json_present(&pp)) plan->pp = order->stages;
    if (!fr_json_present(&chunks)) plan->chunks = order->chunks;
    plan->schedule = &fr_schedule_custom;
    plan->order = order;
    return FR_OK;
}

/* A row's name, the path of a file (it has a slash or ends in .json), or the order itself. */
static fr_status read_order(const struct fr_json *root, struct fr_plan *plan,
                            struct fr_schedule_order *order, struct fr_error *err) {
    struct fr_json node = fr_json_member(root, "schedule");
    const char *names[16] = {NULL}, *text = NULL;
    int which = 0;
    if (!fr_json_present(&node)) return FR_OK;
    if (!fr_json_is_string(&node)) {
        FR_TRY(fr_schedule_order_read(&node, order, err));
        return take_order(root, plan, order);
    }
    FR_TRY(fr_json_text(&node, &text, err));
    size_t length = strlen(text);
    if (strchr(text, '/') || (length > 5 && strcmp(text + length - 5, ".json") == 0)) {
        FR_TRY(fr_schedule_order_read_file(text, order, err));
        return take_order(root, plan, order);
    }
    for (int i = 0; fr_schedules[i]; i++) names[i] = fr_schedules[i]->name;
    FR_TRY(fr_json_get_choice(root, "schedule", false, names, &which, err));
    plan->schedule = fr_schedules[which];
    if (plan->schedule != &fr_schedule_custom) return FR_OK;
    struct fr_schedule_args none = {1, 1, 1, NULL};
    return fr_json_fail(&node, err, "%s", fr_schedule_custom.refuses(&none));
}

static fr_status read_schedule(const struct fr_json *root, struct fr_plan *plan,
                               struct fr_schedule_order *order, struct fr_error *err) {
    static const char *const p2p[] = {"async", "duplex", NULL};
    int mode = 0, recompute = 0, attention = 0, rank_order = 0;
    FR_TRY(fr_json_get_choice(root, "p2p", false, p2p, &mode, err));
    FR_TRY(fr_json_get_choice(root, "recompute", false, fr_recompute_names, &recompute, err));
    FR_TRY(fr_json_get_choice(root, "attention", false, fr_attention_names, &attention, err));
    plan->recompute = (fr_recompute)recompute;
    FR_TRY(
        fr_json_get_choice(root, "rank_order", false, fr_rank_order_names, &rank_order, err));
    plan->attention = (fr_attention)attention;
    plan->rank_order = (fr_rank_order)rank_order;
    plan->duplex = mode == 1;
    FR_TRY(fr_json_get_integer(root, "chunks", false, 1, 1024, &plan->chunks, err));
    return read_order(root, plan, order, err);
}

const char *const fr_rank_order_names[] = {"tp-pp-dp", "tp-dp-pp", NULL};
const char *const fr_attention_names[] = {"plain", "flash", "flash-2", "flash-1", NULL};
const char *const fr_scope_names[] = {"none", "epilogue", "all", NULL};

static fr_status read_backward(const struct fr_json *node, struct fr_plan_compression *c,
                               struct fr_error *err) {
    static const char *const keys[] = {"rank", "scope", "lazy_error", NULL};
    int scope = FR_SCOPE_NONE;
    if (!fr_json_present(node)) return FR_OK;
    FR_TRY(fr_json_object(node, keys, err));
    FR_TRY(fr_json_get_choice(node, "scope", false, fr_scope_names, &scope, err));
    FR_TRY(fr_json_get_integer(node, "rank", false, 1, 1 << 20, &c->backward_rank, err));
    FR_TRY(fr_json_get_bool(node, "lazy_error", false, &c->lazy_error, err));
    c->scope = (fr_scope)scope;
    return FR_OK;
}

static fr_status read_gradient(const struct fr_json *node, struct fr_plan_compression *c,
                               struct fr_error *err) {
    static const char *const keys[] = {"rank", "stages", NULL};
    if (!fr_json_present(node)) return FR_OK;
    FR_TRY(fr_json_object(node, keys, err));
    FR_TRY(fr_json_get_integer(node, "rank", false, 1, 1 << 20, &c->gradient_rank, err));
    return fr_json_get_integer(node, "stages", false, 0, FR_RANKS_MAX, &c->gradient_stages,
                               err);
}

static fr_status read_compression(const struct fr_json *root, struct fr_plan_compression *c,
                                  struct fr_error *err) {
    static const char *const keys[] = {"backward", "embedding", "gradient", "codec", NULL};
    static const char *const embeddings[] = {"separate", "fused", NULL};
    const char *codecs[16] = {NULL};
    struct fr_json node = fr_json_member(root, "compression");
    int embedding = 0, codec = 0;
    for (int i = 0; fr_compressions[i]; i++) codecs[i] = fr_compressions[i]->name;
    if (!fr_json_present(&node)) return FR_OK;
    FR_TRY(fr_json_object(&node, keys, err));
    struct fr_json backward = fr_json_member(&node, "backward");
    struct fr_json gradient = fr_json_member(&node, "gradient");
    FR_TRY(fr_json_get_choice(&node, "embedding", false, embeddings, &embedding, err));
    FR_TRY(fr_json_get_choice(&node, "codec", false, codecs, &codec, err));
    c->fused_embedding = embedding == 1;
    c->codec = fr_compressions[codec];
    FR_TRY(read_backward(&backward, c, err));
    return read_gradient(&gradient, c, err);
}

/* An array of integers, each least.. */
static fr_status read_list(const struct fr_json *node, int64_t least, int64_t **list, int *n,
                           struct fr_error *err) {
    FR_TRY(fr_json_array(node, 1, FR_LAYER_MAX, err));
    *n = (int)fr_json_array_length(node);
    *list = fr_calloc((size_t)*n, sizeof **list);
    if (!*list) return fr_json_fail(node, err, "does not fit in memory");
    for (int i = 0; i < *n; i++) {
        struct fr_json one = fr_json_element(node, i);
        FR_TRY(fr_json_integer(&one, least, FR_RANKS_MAX, &(*list)[i], err));
    }
    return FR_OK;
}

static fr_status read_stage_layers(const struct fr_json *root, struct fr_plan *plan,
                                   int64_t **list, struct fr_error *err) {
    struct fr_json node = fr_json_member(root, "stage_layers");
    if (!fr_json_present(&node)) return FR_OK;
    FR_TRY(read_list(&node, 0, list, &plan->n_stage_layers, err));
    plan->stage_layers = *list;
    return FR_OK;
}

static fr_status read_overlap(const struct fr_json *root, struct fr_plan *plan,
                              struct fr_error *err) {
    static const char *const overlaps[] = {"none", "gradient", NULL};
    struct fr_json bucket = fr_json_member(root, "bucket");
    double bucket_B = FR_BUCKET_B;
    int overlap = 0;
    FR_TRY(fr_json_get_choice(root, "overlap", false, overlaps, &overlap, err));
    FR_TRY(
        fr_json_get_quantity(root, "bucket", false, FR_QUANTITY_SIZE, 1, 1e15, &bucket_B, err));
    if (overlap == 0 && fr_json_present(&bucket))
        return fr_json_fail(&bucket, err, "has no effect without \"overlap\": \"gradient\"");
    plan->bucket_B = overlap ? bucket_B : 0;
    return FR_OK;
}

static fr_status read_layer_tp(const struct fr_json *root, struct fr_plan *plan, int64_t **list,
                               struct fr_error *err) {
    static const char *const modes[] = {"uniform", "best", NULL};
    struct fr_json node = fr_json_member(root, "layer_tp");
    int mode = 0;
    if (!fr_json_present(&node)) return FR_OK;
    if (!fr_json_is_array(&node)) {
        FR_TRY(fr_json_get_choice(root, "layer_tp", false, modes, &mode, err));
        plan->layer_tp_best = mode == 1;
        return FR_OK;
    }
    FR_TRY(read_list(&node, 1, list, &plan->n_layer_tp, err));
    plan->layer_tp = *list;
    return FR_OK;
}

const char *fr_plan_pipeline_key(const struct fr_plan *plan) {
    return plan->schedule != fr_plan_default().schedule ? "schedule"
           : plan->chunks != 1                          ? "chunks"
           : plan->duplex                               ? "p2p"
           : plan->bucket_B > 0                         ? "overlap"
           : plan->cp > 1                               ? "cp"
           : plan->ep > 1                               ? "ep"
           : plan->etp > 0                              ? "etp"
           : plan->zero > 0                             ? "zero"
           : plan->sequence_parallel                    ? "sequence_parallel"
           : plan->stage_layers                         ? "stage_layers"
                                                        : NULL;
}

void fr_plan_lists_free(struct fr_plan_lists *lists) {
    free(lists->layer_tp);
    free(lists->stage_layers);
    fr_schedule_order_free(&lists->order);
    free(lists->seats);
    *lists = (struct fr_plan_lists){0};
}

fr_status fr_plan_read(const struct fr_json_document *document, struct fr_plan *plan,
                       struct fr_plan_lists *lists, struct fr_error *err) {
    struct fr_json root = fr_json_root(document), ghost = fr_json_member(&root, "ghost");
    int method = 0;
    *plan = fr_plan_default();
    *lists = (struct fr_plan_lists){0};
    FR_TRY(fr_json_object(&root, fr_plan_keys, err));
    FR_TRY(fr_json_get_integer(&root, "dp", false, 1, FR_RANKS_MAX, &plan->dp, err));
    FR_TRY(fr_json_get_integer(&root, "pp", false, 1, FR_RANKS_MAX, &plan->pp, err));
    FR_TRY(fr_json_get_integer(&root, "tp", false, 1, FR_RANKS_MAX, &plan->tp, err));
    if ((double)plan->dp * (double)plan->pp * (double)plan->tp > (double)FR_RANKS_MAX)
        return fr_json_fail(&root, err, "dp, pp and tp make more than 2^40 ranks");
    FR_TRY(fr_json_get_choice(&root, "method", false, fr_method_names, &method, err));
    plan->method = fr_methods[method];
    FR_TRY(fr_json_get_integer(&root, "ghost", false, 0, FR_RANKS_MAX, &plan->ghost, err));
    if (fr_json_present(&ghost) && plan->ghost == 0 && plan->method->uses_ghost)
        return fr_json_fail(&ghost, err, "is 0; expected at least 1 ghost neuron");
    FR_TRY(fr_json_get_integer(&root, "global_batch", false, 1, FR_RANKS_MAX,
                               &plan->global_batch, err));
    FR_TRY(fr_json_get_integer(&root, "micro_batch", false, 1, FR_RANKS_MAX, &plan->micro_batch,
                               err));
    FR_TRY(fr_json_get_number(&root, "iterations", false, 1e-9, 1e15, &plan->iterations, err));
    FR_TRY(read_schedule(&root, plan, &lists->order, err));
    FR_TRY(read_placement(&root, plan, &lists->seats, err));
    FR_TRY(read_subgraph(&root, plan, err));
    FR_TRY(read_compression(&root, &plan->compression, err));
    FR_TRY(read_overlap(&root, plan, err));
    FR_TRY(fr_json_get_integer(&root, "cp", false, 1, 1 << 20, &plan->cp, err));
    FR_TRY(fr_json_get_integer(&root, "ep", false, 1, 1 << 20, &plan->ep, err));
    FR_TRY(fr_json_get_integer(&root, "etp", false, 1, 1 << 20, &plan->etp, err));
    FR_TRY(fr_json_get_bool(&root, "overlap_experts", false, &plan->overlap_experts, err));
    FR_TRY(fr_json_get_integer(&root, "zero", false, 0, 3, &plan->zero, err));
    FR_TRY(fr_json_get_bool(&root, "sequence_parallel", false, &plan->sequence_parallel, err));
    FR_TRY(read_stage_layers(&root, plan, &lists->stage_layers, err));
    return read_layer_tp(&root, plan, &lists->layer_tp, err);
}
