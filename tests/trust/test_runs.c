/* Measured runs: keys, faults, and the readers of published files. */
#include "trust/runs/reader.h"
#include "trust/runs/runs.h"

#include "models/job/preset.h"
#include "trust/runs/row/machine.h"
#include "trust/tune.h"

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
    return fr_runs_read(path, runs, err);
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

/* ---- clusters, conditions, completion ---------------------------------------------------------- */

static void read_asked(const char *text, const struct fr_runs_ask *ask, struct fr_runs *runs) {
    struct fr_error err = {0};
    *runs = (struct fr_runs){.ask = *ask};
    if (read_text(text, runs, &err) != FR_OK) fail_msg("%s: %s", err.where, err.detail);
}

/* Rows that name the same machine share it; one that names none is left out and counted. */
static void rows_are_on_their_own_clusters(void **state) {
    static const char *const sets[] = {"cluster.device.memory=100 GB"};
    static const struct fr_runs_ask own = {
        .placed = true, .needed = true, .sets = sets, .n_sets = 1};
    struct fr_runs runs;
    (void)state;
    read_asked("model,measured_s,cluster,cluster.levels.1.bandwidth\n"
               "gpt-2.5b,1,dgx-h100,\ngpt-2.5b,1,dgx-h100,100 Gb/s\ngpt-2.5b,1,,\n"
               "gpt-2.5b,1,dgx-h100,\n",
               &own, &runs);
    assert_int_equal(runs.count, 3);
    assert_int_equal(runs.skipped[FR_RUN_NO_CLUSTER], 1);
    assert_int_equal(runs.n_machines, 2);
    assert_ptr_equal(runs.items[0].cluster, runs.items[2].cluster);
    assert_true(runs.items[1].cluster->levels.level[1].rate_B_per_s == 12.5e9);
    assert_true(runs.items[0].cluster->levels.level[1].rate_B_per_s != 12.5e9);
    for (int i = 0; i < runs.count; i++)
        assert_true(runs.items[i].cluster->device.memory_B == 100e9);
    assert_null(fr_machine_only(&runs));
    fr_runs_free(&runs);
}

static void one_cluster_stands_in_for_all(void **state) {
    static const struct fr_cluster given = {.name = "given"};
    static const struct fr_runs_ask on = {.on = &given};
    struct fr_runs runs;
    struct fr_text text = {0};
    (void)state;
    read_asked("model,measured_s,cluster\ngpt-2.5b,1,dgx-h100\ngpt-2.5b,1,\n", &on, &runs);
    assert_ptr_equal(runs.items[0].cluster, &given);
    assert_ptr_equal(runs.items[1].cluster, &given);
    fr_runs_print_skipped(&runs, &text);
    assert_string_equal(fr_text_get(&text),
                        "1 row names a cluster of its own, which --cluster replaces\n");
    fr_text_free(&text);
    fr_runs_free(&runs);
}

/* ---- software ------------------------------------------------------------------------------------ */

static const char slow_software[] =
    "{\"name\": \"slow\", \"date\": \"2024\", \"from\": \"megatron-bridge-26.06\", \"facts\": ["
    "{\"key\": \"attention.flash\", \"value\": 0.2, \"source\": \"made up\", \"date\": "
    "\"2024\"},"
    "{\"key\": \"attention\", \"value\": \"flash-2\", \"source\": \"made up\", \"date\": "
    "\"2024\"}]}";

/* Rows that name the same software share it; facts of a row go before its file, those of --set before the row; and
 * the file may lie beside the rows.  One that names none has the newest, or what is asked for. */
static void rows_are_with_their_own_software(void **state) {
    static const char beside[] = "/tmp/forerun_software_beside.json",
                      rows[] = "model,measured_s,cluster,plan.dp,runtime,runtime.host_launch\n"
                               "llama-3-8b,1,dgx-h100,8,forerun_software_beside.json,\n"
                               "llama-3-8b,1,dgx-h100,8,forerun_software_beside.json,7us\n"
                               "llama-3-8b,1,dgx-h100,8,,\n"
                               "llama-3-8b,1,dgx-h100,8,forerun_software_beside.json,\n"
                               "llama-3-8b,1,dgx-h100,8,papers-2019,\n";
    static const char *const sets[] = {"runtime.fixed=3 s", "runtime.host_launch=9us"};
    static const struct fr_runs_ask own = {.placed = true}, asked = {.placed = true,
                                                                     .runtime = beside,
                                                                     .sets = sets,
                                                                     .n_sets = 2};
    struct fr_runs runs;
    struct fr_error err = {0};
    (void)state;
    assert_int_equal(fr_file_write(beside, slow_software, sizeof slow_software - 1, &err),
                     FR_OK);
    read_asked(rows, &own, &runs);
    const struct fr_run *run = runs.items;
    assert_ptr_equal(run[0].cluster, run[3].cluster);
    assert_ptr_not_equal(run[0].cluster, run[1].cluster);
    assert_int_equal(runs.n_machines, 4);
    for (int i = 0; i < 5; i++) {
        bool slow = i != 2 && i != 4;
        FR_TRUE((run[i].cluster->device.attention.flash == 0.2) == slow, "row %d: share %g", i,
                run[i].cluster->device.attention.flash);
        FR_TRUE((strcmp(run[i].runtime, "slow") == 0) == slow, "row %d: %s", i, run[i].runtime);
        FR_TRUE(run[i].plan.attention == (slow     ? FR_ATTENTION_FLASH_2
                                          : i == 4 ? FR_ATTENTION_PLAIN
                                                   : FR_ATTENTION_FLASH),
                "row %d: attention %d", i, (int)run[i].plan.attention);
    }
    assert_true(run[1].cluster->device.host_launch_s == 7e-6);
    assert_true(run[0].cluster->device.host_launch_s == run[2].cluster->device.host_launch_s);
    assert_ptr_not_equal(strstr(run[2].runtime, "megatron"), NULL);
    fr_runs_free(&runs);
    read_asked(rows, &asked, &runs);
    run = runs.items;
    assert_string_equal(run[2].runtime, "slow");
    assert_string_equal(run[4].runtime, "papers-2019");
    for (int i = 0; i < 5; i++)
        assert_true(run[i].cluster->device.host_launch_s == 9e-6 &&
                    run[i].cluster->device.fixed_s == 3);
    fr_runs_free(&runs);
    remove(beside);
}

