/** @file
 *  Does a plan fit into its device, how surely, and what will the device show?
 *
 *  The peak of tensors is what a framework's allocator counts as allocated.  It reserves more of the device, and the
 *  device shows that and what the allocator does not know of (models/device/shown.h).  No number of these is certain,
 *  so a plan fits with a probability:
 *
 *      reserved = a T + s            shown = reserved + C          needed = r T + C
 *      C = context + first + each g + all_to_all (min(p, 8) - 1) / 7        one rank: context alone
 *      z = (M - r T - C) / sqrt((r T)^2 (s_T^2 + s_r^2) + s_C^2)           P(fits) = Phi(z)
 *
 *  T peak of tensors; s what a step allocates anew (models/device/framework.h), no more than is left; M the device's
 *  memory [B].  a, r what an allocator reserves at ease and at least, over T; g axes of the plan that have several
 *  ranks; p ranks of the largest all-to-all.  s_T is FR_MEMORY_SPREAD for transformers, whose peaks were measured,
 *  else 0; s_r, s_C are standard deviations that the runtime states.  Larger z is better.  A device without stated
 *  facts shows its tensors alone: r = a = 1, C = 0.  A stated memory_margin is the allocator: it is part of T
 *  (`fragmentation`), and r = a = 1.  z orders plans as P does, and comparing it takes no error function. */
#ifndef FR_MODELS_OUTCOME_FITS_FITS_H
#define FR_MODELS_OUTCOME_FITS_FITS_H

#include "models/job/job.h"
#include "models/outcome/outcome.h"

/** z below which a plan is refused: P(fits) under 5 %. */
#define FR_FITS_REFUSED (-1.6448536269514722)
/** P(fits) that a search asks for where nobody says another, and its z. */
#define FR_FITS_USUAL 0.95
#define FR_FITS_SURE 1.6448536269514722

/** Phi(@p spare); NaN of NaN. */
double fr_fits_probability(double spare);
/** Its inverse: infinite at 0 and 1. */
double fr_fits_spare(double probability);

enum { FR_FITS_PERCENT = 24 };
/** "98.2 %", "over 99.9 %", "under 0.1 %".  @return @p text */
const char *fr_fits_percent(double probability, char text[FR_FITS_PERCENT]);

/** Set out->memory_spare from its peak (NaN where the device states no memory), and the reason where it is refused:
 *  under 5 %, or more than the host's memory. */
void fr_fits_add(const struct fr_job *job, struct fr_outcome *out);

/** Memory that devices show for a plan, each value with the ends of its 90 % interval [B]. */
struct fr_fits {
    double memory_B; /**< the device's; NaN: not stated */
    double reserved_B, reserved_low_B, reserved_high_B;
    double shown_B, shown_low_B, shown_high_B;
    double needed_B, needed_low_B, needed_high_B;
    double probability; /**< NaN: the device states no memory */
};

enum { FR_FITS_LINE = 160 };
/** One line of text, "fits with 98.2 %: 71.2 of 79.6 GB, 66.1 to 76.3": the memory needed, and its 90 % interval
 *  where that is wider than the rounding.  It is "needs 71.2 GB, 66.1 to 76.3" where the device states no memory.
 *  @return @p line */
const char *fr_fits_line(const struct fr_fits *fits, char line[FR_FITS_LINE]);

/** @return NaN where the memory of @p out is not priced */
struct fr_fits fr_fits_of(const struct fr_job *job, const struct fr_outcome *out);

#endif
