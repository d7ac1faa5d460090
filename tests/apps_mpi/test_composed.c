/* Two steps of compositions of a transformer's plan on the job's ranks, against the same network as one rank trains it,
 * whose gradients apps.pipeline.1 holds against plain loops: losses, and parameters.  Where tp divides matrices
 * parameters are compared with those of a simpler plan of the same mesh.  Steps go along the gradient, so that parameters differ as gradients do: by 1e-12 at most.  And what
 * the program sends is what the plan's price says, byte for byte but for what the last shares end beyond theirs. */
#include "tests/apps_mpi/steps.h"

/* These plans are tried; without `like` against one rank. */
struct composition {
    int ranks;
    bool tied;
    const char *plan, *like;
};

/* ---- the same parameters ------------------------------------------------------------------------- */

/* @p n parameters from @p at on are those of @p other from @p from on. */
static void compare(const struct mpi_case *c, int64_t at, const struct mpi_case *other,
                    int64_t from, int64_t n, const char *text) {
    const struct fr_kernels *k = c->real.k;
    for (int64_t i = 0; i < n; i++) {
        double got = k->get(c->real.parameters, (size_t)(at + i)),
               want = k->get(other->real.parameters, (size_t)(from + i));
        if (fabs(got - want) <= 1e-12) continue;
        FAIL("%s, rank %d: parameter %lld is %.17g, want %.17g", text, rank,
             (long long)(at + i), got, want);
        return;
    }
}

/* Where unit @p i of one rank's network begins. */
static int64_t begin_of(const struct fr_chain *one, int64_t i) {
    int64_t sum = 0;
    for (int64_t j = 0; j < i; j++) sum += fr_chain_unit(one, j, 0, 1).n;
    return sum;
}

/* The units of the rank's chunks, one after another; behind the last one's may be a copy of the table. */
static void compare_units(const struct mpi_case *c, const struct mpi_case *one,
                          const char *text) {
    struct fr_chain chain, whole;
    const struct fr_plan *plan = c->run.plan;
    int64_t at = 0;
    if (fr_chain_make(&c->run, &chain, NULL) != FR_OK) return;
    if (fr_chain_make(&one->run, &whole, NULL) == FR_OK)
        for (int chunk = 0; chunk < plan->chunks; chunk++) {
            int64_t number = fr_schedule_virtual(plan->schedule, (int32_t)plan->pp,
                                                 c->real.pp_rank, chunk),
                    from = fr_chain_units_before(&chain, number),
                    to = fr_chain_units_before(&chain, number + 1);
            for (int64_t i = from; i < to; i++) {
                int64_t n = fr_chain_unit(&chain, i, 0, 1).n,
                        own = fr_chain_unit(&whole, i, 0, 1).n;
                compare(c, at, one, begin_of(&whole, i), own, text);
                compare(c, at + own, one, 0, n - own, text);
                at += n;
            }
        }
    if (at != c->real.n_parameters) FAIL("%s: parameters are left over", text);
    fr_chain_free(&chain);
    fr_chain_free(&whole);
}

/* ---- every composition ------------------------------------------------------------------------------ */

/* Is it one rank's network, and are its gradients those of it? */
static bool is_exact(const struct fr_plan *plan) {
    const struct fr_plan_compression *c = &plan->compression;
    return !plan->method->uses_ghost && c->gradient_stages == 0 && c->scope == FR_SCOPE_NONE &&
           c->forward_rank == 0;
}

