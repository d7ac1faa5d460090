/** @file
 *  What every method keeps on layers and on a transformer's stages (models/work/method.h).
 *
 *  Symbols:  p ranks of the model axis, q of the data axis   b samples on a rank, B = q b of all
 *            W weights that multiply   n width   k ghosts   d bytes of a value
 *
 *      flop         over all ranks 2 B W a product, forward once and backward twice: one
 *                   processor's, of a method that is exact; of another its own W, which stands in
 *                   `own_weights` (a method that is neither exact nor there is refused)
 *      parameters   over all ranks W and biases, each rank's either its share or a copy
 *      gradients    as many bytes over the data axis as the rank has parameters
 *      activations  what enters a layer is kept somewhere: its weight gradient needs it
 *      ranks        more of them never need more memory each
 *      growth       twice the samples are twice the flop, bytes and activations and the same
 *                   state; twice the width is no less of anything
 */
#ifndef FR_TESTS_LAWS_METHODS_H
#define FR_TESTS_LAWS_METHODS_H

#include "models/work/method.h"
#include "models/work/transformer.h"
#include "tests/laws/law.h"
#include "tests/work.h"

/** A layer on one rank of p x q. */
struct law_layer {
    const struct fr_method *method;
    const struct fr_workload *workload;
    struct fr_layer layer;
    struct fr_shard shard;
};

/** Weights over all ranks that a method multiplies with where they are not one processor's. */
struct law_own_weights {
    const char *method;
    double (*layer)(double inputs, double outputs, double p, double k);
};

static inline double law_phantom_weights(double in, double out, double p, double k) {
    return in * out / p + k * in + (p - 1) * k * out; /* n^2/p + k n p where in = out = n */
}
static const struct law_own_weights law_own_weights[] = {
    {"phantom", law_phantom_weights},
};

static inline struct fr_work_part law_part(const struct law_layer *c) {
    return (struct fr_work_part){
        .workload = c->workload, .layer = &c->layer, .shard = c->shard};
}

static inline bool law_accepts(const struct law_layer *c) {
    const struct fr_work_part part = law_part(c);
    return c->method->check(&part) == 0;
}

static inline struct fr_rank_work law_work(const struct law_layer *c) {
    const struct fr_work_part part = law_part(c);
    struct fr_rank_work work;
    c->method->lower(&part, &work);
    return work;
}

/** Weights that @p c multiplies with over its ranks; NaN: nobody says. */
static inline double law_weights(const struct law_layer *c) {
    if (c->method->exact) return c->layer.rows * c->layer.inner;
    for (size_t i = 0; i < sizeof law_own_weights / sizeof *law_own_weights; i++)
        if (strcmp(c->method->name, law_own_weights[i].method) == 0)
            return law_own_weights[i].layer(c->layer.inputs, c->layer.outputs, c->shard.tp,
                                            c->shard.ghost);
    return NAN;
}

/* Do the ranks divide the layer's rows without a rest? */
static inline bool law_even(const struct law_layer *c) {
    return fmod(c->layer.rows, c->shard.tp) == 0 &&
           (c->layer.groups == 1 || fmod(c->layer.groups, c->shard.tp) == 0);
}

static inline bool law_layer_flop(const struct law_layer *c, struct law_why *why) {
    struct fr_rank_work work = law_work(c);
    double ranks = c->shard.tp * c->shard.dp, samples = c->shard.batch * c->shard.dp;
    double want = 3 * 2 * samples * c->layer.positions * law_weights(c), got = 0;
    for (int i = 0; i < work.n_ops; i++) got += test_flop(&work.op[i]);
    got *= ranks * (1 - work.idle_ranks);
    LAW(!isnan(want),
        "is not exact, and nobody says what it multiplies: add it to own_weights");
    LAW(law_even(c) ? law_near(got, want, 1e-12) : got >= want * (1 - 1e-12),
        "%g flop over all ranks, want %g", got, want);
    return true;
}

/* Every product has an input and a weight gradient, alike in flop: the backward pass is twice the
 * forward one.  A weight gradient is of the matrix that the forward product multiplies with. */
static inline bool law_layer_passes(const struct law_layer *c, struct law_why *why) {
    struct fr_rank_work work = law_work(c);
    double products = 0, kernels = 0, forward = test_flops(&work, FR_PASS_FORWARD);
    LAW(forward > 0, "%g flop forward", forward);
    for (int pass = FR_PASS_INPUT; pass <= FR_PASS_WEIGHT; pass++)
        LAW(law_near(test_flops(&work, (fr_pass_kind)pass), forward, 1e-12),
            "%g flop of pass %d, %g forward", test_flops(&work, (fr_pass_kind)pass), pass,
            forward);
    for (int i = 0; i < work.n_ops; i++) {
        products += test_is_product(&work.op[i]) ? work.op[i].times : 0;
        kernels += work.op[i].kind == FR_WORK_KERNELS ? work.op[i].times : 0;
    }
    LAW(kernels >= products * (1 - 1e-12), "%g kernels launch %g products", kernels, products);
    return true;
}

