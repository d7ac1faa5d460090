/* Rows alone, one for every family whose config.json is read by its keys (models/workload/config/config.h).
 *
 *  FR_KEYED(model_type, "Architecture", tokens that pre-training reads or 0, "defaults", "sizes of a nested file",
 *           "help")
 *
 *  Defaults are those of the family's configuration class in the transformers library, and what its model class does
 *  without a key. */

FR_KEYED(llama, "LlamaForCausalLM", 8192, "",
         "vocab_size 32000 hidden_size 4096 intermediate_size 11008 num_hidden_layers 32 "
         "num_attention_heads 32 max_position_embeddings 2048",
         "RMSNorm, gated MLP, rotary positions, grouped key-value heads")
FR_KEYED(mistral, "MistralForCausalLM", 8192, "num_key_value_heads 8",
         "vocab_size 32000 hidden_size 4096 intermediate_size 14336 num_hidden_layers 32 "
         "num_attention_heads 32 max_position_embeddings 131072 sliding_window 4096",
         "as llama, with a sliding window")
FR_KEYED(mixtral, "MixtralForCausalLM", 4096,
         "num_key_value_heads 8 num_experts_per_tok 2 num_local_experts 8",
         "vocab_size 32000 hidden_size 4096 intermediate_size 14336 num_hidden_layers 32 "
         "num_attention_heads 32 max_position_embeddings 131072",
         "as mistral, a choice of experts in every layer")
FR_KEYED(qwen2, "Qwen2ForCausalLM", 4096,
         "num_key_value_heads 32 _qkv_bias true use_sliding_window false sliding_window 4096 "
         "max_window_layers 28",
         "vocab_size 151936 hidden_size 4096 intermediate_size 22016 num_hidden_layers 32 "
         "num_attention_heads 32 max_position_embeddings 32768",
         "as llama, with biases of queries, keys and values")
FR_KEYED(qwen2_moe, "Qwen2MoeForCausalLM", 4096,
         "num_key_value_heads 16 num_experts_per_tok 4 num_experts 60 _qkv_bias true "
         "use_sliding_window false sliding_window 4096 max_window_layers 28",
         "vocab_size 151936 hidden_size 2048 intermediate_size 5632 num_hidden_layers 24 "
         "num_attention_heads 16 max_position_embeddings 32768 moe_intermediate_size 1408 "
         "shared_expert_intermediate_size 5632",
         "as qwen2, a choice of experts and a shared one in every layer")
FR_KEYED(qwen3, "Qwen3ForCausalLM", 4096,
         "num_key_value_heads 32 head_dim 128 _qk_norms true use_sliding_window false "
         "sliding_window 4096 max_window_layers 28",
         "vocab_size 151936 hidden_size 4096 intermediate_size 22016 num_hidden_layers 32 "
         "num_attention_heads 32 max_position_embeddings 32768",
         "as llama, with norms of queries and keys")
FR_KEYED(qwen3_moe, "Qwen3MoeForCausalLM", 4096,
         "num_key_value_heads 4 head_dim 128 _qk_norms true num_experts_per_tok 8 num_experts "
         "128 use_sliding_window false sliding_window 4096 max_window_layers 28",
         "vocab_size 151936 hidden_size 2048 intermediate_size 6144 num_hidden_layers 24 "
         "num_attention_heads 32 max_position_embeddings 32768 moe_intermediate_size 768",
         "as qwen3, a choice of experts in every layer")
FR_KEYED(qwen3_vl_text, "Qwen3VLForConditionalGeneration", 4096,
         "num_key_value_heads 32 head_dim 128 _qk_norms true",
         "vocab_size 151936 hidden_size 4096 intermediate_size 22016 num_hidden_layers 32 "
         "num_attention_heads 32 max_position_embeddings 128000",
         "qwen3, the language model of a multimodal file")
FR_KEYED(
    qwen3_vl_moe_text, "Qwen3VLMoeForConditionalGeneration", 4096,
    "num_key_value_heads 16 head_dim 128 _qk_norms true num_experts_per_tok 4 num_experts 60",
    "vocab_size 151936 hidden_size 2048 intermediate_size 5632 num_hidden_layers 24 "
    "num_attention_heads 16 max_position_embeddings 128000 moe_intermediate_size 1408",
    "qwen3_moe, the language model of a multimodal file")
