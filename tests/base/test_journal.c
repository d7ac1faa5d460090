/* A journal that somebody changed: every line that is read is one that was written, or nothing is.  Writing keeps whole
 * lines whatever the disk says, and says what it says. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "base/journal/journal.h"
#include "tests/cmocka.h"

static char path[] = "/tmp/forerun-journal-XXXXXX";

static const char *const lines[] = {
    "{\"kind\": \"provenance\", \"schema\": \"forerun/runs/1\", \"version\": \"1\"}\n",
    "{\"kind\": \"run\", \"id\": 0, \"time_s\": [0.001, 2e-05]}\n",
    "{\"kind\": \"run\", \"id\": 1, \"time_s\": [0.002]}\n", "{\"kind\": \"end\"}\n"};
enum { LINES = sizeof lines / sizeof *lines };
static const uint64_t question = 0x0123456789abcdef;

static int n_known;
static char last_place[200];

static void count(const char *place, const char *why) {
    assert_true(*why);
    snprintf(last_place, sizeof last_place, "%s", place);
    n_known++;
}

static char *clean_text(void) {
    struct fr_text text = {0};
    for (int i = 0; i < LINES; i++) fr_text_add(&text, lines[i], strlen(lines[i]));
    return text.data;
}

static char *sealed(size_t *length) {
    char *clean = clean_text(), *data = NULL;
    assert_int_equal(fr_journal_write(path, clean, strlen(clean), question, NULL), FR_OK);
    free(clean);
    assert_int_equal(fr_file_read(path, 1 << 20, &data, length, NULL), FR_OK);
    return data;
}

/* @return whether the header was refused */
static bool check(const char *data, size_t length, struct fr_journal *journal) {
    struct fr_error err = {.status = FR_OK};
    char *copy = malloc(length + 1);
    memcpy(copy, data, length);
    copy[length] = '\0';
    n_known = 0;
    if (fr_journal_check(copy, length, "f", journal, &err) == FR_OK) return false;
    assert_int_equal(err.status, FR_ERR_INPUT);
    if (!strstr(err.where, "f: line")) fail_msg("%s: %s", err.where, err.detail);
    return true;
}

static fr_status check_first(const struct fr_journal_line *line, void *context,
                             struct fr_error *err) {
    (void)context;
    return line->number == 1 ? fr_journal_schema(line->root, "forerun/runs/1", err) : FR_OK;
}

/* Lines that are left are lines that were written, none of them twice; missing ones were reported. */
static void holds_only_what_was_written(const char *data, size_t length, const char *what) {
    struct fr_journal journal;
    int seen[LINES] = {0}, n = 0;
    if (check(data, length, &journal)) {
        fr_journal_free(&journal);
        return;
    }
    fr_status status =
        fr_journal_each(journal.text, journal.length, "f", check_first, NULL, NULL);
    if (status != FR_OK) { /* no reader takes it */
        fr_journal_free(&journal);
        return;
    }
    if (!journal.sealed) fail_msg("%s: a header without digest was believed", what);
    for (char *at = journal.text, *end; (end = strchr(at, '\n')); at = end + 1) {
        int i = 0;
        if (end == at) continue;
        while (i < LINES && strncmp(at, lines[i], strlen(lines[i])) != 0) i++;
        if (i == LINES) fail_msg("%s: \"%.*s\" was not written", what, (int)(end - at), at);
        if (seen[i]++) fail_msg("%s: line %d twice", what, i);
        n++;
    }
    if (memchr(journal.text, 0, journal.length)) fail_msg("%s: text ends early", what);
    if (n + n_known < LINES && n_known == 0 && length >= strlen(data))
        assert_true(strstr(what, "deleted") != NULL || strstr(what, "cut") != NULL);
    fr_journal_free(&journal);
}

static void a_whole_one_is_read_as_written(void **state) {
    struct fr_journal journal;
    size_t length = 0;
    char *data = sealed(&length), *clean = clean_text();
    (void)state;
    assert_false(check(data, length, &journal));
    assert_string_equal(journal.text, clean);
    assert_true(journal.sealed && journal.question == question && journal.n_dropped == 0);
    assert_int_equal(n_known, 0);
    fr_journal_free(&journal);
    free(data);
    free(clean);
}

