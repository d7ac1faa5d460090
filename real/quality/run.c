#include <math.h>

#include "real/quality/cells.h"

struct fr_quality_options fr_quality_defaults(void) {
    static const double rates[] = {0.004, 0.008, 0.016};
    return (struct fr_quality_options){.corpus = "grammar",
                                       .rates = rates,
                                       .n_rates = 3,
                                       .seeds = 5,
                                       .steps = 600,
                                       .every = 20,
                                       .held_out = 256,
                                       .target = NAN};
}

static fr_status next(void *o, struct fr_cells *cells, bool *more, struct fr_error *err) {
    return fr_quality_next(o, cells, more, err);
}

fr_status fr_quality_run(const struct fr_quality_options *o, struct fr_quality *quality,
                         struct fr_error *err) {
    struct fr_cells cells = {0};
    const struct fr_cells_job job = {.of = fr_quality_cells_of(o),
                                     .launch = &o->launch,
                                     .verb = "learn",
                                     .corpus = o->corpus,
                                     .resume = o->resume,
                                     .force = o->force,
                                     .progress = o->progress,
                                     .next = next,
                                     .context = (void *)(uintptr_t)o};
    *quality = (struct fr_quality){0};
    fr_status status = fr_cells_run(&job, &cells, err);
    if (status == FR_OK || status == FR_ERR_PARTIAL) {
        fr_status stated = fr_quality_rows(o, &cells, quality, err);
        if (stated == FR_OK) stated = fr_quality_compare(o, quality, err);
        if (stated != FR_OK) status = stated;
    }
    fr_cells_free(&cells);
    return status;
}
