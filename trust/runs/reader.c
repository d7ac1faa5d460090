#include "trust/runs/reader.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#define FR_RUN_READER(name) extern const char fr_run_reader_##name[];
#include "trust/runs/reader_list.h"
#undef FR_RUN_READER

const struct fr_description fr_run_readers[] = {
#define FR_RUN_READER(name) {#name, fr_run_reader_##name},
#include "trust/runs/reader_list.h"
#undef FR_RUN_READER
    {NULL, NULL}};

/* ---- the file that it is of ------------------------------------------------------------------ */

fr_status fr_run_reader_open(const struct fr_description *of, struct fr_run_reader *reader,
                             struct fr_error *err) {
    *reader = (struct fr_run_reader){.of = of};
    FR_TRY(fr_statements_read(of->text, &reader->statements, err));
    for (int i = 0; i < reader->statements.n; i++)
        if (fr_statement_after(reader->statements.item[i].text, "strict"))
            reader->strict = true;
    return FR_OK;
}

void fr_run_reader_close(struct fr_run_reader *reader) {
    fr_statements_free(&reader->statements);
}

const char *fr_run_reader_says(const struct fr_run_reader *reader, const char *word) {
    const char *stated = NULL;
    for (int i = 0; i < reader->statements.n && !stated; i++)
        stated = fr_statement_after(reader->statements.item[i].text, word);
    return stated;
}

bool fr_run_reader_knows(const struct fr_run_reader *reader, const struct fr_csv *csv) {
    const char *at = fr_run_reader_says(reader, "columns");
    bool known = at != NULL;
    while (known && *at) {
        char column[FR_TERM_NAME_MAX];
        size_t n = strcspn(at, " ");
        snprintf(column, sizeof column, "%.*s", (int)n, at);
        known = fr_csv_find(csv, column) >= 0;
        at += n + strspn(at + n, " ");
    }
    return known;
}

/* ---- a row ------------------------------------------------------------------------------------ */

enum { LETS_MAX = 24 };

struct reading {
    const struct fr_run_source *in;
    struct fr_run_row *out;
    struct {
        char name[FR_TERM_NAME_MAX];
        struct fr_term value;
    } let[LETS_MAX];
    int n_lets;
    fr_run_skip skip;
};

static const char *const reasons[] = {
#define FR_RUN_SKIP_CODE(code, text) #code,
    FR_RUN_SKIP_LIST(FR_RUN_SKIP_CODE)
#undef FR_RUN_SKIP_CODE
};

static fr_status name_of(void *context, const char *name, struct fr_term *out,
                         struct fr_error *err) {
    const struct reading *r = context;
    (void)err;
    for (int i = r->n_lets - 1; i >= 0; i--)
        if (strcmp(r->let[i].name, name) == 0) return *out = r->let[i].value, FR_OK;
    const char *text = strchr(name, '.') ? fr_run_row_get(r->out, name)
                                         : fr_csv_get(r->in->csv, r->in->row, name);
    *out = fr_term_text(text ? text : "");
    return FR_OK;
}

static fr_status call_of(void *context, const char *name,
                         const struct fr_term_argument *arguments, int n, struct fr_term *out,
                         struct fr_error *err) {
    const struct reading *r = context;
    return fr_run_reader_call(r->in, r->out, name, arguments, n, out, err);
}

static fr_status value_of(struct reading *r, const char *text, struct fr_term *value,
                          struct fr_error *err) {
    const struct fr_meaning scope = {name_of, call_of, r};
    return fr_expression(text, &scope, value, err);
}

static void set(struct reading *r, const char *key, const struct fr_term *value) {
    if (value->kind == FR_TERM_NUMBER)
        fr_run_row_set(r->out, key, "%.9g", value->number);
    else if (value->kind == FR_TERM_TEXT)
        fr_run_row_set(r->out, key, "%s", value->text);
}

/* "KEY = X": @return X, and the key; NULL where it is another statement. */
static const char *assigned(const char *text, char key[FR_TERM_NAME_MAX]) {
    size_t n = 0;
    while (isalnum((unsigned char)text[n]) || text[n] == '_' || text[n] == '.') n++;
    if (n == 0 || n >= FR_TERM_NAME_MAX || strncmp(text + n, " = ", 3) != 0) return NULL;
    snprintf(key, FR_TERM_NAME_MAX, "%.*s", (int)n, text);
    return text + n + 3;
}

static fr_status assign(struct reading *r, const char *text, bool let, bool *found,
                        struct fr_error *err) {
    char key[FR_TERM_NAME_MAX];
    struct fr_term value;
    const char *what = assigned(text, key);
    if (!what || (let && r->n_lets == LETS_MAX))
        return fr_fail(err, FR_ERR_INPUT, NULL,
                       "\"%.40s\" is no statement; expected about, source, columns, strict, "
                       "use, skip, need, "
                       "let, do or KEY = VALUE",
                       text);
    FR_TRY(value_of(r, what, &value, err));
    *found = value.kind != FR_TERM_NONE;
    if (let) {
        snprintf(r->let[r->n_lets].name, sizeof r->let[0].name, "%s", key);
        r->let[r->n_lets++].value = value;
    } else
        set(r, key, &value);
    return FR_OK;
}

