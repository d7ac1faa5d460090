#include "base/isolated.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "base/file/put.h"
#include "base/process.h"

enum { PATIENCE_S = 60 };

static bool put(int fd, const void *data, size_t length) {
    return fr_put_all(fd, data, length) == length;
}

struct ours {
    fr_isolated_work *work;
    void *context;
};

/* An error, then the text, on standard output, which is kept from what the library may print.
 * Nothing of the parent's is flushed or freed. */
static void work_in_child(void *context) {
    const struct ours *ours = context;
    struct fr_text text = {0};
    struct fr_error err = {.status = FR_OK};
    int answer = dup(STDOUT_FILENO);
    if (answer < 0 || dup2(STDERR_FILENO, STDOUT_FILENO) < 0) _exit(1);
    err.status = ours->work(ours->context, &text, &err);
    if (text.failed) err.status = FR_ERR_NOMEM;
    bool stated = put(answer, &err, sizeof err) && put(answer, fr_text_get(&text), text.length);
    _exit(stated ? 0 : 1);
}

static fr_status take(const struct fr_text *answer, const struct fr_ended *ended,
                      const char *reader, const char *where, struct fr_text *text,
                      struct fr_error *err) {
    struct fr_error stated;
    char words[FR_ENDED_B];
    if (answer->failed) return fr_fail(err, FR_ERR_NOMEM, where, "out of memory");
    if (ended->late)
        return fr_fail(err, FR_ERR_INPUT, where, "keeps %s busy for more than %d s", reader,
                       PATIENCE_S);
    if (ended->signal)
        return fr_fail(err, FR_ERR_INPUT, where, "is damaged: %s, reading it, %s", reader,
                       fr_ended_words(ended, words));
    if (ended->code != 0 || answer->length < sizeof stated)
        return fr_fail(err, FR_ERR_EXTERNAL, where, "was not read: %s %s", reader,
                       fr_ended_words(ended, words));
    memcpy(&stated, answer->data, sizeof stated);
    if (stated.status != FR_OK && err) *err = stated;
    if (stated.status == FR_OK)
        fr_text_add(text, answer->data + sizeof stated, answer->length - sizeof stated);
    return stated.status;
}

fr_status fr_isolated(fr_isolated_work *work, void *context, const char *reader,
                      const char *where, struct fr_text *text, struct fr_error *err) {
    const char *const words[] = {reader, NULL};
    struct ours ours = {work, context};
    struct fr_text answer = {0};
    struct fr_ended ended;
    const struct fr_process child = {.words = words,
                                     .out.text = &answer,
                                     .err.inherited = true,
                                     .text_B = SIZE_MAX,
                                     .limit_s = PATIENCE_S,
                                     .body = work_in_child,
                                     .context = &ours};
    fr_status status = fr_process_run(&child, &ended, err);
    if (status == FR_OK) status = take(&answer, &ended, reader, where, text, err);
    fr_text_free(&answer);
    return status;
}
