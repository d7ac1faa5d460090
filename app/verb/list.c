/* The tables of this program: what can be written where. */
#include <stdio.h>
#include <string.h>

#include "answer/search/compositions.h"
#include "app/load.h"
#include "app/page/page.h"
#include "app/text/presets.h"
#include "app/verb.h"
#include "base/sort.h"
#include "base/text/meant.h"
#include "base/text/wrap.h"
#include "calibrate/samples/import.h"
#include "models/job/assume.h"
#include "models/job/own.h"
#include "models/job/preset.h"
#include "models/job/release.h"
#include "models/plan/key.h"
#include "models/workload/family.h"
#include "plots/figure.h"
#include "sim/network.h"
#include "traces/format.h"

static const struct fr_option options[] = {FR_OPTION_JSON, FR_OPTION_HELP, FR_OPTION_END};

struct row {
    const char *name, *what, *detail, *source;
};
enum { ROWS_MAX = 1024, SCHEMAS_MAX = 64 };
enum { RUNTIMES_MAX = 128, RUNTIME_DATE = 16, RUNTIME_SOURCE = 512 };

/* A list of one row for each object `of` a table. */
#define LIST(list, type, table, ...)                                                           \
    static int list(struct row *rows) {                                                        \
        int n = 0;                                                                             \
        for (const struct type *of; (of = table[n]) != NULL; n++)                              \
            rows[n] = (struct row){__VA_ARGS__};                                               \
        return n;                                                                              \
    }

LIST(list_collectives, fr_collective, fr_collectives, of->name, fr_op_names[of->op],
     of->equation, of->source)
LIST(list_methods, fr_method, fr_methods, of->name, of->exact ? "exact" : "approximate",
     of->summary, of->source)

/* Keys of the plan; docs/reference/plan-keys.md names what reads a key. */
static int list_keys(struct row *rows) {
    static char values[FR_PLAN_KEYS][256], defaults[FR_PLAN_KEYS][256];
    int n = 0;
    for (; n < FR_PLAN_KEYS; n++) {
        const struct fr_plan_key *key = &fr_plan_keys[n];
        rows[n] =
            (struct row){key->name, fr_plan_key_values(key, values[n], sizeof *values),
                         key->help, fr_plan_key_default(key, defaults[n], sizeof *defaults)};
    }
    return n;
}

/* Assumptions of the newest runtime. */
static int list_assumptions(struct row *rows) {
    enum { MOST = ROWS_MAX / 16 };
    static struct fr_runtime newest; /* rows point into it */
    static struct fr_assumption a[MOST];
    char name[FR_RUNTIME_NAME];
    int n = 0;
    fr_release_newest(true, "", NULL, name);
    if (fr_runtime_read(name, &newest, NULL) != FR_OK) return 0;
    for (; n < MOST && fr_assumption_at(&newest, n, &a[n]); n++)
        rows[n] = (struct row){a[n].key, a[n].value, a[n].when, a[n].why};
    return n;
}

LIST(list_schedules, fr_schedule, fr_schedules, of->name, "pipeline", of->summary, of->source)
LIST(list_compressions, fr_compression, fr_compressions, of->name, "lossy", of->summary,
     of->source)

static int list_forms(struct row *rows) {
    int n = 0;
    for (const struct fr_form *const *f = fr_forms; *f; f++)
        rows[n++] = (struct row){(*f)->name, "collectives", (*f)->equation, (*f)->source};
    for (const struct fr_gemm_form *const *g = fr_gemm_forms; *g; g++)
        rows[n++] = (struct row){(*g)->name, "gemm", (*g)->equation, (*g)->source};
    return n;
}

LIST(list_importers, fr_importer, fr_importers, of->spelling, "import", of->reads, "")
LIST(list_kinds, fr_kind, fr_kinds, of->name, "model", of->summary, "")
LIST(list_families, fr_family, fr_families, of->name, "config.json", of->summary, "")

/* Names in the user's own folders and the site's, a line each.  One that a preset has is the site's under "site:NAME"
 * alone, and of the user's own folder nobody's. */
static fr_status own_names(const char *kind, struct fr_text *text) {
    struct fr_text all = {0};
    FR_TRY(fr_own_names(kind, &all, NULL));
    for (char *at = all.data; at && *at;) {
        char *file = at + strcspn(at, "\t"), *end = at + strcspn(at, "\n"), path[FR_OWN_PATH_B],
             shared[256];
        *file = '\0';
        const bool preset = fr_preset_find(kind, at);
        snprintf(shared, sizeof shared, FR_OWN_SITE "%.200s", at);
        const bool found = fr_own_file(kind, shared, path, NULL) == FR_OK && *path;
        if (!preset || found)
            fr_text_addf(text, "%s\t%.*s\n", preset ? shared : at, (int)(end - file - 1),
                         file + 1);
        at = *end ? end + 1 : end;
    }
    text->failed = text->failed || all.failed;
    fr_text_free(&all);
    return FR_OK;
}

