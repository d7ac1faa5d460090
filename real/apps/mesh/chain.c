#include "real/apps/mesh/unit.h"

#include <stdlib.h>

#include "models/work/domain.h"
#include "models/work/transformer.h"
#include "real/apps/mesh/mesh.h"

fr_status fr_chain_make(const struct fr_real_case *run, struct fr_chain *chain,
                        struct fr_error *err) {
    *chain = (struct fr_chain){.run = run, .n_layers = (int)run->workload->transformer.layers};
    if (!fr_chain_reads_words(chain))
        FR_TRY(fr_real_layers(run->workload, true, &chain->layer, &chain->n_layers, err));
    chain->n = chain->n_layers + (fr_chain_reads_words(chain) ? 2 : 0);
    return FR_OK;
}

void fr_chain_free(struct fr_chain *chain) {
    free(chain->layer);
    *chain = (struct fr_chain){0};
}

static int64_t shared(int64_t n, int64_t parts, int64_t number) {
    int64_t more = n % parts;
    return number * (n / parts) + (number < more ? number : more);
}

/* With more chunks than layers both ends stand as layers (models/work/transformer.c). */
static bool ends_stand(const struct fr_chain *chain) {
    const struct fr_plan *plan = chain->run->plan;
    return fr_chain_reads_words(chain) && !plan->stage_layers &&
           plan->pp * plan->chunks > chain->n_layers;
}

int64_t fr_chain_layers_before(const struct fr_chain *chain, int64_t number) {
    const struct fr_plan *plan = chain->run->plan;
    int64_t layers = chain->n_layers, parts = plan->pp * plan->chunks, before = 0;
    if (ends_stand(chain)) {
        before = shared(layers + 2, parts, number) - 1;
        return before < 0 ? 0 : before < layers ? before : layers;
    }
    if (!plan->stage_layers) return shared(layers, parts, number);
    for (int64_t i = 0; i < number; i++) before += plan->stage_layers[i];
    return before;
}

int64_t fr_chain_units_before(const struct fr_chain *chain, int64_t number) {
    const struct fr_plan *plan = chain->run->plan;
    int64_t layers = fr_chain_layers_before(chain, number);
    if (ends_stand(chain)) return shared(chain->n, plan->pp * plan->chunks, number);
    if (!fr_chain_reads_words(chain)) return layers;
    return layers + (number > 0) + (number == plan->pp * plan->chunks);
}

bool fr_unit_parts_tokens(const struct fr_plan *plan) {
    bool divided = false;
    for (int g = 0; g < FR_GRIDS; g++) divided = divided || fr_plan_grid(plan, g) > 1;
    return plan->sequence_parallel && divided;
}

/* ---- one unit ------------------------------------------------------------------------------------ */

static struct fr_unit layer_unit(const struct fr_chain *chain, int64_t i, int columns) {
    const struct fr_plan *plan = chain->run->plan;
    const struct fr_real_layer *layer = &chain->layer[i];
    const struct fr_unit_kind *kind = fr_unit_find(plan->method->name);
    if (layer->convolution)
        kind = !plan->method->grids              ? NULL
               : fr_domain_divides(plan, (int)i) ? &fr_unit_domain
                                                 : &fr_unit_convolution;
    int tp = (int)plan->tp, parts = kind && kind->divided ? tp : 1;
    return (struct fr_unit){.kind = kind,
                            .layer = *layer,
                            .index = i,
                            .in = (int)layer->inputs / parts,
                            .out = (int)layer->outputs / parts,
                            .rows = (int)layer->outputs / tp,
                            .columns = columns};
}

static int32_t stage_of(const struct fr_plan *plan, int64_t number) {
    return fr_schedule_stage(plan->schedule, (int32_t)plan->pp, number);
}

/* Is it the last of a chunk's layers, whose message takes its output from the MLP's grid?  Where a schedule folds, the next
 * chunk is on the same rank. */
static bool ends_chunk(const struct fr_chain *chain, int64_t i) {
    const struct fr_plan *plan = chain->run->plan;
    int64_t chunks = plan->stage_layers ? plan->n_stage_layers : plan->pp * plan->chunks;
    for (int64_t number = 1; plan->layer_tp && number <= chunks; number++)
        if (fr_chain_layers_before(chain, number) == i)
            return number == chunks || stage_of(plan, number - 1) != stage_of(plan, number);
    return false;
}

/* A group's grid: P_r ranks and their columns, where plan.tp ranks have @p columns. */
static struct fr_unit_grid grid_of(const struct fr_chain *chain, int group, int tp_rank,
                                   int columns) {
    const struct fr_plan *plan = chain->run->plan;
    int p = (int)fr_plan_grid(plan, group);
    return (struct fr_unit_grid){
        .of = group, .p = p, .rank = tp_rank, .columns = {0, columns * p / (int)plan->tp}};
}

