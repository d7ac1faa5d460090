#include "models/job/runtime.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "models/job/assume.h"
#include "models/job/condition.h"
#include "models/job/preset.h"
#include "models/job/release.h"

static const char kind[] = "runtime";
static const char *const defaults[] = {"2019", "modern", NULL};

/* ---- facts --------------------------------------------------------------------------------------- */

#define NO_DATE "is \"%.40s\"; expected a date as 2026, 2026-06 or 2026-06-30"

/* A date, or the beginning of one: 2026, 2026-06, 2026-06-30. */
static bool is_date(const char *text) {
    static const char form[] = "0000-00-00";
    size_t length = strlen(text);
    if (length != 4 && length != 7 && length != 10) return false;
    for (size_t i = 0; i < length; i++)
        if (form[i] == '0' ? text[i] < '0' || text[i] > '9' : text[i] != '-') return false;
    return true;
}

static fr_status read_date(const struct fr_json *object, bool required, char date[16],
                           struct fr_error *err) {
    struct fr_json node = fr_json_member(object, "date");
    FR_TRY(fr_json_get_string(object, "date", required, date, 16, err));
    if (*date && !is_date(date)) return fr_json_fail(&node, err, NO_DATE, date);
    return FR_OK;
}

/* The value of a key of the plan, which its own reader checks; words that stand for a rule of ours are no values of it. */
static fr_status read_plan_value(const struct fr_fact_row *row, const struct fr_json *node,
                                 struct fr_fact *fact, struct fr_error *err) {
    struct fr_text text = {0};
    struct fr_json_writer w = {.text = &text};
    fr_json_put_copy(&w, node);
    fr_status status = text.failed ? fr_fail(err, FR_ERR_NOMEM, NULL, "out of memory")
                       : text.length >= sizeof fact->text
                           ? fr_json_fail(node, err, "is too long")
                           : FR_OK;
    if (status == FR_OK) memcpy(fact->text, fr_text_get(&text), text.length + 1);
    fr_text_free(&text);
    FR_TRY(status);
    struct fr_plan read;
    struct fr_error why = {0};
    status = fr_assume_read(row->plan_key, fact->text, &read, &why);
    return status == FR_ERR_INPUT ? fr_json_fail(node, err, "%.400s", why.detail) : status;
}

/* Is @p text one of @p words, "bf16|fp32"? */
static bool is_word(const char *words, const char *text, int *which) {
    size_t length = strlen(text);
    for (*which = 0; *words; ++*which) {
        size_t n = strcspn(words, "|");
        if (n == length && strncmp(words, text, n) == 0) return true;
        words += n + (words[n] == '|');
    }
    return false;
}

static fr_status read_value(const struct fr_fact_row *row, const struct fr_json *node,
                            struct fr_fact *fact, struct fr_error *err) {
    if (fr_json_is_null(node)) {
        fact->none = true;
        return FR_OK;
    }
    if (row->kind == FR_FACT_PLAN) return read_plan_value(row, node, fact, err);
    if (row->word) {
        const char *text = NULL;
        int which = 0;
        FR_TRY(fr_json_text(node, &text, err));
        if (!is_word(row->word, text, &which))
            return fr_json_fail(node, err, "is \"%.40s\"; expected one of %s, or null", text,
                                row->word);
        fact->number = which;
        snprintf(fact->text, sizeof fact->text, "%s", text);
        return FR_OK;
    }
    return row->is_quantity ? fr_json_quantity(node, row->quantity, row->least, row->most,
                                               &fact->number, err)
                            : fr_json_number(node, row->least, row->most, &fact->number, err);
}

const char *fr_fact_text(const struct fr_fact *fact, char *out, size_t capacity) {
    char number[32];
    const char *text =
        *fact->text ? fact->text : fr_number_write(fact->number, number, sizeof number);
    size_t length = strlen(text), quoted = *text == '"' && length > 1;
    snprintf(out, capacity, "%.*s", (int)(length - 2 * quoted), text + quoted);
    return out;
}

