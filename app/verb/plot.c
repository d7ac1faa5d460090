/* A picture of other commands' JSON. */
#include <string.h>

#include "app/outputs.h"
#include "base/file.h"
#include "plots/figure.h"

static const struct fr_option options[] = {
    {"output", "FILE", "picture to write: .svg, .png or .pdf", 'o'},
    {"x", "KEY",
     "of energy-time: what to draw against, e.g. model.sequence (default: ranks, or what "
     "varies)",
     0},
    {"keep-script", NULL, "leave the gnuplot script and its data beside the picture", 0},
    FR_OPTION_HELP,
    FR_OPTION_END};

enum { INPUTS_MAX = 16 };

/* --keep-script leaves two files beside the picture. */
static fr_status kept_apart(const char *output, const char *input, struct fr_error *err) {
    static const char *const endings[] = {"gp", "dat"};
    const char *dot = strrchr(output, '.');
    fr_status status = FR_OK;
    for (int i = 0; dot && i < 2 && status == FR_OK; i++) {
        struct fr_text kept = {0};
        fr_text_addf(&kept, "%.*s.%s", (int)(dot - output), output, endings[i]);
        if (!kept.failed) status = fr_output_apart(kept.data, input, err);
        fr_text_free(&kept);
    }
    return status;
}

static fr_status draw(const struct fr_args *args, const struct fr_figure *figure,
                      struct fr_json_document **documents, struct fr_error *err) {
    struct fr_json roots[INPUTS_MAX];
    struct fr_figure_options o = {.keep_script = fr_args_has(args, "keep-script"),
                                  .along = fr_args_get(args, "x")};
    int n = args->n_words - 1;
    FR_TRY(fr_args_required(args, "output", &o.output, err));
    FR_TRY(fr_file_check_writable(o.output, err));
    if (o.along && !figure->runs_along)
        return fr_fail(err, FR_ERR_USAGE, NULL,
                       "figure %s has an x axis of its own; --x is for "
                       "energy-time",
                       figure->name);
    if (n < 1)
        return fr_fail(err, FR_ERR_USAGE, NULL, "figure %s needs an input: %s", figure->name,
                       figure->inputs);
    if (n > INPUTS_MAX)
        return fr_fail(err, FR_ERR_USAGE, NULL, "at most %d inputs", INPUTS_MAX);
    for (int i = 0; o.keep_script && i < n; i++)
        FR_TRY(kept_apart(o.output, args->word[i + 1], err));
    for (int i = 0; i < n; i++) {
        FR_TRY(fr_json_read(args->word[i + 1], &documents[i], err));
        roots[i] = fr_json_root(documents[i]);
    }
    return fr_figure_draw(figure, roots, n, &o, err);
}

static fr_status run(const struct fr_args *args, struct fr_error *err) {
    struct fr_json_document *documents[INPUTS_MAX] = {NULL};
    const struct fr_figure *figure = NULL;
    if (args->n_words == 0)
        return fr_fail(err, FR_ERR_USAGE, NULL, "no figure named; see forerun list figures");
    FR_TRY(fr_figure_find(args->word[0], &figure, err));
    fr_status status = draw(args, figure, documents, err);
    for (int i = 0; i < INPUTS_MAX; i++) fr_json_free(documents[i]);
    return status;
}

static const struct fr_output outputs[] = {{"output", NULL, NULL}, {NULL, NULL, NULL}};

static const char *word(int i) {
    int n = 0;
    while (fr_figures[n] && n < i) n++;
    return fr_figures[n] ? fr_figures[n]->name : NULL;
}

const struct fr_verb fr_verb_plot = {
    .name = "plot",
    .summary = "draw a figure from the JSON of other commands",
    .usage = "FIGURE INPUT... -o FILE.svg|png|pdf",
    .details = "Example:\n"
               "  forerun search --cluster frontier --model ffn-16384 --ranks 8..256*2 --vary "
               "method=tensor,phantom \\\n"
               "      --vary ghost=2,4,6,16 --objective energy --top 0 --json > search.json\n"
               "  forerun plot energy-time search.json -o energy-time.svg\n"
               "A curve over any input: search --vary model.sequence=2048..16384*2 --json, "
               "then the same.\n",
    .options = options,
    .outputs = outputs,
    .first_input = 1,
    .word = word,
    .run = run,
};