static void run(const struct composition *x) {
    struct mpi_case c, one, like;
    char model[400];
    model_of(x->tied, model, sizeof model);
    if (open_on(MPI_COMM_WORLD, model, x->plan, &c) &&
        open_on(MPI_COMM_SELF, model, "{}", &one)) {
        double loss = take_steps(&c, MPI_COMM_WORLD, x->plan);
        if (is_exact(c.run.plan))
            compare_loss(loss, take_steps(&one, MPI_COMM_SELF, x->plan), x->plan);
        compare_bytes(&c, model, x->plan);
        mpi_case_gradients(&c); /* zero 3 gathers parameters for its passes alone */
        if (!x->like) compare_units(&c, &one, x->plan);
        if (x->like && open_on(MPI_COMM_WORLD, model, x->like, &like)) {
            compare_loss(loss, take_steps(&like, MPI_COMM_WORLD, x->like), x->plan);
            const struct fr_mesh_state *mesh = c.real.state;
            int64_t from = is_other(&c) ? mesh->region[FR_HELD_BY_REPLICAS] : 0;
            compare(&c, from, &like, from, c.real.n_parameters - from, x->plan);
            mpi_case_close(&like);
        }
        mpi_case_close(&one);
    }
    mpi_case_close(&c);
    n_run++;
}

