/* Measured tables, and the laws by which they are carried to other rank counts.
 *
 * With one rank count the law is what the operation does by nature (its prior).  With several
 * it is chosen from a dictionary by letting the table of each rank count predict the next.
 * The score is the mean |log2 error|, capped so that a jump does not decide alone, with the
 * latest pair weighted most.  Leaving the prior has a small price.  A table is compared with
 * that of fewer ranks with as many ranks a node.  Where there is none, it is compared with
 * that of as many nodes with fewer ranks each.  Times that fall there as the ranks of a node
 * grow mean an adapter for each (laws of r). */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "calibrate/fit/fitter.h"
#include "calibrate/fit/parts.h"
#include "trust/numbers/statistics.h"

static const double CAP = 2, PRICE = 0.05, STALL = 8;
enum { CROWD = 8 }; /* more MPI ranks a node than this: jitter and contention outgrow log p */

/* Growth of the interval per doubling of p, log2: what laws were seen to miss by on published
 * measurements; more on the slow side, more when no second rank count confirms the law. */
static void set_interval(struct fr_similarity_law *law, int level, bool gpu, bool confirmed) {
    if (gpu && level > 0) {
        law->slow = confirmed ? 0.24 : 0.28;
        law->fast = confirmed ? 0.12 : 0.14;
    } else if (gpu) {
        law->slow = 0.40;
        law->fast = 0.35;
    } else if (level > 0) {
        law->slow = 0.80;
        law->fast = 0.60;
    } else {
        law->slow = 0.50;
        law->fast = 0.40;
    }
}

static struct fr_similarity_law prior(const struct fr_similarity_table *t, fr_op op, bool gpu) {
    const char *steps = "log2 p", *bytes = "(p - 1)/p";
    double per_node = (double)t->n_ranks / (double)t->n_nodes;
    if (op == FR_OP_ALL_GATHER || op == FR_OP_REDUCE_SCATTER || op == FR_OP_ALL_TO_ALL ||
        op == FR_OP_SCATTER || op == FR_OP_GATHER)
        steps = "p - 1";
    else if (op == FR_OP_SEND_RECV)
        steps = bytes = "1";
    else if (t->level > 0)
        steps = gpu ? "1/4 + log2 N" : per_node > CROWD ? "p^0.6" : "1 + log2 N";
    if (op == FR_OP_ALL_TO_ALL) bytes = "(p - p/N)/p";
    return (struct fr_similarity_law){.steps = fr_place_in(fr_steps_names, steps),
                                      .bytes = fr_place_in(fr_bytes_names, bytes)};
}

/* Each inner size is read from the table without it; over a gap twice as wide, so this is an
 * upper estimate.  How well the medians are known is a floor. */
static fr_status leave_out(struct fr_similarity_table *t, const struct fr_fit_point *points) {
    size_t n = (size_t)t->count;
    double *sorted = fr_malloc(n, sizeof *sorted);
    if (sorted)
        for (int i = 0; i < t->count; i++) {
            double spread = points[i].uncertainty < 1 ? log2(1 + points[i].uncertainty) : 0;
            t->left_out[i] = spread;
            if (i == 0 || i + 1 == t->count) continue;
            /* Between its neighbours a table reads these two alone. */
            const double sizes_B[] = {t->size_B[i - 1], t->size_B[i + 1]},
                         times_s[] = {t->time_s[i - 1], t->time_s[i + 1]};
            double without_s = fr_table_time_s(sizes_B, times_s, 2, t->size_B[i]);
            t->left_out[i] = hypot(spread, log2(without_s / t->time_s[i]));
        }
    if (sorted && t->count > 2) {
        memcpy(sorted, t->left_out + 1, (n - 2) * sizeof *sorted);
        fr_sort(sorted, n - 2);
        t->left_out_90 = fr_sorted_quantile(sorted, n - 2, 0.9);
    }
    bool allocated = sorted;
    free(sorted);
    return allocated ? FR_OK : FR_ERR_NOMEM;
}

static double chord_s(const struct fr_fit_point *points, int low, int high, int at) {
    double way =
        (points[at].size_B - points[low].size_B) / (points[high].size_B - points[low].size_B);
    return points[low].time_s + way * (points[high].time_s - points[low].time_s);
}

/* A size that takes many times what the sizes around it say, and these agree without it: one
 * stall of the machine, which a table would repeat for ever.  Steps up are none: beyond them the
 * times stay up. */
static bool is_stall(const struct fr_fit_point *points, int n, int i) {
    static const int beside[][2] = {{-1, 1}, {-2, 1}, {-1, 2}, {-2, 2}};
    double least_s = HUGE_VAL;
    for (size_t k = 0; k < sizeof beside / sizeof *beside; k++) {
        int low = i + beside[k][0], high = i + beside[k][1];
        if (low >= 0 && high < n) least_s = fmin(least_s, chord_s(points, low, high, i));
    }
    return least_s < HUGE_VAL && points[i].time_s > STALL * least_s;
}

