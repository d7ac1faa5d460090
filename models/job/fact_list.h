/* Read more than once, so without guard.  Rows alone, one for every fact of a runtime.
 *
 *  FR_FACT(code, PLAN(key of the plan), "help")
 *  FR_FACT(code, MODEL("key", function, "its value|another" or NULL, least, most), "help")
 *  FR_FACT(code, SHARE/NUMBER/TIME/OWN("path below device", FIELD, whose width), "help")
 *  FR_FACT(code, SECONDS("path below device", most, FIELD), "help")
 *  FR_FACT(code, SIZE/BYTES("path below device", most, FIELD), "help")
 *  FR_FACT(code, PRODUCT/GROUPS("path below device", dtype), "help")
 *  FR_FACT(code, SOFTWARE("key", least, most), "help") */

FR_FACT(gradient_dtype, MODEL("model.gradient_dtype", take_gradients, "bf16|fp32", 0, 0),
        "what gradients are added up and reduced in")
FR_FACT(fp8_scaling, MODEL("model.fp8_scaling", take_scaling, "block", 0, 0),
        "how products of 8 bits scale: a scale a block")
FR_FACT(attention_dtype, MODEL("model.attention_dtype", take_attention, "fp8", 0, 0),
        "what fused attention computes in")
FR_FACT(logits_dtype, MODEL("model.logits_dtype", take_logits, "fp8", 0, 0),
        "what the product of logits is made in")
FR_FACT(weight_dtype, MODEL("model.weight_dtype", take_weights, "fp8", 0, 0),
        "what weights are gathered and kept in for products")
FR_FACT(document, MODEL("model.document", take_document, NULL, 1, 1e9),
        "tokens of a document in packed samples")

FR_FACT(attention, PLAN(attention), "kernel of attention")
FR_FACT(sequence_parallel, PLAN(sequence_parallel), "norms and dropout divided over tp")
FR_FACT(rank_order, PLAN(rank_order), "how ranks are numbered")
FR_FACT(etp, PLAN(etp), "ranks that divide one expert")
FR_FACT(zero, PLAN(zero), "what replicas divide of the optimiser, gradients and weights")
FR_FACT(zero_exchange, PLAN(zero_exchange), "how zero 1 exchanges gradients and parameters")
FR_FACT(zero_ranks, PLAN(zero_ranks),
        "how many replicas divide that; node: those that share fast links")
FR_FACT(overlap, PLAN(overlap), "what runs beside the backward pass")
FR_FACT(
    bucket, PLAN(bucket),
    "most bytes of gradients that go at once; a formula of numbers, dp, cp, max(,) and min(,): "
    "most values")
FR_FACT(overlap_tp, PLAN(overlap_tp), "exchanges of tp beside their products, in pieces")
FR_FACT(recompute, PLAN(recompute), "activations that the backward pass makes again")
FR_FACT(offload, PLAN(offload), "what lives in the host's memory")
FR_FACT(accumulation, PLAN(accumulation),
        "gradients of micro-batches added by the products that make them, or apart")
FR_FACT(schedule, PLAN(schedule), "order of a pipeline stage's passes")
FR_FACT(loss, PLAN(loss), "how the loss is computed: how often logits are held")
FR_FACT(dispatch_ranks, PLAN(dispatch_ranks),
        "ranks of an expert group to which a token is sent once; domain: those that share fast "
        "links")
FR_FACT(graphs, PLAN(graphs), "what is recorded in graphs")
FR_FACT(overlap_experts, PLAN(overlap_experts),
        "exchanges of experts beside another micro-batch")
FR_FACT(stage_layers, PLAN(stage_layers),
        "layers of each stage; lighter: the last stages have what is left")

FR_FACT(attention_plain, SHARE("attention.plain", attention.plain, FR_VALUE_PLAIN),
        "share of the peak of batched products over the scores")
FR_FACT(attention_flash, SHARE("attention.flash", attention.flash, FR_VALUE_FLASH),
        "share of the peak of the release's fused kernel, forward")
FR_FACT(attention_flash_2, SHARE("attention.flash_2", attention.flash_2, FR_VALUE_FLASH_2),
        "of FlashAttention-2's")
FR_FACT(attention_flash_1, SHARE("attention.flash_1", attention.flash_1, FR_VALUE_FLASH_1),
        "of FlashAttention's of 2022")
FR_FACT(attention_backward,
        NUMBER("attention.backward", 1e-6, 10, attention.backward, FR_VALUE_FLASH_BACKWARD),
        "rate of a fused kernel's backward pass over its forward's")
