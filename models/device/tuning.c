#include "models/device/tuning.h"

#include <math.h>

/* Keys beside these tell people where the numbers come from. */
static const char *const keys[] = {"spread", "stretch", "covariance", "coefficients", "dtype",
                                   "runs",   "files",   "mean_error", "experts",      "sharded",
                                   "kept",   "effects", "pipelined",  "seen",         NULL};

const char *const fr_seen_names[] = {"model", "plan", "plan_of_model", NULL};
const int fr_seen_keys[] = {2, 6, 11};

const char *const fr_tuning_effect_names[] = {"model", "plan",   "plan_of_model", "release",
                                              "run",   "device", "network",       NULL};

/* Files that do not tell them apart: half of the variance the model's, half the plan's. */
static fr_status read_effects(const struct fr_json *object, struct fr_tuning *t,
                              struct fr_error *err) {
    struct fr_json effects = fr_json_member(object, "effects");
    t->effect[0] = t->effect[1] = t->spread * sqrt(0.5);
    if (!fr_json_present(&effects)) return FR_OK;
    FR_TRY(fr_json_object(&effects, fr_tuning_effect_names, err));
    for (int k = 0; k < FR_TUNING_EFFECTS; k++)
        FR_TRY(fr_json_get_number(&effects, fr_tuning_effect_names[k], true, 0, 10,
                                  &t->effect[k], err));
    return FR_OK;
}

static fr_status read_row(const struct fr_json *rows, int i, struct fr_tuning *t,
                          struct fr_error *err) {
    struct fr_json row = fr_json_element(rows, i);
    FR_TRY(fr_json_array(&row, t->n, t->n, err));
    for (int j = 0; j < t->n; j++) {
        struct fr_json one = fr_json_element(&row, j);
        FR_TRY(fr_json_number(&one, -1e6, 1e6, &t->covariance[i * t->n + j], err));
    }
    if (t->covariance[i * t->n + i] < 0) {
        struct fr_json one = fr_json_element(&row, i);
        return fr_json_fail(&one, err, "a variance cannot be negative");
    }
    return FR_OK;
}

/* {"model": [4096, 32], "missed": 0.01, "covariance": [...]}, or "plan" and its six degrees, or "plan_of_model".  Each
 * row holds the coefficients, then those before it and itself.  Older files missed nothing in the mean. */
static fr_status read_seen(const struct fr_json *list, int i, struct fr_tuning *t,
                           struct fr_error *err) {
    static const char *const keys_of[] = {"model",  "plan",       "plan_of_model",
                                          "missed", "covariance", NULL};
    struct fr_json one = fr_json_element(list, i);
    FR_TRY(fr_json_object(&one, keys_of, err));
    struct fr_json row = fr_json_member(&one, "covariance"), key;
    struct fr_tuning_seen *seen = &t->seen[i];
    for (seen->what = FR_SEEN_COUNT - 1;; seen->what--) {
        key = fr_json_member(&one, fr_seen_names[seen->what]);
        if (fr_json_present(&key) || seen->what == FR_SEEN_MODEL) break;
    }
    FR_TRY(fr_json_get_number(&one, "missed", false, -10, 10, &seen->model_error, err));
    int length = fr_seen_keys[seen->what], wide = t->n + t->n_seen;
    FR_TRY(fr_json_array(&key, length, length, err));
    for (int k = 0; k < length; k++) {
        struct fr_json at = fr_json_element(&key, k);
        FR_TRY(fr_json_integer(&at, 0, INT64_MAX, &seen->key[k], err));
    }
    FR_TRY(fr_json_array(&row, t->n + i + 1, t->n + i + 1, err));
    for (int j = 0; j <= t->n + i; j++) {
        struct fr_json at = fr_json_element(&row, j);
        double value = 0;
        FR_TRY(fr_json_number(&at, -1e6, 1e6, &value, err));
        if (j == t->n + i && value < 0)
            return fr_json_fail(&at, err, "a variance cannot be negative");
        t->seen_covariance[i * wide + j] = value;
        if (j >= t->n) t->seen_covariance[(j - t->n) * wide + t->n + i] = value;
    }
    return FR_OK;
}

fr_status fr_tuning_read(const struct fr_json *object, struct fr_tuning *t,
                         struct fr_error *err) {
    struct fr_json rows = fr_json_member(object, "covariance");
    struct fr_json coefficients = fr_json_member(object, "coefficients");
    *t = (struct fr_tuning){0};
    if (!fr_json_present(object)) return FR_OK;
    FR_TRY(fr_json_object(object, keys, err));
    FR_TRY(fr_json_get_number(object, "spread", true, 0, 10, &t->spread, err));
    FR_TRY(fr_json_get_number(object, "stretch", true, 0, 100, &t->stretch, err));
    FR_TRY(read_effects(object, t, err));
    t->experts = t->sharded = t->pipelined = true; /* older files do not say */
    FR_TRY(fr_json_get_bool(object, "kept", false, &t->unmoved, err));
    FR_TRY(fr_json_get_bool(object, "experts", false, &t->experts, err));
    FR_TRY(fr_json_get_bool(object, "sharded", false, &t->sharded, err));
    FR_TRY(fr_json_get_bool(object, "pipelined", false, &t->pipelined, err));
    FR_TRY(fr_json_array(&rows, 0, FR_TUNING_MAX, err));
    t->n = (int)fr_json_array_length(&rows);
    for (int i = 0, k = 0; i < fr_json_array_length(&coefficients) && k < t->n; i++) {
        struct fr_json one = fr_json_element(&coefficients, i);
        bool known = false;
        FR_TRY(fr_json_get_bool(&one, "fitted", true, &known, err));
        FR_TRY(
            fr_json_get_bool(&one, "known", false, &known, err)); /* values that stayed, too */
        if (known)
            FR_TRY(fr_json_get_string(&one, "name", true, t->name[k], sizeof t->name[k], err));
        k += known;
    }
    for (int i = 0; i < t->n; i++) {
        if (!t->name[i][0])
            return fr_json_fail(&rows, err, "has %d rows, but only %d coefficients are known",
                                t->n, i);
        FR_TRY(read_row(&rows, i, t, err));
    }
    struct fr_json seen = fr_json_member(object, "seen");
    if (fr_json_present(&seen)) FR_TRY(fr_json_array(&seen, 0, FR_TUNING_SEEN_MAX, err));
    t->n_seen = fr_json_present(&seen) ? (int)fr_json_array_length(&seen) : 0;
    for (int i = 0; i < t->n_seen; i++) FR_TRY(read_seen(&seen, i, t, err));
    t->present = true;
    return FR_OK;
}
