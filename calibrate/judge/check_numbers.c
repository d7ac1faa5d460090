/* Checks the numbers of a fit's JSON, before anything is counted, judged or drawn from them.
 * A number that is missing beside its like, or that no measurement can have, is refused with
 * its place.  Otherwise others would be judged by what is left, and nan and inf printed. */
#include "calibrate/judge/check.h"

#include <math.h>

static fr_status check_point(const struct fr_json *point, struct fr_error *err) {
    static const char *const ends[] = {"low_s", "high_s"};
    int64_t n = 0, number = 0;
    double value = 0;
    FR_TRY(fr_json_get_integer(point, "n", true, 1, INT32_MAX, &n, err));
    FR_TRY(fr_json_get_integer(point, "slow", true, 0, n, &number, err));
    FR_TRY(fr_json_get_integer(point, "launches", true, 0, n, &number, err));
    FR_TRY(fr_json_get_number(point, "size_B", true, 0, 1e18, &value, err));
    FR_TRY(fr_json_get_number(point, "median_s", true, 0, 1e9, &value, err));
    for (int i = 0; i < 2; i++) { /* null where one number has no interval */
        struct fr_json end = fr_json_member(point, ends[i]);
        if (!fr_json_is_null(&end)) FR_TRY(fr_json_number(&end, 0, HUGE_VAL, &value, err));
    }
    return FR_OK;
}

static fr_status check_points(const struct fr_json *root, struct fr_error *err) {
    struct fr_json list = fr_json_member(root, "series");
    if (!fr_json_present(&list)) return FR_OK;
    FR_TRY(fr_json_array(&list, 0, INT32_MAX, err));
    for (int64_t s = 0; s < fr_json_array_length(&list); s++) {
        struct fr_json series = fr_json_element(&list, s),
                       points = fr_json_member(&series, "points");
        FR_TRY(fr_json_array(&points, 0, INT32_MAX, err));
        for (int64_t i = 0; i < fr_json_array_length(&points); i++) {
            struct fr_json point = fr_json_element(&points, i);
            FR_TRY(check_point(&point, err));
        }
    }
    return FR_OK;
}

/* ---- what is judged --------------------------------------------------------------------------- */

/* An error of |predicted / measured - 1|, and how a time varies, the standard deviation of its logarithm: beyond
 * these exp() of them is no number. */
static const double ERROR_MAX = 1e12, SPREAD_MAX = 100, TIME_MAX_S = 1e9;

/* {"median": x, "p90": y}, both or neither. */
static fr_status check_errors(const struct fr_json *object, const char *key,
                              struct fr_error *err) {
    struct fr_json errors = fr_json_member(object, key);
    double median = NAN, p90 = NAN;
    if (!fr_json_is_object(&errors)) return FR_OK;
    FR_TRY(fr_json_get_known(&errors, "median", 0, ERROR_MAX, &median, err));
    FR_TRY(fr_json_get_known(&errors, "p90", 0, ERROR_MAX, &p90, err));
    if (isnan(median) == isnan(p90)) return FR_OK;
    return fr_json_fail(&errors, err, "has one of \"median\" and \"p90\" without the other");
}

static fr_status check_operations(const struct fr_json *root, struct fr_error *err) {
    static const char *const forms[] = {"log", "segments", "algorithm", "similarity", NULL};
    static const char *const errors[] = {"residuals", "held_sizes", "held_ranks", NULL};
    struct fr_json list = fr_json_member(root, "operations");
    for (int64_t i = 0; i < fr_json_array_length(&list); i++)
        for (int f = 0; forms[f]; f++) {
            struct fr_json op = fr_json_element(&list, i), form = fr_json_member(&op, forms[f]);
            for (int k = 0; errors[k]; k++) FR_TRY(check_errors(&form, errors[k], err));
        }
    return FR_OK;
}

static fr_status check_products(const struct fr_json *root, struct fr_error *err) {
    struct fr_json gemm = fr_json_member(root, "gemm_left_out");
    for (int64_t i = 0; fr_json_is_object(&gemm) && fr_json_key_at(&gemm, i); i++)
        FR_TRY(check_errors(&gemm, fr_json_key_at(&gemm, i), err));
    return FR_OK;
}

/* How far times vary and what interruptions cost: a number that others go with has them. */
static fr_status check_machine(const struct fr_json *root, struct fr_error *err) {
    struct fr_json m = fr_json_member(root, "machine");
    double held_out, variation, speed = NAN, lost = NAN, other;
    FR_TRY(fr_json_get_known(root, "held_out", 0, ERROR_MAX, &held_out, err));
    if (!fr_json_is_object(&m)) return FR_OK;
    FR_TRY(fr_json_get_known(&m, "variation", 0, SPREAD_MAX, &variation, err));
    FR_TRY(fr_json_get_known(&m, "speed_variation", 0, SPREAD_MAX, &speed, err));
    FR_TRY(fr_json_get_known(&m, "lost", 0, ERROR_MAX, &lost, err));
    if (!isnan(speed))
        FR_TRY(fr_json_get_number(&m, "usual_products", true, 0, ERROR_MAX, &other, err));
    if (!(lost > 0)) return FR_OK;
    FR_TRY(fr_json_get_number(&m, "interrupted_every_s", true, 0, TIME_MAX_S, &other, err));
    return fr_json_get_number(&m, "interruption_s", true, 0, TIME_MAX_S, &other, err);
}

/* No number that stands there is beyond what a page can show: those that nothing above reads are shown too. */
fr_status fr_check_shown(const struct fr_json *node, struct fr_error *err) {
    static const double SHOWN_MAX = 1e300;
    double value;
    if (fr_json_is_number(node))
        return fr_json_number(node, -SHOWN_MAX, SHOWN_MAX, &value, err);
    for (int64_t i = 0; fr_json_is_array(node) && i < fr_json_array_length(node); i++) {
        struct fr_json one = fr_json_element(node, i);
        FR_TRY(fr_check_shown(&one, err));
    }
    if (!fr_json_is_object(node)) return FR_OK;
    for (const char *key = fr_json_key_after(node, NULL); key;
         key = fr_json_key_after(node, key)) {
        struct fr_json one = fr_json_member(node, key);
        FR_TRY(fr_check_shown(&one, err));
    }
    return FR_OK;
}

fr_status fr_calibration_numbers_check(const struct fr_json *root, struct fr_error *err) {
    FR_TRY(check_points(root, err));
    FR_TRY(check_machine(root, err));
    FR_TRY(check_operations(root, err));
    FR_TRY(check_products(root, err));
    return fr_check_shown(root, err);
}
