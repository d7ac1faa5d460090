/** @file
 *  What every method keeps on a transformer's stages (models/work/method.h, models/work/transformer.h).
 *
 *  Symbols:  h hidden, q and v widths of all queries and of all keys, f of the MLP, M its matrices,
 *            s sequence, V vocabulary (a multiple of what it is padded to)   L layers, X of them
 *            with cross-attention   T tokens of a micro-batch   p = tp, k ghosts
 *
 *      weights   W = (L + X) (h (q + 2 v) + q h) + L M h f + V h multiply; of method phantom each
 *                in x out of the MLP is in out / p + k in + (p - 1) k out instead
 *      flop      forward, over tp and the stages: 2 T W and the heads' 4 T s q (L + X), of a fused
 *                kernel, which skips what the mask hides, half of the latter
 *      state     V h (twice untied), positions, norms and biases beside: counted here once more
 */
#ifndef FR_TESTS_LAWS_STAGES_H
#define FR_TESTS_LAWS_STAGES_H

#include "models/outcome/cost.h"
#include "models/price/pass.h"
#include "models/price/pipeline.h"
#include "models/work/transformer.h"
#include "tests/job.h"
#include "tests/laws/law.h"
#include "tests/work.h"

/** A transformer divided by a plan; the plan names the method. */
struct law_model {
    struct fr_job job;
    struct fr_plan plan;
};

struct law_stages {
    double flop, moved_B, stored_B, kernels, exchanged_B, parameters, parameters_rank, rank_max;
};

static inline bool law_stages_accepted(const struct law_model *c) {
    return test_stage_check(&c->job.workload, &c->plan) == 0;
}

/** Bytes that one rank sends over tp for a micro-batch of a stage. */
static inline double law_stage_sent_B(const struct fr_rank_work *w, int64_t tp) {
    double sent_B = 0;
    for (int k = 0; k < w->n_ops; k++)
        if (w->op[k].kind == FR_WORK_COLLECTIVE && w->op[k].axis == FR_AXIS_TP)
            sent_B += test_amount(&w->op[k]) * fr_op_bus_factor((fr_op)w->op[k].op, tp);
    return sent_B;
}

/** Sum over all stages of the flop of one rank; where some ranks wait, only those that work count. */
static inline struct law_stages law_stages_sum(const struct law_model *c) {
    struct law_stages s = {0};
    for (int64_t i = 0; i < c->plan.pp; i++) {
        struct fr_rank_work w;
        test_stage(&c->job.workload, &c->plan, i, &w);
        for (int k = 0; k < w.n_ops; k++)
            if (w.op[k].pass == FR_PASS_FORWARD)
                s.flop += test_flop(&w.op[k]) * (w.op[k].common ? 1 - w.idle_ranks : 1);
        s.moved_B += test_sum(&w, FR_WORK_TRAFFIC, FR_PASS_FORWARD);
        s.stored_B += w.activation_B;
        s.kernels += test_sum(&w, FR_WORK_KERNELS, FR_PASS_FORWARD);
        s.exchanged_B += law_stage_sent_B(&w, c->plan.tp);
        s.parameters += w.parameters;
        s.parameters_rank += w.parameters_rank;
        s.rank_max = fmax(s.rank_max, w.parameters_rank);
    }
    return s;
}

static inline double law_mlp_weights(const struct law_model *c) {
    const struct fr_transformer *t = &c->job.workload.transformer;
    double h = (double)t->hidden, f = (double)t->ffn, up = t->gated ? 2 : 1;
    double p = (double)c->plan.tp, k = (double)c->plan.ghost;
    if (strcmp(c->plan.method->name, "phantom") == 0)
        return up * (h * f / p + k * h + (p - 1) * k * f) + h * f / p + k * f + (p - 1) * k * h;
    return c->plan.method->exact ? (up + 1) * h * f : NAN;
}

static inline double law_attention_weights(const struct fr_transformer *t) {
    double q = (double)(t->heads * t->head_dim), v = (double)(t->kv_heads * t->head_dim);
    return (double)t->hidden * (q + 2 * v) + q * (double)t->hidden;
}

