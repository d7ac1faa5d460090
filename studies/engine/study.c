#include "studies/engine/study.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/describe/statements.h"
#include "models/outcome/energy.h"

struct named {
    char name[FR_TERM_NAME_MAX];
    struct fr_term value;
};

struct priced {
    struct fr_outcome out;
    double low_J, high_J;
};

struct fr_study {
    const struct fr_study_text *of;
    void *context;
    struct fr_reproduction *r;
    struct named *named;
    struct priced *priced;
    int n_named, most_named, n_priced, most_priced;
};

static fr_status no_memory(struct fr_error *err) {
    return fr_fail(err, FR_ERR_NOMEM, NULL, "out of memory");
}

/* ---- names ------------------------------------------------------------------------------------ */

static fr_status set(struct fr_study *s, const char *name, const struct fr_term *value,
                     struct fr_error *err) {
    int i = 0;
    while (i < s->n_named && strcmp(s->named[i].name, name) != 0) i++;
    if (i == s->most_named) {
        int most = 2 * i + 64;
        struct named *grown = fr_realloc(s->named, (size_t)most, sizeof *grown);
        if (!grown) return no_memory(err);
        s->named = grown;
        s->most_named = most;
    }
    if (i == s->n_named) s->n_named++;
    snprintf(s->named[i].name, sizeof s->named[i].name, "%s", name);
    s->named[i].value = *value;
    return FR_OK;
}

static fr_status set_number(struct fr_study *s, const char *name, double number,
                            struct fr_error *err) {
    const struct fr_term value = fr_term_number(number);
    return set(s, name, &value, err);
}

static const struct fr_term *find(const struct fr_study *s, const char *name) {
    for (int i = 0; i < s->n_named; i++)
        if (strcmp(s->named[i].name, name) == 0) return &s->named[i].value;
    return NULL;
}

/* ---- outcomes --------------------------------------------------------------------------------- */

fr_status fr_say(struct fr_study_call *call, double number) {
    *call->out = fr_term_number(number);
    return FR_OK;
}

fr_status fr_say_outcome(struct fr_study_call *call, const struct fr_outcome *outcome,
                         const struct fr_cluster *cluster) {
    struct fr_study *s = call->study;
    if (s->n_priced == s->most_priced) {
        int most = 2 * s->n_priced + 64;
        struct priced *grown = fr_realloc(s->priced, (size_t)most, sizeof *grown);
        if (!grown) return no_memory(call->err);
        s->priced = grown;
        s->most_priced = most;
    }
    struct priced *p = &s->priced[s->n_priced];
    *p = (struct priced){*outcome, NAN, NAN};
    if (cluster) fr_energy_interval(cluster, outcome, &p->low_J, &p->high_J);
    p->out.plan = fr_plan_default(); /* its own may point into a job */
    return fr_say(call, s->n_priced++);
}

static bool fact(const struct priced *p, const char *name, double *value) {
    const struct fr_outcome *o = &p->out;
    const struct {
        const char *name;
        double value;
    } facts[] = {{"time_s", o->time_s},
                 {"energy_J", o->energy_J},
                 {"memory_peak_B", o->memory_peak_B},
                 {"memory_spare_B", o->memory_spare},
                 {"parameters", o->parameters},
                 {"parameters_rank", o->parameters_rank_max},
                 {"low_s", o->low_s},
                 {"high_s", o->high_s},
                 {"low_J", p->low_J},
                 {"high_J", p->high_J},
                 {"feasible", o->reasons == 0},
                 {"short_of_memory", (o->reasons & FR_BECAUSE(FR_REASON_MEMORY)) != 0}};
    for (size_t i = 0; i < sizeof facts / sizeof *facts; i++)
        if (strcmp(facts[i].name, name) == 0) return *value = facts[i].value, true;
    for (int i = 0; i < FR_PART_COUNT; i++)
        if (strcmp(fr_part_names[i], name) == 0) return *value = o->part_s[i], true;
    return false;
}

/* Fact of "o.time_s", or of "#3.time_s" as calls are read. */
static fr_status fact_of(const struct fr_study *s, const char *name, struct fr_term *out) {
    char before[FR_TERM_NAME_MAX];
    const char *dot = strrchr(name, '.');
    if (!dot) return FR_ERR_UNSUPPORTED;
    snprintf(before, sizeof before, "%.*s", (int)(dot - name), name);
    const struct fr_term *of = find(s, before);
    double number = *before == '#' ? strtod(before + 1, NULL)
                    : of           ? fr_term_as_number(of)
                                   : NAN,
           value;
    if (!(number >= 0 && number < s->n_priced)) return FR_ERR_UNSUPPORTED;
    if (!fact(&s->priced[(int)number], dot + 1, &value)) return FR_ERR_UNSUPPORTED;
    *out = fr_term_number(value);
    return FR_OK;
}

