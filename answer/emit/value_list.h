/* Read more than once, so without guard.  One row a value that rows of option_table.c read beside keys of the
 * plan: its name and what it is, of the plan @c p, the transformer @c t and the workload @c w.
 *
 *  INTEGER(name, an integer)   TRUTH(name, a condition)   WORD(name, a word)   LINE(name, a function) */

/* ---- ranks ---------------------------------------------------------------------------------- */
INTEGER(replicas, fr_plan_replicas(p))
INTEGER(expert_tp, fr_plan_expert_tp(p))
/* Stages are neighbours; it makes a difference where there are several of both. */
TRUTH(stages_first, p->rank_order == FR_ORDER_TP_PP_DP && p->pp > 1 && fr_plan_replicas(p) > 1)
/* Replicas that divide parameters, as torchtitan counts them: those of a sequence apart. */
INTEGER(dp_shard, dp_shard(p))
INTEGER(dp_replicate, p->dp / dp_shard(p))
/* Does what replicas divide lie in all of them, and of how many groups in each? */
TRUTH(zero_whole, p->zero == 0 || p->zero_ranks == 0 || p->zero_ranks == fr_plan_replicas(p))
INTEGER(zero_groups, p->zero_ranks ? fr_plan_replicas(p) / p->zero_ranks : 1)

/* ---- passes --------------------------------------------------------------------------------- */
WORD(order, p->schedule->name)
TRUTH(interleaved, p->pp > 1 && p->chunks > 1)
TRUTH(even, p->pp == 1 || layers_equal(e))
INTEGER(layers_a_stage, layers_of(e, 0))
LINE(layout, layout)
INTEGER(micro_batches, micro_batches(p))
INTEGER(tokens, p->global_batch * t->sequence)
INTEGER(micro_batch_tokens, p->micro_batch * t->sequence)
WORD(steps, p->iterations > 0 ? number(p->iterations, word) : "none")
WORD(recomputes, p->recompute == FR_RECOMPUTE_NONE           ? "none"
                 : p->recompute == FR_RECOMPUTE_FULL         ? "full"
                 : p->recompute == FR_RECOMPUTE_SELECTIVE_OP ? "selective_op"
                 : fr_recompute_saves(p->recompute)          ? "policy"
                                                             : "modules")
WORD(recompute_words, fr_recompute_modules(p->recompute, " ", word, sizeof word))
WORD(recompute_list, fr_recompute_modules(p->recompute, ",", word, sizeof word))
/* Megatron's trainers offload activations in one stage, none recomputed: all but the last layer's where the plan
 * does not say. */
TRUTH(offloads_layers, p->pp == 1 && p->recompute == FR_RECOMPUTE_NONE)
INTEGER(offloaded_layers, p->offload_layers ? p->offload_layers : t->layers - 1)

/* ---- gradients ------------------------------------------------------------------------------ */
/* Zero 2 and 3 run beside the passes whatever the plan says; zero 1 gathers beside the next pass. */
TRUTH(reduces_beside, p->overlap || p->zero >= 2)
TRUTH(gathers_beside, p->zero == 3 || (p->zero >= 1 && p->overlap))
TRUTH(bucket_chosen, bucket_chosen(e))
INTEGER(bucket_values, (int64_t)(p->bucket_size_B / fr_dtype_size_B(w->gradient_dtype)))
WORD(bucket_MiB, number(p->bucket_size_B / (1 << 20), word))
/* torchtitan's loss is divided over tp wherever that is above 1. */
TRUTH(loss_of_torchtitan,
      p->tp > 1 ? p->loss == FR_LOSS_PARALLEL || p->loss == FR_LOSS_PARALLEL_COMPILED
                : p->loss == FR_LOSS_EAGER || p->loss == FR_LOSS_COMPILED)

/* ---- number formats ------------------------------------------------------------------------- */
WORD(dtype, fr_dtype_names[w->dtype])
WORD(weight_dtype, fr_dtype_names[w->weight_dtype])
WORD(gradient_dtype, fr_dtype_names[w->gradient_dtype])
TRUTH(fp8_blocks, w->fp8_blocks)
TRUTH(optimizer_8_bit, fr_optimizer_is_8_bit(w))
TRUTH(saved_fp8, t->kept_fp8)

/* ---- the model ------------------------------------------------------------------------------ */
WORD(model, w->name)
INTEGER(ranks, e->out->ranks)
/* "X has no ", before what it lacks. */
WORD(no, e->to->no)
LINE(gpu, gpu)
INTEGER(sequence, t->sequence)
INTEGER(layers, t->layers)
INTEGER(hidden, t->hidden)
INTEGER(ffn, t->ffn)
INTEGER(heads, t->heads)
INTEGER(kv_heads, t->kv_heads)
TRUTH(grouped_heads, t->kv_heads != t->heads)
INTEGER(head_dim, t->head_dim)
TRUTH(heads_fill_hidden, t->head_dim * t->heads == t->hidden)
INTEGER(q_latent, t->q_latent)
INTEGER(kv_latent, t->kv_latent)
INTEGER(qk_dim, t->head_dim - t->rope_dim)
INTEGER(rope_dim, t->rope_dim)
INTEGER(value_dim, t->value_dim)
TRUTH(qk_norms, t->qk_norms)
INTEGER(cross_layers, t->cross_layers)
INTEGER(experts, t->experts)
INTEGER(experts_per_token, t->experts_per_token)
INTEGER(expert_ffn, t->expert_ffn)
INTEGER(expert_groups, t->expert_groups)
INTEGER(groups_per_token, t->groups_per_token)
WORD(capacity, shortest(t->capacity, word))
INTEGER(shared_ffn, t->shared_ffn)
INTEGER(dense_layers, t->dense_layers)
INTEGER(expert_layers, t->layers - t->dense_layers)
WORD(pattern, t->pattern)
TRUTH(hybrid, t->pattern[0])
LINE(letters, letters)
INTEGER(ssm_heads, t->ssm_heads)
INTEGER(ssm_head_dim, t->ssm_head_dim)
INTEGER(ssm_state, t->ssm_state)
INTEGER(ssm_groups, t->ssm_groups)
TRUTH(documents, t->document > 0)
INTEGER(predicted, t->predicted)
INTEGER(lora_rank, t->lora_rank)
TRUTH(gated, t->gated)
TRUTH(norm_biases, t->norm_biases)
TRUTH(biases, t->biases)
TRUTH(qkv_biases, t->qkv_biases)
TRUTH(tied, t->tied)
TRUTH(positions, t->positions)
TRUTH(rotary_stated, isfinite(fr_rotary_base(fr_job_model(e->job))))
WORD(rotary_base, number(fr_rotary_base(fr_job_model(e->job)), word))
TRUTH(dropout, t->dropout)
INTEGER(vocabulary, t->vocabulary)
INTEGER(vocabulary_multiple, t->vocabulary_multiple ? t->vocabulary_multiple : 128)
