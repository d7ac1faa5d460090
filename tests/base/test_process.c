#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/process.h"
#include "tests/cmocka.h"

static int descriptors(void) {
    int n = 0;
    DIR *folder = opendir("/proc/self/fd");
    while (readdir(folder)) n++;
    closedir(folder);
    return n;
}

/* `sh -c script`, with its output; everything else as @p p says. */
static struct fr_ended shell(const char *script, struct fr_process p, struct fr_text *out) {
    const char *const words[] = {"sh", "-c", script, "sh", "two words", "'; exit 9; '", NULL};
    struct fr_error err = {.status = FR_OK};
    struct fr_ended ended;
    p.words = words;
    if (out) p.out.text = out;
    if (fr_process_run(&p, &ended, &err) != FR_OK) fail_msg("%s: %s", script, err.detail);
    return ended;
}

static void says(const char *script, struct fr_process p, const char *wanted) {
    struct fr_text out = {0};
    struct fr_ended ended = shell(script, p, &out);
    if (ended.code != 0 || strcmp(fr_text_get(&out), wanted) != 0)
        fail_msg("%s: exit %d, said \"%s\", wanted \"%s\"", script, ended.code,
                 fr_text_get(&out), wanted);
    fr_text_free(&out);
}

static const struct fr_process plain;

/* The program is no shell, which would keep one. */
static int times_in_environment(const char *name, const char *const *variables) {
    static const char *const words[] = {"env", NULL};
    struct fr_text out = {0};
    const struct fr_process env = {.words = words, .variables = variables, .out.text = &out};
    int n = 0;
    assert_int_equal(fr_process_run(&env, NULL, NULL), FR_OK);
    for (char *line = strtok(out.data, "\n"); line; line = strtok(NULL, "\n"))
        n += strncmp(line, name, strlen(name)) == 0;
    fr_text_free(&out);
    return n;
}

static void words_and_variables_arrive(void **state) {
    static const char *const variables[] = {"FR_A=new", "FR_AB=", NULL};
    (void)state;
    says("printf '%s|' \"$@\"", plain, "two words|'; exit 9; '|");
    setenv("FR_A", "old", 1);
    setenv("FR_AC", "kept", 1);
    says("echo $FR_A,$FR_AC,${FR_AB-unset}", (struct fr_process){.variables = variables},
         "new,kept,\n");
    assert_int_equal(times_in_environment("FR_A=", variables), 1);
    assert_int_equal(times_in_environment("FR_AB=", variables), 1);
    says("echo $FR_A", plain, "old\n");
    says("pwd", (struct fr_process){.folder = "/"}, "/\n");
}

static void streams_lead_where_told(void **state) {
    char in[] = "/tmp/forerun-in-XXXXXX", out[] = "/tmp/forerun-out-XXXXXX", *text = NULL;
    struct fr_text printed = {0};
    size_t length;
    (void)state;
    close(mkstemp(in)), close(mkstemp(out));
    assert_int_equal(fr_file_write(in, "question\n", 9, NULL), FR_OK);
    assert_int_equal(fr_file_write(out, "what was here before\n", 21, NULL), FR_OK);
    shell("cat; echo answer >&2",
          (struct fr_process){.in.file = in, .out.file = out, .err.text = &printed}, NULL);
    assert_int_equal(fr_file_read(out, 100, &text, &length, NULL), FR_OK);
    assert_string_equal(text, "question\n");
    assert_string_equal(printed.data, "answer\n");
    says("cat; echo end", plain, "end\n"); /* nothing is to be read */
    free(text), fr_text_free(&printed), unlink(in), unlink(out);
    const char *const words[] = {"true", NULL};
    struct fr_error err = {.status = FR_OK};
    const struct fr_process p = {.words = words, .in.file = "/no-such-folder/in"};
    assert_int_equal(fr_process_run(&p, NULL, &err), FR_ERR_IO);
    assert_string_equal(err.where, "/no-such-folder/in");
}

