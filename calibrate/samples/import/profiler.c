/* Traces of PyTorch's profiler (torch.profiler, export_chrome_trace) that were recorded with record_shapes=True: matrix
 * products by their shapes, each with the kernels that its operation launched.
 *
 *     {"deviceProperties": [{"name": ..., "totalGlobalMem": ...}],
 *      "traceEvents": [{"cat": "cpu_op", "name": "aten::mm", "args": {"External id": 7, "Input Dims": [[m, k], [k, n]],
 *                                        "Input type": ["c10::BFloat16", ...], "Input Strides": [...]}},
 *                      {"cat": "kernel", "dur": us, "args": {"External id": 7}}]}
 *
 * An operation's kernels have its id.  Strides, where there are any, say which operand is transposed. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/sort.h"
#include "calibrate/samples/import_text.h"

/* One matrix product that was called, and how long its kernels took. */
struct call {
    int64_t id;
    struct fr_sample_gemm product;
};

struct trace {
    struct fr_import *in;
    struct fr_json events;
    struct call *call;
    size_t n;
};

static int by_id(const void *x, const void *y) {
    return FR_ORDER(((const struct call *)x)->id, ((const struct call *)y)->id);
}

static bool is_text(const struct fr_json *event, const char *key, const char *wanted) {
    struct fr_json value = fr_json_member(event, key);
    const char *text = "";
    return fr_json_is_string(&value) && fr_json_text(&value, &text, NULL) == FR_OK &&
           strcmp(text, wanted) == 0;
}

/* The number of an operation, which its kernels have too; 0: there is none. */
static int64_t id_of(const struct fr_json *event) {
    struct fr_json args = fr_json_member(event, "args"),
                   value = fr_json_member(&args, "External id");
    double id = 0;
    return fr_json_number(&value, 1, 9007199254740992.0, &id, NULL) == FR_OK ? (int64_t)id : 0;
}

/* The number @p at of the list of operand @p which; 0: it is none. */
static int64_t entry(const struct fr_json *event, const char *key, int which, int at) {
    struct fr_json args = fr_json_member(event, "args"), all = fr_json_member(&args, key);
    if (!fr_json_is_array(&all) || fr_json_array_length(&all) <= which) return 0;
    struct fr_json list = fr_json_element(&all, which);
    if (!fr_json_is_array(&list) || fr_json_array_length(&list) <= at) return 0;
    struct fr_json value = fr_json_element(&list, at);
    double number = 0;
    fr_status status = fr_json_number(&value, 1, (double)FR_SAMPLE_COUNT_MAX, &number, NULL);
    return status == FR_OK ? (int64_t)number : 0;
}

static bool read_dtype(const struct fr_json *event, int which, fr_dtype *dtype) {
    static const char *const names[] = {"c10::BFloat16", "c10::Half", "float", "double", NULL};
    static const fr_dtype ours[] = {FR_BF16, FR_FP16, FR_FP32, FR_FP64};
    struct fr_json args = fr_json_member(event, "args"),
                   types = fr_json_member(&args, "Input type");
    const char *text = "";
    if (!fr_json_is_array(&types) || fr_json_array_length(&types) <= which) return false;
    struct fr_json type = fr_json_element(&types, which);
    if (!fr_json_is_string(&type) || fr_json_text(&type, &text, NULL) != FR_OK) return false;
    int found = fr_place_in(names, text);
    if (found >= 0) *dtype = ours[found];
    return found >= 0;
}

/* A column that moves on by more than one value lies in a transposed matrix. */
static int transposed(const struct fr_json *event, int first) {
    if (entry(event, "Input Strides", first, 1) == 0) return FR_TRANSPOSED_MIXED;
    if (entry(event, "Input Strides", first, 1) > 1) return FR_TRANSPOSED_A;
    return entry(event, "Input Strides", first + 1, 1) > 1 ? FR_TRANSPOSED_B
                                                           : FR_TRANSPOSED_NONE;
}

/* mm(a, b), addmm(c, a, b). @return whether it is one with shapes */
static bool read_call(const struct fr_json *event, struct call *call) {
    int first = is_text(event, "name", "aten::mm") ? 0 : 1;
    if (!is_text(event, "cat", "cpu_op")) return false;
    if (first == 1 && !is_text(event, "name", "aten::addmm")) return false;
    *call = (struct call){.id = id_of(event),
                          .product = {.batch = 1,
                                      .m = entry(event, "Input Dims", first, 0),
                                      .k = entry(event, "Input Dims", first, 1),
                                      .n = entry(event, "Input Dims", first + 1, 1),
                                      .transposed = transposed(event, first)}};
    return call->id > 0 && call->product.m > 0 && call->product.n > 0 && call->product.k > 0 &&
           read_dtype(event, first, &call->product.dtype);
}

