/* Real runs that nobody had looked at when they were first predicted: the functions that unseen.study calls.
 *
 *      read(FILE)                    predict the runs of a file, each on its own cluster; rows left out are counted
 *      table(NAME, by=COLUMN)        a row for each value of the column, the first word of note.source alone; without
 *                                    `by` one row of all runs
 *      set_on(WORDS, WHAT)           values of a shipped file, WHAT, were set on the runs of the cluster WORDS, or whose
 *                                    note.set holds them: these are called fitted
 *      rejects_below=P               judge whether the share of runs inside their 90 % intervals is likelier than P
 *      read(FILE, bare=WORD)         the runs with experts alone, as somebody knows them who knows the mesh (bare.h)
 *
 * A row is the mean error; its note, and rows of JSON, hold how many runs there are, median error, bias and coverage. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/parallel.h"
#include "studies/engine/study.h"
#include "studies/training/bare.h"
#include "studies/training/table.h"
#include "studies/training/unseen.h"
#include "trust/numbers/statistics.h"
#include "trust/runs/peak.h"
#include "trust/study.h"

enum { FILES_MAX = 8, KEY_MAX = 96, SET_ON_MAX = 16 };

static const double stated = 0.9; /* of rows inside their intervals */

struct all {
    struct fr_reproduction *r;
    struct fr_table_set set[FILES_MAX];
    int n_sets;
    const struct fr_run **runs; /* [n] of all files */
    struct fr_scored *scored, *some;
    int n;
    struct set_on {
        char of[48], what[96];
    } set_on[SET_ON_MAX];
    int n_set_on;
};

static fr_status no_memory(struct fr_error *err) {
    return fr_fail(err, FR_ERR_NOMEM, NULL, "out of memory");
}

/* ---- runs ----------------------------------------------------------------------------------- */

static fr_status set_on(struct fr_study_call *c) {
    struct all *all = c->context;
    if (all->n_set_on == SET_ON_MAX)
        return fr_fail(c->err, FR_ERR_INPUT, NULL, "more than %d of set_on", SET_ON_MAX);
    struct set_on *s = &all->set_on[all->n_set_on++];
    snprintf(s->of, sizeof s->of, "%s", fr_call_word(c, "of", 0));
    snprintf(s->what, sizeof s->what, "%s", fr_call_word(c, "what", 1));
    return FR_OK;
}

/* The values that were set on @p run, in words; NULL: none. */
static const char *set_on_run(const struct all *all, const struct fr_run *run) {
    static const char *const of_cluster[] = {"cluster", NULL}, *const of_set[] = {"note.set",
                                                                                  NULL};
    char cluster[KEY_MAX], set[KEY_MAX];
    fr_study_key(run, of_cluster, cluster, KEY_MAX);
    fr_study_key(run, of_set, set, KEY_MAX);
    for (int i = 0; i < all->n_set_on; i++)
        if (strcmp(cluster, all->set_on[i].of) == 0 || strstr(set, all->set_on[i].of))
            return all->set_on[i].what;
    return NULL;
}

/* Space for @p more runs. */
static bool grow(struct all *all, int more) {
    size_t n = (size_t)(all->n + more) + 1;
    const struct fr_run **runs = fr_realloc(all->runs, n, sizeof *runs);
    if (runs) all->runs = runs;
    struct fr_scored *scored = fr_realloc(all->scored, n, sizeof *scored);
    if (scored) all->scored = scored;
    struct fr_scored *some = fr_realloc(all->some, n, sizeof *some);
    if (some) all->some = some;
    return runs && scored && some;
}

/* One by one, in JSON. */
static void add_run(struct fr_reproduction *r, fr_role role, const struct fr_scored *s) {
    fr_reproduce_add(r, role, s->measured_s, s->predicted_s, "s", INFINITY, NULL, "run/%s",
                     s->id);
    if (isfinite(s->low_s)) fr_reproduce_interval(r, s->low_s, s->high_s);
    if (r->failed) return;
    struct fr_reproduce_row *row = &r->rows[r->count - 1];
    row->judged = row->holds = false;
    row->detail = true;
}

static fr_status read(struct fr_study_call *c) {
    struct all *all = c->context;
    const char *file = fr_call_word(c, "file", 0), *bare = fr_call_word(c, "bare", -1);
    if (all->n_sets == FILES_MAX)
        return fr_fail(c->err, FR_ERR_INPUT, NULL, "more than %d files", FILES_MAX);
    struct fr_table_set *set = &all->set[all->n_sets++];
    FR_TRY(fr_table_read(file, set, c->err));
    fr_runs_drop_impossible(&set->runs);
    if (*bare) FR_TRY(fr_bare_runs(bare, &set->runs, c->err));
    fr_table_left_out(all->r, file, &set->runs);
    if (!grow(all, set->runs.count)) return no_memory(c->err);
    const struct fr_run **runs = all->runs + all->n;
    int n = 0;
    for (int i = 0; i < set->runs.count; i++)
        if (set->runs.items[i].cluster) runs[n++] = &set->runs.items[i];
    if (n < set->runs.count)
        fr_reproduce_add(all->r, FR_ROLE_IDENTITY, NAN, set->runs.count - n, "rows", 0,
                         fr_run_skip_names[FR_RUN_NO_CLUSTER], "left_out/%s/no_cluster", file);
    FR_TRY(fr_study_each(runs, n, fr_processors(), all->scored + all->n, c->err));
    for (int i = 0; i < n; i++)
        add_run(all->r, set_on_run(all, runs[i]) ? FR_ROLE_FITTED : FR_ROLE_PREDICTED,
                &all->scored[all->n + i]);
    all->n += n;
    return FR_OK;
}

