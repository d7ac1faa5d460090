/* Any words of --launcher become a command, each word whole, or are refused.  Nothing is started:
 * the linker puts our posix_spawnp for the real one. */
#include <errno.h>
#include <spawn.h>

#include "calibrate/measure/launch.h"
#include "tests/fuzz/fuzz.h"

int __wrap_posix_spawnp(pid_t *child, const char *file,
                        const posix_spawn_file_actions_t *actions,
                        const posix_spawnattr_t *attributes, char *const words[],
                        char *const environment[]);

int __wrap_posix_spawnp(pid_t *child, const char *file,
                        const posix_spawn_file_actions_t *actions,
                        const posix_spawnattr_t *attributes, char *const words[],
                        char *const environment[]) {
    int n = 0, variables = 0;
    (void)child;
    (void)actions;
    (void)attributes;
    while (words[n]) {
        FR_FUZZ_REQUIRE(words[n][0]);
        n++;
    }
    while (environment[variables]) variables++;
    FR_FUZZ_REQUIRE(n >= 3 && strcmp(words[0], file) == 0 && variables > 0);
    FR_FUZZ_REQUIRE(strcmp(words[n - 1], "argument") == 0);
    return ENOENT;
}

FR_FUZZ_TEXT(text, size) {
    static const char *const arguments[] = {"run", "argument", NULL};
    const struct fr_launch_options o = {
        .n_ranks = 2 + (int64_t)(size % 3), .launcher = text, .program = "/bin/true"};
    struct fr_error err = {0};
    FR_FUZZ_REQUIRE(fr_launch_mpi(&o, arguments, &err) != FR_OK);
    FR_FUZZ_REQUIRE(err.detail[0]);
}
