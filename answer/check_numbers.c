/* The measured points of a fit's JSON, before anything is counted or drawn from them: a number
 * that is missing is refused with its place, since others would be judged by what is left. */
#include "answer/check.h"

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

fr_status fr_calibration_points_check(const struct fr_json *root, struct fr_error *err) {
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
