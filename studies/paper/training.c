/* Measured training runs by others: predicted by coefficients fitted without them.
 *
 * Which rows are fitted and which predicted is stated with every table; a row is never predicted
 * from itself.  Selections go by what a row says of its run (date, precision, kind of parallelism),
 * never by its name. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "studies/training/ablation.h"
#include "studies/training/markdown.h"
#include "studies/training/procedure.h"
#include "studies/training/recipes.h"

static const char *const whole_plan[] = {"model",   "plan.tp",          "plan.pp",
                                         "plan.dp", "plan.micro_batch", NULL};

/* ---- runs on one node --------------------------------------------------------------------- */

static fr_status single(struct fr_reproduction *r, const struct fr_cluster *prior,
                        struct fr_table_set *set, struct fr_error *err) {
    static const char *const shape[] = {"model.hidden", "plan.tp", "plan.micro_batch", NULL};
    static const char *const wide[] = {"plan.tp", NULL};
    static const struct fr_table_limits limits = {.mean = 0.065,
                                                  .tau = 0.88,
                                                  .regret_mean = 0.04,
                                                  .aim_mean = 0.05,
                                                  .aim_tau = 0.90,
                                                  .aim_regret_mean = 0.03,
                                                  FR_TABLE_COVERED};
    static const struct fr_table_limits profile_limits = {
        .mean = 0.015, .regret_worst = 0.01, .aim_mean = 0.01, FR_TABLE_COVERED};
    static const struct fr_table_plan analytic = {
        "vtrain_single", "each (hidden, tp, micro-batch) predicted from all the others",
        &limits, NULL};
    static const struct fr_table_plan profiled = {
        "vtrain_profile", "layer times from the rows at pp = 1; the rows at pp > 1 predicted",
        &profile_limits, NULL};
    const struct fr_tune_options options = fr_procedure_tuning();
    FR_TRY(fr_procedure_cross(r, &analytic, prior, set, shape, NULL, err));
    FR_TRY(fr_procedure_profiled(r, &profiled, prior, set, err));
    int kept = 0;
    for (int i = 0; i < set->n; i += 4)
        set->use[kept++] = set->use[i]; /* a quarter is enough */
    set->n = kept;
    return fr_ablation_add(r, "vtrain_single", "dgx-a100", set, wide, &options, err);
}

static fr_status one_node(struct fr_reproduction *r, struct fr_error *err) {
    struct fr_table_set set;
    struct fr_cluster prior = {0};
    fr_status status = fr_table_cluster("dgx-a100", &prior, err);
    if (status == FR_OK) status = fr_table_read("training/vtrain_single_node.csv", &set, err);
    if (status == FR_OK) {
        status = single(r, &prior, &set, err);
        fr_table_free(&set);
    }
    fr_cluster_free(&prior);
    return status;
}

/* ---- runs on several nodes ---------------------------------------------------------------- */

/* The coefficients of links, of a node and of the network. */
static uint32_t links(void) {
    uint32_t mask = 0;
    for (int j = 0; j < fr_coefficient_count(); j++)
        if (fr_coefficients[j].group == FR_GROUP_NETWORK) mask |= (uint32_t)1 << j;
    return mask;
}

/* Device and host of one node's runs are held; tp's link and the network are refitted. */
static fr_status from_single(struct fr_reproduction *r, const struct fr_cluster *prior,
                             const struct fr_table_set *multi, const struct fr_table_set *one,
                             struct fr_error *err) {
    static const struct fr_table_limits limits = {
        .mean = 0.09, .median = 0.065, FR_TABLE_COVERED};
    static const struct fr_table_plan table = {
        "vtrain_multi_from_single",
        "device and host of one node; tp's link and the network refitted, "
        "each plan from all the others",
        &limits, "dgx-a100"};
    struct fr_tune_options options = fr_procedure_tuning();
    struct fr_tune_result *tuned = fr_calloc(1, sizeof *tuned);
    if (!tuned) return fr_fail(err, FR_ERR_NOMEM, NULL, "out of memory");
    fr_status status = fr_tune(prior, one->use, one->n, &options, tuned, err);
    options.held = ~links();
    if (status == FR_OK)
        status =
            fr_procedure_cross(r, &table, &tuned->cluster, multi, whole_plan, &options, err);
    free(tuned);
    return status;
}

struct nodes {
    struct fr_table_set multi, one, sc21, seqsel;
    struct fr_cluster prior;
    struct fr_tune_result *tuned; /* [2]: to the rows over several nodes, then to SC'21's */
};

