/** @file
 *  What hwloc sees of a node, as the node's part of a cluster file. */
#ifndef FR_TOPOLOGY_DISCOVER_H
#define FR_TOPOLOGY_DISCOVER_H

#include "base/status.h"
#include "base/text.h"

/** Unit of hardware that becomes a rank. */
#define FR_RANK_UNIT_LIST(X) X(auto) X(gpu) X(core) X(numa) X(package)

typedef enum {
#define FR_RANK_UNIT_ENUM(name) FR_RANK_UNIT_##name,
    FR_RANK_UNIT_LIST(FR_RANK_UNIT_ENUM)
#undef FR_RANK_UNIT_ENUM
} fr_rank_unit;
/** Their spellings in order, then NULL. */
extern const char *const fr_rank_unit_names[];

/** Append the parts of a cluster file that hwloc knows.  These are `levels` (ranks of a package and of a node, how
 *  many share an adapter), and the device's name and memory where they are seen.  calibration.discovered lists the
 *  parts found.  Nothing is guessed: rates, latencies and other required values are written "?", which every reader
 *  of cluster files refuses by name.
 *  @param xml  an hwloc XML file, or NULL for this machine
 *  @param unit  what a rank is; auto: a GPU where there are any, else a core
 *  @return FR_OK; FR_ERR_INPUT when the file is no hwloc XML or holds none of @p unit. */
fr_status fr_discover(const char *xml, fr_rank_unit unit, struct fr_text *text,
                      struct fr_error *err);

#endif
