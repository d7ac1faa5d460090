/* ColossalAI: colossalai run --nproc_per_node 8 --host a,b. */
#include "base/text/launcher.h"

#include <stddef.h>

static const struct fr_launch_option options[] = {{"nproc-per-node", FR_LAUNCH_PER_NODE},
                                                  {"num-nodes", FR_LAUNCH_NODES},
                                                  {"host", FR_LAUNCH_LIST},
                                                  {"hostfile", FR_LAUNCH_HOST_FILE},
                                                  {"m", FR_LAUNCH_FLAG},
                                                  {NULL, FR_LAUNCH_FLAG}};

const struct fr_launcher fr_launcher_colossalai = {
    .name = "colossalai",
    .words = (const char *const[]){"colossalai", NULL},
    .second = (const char *const[]){"run", NULL},
    .options = options,
    .unsaid = FR_LAUNCH_ONE_RANK,
};
