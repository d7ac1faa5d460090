/* Measured training runs by others: predicted by coefficients fitted without them.
 *
 * Which rows are fitted and which predicted is stated with every table; a row is never predicted
 * from itself.  Selections go by what a row says of its run (date, precision, kind of parallelism),
 * never by its name. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/training/ablation.h"
#include "app/training/table.h"
#include "base/parallel.h"
#include "calibrate/profile_fit.h"

static const double rows_max = 100;

static struct fr_tune_options tuning(void) {
    return (struct fr_tune_options){.rows_max = rows_max, .threads = fr_processors()};
}

static const struct fr_table_limits single_limits = {.mean = 0.065,
                                                     .tau = 0.88,
                                                     .regret_mean = 0.04,
                                                     .aim_mean = 0.05,
                                                     .aim_tau = 0.90,
                                                     .aim_regret_mean = 0.03,
                                                     .covered_from = 0.8,
                                                     .covered_to = 0.97};
static const struct fr_table_limits profile_limits = {.mean = 0.015,
                                                      .regret_worst = 0.01,
                                                      .aim_mean = 0.01,
                                                      .covered_from = 0.8,
                                                      .covered_to = 0.97};
static const struct fr_table_limits multi_limits = {
    .mean = 0.09, .median = 0.065, .aim_mean = 0.07, .covered_from = 0.8, .covered_to = 0.97};
static const struct fr_table_limits from_single_limits = {
    .mean = 0.09, .median = 0.065, .covered_from = 0.8, .covered_to = 0.97};
static const struct fr_table_limits sc21_limits = {
    .mean = 0.04, .worst = 0.08, .aim_mean = 0.025, .covered_from = 0.8, .covered_to = 0.97};
static const struct fr_table_limits seqsel_limits = {
    .mean = 0.06, .aim_mean = 0.04, .covered_from = 0.8, .covered_to = 0.97};
static const struct fr_table_limits bloom_limits = {
    .mean = 0.07, .median = 0.04, .aim_mean = 0.05, .covered_from = 0.8, .covered_to = 0.97};

/* A cross-validated table. */
static fr_status cross(struct fr_reproduction *r, const char *name, const char *preset,
                       const struct fr_table_set *set, const char *const *columns,
                       const char *procedure, const struct fr_table_limits *limits, bool detail,
                       struct fr_error *err) {
    struct fr_cluster prior = {0};
    struct fr_tune_options options = tuning();
    struct fr_scored *scored = calloc((size_t)set->n + 1, sizeof *scored);
    fr_status status = FR_ERR_NOMEM;
    if (scored) status = fr_table_cluster(preset, &prior, err);
    if (status == FR_OK)
        status = fr_study_cross(&prior, set->use, set->n, NULL, 0, columns, &options, scored,
                                NULL, err);
    if (status == FR_OK)
        status = fr_table_add(r, name, procedure, scored, set->n, limits, detail, err);
    fr_cluster_free(&prior);
    free(scored);
    return status;
}

/* A table predicted from a fit to another. */
static fr_status transfer(struct fr_reproduction *r, const char *name,
                          const struct fr_cluster *prior, const struct fr_table_set *fitted,
                          const struct fr_table_set *set, const char *procedure,
                          const struct fr_table_limits *limits, struct fr_tune_result *tuned,
                          struct fr_error *err) {
    struct fr_tune_options options = tuning();
    struct fr_scored *scored = calloc((size_t)set->n + 1, sizeof *scored);
    fr_status status = scored ? FR_OK : fr_fail(err, FR_ERR_NOMEM, NULL, "out of memory");
    if (status == FR_OK) status = fr_tune(prior, fitted->use, fitted->n, &options, tuned, err);
    if (status == FR_OK) {
        fr_study_predict(tuned, set->use, set->n, options.threads, scored);
        status = fr_table_add(r, name, procedure, scored, set->n, limits, true, err);
    }
    free(scored);
    return status;
}

