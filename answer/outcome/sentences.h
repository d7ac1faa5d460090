/* Sentence of a reason with the numbers of a plan: the first of the reason's rows whose condition holds.
 *
 *  WHY(reason, condition, "format", numbers ...)    WHY_BY(reason, condition, function)
 *
 * Rows may use the outcome @c out, its @c plan, the @c job, its workload @c w and transformer @c t
 * (answer/outcome/reason.c). */

WHY(RANKS, true, "the plan has %" PRId64 " ranks, the cluster holds %" PRId64, out->ranks,
    fr_levels_largest(&job->cluster.levels))
WHY(MESH, true, "dp x pp x tp does not make the %" PRId64 " ranks asked for", out->ranks)

WHY(PIPELINE, t->cross_layers,
    "pp = %" PRId64 " with several chunks a stage: the encoder's output, which "
    "cross-attention reads, would travel with messages of some and not of others, which have "
    "one price",
    plan->pp)
WHY(PIPELINE, true, "pp = %" PRId64 ": a grid per layer is priced without pipeline only",
    plan->pp)

WHY(STAGES, clocks, "clock lists %d stages, the plan has pp = %" PRId64, clocks, plan->pp)
WHY(STAGES, caps, "power_cap lists %d stages, the plan has pp = %" PRId64, caps, plan->pp)
WHY(STAGES, fr_plan_reduces(plan) && plan->compression.gradient_stages > plan->pp,
    "compression.gradient.stages = %" PRId64 ", the plan has pp = %" PRId64,
    plan->compression.gradient_stages, plan->pp)
WHY(STAGES, plan->gradient_ranks && plan->n_gradient_ranks != plan->compression.gradient_stages,
    "compression.gradient.ranks lists %d stages, compression.gradient.stages says %" PRId64,
    plan->n_gradient_ranks, plan->compression.gradient_stages)
WHY(STAGES, w->n_layers, "the model's layers do not make %" PRId64 " stages of %s",
    plan->pp * plan->chunks,
    plan->stage_layers ? "the numbers in stage_layers" : "one at least")
WHY(STAGES, w->stages.listed, "the model lists %d stages, the plan has pp = %" PRId64,
    w->stages.listed, plan->pp)
WHY(STAGES, plan->stage_layers,
    "stage_layers lists %d stages of %" PRId64 " layers in all; the plan has pp = %" PRId64
    ", the model %" PRId64 " layers",
    plan->n_stage_layers, listed_layers(plan), plan->pp, t->layers)
WHY(STAGES, true, "the model has %" PRId64 " layers, too few for pp x chunks = %" PRId64 "%s",
    t->layers, plan->pp * plan->chunks,
    plan->chunks > 1 ? ", embedding and logits counted as layers" : "")

WHY(METHOD, t->lora_rank > 0 && !plan->method->megatron,
    "lora_rank: adapters are divided as method tensor divides their products; how method %s "
    "would nobody has said",
    plan->method->name)
WHY(METHOD, t->predicted > 0 && !plan->method->megatron,
    "predicted_tokens: what predicts a further token is divided as method tensor does; how "
    "method %s would nobody has said",
    plan->method->name)
WHY(METHOD, fr_attention_is_special(t) && !plan->method->megatron,
    "latent attention is divided by heads, as method tensor does; how method %s would divide "
    "its narrow products nobody has said",
    plan->method->name)
WHY(METHOD, fr_transformer_is_hybrid(t) && !plan->method->megatron,
    "pattern: blocks of a hybrid are divided as method tensor divides them; how method %s "
    "would nobody has said",
    plan->method->name)
WHY(METHOD, plan->sequence_parallel,
    "sequence_parallel has nothing to divide with method %s: what is between its products is "
    "divided over tp already, by values or by samples",
    plan->method->name)
WHY(METHOD, true,
    "experts are divided by methods tensor and grid, not by %s: how a router's choice meets "
    "it nobody has said",
    plan->method->name)

WHY_BY(SCHEDULE, true, say_schedule)
WHY(NO_CLOSED_FORM, true,
    "blocking exchanges (p2p duplex) have no closed form; use --engine event")
WHY_BY(IDLE_KEY, true, say_idle_key)

WHY(OVERLAP, plan->blocking,
    "overlap would have no effect where launches block: nothing runs beside what the host "
    "waits for")
WHY(OVERLAP, plan->zero == 3,
    "overlap would have no effect with zero 3, which gathers parameters and scatters "
    "gradients beside every pass anyway")
WHY(OVERLAP, true,
    "overlap would have no effect where the gradients of all stages go compressed: a codec "
    "waits for all of them")

WHY(RECOMPUTE, t->layers && !plan->method->megatron,
    "recompute %s is priced for method tensor: what method %s would keep nobody has said",
    fr_recompute_text(plan->recompute, word, sizeof word), plan->method->name)
WHY(RECOMPUTE, t->layers, "recompute %s %s",
    fr_recompute_text(plan->recompute, word, sizeof word), fr_recompute_refused(w, plan))
WHY(RECOMPUTE, true, "recompute is priced for transformers only")

WHY(LOSSY, out->lossy_forward > 0,
    "%.3g of the gradient bytes and %.3g of the backward messages go compressed, and %.3g of "
    "the messages forward",
    out->lossy_gradient, out->lossy_backward, out->lossy_forward)
WHY(LOSSY, true, "%.3g of the gradient bytes and %.3g of the backward messages go compressed",
    out->lossy_gradient, out->lossy_backward)
