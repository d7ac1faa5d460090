/* The phantom-parallelism paper's form: t = c1 log2 p + c2 m + c3. */
#include <math.h>

#include "models/network/comm.h"

static const char *const keys[] = {"form",    "level",     "c1",     "c2", "c3",
                                   "message", "residuals", "domain", NULL};
static const char *const messages[] = {"total", "per_rank", NULL};

static fr_status read(const struct fr_json *object, const struct fr_levels *levels,
                      struct fr_price *price, struct fr_error *err) {
    int message = 0;
    (void)levels;
    FR_TRY(fr_json_object(object, keys, err));
    FR_TRY(
        fr_json_get_quantity(object, "c1", true, FR_QUANTITY_TIME, 0, 3600, &price->c1_s, err));
    FR_TRY(fr_json_get_quantity(object, "c2", true, FR_QUANTITY_INVERSE_RATE, 0, 1,
                                &price->c2_s_per_B, err));
    FR_TRY(fr_json_get_quantity(object, "c3", false, FR_QUANTITY_TIME, 0, 3600, &price->c3_s,
                                err));
    FR_TRY(fr_json_get_choice(object, "message", true, messages, &message, err));
    price->per_rank = message == 1;
    return FR_OK;
}

static double time_s(const struct fr_price *price, const struct fr_group *group, double size_B,
                     bool *extrapolated) {
    (void)extrapolated;
    double start_s = price->c1_s * log2((double)group->n_ranks);
    double move_s = price->c2_s_per_B * fr_price_message_B(price, group->n_ranks, size_B);
    return start_s + move_s + price->c3_s;
}

static void write(const struct fr_price *price, const struct fr_levels *levels,
                  struct fr_json_writer *w) {
    char text[64];
    (void)levels;
    fr_json_add_string(w, "message", messages[price->per_rank]);
    fr_json_add_string(w, "c1",
                       fr_quantity_format(price->c1_s, FR_QUANTITY_TIME, text, sizeof text));
    fr_json_add_string(
        w, "c2",
        fr_quantity_format(price->c2_s_per_B, FR_QUANTITY_INVERSE_RATE, text, sizeof text));
    fr_json_add_string(w, "c3",
                       fr_quantity_format(price->c3_s, FR_QUANTITY_TIME, text, sizeof text));
}

const struct fr_form fr_form_log = {
    .name = "log",
    .equation = "t = c1 log2 p + c2 m + c3",
    .source = "Seal et al., Compression-Induced Communication-Efficient Large Model Training "
              "and Inferencing, 2025, Eq. 26",
    .read = read,
    .write = write,
    .time_s = time_s,
};
