/* jsrun of IBM's LSF: ranks in resource sets. */
#include "base/text/launcher.h"

#include <stddef.h>

static const struct fr_launch_option options[] = {
    {"n", FR_LAUNCH_SETS},          {"nrs", FR_LAUNCH_SETS},
    {"r", FR_LAUNCH_SETS_PER_NODE}, {"rs_per_host", FR_LAUNCH_SETS_PER_NODE},
    {"a", FR_LAUNCH_RANKS_PER_SET}, {"tasks_per_rs", FR_LAUNCH_RANKS_PER_SET},
    {"p", FR_LAUNCH_RANKS},         {"np", FR_LAUNCH_RANKS},
    {"smpiargs", FR_LAUNCH_SKIP},   {"M", FR_LAUNCH_SKIP},
    {"h", FR_LAUNCH_SKIP},          {"chdir", FR_LAUNCH_SKIP},
    {"o", FR_LAUNCH_SKIP},          {"k", FR_LAUNCH_SKIP},
    {NULL, FR_LAUNCH_FLAG}};

const struct fr_launcher fr_launcher_jsrun = {
    .name = "jsrun",
    .words = (const char *const[]){"jsrun", NULL},
    .options = options,
    .batch = true,
};
