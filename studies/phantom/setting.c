#include "studies/phantom/setting.h"

#include <math.h>

#include "studies/interval.h"

static struct fr_plan plan_of(const struct fr_method *method, int64_t p, int64_t k,
                              int64_t batch) {
    struct fr_plan plan = fr_plan_default();
    plan.method = method;
    plan.tp = p;
    plan.ghost = method->uses_ghost ? k : 0;
    plan.global_batch = batch;
    return plan;
}

struct fr_outcome fr_phantom_at(const struct fr_phantom_setting *s,
                                const struct fr_method *method, int64_t p, int64_t k) {
    struct fr_outcome low, high;
    int64_t below = (int64_t)fmax(1, floor(s->batch));
    double share = s->batch - (double)below;
    struct fr_plan plan = plan_of(method, p, k, below), next = plan_of(method, p, k, below + 1);
    fr_cost(&s->job, &plan, &low);
    fr_cost(&s->job, &next, &high);
    low.time_s += share * (high.time_s - low.time_s);
    low.energy_J += share * (high.energy_J - low.energy_J);
    for (int i = 0; i < FR_PART_COUNT; i++)
        low.part_s[i] += share * (high.part_s[i] - low.part_s[i]);
    return low;
}

struct fr_outcome fr_phantom_stated(const struct fr_phantom_setting *s,
                                    const struct fr_method *method, int64_t p, int64_t k) {
    struct fr_outcome out = fr_phantom_at(s, method, p, k);
    fr_paper_interval(&s->job, &out);
    return out;
}
