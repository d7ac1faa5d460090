/* How many iterations to a loss: found by training, written as the table that search reads. */
#include "calibrate/iterations.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "app/load.h"
#include "app/measured.h"
#include "app/verb.h"
#include "base/file.h"

static const struct fr_option options[] = {
    FR_TRAINING_OPTIONS,
    {"out", "FILE", "model file to write, with the table (default: none)", 'o'},
    FR_OPTION_JSON,
    FR_OPTION_HELP,
    FR_OPTION_END};

static void print_text(struct fr_text *text, const struct fr_training_options *o,
                       const struct fr_trained *rows, int n) {
    fr_text_addf(text,
                 "ffn %" PRId64 " wide, %" PRId64 " layers, batch %" PRId64
                 ", to a mean squared error of %g\n\n%-22s %12s %10s  %-15s %s\n",
                 o->width, o->layers, o->batch, o->loss, "network", "parameters", "iterations",
                 "range", "seeds that reached it");
    for (int i = 0; i < n; i++) {
        char name[48] = "tensor, any p", range[48] = "-", iterations[24] = "-";
        if (rows[i].tp > 1)
            snprintf(name, sizeof name, "phantom p %" PRId64 ", k %" PRId64, rows[i].tp,
                     rows[i].ghost);
        if (rows[i].n_reached > 0) {
            snprintf(iterations, sizeof iterations, "%g", rows[i].iterations);
            snprintf(range, sizeof range, "%g .. %g", rows[i].low, rows[i].high);
        }
        fr_text_addf(text, "%-22s %12.0f %10s  %-15s %d of %d\n", name, rows[i].parameters,
                     iterations, range, rows[i].n_reached, rows[i].n_seeds);
    }
}

static void print_json(struct fr_text *text, const struct fr_training_options *o,
                       const struct fr_trained *rows, int n) {
    struct fr_json_writer w = {.text = text, .indent = 2};
    fr_json_begin_object(&w);
    fr_json_add_string(&w, "schema", "forerun/iterations/1");
    fr_json_add_integer(&w, "width", o->width);
    fr_json_add_integer(&w, "layers", o->layers);
    fr_json_add_integer(&w, "batch", o->batch);
    fr_json_add_number(&w, "loss", o->loss);
    fr_json_key(&w, "rows");
    fr_json_begin_array(&w);
    for (int i = 0; i < n; i++) {
        fr_json_begin_object(&w);
        fr_json_add_string(&w, "method", rows[i].tp > 1 ? "phantom" : "tensor");
        fr_json_key(&w, "tp");
        if (rows[i].tp > 1)
            fr_json_put_integer(&w, rows[i].tp);
        else
            fr_json_put_null(&w);
        fr_json_add_integer(&w, "ghost", rows[i].ghost);
        fr_json_add_number(&w, "parameters", rows[i].parameters);
        fr_json_add_number(&w, "iterations", rows[i].iterations);
        fr_json_add_number(&w, "iterations_low", rows[i].low);
        fr_json_add_number(&w, "iterations_high", rows[i].high);
        fr_json_add_integer(&w, "seeds", rows[i].n_seeds);
        fr_json_add_integer(&w, "reached", rows[i].n_reached);
        fr_json_end_object(&w);
    }
    fr_json_end_array(&w);
    fr_json_end_object(&w);
}

static fr_status finish(const struct fr_args *args, const struct fr_training_options *o,
                        const struct fr_trained *rows, int n, struct fr_error *err) {
    const char *out = fr_args_get(args, "out");
    struct fr_text text = {0}, model = {0};
    fr_status status = FR_OK;
    if (out) {
        fr_training_write_model(o, rows, n, &model);
        status = model.failed ? fr_fail(err, FR_ERR_NOMEM, NULL, "out of memory")
                              : fr_file_write(out, model.data, model.length, err);
    }
    fr_text_free(&model);
    FR_TRY(status);
    if (fr_args_has(args, "json"))
        print_json(&text, o, rows, n);
    else
        print_text(&text, o, rows, n);
    return fr_app_print(&text, err);
}

static fr_status run(const struct fr_args *args, struct fr_error *err) {
    struct fr_training_options o;
    struct fr_trained *rows = NULL;
    struct fr_error early = {.status = FR_OK};
    int64_t *owned[2] = {NULL, NULL};
    const char *out = fr_args_get(args, "out");
    int n = 0;
    if (args->n_words)
        return fr_fail(err, FR_ERR_USAGE, NULL, "unexpected word \"%.64s\"", args->word[0]);
    fr_status status = out ? fr_file_check_writable(out, err) : FR_OK, trained = FR_OK;
    if (status == FR_OK) status = fr_training_options_read(args, &o, owned, err);
    if (status == FR_OK) {
        trained = fr_training_run(&o, &rows, &n, &early);
        /* What an ended job left is worth showing; the exit code says that it ended early. */
        bool known = trained == FR_OK || trained == FR_ERR_PARTIAL;
        status = known ? finish(args, &o, rows, n, err) : trained;
        if (!known || (status == FR_OK && trained != FR_OK)) *err = early;
    }
    free(rows);
    free(owned[0]);
    free(owned[1]);
    return status == FR_OK ? trained : status;
}

const struct fr_verb fr_verb_iterations = {
    .name = "iterations",
    .summary = "train to a loss: iterations of tensor and phantom, the table search reads",
    .usage = "[--width N] [--tp RANGE] [--ghost RANGE] [--seeds N] [--out model.json] [--json]",
    .details =
        "Trains dense and phantom networks, each in one process, so that p is not bounded "
        "by the machine.\n"
        "  forerun iterations --tp 2,4,8 --ghost 4..64*2 --out model.json\n"
        "  forerun search --cluster cluster.json --model model.json --ranks 2,4,8 \\\n"
        "      --vary method=tensor,phantom --vary ghost=4..64*2 --objective energy\n",
    .options = options,
    .run = run,
};
