/* Read by models/outcome/reason.c and a test, so without guard.  Rows alone, several of a name: why a plan cannot be.
 *
 *  FR_REASON_SAYS(reason, when, "sentence with its numbers", numbers ...)
 *  FR_REASON_WRITES(reason, when, call)            a sentence that takes more than numbers
 *
 *  Of the rows of a reason the first counts whose condition holds; the last holds always.  What rows may name stands in
 *  fr_report_reason: job, plan, out, t (the transformer), w (the model), megatron, batch, clocks and caps (values listed
 *  for another number of stages).  To add a reason: its name in models/plan/reason.h, the code that finds it, a row. */

FR_REASON_SAYS(RANKS, true, "the plan has %" PRId64 " ranks, the cluster holds %" PRId64,
               out->ranks, fr_levels_largest(&job->cluster.levels))
FR_REASON_SAYS(MESH, true, "dp x pp x tp does not make the %" PRId64 " ranks asked for",
               out->ranks)

FR_REASON_SAYS(
    PIPELINE, t->cross_layers,
    "pp = %" PRId64 " with several chunks a stage: the encoder's output, which cross-attention "
    "reads, would travel with messages of some and not of others, which have one price",
    plan->pp)
FR_REASON_SAYS(PIPELINE, true,
               "pp = %" PRId64 ": a grid per layer is priced without pipeline only", plan->pp)

FR_REASON_SAYS(STAGES, clocks, "clock lists %d stages, the plan has pp = %" PRId64, clocks,
               plan->pp)
FR_REASON_SAYS(STAGES, caps, "power_cap lists %d stages, the plan has pp = %" PRId64, caps,
               plan->pp)
FR_REASON_SAYS(STAGES, fr_plan_reduces(plan) && plan->compression.gradient_stages > plan->pp,
               "compression.gradient.stages = %" PRId64 ", the plan has pp = %" PRId64,
               plan->compression.gradient_stages, plan->pp)
FR_REASON_SAYS(STAGES, w->n_layers, "the model's layers do not make %" PRId64 " stages of %s",
               plan->pp * plan->chunks,
               plan->stage_layers ? "the numbers in stage_layers" : "one at least")
FR_REASON_SAYS(STAGES, w->stages.listed,
               "the model lists %d stages, the plan has pp = %" PRId64, w->stages.listed,
               plan->pp)
FR_REASON_SAYS(STAGES, plan->stage_layers,
               "stage_layers lists %d stages of %" PRId64
               " layers in all; the plan has pp = %" PRId64 ", the model %" PRId64 " layers",
               plan->n_stage_layers, listed_layers(plan), plan->pp, t->layers)
FR_REASON_SAYS(STAGES, true,
               "the model has %" PRId64 " layers, too few for pp x chunks = %" PRId64 "%s",
               t->layers, plan->pp * plan->chunks,
               plan->chunks > 1 ? ", embedding and logits counted as layers" : "")

FR_REASON_SAYS(
    METHOD, t->lora_rank > 0 && !megatron,
    "lora_rank: adapters are divided as method tensor divides their products; how method "
    "%s would nobody has said",
    plan->method->name)
FR_REASON_SAYS(
    METHOD, t->predicted > 0 && !megatron,
    "predicted_tokens: what predicts a further token is divided as method tensor does; "
    "how method %s would nobody has said",
    plan->method->name)
FR_REASON_SAYS(
    METHOD, t->kv_latent > 0 && !megatron,
    "latent attention is divided by heads, as method tensor does; how method %s would "
    "divide its narrow products nobody has said",
    plan->method->name)
FR_REASON_SAYS(
    METHOD, fr_transformer_is_hybrid(t) && !megatron,
    "pattern: blocks of a hybrid are divided as method tensor divides them; how method %s "
    "would nobody has said",
    plan->method->name)
FR_REASON_SAYS(METHOD, !plan->method->stage,
               "method %s does not say how it divides a transformer; see forerun list methods",
               plan->method->name)
FR_REASON_SAYS(
    METHOD, plan->sequence_parallel,
    "sequence_parallel has nothing to divide with method %s: what is between its products "
    "is divided over tp already, by values or by samples",
    plan->method->name)
FR_REASON_SAYS(
    METHOD, true,
    "experts are divided by methods tensor and grid, not by %s: how a router's choice "
    "meets it nobody has said",
    plan->method->name)

FR_REASON_WRITES(SCHEDULE, true, reason_schedule(job, out, text))
FR_REASON_SAYS(NO_CLOSED_FORM, true,
               "blocking exchanges (p2p duplex) have no closed form; use --engine event")
FR_REASON_WRITES(IDLE_KEY, true, reason_idle(job, plan, text))

FR_REASON_SAYS(
    OVERLAP, plan->blocking,
    "overlap would have no effect where launches block: nothing runs beside what the host "
    "waits for")
FR_REASON_SAYS(
    OVERLAP, plan->zero == 3,
    "overlap would have no effect with zero 3, which gathers parameters and scatters "
    "gradients beside every pass anyway")
