"""Transformer blocks as users of PyTorch write them: RMS norm, grouped queries with rotary positions, SwiGLU or a
mixture of experts, and four kinds of loss.

Every tensor that autograd saves here is one that such code saves without a fused kernel of a library; where blocks are
compiled, PyTorch's compiler decides.  A `watch` (watch.py) learns when each part of a step ends."""
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.checkpoint import checkpoint

GROUPED = getattr(F, "grouped_mm", None) or getattr(torch, "_grouped_mm", None)
CHUNKS = 8  # of the loss "chunked"
CHECKPOINT = {"use_reentrant": False, "preserve_rng_state": False}


def selected():
    """Which operators a block saves under recompute "operators": attention and every second product, as torchtitan's
    selective activation checkpointing."""
    from torch.utils.checkpoint import CheckpointPolicy, create_selective_checkpoint_contexts
    aten = torch.ops.aten
    saved = {aten.mm.default, aten._scaled_dot_product_flash_attention.default,
             aten._scaled_dot_product_cudnn_attention.default}
    products = {False: 0, True: 0}  # of the forward pass, and of the pass that computes again

    def policy(context, operator, *_words, **_named):
        if operator is aten.mm.default:
            products[context.is_recompute] += 1
            if products[context.is_recompute] % 2 == 0:
                return CheckpointPolicy.PREFER_RECOMPUTE
        return CheckpointPolicy.MUST_SAVE if operator in saved else CheckpointPolicy.PREFER_RECOMPUTE

    return create_selective_checkpoint_contexts(policy)


class Norm(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))

    def forward(self, x):
        return F.rms_norm(x, self.weight.shape, self.weight, 1e-6)


def angles(tokens, width, base):
    """cos and sin of rotary positions, each [tokens, 1, width]."""
    rates = base ** (-torch.arange(0, width, 2, dtype=torch.float32) / width)
    turns = torch.outer(torch.arange(tokens, dtype=torch.float32), rates).repeat(1, 2).unsqueeze(1)
    return turns.cos(), turns.sin()


def rotate(x, turns):
    low, high = x.chunk(2, -1)
    return x * turns[0] + torch.cat((-high, low), -1) * turns[1]


class Attention(nn.Module):
    """Causal attention of `heads` queries over `kv_heads` keys and values; with norms of both where Qwen has them."""

    def __init__(self, model, repeat_kv):
        super().__init__()
        hidden, self.width = model["hidden"], model["head_dim"]
        self.q = nn.Linear(hidden, model["heads"] * self.width, bias=False)
        self.k = nn.Linear(hidden, model["kv_heads"] * self.width, bias=False)
        self.v = nn.Linear(hidden, model["kv_heads"] * self.width, bias=False)
        self.out = nn.Linear(model["heads"] * self.width, hidden, bias=False)
        self.q_norm = Norm(self.width) if model["qk_norm"] else nn.Identity()
        self.k_norm = Norm(self.width) if model["qk_norm"] else nn.Identity()
        self.copies = model["heads"] // model["kv_heads"] if repeat_kv else 1

    def forward(self, x, turns):
        batch, tokens, _ = x.shape
        q, k, v = (product(x).view(batch, tokens, -1, self.width) for product in (self.q, self.k, self.v))
        q, k = rotate(self.q_norm(q), turns), rotate(self.k_norm(k), turns)
        q, k, v = q.transpose(1, 2), k.transpose(1, 2), v.transpose(1, 2)
        if self.copies > 1:
            k, v = k.repeat_interleave(self.copies, 1), v.repeat_interleave(self.copies, 1)
            mixed = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        else:
            mixed = F.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True)
        return self.out(mixed.transpose(1, 2).reshape(batch, tokens, -1))


class Mlp(nn.Module):
    def __init__(self, model):
        super().__init__()
        self.gate = nn.Linear(model["hidden"], model["ffn"], bias=False)
        self.up = nn.Linear(model["hidden"], model["ffn"], bias=False)
        self.down = nn.Linear(model["ffn"], model["hidden"], bias=False)

    def forward(self, x):
        return self.down(F.silu(self.gate(x)) * self.up(x))


