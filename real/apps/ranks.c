#include "real/apps/ranks.h"

#include <inttypes.h>

#include "real/apps/redistribute.h"

fr_status fr_real_split(struct fr_real *real, int64_t colour, int64_t key, MPI_Comm *comm) {
    FR_REAL_TRY(real, MPI_Comm_split(real->world, (int)colour, (int)key, comm));
    FR_REAL_TRY(real, MPI_Comm_set_errhandler(*comm, MPI_ERRORS_RETURN));
    return FR_OK;
}

/* tp innermost, then pp and dp, as models/plan/plan.h has it. */
static fr_status make_mesh(struct fr_real *real, MPI_Comm world) {
    const struct fr_plan *plan = real->run->plan;
    int tp = (int)plan->tp, pp = (int)plan->pp;
    FR_REAL_TRY(real, MPI_Comm_dup(world, &real->world));
    FR_REAL_TRY(real, MPI_Comm_set_errhandler(real->world, MPI_ERRORS_RETURN));
    FR_REAL_TRY(real, MPI_Comm_rank(real->world, &real->rank));
    FR_REAL_TRY(real, MPI_Comm_size(real->world, &real->n_ranks));
    if (real->n_ranks != fr_plan_ranks(plan))
        return fr_fail(real->err, FR_ERR_INPUT, NULL,
                       "a plan of %" PRId64 " ranks on %d of them", fr_plan_ranks(plan),
                       real->n_ranks);
    int dp = (int)fr_plan_replicas(plan), cp = (int)(dp / plan->dp),
        strides[] = {1, (int)fr_plan_pp_stride(plan), (int)fr_plan_dp_stride(plan)};
    if (plan->method
            ->data_first) /* models/price/rank_map.h: those of a sub-grid side by side */
        strides[0] = dp, strides[1] = dp * tp, strides[2] = 1;
    real->tp_rank = real->rank / strides[0] % tp;
    real->pp_rank = real->rank / strides[1] % pp;
    real->dp_rank = real->rank / strides[2] % dp;
    real->cp_rank = real->dp_rank % cp;
    FR_TRY(fr_real_split(real, real->pp_rank * dp + real->dp_rank, real->rank, &real->tp));
    FR_TRY(fr_real_split(real, real->pp_rank * tp + real->tp_rank, real->rank, &real->dp));
    FR_TRY(fr_real_split(real, (real->pp_rank * tp + real->tp_rank) * dp + real->dp_rank / cp,
                         real->rank, &real->cp));
    int subgrid =
        plan->common_subgrid ? real->tp_rank : 0; /* whose ranks have what is common */
    if (plan->method->branches)
        FR_TRY(fr_real_split(real, real->pp_rank * tp + subgrid, real->rank,
                             &real->held[FR_HELD_BY_STAGE]));
    return fr_real_split(real, real->dp_rank * tp + real->tp_rank, real->rank, &real->pp);
}

static fr_copies kind_of(int holder) {
    return holder == FR_HELD_BY_REPLICAS ? FR_COPIES_REST
           : holder == FR_HELD_BY_STAGE
               ? FR_COPIES_COMMON
               : (fr_copies)(FR_COPIES_ATTENTION + holder - FR_HELD_BY_GRIDS);
}

bool fr_real_holds(const struct fr_plan *plan, int holder) {
    if (holder == FR_HELD_BY_REPLICAS) return true;
    if (holder == FR_HELD_BY_STAGE) return plan->method->branches;
    return plan->n_layer_tp == FR_GRIDS && fr_plan_own_grid(plan, holder - FR_HELD_BY_GRIDS);
}

int fr_real_copies(const struct fr_plan *plan, int holder) {
    return fr_real_holds(plan, holder) ? (int)fr_plan_copies(plan, kind_of(holder)) : 1;
}

int fr_real_dividing(const struct fr_plan *plan, int holder) {
    bool divides = plan->zero > 0 && fr_real_holds(plan, holder);
    return divides ? (int)fr_plan_dividing(plan, kind_of(holder)) : 1;
}

bool fr_real_alone(const struct fr_plan *plan) {
    for (int h = 0; h < FR_HOLDERS; h++)
        if (fr_real_copies(plan, h) > 1) return false;
    return true;
}

bool fr_real_holds_parts(const struct fr_plan *plan) {
    for (int h = FR_HELD_BY_STAGE; h < FR_HOLDERS; h++)
        if (fr_real_holds(plan, h)) return true;
    return false;
}

