/* Other people's benchmark output into samples.jsonl, their training runs into a runs.csv. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "answer/trainer/trainer.h"
#include "app/from/expand.h"
#include "app/load.h"
#include "app/outputs.h"
#include "app/runs.h"
#include "base/alloc.h"
#include "base/file.h"
#include "base/file/collect.h"
#include "base/text/meant.h"
#include "calibrate/samples/import.h"
#include "models/job/file_kind.h"
#include "trust/runs/mllog.h"
#include "trust/runs/watts.h"

static const struct fr_option options[] = {
    {"ranks", "N", "ranks that took part, where the files do not say", 0},
    {"nodes", "N", "nodes they were on", 0},
    {"ranks-per-node", "N", "ranks on each node", 0},
    {"op", "NAME", "collective of nccl-tests files that do not say", 0},
    {"system", "TEXT", "whose machine; files of different systems are never fitted together",
     0},
    {"setup", "TEXT", "how it was set up; the same holds", 0},
    {"dtype", "NAME", "of products whose table does not say it", 0},
    {"only", "COLUMN=VALUE", "rows of a table of products to take; repeatable", 0},
    {"column", "KEY=VALUE", "of the runs.csv, what a log does not say: model=, plan.tp=", 0},
    FR_OPTION_IGNORE,
    {"power", "FILE", "with one trainer's log: what a node drew, a file a node; repeatable", 0},
    {"strict", NULL, "with several files: one that cannot be read ends it, none is skipped", 0},
    {"scale-power", NULL, "devices of --power stand for as many as the run has ranks", 0},
    {"out", "FILE", "where samples go (default: standard output)", 'o'},
    FR_OPTION_HELP,
    FR_OPTION_END};

/* Every KIND: benchmarks, "runs", "mlperf-power" and trainers' logs; NULL past the last. */
static const char *word(int i) {
    int n = 0;
    for (; fr_importers[n]; n++)
        if (n == i) return fr_importers[n]->spelling;
    if (i - n < 2) return i == n ? "runs" : "mlperf-power";
    for (int k = 0; fr_trainers[k]; k++)
        if (k == i - n - 2) return fr_trainers[k]->name;
    return NULL;
}

enum { KINDS_MOST = 32 };

/* A file stands where its format is asked for; or the name of the format is not known. */
static fr_status unknown(const char *name, struct fr_error *err) {
    static const char see[] = "; forerun list importers has them";
    const char *known[KINDS_MOST] = {NULL};
    char tail[200];
    fr_file_kind kind = fr_file_kind_of(name);
    for (int i = 0; i + 1 < KINDS_MOST && word(i); i++) known[i] = word(i);
    if (kind == FR_FILE_MISSING)
        return fr_fail(err, FR_ERR_USAGE, NULL, "no format \"%.40s\"%s", name,
                       fr_suggest(name, known) ? fr_meant_tail(name, known, tail, sizeof tail)
                                               : see);
    if (kind >= FR_FILE_CLUSTER && kind <= FR_FILE_ANSWER)
        return fr_fail(err, FR_ERR_USAGE, NULL,
                       "\"%.64s\" is %s; forerun import takes what a benchmark or a trainer "
                       "printed",
                       name, fr_file_kind_name(kind));
    return fr_fail(err, FR_ERR_USAGE, NULL,
                   "\"%.64s\" is %s; its format comes first: forerun import %s %.64s%s", name,
                   fr_file_kind_name(kind), kind == FR_FILE_LOG ? "runs" : "FORMAT", name,
                   kind == FR_FILE_LOG ? "" : see);
}

static fr_status find(const char *name, const struct fr_importer **importer,
                      struct fr_error *err) {
    for (int i = 0; fr_importers[i]; i++) {
        *importer = fr_importers[i];
        if (strcmp(fr_importers[i]->spelling, name) == 0) return FR_OK;
    }
    return unknown(name, err);
}

