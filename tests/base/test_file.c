/* Whole files in and out, and what must survive when that fails. */
#include "base/file.h"

#include <dirent.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static char folder[64];

static const char *in_folder(const char *name) {
    static char path[400];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static int count_entries(void) {
    int n = 0;
    DIR *dir = opendir(folder);
    assert_non_null(dir);
    for (struct dirent *e = readdir(dir); e; e = readdir(dir))
        n += strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0;
    closedir(dir);
    return n;
}

static int make_folder(void **state) {
    (void)state;
    snprintf(folder, sizeof folder, "/tmp/forerun-test-XXXXXX");
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state) {
    static const char *const names[] = {"out", "pipe", "link", "far/out", "far", "sub", NULL};
    (void)state;
    for (int i = 0; names[i]; i++) (void)remove(in_folder(names[i]));
    return rmdir(folder);
}

static void must_write(const char *path, const char *text) {
    struct fr_error err = {0};
    if (fr_file_write(path, text, strlen(text), &err) != FR_OK)
        fail_msg("%s: %s", err.where, err.detail);
}

static void must_hold(const char *path, const char *want) {
    char *data = NULL;
    size_t length = 0;
    struct fr_error err = {0};
    assert_int_equal(fr_file_read(path, 1 << 20, &data, &length, &err), FR_OK);
    assert_int_equal(length, strlen(want));
    assert_string_equal(data, want);
    free(data);
}

static void write_replaces_and_leaves_nothing_else(void **state) {
    (void)state;
    must_write(in_folder("out"), "first");
    must_write(in_folder("out"), "second, longer");
    must_write(in_folder("out"), "");
    must_hold(in_folder("out"), "");
    must_write(in_folder("out"), "third");
    must_hold(in_folder("out"), "third");
    assert_int_equal(count_entries(), 1);
}

static void write_takes_the_mode_of_a_new_file(void **state) {
    struct stat info;
    (void)state;
    mode_t mask = umask(027);
    must_write(in_folder("out"), "x");
    umask(mask);
    assert_int_equal(stat(in_folder("out"), &info), 0);
    assert_int_equal(info.st_mode & 0777, 0640);
}

/* A full disk, played by a limit on the size of a file. */
static void a_failed_write_leaves_the_old_file(void **state) {
    struct rlimit old, small;
    struct fr_error err = {0};
    char *big = calloc(1, 1 << 16);
    (void)state;
    assert_non_null(big);
    must_write(in_folder("out"), "precious");
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
    small = old;
    small.rlim_cur = 4096;
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    fr_status status = fr_file_write(in_folder("out"), big, 1 << 16, &err);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
    free(big);
    assert_int_equal(status, FR_ERR_IO);
    assert_string_equal(err.where, in_folder("out"));
    must_hold(in_folder("out"), "precious");
    assert_int_equal(count_entries(), 1);
}

static void folders_are_no_files(void **state) {
    struct fr_error err = {0};
    char *data = NULL;
    size_t length = 0;
    (void)state;
    assert_int_equal(fr_file_write(folder, "x", 1, &err), FR_ERR_IO);
    assert_non_null(strstr(err.detail, "is a directory"));
    assert_int_equal(fr_file_check_writable(folder, &err), FR_ERR_IO);
    assert_int_equal(fr_file_read(folder, 100, &data, &length, &err), FR_ERR_INPUT);
    assert_non_null(strstr(err.detail, "is a directory"));
    assert_null(data);
}

static void writable_is_known_beforehand(void **state) {
    struct fr_error err = {0};
    (void)state;
    must_write(in_folder("out"), "x");
    assert_int_equal(fr_file_check_writable(in_folder("out"), &err), FR_OK);
    assert_int_equal(fr_file_check_writable(in_folder("new"), &err), FR_OK);
    assert_int_equal(fr_file_check_writable("new", &err), FR_OK);
    assert_int_equal(fr_file_check_writable("-", &err), FR_OK);
    assert_int_equal(fr_file_check_writable("/dev/null", &err), FR_OK);
    assert_int_equal(fr_file_check_writable("", &err), FR_ERR_IO);
    assert_int_equal(fr_file_check_writable(in_folder("no/new"), &err), FR_ERR_IO);
    assert_int_equal(fr_file_check_writable(in_folder("out/new"), &err), FR_ERR_IO);
    assert_int_equal(fr_file_write(in_folder("out/new"), "x", 1, &err), FR_ERR_IO);
    assert_int_equal(fr_file_write(in_folder("no/new"), "x", 1, &err), FR_ERR_IO);
    assert_int_equal(count_entries(), 1);
}

static void devices_are_written_in_place(void **state) {
    struct fr_error err = {0};
    struct stat info;
    (void)state;
    must_write("/dev/null", "gone");
    assert_int_equal(stat("/dev/null", &info), 0);
    assert_true(S_ISCHR(info.st_mode));
    if (access("/dev/full", W_OK) == 0)
        assert_int_equal(fr_file_write("/dev/full", "x", 1, &err), FR_ERR_IO);
}

static mode_t mode_of(const char *path) {
    struct stat info;
    assert_int_equal(stat(path, &info), 0);
    return info.st_mode & 0777;
}

static void a_replaced_file_hands_on_its_mode(void **state) {
    (void)state;
    must_write(in_folder("out"), "x");
    assert_int_equal(chmod(in_folder("out"), 0604), 0);
    must_write(in_folder("out"), "y");
    must_hold(in_folder("out"), "y");
    assert_int_equal(mode_of(in_folder("out")), 0604);
}

/* "link" -> "far/out", present or not: the link stays, its target is written, in its own folder. */
static void a_link_stays_and_its_target_is_replaced(void **state) {
    struct stat info;
    (void)state;
    assert_int_equal(mkdir(in_folder("far"), 0700), 0);
    assert_int_equal(symlink("far/out", in_folder("link")), 0);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(fr_file_check_writable(in_folder("link"), NULL), FR_OK);
        must_write(in_folder("link"), i ? "second" : "first");
        assert_int_equal(lstat(in_folder("link"), &info), 0);
        assert_true(S_ISLNK(info.st_mode));
        must_hold(in_folder("far/out"), i ? "second" : "first");
        assert_int_equal(count_entries(), 2);
    }
}

