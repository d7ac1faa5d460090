/** @file
 *  Which links a message uses, and what each can do.
 *
 *  Links are one way.  Each level has a link up (from the ranks) and one down for every group of `shared_by` ranks.
 *  A message between two ranks goes up and down at the innermost level that holds both.  Where a fabric joins the
 *  outermost level, it crosses the fabric in between.  A message's time alone is the sum of its links' latencies and
 *  its bytes at the slowest one's rate.  Routes are worked out when asked for, in time proportional to their length.
 */
#ifndef FR_TOPOLOGY_ROUTE_H
#define FR_TOPOLOGY_ROUTE_H

#include "topology/levels.h"

struct fr_link {
    double latency_s;
    double rate_B_per_s;
};

/** Links of the whole machine, numbered from 0. */
int64_t fr_links_count(const struct fr_levels *levels);

/** Links of the levels inside level @p l: numbers from there on are level l's, or the fabric's with
 *  l = the number of levels; all links with one more. */
int64_t fr_links_before(const struct fr_levels *levels, int l);

/** Latencies of a route's links together. */
double fr_route_latency_s(const struct fr_levels *levels, const int64_t *links, int n);

/** Latency and rate of link @p id.  A level's latency lies half on the way up, half on the way down. */
struct fr_link fr_link_at(const struct fr_levels *levels, int64_t id);

/** Links from slot @p a to slot @p b in order, into links[FR_ROUTE_MAX]. @return how many; 0 for
 *  a = b. */
int fr_route(const struct fr_levels *levels, int64_t a, int64_t b, int64_t *links);

/** A name for link @p id, as in "node.3.up", "fabric.17". @return @p out. */
const char *fr_link_name(const struct fr_levels *levels, int64_t id, char *out,
                         size_t capacity);

/** Bytes per second that one half of the nodes can send to the other through the narrowest such
 *  cut, in closed form; 0 for a single node [B/s]. */
double fr_bisection_B_per_s(const struct fr_levels *levels);

#endif
