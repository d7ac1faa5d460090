/* People type these before they know the options: each mistake is answered in one line with the right word, or taken
 * where it has one meaning. */
#include <ctype.h>

#include "app/verb.h"
#include "app/words/taken.h"
#include "base/alloc.h"
#include "base/text/meant.h"
#include "models/job/file_kind.h"
#include "models/job/preset.h"
#include "tests/app/command.h"
#include "tests/scratch.h"

static void answered_in_a_line(const char *line, const struct output *o) {
    size_t lines = 0;
    for (const char *at = o->err; *at; at++) lines += *at == '\n';
    FR_TRUE(lines <= 3 && strlen(o->err) < 420, "%s: %s", line, o->err);
    FR_TRUE(!strstr(o->err, "line 1: line 1"), "%s: %s", line, o->err);
}

#define P "-c dgx-h100 -m llama-3-8b"

static void mistakes(void **state) {
    (void)state;
    static const struct {
        const char *line, *says;
        int exit_code;
    } rows[] = {
        {"predict -c h100 -m llama-3-8b", "taken as the preset dgx-h100", 0},
        {"predict -c NVIDIA/H100-SXM -m meta-llama/Meta-Llama-3-8B", "dgx-h100", 0},
        {"predict -c a100 -m llama-3-8b", "\"a100-hdr\", \"a100-opa\" or \"dgx-a100\"", 3},
        {"predict -c nvl72 -m llama-3-8b", "\"gb200-nvl72\" or \"gb300-nvl72\"", 3},
        {"predict -c mi250x -m llama-3-8b", "\"frontier\"", 3},
        {"predict -c dgx-h100 -m meta-llama/Llama-3.1-70B", "\"llama-3-70b\"", 3},
        {"predict -c dgx-h100 -m no/such-model", "config.json", 3},
        {"predict -c llama-3-8b -m dgx-h100", "write -c dgx-h100 -m llama-3-8b", 2},
        {"predict -c llama3-8b -m h100", "swapped", 2},
        {"predict -c dgx-h100 -m dgx-h100",
         "is a cluster, and stands where a model is asked for: give it as --cluster", 3},
        {"search " P " --gpus 64", "did you mean \"--ranks\"", 2},
        {"search " P " --nodes 8", "--ranks 64", 2},
        {"search -m llama-3-8b --num-nodes 8 -c h100", "--ranks 64", 2},
        {"collective -c dgx-h100 --world-size 8", "did you mean \"--ranks\"", 2},
        {"predict " P " --tp 8", "write --set tp=8", 2},
        {"predict " P " --tensor-model-parallel-size=8", "write --set tp=8", 2},
        {"predict " P " --bf16", "write --set model.dtype=bf16", 2},
        {"predict " P " --output x.json", "add > FILE", 2},
        {"predict " P " --set sequence=4096", "did you mean \"model.sequence\"", 3},
        {"predict " P " --set batch=64", "did you mean \"global_batch\"", 3},
        {"predict " P " --set dtype=fp8", "did you mean \"model.dtype\"", 3},
        {"predict " P " --set gradient_accumulation_steps=8", "dp * micro_batch", 3},
        {"predict " P " --set cluster.bandwidth=8", "cluster.levels.1.bandwidth", 3},
        {"predict " P " --set model.seq_len=8", "did you mean \"sequence\"", 3},
        {"predict " P " --set qqqqqqqq=1", "forerun list keys", 3},
        {"predict " P " --set model.dtype=BFloat16", "did you mean \"bf16\"", 3},
        {"predict " P " --set global_batch=1,024", "write 1024", 3},
        {"search " P " -n 64 --vary seq_len=8,16", "did you mean \"model.sequence\"", 2},
        {"search " P " -n 1,024", "write 1024", 2},
        {"search " P " -n 1e3", "write 1000", 2},
        {"search " P " -n 64 --tokens 1T --mtbf 50000", "\"50000 h\"", 2},
        {"search " P " -n 64 --tokens 1T --price 2.5", "\"2.5 USD/h\"", 2},
        {"search " P " -n 64 --memory-limit 80gb", "write \"80 GB\"", 3},
        {"search " P " -n 64 --json --csv", "two forms of one answer", 2},
        {"search " P " -n 64 --max-slowdown 1", "write \"1%\" or \"100%\"", 2},
        {"search " P " -n 64 --fix tp=2 --set tp=4", "tp is given twice", 2},
        {"predict " P " -c dgx-a100", "--cluster is given twice", 2},
        {"predict dgx-h100 llama-3-8b", "taken as --cluster dgx-h100 --model llama-3-8b", 0},
        {"predict llama3-8b tp=2 h100",
         "taken as --model llama-3-8b --set tp=2 --cluster dgx-h100", 0},
        {"predict " P " nonsense", "unexpected word \"nonsense\"", 2},
        {"score runs.csv", "taken as --runs runs.csv", 3},
        {"compare dgx-h100 dgx-a100", "taken as --cluster dgx-h100 --cluster dgx-a100", 2},
        {"collective all-reduce h100 8 --size 1MiB",
         "--op all_reduce --cluster dgx-h100 --ranks 8", 0},
        {"calibrate --check", "run forerun calibrate first", 3},
        {"report -", "is an empty file; forerun report takes", 3},
        {"show h100", "did you mean \"dgx-h100\"?", 2},
        {"optimize", "did you mean \"search\"", 2},
        /* numbers, ranges and lists in other writing */
        {"predict " P " --set model.sequence=8k", "write 8000 or 8192", 3},
        {"predict " P " --set zero=stage3", "write 3", 3},
        {"predict " P " --set tp=0", "is 0; expected at least 1", 3},
        {"predict " P " --set sequence_parallel=yes", "write true", 3},
        {"predict " P " --set recompute=yes", "did you mean \"full\"?", 3},
        {"predict " P " --set overlap=true", "did you mean \"gradient\"?", 3},
        {"predict " P " --set tp=1..8", "forerun search --vary tp=1..8", 3},
        {"predict " P " --set tp:8", "write tp=8", 2},
        {"predict " P " --set tp = 8", "without blanks, e.g. tp=8", 2},
        {"predict " P " --set tp=8,pp=2", "write --set tp=8 --set pp=2", 2},
        {"predict " P " --set cluster.levels.5.bandwidth=1", "counted 0 to 1", 2},
        {"search " P " -n 8-64", "write 8..64", 2},
        {"search " P " -n 64..8", "write 8..64", 2},
        {"search " P " -n 64 --vary tp=[1;2;4]", "write 1,2,4", 2},
        {"search " P " -n 64 --vary tp=1..8..2", "write 1..8+2", 2},
        {"search " P " -n 64 --fix tp=1,2", "(--fix): expected a whole number", 3},
        {"search " P " -n 9999999999999", "more than a search divides", 2},
        {"collective -c h100 --op all_reduce -n 8 --size 1M", "write \"1 MB\"", 2},
        {"gemm -c h100 --m 8k --n 8 --k 8", "write 8000 or 8192", 2},
        /* options of other tools, and what stands behind an option */
        {"search " P " -n 64 --fsdp", "write --set zero=3", 2},
        {"search " P " -n 64 --no-sequence-parallel", "sequence_parallel=false", 2},
        {"search " P " -n 64 --activation-checkpointing", "write --set recompute=full", 2},
        {"search " P " -np 64", "did you mean \"--ranks\"", 2},
        {"search -c h100 -m llama-3-8b -N 8", "8 nodes of 8 GPUs are --ranks 64", 2},
        {"search " P " -n 64 --page --json", "behind it stands --json", 2},
        {"search " P " -n 64 --json=x.json", "add > x.json", 2},
        {"search " P " -n 64 -o x.json", "add > x.json", 2},
        {"search " P " -n 64 --objective money", "did you mean \"time\"?", 2},
        {"search " P " -n 64 --emit nemo", "did you mean \"megatron-bridge\"?", 2},
        {"search \xe2\x80\x93ranks 64 " P, "a long dash; write --ranks", 2},
        {"search 64gpus h100 llama3-8b", "write --ranks 64", 2},
        {"predict -c=h100 -m=llama3-8b", "taken as the preset dgx-h100", 0},
        {"predict cluster=h100 model=llama3-8b tp=8 fp8", "--set tp=8 --set model.dtype=fp8",
         0},
        {"predict -c hopper -m llama-3-8b", "did you mean \"dgx-h100\"? That is: the nearest",
         3},
        {"predict -c cerebras -m llama-3-8b", "change what forerun show dgx-h100 prints", 3},
        {"predict " P " --plan tp=8", "write --set tp=8", 3},
        {"compare -c h100,h200 -m llama-3-8b -n 8", "each with a --cluster of its own", 3},
        {"gemm -c h100 8192 8192 8192", "write --dtype bf16", 3},
        {"import missing", "forerun list importers has them", 2},
        {"calibrate --device nvidia", "did you mean \"cuda\"?", 2},
        {"score", "--runs is required, e.g. --runs runs.csv", 2},
        {"search " P " -n 64 --json x.json", "add > x.json", 2},
        {"predict " P " --set micro_batch=2;tp=4", "--set micro_batch=2 --set tp=4", 2},
        {"predict -c no-such-file.json -m llama-3-8b", "no such file is there", 3},
        /* no command first */
        {"--cluster h100", "a command comes first", 2},
        {"h100 llama3-8b 64", "a command comes first", 2},
        {"--verison", "did you mean \"--version\"?", 2},
        {"help serach", "did you mean \"search\"?", 2}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char line[256];
        snprintf(line, sizeof line, "forerun %s", rows[i].line);
        struct output o = fr_test_run(line);
        bool taken = rows[i].exit_code == 0 && o.exit_code == 4; /* and the plan does not fit */
        FR_TRUE((taken || o.exit_code == rows[i].exit_code) &&
                    fr_test_says(o.err, rows[i].says),
                "%s: exit %d, wanted %d and \"%s\": %s", line, o.exit_code, rows[i].exit_code,
                rows[i].says, o.err);
        if (rows[i].exit_code != 0) answered_in_a_line(line, &o);
        fr_test_output_free(&o);
    }
}