/* Pipes hold 64 KiB: who listens to one stream alone, or to a part, would wait for ever. */
static void much_is_heard_in_part(void **state) {
    struct fr_text out = {0}, err = {0};
    (void)state;
    struct fr_ended ended =
        shell("for i in 1 2 3; do head -c 1000000 /dev/zero | tr '\\0' a; "
              "head -c 1000000 /dev/zero | tr '\\0' b >&2; done; exit 4",
              (struct fr_process){.err.text = &err, .text_B = 2500000, .limit_s = 60}, &out);
    assert_int_equal(ended.code, 4);
    assert_int_equal(out.length, 2500000);
    assert_int_equal(err.length, 2500000);
    assert_int_equal(strspn(out.data, "a"), 2500000);
    assert_int_equal(strspn(err.data, "b"), 2500000);
    fr_text_free(&out), fr_text_free(&err);
}

static void endings_are_told(void **state) {
    static const struct {
        const char *script, *words;
        int code, signal;
    } cases[] = {{"exit 0", "ended with exit code 0", 0, 0},
                 {"exit 3", "ended with exit code 3", 3, 0},
                 {"kill -KILL $$", "was killed by SIGKILL", -1, SIGKILL},
                 {"kill -SEGV $$", "was killed by SIGSEGV", -1, SIGSEGV},
                 {"kill -VTALRM $$", "was killed by signal 26", -1, SIGVTALRM}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *const words[] = {"sh", "-c", cases[i].script, NULL};
        char buffer[FR_ENDED_B];
        struct fr_error err = {.status = FR_OK};
        const struct fr_process p = {.words = words};
        struct fr_ended ended = shell(cases[i].script, plain, NULL);
        assert_int_equal(ended.code, cases[i].code);
        assert_int_equal(ended.signal, cases[i].signal);
        assert_string_equal(fr_ended_words(&ended, buffer), cases[i].words);
        assert_int_equal(fr_process_run(&p, NULL, &err), i ? FR_ERR_EXTERNAL : FR_OK);
        if (i) assert_string_equal(err.detail, cases[i].words);
        if (i) assert_string_equal(err.where, "sh");
    }
}

static void refused(const char *name, const char *package, const char *detail) {
    const char *const words[] = {name, NULL};
    const struct fr_process p = {.words = words, .package = package};
    struct fr_error err = {.status = FR_OK};
    assert_int_equal(fr_process_run(&p, NULL, &err), FR_ERR_EXTERNAL);
    assert_string_equal(err.where, name);
    if (!strstr(err.detail, detail)) fail_msg("%s: \"%s\"", name, err.detail);
}

static void what_cannot_be_started_says_why(void **state) {
    char folder[] = "/tmp/forerun-path-XXXXXX", path[FR_PROCESS_PATH_B], buffer[64];
    char *before = strdup(getenv("PATH"));
    (void)state;
    refused("forerun-no-such", NULL, "is not installed: no folder of PATH has it");
    refused("forerun-no-such", "some-package", "apt-get install some-package");
    refused("/no-such-folder/program", "some-package", "cannot be started: No such file");
    refused("/etc/passwd", NULL, "cannot be started: Permission denied");
    /* Neither a folder nor what may not be run is a program; a relative entry is made absolute. */
    assert_non_null(mkdtemp(folder));
    assert_int_equal(chdir(folder), 0);
    mkdir("a", 0700), mkdir("a/tool", 0700), mkdir("b", 0700), mkdir("c", 0700);
    assert_int_equal(fr_file_write("b/tool", "", 0, NULL), FR_OK);
    assert_int_equal(fr_file_write("c/tool", "#!/bin/sh\nexit 6\n", 17, NULL), FR_OK);
    chmod("c/tool", 0700);
    setenv("PATH", "a:b", 1);
    assert_false(fr_process_find("tool", path));
    refused("tool", NULL, "is not installed");
    setenv("PATH", "a:b::c", 1);
    assert_true(fr_process_find("tool", path));
    snprintf(buffer, sizeof buffer, "%s/c/tool", folder);
    assert_string_equal(path, buffer);
    struct fr_ended ended;
    const char *const words[] = {"tool", NULL};
    const struct fr_process p = {.words = words, .folder = "/"};
    assert_int_equal(fr_process_run(&p, &ended, NULL), FR_OK);
    assert_int_equal(ended.code, 6);
    setenv("PATH", before, 1);
    free(before);
    assert_false(fr_process_beside("tool", path));
    assert_true(fr_process_beside("test_base_process", path) && *path == '/');
    unlink("b/tool"), unlink("c/tool");
    rmdir("a/tool"), rmdir("a"), rmdir("b"), rmdir("c"), assert_int_equal(chdir("/"), 0);
    rmdir(folder);
}

