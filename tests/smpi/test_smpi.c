/* Ground truth: the harness's own sources on a simulated machine whose latency and bandwidth are
 * known.  Calibration finds them again, and what is fitted on up to 16 ranks predicts 64. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "calibrate/fit/fit.h"
#include "calibrate/measure/calibrate.h"
#include "models/job/cluster.h"
#include "tests/cmocka.h"
#include "trust/numbers/statistics.h"

/* Every message crosses two links of a host, and between nodes two more of its nodes. */
static const double HOST_LINK_S = 2e-6, HOST_RATE = 10e9, NODE_LINK_S = 3e-6, NODE_RATE = 5e9;
enum { NODE_SIZE = 8, HOSTS = 64, FITTED = 16 };

static char platform[64], samples_path[64];

/* One link each way for every host (so that both directions are free), and with @p nodes one each
 * way for every eight hosts. */
static void write_platform(int n, bool nodes) {
    struct fr_text text = {0};
    struct fr_error err;
    fr_text_addf(&text, "<?xml version=\"1.0\"?>\n<!DOCTYPE platform SYSTEM "
                        "\"https://simgrid.org/simgrid.dtd\">\n<platform version=\"4.1\">"
                        "<zone id=\"world\" routing=\"Full\">\n");
    for (int i = 0; i < n; i++) fr_text_addf(&text, "<host id=\"h%03d\" speed=\"10Gf\"/>\n", i);
    for (int i = 0; i < n; i++)
        fr_text_addf(&text,
                     "<link id=\"up%d\" bandwidth=\"%.0fBps\" latency=\"%.9fs\"/>"
                     "<link id=\"down%d\" bandwidth=\"%.0fBps\" latency=\"%.9fs\"/>\n",
                     i, HOST_RATE, HOST_LINK_S, i, HOST_RATE, HOST_LINK_S);
    for (int i = 0; nodes && i < n / NODE_SIZE; i++)
        fr_text_addf(&text,
                     "<link id=\"out%d\" bandwidth=\"%.0fBps\" latency=\"%.9fs\"/>"
                     "<link id=\"in%d\" bandwidth=\"%.0fBps\" latency=\"%.9fs\"/>\n",
                     i, NODE_RATE, NODE_LINK_S, i, NODE_RATE, NODE_LINK_S);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            if (i == j) continue;
            fr_text_addf(&text,
                         "<route src=\"h%03d\" dst=\"h%03d\" symmetrical=\"NO\">"
                         "<link_ctn id=\"up%d\"/>",
                         i, j, i);
            if (nodes && i / NODE_SIZE != j / NODE_SIZE)
                fr_text_addf(&text, "<link_ctn id=\"out%d\"/><link_ctn id=\"in%d\"/>",
                             i / NODE_SIZE, j / NODE_SIZE);
            fr_text_addf(&text, "<link_ctn id=\"down%d\"/></route>\n", j);
        }
    fr_text_addf(&text, "</zone></platform>\n");
    if (fr_file_write(platform, fr_text_get(&text), text.length, &err) != FR_OK)
        fail_msg("%s", err.detail);
    fr_text_free(&text);
}

/* @param words  smpirun's own, such as which algorithm a collective uses */
static void simulate(int n_ranks, const char *words, const char *groups, const char *only,
                     int node_size, struct fr_samples *samples) {
    char launcher[512];
    snprintf(launcher, sizeof launcher, "smpi:%s %s", platform, words);
    const struct fr_calibrate_options options = {
        .launch = {.n_ranks = n_ranks,
                   .launcher = launcher,
                   .program = FR_BIN_DIR "/forerun-smpi"},
        .samples = samples_path,
        .force = true,
        .sizes = "8..512KiB*4",
        .groups = groups,
        .only = only,
        .node_size = node_size,
        .seed = -1};
    struct fr_error err = {.status = FR_OK};
    *samples = (struct fr_samples){0};
    if (fr_calibrate_run(&options, &err) != FR_OK ||
        fr_samples_read(samples_path, samples, &err) != FR_OK)
        fail_msg("%s: %s", err.where, err.detail);
    assert_true(samples->provenance.simulated);
}

