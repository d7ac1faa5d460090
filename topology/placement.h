/** @file
 *  Where ranks sit: which slot of the machine each rank of a mesh takes.
 *
 *  A mesh tp x pp x dp of n ranks is numbered by its program, one axis innermost: Megatron
 *  numbers tp first, D&SP the ranks of a sub-grid (dp) first.  Slots are numbered node by node,
 *  so slot s lies in unit s / ranks of each level, and the n slots 0..n-1 are filled.  A
 *  placement is the permutation between the two.
 *
 *  Slots are those that the job takes (fr_levels_take), by the placement's rule for units.
 *
 *  Written "linear", "balanced", "round-robin", "by-axis:tp" or "by-axis:dp-tp-pp" (innermost first),
 *  "file:PATH" (a JSON list of the rank of each slot, or what `forerun place --json` prints),
 *  "optimised" or "optimised:SEED".
 *
 *  To add one: topology/placement/<name>.c exporting fr_placement_<name>, row
 *  FR_PLACEMENT(<name>) in topology/placement_list.h.
 */
#ifndef FR_TOPOLOGY_PLACEMENT_H
#define FR_TOPOLOGY_PLACEMENT_H

#include "topology/levels.h"

enum { FR_MESH_TP, FR_MESH_PP, FR_MESH_DP, FR_MESH_AXES };

/** Spellings of the axes in order, then NULL. */
extern const char *const fr_mesh_axis_names[];

struct fr_mesh {
    int64_t size[FR_MESH_AXES];
    uint8_t order[FR_MESH_AXES]; /**< axes of the numbering, innermost first */
};

int64_t fr_mesh_ranks(const struct fr_mesh *mesh);
/** Distance in rank numbers between neighbours along @p axis. */
int64_t fr_mesh_stride(const struct fr_mesh *mesh, int axis);
/** The same if the axes were numbered in @p order. */
int64_t fr_mesh_order_stride(const struct fr_mesh *mesh, const uint8_t *order, int axis);

/** Which placement, with what its name asks for. */
struct fr_placement_choice {
    const struct fr_placement *row;
    uint8_t order[FR_MESH_AXES]; /**< of by-axis, innermost first */
    const int64_t *list;         /**< of file: rank of each slot; not owned */
    int64_t n_list;
    uint64_t seed; /**< of optimised */
};

/** What a seating costs, the less the better; @p slot is the slot of each rank. */
typedef double fr_placement_cost(const void *context, const int64_t *slot);

/** Largest mesh that a placement other than by strides is made for. */
enum { FR_RANK_MAP_MAX = 1 << 24 };

struct fr_placement_ask {
    const struct fr_levels *levels;
    const struct fr_mesh *mesh;
    const struct fr_placement_choice *choice;
    fr_placement_cost *cost; /**< what optimised minimises */
    const void *context;
};

struct fr_placement {
    const char *name;
    const char *argument; /**< what may follow a colon, or NULL */
    const char *summary;
    const char *source;
    bool searches;  /**< needs a cost */
    bool in_order;  /**< rank r takes slot r */
    fr_units units; /**< how its jobs take units of a level */
    /** May this mesh be placed so?  NULL: any.  Otherwise the reason why not. */
    const char *(*refuses)(const struct fr_placement_choice *choice,
                           const struct fr_mesh *mesh);
    /** Fill @p slot[rank] for every rank of the mesh: a permutation of 0..n-1.
     *  @return FR_OK or FR_ERR_NOMEM. */
    fr_status (*place)(const struct fr_placement_ask *seating, int64_t *slot,
                       struct fr_error *err);
};

/** Rows that others name. */
extern const struct fr_placement fr_placement_linear, fr_placement_round_robin,
    fr_placement_by_axis, fr_placement_file, fr_placement_balanced, fr_placement_optimised;
/** Rows in table order, then NULL. */
extern const struct fr_placement *const fr_placements[];

/** "linear". */
struct fr_placement_choice fr_placement_default(void);

/** Read a name with its argument.  @p where stands for the place in messages.
 *  @param[out] owned  the list of "file", to be freed by the caller; else NULL
 *  @return FR_OK, FR_ERR_INPUT with the known names, or what reading the file gave. */
fr_status fr_placement_parse(const char *text, const char *where,
                             struct fr_placement_choice *choice, int64_t **owned,
                             struct fr_error *err);

/** Read the rank of each slot from an array into *owned and @p choice; it must be a permutation. */
fr_status fr_placement_read_list(const struct fr_json *array,
                                 struct fr_placement_choice *choice, int64_t **owned,
                                 struct fr_error *err);

/** The choice as fr_placement_parse reads it ("file" without its path). @return @p out. */
const char *fr_placement_write(const struct fr_placement_choice *choice, char *out,
                               size_t capacity);

#endif