/* ---- expressions ------------------------------------------------------------------------------ */

static fr_status name_of(void *context, const char *name, struct fr_term *out,
                         struct fr_error *err) {
    const struct fr_study *s = context;
    const struct fr_term *value = find(s, name);
    (void)err;
    if (value)
        *out = *value;
    else if (strcmp(name, "nan") == 0)
        *out = fr_term_number(NAN);
    else if (strcmp(name, "infinity") == 0)
        *out = fr_term_number(INFINITY);
    else
        return fact_of(s, name, out);
    return FR_OK;
}

static fr_status call_of(void *context, const char *name, const struct fr_term_argument *a,
                         int n, struct fr_term *out, struct fr_error *err) {
    struct fr_study *s = context;
    char path[FR_TERM_NAME_MAX];
    for (const struct fr_study_function *f = s->of->functions; f->name; f++)
        if (strcmp(f->name, name) == 0)
            return f->call(&(struct fr_study_call){s, s->context, a, n, out, err});
    if (strcmp(name, "fact") != 0 || n != 2) return FR_ERR_UNSUPPORTED;
    snprintf(path, sizeof path, "#%.0f.%.40s", a[0].value.number, a[1].value.text);
    return fact_of(s, path, out);
}

static struct fr_meaning meaning(struct fr_study *s) {
    return (struct fr_meaning){name_of, call_of, s};
}

static fr_status value_of(struct fr_study *s, const char *text, struct fr_term *value,
                          struct fr_error *err) {
    const struct fr_meaning m = meaning(s);
    return fr_expression(text, &m, value, err);
}

static fr_status number_of(struct fr_study *s, const char *text, double *number,
                           struct fr_error *err) {
    struct fr_term value;
    FR_TRY(value_of(s, text, &value, err));
    *number = fr_term_as_number(&value);
    return FR_OK;
}

static const struct fr_term *argument(const struct fr_study_call *call, const char *name,
                                      int place) {
    const struct fr_term_argument *a = call->arguments;
    for (int i = 0; i < call->n; i++)
        if (strcmp(a[i].name, name) == 0 || (i == place && !*a[i].name)) return &a[i].value;
    return NULL;
}

double fr_call_number(const struct fr_study_call *call, const char *name, int place,
                      double absent) {
    const struct fr_term *value = argument(call, name, place);
    return value ? fr_term_as_number(value) : absent;
}

const char *fr_call_word(const struct fr_study_call *call, const char *name, int place) {
    const struct fr_term *value = argument(call, name, place);
    return value ? value->text : "";
}

fr_status fr_call_set(struct fr_study_call *call, const char *name, double value) {
    return set_number(call->study, name, value, call->err);
}

double fr_call_cell(const struct fr_study_call *call, const char *name, int index) {
    char cell[FR_TERM_NAME_MAX];
    snprintf(cell, sizeof cell, "%s[%d]", name, index);
    const struct fr_term *value = find(call->study, cell);
    return value ? fr_term_as_number(value) : NAN;
}

/* ---- rows ------------------------------------------------------------------------------------- */

struct row {
    char id[sizeof((struct fr_reproduce_row *)0)->id];
    char note[sizeof((struct fr_reproduce_row *)0)->note];
    char unit[FR_REPRODUCE_UNIT];
    double ours, published, within, low, high;
    double holds; /* NaN: it is not judged; -1: not said */
    bool detail;
};

/* The next clause, up to "; " or the end, into @p clause.  @return what follows. */
static const char *next_clause(const char *text, char clause[FR_TERM_TEXT_MAX]) {
    const char *end = strstr(text, "; ");
    size_t n = end ? (size_t)(end - text) : strlen(text);
    snprintf(clause, FR_TERM_TEXT_MAX, "%.*s", (int)n, text);
    return end ? end + 2 : text + n;
}

