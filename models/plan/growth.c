#include "models/plan/growth.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "models/plan/method.h"

enum { SIZE = FR_GROWTH_TERMS + 1 };

/* Normal quantile of 95 %: what Student's is held against. */
static const double normal_95 = 1.6448536269514722;

double fr_growth_half(double deviation) { return exp(normal_95 * deviation); }

const char *const fr_growth_terms[] = {"ghost", "tp", "rank", "share", "width", "depth", NULL};
static const char *const keys[] = {"of",         "terms",     "ratio",    "centre", "powers",
                                   "covariance", "deviation", "quantile", "points", NULL};
static const char *const kinds[] = {"ghost", "backward", "gradient", NULL};
static const fr_law_along along_of[] = {FR_LAW_GHOST, FR_LAW_BACKWARD, FR_LAW_GRADIENT};

/* ---- files ------------------------------------------------------------------------------------- */

/* @p n numbers of @p key. */
static fr_status numbers(const struct fr_json *node, const char *key, int n, double *out,
                         struct fr_error *err) {
    struct fr_json list = fr_json_member(node, key);
    FR_TRY(fr_json_array(&list, n, n, err));
    for (int i = 0; i < n; i++) {
        struct fr_json one = fr_json_element(&list, i);
        FR_TRY(fr_json_number(&one, -1e6, 1e6, &out[i], err));
    }
    return FR_OK;
}

/* Which term each column of the file is of; each at most once. */
static fr_status terms_read(const struct fr_json *node, int *term, int *n,
                            struct fr_error *err) {
    struct fr_json list = fr_json_member(node, "terms");
    bool seen[FR_GROWTH_TERMS] = {false};
    FR_TRY(fr_json_array(&list, 0, FR_GROWTH_TERMS, err));
    *n = (int)fr_json_array_length(&list);
    for (int i = 0; i < *n; i++) {
        struct fr_json one = fr_json_element(&list, i);
        const char *word = "";
        int t = 0;
        FR_TRY(fr_json_text(&one, &word, err));
        while (fr_growth_terms[t] && strcmp(fr_growth_terms[t], word) != 0) t++;
        if (!fr_growth_terms[t] || seen[t])
            return fr_json_fail(
                &one, err,
                "\"%s\" is no term, or stands twice; terms are ghost, tp, rank, "
                "share, width and depth",
                word);
        seen[t] = true;
        term[i] = t;
    }
    return FR_OK;
}

/* No direction has a variance below 0: diagonals say so of themselves, and each pair of its product. */
static bool is_covariance(const struct fr_growth *law) {
    for (int i = 0; i < SIZE; i++)
        for (int j = 0; j < SIZE; j++) {
            double a = law->covariance[i][j],
                   most = law->covariance[i][i] * law->covariance[j][j];
            if (law->covariance[i][i] < 0 || a * a > most * (1 + 1e-6) + 1e-30 ||
                fabs(a - law->covariance[j][i]) > 1e-9 + 1e-6 * fabs(a))
                return false;
        }
    return true;
}

static fr_status covariance_read(const struct fr_json *node, const int *term, int n,
                                 struct fr_growth *law, struct fr_error *err) {
    struct fr_json rows = fr_json_member(node, "covariance");
    FR_TRY(fr_json_array(&rows, n + 1, n + 1, err));
    for (int i = 0; i <= n; i++) {
        struct fr_json row = fr_json_element(&rows, i);
        FR_TRY(fr_json_array(&row, n + 1, n + 1, err));
        for (int j = 0; j <= n; j++) {
            struct fr_json one = fr_json_element(&row, j);
            FR_TRY(fr_json_number(
                &one, -1e6, 1e6,
                &law->covariance[i ? 1 + term[i - 1] : 0][j ? 1 + term[j - 1] : 0], err));
        }
    }
    return is_covariance(law) ? FR_OK : fr_json_fail(&rows, err, "is no covariance");
}

fr_status fr_growth_read(const struct fr_json *node, struct fr_growth *law,
                         struct fr_error *err) {
    int kind = 0, term[FR_GROWTH_TERMS], n = 0;
    double ratio = 1, centre[FR_GROWTH_TERMS], power[FR_GROWTH_TERMS];
    *law = (struct fr_growth){.quantile = normal_95};
    FR_TRY(fr_json_object(node, keys, err));
    FR_TRY(fr_json_get_choice(node, "of", true, kinds, &kind, err));
    law->of = along_of[kind];
    FR_TRY(terms_read(node, term, &n, err));
    FR_TRY(fr_json_get_number(node, "ratio", true, 1e-6, 1e6, &ratio, err));
    FR_TRY(numbers(node, "centre", n, centre, err));
    FR_TRY(numbers(node, "powers", n, power, err));
    FR_TRY(covariance_read(node, term, n, law, err));
    FR_TRY(fr_json_get_number(node, "deviation", true, 0, 100, &law->deviation, err));
    FR_TRY(fr_json_get_number(node, "quantile", false, 1, 100, &law->quantile, err));
    law->intercept = log(ratio);
    for (int i = 0; i < n; i++) {
        law->uses[term[i]] = true;
        law->centre[term[i]] = centre[i];
        law->power[term[i]] = power[i];
    }
    return FR_OK;
}

