/* Read more than once, so without guard.  Rows alone, no file each: one for every key of a plan.
 *
 *  FR_PLAN_KEY(word, "name in files", KIND(...), FIELD of struct fr_plan, "how it stands in a line",
 *              said, what must hold that anything reads it, "default, where a word says it better",
 *              "help")
 *
 *  Rows stand in the order of the line, and those of one object side by side.  A key whose need
 *  hangs on another key comes after it.  `said` CHANGED: in the line where it is not at its
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
FR_PLAN_KEY(
    pass, "pass", CHOICE(fr_pass_names), FIELD(forward), ", %s only", CHANGED, 0, NULL,
    "`both`: a training step; `forward`: the forward pass alone, over all micro-batches: no "
    "gradients, no optimiser, nothing kept for a backward pass")
FR_PLAN_KEY(
    cp, "cp", INTEGER(1, 1 << 20), FIELD(cp), " x cp %s", CHANGED, NEED(TRANSFORMER), NULL,
    "context parallel: neighbouring replicas that share a sequence (the ranks after tp with "
    "`rank_order` `tp-dp-pp` or `pp` 1), see `context`. Ranks = dp·cp·pp·tp")
FR_PLAN_KEY(
    context, "context", CHOICE(fr_context_names), FIELD(context_heads), " by %s", CHANGED,
    NEED(TRANSFORMER) | NEED(CONTEXT), NULL,
    "how ranks that share a sequence attend to all of it: keys and values go round a `ring` "
    "beside the attention, or queries, keys and values change by `all-to-all` from a "
    "share of the tokens to a share of the heads, and back after it (Ulysses)")
FR_PLAN_KEY(
    ep, "ep", INTEGER(1, 1 << 20), FIELD(ep), ", ep %s", CHANGED, NEED(EXPERTS), NULL,
    "expert parallel: neighbouring replicas that share the experts; tokens go to them and "
    "back by all-to-all. dp·cp·tp/(ep·etp) ranks hold the same ones: gradients are reduced "
    "over them")
FR_PLAN_KEY(etp, "etp", INTEGER(1, 1 << 20), FIELD(etp), ", etp %s", CHANGED, NEED(EXPERTS),
            "tp",
            "ranks that divide one expert: tp, or 1 (with `sequence_parallel`): whole experts, "
            "shared by the tp ranks too, which `ep` then counts")
FR_PLAN_KEY(ghost, "ghost", INTEGER(0, FR_RANKS_MAX), FIELD(ghost), ", k %s", ALWAYS,
            NEED(GHOST), NULL, "ghost neurons a rank")
FR_PLAN_KEY(branches, "branches", CHOICE(fr_branches_names), FIELD(branches), ", %s", CHANGED,
            NEED(SUBGRAPH) | NEED(TRANSFORMER) | NEED(WAYS), NULL,
            "which part of a transformer is branches: the `heads` between slice and "
            "concatenation, the whole `attention` between split and sum, or each `layer`'s "
            "attention and MLP")
FR_PLAN_KEY(common, "common", CHOICE(fr_common_names), FIELD(common_subgrid), ", cSub", CHANGED,
            NEED(SUBGRAPH) | NEED(WAYS), NULL,
            "common layers on `all` ranks (D&SP), or on the first `subgrid` (D&SP-cSub)")
FR_PLAN_KEY(
    exchange, "exchange", CHOICE(fr_exchange_names), FIELD(gather_all), ", gather", CHANGED,
    NEED(SUBGRAPH) | NEED(WAYS) | NEED(SLICES), NULL,
    "slices by `all_to_all`, or by `all_gather`, discarding what is not needed: tp times "
    "the bytes")
FR_PLAN_KEY(
    divide, "divide", CHOICE(fr_divide_names), FIELD(pairs), ", %s", CHANGED,
    NEED(GRID) | NEED(TRANSFORMER) | NEED(GROUPS), NULL,
    "of two products that follow each other the second too by its `rows` (Eq. 4 of the 1.5D "
    "paper), or in `pairs`, the second by its columns (Megatron, as method tensor)")
FR_PLAN_KEY(
    placement, "placement", PLACEMENT(), FIELD(placement), ", %s", CHANGED, 0, NULL,
    "where ranks sit: `linear` (in the order of their numbers), `balanced` (linear, with as "
    "many of each node and rack), `round-robin` (dealt to the nodes in turn), `by-axis:tp` or "
    "`by-axis:dp-tp-pp` (innermost first), `file:PATH` (a JSON list of the rank of each slot, "
    "or what `forerun place --json` "
    "prints) or that list itself, `optimised` or `optimised:SEED` (what makes the "
    "iteration shortest). Ranks are numbered tp first, of method subgraph the ranks of a "
    "sub-grid (dp) first")
FR_PLAN_KEY(rank_order, "rank_order", CHOICE(fr_rank_order_names), FIELD(rank_order), ", %s",
            CHANGED, NEED(REPLICAS) | NEED(STAGES) | NEED(TP_FIRST), NULL,
            "what neighbours follow after tp: `tp-pp-dp`, or `tp-dp-pp` as in Megatron-LM")
FR_PLAN_KEY(schedule, "schedule", ORDER(), FIELDS(schedule, order), ", %s", WHERE(NEED(STAGES)),
            NEED(PASSES) | NEED(ORDERED), NULL,
            "order of a stage's passes; the path of a file with an order of your own (it has a "
            "slash or ends in `.json`), or the order itself, below")
FR_PLAN_KEY(chunks, "chunks", INTEGER(1, 1024), FIELD(chunks), " with %s virtual stages",
            CHANGED, NEED(PASSES) | NEED(CHUNKED) | NEED(INTERLEAVES), NULL,
            "model chunks a rank, for interleaved")
FR_PLAN_KEY(
    p2p, "p2p", CHOICE(fr_p2p_names), FIELD(duplex), ", %s", CHANGED,
    NEED(PASSES) | NEED(STAGES), NULL,
    "`async`: a message holds up its reader only; `duplex`: blocking pairs, event engine "
    "only")
FR_PLAN_KEY(
    backward_scope, "compression.backward.scope", CHOICE(fr_scope_names),
    FIELD(compression.scope), ", CB %s", CHANGED, NEED(TRAINED) | NEED(PIPELINE), NULL,
    "which backward messages between stages go compressed; `epilogue`: those that a stage "
    "reads after its last forward pass, which nothing hides")
FR_PLAN_KEY(backward_rank, "compression.backward.rank", INTEGER(1, 1 << 20),
            FIELD(compression.backward_rank), " r%s", ALWAYS, NEED(PIPELINE) | NEED(SCOPE),
            NULL, "rank that they are compressed to")
FR_PLAN_KEY(lazy_error, "compression.backward.lazy_error", BOOL(),
            FIELD(compression.lazy_error), " without lazy error", CHANGED,
            NEED(PIPELINE) | NEED(SCOPE), NULL,
            "what a message lost is added to the next micro-batch's")
FR_PLAN_KEY(
    forward_rank, "compression.forward.rank", INTEGER(0, 1 << 20),
    FIELD(compression.forward_rank), ", CF r%s", CHANGED, NEED(TRAINED) | NEED(PIPELINE), NULL,
    "rank that all activations between stages are compressed to, what one lost added to "
    "the next micro-batch's; 0: they go whole")
FR_PLAN_KEY(embedding, "compression.embedding", CHOICE(fr_embedding_names),
            FIELD(compression.fused_embedding), ", FE", CHANGED,
            NEED(TRAINED) | NEED(PIPELINE) | NEED(TIED), NULL,
            "the tied embedding's all-reduces; `fused`: one over 2 dp ranks")
FR_PLAN_KEY(gradient_stages, "compression.gradient.stages", INTEGER(0, FR_RANKS_MAX),
            FIELD(compression.gradient_stages), ", SC %s", CHANGED,
            NEED(TRAINED) | NEED(REDUCED), NULL,
            "stages, from the first, whose gradients go compressed: every weight matrix that a "
            "rank holds, of convolutions filters as rows")
FR_PLAN_KEY(gradient_rank, "compression.gradient.rank", INTEGER(1, 1 << 20),
            FIELD(compression.gradient_rank), " r%s", ALWAYS,
            NEED(REDUCED) | NEED(GRADIENT_STAGES), NULL, "rank that they are compressed to")
FR_PLAN_KEY(
    codec, "compression.codec", ROW(fr_compressions, fr_compression_names),
    FIELD(compression.codec), ", %s", CHANGED, NEED(CODED), NULL,
    "`powersgd` (factors, all-reduced) or `topk` (sparse parts, gathered from every replica); "
    "what a rank does not shrink goes whole. [Which "
    "axes](compositions.md#compression-on-each-axis)")
FR_PLAN_KEY(warm_up, "compression.warm_up", INTEGER(0, FR_RANKS_MAX),
            FIELD(compression.warm_up), ", warm-up %s", CHANGED, NEED(CODED), NULL,
            "iterations before anything goes compressed: of those to the loss so many take as "
            "long as without")
FR_PLAN_KEY(
    stage_layers, "stage_layers", LIST(fr_stage_layers_words, 0),
    FIELDS(stage_layers, stage_layers_best), ", layers %s", CHANGED,
    NEED(DIVIDED) | NEED(PASSES), "`equal`: as equal as can be",
    "layers of each stage, `[20, 16, 16, 20]`, or `best`: those that make the iteration "
    "shortest; of a transformer embedding and logits "
    "come on top of the first and the last")
FR_PLAN_KEY(sequence_parallel, "sequence_parallel", BOOL(), FIELD(sequence_parallel), ", SP",
            CHANGED, NEED(TRANSFORMER) | NEED(WAYS), NULL,
            "norms, dropouts and residuals divided over tp along the sequence; all-reduces "
            "become reduce-scatter and all-gather")
FR_PLAN_KEY(overlap_tp, "overlap_tp", BOOL(), FIELD(overlap_tp), ", tp overlap", CHANGED,
            NEED(TRANSFORMER) | NEED(WAYS) | NEED(SEQUENCE), NULL,
            "the gathers before products and the scatters after them go in tp pieces round a "
            "ring beside the pieces of the products (tp-comm-overlap); the first piece shows, "
            "and what outlasts the products; forward products and the input gradient of the "
            "second of a pair are made and priced piece by piece, of tokens / tp each (but "
            "experts')")
FR_PLAN_KEY(attention, "attention", CHOICE(fr_attention_names), FIELD(attention), ", %s",
            CHANGED, NEED(TRANSFORMER), NULL,
            "`plain` (products with the scores in memory) or `flash` (one fused, causal kernel "
            "that keeps no scores; `flash-2`, `flash-1`: of that generation)")
FR_PLAN_KEY(
    zero, "zero", INTEGER(0, 3), FIELD(zero), ", zero %s", CHANGED,
    NEED(TRANSFORMER) | NEED(COPIES), NULL,
    "what ranks divide that hold the same parameters, dp·cp of them and of experts fewer "
    "(see `ep`): 1 optimiser state (a distributed optimiser), 2 gradients too, scattered "
    "after every micro-batch, 3 parameters too, gathered for every pass (FSDP). 2 and 3 run "
    "beside the passes; 3 with `overlap` is refused")
FR_PLAN_KEY(zero_ranks, "zero_ranks", INTEGER(0, FR_RANKS_MAX), FIELD(zero_ranks), " of %s",
            CHANGED, NEED(COPIES) | NEED(ZERO), "all of them",
            "how many neighbours of them divide it, the groups of so many holding it alike "
            "(hybrid sharding, HSDP): gradients are scattered within a group and all-reduced "
            "across groups, parameters gathered within it; 0: all")
FR_PLAN_KEY(
    reshard, "reshard_after_forward", BOOL(), FIELD(reshards), ", whole until backward",
    CHANGED, NEED(COPIES) | NEED(ZERO_3), NULL,
    "whether a layer's parameters, gathered for a forward pass, are given back behind it and "
    "gathered again for the backward pass; `false`: they stay whole between the two (FSDP2's "
    "reshard_after_forward)")
FR_PLAN_KEY(
    gradient_sync, "gradient_sync", CHOICE(fr_sync_names), FIELD(sums_whole),
    ", gradients scattered once", CHANGED,
    NEED(TRAINED) | NEED(TRANSFORMER) | NEED(COPIES) | NEED(ZERO_2), NULL,
    "when zero 2 and 3 scatter gradients: behind every `micro_batch`, or once an `iteration`, "
    "behind the last backward pass; until then they are added up whole on every rank (no_sync "
    "of FSDP, set_requires_gradient_sync of FSDP2)")
FR_PLAN_KEY(overlap, "overlap", CHOICE(fr_overlap_names), FIELD(overlap), ", overlap", CHANGED,
            NEED(TRAINED) | NEED(REDUCED), NULL,
            "`none`: gradients all-reduced after a stage's last backward pass; `gradient`: in "
            "buckets, each as soon as that pass has made it, beside what is left of the pass. "
            "Gradients that go compressed are not overlapped")
FR_PLAN_KEY(bucket, "bucket", SIZE(1, 1e15), FIELD(bucket_size_B), " of %s", CHANGED,
            NEED(REDUCED) | NEED(OVERLAP) | NEED(BUCKETS), NULL, "most bytes of such a bucket")
FR_PLAN_KEY(
    dispatch_ranks, "dispatch_ranks", INTEGER(0, FR_RANKS_MAX), FIELD(dispatch_ranks),
    ", one copy for %s rank(s)", CHANGED, NEED(EXPERTS) | NEED(SHARED),
    "a copy for each expert",
    "how many neighbours of ep get a token once and pass it on among themselves, such as "
    "the ranks of a node (DeepEP); 1: each rank once; 0: each expert")
FR_PLAN_KEY(overlap_experts, "overlap_experts", BOOL(), FIELD(overlap_experts),
            ", experts overlap", CHANGED, NEED(EXPERTS) | NEED(SHARED), NULL,
            "the all-to-all to and from experts runs beside another micro-batch's products")
FR_PLAN_KEY(
    recompute, "recompute", MODULES(fr_recompute_names), FIELD(recompute), ", recompute %s",
    CHANGED, NEED(TRAINED), NULL,
    "transformers: activations computed again in the backward pass; `selective`: of the "
    "attention core, `full`: all of a layer's; `save_qkv`: all but queries, keys and values, "
    "`save_qkv_out`: and what the attention's second product made (JAX's policies; methods "
    "tensor and grid). Megatron's modules, alone or together, of method tensor: `core_attn` is "
    "`selective`, `moe_act` the experts' activations, `layernorm` norms before experts and "
    "latent attention, `mla_up_proj` latent attention's wide products, `mlp` MLPs, `moe` "
    "experts "
    "with the way to them, `shared_experts`. `selective_op`: torchtitan's, every second "
    "product")
FR_PLAN_KEY(
    recompute_layers, "recompute_layers", INTEGER(0, FR_RANKS_MAX), FIELD(recompute_layers),
    " of %s layers", CHANGED, NEED(TRAINED) | NEED(TRANSFORMER) | NEED(RECOMPUTED),
    "all of them",
    "how many layers of each chunk of a stage recompute, the first ones; the others keep "
    "all (Megatron's recompute_method block); 0: all")
FR_PLAN_KEY(offload, "offload", CHOICE(fr_offload_names), FIELD(offload), ", offload %s",
            CHANGED, NEED(TRAINED) | NEED(TRANSFORMER), NULL,
            "what lives in the host's memory: `activations` (of layers: there behind every "
            "forward pass, "
            "back before its backward pass, beside the passes), the `optimizer` (gradients go "
            "there, the "
            "host takes the step, weights come back) or `all`; the device's `host_link`, "
            "`host_bandwidth` "
            "and `host_memory` say over what and how fast")
FR_PLAN_KEY(
    offload_layers, "offload_layers", INTEGER(0, FR_RANKS_MAX), FIELD(offload_layers),
    " of %s layers", CHANGED, NEED(OFFLOADED), "all of them",
    "of how many of a rank's layers the activations are offloaded, the first ones (0: all)")
FR_PLAN_KEY(
    graphs, "graphs", CHOICE(fr_graphs_names), FIELD(graphs), ", graphs of %s", CHANGED,
    NEED(TRANSFORMER), NULL,
    "what is recorded once and started again as a whole (CUDA graphs), so that the host "
    "launches it at once: `layers` each layer's pass, but for the experts and the way to "
    "them; `iteration` all of it, experts too")
FR_PLAN_KEY(
    accumulation, "accumulation", CHOICE(fr_accumulation_names), FIELD(adds_apart),
    ", gradients added %s", CHANGED, NEED(TRAINED) | NEED(TRANSFORMER), NULL,
    "weight gradients of the micro-batches before are added to by the products that make them "
    "(`fused`), or `apart`: a product writes its own, of the width that products write, which "
    "another kernel reads, as autograd does unless a framework has such products")
FR_PLAN_KEY(
    loss, "loss", CHOICE(fr_loss_names), FIELD(loss), ", loss %s", CHANGED,
    NEED(TRAINED) | NEED(TRANSFORMER), NULL,
    "how the loss is computed, which says how often the logits are held: Transformer Engine's "
    "`fused` (2 bytes a logit of 16 bits at its peak), Megatron's `native` fusion (4) or "
    "`unfused` (6), PyTorch's `eager` with a cast to 32 bits (12) or without (`eager-16`, 6), "
    "`compiled` (4), over a divided vocabulary `parallel` (16) or `parallel-compiled` (10), or "
    "`chunked`, head and loss in eight parts (1); memory alone reads it")
FR_PLAN_KEY(
    launches, "launches", CHOICE(fr_launches_names), FIELD(blocking), ", %s launches", CHANGED,
    NEED(TRANSFORMER) | NEED(KERNELS), NULL,
    "`ahead`: hosts launch kernels while the device is at work on earlier ones; `blocking`: "
    "they wait for each (CUDA_LAUNCH_BLOCKING=1), so that a layer takes the host's time on top "
    "of the device's, a pass that of the message it sends, and nothing runs beside a pass: "
    "`overlap`, `overlap_tp` and `overlap_experts` are refused, rings of cp and what zero 2 "
    "and 3 send come in turn")
FR_PLAN_KEY(global_batch, "global_batch", INTEGER(1, FR_RANKS_MAX), FIELD(global_batch),
            ", batch %s", CHANGED, 0, "the model's", "samples of one iteration")
FR_PLAN_KEY(micro_batch, "micro_batch", INTEGER(1, FR_RANKS_MAX), FIELD(micro_batch),
            ", micro-batch %s", CHANGED, 0,
            "all of a rank's; with pp > 1 and for kinds `transformer` and `stages`: the "
            "model's, else 1; method subgraph: all with one stage, else one a rank",
            "samples of one micro-batch, over the tp ranks that share it")
FR_PLAN_KEY(clock, "clock", QUANTITIES(fr_clock_words, 1e6, 1e11),
            FIELDS(clock_Hz, clock_slack), ", clock %s", CHANGED, NEED(PASSES), NULL,
            "of the devices of all stages, or of each (`\"1.2 GHz\"`, `[\"1.41 GHz\", \"1.2 "
            "GHz\"]`); `slack`: of each pass the one with which all save most "
            "energy without a longer iteration")
FR_PLAN_KEY(power_cap, "power_cap", QUANTITIES(fr_cap_words, 1, 1e6), FIELDS(cap_W, n_cap_W),
            ", at most %s", CHANGED, NEED(PASSES), NULL,
            "limit of a device's power, one or one for each stage: the highest clock at which "
            "a busy device stays within it")
FR_PLAN_KEY(iterations, "iterations", NUMBER(1e-9, 1e15), FIELD(iterations), ", %s iterations",
            CHANGED, NEED(TRAINED), "the model's", "iterations to the loss")
FR_PLAN_KEY(layer_tp, "layer_tp", LIST(fr_layer_tp_words, 1), FIELDS(layer_tp, layer_tp_best),
            ", grids %s", CHANGED, NEED(GRID) | NEED(DIVIDED), NULL,
            "P_r of each layer as a list, of a transformer of its attention, its MLP, and "
            "embedding and logits; or `best`. What flows between different grids is "
            "redistributed, but for `sequence_parallel`, which leaves nothing to")
