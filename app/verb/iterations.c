/* How many iterations to a loss: found by training, written as the table that search reads. */
#include "real/iterations/iterations.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "app/load.h"
#include "app/page/page.h"
#include "app/result.h"
#include "app/training.h"
#include "app/verb.h"
#include "base/alloc.h"
#include "base/file.h"
#include "base/json/interval.h"
#include "base/text/version.h"
#include "base/text/wrap.h"
#include "models/job/runtime.h"

static const struct fr_option options[] = {
    FR_TRAINING_OPTIONS,
    {"cluster", "FILE|PRESET", "price iterations: energy to the loss, and the best k by it",
     'c'},
    {"out", "FILE", "model file to write, with the table (default: none)", 'o'},
    {"with", "FILE",
     "model file of earlier trainings: the law of growth is fitted to these too; may be "
     "repeated",
     0},
    FR_OPTION_JSON_PAGE,
    FR_OPTION_HELP,
    FR_OPTION_END};

/* ---- text ------------------------------------------------------------------------------------ */

static void add_total(struct fr_text *text, const struct fr_training_options *o,
                      const struct fr_trained *row, int64_t p) {
    double cost = fr_training_cost(o, row, p), to_loss = row->iterations * cost;
    char one[40] = "-", all[40] = "-";
    if (!o->cluster) {
        if (isfinite(to_loss)) snprintf(all, sizeof all, "%.4g", to_loss);
        fr_text_addf(text, "%13s", all);
        return;
    }
    if (isfinite(cost)) fr_quantity_format(cost, FR_QUANTITY_ENERGY, one, sizeof one);
    if (isfinite(to_loss)) fr_quantity_format(to_loss, FR_QUANTITY_ENERGY, all, sizeof all);
    fr_text_addf(text, "%13s %12s", one, all);
}

static void print_row(struct fr_text *text, const struct fr_training_options *o,
                      const struct fr_trained *row, int64_t p, bool best) {
    char name[48] = "tensor", range[48] = "-", iterations[24] = "-";
    if (row->tp > 1) snprintf(name, sizeof name, "phantom, k %" PRId64, row->ghost);
    if (row->n_reached > 0) {
        snprintf(iterations, sizeof iterations, "%g", row->iterations);
        snprintf(range, sizeof range, "%g .. %g", row->low, row->high);
    }
    fr_text_addf(text, "%s %-16s %10.0f %10s  %-12s", best ? "*" : " ", name, row->parameters,
                 iterations, range);
    add_total(text, o, row, p);
    fr_text_addf(text, "\n");
    if (row->n_reached < row->n_seeds && row->loss <= o->loss)
        fr_text_addf(text,
                     "      its loss is %.4g before the first step: ask for a lower --loss\n",
                     row->loss);
    else if (row->n_reached < row->n_seeds)
        fr_text_addf(text,
                     "      %d of %d seeds reached it; given up at a loss of %.4g after %.0f\n",
                     row->n_reached, row->n_seeds, row->loss, row->gave_up);
}

static void put_best(struct fr_text *text, const struct fr_training_options *o,
                     const struct fr_best_ghost *best) {
    char line[400], where[300], ghost[24] = "";
    if (best->row) snprintf(ghost, sizeof ghost, "%" PRId64 ", ", best->row->ghost);
    snprintf(line, sizeof line, "* best k by %s: %s%s",
             o->cluster ? "energy" : "iterations x parameters", ghost,
             fr_best_ghost_text(best, where, sizeof where));
    fr_wrap(text, line, 0, 4, FR_COLUMNS);
    fr_end_line(text);
}

static void print_ranks(struct fr_text *text, const struct fr_training_options *o,
                        const struct fr_trained *rows, int n, int64_t p) {
    struct fr_best_ghost best = fr_training_best(o, rows, n, p);
    fr_text_addf(text, "\n%-18s %10s %10s  %-12s", "", "parameters", "iterations", "range");
    fr_text_addf(text, o->cluster ? "%13s %12s\n" : "%13s\n",
                 o->cluster ? "an iteration" : "x parameters", "to the loss");
    fr_text_addf(text, "p = %" PRId64 "\n", p);
    for (int i = 0; i < n; i++)
        if (rows[i].tp == 1 || rows[i].tp == p)
            print_row(text, o, &rows[i], p, &rows[i] == best.row);
    put_best(text, o, &best);
    if (best.row || !best.unpriced[0]) return;
    struct fr_training_options unpriced = *o;
    unpriced.cluster = NULL;
    struct fr_best_ghost by_work = fr_training_best(&unpriced, rows, n, p);
    put_best(text, &unpriced, &by_work);
}

