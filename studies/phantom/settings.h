/** @file
 *  Iterations to a loss (nu of Seal et al. 2025) at several widths and depths, each at the best of several
 *  learning rates, on new samples every iteration and on one batch again and again: `forerun reproduce
 *  phantom --measured --widths 512,1024 --depths 2,4`.  Where does the paper's order appear, that phantom
 *  needs fewer iterations than tensor (157 against 453 at n = 16384, L = 2, p = 8)? */
#ifndef FR_STUDIES_PHANTOM_SETTINGS_H
#define FR_STUDIES_PHANTOM_SETTINGS_H

#include "studies/phantom/table.h"
#include "studies/reproduce.h"

struct fr_phantom_settings {
    const int64_t *widths, *depths;
    size_t n_widths, n_depths;
    bool
        force; /**< replace files of trainings; each setting has its own, beside that of the options */
};

/** Train all of them as @p o says otherwise.  @param[out] table  freed with fr_phantom_table_free, also on error
 *  @return as fr_training_run */
fr_status fr_phantom_settings_run(const struct fr_training_options *o,
                                  const struct fr_phantom_settings *settings,
                                  struct fr_phantom_table *table, struct fr_error *err);

/** Add rows: iterations of tensor and of the k that needs fewest, at each p, and their order, judged where the
 *  ranges over seeds part. */
void fr_phantom_table_reproduce(const struct fr_phantom_table *table,
                                struct fr_reproduction *r);

#endif
