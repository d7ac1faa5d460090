/* A picture of other commands' JSON. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/outputs.h"
#include "base/data.h"
#include "base/file.h"
#include "base/units.h"
#include "plots/figure.h"
#include "trust/runs/runs.h"

static const struct fr_option options[] = {
    {"output", "FILE", "picture to write: .svg, .png or .pdf; of paper a folder", 'o'},
    {"format", "NAME", "of a folder's pictures: svg, png or pdf (default svg)", 0},
    {"title", "TEXT", "instead of the figure's own", 0},
    {"no-title", NULL, "none: a caption says it", 0},
    {"width", "LENGTH", "of the picture: 3.3in, 84mm, 240pt (paper: 3.3in as it is)", 0},
    {"font", "NAME,SIZE", "family, size [pt] or both (default DejaVu Sans,9)", 0},
    {"x", "KEY",
     "of energy-time: what to draw against, e.g. model.sequence (default: ranks, or what "
     "varies)",
     0},
    {"from", "TIME", "of gantt: draw the part from there on, e.g. 120ms", 0},
    {"to", "TIME", "of gantt: and up to there", 0},
    {"keep-script", NULL, "leave the gnuplot script and its data beside the picture", 0},
    FR_OPTION_REPLACE,
    FR_OPTION_HELP,
    FR_OPTION_END};

enum { INPUTS_MAX = 16 };

/* --keep-script leaves two files beside the picture. */
static fr_status kept_apart(const char *output, const char *input, struct fr_error *err) {
    static const char *const endings[] = {"gp", "dat"};
    const char *dot = strrchr(output, '.');
    fr_status status = FR_OK;
    for (int i = 0; dot && i < 2 && status == FR_OK; i++) {
        struct fr_text script = {0};
        fr_text_addf(&script, "%.*s.%s", (int)(dot - output), output, endings[i]);
        if (!script.failed) status = fr_output_apart(script.data, input, err);
        fr_text_free(&script);
    }
    return status;
}

/* "3.3in": inches. */
static fr_status read_width(const char *text, double *inches, struct fr_error *err) {
    static const struct {
        const char *unit;
        double per_inch;
    } units[] = {{"in", 1}, {"cm", 2.54}, {"mm", 25.4}, {"pt", 72}, {"px", 96}};
    char *unit = NULL;
    double value = strtod(text, &unit);
    while (*unit == ' ') unit++;
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (unit != text && strcmp(unit, units[i].unit) == 0) {
            *inches = value / units[i].per_inch;
            if (*inches >= 1 && *inches <= 50) return FR_OK; /* no for NaN */
        }
    return fr_fail(err, FR_ERR_USAGE, "--width",
                   "\"%.40s\" is no width from 1 to 50 inches; write e.g. \"3.3in\", \"84mm\"",
                   text);
}

/* "Times", "8", "8pt", "Times,8". */
static fr_status read_font(const char *text, char family[64], struct fr_figure_options *o,
                           struct fr_error *err) {
    const char *comma = strrchr(text, ','), *size = comma ? comma + 1 : text;
    char *end = NULL;
    double size_pt = strtod(size, &end);
    bool sized = end != size && (!*end || strcmp(end, "pt") == 0);
    if ((comma && !sized) || (sized && !(size_pt >= 4 && size_pt <= 40)))
        return fr_fail(err, FR_ERR_USAGE, "--font",
                       "\"%.40s\" is no family, size from 4 to 40 pt, or both: \"Times,8\"",
                       text);
    if (sized) o->font_pt = size_pt;
    snprintf(family, 64, "%.*s",
             (int)(comma   ? comma - text
                   : sized ? 0
                           : (int)strlen(text)),
             text);
    for (const char *c = family; *c; c++)
        if (!isalnum((unsigned char)*c) && !strchr(" -", *c))
            return fr_fail(err, FR_ERR_USAGE, "--font",
                           "a family has letters, digits, blanks and \"-\" in its name");
    if (*family) o->face = family;
    return FR_OK;
}

static fr_status read_format(const char *text, const char **format, struct fr_error *err) {
    static const char *const formats[] = {"svg", "png", "pdf", NULL};
    for (int i = 0; formats[i]; i++)
        if (strcmp(text, formats[i]) == 0) {
            *format = formats[i];
            return FR_OK;
        }
    return fr_fail(err, FR_ERR_USAGE, "--format", "\"%.20s\" is none of svg, png, pdf", text);
}

/* --from and --to, which gantt alone has. */
static fr_status read_window(const struct fr_args *args, const struct fr_figure *figure,
                             struct fr_figure_options *o, struct fr_error *err) {
    const char *from = fr_args_get(args, "from"), *to = fr_args_get(args, "to");
    if (!from && !to) return FR_OK;
    if (figure != &fr_figure_gantt)
        return fr_fail(err, FR_ERR_USAGE, from ? "--from" : "--to",
                       "is of figure gantt, not of %s", figure->name);
    if (from) FR_TRY(fr_quantity_parse(from, FR_QUANTITY_TIME, "--from", &o->from_s, err));
    if (to) FR_TRY(fr_quantity_parse(to, FR_QUANTITY_TIME, "--to", &o->to_s, err));
    if (o->from_s < 0 || (to && o->to_s <= o->from_s))
        return fr_fail(err, FR_ERR_USAGE, from ? "--from" : "--to",
                       "the part is to end after it begins, and to begin at 0 s or later");
    return FR_OK;
}

