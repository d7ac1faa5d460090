/* Measured training runs by others: the procedures that training.study names.
 *
 *      runs(FILE, dtype=, sharded=, experts=, device=, from_date=)   rows that say so (training/table.h)
 *      thin(RUNS, K)             every K-th of them
 *      tune(CLUSTER, RUNS)       a cluster, a preset or what was tuned before, tuned to them
 *      cross, across, transfer, profiled (NAME, RUNS, CLUSTER, procedure=, limits)   training/procedure.h; transfer is
 *                                the cluster that it was tuned to `from`
 *      ablate(NAME, RUNS, PRESET, by=)                               training/ablation.h
 *      left_out(NAME, RUNS) */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "studies/training/ablation.h"
#include "studies/training/markdown.h"
#include "studies/training/named.h"
#include "studies/training/procedure.h"

enum { CLUSTERS_MAX = 16, TUNED_MAX = 16, BY_MAX = 8 };

struct all {
    struct fr_reproduction *r;
    struct fr_named_runs runs;
    struct {
        char name[40];
        struct fr_cluster cluster;
    } preset[CLUSTERS_MAX];
    struct fr_tune_result *tuned[TUNED_MAX];
    int n_presets, n_tuned;
};

/* ---- arguments ------------------------------------------------------------------------------ */

static struct fr_table_set *set_of(const struct fr_study_call *c, const char *name, int place) {
    return fr_named_runs_of(c, &((struct all *)c->context)->runs, name, place);
}

static fr_status full(const struct fr_study_call *c) {
    return fr_fail(c->err, FR_ERR_INPUT, NULL, "too many clusters or fits");
}

/* The preset @p name, read once. */
static fr_status preset_of(const struct fr_study_call *c, const char *name,
                           const struct fr_cluster **cluster) {
    struct all *all = c->context;
    int i = 0;
    while (i < all->n_presets && strcmp(all->preset[i].name, name) != 0) i++;
    if (i == CLUSTERS_MAX || strlen(name) >= sizeof all->preset[0].name) return full(c);
    if (i == all->n_presets) {
        FR_TRY(fr_table_cluster(name, &all->preset[i].cluster, c->err));
        memcpy(all->preset[all->n_presets++].name, name, strlen(name) + 1);
    }
    *cluster = &all->preset[i].cluster;
    return FR_OK;
}

/* Cluster of a preset's name, or the tuned one. */
static fr_status cluster_of(const struct fr_study_call *c, int place,
                            const struct fr_cluster **cluster) {
    const struct all *all = c->context;
    const char *name = fr_call_word(c, "cluster", place);
    int which = (int)fr_call_number(c, "cluster", place, 0);
    if (*name) return preset_of(c, name, cluster);
    *cluster = &all->tuned[which >= 0 && which < all->n_tuned ? which : 0]->cluster;
    return FR_OK;
}

static fr_status new_tuned(const struct fr_study_call *c, struct fr_tune_result **tuned) {
    struct all *all = c->context;
    if (all->n_tuned == TUNED_MAX) return full(c);
    *tuned = all->tuned[all->n_tuned] = fr_calloc(1, sizeof **tuned);
    if (!*tuned) return fr_fail(c->err, FR_ERR_NOMEM, NULL, "out of memory");
    all->n_tuned++;
    return FR_OK;
}

/* A table's name, its procedure and the scores that it must reach. */
struct asked {
    struct fr_table_limits limits;
    struct fr_table_plan plan;
};

static const struct fr_table_plan *plan_of(const struct fr_study_call *c, struct asked *asked) {
    asked->limits =
        (struct fr_table_limits){.mean = fr_call_number(c, "mean", -1, 0),
                                 .median = fr_call_number(c, "median", -1, 0),
                                 .worst = fr_call_number(c, "worst", -1, 0),
                                 .tau = fr_call_number(c, "tau", -1, 0),
                                 .regret_mean = fr_call_number(c, "regret_mean", -1, 0),
                                 .regret_worst = fr_call_number(c, "regret_worst", -1, 0),
                                 .aim_mean = fr_call_number(c, "aim_mean", -1, 0),
                                 .aim_tau = fr_call_number(c, "aim_tau", -1, 0),
                                 .aim_regret_mean = fr_call_number(c, "aim_regret_mean", -1, 0),
                                 FR_TABLE_COVERED};
    asked->plan =
        (struct fr_table_plan){fr_call_word(c, "name", 0), fr_call_word(c, "procedure", -1),
                               &asked->limits, fr_call_word_or_null(c, "preset")};
    return &asked->plan;
}

/* The words of `by`. */
struct by {
    char text[FR_TERM_TEXT_MAX];
    const char *column[BY_MAX + 1];
};

static const char *const *columns_of(const struct fr_study_call *c, struct by *by) {
    char *left = by->text;
    int n = 0;
    strcpy(by->text, fr_call_word(c, "by", -1));
    for (char *word; n < BY_MAX && (word = strtok_r(left, " ", &left));) by->column[n++] = word;
    by->column[n] = NULL;
    return by->column;
}

/* The coefficients of links, of a node and of the network. */
static uint32_t links(void) {
    uint32_t mask = 0;
    for (int j = 0; j < fr_coefficient_count(); j++)
        if (fr_coefficients[j].group == FR_GROUP_NETWORK) mask |= (uint32_t)1 << j;
    return mask;
}

/* ---- functions ------------------------------------------------------------------------------ */

static fr_status runs(struct fr_study_call *c) {
    return fr_named_runs_read(c, &((struct all *)c->context)->runs);
}