/** Weights that multiply, over all ranks of a replica. */
static inline double law_stages_weights(const struct law_model *c) {
    const struct fr_transformer *t = &c->job.workload.transformer;
    return (double)(t->layers + t->cross_layers) * law_attention_weights(t) +
           (double)t->layers * law_mlp_weights(c) + (double)(t->vocabulary * t->hidden);
}

static inline bool law_stages_flop(const struct law_model *c, struct law_why *why) {
    const struct fr_transformer *t = &c->job.workload.transformer;
    double tokens = (double)(fr_plan_micro_batch(&c->plan) * t->sequence);
    double all = (double)(t->layers + t->cross_layers),
           masked = (double)(t->cross_layers > 0 ? t->cross_layers : t->layers),
           one = 4 * tokens * (double)t->sequence * (double)(t->heads * t->head_dim),
           core = one * all;
    /* A decoder's own attention is causal, an encoder's and that to its tokens not; padded as kernels are. */
    if (c->plan.attention != FR_ATTENTION_PLAIN)
        core = one * (all - masked / 2) * ceil((double)t->head_dim / 32) * 32 /
               (double)t->head_dim;
    double want = 2 * tokens * law_stages_weights(c) + core;
    double got = law_stages_sum(c).flop * (double)(c->plan.tp * c->plan.cp);
    LAW(!isnan(want), "is not exact, and nobody says what it multiplies");
    LAW(law_near(got, want, 1e-12), "%g flop forward over all ranks, want %g", got, want);
    return true;
}

/* Norms and biases of a layer, of a cross-attention, and after the last layer. */
static inline double law_small_parameters(const struct fr_transformer *t) {
    double h = (double)t->hidden, norm = t->norm_biases ? 2 * h : h;
    double q = (double)(t->heads * t->head_dim), v = (double)(t->kv_heads * t->head_dim);
    double qkv = t->biases || t->qkv_biases ? q + 2 * v : 0, out = t->biases ? h : 0;
    double up = t->biases ? (double)((t->gated ? 2 : 1) * t->ffn) : 0;
    double heads = t->qk_norms ? 2 * (double)t->head_dim : 0;
    return (double)t->layers * (2 * norm + heads + qkv + out + up + out + t->vectors) +
           (double)t->cross_layers * (norm + heads + qkv + out) + norm;
}

static inline bool law_stages_parameters(const struct law_model *c, struct law_why *why) {
    const struct fr_transformer *t = &c->job.workload.transformer;
    struct law_stages s = law_stages_sum(c);
    double embedding = (double)(t->vocabulary * t->hidden);
    double want = law_stages_weights(c) + (t->tied ? 0 : embedding) + law_small_parameters(t) +
                  (t->positions ? (double)(t->sequence * t->hidden) : 0);
    double tp = (double)c->plan.tp;
    LAW(law_near(s.parameters, want, 1e-12), "%.0f parameters, want %.0f", s.parameters, want);
    LAW(tp * s.parameters_rank >= s.parameters * (1 - 1e-12),
        "%g parameters on all ranks of %g", tp * s.parameters_rank, s.parameters);
    LAW(s.parameters_rank <= (s.parameters + embedding) * (1 + 1e-12),
        "%g parameters on one rank of %g", s.parameters_rank, s.parameters);
    return true;
}

static inline bool law_stages_gradients(const struct law_model *c, struct law_why *why) {
    struct fr_pipeline p;
    uint32_t extrapolated = 0;
    bool replicas = fr_plan_replicas(&c->plan) > 1, holds = true;
    if (fr_pipeline_make(&c->job, &c->plan, &p, &extrapolated, NULL) != FR_OK) return false;
    for (int64_t i = 0; i < c->plan.pp && holds; i++) {
        struct fr_rank_work w;
        test_stage(&c->job.workload, &c->plan, i, &w);
        double each_B = fr_dtype_size_B(c->job.workload.gradient_dtype);
        double want_B = (replicas ? w.parameters_rank : w.common_rank) * each_B,
               got_B = p.stage[i].gradient_B + p.stage[i].common_B;
        holds = law_near(got_B, want_B, 1e-12) && w.common_rank >= 0 &&
                w.common_rank <= w.parameters_rank &&
                p.stage[i].parameters_rank == w.parameters_rank;
        if (!holds)
            snprintf(why->text, sizeof why->text, "stage %d reduces %g B, want %g", (int)i,
                     got_B, want_B);
    }
    fr_pipeline_free(&p);
    return holds;
}

