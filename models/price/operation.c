#include "models/price/operation.h"

#include <math.h>

/* The entry under which bytes along an axis are booked. */
static const uint8_t booked[FR_AXES] = {[FR_AXIS_TP] = FR_SENT_TP,
                                        [FR_AXIS_DP] = FR_SENT_DP,
                                        [FR_AXIS_COMMON] = FR_SENT_DP,
                                        [FR_AXIS_CP] = FR_SENT_CP,
                                        [FR_AXIS_EP] = FR_SENT_EP,
                                        [FR_AXIS_EP_ACROSS] = FR_SENT_EP,
                                        [FR_AXIS_EP_WITHIN] = FR_SENT_EP,
                                        [FR_AXIS_ATTENTION] = FR_SENT_TP,
                                        [FR_AXIS_MLP] = FR_SENT_TP,
                                        [FR_AXIS_ENDS] = FR_SENT_TP,
                                        [FR_AXIS_TO_MLP] = FR_SENT_TP,
                                        [FR_AXIS_TO_ENDS] = FR_SENT_TP,
                                        [FR_AXIS_FROM_ENDS] = FR_SENT_TP,
                                        [FR_AXIS_EXPERT] = FR_SENT_DP,
                                        [FR_AXIS_ATTENTION_COPIES] = FR_SENT_DP,
                                        [FR_AXIS_MLP_COPIES] = FR_SENT_DP,
                                        [FR_AXIS_ENDS_COPIES] = FR_SENT_DP};

/* Between two kernels: the device's launch, or what the software reaches where that is less. */
static double gap_s(const struct fr_device *device) {
    double gap_s = device->framework.kernel_gap_s;
    return gap_s > 0 ? fmin(gap_s, device->launch_s) : device->launch_s;
}

struct fr_pricing fr_pricing_make(const struct fr_job *job, const struct fr_plan *plan,
                                  const struct fr_rank_map *rank_map, double micro_batches) {
    return (struct fr_pricing){
        .cluster = &job->cluster,
        .dtype = job->workload.dtype,
        .attention = plan->attention,
        .narrow_attention = job->workload.narrow_attention,
        .narrow_logits = job->workload.narrow_logits,
        .group = {[FR_AXIS_TP] = &rank_map->axis[FR_MESH_TP],
                  [FR_AXIS_DP] = &rank_map->axis[FR_MESH_DP],
                  [FR_AXIS_COMMON] = &rank_map->common,
                  [FR_AXIS_CP] = &rank_map->cp,
                  [FR_AXIS_EP] = &rank_map->ep,
                  [FR_AXIS_EP_ACROSS] = &rank_map->ep_across,
                  [FR_AXIS_EP_WITHIN] = &rank_map->ep_within,
                  [FR_AXIS_EXPERT] = &rank_map->copies[FR_COPIES_EXPERTS].all,
                  [FR_AXIS_ATTENTION_COPIES] = &rank_map->copies[FR_COPIES_ATTENTION].all,
                  [FR_AXIS_MLP_COPIES] = &rank_map->copies[FR_COPIES_MLP].all,
                  [FR_AXIS_ENDS_COPIES] = &rank_map->copies[FR_COPIES_ENDS].all,
                  [FR_AXIS_ATTENTION] = &rank_map->grid[0],
                  [FR_AXIS_MLP] = &rank_map->grid[1],
                  [FR_AXIS_ENDS] = &rank_map->grid[2],
                  [FR_AXIS_TO_MLP] = &rank_map->between[0],
                  [FR_AXIS_TO_ENDS] = &rank_map->between[1],
                  [FR_AXIS_FROM_ENDS] = &rank_map->between[2]},
        .micro_batches = micro_batches,
        .weight_gradient.value_B = fr_dtype_size_B(job->workload.gradient_dtype),
        .casts = fr_workload_casts(&job->workload, &job->cluster.device),
        .adds_apart = plan->adds_apart,
        .n = 1,
        .passes = 1,
        .launch_s = gap_s(&job->cluster.device),
        .in_turn = plan->blocking};
}

/* ---- one operation ------------------------------------------------------------------------------- */

/* A matrix product C[m,n] = A[m,k] B[k,n] is 2 m n k flop. Its time is the device's own function of the shape
 * (models/device/gemm.h), not flop over a peak. At the sizes that tensor parallelism leaves, cut tiles and waves that
 * are not full decide. */