/* A program has its three streams and nothing else of ours. */
static void no_descriptor_is_handed_on(void **state) {
    int open_here = open("/dev/null", O_RDONLY);
    (void)state;
    assert_true(open_here > 2);
    says("exec ls -1 /proc/self/fd", plain, "0\n1\n2\n3\n"); /* 3: of ls, the folder's */
    close(open_here);
}

static void nothing_is_left_behind(void **state) {
    static const char *const nowhere[] = {"/no-such-folder/program", NULL};
    struct fr_text out = {0}, err = {0};
    int before = descriptors();
    (void)state;
    for (int i = 0; i < 20; i++) {
        shell("echo a; echo b >&2", (struct fr_process){.err.text = &err}, &out);
        shell("exit 1", plain, NULL);
        shell("sleep 60 &", (struct fr_process){.limit_s = 0.01}, &out);
        const struct fr_process p = {.words = nowhere, .out.text = &out};
        assert_int_equal(fr_process_run(&p, NULL, NULL), FR_ERR_EXTERNAL);
        const struct fr_process q = {
            .words = nowhere, .out.text = &out, .err.file = "/no-such-folder/file"};
        assert_int_equal(fr_process_run(&q, NULL, NULL), FR_ERR_IO);
    }
    assert_int_equal(descriptors(), before);
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1); /* no zombie */
    assert_int_equal(errno, ECHILD);
    fr_text_free(&out), fr_text_free(&err);
}

static bool lives(long pid) {
    char path[64], link[64];
    snprintf(path, sizeof path, "/proc/%ld/exe", pid);
    return readlink(path, link, sizeof link) > 0; /* a zombie has none */
}

static bool gone_within(long pid, double s) {
    double start_s = fr_now_s();
    while (lives(pid) && fr_now_s() - start_s < s) usleep(10000);
    return !lives(pid);
}

/* ... nor what it started itself. */
static void a_limit_ends_all_of_it(void **state) {
    struct fr_text out = {0};
    double start_s = fr_now_s();
    char words[FR_ENDED_B];
    (void)state;
    struct fr_ended ended =
        shell("sleep 60 & echo $!; wait", (struct fr_process){.limit_s = 0.5}, &out);
    assert_true(ended.late && fr_now_s() - start_s < 20);
    assert_int_equal(ended.signal, SIGKILL);
    assert_string_equal(fr_ended_words(&ended, words), "took too long and was ended");
    long sleeper = strtol(out.data, NULL, 10);
    assert_true(sleeper > 1 && gone_within(sleeper, 5));
    ended = shell("exec sleep 0.1", (struct fr_process){.limit_s = 60}, NULL);
    assert_true(!ended.late && ended.code == 0);
    fr_text_free(&out);
}

static void a_killed_starter_takes_it_along(void **state) {
    char file[] = "/tmp/forerun-starter-XXXXXX";
    long child = 0;
    (void)state;
    close(mkstemp(file));
    pid_t starter = fork();
    if (starter == 0) {
        shell("echo $$; exec sleep 60", (struct fr_process){.out.file = file}, NULL);
        _exit(0);
    }
    for (double start_s = fr_now_s(); child == 0 && fr_now_s() - start_s < 20; usleep(10000)) {
        FILE *stream = fopen(file, "r");
        if (fscanf(stream, "%ld", &child) != 1) child = 0;
        fclose(stream);
    }
    assert_true(child > 1 && lives(child));
    kill(starter, SIGKILL);
    waitpid(starter, NULL, 0);
    assert_true(gone_within(child, 5));
    unlink(file);
}

