#include "app/ranks/ranks.h"

#include <inttypes.h>
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "app/spread.h"
#include "app/verb.h"
#include "base/alloc.h"
#include "base/parallel.h"
#include "calibrate/measure/harness/memory.h"
#include "calibrate/measure/harness/mpi_try.h"
#include "calibrate/measure/harness/stop.h"
#include "calibrate/measure/harness/watch.h"

static const char standard_checkpoint[] = "forerun-search.checkpoint";
enum { LINE = 1, NUMBER = 2 };

/* ---- all ranks meet ------------------------------------------------------------------------- */

static bool met; /* of the process: main asks once the search is over */

/* Does every rank search what rank 0 searches?  @p print is 0 on a rank that could not read
 * its inputs. */
static fr_status meet(uint64_t print, bool *agreed, struct fr_error *err) {
    uint64_t first = print;
    met = true;
    FR_MPI_TRY(MPI_Bcast(&first, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD));
    int same = print != 0 && print == first, all = 0;
    FR_MPI_TRY(MPI_Allreduce(&same, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD));
    *agreed = all;
    return FR_OK;
}

/* Ranks that share memory share the processors. */
static fr_status share_of_processors(int asked, int *threads, struct fr_error *err) {
    MPI_Comm node;
    int ranks = 1;
    FR_MPI_TRY(
        MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node));
    FR_MPI_TRY(MPI_Comm_size(node, &ranks));
    FR_MPI_TRY(MPI_Comm_free(&node));
    *threads = asked ? asked : fr_processors() / ranks;
    if (*threads < 1) *threads = 1;
    return FR_OK;
}

/* ---- every other rank ----------------------------------------------------------------------- */

static fr_status serve(struct fr_spread_work *work, struct fr_error *err) {
    struct fr_text line = {0};
    fr_status status = FR_OK;
    while (status == FR_OK) {
        int64_t number = -1;
        MPI_Request request;
        FR_MPI_TRY(
            MPI_Send(fr_text_get(&line), (int)line.length, MPI_CHAR, 0, LINE, MPI_COMM_WORLD));
        fr_text_free(&line);
        fr_watch_move();
        FR_MPI_TRY(MPI_Irecv(&number, 1, MPI_INT64_T, 0, NUMBER, MPI_COMM_WORLD, &request));
        FR_TRY(fr_mpi_wait_asleep(&request, err));
        if (number < 0) break;
        status = fr_blocks_search(&work->blocks, number, work->threads, &line, err);
    }
    return status;
}

/* ---- rank 0 --------------------------------------------------------------------------------- */

/* Data that rank 0's two threads share: blocks that are given to someone, and lines of its
 * own. */
struct desk {
    struct fr_spread_work *work;
    pthread_mutex_t lock;
    bool *given; /* [blocks.n] */
    int64_t next;
    char *line; /* of the last block done here, until it is taken over */
    bool working, failed;
    struct fr_error err;
};

/* The next block that nobody has, or -1. */
static int64_t give(struct desk *d) {
    const struct fr_blocks *b = &d->work->blocks;
    while (d->next < b->n && (d->given[d->next] || b->block[d->next].done)) d->next++;
    if (d->next == b->n || fr_stop_requested()) return -1;
    d->given[d->next] = true;
    return d->next++;
}

static void nap(void) {
    const struct timespec pause = {.tv_nsec = 300000};
    nanosleep(&pause, NULL);
}

/* Leaves its line and waits until it is taken. @return false when there is nothing more to do */
static bool leave(struct desk *d, char *line) {
    for (bool left = false; !left; nap()) {
        pthread_mutex_lock(&d->lock);
        left = d->line == NULL;
        if (left) d->line = line;
        pthread_mutex_unlock(&d->lock);
    }
    return true;
}

static void *own_share(void *context) {
    struct desk *d = context;
    for (;;) {
        struct fr_text line = {0};
        pthread_mutex_lock(&d->lock);
        int64_t number = give(d);
        pthread_mutex_unlock(&d->lock);
        if (number < 0) break;
        if (fr_blocks_search(&d->work->blocks, number, d->work->threads, &line, &d->err) !=
            FR_OK) {
            fr_text_free(&line);
            d->failed = true;
            break;
        }
        leave(d, line.data);
    }
    pthread_mutex_lock(&d->lock);
    d->working = false;
    pthread_mutex_unlock(&d->lock);
    return NULL;
}

/* A line done here, or NULL; @p working: may there be more? */
static char *own_line(struct desk *d, bool *working) {
    pthread_mutex_lock(&d->lock);
    char *line = d->line;
    d->line = NULL;
    *working = d->working || line;
    pthread_mutex_unlock(&d->lock);
    return line;
}

