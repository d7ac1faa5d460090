/** @file
 *  What a collective costs on this cluster: the `collectives` section of a cluster file.
 *
 *  Each operation is priced by one form (models/network/form/): the papers' logarithmic fit, an
 *  algorithm of the table priced from the levels, or segments fitted to measurements.  A form
 *  is asked about a group: p ranks that lie `stride` apart.
 *
 *  A form that was stated or fitted counts only where it was measured: at the levels that it has
 *  numbers of (fr_form.measured) and that its domain and "level" name.  Elsewhere the levels price
 *  the fastest algorithm.  When a level's numbers differ from those that forms were measured over
 *  (topology/levels.h), start-up times go with the level's latency and bytes with its time per
 *  byte, as a form a + b n would:
 *      t'(n) = L t(n B / L)        L latency over latency, B time per byte over time per byte
 *
 *  Sizes count as nccl-tests does (see fr_op); a form whose file says "per_rank" divides.
 *
 *  To add a form: models/network/form/<name>.c exporting fr_form_<name>, row FR_FORM(<name>) in
 *  models/network/form_list.h.
 */
#ifndef FR_MODELS_NETWORK_COMM_H
#define FR_MODELS_NETWORK_COMM_H

#include "base/json.h"
#include "models/network/collective.h"
#include "models/network/similarity.h"
#include "topology/communicator.h"

struct fr_segment {
    double up_to_B, latency_s, s_per_B;
};
/** Segments of one (level, p). */
struct fr_segment_fit {
    int level;
    int64_t n_ranks;
    double min_B, max_B;
    int count;
    struct fr_segment *segments;
};

/** Range of sizes and ranks that a fit was made from.  Outside it an answer is extrapolated. */
struct fr_price_domain {
    bool stated;
    int64_t min_ranks, max_ranks;
    double min_B, max_B;
    bool one_node, several_nodes; /**< were measured: level 0, a level above */
};

struct fr_price {
    const struct fr_form *form;
    struct fr_price_domain domain;
    fr_op op;
    bool per_rank;  /**< m of the file is n / p */
    bool one_level; /**< counts for `level` alone */
    int level;
    double c1_s, c2_s_per_B, c3_s;
    const struct fr_collective *algorithm; /**< NULL with form algorithm: auto */
    struct fr_segment_fit *fits;           /**< by level, then p ascending */
    int n_fits;
    bool own_link; /**< form algorithm: priced with this link instead of the levels' */
    struct fr_link_cost link;
    struct fr_similarity similarity;
    double residual_median, residual_p90; /**< relative; negative: not stated */
    int residual_points;
    double
        beyond_octave; /**< of sizes beyond the domain: standard deviation of the logarithm of a
                             time for each doubling; 0: not stated */
    double
        shift; /**< standard deviations of its own interval by which times are moved; 0: none */
};

struct fr_form {
    const char *name;
    const char *equation;
    const char *source;
    fr_status (*read)(const struct fr_json *object, const struct fr_levels *levels,
                      struct fr_price *price, struct fr_error *err);
    /** Time of the operation on @p group, p >= 2, size n >= 0 [s].  Sets *extrapolated where
     *  the answer lies outside what was measured, never clears it. */
    double (*time_s)(const struct fr_price *price, const struct fr_group *group, double size_B,
                     bool *extrapolated);
    /** Has it numbers of level @p level, or of one that stands for it?  NULL: of any. */
    bool (*measured)(const struct fr_price *price, int level);
    /** Do its numbers hang on the levels themselves, so that nothing is to be carried over?
     *  NULL: no. */
    bool (*by_levels)(const struct fr_price *price);
    /** Members of the form's object but "form", "level" and "residuals". */
    void (*write)(const struct fr_price *price, const struct fr_levels *levels,
                  struct fr_json_writer *w);
    /** Half-widths of the 90 % interval in log2 of time; NULL, or false: not known. */
    bool (*interval)(const struct fr_price *price, const struct fr_group *group, double size_B,
                     double *fast_log2, double *slow_log2);
};

/** Rows that others name. */
extern const struct fr_form fr_form_log, fr_form_algorithm, fr_form_segments,
    fr_form_similarity;
/** Rows in table order, then NULL. */
extern const struct fr_form *const fr_forms[];

/** Read "collectives"; operations that are absent become algorithm auto.  @p object may be
 *  absent.  Free with fr_comm_free, also on error. */
fr_status fr_comm_read(const struct fr_json *object, const struct fr_levels *levels,
                       struct fr_price price[FR_OP_COUNT], struct fr_error *err);
void fr_comm_free(struct fr_price price[FR_OP_COUNT]);
void fr_price_free(struct fr_price *price);

/** Write one operation's object, as fr_comm_read takes it. */
void fr_price_write(const struct fr_price *price, const struct fr_levels *levels,
                    struct fr_json_writer *w);

/** The 90 % interval around @p time_s [s]: the form's own, wider on the slow side since
 *  congestion only slows; else what nine in ten residuals of the fit say; else no width. */
void fr_price_interval(const struct fr_price *price, const struct fr_group *group,
                       double size_B, double time_s, double *low_s, double *high_s);

/** Does the file say how far its times may be off? */
bool fr_price_uncertain(const struct fr_price *price);

/** @p time_s moved by price->shift standard deviations of that interval, in logarithms [s]. */
double fr_price_shifted_s(const struct fr_price *price, const struct fr_group *group,
                          double size_B, double time_s);

/** m in the convention of the price's file [B]. */
double fr_price_message_B(const struct fr_price *price, int64_t n_ranks, double size_B);

/** Time of the operation [s]; 0 for one rank. */
double fr_comm_time_s(const struct fr_price *price, const struct fr_group *group, double size_B,
                      bool *extrapolated);

/** Time of the fastest algorithm by the levels [s]. */
double fr_comm_levels_s(const struct fr_price *price, const struct fr_group *group,
                        double size_B);

/** Does the file's form count for this group?  Otherwise the levels price it. */
bool fr_comm_counts(const struct fr_price *price, const struct fr_group *group);

/** Arguments of the table's algorithms for this group. */
struct fr_collective_args fr_group_args(const struct fr_group *group, double size_B);

#endif
