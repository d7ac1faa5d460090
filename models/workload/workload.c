#include "models/workload/workload.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "models/workload/family.h"
#include "models/workload/hybrid.h"
#include "models/workload/optimizer.h"

#define FR_KIND(name) extern const struct fr_kind fr_kind_##name;
#include "models/workload/kind_list.h"
#undef FR_KIND

const struct fr_kind *const fr_kinds[] = {
#define FR_KIND(name) &fr_kind_##name,
#include "models/workload/kind_list.h"
#undef FR_KIND
    NULL};

/* State besides weight and gradient, in values of fp32: Adam's two moments, one momentum. */
static const char *const optimizers[] = {"adam", "momentum", "sgd", NULL};
static const double optimizer_state_B[] = {8, 4, 0};
static const char *const narrow_words[] = {"bf16", "fp8", NULL};
static const char *const scalings[] = {"tensor", "block", NULL};

#define INTO struct fr_workload
#include "models/workload/key_rows.h"
static const struct fr_json_key common_keys[] = {
#define FR_KEY FR_KEY_LISTED
#include "models/workload/key_list.h"
#undef FR_KEY
    {0}};
const struct fr_json_key *const fr_workload_keys = common_keys;

fr_status fr_workload_read_defaults(const struct fr_json *root, struct fr_workload *workload,
                                    struct fr_error *err) {
    static const char *const words[] = {"2019", "modern", NULL};
    struct fr_json node = fr_json_member(root, "defaults");
    int which = workload->modern;
    int64_t year = 0;
    if (fr_json_is_number(&node)) { /* as --set model.defaults=2019 is read */
        workload->modern = false;
        workload->of_2019 = true;
        return fr_json_integer(&node, 2019, 2019, &year, err);
    }
    FR_TRY(fr_json_get_choice(root, "defaults", false, words, &which, err));
    workload->modern = which == 1;
    workload->of_2019 = fr_json_present(&node) && which == 0;
    return FR_OK;
}

static fr_status read_scaling(const struct fr_json *root, struct fr_workload *workload,
                              struct fr_error *err) {
    int scaling = 0;
    struct fr_json node = fr_json_member(root, "fp8_scaling");
    FR_TRY(fr_json_get_choice(root, "fp8_scaling", false, scalings, &scaling, err));
    if (fr_json_present(&node) && workload->dtype != FR_FP8)
        return fr_json_fail(&node, err, "has no effect where dtype is %s",
                            fr_dtype_names[workload->dtype]);
    workload->fp8_blocks = scaling == 1;
    return FR_OK;
}

/* Attention or logits, at 8 bits where products are of as few, else at 16. */
static fr_status read_narrow(const struct fr_json *root, const char *key, fr_dtype dtype,
                             bool *narrow, struct fr_error *err) {
    int which = 0;
    struct fr_json node = fr_json_member(root, key);
    FR_TRY(fr_json_get_choice(root, key, false, narrow_words, &which, err));
    if (fr_json_present(&node) && !fr_dtype_is_narrow(dtype))
        return fr_json_fail(&node, err, "has no effect where dtype is %s",
                            fr_dtype_names[dtype]);
    *narrow = which == 1;
    return FR_OK;
}

fr_status fr_workload_read_weights(const struct fr_json *root, struct fr_workload *workload,
                                   struct fr_error *err) {
    int weight = fr_dtype_is_narrow(workload->dtype) ? FR_BF16 : (int)workload->dtype;
    struct fr_json node = fr_json_member(root, "weight_dtype");
    FR_TRY(fr_json_get_choice(root, "weight_dtype", false, fr_dtype_names, &weight, err));
    if (fr_dtype_size_B((fr_dtype)weight) < fr_dtype_size_B(workload->dtype))
        return fr_json_fail(&node, err,
                            "is %s; expected weights no narrower than the dtype, %s",
                            fr_dtype_names[weight], fr_dtype_names[workload->dtype]);
    workload->weight_dtype = (fr_dtype)weight;
    FR_TRY(read_narrow(root, "attention_dtype", workload->dtype, &workload->narrow_attention,
                       err));
    FR_TRY(read_narrow(root, "logits_dtype", workload->dtype, &workload->narrow_logits, err));
    return read_scaling(root, workload, err);
}

