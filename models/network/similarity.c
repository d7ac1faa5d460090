#include "models/network/similarity.h"

#include <math.h>
#include <stdlib.h>

/* Laws of growth: the name of each in files, and its value. */
static double one(double p, double nodes) {
    (void)p, (void)nodes;
    return 1;
}
static double log_p(double p, double nodes) {
    (void)nodes;
    return log2(p);
}
static double log_nodes(double p, double nodes) {
    (void)p;
    return 1 + log2(nodes);
}
/* Launch of a GPU collective is cheap beside its inter-node steps. */
static double quarter_log_nodes(double p, double nodes) {
    (void)p;
    return 0.25 + log2(nodes);
}
/* Between a tree and a network that serves one rank after the other. */
static double crowded(double p, double nodes) {
    (void)nodes;
    return pow(p, 0.6);
}
static double others(double p, double nodes) {
    (void)nodes;
    return p - 1;
}
static double other_nodes(double p, double nodes) { return nodes > 1 ? nodes - 1 : p - 1; }
static double share(double p, double nodes) {
    (void)nodes;
    return (p - 1) / p;
}
static double leaving(double p, double nodes) {
    return nodes > 1 ? (p - p / nodes) / p : (p - 1) / p;
}
static double share_of_rails(double p, double nodes) { return (p - 1) / p * (nodes / p); }
static double node_share_of_rails(double p, double nodes) {
    return nodes > 1 ? (nodes - 1) / nodes * (nodes / p) : (p - 1) / p / p;
}

#define STEPS(X)                                                                               \
    X("1", one)                                                                                \
    X("log2 p", log_p)                                                                         \
    X("1 + log2 N", log_nodes)                                                                 \
    X("1/4 + log2 N", quarter_log_nodes)                                                       \
    X("p^0.6", crowded)                                                                        \
    X("p - 1", others)                                                                         \
    X("N - 1", other_nodes)
#define BYTES(X)                                                                               \
    X("1", one)                                                                                \
    X("(p - 1)/p", share)                                                                      \
    X("(p - p/N)/p", leaving)                                                                  \
    X("(p - 1)/(p r)", share_of_rails)                                                         \
    X("(N - 1)/(N r)", node_share_of_rails)                                                    \
    X("log2 p", log_p)                                                                         \
    X("1 + log2 N", log_nodes)                                                                 \
    X("p - 1", others)
#define NAME(name, value) name,
#define VALUE(name, value) value,
const char *const fr_steps_names[] = {STEPS(NAME) NULL};
const char *const fr_bytes_names[] = {BYTES(NAME) NULL};
static double (*const steps[])(double p, double nodes) = {STEPS(VALUE)};
static double (*const bytes[])(double p, double nodes) = {BYTES(VALUE)};

double fr_steps(int which, int64_t n_ranks, int64_t n_nodes) {
    return steps[which]((double)n_ranks, (double)n_nodes);
}
double fr_bytes(int which, int64_t n_ranks, int64_t n_nodes) {
    return bytes[which]((double)n_ranks, (double)n_nodes);
}

/* Below the first size: a start-up cost does not shrink, a time that rose steeply does. */
static double below_s(const double *n, const double *t, int count, double size_B) {
    if (count < 2 || size_B <= 0) return t[0];
    double slope = log(t[1] / t[0]) / log(n[1] / n[0]); /* 0 from a size of nothing */
    return slope > 0.5 ? t[0] * pow(size_B / n[0], slope) : t[0];
}

/* Above the last: the last chord goes on, at most in proportion, at least level. */
static double above_s(const double *n, const double *t, int count, double size_B) {
    int last = count - 1;
    double steepest = n[last] > 0 ? t[last] / n[last] : 0;
    double slope = count > 1 ? (t[last] - t[last - 1]) / (n[last] - n[last - 1]) : steepest;
    return t[last] + fmin(fmax(slope, 0), steepest) * (size_B - n[last]);
}