/* Those with their files; the text stays for as long as the rows. */
static int list_own(struct row *rows, int most, const char *kind) {
    static const char *const kinds[] = {"cluster", "model", "runtime"};
    static struct fr_text cached[3];
    int n = 0, which = 0;
    while (strcmp(kinds[which], kind) != 0) which++;
    struct fr_text *text = &cached[which];
    text->length = 0;
    text->failed = false; /* of a call before, in a library */
    if (own_names(kind, text) != FR_OK || !text->length || text->failed) return 0;
    for (char *at = text->data; *at && n < most; n++) {
        char *file = at + strcspn(at, "\t"), *end = at + strcspn(at, "\n");
        *file = *end = '\0';
        rows[n] = (struct row){at, kind, file + 1, ""};
        at = end + 1;
    }
    return n;
}

static int list_presets(struct row *rows, const char *kind) {
    int n = 0;
    for (const struct fr_preset *p = fr_presets; p->name && n < ROWS_MAX; p++)
        if (strcmp(p->kind, kind) == 0) rows[n++] = (struct row){p->name, kind, "preset", ""};
    return n + list_own(rows + n, ROWS_MAX - n, kind);
}

static int list_clusters(struct row *rows) { return list_presets(rows, "cluster"); }
static int list_models(struct row *rows) { return list_presets(rows, "model"); }

/* The statements of a runtime's file about itself; one that cannot be read says why. */
static void describe_runtime(const char *name, char *date, char *source) {
    struct fr_json_document *document = NULL;
    struct fr_error err = {0};
    if (fr_preset_or_file_read("runtime", name, &document, &err) != FR_OK) {
        snprintf(source, RUNTIME_SOURCE, "%.100s: %.400s", err.where, err.detail);
        return;
    }
    struct fr_json root = fr_json_root(document);
    snprintf(date, RUNTIME_DATE, "%s", fr_json_text_at(&root, "date"));
    snprintf(source, RUNTIME_SOURCE, "%s", fr_json_text_at(&root, "source"));
    fr_json_free(document);
}

/* The newest first. */
static int by_date(const void *a, const void *b) {
    const struct row *one = a, *other = b;
    int order = strcmp(other->what, one->what);
    return order ? order : strcmp(one->name, other->name);
}

/* With their dates, and the file of what is the user's own. */
static int list_runtimes(struct row *rows) {
    static char date[RUNTIMES_MAX][RUNTIME_DATE], source[RUNTIMES_MAX][RUNTIME_SOURCE];
    int n = list_presets(rows, "runtime");
    if (n > RUNTIMES_MAX) n = RUNTIMES_MAX;
    for (int i = 0; i < n; i++) {
        const char *file = strcmp(rows[i].detail, "preset") == 0 ? "" : rows[i].detail;
        *date[i] = *source[i] = '\0';
        describe_runtime(rows[i].name, date[i], source[i]);
        rows[i] = (struct row){rows[i].name, date[i], source[i], file};
    }
    fr_sort_items(rows, (size_t)n, sizeof *rows, by_date);
    return n;
}

static int list_all_presets(struct row *rows) {
    int n = list_clusters(rows);
    n += list_models(rows + n);
    return n + list_presets(rows + n, "runtime");
}

/* Facts that a runtime may state: keys of plans, and values of devices with their bounds. */
static int list_facts(struct row *rows) {
    enum { MOST = 128 };
    static char values[MOST][256];
    int n = 0;
    for (; n < fr_fact_count && n < MOST; n++) {
        const struct fr_fact_row *fact = &fr_facts[n];
        fr_fact_values(fact, values[n], sizeof *values);
        rows[n] = (struct row){fact->key, fr_fact_kinds[fact->kind], fact->help, values[n]};
    }
    return n;
}

/* JSON Schemas, by the titles that they state. */
static int list_schemas(struct row *rows) {
    static char title[SCHEMAS_MAX][128], stated[SCHEMAS_MAX][192];
    int n = 0;
    for (const struct fr_preset *p = fr_presets; p->name && n < SCHEMAS_MAX; p++) {
        struct fr_json_document *document = NULL;
        if (strcmp(p->kind, "schema") != 0) continue;
        if (fr_json_parse(p->text, p->length, p->name, &document, NULL) != FR_OK) continue;
        struct fr_json root = fr_json_root(document);
        snprintf(title[n], sizeof *title, "%s", fr_json_text_at(&root, "title"));
        snprintf(stated[n], sizeof *stated, "%s", fr_json_text_at(&root, "description"));
        rows[n] = (struct row){p->name, "schema", title[n], stated[n]};
        n++;
        fr_json_free(document);
    }
    return n;
}

