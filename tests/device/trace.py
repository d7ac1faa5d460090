"""trace.py FILE: a trace of PyTorch's profiler of operations that forerun import profiler reads, on the GPU of this machine.

Products alone, at once and of 8 bits, attention by two kernels in both passes, passes over memory and copies over the
host link, each three times after one that is not recorded."""
import sys

import torch
import torch.nn.functional as F
from torch.nn.attention import SDPBackend, sdpa_kernel


def tensor(*size, dtype=torch.bfloat16):
    return torch.randn(*size, device="cuda").to(dtype)


def attend(backend):
    q, k, v = (tensor(2, 16, 4096, 128).requires_grad_() for _ in range(3))
    with sdpa_kernel(backend):
        F.scaled_dot_product_attention(q, k, v, is_causal=True).sum().backward()


def work():
    for m, n, k in ((8192, 4096, 4096), (8192, 14336, 4096), (4096, 4096, 4096), (2048, 8192, 2048)):
        a, b = tensor(m, k), tensor(n, k)
        torch.mm(a, b.t())
    torch.bmm(tensor(8, 1024, 4096), tensor(8, 4096, 4096))
    if torch.cuda.get_device_capability() >= (8, 9):
        a, b = tensor(4096, 4096, dtype=torch.float8_e4m3fn), tensor(4096, 4096, dtype=torch.float8_e4m3fn)
        one = torch.ones((), device="cuda")
        torch._scaled_mm(a, b.t(), scale_a=one, scale_b=one, out_dtype=torch.bfloat16, use_fast_accum=True)
    for backend in (SDPBackend.CUDNN_ATTENTION, SDPBackend.FLASH_ATTENTION):
        try:
            attend(backend)
        except RuntimeError as error:  # this card or build has no such kernel
            print(f"trace.py: {backend}: {error}", file=sys.stderr)
    x, y = tensor(16384, 16384), tensor(16384, 16384)
    y.copy_(x)
    x + y
    F.silu(x)
    F.layer_norm(x, (16384,))
    host = torch.empty(1 << 28, dtype=torch.uint8, pin_memory=True)
    host.copy_(host.to("cuda", non_blocking=True), non_blocking=True)
    torch.cuda.synchronize()


def main():
    if len(sys.argv) != 2 or not torch.cuda.is_available():
        raise SystemExit("trace.py FILE: needs a PyTorch that sees a GPU")
    work()
    with torch.profiler.profile(record_shapes=True) as profile:
        for _ in range(3):
            work()
    profile.export_chrome_trace(sys.argv[1])


main()
