#include "calibrate/measure/harness/stop.h"

#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

/* A signal handler has no other way to leave a note. */
static volatile sig_atomic_t requested, wake = -1;

static void note(int signal) {
    const uint64_t one = 1;
    int before = errno;
    (void)signal;
    requested = 1;
    if (wake >= 0 && write(wake, &one, sizeof one) < 0) errno = before;
    errno = before;
}

void fr_stop_listen(int fd) {
    static const int signals[] = {SIGTERM, SIGINT, SIGUSR1};
    struct sigaction action = {.sa_handler = note, .sa_flags = SA_RESTART};
    wake = fd;
    sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
        sigaction(signals[i], &action, NULL);
}

int fr_stop_requested(void) { return requested; }