/* The reason that @p text begins with; @return what is behind it, or NULL. */
static const char *reason_of(const char *text, fr_run_skip *skip) {
    size_t n = strcspn(text, " ");
    for (int i = 1; i < FR_RUN_SKIP_COUNT; i++) {
        const char *name = reasons[i] + strlen("FR_RUN_");
        if (strlen(name) != n || strncasecmp(name, text, n) != 0) continue;
        *skip = (fr_run_skip)i;
        return text + n + strspn(text + n, " ");
    }
    return NULL;
}

/* Decide "skip REASON if X" and "need REASON ...". */
static fr_status decide(struct reading *r, const char *text, bool need, struct fr_error *err) {
    fr_run_skip skip = FR_RUN_USABLE;
    struct fr_term value;
    char key[FR_TERM_NAME_MAX];
    bool found = false;
    const char *what = reason_of(text, &skip);
    if (what && !need) what = fr_statement_after(what, "if");
    if (!what)
        return fr_fail(err, FR_ERR_INPUT, NULL,
                       "\"%.40s\": expected a reason of FR_RUN_SKIP_LIST%s", text,
                       need ? "" : ", and if");
    if (need && assigned(what, key)) {
        FR_TRY(assign(r, what, false, &found, err));
    } else {
        FR_TRY(value_of(r, what, &value, err));
        found = fr_term_is_true(&value) == need;
    }
    if (!found) r->skip = skip;
    return FR_OK;
}

static fr_status use(struct reading *r, const char *name, struct fr_error *err);

static fr_status run(struct reading *r, const char *text, struct fr_error *err) {
    const char *what;
    struct fr_term value;
    bool found;
    static const char *const heads[] = {"about", "source", "columns", "strict"};
    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++)
        if (fr_statement_after(text, heads[i])) return FR_OK;
    if ((what = fr_statement_after(text, "use"))) return use(r, what, err);
    if ((what = fr_statement_after(text, "do"))) return value_of(r, what, &value, err);
    if ((what = fr_statement_after(text, "skip"))) return decide(r, what, false, err);
    if ((what = fr_statement_after(text, "need"))) return decide(r, what, true, err);
    what = fr_statement_after(text, "let");
    return assign(r, what ? what : text, what != NULL, &found, err);
}

/* "when X" ... "end", and what stands between. */
static fr_status block(struct reading *r, const char *text, int *passed, struct fr_error *err) {
    const char *condition = fr_statement_after(text, "when");
    struct fr_term value;
    if (fr_statement_after(text, "end")) {
        *passed -= *passed > 0;
        return FR_OK;
    }
    if (!condition) return *passed ? FR_OK : run(r, text, err);
    if (*passed == 0) {
        FR_TRY(value_of(r, condition, &value, err));
        if (fr_term_is_true(&value)) return FR_OK;
    }
    ++*passed;
    return FR_OK;
}

static fr_status run_all(struct reading *r, const struct fr_run_reader *reader,
                         struct fr_error *err) {
    int passed = 0; /* so many blocks deep in what does not hold */
    for (int i = 0; i < reader->statements.n && r->skip == FR_RUN_USABLE; i++) {
        const struct fr_statement *s = &reader->statements.item[i];
        struct fr_error why = {0};
        char where[80];
        fr_status status = block(r, s->text, &passed, &why);
        if (status == FR_OK) continue;
        snprintf(where, sizeof where, "reader %.40s:%d", reader->of->name, s->line);
        return fr_fail(err, status, *why.where ? why.where : where, "%s", why.detail);
    }
    return FR_OK;
}

static fr_status use(struct reading *r, const char *name, struct fr_error *err) {
    struct fr_run_reader part;
    const struct fr_description *of = fr_run_readers;
    while (of->name && strcmp(of->name, name) != 0) of++;
    if (!of->name) return fr_fail(err, FR_ERR_INPUT, NULL, "no description \"%.40s\"", name);
    fr_status status = fr_run_reader_open(of, &part, err);
    if (status == FR_OK) status = run_all(r, &part, err);
    fr_run_reader_close(&part);
    return status;
}

fr_status fr_run_reader_row(const struct fr_run_reader *reader, const struct fr_run_source *in,
                            struct fr_run_row *out, fr_run_skip *skip, struct fr_error *err) {
    struct reading r = {.in = in, .out = out};
    FR_TRY(run_all(&r, reader, err));
    *skip = r.skip;
    return FR_OK;
}