LIST(list_formats, fr_format, fr_formats, of->name, of->ending, of->summary, "")

static int list_reasons(struct row *rows) {
    int n = 0;
    for (; fr_reason_names[n]; n++)
        rows[n] = (struct row){fr_reason_names[n], "infeasible", fr_reason_sentences[n],
                               fr_reason_helps[n]};
    return n;
}

LIST(list_figures, fr_figure, fr_figures, of->name, "figure", of->summary, of->inputs)
LIST(list_networks, fr_network, fr_networks, of->name, "simulate", of->summary, of->source)
LIST(list_shapes, fr_shape, fr_shapes, of->name, of->example, of->summary, of->source)

/* Why the plan of a job cannot be priced, or that it can; the job is freed. */
static const char *verdict_of(fr_status loaded, struct fr_job *job) {
    struct fr_outcome out;
    const char *verdict = "cannot be loaded";
    if (loaded == FR_OK) {
        fr_cost(job, &job->plan, &out);
        verdict = fr_composition_verdict(&out);
    }
    fr_job_free(job);
    return verdict;
}

/* A row for each pair of axes that meet. */
static int list_axes(struct row *rows, int n) {
    for (const struct fr_axis_setting *a = fr_axis_settings; a->name; a++)
        for (const struct fr_axis_setting *b = a + 1; b->name && n < ROWS_MAX; b++) {
            struct fr_job job;
            if (!fr_axes_meet(a, b)) continue;
            fr_status loaded = fr_axes_load(fr_methods[0], a, b, NULL, &job, NULL);
            rows[n++] = (struct row){a->name, verdict_of(loaded, &job), b->name, ""};
        }
    return n;
}

/* A row for each pair, of methods with axes and of axes; what cannot be loaded says so. */
static int list_compositions(struct row *rows) {
    int n = 0;
    for (const struct fr_composition *c = fr_compositions; c->axis; c++)
        for (const struct fr_method *const *m = fr_methods; *m && n < ROWS_MAX; m++) {
            struct fr_job job;
            fr_status loaded = fr_composition_load(c, *m, &job, NULL);
            rows[n++] = (struct row){(*m)->name, verdict_of(loaded, &job), c->axis, ""};
        }
    return list_axes(rows, n);
}

static const struct table {
    const char *name, *summary;
    int (*fill)(struct row *rows);
    /** Prints rows for people; NULL: as names, what they are and details. */
    void (*print)(struct fr_text *text, const char *const *names, int n);
} tables[] = {
    {"collectives", "algorithms and their closed forms", list_collectives, NULL},
    {"keys", "of a plan: what --set and --vary take", list_keys, NULL},
    {"runtimes", "software with a date: what --runtime takes, the newest first", list_runtimes,
     NULL},
    {"facts", "of a runtime: what its file and --set runtime.KEY take", list_facts, NULL},
    {"assumptions",
     "what plans and models start from where nobody says otherwise, of the newest "
     "runtime",
     list_assumptions, NULL},
    {"methods", "ways to divide a layer over the model axis", list_methods, NULL},
    {"schedules", "orders of a pipeline stage's passes", list_schedules, NULL},
    {"compressions", "codecs of messages and gradients", list_compressions, NULL},
    {"forms", "forms of collectives and matrix products in a cluster file", list_forms, NULL},
    {"importers", "benchmark output that forerun import reads", list_importers, NULL},
    {"kinds", "kinds of models", list_kinds, NULL},
    {"families", "Hugging Face config.json files that --model reads", list_families, NULL},
    {"presets", "clusters, models and runtimes that come with the program", list_all_presets,
     NULL},
    {"clusters", "cluster presets: devices, memory, peak, network, how they were checked",
     list_clusters, fr_list_clusters},
    {"models", "model presets: kind, layers, width, sequence", list_models, fr_list_models},
    {"figures", "pictures of forerun plot", list_figures, NULL},
    {"formats", "trace formats of forerun simulate", list_formats, NULL},
    {"networks", "what forerun simulate can run messages on", list_networks, NULL},
    {"shapes", "shapes of a cluster's topology", list_shapes, NULL},
    {"schemas", "JSON Schemas of the documents that are read and written", list_schemas, NULL},
    {"reasons", "why a plan can be infeasible", list_reasons, NULL},
    {"compositions", "methods with axes, axes with axes: priced, or why not", list_compositions,
     NULL},
};
enum { N_TABLES = sizeof tables / sizeof *tables };

