#include "models/plan/plan.h"

#include <stdlib.h>

struct fr_plan fr_plan_default(void) {
    return (struct fr_plan){.dp = 1,
                            .pp = 1,
                            .tp = 1,
                            .cp = 1,
                            .ep = 1,
                            .method = fr_methods[0],
                            .schedule = &fr_schedule_one_f_one_b,
                            .chunks = 1,
                            .bucket_size_B = FR_BUCKET_B,
                            .reshards = true,
                            .placement = fr_placement_default(),
                            .compression = {.codec = &fr_compression_powersgd,
                                            .backward_rank = 16,
                                            .lazy_error = true,
                                            .gradient_rank = 128}};
}

const char *const fr_offload_names[] = {"none", "activations", "optimizer", "all", NULL};
const char *const fr_graphs_names[] = {"none", "layers", "iteration", NULL};
const char *const fr_phantom_parts_names[] = {"mlp", "attention", "all", NULL};
const char *const fr_branches_names[] = {"heads", "attention", "layer", NULL};
const char *const fr_common_names[] = {"all", "subgrid", NULL};
const char *const fr_exchange_names[] = {"all_to_all", "all_gather", NULL};
const char *const fr_context_names[] = {"ring", "all-to-all", NULL};
const char *const fr_divide_names[] = {"rows", "pairs", NULL};
const char *const fr_rank_order_names[] = {"tp-pp-dp", "tp-dp-pp", NULL};
const char *const fr_attention_names[] = {"plain", "flash", "flash-2", "flash-1", NULL};
const char *const fr_scope_names[] = {"none", "epilogue", "all", NULL};
const char *const fr_pass_names[] = {"both", "forward", NULL};
const char *const fr_p2p_names[] = {"async", "duplex", NULL};
const char *const fr_overlap_names[] = {"none", "gradient", NULL};
const char *const fr_accumulation_names[] = {"fused", "apart", NULL};
const char *const fr_launches_names[] = {"ahead", "blocking", NULL};
const char *const fr_sync_names[] = {"micro_batch", "iteration", NULL};
const char *const fr_zero_exchange_names[] = {"gather", "broadcast", NULL};
const char *const fr_embedding_names[] = {"separate", "fused", NULL};
const char *const fr_layer_tp_words[] = {"uniform", "best", NULL};
const char *const fr_stage_layers_words[] = {"equal", "best", NULL};
const char *const fr_gradient_ranks_words[] = {"one", "best", NULL};
const char *const fr_clock_words[] = {"full", "slack", NULL};
const char *const fr_cap_words[] = {"none", NULL};

void fr_plan_drop_loss(struct fr_plan *plan) {
    const bool fused = plan->compression.fused_embedding;
    plan->compression = fr_plan_default().compression;
    plan->compression.fused_embedding = fused;
    plan->gradient_ranks = NULL;
    plan->n_gradient_ranks = 0;
    plan->gradient_ranks_best = false;
}

void fr_plan_lists_free(struct fr_plan_lists *lists) {
    free(lists->layer_tp);
    free(lists->stage_layers);
    free(lists->gradient_ranks);
    free(lists->clock_Hz);
    free(lists->cap_W);
    fr_schedule_order_free(&lists->order);
    free(lists->rank_map);
    *lists = (struct fr_plan_lists){0};
}
