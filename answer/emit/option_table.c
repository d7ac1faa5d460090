/* Options that launch a plan, in the words of each framework. */
#include "answer/emit.h"

/* Frameworks of a row. */
enum {
    M = FR_EMIT_MEGATRON,
    B = FR_EMIT_BRIDGE,
    T = FR_EMIT_TORCHTITAN,
    D = FR_EMIT_DEEPSPEED,
    ALL = M | B | T | D | FR_EMIT_OTHERS,
};

#define KEY(frameworks, key, where, ...)                                                       \
    {frameworks, FR_PLAN_KEY_##key, where, FR_EMIT_##__VA_ARGS__},
#define REST(frameworks, about, where, ...)                                                    \
    {frameworks, FR_EMIT_##about, where, FR_EMIT_##__VA_ARGS__},
#define S "", /* of a sentence */

#define CODE(what) "no key; " what " in the training program's code"

/* clang-format off */
const struct fr_emit_row fr_emit_rows[] = {
    /* ---- the mesh ---- */
    KEY(M, method, "", NONE, S "tensor parallelism is how Megatron-LM divides a layer")
    KEY(B, method, "", NONE, S "tensor parallelism is how Megatron-Bridge divides a layer")
    KEY(T, method, "", NONE, S "tensor parallelism is how torchtitan divides a layer")
    KEY(D, method, "", NONE, S "the training program's code divides layers")

    KEY(M, tp, "", OPTION, "--tensor-model-parallel-size", "{tp}")
    KEY(B, tp, "", OPTION, "--tensor_model_parallel_size", "{tp}")
    KEY(T, tp, "", OPTION, "--parallelism.tensor_parallel_degree", "{tp}")
    KEY(D, tp, "tp=1", NOTE, S "1")
    KEY(D, tp, "tp!=1", LACK, S "{tp}: no key; the program's code divides layers (mpu of deepspeed.initialize)")

    KEY(M | D, dp, "", NOTE, S "{dp}, what the other axes leave of the ranks")
    KEY(B, dp, "", NOTE, S "{dp}, what the other axes leave of --num_gpus")
    KEY(T, dp, "", OPTION, "--parallelism.data_parallel_replicate_degree", "{dp_replicate}")
    KEY(T, dp, "", OPTION, "--parallelism.data_parallel_shard_degree", "{dp_shard}")

    KEY(M, pp, "", OPTION, "--pipeline-model-parallel-size", "{pp}")
    KEY(B, pp, "", OPTION, "--pipeline_model_parallel_size", "{pp}")
    KEY(T, pp, "", OPTION, "--parallelism.pipeline_parallel_degree", "{pp}")
    KEY(D, pp, "pp=1", NOTE, S "1")
    KEY(D, pp, "pp!=1", LACK, S "{pp}: no key; the program's code makes stages (PipelineModule's num_stages)")

    KEY(ALL, pass, "", NONE, S "{no}plan without a backward pass")

    KEY(M, cp, "", OPTION, "--context-parallel-size", "{cp}")
    KEY(B, cp, "", OPTION, "--context_parallel_size", "{cp}")
    KEY(T, cp, "", OPTION, "--parallelism.context_parallel_degree", "{cp}")
    KEY(D, cp, "cp=1", NOTE, S "1")
    KEY(D, cp, "cp!=1", LACK, S "{cp}: no key; it has Ulysses' all-to-all over heads, no ring")

    KEY(M | B, context, "cp=1", NOTE, S "one rank has the whole sequence")
    KEY(M, context, "cp!=1 context=ring", OPTION, "--cp-comm-type", "p2p")
    KEY(M, context, "cp!=1 context=all-to-all", OPTION, "--cp-comm-type", "a2a")
    KEY(B, context, "cp!=1 context=ring", OPTION, "model.cp_comm_type", "p2p")
    KEY(B, context, "cp!=1 context=all-to-all", OPTION, "model.cp_comm_type", "a2a")
    KEY(T, context, "cp=1", NOTE, S "a ring, as it has")
    KEY(T, context, "cp!=1 context=ring", NOTE, S "a ring, as it has")
    KEY(T, context, "cp!=1 context=all-to-all", LACK,
        S "all-to-all: {no}exchange of heads for tokens; its ring is the only one")
    KEY(D, context, "", NOTE, S "the program's code shares sequences (Ulysses' DistributedAttention)")

    KEY(M, ep, "", OPTION, "--expert-model-parallel-size", "{ep}")
    KEY(B, ep, "", OPTION, "--expert_model_parallel_size", "{ep}")
    KEY(T, ep, "", OPTION, "--parallelism.expert_parallel_degree", "{ep}")
    KEY(D, ep, "ep=1", NOTE, S "1")
    KEY(D, ep, "ep!=1", LACK, S "{ep}: no key; the program's code says so (MoE's ep_size)")

    KEY(M, etp, "", OPTION, "--expert-tensor-parallel-size", "{expert_tp}")
    KEY(B, etp, "", OPTION, "--expert_tensor_parallel_size", "{expert_tp}")
    KEY(T, etp, "experts=0", NOTE, S "the model has no experts")
    KEY(T, etp, "experts!=0 expert_tp=1", NOTE, S "experts are whole, as in torchtitan")
    KEY(T, etp, "experts!=0 expert_tp!=1", LACK, S "{expert_tp}: {no}expert divided over ranks")
    KEY(D, etp, "", NOTE, S "{expert_tp}: the program's code divides experts")

    /* ---- methods that no framework has ---- */
    KEY(ALL, ghost, "", NONE, S "{no}ghost neurons")
    KEY(ALL, phantom_parts, "", NONE, S "{no}ghost neurons")
    KEY(ALL, branches, "", NONE, S "{no}sub-graph parallelism")
    KEY(ALL, common, "", NONE, S "{no}sub-graph parallelism")
    KEY(ALL, exchange, "", NONE, S "{no}sub-graph parallelism")
    KEY(ALL, divide, "", NONE, S "{no}division of two products that follow but in pairs")
    KEY(ALL, domain, "", NONE, S "{no}division of images by height")
    KEY(ALL, layer_tp, "", NONE, S "{no}grid of its own for each layer")
    KEY(ALL, placement, "", NONE, S "{no}place for a rank, which the launcher gives it: sbatch")

    /* Ranks go tp-cp-ep-dp-pp; Megatron's mapping makes it tp-cp-ep-pp-dp. */
    KEY(M, rank_order, "stages_first=false", NOTE, S "ranks go tp-cp-ep-dp-pp, as without --use-tp-pp-dp-mapping")
    KEY(M, rank_order, "stages_first=true", OPTION, "--use-tp-pp-dp-mapping", "")
    KEY(B, rank_order, "stages_first=true", TRUTH, "dist.use_tp_pp_dp_mapping", "")
    KEY(M | B, rank_order, "stages_first=true cp!=1", LACK,
        S "its mapping keeps cp beside tp, the plan has it beside dp")
    KEY(T, rank_order, "stages_first=true", LACK, S "tp-pp-dp: its mesh is pp-dp-cp-tp, tp innermost and pp outermost")
    KEY(T, rank_order, "stages_first=false", NOTE, S "its mesh is pp-dp-cp-tp, tp innermost")
    KEY(D, rank_order, "", NOTE,
        S "{rank_order}: the topology that the program gives (PipeModelDataParallelTopology is tp-dp-pp)")

    /* ---- the pipeline ---- */
    KEY(ALL, schedule, "pp=1", NOTE, S "one stage has nothing to schedule")
    KEY(M | B, schedule, "pp!=1 order=1f1b,interleaved", NOTE, S "{order} follows from pp and the virtual stages")
    KEY(M, schedule, "pp!=1 order!=1f1b,interleaved", LACK, S "{order}: {no}such order; without an option it runs 1F1B")
    KEY(B, schedule, "pp!=1 order!=1f1b,interleaved", LACK, S "{order}: {no}such order; it runs 1F1B")
    KEY(T, schedule, "pp!=1 order=1f1b,interleaved chunks=1", OPTION, "--parallelism.pipeline_parallel_schedule", "1F1B")
    KEY(T, schedule, "pp!=1 order=1f1b,interleaved chunks!=1", OPTION,
        "--parallelism.pipeline_parallel_schedule", "Interleaved1F1B")
    KEY(T, schedule, "pp!=1 order=zero-bubble-v", OPTION, "--parallelism.pipeline_parallel_schedule", "ZBVZeroBubble")
    KEY(T, schedule, "pp!=1 order=dualpipe-v", OPTION, "--parallelism.pipeline_parallel_schedule", "DualPipeV")
    KEY(T, schedule, "pp!=1 order=gpipe", OPTION, "--parallelism.pipeline_parallel_schedule", "GPipe")
    KEY(T, schedule, "pp!=1 order!=1f1b,interleaved,zero-bubble-v,dualpipe-v,gpipe", LACK,
        S "{order}: PyTorch has no such order of one chunk a stage; pipeline_parallel_schedule_csv takes one from a file")
    KEY(D, schedule, "pp!=1 order=1f1b", NOTE, S "1f1b is what its pipeline engine runs")
    KEY(D, schedule, "pp!=1 order!=1f1b", LACK, S "{order}: its pipeline engine runs 1F1B")

    KEY(M, chunks, "chunks=1", NOTE, S "1, as without --num-virtual-stages-per-pipeline-rank")
    KEY(M, chunks, "chunks!=1 even=true", OPTION, "--num-virtual-stages-per-pipeline-rank", "{chunks}")
    KEY(M, chunks, "chunks!=1 even=false", NOTE, S "{chunks}, as the layout below has it")
    /* -1, its default, leaves what the recipe says. */
    KEY(B, chunks, "chunks=1", OPTION, "--virtual_pipeline_model_parallel_size", "None")
    KEY(B, chunks, "chunks!=1", OPTION, "--virtual_pipeline_model_parallel_size", "{chunks}")
    KEY(T, chunks, "pp=1", NOTE, S "one stage has nothing to interleave")
    KEY(T, chunks, "pp!=1 even=true", NOTE, S "{chunks}, from the layers of a stage")
    KEY(T, chunks, "pp!=1 even=false", NOTE, S "{chunks}, from module_fqns_per_model_part")
    KEY(D, chunks, "", NONE, S "{no}virtual stages")

    KEY(M, p2p, "pp=1", NOTE, S "one stage sends nothing")
    KEY(M, p2p, "interleaved=true p2p=duplex", OPTION, "--no-overlap-p2p-communication", "")
    KEY(M, p2p, "interleaved=true p2p=async", NOTE, S "messages overlap with virtual stages, as without an option")
    KEY(M, p2p, "pp!=1 interleaved=false", NOTE, S "without virtual stages it sends and receives in pairs")
    KEY(B, p2p, "interleaved=true p2p=async", OPTION, "model.overlap_p2p_comm", "true")
    KEY(B, p2p, "interleaved=true p2p=duplex", OPTION, "model.overlap_p2p_comm", "false")
    KEY(B, p2p, "interleaved=false", NOTE, S "without virtual stages it sends and receives in pairs")
    KEY(T, p2p, "", NONE, S "stages post messages and wait for those they read")
    KEY(D, p2p, "", NONE, S "its pipeline engine sends and receives in turn")

    KEY(M | B | T, stage_layers, "pp=1", NOTE, S "one stage has all of them")
    KEY(M, stage_layers, "pp!=1 even=true", NOTE, S "equal, as without --pipeline-model-parallel-layout")
    KEY(B, stage_layers, "pp!=1 even=true", NOTE, S "equal, as without --pipeline_model_parallel_layout")
    KEY(M, stage_layers, "pp!=1 even=false layout!=", OPTION, "--pipeline-model-parallel-layout", "{layout}")
    KEY(B, stage_layers, "pp!=1 even=false layout!=", OPTION, "--pipeline_model_parallel_layout", "{layout}")
    KEY(M | B, stage_layers, "pp!=1 even=false layout=", LACK, S "the layout of so many stages is too long for a line")
    KEY(T, stage_layers, "pp!=1", OPTION, "--parallelism.pipeline_parallel_first_stage_less_layers", "0")
    KEY(T, stage_layers, "pp!=1", OPTION, "--parallelism.pipeline_parallel_last_stage_less_layers", "0")
    KEY(T, stage_layers, "pp!=1 even=true", OPTION, "--parallelism.pipeline_parallel_layers_per_stage", "{layers_a_stage}")
    KEY(T, stage_layers, "pp!=1 even=false", LACK,
        S "uneven stages are lists of modules in the model's configuration: parallelism.module_fqns_per_model_part")
    KEY(D, stage_layers, "", NOTE, S CODE("PipelineModule's partition_method"))

    /* ---- what goes compressed ---- */
    KEY(ALL, backward_scope, "", NONE, S "{no}compressed messages between stages")
    KEY(ALL, backward_rank, "", NONE, S "{no}compressed messages between stages")
    KEY(ALL, lazy_error, "", NONE, S "{no}compressed messages between stages")
    KEY(ALL, forward_rank, "", NONE, S "{no}compressed messages between stages")
    KEY(M | B, embedding, "", NONE, S "it reduces the tied embedding over its own two stages")
    KEY(T, embedding, "", NONE, S "{no}fused reduction of a tied embedding")
    KEY(D, embedding, "", NONE, S "it reduces a tied layer over the stages that hold it")
    KEY(ALL, gradient_stages, "", NONE, S "{no}low-rank gradients")
    KEY(ALL, gradient_rank, "", NONE, S "{no}low-rank gradients")
    KEY(ALL, gradient_ranks, "", NONE, S "{no}low-rank gradients")
    KEY(ALL, codec, "", NONE, S "{no}codec of gradients")
    KEY(ALL, warm_up, "", NONE, S "{no}codec of gradients")

    /* ---- inside a layer ---- */
    KEY(M, sequence_parallel, "sequence_parallel=true", SWITCH, "--sequence-parallel", "")
    KEY(B, sequence_parallel, "sequence_parallel=true", TRUTH, "model.sequence_parallel", "")
    KEY(T, sequence_parallel, "tp=1", NOTE, S "tp 1 divides no sequence")
    KEY(T, sequence_parallel, "tp!=1 sequence_parallel=true", OPTION, "--parallelism.enable_sequence_parallel", "")
    KEY(T, sequence_parallel, "tp!=1 sequence_parallel=false", OPTION, "--parallelism.no_enable_sequence_parallel", "")
    KEY(D, sequence_parallel, "", NOTE, S CODE("the model's own layers divide the sequence, or not,"))

    KEY(M, overlap_tp, "overlap_tp=true", SWITCH, "--tp-comm-overlap", "")
    /* A recipe's own choice stands where the key is not said. */
    KEY(B, overlap_tp, "tp=1", NOTE, S "one rank of a layer exchanges nothing")
    KEY(B, overlap_tp, "tp!=1", OPTION, "comm_overlap.tp_comm_overlap", "{overlap_tp}")
    KEY(T, overlap_tp, "overlap_tp=true", SWITCH, "--compile.enable_async_tensor_parallel", "")
    /* It asks for a compiled model. */
    KEY(T, overlap_tp, "overlap_tp=true loss!=compiled,parallel-compiled", OPTION, "--compile.enable", "")
    KEY(T, overlap_tp, "overlap_tp=true loss!=compiled,parallel-compiled", OPTION, "--compile.components", "model")
    KEY(D, overlap_tp, "", NONE, S "{no}key that hides tensor parallelism's exchanges")

    KEY(M, attention, "attention=plain", OPTION, "--attention-backend", "unfused")
    KEY(M, attention, "attention!=plain", OPTION, "--attention-backend", "flash")
    KEY(M, attention, "attention=flash-2", OPTION, "--flash-attention-version", "2")
    KEY(B, attention, "attention=plain", OPTION, "model.attention_backend", "unfused")
    KEY(B, attention, "attention!=plain", OPTION, "model.attention_backend", "flash")
    KEY(B, attention, "attention=flash-2", OPTION, "model.flash_attention_version", "2")
    KEY(M | B, attention, "attention=flash-1", LACK, S "{no}kernels of FlashAttention's first generation")
    KEY(T, attention, "", NOTE, S "{attention}: the model's configuration chooses the kernel")
    KEY(D, attention, "", NOTE, S "{attention}: " CODE("the model chooses the kernel"))

    /* ---- replicas ---- */
    /* Megatron divides what 2 and 3 do by Megatron-FSDP. */
    KEY(M, zero, "zero=0", NOTE, S "0, as without --use-distributed-optimizer")
    KEY(M, zero, "zero!=0", OPTION, "--use-distributed-optimizer", "")
    KEY(M, zero, "zero=2,3", OPTION, "--use-megatron-fsdp", "")
    KEY(M, zero, "zero=2", OPTION, "--data-parallel-sharding-strategy", "optim_grads")
    KEY(M, zero, "zero=3", OPTION, "--data-parallel-sharding-strategy", "optim_grads_params")
    KEY(M, zero, "zero=2,3", OPTION, "--ckpt-format", "fsdp_dtensor")
    KEY(M, zero, "zero=2,3", OPTION, "--no-gradient-accumulation-fusion", "")
    KEY(M, zero, "zero=2,3", NOTE, S "CUDA_DEVICE_MAX_CONNECTIONS must not be 1 with Megatron-FSDP")
    KEY(B, zero, "zero!=0", TRUTH, "ddp.use_distributed_optimizer", "")
    KEY(B, zero, "zero=2,3", TRUTH, "--use_megatron_fsdp", "")
    KEY(B, zero, "zero=2", OPTION, "ddp.data_parallel_sharding_strategy", "optim_grads")
    KEY(B, zero, "zero=3", OPTION, "ddp.data_parallel_sharding_strategy", "optim_grads_params")
    KEY(T, zero, "zero=1", LACK, S "1: {no}optimiser state divided alone; it divides parameters too, or nothing")
    KEY(T, zero, "zero=0 cp=1", NOTE, S "0: replicas hold everything")
    KEY(T, zero, "zero=0 cp!=1", LACK, S "0: ranks that share a sequence divide parameters there")
    KEY(T, zero, "zero=2", NOTE, S "2 is zero 3 with reshard_after_forward false there, which is how the script reads back")
    KEY(T, zero, "zero=2", OPTION, "--parallelism.fsdp_reshard_after_forward", "never")
    KEY(T, zero, "zero=3 reshard_after_forward=false", OPTION, "--parallelism.fsdp_reshard_after_forward", "never")
    KEY(T, zero, "zero=3 reshard_after_forward=true", OPTION, "--parallelism.fsdp_reshard_after_forward", "always")
    KEY(D, zero, "", OPTION, "zero_optimization.stage", "{zero}")
    KEY(D, zero, "zero=2,3 pp!=1", LACK, S "{zero} in a pipeline: its engine takes 0 and 1 there")

    /* Megatron counts the groups that hold the same, of which each divides; MiCS divides all three in groups. */
    KEY(M | B | D, zero_ranks, "zero_whole=true", NOTE, S "all replicas, as without it")
    KEY(M, zero_ranks, "zero_whole=false", OPTION, "--num-distributed-optimizer-instances", "{zero_groups}")
    KEY(B, zero_ranks, "zero_whole=false", OPTION, "ddp.num_distributed_optimizer_instances", "{zero_groups}")
    KEY(D, zero_ranks, "zero_whole=false zero=3", OPTION, "zero_optimization.mics_shard_size", "{zero_ranks}")
    KEY(D, zero_ranks, "zero_whole=false zero!=3", LACK, S "groups of {zero_ranks}: it has them with stage 3 alone (MiCS)")
    KEY(T, zero_ranks, "zero=2,3", NOTE, S "in data_parallel_shard_degree and data_parallel_replicate_degree")
    KEY(T, zero_ranks, "zero=0,1", NOTE, S "replicas divide no parameters")

    KEY(M | B, zero_exchange, "", NONE, S "the distributed optimizer gathers parameters")
    KEY(T, zero_exchange, "", NONE, S "{no}option: replicas divide parameters")
    KEY(D, zero_exchange, "", NONE, S "{no}key: owners gather parameters")

    KEY(M, reshard, "", NONE,
        S "Megatron-FSDP gathers again (--torch-fsdp2-no-reshard-after-forward is of PyTorch's)")
    KEY(B, reshard, "", NONE, S "Megatron-FSDP gathers again for the backward pass")
    KEY(T, reshard, "zero=3", NOTE, S "{reshard_after_forward}: in fsdp_reshard_after_forward")
    KEY(T, reshard, "zero!=3", NOTE, S "{reshard_after_forward}: parameters are not gathered for passes")
    KEY(D, reshard, "", NONE, S "{no}key that leaves parameters whole until the backward pass")

    KEY(M | B, gradient_sync, "", NONE, S "Megatron-FSDP scatters behind every micro-batch")
    KEY(T, gradient_sync, "pp!=1", NOTE, S "stages scatter behind their last micro-batch")
    KEY(T, gradient_sync, "pp=1 gradient_sync=micro_batch", NOTE, S "behind every micro-batch, as it does")
    KEY(T, gradient_sync, "pp=1 gradient_sync=iteration", LACK,
        S "iteration: {no}option; in one stage it scatters gradients behind every micro-batch")
    KEY(D, gradient_sync, "", NONE, S "{no}key that adds gradients of stages 2 and 3 up whole")

    KEY(M, overlap, "reduces_beside=true", SWITCH, "--overlap-grad-reduce", "")
    KEY(M, overlap, "gathers_beside=true", OPTION, "--overlap-param-gather", "")
    KEY(B, overlap, "reduces_beside=true", TRUTH, "ddp.overlap_grad_reduce", "")
    KEY(B, overlap, "gathers_beside=true", TRUTH, "ddp.overlap_param_gather", "")
    KEY(T, overlap, "reduces_beside=true", NOTE, S "gradients are reduced beside the backward pass, always")
    KEY(T, overlap, "reduces_beside=false replicas=1", NOTE, S "gradients are reduced beside the backward pass, always")
    KEY(T, overlap, "reduces_beside=false replicas!=1", LACK,
        S "none: it always reduces gradients beside the backward pass")
    KEY(D, overlap, "zero!=0", OPTION, "zero_optimization.overlap_comm", "{reduces_beside}")
    KEY(D, overlap, "zero=0 overlap=gradient", LACK, S "without ZeRO gradients are reduced after the backward pass")
    KEY(D, overlap, "zero=0 overlap=none", NOTE, S "without ZeRO gradients are reduced after the backward pass")

    KEY(M | B | D, bucket, "overlap=none", NOTE, S "nothing goes in buckets of a stated size")
    KEY(M | B, bucket, "overlap=gradient zero=2,3", NOTE, S "nothing goes in buckets of a stated size")
    KEY(D, bucket, "overlap=gradient zero=0", NOTE, S "nothing goes in buckets of a stated size")
    KEY(M, bucket, "overlap=gradient zero=0,1 bucket_chosen=true", OPTION, "--ddp-bucket-size", "{bucket_values}")
    KEY(B, bucket, "overlap=gradient zero=0,1 bucket_chosen=true", OPTION, "ddp.bucket_size", "{bucket_values}")
    KEY(D, bucket, "overlap=gradient zero!=0 bucket_chosen=true", OPTION,
        "zero_optimization.reduce_bucket_size", "{bucket_values}")
    KEY(M | B, bucket, "overlap=gradient zero=0,1 bucket_chosen=false", NOTE,
        S "of its own size, as nobody chose one; {bucket_MiB} MiB were priced")
    KEY(D, bucket, "overlap=gradient zero!=0 bucket_chosen=false", NOTE,
        S "of its own size, as nobody chose one; {bucket_MiB} MiB were priced")
    KEY(T, bucket, "", NOTE, S "a layer's gradients go together")

    /* ---- experts ---- */
    KEY(M | B, dispatch_ranks, "dispatch_ranks=0", NOTE,
        S "a copy for each expert, as its all-to-all dispatcher sends them")
    /* HybridEP sends a rank its tokens once, DeepEP a node. */
    KEY(M, dispatch_ranks, "dispatch_ranks=1", OPTION, "--moe-flex-dispatcher-backend", "hybridep")
    KEY(M, dispatch_ranks, "dispatch_ranks!=0,1", OPTION, "--moe-flex-dispatcher-backend", "deepep")
    KEY(B, dispatch_ranks, "dispatch_ranks!=0", OPTION, "model.moe_token_dispatcher_type", "flex")
    KEY(B, dispatch_ranks, "dispatch_ranks=1", OPTION, "--moe_flex_dispatcher_backend", "hybridep")
    KEY(B, dispatch_ranks, "dispatch_ranks!=0,1", OPTION, "--moe_flex_dispatcher_backend", "deepep")
    KEY(M | B, dispatch_ranks, "dispatch_ranks!=0,1,8", NOTE,
        S "{dispatch_ranks}: DeepEP gathers for the ranks of a node; {no}option for their number")
    KEY(T, dispatch_ranks, "", NONE, S "{no}option for one copy of a token for several experts")
    KEY(D, dispatch_ranks, "", NONE, S "{no}key for one copy of a token for several experts")

    KEY(M, overlap_experts, "hides_dispatch=true", SWITCH, "--overlap-moe-expert-parallel-comm", "")
    KEY(B, overlap_experts, "hides_dispatch=true", OPTION, "--moe_a2a_overlap", "{overlap_experts}")
    KEY(B, overlap_experts, "hides_dispatch=false", OPTION, "--moe_a2a_overlap", "false")
    KEY(M | B, overlap_experts, "overlap_experts=true hides_dispatch=false", LACK,
        S "on: it hides the experts' all-to-all where pipelines have virtual stages and no whole layers are recomputed")
    KEY(T, overlap_experts, "", NONE, S "{no}option that hides the experts' all-to-all")
    KEY(D, overlap_experts, "", NONE, S "{no}key that hides the experts' all-to-all")

    /* ---- memory ---- */
    KEY(M | B | T | D, recompute, "recomputes=policy", LACK,
        S "none: a policy that keeps what attention's products made (JAX)")
    KEY(M, recompute, "recomputes=none", NOTE, S "none, as without --recompute-granularity")
    KEY(M | B, recompute, "recomputes=selective_op", LACK, S "{recompute}: {no}such policy; it has modules and full")
    KEY(M, recompute, "recomputes=modules", OPTION, "--recompute-granularity", "selective")
    KEY(M, recompute, "recomputes=modules", OPTION, "--recompute-modules", "{recompute_words}")
    KEY(M, recompute, "recomputes=full", OPTION, "--recompute-granularity", "full")
    KEY(M, recompute, "recomputes=full recompute_layers=0", OPTION, "--recompute-method", "uniform")
    KEY(M, recompute, "recomputes=full recompute_layers=0", OPTION, "--recompute-num-layers", "1")
    KEY(M, recompute, "recomputes=full recompute_layers!=0", OPTION, "--recompute-method", "block")
    KEY(M, recompute, "recomputes=full recompute_layers!=0", OPTION, "--recompute-num-layers", "{recompute_layers}")
    KEY(B, recompute, "recomputes=none", OPTION, "model.recompute_granularity", "null")
    KEY(B, recompute, "recomputes=modules", OPTION, "--recompute_modules", "{recompute_list}")
    KEY(B, recompute, "recomputes=full", OPTION, "model.recompute_granularity", "full")
    KEY(B, recompute, "recomputes=full recompute_layers=0", OPTION, "model.recompute_method", "uniform")
    KEY(B, recompute, "recomputes=full recompute_layers=0", OPTION, "--recompute_num_layers", "1")
    KEY(B, recompute, "recomputes=full recompute_layers!=0", OPTION, "model.recompute_method", "block")
    KEY(B, recompute, "recomputes=full recompute_layers!=0", OPTION, "--recompute_num_layers", "{recompute_layers}")
    KEY(T, recompute, "recomputes=none", NOTE,
        S "{recompute}: a class in the model's configuration, activation_checkpoint=None")
    KEY(T, recompute, "recomputes=full", NOTE,
        S "{recompute}: a class in the model's configuration, activation_checkpoint=FullAC.Config()")
    KEY(T, recompute, "recomputes=selective_op", NOTE,
        S "{recompute}: a class in the model's configuration, activation_checkpoint=SelectiveAC.Config()")
    KEY(T, recompute, "recomputes=modules", LACK,
        S "{recompute}: it has full and selective_op alone (FullAC, SelectiveAC)")
    KEY(D, recompute, "recomputes!=policy", NOTE, S "{recompute}: " CODE("deepspeed.checkpointing around layers"))

    /* Megatron takes some layers with granularity full alone. */
    KEY(M | B, recompute_layers, "recompute_layers=0", NOTE, S "all layers, where they recompute")
    KEY(M | B, recompute_layers, "recompute_layers!=0 recomputes=full", NOTE,
        S "{recompute_layers}, as the method above has it")
    KEY(M | B, recompute_layers, "recompute_layers!=0 recomputes!=full", LACK,
        S "{recompute_layers}: it takes some layers with granularity full alone")
    KEY(T, recompute_layers, "", NONE,
        S "{no}option for some layers (releases of 2025: selective_ac_option N, every N-th)")
    KEY(D, recompute_layers, "", NONE, S CODE("which layers recompute"))

    KEY(M, offload, "offload=none", NOTE, S "none, as without --optimizer-cpu-offload")
    KEY(M, offload, "offload=optimizer,all", OPTION, "--optimizer-cpu-offload", "")
    KEY(M, offload, "offload=optimizer,all", OPTION, "--optimizer-offload-fraction", "1.0")
    KEY(M, offload, "offload=optimizer,all", OPTION, "--use-precision-aware-optimizer", "")
    KEY(M, offload, "offload=optimizer,all", OPTION, "--overlap-cpu-optimizer-d2h-h2d", "")
    KEY(B, offload, "offload=none", NOTE, S "none, as by default")
    KEY(B, offload, "offload=optimizer,all", OPTION, "optimizer.optimizer_cpu_offload", "true")
    KEY(B, offload, "offload=optimizer,all", OPTION, "optimizer.optimizer_offload_fraction", "1.0")
    KEY(B, offload, "offload=optimizer,all", OPTION, "optimizer.overlap_cpu_optimizer_d2h_h2d", "true")
    KEY(M | B, offload, "offload=activations,all offloads_layers=false", LACK,
        S "activations: it offloads them in one stage, none recomputed")
    KEY(M, offload, "offload=activations,all offloads_layers=true", OPTION,
        "--cpu-offloading-num-layers", "{offloaded_layers}")
    KEY(B, offload, "offload=activations,all offloads_layers=true", OPTION, "model.cpu_offloading", "true")
    KEY(B, offload, "offload=activations,all offloads_layers=true", OPTION,
        "model.cpu_offloading_num_layers", "{offloaded_layers}")
    KEY(T, offload, "", NONE, S "{no}option that offloads the optimiser or activations alone")
    KEY(D, offload, "offload=none,activations", NOTE, S "the optimiser's state stays on the device")
    KEY(D, offload, "offload=optimizer,all zero!=0", OPTION, "zero_optimization.offload_optimizer", "cpu")
    KEY(D, offload, "offload=optimizer,all zero=0", LACK,
        S "the optimiser's state without ZeRO: offload_optimizer needs a stage")
    KEY(D, offload, "offload=activations,all recomputes=full offload_layers=0", OPTION,
        "activation_checkpointing.cpu_checkpointing", "true")
    KEY(D, offload, "offload=activations,all recomputes=full offload_layers!=0", LACK,
        S "activations: cpu_checkpointing offloads what all layers recompute from, alone")
    KEY(D, offload, "offload=activations,all recomputes!=full", LACK,
        S "activations: cpu_checkpointing offloads what all layers recompute from, alone")

    KEY(M | B, offload_layers, "", NONE, S "with the activations")
    KEY(T, offload_layers, "", NONE, S "{no}option that offloads activations")
    KEY(D, offload_layers, "", NONE, S "{no}key that offloads some layers' activations")

    /* ---- kernels ---- */
    KEY(M, graphs, "graphs=none", NOTE, S "none, as without --cuda-graph-impl")
    KEY(M, graphs, "graphs=layers", OPTION, "--cuda-graph-impl", "transformer_engine")
    KEY(M, graphs, "graphs=layers experts=0,1", OPTION, "--cuda-graph-modules", "attn mlp")
    KEY(M, graphs, "graphs=layers experts!=0,1", OPTION, "--cuda-graph-modules", "attn moe_router moe_preprocess")
    KEY(M, graphs, "graphs=iteration", OPTION, "--cuda-graph-impl", "full_iteration")
    KEY(M, graphs, "graphs=iteration", OPTION, "--no-check-for-nan-in-loss-and-grad", "")
    KEY(B, graphs, "graphs=none", NOTE, S "as its recipe has them")
    KEY(B, graphs, "graphs=layers", OPTION, "--cuda_graph_impl", "transformer_engine")
    KEY(B, graphs, "graphs=layers experts=0,1", OPTION, "--cuda_graph_scope", "attn,mlp")
    KEY(B, graphs, "graphs=layers experts!=0,1", OPTION, "--cuda_graph_scope", "attn,moe_router,moe_preprocess")
    KEY(B, graphs, "graphs=iteration", OPTION, "--cuda_graph_impl", "local")
    KEY(B, graphs, "graphs=iteration", OPTION, "--cuda_graph_scope", "full_iteration")
    KEY(T, graphs, "", NONE, S "{no}option that says what graphs hold")
    KEY(D, graphs, "", NONE, S "{no}key that records graphs of a training step")

    KEY(M, accumulation, "accumulation=fused zero=2,3", LACK,
        S "fused: Megatron-FSDP adds gradients up in kernels of their own")
    KEY(M, accumulation, "accumulation=fused zero=0,1", NOTE, S "fused, as without --no-gradient-accumulation-fusion")
    KEY(M, accumulation, "accumulation=apart", OPTION, "--no-gradient-accumulation-fusion", "")
    KEY(B, accumulation, "accumulation=fused", TRUTH, "model.gradient_accumulation_fusion", "")
    KEY(T | D, accumulation, "", NOTE, S "apart: autograd adds gradients up in kernels of their own")

    KEY(M, loss, "loss=unfused", NOTE, S "unfused, as without --cross-entropy-loss-fusion")
    KEY(M, loss, "loss=fused,native", OPTION, "--cross-entropy-loss-fusion", "")
    KEY(M, loss, "loss=fused,native", OPTION, "--cross-entropy-fusion-impl", "native")
    KEY(M, loss, "loss=fused", LACK, S "fused: it refuses Transformer Engine's loss as unstable; native stands below")
    KEY(M, loss, "loss!=fused,native,unfused", LACK, S "{loss}: Megatron-LM's loss is fused, native or unfused")
    KEY(B, loss, "loss=unfused", OPTION, "model.cross_entropy_loss_fusion", "false")
    KEY(B, loss, "loss=fused,native", OPTION, "model.cross_entropy_loss_fusion", "true")
    KEY(B, loss, "loss=fused", OPTION, "model.cross_entropy_fusion_impl", "te")
    KEY(B, loss, "loss=native", OPTION, "model.cross_entropy_fusion_impl", "native")
    KEY(B, loss, "loss!=fused,native,unfused", LACK, S "{loss}: its loss is fused, native or unfused")
    KEY(T, loss, "loss_of_torchtitan=false", LACK,
        S "{loss}: its loss is eager or compiled, and parallel where tp is above 1")
    KEY(T, loss, "loss!=compiled,parallel-compiled", NOTE, S "eager, as without --compile.components loss")
    KEY(T, loss, "loss=compiled,parallel-compiled", OPTION, "--compile.enable", "")
    KEY(T, loss, "loss=compiled,parallel-compiled overlap_tp=false", OPTION, "--compile.components", "loss")
    KEY(T, loss, "loss=compiled,parallel-compiled overlap_tp=true", OPTION, "--compile.components", "model loss")
    KEY(D, loss, "", NONE, S "the loss is the training program's own")

    KEY(ALL, launches, "", NONE, S "{no}switch for launches that block: export CUDA_LAUNCH_BLOCKING=1")
    KEY(ALL, clock, "", NONE, S "{no}clock of a device: nvidia-smi --lock-gpu-clocks on each node")
    KEY(ALL, power_cap, "", NONE, S "{no}limit of a device's power: nvidia-smi --power-limit on each node")

    /* ---- batches ---- */
    KEY(M, global_batch, "", OPTION, "--global-batch-size", "{global_batch}")
    KEY(B, global_batch, "", OPTION, "--global_batch_size", "{global_batch}")
    KEY(T, global_batch, "", OPTION, "--training.num_tokens_per_train_step", "{tokens}")
    KEY(D, global_batch, "", OPTION, "train_batch_size", "{global_batch}")
    KEY(M, micro_batch, "", OPTION, "--micro-batch-size", "{micro_batch}")
    KEY(B, micro_batch, "", OPTION, "--micro_batch_size", "{micro_batch}")
    KEY(T, micro_batch, "", OPTION, "--training.num_tokens_per_microbatch_per_dp_rank", "{micro_batch_tokens}")
    KEY(T, micro_batch, "pp!=1", OPTION, "--parallelism.num_pp_microbatches", "{micro_batches}")
    KEY(D, micro_batch, "", OPTION, "train_micro_batch_size_per_gpu", "{micro_batch}")
    KEY(D, micro_batch, "", OPTION, "gradient_accumulation_steps", "{micro_batches}")
    KEY(M, iterations, "steps=none", NOTE, S "none stated; give --train-iters or --train-samples")
    KEY(M, iterations, "steps!=none", OPTION, "--train-iters", "{steps}")
    KEY(B, iterations, "steps=none", NOTE, S "none stated; give --max_steps")
    KEY(B, iterations, "steps!=none", OPTION, "--max_steps", "{steps}")
    KEY(T, iterations, "steps=none", NOTE, S "none stated; give --training.steps")
    KEY(T, iterations, "steps!=none", OPTION, "--training.steps", "{steps}")
    KEY(D, iterations, "", NOTE, S CODE("how long it trains"))

    /* ---- number formats ---- */
    REST(M, PRECISION, "dtype=fp16", OPTION, "--fp16", "")
    REST(M, PRECISION, "dtype=bf16,fp8,fp4", OPTION, "--bf16", "")
    REST(M, PRECISION, "dtype=fp32", NOTE, S "fp32, as without --bf16 and --fp16")
    REST(M, PRECISION, "dtype!=fp16,bf16,fp8,fp4,fp32", LACK, S "{dtype}: {no}option for it")
    REST(M, PRECISION, "dtype=fp4", OPTION, "--fp4-format", "e2m1")
    REST(M, PRECISION, "dtype=fp4", OPTION, "--fp4-recipe", "nvfp4")
    REST(M, PRECISION, "dtype=fp4 weight_dtype=fp4", OPTION, "--fp4-param-gather", "")
    REST(M, PRECISION, "dtype=fp8", OPTION, "--fp8-format", "hybrid")
    REST(M, PRECISION, "dtype=fp8 fp8_blocks=true", OPTION, "--fp8-recipe", "mxfp8")
    REST(M, PRECISION, "dtype=fp8 fp8_blocks=false", OPTION, "--fp8-recipe", "delayed")
    REST(M, PRECISION, "dtype=fp8 weight_dtype=fp8", OPTION, "--fp8-param-gather", "")
    REST(M, PRECISION, "optimizer_8_bit=true offload=none,activations", OPTION, "--use-precision-aware-optimizer", "")
    REST(M, PRECISION, "optimizer_8_bit=true offload=none,activations", OPTION, "--exp-avg-dtype", "fp8")
    REST(M, PRECISION, "optimizer_8_bit=true offload=none,activations", OPTION, "--exp-avg-sq-dtype", "fp8")
    REST(M, PRECISION, "optimizer_8_bit=true offload=none,activations zero=0", LACK,
        S "optimizer_state 8-bit: it has it with a distributed optimiser alone")
    REST(M, PRECISION, "saved_fp8=true", LACK,
        S "activation_store fp8: activation_func_fp8_input_store of Megatron Core has no option")
    REST(M, PRECISION, "gradient_dtype=bf16", OPTION, "--grad-reduce-in-bf16", "")
    REST(M, PRECISION, "gradient_dtype=fp32 dtype!=fp32", OPTION, "--accumulate-allreduce-grads-in-fp32", "")

    REST(B, PRECISION, "dtype=bf16", OPTION, "--compute_dtype", "bf16")
    REST(B, PRECISION, "dtype=fp4", OPTION, "--compute_dtype", "nvfp4")
    REST(B, PRECISION, "dtype=fp8 fp8_blocks=true", OPTION, "--compute_dtype", "fp8_mx")
    REST(B, PRECISION, "dtype=fp8 fp8_blocks=false", OPTION, "--compute_dtype", "fp8_cs")
    REST(B, PRECISION, "dtype!=bf16,fp8,fp4", LACK, S "{dtype}: its scripts take bf16, fp8 and nvfp4")
    REST(B, PRECISION, "gradient_dtype=fp32", TRUTH, "ddp.grad_reduce_in_fp32", "")
    REST(B, PRECISION, "optimizer_8_bit=true offload=none,activations", OPTION,
        "optimizer.use_precision_aware_optimizer", "true")
    REST(B, PRECISION, "optimizer_8_bit=true offload=none,activations", OPTION, "optimizer.exp_avg_dtype", "torch.uint8")
    REST(B, PRECISION, "optimizer_8_bit=true offload=none,activations", OPTION,
        "optimizer.exp_avg_sq_dtype", "torch.uint8")
    REST(B, PRECISION, "saved_fp8=true", OPTION, "model.activation_func_fp8_input_store", "true")
    REST(B, PRECISION, "dtype=fp8 weight_dtype=fp8", OPTION, "ddp.fp8_param_gather", "true")
    REST(B, PRECISION, "dtype=fp8 weight_dtype!=fp8", OPTION, "ddp.fp8_param_gather", "false")

    REST(T, PRECISION, "dtype=bf16,fp32", OPTION, "--training.dtype", "float32")
    REST(T, PRECISION, "dtype=bf16", OPTION, "--training.mixed_precision_param", "bfloat16")
    REST(T, PRECISION, "dtype=fp32", OPTION, "--training.mixed_precision_param", "float32")
    REST(T, PRECISION, "dtype!=bf16,fp32", LACK,
        S "{dtype}: no option; float8 is a converter in the model's configuration")
    REST(T, PRECISION, "gradient_dtype=fp32", OPTION, "--training.mixed_precision_reduce", "float32")
    REST(T, PRECISION, "gradient_dtype!=fp32", LACK,
        S "gradients in {gradient_dtype}: mixed_precision_reduce is float32 alone")
    REST(T, PRECISION, "optimizer_8_bit=true", LACK,
        S "optimizer_state 8-bit: {no}option; torchao's AdamW8bit would be a class in the model's configuration")

    REST(D, PRECISION, "dtype=bf16", TRUTH, "bf16.enabled", "")
    REST(D, PRECISION, "dtype=fp16", TRUTH, "fp16.enabled", "")
    REST(D, PRECISION, "dtype=fp8,fp4", LACK, S "{dtype}: no key; the model's own layers")
    REST(D, PRECISION, "", OPTION, "data_types.grad_accum_dtype", "{gradient_dtype}")
    REST(D, PRECISION, "", OPTION, "communication_data_type", "{gradient_dtype}")

    /* ---- the model ---- */
    REST(B, LAUNCH, "", OPTION, "--num_gpus", "{ranks}")
    REST(B, LAUNCH, "gpu!=unknown", OPTION, "--gpu", "{gpu}")
    REST(B, LAUNCH, "gpu=unknown", VARIABLE, "--gpu", "${GPU:?the scripts know h100, b200, b300, gb200, gb300}")

    REST(M, MODEL, "", OPTION, "--seq-length", "{sequence}")
    REST(M, MODEL, "", OPTION, "--max-position-embeddings", "{sequence}")
    REST(M, MODEL, "", OPTION, "--num-layers", "{layers}")
    REST(M, MODEL, "", OPTION, "--hidden-size", "{hidden}")
    REST(M, MODEL, "", OPTION, "--ffn-hidden-size", "{ffn}")
    REST(M, MODEL, "", OPTION, "--num-attention-heads", "{heads}")
    REST(M, MODEL, "grouped_heads=true", OPTION, "--group-query-attention", "")
    REST(M, MODEL, "grouped_heads=true", OPTION, "--num-query-groups", "{kv_heads}")
    REST(M, MODEL, "kv_latent!=0", OPTION, "--multi-latent-attention", "")
    REST(M, MODEL, "kv_latent!=0 q_latent!=0", OPTION, "--q-lora-rank", "{q_latent}")
    REST(M, MODEL, "kv_latent!=0", OPTION, "--kv-lora-rank", "{kv_latent}")
    REST(M, MODEL, "kv_latent!=0", OPTION, "--qk-head-dim", "{qk_dim}")
    REST(M, MODEL, "kv_latent!=0", OPTION, "--qk-pos-emb-head-dim", "{rope_dim}")
    REST(M, MODEL, "kv_latent!=0", OPTION, "--v-head-dim", "{value_dim}")
    REST(M, MODEL, "kv_latent!=0", OPTION, "--qk-layernorm", "")
    REST(M, MODEL, "kv_latent=0 heads_fill_hidden=false", OPTION, "--kv-channels", "{head_dim}")
    REST(M, MODEL, "qk_norms=true", OPTION, "--qk-layernorm", "")
    REST(M, MODEL, "cross_layers!=0", LACK,
        S "{cross_layers} layers have cross-attention, which pretrain_gpt.py has not")
    REST(M, MODEL, "experts!=0", OPTION, "--num-experts", "{experts}")
    REST(M, MODEL, "experts!=0", OPTION, "--moe-router-topk", "{experts_per_token}")
    REST(M, MODEL, "experts!=0", OPTION, "--moe-ffn-hidden-size", "{expert_ffn}")
    REST(M, MODEL, "experts!=0 dispatch_ranks=0", OPTION, "--moe-token-dispatcher-type", "alltoall")
    REST(M, MODEL, "experts!=0 dispatch_ranks!=0", OPTION, "--moe-token-dispatcher-type", "flex")
    REST(M, MODEL, "experts!=0 expert_groups!=0", OPTION, "--moe-router-num-groups", "{expert_groups}")
    REST(M, MODEL, "experts!=0 expert_groups!=0", OPTION, "--moe-router-group-topk", "{groups_per_token}")
    REST(M, MODEL, "experts!=0", OPTION, "--moe-grouped-gemm", "")
    REST(M, MODEL, "experts!=0 capacity!=0", OPTION, "--moe-expert-capacity-factor", "{capacity}")
    REST(M, MODEL, "experts!=0 shared_ffn!=0", OPTION, "--moe-shared-expert-intermediate-size", "{shared_ffn}")
    REST(M, MODEL, "experts!=0 dense_layers!=0", OPTION, "--moe-layer-freq", "([0]*{dense_layers}+[1]*{expert_layers})")
    /* pretrain_mamba.py builds layers of one block each; its head_dim, state and groups are of all such blocks. */
    REST(M, MODEL, "hybrid=true", OPTION, "--is-hybrid-model", "")
    REST(M, MODEL, "hybrid=true", OPTION, "--hybrid-override-pattern", "{letters}")
    REST(M, MODEL, "hybrid=true ssm_heads!=0", OPTION, "--mamba-num-heads", "{ssm_heads}")
    REST(M, MODEL, "hybrid=true ssm_heads!=0", OPTION, "--mamba-head-dim", "{ssm_head_dim}")
    REST(M, MODEL, "hybrid=true ssm_heads!=0", OPTION, "--mamba-state-dim", "{ssm_state}")
    REST(M, MODEL, "hybrid=true ssm_heads!=0", OPTION, "--mamba-num-groups", "{ssm_groups}")
    REST(M, MODEL, "hybrid=true", LACK,
        S "pattern: pretrain_mamba.py builds such a model; start it in the place of pretrain_gpt.py")
    REST(M, MODEL, "own_blocks=true", LACK,
        S "blocks: layers of several blocks, recurrent ones but Mamba-2, gates, indexers and heads of several sizes are "
          "of the model's own code; these options do not build them")
    REST(M, MODEL, "documents=true", OPTION, "--reset-attention-mask", "")
    REST(M, MODEL, "predicted!=0", OPTION, "--mtp-num-layers", "{predicted}")
    REST(M, MODEL, "lora_rank!=0", LACK, S "lora_rank: {no}option for adapters beside frozen weights")
    REST(M, MODEL, "gated=true", OPTION, "--swiglu", "")
    REST(M, MODEL, "norm_biases=false", OPTION, "--normalization", "RMSNorm")
    REST(M, MODEL, "biases=false", OPTION, "--disable-bias-linear", "")
    REST(M, MODEL, "biases=false qkv_biases=true", OPTION, "--add-qkv-bias", "")
    REST(M, MODEL, "tied=false", OPTION, "--untie-embeddings-and-output-weights", "")
    REST(M, MODEL, "positions=true", OPTION, "--position-embedding-type", "learned_absolute")
    REST(M, MODEL, "positions=false", OPTION, "--position-embedding-type", "rope")
    REST(M, MODEL, "positions=false rotary_stated=true", OPTION, "--rotary-base", "{rotary_base}")
    REST(M, MODEL, "positions=false rotary_stated=false", NOTE,
        S "the base of rotary positions is not stated (rotary_base of the model); "
        "without --rotary-base it is 10000")
    REST(M, MODEL, "dropout=false", OPTION, "--attention-dropout", "0")
    REST(M, MODEL, "dropout=false", OPTION, "--hidden-dropout", "0")
    REST(M, MODEL, "", OPTION, "--vocab-size", "{vocabulary}")
    REST(M, MODEL, "", OPTION, "--make-vocab-size-divisible-by", "{vocabulary_multiple}")
    REST(M, MODEL, "", NOTE, S "data, tokenizer, optimiser and learning rate are yours to give")

    REST(B, MODEL, "", VARIABLE, "--model_family_name", "${FAMILY:?of a recipe, such as llama}")
    REST(B, MODEL, "", VARIABLE, "--model_recipe_name", "${RECIPE:?such as llama31_405b}")
    REST(B, MODEL, "", OPTION, "--seq_length", "{sequence}")
    REST(B, MODEL, "", OPTION, "--num_layers", "{layers}")
    REST(B, MODEL, "", OPTION, "--hidden_size", "{hidden}")
    REST(B, MODEL, "lora_rank!=0", LACK,
        S "lora_rank: this is its script of pre-training, which trains all weights")
    REST(B, MODEL, "hybrid=true", NOTE,
        S "pattern: a hybrid's letters are the recipe's: check that they are {pattern}")
    REST(B, MODEL, "experts!=0", OPTION, "model.num_moe_experts", "{experts}")
    REST(B, MODEL, "", NOTE, S "heads, MLP, norms and vocabulary are the recipe's: check that they are {model}'s")

    REST(T, MODEL, "", OPTION, "--training.max_context_length", "{sequence}")
    REST(T, MODEL, "", NOTE, S "MODULE and CONFIG name the model's configuration; check that it is {model}'s")
    REST(D, MODEL, "", NOTE,
        S "sequence {sequence}, layers, optimiser and data are the program's own: check that they are {model}'s")
};
/* clang-format on */

const int fr_emit_n_rows = sizeof fr_emit_rows / sizeof *fr_emit_rows;
