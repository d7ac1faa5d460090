/* The papers' tables and figures beside ours. */
#include "studies/paper_table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "app/load.h"
#include "app/page/page.h"
#include "app/training.h"
#include "app/verb.h"
#include "base/file.h"
#include "base/json/interval.h"
#include "base/range.h"
#include "base/text/marked.h"
#include "base/text/meant.h"
#include "base/text/version.h"
#include "base/text/wrap.h"
#include "studies/dsp/quality.h"
#include "studies/measured.h"
#include "studies/optimus/quality.h"
#include "studies/phantom/settings.h"
#include "studies/reproduction.h"
#include "studies/rows_table.h"
#include "studies/training/markdown.h"

static const struct fr_option options[] = {
    {"markdown", NULL,
     "as a table to paste; of training, energy and memory the tables of docs/evidence/", 0},
    {"latex", NULL, "as a longtable, to paste", 0},
    {"update", "FILE",
     "write these tables between the marks of FILE (docs/evidence/, "
     "docs/explanation/accuracy.md); "
     "may be repeated",
     0},
    {"measured", NULL,
     "phantom: iterations to a loss that were measured, instead of the paper's numbers; with "
     "any option below it trains for real",
     0},
    {"quality", "FILE",
     "optimus, dsp: the paper's claims of model quality beside this result of forerun "
     "quality --json",
     0},
    {"widths", "RANGE", "phantom --measured: at several widths, each at the best of four rates",
     0},
    {"depths", "RANGE", "and of so many layers (default --layers)", 0},
    {"out", "FILE", "with --widths: the table that was measured, as the one that ships", 0},
    {"cluster", "FILE|PRESET", "with --measured: what an iteration costs (default frontier)",
     'c'},
    FR_TRAINING_OPTIONS,
    {"wide", NULL, "a row on one line, however long, not in 80 columns", 0},
    FR_OPTION_JSON_PAGE,
    FR_OPTION_HELP,
    FR_OPTION_END};

static double error_of(const struct fr_reproduce_row *row) {
    return row->published != 0 ? row->ours / row->published - 1 : NAN;
}

/* @p paper: NULL where the document is of one alone and says so above. */
static void json_rows(struct fr_json_writer *w, const struct fr_paper *paper,
                      const struct fr_reproduction *r) {
    for (size_t i = 0; i < r->count; i++) {
        const struct fr_reproduce_row *row = &r->rows[i];
        fr_json_begin_object(w);
        if (paper) fr_json_add_string(w, "paper", paper->name);
        fr_json_add_string(w, "id", row->id);
        fr_json_add_number(w, "published", row->published);
        fr_json_add_number(w, "ours", row->ours);
        if (isfinite(row->high)) {
            fr_json_add_interval(w, "", row->low, row->high);
        }
        fr_json_add_string(w, "unit", row->unit);
        fr_json_add_number(w, "error", error_of(row));
        fr_json_add_string(w, "role", fr_role_names[row->role]);
        fr_json_key(w, "holds");
        if (row->judged)
            fr_json_put_bool(w, row->holds);
        else
            fr_json_put_null(w);
        fr_json_add_string(w, "note", row->note);
        fr_json_end_object(w);
    }
}

static fr_status write_table(const char *out, const struct fr_phantom_table *table,
                             struct fr_error *err) {
    struct fr_text text = {0};
    fr_phantom_table_write(table, &text);
    fr_status status = text.failed ? fr_fail(err, FR_ERR_NOMEM, NULL, "out of memory")
                                   : fr_file_write_last(out, text.data, text.length, err);
    fr_text_free(&text);
    return status;
}

