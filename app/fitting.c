#include "app/fitting.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/load.h"
#include "app/page/calibration.h"
#include "base/alloc.h"
#include "base/file.h"
#include "models/job/cluster.h"
#include "models/outcome/report.h"

fr_status fr_fitting_options(const struct fr_args *args, struct fr_fit_options *options,
                             struct fr_error *err) {
    const char *busy = fr_args_get(args, "power-busy"), *idle = fr_args_get(args, "power-idle");
    int form = FR_FIT_BEST;
    *options = (struct fr_fit_options){.busy_W = -1,
                                       .idle_W = -1,
                                       .name = fr_args_get(args, "name"),
                                       .series = fr_args_get(args, "series")};
    FR_TRY(fr_args_choice(args, "form", fr_fit_form_names, &form, err));
    options->form = (fr_fit_form)form;
    if (!busy != !idle)
        return fr_fail(err, FR_ERR_USAGE, "--power-busy",
                       "--power-busy and --power-idle belong together");
    if (!busy) return FR_OK;
    FR_TRY(fr_quantity_parse(busy, FR_QUANTITY_POWER, "--power-busy", &options->busy_W, err));
    FR_TRY(fr_quantity_parse(idle, FR_QUANTITY_POWER, "--power-idle", &options->idle_W, err));
    if (options->busy_W < 0 || options->idle_W < 0)
        return fr_fail(err, FR_ERR_USAGE, "--power-busy", "power cannot be negative");
    if (options->busy_W == 0 || options->idle_W > options->busy_W)
        return fr_fail(err, FR_ERR_USAGE, "--power-busy",
                       "is %.6g W; expected more than 0 W, and at least the %.6g W of "
                       "--power-idle: a rank that waits draws no more than one that computes",
                       options->busy_W, options->idle_W);
    return FR_OK;
}

static void json_quality(struct fr_json_writer *w, const char *key,
                         const struct fr_fit_quality *q) {
    fr_json_key(w, key);
    if (q->n == 0) {
        fr_json_put_null(w);
        return;
    }
    fr_json_begin_object(w);
    fr_json_add_number(w, "median", q->median);
    fr_json_add_number(w, "p90", q->p90);
    fr_json_add_number(w, "rmse_log2", q->rmse_log2);
    fr_json_add_integer(w, "points", q->n);
    fr_json_end_object(w);
}

/* The parameters of every form, as a cluster file would hold them, and how it did. */
static void json_forms(struct fr_json_writer *w, const struct fr_fit_op *op) {
    static const struct fr_levels levels = {.count = 2,
                                            .level = {{.name = "node"}, {.name = "system"}}};
    fr_json_begin_object(w);
    fr_json_add_string(w, "op", fr_op_names[op->points->op]);
    fr_json_add_string(w, "series", op->series);
    fr_json_add_string(w, "chosen", fr_fit_form_names[op->chosen]);
    for (int f = FR_FIT_LOG; f < FR_FIT_FORMS; f++) {
        const struct fr_fit_candidate *c = &op->candidate[f];
        fr_json_key(w, fr_fit_form_names[f]);
        if (!c->price.form) {
            fr_json_put_null(w);
            continue;
        }
        fr_json_begin_object(w);
        json_quality(w, "residuals", &c->quality);
        json_quality(w, "held_sizes", &c->held_sizes);
        json_quality(w, "held_ranks", &c->held_ranks);
        fr_json_key(w, "parameters");
        fr_price_write(&c->price, &levels, w);
        fr_json_end_object(w);
    }
    fr_json_end_object(w);
}

static void json_point(struct fr_json_writer *w, const struct fr_fit_op *op,
                       const struct fr_fit_point *p) {
    char key[32];
    double spread = p->uncertainty < 1e6 ? p->uncertainty : NAN;
    fr_json_begin_object(w);
    fr_json_add_number(w, "size_B", p->size_B);
    fr_json_add_integer(w, "n", p->n);
    fr_json_add_integer(w, "launches", p->n_launches);
    fr_json_add_integer(w, "slow", p->n_slow);
    fr_json_add_number(w, "median_s", p->median_s);
    /* Divided, not subtracted: the median of a disturbed point may be known to no better than
     * itself, and no time is 0. */
    fr_json_add_number(w, "low_s", p->median_s / (1 + spread));
    fr_json_add_number(w, "high_s", p->median_s * (1 + spread));
    for (int f = FR_FIT_LOG; f < FR_FIT_FORMS; f++) {
        const struct fr_price *price = &op->candidate[f].price;
        snprintf(key, sizeof key, "%s_s", fr_fit_form_names[f]);
        fr_json_add_number(w, key, price->form ? fr_fit_price_s(price, p) : NAN);
    }
    for (int f = FR_FIT_LOG; f < FR_FIT_FORMS; f++) {
        const double *held_s = op->candidate[f].held_s;
        snprintf(key, sizeof key, "%s_held_s", fr_fit_form_names[f]);
        fr_json_add_number(w, key, held_s ? held_s[p - op->points] : NAN);
    }
    fr_json_end_object(w);
}

