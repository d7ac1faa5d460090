/* The document "forerun/fit/1": every point with all fits, how each form did, and what was measured. */
#include <math.h>
#include <stdio.h>

#include "base/json/interval.h"
#include "base/text/version.h"
#include "calibrate/fit/fit.h"
#include "calibrate/fit/rates.h"

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
    fr_json_add_interval(w, "_s", p->median_s / (1 + spread), p->median_s * (1 + spread));
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
    fr_json_add_array(w, "points");
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

/* Forms fitted to products of others. */
static void json_singles(struct fr_json_writer *w, const struct fr_fit_result *result) {
    fr_json_add_array(w, "products");
    for (int d = 0; d < FR_DTYPE_COUNT; d++) {
        const struct fr_fit_singles *s = &result->singles[d];
        if (s->n == 0) continue;
        fr_json_begin_object(w);
        fr_json_add_string(w, "dtype", fr_dtype_names[d]);
        fr_json_add_integer(w, "n", s->n);
        fr_json_add_object(w, "values");
        for (int k = 0; k < FR_PRODUCT_VALUES; k++)
            fr_json_add_number(w, s->names[k], s->value[k]);
        fr_json_end_object(w);
        fr_json_add_object(w, "widths");
        for (int k = 0; k < FR_PRODUCT_VALUES; k++)
            fr_json_add_number(w, s->names[k], s->sigma[k]);
        fr_json_end_object(w);
        json_quality(w, "fitted", &s->quality);
        json_quality(w, "held_out", &s->held_out);
        fr_json_end_object(w);
    }
    fr_json_end_array(w);
}

/* Imported files. */
static void json_sources(struct fr_json_writer *w, const struct fr_samples *samples) {
    fr_json_add_array(w, "sources");
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
    fr_json_add_object(w, "machine");
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

/* Measured values of an accelerator besides products; null: the base's. */
static void json_card(struct fr_json_writer *w, const struct fr_fit_result *result) {
    const struct fr_fit_card *card = &result->card;
    const struct {
        const char *key;
        double value;
    } values[] = {{"memory_B", card->memory_B},
                  {"memory_B_per_s", card->memory_rate_B_per_s},
                  {"host_link_B_per_s", card->link_rate_B_per_s},
                  {"launch_s", card->launch_s},
                  {"graph_launch_s", card->graph_s},
                  {"interference", card->interference},
                  {"attention_flash", result->attention.flash},
                  {"attention_half_keys", result->attention.half_keys},
                  {"attention_backward", result->attention.backward},
                  {"attention_flash_2", result->attention.flash_2},
                  {"attention_exponentials", result->attention.exponentials},
                  {"attention_backward_keys", result->attention.backward_keys},
                  {"attention_flash_2_backward", result->attention.flash_2_backward}};
    if (!card->present) return;
    fr_json_add_object(w, "device");
    fr_json_add_string(w, "name", result->provenance.device);
    fr_json_add_string(w, "driver", result->provenance.device_driver);
    fr_json_add_string(w, "libraries", result->provenance.device_libraries);
    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        fr_json_add_number(w, values[i].key, values[i].value > 0 ? values[i].value : NAN);
    fr_json_end_object(w);
}

static void json_provenance(struct fr_json_writer *w, const struct fr_fit_result *result) {
    const struct fr_provenance *p = &result->provenance;
    fr_json_add_object(w, "provenance");
    fr_json_add_string(w, "version", fr_version);
    fr_json_add_string(w, "cluster", result->name);
    fr_json_add_string(w, "date", p->date);
    fr_json_add_string(w, "host", p->host);
    fr_json_add_string(w, "cpu", p->cpu);
    fr_json_add_string(w, "mpi", p->mpi);
    fr_json_add_string(w, "blas", p->blas);
    fr_json_add_integer(w, "ranks", p->ranks);
    fr_json_add_integer(w, "nodes", p->nodes);
    fr_json_add_integer(w, "ranks_per_node", p->ranks_per_node);
    fr_json_add_string(w, "kernel", p->kernel);
    fr_json_add_string(w, "pinning", p->pinning);
    fr_json_add_string(w, "hosts", p->hosts);
    fr_json_add_number(w, "clock_resolution_s",
                       p->clock_resolution_s > 0 ? p->clock_resolution_s : NAN);
    fr_json_add_bool(w, "simulated", p->simulated);
    fr_json_add_bool(w, "oversubscribed", p->oversubscribed);
    fr_json_add_integer(w, "seed", p->seed);
    fr_json_end_object(w);
}

void fr_fit_json(struct fr_text *text, const struct fr_samples *samples,
                 const struct fr_fit_result *result) {
    struct fr_json_writer w = {.text = text, .indent = 2};
    fr_json_begin_object(&w);
    fr_json_add_string(&w, "schema", "forerun/fit/1");
    json_provenance(&w, result);
    json_machine(&w, result);
    fr_json_add_number(&w, "held_out", fr_fit_held_out(result));
    fr_json_add_array(&w, "not_measured");
    for (int i = 0; i < result->n_missing; i++) fr_json_put_string(&w, result->missing[i]);
    fr_json_end_array(&w);
    fr_json_add_array(&w, "series");
    for (int op = 0; op < FR_OP_COUNT; op++)
        for (int c = 0; c < result->ops[op].n_curves; c++)
            json_series(&w, &result->ops[op], &result->ops[op].curves[c]);
    fr_json_end_array(&w);
    json_sources(&w, samples);
    fr_json_add_array(&w, "operations");
    for (int op = 0; op < FR_OP_COUNT; op++)
        if (result->ops[op].n_points > 0) json_forms(&w, &result->ops[op]);
    fr_json_end_array(&w);
    fr_json_add_array(&w, "gemm");
    for (int d = 0; d < FR_DTYPE_COUNT; d++) json_gemm(&w, &result->gemm[d], fr_dtype_names[d]);
    fr_json_end_array(&w);
    json_singles(&w, result);
    json_card(&w, result);
    fr_fit_json_rates(&w, samples, result);
    fr_json_add_object(&w, "gemm_left_out");
    for (int d = 0; d < FR_DTYPE_COUNT; d++)
        if (result->gemm[d].n_m > 0)
            json_quality(&w, fr_dtype_names[d], &result->gemm[d].quality);
    fr_json_end_object(&w);
    fr_json_end_object(&w);
}