static void every_byte_every_value(void **state) {
    size_t length = 0;
    char *data = sealed(&length), what[80];
    (void)state;
    for (size_t i = 0; i < length; i++) {
        char was = data[i];
        for (int value = 0; value < 256; value++) {
            if ((char)value == was) continue;
            data[i] = (char)value;
            snprintf(what, sizeof what, "byte %zu := %d", i, value);
            holds_only_what_was_written(data, length, what);
        }
        data[i] = was;
    }
    free(data);
}

static void cut_deleted_inserted(void **state) {
    size_t length = 0;
    char *data = sealed(&length), *copy = malloc(length + 2), what[80];
    (void)state;
    for (size_t i = 0; i <= length; i++) {
        snprintf(what, sizeof what, "cut at %zu", i);
        if (i > 0) holds_only_what_was_written(data, i, what);
        memcpy(copy, data, i);
        for (int k = 0; k < 4; k++) {
            copy[i] = "\n}\"\0"[k];
            memcpy(copy + i + 1, data + i, length - i);
            snprintf(what, sizeof what, "%d inserted at %zu", copy[i], i);
            holds_only_what_was_written(copy, length + 1, what);
        }
        if (i == length) break;
        memcpy(copy + i, data + i + 1, length - i - 1);
        snprintf(what, sizeof what, "%zu deleted", i);
        holds_only_what_was_written(copy, length - 1, what);
    }
    free(copy);
    free(data);
}

/* Lines twice, missing and in another order. */
static void lines_twice_missing_swapped(void **state) {
    size_t length = 0;
    char *data = sealed(&length), *at[LINES + 1] = {data};
    (void)state;
    for (int i = 0; i < LINES; i++) at[i + 1] = strchr(at[i], '\n') + 1;
    for (int a = 0; a < LINES; a++)
        for (int b = 0; b < LINES; b++) {
            struct fr_text text = {0};
            char what[80];
            for (int i = 0; i < LINES; i++) {
                int line = i == a ? b : i;
                fr_text_add(&text, at[line], (size_t)(at[line + 1] - at[line]));
            }
            snprintf(what, sizeof what, "line %d in place of %d, deleted", b, a);
            holds_only_what_was_written(text.data, text.length, what);
            fr_text_free(&text);
        }
    /* One that stands there twice is told. */
    struct fr_text text = {0};
    struct fr_journal journal;
    fr_text_add(&text, data, length);
    fr_text_add(&text, at[1], (size_t)(at[2] - at[1]));
    assert_false(check(text.data, text.length, &journal));
    assert_int_equal(n_known, 1);
    assert_string_equal(last_place, "f: line 5");
    fr_journal_free(&journal);
    fr_text_free(&text);
    free(data);
}

/* Files without digests are read as they are. */
static void older_files_stay(void **state) {
    static const char *const texts[] = {
        "{\"kind\": \"provenance\"}\n{\"a\": 1}\n{\"a\": 1}\n\n{\"b", "", "\n", "no JSON",
        "{\"kind\": \"x\"}\r\n{}\r\n"};
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct fr_journal journal;
        assert_false(check(texts[i], strlen(texts[i]), &journal));
        assert_string_equal(journal.text, texts[i]);
        assert_true(!journal.sealed && n_known == 0);
        fr_journal_free(&journal);
    }
}

static fr_status count_line(const struct fr_journal_line *line, void *context,
                            struct fr_error *err) {
    (void)line;
    (void)err;
    ++*(int *)context;
    return FR_OK;
}

static void one_line_without_an_end_is_refused(void **state) {
    struct fr_error err = {.status = FR_OK};
    int n = 0;
    (void)state;
    static const char *const foreign[] = {"{\"kind\": \"provenance\"}", "[1, 2]", "x"};
    for (int i = 0; i < 3; i++)
        assert_int_equal(
            fr_journal_each(foreign[i], strlen(foreign[i]), "f", count_line, &n, &err),
            FR_ERR_INPUT);
    assert_int_equal(n, 0);
    assert_int_equal(fr_journal_each("{}\n{", 4, "f", count_line, &n, &err), FR_OK);
    assert_int_equal(n, 1);
}

/* ---- writing -------------------------------------------------------------------------------- */

static struct fr_text text_of(const char *line) {
    struct fr_text text = {0};
    fr_text_add(&text, line, strlen(line));
    return text;
}

