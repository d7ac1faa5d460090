#include "models/device/device.h"

#include <stdlib.h>
#include <string.h>

const char *const fr_transposed_names[] = {"mixed", "none", "a", "b", NULL};
const char *const fr_dtype_names[] = {
#define FR_DTYPE_NAME(code, name, bytes) #name,
    FR_DTYPE_LIST(FR_DTYPE_NAME)
#undef FR_DTYPE_NAME
        NULL};

double fr_dtype_size_B(fr_dtype dtype) {
    static const double sizes[] = {
#define FR_DTYPE_SIZE(code, name, bytes) bytes,
        FR_DTYPE_LIST(FR_DTYPE_SIZE)
#undef FR_DTYPE_SIZE
    };
    return sizes[dtype];
}

#define FR_GEMM(name) extern const struct fr_gemm_form fr_gemm_##name;
#include "models/device/gemm_list.h"
#undef FR_GEMM

const struct fr_gemm_form *const fr_gemm_forms[] = {
#define FR_GEMM(name) &fr_gemm_##name,
#include "models/device/gemm_list.h"
#undef FR_GEMM
    NULL};

/* clang-format off */
static const char *const device_keys[] = {
    "name",          "generation",        "memory",        "memory_margin", "memory_bandwidth",
    "allocator",     "context",           "communicators", "context_deviation",
    "working_sets",  "launch",            "fixed",         "host_launch",
    "host_skew",     "host_pass",         "host_experts",  "host_overlap",
    "host_link",     "host_memory",       "host_bandwidth", "attention",
    "gemm",          "power",             "interference",  "noise",
    "usual",         "interruptions",     "undisturbed",   "clock",
    "fp8_transpose", "jitter",            "jitter_share",  "dummy_gradients",
    "workspace",     "grouped_workspace", "framework",     "gathers",           NULL};
/* clang-format on */
static const char *const usual_keys[] = {"products", "memory", NULL};
static const char *const attention_keys[] = {
    "plain",        "flash",         "flash_2",          "flash_1",    "backward",
    "scan",         "scan_backward", "half_keys",        "eight_bits", "eight_bits_wide",
    "exponentials", "backward_keys", "flash_2_backward", NULL};
static const char *const power_keys[] = {
    "busy", "idle", "communicating", "quality", "source", "uncertainty", NULL};
static const char *const qualities[] = {"measured", "sampled", "estimated", "unavailable",
                                        NULL};
static const char *const residual_keys[] = {"median", "p90", "points", "beyond_octave", NULL};

/* Where the file states none: models made of data sheets miss by 27 to 37 % in the literature, meters by
 * what they sample. */
static double usual_uncertainty(const char *quality) {
    return strcmp(quality, "measured") == 0  ? 0.05
           : strcmp(quality, "sampled") == 0 ? 0.1
                                             : 0.3;
}

static fr_status power_read(const struct fr_json *object, struct fr_power *power,
                            struct fr_error *err) {
    int quality = -1;
    FR_TRY(fr_json_object(object, power_keys, err));
    FR_TRY(fr_json_get_choice(object, "quality", false, qualities, &quality, err));
    if (quality >= 0) strcpy(power->quality, qualities[quality]);
    FR_TRY(
        fr_json_get_string(object, "source", false, power->source, sizeof power->source, err));
    FR_TRY(fr_json_get_quantity(object, "busy", true, FR_QUANTITY_POWER, 0, 1e6, &power->busy_W,
                                err));
    FR_TRY(fr_json_get_quantity(object, "idle", true, FR_QUANTITY_POWER, 0, 1e6, &power->idle_W,
                                err));
    struct fr_json idle = fr_json_member(object, "idle"), busy = fr_json_member(object, "busy"),
                   communicating = fr_json_member(object, "communicating");
    if (power->busy_W <= 0)
        return fr_json_fail(&busy, err,
                            "is 0 W; expected more, what a rank draws that computes");
    if (power->idle_W > power->busy_W)
        return fr_json_fail(
            &idle, err,
            "is %.6g W; expected at most the %.6g W of \"busy\": a rank that waits "
            "draws no more than one that computes",
            power->idle_W, power->busy_W);
    power->communicating_W = power->idle_W + FR_POWER_WAITING * (power->busy_W - power->idle_W);
    power->uncertainty = usual_uncertainty(power->quality);
    FR_TRY(fr_json_get_number(object, "uncertainty", false, 0, 10, &power->uncertainty, err));
    power->known = true;
    FR_TRY(fr_json_get_quantity(object, "communicating", false, FR_QUANTITY_POWER, 0, 1e6,
                                &power->communicating_W, err));
    if (power->communicating_W < power->idle_W)
        return fr_json_fail(
            &communicating, err,
            "is %.6g W; expected at least the %.6g W of \"idle\": a rank that waits draws "
            "least",
            power->communicating_W, power->idle_W);
    return FR_OK;
}

