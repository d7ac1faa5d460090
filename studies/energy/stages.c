/* Perseus' stages: the forward and the backward pass of a stage at 38 to 60 clocks of its device.  Given are some
 * clocks of each, evenly spread from the lowest to the highest; the rest is predicted.  Many stages of the file are
 * copies of each other (equal layers, measured once): a copy is predicted as one stage, and never from its duplicate.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/sort.h"
#include "calibrate/energy/clock_fit.h"
#include "calibrate/energy/line.h"
#include "studies/energy/parts.h"

static const char *const file = "energy/perseus_stage_profile_freq.csv";

enum { SERIES_MAX = 512, POINTS_MAX = 128, GIVEN_MAX = 8 };

struct measured {
    const char *profile, *stage, *instruction;
    struct fr_clock_point points[POINTS_MAX];
    int n;
};

struct stages {
    struct measured *series;
    int count;
};

static struct measured *series_of(struct stages *s, const struct fr_csv *csv, int row) {
    struct measured key = {.profile = fr_energy_text(csv, row, "profile"),
                           .stage = fr_energy_text(csv, row, "stage"),
                           .instruction = fr_energy_text(csv, row, "instruction")};
    for (int i = 0; i < s->count; i++)
        if (strcmp(s->series[i].profile, key.profile) == 0 &&
            strcmp(s->series[i].stage, key.stage) == 0 &&
            strcmp(s->series[i].instruction, key.instruction) == 0)
            return &s->series[i];
    if (s->count == SERIES_MAX) return NULL;
    s->series[s->count] = key;
    return &s->series[s->count++];
}

static int by_clock(const void *a, const void *b) {
    const struct fr_clock_point *x = a, *y = b;
    return FR_ORDER(x->clock_Hz, y->clock_Hz);
}

static bool same(const struct measured *a, const struct measured *b) {
    return a->n == b->n && strcmp(a->instruction, b->instruction) == 0 &&
           strcmp(a->profile, b->profile) == 0 &&
           memcmp(a->points, b->points, (size_t)a->n * sizeof *a->points) == 0;
}

/* Sorted by clock, copies and series of few clocks dropped. */
static void tidy(struct stages *s) {
    int kept = 0;
    for (int i = 0; i < s->count; i++) {
        struct measured *m = &s->series[i];
        bool copy = m->n <= GIVEN_MAX;
        fr_sort_items(m->points, (size_t)m->n, sizeof *m->points, by_clock);
        for (int k = 0; k < kept && !copy; k++) copy = same(&s->series[k], m);
        if (!copy) s->series[kept++] = *m;
    }
    s->count = kept;
}

static void collect(const struct fr_csv *csv, struct stages *s) {
    for (int row = 0; row < csv->n_rows; row++) {
        struct measured *m = series_of(s, csv, row);
        struct fr_clock_point p = {1e6 * fr_energy_number(csv, row, "freq_mhz"),
                                   fr_energy_number(csv, row, "measured_time_s"),
                                   fr_energy_number(csv, row, "measured_energy_J")};
        if (m && m->n < POINTS_MAX && p.clock_Hz > 0 && p.time_s > 0 && p.energy_J > 0)
            m->points[m->n++] = p;
    }
    tidy(s);
}

/* ---- clocks from a few others --------------------------------------------------------------- */

/* Index of the @p k-th of @p given clocks among n, ends included. */
static int given_at(int k, int given, int n) {
    return (int)lround((double)k * (n - 1) / (given - 1));
}

static bool is_given(int i, int given, int n) {
    for (int k = 0; k < given; k++)
        if (given_at(k, given, n) == i) return true;
    return false;
}

struct tables {
    struct fr_energy_rows time, energy;
};

static void add_rest(struct tables *t, const struct measured *m, int given,
                     const struct fr_clock_fitted *f, const struct fr_clock_scatter *scatter) {
    for (int i = 0; i < m->n; i++) {
        const struct fr_clock_point *p = &m->points[i];
        struct fr_energy_row row = {.measured = p->time_s,
                                    .predicted = fr_clock_fitted_time_s(f, p->clock_Hz),
                                    .sigma = scatter->time};
        if (is_given(i, given, m->n)) continue;
        snprintf(row.group, sizeof row.group, "%.30s/%.8s/%.12s", m->profile, m->stage,
                 m->instruction);
        snprintf(row.id, sizeof row.id, "%.50s/%.0fMHz", row.group, p->clock_Hz / 1e6);
        fr_energy_rows_add(&t->time, &row);
        row.measured = p->energy_J;
        row.predicted = fr_clock_fitted_energy_J(f, p->clock_Hz);
        row.sigma = scatter->energy;
        fr_energy_rows_add(&t->energy, &row);
    }
}

