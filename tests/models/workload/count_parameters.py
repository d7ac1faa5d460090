"""count_parameters.py TABLE -- parameters of the models of tests/models/workload/configs.jsonl, by their modules' shapes.

An opinion of its own about the numbers of the table: each layer's matrices and vectors as the public implementations have
them (transformers, or the authors' code), added up; nothing here knows how Forerun counts.  Prints rows that differ."""
import json
import sys


def linear(n_in, n_out, bias=False):
    return n_in * n_out + (n_out if bias else 0)


def attention(c, h, heads, kv, dim, qkv_bias=False, out_bias=False, head_norms=0, value_dim=None, gate=False,
              values=True):
    value_dim = value_dim or dim
    total = linear(h, heads * dim * (2 if gate else 1), qkv_bias) + linear(h, kv * dim, qkv_bias)
    total += linear(h, kv * value_dim, qkv_bias) if values else 0
    return total + linear(heads * value_dim, h, out_bias) + head_norms


def latent_attention(c, h):
    heads, nope, rope, value = (c[k] for k in ("num_attention_heads", "qk_nope_head_dim", "qk_rope_head_dim", "v_head_dim"))
    q, kv = c.get("q_lora_rank"), c["kv_lora_rank"]
    total = linear(h, q) + q + linear(q, heads * (nope + rope)) if q else linear(h, heads * (nope + rope))
    total += linear(h, kv + rope) + kv + linear(kv, heads * (nope + value)) + linear(heads * value, h)
    if "index_topk" in c:
        e, n = c["index_head_dim"], c["index_n_heads"]
        total += linear(q, e * n) + linear(h, e) + 2 * e + linear(h, n)
    return total


def mlp(h, f, gated=True, bias=False):
    return (2 if gated else 1) * linear(h, f, bias) + linear(f, h, bias)


def experts(h, n, f, shared=0, gate=False, router_bias=False, gated=True):
    total = n * mlp(h, f, gated) + linear(h, n) + (n if router_bias else 0)
    return total + (mlp(h, shared, gated) if shared else 0) + (h if gate else 0)


def delta_net(c, h):
    kd = c["linear_num_key_heads"] * c["linear_key_head_dim"]
    heads, dim = c["linear_num_value_heads"], c["linear_value_head_dim"]
    vd = heads * dim
    return (linear(h, 2 * kd + 2 * vd) + linear(h, 2 * heads) + (2 * kd + vd) * c["linear_conv_kernel_dim"] + 2 * heads +
            dim + linear(vd, h))


def kimi_delta(c, h):
    own = c["linear_attn_config"]
    heads, dim, k = own["num_heads"], own["head_dim"], own["short_conv_kernel_size"]
    d = heads * dim
    return (3 * linear(h, d) + 3 * d * k + heads + linear(h, dim) + linear(dim, d) + d + linear(h, heads) + linear(h, dim) +
            linear(dim, d) + dim + linear(d, h))


def mamba2(h, inner, heads, groups, state, conv, norm=True):
    channels = inner + 2 * groups * state
    return (linear(h, inner + channels + heads) + channels * conv + channels + 3 * heads + (inner if norm else 0) +
            linear(inner, h))


def mamba(h, inner, state, conv, rank):
    return (linear(h, 2 * inner) + inner * conv + inner + linear(inner, rank + 2 * state) + linear(rank, inner, True) +
            inner * state + inner + linear(inner, h))


def short_convolution(h, k):
    return linear(h, 3 * h) + h * k + linear(h, h)


def lightning(h, d):
    return linear(h, 3 * d) + linear(h, d) + d + linear(d, h)


def griffin(h, width, heads, k):
    block = width // heads
    return (2 * linear(h, width, True) + linear(width, h, True) + width * (k + 1) + 2 * (width * block + width) + width)


def size(c, *keys, default=None):
    """The first of the keys that has a value; of a list, a number a layer, the first."""
    value = next((c[k] for k in keys if c.get(k) is not None), default)
    return value[0] if isinstance(value, list) else value


def layers_of(c):
    return range(size(c, "num_hidden_layers", "n_layer", "num_layers", "n_layers"))