static fr_status unknown(const struct fr_json *node, const char *key, const char *near,
                         struct fr_error *err) {
    return fr_json_fail(node, err, "\"%.60s\" is no fact of a runtime%s%s%s", key,
                        near ? "; did you mean \"" : "; forerun list facts has them",
                        near ? near : "", near ? "\"?" : "");
}

static fr_status read_condition(const struct fr_json *object, const struct fr_fact_row *row,
                                struct fr_fact *fact, struct fr_error *err) {
    struct fr_json node = fr_json_member(object, "when");
    if (!fr_json_present(&node)) return FR_OK;
    if (row->kind == FR_FACT_DEVICE || row->kind == FR_FACT_SOFTWARE)
        return fr_json_fail(&node, err, "is said of a %s value, which holds for every plan",
                            row->kind == FR_FACT_DEVICE ? "device's" : "release's");
    return fr_json_get_choice(object, "when", false, fr_condition_names, &fact->when, err);
}

static fr_status read_fact(const struct fr_json *object, struct fr_fact *fact,
                           struct fr_error *err) {
    static const char *const keys[] = {"key",    "value", "of",   "when", "width",
                                       "source", "date",  "note", NULL};
    struct fr_json node = fr_json_member(object, "key"),
                   value = fr_json_member(object, "value"),
                   width = fr_json_member(object, "width");
    const char *key = NULL, *near = NULL;
    FR_TRY(fr_json_object(object, keys, err));
    if (!fr_json_present(&node)) return fr_json_fail(object, err, "has no \"key\"");
    if (!fr_json_present(&value)) return fr_json_fail(object, err, "has no \"value\"");
    FR_TRY(fr_json_text(&node, &key, err));
    fact->row = fr_fact_find(key, &near);
    if (fact->row < 0) return unknown(&node, key, near, err);
    const struct fr_fact_row *row = &fr_facts[fact->row];
    FR_TRY(read_value(row, &value, fact, err));
    if (fr_json_present(&width) && row->value == FR_VALUE_COUNT &&
        row->kind != FR_FACT_SOFTWARE)
        return fr_json_fail(&width, err, "is said of a value whose width nothing takes");
    FR_TRY(fr_json_get_number(object, "width", false, 0.001, 2, &fact->width, err));
    FR_TRY(read_condition(object, row, fact, err));
    FR_TRY(read_date(object, false, fact->date, err));
    fact->source = fr_json_text_at(object, "source");
    return FR_OK;
}

/* A generation or a device that the fact is of. */
static fr_status read_of(const struct fr_json *node, char *of, struct fr_error *err) {
    const char *text = NULL;
    FR_TRY(fr_json_text(node, &text, err));
    if (!*text || strlen(text) >= FR_RUNTIME_NAME)
        return fr_json_fail(node, err,
                            "is no name of a generation of devices or of a device, of 1 to %d "
                            "bytes",
                            FR_RUNTIME_NAME - 1);
    snprintf(of, FR_RUNTIME_NAME, "%s", text);
    return FR_OK;
}

static fr_status grow(struct fr_runtime *r, int more, struct fr_error *err) {
    if (r->n_facts + more > FR_RUNTIME_FACTS)
        return fr_fail(err, FR_ERR_INPUT, r->name, "has more than %d facts", FR_RUNTIME_FACTS);
    struct fr_fact *grown = fr_realloc(r->fact, (size_t)(r->n_facts + more), sizeof *grown);
    if (!grown) return fr_fail(err, FR_ERR_NOMEM, r->name, "out of memory");
    r->fact = grown;
    return FR_OK;
}

/* ---- files ---------------------------------------------------------------------------------------- */

static const char *const file_keys[] = {"name", "date",       "source", "defaults", "suits",
                                        "from", "costs_from", "facts",  NULL};

/* A file that is being read, and for which one. */
struct reading {
    const char *name;
    const struct reading *by;
    int depth;
};

static fr_status add_file(struct fr_runtime *r, const char *name, bool costs_only,
                          const struct reading *by, struct fr_error *err);

