#include "models/price/exchange.h"

#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "models/price/codec_price.h"
#include "models/price/layers.h"
#include "models/price/pass.h"
#include "models/price/stage_work.h"
#include "models/price/zero.h"
#include "models/work/transformer.h"

/* A list under construction, and where it is priced. */
struct listing {
    const struct fr_job *job;
    const struct fr_plan *plan;
    const struct fr_rank_map *rank_map;
    const struct fr_pipeline *p;
    int32_t i;
    int passes; /* bits of fr_pass_kind */
    struct fr_exchanges *out;
    bool failed;
    struct fr_pricing price;
    double from, to, repeats; /* where what is added stands */
    double layers;            /* equal lists: of what is done once an iteration */
    uint32_t unasked;
    double unbooked_B[FR_SENT_COUNT];
    /* Sums of the range of operations at hand. */
    double products_s, attention_s, scores_s, ring, beside_products_s;
    int lane[FR_BESIDE_PIECES + 1]; /* by fr_beside: of the pass's attention and on; or -1 */
};

/* ---- lists ---------------------------------------------------------------------------------------- */

static void add(struct listing *l, const struct fr_exchange *exchange) {
    struct fr_exchanges *out = l->out;
    if (exchange->group->n_ranks <= 1 || !(exchange->times > 0)) return;
    if (out->n == out->capacity) {
        int capacity = out->capacity ? 2 * out->capacity : 16;
        struct fr_exchange *grown = fr_realloc(out->list, (size_t)capacity, sizeof *grown);
        if (!grown) {
            l->failed = true;
            return;
        }
        out->list = grown;
        out->capacity = capacity;
    }
    out->list[out->n++] = *exchange;
}

static int new_lane(struct listing *l, int with, double beside_s) {
    struct fr_exchanges *out = l->out;
    if (out->n_lanes == FR_LANES) return -1; /* on the way: more than any list has */
    out->lane[out->n_lanes] = (struct fr_lane){.with = with, .beside_s = beside_s};
    return out->n_lanes++;
}

static double alone_s(const struct fr_exchanges *x, int lane) {
    double time_s = 0;
    for (int k = 0; k < x->n; k++)
        if (x->list[k].lane == lane) time_s += x->list[k].alone_s;
    return time_s;
}

double fr_lane_shown_s(const struct fr_exchanges *x, int lane) {
    const struct fr_lane *of = &x->lane[lane];
    return fmax(0, alone_s(x, lane) - of->beside_s) + of->slow_s;
}

static void slow(struct listing *l, int lane, double comm_s, double beside_s) {
    l->out->lane[lane].slow_s = fr_device_beside_s(&l->job->cluster.device, comm_s, beside_s) -
                                fmax(0, comm_s - beside_s);
}

static int part_of(uint8_t axis) {
    if (axis == FR_AXIS_CP) return FR_WITH_CP;
    return axis == FR_AXIS_EP || axis == FR_AXIS_EP_ACROSS || axis == FR_AXIS_EP_WITHIN
               ? FR_WITH_EP
               : FR_WITH_TP;
}

/* Operations are priced so; what they send was booked with the pass. */
static void price_by(struct listing *l, struct fr_pricing price) {
    l->price = price;
    l->price.sent_B = l->unbooked_B;
    l->price.extrapolated = &l->unasked;
}

static double operation_s(const struct listing *l, const struct fr_operation *o) {
    return l->price.passes * fr_operation_s(&l->price, o);
}

/* A collective of an operation, @p share of its times. */
static void add_operation(struct listing *l, const struct fr_operation *o, int lane,
                          double share) {
    bool once = o->pass == FR_PASS_ONCE;
    double times = share * o->times * (once ? l->layers : l->price.passes);
    add(l, &(struct fr_exchange){.op = (fr_op)o->op,
                                 .with = once ? FR_WITH_GRADIENTS : part_of(o->axis),
                                 .members = fr_members_along(l->plan, (fr_axis)o->axis),
                                 .group = l->price.group[o->axis],
                                 .size_B = o->size,
                                 .times = times,
                                 .alone_s =
                                     share * (once ? l->layers * fr_operation_s(&l->price, o)
                                                   : operation_s(l, o)),
                                 .from = l->from,
                                 .to = l->to,
                                 .repeats = l->repeats,
                                 .lane = lane});
}

