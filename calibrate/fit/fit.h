/** @file
 *  From samples to a cluster file, with the error of every fit.
 *
 *  Medians of repeated measurements are fitted in relative error, robustly.  Every operation is
 *  fitted in all forms of models/network/form/ (calibrate/fit/fitter/):
 *      log         t = c1 log2 p + c2 m + c3        one line for all p and m (the papers' form)
 *      segments    t = latency + per_byte m         per level, p and range of m
 *      algorithm   alpha and beta of the algorithm of the table that comes nearest
 *      similarity  the measured table, carried to other p (models/network/similarity.h)
 *  Each is then fitted without every second size, and without the largest rank count, and the
 *  similarity table is written unless another form predicts what was held out clearly better, or
 *  the user chose.  Samples of
 *  different series (calibrate/samples/series.h) are never pooled.
 *
 *  Symbols:  p  ranks [1]   m  message as nccl-tests counts it ("total") [B]   t  median [s]
 */
#ifndef FR_CALIBRATE_FIT_FIT_H
#define FR_CALIBRATE_FIT_FIT_H

#include "calibrate/fit/products.h"
#include "calibrate/fit/speed.h"
#include "calibrate/samples/samples.h"
#include "models/network/comm.h"

/** Candidates in the order of calibrate/fit/fitter_list.h after FR_FIT_BEST. */
typedef enum {
    FR_FIT_BEST,
    FR_FIT_LOG,
    FR_FIT_SEGMENTS,
    FR_FIT_ALGORITHM,
    FR_FIT_SIMILARITY,
    FR_FIT_FORMS
} fr_fit_form;
/** Spellings for --form in that order ("best", "log", ...), then NULL. */
extern const char *const fr_fit_form_names[];

/** The name of a cluster that nobody has named. */
#define FR_FIT_UNNAMED "unnamed"

struct fr_fit_options {
    fr_fit_form form;
    const char *name; /**< of the cluster; NULL: its scheduler's for it, else FR_FIT_UNNAMED */
    const char *series; /**< only series whose name has this in it; NULL: all */
    const struct fr_json_document
        *base;     /**< a cluster file for what was not measured, or NULL */
    double busy_W; /**< per rank; negative: not stated */
    double idle_W; /**< the same */
};

/** How far a fit is from what it was fitted to. */
struct fr_fit_quality {
    int n;              /**< points */
    double median, p90; /**< of |fit / t - 1| */
    double rmse_log2;   /**< root mean square of log2 fit - log2 t (Seal et al. 2025) */
};

/** Samples of one operation at one level, p and m. */
struct fr_fit_point {
    fr_op op;
    int level;
    int64_t n_ranks;
    int64_t n_nodes; /**< 0: not stated */
    double size_B;
    double median_s;    /**< of all samples */
    double time_s;      /**< of those not disturbed: what is fitted */
    double uncertainty; /**< half width of the median's 95 % interval, relative, of order
                           statistics or over launches, the wider; 1e9 when unknown */
    int n, n_slow;      /**< samples, and those beyond fr_sorted_slow_limit */
    int n_launches;
    char choice[28]; /**< of its library, "ring simple"; "": not known */
};

struct fr_fit_log {
    bool present;
    double c1_s, c2_s_per_B, c3_s; /**< >= 0 */
    struct fr_fit_quality quality;
};

/** Points of one op, level, p and nodes, by ascending size. */
struct fr_fit_curve {
    const struct fr_fit_point *points;
    int n_points;
    struct fr_fit_quality quality[FR_FIT_FORMS]; /**< of each form, on these points */
    struct fr_fit_quality log_ordinary;
};

/** One form, fitted; [FR_FIT_BEST] is not used. */
struct fr_fit_candidate {
    struct fr_price price;            /**< form NULL: too few points for it; levels 0 and 1 */
    struct fr_fit_quality quality;    /**< on what it was fitted to */
    struct fr_fit_quality held_sizes; /**< every second size, fitted without; n 0: not tried */
    double *held_s; /**< [n_points] of the op: each inner size as predicted without it; NaN: the
                       ends of a curve, which are never left out */
    struct fr_fit_quality held_ranks; /**< the largest p of each level, fitted without */
};

