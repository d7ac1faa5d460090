#include "sim/layers.h"

#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "models/outcome/cost.h"
#include "sim/layers/program.h"

enum { RANKS_MAX = 1 << 16 };

/* ---- layers ----------------------------------------------------------------------------------- */

static void add_collectives(struct fr_layers_builder *b, const struct fr_layers_placed *layer,
                            fr_pass_kind pass, int32_t micro) {
    for (int k = 0; k < layer->work.n_ops; k++) {
        const struct fr_operation *o = &layer->work.op[k];
        if (o->kind == FR_WORK_COLLECTIVE && o->pass == pass)
            fr_layers_collective(b, o, pass == FR_PASS_ONCE ? FR_PRICE_GRADIENTS : FR_PRICE_TP,
                                 micro);
    }
}

static double waiting(const struct fr_layers_placed *layer, const struct fr_operation *o) {
    return o->common ? layer->work.idle_ranks : 0;
}

static void add_products(struct fr_layers_builder *b, const struct fr_layers_placed *layer,
                         fr_pass_kind pass, int32_t micro) {
    static const fr_task_kind kinds[] = {[FR_PASS_FORWARD] = FR_TASK_FORWARD,
                                         [FR_PASS_INPUT] = FR_TASK_BACKWARD,
                                         [FR_PASS_WEIGHT] = FR_TASK_WEIGHT};
    for (int k = 0; k < layer->work.n_ops; k++) {
        const struct fr_operation *o = &layer->work.op[k];
        struct fr_class_price price = {.waiting = waiting(layer, o)};
        if (o->kind != FR_WORK_PRODUCT || o->pass != pass) continue;
        price.part_s[FR_PRICE_ALWAYS] = fr_operation_s(&b->cost, o);
        fr_layers_everywhere(b, kinds[pass], &price, micro);
    }
}

/* Traffic and kernels of a pass, forward or backward, as one task. */
static void add_elementwise(struct fr_layers_builder *b, const struct fr_layers_placed *layer,
                            bool backward, int32_t micro) {
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
    fr_layers_everywhere(b, FR_TASK_ELEMENTWISE, &price, micro);
}

static void add_forward(struct fr_layers_builder *b, struct fr_layers_placed *layer,
                        int32_t micro) {
    fr_layers_begin(b, &layer->forward);
    add_products(b, layer, FR_PASS_FORWARD, micro);
    add_elementwise(b, layer, false, micro);
    add_collectives(b, layer, FR_PASS_FORWARD, micro);
}

static void add_backward(struct fr_layers_builder *b, struct fr_layers_placed *layer,
                         int32_t micro) {
    fr_layers_begin(b, &layer->backward);
    add_collectives(b, layer, FR_PASS_INPUT, micro);
    add_products(b, layer, FR_PASS_INPUT, micro);
    add_products(b, layer, FR_PASS_WEIGHT, micro);
    add_elementwise(b, layer, true, micro);
}

static void add_update(struct fr_layers_builder *b, struct fr_layers_placed *layer) {
    struct fr_class_price price = {.waiting = layer->work.idle_ranks};
    fr_layers_begin(b, &layer->update);
    if (layer->codec_s > 0) {
        struct fr_class_price codec = {.waiting = layer->work.idle_ranks};
        codec.part_s[FR_PRICE_CODEC] = layer->codec_s;
        fr_layers_everywhere(b, FR_TASK_GRADIENT_CODEC, &codec, -1);
    }
    add_collectives(b, layer, FR_PASS_ONCE, -1);
    price.part_s[FR_PRICE_ALWAYS] =
        fr_update_s(&b->cost, &b->job->workload, layer->work.parameters_rank);
    fr_layers_everywhere(b, FR_TASK_OPTIMIZER, &price, -1);
}

/* ---- the iteration ---------------------------------------------------------------------------- */

void fr_layers_pass(struct fr_layers_builder *b, struct fr_layers_stage *stage, bool forward,
                    int32_t micro) {
    int n = b->job->workload.n_layers;
    for (int k = 0; k < n; k++) {
        struct fr_layers_placed *layer = &stage->layers[forward ? k : n - 1 - k];
        for (double r = 0; r < layer->repeat && forward; r++) add_forward(b, layer, micro);
        for (double r = 0; r < layer->repeat && !forward; r++) add_backward(b, layer, micro);
    }
}

void fr_layers_finish(struct fr_layers_builder *b, struct fr_layers_stage *stage) {
    for (int i = b->plan->forward ? 0 : b->job->workload.n_layers; i-- > 0;)
        for (double r = 0; r < stage->layers[i].repeat; r++) add_update(b, &stage->layers[i]);
}

static void lay_out(struct fr_layers_builder *b, struct fr_layers_stage *stage) {
    int64_t micro_batches = fr_pipeline_micro_batches(b->job, b->plan);
    for (int32_t micro = 0; micro < micro_batches && !b->failed; micro++) {
        fr_layers_pass(b, stage, true, micro);
        if (!b->plan->forward) fr_layers_pass(b, stage, false, micro);
    }
    fr_layers_finish(b, stage);
}

