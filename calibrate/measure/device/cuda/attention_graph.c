#include "calibrate/measure/device/cuda/attention.h"

static int type_of(const struct fr_device_task *t) {
    return t->dtype == FR_FP16 ? FR_DNN_FP16 : FR_DNN_BF16;
}

/* Token after token, in each the heads. */
static struct fr_dnn_tensor tokens(struct fr_dnn_graph *g, const struct fr_device_task *t,
                                   int name, int64_t heads) {
    const int64_t s = t->sequence, d = t->width;
    const int64_t size[FR_DNN_AXES] = {t->batch, heads, s, d},
                  stride[FR_DNN_AXES] = {s * heads * d, d, heads * d, 1};
    return fr_dnn_stored(g, name, type_of(t), size, stride);
}

/* The same read with rows for columns: K', V'. */
static struct fr_dnn_tensor turned(struct fr_dnn_graph *g, const struct fr_device_task *t,
                                   int name, int64_t heads) {
    const int64_t s = t->sequence, d = t->width;
    const int64_t size[FR_DNN_AXES] = {t->batch, heads, d, s},
                  stride[FR_DNN_AXES] = {s * heads * d, d, 1, heads * d};
    return fr_dnn_stored(g, name, type_of(t), size, stride);
}

/* fp32, head after head. */
static struct fr_dnn_tensor sums(struct fr_dnn_graph *g, const struct fr_device_task *t,
                                 int name, int64_t columns) {
    const int64_t h = t->heads, s = t->sequence;
    const int64_t size[FR_DNN_AXES] = {t->batch, h, s, columns},
                  stride[FR_DNN_AXES] = {h * s * columns, s * columns, columns, 1};
    return fr_dnn_stored(g, name, FR_DNN_FP32, size, stride);
}

static struct fr_dnn_tensor masked(struct fr_dnn_graph *g, const struct fr_device_task *t,
                                   struct fr_dnn_tensor s) {
    return t->causal ? fr_dnn_lower(g, s, fr_dnn_value(g, FR_ATTENTION_MASKED)) : s;
}

static void forward(struct fr_dnn_graph *g, const struct fr_device_task *t) {
    struct fr_dnn_tensor q = tokens(g, t, FR_ATTENTION_Q, t->heads),
                         k = turned(g, t, FR_ATTENTION_K, t->kv_heads),
                         v = tokens(g, t, FR_ATTENTION_V, t->kv_heads),
                         tau = fr_dnn_value(g, FR_ATTENTION_SCALE);
    struct fr_dnn_tensor s =
        fr_dnn_combine(g, FR_DNN_MUL, fr_dnn_product(g, q, k, FR_DNN_FP32), tau);
    s = masked(g, t, s);
    struct fr_dnn_tensor most = fr_dnn_reduce(g, FR_DNN_LARGEST, s);
    struct fr_dnn_tensor p = fr_dnn_map(g, FR_DNN_EXP, fr_dnn_combine(g, FR_DNN_SUB, s, most));
    struct fr_dnn_tensor sum = fr_dnn_reduce(g, FR_DNN_SUM, p);
    fr_dnn_combine_to(g, FR_DNN_ADD, most, fr_dnn_map(g, FR_DNN_LOG, sum),
                      sums(g, t, FR_ATTENTION_STATS, 1));
    fr_dnn_product_to(g, fr_dnn_combine_as(g, FR_DNN_DIV, p, sum, type_of(t)), v,
                      tokens(g, t, FR_ATTENTION_O, t->heads));
}

/* A gradient of keys or values: heads of queries that share one are summed. */
static void gradient(struct fr_dnn_graph *g, const struct fr_device_task *t,
                     struct fr_dnn_tensor a, struct fr_dnn_tensor b, int name) {
    struct fr_dnn_tensor to = tokens(g, t, name, t->kv_heads);
    if (t->kv_heads == t->heads)
        fr_dnn_product_to(g, a, b, to);
    else
        fr_dnn_reduce_to(g, FR_DNN_SUM, fr_dnn_product(g, a, b, type_of(t)), to);
}

