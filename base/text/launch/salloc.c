/* Slurm's salloc and sbatch, and the lines of a batch script: nodes for what is started inside. */
#include "base/text/launcher.h"

#include <stddef.h>

const struct fr_launcher fr_launcher_salloc = {
    .name = "salloc",
    .words = (const char *const[]){"salloc", "sbatch", "#SBATCH", NULL},
    .options = fr_slurm_options,
    .reserves = true,
};