WHY(COMPRESSION, true, "%s (zero = %" PRId64 ", pp = %" PRId64 ")", fr_codec_refused(job, plan),
    plan->zero, plan->pp)
WHY(SIZE, true, "the pipeline has too many passes to go through one by one")

WHY(DTYPE, device->gemm[w->dtype].form,
    "fp4 is a format of a transformer's products by methods tensor and grid; what others send "
    "between products nobody trains in")
WHY(DTYPE, true, "the cluster's device does not say how fast it is in %s",
    fr_dtype_names[w->dtype])

WHY(ZERO_RANKS, true,
    "zero_ranks = %" PRId64 " does not divide the %" PRId64
    " ranks that hold the same parameters (dp x cp%s)",
    plan->zero_ranks, fr_plan_replicas(plan),
    t->experts ? "; of experts dp x cp x tp / (ep x etp)" : "")
WHY(BATCH, true, "global_batch = %" PRId64 " is not divisible by dp = %" PRId64, batch,
    plan->dp)
WHY(MICRO_BATCH, true,
    "the %" PRId64 " samples of a rank are not divisible by micro_batch = %" PRId64,
    batch / plan->dp, plan->micro_batch)
WHY_BY(WIDTH, true, say_width)
WHY_BY(HEADS, true, say_heads)
WHY_BY(SEQUENCE, true, say_sequence)
WHY_BY(EXPERTS, true, say_experts)
WHY(TOO_WIDE, true, "a layer has fewer output channels than the ranks that should divide them")
WHY(LAYER, plan->method->branches,
    "batch norms, residual blocks and means are divided by method grid; how method %s would "
    "nobody has said",
    plan->method->name)
WHY(LAYER, true, "method %s divides fully connected layers only; use grid for convolutions",
    plan->method->name)

WHY(DOMAIN, plan->domain > fr_domain_most(w),
    "domain = %" PRId64 ", the model begins with %d convolutions", plan->domain,
    fr_domain_most(w))
WHY(DOMAIN, fr_domain_cuts(w, plan->domain),
    "domain = %" PRId64 " ends inside a residual block, which is divided as a whole",
    plan->domain)
WHY(DOMAIN, true,
    "domain = %" PRId64 ": %" PRId64 " ranks leave one of them no row of a layer's image, or "
                                     "fewer rows than its neighbour reads",
    plan->domain, plan->tp)
WHY(LAYER_TP, plan->layer_tp_best && !plan->layer_tp,
    "no grid per layer of the ranks of a stage fits the model, the batch and the memory")
WHY(LAYER_TP, plan->n_layer_tp != (t->layers ? FR_GRIDS : w->n_layers),
    "layer_tp has %d entries, the model %d %s", plan->n_layer_tp,
    t->layers ? FR_GRIDS : w->n_layers,
    t->layers ? "groups: attention, MLP, embedding and logits" : "layers")
WHY(LAYER_TP, out->engine && !(fr_pipeline_check(job, plan) & FR_BECAUSE(FR_REASON_LAYER_TP)),
    "a grid per layer is priced by the closed form only")
WHY_BY(LAYER_TP, t->layers, say_layer_tp)
WHY(LAYER_TP, true,
    "layer_tp needs method grid, a value a layer, and values that divide the ranks and leave "
    "a data axis that divides the batch")

WHY_BY(CACHE, t->cached > 0, say_cache)
WHY(CACHE, true, "a pass behind cached tokens is not priced of this model or plan")

WHY(GHOST, true, "method %s needs ghost, the number of ghost neurons (at least 1)",
    plan->method->name)
WHY(GHOST_EQ8, true,
    "ghost = %" PRId64 " is not below (n/p)(1 - 1/p) = %g for n = %g, p = %g (Eq. 8): "
    "the phantom model would not be smaller than the tensor-parallel one",
    plan->ghost, narrowest(w, plan) / (double)plan->tp * (1 - 1 / (double)plan->tp),
    narrowest(w, plan), (double)plan->tp)
WHY_BY(BRANCHES, true, say_branches)
WHY(PLACEMENT, fr_rank_map_refused(plan), "%s", fr_rank_map_refused(plan))
WHY(PLACEMENT, true, "a grid per layer is priced with linear placement")

WHY_BY(MEMORY, out->memory_spare < FR_FITS_REFUSED, say_device)
WHY(MEMORY, device->host_memory_B > 0 && out->host_memory_B > device->host_memory_B,
    "what is offloaded needs %s, a device's share of the host's memory is %s",
    size(out->host_memory_B, word), size(device->host_memory_B, other))
WHY(MEMORY, true, "the fullest rank's tensors take %s, more than --memory-limit allows",
    size(out->memory_peak_B, word))
WHY_BY(UNSURE, true, say_unsure)
WHY_BY(ITERATIONS, true, say_iterations)

WHY(POWER, !device->power.known, "the cluster's device states no power, so energy is unknown")
WHY(POWER, !device->clock.known,
    "the cluster's device states no \"clock\", so what %s does is unknown",
    plan->cap_W && !plan->clock_Hz ? "power_cap" : "clock")
WHY(POWER, true, "a clock of the plan is outside the %.0f to %.0f MHz of the device",
    device->clock.min_Hz / 1e6, device->clock.max_Hz / 1e6)
WHY(HOST, device->host_link_B_per_s > 0,
    "offload needs the rate at which a device's share of the host takes the optimiser's step: "
    "give it with --set cluster.device.host_bandwidth=\"30 GB/s\"")
WHY(HOST, true,
    "offload needs the rate of a device's link to the host's memory: give it with --set "
    "cluster.device.host_link=\"25 GB/s\"")
