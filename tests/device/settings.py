"""What is trained: shapes of published models, and the settings that are tried, the most telling first.

A setting is a model with fewer layers, and how it is trained; its keys are those of the table (README.md)."""

MODELS = {  # the models' own config.json; vocabulary and layers are the setting's
    "llama-3.2-1b": {"hidden": 2048, "heads": 32, "kv_heads": 8, "head_dim": 64, "ffn": 8192, "tied_embedding": True},
    "llama-3-8b": {"hidden": 4096, "heads": 32, "kv_heads": 8, "head_dim": 128, "ffn": 14336},
    "qwen3-0.6b": {"hidden": 1024, "heads": 16, "kv_heads": 8, "head_dim": 128, "ffn": 3072, "tied_embedding": True},
    "qwen3-1.7b": {"hidden": 2048, "heads": 16, "kv_heads": 8, "head_dim": 128, "ffn": 6144, "tied_embedding": True},
    "qwen3-8b": {"hidden": 4096, "heads": 32, "kv_heads": 8, "head_dim": 128, "ffn": 12288},
    "qwen3-30b-a3b": {"hidden": 2048, "heads": 32, "kv_heads": 4, "head_dim": 128, "experts": 128, "experts_per_token": 8,
                      "expert_ffn": 768},
    "mixtral-8x7b": {"hidden": 4096, "heads": 32, "kv_heads": 8, "head_dim": 128, "experts": 8, "experts_per_token": 2,
                     "expert_ffn": 14336},
}
ROTARY_BASE = {"llama": 500000.0, "qwen3": 1000000.0, "mixtral": 1000000.0}

DEFAULTS = {"ffn": 0, "experts": 0, "experts_per_token": 0, "expert_ffn": 0, "tied_embedding": False, "micro_batches": 1,
            "recompute": "none", "recompute_layers": 0, "loss": "eager_cast", "states": "bf16", "update": "fused",
            "attention": "flash-2", "blocks": "eager", "ranks": 1, "reshard": True, "synchronise": "each"}


def setting(model, layers, vocabulary, sequence, micro_batch, **others):
    family = model.split("-")[0]
    found = {"model": model, "layers": layers, "vocabulary": vocabulary, "sequence": sequence, "micro_batch": micro_batch,
             **DEFAULTS, **MODELS[model], "qk_norm": family == "qwen3", "rotary_base": ROTARY_BASE[family], **others}
    words = [f"{layers}x{model}", f"v{vocabulary}", f"s{sequence}", f"b{micro_batch}"]
    words += [f"{key}={others[key]}" for key in sorted(others)]
    return {"id": " ".join(words), **found}


SETTINGS = [
    # Small model, large vocabulary: the loss decides.
    setting("llama-3.2-1b", 16, 128256, 2048, 4),
    setting("llama-3.2-1b", 16, 128256, 2048, 4, loss="eager"),
    setting("llama-3.2-1b", 16, 128256, 2048, 4, loss="compiled"),
    setting("llama-3.2-1b", 16, 128256, 2048, 4, loss="chunked"),
    # Layers decide: nothing recomputed, a small vocabulary; fp32 states, kept gradients.
    setting("llama-3-8b", 6, 32768, 4096, 4),
    setting("llama-3-8b", 6, 128256, 4096, 1, states="master"),
    setting("llama-3-8b", 6, 32768, 4096, 2, states="fp32"),
    setting("qwen3-1.7b", 28, 151936, 4096, 2, recompute="full"),
    setting("qwen3-0.6b", 28, 151936, 4096, 2),
    setting("qwen3-8b", 6, 151936, 8192, 1, attention="flash"),
    setting("qwen3-30b-a3b", 3, 151936, 4096, 2),
    setting("qwen3-30b-a3b", 3, 32768, 4096, 4, recompute="full", loss="chunked"),
    setting("mixtral-8x7b", 2, 32000, 4096, 2),
    # The optimiser's own needs; several micro-batches.
    setting("qwen3-1.7b", 28, 151936, 2048, 1, states="master", update="foreach"),
    setting("qwen3-1.7b", 28, 32768, 4096, 1, update="foreach", micro_batches=2),
    setting("llama-3-8b", 8, 128256, 4096, 1, states="master", micro_batches=2, recompute="full", loss="compiled"),
    # From 1,024 to 16,384 tokens.
    setting("llama-3.2-1b", 16, 128256, 1024, 8),
    setting("llama-3.2-1b", 16, 128256, 8192, 1),
    setting("llama-3.2-1b", 16, 32768, 16384, 2, recompute="full"),
    setting("qwen3-8b", 6, 151936, 16384, 1, recompute="full", loss="chunked", attention="flash"),
    setting("qwen3-30b-a3b", 2, 151936, 2048, 2, states="master"),
    setting("qwen3-8b", 6, 151936, 2048, 8, loss="compiled"),
    setting("mixtral-8x7b", 2, 32000, 16384, 1, attention="flash"),
    setting("qwen3-0.6b", 28, 32768, 1024, 1),
    # Parts of a layer, and some of the layers, computed again.
    setting("llama-3-8b", 6, 32768, 4096, 4, recompute="operators"),
    setting("llama-3-8b", 6, 32768, 4096, 4, recompute="full", recompute_layers=3),
    setting("llama-3-8b", 6, 32768, 4096, 2, states="fp32", recompute="full", loss="chunked"),
    # At the card's edge, and beyond it.
    setting("llama-3-8b", 8, 128256, 4096, 5),
    setting("llama-3-8b", 8, 128256, 4096, 6),
    # Blocks by PyTorch's compiler.
    setting("llama-3-8b", 6, 32768, 4096, 4, blocks="compiled", loss="compiled"),
    setting("qwen3-1.7b", 28, 151936, 4096, 2, blocks="compiled", loss="compiled"),
    setting("qwen3-8b", 6, 151936, 8192, 1, blocks="compiled", loss="compiled", recompute="full"),
    setting("llama-3.2-1b", 16, 128256, 2048, 4, blocks="compiled", loss="compiled"),
    setting("qwen3-0.6b", 28, 32768, 1024, 1, blocks="compiled", loss="compiled"),
    setting("qwen3-30b-a3b", 3, 151936, 4096, 2, blocks="compiled", loss="compiled"),
    # Sharded: the memory of one of eight ranks.
    setting("llama-3-8b", 8, 128256, 4096, 1, states="fsdp", ranks=8, loss="compiled"),
    setting("llama-3-8b", 8, 128256, 4096, 1, states="fsdp", ranks=8, loss="compiled", reshard=False),
    setting("llama-3-8b", 16, 128256, 4096, 2, states="fsdp", ranks=8, loss="compiled", recompute="full"),
    setting("llama-3-8b", 16, 128256, 4096, 1, states="fsdp", ranks=8, loss="compiled", recompute="full", micro_batches=2,
            synchronise="last"),
]

# Of these also the least memory that they still run with.
EDGES = [SETTINGS[number]["id"] for number in (0, 4, 8, 10)]

TINY = {"layers": 2, "hidden": 64, "heads": 4, "kv_heads": 2, "head_dim": 16, "sequence": 64, "micro_batch": 2,
        "vocabulary": 512}


def tiny(some):
    """The same setting in a form that any processor trains at once, to try the program itself."""
    experts = {"experts": 8, "expert_ffn": 32} if some["experts"] else {"ffn": 128}
    return {**some, **TINY, **experts, "recompute_layers": min(some["recompute_layers"], 1)}