static void backward(struct fr_dnn_graph *g, const struct fr_device_task *t) {
    struct fr_dnn_tensor q = tokens(g, t, FR_ATTENTION_Q, t->heads),
                         k = turned(g, t, FR_ATTENTION_K, t->kv_heads),
                         v = turned(g, t, FR_ATTENTION_V, t->kv_heads),
                         o = tokens(g, t, FR_ATTENTION_O, t->heads),
                         d_o = tokens(g, t, FR_ATTENTION_DO, t->heads),
                         stats = sums(g, t, FR_ATTENTION_STATS, 1),
                         tau = fr_dnn_value(g, FR_ATTENTION_SCALE),
                         one = fr_dnn_value(g, FR_ATTENTION_ONE),
                         d = sums(g, t, FR_ATTENTION_SUMS, 1),
                         dq = sums(g, t, FR_ATTENTION_DQ_SUM, t->width);
    int type = type_of(t);
    fr_dnn_combine_to(g, FR_DNN_MUL,
                      fr_dnn_reduce(g, FR_DNN_SUM, fr_dnn_combine(g, FR_DNN_MUL, d_o, o)), one,
                      d);
    struct fr_dnn_tensor s =
        fr_dnn_combine(g, FR_DNN_MUL, fr_dnn_product(g, q, k, FR_DNN_FP32), tau);
    s = masked(g, t, fr_dnn_combine(g, FR_DNN_SUB, s, stats));
    struct fr_dnn_tensor p = fr_dnn_map(g, FR_DNN_EXP, s);
    gradient(g, t, fr_dnn_transposed(g, p, type), d_o, FR_ATTENTION_DV);
    struct fr_dnn_tensor ds =
        fr_dnn_combine(g, FR_DNN_SUB, fr_dnn_product(g, d_o, v, FR_DNN_FP32), d);
    ds = fr_dnn_combine(g, FR_DNN_MUL, fr_dnn_combine(g, FR_DNN_MUL, ds, p), tau);
    gradient(g, t, fr_dnn_transposed(g, ds, type), q, FR_ATTENTION_DK);
    fr_dnn_product_to(g, ds, fr_dnn_transposed(g, k, type), dq);
    fr_dnn_copy_to(g, dq, tokens(g, t, FR_ATTENTION_DQ, t->heads));
}

void fr_attention_graph(struct fr_dnn_graph *g, const struct fr_device_task *task) {
    if (task->backward)
        backward(g, task);
    else
        forward(g, task);
}

double fr_attention_tensor_B(const struct fr_device_task *t, int name) {
    double rows = (double)t->batch * (double)t->sequence;
    double value_B = fr_dtype_size_B(t->dtype), d = (double)t->width;
    switch (name) {
    case FR_ATTENTION_Q:
    case FR_ATTENTION_O:
        return rows * (double)t->heads * d * value_B;
    case FR_ATTENTION_DO:
    case FR_ATTENTION_DQ:
        return t->backward ? rows * (double)t->heads * d * value_B : 0;
    case FR_ATTENTION_K:
    case FR_ATTENTION_V:
        return rows * (double)t->kv_heads * d * value_B;
    case FR_ATTENTION_DK:
    case FR_ATTENTION_DV:
        return t->backward ? rows * (double)t->kv_heads * d * value_B : 0;
    case FR_ATTENTION_STATS:
        return rows * (double)t->heads * sizeof(float);
    case FR_ATTENTION_SUMS:
        return t->backward ? rows * (double)t->heads * sizeof(float) : 0;
    case FR_ATTENTION_DQ_SUM:
        return t->backward ? rows * (double)t->heads * d * sizeof(float) : 0;
    default:
        return 0;
    }
}
