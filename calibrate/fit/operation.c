/* One operation: its curves, all forms, how well each does on what it was fitted to and on what
 * was held out, and which is kept. */
#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "calibrate/fit/fitter.h"
#include "calibrate/fit/parts.h"
#include "trust/numbers/statistics.h"

static bool same_curve(const struct fr_fit_point *a, const struct fr_fit_point *b) {
    return a->level == b->level && a->n_ranks == b->n_ranks && a->n_nodes == b->n_nodes;
}

static fr_status make_curves(struct fr_fit_op *op) {
    op->curves = fr_calloc((size_t)op->n_points, sizeof *op->curves);
    if (!op->curves) return FR_ERR_NOMEM;
    for (int i = 0; i < op->n_points; i++) {
        if (i == 0 || !same_curve(&op->points[i], &op->points[i - 1]))
            op->curves[op->n_curves++].points = &op->points[i];
        op->curves[op->n_curves - 1].n_points++;
    }
    return FR_OK;
}

double fr_fit_price_s(const struct fr_price *price, const struct fr_fit_point *point) {
    struct fr_group group = fr_fit_group(point);
    bool extrapolated = false;
    return fr_comm_time_s(price, &group, point->size_B, &extrapolated);
}

/* @param scratch  capacity for 2 n */
static fr_status judge(const struct fr_price *price, const struct fr_fit_point *points, int n,
                       double *scratch, struct fr_fit_quality *quality) {
    for (int i = 0; i < n; i++) {
        scratch[i] = fr_fit_price_s(price, &points[i]);
        scratch[n + i] = points[i].time_s;
    }
    return fr_fit_measure(scratch, scratch + n, n, quality);
}

/* Points that a fold leaves out. */
enum fold { EVEN_SIZES, ODD_SIZES, LARGEST_RANKS, LARGEST_SIZES };

/* The largest p of its level, where the level has a smaller one in the same layout. */
static bool largest_ranks(const struct fr_fit_op *op, const struct fr_fit_point *point) {
    bool smaller = false;
    struct fr_group group = fr_fit_group(point);
    for (int c = 0; c < op->n_curves; c++) {
        const struct fr_fit_point *other = op->curves[c].points;
        struct fr_group beside = fr_fit_group(other);
        if (other->level != point->level ||
            (point->level > 0 && beside.ranks_per_node != group.ranks_per_node))
            continue;
        if (other->n_ranks > point->n_ranks) return false;
        smaller = smaller || other->n_ranks < point->n_ranks;
    }
    return smaller;
}

/* Where the two octaves of the largest sizes begin, of which at least as many lie below. */
static double largest_saved_B(const struct fr_fit_curve *curve) {
    const double SLAB = 4;
    double last_B = curve->points[curve->n_points - 1].size_B;
    return curve->points[0].size_B <= last_B / (SLAB * SLAB) ? last_B / SLAB : last_B;
}

static bool left_out(const struct fr_fit_op *op, const struct fr_fit_curve *curve, int i,
                     enum fold fold) {
    if (fold == LARGEST_RANKS) return largest_ranks(op, &curve->points[i]);
    if (fold == LARGEST_SIZES) return curve->points[i].size_B > largest_saved_B(curve);
    return i > 0 && i + 1 < curve->n_points && i % 2 == (fold == ODD_SIZES);
}

/* @param at  gets the place of each point left out, in op->points */
static int split(const struct fr_fit_op *op, enum fold fold, struct fr_fit_point *inside,
                 struct fr_fit_point *out, int *at) {
    int n_inside = 0, n_out = 0;
    for (int c = 0; c < op->n_curves; c++)
        for (int i = 0; i < op->curves[c].n_points; i++)
            if (left_out(op, &op->curves[c], i, fold)) {
                at[n_out] = (int)(op->curves[c].points + i - op->points);
                out[n_out++] = op->curves[c].points[i];
            } else
                inside[n_inside++] = op->curves[c].points[i];
    return n_out;
}

struct space {
    struct fr_fit_point *points; /* [2 n_points] */
    int *at;                     /* [n_points] */
};

struct held_out {
    double *predicted_s, *measured_s;
    int n;
};

