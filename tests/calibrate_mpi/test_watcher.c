/* A watcher and ranks that are made up: each fault is found within the patience and a second, and is laid to the rank
 * whose it is; without a fault nothing is found. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"
#include "calibrate/measure/watch/thread.h"

enum { RANKS = 4 };
static const double PATIENCE_S = 0.5, BUSY_S = 1, LATE_S = 5, WELL_S = 0.5;

/* Rank 2 does this once it has connected, and leaves this to be found. */
static const struct behaviour {
    const char *name;
    bool silent, closes, all_close, idle, all_idle, never; /* never: it does not connect */
    int point;
    uint32_t flags;
    enum fr_watch_verdict_kind found;
} behaviours[] = {
    {"a healthy job", .point = 1, .found = FR_VERDICT_NONE},
    {"one rank that waits", .idle = true, .point = 1, .found = FR_VERDICT_NONE},
    {"a frozen rank", .silent = true, .point = 1, .found = FR_VERDICT_SILENT},
    {"a frozen rank that has left", .silent = true, .point = FR_WATCH_LEAVES,
     .found = FR_VERDICT_SILENT},
    {"a dead rank", .closes = true, .point = 1, .found = FR_VERDICT_DIED},
    {"one that was told to stop", .closes = true, .point = 1, .flags = FR_WATCH_REPORTED,
     .found = FR_VERDICT_NONE},
    {"one that is done", .closes = true, .point = FR_WATCH_LEAVES, .found = FR_VERDICT_NONE},
    {"no progress", .idle = true, .all_idle = true, .point = 1, .found = FR_VERDICT_STUCK},
    {"no progress of busy ranks", .idle = true, .all_idle = true, .flags = FR_WATCH_BUSY,
     .point = 1, .found = FR_VERDICT_STUCK},
    {"a launcher that does not end", .closes = true, .all_close = true,
     .point = FR_WATCH_LEAVES, .found = FR_VERDICT_LINGERS},
    {"one that does not come", .never = true, .point = FR_WATCH_STARTS,
     .found = FR_VERDICT_MISSING},
    {"a launcher that is stopped", .point = 1, .flags = FR_WATCH_PARENT_STOPS,
     .found = FR_VERDICT_STOPPED},
};

static bool connect_rank(const char *address, int rank, int point, struct fr_wire *wire,
                         uint64_t *token) {
    struct fr_watch_word hello = {
        .rank = rank, .n_ranks = RANKS, .pid = 1000 + rank, .point = point};
    snprintf(hello.host, sizeof hello.host, "host%d", rank);
    if (!fr_wire_connect(address, true, &hello, wire)) return false;
    *token = hello.token;
    return true;
}

static void beat(struct fr_wire *wire, const struct behaviour *b, int rank, int turn,
                 uint64_t token) {
    bool theirs = rank == 2, idle = b->all_idle || (theirs && b->idle);
    struct fr_watch_word word = {.token = token,
                                 .rank = rank,
                                 .n_ranks = RANKS,
                                 .pid = 1000 + rank,
                                 .moves = idle ? 0 : turn,
                                 .point = theirs || b->never || b->all_close ? b->point : 1,
                                 .flags = theirs || b->all_idle ? b->flags : 0};
    snprintf(word.host, sizeof word.host, "host%d", rank);
    if (theirs && b->silent && turn > 1) return;
    fr_wire_say(wire, &word);
    if ((theirs || b->all_close) && b->closes && turn == 2) fr_wire_close(wire);
}

static void let_ring(int signal) { (void)signal; }

