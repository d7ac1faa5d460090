/** @file
 *  The steps of fr_fit, a file each.  For fit.c and tests. */
#ifndef FR_CALIBRATE_FIT_PARTS_H
#define FR_CALIBRATE_FIT_PARTS_H

#include <math.h>

#include "calibrate/fit/fit.h"
#include "calibrate/samples/series.h"

/** Quality of @p predicted against @p measured, both > 0.  n = 0 gives zeros.
 *  @return FR_OK or FR_ERR_NOMEM. */
fr_status fr_fit_measure(const double *predicted_s, const double *measured_s, int n,
                         struct fr_fit_quality *quality);

/** Median of @p x, which it sorts; 0 of none. */
double fr_fit_median(double *x, size_t n);

/** Medians of the collective samples of one series that can be fitted (not failed, not in place,
 *  of sizes above 0), sorted by op, level, p, nodes, size.
 *  @param series  index into @p list; negative: all samples */
fr_status fr_fit_medians(const struct fr_samples *samples, const struct fr_series_list *list,
                         int series, struct fr_fit_point **points, int *n_points);

/** t = c1 log2 p + c2 m + c3 over @p points with coefficients >= 0: of all subsets of terms
 *  whose least-squares solution is non-negative, the best.  Terms that the points cannot tell
 *  apart are left out (c3 when there is one p only).  log->present is false when there are no
 *  more points than terms.
 *  @param relative  weigh with 1/t (relative errors), otherwise with 1
 *  @param skip      index left out, or -1 */
fr_status fr_fit_log_form(const struct fr_fit_point *points, int n, bool relative, int skip,
                          struct fr_fit_log *log);

/** Piecewise t = latency + per_byte m over @p points of one curve, coefficients >= 0, least
 *  squares of relative errors.  Breakpoints by dynamic programming over the sorted sizes, their
 *  number by the Bayesian information criterion; at least 3 sizes a segment (2 where there are
 *  fewer than 6).
 *  @param skip  index left out, or -1 */
fr_status fr_fit_segments(const struct fr_fit_point *points, int n, int skip,
                          struct fr_segment_fit *fit);

/** Curves, all forms, their qualities and the choice between them; op->points, n_points and gpu
 *  are set. */
fr_status fr_fit_operation(struct fr_fit_op *op, fr_fit_form form);
void fr_fit_operation_free(struct fr_fit_op *op);

/** Forms of options->base fitted to products that others measured (singles.c), which are then in no table.
 *  @param[out] taken  whether there are such
 *  @return FR_OK; FR_ERR_INPUT without a base, or one whose form cannot be fitted to them; FR_ERR_NUMERIC, FR_ERR_NOMEM. */
fr_status fr_fit_singles_make(const struct fr_samples *samples,
                              const struct fr_fit_options *options,
                              struct fr_fit_result *result, bool *taken, struct fr_error *err);

/** Table of one dtype, idle, of products none of whose operands is transposed; of samples that do not
 *  say so, of all.  n_m = 0 when it was not measured. */
fr_status fr_fit_gemm_table(const struct fr_samples *samples, const struct fr_fit_speed *speed,
                            fr_dtype dtype, struct fr_fit_gemm *gemm);
/** The same of products whose operands come from memory: those of row operands from its largest set, what is
 *  too large to tell (FR_SAMPLE_LARGE) as in @p alone.  beyond_octave of @p alone becomes that of these. */
fr_status fr_fit_gemm_from_memory(const struct fr_samples *samples,
                                  const struct fr_fit_speed *speed, struct fr_fit_gemm *alone,
                                  struct fr_fit_gemm *from_memory);
/** The same of weight gradients that add to what is there. */
fr_status fr_fit_gemm_adds(const struct fr_samples *samples, const struct fr_fit_speed *speed,
                           struct fr_fit_gemm *adds);
/** The same of fp32 products of row gemm one of whose operands is transposed; what has no side short enough to tell
 *  (FR_SAMPLE_PLAIN) as in @p none. */
fr_status fr_fit_gemm_transposed(const struct fr_samples *samples,
                                 const struct fr_fit_speed *speed, fr_transposed transposed,
                                 const struct fr_fit_gemm *none, struct fr_fit_gemm *gemm);
