/* The cluster file of a fit (docs/reference/cluster-keys.md). */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/json/file_schema.h"
#include "base/json/quantity.h"
#include "calibrate/fit/write.h"

void fr_fit_add_rounded(struct fr_json_writer *w, const char *key, double si,
                        fr_quantity quantity) {
    char text[64];
    fr_json_add_string(w, key, fr_quantity_format(si, quantity, text, sizeof text));
}

void fr_fit_add_residuals(struct fr_json_writer *w, const struct fr_fit_quality *quality,
                          double beyond_octave) {
    fr_json_add_object(w, "residuals");
    fr_json_add_number(w, "median", quality->median);
    fr_json_add_number(w, "p90", quality->p90);
    fr_json_add_integer(w, "points", quality->n);
    if (beyond_octave > 0)
        fr_json_add_number(w, "beyond_octave", floor(beyond_octave * 1e4 + 0.5) / 1e4);
    fr_json_end_object(w);
}

static void add_axis(struct fr_json_writer *w, const char *key, const int64_t *sizes, int n) {
    fr_json_add_array(w, key);
    for (int i = 0; i < n; i++) fr_json_put_integer(w, sizes[i]);
    fr_json_end_array(w);
}

static void add_table(struct fr_json_writer *w, const char *key,
                      const struct fr_fit_gemm *gemm) {
    char text[32];
    fr_json_add_object(w, key);
    add_axis(w, "m", gemm->m, gemm->n_m);
    add_axis(w, "n", gemm->n, gemm->n_n);
    add_axis(w, "k", gemm->k, gemm->n_k);
    fr_json_add_string(w, "unit", "us");
    fr_json_add_array(w, "time");
    for (int i = 0; i < gemm->n_m * gemm->n_n * gemm->n_k; i++) {
        snprintf(text, sizeof text, "%.4g", gemm->time_s[i] * 1e6);
        fr_json_put_number(w, strtod(text, NULL));
    }
    fr_json_end_array(w);
    fr_json_end_object(w);
}

static void add_transposed(struct fr_json_writer *w, const struct fr_fit_result *result) {
    bool any = false;
    for (int t = 0; t < FR_TRANSPOSED_KINDS; t++) {
        if (result->transposed[t].n_m == 0) continue;
        if (!any) fr_json_add_object(w, "transposed");
        any = true;
        add_table(w, fr_transposed_names[t], &result->transposed[t]);
    }
    if (any) fr_json_end_object(w);
}

static void add_other_ways(struct fr_json_writer *w, const struct fr_fit_result *result) {
    if (result->from_memory.n_m > 0) add_table(w, "from_memory", &result->from_memory);
    if (result->adds.n_m > 0) add_table(w, "adds", &result->adds);
    add_transposed(w, result);
}

static void add_gemm(struct fr_json_writer *w, fr_dtype dtype,
                     const struct fr_fit_result *result) {
    fr_json_add_object(w, fr_dtype_names[dtype]);
    add_table(w, "table", &result->gemm[dtype]);
    if (dtype == FR_FP32) add_other_ways(w, result);
    fr_fit_add_residuals(w, &result->gemm[dtype].quality, result->gemm[dtype].beyond_octave);
    fr_json_end_object(w);
}

void fr_fit_add_power(struct fr_json_writer *w, const struct fr_fit_result *result) {
    fr_json_add_object(w, "power");
    fr_json_add_quantity(w, "busy", result->busy_W, FR_QUANTITY_POWER);
    fr_json_add_quantity(w, "idle", result->idle_W, FR_QUANTITY_POWER);
    if (result->communicating_W >= 0)
        fr_json_add_quantity(w, "communicating", result->communicating_W, FR_QUANTITY_POWER);
    fr_json_add_string(w, "quality", fr_quality_names[result->power_quality]);
    fr_json_add_string(w, "source", result->power_source);
    fr_json_end_object(w);
}

