/** @file
 *  A preset's values from training runs: the runs of a file that say something of them, the preset, and the few
 *  coefficients that are fitted to the runs, all else held. */
#ifndef FR_STUDIES_PRESETS_RUNS_H
#define FR_STUDIES_PRESETS_RUNS_H

#include "studies/presets/rows.h"
#include "studies/training/table.h"

/** Of a width that fr_presets_tune gives. */
#define FR_PRESETS_LEFT "left by the runs, all else being as unsure as the preset says"

struct fr_presets_runs {
    const char *file;                           /**< under the data */
    const struct fr_table_selection *selection; /**< NULL: all runs */
    bool (*says)(const struct fr_run *run);     /**< of those selected; NULL: each does */
    /** Add what the runs say, one at least, of the preset's own @p cluster, which it may change. */
    fr_status (*fit)(struct fr_reproduction *r, const char *preset,
                     const struct fr_table_set *runs, struct fr_cluster *cluster,
                     struct fr_error *err);
};

/** Nothing where the file is absent or no run is left. */
fr_status fr_presets_from_runs(struct fr_reproduction *r, const char *preset,
                               const struct fr_presets_runs *from, struct fr_error *err);

/** Fit the coefficients of these @p names (NULL at the end) to @p runs, each starting where @p cluster has it.
 *  @param[out] device  with what was found
 *  @param[out] sigma   one a name: standard deviation of its logarithm that the runs leave, given what those of a
 *                      model, of a plan and of a release share, and that all else is as unsure as the file and the
 *                      priors say; may be NULL
 *  @param[out] together  what runs say of the first beside others (trust/together.h); may be NULL */
fr_status fr_presets_tune(const struct fr_cluster *cluster, const struct fr_table_set *runs,
                          const char *const *names, struct fr_device *device, double *sigma,
                          struct fr_together *together, struct fr_error *err);

#endif
