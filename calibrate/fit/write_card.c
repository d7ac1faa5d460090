/* The device of a cluster file where others' products, or an accelerator, were measured: the base's, with what was
 * measured in place of its own. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/json/quantity.h"
#include "calibrate/fit/write.h"

static void put_single(struct fr_json_writer *w, const struct fr_fit_singles *s, int k) {
    char text[64];
    if (strcmp(s->names[k], "peak") == 0)
        fr_json_put_string(
            w, fr_quantity_format(s->value[k], FR_QUANTITY_WORK_RATE, text, sizeof text));
    else
        fr_json_put_number(w, floor(s->value[k] * 1e4 + 0.5) / 1e4);
}

/* Beside residuals a peak counts as fitted, and utilisation is a share of the data sheet's, which was the base's. */
static void add_nominal(struct fr_json_writer *w, const struct fr_json *gemm) {
    struct fr_json nominal = fr_json_member(gemm, "nominal_peak"),
                   fitted = fr_json_member(gemm, "residuals"),
                   peak = fr_json_member(gemm, "peak");
    if (fr_json_present(&nominal) || fr_json_present(&fitted) || !fr_json_present(&peak))
        return;
    fr_json_key(w, "nominal_peak");
    fr_json_put_copy(w, &peak);
}

/* The base's description of a dtype's products with the values that others' products say. */
static void add_single(struct fr_json_writer *w, const struct fr_fit_singles *s,
                       const struct fr_json *gemm) {
    bool has[FR_PRODUCT_VALUES] = {false};
    fr_json_begin_object(w);
    for (int64_t i = 0; fr_json_key_at(gemm, i); i++) {
        const char *key = fr_json_key_at(gemm, i);
        struct fr_json value = fr_json_member(gemm, key);
        int k = 0;
        while (k < FR_PRODUCT_VALUES && strcmp(s->names[k], key) != 0) k++;
        if (strcmp(key, "residuals") == 0) continue;
        if (s->n_grouped > 0 && strcmp(key, "grouped") == 0) continue;
        fr_json_key(w, key);
        if (k == FR_PRODUCT_VALUES) {
            fr_json_put_copy(w, &value);
            continue;
        }
        has[k] = true;
        put_single(w, s, k);
    }
    for (int k = 0; k < FR_PRODUCT_VALUES; k++) {
        if (has[k]) continue;
        fr_json_key(w, s->names[k]);
        put_single(w, s, k);
    }
    if (s->n_grouped > 0) fr_fit_add_share(w, "grouped", s->grouped);
    add_nominal(w, gemm);
    fr_fit_add_residuals(w, &s->quality, 0);
    fr_json_end_object(w);
}

bool fr_fit_any_single(const struct fr_fit_result *result) {
    for (int d = 0; d < FR_DTYPE_COUNT; d++)
        if (result->singles[d].n > 0) return true;
    return false;
}

static void add_base_gemm(struct fr_json_writer *w, const struct fr_fit_result *result,
                          const struct fr_json *value) {
    fr_json_begin_object(w);
    for (int d = 0; d < FR_DTYPE_COUNT; d++) {
        struct fr_json gemm = fr_json_member(value, fr_dtype_names[d]);
        if (!fr_json_present(&gemm)) continue;
        fr_json_key(w, fr_dtype_names[d]);
        if (result->singles[d].n > 0)
            add_single(w, &result->singles[d], &gemm);
        else
            fr_json_put_copy(w, &gemm);
    }
    fr_json_end_object(w);
}

/* Measured values of an accelerator, by their keys. */
enum { CARD_VALUES = 4 };
static void card_values(const struct fr_fit_card *card, double value[CARD_VALUES]) {
    value[0] = card->memory_B;
    value[1] = card->memory_rate_B_per_s;
    value[2] = card->link_rate_B_per_s;
    value[3] = card->launch_s;
}
static const struct {
    const char *key;
    fr_quantity quantity;
} card_keys[CARD_VALUES] = {{"memory", FR_QUANTITY_SIZE},
                            {"memory_bandwidth", FR_QUANTITY_RATE},
                            {"host_link", FR_QUANTITY_RATE},
                            {"launch", FR_QUANTITY_TIME}};

static bool power_is_measured(const struct fr_fit_result *result) {
    return result->card.present && result->power_quality != FR_QUALITY_ESTIMATED;
}

/* Measured values of attention, by their keys. */
enum { ATTENTION_VALUES = 7 };
struct attention_value {
    const char *key;
    double value, spread; /* spread 0: a file cannot state it */
};
static void attention_values(const struct fr_fit_attention *a,
                             struct attention_value v[ATTENTION_VALUES]) {
    v[0] = (struct attention_value){"flash", a->flash, a->flash_spread};
    v[1] = (struct attention_value){"half_keys", a->half_keys, 0};
    v[2] = (struct attention_value){"backward", a->backward, a->backward_spread};
    v[3] = (struct attention_value){"flash_2", a->flash_2, a->flash_2_spread};
    v[4] = (struct attention_value){"exponentials", a->exponentials, 0};
    v[5] = (struct attention_value){"backward_keys", a->backward_keys, 0};
    v[6] = (struct attention_value){"flash_2_backward", a->flash_2_backward, 0};
}

static void add_attention(struct fr_json_writer *w, const struct fr_fit_result *result,
                          const struct fr_json *base) {
    struct attention_value v[ATTENTION_VALUES];
    attention_values(&result->attention, v);
    fr_json_add_object(w, "attention");
    for (int64_t i = 0; fr_json_key_at(base, i); i++) {
        const char *key = fr_json_key_at(base, i);
        struct fr_json value = fr_json_member(base, key);
        bool measured = false;
        for (int k = 0; k < ATTENTION_VALUES; k++)
            measured = measured || (v[k].value > 0 && strcmp(v[k].key, key) == 0);
        if (measured) continue;
        fr_json_key(w, key);
        fr_json_put_copy(w, &value);
    }
    for (int k = 0; k < ATTENTION_VALUES; k++)
        if (v[k].value > 0) fr_fit_add_share(w, v[k].key, v[k].value);
    fr_json_end_object(w);
}