void fr_fit_add_share(struct fr_json_writer *w, const char *key, double share) {
    fr_json_add_number(w, key, floor(share * 1e4 + 0.5) / 1e4);
}

static void add_clock(struct fr_json_writer *w, const struct fr_fit_clock *clock) {
    if (!clock->known) return;
    fr_json_add_object(w, "clock");
    fr_json_add_quantity(w, "max", clock->max_Hz, FR_QUANTITY_FREQUENCY);
    fr_json_add_quantity(w, "min", clock->min_Hz, FR_QUANTITY_FREQUENCY);
    fr_json_add_quantity(w, "step", clock->step_Hz, FR_QUANTITY_FREQUENCY);
    fr_json_add_quantity(w, "knee", clock->knee_Hz, FR_QUANTITY_FREQUENCY);
    fr_fit_add_share(w, "rise", clock->rise);
    fr_fit_add_share(w, "static", clock->static_share);
    fr_fit_add_share(w, "fixed", clock->fixed_share);
    fr_json_add_string(w, "source",
                       "power and time of products and passes over memory at "
                       "clocks that were set");
    fr_json_end_object(w);
}

static void add_rates(struct fr_json_writer *w, const char *key, const double *s_per_B, int n) {
    const double fastest_B_per_s = 1e15; /* stands for: nothing beyond */
    char text[64];
    fr_json_add_array(w, key);
    for (int i = 0; i < n; i++)
        fr_json_put_string(w, fr_quantity_format(s_per_B[i] * fastest_B_per_s > 1
                                                     ? fr_fit_rate(1 / s_per_B[i])
                                                     : fastest_B_per_s,
                                                 FR_QUANTITY_RATE, text, sizeof text));
    fr_json_end_array(w);
}

static void add_working_sets(struct fr_json_writer *w, const struct fr_fit_working_sets *sets) {
    char text[64];
    if (sets->n < 2) return;
    fr_json_add_object(w, "working_sets");
    fr_json_add_array(w, "size");
    for (int i = 0; i < sets->n; i++)
        fr_json_put_string(
            w, fr_quantity_write(sets->size_B[i], FR_QUANTITY_SIZE, text, sizeof text));
    fr_json_end_array(w);
    for (int kind = 0; kind < FR_TRAFFIC_COUNT; kind++)
        if (kind != FR_TRAFFIC_SELECT || sets->selects)
            add_rates(w, fr_traffic_names[kind], sets->s_per_B[kind], sets->n);
    fr_json_end_object(w);
}

static void add_disturbance(struct fr_json_writer *w, const struct fr_fit_speed *speed) {
    if (speed->n > 0 || speed->usual_products != 1) {
        fr_json_add_object(w, "usual");
        fr_fit_add_share(w, "products", speed->usual_products);
        fr_fit_add_share(w, "memory", speed->usual_memory);
        fr_json_end_object(w);
    }
    if (!(speed->interruptions.every_s > 0)) return;
    fr_json_add_object(w, "interruptions");
    fr_fit_add_rounded(w, "every", speed->interruptions.every_s, FR_QUANTITY_TIME);
    fr_fit_add_rounded(w, "length", speed->interruptions.length_s, FR_QUANTITY_TIME);
    fr_json_end_object(w);
}

static void add_device(struct fr_json_writer *w, const struct fr_fit_result *result) {
    const char *cpu = result->provenance.cpu;
    char name[64];
    snprintf(name, sizeof name, "%.40s%s1 core", cpu, *cpu ? ", " : "");
    fr_json_add_object(w, "device");
    fr_json_add_string(w, "name", name);
    fr_json_add_quantity(w, "memory", result->memory_B, FR_QUANTITY_SIZE);
    fr_fit_add_rounded(w, "memory_bandwidth", result->memory_rate_B_per_s, FR_QUANTITY_RATE);
    add_working_sets(w, &result->working_sets);
    add_disturbance(w, &result->speed);
    fr_fit_add_rounded(w, "launch", result->launch_s, FR_QUANTITY_TIME);
    fr_json_add_quantity(w, "fixed", 0, FR_QUANTITY_TIME);
    fr_json_add_object(w, "gemm");
    for (int i = 0; i < FR_DTYPE_COUNT; i++)
        if (result->gemm[i].n_m > 0) add_gemm(w, (fr_dtype)i, result);
    fr_json_end_object(w);
    add_clock(w, &result->clock);
    fr_fit_add_power(w, result);
    fr_json_end_object(w);
}