/* Every preset by its name in other letters, and none of them by that of another. */
static void presets_in_other_letters(void **state) {
    (void)state;
    static const char *const around[][2] = {
        {"vendor/", ""}, {"", "-Instruct"}, {"NVIDIA ", ""}, {"", "-hf"}};
    for (const struct fr_preset *p = fr_presets; p->name; p++) {
        char name[96], plain[96] = "";
        size_t n = 0;
        if (strcmp(p->kind, "schema") == 0) continue;
        for (const char *at = p->name; *at; at++)
            if (*at != '-' && *at != '_') plain[n++] = (char)toupper((unsigned char)*at);
        plain[n] = '\0';
        struct fr_meant meant = fr_preset_meant(p->kind, plain);
        FR_TRUE(meant.how == FR_MEANT_SAME && strcmp(meant.known[0], p->name) == 0,
                "%s for %s: %s", plain, p->name, meant.count ? meant.known[0] : "nothing");
        for (size_t i = 0; i < sizeof around / sizeof *around; i++) {
            snprintf(name, sizeof name, "%s%s%s", around[i][0], p->name, around[i][1]);
            meant = fr_preset_meant(p->kind, name);
            FR_TRUE(meant.count >= 1 && strcmp(meant.known[0], p->name) == 0, "%s for %s: %s",
                    name, p->name, meant.count ? meant.known[0] : "nothing");
        }
    }
}