static fr_status multi(struct fr_reproduction *r, const struct nodes *n, struct fr_error *err) {
    static const char *const mesh[] = {"plan.tp", "plan.pp", "plan.dp", NULL};
    static const char *const model_mesh[] = {"model", "plan.tp", "plan.pp", "plan.dp", NULL};
    static const struct fr_table_limits limits = {
        .mean = 0.09, .median = 0.065, .aim_mean = 0.07, FR_TABLE_COVERED};
    static const struct fr_table_limits told = {FR_TABLE_COVERED};
    static const struct fr_table_plan tables[] = {
        {"vtrain_multi",
         "each plan (tp, pp, dp, micro-batch) of each model from all the others", &limits,
         NULL},
        {"vtrain_multi_degrees",
         "stricter: all rows of the same (tp, pp, dp) predicted from the others", &told, NULL}};
    const struct fr_tune_options options = fr_procedure_tuning();
    FR_TRY(fr_procedure_cross(r, &tables[0], &n->prior, &n->multi, whole_plan, NULL, err));
    FR_TRY(fr_procedure_cross(r, &tables[1], &n->prior, &n->multi, mesh, NULL, err));
    FR_TRY(
        fr_ablation_add(r, "vtrain_multi", "dgx-a100", &n->multi, model_mesh, &options, err));
    return from_single(r, &n->prior, &n->multi, &n->one, err);
}

static fr_status selene(struct fr_reproduction *r, const struct nodes *n,
                        struct fr_error *err) {
    static const struct fr_table_limits sc21 = {
        .mean = 0.04, .worst = 0.08, .aim_mean = 0.025, FR_TABLE_COVERED};
    static const struct fr_table_limits seqsel = {
        .mean = 0.06, .aim_mean = 0.04, FR_TABLE_COVERED};
    static const struct fr_table_plan tables[] = {
        {"sc21", "coefficients of vTrain's rows over several nodes, none fitted here", &sc21,
         NULL},
        {"seqsel", "the same, with the efficiency refitted on the rows of SC'21", &seqsel,
         "dgx-a100"}};
    FR_TRY(fr_procedure_transfer(r, &tables[0], &n->prior, &n->multi, &n->sc21, NULL,
                                 &n->tuned[0], err));
    return fr_procedure_transfer(r, &tables[1], &n->tuned[0].cluster, &n->sc21, &n->seqsel,
                                 NULL, &n->tuned[1], err);
}

static fr_status several_nodes(struct fr_reproduction *r, struct fr_error *err) {
    struct nodes n = {.tuned = fr_calloc(2, sizeof *n.tuned)};
    fr_status status = n.tuned ? FR_OK : fr_fail(err, FR_ERR_NOMEM, NULL, "out of memory");
    const struct {
        const char *file;
        struct fr_table_set *set;
    } files[] = {{"training/vtrain_multi_node.csv", &n.multi},
                 {"training/vtrain_single_node.csv", &n.one},
                 {"training/megatron_sc21_table1.csv", &n.sc21},
                 {"training/megatron_seqsel_table5.csv", &n.seqsel}};
    for (size_t i = 0; i < sizeof files / sizeof *files && status == FR_OK; i++)
        status = fr_table_read(files[i].file, files[i].set, err);
    if (status == FR_OK) status = fr_table_cluster("dgx-a100", &n.prior, err);
    if (status == FR_OK) status = multi(r, &n, err);
    if (status == FR_OK) status = selene(r, &n, err);
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) fr_table_free(files[i].set);
    fr_cluster_free(&n.prior);
    free(n.tuned);
    return status;
}

/* ---- from one file to another --------------------------------------------------------------- */

static const struct fr_table_limits reported = {.aim_mean = 0.1, FR_TABLE_COVERED};

#define DGXC "training/dgxc_benchmarking.csv"
#define BRIDGE "training/megatron_bridge.csv"

#define DENSE(type)                                                                            \
    { .dtype = type, .sharded = "no", .experts = "no", .device = "H100" }
#define EXPERTS(type)                                                                          \
    { .dtype = type, .sharded = "no", .experts = "yes", .device = "H100" }
#define SHARDED(type)                                                                          \
    { .dtype = type, .sharded = "yes", .device = "H100" }

/* Rows of one file from the coefficients of another's; sharded ones stay apart. */
static const struct transfer {
    struct fr_table_plan table;
    const char *known, *file;
    struct fr_table_selection fitted, taken;
    bool links; /* of the network, from the rows of 16 bits: see below */
} transfers[] = {
    {{"bridge", "coefficients of DGXC's dense fp8 rows, none fitted here", &reported, NULL},
     DGXC,
     BRIDGE,
     DENSE("fp8"),
     DENSE("fp8"),
     false},
    {{"dgxc_moe", "mixtures of experts, from the dense bf16 rows, none fitted here", &reported,
      NULL},
     DGXC,
     DGXC,
     DENSE("bf16"),
     EXPERTS("bf16"),
     false},
    {{"dgxc_moe_fp8", "mixtures of experts, from the dense fp8 rows, none fitted here",
      &reported, NULL},
     DGXC,
     DGXC,
     DENSE("fp8"),
     EXPERTS("fp8"),
     false},
    {{"dgxc_fsdp", "fully sharded, from the bf16 rows that are not, none fitted here",
      &reported, NULL},
     DGXC,
     DGXC,
     DENSE("bf16"),
     SHARDED("bf16"),
     false},
    {{"dgxc_fsdp_fp8",
      "fully sharded, from the fp8 rows that are not, links from the bf16 rows, none fitted "
      "here",
      &reported, "dgx-h100"},
     DGXC,
     DGXC,
     DENSE("fp8"),
     SHARDED("fp8"),
     true},
};