static void put_list(struct fr_json_writer *w, const struct fr_growth *law, const char *key,
                     const double *values) {
    fr_json_add_array(w, key);
    for (int t = 0; t < FR_GROWTH_TERMS; t++)
        if (law->uses[t]) fr_json_put_number(w, values[t]);
    fr_json_end_array(w);
}

void fr_growth_write(struct fr_json_writer *w, const struct fr_growth *law) {
    int kind = 0;
    while (along_of[kind] != law->of) kind++;
    fr_json_add_string(w, "of", kinds[kind]);
    fr_json_add_array(w, "terms");
    for (int t = 0; t < FR_GROWTH_TERMS; t++)
        if (law->uses[t]) fr_json_put_string(w, fr_growth_terms[t]);
    fr_json_end_array(w);
    fr_json_add_number(w, "ratio", exp(law->intercept));
    put_list(w, law, "centre", law->centre);
    put_list(w, law, "powers", law->power);
    fr_json_add_array(w, "covariance");
    for (int i = 0; i < SIZE; i++) {
        if (i > 0 && !law->uses[i - 1]) continue;
        fr_json_begin_array(w);
        for (int j = 0; j < SIZE; j++)
            if (j == 0 || law->uses[j - 1]) fr_json_put_number(w, law->covariance[i][j]);
        fr_json_end_array(w);
    }
    fr_json_end_array(w);
    fr_json_add_number(w, "deviation", law->deviation);
    fr_json_add_number(w, "quantile", law->quantile);
}

/* ---- values ------------------------------------------------------------------------------------ */

double fr_growth_ratio(const struct fr_growth *law, const double *x, double *deviation) {
    double z[SIZE] = {1}, mean = law->intercept, variance = law->deviation * law->deviation;
    for (int t = 0; t < FR_GROWTH_TERMS; t++) {
        if (!law->uses[t]) continue;
        z[1 + t] = log(x[t]) - law->centre[t];
        mean += law->power[t] * z[1 + t];
    }
    for (int i = 0; i < SIZE; i++)
        for (int j = 0; j < SIZE; j++) variance += z[i] * law->covariance[i][j] * z[j];
    *deviation = sqrt(fmax(0, variance)) * law->quantile / normal_95;
    return mean;
}

/* Add the law of @p of; false where there is none.  Compression is not taken to speed learning up: at high ranks a
 * power law falls below 1, and 1 stands there.  A network with ghost neurons is another one, and may learn faster. */
static bool add(const struct fr_workload *w, fr_law_along of, const double *x, double *mean,
                double *variance) {
    for (int i = 0; i < w->n_growth; i++) {
        double deviation;
        if (w->growth[i].of != of) continue;
        const double own = fr_growth_ratio(&w->growth[i], x, &deviation);
        *mean += of == FR_LAW_GHOST ? own : fmax(0, own);
        *variance += deviation * deviation;
        return true;
    }
    return false;
}

/* Geometric mean of several ranks: the law is of their logarithm. */
static double mean_rank(const struct fr_plan *plan) {
    double sum = 0;
    int n = 0;
    for (int i = 0; plan->gradient_ranks && i < plan->n_gradient_ranks; i++)
        if (plan->gradient_ranks[i] > 0) sum += log((double)plan->gradient_ranks[i]), n++;
    return n ? exp(sum / n) : (double)plan->compression.gradient_rank;
}

double fr_growth_of(const struct fr_workload *w, const struct fr_plan *plan, double backward,
                    double gradient, double *deviation) {
    const struct fr_plan_compression *c = &plan->compression;
    double x[FR_GROWTH_TERMS] = {[FR_GROWTH_GHOST] = (double)plan->ghost,
                                 [FR_GROWTH_TP] = (double)plan->tp,
                                 [FR_GROWTH_WIDTH] = (double)fr_workload_width(w),
                                 [FR_GROWTH_DEPTH] = (double)fr_workload_depth(w)};
    double mean = 0, variance = 0;
    bool known = true;
    if (!plan->method->exact)
        known = plan->ghost > 0 && add(w, FR_LAW_GHOST, x, &mean, &variance);
    if (known && backward > 0) {
        x[FR_GROWTH_RANK] = (double)c->backward_rank;
        x[FR_GROWTH_SHARE] = backward;
        known = add(w, FR_LAW_BACKWARD, x, &mean, &variance);
    }
    if (known && gradient > 0) {
        x[FR_GROWTH_RANK] = mean_rank(plan);
        x[FR_GROWTH_SHARE] = gradient;
        known = add(w, FR_LAW_GRADIENT, x, &mean, &variance);
    }
    *deviation = known ? sqrt(variance) : NAN;
    return known ? exp(mean) : NAN;
}