static bool is_option(const char *name) {
    for (const struct fr_verb *const *v = fr_verbs; *v; v++)
        for (const struct fr_option *o = (*v)->options; o->name; o++)
            if (strcmp(o->name, name) == 0) return true;
    return false;
}

/* Each alias leads to its word where that is known, and each key of an alias is one: --set takes it or refuses its
 * value alone. */
static void aliases_lead_somewhere(void **state) {
    (void)state;
    const char *theirs, *ours, *hint;
    for (int i = 0; fr_alias_row(i, &theirs, &ours, &hint); i++) {
        const char *const known[] = {ours + strspn(ours, "-"), NULL};
        char word[64];
        if (*ours == '-') FR_TRUE(is_option(ours + 2), "no verb has %s", ours);
        for (const char *at = theirs; *at; at += strcspn(at, " "), at += strspn(at, " ")) {
            snprintf(word, sizeof word, "%.*s", (int)strcspn(at, " "), at);
            struct fr_meant meant = fr_meant(word, known);
            FR_TRUE(meant.how == FR_MEANT_ALIAS || meant.how == FR_MEANT_SAME,
                    "%s is no alias of %s", word, ours);
        }
        if (strncmp(ours, "model.", 6) != 0 && strncmp(ours, "cluster.", 8) != 0) continue;
        char line[160];
        snprintf(line, sizeof line, "forerun predict " P " --set %s=-", ours);
        struct output o = fr_test_run(line);
        FR_TRUE(!strstr(o.err, "unknown key") && !strstr(o.err, "is no key"), "%s: %s", line,
                o.err);
        fr_test_output_free(&o);
    }
}