/* Links are the machine's, whatever is computed.  The dense fp8 rows feel the network little, and a
 * fit to them makes it slow for small things that are not the network's; runs that hang on it take
 * it from the bf16 rows, as uncertain as those leave it. */
static fr_status links_of(const struct transfer *x, const struct fr_cluster *prior,
                          struct fr_tune_result *tuned, double sigmas[FR_COEFFICIENT_MAX],
                          struct fr_tune_options *options, struct fr_error *err) {
    static const struct fr_table_selection plain = DENSE("bf16");
    const struct fr_tune_options usual = fr_procedure_tuning();
    struct fr_table_set set = {0};
    fr_status status = fr_table_read(x->known, &set, err);
    if (status == FR_OK) fr_table_keep(&set, &plain);
    if (status == FR_OK) status = fr_tune(prior, set.use, set.n, &usual, tuned, err);
    fr_table_free(&set);
    FR_TRY(status);
    options->held = links();
    for (int j = 0; j < fr_coefficient_count(); j++)
        if (options->held >> j & 1) sigmas[j] = tuned->tuned[j].sigma;
    options->sigmas = sigmas;
    return FR_OK;
}

static fr_status transfer(struct fr_reproduction *r, const struct transfer *x,
                          const struct fr_cluster *prior, struct fr_tune_result tuned[2],
                          struct fr_error *err) {
    struct fr_table_set known = {0}, set = {0};
    struct fr_tune_options options = fr_procedure_tuning();
    double sigmas[FR_COEFFICIENT_MAX] = {0};
    fr_status status = fr_table_read(x->known, &known, err);
    if (status == FR_OK) status = fr_table_read(x->file, &set, err);
    if (status == FR_OK && x->links)
        status = links_of(x, prior, &tuned[1], sigmas, &options, err);
    if (status == FR_OK) {
        struct fr_cluster from = *prior;
        if (x->links) from.levels = tuned[1].cluster.levels;
        fr_table_keep(&known, &x->fitted);
        fr_table_keep(&set, &x->taken);
        status = fr_procedure_transfer(r, &x->table, &from, &known, &set, &options, tuned, err);
    }
    fr_table_free(&known);
    fr_table_free(&set);
    return status;
}

static fr_status between_files(struct fr_reproduction *r, struct fr_error *err) {
    struct fr_cluster prior = {0};
    struct fr_tune_result *tuned = fr_calloc(2, sizeof *tuned);
    fr_status status = tuned ? FR_OK : fr_fail(err, FR_ERR_NOMEM, NULL, "out of memory");
    if (status == FR_OK) status = fr_table_cluster("dgx-h100", &prior, err);
    for (size_t i = 0; i < sizeof transfers / sizeof *transfers && status == FR_OK; i++)
        status = transfer(r, &transfers[i], &prior, tuned, err);
    fr_cluster_free(&prior);
    free(tuned);
    return status;
}

/* ---- what no table holds ------------------------------------------------------------------ */

static fr_status left_out(struct fr_reproduction *r, struct fr_error *err) {
    static const char *const files[] = {"vtrain_single_node",    "vtrain_multi_node",
                                        "megatron_sc21_table1",  "megatron_seqsel_table5",
                                        "bigscience_bloom_a100", "dgxc_benchmarking",
                                        "llmfoundry_mpt_fsdp",   "megatron_bridge"};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        struct fr_table_set set;
        char path[96];
        snprintf(path, sizeof path, "training/%s.csv", files[i]);
        FR_TRY(fr_table_read(path, &set, err));
        fr_table_left_out(r, files[i], &set.runs);
        fr_table_free(&set);
    }
    return FR_OK;
}

/* Tables, and ingredients taken away, which take the most of the time. */
enum { STEPS = 23 + 27 };

static fr_status make_all(struct fr_reproduction *r, struct fr_error *err) {
    static fr_status (*const parts[])(struct fr_reproduction *, struct fr_error *) = {
        one_node, several_nodes, fr_recipes_add, between_files, left_out};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        fr_status status = parts[i](r, err);
        if (status == FR_ERR_IO) {
            fr_reproduce_add(r, FR_ROLE_NOT_EXPLAINED, NAN, NAN, "1", 0, err->detail,
                             "skipped/%s", err->where);
            status = FR_OK;
        }
        FR_TRY(status);
    }
    return FR_OK;
}

static fr_status run(struct fr_reproduction *r, struct fr_error *err) {
    struct fr_progress progress;
    fr_progress_begin(&progress, "predicting", STEPS);
    r->progress = &progress;
    fr_status status = make_all(r, err);
    r->progress = NULL;
    fr_progress_end(&progress);
    return status;
}

const struct fr_paper fr_paper_training = {
    .name = "training",
    .title =
        "measured training runs by others, predicted from coefficients fitted to other runs",
    .run = run,
    .measured = true,
    .mark = FR_TRAINING_MARK,
};