static fr_status take_clause(struct fr_study *s, const char *clause, struct row *row,
                             struct fr_error *err) {
    const char *what;
    struct {
        const char *name;
        double *to;
    } numbers[] = {{"published", &row->published},
                   {"within", &row->within},
                   {"low", &row->low},
                   {"high", &row->high},
                   {"holds", &row->holds}};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        if (!(what = fr_statement_after(clause, numbers[i].name))) continue;
        FR_TRY(number_of(s, what, numbers[i].to, err));
        return FR_OK;
    }
    if ((what = fr_statement_after(clause, "unit")))
        snprintf(row->unit, sizeof row->unit, "%s", what);
    else if (fr_statement_after(clause, "detail"))
        row->detail = true;
    else
        return fr_fail(err, FR_ERR_INPUT, NULL,
                       "\"%.40s\": expected published, within, unit, low, high, holds, detail "
                       "or note",
                       clause);
    return FR_OK;
}

static fr_status read_row(struct fr_study *s, const char *text, struct row *row,
                          struct fr_error *err) {
    char clause[FR_TERM_TEXT_MAX];
    const struct fr_meaning m = meaning(s);
    const char *equals = strstr(text, " = ");
    *row = (struct row){.published = NAN, .low = NAN, .high = NAN, .unit = "1", .holds = -1};
    if (!equals)
        return fr_fail(err, FR_ERR_INPUT, NULL, "\"%.40s\": expected ID = VALUE", text);
    snprintf(clause, sizeof clause, "%.*s", (int)(equals - text), text);
    FR_TRY(fr_template(clause, &m, row->id, sizeof row->id, err));
    text = next_clause(equals + 3, clause);
    FR_TRY(number_of(s, clause, &row->ours, err));
    while (*text) {
        const char *note = fr_statement_after(text, "note");
        if (note) return fr_template(note, &m, row->note, sizeof row->note, err);
        text = next_clause(text, clause);
        FR_TRY(take_clause(s, clause, row, err));
    }
    return FR_OK;
}

static fr_status add_row(struct fr_study *s, int role, const char *text, struct fr_error *err) {
    struct row row;
    FR_TRY(read_row(s, text, &row, err));
    fr_reproduce_add(s->r, (fr_role)role, row.published, row.ours, row.unit, row.within,
                     row.note, "%s", row.id);
    if (row.holds >= 0) fr_reproduce_judge(s->r, row.holds != 0);
    if (isnan(row.holds) && !s->r->failed)
        s->r->rows[s->r->count - 1].judged = s->r->rows[s->r->count - 1].holds = false;
    if (!isnan(row.high)) fr_reproduce_interval(s->r, row.low, row.high);
    if (!s->r->failed && row.detail) s->r->rows[s->r->count - 1].detail = true;
    return s->r->failed ? no_memory(err) : FR_OK;
}

static fr_status add_point(struct fr_study *s, const char *text, struct fr_error *err) {
    struct row row;
    FR_TRY(read_row(s, text, &row, err));
    fr_reproduce_add_point(s->r, row.ours, row.unit, "%s", row.id);
    if (s->r->failed) return no_memory(err);
    s->r->rows[s->r->count - 1].published = row.published;
    if (!isnan(row.high)) fr_reproduce_interval(s->r, row.low, row.high);
    return FR_OK;
}

static fr_status add_ordering(struct fr_study *s, const char *text, struct fr_error *err) {
    struct row row;
    FR_TRY(read_row(s, text, &row, err));
    fr_reproduce_add_ordering(s->r, row.ours != 0, row.note, "%s", row.id);
    return s->r->failed ? no_memory(err) : FR_OK;
}

static int role_called(const char *name, size_t n) {
    for (int i = 0; fr_role_names[i]; i++)
        if (strlen(fr_role_names[i]) == n && strncmp(fr_role_names[i], name, n) == 0) return i;
    return -1;
}

/* "role X ID = ...": X is one word, a name. */
static fr_status add_of_role(struct fr_study *s, const char *text, struct fr_error *err) {
    char word[FR_TERM_TEXT_MAX];
    struct fr_term role;
    size_t n = strcspn(text, " ");
    snprintf(word, sizeof word, "%.*s", (int)n, text);
    FR_TRY(value_of(s, word, &role, err));
    int which = role_called(role.text, strlen(role.text));
    if (which < 0) return fr_fail(err, FR_ERR_INPUT, NULL, "\"%.40s\" is no role", role.text);
    return add_row(s, which, text + n + strspn(text + n, " "), err);
}

/* ---- statements ------------------------------------------------------------------------------- */