static void add_collective(struct listing *l, const struct fr_operation *o, double before_s) {
    fr_beside beside = fr_operation_beside(&l->price, o);
    double p = (double)l->price.group[o->axis]->n_ranks;
    if (p <= 1 || o->times <= 0) return;
    if (beside == FR_BESIDE_NOTHING) {
        add_operation(l, o, -1, 1);
    } else if (beside == FR_BESIDE_PRODUCT) {
        int lane = new_lane(l, part_of(o->axis), before_s);
        add_operation(l, o, lane, 1);
        if (lane >= 0) slow(l, lane, operation_s(l, o), before_s);
        if (lane >= 0) l->out->lane[lane].own_s = before_s;
        l->beside_products_s += before_s;
    } else {
        int *lane = &l->lane[beside];
        double first = beside == FR_BESIDE_PIECES ? 1 / p : 0;
        if (*lane < 0) *lane = new_lane(l, part_of(o->axis), 0);
        if (first > 0) add_operation(l, o, -1, first);
        add_operation(l, o, *lane, 1 - first);
    }
}

static void add_work(struct listing *l, const struct fr_operation *o, double time_s) {
    bool scores = o->kind == FR_WORK_SCORES;
    if (o->kind == FR_WORK_PRODUCT || scores) l->products_s += time_s;
    if (scores) l->scores_s += time_s;
    if (o->kind == FR_WORK_ATTENTION || o->kind == FR_WORK_CACHED || o->kind == FR_WORK_SCAN)
        l->attention_s += time_s;
}

static void begin_range(struct listing *l) {
    l->products_s = l->attention_s = l->scores_s = l->ring = l->beside_products_s = 0;
    for (int k = FR_BESIDE_ATTENTION; k <= FR_BESIDE_PIECES; k++) l->lane[k] = -1;
}

/* Attention, and the products that nothing else is beside, are a lane's own; in the latter pieces may not find enough. */
static double own_s(const struct listing *l, int beside, double beside_s, double comm_s) {
    bool rings = l->lane[FR_BESIDE_ATTENTION] >= 0;
    double left_s = l->products_s - l->beside_products_s - (rings ? l->scores_s : 0);
    if (beside == FR_BESIDE_ATTENTION) return beside_s;
    return beside == FR_BESIDE_PIECES && comm_s <= left_s ? left_s : 0;
}

/* How much of the range's work hides each of its lanes, as models/price/operation.c has it. */
static void end_range(struct listing *l) {
    double first = l->ring > 1 ? 1 - 1 / l->ring : 1;
    const double beside_s[] = {[FR_BESIDE_ATTENTION] = first * (l->attention_s + l->scores_s),
                               [FR_BESIDE_PASS] = l->products_s + l->attention_s,
                               [FR_BESIDE_PIECES] = l->products_s};
    for (int k = FR_BESIDE_ATTENTION; k <= FR_BESIDE_PIECES; k++) {
        int lane = l->lane[k];
        if (lane < 0) continue;
        double comm_s = alone_s(l->out, lane);
        l->out->lane[lane].beside_s = beside_s[k];
        l->out->lane[lane].own_s = own_s(l, k, beside_s[k], comm_s);
        slow(l, lane, comm_s, beside_s[k]);
    }
}

/* Collectives of operations [@p from, @p to) in the passes asked for. */
static void add_operations(struct listing *l, const struct fr_rank_work *work, int from,
                           int to) {
    double before_s = 0;
    for (const struct fr_operation *o = work->op + from; o < work->op + to; o++) {
        bool asked = l->passes >> o->pass & 1, collective = o->kind == FR_WORK_COLLECTIVE;
        if (!collective && o->pass != FR_PASS_ONCE) before_s = operation_s(l, o);
        if (collective && fr_operation_beside(&l->price, o) == FR_BESIDE_ATTENTION)
            l->ring = (double)l->price.group[o->axis]->n_ranks;
        if (asked && collective) add_collective(l, o, before_s);
        if (asked && !collective && o->pass != FR_PASS_ONCE) add_work(l, o, before_s);
    }
}