/* A date in place of a name: the release that was out by then, with its defaults and its costs; --set goes before it. */
static void a_date_names_a_release(void **state) {
    static const char rows[] =
        "model,model.dtype,measured_s,cluster,plan.dp,runtime,runtime.date\n"
        "qwen3-30b-a3b,fp8,1,dgx-h100,8,nemo-25.04,\n"
        "qwen3-30b-a3b,fp8,1,dgx-h100,8,,2025-04\n"
        "qwen3-30b-a3b,fp8,1,dgx-h100,8,,2025-08\n"
        "qwen3-30b-a3b,fp8,1,dgx-h100,8,,\n";
    static const char *const wanted[] = {"nemo-25.04", "nemo-25.04", "nemo-25.04",
                                         "megatron-bridge-26.06"};
    static const char *const sets[] = {"runtime.date=2025-11"};
    static const struct fr_runs_ask own = {.placed = true},
                                    asked = {.placed = true, .sets = sets, .n_sets = 1};
    struct fr_runs runs;
    (void)state;
    read_asked(rows, &own, &runs);
    for (int i = 0; i < 4; i++) assert_string_equal(runs.items[i].runtime, wanted[i]);
    const struct fr_run *run = runs.items;
    assert_memory_equal(&run[0].cluster->device, &run[1].cluster->device,
                        sizeof run[0].cluster->device);
    assert_string_equal(run[0].assumed, run[1].assumed);
    assert_true(run[1].cluster->drift.years == 0 && run[2].cluster->drift.years > 0.3);
    fr_runs_free(&runs);
    read_asked(rows, &asked, &runs);
    assert_string_equal(runs.items[0].runtime, "nemo-25.04");
    assert_string_equal(runs.items[3].runtime, "megatron-bridge-25.11");
    fr_runs_free(&runs);
}

/* A published row takes costs alone, on the cluster of all rows too; what that was tuned to stays. */
static void software_is_worth_what_its_facts_say(void **state) {
    static const char path_of[] = "/tmp/forerun_software_slow.json";
    struct fr_json_document *document = NULL;
    struct fr_cluster given = {0}, tuned;
    struct fr_runs runs;
    struct fr_error err = {0};
    char rows[400];
    (void)state;
    assert_int_equal(fr_file_write(path_of, slow_software, sizeof slow_software - 1, &err),
                     FR_OK);
    assert_int_equal(fr_preset_or_file_read("cluster", "dgx-h100", &document, &err), FR_OK);
    assert_int_equal(fr_cluster_read(document, &given, &err), FR_OK);
    const struct fr_runs_ask on = {.on = &given, .document = document};
    snprintf(rows, sizeof rows,
             "model,measured_s,cluster,plan.dp,plan.attention,model.defaults,runtime\n"
             "llama-3-8b,1,,8,flash,2019,%s\nllama-3-8b,1,,8,flash,2019,\n",
             path_of);
    read_asked(rows, &on, &runs);
    const struct fr_run *run = runs.items;
    assert_ptr_equal(run[1].cluster, &given);
    assert_string_equal(run[0].assumed, "");
    assert_true(run[0].cluster->device.attention.flash == 0.2);
    double slow_s = fr_run_predict_s(run[0].cluster, &run[0]),
           fast_s = fr_run_predict_s(&given, &run[1]);
    FR_TRUE(slow_s > 1.01 * fast_s, "%g s, of today's %g", slow_s, fast_s);
    FR_NEAR(fr_run_predict_s(&given, &run[0]), slow_s, 1e-12);
    FR_NEAR(fr_run_predict_s(run[0].cluster, &run[1]), fast_s, 1e-12);
    tuned = given;
    tuned.device.attention.flash *= 0.8;
    struct fr_cluster both = *run[0].cluster;
    both.device.attention.flash *= 0.8;
    FR_NEAR(fr_run_predict_s(&tuned, &run[0]), fr_run_predict_s(&both, &run[0]), 1e-12);
    fr_runs_free(&runs);
    fr_cluster_free(&given);
    fr_json_free(document);
    remove(path_of);
}