static inline bool law_layer_parameters(const struct law_layer *c, struct law_why *why) {
    struct fr_rank_work work = law_work(c);
    double p = c->shard.tp, want = law_weights(c) + c->layer.biases;
    if (c->method->exact) want = c->layer.weights + c->layer.biases;
    LAW(law_near(work.parameters, want, 1e-12), "%g parameters, want %g", work.parameters,
        want);
    if (work.parameters == 0) return work.parameters_rank == 0;
    double copies = p * work.parameters_mean / work.parameters;
    LAW(law_near(copies, 1, 1e-12) || law_near(copies, p, 1e-12),
        "%g copies of each parameter over %g ranks", copies, p);
    LAW(work.parameters_rank >= work.parameters_mean * (1 - 1e-12) &&
            work.parameters_rank <= work.parameters * (1 + 1e-12),
        "%g on the fullest rank, %g in the mean, %g in all", work.parameters_rank,
        work.parameters_mean, work.parameters);
    return true;
}

static inline bool law_layer_gradients(const struct law_layer *c, struct law_why *why) {
    struct fr_rank_work work = law_work(c);
    double got_B = 0, each_B = fr_dtype_size_B(c->workload->gradient_dtype);
    got_B = test_sum(&work, FR_WORK_COLLECTIVE, FR_PASS_ONCE);
    double low_B = work.parameters_mean * each_B, high_B = work.parameters_rank * each_B;
    bool copied = c->shard.tp * work.parameters_mean > work.parameters * (1 + 1e-12);
    if (c->shard.dp == 1 && !copied) low_B = high_B = 0;
    LAW(got_B >= low_B * (1 - 1e-12) && got_B <= high_B * (1 + 1e-12),
        "%g B of gradients reduced, want %g to %g", got_B, low_B, high_B);
    return true;
}

/* Inputs are saved over the ranks, for the weight gradient; outputs are written and read. */
static inline bool law_layer_activations(const struct law_layer *c, struct law_why *why) {
    struct fr_rank_work work = law_work(c);
    double ranks = c->shard.tp * c->shard.dp, samples = c->shard.batch * c->shard.dp,
           value_B = fr_dtype_size_B(c->workload->dtype);
    LAW(ranks * work.activation_B >= samples * c->layer.inputs * value_B * (1 - 1e-12),
        "%g B kept over all ranks, %g entered", ranks * work.activation_B,
        samples * c->layer.inputs * value_B);
    double moved_B = test_sum(&work, FR_WORK_TRAFFIC, FR_PASS_FORWARD) +
                     test_sum(&work, FR_WORK_TRAFFIC, FR_PASS_INPUT);
    LAW(ranks * moved_B >= 2 * samples * c->layer.outputs * value_B * (1 - 1e-12),
        "%g B moved beside the products", ranks * moved_B);
    return true;
}

/* Whoever divides weights and claims one processor's result has to exchange values both ways. */
static inline bool law_layer_exchange(const struct law_layer *c, struct law_why *why) {
    struct fr_rank_work work = law_work(c);
    double sent_B[2] = {0}, largest_B = 0;
    for (int i = 0; i < work.n_ops; i++) {
        const struct fr_operation *o = &work.op[i];
        if (o->kind != FR_WORK_COLLECTIVE) continue;
        LAW(o->size > 0, "a collective of %g B", o->size);
        if (o->axis == FR_AXIS_TP) largest_B = fmax(largest_B, o->size);
    }
    for (int backward = 0; backward < 2; backward++)
        sent_B[backward] = test_tp_B(&work, backward);
    bool divided = c->shard.tp * work.parameters_rank < work.parameters * (1 + 1e-9);
    if (c->shard.tp < 2) LAW(sent_B[0] + sent_B[1] == 0, "a rank alone exchanges values");
    if (c->shard.tp > 1 && divided && c->layer.branches == 0)
        LAW(sent_B[0] > 0 && sent_B[1] > 0, "weights divided, %g and %g B exchanged", sent_B[0],
            sent_B[1]);
    LAW(work.working_B >= largest_B, "%g B of buffer for a message of %g", work.working_B,
        largest_B);
    return true;
}