static double product_s(const struct fr_pricing *x, fr_dtype dtype,
                        const struct fr_gemm_shape *shape, double working_set_B,
                        struct fr_gemm_use use) {
    bool outside = false;
    double time_s =
        fr_device_product_s(&x->cluster->device, dtype, shape, working_set_B, use, &outside);
    if (outside) *x->extrapolated |= FR_EXTRAPOLATED_GEMM;
    return time_s;
}

/* Time to narrow the operand that is no weight.  It is read as it is stored, and written as products read it: by its
 * rows, and by its columns for the weight gradient (in fp4 after a Hadamard transform, in the same kernel), which frozen
 * weights do not have (Transformer Engine asks its quantizers for columns where weights are trained, module/linear.py).
 * fp4 reads it once more before, since blocks' scales depend on the whole tensor's largest value (NVIDIA, Pretraining
 * Large Language Models with NVFP4, 2025, section 2).  So no norm can write it narrow either. */
static double narrowed_s(const struct fr_pricing *x, const struct fr_operation *o) {
    double reads = x->dtype == FR_FP4 ? 2 : 1, writes = o->frozen ? 1 : 2,
           value_B = reads * fr_dtype_saved_B(x->dtype) + writes * fr_dtype_size_B(x->dtype),
           moved_B = o->shape.n * o->shape.k * value_B;
    return fr_cluster_traffic_s(x->cluster, x->dtype, FR_TRAFFIC_STREAM, moved_B, moved_B);
}

/* Are gradients kept wider than products write them? */
static bool widens(const struct fr_pricing *x) {
    return x->weight_gradient.value_B > fr_dtype_saved_B(x->dtype);
}

/* A weight gradient as its product wrote it, added to that of the micro-batches before: both read, one written.  The
 * first is cast alone where gradients are wider. */
static double added_s(const struct fr_pricing *x, const struct fr_gemm_shape *shape) {
    double value_B = fr_dtype_saved_B(x->dtype) +
                     (x->weight_gradient.adds ? 2 : 1) * x->weight_gradient.value_B,
           moved_B = shape->m * shape->n * value_B;
    return fr_cluster_traffic_s(x->cluster, x->dtype, FR_TRAFFIC_STREAM, moved_B, moved_B);
}

/* Logits keep the width of values, unless the model makes them at 8 bits too. */
static fr_dtype made_in(const struct fr_pricing *x, const struct fr_operation *o) {
    const struct fr_gemm_model *gemm = x->cluster->device.gemm;
    if (!o->wide || !fr_dtype_is_narrow(x->dtype)) return x->dtype;
    if (x->narrow_logits) return gemm[FR_FP8].form ? FR_FP8 : x->dtype;
    return gemm[FR_BF16].form ? FR_BF16 : x->dtype;
}

/* Bytes of a product's operands and result from and to memory, which it cannot be faster than. */
static double streamed_s(const struct fr_pricing *x, fr_dtype dtype,
                         const struct fr_gemm_shape *s) {
    double moved_B = (s->m * s->k + s->k * s->n + s->m * s->n) * fr_dtype_size_B(dtype);
    return fr_device_traffic_s(&x->cluster->device, FR_TRAFFIC_STREAM, moved_B,
                               fmax(moved_B, x->products_B));
}

/* Share of a product's time where it reads its matrix for few columns, and its depth fills the units. */
static double split_of(const struct fr_pricing *x, fr_dtype dtype,
                       const struct fr_gemm_shape *s) {
    const struct fr_gemm_model *gemm = &x->cluster->device.gemm[dtype];
    return gemm->form && gemm->form->split ? gemm->form->split(gemm, s) : 1;
}

/* Kernels, with those of operations that are not fused (models/work/unfused.h), less those that an engine's fused ones
 * spare. */
static double launched(const struct fr_pricing *x, const struct fr_operation *o) {
    const struct fr_framework *f = &x->cluster->device.framework;
    double kernels = f->unfused > 0 ? o->times * (1 + f->unfused * o->apart) : o->times;
    return f->spared_kernels > 0 ? fmax(0, kernels - f->spared_kernels * o->blocks) : kernels;
}

/* Autocast makes a weight of 32 bits narrow in each forward pass.  A norm's result is of 32 bits, too, and its gradient is
 * made wide again. */
