"""What the card says: bytes that PyTorch's allocator holds, bytes in use on the device, energy and clock by NVML.

Everything here only reads; nothing of the card is set.  Without a CUDA device all numbers are 0 or None, so that the
program can be tried on any machine."""
import threading
import time

import torch

CUDA = torch.cuda.is_available()
DEVICE = torch.device("cuda" if CUDA else "cpu")
SAMPLE_S = 0.05  # between two readings of the clock

try:
    import pynvml
    pynvml.nvmlInit()
    HANDLE = pynvml.nvmlDeviceGetHandleByIndex(0)
except Exception:  # no library, no driver or no card: then there are no such numbers
    pynvml = HANDLE = None


def nvml(name, *words):
    """The answer of an NVML function to a question about the card, None where it cannot answer."""
    try:
        return getattr(pynvml, name)(*words)
    except Exception:
        return None


def synchronize():
    if CUDA:
        torch.cuda.synchronize()


def allocated_B():
    return torch.cuda.memory_allocated() if CUDA else 0


def reserved_B():
    return torch.cuda.memory_reserved() if CUDA else 0


def peak_B():
    return torch.cuda.max_memory_allocated() if CUDA else 0


def peak_reserved_B():
    return torch.cuda.max_memory_reserved() if CUDA else 0


def reset_peak():
    if CUDA:
        torch.cuda.reset_peak_memory_stats()


def shown_B():
    """Bytes in use on the whole device, as nvidia-smi shows them: context and libraries too."""
    if not CUDA:
        return 0
    free, total = torch.cuda.mem_get_info()
    return total - free


def retries():
    """How often the allocator has given cached blocks back to find memory, since the process began."""
    return torch.cuda.memory_stats().get("num_alloc_retries", 0) if CUDA else 0


def segments():
    """The allocator's kind of segments, as it says itself."""
    if not CUDA:
        return None
    return "expandable" if any(segment.get("is_expandable") for segment in torch.cuda.memory_snapshot()) else "default"


def limit(share):
    """The allocator gets at most this share of the device's memory."""
    if CUDA:
        torch.cuda.set_per_process_memory_fraction(float(min(share, 1)))


def instant():
    """A moment of the device's own time, for seconds_between; the device need not have reached it yet."""
    if not CUDA:
        return time.perf_counter()
    event = torch.cuda.Event(enable_timing=True)
    event.record()
    return event


def seconds_between(before, after):
    """Between two instants that the device has passed [s]."""
    return before.elapsed_time(after) / 1e3 if CUDA else after - before


def memory_B():
    return torch.cuda.get_device_properties(0).total_memory if CUDA else 0


def provenance():
    """Card, driver and software, as one line of the table."""
    driver = nvml("nvmlSystemGetDriverVersion")
    return {
        "kind": "provenance", "device": torch.cuda.get_device_name(0) if CUDA else "CPU", "memory_B": memory_B(),
        "driver": driver.decode() if isinstance(driver, bytes) else driver, "torch": torch.__version__,
        "cuda": torch.version.cuda,
        "cudnn": torch.backends.cudnn.version() if CUDA else None, "date": time.strftime("%Y-%m-%d", time.gmtime()),
        "power_limit_W": watts(nvml("nvmlDeviceGetEnforcedPowerLimit", HANDLE)),
        "temperature_C": nvml("nvmlDeviceGetTemperature", HANDLE, 0)}


def watts(milliwatts):
    return None if milliwatts is None else milliwatts / 1e3


class Meter:
    """Mean power and median clock between `with Meter() as meter:` and its end.  Power is the difference of the card's
    energy counter; the clock is sampled beside it."""

    def __enter__(self):
        self.done, self.clocks_MHz = threading.Event(), []
        self.sampler = threading.Thread(target=self.sample, daemon=True)
        self.start_mJ, self.start_s = nvml("nvmlDeviceGetTotalEnergyConsumption", HANDLE), time.monotonic()
        self.sampler.start()
        return self

    def sample(self):
        while not self.done.wait(SAMPLE_S):
            self.clocks_MHz.append(nvml("nvmlDeviceGetClockInfo", HANDLE, 1))  # 1: the multiprocessors'

    def __exit__(self, *_):
        end_mJ, took_s = nvml("nvmlDeviceGetTotalEnergyConsumption", HANDLE), time.monotonic() - self.start_s
        self.done.set()
        self.sampler.join()
        clocks = sorted(clock for clock in self.clocks_MHz if clock is not None)
        self.clock_MHz = clocks[len(clocks) // 2] if clocks else None
        self.power_W = None if None in (self.start_mJ, end_mJ) else (end_mJ - self.start_mJ) / 1e3 / took_s