/* Is @p key of the device measured, and not the base's? */
static bool card_has(const struct fr_fit_result *result, const char *key) {
    double value[CARD_VALUES];
    card_values(&result->card, value);
    for (int i = 0; i < CARD_VALUES; i++)
        if (strcmp(key, card_keys[i].key) == 0) return value[i] > 0;
    if (strcmp(key, "interference") == 0) return result->card.interference > 0;
    if (strcmp(key, "attention") == 0) return result->attention.n > 0;
    return result->card.present && (strcmp(key, "name") == 0 ||
                                    (strcmp(key, "power") == 0 && power_is_measured(result)));
}

static void add_card(struct fr_json_writer *w, const struct fr_fit_result *result) {
    const struct fr_fit_card *card = &result->card;
    double value[CARD_VALUES];
    card_values(card, value);
    for (int i = 0; i < CARD_VALUES; i++) {
        if (!(value[i] > 0)) continue;
        if (i == 0)
            fr_json_add_quantity(w, card_keys[i].key, value[i], card_keys[i].quantity);
        else
            fr_fit_add_rounded(w, card_keys[i].key, value[i], card_keys[i].quantity);
    }
    if (card->interference > 0) fr_fit_add_share(w, "interference", card->interference);
    if (power_is_measured(result)) fr_fit_add_power(w, result);
}

/* The base's device with what was measured in place of its own. */
void fr_fit_add_base_device(struct fr_json_writer *w, const struct fr_fit_result *result) {
    struct fr_json root = fr_json_root(result->base), device = fr_json_member(&root, "device");
    fr_json_add_object(w, "device");
    if (result->card.present) fr_json_add_string(w, "name", result->provenance.device);
    for (int64_t i = 0; fr_json_key_at(&device, i); i++) {
        const char *key = fr_json_key_at(&device, i);
        struct fr_json value = fr_json_member(&device, key);
        if (card_has(result, key)) continue;
        fr_json_key(w, key);
        if (strcmp(key, "gemm") == 0)
            add_base_gemm(w, result, &value);
        else
            fr_json_put_copy(w, &value);
    }
    add_card(w, result);
    struct fr_json attention = fr_json_member(&device, "attention");
    if (result->attention.n > 0) add_attention(w, result, &attention);
    fr_json_end_object(w);
}

/* Is it the width of a value that products, or an accelerator's memory, set? */
static bool is_of_single(const struct fr_fit_result *result, const char *width) {
    char path[64];
    struct attention_value v[ATTENTION_VALUES];
    if (result->card.memory_spread > 0 && strcmp(width, "device.memory_bandwidth") == 0)
        return true;
    if (result->card.interference > 0 && strcmp(width, "device.interference") == 0) return true;
    attention_values(&result->attention, v);
    for (int k = 0; k < ATTENTION_VALUES; k++) {
        snprintf(path, sizeof path, "device.attention.%s", v[k].key);
        if (v[k].spread > 0 && strcmp(path, width) == 0) return true;
    }
    for (int d = 0; d < FR_DTYPE_COUNT; d++)
        for (int k = 0; k < FR_PRODUCT_VALUES && result->singles[d].n > 0; k++) {
            snprintf(path, sizeof path, "device.gemm.%s.%s", fr_dtype_names[d],
                     result->singles[d].names[k]);
            if (strcmp(path, width) == 0) return true;
        }
    return false;
}

/* How wide they leave it, of values of which a file can state it, beside the base's widths; what it states of several
 * together was of its own values. */
void fr_fit_add_single_widths(struct fr_json_writer *w, const struct fr_fit_result *result) {
    char path[64];
    struct fr_json root = fr_json_root(result->base), base = fr_json_member(&root, "widths");
    fr_json_add_object(w, "widths");
    for (int64_t i = 0; fr_json_key_at(&base, i); i++) {
        struct fr_json width = fr_json_member(&base, fr_json_key_at(&base, i));
        if (!fr_json_is_number(&width) || is_of_single(result, fr_json_key_at(&base, i)))
            continue;
        fr_json_key(w, fr_json_key_at(&base, i));
        fr_json_put_copy(w, &width);
    }
    for (int d = 0; d < FR_DTYPE_COUNT; d++)
        for (int k = 0; k < FR_PRODUCT_VALUES && result->singles[d].n > 0; k++) {
            const struct fr_fit_singles *s = &result->singles[d];
            if (strcmp(s->names[0], "efficiency") != 0) continue;
            snprintf(path, sizeof path, "device.gemm.%s.%s", fr_dtype_names[d], s->names[k]);
            fr_fit_add_share(w, path, fmin(2, fmax(0.001, s->sigma[k])));
        }
    struct attention_value v[ATTENTION_VALUES];
    attention_values(&result->attention, v);
    for (int k = 0; k < ATTENTION_VALUES; k++) {
        snprintf(path, sizeof path, "device.attention.%s", v[k].key);
        if (v[k].spread > 0) fr_fit_add_share(w, path, fmin(2, fmax(0.001, v[k].spread)));
    }
    if (result->card.memory_spread > 0)
        fr_fit_add_share(w, "device.memory_bandwidth",
                         fmin(2, fmax(0.001, result->card.memory_spread)));
    fr_json_end_object(w);
}