static const fr_recompute law_recomputes[] = {FR_RECOMPUTE_NONE, FR_RECOMPUTE_SELECTIVE,
                                              FR_RECOMPUTE_FULL};

/* Every layer's input is kept, however much is done again; recomputing keeps no more. */
static inline bool law_stages_activations(const struct law_model *c, struct law_why *why) {
    const struct fr_transformer *t = &c->job.workload.transformer;
    struct law_model r = *c;
    double stored_B[3], ranks = (double)(c->plan.tp * c->plan.cp),
                        value_B = fr_dtype_size_B(c->job.workload.dtype);
    double least_B =
        (double)(t->layers * fr_plan_micro_batch(&c->plan) * t->sequence * t->hidden) * value_B;
    for (int k = 0; k < 3; k++) {
        r.plan.recompute = law_recomputes[k];
        stored_B[k] = law_stages_sum(&r).stored_B;
        LAW(ranks * stored_B[k] >= least_B * (1 - 1e-12),
            "%g B kept over all ranks, %g entered", ranks * stored_B[k], least_B);
    }
    LAW(stored_B[2] <= stored_B[1] && stored_B[1] <= stored_B[0],
        "%g B kept, recomputing some %g, all %g", stored_B[0], stored_B[1], stored_B[2]);
    return true;
}

static inline double law_stages_memory_B(const struct law_model *c) {
    struct law_stages s = law_stages_sum(c);
    return s.parameters_rank * fr_workload_state_B(&c->job.workload, &c->job.cluster.device) +
           s.stored_B;
}

static inline bool law_stages_ranks(const struct law_model *c, struct law_why *why) {
    struct law_model wider = *c;
    wider.plan.tp *= 2;
    /* the gathered ghosts of an MLP, p k T, grow as they do between layers: see methods.h */
    int64_t p = c->plan.tp;
    bool falls = !c->plan.method->uses_ghost ||
                 2 * p * p * c->plan.ghost <= c->job.workload.transformer.ffn;
    if (!law_stages_accepted(&wider) || !falls) return true;
    LAW(law_stages_memory_B(&wider) <= law_stages_memory_B(c) * (1 + 1e-12),
        "tp %d needs %g B a rank, twice as many %g", (int)p, law_stages_memory_B(c),
        law_stages_memory_B(&wider));
    return true;
}

static inline bool law_stages_twice(const struct law_stages *a, const struct law_stages *b,
                                    struct law_why *why) {
    LAW(law_near(b->flop, 2 * a->flop, 1e-12) && law_near(b->moved_B, 2 * a->moved_B, 1e-12) &&
            law_near(b->stored_B, 2 * a->stored_B, 1e-12) &&
            law_near(b->exchanged_B, 2 * a->exchanged_B, 1e-12),
        "twice the samples: %g of %g flop, %g of %g B kept, %g of %g moved, %g of %g sent",
        b->flop, a->flop, b->stored_B, a->stored_B, b->moved_B, a->moved_B, b->exchanged_B,
        a->exchanged_B);
    LAW(b->parameters == a->parameters && b->parameters_rank == a->parameters_rank,
        "twice the samples: %g of %g parameters", b->parameters, a->parameters);
    return true;
}

