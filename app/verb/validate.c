/* Real runs of the papers' methods beside their predictions. */
#include "real/validate/choose.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "answer/text/render.h"
#include "app/load.h"
#include "app/page/page.h"
#include "app/patience.h"
#include "app/text/next.h"
#include "app/verb.h"
#include "base/duration.h"
#include "base/journal/keep.h"
#include "base/range.h"
#include "models/job/runtime.h"
#include "real/validate/searched.h"
#include "real/validate/validation_brief.h"
#include "real/validate/validation_text.h"

static const struct fr_option options[] = {
    FR_OPTION_CLUSTER,
    {"app", "NAME,...", "tensor, phantom, grid, pipeline, subgraph, mesh, or all (default)",
     'a'},
    {"ranks", "RANGE", "rank counts (default: processors, at least 2)", 'n'},
    FR_OPTION_MODEL,
    FR_OPTION_PLAN,
    FR_OPTION_SET,
    FR_OPTION_IDLE,
    {"vary", "KEY=RANGE",
     "instead of the designed set every combination of these, e.g. model.width=512,1024 or "
     "ghost=4..64*2",
     0},
    {"from-search", "FILE",
     "instead the best plans that forerun search --json printed to FILE, each on its ranks", 0},
    {"top", "K", "of them so many (default 5)", 0},
    {"resume", NULL, "go on with the samples file; what is measured is not repeated", 0},
    FR_OPTION_FORCE,
    {"samples", "FILE", "where measurements go (default validate.jsonl)", 0},
    {"from", "FILE", "score what FILE holds again instead of measuring", 0},
    {"passes", "N", "every configuration so often, each time in a new order (default 8)", 0},
    {"visit", "SECONDS", "sampling time of one visit (default 0.08)", 0},
    {"budget", "TIME",
     "about how long to measure: 90, 10m; what there is no time for is not run, and shown so",
     0},
    {"seed", "N", "of numbers and order (default 1)", 0},
    {"launcher", "\"WORDS\"",
     "instead of mpirun, e.g. \"srun --mpi=pmix -n 64\", with one rank count", 0},
    FR_OPTION_PATIENCE,
    {"cores", "N", "ranks beyond N are shown but not scored (default: this machine's)", 0},
    {"fail", "RANK:VISIT", "for tests: this rank ends itself at this visit", 0},
    FR_OPTION_ALL,
    FR_OPTION_JSON_PAGE,
    FR_OPTION_CSV,
    FR_OPTION_HELP,
    FR_OPTION_END};

static fr_status read_fail(const struct fr_args *args, struct fr_validate_options *o,
                           struct fr_error *err) {
    const char *fail = fr_args_get(args, "fail");
    o->fail_rank = o->fail_visit = -1;
    if (fail && sscanf(fail, "%" SCNd64 ":%" SCNd64, &o->fail_rank, &o->fail_visit) != 2)
        return fr_fail(err, FR_ERR_USAGE, "--fail", "expected RANK:VISIT, e.g. 1:3");
    return FR_OK;
}

static fr_status read_options(const struct fr_args *args, struct fr_validate_options *o,
                              struct fr_error *err) {
    long long passes = 8, seed = 1;
    *o = (struct fr_validate_options){.samples = fr_args_get(args, "samples"),
                                      .visit_s = 0.08,
                                      .progress = isatty(STDERR_FILENO)};
    if (!o->samples) o->samples = "validate.jsonl";
    if (strcmp(o->samples, "-") == 0)
        return fr_fail(err, FR_ERR_USAGE, "--samples", "must be a file: ranks append to it");
    o->resume = fr_args_has(args, "resume");
    o->force = fr_args_has(args, "force");
    o->launch.launcher = fr_args_get(args, "launcher");
    FR_TRY(fr_args_integer(args, "passes", 1, 10000, &passes, err));
    FR_TRY(fr_args_integer(args, "seed", 0, 1LL << 53, &seed, err));
    FR_TRY(fr_args_number(args, "visit", 0, 3600, &o->visit_s, err));
    const char *budget = fr_args_get(args, "budget");
    if (budget) FR_TRY(fr_duration_parse(budget, "--budget", 0, 1e6, &o->budget_s, err));
    FR_TRY(fr_patience_read(args, &o->launch.patience_s, err));
    FR_TRY(read_fail(args, o, err));
    o->passes = passes;
    o->seed = seed;
    return FR_OK;
}

/* Sizes of the user's own, of the programs named; else the designed set. */
static fr_status add_app(const char *app, int64_t ranks,
                         const struct fr_validate_choice *choice, struct fr_validation *v,
                         struct fr_error *err) {
    if (!fr_validate_chosen(choice)) return fr_validate_design(app, ranks, v, err);
    if (strcmp(app, "all") == 0 && !(choice->plan && choice->model))
        return fr_fail(
            err, FR_ERR_USAGE, "--app",
            "is needed with --model, --plan, --set or --vary: whose sizes are they?  "
            "(--plan and --model together say it)");
    return fr_validate_choose(strcmp(app, "all") == 0 ? "" : app, ranks, choice, v, err);
}