FR_KEYED(
    qwen3_next, "Qwen3NextForCausalLM", 4096,
    "num_key_value_heads 2 head_dim 256 _qk_norms true _gate true full_attention_interval 4 "
    "linear_num_key_heads 16 linear_num_value_heads 32 linear_key_head_dim 128 "
    "linear_value_head_dim 128 linear_conv_kernel_dim 4 num_experts 512 "
    "num_experts_per_tok 10 moe_intermediate_size 512 shared_expert_intermediate_size 512",
    "vocab_size 151936 hidden_size 2048 intermediate_size 5632 num_hidden_layers 48 "
    "num_attention_heads 16 max_position_embeddings 32768",
    "gated delta nets, each fourth layer gated attention, experts")
FR_KEYED(
    qwen3_5_text, "Qwen3_5ForCausalLM", 4096,
    "num_key_value_heads 4 head_dim 256 _qk_norms true _gate true full_attention_interval 4 "
    "linear_num_key_heads 16 linear_num_value_heads 32 linear_key_head_dim 128 "
    "linear_value_head_dim 128 linear_conv_kernel_dim 4",
    "vocab_size 248320 hidden_size 4096 intermediate_size 12288 num_hidden_layers 32 "
    "num_attention_heads 16 max_position_embeddings 32768",
    "gated delta nets, each fourth layer gated attention")
FR_KEYED(
    qwen3_5_moe_text, "Qwen3_5MoeForCausalLM", 4096,
    "num_key_value_heads 2 head_dim 256 _qk_norms true _gate true full_attention_interval 4 "
    "linear_num_key_heads 16 linear_num_value_heads 32 linear_key_head_dim 128 "
    "linear_value_head_dim 128 linear_conv_kernel_dim 4 num_experts 256 "
    "num_experts_per_tok 8 moe_intermediate_size 512 shared_expert_intermediate_size 512 "
    "_mlp true intermediate_size 1",
    "vocab_size 248320 hidden_size 2048 num_hidden_layers 40 num_attention_heads 16 "
    "max_position_embeddings 32768",
    "as qwen3_next, with separate products")
FR_KEYED(gemma, "GemmaForCausalLM", 8192,
         "num_key_value_heads 16 head_dim 256 tie_word_embeddings true",
         "vocab_size 256000 hidden_size 3072 intermediate_size 24576 num_hidden_layers 28 "
         "num_attention_heads 16 max_position_embeddings 8192",
         "as llama, tied embedding, heads of 256")
FR_KEYED(gemma2, "Gemma2ForCausalLM", 8192,
         "num_key_value_heads 4 head_dim 256 tie_word_embeddings true sliding_window 4096 "
         "_sliding 2 _norms 4 hidden_activation gelu",
         "vocab_size 256000 hidden_size 2304 intermediate_size 9216 num_hidden_layers 26 "
         "num_attention_heads 8 max_position_embeddings 8192",
         "as gemma, windows in each second layer, four norms")
FR_KEYED(gemma3_text, "Gemma3ForCausalLM", 32768,
         "num_attention_heads 8 num_key_value_heads 4 head_dim 256 vocab_size 262208 "
         "max_position_embeddings 131072 _qk_norms true tie_word_embeddings true "
         "sliding_window 4096 _sliding 6 _norms 4",
         "hidden_size 2304 intermediate_size 9216 num_hidden_layers 26",
         "as gemma2, windows in five of six layers, norms of queries and keys")
FR_KEYED(
    gemma3n_text, "Gemma3nForCausalLM", 32768,
    "hidden_size_per_layer_input 256 altup_num_inputs 4 num_key_value_heads 2 head_dim 256 "
    "_qk_norms true tie_word_embeddings true sliding_window 512 _sliding 5 _norms 4",
    "vocab_size 262400 hidden_size 2048 intermediate_size 16384 num_hidden_layers 35 "
    "num_attention_heads 8 max_position_embeddings 32768",
    "as gemma3_text; embeddings of each layer's own are not priced")