/* Every layer adds as much as the one before; twice as wide is at least twice of everything. */
static inline bool law_stages_growth(const struct law_model *c, struct law_why *why) {
    struct law_model d = *c;
    struct law_stages a = law_stages_sum(c), b, e;
    d.plan.micro_batch = 2 * fr_plan_micro_batch(&c->plan);
    b = law_stages_sum(&d);
    if (!law_stages_twice(&a, &b, why)) return false;
    d = *c;
    int64_t layers = c->job.workload.transformer.layers;
    d.job.workload.transformer.layers = 2 * layers;
    b = law_stages_sum(&d);
    d.job.workload.transformer.layers = 3 * layers;
    e = law_stages_sum(&d);
    LAW(b.flop > 1.3 * a.flop && b.stored_B > a.stored_B && b.moved_B > a.moved_B &&
            b.kernels > a.kernels && b.parameters > a.parameters &&
            (a.exchanged_B > 0) == (b.exchanged_B > a.exchanged_B),
        "twice the layers: %g of %g flop, %g of %g B kept", b.flop, a.flop, b.stored_B,
        a.stored_B);
    LAW(law_near(e.flop - b.flop, b.flop - a.flop, 1e-9) &&
            law_near(e.stored_B - b.stored_B, b.stored_B - a.stored_B, 1e-9) &&
            law_near(e.kernels - b.kernels, b.kernels - a.kernels, 1e-9) &&
            law_near(e.parameters_rank - b.parameters_rank,
                     b.parameters_rank - a.parameters_rank, 1e-9),
        "layers do not add alike: %g, %g, %g flop", a.flop, b.flop, e.flop);
    d = *c;
    struct fr_transformer *t = &d.job.workload.transformer;
    t->hidden *= 2, t->ffn *= 2, t->head_dim *= 2;
    b = law_stages_sum(&d);
    LAW(b.flop >= 2 * a.flop && b.parameters >= 1.9 * a.parameters && b.stored_B > a.stored_B &&
            b.moved_B > a.moved_B && b.exchanged_B >= a.exchanged_B,
        "twice the width: %g of %g flop, %g of %g parameters", b.flop, a.flop, b.parameters,
        a.parameters);
    return true;
}

/* Prices on a device with one rate for every product (half_dim 0).  A forward pass takes no less than its flop.  The
 * backward pass takes twice as long, at most half of it for weights.  With fused attention, which makes the scores
 * once more, it takes up to 2.6 times as long.  Recomputing all adds no more than a forward pass. */
static inline bool law_stages_passes(const struct law_model *c, struct law_why *why) {
    struct law_model r = *c;
    struct fr_pass pass[3][3]; /* of each recompute: forward, backward, weight */
    const struct fr_gemm_model *rate = &r.job.cluster.device.gemm[r.job.workload.dtype];
    struct law_stages s = law_stages_sum(c);
    for (int k = 0; k < 3; k++) {
        struct fr_pipeline p;
        uint32_t extrapolated = 0;
        r.plan.recompute = law_recomputes[k];
        r.plan.pp = 1;
        if (fr_pipeline_make(&r.job, &r.plan, &p, &extrapolated, NULL) != FR_OK) return false;
        pass[k][0] = p.stage[0].forward;
        pass[k][1] = p.stage[0].backward;
        pass[k][2] = p.stage[0].weight;
        fr_pipeline_free(&p);
    }
    double ahead_s = pass[0][0].compute_s, back_s = pass[0][1].compute_s;
    LAW(ahead_s >= s.flop / rate->peak_flop_per_s && s.flop > 0 && pass[0][0].launch_s > 0,
        "%g flop forward in %g s", s.flop, ahead_s);
    LAW(back_s >= 1.999 * ahead_s && back_s < 2.6 * ahead_s, "%g s backward, %g s forward",
        back_s, ahead_s);
    LAW(pass[0][2].compute_s > 0.1 * back_s && pass[0][2].compute_s <= 0.5 * back_s,
        "%g s of %g backward for weights", pass[0][2].compute_s, back_s);
    double all_s = pass[2][1].compute_s - back_s, some_s = pass[1][1].compute_s - back_s;
    LAW(some_s >= 0 && all_s > some_s && all_s <= ahead_s * (1 + 1e-9),
        "again %g s of it, all %g s, forward %g s", some_s, all_s, ahead_s);
    return true;
}

/* Bytes of the collectives @p op over @p axis in one pass of stage @p i. */
static inline double law_stage_of(const struct fr_rank_work *w, fr_pass_kind pass, fr_op op,
                                  int axis) {
    double sum_B = 0;
    for (int k = 0; k < w->n_ops; k++) {
        const struct fr_operation *o = &w->op[k];
        if (o->kind == FR_WORK_COLLECTIVE && o->pass == pass && (fr_op)o->op == op &&
            (int)o->axis == axis)
            sum_B += test_amount(o);
    }
    return sum_B;
}

