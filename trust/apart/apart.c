#include "trust/apart/apart.h"

#include <gsl/gsl_linalg.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/parallel.h"
#include "models/job/fact.h"
#include "trust/numbers/gsl_errors.h"
#include "trust/numbers/nlfit.h"

static const struct fr_nlfit_limits limits = {
    .tolerance = 1e-4, .iterations_max = 40, .accept_last = true, .forward = true};
static const double knee = 2, step = FR_TUNE_STEP, model_error = FR_TUNE_MODEL_ERROR;

struct problem {
    const struct fr_run *runs; /* [n], on no cluster of their own */
    const struct fr_cluster **on;
    int n, threads;
    int (*of)[2]; /* [n]: scopes of the machine and of the runtime */
    struct fr_apart *apart;
    const double *factors; /* [apart->n] */
    double *log_error;
};

/* ---- whose is a value --------------------------------------------------------------------------- */

/* Does the cluster's file state fact @p key itself?  Its list is "host_launch, fixed". */
static bool own(const struct fr_cluster *cluster, const char *key) {
    size_t length = strlen(key);
    for (const char *at = cluster->software; (at = strstr(at, key)); at += length)
        if ((at == cluster->software || at[-1] == ' ') &&
            (at[length] == '\0' || at[length] == ','))
            return true;
    return false;
}

int fr_apart_fact(int j, const struct fr_cluster *cluster, fr_dtype dtype) {
    for (int i = 0; i < fr_fact_count; i++) {
        const struct fr_fact_row *row = &fr_facts[i];
        if (row->kind != FR_FACT_DEVICE || row->value != fr_coefficients[j].place) continue;
        if (row->dtype != FR_DTYPE_COUNT && row->dtype != dtype) continue;
        return own(cluster, row->key) ? -1 : i;
    }
    return -1;
}

static const char *of_device(const struct fr_device *device) {
    return *device->generation ? device->generation : device->name;
}

static bool is_scope(const struct fr_apart_scope *s, bool software,
                     const struct fr_cluster *cluster) {
    if (s->software != software) return false;
    if (!software) return strcmp(s->name, cluster->name) == 0;
    return strcmp(s->name, cluster->runtime) == 0 &&
           strcmp(s->of, of_device(&cluster->device)) == 0;
}

static int find_scope(struct fr_apart *a, bool software, const struct fr_cluster *cluster) {
    int s = 0;
    while (s < a->n_scopes && !is_scope(&a->scope[s], software, cluster)) s++;
    if (s < a->n_scopes || s == FR_APART_SCOPES) return s;
    struct fr_apart_scope *scope = &a->scope[a->n_scopes++];
    *scope = (struct fr_apart_scope){.software = software, .cluster = cluster};
    snprintf(scope->name, sizeof scope->name, "%s",
             software ? cluster->runtime : cluster->name);
    if (software) snprintf(scope->of, sizeof scope->of, "%s", of_device(&cluster->device));
    return s;
}

/* ---- prediction --------------------------------------------------------------------------------- */

/* Values of scopes @p of into a cluster, as factors of what it has. */
static void move(const struct fr_apart *a, const double *factors, const int of[2],
                 struct fr_cluster *cluster) {
    for (int k = 0; k < a->n; k++) {
        int j = a->value[k].coefficient, s = a->value[k].scope;
        if (s != of[0] && s != of[1]) continue;
        if ((fr_apart_fact(j, cluster, a->dtype) >= 0) != a->scope[s].software) continue;
        double *at = fr_coefficient_at(j, cluster, a->dtype);
        if (!at) continue;
        const struct fr_coefficient *c = &fr_coefficients[j];
        double value = fmax(c->least, *at * factors[k]);
        *at = c->most > 0 && *at <= c->most ? fmin(c->most, value) : value;
    }
}

static void predict_one(void *context, int64_t i) {
    struct problem *p = context;
    struct fr_cluster cluster = *p->on[i];
    move(p->apart, p->factors, p->of[i], &cluster);
    p->log_error[i] = log(fr_run_predict_s(&cluster, &p->runs[i]) / p->runs[i].measured_s);
}

static void predict(struct problem *p, const double *factors) {
    p->factors = factors;
    fr_parallel_for(p->threads, p->n, predict_one, p);
}