static const struct composition compositions[] = {
    /* zero_ranks: groups of two divide, of one nothing */
    {4, true, "{\"dp\": 4, \"micro_batch\": 2, \"zero\": 1, \"zero_ranks\": 2}", NULL},
    {4, true, "{\"dp\": 4, \"micro_batch\": 2, \"zero\": 1, \"zero_ranks\": 1}", NULL},
    {4, true, "{\"dp\": 4, \"micro_batch\": 2, \"zero\": 2, \"zero_ranks\": 2}", NULL},
    {4, true, "{\"dp\": 4, \"micro_batch\": 1, \"zero\": 3, \"zero_ranks\": 2}", NULL},
    {8, false,
     "{\"pp\": 2, \"dp\": 4, \"micro_batch\": 2, \"zero\": 3, \"zero_ranks\": 2, "
     "\"rank_order\": \"tp-dp-pp\"}",
     NULL},
    {8, true,
     "{\"tp\": 2, \"dp\": 4, \"micro_batch\": 2, \"zero\": 3, \"zero_ranks\": 2, "
     "\"sequence_parallel\": true}",
     "{\"tp\": 2, \"dp\": 4, \"micro_batch\": 2, \"sequence_parallel\": true}"},
    /* buckets of gradients beside the last pass, and parameters gathered beside the next first one */
    {4, true,
     "{\"dp\": 4, \"micro_batch\": 2, \"zero\": 1, \"overlap\": \"gradient\", \"bucket\": "
     "\"20 KB\"}",
     NULL},
    {4, true, "{\"dp\": 4, \"micro_batch\": 1, \"zero\": 2, \"overlap\": \"gradient\"}", NULL},
    {4, true,
     "{\"pp\": 2, \"dp\": 2, \"micro_batch\": 2, \"zero\": 1, \"overlap\": \"gradient\", "
     "\"bucket\": \"10 KB\", \"schedule\": \"zero-bubble\"}",
     NULL},
    {4, false,
     "{\"pp\": 2, \"dp\": 2, \"micro_batch\": 2, \"zero\": 1, \"overlap\": \"gradient\", "
     "\"schedule\": \"interleaved\", \"chunks\": 2}",
     NULL},
    {8, true,
     "{\"pp\": 2, \"dp\": 4, \"micro_batch\": 2, \"zero\": 1, \"zero_ranks\": 2, "
     "\"overlap\": \"gradient\", \"compression\": {\"embedding\": \"fused\"}}",
     NULL},
    {8, true,
     "{\"tp\": 2, \"pp\": 2, \"dp\": 2, \"micro_batch\": 2, \"zero\": 2, \"overlap\": "
     "\"gradient\", \"sequence_parallel\": true}",
     "{\"tp\": 2, \"pp\": 2, \"dp\": 2, \"micro_batch\": 2}"},
    {4, true,
     "{\"method\": \"subgraph\", \"dp\": 4, \"micro_batch\": 2, \"overlap\": \"gradient\", "
     "\"zero\": 1}",
     "{\"method\": \"subgraph\", \"dp\": 4, \"micro_batch\": 2}"},
    {4, false,
     "{\"method\": \"subgraph\", \"tp\": 2, \"dp\": 2, \"micro_batch\": 2, \"overlap\": "
     "\"gradient\", \"bucket\": \"30 KB\"}",
     "{\"method\": \"subgraph\", \"tp\": 2, \"dp\": 2, \"micro_batch\": 2}"},
    {8, true,
     "{\"method\": \"subgraph\", \"tp\": 2, \"pp\": 2, \"dp\": 2, \"micro_batch\": 2, "
     "\"branches\": \"layer\", \"overlap\": \"gradient\", \"bucket\": \"30 KB\", \"zero\": 1}",
     "{\"method\": \"subgraph\", \"tp\": 2, \"pp\": 2, \"dp\": 2, \"micro_batch\": 2, "
     "\"branches\": \"layer\"}"},
    {8, false,
     "{\"method\": \"subgraph\", \"tp\": 2, \"pp\": 2, \"dp\": 2, \"micro_batch\": 1, "
     "\"branches\": \"layer\", \"overlap\": \"gradient\", \"common\": \"subgrid\"}",
     "{\"method\": \"subgraph\", \"tp\": 2, \"pp\": 2, \"dp\": 2, \"micro_batch\": 2, "
     "\"branches\": \"layer\"}"},
    /* gradients of one stage compressed, and those of the other beside its last pass */
    {8, true,
     "{\"pp\": 2, \"dp\": 4, \"micro_batch\": 2, \"overlap\": \"gradient\", \"bucket\": \"10 "
     "KB\", \"compression\": {\"gradient\": {\"stages\": 1, \"rank\": 1}}}",
     "{\"pp\": 2, \"dp\": 4, \"micro_batch\": 2, \"compression\": {\"gradient\": {\"stages\": "
     "1, \"rank\": 1}}}"},
    {8, false,
     "{\"pp\": 2, \"dp\": 4, \"micro_batch\": 2, \"overlap\": \"gradient\", \"zero\": 1, "
     "\"compression\": {\"gradient\": {\"stages\": 1, \"rank\": 1}}}",
     "{\"pp\": 2, \"dp\": 4, \"micro_batch\": 2, \"compression\": {\"gradient\": {\"stages\": "
     "1, \"rank\": 1}}}"},
    {4, true,
     "{\"pp\": 2, \"dp\": 2, \"micro_batch\": 2, \"overlap\": \"gradient\", \"zero\": 1, "
     "\"compression\": {\"gradient\": {\"stages\": 1, \"rank\": 1}}}",
     "{\"pp\": 2, \"dp\": 2, \"micro_batch\": 2, \"compression\": {\"gradient\": {\"stages\": "
     "1, \"rank\": 1}}}"},
    /* compressed messages where a schedule folds */
    {4, true,
     "{\"pp\": 2, \"dp\": 2, \"micro_batch\": 1, \"schedule\": \"dualpipe-v\", \"chunks\": 2, "
     "\"zero\": 1, \"compression\": {\"backward\": {\"scope\": \"all\", \"rank\": 2}}}",
     "{\"pp\": 2, \"dp\": 2, \"micro_batch\": 1, \"schedule\": \"zero-bubble-v\", \"chunks\": "
     "2, \"compression\": {\"backward\": {\"scope\": \"all\", \"rank\": 2}}}"},
    {4, false,
     "{\"pp\": 4, \"micro_batch\": 1, \"schedule\": \"dualpipe-v\", \"chunks\": 2, "
     "\"compression\": {\"backward\": {\"scope\": \"epilogue\", \"rank\": 2}, \"forward\": "
     "{\"rank\": 2}}}",
     "{\"pp\": 4, \"micro_batch\": 1, \"schedule\": \"dualpipe-v\", \"chunks\": 2, "
     "\"recompute\": \"full\", \"compression\": {\"backward\": {\"scope\": \"epilogue\", "
     "\"rank\": 2}, \"forward\": {\"rank\": 2}}}"},
    /* messages and gradients compressed, of groups on grids of their own */
    {8, false,
     "{\"method\": \"grid\", \"tp\": 2, \"pp\": 2, \"dp\": 2, \"micro_batch\": 2, "
     "\"layer_tp\": "
     "[4, 2, 1], \"overlap\": \"gradient\", \"compression\": {\"gradient\": {\"stages\": 1, "
     "\"rank\": 1}, \"backward\": {\"scope\": \"all\", \"rank\": 2}, \"forward\": {\"rank\": "
     "2}}}",
     "{\"method\": \"grid\", \"tp\": 2, \"pp\": 2, \"dp\": 2, \"micro_batch\": 2, "
     "\"layer_tp\": "
     "[4, 2, 1], \"zero\": 1, \"recompute\": \"full\", \"compression\": {\"gradient\": "
     "{\"stages\": "
     "1, \"rank\": 1}, \"backward\": {\"scope\": \"all\", \"rank\": 2}, \"forward\": "
     "{\"rank\": "
     "2}}}"},
    /* attention in tiles: two whole ones and a half of a sequence */
    {4, true, "{\"dp\": 4, \"micro_batch\": 2, \"attention\": \"flash\"}", NULL},
    {4, false,
     "{\"tp\": 2, \"pp\": 2, \"micro_batch\": 2, \"attention\": \"flash\", \"recompute\": "
     "\"selective\", \"schedule\": \"zero-bubble\"}",
     "{\"tp\": 2, \"pp\": 2, \"micro_batch\": 2}"},
    {8, true,
     "{\"method\": \"subgraph\", \"tp\": 2, \"dp\": 4, \"micro_batch\": 2, \"attention\": "
     "\"flash\"}",
     "{\"method\": \"subgraph\", \"tp\": 2, \"dp\": 4, \"micro_batch\": 2}"},
    {8, false,
     "{\"tp\": 2, \"pp\": 2, \"dp\": 2, \"micro_batch\": 1, \"sequence_parallel\": true, "
     "\"attention\": \"flash-2\", \"zero\": 3, \"recompute\": \"full\"}",
     "{\"tp\": 2, \"pp\": 2, \"dp\": 2, \"micro_batch\": 2}"},
    {4, true,
     "{\"cp\": 2, \"dp\": 2, \"context\": \"all-to-all\", \"micro_batch\": 2, \"attention\": "
     "\"flash\"}",
     "{\"cp\": 2, \"dp\": 2, \"micro_batch\": 2}"},
    {8, false,
     "{\"tp\": 2, \"cp\": 2, \"dp\": 2, \"context\": \"all-to-all\", \"micro_batch\": 2, "
     "\"attention\": \"flash\", \"recompute\": \"selective\", \"sequence_parallel\": true}",
     "{\"tp\": 2, \"cp\": 2, \"dp\": 2, \"micro_batch\": 2}"},
    {8, true,
     "{\"pp\": 2, \"cp\": 4, \"context\": \"all-to-all\", \"micro_batch\": 2, \"attention\": "
     "\"flash\", \"recompute\": \"full\", \"schedule\": \"zero-bubble\"}",
     "{\"pp\": 2, \"cp\": 4, \"micro_batch\": 2}"},
    /* phantom matrices, sub-grids and rows beside tiles, buckets and shares */
    {4, true,
     "{\"method\": \"phantom\", \"ghost\": 2, \"phantom_parts\": \"all\", \"tp\": 2, \"dp\": "
     "2, "
     "\"micro_batch\": 2, \"attention\": \"flash\", \"zero\": 1, \"overlap\": \"gradient\", "
     "\"bucket\": \"5 KB\"}",
     "{\"method\": \"phantom\", \"ghost\": 2, \"phantom_parts\": \"all\", \"tp\": 2, \"dp\": "
     "2, "
     "\"micro_batch\": 2}"},
    {8, true,
     "{\"method\": \"phantom\", \"ghost\": 2, \"phantom_parts\": \"attention\", \"tp\": 2, "
     "\"pp\": "
     "2, \"dp\": 2, \"micro_batch\": 2, \"attention\": \"flash\", \"zero\": 3, \"recompute\": "
     "\"full\", \"schedule\": \"zero-bubble\"}",
     "{\"method\": \"phantom\", \"ghost\": 2, \"phantom_parts\": \"attention\", \"tp\": 2, "
     "\"pp\": "
     "2, \"dp\": 2, \"micro_batch\": 2}"},
    {4, false,
     "{\"method\": \"grid\", \"tp\": 2, \"dp\": 2, \"micro_batch\": 2, \"attention\": "
     "\"flash\", "
     "\"zero\": 2}",
     "{\"method\": \"grid\", \"tp\": 2, \"dp\": 2, \"micro_batch\": 2}"},
    {8, true,
     "{\"method\": \"subgraph\", \"tp\": 2, \"pp\": 2, \"dp\": 2, \"micro_batch\": 1, "
     "\"common\": "
     "\"subgrid\", \"attention\": \"flash\", \"zero\": 1, \"overlap\": \"gradient\", "
     "\"bucket\": "
     "\"10 KB\", \"recompute\": \"full\"}",
     "{\"method\": \"subgraph\", \"tp\": 2, \"pp\": 2, \"dp\": 2, \"micro_batch\": 2}"},
    {8, true,
     "{\"pp\": 2, \"dp\": 4, \"micro_batch\": 1, \"zero\": 1, \"zero_ranks\": 2, \"overlap\": "
     "\"gradient\", \"bucket\": \"10 KB\", \"schedule\": \"interleaved\", \"chunks\": 2, "
     "\"recompute\": \"full\", \"attention\": \"flash\"}",
     NULL},
    {8, true,
     "{\"cp\": 2, \"dp\": 2, \"pp\": 2, \"micro_batch\": 2, \"zero\": 1, \"overlap\": "
     "\"gradient\", "
     "\"bucket\": \"10 KB\"}",
     "{\"cp\": 2, \"dp\": 2, \"pp\": 2, \"micro_batch\": 2}"},
    {4, true,
     "{\"pp\": 2, \"dp\": 2, \"micro_batch\": 1, \"zero\": 1, \"overlap\": \"gradient\", "
     "\"p2p\": "
     "\"duplex\", \"bucket\": \"2 KB\"}",
     NULL},
    /* modules made again */
    {4, true, "{\"tp\": 2, \"dp\": 2, \"micro_batch\": 2, \"recompute\": \"mlp\"}",
     "{\"tp\": 2, \"dp\": 2, \"micro_batch\": 2}"},
    {8, false,
     "{\"tp\": 2, \"pp\": 2, \"dp\": 2, \"micro_batch\": 2, \"recompute\": "
     "\"core_attn+layernorm+mlp\", \"sequence_parallel\": true, \"schedule\": \"zero-bubble\"}",
     "{\"tp\": 2, \"pp\": 2, \"dp\": 2, \"micro_batch\": 2}"},
    /* chunks of unequal layers; more than there are layers, where both ends stand as layers */
    {4, false,
     "{\"pp\": 2, \"dp\": 2, \"micro_batch\": 2, \"schedule\": \"interleaved\", \"chunks\": 3}",
     NULL},
    {4, true,
     "{\"pp\": 2, \"dp\": 2, \"micro_batch\": 2, \"schedule\": \"interleaved\", \"chunks\": 5, "
     "\"zero\": 1}",
     NULL},
    {8, true,
     "{\"tp\": 2, \"pp\": 2, \"dp\": 2, \"micro_batch\": 2, \"schedule\": \"interleaved\", "
     "\"chunks\": 5}",
     "{\"tp\": 2, \"pp\": 2, \"dp\": 2, \"micro_batch\": 4, \"schedule\": \"interleaved\", "
     "\"chunks\": 5, \"recompute\": \"full\"}"},
    /* zero 2 and 3 with chunks */
    {4, false,
     "{\"pp\": 2, \"dp\": 2, \"micro_batch\": 2, \"schedule\": \"interleaved\", \"chunks\": 2, "
     "\"zero\": 2}",
     NULL},
    {4, false,
     "{\"pp\": 2, \"dp\": 2, \"micro_batch\": 2, \"schedule\": \"interleaved\", \"chunks\": 4, "
     "\"zero\": 3, \"recompute\": \"full\"}",
     NULL},
    {8, false,
     "{\"pp\": 2, \"dp\": 4, \"micro_batch\": 2, \"schedule\": \"interleaved\", \"chunks\": 2, "
     "\"zero\": 3, \"zero_ranks\": 2}",
     NULL},
    {8, false,
     "{\"method\": \"subgraph\", \"tp\": 2, \"pp\": 2, \"dp\": 2, \"micro_batch\": 2, "
     "\"branches\": \"layer\", \"schedule\": \"interleaved\", \"chunks\": 2, \"zero\": 3}",
     "{\"method\": \"subgraph\", \"tp\": 2, \"pp\": 2, \"dp\": 2, \"micro_batch\": 2, "
     "\"branches\": \"layer\", \"schedule\": \"interleaved\", \"chunks\": 2}"},
    {8, true,
     "{\"method\": \"subgraph\", \"tp\": 2, \"dp\": 4, \"micro_batch\": 2, \"branches\": "
     "\"layer\", \"zero\": 2, \"zero_ranks\": 2}",
     "{\"method\": \"subgraph\", \"tp\": 2, \"dp\": 4, \"micro_batch\": 2, \"branches\": "
     "\"layer\"}"},
    /* cSub: what is common on the first sub-grid alone */
    {4, true,
     "{\"method\": \"subgraph\", \"tp\": 2, \"dp\": 2, \"micro_batch\": 1, \"common\": "
     "\"subgrid\"}",
     "{\"method\": \"subgraph\", \"tp\": 2, \"dp\": 2, \"micro_batch\": 2}"},
    {4, false,
     "{\"method\": \"subgraph\", \"tp\": 4, \"micro_batch\": 2, \"branches\": \"layer\", "
     "\"common\": \"subgrid\", \"recompute\": \"full\"}",
     "{\"method\": \"subgraph\", \"tp\": 4, \"micro_batch\": 4, \"branches\": \"layer\"}"},
    {4, true,
     "{\"method\": \"subgraph\", \"tp\": 2, \"pp\": 2, \"micro_batch\": 1, \"branches\": "
     "\"attention\", \"common\": \"subgrid\"}",
     "{\"method\": \"subgraph\", \"tp\": 2, \"pp\": 2, \"micro_batch\": 2, \"branches\": "
     "\"attention\"}"},
    {8, true,
     "{\"method\": \"subgraph\", \"tp\": 2, \"pp\": 2, \"dp\": 2, \"micro_batch\": 2, "
     "\"branches\": \"layer\", \"common\": \"subgrid\", \"schedule\": \"zero-bubble\"}",
     "{\"method\": \"subgraph\", \"tp\": 2, \"pp\": 2, \"dp\": 2, \"micro_batch\": 2, "
     "\"branches\": \"layer\"}"},
    {8, false,
     "{\"method\": \"subgraph\", \"tp\": 2, \"pp\": 2, \"dp\": 2, \"micro_batch\": 1, "
     "\"common\": \"subgrid\", \"schedule\": \"interleaved\", \"chunks\": 2, \"recompute\": "
     "\"selective\"}",
     "{\"method\": \"subgraph\", \"tp\": 2, \"pp\": 2, \"dp\": 2, \"micro_batch\": 2, "
     "\"schedule\": \"interleaved\", \"chunks\": 2}"},
    {8, true,
     "{\"method\": \"subgraph\", \"tp\": 2, \"dp\": 4, \"micro_batch\": 1, \"branches\": "
     "\"layer\", \"common\": \"subgrid\", \"zero\": 1}",
     "{\"method\": \"subgraph\", \"tp\": 2, \"dp\": 4, \"micro_batch\": 2, \"branches\": "
     "\"layer\"}"},
    {8, true,
     "{\"method\": \"subgraph\", \"tp\": 2, \"pp\": 2, \"dp\": 2, \"micro_batch\": 1, "
     "\"common\": \"subgrid\", \"zero\": 3}",
     "{\"method\": \"subgraph\", \"tp\": 2, \"pp\": 2, \"dp\": 2, \"micro_batch\": 2}"},
    {8, true,
     "{\"method\": \"subgraph\", \"tp\": 2, \"dp\": 4, \"micro_batch\": 1, \"branches\": "
     "\"attention\", \"common\": \"subgrid\", \"zero\": 2, \"zero_ranks\": 2}",
     "{\"method\": \"subgraph\", \"tp\": 2, \"dp\": 4, \"micro_batch\": 2, \"branches\": "
     "\"attention\"}"},
    /* a table that is tied over stages, divided at both ends */
    {4, true, "{\"pp\": 2, \"dp\": 2, \"micro_batch\": 2, \"zero\": 2}", NULL},
    {4, true,
     "{\"pp\": 2, \"dp\": 2, \"micro_batch\": 1, \"zero\": 3, \"schedule\": \"zero-bubble\"}",
     NULL},
    {8, true,
     "{\"pp\": 2, \"dp\": 4, \"micro_batch\": 2, \"schedule\": \"interleaved\", \"chunks\": 2, "
     "\"zero\": 3, \"zero_ranks\": 2}",
     NULL},
    {8, true, "{\"tp\": 2, \"pp\": 2, \"dp\": 2, \"micro_batch\": 2, \"zero\": 3}",
     "{\"tp\": 2, \"pp\": 2, \"dp\": 2, \"micro_batch\": 2}"},
    {8, true,
     "{\"method\": \"subgraph\", \"tp\": 2, \"pp\": 2, \"dp\": 2, \"micro_batch\": 2, "
     "\"zero\": 2}",
     "{\"method\": \"subgraph\", \"tp\": 2, \"pp\": 2, \"dp\": 2, \"micro_batch\": 2}"},
    /* schedules that fold: both ends on the first stage */
    {4, true, "{\"pp\": 4, \"micro_batch\": 1, \"schedule\": \"dualpipe-v\", \"chunks\": 2}",
     NULL},
    {4, false,
     "{\"pp\": 2, \"dp\": 2, \"micro_batch\": 1, \"schedule\": \"dualpipe-v\", \"chunks\": 2, "
     "\"zero\": 3}",
     NULL},
    {4, true,
     "{\"pp\": 2, \"dp\": 2, \"micro_batch\": 2, \"schedule\": \"zero-bubble-v\", \"chunks\": "
     "2, \"zero\": 2, "
     "\"recompute\": \"selective\"}",
     NULL},
    {8, true,
     "{\"tp\": 2, \"pp\": 2, \"dp\": 2, \"micro_batch\": 1, \"schedule\": \"dualpipe-v\", "
     "\"chunks\": 2}",
     "{\"tp\": 2, \"pp\": 2, \"dp\": 2, \"micro_batch\": 2, \"schedule\": \"zero-bubble-v\", "
     "\"chunks\": 2}"},
    {8, true,
     "{\"tp\": 2, \"pp\": 4, \"micro_batch\": 2, \"schedule\": \"dualpipe-v\", \"chunks\": 2, "
     "\"sequence_parallel\": true}",
     "{\"tp\": 2, \"pp\": 4, \"micro_batch\": 2, \"schedule\": \"zero-bubble-v\", \"chunks\": "
     "2}"},
    /* exchanges of tp in pieces */
    {4, true,
     "{\"tp\": 4, \"micro_batch\": 2, \"sequence_parallel\": true, \"overlap_tp\": true}",
     "{\"tp\": 4, \"micro_batch\": 2, \"sequence_parallel\": true}"},
    {4, true,
     "{\"tp\": 2, \"pp\": 2, \"micro_batch\": 2, \"sequence_parallel\": true, \"overlap_tp\": "
     "true, "
     "\"schedule\": \"zero-bubble\", \"recompute\": \"full\"}",
     "{\"tp\": 2, \"pp\": 2, \"micro_batch\": 2}"},
    {8, false,
     "{\"tp\": 2, \"cp\": 2, \"dp\": 2, \"micro_batch\": 2, \"sequence_parallel\": true, "
     "\"overlap_tp\": true, "
     "\"recompute\": \"selective\", \"zero\": 3}",
     "{\"tp\": 2, \"dp\": 4, \"micro_batch\": 2}"},
    /* messages that block */
    {4, true, "{\"pp\": 4, \"micro_batch\": 2, \"p2p\": \"duplex\"}", NULL},
    {4, false, "{\"pp\": 4, \"micro_batch\": 2, \"p2p\": \"duplex\", \"schedule\": \"gpipe\"}",
     NULL},
    {8, true, "{\"tp\": 2, \"pp\": 4, \"micro_batch\": 1, \"p2p\": \"duplex\"}",
     "{\"tp\": 2, \"pp\": 4, \"micro_batch\": 2}"},
};

