/** @file
 *  What does NCCL (RCCL) take besides rings: start, protocols, trees, reductions in the switch.
 *
 *  All numbers are those of NCCL's own tuner (src/graph/tuning.cc) but where a source is named.  A collective starts
 *  once, a_k, by protocol k (LL, LL128, Simple), which carries the share s_k of the links' rate.  Symbols as in
 *  collective.h; q nodes of r ranks, L = floor(log2 q), h_k the hop of a link's class (topology/link_class.h).
 *
 *      ring     a_k + turns (p-1) (h_k + n/p beta / s_k)        between nodes Simple alone (rail_ring.h)
 *      tree     a_k + 2 ((r-1) h_in + L h_out/2) + 2 n beta / s_k
 *               up and down; a message of a tree between nodes takes half of a ring's hop
 *      switch   a + max(n beta_in / 0.73, c n beta) + 2 L h_out/2
 *               the switch adds up, c = 1 for two nodes, 2 for more: each then sends all of n up and gets it back
 *
 *  beta between nodes as in rail_ring.h, of all adapters.
 *
 *  A tree's, or a switch's, messages are written down as rounds over 1, 2, 4, ... members of a node, then of nodes,
 *  after which every rank has heard from every other.  Each takes its part of the time and of the bytes, so both are
 *  those of the whole; which of them is sent when is not the tree's. */
#ifndef FR_MODELS_NETWORK_NCCL_H
#define FR_MODELS_NETWORK_NCCL_H

#include "models/network/expansion.h"

/** a_k, h_in of protocol k, h_out; in proportion to the latencies of the levels, where these were changed [s]. */
double fr_nccl_start_s(const struct fr_collective_args *a, fr_protocol k);
double fr_nccl_inside_s(const struct fr_collective_args *a, fr_protocol k);
double fr_nccl_between_s(const struct fr_collective_args *a);

/** s_k of a ring. */
extern const double fr_nccl_share[FR_PROTOCOLS];

/** May a tree be used: several nodes, all as full?  May the switch: it can, and holds more than 4 of the ranks? */
bool fr_nccl_tree_applicable(const struct fr_collective_args *a);
bool fr_nccl_switch_applicable(const struct fr_collective_args *a);

/** Times of an all-reduce [s]. */
double fr_nccl_tree_s(const struct fr_collective_args *a);
double fr_nccl_switch_s(const struct fr_collective_args *a);

/** Cost of a message that an algorithm prices itself. */
struct fr_link_cost fr_nccl_link(const struct fr_collective_args *a, fr_message_price priced);

/** Append the rounds of a tree or of the switch. */
void fr_nccl_rounds_expand(const struct fr_collective_args *a, fr_message_price priced,
                           struct fr_expansion *e);

#endif
