/** @file
 *  --emit: plans as scripts that start them. */
#ifndef FR_APP_EMIT_H
#define FR_APP_EMIT_H

#include "answer/emit.h"
#include "app/verb.h"

#define FR_OPTION_EMIT                                                                         \
    {                                                                                          \
        "emit", "FRAMEWORK",                                                                   \
            "print what starts the plan: megatron, megatron-bridge, torchtitan, deepspeed, "   \
            "nanotron, maxtext, primus, sbatch, or one of them in a job script: "              \
            "sbatch,megatron",                                                                 \
            0                                                                                  \
    }

/** The request of --emit: a framework, a job script, or both. */
struct fr_app_emit {
    const struct fr_emitter *to; /**< NULL: none */
    bool slurm;
    bool able; /**< the plans are the best of those that the framework can run */
};

/** Is anything asked for? */
static inline bool fr_app_emits(const struct fr_app_emit *emit) {
    return emit->to || emit->slurm;
}

/** Read --emit.  @return FR_OK, also without it; FR_ERR_USAGE. */
fr_status fr_app_emit_read(const struct fr_args *args, struct fr_app_emit *emit,
                           struct fr_error *err);

/** Append the scripts of @p n plans, one in a file of its own or a case each; or their JSON.
 *  @param job  of plans that name none
 *  @return FR_OK; FR_ERR_USAGE for several plans in one job script; FR_ERR_INPUT. */
fr_status fr_app_emit(const struct fr_app_emit *emit, const struct fr_job *job,
                      const struct fr_outcome *const *plans, size_t n, bool json,
                      struct fr_text *text, struct fr_error *err);

#endif