static void residuals(void *context, const double *factors, double *out) {
    struct problem *p = context;
    predict(p, factors);
    for (int i = 0; i < p->n; i++) {
        double r = p->log_error[i] / model_error,
               rho = 2 * knee * knee * (sqrt(1 + r * r / (knee * knee)) - 1);
        out[i] = sqrt(p->runs[i].weight) * copysign(sqrt(rho), r);
    }
    for (int k = 0; k < p->apart->n; k++)
        out[p->n + k] = log(factors[k]) / p->apart->value[k].sigma_prior;
}

/* ---- what is fitted ----------------------------------------------------------------------------- */

/* Rows of scope @p s that feel coefficient @p j: 10 % of it move them by more than 0.05 %. */
static int feel(struct problem *p, int s, int j, const double *base) {
    const double tenth = 1.1;
    struct fr_apart *a = p->apart;
    int rows = 0;
    a->value[0] = (struct fr_apart_value){.scope = s, .coefficient = j};
    a->n = 1;
    predict(p, &tenth);
    for (int i = 0; i < p->n; i++) rows += fabs(p->log_error[i] - base[i]) > 0.0005;
    return rows;
}

static fr_status choose(struct problem *p, uint32_t fixed, struct fr_error *err) {
    struct fr_apart *a = p->apart;
    double *base = fr_malloc((size_t)p->n, sizeof *base);
    struct fr_apart_value *found = fr_calloc(FR_APART_VALUES, sizeof *found);
    int n = 0;
    fr_status status =
        base && found ? FR_OK : fr_fail(err, FR_ERR_NOMEM, NULL, "out of memory");
    a->n = 0;
    if (status == FR_OK) {
        predict(p, NULL);
        memcpy(base, p->log_error, (size_t)p->n * sizeof *base);
    }
    for (int s = 0; s < a->n_scopes && status == FR_OK; s++)
        for (int j = 0; j < fr_coefficient_count() && n < FR_APART_VALUES; j++) {
            struct fr_cluster cluster = *a->scope[s].cluster;
            double *at = fr_coefficient_at(j, &cluster, a->dtype);
            bool software = fr_apart_fact(j, &cluster, a->dtype) >= 0;
            if (!at || fixed >> j & 1 || software != a->scope[s].software) continue;
            int rows = feel(p, s, j, base);
            if (rows < fr_coefficients[j].rows_needed) continue;
            double width = fr_coefficients[j].sigma;
            found[n++] = (struct fr_apart_value){s, j, rows, *at, *at, width, width};
        }
    a->n = n;
    if (status == FR_OK) memcpy(a->value, found, (size_t)n * sizeof *found);
    free(base);
    free(found);
    return status;
}

/* (J' W J + S^-2)^-1 at @p factors. */
static fr_status describe(struct problem *p, double *factors, struct fr_error *err) {
    struct fr_apart *a = p->apart;
    size_t n = (size_t)p->n, m = (size_t)a->n;
    double *jacobian = fr_malloc(n * (m + 1), sizeof *jacobian), *base = jacobian + n * m;
    if (!jacobian) return fr_fail(err, FR_ERR_NOMEM, NULL, "out of memory");
    predict(p, factors);
    memcpy(base, p->log_error, n * sizeof *base);
    a->mean_error = 0;
    for (size_t i = 0; i < n; i++) a->mean_error += fabs(exp(base[i]) - 1) / p->n;
    for (size_t k = 0; k < m; k++) {
        double before = factors[k];
        factors[k] *= exp(step);
        predict(p, factors);
        factors[k] = before;
        for (size_t i = 0; i < n; i++) jacobian[k * n + i] = (p->log_error[i] - base[i]) / step;
    }
    gsl_error_handler_t *handler = fr_gsl_errors();
    gsl_matrix *precision = gsl_matrix_calloc(m, m);
    int code = precision ? 0 : GSL_ENOMEM;
    for (size_t x = 0; x < m && !code; x++)
        for (size_t y = 0; y < m; y++) {
            double sum = x == y ? pow(a->value[x].sigma_prior, -2) : 0;
            for (size_t i = 0; i < n; i++)
                sum += p->runs[i].weight / (model_error * model_error) * jacobian[x * n + i] *
                       jacobian[y * n + i];
            gsl_matrix_set(precision, x, y, sum);
        }
    if (!code) code = gsl_linalg_cholesky_decomp1(precision);
    if (!code) code = gsl_linalg_cholesky_invert(precision);
    for (size_t k = 0; k < m && !code; k++)
        a->value[k].sigma = sqrt(gsl_matrix_get(precision, k, k));
    gsl_matrix_free(precision);
    gsl_set_error_handler(handler);
    free(jacobian);
    return code ? fr_fail(err, code == GSL_ENOMEM ? FR_ERR_NOMEM : FR_ERR_NUMERIC, NULL,
                          "how sure the values are cannot be said")
                : FR_OK;
}