static void add_levels(struct fr_json_writer *w, const struct fr_levels *levels) {
    fr_json_add_array(w, "levels");
    for (int i = 0; i < levels->count; i++) {
        const struct fr_level *level = &levels->level[i];
        fr_json_begin_object(w);
        fr_json_add_string(w, "name", level->name);
        fr_json_add_integer(w, "ranks", level->ranks);
        fr_fit_add_rounded(w, "latency", level->latency_s, FR_QUANTITY_TIME);
        fr_fit_add_rounded(w, "bandwidth", level->rate_B_per_s, FR_QUANTITY_RATE);
        fr_json_add_integer(w, "shared_by", level->shared_by);
        fr_json_end_object(w);
    }
    fr_json_end_array(w);
}

/* Forms were fitted with level 1 for whatever is over several nodes. */
static void relevel(struct fr_price *price, int outermost) {
    if (outermost < 1) return;
    for (int i = 0; i < price->n_fits; i++)
        if (price->fits[i].level == 1) price->fits[i].level = outermost;
    for (int i = 0; i < price->similarity.n_tables; i++)
        if (price->similarity.tables[i].level == 1)
            price->similarity.tables[i].level = outermost;
    price->similarity.law[outermost] = price->similarity.law[1];
}

static void add_price(struct fr_json_writer *w, const struct fr_fit_result *result,
                      const struct fr_fit_op *op) {
    struct fr_price price = op->candidate[op->chosen].price; /* its arrays are put back below */
    relevel(&price, result->outermost);
    fr_price_write(&price, &result->levels, w);
    for (int i = 0; i < price.n_fits; i++) price.fits[i].level = price.fits[i].level > 0;
    for (int i = 0; i < price.similarity.n_tables; i++)
        price.similarity.tables[i].level = price.similarity.tables[i].level > 0;
}

/* Measured collectives; those of the base where none were measured. */
static void add_collectives(struct fr_json_writer *w, const struct fr_fit_result *result) {
    struct fr_json root = {0}, base = {0};
    if (result->base) {
        root = fr_json_root(result->base);
        base = fr_json_member(&root, "collectives");
    }
    fr_json_add_object(w, "collectives");
    for (int i = 0; i < FR_OP_COUNT; i++) {
        const struct fr_fit_op *op = &result->ops[i];
        struct fr_json previous = fr_json_member(&base, fr_op_names[i]);
        if (op->n_points == 0 && !fr_json_present(&previous)) continue;
        fr_json_key(w, fr_op_names[i]);
        if (op->n_points > 0)
            add_price(w, result, op);
        else
            fr_json_put_copy(w, &previous);
    }
    fr_json_end_object(w);
}

static void add_base(struct fr_json_writer *w, const struct fr_fit_result *result,
                     const char *key) {
    struct fr_json root = {0}, member = {0};
    if (!result->base) return;
    root = fr_json_root(result->base);
    member = fr_json_member(&root, key);
    if (!fr_json_present(&member)) return;
    fr_json_key(w, key);
    fr_json_put_copy(w, &member);
}

static void add_series(struct fr_json_writer *w, const struct fr_fit_result *result) {
    fr_json_add_object(w, "series");
    for (int i = 0; i < FR_OP_COUNT; i++)
        if (result->ops[i].n_points > 0 && *result->ops[i].series)
            fr_json_add_string(w, fr_op_names[i], result->ops[i].series);
    fr_json_end_object(w);
}

