#include "models/price/crossing.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "models/price/codec_price.h"
#include "models/price/memo.h"

/* ---- one boundary ---------------------------------------------------------------------------------- */

/* Bytes of @p n messages. */
static struct fr_crossed crossed(const struct fr_rank_map *rank_map,
                                 const struct fr_group *pair, double message_B,
                                 double gathered_B, double n) {
    const struct fr_group *arrive = &rank_map->arrive;
    if (n <= 0) return (struct fr_crossed){0};
    double gather_B = arrive->n_ranks > 1 && gathered_B > 0
                          ? gathered_B * fr_op_bus_factor(FR_OP_ALL_GATHER, arrive->n_ranks)
                          : 0;
    return (struct fr_crossed){
        n * (message_B * fr_op_bus_factor(FR_OP_SEND_RECV, pair->n_ranks)), n * gather_B};
}

/* Messages of an iteration's forward or backward passes across a boundary, and those of them that are coded.  Where a
 * schedule folds, those of every other chunk are turned: they go the other way. */
struct passes {
    double n, n_turned, coded, coded_turned;
};

static void add(struct fr_crossed *to, struct fr_crossed more) {
    to->pp_B += more.pp_B;
    to->tp_B += more.tp_B;
}

/* Those of @p n, of which coded ones have @p coded_B: to @p on, and turned ones to @p back. */
static void cross_passes(const struct fr_rank_map *rank_map, const struct fr_group *pair,
                         const struct fr_stage *s, struct passes n, double coded_B,
                         struct fr_crossed *on, struct fr_crossed *back) {
    const double whole_B = s->message_B, gathered_B = s->gathered_B,
                 coded_on = n.coded - n.coded_turned;
    add(on, crossed(rank_map, pair, whole_B, gathered_B, n.n - n.n_turned - coded_on));
    add(on, crossed(rank_map, pair, coded_B, gathered_B, coded_on));
    add(back, crossed(rank_map, pair, whole_B, gathered_B, n.n_turned - n.coded_turned));
    add(back, crossed(rank_map, pair, coded_B, gathered_B, n.coded_turned));
}

/* One message across a boundary [s].  The ranks of a stage send at once, and so do its replicas; other stages have
 * their own times, which only a shared network (sim/network/) can bring together. */
static double message_s(const struct fr_job *job, const struct fr_rank_map *rank_map,
                        const struct fr_group *pair, double message_B, double gathered_B,
                        uint32_t *extrapolated) {
    const struct fr_ledger one = {&job->cluster, NULL, 1, extrapolated};
    return fr_ledger_s(&one, FR_OP_SEND_RECV, pair, message_B, 1) +
           fr_ledger_s(&one, FR_OP_ALL_GATHER, &rank_map->arrive, gathered_B, gathered_B > 0);
}

static bool same_messages(const struct fr_pipeline *p, int32_t a, int32_t b) {
    const struct fr_stage *x = &p->stage[a], *y = &p->stage[b];
    return x->message_B == y->message_B && x->gathered_B == y->gathered_B &&
           x->small_message_B == y->small_message_B && x->small_forward_B == y->small_forward_B;
}

/* The messages above stage @p i, which a codec has made small by now, between the ranks of @p pair.
 * @param before  a boundary over such links with messages of such sizes, or NULL */
static void cross(const struct fr_job *job, const struct fr_rank_map *rank_map,
                  const struct fr_group *pair, int32_t i, const struct fr_crossing *before,
                  const struct fr_pipeline *p, struct fr_crossing *c, uint32_t *extrapolated) {
    const struct fr_stage *s = &p->stage[i];
    const double n = fr_pipeline_n_messages(p, i), small = fr_pipeline_n_compressed(p, i),
                 forward = fr_pipeline_n_forward_compressed(p, i), B = s->gathered_B;
    *c = (struct fr_crossing){.small_message_B = s->small_message_B,
                              .encode_s = s->encode_s,
                              .decode_s = s->decode_s,
                              .message_codec_B = s->message_codec_B,
                              .small_forward_B = s->small_forward_B,
                              .forward_encode_s = s->forward_encode_s,
                              .forward_decode_s = s->forward_decode_s,
                              .forward_codec_B = s->forward_codec_B,
                              .sends_whole = s->sends_whole};
    c->message_s = before ? before->message_s
                          : message_s(job, rank_map, pair, s->message_B, B, extrapolated);
    if (small > 0)
        c->small_message_s =
            before && before->small_message_s > 0
                ? before->small_message_s
                : message_s(job, rank_map, pair, s->small_message_B, B, extrapolated);
    if (forward > 0)
        c->small_forward_s =
            before && before->small_forward_s > 0
                ? before->small_forward_s
                : message_s(job, rank_map, pair, s->small_forward_B, B, extrapolated);
    const bool folds = p->schedule && p->schedule->folds && n > 0;
    const double n_turned = folds ? n / 2 : 0;
    cross_passes(rank_map, pair, s,
                 (struct passes){n, n_turned, forward, folds ? forward / 2 : 0},
                 s->small_forward_B, &c->up, &c->down);
    if (p->forward) return;
    const double turned = folds && small > 0 ? fr_pipeline_n_read(p, i + 1, 1) : 0;
    cross_passes(rank_map, pair, s, (struct passes){n, n_turned, small, turned},
                 s->small_message_B, &c->down, &c->up);
}

