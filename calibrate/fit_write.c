/* The cluster file of a fit (docs/files.md). */
#include <stdio.h>
#include <stdlib.h>

#include "base/json.h"
#include "calibrate/fit_parts.h"

static void add_quantity(struct fr_json_writer *w, const char *key, double si,
                         fr_quantity quantity) {
    char text[64];
    fr_json_add_string(w, key, fr_quantity_write(si, quantity, text, sizeof text));
}

/* For values whose last digits are noise: four significant digits are kept. */
static void add_rounded(struct fr_json_writer *w, const char *key, double si,
                        fr_quantity quantity) {
    char text[64];
    fr_json_add_string(w, key, fr_quantity_format(si, quantity, text, sizeof text));
}

static void add_quality(struct fr_json_writer *w, const struct fr_fit_quality *quality) {
    fr_json_key(w, "residuals");
    fr_json_begin_object(w);
    fr_json_add_number(w, "median", quality->median);
    fr_json_add_number(w, "p90", quality->p90);
    fr_json_add_integer(w, "points", quality->n);
    fr_json_end_object(w);
}

static void add_axis(struct fr_json_writer *w, const char *key, const int64_t *sizes, int n) {
    fr_json_key(w, key);
    fr_json_begin_array(w);
    for (int i = 0; i < n; i++) fr_json_put_integer(w, sizes[i]);
    fr_json_end_array(w);
}

static void add_gemm(struct fr_json_writer *w, const char *dtype,
                     const struct fr_fit_gemm *gemm) {
    char text[32];
    fr_json_key(w, dtype);
    fr_json_begin_object(w);
    fr_json_key(w, "table");
    fr_json_begin_object(w);
    add_axis(w, "m", gemm->m, gemm->n_m);
    add_axis(w, "n", gemm->n, gemm->n_n);
    add_axis(w, "k", gemm->k, gemm->n_k);
    fr_json_add_string(w, "unit", "us");
    fr_json_key(w, "time");
    fr_json_begin_array(w);
    for (int i = 0; i < gemm->n_m * gemm->n_n * gemm->n_k; i++) {
        snprintf(text, sizeof text, "%.4g", gemm->time_s[i] * 1e6);
        fr_json_put_number(w, strtod(text, NULL));
    }
    fr_json_end_array(w);
    fr_json_end_object(w);
    add_quality(w, &gemm->quality);
    fr_json_end_object(w);
}

static void add_power(struct fr_json_writer *w, const struct fr_fit_result *result) {
    fr_json_key(w, "power");
    fr_json_begin_object(w);
    add_quantity(w, "busy", result->busy_W, FR_QUANTITY_POWER);
    add_quantity(w, "idle", result->idle_W, FR_QUANTITY_POWER);
    fr_json_add_string(w, "quality", "estimated");
    fr_json_add_string(
        w, "source",
        result->power_given
            ? "stated on the command line, not measured"
            : "assumed, not measured: one core's share of a 350 W, 56-core server "
              "processor, a quarter of it idle");
    fr_json_end_object(w);
}

static void add_device(struct fr_json_writer *w, const struct fr_fit_result *result) {
    const char *cpu = result->provenance.cpu;
    char name[64];
    snprintf(name, sizeof name, "%.40s%s1 core", cpu, *cpu ? ", " : "");
    fr_json_key(w, "device");
    fr_json_begin_object(w);
    fr_json_add_string(w, "name", name);
    add_quantity(w, "memory", result->memory_B, FR_QUANTITY_SIZE);
    add_rounded(w, "memory_bandwidth", result->memory_rate_B_per_s, FR_QUANTITY_RATE);
    add_rounded(w, "launch", result->launch_s, FR_QUANTITY_TIME);
    add_quantity(w, "fixed", 0, FR_QUANTITY_TIME);
    fr_json_key(w, "gemm");
    fr_json_begin_object(w);
    for (int i = 0; i < FR_DTYPE_COUNT; i++)
        if (result->gemm[i].n_m > 0) add_gemm(w, fr_dtype_names[i], &result->gemm[i]);
    fr_json_end_object(w);
    add_power(w, result);
    fr_json_end_object(w);
}

