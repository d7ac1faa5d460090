#include "sim/layers.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "models/price/layers.h"
#include "models/price/members.h"
#include "sim/ranks/program.h"

enum { AXES = 3 }; /* that operations of layers have: the first ones */

/* One layer on its ranks. */
struct placed {
    struct fr_rank_work work;
    double codec_s; /* of its gradients */
    double repeat;
    struct fr_ranks_reused forward, backward, update;
};

struct builder {
    struct fr_ranks_builder ranks;
    const struct fr_job *job;
    const struct fr_plan *plan;
    bool as_messages;
    struct fr_pricing cost;       /* of operations */
    int32_t *members[AXES];       /* by axis: ranks, one communicator after another */
    double sent_B[FR_SENT_COUNT]; /* the closed form's is reported */
    uint32_t extrapolated;        /* likewise */
    struct placed *layers;        /* an entry of the model each */
};

/* ---- layers ----------------------------------------------------------------------------------- */

/* One operation, or its messages. */
static void add_collective(struct builder *b, const struct fr_operation *o, int part,
                           int32_t micro) {
    const struct fr_group *group = b->cost.group[o->axis];
    struct fr_class_price price = {.size_B = o->size};
    if (group->n_ranks <= 1 || o->times <= 0) return;
    if (b->as_messages) {
        const struct fr_ranks_collective c = {.op = (fr_op)o->op,
                                              .group = group,
                                              .members = b->members[o->axis],
                                              .n_groups = b->ranks.program->n_ranks /
                                                          (int32_t)group->n_ranks,
                                              .size_B = o->size,
                                              .times = o->times,
                                              .part = part};
        fr_ranks_messages(&b->ranks, &c, micro);
        return;
    }
    price.part_s[part] = fr_operation_s(&b->cost, o);
    fr_task_kind kind = part == FR_PRICE_GRADIENTS ? FR_TASK_GRADIENT : FR_TASK_COLLECTIVE;
    int32_t class_id = fr_ranks_everywhere(&b->ranks, kind, &price, micro);
    if (class_id < 0) return;
    b->ranks.program->classes[class_id].op = o->op;
    b->ranks.program->classes[class_id].axis = o->axis;
}

static void add_collectives(struct builder *b, const struct placed *layer, fr_pass_kind pass,
                            int32_t micro) {
    for (int k = 0; k < layer->work.n_ops; k++) {
        const struct fr_operation *o = &layer->work.op[k];
        if (o->kind == FR_WORK_COLLECTIVE && o->pass == pass)
            add_collective(b, o, pass == FR_PASS_ONCE ? FR_PRICE_GRADIENTS : FR_PRICE_TP,
                           micro);
    }
}

static double waiting(const struct placed *layer, const struct fr_operation *o) {
    return o->common ? layer->work.idle_ranks : 0;
}

static void add_products(struct builder *b, const struct placed *layer, fr_pass_kind pass,
                         int32_t micro) {
    static const fr_task_kind kinds[] = {[FR_PASS_FORWARD] = FR_TASK_FORWARD,
                                         [FR_PASS_INPUT] = FR_TASK_BACKWARD,
                                         [FR_PASS_WEIGHT] = FR_TASK_WEIGHT};
    for (int k = 0; k < layer->work.n_ops; k++) {
        const struct fr_operation *o = &layer->work.op[k];
        struct fr_class_price price = {.waiting = waiting(layer, o)};
        if (o->kind != FR_WORK_PRODUCT || o->pass != pass) continue;
        price.part_s[FR_PRICE_ALWAYS] = fr_operation_s(&b->cost, o);
        fr_ranks_everywhere(&b->ranks, kinds[pass], &price, micro);
    }
}

/* Traffic and kernels of a pass, forward or backward, as one task. */
static void add_elementwise(struct builder *b, const struct placed *layer, bool backward,
                            int32_t micro) {
    struct fr_class_price price = {0};
    for (int k = 0; k < layer->work.n_ops; k++) {
        const struct fr_operation *o = &layer->work.op[k];
        bool kernels = o->kind == FR_WORK_KERNELS;
        if (!kernels && o->kind != FR_WORK_TRAFFIC) continue;
        if ((o->pass != FR_PASS_FORWARD) != backward) continue;
        price.part_s[kernels ? FR_PRICE_LAUNCH : FR_PRICE_ALWAYS] +=
            fr_operation_s(&b->cost, o);
        price.waiting = waiting(layer, o);
    }
    fr_ranks_everywhere(&b->ranks, FR_TASK_ELEMENTWISE, &price, micro);
}

static void add_forward(struct builder *b, struct placed *layer, int32_t micro) {
    fr_ranks_begin(&b->ranks, &layer->forward);
    add_products(b, layer, FR_PASS_FORWARD, micro);
    add_elementwise(b, layer, false, micro);
    add_collectives(b, layer, FR_PASS_FORWARD, micro);
}

static void add_backward(struct builder *b, struct placed *layer, int32_t micro) {
    fr_ranks_begin(&b->ranks, &layer->backward);
    add_collectives(b, layer, FR_PASS_INPUT, micro);
    add_products(b, layer, FR_PASS_INPUT, micro);
    add_products(b, layer, FR_PASS_WEIGHT, micro);
    add_elementwise(b, layer, true, micro);
}

