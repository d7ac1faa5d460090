#include "answer/search/compositions.h"

#include <stdio.h>
#include <string.h>

/* The clock of the devices on which the table's plans run, for terms that depend on it. */
#define CLOCK                                                                                  \
    "cluster.device.clock={\"max\":\"1.5 GHz\",\"min\":\"0.9 GHz\",\"knee\":\"1.2 "            \
    "GHz\",\"rise\":0.2,\"static\":0.1,\"fixed\":0.2}"

/* Their way to the host. */
#define HOST "cluster.device.host_link=25 GB/s", "cluster.device.host_bandwidth=30 GB/s"

const struct fr_composition fr_compositions[] = {
    {"kind ffn", "ffn-16384", {NULL}},
    {"kind cnn", "alexnet", {NULL}},
    {"kind cnn, domain", "resnet-50", {"domain=15", NULL}},
    {"kind branches", "attention-branches", {NULL}},
    {"kind transformer", "gpt-2", {NULL}},
    {"kind transformer, cross-attention", "transformer-base", {NULL}},
    {"common \"subgrid\", branches", "attention-branches", {"common=subgrid", NULL}},
    {"common \"subgrid\", transformer", "gpt-2", {"common=subgrid", NULL}},
    {"dp, layers", "ffn-16384", {"dp=8", NULL}},
    {"dp, transformer", "gpt-2", {"dp=8", NULL}},
    {"pp, layers", "ffn-16384", {"pp=2", "micro_batch=4", NULL}},
    {"pp, branches", "attention-branches", {"pp=3", "micro_batch=4", NULL}},
    {"pp, transformer", "gpt-2", {"pp=2", "micro_batch=4", NULL}},
    {"pp, cross-attention", "transformer-base", {"pp=3", "micro_batch=4", NULL}},
    {"chunks, transformer",
     "gpt-2",
     {"pp=2", "chunks=2", "schedule=interleaved", "micro_batch=4"}},
    {"zero-bubble, transformer",
     "gpt-2",
     {"pp=2", "schedule=zero-bubble", "micro_batch=4", NULL}},
    {"zero-bubble-v, transformer",
     "gpt-2",
     {"pp=2", "chunks=2", "schedule=zero-bubble-v", "micro_batch=2"}},
    {"dualpipe-v, transformer",
     "gpt-2",
     {"pp=2", "chunks=2", "schedule=dualpipe-v", "micro_batch=2"}},
    {"forward only, layers", "ffn-16384", {"pass=forward", NULL}},
    {"forward only, branches", "attention-branches", {"pass=forward", NULL}},
    {"forward only, transformer", "gpt-2", {"pass=forward", NULL}},
    {"forward only and pp", "gpt-2", {"pass=forward", "pp=2", "micro_batch=4", NULL}},
    {"forward only and pp, layers",
     "ffn-16384",
     {"pass=forward", "pp=2", "micro_batch=4", NULL}},
    {"micro-batches, layers", "ffn-16384", {"micro_batch=2", NULL}},
    {"micro-batches, transformer", "gpt-2", {"micro_batch=2", NULL}},
    {"overlap, layers", "ffn-16384", {"overlap=gradient", NULL}},
    {"overlap, branches", "attention-branches", {"overlap=gradient", NULL}},
    {"overlap, transformer", "gpt-2", {"overlap=gradient", NULL}},
    {"placement, layers", "ffn-16384", {"placement=optimised", NULL}},
    {"placement, transformer", "gpt-2", {"placement=round-robin", NULL}},
    {"placement and pp", "gpt-2", {"placement=by-axis:pp-tp", "pp=2", "micro_batch=4", NULL}},
    {"sequence_parallel", "gpt-2", {"sequence_parallel=true", NULL}},
    {"context parallel", "gpt-2", {"cp=2", NULL}},
    {"context parallel by all-to-all", "gpt-2", {"cp=2", "context=all-to-all", NULL}},
    {"zero 1", "gpt-2", {"zero=1", NULL}},
    {"zero 2", "gpt-2", {"zero=2", NULL}},
    {"zero 3", "gpt-2", {"zero=3", NULL}},
    {"zero 3 over 2 of 4", "gpt-2", {"dp=4", "zero=3", "zero_ranks=2", NULL}},
    {"flash attention", "gpt-2", {"attention=flash", NULL}},
    {"recompute, layers", "ffn-16384", {"recompute=full", NULL}},
    {"recompute, transformer", "gpt-2", {"recompute=full", NULL}},
    {"recompute save_qkv", "gpt-2", {"recompute=save_qkv", NULL}},
    {"offload optimizer", "gpt-2", {"offload=optimizer", HOST}},
    {"offload activations", "gpt-2", {"offload=activations", HOST}},
    {"gradients added apart", "gpt-2", {"accumulation=apart", NULL}},
    {"blocking launches", "gpt-2", {"launches=blocking", NULL}},
    {"compressed messages",
     "gpt-2",
     {"compression.backward.scope=all", "pp=2", "micro_batch=4", NULL}},
    {"compressed activations",
     "gpt-2",
     {"compression.forward.rank=16", "pp=2", "micro_batch=4", NULL}},
    {"compressed gradients", "gpt-2", {"compression.gradient.stages=1", NULL}},
    {"compression, layers", "ffn-16384", {"compression.gradient.stages=1", NULL}},
    {"clocks, transformer",
     "gpt-2",
     {"pp=2", "micro_batch=4", "clock=[\"1.5 GHz\",\"1.2 GHz\"]", CLOCK}},
    {"clocks of the slack", "gpt-2", {"pp=2", "micro_batch=4", "clock=slack", CLOCK}},
    {"power cap, branches",
     "attention-branches",
     {"pp=3", "micro_batch=4", "power_cap=200W", CLOCK}},
    {"power cap, transformer", "gpt-2", {"power_cap=200W", CLOCK, NULL}},
    {"clock, layers in a row", "ffn-16384", {"clock=1.2GHz", CLOCK, NULL}},
    {"grid per layer", "ffn-16384", {"layer_tp=[4]", NULL}},
    {"grid per group, transformer", "gpt-2", {"layer_tp=[1,4,2]", NULL}},
    {"adapters beside frozen weights", "gpt-2", {"model.lora_rank=8", NULL}},
    {"hybrid of state-space blocks",
     "gpt-2",
     {"model.pattern=M-*-", "model.ssm_heads=12", "model.ssm_groups=4"}},
    {NULL, NULL, {NULL}}};

