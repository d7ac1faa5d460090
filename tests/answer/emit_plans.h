/** @file
 *  Plans that between them give every key another value than its default, on their way to a framework. */
#ifndef FR_TESTS_ANSWER_EMIT_PLANS_H
#define FR_TESTS_ANSWER_EMIT_PLANS_H

#include <stdlib.h>

#include "answer/emit.h"
#include "models/outcome/cost.h"
#include "tests/job.h"

struct emit_plan {
    const char *cluster, *model, *sets[16];
};

#define HOST_DESCRIBED                                                                         \
    "cluster.device.host_link=25 GB/s", "cluster.device.host_bandwidth=30 GB/s"

static const struct emit_plan emit_plans[] = {
    {"dgx-h100", "llama-3-8b", {"dp=8", "zero=3", "loss=compiled", "global_batch=64"}},
    {"dgx-h100",
     "llama-3-8b",
     {"dp=8", "zero=2", "recompute=selective", "launches=blocking", "accumulation=apart",
      "loss=native", "global_batch=64"}},
    {"dgx-h100", "llama-3-8b", {"dp=4", "cp=2", "global_batch=64", "attention=flash"}},
    {"dgx-h100",
     "llama-3-405b",
     {"tp=8", "pp=16", "chunks=8", "schedule=interleaved", "dp=8", "cp=2", "zero=1",
      "overlap=gradient", "sequence_parallel=true", "rank_order=tp-dp-pp", "attention=flash-2",
      "global_batch=512", "recompute=full", "p2p=duplex", "loss=native"}},
    {"dgx-a100",
     "gpt3-175b",
     {"tp=8", "pp=8", "schedule=zero-bubble", "dp=4", "attention=flash-1",
      "compression.embedding=fused", "compression.gradient.stages=2", "micro_batch=2",
      "compression.gradient.rank=64", "compression.codec=topk", "global_batch=64",
      "compression.warm_up=30000"}},
    {"dgx-a100",
     "gpt3-175b",
     {"tp=8", "pp=8", "chunks=2", "schedule=interleaved", "dp=2", "cp=1",
      "compression.backward.scope=all", "compression.backward.rank=8",
      "compression.backward.lazy_error=false", "compression.forward.rank=8",
      "placement=round-robin", "global_batch=64", "iterations=1000", "bucket=1 MiB",
      "overlap=gradient"}},
    {"dgx-a100",
     "gpt3-175b",
     {"tp=4", "pp=4", "schedule=gpipe", "stage_layers=[20,26,26,24]", "dp=2",
      "compression.gradient.stages=2", "compression.gradient.ranks=[64,32]", "model.dtype=fp16",
      "global_batch=64", "clock=1.2 GHz", "power_cap=300 W"}},
    {"dgx-h100",
     "mixtral-8x7b",
     {"tp=2", "dp=8", "ep=8", "etp=1", "sequence_parallel=true", "dispatch_ranks=4",
      "overlap_experts=true", "overlap_tp=true", "model.dtype=fp8", "model.gradient_dtype=bf16",
      "model.weight_dtype=fp8", "global_batch=64"}},
    {"dgx-h100",
     "llama-3-8b",
     {"dp=4", "cp=4", "context=all-to-all", "zero=3", "zero_ranks=8", "global_batch=64",
      "attention=flash"}},
    {"a100-hdr",
     "gpt-2.5b",
     {"tp=2", "dp=4", "method=grid", "layer_tp=[1,4,2]", "divide=pairs", "micro_batch=2",
      "global_batch=64"}},
    {"frontier", "gpt-2.5b", {"tp=4", "method=phantom", "ghost=16", "global_batch=64"}},
    {"lassen",
     "t5-large-mod",
     {"tp=4", "dp=2", "method=subgraph", "common=subgrid", "exchange=all_gather",
      "branches=heads", "global_batch=8"}},
    {"lassen",
     "t5-large-mod",
     {"tp=4", "dp=2", "method=subgraph", "branches=layer", "global_batch=8"}},
    {"dgx-h100", "llama-3-8b", {"tp=8", "pass=forward", "global_batch=64"}},
    {"dgx-h100", "llama-3-8b", {"tp=2", "pp=4", "stage_layers=best", "global_batch=64"}},
    {"dgx-h100",
     "llama-3-8b",
     {"dp=8", "zero=1", "offload=all", "global_batch=64", HOST_DESCRIBED}},
    {"dgx-h100",
     "llama-3-8b",
     {"dp=2", "pp=4", "offload=all", "offload_layers=12", "global_batch=64", HOST_DESCRIBED}},
    {"dgx-h100", "llama-3-8b", {"dp=8", "graphs=layers", "global_batch=64"}},
    {"dgx-h100", "mixtral-8x7b", {"dp=8", "ep=8", "graphs=layers", "global_batch=64"}},
    {"dgx-h100", "mixtral-8x7b", {"dp=8", "ep=8", "graphs=iteration", "global_batch=64"}},
    {"dgx-h100",
     "llama-3-8b",
     {"dp=8", "zero=3", "reshard_after_forward=false", "gradient_sync=iteration",
      "recompute=full", "recompute_layers=8", "global_batch=64"}},
    {"dgx-h100",
     "llama-3-8b",
     {"dp=8", "zero=1", "zero_exchange=broadcast", "global_batch=64"}},
    {"dgx-h100",
     "mixtral-8x7b",
     {"dp=8", "ep=8", "recompute=moe_act+layernorm", "global_batch=64"}},
    {"dgx-h100", "llama-3-8b", {"dp=8", "recompute=selective_op", "global_batch=64"}},
    {"frontier",
     "gpt-2.5b",
     {"tp=4", "method=phantom", "ghost=16", "phantom_parts=all", "global_batch=64"}},
};
enum { EMIT_PLANS = sizeof emit_plans / sizeof *emit_plans };

/** The caller frees the block with emitted_free. */
static struct fr_emitted *emitted_of(const struct emit_plan *plan, const struct fr_emitter *to,
                                     struct fr_job *job, struct fr_outcome *out) {
    struct fr_emitted *e = calloc(1, sizeof *e);
    struct fr_error err = {0};
    fr_test_job(plan->cluster, plan->model, plan->sets, job);
    fr_cost(job, &job->plan, out);
    if (fr_emit(to, job, out, e, &err) != FR_OK)
        fail_msg("%s for %s: %s", plan->model, to->name, err.detail);
    return e;
}

static void emitted_free(struct fr_emitted *e, struct fr_job *job) {
    free(e);
    fr_job_free(job);
}

#endif
