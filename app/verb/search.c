/* Many plans: the best, its margin, the front, and why the others cannot be. */
#include <stdlib.h>
#include <string.h>

#include "answer/predict/explain_text.h"
#include "answer/search/search_brief.h"
#include "answer/search/search_text.h"
#include "app/emit.h"
#include "app/load.h"
#include "app/page/page.h"
#include "app/patience.h"
#include "app/searching.h"
#include "app/spread.h"
#include "app/text/next.h"
#include "app/training_options.h"
#include "app/verb.h"
#include "base/alloc.h"
#include "base/text/wrap.h"
#include "base/units.h"

static const struct fr_output outputs[] = {{"checkpoint", NULL, NULL}, {NULL, NULL, NULL}};

static const struct fr_option options[] = {
    FR_OPTION_CLUSTER,
    FR_OPTION_MODEL,
    FR_OPTION_PLAN,
    FR_OPTION_SET,
    FR_OPTION_IDLE,
    FR_OPTION_FLOP,
    {"ranks", "RANGE", "rank counts: 512, 8,16,32, 1..64, 1..512*2", 'n'},
    {"vary", "KEY=RANGE", fr_plan_vary_help, 'v'},
    {"fix", "KEY=VALUE",
     "hold a key of the recipe, as --set does; beside it --vary narrows the recipe", 0},
    {"objective", "NAME",
     "time (default), energy or edp (energy times time): of the way to the loss where it is "
     "known; "
     "total-time, total-energy, total-edp: of that alone, what is not known is left out",
     'o'},
    {"max-slowdown", "X",
     "with --objective energy: least energy within so much of the fastest, e.g. 1%, and the "
     "clock of each stage that gives it",
     0},
    {"per-iteration", NULL, "rank one iteration, without the iterations to the loss", 0},
    {"top", "K",
     "plans in JSON and CSV; with --all answers, each with its near-ties, and plans; beyond 64 "
     "plans alone (default 10; 0: every feasible one)",
     't'},
    {"all", NULL,
     "everything that the short answer leaves out: answers and plans one by one, the front, "
     "why plans are left out",
     0},
    FR_OPTIONS_FIT,
    {"max-lossy", "X",
     "most of gradient bytes or backward messages that may go compressed, 0 to 1", 0},
    {"threads", "T", "threads (default: processors); the result is the same for any number", 0},
    {"checkpoint", "FILE",
     "keep what is searched in FILE as it goes (forerun-mpi: forerun-search.checkpoint)", 0},
    {"resume", NULL, "go on with the checkpoint of a run that ended early", 0},
    {"force", NULL, "replace the checkpoint, and a page, if they are there", 'f'},
    {"patience", "TIME",
     "forerun-mpi: without a sign of life of a rank before the search is ended "
     "(default " FR_PATIENCE_TEXT ")",
     0},
    {"progress", NULL, "say on stderr how far it is, also where that is no terminal", 0},
    {"explain", NULL, "what binds, what would change the choice, why the next ones lose", 0},
    {"include", "PLAN",
     "a plan of yours beside the best: its rank, what the best gains over it and how sure that "
     "is; "
     "may be repeated",
     0},
    {"measured", "TIME",
     "what an iteration of the plan of --include took, e.g. 27.1s: gains are from there; the "
     "first "
     "is of the first plan, and so on",
     0},
    {"tuned", NULL,
     "the plans of --include were tuned by measuring: over them no gain below 15 % is claimed "
     "(without --measured)",
     0},
    FR_OPTION_EMIT,
    {"wide", NULL, "a row on one line, however long, not in 80 columns", 0},
    FR_OPTIONS_TRAINING,
    FR_OPTION_JSON_PAGE,
    FR_OPTION_CSV,
    FR_OPTION_HELP,
    FR_OPTION_END};

/* Shares of the time.  Bare numbers that are plainly shares may stay so. */
static fr_status read_slowdown(const struct fr_args *args, struct fr_slowdown *s,
                               fr_objective objective, struct fr_error *err) {
    static const double MOST = 10, UNSURE = 0.1;
    if (!fr_args_has(args, "max-slowdown")) return FR_OK;
    s->asked = true;
    FR_TRY(fr_args_share(args, "max-slowdown", MOST, UNSURE, &s->most, err));
    if (objective != FR_OBJECTIVE_ENERGY)
        return fr_fail(err, FR_ERR_USAGE, "--max-slowdown",
                       "goes with --objective energy: the least energy within that time");
    return FR_OK;
}