/* Fit without a fold and predict it. */
static fr_status hold_out(const struct fr_fit_op *op, int form, enum fold fold,
                          struct space *space, struct held_out *held_out) {
    struct fr_fit_point *inside = space->points, *out = space->points + op->n_points;
    struct fr_price price = {.op = op->points->op};
    int n_out = split(op, fold, inside, out, space->at), n_inside = op->n_points - n_out;
    if (n_out == 0 || n_inside == 0) return FR_OK;
    fr_status status = fr_fitters[form - 1]->fit(inside, n_inside, op->gpu, &price);
    for (int i = 0; status == FR_OK && price.form && i < n_out; i++) {
        held_out->predicted_s[held_out->n] = fr_fit_price_s(&price, &out[i]);
        if (fold == EVEN_SIZES || fold == ODD_SIZES)
            op->candidate[form].held_s[space->at[i]] = held_out->predicted_s[held_out->n];
        held_out->measured_s[held_out->n++] = out[i].time_s;
    }
    fr_price_free(&price);
    return status;
}

static double octaves_beyond(const struct fr_fit_op *op, const struct fr_fit_point *p) {
    for (int c = 0; c < op->n_curves; c++) {
        const struct fr_fit_curve *curve = &op->curves[c];
        if (p >= curve->points && p < curve->points + curve->n_points)
            return log2(p->size_B / largest_saved_B(curve));
    }
    return 0;
}

/* Errors of the sizes that LARGEST_SIZES left out: spread of the logarithm for each doubling
 * of the size, from errors over the doublings that they were extrapolated across.  Half a
 * doubling is too short to show it. */
static double beyond_octave(const struct fr_fit_op *op, const struct space *space,
                            const struct held_out *held_out) {
    static const double SHORTEST = 0.5, NORMAL_MEDIAN = 0.6745;
    static const double MOST = 10;         /* that a cluster file may state */
    double *error = held_out->predicted_s; /* each is read before it is written */
    size_t n = 0;
    for (int i = 0; i < held_out->n; i++) {
        double octaves = octaves_beyond(op, &op->points[space->at[i]]);
        if (octaves >= SHORTEST)
            error[n++] =
                fabs(log(held_out->predicted_s[i] / held_out->measured_s[i])) / octaves;
    }
    if (n == 0) return 0;
    fr_sort(error, n);
    return fmin(fr_sorted_median(error, n) / NORMAL_MEDIAN, MOST);
}

static struct fr_price_domain domain_of(const struct fr_fit_op *op) {
    struct fr_price_domain d = {.stated = true,
                                .min_ranks = op->points->n_ranks,
                                .max_ranks = op->points->n_ranks,
                                .min_B = op->points->size_B,
                                .max_B = op->points->size_B};
    for (int i = 0; i < op->n_points; i++) {
        const struct fr_fit_point *p = &op->points[i];
        d.min_ranks = p->n_ranks < d.min_ranks ? p->n_ranks : d.min_ranks;
        d.max_ranks = p->n_ranks > d.max_ranks ? p->n_ranks : d.max_ranks;
        d.min_B = fmin(d.min_B, p->size_B);
        d.max_B = fmax(d.max_B, p->size_B);
        d.one_node = d.one_node || p->level == 0;
        d.several_nodes = d.several_nodes || p->level > 0;
    }
    return d;
}

static fr_status fit_form(struct fr_fit_op *op, int form, struct space *space,
                          double *scratch) {
    struct fr_fit_candidate *candidate = &op->candidate[form];
    struct held_out held_out = {scratch, scratch + op->n_points, 0};
    candidate->price.op = op->points->op;
    candidate->price.residual_median = candidate->price.residual_p90 = -1;
    FR_TRY(fr_fitters[form - 1]->fit(op->points, op->n_points, op->gpu, &candidate->price));
    if (!candidate->price.form) return FR_OK;
    candidate->held_s = fr_malloc((size_t)op->n_points, sizeof *candidate->held_s);
    if (!candidate->held_s) return FR_ERR_NOMEM;
    for (int i = 0; i < op->n_points; i++) candidate->held_s[i] = NAN;
    FR_TRY(judge(&candidate->price, op->points, op->n_points, scratch, &candidate->quality));
    for (int c = 0; c < op->n_curves; c++)
        FR_TRY(judge(&candidate->price, op->curves[c].points, op->curves[c].n_points, scratch,
                     &op->curves[c].quality[form]));
    FR_TRY(hold_out(op, form, EVEN_SIZES, space, &held_out));
    FR_TRY(hold_out(op, form, ODD_SIZES, space, &held_out));
    FR_TRY(fr_fit_measure(held_out.predicted_s, held_out.measured_s, held_out.n,
                          &candidate->held_sizes));
    held_out.n = 0;
    FR_TRY(hold_out(op, form, LARGEST_RANKS, space, &held_out));
    FR_TRY(fr_fit_measure(held_out.predicted_s, held_out.measured_s, held_out.n,
                          &candidate->held_ranks));
    held_out.n = 0;
    FR_TRY(hold_out(op, form, LARGEST_SIZES, space, &held_out));
    candidate->price.beyond_octave = beyond_octave(op, space, &held_out);
    /* A price states its error on points that it had not seen. */
    const struct fr_fit_quality *residuals =
        candidate->held_sizes.n > 0 ? &candidate->held_sizes : &candidate->quality;
    candidate->price.residual_median = residuals->median;
    candidate->price.residual_p90 = residuals->p90;
    candidate->price.residual_points = residuals->n;
    candidate->price.domain = domain_of(op);
    return FR_OK;
}