static void keep_from_date(struct fr_table_set *set, const char *date) {
    int kept = 0;
    for (int i = 0; i < set->n; i++) {
        const char *of = fr_run_row_get(set->use[i]->row, "note.date");
        if (of && strcmp(of, date) >= 0) set->use[kept++] = set->use[i];
    }
    set->n = kept;
}

/* Layer times from the runs without a pipeline, and what is left (optimiser, gradients, messages)
 * tuned to the same runs; each twice, since either needs the other. */
static fr_status fit_profile(const struct fr_cluster *prior, const struct fr_run *const *runs,
                             int n, struct fr_fitted_profile *profiles, int *count,
                             struct fr_tune_result *tuned, struct fr_error *err) {
    struct fr_tune_options options = tuning();
    FR_TRY(fr_tune(prior, runs, n, &options, tuned, err));
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < n; i++)
            fr_profile_use((struct fr_run *)(uintptr_t)runs[i], NULL, 0);
        FR_TRY(fr_profile_fit(&tuned->cluster, runs, n, profiles, count, err));
        for (int i = 0; i < n; i++)
            fr_profile_use((struct fr_run *)(uintptr_t)runs[i], profiles, *count);
        options.scale = 0.01; /* little is left to be wrong */
        FR_TRY(fr_tune(prior, runs, n, &options, tuned, err));
    }
    return FR_OK;
}

static fr_status profiled(struct fr_reproduction *r, const struct fr_table_set *set,
                          struct fr_error *err) {
    size_t room = (size_t)set->n + 1;
    const struct fr_run **train = calloc(2 * room, sizeof *train), **test = train + room;
    struct fr_fitted_profile *profiles = calloc(room, sizeof *profiles);
    struct fr_tune_result *tuned = calloc(1, sizeof *tuned);
    struct fr_scored *scored = calloc(room, sizeof *scored);
    struct fr_cluster prior = {0};
    int n_train = 0, n_test = 0, count = 0;
    fr_status status = FR_ERR_NOMEM;
    if (!train || !profiles || !tuned || !scored) {
        fr_fail(err, FR_ERR_NOMEM, NULL, "out of memory");
        goto done;
    }
    for (int i = 0; i < set->n; i++)
        if (set->use[i]->plan.pp == 1) train[n_train++] = set->use[i];
    status = fr_table_cluster("dgx-a100", &prior, err);
    if (status == FR_OK)
        status = fit_profile(&prior, train, n_train, profiles, &count, tuned, err);
    for (int i = 0; i < set->n && status == FR_OK; i++)
        if (set->use[i]->plan.pp > 1 &&
            fr_profile_use((struct fr_run *)(uintptr_t)set->use[i], profiles, count))
            test[n_test++] = set->use[i];
    if (status == FR_OK) {
        fr_study_predict(tuned, test, n_test, fr_processors(), scored);
        status =
            fr_table_add(r, "vtrain_profile",
                         "layer times from the rows at pp = 1; the rows at pp > 1 predicted",
                         scored, n_test, &profile_limits, true, err);
    }
done:
    for (int i = 0; i < set->n; i++)
        fr_profile_use((struct fr_run *)(uintptr_t)set->use[i], NULL, 0);
    fr_cluster_free(&prior);
    free(train);
    free(profiles);
    free(tuned);
    free(scored);
    return status;
}

static fr_status vtrain(struct fr_reproduction *r, struct fr_error *err) {
    static const char *const shape[] = {"model.hidden", "plan.tp", "plan.micro_batch", NULL};
    struct fr_table_set set;
    fr_status status = fr_table_read("training/vtrain_single_node.csv", &set, err);
    if (status == FR_OK)
        status = cross(r, "vtrain_single", "dgx-a100", &set, shape,
                       "each (hidden, tp, micro-batch) predicted from all the others",
                       &single_limits, true, err);
    if (status == FR_OK) status = profiled(r, &set, err);
    if (status == FR_OK) {
        static const char *const wide[] = {"plan.tp", NULL};
        const struct fr_tune_options options = tuning();
        int kept = 0;
        for (int i = 0; i < set.n; i += 4)
            set.use[kept++] = set.use[i]; /* a quarter is enough */
        set.n = kept;
        status = fr_ablation_add(r, "vtrain_single", "dgx-a100", &set, wide, &options, err);
    }
    fr_table_free(&set);
    return status;
}