static fr_status make_table(const struct fr_fit_point *points, int n,
                            struct fr_similarity_table *t) {
    t->level = points->level;
    t->n_ranks = points->n_ranks;
    t->n_nodes = points->level > 0 && points->n_nodes > 1 ? points->n_nodes
                 : points->level > 0                      ? 2
                                                          : 1;
    t->size_B = fr_malloc((size_t)n, sizeof *t->size_B);
    t->time_s = fr_malloc((size_t)n, sizeof *t->time_s);
    t->left_out = fr_calloc((size_t)n, sizeof *t->left_out);
    if (!t->size_B || !t->time_s || !t->left_out) return FR_ERR_NOMEM;
    struct fr_fit_point *inside = fr_malloc((size_t)n, sizeof *inside);
    if (!inside) return FR_ERR_NOMEM;
    for (int i = 0; i < n; i++) {
        if (is_stall(points, n, i)) continue;
        inside[t->count] = points[i];
        t->size_B[t->count] = points[i].size_B;
        t->time_s[t->count++] = points[i].time_s;
    }
    fr_status status = leave_out(t, inside);
    free(inside);
    return status;
}

/* How far table @p from misses table @p to under a law: mean |log2 error|, capped. */
static double misses(const struct fr_similarity_table *from,
                     const struct fr_similarity_table *to,
                     const struct fr_similarity_law *law) {
    double sum = 0;
    for (int i = 0; i < to->count; i++) {
        double time_s =
            fr_similarity_from_s(from, law, to->n_ranks, to->n_nodes, to->size_B[i]);
        sum += fmin(fabs(log2(time_s / to->time_s[i])), CAP);
    }
    return sum / to->count;
}

static bool alike(const struct fr_similarity_table *a, const struct fr_similarity_table *b) {
    double ratio =
        (double)a->n_ranks / (double)a->n_nodes * (double)b->n_nodes / (double)b->n_ranks;
    return a->level == b->level && (a->level == 0 || fabs(log2(ratio)) < 0.05);
}

/* On as many nodes, of fewer ranks each. */
static bool thinner(const struct fr_similarity_table *a, const struct fr_similarity_table *b) {
    return a->level == b->level && a->level > 0 && a->n_nodes == b->n_nodes;
}

/* The table of the largest fewer ranks that table @p i is held against; NULL: there is none. */
static const struct fr_similarity_table *before(const struct fr_similarity *s, int i) {
    const struct fr_similarity_table *to = &s->tables[i], *like = NULL, *thin = NULL;
    for (int k = 0; k < s->n_tables; k++) {
        const struct fr_similarity_table *t = &s->tables[k];
        if (t->n_ranks >= to->n_ranks) continue;
        if (alike(t, to) && (!like || t->n_ranks > like->n_ranks)) like = t;
        if (thinner(t, to) && (!thin || t->n_ranks > thin->n_ranks)) thin = t;
    }
    return like ? like : thin;
}

/* Loss of a law over neighbouring rank counts of a level; -1 when there are none. */
static double loss(const struct fr_similarity *s, int level,
                   const struct fr_similarity_law *law) {
    double sum = 0, weights = 0, weight = 1;
    for (int i = 0; i < s->n_tables; i++) {
        const struct fr_similarity_table *to = &s->tables[i], *from = before(s, i);
        if (to->level != level || !from) continue;
        sum += weight * misses(from, to, law);
        weights += weight;
        weight *= 2;
    }
    return weights > 0 ? sum / weights : -1;
}

/* Was another rank count of a layout measured, which says how times grow with p? */
static bool grows(const struct fr_similarity *s, int level) {
    for (int i = 0; i < s->n_tables; i++)
        for (int k = 0; k < i; k++)
            if (s->tables[i].level == level && alike(&s->tables[k], &s->tables[i]) &&
                s->tables[k].n_ranks < s->tables[i].n_ranks)
                return true;
    return false;
}

static void choose(struct fr_similarity *s, int level, fr_op op, bool gpu) {
    const struct fr_similarity_table *last = NULL;
    for (int i = 0; i < s->n_tables; i++)
        if (s->tables[i].level == level) last = &s->tables[i];
    if (!last) return;
    const struct fr_similarity_law by_nature = prior(last, op, gpu);
    struct fr_similarity_law best = by_nature, law;
    double least = loss(s, level, &by_nature);
    for (law.steps = 0; least >= 0 && fr_steps_names[law.steps]; law.steps++)
        for (law.bytes = 0; fr_bytes_names[law.bytes]; law.bytes++) {
            double error = loss(s, level, &law) + PRICE * (law.steps != by_nature.steps) +
                           PRICE * (law.bytes != by_nature.bytes);
            if (error >= least) continue;
            least = error;
            best = law;
        }
    set_interval(&best, level, gpu, grows(s, level));
    s->law[level] = best;
}

static bool same_table(const struct fr_fit_point *a, const struct fr_fit_point *b) {
    return a->level == b->level && a->n_ranks == b->n_ranks && a->n_nodes == b->n_nodes;
}

static fr_status fit(const struct fr_fit_point *points, int n, bool gpu,
                     struct fr_price *price) {
    struct fr_similarity *s = &price->similarity;
    s->tables = fr_calloc((size_t)n, sizeof *s->tables);
    if (!s->tables) return FR_ERR_NOMEM;
    for (int first = 0, stop; first < n; first = stop) {
        for (stop = first + 1; stop < n && same_table(&points[first], &points[stop]);) stop++;
        FR_TRY(make_table(points + first, stop - first, &s->tables[s->n_tables++]));
    }
    for (int level = 0; level < FR_SAMPLE_LEVELS; level++) choose(s, level, points->op, gpu);
    price->form = &fr_form_similarity;
    return FR_OK;
}

const struct fr_fitter fr_fitter_similarity = {.name = "similarity", .fit = fit};
