/* Read more than once, so without guard.  Rows alone, no file each: one for every key of a plan.
 *
 *  FR_PLAN_KEY(word, "name in files", KIND(...), FIELD of struct fr_plan, "how it stands in a line",
 *              said, what must hold that anything reads it, "default, where a word says it better",
 *              "help")
 *
 *  Rows stand in the order of the line, and those of one object side by side.  A key whose need
 *  hangs on another key comes after it.  `stated` CHANGED: in the line where it is not at its
 *  default; ALWAYS: wherever it is read; WHERE(needs): where that holds, too.  Needs:
 *  models/plan/need_list.h. */

FR_PLAN_KEY(method, "method", ROW(fr_methods, fr_method_names), FIELD(method), "%s", ALWAYS,
            NEED(DIVIDED), NULL,
            "how layers divide over tp; of `subgraph` tp is the number of ways g")
FR_PLAN_KEY(tp, "tp", INTEGER(1, FR_RANKS_MAX), FIELD(tp), " tp %s", ALWAYS, 0, NULL,
            "tensor parallel: ranks that share a layer, neighbours")
FR_PLAN_KEY(dp, "dp", INTEGER(1, FR_RANKS_MAX), FIELD(dp), " x dp %s", ALWAYS, 0, NULL,
            "data parallel: replicas of the model")
FR_PLAN_KEY(pp, "pp", INTEGER(1, FR_RANKS_MAX), FIELD(pp), " x pp %s", CHANGED, 0, NULL,
            "pipeline stages; with listed stages or an order of your own their number")
FR_PLAN_KEY(pass, "pass", CHOICE(fr_pass_names), FIELD(forward), ", %s only", CHANGED, 0, NULL,
            "`both`: a training step; `forward`: inference on the whole batch, without "
            "gradients and optimiser")
FR_PLAN_KEY(cp, "cp", INTEGER(1, 1 << 20), FIELD(cp), " x cp %s", CHANGED, NEED(TRANSFORMER),
            NULL,
            "context parallel: neighbouring replicas that share a sequence (see "
            "`context`). Ranks = dp·cp·pp·tp")
FR_PLAN_KEY(context, "context", CHOICE(fr_context_names), FIELD(context_heads), " by %s",
            CHANGED, NEED(TRANSFORMER) | NEED(CONTEXT), NULL,
            "how ranks that share a sequence exchange: `ring` passes keys and values round "
            "beside the attention; `all-to-all` (Ulysses) trades tokens for heads and back")
FR_PLAN_KEY(ep, "ep", INTEGER(1, 1 << 20), FIELD(ep), ", ep %s", CHANGED, NEED(EXPERTS), NULL,
            "expert parallel: neighbouring replicas that share the experts. "
            "dp·cp·tp/(ep·etp) ranks hold the same experts and reduce their gradients")
FR_PLAN_KEY(etp, "etp", INTEGER(1, 1 << 20), FIELD(etp), ", etp %s", CHANGED, NEED(EXPERTS),
            "tp",
            "ranks that divide one expert: tp, or 1 for whole experts (with "
            "`sequence_parallel`; `ep` then counts the tp ranks too)")
FR_PLAN_KEY(ghost, "ghost", INTEGER(0, FR_RANKS_MAX), FIELD(ghost), ", k %s", ALWAYS,
            NEED(GHOST), NULL, "ghost neurons a rank")
FR_PLAN_KEY(phantom_parts, "phantom_parts", CHOICE(fr_phantom_parts_names),
            FIELD(phantom_parts), " in %s", CHANGED, NEED(GHOST) | NEED(TRANSFORMER), NULL,
            "which matrices of a transformer are phantom: the `mlp`'s, those of the "
            "`attention` (queries, keys and values; output), or `all`")
FR_PLAN_KEY(branches, "branches", CHOICE(fr_branches_names), FIELD(branches), ", %s", CHANGED,
            NEED(SUBGRAPH) | NEED(TRANSFORMER) | NEED(WAYS), NULL,
            "which part of a transformer forms parallel branches: the `heads`, the whole "
            "`attention`, or each `layer`'s attention and MLP")