static void add_verdict(struct fr_json_writer *w, const struct fr_fit_result *result) {
    const struct fr_fit_verdict *judged = &result->judged;
    double held_out = fr_fit_held_out(result);
    if (!isnan(held_out)) fr_json_add_number(w, "held_out", floor(held_out * 1e4 + 0.5) / 1e4);
    fr_json_add_number(w, "variation", floor(fr_fit_variation(result) * 1e4 + 0.5) / 1e4);
    if (!judged->verdict) return;
    fr_json_add_string(w, "verdict", judged->verdict);
    fr_json_add_array(w, "reasons");
    for (int i = 0; i < judged->n_reasons; i++) fr_json_put_string(w, judged->reason[i]);
    fr_json_end_array(w);
}

static void add_calibration(struct fr_json_writer *w, const struct fr_fit_result *result) {
    const struct fr_provenance *p = &result->provenance;
    fr_json_add_object(w, "calibration");
    fr_json_add_string(w, "date", p->date);
    fr_json_add_string(w, "host", p->host);
    fr_json_add_string(w, "kernel", p->kernel);
    fr_json_add_string(w, "cpu", p->cpu);
    fr_json_add_integer(w, "cores", p->cores);
    fr_json_add_string(w, "mpi", p->mpi);
    fr_json_add_string(w, "blas", p->blas);
    fr_json_add_string(w, "blas_core", p->blas_core);
    fr_json_add_integer(w, "ranks", p->ranks);
    fr_json_add_integer(w, "ranks_per_node", p->ranks_per_node);
    fr_json_add_integer(w, "nodes", p->nodes);
    fr_json_add_bool(w, "oversubscribed", p->oversubscribed);
    fr_json_add_integer(w, "seed", p->seed);
    fr_json_add_string(w, "version", p->version);
    add_verdict(w, result);
    add_series(w, result);
    fr_json_end_object(w);
}

void fr_fit_write_cluster(const struct fr_fit_result *result, struct fr_text *text) {
    const struct fr_provenance *p = &result->provenance;
    struct fr_json_writer w = {.text = text, .indent = 1};
    char source[512], base[64] = "the base";
    char count[40] = "one ";
    if (p->ranks > 1) snprintf(count, sizeof count, "%lld times ", (long long)p->ranks);
    if (result->card.present) {
        struct fr_json root = fr_json_root(result->base);
        fr_json_get_string(&root, "name", false, base, sizeof base, NULL);
        snprintf(source, sizeof source,
                 "measured on %s%.90s of %.60s, %.30s, driver %.40s, %.120s; what was not "
                 "measured "
                 "is of %.60s",
                 count, p->device, p->host, *p->date ? p->date : "no date", p->device_driver,
                 p->device_libraries, base);
    } else if (strcmp(p->host, FR_HOST_IMPORTED) == 0)
        snprintf(source, sizeof source, "fitted to imported measurements, up to %lld ranks",
                 (long long)p->ranks);
    else
        snprintf(source, sizeof source, "measured on %.90s, %.30s, with %lld ranks%s", p->host,
                 *p->date ? p->date : "no date", (long long)p->ranks,
                 p->oversubscribed ? ", more than there are cores" : "");
    fr_json_begin_object(&w);
    fr_file_schema_put(&w, "cluster");
    fr_json_add_string(&w, "name", result->name);
    fr_json_add_string(&w, "source", source);
    bool singles = fr_fit_any_single(result) || result->card.present;
    if (singles)
        fr_fit_add_base_device(&w, result);
    else if (result->has_device)
        add_device(&w, result);
    else
        add_base(&w, result, "device");
    if (singles) fr_fit_add_single_widths(&w, result);
    if (result->base)
        add_base(&w, result, "levels");
    else
        add_levels(&w, &result->levels);
    add_base(&w, result, "topology");
    add_collectives(&w, result);
    add_calibration(&w, result);
    fr_json_end_object(&w);
}