/* "gain[k] = X": the name with its index computed. */
static fr_status let(struct fr_study *s, const char *text, struct fr_error *err) {
    char name[FR_TERM_TEXT_MAX], whole[FR_TERM_NAME_MAX];
    struct fr_term value;
    const char *equals = strstr(text, " = ");
    if (!equals)
        return fr_fail(err, FR_ERR_INPUT, NULL, "\"%.40s\": expected NAME = VALUE", text);
    FR_TRY(value_of(s, equals + 3, &value, err));
    size_t n = strcspn(text, "[ ");
    snprintf(whole, sizeof whole, "%.*s", (int)n, text);
    if (text[n] == '[') {
        double index;
        snprintf(name, sizeof name, "%.*s", (int)(strcspn(text, "]") - n - 1), text + n + 1);
        FR_TRY(number_of(s, name, &index, err));
        size_t used = strlen(whole);
        fr_line_addf(whole, sizeof whole, &used, "[%.12g]", index);
    }
    return set(s, whole, &value, err);
}

static fr_status table(struct fr_study *s, const char *text, struct fr_error *err) {
    enum { COLUMNS_MAX = 16 };
    char column[COLUMNS_MAX][32], name[FR_TERM_NAME_MAX];
    int columns = 0, cells = 0;
    while (*text && *text != ':') {
        size_t n = strcspn(text, " :");
        if (columns == COLUMNS_MAX || n >= sizeof *column)
            return fr_fail(err, FR_ERR_INPUT, NULL, "\"%.40s\": too many or too long", text);
        snprintf(column[columns++], sizeof *column, "%.*s", (int)n, text);
        text += n + strspn(text + n, " ");
    }
    for (text += *text == ':'; *(text += strspn(text, " ")); cells++) {
        char *end = NULL;
        double value = strtod(text, &end);
        if (end == text || columns == 0)
            return fr_fail(err, FR_ERR_INPUT, NULL, "\"%.40s\": expected a number", text);
        snprintf(name, sizeof name, "%s[%d]", column[cells % columns], cells / columns);
        FR_TRY(set_number(s, name, value, err));
        text = end;
    }
    if (columns == 0 || cells % columns != 0)
        return fr_fail(err, FR_ERR_INPUT, NULL, "%d cells in %d columns", cells, columns);
    return set_number(s, "rows", cells / columns, err);
}

static fr_status run(struct fr_study *s, const char *text, struct fr_error *err) {
    const char *what;
    struct fr_term value;
    int role = role_called(text, strcspn(text, " "));
    if ((what = fr_statement_after(text, "ordering"))) return add_ordering(s, what, err);
    if (role >= 0) return add_row(s, role, text + strlen(fr_role_names[role]) + 1, err);
    if ((what = fr_statement_after(text, "role"))) return add_of_role(s, what, err);
    if ((what = fr_statement_after(text, "point"))) return add_point(s, what, err);
    if ((what = fr_statement_after(text, "let"))) return let(s, what, err);
    if ((what = fr_statement_after(text, "table"))) return table(s, what, err);
    if ((what = fr_statement_after(text, "do"))) return value_of(s, what, &value, err);
    return fr_fail(err, FR_ERR_INPUT, NULL,
                   "\"%.40s\" is no statement; expected let, table, for, when, do, a role, "
                   "role, point or ordering",
                   text);
}

static bool opens(const char *text) {
    return fr_statement_after(text, "for") || fr_statement_after(text, "when") ||
           fr_statement_after(text, "part");
}

/* Where the block that opens at @p from has its `else`, or its `end` where it has none. */
static int closing(const struct fr_statements *all, int from, bool or_else) {
    int depth = 0;
    for (int i = from; i < all->n; i++) {
        if (opens(all->item[i].text)) depth++;
        if (or_else && depth == 1 && fr_statement_after(all->item[i].text, "else")) return i;
        if (fr_statement_after(all->item[i].text, "end") && --depth == 0) return i;
    }
    return all->n;
}

static fr_status run_all(struct fr_study *s, const struct fr_statements *all, int from, int to,
                         struct fr_error *err);

/* "K in 8, 16, 32" */
static fr_status each_of(struct fr_study *s, const char *name, const char *list,
                         const struct fr_statements *all, int from, int to,
                         struct fr_error *err) {
    while (*list) {
        char one[FR_TERM_TEXT_MAX];
        struct fr_term value;
        size_t n = strcspn(list, ",");
        snprintf(one, sizeof one, "%.*s", (int)n, list);
        FR_TRY(value_of(s, one, &value, err));
        FR_TRY(set(s, name, &value, err));
        FR_TRY(run_all(s, all, from, to, err));
        list += n + (list[n] == ',');
    }
    return FR_OK;
}

