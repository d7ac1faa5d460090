#include "calibrate/fit/rates.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "calibrate/fit/parts.h"
#include "models/job/cluster.h"

enum { POINTS_MAX = 1024, ROOF_POINTS = 48 };

/* A point of the roofline. */
struct placed {
    fr_dtype dtype;
    const char *what; /* products, or attention */
    char point[96];
    double flop_per_B, rate_flop_per_s;
};

struct rates {
    struct fr_json_writer *w;
    const struct fr_samples *samples;
    struct fr_device device; /* as the cluster file describes it */
    struct placed *placed;
    size_t n_placed;
};

/* ---- the roofline ------------------------------------------------------------------------------------ */

static void add_row(struct fr_json_writer *w, const char *of, const char *point,
                    double flop_per_B, double rate) {
    fr_json_begin_object(w);
    fr_json_add_string(w, "of", of);
    fr_json_add_string(w, "point", point);
    fr_json_add_number(w, "flop_per_B", flop_per_B);
    fr_json_add_number(w, "rate_flop_per_s", rate);
    fr_json_end_object(w);
}

static double peak_of(const struct fr_device *device, fr_dtype dtype) {
    return device->gemm[dtype].form ? fr_gemm_nominal_flop_per_s(&device->gemm[dtype]) : 0;
}

/* Evenly spaced in logarithms, so that they read as a line. */
static void add_roof(const struct rates *r, fr_dtype dtype) {
    char of[48];
    bool has = false;
    double peak = peak_of(&r->device, dtype), rate = r->device.memory_rate_B_per_s;
    if (!(peak > 0) || !(rate > 0)) return;
    double from = 0.3 * peak / rate, to = 3 * peak / rate;
    for (size_t i = 0; i < r->n_placed; i++) {
        const struct placed *p = &r->placed[i];
        has = has || p->dtype == dtype;
        from = fmin(from, p->flop_per_B), to = fmax(to, p->flop_per_B);
    }
    if (!has) return;
    snprintf(of, sizeof of, "roof, %s", fr_dtype_names[dtype]);
    for (int i = 0; i < ROOF_POINTS; i++) {
        double intensity = from * pow(to / from, i / (ROOF_POINTS - 1.0));
        add_row(r->w, of, "", intensity, fmin(peak, intensity * rate));
    }
}

static void add_roofline(const struct rates *r) {
    fr_json_add_array(r->w, "roofline");
    for (size_t i = 0; i < r->n_placed; i++) {
        const struct placed *p = &r->placed[i];
        char of[48];
        snprintf(of, sizeof of, "%s %s", fr_dtype_names[p->dtype], p->what);
        add_row(r->w, of, p->point, p->flop_per_B, p->rate_flop_per_s);
    }
    for (int d = 0; d < FR_DTYPE_COUNT; d++) add_roof(r, (fr_dtype)d);
    fr_json_end_array(r->w);
}

/* ---- products ---------------------------------------------------------------------------------------- */

static double product_s(const struct fr_device *device, const struct fr_sample_gemm *s) {
    bool extrapolated = false, gradient = s->transposed == FR_TRANSPOSED_A;
    const struct fr_gemm_shape shape = {.m = (double)s->n,
                                        .n = (double)s->m,
                                        .k = (double)s->k,
                                        .at_once = s->batch > 1 ? (double)s->batch : 0};
    if (!device->gemm[s->dtype].form) return NAN;
    double one_s =
        fr_gemm_time_of_s(device, s->dtype, &shape, (struct fr_gemm_use){0}, &extrapolated);
    if (!gradient) one_s += fr_gemm_own_s(device, s->dtype, &shape);
    return (double)s->batch * one_s;
}

static void add_product(struct rates *r, const struct fr_sample_gemm *s) {
    static const char *const ways[] = {"", "input gradient", "weight gradient", "forward"};
    struct placed *point = &r->placed[r->n_placed++];
    double m = (double)s->m, n = (double)s->n, k = (double)s->k, b = (double)s->batch;
    double flop = 2 * b * m * n * k, predicted_s = product_s(&r->device, s),
           peak = peak_of(&r->device, s->dtype),
           moved_B = b * ((m + n) * k * fr_dtype_size_B(s->dtype) +
                          m * n * fr_dtype_saved_B(s->dtype));
    fr_json_begin_object(r->w);
    fr_json_add_string(r->w, "dtype", fr_dtype_names[s->dtype]);
    fr_json_add_integer(r->w, "m", s->m);
    fr_json_add_integer(r->w, "n", s->n);
    fr_json_add_integer(r->w, "k", s->k);
    fr_json_add_integer(r->w, "at_once", s->batch);
    fr_json_add_string(r->w, "way", ways[s->transposed]);
    fr_json_add_string(r->w, "scales", s->blocks ? "blocks" : "");
    fr_json_add_number(r->w, "median_s", s->time_s);
    fr_json_add_number(r->w, "rate_flop_per_s", flop / s->time_s);
    fr_json_add_number(r->w, "peak_share", peak > 0 ? flop / s->time_s / peak : NAN);
    fr_json_add_number(r->w, "fit_error",
                       s->blocks ? NAN
                                 : floor((predicted_s / s->time_s - 1) * 1e4 + 0.5) / 1e4);
    fr_json_end_object(r->w);
    *point = (struct placed){.dtype = s->dtype,
                             .what = "products",
                             .flop_per_B = flop / moved_B,
                             .rate_flop_per_s = flop / s->time_s};
    snprintf(point->point, sizeof point->point, "%lld x %lld x %lld, %lld at once%s",
             (long long)s->m, (long long)s->n, (long long)s->k, (long long)s->batch,
             s->blocks ? ", scales of blocks" : "");
}

