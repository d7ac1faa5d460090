#include "trust/effects/rejected.h"

#include <gsl/gsl_cdf.h>

#include "trust/effects/groups.h"

static const double surely = 0.975, of_experts = 4;

struct errors {
    const struct fr_run *const *runs;
    int n;
    const double *log_error;
    double scale;
};

/* Mean error of the runs of run @p i's kind; @return false where an earlier run is of it. */
static bool kind_error(const struct errors *p, int i, double *mean) {
    int n = 0;
    *mean = 0;
    for (int k = 0; k < p->n; k++) {
        if (!fr_run_one_kind(p->runs[k], p->runs[i])) continue;
        if (k < i) return false;
        *mean += p->log_error[k];
        n++;
    }
    *mean /= n;
    return true;
}

/* Squares of errors over the model error: of models in the mean, and of their kinds about that. */
struct says {
    double of_models, of_kinds;
    int models, kinds;
};

/* Add the kinds of run @p i's model, unless an earlier run is of it.  They are n with covariance I + 1 1', so n times
 * their mean squared has variance 1 + n, and n - 1 degrees remain about it. */
static void model_says(const struct errors *p, int i, struct says *sum) {
    double squares = 0, all = 0, mean = 0;
    int n = 0;
    for (int k = 0; k < i; k++)
        if (fr_run_one_model(p->runs[k], p->runs[i])) return;
    for (int k = i; k < p->n; k++) {
        if (!fr_run_one_model(p->runs[k], p->runs[i]) || !kind_error(p, k, &mean)) continue;
        mean /= p->scale * (p->runs[k]->workload.transformer.experts > 1 ? of_experts : 1);
        squares += mean * mean;
        all += mean;
        n++;
    }
    sum->of_models += all * all / n / (1 + n);
    sum->of_kinds += squares - all * all / n;
    sum->models++;
    sum->kinds += n - 1;
}

bool fr_runs_reject(const struct fr_run *const *runs, int n, const double *log_error,
                    double scale) {
    const struct errors p = {runs, n, log_error, scale};
    struct says sum = {0};
    for (int i = 0; i < n; i++) model_says(&p, i, &sum);
    return sum.of_models > gsl_cdf_chisq_Pinv(surely, sum.models) ||
           (sum.kinds > 0 && sum.of_kinds > gsl_cdf_chisq_Pinv(surely, sum.kinds));
}
