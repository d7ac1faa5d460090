/* Effects of compression on learning: plans trained for real on a corpus, and compared. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "app/load.h"
#include "app/page/page.h"
#include "app/patience.h"
#include "app/result.h"
#include "app/verb.h"
#include "base/alloc.h"
#include "base/file.h"
#include "base/journal/keep.h"
#include "real/quality/compared/compared_text.h"
#include "real/quality/compared/known.h"

static const struct fr_option options[] = {
    {"corpus", "FILE|grammar",
     "what is learnt: a file of UTF-8 text, grammar or grammar:SEED; regression for "
     "feed-forward "
     "networks (default grammar)",
     0},
    {"vary", "KEY=RANGE",
     "values of a plan's key: compression.backward.scope=none,epilogue,all; may be repeated",
     'v'},
    {"model", "FILE|PRESET", "what to train (default gpt-tiny, of regression ffn-tiny)", 'm'},
    FR_OPTION_PLAN,
    FR_OPTION_SET,
    {"cluster", "FILE|PRESET", "prices iterations (default a100-hdr)", 'c'},
    {"ranks", "N", "processes; they are stages, unless the plan says (default 2)", 'n'},
    {"seeds", "N", "trainings of each plan (default 5)", 0},
    {"steps", "N", "iterations of a training (default 600)", 0},
    {"every", "N", "iterations between evaluations (default 20)", 0},
    {"held-out", "N", "samples of an evaluation (default 256)", 0},
    {"rates", "LIST",
     "learning rates of Adam to begin with (default 0.004,0.008,0.016); more are tried while "
     "the best is at an end; one alone is taken as it is",
     0},
    {"loss", "X", "loss to reach, nat a token (default: the entropy and a tenth)", 0},
    {"out", "FILE",
     "model file to write, with the iterations as search reads them (default: none)", 0},
    {"with", "FILE",
     "model file of earlier trainings: laws of growth are fitted to these too; may be repeated",
     0},
    {"launcher", "WORDS", "how to start the job (default mpirun)", 0},
    FR_OPTION_PATIENCE,
    {"samples", "FILE", "where results go as they come (default quality.jsonl)", 0},
    {"resume", NULL, "go on with the samples file; what is trained is not repeated", 0},
    FR_OPTION_FORCE,
    FR_OPTION_JSON_PAGE,
    FR_OPTION_CSV,
    FR_OPTION_HELP,
    FR_OPTION_END};

static const struct fr_output outputs[] = {
    {"samples", "quality.jsonl", NULL}, {"out", NULL, NULL}, {NULL, NULL, NULL}};

/* ---- numbers --------------------------------------------------------------------------------- */

static fr_status read_rates(const char *text, double rates[FR_QUALITY_RATES_MAX],
                            struct fr_quality_options *o, struct fr_error *err) {
    o->rates = rates;
    o->n_rates = 0;
    for (const char *at = text; *at;) {
        char *end = NULL;
        double rate = strtod(at, &end);
        bool more = end > at && *end == ',';
        bool rises = o->n_rates == 0 || rate > rates[o->n_rates - 1];
        if (end == at || (*end && !more) || !(rate > 0 && rate < 1e3) || !rises ||
            o->n_rates == FR_QUALITY_RATES_MAX)
            return fr_fail(err, FR_ERR_USAGE, "--rates",
                           "\"%.60s\" is no list of at most %d rising positive numbers", text,
                           FR_QUALITY_RATES_MAX);
        rates[o->n_rates++] = rate;
        at = end + more;
    }
    return o->n_rates ? FR_OK : fr_fail(err, FR_ERR_USAGE, "--rates", "names none");
}

static fr_status read_numbers(const struct fr_args *args, struct fr_quality_options *o,
                              struct fr_error *err) {
    long long ranks = 2, seeds = o->seeds, steps = o->steps, every = o->every,
              held_out = o->held_out;
    FR_TRY(fr_args_integer(args, "ranks", 1, 1 << 16, &ranks, err));
    FR_TRY(fr_args_integer(args, "seeds", 1, 1000, &seeds, err));
    FR_TRY(fr_args_integer(args, "steps", 1, 1 << 24, &steps, err));
    FR_TRY(fr_args_integer(args, "every", 1, steps, &every, err));
    FR_TRY(fr_args_integer(args, "held-out", 1, 1 << 24, &held_out, err));
    if (steps % every != 0)
        return fr_fail(err, FR_ERR_USAGE, "--every", "%lld does not divide %lld steps", every,
                       steps);
    o->launch.n_ranks = ranks;
    o->seeds = seeds;
    o->steps = steps;
    o->every = every;
    o->held_out = held_out;
    return FR_OK;
}

