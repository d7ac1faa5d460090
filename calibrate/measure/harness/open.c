/* Who is where: node communicator, numbering of nodes; the file of samples; what to measure. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/digest.h"
#include "base/file.h"
#include "base/file/links.h"
#include "base/journal/journal.h"
#include "base/journal/keep.h"
#include "calibrate/measure/harness/memory.h"
#include "calibrate/measure/harness/pages.h"
#include "calibrate/measure/harness/visits.h"
#include "calibrate/measure/harness/watch.h"
#include "calibrate/samples/repair.h"

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

/* Properties that ranks with shared memory have in common, hashed: the kernel's boot, the
 * host's name, the namespace of shared segments and the file system of those in memory.
 * Containers of one machine have one boot, and sometimes one name. */
#ifndef SMPI_H
static int signature(void) {
    char text[512] = "", name[128] = "";
    size_t used = 0;
    struct stat memory = {0};
    FILE *file = fopen("/proc/sys/kernel/random/boot_id", "r");
    if (file && fscanf(file, "%127s", name) == 1)
        fr_line_addf(text, sizeof text, &used, "%s ", name);
    if (file) fclose(file);
    if (gethostname(name, sizeof name - 1) == 0)
        fr_line_addf(text, sizeof text, &used, "%s ", name);
    ssize_t length = readlink("/proc/self/ns/ipc", name, sizeof name - 1);
    if (length > 0) fr_line_addf(text, sizeof text, &used, "%.*s ", (int)length, name);
    if (stat("/dev/shm", &memory) == 0)
        fr_line_addf(text, sizeof text, &used, "%llu", (unsigned long long)memory.st_dev);
    uint64_t hash = fr_digest_bytes(FR_DIGEST_START, text, used);
    return (int)((hash ^ hash >> 32) & 0x7fffffff);
}
#endif

/* Ranks that MPI takes to share memory, distinguished further by what is not shared. */
static fr_status split_by_memory(struct fr_bench *bench, struct fr_error *err) {
    MPI_Comm shared;
    FR_MPI_TRY(MPI_Comm_split_type(bench->world, MPI_COMM_TYPE_SHARED, bench->rank,
                                   MPI_INFO_NULL, &shared));
#ifdef SMPI_H
    int colour = 0; /* simulated hosts are one process */
#else
    int colour = signature();
#endif
    int code = MPI_Comm_split(shared, colour, bench->rank, &bench->node);
    MPI_Comm_free(&shared);
    FR_MPI_TRY(code);
    return FR_OK;
}

/* A node is what shares memory, or as many neighbouring ranks as the user says. */
static fr_status split_nodes(struct fr_bench *bench, struct fr_error *err) {
    int size = bench->options.node_size;
    if (size > 0)
        FR_MPI_TRY(MPI_Comm_split(bench->world, bench->rank / size, bench->rank, &bench->node));
    else
        FR_TRY(split_by_memory(bench, err));
    FR_MPI_TRY(MPI_Comm_set_errhandler(bench->node, MPI_ERRORS_RETURN));
    FR_MPI_TRY(MPI_Comm_rank(bench->node, &bench->node_rank));
    FR_MPI_TRY(MPI_Comm_size(bench->node, &bench->n_node_ranks));
    return number_nodes(bench, err);
}

static fr_status hold_samples(struct fr_bench *bench, struct fr_error *err) {
    const char *path = bench->options.samples;
    int flags = O_RDWR | O_APPEND | (bench->options.resume ? 0 : O_CREAT);
    if (bench->fd >= 0) close(bench->fd);
    bench->fd = -1;
    FR_TRY(fr_file_open_checked(path, flags, 0666, &bench->fd, err));
    return fr_keep_append(bench->fd, path, FR_KEEP_KILLED_S, err);
}

/* Rank 0 opens the file, which nobody else writes; an old one is emptied only once it is ours. */
static fr_status open_samples(struct fr_bench *bench, struct fr_error *err) {
    const char *path = bench->options.samples;
    /* A job that was killed before its first line left nothing to go on with. */
    if (fr_file_exists(path) && !fr_file_holds(path)) bench->options.resume = false;
    FR_TRY(fr_keep_measurements(path, bench->options.resume, bench->options.force, err));
    FR_TRY(hold_samples(bench, err));
    if (bench->options.resume) {
        bool replaced = false;
        FR_TRY(fr_samples_repair(path, &replaced, err));
        if (replaced) FR_TRY(hold_samples(bench, err));
        if (futimens(bench->fd, NULL) != 0) errno = 0; /* a sign that the job has begun */
        return fr_resume_check(bench, err);
    }
    struct fr_text line = {0};
    if (ftruncate(bench->fd, 0) != 0 && errno != EINVAL)
        return fr_fail(err, FR_ERR_IO, path, "cannot be emptied: %s", strerror(errno));
    fr_sample_line_provenance(&bench->provenance, &line);
    return fr_journal_put_header(bench->fd, path, &line, fr_resume_question(bench), err);
}

