/** @file
 *  What the compression of messages to the stage before does, as Song et al. 2023 argue it
 *  (section 5.1, Eqs. 11 to 14; Fig. 11): a sender knows the error of each message, and the
 *  activations Y that the message is the gradient of, which it was sent in the forward pass.
 *
 *      eps_i = M_i - D_i             D_i what the reader decodes, M_i what was encoded for micro-batch i, the error of i-1 in it
 *                                    where it is lazy
 *      dY_i  = Y_i - Y_(i+1)
 *      cosine      cos(eps_i, dY_i)                             Eq. 14: small, if lazy error helps
 *      alike       cos(eps_i, eps_(i+1))                        Eq. 13: near 1, if it does by that
 *      error       |eps_i| / |M_i|
 *      error_mean, difference_mean   mean / root mean square    Eq. 14: both small
 *
 *  and of a whole pass, what is lost of a weight gradient G = sum M_i Y_i^T of the stage before
 *  (Eqs. 9 to 12, with Y in place of its layers' inputs):
 *      kept   |sum eps_i Y_i^T|  / |G|       each error dropped
 *      lazy   |sum eps_i dY_i^T| / |G|       each made up for in the next micro-batch, the last not
 *  Of zero-mean activations, independent from one micro-batch to the next, |dY|^2 is twice |Y|^2 and
 *  making up for an error doubles its harm; of activations alike it undoes it (docs/evidence/2026-11-22-compression-and-learning.md).
 */
#ifndef FR_REAL_APPS_LEARN_OBSERVE_H
#define FR_REAL_APPS_LEARN_OBSERVE_H

#include "real/apps/mesh/mesh.h"

/** Sums over passes, of the messages of one micro-batch; cosine, alike and difference_mean stand with
 *  the earlier one of two. */
struct fr_observation {
    double cosine, alike, error, error_mean, difference_mean;
    double coded,
        pairs; /**< messages that went compressed, and those whose next one did, too */
};
struct fr_observed {
    int n_micro, passes;
    struct fr_observation *micro; /**< [n_micro] */
    double saved, lazy;           /**< summed over passes */
    int hidden, tokens;
    double norm_before;                 /**< |eps| of the micro-batch before */
    void *eps, *before, *scratch;       /**< h x T */
    void *exact, *sum_saved, *sum_lazy; /**< h x h */
};

/** The codec of messages to the chunk before @p chunk, watched. */
struct fr_coded_watch {
    struct fr_codec_watcher watcher;
    const struct fr_mesh_state *mesh;
    struct fr_mesh_chunk *chunk; /**< NULL: this rank sends nothing that is observed */
    int next;                    /**< micro-batch */
    struct fr_observed observed;
};

/** For @p n_micro messages of @p hidden x @p tokens.  FR_OK or FR_ERR_NOMEM; fr_observed_close in any
 *  case. */
fr_status fr_observed_open(const struct fr_kernels *k, int n_micro, int hidden, int tokens,
                           struct fr_observed *o, struct fr_error *err);
void fr_observed_close(struct fr_observed *o);

/** A pass begins; its messages that go compressed, in order; it ends. */
void fr_observe_begin(const struct fr_kernels *k, struct fr_observed *o);
/** Of micro-batch @p m: @p encoded is M, @p decoded what its reader gets (o->room will do), @p y its activations, @p
 *  y_before those of micro-batch m - 1, NULL where its message was not compressed. */
void fr_observe(const struct fr_kernels *k, struct fr_observed *o, int m, const void *encoded,
                const void *decoded, const void *y, const void *y_before);
void fr_observe_end(const struct fr_kernels *k, struct fr_observed *o);

/** Watch what @p real, a program on the mesh, sends to the stage before from its last chunk, where a rank
 *  sends whole messages (tp 1).  FR_OK or FR_ERR_NOMEM; fr_coded_watch_close in any case. */
fr_status fr_coded_watch_open(const struct fr_real *real, struct fr_coded_watch *watch,
                              struct fr_error *err);
void fr_coded_watch_close(struct fr_coded_watch *watch);
/** Around a pass that is to be watched. */
void fr_coded_watch_begin(const struct fr_real *real, struct fr_coded_watch *watch);
void fr_coded_watch_end(const struct fr_real *real, struct fr_coded_watch *watch);

#endif