static fr_status read_options(const struct fr_args *args, const struct fr_figure *figure,
                              char family[64], struct fr_figure_options *o,
                              struct fr_error *err) {
    const char *width = fr_args_get(args, "width"), *font = fr_args_get(args, "font"),
               *format = fr_args_get(args, "format");
    *o = (struct fr_figure_options){.keep_script = fr_args_has(args, "keep-script"),
                                    .along = fr_args_get(args, "x"),
                                    .title = fr_args_get(args, "title"),
                                    .no_title = fr_args_has(args, "no-title")};
    FR_TRY(fr_args_required(args, "output", &o->output, err));
    if (width) FR_TRY(read_width(width, &o->width_in, err));
    if (font) FR_TRY(read_font(font, family, o, err));
    if (format) FR_TRY(read_format(format, &o->format, err));
    FR_TRY(read_window(args, figure, o, err));
    if (format && !figure->draw_folder)
        return fr_fail(err, FR_ERR_USAGE, "--format",
                       "is of paper's folder; elsewhere the name of the picture says it");
    return FR_OK;
}

/* A runs.csv as a document: what was measured of each run. */
static fr_status read_runs(const char *path, struct fr_json_document **document,
                           struct fr_error *err) {
    struct fr_runs runs = {0};
    struct fr_text text = {0};
    struct fr_json_writer w = {.text = &text};
    fr_status status = fr_runs_read(path, &runs, err);
    fr_json_begin_object(&w);
    fr_json_add_array(&w, "measured_runs");
    for (int i = 0; i < runs.count; i++) {
        fr_json_begin_object(&w);
        fr_json_add_string(&w, "id", runs.items[i].id);
        fr_json_add_number(&w, "measured_s", runs.items[i].measured_s);
        fr_json_add_number(&w, "measured_J", runs.items[i].measured_J);
        fr_json_end_object(&w);
    }
    fr_json_end_array(&w);
    fr_json_end_object(&w);
    if (status == FR_OK)
        status = text.failed
                     ? fr_fail(err, FR_ERR_NOMEM, NULL, "out of memory")
                     : fr_json_parse(fr_text_get(&text), text.length, path, document, err);
    fr_text_free(&text);
    fr_runs_free(&runs);
    return status;
}

static fr_status read_input(const char *path, struct fr_json_document **document,
                            struct fr_error *err) {
    const char *dot = strrchr(path, '.');
    return dot && strcmp(dot, ".csv") == 0 ? read_runs(path, document, err)
                                           : fr_json_read(path, document, err);
}

/* Pictures that a folder has stay, as one picture does, unless --force is given. */
static fr_status check_folder(const struct fr_args *args, const struct fr_figure_options *o,
                              struct fr_error *err) {
    char **files = NULL, ending[8];
    size_t n = 0;
    if (fr_args_has(args, "force") || !fr_file_exists(o->output)) return FR_OK;
    snprintf(ending, sizeof ending, ".%.4s", o->format ? o->format : "svg");
    if (fr_folder_list(o->output, ending, &files, &n, NULL) != FR_OK) return FR_OK;
    fr_folder_free(files, n);
    return n == 0 ? FR_OK
                  : fr_fail(err, FR_ERR_USAGE, o->output,
                            "has pictures already: -f replaces those of the same names");
}

/* @p first: of the words that are inputs. */
static fr_status draw(const struct fr_args *args, const struct fr_figure *figure, int first,
                      struct fr_json_document **documents, struct fr_error *err) {
    struct fr_json roots[INPUTS_MAX];
    struct fr_figure_options o;
    char family[64];
    int n = args->n_words - first;
    FR_TRY(read_options(args, figure, family, &o, err));
    FR_TRY(figure->draw_folder ? check_folder(args, &o, err)
                               : fr_file_check_writable(o.output, err));
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
        FR_TRY(kept_apart(o.output, args->word[first + i], err));
    for (int i = 0; i < n; i++) {
        FR_TRY(read_input(args->word[first + i], &documents[i], err));
        roots[i] = fr_json_root(documents[i]);
    }
    return fr_figure_draw(figure, roots, n, &o, err);
}

static fr_status run(const struct fr_args *args, struct fr_error *err) {
    struct fr_json_document *documents[INPUTS_MAX] = {NULL};
    const struct fr_figure *figure = NULL;
    if (args->n_words == 0)
        return fr_fail(err, FR_ERR_USAGE, NULL, "no figure named; see forerun list figures");
    /* A document alone says itself what it is: the rows of a paper. */
    const char *word = args->word[0], *dot = strrchr(word, '.');
    bool document = strcmp(word, "-") == 0 || (dot && strcmp(dot, ".json") == 0);
    if (document)
        figure = &fr_figure_paper;
    else
        FR_TRY(fr_figure_find(word, &figure, err));
    fr_status status = draw(args, figure, document ? 0 : 1, documents, err);
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
    .usage = "FIGURE INPUT... -o FILE.svg|png|pdf\n"
             "       forerun plot [paper] PAPER.json -o FOLDER",
    .details = "Example:\n"
               "  forerun search --cluster frontier --model ffn-16384 --ranks 8..256*2 --vary "
               "method=tensor,phantom \\\n"
               "      --vary ghost=2,4,6,16 --objective energy --top 0 --json > search.json\n"
               "  forerun plot energy-time search.json -o energy-time.svg\n"
               "A curve over any input: search --vary model.sequence=2048..16384*2 --json, "
               "then the same.\n"
               "All figures and tables of a paper, published beside ours, one column wide:\n"
               "  forerun reproduce phantom --json | forerun plot - -o figures/\n"
               "  forerun reproduce phantom grid optimus dsp --json | forerun plot - -o all/\n",
    .options = options,
    .outputs = outputs,
    .asks = true,
    .first_input = 1,
    .word = word,
    .run = run,
};