static double cast_s(const struct fr_pricing *x, const struct fr_operation *o) {
    double value_B = fr_dtype_size_B(FR_FP32) + fr_dtype_saved_B(x->dtype),
           inputs = o->made ? 2 * o->shape.n * o->shape.k : 0,
           moved_B = (o->shape.m * o->shape.k + inputs) * value_B;
    return fr_cluster_traffic_s(x->cluster, x->dtype, FR_TRAFFIC_STREAM, moved_B, moved_B);
}

static double products_s(const struct fr_pricing *x, const struct fr_operation *o) {
    fr_dtype dtype = made_in(x, o);
    bool narrow = fr_dtype_is_narrow(dtype), weight = o->pass == FR_PASS_WEIGHT;
    double met_B = x->met_B[o->pass] > 0 ? x->met_B[o->pass] : x->products_B;
    bool apart = weight && x->adds_apart && (x->weight_gradient.adds || widens(x));
    struct fr_gemm_use use = weight && !apart ? x->weight_gradient : (struct fr_gemm_use){0};
    use.transposed = (fr_transposed)o->transposed;
    double time_s = product_s(x, dtype, &o->shape, met_B, use);
    if (o->streams)
        time_s = fmax(time_s * split_of(x, dtype, &o->shape), streamed_s(x, dtype, &o->shape));
    if (!weight && !o->streams) time_s += fr_gemm_own_s(&x->cluster->device, dtype, &o->shape);
    if (apart) time_s += added_s(x, &o->shape);
    if (o->pass == FR_PASS_FORWARD && x->casts > 0) time_s += x->casts * cast_s(x, o);
    bool arrives = o->made && x->dtype != FR_FP4; /* narrow */
    if (narrow && !weight && !arrives) time_s += narrowed_s(x, o);
    return o->times * time_s;
}

/* Attention's products over the scores are many and thin (and of 16 bits in fp4 training), so they reach a smaller
 * share of the peak.  Where heads are narrow, the scores' way to memory and back takes longer still. */
static double scores_s(const struct fr_pricing *x, const struct fr_gemm_shape *s) {
    const struct fr_device *device = &x->cluster->device;
    fr_dtype dtype = x->dtype == FR_FP4 && device->gemm[FR_BF16].form ? FR_BF16 : x->dtype;
    if (device->attention.plain <= 0) return product_s(x, dtype, s, 0, (struct fr_gemm_use){0});
    double rate = device->attention.plain * device->gemm[dtype].peak_flop_per_s;
    double moved_B = (s->m * s->n + s->m * s->k + s->n * s->k) * fr_dtype_size_B(dtype);
    return fmax(
        2 * s->m * s->n * s->k / rate,
        fr_cluster_traffic_s(x->cluster, x->dtype, FR_TRAFFIC_STREAM, moved_B, moved_B));
}

/* Rate of today's fused kernel over its rate at 16 bits with heads as wide as its exponentials need. */
static double gained(const struct fr_pricing *x, const struct fr_operation *o, bool narrow) {
    const struct fr_attention_rates *a = &x->cluster->device.attention;
    enum { WIDE = 128 };
    double gain = 1;
    if (narrow && x->narrow_attention && a->eight_bits > 0) gain = a->eight_bits;
    if (narrow && x->narrow_attention && o->head > WIDE && a->eight_bits_wide > 0)
        gain = a->eight_bits_wide;
    bool waits = o->pass != FR_PASS_INPUT && o->head > 0 && o->head < a->exponentials;
    return waits ? fmin(gain, o->head / a->exponentials) : gain;
}

/* Rate of a fused kernel's backward pass over its forward's. */
static double backward(const struct fr_device *device, fr_flash generation) {
    const struct fr_attention_rates *a = &device->attention;
    if (generation == FR_FLASH_2 && a->flash_2_backward > 0) return a->flash_2_backward;
    return a->backward > 0 ? a->backward : 1;
}

/* Attention and scans are at 16 bits where products are of fewer and the device has 16. */
static bool is_wider(const struct fr_pricing *x) {
    return fr_dtype_is_narrow(x->dtype) && x->cluster->device.gemm[FR_BF16].form;
}

static double peak_flop_per_s(const struct fr_pricing *x) {
    return x->cluster->device.gemm[is_wider(x) ? FR_BF16 : x->dtype].peak_flop_per_s;
}

