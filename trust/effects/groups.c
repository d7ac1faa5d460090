#include "trust/effects/groups.h"

#include <math.h>
#include <string.h>

#include "base/digest.h"
#include "models/workload/adapters.h"

/* Where no row names a release there is but one. */
static const double none = 1e-4, more = 1.9;

const int fr_seen_effects[] = {FR_EFFECT_MODEL, FR_EFFECT_PLAN, FR_EFFECT_KIND};

static int64_t named(const char *name) {
    uint64_t digest = FR_DIGEST_START;
    for (const char *c = name; *c; c++) digest = fr_digest(digest, &(int64_t){*c}, 1);
    return (int64_t)digest;
}

/* Whatever else of a plan decides what its passes and exchanges are, as one number that JSON holds. */
static int64_t manner(const struct fr_plan *p) {
    const int64_t of[] = {p->recompute,
                          p->attention,
                          p->offload,
                          p->graphs,
                          p->context_heads,
                          p->etp,
                          p->dispatch_ranks,
                          p->overlap_experts,
                          p->sequence_parallel,
                          p->overlap_tp,
                          p->overlap,
                          p->adds_apart,
                          p->blocking,
                          p->duplex,
                          p->forward,
                          p->ghost,
                          p->compression.scope,
                          p->compression.gradient_stages,
                          p->compression.forward_rank,
                          named(p->schedule->name),
                          named(p->method->name)};
    return (int64_t)(fr_digest(FR_DIGEST_START, of, sizeof of / sizeof *of) >> 12);
}

/* All that a run is seen by but its manner, in the order of fr_tuning_seen's keys. */
enum { SHAPE = 10 };
static void shape(const struct fr_run *run, int64_t key[SHAPE]) {
    const struct fr_transformer *t = &run->workload.transformer;
    const struct fr_plan *p = &run->plan;
    const int64_t of[SHAPE] = {t->hidden, t->layers, p->tp,     p->pp,       p->cp,
                               p->ep,     p->zero,   p->chunks, t->sequence, p->micro_batch};
    memcpy(key, of, sizeof of);
}

/* Where the keys of @p what begin among those of all. */
static int first_key(fr_seen what) { return what == FR_SEEN_PLAN ? 2 : 0; }

struct fr_tuning_seen fr_run_seen(const struct fr_run *run, fr_seen what) {
    int64_t key[SHAPE + 1];
    struct fr_tuning_seen seen = {.what = what};
    shape(run, key);
    key[SHAPE] = what == FR_SEEN_KIND ? manner(&run->plan) : 0;
    memcpy(seen.key, key + first_key(what), (size_t)fr_seen_keys[what] * sizeof *key);
    return seen;
}

bool fr_run_is(const struct fr_run *run, const struct fr_tuning_seen *seen) {
    const struct fr_tuning_seen own = fr_run_seen(run, seen->what);
    return memcmp(own.key, seen->key, sizeof own.key) == 0;
}

/* The manner last: it takes longer than all else together, and most runs differ before it. */
static bool one(const struct fr_run *a, const struct fr_run *b, fr_seen what) {
    int64_t of_a[SHAPE], of_b[SHAPE];
    int first = first_key(what), keys = fr_seen_keys[what] - (what == FR_SEEN_KIND);
    shape(a, of_a);
    shape(b, of_b);
    return memcmp(of_a + first, of_b + first, (size_t)keys * sizeof *of_a) == 0 &&
           (what != FR_SEEN_KIND || manner(&a->plan) == manner(&b->plan));
}

bool fr_run_one_model(const struct fr_run *a, const struct fr_run *b) {
    return one(a, b, FR_SEEN_MODEL);
}

static bool one_plan(const struct fr_run *a, const struct fr_run *b) {
    return one(a, b, FR_SEEN_PLAN);
}

bool fr_run_one_kind(const struct fr_run *a, const struct fr_run *b) {
    return one(a, b, FR_SEEN_KIND);
}

static const char *release_of(const struct fr_run *run) {
    const char *release = run->row ? fr_run_row_get(run->row, "note.release") : NULL;
    if (!release && run->row) release = fr_run_row_get(run->row, "note.round");
    return release ? release : "";
}

static bool one_release(const struct fr_run *a, const struct fr_run *b) {
    return fr_run_one_kind(a, b) && strcmp(release_of(a), release_of(b)) == 0;
}

double fr_run_model_error_times(const struct fr_run *run) {
    const struct fr_transformer *t = &run->workload.transformer;
    return t->experts > 1 || fr_transformer_frozen(t) ? more : 1;
}

bool fr_runs_grouped(const struct fr_run *const *runs, int n, int *group[FR_EFFECT_ROW]) {
    static bool (*const alike[])(const struct fr_run *, const struct fr_run *) = {
        fr_run_one_model, one_plan, fr_run_one_kind, one_release};
    bool named = false;
    for (int level = 0; level < FR_EFFECT_ROW; level++) {
        int groups = 0;
        for (int i = 0; i < n; i++) {
            int k = 0;
            while (k < i && !alike[level](runs[k], runs[i])) k++;
            group[level][i] = k < i ? group[level][k] : groups++;
        }
    }
    for (int i = 0; i < n; i++) named |= release_of(runs[i])[0] != '\0';
    return named;
}

bool fr_runs_share(const struct fr_run *const *runs, int n, double *weight, double *times,
                   int *groups, struct fr_effects_rows *rows) {
    int *group[FR_EFFECT_ROW];
    for (int k = 0; k < FR_EFFECT_ROW; k++) rows->group[k] = group[k] = groups + k * n;
    for (int i = 0; i < n; i++) {
        weight[i] = runs[i]->weight;
        times[i] = fr_run_model_error_times(runs[i]);
    }
    rows->n = (size_t)n;
    rows->weight = weight;
    rows->times = times;
    return fr_runs_grouped(runs, n, group);
}

void fr_effect_scales(double model_error, bool releases, double scale[FR_EFFECTS]) {
    scale[FR_EFFECT_MODEL] = scale[FR_EFFECT_PLAN] = model_error * sqrt(0.5);
    scale[FR_EFFECT_KIND] = model_error;
    scale[FR_EFFECT_RELEASE] = releases ? FR_TUNE_RELEASE : none;
    scale[FR_EFFECT_ROW] = FR_TUNE_RUN;
    scale[FR_EFFECT_DEVICE] = scale[FR_EFFECT_NETWORK] = 1;
}

double fr_effects_of(const double sd[FR_EFFECTS], double times,
                     const bool unknown[FR_SEEN_COUNT]) {
    double sum = 0;
    for (int what = 0; what < FR_SEEN_COUNT; what++)
        if (unknown[what]) sum += pow(sd[fr_seen_effects[what]], 2);
    return sqrt(times * times * sum + pow(sd[FR_EFFECT_RELEASE], 2) +
                pow(sd[FR_EFFECT_ROW], 2));
}

double fr_effects_spread(const double sd[FR_EFFECTS], double times) {
    return fr_effects_of(sd, times, (const bool[]){true, true, true});
}
