#define _GNU_SOURCE
#include "sim/network/simgrid/child.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "base/temporary.h"

extern char **environ;

enum { PATH_MAX_B = 4096 };

struct place {
    char folder[FR_TEMPORARY_PATH_B];
    char platform[FR_TEMPORARY_PATH_B], program[FR_TEMPORARY_PATH_B],
        result[FR_TEMPORARY_PATH_B], said[FR_TEMPORARY_PATH_B];
};

static fr_status find_child(char *path, size_t capacity, struct fr_error *err) {
    char self[PATH_MAX_B];
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    if (length <= 0)
        return fr_fail(err, FR_ERR_EXTERNAL, "/proc/self/exe", "cannot be read: %s",
                       strerror(errno));
    self[length] = '\0';
    char *slash = strrchr(self, '/');
    if (slash) *slash = '\0';
    snprintf(path, capacity, "%s/forerun-simgrid", self);
    if (access(path, X_OK) == 0) return FR_OK;
    return fr_fail(
        err, FR_ERR_EXTERNAL, path,
        "is not there: it is built where SimGrid 3.32 and a C++ compiler are found "
        "(Debian: apt-get install libsimgrid-dev g++), then configure and build again");
}

static fr_status make_place(struct place *p, struct fr_error *err) {
    FR_TRY(fr_temporary_folder("simgrid", p->folder, err));
    fr_temporary_in(p->folder, "platform.xml", p->platform);
    fr_temporary_in(p->folder, "program", p->program);
    fr_temporary_in(p->folder, "result", p->result);
    fr_temporary_in(p->folder, "said", p->said);
    return FR_OK;
}

/* What it wrote to stderr, the last line. */
static fr_status failed(const struct place *p, const char *child, int status,
                        struct fr_error *err) {
    char *said = NULL;
    size_t length = 0;
    const char *last = "";
    if (fr_file_read(p->said, 1 << 20, &said, &length, NULL) == FR_OK) {
        while (length > 0 && said[length - 1] == '\n') said[--length] = '\0';
        char *line = strrchr(said, '\n');
        last = line ? line + 1 : said;
    }
    if (WIFSIGNALED(status))
        fr_fail(err, FR_ERR_EXTERNAL, child, "was ended by signal %d: %s", WTERMSIG(status),
                last);
    else
        fr_fail(err, FR_ERR_EXTERNAL, child, "failed with exit code %d: %s",
                WEXITSTATUS(status), last);
    free(said);
    return FR_ERR_EXTERNAL;
}

static fr_status start_and_wait(const struct place *p, const char *child,
                                struct fr_error *err) {
    const char *const words[] = {child, p->platform, p->program, p->result, NULL};
    posix_spawn_file_actions_t actions;
    pid_t pid;
    int status = 0;
    if (posix_spawn_file_actions_init(&actions) != 0)
        return fr_fail(err, FR_ERR_NOMEM, NULL, "out of memory");
    int code = posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
    if (code == 0)
        code = posix_spawn_file_actions_addopen(&actions, 2, p->said,
                                                O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (code == 0)
        code =
            posix_spawn(&pid, child, &actions, NULL, (char *const *)(uintptr_t)words, environ);
    posix_spawn_file_actions_destroy(&actions);
    if (code != 0)
        return fr_fail(err, FR_ERR_EXTERNAL, child, "cannot be started: %s", strerror(code));
    fr_temporary_child(pid);
    pid_t ended;
    while ((ended = waitpid(pid, &status, 0)) < 0 && errno == EINTR) continue;
    fr_temporary_child(0);
    if (ended < 0)
        return fr_fail(err, FR_ERR_EXTERNAL, child, "cannot be waited for: %s",
                       strerror(errno));
    return status == 0 ? FR_OK : failed(p, child, status, err);
}

fr_status fr_simgrid_run(const struct fr_text *platform, const struct fr_text *program,
                         char **result, struct fr_error *err) {
    struct place place;
    char child[PATH_MAX_B + 32];
    size_t length = 0;
    if (platform->failed || program->failed)
        return fr_fail(err, FR_ERR_NOMEM, NULL, "the program does not fit in memory");
    FR_TRY(find_child(child, sizeof child, err));
    FR_TRY(make_place(&place, err));
    fr_status status =
        fr_temporary_write(place.platform, fr_text_get(platform), platform->length, err);
    if (status == FR_OK)
        status = fr_temporary_write(place.program, fr_text_get(program), program->length, err);
    if (status == FR_OK) status = start_and_wait(&place, child, err);
    if (status == FR_OK)
        status = fr_file_read(place.result, (size_t)4 << 30, result, &length, err);
    fr_temporary_remove_folder(place.folder);
    return status;
}