static fr_status residuals_read(const struct fr_json *object, struct fr_gemm_model *model,
                                struct fr_error *err) {
    struct fr_json residuals = fr_json_member(object, "residuals");
    model->residual_median = model->residual_p90 = -1;
    if (!fr_json_present(&residuals)) return FR_OK;
    FR_TRY(fr_json_object(&residuals, residual_keys, err));
    FR_TRY(
        fr_json_get_number(&residuals, "median", false, 0, 1e9, &model->residual_median, err));
    FR_TRY(fr_json_get_number(&residuals, "p90", false, 0, 1e9, &model->residual_p90, err));
    return fr_json_get_number(&residuals, "beyond_octave", false, 0, 10, &model->beyond_octave,
                              err);
}

static fr_status gemm_read(const struct fr_json *object, struct fr_gemm_model *model,
                           struct fr_error *err) {
    if (!fr_json_is_object(object)) return fr_json_fail(object, err, "expected an object");
    FR_TRY(residuals_read(object, model, err));
    FR_TRY(fr_json_get_quantity(object, "nominal_peak", false, FR_QUANTITY_WORK_RATE, 1, 1e24,
                                &model->nominal_flop_per_s, err));
    for (const struct fr_gemm_form *const *row = fr_gemm_forms; *row; row++) {
        struct fr_json mark = fr_json_member(object, (*row)->key);
        if (!fr_json_present(&mark)) continue;
        model->form = *row;
        return (*row)->read(object, model, err);
    }
    /* A bare peak is the saturating form without a loss. */
    model->form = &fr_gemm_saturating;
    return model->form->read(object, model, err);
}

static fr_status attention_read(const struct fr_json *object, struct fr_attention_rates *a,
                                struct fr_error *err) {
    const struct {
        const char *key;
        double most, *out;
    } shares[] = {{"plain", 1, &a->plain},
                  {"flash", 1, &a->flash},
                  {"flash_2", 1, &a->flash_2},
                  {"flash_1", 1, &a->flash_1},
                  {"backward", 10, &a->backward},
                  {"scan", 1, &a->scan},
                  {"scan_backward", 10, &a->scan_backward},
                  {"eight_bits", 10, &a->eight_bits},
                  {"eight_bits_wide", 10, &a->eight_bits_wide},
                  {"exponentials", 1024, &a->exponentials},
                  {"flash_2_backward", 10, &a->flash_2_backward}};
    FR_TRY(fr_json_object(object, attention_keys, err));
    for (size_t i = 0; i < sizeof shares / sizeof *shares; i++)
        FR_TRY(fr_json_get_number(object, shares[i].key, false, 1e-6, shares[i].most,
                                  shares[i].out, err));
    FR_TRY(fr_json_get_number(object, "backward_keys", false, 0, 1e6, &a->backward_keys, err));
    return fr_json_get_number(object, "half_keys", false, 0, 1e6, &a->half_keys, err);
}

double fr_device_flash(const struct fr_device *device, fr_flash generation) {
    const struct fr_attention_rates *a = &device->attention;
    double now = a->flash > 0 ? a->flash : a->plain > 0 ? a->plain : 1;
    double second = a->flash_2 > 0 ? a->flash_2 : now;
    if (generation == FR_FLASH_1) return a->flash_1 > 0 ? a->flash_1 : second / 2;
    return generation == FR_FLASH_2 ? second : now;
}

/* How the machine is besides its own speed.  A file of before tells a share alone. */
static fr_status disturbance_read(const struct fr_json *object, struct fr_device *device,
                                  struct fr_error *err) {
    struct fr_json usual = fr_json_member(object, "usual"),
                   interruptions = fr_json_member(object, "interruptions");
    double products = 1, memory = 1, share = 0;
    bool idle = false;
    FR_TRY(fr_json_get_number(object, "noise", false, 0, 10, &share, err));
    FR_TRY(fr_json_get_bool(object, "undisturbed", false, &idle, err));
    if (fr_json_present(&usual)) {
        FR_TRY(fr_json_object(&usual, usual_keys, err));
        FR_TRY(fr_json_get_number(&usual, "products", false, 1e-3, 1e6, &products, err));
        FR_TRY(fr_json_get_number(&usual, "memory", false, 1e-3, 1e6, &memory, err));
    }
    if (fr_json_present(&interruptions))
        FR_TRY(fr_interruptions_read(&interruptions, &device->interruptions, err));
    if (idle) {
        device->interruptions = (struct fr_interruptions){0};
        return FR_OK;
    }
    device->usual_products = products - 1;
    device->usual_memory = memory - 1;
    if (share == 0) share = fr_interruptions_share(&device->interruptions, 1, 0);
    fr_device_disturb(device, share);
    return FR_OK;
}