void fr_fit_gemm_free(struct fr_fit_gemm *gemm);

/** Are they of an accelerator? */
bool fr_fit_is_card(const struct fr_samples *samples);
/** result->card and power, where they are.  @return FR_OK or FR_ERR_NOMEM. */
fr_status fr_fit_card(const struct fr_samples *samples, const struct fr_fit_options *options,
                      struct fr_fit_result *result);
/** The median sample of each point of samples->gemm.  @return FR_OK or FR_ERR_NOMEM; free @p points. */
fr_status fr_fit_card_products(const struct fr_samples *samples, struct fr_sample_gemm **points,
                               size_t *n);

/** card->at_once.  @return FR_OK or FR_ERR_NOMEM */
fr_status fr_fit_at_once(const struct fr_samples *samples, struct fr_fit_card *card);
/** The share of equal products at once, of device->gemm[dtype], whose efficiency and tail are fitted; where the form has
 *  one.  @return FR_OK or FR_ERR_NOMEM. */
fr_status fr_fit_grouped(const struct fr_samples *samples, const struct fr_device *device,
                         fr_dtype dtype, struct fr_fit_singles *out);
/** Times with scales of blocks over those of the same products with one a tensor.  @return FR_OK or FR_ERR_NOMEM. */
fr_status fr_fit_block_scales(const struct fr_samples *samples, fr_dtype dtype,
                              struct fr_fit_singles *out);

/** Are two samples of one point? */
bool fr_fit_is_same_attention(const struct fr_sample_attention *a,
                              const struct fr_sample_attention *b);
/** Work of a pass [flop]: 4 b h s d K forward, 2.5 times that backward; K keys that a query meets. */
double fr_fit_attention_flop(const struct fr_sample_attention *sample);
/** result->attention.  @return FR_OK, FR_ERR_NOMEM, or what is wrong with the base. */
fr_status fr_fit_attentions(const struct fr_samples *samples,
                            const struct fr_fit_options *options, struct fr_fit_result *result,
                            struct fr_error *err);

/** A rate that a cluster file may state: the nearest one, since two nearly equal times make any [B/s]. */
static inline double fr_fit_rate(double rate_B_per_s) {
    return fmin(fmax(rate_B_per_s, FR_RATE_MIN_B_PER_S), FR_RATE_MAX_B_PER_S);
}

/** The same of a time that a form adds whatever the size, and of one that it adds for each byte. */
static inline double fr_fit_latency(double latency_s) { return fmin(latency_s, FR_COST_MAX_S); }
static inline double fr_fit_per_byte(double s_per_B) {
    return fmin(s_per_B, 1 / FR_RATE_MIN_B_PER_S);
}

/** Power of a rank: metered, stated or assumed.  @return FR_OK or FR_ERR_NOMEM. */
/** result->clock; FR_OK where too few clocks were set, too. */
fr_status fr_fit_clocks(const struct fr_samples *samples, struct fr_fit_result *result,
                        struct fr_error *err);

fr_status fr_fit_power(const struct fr_samples *samples, const struct fr_fit_options *options,
                       struct fr_fit_result *result);

/** Rates by working set, idle; what operands cost beyond products in cache is the median over
 *  shapes.  @return FR_OK or FR_ERR_NOMEM. */
fr_status fr_fit_working_sets(const struct fr_samples *samples,
                              const struct fr_fit_speed *speed,
                              struct fr_fit_working_sets *sets);

/** Ranks on one link of a level between nodes, from pairs that sent at once; *shared_by keeps
 *  its value where there were none.  @return FR_OK or FR_ERR_NOMEM. */
fr_status fr_fit_shared_by(const struct fr_samples *samples, int level, int64_t per_node,
                           int64_t *shared_by);

/** Name what was not measured, "memory bandwidth". */
void fr_fit_miss(struct fr_fit_result *result, const char *what);

/** Memory, bandwidth, launch, power. */
fr_status fr_fit_device(const struct fr_samples *samples, const struct fr_fit_options *options,
                        struct fr_fit_result *result, struct fr_error *err);
/** Levels from the base, or from provenance and two-rank messages; FR_ERR_INPUT when a level has
 *  none. */
fr_status fr_fit_levels(const struct fr_samples *samples, struct fr_fit_result *result,
                        struct fr_error *err);

#endif
