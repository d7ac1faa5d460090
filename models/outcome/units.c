#include "models/outcome/units.h"

#include "models/price/rank_map.h"

int fr_outcome_filled(const struct fr_job *job, const struct fr_outcome *out,
                      struct fr_filled filled[FR_LEVEL_MAX]) {
    const struct fr_levels *levels = &job->cluster.levels,
                           own = fr_rank_map_levels(levels, &out->plan),
                           equal = fr_levels_take(levels, out->ranks, FR_UNITS_EQUAL);
    int n = 0;
    for (int l = 0; l < own.count - 1; l++) {
        struct fr_filled f = {.level = levels->level[l].name,
                              .ranks = own.level[l].ranks,
                              .holds = own.level[l].holds};
        f.units = fr_levels_units(&own, l, out->ranks, &f.last);
        if (f.units == 1 || (f.last == f.ranks && f.ranks == f.holds)) continue;
        if (f.last < f.ranks && 2 * equal.level[l].ranks >= f.holds)
            f.equal = equal.level[l].ranks;
        filled[n++] = f;
    }
    return n;
}
