/* mpirun_rsh of MVAPICH: a host for each rank, then settings, then the program. */
#include "base/text/launcher.h"

#include <stddef.h>

static const struct fr_launch_option options[] = {
    {"np", FR_LAUNCH_RANKS},           {"n", FR_LAUNCH_RANKS},
    {"hostfile", FR_LAUNCH_HOST_FILE}, {"hosts", FR_LAUNCH_HOSTS_ROUND},
    {"ppn", FR_LAUNCH_PER_NODE},       {"rsh", FR_LAUNCH_FLAG},
    {"ssh", FR_LAUNCH_FLAG},           {"legacy", FR_LAUNCH_FLAG},
    {"export", FR_LAUNCH_FLAG},        {"export-all", FR_LAUNCH_FLAG},
    {"show", FR_LAUNCH_FLAG},          {NULL, FR_LAUNCH_FLAG}};

const struct fr_launcher fr_launcher_mpirun_rsh = {
    .name = "mpirun_rsh",
    .words = (const char *const[]){"mpirun_rsh", NULL},
    .options = options,
    .long_names = true,
    .lists_hosts = true,
};
