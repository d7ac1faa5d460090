/* How much longer does a product take when its operands were not used just before?
 *
 * The edge of a product is the product with its dimensions cut to the largest measured ones.  Beyond the edge time
 * grows with the work, so this model is of the edge.  O(W) and R(W) are the times per byte of operands and results
 * from a working set W, beyond those just used (working_set.h).  The edge reads r bytes and writes w, and r + w is
 * its own set.  The extra time is,
 *
 *      from memory, where its time was measured there, q times the time t of the edge:
 *          t (q - 1) [r (O(W) - O(r + w)) + w (R(W) - R(r + w))] / [the same for the largest W measured]
 *      else
 *          r (O(W) - O(r + w)) + w (R(W) - R(r + w))
 *
 * A product that adds to its result reads the result too, unless its time from memory was measured as well; q is then
 * that time over its own.  (A library that clears a result first and adds to it then reads it anyway.) All times the
 * work over the edge's; W is at least the product's own operands. */
#include <math.h>

#include "models/device/device.h"

/* Bytes of a product. */
struct touched {
    double read_B, written_B, all_B;
};

static struct touched touched_by(const struct fr_gemm_shape *s, double value_B) {
    double written_B = s->m * s->n * value_B, read_B = (s->m + s->n) * s->k * value_B;
    return (struct touched){read_B, written_B, read_B + written_B};
}

/* Extra cost of a product's bytes beyond that from a set of own_B, over the time of a byte at the memory rate. */
static double beyond(const struct fr_device *device, fr_traffic kind, double working_set_B,
                     double own_B) {
    double there = fr_working_sets_share(&device->working_sets, kind, working_set_B),
           own = fr_working_sets_share(&device->working_sets, kind, own_B);
    return there > own ? there - own : 0;
}

/* The same of a whole product [B]. */
static double beyond_B(const struct fr_device *device, const struct touched *t,
                       double working_set_B) {
    return t->read_B * beyond(device, FR_TRAFFIC_OPERANDS, working_set_B, t->all_B) +
           t->written_B * beyond(device, FR_TRAFFIC_RESULTS, working_set_B, t->all_B);
}

/* How much of the way to memory it is from the product's own set to the working set, at most all of it, whatever a
 * disturbed measurement says of a set between.  An own set beyond all caches is there in part however it is used:
 * what is more is the whole way. */
static double way(const struct fr_device *device, const struct touched *t,
                  double working_set_B) {
    double whole_B = beyond_B(device, t, HUGE_VAL);
    return whole_B > 0 ? fmin(1, beyond_B(device, t, working_set_B) / whole_B) : 1;
}

double fr_device_product_beyond_s(const struct fr_device *device, fr_dtype dtype,
                                  const struct fr_gemm_shape *shape, double alone_s,
                                  double working_set_B, bool adds) {
    const struct fr_gemm_model *model = &device->gemm[dtype];
    const struct fr_gemm_form *form = model->form;
    double value_B = fr_dtype_size_B(dtype), slower = 1 + device->memory_noise;
    if (!(alone_s > 0)) return 0;
    struct fr_gemm_shape edge = form->edge ? form->edge(model, shape) : *shape;
    struct touched t = touched_by(&edge, value_B), all = touched_by(shape, value_B);
    double set_B = fmax(working_set_B, all.all_B),
           times = shape->m * shape->n * shape->k / (edge.m * edge.n * edge.k),
           B_s = slower / device->memory_rate_B_per_s;
    if (set_B <= t.all_B) return 0;
    if (adds && model->adds.present) {
        double own_s = alone_s * fr_gemm_transposed(model, &edge, FR_TRANSPOSED_B);
        return slower * own_s * (exp(form->log_adds(model, &edge)) - 1) *
               way(device, &t, set_B);
    }
    double read_too_B =
        adds ? t.written_B * beyond(device, FR_TRAFFIC_OPERANDS, set_B, t.all_B) : 0;
    if (!form->log_from_memory || !model->memory.present)
        return times * (beyond_B(device, &t, set_B) + read_too_B) * B_s;
    double ratio = exp(form->log_from_memory(model, &edge));
    return slower * alone_s * (ratio - 1) * way(device, &t, set_B) + times * read_too_B * B_s;
}