static fr_status ordinary(struct fr_fit_op *op, double *scratch) {
    FR_TRY(fr_fit_log_form(op->points, op->n_points, false, -1, &op->log_ordinary));
    if (!op->log_ordinary.present) return FR_OK;
    struct fr_price price = {.form = &fr_form_log,
                             .op = op->points->op,
                             .c1_s = op->log_ordinary.c1_s,
                             .c2_s_per_B = op->log_ordinary.c2_s_per_B,
                             .c3_s = op->log_ordinary.c3_s};
    FR_TRY(judge(&price, op->points, op->n_points, scratch, &op->log_ordinary.quality));
    for (int c = 0; c < op->n_curves; c++)
        FR_TRY(judge(&price, op->curves[c].points, op->curves[c].n_points, scratch,
                     &op->curves[c].log_ordinary));
    return FR_OK;
}

/* Held-out error: unseen sizes, and unseen ranks where they were tried; a form that could not be
 * tried at all is judged by its residuals, and doubled for that. */
static double score(const struct fr_fit_candidate *candidate) {
    if (!candidate->price.form) return HUGE_VAL;
    if (candidate->held_sizes.n == 0 && candidate->held_ranks.n == 0)
        return 2 * candidate->quality.median;
    return candidate->held_sizes.median + candidate->held_ranks.median;
}

/* The similarity table, unless another form is clearly better: a held-out error is itself an
 * estimate from a few points.  On published measurements of several machines, choosing the
 * form of its least value did worse on later points than staying with the table.  Without a
 * second rank count nothing was held out of the growth with ranks, so more is asked for. */
static fr_fit_form choose(const struct fr_fit_op *op, fr_fit_form wanted) {
    static const double CLEARLY = 0.6, UNCONFIRMED = 0.4;
    const struct fr_fit_candidate *table = &op->candidate[FR_FIT_SIMILARITY];
    fr_fit_form best = FR_FIT_SIMILARITY;
    if (wanted != FR_FIT_BEST && op->candidate[wanted].price.form) return wanted;
    double least = score(table) * (table->held_ranks.n > 0 ? CLEARLY : UNCONFIRMED);
    for (int form = FR_FIT_LOG; form < FR_FIT_SIMILARITY; form++)
        if (score(&op->candidate[form]) < least) {
            least = score(&op->candidate[form]);
            best = (fr_fit_form)form;
        }
    return best;
}

fr_status fr_fit_operation(struct fr_fit_op *op, fr_fit_form form) {
    size_t n = (size_t)op->n_points;
    double *scratch = fr_calloc(2 * n, sizeof *scratch);
    struct space space = {fr_calloc(2 * n, sizeof *space.points),
                          fr_calloc(n, sizeof *space.at)};
    fr_status status = scratch && space.points && space.at ? make_curves(op) : FR_ERR_NOMEM;
    for (int f = FR_FIT_LOG; f < FR_FIT_FORMS && status == FR_OK; f++)
        status = fit_form(op, f, &space, scratch);
    if (status == FR_OK) status = ordinary(op, scratch);
    if (status == FR_OK) op->chosen = choose(op, form);
    free(scratch);
    free(space.points);
    free(space.at);
    return status;
}

void fr_fit_operation_free(struct fr_fit_op *op) {
    for (int f = 0; f < FR_FIT_FORMS; f++) {
        fr_price_free(&op->candidate[f].price);
        free(op->candidate[f].held_s);
    }
    free(op->curves);
    *op = (struct fr_fit_op){0};
}