static fr_status design_at(const char *apps, int64_t ranks,
                           const struct fr_validate_choice *choice, struct fr_validation *v,
                           struct fr_error *err) {
    char app[40];
    for (const char *at = apps;;) {
        size_t length = strcspn(at, ",");
        snprintf(app, sizeof app, "%.*s", (int)(length < 39 ? length : 39), at);
        FR_TRY(add_app(app, ranks, choice, v, err));
        if (!at[length]) return FR_OK;
        at += length + 1;
    }
}

/* Without --ranks those of a plan given, else the processors. */
static fr_status rank_counts(const struct fr_args *args,
                             const struct fr_validate_choice *choice, int64_t **values,
                             size_t *count, struct fr_error *err) {
    const char *ranks = fr_args_get(args, "ranks");
    int64_t of_plan = 0;
    char here[24];
    if (!ranks) FR_TRY(fr_validate_choice_ranks(choice, &of_plan, err));
    snprintf(here, sizeof here, "%" PRId64,
             of_plan > 0             ? of_plan
             : fr_launch_cores() > 2 ? fr_launch_cores()
                                     : 2);
    return fr_range_parse(ranks ? ranks : here, false, 1, "--ranks", values, count, err);
}

static fr_status design_all(const struct fr_args *args, struct fr_validation *v, bool *chosen,
                            struct fr_error *err) {
    const char *app = fr_args_get(args, "app");
    const char *sets[FR_ARGS_MAX], *vary[FR_ARGS_MAX];
    const struct fr_validate_choice choice = {.model = fr_args_get(args, "model"),
                                              .plan = fr_args_get(args, "plan"),
                                              .sets = sets,
                                              .vary = vary,
                                              .n_sets = fr_args_all(args, "set", sets),
                                              .n_vary = fr_args_all(args, "vary", vary)};
    int64_t *values = NULL;
    size_t count = 0;
    *chosen = fr_validate_chosen(&choice);
    FR_TRY(rank_counts(args, &choice, &values, &count, err));
    fr_status status = FR_OK;
    for (size_t i = 0; i < count && status == FR_OK; i++)
        status = design_at(app ? app : "all", values[i], &choice, v, err);
    free(values);
    if (status == FR_OK && v->n_rows == 0)
        status = fr_fail(err, FR_ERR_USAGE, "--ranks",
                         "no configuration of this program runs on that many ranks");
    return status;
}

/* The result of a search states all that these would. */
static fr_status design_searched(const struct fr_args *args, const char *from,
                                 struct fr_validation *v, struct fr_error *err) {
    static const char *const others[] = {"app", "ranks", "plan", "vary", "from"};
    long long top = 5;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (fr_args_has(args, others[i]) || fr_args_get(args, others[i]))
            return fr_fail(err, FR_ERR_USAGE, "--from-search", "goes without --%s", others[i]);
    FR_TRY(fr_args_integer(args, "top", 1, 1000, &top, err));
    return fr_validate_searched(from, fr_args_get(args, "model"), top, v, err);
}

static fr_status design(const struct fr_args *args, struct fr_validation *v,
                        struct fr_validate_options *o, struct fr_error *err) {
    const char *from = fr_args_get(args, "from-search");
    o->each = o->check = from != NULL;
    if (from) return design_searched(args, from, v, err);
    if (fr_args_get(args, "top"))
        return fr_fail(err, FR_ERR_USAGE, "--top", "goes with --from-search");
    return design_all(args, v, &o->check, err);
}

/* A configuration without a prediction is measured all the same, but one must have one. */
static fr_status check_predicted(const struct fr_validation *v, struct fr_error *err) {
    const struct fr_validate_row *first = &v->rows[0];
    int reason = 0;
    for (int i = 0; i < v->n_rows; i++)
        if (!v->rows[i].reasons) return FR_OK;
    while (!(first->reasons & FR_BECAUSE(reason))) reason++;
    return fr_fail(
        err, FR_ERR_INPUT, "--cluster",
        "can predict none of the runs, which are real ones on this machine; of %s, %s: "
        "%s. Name the file that forerun calibrate wrote",
        first->run.group, first->run.label, fr_reason_names[reason]);
}

