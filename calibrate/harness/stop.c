#include "calibrate/harness/stop.h"

#include <signal.h>
#include <stddef.h>

/* A signal handler has no other way to leave a note. */
static volatile sig_atomic_t requested;

static void note(int signal) {
    (void)signal;
    requested = 1;
}

void fr_stop_listen(void) {
    static const int signals[] = {SIGTERM, SIGINT, SIGUSR1};
    struct sigaction action = {.sa_handler = note, .sa_flags = SA_RESTART};
    sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
        sigaction(signals[i], &action, NULL);
}

int fr_stop_requested(void) { return requested; }
