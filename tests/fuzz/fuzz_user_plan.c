/* Any document is a plan beside others, with a price or reasons, or is refused. */
#include <math.h>

#include "answer/search/user_plan.h"
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
    struct fr_user_plan user_plan;
    struct fr_error err = {0};
    char differs[512];
    if (strstr(text, "file:") || strstr(text, "schedule"))
        return; /* names of files are not tried */
    if (fr_user_plan_read(the_job(), fr_fuzz_file(text, size), size % 2 ? 64 : 0, &user_plan,
                          &err) == FR_OK) {
        fr_user_plan_differs(the_job(), &user_plan.plan, &the_job()->plan, differs,
                             sizeof differs);
        if (user_plan.outcome.reasons == 0)
            FR_FUZZ_REQUIRE(
                user_plan.outcome.time_s > 0 && isfinite(user_plan.outcome.time_s) &&
                fr_user_plan_slower(the_job(), &user_plan.outcome, &user_plan.outcome) == 0);
    } else
        FR_FUZZ_REQUIRE(err.where[0] && err.detail[0]);
    fr_user_plan_free(&user_plan);
}
