/** @file
 *  Words between the ranks of a job and whoever watches them, over TCP.
 *
 *  A rank says four times a second who it is and how far it has come; the watcher (watcher.h) answers the first
 *  word, so that the rank knows that it was found.  Nothing here waits for the other side, which may be stopped. */
#ifndef FR_CALIBRATE_MEASURE_WATCH_WIRE_H
#define FR_CALIBRATE_MEASURE_WATCH_WIRE_H

#include <stdbool.h>
#include <stdint.h>

#include "calibrate/measure/leash.h"

/** Without a sign of life, or without progress, a job is given up after so long, unless --patience says else. */
#define FR_PATIENCE_S 30.0
#define FR_PATIENCE_TEXT "30 s"
/** Times the patience, how long a job may use cores without progress: a step of a large model takes long. */
#define FR_PATIENCE_BUSY 30.0

/** The same of a calibration, whose points take a second at the most: twice the patience, and a minute at least for
 *  what it prepares. */
static inline double fr_patience_points_s(double patience_s) {
    return patience_s > 30 ? 2 * patience_s : 60;
}

/** The environment variable that tells ranks of the watcher of the program that started the job: its address. */
#define FR_WATCH_VARIABLE "FORERUN_WATCH"

enum { FR_WATCH_BEAT_MS = 250, FR_WATCH_HOST_B = 64, FR_WATCH_ADDRESS_B = 256 };

/** Where a rank is, beside the number of what it measures. */
enum {
    FR_WATCH_BETWEEN = -1,  /**< in the meeting of all ranks */
    FR_WATCH_GIVES_UP = -2, /**< it has said why, and ends */
    FR_WATCH_STARTS = -3,   /**< MPI is not up yet */
    FR_WATCH_LEAVES = -4    /**< it is done: an ended connection is no death */
};

/** What else a rank says. */
enum {
    FR_WATCH_BUSY = 1,         /**< it used a core since its last word */
    FR_WATCH_REPORTED = 2,     /**< it was asked to stop, or lost its launcher */
    FR_WATCH_PARENT_STOPS = 4, /**< its launcher is stopped (SIGSTOP) */
    FR_WATCH_ELSEWHERE = 8     /**< not all ranks reach this watcher: rank 0 watches instead */
};

struct fr_watch_word {
    uint64_t token;
    int64_t moves;         /**< places it has been at; of one that gives up its exit code */
    int32_t rank, n_ranks; /**< -1: not known yet */
    int32_t pid, point;
    uint32_t flags, zero;
    char host[FR_WATCH_HOST_B];
    char
        leash[FR_LEASH_B]; /**< the rank itself, so that it can be found where it can be seen */
};

/** One end of a connection; fd -1: none. */
struct fr_wire {
    int fd;
    uint32_t left, got; /**< bytes of `out` that are not sent yet; of `in` that have come */
    struct fr_watch_word out, in;
};

/** Say @p word, unless the other side has not taken the last one yet.  @return false when the connection is gone */
bool fr_wire_say(struct fr_wire *wire, const struct fr_watch_word *word);

/** @return 1: a word has come; 0: none yet; -1: the connection is gone */
int fr_wire_hear(struct fr_wire *wire, struct fr_watch_word *word);

void fr_wire_close(struct fr_wire *wire);

/** Listen on all interfaces.  @param[out] address  for fr_wire_connect: token, port, and the addresses of this host
 *  @return the socket; -1, errno set, where there is none */
int fr_wire_listen(char address[FR_WATCH_ADDRESS_B], uint64_t *token, int backlog);

/** Connect to @p address with @p hello, whose token is set, and wait for the answer, 2 s for each of its addresses;
 *  @p here: first through the loopback.  @return false: nobody answers */
bool fr_wire_connect(const char *address, bool here, struct fr_watch_word *hello,
                     struct fr_wire *wire);

#endif