FR_FACT(attention_scan, SHARE("attention.scan", attention.scan, FR_VALUE_COUNT),
        "share of the peak of products of a state-space scan")
FR_FACT(attention_scan_backward,
        NUMBER("attention.scan_backward", 1e-6, 10, attention.scan_backward, FR_VALUE_COUNT),
        "rate of a scan's backward pass over its forward's")
FR_FACT(attention_eight_bits,
        NUMBER("attention.eight_bits", 1e-6, 10, attention.eight_bits, FR_VALUE_COUNT),
        "rate of the release's fused kernel at 8 bits over its rate at 16")
FR_FACT(attention_eight_bits_wide,
        NUMBER("attention.eight_bits_wide", 1e-6, 10, attention.eight_bits_wide,
               FR_VALUE_COUNT),
        "the same of wide heads, of latent attention")
FR_FACT(attention_exponentials,
        NUMBER("attention.exponentials", 1e-6, 1024, attention.exponentials, FR_VALUE_COUNT),
        "values of a head below which a forward kernel waits for its exponentials")
FR_FACT(attention_half_keys,
        NUMBER("attention.half_keys", 0, 1e6, attention.half_keys, FR_VALUE_COUNT),
        "keys of a query at which a fused kernel reaches half of its share")
FR_FACT(attention_backward_keys,
        NUMBER("attention.backward_keys", 0, 1e6, attention.backward_keys, FR_VALUE_COUNT),
        "the same of its backward pass; 0: attention.half_keys")
FR_FACT(
    attention_flash_2_backward,
    NUMBER("attention.flash_2_backward", 1e-6, 10, attention.flash_2_backward, FR_VALUE_COUNT),
    "rate of FlashAttention-2's backward pass over its forward's; not said: attention.backward")
FR_FACT(host_launch, TIME("host_launch", 3600, host_launch_s, FR_VALUE_HOST_LAUNCH),
        "time of the host to launch a kernel")
FR_FACT(host_skew, NUMBER("host_skew", 0, 100, host_skew, FR_VALUE_HOST_SKEW),
        "share by which the slowest of tp hosts lags, for each doubling of tp")
FR_FACT(host_pass, TIME("host_pass", 3600, host_pass_s, FR_VALUE_HOST_PASS),
        "time of the host around a pass of a pipeline stage")
FR_FACT(host_experts, TIME("host_experts", 3600, host_experts_s, FR_VALUE_HOST_EXPERTS),
        "time of the host to send a layer's tokens to their experts")
FR_FACT(host_overlap, NUMBER("host_overlap", 0, 100, host_overlap, FR_VALUE_COUNT),
        "share by which the host takes longer for layers that are cut to hide exchanges")
FR_FACT(fixed, TIME("fixed", 86400, fixed_s, FR_VALUE_FIXED),
        "time of an iteration besides its work")
FR_FACT(
    dummy_gradients, OWN("dummy_gradients", 0, 2, framework.dummy_gradients),
    "tensors kept in place of weight gradients that products add up: 0 none, 1 one for each "
    "shape of weights, 2 those of experts too")
FR_FACT(workspace, BYTES("workspace", 1e12, framework.workspace_B), "memory that products take")
FR_FACT(grouped_workspace, BYTES("grouped_workspace", 1e12, framework.grouped_workspace_B),
        "the same of experts' products in groups, besides")
FR_FACT(stage_buffers, OWN("framework.stage_buffers", 0, 1000, framework.stage_buffers),
        "micro-batches for each stage of a pipeline that every stage but the last holds; 0: as "
        "many as the schedule says")
FR_FACT(layer_copies, OWN("framework.layer_copies", 0, 100, framework.layer_copies),
        "times that a stage of a pipeline holds what a layer works with; 0: once")
FR_FACT(stage_messages, OWN("framework.stage_messages", 0, 100, framework.stage_messages),
        "messages that a stage of a pipeline keeps of a micro-batch until its backward pass")
FR_FACT(whole_messages, OWN("framework.whole_messages", 0, 1, framework.whole_messages),
        "1: each rank of tp sends a stage's whole output, not its part")
FR_FACT(gradient_copy, BYTES("framework.gradient_copy", 1e12, framework.gradient_copy_B),
        "copy of gradients in which replicas reduce them, a trained parameter")
FR_FACT(reduce_buffer, BYTES("framework.reduce_buffer", 1e12, framework.reduce_buffer_B),
        "buffer in which replicas reduce gradients")
FR_FACT(saved_logits, OWN("framework.kept_logits", 0, 1, framework.saved_logits),
        "1: the caller of the loss keeps the logits until its gradient is there")