FR_PLAN_KEY(common, "common", CHOICE(fr_common_names), FIELD(common_subgrid), ", cSub", CHANGED,
            NEED(SUBGRAPH) | NEED(WAYS), NULL,
            "common layers on `all` ranks (D&SP), or on the first `subgrid` (D&SP-cSub)")
FR_PLAN_KEY(exchange, "exchange", CHOICE(fr_exchange_names), FIELD(gather_all), ", gather",
            CHANGED, NEED(SUBGRAPH) | NEED(WAYS) | NEED(SLICES), NULL,
            "slices by `all_to_all`, or by `all_gather`, which sends tp times the bytes")
FR_PLAN_KEY(divide, "divide", CHOICE(fr_divide_names), FIELD(pairs), ", %s", CHANGED,
            NEED(GRID) | NEED(TRANSFORMER) | NEED(GROUPS), NULL,
            "how the second of two products is divided: by `rows` too (Eq. 4 of the 1.5D "
            "paper), or in `pairs` by its columns (Megatron, as method tensor)")
FR_PLAN_KEY(domain, "domain", INTEGER(0, FR_LAYER_MAX), FIELD(domain), ", domain %s", CHANGED,
            NEED(GRID) | NEED(IMAGES) | NEED(WAYS), NULL,
            "convolutions, from the first, whose images tp divides by height in place of "
            "their filters, with halos between neighbours; 0: none")
FR_PLAN_KEY(placement, "placement", PLACEMENT(), FIELD(placement), ", %s", CHANGED, 0, NULL,
            "rank mapping: `linear`, `balanced`, `round-robin`, `by-axis:tp` or "
            "`by-axis:dp-tp-pp` (innermost first), `file:PATH`, a list, `optimised` or "
            "`optimised:SEED`")
FR_PLAN_KEY(rank_order, "rank_order", CHOICE(fr_rank_order_names), FIELD(rank_order), ", %s",
            CHANGED, NEED(REPLICAS) | NEED(STAGES) | NEED(TP_FIRST), NULL,
            "which ranks are neighbours after tp: `tp-pp-dp`, or `tp-dp-pp` as in "
            "Megatron-LM")
FR_PLAN_KEY(schedule, "schedule", ORDER(), FIELDS(schedule, order), ", %s", WHERE(NEED(STAGES)),
            NEED(PASSES) | NEED(ORDERED), NULL,
            "order of a stage's operations; or your own order, as a list or a file (its "
            "path has a slash or ends in `.json`)")
FR_PLAN_KEY(chunks, "chunks", INTEGER(1, 1024), FIELD(chunks), " with %s virtual stages",
            CHANGED, NEED(PASSES) | NEED(CHUNKED) | NEED(INTERLEAVES), NULL,
            "model chunks a rank (virtual stages), for interleaved schedules")
FR_PLAN_KEY(p2p, "p2p", CHOICE(fr_p2p_names), FIELD(duplex), ", %s", CHANGED,
            NEED(PASSES) | NEED(STAGES), NULL,
            "`async`: a message delays its reader only; `duplex`: blocking pairs, event "
            "engine only")
FR_PLAN_KEY(backward_scope, "compression.backward.scope", CHOICE(fr_scope_names),
            FIELD(compression.scope), ", CB %s", CHANGED, NEED(TRAINED) | NEED(PIPELINE), NULL,
            "which backward messages between stages are compressed; `epilogue`: those that "
            "a stage reads after its last forward pass")
FR_PLAN_KEY(backward_rank, "compression.backward.rank", INTEGER(1, 1 << 20),
            FIELD(compression.backward_rank), " r%s", ALWAYS, NEED(PIPELINE) | NEED(SCOPE),
            NULL, "rank that backward messages are compressed to")
FR_PLAN_KEY(lazy_error, "compression.backward.lazy_error", BOOL(),
            FIELD(compression.lazy_error), " without lazy error", CHANGED,
            NEED(PIPELINE) | NEED(SCOPE), NULL,
            "add what compression removed from a message to the next micro-batch's message")