static void json_series(struct fr_json_writer *w, const struct fr_fit_op *op,
                        const struct fr_fit_curve *curve) {
    fr_json_begin_object(w);
    fr_json_add_string(w, "op", fr_op_names[curve->points[0].op]);
    fr_json_add_integer(w, "ranks", curve->points[0].n_ranks);
    fr_json_add_integer(w, "nodes", curve->points[0].n_nodes);
    fr_json_add_string(w, "level", fr_sample_level_names[curve->points[0].level]);
    fr_json_add_string(w, "chosen", fr_fit_form_names[op->chosen]);
    fr_json_key(w, "points");
    fr_json_begin_array(w);
    for (int i = 0; i < curve->n_points; i++) json_point(w, op, &curve->points[i]);
    fr_json_end_array(w);
    fr_json_end_object(w);
}

static void json_gemm(struct fr_json_writer *w, const struct fr_fit_gemm *g,
                      const char *dtype) {
    for (int m = 0; m < g->n_m; m++)
        for (int n = 0; n < g->n_n; n++)
            for (int k = 0; k < g->n_k; k++) {
                fr_json_begin_object(w);
                fr_json_add_string(w, "dtype", dtype);
                fr_json_add_integer(w, "m", g->m[m]);
                fr_json_add_integer(w, "n", g->n[n]);
                fr_json_add_integer(w, "k", g->k[k]);
                fr_json_add_number(w, "median_s", g->time_s[(m * g->n_n + n) * g->n_k + k]);
                fr_json_end_object(w);
            }
}

/* Imported files. */
static void json_sources(struct fr_json_writer *w, const struct fr_samples *samples) {
    fr_json_key(w, "sources");
    fr_json_begin_array(w);
    for (size_t i = 0; i < samples->n_source; i++) {
        const struct fr_sample_source *s = &samples->source[i];
        fr_json_begin_object(w);
        fr_json_add_string(w, "file", s->file);
        fr_json_add_string(w, "tool", s->tool);
        fr_json_add_string(w, "tool_version", s->tool_version);
        fr_json_add_string(w, "setup", s->setup);
        fr_json_add_string(w, "dtype", s->dtype);
        fr_json_add_integer(w, "ranks", s->n_ranks);
        fr_json_add_integer(w, "nodes", s->nodes);
        fr_json_add_integer(w, "ranks_per_node", s->ranks_per_node);
        fr_json_end_object(w);
    }
    fr_json_end_array(w);
}

/* How the machine was meanwhile; null where nothing was seen of it. */
static void json_machine(struct fr_json_writer *w, const struct fr_fit_result *result) {
    const struct fr_fit_speed *s = &result->speed;
    bool interrupted = s->interruptions.every_s > 0;
    fr_json_key(w, "machine");
    fr_json_begin_object(w);
    fr_json_add_integer(w, "probes", (int64_t)s->n);
    fr_json_add_number(w, "usual_products", s->n > 0 ? s->usual_products : NAN);
    fr_json_add_number(w, "usual_memory", s->n > 0 ? s->usual_memory : NAN);
    fr_json_add_number(w, "speed_variation", s->n > 0 ? s->variation : NAN);
    fr_json_add_number(w, "interrupted_every_s", interrupted ? s->interruptions.every_s : NAN);
    fr_json_add_number(w, "interruption_s", interrupted ? s->interruptions.length_s : NAN);
    fr_json_add_number(w, "lost", s->lost);
    fr_json_add_number(w, "variation", fr_fit_variation(result));
    fr_json_end_object(w);
}