static void software_that_is_none_is_refused(void **state) {
    static const struct {
        const char *cells, *wanted;
    } rows[] = {{"nemo-24.30,", "nemo-24.03"},
                {",\"fast\"", "host_launch"},
                {"\"{\"\"facts\"\": [{}]}\",", "key"}};
    static const struct fr_runs_ask own = {.placed = true};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct fr_runs runs = {.ask = own};
        struct fr_error err = {0};
        char text[300];
        snprintf(text, sizeof text,
                 "model,measured_s,cluster,runtime,runtime.host_launch\n"
                 "gpt-2.5b,1,dgx-h100,%s\n",
                 rows[i].cells);
        FR_TRUE(read_text(text, &runs, &err) == FR_ERR_INPUT, "%s", rows[i].cells);
        FR_TRUE(strstr(err.detail, rows[i].wanted) != NULL ||
                    strstr(err.where, rows[i].wanted) != NULL,
                "%s: got %s: %s", rows[i].cells, err.where, err.detail);
        fr_runs_free(&runs);
    }
}

/* The reader says which release ran every published row that can be used. */
static void published_rows_name_their_software(void **state) {
    static const char *const folders[] = {"training", "mlperf", "energy"};
    int rows = 0;
    (void)state;
    for (size_t f = 0; f < sizeof folders / sizeof *folders; f++) {
        char folder[512], **files = NULL;
        size_t count = 0;
        struct fr_error err = {0};
        if (!fr_data_find(folders[f], folder, sizeof folder)) skip();
        assert_int_equal(fr_folder_list(folder, ".csv", &files, &count, &err), FR_OK);
        for (size_t i = 0; i < count; i++) {
            struct fr_runs runs = {0};
            if (fr_runs_read(files[i], &runs, &err) == FR_OK)
                for (int k = 0; k < runs.count; k++, rows++) {
                    const char *name = fr_run_row_get(runs.items[k].row, "runtime");
                    FR_TRUE(name && fr_preset_find("runtime", name), "%s: %s is of %s",
                            files[i], runs.items[k].id, name ? name : "no software");
                }
            fr_runs_free(&runs);
        }
        fr_folder_free(files, count);
    }
    FR_TRUE(rows > 1000, "%d rows are no test", rows);
}

static void conditions_keep_rows(void **state) {
    static const struct {
        const char *where[2];
        int n, kept; /* conditions, rows; -1: refused */
    } asked[] = {{{"plan.tp=2"}, 1, 2},   {{"tp=2"}, 1, 2},
                 {{"tp=2.0"}, 1, 2},      {{"tp=2", "kind=b"}, 2, 1},
                 {{"note.kind=a"}, 1, 2}, {{"kind="}, 1, 1},
                 {{"tp>=2"}, 1, 3},       {{"tp<=1"}, 1, 1},
                 {{"date>=02-25"}, 1, 2}, {{"measured_s=1"}, 1, 4},
                 {{"colour=red"}, 1, -1}, {{"tp"}, 1, -1},
                 {{"=2"}, 1, -1},         {{"tp>2"}, 1, -1}};
    static const char rows[] = "model,measured_s,plan.tp,note.kind,note.date\n"
                               "gpt-2.5b,1,1,a,02-24\ngpt-2.5b,1,2,a,02-25\n"
                               "gpt-2.5b,1,2,b,03-01\ngpt-2.5b,1,4,,\n";
    (void)state;
    for (size_t i = 0; i < sizeof asked / sizeof *asked; i++) {
        struct fr_runs runs = {.ask = {.where = asked[i].where, .n_where = asked[i].n}};
        struct fr_error err = {0};
        fr_status status = read_text(rows, &runs, &err);
        FR_TRUE(status == (asked[i].kept < 0 ? FR_ERR_USAGE : FR_OK), "%s: got %s",
                asked[i].where[0], err.detail);
        if (asked[i].kept >= 0)
            FR_TRUE(runs.count == asked[i].kept, "%s: got %d rows, want %d", asked[i].where[0],
                    runs.count, asked[i].kept);
        fr_runs_free(&runs);
    }
}

