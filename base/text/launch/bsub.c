/* LSF's bsub, and the lines of a batch script: nodes for what is started inside. */
#include "base/text/launcher.h"

#include <stddef.h>

static const struct fr_launch_option options[] = {
    {"n", FR_LAUNCH_RANKS}, {"nnodes", FR_LAUNCH_NODES}, {"R", FR_LAUNCH_SPAN},
    {"I", FR_LAUNCH_FLAG},  {"Is", FR_LAUNCH_FLAG},      {"K", FR_LAUNCH_FLAG},
    {"x", FR_LAUNCH_FLAG},  {NULL, FR_LAUNCH_FLAG}};

const struct fr_launcher fr_launcher_bsub = {
    .name = "bsub",
    .words = (const char *const[]){"bsub", "#BSUB", NULL},
    .options = options,
    .long_names = true,
    .reserves = true,
};
