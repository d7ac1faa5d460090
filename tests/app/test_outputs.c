/* No command writes over its input: every verb that has an output, given one of its own inputs under its name, a hard
 * link and a symbolic link, refuses and leaves it alone. */
#include "app/outputs.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "base/journal/keep.h"
#include "tests/app/command.h"

extern char **environ;

static char folder[] = "/tmp/forerun-outputs-XXXXXX";

static void put(const char *name, const char *text) {
    assert_int_equal(fr_file_write(name, text, strlen(text), NULL), FR_OK);
}

static int enter(void **state) {
    (void)state;
    if (!mkdtemp(folder) || chdir(folder) != 0) return -1;
    put("in", "precious\n");
    put("in.svg", "precious\n");
    put("in.csv", "precious\n");
    put("in.json", "precious\n");
    put("in.dat", "precious\n");
    put("in.txt", "precious\n");
    put("plan.json", "{\"schedule\": \"./in.json\", \"pp\": 2}\n");
    put("seats.json", "{\"placement\": \"file:in.json\"}\n");
    return link("in", "hard") == 0 && symlink("in", "soft") == 0 ? 0 : -1;
}

static int leave(void **state) {
    char line[128];
    (void)state;
    snprintf(line, sizeof line, "rm -r %s", folder);
    return chdir("/") == 0 && system(line) == 0 ? 0 : -1;
}

static void holds(const char *name, const char *want) {
    char *text = NULL;
    size_t length = 0;
    assert_int_equal(fr_file_read(name, 1000, &text, &length, NULL), FR_OK);
    assert_string_equal(text, want);
    free(text);
}

static void inputs_survive(void **state) {
    static const char *const lines[] = {
        "fit in --out in",
        "fit x in -o ./in",
        "fit in --out hard",
        "fit soft --out hard",
        "fit x --base in --out soft",
        "tune --cluster in --runs x --out in",
        "tune --cluster x --runs y --runs in --out in",
        "report in -o in",
        "report x in --output soft",
        "export simgrid --cluster in --out in",
        "simulate --cluster in.json --model x --trace in.json",
        "simulate --cluster frontier --model in.svg --gantt in.svg",
        "simulate --cluster frontier --model x --plan in.csv --trace in.csv",
        "simulate --cluster frontier --model x --plan plan.json --trace in.json",
        "simulate --cluster frontier --model x --plan seats.json --trace in.json",
        "simulate --cluster frontier --model x --set schedule=./in.json --trace in.json",
        "simulate --cluster frontier --model x --set placement=file:in.json --trace in.json",
        "simulate --cluster frontier --model x --trace new.csv --gantt ./new.csv",
        "plot fit in.svg -o in.svg",
        "plot fit in.dat -o in.svg -f --keep-script",
        "import osu in -o in",
        "import osu in.txt -o in.json",
        "import runs in -o soft",
        "iterations --cluster in --out in",
        "iterations --out x --samples x",
        "quality --corpus in --samples in",
        "quality --cluster in --out in",
        "quality --out x --samples x",
        "quality --cluster in --samples in",
        "calibrate --samples x --out x",
        "calibrate --samples cluster.json",
        "calibrate --launcher smpi:in --out in",
        "validate --cluster in --samples in",
        "validate --cluster x --samples in --model in --force",
    };
    (void)state;
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        char line[256];
        bool two = strstr(lines[i], "new.csv") || strstr(lines[i], " x --samples x") ||
                   strstr(lines[i], "--out x") || strstr(lines[i], "calibrate --samples");
        two = two && !strstr(lines[i], "smpi");
        snprintf(line, sizeof line, "forerun %s", lines[i]);
        fr_test_expect(line, 2, NULL, two ? "two outputs" : "is an input of this command");
        holds("in", "precious\n");
        holds("in.svg", "precious\n");
        holds("in.csv", "precious\n");
        holds("in.json", "precious\n");
        holds("in.dat", "precious\n");
    }
}

