/* Which links are followed by whom: Linux's rule of fs.protected_symlinks, held at each link of a chain by everything that
 * writes.  Links of others are made by another user, so that most of it is root's to try. */
#include "base/file/links.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "base/file/folder.h"
#include "tests/cmocka.h"

static char top[] = "/tmp/forerun-links-XXXXXX";
enum { NOBODY = 65534, SOMEBODY = 65533 };

static int enter(void **state) {
    (void)state;
    return mkdtemp(top) && chmod(top, 0755) == 0 && chdir(top) == 0 ? 0 : -1;
}

static int leave(void **state) {
    char line[64];
    (void)state;
    snprintf(line, sizeof line, "rm -rf %s", top);
    return chdir("/") == 0 ? system(line) : -1;
}

static void put(const char *path, const char *text) {
    FILE *file = fopen(path, "w");
    assert_true(file && fputs(text, file) >= 0 && fclose(file) == 0);
}

static bool holds(const char *path, const char *text) {
    char got[64] = "";
    FILE *file = fopen(path, "r");
    bool same = file && fgets(got, sizeof got, file) && strcmp(got, text) == 0;
    if (file) fclose(file);
    return same;
}

/* A link of @p owner in folder "in" of @p mode and @p folder_owner, to "victim" or to nothing. */
static void make(mode_t mode, uid_t folder_owner, uid_t owner, bool dangling) {
    unlink("in/link"), rmdir("in"), unlink("victim"), unlink("new");
    put("victim", "precious");
    assert_int_equal(mkdir("in", 0700) | chmod("in", mode) | chown("in", folder_owner, -1), 0);
    char target[128];
    snprintf(target, sizeof target, "%s/%s", top, dangling ? "new" : "victim");
    assert_int_equal(symlink(target, "in/link"), 0);
    assert_int_equal(lchown("in/link", owner, -1), 0);
}

static void same_folder(void *context, int i, char *name, const char **data, size_t *length) {
    (void)context, (void)i;
    strcpy(name, "file");
    *data = "x", *length = 1;
}

/* Ways to write through @p path.  @return whether it is said to have worked */
static bool replaces(const char *path) { return fr_file_write(path, "x", 1, NULL) == FR_OK; }
static bool at_the_end(const char *path) {
    fr_file_hold();
    bool ok = fr_file_write_last(path, "x", 1, NULL) == FR_OK && fr_file_release(NULL) == FR_OK;
    fr_file_drop();
    return ok;
}
static bool asks(const char *path) { return fr_file_check_writable(path, NULL) == FR_OK; }
static bool appends(const char *path) {
    int fd = -1;
    if (fr_file_open_checked(path, O_WRONLY | O_CREAT | O_APPEND, 0600, &fd, NULL) != FR_OK)
        return false;
    return close(fd) == 0;
}
static bool empties(const char *path) {
    int fd = -1;
    if (fr_file_open_checked(path, O_RDWR | O_CREAT | O_TRUNC, 0600, &fd, NULL) != FR_OK)
        return false;
    return close(fd) == 0;
}
static bool (*const ways[])(const char *path) = {asks, appends, empties, replaces, at_the_end};
enum { WAYS = sizeof ways / sizeof *ways };

static void links_are_followed_as_linux_would(void **state) {
    static const mode_t modes[] = {01777, 0777, 01755, 01775, 0755};
    static const uid_t owners[] = {0, NOBODY, SOMEBODY};
    int refused = 0;
    (void)state;
    if (geteuid() != 0) skip();
    for (size_t m = 0; m < sizeof modes / sizeof *modes; m++)
        for (int f = 0; f < 3; f++)
            for (int o = 0; o < 3; o++)
                for (int chain = 0; chain < 2; chain++)
                    for (int w = 0; w < WAYS * 2; w++) {
                        bool dangling = w >= WAYS;
                        make(modes[m], owners[f], owners[o], dangling);
                        assert_int_equal(symlink("in/link", "to"), 0);
                        bool forbidden = (modes[m] & 01002) == 01002 && owners[o] != 0 &&
                                         owners[o] != owners[f];
                        bool went = ways[w % WAYS](chain ? "to" : "in/link");
                        FR_TRUE(went == !forbidden, "folder %o of %u, link of %u, way %d: %d",
                                (unsigned)modes[m], owners[f], owners[o], w, went);
                        FR_TRUE(!forbidden ||
                                    (holds("victim", "precious") && access("new", F_OK) != 0),
                                "way %d wrote", w);
                        refused += forbidden;
                        unlink("to");
                    }
    FR_TRUE(refused == 2 * WAYS * 2 * 4, "%d refused", refused);
}

