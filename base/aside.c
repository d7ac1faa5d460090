#include "base/aside.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/temporary.h"

enum { PATIENCE_S = 60 };

static bool put(int fd, const void *data, size_t length) {
    for (const char *at = data; length > 0;) {
        ssize_t done = write(fd, at, length);
        if (done < 0 && errno == EINTR) continue;
        if (done <= 0) return false;
        at += done;
        length -= (size_t)done;
    }
    return true;
}

/* An error, then the text.  Nothing of the parent's is flushed or freed. */
static void work_in_child(fr_aside_work *work, void *context, int fd) {
    static const int dying[] = {SIGINT, SIGTERM, SIGHUP, SIGSEGV, SIGBUS, SIGFPE, SIGABRT};
    struct fr_text text = {0};
    struct fr_error err = {.status = FR_OK};
    for (size_t i = 0; i < sizeof dying / sizeof *dying; i++) signal(dying[i], SIG_DFL);
    alarm(PATIENCE_S);
    err.status = work(context, &text, &err);
    if (text.failed) err.status = FR_ERR_NOMEM;
    bool told = put(fd, &err, sizeof err) && put(fd, fr_text_get(&text), text.length);
    _exit(told ? 0 : 1);
}

static void listen_to(int fd, struct fr_text *answer) {
    char block[65536];
    for (;;) {
        ssize_t got = read(fd, block, sizeof block);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return;
        fr_text_add(answer, block, (size_t)got);
    }
}

static fr_status take(const struct fr_text *answer, int how, const char *reader,
                      const char *where, struct fr_text *text, struct fr_error *err) {
    struct fr_error told;
    if (answer->failed) return fr_fail(err, FR_ERR_NOMEM, where, "out of memory");
    if (WIFSIGNALED(how) && WTERMSIG(how) == SIGALRM)
        return fr_fail(err, FR_ERR_INPUT, where, "keeps %s busy for more than %d s", reader,
                       PATIENCE_S);
    if (WIFSIGNALED(how))
        return fr_fail(err, FR_ERR_INPUT, where,
                       "is damaged: %s does not survive reading it (signal %d)", reader,
                       WTERMSIG(how));
    if (WEXITSTATUS(how) != 0 || answer->length < sizeof told)
        return fr_fail(err, FR_ERR_EXTERNAL, where, "was not read: %s ended with code %d",
                       reader, WEXITSTATUS(how));
    memcpy(&told, answer->data, sizeof told);
    if (told.status != FR_OK && err) *err = told;
    if (told.status == FR_OK)
        fr_text_add(text, answer->data + sizeof told, answer->length - sizeof told);
    return told.status;
}

fr_status fr_aside(fr_aside_work *work, void *context, const char *reader, const char *where,
                   struct fr_text *text, struct fr_error *err) {
    struct fr_text answer = {0};
    int ends[2], how = 0;
    if (pipe(ends) != 0)
        return fr_fail(err, FR_ERR_EXTERNAL, where, "cannot be read: %s", strerror(errno));
    pid_t child = fork();
    if (child == 0) {
        close(ends[0]);
        work_in_child(work, context, ends[1]);
    }
    int why = errno;
    close(ends[1]);
    if (child > 0) {
        fr_temporary_child(child);
        listen_to(ends[0], &answer);
        while (waitpid(child, &how, 0) < 0 && errno == EINTR) continue;
        fr_temporary_child(0);
    }
    close(ends[0]);
    fr_status status = child < 0 ? fr_fail(err, FR_ERR_EXTERNAL, where,
                                           "cannot be read aside: %s", strerror(why))
                                 : take(&answer, how, reader, where, text, err);
    fr_text_free(&answer);
    return status;
}