/* Words of docs/reference/plan-keys.md as a terminal shows them: no backticks, of a link its words. */
static const char *plain(const char *marked, struct fr_text *out) {
    out->length = 0;
    fr_text_addf(out, "%s", "");
    for (const char *at = marked; *at; at++) {
        const char *link = strncmp(at, "](", 2) == 0 ? strchr(at, ')') : NULL;
        if (link)
            at = link;
        else if (*at != '`' && !(*at == '[' && strstr(at, "](")))
            fr_text_add(out, at, 1);
    }
    return fr_text_get(out);
}

static void print_row(struct fr_text *text, const struct row *row, struct fr_text *scratch) {
    enum { NAME = 20, WHAT = 15, DETAIL = NAME + WHAT + 2 };
    const char *what = plain(row->what, scratch);
    const bool apart = strlen(row->name) > NAME || strlen(what) > WHAT;
    fr_text_addf(text, "%-*s ", NAME, row->name);
    if (apart && *what) {
        fr_wrap_list(text, what, NAME + 1, NAME + 1, FR_COLUMNS);
        fr_text_addf(text, "\n%*s", DETAIL, "");
    } else if (apart)
        fr_text_addf(text, "\n%*s", DETAIL, "");
    else
        fr_text_addf(text, "%-*s ", WHAT, what);
    fr_wrap_cell(text, DETAIL, plain(row->detail, scratch));
    if (!*row->source) return;
    fr_text_addf(text, "%*s", DETAIL, "");
    fr_wrap_cell(text, DETAIL, plain(row->source, scratch));
}

static void print_rows(struct fr_text *text, const struct row *rows, int n) {
    struct fr_text scratch = {0};
    for (int i = 0; i < n; i++) print_row(text, &rows[i], &scratch);
    text->failed = text->failed || scratch.failed;
    fr_text_free(&scratch);
}

static void print_json(struct fr_text *text, const char *table, const struct row *rows, int n) {
    struct fr_json_writer w = {.text = text, .indent = 2};
    fr_json_begin_object(&w);
    fr_json_add_string(&w, "schema", "forerun/list/1");
    fr_json_add_string(&w, "table", table);
    fr_json_add_array(&w, "rows");
    for (int i = 0; i < n; i++) {
        fr_json_begin_object(&w);
        fr_json_add_string(&w, "name", rows[i].name);
        fr_json_add_string(&w, "what", rows[i].what);
        fr_json_add_string(&w, "detail", rows[i].detail);
        fr_json_add_string(&w, "source", rows[i].source);
        fr_json_end_object(&w);
    }
    fr_json_end_array(&w);
    fr_json_end_object(&w);
}

static void print_names(const struct table *table, const struct row *rows, int n,
                        struct fr_text *text) {
    const char *names[ROWS_MAX];
    for (int i = 0; i < n; i++) names[i] = rows[i].name;
    table->print(text, names, n);
}

static fr_status run(const struct fr_args *args, struct fr_error *err) {
    struct row rows[ROWS_MAX];
    struct fr_text text = {0}, page = {0};
    const char *known[N_TABLES + 1] = {NULL};
    for (int i = 0; i < N_TABLES; i++) known[i] = tables[i].name;
    if (args->n_words == 0) {
        for (int i = 0; i < N_TABLES; i++) {
            fr_text_addf(&text, "forerun list %-12s ", tables[i].name);
            fr_wrap_cell(&text, 26, tables[i].summary);
        }
        return fr_app_print(&text, err);
    }
    for (int i = 0; i < N_TABLES; i++) {
        if (strcmp(tables[i].name, args->word[0]) != 0) continue;
        int n = tables[i].fill(rows);
        if (fr_args_has(args, "json"))
            print_json(&text, tables[i].name, rows, n);
        else if (tables[i].print)
            print_names(&tables[i], rows, n, &text);
        else
            print_rows(&text, rows, n);
        if (fr_app_paged(args)) print_json(&page, tables[i].name, rows, n);
        return fr_app_answer(args, &text, &page, err);
    }
    char tail[320];
    fr_meant_tail(args->word[0], known, tail, sizeof tail);
    return fr_fail(err, FR_ERR_USAGE, NULL, "there is no list \"%.40s\"%s", args->word[0],
                   *tail ? tail : "; forerun list names them");
}

static const char *word(int i) { return i < N_TABLES ? tables[i].name : NULL; }

const struct fr_verb fr_verb_list = {
    .name = "list",
    .summary = "collectives, methods, forms, kinds, presets, figures",
    .usage = "[TABLE] [--json]",
    .options = options,
    .word = word,
    .run = run,
};
