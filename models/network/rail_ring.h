/** @file
 *  Rings that use all adapters of a node at once, as NCCL's channels do.
 *
 *  f rings run beside each other, f the ranks of the least full node.  Each goes through all ranks, node by node, and
 *  carries n/f of the data.  Each leaves a node by another rank, so f adapters of every node work at once, while f
 *  rings share the links inside.  The rings are pipelined: a node passes one block on while the next arrives.  So a
 *  round takes a block's bytes at the slower of the two places, not at one after the other, and the mean of a ring's
 *  latencies:
 *
 *      (p-1) (h + n/p beta),  beta = max(s beta_in, beta_rails / f),  h = (q alpha_out + (p-q) alpha_in) / p
 *
 *  a turn of p - 1 hops; an all-reduce takes two turns.  q nodes; beta_rails: of a byte when f ranks of every node
 *  send to the next node at once.  A rank sends s = (f - 1)/f of its bytes inside where nodes hold f ranks each, all
 *  where one holds more.  A broadcast goes down such rings as chains, and a reduction goes up.  Each ring moves n/f
 *  in K pieces that follow one another (van de Geijn's pipelined broadcast; NCCL's ring).  The first piece takes the
 *  times of all hops, and each of the others that of the slower place:
 *
 *      q' t_out + (p - 1 - q') t_in + (K - 1) max(t_out, t_in)
 *      t_out = alpha_out + n/K beta_rails / f,  t_in = alpha_in + n/K s beta_in,  K = n / (f 512 KiB), at most 256
 *
 *  q' = q where a ring comes back to the node that it began in, else q - 1.  (NCCL, src/include/device.h: a slot of a
 *  channel's buffer, 4 MiB in 8 steps.)
 *
 *  Where NCCL runs them (links of a class), latencies are the classes' hops, a collective starts once, and inside one node
 *  the protocol is the fastest (models/network/nccl.h).  Then one node alone is a ring too.
 *
 *  (NCCL, src/graph/tuning.cc: bandwidth of all channels at the slower of the two places, and of the
 *  steps of a ring those between nodes at the network's latency, the others at NVLink's.)
 */
#ifndef FR_MODELS_NETWORK_RAIL_RING_H
#define FR_MODELS_NETWORK_RAIL_RING_H

#include "models/network/expansion.h"

/** May chains be used: several nodes, of which one holds several ranks? */
bool fr_rail_chain_applicable(const struct fr_collective_args *a);
/** May rail rings be used: several nodes, of which one holds several ranks, or any ranks of NCCL? */
bool fr_rail_ring_applicable(const struct fr_collective_args *a);

/** Time of one turn, or of two [s]. */
double fr_rail_ring_s(const struct fr_collective_args *a, int64_t turns);

/** Cost of a message of one ring while all rings work, of one turn or two: h, and f beta. */
struct fr_link_cost fr_rail_ring_link(const struct fr_collective_args *a, int64_t turns);
/** The same of a chain, between ranks of a node or of two. */
struct fr_link_cost fr_rail_chain_link(const struct fr_collective_args *a, bool inside);

/** Time of a pipelined broadcast, or of a reduction [s]. */
double fr_rail_chain_s(const struct fr_collective_args *a);

/** Append its messages, n / (K f) each; of a reduction, which goes up the chains. */
void fr_rail_chain_expand(const struct fr_collective_args *a, bool reduces,
                          struct fr_expansion *e);

/** Append the messages, n / (p f) each. */
void fr_rail_ring_expand(const struct fr_collective_args *a, int64_t turns,
                         struct fr_expansion *e);

#endif
