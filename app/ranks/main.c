/* forerun-mpi: a search over many processes, and what calibration and validation run on them. */
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "app/ranks/ranks.h"
#include "app/verb.h"
#include "calibrate/measure/harness/libraries.h"
#include "real/apps/program.h"

/* As forerun says it, and the two libraries that forerun has not. */
static int version(int argc, char **argv) {
    char libraries[2048];
    int code = fr_app_main(argc, argv);
    printf("runs with %s\n", fr_harness_libraries(libraries, sizeof libraries));
    return code;
}

int main(int argc, char **argv) {
    signal(SIGXFSZ, SIG_IGN); /* as forerun does: an error of write(2), which is reported */
    if (argc == 2 && strcmp(argv[1], "--version") == 0) return version(argc, argv);
    if (argc > 1 && strcmp(argv[1], "search") == 0) return fr_ranks_search(argc, argv);
    return fr_apps_main(argc, argv);
}
