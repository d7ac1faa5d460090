#include "app/words/wrong_file.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "models/job/file_kind.h"
#include "models/job/preset.h"
#include "plots/figure.h"

#define KIND(name) (UINT32_C(1) << FR_FILE_##name)

enum {
    CLUSTERS =
        KIND(CLUSTER) | KIND(SAMPLES) | KIND(JSON), /* whose reader names what is wrong */
    MODELS = KIND(MODEL) | KIND(CONFIG) | KIND(JSON),
    ANSWERS = KIND(OUTCOME) | KIND(SEARCH) | KIND(FIT) | KIND(ANSWER),
    PLANS = KIND(PLAN) | KIND(JSON) | KIND(OUTCOME) | KIND(SEARCH) | KIND(ANSWER),
    PRINTED = KIND(LOG) | KIND(BENCHMARK) | KIND(TEXT) | KIND(TABLE),
    STARTED = KIND(LOG) | KIND(SCRIPT) | KIND(JSON) | KIND(TEXT), /* a trainer's */
    MEASURED = KIND(RUNS) | KIND(TABLE) | KIND(LOG) | KIND(ANSWER)
};

/* The file that belongs in a place: an option of a verb, or its words (option ""); verb "" is
 * any verb. */
static const struct place {
    const char *verb, *option;
    uint32_t takes;
    const char *wanted;
} places[] = {
    {"", "cluster", CLUSTERS, "a cluster file, samples or a preset"},
    {"", "base", CLUSTERS, "a cluster file, samples or a preset"},
    {"", "model", MODELS, "a model file, a config.json or a preset"},
    {"", "runtime", KIND(RUNTIME) | KIND(JSON), "a runtime file or preset"},
    {"", "plan", PLANS, "a plan file, or what predict or search printed with --json"},
    {"", "include", PLANS | STARTED, "a plan file, or a trainer's script or config"},
    {"", "runs", MEASURED, "a runs.csv with measured_s"},
    {"validate", "from-search", KIND(SEARCH), "what forerun search printed with --json"},
    {"validate", "from", KIND(SAMPLES), "a validate.jsonl of forerun validate"},
    {"calibrate", "samples", KIND(SAMPLES), "a samples.jsonl of forerun calibrate"},
    {"fit", "", KIND(SAMPLES), "a samples.jsonl of forerun calibrate or import"},
    {"compare", "", KIND(SAMPLES), "a samples.jsonl of forerun calibrate or import"},
    {"compare-plans", "", PLANS | STARTED, "plan files"},
    {"report", "", KIND(SAMPLES) | ANSWERS,
     "a samples.jsonl, or what fit, predict or search printed with --json"},
    {"plot", "", ANSWERS | KIND(TRACE), NULL}, /* as the figure says */
    {"import", "", PRINTED | KIND(RUNS) | KIND(SAMPLES) | KIND(JSON),
     "what a benchmark or a trainer printed"}};

/* Advice on a file of a kind, wherever it was given. */
static const char *advice(fr_file_kind kind) {
    switch (kind) {
    case FR_FILE_CLUSTER:
        return "give it as --cluster";
    case FR_FILE_MODEL:
    case FR_FILE_CONFIG:
        return "give it as --model";
    case FR_FILE_RUNTIME:
        return "give it as --runtime";
    case FR_FILE_PLAN:
        return "give it as --plan";
    case FR_FILE_OUTCOME:
    case FR_FILE_SEARCH:
        return "forerun plot, report and --plan read it";
    case FR_FILE_FIT:
        return "forerun plot and report read it";
    case FR_FILE_ANSWER:
        return "forerun report reads it";
    case FR_FILE_SAMPLES:
        return "forerun fit makes a cluster file of it";
    case FR_FILE_RUNS:
    case FR_FILE_TABLE:
        return "forerun score and tune read runs with --runs";
    case FR_FILE_LOG:
        return "forerun import runs reads it";
    case FR_FILE_BENCHMARK:
        return "forerun import makes samples of it";
    case FR_FILE_SCRIPT:
        return "forerun search --include reads it";
    case FR_FILE_TRACE:
        return "forerun plot gantt draws it";
    default:
        return NULL;
    }
}

static const struct place *place_of(const char *verb, const char *option) {
    const struct place *found = NULL;
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        bool own = strcmp(places[i].verb, verb) == 0;
        if (strcmp(places[i].option, option) != 0 || (!own && *places[i].verb)) continue;
        if (!found || own) found = &places[i];
    }
    return found;
}