static void add_products(struct rates *r, struct fr_sample_gemm *samples, size_t n) {
    const struct fr_samples part = {.gemm = samples, .n_gemm = n};
    struct fr_sample_gemm *points = NULL;
    size_t n_points = 0;
    if (fr_fit_card_products(&part, &points, &n_points) != FR_OK) {
        r->w->text->failed = true;
        return;
    }
    for (size_t i = 0; i < n_points && i < POINTS_MAX; i++) add_product(r, &points[i]);
    free(points);
}

/* ---- all else: the median of each kind of sample ------------------------------------------------------- */

typedef bool same_fn(const struct fr_samples *s, size_t a, size_t b);
typedef double time_fn(const struct fr_samples *s, size_t i);
typedef void add_fn(struct rates *r, size_t i, double median_s);

static void add_points(struct rates *r, size_t n, same_fn *same, time_fn *time_of,
                       add_fn *add) {
    double *times_s = fr_malloc(n + 1, sizeof *times_s);
    bool *seen = fr_calloc(n + 1, sizeof *seen);
    int n_points = 0;
    for (size_t i = 0; times_s && seen && i < n && n_points < POINTS_MAX; i++) {
        size_t found = 0;
        if (seen[i]) continue;
        for (size_t j = i; j < n; j++) {
            if (seen[j] || !same(r->samples, i, j)) continue;
            seen[j] = true;
            times_s[found++] = time_of(r->samples, j);
        }
        add(r, i, fr_fit_median(times_s, found));
        n_points++;
    }
    r->w->text->failed = r->w->text->failed || !times_s || !seen;
    free(times_s);
    free(seen);
}

static bool same_attention(const struct fr_samples *s, size_t i, size_t j) {
    return fr_fit_is_same_attention(&s->attention[i], &s->attention[j]);
}
static double attention_time_s(const struct fr_samples *s, size_t i) {
    return s->attention[i].time_s;
}

/* A forward pass reads queries, keys and values and writes the result; a backward pass also reads that and its gradient and
 * writes three. */
static void add_attention(struct rates *r, size_t i, double median_s) {
    const struct fr_sample_attention *a = &r->samples->attention[i];
    struct placed *point = &r->placed[r->n_placed++];
    double b = (double)a->batch, s = (double)a->sequence, d = (double)a->width,
           h = (double)a->heads, g = (double)a->kv_heads, backward = a->pass;
    double flop = fr_fit_attention_flop(a),
           moved_B = fr_dtype_size_B(a->dtype) * b * s * d * 2 * (1 + backward) * (h + g),
           peak = peak_of(&r->device, a->dtype);
    fr_json_begin_object(r->w);
    fr_json_add_string(r->w, "kernel", fr_sample_attention_names[a->kernel]);
    fr_json_add_string(r->w, "pass", fr_sample_pass_names[a->pass]);
    fr_json_add_string(r->w, "dtype", fr_dtype_names[a->dtype]);
    fr_json_add_integer(r->w, "batch", a->batch);
    fr_json_add_integer(r->w, "sequence", a->sequence);
    fr_json_add_integer(r->w, "heads", a->heads);
    fr_json_add_integer(r->w, "kv_heads", a->kv_heads);
    fr_json_add_integer(r->w, "head_width", a->width);
    fr_json_add_bool(r->w, "causal", a->causal);
    fr_json_add_number(r->w, "median_s", median_s);
    fr_json_add_number(r->w, "rate_flop_per_s", flop / median_s);
    fr_json_add_number(r->w, "peak_share", peak > 0 ? flop / median_s / peak : NAN);
    fr_json_end_object(r->w);
    *point = (struct placed){.dtype = a->dtype,
                             .what = "attention",
                             .flop_per_B = flop / moved_B,
                             .rate_flop_per_s = flop / median_s};
    snprintf(point->point, sizeof point->point, "%s %s, %lld x %lld, %lld heads of %lld",
             fr_sample_attention_names[a->kernel], fr_sample_pass_names[a->pass],
             (long long)a->batch, (long long)a->sequence, (long long)a->heads,
             (long long)a->width);
}

static bool same_pass(const struct fr_samples *s, size_t i, size_t j) {
    const struct fr_sample_memory *a = &s->memory[i], *b = &s->memory[j];
    return a->kernel == b->kernel && a->size_B == b->size_B && a->moved_B == b->moved_B;
}
static double pass_time_s(const struct fr_samples *s, size_t i) { return s->memory[i].time_s; }