static void print_text(struct fr_text *text, const struct fr_training_options *o,
                       const struct fr_trained *rows, int n) {
    double train_s = 0;
    char time[40], line[240];
    for (int i = 0; i < n; i++) train_s += rows[i].train_s;
    snprintf(line, sizeof line,
             "ffn %" PRId64 " wide, %" PRId64 " layers, batch %" PRId64
             ", %s, Adam at %.3g, to a mean squared error of %g, medians over seeds",
             o->width, o->layers, o->batch,
             o->same_batch ? "one batch again and again" : "new samples every iteration",
             fr_training_rate(o), o->loss);
    fr_wrap(text, line, 0, 0, FR_COLUMNS);
    fr_end_line(text);
    for (size_t i = 0; i < o->n_tp; i++)
        if (o->tp[i] > 1) print_ranks(text, o, rows, n, o->tp[i]);
    fr_text_addf(text, "\ntraining took %s of one core in all\n",
                 fr_quantity_format(train_s, FR_QUANTITY_TIME, time, sizeof time));
    struct fr_growth_points points;
    fr_training_growth(o, rows, n, &points);
    fr_growth_points_say(text, &points);
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static void json_row(struct fr_json_writer *w, const struct fr_training_options *o,
                     const struct fr_trained *row, int64_t p) {
    struct fr_training_options priced = *o;
    double joule = priced.cluster ? fr_training_cost(&priced, row, p) : NAN;
    fr_json_begin_object(w);
    fr_json_add_string(w, "method", fr_trained_method(row)->name);
    fr_json_add_integer(w, "tp", p);
    fr_json_add_integer(w, "ghost", row->ghost);
    fr_json_add_number(w, "parameters", row->parameters);
    fr_json_add_number(w, "iterations", row->iterations);
    fr_json_add_interval(w, "iterations", row->low, row->high);
    fr_json_add_integer(w, "seeds", row->n_seeds);
    fr_json_add_integer(w, "reached", row->n_reached);
    fr_json_add_number(w, "given_up_loss", row->loss);
    fr_json_add_number(w, "given_up_iterations", row->gave_up);
    fr_json_add_number(w, "iteration_energy_J", joule);
    fr_json_add_number(w, "total_energy_J",
                       row->n_reached == row->n_seeds ? joule * row->iterations : NAN);
    fr_json_add_number(w, "train_s", row->train_s);
    fr_json_end_object(w);
}

static void json_best(struct fr_json_writer *w, const struct fr_training_options *o,
                      const struct fr_trained *rows, int n, int64_t p) {
    struct fr_best_ghost best = fr_training_best(o, rows, n, p);
    char where[300];
    fr_json_begin_object(w);
    fr_json_add_integer(w, "tp", p);
    fr_json_key(w, "ghost");
    if (best.row)
        fr_json_put_integer(w, best.row->ghost);
    else
        fr_json_put_null(w);
    fr_json_add_bool(w, "minimum", best.row && best.below && best.above);
    fr_json_add_string(w, "where", fr_best_ghost_text(&best, where, sizeof where));
    fr_json_end_object(w);
}

static void print_json(struct fr_text *text, const struct fr_training_options *o,
                       const struct fr_trained *rows, int n) {
    struct fr_json_writer w = {.text = text, .indent = 2};
    fr_json_begin_object(&w);
    fr_json_add_string(&w, "schema", "forerun/iterations/1");
    fr_json_add_string(&w, "version", fr_version);
    if (o->cluster) {
        fr_json_add_string(&w, "cluster", o->cluster->name);
        fr_json_add_string(&w, "cluster_source", o->cluster->source);
        fr_runtime_put(o->cluster, &w);
    }
    fr_json_add_integer(&w, "width", o->width);
    fr_json_add_integer(&w, "layers", o->layers);
    fr_json_add_integer(&w, "batch", o->batch);
    fr_json_add_number(&w, "loss", o->loss);
    fr_json_add_number(&w, "rate", fr_training_rate(o));
    fr_json_add_bool(&w, "same_batch", o->same_batch);
    fr_json_add_string(&w, "best_by", o->cluster ? "total_energy" : "iterations x parameters");
    fr_json_add_array(&w, "rows");
    for (size_t j = 0; j < o->n_tp; j++)
        for (int i = 0; i < n; i++)
            if (o->tp[j] > 1 && (rows[i].tp == 1 || rows[i].tp == o->tp[j]))
                json_row(&w, o, &rows[i], o->tp[j]);
    fr_json_end_array(&w);
    fr_json_add_array(&w, "best");
    for (size_t j = 0; j < o->n_tp; j++)
        if (o->tp[j] > 1) json_best(&w, o, rows, n, o->tp[j]);
    fr_json_end_array(&w);
    fr_json_end_object(&w);
}

/* ---------------------------------------------------------------------------------------------- */

static fr_status finish(const struct fr_args *args, bool whole,
                        const struct fr_training_options *o, const struct fr_trained *rows,
                        int n, struct fr_error *err) {
    const char *out = fr_args_get(args, "out");
    struct fr_result_file result = {.path = out, .lacks = whole ? NULL : "trainings"};
    struct fr_text text = {0}, page = {0}, model = {0};
    fr_status status = FR_OK;
    if (out) {
        fr_training_write_model(o, rows, n, &model);
        status = model.failed ? fr_fail(err, FR_ERR_NOMEM, NULL, "out of memory")
                              : fr_result_write(&result, model.data, model.length, err);
    }
    fr_text_free(&model);
    if (status != FR_OK && status != FR_ERR_PARTIAL) return status;
    if (fr_args_has(args, "json"))
        print_json(&text, o, rows, n);
    else
        print_text(&text, o, rows, n);
    if (fr_app_paged(args)) print_json(&page, o, rows, n);
    fr_status printed = fr_app_answer(args, &text, &page, err);
    return printed == FR_OK ? status : printed;
}

static fr_status train(const struct fr_args *args, const struct fr_training_options *o,
                       struct fr_error *err) {
    struct fr_trained *rows = NULL;
    struct fr_error early = {.status = FR_OK};
    int n = 0;
    fr_status trained = fr_training_run(o, &rows, &n, &early), status = trained;
    /* Results of a job that ended early are worth showing; the exit code says that it ended
     * early. */
    bool known = trained == FR_OK || trained == FR_ERR_PARTIAL;
    early.status = trained;
    if (known)
        status = finish(args, trained == FR_OK, o, rows, n, err);
    else
        *err = early;
    free(rows);
    return known ? fr_result_end(status, &early, err) : trained;
}

/* Trainings of the files of --with. */
static fr_status read_with(const struct fr_args *args, struct fr_growth_points *with,
                           struct fr_error *err) {
    const char *files[FR_ARGS_MAX];
    const int n = fr_args_all(args, "with", files);
    if (!with) return fr_fail(err, FR_ERR_NOMEM, NULL, "out of memory");
    for (int i = 0; i < n; i++) FR_TRY(fr_growth_points_read(files[i], with, err));
    return FR_OK;
}

static fr_status run(const struct fr_args *args, struct fr_error *err) {
    struct fr_training_request request = {0};
    const char *out = fr_args_get(args, "out");
    if (args->n_words)
        return fr_fail(err, FR_ERR_USAGE, NULL, "unexpected word \"%.64s\"", args->word[0]);
    fr_status status = out ? fr_file_check_writable(out, err) : FR_OK;
    if (status == FR_OK) status = fr_training_request_read(args, NULL, &request, err);
    struct fr_growth_points *with = fr_calloc(1, sizeof *with);
    if (status == FR_OK) status = read_with(args, with, err);
    request.o.with = with;
    if (status == FR_OK) status = train(args, &request.o, err);
    free(with);
    fr_training_request_free(&request);
    return status;
}

static const struct fr_output outputs[] = {
    {"out", NULL, NULL}, {"samples", "iterations.jsonl", NULL}, {NULL, NULL, NULL}};

const struct fr_verb fr_verb_iterations = {
    .name = "iterations",
    .summary = "train to a loss: iterations of tensor and phantom, the table search reads",
    .usage = "[--width N] [--tp RANGE] [--ghost RANGE] [--seeds N] [--cluster C] "
             "[--out model.json] [--with FILE]... [--json]",
    .details =
        "Trains dense and phantom networks, each in one process, so that p is not bounded "
        "by the machine.\n"
        "Without --ghost the best k of each p is searched for: by energy to the loss with a "
        "--cluster,\nelse by iterations times parameters.\n"
        "  forerun iterations --cluster cluster.json --tp 2,4,8 --out model.json\n"
        "  forerun search --cluster cluster.json --model model.json --ranks 2,4,8 \\\n"
        "      --vary method=tensor,phantom --vary ghost=1..128*2 --objective energy\n",
    .options = options,
    .words = FR_WORDS_OPTIONS,
    .outputs = outputs,
    .run = run,
};
