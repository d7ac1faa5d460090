/** @file
 *  The shape of a network: what lies between the links of a cluster's outermost level.
 *
 *  Levels alone describe boxes in boxes joined by ideal switches: only the links of the ranks
 *  themselves can be busy.  A shape puts a fabric in place of the outermost switch.  Every link of
 *  the outermost level (an adapter, of `shared_by` ranks) ends in a port of it; ports are
 *  numbered as adapters are, along the ranks.  Switches are joined by links of one rate and
 *  latency, each one way: a cable is two of them, so all is full duplex.  Routes are worked out
 *  as they are asked for; there is no table of pairs.
 *
 *  Written as an object, {"shape": "fat-tree", "down": [18, 16], "up": [9]}, or in a line,
 *  "fat-tree down=18,16 up=9 bandwidth=25GB/s"; nested boxes as "rack:4 node:18 gpu:4".
 *
 *  To add one: topology/shape/<name>.c exporting fr_shape_<name>, row FR_SHAPE(<name>) in
 *  topology/shape_list.h.
 */
#ifndef FR_TOPOLOGY_SHAPE_H
#define FR_TOPOLOGY_SHAPE_H

#include <stdint.h>

#include "base/json.h"

struct fr_levels;

enum {
    FR_SHAPE_KEYS = 4,  /**< parameters of a shape, at most */
    FR_SHAPE_SIZES = 8, /**< numbers of one, at most */
    FR_ROUTE_MAX = 128, /**< links of a route, at most */
    /** Ports or links, roughly: they are counted one by one where collectives contend. */
    FR_FABRIC_MAX = 1 << 25,
};

/** Numbers that a shape is asked for: `name` is their key. */
struct fr_shape_key {
    const char *name;
    int max; /**< numbers, at most; 0 ends the list */
    bool required;
};

struct fr_fabric {
    const struct fr_shape *shape; /**< NULL: an ideal switch */
    int count[FR_SHAPE_KEYS];     /**< numbers given for each key of the shape */
    int64_t value[FR_SHAPE_KEYS][FR_SHAPE_SIZES];
    double latency_s;    /**< of one link between switches */
    double rate_B_per_s; /**< of one, each way */
    int64_t n_ports;     /**< set by the shape, as all below */
    int64_t n_switches;
    int64_t n_links;  /**< between switches, each one way */
    int64_t per_node; /**< ports of one node */
};

struct fr_shape {
    const char *name; /**< as written in files */
    const char *summary;
    const char *example; /**< in a line */
    const char *source;
    struct fr_shape_key key[FR_SHAPE_KEYS];
    /** Check the values and set what follows from them: n_ports, n_switches, n_links.  NULL with
     *  `reshape`.  @return NULL, or why there is no such network */
    const char *(*make)(struct fr_fabric *fabric);
    /** For shapes that have no fabric: change the levels themselves. */
    void (*reshape)(struct fr_levels *levels);
    /** Links from port @p a to port @p b, in order. @return how many */
    int (*route)(const struct fr_fabric *fabric, int64_t a, int64_t b, int64_t *links);
    /** Switch that port @p a ends in; switches that link @p i joins. */
    int64_t (*port)(const struct fr_fabric *fabric, int64_t a);
    void (*ends)(const struct fr_fabric *fabric, int64_t i, int64_t *from, int64_t *to);
    /** Port of the sender's own node that a message from port @p a to @p b leaves by; NULL: a. */
    int64_t (*leave)(const struct fr_fabric *fabric, int64_t a, int64_t b);
    /** Links between switches that the best cut into halves of whole nodes severs, one way; where
     *  sizes are even and no node lies across the cut.  Negative: none is narrower than the ports. */
    double (*bisection)(const struct fr_fabric *fabric);
};

/** Rows in table order, then NULL. */
extern const struct fr_shape *const fr_shapes[];

/** Read "topology", an object or a line, and apply it to @p levels, which were read before: it sets
 *  the fabric, and how many ranks the levels hold.  @p node may be absent.
 *  @return FR_OK or FR_ERR_INPUT. */
fr_status fr_topology_read(const struct fr_json *node, struct fr_levels *levels,
                           struct fr_error *err);

#endif