/* Several widths and depths, without prices. */
static fr_status settings(const struct fr_args *args, const struct fr_training_options *o,
                          struct fr_reproduction *r, struct fr_error *err) {
    const char *out = fr_args_get(args, "out");
    struct fr_phantom_table table = {0};
    const char *depths = fr_args_get(args, "depths");
    struct fr_phantom_settings s = {.force = fr_args_has(args, "force"), .n_depths = 1};
    int64_t *widths = NULL, *own = NULL;
    fr_status status = fr_range_parse(fr_args_get(args, "widths"), false, 2, "--widths",
                                      &widths, &s.n_widths, err);
    if (status == FR_OK && depths)
        status = fr_range_parse(depths, false, 1, "--depths", &own, &s.n_depths, err);
    s.widths = widths;
    s.depths = own ? own : &o->layers;
    if (status == FR_OK && out) status = fr_file_check_writable(out, err);
    if (status == FR_OK) status = fr_phantom_settings_run(o, &s, &table, err);
    fr_phantom_table_reproduce(&table, r); /* of a job that ended early what there is */
    if (status == FR_OK && out) status = write_table(out, &table, err);
    fr_phantom_table_free(&table);
    free(widths);
    free(own);
    return status;
}

/* Nothing was asked to be trained. */
static bool asks_for_the_table(const struct fr_args *args) {
    static const char *const trains[] = {"widths", "depths",     "cluster", "width",   "layers",
                                         "batch",  "same-batch", "tp",      "ghost",   "loss",
                                         "rate",   "seeds",      "most",    "samples", "resume",
                                         "force",  "out",        NULL};
    for (int i = 0; trains[i]; i++)
        if (fr_args_has(args, trains[i])) return false;
    return true;
}

static fr_status shipped(struct fr_reproduction *r, struct fr_error *err) {
    struct fr_phantom_table table;
    fr_status status = fr_phantom_table_shipped(&table, err);
    if (status == FR_OK) fr_phantom_table_reproduce(&table, r);
    fr_phantom_table_free(&table);
    return status;
}

/* --cluster states the cost of an iteration. */
static fr_status measure(const struct fr_args *args, struct fr_reproduction *r,
                         struct fr_error *err) {
    struct fr_training_request request;
    if (asks_for_the_table(args)) return shipped(r, err);
    fr_status status = fr_training_request_read(args, "frontier", &request, err);
    if (status == FR_OK && fr_args_has(args, "widths"))
        status = settings(args, &request.o, r, err);
    else if (status == FR_OK)
        status = fr_measured_phantom(&request.o, r, err);
    fr_training_request_free(&request);
    return status;
}

static fr_status quality(const struct fr_paper *paper, const struct fr_args *args,
                         struct fr_reproduction *r, struct fr_error *err) {
    struct fr_json_document *document = NULL;
    FR_TRY(fr_json_read(fr_args_get(args, "quality"), &document, err));
    struct fr_json root = fr_json_root(document);
    fr_status status = paper == &fr_paper_dsp ? fr_dsp_quality(&root, r, err)
                                              : fr_optimus_quality(&root, r, err);
    fr_json_free(document);
    return status;
}

/* The mark of @p paper that @p file has, of the whole table or of the short one, and what stands there. */
static fr_status read_mark(const char *file, const struct fr_paper *paper, char mark[96],
                           bool *brief, struct fr_error *err) {
    struct fr_text part = {0};
    snprintf(mark, 96, "%.60s" FR_BRIEF_MARK, paper->mark);
    *brief = fr_marked_read(file, mark, &part, NULL) == FR_OK;
    if (!*brief) snprintf(mark, 96, "%.60s", paper->mark);
    fr_status status = *brief ? FR_OK : fr_marked_read(file, mark, &part, err);
    fr_text_free(&part);
    return status;
}

static fr_status update(const char *file, const struct fr_paper *paper,
                        const struct fr_reproduction *r, struct fr_error *err) {
    struct fr_text text = {0};
    char mark[96];
    bool brief;
    FR_TRY(read_mark(file, paper, mark, &brief, err));
    if (brief)
        fr_training_brief(r, &text);
    else
        fr_training_markdown(r, &text);
    fr_status status = text.failed ? fr_fail(err, FR_ERR_NOMEM, NULL, "out of memory")
                                   : fr_marked_write(file, mark, fr_text_get(&text), err);
    fr_text_free(&text);
    return status;
}