struct scratch {
    struct fr_clock_point points[SERIES_MAX][GIVEN_MAX];
    struct fr_clock_series series[SERIES_MAX];
    struct fr_clock_fitted fitted[SERIES_MAX];
};

/* All stages of a profile ran on one device: its voltage is fitted to what is given of them. */
static fr_status predict_profile(struct tables *t, const struct measured *first, int n,
                                 int given, struct scratch *scratch, struct fr_error *err) {
    struct fr_clock_scatter scatter;
    for (int i = 0; i < n; i++) {
        for (int k = 0; k < given; k++)
            scratch->points[i][k] = first[i].points[given_at(k, given, first[i].n)];
        scratch->series[i] = (struct fr_clock_series){scratch->points[i], given};
    }
    FR_TRY(fr_clock_fit(scratch->series, n, scratch->fitted, &scatter, err));
    for (int i = 0; i < n; i++) add_rest(t, &first[i], given, &scratch->fitted[i], &scatter);
    return FR_OK;
}

struct profile_fn {
    fr_status (*run)(struct tables *, const struct measured *, int, int, struct scratch *,
                     struct fr_error *);
    int given;
};

static fr_status each_profile(const struct stages *s, const struct profile_fn *fn,
                              struct tables *t, struct scratch *scratch, struct fr_error *err) {
    for (int i = 0, n; i < s->count; i += n) {
        for (n = 1; i + n < s->count; n++)
            if (strcmp(s->series[i].profile, s->series[i + n].profile) != 0) break;
        FR_TRY(fn->run(t, &s->series[i], n, fn->given, scratch, err));
    }
    return FR_OK;
}

/* ---- stages from the others ----------------------------------------------------------------- */

/* Time and energy at @p clock_Hz over those at the highest clock, in the mean of the other stages'
 * same pass. */
static int others_ratio(const struct measured *first, int n, int but, double clock_Hz,
                        double ratio[2]) {
    int found = 0;
    ratio[0] = ratio[1] = 0;
    for (int i = 0; i < n; i++) {
        const struct measured *m = &first[i];
        const struct fr_clock_point *top = &m->points[m->n - 1];
        if (i == but || strcmp(m->instruction, first[but].instruction) != 0) continue;
        for (int k = 0; k < m->n; k++) {
            if (m->points[k].clock_Hz != clock_Hz) continue;
            ratio[0] += m->points[k].time_s / top->time_s;
            ratio[1] += m->points[k].energy_J / top->energy_J;
            found++;
        }
    }
    for (int k = 0; k < 2 && found; k++) ratio[k] /= found;
    return found;
}

static fr_status predict_stages(struct tables *t, const struct measured *first, int n,
                                int given, struct scratch *scratch, struct fr_error *err) {
    (void)given, (void)scratch, (void)err;
    for (int i = 0; i < n; i++)
        for (int k = 0; k + 1 < first[i].n; k++) {
            const struct fr_clock_point *p = &first[i].points[k],
                                        *top = &first[i].points[first[i].n - 1];
            struct fr_energy_row row = {.sigma = NAN};
            double ratio[2];
            if (!others_ratio(first, n, i, p->clock_Hz, ratio)) continue;
            snprintf(row.group, sizeof row.group, "%.30s/%.8s/%.12s", first[i].profile,
                     first[i].stage, first[i].instruction);
            snprintf(row.id, sizeof row.id, "%.50s/%.0fMHz", row.group, p->clock_Hz / 1e6);
            row.measured = p->energy_J;
            row.predicted = ratio[1] * top->energy_J;
            fr_energy_rows_add(&t->energy, &row);
            row.measured = p->time_s;
            row.predicted = ratio[0] * top->time_s;
            fr_energy_rows_add(&t->time, &row);
        }
    return FR_OK;
}

/* ---- a device -------------------------------------------------------------------------------- */

/* The series of the first profile whose name says @p device. */
static int series_on(const struct stages *s, const char *device,
                     struct fr_clock_series *series) {
    const char *profile = NULL;
    int n = 0;
    for (int i = 0; i < s->count; i++) {
        const struct measured *m = &s->series[i];
        if (!strstr(m->profile, device) || m->n > FR_LINE_POINTS_MAX) continue;
        if (!profile) profile = m->profile;
        if (strcmp(m->profile, profile) != 0) continue;
        series[n++] = (struct fr_clock_series){m->points, m->n};
    }
    return n;
}

