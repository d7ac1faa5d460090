/* Passes over memory of a trace, and copies.  A small one is left out: what it moves is in the cache, or its start
 * counts, and a rate of memory comes from the largest. */
#include <string.h>

#include "calibrate/samples/trace.h"

static const double
    PASS_LEAST_B = 256e6, /* our choice; a larger cache than that would still hide memory */
    LINK_LEAST_B = 16e6;  /* at 60 GB/s 30 times a copy's start */

/* How many arguments are read, and from which on; the result is like the first argument. */
static const struct row {
    const char *name;
    fr_traffic kernel;
    int first, n;
} rows[] = {{"aten::copy_", FR_TRAFFIC_STREAM, 1, 1},
            {"aten::add", FR_TRAFFIC_ELEMENTWISE, 0, 2},
            {"aten::add_", FR_TRAFFIC_ELEMENTWISE, 0, 2},
            {"aten::mul", FR_TRAFFIC_ELEMENTWISE, 0, 2},
            {"aten::mul_", FR_TRAFFIC_ELEMENTWISE, 0, 2},
            {"aten::silu", FR_TRAFFIC_ELEMENTWISE, 0, 1},
            {"aten::gelu", FR_TRAFFIC_ELEMENTWISE, 0, 1},
            {"aten::silu_backward", FR_TRAFFIC_ELEMENTWISE, 0, 2},
            {"aten::gelu_backward", FR_TRAFFIC_ELEMENTWISE, 0, 2},
            {"aten::native_layer_norm", FR_TRAFFIC_NORM, 0, 1},
            {"aten::_fused_rms_norm", FR_TRAFFIC_NORM, 0, 1}};

/* Bytes of a tensor that lies in memory in the order of @p like, without gaps; 0: it does not, or nobody says. */
static double dense_B(const struct fr_trace_tensor *t, const struct fr_trace_tensor *like) {
    double values = 1, last = 1;
    if (t->n == 0 || t->n != like->n) return 0;
    for (int i = 0; i < t->n; i++) {
        if (t->pitch[i] < 0 || t->size[i] != like->size[i]) return 0;
        if (t->size[i] > 1 && t->pitch[i] != like->pitch[i]) return 0;
        values *= (double)t->size[i];
        last += (double)(t->size[i] - 1) * (double)t->pitch[i];
    }
    return values == last ? values * t->value_B : 0;
}

static bool take(const struct fr_json *event, const struct row *row,
                 struct fr_sample_memory *s) {
    const struct fr_trace_tensor like = fr_trace_tensor(event, 0);
    double moved_B = dense_B(&like, &like);
    if (!(moved_B > 0)) return false;
    for (int i = row->first; i < row->first + row->n; i++) {
        const struct fr_trace_tensor read = fr_trace_tensor(event, i);
        double read_B = dense_B(&read, &like);
        if (!(read_B > 0)) return false;
        moved_B += read_B;
    }
    *s =
        (struct fr_sample_memory){.kernel = row->kernel, .size_B = moved_B, .moved_B = moved_B};
    return moved_B >= PASS_LEAST_B && moved_B <= FR_SAMPLE_SIZE_MAX_B;
}

bool fr_trace_traffic(const struct fr_json *event, struct fr_trace_call *call) {
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (fr_trace_is(event, "name", rows[i].name)) {
            call->kind = FR_TRACE_PASS;
            return take(event, &rows[i], &call->pass);
        }
    return false;
}

/* "Memcpy HtoD (Pinned -> Device)" */
bool fr_trace_link(const struct fr_json *event, struct fr_sample_link *link) {
    const char *name = fr_trace_text(event, "name");
    bool in = strstr(name, "HtoD") != NULL, out = strstr(name, "DtoH") != NULL;
    *link = (struct fr_sample_link){.way = in ? FR_WAY_TO_DEVICE : FR_WAY_TO_HOST,
                                    .pinned = strstr(name, "Pinned") != NULL,
                                    .size_B = (double)fr_trace_count(event, "bytes"),
                                    .time_s = fr_trace_time_s(event)};
    return fr_trace_is(event, "cat", "gpu_memcpy") && in != out &&
           link->size_B >= LINK_LEAST_B && link->size_B <= FR_SAMPLE_SIZE_MAX_B;
}

bool fr_trace_copy(const struct fr_json *event, struct fr_sample_memory *pass) {
    double moved_B = 2 * (double)fr_trace_count(event, "bytes");
    *pass = (struct fr_sample_memory){.kernel = FR_TRAFFIC_STREAM,
                                      .size_B = moved_B,
                                      .moved_B = moved_B,
                                      .time_s = fr_trace_time_s(event)};
    return fr_trace_is(event, "cat", "gpu_memcpy") &&
           strstr(fr_trace_text(event, "name"), "DtoD") && moved_B >= PASS_LEAST_B &&
           moved_B <= FR_SAMPLE_SIZE_MAX_B;
}