FR_KEYED(
    gemma4_text, "Gemma4ForCausalLM", 32768,
    "hidden_size_per_layer_input 256 num_key_value_heads 4 head_dim 256 global_head_dim 512 "
    "_qk_norms true tie_word_embeddings true sliding_window 512 _sliding 6 _norms 4 "
    "enable_moe_block false _beside true",
    "vocab_size 262144 hidden_size 2304 intermediate_size 9216 num_hidden_layers 30 "
    "num_attention_heads 8 max_position_embeddings 131072",
    "as gemma3_text, other heads in layers without window, experts beside the MLP")
FR_KEYED(
    vaultgemma, "VaultGemmaForCausalLM", 1024,
    "num_key_value_heads 4 head_dim 256 tie_word_embeddings true sliding_window 512 _sliding 2",
    "vocab_size 256000 hidden_size 1152 intermediate_size 6912 num_hidden_layers 26 "
    "num_attention_heads 4 max_position_embeddings 1024",
    "as gemma2 with two norms")
FR_KEYED(phi, "PhiForCausalLM", 2048, "_all_biases true _layer_norm true _gated false",
         "vocab_size 51200 hidden_size 2048 intermediate_size 8192 num_hidden_layers 24 "
         "num_attention_heads 32 max_position_embeddings 2048",
         "LayerNorm, biases, rotary positions; attention and MLP in turn")
FR_KEYED(phi3, "Phi3ForCausalLM", 4096, "",
         "vocab_size 32064 hidden_size 3072 intermediate_size 8192 num_hidden_layers 32 "
         "num_attention_heads 32 max_position_embeddings 4096",
         "as llama, with a sliding window")
FR_KEYED(phimoe, "PhimoeForCausalLM", 4096,
         "num_key_value_heads 8 num_experts_per_tok 2 num_local_experts 16 _layer_norm true",
         "vocab_size 32064 hidden_size 4096 intermediate_size 6400 num_hidden_layers 32 "
         "num_attention_heads 32 max_position_embeddings 131072",
         "as mixtral, LayerNorm")
FR_KEYED(olmo, "OlmoForCausalLM", 4096, "_norms 0", "", "as llama, norms without parameters")
FR_KEYED(olmo2, "Olmo2ForCausalLM", 4096, "_qk_norms true",
         "vocab_size 50304 hidden_size 4096 intermediate_size 11008 num_hidden_layers 32 "
         "num_attention_heads 32 max_position_embeddings 2048",
         "as llama, norms after the products, and of queries and keys")
FR_KEYED(olmo3, "Olmo3ForCausalLM", 8192, "_qk_norms true sliding_window 4096 _sliding 4",
         "vocab_size 50304 hidden_size 4096 intermediate_size 11008 num_hidden_layers 32 "
         "num_attention_heads 32 max_position_embeddings 2048",
         "as olmo2, windows in three of four layers")
FR_KEYED(olmoe, "OlmoeForCausalLM", 4096, "_qk_norms true num_experts 64 num_experts_per_tok 8",
         "", "as olmo2, a choice of experts")
FR_KEYED(flex_olmo, "FlexOlmoForCausalLM", 4096,
         "_qk_norms true num_experts 7 num_experts_per_tok 5", "", "as olmoe")
FR_KEYED(cohere, "CohereForCausalLM", 8192, "tie_word_embeddings true",
         "vocab_size 256000 hidden_size 8192 intermediate_size 22528 num_hidden_layers 40 "
         "num_attention_heads 64 max_position_embeddings 8192",
         "as llama, tied embedding; attention and MLP side by side are priced in turn")
FR_KEYED(cohere2, "Cohere2ForCausalLM", 8192,
         "tie_word_embeddings true sliding_window 4096 _sliding 4",
         "vocab_size 256000 hidden_size 8192 intermediate_size 22528 num_hidden_layers 40 "
         "num_attention_heads 64 max_position_embeddings 8192",
         "as cohere, windows in three of four layers")
FR_KEYED(glm, "GlmForCausalLM", 8192,
         "num_key_value_heads 2 head_dim 128 attention_bias true _out_bias false", "",
         "as qwen2")
