#include "calibrate/iterations.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "calibrate/statistics.h"

static const double ADAM_STATE_B = 8;

struct fr_training_options fr_training_defaults(void) {
    return (struct fr_training_options){
        .width = 1024, .layers = 2, .batch = 128, .seeds = 3, .most = 4000, .loss = 0.13};
}

static double rate_of(const struct fr_training_options *o) {
    return o->rate > 0 ? o->rate : 0.5 / (double)o->width;
}

/* ---- cases ----------------------------------------------------------------------------------- */

static bool allowed(const struct fr_training_options *o, int64_t p, int64_t k) {
    double n = (double)o->width, ranks = (double)p;
    return p > 1 && o->width % p == 0 && k >= 1 && (double)k < n / ranks * (1 - 1 / ranks);
}

static fr_status make_rows(const struct fr_training_options *o, struct fr_trained **rows,
                           int *n, struct fr_error *err) {
    *n = 0;
    *rows = calloc(1 + o->n_tp * o->n_ghost, sizeof **rows);
    if (!*rows) return fr_fail(err, FR_ERR_NOMEM, NULL, "the trainings");
    (*rows)[(*n)++] = (struct fr_trained){.tp = 1};
    for (size_t i = 0; i < o->n_tp; i++)
        for (size_t j = 0; j < o->n_ghost; j++)
            if (allowed(o, o->tp[i], o->ghost[j]))
                (*rows)[(*n)++] = (struct fr_trained){.tp = o->tp[i], .ghost = o->ghost[j]};
    if (*n > 1) return FR_OK;
    return fr_fail(err, FR_ERR_INPUT, "--ghost",
                   "none of them fits a width of %" PRId64 ": k must be below (n/p)(1 - 1/p), "
                   "and p divide n",
                   o->width);
}

static fr_status write_cases(const struct fr_training_options *o, const struct fr_trained *rows,
                             int n, struct fr_error *err) {
    struct fr_text text = {0};
    for (int64_t seed = 0; seed < o->seeds; seed++)
        for (int i = 0; i < n; i++) {
            struct fr_json_writer w = {.text = &text};
            fr_json_begin_object(&w);
            fr_json_add_string(&w, "kind", "train");
            fr_json_add_integer(&w, "id", seed * n + i);
            fr_json_add_integer(&w, "tp", rows[i].tp);
            fr_json_add_integer(&w, "ghost", rows[i].ghost);
            fr_json_add_integer(&w, "seed", seed + 1);
            fr_json_add_integer(&w, "width", o->width);
            fr_json_add_integer(&w, "layers", o->layers);
            fr_json_add_integer(&w, "batch", o->batch);
            fr_json_add_number(&w, "optimizer_state_B", ADAM_STATE_B);
            fr_json_add_number(&w, "rate", rate_of(o));
            fr_json_add_number(&w, "loss", o->loss);
            fr_json_add_integer(&w, "most", o->most);
            fr_json_end_object(&w);
            fr_text_add(&text, "\n", 1);
        }
    fr_status status =
        text.failed ? fr_fail(err, FR_ERR_NOMEM, o->samples, "cases do not fit in memory")
                    : fr_file_write(o->samples, text.data, text.length, err);
    fr_text_free(&text);
    return status;
}

/* ---- results --------------------------------------------------------------------------------- */

/* reached[row * seeds + seed]: iterations, 0 not reached, negative not trained. */
static fr_status read_line(const struct fr_json *root, struct fr_trained *rows, int n,
                           int64_t seeds, double *reached, struct fr_error *err) {
    struct fr_json node = fr_json_member(root, "kind");
    const char *kind = NULL;
    int64_t id = 0;
    double iterations = 0;
    FR_TRY(fr_json_text(&node, &kind, err));
    if (strcmp(kind, "trained") != 0) return FR_OK;
    FR_TRY(fr_json_get_integer(root, "id", true, 0, n * seeds - 1, &id, err));
    FR_TRY(fr_json_get_number(root, "iterations", true, 0, 1e12, &iterations, err));
    reached[id % n * seeds + id / n] = iterations;
    return fr_json_get_number(root, "parameters", true, 0, 1e18, &rows[id % n].parameters, err);
}

