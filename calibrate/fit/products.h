/** @file
 *  A form of matrix products fitted to products measured one by one.
 *
 *  Where a harness measures a full grid of shapes, a table serves (calibrate/fit/parts.h);
 *  other people's hold the shapes of some networks.  A device's own form takes its two values
 *  from them:
 *
 *      tiled       efficiency and tail    (models/device/gemm/tiled.c)
 *      saturating  peak and half_dim
 *
 *  in logarithms, errors of 5 % counting as one and large ones for less (pseudo-Huber, knee at
 *  two), with log-normal priors of width 0.5 about where presets without rows start, or about
 *  where the saturating form stands.  Data that a product writes, and reads where it adds to a
 *  gradient, also takes memory's time where the form says so. */
#ifndef FR_CALIBRATE_FIT_PRODUCTS_H
#define FR_CALIBRATE_FIT_PRODUCTS_H

#include "models/device/device.h"

struct fr_product_timed {
    struct fr_gemm_shape shape;
    struct fr_gemm_use result;
    bool gradient;        /**< of weights: its own operand is on its way already */
    double count, time_s; /**< so many of it took this together */
};

struct fr_products {
    struct fr_device device; /**< whose form is fitted, in place */
    fr_dtype dtype;
    struct fr_product_timed *item;
    int n;
};

enum { FR_PRODUCT_VALUES = 2 };

/** Predicted time of product @p i over the measured. */
double fr_products_ratio(const struct fr_products *products, int i);
double fr_products_mean_error(const struct fr_products *products);

/** The values of the device's form, NULL where it has none of the two above: a table, or of batches.
 *  @param[out] names  as in a cluster file */
bool fr_products_values(struct fr_products *products, double *value[FR_PRODUCT_VALUES],
                        const char *names[FR_PRODUCT_VALUES]);

/** Fit them; the device has them then.
 *  @param[out] x      the values
 *  @param[out] sigma  how wide they are left, standard deviations of logarithms: of the first the scatter s of single
 *                     products' errors, by which a mix of new shapes may be off; of the second that of s^2 (J'J)^-1, with J
 *                     the derivatives of ln ratio by the logarithms of both; 2 at most.  May be NULL
 *  @return FR_OK; FR_ERR_INPUT without such a form, or of fewer than three products; FR_ERR_NUMERIC, FR_ERR_NOMEM. */
fr_status fr_products_fit(struct fr_products *products, double x[FR_PRODUCT_VALUES],
                          double sigma[FR_PRODUCT_VALUES], struct fr_error *err);

#endif
