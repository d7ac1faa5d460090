/* What compression did on every rank, written by rank 0. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "real/apps/learn/learn.h"

/* A rank's message: how many passes and micro-batches, kept and lazy, then each micro-batch's. */
enum { HEAD = 4, EACH = 5 };
static const char *const names[EACH] = {"cosine", "alike", "error", "error_mean",
                                        "difference_mean"};

static void pack(const struct fr_observed *o, double *out) {
    double passes = o->passes > 0 ? o->passes : 1;
    out[0] = o->passes;
    out[1] = o->n_micro;
    out[2] = o->kept / passes;
    out[3] = o->lazy / passes;
    for (int m = 0; m < o->n_micro; m++) {
        const struct fr_observation *at = &o->micro[m];
        double *each = out + HEAD + m * EACH;
        each[0] = at->cosine / at->pairs; /* NaN where there are none */
        each[1] = at->alike / at->pairs;
        each[2] = at->error / at->coded;
        each[3] = at->error_mean / at->coded;
        each[4] = at->difference_mean / at->pairs;
    }
}

static void put(struct fr_json_writer *w, int rank, const double *from) {
    fr_json_begin_object(w);
    fr_json_add_integer(w, "rank", rank);
    fr_json_add_number(w, "kept", from[2]);
    fr_json_add_number(w, "lazy", from[3]);
    for (int i = 0; i < EACH; i++) {
        fr_json_add_array(w, names[i]);
        for (int m = 0; m < (int)from[1]; m++) fr_json_put_number(w, from[HEAD + m * EACH + i]);
        fr_json_end_array(w);
    }
    fr_json_end_object(w);
}

fr_status fr_learnt_put_observed(const struct fr_learnt *learnt, MPI_Comm world,
                                 struct fr_json_writer *w, struct fr_error *err) {
    int rank = 0, n_ranks = 1, most = learnt->watch.observed.n_micro;
    FR_MPI_TRY(MPI_Comm_rank(world, &rank));
    FR_MPI_TRY(MPI_Comm_size(world, &n_ranks));
    FR_MPI_TRY(MPI_Allreduce(MPI_IN_PLACE, &most, 1, MPI_INT, MPI_MAX, world));
    size_t one = HEAD + (size_t)most * EACH;
    double *all = fr_calloc(one * (size_t)(n_ranks + 1), sizeof *all);
    if (!all) return fr_fail(err, FR_ERR_NOMEM, NULL, "%d ranks", n_ranks);
    double *mine = all + one * (size_t)n_ranks;
    pack(&learnt->watch.observed, mine);
    FR_MPI_TRY(MPI_Gather(mine, (int)one, MPI_DOUBLE, all, (int)one, MPI_DOUBLE, 0, world));
    fr_json_add_array(w, "observed");
    for (int i = 0; rank == 0 && i < n_ranks; i++)
        if (all[one * (size_t)i] > 0) put(w, i, all + one * (size_t)i);
    fr_json_end_array(w);
    free(all);
    return FR_OK;
}
