/* Read more than once, so without guard.  Rows alone, no file each.  A row is a value that option_table.c
 *  reads beside keys of the plan: its name, and how it is computed.  The plan is @c p, the transformer @c t, the workload @c w.
 *
 *  FR_INTEGER(name, an integer)   FR_TRUTH(name, a condition)   FR_WORD(name, a word)
 *  FR_LINE(name, a function) */

/* ---- ranks ---------------------------------------------------------------------------------- */
FR_INTEGER(replicas, fr_plan_replicas(p))
FR_INTEGER(expert_tp, fr_plan_expert_tp(p))
/* Stages are neighbours; it makes a difference where there are several of both. */
FR_TRUTH(stages_first,
         p->rank_order == FR_ORDER_TP_PP_DP && p->pp > 1 && fr_plan_replicas(p) > 1)
/* Replicas that divide parameters, as torchtitan counts them: those of a sequence apart. */
FR_INTEGER(dp_shard, dp_shard(p))
FR_INTEGER(dp_replicate, p->dp / dp_shard(p))
/* Does what replicas divide lie in all of them, and of how many groups in each? */
FR_TRUTH(zero_whole, p->zero == 0 || p->zero_ranks == 0 || p->zero_ranks == fr_plan_replicas(p))
FR_INTEGER(zero_groups, p->zero_ranks ? fr_plan_replicas(p) / p->zero_ranks : 1)

FR_INTEGER(expert_copies, fr_plan_expert_copies(p))
/* Stages are outside of nothing: replicas, where there are several of both, are further apart. */
FR_TRUTH(stages_beside,
         p->rank_order == FR_ORDER_TP_PP_DP || p->pp == 1 || fr_plan_replicas(p) == 1)

/* ---- JAX's mesh, as MaxText names its axes (answer/emit/mesh.h) ------------------------------ */
FR_INTEGER(ici_tensor, fr_emit_mesh(e, FR_MESH_TENSOR, true))
FR_INTEGER(dcn_tensor, fr_emit_mesh(e, FR_MESH_TENSOR, false))
FR_INTEGER(ici_context, fr_emit_mesh(e, FR_MESH_CONTEXT, true))
FR_INTEGER(dcn_context, fr_emit_mesh(e, FR_MESH_CONTEXT, false))
FR_INTEGER(ici_expert, fr_emit_mesh(e, FR_MESH_EXPERT, true))
FR_INTEGER(dcn_expert, fr_emit_mesh(e, FR_MESH_EXPERT, false))
FR_INTEGER(ici_fsdp, fr_emit_mesh(e, FR_MESH_FSDP, true))
FR_INTEGER(dcn_fsdp, fr_emit_mesh(e, FR_MESH_FSDP, false))
FR_INTEGER(ici_pipeline, fr_emit_mesh(e, FR_MESH_PIPELINE, true))
FR_INTEGER(dcn_pipeline, fr_emit_mesh(e, FR_MESH_PIPELINE, false))
FR_INTEGER(ici_data, fr_emit_mesh(e, FR_MESH_DATA, true))
FR_INTEGER(dcn_data, fr_emit_mesh(e, FR_MESH_DATA, false))
FR_TRUTH(jax_experts, fr_emit_mesh_has_experts(p))
FR_TRUTH(jax_expert_tp, fr_plan_expert_tp(p) == p->tp)
FR_TRUTH(jax_shards, fr_emit_mesh_shards(p))
FR_TRUTH(jax_order, fr_emit_mesh_orders(p))
FR_TRUTH(jax_tpu, on_tpu(e))
FR_WORD(jax_launcher, on_tpu(e) ? "" : launcher(e, word))
FR_WORD(jax_decoder, decoder(t))

/* ---- passes --------------------------------------------------------------------------------- */
FR_WORD(order, p->schedule->name)
FR_TRUTH(interleaved, p->pp > 1 && p->chunks > 1)
FR_TRUTH(even, p->pp == 1 || layers_equal(e))
FR_INTEGER(layers_a_stage, layers_of(e, 0))
FR_LINE(layout, layout)
FR_INTEGER(micro_batches, micro_batches(p))
/* Samples of a device and an optimiser's step; in one stage of one micro-batch. */
FR_WORD(device_batch, device_batch(e, word))
FR_INTEGER(tokens, p->global_batch * t->sequence)
FR_INTEGER(micro_batch_tokens, p->micro_batch * t->sequence)
FR_WORD(steps, p->iterations > 0 ? number(p->iterations, word) : "none")
FR_WORD(recomputes, p->recompute == FR_RECOMPUTE_NONE           ? "none"
                    : p->recompute == FR_RECOMPUTE_FULL         ? "full"
                    : p->recompute == FR_RECOMPUTE_SELECTIVE_OP ? "selective_op"
                    : fr_recompute_saves(p->recompute)          ? "policy"
                                                                : "modules")
FR_WORD(recompute_words, fr_recompute_modules(p->recompute, " ", word, sizeof word))
FR_WORD(recompute_list, fr_recompute_modules(p->recompute, ",", word, sizeof word))
/* Megatron's trainers offload activations in one stage, none recomputed: all but the last layer's where the plan
 * does not say. */
FR_TRUTH(offloads_layers, p->pp == 1 && p->recompute == FR_RECOMPUTE_NONE)
FR_INTEGER(offloaded_layers, p->offload_layers ? p->offload_layers : t->layers - 1)
/* Megatron Core refuses to hide the experts' all-to-all in a pipeline of one chunk a stage, and behind whole layers. */
FR_TRUTH(hides_dispatch, p->overlap_experts && (p->pp == 1 || p->chunks > 1) &&
                             p->recompute != FR_RECOMPUTE_FULL)

