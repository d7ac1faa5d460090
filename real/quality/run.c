/* Rounds of jobs: what is missing is trained, then asked what is missing now. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/file.h"
#include "base/journal/keep.h"
#include "calibrate/measure/watch/wire.h"
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

/* One job over all cells that are not done; what it wrote is read also when it ended early. */
static fr_status train(const struct fr_quality_options *o, struct fr_quality_cells *cells,
                       struct fr_keep *keep, struct fr_error *err) {
    char patience[40];
    const char *words[] = {
        "learn", "--corpus", o->corpus,    "--cases", o->samples,
        "--out", o->samples, "--patience", patience,  o->progress ? "--progress" : NULL,
        NULL};
    FR_TRY(fr_quality_cells_write(cells, o, err));
    FR_TRY(fr_keep_hold_again(keep, err));
    snprintf(patience, sizeof patience, "%.17g",
             o->launch.patience_s > 0 ? o->launch.patience_s : FR_PATIENCE_S);
    fr_status ran = fr_launch_mpi(&o->launch, words, err);
    if (ran != FR_OK && ran != FR_ERR_PARTIAL && ran != FR_ERR_EXTERNAL) return ran;
    fr_status status = fr_quality_cells_read(cells, o, ran == FR_OK ? err : NULL);
    if (ran == FR_OK && status == FR_OK && cells->n_done < cells->n)
        return fr_fail(err, FR_ERR_EXTERNAL, o->samples, "lacks results of the job");
    if (ran == FR_OK) return status;
    /* One that lost a rank has said which. */
    if (status != FR_OK || ran == FR_ERR_PARTIAL || cells->n_done == 0) return ran;
    return fr_fail(err, FR_ERR_PARTIAL, o->samples,
                   "the job ended early; what had been trained is kept here, and --resume goes "
                   "on with it");
}

fr_status fr_quality_run(const struct fr_quality_options *o, struct fr_quality *quality,
                         struct fr_error *err) {
    struct fr_quality_cells cells = {0};
    struct fr_keep keep;
    bool more = true;
    *quality = (struct fr_quality){0};
    fr_status status = fr_keep_hold(o->samples, o->resume, o->force, &keep, err);
    if (status == FR_OK && o->resume && fr_file_holds(o->samples))
        status = fr_quality_cells_read(&cells, o, err);
    while (status == FR_OK) {
        status = fr_quality_next(o, &cells, &more, err);
        if (status == FR_OK && !more) break;
        if (status == FR_OK) status = train(o, &cells, &keep, err);
    }
    if (status == FR_OK || status == FR_ERR_PARTIAL) {
        fr_status said = fr_quality_rows(o, &cells, quality, err);
        if (said == FR_OK) said = fr_quality_compare(o, quality, err);
        if (said != FR_OK) status = said;
    }
    fr_quality_cells_free(&cells);
    fr_keep_release(&keep);
    return status;
}
