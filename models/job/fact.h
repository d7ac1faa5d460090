/** @file
 *  What a runtime may state: one row a fact (fact_list.h).
 *
 *  A fact is about software: what it does where a plan leaves a key open, what it writes into the model, or what a
 *  device reaches with it.  Rows of plan and model stand in the order in which they are taken: what a later one asks
 *  may depend on an earlier.  To add a fact: a row in fact_list.h. */
#ifndef FR_MODELS_JOB_FACT_H
#define FR_MODELS_JOB_FACT_H

#include "models/job/cluster.h"
#include "models/workload/workload.h"

typedef enum {
    FR_FACT_PLAN,    /**< a key of the plan that it leaves open */
    FR_FACT_MODEL,   /**< a key of the model, likewise */
    FR_FACT_DEVICE,  /**< a value of a cluster's "device", for a generation of devices */
    FR_FACT_SOFTWARE /**< of the software itself, for every device and plan */
} fr_fact_kind;

struct fr_fact_row {
    const char *
        key; /**< in files and behind "runtime." of --set; of a device the path below "device" */
    fr_fact_kind kind;
    int plan_key; /**< row of models/plan/key.h */
    bool (*model)(struct fr_workload *,
                  double number); /**< writes it into the model, if it has such */
    const char *
        word; /**< of the model: what it may be, "bf16|fp32", which of them is its number; NULL: a number */
    bool is_quantity;
    fr_quantity quantity; /**< what its unit is of; of a device or a number of the model */
    double least, most;   /**< in SI */
    size_t offset;        /**< of the double in struct fr_device */
    fr_value value;       /**< whose width it states; FR_VALUE_COUNT: none */
    bool own;       /**< of the software alone, not of files that give the costs of devices */
    fr_dtype dtype; /**< of the product that it is a value of; FR_DTYPE_COUNT: of none */
    const char *help;
};

/** Rows in table order, fr_fact_count of them: at most FR_CLUSTER_FACTS. */
extern const struct fr_fact_row fr_facts[];
extern const int fr_fact_count, fr_fact_drift; /**< fr_fact_drift: the row "drift" */

/** Kinds as users read them, in order, then NULL. */
extern const char *const fr_fact_kinds[];

/** Values that @p row accepts: "none, gradient, full", "0 s to 60 min", "0 to 1".
 *  @return @p out */
const char *fr_fact_values(const struct fr_fact_row *row, char *out, size_t capacity);

/** Row of @p key ("runtime." before it or not), or -1; @p near is then the likeliest, or NULL. */
int fr_fact_find(const char *key, const char **near);

#endif
