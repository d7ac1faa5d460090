/** @file
 *  What units of a transformer's layers share, however these are divided: what a forward pass keeps, what
 *  is made again, and what waits for the weights' gradients.
 *
 *  Recomputed: `selective` the attention's core, whose softmax is not kept; `full` all of it, collectives
 *  too, from the input alone.  Where weights' gradients come later what they need is kept from the
 *  backward pass to then. */
#ifndef FR_REAL_APPS_MESH_LAYER_H
#define FR_REAL_APPS_MESH_LAYER_H

#include "real/apps/mesh/unit.h"

/** Where a layer's buffers are, each of as many values as its way says. */
struct fr_layer_at {
    void *room, *deferred, *saved, *softmax; /**< softmax: NULL, with what is saved */
};

/** A way to divide a layer. */
struct fr_layer_way {
    /** Values for a pass; for weights' gradients beside the output's; saved, with the softmax or not; of a
     *  softmax. */
    int64_t (*room)(const struct fr_unit *u);
    int64_t (*deferred)(const struct fr_unit *u);
    int64_t (*saved)(const struct fr_unit *u, bool softmax);
    int64_t (*softmax)(const struct fr_unit *u);
    fr_status (*forward)(struct fr_real *real, const struct fr_unit *u,
                         const struct fr_layer_at *at, const void *x, void *y,
                         struct fr_error *err);
    /** The heads alone, once more. */
    fr_status (*attend)(struct fr_real *real, const struct fr_unit *u,
                        const struct fr_layer_at *at, struct fr_error *err);
    fr_status (*input)(struct fr_real *real, const struct fr_unit *u,
                       const struct fr_layer_at *at, const void *x, const void *dy, void *dx,
                       struct fr_error *err);
    void (*weight)(struct fr_real *real, const struct fr_unit *u, const struct fr_layer_at *at,
                   const void *x, const void *dy);
};

/** FR_OK, or FR_ERR_INPUT with what of the model no layer here has. */
fr_status fr_layer_check(const struct fr_unit *u, struct fr_error *err);

/* As struct fr_unit_kind has them. */
int64_t fr_layer_room(const struct fr_unit *u);
void fr_layer_keeps(const struct fr_unit *u, int64_t n[3]);
fr_status fr_layer_forward(struct fr_real *real, struct fr_unit *u, struct fr_unit_kept *kept,
                           void *next, struct fr_error *err);
fr_status fr_layer_input(struct fr_real *real, struct fr_unit *u, struct fr_unit_kept *kept,
                         void *dy, void *dx, struct fr_error *err);
void fr_layer_weight(struct fr_real *real, struct fr_unit *u, const struct fr_unit_kept *kept);

#endif