/* Fused attention takes  flop (1 + half_keys / keys) / (share peak):  a kernel's efficiency saturates with the number
 * of keys.  Shares of the peak: of 16 bits where the products are of fewer, faster where today's kernel then attends
 * at 8 bits; and slower for gradients, whose kernels may need more keys. */
static double attention_s(const struct fr_pricing *x, const struct fr_operation *o) {
    const struct fr_device *device = &x->cluster->device;
    fr_flash generation = x->attention == FR_ATTENTION_FLASH_1   ? FR_FLASH_1
                          : x->attention == FR_ATTENTION_FLASH_2 ? FR_FLASH_2
                                                                 : FR_FLASH_NOW;
    double rate = fr_device_flash(device, generation) * peak_flop_per_s(x);
    if (generation == FR_FLASH_NOW) rate *= gained(x, o, is_wider(x));
    bool back = o->pass == FR_PASS_INPUT;
    double half = back && device->attention.backward_keys > 0 ? device->attention.backward_keys
                                                              : device->attention.half_keys;
    double more = o->keys > 0 ? half / o->keys : 0;
    return o->size * (1 + more) / (back ? rate * backward(device, generation) : rate);
}

/* Attention to tokens in a cache: few queries read all of it. */
static double cached_s(const struct fr_pricing *x, const struct fr_operation *o) {
    const struct fr_device *device = &x->cluster->device;
    double rate = fr_device_flash(device, FR_FLASH_NOW) * peak_flop_per_s(x);
    return fmax(o->size / rate, fr_device_traffic_s(device, FR_TRAFFIC_STREAM, o->read_B,
                                                    fmax(o->read_B, x->products_B)));
}

/* A scan (state-space layers).  Never at fewer than 16 bits; where the device does not say it, as thin and as many as
 * products over scores: their share of the peak, or the fused kernel's.  Slower backward, where many small kernels go
 * through states and squares in fp32. */
static double scan_s(const struct fr_pricing *x, const struct fr_operation *o) {
    const struct fr_device *device = &x->cluster->device;
    double share = device->attention.scan > 0    ? device->attention.scan
                   : device->attention.plain > 0 ? device->attention.plain
                                                 : fr_device_flash(device, FR_FLASH_NOW);
    double slower = device->attention.scan_backward > 0 ? device->attention.scan_backward : 1;
    if (o->pass == FR_PASS_INPUT) share *= slower;
    return o->size / (share * peak_flop_per_s(x));
}

/* A collective's bytes are booked by the same call that prices it, so that traffic and time cannot disagree. */
static double collective_s(const struct fr_pricing *x, const struct fr_operation *o) {
    bool once = o->pass == FR_PASS_ONCE;
    const struct fr_ledger ledger = {.cluster = x->cluster,
                                     .sent_B = x->sent_B,
                                     .times = once ? x->n : x->n * x->micro_batches,
                                     .extrapolated = x->extrapolated};
    return fr_ledger_comm_s(&ledger, (fr_sent)booked[o->axis], (fr_op)o->op, x->group[o->axis],
                            o->size, o->times);
}

/* Inline where lists are priced, a dozen operations a layer. */
__attribute__((always_inline)) static inline double operation_s(const struct fr_pricing *x,
                                                                const struct fr_operation *o) {
    switch (o->kind) {
    case FR_WORK_PRODUCT:
        return products_s(x, o);
    case FR_WORK_SCORES:
        return o->times * scores_s(x, &o->shape);
    case FR_WORK_ATTENTION:
        return o->times * attention_s(x, o);
    case FR_WORK_CACHED:
        return o->times * cached_s(x, o);
    case FR_WORK_SCAN:
        return o->times * scan_s(x, o);
    case FR_WORK_TRAFFIC:
        return o->times * fr_cluster_elementwise_s(x->cluster, x->dtype, o->moved);
    case FR_WORK_KERNELS:
        return launched(x, o) * x->launch_s;
    case FR_WORK_COLLECTIVE:
        return collective_s(x, o);
    case FR_WORK_UPDATE:
        return o->times * fr_cluster_traffic_s(x->cluster, x->dtype, FR_TRAFFIC_UPDATE, o->size,
                                               x->update_B);
    case FR_WORK_STREAM:
        return o->times * fr_device_traffic_s(&x->cluster->device, FR_TRAFFIC_STREAM, o->size,
                                              fmax(o->size, x->products_B));
    case FR_WORK_SELECT:
        return o->times * fr_device_traffic_s(&x->cluster->device, FR_TRAFFIC_SELECT, o->size,
                                              fmax(o->size, x->products_B));
    default:
        return 0;
    }
}

