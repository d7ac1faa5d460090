/** @file
 *  What devices are and what their software makes of them, apart: from rows of several releases or several machines.
 *
 *  Values of a device (efficiency at 16 bits, memory, links) are shared by all rows of a machine, whatever it runs; values
 *  that a runtime states (models/job/fact_list.h: attention, the host's times, fp8 and fp4) by all rows of a runtime on one
 *  generation of devices, whichever machine has them.  What a cluster's file states itself counts as the device's.
 *  Fitted together, with x the logarithm of a value over what the machine's cluster had of it,
 *
 *      sum_i w_i rho(e_i / 0.05)  +  sum (x / sigma)^2                   as in trust/tune.h
 *
 *  over those x that enough rows feel, sigma being the table's: that a value lies where a file of its device states it is
 *  what is asked.  How sure they are is (J' W J + S^-2)^-1 at the end: of a value in the light of all
 *  others, with rows that err by 0.05 each on their own (kinds share no more here; fr_tune says what a cluster's are). */
#ifndef FR_TRUST_APART_APART_H
#define FR_TRUST_APART_APART_H

#include "trust/tune.h"

enum { FR_APART_SCOPES = 16, FR_APART_VALUES = 128 };

/** Whose a value is. */
struct fr_apart_scope {
    bool software;
    char name[64];                    /**< of the runtime, or of the machine's cluster */
    char of[64];                      /**< a runtime's: generation or name of the device */
    const struct fr_cluster *cluster; /**< first of its rows; borrowed */
    int rows;
};

struct fr_apart_value {
    int scope, coefficient;
    int rows;            /**< that feel it */
    double prior, value; /**< of the scope's cluster, in SI units */
    double sigma_prior, sigma;
};

struct fr_apart {
    fr_dtype dtype;
    int rows, n_scopes, n;
    struct fr_apart_scope scope[FR_APART_SCOPES];
    struct fr_apart_value value[FR_APART_VALUES];
    double mean_error; /**< of |predicted / measured - 1| on the rows */
};

/** Fact of a runtime that coefficient @p j is on @p cluster (row of fr_facts); -1: it is the device's. */
int fr_apart_fact(int j, const struct fr_cluster *cluster, fr_dtype dtype);

/** @param cluster  of rows that name none
 *  @param runs     all of one dtype
 *  @param fixed     bit j: coefficient j stays as it is
 *  @return FR_OK; FR_ERR_INPUT where no row can be predicted or rows are of too many; FR_ERR_NUMERIC; FR_ERR_NOMEM. */
fr_status fr_tune_apart(const struct fr_cluster *cluster, const struct fr_run *const *runs,
                        int n, uint32_t fixed, int threads, struct fr_apart *apart,
                        struct fr_error *err);

/** @p cluster with all values of @p apart that are of it and of its runtime. */
void fr_apart_apply(const struct fr_apart *apart, struct fr_cluster *cluster);

/** Did the rows take half of the prior's variance?  What they did not is in no file. */
bool fr_apart_learned(const struct fr_apart_value *value);

/** Scope @p s of a runtime and those of the same name behind it as a runtime file, "from" that runtime, called @p name.
 *  @param file  of the rows, for its facts' source */
void fr_apart_runtime_put(const struct fr_apart *apart, int s, const char *name,
                          const char *file, struct fr_json_writer *w);

/** Values of the machine of scope @p s into the document of its cluster: no fact of its software. */
fr_status fr_apart_cluster_set(const struct fr_apart *apart, int s,
                               struct fr_json_document *document, struct fr_error *err);

void fr_apart_print(const struct fr_apart *apart, struct fr_text *text);
/** As an array of objects. */
void fr_apart_json(struct fr_json_writer *w, const struct fr_apart *apart);

#endif
