/* The device of a rank: of those that its node has the one of the rank's number there; and the groups in which devices
 * exchange messages. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "calibrate/measure/harness/bench.h"

/* Facts that ranks exchange about their devices. */
struct card {
    char name[96], place[64];
};

static fr_status find_driver(struct fr_bench *bench, struct fr_error *err) {
    const char *names[16] = {NULL}, *asked = bench->options.device;
    if (!asked) return FR_OK;
    bench->driver = fr_device_find(asked);
    if (bench->driver && !bench->driver->open)
        bench->driver = NULL;
    else if (!bench->driver) {
        for (int i = 0; fr_device_drivers[i]; i++) names[i] = fr_device_drivers[i]->name;
        const char *near = fr_suggest(asked, names);
        return fr_fail(err, FR_ERR_USAGE, "--device", "\"%.32s\" is no device%s%s%s", asked,
                       near ? "; did you mean " : "", near ? near : "", near ? "?" : "");
    }
    return FR_OK;
}

static fr_status open_own(struct fr_bench *bench, struct fr_error *err) {
    int n = 0;
    FR_TRY(bench->driver->count(&n, err));
    return bench->driver->open(bench->node_rank % n, &bench->device, err);
}

/* One kind in a job, and none used twice: what is measured is one device's. */
static fr_status compare(const struct fr_bench *bench, const struct card *cards,
                         struct fr_error *err) {
    for (int i = 1; i < bench->n_ranks; i++) {
        if (strcmp(cards[i].name, cards[0].name) != 0)
            return fr_fail(err, FR_ERR_EXTERNAL, "--device",
                           "rank 0 has a %.80s and rank %d a %.80s: measure one kind at a time",
                           cards[0].name, i, cards[i].name);
        for (int k = 0; k < i; k++)
            if (strcmp(cards[i].place, cards[k].place) == 0)
                return fr_fail(
                    err, FR_ERR_EXTERNAL, "--device",
                    "ranks %d and %d have the same GPU: start no more ranks on a node "
                    "than it has GPUs",
                    k, i);
    }
    return FR_OK;
}

static fr_status check(struct fr_bench *bench, struct fr_error *err) {
    const struct fr_device_facts *facts = bench->driver->facts(bench->device);
    struct card own = {0}, *all = fr_calloc((size_t)bench->n_ranks, sizeof *all);
    if (!all) return fr_fail(err, FR_ERR_NOMEM, NULL, "out of memory");
    snprintf(own.name, sizeof own.name, "%s", facts->name);
    snprintf(own.place, sizeof own.place, "%d %s", bench->node_of[bench->rank], facts->bus);
    int code =
        MPI_Allgather(&own, sizeof own, MPI_CHAR, all, sizeof own, MPI_CHAR, bench->world);
    fr_status status =
        code == MPI_SUCCESS ? compare(bench, all, err) : fr_mpi_failed(code, "device", err);
    free(all);
    if (status == FR_OK && *facts->lacks && bench->rank == 0)
        fprintf(stderr, "forerun-mpi: %s\n", facts->lacks);
    if (status == FR_OK && facts->divided && bench->rank == 0)
        fprintf(stderr,
                "forerun-mpi: %s is divided (MIG): a part of it is measured, and the power of "
                "the whole\n",
                facts->name);
    return status;
}

/* The error of the first rank that has one becomes everybody's. */
static fr_status agree(struct fr_bench *bench, fr_status status, struct fr_error *err) {
    int own = status == FR_OK ? bench->n_ranks : bench->rank, first = 0;
    FR_MPI_TRY(MPI_Allreduce(&own, &first, 1, MPI_INT, MPI_MIN, bench->world));
    if (first == bench->n_ranks) return FR_OK;
    FR_MPI_TRY(MPI_Bcast(err, sizeof *err, MPI_CHAR, first, bench->world));
    bench->refused = true;
    return err->status;
}

/* Message sizes of devices go to what a bucket of gradients has. */
static const double DEVICE_MAX_B = 1 << 30;

fr_status fr_bench_device_open(struct fr_bench *bench, struct fr_error *err) {
    FR_TRY(agree(bench, find_driver(bench, err), err));
    if (!bench->driver) return FR_OK;
    if (!bench->options.max_stated) bench->options.max_size_B = DEVICE_MAX_B;
    FR_TRY(agree(bench, open_own(bench, err), err));
    return agree(bench, check(bench, err), err);
}

static fr_status join(struct fr_bench *bench, struct fr_team *team, struct fr_error *err) {
    unsigned char id[FR_DEVICE_GROUP_ID_B] = {0};
    int n = 0, made = 1, all = 0;
    fr_status status =
        team->rank == 0 ? bench->driver->group_id(bench->device, id, err) : FR_OK;
    made = status == FR_OK;
    FR_MPI_TRY(MPI_Allreduce(&made, &all, 1, MPI_INT, MPI_MIN, team->call));
    if (status != FR_OK) return status;
    if (!all)
        return fr_fail(err, FR_ERR_EXTERNAL, NULL, "rank 0 of a group has no name for it");
    FR_MPI_TRY(MPI_Bcast(id, sizeof id, MPI_BYTE, 0, team->call));
    FR_MPI_TRY(MPI_Comm_size(team->call, &n));
    return bench->driver->group_open(bench->device, id, n, team->rank, &team->group, err);
}

