/* A power that the user states, "constant:350 W", for nodes that tell nothing: `estimated`. */
#include <stdlib.h>

#include "base/alloc.h"
#include "base/units.h"
#include "calibrate/measure/power.h"

static fr_status open_constant(const char *power, void **state, struct fr_error *err) {
    double *watts = fr_malloc(1, sizeof *watts);
    if (!watts) return fr_fail(err, FR_ERR_NOMEM, NULL, "out of memory");
    fr_status status = FR_OK;
    if (!power)
        status = fr_fail(err, FR_ERR_USAGE, "--meter", "write e.g. \"constant:350 W\"");
    else if (fr_quantity_parse(power, FR_QUANTITY_POWER, "--meter", watts, err) != FR_OK)
        status = FR_ERR_USAGE;
    else if (*watts < 0)
        status = fr_fail(err, FR_ERR_USAGE, "--meter", "power cannot be negative");
    if (status == FR_OK)
        *state = watts;
    else
        free(watts);
    return status;
}

static fr_status read_constant(void *state, double now_s, double *value, int *quality,
                               struct fr_error *err) {
    (void)now_s;
    (void)quality;
    (void)err;
    *value = *(const double *)state;
    return FR_OK;
}

const struct fr_meter fr_meter_constant = {
    .name = "constant",
    .summary = "a power that you state",
    .argument = "POWER, e.g. 350W",
    .ask = "nothing",
    .quality = FR_QUALITY_ESTIMATED,
    .by_request = true,
    .period_s = 0.005,
    .open = open_constant,
    .read = read_constant,
    .close = free,
};
