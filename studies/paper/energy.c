/* Measured joules and watts by others: clocks, power limits, whole nodes.  No row has a part in its own
 * prediction; which rows have stands with every table. */
#include <math.h>

#include "studies/energy/parts.h"
#include "studies/training/markdown.h"

static fr_status run(struct fr_reproduction *r, struct fr_error *err) {
    static fr_status (*const parts[])(struct fr_reproduction *, struct fr_error *) = {
        fr_energy_stages, fr_energy_trainings, fr_energy_steps,
        fr_energy_slack,  fr_energy_limits,    fr_energy_nodes};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        fr_status status = parts[i](r, err);
        if (status == FR_ERR_IO) {
            fr_reproduce_add(r, FR_ROLE_NOT_EXPLAINED, NAN, NAN, "1", 0, err->detail,
                             "skipped/%s", err->where);
            status = FR_OK;
        }
        FR_TRY(status);
    }
    return FR_OK;
}

const struct fr_paper fr_paper_energy = {
    .name = "energy",
    .title = "measured power and energy by others: clocks, power limits, whole nodes",
    .run = run,
    .measured = true,
    .mark = FR_ENERGY_MARK,
};
