#include "models/network/segment_fit.h"

#include <math.h>

static const double SHORTEST_S = 1e-12; /* keeps logarithms finite */

static double line_s(const struct fr_segment *s, double size_B) {
    return s->latency_s + s->s_per_B * size_B;
}

/* The segment of @p size_B, and the largest time of those below it. */
static const struct fr_segment *segment_at(const struct fr_segment_fit *fit, double size_B,
                                           double *below_s) {
    int i = 0;
    for (*below_s = 0; i < fit->count - 1 && size_B > fit->segments[i].up_to_B; i++)
        if (fit->segments[i].up_to_B >= fit->min_B)
            *below_s = fmax(*below_s, line_s(&fit->segments[i], fit->segments[i].up_to_B));
    return &fit->segments[i];
}

double fr_segment_fit_s(const struct fr_segment_fit *fit, double size_B) {
    double below_s = 0, priced_B = fmax(size_B, fit->min_B);
    const struct fr_segment *segment = segment_at(fit, priced_B, &below_s);
    return fmax(below_s, line_s(segment, priced_B));
}

/* ---- two rank counts ------------------------------------------------------------------------- */

struct pair {
    const struct fr_segment_fit *fewer, *more;
    double weight; /* of the larger; below 0 or above 1 outside */
};

static double raw_s(const struct pair *p, double size_B) {
    double fewer_s = fmax(fr_segment_fit_s(p->fewer, size_B), SHORTEST_S),
           more_s = fmax(fr_segment_fit_s(p->more, size_B), SHORTEST_S);
    double s = exp((1 - p->weight) * log(fewer_s) + p->weight * log(more_s));
    if (p->weight > 1) return fmax(s, more_s);
    return p->weight < 0 ? fmin(s, fewer_s) : s;
}

/* Beyond @p from_B both are straight up to here: the next end of a segment, or of a stretch that what is
 * below it keeps up. */
static double straight_until_B(const struct fr_segment_fit *fit, double from_B, double last_B) {
    double below_s = 0, next_B = nextafter(from_B, HUGE_VAL);
    if (next_B < fit->min_B) return fmin(last_B, fit->min_B);
    const struct fr_segment *s = segment_at(fit, next_B, &below_s);
    bool last = s == &fit->segments[fit->count - 1];
    double until_B = last ? last_B : fmin(last_B, s->up_to_B);
    double meets_B = s->s_per_B > 0 ? (below_s - s->latency_s) / s->s_per_B : 0;
    return meets_B > next_B ? fmin(until_B, meets_B) : until_B;
}

struct straight {
    double at_zero_s, s_per_B;
};

static struct straight through(const struct fr_segment_fit *fit, double from_B, double to_B) {
    double low_s = fr_segment_fit_s(fit, from_B), high_s = fr_segment_fit_s(fit, to_B);
    double s_per_B = to_B > from_B ? (high_s - low_s) / (to_B - from_B) : 0;
    return (struct straight){low_s - s_per_B * from_B, s_per_B};
}

/* The largest where both are straight, outside the two rank counts: at the ends, or where the two meet and
 * the cheaper takes over.  Where the slope of the logarithm is zero it is least: with X = w b'/b of the
 * one and (w - 1) a'/a = X of the other, its second derivative is X^2 / (w (w - 1)). */
static double largest_s(const struct pair *p, double from_B, double to_B) {
    struct straight a = through(p->fewer, from_B, to_B), b = through(p->more, from_B, to_B);
    double ends_s = fmax(raw_s(p, from_B), raw_s(p, to_B));
    double meet_B = (b.at_zero_s - a.at_zero_s) / (a.s_per_B - b.s_per_B); /* or nowhere */
    return meet_B > from_B && meet_B < to_B ? fmax(ends_s, raw_s(p, meet_B)) : ends_s;
}

double fr_segment_fits_s(const struct fr_segment_fit *fewer, const struct fr_segment_fit *more,
                         double n_ranks, double size_B) {
    struct pair p = {fewer, more,
                     log(n_ranks / (double)fewer->n_ranks) /
                         log((double)more->n_ranks / (double)fewer->n_ranks)};
    if (p.weight >= 0 && p.weight <= 1) return raw_s(&p, size_B);
    double largest = 0, from_B = fmin(size_B, fmin(fewer->min_B, more->min_B));
    for (;;) {
        double to_B = fmin(straight_until_B(fewer, from_B, size_B),
                           straight_until_B(more, from_B, size_B));
        double after_B = fmin(nextafter(from_B, HUGE_VAL), to_B);
        largest = fmax(largest, fmax(raw_s(&p, from_B), largest_s(&p, after_B, to_B)));
        if (!(to_B < size_B)) return largest;
        from_B = to_B;
    }
}
