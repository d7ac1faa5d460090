#include "sim/network/simgrid/child.h"

#include <string.h>

#include "base/file.h"
#include "base/process.h"
#include "base/temporary.h"

struct place {
    char folder[FR_TEMPORARY_PATH_B];
    char platform[FR_TEMPORARY_PATH_B], program[FR_TEMPORARY_PATH_B],
        result[FR_TEMPORARY_PATH_B];
};

static fr_status find_child(char path[FR_PROCESS_PATH_B], struct fr_error *err) {
    if (fr_process_beside("forerun-simgrid", path)) return FR_OK;
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
    return FR_OK;
}

/* A failure is reported with the last line that it wrote to stderr. */
static fr_status start_and_wait(const struct place *p, const char *child,
                                struct fr_error *err) {
    const char *const words[] = {child, p->platform, p->program, p->result, NULL};
    struct fr_text message = {0};
    struct fr_ended ended;
    const struct fr_process simulator = {.words = words, .err.text = &message};
    char how[FR_ENDED_B];
    fr_status status = fr_process_run(&simulator, &ended, err);
    if (status == FR_OK && ended.code != 0) {
        while (message.length > 0 && message.data[message.length - 1] == '\n')
            message.data[--message.length] = '\0';
        const char *all = fr_text_get(&message), *line = strrchr(all, '\n');
        status = fr_fail(err, FR_ERR_EXTERNAL, child, "%s: %s", fr_ended_words(&ended, how),
                         line ? line + 1 : all);
    }
    fr_text_free(&message);
    return status;
}

fr_status fr_simgrid_run(const struct fr_text *platform, const struct fr_text *program,
                         char **result, struct fr_error *err) {
    struct place place;
    char child[FR_PROCESS_PATH_B];
    size_t length = 0;
    if (platform->failed || program->failed)
        return fr_fail(err, FR_ERR_NOMEM, NULL, "the program does not fit in memory");
    FR_TRY(find_child(child, err));
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
