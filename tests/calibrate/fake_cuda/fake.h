/** @file
 *  Libraries of an absent GPU.  Names and signatures are the real ones', times follow the laws below, and faults come
 *  on demand.  Time is the device's own; nothing waits for it.
 *
 *  Environment variables:
 *      FAKE_CUDA_GPUS    how many there are (1)
 *      FAKE_CUDA_NAMES   their names, separated by ";", the last for all others ("NVIDIA H100 80GB HBM3")
 *      FAKE_CUDA_FREE_B  memory that is free (80 GB)
 *      FAKE_CUDA_FAULT   NAME:CODE or NAME:CODE@N, several separated by ";": the call, from its N-th on, returns CODE
 *      FAKE_CUDA_HANG    NAME or NAME@N: the N-th call does not return
 *      FAKE_CUDA_MIG     1: GPUs are divided
 *      FAKE_NCCL_NODE    neighbouring ranks that share a node (all)
 *      FAKE_CUDA_WAIT_US what is waited for the GPU each time (0)
 *
 *  Laws:
 *      product   2 m' n' k (1 + TAIL units / tiles) / (EFFICIENCY peak) + result / MEMORY, in whole tiles of 128;
 *                misaligned rows MISALIGNED times as long
 *                several at once are one call, whose waves count all tiles, at GROUPED of the rate; each reads its own
 *                second operand besides
 *                fp8 with scales of blocks takes BLOCKS times as long
 *      traffic   LAUNCH + bytes / MEMORY, from the cache CACHE_TIMES as fast
 *      kernel    LAUNCH, of a graph GRAPH
 *      copy      COPY + bytes / LINK, of pages that are not pinned PAGED times as long
 *      attention 4 b h s d K (1 + HALF_KEYS / K) / (FLASH peak), K = s, causal s / 2; of narrow heads EXPONENTIALS / d
 *                times as long; backward 2.5 times the flop at BACKWARD of the rate
 *      NCCL      NCCL_S + peers HOP_S + bytes over a link / NVLINK, or RAIL where ranks are on several nodes; a product beside
 *                it loses INTERFERENCE of the time that both run
 *                it notes its choice, TREE LL up to 64 KB and RING SIMPLE beyond, which takes NOTED_S, while NCCL_DEBUG says so
 *      power     by what was done last: IDLE, BUSY, COPYING
 */
#ifndef FR_TESTS_CALIBRATE_FAKE_CUDA_FAKE_H
#define FR_TESTS_CALIBRATE_FAKE_CUDA_FAKE_H

#include "calibrate/measure/device/cuda/blas_api.h"
#include "calibrate/measure/device/cuda/nvml_api.h"

#define FAKE_PEAK 989e12
#define FAKE_EFFICIENCY 0.61
#define FAKE_TAIL 0.25
#define FAKE_MISALIGNED 1.15
#define FAKE_GROUPED 0.83
#define FAKE_BLOCKS 1.09
#define FAKE_UNITS 132
#define FAKE_MEMORY 3.1e12
#define FAKE_CACHE_TIMES 1.8
#define FAKE_CACHE_B 52428800
#define FAKE_LAUNCH_S 3.2e-6
#define FAKE_GRAPH_S 0.6e-6
#define FAKE_COPY_S 4e-6
#define FAKE_LINK 52e9
#define FAKE_PAGED 4
#define FAKE_FLASH 0.63
#define FAKE_HALF_KEYS 210
#define FAKE_BACKWARD 0.79
#define FAKE_EXPONENTIALS 80
#define FAKE_NCCL_S 9e-6
#define FAKE_HOP_S 1.1e-6
#define FAKE_NOTED_S 7e-6
#define FAKE_TREE_B 65536
#define FAKE_NVLINK 371e9
#define FAKE_RAIL 46e9
#define FAKE_INTERFERENCE 0.17
#define FAKE_IDLE_W 92
#define FAKE_BUSY_W 688
#define FAKE_COPYING_W 560
#define FAKE_SHOWN_B (81559.0 * 1048576)
#define FAKE_CONTEXT_B 545259520

enum fake_work { FAKE_NOTHING, FAKE_PRODUCT, FAKE_TRAFFIC };

/** Faults of the fake driver alone, for its neighbours. */
unsigned fake_fault(const char *name);
void fake_spend(double time_s, enum fake_work work);
enum fake_work fake_last(void);
/** The same on one of two streams: the first that was made, or another that runs beside it. */
void fake_spend_on(CUstream stream, double time_s);

#endif