/* Grids of R = tp dp cp ranks: rank r is in row r mod P_r of column r / P_r.  The order is that of
 * models/price/rank_map.c. */
static fr_status make_grids(struct fr_real *real) {
    const struct fr_plan *plan = real->run->plan;
    int64_t r = fr_real_place(real), all = plan->tp * fr_plan_replicas(plan),
            stage = real->pp_rank * all;
    if (plan->n_layer_tp != FR_GRIDS || !real->run->workload->transformer.layers) return FR_OK;
    for (int g = 0; g < FR_GRIDS; g++) {
        int64_t p = fr_plan_grid(plan, g), next = fr_plan_grid(plan, (g + 1) % FR_GRIDS);
        int holder = FR_HELD_BY_GRIDS + g;
        FR_TRY(fr_real_split(real, stage + r / p, r, &real->rows[g]));
        FR_TRY(fr_real_split(real, stage + fr_redistribute_colour(r, p, next), r,
                             &real->between[g]));
        if (fr_real_holds(plan, holder))
            FR_TRY(fr_real_split(real, stage + r % p, r, &real->held[holder]));
    }
    return FR_OK;
}

/* Z neighbours of one @p colour divide what they hold, and ranks of equal place among them have the same. */
static fr_status split_holders(struct fr_real *real, int holder, int64_t colour, int own) {
    int copies = fr_real_copies(real->run->plan, holder),
        z = fr_real_dividing(real->run->plan, holder);
    real->held_rank[holder] = own;
    if (real->run->plan->zero == 0 || z == copies) return FR_OK;
    FR_TRY(fr_real_split(real, colour * copies + own / z, real->rank, &real->dividing[holder]));
    return fr_real_split(real, colour * copies + own % z, real->rank, &real->across[holder]);
}

static fr_status make_holders(struct fr_real *real) {
    const struct fr_plan *plan = real->run->plan;
    int64_t place = real->pp_rank * plan->tp + real->tp_rank;
    real->held[FR_HELD_BY_REPLICAS] = real->dp;
    FR_TRY(make_grids(real));
    if (plan->method->branches) {
        int own = 0;
        FR_REAL_TRY(real, MPI_Comm_rank(real->held[FR_HELD_BY_STAGE], &own));
        FR_TRY(split_holders(real, FR_HELD_BY_STAGE,
                             plan->common_subgrid ? place : real->pp_rank, own));
    }
    for (int g = 0; g < FR_GRIDS; g++) {
        int64_t p = fr_plan_grid(plan, g), r = fr_real_place(real);
        if (real->held[FR_HELD_BY_GRIDS + g] != MPI_COMM_NULL)
            FR_TRY(split_holders(real, FR_HELD_BY_GRIDS + g, real->pp_rank * p + r % p,
                                 (int)(r / p)));
    }
    return split_holders(real, FR_HELD_BY_REPLICAS, place, real->dp_rank);
}

/* ---- begin and end ------------------------------------------------------------------------------- */

void fr_ranks_none(struct fr_real *real) {
    real->world = real->tp = real->dp = real->pp = real->cp = MPI_COMM_NULL;
    for (int h = 0; h < FR_HOLDERS; h++)
        real->held[h] = real->dividing[h] = real->across[h] = MPI_COMM_NULL;
    for (int g = 0; g < FR_GRIDS; g++) real->rows[g] = real->between[g] = MPI_COMM_NULL;
}

fr_status fr_ranks_open(struct fr_real *real, MPI_Comm world) {
    FR_TRY(make_mesh(real, world));
    return make_holders(real);
}

static void leave(MPI_Comm *comm) {
    if (*comm != MPI_COMM_NULL) MPI_Comm_free(comm);
}

void fr_ranks_close(struct fr_real *real) {
    MPI_Comm *comms[] = {&real->tp, &real->dp, &real->pp, &real->cp, &real->world};
    for (int h = 0; h < FR_HOLDERS; h++) {
        if (h != FR_HELD_BY_REPLICAS) leave(&real->held[h]); /* theirs is dp */
        leave(&real->dividing[h]);
        leave(&real->across[h]);
    }
    for (int g = 0; g < FR_GRIDS; g++) {
        leave(&real->rows[g]);
        leave(&real->between[g]);
    }
    for (size_t i = 0; i < sizeof comms / sizeof *comms; i++) leave(comms[i]);
}