/* An option with two values is refused by every verb that has it, but those that may be repeated. */
static void an_option_twice(void **state) {
    (void)state;
    struct fr_args *args = fr_calloc(1, sizeof *args);
    for (const struct fr_verb *const *v = fr_verbs; *v; v++)
        for (const struct fr_option *o = (*v)->options; o->name; o++) {
            struct fr_error err = {0};
            bool repeats = fr_option_repeats(*v, o->name) || strcmp(o->name, "runtime") == 0;
            if (!o->argument) continue;
            FR_TRUE(repeats || !strstr(o->help, "repeat"), "%s --%s may be repeated, it says",
                    (*v)->name, o->name);
            *args =
                (struct fr_args){.option = {o, o}, .value = {"./a=1", "./b=1"}, .n_options = 2};
            fr_status status = fr_taken(*v, args, &err);
            FR_TRUE((status == FR_ERR_USAGE) == !repeats, "%s --%s: %s", (*v)->name, o->name,
                    err.detail);
            if (!repeats) FR_TRUE(strstr(err.detail, "given twice"), "%s", err.detail);
        }
    free(args);
}

/* ---- files of another kind ------------------------------------------------------------------------- */

static const struct {
    const char *name, *text;
    fr_file_kind kind;
} files[] = {
    {"cluster.json", "{\"name\": \"c\", \"levels\": [{\"name\": \"n\", \"ranks\": 8}]}",
     FR_FILE_CLUSTER},
    {"model.json", "{\"kind\": \"ffn\", \"width\": 8, \"layers\": 2}", FR_FILE_MODEL},
    {"config.json", "{\"model_type\": \"llama\", \"hidden_size\": 64}", FR_FILE_CONFIG},
    {"plan.json", "{\"dp\": 2, \"tp\": 4}", FR_FILE_PLAN},
    {"runtime.json", "{\"name\": \"r\", \"date\": \"2024\", \"facts\": []}", FR_FILE_RUNTIME},
    {"outcome.json", "{\"schema\": \"forerun/outcome/1\"}", FR_FILE_OUTCOME},
    {"search.json", "{\"schema\": \"forerun/search/1\"}", FR_FILE_SEARCH},
    {"fit.json", "{\"schema\": \"forerun/fit/1\"}", FR_FILE_FIT},
    {"score.json", "{\"schema\": \"forerun/score/1\"}", FR_FILE_ANSWER},
    {"samples.jsonl", "{\"kind\": \"provenance\"}\n{\"kind\": \"gemm\"}\n", FR_FILE_SAMPLES},
    {"trace.json", "{\"traceEvents\": []}", FR_FILE_TRACE},
    {"runs.csv", "model.layers,ranks,measured_s\n4,8,1.5\n", FR_FILE_RUNS},
    {"table.csv", "a,b\n1,2\n", FR_FILE_TABLE},
    {"train.log", " iteration 10/ 100 | elapsed time per iteration (ms): 812.0 |\n",
     FR_FILE_LOG},
    {"nccl.txt", "# nThread 1 nGpus 8\n# out-of-place in-place\n", FR_FILE_BENCHMARK},
    {"run.sh", "#!/bin/sh\ntorchrun train.py\n", FR_FILE_SCRIPT},
    {"page.html", "<!DOCTYPE html>\n<html></html>\n", FR_FILE_PAGE},
    {"other.json", "{\"colour\": \"red\"}", FR_FILE_JSON},
    {"cut.json", "{\"levels\": [{\"name\": \"node\", \"ranks", FR_FILE_CLUSTER},
    {"words.txt", "Nothing of it is measured.\n", FR_FILE_TEXT},
    {"empty", "", FR_FILE_EMPTY},
    {"picture.png", "\x89PNG\r\n\x1a\n\x01\x02", FR_FILE_BINARY}};
enum { FILES = sizeof files / sizeof *files };

static void kinds_are_recognised(void **state) {
    (void)state;
    for (int i = 0; i < FILES; i++) {
        fr_file_kind kind = fr_file_kind_of_text(files[i].text, strlen(files[i].text));
        FR_TRUE(kind == files[i].kind, "%s: %s", files[i].name, fr_file_kind_name(kind));
    }
    assert_int_equal(fr_file_kind_of("."), FR_FILE_DIRECTORY);
    assert_int_equal(fr_file_kind_of("no-such-file"), FR_FILE_MISSING);
}

