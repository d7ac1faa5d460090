#include "studies/optimus/curves.h"

#include <math.h>
#include <stdio.h>

struct apart {
    double most, at; /* largest difference, and after how many iterations */
    int n, parted;   /* evaluations, and those at which the intervals part */
};

/* Before the first step all plans are one. */
static struct apart apart_of(const struct fr_json *a, const struct fr_json *b) {
    struct fr_json curve = fr_json_member(a, "curve"), other = fr_json_member(b, "curve");
    int64_t n = fr_json_array_length(&curve), m = fr_json_array_length(&other);
    struct apart apart = {0};
    for (int64_t i = 1; i < n && i < m; i++) {
        struct fr_json x = fr_json_element(&curve, i), y = fr_json_element(&other, i);
        double d = fr_json_number_at(&y, "loss") - fr_json_number_at(&x, "loss");
        bool above = fr_json_number_at(&y, "loss_low") > fr_json_number_at(&x, "loss_high"),
             below = fr_json_number_at(&y, "loss_high") < fr_json_number_at(&x, "loss_low");
        if (!isfinite(d)) continue;
        apart.n++;
        apart.parted += above || below;
        if (fabs(d) <= fabs(apart.most)) continue;
        apart.most = d;
        apart.at = fr_json_number_at(&x, "iteration");
    }
    return apart;
}

void fr_optimus_curve(const struct fr_json *base, const struct fr_json *other, const char *name,
                      bool same, struct fr_reproduction *r) {
    struct apart apart = apart_of(base, other);
    char note[240];
    if (apart.n == 0) return;
    snprintf(
        note, sizeof note,
        "largest difference of the curves, after %.0f iterations; the seeds' intervals part "
        "at %d of %d evaluations%s",
        apart.at, apart.parted, apart.n,
        apart.parted ? "" : ": no difference shown, so nothing is confirmed");
    fr_reproduce_add(r, FR_ROLE_PREDICTED, NAN, apart.most, "nat", 0, note, "quality/fig9/%s",
                     name);
    if (same && apart.parted > 0) fr_reproduce_judge(r, false);
}