fr_status fr_composition_load(const struct fr_composition *composition,
                              const struct fr_method *method, struct fr_job *job,
                              struct fr_error *err) {
    char name[32];
    const char *sets[5 + FR_COMPOSITION_SETS_MAX] = {name, "tp=2", "dp=2", "global_batch=16"};
    struct fr_job_names names = {
        .cluster = "lassen", .model = composition->model, .sets = sets, .n_sets = 4};
    if (method->uses_ghost) sets[names.n_sets++] = "ghost=4";
    snprintf(name, sizeof name, "method=%s", method->name);
    for (int k = 0; k < FR_COMPOSITION_SETS_MAX && composition->sets[k]; k++)
        sets[names.n_sets++] = composition->sets[k];
    return fr_job_load(&names, job, err);
}

const char *fr_composition_verdict(const struct fr_outcome *out) {
    for (int i = 0; i < FR_REASON_COUNT; i++)
        if (out->reasons & FR_BECAUSE(i)) return fr_reason_names[i];
    return "priced";
}

const struct fr_axis_setting fr_axis_settings[] = {
    {"zero 1", "zero", NULL, {"zero=1", NULL}},
    {"zero 2", "zero", NULL, {"zero=2", NULL}},
    {"zero 3", "zero", NULL, {"zero=3", NULL}},
    {"zero 2 over 2", "zero", NULL, {"zero=2", "zero_ranks=2", NULL}},
    {"experts", "ep", "mixtral-8x7b", {"ep=2", NULL}},
    {"context parallel", "cp", NULL, {"cp=2", NULL}},
    {"cp by all-to-all", "cp", NULL, {"cp=2", "context=all-to-all", NULL}},
    {"compressed messages", "backward", NULL, {"compression.backward.scope=all", NULL}},
    {"compressed activations", "forward", NULL, {"compression.forward.rank=16", NULL}},
    {"compressed gradients", "gradient", NULL, {"compression.gradient.stages=2", NULL}},
    {"overlap", "overlap", NULL, {"overlap=gradient", NULL}},
    {"recompute full", "recompute", NULL, {"recompute=full", NULL}},
    {"recompute selective", "recompute", NULL, {"recompute=selective", NULL}},
    {"recompute save_qkv", "recompute", NULL, {"recompute=save_qkv", NULL}},
    {"recompute save_qkv_out", "recompute", NULL, {"recompute=save_qkv_out", NULL}},
    {"interleaved", "schedule", NULL, {"schedule=interleaved", "chunks=2", NULL}},
    {"zero-bubble", "schedule", NULL, {"schedule=zero-bubble", NULL}},
    {"zero-bubble-v", "schedule", NULL, {"schedule=zero-bubble-v", "chunks=2", NULL}},
    {"sequence parallel", "sequence_parallel", NULL, {"sequence_parallel=true", NULL}},
    {"tp overlap",
     "sequence_parallel",
     NULL,
     {"sequence_parallel=true", "overlap_tp=true", NULL}},
    {"flash attention", "attention", NULL, {"attention=flash", NULL}},
    {"offload optimizer", "offload", NULL, {"offload=optimizer", HOST}},
    {"offload activations", "offload", NULL, {"offload=activations", HOST}},
    {"gradients added apart", "accumulation", NULL, {"accumulation=apart", NULL}},
    {"graphs of layers", "graphs", NULL, {"graphs=layers", NULL}},
    {"blocking launches", "launches", NULL, {"launches=blocking", NULL}},
    {"adapters", "lora_rank", NULL, {"model.lora_rank=8", NULL}},
    {NULL, NULL, NULL, {NULL}}};

