/* Read more than once, so without guard.  Rows alone, one for every reason why a plan cannot run; its bit is its place.
 *
 *  FR_REASON(code, "name in counts", "what it says of a plan", "what would help")
 *
 *  Names are printed: they stay.  Its sentences with numbers: answer/outcome/sentences.h. */

FR_REASON(RANKS, "cluster_too_small", "the plan has more ranks than the cluster",
          "fewer ranks, or a cluster with more nodes")
FR_REASON(MESH, "ranks_not_a_mesh", "dp x pp x tp does not make the ranks asked for",
          "a free `dp`, or other `--ranks`")
FR_REASON(PIPELINE, "pipeline_not_priced", "no price for such a pipeline is known",
          "`pp` 1; of an encoder with a decoder one chunk a stage")
FR_REASON(STAGES, "stages_differ", "a list, or the layers, do not make `pp` stages",
          "a value a stage in the list; `pp` x `chunks` of at most as many as layers")
FR_REASON(METHOD, "method_not_priced_here",
          "nobody has said how the method divides such a model", "method `tensor`")
FR_REASON(SCHEDULE, "schedule_refuses",
          "the order of passes does not go with stages, chunks or micro-batches",
          "other `chunks`, `micro_batch` or `schedule`")
FR_REASON(NO_CLOSED_FORM, "no_closed_form", "blocking exchanges have no closed form",
          "`--engine event`, or `p2p` `async`")
FR_REASON(COMPRESSION, "compression_not_priced_here",
          "what would go compressed does not go, or not whole, with the plan's other keys",
          "`zero` 0 or 1, launches `ahead`, or no compression")
FR_REASON(RECOMPUTE, "recompute_not_priced_here",
          "nobody has said what the method keeps with such a recomputation",
          "method `tensor`, or `recompute` `none` or `full`")
FR_REASON(IDLE_KEY, "key_without_effect", "nothing would read a key that is not at its default",
          "its default, or what the sentence says that it needs")
FR_REASON(OVERLAP, "overlap_without_effect",
          "gradients cannot go beside the backward pass, or do anyway", "`overlap` `none`")
FR_REASON(LOSSY, "above_max_lossy", "more goes compressed than `--max-lossy` allows",
          "a higher `--max-lossy`")
FR_REASON(SIZE, "too_large_to_price",
          "the pipeline has too many passes to go through one by one",
          "a larger `micro_batch`, or the closed form")
FR_REASON(DTYPE, "dtype_not_described",
          "the device states no rate in the model's number format",
          "its rate in the cluster file, or another `model.dtype`")
FR_REASON(ZERO_RANKS, "zero_ranks_not_divisible",
          "zero_ranks does not divide the ranks that hold the same parameters",
          "a divisor of dp x cp (of experts dp x cp x tp / (ep x etp)), or 0: all of them")
FR_REASON(BATCH, "batch_not_divisible", "replicas do not divide the batch",
          "a multiple of `dp` as `global_batch`")
FR_REASON(MICRO_BATCH, "micro_batch_not_divisible",
          "micro-batches do not divide the samples of a rank",
          "a `micro_batch` that divides `global_batch` / `dp`")
FR_REASON(WIDTH, "width_not_divisible", "tp does not divide a width of the model",
          "a `tp` that divides it")
FR_REASON(HEADS, "heads_not_divisible", "tp, times cp by all-to-all, does not divide the heads",
          "a `tp` that divides heads and groups of them; `context` `ring`")
FR_REASON(SEQUENCE, "sequence_not_divisible", "cp or tp does not divide the sequence",
          "a `cp` and `tp` that divide it")
FR_REASON(EXPERTS, "experts_not_divisible",
          "ep and etp do not divide the experts over the ranks",
          "an `ep` that divides the experts and the ranks that share them")
FR_REASON(CACHE, "cache_not_priced",
          "a pass behind cached tokens is not priced of this model or plan",
          "`pass` `forward`, method `tensor` or `phantom`, `cp` 1")
FR_REASON(TOO_WIDE, "tp_above_width",
          "a layer has fewer output channels than ranks that divide them", "a smaller `tp`")
FR_REASON(LAYER, "layer_not_fully_connected", "the method divides fully connected layers only",
          "method `grid`")
FR_REASON(LAYER_TP, "layer_tp_not_fitting",
          "layer_tp does not fit the model, the ranks, the batch or the memory",
          "a value a layer, each a divisor of the ranks; `layer_tp` `uniform`")
FR_REASON(DOMAIN, "domain_not_fitting",
          "domain divides what is no convolution, half of a residual block, or too few rows",
          "a smaller `domain` or `tp`")
FR_REASON(GHOST, "ghost_missing", "the method needs ghost neurons", "a `ghost` of at least 1")
FR_REASON(GHOST_EQ8, "ghost_outside_eq8",
          "the phantom model would not be smaller than the tensor-parallel one (Eq. 8)",
          "a `ghost` below (n/p)(1 - 1/p)")
FR_REASON(BRANCHES, "branches_not_divisible",
          "the ways do not divide the branches, or the micro-batch", "a `tp` that divides both")
FR_REASON(PLACEMENT, "placement_refuses", "the placement does not place such ranks",
          "`placement` `linear`")
FR_REASON(MEMORY, "memory", "the fullest rank needs more memory than there is",
          "more `tp`, `pp` or `zero`, a smaller `micro_batch`, `recompute` or `offload`")
FR_REASON(UNSURE, "less_sure_than_asked",
          "it fits into the memory less surely than `--fit` asks for",
          "a lower `--fit`, or what helps memory")
FR_REASON(ITERATIONS, "iterations_unknown",
          "nobody has measured how many iterations such a plan needs to the loss",
          "`--set model.iterations=FILE`, or `--per-iteration`")
FR_REASON(POWER, "power_unknown", "the device states no power, or no clock such as the plan's",
          "`power` and `clock` in the cluster file, or a `clock` within them")
FR_REASON(HOST, "host_not_described",
          "offload needs the host's link or bandwidth, which the cluster does not state",
          "`--set cluster.device.host_link=\"25 GB/s\"` and `host_bandwidth`")
