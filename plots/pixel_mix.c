#include "plots/pixel_mix.h"

#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"

/* Shares are told apart to this part, so that neighbours which look alike become one. */
static const double shades = 24;

fr_status fr_mix_begin(struct fr_mix *mix, int n_lanes, int n_pixels, struct fr_error *err) {
    *mix = (struct fr_mix){.n_lanes = n_lanes, .n_pixels = n_pixels, .weight = 1};
    mix->share = fr_calloc((size_t)n_lanes * (size_t)n_pixels * FR_MIX_COLOURS, sizeof(float));
    return mix->share ? FR_OK : fr_fail(err, FR_ERR_NOMEM, NULL, "out of memory");
}

void fr_mix_free(struct fr_mix *mix) {
    free(mix->share);
    *mix = (struct fr_mix){0};
}

static float *shares_of(const struct fr_mix *mix, int lane, int pixel) {
    return mix->share + ((size_t)lane * (size_t)mix->n_pixels + (size_t)pixel) * FR_MIX_COLOURS;
}

void fr_mix_add(struct fr_mix *mix, int lane, int colour, double low, double high) {
    int last = (int)fmin(ceil(high), mix->n_pixels);
    for (int pixel = (int)floor(low); pixel < last; pixel++)
        shares_of(mix, lane, pixel)[colour] +=
            (float)(mix->weight * (fmin(high, pixel + 1) - fmax(low, pixel)));
}

static uint32_t colour_of(const struct fr_mix *mix, int lane, int pixel) {
    const float *share = shares_of(mix, lane, pixel);
    double part[3] = {255, 255, 255}, sum = 0; /* lanes of a stream may overlap */
    for (int k = 0; k < FR_MIX_COLOURS; k++) sum += (double)share[k];
    sum = fmax(sum, 1);
    for (int k = 0; k < FR_MIX_COLOURS; k++) {
        double covered = round(shades * (double)share[k] / sum) / shades;
        for (int i = 0; i < 3; i++)
            part[i] += covered * ((mix->colour[k] >> (16 - 8 * i) & 255) - 255.0);
    }
    uint32_t colour = 0;
    for (int i = 0; i < 3; i++)
        colour = colour << 8 | (uint32_t)lround(fmin(fmax(part[i], 0), 255));
    return colour;
}

int fr_mix_run(const struct fr_mix *mix, int lane, int pixel, uint32_t *colour) {
    *colour = colour_of(mix, lane, pixel);
    do pixel++;
    while (pixel < mix->n_pixels && colour_of(mix, lane, pixel) == *colour);
    return pixel;
}