/* Each place where a command reads a file, and kinds that belong there (bits). */
#define BIT(kind) (UINT32_C(1) << FR_FILE_##kind)
static const struct {
    const char *line, *wanted;
    uint32_t takes;
} places[] = {
    {"predict -c %s -m llama-3-8b", "--cluster takes a cluster file",
     BIT(CLUSTER) | BIT(SAMPLES) | BIT(JSON)},
    {"search -c %s -m llama-3-8b -n 8", "--cluster takes a cluster file",
     BIT(CLUSTER) | BIT(SAMPLES) | BIT(JSON)},
    {"collective -c %s --op all_reduce --ranks 8", "--cluster takes a cluster file",
     BIT(CLUSTER) | BIT(SAMPLES) | BIT(JSON)},
    {"fit s.jsonl --base %s", "--base takes a cluster file",
     BIT(CLUSTER) | BIT(SAMPLES) | BIT(JSON)},
    {"predict -c dgx-h100 -m %s", "--model takes a model file",
     BIT(MODEL) | BIT(CONFIG) | BIT(JSON)},
    {"simulate -c dgx-h100 -m %s", "--model takes a model file",
     BIT(MODEL) | BIT(CONFIG) | BIT(JSON)},
    {"predict " P " --runtime %s", "--runtime takes a runtime file", BIT(RUNTIME) | BIT(JSON)},
    {"predict " P " -p %s", "--plan takes a plan file",
     BIT(PLAN) | BIT(OUTCOME) | BIT(SEARCH) | BIT(ANSWER) | BIT(FIT) | BIT(JSON)},
    {"search " P " -n 8 --include %s", "--include takes a plan file",
     BIT(PLAN) | BIT(OUTCOME) | BIT(SEARCH) | BIT(ANSWER) | BIT(FIT) | BIT(LOG) | BIT(SCRIPT) |
         BIT(JSON)},
    {"score -c dgx-h100 --runs %s", "--runs takes a runs.csv",
     BIT(RUNS) | BIT(TABLE) | BIT(LOG) | BIT(ANSWER)},
    {"tune -c dgx-h100 --runs %s", "--runs takes a runs.csv",
     BIT(RUNS) | BIT(TABLE) | BIT(LOG) | BIT(ANSWER)},
    {"fit %s", "forerun fit takes a samples.jsonl", BIT(SAMPLES)},
    {"report %s -o page", "forerun report takes a samples.jsonl",
     BIT(SAMPLES) | BIT(FIT) | BIT(ANSWER) | BIT(OUTCOME) | BIT(SEARCH)},
    {"plot gemm %s -o p.svg", "forerun plot takes one result of forerun fit",
     BIT(FIT) | BIT(ANSWER) | BIT(OUTCOME) | BIT(SEARCH) | BIT(TRACE)},
    {"import nccl-tests %s --ranks 8", "forerun import takes",
     BIT(BENCHMARK) | BIT(LOG) | BIT(TEXT) | BIT(TABLE) | BIT(RUNS) | BIT(SAMPLES) | BIT(JSON)},
    {"compare %s %s", "forerun compare takes a samples.jsonl", BIT(SAMPLES)}};

/* @p line with @p name for each %s. */
static void fill(char *out, size_t capacity, const char *line, const char *name) {
    size_t used = 0;
    for (const char *at; (at = strstr(line, "%s")); line = at + 2)
        fr_line_addf(out, capacity, &used, "%.*s%s", (int)(at - line), line, name);
    fr_line_addf(out, capacity, &used, "%s", line);
}

/* Every place and every kind that does not belong there: one sentence that names both. */
static void both_kinds_are_named(void **state) {
    (void)state;
    struct fr_error err = {0};
    for (int i = 0; i < FILES; i++)
        assert_int_equal(
            fr_file_write(files[i].name, files[i].text, strlen(files[i].text), &err), FR_OK);
    for (size_t p = 0; p < sizeof places / sizeof *places; p++)
        for (int i = (int)(p % 3); i < FILES; i += 3) {
            char line[256] = "forerun ";
            if (places[p].takes >> files[i].kind & 1) continue;
            fill(line + 8, sizeof line - 8, places[p].line, files[i].name);
            struct output o = fr_test_run(line);
            FR_TRUE(o.exit_code == 3 && fr_test_says(o.err, fr_file_kind_name(files[i].kind)) &&
                        fr_test_says(o.err, places[p].wanted),
                    "%s: exit %d: %s", line, o.exit_code, o.err);
            answered_in_a_line(line, &o);
            fr_test_output_free(&o);
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(mistakes),
                                       cmocka_unit_test(presets_in_other_letters),
                                       cmocka_unit_test(an_option_twice),
                                       cmocka_unit_test(aliases_lead_somewhere),
                                       cmocka_unit_test(kinds_are_recognised),
                                       cmocka_unit_test(both_kinds_are_named)};
    return cmocka_run_group_tests(tests, fr_scratch_enter, fr_scratch_leave);
}
