/* Any document is a plan beside others, with a price or reasons, or is refused. */
#include <math.h>

#include "answer/search/mine.h"
#include "tests/fuzz/fuzz.h"

static const struct fr_job *the_job(void) {
    static struct fr_job job;
    static bool made;
    const struct fr_job_names names = {.cluster = "dgx-h100", .model = "gpt-2.5b"};
    if (!made) FR_FUZZ_REQUIRE(fr_job_load(&names, &job, NULL) == FR_OK);
    made = true;
    return &job;
}

FR_FUZZ_TEXT(text, size) {
    struct fr_mine mine;
    struct fr_error err = {0};
    char differs[512];
    if (strstr(text, "file:") || strstr(text, "schedule"))
        return; /* names of files are not tried */
    if (fr_mine_read(the_job(), fr_fuzz_file(text, size), size % 2 ? 64 : 0, &mine, &err) ==
        FR_OK) {
        fr_mine_differs(the_job(), &mine.plan, &the_job()->plan, differs, sizeof differs);
        if (mine.outcome.reasons == 0)
            FR_FUZZ_REQUIRE(mine.outcome.time_s > 0 && isfinite(mine.outcome.time_s) &&
                            fr_mine_behind(the_job(), &mine.outcome, &mine.outcome) == 0);
    } else
        FR_FUZZ_REQUIRE(err.where[0] && err.detail[0]);
    fr_mine_free(&mine);
}