static fr_status read_options(const struct fr_args *args, struct fr_import_options *given,
                              const char *only[FR_ARGS_MAX], struct fr_error *err) {
    const struct {
        const char *name;
        int64_t *out;
    } counts[] = {{"ranks", &given->n_ranks},
                  {"nodes", &given->nodes},
                  {"ranks-per-node", &given->ranks_per_node}};
    for (int i = 0; i < 3; i++) {
        long long value = 0;
        FR_TRY(fr_args_integer(args, counts[i].name, 1, 1LL << 31, &value, err));
        *counts[i].out = value;
    }
    given->op = fr_args_get(args, "op");
    given->system = fr_args_get(args, "system");
    given->setup = fr_args_get(args, "setup");
    given->n_only = fr_args_all(args, "only", only);
    given->only = only;
    int dtype = -1;
    FR_TRY(fr_args_choice(args, "dtype", fr_dtype_names, &dtype, err));
    if (dtype >= 0) given->dtype = fr_dtype_names[dtype];
    return FR_OK;
}

static fr_status print(const char *out, struct fr_text *text, struct fr_error *err) {
    if (!out) return fr_app_print(text, err);
    fr_status status = text->failed
                           ? fr_fail(err, FR_ERR_NOMEM, out, "out of memory")
                           : fr_file_write_last(out, fr_text_get(text), text->length, err);
    fr_text_free(text);
    return status;
}

/* With several files, one that cannot be read is skipped with a note and the others are read.
 * @return what the caller returns: @p status, or FR_OK where the file is skipped. */
static fr_status skip_or_fail(const struct fr_args *args, fr_status status,
                              struct fr_text *notes, struct fr_error *err) {
    bool file = status == FR_ERR_INPUT || status == FR_ERR_IO || status == FR_ERR_UNSUPPORTED;
    if (!file || args->n_words <= 2 || fr_args_has(args, "strict")) return status;
    fr_text_addf(notes, "skipped: %s: %s\n", err->where, err->detail);
    return FR_OK;
}

/* Take back @p n runs of a file that was then refused, from @p from on. */
static void drop_runs(struct fr_runs *runs, int from, int n) {
    for (int i = 0; i < n; i++) {
        fr_run_free(&runs->items[from + i]);
        runs->items[from + i] = (struct fr_run){.row = NULL};
    }
    runs->count = from;
}

/* Runs as tune and score read them; what was left out, and why, goes to the notes. */
static fr_status import_runs(const struct fr_args *args, struct fr_runs *runs,
                             struct fr_text *notes, struct fr_error *err) {
    struct fr_text text = {0};
    const char *out = fr_args_get(args, "out");
    if (args->n_words == 1) return fr_fail(err, FR_ERR_USAGE, NULL, "no files given");
    if (out) FR_TRY(fr_file_check_writable(out, err));
    for (int i = 1; i < args->n_words; i++) {
        int before = runs->count;
        fr_status status = fr_runs_read(args->word[i], runs, err);
        if (status != FR_OK) drop_runs(runs, before, runs->count - before);
        FR_TRY(skip_or_fail(args, status, notes, err));
    }
    if (runs->count == 0) return fr_runs_none(runs, args->word[1], err);
    fr_runs_print_skipped(runs, notes);
    fr_text_addf(notes, "%d runs from %d file%s\n", runs->count, args->n_words - 1,
                 args->n_words == 2 ? "" : "s");
    fr_runs_write(runs, &text);
    return print(out, &text, err);
}

/* ---- MLPerf's power logs ---------------------------------------------------------------------- */

enum { LOG_MAX_B = 1 << 28 };

static fr_status read_log(const char *path, struct fr_mllog *log, struct fr_error *err) {
    char *text = NULL;
    size_t length = 0;
    FR_TRY(fr_file_read(path, LOG_MAX_B, &text, &length, err));
    fr_status status = fr_mllog_parse(text, length, path, log, err);
    free(text);
    return status;
}

