/** @file
 *  The earliest of many times that change one at a time.
 *
 *  Times lie in blocks of about sqrt(n), and each block remembers its least.  A change looks through its block, and a
 *  question through the blocks' least ones.  Both are short loops without a branch, several times as fast as a tree
 *  for the lines of a pipeline. */
#ifndef FR_MODELS_OUTCOME_MESSAGES_EARLIEST_H
#define FR_MODELS_OUTCOME_MESSAGES_EARLIEST_H

#include <stdbool.h>
#include <stdint.h>

struct fr_earliest {
    int32_t shift;   /**< a block has 1 << shift times, 8 to 64 */
    int32_t groups;  /**< of eight blocks */
    double *time_s;  /**< [8 groups << shift] */
    double *least_s; /**< [8 groups] */
};

/** All @p n times INFINITY.  @return false without memory.  Free with fr_earliest_free, also then. */
bool fr_earliest_make(int32_t n, struct fr_earliest *earliest);
void fr_earliest_free(struct fr_earliest *earliest);

/** The least of eight, in three steps. */
static inline double fr_least_of_8(const double *x) {
    double a = x[0] < x[1] ? x[0] : x[1], b = x[2] < x[3] ? x[2] : x[3],
           c = x[4] < x[5] ? x[4] : x[5], d = x[6] < x[7] ? x[6] : x[7];
    a = a < b ? a : b;
    c = c < d ? c : d;
    return a < c ? a : c;
}

/** The least of @p n, a multiple of 8 above 0. */
static inline double fr_least_of(const double *x, int32_t n) {
    double least = fr_least_of_8(x);
    for (int32_t k = 8; k < n; k += 8) {
        double next = fr_least_of_8(x + k);
        least = least < next ? least : next;
    }
    return least;
}

static inline void fr_earliest_set(struct fr_earliest *s, int32_t i, double time_s) {
    int32_t block = i >> s->shift;
    s->time_s[i] = time_s;
    s->least_s[block] = fr_least_of(s->time_s + (block << s->shift), 1 << s->shift);
}

/** The earliest; INFINITY: none is set. */
static inline double fr_earliest_s(const struct fr_earliest *s) {
    return fr_least_of(s->least_s, 8 * s->groups);
}

/** Which of eight are no later than @p t_s, as bits. */
static inline uint32_t fr_due_of_8(const double *x, double t_s) {
    return (uint32_t)(x[0] <= t_s) | (uint32_t)(x[1] <= t_s) << 1 |
           (uint32_t)(x[2] <= t_s) << 2 | (uint32_t)(x[3] <= t_s) << 3 |
           (uint32_t)(x[4] <= t_s) << 4 | (uint32_t)(x[5] <= t_s) << 5 |
           (uint32_t)(x[6] <= t_s) << 6 | (uint32_t)(x[7] <= t_s) << 7;
}

#endif