class Experts(nn.Module):
    """A mixture of experts without dropped tokens.  The router's weights count, but tokens go to experts in turn, so
    that each expert has the same number of rows and a run can be repeated.  Products of all experts are one grouped
    product where PyTorch has it, else one batched product."""

    def __init__(self, model):
        super().__init__()
        self.count, self.per_token = model["experts"], model["experts_per_token"]
        hidden, width = model["hidden"], model["expert_ffn"]
        self.router = nn.Linear(hidden, self.count, bias=False)
        self.gate = nn.Parameter(torch.empty(self.count, width, hidden))
        self.up = nn.Parameter(torch.empty(self.count, width, hidden))
        self.down = nn.Parameter(torch.empty(self.count, hidden, width))

    def product(self, rows, weight, ends):
        if GROUPED:
            return GROUPED(rows, weight.transpose(-2, -1), offs=ends)
        return torch.bmm(rows.view(self.count, -1, rows.shape[-1]), weight.transpose(-2, -1)).flatten(0, 1)

    def forward(self, x):
        tokens = x.flatten(0, 1)
        count = tokens.shape[0] * self.per_token
        weights = self.router(tokens).float().softmax(-1).topk(self.per_token, -1)[0]
        weights = (weights / weights.sum(-1, keepdim=True)).to(x.dtype)
        expert = torch.arange(count, device=x.device) % self.count
        order = expert.argsort(stable=True)
        ends = torch.arange(1, self.count + 1, device=x.device, dtype=torch.int32) * (count // self.count)
        rows = tokens.index_select(0, order // self.per_token)
        mixed = F.silu(self.product(rows, self.gate, ends)) * self.product(rows, self.up, ends)
        made = self.product(mixed, self.down, ends)
        back = torch.empty_like(made).index_copy_(0, order, made)
        return torch.bmm(weights.unsqueeze(1), back.view(-1, self.per_token, back.shape[-1])).view(x.shape)


class Block(nn.Module):
    def __init__(self, model, repeat_kv):
        super().__init__()
        self.attention_norm, self.mlp_norm = Norm(model["hidden"]), Norm(model["hidden"])
        self.attention = Attention(model, repeat_kv)
        self.mlp = Experts(model) if model["experts"] else Mlp(model)

    def forward(self, x, turns):
        x = x + self.attention(self.attention_norm(x), turns)
        return x + self.mlp(self.mlp_norm(x))


def eager_cast(model, hidden, targets, watch):
    """Logits cast to fp32 first, as torchtitan's eager loss and Hugging Face's."""
    logits = watch.gradient(model.head(hidden), "loss_backward")
    return F.cross_entropy(logits.float().flatten(0, 1), targets.flatten())


def eager(model, hidden, targets, watch):
    """Cross entropy of 16-bit logits, without a cast."""
    logits = watch.gradient(model.head(hidden), "loss_backward")
    return F.cross_entropy(logits.flatten(0, 1), targets.flatten())


def compiled(model, hidden, targets, watch):
    """Cast and cross entropy in a compiled function, as torchtitan's default."""
    logits = watch.gradient(model.head(hidden), "loss_backward")
    return model.compiled_loss(logits, targets)


def chunked(model, hidden, targets, watch):
    """Logits and loss of an eighth of the tokens at a time, computed again in the backward pass."""
    def part(hidden, targets):
        return F.cross_entropy(model.head(hidden).float(), targets, reduction="sum")

    parts = zip(hidden.flatten(0, 1).chunk(CHUNKS), targets.flatten().chunk(CHUNKS))
    return sum(checkpoint(part, *some, **CHECKPOINT) for some in parts) / targets.numel()


LOSSES = {function.__name__: function for function in (eager_cast, eager, compiled, chunked)}


class Transformer(nn.Module):
    """A whole model: embedding, blocks, norm, head and loss of a setting (settings.py)."""

    def __init__(self, setting, repeat_kv):
        super().__init__()
        self.blocks = nn.ModuleList(Block(setting, repeat_kv) for _ in range(setting["layers"]))
        self.embedding = nn.Embedding(setting["vocabulary"], setting["hidden"])
        self.norm = Norm(setting["hidden"])
        self.head = nn.Linear(setting["hidden"], setting["vocabulary"], bias=False)
        if setting["tied_embedding"]:
            self.head.weight = self.embedding.weight
        self.loss = LOSSES[setting["loss"]]
        self.recompute = {"none": None, "full": CHECKPOINT,
                          "operators": {**CHECKPOINT, "context_fn": selected}}[setting["recompute"]]
        self.recompute_layers = setting["recompute_layers"] or setting["layers"]
        for parameter in self.parameters():
            if parameter.dim() > 1:
                nn.init.normal_(parameter, 0, 0.02)
        cos, sin = angles(setting["sequence"], setting["head_dim"], setting["rotary_base"])
        self.register_buffer("cos", cos)
        self.register_buffer("sin", sin)
        if setting["blocks"] == "compiled":
            for block in self.blocks:
                block.compile(dynamic=False)
        if setting["loss"] == "compiled":
            self.compiled_loss = torch.compile(
                lambda logits, targets: F.cross_entropy(logits.float().flatten(0, 1), targets.flatten()), dynamic=False)

    def forward(self, tokens, targets, watch):
        x = self.embedding(tokens)
        watch.layers_begin()
        turns = (self.cos, self.sin)
        for number, block in enumerate(self.blocks):
            if number == len(self.blocks) - 1:
                watch.gradient(x, "last_layer_backward")
            elif number == 0:
                watch.gradient(x, "other_layers_backward")
            again = self.recompute if number < self.recompute_layers else None
            x = checkpoint(block, x, turns, **again) if again else block(x, turns)
        watch.layers_end()
        x = watch.gradient(self.norm(x), "head_backward")
        loss = self.loss(self, x, targets, watch)
        watch.end("loss_forward")
        return loss
