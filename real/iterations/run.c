/* Rounds of jobs: what is missing is trained, then asked what is missing now. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/file.h"
#include "base/journal/keep.h"
#include "calibrate/measure/watch/wire.h"
#include "real/iterations/cells.h"

struct fr_training_options fr_training_defaults(void) {
    return (struct fr_training_options){
        .width = 1024, .layers = 2, .batch = 128, .seeds = 3, .most = 4000, .loss = 0.12};
}

double fr_training_rate(const struct fr_training_options *o) {
    return o->rate > 0 ? o->rate : 1 / (double)o->width;
}

static int n_done(const struct fr_training_cells *cells) {
    int n = 0;
    for (int i = 0; i < cells->n; i++) n += cells->items[i].done;
    return n;
}

/* One job over all cells that are not done; what it wrote is read also when it ended early. */
static fr_status train(const struct fr_training_options *o, struct fr_training_cells *cells,
                       struct fr_keep *keep, struct fr_error *err) {
    char patience[40];
    const char *words[] = {
        "train",    "--cases",    o->samples, "--out",
        o->samples, "--patience", patience,   o->progress ? "--progress" : NULL,
        NULL};
    if (n_done(cells) == cells->n) return FR_OK;
    FR_TRY(fr_cells_write(cells, o, err));
    FR_TRY(fr_keep_hold_again(keep, err));
    snprintf(patience, sizeof patience, "%.17g",
             o->launch.patience_s > 0 ? o->launch.patience_s : FR_PATIENCE_S);
    fr_status ran = fr_launch_mpi(&o->launch, words, err);
    if (ran != FR_OK && ran != FR_ERR_PARTIAL && ran != FR_ERR_EXTERNAL) return ran;
    fr_status status = fr_cells_read(cells, o, ran == FR_OK ? err : NULL);
    if (ran == FR_OK && status == FR_OK && n_done(cells) < cells->n)
        return fr_fail(err, FR_ERR_EXTERNAL, o->samples, "lacks results of the job");
    if (ran == FR_OK) return status;
    /* One that lost a rank has said which. */
    if (status != FR_OK || ran == FR_ERR_PARTIAL || n_done(cells) == 0) return ran;
    return fr_fail(err, FR_ERR_PARTIAL, o->samples,
                   "the job ended early; what had been trained is kept here, and --resume goes "
                   "on with it");
}

fr_status fr_training_run(const struct fr_training_options *o, struct fr_trained **rows, int *n,
                          struct fr_error *err) {
    struct fr_training_cells cells = {0};
    struct fr_keep keep;
    bool more = true;
    *rows = NULL;
    *n = 0;
    fr_status status = fr_keep_hold(o->samples, o->resume, o->force, &keep, err);
    if (status == FR_OK && o->resume && fr_file_holds(o->samples))
        status = fr_cells_read(&cells, o, err);
    while (status == FR_OK) {
        free(*rows);
        status = fr_cells_rows(&cells, rows, n, err);
        if (status == FR_OK) status = fr_ladder_next(o, *rows, *n, &cells, &more, err);
        if (status == FR_OK && !more && n_done(&cells) == cells.n) break;
        if (status == FR_OK) status = train(o, &cells, &keep, err);
    }
    if (status == FR_ERR_PARTIAL) {
        free(*rows);
        if (fr_cells_rows(&cells, rows, n, NULL) != FR_OK) *n = 0;
    }
    free(cells.items);
    fr_keep_release(&keep);
    return status;
}