static fr_status read_options(const struct fr_args *args, double *rates,
                              struct fr_quality_options *o, struct fr_error *err) {
    *o = fr_quality_defaults();
    FR_TRY(read_numbers(args, o, err));
    if (fr_args_has(args, "rates"))
        FR_TRY(read_rates(fr_args_get(args, "rates"), rates, o, err));
    if (fr_args_has(args, "corpus")) o->corpus = fr_args_get(args, "corpus");
    o->launch.yields = true;
    o->launch.launcher = fr_args_get(args, "launcher");
    FR_TRY(fr_patience_read(args, &o->launch.patience_s, err));
    o->samples = fr_args_get(args, "samples");
    if (!o->samples) o->samples = "quality.jsonl";
    if (strcmp(o->samples, "-") == 0)
        return fr_fail(err, FR_ERR_USAGE, "--samples", "must be a file: a job appends to it");
    o->resume = fr_args_has(args, "resume");
    o->force = fr_args_has(args, "force");
    o->progress = isatty(STDERR_FILENO);
    return fr_keep_measurements(o->samples, o->resume, o->force, err);
}

/* ---- model, plan, corpus --------------------------------------------------------------------- */

static bool mesh_is_said(const struct fr_job *job, const char *const *vary, int n_vary) {
    static const char *const keys[] = {"pp", "dp", "tp", NULL};
    for (int k = 0; keys[k]; k++) {
        if (fr_job_plan_says(job, keys[k])) return true;
        for (int i = 0; i < n_vary; i++) {
            const char *name = strncmp(vary[i], "plan.", 5) == 0 ? vary[i] + 5 : vary[i];
            if (strncmp(name, keys[k], 2) == 0 && name[2] == '=') return true;
        }
    }
    return false;
}

/* Stages, unless the plan says what the ranks are; of texts a vocabulary of bytes. */
static fr_status load(const struct fr_args *args, const char *const *vary, int n_vary,
                      struct fr_qualities *q, struct fr_error *err) {
    const char *sets[FR_ARGS_MAX + 4];
    char stages[32];
    struct fr_job_names names;
    bool grammar = true, regression = fr_corpus_is_regression(q->options.corpus);
    uint64_t language = 0;
    fr_app_names(args, sets, &names);
    if (!names.cluster) names.cluster = "a100-hdr";
    FR_TRY(fr_corpus_grammar(q->options.corpus, &grammar, &language, err));
    if (!grammar && !regression && !names.model) sets[names.n_sets++] = "model.vocabulary=256";
    if (!names.model) names.model = regression ? "ffn-tiny" : "gpt-tiny";
    FR_TRY(fr_job_load(&names, &q->job, err));
    if (mesh_is_said(&q->job, vary, n_vary)) return FR_OK;
    snprintf(stages, sizeof stages, "plan.pp=%" PRId64, q->options.launch.n_ranks);
    sets[names.n_sets++] = stages;
    fr_job_free(&q->job);
    return fr_job_load(&names, &q->job, err);
}

static fr_status open_corpus(const struct fr_args *args, struct fr_qualities *q,
                             struct fr_error *err) {
    struct fr_quality_options *o = &q->options;
    int sequence = (int)q->job.workload.transformer.sequence;
    if (sequence == 0 && !fr_corpus_is_regression(o->corpus))
        return fr_fail(err, FR_ERR_INPUT, q->job.model_from,
                       "is no transformer; feed-forward networks learn --corpus regression");
    FR_TRY(fr_corpus_read(o->corpus, sequence, &q->corpus, err));
    o->digest = fr_corpus_digest(&q->corpus);
    q->entropy = fr_corpus_entropy(&q->corpus, sequence);
    o->target = 1.1 * q->entropy;
    return fr_args_number(args, "loss", 0, 1e6, &o->target, err);
}

