/** @file
 *  Prices collectives and books what one rank sends in them, in one place: what is priced is what
 *  is counted.
 *
 *      bytes += times * count * size * fr_op_bus_factor(op, p)
 *
 *  An algorithm may send more; like a fitted form it counts as nccl-tests' bus bytes. */
#ifndef FR_MODELS_PRICE_LEDGER_H
#define FR_MODELS_PRICE_LEDGER_H

#include "models/job/cluster.h"

/* Axes of what a rank sends, in order of reports. */
#define FR_SENT_LIST(X)                                                                        \
    X(FR_SENT_DP, dp)                                                                          \
    X(FR_SENT_PP, pp)                                                                          \
    X(FR_SENT_TP, tp)                                                                          \
    X(FR_SENT_CP, cp)                                                                          \
    X(FR_SENT_EP, ep)                                                                          \
    X(FR_SENT_EMBEDDING, embedding)                                                            \
    X(FR_SENT_HOST, host)

typedef enum {
#define FR_SENT_ENUM(code, name) code,
    FR_SENT_LIST(FR_SENT_ENUM)
#undef FR_SENT_ENUM
        FR_SENT_COUNT
} fr_sent;
/** Names in order, then NULL. */
extern const char *const fr_sent_names[];

struct fr_ledger {
    const struct fr_cluster *cluster;
    double *sent_B;         /**< [FR_SENT_COUNT]: by one rank in an iteration */
    double times;           /**< that what is priced runs in an iteration */
    uint32_t *extrapolated; /**< bits as in fr_outcome; set, never cleared */
};

/** Book @p count operations on @p axis. */
static inline void fr_ledger_book(const struct fr_ledger *l, fr_sent axis, fr_op op,
                                  const struct fr_group *group, double size_B, double count) {
    if (group->n_ranks <= 1 || count <= 0) return;
    l->sent_B[axis] += l->times * count * size_B * fr_op_bus_factor(op, group->n_ranks);
}

/** Time of @p count operations after each other [s], none where it is 0. */
static inline double fr_ledger_s(const struct fr_ledger *l, fr_op op,
                                 const struct fr_group *group, double size_B, double count) {
    if (group->n_ranks <= 1 || count <= 0) return 0;
    return count * fr_cluster_comm_s(l->cluster, op, group, size_B, l->extrapolated);
}

/** Both. */
static inline double fr_ledger_comm_s(const struct fr_ledger *l, fr_sent axis, fr_op op,
                                      const struct fr_group *group, double size_B,
                                      double count) {
    fr_ledger_book(l, axis, op, group, size_B, count);
    return fr_ledger_s(l, op, group, size_B, count);
}

#endif