/* A row is completed as the command line completes a plan, a published one from the defaults of 2019. */
static void rows_are_completed(void **state) {
    static const struct fr_runs_ask none = {0}, modern = {.defaults = "modern"};
    static const char open[] =
        "model,measured_s,model.defaults,plan.dp,plan.attention\n"
        "llama-3-8b,1,,8,\nllama-3-8b,1,2019,8,\nllama-3-8b,1,,8,flash-2\n"
        "gpt-2.5b,1,,8,\n";
    struct fr_runs runs;
    (void)state;
    read_asked(open, &none, &runs);
    const struct fr_run *run = runs.items;
    assert_int_equal(run[0].plan.attention, FR_ATTENTION_FLASH);
    assert_non_null(strstr(run[0].assumed, "attention flash"));
    assert_int_equal(run[1].plan.attention, FR_ATTENTION_PLAIN);
    assert_string_equal(run[1].assumed, "");
    assert_null(strstr(run[2].assumed, "attention"));
    assert_int_equal(run[3].plan.attention, FR_ATTENTION_PLAIN);
    fr_runs_free(&runs);
    read_asked(open, &modern, &runs);
    run = runs.items;
    assert_int_equal(run[1].plan.attention, FR_ATTENTION_PLAIN);
    assert_int_equal(run[3].plan.attention, FR_ATTENTION_FLASH);
    fr_runs_free(&runs);
}

/* A model or cluster that a row names lies beside the file, whatever the working directory. */
static void paths_are_beside_the_file(void **state) {
    static const char model[] = "/tmp/forerun_model_beside.json",
                      text[] = "{\"kind\": \"transformer\", \"layers\": 3, \"hidden\": 64, "
                               "\"heads\": 2, \"sequence\": 16, \"vocabulary\": 100}";
    static const struct fr_runs_ask none = {0};
    struct fr_runs runs;
    (void)state;
    assert_int_equal(fr_file_write(model, text, strlen(text), NULL), FR_OK);
    read_asked("model,measured_s\nforerun_model_beside.json,1\n", &none, &runs);
    assert_int_equal(runs.items[0].workload.transformer.layers, 3);
    fr_runs_free(&runs);
    remove(model);
}

/* Two files name cluster.json, each its own. */
static void a_path_is_of_its_own_file(void **state) {
    struct fr_runs runs = {.ask = {.placed = true}};
    struct fr_error err = {0};
    char folder[2][40], file[2][120],
        row[] = "model,measured_s,cluster\ngpt-2.5b,1,cluster.json\n";
    (void)state;
    for (int i = 0; i < 2; i++) {
        char text[200], cluster[120];
        snprintf(folder[i], sizeof folder[i], "/tmp/forerun_folder_XXXXXX");
        assert_non_null(mkdtemp(folder[i]));
        snprintf(cluster, sizeof cluster, "%s/cluster.json", folder[i]);
        snprintf(text, sizeof text,
                 "{\"name\": \"%s\", \"levels\": [{\"name\": \"node\", \"ranks\": 8, "
                 "\"latency\": \"1 us\", \"bandwidth\": \"1 GB/s\"}]}",
                 i ? "second" : "first");
        assert_int_equal(fr_file_write(cluster, text, strlen(text), &err), FR_OK);
        snprintf(file[i], sizeof file[i], "%s/runs.csv", folder[i]);
        assert_int_equal(fr_file_write(file[i], row, strlen(row), &err), FR_OK);
        if (fr_runs_read(file[i], &runs, &err) != FR_OK)
            fail_msg("%s: %s", err.where, err.detail);
        remove(cluster);
        remove(file[i]);
        remove(folder[i]);
    }
    assert_string_equal(runs.items[0].cluster->name, "first");
    assert_string_equal(runs.items[1].cluster->name, "second");
    fr_runs_free(&runs);
}

/* Memory is the allocator's count where a row does not say whose, and NaN where it has none. */
static void memory_says_who_counted_it(void **state) {
    struct fr_runs runs = {0};
    struct fr_error err = {0};
    (void)state;
    if (read_text("model,measured_s,measured_memory_B,measured_memory_at\n"
                  "gpt-2.5b,1,3e10,device\ngpt-2.5b,1,2e10,\ngpt-2.5b,1,,reserved\n",
                  &runs, &err) != FR_OK)
        fail_msg("%s: %s", err.where, err.detail);
    assert_true(runs.items[0].measured_memory_B == 3e10 &&
                runs.items[0].counted == FR_COUNTED_DEVICE);
    assert_true(runs.items[1].measured_memory_B == 2e10 &&
                runs.items[1].counted == FR_COUNTED_ALLOCATED);
    assert_true(isnan(runs.items[2].measured_memory_B) &&
                runs.items[2].counted == FR_COUNTED_RESERVED);
    fr_runs_free(&runs);
}

static void refused(const char *text, const char *what) {
    struct fr_runs runs = {0};
    struct fr_error err = {0};
    if (read_text(text, &runs, &err) == FR_OK) fail_msg("accepted: %s", text);
    if (!strstr(err.detail, what)) fail_msg("got \"%s\", wanted \"%s\"", err.detail, what);
    assert_non_null(strstr(err.where, path));
    fr_runs_free(&runs);
}