static fr_status read_results(const char *path, struct fr_trained *rows, int n, int64_t seeds,
                              double *reached, struct fr_error *err) {
    char *text = NULL;
    size_t length = 0;
    int number = 0;
    FR_TRY(fr_file_read(path, FR_FILE_MAX_B, &text, &length, err));
    fr_status status = FR_OK;
    for (const char *at = text; *at && status == FR_OK;) {
        size_t end = strcspn(at, "\n");
        struct fr_json_document *document = NULL;
        char place[300];
        snprintf(place, sizeof place, "%.256s: line %d", path, ++number);
        if (!at[end]) break; /* cut when its writer ended */
        status = fr_json_parse(at, end, place, &document, err);
        if (status == FR_OK) {
            struct fr_json root = fr_json_root(document);
            status = read_line(&root, rows, n, seeds, reached, err);
        }
        fr_json_free(document);
        at += end + 1;
    }
    free(text);
    return status;
}

static void summarise(struct fr_trained *row, double *reached, int64_t seeds) {
    size_t n = 0;
    for (int64_t i = 0; i < seeds; i++) {
        row->n_seeds += reached[i] >= 0;
        if (reached[i] > 0) reached[n++] = reached[i];
    }
    row->n_reached = (int)n;
    row->iterations = row->low = row->high = NAN;
    if (n == 0) return;
    fr_sort(reached, n);
    row->iterations = fr_sorted_median(reached, n);
    row->low = reached[0];
    row->high = reached[n - 1];
}

static fr_status collect(const struct fr_training_options *o, struct fr_trained *rows, int n,
                         struct fr_error *err) {
    size_t count = (size_t)n * (size_t)o->seeds;
    double *reached = calloc(count, sizeof *reached);
    if (!reached) return fr_fail(err, FR_ERR_NOMEM, NULL, "%zu trainings", count);
    for (size_t i = 0; i < count; i++) reached[i] = -1;
    fr_status status = read_results(o->samples, rows, n, o->seeds, reached, err);
    for (int i = 0; i < n; i++) summarise(&rows[i], reached + (int64_t)i * o->seeds, o->seeds);
    free(reached);
    return status;
}

fr_status fr_training_run(const struct fr_training_options *o, struct fr_trained **rows, int *n,
                          struct fr_error *err) {
    const char *words[] = {"train", "--cases",  o->samples,
                           "--out", o->samples, o->progress ? "--progress" : NULL,
                           NULL};
    FR_TRY(make_rows(o, rows, n, err));
    FR_TRY(write_cases(o, *rows, *n, err));
    fr_status ran = fr_launch_mpi(&o->launch, words, err);
    if (ran != FR_OK && ran != FR_ERR_PARTIAL && ran != FR_ERR_EXTERNAL) return ran;
    fr_status status = collect(o, *rows, *n, ran == FR_OK ? err : NULL);
    if (ran == FR_OK) return status;
    bool any = false;
    for (int i = 0; i < *n; i++) any = any || (*rows)[i].n_seeds > 0;
    return any ? fr_fail(err, FR_ERR_PARTIAL, o->samples,
                         "the job ended early; what had been trained is kept here")
               : ran;
}

/* ---- the table that search reads -------------------------------------------------------------- */

static void put_row(struct fr_json_writer *w, const char *method, int64_t tp, int64_t ghost,
                    double iterations) {
    fr_json_begin_object(w);
    fr_json_add_string(w, "method", method);
    if (tp > 0) fr_json_add_integer(w, "tp", tp);
    if (ghost > 0) fr_json_add_integer(w, "ghost", ghost);
    fr_json_add_number(w, "iterations", iterations);
    fr_json_end_object(w);
}

void fr_training_write_model(const struct fr_training_options *o, const struct fr_trained *rows,
                             int n, struct fr_text *text) {
    struct fr_json_writer w = {.text = text, .indent = 2};
    char line[256];
    snprintf(line, sizeof line,
             "measured by forerun iterations: Adam at %g to a mean squared error of %g, "
             "y = relu(W relu(x)), medians over %" PRId64 " seeds",
             rate_of(o), o->loss, o->seeds);
    fr_json_begin_object(&w);
    fr_json_add_string(&w, "kind", "ffn");
    fr_json_add_integer(&w, "width", o->width);
    fr_json_add_integer(&w, "layers", o->layers);
    fr_json_add_integer(&w, "global_batch", o->batch);
    fr_json_add_string(&w, "optimizer", "adam");
    fr_json_key(&w, "iterations");
    fr_json_begin_object(&w);
    fr_json_add_string(&w, "source", line);
    fr_json_key(&w, "table");
    fr_json_begin_array(&w);
    for (int i = 0; i < n; i++)
        if (rows[i].n_reached > 0)
            put_row(&w, rows[i].tp == 1 ? "tensor" : "phantom",
                    rows[i].tp == 1 ? 0 : rows[i].tp, rows[i].ghost, rows[i].iterations);
    fr_json_end_array(&w);
    fr_json_end_object(&w);
    fr_json_end_object(&w);
    fr_text_add(text, "\n", 1);
}