FR_KEYED(glm4, "Glm4ForCausalLM", 8192,
         "num_key_value_heads 2 head_dim 128 attention_bias true _out_bias false _norms 4",
         "vocab_size 151552 hidden_size 4096 intermediate_size 13696 num_hidden_layers 40 "
         "num_attention_heads 32 max_position_embeddings 131072",
         "as qwen2, four norms")
FR_KEYED(glm4_moe, "Glm4MoeForCausalLM", 4096,
         "num_key_value_heads 8 _out_bias false n_routed_experts 128 num_experts_per_tok 8 "
         "n_shared_experts 1 first_k_dense_replace 1 moe_intermediate_size 1408",
         "vocab_size 151552 hidden_size 4096 intermediate_size 10944 num_hidden_layers 46 "
         "num_attention_heads 96 max_position_embeddings 131072",
         "GLM-4.5: grouped heads, dense first layers, shared experts")
FR_KEYED(glm4v_moe_text, "Glm4vMoeForConditionalGeneration", 4096,
         "num_key_value_heads 8 attention_bias true _out_bias false n_routed_experts 128 "
         "num_experts_per_tok 8 n_shared_experts 1 first_k_dense_replace 1 "
         "moe_intermediate_size 1408",
         "vocab_size 151424 hidden_size 4096 intermediate_size 10944 num_hidden_layers 46 "
         "num_attention_heads 96 max_position_embeddings 65536",
         "glm4_moe, the language model of a multimodal file")
FR_KEYED(glm4_moe_lite, "Glm4MoeLiteForCausalLM", 4096,
         "n_shared_experts 1 mlp_layer_types null", "", "as deepseek_v3")
FR_KEYED(
    glm_moe_dsa, "GlmMoeDsaForCausalLM", 4096,
    "n_shared_experts 1 n_routed_experts 256 num_experts_per_tok 8 first_k_dense_replace 3 "
    "index_topk 2048 index_head_dim 128 index_n_heads 32",
    "", "GLM-5: as deepseek_v32")
FR_KEYED(gpt_oss, "GptOssForCausalLM", 8192,
         "num_key_value_heads 8 head_dim 64 attention_bias true num_experts_per_tok 4 "
         "sliding_window 128 _sliding 2",
         "vocab_size 201088 hidden_size 2880 intermediate_size 2880 num_hidden_layers 36 "
         "num_attention_heads 64 max_position_embeddings 131072 num_local_experts 128",
         "as mixtral, with biases and windows")
FR_KEYED(deepseek_v2, "DeepseekV2ForCausalLM", 4096, "", "",
         "latent attention, dense first layers, shared experts")
FR_KEYED(
    deepseek_v3, "DeepseekV3ForCausalLM", 4096, "",
    "vocab_size 129280 hidden_size 7168 intermediate_size 18432 moe_intermediate_size 2048 "
    "num_hidden_layers 61 num_attention_heads 128 max_position_embeddings 4096 "
    "n_shared_experts 1 n_routed_experts 256 kv_lora_rank 512 q_lora_rank 1536 "
    "qk_rope_head_dim 64 v_head_dim 128 qk_nope_head_dim 128 n_group 8 topk_group 4 "
    "num_experts_per_tok 8 first_k_dense_replace 3",
    "as deepseek_v2; without the prediction of a further token")
FR_KEYED(deepseek_v32, "DeepseekV32ForCausalLM", 4096, "", "",
         "as deepseek_v3, an indexer chooses the tokens that each attends to")
FR_KEYED(kimi_k2, "DeepseekV3ForCausalLM", 4096, "", "", "as deepseek_v3")
FR_KEYED(kimi_linear, "KimiLinearForCausalLM", 4096, "", "",
         "delta nets with a gate a channel among latent attention, experts")
FR_KEYED(minimax, "MiniMaxForCausalLM", 8192,
         "_recurrent 3 num_local_experts 8 num_experts_per_tok 2", "",
         "MiniMax-01: linear attention, each eighth layer attention, experts")