fr_status fr_device_read(const struct fr_json *object, struct fr_device *device,
                         struct fr_error *err) {
    FR_TRY(fr_json_object(object, device_keys, err));
    FR_TRY(fr_json_get_string(object, "name", false, device->name, sizeof device->name, err));
    FR_TRY(fr_json_get_string(object, "generation", false, device->generation,
                              sizeof device->generation, err));
    FR_TRY(fr_json_get_quantity(object, "memory", false, FR_QUANTITY_SIZE, 0, 1e18,
                                &device->memory_B, err));
    FR_TRY(
        fr_json_get_number(object, "memory_margin", false, 0, 10, &device->memory_margin, err));
    FR_TRY(fr_shown_read(object, &device->shown, err));
    FR_TRY(fr_json_get_quantity(object, "memory_bandwidth", true, FR_QUANTITY_RATE, 1, 1e18,
                                &device->memory_rate_B_per_s, err));
    struct fr_json sets = fr_json_member(object, "working_sets");
    if (fr_json_present(&sets))
        FR_TRY(fr_working_sets_read(&sets, device->memory_rate_B_per_s, &device->working_sets,
                                    err));
    FR_TRY(disturbance_read(object, device, err));
    FR_TRY(fr_json_get_quantity(object, "launch", false, FR_QUANTITY_TIME, 0, 3600,
                                &device->launch_s, err));
    FR_TRY(fr_json_get_quantity(object, "fixed", false, FR_QUANTITY_TIME, 0, 86400,
                                &device->fixed_s, err));
    FR_TRY(fr_json_get_quantity(object, "host_launch", false, FR_QUANTITY_TIME, 0, 3600,
                                &device->host_launch_s, err));
    FR_TRY(fr_json_get_quantity(object, "host_pass", false, FR_QUANTITY_TIME, 0, 3600,
                                &device->host_pass_s, err));
    FR_TRY(fr_json_get_quantity(object, "host_experts", false, FR_QUANTITY_TIME, 0, 3600,
                                &device->host_experts_s, err));
    FR_TRY(
        fr_json_get_number(object, "host_overlap", false, 0, 100, &device->host_overlap, err));
    FR_TRY(fr_json_get_quantity(object, "host_link", false, FR_QUANTITY_RATE, 1, 1e18,
                                &device->host_link_B_per_s, err));
    FR_TRY(fr_json_get_quantity(object, "host_memory", false, FR_QUANTITY_SIZE, 0, 1e18,
                                &device->host_memory_B, err));
    FR_TRY(fr_json_get_quantity(object, "host_bandwidth", false, FR_QUANTITY_RATE, 1, 1e18,
                                &device->host_rate_B_per_s, err));
    FR_TRY(fr_json_get_number(object, "host_skew", false, 0, 100, &device->host_skew, err));
    FR_TRY(fr_json_get_number(object, "interference", false, 0, 1, &device->interference, err));
    FR_TRY(fr_json_get_quantity(object, "jitter", false, FR_QUANTITY_TIME, 0, 3600,
                                &device->jitter_s, err));
    FR_TRY(fr_json_get_number(object, "jitter_share", false, 0, 1, &device->jitter_share, err));
    FR_TRY(fr_framework_read(object, &device->framework, err));
    device->fp8_transpose = true;
    FR_TRY(fr_json_get_bool(object, "fp8_transpose", false, &device->fp8_transpose, err));
    struct fr_json attention = fr_json_member(object, "attention");
    if (fr_json_present(&attention))
        FR_TRY(attention_read(&attention, &device->attention, err));
    struct fr_json gemm = fr_json_member(object, "gemm"),
                   power = fr_json_member(object, "power");
    FR_TRY(fr_json_object(&gemm, fr_dtype_names, err));
    int described = 0;
    for (int d = 0; d < FR_DTYPE_COUNT; d++) {
        struct fr_json one = fr_json_member(&gemm, fr_dtype_names[d]);
        if (!fr_json_present(&one)) continue;
        described++;
        FR_TRY(gemm_read(&one, &device->gemm[d], err));
    }
    if (!described)
        return fr_json_fail(&gemm, err,
                            "describes no dtype; expected at least one, e.g. \"fp32\"");
    struct fr_json clock = fr_json_member(object, "clock");
    if (fr_json_present(&clock)) FR_TRY(fr_device_clock_read(&clock, &device->clock, err));
    return fr_json_present(&power) ? power_read(&power, &device->power, err) : FR_OK;
}

static void table_free(struct fr_gemm_table *t) {
    free(t->log_m);
    free(t->log_n);
    free(t->log_k);
    free(t->log_time);
}

void fr_device_free(struct fr_device *device) {
    for (int d = 0; d < FR_DTYPE_COUNT; d++) {
        table_free(&device->gemm[d].table);
        table_free(&device->gemm[d].memory.log_ratio);
        table_free(&device->gemm[d].adds.log_ratio);
        for (int t = 0; t < FR_TRANSPOSED_KINDS; t++)
            table_free(&device->gemm[d].transposed[t].log_ratio);
    }
    *device = (struct fr_device){0};
}
