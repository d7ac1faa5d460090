/* Measured times over a full grid of m, n, k, interpolated linearly in the logarithms of shape and time.  Outside the
 * grid the rate of the nearest point inside holds and the result is marked.  Products with operands from memory, or
 * with a transposed operand, may have times beside them on coarser grids.  These are stored as ratios to the table,
 * which change little from shape to shape. */
#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "models/device/device.h"

enum { AXIS_MAX = 64 };

static fr_status read_axis(const struct fr_json *table, const char *key, double **log_out,
                           int *count, struct fr_error *err) {
    struct fr_json axis = fr_json_member(table, key);
    double last = 0;
    FR_TRY(fr_json_array(&axis, 1, AXIS_MAX, err));
    *count = (int)fr_json_array_length(&axis);
    *log_out = fr_calloc((size_t)*count, sizeof **log_out);
    if (!*log_out) return fr_json_fail(&axis, err, "does not fit in memory");
    for (int i = 0; i < *count; i++) {
        struct fr_json node = fr_json_element(&axis, i);
        int64_t size = 0;
        FR_TRY(fr_json_integer(&node, 1, (int64_t)1 << 40, &size, err));
        if ((double)size <= last)
            return fr_json_fail(&node, err, "must be larger than the one before");
        last = (double)size;
        (*log_out)[i] = log(last);
    }
    return FR_OK;
}

static const char *const keys[] = {"table",        "from_memory", "adds", "transposed",
                                   "nominal_peak", "residuals",   NULL};
static const char *const transposed_keys[] = {"a", "b", NULL};
static const char *const table_keys[] = {"m", "n", "k", "unit", "time", NULL};
static const char *const units[] = {"s", "ms", "us", "ns", NULL};
static const double unit_s[] = {1, 1e-3, 1e-6, 1e-9};

static fr_status read_times(const struct fr_json *table, struct fr_gemm_table *t,
                            struct fr_error *err) {
    struct fr_json time = fr_json_member(table, "time");
    int unit = 0;
    FR_TRY(fr_json_object(table, table_keys, err));
    FR_TRY(read_axis(table, "m", &t->log_m, &t->n_m, err));
    FR_TRY(read_axis(table, "n", &t->log_n, &t->n_n, err));
    FR_TRY(read_axis(table, "k", &t->log_k, &t->n_k, err));
    FR_TRY(fr_json_get_choice(table, "unit", true, units, &unit, err));
    int64_t count = (int64_t)t->n_m * t->n_n * t->n_k;
    FR_TRY(fr_json_array(&time, count, count, err));
    t->log_time = fr_calloc((size_t)count, sizeof *t->log_time);
    if (!t->log_time) return fr_json_fail(&time, err, "does not fit in memory");
    for (int64_t i = 0; i < count; i++) {
        struct fr_json node = fr_json_element(&time, i);
        double value = 0;
        FR_TRY(fr_json_number(&node, 1e-12, 1e15, &value, err));
        t->log_time[i] = log(value * unit_s[unit]);
    }
    return FR_OK;
}

/* Logarithms of the sizes of entry i. */
struct entry {
    double m, n, k;
};

static struct entry entry_of(const struct fr_gemm_table *t, int64_t i) {
    return (struct entry){t->log_m[i / (t->n_n * t->n_k)], t->log_n[i / t->n_k % t->n_n],
                          t->log_k[i % t->n_k]};
}

/* The peak of a table is the best rate in it; attention kernels reach a share of it. */
static double peak_of(const struct fr_gemm_table *t) {
    double log_peak = -HUGE_VAL;
    for (int64_t i = 0; i < (int64_t)t->n_m * t->n_n * t->n_k; i++) {
        struct entry e = entry_of(t, i);
        log_peak = fmax(log_peak, log(2) + e.m + e.n + e.k - t->log_time[i]);
    }
    return exp(log_peak);
}

/* Where x lies on an axis: the cell's lower index, the share of the way to the next point, and
 * by how much (in logarithms) it lies outside. */
struct place {
    int i, step;
    double share, beyond;
};

static struct place locate(const double *axis, int count, double x) {
    struct place p = {0};
    if (x <= axis[0]) {
        p.beyond = x - axis[0];
        return p;
    }
    if (x >= axis[count - 1]) {
        p.i = count - 1;
        p.beyond = x - axis[count - 1];
        return p;
    }
    int low = 0, high = count - 1;
    while (high - low > 1) {
        int middle = (low + high) / 2;
        if (axis[middle] <= x)
            low = middle;
        else
            high = middle;
    }
    p.i = low;
    p.step = 1;
    p.share = (x - axis[low]) / (axis[low + 1] - axis[low]);
    return p;
}

static double mix(double a, double b, double share) { return a + share * (b - a); }

/* Logarithm of the time of a shape, given by its logarithms, from the nearest points inside, and whether the shape
 * lies inside. */
static double interpolate(const struct fr_gemm_table *t, const struct entry *at,
                          struct place place[3]) {
    struct place m = locate(t->log_m, t->n_m, at->m), n = locate(t->log_n, t->n_n, at->n),
                 k = locate(t->log_k, t->n_k, at->k);
    const double *from = t->log_time + ((int64_t)m.i * t->n_n + n.i) * t->n_k + k.i;
    int64_t dm = (int64_t)m.step * t->n_n * t->n_k, dn = (int64_t)n.step * t->n_k, dk = k.step;
    double near_m =
        mix(mix(from[0], from[dk], k.share), mix(from[dn], from[dn + dk], k.share), n.share);
    double far_m = mix(mix(from[dm], from[dm + dk], k.share),
                       mix(from[dm + dn], from[dm + dn + dk], k.share), n.share);
    place[0] = m;
    place[1] = n;
    place[2] = k;
    return mix(near_m, far_m, m.share);
}

