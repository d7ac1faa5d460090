/** @file
 *  How far is a question from the runs that a preset was compared with, and how wide is its interval then?
 *
 *  A sighting is what one source ran on one device with one runtime, kind of model and precision.  It says how many plans
 *  of models there are, how far they were off, and which sequences and numbers of ranks they had.  A question about a
 *  preset has a distance from each sighting,
 *
 *      d^2 = sum over what differs of sd^2          sequence and ranks: for each doubling beyond the sighting's range
 *
 *  The nearest sightings say how wide the interval is.  Let h be half the width that coefficients and effects alone give
 *  (trust/tune.h).  Let a be the mean of |ln(measured / predicted)| / h over the n plans of the nearest sightings; of a
 *  normal distribution it is half / (2.06 h).  Then
 *
 *      half^2 = h^2 ((n0 near + n 2.06 a) / (n0 + n))^2 + 1.645^2 d^2
 *
 *  So many runs narrow it to their own error, and a question unlike any of them is wide.  n0, near and the sd give
 *  intervals of sources left out the best score.  `ninja widths` runs forerun reproduce distance and writes
 *  trust/distance_rows.h anew. */
#ifndef FR_TRUST_DISTANCE_H
#define FR_TRUST_DISTANCE_H

#include "trust/runs/runs.h"

/** Parts that may differ. */
enum {
    FR_DISTANCE_GENERATION, /**< of devices */
    FR_DISTANCE_DEVICE,
    FR_DISTANCE_FRAMEWORK,
    FR_DISTANCE_RELEASE,
    FR_DISTANCE_KIND, /**< of model */
    FR_DISTANCE_DTYPE,
    FR_DISTANCE_SEQUENCE,
    FR_DISTANCE_RANKS,
    FR_DISTANCE_COUNT
};

/** Runs of one source, or a question: then all ranges are of one value. */
struct fr_sighting {
    const char *source, *generation, *device, *runtime, *kind, *dtype;
    double sequence_low, sequence_high, ranks_low, ranks_high;
    double plans; /**< of models */
    double
        off; /**< mean of |ln(measured / predicted)| of them, over half their width without runs */
};

/** The statement of a sighting about a question. */
struct fr_distance {
    double times[FR_DISTANCE_COUNT]; /**< how often each sd^2 counts */
    double plans, off;
};

struct fr_distance_sizes {
    double plans;                 /**< n0: how many plans the width without runs counts as */
    double near;                  /**< factor of that width */
    double sd[FR_DISTANCE_COUNT]; /**< of a logarithm of time */
};

extern const struct fr_sighting fr_sightings[];
extern const int fr_sighting_count;
extern const struct fr_distance_sizes fr_distance_usual;

/** @p run on @p cluster as a question; borrows names of both. */
struct fr_sighting fr_sighting_of(const struct fr_cluster *cluster, const struct fr_run *run);

/** Are they of one device, runtime, kind and precision? */
bool fr_sighting_like(const struct fr_sighting *a, const struct fr_sighting *b);

struct fr_distance fr_distance_of(const struct fr_sighting *seen,
                                  const struct fr_sighting *question);

/** Half a 90 % interval, in logarithms, from @p half without runs.
 *  @param from     [n]; none with plans: @p half
 *  @param nearest  the first of the nearest; may be NULL */
double fr_distance_half(const struct fr_distance_sizes *sizes, const struct fr_distance *from,
                        int n, double half, int *nearest);

/** Standard deviation of a logarithm of time that is added where nobody states the recipe of a mixture: graphs, exchanges
 *  beside products, dispatch, what is made again.  Recipes differ by model, which no release says.  A calibration on 113
 *  mixtures of Megatron-Bridge from the mesh alone (studies/paper/mixtures.study).  Their best score is at 0.1 where the
 *  release is named (0.07 to 0.1 with one model left out, when 0.08 was best of all), and at 0.15 where it is not (0.11 to 0.17). */
double fr_distance_recipe(fr_recipe_source recipe);

/** The same of @p run on @p cluster, by the sightings that are known.
 *  @param differ  bit k: FR_DISTANCE_... k differs from the nearest; may be NULL */
double fr_distance_known(const struct fr_cluster *cluster, const struct fr_run *run,
                         double half, unsigned *differ);

#endif
