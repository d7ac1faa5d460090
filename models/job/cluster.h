/** @file
 *  A checked cluster file: levels, device, and what collectives cost. */
#ifndef FR_MODELS_JOB_CLUSTER_H
#define FR_MODELS_JOB_CLUSTER_H

#include "models/device/device.h"
#include "models/device/tuning.h"
#include "models/job/calibration.h"
#include "models/job/drift.h"
#include "models/job/uncertainty.h"
#include "models/network/comm.h"

enum { FR_CLUSTER_FACTS = 96 };

struct fr_cluster {
    char name[64];
    char source[2048];
    double
        pue; /**< of the building: all it draws over what its machines draw; 1: not counted */
    struct fr_levels levels;
    struct fr_device device;
    struct fr_price price[FR_OP_COUNT];
    struct fr_uncertainty uncertainty; /**< of values that were not tuned */
    struct fr_tuning tuning;
    struct fr_calibration calibration;
    struct fr_drift drift; /**< of its runtime from a release that is known */
    char runtime[64];      /**< whose facts its devices have; "": of none */
    char runtime_date[16]; /**< of that; "" where it states none */
    char software[256];    /**< "host_launch, fixed": what its own file states of software */
    char costs
        [64]; /**< whose facts of devices they are, where that runtime knows nothing of them; else "" */
    double of_runtime
        [FR_CLUSTER_FACTS]; /**< what that runtime gave of each fact of devices (fact.h);
                                            0: nothing; NaN: the file states it itself */
};

/** Source of the interval of a prediction on a cluster; the first where there are several. */
typedef enum {
    FR_INTERVAL_TUNING,
    FR_INTERVAL_CALIBRATION,
    FR_INTERVAL_UNCERTAINTY,
    FR_INTERVAL_PRIORS
} fr_interval_source;

fr_interval_source fr_cluster_interval_source(const struct fr_cluster *cluster);

/** Work that lay outside the calibration: bit op for a collective, this bit for matrix products. */
#define FR_EXTRAPOLATED_GEMM ((uint32_t)1 << FR_OP_COUNT)

/** Time of @p op on @p group [s], its bit set in @p extrapolated where it was not measured. */
static inline double fr_cluster_comm_s(const struct fr_cluster *cluster, fr_op op,
                                       const struct fr_group *group, double size_B,
                                       uint32_t *extrapolated) {
    bool outside = false;
    double time_s = fr_comm_time_s(&cluster->price[op], group, size_B, &outside);
    if (outside) *extrapolated |= (uint32_t)1 << op;
    return time_s;
}

/** Time to move @p moved_B beside the matrix products, @p working_set_B being in use in turn [s]:
 *  none where the rate of the products is that of a whole training step
 *  (fr_gemm_form.whole_step). */
static inline double fr_cluster_traffic_s(const struct fr_cluster *cluster, fr_dtype dtype,
                                          fr_traffic kind, double moved_B,
                                          double working_set_B) {
    const struct fr_device *device = &cluster->device;
    return device->gemm[dtype].form->whole_step
               ? 0
               : fr_device_traffic_s(device, kind, moved_B, working_set_B);
}

/** Time of what layers do besides matrix products [s], as fr_cluster_traffic_s.  Norms of software that casts their
 *  values move `framework.norm_traffic` times as much. */
static inline double fr_cluster_elementwise_s(const struct fr_cluster *cluster, fr_dtype dtype,
                                              struct fr_elementwise work) {
    double times = cluster->device.framework.norm_traffic;
    if (times > 0) {
        work.all_B += (times - 1) * work.norm_B;
        work.norm_B *= times;
    }
    work.all_B += cluster->device.framework.unfused * work.apart_B;
    if (cluster->device.working_sets.n == 0) /* all kinds alike */
        return fr_cluster_traffic_s(cluster, dtype, FR_TRAFFIC_STREAM, work.all_B, 0);
    double set_B = work.working_set_B, rest_B = work.all_B - work.norm_B - work.softmax_B;
    double time_s = fr_cluster_traffic_s(cluster, dtype, FR_TRAFFIC_ELEMENTWISE, rest_B, set_B);
    if (work.norm_B > 0)
        time_s += fr_cluster_traffic_s(cluster, dtype, FR_TRAFFIC_NORM, work.norm_B, set_B);
    if (work.softmax_B > 0)
        time_s +=
            fr_cluster_traffic_s(cluster, dtype, FR_TRAFFIC_SOFTMAX, work.softmax_B, set_B);
    return time_s;
}

/** Read the document of a cluster file, without what a runtime knows of its devices (models/job/runtime.h): a job's own
 *  equips it.  Free with fr_cluster_free, also on error. */
fr_status fr_cluster_read_bare(const struct fr_json_document *document,
                               struct fr_cluster *cluster, struct fr_error *err);
/** The same with what the newest runtime knows that suits its devices, of which @p cluster keeps nothing but the values. */
fr_status fr_cluster_read(const struct fr_json_document *document, struct fr_cluster *cluster,
                          struct fr_error *err);
/** The same with what runtime @p software knows (NULL: the newest). */
fr_status fr_cluster_read_of(const struct fr_json_document *document, const char *software,
                             struct fr_cluster *cluster, struct fr_error *err);
void fr_cluster_free(struct fr_cluster *cluster);

/** fr_json_set on the document of a cluster file.  The first time it changes a number of a level,
 *  that level's "measured" takes the number that the file's fitted forms were measured over, so
 *  that they scale with the change (models/network/comm.h). */
fr_status fr_cluster_set(struct fr_json_document *document, const char *path, const char *text,
                         const char *origin, struct fr_error *err);

#endif
