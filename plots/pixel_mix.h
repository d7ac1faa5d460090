/** @file
 *  Slices too many to draw one by one, as pixels: each mixes the colours of the tasks it
 *  covers, by their share of its time, with white for the rest. */
#ifndef FR_PLOTS_PIXEL_MIX_H
#define FR_PLOTS_PIXEL_MIX_H

#include <stdint.h>

#include "base/status.h"

enum { FR_MIX_COLOURS = 16 };

struct fr_mix {
    int n_lanes, n_pixels;
    uint32_t colour[FR_MIX_COLOURS]; /**< 0xrrggbb */
    double weight;                   /**< of what is added; 1 at first */
    float *share;                    /**< [n_lanes][n_pixels][FR_MIX_COLOURS] */
};

/** Begin with white; the colours are set by the caller.  @return FR_OK or FR_ERR_NOMEM. */
fr_status fr_mix_begin(struct fr_mix *mix, int n_lanes, int n_pixels, struct fr_error *err);
void fr_mix_free(struct fr_mix *mix);

/** Cover [low, high] of @p lane, in pixels from 0, with a colour. */
void fr_mix_add(struct fr_mix *mix, int lane, int colour, double low, double high);

/** The stretch of one colour that begins at @p pixel.  @return the pixel after it. */
int fr_mix_run(const struct fr_mix *mix, int lane, int pixel, uint32_t *colour);

#endif