FR_KEYED(minimax_text_01, "MiniMaxText01ForCausalLM", 8192, "_recurrent 3", "", "as minimax")
FR_KEYED(minimax_m1, "MiniMaxM1ForCausalLM", 8192, "_recurrent 3", "", "as minimax")
FR_KEYED(minimax_m2, "MiniMaxM2ForCausalLM", 4096,
         "num_local_experts 256 num_experts_per_tok 8 use_qk_norm true", "", "as qwen3_moe")
FR_KEYED(
    llama4_text, "Llama4ForCausalLM", 8192,
    "num_key_value_heads 8 head_dim 128 num_local_experts 16 num_experts_per_tok 1 _shared 1 "
    "interleave_moe_layer_step 1 use_qk_norm false attention_chunk_size 8192 _sliding 4",
    "vocab_size 202048 hidden_size 5120 intermediate_size 8192 intermediate_size_mlp 16384 "
    "num_hidden_layers 48 num_attention_heads 40 max_position_embeddings 131072",
    "as llama; experts with a shared one, in each layer or every nth")
FR_KEYED(smollm3, "SmolLM3ForCausalLM", 4096,
         "num_key_value_heads 4 tie_word_embeddings true use_sliding_window false", "",
         "as llama")
FR_KEYED(granite, "GraniteForCausalLM", 4096, "",
         "vocab_size 32000 hidden_size 4096 intermediate_size 11008 num_hidden_layers 32 "
         "num_attention_heads 32 max_position_embeddings 2048",
         "as llama")
FR_KEYED(granitemoe, "GraniteMoeForCausalLM", 4096, "num_local_experts 8 num_experts_per_tok 2",
         "", "as mixtral")
FR_KEYED(granitemoeshared, "GraniteMoeSharedForCausalLM", 4096,
         "num_local_experts 8 num_experts_per_tok 2 shared_intermediate_size 0", "",
         "as granitemoe, with a shared expert")
FR_KEYED(
    granitemoehybrid, "GraniteMoeHybridForCausalLM", 4096,
    "num_local_experts 8 num_experts_per_tok 2 shared_intermediate_size 1024 _alone true "
    "mamba_n_heads 128 mamba_n_groups 1 mamba_d_state 256 mamba_d_head auto mamba_d_conv 4 "
    "mamba_expand 2 mamba_chunk_size 256 _recurrent 0",
    "", "Granite 4: state-space (Mamba-2) blocks among attention, experts with a shared one")
FR_KEYED(bamba, "BambaForCausalLM", 4096,
         "num_key_value_heads 8 mamba_n_heads 128 mamba_n_groups 1 mamba_d_state 256 "
         "mamba_d_conv 4 mamba_expand 2 mamba_chunk_size 256 _recurrent 0",
         "", "state-space (Mamba-2) blocks among attention, an MLP in each layer")
FR_KEYED(falcon_h1, "FalconH1ForCausalLM", 4096,
         "num_key_value_heads 8 mamba_d_ssm 1024 mamba_n_heads 128 mamba_n_groups 1 "
         "mamba_d_state 256 mamba_d_conv 4 mamba_expand 2 mamba_chunk_size 256 _parallel true "
         "_recurrent 0",
         "",
         "attention and a state-space (Mamba-2) block side by side, and an MLP, in each layer")
FR_KEYED(
    mamba, "MambaForCausalLM", 2048,
    "_mixers M _mlp false _recurrent 4 max_position_embeddings 2048 tie_word_embeddings true",
    "", "state-space (Mamba) blocks, RMSNorm")
FR_KEYED(
    falcon_mamba, "FalconMambaForCausalLM", 2048,
    "_mixers M _mlp false _recurrent 4 max_position_embeddings 2048 tie_word_embeddings true",
    "", "as mamba")
FR_KEYED(jamba, "JambaForCausalLM", 4096,
         "num_key_value_heads 8 attn_layer_period 8 attn_layer_offset 4 expert_layer_period 2 "
         "expert_layer_offset 1 num_experts 16 num_experts_per_tok 2 mamba_d_state 16 "
         "mamba_d_conv 4 mamba_expand 2 mamba_dt_rank auto _recurrent 4",
         "", "state-space (Mamba) blocks among attention, experts in each second layer")
