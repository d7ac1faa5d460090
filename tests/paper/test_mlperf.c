/* forerun reproduce mlperf on rows made up: their times are our own predictions, scaled, so what blind
 * and refitted predictions must be is known. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "studies/paper_table.h"
#include "studies/training/mlperf.h"
#include "tests/cmocka.h"
#include "trust/tune.h"

static const char head[] =
    "row_id,round,system,accelerator,accelerators,model,sequence,global_batch_"
    "seqs,micro_batch_seqs,tp,pp,vpp_chunks,cp,sequence_parallel,"
    "precision,fp8_recipe,distributed_optimizer,overlap_grad_reduce,"
    "gradient_sync_dtype,gradient_bucket,rank_order,measured_step_time_"
    "s,derived_step_time_wall_s,duplicate_of,quality\n";

/* id, round, system, device, precision, ranks, batch, time over our prediction */
static const struct made {
    const char *id, *round, *system, *device, *precision;
    int ranks, batch;
    double slower;
} made[] = {{"first", "v1", "pod_n1_ngc1", "H100", "bf16", 8, 64, 1.5},
            {"wide", "v1", "pod_n4_ngc1", "H100", "bf16", 32, 256, 1.5},
            {"narrow", "v1", "pod_n16_ngc1", "H100", "fp8", 128, 1024, 1},
            {"later", "v2", "hall.north.n2", "H100", "bf16", 16, 128, 1},
            {"last", "v2", "hall.north.n8", "H100", "bf16", 64, 512, 1},
            {"alone", "v2", "lab_ngpu8_ngc2", "B200", "bf16", 8, 64, 1.1},
            {"hopper", "v2", "lab_h200", "H200-SXM-141GB", "mxfp8", 8, 64, 1},
            {"four", "v2", "rack_ngpu8", "GB300", "nvfp4", 8, 64, 1},
            {"other", "v1", "hall", "Cerebras-WSE3", "bf16", 8, 64, 1}};
enum { MADE = sizeof made / sizeof *made };

static double time_s[MADE];

static void write_rows(const char *path) {
    struct fr_text text = {0};
    struct fr_error err = {0};
    fr_text_addf(&text, "%s", head);
    for (int i = 0; i < MADE; i++)
        fr_text_addf(&text,
                     "%s,%s,%s,%s,%d,llama3.1-8b,8192,%d,1,2,1,1,1,yes,%s,,zero1,yes,bf16,,,"
                     "%.9g,,,A\n",
                     made[i].id, made[i].round, made[i].system, made[i].device, made[i].ranks,
                     made[i].batch, made[i].precision, time_s[i] > 0 ? time_s[i] : 1);
    assert_int_equal(fr_file_write(path, fr_text_get(&text), text.length, &err), FR_OK);
    fr_text_free(&text);
}

/* Our predictions of the rows, times what each is slower by. */
static void make_times(void) {
    struct fr_table_set set = {0};
    struct fr_error err = {0};
    if (fr_table_read(fr_mlperf_file, &set, &err) != FR_OK) fail_msg("%s", err.detail);
    assert_int_equal(set.n, MADE);
    for (int i = 0; i < set.n; i++) {
        const char *preset = fr_mlperf_preset(set.use[i]);
        struct fr_cluster cluster = {0};
        if (!preset) continue;
        assert_int_equal(fr_table_cluster(preset, &cluster, &err), FR_OK);
        time_s[i] = made[i].slower * fr_run_predict_s(&cluster, set.use[i]);
        fr_cluster_free(&cluster);
    }
    fr_table_free(&set);
}