static void faults_are_named(void **state) {
    (void)state;
    refused("model,measured\ngpt-2.5b,1\n", "no reader knows these columns");
    refused("model,measured_s,plan.tpp\ngpt-2.5b,1,2\n", "unknown key");
    refused("model,measured_s\nno-such,1\n", "no-such: is neither a file nor a model preset");
    refused("model,measured_s,model.layers\ngpt-2.5b,1,-8\n", "is -8; expected 1 to");
    refused("model,measured_s,tp\ngpt-2.5b,1,2\n", "unknown column");
    refused("model,measured_s\ngpt-2.5b,-1\n", "is not a number of 1e-09 to 1e+18");
    refused("model,measured_s,weight\ngpt-2.5b,1,inf\n", "is not a number of 0 to 1e+18");
    refused("model,measured_s,measured_J\ngpt-2.5b,1,1e308\n", "is not a number of 0 to");
    refused("model,measured_s,measured_at\ngpt-2.5b,1,wall\n",
            "is no place of a meter; expected device, node, plug, network or facility");
    refused("model,measured_s,measured_memory_B\ngpt-2.5b,1,0\n", "is not a number of 1 to");
    refused("model,measured_s,measured_memory_at\ngpt-2.5b,1,host\n",
            "is no count of memory; expected allocated, reserved or device");
    refused("model,measured_s,ranks\ngpt-2.5b,1,1e300\n", "is not a number of 1 to");
    refused("model,measured_s,ranks\ngpt-2.5b,1,8.5\n", "is no whole number");
    /* 2^40 x 2^40 is no number of samples that can be counted, nor divided by. */
    refused("model,measured_s,plan.dp,plan.micro_batch\n"
            "gpt-2.5b,1,1099511627776,1099511627776\n",
            "does not divide by");
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
    } files[] = {{"training/vtrain_single_node.csv", 870},
                 {"training/vtrain_multi_node.csv", 57},
                 {"training/megatron_sc21_table1.csv", 5},
                 {"training/megatron_seqsel_table5.csv", 4},
                 {"training/bigscience_bloom_a100.csv", 45},
                 {"training/dgxc_benchmarking.csv", 174},
                 {"mlperf/time_pretraining.csv", 30},
                 {"training/megatron_bridge.csv", 145},
                 {"training/llmfoundry_mpt_fsdp.csv", 100},
                 {"training/bloom_production_logs.csv", 20},
                 {"training/torchtitan.csv", 4}};
    (void)state;
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        struct fr_runs runs = {0}, again = {0};
        struct fr_text text = {0};
        struct fr_error err = {0};
        char file[512];
        if (!fr_data_find(files[i].file, file, sizeof file)) skip();
        if (fr_runs_read(file, &runs, &err) != FR_OK) fail_msg("%s: %s", err.where, err.detail);
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

/* Every file of the folder is read, each row used or left out for a reason, or is refused as one
 * that holds no runs; nothing is lost between. */
static void every_row_is_accounted_for(void **state) {
    char folder[512], **files = NULL;
    size_t count = 0, read = 0;
    struct fr_error err = {0};
    (void)state;
    if (!fr_data_find("training", folder, sizeof folder)) skip();
    assert_int_equal(fr_folder_list(folder, ".csv", &files, &count, &err), FR_OK);
    for (size_t i = 0; i < count; i++) {
        struct fr_runs runs = {0};
        struct fr_csv csv;
        assert_int_equal(fr_csv_read(files[i], &csv, &err), FR_OK);
        if (fr_runs_read(files[i], &runs, &err) == FR_OK) {
            int seen = runs.count;
            for (int k = 1; k < FR_RUN_SKIP_COUNT; k++) seen += runs.skipped[k];
            if (seen != csv.n_rows)
                fail_msg("%s: got %d of %d rows", files[i], seen, csv.n_rows);
            if (runs.skipped[FR_RUN_INVALID])
                fail_msg("%s: %d rows of sizes that fit no model", files[i],
                         runs.skipped[FR_RUN_INVALID]);
            read++;
        } else if (!strstr(err.detail, "no reader knows these columns"))
            fail_msg("%s: %s", err.where, err.detail);
        fr_csv_free(&csv);
        fr_runs_free(&runs);
    }
    /* All but a table of memory and a series of one run's iterations. */
    assert_int_equal(read + 2, count);
    fr_folder_free(files, count);
}

