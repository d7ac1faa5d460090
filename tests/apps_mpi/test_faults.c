/* Every program, and the harness, when a rank ends early or an MPI call returns an error: exit
 * code 5, the message names rank and call, and what was measured is in the file and readable. */
#include "tests/app/command.h"

#define VALIDATE                                                                               \
    "forerun validate --cluster frontier --ranks 2 --passes 1 --visit 0.01 --app %s "          \
    "--samples %s "

/* A call of each program that fails on rank 1 from the third case on, in its third call there. */
static const struct {
    const char *app, *call;
} faults[] = {{"tensor", "MPI_Reduce_scatter_block"},
              {"phantom", "MPI_Allgather"},
              {"grid", "MPI_Allreduce"},
              {"pipeline", "MPI_Recv"},
              {"subgraph", "MPI_Alltoall"}};
enum { N = sizeof faults / sizeof *faults };

static int count(const char *path, const char *what) {
    char *text = NULL;
    size_t length = 0;
    int n = 0;
    if (fr_file_read(path, FR_FILE_MAX_B, &text, &length, NULL) != FR_OK) return 0;
    for (const char *at = text; (at = strstr(at, what)); at++) n++;
    free(text);
    return n;
}

/* Some cases were measured, not all, and scoring the file again shows them. */
static void check_unchanged(const char *app, const char *path) {
    char line[256];
    int cases = count(path, "\"kind\": \"case\""), runs = count(path, "\"kind\": \"run\"");
    if (runs < 1 || runs >= cases) fail_msg("%s: %d runs of %d cases kept", app, runs, cases);
    snprintf(line, sizeof line, "forerun validate --cluster frontier --cores 2 --from %s --all",
             path);
    fr_test_expect(line, 0, "error      median", NULL);
}

static void a_rank_that_ends_early(void **state) {
    (void)state;
    for (int i = 0; i < N; i++) {
        char line[256], path[] = "/tmp/forerun-faults-XXXXXX";
        close(mkstemp(path));
        snprintf(line, sizeof line, VALIDATE "--fail 1:2", faults[i].app, path);
        struct output o = fr_test_run(line);
        if (o.exit_code != 5) fail_msg("%s: exit %d, want 5\n%s", line, o.exit_code, o.err);
        assert_non_null(strstr(o.err, "kept"));
        fr_test_output_free(&o);
        check_unchanged(faults[i].app, path);
        unlink(path);
    }
}

static void a_call_that_returns_an_error(void **state) {
    (void)state;
    for (int i = 0; i < N; i++) {
        char line[600], want[80], fault[64], path[] = "/tmp/forerun-faults-XXXXXX";
        close(mkstemp(path));
        snprintf(fault, sizeof fault, "%s:1:3:3", faults[i].call);
        setenv("FORERUN_FAULT", fault, 1);
        snprintf(line, sizeof line, VALIDATE "--launcher " FR_FAULTY, faults[i].app, path);
        struct output o = fr_test_run(line);
        unsetenv("FORERUN_FAULT");
        snprintf(want, sizeof want, "%s failed on rank 1", faults[i].call);
        if (o.exit_code != 5 || !strstr(o.err, want))
            fail_msg("%s: exit %d, want 5 and \"%s\"\n%s", line, o.exit_code, want, o.err);
        fr_test_output_free(&o);
        check_unchanged(faults[i].app, path);
        unlink(path);
    }
}

/* The harness: samples of the calls before are kept, and can be fitted; how many calls a run makes
 * follows from its timings, so an early one fails. */
static void the_harness_keeps_its_samples(void **state) {
    (void)state;
    char line[600], path[] = "/tmp/forerun-faults-XXXXXX";
    close(mkstemp(path));
    unlink(path);
    setenv("FORERUN_FAULT", "MPI_Allgather:1:60", 1);
    snprintf(line, sizeof line,
             "forerun calibrate --launcher " FR_FAULTY
             " --only all_gather,send_recv --size 8,4KiB,64KiB --launches 1 --budget 10 "
             "--samples %s",
             path);
    struct output o = fr_test_run(line);
    unsetenv("FORERUN_FAULT");
    if (o.exit_code != 5 || !strstr(o.err, "all_gather failed on rank 1"))
        fail_msg("%s: exit %d, want 5\n%s", line, o.exit_code, o.err);
    fr_test_output_free(&o);
    if (count(path, "\"time_s\"") < 1) fail_msg("no sample was kept");
    snprintf(line, sizeof line, "forerun fit %s --json", path);
    fr_test_expect(line, 0, "\"op\": ", NULL);
    unlink(path);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_rank_that_ends_early),
        cmocka_unit_test(a_call_that_returns_an_error),
        cmocka_unit_test(the_harness_keeps_its_samples),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
