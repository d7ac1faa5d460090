#include "app/searching.h"

#include <math.h>
#include <string.h>

#include "base/units.h"
#include "models/outcome/fits/fits.h"

static fr_status read_fit(const struct fr_args *args, struct fr_search_options *o,
                          struct fr_error *err) {
    const char *fit = fr_args_get(args, "fit");
    double level = FR_FITS_USUAL;
    bool any = fit && strcmp(fit, "any") == 0;
    if (any) level = 0;
    if (fit && !any && fr_args_share(args, "fit", 1, HUGE_VAL, &level, NULL) != FR_OK)
        level = 0;
    if (fit && !any && !(level > 0 && level < 1))
        return fr_fail(
            err, FR_ERR_USAGE, "--fit",
            "\"%.40s\": expected a probability above 0 and below 1, e.g. 0.9 or 90%%, or any",
            fit);
    fr_search_ask_fit(o, level);
    return FR_OK;
}

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
    FR_TRY(read_fit(args, o, err));
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
