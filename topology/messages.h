/** @file
 *  How many messages of segmented all-to-alls stay inside a node, a rack, ...: counted, and in
 *  closed form (Jain et al. 2021, section V).
 *
 *  n ranks form g sub-grids of n_g = n/g.  Where branches split and join, ranks of equal place in their sub-grids
 *  exchange with each other.  That makes n_g groups of g ranks with g^2 messages each, those to oneself included.
 *  The total is n g for any placement of the ranks.  (The paper's "Messages = n_g" is a slip.)  n_node ranks share a
 *  node, N = n / n_node nodes.
 */
#ifndef FR_TOPOLOGY_MESSAGES_H
#define FR_TOPOLOGY_MESSAGES_H

#include "topology/placement.h"

/** Count messages of all-to-alls along @p axis by the innermost level whose unit holds both ends;
 *  messages to oneself belong to level 0.
 *  @param slot        slot of each rank
 *  @param[out] count  count[level]
 *  @return FR_OK or FR_ERR_NOMEM. */
fr_status fr_messages_count(const struct fr_levels *levels, const struct fr_mesh *mesh,
                            int axis, const int64_t *slot, int64_t count[FR_LEVEL_MAX],
                            struct fr_error *err);

/** Results of the paper's equations. */
struct fr_message_formula {
    const char *equations; /**< which; NULL: none speaks of this placement */
    const char *condition; /**< when they hold */
    bool applies;
    int64_t intra, inter;                 /**< corrected; meaningful where it applies */
    int64_t printed_intra, printed_inter; /**< as the paper has them */
    const char *general; /**< our closed form for every n_node that divides n */
    bool general_applies;
    int64_t general_intra, general_inter;
};

/** Eqs. 4 and 5 (linear) or 6 and 7 (round-robin) for g | n.
 *
 *  The printed Eqs. 4 and 5 have their cases exchanged.  Corrected:
 *      n_g <= n_node:  intra = n_node g      otherwise:  intra = n
 *  the first case holds where n_g divides n_node.  For any n_node that divides n (ours), with
 *  q = floor(n_node / n_g) and s = n_node mod n_g,
 *      intra = N (s (q+1)^2 + (n_g - s) q^2)
 *  since n_node ranks in a row hold each place in a sub-grid q or q + 1 times.
 *
 *  Eqs. 6 and 7 hold where N divides n_g or n_g divides N.  For any n_node that divides n (ours)
 *      intra = n g gcd(n_g, N) / N
 *  since the g ranks of a group sit evenly on N / gcd(n_g, N) nodes. */
struct fr_message_formula fr_messages_formula(const struct fr_placement *placement, int64_t n,
                                              int64_t g, int64_t n_node);

#endif