static void add_update(struct builder *b, struct placed *layer) {
    struct fr_class_price price = {.waiting = layer->work.idle_ranks};
    fr_ranks_begin(&b->ranks, &layer->update);
    if (layer->codec_s > 0) {
        struct fr_class_price codec = {.waiting = layer->work.idle_ranks};
        codec.part_s[FR_PRICE_CODEC] = layer->codec_s;
        fr_ranks_everywhere(&b->ranks, FR_TASK_GRADIENT_CODEC, &codec, -1);
    }
    add_collectives(b, layer, FR_PASS_ONCE, -1);
    price.part_s[FR_PRICE_ALWAYS] =
        fr_update_s(&b->cost, &b->job->workload, layer->work.parameters_rank);
    fr_ranks_everywhere(&b->ranks, FR_TASK_OPTIMIZER, &price, -1);
}

/* ---- the iteration ---------------------------------------------------------------------------- */

static void add_pass(struct builder *b, bool forward, int32_t micro) {
    int n = b->job->workload.n_layers;
    for (int k = 0; k < n; k++) {
        struct placed *layer = &b->layers[forward ? k : n - 1 - k];
        for (double r = 0; r < layer->repeat && forward; r++) add_forward(b, layer, micro);
        for (double r = 0; r < layer->repeat && !forward; r++) add_backward(b, layer, micro);
    }
}

static void lay_out(struct builder *b) {
    int64_t micro_batches = fr_pipeline_micro_batches(b->job, b->plan);
    for (int32_t micro = 0; micro < micro_batches && !b->ranks.failed; micro++) {
        add_pass(b, true, micro);
        if (!b->plan->forward) add_pass(b, false, micro);
    }
    for (int i = b->plan->forward ? 0 : b->job->workload.n_layers; i-- > 0;)
        for (double r = 0; r < b->layers[i].repeat; r++) add_update(b, &b->layers[i]);
}

/* ---- who does it -------------------------------------------------------------------------------- */

/* One layer of each entry. */
static bool place(struct builder *b) {
    const struct fr_ranks_reused not_made = {-1};
    bool codes = fr_codec_codes(b->plan, 0);
    struct fr_plan own;
    struct fr_layers l = fr_layers_of_stage(b->job, fr_codec_plan_of(b->plan, 0, &own), 0);
    b->layers = fr_calloc((size_t)b->job->workload.n_layers, sizeof *b->layers);
    if (!b->layers) return false;
    b->cost = fr_layers_pricing(b->job, b->plan, b->ranks.rank_map, 0);
    b->cost.sent_B = b->sent_B;
    b->cost.extrapolated = &b->extrapolated;
    while (fr_layers_next(&l)) {
        struct placed *layer = &b->layers[l.entry];
        struct fr_coded coded = {.time_s = 0};
        fr_layers_work(b->job, &l, &b->cost, codes, &layer->work, &coded);
        layer->codec_s = coded.time_s;
        layer->repeat = l.n;
        layer->forward = layer->backward = layer->update = not_made;
    }
    return true;
}

/* Who sits where in every communicator. */
static bool map_members(struct builder *b) {
    for (int axis = 0; axis < AXES; axis++) {
        const struct fr_members of = fr_members_along(b->plan, (fr_axis)axis);
        b->members[axis] = fr_malloc((size_t)b->ranks.program->n_ranks, sizeof **b->members);
        if (!b->members[axis] ||
            fr_members_list(b->ranks.rank_map, &of, 0, b->members[axis]) != FR_OK)
            return false;
    }
    return true;
}

static bool begin(struct builder *b, struct fr_rank_map *rank_map) {
    const int32_t n = b->ranks.program->n_ranks;
    bool placed = fr_rank_map_make(b->job, b->plan, rank_map, NULL) == FR_OK;
    b->ranks.rank_map = rank_map;
    b->ranks.here = fr_malloc((size_t)n, sizeof *b->ranks.here);
    if (!placed || !b->ranks.here || !fr_ranks_make(&b->ranks, n) || !place(b)) return false;
    for (int32_t r = 0; r < n; r++) b->ranks.here[r] = r;
    b->ranks.n_here = n;
    return !b->as_messages || map_members(b);
}

static void end(struct builder *b, struct fr_rank_map *rank_map) {
    fr_rank_map_free(rank_map);
    for (int axis = 0; axis < AXES; axis++) free(b->members[axis]);
    free(b->layers);
    free(b->ranks.here);
    free(b->ranks.ranks);
}

fr_status fr_layers_make(const struct fr_job *job, const struct fr_plan *plan, bool as_messages,
                         struct fr_program *program, struct fr_class_price **price,
                         struct fr_error *err) {
    int64_t ranks = as_messages ? fr_plan_ranks(plan) : 1;
    *program = (struct fr_program){0};
    *price = NULL;
    if (plan->layer_tp)
        return fr_fail(err, FR_ERR_UNSUPPORTED, "plan#/layer_tp",
                       "a grid per layer is priced by the closed form only");
    FR_TRY(fr_ranks_check(ranks, err));
    struct builder b = {.ranks = {.cluster = &job->cluster,
                                  .cluster_from = job->cluster_from,
                                  .program = program,
                                  .err = err},
                        .job = job,
                        .plan = plan,
                        .as_messages = as_messages};
    struct fr_rank_map rank_map;
    program->n_ranks = (int32_t)ranks;
    b.ranks.failed = !begin(&b, &rank_map);
    if (!b.ranks.failed) lay_out(&b);
    end(&b, &rank_map);
    *price = b.ranks.price;
    if (b.ranks.status != FR_OK) return b.ranks.status;
    return b.ranks.failed
               ? fr_fail(err, FR_ERR_NOMEM, NULL, "the program does not fit in memory")
               : FR_OK;
}
