/* Who is where: node communicator, numbering of nodes; and the file of samples. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "calibrate/harness/bench.h"

/* A node is called after its first rank, then numbered in order. */
static fr_status number_nodes(struct fr_bench *bench, struct fr_error *err) {
    int leader = bench->rank;
    FR_MPI_TRY(MPI_Bcast(&leader, 1, MPI_INT, 0, bench->node));
    FR_MPI_TRY(MPI_Allgather(&leader, 1, MPI_INT, bench->node_of, 1, MPI_INT, bench->world));
    for (int r = 0; r < bench->n_ranks; r++) {
        int first = bench->node_of[r];
        bench->node_of[r] = first == r ? bench->n_nodes++ : bench->node_of[first];
    }
    return FR_OK;
}

/* Rank 0 creates the file; all learn whether it could. */
static fr_status create_samples(struct fr_bench *bench, struct fr_error *err) {
    const char *path = bench->options.samples;
    int why = 0;
    if (bench->rank == 0) {
        bench->fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0666);
        if (bench->fd < 0) why = errno;
    }
    FR_MPI_TRY(MPI_Bcast(&why, 1, MPI_INT, 0, bench->world));
    if (why) return fr_fail(err, FR_ERR_IO, path, "cannot be written: %s", strerror(why));
    return FR_OK;
}

fr_status fr_bench_open(const struct fr_bench_options *options, struct fr_bench *bench,
                        struct fr_error *err) {
    *bench = (struct fr_bench){.world = MPI_COMM_WORLD,
                               .node = MPI_COMM_NULL,
                               .fd = -1,
                               .rng = options->seed,
                               .options = *options};
    FR_MPI_TRY(MPI_Comm_set_errhandler(bench->world, MPI_ERRORS_RETURN));
    FR_MPI_TRY(MPI_Comm_rank(bench->world, &bench->rank));
    FR_MPI_TRY(MPI_Comm_size(bench->world, &bench->n_ranks));
    FR_MPI_TRY(MPI_Comm_split_type(bench->world, MPI_COMM_TYPE_SHARED, bench->rank,
                                   MPI_INFO_NULL, &bench->node));
    FR_MPI_TRY(MPI_Comm_set_errhandler(bench->node, MPI_ERRORS_RETURN));
    FR_MPI_TRY(MPI_Comm_rank(bench->node, &bench->node_rank));
    FR_MPI_TRY(MPI_Comm_size(bench->node, &bench->n_node_ranks));
    bench->node_of = calloc((size_t)bench->n_ranks, sizeof *bench->node_of);
    if (!bench->node_of) return fr_fail(err, FR_ERR_NOMEM, NULL, "out of memory");
    FR_TRY(number_nodes(bench, err));
    FR_TRY(create_samples(bench, err));
    return fr_bench_describe(bench, err);
}

void fr_bench_close(struct fr_bench *bench) {
    if (bench->fd >= 0) close(bench->fd);
    if (bench->node != MPI_COMM_NULL) MPI_Comm_free(&bench->node);
    free(bench->node_of);
}