/* Files of nodes behind the run's own log: their mean powers add up. */
static fr_status add_nodes(const struct fr_args *args, const struct fr_mllog *run,
                           double *power_W, bool *downstream, struct fr_error *err) {
    for (int i = 2; i < args->n_words; i++) {
        struct fr_mllog node;
        double one_W = 0;
        fr_status status = read_log(args->word[i], &node, err);
        if (status == FR_OK) status = fr_mllog_power_W(run, &node, args->word[i], &one_W, err);
        *power_W += one_W;
        *downstream |= node.after_supplies;
        fr_mllog_free(&node);
        FR_TRY(status);
    }
    return FR_OK;
}

static fr_status make_row(const struct fr_args *args, const struct fr_mllog *run,
                          struct fr_run_row *row, struct fr_text *notes, struct fr_error *err) {
    double step_s = 0, power_W = 0;
    bool downstream = false;
    int nodes = args->n_words - 2;
    FR_TRY(fr_mllog_step_s(run, args->word[1], &step_s, err));
    FR_TRY(add_nodes(args, run, &power_W, &downstream, err));
    if (*run->benchmark) fr_run_row_set(row, "note.benchmark", "%s", run->benchmark);
    if (run->batch > 0) fr_run_row_set(row, "plan.global_batch", "%.0f", run->batch);
    fr_run_row_set(row, "measured_s", "%.9g", step_s);
    fr_run_row_set(row, "measured_J", "%.9g", power_W * step_s);
    fr_run_row_set(row, "measured_at", downstream ? "node" : "plug");
    FR_TRY(fr_app_columns(args, row, err));
    fr_text_addf(notes, "%d node%s, %.1f W each in the mean, %.6g s a step, metered %s\n",
                 nodes, nodes == 1 ? "" : "s", power_W / nodes, step_s,
                 downstream ? "behind the supplies"
                            : "before the supplies, as far as the log says");
    return FR_OK;
}

static fr_status import_power(const struct fr_args *args, struct fr_runs *runs,
                              struct fr_text *notes, struct fr_error *err) {
    const char *out = fr_args_get(args, "out");
    struct fr_run_row row = {0};
    struct fr_text text = {0};
    struct fr_mllog run;
    fr_run_skip skip;
    if (args->n_words < 3)
        return fr_fail(err, FR_ERR_USAGE, NULL,
                       "expected the run's log, then the power log of each node");
    if (out) FR_TRY(fr_file_check_writable(out, err));
    fr_status status = read_log(args->word[1], &run, err);
    if (status == FR_OK) status = make_row(args, &run, &row, notes, err);
    fr_mllog_free(&run);
    FR_TRY(status);
    runs->items = fr_calloc(1, sizeof *runs->items);
    if (!runs->items) return fr_fail(err, FR_ERR_NOMEM, NULL, "out of memory");
    runs->count = runs->capacity = 1;
    const struct fr_run_place place = {.where = args->word[1]};
    FR_TRY(fr_run_make(&row, &place, &runs->items[0], &skip, err));
    fr_runs_write(runs, &text);
    return print(out, &text, err);
}

/* ---- trainers' logs --------------------------------------------------------------------------- */

static fr_status read_watts(const char *path, struct fr_watts *watts, struct fr_text *notes,
                            struct fr_error *err) {
    char *text = NULL;
    size_t length = 0;
    FR_TRY(fr_file_read(path, LOG_MAX_B, &text, &length, err));
    fr_status status = fr_watts_read(text, length, path, watts, err);
    free(text);
    FR_TRY(status);
    fr_text_addf(notes, "%s (%s): %d device%s%s, %.1f W in the mean of %d of %d readings\n",
                 path, watts->format->name, watts->devices, watts->devices == 1 ? "" : "s",
                 watts->bursts ? " by their time stamps" : "", watts->power_W, watts->used,
                 watts->readings);
    if (watts->without)
        fr_text_addf(notes, "%s: %d reading%s N/A and left out\n", path, watts->without,
                     watts->without == 1 ? " says" : "s say");
    if (watts->silent)
        fr_text_addf(notes,
                     "%s: %d devices say N/A always: taken as halves of processors whose other "
                     "half says the power of both\n",
                     path, watts->silent);
    return FR_OK;
}