static fr_status thin(struct fr_study_call *c) {
    struct fr_table_set *set = set_of(c, "runs", 0);
    int step = (int)fr_call_number(c, "step", 1, 1), kept = 0;
    for (int i = 0; i<set->n; i += step> 0 ? step : 1) set->use[kept++] = set->use[i];
    set->n = kept;
    return fr_say(c, fr_call_number(c, "runs", 0, 0));
}

static fr_status tune(struct fr_study_call *c) {
    const struct all *all = c->context;
    const struct fr_table_set *set = set_of(c, "runs", 1);
    const struct fr_tune_options options = fr_procedure_tuning();
    const struct fr_cluster *prior;
    struct fr_tune_result *tuned;
    FR_TRY(cluster_of(c, 0, &prior));
    FR_TRY(new_tuned(c, &tuned));
    FR_TRY(fr_tune(prior, set->use, set->n, &options, tuned, c->err));
    return fr_say(c, all->n_tuned - 1);
}

static fr_status cross(struct fr_study_call *c) {
    const struct all *all = c->context;
    struct fr_tune_options options = fr_procedure_tuning();
    const struct fr_cluster *prior;
    struct asked asked;
    struct by by;
    FR_TRY(cluster_of(c, 2, &prior));
    if (fr_call_number(c, "links_alone", -1, 0) != 0) options.fixed = ~links();
    return fr_procedure_cross(all->r, plan_of(c, &asked), prior, set_of(c, "runs", 1),
                              columns_of(c, &by), &options, c->err);
}

static fr_status across(struct fr_study_call *c) {
    const struct all *all = c->context;
    const struct fr_cluster *prior;
    struct asked asked;
    FR_TRY(cluster_of(c, 2, &prior));
    return fr_procedure_across(all->r, plan_of(c, &asked), prior, set_of(c, "runs", 1), c->err);
}

static fr_status profiled(struct fr_study_call *c) {
    const struct all *all = c->context;
    const struct fr_cluster *prior;
    struct asked asked;
    FR_TRY(cluster_of(c, 2, &prior));
    return fr_procedure_profiled(all->r, plan_of(c, &asked), prior, set_of(c, "runs", 1),
                                 c->err);
}

/* Links held as @p set leaves them, as uncertain as that. */
static fr_status take_links(const struct fr_study_call *c, const struct fr_table_set *set,
                            struct fr_cluster *from, double sigmas[FR_COEFFICIENT_MAX],
                            struct fr_tune_options *options) {
    struct fr_tune_result *tuned;
    FR_TRY(new_tuned(c, &tuned));
    FR_TRY(fr_tune(from, set->use, set->n, options, tuned, c->err));
    from->levels = tuned->cluster.levels;
    options->fixed = links();
    for (int j = 0; j < fr_coefficient_count(); j++)
        if (options->fixed >> j & 1) sigmas[j] = tuned->tuned[j].sigma;
    options->sigmas = sigmas;
    return FR_OK;
}

static fr_status transfer(struct fr_study_call *c) {
    const struct all *all = c->context;
    struct fr_tune_options options = fr_procedure_tuning();
    double sigmas[FR_COEFFICIENT_MAX] = {0};
    const struct fr_cluster *prior;
    struct fr_tune_result *tuned;
    struct asked asked;
    FR_TRY(cluster_of(c, 2, &prior));
    struct fr_cluster from = *prior;
    if (fr_call_number(c, "links", -1, -1) >= 0)
        FR_TRY(take_links(c, set_of(c, "links", -1), &from, sigmas, &options));
    FR_TRY(new_tuned(c, &tuned));
    FR_TRY(fr_procedure_transfer(all->r, plan_of(c, &asked), &from, set_of(c, "from", -1),
                                 set_of(c, "runs", 1), &options, tuned, c->err));
    return fr_say(c, all->n_tuned - 1);
}

static fr_status ablate(struct fr_study_call *c) {
    const struct all *all = c->context;
    const struct fr_tune_options options = fr_procedure_tuning();
    struct by by;
    return fr_ablation_add(all->r, fr_call_word(c, "name", 0), fr_call_word(c, "preset", 2),
                           set_of(c, "runs", 1), columns_of(c, &by), &options, c->err);
}

static fr_status left_out(struct fr_study_call *c) {
    const struct all *all = c->context;
    fr_table_left_out(all->r, fr_call_word(c, "name", 0), &set_of(c, "runs", 1)->runs);
    return FR_OK;
}

/* Tables, and ingredients taken away, which take the most of the time. */
enum { STEPS = 23 + 27 };

static fr_status run(struct fr_reproduction *r, struct fr_error *err) {
    static const struct fr_study_function functions[] = {
        {"runs", runs},         {"thin", thin},
        {"tune", tune},         {"cross", cross},
        {"across", across},     {"profiled", profiled},
        {"transfer", transfer}, {"ablate", ablate},
        {"left_out", left_out}, {NULL, NULL}};
    extern const char fr_study_training[];
    const struct fr_study_text study = {"training", fr_study_training, functions};
    struct fr_progress progress;
    struct all *all = fr_calloc(1, sizeof *all);
    if (!all) return fr_fail(err, FR_ERR_NOMEM, NULL, "out of memory");
    all->r = r;
    fr_progress_begin(&progress, "predicting", STEPS);
    r->progress = &progress;
    fr_status status = fr_study_run(&study, all, r, err);
    r->progress = NULL;
    fr_progress_end(&progress);
    fr_named_runs_free(&all->runs);
    for (int i = 0; i < all->n_presets; i++) fr_cluster_free(&all->preset[i].cluster);
    for (int i = 0; i < all->n_tuned; i++) free(all->tuned[i]);
    free(all);
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