/* The published columns lack what keeps their rows from use: with it they are read, and mean what they say. */
static void completed_rows_are_read(void **state) {
    struct fr_runs runs = {0};
    struct fr_error err = {0};
    (void)state;
    if (read_text("row_id,model,params_billion,hidden,heads,layers,gpus,tp,pp,dp,seq,vocab,"
                  "micro_batch_seqs,global_batch_seqs,measured_iter_time_ms,"
                  "measured_scaling_pct,quality\n"
                  "a,m,1,1024,16,4,8,2,2,2,1024,50257,1,8,1250,100,A\n"
                  "b,m,1,1024,16,4,8,2,2,2,,50257,1,8,1250,100,A\n"
                  "c,m,1,1024,16,4,8,2,2,2,1024,50257,,8,1250,100,A\n"
                  "d,m,1,1024,16,4,8,2,2,3,1024,50257,1,8,1250,100,A\n"
                  "e,m,1,1024,16,4,8,2,2,2,1024,50257,1,8,1250,100,C: no\n",
                  &runs, &err) != FR_OK)
        fail_msg("%s: %s", err.where, err.detail);
    assert_int_equal(runs.count, 1);
    assert_true(fabs(runs.items[0].measured_s - 1.25) < 1e-12);
    assert_int_equal(runs.items[0].plan.tp, 2);
    assert_int_equal(runs.skipped[FR_RUN_NO_SIZES], 1);
    assert_int_equal(runs.skipped[FR_RUN_NO_MICRO_BATCH], 1);
    assert_int_equal(runs.skipped[FR_RUN_DEGREES], 1);
    assert_int_equal(runs.skipped[FR_RUN_QUALITY], 1);
    fr_runs_free(&runs);
    /* 8 sequences of 4096 tokens at 1024 tokens/s on each of 8: 4 s. */
    if (read_text("row_id,quality,model,gpus,fsdp,tp,pp,cp,seq,local_batch,global_batch_seqs,"
                  "recompute,technique,measured_tokens_per_s_per_gpu\n"
                  "a,A,Llama3-8B,8,4,1,1,2,4096,1,8,full AC,bf16,1024\n"
                  "b,A,Llama3-8B,8,4,1,1,2,4096,1,8,selective AC,bf16,1024\n",
                  &runs, &err) != FR_OK)
        fail_msg("%s: %s", err.where, err.detail);
    assert_int_equal(runs.count, 1);
    assert_true(fabs(runs.items[0].measured_s - 4) < 1e-12);
    assert_int_equal(runs.items[0].plan.cp, 2);
    assert_int_equal(runs.items[0].plan.zero, 3);
    assert_int_equal(runs.skipped[FR_RUN_METHOD], 1);
    fr_runs_free(&runs);
    /* 14 layers on 4 stages: with embedding and logits 16, four a stage. */
    if (read_text("row_id,model,hidden,layers,heads,seq,vocab,gpus,tp,pp,dp,micro_batch_seqs,"
                  "global_batch_seqs,zero,dtype,recompute,iteration,measured_iter_time_s,"
                  "reported_hw_tflops_per_gpu,note,quality\n"
                  "a,m,1024,14,16,1024,50257,8,1,4,2,1,8,ZeRO-1,bf16,full,7,2.5,,,A\n"
                  "b,m,1024,14,16,1024,50257,8,1,4,2,1,8,ZeRO-1,bf16,full,1,9,,,B: warm-up\n"
                  "c,m,1024,16,16,1024,50257,8,1,4,2,1,8,,bf16,none,7,2.5,,,A\n",
                  &runs, &err) != FR_OK)
        fail_msg("%s: %s", err.where, err.detail);
    assert_int_equal(runs.count, 2);
    assert_true(runs.items[0].plan.zero == 1 && runs.items[1].plan.zero == 0);
    assert_null(runs.items[1].plan.stage_layers); /* 16 on 4 divide */
    assert_int_equal(runs.skipped[FR_RUN_WARM_UP], 1);
    const struct fr_plan *plan = &runs.items[0].plan;
    assert_int_equal(plan->n_stage_layers, 4);
    assert_int_equal(plan->stage_layers[0], 3);
    assert_int_equal(plan->stage_layers[1], 4);
    assert_int_equal(plan->stage_layers[3], 3);
    fr_runs_free(&runs);
}

/* All layers are placed, the ends with one fewer than the rest; a row is left as it is where that does not divide,
 * of one stage, and of more than a list holds. */
static void ends_count_as_layers(void **state) {
    (void)state;
    for (int layers = 1; layers <= 40; layers++)
        for (int pp = 1; pp <= 12; pp++) {
            struct fr_run_row row = {0};
            int sum = 0, n = 0, wanted[16];
            fr_run_row_set(&row, "plan.pp", "%d", pp);
            fr_run_ends_as_layers(layers, &row);
            const char *list = fr_run_row_get(&row, "plan.stage_layers");
            FR_TRUE((list != NULL) == (pp > 1 && (layers + 2) % pp == 0), "%d on %d", layers,
                    pp);
            for (const char *at = list; at && *at != ']'; n++) {
                wanted[n] = (int)strtol(at + 1, (char **)&at, 10);
                sum += wanted[n];
            }
            if (!list) continue;
            FR_TRUE(n == pp && sum == layers, "%d on %d: %s", layers, pp, list);
            for (int i = 0; i < n; i++)
                FR_TRUE(wanted[i] == (layers + 2) / pp - (i == 0 || i == n - 1), "%s", list);
        }
    struct fr_run_row row = {0};
    fr_run_row_set(&row, "plan.pp", "%d", 1025);
    fr_run_ends_as_layers(2 * 1025 - 2, &row);
    assert_null(fr_run_row_get(&row, "plan.stage_layers"));
}

