/* Any words of --launcher become a command, each word whole, or are refused.  Nothing is started:
 * the linker puts our fr_process_run for the real one. */
#include "base/process.h"
#include "calibrate/measure/launch.h"
#include "tests/fuzz/fuzz.h"

fr_status __wrap_fr_process_run(const struct fr_process *p, struct fr_ended *ended,
                                struct fr_error *err);

fr_status __wrap_fr_process_run(const struct fr_process *p, struct fr_ended *ended,
                                struct fr_error *err) {
    int n = 0, variables = 0;
    (void)ended;
    while (p->words[n]) {
        FR_FUZZ_REQUIRE(p->words[n][0]);
        n++;
    }
    while (p->variables[variables]) variables++;
    FR_FUZZ_REQUIRE(n >= 3 && variables >= 2);
    FR_FUZZ_REQUIRE(strcmp(p->words[n - 1], "argument") == 0);
    return fr_fail(err, FR_ERR_EXTERNAL, p->words[0], "is not started here");
}

FR_FUZZ_TEXT(text, size) {
    static const char *const arguments[] = {"run", "argument", NULL};
    const struct fr_launch_options o = {
        .n_ranks = 2 + (int64_t)(size % 3), .launcher = text, .program = "/bin/true"};
    struct fr_error err = {0};
    FR_FUZZ_REQUIRE(fr_launch_mpi(&o, arguments, &err) != FR_OK);
    FR_FUZZ_REQUIRE(err.detail[0]);
}