double fr_operation_s(const struct fr_pricing *x, const struct fr_operation *o) {
    return operation_s(x, o);
}

/* Weights in fp8 are narrowed once an iteration, since they change only in the update. They are read once, at the
 * width that the optimizer keeps if that is wider. They are written twice: by rows for the forward product, by columns
 * for the input gradient. The number of values is that of the weight gradients, which have a weight's shape. */
double fr_narrow_weights_s(const struct fr_pricing *x, const struct fr_rank_work *work,
                           double weight_B) {
    double narrow_B = fr_dtype_size_B(FR_FP8), values = 0;
    for (int k = 0; x->dtype == FR_FP8 && k < work->n_ops; k++) {
        const struct fr_operation *o = &work->op[k];
        if (o->kind == FR_WORK_PRODUCT && o->pass == FR_PASS_WEIGHT &&
            (!o->wide || x->narrow_logits))
            values += o->times * o->shape.m * o->shape.n;
    }
    double moved_B = values * (weight_B > narrow_B ? weight_B + 2 * narrow_B : 2 * narrow_B);
    return fr_cluster_traffic_s(x->cluster, x->dtype, FR_TRAFFIC_STREAM, moved_B, moved_B);
}

double fr_update_s(const struct fr_pricing *x, const struct fr_workload *workload,
                   double parameters) {
    double stated_B = x->cluster->device.framework.update_traffic_B,
           moved_B = stated_B > 0 ? stated_B : fr_workload_update_B(workload),
           rate = x->cluster->device.framework.update_rate;
    if (rate > 0) moved_B /= rate;
    const struct fr_operation update = {
        .kind = FR_WORK_UPDATE, .pass = FR_PASS_ONCE, .times = 1, .size = parameters * moved_B};
    return fr_operation_s(x, &update);
}

/* ---- lists --------------------------------------------------------------------------------------- */

/* Gradients of data-parallel replicas, once an iteration. Where they go in buckets beside the backward pass, the stage
 * prices them by bucket (@p later); here only the bytes are added. */
static void reduce(const struct fr_pricing *x, const struct fr_operation *o,
                   struct fr_priced *sum) {
    if (o->as_one) {
        sum->time_s[FR_PASS_ONCE][FR_SPENT_CODED] += x->n * fr_operation_s(x, o);
        return;
    }
    sum->reduced_B[o->axis == FR_AXIS_COMMON] += x->n * o->times * o->size;
    if (!x->later) sum->time_s[FR_PASS_ONCE][FR_SPENT_REDUCED] += x->n * fr_operation_s(x, o);
}

fr_beside fr_operation_beside(const struct fr_pricing *x, const struct fr_operation *o) {
    bool alone = x->in_turn || (o->beside == FR_BESIDE_PASS && x->micro_batches < 2);
    return alone ? FR_BESIDE_NOTHING : (fr_beside)o->beside;
}

/* The sum that a collective's time belongs to. Time beside something is kept apart until the whole pass is known,
 * because only then is it known how much of it shows (pass_of). */
static int spent_on(const struct fr_pricing *x, const struct fr_operation *o) {
    fr_beside beside = fr_operation_beside(x, o);
    if (beside == FR_BESIDE_ATTENTION) return FR_SPENT_CP_BESIDE;
    if (beside == FR_BESIDE_PASS) return FR_SPENT_EP_BESIDE;
    if (beside == FR_BESIDE_PIECES) return FR_SPENT_TP_BESIDE;
    if (o->axis == FR_AXIS_CP) return FR_SPENT_CP;
    if (booked[o->axis] == FR_SENT_EP) return FR_SPENT_EP;
    return o->stalls ? FR_SPENT_TP_STALLED : FR_SPENT_TP;
}

