/** @file
 *  The numbers of a cluster file that measured training runs can tune.
 *
 *  Each has a place in the cluster, a group (what the number is a property of), the width of its
 *  prior, and how many runs must feel it before a fit may move it.  The priors are log-normal,
 *  centred on the cluster file's value: data sheets are good to some 20 % on what a processor and
 *  its memory reach, to a factor on what a network and its software take.
 *
 *  To add one: a row in trust/coefficient.c.
 */
#ifndef FR_TRUST_COEFFICIENT_H
#define FR_TRUST_COEFFICIENT_H

#include "models/job/cluster.h"

typedef enum { FR_GROUP_DEVICE, FR_GROUP_HOST, FR_GROUP_NETWORK, FR_GROUP_COUNT } fr_tune_group;
extern const char *const fr_tune_group_names[];

enum { FR_COEFFICIENT_MAX = FR_TUNING_MAX };

/** What a prediction's uncertainty is made of: coefficients, then an operation each, then products beyond
 *  the largest measured, then the model error of models and plans that were seen. */
enum {
    FR_KNOWN_BEYOND = FR_COEFFICIENT_MAX + FR_OP_COUNT,
    FR_KNOWN_SEEN,
    FR_KNOWN_MAX = FR_KNOWN_SEEN + FR_TUNING_SEEN_MAX
};

/** Is entry @p index of what is known what a cluster file states of its measured collectives or products? */
static inline bool fr_known_is_measured(int index) {
    return index >= FR_COEFFICIENT_MAX && index < FR_KNOWN_SEEN;
}

struct fr_coefficient {
    const char *name; /**< for people and --hold */
    fr_value place;   /**< in the cluster file */
    fr_tune_group group;
    fr_quantity quantity;
    bool plain;         /**< a bare number, not a quantity */
    double sigma;       /**< of the prior, in logarithms */
    int rows_needed;    /**< that must feel it */
    double least, most; /**< what it cannot leave; 0: no such bound */
    /** Where it lies, or NULL when this cluster has no such number. */
    double *(*at)(struct fr_cluster *cluster, fr_dtype dtype);
};

/** Where the cluster says coefficient @p index: NULL where it has no such number, or one at its
 *  least, which is as good as none. */
double *fr_coefficient_at(int index, struct fr_cluster *cluster, fr_dtype dtype);

/** Rows in order of reports, then one without name. */
extern const struct fr_coefficient fr_coefficients[];
int fr_coefficient_count(void);
/** Index of the row called @p name, or -1. */
int fr_coefficient_find(const char *name);

/** Which effect its width is a part of (trust/numbers/effects.h): FR_EFFECT_DEVICE or FR_EFFECT_NETWORK. */
int fr_coefficient_effect(int index);

/** Width of coefficient @p index before any run is seen, in logarithms: as the file states it, else its prior's. */
double fr_coefficient_width(int index, const struct fr_cluster *cluster, fr_dtype dtype);

/** What the file states of several values together, as sums of the logarithms of coefficients @p index[n] that have a
 *  standard deviation of 1.
 *  @param[out] told  [FR_CORRELATED_MAX][n]  @return how many there are */
int fr_coefficients_stated(const struct fr_cluster *cluster, fr_dtype dtype, const int *index,
                           int n, double *stated);

#endif