static void refused(const char *plan, const char *because) {
    struct mpi_case c;
    struct fr_error err = {.status = FR_OK};
    char model[400];
    model_of(true, model, sizeof model);
    if (mpi_case_read(&c, &fr_real_pipeline, model, plan, SEED, &err) != FR_OK)
        FAIL("%s: %s", plan, err.detail);
    else if (c.app->check(&c.run, &err) != FR_ERR_INPUT || !strstr(err.detail, because))
        FAIL("%s: want \"%s\" refused, got \"%s\"", plan, because, err.detail);
    mpi_case_close(&c);
}

static void refusals(void) {
    refused("{\"cp\": 2, \"attention\": \"flash\"}", "a ring of keys is run with");
    refused("{\"dp\": 2, \"overlap\": \"gradient\", \"zero\": 3}", "without zero 3");
    refused("{\"dp\": 4, \"zero\": 1, \"zero_ranks\": 3}", "does not divide by zero_ranks");
    refused("{\"dp\": 4, \"zero\": 2, \"zero_ranks\": 1}", "expected 0 or 2 to dp x cp, 4");
    refused("{\"dp\": 2, \"zero\": 1, \"zero_ranks\": 4}", "expected 0 or 1 to dp x cp, 2");
    /* as simulate has it: a stage blocks to send what the other, which blocks to send, does not read yet */
    refused(
        "{\"pp\": 4, \"micro_batch\": 1, \"p2p\": \"duplex\", \"schedule\": \"1f1b-double\"}",
        "stages wait for each other");
    refused(
        "{\"pp\": 4, \"micro_batch\": 1, \"p2p\": \"duplex\", \"schedule\": \"zero-bubble\"}",
        "stages wait for each other");
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &n_ranks);
    for (size_t i = 0; i < sizeof compositions / sizeof *compositions; i++)
        if (compositions[i].ranks == n_ranks) run(&compositions[i]);
    refusals();
    if (n_run == 0) FAIL("no plan is of %d ranks", n_ranks);
    MPI_Allreduce(MPI_IN_PLACE, &n_failed, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Finalize();
    return n_failed > 0;
}
