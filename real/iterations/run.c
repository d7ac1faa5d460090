#include <stdlib.h>

#include "real/iterations/cells.h"

static const double ADAM_STATE_B = 8;

struct fr_training_options fr_training_defaults(void) {
    return (struct fr_training_options){.width = 1024,
                                        .layers = 2,
                                        .batch = 128,
                                        .seeds = 3,
                                        .most = 4000,
                                        .loss = 0.12,
                                        .optimizer_state_B = ADAM_STATE_B};
}

double fr_training_rate(const struct fr_training_options *o) {
    return o->rate > 0 ? o->rate : 1 / (double)o->width;
}

struct asking {
    const struct fr_training_options *o;
    struct fr_trained **rows;
    int *n;
};

static fr_status next(void *context, struct fr_cells *cells, bool *more, struct fr_error *err) {
    const struct asking *a = context;
    free(*a->rows);
    FR_TRY(fr_training_rows(cells, a->rows, a->n, err));
    return fr_ladder_next(a->o, *a->rows, *a->n, cells, more, err);
}

fr_status fr_training_run(const struct fr_training_options *o, struct fr_trained **rows, int *n,
                          struct fr_error *err) {
    struct fr_cells cells = {0};
    struct fr_training_options asked;
    struct asking asking = {o, rows, n};
    const struct fr_cells_job job = {.of = fr_training_cells_of(o, &asked),
                                     .launch = &o->launch,
                                     .verb = "train",
                                     .resume = o->resume,
                                     .force = o->force,
                                     .progress = o->progress,
                                     .next = next,
                                     .context = &asking};
    *rows = NULL;
    *n = 0;
    fr_status status = fr_cells_run(&job, &cells, err);
    if (status == FR_ERR_PARTIAL) {
        free(*rows);
        if (fr_training_rows(&cells, rows, n, NULL) != FR_OK) *n = 0;
    }
    fr_cells_free(&cells);
    return status;
}