FR_KEYED(lfm2, "Lfm2ForCausalLM", 4096,
         "num_key_value_heads 8 conv_L_cache 3 _recurrent 5 _qk_norms true "
         "tie_word_embeddings true",
         "", "short convolutions among attention")
FR_KEYED(lfm2_moe, "Lfm2MoeForCausalLM", 4096,
         "num_key_value_heads 8 conv_L_cache 3 _recurrent 5 _qk_norms true "
         "tie_word_embeddings true num_dense_layers 2 num_experts 32 num_experts_per_tok 4",
         "", "as lfm2, experts behind the first layers")
FR_KEYED(recurrent_gemma, "RecurrentGemmaForCausalLM", 8192,
         "num_attention_heads 10 num_key_value_heads 1 tie_word_embeddings true "
         "attention_window_size 2048 _half_ffn true _recurrent 6 conv1d_width 4 "
         "max_position_embeddings 8192 "
         "_block_types [\"recurrent\",\"recurrent\",\"attention\"]",
         "", "gated recurrences, each third layer attention with a window")
FR_KEYED(starcoder2, "Starcoder2ForCausalLM", 4096,
         "num_key_value_heads 2 use_bias true _layer_norm true _gated false "
         "tie_word_embeddings true",
         "", "LayerNorm, biases, few key-value heads")
FR_KEYED(stablelm, "StableLmForCausalLM", 4096, "_layer_norm true", "", "as llama, LayerNorm")
FR_KEYED(nemotron, "NemotronForCausalLM", 4096, "_layer_norm true _gated false", "",
         "LayerNorm, MLP of squared relu, grouped key-value heads")
FR_KEYED(arcee, "ArceeForCausalLM", 4096, "_gated false", "", "as llama, MLP of squared relu")
FR_KEYED(apertus, "ApertusForCausalLM", 4096, "_gated false _qk_norms true", "",
         "as llama, MLP of two products, norms of queries and keys")
FR_KEYED(persimmon, "PersimmonForCausalLM", 4096,
         "_all_biases true _layer_norm true _gated false _qk_norms true", "",
         "LayerNorm, biases, MLP of squared relu")
FR_KEYED(internlm, "InternLMForCausalLM", 4096, "bias true", "", "as llama, with biases")
FR_KEYED(internlm2, "InternLM2ForCausalLM", 4096, "", "", "as llama")
FR_KEYED(internlm3, "InternLM3ForCausalLM", 4096, "", "", "as llama")
FR_KEYED(seed_oss, "SeedOssForCausalLM", 4096,
         "head_dim 128 attention_bias true attention_out_bias false", "", "as qwen2")
FR_KEYED(exaone4, "Exaone4ForCausalLM", 4096, "_qk_norms true sliding_window_pattern 4", "",
         "as qwen3, windows in some layers")
FR_KEYED(ernie4_5, "Ernie4_5ForCausalLM", 4096, "tie_word_embeddings true", "", "as llama")
FR_KEYED(ernie4_5_moe, "Ernie4_5_MoeForCausalLM", 4096,
         "tie_word_embeddings true moe_num_experts 64 moe_k 6 moe_num_shared_experts 2 "
         "moe_layer_start_index 1 moe_layer_end_index -1 moe_layer_interval 1 "
         "moe_intermediate_size 1536",
         "", "dense first layers, shared experts")
FR_KEYED(hunyuan_v1_dense, "HunYuanDenseV1ForCausalLM", 4096,
         "_qk_norms true tie_word_embeddings true", "", "as qwen3")
FR_KEYED(hunyuan_v1_moe, "HunYuanMoEV1ForCausalLM", 4096,
         "_qk_norms true tie_word_embeddings true _shared 1", "",
         "as qwen3_moe, with a shared expert")
FR_KEYED(dots1, "Dots1ForCausalLM", 4096, "_qk_norms true", "",
         "grouped heads, dense first layers, shared experts")
FR_KEYED(bailing_moe, "BailingMoeForCausalLM", 4096, "", "",
         "Ling: dense first layers, shared experts")
FR_KEYED(bailing_moe_v2, "BailingMoeV2ForCausalLM", 4096, "_qk_norms true", "",
         "Ling 2: as bailing_moe, norms of queries and keys")
