#include "calibrate/runs/shared/alike.h"

#include <math.h>
#include <string.h>

/* Where no row names a release there is but one. */
static const double none = 1e-4, of_experts = 4;

struct fr_tuning_seen fr_run_seen(const struct fr_run *run, bool plan) {
    const struct fr_transformer *t = &run->workload.transformer;
    const struct fr_plan *p = &run->plan;
    return plan
               ? (struct fr_tuning_seen){true, {p->tp, p->pp, p->cp, p->ep, p->zero, p->chunks}}
               : (struct fr_tuning_seen){false, {t->hidden, t->layers}};
}

bool fr_run_is(const struct fr_run *run, const struct fr_tuning_seen *seen) {
    const struct fr_tuning_seen own = fr_run_seen(run, seen->plan);
    return memcmp(own.key, seen->key, sizeof own.key) == 0;
}

bool fr_run_one_model(const struct fr_run *a, const struct fr_run *b) {
    const struct fr_tuning_seen of_b = fr_run_seen(b, false);
    return fr_run_is(a, &of_b);
}

static bool one_plan(const struct fr_run *a, const struct fr_run *b) {
    const struct fr_tuning_seen of_b = fr_run_seen(b, true);
    return fr_run_is(a, &of_b);
}

bool fr_run_one_kind(const struct fr_run *a, const struct fr_run *b) {
    return fr_run_one_model(a, b) && one_plan(a, b) &&
           a->workload.transformer.sequence == b->workload.transformer.sequence &&
           a->plan.micro_batch == b->plan.micro_batch;
}

static const char *release_of(const struct fr_run *run) {
    const char *release = run->row ? fr_run_row_get(run->row, "note.release") : NULL;
    if (!release && run->row) release = fr_run_row_get(run->row, "note.round");
    return release ? release : "";
}

static bool one_release(const struct fr_run *a, const struct fr_run *b) {
    return fr_run_one_kind(a, b) && strcmp(release_of(a), release_of(b)) == 0;
}

double fr_run_missed_times(const struct fr_run *run) {
    return run->workload.transformer.experts > 1 ? of_experts : 1;
}

bool fr_runs_alike(const struct fr_run *const *runs, int n, int *group[FR_EFFECT_ROW]) {
    static bool (*const one[])(const struct fr_run *, const struct fr_run *) = {
        fr_run_one_model, one_plan, fr_run_one_kind, one_release};
    bool named = false;
    for (int level = 0; level < FR_EFFECT_ROW; level++) {
        int groups = 0;
        for (int i = 0; i < n; i++) {
            int k = 0;
            while (k < i && !one[level](runs[k], runs[i])) k++;
            group[level][i] = k < i ? group[level][k] : groups++;
        }
    }
    for (int i = 0; i < n; i++) named |= release_of(runs[i])[0] != '\0';
    return named;
}

void fr_effect_scales(double missed, bool releases, double scale[FR_EFFECTS]) {
    scale[FR_EFFECT_MODEL] = missed;
    scale[FR_EFFECT_PLAN] = scale[FR_EFFECT_KIND] = missed * sqrt(0.5);
    scale[FR_EFFECT_RELEASE] = releases ? FR_TUNE_RELEASE : none;
    scale[FR_EFFECT_ROW] = FR_TUNE_REPEAT;
    scale[FR_EFFECT_DEVICE] = scale[FR_EFFECT_NETWORK] = 1;
}

double fr_effects_of(const double sd[FR_EFFECTS], double times, bool model, bool plan) {
    double sum = pow(sd[FR_EFFECT_KIND], 2);
    if (model) sum += pow(sd[FR_EFFECT_MODEL], 2);
    if (plan) sum += pow(sd[FR_EFFECT_PLAN], 2);
    return sqrt(times * times * sum + pow(sd[FR_EFFECT_RELEASE], 2) +
                pow(sd[FR_EFFECT_ROW], 2));
}

double fr_effects_spread(const double sd[FR_EFFECTS], double times) {
    return fr_effects_of(sd, times, true, true);
}
