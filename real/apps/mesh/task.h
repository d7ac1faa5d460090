/** @file
 *  What a network on the mesh is trained to do: what enters its first unit, and what is asked of the
 *  last one's output.
 *
 *      task_regression.c   feed-forward networks: y = relu(W relu(x)) (real/apps/ffn.h)
 *      task_words.c        transformers: random words, each after the one before it */
#ifndef FR_REAL_APPS_MESH_TASK_H
#define FR_REAL_APPS_MESH_TASK_H

#include "real/apps/mesh/mesh.h"

struct fr_mesh_task {
    /** Inputs and targets of the replica, in its first and its last chunk. */
    fr_status (*open)(struct fr_real *real, struct fr_mesh_state *mesh,
                      const struct fr_chain *chain, struct fr_error *err);
    /** What enters the first unit with micro-batch m. */
    void *(*inputs)(const struct fr_real *real, const struct fr_mesh_state *mesh, int m);
    /** Add micro-batch m's loss to mesh->loss; *dy, mesh->d[0], or where it is put instead := its
     *  gradient. */
    fr_status (*loss)(struct fr_real *real, struct fr_mesh_state *mesh,
                      const struct fr_mesh_chunk *c, int m, void **dy, struct fr_error *err);
};
extern const struct fr_mesh_task fr_mesh_regression, fr_mesh_words;

/** Sample of the replica that this rank's @p token is of, of all its micro-batches one after the other. */
int64_t fr_mesh_words_sample(const struct fr_real *real, const struct fr_mesh_state *mesh,
                             int64_t token);

/** In place of a regression's samples the batch that begins at sample @p first of @p all.  FR_OK or
 *  FR_ERR_NOMEM. */
fr_status fr_mesh_regression_take(struct fr_real *real, int64_t first, int64_t all,
                                  struct fr_error *err);

#endif
