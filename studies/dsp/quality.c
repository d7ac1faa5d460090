#include "studies/dsp/quality.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "models/plan/method.h"
#include "studies/quality_curve.h"

/* Learns as one processor would, whatever the mesh. */
static bool is_exact(const struct fr_json *row) {
    struct fr_json plan = fr_json_member(row, "plan"),
                   compression = fr_json_member(&plan, "compression"),
                   backward = fr_json_member(&compression, "backward"),
                   gradient = fr_json_member(&compression, "gradient"),
                   forward = fr_json_member(&compression, "forward");
    const char *scope = fr_json_text_at(&backward, "scope"),
               *method = fr_json_text_at(&plan, "method");
    bool coded =
        (*scope && strcmp(scope, "none") != 0) || fr_json_number_at(&gradient, "stages") > 0;
    return !coded && !(fr_json_number_at(&forward, "rank") > 0) &&
           !FR_METHOD_IS(method, uses_ghost);
}

/* Ranks that divide a vocabulary, which is padded to a multiple of their number: another number makes another
 * network.  A regression has none, and sub-graphs have it whole. */
static double divides_words(const struct fr_json *root, const struct fr_json *row) {
    struct fr_json plan = fr_json_member(row, "plan");
    bool whole = strcmp(fr_json_text_at(root, "corpus"), "regression") == 0 ||
                 FR_METHOD_IS(fr_json_text_at(&plan, "method"), branches);
    return whole ? 1 : fr_json_number_at(&plan, "tp");
}

/* The largest distance of two curves, and that over the half-widths of the first's intervals. */
static void distance(const struct fr_json *a, const struct fr_json *b, double *most,
                     double *share) {
    struct fr_json curve = fr_json_member(a, "curve"), other = fr_json_member(b, "curve");
    int64_t n = fr_json_array_length(&curve);
    *most = *share = 0;
    for (int64_t i = 0; i < n && i < fr_json_array_length(&other); i++) {
        struct fr_json x = fr_json_element(&curve, i), y = fr_json_element(&other, i);
        double loss = fr_json_number_at(&x, "loss"),
               half = fr_json_number_at(&x, "loss_high") - loss,
               apart = fabs(fr_json_number_at(&y, "loss") - loss);
        if (!isfinite(apart)) continue;
        *most = fmax(*most, apart);
        if (half > 0) *share = fmax(*share, apart / half);
    }
}

static void add_pair(struct fr_reproduction *r, const struct fr_json *a,
                     const struct fr_json *b) {
    double most, share, time_a = fr_json_number_at(a, "time_to_loss_s"),
                        time_b = fr_json_number_at(b, "time_to_loss_s");
    char note[240];
    const char *name_a = fr_json_text_at(a, "label"), *name_b = fr_json_text_at(b, "label");
    distance(a, b, &most, &share);
    snprintf(note, sizeof note,
             "largest distance of the curves of %.60s and %.60s; of the seeds' half interval "
             "there it is "
             "%.2g",
             name_a, name_b, share);
    fr_reproduce_add(r, FR_ROLE_PREDICTED, 0, most, "loss", 0, note,
                     "quality/fig17/same_curve/%.40s", name_b);
    fr_reproduce_judge(r, share < 1);
    if (!isfinite(time_a) || !isfinite(time_b)) return;
    snprintf(note, sizeof note,
             "priced time to the loss that %.60s saves over %.60s, in the small: that of 4-way "
             "D&SP on 16 GPUs is fig17/4_way/time_saved",
             name_b, name_a);
    fr_reproduce_add(r, FR_ROLE_NOT_EXPLAINED, NAN, 1 - time_b / time_a, "1", 0, note,
                     "quality/fig17/time_saved/%.40s", name_b);
}

/* "data_parallel" or "2_way", as the paper's legend says; its label where the plan is another method's. */
static const char *plain_name(const struct fr_json *row, char name[48]) {
    struct fr_json plan = fr_json_member(row, "plan");
    const double ways = fr_json_number_at(&plan, "tp");
    if (!FR_METHOD_IS(fr_json_text_at(&plan, "method"), branches) || !(ways >= 1))
        snprintf(name, 48, "%s", fr_json_text_at(row, "label"));
    else if (ways < 2)
        snprintf(name, 48, "data_parallel");
    else
        snprintf(name, 48, "%.0f_way", ways);
    return name;
}

/* Where two of @p rows would be called alike, each has its label. */
static const char *name_of(const struct fr_json *rows, const struct fr_json *row,
                           char name[48]) {
    int same = 0;
    plain_name(row, name);
    for (int64_t i = 0; i < fr_json_array_length(rows); i++) {
        struct fr_json other = fr_json_element(rows, i);
        char own[48];
        same += is_exact(&other) && strcmp(plain_name(&other, own), name) == 0;
    }
    if (same > 1) snprintf(name, 48, "%s", fr_json_text_at(row, "label"));
    return name;
}

fr_status fr_dsp_quality(const struct fr_json *root, struct fr_reproduction *r,
                         struct fr_error *err) {
    static const char *const schemas[] = {"forerun/quality/1", NULL};
    struct fr_json rows = fr_json_member(root, "rows"), first = {0};
    int schema = 0, exact = 0;
    FR_TRY(fr_json_get_choice(root, "schema", true, schemas, &schema, err));
    FR_TRY(fr_json_array(&rows, 1, 1000, err));
    for (int64_t i = 0; i < fr_json_array_length(&rows); i++) {
        struct fr_json row = fr_json_element(&rows, i);
        if (!is_exact(&row)) continue;
        if (exact > 0 && divides_words(root, &row) != divides_words(root, &first)) continue;
        if (exact++ == 0)
            first = row;
        else
            add_pair(r, &first, &row);
        char name[48];
        fr_quality_curve(&row, "fig17", name_of(&rows, &row, name), false, r);
    }
    if (exact >= 2) return FR_OK;
    return fr_json_fail(&rows, err,
                        "holds no two plans that lose nothing and are one network; try forerun "
                        "quality --vary method=tensor,subgraph --vary tp=1,2");
}
