/* All text for people fits 80 columns, tables of many columns and lists of sources too. */
#include "base/data.h"
#include "tests/app/command.h"

#define LLAMA "--cluster dgx-h100 --model llama-3-8b --ranks 64 --set global_batch=512"

static const char *const lines[] = {
    "forerun predict --cluster dgx-h100 --model llama-3-8b --set tp=8 --set zero=1 --explain",
    "forerun predict --cluster a100-hdr --model gpt-8.3b --set tp=8 --set pp=4 --set dp=4 "
    "--set compression.backward.scope=all --tokens 1T",
    "forerun search " LLAMA " --explain --top 5",
    "forerun search --cluster frontier --model ffn-16384 --ranks 64 "
    "--vary method=tensor,phantom,grid --vary ghost=4,16",
    "forerun compare --cluster dgx-h100 --cluster dgx-a100 --model llama-3-8b --ranks 64 "
    "--tokens 1T",
    "forerun compare-plans {\"tp\":4,\"zero\":1,\"attention\":\"flash\"} {\"tp\":1} " LLAMA,
    "forerun collective --cluster dgx-h100 --op all_reduce --ranks 1024 --size 1..1GiB*32",
    "forerun simulate --cluster a100-hdr --model gpt-8.3b --set tp=8 --set pp=4 --set dp=4",
    "forerun place --cluster lassen --ranks 64 --ways 4 --model t5-large-mod --set "
    "method=subgraph",
    "forerun place --cluster a100-hdr --model gpt-8.3b --set tp=8 --set pp=4 --set dp=4 "
    "--placement all",
    "forerun place --cluster gb200-nvl72 --ranks 576 --ways 8",
    "forerun place --cluster frontier --ranks 12000 --ways 5 --placement linear",
    "forerun tune --cluster dgx-h100 --runs " FR_SOURCE_DIR "/tests/golden/in/runs.csv",
    "forerun score --cluster dgx-h100 --by plan.tp --runs " FR_SOURCE_DIR
    "/tests/golden/in/runs.csv",
    "forerun search --cluster frontier --model ffn-16384 --ranks 8,16,32 --objective energy "
    "--vary method=tensor,phantom --vary ghost=2,4,6,16 --explain",
    "forerun compare-plans "
    "{\"tp\":4,\"sequence_parallel\":true,\"zero\":1,\"attention\":\"flash\"} "
    "{\"tp\":1,\"zero\":2,\"overlap\":\"gradient\",\"attention\":\"flash\"} " LLAMA,
    "forerun collective --cluster a100-hdr --op reduce --ranks 64 --size 64KiB,16MiB "
    "--algorithm all",
    "forerun gemm --cluster lassen --m 8 --n 4096 --k 100",
    "forerun gemm --cluster dgx-h100 --m 16384 --n 16384 --k 16384 --dtype bf16",
    "forerun reproduce phantom",
    "forerun reproduce grid",
    "forerun reproduce optimus",
    "forerun reproduce dsp",
    "forerun list",
    "forerun doctor",
};

/* Where published measurements are at hand, and within a second or two. */
static const char *const of_data[] = {
    "forerun reproduce collectives", "forerun reproduce gemm",   "forerun reproduce presets",
    "forerun reproduce mlperf",      "forerun reproduce energy",
};

static int letters(const char *line, size_t bytes) {
    int n = 0;
    for (size_t i = 0; i < bytes; i++) n += (line[i] & 0xC0) != 0x80;
    return n;
}

static void fits(const char *command) {
    struct output o = fr_test_run(command);
    size_t n = 0, bytes;
    for (const char *at = o.out; *at; at += bytes + (at[bytes] == '\n'), n++) {
        bytes = strcspn(at, "\n");
        if (letters(at, bytes) > 80) fail_msg("%s: %.*s", command, (int)bytes, at);
    }
    FR_TRUE(n > 0, "%s prints nothing: %s", command, o.err);
    fr_test_output_free(&o);
}

static void lines_fit_a_terminal(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) fits(lines[i]);
}

static void every_list_fits(void **state) {
    (void)state;
    struct output o = fr_test_run("forerun list");
    char *rest = NULL, name[40];
    int n = 0;
    for (char *line = strtok_r(o.out, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
        if (sscanf(line, "forerun list %39s", name) != 1)
            continue; /* a summary's second line */
        char command[80];
        snprintf(command, sizeof command, "forerun list %s", name);
        fits(command);
        n++;
    }
    FR_TRUE(n > 10, "only %d lists in %s", n, "forerun list");
    fr_test_output_free(&o);
}

/* Calibrations whose speeds differ, so that points lie outside. */
static void compared_samples_fit(void **state) {
    (void)state;
    char folder[] = "/tmp/forerun-width-XXXXXX", command[1000];
    FR_TRUE(mkdtemp(folder) != NULL, "no folder %s", folder);
    snprintf(command, sizeof command,
             "%s/tests/golden/in/samples.sh >%s/a.jsonl && %s/tests/golden/in/samples.sh 1.1 "
             ">%s/b.jsonl",
             FR_SOURCE_DIR, folder, FR_SOURCE_DIR, folder);
    FR_TRUE(system(command) == 0, "failed: %s", command);
    snprintf(command, sizeof command, "forerun compare %s/a.jsonl %s/b.jsonl", folder, folder);
    fits(command);
}

static void tables_of_published_data_fit(void **state) {
    (void)state;
    char path[4096];
    if (!fr_data_find("", path, sizeof path)) skip();
    for (size_t i = 0; i < sizeof of_data / sizeof *of_data; i++) fits(of_data[i]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_fit_a_terminal),
        cmocka_unit_test(every_list_fits),
        cmocka_unit_test(compared_samples_fit),
        cmocka_unit_test(tables_of_published_data_fit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