static fr_status plans(const struct fr_args *args, struct fr_qualities *q,
                       struct fr_error *err) {
    const char *vary[FR_ARGS_MAX];
    char ranks[32];
    int n_vary = fr_args_all(args, "vary", vary);
    FR_TRY(load(args, vary, n_vary, q, err));
    FR_TRY(open_corpus(args, q, err));
    snprintf(ranks, sizeof ranks, "%" PRId64, q->options.launch.n_ranks);
    return fr_qualities_plans(ranks, vary, n_vary, q, err);
}

/* ---------------------------------------------------------------------------------------------- */

static fr_status write_model(const char *out, bool whole, const struct fr_qualities *q,
                             struct fr_error *err) {
    struct fr_text model = {0};
    struct fr_result_file result = {.path = out, .lacks = whole ? NULL : "trainings"};
    fr_qualities_model(&model, q);
    fr_status status = model.failed ? fr_fail(err, FR_ERR_NOMEM, NULL, "out of memory")
                                    : fr_result_write(&result, model.data, model.length, err);
    fr_text_free(&model);
    return status;
}

static fr_status print(const struct fr_args *args, bool whole, const struct fr_qualities *q,
                       struct fr_error *err) {
    const char *out = fr_args_get(args, "out");
    struct fr_text text = {0}, page = {0};
    fr_status written = out ? write_model(out, whole, q, err) : FR_OK;
    if (written != FR_OK && written != FR_ERR_PARTIAL) return written;
    if (fr_args_has(args, "json"))
        fr_qualities_json(&text, q);
    else if (fr_args_has(args, "csv"))
        fr_qualities_csv(&text, q);
    else
        fr_render_quality(&text, q);
    if (fr_app_paged(args)) fr_qualities_json(&page, q);
    fr_status printed = fr_app_answer(args, &text, &page, err);
    return printed == FR_OK ? written : printed;
}

static fr_status train(const struct fr_args *args, struct fr_qualities *q,
                       struct fr_error *err) {
    struct fr_error early = {.status = FR_OK};
    fr_status trained = fr_quality_run(&q->options, &q->found, &early), status = trained;
    /* Results of a job that ended early are worth showing; the exit code says that it ended
     * early. */
    bool known = trained == FR_OK || trained == FR_ERR_PARTIAL;
    early.status = trained;
    if (known)
        status = print(args, trained == FR_OK, q, err);
    else
        *err = early;
    return known ? fr_result_end(status, &early, err) : trained;
}

static fr_status run(const struct fr_args *args, struct fr_error *err) {
    struct fr_qualities *q = fr_calloc(1, sizeof *q);
    double rates[FR_QUALITY_RATES_MAX];
    const char *with[FR_ARGS_MAX];
    if (!q) return fr_fail(err, FR_ERR_NOMEM, NULL, "out of memory");
    fr_status status = FR_OK;
    if (args->n_words)
        status = fr_fail(err, FR_ERR_USAGE, NULL, "unexpected word \"%.64s\"", args->word[0]);
    if (status == FR_OK && fr_args_has(args, "out"))
        status = fr_file_check_writable(fr_args_get(args, "out"), err);
    if (status == FR_OK) status = read_options(args, rates, &q->options, err);
    if (status == FR_OK) status = plans(args, q, err);
    int n_with = fr_args_all(args, "with", with);
    for (int i = 0; status == FR_OK && i < n_with; i++)
        status = fr_growth_points_read(with[i], &q->with, err);
    if (status == FR_OK) status = train(args, q, err);
    fr_qualities_free(q);
    free(q);
    return status;
}

const struct fr_verb fr_verb_quality = {
    .name = "quality",
    .summary = "train for real: what compression does to the loss, and to the way to it",
    .usage = "[--corpus FILE|grammar] [--vary KEY=RANGE]... [--cluster C] [--seeds N] "
             "[--json|--csv]",
    .details = "Trains a small transformer on real ranks, each plan with several seeds at its "
               "best rate.\n"
               "It says which plans differ: loss against iterations, time and energy.\n"
               "  forerun quality --vary compression.backward.scope=none,epilogue,all \\\n"
               "      --vary compression.backward.lazy_error=true,false --set "
               "compression.backward.rank=2 \\\n"
               "      --cluster a100-hdr --json > quality.json\n"
               "  forerun plot quality quality.json -o quality.svg\n",
    .options = options,
    .words = FR_WORDS_OPTIONS,
    .outputs = outputs,
    .run = run,
};