FR_PLAN_KEY(forward_rank, "compression.forward.rank", INTEGER(0, 1 << 20),
            FIELD(compression.forward_rank), ", CF r%s", CHANGED,
            NEED(TRAINED) | NEED(PIPELINE), NULL,
            "rank of the compressed activations between stages, with lazy error; 0: not "
            "compressed")
FR_PLAN_KEY(embedding, "compression.embedding", CHOICE(fr_embedding_names),
            FIELD(compression.fused_embedding), ", FE", CHANGED,
            NEED(TRAINED) | NEED(PIPELINE) | NEED(TIED), NULL,
            "the tied embedding's all-reduces; `fused`: one over 2 dp ranks")
FR_PLAN_KEY(gradient_stages, "compression.gradient.stages", INTEGER(0, FR_RANKS_MAX),
            FIELD(compression.gradient_stages), ", SC %s", CHANGED,
            NEED(TRAINED) | NEED(REDUCED), NULL,
            "number of stages, from the first, whose gradients are compressed (every "
            "weight matrix of a rank)")
FR_PLAN_KEY(gradient_rank, "compression.gradient.rank", INTEGER(1, 1 << 20),
            FIELD(compression.gradient_rank), " r%s", ALWAYS,
            NEED(REDUCED) | NEED(GRADIENT_STAGES) | NEED(ONE_RANK), NULL,
            "rank that gradients are compressed to; the largest that `best` ranks try")
FR_PLAN_KEY(gradient_ranks, "compression.gradient.ranks", LIST(fr_gradient_ranks_words, 0),
            FIELDS(gradient_ranks, gradient_ranks_best), ", ranks %s", CHANGED,
            NEED(REDUCED) | NEED(GRADIENT_STAGES), "`one`: `rank` for all",
            "rank of each of these stages, `[64, 32, 0]`, 0: not compressed; or `best`: the "
            "fastest of 0 and an eighth to all of `rank`, of equals the least compressed")
FR_PLAN_KEY(codec, "compression.codec", ROW(fr_compressions, fr_compression_names),
            FIELD(compression.codec), ", %s", CHANGED, NEED(CODED), NULL,
            "`powersgd` (factors, all-reduced) or `topk` (sparse parts, gathered from "
            "every replica). See "
            "[docs/reference/compositions.md](compositions.md#compression-with-axes)")
FR_PLAN_KEY(warm_up, "compression.warm_up", INTEGER(0, FR_RANKS_MAX),
            FIELD(compression.warm_up), ", warm-up %s", CHANGED, NEED(CODED), NULL,
            "iterations at the start without compression")
FR_PLAN_KEY(stage_layers, "stage_layers", LIST(fr_stage_layers_words, 0),
            FIELDS(stage_layers, stage_layers_best), ", layers %s", CHANGED,
            NEED(DIVIDED) | NEED(PASSES), "`equal`: as equal as can be",
            "layers of each stage, `[20, 16, 16, 20]`, or `best`: the fastest division. "
            "Embedding and logits come on top of the first and last stage")
FR_PLAN_KEY(sequence_parallel, "sequence_parallel", BOOL(), FIELD(sequence_parallel), ", SP",
            CHANGED, NEED(TRANSFORMER) | NEED(WAYS), NULL,
            "divide norms, dropouts and residuals over tp along the sequence; all-reduces "
            "become reduce-scatter and all-gather")
FR_PLAN_KEY(overlap_tp, "overlap_tp", BOOL(), FIELD(overlap_tp), ", tp overlap", CHANGED,
            NEED(TRANSFORMER) | NEED(WAYS) | NEED(SEQUENCE), NULL,
            "run the exchanges of tp in tp pieces beside the pieces of their products "
            "(Megatron's tp-comm-overlap); the first piece is exposed")
FR_PLAN_KEY(attention, "attention", CHOICE(fr_attention_names), FIELD(attention), ", %s",
            CHANGED, NEED(TRANSFORMER), NULL,
            "`plain` keeps the scores in memory; `flash` is one fused kernel that does "
            "not; `flash-2` and `flash-1` are its earlier generations")
