"""A training of a few steps: a model, random tokens, and AdamW with its numbers as the setting says.

  states   weights   gradients                        AdamW's moments        bytes a parameter
  bf16     bf16      bf16, freed after the update     bf16                   2 + 4, gradients 2
  master   bf16      fp32, kept, added to apart       fp32, and the weights  2 + 4 + 12
  fp32     fp32      fp32, freed after the update     fp32                   4 + 8, gradients 4, under autocast 2
  fsdp     fp32      fp32, freed after the update     fp32                   12 / ranks, gradients 4 / ranks, gathered layers 2

fsdp is PyTorch's fully_shard over "ranks" ranks: this is the first, and PyTorch's fake process group stands for the
others.  Buffers are those of a real rank, nothing is sent, and a gathered weight repeats this rank's shard.  So its
memory counts, and its time and loss do not.  Gathered layers are freed after their pass ("reshard" true) or after the
backward pass; gradients are scattered after every micro-batch ("synchronise" each) or added up whole until the last one
(last).
"""
import contextlib

import torch
from torch import nn

import card
import transformer


class Plain:
    """AdamW on the model's own parameters; gradients are freed after the update, PyTorch's default."""

    def __init__(self, parameters, update):
        self.adam = torch.optim.AdamW(parameters, lr=1e-4, **{update: True})

    def step(self):
        self.adam.step()
        self.adam.zero_grad(set_to_none=True)


class Master:
    """AdamW on fp32 copies; each gradient is added to an fp32 one as soon as it is there, and then freed."""

    def __init__(self, parameters, update):
        self.parameters = list(parameters)
        self.masters = [nn.Parameter(parameter.detach().float()) for parameter in self.parameters]
        self.adam = torch.optim.AdamW(self.masters, lr=1e-4, **{update: True})
        for parameter, master in zip(self.parameters, self.masters):
            master.grad = torch.zeros_like(master)
            parameter.register_post_accumulate_grad_hook(self.adder(master))

    @staticmethod
    def adder(master):
        def add(parameter):
            master.grad.add_(parameter.grad)
            parameter.grad = None
        return add

    def step(self):
        self.adam.step()
        with torch.no_grad():
            for parameter, master in zip(self.parameters, self.masters):
                parameter.copy_(master)
        self.adam.zero_grad(set_to_none=False)


def shard(model, setting):
    """fully_shard of each block and of the rest."""
    from torch import distributed
    from torch.distributed.fsdp import MixedPrecisionPolicy, fully_shard
    from torch.testing._internal.distributed.fake_pg import FakeStore
    if not distributed.is_initialized():
        distributed.init_process_group("fake", store=FakeStore(), rank=0, world_size=setting["ranks"])
    policy = MixedPrecisionPolicy(param_dtype=torch.bfloat16, reduce_dtype=torch.float32)
    for part in [*model.blocks, model]:
        fully_shard(part, mp_policy=policy, reshard_after_forward=setting["reshard"])


class Training:
    def __init__(self, setting, repeat_kv):
        self.setting = setting
        dtype = torch.float32 if setting["states"] in ("fp32", "fsdp") else torch.bfloat16
        before = torch.get_default_dtype()
        torch.set_default_dtype(dtype)
        try:
            with card.DEVICE if card.CUDA else contextlib.nullcontext():
                self.model = transformer.Transformer(setting, repeat_kv)
        finally:
            torch.set_default_dtype(before)
        self.model.cos, self.model.sin = self.model.cos.bfloat16(), self.model.sin.bfloat16()
        if setting["states"] == "fsdp":
            shard(self.model, setting)
        self.optimiser = (Master if setting["states"] == "master" else Plain)(self.model.parameters(), setting["update"])
        shape = (setting["micro_batch"], setting["sequence"])
        self.tokens, self.targets = (torch.randint(setting["vocabulary"], shape, device=card.DEVICE) for _ in range(2))

    def parameters(self):
        return sum(parameter.numel() for parameter in self.model.parameters())

    def step(self, watch):
        """One step of all its micro-batches; the last one's loss, still on the device."""
        watch.end("start")
        for number in range(self.setting["micro_batches"]):
            if self.setting["states"] == "fsdp":
                last = number == self.setting["micro_batches"] - 1
                self.model.set_requires_gradient_sync(last or self.setting["synchronise"] == "each")
            with torch.autocast(card.DEVICE.type, dtype=torch.bfloat16, enabled=self.setting["states"] == "fp32"):
                loss = self.model(self.tokens, self.targets, watch)
            (loss / self.setting["micro_batches"]).backward()
            watch.backward_end()
        self.optimiser.step()
        watch.end("update")
        return loss.detach()
