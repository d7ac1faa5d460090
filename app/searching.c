#include "app/searching.h"

#include <math.h>

#include "base/units.h"

fr_status fr_app_search_options(const struct fr_args *args, struct fr_search_options *o,
                                struct fr_error *err) {
    long long top = 10, threads = 0;
    int objective = FR_OBJECTIVE_TIME;
    const char *limit = fr_args_get(args, "memory-limit");
    FR_TRY(fr_args_choice(args, "objective", fr_objective_words, &objective, err));
    FR_TRY(fr_args_integer(args, "top", 0, 1000000, &top, err));
    FR_TRY(fr_args_integer(args, "threads", 1, 256, &threads, err));
    if (limit)
        FR_TRY(fr_quantity_parse(limit, FR_QUANTITY_SIZE, "--memory-limit", &o->memory_limit_B,
                                 err));
    if (limit && o->memory_limit_B <= 0)
        return fr_fail(err, FR_ERR_USAGE, "--memory-limit", "\"%.40s\" leaves nothing", limit);
    o->max_lossy = 1;
    FR_TRY(fr_args_share(args, "max-lossy", 1, HUGE_VAL, &o->max_lossy, err));
    o->total = objective > FR_OBJECTIVE_EDP;
    o->objective = (fr_objective)(objective % (FR_OBJECTIVE_EDP + 1));
    o->per_iteration = fr_args_has(args, "per-iteration");
    if (o->total && o->per_iteration)
        return fr_fail(err, FR_ERR_USAGE, "--per-iteration", "ranks no way to the loss");
    o->top = (size_t)top;
    o->threads = (int)threads;
    return FR_OK;
}

bool fr_app_search_lossy(const struct fr_args *args, const struct fr_search_options *o) {
    return fr_args_has(args, "max-lossy") && o->max_lossy > 0;
}
