#include "calibrate/measure/harness/stop.h"

#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include "base/status.h"
#include "calibrate/measure/harness/mpi_try.h"
#include "calibrate/measure/leash.h"

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

static void *look(void *leash) {
    const struct timespec nap = {.tv_nsec = 250000000};
    while (fr_leash_holds(leash)) nanosleep(&nap, NULL);
    _exit(fr_status_exit_code(FR_ERR_PARTIAL));
    return NULL;
}

/* A simulation has one process for all ranks and no threads of ours: the kernel ends it. */
void fr_stop_leash(void) {
    char *leash = getenv(FR_LEASH_VARIABLE);
#ifdef SMPI_H
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    return;
#endif
    pthread_t thread;
    sigset_t all, before;
    if (!leash || !*leash) return;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    if (pthread_create(&thread, NULL, look, leash) == 0) pthread_detach(thread);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}