/* The same rows from the coefficients of one node, with tp's link and the network refitted to all
 * plans but the one predicted. */
static fr_status from_single(struct fr_reproduction *r, const struct fr_cluster *prior,
                             const struct fr_table_set *multi, struct fr_error *err) {
    static const char *const plan[] = {"model",   "plan.tp",          "plan.pp",
                                       "plan.dp", "plan.micro_batch", NULL};
    static const char *const refitted[] = {"node_latency", "node_bandwidth", "network_latency",
                                           "network_bandwidth"};
    struct fr_table_set single = {0};
    struct fr_tune_options options = tuning();
    struct fr_tune_result *tuned = calloc(1, sizeof *tuned);
    struct fr_scored *scored = calloc((size_t)multi->n + 1, sizeof *scored);
    fr_status status =
        tuned && scored ? FR_OK : fr_fail(err, FR_ERR_NOMEM, NULL, "out of memory");
    if (status == FR_OK)
        status = fr_table_read("training/vtrain_single_node.csv", &single, err);
    if (status == FR_OK) status = fr_tune(prior, single.use, single.n, &options, tuned, err);
    options.held = ~(uint32_t)0;
    for (size_t k = 0; k < sizeof refitted / sizeof *refitted; k++)
        options.held &= ~((uint32_t)1 << fr_coefficient_find(refitted[k]));
    if (status == FR_OK)
        status = fr_study_cross(&tuned->cluster, multi->use, multi->n, NULL, 0, plan, &options,
                                scored, NULL, err);
    if (status == FR_OK)
        status =
            fr_table_add(r, "vtrain_multi_from_single",
                         "device and host of one node; tp's link and the network refitted, "
                         "each plan from all the others",
                         scored, multi->n, &from_single_limits, true, err);
    fr_table_free(&single);
    free(tuned);
    free(scored);
    return status;
}

static fr_status selene(struct fr_reproduction *r, struct fr_error *err) {
    static const char *const plan[] = {"model",   "plan.tp",          "plan.pp",
                                       "plan.dp", "plan.micro_batch", NULL};
    static const char *const mesh[] = {"model", "plan.tp", "plan.pp", "plan.dp", NULL};
    struct fr_table_set multi = {0}, sc21 = {0}, seqsel = {0};
    struct fr_cluster prior = {0};
    struct fr_tune_result *tuned = calloc(2, sizeof *tuned);
    fr_status status = tuned ? FR_OK : fr_fail(err, FR_ERR_NOMEM, NULL, "out of memory");
    if (status == FR_OK) status = fr_table_cluster("dgx-a100", &prior, err);
    if (status == FR_OK) status = fr_table_read("training/vtrain_multi_node.csv", &multi, err);
    if (status == FR_OK)
        status = fr_table_read("training/megatron_sc21_table1.csv", &sc21, err);
    if (status == FR_OK)
        status = fr_table_read("training/megatron_seqsel_table5.csv", &seqsel, err);
    if (status == FR_OK)
        status = cross(r, "vtrain_multi", "dgx-a100", &multi, plan,
                       "each plan of each model predicted from all the others", &multi_limits,
                       true, err);
    if (status == FR_OK) {
        const struct fr_tune_options options = tuning();
        status = fr_ablation_add(r, "vtrain_multi", "dgx-a100", &multi, mesh, &options, err);
    }
    if (status == FR_OK) status = from_single(r, &prior, &multi, err);
    if (status == FR_OK)
        status = transfer(r, "sc21", &prior, &multi, &sc21,
                          "coefficients of vTrain's rows over several nodes, none fitted here",
                          &sc21_limits, &tuned[0], err);
    if (status == FR_OK)
        status = transfer(r, "seqsel", &tuned[0].cluster, &sc21, &seqsel,
                          "the same, with the efficiency refitted on the rows of SC'21",
                          &seqsel_limits, &tuned[1], err);
    fr_table_free(&multi);
    fr_table_free(&sc21);
    fr_table_free(&seqsel);
    fr_cluster_free(&prior);
    free(tuned);
    return status;
}

