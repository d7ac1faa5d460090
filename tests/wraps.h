/** @file
 *  What launchers, clusters, terminals and mails put around lines of text, for tests of readers. */
#ifndef FR_TESTS_WRAPS_H
#define FR_TESTS_WRAPS_H

#include <stdbool.h>
#include <string.h>

#include "base/text.h"

static const struct wrap {
    const char *what, *before, *after;
    bool whole; /* told only by nearly all lines of a file; once */
} wraps[] = {
    {"Open MPI 4", "[1,0]<stdout>:", "", false},
    {"Open MPI 4, stderr", "[1,12]<stderr>:", "", false},
    {"Open MPI 4, time", "Fri Nov 27 04:28:53 2026[1,0]<stdout>:", "", false},
    {"Open MPI 5", "[prterun-node-0-4711@1,0]<stdout>: ", "", false},
    {"Open MPI 5, host", "[prterun-node-0-4711@1,3][node-0:4712]<stdout>: ", "", false},
    {"Open MPI's messages", "[node-0:4711] ", "", false},
    {"SageMaker", "[1,mpirank:0,algo-1]<stdout>:", "", false},
    {"Open MPI, as HTML", "[1,0]&lt;stdout&gt;:", "", false},
    {"Ray", "(NcclActor pid=4711, ip=10.0.0.1) ", "", false},
    {"SkyPilot", "(worker1, rank=1, pid=4711) ", "", false},
    {"a container's file", "2026-05-09T03:57:48.123456789Z stdout F ", "", false},
    {"GitLab", "2026-05-09T03:57:48.123456Z 01O ", "", false},
    {"journald, full", "Sat 2026-05-09 03:57:48 UTC node-0 trainer[4711]: ", "", false},
    {"journald, monotonic", "[   12.345678] node-0 trainer[4711]: ", "", false},
    {"syslog, priority", "<13>May  9 03:57:48 node-0 trainer: ", "", false},
    {"Hydra", "[0] ", "", false},
    {"srun -l", "0: ", "", false},
    {"srun -l of many", "  0: ", "", false},
    {"torchrun", "[rank0]:", "", false},
    {"torchrun --tee", "[default3]:", "", false},
    {"kubectl --prefix", "[pod/launcher-x2x4f/main] ", "", false},
    {"kubectl --timestamps", "2026-05-09T03:57:48.123456789Z ", "", false},
    {"ISO", "2026-05-09T03:57:48+02:00 ", "", false},
    {"logging", "[2026-05-09 03:57:48,161] ", "", false},
    {"ts", "May 09 03:57:48 ", "", false},
    {"ts -s", "00:00:12 ", "", false},
    {"journald", "May  9 03:57:48 node-0 trainer[4711]: ", "", false},
    {"syslog", "May  9 03:57:48 node-0 trainer: ", "", false},
    {"journald, short-iso", "2026-05-09T03:57:48+0200 node-0 trainer[4711]: ", "", false},
    {"dmesg", "[1746763068.123456] ", "", false},
    {"mail", "> ", "", false},
    {"mail of mail", ">> ", "", false},
    {"colour", "\033[1;34m", "\033[0m", false},
    {"colour, reset first", "\033[0m", "", false},
    {"colour, ESC lost", "[1;34m", "[0m", false},
    {"colour, rsyslog", "#033[32m", "#033[0m", false},
    {"erase", "\033[2K\033[1G\033[K", "", false},
    {"title", "\033]0;launcher\007", "", false},
    {"CRLF", "", "\r", false},
    {"terminal's CRLF", "", "\r\r", false},
    {"pdsh", "node-0: ", "", true},
    {"PALS", "x1000c0s0b0n0 0: ", "", true},
    {"docker compose", "launcher-1  | ", "", true},
    {"docker service", "nccl_launcher.1.k2j3h4@node-0    | ", "", true},
    {"stern", "launcher-x2x4f main ", "", true},
};
enum { WRAPS = sizeof wraps / sizeof *wraps };

/* Only one of those that all lines of a file must have. */
static inline bool wraps_fit(const struct wrap *const *wrap, int n) {
    int whole = 0;
    for (int k = 0; k < n; k++) whole += wrap[k]->whole;
    return whole <= 1;
}

/* None of those that all lines of a file must have. */
static inline bool wraps_fit_a_line(const struct wrap *const *wrap, int n) {
    for (int k = 0; k < n; k++)
        if (wrap[k]->whole) return false;
    return true;
}

/* Each line of @p text with what the wraps put around it, the last nearest to the text. */
static inline void wrap_lines(const char *text, const struct wrap *const *wrap, int n,
                              struct fr_text *out) {
    while (*text) {
        size_t length = strcspn(text, "\n");
        for (int k = 0; k < n; k++) fr_text_addf(out, "%s", wrap[k]->before);
        fr_text_add(out, text, length);
        for (int k = n - 1; k >= 0; k--) fr_text_addf(out, "%s", wrap[k]->after);
        if (text[length]) fr_text_add(out, "\n", 1);
        text += length + (text[length] == '\n');
    }
}

#endif
