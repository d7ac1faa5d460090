#include "trust/distance.h"

#include <math.h>
#include <string.h>

#include "models/workload/adapters.h"
#include "trust/numbers/statistics.h"

/* Half a 90 % interval of a normal distribution over its mean absolute value: 1.645 / 0.798. */
static const double normal_reach = 2.06;
enum { SIGHTINGS_MAX = 256 };

static const char *kind_of(const struct fr_transformer *t) {
    if (fr_transformer_frozen(t)) return "adapters";
    return t->experts > 1 ? "mixture" : "dense";
}

struct fr_sighting fr_sighting_of(const struct fr_cluster *cluster, const struct fr_run *run) {
    const struct fr_transformer *t = &run->workload.transformer;
    double sequence = fmax(1, (double)t->sequence),
           ranks = fmax(1, (double)fr_plan_ranks(&run->plan));
    return (struct fr_sighting){.source = "",
                                .generation = cluster->device.generation,
                                .device = cluster->device.name,
                                .runtime = *run->runtime ? run->runtime : cluster->runtime,
                                .kind = kind_of(t),
                                .dtype = fr_dtype_names[run->workload.dtype],
                                .sequence_low = sequence,
                                .sequence_high = sequence,
                                .ranks_low = ranks,
                                .ranks_high = ranks};
}

static bool same(const char *a, const char *b) { return strcmp(a, b) == 0; }

bool fr_sighting_like(const struct fr_sighting *a, const struct fr_sighting *b) {
    return same(a->device, b->device) && same(a->runtime, b->runtime) &&
           same(a->kind, b->kind) && same(a->dtype, b->dtype);
}

/* Length of a release's name without its date. */
static size_t framework_length(const char *release) {
    const char *end = strrchr(release, '-');
    return end ? (size_t)(end - release) : strlen(release);
}

/* NeMo's containers hold Megatron-Bridge from 25.09 on. */
static bool is_nemo(const char *release) {
    return strncmp(release, "nemo-", 5) == 0 || strncmp(release, "megatron-bridge-", 16) == 0;
}

static bool one_framework(const char *a, const char *b) {
    size_t length = framework_length(a);
    return (is_nemo(a) && is_nemo(b)) ||
           (length == framework_length(b) && strncmp(a, b, length) == 0);
}

static double doublings_beyond(double at, double low, double high) {
    return at > high ? log2(at / high) : at < low ? log2(low / at) : 0;
}

struct fr_distance fr_distance_of(const struct fr_sighting *seen,
                                  const struct fr_sighting *question) {
    bool device = !same(seen->device, question->device),
         generation =
             device && !(*seen->generation && same(seen->generation, question->generation)),
         release = !same(seen->runtime, question->runtime),
         framework = release && !one_framework(seen->runtime, question->runtime);
    return (struct fr_distance){
        .times = {[FR_DISTANCE_GENERATION] = generation,
                  [FR_DISTANCE_DEVICE] = device,
                  [FR_DISTANCE_FRAMEWORK] = framework,
                  [FR_DISTANCE_RELEASE] = release,
                  [FR_DISTANCE_KIND] = !same(seen->kind, question->kind),
                  [FR_DISTANCE_DTYPE] = !same(seen->dtype, question->dtype),
                  [FR_DISTANCE_SEQUENCE] = doublings_beyond(
                      question->sequence_low, seen->sequence_low, seen->sequence_high),
                  [FR_DISTANCE_RANKS] =
                      doublings_beyond(question->ranks_low, seen->ranks_low, seen->ranks_high)},
        .plans = seen->plans,
        .off = seen->off};
}

static double squared(const struct fr_distance_sizes *sizes, const struct fr_distance *from) {
    double sum = 0;
    for (int k = 0; k < FR_DISTANCE_COUNT; k++)
        sum += from->times[k] * sizes->sd[k] * sizes->sd[k];
    return sum;
}

double fr_distance_half(const struct fr_distance_sizes *sizes, const struct fr_distance *from,
                        int n, double half, int *nearest) {
    double least = INFINITY, plans = 0, off = 0;
    for (int i = 0; i < n; i++) {
        double here = from[i].plans > 0 ? squared(sizes, &from[i]) : INFINITY;
        if (!(here <= least) || !isfinite(here)) continue;
        if (here < least) plans = off = 0;
        if (here < least && nearest) *nearest = i;
        least = here;
        plans += from[i].plans;
        off += from[i].plans * from[i].off;
    }
    if (plans == 0) return half;
    double times = (sizes->plans * sizes->near + normal_reach * off) / (sizes->plans + plans);
    return hypot(times * half, FR_NORMAL_90 * sqrt(least));
}

double fr_distance_recipe(fr_recipe_source recipe) {
    static const double deviation[] = {
        [FR_RECIPE_STATED] = 0, [FR_RECIPE_OF_RELEASE] = 0.1, [FR_RECIPE_UNKNOWN] = 0.15};
    return deviation[recipe];
}

double fr_distance_known(const struct fr_cluster *cluster, const struct fr_run *run,
                         double half, unsigned *differ) {
    struct fr_distance from[SIGHTINGS_MAX] = {0};
    const struct fr_sighting question = fr_sighting_of(cluster, run);
    int nearest = 0;
    for (int i = 0; i < fr_sighting_count; i++)
        from[i] = fr_distance_of(&fr_sightings[i], &question);
    double of = fr_distance_half(&fr_distance_usual, from, fr_sighting_count, half, &nearest);
    for (int k = 0; differ && k < FR_DISTANCE_COUNT; k++)
        *differ = (k ? *differ : 0) | (unsigned)(from[nearest].times[k] > 0) << k;
    return of;
}

const struct fr_sighting fr_sightings[] = {
#define FR_SIGHTING(source, generation, device, runtime, kind, dtype, s0, s1, r0, r1, plans,   \
                    off)                                                                       \
    {source, generation, device, runtime, kind, dtype, s0, s1, r0, r1, plans, off},
#define FR_SIZES(...)
#include "trust/distance_rows.h"
#undef FR_SIGHTING
#undef FR_SIZES
    {0}};

const int fr_sighting_count = (int)(sizeof fr_sightings / sizeof *fr_sightings) - 1;
_Static_assert(sizeof fr_sightings / sizeof *fr_sightings <= SIGHTINGS_MAX,
               "more sightings than fr_distance_known has memory for");

const struct fr_distance_sizes fr_distance_usual = {
#define FR_SIGHTING(...)
#define FR_SIZES(plans, near, ...)                                                             \
    plans, near, { __VA_ARGS__ }
#include "trust/distance_rows.h"
#undef FR_SIGHTING
#undef FR_SIZES
};
