/** @file
 *  Where a plan's communicators sit: its placement, asked about groups.
 *
 *  The mesh tp x pp x dp is numbered as the method's program numbers its ranks (tp first, or the
 *  data axis first for sub-graphs), and the placement gives each rank its slot.  All groups of an
 *  axis run at once: what they pay is counted on the links (topology/communicator.h).
 *
 *  The linear placement of tp-first ranks, which nearly every plan has, is strides alone and is
 *  priced as if all ranks of the machine were busy with the like.
 */
#ifndef FR_MODELS_SEATS_H
#define FR_MODELS_SEATS_H

#include "models/job.h"
#include "topology/placement.h"

struct fr_seats {
    const struct fr_levels *levels;
    struct fr_mesh mesh;
    int64_t *slot; /**< of each rank, or NULL: its number; owned */
    /** Where gradients of common layers are reduced, of a data-first numbering: the tp x dp ranks
     *  of a stage; with common "subgrid" the dp ranks of the first sub-grid, alone on the links. */
    struct fr_group common;
    struct fr_group axis[FR_MESH_AXES]; /**< the ranks along tp, pp and dp */
};

/** The plan's mesh as its method numbers it. */
struct fr_mesh fr_seats_mesh(const struct fr_plan *plan);

/** Seat the ranks of @p plan.  "optimised" prices the plan with every seating it tries.
 *  @return FR_OK or FR_ERR_NOMEM.  Free with fr_seats_free, also on error. */
fr_status fr_seats_make(const struct fr_job *job, const struct fr_plan *plan,
                        struct fr_seats *seats, struct fr_error *err);
void fr_seats_free(struct fr_seats *seats);

/** Slots of the members of every communicator of @p n_ranks ranks @p stride apart in the numbering,
 *  one communicator after another, each in ascending order: libraries order the members by where
 *  they sit, so the numbers that they happen to have cost nothing.
 *  @param[out] slot  [ranks of the mesh, or n_ranks * n_groups] */
void fr_seats_members(const struct fr_seats *seats, int64_t n_ranks, int64_t stride,
                      int64_t n_groups, int64_t *slot);

/** The reason why the plan cannot be seated so, or NULL. */
const char *fr_seats_refused(const struct fr_plan *plan);

/** Neighbours @p a and @p b in the pipeline, while their whole stage and its replicas send. */
struct fr_group fr_seats_pair(const struct fr_seats *seats, int64_t a, int64_t b);
/** First and last stage: of one replica, or @p all of them together, 2 dp ranks. */
struct fr_group fr_seats_ends(const struct fr_seats *seats, bool all);

#endif
