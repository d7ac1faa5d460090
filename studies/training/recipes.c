#include "studies/training/recipes.h"

#include "studies/training/ablation.h"
#include "studies/training/procedure.h"

static const struct fr_table_limits bloom_limits = {
    .mean = 0.07, .median = 0.04, .aim_mean = 0.05, FR_TABLE_COVERED};
static const struct fr_table_limits dense_limits = {
    .mean = 0.06, .aim_mean = 0.04, FR_TABLE_COVERED};
static const struct fr_table_limits reported = {.aim_mean = 0.1, FR_TABLE_COVERED};

static const char *const degrees[] = {"plan.tp", "plan.pp", NULL};
static const char *const model[] = {"model", NULL};

#define IN_TURN "fitted on one model, all others predicted, each in turn"
#define DGXC .file = "training/dgxc_benchmarking.csv", .prior = "dgx-h100"
#define BRIDGE .file = "training/megatron_bridge.csv"
#define MPT .file = "training/llmfoundry_mpt_fsdp.csv"

static const struct recipe {
    struct fr_table_plan table;
    const char *file, *prior;
    struct fr_table_selection take;
    const char *const *columns; /* NULL: each model in turn */
    bool ablate;                /* by leaving each model out */
} recipes[] = {
    /* 25 February: when the nodes were put in order, says the source. */
    {.table = {"bloom", "rows from 25 February on; each (tp, pp) predicted from all the others",
               &bloom_limits, NULL},
     .file = "training/bigscience_bloom_a100.csv",
     .prior = "a100-opa",
     .take = {.from_date = "02-25"},
     .columns = degrees},
    {.table = {"dgxc", IN_TURN, &dense_limits, NULL},
     DGXC,
     .take = {.dtype = "bf16", .sharded = "no", .experts = "no", .device = "H100"}},
    {.table = {"dgxc_fp8", IN_TURN, &reported, NULL},
     DGXC,
     .take = {.dtype = "fp8", .sharded = "no", .experts = "no", .device = "H100"}},
    {.table = {"bridge_moe", IN_TURN, &reported, NULL},
     BRIDGE,
     .prior = "dgx-h100",
     .take = {.dtype = "fp8", .sharded = "no", .experts = "yes", .device = "H100"}},
    {.table = {"bridge_b200", IN_TURN, &reported, NULL},
     BRIDGE,
     .prior = "dgx-b200",
     .take = {.dtype = "fp8", .device = "DGX-B200"}},
    {.table = {"bridge_b300", IN_TURN, &reported, NULL},
     BRIDGE,
     .prior = "dgx-b300",
     .take = {.dtype = "fp8", .device = "DGX-B300"}},
    {.table = {"bridge_gb200", IN_TURN, &reported, NULL},
     BRIDGE,
     .prior = "gb200-nvl72",
     .take = {.dtype = "fp8", .device = "GB200"}},
    {.table = {"bridge_gb300", IN_TURN, &reported, NULL},
     BRIDGE,
     .prior = "gb300-nvl72",
     .take = {.dtype = "fp8", .device = "GB300"}},
    {.table = {"mpt/a100_40gb", IN_TURN, &reported, NULL},
     MPT,
     .prior = "dgx-a100",
     .take = {.dtype = "bf16", .sharded = "yes", .device = "a100_40gb"}},
    {.table = {"mpt/a100_80gb", IN_TURN, &reported, NULL},
     MPT,
     .prior = "dgx-a100",
     .take = {.dtype = "bf16", .sharded = "yes", .device = "a100_80gb"}},
    {.table = {"mpt/h100", IN_TURN, &reported, NULL},
     MPT,
     .prior = "dgx-h100",
     .take = {.dtype = "bf16", .sharded = "yes", .device = "h100"},
     .ablate = true},
};

static fr_status make(struct fr_reproduction *r, const struct recipe *x,
                      const struct fr_cluster *prior, const struct fr_table_set *set,
                      struct fr_error *err) {
    const struct fr_tune_options options = fr_procedure_tuning();
    FR_TRY(x->columns ? fr_procedure_cross(r, &x->table, prior, set, x->columns, NULL, err)
                      : fr_procedure_across(r, &x->table, prior, set, err));
    return x->ablate ? fr_ablation_add(r, x->table.name, x->prior, set, model, &options, err)
                     : FR_OK;
}

fr_status fr_recipes_add(struct fr_reproduction *r, struct fr_error *err) {
    for (size_t i = 0; i < sizeof recipes / sizeof *recipes; i++) {
        struct fr_table_set set = {0};
        struct fr_cluster prior = {0};
        fr_status status = fr_table_cluster(recipes[i].prior, &prior, err);
        if (status == FR_OK) status = fr_table_read(recipes[i].file, &set, err);
        if (status == FR_OK) fr_table_keep(&set, &recipes[i].take);
        if (status == FR_OK) status = make(r, &recipes[i], &prior, &set, err);
        fr_table_free(&set);
        fr_cluster_free(&prior);
        FR_TRY(status);
    }
    return FR_OK;
}