FR_KEYED(bailing_moe_linear, "BailingMoeLinearV2ForCausalLM", 4096,
         "_qk_norms true _recurrent 3", "",
         "Ring-linear: as bailing_moe_v2, linear attention in most layers")
FR_KEYED(mimo, "MiMoForCausalLM", 4096, "_qkv_bias true use_sliding_window false", "",
         "as qwen2")
FR_KEYED(mimo_v2_flash, "MiMoV2FlashForCausalLM", 4096, "", "",
         "windows with other heads in five of six layers, experts")
FR_KEYED(afmoe, "AfmoeForCausalLM", 4096, "_qk_norms true _gate true _norms 4", "",
         "gated attention, windows in three of four layers, experts with shared ones")
FR_KEYED(longcat_flash, "LongcatFlashForCausalLM", 8192, "_twice true", "",
         "two latent attentions and MLPs in each layer, experts beside them")
FR_KEYED(minicpm, "MiniCPMForCausalLM", 4096, "tie_word_embeddings true", "", "as llama")
FR_KEYED(minicpm3, "MiniCPM3ForCausalLM", 4096, "tie_word_embeddings true", "",
         "as minicpm, latent attention")
FR_KEYED(qwen, "QWenLMHeadModel", 8192, "_half_ffn true _qkv_bias true", "",
         "as qwen2, a single width of both first products")
FR_KEYED(phi3small, "Phi3SmallForCausalLM", 4096, "tie_word_embeddings true", "",
         "as phi3, with an activation of two halves")
FR_KEYED(arctic, "ArcticForCausalLM", 4096, "parallel_attn_mlp_res true moe_layer_frequency 2",
         "", "as mixtral, an MLP beside the experts")
FR_KEYED(jetmoe, "JetMoEForCausalLM", 4096, "attention_experts true", "",
         "experts of attention, too")
FR_KEYED(bitnet, "BitNetForCausalLM", 4096, "_gated true", "", "as llama, MLP of squared relu")
FR_KEYED(hf_olmo, "OLMoForCausalLM", 4096, "_norms 0 _half_ffn true", "",
         "OLMo's files before transformers had them")
FR_KEYED(
    gpt_neo, "GPTNeoForCausalLM", 2048,
    "_layer_norm true _gated false _positions true _ffn_times 4 _out_bias true mlp_bias true "
    "tie_word_embeddings true sliding_window 256 _sliding 2",
    "", "as gpt2, each second layer with a window")
FR_KEYED(distilbert, "DistilBertForMaskedLM", 512,
         "_both_ways true _masked_head true _all_biases true _layer_norm true _gated false "
         "_positions true tie_word_embeddings true",
         "", "as bert, without segments")
FR_KEYED(dbrx, "DbrxForCausalLM", 4096, "", "", "as mixtral, LayerNorm without biases")
FR_KEYED(helium, "HeliumForCausalLM", 4096, "head_dim 128", "", "as llama")
FR_KEYED(modernbert, "ModernBertForMaskedLM", 8192,
         "_both_ways true _masked_head true tie_word_embeddings true local_attention 128 "
         "global_attn_every_n_layers 3",
         "", "an encoder alone: windows to both sides in two of three layers")
FR_KEYED(gpt_bigcode, "GPTBigCodeForCausalLM", 8192,
         "_all_biases true _layer_norm true _gated false _positions true multi_query true "
         "tie_word_embeddings true",
         "", "as gpt2, one key-value head")
FR_KEYED(gptj, "GPTJForCausalLM", 2048, "_layer_norm true _gated false", "",
         "LayerNorm, rotary positions; attention and MLP in turn")
FR_KEYED(codegen, "CodeGenForCausalLM", 2048, "_layer_norm true _gated false", "", "as gptj")
FR_KEYED(exaone, "ExaoneForCausalLM", 4096, "", "", "as llama")
FR_KEYED(chatglm, "ChatGLMModel", 8192, "", "", "as qwen2")
FR_KEYED(baichuan, "BaichuanForCausalLM", 4096, "", "", "as llama")