/* So do files that a name of the user's own stands for, and the one that is meant without a name. */
static void own_files_survive(void **state) {
    static const char *const lines[] = {
        "fit x --base mine --out own/cluster/mine.json",
        "tune --cluster mine --runs x --out own/cluster/mine.json",
        "export simgrid --cluster mine --ranks 4 --out own/cluster/mine.json",
        "simulate --cluster frontier --model ours --trace own/model/ours.json",
        "export simgrid --ranks 4 --out own/cluster/mine.json",
    };
    char path[160];
    (void)state;
    snprintf(path, sizeof path, "%s/own", folder);
    assert_true(mkdir("own", 0700) == 0 && mkdir("own/cluster", 0700) == 0 &&
                mkdir("own/model", 0700) == 0);
    put("own/cluster/mine.json", "precious\n");
    put("own/model/ours.json", "precious\n");
    setenv("FORERUN_PATH", path, 1);
    setenv("FORERUN_CLUSTER", "mine", 1);
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        char line[256];
        snprintf(line, sizeof line, "forerun %s", lines[i]);
        fr_test_expect(line, 2, NULL, "is an input of this command");
    }
    setenv("FORERUN_CLUSTER", "own/cluster/mine.json", 1);
    fr_test_expect("forerun export simgrid --ranks 4 --out ./own/cluster/mine.json", 2, NULL,
                   "is an input of this command");
    holds("own/cluster/mine.json", "precious\n");
    holds("own/model/ours.json", "precious\n");
    /* A preset keeps its name, whatever file is called like it. */
    put("own/cluster/frontier.json", "not read\n");
    fr_test_expect(
        "forerun export simgrid --cluster frontier --ranks 4 -o own/cluster/frontier.json", 0,
        "", NULL);
    unsetenv("FORERUN_PATH");
    unsetenv("FORERUN_CLUSTER");
}

/* Not an input because it is called like one. */
static void other_files_are_no_inputs(void **state) {
    struct fr_error err;
    (void)state;
    fr_test_expect("forerun export simgrid --cluster frontier --ranks 4 -o simgrid", 0, "",
                   NULL);
    fr_test_expect("forerun export simgrid --cluster frontier --ranks 4 -o simgrid", 0, "",
                   NULL);
    fr_test_expect("forerun export simgrid --cluster frontier --ranks 4 -o new", 0, "", NULL);
    assert_int_equal(fr_output_apart("-", "-", &err), FR_OK);
    assert_int_equal(fr_output_apart("in", "frontier", &err), FR_OK);
    assert_int_equal(fr_output_apart("/dev/null", "/dev/null", &err), FR_OK);
    assert_int_equal(fr_output_apart("in", "soft", &err), FR_ERR_USAGE);
}

/* For all verbs, an option that takes a FILE is an output or is read, and outputs are options. */
static void outputs_are_options(void **state) {
    (void)state;
    int n = 0;
    for (const struct fr_verb *const *v = fr_verbs; *v; v++)
        for (const struct fr_output *o = (*v)->outputs; o && o->option; o++, n++) {
            const struct fr_option *option = (*v)->options;
            while (option->name && strcmp(option->name, o->option) != 0) option++;
            if (!option->name || strcmp(option->argument, "FILE") != 0)
                fail_msg("%s: output --%s is no option that takes a FILE", (*v)->name,
                         o->option);
            if (o->standard && !strstr(option->help, o->standard))
                fail_msg("%s --%s: the help does not say %s", (*v)->name, o->option,
                         o->standard);
        }
    assert_true(n > 10);
    for (const struct fr_verb *const *v = fr_verbs; *v; v++)
        for (const struct fr_option *option = (*v)->options; option->name; option++) {
            bool file = option->argument && strcmp(option->argument, "FILE") == 0,
                 writes = file && (strcmp(option->name, "out") == 0 ||
                                   strcmp(option->name, "output") == 0 ||
                                   strcmp(option->name, "samples") == 0);
            const struct fr_output *o = (*v)->outputs;
            while (writes && o && o->option && strcmp(o->option, option->name) != 0) o++;
            if (writes && !(o && o->option))
                fail_msg("%s --%s is no output", (*v)->name, option->name);
        }
}

/* A command whose output nobody can read ends with 1 and says so, help and version too. */
static void a_full_standard_output_is_said(void **state) {
    static const char *const words[] = {"--version",       "--help",        "help predict",
                                        "predict --help",  "show frontier", "list presets",
                                        "complete -- pre", "manual predict"};
    (void)state;
    if (access("/dev/full", W_OK) != 0) skip();
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        char line[400];
        snprintf(line, sizeof line, "%s/forerun %s >/dev/full 2>said", FR_BIN_DIR, words[i]);
        int status = system(line);
        if (!WIFEXITED(status) || WEXITSTATUS(status) != 1) fail_msg("%s: %d", line, status);
        char *printed = NULL;
        size_t length = 0;
        assert_int_equal(fr_file_read("said", 1000, &printed, &length, NULL), FR_OK);
        if (!strstr(printed, "<stdout>: cannot be written")) fail_msg("%s: %s", line, printed);
        free(printed);
    }
}