static void add_levels(struct fr_json_writer *w, const struct fr_levels *levels) {
    fr_json_key(w, "levels");
    fr_json_begin_array(w);
    for (int i = 0; i < levels->count; i++) {
        const struct fr_level *level = &levels->level[i];
        fr_json_begin_object(w);
        fr_json_add_string(w, "name", level->name);
        fr_json_add_integer(w, "ranks", level->ranks);
        add_rounded(w, "latency", level->latency_s, FR_QUANTITY_TIME);
        add_rounded(w, "bandwidth", level->rate_B_per_s, FR_QUANTITY_RATE);
        fr_json_add_integer(w, "shared_by", level->shared_by);
        fr_json_end_object(w);
    }
    fr_json_end_array(w);
}

static void add_log(struct fr_json_writer *w, const struct fr_fit_log *log) {
    fr_json_add_string(w, "form", "log");
    fr_json_add_string(w, "message", "total");
    add_rounded(w, "c1", log->c1_s, FR_QUANTITY_TIME);
    add_rounded(w, "c2", log->c2_s_per_B, FR_QUANTITY_INVERSE_RATE);
    add_rounded(w, "c3", log->c3_s, FR_QUANTITY_TIME);
    add_quality(w, &log->quality);
}

static void add_curve(struct fr_json_writer *w, const struct fr_fit_curve *curve) {
    const struct fr_segment_fit *fit = &curve->fit;
    fr_json_begin_object(w);
    fr_json_add_integer(w, "ranks", fit->n_ranks);
    fr_json_add_string(w, "level", fr_sample_level_names[fit->level]);
    add_quantity(w, "min", fit->min_B, FR_QUANTITY_SIZE);
    add_quantity(w, "max", fit->max_B, FR_QUANTITY_SIZE);
    fr_json_key(w, "segments");
    fr_json_begin_array(w);
    for (int i = 0; i < fit->count; i++) {
        fr_json_begin_object(w);
        add_quantity(w, "up_to", fit->segments[i].up_to_B, FR_QUANTITY_SIZE);
        add_rounded(w, "latency", fit->segments[i].latency_s, FR_QUANTITY_TIME);
        add_rounded(w, "per_byte", fit->segments[i].s_per_B, FR_QUANTITY_INVERSE_RATE);
        fr_json_end_object(w);
    }
    fr_json_end_array(w);
    fr_json_end_object(w);
}

/* Curves of a level that the file does not have (samples merged from differently laid out
 * runs) are left out. */
static void add_segments(struct fr_json_writer *w, const struct fr_fit_result *result,
                         const struct fr_fit_op *op) {
    fr_json_add_string(w, "form", "segments");
    fr_json_add_string(w, "message", "total");
    fr_json_key(w, "fits");
    fr_json_begin_array(w);
    for (int i = 0; i < op->n_curves; i++)
        if (result->level_index[op->curves[i].fit.level] >= 0) add_curve(w, &op->curves[i]);
    fr_json_end_array(w);
    add_quality(w, &op->segments);
}

static bool has_curve(const struct fr_fit_result *result, const struct fr_fit_op *op) {
    for (int i = 0; i < op->n_curves; i++)
        if (result->level_index[op->curves[i].fit.level] >= 0) return true;
    return false;
}

static void add_collectives(struct fr_json_writer *w, const struct fr_fit_result *result) {
    fr_json_key(w, "collectives");
    fr_json_begin_object(w);
    for (int i = 0; i < FR_OP_COUNT; i++) {
        const struct fr_fit_op *op = &result->ops[i];
        if (op->n_points == 0 || !(op->use_log || has_curve(result, op))) continue;
        fr_json_key(w, fr_op_names[i]);
        fr_json_begin_object(w);
        if (op->use_log)
            add_log(w, &op->log);
        else
            add_segments(w, result, op);
        fr_json_end_object(w);
    }
    fr_json_end_object(w);
}

static void add_calibration(struct fr_json_writer *w, const struct fr_provenance *p) {
    fr_json_key(w, "calibration");
    fr_json_begin_object(w);
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
    fr_json_end_object(w);
}

void fr_fit_write_cluster(const struct fr_fit_result *result, struct fr_text *text) {
    const struct fr_provenance *p = &result->provenance;
    struct fr_json_writer w = {.text = text, .indent = 1};
    char source[256];
    snprintf(source, sizeof source, "measured on %.90s, %.30s, with %lld ranks%s", p->host,
             *p->date ? p->date : "no date", (long long)p->ranks,
             p->oversubscribed ? ", more than there are cores" : "");
    fr_json_begin_object(&w);
    fr_json_add_string(&w, "name", result->name);
    fr_json_add_string(&w, "source", source);
    add_device(&w, result);
    add_levels(&w, &result->levels);
    add_collectives(&w, result);
    add_calibration(&w, p);
    fr_json_end_object(&w);
}