static void one_file_has_many_names(void **state) {
    char out[100], other[400];
    (void)state;
    snprintf(out, sizeof out, "%s/./out", folder);
    snprintf(other, sizeof other, "%s", in_folder("link"));
    assert_true(fr_file_same(out, in_folder("out"))); /* neither is there yet */
    assert_false(fr_file_same(other, in_folder("out")));
    assert_int_equal(symlink("out", other), 0);
    assert_true(fr_file_same(other, in_folder("out")));
    must_write(in_folder("out"), "x");
    assert_true(fr_file_same(other, in_folder("out")));
    assert_int_equal(link(out, in_folder("pipe")), 0);
    assert_true(fr_file_same(other, in_folder("pipe")));
    assert_false(fr_file_same(other, in_folder("sub")));
    assert_false(fr_file_same("/dev/null", "/dev/null"));
    assert_false(fr_file_same(folder, folder));
}

/* Standard output that is a file: what /dev/stdout is given follows what was printed. */
static void standard_output_is_written_where_it_stands(void **state) {
    (void)state;
    int quiet = dup(STDOUT_FILENO), fd = open(in_folder("out"), O_CREAT | O_WRONLY, 0600);
    assert_true(quiet >= 0 && fd >= 0);
    fflush(stdout);
    dup2(fd, STDOUT_FILENO);
    close(fd);
    printf("first ");
    fr_status status = fr_file_write("/dev/stdout", "second ", 7, NULL);
    if (status == FR_OK) status = fr_file_write("-", "third", 5, NULL);
    dup2(quiet, STDOUT_FILENO);
    close(quiet);
    assert_int_equal(status, FR_OK);
    must_hold(in_folder("out"), "first second third");
}

static void read_has_a_limit(void **state) {
    char *data = NULL;
    size_t length = 0;
    struct fr_error err = {0};
    (void)state;
    must_write(in_folder("out"), "0123456789");
    assert_int_equal(fr_file_read(in_folder("out"), 10, &data, &length, &err), FR_OK);
    free(data);
    data = NULL;
    assert_int_equal(fr_file_read(in_folder("out"), 9, &data, &length, &err), FR_ERR_INPUT);
    assert_non_null(strstr(err.detail, "limit of 9 bytes"));
    assert_int_equal(fr_file_read("/dev/zero", 1 << 20, &data, &length, &err), FR_ERR_INPUT);
    assert_null(data);
}

static void a_missing_file_is_named(void **state) {
    char *data = NULL;
    size_t length = 0;
    struct fr_error err = {0};
    (void)state;
    assert_int_equal(fr_file_read(in_folder("none"), 9, &data, &length, &err), FR_ERR_INPUT);
    assert_string_equal(err.where, in_folder("none"));
    assert_non_null(strstr(err.detail, "No such file"));
    assert_false(fr_file_exists(in_folder("none")));
}

/* `--cluster <(jq ... cluster.json)`: the writer may be slower than the reader. */
static void a_slow_pipe_is_read_whole(void **state) {
    (void)state;
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        usleep(50000);
        _exit(write(ends[1], "late", 4) == 4 ? 0 : 1);
    }
    close(ends[1]);
    char path[32];
    snprintf(path, sizeof path, "/dev/fd/%d", ends[0]);
    must_hold(path, "late");
    close(ends[0]);
}

/* As cat does: one that nobody has opened yet is not empty. */
static void the_writer_of_a_named_pipe_is_waited_for(void **state) {
    (void)state;
    assert_int_equal(mkfifo(in_folder("pipe"), 0600), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        usleep(100000);
        int fd = open(in_folder("pipe"), O_WRONLY);
        usleep(50000);
        _exit(write(fd, "late", 4) == 4 ? 0 : 1);
    }
    must_hold(in_folder("pipe"), "late");
}

#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, make_folder, remove_folder)

int main(void) {
    const struct CMUnitTest tests[] = {
        IN_FOLDER(write_replaces_and_leaves_nothing_else),
        IN_FOLDER(write_takes_the_mode_of_a_new_file),
        IN_FOLDER(a_failed_write_leaves_the_old_file),
        IN_FOLDER(folders_are_no_files),
        IN_FOLDER(writable_is_known_beforehand),
        IN_FOLDER(devices_are_written_in_place),
        IN_FOLDER(read_has_a_limit),
        IN_FOLDER(a_missing_file_is_named),
        IN_FOLDER(the_writer_of_a_named_pipe_is_waited_for),
        cmocka_unit_test(a_slow_pipe_is_read_whole),
        IN_FOLDER(a_replaced_file_hands_on_its_mode),
        IN_FOLDER(a_link_stays_and_its_target_is_replaced),
        IN_FOLDER(one_file_has_many_names),
        IN_FOLDER(standard_output_is_written_where_it_stands),
    };
    return cmocka_run_group_tests_name("base.file", tests, NULL, NULL);
}
