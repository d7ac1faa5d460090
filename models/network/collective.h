/** @file
 *  Collective operations: what they are, and the algorithms that carry them out, each as a
 *  closed-form time and as an expansion into messages, so that one checks the other.
 *
 *  An algorithm sees p ranks in groups ("nodes") of r: a message inside a group costs
 *  inner.latency_s + bytes * inner.s_per_B, one between groups costs the same with outer.
 *  A flat algorithm prices every message at the slower place it must cross: outer if the
 *  communicator leaves a node (r < p), inner if it does not.  A ring's rounds are all alike, so
 *  it prices them at what the busiest link carries in one (topology/communicator.h).  Rail rings
 *  are several rings at once that leave each node by different adapters (rail_ring.h).
 *
 *  Symbols (used by every .equation)
 *      p      ranks taking part                                              [1]
 *      r      ranks of this communicator in one node, 1 <= r <= p            [1]
 *      n      message size as nccl-tests counts it, see fr_op                [B]
 *      alpha  time to first byte of a message                                [s]
 *      beta   time per byte of one link                                      [s/B]
 *      lg     ceil(log2 p)
 *
 *  Where links state a class, NCCL or RCCL run them (topology/link_class.h), and of all-reduce, all-gather and
 *  reduce-scatter only the algorithms that these have are taken: rail rings, trees, reductions in the switch.
 *
 *  The arithmetic of a reduction (a few additions per byte) is not priced: on the machines
 *  of interest it hides behind the transfer, and fitted forms contain it.
 *
 *  To add an algorithm: models/network/collective/<name>.c exporting fr_collective_<name>, and a row
 *  FR_COLLECTIVE(<name>) in models/network/collective_list.h.  models/network/expansion.h and
 *  models/network/pattern.h help to write its messages down.
 */
#ifndef FR_MODELS_NETWORK_COLLECTIVE_H
#define FR_MODELS_NETWORK_COLLECTIVE_H

#include <stdbool.h>
#include <stdint.h>

#include "topology/communicator.h"

/** Operations.  `name` is the spelling in files.  n counts a buffer as nccl-tests does.  all_gather: the gathered
 *  buffer (p contributions).  reduce_scatter: the buffer before it is scattered.  all_to_all: one rank's whole buffer
 *  (p parts).  scatter and gather: the root's (p parts).  All others: the one buffer.  A block is n/p, a real number.
 *  Rank 0 is the root.  In send_recv every rank sends n to the next one and receives n from the one before, as
 *  sendrecv_perf does.  `bus(p)` turns n/t into the bus bandwidth of nccl-tests. */
#define FR_OP_LIST(X)                                                                          \
    X(FR_OP_BROADCAST, broadcast)                                                              \
    X(FR_OP_REDUCE, reduce)                                                                    \
    X(FR_OP_ALL_REDUCE, all_reduce)                                                            \
    X(FR_OP_ALL_GATHER, all_gather)                                                            \
    X(FR_OP_REDUCE_SCATTER, reduce_scatter)                                                    \
    X(FR_OP_ALL_TO_ALL, all_to_all)                                                            \
    X(FR_OP_SEND_RECV, send_recv)                                                              \
    X(FR_OP_SCATTER, scatter)                                                                  \
    X(FR_OP_GATHER, gather)

typedef enum {
#define FR_OP_ENUM(code, name) code,
    FR_OP_LIST(FR_OP_ENUM)
#undef FR_OP_ENUM
        FR_OP_COUNT
} fr_op;

/** Spellings in order of fr_op, then NULL. */
extern const char *const fr_op_names[];

/** How often a rank sends (p-1)/p of n; 0 where it is n itself. */
extern const int fr_op_bus_shares[FR_OP_COUNT];

/** busbw = fr_op_bus_factor(op, p) * n / t: 2(p-1)/p for all-reduce, (p-1)/p for all-gather,
 *  reduce-scatter, all-to-all, scatter and gather, 1 for the rest (nccl-tests, doc/PERFORMANCE.md).
 *  The same number is the most bytes a rank must send or receive per byte of n. */
static inline double fr_op_bus_factor(fr_op op, int64_t n_ranks) {
    double p = (double)n_ranks;
    return fr_op_bus_shares[op] ? fr_op_bus_shares[op] * (p - 1) / p : 1;
}

/** Messages that an algorithm prices itself: a step of rings over all adapters, one turn or two; of chains, between nodes and
 *  inside; of trees; of a reduction in the switch. */
typedef enum {
    FR_PRICED_BY_PLACE,
    FR_PRICED_RING,
    FR_PRICED_RING_TWICE,
    FR_PRICED_CHAIN,
    FR_PRICED_CHAIN_INSIDE,
    FR_PRICED_TREE,
    FR_PRICED_SWITCH,
    FR_PRICINGS
} fr_message_price;

struct fr_collective_args {
    int64_t n_ranks;           /**< p >= 1 */
    int64_t ranks_per_node;    /**< r, 1 <= r <= p; p when all sit in one node */
    double size_B;             /**< n >= 0 */
    struct fr_link_cost inner; /**< a message within a node */
    struct fr_link_cost outer; /**< a message between nodes */
    /** A message to the next rank while every rank sends one; s_per_B 0: as a flat algorithm. */
    struct fr_link_cost ring;
    /** A message of each of `fewest` ranks of a node to the next node; s_per_B 0: outer. */
    struct fr_link_cost rails;
    int64_t fewest; /**< ranks in the least full node; 0: nodes of r, the last takes the rest */
    int64_t nodes;  /**< q; 0: likewise */
    const struct fr_link_class *inside, *between; /**< of inner and outer; NULL: not stated */
    double hops_inside, hops_between;             /**< over the hops of their classes; 0: 1 */
    const int32_t *node; /**< node of each rank, ascending, for expansions; NULL: as above, the
                              fuller nodes first */
};

