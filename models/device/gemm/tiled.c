/* Tensor-core products as libraries run them: the result is cut into tiles, one a processor
 * unit, and a last wave of tiles that does not fill the units takes as long as a full one.
 *
 *      t = 2 m' n' k / (efficiency peak) (1 + half_k / k) (1 + tail / waves) [misaligned]
 *      m', n' rounded up to whole tiles;  waves = m' n' / (tile^2 units), of all that are made at once
 *
 * Libraries choose among many tile shapes, so the last wave costs a share of one on average and
 * not exactly the ceiling.  A dimension whose row of values is no multiple of 128 bytes misses
 * the fast loads: NVIDIA's guide asks for 64 values at 16 bits.  Fewer columns than that (tokens, or samples) are a
 * part of a tile, and no slower than a whole one.
 *
 * Equal products made at once, one for each expert, may reach another share of the peak (`grouped`, times
 * efficiency): libraries get a faster kernel for large products first.
 *
 * A product whose matrix comes from memory for few columns has few tiles, and libraries divide its depth among the
 * units that would be idle (split-K; Osama et al., Stream-K, PPoPP 2023).  Then no wave is incomplete:
 *
 *      split = 1 / (1 + tail / waves)
 *
 * half_k is the fixed cost of a tile, as depth: it is filled, and its result is written.  With `writes` the result's
 * bytes take their memory time on top (models/device/device.h), and half_k is the remainder.  That remainder is
 * nothing over 332 products of a B200 and 105 of an A100 (forerun reproduce presets).  Weight gradients of groups of
 * experts show why: they add to 4 bytes a value over a depth of 128, and take four times as long as half_k alone
 * says. */
#include <math.h>

#include "models/device/device.h"

static const char *const keys[] = {"peak",         "efficiency", "half_k",  "tail", "units",
                                   "tile",         "misaligned", "align",   "odd",  "writes",
                                   "nominal_peak", "residuals",  "grouped", NULL};

static fr_status read(const struct fr_json *object, struct fr_gemm_model *model,
                      struct fr_error *err) {
    struct fr_gemm_tiles *t = &model->tiles;
    *t = (struct fr_gemm_tiles){.efficiency = 1,
                                .grouped = 1,
                                .tail = 0.5,
                                .tile = 128,
                                .misaligned = 1,
                                .align = 64,
                                .odd = 1};
    model->half = 0;
    FR_TRY(fr_json_object(object, keys, err));
    FR_TRY(fr_json_get_quantity(object, "peak", true, FR_QUANTITY_WORK_RATE, 1, 1e24,
                                &model->peak_flop_per_s, err));
    FR_TRY(fr_json_get_number(object, "efficiency", false, 1e-6, 1, &t->efficiency, err));
    FR_TRY(fr_json_get_number(object, "grouped", false, 1e-6, 1, &t->grouped, err));
    FR_TRY(fr_json_get_number(object, "half_k", false, 0, 1e9, &model->half, err));
    FR_TRY(fr_json_get_number(object, "tail", false, 0, 1e3, &t->tail, err));
    FR_TRY(fr_json_get_number(object, "tile", false, 1, 1e6, &t->tile, err));
    FR_TRY(fr_json_get_number(object, "misaligned", false, 1, 100, &t->misaligned, err));
    FR_TRY(fr_json_get_number(object, "odd", false, 1, 100, &t->odd, err));
    FR_TRY(fr_json_get_bool(object, "writes", false, &t->writes, err));
    FR_TRY(fr_json_get_number(object, "align", false, 1, 1e6, &t->align, err));
    return fr_json_get_number(object, "units", true, 1, 1e9, &t->units, err);
}

/* fmod would take longer than the rest of a product's price. */
static bool multiple(double size, double of) {
    double times = size / of;
    return times < 4e15 ? (double)(int64_t)times == times : fmod(size, of) == 0;
}

/* Columns fewer than @p align are a part of one tile, whose rest is filled whatever they are: as many more cost nothing. */
static bool multiples(const struct fr_gemm_shape *shape, double of, double align) {
    return multiple(shape->m, of) && (shape->n < align || multiple(shape->n, of)) &&
           multiple(shape->k, of);
}

static double tiles_of(const struct fr_gemm_tiles *t, const struct fr_gemm_shape *shape) {
    return ceil(shape->m / t->tile) * ceil(shape->n / t->tile);
}

/* By how much the last wave lengthens @p all tiles. */
static double wave(const struct fr_gemm_tiles *t, double all) {
    return 1 + t->tail * t->units / all;
}

static double split(const struct fr_gemm_model *model, const struct fr_gemm_shape *shape) {
    double tiles = tiles_of(&model->tiles, shape),
           all = shape->at_once > 1 ? shape->at_once * tiles : tiles;
    return all > 0 ? 1 / wave(&model->tiles, all) : 1;
}

static double time_s(const struct fr_gemm_model *model, const struct fr_gemm_shape *shape,
                     bool *extrapolated) {
    (void)extrapolated;
    const struct fr_gemm_tiles *t = &model->tiles;
    if (fmin(shape->m, fmin(shape->n, shape->k)) <= 0) return 0;
    double tiles = tiles_of(t, shape);
    double work_flop = 2 * tiles * t->tile * t->tile * shape->k;
    bool group = shape->at_once > 1;
    double all = group ? shape->at_once * tiles : tiles;
    double share = group ? t->grouped * t->efficiency : t->efficiency;
    double deep = 1 + model->half / shape->k, slow = 1;
    if (!multiples(shape, t->align, t->align)) slow = t->misaligned;
    if (!multiples(shape, t->align / 8, t->align)) slow = t->odd;
    return work_flop / (share * model->peak_flop_per_s) * deep * wave(t, all) * slow;
}

const struct fr_gemm_form fr_gemm_tiled = {
    .name = "tiled",
    .equation =
        "t = 2 m' n' k (1 + half_k / k) (1 + tail / waves) / (efficiency peak), m' n' in "
        "whole tiles",
    .source = "after NVIDIA, Matrix Multiplication Background User's Guide (tile and wave "
              "quantization); smoothed by us",
    .key = "units",
    .read = read,
    .time_s = time_s,
    .split = split,
};
