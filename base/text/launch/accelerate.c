/* Hugging Face's accelerate launch. */
#include "base/text/launcher.h"

#include <stddef.h>

static const struct fr_launch_option options[] = {{"num-processes", FR_LAUNCH_RANKS},
                                                  {"num-machines", FR_LAUNCH_NODES},
                                                  {"multi-gpu", FR_LAUNCH_FLAG},
                                                  {"use-deepspeed", FR_LAUNCH_FLAG},
                                                  {"use-fsdp", FR_LAUNCH_FLAG},
                                                  {"m", FR_LAUNCH_FLAG},
                                                  {NULL, FR_LAUNCH_FLAG}};

const struct fr_launcher fr_launcher_accelerate = {
    .name = "accelerate",
    .words = (const char *const[]){"accelerate", NULL},
    .second = (const char *const[]){"launch", NULL},
    .options = options,
    .unsaid = FR_LAUNCH_ONE_NODE,
};