static const char *wanted_of(const struct place *place, const struct fr_args *args) {
    if (place->wanted) return place->wanted;
    const struct fr_figure *figure = NULL;
    bool found = args->n_words > 0 && fr_figure_find(args->word[0], &figure, NULL) == FR_OK;
    return found ? figure->inputs : "results of forerun printed with --json";
}

/* @return true when the file at @p path is of a kind that @p place does not take */
static bool is_wrong(const struct place *place, const char *path, fr_file_kind *kind) {
    if (!place || !path || *path == '{') return false;
    bool preset = fr_preset_find("cluster", path) || fr_preset_find("model", path) ||
                  fr_preset_find("runtime", path);
    *kind = preset ? FR_FILE_MISSING : fr_file_kind_of(path);
    return *kind != FR_FILE_MISSING && !(place->takes >> *kind & 1);
}

static fr_status answer(const struct fr_verb *verb, const struct fr_args *args,
                        const struct place *place, const char *path, fr_file_kind kind,
                        struct fr_error *err) {
    const char *what = advice(kind), *own = "give it as --";
    const char *shown = strcmp(path, "-") == 0 ? "<stdin>" : path;
    bool option = what && strncmp(what, own, strlen(own)) == 0, has = !option;
    char place_name[64];
    if (option) has = fr_option_find(verb->options, what + strlen(own)) != NULL;
    if (*place->option)
        snprintf(place_name, sizeof place_name, "--%s", place->option);
    else
        snprintf(place_name, sizeof place_name, "forerun %s", verb->name);
    return fr_fail(err, FR_ERR_INPUT, shown, "is %s; %s takes %s%s%s", fr_file_kind_name(kind),
                   place_name, wanted_of(place, args), what && has ? "; " : "",
                   what && has ? what : "");
}

/* A result, but not one that the figure draws. */
static fr_status other_result(const struct fr_args *args, struct fr_error *err) {
    const struct place *place = place_of("plot", "");
    const struct fr_figure *figure = NULL;
    char schema[64] = "another result", file[sizeof err->where];
    snprintf(file, sizeof file, "%.*s", (int)strcspn(err->where, "#"), err->where);
    sscanf(err->detail, "unknown value \"%60[^\"]", schema);
    if (fr_figure_find(args->word[0], &figure, NULL) != FR_OK)
        return fr_fail(err, FR_ERR_INPUT, file,
                       "is %s; the figure comes first, e.g. forerun plot pareto %.64s", schema,
                       file);
    return fr_fail(err, FR_ERR_INPUT, file, "is %s; the figure %s draws %s", schema,
                   args->word[0], wanted_of(place, args));
}

/* One importer reads traces of another kind than `plot gantt` draws; what it refuses, it says itself. */
static bool reads_traces(const struct fr_verb *verb, const struct fr_args *args) {
    return strcmp(verb->name, "import") == 0 && args->n_words > 0 &&
           strcmp(args->word[0], "profiler") == 0;
}

static bool is_about(const struct fr_error *err, const char *path) {
    const char *name = strcmp(path, "-") == 0 ? "<stdin>" : path;
    return strncmp(err->where, name, strlen(name)) == 0;
}

void fr_wrong_file(const struct fr_verb *verb, const struct fr_args *args, fr_status *status,
                   struct fr_error *err) {
    int first_word = verb->first_input;
    if (*status != FR_ERR_INPUT) return;
    for (int sure = 1; sure >= 0; sure--) { /* first the file that the sentence is about */
        for (int i = 0; i < args->n_options + args->n_words; i++) {
            bool word = i >= args->n_options;
            int w = i - args->n_options;
            if (word && w < first_word) continue;
            const char *path = word ? args->word[w] : args->value[i];
            fr_file_kind kind;
            const struct place *place = place_of(verb->name, word ? "" : args->option[i]->name);
            bool asked = path && (!sure || is_about(err, path));
            if (!asked || !is_wrong(place, path, &kind)) continue;
            if (kind == FR_FILE_TRACE && reads_traces(verb, args)) continue;
            *status = answer(verb, args, place, path, kind, err);
            return;
        }
    }
    if (strcmp(verb->name, "plot") == 0 && args->n_words > 0 && strstr(err->where, "#/schema"))
        *status = other_result(args, err);
}
