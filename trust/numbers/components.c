#include "trust/numbers/components.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_multimin.h>
#include <gsl/gsl_qrng.h>
#include <math.h>

#include "trust/numbers/gsl_errors.h"

enum { NODES = FR_COMPONENTS_NODES, STEPS_MAX = 400, HALVINGS = 60, WIDENINGS = 3 };

static const double half_log_2_pi = 0.9189385332046727, log_2 = 0.6931471805599453;

/* First and last step of the simplex; step of the curvature and the range of its widths.  The proposal is wider than
 * the posterior. */
static const double first_step = 0.5, last_step = 0.03, bend = 0.25, narrow = 0.03, wide = 1,
                    wider = 1.25;

/* Parts of the logarithms of the ratios of sd to the stated ones: the common factor of the model error; the
 * differences of models, plans and kinds in it; each other's own. */
enum {
    OF_MODEL_ERROR,
    OF_RELEASE,
    OF_ROW,
    OF_DEVICE,
    OF_NETWORK,
    SCALES,
    APART = SCALES,
    UNKNOWNS = FR_COMPONENTS_UNKNOWNS
};
static const int scale_of[FR_EFFECTS] = {
    OF_MODEL_ERROR, OF_MODEL_ERROR, OF_MODEL_ERROR, OF_RELEASE, OF_ROW, OF_DEVICE, OF_NETWORK};
const struct fr_sizes fr_sizes_usual = {
    .common = 0.3, .apart = 0.7, .alone = 0.7, .device = 1, .network = 1};

struct target {
    struct fr_effects *effects;
    const double *scale;
    const struct fr_sizes *sizes;
};

/* Is it the width of coefficients' priors?  Its factor is half-normal: priors may be far too wide. */
static bool is_width(int k) { return k == OF_DEVICE || k == OF_NETWORK; }

static double log_width(const struct target *t, int k) {
    return k >= APART            ? t->sizes->apart
           : k == OF_MODEL_ERROR ? t->sizes->common
                                 : t->sizes->alone;
}

/* The mean square of exp(z), with z normal of deviation a, is exp(2 a^2).  Each factor is divided by its root, so the
 * stated value is the root mean square before any row is seen. */
static void at(const struct target *t, const double *log_ratio, double sd[FR_EFFECTS]) {
    double apart = pow(t->sizes->apart, 2);
    for (int k = 0; k < FR_EFFECTS; k++) {
        double x = log_ratio[scale_of[k]];
        if (k < UNKNOWNS - APART) x += log_ratio[APART + k] - apart;
        if (!is_width(scale_of[k])) x -= pow(log_width(t, scale_of[k]), 2);
        sd[k] = t->scale[k] * exp(x);
    }
}

static double log_normal(double x, double width) {
    return -pow(x / width, 2) / 2 - log(width) - half_log_2_pi;
}

/* Density of a factor's logarithm. */
static double log_prior(const struct target *t, int k, double log_ratio) {
    double rms = k == OF_DEVICE ? t->sizes->device : t->sizes->network;
    if (!is_width(k)) return log_normal(log_ratio, log_width(t, k));
    return log_ratio + log_2 - half_log_2_pi - log(rms) - exp(2 * log_ratio) / (2 * rms * rms);
}

/* Density of the unknowns and of the rows. */
static double log_density(const struct target *t, const double *log_ratio) {
    double sd[FR_EFFECTS], sum = 0;
    for (int k = 0; k < UNKNOWNS; k++) {
        if (!(fabs(log_ratio[k]) < 30)) return -INFINITY;
        sum += log_prior(t, k, log_ratio[k]);
    }
    at(t, log_ratio, sd);
    sum += fr_effects_at(t->effects, sd, NULL, NULL);
    return isfinite(sum) ? sum : -INFINITY;
}

static double least(const gsl_vector *x, void *with) {
    double value = log_density(with, x->data);
    return isfinite(value) ? -value : GSL_POSINF;
}

static fr_status find_mode(struct target *t, double *mode, struct fr_error *err) {
    gsl_multimin_function f = {least, UNKNOWNS, t};
    gsl_error_handler_t *before = fr_gsl_errors();
    gsl_multimin_fminimizer *m =
        gsl_multimin_fminimizer_alloc(gsl_multimin_fminimizer_nmsimplex2, UNKNOWNS);
    gsl_vector *x = gsl_vector_calloc(UNKNOWNS), *step = gsl_vector_alloc(UNKNOWNS);
    int code = m && x && step ? 0 : GSL_ENOMEM;
    if (!code) gsl_vector_set_all(step, first_step);
    if (!code && !isfinite(log_density(t, x->data))) code = GSL_EDOM;
    if (!code) code = gsl_multimin_fminimizer_set(m, &f, x, step);
    for (int i = 0; i < STEPS_MAX && !code; i++) {
        if (gsl_multimin_fminimizer_iterate(m)) break; /* no progress: there it is */
        if (gsl_multimin_fminimizer_size(m) < last_step) break;
    }
    for (size_t k = 0; k < UNKNOWNS && !code; k++) mode[k] = gsl_vector_get(m->x, k);
    if (m) gsl_multimin_fminimizer_free(m);
    gsl_vector_free(x);
    gsl_vector_free(step);
    gsl_set_error_handler(before);
    if (code == GSL_ENOMEM)
        return fr_fail(err, FR_ERR_NOMEM, NULL, "the fit does not fit in memory");
    return code ? fr_fail(err, FR_ERR_NUMERIC, NULL, "the posterior has no covariance") : FR_OK;
}