/* A name, or a list of them. */
static fr_status add_bases(struct fr_runtime *r, const struct fr_json *node, bool costs_only,
                           const struct reading *by, struct fr_error *err) {
    const char *name = NULL;
    if (!fr_json_present(node)) return FR_OK;
    if (!fr_json_is_array(node)) {
        FR_TRY(fr_json_text(node, &name, err));
        return add_file(r, name, costs_only, by, err);
    }
    FR_TRY(fr_json_array(node, 0, FR_RUNTIME_FILES, err));
    for (int64_t i = 0; i < fr_json_array_length(node); i++) {
        struct fr_json one = fr_json_element(node, i);
        FR_TRY(fr_json_text(&one, &name, err));
        FR_TRY(add_file(r, name, costs_only, by, err));
    }
    return FR_OK;
}

/* A fact once for each that it is of. */
static fr_status add_fact(struct fr_runtime *r, const struct fr_json *object, int file,
                          struct fr_error *err) {
    struct fr_fact fact = {.file = file};
    struct fr_json of = fr_json_member(object, "of");
    FR_TRY(read_fact(object, &fact, err));
    bool device = fr_facts[fact.row].kind == FR_FACT_DEVICE, listed = fr_json_is_array(&of);
    if (fr_json_present(&of) && !device)
        return fr_json_fail(&of, err,
                            "is said of what no device decides; give a condition, \"when\"");
    if (listed) FR_TRY(fr_json_array(&of, 1, FR_RUNTIME_FACTS, err));
    int64_t n = listed ? fr_json_array_length(&of) : 1;
    if (!device && fr_facts[fact.row].kind != FR_FACT_SOFTWARE && r->costs_only[file])
        return FR_OK;
    FR_TRY(grow(r, (int)n, err));
    for (int64_t i = 0; i < n; i++) {
        struct fr_json one = listed ? fr_json_element(&of, i) : of;
        if (fr_json_present(&one)) FR_TRY(read_of(&one, fact.of, err));
        r->fact[r->n_facts++] = fact;
    }
    return FR_OK;
}

static fr_status add_facts(struct fr_runtime *r, const struct fr_json *list, int file,
                           struct fr_error *err) {
    if (!fr_json_present(list)) return FR_OK;
    FR_TRY(fr_json_array(list, 0, FR_RUNTIME_FACTS, err));
    int64_t n = fr_json_array_length(list);
    for (int64_t i = 0; i < n; i++) {
        struct fr_json one = fr_json_element(list, i);
        FR_TRY(add_fact(r, &one, file, err));
    }
    return FR_OK;
}

/* Read the head of a runtime file. */
static fr_status read_head(const struct fr_json *root, char *name, char *date, bool *modern,
                           struct fr_error *err) {
    int which = 1;
    FR_TRY(fr_json_object(root, file_keys, err));
    FR_TRY(fr_json_get_string(root, "name", false, name, FR_RUNTIME_NAME, err));
    FR_TRY(read_date(root, false, date, err));
    FR_TRY(fr_json_get_choice(root, "defaults", false, defaults, &which, err));
    *modern = which == 1;
    return FR_OK;
}

/* Which of its files is the nearest preset whose facts it has; n_files: none. */
static int preset_of(const struct fr_runtime *r) {
    int i = 0;
    while (i < r->n_files && (r->costs_only[i] || !fr_preset_find(kind, r->named[i]))) i++;
    return i;
}

void fr_runtime_drift(const struct fr_runtime *r, struct fr_drift *drift) {
    const struct fr_fact *fact = NULL, *of_file = NULL;
    const char *date = r->usual.date;
    int base = preset_of(r);
    *drift = r->usual;
    snprintf(drift->date, sizeof drift->date, "%s", r->date);
    for (int i = 0; i < r->n_facts; i++) {
        if (r->fact[i].row != fr_fact_drift) continue;
        if (!fact) fact = &r->fact[i];
        if (!of_file && r->fact[i].file >= 0) of_file = &r->fact[i];
    }
    if (fact) drift->mean = fact->none ? 0 : fact->number;
    if (of_file) drift->width = of_file->none ? 0 : of_file->width;
    if (base < r->n_files) {
        snprintf(drift->since, sizeof drift->since, "%s", r->named[base]);
        date = r->dated[base];
    }
    double years = *drift->date && *date ? fr_drift_years(drift->date, date)
                   : base == 0           ? 0
                                         : FR_DRIFT_UNDATED_YEARS;
    drift->older = years < 0;
    drift->years = fabs(years);
}

