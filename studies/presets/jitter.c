/* jitter, how far steps of one run are apart, as MLPerf's pre-training logs have it: of each run that logs every step,
 *
 *      (p95 - p05) / (2 x 1.645 sqrt(N T))        jitter, models/device/jitter.h
 *      (p95 - p05) / (2 x 1.645 T)                jitter_share, of a device whose runs are alike at any scale
 *
 * and of a device the geometric mean of its runs.  No step's own time hangs on it, so that runs are predicted as blind as
 * before.  How far it carries to another release: each round left out, its runs' from the others' (/rounds, the median
 * factor). */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "models/device/jitter.h"
#include "studies/presets/rows.h"
#include "studies/training/table.h"
#include "trust/numbers/statistics.h"

enum { RUNS_MAX = 64 };

struct steps {
    int n;
    const char *round[RUNS_MAX];
    double jitter_s[RUNS_MAX]; /* or its share */
};

static void read(const struct fr_csv *csv, const char *device, bool share, struct steps *out) {
    out->n = 0;
    for (int i = 0; i < csv->n_rows && out->n < RUNS_MAX; i++) {
        double low_s = fr_presets_number(csv, i, "measured_step_time_p05_s"),
               high_s = fr_presets_number(csv, i, "measured_step_time_p95_s"),
               time_s = fr_presets_number(csv, i, "measured_step_time_s"),
               ranks = fr_presets_number(csv, i, "accelerators");
        bool each = strcmp(fr_presets_cell(csv, i, "step_time_kind"), "every step") == 0,
             once = !*fr_presets_cell(csv, i, "duplicate_of");
        if (strcmp(fr_presets_cell(csv, i, "accelerator"), device) != 0 || !each || !once)
            continue;
        double of = share ? time_s : sqrt(ranks * time_s),
               jitter_s = (high_s - low_s) / (2 * FR_NORMAL_90 * of);
        if (!(jitter_s > 0) || !isfinite(jitter_s)) continue;
        out->round[out->n] = fr_presets_cell(csv, i, "round");
        out->jitter_s[out->n++] = jitter_s;
    }
}

/* Geometric mean of all runs but those of @p without; NaN of none. */
static double mean(const struct steps *s, const char *without) {
    double sum = 0;
    int n = 0;
    for (int i = 0; i < s->n; i++) {
        if (without && strcmp(s->round[i], without) == 0) continue;
        sum += log(s->jitter_s[i]);
        n++;
    }
    return n > 0 ? exp(sum / n) : NAN;
}

/* Median factor by which runs of a round are off what the other rounds say; NaN of one round. */
static double between_rounds(const struct steps *s) {
    double off[RUNS_MAX];
    size_t n = 0;
    for (int i = 0; i < s->n; i++) {
        double others = mean(s, s->round[i]);
        if (isfinite(others)) off[n++] = fabs(log(s->jitter_s[i] / others));
    }
    fr_sort(off, n);
    return n > 0 ? exp(fr_sorted_median(off, n)) : NAN;
}

fr_status fr_presets_jitter(struct fr_reproduction *r, struct fr_error *err) {
    static const struct {
        const char *preset, *device;
        bool share;
    } told[] = {{"dgx-h100", "H100-SXM5-80GB", false},
                {"dgx-b200", "B200", false},
                {"gb200-nvl72", "GB200", true}};
    struct fr_csv csv;
    FR_TRY(fr_presets_read("mlperf/time_pretraining.csv", &csv, err));
    fr_status status = FR_OK;
    for (size_t i = 0; i < sizeof told / sizeof *told && status == FR_OK; i++) {
        struct steps steps;
        struct fr_cluster cluster = {0};
        char note[120];
        read(&csv, told[i].device, told[i].share, &steps);
        if (steps.n == 0) continue;
        status = fr_table_cluster(told[i].preset, &cluster, err);
        if (status != FR_OK) break;
        double rounds = between_rounds(&steps);
        int used = snprintf(note, sizeof note, "%d run%s", steps.n, steps.n > 1 ? "s" : "");
        if (steps.n > 1)
            used +=
                snprintf(note + used, sizeof note - (size_t)used, ", a factor of %.2f apart",
                         exp(fr_log_deviation(steps.jitter_s, (size_t)steps.n)));
        if (isfinite(rounds))
            snprintf(note + used, sizeof note - (size_t)used,
                     ", %.2f from other rounds' in the median", rounds);
        bool share = told[i].share;
        fr_presets_add(r, told[i].preset, share ? "jitter_share" : "jitter", mean(&steps, NULL),
                       share ? cluster.device.jitter_share : cluster.device.jitter_s,
                       share ? "1" : "s", true, note);
        fr_cluster_free(&cluster);
    }
    fr_csv_free(&csv);
    return status;
}