static double time_s(const struct fr_gemm_model *model, const struct fr_gemm_shape *shape,
                     bool *extrapolated) {
    if (shape->m <= 0 || shape->n <= 0 || shape->k <= 0) return 0;
    const struct entry at = {log(shape->m), log(shape->n), log(shape->k)};
    struct place p[3];
    double slack = 1e-9, log_s = interpolate(&model->table, &at, p);
    /* Above the grid time grows with the work; below it a call costs what the smallest does. */
    double beyond = fmax(p[0].beyond, 0) + fmax(p[1].beyond, 0) + fmax(p[2].beyond, 0);
    for (int i = 0; i < 3; i++)
        if (fabs(p[i].beyond) > slack) *extrapolated = true;
    return exp(log_s + beyond * (1 + model->shift * model->beyond_octave / log(2)));
}

static struct fr_gemm_shape edge(const struct fr_gemm_model *model,
                                 const struct fr_gemm_shape *shape) {
    const struct fr_gemm_table *t = &model->table;
    return (struct fr_gemm_shape){.m = fmin(shape->m, exp(t->log_m[t->n_m - 1])),
                                  .n = fmin(shape->n, exp(t->log_n[t->n_n - 1])),
                                  .k = fmin(shape->k, exp(t->log_k[t->n_k - 1])),
                                  .batch = shape->batch};
}

static double log_ratio(const struct fr_gemm_ratio *ratio, const struct fr_gemm_shape *shape) {
    const struct entry at = {log(shape->m), log(shape->n), log(shape->k)};
    struct place ignored[3];
    return interpolate(&ratio->log_ratio, &at, ignored);
}

static double log_transposed(const struct fr_gemm_model *model,
                             const struct fr_gemm_shape *shape, fr_transposed transposed) {
    return log_ratio(&model->transposed[transposed], shape);
}

static double log_from_memory(const struct fr_gemm_model *model,
                              const struct fr_gemm_shape *shape) {
    return log_ratio(&model->memory, shape);
}

static double log_adds(const struct fr_gemm_model *model, const struct fr_gemm_shape *shape) {
    return log_ratio(&model->adds, shape);
}

/* Read times of another kind as a ratio to the table and @p over, where @p node is there.
 * @param least  that it can be */
static fr_status read_ratio(const struct fr_json *node, const struct fr_gemm_model *model,
                            const struct fr_gemm_ratio *over, double least,
                            struct fr_gemm_ratio *ratio, struct fr_error *err) {
    struct fr_gemm_table *t = &ratio->log_ratio;
    if (!fr_json_present(node)) return FR_OK;
    FR_TRY(read_times(node, t, err));
    for (int64_t i = 0; i < (int64_t)t->n_m * t->n_n * t->n_k; i++) {
        struct entry e = entry_of(t, i);
        const struct fr_gemm_shape shape = {exp(e.m), exp(e.n), exp(e.k), 1, 0};
        bool outside = false;
        double log_s = log(time_s(model, &shape, &outside));
        if (over->present) log_s += log_ratio(over, &shape);
        t->log_time[i] = fmax(least, t->log_time[i] - log_s);
    }
    ratio->present = true;
    return FR_OK;
}

static const struct fr_gemm_ratio none;

static fr_status read_transposed(const struct fr_json *object, struct fr_gemm_model *model,
                                 struct fr_error *err) {
    struct fr_json both = fr_json_member(object, "transposed");
    if (!fr_json_present(&both)) return FR_OK;
    FR_TRY(fr_json_object(&both, transposed_keys, err));
    for (int t = FR_TRANSPOSED_A; t <= FR_TRANSPOSED_B; t++) {
        struct fr_json node = fr_json_member(&both, fr_transposed_names[t]);
        FR_TRY(read_ratio(&node, model, &none, -HUGE_VAL, &model->transposed[t], err));
    }
    return FR_OK;
}

static fr_status read(const struct fr_json *object, struct fr_gemm_model *model,
                      struct fr_error *err) {
    struct fr_json table = fr_json_member(object, "table"),
                   memory = fr_json_member(object, "from_memory"),
                   adds = fr_json_member(object, "adds");
    FR_TRY(fr_json_object(object, keys, err));
    FR_TRY(read_times(&table, &model->table, err));
    model->peak_flop_per_s = peak_of(&model->table);
    /* Nothing is faster from memory. */
    FR_TRY(read_ratio(&memory, model, &none, 0, &model->memory, err));
    FR_TRY(read_transposed(object, model, err));
    return read_ratio(&adds, model, &model->transposed[FR_TRANSPOSED_B], -HUGE_VAL,
                      &model->adds, err);
}

const struct fr_gemm_form fr_gemm_table = {
    .name = "table",
    .equation = "log t interpolated linearly in log m, log n, log k",
    .source = "measured by forerun calibrate",
    .key = "table",
    .read = read,
    .time_s = time_s,
    .edge = edge,
    .log_transposed = log_transposed,
    .log_from_memory = log_from_memory,
    .log_adds = log_adds,
};
