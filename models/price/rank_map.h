/** @file
 *  Where a plan's communicators sit: its placement, asked about groups.
 *
 *  The mesh tp x pp x dp is numbered as the method's program numbers its ranks (tp first, or the
 *  data axis first for sub-graphs), and the placement gives each rank its slot.  All groups of an
 *  axis run at once: what they pay is counted on the links (topology/communicator.h).
 *
 *  A placement is the positions that it gives, however it was written: placements that place ranks alike cost
 *  alike, and so do those that exchange ranks inside a node whose ranks share their links.  Linear is
 *  strides alone, priced in closed form where that is exact; what lies otherwise is counted.
 */
#ifndef FR_MODELS_PRICE_RANK_MAP_H
#define FR_MODELS_PRICE_RANK_MAP_H

#include "models/job/job.h"
#include "models/plan/copies.h"
#include "topology/placement.h"

struct fr_rank_map {
    struct fr_levels levels; /**< as the ranks take them, as far as they reach */
    struct fr_mesh mesh;
    int64_t *slot; /**< of each rank, or NULL: its number; owned */
    bool regular;  /**< of a pipeline: strides in closed form, all replicas pay the same */
    /** Where gradients of common layers are reduced, of a data-first numbering.  Likewise of layers whose images are
     *  divided.  The tp x dp ranks of a stage; with common "subgrid" the dp ranks of the first sub-grid, alone on the links. */
    struct fr_group common;
    struct fr_group axis[FR_MESH_AXES]; /**< the ranks along tp, pp and dp */
    struct fr_group cp,
        ep; /**< ranks that share a sequence, and the experts: neighbouring replicas,
                                 with whole experts on a rank also the tp ranks of them */
    struct fr_group ep_across, ep_within; /**< of these, where groups get one copy of a token */
    struct fr_group
        grid[FR_GRIDS]; /**< of a transformer's groups on grids of their own: P_r ranks */
    /** Neighbours that attention's and MLP's, MLP's and the ends', the ends' and attention's grids move
     *  tokens between, where they differ. */
    struct fr_group between[FR_GRIDS];
    struct fr_group arrive; /**< over which a message is gathered */
    /** Ranks of a stage that hold the same parameters, by kind; of them those that divide what zero
     *  divides, and of those groups one rank each (models/plan/copies.h). */
    struct {
        struct fr_group all, dividing, across;
    } copies[FR_COPIES];
    /** First and last stage, which hold a tied embedding: pairs of every replica and tp rank, or fused
     *  the 2 dp of every tp rank; of sub-graphs all that hold common layers of both. */
    struct fr_group ends;
    int64_t *pairs; /**< scratch of fr_rank_map_pair, unless regular; owned */
    int32_t *load;
};

/** The plan's mesh as its method numbers it. */
struct fr_mesh fr_rank_map_mesh(const struct fr_plan *plan);

/** The levels of a cluster as the plan's ranks take them (topology/levels.h). */
struct fr_levels fr_rank_map_levels(const struct fr_levels *levels, const struct fr_plan *plan);

/** Levels and mesh alone: nobody is placed. */
void fr_rank_map_begin(const struct fr_job *job, const struct fr_plan *plan,
                       struct fr_rank_map *rank_map);

/** Slots of the plan's ranks as its placement has them: slot[ranks].
 *  @param cost  what a placement that searches makes least; NULL: such a one is refused
 *  @return FR_OK; FR_ERR_UNSUPPORTED; FR_ERR_NOMEM. */
fr_status fr_rank_map_list(const struct fr_rank_map *rank_map, const struct fr_plan *plan,
                           fr_placement_cost *cost, const void *context, int64_t *slot,
                           struct fr_error *err);

/** Place the ranks of @p plan, whose placement is settled (models/outcome/resolve.h).
 *  @return FR_OK or FR_ERR_NOMEM.  Free with fr_rank_map_free, also on error. */
fr_status fr_rank_map_make(const struct fr_job *job, const struct fr_plan *plan,
                           struct fr_rank_map *rank_map, struct fr_error *err);
void fr_rank_map_free(struct fr_rank_map *rank_map);

/** The reason why the plan cannot be placed so, or NULL. */
const char *fr_rank_map_refused(const struct fr_plan *plan);

/** Neighbours @p a and @p b in the pipeline, while their whole stage and its replicas send: what the
 *  slowest of them pay. */
struct fr_group fr_rank_map_pair(const struct fr_rank_map *rank_map, int64_t a, int64_t b);

#endif
