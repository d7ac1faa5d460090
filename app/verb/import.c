/* Other people's benchmark output into samples.jsonl, their training runs into a runs.csv. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/load.h"
#include "app/outputs.h"
#include "app/runs.h"
#include "base/escape.h"
#include "base/file.h"
#include "calibrate/samples/import.h"

static const struct fr_option options[] = {
    {"ranks", "N", "ranks that took part, where the files do not say", 0},
    {"nodes", "N", "nodes they were on", 0},
    {"ranks-per-node", "N", "ranks on each node", 0},
    {"op", "NAME", "collective of nccl-tests files that do not say", 0},
    {"system", "TEXT", "whose machine; files of different systems are never fitted together",
     0},
    {"setup", "TEXT", "how it was set up; the same holds", 0},
    {"out", "FILE", "where samples go (default: standard output)", 'o'},
    FR_OPTION_HELP,
    FR_OPTION_END};

static fr_status find(const char *name, const struct fr_importer **importer,
                      struct fr_error *err) {
    const char *known[16] = {"runs"};
    for (int i = 0; fr_importers[i] && i < 14; i++) {
        known[i + 1] = fr_importers[i]->spelling;
        *importer = fr_importers[i];
        if (strcmp(known[i + 1], name) == 0) return FR_OK;
    }
    const char *near = fr_suggest(name, known);
    return fr_fail(err, FR_ERR_USAGE, NULL,
                   "no format \"%.40s\"%s%s%s; known: nccl-tests, osu, imb, runs", name,
                   near ? "; did you mean \"" : "", near ? near : "", near ? "\"?" : "");
}

static fr_status read_options(const struct fr_args *args, struct fr_import_options *given,
                              struct fr_error *err) {
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

/* Runs as tune and score read them; what was left out, and why, goes to the notes. */
static fr_status import_runs(const struct fr_args *args, struct fr_runs *runs,
                             struct fr_text *notes, struct fr_error *err) {
    struct fr_text text = {0};
    const char *out = fr_args_get(args, "out");
    if (args->n_words == 1) return fr_fail(err, FR_ERR_USAGE, NULL, "no files given");
    if (out) FR_TRY(fr_file_check_writable(out, err));
    for (int i = 1; i < args->n_words; i++)
        FR_TRY(fr_runs_read(args->word[i], NULL, runs, err));
    if (runs->count == 0) return fr_runs_none(runs, args->word[1], err);
    fr_runs_print_skipped(runs, notes);
    fr_text_addf(notes, "%d runs from %d file%s\n", runs->count, args->n_words - 1,
                 args->n_words == 2 ? "" : "s");
    fr_runs_write(runs, &text);
    return print(out, &text, err);
}

static fr_status import(const struct fr_args *args, struct fr_samples *samples,
                        struct fr_text *notes, struct fr_error *err) {
    const struct fr_importer *importer = NULL;
    struct fr_import_options given = {0};
    struct fr_text text = {0};
    const char *out = fr_args_get(args, "out");
    if (args->n_words == 0)
        return fr_fail(err, FR_ERR_USAGE, NULL,
                       "no format given; known: nccl-tests, osu, imb, runs");
    FR_TRY(find(args->word[0], &importer, err));
    FR_TRY(read_options(args, &given, err));
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
    for (int i = 1; i < args->n_words; i++)
        FR_TRY(fr_import_file(importer, args->word[i], &given, samples, notes, err));
    fr_import_write(samples, &text);
    return print(out, &text, err);
}

static fr_status run(const struct fr_args *args, struct fr_error *err) {
    struct fr_samples samples = {0};
    struct fr_runs runs = {0};
    struct fr_text notes = {0};
    bool training = args->n_words > 0 && strcmp(args->word[0], "runs") == 0;
    fr_status status =
        training ? import_runs(args, &runs, &notes, err) : import(args, &samples, &notes, err);
    struct fr_text shown = {0};
    fr_escape_terminal(&shown, fr_text_get(&notes), notes.length);
    fputs(fr_text_get(&shown), stderr);
    fr_text_free(&shown);
    if (status == FR_OK && !training)
        fprintf(stderr, "%zu samples from %zu file%s\n", samples.n_collective, samples.n_source,
                samples.n_source == 1 ? "" : "s");
    fr_text_free(&notes);
    fr_samples_free(&samples);
    fr_runs_free(&runs);
    return status;
}

static const struct fr_output outputs[] = {{"out", NULL, NULL}, {NULL, NULL, NULL}};

/* Benchmarks, and "runs". */
static const char *word(int i) {
    int n = 0;
    while (fr_importers[n] && n < i) n++;
    return fr_importers[n] ? fr_importers[n]->spelling : i == n ? "runs" : NULL;
}

const struct fr_verb fr_verb_import = {
    .name = "import",
    .summary = "read nccl-tests, rccl-tests, OSU or IMB output as samples, published training "
               "runs as runs",
    .usage =
        "nccl-tests|osu|imb|runs FILE... [--ranks N] [--nodes N] [--system TEXT] [-o FILE]",
    .details =
        "Samples go to standard output, what was left out or assumed to standard error. Beside "
        "log.txt a sidecar\n"
        "log.json may say ranks, nodes, gpus_per_node, system, gpu, network, mpi, nccl, "
        "setup.\n"
        "  forerun import nccl-tests n2.txt n8.txt > samples.jsonl\n"
        "  forerun fit samples.jsonl --out cluster.json\n"
        "  forerun import runs dgxc_benchmarking.csv -o runs.csv\n"
        "  forerun import osu --ranks 3072 --nodes 32 allreduce.txt > samples.jsonl\n",
    .options = options,
    .outputs = outputs,
    .first_input = 1,
    .word = word,
    .run = run,
};
