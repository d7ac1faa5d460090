/** @file
 *  A plan as JAX's mesh, whose axes MaxText names: how many ranks has each, inside a node (or slice) and over nodes?
 *
 *  Every rank has one place on each axis, so the product of all is the number of ranks:
 *
 *      ranks = tensor context expert fsdp pipeline data
 *
 *  dp of a plan is expert fsdp data: ranks that hold other experts are replicas of everything else, and divide its
 *  parameters as those of fsdp and of a sequence do.  Axes fill a node from the innermost on, in the order above. */
#ifndef FR_ANSWER_EMIT_MESH_H
#define FR_ANSWER_EMIT_MESH_H

#include "answer/emit.h"

typedef enum {
    FR_MESH_TENSOR,
    FR_MESH_CONTEXT,
    FR_MESH_EXPERT,
    FR_MESH_FSDP,
    FR_MESH_PIPELINE,
    FR_MESH_DATA
} fr_mesh_axis;

/** Ranks of an axis, inside a node or over nodes. */
int64_t fr_emit_mesh(const struct fr_emitted *e, fr_mesh_axis axis, bool inside);
/** Can ranks that divide experts be an axis of their own? */
bool fr_emit_mesh_has_experts(const struct fr_plan *plan);
/** Do as many ranks divide parameters on the mesh as in the plan? */
bool fr_emit_mesh_shards(const struct fr_plan *plan);
/** Are the plan's ranks numbered as the mesh numbers its own, with data outside of stages and fsdp inside? */
bool fr_emit_mesh_orders(const struct fr_plan *plan);

#endif