/* Deviations of the logarithms along each axis, by curvature. */
static void widths(const struct target *t, const double *mode, double *width) {
    double at_mode = log_density(t, mode);
    for (int k = 0; k < UNKNOWNS; k++) {
        double x[UNKNOWNS], curved = -2 * at_mode;
        for (int j = 0; j < UNKNOWNS; j++) x[j] = mode[j];
        for (int side = -1; side <= 1; side += 2) {
            x[k] = mode[k] + side * bend;
            curved += log_density(t, x);
        }
        double precision = -curved / (bend * bend);
        width[k] = precision > 0 ? 1 / sqrt(precision) : wide;
        width[k] = wider * fmin(wide, fmax(narrow, width[k]));
    }
}

fr_status fr_components_make(struct fr_effects *effects, const double *scale,
                             const struct fr_sizes *sizes, struct fr_components *c,
                             struct fr_error *err) {
    struct target t = {effects, scale, sizes ? sizes : &fr_sizes_usual};
    double mode[UNKNOWNS], width[UNKNOWNS], log_weight[NODES], most = -INFINITY, sum = 0;
    fr_effects_narrow(effects);
    FR_TRY(find_mode(&t, mode, err));
    for (int turn = 0; turn < WIDENINGS; turn++) {
        at(&t, mode, c->mode);
        if (!fr_effects_widen(effects, c->mode, FR_COMPONENTS_DEGREES)) break;
        FR_TRY(find_mode(&t, mode, err));
    }
    at(&t, mode, c->mode);
    widths(&t, mode, width);
    gsl_error_handler_t *before = fr_gsl_errors();
    gsl_qrng *sequence = gsl_qrng_alloc(gsl_qrng_sobol, UNKNOWNS);
    gsl_set_error_handler(before);
    if (!sequence) return fr_fail(err, FR_ERR_NOMEM, NULL, "the fit does not fit in memory");
    for (int i = 0; i < NODES; i++) {
        double u[UNKNOWNS], x[UNKNOWNS];
        gsl_qrng_get(sequence, u);
        log_weight[i] = 0;
        for (int k = 0; k < UNKNOWNS; k++) {
            double z = gsl_cdf_ugaussian_Pinv(u[k]);
            x[k] = c->unknown[i][k] = mode[k] + width[k] * z;
            log_weight[i] += z * z / 2;
        }
        at(&t, x, c->sd[i]);
        log_weight[i] += log_density(&t, x);
        most = fmax(most, log_weight[i]);
    }
    gsl_qrng_free(sequence);
    for (int i = 0; i < NODES; i++) sum += c->weight[i] = exp(log_weight[i] - most);
    for (int i = 0; i < NODES; i++) c->weight[i] /= sum;
    c->evidence =
        most + log(sum / NODES) + fr_effects_wide_density(effects, FR_COMPONENTS_DEGREES);
    for (int k = 0; k < UNKNOWNS; k++) c->evidence += log(width[k]) + half_log_2_pi;
    return FR_OK;
}

void fr_components_wide(double variance[FR_COMPONENTS_WIDE]) {
    const double d = FR_COMPONENTS_DEGREES;
    for (int i = 0; i < FR_COMPONENTS_WIDE; i++)
        variance[i] = (d - 2) / gsl_cdf_chisq_Qinv((i + 0.5) / FR_COMPONENTS_WIDE, d);
}

double fr_mixture_half(const double *weight, const double *variance, int n, double covered) {
    double low = 0, high = 0;
    for (int i = 0; i < n; i++) high = fmax(high, 10 * sqrt(variance[i]));
    for (int turn = 0; turn < HALVINGS; turn++) {
        double middle = (low + high) / 2, inside = 0;
        for (int i = 0; i < n; i++)
            inside += weight[i] * erf(middle / sqrt(2 * fmax(variance[i], 1e-300)));
        if (inside < covered)
            low = middle;
        else
            high = middle;
    }
    return (low + high) / 2;
}
