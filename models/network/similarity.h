/** @file
 *  How long does a collective take over ranks never measured?  The similarity table answers from a measured one.
 *
 *  A collective over p ranks on N nodes takes F serial steps and moves B n bytes through the busiest link, whatever
 *  its algorithm.  Time per step is then one function g of the bytes per step.  A protocol switch (eager to
 *  rendezvous, one algorithm to the next) moves with the chunk, so a bump in one table is carried to other p and not
 *  smoothed away:
 *
 *      t(p, n) = F(p, N) g( n B(p, N) / F(p, N) )                     (our derivation)
 *
 *  which tends to alpha F and beta B n at its ends.  From the measured table t0 over p0 ranks:
 *
 *      t(p, n) = F/F0 t0( n (B F0) / (B0 F) )
 *
 *  Between two sizes of a table time is linear in n (exact for alpha + beta n).  Below the first size it is constant,
 *  unless it rose faster than sqrt(n) there.  Above the last it continues along the last chord.
 *
 *  Symbols:  p ranks   N nodes   r = p/N ranks per node   n message as fr_op counts it [B] */
#ifndef FR_MODELS_NETWORK_SIMILARITY_H
#define FR_MODELS_NETWORK_SIMILARITY_H

#include <stdbool.h>
#include <stdint.h>

/** Times measured over one rank count, ascending sizes. */
struct fr_similarity_table {
    int level;        /**< innermost that holds the ranks */
    int64_t n_ranks;  /**< p0 */
    int64_t n_nodes;  /**< N0; 1 at level 0 */
    int count;        /**< >= 1 */
    double *size_B;   /**< size_B[count] */
    double *time_s;   /**< time_s[count], > 0 */
    double *left_out; /**< left_out[count]: |log2| error at each size when it is left out of the
                           table; 0 at the ends */
    double left_out_90; /**< what nine in ten of them stay below */
};

/** How F and B grow, one law a level. */
struct fr_similarity_law {
    int steps, bytes;  /**< rows of fr_steps_names and fr_bytes_names */
    double slow, fast; /**< growth of the interval, log2 of time per doubling of p */
};

enum { FR_SIMILARITY_LEVELS = 8, FR_SIMILARITY_SIZES_MAX = 4096 /* of a table */ };

struct fr_similarity {
    struct fr_similarity_table *tables; /**< by level, then nodes per rank, then p */
    int n_tables;
    struct fr_similarity_law law[FR_SIMILARITY_LEVELS]; /**< by level; where it has tables */
};

/** Spellings of F ("1", "log2 p", ...) and of B, then NULL. */
extern const char *const fr_steps_names[];
extern const char *const fr_bytes_names[];
/** F and B; > 0 for p >= 2. */
double fr_steps(int which, int64_t n_ranks, int64_t n_nodes);
double fr_bytes(int which, int64_t n_ranks, int64_t n_nodes);

/** A table read at @p size_B >= 0 [s]. */
double fr_table_time_s(const double *sizes_B, const double *times_s, int count, double size_B);

/** Time over other ranks that one table predicts [s]. */
double fr_similarity_from_s(const struct fr_similarity_table *table,
                            const struct fr_similarity_law *law, int64_t n_ranks,
                            int64_t n_nodes, double size_B);

struct fr_similarity_answer {
    double time_s;
    double slow_log2, fast_log2; /**< half-widths of the 90 % interval, in log2 of time */
    bool measured;               /**< p and layout have tables, or lie between two, n inside */
};

/** @param interval  also find the interval; a search that prices a million plans does not ask
 *  @return false when no table of @p level is there (level > 0: of any level but 0). */
bool fr_similarity_ask(const struct fr_similarity *s, int level, int64_t n_ranks,
                       int64_t n_nodes, double size_B, bool interval,
                       struct fr_similarity_answer *answer);

void fr_similarity_free(struct fr_similarity *s);

#endif