/* The first rank's reason is the one that is said. */
static fr_status give_up(struct fr_bench *bench, fr_status own, struct fr_error *why,
                         struct fr_error *err) {
    int failed = own == FR_OK ? bench->n_ranks : bench->rank, first = 0;
    FR_MPI_TRY(MPI_Allreduce(&failed, &first, 1, MPI_INT, MPI_MIN, bench->world));
    if (first == bench->n_ranks) return FR_OK;
    FR_MPI_TRY(MPI_Bcast(why, sizeof *why, MPI_CHAR, first, bench->world));
    bench->no_groups = true;
    if (bench->rank == 0)
        fprintf(stderr,
                "forerun-mpi: %.80s: %.400s; collectives are not measured, and stay those of "
                "the base\n",
                why->where, why->detail);
    return FR_OK;
}

fr_status fr_bench_device_join(struct fr_bench *bench, struct fr_team *team,
                               struct fr_error *err) {
    struct fr_error why = {.status = FR_OK};
    bool outside = team->sync == MPI_COMM_NULL || team->group;
    if (bench->no_groups) return FR_OK;
    if (!bench->driver->group_open)
        return fr_fail(err, FR_ERR_UNSUPPORTED, "--device", "%s has no groups",
                       bench->driver->name);
    fr_status status = outside ? FR_OK : join(bench, team, &why);
    return give_up(bench, status, &why, err);
}

fr_status fr_bench_device_teams(struct fr_bench *bench, const struct fr_bench_row *row,
                                fr_team_kind kind, fr_bench_team_fn *plan_team,
                                struct fr_error *err) {
    for (int t = 0; t < bench->teams.count && !bench->no_groups; t++) {
        struct fr_team *team = &bench->teams.team[t];
        if (team->kind != kind) continue;
        FR_TRY(fr_bench_device_join(bench, team, err));
        if (!bench->no_groups) FR_TRY(plan_team(bench, row, team, err));
    }
    return FR_OK;
}

void fr_bench_device_close(struct fr_bench *bench) {
    for (int i = 0; bench->device && i < bench->teams.count; i++)
        if (bench->teams.team[i].group)
            bench->driver->group_close(bench->device, bench->teams.team[i].group);
    if (bench->device) bench->driver->close(bench->device);
    bench->device = NULL;
}

fr_status fr_bench_device_add(struct fr_bench *bench, const struct fr_point *point,
                              const struct fr_device_task *task, bool *added,
                              struct fr_error *err) {
    double time_s = 0;
    bool inside = point->team->sync != MPI_COMM_NULL;
    struct fr_error why = {.status = FR_OK};
    fr_status status = inside ? bench->driver->prepare(bench->device, task, &why) : FR_OK;
    if (inside && status == FR_OK) status = bench->driver->run(bench->device, 1, &time_s, &why);
    if (status != FR_OK && status != FR_ERR_UNSUPPORTED) {
        if (err) *err = why;
        return status;
    }
    int own = status == FR_OK, all = 0;
    FR_MPI_TRY(MPI_Allreduce(&own, &all, 1, MPI_INT, MPI_MIN, bench->world));
    *added = all != 0;
    return all ? fr_bench_add(bench, point, err) : FR_OK;
}

void fr_bench_device_choose(struct fr_bench *bench, const struct fr_device_task *task,
                            struct fr_point *point) {
    double time_s = 0;
    if (!bench->driver->choice || point->team->sync == MPI_COMM_NULL) return;
    if (bench->driver->prepare(bench->device, task, NULL) != FR_OK) return;
    if (bench->driver->run(bench->device, 1, &time_s, NULL) != FR_OK) return;
    bench->driver->choice(bench->device, &point->choice);
}

static fr_status heat(const struct fr_bench *bench, double heat_s, struct fr_error *err) {
    double once_s = 0, spent_s = 0;
    while (spent_s < heat_s) {
        double calls = once_s > 0 ? (heat_s - spent_s) / once_s : 1;
        int n = calls < 1 ? 1 : calls < 1e5 ? (int)calls : 100000;
        FR_TRY(bench->driver->run(bench->device, n, &once_s, err));
        spent_s += once_s > 0 ? once_s : heat_s;
        once_s /= n;
    }
    return FR_OK;
}

fr_status fr_bench_device_run(struct fr_work *work, const struct fr_device_task *task,
                              double heat_s, int calls, struct fr_error *err) {
    struct fr_bench *bench = work->bench;
    /* The sample counts from just before this call: what getting ready took is left out. */
    double start_s = fr_now_s(), took_s = 0;
    if (bench->prepared != work->point) {
        FR_TRY(bench->driver->prepare(bench->device, task, err));
        FR_TRY(heat(bench, heat_s, err));
        bench->prepared = work->point;
    }
    FR_TRY(bench->driver->run(bench->device, calls, &took_s, err));
    work->stopped_s = start_s + took_s;
    return FR_OK;
}

fr_status fr_bench_device_run_task(void *context, int calls, struct fr_error *err) {
    struct fr_work *work = context;
    const struct fr_bench_row *row = work->point->row;
    const struct fr_device_task task = row->task(work->point);
    return fr_bench_device_run(work, &task, row->heat_s, calls, err);
}

fr_status fr_bench_device_run_hot(struct fr_work *work, const struct fr_device_task *task,
                                  int calls, struct fr_error *err) {
    const double heat_s = work->bench->options.quick ? 0.03 : 0.1;
    return fr_bench_device_run(work, task, heat_s, calls, err);
}