/* ---- copies --------------------------------------------------------------------------------------- */

static double layers_of(const struct listing *l) {
    return (double)fr_transformer_stage_layers(&l->job->workload.transformer, l->plan, l->i);
}

/* Add a step of zero, @p share on the way at @p at, the rest in @p lane. @return the time of all [s] */
static double add_zero(struct listing *l, fr_zero_step step, double parts, double share,
                       double at, int lane) {
    struct fr_zero_exchange list[FR_ZERO_EXCHANGES];
    const struct fr_stage *stage = &l->p->stage[l->i];
    bool transformer = l->job->workload.transformer.layers > 0;
    int n = fr_zero_list(l->job, l->plan, l->rank_map, transformer ? layers_of(l) : 1, stage,
                         step, parts, list);
    double sum_s = 0;
    for (int k = 0; k < n; k++) {
        const struct fr_ledger one = {&l->job->cluster, NULL, 1, &l->unasked};
        struct fr_exchange x = {.op = list[k].op,
                                .with = FR_WITH_GRADIENTS,
                                .members =
                                    fr_members_of_copies(l->plan, list[k].kind, list[k].among),
                                .group = list[k].group,
                                .size_B = list[k].size_B,
                                .from = at,
                                .to = at,
                                .repeats = 1,
                                .lane = -1};
        double all_s = fr_ledger_s(&one, x.op, x.group, x.size_B, list[k].times);
        x.times = share * list[k].times;
        x.alone_s = share * all_s;
        add(l, &x);
        x.times = (1 - share) * list[k].times;
        x.alone_s = (1 - share) * all_s;
        x.lane = lane;
        add(l, &x);
        sum_s += all_s;
    }
    return sum_s;
}

/* Zero 2 and 3: what a pass of @p pass_s gathers and scatters (models/price/zero.c). */
static void add_divided(struct listing *l, fr_exchanges_step step, double pass_s, bool splits) {
    const struct fr_plan *plan = l->plan;
    bool forward = step == FR_EXCHANGES_FORWARD;
    bool gathers =
        plan->zero == 3 && (forward || (step == FR_EXCHANGES_BACKWARD && plan->reshards));
    bool scatters = !plan->sums_whole &&
                    (step == FR_EXCHANGES_WEIGHT || (step == FR_EXCHANGES_BACKWARD && !splits));
    if (plan->zero < 2 || (!gathers && !scatters)) return;
    double ends = plan->blocking ? 1 : fr_zero_ends(plan, layers_of(l)), sum_s = 0;
    int lane = plan->blocking ? -1 : new_lane(l, FR_WITH_GRADIENTS, 0);
    if (gathers) sum_s += add_zero(l, FR_ZERO_GATHERS, 1, ends, 0, lane);
    if (scatters) sum_s += add_zero(l, FR_ZERO_SCATTERS, 1, ends, 1, lane);
    if (lane < 0) return;
    slow(l, lane, sum_s, pass_s);
    l->out->lane[lane].beside_s = pass_s - ends * sum_s;
}

/* Compressed gradients of a transformer, after those that go whole. */
static void add_coded(struct listing *l) {
    struct fr_plan own;
    struct fr_stage_work work;
    struct fr_coded coded = {0};
    if (!l->job->workload.transformer.layers || !fr_codec_codes(l->plan, l->i)) return;
    const struct fr_plan *plan = fr_codec_plan_of(l->plan, l->i, &own);
    fr_stage_work_find(l->job, plan, l->rank_map, l->i, NULL, &work);
    fr_codec_code(l->job, plan, &l->price, &work.work, work.work.n_layer_ops, &coded);
    for (int axis = 0; axis < FR_AXES; axis++) {
        const struct fr_operation o = {.kind = FR_WORK_COLLECTIVE,
                                       .pass = FR_PASS_ONCE,
                                       .op = (uint8_t)plan->compression.codec->op,
                                       .axis = (uint8_t)axis,
                                       .times = 1,
                                       .size = coded.coded_B[axis]};
        if (coded.coded_B[axis] > 0) add_operation(l, &o, -1, 1);
    }
}