static void count(int signal) { (void)signal; }

static bool look_on(void *context, pid_t child) {
    (void)child;
    ++*(int *)context;
    return false;
}

/* Signals that come all the while: nothing is lost, and who watches is asked each time. */
static void interruptions_change_nothing(void **state) {
    const struct sigaction handle = {.sa_handler = count};
    const struct itimerval often = {{0, 2000}, {0, 2000}}, never = {{0, 0}, {0, 0}};
    int looks = 0;
    (void)state;
    sigaction(SIGALRM, &handle, NULL);
    setitimer(ITIMER_REAL, &often, NULL);
    says("sleep 0.1; echo a; sleep 0.1; echo b; sleep 0.1", plain, "a\nb\n");
    struct fr_ended ended = shell(
        "sleep 0.3; exit 7", (struct fr_process){.watch = look_on, .context = &looks}, NULL);
    setitimer(ITIMER_REAL, &never, NULL);
    assert_int_equal(ended.code, 7);
    assert_true(looks > 5);
    looks = 0;
    shell("exit 0", (struct fr_process){.watch = look_on, .context = &looks}, NULL);
    assert_true(looks >= 1);
}

/* Handled or blocked here: as usual there; ignored here: ignored there, but for SIGPIPE and
 * SIGXFSZ. */
static void signals_mean_what_they_do(void **state) {
    sigset_t term;
    (void)state;
    signal(SIGUSR1, count), signal(SIGHUP, SIG_IGN), signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN);
    sigemptyset(&term), sigaddset(&term, SIGTERM), sigprocmask(SIG_BLOCK, &term, NULL);
    assert_int_equal(shell("kill -USR1 $$; exit 3", plain, NULL).signal, SIGUSR1);
    assert_int_equal(shell("kill -PIPE $$; exit 3", plain, NULL).signal, SIGPIPE);
    assert_int_equal(shell("kill -XFSZ $$; exit 3", plain, NULL).signal, SIGXFSZ);
    assert_int_equal(shell("kill -TERM $$; exit 3", plain, NULL).signal, SIGTERM);
    assert_int_equal(shell("kill -HUP $$; exit 3", plain, NULL).code, 3);
    sigset_t now;
    sigprocmask(SIG_UNBLOCK, &term, &now);
    assert_true(sigismember(&now, SIGTERM) && !sigismember(&now, SIGHUP));
    signal(SIGUSR1, SIG_DFL), signal(SIGHUP, SIG_DFL), signal(SIGPIPE, SIG_DFL);
    signal(SIGXFSZ, SIG_DFL);
}

/* Where our own streams are closed, pipes get their numbers. */
static void closed_streams_do_not_mix(void **state) {
    int status = 0;
    (void)state;
    pid_t child = fork();
    if (child == 0) {
        struct fr_text out = {0}, printed = {0};
        close(0), close(1), close(2);
        struct fr_ended ended = shell("cat; echo out; echo err >&2; exit 5",
                                      (struct fr_process){.err.text = &printed}, &out);
        _exit(ended.code == 5 && strcmp(fr_text_get(&out), "out\n") == 0 &&
                      strcmp(fr_text_get(&printed), "err\n") == 0
                  ? 0
                  : 1);
    }
    waitpid(child, &status, 0);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_and_variables_arrive),
        cmocka_unit_test(streams_lead_where_told),
        cmocka_unit_test(much_is_heard_in_part),
        cmocka_unit_test(endings_are_told),
        cmocka_unit_test(what_cannot_be_started_says_why),
        cmocka_unit_test(no_descriptor_is_handed_on),
        cmocka_unit_test(nothing_is_left_behind),
        cmocka_unit_test(a_limit_ends_all_of_it),
        cmocka_unit_test(a_killed_starter_takes_it_along),
        cmocka_unit_test(interruptions_change_nothing),
        cmocka_unit_test(signals_mean_what_they_do),
        cmocka_unit_test(closed_streams_do_not_mix),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