/* All ranks end alike; rank 0 knows why. */
static fr_status share(struct fr_bench *bench, fr_status status, struct fr_error *err) {
    int stated[2] = {(int)status, bench->launch};
    FR_MPI_TRY(MPI_Bcast(stated, 2, MPI_INT, 0, bench->world));
    bench->launch = stated[1];
    if (stated[0] == FR_OK || bench->rank == 0) return status;
    return fr_fail(err, (fr_status)stated[0], bench->options.samples, "rank 0 says why");
}

/* Floats of each buffer that messages take turns in: more than a private cache holds, less than the
 * last one. */
enum { ROTATION = (8 << 20) / sizeof(float) };

static fr_status allocate(struct fr_bench *bench, struct fr_error *err) {
    double largest_B = 8;
    for (int i = 0; i < bench->n_sizes; i++)
        if (bench->size_B[i] > largest_B) largest_B = bench->size_B[i];
    if (bench->options.max_size_B > largest_B) largest_B = bench->options.max_size_B;
    if (bench->driver) largest_B = 8; /* messages are the devices' */
    /* A buffer rounded up to whole parts is at most p floats larger. */
    size_t count = (size_t)(largest_B / sizeof(float)) + (size_t)bench->n_ranks;
    if (!bench->provenance.simulated && count < ROTATION) count = ROTATION;
    bench->capacity = count < ROTATION ? count : ROTATION;
    bench->send = fr_pages_alloc(count * sizeof *bench->send);
    size_t beyond = (size_t)(fr_bench_beyond_B(bench) / sizeof(float)),
           most = beyond > count ? beyond : count;
    bench->recv = fr_pages_alloc(most * sizeof *bench->recv);
    bench->state = fr_calloc((size_t)fr_bench_n_rows(), sizeof *bench->state);
    if (!bench->send || !bench->recv || !bench->state)
        return fr_fail(err, FR_ERR_NOMEM, NULL, "buffers of %zu floats", most);
    for (size_t i = 0; i < count; i++) bench->send[i] = 1.0f;
    for (size_t i = 0; i < most; i++) bench->recv[i] = 1.0f;
    return FR_OK;
}

static fr_status plan(struct fr_bench *bench, struct fr_error *err) {
    for (int i = 0; fr_bench_rows[i]; i++) {
        const struct fr_bench_row *row = fr_bench_rows[i];
        if (!fr_bench_wanted(bench, row)) continue;
        if (row->open) FR_TRY(row->open(bench, &bench->state[i], err));
        if (row->plan) FR_TRY(row->plan(bench, row, err));
    }
    if (bench->driver && bench->driver->choice_end) bench->driver->choice_end(bench->device);
    return FR_OK;
}

static fr_status watch(struct fr_bench *bench, struct fr_error *err) {
    double patience_s = bench->options.patience_s;
    if (!bench->options.watch) {
        fr_watch_point(FR_WATCH_BETWEEN);
        return FR_OK;
    }
    return fr_watch_open(bench->options.samples, patience_s, fr_patience_points_s(patience_s),
                         err);
}

fr_status fr_bench_open(const struct fr_bench_options *options, struct fr_bench *bench,
                        struct fr_error *err) {
    *bench = (struct fr_bench){
        .world = MPI_COMM_WORLD, .node = MPI_COMM_NULL, .fd = -1, .options = *options};
    FR_MPI_TRY(MPI_Comm_set_errhandler(bench->world, MPI_ERRORS_RETURN));
    FR_MPI_TRY(MPI_Comm_rank(bench->world, &bench->rank));
    FR_MPI_TRY(MPI_Comm_size(bench->world, &bench->n_ranks));
    bench->node_of = fr_calloc((size_t)bench->n_ranks, sizeof *bench->node_of);
    if (!bench->node_of) return fr_fail(err, FR_ERR_NOMEM, NULL, "out of memory");
    FR_TRY(split_nodes(bench, err));
    FR_TRY(fr_bench_device_open(bench, err));
    FR_TRY(fr_bench_describe(bench, err));
    FR_TRY(share(bench, bench->rank == 0 ? open_samples(bench, err) : FR_OK, err));
    FR_TRY(watch(bench, err));
    fr_memory_for_products();
    FR_TRY(fr_bench_sizes(bench, err));
    FR_TRY(allocate(bench, err));
    FR_TRY(fr_teams_open(bench, err));
    return plan(bench, err);
}

void fr_bench_close(struct fr_bench *bench) {
    for (int i = 0; bench->state && fr_bench_rows[i]; i++)
        if (fr_bench_rows[i]->close) fr_bench_rows[i]->close(bench->state[i]);
    fr_bench_device_close(bench);
    fr_teams_close(&bench->teams);
    if (bench->fd >= 0) close(bench->fd);
    if (bench->node != MPI_COMM_NULL) MPI_Comm_free(&bench->node);
    free(bench->state);
    free(bench->points);
    free(bench->size_B);
    free(bench->send);
    free(bench->recv);
    free(bench->node_of);
}
