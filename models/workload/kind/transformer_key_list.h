/* Rows alone, one for every key of a transformer besides those of all kinds.
 *
 *  FR_KEY(name, WHAT(...), REQUIRED or OPTIONAL, TAKEN(field of struct fr_transformer) or BY_CODE, "default", "help") */

FR_KEY(layers, INTEGER(1, 100000), REQUIRED, TAKEN(layers), "", "layers, all alike")
FR_KEY(hidden, INTEGER(1, MOST), REQUIRED, TAKEN(hidden), "",
       "values of a token between layers")
FR_KEY(heads, INTEGER(1, MOST), OPTIONAL, BY_CODE, "asked for, but of a `pattern` without `*`",
       "heads of attention")
FR_KEY(kv_heads, INTEGER(1, MOST), OPTIONAL, TAKEN(kv_heads), "`heads`",
       "heads of keys and values, which groups of heads share")
FR_KEY(head_dim, INTEGER(1, MOST), OPTIONAL, TAKEN(head_dim), "`hidden` / `heads`",
       "values of a head")
FR_KEY(ffn, INTEGER(1, MOST), OPTIONAL, TAKEN(ffn), "4 `hidden`", "width of the MLP")
FR_KEY(sequence, INTEGER(1, MOST), REQUIRED, TAKEN(sequence), "", "tokens of a sample")
FR_KEY(vocabulary, INTEGER(1, MOST), REQUIRED, TAKEN(vocabulary), "",
       "words, a row of the embedding each")
FR_KEY(gated, BOOL(), OPTIONAL, TAKEN(gated), "false",
       "the MLP has a gate: three products (SwiGLU)")
FR_KEY(tied_embedding, BOOL(), OPTIONAL, TAKEN(tied), "true",
       "logits share the weights of the embedding")
FR_KEY(biases, BOOL(), OPTIONAL, TAKEN(biases), "true", "products have biases")
FR_KEY(norm, CHOICE(norms), OPTIONAL, BY_CODE, "layer",
       "LayerNorm, or RMSNorm, which has no biases")
FR_KEY(qk_norms, BOOL(), OPTIONAL, TAKEN(qk_norms), "false",
       "a norm over the values of each head's query and key (Qwen3)")
FR_KEY(positions, CHOICE(position_kinds), OPTIONAL, BY_CODE, "learned",
       "what says where a token stands")
FR_KEY(rotary_base, NUMBER(1.000001, 1e15), OPTIONAL, BY_CODE, "none",
       "of the angles of rotary positions; no time depends on it, a launch script states it; "
       "of a config.json "
       "`rope_theta`")
FR_KEY(dropout, BOOL(), OPTIONAL, BY_CODE, "true with `norm` `layer`, false with `rms`",
       "its masks stay in memory")
FR_KEY(vocabulary_multiple, INTEGER(1, MOST), OPTIONAL, TAKEN(vocabulary_multiple), "128",
       "the vocabulary is padded to a multiple of it times tp")
FR_KEY(experts, INTEGER(1, 1 << 20), OPTIONAL, TAKEN(experts), "none",
       "experts in the MLP's place of every layer")
FR_KEY(experts_per_token, INTEGER(1, 1 << 20), OPTIONAL, TAKEN(experts_per_token), "2",
       "experts that a token goes to")
FR_KEY(expert_ffn, INTEGER(1, MOST), OPTIONAL, TAKEN(expert_ffn), "`ffn`", "width of an expert")
FR_KEY(capacity, NUMBER(1, 1e6), OPTIONAL, BY_CODE, "none are dropped",
       "tokens that an expert takes, over the mean; what is more is dropped")
FR_KEY(imbalance, NUMBER(1, 1e6), OPTIONAL, BY_CODE, "of `balance`",
       "rows of the fullest rank's experts over the mean")
FR_KEY(balance, CHOICE(fr_balance_names), OPTIONAL, BY_CODE, "even",
       "what keeps experts equally busy: tokens are spread `even`ly, as benchmarks do; a `loss` or "
       "biases; or `none`")
FR_KEY(cross_layers, INTEGER(0, 100000), OPTIONAL, BY_CODE, "0",
       "the last of the layers, those of a decoder with cross-attention besides")
FR_KEY(head_kernels, OTHER(), OPTIONAL, BY_CODE, "batched",
       "`batched`, or how many kernels each head launches forward (1 to 1000)")
FR_KEY(window, INTEGER(1, MOST), OPTIONAL, TAKEN(window), "none",
       "tokens that a query attends to, itself among them; fused attention leaves the rest "
       "out, plain attention masks "
       "it; not beside `cross_layers`")