/* Recipes of a release set these: graphs, one copy of a token a rank, exchanges beside another micro-batch. */
static void recipes_of_a_release(void **state) {
    static const struct {
        const char *row;
        fr_graphs graphs;
        int dispatched;
        bool overlapped;
    } rows[] = {
        {"26.06 NeMo Container,Qwen3_30B_a3B,DGX-GB300,8,MXFP8,512,8,1,,8", 2, 1, true},
        {"26.04 NeMo Container,Qwen3_30B_a3B,DGX-GB300,8,MXFP8,512,8,1,,8", 0, 1, false},
        {"26.04 NeMo Container,Qwen3_30B_a3B,DGX-B200,8,MXFP8,512,4,1,,8", 1, 1, false},
        {"26.02 NeMo Container,Qwen3_30B_a3B,DGX-B200,8,MXFP8,512,1,1,,8", 0, 0, false},
        {"26.06 NeMo Container,Qwen3_30B_a3B,DGX-H100,16,FP8,1024,1,1,,16", 0, 8, false},
        {"26.02.01 NeMo Container,Qwen3_30B_a3B,DGX-H100,16,FP8,1024,1,2,12,8", 0, 0, true},
        {"26.06 NeMo Container,Qwen3_235B_a22B,DGX-GB200,256,MXFP8,8192,1,8,3,32", 2, 1, true},
        {"26.04 NeMo Container,Qwen3_235B_a22B,DGX-GB200,256,MXFP8,8192,1,8,3,32", 1, 1, false},
        {"26.02 NeMo Container,Qwen3_235B_a22B,DGX-GB200,256,MXFP8,8192,1,8,,32", 1, 1, false},
        {"25.11 NeMo Container,Qwen3_235B_a22B,DGX-GB200,256,MXFP8,8192,1,8,3,32", 1, 1, false},
        {"26.04 NeMo Container,Qwen3_235B_a22B,DGX-B300,256,MXFP8,8192,2,8,,8", 0, 0, false},
        {"26.04.01 NeMo Container,Qwen3_235B_a22B,DGX-B300,256,MXFP8,8192,2,8,,8", 0, 1, false},
        {"26.02 NeMo Container,Qwen3_235B_a22B,DGX-B300,256,MXFP8,8192,1,8,4,8", 0, 0, true},
        {"26.04 NeMo Container,Nemotron_3_Nano,DGX-B200,8,MXFP8,512,2,1,,8", 1, 1, false},
        {"26.04 NeMo Container,Nemotron_3_Nano,DGX-H100,16,FP8,1024,1,1,,8", 0, 1, false},
        {"26.06 NeMo Container,DeepSeekV3,DGX-GB300,256,MXFP8,4096,1,2,8,32", 2, 1, true},
        {"26.04 NeMo Container,DeepSeekV3,DGX-GB300,256,MXFP8,4096,2,2,8,32", 0, 1, false},
        {"26.02 NeMo Container,DeepSeekV3,DGX-GB200,256,MXFP8,4096,1,4,4,64", 1, 1, false},
        {"26.06 NeMo Container,DeepSeekV3,DGX-B300,256,MXFP8,4096,2,8,n/a,8", 1, 1, false},
        {"26.04.01 NeMo Container,DeepSeekV3,DGX-B200,256,MXFP8,4096,1,8,2,32", 1, 8, true},
        {"25.09 NeMo Container,DeepSeekV3,DGX-H100,256,FP8,8192,1,8,4,64", 0, 8, true},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct fr_runs runs = {0};
        struct fr_error err = {0};
        char text[1024];
        snprintf(
            text, sizeof text,
            "row_id,paired_values_in_parentheses,task,dense_or_moe,seq,tp,derived_step_time_s,"
            "dp_derived,quality,release,model,system,gpus,precision,global_batch_seqs,"
            "micro_batch_seqs,pp,vp,ep\n"
            "a,False,Pre-Training Performance,moe/hybrid,4096,1,9,8,A,%s\n",
            rows[i].row);
        if (read_text(text, &runs, &err) != FR_OK) fail_msg("%s: %s", err.where, err.detail);
        if (runs.count != 1) fail_msg("%s: got %d runs", rows[i].row, runs.count);
        const struct fr_plan *plan = &runs.items[0].plan;
        if (plan->graphs != rows[i].graphs || plan->dispatch_ranks != rows[i].dispatched ||
            plan->overlap_experts != rows[i].overlapped)
            fail_msg("%s: graphs %d, one copy a %d, beside %d", rows[i].row, (int)plan->graphs,
                     (int)plan->dispatch_ranks, plan->overlap_experts);
        fr_runs_free(&runs);
    }
}

/* Every layer of DeepSeek-V3 is on a stage, the last ones have fewer; the module that predicts a further token, what is made
 * again and what is at 8 bits are those of its recipe; dropped tokens leave as many as there are in the mean. */