/* ---- stages of a transformer ------------------------------------------------------------------------- */

static void stand_at(struct listing *l, double from, double to, double repeats) {
    l->from = from;
    l->to = to;
    l->repeats = repeats;
}

/* The embedding comes before the layers, the logits after them; on one stage all come with the logits. */
static void add_transformer(struct listing *l, fr_exchanges_step step) {
    struct fr_stage_work own;
    const struct fr_stage_work *sw =
        fr_stage_work_find(l->job, l->plan, l->rank_map, l->i, NULL, &own);
    bool forward = step == FR_EXCHANGES_FORWARD, splits = l->p->splits_backward,
         before = (l->i == 0 && l->plan->pp > 1) == forward;
    double pass_s = fr_pass_s(forward                       ? &sw->stage.forward
                              : step == FR_EXCHANGES_WEIGHT ? &sw->stage.weight
                              : splits                      ? &sw->input
                                                            : &sw->stage.backward,
                              FR_WITH_ALL);
    price_by(l, fr_pass_pricing(l->job, l->plan, l->rank_map, &sw->work));
    stand_at(l, 0, 1, fmax(1, sw->work.layers));
    begin_range(l);
    add_operations(l, &sw->work, 0, sw->work.n_layer_ops);
    end_range(l);
    stand_at(l, before ? 0 : 1, before ? 0 : 1, 1);
    begin_range(l);
    add_operations(l, &sw->work, sw->work.n_layer_ops, sw->work.n_ops);
    end_range(l);
    add_divided(l, step, pass_s, splits);
}

/* ---- stages of layers -------------------------------------------------------------------------------- */

/* The layer at hand of @p at. */
static void lower(struct listing *l, struct fr_layers *at, struct fr_rank_work *work) {
    struct fr_coded coded;
    fr_layers_work(l->job, at, &l->price, fr_codec_codes(l->plan, l->i), work, &coded);
    l->layers = at->n;
    l->price.passes = at->n * at->passes;
}

/* A layer's own work in the passes asked for [s]. */
static double work_s(const struct listing *l, const struct fr_rank_work *work) {
    double sum_s = 0;
    for (int k = 0; k < work->n_ops; k++) {
        const struct fr_operation *o = &work->op[k];
        if (o->kind != FR_WORK_COLLECTIVE && l->passes >> o->pass & 1)
            sum_s += operation_s(l, o);
    }
    return sum_s;
}

static void add_layers(struct listing *l, bool forward) {
    struct fr_plan own;
    const struct fr_plan *plan = fr_codec_plan_of(l->plan, l->i, &own);
    struct fr_layers at = fr_layers_of_stage(l->job, plan, l->i);
    struct fr_rank_work work;
    double all_s = 0, done_s = 0;
    price_by(l, fr_layers_pricing(l->job, l->plan, l->rank_map, l->i));
    for (struct fr_layers k = at; fr_layers_next(&k);) {
        lower(l, &k, &work);
        all_s += work_s(l, &work);
    }
    begin_range(l);
    while (fr_layers_next(&at)) {
        lower(l, &at, &work);
        double own_s = work_s(l, &work), from = all_s > 0 ? done_s / all_s : 0,
               to = all_s > 0 ? (done_s + own_s) / all_s : 0;
        stand_at(l, forward ? from : 1 - to, forward ? to : 1 - from, fmax(1, at.n));
        add_operations(l, &work, 0, work.n_ops);
        done_s += own_s;
    }
    end_range(l);
}

/* ---- steps ------------------------------------------------------------------------------------------- */

/* Layers reduce theirs one by one, unless they go in buckets. */
static void add_gradients(struct listing *l) {
    const struct fr_stage *stage = &l->p->stage[l->i];
    double buckets = (double)l->plan->chunks * stage->buckets;
    if (stage->gradient_s <= 0) return;
    stand_at(l, 1, 1, 1);
    if (l->job->workload.n_layers && !stage->buckets) {
        l->passes = 1 << FR_PASS_ONCE;
        add_layers(l, true);
        return;
    }
    price_by(l, fr_pricing_make(l->job, l->plan, l->rank_map, 1));
    l->layers = 1;
    add_zero(l, FR_ZERO_REDUCES, fmax(1, buckets), 1, 1, -1);
    add_coded(l);
}