FR_PLAN_KEY(zero, "zero", INTEGER(0, 3), FIELD(zero), ", zero %s", CHANGED,
            NEED(TRANSFORMER) | NEED(COPIES), NULL,
            "what replicas divide: 0 nothing, 1 optimiser state, 2 gradients too, 3 "
            "parameters too (FSDP). 2 and 3 exchange beside the passes")
FR_PLAN_KEY(zero_ranks, "zero_ranks", INTEGER(0, FR_RANKS_MAX), FIELD(zero_ranks), " of %s",
            CHANGED, NEED(COPIES) | NEED(ZERO), "all of them",
            "replicas in a group that divides the state (hybrid sharding, HSDP); groups "
            "hold copies and all-reduce among them; 0: all replicas")
FR_PLAN_KEY(
    zero_exchange, "zero_exchange", CHOICE(fr_zero_exchange_names), FIELD(broadcasts),
    ", parameters broadcast", CHANGED,
    NEED(TRAINED) | NEED(TRANSFORMER) | NEED(COPIES) | NEED(ZERO_1), NULL,
    "how zero 1 exchanges: `gather`: scatters gradients, gathers parameters; `broadcast`: "
    "all-reduces gradients, then each owner broadcasts its parameters (InternEvo, PyTorch's "
    "ZeroRedundancyOptimizer)")
FR_PLAN_KEY(reshard, "reshard_after_forward", BOOL(), FIELD(reshards), ", whole until backward",
            CHANGED, NEED(COPIES) | NEED(ZERO_3), NULL,
            "free a layer's parameters after its forward pass and gather them again for "
            "its backward pass (FSDP2's reshard_after_forward)")
FR_PLAN_KEY(gradient_sync, "gradient_sync", CHOICE(fr_sync_names), FIELD(sums_whole),
            ", gradients scattered once", CHANGED,
            NEED(TRAINED) | NEED(TRANSFORMER) | NEED(COPIES) | NEED(ZERO_2), NULL,
            "when zero 2 and 3 scatter gradients: after every `micro_batch`, or once an "
            "`iteration`, with whole gradients summed until then (FSDP's no_sync)")
FR_PLAN_KEY(overlap, "overlap", CHOICE(fr_overlap_names), FIELD(overlap), ", overlap", CHANGED,
            NEED(TRAINED) | NEED(REDUCED), NULL,
            "`none`: all-reduce gradients after the last backward pass; `gradient`: in "
            "buckets beside that pass (not for compressed gradients)")
FR_PLAN_KEY(bucket, "bucket", SIZE(1, 1e15), FIELD(bucket_size_B), " of %s", CHANGED,
            NEED(REDUCED) | NEED(OVERLAP) | NEED(BUCKETS), NULL, "largest bucket of gradients")
FR_PLAN_KEY(dispatch_ranks, "dispatch_ranks", INTEGER(0, FR_RANKS_MAX), FIELD(dispatch_ranks),
            ", one copy for %s rank(s)", CHANGED, NEED(EXPERTS) | NEED(SHARED),
            "a copy for each expert",
            "neighbours of ep that receive a token once and pass it on, such as the ranks "
            "of a node (DeepEP); 1: each rank once; 0: a copy for each expert")
FR_PLAN_KEY(overlap_experts, "overlap_experts", BOOL(), FIELD(overlap_experts),
            ", experts overlap", CHANGED, NEED(EXPERTS) | NEED(SHARED), NULL,
            "run the all-to-all to and from experts beside another micro-batch's products")
FR_PLAN_KEY(recompute, "recompute", MODULES(fr_recompute_names), FIELD(recompute),
            ", recompute %s", CHANGED, NEED(TRAINED), NULL,
            "activations that the backward pass computes again. "
            "See [docs/reference/plan-keys.md](plan-keys.md#recompute)")
FR_PLAN_KEY(recompute_layers, "recompute_layers", INTEGER(0, FR_RANKS_MAX),
            FIELD(recompute_layers), " of %s layers", CHANGED,
            NEED(TRAINED) | NEED(TRANSFORMER) | NEED(RECOMPUTED), "all of them",
            "layers of each chunk that recompute, from the first (Megatron's "
            "recompute_method block); 0: all")