static fr_status bloom(struct fr_reproduction *r, struct fr_error *err) {
    static const char *const degrees[] = {"plan.tp", "plan.pp", NULL};
    struct fr_table_set set;
    fr_status status = fr_table_read("training/bigscience_bloom_a100.csv", &set, err);
    if (status == FR_OK) {
        keep_from_date(&set, "02-25"); /* when the nodes were put in order, says the source */
        status = cross(r, "bloom", "a100-opa", &set, degrees,
                       "rows from 25 February on; each (tp, pp) predicted from all the others",
                       &bloom_limits, true, err);
    }
    fr_table_free(&set);
    return status;
}

/* ---- fitted on one model, predicted on the others --------------------------------------------- */

/* What to take of a file: by note.dtype, note.sharded and what note.device names. */
struct selection {
    const char *dtype, *sharded, *device;
};

static void keep(struct fr_table_set *set, const struct selection *want) {
    int kept = 0;
    for (int i = 0; i < set->n; i++) {
        const struct fr_run_row *row = set->use[i]->row;
        const char *dtype = fr_run_row_get(row, "note.dtype");
        const char *sharded = fr_run_row_get(row, "note.sharded");
        const char *device = fr_run_row_get(row, "note.device");
        if (!dtype || !sharded || !device || strcmp(dtype, want->dtype) != 0 ||
            strcmp(sharded, want->sharded) != 0 || !fr_run_mentions(device, want->device))
            continue;
        set->use[kept++] = set->use[i];
    }
    set->n = kept;
}

static int same_model(const struct fr_run *a, const struct fr_run *b) {
    return a->workload.transformer.hidden == b->workload.transformer.hidden &&
           a->workload.transformer.layers == b->workload.transformer.layers;
}

/* Each model in turn gives the coefficients for all others; a row is predicted as often as there are
 * other models. */
static fr_status across(struct fr_reproduction *r, const char *name, const char *preset,
                        const struct fr_table_set *set, const struct fr_table_limits *limits,
                        struct fr_error *err) {
    size_t room = (size_t)set->n * (size_t)set->n + 1;
    struct fr_tune_options options = tuning();
    struct fr_cluster prior = {0};
    struct fr_scored *scored = calloc(room, sizeof *scored);
    char(*ids)[96] = calloc(room, sizeof *ids); /* the row, and the first one fitted to */
    const struct fr_run **train = calloc(2 * (size_t)set->n + 2, sizeof *train);
    const struct fr_run **test = train ? train + set->n + 1 : NULL;
    struct fr_tune_result *tuned = calloc(1, sizeof *tuned);
    fr_status status = FR_ERR_NOMEM;
    int n = 0;
    if (scored && train && tuned && ids) status = fr_table_cluster(preset, &prior, err);
    for (int i = 0; i < set->n && status == FR_OK; i++) {
        int first = 0, n_train = 0, n_test = 0;
        while (!same_model(set->use[first], set->use[i])) first++;
        if (first < i) continue;
        for (int k = 0; k < set->n; k++) {
            if (same_model(set->use[k], set->use[i]))
                train[n_train++] = set->use[k];
            else
                test[n_test++] = set->use[k];
        }
        if (n_test == 0) continue;
        status = fr_tune(&prior, train, n_train, &options, tuned, err);
        if (status == FR_OK) fr_study_predict(tuned, test, n_test, options.threads, scored + n);
        for (int k = n; k < n + n_test && status == FR_OK; k++) {
            snprintf(ids[k], sizeof ids[k], "%.40s/from_%.40s", scored[k].id, train[0]->id);
            scored[k].id = ids[k];
        }
        n += n_test;
    }
    if (status == FR_OK && n > 0)
        status =
            fr_table_add(r, name, "fitted on one model, all others predicted, each in turn",
                         scored, n, limits, true, err);
    fr_cluster_free(&prior);
    free(scored);
    free(train);
    free(tuned);
    free(ids);
    return status;
}

