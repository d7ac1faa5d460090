/* Texts, numbers and tensors that an event of a trace states. */
#include <string.h>

#include "calibrate/samples/import_text.h"
#include "calibrate/samples/trace.h"

static const char *text_of(const struct fr_json *value) {
    const char *text = "";
    return fr_json_is_string(value) && fr_json_text(value, &text, NULL) == FR_OK ? text : "";
}

const char *fr_trace_text(const struct fr_json *object, const char *key) {
    struct fr_json value = fr_json_member(object, key);
    return text_of(&value);
}

bool fr_trace_is(const struct fr_json *event, const char *key, const char *wanted) {
    return strcmp(fr_trace_text(event, key), wanted) == 0;
}

static int64_t count_of(const struct fr_json *value) {
    double number = 0;
    if (!fr_json_is_number(value)) return 0;
    return fr_json_number(value, 1, 9007199254740992.0, &number, NULL) == FR_OK
               ? (int64_t)number
               : 0;
}

int64_t fr_trace_count(const struct fr_json *event, const char *key) {
    struct fr_json args = fr_json_member(event, "args"), value = fr_json_member(&args, key);
    return count_of(&value);
}

double fr_trace_time_s(const struct fr_json *event) {
    struct fr_json took = fr_json_member(event, "dur");
    double took_us = 0;
    if (!fr_json_is_number(&took) ||
        fr_json_number(&took, 0, 1e6 * FR_SAMPLE_TIME_MAX_S, &took_us, NULL) != FR_OK)
        return -1;
    return 1e-6 * took_us;
}

double fr_trace_value_B(const char *name, fr_dtype *dtype) {
    static const struct {
        const char *name;
        double value_B;
    } others[] = {{"int64", 8}, {"Long", 8}, {"int32", 4}, {"Int", 4}, {"int8", 1},
                  {"Char", 1},  {"Byte", 1}, {"uint8", 1}, {"bool", 1}};
    const char *colon = strrchr(name, ':');
    int known = *name ? fr_import_dtype(colon ? colon + 1 : name) : -1;
    *dtype = known < 0 ? FR_DTYPE_COUNT : (fr_dtype)known;
    if (known >= 0) return fr_dtype_size_B(*dtype);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (strcmp(others[i].name, name) == 0) return others[i].value_B;
    return 0;
}

/* Element @p which of the list @p key of "args". */
static struct fr_json entry(const struct fr_json *event, const char *key, int which) {
    struct fr_json args = fr_json_member(event, "args"), list = fr_json_member(&args, key);
    if (!fr_json_is_array(&list) || fr_json_array_length(&list) <= which)
        return fr_json_member(&args, "");
    return fr_json_element(&list, which);
}

const char *fr_trace_argument(const struct fr_json *event, int which) {
    struct fr_json value = entry(event, "Concrete Inputs", which);
    return text_of(&value);
}

struct fr_trace_tensor fr_trace_tensor(const struct fr_json *event, int which) {
    struct fr_trace_tensor tensor = {.dtype = FR_DTYPE_COUNT};
    struct fr_json sizes = entry(event, "Input Dims", which),
                   pitches = entry(event, "Input Strides", which),
                   type = entry(event, "Input type", which);
    int64_t n = fr_json_is_array(&sizes) ? fr_json_array_length(&sizes) : 0;
    if (n > FR_TRACE_DIMENSIONS) return tensor;
    tensor.value_B = fr_trace_value_B(text_of(&type), &tensor.dtype);
    bool has_pitches = fr_json_is_array(&pitches) && fr_json_array_length(&pitches) == n;
    for (int64_t i = 0; i < n; i++) {
        struct fr_json size = fr_json_element(&sizes, i);
        tensor.size[i] = count_of(&size);
        if (tensor.size[i] < 1 || tensor.size[i] > FR_SAMPLE_COUNT_MAX) return tensor;
        tensor.pitch[i] = -1;
        if (!has_pitches) continue;
        struct fr_json pitch = fr_json_element(&pitches, i);
        tensor.pitch[i] = count_of(&pitch);
    }
    tensor.n = (int)n;
    return tensor;
}