/* Fit, write, read: what a user gets. */
static void make_cluster(const struct fr_samples *samples, struct fr_cluster *cluster,
                         struct fr_json_document **document) {
    const struct fr_fit_options options = {.busy_W = -1, .idle_W = -1};
    struct fr_fit_result fit = {0};
    struct fr_text text = {0};
    struct fr_error err = {.status = FR_OK};
    if (fr_fit(samples, &options, &fit, &err) != FR_OK) fail_msg("%s", err.detail);
    fr_fit_write_cluster(&fit, &text);
    if (fr_json_parse(text.data, text.length, "fit", document, &err) != FR_OK ||
        fr_cluster_read(*document, cluster, &err) != FR_OK)
        fail_msg("%s: %s", err.where, err.detail);
    fr_text_free(&text);
    fr_fit_free(&fit);
}

static void check_level(const struct fr_level *level, double latency_s, double rate_B_per_s) {
    if (fabs(level->latency_s / latency_s - 1) > 0.01)
        fail_msg("level %s: latency %g s, is %g s", level->name, level->latency_s, latency_s);
    if (fabs(level->rate_B_per_s / rate_B_per_s - 1) > 0.01)
        fail_msg("level %s: %g B/s, is %g B/s", level->name, level->rate_B_per_s, rate_B_per_s);
}

static void flat_links_are_found(void **state) {
    (void)state;
    struct fr_samples samples;
    struct fr_cluster cluster = {0};
    struct fr_json_document *document = NULL;
    write_platform(FITTED, false);
    simulate(FITTED, "", "2", "send_recv", 0, &samples);
    make_cluster(&samples, &cluster, &document);
    check_level(&cluster.levels.level[cluster.levels.count - 1], 2 * HOST_LINK_S, HOST_RATE);
    fr_cluster_free(&cluster);
    fr_json_free(document);
    fr_samples_free(&samples);
}

static void nodes_of_eight_are_told_apart(void **state) {
    (void)state;
    struct fr_samples samples;
    struct fr_cluster cluster = {0};
    struct fr_json_document *document = NULL;
    write_platform(FITTED, true);
    simulate(FITTED, "", "2", "send_recv,pairs", NODE_SIZE, &samples);
    make_cluster(&samples, &cluster, &document);
    assert_int_equal(cluster.levels.count, 2);
    assert_int_equal(cluster.levels.level[0].ranks, NODE_SIZE);
    check_level(&cluster.levels.level[0], 2 * HOST_LINK_S, HOST_RATE);
    check_level(&cluster.levels.level[1], 2 * (HOST_LINK_S + NODE_LINK_S), NODE_RATE);
    /* Eight pairs share the node's link: each takes eight times as long, within 5 %, since they
     * do not leave the barrier in the same instant. */
    double alone_s = 0, shared_s = 0, largest_B = 0;
    for (size_t i = 0; i < samples.n_pairs; i++)
        largest_B = fmax(largest_B, samples.pairs[i].size_B);
    for (size_t i = 0; i < samples.n_pairs; i++) {
        const struct fr_sample_pairs *s = &samples.pairs[i];
        if (s->level != FR_SAMPLE_SYSTEM || s->direction != 0 || s->size_B < largest_B)
            continue;
        if (s->n_pairs == 1) alone_s = s->time_s - 2 * (HOST_LINK_S + NODE_LINK_S);
        if (s->n_pairs == NODE_SIZE) shared_s = s->time_s - 2 * (HOST_LINK_S + NODE_LINK_S);
    }
    if (!(fabs(shared_s / alone_s / NODE_SIZE - 1) < 0.05))
        fail_msg("alone %g s, eight at once %g s", alone_s, shared_s);
    assert_int_equal(cluster.levels.level[1].shared_by, NODE_SIZE);
    fr_cluster_free(&cluster);
    fr_json_free(document);
    fr_samples_free(&samples);
}

/* Median over sizes of |prediction / simulated - 1| of one operation at 64 ranks. */
static double median_error(struct fr_cluster *cluster, const struct fr_samples *truth,
                           fr_op op) {
    double errors[64];
    size_t n = 0;
    struct fr_group group = fr_group_make(&cluster->levels, HOSTS, 1);
    for (size_t i = 0; i < truth->n_collective && n < 64; i++) {
        const struct fr_sample_collective *s = &truth->collective[i];
        bool extrapolated = false;
        if (s->op != op || s->n_ranks != HOSTS) continue;
        double time_s = fr_comm_time_s(&cluster->price[op], &group, s->size_B, &extrapolated);
        errors[n++] = fabs(time_s / s->time_s - 1);
        assert_true(extrapolated); /* more ranks than were measured: it must say so */
    }
    if (n < 5) fail_msg("%s: only %zu sizes", fr_op_names[op], n);
    fr_sort(errors, n);
    return fr_sorted_median(errors, n);
}

