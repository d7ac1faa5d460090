/* Arguments of Megatron-LM, one a row; what several of them say together is in model.c and plan.c.
 * Source: NVIDIA/Megatron-LM at d98e8a64ddf3, megatron/training/arguments.py and megatron/core/transformer/
 * transformer_config.py; older names as releases of 2021 to 2025 have them. */
#include "answer/trainer/megatron/megatron.h"

#define SETS(name, needs, key, text) {name, "", needs, FR_MEANS_KEY, key, text},
#define SETS_WHERE(name, where, needs, key, text) {name, where, needs, FR_MEANS_KEY, key, text},
#define READ(name) {name, "", NULL, FR_MEANS_NOTHING, NULL, ""},
#define READ_WHERE(name, where) {name, where, NULL, FR_MEANS_NOTHING, NULL, ""},
#define NOTE(name, where, needs, text) {name, where, needs, FR_MEANS_NOTE, NULL, text},
#define REFUSED(name, where, needs, key, text)                                                 \
    {name, where, needs, FR_MEANS_REFUSAL, key, text},

/* clang-format off */
const struct fr_meaning_row fr_megatron_rows[] = {
    /* ---- the mesh ---- */
    SETS_WHERE("world_size", "!None,0", NULL, "ranks", "{}")
    SETS("tensor_model_parallel_size", NULL, "plan.tp", "{}")
    SETS("model_parallel_size", NULL, "plan.tp", "{}")
    SETS("pipeline_model_parallel_size", NULL, "plan.pp", "{}")
    SETS("context_parallel_size", NULL, "plan.cp", "{}")
    SETS("expert_model_parallel_size", NULL, "plan.ep", "{}")
    SETS("expert_tensor_parallel_size", NULL, "plan.etp", "{}")
    SETS("data_parallel_size", NULL, "note.dp", "{}")
    SETS_WHERE("sequence_parallel", "on", NULL, "plan.sequence_parallel", "true")
    SETS_WHERE("sequence_parallel", "off", NULL, "plan.sequence_parallel", "false")
    SETS_WHERE("use_tp_pp_dp_mapping", "on", NULL, "plan.rank_order", "tp-pp-dp")
    SETS_WHERE("use_tp_pp_dp_mapping", "off", NULL, "plan.rank_order", "tp-dp-pp")
    REFUSED("hierarchical_context_parallel_sizes", "on", NULL, "plan.context", "context parallelism of two levels")
    REFUSED("hybrid_context_parallel", "on", NULL, "plan.context", "context parallelism that changes from sample to sample")
    REFUSED("gtp_weight_remat_size", "!1,None", NULL, NULL, "weights divided over ranks that gather them")
    REFUSED("expert_gtp_weight_remat_size", "!1,None", NULL, NULL, "weights divided over ranks that gather them")
    REFUSED("tensor_parallel_num_weight_shards", "!1,None", NULL, NULL, "weights divided over ranks that gather them")
    REFUSED("expert_tensor_parallel_num_weight_shards", "!1,None", NULL, NULL, "weights divided over ranks that gather them")
    REFUSED("moe_extended_tp", "on", "num_experts", "plan.etp", "experts divided over tp times ep")
    REFUSED("encoder_tensor_model_parallel_size", "!0,None,1", NULL, NULL, "an encoder with a mesh of its own")
    REFUSED("encoder_pipeline_model_parallel_size", "!0,None", NULL, NULL, "an encoder with stages of its own")

    /* ---- batches ---- */
    SETS("micro_batch_size", NULL, "plan.micro_batch", "{}")
    SETS("global_batch_size", NULL, "plan.global_batch", "{}")
    SETS("train_iters", NULL, "plan.iterations", "{}")
    SETS("seq_length", NULL, "model.sequence", "{}")
    SETS("encoder_seq_length", NULL, "model.sequence", "{}")
    REFUSED("step_batch_size_schedule", "on", NULL, "plan.global_batch", "a batch that follows a schedule")
    REFUSED("decrease_batch_size_if_needed", "on", NULL, "plan.global_batch", "a batch that may become smaller")

    /* ---- the model ---- */
    SETS("hidden_size", NULL, "model.hidden", "{}")
    SETS("num_layers", NULL, "model.layers", "{}")
    SETS("num_attention_heads", NULL, "model.heads", "{}")
    SETS("kv_channels", NULL, "model.head_dim", "{}")
    SETS_WHERE("swiglu", "on", NULL, "model.gated", "true")
    SETS_WHERE("swiglu", "off", NULL, "model.gated", "false")
    SETS_WHERE("quick_geglu", "on", NULL, "model.gated", "true")
    SETS_WHERE("gated_linear_unit", "on", NULL, "model.gated", "true")
    SETS_WHERE("gated_linear_unit", "off", NULL, "model.gated", "false")
    SETS_WHERE("normalization", "RMSNorm", NULL, "model.norm", "rms")
    SETS_WHERE("normalization", "LayerNorm,LayerNorm1P", NULL, "model.norm", "layer")
    REFUSED("normalization", "", NULL, "model.norm", "a norm that is neither LayerNorm nor RMSNorm")
    SETS_WHERE("add_bias_linear", "on", NULL, "model.biases", "true")
    SETS_WHERE("add_bias_linear", "off", NULL, "model.biases", "false")
    SETS_WHERE("disable_bias_linear", "on", NULL, "model.biases", "false")
    NOTE("add_qkv_bias", "on", NULL, "biases of queries, keys and values are not priced apart")
    NOTE("qk_layernorm", "on", NULL, "norms of queries and keys are priced where the model says them")
    SETS_WHERE("untie_embeddings_and_output_weights", "on", NULL, "model.tied_embedding", "false")
    SETS_WHERE("untie_embeddings_and_output_weights", "off", NULL, "model.tied_embedding", "true")
    SETS_WHERE("share_embeddings_and_output_weights", "on", NULL, "model.tied_embedding", "true")
    SETS_WHERE("share_embeddings_and_output_weights", "off", NULL, "model.tied_embedding", "false")
    SETS_WHERE("position_embedding_type", "learned_absolute", NULL, "model.positions", "learned")
    SETS_WHERE("position_embedding_type", "rope,yarn,mrope", NULL, "model.positions", "rotary")
    SETS_WHERE("position_embedding_type", "none,nope", NULL, "model.positions", "none")
    REFUSED("position_embedding_type", "!None", NULL, "model.positions", "positions that no model here has")
    SETS_WHERE("use_rotary_position_embeddings", "on", NULL, "model.positions", "rotary")
    READ("rotary_base")
    READ("vocab_size") READ("padded_vocab_size") READ("make_vocab_size_divisible_by")
    READ("group_query_attention") READ("num_query_groups") READ("ffn_hidden_size")
    READ("attention_dropout") READ("hidden_dropout") READ("hybrid_dropout")
    READ("max_position_embeddings") READ("multi_latent_attention")
    SETS("kv_lora_rank", "multi_latent_attention", "model.kv_latent", "{}")
    SETS("q_lora_rank", "multi_latent_attention", "model.q_latent", "{}")
    SETS("qk_pos_emb_head_dim", "multi_latent_attention", "model.rope_dim", "{}")
    SETS("v_head_dim", "multi_latent_attention", "model.value_dim", "{}")
    READ("qk_head_dim")
    REFUSED("mla_down_proj_fusion", "on", "multi_latent_attention", NULL, "latent products made as one")
    SETS("mtp_num_layers", NULL, "model.predicted_tokens", "{}")
    READ("mtp_loss_scaling_factor")
    READ("window_size") READ("window_attn_skip_freq")
    REFUSED("reset_attention_mask", "on", NULL, "model.document", "documents that do not attend to each other; how long they are is not said")
    REFUSED("dataloader_inter_document_masking", "on", NULL, "model.document", "documents that do not attend to each other; how long they are is not said")
    REFUSED("sft", "on", NULL, "model.sequence", "fine-tuning on samples of their own lengths")
    REFUSED("variable_seq_lengths", "on", NULL, "model.sequence", "samples of different lengths")
    REFUSED("experimental_attention_variant", "on", NULL, NULL, "an attention that is not priced")
    REFUSED("attention_output_gate", "on", NULL, NULL, "a gate behind attention, a product more")
    REFUSED("heterogeneous_layers_config_path", "on", NULL, NULL, "layers that differ from each other")
    REFUSED("heterogeneous_layers_config_encoded_json", "on", NULL, NULL, "layers that differ from each other")
    REFUSED("heterogeneous_block_specs", "on", NULL, NULL, "layers that differ from each other")
    REFUSED("enable_mhc_connections", "on", NULL, NULL, "several residual streams")
    REFUSED("add_cross_attention", "on", NULL, "model.cross_layers", "cross-attention")
    READ("spec")
    READ("is_hybrid_model") READ("mamba_inference_conv_states_dtype") READ("mamba_inference_ssm_states_dtype")
    REFUSED("linear_attention_freq", "on", NULL, "model.pattern", "layers with linear attention")
    READ("hybrid_override_pattern") READ("hybrid_layer_pattern")
    REFUSED("hybrid_attention_ratio", "on", NULL, "model.pattern", "a pattern that is given as shares")
    REFUSED("hybrid_mlp_ratio", "on", NULL, "model.pattern", "a pattern that is given as shares")
    SETS("mamba_num_heads", "hybrid_layer_pattern", "model.ssm_heads", "{}")
    SETS("mamba_head_dim", "hybrid_layer_pattern", "model.ssm_head_dim", "{}")
    SETS("mamba_state_dim", "hybrid_layer_pattern", "model.ssm_state", "{}")
    SETS("mamba_num_groups", "hybrid_layer_pattern", "model.ssm_groups", "{}")
    SETS_WHERE("optimizer", "adam", NULL, "model.optimizer", "adam")
    SETS_WHERE("optimizer", "sgd", NULL, "model.optimizer", "momentum")
    REFUSED("optimizer", "muon,dist_muon,adaptive_muon,soap,lion", NULL, "model.optimizer", "an optimiser that is not priced")
    REFUSED("decoder_num_layers", "on", NULL, "model.layers", "a decoder beside an encoder, which is no model here")
    REFUSED("vision_pretraining", "on", NULL, "model", "a vision model, which is not read by its arguments")
    REFUSED("yaml_cfg", "on", NULL, NULL, "arguments of a file of its own: read that file")
    NOTE("use_checkpoint_args", "on", NULL, "a checkpoint's sizes go before those that are stated here")
    NOTE("use_mp_args_from_checkpoint_args", "on", NULL, "a checkpoint's degrees go before those that are stated here")
    NOTE("qk_clip", "on", NULL, "the clipping of queries and keys is not priced")
    NOTE("mtp_use_repeated_layer", "on", "mtp_num_layers", "layers that predict are priced with weights of their own")
    REFUSED("mtp_hybrid_override_pattern", "on", "mtp_num_layers", "model.predicted_tokens", "layers that predict of a pattern of their own")
    REFUSED("fake_process_group", "on", NULL, NULL, "ranks that are not there")
    REFUSED("peft", "on", NULL, "model.lora_rank", "adapters beside frozen weights")
    REFUSED("freeze_all_layers", "on", NULL, NULL, "weights that are not trained")
    REFUSED("skip_train", "on", NULL, "plan.pass", "nothing is trained")
    REFUSED("perform_rl_step", "on", NULL, NULL, "reinforcement learning")

    /* ---- experts ---- */
    SETS("num_experts", NULL, "model.experts", "{}")
    SETS("num_moe_experts", NULL, "model.experts", "{}")
    SETS("moe_router_topk", "num_experts", "model.experts_per_token", "{}")
    SETS("moe_ffn_hidden_size", "num_experts", "model.expert_ffn", "{}")
    SETS("moe_shared_expert_intermediate_size", "num_experts", "model.shared_ffn", "{}")
    SETS("moe_expert_capacity_factor", "num_experts", "model.capacity", "{}")
    SETS("moe_router_num_groups", "num_experts", "model.expert_groups", "{}")
    SETS("moe_router_group_topk", "num_experts", "model.groups_per_token", "{}")
    SETS_WHERE("overlap_moe_expert_parallel_comm", "on", "num_experts", "plan.overlap_experts", "true")
    SETS_WHERE("overlap_moe_expert_parallel_comm", "off", NULL, "plan.overlap_experts", "false")
    READ("moe_layer_freq") READ("moe_token_dispatcher_type") READ("moe_enable_deepep") READ("moe_flex_dispatcher_backend")
    REFUSED("moe_router_topk_limited_devices", "on", "num_experts", "model.groups_per_token", "experts on a limited number of devices")
    REFUSED("moe_pad_expert_input_to_capacity", "on", "num_experts", "model.capacity", "experts that compute rows of padding")
    REFUSED("moe_shared_expert_overlap", "on", "num_experts", NULL, "shared experts beside the exchange of tokens")
    REFUSED("moe_latent_size", "on", "num_experts", NULL, "experts in a latent space")
    REFUSED("moe_grouped_gemm", "off", "num_experts", NULL, "a product for each expert, where one for all of a rank is priced")
    REFUSED("moe_use_legacy_grouped_gemm", "on", "num_experts", NULL, "products of an older library")
    REFUSED("moe_shared_expert_gate", "on", "num_experts", NULL, "a gate of shared experts")
    READ("moe_layer_recompute")
    REFUSED("moe_combine_bwd_dtype", "!bf16,None", "num_experts", "model.dtype", "tokens that go back in another number format")
    REFUSED("moe_dispatch_fwd_dtype", "!bf16,None", "num_experts", "model.dtype", "tokens that go out in another number format")
    /* No effect on time and memory, or little beside the priced terms. */
    READ("moe_router_load_balancing_type") READ("moe_aux_loss_coeff") READ("moe_z_loss_coeff") READ("moe_router_dtype")
    READ("moe_router_score_function") READ("moe_router_pre_softmax") READ("moe_router_topk_scaling_factor")
    READ("moe_router_enable_expert_bias") READ("moe_router_bias_update_rate") READ("moe_router_force_load_balancing")
    READ("moe_router_fusion") READ("moe_permute_fusion") READ("moe_permute_fusion_into_hybridep") READ("moe_token_drop_policy")
    READ("moe_token_dropping") READ("moe_per_layer_logging") READ("moe_input_jitter_eps") READ("moe_apply_probs_on_input")
    READ("moe_use_device_initiated_grouped_gemm") READ("moe_deepep_num_sms") READ("moe_hybridep_num_sms")
    READ("moe_upcycling_granularity") READ("moe_use_upcycling") READ("moe_router_padding_for_fp8")
    READ("moe_router_padding_for_quantization") READ("moe_router_quantile_balancing_ema") READ("moe_router_force_biased")
    READ("moe_pad_experts_for_cuda_graph_inference") READ("moe_use_fused_router_with_aux_score")
    READ("moe_paged_stash_page_size") READ("moe_expert_rank_capacity_factor") READ("moe_aux_loss_free_bias_update_rate")
    READ("moe_routing_trace_capture_hidden_states") READ("moe_routing_trace_capture_logits") READ("moe_routing_trace_path")
    READ("moe_flex_dispatcher_num_sms") READ("moe_enable_routing_replay") READ("moe_hybridep_pad_uneven_dispatch_inputs")
    READ("moe_paged_stash_buffer_size_factor_cuda") READ("moe_paged_stash_buffer_size_factor_cpu") READ("moe_mlp_glu_interleave_size")
    READ("moe_hybridep_num_sms_preprocessing") READ("moe_hybridep_num_blocks_permute") READ("moe_hybridep_num_blocks_unpermute")

    /* ---- number formats ---- */
    READ("bf16") READ("fp16") READ("fp8") READ("fp8_format") READ("fp8_hybrid") READ("fp8_e4m3") READ("fp8_recipe") READ("fp8_param_gather") READ("fp8_param")
    READ("fp4") READ("fp4_format") READ("fp4_recipe") READ("fp4_param_gather") READ("fp4_param")
    READ("accumulate_allreduce_grads_in_fp32") READ("grad_reduce_in_bf16") READ("grad_reduce_in_fp32")
    READ("use_precision_aware_optimizer") READ("exp_avg_dtype") READ("exp_avg_sq_dtype") READ("main_params_dtype") READ("main_grads_dtype")
    NOTE("fp32_residual_connection", "on", NULL, "residuals are priced in the number format of activations")
    NOTE("fp16_lm_cross_entropy", "on", NULL, "logits are priced as without it")
    NOTE("output_logit_dtype", "on", NULL, "logits are priced as the model's logits_dtype says")
    NOTE("keep_fp8_transpose_cache", "on", NULL, "transposed copies of weights are not counted in memory")
    NOTE("reuse_grad_buf_for_mxfp8_param_ag", "on", NULL, "memory of gradients and gathered parameters is counted apart")
    REFUSED("first_last_layers_bf16", "on", NULL, NULL, "layers of two number formats")
    REFUSED("fp8_wgrad", "off", "fp8", NULL, "weight gradients of 16 bits beside products of 8")
    SETS_WHERE("fp8_dot_product_attention", "on", "fp8", "model.attention_dtype", "fp8")
    SETS_WHERE("fp8_multi_head_attention", "on", "fp8", "model.attention_dtype", "fp8")
    SETS_WHERE("fp8_output_proj", "on", "fp8", "model.logits_dtype", "fp8")
    REFUSED("te_precision_config_file", "on", NULL, "model.dtype", "number formats of a file of its own")
    REFUSED("quant_recipe", "on", NULL, "model.dtype", "number formats of a recipe of its own")
    SETS_WHERE("activation_func_fp8_input_store", "on", NULL, "model.activation_store", "fp8")
    READ("fp8_amax_compute_algo") READ("fp8_amax_history_len") READ("fp8_interval") READ("fp8_margin")
    READ("fp8_quantizer_factory") READ("fp4_quantizer_factory") READ_WHERE("fp8_wgrad", "on")
    READ("num_layers_at_start_in_bf16") READ("num_layers_at_end_in_bf16")

    /* ---- the pipeline ---- */
    READ("virtual_pipeline_model_parallel_size") READ("num_virtual_stages_per_pipeline_rank")
    READ("num_layers_per_virtual_pipeline_stage") READ("overlap_p2p_comm") READ("overlap_p2p_communication")
    READ("no_overlap_p2p_communication")
    READ("pipeline_model_parallel_layout") READ("decoder_first_pipeline_num_layers") READ("decoder_last_pipeline_num_layers")
    READ("num_layers_in_first_pipeline_stage") READ("num_layers_in_last_pipeline_stage")
    READ("account_for_embedding_in_pipeline_split") READ("account_for_loss_in_pipeline_split")
    READ("pipeline_model_parallel_split_rank") READ("pipeline_dtype") READ("pipeline_model_parallel_comm_backend")
    NOTE("microbatch_group_size_per_vp_stage", "on", NULL, "micro-batches go through chunks in groups of pp where a plan interleaves")
    NOTE("overlap_p2p_comm_warmup_flush", "on", NULL, "messages of the warm-up are priced as the others")
    READ_WHERE("microbatch_group_size_per_virtual_pipeline_stage", "")
    REFUSED("num_microbatches_with_partial_activation_checkpoints", "on", NULL, "plan.recompute", "some micro-batches that recompute")
    REFUSED("delay_wgrad_compute", "on", NULL, NULL, "weight gradients behind the exchange of tokens")
    REFUSED("overlap_dispatch_backward_with_experts_wgrad", "on", NULL, NULL, "weight gradients beside the exchange of tokens")
    NOTE("defer_embedding_wgrad_compute", "on", NULL, "gradients of the logits' weights are priced in their passes")

    /* ---- inside a layer ---- */
    SETS_WHERE("tp_comm_overlap", "on", NULL, "plan.overlap_tp", "true")
    SETS_WHERE("tp_comm_overlap", "off", NULL, "plan.overlap_tp", "false")
    NOTE("tp_comm_overlap_ag", "off", "tp_comm_overlap", "gathers are priced beside products, as the others")
    NOTE("tp_comm_overlap_rs", "off", "tp_comm_overlap", "scatters are priced beside products, as the others")
    NOTE("tp_comm_overlap_disable_qkv", "on", "tp_comm_overlap", "that exchange is priced beside its product, as the others")
    NOTE("tp_comm_overlap_disable_fc1", "on", "tp_comm_overlap", "that exchange is priced beside its product, as the others")
    READ("tp_comm_overlap_cfg") READ("tp_comm_bulk_dgrad") READ("tp_comm_bulk_wgrad") READ("tp_comm_split_ag")
    READ("tp_comm_split_rs") READ("tp_comm_overlap_ag") READ("tp_comm_overlap_rs") READ("tp_comm_overlap_rs_dgrad")
    READ("tp_comm_bootstrap_backend") READ("tp_comm_atomic_ag") READ("tp_comm_atomic_rs")
    READ("use_flash_attn") READ("attention_backend") READ("flash_attention_version") READ("transformer_impl") READ("cp_comm_type")
    READ("cross_entropy_loss_fusion") READ("cross_entropy_fusion_impl")
    NOTE("bias_swiglu_fusion", "off", "swiglu", "the activation is priced as one kernel")
    NOTE("bias_activation_fusion", "off", NULL, "the activation is priced as one kernel")
    NOTE("bias_dropout_fusion", "off", NULL, "residual and dropout are priced as one kernel")
    NOTE("apply_rope_fusion", "off", NULL, "rotary positions are priced as one kernel")
    NOTE("batch_invariant_mode", "on", NULL, "kernels are priced as usual ones")
    NOTE("disable_jit_fuser", "on", NULL, "elementwise kernels are priced as fused ones")
    NOTE("memory_efficient_layer_norm", "on", NULL, "norms are counted as they usually store")
    NOTE("empty_unused_memory_level", "on", NULL, "calls that empty the allocator's cache are not priced")
    NOTE("deterministic_mode", "on", NULL, "kernels are priced as usual ones")
    NOTE("use_transformer_engine_op_fuser", "on", NULL, "kernels are priced as usual ones")
    NOTE("use_kitchen", "on", NULL, "kernels are priced as usual ones")

    /* ---- replicas ---- */
    READ("use_distributed_optimizer") READ("use_megatron_fsdp") READ("use_custom_fsdp") READ("use_torch_fsdp2")
    READ("data_parallel_sharding_strategy") READ("num_distributed_optimizer_instances") READ("torch_fsdp2_no_reshard_after_forward")
    READ("torch_fsdp2_reshard_after_forward")
    READ("overlap_grad_reduce") READ("overlap_param_gather") READ("ddp_bucket_size") READ("bucket_size")
    NOTE("overlap_param_gather_with_optimizer_step", "on", NULL, "parameters are gathered beside the next pass")
    NOTE("align_param_gather", "on", NULL, "gathers of stages are priced one by one")
    NOTE("nccl_ub", "on", NULL, "buffers of the communication library are the cluster's to say")
    NOTE("use_nccl_ub", "on", NULL, "buffers of the communication library are the cluster's to say")
    NOTE("use_sharp", "on", NULL, "reductions in switches are the cluster's to say")
    REFUSED("enable_full_sharding_in_hsdp", "on", NULL, "plan.zero_ranks", "replicas that divide on two levels")
    REFUSED("use_layer_wise_distributed_optimizer", "on", NULL, "plan.zero", "an optimiser that is divided by layers")
    REFUSED("megatron_fsdp_grad_comm_dtype", "!None,auto", "use_megatron_fsdp", "model.gradient_dtype", "gradients that are sent in a number format of their own")
    REFUSED("megatron_fsdp_main_grads_dtype", "!None,auto", "use_megatron_fsdp", "model.gradient_dtype", "gradients that are stored in a number format of their own")
    REFUSED("megatron_fsdp_main_params_dtype", "!None,auto,fp32,torch.float32", "use_megatron_fsdp", NULL, "master weights in another number format")
    NOTE("check_weight_hash_across_dp_replicas_interval", "on", NULL, "steps that compare weights over replicas are not priced")
    REFUSED("outer_dp_sharding_strategy", "!no_shard,None", NULL, "plan.zero_ranks", "replicas that divide on two levels")
    REFUSED("ddp_num_buckets", "on", NULL, "plan.bucket", "buckets that are counted, not sized")
    READ("fsdp_double_buffer") READ("fsdp_db_use_persist_buf_on_alloc_fail") READ("fsdp_manual_registration")
    READ("fsdp_all_gather_in_start_param_sync") READ("ddp_average_in_collective") READ("ddp_pad_buckets_for_high_nccl_busbw")
    READ("ddp_reduce_scatter_with_fp32_accumulation") READ("ddp_param_name_patterns_for_fp32_local_accumulation")

    /* ---- memory ---- */
    READ("recompute_granularity") READ("recompute_method") READ("recompute_num_layers") READ("recompute_modules")
    READ("recompute_activations") READ("checkpoint_activations") READ("optimizer_cpu_offload") READ("optimizer_offload_fraction")
    READ("cpu_offloading") READ("cpu_offloading_num_layers") READ("cpu_offloading_activations")
    REFUSED("cpu_offloading_weights", "on", "cpu_offloading", NULL, "weights in the host's memory")
    READ("cpu_offloading_double_buffering") READ("cpu_offloading_retain_pinned_cpu_buffers")
    REFUSED("fine_grained_activation_offloading", "on", NULL, "plan.offload", "some activations in the host's memory")
    REFUSED("distribute_saved_activations", "on", NULL, NULL, "saved activations divided over tp")
    NOTE("use_torch_optimizer_for_cpu_offload", "on", NULL, "the host's step is priced at its memory's speed")

    /* ---- kernels ---- */
    READ("cuda_graph_impl") READ("cuda_graph_modules") READ("cuda_graph_scope") READ("enable_cuda_graph") READ("external_cuda_graph")
    READ("cuda_graph_trace") /* of nsys */
    READ("cuda_graph_use_single_mempool") READ("cuda_graph_warmup_steps") READ("cuda_graph_retain_backward_graph")
    NOTE("optimizer_cuda_graph", "on", NULL, "launches of the optimiser are priced one by one")
    SETS_WHERE("gradient_accumulation_fusion", "on", NULL, "plan.accumulation", "fused")
    SETS_WHERE("gradient_accumulation_fusion", "off", NULL, "plan.accumulation", "apart")
    SETS_WHERE("no_gradient_accumulation_fusion", "on", NULL, "plan.accumulation", "apart")
    {NULL, "", NULL, FR_MEANS_NOTHING, NULL, ""}};
/* clang-format on */

const char *const fr_megatron_families[] = {"moe_",
                                            "mtp_num",
                                            "fp8",
                                            "fp4",
                                            "recompute_",
                                            "cpu_offloading",
                                            "mamba_",
                                            "linear_attention",
                                            "window_",
                                            "hybrid_",
                                            "tp_comm_",
                                            "cuda_graph_",
                                            "gtp_",
                                            "num_layers_in_",
                                            "experimental_attention",
                                            "lora_",
                                            "peft",
                                            "offload_modules",
                                            "pipeline_model_parallel_",
                                            "tensor_model_parallel",
                                            "context_parallel",
                                            "expert_model_parallel",
                                            NULL};