static const struct fr_table_limits dense_limits = {
    .mean = 0.06, .aim_mean = 0.04, .covered_from = 0.8, .covered_to = 0.97};
static const struct fr_table_limits reported = {
    .aim_mean = 0.1, .covered_from = 0.8, .covered_to = 0.97};

static fr_status recipes(struct fr_reproduction *r, struct fr_error *err) {
    static const struct {
        const char *name, *file, *preset;
        struct selection take;
        const struct fr_table_limits *limits;
    } tables[] = {
        {"dgxc", "dgxc_benchmarking", "dgx-h100", {"bf16", "no", "H100"}, &dense_limits},
        {"dgxc_fp8", "dgxc_benchmarking", "dgx-h100", {"fp8", "no", "H100"}, &reported},
        {"dgxc_fsdp", "dgxc_benchmarking", "dgx-h100", {"bf16", "yes", "H100"}, &reported},
        {"mpt/a100_40gb",
         "llmfoundry_mpt_fsdp",
         "dgx-a100",
         {"bf16", "yes", "a100_40gb"},
         &reported},
        {"mpt/a100_80gb",
         "llmfoundry_mpt_fsdp",
         "dgx-a100",
         {"bf16", "yes", "a100_80gb"},
         &reported},
        {"mpt/h100", "llmfoundry_mpt_fsdp", "dgx-h100", {"bf16", "yes", "h100"}, &reported},
    };
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        struct fr_table_set set;
        char file[96];
        snprintf(file, sizeof file, "training/%s.csv", tables[i].file);
        fr_status status = fr_table_read(file, &set, err);
        if (status == FR_OK) {
            keep(&set, &tables[i].take);
            status = across(r, tables[i].name, tables[i].preset, &set, tables[i].limits, err);
        }
        fr_table_free(&set);
        FR_TRY(status);
    }
    return FR_OK;
}

/* Bridge's H100 rows are of one model; DGXC's rows of the same precision give the coefficients. */
static fr_status bridge(struct fr_reproduction *r, struct fr_error *err) {
    static const struct selection fp8 = {"fp8", "no", "H100"};
    struct fr_table_set known = {0}, set = {0};
    struct fr_cluster prior = {0};
    struct fr_tune_result *tuned = calloc(1, sizeof *tuned);
    fr_status status = tuned ? FR_OK : fr_fail(err, FR_ERR_NOMEM, NULL, "out of memory");
    if (status == FR_OK) status = fr_table_cluster("dgx-h100", &prior, err);
    if (status == FR_OK) status = fr_table_read("training/dgxc_benchmarking.csv", &known, err);
    if (status == FR_OK) status = fr_table_read("training/megatron_bridge.csv", &set, err);
    if (status == FR_OK) {
        keep(&known, &fp8);
        keep(&set, &fp8);
        status = transfer(r, "bridge", &prior, &known, &set,
                          "coefficients of DGXC's fp8 rows, none fitted here", &reported, tuned,
                          err);
    }
    fr_table_free(&known);
    fr_table_free(&set);
    fr_cluster_free(&prior);
    free(tuned);
    return status;
}

static fr_status run(struct fr_reproduction *r, struct fr_error *err) {
    static fr_status (*const parts[])(struct fr_reproduction *, struct fr_error *) = {
        vtrain, selene, bloom, recipes, bridge};
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

const struct fr_paper fr_paper_training = {
    .name = "training",
    .title =
        "measured training runs by others, predicted from coefficients fitted to other runs",
    .run = run,
    .measured = true,
};