/* From all clocks; sums are over the passes, each as it ran at the highest. */
static fr_status device_of(const struct stages *s, const char *device, struct scratch *scratch,
                           struct fr_stage_device *out, struct fr_error *err) {
    double energy_J = 0, time_s = 0, fixed_s = 0, fitted_s = 0;
    int n = series_on(s, device, scratch->series);
    if (n == 0)
        return fr_fail(err, FR_ERR_IO, file, "no stage measured on a device called %s", device);
    FR_TRY(fr_clock_fit(scratch->series, n, scratch->fitted, NULL, err));
    for (int i = 0; i < n; i++) {
        const struct fr_clock_point *top = &scratch->series[i].points[scratch->series[i].n - 1];
        energy_J += top->energy_J;
        time_s += top->time_s;
        fixed_s += scratch->fitted[i].time.fixed_s;
        fitted_s += fr_clock_fitted_time_s(&scratch->fitted[i], top->clock_Hz);
    }
    *out = (struct fr_stage_device){scratch->fitted[0].power.voltage, energy_J / time_s,
                                    fixed_s / fitted_s};
    return FR_OK;
}

/* ---- the tables ----------------------------------------------------------------------------- */

static const struct fr_table_limits energy_limits = {.mean = 0.02, FR_TABLE_COVERED},
                                    time_limits = {.mean = 0.013, FR_TABLE_COVERED},
                                    stated = {FR_TABLE_COVERED};

static const struct {
    const char *energy, *time, *procedure;
    struct profile_fn fn;
    const struct fr_table_limits *energy_limits, *time_limits;
} plans[] = {
    {"stage_clocks_energy",
     "stage_clocks_time",
     "five clocks of each stage's pass given, evenly spread; all others predicted",
     {predict_profile, 5},
     &energy_limits,
     &time_limits},
    {"stage_clocks_of_four_energy",
     "stage_clocks_of_four_time",
     "four clocks of each stage's pass given, evenly spread; all others predicted",
     {predict_profile, 4},
     &stated,
     &stated},
    {"stage_others_energy",
     "stage_others_time",
     "given at the highest clock; elsewhere from the other stages of the same pass and device",
     {predict_stages, 0},
     &energy_limits,
     &time_limits}};

static fr_status add_tables(struct fr_reproduction *r, const struct stages *s,
                            struct scratch *scratch, struct fr_error *err) {
    for (size_t i = 0; i < sizeof plans / sizeof *plans; i++) {
        struct tables t = {.time = {0}};
        fr_status status = each_profile(s, &plans[i].fn, &t, scratch, err);
        if (status == FR_OK)
            status = fr_energy_rows_table(r, &t.energy, plans[i].energy, plans[i].procedure,
                                          "J", plans[i].energy_limits, err);
        if (status == FR_OK)
            status = fr_energy_rows_table(r, &t.time, plans[i].time, plans[i].procedure, "s",
                                          plans[i].time_limits, err);
        free(t.time.items);
        free(t.energy.items);
        FR_TRY(status);
    }
    return FR_OK;
}

typedef fr_status with_stages(void *context, const struct stages *s, struct scratch *scratch,
                              struct fr_error *err);

static fr_status read_stages(with_stages *use, void *context, struct fr_error *err) {
    struct fr_csv csv = {.text = NULL};
    struct stages s = {fr_calloc(SERIES_MAX, sizeof *s.series), 0};
    struct scratch *scratch = fr_calloc(1, sizeof *scratch);
    fr_status status = s.series && scratch
                           ? fr_energy_csv(file, &csv, err)
                           : fr_fail(err, FR_ERR_NOMEM, NULL, "the rows do not fit in memory");
    if (status == FR_OK) {
        collect(&csv, &s);
        status = use(context, &s, scratch, err);
    }
    fr_csv_free(&csv);
    free(s.series);
    free(scratch);
    return status;
}

static fr_status all_tables(void *context, const struct stages *s, struct scratch *scratch,
                            struct fr_error *err) {
    return add_tables(context, s, scratch, err);
}

fr_status fr_energy_stages(struct fr_reproduction *r, struct fr_error *err) {
    return read_stages(all_tables, r, err);
}

struct asked {
    const char *device;
    struct fr_stage_device *out;
};

static fr_status one_device(void *context, const struct stages *s, struct scratch *scratch,
                            struct fr_error *err) {
    const struct asked *asked = context;
    return device_of(s, asked->device, scratch, asked->out, err);
}

fr_status fr_energy_stage_device(const char *device, struct fr_stage_device *out,
                                 struct fr_error *err) {
    struct asked asked = {device, out};
    return read_stages(one_device, &asked, err);
}
