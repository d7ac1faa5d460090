/* DeepSpeed's launcher. */
#include "base/text/launcher.h"

#include <stddef.h>

static const struct fr_launch_option options[] = {
    {"num-gpus", FR_LAUNCH_PER_NODE},  {"num-nodes", FR_LAUNCH_NODES},
    {"hostfile", FR_LAUNCH_HOST_FILE}, {"H", FR_LAUNCH_HOST_FILE},
    {"include", FR_LAUNCH_INCLUDE},    {"i", FR_LAUNCH_INCLUDE},
    {"no-ssh", FR_LAUNCH_FLAG},        {"no-local-rank", FR_LAUNCH_FLAG},
    {"module", FR_LAUNCH_FLAG},        {NULL, FR_LAUNCH_FLAG}};

const struct fr_launcher fr_launcher_deepspeed = {
    .name = "deepspeed",
    .words = (const char *const[]){"deepspeed", NULL},
    .options = options,
    .unsaid = FR_LAUNCH_ONE_NODE,
};
