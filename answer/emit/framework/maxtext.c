/* MaxText: NAME=VALUE of its command line, names those of configs/base.yml.
 *
 * Axes of its mesh are divided in two: ici_NAME_parallelism inside what the fast links join (a slice, a node), and
 * dcn_NAME_parallelism over these.  fsdp divides parameters, data replicates them; ranks of a sequence and of experts divide
 * parameters, too.  XLA orders messages beside products by itself. */
#include "answer/emit.h"

#define KEY(key, where, ...) {0, FR_PLAN_KEY_##key, where, FR_EMIT_##__VA_ARGS__},
#define REST(about, where, ...) {0, FR_EMIT_##about, where, FR_EMIT_##__VA_ARGS__},
#define S "", /* of a sentence */
#define XLA "XLA's compiler decides; "

/* clang-format off */
static const struct fr_emit_row rows[] = {
    /* ---- the mesh ---- */
    KEY(method, "", NONE, S "tensor parallelism is how MaxText divides a layer")
    KEY(tp, "sequence_parallel=false", OPTION, "ici_tensor_parallelism", "{ici_tensor}")
    KEY(tp, "sequence_parallel=false", OPTION, "dcn_tensor_parallelism", "{dcn_tensor}")
    KEY(tp, "sequence_parallel=true", OPTION, "ici_tensor_sequence_parallelism", "{ici_tensor}")
    KEY(tp, "sequence_parallel=true", OPTION, "dcn_tensor_sequence_parallelism", "{dcn_tensor}")
    KEY(dp, "", OPTION, "ici_fsdp_parallelism", "{ici_fsdp}")
    KEY(dp, "", OPTION, "dcn_fsdp_parallelism", "{dcn_fsdp}")
    KEY(dp, "", OPTION, "ici_data_parallelism", "{ici_data}")
    KEY(dp, "", OPTION, "dcn_data_parallelism", "{dcn_data}")
    KEY(pp, "", OPTION, "ici_pipeline_parallelism", "{ici_pipeline}")
    KEY(pp, "", OPTION, "dcn_pipeline_parallelism", "{dcn_pipeline}")
    KEY(cp, "", OPTION, "ici_context_parallelism", "{ici_context}")
    KEY(cp, "", OPTION, "dcn_context_parallelism", "{dcn_context}")
    KEY(context, "cp=1", NOTE, S "one rank has the whole sequence")
    KEY(context, "cp!=1 context=ring", OPTION, "context_parallel_strategy", "ring")
    KEY(context, "cp!=1 context=all-to-all", OPTION, "context_parallel_strategy", "ulysses")
    KEY(ep, "jax_experts=true", OPTION, "ici_expert_parallelism", "{ici_expert}")
    KEY(ep, "jax_experts=true", OPTION, "dcn_expert_parallelism", "{dcn_expert}")
    KEY(ep, "jax_experts=false", LACK, S "{ep}: ranks that divide experts are replicas of the rest; {dp} cannot be divided so")
    KEY(etp, "experts=0", NOTE, S "the model has no experts")
    KEY(etp, "experts!=0 jax_expert_tp=true", NOTE, S "experts are divided as layers are")
    KEY(etp, "experts!=0 jax_expert_tp=false", LACK, S "{expert_tp}: experts are divided as layers are")
    /* Its mesh is data-stage-fsdp-context-tensor-expert, the last axis innermost. */
    KEY(rank_order, "jax_order=true", NOTE, S "its mesh is data-stage-fsdp-context-tensor-expert, the last innermost")
    KEY(rank_order, "jax_order=false", LACK, S "{rank_order}: its mesh is data-stage-fsdp-context-tensor-expert, the last innermost")

    /* ---- the pipeline ---- */
    KEY(schedule, "pp!=1 order=gpipe", NOTE, S "all forward passes, then all backward ones, as its loop is differentiated")
    KEY(schedule, "pp!=1 order!=gpipe", LACK, S "{order}: its loop over stages is differentiated, which is gpipe")
    KEY(chunks, "chunks=1", NOTE, S "1, as num_pipeline_repeats then is")
    KEY(chunks, "chunks!=1", LACK, S "{chunks}: num_pipeline_repeats has them, in an order that no plan states")
    KEY(p2p, "", NONE, S XLA "stages shift their activations together")
    KEY(stage_layers, "pp=1", NOTE, S "one stage has all of them")
    KEY(stage_layers, "pp!=1 even=true", OPTION, "num_layers_per_pipeline_stage", "{layers_a_stage}")
    KEY(stage_layers, "pp!=1 even=false", LACK, S "uneven stages: its stages are equal")
    KEY(embedding, "", NONE, S "every stage has the embedding's part of it")

    /* ---- inside a layer ---- */
    KEY(sequence_parallel, "sequence_parallel=true", NOTE, S "in tensor_sequence_parallelism")
    KEY(sequence_parallel, "sequence_parallel=false", NOTE, S "in tensor_parallelism")
    KEY(overlap_tp, "", NOTE, S "{overlap_tp}: " XLA "collective matrix products are flags of XLA's")
    KEY(attention, "attention=plain", OPTION, "attention", "dot_product")
    KEY(attention, "attention=flash jax_tpu=true", OPTION, "attention", "flash")
    KEY(attention, "attention=flash jax_tpu=false", OPTION, "attention", "cudnn_flash_te")
    KEY(attention, "attention!=plain,flash", LACK, S "{attention}: {no}kernels of FlashAttention's earlier generations")

    /* ---- replicas ---- */
    KEY(zero, "zero=1 jax_shards=true", OPTION, "shard_optimizer_over_data", "true")
    KEY(zero, "zero=0 jax_shards=true", NOTE, S "0: replicas of axis data hold everything")
    KEY(zero, "zero=2", LACK, S "2: {no}gradients divided without parameters; fsdp divides them, too")
    KEY(zero, "zero=3 jax_shards=true", NOTE, S "3: replicas of axis fsdp divide parameters")
    KEY(zero, "zero!=2 jax_shards=false", LACK, S "{zero}: ranks of a sequence and of experts divide parameters in its mesh")
    KEY(zero_ranks, "zero=0", NOTE, S "replicas divide nothing")
    KEY(zero_ranks, "zero=1 zero_whole=true", NOTE, S "all replicas of axis data")
    KEY(zero_ranks, "zero=1 zero_whole=false", LACK, S "groups of {zero_ranks}: all replicas of axis data divide the optimiser's state")
    KEY(zero_ranks, "zero=2,3", NOTE, S "in the sizes of axes fsdp and data")
    KEY(zero_exchange, "", NONE, S "XLA gathers parameters")
    KEY(reshard, "", NONE, S XLA "it gathers again for the backward pass")
    KEY(gradient_sync, "", NOTE, S "{gradient_sync}: " XLA "it scatters behind every micro-batch")
    KEY(overlap, "", NOTE, S "{overlap}: " XLA "its latency-hiding scheduler places messages")
    KEY(bucket, "", NOTE, S XLA "combine thresholds are flags of XLA's")

    /* ---- experts ---- */
    KEY(dispatch_ranks, "", NONE, S "{no}option for one copy of a token for several experts")
    KEY(overlap_experts, "", NONE, S XLA "it hides what it can")

    /* ---- memory ---- */
    KEY(recompute, "recompute=none", OPTION, "remat_policy", "none")
    KEY(recompute, "recompute=full", OPTION, "remat_policy", "full")
    KEY(recompute, "recompute=save_qkv", OPTION, "remat_policy", "save_qkv_proj")
    KEY(recompute, "recompute=layernorm", OPTION, "remat_policy", "minimal_with_context")
    KEY(recompute, "recompute=core_attn+layernorm", OPTION, "remat_policy", "minimal")
    KEY(recompute, "recompute=core_attn+layernorm+mlp experts=0,1", OPTION, "remat_policy", "save_dot_except_mlp")
    KEY(recompute, "recompute=layernorm+mlp experts=0,1", OPTION, "remat_policy", "save_dot_with_context_except_mlp")
    KEY(recompute, "recompute!=none,full,save_qkv,layernorm,core_attn+layernorm,core_attn+layernorm+mlp,layernorm+mlp",
        LACK, S "{recompute}: none of its policies; custom names tensors to keep")
    KEY(recompute, "recompute=core_attn+layernorm+mlp,layernorm+mlp experts!=0,1", LACK,
        S "{recompute}: its policy for that leaves experts saved")
    KEY(recompute_layers, "recompute_layers=0", NOTE, S "all layers, where they recompute")
    KEY(recompute_layers, "recompute_layers!=0", LACK, S "{recompute_layers}: all layers follow one policy")
    KEY(offload, "offload=none", NOTE, S "none, as without optimizer_memory_host_offload")
    KEY(offload, "offload=optimizer", OPTION, "optimizer_memory_host_offload", "true")
    KEY(offload, "offload!=none,optimizer", LACK, S "{offload}: policies of remat that offload are not written")
    KEY(offload_layers, "offload_layers=0", NOTE, S "nothing of layers lies in the host's memory")
    KEY(offload_layers, "offload_layers!=0", LACK, S "{offload_layers}: all layers follow one policy")

    /* ---- kernels ---- */
    KEY(graphs, "", NOTE, S "{graphs}: " XLA "a step is one compiled program")
    KEY(accumulation, "", NOTE, S "{accumulation}: " XLA "it fuses what it can")
    KEY(loss, "", NOTE, S "{loss}: " XLA "the loss is compiled")

    /* ---- batches ---- */
    KEY(global_batch, "", OPTION, "per_device_batch_size", "{device_batch}")
    KEY(micro_batch, "pp=1", OPTION, "gradient_accumulation_steps", "{micro_batches}")
    KEY(micro_batch, "pp!=1", OPTION, "num_pipeline_microbatches", "{micro_batches}")
    KEY(iterations, "steps=none", NOTE, S "none stated; give steps")
    KEY(iterations, "steps!=none", OPTION, "steps", "{steps}")

    /* ---- number formats ---- */
    REST(PRECISION, "dtype=bf16,fp8", OPTION, "dtype", "bfloat16")
    REST(PRECISION, "dtype=fp32", OPTION, "dtype", "float32")
    REST(PRECISION, "dtype=fp8", OPTION, "quantization", "fp8")
    REST(PRECISION, "dtype!=bf16,fp8,fp32", LACK, S "{dtype}: {no}option for it")
    REST(PRECISION, "weight_dtype=fp32", OPTION, "weight_dtype", "float32")
    REST(PRECISION, "weight_dtype!=fp32", OPTION, "weight_dtype", "bfloat16")
    REST(PRECISION, "gradient_dtype=fp32", OPTION, "grad_dtype", "float32")
    REST(PRECISION, "gradient_dtype!=fp32", OPTION, "grad_dtype", "bfloat16")
    REST(PRECISION, "optimizer_8_bit=true", LACK, S "optimizer_state 8-bit: {no}option for it")

    /* ---- where ---- */
    REST(LAUNCH, "jax_tpu=false", OPTION, "hardware", "gpu_multiprocess")
    REST(LAUNCH, "jax_tpu=true", OPTION, "hardware", "tpu")

    /* ---- the model ---- */
    REST(MODEL, "", OPTION, "max_target_length", "{sequence}")
    REST(MODEL, "", OPTION, "decoder_block", "{jax_decoder}")
    REST(MODEL, "", OPTION, "base_num_decoder_layers", "{layers}")
    REST(MODEL, "", OPTION, "base_emb_dim", "{hidden}")
    REST(MODEL, "", OPTION, "base_mlp_dim", "{ffn}")
    REST(MODEL, "", OPTION, "base_num_query_heads", "{heads}")
    REST(MODEL, "", OPTION, "base_num_kv_heads", "{kv_heads}")
    REST(MODEL, "kv_latent=0", OPTION, "head_dim", "{head_dim}")
    REST(MODEL, "", OPTION, "vocab_size", "{vocabulary}")
    REST(MODEL, "", OPTION, "logits_via_embedding", "{tied}")
    REST(MODEL, "gated=true", OPTION, "mlp_activations", "[silu,linear]")
    REST(MODEL, "gated=false", OPTION, "mlp_activations", "[gelu]")
    REST(MODEL, "kv_latent!=0", OPTION, "attention_type", "mla")
    REST(MODEL, "kv_latent!=0", OPTION, "q_lora_rank", "{q_latent}")
    REST(MODEL, "kv_latent!=0", OPTION, "kv_lora_rank", "{kv_latent}")
    REST(MODEL, "kv_latent!=0", OPTION, "qk_nope_head_dim", "{qk_dim}")
    REST(MODEL, "kv_latent!=0", OPTION, "qk_rope_head_dim", "{rope_dim}")
    REST(MODEL, "kv_latent!=0", OPTION, "v_head_dim", "{value_dim}")
    REST(MODEL, "windows=all", OPTION, "attention_type", "local_sliding")
    REST(MODEL, "windows=all", OPTION, "sliding_window_size", "{window}")
    REST(MODEL, "windows=some", LACK, S "windows: layers with and without one are of decoders with a name, such as gemma3")
    REST(MODEL, "experts!=0", OPTION, "num_experts", "{experts}")
    REST(MODEL, "experts!=0", OPTION, "num_experts_per_tok", "{experts_per_token}")
    REST(MODEL, "experts!=0", OPTION, "base_moe_mlp_dim", "{expert_ffn}")
    REST(MODEL, "experts!=0 dense_layers!=0", OPTION, "first_num_dense_layers", "{dense_layers}")
    REST(MODEL, "experts!=0 shared_ffn!=0 shared_whole=true", OPTION, "shared_experts", "{shared_experts}")
    REST(MODEL, "experts!=0 shared_ffn!=0 shared_whole=false", LACK,
        S "a shared expert of {shared_ffn}: its shared experts are as wide as the others")
    REST(MODEL, "experts!=0 expert_groups!=0", OPTION, "n_routing_groups", "{expert_groups}")
    REST(MODEL, "experts!=0 expert_groups!=0", OPTION, "topk_routing_group", "{groups_per_token}")
    REST(MODEL, "experts!=0 capacity!=0", OPTION, "capacity_factor", "{capacity}")
    REST(MODEL, "predicted!=0", OPTION, "mtp_num_layers", "{predicted}")
    REST(MODEL, "hybrid=true", LACK, S "pattern: {no}decoder of such layers that reads them")
    REST(MODEL, "own_blocks=true", LACK,
        S "blocks: layers of several blocks, recurrent ones, gates and indexers are of decoders with a name")
    REST(MODEL, "narrow_attention=true", LACK, S "attention_dtype: {no}attention of 8 bits")
    REST(MODEL, "narrow_logits=true", LACK, S "logits_dtype: {no}logits of 8 bits")
    REST(MODEL, "both_ways=true", LACK, S "causal: its decoders attend to tokens before alone")
    REST(MODEL, "lora_rank!=0", LACK, S "lora_rank: its pre-training trains all weights")
    REST(MODEL, "", NOTE, S "data, tokenizer, output directory and learning rate are yours to give")
    {0, 0, NULL, FR_EMIT_NOTE, NULL, NULL}};
/* clang-format on */

/* A search tries no other values. */
static const char *const able[] = {"schedule=gpipe",
                                   "chunks=1",
                                   "overlap_experts=false",
                                   "zero=0,1,3",
                                   "recompute=none,save_qkv,full",
                                   "offload=none,optimizer",
                                   "method=tensor",
                                   "compression.backward.scope=none",
                                   "compression.gradient.stages=0",
                                   "compression.embedding=separate",
                                   NULL};

const struct fr_emitter fr_emitter_maxtext = {
    .name = "maxtext",
    .framework = "MaxText",
    .no = "MaxText has no ",
    .runtimes = "maxtext",
    .version = "AI-Hypercomputer/maxtext, configs/base.yml (2026)",
    .shared = FR_EMIT_OTHERS,
    .rows = rows,
    .able = able,
    .array = "maxtext",
    .launcher = "{jax_launcher} python -u",
    .program = "-m MaxText.train \"${MAXTEXT:-src/MaxText}/configs/base.yml\" "
               "\"run_name=${RUN:?a name}\" "
               "\"${maxtext[@]}\" ",
};
