/* Any lines are the cases of a job of real runs, and what is done of them, or are refused: programs that take
 * a case have said that they can run it. */
#include "real/apps/resume.h"
#include "tests/fuzz/fuzz.h"

enum { PASSES = 3 };

FR_FUZZ_TEXT(text, size) {
    struct fr_real_cases cases = {0};
    struct fr_text refused = {0};
    struct fr_error err = {0};
    if (fr_real_cases_refused(text, "fuzz", &refused, &err) != FR_OK)
        FR_FUZZ_REQUIRE(err.where[0] && err.detail[0]);
    err = (struct fr_error){0};
    if (fr_real_cases_read(text, "fuzz", size % 2 ? 2 : 0, 1, &cases, &err) == FR_OK) {
        bool known, *done = calloc((size_t)cases.n * PASSES, sizeof *done);
        FR_FUZZ_REQUIRE(done);
        if (fr_real_done_read(text, "fuzz", &cases, PASSES, done, &err) != FR_OK)
            FR_FUZZ_REQUIRE(err.detail[0]);
        (void)fr_real_machine_check(text, "fuzz", 2, "this one", &known, &err);
        for (int i = 0; i < cases.n; i++)
            FR_FUZZ_REQUIRE(cases.items[i].block <= i && cases.items[i].app);
        free(done);
    } else
        FR_FUZZ_REQUIRE(err.where[0] && err.detail[0]);
    fr_real_cases_free(&cases);
    fr_text_free(&refused);
}