/* Weights, gradients, Adam in fp32 and activations of a rank. */
static inline double law_layer_memory_B(const struct law_layer *c) {
    struct fr_rank_work work = law_work(c);
    return work.parameters_rank * fr_workload_state_B(c->workload, &(struct fr_device){0}) +
           work.activation_B;
}

static inline bool law_layer_ranks(const struct law_layer *c, struct law_why *why) {
    struct law_layer wider = *c, more = *c;
    wider.shard.tp *= 2;
    /* p k b gathered ghosts grow with p: n/p + p k falls from p to 2 p while p^2 k <= n/2 */
    bool falls = !c->method->uses_ghost ||
                 2 * c->shard.tp * c->shard.tp * c->shard.ghost <= c->layer.inputs;
    if (law_accepts(&wider) && law_even(&wider) && falls)
        LAW(law_layer_memory_B(&wider) <= law_layer_memory_B(c) * (1 + 1e-12),
            "tp %g needs %g B a rank, tp %g needs %g", c->shard.tp, law_layer_memory_B(c),
            wider.shard.tp, law_layer_memory_B(&wider));
    more.shard.dp *= 2;
    more.shard.batch /= 2;
    if (law_accepts(&more))
        LAW(law_layer_memory_B(&more) <= law_layer_memory_B(c) * (1 + 1e-12),
            "dp %g needs %g B a rank, dp %g needs %g", c->shard.dp, law_layer_memory_B(c),
            more.shard.dp, law_layer_memory_B(&more));
    return true;
}

struct law_sums {
    double flop, moved_B, stored_B, exchanged_B, reduced_B, parameters;
};

static inline struct law_sums law_sum(const struct law_layer *c) {
    struct fr_rank_work work = law_work(c);
    struct law_sums s = {.moved_B = test_sum(&work, FR_WORK_TRAFFIC, FR_PASS_FORWARD),
                         .exchanged_B = test_tp_B(&work, false) + test_tp_B(&work, true),
                         .reduced_B = test_sum(&work, FR_WORK_COLLECTIVE, FR_PASS_ONCE),
                         .stored_B = work.activation_B,
                         .parameters = work.parameters};
    for (int i = 0; i < work.n_ops; i++) s.flop += test_flop(&work.op[i]);
    return s;
}

static inline bool law_layer_growth(const struct law_layer *c, struct law_why *why) {
    struct law_layer twice = *c, wide = *c;
    struct law_sums a = law_sum(c), b;
    twice.shard.batch *= 2;
    b = law_sum(&twice);
    LAW(law_near(b.flop, 2 * a.flop, 1e-12) && law_near(b.stored_B, 2 * a.stored_B, 1e-12) &&
            law_near(b.moved_B, 2 * a.moved_B, 1e-12) &&
            law_near(b.exchanged_B, 2 * a.exchanged_B, 1e-12),
        "twice the samples: %g of %g flop, %g of %g B kept, %g of %g moved, %g of %g sent",
        b.flop, a.flop, b.stored_B, a.stored_B, b.moved_B, a.moved_B, b.exchanged_B,
        a.exchanged_B);
    LAW(b.parameters == a.parameters && b.reduced_B == a.reduced_B,
        "twice the samples: %g of %g parameters", b.parameters, a.parameters);
    if (!c->layer.fully_connected || c->layer.branches > 0) return true;
    wide.layer = fr_layer_fully_connected(2 * c->layer.inputs, 2 * c->layer.outputs,
                                          c->layer.biases > 0, c->layer.repeat);
    b = law_sum(&wide);
    LAW(b.flop >= 2 * a.flop && b.parameters >= 1.9 * a.parameters && b.stored_B > a.stored_B &&
            b.moved_B > a.moved_B && b.exchanged_B >= a.exchanged_B &&
            b.reduced_B >= a.reduced_B,
        "twice the width: %g of %g flop, %g of %g parameters, %g of %g B kept", b.flop, a.flop,
        b.parameters, a.parameters, b.stored_B, a.stored_B);
    return true;
}

typedef bool law_of_layers(const struct law_layer *c, struct law_why *why);

static const struct {
    const char *name;
    law_of_layers *holds;
} laws_of_layers[] = {
    {"flop", law_layer_flop},
    {"passes", law_layer_passes},
    {"parameters", law_layer_parameters},
    {"gradients", law_layer_gradients},
    {"activations", law_layer_activations},
    {"exchange", law_layer_exchange},
    {"ranks", law_layer_ranks},
    {"growth", law_layer_growth},
};

#endif