FR_KEY(window_layers, INTEGER(1, 100000), OPTIONAL, BY_CODE, "all", "in how many of the layers")
FR_KEY(document, INTEGER(1, MOST), OPTIONAL, BY_CODE, "none",
       "packed sequences: mean length of the document that a token is in. Fused attention "
       "leaves other documents out; not beside a window")
FR_KEY(cached, INTEGER(0, MOST), OPTIONAL, BY_CODE, "0",
       "tokens of each sample whose keys and values are in a cache, before the `sequence`; "
       "with `pass` `forward`. `sequence` 1 is a step of generation")
FR_KEY(dense_layers, INTEGER(0, 99999), OPTIONAL, BY_CODE, "0",
       "the first layers, which have an MLP of `ffn` instead")
FR_KEY(shared_ffn, INTEGER(1, MOST), OPTIONAL, TAKEN(shared_ffn), "none",
       "width of an MLP that all tokens go through beside their experts")
FR_KEY(expert_groups, INTEGER(1, 1 << 20), OPTIONAL, BY_CODE, "none",
       "groups that the experts are divided into")
FR_KEY(groups_per_token, INTEGER(1, 1 << 20), OPTIONAL, BY_CODE, "`expert_groups`",
       "in how many of the groups a token's experts are")
FR_KEY(q_latent, INTEGER(1, MOST), OPTIONAL, TAKEN(q_latent), "none: from the hidden values",
       "likewise queries")
FR_KEY(kv_latent, INTEGER(1, MOST), OPTIONAL, TAKEN(kv_latent), "none",
       "latent attention: values a token that keys and values are made from")
FR_KEY(rope_dim, INTEGER(0, MOST), OPTIONAL, BY_CODE, "0",
       "of a head's `head_dim` those whose key all heads share")
FR_KEY(value_dim, INTEGER(1, MOST), OPTIONAL, TAKEN(value_dim), "`head_dim` less `rope_dim`",
       "values of a head's values")
FR_KEY(predicted_tokens, INTEGER(0, 16), OPTIONAL, BY_CODE, "0",
       "further tokens that modules behind the last layer predict, each a layer, a product and "
       "logits more")
FR_KEY(lora_rank, INTEGER(1, 1 << 20), OPTIONAL, BY_CODE, "none: all weights are trained",
       "values a token between the two matrices of an adapter, beside weights that stay as "
       "they are (LoRA)")
FR_KEY(lora_on, CHOICE(fr_adapter_places), OPTIONAL, BY_CODE, "attention", "where adapters are")
FR_KEY(lora_exchange, CHOICE(fr_adapter_exchanges), OPTIONAL, BY_CODE, "gather",
       "`all_to_all`: with sequence parallel what second adapters make goes to its tokens' "
       "ranks at once, NeMo's "
       "`a2a_experimental`")
FR_KEY(activation_store, CHOICE(fr_workload_stores), OPTIONAL, BY_CODE, "computed",
       "at what width the MLP's activation function keeps its input for the backward pass, "
       "Megatron-Core's setting "
       "`activation_func_fp8_input_store`")
FR_KEY(causal, BOOL(), OPTIONAL, BY_CODE, "true",
       "false: a token attends to those behind it too, as in BERT; not beside a window or "
       "`cross_layers`")
FR_KEY(masked_head, BOOL(), OPTIONAL, TAKEN(masked_head), "false",
       "a product, an activation and a norm before the logits, which then have biases")
FR_KEY(pooler, BOOL(), OPTIONAL, TAKEN(pooler), "false",
       "parameters of what reads a sample's first token")
FR_KEY(token_types, INTEGER(0, 1 << 20), OPTIONAL, TAKEN(token_types), "0",
       "segments, with a vector each")
FR_KEY(pattern, TEXT(255), OPTIONAL, BY_CODE,
       "none: a layer is an attention and an MLP, or experts",
       "a letter a layer, again from its beginning where there are more layers, each layer one "
       "block: `M` state-space "
       "(Mamba-2), `*` attention, `-` MLP, `E` experts")
FR_KEY(ssm_heads, INTEGER(1, MOST), OPTIONAL, BY_CODE, "asked for with an `M`",
       "heads of a state-space block")
FR_KEY(ssm_head_dim, INTEGER(1, MOST), OPTIONAL, BY_CODE, "64", "values of such a head")
FR_KEY(ssm_state, INTEGER(1, MOST), OPTIONAL, BY_CODE, "128", "values of its state")
FR_KEY(ssm_groups, INTEGER(1, MOST), OPTIONAL, BY_CODE, "1",
       "groups of heads that share what a token writes and reads")
FR_KEY(ssm_chunk, INTEGER(1, MOST), OPTIONAL, BY_CODE, "256",
       "tokens that the scan takes together")
FR_KEY(ssm_conv, INTEGER(1, MOST), OPTIONAL, BY_CODE, "4", "tokens of its convolution")