/* Runs of a row, of which values were set on some. */
struct rows {
    const struct fr_scored *scored;
    int n, n_set;
    const char *what;
};

/* The name of @p run in a table by @p column. */
static void key_of(const struct fr_run *run, const char *column, char key[KEY_MAX]) {
    const char *const columns[] = {column, NULL};
    fr_study_key(run, columns, key, KEY_MAX);
    if (strcmp(column, "note.source") == 0) key[strcspn(key, " ")] = '\0';
    if (!*key) snprintf(key, KEY_MAX, "not stated");
}

/* ---- rows ----------------------------------------------------------------------------------- */

static void add_detail(struct fr_reproduction *r, fr_role role, double ours, const char *id,
                       const char *what) {
    if (isnan(ours)) return;
    fr_reproduce_add(r, role, NAN, ours, "1", 0, NULL, "%s/%s", id, what);
    if (!r->failed) r->rows[r->count - 1].detail = true;
}

static fr_status add(struct fr_reproduction *r, const char *id, const struct rows *rows,
                     double rejects_below, struct fr_error *err) {
    struct fr_score s;
    char note[400];
    size_t used = 0;
    const fr_role role = rows->n_set == rows->n && rows->n ? FR_ROLE_FITTED : FR_ROLE_PREDICTED;
    FR_TRY(fr_score_make(rows->scored, rows->n, &s, err));
    int inside = isnan(s.coverage) ? 0 : (int)lround(s.coverage * s.n);
    double p = fr_binomial_likely((size_t)inside, (size_t)s.n, stated);
    bool rejected = p < rejects_below;
    if (s.n)
        fr_line_addf(note, sizeof note, &used,
                     "%d run%s: median %.1f %%, bias %+.1f %%; %d in their 90 %% intervals "
                     "(%.0f %%)",
                     s.n, s.n == 1 ? "" : "s", 100 * s.median_error, 100 * s.bias, inside,
                     100 * s.coverage);
    if (s.missing)
        fr_line_addf(note, sizeof note, &used, "%s%d without a prediction", s.n ? "; " : "",
                     s.missing);
    if (role == FR_ROLE_FITTED)
        fr_line_addf(note, sizeof note, &used, "; set on these: %s", rows->what);
    else if (rows->n_set)
        fr_line_addf(note, sizeof note, &used, "; values were set on %d of them", rows->n_set);
    if (rejected)
        fr_line_addf(note, sizeof note, &used,
                     "; rejected: honest intervals hold so %s with probability %.1g",
                     s.coverage < stated ? "few" : "many", p);
    fr_reproduce_add(r, role, NAN, s.mape, "1", 0, note, "%s/mean_error", id);
    if (rejects_below > 0) fr_reproduce_judge(r, !rejected);
    add_detail(r, role, s.n, id, "n");
    add_detail(r, role, s.median_error, id, "median_error");
    add_detail(r, role, s.bias, id, "bias");
    add_detail(r, role, s.coverage, id, "coverage");
    if (rejects_below > 0) add_detail(r, role, p, id, "probability");
    return r->failed ? no_memory(err) : FR_OK;
}

static fr_status table(struct fr_study_call *c) {
    struct all *all = c->context;
    const char *name = fr_call_word(c, "name", 0), *by = fr_call_word(c, "by", -1);
    double rejects_below = fr_call_number(c, "rejects_below", -1, 0);
    if (all->n && !*by) {
        struct rows whole = {.scored = all->scored, .n = all->n};
        for (int i = 0; i < all->n; i++) whole.n_set += set_on_run(all, all->runs[i]) != NULL;
        return add(all->r, name, &whole, rejects_below, c->err);
    }
    for (int i = 0; i < all->n; i++) {
        char key[KEY_MAX], other[KEY_MAX], id[2 * KEY_MAX];
        struct rows rows = {.scored = all->some};
        int first = 0;
        key_of(all->runs[i], by, key);
        for (bool same = false; !same; first += !same) {
            key_of(all->runs[first], by, other);
            same = strcmp(key, other) == 0;
        }
        if (first < i) continue;
        for (int k = i; k < all->n; k++) {
            key_of(all->runs[k], by, other);
            if (strcmp(key, other) != 0) continue;
            const char *what = set_on_run(all, all->runs[k]);
            if (what) rows.what = what, rows.n_set++;
            all->some[rows.n++] = all->scored[k];
        }
        snprintf(id, sizeof id, "%s/%s", name, key);
        FR_TRY(add(all->r, id, &rows, rejects_below, c->err));
    }
    return FR_OK;
}

fr_status fr_unseen_run(const char *name, const char *text, struct fr_reproduction *r,
                        struct fr_error *err) {
    static const struct fr_study_function functions[] = {
        {"set_on", set_on}, {"read", read}, {"table", table}, {NULL, NULL}};
    const struct fr_study_text study = {name, text, functions};
    struct all *all = fr_calloc(1, sizeof *all);
    if (!all) return no_memory(err);
    all->r = r;
    fr_status status = fr_study_run(&study, all, r, err);
    for (int i = 0; i < all->n_sets; i++) fr_table_free(&all->set[i]);
    free(all->runs);
    free(all->scored);
    free(all->some);
    free(all);
    return status;
}

static fr_status run(struct fr_reproduction *r, struct fr_error *err) {
    extern const char fr_study_unseen[];
    return fr_unseen_run("unseen", fr_study_unseen, r, err);
}

const struct fr_paper fr_paper_unseen = {
    .name = "unseen",
    .title = "runs by others, unseen when first predicted, under presets as shipped",
    .run = run,
    .measured = true,
};