/* Measured times of the user's plans, in their order. */
static fr_status read_measured(const struct fr_args *args, int plans, double *measured_s,
                               struct fr_error *err) {
    const char *times[FR_ARGS_MAX];
    int n = fr_args_all(args, "measured", times);
    if (n > plans)
        return fr_fail(
            err, FR_ERR_USAGE, "--measured",
            "stands %d times beside %d of --include: it is the time of a plan of yours", n,
            plans);
    if (fr_args_has(args, "tuned") && plans == 0)
        return fr_fail(err, FR_ERR_USAGE, "--tuned", "is said of plans of --include");
    for (int i = 0; i < n; i++) {
        FR_TRY(
            fr_quantity_parse(times[i], FR_QUANTITY_TIME, "--measured", &measured_s[i], err));
        if (!(measured_s[i] > 0))
            return fr_fail(err, FR_ERR_USAGE, "--measured", "\"%s\" is no time above 0",
                           times[i]);
    }
    return FR_OK;
}

/* On one screen; the whole of it with --all, and of lists that are as long as that. */
static fr_status print_text(const struct fr_args *args, const struct fr_searched *r,
                            struct fr_text *text, struct fr_error *err) {
    const bool wide = fr_args_has(args, "wide");
    enum { LARGER = 8 };
    struct fr_text again = {0}, larger = {0};
    const int64_t ranks = r->space.n_ranks > 0 ? r->space.ranks[r->space.n_ranks - 1] : 1;
    if (r->all || r->options.top == 0 || r->options.top > FR_FOLD_MOST)
        return fr_searched_text(text, r, wide, fr_app_print_part, err);
    fr_next_again(args, "search", &again);
    fr_next_search(args, LARGER * ranks, &larger);
    fr_searched_brief(text, r, fr_text_get(&again), fr_text_get(&larger),
                      wide ? FR_COLUMNS_WIDE : FR_COLUMNS);
    fr_text_free(&again);
    fr_text_free(&larger);
    return FR_OK;
}

/* The best as scripts: one, unless --top says more. */
static fr_status print_scripts(const struct fr_args *args, const struct fr_app_emit *emit,
                               const struct fr_searched *r, struct fr_text *text,
                               struct fr_error *err) {
    const struct fr_outcome *plans[FR_SEARCH_PRICED];
    long long top = 1;
    FR_TRY(fr_args_integer(args, "top", 1, FR_SEARCH_PRICED, &top, err));
    size_t n = r->result.top.count < (size_t)top ? r->result.top.count : (size_t)top;
    if (n == 0) return print_text(args, r, text, err);
    for (size_t i = 0; i < n; i++) plans[i] = &r->result.top.items[i].outcome;
    return fr_app_emit(emit, &r->job, plans, n, fr_args_has(args, "json"), text, err);
}

static fr_status print(const struct fr_args *args, const struct fr_app_emit *emit,
                       const struct fr_searched *r, struct fr_text *text,
                       struct fr_error *err) {
    if (fr_app_emits(emit)) return print_scripts(args, emit, r, text, err);
    if (fr_args_has(args, "json")) return fr_searched_json(text, r, fr_app_print_part, err);
    if (fr_args_has(args, "csv")) return fr_searched_csv(text, r, fr_app_print_part, err);
    FR_TRY(print_text(args, r, text, err));
    return r->explain
               ? fr_explain_search(text, &r->job, &r->space, &r->options, &r->result, err)
               : FR_OK;
}

/* How many processes share the work: what main of another program says. */
static struct fr_spread everywhere;

void fr_app_search_everywhere(const struct fr_spread *spread) { everywhere = *spread; }

/* In one piece, unless a file is kept or other processes help. */
static fr_status read_spread(const struct fr_args *args, struct fr_spread *spread,
                             const struct fr_spread **used, struct fr_error *err) {
    const char *file = fr_args_get(args, "checkpoint");
    *spread = everywhere;
    FR_TRY(fr_patience_read(args, &spread->patience_s, err));
    if (file) {
        spread->checkpoint = file;
        spread->passing = false;
    }
    if (!spread->hand_out) spread->reads = true;
    spread->resume = fr_args_has(args, "resume");
    spread->force = fr_args_has(args, "force");
    spread->progress = fr_args_has(args, "progress");
    if (spread->resume && !spread->checkpoint)
        return fr_fail(err, FR_ERR_USAGE, "--resume", "goes on with --checkpoint FILE");
    *used = spread->checkpoint || spread->hand_out || spread->progress ? spread : NULL;
    return FR_OK;
}