static double memory_here_B(void) {
    return (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
}

static fr_status measure(const struct fr_args *args, const struct fr_cluster *cluster,
                         const char **samples, struct fr_error *err) {
    struct fr_validate_options o;
    struct fr_validation v = {0};
    FR_TRY(read_options(args, &o, err));
    *samples = o.samples;
    FR_TRY(fr_keep_measurements(o.samples, o.resume, o.force, err));
    fr_status status = design(args, &v, &o, err);
    if (status == FR_OK) status = fr_validate_score(cluster, INT64_MAX, &v, err);
    if (status == FR_OK && o.check && !o.each) status = fr_validate_refuse(cluster, &v, err);
    if (status == FR_OK) status = check_predicted(&v, err);
    if (status == FR_OK && o.each && !o.launch.launcher)
        fr_validate_refuse_large(&v, memory_here_B());
    if (status == FR_OK) status = fr_validate_measure(&v, &o, err);
    fr_validation_free(&v);
    return status;
}

static fr_status print(const struct fr_args *args, const struct fr_job *job,
                       const char *samples, const struct fr_validation *v,
                       struct fr_error *err) {
    const struct fr_cluster *cluster = &job->cluster;
    struct fr_text text = {0}, page = {0};
    if (fr_args_has(args, "json"))
        fr_validation_json(&text, cluster, fr_args_get(args, "app"), v);
    else if (fr_args_has(args, "csv"))
        fr_validation_csv(&text, v);
    else if (fr_args_has(args, "all"))
        fr_validation_print(&text, cluster, v);
    else
        fr_validation_brief(&text, cluster, fr_args_get(args, "cluster"), samples, v);
    if (fr_app_paged(args)) fr_validation_json(&page, cluster, fr_args_get(args, "app"), v);
    return fr_app_answer(args, &text, &page, err);
}

/* The cluster and its software alone: what --set says of models and plans is for the runs. */
static fr_status load_cluster(const struct fr_args *args, struct fr_job *job,
                              struct fr_error *err) {
    const char *all[FR_ARGS_MAX], *sets[FR_ARGS_MAX + 1];
    struct fr_job_names names = {.sets = sets};
    int n = fr_args_all(args, "set", all);
    char own[FR_OWN_PATH_B];
    FR_TRY(fr_app_cluster(args, own, &names.cluster, err));
    FR_TRY(fr_app_runtime(args, &names.runtime, err));
    for (int i = 0; i < n; i++)
        if (strncmp(all[i], "cluster.", 8) == 0 || fr_runtime_is_set(all[i]))
            sets[names.n_sets++] = all[i];
    if (fr_args_has(args, "undisturbed")) sets[names.n_sets++] = FR_APP_IDLE;
    return fr_job_load(&names, job, err);
}

static fr_status validate(const struct fr_args *args, struct fr_job *job,
                          struct fr_error *err) {
    const char *samples = fr_args_get(args, "from");
    struct fr_validation v = {0};
    struct fr_error early = {.status = FR_OK};
    long long cores = fr_launch_cores();
    if (args->n_words)
        return fr_fail(err, FR_ERR_USAGE, NULL, "unexpected word \"%.64s\"", args->word[0]);
    FR_TRY(fr_args_integer(args, "cores", 1, 1 << 24, &cores, err));
    FR_TRY(load_cluster(args, job, err));
    fr_status measured = samples ? FR_OK : measure(args, &job->cluster, &samples, &early);
    if (measured != FR_OK && measured != FR_ERR_PARTIAL) {
        *err = early;
        return measured;
    }
    /* Results of a job that ended early are worth showing; the exit code still says that it
     * ended early. */
    fr_status status = fr_validate_read(samples, &v, err);
    if (status == FR_OK) status = fr_validate_score(&job->cluster, cores, &v, err);
    if (status == FR_OK) status = print(args, job, samples, &v, err);
    fr_validation_free(&v);
    if (status == FR_OK && measured != FR_OK) *err = early;
    return status == FR_OK ? measured : status;
}

static fr_status run(const struct fr_args *args, struct fr_error *err) {
    struct fr_job job = {0};
    fr_status status = validate(args, &job, err);
    fr_job_free(&job);
    return status;
}

static const struct fr_output outputs[] = {{"samples", "validate.jsonl", "from"},
                                           {NULL, NULL, NULL}};

const struct fr_verb fr_verb_validate = {
    .name = "validate",
    .summary = "real runs of the papers' methods beside their predictions",
    .usage = "--cluster C [--app NAME,...] [--ranks RANGE] [--model M] [--vary KEY=RANGE]... "
             "[--resume] [--json|--csv]",
    .details =
        "Trains small networks for real (MPI and BLAS) and times a step of each "
        "configuration.\n"
        "Each is shown beside the prediction of the cluster file, with error, rank correlation "
        "and\n"
        "regret: how much slower the predicted best of a group is than the measured best.\n"
        "  forerun calibrate --ranks 2 && forerun validate --cluster cluster.json --app "
        "phantom\n"
        "  forerun validate --cluster cluster.json --app tensor,phantom --vary "
        "model.width=512,1024 \\\n"
        "      --vary ghost=4..64*2 --vary global_batch=32,128\n"
        "  forerun search --cluster cluster.json --model M --ranks 2 --json >found.json\n"
        "  forerun validate --cluster cluster.json --from-search found.json --top 5\n"
        "  forerun validate --cluster cluster.json --model M --plan plan.json\n"
        "  forerun validate --cluster cluster.json --passes 9 --resume\n"
        "  forerun validate --cluster other.json --from validate.jsonl\n",
    .options = options,
    .words = FR_WORDS_OPTIONS,
    .outputs = outputs,
    .run = run,
};