static void put_more(const struct fr_paper *paper, struct fr_text *text) {
    if (!paper->more) return;
    fr_wrap(text, paper->more, 0, 0, FR_COLUMNS);
    fr_text_addf(text, "\n\n");
}

/* The rows as JSON where @p w has a text, and in the form that is printed where that is another. */
static fr_status one(const struct fr_paper *paper, const struct fr_args *args,
                     struct fr_text *text, struct fr_json_writer *w, struct fr_error *err) {
    struct fr_reproduction r = {0};
    bool json = fr_args_has(args, "json"), measured = fr_args_has(args, "measured");
    const char *files[FR_ARGS_MAX];
    int n_files = fr_args_all(args, "update", files);
    fr_status status = fr_args_has(args, "quality") ? quality(paper, args, &r, err)
                       : measured                   ? measure(args, &r, err)
                                                    : paper->run(&r, err);
    if (status == FR_OK && r.failed) status = fr_fail(err, FR_ERR_NOMEM, NULL, "out of memory");
    for (int i = 0; i < n_files && status == FR_OK; i++)
        status = update(files[i], paper, &r, err);
    bool shown = (status == FR_OK || status == FR_ERR_PARTIAL) && !n_files;
    bool markdown = fr_args_has(args, "markdown");
    if (shown && w->text) json_rows(w, args->n_words == 1 ? NULL : paper, &r);
    shown = shown && !json;
    if (shown && fr_args_has(args, "latex"))
        fr_rows_latex(paper, &r, text);
    else if (shown && markdown && paper->mark)
        fr_training_markdown(&r, text);
    else if (shown && markdown)
        fr_rows_markdown(paper, &r, text);
    else if (shown)
        fr_reproduction_text(paper, &r, fr_args_has(args, "wide"), text);
    if (shown && !fr_args_has(args, "latex") && !markdown && !fr_args_has(args, "quality") &&
        !measured)
        put_more(paper, text);
    free(r.rows);
    return status;
}

static fr_status find(const char *name, const struct fr_paper **paper, struct fr_error *err) {
    const char *known[32] = {NULL};
    char tail[320];
    int n = 0;
    for (const struct fr_paper *const *p = fr_papers; *p; p++) {
        known[n++] = (*p)->name;
        if (strcmp((*p)->name, name) != 0) continue;
        *paper = *p;
        return FR_OK;
    }
    return fr_fail(err, FR_ERR_USAGE, NULL, "nothing called \"%.40s\" to reproduce%s", name,
                   fr_meant_tail(name, known, tail, sizeof tail));
}

static fr_status check(const struct fr_args *args, const struct fr_paper *wanted,
                       struct fr_error *err) {
    const char *files[FR_ARGS_MAX];
    int n_files = fr_args_all(args, "update", files);
    char mark[96];
    bool brief;
    if (fr_args_has(args, "measured") && wanted != &fr_paper_phantom)
        return fr_fail(err, FR_ERR_USAGE, "--measured",
                       "is of the paper phantom: forerun reproduce phantom --measured");
    if ((fr_args_has(args, "widths") || fr_args_has(args, "depths")) &&
        !fr_args_has(args, "measured"))
        return fr_fail(err, FR_ERR_USAGE, fr_args_has(args, "widths") ? "--widths" : "--depths",
                       "is of trainings: forerun reproduce phantom --measured");
    if (fr_args_has(args, "out") && !fr_args_has(args, "widths"))
        return fr_fail(err, FR_ERR_USAGE, "--out", "is the table of --widths");
    if (fr_args_has(args, "quality") && wanted != &fr_paper_optimus && wanted != &fr_paper_dsp)
        return fr_fail(err, FR_ERR_USAGE, "--quality",
                       "is of the papers optimus and dsp: forerun reproduce optimus --quality "
                       "FILE");
    if (!n_files) return FR_OK;
    if (fr_app_paged(args))
        return fr_fail(err, FR_ERR_USAGE, "--page", "goes without --update");
    if (!wanted || !wanted->mark || fr_args_has(args, "json"))
        return fr_fail(err, FR_ERR_USAGE, "--update",
                       "writes the tables of training, energy or memory: forerun reproduce "
                       "training --update FILE");
    /* Before a minute's work, not after. */
    for (int i = 0; i < n_files; i++) {
        FR_TRY(read_mark(files[i], wanted, mark, &brief, err));
        FR_TRY(fr_file_check_writable(files[i], err));
    }
    return FR_OK;
}

