/* PyTorch's torchrun. */
#include "base/text/launcher.h"

#include <stddef.h>

static const struct fr_launch_option options[] = {
    {"nnodes", FR_LAUNCH_NODES},    {"nproc-per-node", FR_LAUNCH_PER_NODE},
    {"standalone", FR_LAUNCH_FLAG}, {"m", FR_LAUNCH_FLAG},
    {"module", FR_LAUNCH_FLAG},     {"no-python", FR_LAUNCH_FLAG},
    {"use-env", FR_LAUNCH_FLAG},    {NULL, FR_LAUNCH_FLAG}};

const struct fr_launcher fr_launcher_torchrun = {
    .name = "torchrun",
    .words = (const char *const[]){"torchrun", "torch.distributed.run",
                                   "torch.distributed.launch", NULL},
    .options = options,
    .unsaid = FR_LAUNCH_ONE_RANK,
};
