/* Products of others, one by one: they cover no grid that a table could hold, so the base's form is fitted to them. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "calibrate/fit/parts.h"
#include "models/job/cluster.h"

/* A card's products that are as short as a few launches say as much of the launches as of products. */
enum { SHORTEST_LAUNCHES = 10 };

static double shortest_of(const struct fr_samples *samples, const struct fr_device *device) {
    return fr_fit_is_card(samples) ? SHORTEST_LAUNCHES * device->launch_s : 0;
}

static bool is_imported(const struct fr_samples *samples) {
    return strcmp(samples->provenance.host, FR_HOST_IMPORTED) == 0;
}

static void take(const struct fr_sample_gemm *s, double shortest_s, struct fr_products *p,
                 struct fr_fit_singles *out) {
    const double rows = (double)s->m * (double)s->batch,
                 size[] = {rows, (double)s->n, (double)s->k};
    if (s->dtype != p->dtype) return;
    if (s->time_s < shortest_s) {
        out->too_short++;
        return;
    }
    double peak_flop_per_s = fr_gemm_nominal_flop_per_s(&p->device.gemm[p->dtype]);
    if (peak_flop_per_s > 0 && 2 * size[0] * size[1] * size[2] > s->time_s * peak_flop_per_s) {
        out->beyond_peak++;
        return;
    }
    for (int a = 0; a < 3; a++) {
        if (p->n == 0 || size[a] < out->least[a]) out->least[a] = size[a];
        if (p->n == 0 || size[a] > out->most[a]) out->most[a] = size[a];
    }
    p->item[p->n++] = (struct fr_product_timed){
        .shape = {.m = size[0], .n = size[1], .k = size[2]}, .count = 1, .time_s = s->time_s};
}

static fr_status measure(const struct fr_products *p, struct fr_fit_quality *quality,
                         double *predicted_s, double *measured_s) {
    for (int i = 0; i < p->n; i++) {
        measured_s[i] = p->item[i].time_s;
        predicted_s[i] = fr_products_ratio(p, i) * measured_s[i];
    }
    return fr_fit_measure(predicted_s, measured_s, p->n, quality);
}

/* Every second product from the others, both ways round. */
static fr_status hold_out(const struct fr_products *all, struct fr_product_timed *scratch,
                          struct fr_fit_quality *quality, double *predicted_s,
                          double *measured_s, struct fr_error *err) {
    double x[FR_PRODUCT_VALUES];
    if (all->n < 4 * FR_PRODUCT_VALUES) return FR_OK;
    for (int half = 0; half < 2; half++) {
        struct fr_products p = {.device = all->device, .dtype = all->dtype, .item = scratch};
        for (int i = 1 - half; i < all->n; i += 2) p.item[p.n++] = all->item[i];
        FR_TRY(fr_products_fit(&p, x, NULL, err));
        p.item = all->item;
        for (int i = half; i < all->n; i += 2) {
            measured_s[i] = all->item[i].time_s;
            predicted_s[i] = fr_products_ratio(&p, i) * measured_s[i];
        }
    }
    return fr_fit_measure(predicted_s, measured_s, all->n, quality);
}

static void miss(fr_dtype dtype, int n, struct fr_fit_result *result) {
    char what[96];
    snprintf(what, sizeof what, "%s products (%d of the %d shapes that a fit needs)",
             fr_dtype_names[dtype], n, FR_PRODUCT_VALUES + 1);
    fr_fit_miss(result, what);
}

static fr_status fit_one(const struct fr_samples *samples, const struct fr_device *device,
                         fr_dtype dtype, struct fr_fit_result *result, struct fr_error *err) {
    struct fr_fit_singles *out = &result->singles[dtype];
    size_t capacity = samples->n_gemm + samples->n_batched;
    const bool card = fr_fit_is_card(samples);
    if (card && !device->gemm[dtype].form) return FR_OK; /* the base has none */
    struct fr_products p = {
        .device = *device, .dtype = dtype, .item = fr_calloc(2 * capacity, sizeof *p.item)};
    double shortest_s = shortest_of(samples, device);
    double *times_s = fr_calloc(2 * capacity, sizeof *times_s), *value[FR_PRODUCT_VALUES];
    fr_status status = p.item && times_s ? FR_OK : FR_ERR_NOMEM;
    for (size_t i = 0; i < samples->n_gemm && status == FR_OK; i++)
        take(&samples->gemm[i], shortest_s, &p, out);
    /* Those of a card have a share of their own (calibrate/fit/grouped.c). */
    for (size_t i = 0; i < samples->n_batched && status == FR_OK && !card; i++)
        take(&samples->batched[i], shortest_s, &p, out);
    /* Too few of one dtype leave the base's, where other things of the card were measured too. */
    if (p.n > 0 && p.n <= FR_PRODUCT_VALUES && card) {
        miss(dtype, p.n, result);
        p.n = 0;
    }
    if (p.n > 0 && status == FR_OK) {
        status = fr_products_fit(&p, out->value, out->sigma, err);
        if (status == FR_OK) status = measure(&p, &out->quality, times_s, times_s + capacity);
        if (status == FR_OK)
            status = hold_out(&p, p.item + capacity, &out->held_out, times_s,
                              times_s + capacity, err);
        if (status == FR_OK) fr_products_values(&p, value, out->names);
        out->n = p.n;
        if (status == FR_OK && card) status = fr_fit_grouped(samples, &p.device, dtype, out);
        if (status == FR_OK) status = fr_fit_block_scales(samples, dtype, out);
    }
    free(p.item);
    free(times_s);
    return status;
}

fr_status fr_fit_singles_make(const struct fr_samples *samples,
                              const struct fr_fit_options *options,
                              struct fr_fit_result *result, bool *taken, struct fr_error *err) {
    struct fr_cluster cluster = {0};
    struct fr_samples points = *samples;
    bool card = fr_fit_is_card(samples);
    *taken = (is_imported(samples) || card) && samples->n_gemm + samples->n_batched > 0;
    if (card && !options->base)
        return fr_fail(
            err, FR_ERR_INPUT, NULL,
            "samples of a %.60s are fitted to a cluster file's form of products, and "
            "all that was not measured is that file's: name one with --base",
            samples->provenance.device);
    if (!*taken) return FR_OK;
    if (card) points.gemm = NULL; /* of its own, also where the base is refused */
    if (!options->base)
        return fr_fail(err, FR_ERR_INPUT, NULL,
                       "products of others make no device: name with --base the cluster file "
                       "whose form of products they fit, all else of which stays");
    fr_status status = fr_cluster_read(options->base, &cluster, err);
    if (status == FR_OK && card)
        status = fr_fit_card_products(samples, &points.gemm, &points.n_gemm);
    if (result->card.memory_rate_B_per_s > 0) /* results are written at it */
        cluster.device.memory_rate_B_per_s = result->card.memory_rate_B_per_s;
    for (int d = 0; d < FR_DTYPE_COUNT && status == FR_OK; d++)
        status = fit_one(&points, &cluster.device, (fr_dtype)d, result, err);
    if (card) free(points.gemm);
    fr_cluster_free(&cluster);
    return status;
}