struct fr_fit_op {
    const struct fr_fit_point *points; /**< by level, p, nodes, size */
    int n_points;                      /**< 0: not measured */
    bool gpu;                          /**< of a GPU library, not MPI */
    char series[256];                  /**< "": our own harness */
    struct fr_fit_curve *curves;
    int n_curves;
    struct fr_fit_candidate candidate[FR_FIT_FORMS];
    struct fr_fit_log log_ordinary; /**< least squares of absolute errors, as usually done */
    fr_fit_form chosen;
};

/** Medians over a full grid of shapes. */
struct fr_fit_gemm {
    int n_m, n_n, n_k; /**< 0: not measured */
    int64_t *m, *n, *k;
    double *time_s; /**< [(i_m * n_n + i_n) * n_k + i_k] */
    int n_filled;   /**< of them: shapes that were not measured, from those around them */
    int n_dropped;  /**< measured shapes that no full grid could take in */
    struct fr_fit_quality quality; /**< interpolation of each point from its neighbours */
    /** Error of the largest sizes of each axis, left out and predicted from smaller ones by their
     *  work: spread of the logarithm for each doubling; 0: not known. */
    double beyond_octave;
};

/** A base's form of products, fitted to products of others, one by one (calibrate/fit/products.h). */
struct fr_fit_singles {
    int n;           /**< 0: there were none of the dtype */
    int beyond_peak; /**< left out, since they are faster than the data sheet's peak */
    int too_short;   /**< likewise, since their launch takes a tenth of their time or more */
    const char *names[FR_PRODUCT_VALUES];
    double value[FR_PRODUCT_VALUES], sigma[FR_PRODUCT_VALUES];
    double least[3], most[3]; /**< m, n, k: beyond it is extrapolated */
    /** Equal ones at once over that efficiency (models/device/gemm/tiled.c), deviation of the logarithm, products; n 0:
     *  not measured. */
    double grouped, grouped_spread;
    int n_grouped;
    /** Times with scales of blocks over those with one a tensor, the median over n_blocks shapes. */
    double blocks;
    int n_blocks;
    struct fr_fit_quality quality, held_out; /**< every second from the others */
};

/** Pairs or groups of accelerators that did the same at once, beside one alone. */
struct fr_fit_at_once {
    fr_op op; /**< FR_OP_SEND_RECV: pairs, whose layout is their direction */
    int level, layout;
    int64_t n, n_ranks;
    double size_B; /**< the largest that was measured both ways */
    double slower; /**< times as long as one alone */
};

/** Values of an accelerator, besides its products; 0: not measured. */
struct fr_fit_card {
    bool present;
    double memory_B, memory_rate_B_per_s, link_rate_B_per_s; /**< the link: of the slower way */
    double memory_spread; /**< of other passes' rates about it: deviation of the logarithm */
    double launch_s, graph_s;
    double interference; /**< share of a collective's time that a product beside it loses */
    struct fr_fit_at_once at_once[48];
    int n_at_once;
};

/** Fused attention of an accelerator, as shares of the base's peak of 16 bits; 0: not measured. */
struct fr_fit_attention {
    int n; /**< points */
    double flash, half_keys, backward, backward_keys, exponentials, flash_2, flash_2_backward;
    double flash_spread, backward_spread, flash_2_spread; /**< deviations of the logarithm */
};

/** Times per byte by working set (models/device/working_set.h), ascending. */
struct fr_fit_working_sets {
    int n; /**< 0: no memory was measured */
    double size_B[FR_WORKING_SETS_MAX];
    double s_per_B[FR_TRAFFIC_COUNT][FR_WORKING_SETS_MAX];
    bool selects; /**< select was measured; else nothing is said of it */
};

