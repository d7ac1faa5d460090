/** @file
 *  A model on the cluster of Song et al. 2023, Optimus-CC, with its compression in steps. */
#ifndef FR_STUDIES_OPTIMUS_SETTING_H
#define FR_STUDIES_OPTIMUS_SETTING_H

#include "sim/run.h"

/** Compressed backpropagation, the fused embedding, selective stages; each with those before. */
enum fr_optimus_step { FR_OPTIMUS_BASELINE, FR_OPTIMUS_CB, FR_OPTIMUS_FE, FR_OPTIMUS_SC };

struct fr_optimus {
    struct fr_job job;
    double preset_flop_per_s, preset_B_per_s; /* what the preset takes from here */
};

/** The data sheet's TF32 rate, and an HDR adapter's 200 Gb/s. */
extern const double fr_optimus_peak_flop_per_s, fr_optimus_adapter_B_per_s;

/** @p model on a100-hdr, tp 8, pp 4, dp 4.  The caller frees s->job, also on error. */
fr_status fr_optimus_load(const char *model, struct fr_optimus *s, struct fr_error *err);
/** Products and the adapter at these shares of their nominal rates. */
void fr_optimus_apply(struct fr_optimus *s, double efficiency, double adapter);

struct fr_plan fr_optimus_plan(const struct fr_optimus *s, enum fr_optimus_step step,
                               int64_t compressed_stages);
/** The outcome; and, where asked, the stage whose gradients end last. */
struct fr_outcome fr_optimus_outcome(const struct fr_optimus *s, enum fr_optimus_step step,
                                     int64_t compressed_stages, int *last);
double fr_optimus_time_s(const struct fr_optimus *s, enum fr_optimus_step step,
                         int64_t compressed_stages);

#endif
