/* Communicators of NCCL: collectives, messages of pairs, and collectives beside a product. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "calibrate/measure/device/cuda/platform.h"

struct fr_device_group {
    ncclComm_t comm;
    int n_ranks, rank;
};

/* NCCL, or RCCL. */
static const char *name_of(const struct fr_device_handle *d) {
    return d->platform->nccl_library->name;
}

static fr_status check(const struct fr_device_handle *d, ncclResult_t code, const char *what,
                       struct fr_error *err) {
    if (code == FR_NCCL_OK) return FR_OK;
    return fr_fail(err, FR_ERR_EXTERNAL, name_of(d), "%s: %s, code %u%s", what,
                   d->nccl.ncclGetErrorString(code), code, fr_remedy(FR_REMEDY_NCCL, code));
}
#define NCCL_TRY(d, call, ...) FR_TRY(check(d, (d)->nccl.call(__VA_ARGS__), #call, err))

static fr_status is_there(const struct fr_device_handle *d, struct fr_error *err) {
    if (d->nccl_library) return FR_OK;
    return fr_fail(err, FR_ERR_UNSUPPORTED, name_of(d),
                   "is not here, so no collective is measured");
}

fr_status fr_cuda_group_id(struct fr_device_handle *d, unsigned char id[FR_DEVICE_GROUP_ID_B],
                           struct fr_error *err) {
    ncclUniqueId made;
    FR_TRY(is_there(d, err));
    NCCL_TRY(d, ncclGetUniqueId, &made);
    memcpy(id, made.internal, FR_DEVICE_GROUP_ID_B);
    return FR_OK;
}

fr_status fr_cuda_group_open(struct fr_device_handle *d,
                             const unsigned char id[FR_DEVICE_GROUP_ID_B], int n_ranks,
                             int rank, struct fr_device_group **group, struct fr_error *err) {
    ncclUniqueId made;
    *group = NULL;
    FR_TRY(is_there(d, err));
    struct fr_device_group *g = fr_calloc(1, sizeof *g);
    if (!g) return fr_fail(err, FR_ERR_NOMEM, NULL, "out of memory");
    *g = (struct fr_device_group){.n_ranks = n_ranks, .rank = rank};
    memcpy(made.internal, id, FR_DEVICE_GROUP_ID_B);
    fr_status status = check(d, d->nccl.ncclCommInitRank(&g->comm, n_ranks, made, rank),
                             "ncclCommInitRank", err);
    if (status == FR_OK)
        *group = g;
    else
        free(g);
    return status;
}

void fr_cuda_group_close(struct fr_device_handle *d, struct fr_device_group *group) {
    if (group) d->nccl.ncclCommDestroy(group->comm);
    free(group);
}

static fr_status begin(const struct fr_device_handle *d, struct fr_error *err) {
    return check(d, d->nccl.ncclGroupStart(), "ncclGroupStart", err);
}
static fr_status end(const struct fr_device_handle *d, struct fr_error *err) {
    return check(d, d->nccl.ncclGroupEnd(), "ncclGroupEnd", err);
}

struct message {
    const void *from;
    void *to;
    size_t n; /* floats, as fr_op counts them */
    CUstream stream;
};

/* NCCL before 2.28 has no all-to-all of its own. */
static fr_status exchange(struct fr_device_handle *d, const struct fr_device_group *g,
                          const struct message *m, struct fr_error *err) {
    size_t part = m->n / (size_t)g->n_ranks;
    FR_TRY(begin(d, err));
    for (int r = 0; r < g->n_ranks; r++) {
        NCCL_TRY(d, ncclSend, (const float *)m->from + (size_t)r * part, part, FR_NCCL_FLOAT, r,
                 g->comm, m->stream);
        NCCL_TRY(d, ncclRecv, (float *)m->to + (size_t)r * part, part, FR_NCCL_FLOAT, r,
                 g->comm, m->stream);
    }
    return end(d, err);
}

/* There and back: the first of both sends, then receives; or both at once. */
static fr_status message(struct fr_device_handle *d, const struct fr_device_group *g,
                         const struct message *m, struct fr_error *err) {
    const struct fr_device_task *t = &d->task;
    for (int turn = 0; turn < 2; turn++) {
        bool sends = t->both || (turn == 0) == t->first;
        if (t->both) FR_TRY(begin(d, err));
        if (sends)
            NCCL_TRY(d, ncclSend, m->from, m->n, FR_NCCL_FLOAT, t->partner, g->comm, m->stream);
        if (t->both || !sends)
            NCCL_TRY(d, ncclRecv, m->to, m->n, FR_NCCL_FLOAT, t->partner, g->comm, m->stream);
        if (t->both) FR_TRY(end(d, err));
    }
    return FR_OK;
}

