/* Stands in for libnccl.so.2.  Ranks of a communicator meet in a file of /tmp, where each writes its node; after that nobody
 * waits for anybody, and times are those of fake.h's law. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "calibrate/measure/device/cuda/nccl_api.h"
#include "tests/calibrate/fake_cuda/fake.h"

#define DECLARE(result, name, arguments) result name arguments;
FR_NCCL_FUNCTIONS(DECLARE)
#undef DECLARE

enum { INVALID = 4, PATIENCE = 20000 /* of a millisecond */ };

struct ncclComm {
    int n, rank;
    double rate; /* of its links */
};

static struct {
    int depth, peers;
    double sent_B;
    ncclComm_t comm;
    CUstream stream;
} group;

#define MAY_FAIL()                                                                             \
    do {                                                                                       \
        unsigned code_ = fake_fault(__func__);                                                 \
        if (code_) return code_;                                                               \
    } while (0)

/* As NCCL does: the environment counts at the first call, and again after a reset; rank 0 alone notes. */
static struct {
    int known;
    FILE *file;
} debug;

void ncclResetDebugInit(void);
void ncclResetDebugInit(void) {
    if (debug.file) fclose(debug.file);
    debug.known = 0;
    debug.file = NULL;
}

static int is_noting(void) {
    const char *level = getenv("NCCL_DEBUG"), *of = getenv("NCCL_DEBUG_SUBSYS"),
               *file = getenv("NCCL_DEBUG_FILE");
    if (!debug.known && level && of && file && !strcmp(level, "INFO") && !strcmp(of, "TUNING"))
        debug.file = fopen(file, "we");
    debug.known = 1;
    return debug.file != NULL;
}

static void note(ncclComm_t comm, CUstream stream, const char *call, size_t bytes) {
    int small = bytes <= FAKE_TREE_B;
    if (!is_noting() || comm->rank != 0) return;
    fake_spend_on(stream, FAKE_NOTED_S);
    fprintf(
        debug.file,
        "host:%d:%d [0] NCCL INFO %s: %zu Bytes -> Algo %s proto %s channel{Lo..Hi}={0..15}\n",
        (int)getpid(), (int)getpid(), call, bytes, small ? "TREE" : "RING",
        small ? "LL" : "SIMPLE");
    fflush(debug.file);
}

ncclResult_t ncclGetVersion(int *version) {
    MAY_FAIL();
    *version = 22809;
    return 0;
}

const char *ncclGetErrorString(ncclResult_t code) {
    (void)code;
    return "a fault on demand";
}

ncclResult_t ncclGetUniqueId(ncclUniqueId *id) {
    struct timespec now;
    static int made;
    MAY_FAIL();
    clock_gettime(CLOCK_MONOTONIC, &now);
    snprintf(id->internal, sizeof id->internal, "/tmp/fake_nccl_%d_%d_%ld", (int)getpid(),
             made++, now.tv_nsec);
    return 0;
}

static int number(const char *name, int unsaid) {
    const char *text = getenv(name);
    return text ? atoi(text) : unsaid;
}

/* One byte a rank, its node. @return whether all came, and on several nodes */
static int meet(const char *path, int n, int *several) {
    unsigned char nodes[256] = {0};
    unsigned char own =
        (unsigned char)(number("OMPI_COMM_WORLD_RANK", 0) / number("FAKE_NCCL_NODE", 1 << 20));
    int file = open(path, O_RDWR | O_CREAT | O_APPEND, 0600), here = 0;
    if (file < 0 || n > (int)sizeof nodes || write(file, &own, 1) != 1) return 0;
    for (int i = 0; i < PATIENCE && here < n; i++) {
        here = (int)pread(file, nodes, (size_t)n, 0);
        if (here < n) usleep(1000);
    }
    close(file);
    *several = 0;
    for (int i = 0; i < n; i++) *several |= nodes[i] != nodes[0];
    return here == n;
}

ncclResult_t ncclCommInitRank(ncclComm_t *comm, int n, ncclUniqueId id, int rank) {
    int several = 0;
    MAY_FAIL();
    if (rank < 0 || rank >= n || !meet(id.internal, n, &several)) return INVALID;
    if (rank == 0) unlink(id.internal);
    *comm = calloc(1, sizeof **comm);
    **comm = (struct ncclComm){n, rank, several ? FAKE_RAIL : FAKE_NVLINK};
    return 0;
}

ncclResult_t ncclCommDestroy(ncclComm_t comm) {
    free(comm);
    MAY_FAIL();
    return 0;
}