static void a_folder_of_files_is_no_way_around(void **state) {
    struct fr_error err = {0};
    (void)state;
    if (geteuid() != 0) skip();
    make(01777, 0, NOBODY, true);
    assert_int_equal(mkdir("new", 0755), 0);
    assert_int_equal(fr_file_write_folder("in/link", 1, same_folder, NULL, &err), FR_ERR_IO);
    assert_int_equal(access("new/file", F_OK), -1);
    assert_non_null(strstr(err.detail, "another user"));
}

/* Whoever may follow may write: links of one's own, descriptors, devices. */
static void what_is_ours_is_written(void **state) {
    int fd = -1;
    (void)state;
    put("file", "old");
    assert_int_equal(symlink("file", "a") | symlink("a", "b"), 0);
    for (int w = 0; w < WAYS; w++) assert_true(ways[w]("b"));
    struct stat kind;
    assert_true(lstat("b", &kind) == 0 && S_ISLNK(kind.st_mode));
    assert_true(holds("file", "x"));
    assert_int_equal(fr_file_open_checked("/dev/null", O_WRONLY, 0, &fd, NULL), FR_OK);
    close(fd);
    assert_int_equal(fr_file_open_checked("/dev/stdout", O_WRONLY | O_APPEND, 0, &fd, NULL),
                     FR_OK);
    close(fd);
    assert_int_equal(symlink("loop", "loop"), 0);
    assert_int_equal(fr_file_open_checked("loop", O_WRONLY | O_CREAT, 0600, &fd, NULL),
                     FR_ERR_IO);
    assert_int_equal(fr_file_write("loop", "x", 1, NULL), FR_ERR_IO);
}

/* Who plants a link once the question was asked: whatever the moment, nothing is written through it.  One process plants and
 * removes it without pause. */
static void a_link_planted_meanwhile_is_not_followed(void **state) {
    int written = 0;
    (void)state;
    if (geteuid() != 0) skip();
    make(01777, 0, NOBODY, false);
    unlink("in/link");
    char target[128];
    snprintf(target, sizeof target, "%s/victim", top);
    pid_t planter = fork();
    if (planter == 0) {
        if (setuid(NOBODY) != 0) _exit(1);
        for (;;) (void)!symlink(target, "in/link"), unlink("in/link");
    }
    for (int i = 0; i < 4000; i++) {
        int fd = -1;
        if (i % 2 ? fr_file_open_checked("in/link", O_WRONLY | O_CREAT | O_TRUNC, 0600, &fd,
                                         NULL) == FR_OK
                  : i % 40 == 0 && replaces("in/link"))
            written++;
        if (fd >= 0) close(fd);
        unlink("in/link");
        if (!holds("victim", "precious")) break;
    }
    kill(planter, SIGKILL);
    waitpid(planter, NULL, 0);
    assert_true(holds("victim", "precious"));
    FR_TRUE(written > 0, "%d", written);
}

/* ---- many files, or none --------------------------------------------------------------------- */

struct files {
    int n, too_large; /**< this one does not fit; -1: all do */
    char *large;
};
enum { LARGE_B = 1 << 16 };

static void of_files(void *context, int i, char *name, const char **data, size_t *length) {
    const struct files *f = context;
    snprintf(name, FR_FILE_NAME_B, "f.%d", i);
    *data = i == f->too_large ? f->large : "new";
    *length = i == f->too_large ? LARGE_B : 3;
}

static int count_in(const char *folder) {
    char line[64];
    snprintf(line, sizeof line, "exit $(ls -A %s 2>/dev/null | wc -l)", folder);
    return WEXITSTATUS(system(line));
}

static void all_files_or_none(void **state) {
    char *large = calloc(1, LARGE_B);
    struct rlimit old, small;
    (void)state;
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
    small = old;
    small.rlim_cur = 4096;
    for (int there = 0; there < 2; there++)
        for (int bad = -1; bad < 30; bad += bad < 0 ? 1 : 11) {
            struct files files = {30, bad, large};
            assert_int_equal(system("rm -rf set"), 0);
            if (there) assert_int_equal(system("mkdir set && echo old >set/f.3"), 0);
            assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
            fr_status status = fr_file_write_folder("set", files.n, of_files, &files, NULL);
            assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
            assert_int_equal(status, bad < 0 ? FR_OK : FR_ERR_IO);
            assert_int_equal(count_in("set"), bad < 0 ? 30 : there);
            assert_int_equal(access("set", F_OK), bad < 0 || there ? 0 : -1);
            if (there) assert_true(holds("set/f.3", bad < 0 ? "new" : "old\n"));
        }
    free(large);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(links_are_followed_as_linux_would),
        cmocka_unit_test(a_folder_of_files_is_no_way_around),
        cmocka_unit_test(what_is_ours_is_written),
        cmocka_unit_test(a_link_planted_meanwhile_is_not_followed),
        cmocka_unit_test(all_files_or_none)};
    return cmocka_run_group_tests_name("base.links", tests, enter, leave);
}
