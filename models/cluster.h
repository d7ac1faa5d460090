/** @file
 *  A checked cluster file: levels, device, and what collectives cost. */
#ifndef FR_MODELS_CLUSTER_H
#define FR_MODELS_CLUSTER_H

#include "models/comm.h"
#include "models/device.h"

struct fr_cluster {
    char name[64];
    char source[1024];
    struct fr_levels levels;
    struct fr_device device;
    struct fr_price price[FR_OP_COUNT];
    bool oversubscribed; /**< measured with more ranks than cores: see the scheduler in it */
};

/** Read the document of a cluster file.  Free with fr_cluster_free, also on error. */
fr_status fr_cluster_read(const struct fr_json_document *document, struct fr_cluster *cluster,
                          struct fr_error *err);
void fr_cluster_free(struct fr_cluster *cluster);

#endif
