/* forerun-mpi: a search over many processes, and what calibration and validation run on them. */
#include <string.h>

#include "app/ranks/ranks.h"
#include "calibrate/real/apps/program.h"

int main(int argc, char **argv) {
    if (argc > 1 && strcmp(argv[1], "search") == 0) return fr_ranks_search(argc, argv);
    return fr_apps_main(argc, argv);
}
