/** @file
 *  What a system takes from ranks that wait for each other.
 *
 *  A rank is interrupted (daemons, other guests of the host, other users' processes) once in every_s
 *  of its own work, for length_s each time; interruptions are independent.  In a chunk of t between
 *  two meetings it is interrupted N times, N ~ Poisson(t / every_s), and of p ranks that then meet
 *  the chunk lasts as long as that of the most often interrupted:
 *
 *      t + length E[max_p N],      E[max_p N] = sum over k >= 0 of 1 - F(k)^p
 *
 *  with F the distribution of N: p t / every where interruptions are rare, since then everyone has
 *  everyone's, and t / every where chunks are long, since then all have their own at the same time.
 *  Petrini, Kerbyson, Pakin, SC 2003, for the effect; Poisson arrivals of one length are our
 *  assumption. */
#ifndef FR_MODELS_DEVICE_INTERRUPTIONS_H
#define FR_MODELS_DEVICE_INTERRUPTIONS_H

#include <stdint.h>

#include "base/json.h"

struct fr_interruptions {
    double every_s; /**< of a rank's own work; 0: there are none */
    double length_s;
};

/** E[max] of @p ranks independent Poisson numbers of mean @p mean. */
double fr_poisson_max(double mean, double ranks);

/** Share by which chunks of @p chunk_s are lengthened on @p ranks that meet after each. */
double fr_interruptions_share(const struct fr_interruptions *i, double ranks, double chunk_s);

/** Read the object "interruptions" of a device. */
fr_status fr_interruptions_read(const struct fr_json *object, struct fr_interruptions *i,
                                struct fr_error *err);

#endif