static void add_passes(struct listing *l, fr_exchanges_step step) {
    static const int passes[] = {[FR_EXCHANGES_FORWARD] = 1 << FR_PASS_FORWARD,
                                 [FR_EXCHANGES_BACKWARD] =
                                     1 << FR_PASS_INPUT | 1 << FR_PASS_AGAIN,
                                 [FR_EXCHANGES_WEIGHT] = 1 << FR_PASS_WEIGHT};
    l->passes = passes[step];
    if (step == FR_EXCHANGES_BACKWARD && !l->p->splits_backward)
        l->passes |= 1 << FR_PASS_WEIGHT;
    if (l->job->workload.transformer.layers)
        add_transformer(l, step);
    else if (l->job->workload.n_layers)
        add_layers(l, step == FR_EXCHANGES_FORWARD);
}

/* Gathers beside the next iteration's passes are not played: the part that shows is a wait. */
static void add_updated(struct listing *l) {
    bool waits = l->plan->zero == 1 && l->plan->broadcasts;
    if (l->plan->zero < 1 || l->plan->zero > 2 || l->plan->forward) return;
    if (l->plan->overlap && !waits) return;
    add_zero(l, FR_ZERO_UPDATED, 1, 1, 1, -1);
}

static void add_one(struct listing *l, fr_op op, int with, struct fr_members members,
                    const struct fr_group *group, double size_B) {
    const struct fr_ledger one = {&l->job->cluster, NULL, 1, &l->unasked};
    if (size_B <= 0) return;
    add(l, &(struct fr_exchange){.op = op,
                                 .with = with,
                                 .members = members,
                                 .group = group,
                                 .size_B = size_B,
                                 .times = 1,
                                 .alone_s = fr_ledger_s(&one, op, group, size_B, 1),
                                 .from = 1,
                                 .to = 1,
                                 .repeats = 1,
                                 .lane = -1});
}

/* The bytes that were booked say how many it is of. */
static void add_embedding(struct listing *l) {
    const struct fr_group *ends = &l->rank_map->ends;
    if (ends->n_ranks <= 1) return;
    double sent_B = l->p->stage[0].sent_B[FR_SENT_EMBEDDING];
    add_one(l, FR_OP_ALL_REDUCE, FR_WITH_EMBEDDING,
            (struct fr_members){.n = ends->n_ranks, .apart = 1, .ends = true}, ends,
            sent_B / fr_op_bus_factor(FR_OP_ALL_REDUCE, ends->n_ranks));
}

fr_status fr_exchanges_make(const struct fr_job *job, const struct fr_plan *plan,
                            const struct fr_rank_map *rank_map, const struct fr_pipeline *p,
                            int32_t i, fr_exchanges_step step, struct fr_exchanges *out) {
    struct listing l = {
        .job = job, .plan = plan, .rank_map = rank_map, .p = p, .i = i, .out = out};
    *out = (struct fr_exchanges){0};
    if (step <= FR_EXCHANGES_WEIGHT)
        add_passes(&l, step);
    else if (step == FR_EXCHANGES_GRADIENT)
        add_gradients(&l);
    else if (step == FR_EXCHANGES_UPDATED)
        add_updated(&l);
    else if (step == FR_EXCHANGES_EMBEDDING)
        add_embedding(&l);
    else
        add_one(&l, FR_OP_ALL_GATHER, FR_WITH_MESSAGES,
                (struct fr_members){.n = rank_map->arrive.n_ranks, .apart = 1},
                &rank_map->arrive, p->stage[i].gathered_B);
    return l.failed ? FR_ERR_NOMEM : FR_OK;
}

void fr_exchanges_free(struct fr_exchanges *x) {
    free(x->list);
    *x = (struct fr_exchanges){0};
}
