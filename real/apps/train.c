#include "real/apps/train.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/journal/journal.h"
#include "calibrate/measure/harness/watch.h"
#include "real/apps/resume.h"
#include "real/apps/whole_ffn.h"
#include "real/cells.h"

enum { FIRST_LOOK = 128 };

struct fr_patience fr_patience_begin(double target, int64_t most) {
    return (struct fr_patience){
        .target = target, .before = NAN, .most = most, .next = FIRST_LOOK / 2};
}

bool fr_patience_lost(struct fr_patience *p, int64_t i, double loss) {
    int64_t quarter = p->next / 4;
    if (i >= p->next - quarter) p->sum += loss;
    if (i + 1 < p->next) return false;
    double mean = p->sum / (double)quarter, fall = p->before - mean, before = p->before;
    double doublings = log2((double)p->most / (double)p->next);
    p->before = mean;
    p->sum = 0;
    p->next *= 2;
    return !isnan(before) && mean - fmax(0, fall) * doublings > p->target;
}

/* ---- one training ---------------------------------------------------------------------------- */

struct training {
    int64_t id, most;
    double loss; /* to reach */
    struct fr_whole_ffn_options network;
};

static fr_status read_size(const struct fr_json *root, const char *key, int64_t min, int *out,
                           struct fr_error *err) {
    int64_t value = 0;
    FR_TRY(fr_json_get_integer(root, key, true, min, 1 << 20, &value, err));
    *out = (int)value;
    return FR_OK;
}

static fr_status read_training(const struct fr_json *root, struct training *t,
                               struct fr_error *err) {
    struct fr_whole_ffn_options *o = &t->network;
    int64_t seed = 0;
    bool same = false;
    o->dtype = FR_FP32;
    FR_TRY(fr_json_get_integer(root, "id", true, 0, INT64_MAX / 2, &t->id, err));
    FR_TRY(read_size(root, "tp", 1, &o->p, err));
    FR_TRY(read_size(root, "ghost", 0, &o->ghost, err));
    FR_TRY(read_size(root, "width", 1, &o->width, err));
    FR_TRY(read_size(root, "layers", 1, &o->layers, err));
    FR_TRY(read_size(root, "batch", 1, &o->batch, err));
    FR_TRY(fr_json_get_integer(root, "seed", true, 0, INT64_MAX / 2, &seed, err));
    FR_TRY(fr_json_get_integer(root, "most", true, 1, 1 << 30, &t->most, err));
    FR_TRY(fr_json_get_number(root, "optimizer_state_B", true, 0, 1e6, &o->optimizer_state_B,
                              err));
    FR_TRY(fr_json_get_number(root, "rate", true, 0, 1e6, &o->rate, err));
    FR_TRY(fr_json_get_bool(root, "same_batch", true, &same, err));
    o->fresh = !same;
    o->seed = (uint64_t)seed;
    return fr_json_get_number(root, "loss", true, 0, 1e30, &t->loss, err);
}

struct result {
    int64_t iterations, steps;
    double loss, parameters, train_s;
};

/* The loss before step i + 1 is that after i of them. */
static fr_status train(const struct training *t, struct result *out, struct fr_error *err) {
    struct fr_whole_ffn network;
    struct fr_patience patience = fr_patience_begin(t->loss, t->most);
    double start_s = fr_now_s();
    fr_status status = fr_whole_ffn_open(&t->network, &network, err);
    *out = (struct result){.loss = 1e30, .parameters = (double)network.n_counted};
    for (int64_t i = 0; status == FR_OK && i <= t->most; i++) {
        double loss = fr_whole_ffn_step(&network);
        fr_watch_move();
        out->steps = i + 1;
        if (!(loss < 1e30)) break; /* diverged */
        out->loss = fmin(out->loss, loss);
        if (loss <= t->loss) out->iterations = i;
        if (loss <= t->loss || fr_patience_lost(&patience, i, loss)) break;
    }
    fr_whole_ffn_close(&network);
    out->train_s = fr_now_s() - start_s;
    return status;
}

static fr_status run_one(const char *line, size_t length, const char *place, int fd,
                         const char *path, struct fr_error *err) {
    struct fr_json_document *document = NULL;
    struct training t = {0};
    struct result result;
    struct fr_text text = {0};
    struct fr_json_writer w = {.text = &text};
    FR_TRY(fr_json_parse(line, length, place, &document, err));
    struct fr_json root = fr_json_root(document);
    fr_status status = read_training(&root, &t, err);
    fr_json_free(document);
    FR_TRY(status);
    FR_TRY(train(&t, &result, err));
    fr_json_begin_object(&w);
    fr_json_add_string(&w, "kind", "trained");
    fr_json_add_integer(&w, "id", t.id);
    fr_json_add_integer(&w, "iterations", result.iterations);
    fr_json_add_integer(&w, "steps", result.steps);
    fr_json_add_number(&w, "loss", result.loss);
    fr_json_add_number(&w, "parameters", result.parameters);
    fr_json_add_number(&w, "train_s", result.train_s);
    fr_json_end_object(&w);
    fr_text_add(&text, "\n", 1);
    return fr_journal_put(fd, path, &text, err);
}