static bool is_asked(const struct fr_paper *paper, const struct fr_args *args) {
    bool asked = args->n_words == 0;
    for (int i = 0; i < args->n_words; i++)
        asked = asked || strcmp(args->word[i], paper->name) == 0;
    return asked;
}

/* Titles by name, where rows are of several. */
static void json_papers(struct fr_json_writer *w, const struct fr_args *args) {
    fr_json_add_object(w, "papers");
    for (const struct fr_paper *const *p = fr_papers; *p; p++)
        if (is_asked(*p, args)) fr_json_add_string(w, (*p)->name, (*p)->title);
    fr_json_end_object(w);
}

static fr_status run(const struct fr_args *args, struct fr_error *err) {
    const struct fr_paper *wanted = NULL;
    struct fr_text text = {0}, document = {0};
    bool json = fr_args_has(args, "json"), paged = fr_app_paged(args);
    struct fr_json_writer w = {.text = json || paged ? &document : NULL, .indent = 2};
    fr_status status = FR_OK;
    for (int i = 0; i < args->n_words; i++) FR_TRY(find(args->word[i], &wanted, err));
    if (args->n_words > 1) wanted = NULL;
    FR_TRY(check(args, wanted, err));
    if (w.text) {
        fr_json_begin_object(&w);
        fr_json_add_string(&w, "schema", "forerun/reproduce/1");
        fr_json_add_string(&w, "paper", wanted ? wanted->name : "all");
        if (wanted) fr_json_add_string(&w, "title", wanted->title);
        if (!wanted) json_papers(&w, args);
        fr_json_add_string(&w, "version", fr_version);
        fr_json_add_array(&w, "rows");
    }
    for (const struct fr_paper *const *p = fr_papers; *p && status == FR_OK; p++)
        if (is_asked(*p, args)) status = one(*p, args, &text, &w, err);
    if (w.text) {
        fr_json_end_array(&w);
        fr_json_end_object(&w);
    }
    if (json) fr_text_add(&text, fr_text_get(&document), document.length);
    text.failed = text.failed || document.failed;
    if (status == FR_OK && !fr_args_has(args, "update"))
        return fr_app_answer(args, &text, &document, err);
    if (status == FR_ERR_PARTIAL)
        fr_app_answer(args, &text, &document, NULL); /* what an ended job left */
    fr_text_free(&text), fr_text_free(&document);
    return status;
}

static const struct fr_output outputs[] = {
    {"update", NULL, NULL}, {"samples", NULL, NULL}, {"out", NULL, NULL}, {NULL, NULL, NULL}};

static const char *word(int i) {
    int n = 0;
    while (fr_papers[n] && n < i) n++;
    return fr_papers[n] ? fr_papers[n]->name : NULL;
}

const struct fr_verb fr_verb_reproduce = {
    .name = "reproduce",
    .summary = "the papers' tables and figures, published beside ours",
    .usage = "[NAME...] [--measured] [--quality FILE] [--update FILE] "
             "[--wide|--latex|--markdown|--json]",
    .details =
        "Each row has a role: identity, fitted, predicted, ordering, not_explained.  A note "
        "stands below its row;\nwhere the next ones share it, a \" stands for it.\n",
    .options = options,
    .outputs = outputs,
    .word = word,
    .run = run,
};