static fr_status find_calls(struct trace *t) {
    int64_t n = fr_json_array_length(&t->events);
    t->call = fr_calloc((size_t)n + 1, sizeof *t->call);
    if (!t->call) return FR_ERR_NOMEM;
    for (int64_t i = 0; i < n; i++) {
        struct fr_json event = fr_json_element(&t->events, i);
        t->n += read_call(&event, &t->call[t->n]);
    }
    fr_sort_items(t->call, t->n, sizeof *t->call, by_id);
    return FR_OK;
}

static void add_kernels(struct trace *t) {
    int64_t n = fr_json_array_length(&t->events);
    for (int64_t i = 0; i < n; i++) {
        struct fr_json event = fr_json_element(&t->events, i),
                       took = fr_json_member(&event, "dur");
        const struct call wanted = {.id = id_of(&event)};
        double took_us = 0;
        if (!is_text(&event, "cat", "kernel") ||
            fr_json_number(&took, 0, 1e6 * FR_SAMPLE_TIME_MAX_S, &took_us, NULL) != FR_OK)
            continue;
        struct call *found =
            t->n ? bsearch(&wanted, t->call, t->n, sizeof wanted, by_id) : NULL;
        if (found) found->product.time_s += 1e-6 * took_us;
    }
}

static fr_status take_calls(struct trace *t, struct fr_error *err) {
    struct fr_import *in = t->in;
    FR_TRY(find_calls(t));
    add_kernels(t);
    for (size_t i = 0; i < t->n; i++) {
        struct fr_sample_gemm *p = &t->call[i].product;
        if (p->time_s < FR_SAMPLE_TIME_MIN_S || p->time_s > FR_SAMPLE_TIME_MAX_S) continue;
        p->rep = in->n_rows++;
        FR_TRY(fr_samples_add_gemm(in->samples, p));
    }
    if (in->n_rows > 0) return FR_OK;
    return fr_import_refuse(
        in, 0, err,
        "holds no matrix product with its shape and kernels: record it with "
        "torch.profiler.profile(record_shapes=True)");
}

static void take_device(const struct fr_json *root, struct fr_import *in) {
    struct fr_provenance *p = &in->samples->provenance;
    struct fr_json all = fr_json_member(root, "deviceProperties");
    if (!fr_json_is_array(&all) || fr_json_array_length(&all) == 0) return;
    struct fr_json first = fr_json_element(&all, 0), name = fr_json_member(&first, "name"),
                   memory = fr_json_member(&first, "totalGlobalMem");
    if (!fr_json_is_string(&name) || *p->device) return;
    snprintf(p->device, sizeof p->device, "%s", fr_json_text_at(&first, "name"));
    snprintf(p->device_libraries, sizeof p->device_libraries, "PyTorch's profiler");
    double memory_B =
        fr_json_is_number(&memory) ? fr_json_number_at(&first, "totalGlobalMem") : 0;
    p->device_memory_B = memory_B >= 1 && memory_B <= FR_SAMPLE_SIZE_MAX_B ? memory_B : 0;
}

static fr_status read(struct fr_import *in, struct fr_error *err) {
    struct fr_json_document *document = NULL;
    in->has_sources = true; /* the provenance says whose they are */
    if (fr_json_parse(in->text, in->length, in->name, &document, NULL) != FR_OK)
        return fr_import_refuse(in, 0, err,
                                "is no JSON: expected a trace of PyTorch's profiler");
    struct fr_json root = fr_json_root(document);
    struct trace t = {.in = in, .events = fr_json_member(&root, "traceEvents")};
    fr_status status = FR_OK;
    if (fr_json_is_array(&t.events)) {
        take_device(&root, in);
        status = take_calls(&t, err);
    } else
        status = fr_import_refuse(in, 0, err, "has no list \"traceEvents\"");
    free(t.call);
    fr_json_free(document);
    return status;
}

const struct fr_importer fr_importer_profiler = {
    .name = "profiler",
    .spelling = "profiler",
    .reads = "a trace of PyTorch's profiler with shapes: matrix products by their kernels",
    .read = read,
};