FR_FACT(
    wide_shards, OWN("framework.wide_shards", 0, 1, framework.wide_shards),
    "1: with zero 3 parameters stay in the optimiser's fp32 alone, and narrow where they are "
    "gathered")
FR_FACT(step_copy, BYTES("framework.step_copy", 1e12, framework.step_copy_B),
        "what a step lays out anew, a parameter that a replica updates: reserved besides")
FR_FACT(
    update_traffic, BYTES("framework.update_traffic", 1e12, framework.update_traffic_B),
    "what a step reads and writes, a parameter that a replica updates; 0: each of its tensors "
    "once")
FR_FACT(reduce_traffic, BYTES("framework.reduce_traffic", 1e12, framework.reduce_traffic_B),
        "what replicas move to copy gradients into buckets and back, a trained parameter")
FR_FACT(norm_traffic, OWN("framework.norm_traffic", 0, 100, framework.norm_traffic),
        "what norms read and write, with casts to 32 bits, over their values once a pass; 0: 1")
FR_FACT(unfused, OWN("framework.unfused", 0, 1, framework.unfused),
        "1: each element-wise operation of a block is a kernel of its own, as in PyTorch's "
        "eager mode; "
        "0: they are fused or compiled")
FR_FACT(casts, OWN("framework.casts", 0, 1, framework.casts),
        "1: each forward pass makes weights narrow that are wider than its products (autocast, "
        "where model.weight_dtype is wider)")
FR_FACT(frees_gradients, OWN("framework.frees_gradients", 0, 1, framework.frees_gradients),
        "1: the update of a lone replica frees gradients, and each is there from its backward "
        "pass on")
FR_FACT(update_rate, OWN("framework.update_rate", 0, 1, framework.update_rate),
        "share of memory's rate that the optimiser's kernels reach; 0: all of it")
FR_FACT(
    kernel_gap, SECONDS("framework.kernel_gap", 3600, framework.kernel_gap_s),
    "time between two kernels on the device, where its own launch is longer; 0: that launch")
FR_FACT(spared_kernels, OWN("framework.spared_kernels", 0, 8, framework.spared_kernels),
        "kernels of a layer's forward pass that fused ones spare")
FR_FACT(gathers, OWN("gathers", 0, 1, framework.gathers),
        "what zero 2 and 3 hold whole at a time: 0 two layers, 1 two weights and a gradient")
FR_FACT(fp8_efficiency, PRODUCT("gemm.fp8.efficiency", FR_FP8),
        "share of the peak that large products of 8 bits reach")
FR_FACT(fp4_efficiency, PRODUCT("gemm.fp4.efficiency", FR_FP4), "likewise of 4 bits")
FR_FACT(fp8_grouped, GROUPS("gemm.fp8.grouped", FR_FP8),
        "share of products of 8 bits made at once, of experts, over that of one alone")
FR_FACT(fp4_grouped, GROUPS("gemm.fp4.grouped", FR_FP4), "likewise of 4 bits")

FR_FACT(allocator_least, NUMBER("allocator.least", 1, 10, shown.least, FR_VALUE_COUNT),
        "least memory that the allocator runs with, over the peak of tensors")
FR_FACT(allocator_least_deviation,
        NUMBER("allocator.least_deviation", 0, 1, shown.least_deviation, FR_VALUE_COUNT),
        "standard deviation of that")
FR_FACT(allocator_reserved, NUMBER("allocator.reserved", 1, 10, shown.reserved, FR_VALUE_COUNT),
        "memory that it reserves at ease, over the same")
FR_FACT(allocator_reserved_deviation,
        NUMBER("allocator.reserved_deviation", 0, 1, shown.reserved_deviation, FR_VALUE_COUNT),
        "standard deviation of that")
FR_FACT(context, SIZE("context", 1e12, shown.context_B),
        "memory of a process beside the allocator's: context, libraries, kernels")
FR_FACT(communicators_first, SIZE("communicators.first", 1e12, shown.first_B),
        "memory of the first communicator, where there are several ranks")
FR_FACT(communicators_each, SIZE("communicators.each", 1e12, shown.each_B),
        "memory of the communicator of an axis")
FR_FACT(communicators_all_to_all, SIZE("communicators.all_to_all", 1e12, shown.all_to_all_B),
        "memory of the buffers of an all-to-all of eight ranks or more")
FR_FACT(context_deviation, SIZE("context_deviation", 1e12, shown.deviation_B),
        "standard deviation of context and communicators together")

FR_FACT(drift, SOFTWARE("drift", -1, 1),
        "change of the logarithm of a step's time a year, for software that no release dates")