static fr_status fit(struct problem *p, uint32_t fixed, struct fr_error *err) {
    struct fr_apart *a = p->apart;
    double factors[FR_APART_VALUES];
    FR_TRY(choose(p, fixed, err));
    if (a->n == 0)
        return fr_fail(err, FR_ERR_INPUT, "--runs", "no value is felt by enough of the %d rows",
                       p->n);
    for (int k = 0; k < a->n; k++) factors[k] = 1;
    FR_TRY(fr_nlfit_within(&limits, residuals, p, (size_t)a->n, (size_t)(p->n + a->n), factors,
                           NULL, err));
    FR_TRY(describe(p, factors, err));
    for (int k = 0; k < a->n; k++) {
        struct fr_apart_value *v = &a->value[k];
        struct fr_cluster cluster = *a->scope[v->scope].cluster;
        move(a, factors, (const int[]){v->scope, v->scope}, &cluster);
        v->value = *fr_coefficients[v->coefficient].at(&cluster, a->dtype);
    }
    return FR_OK;
}

fr_status fr_tune_apart(const struct fr_cluster *cluster, const struct fr_run *const *runs,
                        int n, uint32_t fixed, int threads, struct fr_apart *apart,
                        struct fr_error *err) {
    size_t capacity = (size_t)n + 1;
    struct fr_run *bare = fr_calloc(capacity, sizeof *bare);
    struct problem p = {.runs = bare,
                        .on = fr_calloc(capacity, sizeof *p.on),
                        .threads = threads ? threads : 1,
                        .of = fr_calloc(capacity, sizeof *p.of),
                        .apart = apart,
                        .log_error = fr_calloc(capacity, sizeof *p.log_error)};
    bool fits = true;
    *apart = (struct fr_apart){.dtype = n > 0 ? runs[0]->workload.dtype : FR_FP16};
    fr_status status = bare && p.on && p.of && p.log_error
                           ? FR_OK
                           : fr_fail(err, FR_ERR_NOMEM, NULL, "the fit does not fit in memory");
    for (int i = 0; i < n && status == FR_OK; i++) {
        const struct fr_cluster *on = runs[i]->cluster ? runs[i]->cluster : cluster;
        if (!on || !(runs[i]->weight > 0)) continue;
        struct fr_run run = *runs[i];
        run.cluster = NULL; /* its software is in what it is predicted on */
        if (!isfinite(fr_run_predict_s(on, &run))) continue;
        p.on[p.n] = on;
        for (int software = 0; software < 2; software++) {
            int s = find_scope(apart, software, on);
            fits &= s < FR_APART_SCOPES;
            p.of[p.n][software] = s;
            if (s < FR_APART_SCOPES) apart->scope[s].rows++;
        }
        bare[p.n++] = run;
    }
    apart->rows = p.n;
    if (status == FR_OK && p.n == 0)
        status = fr_fail(err, FR_ERR_INPUT, NULL,
                         "none of the %d runs can be predicted on its cluster", n);
    if (status == FR_OK && !fits)
        status = fr_fail(err, FR_ERR_INPUT, "--runs",
                         "the rows are of more than %d machines and runtimes; ask for some "
                         "(--where)",
                         FR_APART_SCOPES);
    if (status == FR_OK) status = fit(&p, fixed, err);
    free(bare);
    free(p.on);
    free(p.of);
    free(p.log_error);
    return status;
}

void fr_apart_apply(const struct fr_apart *a, struct fr_cluster *cluster) {
    double factors[FR_APART_VALUES];
    int of[2] = {-1, -1};
    for (int k = 0; k < a->n; k++) factors[k] = a->value[k].value / a->value[k].prior;
    for (int s = 0; s < a->n_scopes; s++)
        if (is_scope(&a->scope[s], a->scope[s].software, cluster)) of[a->scope[s].software] = s;
    move(a, factors, of, cluster);
}
