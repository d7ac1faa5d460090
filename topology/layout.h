/** @file
 *  What of a cluster file do the files say that an administrator has at hand?
 *
 *  nvidia-smi's matrix and NCCL's topology show the node: GPUs, what joins them, adapters.  Slurm's topology.conf shows
 *  the network: nodes of each switch.  Together they are the levels of a cluster file; nothing is guessed, what none of
 *  them says is written "?", which every reader of cluster files refuses by name.
 *
 *  To add a form: topology/layout/<name>.c exporting fr_layout_<name>, row FR_LAYOUT(<name>) in topology/layout_list.h. */
#ifndef FR_TOPOLOGY_LAYOUT_H
#define FR_TOPOLOGY_LAYOUT_H

#include <stdint.h>

#include "base/json.h"
#include "base/status.h"
#include "base/text.h"

enum { FR_LAYOUT_SWITCHES = 4, FR_LAYOUT_COUNT_MAX = 1 << 20 };

/** 0 or "": not said. */
struct fr_layout {
    int gpus;            /**< of a node */
    int gpus_of_package; /**< of each processor, where all have as many and not all GPUs are joined */
    int links;           /**< NVLinks of each GPU */
    bool joined;         /**< any two GPUs, by NVLink */
    int adapters;        /**< of a node */
    double adapter_rate_B_per_s;                 /**< of one, each direction */
    char model[64];                              /**< of the GPU */
    int64_t nodes;                               /**< of the cluster */
    int n_switches;                              /**< kinds of switches, those of nodes first */
    int64_t nodes_of_switch[FR_LAYOUT_SWITCHES]; /**< the most below one of a kind */
    char sources[160];                           /**< the forms that were read */
    struct fr_text *notes;                       /**< what was assumed; a line each */
};

struct fr_layout_form {
    const char *name;
    const char *source; /**< what writes it */
    bool (*applicable)(const char *text);
    /** Take what @p text says.  @return FR_OK; FR_ERR_INPUT with @p name and why; FR_ERR_NOMEM. */
    fr_status (*read)(const char *text, const char *name, struct fr_layout *layout,
                      struct fr_error *err);
};
/** Rows in table order, then NULL. */
extern const struct fr_layout_form *const fr_layout_forms[];

/** The form of @p text, or NULL. */
const struct fr_layout_form *fr_layout_form_of(const char *text);

/** Take the file @p path; launchers' prefixes, colours and fences go first.
 *  @return FR_OK; FR_ERR_INPUT; FR_ERR_IO; FR_ERR_NOMEM. */
fr_status fr_layout_read(const char *path, struct fr_layout *layout, struct fr_error *err);

/** Add a level of a cluster file; what is not known is written "?".
 *  @param ranks  0: not known  @param rate_B_per_s  0: not known  @param shared_by  0 or 1: not written */
void fr_layout_add_level(struct fr_json_writer *w, const char *name, int64_t ranks,
                         double rate_B_per_s, int64_t shared_by);

/** Append the cluster file.  @p ranks_per_node 0: the GPUs.
 *  @return FR_OK; FR_ERR_INPUT where nothing says the ranks of a node. */
fr_status fr_layout_write(const struct fr_layout *layout, int64_t ranks_per_node,
                          struct fr_text *text, struct fr_error *err);

#endif