/* "K from A to B times T", "... step T" */
static fr_status count(struct fr_study *s, const char *name, const char *range,
                       const struct fr_statements *all, int from, int to,
                       struct fr_error *err) {
    char part[3][FR_TERM_TEXT_MAX] = {"", "", "1"};
    const char *until = strstr(range, " to "), *times = strstr(range, " times "),
               *step = strstr(range, " step "), *by = times ? times : step;
    double at, last, factor;
    if (!until)
        return fr_fail(err, FR_ERR_INPUT, NULL, "\"%.40s\": expected from A to B", range);
    size_t n = by ? (size_t)(by - until - 4) : strlen(until + 4);
    snprintf(part[0], sizeof part[0], "%.*s", (int)(until - range), range);
    snprintf(part[1], sizeof part[1], "%.*s", (int)n, until + 4);
    if (by) snprintf(part[2], sizeof part[2], "%s", by + (times ? 7 : 6));
    FR_TRY(number_of(s, part[0], &at, err));
    FR_TRY(number_of(s, part[1], &last, err));
    FR_TRY(number_of(s, part[2], &factor, err));
    if (!(times ? at > 0 && factor > 1 : factor > 0))
        return fr_fail(err, FR_ERR_INPUT, NULL, "\"%.40s\" does not end", range);
    for (; at <= last; at = times ? at * factor : at + factor) {
        FR_TRY(set_number(s, name, at, err));
        FR_TRY(run_all(s, all, from, to, err));
    }
    return FR_OK;
}

static fr_status loop(struct fr_study *s, const char *text, const struct fr_statements *all,
                      int from, int to, struct fr_error *err) {
    char name[FR_TERM_NAME_MAX];
    size_t n = strcspn(text, " ");
    snprintf(name, sizeof name, "%.*s", (int)n, text);
    if (strncmp(text + n, " in ", 4) == 0)
        return each_of(s, name, text + n + 4, all, from, to, err);
    if (strncmp(text + n, " from ", 6) == 0)
        return count(s, name, text + n + 6, all, from, to, err);
    return fr_fail(err, FR_ERR_INPUT, NULL, "\"%.40s\": expected in or from", text);
}

/* A part that reads an absent file is left out, and a row states that. */
static fr_status part(struct fr_study *s, const struct fr_statements *all, int from, int to,
                      struct fr_error *err) {
    struct fr_error why = {0};
    fr_status status = run_all(s, all, from, to, &why);
    if (status == FR_ERR_IO)
        fr_reproduce_add(s->r, FR_ROLE_NOT_EXPLAINED, NAN, NAN, "1", 0, why.detail,
                         "skipped/%s", why.where);
    else if (status != FR_OK && err)
        *err = why;
    return status == FR_ERR_IO ? FR_OK : status;
}

static fr_status block(struct fr_study *s, const struct fr_statements *all, int from, int end,
                       struct fr_error *err) {
    const char *range = fr_statement_after(all->item[from].text, "for");
    if (end == all->n) return fr_fail(err, FR_ERR_INPUT, NULL, "has no end");
    if (range) return loop(s, range, all, from + 1, end, err);
    if (fr_statement_after(all->item[from].text, "part"))
        return part(s, all, from + 1, end, err);
    struct fr_term condition;
    int other = closing(all, from, true);
    FR_TRY(value_of(s, fr_statement_after(all->item[from].text, "when"), &condition, err));
    if (fr_term_is_true(&condition)) return run_all(s, all, from + 1, other, err);
    return run_all(s, all, other + (other < end), end, err);
}

static fr_status run_all(struct fr_study *s, const struct fr_statements *all, int from, int to,
                         struct fr_error *err) {
    for (int i = from; i < to; i++) {
        struct fr_error why = {0};
        char where[80];
        int end = opens(all->item[i].text) ? closing(all, i, false) : i;
        fr_status status =
            end > i ? block(s, all, i, end, &why) : run(s, all->item[i].text, &why);
        if (status != FR_OK) {
            snprintf(where, sizeof where, "study %.40s:%d", s->of->name, all->item[i].line);
            return fr_fail(err, status, *why.where ? why.where : where, "%s", why.detail);
        }
        i = end;
    }
    return FR_OK;
}

fr_status fr_study_run(const struct fr_study_text *of, void *context, struct fr_reproduction *r,
                       struct fr_error *err) {
    struct fr_study s = {.of = of, .context = context, .r = r};
    struct fr_statements all;
    fr_status status = fr_statements_read(of->text, &all, err);
    if (status == FR_OK) status = run_all(&s, &all, 0, all.n, err);
    fr_statements_free(&all);
    free(s.named);
    free(s.priced);
    return status;
}
