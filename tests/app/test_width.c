/* What people read fits 80 columns, tables of many columns and lists of sources too. */
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
    "forerun list",
    "forerun list schemas",
    "forerun list compositions",
    "forerun list collectives",
    "forerun list methods",
    "forerun list forms",
    "forerun list kinds",
    "forerun list figures",
    "forerun doctor",
};

static int letters(const char *line, size_t bytes) {
    int n = 0;
    for (size_t i = 0; i < bytes; i++) n += (line[i] & 0xC0) != 0x80;
    return n;
}

static void lines_fit_a_terminal(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        struct output o = fr_test_run(lines[i]);
        size_t n = 0, bytes;
        for (const char *at = o.out; *at; at += bytes + (at[bytes] == '\n'), n++) {
            bytes = strcspn(at, "\n");
            if (letters(at, bytes) > 80) fail_msg("%s: %.*s", lines[i], (int)bytes, at);
        }
        FR_TRUE(n > 0, "%s prints nothing: %s", lines[i], o.err);
        fr_test_output_free(&o);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(lines_fit_a_terminal)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
