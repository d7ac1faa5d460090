/** @file
 *  Placements of a plan's ranks side by side: placements, which groups stay inside a node, and with a model
 *  the time of an iteration; of method subgraph (D&SP) messages by level and what its equations give. */
#ifndef FR_ANSWER_PLACEMENT_PLACING_H
#define FR_ANSWER_PLACEMENT_PLACING_H

#include "models/job/job.h"
#include "models/outcome/outcome.h"
#include "topology/messages.h"

enum { FR_PLACED_MAX = 8 };

/** One placement and what came of it. */
struct fr_placed {
    struct fr_placement_choice choice;
    int64_t *slot;    /**< of each rank */
    int64_t *mapping; /**< rank of each slot */
    int64_t by_level[FR_LEVEL_MAX];
    int64_t intra, inter;
    int64_t whole[FR_MESH_AXES]; /**< groups along each axis that sit in one node */
    double
        weight_s;  /**< time of all messages one after the other, a megabyte each, every rank at
                          its share of the link: what is minimised without a model */
    double time_s; /**< of an iteration; NaN without a model */
    struct fr_levels levels; /**< as its ranks take them */
    int64_t ranks_per_node;  /**< of every node but the last */
    struct fr_message_formula formula;
};

struct fr_placing {
    const struct fr_job *job;
    struct fr_plan plan;        /**< method and mesh to place */
    bool with_model, segmented; /**< priced; method subgraph, whose exchanges are counted */
    struct fr_levels levels;
    struct fr_mesh mesh;
    int node; /**< level of nodes */
    int64_t ranks, ways, ranks_per_node;
    struct fr_placed placed[FR_PLACED_MAX];
    int count;
    struct fr_outcome refused; /**< of a model's plan that cannot be: why */
};

/** Place the ranks of @p plan, @p per_node of them on each node (0: all it holds).  Shrinks the levels of
 *  @p job alike, so that what is priced is what is placed.
 *  @return FR_OK; FR_ERR_INFEASIBLE where the model cannot be priced so (q->refused says why, as an outcome);
 *          FR_ERR_INPUT where the cluster is too small for ranks of no model. */
fr_status fr_placing_open(struct fr_job *job, bool with_model, const struct fr_plan *plan,
                          int64_t per_node, struct fr_placing *placing, struct fr_error *err);

/** How a rank's number is made: "rank = tp + 8 pp + 32 dp", of the axes that have more than one rank.
 *  @return @p out */
const char *fr_placing_numbering(const struct fr_placing *placing, char *out, size_t capacity);

/** Place the ranks by @p choice. @return FR_OK, FR_ERR_INPUT where it refuses, FR_ERR_NOMEM. */
fr_status fr_placing_add(struct fr_placing *placing, const struct fr_placement_choice *choice,
                         struct fr_error *err);
/** By every placement that needs no file. */
fr_status fr_placing_add_all(struct fr_placing *placing, struct fr_error *err);

/** The first of the cheapest, but for what rounding makes of them. */
const struct fr_placed *fr_placing_best(const struct fr_placing *placing);

void fr_placing_free(struct fr_placing *placing);

#endif