/** A message of an expansion.  Work, not time. */
struct fr_message {
    double size_B;
    int32_t src, dst; /**< ranks 0..p-1, different */
    bool crosses;     /**< priced at outer, otherwise at inner */
    bool around;     /**< goes round the ring of all ranks: priced at fr_collective_ring_link */
    bool rail;       /**< goes round one of several rings, beside those of the others */
    uint8_t priced;  /**< an fr_message_price, where it is not priced by its place */
    int32_t n_after; /**< entries used in after[]; those must have arrived before it starts */
    int32_t after[3]; /**< indices of earlier messages */
};

/** Messages in an order in which every `after` comes first.  A rank sends one message at a
 *  time (in this order) and receives one at a time, both at once; those of rail rings go beside
 *  each other, which their price holds. */
struct fr_message_list {
    struct fr_message *items;
    int32_t count, capacity;
};

/** Longest list: 2.5 GiB.  A ring over 5792 ranks still fits; without a limit a larger one
 *  would take the machine down before an allocation fails. */
enum { FR_MESSAGES_MAX = 1 << 26 };

/** Append; @p after may be NULL when @p n_after is 0.
 *  @return the index, or -1 when memory is exhausted or the list full. */
int32_t fr_message_add(struct fr_message_list *list, int32_t src, int32_t dst, bool crosses,
                       double size_B, const int32_t *after, int32_t n_after);
void fr_message_list_free(struct fr_message_list *list);

/** Time of one message on its own [s]. */
double fr_message_alone_s(const struct fr_message *message,
                          const struct fr_collective_args *args);

/** The part of it that is latency, where that is not its route's: a rail ring's mean; else 0 [s]. */
double fr_message_latency_s(const struct fr_message *message,
                            const struct fr_collective_args *args);

struct fr_expansion; /* models/network/expansion.h */

struct fr_collective {
    const char *name;     /**< spelling in files and reports */
    fr_op op;             /**< what it carries out */
    const char *equation; /**< T in the symbols above */
    const char *source;   /**< who derived it, where */

    bool nccl; /**< NCCL and RCCL have it */
    /** May it be used?  Asked before time_s and expand. */
    bool (*applicable)(const struct fr_collective_args *a);
    /** Time on an idle network [s], >= 0; 0 when p = 1.  Total on applicable arguments. */
    double (*time_s)(const struct fr_collective_args *a);
    /** Append the same as messages; played on an idle network they take time_s to rounding. */
    void (*expand)(const struct fr_collective_args *a, struct fr_expansion *e);
};

/** Append the messages of @p row. @return FR_OK or FR_ERR_NOMEM. */
fr_status fr_collective_expand(const struct fr_collective *row,
                               const struct fr_collective_args *a,
                               struct fr_message_list *list);

/** Rows that others name. */
extern const struct fr_collective fr_collective_reduce_scatter_gather_reduce,
    fr_collective_ring_all_reduce, fr_collective_recursive_doubling_all_reduce;

/** Rows in table order, then NULL. */
extern const struct fr_collective *const fr_collectives[];

/** The row called @p name that carries out @p op, or NULL. */
const struct fr_collective *fr_collective_find(fr_op op, const char *name);

/** The fastest applicable row for @p op at @p args; the first in table order among equals.
 *  Every op has a row that is applicable for any p, so never NULL. */
const struct fr_collective *fr_collective_fastest(fr_op op,
                                                  const struct fr_collective_args *args);
/** Its time [s]. */
double fr_collective_fastest_s(fr_op op, const struct fr_collective_args *args);

/** ceil(log2 p) for p >= 1. */
int32_t fr_log2_ceil(int64_t p);
/** Do NCCL or RCCL run the collectives of these ranks: all their links are of a class? */
bool fr_collective_by_nccl(const struct fr_collective_args *a);
/** Is p a power of two? */
bool fr_is_power_of_two(int64_t p);
/** Rows that any ranks may use, and powers of two alone. */
bool fr_collective_always(const struct fr_collective_args *a);
bool fr_collective_by_powers(const struct fr_collective_args *a);
/** @p rounds messages one after the other, of @p moved_B in all [s]. */
static inline double fr_messages_s(struct fr_link_cost link, double rounds, double moved_B) {
    return rounds * link.latency_s + moved_B * link.s_per_B;
}
/** The link a flat algorithm prices every message at. */
struct fr_link_cost fr_collective_flat_link(const struct fr_collective_args *a);
/** The link that an algorithm prices at whose messages all go from each rank to the next. */
struct fr_link_cost fr_collective_ring_link(const struct fr_collective_args *a);
/** Ranks in the least full node, and nodes, also where the arguments do not say. */
int64_t fr_collective_fewest(const struct fr_collective_args *a);
int64_t fr_collective_nodes(const struct fr_collective_args *a);
/** Do several nodes hold several ranks each, all as many? */
bool fr_collective_by_node(const struct fr_collective_args *a);

#endif