static void recipes_of_deepseek(void **state) {
    static const struct {
        const char *release, *model, *system, *precision, *degrees; /* pp, vp, ep */
        int64_t first, last, predicted;
        int recompute;
        bool attention, logits;
    } rows[] = {
        {"26.06", "DeepSeekV3", "DGX-GB300", "MXFP8", "2,8,32", 32, 29, 1, 0, true, true},
        {"26.06", "DeepSeekV3", "DGX-GB200", "MXFP8", "4,4,64", 16, 13, 1,
         FR_RECOMPUTE_MLA_UP_PROJ, false, true},
        {"26.04", "DeepSeekV3", "DGX-GB200", "MXFP8", "4,4,64", 16, 13, 1, FR_RECOMPUTE_MLP,
         false, false},
        {"26.02", "DeepSeekV3", "DGX-B300", "MXFP8", "16,n/a,8", 4, 1, 1,
         FR_RECOMPUTE_MLA_UP_PROJ, false, false},
        {"25.11", "DeepSeekV3 (w/o MTP)", "DGX-GB300", "BF16", "2,4,32", 32, 29, 0,
         FR_RECOMPUTE_MOE_ACT, false, false},
        {"25.11", "DeepSeekV3 (w/o MTP)", "DGX-GB200", "FP8-MX", "8,4,32", 8, 6, 0,
         FR_RECOMPUTE_MLA_UP_PROJ, false, false},
        {"25.09", "DeepSeekV3 (tokendrop)", "DGX-B200", "FP8", "16,1,8", 4, 1, 1,
         FR_RECOMPUTE_MLA_UP_PROJ, false, false},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct fr_runs runs = {0};
        struct fr_error err = {0};
        char text[1024];
        snprintf(
            text, sizeof text,
            "row_id,paired_values_in_parentheses,task,dense_or_moe,seq,tp,derived_step_time_s,"
            "dp_derived,quality,"
            "release,model,system,gpus,precision,global_batch_seqs,micro_batch_seqs,pp,vp,ep\n"
            "a,False,Pre-Training Performance,moe/hybrid,4096,1,9,8,A,%s NeMo "
            "Container,%s,%s,256,%s,4096,1,%s\n",
            rows[i].release, rows[i].model, rows[i].system, rows[i].precision, rows[i].degrees);
        if (read_text(text, &runs, &err) != FR_OK) fail_msg("%s: %s", err.where, err.detail);
        assert_int_equal(runs.count, 1);
        const struct fr_workload *w = &runs.items[0].workload;
        const struct fr_plan *plan = &runs.items[0].plan;
        int64_t layers = 0;
        assert_int_equal(plan->n_stage_layers, plan->pp);
        for (int k = 0; k < plan->n_stage_layers; k++) layers += plan->stage_layers[k];
        assert_int_equal(layers, w->transformer.layers);
        assert_int_equal(plan->stage_layers[0], rows[i].first);
        assert_int_equal(plan->stage_layers[plan->pp - 1], rows[i].last);
        assert_int_equal(w->transformer.predicted, rows[i].predicted);
        assert_int_equal(plan->recompute, rows[i].recompute);
        assert_int_equal(w->narrow_attention, rows[i].attention);
        assert_int_equal(w->narrow_logits, rows[i].logits);
        FR_NEAR(w->transformer.capacity, strstr(rows[i].model, "drop") ? 1 : 0, 0);
        fr_runs_free(&runs);
    }
}

/* Studies that walk the presets count a run once. */
static void presets_are_named_once(void **state) {
    int n = 0;
    (void)state;
    for (; fr_machine_preset(n); n++)
        for (int k = 0; k < n; k++)
            FR_TRUE(strcmp(fr_machine_preset(k), fr_machine_preset(n)) != 0, "%s comes twice",
                    fr_machine_preset(n));
    assert_true(n > 10);
    assert_string_equal(fr_machine_of_device("Gaudi2 HL-225"), fr_machine_of_device("Gaudi 2"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(recipes_of_deepseek),
        cmocka_unit_test(ends_count_as_layers),
        cmocka_unit_test(rows_are_on_their_own_clusters),
        cmocka_unit_test(one_cluster_stands_in_for_all),
        cmocka_unit_test(rows_are_with_their_own_software),
        cmocka_unit_test(a_date_names_a_release),
        cmocka_unit_test(software_is_worth_what_its_facts_say),
        cmocka_unit_test(software_that_is_none_is_refused),
        cmocka_unit_test(published_rows_name_their_software),
        cmocka_unit_test(conditions_keep_rows),
        cmocka_unit_test(rows_are_completed),
        cmocka_unit_test(paths_are_beside_the_file),
        cmocka_unit_test(a_path_is_of_its_own_file),
        cmocka_unit_test(keys_make_a_run),
        cmocka_unit_test(recipes_of_a_release),
        cmocka_unit_test(memory_says_who_counted_it),
        cmocka_unit_test(faults_are_named),
        cmocka_unit_test(published_files_are_read),
        cmocka_unit_test(every_row_is_accounted_for),
        cmocka_unit_test(completed_rows_are_read),
        cmocka_unit_test(presets_are_named_once),
    };
    return cmocka_run_group_tests(tests, make_file, remove_file);
}
