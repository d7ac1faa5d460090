/* Any lines "RANKS", "KEY=RANGE", ... make a space of plans that can be walked, or are refused. */
#include "search/space.h"
#include "tests/fuzz/fuzz.h"

enum { LINES_MAX = 8 };

FR_FUZZ_TEXT(text, size) {
    const struct fr_plan base = fr_plan_default();
    struct fr_space space = {.size = 0};
    struct fr_error err = {0};
    char *line[LINES_MAX], *rest = NULL;
    int n = 0;
    for (char *at = strtok_r(text, "\n", &rest); at && n < LINES_MAX;
         at = strtok_r(NULL, "\n", &rest)) {
        if (strstr(at, "file:") || strstr(at, "schedule="))
            return; /* names of files are not tried */
        line[n++] = at;
    }
    if (n == 0) return;
    if (fr_space_make(line[0], (const char *const *)(line + 1), n - 1, &base, size % 2, false,
                      NULL, &space, &err) == FR_OK) {
        FR_FUZZ_REQUIRE(space.size > 0);
        for (int64_t i = 0; i < space.size; i += 1 + space.size / 50) {
            struct fr_plan plan;
            bool fits = false;
            if (fr_space_plan(&space, NULL, i, &plan, &fits) && fits)
                FR_FUZZ_REQUIRE(plan.dp >= 1 && plan.tp >= 1 && plan.pp >= 1);
        }
    } else
        FR_FUZZ_REQUIRE(err.detail[0]);
    fr_space_free(&space);
}
