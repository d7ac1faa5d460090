/** @file
 *  Values of --vary.  KEY is a plan key, with values as --set reads them.  It may also be the runtime, or a dotted
 *  key of the model, the cluster or the runtime; these load the job anew.
 *
 *      KEY=VALUE,VALUE,...   commas inside brackets and braces belong to a value
 *      KEY=1..64*2           whole numbers (sizes with a unit): base/range.h */
#ifndef FR_SEARCH_VARY_H
#define FR_SEARCH_VARY_H

#include "base/range.h"
#include "search/space.h"

/** Add what @p text varies to @p space.  @return FR_OK or FR_ERR_USAGE. */
fr_status fr_vary_parse(const char *text, const struct fr_job_names *names,
                        struct fr_space *space, struct fr_error *err);

/** Load a job for every choice of the space's inputs; none without inputs. */
fr_status fr_vary_load(const struct fr_job_names *names, struct fr_space *space,
                       struct fr_error *err);

#endif