static fr_status add_file(struct fr_runtime *r, const char *name, bool costs_only,
                          const struct reading *by, struct fr_error *err) {
    enum { DEEPEST = 40 };
    const struct reading reading = {name, by, by ? by->depth + 1 : 0};
    struct fr_json_document *document = NULL;
    char own[FR_RUNTIME_NAME] = "", date[16] = "";
    bool modern = true;
    int file = r->n_files;
    for (const struct reading *at = by; at; at = at->by)
        if (strcmp(at->name, name) == 0)
            return fr_fail(err, FR_ERR_INPUT, name, "comes from itself, by what \"%.80s\" says",
                           by->name);
    for (int i = 0; i < file; i++)
        if (strcmp(r->named[i], name) == 0 && r->costs_only[i] <= costs_only) return FR_OK;
    if (reading.depth > DEEPEST)
        return fr_fail(err, FR_ERR_INPUT, name,
                       "is what a runtime comes from by more than %d others in turn", DEEPEST);
    if (file == FR_RUNTIME_FILES)
        return fr_fail(err, FR_ERR_INPUT, r->name, "comes from more than %d files",
                       FR_RUNTIME_FILES);
    FR_TRY(fr_preset_or_file_read(kind, name, &document, err));
    r->file[r->n_files++] = document;
    r->costs_only[file] = costs_only;
    snprintf(r->named[file], sizeof r->named[file], "%s", name);
    struct fr_json root = fr_json_root(document), facts = fr_json_member(&root, "facts"),
                   from = fr_json_member(&root, "from"),
                   costs_from = fr_json_member(&root, "costs_from");
    FR_TRY(read_head(&root, file == 0 ? r->name : own, file == 0 ? r->date : date,
                     file == 0 ? &r->modern : &modern, err));
    snprintf(r->dated[file], sizeof r->dated[file], "%s", file == 0 ? r->date : date);
    if (file == 0)
        FR_TRY(fr_json_get_string(&root, "source", false, r->source, sizeof r->source, err));
    if (file == 0 && !*r->name)
        snprintf(r->name, sizeof r->name, "%s", fr_preset_or_file_shown(kind, name));
    FR_TRY(add_facts(r, &facts, file, err));
    FR_TRY(add_bases(r, &from, costs_only, &reading, err));
    return add_bases(r, &costs_from, true, &reading, err);
}

static bool states(const struct fr_runtime *r, int row) {
    for (int i = 0; i < r->n_facts; i++)
        if (r->fact[i].row == row) return true;
    return false;
}

/* Facts on releases from the newest preset of its year, where none of its own files states them. */
static fr_status find_usual(struct fr_runtime *r, struct fr_error *err) {
    char name[FR_RUNTIME_NAME];
    fr_release_newest(r->modern, "", NULL, name);
    if (!*name || strcmp(name, r->named[0]) == 0) return FR_OK;
    struct fr_runtime *newest = fr_calloc(1, sizeof *newest);
    if (!newest) return fr_fail(err, FR_ERR_NOMEM, name, "out of memory");
    fr_status status = fr_runtime_read(name, newest, err);
    if (status == FR_OK) fr_runtime_drift(newest, &r->usual);
    snprintf(r->usual.since, sizeof r->usual.since, "%s", name);
    snprintf(r->usual.date, sizeof r->usual.date, "%s", newest->date);
    fr_runtime_free(newest);
    free(newest);
    return status;
}

fr_status fr_runtime_read(const char *name, struct fr_runtime *runtime, struct fr_error *err) {
    *runtime = (struct fr_runtime){.modern = true};
    FR_TRY(add_file(runtime, name, false, NULL, err));
    return states(runtime, fr_fact_drift) && preset_of(runtime) < runtime->n_files
               ? FR_OK
               : find_usual(runtime, err);
}

void fr_runtime_free(struct fr_runtime *runtime) {
    for (int i = 0; i < runtime->n_files; i++) fr_json_free(runtime->file[i]);
    free(runtime->fact);
    *runtime = (struct fr_runtime){0};
}