/* Products of 8 bits and fewer leave gradients of 16: no framework adds up narrower ones. */
static int of_gradients(int dtype) {
    return fr_dtype_size_B((fr_dtype)dtype) < 2 ? (int)FR_BF16 : dtype;
}

static fr_status common_read(const struct fr_json *root, struct fr_workload *workload,
                             struct fr_error *err) {
    int dtype = FR_FP32, gradient = -1, optimizer = 0;
    FR_TRY(fr_json_get_string(root, "name", false, workload->name, sizeof workload->name, err));
    FR_TRY(fr_json_get_string(root, "source", false, workload->source, sizeof workload->source,
                              err));
    FR_TRY(fr_json_get_choice(root, "dtype", false, fr_dtype_names, &dtype, err));
    FR_TRY(fr_json_get_choice(root, "gradient_dtype", false, fr_dtype_names, &gradient, err));
    FR_TRY(fr_json_get_choice(root, "optimizer", false, optimizers, &optimizer, err));
    FR_TRY(fr_workload_read_defaults(root, workload, err));
    workload->dtype = (fr_dtype)dtype;
    workload->gradient_dtype = (fr_dtype)(gradient < 0 ? of_gradients(dtype) : gradient);
    FR_TRY(fr_workload_read_weights(root, workload, err));
    workload->optimizer_state_B = optimizer_state_B[optimizer];
    FR_TRY(fr_optimizer_read_state(root, workload, err));
    struct fr_json micro = fr_json_member(root, "micro_batch");
    static const char *const all[] = {"all", NULL};
    int whole = 0;
    if (fr_json_is_string(&micro)) {
        FR_TRY(fr_json_get_choice(root, "micro_batch", false, all, &whole, err));
        workload->micro_batch = -1;
    } else
        FR_TRY(fr_json_get_integer(root, "micro_batch", false, 1, (int64_t)1 << 40,
                                   &workload->micro_batch, err));
    workload->global_batch = 256;
    return fr_json_read_keys(root, common_keys, workload, err);
}

static fr_status own_read(const struct fr_json *root, struct fr_workload *workload,
                          struct fr_error *err) {
    const char *names[16] = {NULL};
    int which = 0;
    for (int i = 0; fr_kinds[i]; i++) names[i] = fr_kinds[i]->name;
    FR_TRY(fr_json_get_choice(root, "kind", true, names, &which, err));
    workload->kind = fr_kinds[which];
    FR_TRY(fr_json_check_keys(root, common_keys, workload->kind->keys, err));
    FR_TRY(common_read(root, workload, err));
    FR_TRY(workload->kind->read(root, workload, err));
    FR_TRY(fr_json_read_keys(root, common_keys, NULL, err));
    return fr_json_read_keys(root, workload->kind->keys, NULL, err);
}

fr_status fr_workload_read(const struct fr_json_document *document,
                           struct fr_workload *workload, struct fr_error *err) {
    struct fr_json root = fr_json_root(document);
    *workload = (struct fr_workload){0};
    if (!fr_json_is_object(&root)) return fr_json_fail(&root, err, "expected an object");
    FR_TRY(fr_family_is_config(&root) ? fr_family_read(&root, workload, err)
                                      : own_read(&root, workload, err));
    struct fr_json profile = fr_json_member(&root, "layer_profile");
    if (!fr_json_present(&profile)) return FR_OK;
    if (workload->transformer.dense_layers > 0 || workload->transformer.predicted > 0)
        return fr_json_fail(&profile, err,
                            "measured layers are all alike, and dense_layers or "
                            "predicted_tokens makes others");
    if (fr_transformer_is_hybrid(&workload->transformer))
        return fr_json_fail(&profile, err,
                            "measured layers are all alike, and pattern makes others");
    if (workload->transformer.lora_rank > 0)
        return fr_json_fail(
            &profile, err, "measured layers made weight gradients, which lora_rank leaves out");
    return fr_layer_profile_read(&profile, workload, err);
}