/* Where activations stay scattered, a gradient goes back the way its value came.  A gather becomes a reduce-scatter
 * and a scatter a gather, as often.  An all-to-all is its own counterpart.  Beside them values may be gathered once
 * more. */
static inline bool law_stages_duals(const struct law_model *c, struct law_why *why) {
    static const fr_op pairs[][2] = {{FR_OP_ALL_GATHER, FR_OP_REDUCE_SCATTER},
                                     {FR_OP_REDUCE_SCATTER, FR_OP_ALL_GATHER},
                                     {FR_OP_ALL_TO_ALL, FR_OP_ALL_TO_ALL}};
    /* elsewhere every rank holds, and sums, whole gradients of what it has gathered */
    bool scattered = c->plan.method->uses_ghost || c->plan.sequence_parallel;
    if (c->plan.method->grids || !scattered) return true;
    for (int64_t i = 0; i < c->plan.pp; i++) {
        struct fr_rank_work w;
        test_stage(&c->job.workload, &c->plan, i, &w);
        for (int axis = 0; axis <= FR_AXIS_TO_ENDS; axis++)
            for (int k = 0; k < 3; k++) {
                double there_B = law_stage_of(&w, FR_PASS_FORWARD, pairs[k][0], axis),
                       back_B = law_stage_of(&w, FR_PASS_INPUT, pairs[k][1], axis),
                       least_B = there_B * (1 - 1e-12);
                LAW(back_B >= least_B && (k == 1 || back_B <= there_B * (1 + 1e-12)),
                    "stage %d, axis %d: %g B of %s forward, %g B of %s backward", (int)i, axis,
                    there_B, fr_op_names[pairs[k][0]], back_B, fr_op_names[pairs[k][1]]);
            }
    }
    return true;
}

/* A replica does the same with its micro-batch beside one replica and beside many. */
static inline bool law_stages_replicas(const struct law_model *c, struct law_why *why) {
    struct law_model d = *c;
    d.plan.dp *= 3;
    d.plan.global_batch *= 3;
    for (int64_t i = 0; i < c->plan.pp; i++) {
        struct fr_rank_work one, many;
        test_stage(&c->job.workload, &c->plan, i, &one);
        test_stage(&d.job.workload, &d.plan, i, &many);
        LAW(one.n_ops == many.n_ops && one.activation_B == many.activation_B &&
                one.working_B == many.working_B && one.parameters == many.parameters &&
                one.parameters_rank == many.parameters_rank,
            "stage %d: %d operations and %g B beside %d replicas, %d and %g beside %d", (int)i,
            one.n_ops, one.activation_B, (int)c->plan.dp, many.n_ops, many.activation_B,
            (int)d.plan.dp);
        for (int k = 0; k < one.n_ops; k++) {
            const struct fr_operation *a = &one.op[k], *b = &many.op[k];
            bool product = a->kind == FR_WORK_PRODUCT,
                 same = a->kind == b->kind && a->pass == b->pass &&
                        (product ? test_flop(a) == test_flop(b)
                                 : test_amount(a) == test_amount(b));
            LAW(same, "stage %d, operation %d of kind %d: %g beside %d replicas, %g beside %d",
                (int)i, k, (int)a->kind, test_amount(a), (int)c->plan.dp, test_amount(b),
                (int)d.plan.dp);
        }
    }
    return true;
}

typedef bool law_of_stages(const struct law_model *c, struct law_why *why);

static const struct {
    const char *name;
    law_of_stages *holds;
} laws_of_stages[] = {
    {"flop", law_stages_flop},           {"parameters", law_stages_parameters},
    {"gradients", law_stages_gradients}, {"activations", law_stages_activations},
    {"ranks", law_stages_ranks},         {"growth", law_stages_growth},
    {"passes", law_stages_passes},       {"duals", law_stages_duals},
    {"replicas", law_stages_replicas},
};

#endif