bool fr_axes_meet(const struct fr_axis_setting *a, const struct fr_axis_setting *b) {
    return a < b && strcmp(a->key, b->key) != 0;
}

const char *fr_axes_model(const struct fr_axis_setting *a, const struct fr_axis_setting *b) {
    if (a && a->model) return a->model;
    return b && b->model ? b->model : "gpt-2";
}

fr_status fr_axes_load(const struct fr_method *method, const struct fr_axis_setting *a,
                       const struct fr_axis_setting *b, const char *model, struct fr_job *job,
                       struct fr_error *err) {
    char name[32];
    const char *sets[24] = {name,
                            "tp=2",
                            "pp=2",
                            "dp=4",
                            method->branches ? "micro_batch=2" : "micro_batch=1",
                            "global_batch=32",
                            "model.dtype=bf16",
                            "model.layers=4",
                            "model.gradient_dtype=fp32",
                            "model.defaults=2019",
                            "cluster.device.host_launch=10 us"}; /* hides little */
    const struct fr_axis_setting *const axes[] = {a, b};
    struct fr_job_names names = {.cluster = "dgx-b300",
                                 .model = model ? model : fr_axes_model(a, b),
                                 .sets = sets,
                                 .n_sets = 11};
    snprintf(name, sizeof name, "method=%s", method->name);
    if (method->uses_ghost) sets[names.n_sets++] = "ghost=4";
    for (int i = 0; i < 2; i++)
        for (int k = 0; axes[i] && axes[i]->sets[k]; k++)
            sets[names.n_sets++] = axes[i]->sets[k];
    return fr_job_load(&names, job, err);
}