static void each_fault_is_found_and_laid_to_its_rank(void **state) {
    (void)state;
    signal(SIGALRM, let_ring);
    for (size_t i = 0; i < sizeof behaviours / sizeof *behaviours; i++) {
        const struct behaviour *b = &behaviours[i];
        const struct fr_watcher_options options = {
            .patience_s = PATIENCE_S, .busy_s = BUSY_S, .n_ranks = RANKS};
        char address[FR_WATCH_ADDRESS_B] = "", sentence[300] = "";
        struct fr_watcher_thread *t = fr_watcher_thread_open(&options, address);
        struct fr_wire wire[RANKS];
        uint64_t token = 0;
        const struct fr_watch_verdict *found = NULL;
        double waits_s = b->flags == FR_WATCH_BUSY ? BUSY_S : PATIENCE_S;
        double limit_s = waits_s + (b->found == FR_VERDICT_NONE ? WELL_S : LATE_S);
        assert_non_null(t);
        fr_watcher_thread_begin(t);
        for (int r = 0; r < RANKS; r++) {
            wire[r] = (struct fr_wire){.fd = -1};
            if (r == 2 && b->never) continue;
            if (!connect_rank(address, r, b->never ? FR_WATCH_STARTS : 1, &wire[r], &token))
                fail_msg("%s: rank %d cannot connect", b->name, r);
        }
        double start_s = fr_now_s();
        for (int turn = 1; !found && fr_now_s() - start_s < limit_s; turn++) {
            for (int r = 0; r < RANKS; r++)
                if (wire[r].fd >= 0) beat(&wire[r], b, r, turn, token);
            usleep(100000);
            found = fr_watcher_thread_verdict(t);
        }
        double took_s = fr_now_s() - start_s;
        enum fr_watch_verdict_kind kind = found ? found->kind : FR_VERDICT_NONE;
        if (found)
            fr_watch_verdict_sentence(found, "has died", "the launcher", sentence,
                                      sizeof sentence);
        if (kind != b->found)
            fail_msg("%s: got %d after %.2f s, wanted %d: %s", b->name, (int)kind, took_s,
                     (int)b->found, sentence);
        if (kind != FR_VERDICT_NONE && kind != FR_VERDICT_DIED && took_s < waits_s)
            fail_msg("%s: found after %.2f s, before its patience of %.2f s", b->name, took_s,
                     waits_s);
        if ((kind == FR_VERDICT_SILENT || kind == FR_VERDICT_DIED) &&
            strncmp(sentence, "rank 2 on host host2 (process 1002) has ", 40) != 0)
            fail_msg("%s: \"%s\"", b->name, sentence);
        if (kind == FR_VERDICT_MISSING && strncmp(sentence, "rank 2 has not begun", 20) != 0)
            fail_msg("%s: \"%s\"", b->name, sentence);
        fr_watcher_thread_end(t);
        fr_watcher_thread_close(t);
        for (int r = 0; r < RANKS; r++) fr_wire_close(&wire[r]);
    }
}

/* A stranger who does not know the token is neither answered nor believed. */
static void strangers_are_not_believed(void **state) {
    (void)state;
    const struct fr_watcher_options options = {
        .patience_s = PATIENCE_S, .busy_s = BUSY_S, .n_ranks = 1};
    char address[FR_WATCH_ADDRESS_B] = "";
    struct fr_watcher_thread *t = fr_watcher_thread_open(&options, address);
    struct fr_wire wire;
    uint64_t token;
    assert_non_null(t);
    fr_watcher_thread_begin(t);
    address[0] = address[0] == '0' ? '1' : '0';
    assert_false(connect_rank(address, 0, 1, &wire, &token));
    assert_false(fr_watcher_thread_seen(t));
    assert_null(fr_watcher_thread_verdict(t));
    fr_watcher_thread_end(t);
    fr_watcher_thread_close(t);
}

/* Two that do not read never wait for each other, and what comes through is whole words. */
static void a_full_connection_blocks_nobody(void **state) {
    (void)state;
    const struct fr_watcher_options options = {.patience_s = 100, .busy_s = 100, .n_ranks = 1};
    char address[FR_WATCH_ADDRESS_B] = "";
    struct fr_watcher_thread *t = fr_watcher_thread_open(&options, address);
    struct fr_wire wire;
    uint64_t token = 0;
    assert_non_null(t);
    fr_watcher_thread_begin(t);
    assert_true(connect_rank(address, 0, 1, &wire, &token));
    fr_watcher_thread_end(t); /* as one that is stopped: it reads no more */
    struct fr_watch_word word = {.token = token, .rank = 0, .n_ranks = 1, .point = 1};
    double start_s = fr_now_s();
    for (int i = 0; i < 100000; i++)
        if (!fr_wire_say(&wire, &word)) fail_msg("the connection is gone after %d words", i);
    assert_true(fr_now_s() - start_s < 20);
    fr_watcher_thread_begin(t);
    assert_null(fr_watcher_thread_verdict(t));
    fr_wire_close(&wire);
    fr_watcher_thread_end(t);
    fr_watcher_thread_close(t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_fault_is_found_and_laid_to_its_rank),
        cmocka_unit_test(strangers_are_not_believed),
        cmocka_unit_test(a_full_connection_blocks_nobody),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