static void add_pass(struct rates *r, size_t i, double median_s) {
    const struct fr_sample_memory *m = &r->samples->memory[i];
    fr_json_begin_object(r->w);
    fr_json_add_string(r->w, "kernel", fr_traffic_names[m->kernel]);
    fr_json_add_number(r->w, "in_use_B", m->size_B);
    fr_json_add_number(r->w, "moved_B", m->moved_B);
    fr_json_add_number(r->w, "median_s", median_s);
    fr_json_add_number(r->w, "rate_B_per_s", m->moved_B / median_s);
    fr_json_end_object(r->w);
}

static bool same_copy(const struct fr_samples *s, size_t i, size_t j) {
    const struct fr_sample_link *a = &s->link[i], *b = &s->link[j];
    return a->way == b->way && a->pinned == b->pinned && a->size_B == b->size_B;
}
static double copy_time_s(const struct fr_samples *s, size_t i) { return s->link[i].time_s; }

static void add_copy(struct rates *r, size_t i, double median_s) {
    const struct fr_sample_link *l = &r->samples->link[i];
    fr_json_begin_object(r->w);
    fr_json_add_string(r->w, "way", fr_sample_way_names[l->way]);
    fr_json_add_bool(r->w, "pinned", l->pinned);
    fr_json_add_number(r->w, "size_B", l->size_B);
    fr_json_add_number(r->w, "median_s", median_s);
    fr_json_add_number(r->w, "rate_B_per_s", l->size_B / median_s);
    fr_json_end_object(r->w);
}

static void add_at_once(const struct rates *r, const struct fr_fit_card *card) {
    fr_json_add_array(r->w, "at_once");
    for (int i = 0; i < card->n_at_once; i++) {
        const struct fr_fit_at_once *a = &card->at_once[i];
        bool pairs = a->op == FR_OP_SEND_RECV;
        fr_json_begin_object(r->w);
        fr_json_add_string(r->w, "op", fr_op_names[a->op]);
        fr_json_add_string(r->w, "level", fr_sample_level_names[a->level]);
        fr_json_add_string(r->w, "layout",
                           pairs ? fr_sample_direction_names[a->layout]
                                 : fr_sample_layout_names[a->layout]);
        fr_json_add_integer(r->w, "at_once", a->n);
        fr_json_add_integer(r->w, "ranks", a->n_ranks);
        fr_json_add_number(r->w, "size_B", a->size_B);
        fr_json_add_number(r->w, "times_as_long", a->slower);
        fr_json_end_object(r->w);
    }
    fr_json_end_array(r->w);
}

/* ---- the document ------------------------------------------------------------------------------------ */

/* The device of the file that this fit writes. @return false: it cannot be read back */
static bool read_device(const struct fr_fit_result *result, struct fr_cluster *cluster) {
    struct fr_json_document *document = NULL;
    struct fr_text text = {0};
    fr_fit_write_cluster(result, &text);
    struct fr_error ignored;
    bool read =
        !text.failed &&
        fr_json_parse(fr_text_get(&text), text.length, "fit", &document, NULL) == FR_OK &&
        fr_cluster_read(document, cluster, &ignored) == FR_OK;
    fr_json_free(document);
    fr_text_free(&text);
    return read;
}

static void add_all(struct rates *r, const struct fr_fit_card *card) {
    const struct fr_samples *s = r->samples;
    fr_json_add_object(r->w, "rates");
    fr_json_add_array(r->w, "products");
    add_products(r, s->gemm, s->n_gemm);
    add_products(r, s->batched, s->n_batched);
    add_products(r, s->scaled, s->n_scaled);
    fr_json_end_array(r->w);
    fr_json_add_array(r->w, "attention");
    add_points(r, s->n_attention, same_attention, attention_time_s, add_attention);
    fr_json_end_array(r->w);
    fr_json_add_array(r->w, "memory");
    add_points(r, s->n_memory, same_pass, pass_time_s, add_pass);
    fr_json_end_array(r->w);
    fr_json_add_array(r->w, "link");
    add_points(r, s->n_link, same_copy, copy_time_s, add_copy);
    fr_json_end_array(r->w);
    add_at_once(r, card);
    fr_json_end_object(r->w);
}

void fr_fit_json_rates(struct fr_json_writer *w, const struct fr_samples *samples,
                       const struct fr_fit_result *result) {
    const struct fr_samples *s = samples;
    struct rates r = {.w = w, .samples = s};
    struct fr_cluster cluster = {0};
    if (!fr_fit_is_card(s)) return;
    r.placed = fr_malloc(s->n_gemm + s->n_batched + s->n_scaled + s->n_attention + 1,
                         sizeof *r.placed);
    if (!r.placed) {
        w->text->failed = true;
        return;
    }
    if (read_device(result, &cluster)) r.device = cluster.device;
    add_all(&r, &result->card);
    add_roofline(&r);
    free(r.placed);
    fr_cluster_free(&cluster);
}