static int holder_of(const struct fr_plan *plan, int group) {
    int holder = FR_HELD_BY_GRIDS + group;
    return plan->method->branches        ? FR_HELD_BY_STAGE
           : fr_real_holds(plan, holder) ? holder
                                         : FR_HELD_BY_REPLICAS;
}

/* Activations enter layers on the attention's grid, and logits on the MLP's. */
static void set_grids(const struct fr_chain *chain, int64_t i, int tp_rank, int columns,
                      struct fr_unit *u) {
    const struct fr_plan *plan = chain->run->plan;
    const struct fr_unit_grid attention = grid_of(chain, FR_GRID_ATTENTION, tp_rank, columns),
                              mlp = grid_of(chain, FR_GRID_MLP, tp_rank, columns),
                              ends = grid_of(chain, FR_GRID_ENDS, tp_rank, columns);
    bool embeds = i == 0, layer = i > 0 && i + 1 < chain->n;
    u->grid = layer ? attention : ends;
    u->mlp = layer ? mlp : ends;
    u->from = embeds ? ends : layer ? attention : mlp;
    u->to = embeds ? attention : !layer ? ends : ends_chunk(chain, i) ? mlp : attention;
    u->holder[0] = holder_of(plan, layer ? FR_GRID_ATTENTION : FR_GRID_ENDS);
    u->holder[1] = layer && !plan->method->branches ? holder_of(plan, FR_GRID_MLP)
                   : layer                          ? FR_HELD_BY_REPLICAS
                                                    : u->holder[0];
}

/* Between units activations of a transformer are whole on every rank; of phantom a part, of
 * sub-grids of its own samples. */
static struct fr_unit word_unit(const struct fr_chain *chain, int64_t i, int tp_rank,
                                int columns) {
    const struct fr_transformer *t = &chain->run->workload->transformer;
    const struct fr_plan *plan = chain->run->plan;
    int tp = (int)plan->tp, h = (int)t->hidden,
        ways = plan->method->branches ? 1 : (int)fr_plan_grid(plan, FR_GRID_ENDS),
        own = plan->method->uses_ghost ? h / tp : h,
        p = (int)fr_plan_grid(plan, FR_GRID_ATTENTION);
    int64_t decoded = i - 1 - (t->layers - t->cross_layers); /* layers of a decoder before it */
    bool decoder = t->cross_layers > 0 && decoded >= 0;
    struct fr_unit u = {
        .index = i - 1,
        .in = own,
        .out = own,
        .columns = columns,
        .group_columns = plan->common_subgrid ? (int)fr_mesh_columns(chain->run) : columns * tp,
        .words = (int)(fr_transformer_padded_vocabulary(t, ways) / ways),
        .block = {.hidden = h,
                  .heads = (int)t->heads / p,
                  .head_dim = (int)t->head_dim,
                  .ffn = (int)(t->ffn / fr_plan_grid(plan, FR_GRID_MLP)),
                  .sequence = (int)t->sequence,
                  .causal = decoder || t->cross_layers == 0,
                  .flash = plan->attention != FR_ATTENTION_PLAIN,
                  .rows = plan->method->grids && !plan->pairs,
                  .rank = tp_rank,
                  .ranks = p,
                  .parted = fr_unit_parts_tokens(plan),
                  .cp = (int)plan->cp,
                  .ring = plan->cp > 1 && !plan->context_heads},
    };
    u.kind = i == 0 ? &fr_unit_embedding : i + 1 < chain->n ? &fr_unit_block : &fr_unit_logits;
    u.crosses = decoder && u.kind == &fr_unit_block;
    if (u.kind == &fr_unit_logits) u.out = u.words;
    if (u.crosses && decoded > 0) u.in = 2 * h;
    if (u.crosses && decoded + 1 < t->cross_layers) u.out = 2 * h;
    set_grids(chain, i, tp_rank, columns, &u);
    u.columns = u.grid.columns.n;
    u.block.samples = u.columns / (int)(t->sequence / plan->cp);
    return u;
}

struct fr_unit fr_chain_unit(const struct fr_chain *chain, int64_t i, int tp_rank,
                             int columns) {
    const struct fr_plan *plan = chain->run->plan;
    struct fr_unit u = fr_chain_reads_words(chain) ? word_unit(chain, i, tp_rank, columns)
                                                   : layer_unit(chain, i, columns);
    u.run = chain->run;
    /* With sub-grids every rank has the ends whole. */
    bool whole = plan->method->branches && u.kind != &fr_unit_block;
    if (!fr_chain_reads_words(chain))
        u.grid = u.mlp = u.from = u.to =
            (struct fr_unit_grid){.p = (int)plan->tp, .rank = tp_rank, .columns = {0, columns}};
    u.tp = whole ? 1 : u.grid.p;
    u.tp_rank = whole ? 0 : tp_rank;
    u.ghost = (int)plan->ghost;
    if (u.kind) u.n = u.kind->parameters(&u);
    return u;
}