static fr_status collective(struct fr_device_handle *d, fr_op op, const struct message *m,
                            struct fr_error *err) {
    const struct fr_device_group *g = d->task.group;
    size_t part = m->n / (size_t)g->n_ranks;
    switch (op) {
    case FR_OP_ALL_REDUCE: /* in place, as gradients are */
        NCCL_TRY(d, ncclAllReduce, m->to, m->to, m->n, FR_NCCL_FLOAT, FR_NCCL_SUM, g->comm,
                 m->stream);
        return FR_OK;
    case FR_OP_ALL_GATHER:
        NCCL_TRY(d, ncclAllGather, m->from, m->to, part, FR_NCCL_FLOAT, g->comm, m->stream);
        return FR_OK;
    case FR_OP_REDUCE_SCATTER:
        NCCL_TRY(d, ncclReduceScatter, m->from, m->to, part, FR_NCCL_FLOAT, FR_NCCL_SUM,
                 g->comm, m->stream);
        return FR_OK;
    case FR_OP_BROADCAST:
        NCCL_TRY(d, ncclBroadcast, m->to, m->to, m->n, FR_NCCL_FLOAT, 0, g->comm, m->stream);
        return FR_OK;
    case FR_OP_REDUCE:
        NCCL_TRY(d, ncclReduce, m->from, m->to, m->n, FR_NCCL_FLOAT, FR_NCCL_SUM, 0, g->comm,
                 m->stream);
        return FR_OK;
    case FR_OP_ALL_TO_ALL:
        return exchange(d, g, m, err);
    default:
        return message(d, g, m, err);
    }
}

static struct message message_of(const struct fr_device_handle *d, CUstream stream) {
    return (struct message){.from = (const void *)(uintptr_t)d->inputs,
                            .to = (void *)(uintptr_t)d->outputs,
                            .n = (size_t)(d->task.size_B / sizeof(float)),
                            .stream = stream};
}

fr_status fr_cuda_collective_prepare(struct fr_device_handle *d, struct fr_error *err) {
    FR_TRY(is_there(d, err));
    if (d->task.op == FR_OP_GATHER || d->task.op == FR_OP_SCATTER)
        return fr_fail(err, FR_ERR_UNSUPPORTED, name_of(d), "%s is not measured yet",
                       fr_op_names[d->task.op]);
    if (!d->task.group)
        return fr_fail(err, FR_ERR_UNSUPPORTED, name_of(d), "has no communicator for this");
    if (d->task.size_B > (double)d->pool_B)
        return fr_fail(err, FR_ERR_UNSUPPORTED, d->facts.name,
                       "has no memory for a message of %.0f B", d->task.size_B);
    if (d->task.kind == FR_DEVICE_BESIDE && d->task.part != FR_DEVICE_BESIDE_COLLECTIVE)
        return fr_cuda_product_prepare(d, err);
    return fr_cuda_fill(d, FR_FP32, err);
}

fr_status fr_cuda_collective_run(struct fr_device_handle *d, int calls, struct fr_error *err) {
    const struct message m = message_of(d, d->stream);
    for (int i = 0; i < calls; i++) FR_TRY(collective(d, d->task.op, &m, err));
    return FR_OK;
}

/* Collectives go through a stream of their own, which begins with the other and, where both are timed, ends it. */
fr_status fr_cuda_beside_run(struct fr_device_handle *d, int calls, struct fr_error *err) {
    const struct message m = message_of(d, d->beside);
    int part = d->task.part;
    bool collects = part != FR_DEVICE_BESIDE_PRODUCT,
         multiplies = part != FR_DEVICE_BESIDE_COLLECTIVE;
    FR_CUDA_TRY(d, cuStreamWaitEvent, d->beside, d->start, 0);
    for (int i = 0; i < calls; i++) {
        if (collects) FR_TRY(collective(d, d->task.op, &m, err));
        if (multiplies) FR_TRY(fr_cuda_product_run(d, 1, err));
    }
    if (part == FR_DEVICE_BESIDE_DURING) return FR_OK;
    FR_CUDA_TRY(d, cuEventRecord, d->joined, d->beside);
    FR_CUDA_TRY(d, cuStreamWaitEvent, d->stream, d->joined, 0);
    return FR_OK;
}

/* An error that a communicator met while it ran ends the measurement in a sentence. */
fr_status fr_cuda_group_check(struct fr_device_handle *d, struct fr_error *err) {
    ncclResult_t met = FR_NCCL_OK;
    if (!d->task.group) return FR_OK;
    NCCL_TRY(d, ncclCommGetAsyncError, d->task.group->comm, &met);
    return check(d, met, "a collective", err);
}