void fr_work_price(const struct fr_pricing *x, const struct fr_rank_work *work, int from,
                   int to, struct fr_priced *sum) {
    static const uint8_t spent[] = {
        [FR_WORK_PRODUCT] = FR_SPENT_PRODUCTS,    [FR_WORK_SCORES] = FR_SPENT_PRODUCTS,
        [FR_WORK_ATTENTION] = FR_SPENT_ATTENTION, [FR_WORK_CACHED] = FR_SPENT_ATTENTION,
        [FR_WORK_SCAN] = FR_SPENT_ATTENTION,      [FR_WORK_TRAFFIC] = FR_SPENT_TRAFFIC,
        [FR_WORK_KERNELS] = FR_SPENT_LAUNCH};
    double before_s = 0;
    for (const struct fr_operation *o = work->op + from; o < work->op + to; o++) {
        if (o->pass == FR_PASS_ONCE) {
            reduce(x, o, sum);
            continue;
        }
        double time_s = x->passes * operation_s(x, o);
        if (o->kind == FR_WORK_COLLECTIVE) {
            fr_beside beside = fr_operation_beside(x, o);
            if (beside == FR_BESIDE_PRODUCT)
                time_s = fr_device_beside_s(&x->cluster->device, time_s, before_s);
            if (beside == FR_BESIDE_PIECES) {
                double first_s = time_s / (double)x->group[o->axis]->n_ranks;
                sum->time_s[o->pass][FR_SPENT_TP] += first_s;
                time_s -= first_s;
            }
            if (beside == FR_BESIDE_ATTENTION) sum->ring = (double)x->group[o->axis]->n_ranks;
            sum->time_s[o->pass][spent_on(x, o)] += time_s;
            continue;
        }
        sum->time_s[o->pass][spent[o->kind]] += time_s;
        if (o->kind == FR_WORK_SCORES) sum->time_s[o->pass][FR_SPENT_SCORES] += time_s;
        if (o->kind == FR_WORK_KERNELS) sum->kernels[o->pass] += x->passes * launched(x, o);
        if (o->common) sum->common_s += time_s;
        before_s = time_s;
    }
}

/* From sums to a pass. An exchange beside computation shows only by the longer one's excess, with the slow-down that
 * both have while they share the device:
 *
 *     shown = fr_device_beside_s(exchange, computation)  >=  exchange - computation
 *
 * Around a ring of R ranks keys arrive beside the first R - 1 of R kernels of attention, of its @p ring. */
static struct fr_pass pass_of(const struct fr_device *device, double ring,
                              const double t[FR_SPENTS]) {
    double first = ring > 1 ? 1 - 1 / ring : 1;
    struct fr_pass pass = {.compute_s = t[FR_SPENT_PRODUCTS] + t[FR_SPENT_ATTENTION] +
                                        t[FR_SPENT_TRAFFIC],
                           .launch_s = t[FR_SPENT_LAUNCH],
                           .tp_s = t[FR_SPENT_TP] + t[FR_SPENT_TP_STALLED],
                           .cp_s = t[FR_SPENT_CP],
                           .ep_s = t[FR_SPENT_EP]};
    pass.cp_s += fr_device_beside_s(device, t[FR_SPENT_CP_BESIDE],
                                    first * (t[FR_SPENT_ATTENTION] + t[FR_SPENT_SCORES]));
    pass.tp_s += fr_device_beside_s(device, t[FR_SPENT_TP_BESIDE], t[FR_SPENT_PRODUCTS]);
    pass.ep_s += fr_device_beside_s(device, t[FR_SPENT_EP_BESIDE],
                                    t[FR_SPENT_PRODUCTS] + t[FR_SPENT_ATTENTION]);
    return pass;
}

/* Recomputation (FR_PASS_AGAIN) is forward work at the time of the backward pass, so it counts with the input
 * gradient. A schedule that splits the backward pass runs the input and the weight gradient apart; each is then a pass
 * of its own, in which only its own work can hide an exchange. */
struct fr_passes fr_priced_passes(const struct fr_device *device, const struct fr_priced *sum) {
    double input_s[FR_SPENTS], backward_s[FR_SPENTS];
    for (int k = 0; k < FR_SPENTS; k++) {
        input_s[k] = sum->time_s[FR_PASS_INPUT][k] + sum->time_s[FR_PASS_AGAIN][k];
        backward_s[k] = input_s[k] + sum->time_s[FR_PASS_WEIGHT][k];
    }
    return (struct fr_passes){pass_of(device, sum->ring, sum->time_s[FR_PASS_FORWARD]),
                              pass_of(device, sum->ring, backward_s),
                              pass_of(device, sum->ring, input_s),
                              pass_of(device, sum->ring, sum->time_s[FR_PASS_WEIGHT])};
}
