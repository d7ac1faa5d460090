/* Measured runs: keys, faults, and the readers of published files. */
#include "calibrate/runs.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/data.h"
#include "base/file.h"
#include "tests/cmocka.h"

static char path[] = "/tmp/forerun_runs_XXXXXX";

static int make_file(void **state) {
    (void)state;
    return mkstemp(path) < 0;
}
static int remove_file(void **state) {
    (void)state;
    return remove(path);
}

static fr_status read_text(const char *text, struct fr_runs *runs, struct fr_error *err) {
    assert_int_equal(fr_file_write(path, text, strlen(text), err), FR_OK);
    return fr_runs_read(path, NULL, runs, err);
}

static void keys_make_a_run(void **state) {
    struct fr_runs runs = {0};
    struct fr_error err = {0};
    (void)state;
    if (read_text("id,model,model.layers,ranks,plan.tp,plan.pp,plan.global_batch,measured_s,"
                  "weight,group,note.date\n"
                  "first,gpt-2.5b,8,16,4,2,32,1.5,0.5,a,today\n,gpt-2.5b,,8,8,,32,2,,,\n",
                  &runs, &err) != FR_OK)
        fail_msg("%s: %s", err.where, err.detail);
    assert_int_equal(runs.count, 2);
    const struct fr_run *run = &runs.items[0];
    assert_string_equal(run->id, "first");
    assert_int_equal(run->workload.transformer.layers, 8);
    assert_int_equal(run->plan.dp, 2); /* 16 / (4 x 2) */
    assert_true(run->measured_s == 1.5 && run->weight == 0.5 && isnan(run->measured_J));
    assert_string_equal(run->group, "a");
    assert_string_equal(fr_run_row_get(run->row, "note.date"), "today");
    assert_string_equal(runs.items[1].id, "line 3");
    assert_true(runs.items[1].weight == 1);
    fr_runs_free(&runs);
}

static void refused(const char *text, const char *what) {
    struct fr_runs runs = {0};
    struct fr_error err = {0};
    if (read_text(text, &runs, &err) == FR_OK) fail_msg("accepted: %s", text);
    if (!strstr(err.detail, what)) fail_msg("got \"%s\", wanted \"%s\"", err.detail, what);
    assert_true(strlen(err.where) > 0);
    fr_runs_free(&runs);
}

static void faults_are_named(void **state) {
    (void)state;
    refused("model,measured\ngpt-2.5b,1\n", "no reader knows these columns");
    refused("model,measured_s,plan.tpp\ngpt-2.5b,1,2\n", "unknown key");
    refused("model,measured_s,tp\ngpt-2.5b,1,2\n", "unknown column");
    refused("model,measured_s\ngpt-2.5b,-1\n", "is not a number of at least");
    refused("model,measured_s\ngpt-2.5b,\n", "has no measured_s");
    refused("model,measured_s,ranks,plan.tp\ngpt-2.5b,1,8,3\n", "cannot be divided");
    refused("model,measured_s,ranks,plan.dp\ngpt-2.5b,1,8,4\n", "the degrees make 4 ranks");
    refused("model,measured_s,ranks,plan.global_batch\ngpt-2.5b,1,8,12\n", "does not divide");
}

/* Written as a runs.csv, the runs of a published file read back the same. */
static void published_files_are_read(void **state) {
    static const struct {
        const char *file;
        int least;
    } files[] = {
        {"training/vtrain_single_node.csv", 870},   {"training/vtrain_multi_node.csv", 57},
        {"training/megatron_sc21_table1.csv", 5},   {"training/megatron_seqsel_table5.csv", 4},
        {"training/bigscience_bloom_a100.csv", 45}, {"training/dgxc_benchmarking.csv", 100},
        {"training/megatron_bridge.csv", 10},       {"training/llmfoundry_mpt_fsdp.csv", 100}};
    (void)state;
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        struct fr_runs runs = {0}, again = {0};
        struct fr_text text = {0};
        struct fr_error err = {0};
        char file[512];
        if (!fr_data_find(files[i].file, file, sizeof file)) skip();
        if (fr_runs_read(file, NULL, &runs, &err) != FR_OK)
            fail_msg("%s: %s", err.where, err.detail);
        if (runs.count < files[i].least)
            fail_msg("%s: got %d runs, wanted %d", files[i].file, runs.count, files[i].least);
        fr_runs_write(&runs, &text);
        if (read_text(fr_text_get(&text), &again, &err) != FR_OK)
            fail_msg("%s: %s", err.where, err.detail);
        assert_int_equal(again.count, runs.count);
        for (int k = 0; k < runs.count; k++) {
            assert_true(again.items[k].measured_s == runs.items[k].measured_s);
            assert_int_equal(fr_plan_ranks(&again.items[k].plan),
                             fr_plan_ranks(&runs.items[k].plan));
        }
        fr_text_free(&text);
        fr_runs_free(&runs);
        fr_runs_free(&again);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keys_make_a_run),
        cmocka_unit_test(faults_are_named),
        cmocka_unit_test(published_files_are_read),
    };
    return cmocka_run_group_tests(tests, make_file, remove_file);
}
