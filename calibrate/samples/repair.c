#include "calibrate/samples/repair.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/digest.h"
#include "base/file.h"
#include "base/journal/journal.h"
#include "base/sort.h"
#include "calibrate/samples/samples.h"

enum { LAUNCHES = 1000, NOT_STATED = -1 };

/* One repetition; id: a digest of its point and launch. */
struct sample {
    uint64_t id;
    int64_t rep, launch;
};

/* A line "point" or "end". */
struct verdict {
    const char *text;
    size_t length;
    uint64_t id; /* 0: of a launch's end */
    int64_t launch, n;
    bool drop;
};

struct repair {
    struct sample *sample;
    struct verdict *verdict;
    size_t n_samples, n_verdicts;
    bool lost[LAUNCHES]; /* something of this launch */
    int last_number;
    int64_t last_launch;
    bool gap; /* lines before the first that names a launch */
};

static bool is_launch(int64_t launch) { return launch >= 0 && launch < LAUNCHES; }

static uint64_t id_of(const char *key, int64_t launch) {
    uint64_t id = fr_digest_bytes(FR_DIGEST_START, key, strlen(key));
    return fr_digest(id, &launch, 1) | 1;
}

/* Lines stand in the order of time: one that is missing is of the launch that its neighbours are of. */
static void note_gap(struct repair *r, const struct fr_journal_line *line, int64_t launch) {
    bool gap = line->number != r->last_number + 1;
    r->last_number = line->number;
    if (gap && is_launch(r->last_launch)) r->lost[r->last_launch] = true;
    r->gap = r->gap || (gap && !is_launch(r->last_launch));
    if (!is_launch(launch)) return;
    if (r->gap) r->lost[launch] = true;
    r->gap = false;
    r->last_launch = launch;
}

static void note_sample(struct repair *r, const struct fr_journal_line *line, int64_t launch,
                        int64_t rep) {
    static const char mark[] = ", \"launch\": ";
    char key[sizeof((struct fr_sample_point *)0)->key], head[1024];
    const char *cut = NULL, *stop = line->text + line->length;
    for (const char *at = line->text; (at = strstr(at, mark)) && at < stop; at++) cut = at;
    if (!cut || (size_t)(cut - line->text) >= sizeof head) return;
    memcpy(head, line->text, (size_t)(cut - line->text));
    head[cut - line->text] = '\0';
    fr_sample_key(head, key, sizeof key);
    r->sample[r->n_samples++] = (struct sample){id_of(key, launch), rep, launch};
}

static fr_status note(const struct fr_journal_line *line, void *context, struct fr_error *err) {
    struct repair *r = context;
    const char *kind = fr_json_text_at(line->root, "kind"),
               *point = fr_json_text_at(line->root, "point");
    int64_t launch = NOT_STATED, rep = NOT_STATED, n = 0;
    (void)err;
    fr_json_get_integer(line->root, "launch", false, 0, INT64_MAX, &launch, NULL);
    fr_json_get_integer(line->root, "rep", false, 0, INT64_MAX, &rep, NULL);
    note_gap(r, line, launch);
    bool is_point = strcmp(kind, "point") == 0, is_end = strcmp(kind, "end") == 0;
    if (is_point) fr_json_get_integer(line->root, "n", false, 0, INT64_MAX, &n, NULL);
    if (is_point || is_end)
        r->verdict[r->n_verdicts++] =
            (struct verdict){.text = line->text,
                             .length = line->length,
                             .id = is_point ? id_of(point, launch) : 0,
                             .launch = launch,
                             .n = n};
    else if (rep >= 0 && launch >= 0 && strcmp(kind, "probe") != 0)
        note_sample(r, line, launch, rep);
    return FR_OK;
}

static int by_id(const void *a, const void *b) {
    const struct sample *x = a, *y = b;
    return x->id == y->id ? FR_ORDER(x->rep, y->rep) : FR_ORDER(x->id, y->id);
}

/* The first sample of a point and launch; n_samples where there is none. */
static size_t first_of(const struct repair *r, uint64_t id) {
    size_t low = 0, high = r->n_samples;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (r->sample[middle].id < id)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static int64_t count_of(const struct repair *r, uint64_t id) {
    size_t first = first_of(r, id), n = 0;
    while (first + n < r->n_samples && r->sample[first + n].id == id) n++;
    return (int64_t)n;
}

static void find_gaps(struct repair *r) {
    int64_t next = 0;
    for (size_t i = 0; i < r->n_samples; i++) {
        const struct sample *s = &r->sample[i];
        if (i == 0 || s->id != s[-1].id) next = 0;
        if (s->rep != next && is_launch(s->launch)) r->lost[s->launch] = true;
        next = s->rep + 1;
    }
}

/* @return lines that no longer hold */
static int judge(struct repair *r) {
    int n = 0;
    fr_sort_items(r->sample, r->n_samples, sizeof *r->sample, by_id);
    find_gaps(r);
    for (size_t i = 0; i < r->n_verdicts; i++) {
        struct verdict *v = &r->verdict[i];
        if (!v->id || !is_launch(v->launch) || count_of(r, v->id) == v->n) continue;
        v->drop = r->lost[v->launch] = true;
        n++;
    }
    for (size_t i = 0; i < r->n_verdicts; i++) {
        struct verdict *v = &r->verdict[i];
        if (v->id || !is_launch(v->launch) || !r->lost[v->launch]) continue;
        v->drop = true;
        n++;
    }
    return n;
}

static fr_status rewrite(const char *path, const struct fr_journal *journal,
                         const struct repair *r, struct fr_error *err) {
    struct fr_text text = {0};
    const char *at = journal->text, *stop = at + journal->length;
    for (size_t i = 0; i < r->n_verdicts; i++) {
        const struct verdict *v = &r->verdict[i];
        if (!v->drop) continue;
        fr_text_add(&text, at, (size_t)(v->text - at));
        at = v->text + v->length + 1;
    }
    if (at < stop) fr_text_add(&text, at, (size_t)(stop - at));
    fr_status status = text.failed ? fr_fail(err, FR_ERR_NOMEM, path, "does not fit in memory")
                                   : fr_journal_write(path, fr_text_get(&text), text.length,
                                                      journal->question, err);
    fr_text_free(&text);
    return status;
}

fr_status fr_samples_repair(const char *path, bool *replaced, struct fr_error *err) {
    struct fr_journal journal;
    struct repair *r = fr_calloc(1, sizeof *r);
    size_t n = 2;
    *replaced = false;
    if (!r) return fr_fail(err, FR_ERR_NOMEM, path, "does not fit in memory");
    fr_status status = fr_journal_read(path, FR_FILE_MAX_B, &journal, err);
    for (size_t i = 0; status == FR_OK && i < journal.length; i++) n += journal.text[i] == '\n';
    r->last_launch = NOT_STATED;
    r->sample = fr_calloc(n, sizeof *r->sample);
    r->verdict = fr_calloc(n, sizeof *r->verdict);
    if (status == FR_OK && (!r->sample || !r->verdict))
        status = fr_fail(err, FR_ERR_NOMEM, path, "does not fit in memory");
    if (status == FR_OK && journal.sealed) {
        status = fr_journal_each(journal.text, journal.length, path, note, r, err);
        *replaced = status == FR_OK && (judge(r) > 0 || journal.n_dropped > 0);
        if (*replaced) status = rewrite(path, &journal, r, err);
    }
    fr_journal_free(&journal);
    free(r->sample);
    free(r->verdict);
    free(r);
    return status;
}