double fr_table_time_s(const double *sizes_B, const double *times_s, int count, double size_B) {
    if (size_B <= sizes_B[0]) return below_s(sizes_B, times_s, count, size_B);
    if (size_B >= sizes_B[count - 1]) return above_s(sizes_B, times_s, count, size_B);
    int low = 0, high = count - 1;
    while (high - low > 1) {
        int middle = (low + high) / 2;
        if (sizes_B[middle] <= size_B)
            low = middle;
        else
            high = middle;
    }
    double way = (size_B - sizes_B[low]) / (sizes_B[high] - sizes_B[low]);
    return times_s[low] + way * (times_s[high] - times_s[low]);
}

double fr_similarity_from_s(const struct fr_similarity_table *table,
                            const struct fr_similarity_law *law, int64_t n_ranks,
                            int64_t n_nodes, double size_B) {
    if (n_ranks == table->n_ranks && n_nodes == table->n_nodes)
        return fr_table_time_s(table->size_B, table->time_s, table->count, size_B);
    double f = fr_steps(law->steps, n_ranks, n_nodes) /
               fr_steps(law->steps, table->n_ranks, table->n_nodes);
    double b = fr_bytes(law->bytes, n_ranks, n_nodes) /
               fr_bytes(law->bytes, table->n_ranks, table->n_nodes);
    return f * fr_table_time_s(table->size_B, table->time_s, table->count, size_B * b / f);
}

static double per_node(int64_t n_ranks, int64_t n_nodes) {
    return (double)n_ranks / (double)n_nodes;
}

/* How unlike two layouts are: octaves of ranks per node.  In one node all sit together. */
static double apart(const struct fr_similarity_table *table, int level, int64_t n_ranks,
                    int64_t n_nodes) {
    if (level == 0) return 0;
    return fabs(log2(per_node(n_ranks, n_nodes) / per_node(table->n_ranks, table->n_nodes)));
}

/* The tables of the level and of the likest layout that enclose p. */
struct pair {
    const struct fr_similarity_table *below, *above; /* p0 <= p, p0 >= p; either may be NULL */
    double apart;
};

static struct pair enclose(const struct fr_similarity *s, int level, int64_t n_ranks,
                           int64_t n_nodes) {
    struct pair pair = {.apart = HUGE_VAL};
    for (int i = 0; i < s->n_tables; i++)
        if (s->tables[i].level == level)
            pair.apart = fmin(pair.apart, apart(&s->tables[i], level, n_ranks, n_nodes));
    for (int i = 0; i < s->n_tables; i++) {
        const struct fr_similarity_table *t = &s->tables[i];
        if (t->level != level || apart(t, level, n_ranks, n_nodes) > pair.apart + 0.05)
            continue;
        if (t->n_ranks <= n_ranks && (!pair.below || t->n_ranks > pair.below->n_ranks))
            pair.below = t;
        if (t->n_ranks >= n_ranks && (!pair.above || t->n_ranks < pair.above->n_ranks))
            pair.above = t;
    }
    return pair;
}

/* Left-out error at the sizes beside this one. */
static double local_log2(const struct fr_similarity_table *t, double size_B) {
    double worst = 0;
    for (int i = 0; i < t->count; i++)
        if (t->size_B[i] <= 5 * size_B && size_B <= 5 * t->size_B[i])
            worst = fmax(worst, t->left_out[i]);
    return worst;
}

/* Intervals.  An unseen size errs as much as a left-out size, whose gap was twice as wide (hence 0.8 and 0.5).  An
 * unseen p errs as much, and also by a law that may be wrong, more so the further away it is. */
static const double SHARE_90 = 0.8, SHARE_LOCAL = 0.5, FLOOR_SIZE = 0.03, FLOOR_RANKS = 0.07;
static const double OTHER_LAYOUT = 0.6, PER_OCTAVE_OF_SIZE = 0.12;

/* The same point measured again: a table whose sizes contradict each other is a noisy one. */
static const double AGAIN = 0.05, SHARE_AGAIN = 0.3;