/* Files of several nodes were written at one time. */
static void tell_apart(const char *const *paths, const struct fr_watts *watts,
                       const struct fr_watts *first, int i, struct fr_text *notes) {
    bool apart = watts->from_s > first->to_s || watts->to_s < first->from_s; /* NaN: false */
    if (apart)
        fr_text_addf(notes,
                     "%s and %s were not written at the same time; their powers are added "
                     "all the same\n",
                     paths[0], paths[i]);
}

/* A rank runs on a device: the power of fewer or more is not the run's. */
static fr_status check_devices(const struct fr_args *args, const struct fr_run_row *row,
                               const char *path, int devices, double *power_W,
                               struct fr_text *notes, struct fr_error *err) {
    const char *ranks_text = fr_run_row_get(row, "ranks");
    double ranks = ranks_text ? strtod(ranks_text, NULL) : 0;
    if (!(ranks > 0) || ranks == devices) return FR_OK;
    if (fr_args_has(args, "scale-power")) {
        fr_text_addf(notes, "power of %d devices, scaled to %.0f ranks (--scale-power)\n",
                     devices, ranks);
        *power_W *= ranks / devices;
        return FR_OK;
    }
    return fr_fail(
        err, FR_ERR_INPUT, path,
        "the power of %d device%s, and the run has %.0f ranks: give the files of all "
        "nodes (--power FILE, once a node), or --scale-power where %s the same each",
        devices, devices == 1 ? "" : "s", ranks,
        devices < ranks ? "the others draw" : "those of the run draw");
}

static const char *metered_at(const struct fr_watts *watts) {
    return watts->format->measured_at ? watts->format->measured_at : "not said";
}

/* Energy of a step: the nodes' mean powers together for its time. */
static fr_status add_power(const struct fr_args *args, struct fr_run_row *row,
                           struct fr_text *notes, struct fr_error *err) {
    const char *paths[FR_ARGS_MAX], *time = fr_run_row_get(row, "measured_s");
    int n = fr_args_all(args, "power", paths), devices = 0;
    double power_W = 0;
    struct fr_watts watts, first = {.format = NULL};
    for (int i = 0; i < n; i++) {
        FR_TRY(read_watts(paths[i], &watts, notes, err));
        if (i == 0) first = watts;
        if (strcmp(metered_at(&first), metered_at(&watts)) != 0)
            return fr_fail(err, FR_ERR_INPUT, paths[i],
                           "was metered at another place (%s) than %s (%s)", metered_at(&watts),
                           paths[0], metered_at(&first));
        tell_apart(paths, &watts, &first, i, notes);
        devices += watts.devices + watts.silent;
        power_W += watts.power_W;
    }
    if (n == 0) return FR_OK;
    if (!time) return fr_fail(err, FR_ERR_INPUT, paths[0], "no time of a step to go with it");
    if (first.format->accelerators)
        FR_TRY(check_devices(args, row, paths[0], devices, &power_W, notes, err));
    fr_run_row_set(row, "measured_J", "%.9g", power_W * strtod(time, NULL));
    if (first.format->measured_at)
        fr_run_row_set(row, "measured_at", "%s", first.format->measured_at);
    else if (!fr_run_row_get(row, "measured_at"))
        fr_text_addf(
            notes,
            "%s does not say where it was metered, so that no fit takes its joules: give "
            "--column measured_at=device, node, plug, network or facility\n",
            paths[0]);
    return FR_OK;
}