/* ---- all of them ----------------------------------------------------------------------------- */

/* A line that is to be run. */
struct item {
    const char *line;
    size_t length;
    int number;
    int64_t id;
    bool done;
};

struct items {
    struct item *at;
    int n;
};

static fr_status add_line(const struct fr_journal_line *line, void *context,
                          struct fr_error *err) {
    struct items *items = context;
    const char *kind = fr_json_text_at(line->root, "kind");
    int64_t id = -1;
    bool is_case = strcmp(kind, "train") == 0, result = strcmp(kind, "trained") == 0;
    if (strcmp(kind, "provenance") == 0)
        return fr_journal_schema(line->root, FR_TRAININGS_SCHEMA, err);
    if (is_case || result)
        FR_TRY(fr_json_get_integer(line->root, "id", true, 0, INT64_MAX / 2, &id, err));
    for (int i = 0; result && i < items->n; i++)
        items->at[i].done = items->at[i].done || items->at[i].id == id;
    if (is_case)
        items->at[items->n++] = (struct item){
            .line = line->text, .length = line->length, .number = line->number, .id = id};
    return FR_OK;
}

static fr_status find_items(const char *text, const char *name, struct items *items,
                            struct fr_error *err) {
    int lines = 1, saved = 0;
    for (const char *at = text; *at; at++) lines += *at == '\n';
    items->at = fr_calloc((size_t)lines, sizeof *items->at);
    if (!items->at) return fr_fail(err, FR_ERR_NOMEM, name, "%d trainings", lines);
    FR_TRY(fr_journal_each(text, strlen(text), name, add_line, items, err));
    for (int i = 0; i < items->n; i++)
        if (!items->at[i].done) items->at[saved++] = items->at[i];
    items->n = saved;
    return FR_OK;
}

/* Trainings last from a second to minutes: a rank that is free takes the next one. */
static fr_status take(MPI_Win counter, int *next, struct fr_error *err) {
    const int one = 1;
    FR_MPI_TRY(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, counter));
    FR_MPI_TRY(MPI_Fetch_and_op(&one, next, MPI_INT, 0, 0, MPI_SUM, counter));
    FR_MPI_TRY(MPI_Win_unlock(0, counter));
    return FR_OK;
}

static fr_status run_all(const struct items *items, MPI_Win counter, const char *name, int fd,
                         const char *out, bool progress, struct fr_error *err) {
    int next = 0;
    char place[160];
    for (;;) {
        FR_TRY(take(counter, &next, err));
        if (next >= items->n) return FR_OK;
        const struct item *item = &items->at[next];
        snprintf(place, sizeof place, "%.120s: line %d", name, item->number);
        if (progress) fprintf(stderr, "\rtraining %d of %d\033[K", next + 1, items->n);
        FR_TRY(run_one(item->line, item->length, place, fd, out, err));
    }
}

fr_status fr_train_run(const char *text, const char *name, const char *out, bool progress,
                       struct fr_error *err) {
    struct items items = {0};
    MPI_Win counter = MPI_WIN_NULL;
    int rank = 0, *memory = NULL;
    fr_status status = find_items(text, name, &items, err);
    if (status != FR_OK) goto done; /* on all ranks alike: they have the same text */
    FR_MPI_TRY(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    FR_MPI_TRY(MPI_Win_allocate(rank == 0 ? (MPI_Aint)sizeof(int) : 0, sizeof(int),
                                MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &counter));
    if (rank == 0) *memory = 0;
    /* Before anybody writes: opening cuts a half line, and shall not take one that is being written for that. */
    int fd = -1;
    status = rank == 0 ? fr_real_append(out, &fd, err) : fr_journal_open(out, &fd, err);
    FR_MPI_TRY(MPI_Barrier(MPI_COMM_WORLD));
    if (status == FR_OK) status = run_all(&items, counter, name, fd, out, progress, err);
    if (fd >= 0) close(fd);
    if (status == FR_OK) FR_MPI_TRY(MPI_Win_free(&counter));
    if (rank == 0 && progress) fputs("\r\033[K", stderr);
done:
    free(items.at);
    return status;
}
