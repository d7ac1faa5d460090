/** @file
 *  forerun compare --cluster A --cluster B: clusters and models side by side. */
#ifndef FR_APP_CLUSTERS_H
#define FR_APP_CLUSTERS_H

#include "app/options.h"

/** Search on every cluster with every model that @p args name, and print the table or --json.
 *  @return FR_OK; FR_ERR_INFEASIBLE where no plan is feasible on any. */
fr_status fr_app_compare_clusters(const struct fr_args *args, struct fr_error *err);

#endif