void fr_workload_free(struct fr_workload *workload) {
    free(workload->layers);
    free(workload->stages.forward_s);
    free(workload->stages.backward_s);
    free(workload->stages.weight_s);
    free(workload->stages.gradient_B);
    free(workload->profile);
    for (int i = 0; i < workload->n_iterations; i++) free(workload->iterations[i].when);
    free(workload->iterations);
    for (int i = 0; i < workload->n_laws; i++) free(workload->laws[i].when);
    free(workload->laws);
    free(workload->growth);
    *workload = (struct fr_workload){0};
}

struct fr_layer fr_layer_fully_connected(double inputs, double outputs, bool bias,
                                         double repeat) {
    return (struct fr_layer){.repeat = repeat,
                             .inputs = inputs,
                             .outputs = outputs,
                             .rows = outputs,
                             .positions = 1,
                             .inner = inputs,
                             .groups = 1,
                             .weights = inputs * outputs,
                             .biases = bias ? outputs : 0,
                             .fully_connected = true,
                             .input_gradients = inputs};
}

const char *const fr_workload_stores[] = {"computed", "fp8", NULL};

fr_status fr_workload_read_store(const struct fr_json *object, struct fr_transformer *t,
                                 struct fr_error *err) {
    int store = 0;
    FR_TRY(
        fr_json_get_choice(object, "activation_store", false, fr_workload_stores, &store, err));
    t->saved_fp8 = store == 1;
    return FR_OK;
}

double fr_workload_casts(const struct fr_workload *workload, const struct fr_device *device) {
    bool wider = fr_dtype_size_B(workload->weight_dtype) > fr_dtype_saved_B(workload->dtype);
    return wider ? device->framework.casts : 0;
}

double fr_workload_weight_B(const struct fr_workload *workload,
                            const struct fr_device *device) {
    double held_B = fr_dtype_size_B(workload->weight_dtype),
           used_B = fr_dtype_size_B(workload->dtype);
    bool whole = workload->dtype == FR_FP8 && !device->fp8_transpose && !workload->fp8_blocks;
    if (fr_workload_casts(workload, device) > 0) return held_B; /* narrow for a pass alone */
    int copies = fr_dtype_is_narrow(workload->dtype) && !whole ? 2 : 1;
    return held_B > used_B ? held_B + copies * used_B : copies * held_B;
}

double fr_workload_update_B(const struct fr_workload *workload) {
    double weight_B = fr_dtype_size_B(workload->weight_dtype);
    double gradient_B = fr_dtype_size_B(workload->gradient_dtype);
    return 2 * weight_B + gradient_B + 2 * workload->optimizer_state_B;
}

double fr_workload_state_B(const struct fr_workload *workload, const struct fr_device *device) {
    return fr_workload_weight_B(workload, device) + fr_dtype_size_B(workload->gradient_dtype) +
           workload->optimizer_state_B;
}

double fr_workload_forward_weight_B(const struct fr_workload *workload,
                                    const struct fr_device *device) {
    double held_B = fr_dtype_size_B(workload->weight_dtype),
           used_B = fr_dtype_size_B(workload->dtype),
           one_copy_B = held_B > used_B ? held_B + used_B : held_B;
    return fmin(one_copy_B, fr_workload_weight_B(workload, device));
}

int64_t fr_workload_width(const struct fr_workload *w) {
    double widest = (double)w->transformer.hidden;
    for (int i = 0; i < w->n_layers; i++) widest = fmax(widest, w->layers[i].outputs);
    return (int64_t)widest;
}

int64_t fr_workload_depth(const struct fr_workload *w) {
    double layers = (double)w->transformer.layers;
    for (int i = 0; i < w->n_layers; i++) layers += w->layers[i].repeat;
    return (int64_t)layers;
}
