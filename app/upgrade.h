/** @file
 *  forerun compare --runtime A --runtime B: what an upgrade of the software is worth. */
#ifndef FR_APP_UPGRADE_H
#define FR_APP_UPGRADE_H

#include "app/options.h"

/** Price the plan of @p args, or with --ranks and no plan file the best plan of each, with every runtime that they name, and
 *  print tables or --json.
 *  @return FR_OK; FR_ERR_INFEASIBLE where no plan is feasible with any. */
fr_status fr_app_compare_runtimes(const struct fr_args *args, struct fr_error *err);

#endif
