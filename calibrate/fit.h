/** @file
 *  From samples to a cluster file, with the error of every fit.
 *
 *  Medians of repeated measurements are fitted, in relative error, because a model is used over
 *  six decades of message size and an absolute fit sees only the largest.  Every operation is
 *  fitted in two forms, both of models/form/:
 *      log       t = c1 log2 p + c2 m + c3        one line for all p and m (the papers' form)
 *      segments  t = latency + per_byte m         per level, p and range of m
 *  and the one that predicts left-out points better is written, unless the user chose.
 *
 *  Symbols:  p  ranks [1]   m  message as nccl-tests counts it ("total") [B]   t  median [s]
 */
#ifndef FR_CALIBRATE_FIT_H
#define FR_CALIBRATE_FIT_H

#include "calibrate/samples.h"
#include "models/comm.h"

typedef enum { FR_FIT_BEST, FR_FIT_LOG, FR_FIT_SEGMENTS } fr_fit_form;
/** Spellings for --form in that order ("best", "log", "segments"), then NULL. */
extern const char *const fr_fit_form_names[];

struct fr_fit_options {
    fr_fit_form form;
    const char *name; /**< of the cluster; NULL: the host's */
    double busy_W;    /**< per rank; negative: not stated */
    double idle_W;    /**< the same */
};

/** How far a fit is from what it was fitted to. */
struct fr_fit_quality {
    int n;              /**< points */
    double median, p90; /**< of |fit / t - 1| */
    double rmse_log2;   /**< root mean square of log2 fit - log2 t; seed 000 states this */
};

/** Samples of one operation at one level, p and m. */
struct fr_fit_point {
    fr_op op;
    int level;
    int64_t n_ranks;
    double size_B, time_s; /**< time_s: the median */
    double uncertainty;    /**< half width of its 95 % interval, relative; 1e9 when unknown */
    int n, n_slow;         /**< samples, and those beyond fr_sorted_slow_limit */
};

struct fr_fit_log {
    bool present;
    double c1_s, c2_s_per_B, c3_s; /**< >= 0 */
    struct fr_fit_quality quality;
};

/** Points of one op, level and p, by ascending size, and what was fitted to them. */
struct fr_fit_curve {
    const struct fr_fit_point *points;
    int n_points;
    struct fr_segment_fit fit;
    struct fr_fit_quality segments, log, log_ordinary; /**< of each form, on these points */
};

struct fr_fit_op {
    const struct fr_fit_point *points; /**< by level, p, size */
    int n_points;                      /**< 0: not measured */
    struct fr_fit_curve *curves;
    int n_curves;
    struct fr_fit_log log;          /**< least squares of relative errors */
    struct fr_fit_log log_ordinary; /**< least squares of absolute errors, as usually done */
    struct fr_fit_quality segments;
    double left_out_log,
        left_out_segments; /**< median |error| of left-out sizes; <0: unknown */
    bool use_log;
};

/** Medians over a full grid of shapes. */
struct fr_fit_gemm {
    int n_m, n_n, n_k; /**< 0: not measured */
    int64_t *m, *n, *k;
    double *time_s;                /**< [(i_m * n_n + i_n) * n_k + i_k] */
    int n_dropped;                 /**< measured shapes that no full grid could take in */
    struct fr_fit_quality quality; /**< interpolation of each point from its neighbours */
};

struct fr_fit_result {
    struct fr_provenance provenance;
    char name[64];
    struct fr_fit_point *points; /**< all, by op, level, p, size */
    int n_points;
    struct fr_fit_op ops[FR_OP_COUNT];
    struct fr_fit_gemm gemm[FR_DTYPE_COUNT];
    double memory_B;            /**< per rank */
    double memory_rate_B_per_s; /**< of a rank while all stream */
    double launch_s;
    struct fr_levels levels;
    int level_index[FR_SAMPLE_LEVELS]; /**< sample level -> levels.level, or -1 */
    double busy_W, idle_W;
    bool power_given;
};

/** @return FR_OK; FR_ERR_INPUT when there is nothing to describe the device or a level with (no
 *          gemm, memory or message samples); FR_ERR_NOMEM.  Free @p result with fr_fit_free,
 *          also on error. */
fr_status fr_fit(const struct fr_samples *samples, const struct fr_fit_options *options,
                 struct fr_fit_result *result, struct fr_error *err);
void fr_fit_free(struct fr_fit_result *result);

/** Append the cluster file.  Check text->failed at the end. */
void fr_fit_write_cluster(const struct fr_fit_result *result, struct fr_text *text);

/** Append a table for a person: how well each form fits each operation and p. */
void fr_fit_print(const struct fr_fit_result *result, struct fr_text *text);

#endif