/* One file, one run: what the line gives goes before what the log says. */
static fr_status add_log(const struct fr_args *args, const struct fr_trainer *log,
                         const char *path, struct fr_run *run, struct fr_text *notes,
                         struct fr_error *err) {
    struct fr_run_row row = {0};
    const char *ignore[FR_ARGS_MAX];
    const struct fr_trainer_ask ask = {
        .by = log, .ignore = ignore, .n_ignore = fr_args_all(args, "ignore", ignore)};
    struct fr_trainer_result counts = {.by = NULL};
    char *text = NULL;
    size_t length = 0;
    fr_run_skip skip;
    FR_TRY(fr_app_columns(args, &row, err));
    FR_TRY(fr_file_read(path, LOG_MAX_B, &text, &length, err));
    fr_status status = fr_trainer_read(&ask, text, length, path, &row, &counts, err);
    free(text);
    fr_text_add(notes, fr_text_get(&counts.stated), counts.stated.length);
    fr_trainer_result_free(&counts);
    FR_TRY(status);
    if (!fr_run_row_get(&row, "measured_s"))
        return fr_fail(err, FR_ERR_INPUT, path, "times no step; is it a log of this kind?");
    FR_TRY(add_power(args, &row, notes, err));
    if (!fr_run_row_get(&row, "id")) fr_run_row_set(&row, "id", "%.90s", path);
    if (counts.steps) fr_text_addf(notes, "%s: %d steps\n", path, counts.steps);
    if (counts.malformed)
        fr_text_addf(notes,
                     "%s: %d line%s left out that start%s as a step does and do%s not say how "
                     "long it took, the first is line %d\n",
                     path, counts.malformed, counts.malformed == 1 ? "" : "s",
                     counts.malformed == 1 ? "s" : "", counts.malformed == 1 ? "es" : "",
                     counts.first_malformed);
    const struct fr_run_place place = {.where = path};
    return fr_run_make(&row, &place, run, &skip, err);
}

static fr_status import_logs(const struct fr_args *args, const struct fr_trainer *log,
                             struct fr_runs *runs, struct fr_text *notes,
                             struct fr_error *err) {
    const char *out = fr_args_get(args, "out");
    struct fr_text text = {0};
    int n = args->n_words - 1;
    if (n == 0) return fr_fail(err, FR_ERR_USAGE, NULL, "no files given");
    if (n > 1 && fr_args_has(args, "power"))
        return fr_fail(err, FR_ERR_USAGE, "--power", "goes with one log, not with %d", n);
    if (out) FR_TRY(fr_file_check_writable(out, err));
    runs->items = fr_calloc((size_t)n, sizeof *runs->items);
    if (!runs->items) return fr_fail(err, FR_ERR_NOMEM, NULL, "out of memory");
    runs->capacity = n;
    fr_status status = FR_OK;
    for (int i = 0; i < n; i++) {
        struct fr_run *next = &runs->items[runs->count];
        status = add_log(args, log, args->word[i + 1], next, notes, err);
        if (status == FR_OK)
            runs->count++;
        else
            drop_runs(runs, runs->count, 1);
        FR_TRY(skip_or_fail(args, status, notes, err));
    }
    if (runs->count == 0) return status;
    fr_runs_write(runs, &text);
    return print(out, &text, err);
}

static fr_status import(const struct fr_args *args, int *read, struct fr_samples *samples,
                        struct fr_text *notes, struct fr_error *err) {
    const struct fr_importer *importer = NULL;
    struct fr_import_options given = {0};
    struct fr_text text = {0};
    const char *only[FR_ARGS_MAX];
    const char *out = fr_args_get(args, "out");
    if (args->n_words == 0)
        return fr_fail(err, FR_ERR_USAGE, NULL,
                       "no format given, e.g. nccl-tests or products; forerun list importers "
                       "has them");
    FR_TRY(find(args->word[0], &importer, err));
    FR_TRY(read_options(args, &given, only, err));
    if (args->n_words == 1)
        return fr_fail(err, FR_ERR_USAGE, NULL, "no files given; - is standard input");
    if (out) FR_TRY(fr_file_check_writable(out, err));
    for (int i = 1; i < args->n_words; i++) {
        char *sidecar = NULL;
        FR_TRY(fr_import_sidecar(args->word[i], &sidecar, err));
        fr_status apart = out && sidecar ? fr_output_apart(out, sidecar, err) : FR_OK;
        free(sidecar);
        FR_TRY(apart);
    }
    fr_status status = FR_OK;
    for (int i = 1; i < args->n_words; i++) {
        status = fr_import_file(importer, args->word[i], &given, samples, notes, err);
        *read += status == FR_OK;
        FR_TRY(skip_or_fail(args, status, notes, err));
    }
    if (*read == 0) return status; /* of the last one */
    fr_import_write(samples, &text);
    return print(out, &text, err);
}

