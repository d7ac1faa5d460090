/** @file
 *  Links of each pair inside a node that has no switch: V100's cube mesh, AMD's mesh of eight.
 *
 *  The stated bandwidth of such a node is what all links of a rank carry together.  Ranks that communicate use the
 *  links between them alone.  So they have the share
 *
 *      min over members i of sum over members j of links(i, j)  /  links of a rank
 *
 *  which is how many rings, one way each, pass through every member (nvidia-smi topo -m prints the matrix). */
#ifndef FR_TOPOLOGY_PAIR_LINKS_H
#define FR_TOPOLOGY_PAIR_LINKS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/json.h"

enum { FR_PAIR_LINKS_RANKS = 16 };

struct fr_pair_links {
    int n;      /**< ranks; 0: a switch, any ranks have the whole bandwidth */
    int degree; /**< links of a rank */
    int8_t links[FR_PAIR_LINKS_RANKS][FR_PAIR_LINKS_RANKS];
};

/** Read "mesh", rows of links to each rank of a node, symmetric; @p ranks may be fewer, the first of them.  @p node may be
 *  absent. */
fr_status fr_pair_links_read(const struct fr_json *node, int64_t ranks,
                             struct fr_pair_links *mesh, struct fr_error *err);

/** By how much fewer links than a rank's all make the bandwidth smaller, >= 1, for the ranks first, first + stride, ...
 *  of a node, @p count of them.  Pairs without a link go by way of a third rank, as over one. */
double fr_pair_links_slowdown(const struct fr_pair_links *mesh, int64_t first, int64_t stride,
                              int64_t count);

/** The same for the ranks whose bits are set in @p members. */
double fr_pair_links_slowdown_of(const struct fr_pair_links *mesh, uint32_t members);

/** The worst of all such sets that begin in a node, @p count of them in a row of stride @p stride. */
double fr_pair_links_worst(const struct fr_pair_links *mesh, int64_t stride, int64_t count);

#endif