/* ---- who does it -------------------------------------------------------------------------------- */

static bool place_ranks(const struct fr_layers_builder *b, int32_t i,
                        struct fr_layers_stage *stage) {
    stage->here = fr_malloc((size_t)b->program->n_ranks, sizeof *stage->here);
    for (int32_t r = 0; stage->here && r < b->program->n_ranks; r++)
        if (!b->as_messages || fr_layers_stage_of(&b->rank_map->mesh, r) == i)
            stage->here[stage->n_here++] = r;
    return stage->here != NULL;
}

/* One layer of each entry that the stage has. */
static bool place(struct fr_layers_builder *b, int32_t i, struct fr_layers_stage *stage) {
    const struct fr_layers_reused not_made = {-1};
    bool codes = fr_codec_codes(b->plan, i);
    struct fr_plan own;
    struct fr_layers l = fr_layers_of_stage(b->job, fr_codec_plan_of(b->plan, i, &own), i);
    stage->layers = fr_calloc((size_t)b->job->workload.n_layers, sizeof *stage->layers);
    if (!stage->layers || !place_ranks(b, i, stage)) return false;
    stage->cost = fr_layers_pricing(b->job, b->plan, b->rank_map, i);
    stage->cost.sent_B = b->sent_B;
    stage->cost.extrapolated = &b->extrapolated;
    for (int k = 0; k < 2; k++) stage->arriving[k] = stage->joining[k] = not_made;
    while (fr_layers_next(&l)) {
        struct fr_layers_placed *layer = &stage->layers[l.entry];
        struct fr_coded coded = {.time_s = 0};
        fr_layers_work(b->job, &l, &stage->cost, codes, &layer->work, &coded);
        layer->codec_s = coded.time_s;
        layer->repeat = l.n;
        layer->forward = layer->backward = layer->update = not_made;
    }
    return true;
}

static fr_status make(struct fr_layers_builder *b, const struct fr_pipeline *p,
                      struct fr_layers_stage *stages, int32_t n_stages) {
    for (int32_t i = 0; i < n_stages && !b->failed; i++) b->failed = !place(b, i, &stages[i]);
    if (b->failed) return FR_OK;
    if (p) return fr_layers_lay_out_stages(b, p, stages);
    fr_layers_stand_at(b, stages, 0);
    lay_out(b, stages);
    return FR_OK;
}

static bool begin(struct fr_layers_builder *b, struct fr_rank_map *rank_map) {
    const int32_t n = b->program->n_ranks;
    b->ranks = fr_malloc((size_t)n, sizeof *b->ranks);
    for (int32_t r = 0; b->ranks && r < n; r++)
        b->ranks[r] = (struct fr_layers_rank){-1, -1, -1, -1};
    bool placed = fr_rank_map_make(b->job, b->plan, rank_map, NULL) == FR_OK && b->ranks;
    b->rank_map = rank_map;
    return placed && (!b->as_messages || fr_layers_map_members(b));
}

static void end(struct fr_layers_builder *b, struct fr_rank_map *rank_map,
                struct fr_layers_stage *stages, int32_t n_stages) {
    fr_rank_map_free(rank_map);
    for (int axis = 0; axis < 3; axis++) free(b->members[axis]);
    for (int32_t i = 0; stages && i < n_stages; i++) {
        free(stages[i].layers);
        free(stages[i].here);
    }
    free(stages);
    free(b->ranks);
}

fr_status fr_layers_make(const struct fr_job *job, const struct fr_plan *plan,
                         const struct fr_pipeline *p, bool as_messages,
                         struct fr_program *program, struct fr_class_price **price,
                         struct fr_error *err) {
    int64_t ranks = as_messages ? fr_plan_ranks(plan) : 1;
    int32_t n_stages = p ? p->args.stages : 1;
    *program = (struct fr_program){0};
    *price = NULL;
    if (plan->layer_tp)
        return fr_fail(err, FR_ERR_UNSUPPORTED, "plan#/layer_tp",
                       "a grid per layer is priced by the closed form only");
    if (ranks > RANKS_MAX)
        return fr_fail(err, FR_ERR_UNSUPPORTED, "plan",
                       "has %lld ranks; message by message at most %d are played",
                       (long long)ranks, RANKS_MAX);
    struct fr_layers_builder b = {.next_class = -1,
                                  .job = job,
                                  .plan = plan,
                                  .program = program,
                                  .as_messages = as_messages,
                                  .err = err};
    struct fr_rank_map rank_map;
    program->n_ranks = (int32_t)ranks;
    struct fr_layers_stage *stages = fr_calloc((size_t)n_stages, sizeof *stages);
    b.failed = !begin(&b, &rank_map) || !stages;
    fr_status status = b.failed ? FR_OK : make(&b, p, stages, n_stages);
    end(&b, &rank_map, stages, n_stages);
    *price = b.price;
    if (status != FR_OK) return status;
    if (b.status != FR_OK) return b.status;
    return b.failed ? fr_fail(err, FR_ERR_NOMEM, NULL, "the program does not fit in memory")
                    : FR_OK;
}