static bool is_simulated(const struct fr_samples *samples, int op) {
    for (size_t i = 0; i < samples->n_collective; i++)
        if ((int)samples->collective[i].op == op) return true;
    return false;
}

static void sixteen_ranks_predict_sixty_four(const char *name, const char *words) {
    static const char ops[] =
        "broadcast,reduce,all_reduce,all_gather,reduce_scatter,all_to_all";
    struct fr_samples few, many;
    struct fr_cluster cluster = {0};
    struct fr_json_document *document = NULL;
    char only[128];
    int n_wrong = 0, n_ops = 0;
    snprintf(only, sizeof only, "%s,send_recv", ops);
    write_platform(HOSTS, false);
    simulate(FITTED, words, "2,4,8,16", only, 0, &few);
    simulate(HOSTS, words, "64", ops, 0, &many);
    make_cluster(&few, &cluster, &document);
    cluster.levels.level[cluster.levels.count - 1].ranks = HOSTS;
    for (int op = 0; op < FR_OP_COUNT; op++) {
        if (op == FR_OP_SEND_RECV || !is_simulated(&many, op)) continue;
        double error = median_error(&cluster, &many, (fr_op)op);
        printf("  %-18s %-15s %5.2f %%\n", name, fr_op_names[op], 100 * error);
        n_wrong += !(error < 0.10);
        n_ops++;
    }
    assert_int_equal(n_ops, 6);
    assert_int_equal(n_wrong, 0);
    fr_cluster_free(&cluster);
    fr_json_free(document);
    fr_samples_free(&few);
    fr_samples_free(&many);
}

static void ring(void **state) {
    (void)state;
    sixteen_ranks_predict_sixty_four(
        "ring", "--cfg=smpi/allreduce:lr --cfg=smpi/allgather:ring "
                "--cfg=smpi/reduce_scatter:ompi_ring --cfg=smpi/alltoall:ring "
                "--cfg=smpi/bcast:scatter_LR_allgather --cfg=smpi/reduce:scatter_gather");
}

static void recursive_doubling(void **state) {
    (void)state;
    if (fr_sample(0, 1)) return; /* at night */
    sixteen_ranks_predict_sixty_four(
        "recursive doubling", "--cfg=smpi/allreduce:rdb --cfg=smpi/allgather:rdb "
                              "--cfg=smpi/reduce_scatter:mpich_rdb --cfg=smpi/alltoall:pair "
                              "--cfg=smpi/bcast:binomial_tree --cfg=smpi/reduce:binomial");
}

static void rabenseifner(void **state) {
    (void)state;
    if (fr_sample(0, 1)) return; /* at night */
    sixteen_ranks_predict_sixty_four(
        "Rabenseifner", "--cfg=smpi/allreduce:rab1 --cfg=smpi/allgather:bruck "
                        "--cfg=smpi/reduce_scatter:ompi_basic_recursivehalving "
                        "--cfg=smpi/alltoall:bruck --cfg=smpi/bcast:scatter_rdb_allgather "
                        "--cfg=smpi/reduce:scatter_gather");
}

static void a_platform_that_is_not_there_is_named(void **state) {
    (void)state;
    const struct fr_launch_options options = {.n_ranks = 2,
                                              .launcher = "smpi:/no-such-folder.xml",
                                              .program = FR_BIN_DIR "/forerun-smpi"};
    const char *const words[] = {"calibrate", NULL};
    struct fr_error err = {.status = FR_OK};
    assert_int_equal(fr_launch_mpi(&options, words, &err), FR_ERR_INPUT);
    assert_string_equal(err.where, "/no-such-folder.xml");
}

static int make_paths(void **state) {
    (void)state;
    snprintf(platform, sizeof platform, "/tmp/forerun-smpi-%d.xml", (int)getpid());
    snprintf(samples_path, sizeof samples_path, "/tmp/forerun-smpi-%d.jsonl", (int)getpid());
    return 0;
}

static int remove_paths(void **state) {
    (void)state;
    unlink(platform);
    unlink(samples_path);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(flat_links_are_found),
        cmocka_unit_test(nodes_of_eight_are_told_apart),
        cmocka_unit_test(ring),
        cmocka_unit_test(recursive_doubling),
        cmocka_unit_test(rabenseifner),
        cmocka_unit_test(a_platform_that_is_not_there_is_named),
    };
    if (access(FR_BIN_DIR "/forerun-smpi", R_OK) != 0) {
        puts("skipped: no SimGrid (libsimgrid-dev), so forerun-smpi was not built");
        return 77;
    }
    return cmocka_run_group_tests(tests, make_paths, remove_paths);
}