FR_REASON_SAYS(
    OVERLAP, true,
    "overlap would have no effect where the gradients of all stages go compressed: a codec "
    "waits for all of them")

FR_REASON_SAYS(
    RECOMPUTE, t->layers && !megatron,
    "recompute %s is priced for method tensor: what method %s would keep nobody has said",
    fr_recompute_text(plan->recompute, word, sizeof word), plan->method->name)
FR_REASON_SAYS(RECOMPUTE, t->layers, "recompute %s %s",
               fr_recompute_text(plan->recompute, word, sizeof word),
               fr_recompute_refused(w, plan))
FR_REASON_SAYS(RECOMPUTE, true, "recompute is priced for transformers only")

FR_REASON_SAYS(
    LOSSY, out->lossy_forward > 0,
    "%.3g of the gradient bytes and %.3g of the backward messages go compressed, and %.3g "
    "of the messages forward",
    out->lossy_gradient, out->lossy_backward, out->lossy_forward)
FR_REASON_SAYS(LOSSY, true,
               "%.3g of the gradient bytes and %.3g of the backward messages go compressed",
               out->lossy_gradient, out->lossy_backward)
FR_REASON_SAYS(COMPRESSION, true, "%s (zero = %" PRId64 ", pp = %" PRId64 ")",
               fr_codec_refused(job, plan), plan->zero, plan->pp)

FR_REASON_SAYS(SIZE, true, "the pipeline has too many passes to go through one by one")
FR_REASON_SAYS(
    DTYPE, job->cluster.device.gemm[w->dtype].form,
    "fp4 is a format of a transformer's products by methods tensor and grid; what others "
    "send between products nobody trains in")
FR_REASON_SAYS(DTYPE, true, "the cluster's device does not say how fast it is in %s",
               fr_dtype_names[w->dtype])
FR_REASON_SAYS(ZERO_RANKS, true,
               "zero_ranks = %" PRId64 " does not divide the %" PRId64
               " ranks that hold the same parameters (dp x cp%s)",
               plan->zero_ranks, fr_plan_replicas(plan),
               t->experts ? "; of experts dp x cp x tp / (ep x etp)" : "")
FR_REASON_SAYS(BATCH, true, "global_batch = %" PRId64 " is not divisible by dp = %" PRId64,
               batch, plan->dp)
FR_REASON_SAYS(MICRO_BATCH, true,
               "the %" PRId64 " samples of a rank are not divisible by micro_batch = %" PRId64,
               batch / plan->dp, plan->micro_batch)

FR_REASON_WRITES(WIDTH, true, reason_width(job, plan, text))
FR_REASON_WRITES(HEADS, true, say_transformer(job, plan, reason, text))
FR_REASON_WRITES(SEQUENCE, true, say_transformer(job, plan, reason, text))
FR_REASON_WRITES(EXPERTS, true, say_transformer(job, plan, reason, text))
FR_REASON_SAYS(TOO_WIDE, true,
               "a layer has fewer output channels than the ranks that should divide them")
FR_REASON_WRITES(BRANCHES, true, reason_branches(job, plan, text))
FR_REASON_SAYS(PLACEMENT, fr_seats_refused(plan), "%s", fr_seats_refused(plan))
FR_REASON_SAYS(PLACEMENT, true, "a grid per layer is priced with linear placement")
FR_REASON_SAYS(LAYER, true,
               "method %s divides fully connected layers only; use grid for convolutions",
               plan->method->name)
FR_REASON_WRITES(LAYER_TP, true, reason_layer_tp(job, out, text))

FR_REASON_SAYS(GHOST, true, "method %s needs ghost, the number of ghost neurons (at least 1)",
               plan->method->name)
FR_REASON_WRITES(GHOST_EQ8, true, reason_eq8(job, out, text))
FR_REASON_WRITES(MEMORY, true, reason_memory(job, out, text))
FR_REASON_WRITES(UNSURE, true, reason_unsure(job, out, text))
FR_REASON_WRITES(ITERATIONS, true, reason_iterations(job, out, text))

FR_REASON_SAYS(
    HOST, job->cluster.device.host_link_B_per_s > 0,
    "offload needs the rate at which a device's share of the host takes the optimiser's "
    "step: give it with --set cluster.device.host_bandwidth=\"30 GB/s\"")
FR_REASON_SAYS(
    HOST, true,
    "offload needs the rate of a device's link to the host's memory: give it with --set "
    "cluster.device.host_link=\"25 GB/s\"")
FR_REASON_SAYS(POWER, !device->power.known,
               "the cluster's device states no power, so energy is unknown")
FR_REASON_SAYS(POWER, !device->clock.known,
               "the cluster's device states no \"clock\", so what %s does is unknown",
               plan->cap_W && !plan->clock_Hz ? "power_cap" : "clock")
FR_REASON_SAYS(POWER, true, "a clock of the plan is outside the %.0f to %.0f MHz of the device",
               device->clock.min_Hz / 1e6, device->clock.max_Hz / 1e6)
