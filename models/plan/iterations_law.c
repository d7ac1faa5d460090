#include "models/plan/iterations_law.h"

#include <math.h>

#include "models/plan/method.h"

const char *const fr_law_names[] = {"batch", "ghost", "backward", "gradient", NULL};

static const char *const keys[] = {
    "along",    "method", "critical_batch", "iterations", "from",  "to",   "ghost_power",
    "tp_power", "slope",  "tp_from",        "tp_to",      "error", "plan", NULL};

static fr_status read_ghost(const struct fr_json *node, struct fr_iterations_law *law,
                            struct fr_error *err) {
    int method = 0;
    FR_TRY(fr_json_get_choice(node, "method", true, fr_method_names, &method, err));
    law->method = fr_methods[method];
    FR_TRY(fr_json_get_number(node, "iterations", true, 1e-9, 1e15, &law->iterations, err));
    FR_TRY(fr_json_get_number(node, "ghost_power", true, -100, 100, &law->ghost_power, err));
    FR_TRY(fr_json_get_number(node, "tp_power", true, -100, 100, &law->tp_power, err));
    FR_TRY(fr_json_get_number(node, "tp_from", true, 1, FR_RANKS_MAX, &law->tp_from, err));
    return fr_json_get_number(node, "tp_to", true, law->tp_from, FR_RANKS_MAX, &law->tp_to,
                              err);
}

fr_status fr_iterations_law_read(const struct fr_json *node, struct fr_iterations_law *law,
                                 struct fr_error *err) {
    int along = 0;
    FR_TRY(fr_json_object(node, keys, err));
    FR_TRY(fr_json_get_choice(node, "along", true, fr_law_names, &along, err));
    law->along = (fr_law_along)along;
    bool share = along == FR_LAW_BACKWARD || along == FR_LAW_GRADIENT;
    FR_TRY(fr_json_get_number(node, "from", true, share ? 0 : 1, share ? 1 : FR_RANKS_MAX,
                              &law->from, err));
    FR_TRY(fr_json_get_number(node, "to", true, law->from, share ? 1 : FR_RANKS_MAX, &law->to,
                              err));
    FR_TRY(fr_json_get_number(node, "error", false, 0, 1e6, &law->error, err));
    if (along == FR_LAW_GHOST) return read_ghost(node, law, err);
    if (share) return fr_json_get_number(node, "slope", true, -100, 100, &law->slope, err);
    return fr_json_get_number(node, "critical_batch", true, 0, 1e15, &law->critical_batch, err);
}

void fr_iterations_law_write(struct fr_json_writer *w, const struct fr_iterations_law *law) {
    fr_json_add_string(w, "along", fr_law_names[law->along]);
    if (law->along == FR_LAW_BATCH)
        fr_json_add_number(w, "critical_batch", law->critical_batch);
    else if (law->along != FR_LAW_GHOST)
        fr_json_add_number(w, "slope", law->slope);
    fr_json_add_number(w, "from", law->from);
    fr_json_add_number(w, "to", law->to);
    if (law->along == FR_LAW_GHOST) {
        fr_json_add_string(w, "method", law->method->name);
        fr_json_add_number(w, "iterations", law->iterations);
        fr_json_add_number(w, "ghost_power", law->ghost_power);
        fr_json_add_number(w, "tp_power", law->tp_power);
        fr_json_add_number(w, "tp_from", law->tp_from);
        fr_json_add_number(w, "tp_to", law->tp_to);
    }
    fr_json_add_number(w, "error", law->error);
}

static bool within(double x, double from, double to) { return x >= from && x <= to; }

double fr_law_batch(const struct fr_iterations_law *law, double from, double to) {
    if (!within(from, law->from, law->to) || !within(to, law->from, law->to)) return NAN;
    return (1 + law->critical_batch / to) / (1 + law->critical_batch / from);
}

double fr_law_ghost(const struct fr_iterations_law *law, const struct fr_plan *plan) {
    double k = (double)plan->ghost, p = (double)plan->tp;
    if (plan->method != law->method || !within(k, law->from, law->to) ||
        !within(p, law->tp_from, law->tp_to))
        return NAN;
    return law->iterations * pow(k, law->ghost_power) * pow(p, law->tp_power);
}

double fr_law_share(const struct fr_iterations_law *law, double s) {
    return within(s, law->from, law->to) ? exp(law->slope * s) : NAN;
}