FR_PLAN_KEY(offload, "offload", CHOICE(fr_offload_names), FIELD(offload), ", offload %s",
            CHANGED, NEED(TRAINED) | NEED(TRANSFORMER), NULL,
            "what the host's memory holds: `activations` of layers, the `optimizer` (the "
            "host then takes the step), or `all`")
FR_PLAN_KEY(offload_layers, "offload_layers", INTEGER(0, FR_RANKS_MAX), FIELD(offload_layers),
            " of %s layers", CHANGED, NEED(OFFLOADED), "all of them",
            "layers of a rank whose activations are offloaded, from the first; 0: all")
FR_PLAN_KEY(graphs, "graphs", CHOICE(fr_graphs_names), FIELD(graphs), ", graphs of %s", CHANGED,
            NEED(TRANSFORMER), NULL,
            "CUDA graphs: `layers` records each layer's pass except experts and their "
            "dispatch; `iteration` records everything")
FR_PLAN_KEY(accumulation, "accumulation", CHOICE(fr_accumulation_names), FIELD(adds_apart),
            ", gradients added %s", CHANGED, NEED(TRAINED) | NEED(TRANSFORMER), NULL,
            "`fused`: products add to the weight gradients of earlier micro-batches; "
            "`apart`: another kernel adds them, as plain autograd does")
FR_PLAN_KEY(loss, "loss", CHOICE(fr_loss_names), FIELD(loss), ", loss %s", CHANGED,
            NEED(TRAINED) | NEED(TRANSFORMER), NULL,
            "how the loss is computed, which decides memory and traffic of logits. "
            "See [docs/reference/plan-keys.md](plan-keys.md#loss)")
FR_PLAN_KEY(launches, "launches", CHOICE(fr_launches_names), FIELD(blocking), ", %s launches",
            CHANGED, NEED(TRANSFORMER) | NEED(KERNELS), NULL,
            "`ahead`: the host launches kernels while the device works; `blocking`: it "
            "waits for each (CUDA_LAUNCH_BLOCKING=1), and nothing overlaps")
FR_PLAN_KEY(global_batch, "global_batch", INTEGER(1, FR_RANKS_MAX), FIELD(global_batch),
            ", batch %s", CHANGED, 0, "the model's", "samples of one iteration")
FR_PLAN_KEY(micro_batch, "micro_batch", INTEGER(1, FR_RANKS_MAX), FIELD(micro_batch),
            ", micro-batch %s", CHANGED, 0,
            "all of a rank's; with pp > 1 and for kinds `transformer` and `stages`: the "
            "model's, else 1; method subgraph: all with one stage, else one a rank",
            "samples of one micro-batch, over the tp ranks that share it")
FR_PLAN_KEY(clock, "clock", QUANTITIES(fr_clock_words, 1e6, 1e11),
            FIELDS(clock_Hz, clock_slack), ", clock %s", CHANGED, NEED(PASSES), NULL,
            "clock of all stages, or of each: `[\"1.41 GHz\", \"1.2 GHz\"]`; `slack`: the "
            "clock of each pass that saves most energy without a longer iteration")
FR_PLAN_KEY(power_cap, "power_cap", QUANTITIES(fr_cap_words, 1, 1e6), FIELDS(cap_W, n_cap_W),
            ", at most %s", CHANGED, NEED(PASSES), NULL,
            "power limit of a device, one for all stages or one for each: the highest "
            "clock at which a busy device stays within it")
FR_PLAN_KEY(iterations, "iterations", NUMBER(1e-9, 1e15), FIELD(iterations), ", %s iterations",
            CHANGED, NEED(TRAINED), "the model's", "iterations to target loss")
FR_PLAN_KEY(layer_tp, "layer_tp", LIST(fr_layer_tp_words, 1), FIELDS(layer_tp, layer_tp_best),
            ", grids %s", CHANGED, NEED(GRID) | NEED(DIVIDED) | NEED(WHOLE_IMAGES), NULL,
            "grid rows P_r of each layer as a list (of a transformer: attention, MLP, "
            "embedding with logits), or `best`")
