/* Slurm's srun, and yhrun of the Tianhe machines. */
#include "base/text/launcher.h"

#include <stddef.h>

const struct fr_launch_option fr_slurm_options[] = {{"N", FR_LAUNCH_NODES},
                                                    {"nodes", FR_LAUNCH_NODES},
                                                    {"n", FR_LAUNCH_RANKS},
                                                    {"ntasks", FR_LAUNCH_RANKS},
                                                    {"ntasks-per-node", FR_LAUNCH_PER_NODE},
                                                    {"tasks-per-node", FR_LAUNCH_PER_NODE},
                                                    {"w", FR_LAUNCH_LIST},
                                                    {"nodelist", FR_LAUNCH_LIST},
                                                    {"G", FR_LAUNCH_GPUS},
                                                    {"gpus", FR_LAUNCH_GPUS},
                                                    {"gpus-per-node", FR_LAUNCH_GPUS_PER_NODE},
                                                    {"gres", FR_LAUNCH_GPUS_PER_NODE},
                                                    {"ntasks-per-gpu", FR_LAUNCH_RANKS_PER_GPU},
                                                    {"l", FR_LAUNCH_FLAG},
                                                    {"label", FR_LAUNCH_FLAG},
                                                    {"u", FR_LAUNCH_FLAG},
                                                    {"unbuffered", FR_LAUNCH_FLAG},
                                                    {"K", FR_LAUNCH_FLAG},
                                                    {"exclusive", FR_LAUNCH_FLAG},
                                                    {"v", FR_LAUNCH_FLAG},
                                                    {"overlap", FR_LAUNCH_FLAG},
                                                    {"exact", FR_LAUNCH_FLAG},
                                                    {"O", FR_LAUNCH_FLAG},
                                                    {"overcommit", FR_LAUNCH_FLAG},
                                                    {"pty", FR_LAUNCH_FLAG},
                                                    {"no-container-mount-home", FR_LAUNCH_FLAG},
                                                    {"container-writable", FR_LAUNCH_FLAG},
                                                    {"Q", FR_LAUNCH_FLAG},
                                                    {"quiet", FR_LAUNCH_FLAG},
                                                    {"s", FR_LAUNCH_FLAG},
                                                    {"oversubscribe", FR_LAUNCH_FLAG},
                                                    {"requeue", FR_LAUNCH_FLAG},
                                                    {"no-requeue", FR_LAUNCH_FLAG},
                                                    {"use-min-nodes", FR_LAUNCH_FLAG},
                                                    {NULL, FR_LAUNCH_FLAG}};

const struct fr_launcher fr_launcher_srun = {
    .name = "srun",
    .words = (const char *const[]){"srun", "yhrun", NULL},
    .options = fr_slurm_options,
    .unsaid = FR_LAUNCH_RANK_A_NODE,
    .slurm = true,
};