/* ---- gradients ------------------------------------------------------------------------------ */
/* Zero 2 and 3 run beside the passes whatever the plan says; zero 1 gathers beside the next pass. */
FR_TRUTH(reduces_beside, p->overlap || p->zero >= 2)
FR_TRUTH(gathers_beside, p->zero == 3 || (p->zero >= 1 && p->overlap))
FR_TRUTH(bucket_chosen, bucket_chosen(e))
FR_INTEGER(bucket_values, (int64_t)(p->bucket_size_B / fr_dtype_size_B(w->gradient_dtype)))
FR_WORD(bucket_MiB, number(p->bucket_size_B / (1 << 20), word))
/* torchtitan's loss is divided over tp wherever that is above 1. */
FR_TRUTH(loss_of_torchtitan,
         p->tp > 1 ? p->loss == FR_LOSS_PARALLEL || p->loss == FR_LOSS_PARALLEL_COMPILED
                   : p->loss == FR_LOSS_EAGER || p->loss == FR_LOSS_COMPILED)

/* ---- number formats ------------------------------------------------------------------------- */
FR_WORD(dtype, fr_dtype_names[w->dtype])
FR_WORD(weight_dtype, fr_dtype_names[w->weight_dtype])
FR_WORD(gradient_dtype, fr_dtype_names[w->gradient_dtype])
FR_TRUTH(fp8_blocks, w->fp8_blocks)
FR_TRUTH(optimizer_8_bit, fr_optimizer_is_8_bit(w))
FR_TRUTH(saved_fp8, t->saved_fp8)

/* ---- the model ------------------------------------------------------------------------------ */
FR_WORD(model, w->name)
FR_INTEGER(ranks, e->out->ranks)
/* "X has no ", before what it lacks. */
FR_WORD(no, e->to->no)
FR_LINE(gpu, gpu)
FR_INTEGER(sequence, t->sequence)
FR_INTEGER(layers, t->layers)
FR_INTEGER(hidden, t->hidden)
FR_INTEGER(ffn, t->ffn)
FR_INTEGER(heads, t->heads)
FR_INTEGER(kv_heads, t->kv_heads)
FR_TRUTH(grouped_heads, t->kv_heads != t->heads)
FR_INTEGER(head_dim, t->head_dim)
FR_TRUTH(heads_fill_hidden, t->head_dim * t->heads == t->hidden)
FR_INTEGER(q_latent, t->q_latent)
FR_INTEGER(kv_latent, t->kv_latent)
FR_INTEGER(qk_dim, t->head_dim - t->rope_dim)
FR_INTEGER(rope_dim, t->rope_dim)
FR_INTEGER(value_dim, t->value_dim)
FR_TRUTH(qk_norms, t->qk_norms)
FR_INTEGER(cross_layers, t->cross_layers)
FR_INTEGER(experts, t->experts)
FR_INTEGER(experts_per_token, t->experts_per_token)
FR_INTEGER(expert_ffn, t->expert_ffn)
FR_INTEGER(expert_groups, t->expert_groups)
FR_INTEGER(groups_per_token, t->groups_per_token)
FR_WORD(capacity, shortest(t->capacity, word))
FR_INTEGER(shared_ffn, t->shared_ffn)
FR_TRUTH(shared_whole, t->expert_ffn > 0 && t->shared_ffn % t->expert_ffn == 0)
FR_INTEGER(shared_experts, t->expert_ffn > 0 ? t->shared_ffn / t->expert_ffn : 0)
FR_INTEGER(dense_layers, t->dense_layers)
FR_INTEGER(expert_layers, t->layers - t->dense_layers)
FR_WORD(pattern, t->pattern)
FR_TRUTH(hybrid, t->pattern[0])
FR_LINE(letters, letters)
FR_TRUTH(own_blocks, t->ssm_kind || t->blocks || t->attention_gate || t->index_heads ||
                         t->other_layers || t->window_chunks)
FR_INTEGER(ssm_heads, t->ssm_heads)
FR_INTEGER(ssm_head_dim, t->ssm_head_dim)
FR_INTEGER(ssm_state, t->ssm_state)
FR_INTEGER(ssm_groups, t->ssm_groups)
/* In which layers a window is: none, some, all of them. */
FR_WORD(windows, !t->window                                          ? "none"
                 : t->window_layers && t->window_layers != t->layers ? "some"
                                                                     : "all")
FR_INTEGER(window, t->window)
FR_INTEGER(window_before, t->window - 1)
/* Every so many layers one has no window; 0: they do not come so. */
FR_INTEGER(full_layers, full_layers(t))
FR_TRUTH(narrow_attention, w->narrow_attention)
FR_TRUTH(narrow_logits, w->narrow_logits)
FR_TRUTH(both_ways, t->both_ways)
FR_TRUTH(documents, t->document > 0)
FR_INTEGER(predicted, t->predicted)
FR_INTEGER(lora_rank, t->lora_rank)
FR_TRUTH(gated, t->gated)
FR_TRUTH(norm_biases, t->norm_biases)
FR_TRUTH(biases, t->biases)
FR_TRUTH(qkv_biases, t->qkv_biases)
FR_TRUTH(tied, t->tied)
FR_TRUTH(positions, t->positions)
FR_TRUTH(rotary_stated, isfinite(fr_rotary_base(fr_job_model(e->job))))
FR_WORD(rotary_base, number(fr_rotary_base(fr_job_model(e->job)), word))
FR_TRUTH(dropout, t->dropout)
FR_INTEGER(vocabulary, t->vocabulary)
FR_INTEGER(vocabulary_multiple, t->vocabulary_multiple ? t->vocabulary_multiple : 128)
