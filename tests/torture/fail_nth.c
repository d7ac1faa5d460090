/* Preloaded: the FR_FAIL_NTH-th allocation of the process fails (and, with FR_FAIL_ON=1, every one
 * after it); 0 fails none.  FR_FAIL_COUNT names a file that gets the number of allocations made.  Programs
 * that the process starts are left alone.
 *
 * With FR_FAIL_SERVE=TELL,HEAR, two file descriptors, the process goes through its allocations once, and
 * at each, from the FR_FAIL_NTH-th on, it forks: the child's fails, the parent waits for the child, tells
 * {allocation, wait status} and waits for an answer of one byte, whereupon nobody remembers the child.  So
 * the n-th costs what comes after it and not all before.  It ends its service, telling {allocation, -1}
 * of the first that it does not serve, where a child would share more than memory: once something was
 * printed, a file was made or removed beside it or in TMPDIR, or a thread or program was started.
 *
 * glibc only: its own names of the functions stand behind ours. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *block, size_t size);
void *__libc_memalign(size_t step, size_t size);

enum { CHILD_S = 60 };

static atomic_long made, nth = -1;
static bool all_after, serving, inside;
static char count_path[512];
static int tell = -1, hear = -1;
static struct timespec changed[2]; /* the folder, and that of temporary files */

/* ---- service --------------------------------------------------------------------------------- */

static void folders(struct timespec at[2]) {
    const char *tmp = getenv("TMPDIR");
    struct stat s = {0};
    stat(".", &s);
    at[0] = s.st_mtim;
    stat(tmp ? tmp : "/tmp", &s);
    at[1] = s.st_mtim;
}

static bool alone(void) {
    struct timespec now[2];
    folders(now);
    return lseek(STDOUT_FILENO, 0, SEEK_CUR) == 0 && lseek(STDERR_FILENO, 0, SEEK_CUR) == 0 &&
           memcmp(now, changed, sizeof now) == 0;
}

static void say(long allocation, int status) {
    const long words[2] = {allocation, status};
    char answer = 0;
    if (write(tell, words, sizeof words) != sizeof words || read(hear, &answer, 1) != 1)
        _exit(125);
}

static void end_service(void) {
    if (!serving) return;
    serving = false;
    inside = true;
    say(atomic_load(&made), -1);
    inside = false;
    nth = 0;
}

/* True in the child whose allocation fails. */
static bool serve(long allocation) {
    if (!alone()) {
        end_service();
        return false;
    }
    int status = 0;
    pid_t child = fork();
    if (child == 0) {
        serving = false;
        *count_path = '\0';
        atomic_store(&nth, allocation);
        alarm(CHILD_S);
        return true;
    }
    if (child < 0 || waitpid(child, &status, 0) != child) _exit(125);
    say(allocation, status);
    folders(changed);
    return false;
}

/* Who starts a thread, or another program, is no longer one process: it is not served from there on. */
int pthread_create(pthread_t *thread, const pthread_attr_t *how, void *(*run)(void *),
                   void *with) {
    end_service();
    int (*real)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
    *(void **)&real = dlsym(RTLD_NEXT, "pthread_create");
    return real(thread, how, run, with);
}

int pipe2(int fd[2], int flags) {
    end_service();
    int (*real)(int[2], int);
    *(void **)&real = dlsym(RTLD_NEXT, "pipe2");
    return real(fd, flags);
}

int pipe(int fd[2]) { return pipe2(fd, 0); }

/* ---- failing --------------------------------------------------------------------------------- */

/* Allocations before main count too, so the settings are read at the first. */
static void resolve(void) {
    const char *word = getenv("FR_FAIL_NTH"), *path = getenv("FR_FAIL_COUNT"),
               *serves = getenv("FR_FAIL_SERVE");
    all_after = getenv("FR_FAIL_ON") != NULL;
    if (path) snprintf(count_path, sizeof count_path, "%s", path);
    serving = serves && sscanf(serves, "%d,%d", &tell, &hear) == 2;
    if (serving) folders(changed);
    nth = word ? atol(word) : 0;
}

static bool fails(void) {
    if (nth < 0) resolve();
    if (inside) return false;
    long now = atomic_fetch_add(&made, 1) + 1;
    if (serving) {
        if (now < nth) return false;
        inside = true;
        bool child = serve(now);
        inside = false;
        if (!child) return false;
    } else if (nth == 0 || now < nth || (now > nth && !all_after))
        return false;
    errno = ENOMEM;
    return true;
}

void *malloc(size_t size) { return fails() ? NULL : __libc_malloc(size); }
void *calloc(size_t n, size_t size) { return fails() ? NULL : __libc_calloc(n, size); }
void *realloc(void *block, size_t size) { return fails() ? NULL : __libc_realloc(block, size); }
void *aligned_alloc(size_t step, size_t size) {
    return fails() ? NULL : __libc_memalign(step, size);
}
int posix_memalign(void **block, size_t step, size_t size) {
    void *made_here = fails() ? NULL : __libc_memalign(step, size);
    if (made_here) *block = made_here;
    return made_here ? 0 : ENOMEM;
}

__attribute__((constructor)) static void begin(void) {
    if (nth < 0) resolve();
    unsetenv("LD_PRELOAD");
    unsetenv("FR_FAIL_SERVE");
}

__attribute__((destructor)) static void finish(void) {
    long in_all = made;
    nth = 0; /* what follows is ours */
    FILE *file = *count_path ? fopen(count_path, "w") : NULL;
    if (!file) return;
    fprintf(file, "%ld\n", in_all);
    fclose(file);
}