static void print_count(size_t samples, int read, int files) {
    fr_note("%zu sample%s from %d file%s", samples, samples == 1 ? "" : "s", read,
            read == 1 ? "" : "s");
    if (read < files) fr_note("; %d skipped", files - read);
    fr_note("\n");
}

static fr_status run(const struct fr_args *args, struct fr_error *err) {
    struct fr_samples samples = {0};
    struct fr_runs runs = {0};
    struct fr_text notes = {0};
    int read = 0;
    const char *what = args->n_words > 0 ? args->word[0] : "";
    bool power = strcmp(what, "mlperf-power") == 0, training = strcmp(what, "runs") == 0;
    const struct fr_trainer *log = fr_trainer_find(what);
    fr_status status = power      ? import_power(args, &runs, &notes, err)
                       : training ? import_runs(args, &runs, &notes, err)
                       : log      ? import_logs(args, log, &runs, &notes, err)
                                  : import(args, &read, &samples, &notes, err);
    fr_app_tell(&notes);
    if (status == FR_OK && !training && !power && !log)
        print_count(samples.n_collective + samples.n_gemm + samples.n_batched +
                        samples.n_memory + samples.n_kernel + samples.n_link +
                        samples.n_attention + samples.n_power,
                    read, args->n_words - 1);
    fr_text_free(&notes);
    fr_samples_free(&samples);
    fr_runs_free(&runs);
    return status;
}

static const struct fr_output outputs[] = {{"out", NULL, NULL}, {NULL, NULL, NULL}};

const struct fr_verb fr_verb_import = {
    .name = "import",
    .summary =
        "read nccl-tests, rccl-tests, OSU or IMB output and tables as samples, published "
        "training runs, MLPerf's power logs and trainers' logs as runs",
    .usage = "KIND FILE... [--ranks N] [--nodes N] [--system TEXT] [-o FILE]",
    .details =
        "These KINDs become samples: nccl-tests (rccl-tests, too), osu, imb, oneccl, nvshmem, "
        "ucc, nccom-test,\n"
        "hipblaslt-bench, cublaslt, mamf-finder, profiler (PyTorch's), gpu, collectives and "
        "products (tables). These "
        "become runs: runs,\n"
        "mlperf-power, megatron, nemo, torchtitan, deepspeed, nanotron, maxtext, olmo, "
        "huggingface and mlperf.\n"
        "Rank tags, pod names, times, colours and quote marks before lines are taken away. A "
        "file that cannot\n"
        "be read is skipped.\n"
        "Samples go to standard output, what was left out or assumed to standard error. Beside "
        "log.txt a sidecar\n"
        "log.json may say ranks, nodes, gpus_per_node, system, gpu, network, mpi, nccl, "
        "setup.\n"
        "  forerun import nccl-tests n2.txt n8.txt > samples.jsonl\n"
        "  forerun fit samples.jsonl --out cluster.json\n"
        "  forerun import products gemm.csv --only gpu=B200 --dtype bf16 > products.jsonl\n"
        "  forerun fit products.jsonl --base dgx-b200 --out cluster.json\n"
        "  forerun import runs dgxc_benchmarking.csv -o runs.csv\n"
        "  forerun import mlperf-power result_0.txt power/node_0.txt --column model=gpt3-175b "
        "\\\n"
        "      --column ranks=8 -o runs.csv       # the run's log, then one of each node\n"
        "  forerun import megatron train.log -o runs.csv       # each file a run\n"
        "  forerun import megatron train.log --power gpus.csv -o runs.csv\n"
        "  forerun import torchtitan t.log --column model=llama-3-8b --column ranks=64 \\\n"
        "      --column plan.global_batch=512 --column plan.zero=3 -o runs.csv\n"
        "  forerun import osu --ranks 3072 --nodes 32 allreduce.txt > samples.jsonl\n",
    .options = options,
    .outputs = outputs,
    .first_input = 1,
    .word = word,
    .run = run,
};
