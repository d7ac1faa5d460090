/** @file
 *  Everything a prediction needs, checked: cluster, runtime, workload and plan, from files or presets,
 *  with the changes of --set applied before they are read. */
#ifndef FR_MODELS_JOB_JOB_H
#define FR_MODELS_JOB_JOB_H

#include "models/job/cluster.h"
#include "models/plan/plan.h"
#include "models/workload/workload.h"

/** Which of a job's documents. */
enum { FR_JOB_CLUSTER, FR_JOB_MODEL, FR_JOB_PLAN, FR_JOB_DOCUMENTS };

struct fr_runtime;
struct fr_usual;

struct fr_job {
    struct fr_cluster cluster;
    struct fr_workload workload;
    struct fr_plan plan;
    char cluster_from[256], model_from[256]; /**< as the user named them */
    struct fr_plan_lists lists;
    struct fr_json_document *documents[FR_JOB_DOCUMENTS];
    /** Sets for models/job/assume.h; bit i of a set of keys stands for row i of models/plan/key.h. */
    uint64_t open;    /**< keys that it may take: nobody stated them */
    uint64_t assumed; /**< keys that it took in plan */
    int of_model[FR_CLUSTER_FACTS],
        n_of_model;             /**< facts of the model that were taken, of runtime->fact */
    struct fr_runtime *runtime; /**< owned; NULL: nothing is assumed */
    struct fr_usual *usual;     /**< [n_usual] facts of the plan, or NULL; owned */
    int n_usual;
    int64_t *lighter;    /**< lists of stage_layers that plans may point to, or NULL; owned */
    bool palm_flop;      /**< utilisation counts scores whole (models/workload/flop.h) */
    char *const *varied; /**< n_varied "KEY=VALUE" of a search that tell this job from others */
    int n_varied;
};

/** Samples of one iteration: the plan's, else the model's. */
static inline int64_t fr_job_batch(const struct fr_job *job, const struct fr_plan *plan) {
    return plan->global_batch ? plan->global_batch : job->workload.global_batch;
}

/** Samples of a micro-batch of a model of layers: all of a rank's, unless the plan says otherwise. */
static inline int64_t fr_job_micro_batch(const struct fr_job *job, const struct fr_plan *plan) {
    return plan->micro_batch ? plan->micro_batch : fr_job_batch(job, plan) / plan->dp;
}

/** Samples of a micro-batch in a pipeline: one, unless the plan says otherwise; of layers without
 *  pipeline all of a rank's. */
static inline int64_t fr_job_pipeline_micro_batch(const struct fr_job *job,
                                                  const struct fr_plan *plan) {
    bool layers = job->workload.n_layers > 0 && plan->pp == 1;
    return layers ? fr_job_micro_batch(job, plan) : fr_plan_micro_batch(plan);
}
/** Is the plan priced as a pipeline?  Layers on one stage are not, unless gradients overlap. */
static inline bool fr_job_is_pipeline(const struct fr_job *job, const struct fr_plan *plan) {
    return job->workload.n_layers == 0 || plan->pp > 1 ||
           (plan->overlap && fr_plan_reduces(plan));
}

/** Fill in what @p plan leaves open.  The micro-batch of a transformer is the model's customary one.  For method
 *  subgraph it is all samples of a replica where there is one stage, and a sample a rank where there are more.  Else
 *  it is one sample.  One stage has nothing to schedule or to interleave: such a schedule is 1F1B, of one chunk. */
void fr_job_fill(const struct fr_job *job, struct fr_plan *plan);

/** @p plan as it is written down: with the values of what it leaves to the model or to another key. */
struct fr_plan fr_job_stated(const struct fr_job *job, const struct fr_plan *plan);

/** Names of the files to load.  NULL names: no model (a cluster alone), the default plan. */
struct fr_job_names {
    const char *cluster, *model, *plan;
    const char *runtime; /**< NULL: the newest that suits cluster and model */
    const struct fr_runtime
        *made; /**< a runtime that no file states, before `runtime`; it outlives the job */
    const char *const *sets; /**< "KEY=VALUE", n_sets of them */
    int n_sets;
    bool palm_flop; /**< utilisation counts scores whole */
    double pue;     /**< of the building, in place of the cluster's; 0: the cluster's own */
};

/** Load and check.  Free with fr_job_free, also on error.
 *  KEY is a dotted path: "plan.ghost", "model.layers", "cluster.device.launch"; a bare KEY is
 *  one of the plan.  "model.iterations=FILE" takes the table from a JSON file.  "runtime=NAME" names the runtime, and
 *  "runtime.KEY=VALUE" puts a fact before its own (models/job/runtime.h); "runtime.date=DATE" alone names the newest
 *  release of that date (models/job/release.h).
 *  @return FR_OK; FR_ERR_INPUT with file and place; FR_ERR_USAGE for a KEY that leads nowhere. */
fr_status fr_job_load(const struct fr_job_names *names, struct fr_job *job,
                      struct fr_error *err);
void fr_job_free(struct fr_job *job);

/** Complete the model and the plan of @p job, which were read from its documents: the one way, whatever the verb
 *  (models/job/assume.h).  @return FR_OK or FR_ERR_NOMEM. */
fr_status fr_job_finish(struct fr_job *job, struct fr_error *err);

/** Read the newest runtime of @p until (release.h; NULL: of any date) that suits @p job, whose cluster and model are
 *  read, unless it has one already.
 *  @return FR_OK or FR_ERR_NOMEM. */
fr_status fr_job_runtime(struct fr_job *job, const char *until, struct fr_error *err);

/** The plan's document, likewise. */
const struct fr_json_document *fr_job_plan(const struct fr_job *job);

/** The model's document, with the changes of --set; NULL without a model. */
const struct fr_json_document *fr_job_model(const struct fr_job *job);

/** Did the plan file or --set say @p key? */
bool fr_job_plan_says(const struct fr_job *job, const char *key);
/** Does the model's document say @p key ("model." before it or not)? */
bool fr_job_model_says(const struct fr_job *job, const char *key);

#endif