/* Somebody's block, and the next for them; -1 sends them home. */
static fr_status answer(struct desk *d, const MPI_Status *from, int *left,
                        struct fr_error *err) {
    int length = 0;
    FR_MPI_TRY(MPI_Get_count(from, MPI_CHAR, &length));
    char *line = fr_calloc((size_t)length + 1, 1);
    if (!line) return fr_fail(err, FR_ERR_NOMEM, NULL, "out of memory");
    int code = MPI_Recv(line, length, MPI_CHAR, from->MPI_SOURCE, LINE, MPI_COMM_WORLD,
                        MPI_STATUS_IGNORE);
    fr_status status = code == MPI_SUCCESS ? FR_OK : fr_mpi_failed(code, "MPI_Recv", err);
    pthread_mutex_lock(&d->lock);
    if (status == FR_OK && length > 0) status = fr_spread_done(d->work, line, err);
    int64_t number = status == FR_OK ? give(d) : -1;
    pthread_mutex_unlock(&d->lock);
    free(line);
    if (status != FR_OK) return status;
    *left += number < 0;
    FR_MPI_TRY(MPI_Send(&number, 1, MPI_INT64_T, from->MPI_SOURCE, NUMBER, MPI_COMM_WORLD));
    return FR_OK;
}

/* Until all others have gone home and this rank's own thread is done. */
static fr_status lead(struct desk *d, int n_ranks, struct fr_error *err) {
    bool working = true;
    for (int left = 0; left < n_ranks - 1 || working;) {
        int waiting = 0;
        MPI_Status from;
        char *line = own_line(d, &working);
        if (line) {
            pthread_mutex_lock(&d->lock);
            fr_status status = fr_spread_done(d->work, line, err);
            pthread_mutex_unlock(&d->lock);
            free(line);
            FR_TRY(status);
        }
        FR_MPI_TRY(MPI_Iprobe(MPI_ANY_SOURCE, LINE, MPI_COMM_WORLD, &waiting, &from));
        if (waiting) FR_TRY(answer(d, &from, &left, err));
        if (waiting || line)
            fr_watch_move();
        else
            nap();
    }
    return d->failed ? (*err = d->err, d->err.status) : FR_OK;
}

static fr_status hand_round(struct fr_spread_work *work, int n_ranks, struct fr_error *err) {
    struct desk d = {.work = work, .working = true};
    pthread_t thread;
    d.given = fr_calloc((size_t)work->blocks.n + 1, sizeof *d.given);
    if (!d.given) return fr_fail(err, FR_ERR_NOMEM, NULL, "out of memory");
    pthread_mutex_init(&d.lock, NULL);
    fr_status status = pthread_create(&thread, NULL, own_share, &d) == 0
                           ? lead(&d, n_ranks, err)
                           : fr_fail(err, FR_ERR_NOMEM, NULL, "no thread can be started");
    if (status != FR_OK) fr_watch_farewell(fr_status_exit_code(status));
    if (status != FR_OK) MPI_Abort(MPI_COMM_WORLD, fr_status_exit_code(status));
    pthread_join(thread, NULL);
    pthread_mutex_destroy(&d.lock);
    free(d.given);
    if (work->blocks.n_done == work->blocks.n) return FR_OK;
    return fr_fail(err, FR_ERR_PARTIAL, work->spread->checkpoint,
                   "was stopped; it holds %" PRId64 " of %" PRId64 " blocks, and --resume goes "
                   "on from there",
                   work->blocks.n_done, work->blocks.n);
}

/* ---- who speaks ------------------------------------------------------------------------------ */

/* Only rank 0 speaks: the others' messages about the inputs would be the same.  Their watch
 * still reports its findings. */
static bool be_quiet(int rank) {
    return rank == 0 ||
           (freopen("/dev/null", "w", stdout) && freopen("/dev/null", "w", stderr));
}

/* ---- the job -------------------------------------------------------------------------------- */

static fr_status hand_out(struct fr_spread_work *work, struct fr_error *err) {
    int rank = 0, n_ranks = 1;
    bool agreed = false;
    FR_MPI_TRY(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    FR_MPI_TRY(MPI_Comm_size(MPI_COMM_WORLD, &n_ranks));
    FR_TRY(meet(work->print, &agreed, err));
    if (!agreed)
        return fr_fail(
            err, FR_ERR_INPUT, NULL,
            "not every rank reads what rank 0 reads; inputs must be there on every host");
    FR_TRY(share_of_processors(work->threads, &work->threads, err));
    double patience_s = work->spread->patience_s > 0 ? work->spread->patience_s : FR_PATIENCE_S;
    FR_TRY(fr_watch_open(work->spread->checkpoint, patience_s, FR_PATIENCE_BUSY * patience_s,
                         err));
    fr_status status = rank == 0 ? hand_round(work, n_ranks, err) : serve(work, err);
    return status == FR_OK && rank != 0 ? FR_ERR_PARTIAL : status; /* rank 0 has the result */
}

int fr_ranks_search(int argc, char **argv) {
    int given = 0, rank = 0;
    bool agreed = false;
    struct fr_error err = {0};
    fr_watch_begin(argc, argv, FR_STOP_GRACE_S);
    if (MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &given) != MPI_SUCCESS) return 1;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    const struct fr_spread spread = {.checkpoint = standard_checkpoint,
                                     .passing = true,
                                     .reads = rank == 0,
                                     .hand_out = hand_out};
    fr_app_search_everywhere(&spread);
    int code = be_quiet(rank) ? fr_app_main(argc, argv) : 1;
    if (!met) meet(0, &agreed, &err); /* it did not come so far */
    fr_watch_leave();
    MPI_Finalize();
    return rank == 0 ? code : 0;
}
