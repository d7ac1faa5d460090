/** @file
 *  What a program's classes cost, part by part, so that parts can be switched off. */
#ifndef FR_SIM_PRICE_H
#define FR_SIM_PRICE_H

#include "sim/program.h"

/** Places of part_s: the first is always there, place k + 1 with bit k of FR_WITH_... */
enum {
    FR_PRICE_ALWAYS,
    FR_PRICE_LAUNCH,
    FR_PRICE_TP,
    FR_PRICE_MESSAGES,
    FR_PRICE_GRADIENTS,
    FR_PRICE_EMBEDDING,
    FR_PRICE_CODEC,
    FR_PRICE_CP,
    FR_PRICE_EP,
    FR_PRICE_OFFLOAD,
    FR_PRICE_PARTS
};

struct fr_class_price {
    double part_s[FR_PRICE_PARTS];
    double waiting; /**< share of what is computed that a rank in the mean waits for (cSub) */
    double size_B;  /**< that a message carries one way, or a collective works on; else 0 */
    double
        again_s; /**< of a backward pass, whole: how long it first repeats the forward pass */
};

/** Price the classes of a pipeline's program: price[n_classes]. */
void fr_price_pipeline(const struct fr_pipeline *pipeline, const struct fr_program *program,
                       struct fr_class_price *price);

/** Time that a rank in work of this class, which is no message, communicates, and computes [s]. */
static inline double fr_price_comm_s(const struct fr_class_price *price) {
    return price->part_s[FR_PRICE_TP] + price->part_s[FR_PRICE_CP] +
           price->part_s[FR_PRICE_EP] + price->part_s[FR_PRICE_GRADIENTS] +
           price->part_s[FR_PRICE_EMBEDDING] + price->part_s[FR_PRICE_OFFLOAD] +
           price->part_s[FR_PRICE_MESSAGES];
}
static inline double fr_price_busy_s(const struct fr_class_price *price) {
    return price->part_s[FR_PRICE_ALWAYS] + price->part_s[FR_PRICE_LAUNCH] +
           price->part_s[FR_PRICE_CODEC];
}

/** Durations with only what @p with has: class_s[n]. */
void fr_price_with(const struct fr_class_price *price, int32_t n, int with, double *class_s);

/** Both in one: durations of a pipeline's classes on an isolated network. */
void fr_price_classes(const struct fr_pipeline *pipeline, const struct fr_program *program,
                      int with, double *class_s);

#endif
