/* Any file of real runs is scored beside its predictions, or is refused. */
#include <math.h>

#include "models/job/job.h"
#include "real/validate/validate.h"
#include "tests/fuzz/fuzz.h"

static const struct fr_cluster *the_cluster(void) {
    static struct fr_job job;
    static bool made;
    const struct fr_job_names names = {.cluster = "frontier"};
    if (!made) FR_FUZZ_REQUIRE(fr_job_load(&names, &job, NULL) == FR_OK);
    made = true;
    return &job.cluster;
}

static void check(const struct fr_validation *v) {
    for (int i = 0; i < v->n_rows; i++) {
        const struct fr_validate_row *row = &v->rows[i];
        if (row->n_samples == 0) continue;
        FR_FUZZ_REQUIRE(row->measured_s > 0 && isfinite(row->measured_s));
        FR_FUZZ_REQUIRE(row->measured_low_s <= row->measured_s &&
                        row->measured_s <= row->measured_high_s);
        FR_FUZZ_REQUIRE(!isinf(row->error));
    }
    if (v->n_scored == 0) return;
    FR_FUZZ_REQUIRE(v->median_error >= 0 && v->median_error <= v->p90_error);
    FR_FUZZ_REQUIRE(!isinf(v->regret_worst) && !isinf(v->floor));
}

FR_FUZZ_TEXT(text, size) {
    struct fr_validation v = {0};
    struct fr_error err = {0};
    fr_status status = fr_validate_read(fr_fuzz_file(text, size), &v, &err);
    if (status == FR_OK) status = fr_validate_score(the_cluster(), 8, &v, &err);
    if (status == FR_OK)
        check(&v);
    else
        FR_FUZZ_REQUIRE(err.where[0] && err.detail[0]);
    fr_validation_free(&v);
}