static void run(struct fr_reproduction *r) {
    char folder[] = "/tmp/forerun_mlperf_XXXXXX", path[128];
    struct fr_error err = {0};
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/mlperf", folder);
    assert_int_equal(mkdir(path, 0777), 0);
    snprintf(path, sizeof path, "%s/%s", folder, fr_mlperf_file);
    setenv("FORERUN_DATA", folder, 1);
    write_rows(path);
    make_times();
    write_rows(path);
    fr_status status = fr_paper_mlperf.run(r, &err);
    unlink(path);
    snprintf(path, sizeof path, "%s/mlperf", folder);
    rmdir(path);
    rmdir(folder);
    if (status != FR_OK) fail_msg("%s: %s", err.where, err.detail);
}

static const struct fr_reproduce_row *row(const struct fr_reproduction *r, const char *id) {
    for (size_t i = 0; i < r->count; i++)
        if (strcmp(r->rows[i].id, id) == 0) return &r->rows[i];
    return NULL;
}

static double ours(const struct fr_reproduction *r, const char *id) {
    const struct fr_reproduce_row *x = row(r, id);
    if (!x) fail_msg("no row %s", id);
    return x->ours;
}

static void blind_knows_nothing(void **state) {
    struct fr_reproduction r = {0};
    (void)state;
    run(&r);
    for (int i = 0; i < MADE - 1; i++) {
        char id[64];
        snprintf(id, sizeof id, "mlperf_blind/%s", made[i].id);
        const struct fr_reproduce_row *x = row(&r, id);
        assert_non_null(x);
        double ratio = x->ours / x->published;
        FR_TRUE(fabs(ratio * made[i].slower - 1) < 1e-6, "%s: %g", id, ratio);
    }
    double mean = (1. / 3 + 1. / 3 + (1 - 1 / 1.1)) / (MADE - 1);
    FR_TRUE(fabs(ours(&r, "mlperf_blind/mean_error") - mean) < 1e-6, "want %g", mean);
    FR_TRUE(fabs(ours(&r, "mlperf_blind/preset_alone") - mean) < 1e-6, "want %g", mean);
    FR_TRUE(ours(&r, "mlperf_blind/n") == MADE - 1, "n");
    FR_TRUE(ours(&r, "mlperf_blind/plans") == 1, "one plan, many replicas");
    FR_TRUE(ours(&r, "left_out/mlperf/time_pretraining.csv/preset") == 1, "Cerebras-WSE3");
    free(r.rows);
}

/* One machine's smallest run takes half as long again, beyond what releases differ: the refit says so of all its
 * runs, but for what a prior holds back, and not of another machine; all machines of a preset as one, of all; that of its
 * round of the round's alone.  A run of another dtype, which other coefficients price, has no part in either. */
static void a_refit_is_of_the_smallest_run(void **state) {
    struct fr_reproduction r = {0};
    (void)state;
    run(&r);
    FR_TRUE(ours(&r, "mlperf_refit/n") == 2, "wide and last");
    FR_TRUE(ours(&r, "mlperf_refit_preset/n") == 3,
            "all but the smallest, and B200's only one");
    FR_TRUE(ours(&r, "mlperf_refit_round/n") == 2, "wide and last");
    assert_null(row(&r, "mlperf_refit/first"));
    assert_null(row(&r, "mlperf_refit/alone"));
    const struct fr_reproduce_row *wide = row(&r, "mlperf_refit/wide"),
                                  *apart = row(&r, "mlperf_refit/last"),
                                  *last = row(&r, "mlperf_refit_preset/last"),
                                  *own = row(&r, "mlperf_refit_round/last");
    assert_true(wide && apart && last && own);
    FR_TRUE(fabs(apart->ours / apart->published - 1) < 0.01, "%g",
            apart->ours / apart->published);
    FR_TRUE(fabs(wide->ours / wide->published - 1) < 0.15, "%g", wide->ours / wide->published);
    FR_TRUE(last->ours / last->published > 1.1, "%g", last->ours / last->published);
    FR_TRUE(fabs(own->ours / own->published - 1) < 0.01, "%g", own->ours / own->published);
    free(r.rows);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(blind_knows_nothing),
                                       cmocka_unit_test(a_refit_is_of_the_smallest_run)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
