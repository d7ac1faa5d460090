/** @file
 *  Separate values of devices and of their software, from rows of several releases or several machines.
 *
 *  All rows of a machine share the values of its device (efficiency at 16 bits, memory, links), whatever it runs.
 *  All rows of a runtime on one generation of devices share the values that a runtime states, on any machine
 *  (models/job/fact_list.h: attention, the host's times, fp8 and fp4).  Values that a cluster's file states itself
 *  count as the device's.  All are fitted together, with x the logarithm of a value over that of the machine's
 *  cluster,
 *
 *      sum_i w_i rho(e_i / 0.05)  +  sum (x / sigma)^2                   as in trust/tune.h
 *
 *  over those x that move the prediction of enough rows; sigma is the table's.  The question is whether a value lies
 *  where the device's file states it.  The covariance at the end is (J' W J + S^-2)^-1: a value's uncertainty given
 *  all others, with independent errors of 0.05 a row (kinds share no error here; fr_tune gives a cluster's
 *  uncertainties). */
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

/** Did the rows remove half of the prior's variance?  Values for which they did not are written to no file. */
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