static bool is_measured(const struct fr_similarity_table *t, double size_B) {
    for (int i = 0; i < t->count; i++)
        if (fabs(t->size_B[i] - size_B) <= 1e-9 * size_B) return true;
    return false;
}

static void widen(const struct fr_similarity_table *t, const struct fr_similarity_law *law,
                  double octaves, double apart_octaves, double size_B,
                  struct fr_similarity_answer *a) {
    double beyond =
        size_B > t->size_B[t->count - 1] ? log2(size_B / t->size_B[t->count - 1]) : 0;
    double fit = hypot(hypot(SHARE_90 * t->left_out_90, SHARE_LOCAL * local_log2(t, size_B)),
                       FLOOR_SIZE + PER_OCTAVE_OF_SIZE * beyond);
    if (octaves == 0 && apart_octaves < 0.05) {
        double again = hypot(AGAIN, SHARE_AGAIN * t->left_out_90);
        a->slow_log2 = a->fast_log2 = is_measured(t, size_B) ? fmin(again, fit) : fit;
        return;
    }
    double layout = apart_octaves < 0.05 ? 0 : OTHER_LAYOUT;
    double base = fmax(fmax(t->left_out_90, fit), FLOOR_RANKS);
    a->slow_log2 = hypot(base, law->slow * octaves + layout);
    a->fast_log2 = hypot(base, law->fast * octaves + layout);
}

static bool inside(const struct fr_similarity_table *t, double size_B) {
    return size_B >= t->size_B[0] * (1 - 1e-9) &&
           size_B <= t->size_B[t->count - 1] * (1 + 1e-9);
}

static void answer_from(const struct fr_similarity *s, const struct pair *pair, int level,
                        int64_t n_ranks, int64_t n_nodes, double size_B, bool interval,
                        struct fr_similarity_answer *a) {
    const struct fr_similarity_law *law = &s->law[level];
    const struct fr_similarity_table *t = pair->below ? pair->below : pair->above;
    double octaves = fabs(log2((double)n_ranks / (double)t->n_ranks));
    a->time_s = fr_similarity_from_s(t, law, n_ranks, n_nodes, size_B);
    a->measured = octaves == 0 && pair->apart < 0.05 && inside(t, size_B);
    if (interval) widen(t, law, octaves, pair->apart, size_B, a);
    if (!pair->below || !pair->above || pair->below == pair->above) return;
    /* Between two: both speak, the nearer louder. */
    double far_s = fr_similarity_from_s(pair->above, law, n_ranks, n_nodes, size_B);
    double span = log2((double)pair->above->n_ranks / (double)t->n_ranks);
    double way = octaves / span;
    a->time_s = a->time_s * pow(far_s / a->time_s, way);
    a->measured = pair->apart < 0.05 && inside(t, size_B) && inside(pair->above, size_B);
    if (interval) widen(t, law, fmin(octaves, span - octaves), pair->apart, size_B, a);
}

bool fr_similarity_ask(const struct fr_similarity *s, int level, int64_t n_ranks,
                       int64_t n_nodes, double size_B, bool interval,
                       struct fr_similarity_answer *answer) {
    int found = -1;
    for (int i = 0; i < s->n_tables; i++) { /* the level itself, else the nearest one above 0 */
        int l = s->tables[i].level;
        if ((l == 0) != (level == 0)) continue;
        if (found < 0 || abs(l - level) < abs(found - level)) found = l;
    }
    if (found < 0) return false;
    struct pair pair = enclose(s, found, n_ranks, n_nodes);
    answer_from(s, &pair, found, n_ranks, n_nodes, size_B, interval, answer);
    if (found != level) answer->measured = false;
    return true;
}

void fr_similarity_free(struct fr_similarity *s) {
    for (int i = 0; i < s->n_tables; i++) {
        free(s->tables[i].size_B);
        free(s->tables[i].time_s);
        free(s->tables[i].left_out);
    }
    free(s->tables);
    *s = (struct fr_similarity){0};
}