/* A file of measurements is replaced only when asked to. */
static void measurements_are_kept(void **state) {
    static const char *const lines[] = {
        "calibrate --ranks 2 --samples kept", "iterations --samples kept",
        "quality --samples kept",
        "validate --cluster frontier --ranks 2 --app phantom --samples kept"};
    (void)state;
    put("kept", "an afternoon's work\n");
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        char line[256];
        snprintf(line, sizeof line, "forerun %s", lines[i]);
        fr_test_expect(line, 2, NULL, "--resume goes on with them, --force (-f) replaces them");
        snprintf(line, sizeof line, "forerun %s --resume -f", lines[i]);
        fr_test_expect(line, 2, NULL, "choose one");
        holds("kept", "an afternoon's work\n");
    }
    fr_test_expect("forerun-mpi calibrate --samples kept --only kernel", 2, NULL, "--resume");
    holds("kept", "an afternoon's work\n");
}

/* Nor does a command write to a file that another is writing to, whatever its options. */
static void two_do_not_write_to_one_file(void **state) {
    static const char *const lines[] = {
        "calibrate --ranks 2 --samples held --force",
        "iterations --samples held --force",
        "iterations --samples held --resume",
        "quality --samples held --force",
        "quality --samples held --resume",
        "validate --cluster frontier --ranks 2 --app phantom --samples held --force",
        "validate --cluster frontier --ranks 2 --app phantom --samples held --resume"};
    struct fr_keep keep;
    (void)state;
    put("held", "an afternoon's work\n");
    assert_int_equal(fr_keep_hold("held", true, false, &keep, NULL), FR_OK);
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        char line[256];
        snprintf(line, sizeof line, "forerun %s", lines[i]);
        fr_test_expect(line, 1, NULL, "is being written by process");
        holds("held", "an afternoon's work\n");
    }
    fr_keep_release(&keep);
    holds("held", "an afternoon's work\n");
    /* The job of one that was killed is waited for, then refused. */
    int fd = open("held", O_RDWR);
    assert_int_equal(fr_keep_append(fd, "held", 0, NULL), FR_OK);
    fr_test_expect("forerun-mpi calibrate --samples held --only kernel --force", 1, NULL,
                   "is being written by process");
    holds("held", "an afternoon's work\n");
    close(fd);
}

/* ---- signals --------------------------------------------------------------------------------- */

static int entries_in(const char *path) {
    int n = 0;
    DIR *dir = opendir(path);
    assert_non_null(dir);
    for (struct dirent *e = readdir(dir); e; e = readdir(dir))
        n += strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0;
    closedir(dir);
    return n;
}

/* A stand-in for gnuplot that says that it runs, then sleeps: whatever it left goes with us. */
static pid_t start_plot(void) {
    char words[][16] = {"forerun", "plot", "pareto", "data.json", "-o", "x.svg"};
    char *argv[] = {words[0], words[1], words[2], words[3], words[4], words[5], NULL};
    char program[4096];
    pid_t child;
    snprintf(program, sizeof program, "%s/forerun", FR_BIN_DIR);
    assert_int_equal(posix_spawn(&child, program, NULL, NULL, argv, environ), 0);
    for (int i = 0; i < 500 && !fr_file_exists("started"); i++) usleep(10000);
    assert_true(fr_file_exists("started"));
    return child;
}