/** The verdict on a calibration, made from the result by calibrate/judge/check.h. */
struct fr_fit_verdict {
    const char *verdict; /**< "PASS", "WARN", "FAIL"; NULL: nobody judged */
    int n_reasons;
    char reason[16][400];
};

/** How power and time of work go with the clock; of a cluster file's device.clock. */
struct fr_fit_clock {
    bool known;
    double min_Hz, max_Hz, step_Hz, knee_Hz;
    double rise, static_share, fixed_share;
};

struct fr_fit_result {
    struct fr_fit_verdict judged;
    size_t
        beyond_links; /**< collectives left out before: faster than the base's links (links.h) */
    int n_missing;    /**< what calibration did not come to measure */
    char missing[6][96];
    struct fr_provenance provenance;
    char name[64];
    bool unnamed;                /**< nobody said how the cluster is called */
    struct fr_fit_point *points; /**< all, by op, level, p, size */
    int n_points;
    struct fr_fit_op ops[FR_OP_COUNT];
    struct fr_fit_gemm gemm[FR_DTYPE_COUNT];
    /** fp32 products: of operands from the largest set measured, of those weight gradients that add to what is
     *  there, and with A or B transposed. */
    struct fr_fit_gemm from_memory, adds, transposed[FR_TRANSPOSED_KINDS];
    struct fr_fit_singles singles[FR_DTYPE_COUNT]; /**< then there are no tables */
    struct fr_fit_card card; /**< then the device is the base's with these */
    struct fr_fit_attention attention;
    bool has_device;            /**< measured; else the base's, or none */
    double memory_B;            /**< per rank */
    double memory_rate_B_per_s; /**< of a rank while all stream, over the largest set */
    struct fr_fit_working_sets working_sets;
    double launch_s;
    struct fr_fit_speed speed; /**< and what interrupts: nothing, where ranks shared cores */
    struct fr_levels levels;
    int outermost; /**< level that stands for FR_SAMPLE_SYSTEM */
    const struct fr_json_document *base;
    double busy_W, idle_W, communicating_W; /**< per rank; communicating_W < 0: not known */
    double work_W[FR_POWER_STATES]; /**< the same by kind of work, as metered; NaN: not known */
    struct fr_fit_clock clock;
    int power_quality; /**< FR_QUALITY_* */
    char power_source[160];
};

/** A calibration that was cut short lacks some values.  They are left out (the device) or
 *  assumed (links), and named in result->missing.
 *  @return FR_OK; FR_ERR_INPUT when nothing can be fitted, or an operation comes in several series;
 *          FR_ERR_NOMEM.  Free @p result with fr_fit_free, also on error. */
fr_status fr_fit(const struct fr_samples *samples, const struct fr_fit_options *options,
                 struct fr_fit_result *result, struct fr_error *err);
void fr_fit_free(struct fr_fit_result *result);

/** Append the cluster file.  Check text->failed at the end. */
void fr_fit_write_cluster(const struct fr_fit_result *result, struct fr_text *text);

/** Median error of what was held out: the larger of products (the first dtype measured) and of the
 *  median operation's chosen form; NaN where nothing was. */
double fr_fit_held_out(const struct fr_fit_result *result);
/** Standard deviation of the logarithm of the machine's time for the same work: how its speed
 *  varied, and half of what interruptions took, which is assumed to be away or there twice next time. */
double fr_fit_variation(const struct fr_fit_result *result);

/** The price for the ranks and size of a point [s]. */
double fr_fit_price_s(const struct fr_price *price, const struct fr_fit_point *point);

/** Append a table for a person: how well each form fits each operation and p. */
void fr_fit_print(const struct fr_fit_result *result, struct fr_text *text);

/** Append the document "forerun/fit/1" of what was fitted to @p samples. */
void fr_fit_json(struct fr_text *text, const struct fr_samples *samples,
                 const struct fr_fit_result *result);

#endif