/* ---- all of them ----------------------------------------------------------------------------------- */

/* The first boundary over such links, where messages are as large. */
static const struct fr_crossing *before_of(const struct fr_stage_places *placed,
                                           const struct fr_pipeline *p,
                                           const struct fr_crossing *above, int32_t i) {
    const int32_t like = placed->like ? placed->like[i] : i;
    return like < i && same_messages(p, like, i) ? &above[like] : NULL;
}

static void send(struct fr_stage *from, struct fr_stage *to, struct fr_crossed sent) {
    from->sent_B[FR_SENT_PP] += sent.pp_B;
    to->sent_B[FR_SENT_TP] += sent.tp_B;
}

static void fill(const struct fr_crossing *c, struct fr_stage *s, struct fr_stage *above) {
    s->message_s = c->message_s;
    s->small_message_B = c->small_message_B;
    s->small_message_s = c->small_message_s;
    s->encode_s = c->encode_s;
    s->decode_s = c->decode_s;
    s->message_codec_B = c->message_codec_B;
    s->small_forward_B = c->small_forward_B;
    s->small_forward_s = c->small_forward_s;
    s->forward_encode_s = c->forward_encode_s;
    s->forward_decode_s = c->forward_decode_s;
    s->forward_codec_B = c->forward_codec_B;
    s->sends_whole = c->sends_whole;
    send(s, above, c->up);
    send(above, s, c->down);
}

static bool make(const struct fr_job *job, const struct fr_plan *plan,
                 const struct fr_stage_places *placed, struct fr_pipeline *p,
                 struct fr_crossings *c) {
    const int32_t stages = p->args.stages;
    struct fr_group own;
    *c = (struct fr_crossings){.above = fr_malloc((size_t)stages, sizeof *c->above)};
    if (!c->above) return false;
    for (int32_t i = 0; i < stages; i++) /* a stage may have those of another plan */
        fill(&(struct fr_crossing){0}, &p->stage[i], &p->stage[i]);
    fr_codec_price_messages(job, plan, p, &c->extrapolated);
    c->scope = p->scope;
    c->codes_forward = p->codes_forward;
    for (int32_t i = 0; i < stages; i++) {
        const struct fr_group *pair = placed->above ? &placed->above[i] : &own;
        if (!placed->above) own = fr_rank_map_pair(&placed->rank_map, i, (i + 1) % stages);
        cross(job, &placed->rank_map, pair, i, before_of(placed, p, c->above, i), p,
              &c->above[i], &c->extrapolated);
    }
    return true;
}

static void fill_all(const struct fr_crossings *c, struct fr_pipeline *p,
                     uint32_t *extrapolated) {
    for (int32_t i = 0; i < p->args.stages; i++)
        fill(&c->above[i], &p->stage[i], &p->stage[(i + 1) % p->args.stages]);
    p->scope = c->scope;
    p->codes_forward = c->codes_forward;
    *extrapolated |= c->extrapolated;
}

fr_status fr_crossings_add(const struct fr_job *job, const struct fr_plan *plan,
                           const struct fr_stage_places *placed, struct fr_pipeline *p,
                           uint32_t *extrapolated, struct fr_error *err) {
    struct fr_crossings alone, *c = &alone;
    bool fresh = true;
    if (p->memo) c = fr_memo_find(p->memo->crossings, plan, 0, &fresh);
    if (fresh && !make(job, plan, placed, p, c)) {
        if (p->memo) fr_memo_forget(p->memo->crossings, c);
        return fr_fail(err, FR_ERR_NOMEM, NULL, "the pipeline does not fit in memory");
    }
    fill_all(c, p, extrapolated);
    if (!p->memo) free(c->above);
    return FR_OK;
}