/* A page is made of the whole document. */
static fr_status keep_whole(struct fr_text *text, struct fr_error *err) {
    (void)text, (void)err;
    return FR_OK;
}

static fr_status search(const struct fr_args *args, struct fr_searched *r,
                        struct fr_error *err) {
    const char *ranks = NULL, *vary[FR_ARGS_MAX], *sets[FR_ARGS_MAX + 1],
               *user_plan[FR_ARGS_MAX];
    struct fr_job_names names;
    struct fr_app_emit emit;
    struct fr_spread spread;
    struct fr_text text = {0}, page = {0};
    double measured_s[FR_USER_PLANS_MAX] = {0};
    FR_TRY(read_spread(args, &spread, &r->spread, err));
    FR_TRY(fr_args_required(args, "ranks", &ranks, err));
    FR_TRY(fr_app_emit_read(args, &emit, err));
    FR_TRY(fr_app_search_options(args, &r->options, err));
    FR_TRY(fr_app_training(args, &r->training, err));
    FR_TRY(fr_app_load(args, true, &r->job, err));
    int n_vary = fr_args_all(args, "vary", vary);
    fr_app_names(args, sets, &names);
    FR_TRY(read_slowdown(args, &r->slowdown, r->options.objective, err));
    r->explain = fr_args_has(args, "explain");
    r->advise = true;
    r->include = user_plan;
    r->n_user_plans = fr_args_all(args, "include", user_plan);
    if (r->n_user_plans > FR_USER_PLANS_MAX)
        return fr_fail(err, FR_ERR_USAGE, "--include", "more than %d plans", FR_USER_PLANS_MAX);
    FR_TRY(read_measured(args, r->n_user_plans, measured_s, err));
    r->measured_s = measured_s;
    r->tuned = fr_args_has(args, "tuned");
    r->all = fr_args_has(args, "all");
    r->folds = true;
    r->lossy = fr_app_search_lossy(args, &r->options);
    r->fixed = fr_args_has(args, "fix");
    r->able = emit.to ? emit.to->able : NULL;
    FR_TRY(fr_searched_make(ranks, vary, n_vary, &names, r, err));
    emit.able = r->recipe.chosen && r->able;
    fr_status status = print(args, &emit, r, &text, err);
    if (status != FR_OK) {
        fr_text_free(&text);
        return status;
    }
    if (fr_app_paged(args)) FR_TRY(fr_searched_json(&page, r, keep_whole, err));
    FR_TRY(fr_app_answer(args, &text, &page, err));
    return r->result.top.count ? FR_OK : FR_ERR_INFEASIBLE;
}

static fr_status run(const struct fr_args *args, struct fr_error *err) {
    struct fr_searched *r = fr_calloc(1, sizeof *r);
    if (!r) return fr_fail(err, FR_ERR_NOMEM, NULL, "out of memory");
    fr_status status = search(args, r, err);
    fr_searched_free(r);
    free(r);
    return status;
}

const struct fr_verb fr_verb_search = {
    .name = "search",
    .summary = "the best of many plans",
    .usage = "--cluster C --model M --ranks RANGE [--fix KEY=VALUE]... [--vary KEY=RANGE]... "
             "[--objective "
             "time|energy|edp] ...",
    .details =
        "By default search tries the whole recipe with exact gradients: method, mesh,\n"
        "micro-batch, schedule, recomputation, ZeRO and overlap. Keys that --set states stay\n"
        "fixed. --max-lossy also tries ghost neurons and compression. --vary limits the "
        "search\n"
        "to the keys that it names, or beside --fix narrows the recipe. --emit prints a "
        "launch\n"
        "script for the best plan that the framework can run. If dp or tp is neither set nor\n"
        "varied, it takes what is left of the ranks: dp if tp is given or cannot divide the\n"
        "heads, else tp. Examples:\n"
        "  forerun search --cluster dgx-h100 --model llama-3-8b --ranks 64\n"
        "  forerun search --cluster dgx-h100 --model llama-3-8b --ranks 64 --emit megatron\n"
        "  forerun search --cluster frontier --model ffn-16384 --ranks 8,16,32,64,128,256 \\\n"
        "      --vary method=tensor,phantom --vary ghost=2,4,6,16 --objective energy\n"
        "  forerun search --cluster cori-knl --model alexnet --ranks 512 --vary method=grid "
        "--vary tp=1..512*2\n",
    .options = options,
    .words = FR_WORDS_OPTIONS,
    .outputs = outputs,
    .run = run,
};
