/** @file
 *  A job of the library: what was asked to be loaded, kept so that it can be loaded anew with one
 *  change more, and what it was read as. */
#ifndef FR_LIBRARY_JOB_H
#define FR_LIBRARY_JOB_H

#include "library/call.h"
#include "models/job/job.h"

struct forerun_job {
    char *cluster, *model, *plan; /**< names or texts; model, plan: or NULL */
    char **sets;                  /**< [n_sets] */
    int n_sets;
    struct fr_job job;
};

/** The names that @p job was loaded from; borrows. */
struct fr_job_names fr_library_names(const forerun_job *job);

/** A copy for one question, which may choose grids of layers or shrink levels in it; it borrows all
 *  but these.  Free with fr_library_forget. */
struct fr_job fr_library_copy(const forerun_job *job);
void fr_library_forget(struct fr_job *copy);

/** Refuse a question without a job, or about a model where none was loaded. */
fr_status fr_library_needs_model(const forerun_job *job, struct fr_error *err);

#endif