bool fr_runtime_is_set(const char *set) {
    size_t length = sizeof kind - 1;
    char next = strncmp(set, kind, length) == 0 ? set[length] : '\0';
    return next == '.' || next == '=';
}

fr_status fr_runtime_set(struct fr_runtime *runtime, const char *key, const char *text,
                         struct fr_error *err) {
    const char *near = NULL;
    struct fr_error why = {0};
    struct fr_fact fact = {.file = -1, .row = fr_fact_find(key, &near), .source = ""};
    struct fr_json_document *document = NULL;
    if (strcmp(key, "runtime.date") == 0 || strcmp(key, "date") == 0) {
        if (!is_date(text))
            return fr_fail(err, FR_ERR_USAGE, "--set", "runtime.date: " NO_DATE, text);
        snprintf(runtime->date, sizeof runtime->date, "%s", text);
        return FR_OK;
    }
    if (fact.row < 0) {
        return fr_fail(err, FR_ERR_USAGE, "--set", "\"%.60s\" is no fact of a runtime%s%s%s",
                       key,
                       near ? "; did you mean \"runtime." : "; forerun list facts has them",
                       near ? near : "", near ? "\"?" : "");
    }
    FR_TRY(fr_json_parse("{}", 2, "--set", &document, err));
    fr_status status = fr_json_set(document, "value", text, "--set", err);
    struct fr_json root = fr_json_root(document), value = fr_json_member(&root, "value");
    if (status == FR_OK) status = read_value(&fr_facts[fact.row], &value, &fact, &why);
    fr_json_free(document);
    if (status == FR_ERR_INPUT)
        return fr_fail(err, FR_ERR_USAGE, "--set", "%.100s %.400s", key, why.detail);
    if (status == FR_ERR_NOMEM) return fr_fail(err, status, "--set", "out of memory");
    FR_TRY(status);
    FR_TRY(grow(runtime, 1, err));
    memmove(runtime->fact + 1, runtime->fact, (size_t)runtime->n_facts * sizeof fact);
    runtime->fact[0] = fact; /* the last one said goes first */
    runtime->n_facts++;
    return FR_OK;
}

/* ---- of others ------------------------------------------------------------------------------------- */

fr_status fr_runtime_copy(const struct fr_runtime *from, struct fr_runtime *runtime,
                          struct fr_error *err) {
    *runtime = (struct fr_runtime){.modern = from->modern};
    snprintf(runtime->name, sizeof runtime->name, "%s", from->name);
    snprintf(runtime->date, sizeof runtime->date, "%s", from->date);
    FR_TRY(grow(runtime, from->n_facts + 1, err));
    memcpy(runtime->fact, from->fact, (size_t)from->n_facts * sizeof *from->fact);
    runtime->n_facts = from->n_facts;
    return FR_OK;
}

/* Files are distinguished by their numbers alone, in each row by itself. */
static void take_rows(const struct fr_runtime *from, const bool *taken, bool wanted,
                      struct fr_runtime *made) {
    for (int i = 0; i < from->n_facts; i++)
        if (from->fact[i].file >= 0 && taken[from->fact[i].row] == wanted)
            made->fact[made->n_facts++] = from->fact[i];
}

fr_status fr_runtime_mix(const struct fr_runtime *first, const struct fr_runtime *later,
                         const bool *taken, struct fr_runtime *made, struct fr_error *err) {
    *made = (struct fr_runtime){.modern = first->modern};
    snprintf(made->name, sizeof made->name, "%s", first->name);
    snprintf(made->date, sizeof made->date, "%s", first->date);
    made->fact = fr_calloc((size_t)(first->n_facts + later->n_facts) + 1, sizeof *made->fact);
    if (!made->fact) return fr_fail(err, FR_ERR_NOMEM, made->name, "out of memory");
    take_rows(first, taken, false, made);
    take_rows(later, taken, true, made);
    return FR_OK;
}

const char fr_runtime_2019[] = "papers-2019";

fr_status fr_runtime_join(struct fr_runtime *runtime, const char *name, struct fr_error *err) {
    return add_file(runtime, name, true, NULL, err);
}
