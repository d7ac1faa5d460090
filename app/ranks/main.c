/* forerun-mpi: a search over many processes, and what calibration and validation run on them. */
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "app/ranks/complete.h"
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

static int print(struct fr_text *text) {
    bool printed = fputs(fr_text_get(text), stdout) >= 0 && fflush(stdout) == 0;
    fr_text_free(text);
    return printed ? 0 : 1;
}

/* forerun-mpi complete -- [WORD]... */
static int complete(int argc, char **argv) {
    struct fr_text text = {0};
    int first = argc > 2 && strcmp(argv[2], "--") == 0 ? 3 : 2;
    fr_ranks_complete(&text, (const char *const *)argv + first, argc - first);
    return print(&text);
}

static int help(void) {
    struct fr_text text = {0};
    fr_ranks_help(&text);
    return print(&text);
}

static bool is(const char *word, const char *long_name, const char *short_name) {
    return strcmp(word, long_name) == 0 || strcmp(word, short_name) == 0;
}

int main(int argc, char **argv) {
    signal(SIGXFSZ, SIG_IGN); /* as forerun does: an error of write(2), which is reported */
    if (argc == 2 && strcmp(argv[1], "--version") == 0) return version(argc, argv);
    if (argc == 2 && is(argv[1], "--help", "-h")) return help();
    if (argc > 1 && strcmp(argv[1], "complete") == 0) return complete(argc, argv);
    if (argc > 1 && strcmp(argv[1], "search") == 0) return fr_ranks_search(argc, argv);
    return fr_apps_main(argc, argv);
}