static void a_full_disk_is_said(void **state) {
    struct fr_error err = {.status = FR_OK};
    struct fr_text line = text_of(lines[1]);
    int fd = open("/dev/full", O_WRONLY | O_APPEND);
    (void)state;
    if (fd < 0) {
        fr_text_free(&line);
        skip();
    }
    errno = ENOTTY; /* what an earlier call left behind is none of this one's */
    assert_int_equal(fr_journal_put(fd, "f", &line, &err), FR_ERR_IO);
    if (!strstr(err.detail, strerror(ENOSPC))) fail_msg("%s", err.detail);
    close(fd);
}

/* With space for a part of a line: the write is short, then fails. */
static void a_file_that_may_not_grow_keeps_whole_lines(void **state) {
    struct rlimit before, limit;
    struct fr_error err = {.status = FR_OK};
    struct fr_journal journal;
    size_t length = 0;
    char *data = sealed(&length);
    int fd = -1;
    (void)state;
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    assert_int_equal(fr_journal_open(path, &fd, &err), FR_OK);
    for (rlim_t capacity = 0; capacity < 60; capacity += 7) {
        struct fr_text line = text_of(lines[2]);
        limit = before;
        limit.rlim_cur = length + capacity;
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
        fr_status status = fr_journal_put(fd, path, &line, &err);
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
        assert_int_equal(status, FR_ERR_IO);
        if (!strstr(err.detail, strerror(EFBIG))) fail_msg("%s", err.detail);
        struct stat now;
        assert_int_equal(fstat(fd, &now), 0);
        assert_int_equal(now.st_size, length);
    }
    close(fd);
    assert_int_equal(fr_journal_read(path, 1 << 20, &journal, &err), FR_OK);
    assert_int_equal(journal.n_dropped, 0);
    fr_journal_free(&journal);
    free(data);
}

/* A pipe takes a little at a time. */
static void short_writes_are_gone_on_with(void **state) {
    enum { LONG = 1 << 20 };
    int ends[2], status = 0;
    struct fr_text line = text_of("{\"long\": \"");
    struct fr_error err = {.status = FR_OK};
    (void)state;
    for (int i = 0; i < LONG; i++) fr_text_add(&line, "x", 1);
    fr_text_add(&line, "\"}\n", 3);
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    if (child == 0) {
        char block[997];
        long n = 0, got;
        close(ends[1]);
        while ((got = read(ends[0], block, sizeof block)) > 0) n += got;
        _exit(n == (long)(strlen("{\"long\": \"\", \"digest\": \"0123456789abcdef\"}\n") + LONG)
                  ? 0
                  : 1);
    }
    close(ends[0]);
    assert_int_equal(fr_journal_put(ends[1], "pipe", &line, &err), FR_OK);
    close(ends[1]);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

/* Whoever appends begins a line of his own. */
static void a_torn_end_goes(void **state) {
    size_t length = 0;
    char *data = sealed(&length);
    struct stat now;
    (void)state;
    for (size_t cut = 1; cut < length; cut += 11) {
        int fd = -1;
        size_t whole = length - cut;
        assert_int_equal(fr_file_write(path, data, length - cut, NULL), FR_OK);
        while (whole > 0 && data[whole - 1] != '\n') whole--;
        assert_int_equal(fr_journal_open(path, &fd, NULL), FR_OK);
        assert_int_equal(fstat(fd, &now), 0);
        assert_int_equal(now.st_size, whole);
        close(fd);
    }
    free(data);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_whole_one_is_read_as_written),
        cmocka_unit_test(every_byte_every_value),
        cmocka_unit_test(cut_deleted_inserted),
        cmocka_unit_test(lines_twice_missing_swapped),
        cmocka_unit_test(older_files_stay),
        cmocka_unit_test(one_line_without_an_end_is_refused),
        cmocka_unit_test(a_full_disk_is_said),
        cmocka_unit_test(a_file_that_may_not_grow_keeps_whole_lines),
        cmocka_unit_test(short_writes_are_gone_on_with),
        cmocka_unit_test(a_torn_end_goes),
    };
    int fd = mkstemp(path);
    if (fd < 0) return 1;
    close(fd);
    fr_journal_on_message(count);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    unlink(path);
    return failed;
}