void fr_fitting_json(struct fr_text *text, const struct fr_samples *samples,
                     const struct fr_fit_result *result) {
    struct fr_json_writer w = {.text = text, .indent = 2};
    const struct fr_provenance *p = &result->provenance;
    fr_json_begin_object(&w);
    fr_json_add_string(&w, "schema", "forerun/fit/1");
    fr_json_key(&w, "provenance");
    fr_json_begin_object(&w);
    fr_json_add_string(&w, "version", FR_VERSION);
    fr_json_add_string(&w, "cluster", result->name);
    fr_json_add_string(&w, "date", p->date);
    fr_json_add_string(&w, "host", p->host);
    fr_json_add_string(&w, "cpu", p->cpu);
    fr_json_add_string(&w, "mpi", p->mpi);
    fr_json_add_string(&w, "blas", p->blas);
    fr_json_add_integer(&w, "ranks", p->ranks);
    fr_json_add_integer(&w, "nodes", p->nodes);
    fr_json_add_integer(&w, "ranks_per_node", p->ranks_per_node);
    fr_json_add_string(&w, "kernel", p->kernel);
    fr_json_add_string(&w, "pinning", p->pinning);
    fr_json_add_string(&w, "hosts", p->hosts);
    fr_json_add_number(&w, "clock_resolution_s",
                       p->clock_resolution_s > 0 ? p->clock_resolution_s : NAN);
    fr_json_add_bool(&w, "simulated", p->simulated);
    fr_json_add_bool(&w, "oversubscribed", p->oversubscribed);
    fr_json_add_integer(&w, "seed", p->seed);
    fr_json_end_object(&w);
    json_machine(&w, result);
    fr_json_add_number(&w, "held_out", fr_fit_held_out(result));
    fr_json_key(&w, "not_measured");
    fr_json_begin_array(&w);
    for (int i = 0; i < result->n_missing; i++) fr_json_put_string(&w, result->missing[i]);
    fr_json_end_array(&w);
    fr_json_key(&w, "series");
    fr_json_begin_array(&w);
    for (int op = 0; op < FR_OP_COUNT; op++)
        for (int c = 0; c < result->ops[op].n_curves; c++)
            json_series(&w, &result->ops[op], &result->ops[op].curves[c]);
    fr_json_end_array(&w);
    json_sources(&w, samples);
    fr_json_key(&w, "operations");
    fr_json_begin_array(&w);
    for (int op = 0; op < FR_OP_COUNT; op++)
        if (result->ops[op].n_points > 0) json_forms(&w, &result->ops[op]);
    fr_json_end_array(&w);
    fr_json_key(&w, "gemm");
    fr_json_begin_array(&w);
    for (int d = 0; d < FR_DTYPE_COUNT; d++) json_gemm(&w, &result->gemm[d], fr_dtype_names[d]);
    fr_json_end_array(&w);
    fr_json_key(&w, "gemm_left_out");
    fr_json_begin_object(&w);
    for (int d = 0; d < FR_DTYPE_COUNT; d++)
        if (result->gemm[d].n_m > 0)
            json_quality(&w, fr_dtype_names[d], &result->gemm[d].quality);
    fr_json_end_object(&w);
    fr_json_end_object(&w);
}

/* Verdict and reasons, the worst first, from the document that forerun report reads too. */
static fr_status judge(const struct fr_samples *samples, struct fr_fit_result *result,
                       struct fr_error *err) {
    struct fr_text text = {0};
    struct fr_json_document *document = NULL;
    struct fr_checks *checks = fr_calloc(1, sizeof *checks);
    fr_fitting_json(&text, samples, result);
    fr_status status =
        text.failed || !checks
            ? fr_fail(err, FR_ERR_NOMEM, NULL, "out of memory")
            : fr_json_parse(fr_text_get(&text), text.length, "fit", &document, err);
    if (status == FR_OK) {
        struct fr_json root = fr_json_root(document);
        status = fr_calibration_check(&root, checks, err);
    }
    if (status == FR_OK) fr_calibration_judge(checks, &result->judged);
    fr_json_free(document);
    fr_text_free(&text);
    free(checks);
    return status;
}

/* What we write must be what we read: the file goes through the reader before it is kept. */
static fr_status write_cluster(const struct fr_fit_result *result, const char *out,
                               struct fr_error *err) {
    struct fr_text text = {0};
    struct fr_json_document *document = NULL;
    struct fr_cluster cluster = {0};
    fr_fit_write_cluster(result, &text);
    fr_status status = text.failed ? fr_fail(err, FR_ERR_NOMEM, out, "out of memory") : FR_OK;
    if (status == FR_OK)
        status = fr_json_parse(fr_text_get(&text), text.length, out, &document, err);
    if (status == FR_OK) status = fr_cluster_read(document, &cluster, err);
    if (status == FR_OK) status = fr_file_write_last(out, fr_text_get(&text), text.length, err);
    fr_cluster_free(&cluster);
    fr_json_free(document);
    fr_text_free(&text);
    return status;
}

static fr_status fit_and_print(const struct fr_samples *samples, const char *out,
                               const struct fr_fit_options *options, bool json,
                               struct fr_fit_result *result, struct fr_error *err) {
    struct fr_text text = {0};
    FR_TRY(fr_fit(samples, options, result, err));
    FR_TRY(judge(samples, result, err));
    if (out) FR_TRY(write_cluster(result, out, err));
    if (out && strcmp(out, "-") == 0) return FR_OK;
    if (json)
        fr_fitting_json(&text, samples, result);
    else {
        fr_fit_print(result, &text);
        fr_text_addf(&text, "\nverdict %s%s%s\n", result->judged.verdict,
                     result->judged.n_reasons ? ": " : "",
                     result->judged.n_reasons ? result->judged.reason[0] : "");
        if (out) fr_text_addf(&text, "cluster file: %s\n", out);
    }
    return fr_app_print(&text, err);
}

fr_status fr_fitting_run(const char *const *paths, int n_paths, const char *out,
                         const struct fr_fit_options *options, bool json,
                         struct fr_error *err) {
    struct fr_samples samples = {0};
    struct fr_fit_result result = {0};
    fr_status status = out ? fr_file_check_writable(out, err) : FR_OK;
    for (int i = 0; i < n_paths && status == FR_OK; i++)
        status = fr_samples_read(paths[i], &samples, err);
    if (status == FR_OK) status = fit_and_print(&samples, out, options, json, &result, err);
    fr_fit_free(&result);
    fr_samples_free(&samples);
    return status;
}