static void signals_leave_nothing(void **state) {
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
    char path[8192], *before = getenv("PATH");
    (void)state;
    assert_int_equal(mkdir("bin", 0700), 0);
    assert_int_equal(mkdir("temporary", 0700), 0);
    snprintf(path, sizeof path,
             "#!/bin/sh\necho half a picture >figure.out\n>%s/started\nexec sleep 30\n",
             folder);
    put("bin/gnuplot", path);
    assert_int_equal(chmod("bin/gnuplot", 0700), 0);
    struct output search =
        fr_test_run("forerun search --cluster frontier --model ffn-4096 --ranks 8,16 --vary "
                    "method=tensor,phantom --vary ghost=2,4 --per-iteration --objective energy "
                    "--top 0 --json");
    assert_int_equal(search.exit_code, 0);
    put("data.json", search.out);
    fr_test_output_free(&search);
    snprintf(path, sizeof path, "%s/bin:%s", folder, before);
    setenv("PATH", path, 1);
    snprintf(path, sizeof path, "%s/temporary", folder);
    setenv("TMPDIR", path, 1);
    for (int i = 0; i < 3; i++) {
        int status = 0;
        pid_t child = start_plot();
        assert_int_equal(entries_in("temporary"), 1);
        kill(child, signals[i]);
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(WIFSIGNALED(status));
        assert_int_equal(WTERMSIG(status), signals[i]);
        assert_int_equal(entries_in("temporary"), 0);
        assert_false(fr_file_exists("x.svg"));
        unlink("started");
    }
    unsetenv("TMPDIR");
    snprintf(path, sizeof path, "%s", getenv("PATH") + strlen(folder) + 5);
    setenv("PATH", path, 1);
}

/* Files that may not grow so far: said, and nothing is left, neither of one file nor of a set. */
static void limited_files_leave_nothing(void **state) {
    static const char *const commands[] = {
        "export simgrid -c frontier --ranks 64 -o limited/out",
        "list models --json >limited/out",
        ("export chakra -c a100-hdr -m gpt-8.3b --set tp=8 --set pp=4 --set dp=4 -o "
         "limited/set")};
    (void)state;
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        char line[512];
        snprintf(
            line, sizeof line,
            "mkdir limited; (ulimit -f 1; %s/forerun %s 2>said.txt); code=$?; cat said.txt "
            ">&2; "
            "rm -f said.txt; [ -s limited/out ] && rm limited/out; rmdir limited && exit $code",
            FR_BIN_DIR, commands[i]);
        int code = WEXITSTATUS(system(line));
        FR_TRUE(code == 1, "%s: exit %d", commands[i], code);
    }
}

/* Pages and pictures that are there stay without --force; every verb that writes a page has it. */
static void what_is_there_is_kept(void **state) {
    static const char *const lines[] = {
        "predict -c frontier -m ffn-16384 --page page.html",
        "list forms --page page.html",
        "report answer.json -o page.html",
        "report answer.json --page page.html",
    };
    (void)state;
    for (int v = 0; fr_verbs[v]; v++)
        if (fr_option_find(fr_verbs[v]->options, "page"))
            FR_TRUE(fr_option_find(fr_verbs[v]->options, "force"), "%s has no --force",
                    fr_verbs[v]->name);
    struct output o = fr_test_run("forerun predict -c frontier -m ffn-16384 --json");
    put("answer.json", o.out);
    fr_test_output_free(&o);
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        char line[256];
        snprintf(line, sizeof line, "forerun %s", lines[i]);
        unlink("page.html");
        fr_test_expect(line, 0, NULL, NULL);
        put("page.html", "precious\n");
        fr_test_expect(line, 2, NULL, "page.html: is there already: -f replaces it");
        holds("page.html", "precious\n");
        snprintf(line, sizeof line, "forerun %s -f", lines[i]);
        fr_test_expect(line, 0, NULL, NULL);
        FR_TRUE(fr_file_holds("page.html"), "%s", line);
        put("page.html", ""); /* made by mktemp */
        snprintf(line, sizeof line, "forerun %s", lines[i]);
        fr_test_expect(line, 0, NULL, NULL);
    }
    put("there.svg", "precious\n");
    fr_test_expect("forerun plot breakdown answer.json -o there.svg", 2, NULL,
                   "is there already: -f replaces it");
    holds("there.svg", "precious\n");
    assert_int_equal(mkdir("figures", 0700), 0);
    put("figures/fig5.svg", "precious\n");
    fr_test_expect("forerun plot paper answer.json -o figures", 2, NULL,
                   "has pictures already");
    holds("figures/fig5.svg", "precious\n");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_there_is_kept),
        cmocka_unit_test(limited_files_leave_nothing),
        cmocka_unit_test(inputs_survive),
        cmocka_unit_test(own_files_survive),
        cmocka_unit_test(other_files_are_no_inputs),
        cmocka_unit_test(outputs_are_options),
        cmocka_unit_test(a_full_standard_output_is_said),
        cmocka_unit_test(measurements_are_kept),
        cmocka_unit_test(two_do_not_write_to_one_file),
        cmocka_unit_test(signals_leave_nothing),
    };
    return cmocka_run_group_tests(tests, enter, leave);
}