def dense_first(c, i):
    return i < size(c, "first_k_dense_replace", "num_dense_layers", "moe_layer_start_index", default=0)


def rope_layer(c, i, t):
    """One layer of a family, its norms included."""
    h = size(c, "hidden_size", "n_embd", "d_model", "n_embed")
    heads = size(c, "num_attention_heads", "n_head", "n_heads", default=1)
    kv = size(c, "num_key_value_heads", "multi_query_group_num", default=heads)
    dim = size(c, "head_dim", "kv_channels", default=0) or h // heads
    f = size(c, "intermediate_size", "ffn_hidden_size", default=0)
    plain = attention(c, h, heads, kv, dim)
    moe = size(c, "moe_intermediate_size", default=f)
    n = size(c, "num_experts", "num_local_experts", "n_routed_experts", "moe_num_experts", default=0)
    shared = moe * size(c, "n_shared_experts", "num_shared_experts", "moe_num_shared_experts", default=0)
    heads_norm = 2 * dim
    norms = 2 * h
    kinds = c.get("layer_types") or []
    if t in ("llama", "mistral", "granite", "internlm2", "smollm3", "phi3", "helium", "exaone", "baichuan", "ernie4_5"):
        return plain + mlp(h, f) + norms
    if t in ("mixtral", "granitemoe"):
        return plain + experts(h, n, f) + norms
    if t == "granitemoeshared":
        return plain + experts(h, n, f, c["shared_intermediate_size"]) + norms
    if t in ("qwen2", "mimo"):
        return attention(c, h, heads, kv, dim, True) + mlp(h, f) + norms
    if t == "seed_oss":
        return attention(c, h, heads, kv, dim, True) + mlp(h, f) + norms
    if t == "internlm":
        return attention(c, h, heads, kv, dim, True, True) + mlp(h, f) + norms
    if t == "qwen2_moe":
        return (attention(c, h, heads, kv, dim, True) + experts(h, n, moe, c["shared_expert_intermediate_size"], True) + norms)
    if t in ("qwen3", "hunyuan_v1_dense"):
        return plain + heads_norm + mlp(h, f) + norms
    if t == "exaone4":
        return plain + heads_norm + mlp(h, f) + norms
    if t == "qwen3_moe":
        sparse = i not in c.get("mlp_only_layers", []) and (i + 1) % c.get("decoder_sparse_step", 1) == 0
        return plain + heads_norm + (experts(h, n, moe) if sparse else mlp(h, f)) + norms
    if t == "hunyuan_v1_moe":
        return plain + heads_norm + experts(h, n, moe, moe) + norms
    if t in ("qwen3_next", "qwen3_5_text", "qwen3_5_moe_text"):
        whole = (i + 1) % c.get("full_attention_interval", 4) == 0
        mixer = attention(c, h, heads, kv, dim, gate=True, head_norms=heads_norm) if whole else delta_net(c, h)
        return mixer + (experts(h, n, moe, c["shared_expert_intermediate_size"], True) if n else mlp(h, f)) + norms
    if t == "gemma":
        return plain + mlp(h, f) + norms
    if t == "gemma2":
        return plain + mlp(h, f) + 4 * h
    if t == "gemma3_text":
        return plain + heads_norm + mlp(h, f) + 4 * h
    if t == "gemma4_text":
        whole = (i + 1) % 6 == 0
        if whole:
            keys_only = c.get("attention_k_eq_v")
            d = c["global_head_dim"]
            mixer = attention(c, h, heads, c["num_global_key_value_heads"] if keys_only else kv, d, head_norms=2 * d,
                              values=not keys_only)
        else:
            mixer = plain + heads_norm
        if not c.get("enable_moe_block"):
            return mixer + mlp(h, f) + 4 * h + 1
        return mixer + mlp(h, f) + n * mlp(h, moe) + linear(h, n) + h + n + 7 * h + 1
    if t in ("phi", "gptj"):
        biased = t == "phi"
        return attention(c, h, heads, kv, dim, biased, biased) + mlp(h, f or 4 * h, False, True) + 2 * h
    if t == "phimoe":
        return attention(c, h, heads, kv, dim, True, True) + experts(h, n, f) + 4 * h
    if t == "olmo":
        return plain + mlp(h, f)
    if t in ("olmo2", "olmo3"):
        return plain + (heads + kv) * dim + mlp(h, f) + norms
    if t in ("olmoe", "flex_olmo"):
        return plain + (heads + kv) * dim + experts(h, n, f) + norms
    if t in ("cohere", "cohere2"):
        return plain + mlp(h, f) + h + (((heads + kv) * dim) if c.get("use_qk_norm") else 0)
    if t in ("glm", "glm4", "chatglm"):
        biased = c.get("attention_bias", c.get("add_qkv_bias", True))
        return attention(c, h, heads, kv, dim, biased) + mlp(h, f) + (4 if t == "glm4" else 2) * h
    if t == "glm4_moe":
        mixer = attention(c, h, heads, kv, dim, c.get("attention_bias", False), head_norms=heads_norm if c.get("use_qk_norm") else 0)
        return mixer + (mlp(h, f) if dense_first(c, i) else experts(h, n, moe, shared, router_bias=True)) + norms
    if t == "gpt_oss":
        return (attention(c, h, heads, kv, dim, True, True, heads) + n * mlp(h, f, True, True) + linear(h, n, True) + norms)
    if t in ("deepseek_v2", "deepseek_v3", "deepseek_v32", "kimi_k2", "glm_moe_dsa", "glm4_moe_lite"):
        return (latent_attention(c, h) + norms +
                (mlp(h, f) if dense_first(c, i) else experts(h, n, moe, shared, router_bias=t != "deepseek_v2")))
    if t == "kimi_linear":
        whole = i + 1 in c["linear_attn_config"]["full_attn_layers"]
        return ((latent_attention(c, h) if whole else kimi_delta(c, h)) + norms +
                (mlp(h, f) if dense_first(c, i) else experts(h, n, moe, moe * c["num_shared_experts"], router_bias=True)))
    if t in ("minimax_text_01", "minimax_m1"):
        return (plain if c["attn_type_list"][i] == 1 else lightning(h, heads * dim)) + experts(h, n, f) + norms
    if t == "minimax_m2":
        return plain + (heads + kv) * dim + experts(h, n, f, router_bias=True) + norms
    if t == "llama4_text":
        sparse = (i + 1) % c.get("interleave_moe_layer_step", 1) == 0
        return plain + norms + (experts(h, n, f, f) if sparse else mlp(h, c["intermediate_size_mlp"]))
    if t == "granitemoehybrid":
        mixer = plain if kinds[i] == "attention" else mamba2(h, c["mamba_expand"] * h, c["mamba_n_heads"], c["mamba_n_groups"],
                                                            c["mamba_d_state"], c["mamba_d_conv"])
        return mixer + mlp(h, c["shared_intermediate_size"]) + (experts(h, n, f) if n else 0) + norms
    if t == "bamba":
        whole = i in c["attn_layer_indices"]
        return norms + mlp(h, f) + (plain if whole else mamba2(h, c["mamba_expand"] * h, c["mamba_n_heads"], c["mamba_n_groups"],
                                                               c["mamba_d_state"], c["mamba_d_conv"]))
    if t == "falcon_h1":
        return norms + mlp(h, f) + plain + mamba2(h, c["mamba_d_ssm"], c["mamba_n_heads"], c["mamba_n_groups"],
                                                  c["mamba_d_state"], c["mamba_d_conv"], c.get("mamba_rms_norm", False))
    if t in ("mamba", "falcon_mamba"):
        return h + mamba(h, c["expand"] * h, c["state_size"], c["conv_kernel"], c["time_step_rank"])
    if t == "jamba":
        whole, sparse = i % c["attn_layer_period"] == c["attn_layer_offset"], i % c["expert_layer_period"] == c["expert_layer_offset"]
        mixer = plain if whole else (mamba(h, c["mamba_expand"] * h, c["mamba_d_state"], c["mamba_d_conv"], c["mamba_dt_rank"]) +
                                     c["mamba_dt_rank"] + 2 * c["mamba_d_state"])
        return mixer + (experts(h, n, f) if sparse else mlp(h, f)) + norms
    if t in ("lfm2", "lfm2_moe"):
        mixer = plain + heads_norm if kinds[i] == "full_attention" else short_convolution(h, c["conv_L_cache"])
        sparse = t == "lfm2_moe" and not dense_first(c, i)
        return mixer + (experts(h, n, moe, router_bias=True) if sparse else mlp(h, f)) + norms
    if t == "recurrent_gemma":
        mixer = plain + h if i % 3 == 2 else griffin(h, c["lru_width"], heads, c["conv1d_width"])
        return mixer + mlp(h, f // 2, True, True) + norms
    if t == "starcoder2":
        return attention(c, h, heads, kv, dim, True, True) + mlp(h, f, False, True) + 4 * h
    if t == "stablelm":
        return attention(c, h, heads, kv, dim, c.get("use_qkv_bias", False)) + mlp(h, f) + 4 * h
    if t == "nemotron":
        return plain + mlp(h, f, False) + 4 * h
    if t == "arcee":
        return plain + mlp(h, f, False) + norms
    if t == "apertus":
        return plain + heads_norm + mlp(h, f, False) + norms + 2
    if t == "persimmon":
        return attention(c, h, heads, kv, dim, True, True, 4 * dim) + mlp(h, f, False, True) + 4 * h
    if t == "ernie4_5_moe":
        return plain + norms + (mlp(h, f) if dense_first(c, i) else experts(h, n, moe, shared, router_bias=True))
    if t in ("dots1", "bailing_moe_v2"):
        return (plain + heads_norm + norms +
                (mlp(h, f) if dense_first(c, i) else experts(h, n, moe, shared, router_bias=True)))
    if t == "bailing_moe":
        return plain + norms + (mlp(h, f) if dense_first(c, i) else experts(h, n, moe, shared))
    if t == "mimo_v2_flash":
        slides = c["hybrid_layer_pattern"][i] == 1
        mixer = attention(c, h, heads, c["swa_num_key_value_heads"] if slides else kv, dim, value_dim=c["v_head_dim"])
        return mixer + norms + (experts(h, n, moe, router_bias=True) if c["moe_layer_freq"][i] else mlp(h, f))
    if t == "dbrx":
        own = c["ffn_config"]
        return (attention(c, h, heads, c["attn_config"]["kv_n_heads"], dim) + norms +
                experts(h, own["moe_num_experts"], own["ffn_hidden_size"]))
    if t == "gpt_bigcode":
        return attention(c, h, heads, 1, dim, True, True) + mlp(h, c["n_inner"], False, True) + 4 * h
    if t == "modernbert":
        return attention(c, h, heads, heads, dim) + mlp(h, f) + (1 if i == 0 else 2) * h
    raise KeyError(t)


def parameters(config):
    c = config.get("text_config", config)
    t = c["model_type"]
    h = size(c, "hidden_size", "n_embd", "d_model", "n_embed")
    words = size(c, "vocab_size", "padded_vocab_size")
    tied = {"tied": True}.get(c.get("tie_word_embeddings"), c.get("tie_word_embeddings", config.get("tie_word_embeddings")))
    total = words * h * (1 if tied else 2) + sum(rope_layer(c, i, t) for i in layers_of(c))
    total += {"olmo": 0, "phi": 2 * h + words, "gptj": 2 * h + words, "phimoe": 2 * h + words, "starcoder2": 2 * h,
              "stablelm": 2 * h, "nemotron": 2 * h, "persimmon": 2 * h,
              "gpt_bigcode": 2 * h + c.get("n_positions", 0) * h,
              "modernbert": h + h + h * h + h + words}.get(t, h)
    return total


def main():
    wrong = 0
    with open(sys.argv[1], encoding="utf-8") as file:
        rows = [json.loads(line) for line in file if line.strip()]
    for row in rows:
        if "unpriced" in row:
            continue
        got = parameters(row["config"])
        if abs(got / row["parameters"] - 1) > 1e-4:
            wrong += 1
            print(f"{row['name']}: {got} by shapes, {row['parameters']} in the table")
    print(f"{len(rows)} models, {wrong} differ")
    return wrong > 0


if __name__ == "__main__":
    sys.exit(main())
