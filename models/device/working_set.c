#include "models/device/working_set.h"

#include <math.h>
#include <string.h>

const char *const fr_traffic_names[] = {
#define FR_TRAFFIC_NAME(code, name) #name,
    FR_TRAFFIC_LIST(FR_TRAFFIC_NAME)
#undef FR_TRAFFIC_NAME
        NULL};

static const char *const keys[] = {"size",
#define FR_TRAFFIC_NAME(code, name) #name,
                                   FR_TRAFFIC_LIST(FR_TRAFFIC_NAME)
#undef FR_TRAFFIC_NAME
                                       NULL};

static fr_status read_sizes(const struct fr_json *object, struct fr_working_sets *sets,
                            struct fr_error *err) {
    struct fr_json list = fr_json_member(object, "size");
    FR_TRY(fr_json_array(&list, 2, FR_WORKING_SETS_MAX, err));
    int n = (int)fr_json_array_length(&list);
    for (int i = 0; i < n; i++) {
        struct fr_json node = fr_json_element(&list, i);
        double size_B = 0;
        FR_TRY(fr_json_quantity(&node, FR_QUANTITY_SIZE, 1, 1e18, &size_B, err));
        sets->log_size[i] = log(size_B);
        if (i > 0 && !(sets->log_size[i] > sets->log_size[i - 1]))
            return fr_json_fail(&node, err, "must be larger than the one before");
    }
    sets->n = n;
    return FR_OK;
}

fr_status fr_working_sets_read(const struct fr_json *object, double memory_rate_B_per_s,
                               struct fr_working_sets *sets, struct fr_error *err) {
    FR_TRY(fr_json_object(object, keys, err));
    FR_TRY(read_sizes(object, sets, err));
    for (int kind = 0; kind < FR_TRAFFIC_COUNT; kind++) {
        struct fr_json list = fr_json_member(object, fr_traffic_names[kind]);
        int like = kind == FR_TRAFFIC_RESULTS ? FR_TRAFFIC_OPERANDS : FR_TRAFFIC_STREAM;
        bool needed = kind == FR_TRAFFIC_STREAM || kind == FR_TRAFFIC_UPDATE ||
                      kind == FR_TRAFFIC_OPERANDS;
        if (!needed && !fr_json_present(&list)) {
            memcpy(sets->share[kind], sets->share[like], sizeof *sets->share);
            continue;
        }
        sets->selects = sets->selects || kind == FR_TRAFFIC_SELECT;
        FR_TRY(fr_json_array(&list, sets->n, sets->n, err));
        for (int i = 0; i < sets->n; i++) {
            struct fr_json node = fr_json_element(&list, i);
            double rate_B_per_s = 0;
            FR_TRY(fr_json_quantity(&node, FR_QUANTITY_RATE, 1, 1e18, &rate_B_per_s, err));
            sets->share[kind][i] = memory_rate_B_per_s / rate_B_per_s;
        }
    }
    return FR_OK;
}

double fr_working_sets_share(const struct fr_working_sets *sets, fr_traffic kind,
                             double working_set_B) {
    const double *share = sets->share[kind];
    if (sets->n == 0) return kind >= FR_TRAFFIC_OPERANDS ? 0 : 1;
    double x = log(working_set_B);
    int i = 1;
    if (!(x > sets->log_size[0])) return share[0];
    while (i < sets->n && sets->log_size[i] < x) i++;
    if (i == sets->n) return share[i - 1];
    double at = (x - sets->log_size[i - 1]) / (sets->log_size[i] - sets->log_size[i - 1]);
    return share[i - 1] + at * (share[i] - share[i - 1]);
}
