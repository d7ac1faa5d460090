/** @file
 *  What one rank does in a stage of a transformer, summed up a second time: block by block, from what the papers
 *  and headers say of each, in plain arithmetic.
 *
 *  Layers are cut into as many slices as a stage has chunks and dealt out in order; nothing of models/work is used
 *  but its names.  Symbols as in models/work/transformer.h. */
#ifndef FR_TESTS_MODELS_WORK_RECKONED_H
#define FR_TESTS_MODELS_WORK_RECKONED_H

#include "models/plan/plan.h"
#include "models/work/method.h"
#include "tests/work.h"

/** Sums over the operations of a rank: an amount is times its size. */
struct reckoned {
    double flop[FR_PASS_KINDS];                      /**< of products, attention and scans */
    double made[FR_PASS_KINDS], wide[FR_PASS_KINDS]; /**< of them, of products so marked */
    double moved_B[FR_PASS_KINDS], norm_B[FR_PASS_KINDS], softmax_B[FR_PASS_KINDS];
    double kernels[FR_PASS_KINDS];
    double sent_B[FR_PASS_KINDS][FR_AXES][FR_OP_COUNT];
    double parameters, parameters_rank, frozen_rank, expert_rank, embedding_rank;
    double stored_B, ends_B, working_B;
};

static inline void reckon_list(const struct fr_rank_work *w, struct reckoned *r) {
    memset(r, 0, sizeof *r);
    for (int k = 0; k < w->n_ops; k++) {
        const struct fr_operation *o = &w->op[k];
        r->flop[o->pass] += test_flop(o);
        if (test_is_product(o) && o->made) r->made[o->pass] += test_flop(o);
        if (test_is_product(o) && o->wide) r->wide[o->pass] += test_flop(o);
        if (o->kind == FR_WORK_TRAFFIC) {
            r->moved_B[o->pass] += o->times * o->moved.all_B;
            r->norm_B[o->pass] += o->times * o->moved.norm_B;
            r->softmax_B[o->pass] += o->times * o->moved.softmax_B;
        }
        if (o->kind == FR_WORK_KERNELS) r->kernels[o->pass] += o->times;
        if (o->kind == FR_WORK_COLLECTIVE)
            r->sent_B[o->pass][o->axis][o->op] += o->times * o->size;
    }
    r->parameters = w->parameters;
    r->parameters_rank = w->parameters_rank;
    r->frozen_rank = w->frozen_rank;
    r->expert_rank = w->expert_rank;
    r->embedding_rank = w->embedding_rank;
    r->stored_B = w->activation_B;
    r->ends_B = w->ends_B;
    r->working_B = w->working_B;
}

/* ---- which blocks ------------------------------------------------------------------------------- */

struct reckoned_blocks {
    double layers, attention, cross, dense, mixed, scan, predicted;
};

/** Layers of each stage: listed, or dealt out one by one; where interleaved stages lack one or two, the ends'. */
static inline int64_t reckon_layers(const struct fr_transformer *t, const struct fr_plan *p,
                                    int64_t i) {
    int64_t here = 0, places = p->pp * p->chunks;
    if (p->stage_layers) return p->stage_layers[i];
    if (p->chunks > 1 && p->pp > 1 && places > t->layers && !p->schedule->folds) {
        int64_t has = p->chunks;
        if (i == p->pp - 1) has--;
        if (i == 0 && places - t->layers == 2) has--;
        return has;
    }
    for (int64_t l = 0; l < t->layers; l++) here += l % p->pp == i;
    return here;
}

/** Slices in order through the chunks, of a folded schedule every second time backwards. */
static inline struct reckoned_blocks reckon_blocks(const struct fr_transformer *t,
                                                   const struct fr_plan *p, int64_t i) {
    struct reckoned_blocks b = {0};
    int64_t slice = 0, letters = (int64_t)strlen(t->pattern);
    for (int64_t place = 0; place < p->pp * p->chunks; place++) {
        int64_t chunk = place / p->pp, stage = place % p->pp;
        if (p->schedule->folds && chunk % 2 == 1) stage = p->pp - 1 - stage;
        for (int64_t n = reckon_layers(t, p, stage); n-- > 0; slice++) {
            int64_t l = slice / p->chunks;
            double part = 1 / (double)p->chunks;
            char letter = letters ? t->pattern[l % letters] : ' ';
            if (stage != i) continue;
            b.layers += part;
            if (letter == ' ' || letter == '*') b.attention += part;
            if (l >= t->layers - t->cross_layers) b.cross += part;
            if (letter == 'M') b.scan += part;
            if (letter == '-' || (letter == ' ' && (!t->experts || l < t->dense_layers)))
                b.dense += part;
            if (letter == 'E' || (letter == ' ' && t->experts && l >= t->dense_layers))
                b.mixed += part;
        }
    }
    bool turns = p->schedule->folds && p->chunks % 2 == 0;
    if (i == (turns ? 0 : p->pp - 1)) b.predicted = (double)t->predicted;
    b.layers += b.predicted;
    b.attention += b.predicted;
    *(t->experts ? &b.mixed : &b.dense) += b.predicted;
    return b;
}

/** Share of all pairs of tokens that a fused kernel makes, attention by attention. */
static inline double reckon_made(const struct fr_transformer *t) {
    double sum = 0, attentions = 0, s = (double)t->sequence;
    for (int64_t l = 0; l < t->layers; l++) {
        bool decoder = l >= t->layers - t->cross_layers;
        double looks = s; /* a token's window, or its document */
        if (l < t->window_layers && t->window > 0 && t->window < t->sequence)
            looks = (double)t->window;
        /* a triangle of the first `looks` tokens, then a band of as many */
        double pairs = looks * looks / 2 + (s - looks) * looks;
        if (t->document > 0) pairs = fmin(s, (double)t->document) * s / 2;
        if (t->both_ways || (t->cross_layers > 0 && !decoder)) pairs = s * s;
        sum += pairs / (s * s);
        attentions += 1;
        if (decoder) sum += 1, attentions += 1;
    }
    return sum / attentions;
}

#endif