ncclResult_t ncclCommGetAsyncError(ncclComm_t comm, ncclResult_t *code) {
    (void)comm;
    MAY_FAIL();
    *code = fake_fault("async");
    return 0;
}

ncclResult_t ncclGroupStart(void) {
    MAY_FAIL();
    group.depth++;
    return 0;
}

static void spend(ncclComm_t comm, CUstream stream, int peers, double moved_B) {
    fake_spend_on(stream, FAKE_NCCL_S + peers * FAKE_HOP_S + moved_B / comm->rate);
}

ncclResult_t ncclGroupEnd(void) {
    MAY_FAIL();
    if (--group.depth > 0) return 0;
    if (group.comm) spend(group.comm, group.stream, group.peers, group.sent_B);
    memset(&group, 0, sizeof group);
    return 0;
}

/* @param factor  bytes that pass a link, over the message */
static ncclResult_t collective(ncclComm_t comm, CUstream stream, size_t floats, double factor,
                               const char *call) {
    if (!comm || !stream) return INVALID;
    note(comm, stream, call, floats * sizeof(float));
    spend(comm, stream, comm->n - 1, factor * (double)floats * sizeof(float));
    return 0;
}

static double shared(ncclComm_t comm) { return (double)(comm->n - 1) / comm->n; }

ncclResult_t ncclBroadcast(const void *from, void *to, size_t n, ncclDataType_t type, int root,
                           ncclComm_t comm, cudaStream_t stream) {
    (void)root;
    MAY_FAIL();
    if (!from || !to || type != FR_NCCL_FLOAT) return INVALID;
    return collective(comm, stream, n, 1, "Broadcast");
}

ncclResult_t ncclReduce(const void *from, void *to, size_t n, ncclDataType_t type,
                        ncclRedOp_t op, int root, ncclComm_t comm, cudaStream_t stream) {
    (void)op, (void)root;
    MAY_FAIL();
    if (!from || !to || type != FR_NCCL_FLOAT) return INVALID;
    return collective(comm, stream, n, 1, "Reduce");
}

ncclResult_t ncclAllReduce(const void *from, void *to, size_t n, ncclDataType_t type,
                           ncclRedOp_t op, ncclComm_t comm, cudaStream_t stream) {
    (void)op;
    MAY_FAIL();
    if (!from || !to || type != FR_NCCL_FLOAT) return INVALID;
    return collective(comm, stream, n, 2 * shared(comm), "AllReduce");
}

ncclResult_t ncclAllGather(const void *from, void *to, size_t n, ncclDataType_t type,
                           ncclComm_t comm, cudaStream_t stream) {
    MAY_FAIL();
    if (!from || !to || type != FR_NCCL_FLOAT) return INVALID;
    return collective(comm, stream, n * (size_t)comm->n, shared(comm), "AllGather");
}

ncclResult_t ncclReduceScatter(const void *from, void *to, size_t n, ncclDataType_t type,
                               ncclRedOp_t op, ncclComm_t comm, cudaStream_t stream) {
    (void)op;
    MAY_FAIL();
    if (!from || !to || type != FR_NCCL_FLOAT) return INVALID;
    return collective(comm, stream, n * (size_t)comm->n, shared(comm), "ReduceScatter");
}

/* Sent bytes count in a group; received ones come meanwhile. */
static ncclResult_t message(ncclComm_t comm, CUstream stream, size_t n, int peer, int sends) {
    if (!comm || !stream || peer < 0 || peer >= comm->n) return INVALID;
    if (group.depth == 0) {
        spend(comm, stream, 1, (double)n * sizeof(float));
        return 0;
    }
    group.comm = comm, group.stream = stream;
    if (sends && peer != comm->rank) {
        group.peers++;
        group.sent_B += (double)n * sizeof(float);
    }
    return 0;
}

ncclResult_t ncclSend(const void *from, size_t n, ncclDataType_t type, int peer,
                      ncclComm_t comm, cudaStream_t stream) {
    MAY_FAIL();
    return from && type == FR_NCCL_FLOAT ? message(comm, stream, n, peer, 1) : INVALID;
}

ncclResult_t ncclRecv(void *to, size_t n, ncclDataType_t type, int peer, ncclComm_t comm,
                      cudaStream_t stream) {
    MAY_FAIL();
    return to && type == FR_NCCL_FLOAT ? message(comm, stream, n, peer, 0) : INVALID;
}
