/* Answers fit a screen: over verbs and questions at most 40 lines of 80 columns, the question, at once the answer, whether
 * it fits, what it is priced with, and commands to type next that run.  Numbers are those of the JSON. */
#include <jansson.h>
#include <math.h>

#include "base/text/readable.h"
#include "models/job/preset.h"
#include "tests/app/command.h"
#include "tests/screen.h"

#define RUNS FR_SOURCE_DIR "/tests/golden/in/runs.csv"
#define FEW "--vary tp=2,4,8 --vary pp=1,2,4 --vary micro_batch=1,2 "

/* A command, the words that its question holds, and a word of its answer beside time and memory. */
static const struct {
    const char *line, *question, *says;
    int exit_code;
} rows[] = {
    /* predict: methods, kinds, what cannot run */
    {"predict --cluster dgx-h100 --model llama-3-8b --set tp=8 --set dp=2 --set zero=1",
     "llama-3-8b on 16 GPUs of dgx-h100", "ZeRO 1", 0},
    {"predict --cluster dgx-h100 --model mixtral-8x7b --set dp=64 --set ep=8 --set zero=1",
     "mixtral-8x7b on 64 GPUs of dgx-h100", "ep 8", 0},
    {"predict --cluster frontier --model ffn-16384 --set tp=8 --set method=phantom --set "
     "ghost=16",
     "ffn-16384 on 8 GPUs of frontier", "phantom", 0},
    {"predict --cluster cori-knl --model alexnet --set method=grid --set dp=8 --set tp=4",
     "alexnet on 32 ranks of cori-knl", "grid", 0},
    {"predict --cluster lassen --model t5-large-mod --set method=subgraph --set tp=4 --set "
     "global_batch=8",
     "t5-large-mod on 4 ranks of lassen", "subgraph", 0},
    {"predict --cluster dgx-h100 --model gpt-tiny --set model.dtype=bf16",
     "gpt-tiny on 1 GPU of dgx-h100", "tp 1", 0},
    {"predict --cluster dgx-h100 --model llama-3-405b --set tp=8", "llama-3-405b on 8 GPUs",
     "cannot run", 4},
    {"predict --cluster dgx-h100 --model llama-3-8b --set tp=3", "llama-3-8b on 3 GPUs",
     "does not divide", 4},
    {"predict --cluster a100-hdr --model gpt-8.3b --set tp=8 --set pp=4 --set dp=4 --set "
     "micro_batch=8 --set recompute=full --set compression.backward.scope=all --set "
     "compression.gradient.stages=4",
     "gpt-8.3b on 128 ranks of a100-hdr", "go compressed", 0},
    {"predict --cluster dgx-h100 --model llama-3-8b --set tp=8 --set zero=1 --tokens 1T "
     "--price "
     "2.5USD/h --carbon 0.4kg/kWh --mtbf 50000h --storage 100GB/s",
     "llama-3-8b on 8 GPUs", "USD", 0},
    /* search */
    {"search --cluster dgx-h100 --model llama-3-8b --ranks 64 " FEW, "llama-3-8b on 64 GPUs",
     "P(best)", 0},
    {"search --cluster dgx-h100 --model mixtral-8x7b --ranks 64 --vary ep=4,8 --vary tp=1,2 "
     "--vary zero=1,3 --tokens 1T --price 2.5USD/h",
     "mixtral-8x7b on 64 GPUs", "USD", 0},
    {"search --cluster frontier --model ffn-16384 --ranks 16,64 --vary method=tensor,phantom "
     "--vary ghost=2,4,16 --objective energy",
     "ffn-16384 on", "phantom", 0},
    {"search --cluster cori-knl --model alexnet --ranks 64 --vary method=grid --vary "
     "tp=1..64*2",
     "alexnet on 64 ranks", "one for each layer", 0},
    {"search --cluster lassen --model t5-large-mod --ranks 8 --set global_batch=8 --vary "
     "method=subgraph,tensor --vary tp=2,4",
     "t5-large-mod on 8 ranks", "plans for the least time", 0},
    {"search --cluster dgx-h100 --model llama-3-405b --ranks 8 --vary tp=4,8",
     "llama-3-405b on 8 GPUs", "no plan is feasible", 4},
    {"search --cluster a100-hdr --model gpt-2.5b --ranks 32 --max-lossy 1 --vary pp=2,4 --vary "
     "compression.gradient.stages=0,2",
     "gpt-2.5b on 32 ranks", "plans for the least time", 0},
    {"search --cluster dgx-h100 --model llama-3-8b --ranks 64 " FEW
     "--include {\"tp\":2,\"zero\":1} --measured 7s",
     "llama-3-8b on 64 GPUs", "yours", 0},
    {"search --cluster dgx-h100 --model gpt-tiny --ranks 1 --set model.dtype=bf16 --vary tp=1",
     "gpt-tiny on 1 GPU", "tp 1", 0},
    /* simulate */
    {"simulate --cluster dgx-h100 --model llama-3-8b --set tp=2 --set pp=4 --set dp=2",
     "llama-3-8b on 16 GPUs", "critical", 0},
    {"simulate --cluster cori-knl --model alexnet --set method=grid --set tp=2 --set dp=4",
     "alexnet on 8 ranks", "critical", 0},
    /* side by side */
    {"compare --cluster dgx-h100 --cluster dgx-a100 --cluster a40 --model llama-3-8b --ranks "
     "16 "
     "--tokens 1T --price 2.5USD/h --vary tp=1,2,4",
     "llama-3-8b on 16 GPUs of each of 3 clusters", "fastest", 0},
    {"compare --runtime nemo-24.03 --runtime megatron-bridge-26.04 --cluster dgx-h100 --model "
     "llama-3-8b --set tp=8",
     "llama-3-8b on 8 GPUs", "more samples", 0},
    {"compare-plans {\"tp\":4,\"zero\":1} {\"tp\":2,\"zero\":1} {\"tp\":1} --cluster dgx-h100 "
     "--model llama-3-8b --ranks 64",
     "llama-3-8b on 64 GPUs", "cannot run", 0},
    {"score --cluster dgx-h100 --runs " RUNS " --by plan.tp,plan.pp,plan.micro_batch",
     "12 measured runs", "intervals", 0},
};
enum { ROWS = sizeof rows / sizeof *rows };

static char folder[] = "/tmp/forerun-screen-XXXXXX";

static int enter(void **state) {
    (void)state;
    return mkdtemp(folder) && chdir(folder) == 0 ? 0 : 1;
}

static int leave(void **state) {
    (void)state;
    unlink("step.json");
    unlink("tuned.json");
    return chdir("/") || rmdir(folder);
}

static struct output asked(const char *line, const char *more) {
    char command[1200];
    snprintf(command, sizeof command, "forerun %s%s", line, more);
    return fr_test_run(command);
}

static void one_screen(void **state) {
    (void)state;
    for (int i = 0; i < ROWS; i++) {
        struct output o = asked(rows[i].line, "");
        const char *line = rows[i].line;
        if (o.exit_code != rows[i].exit_code)
            fail_msg("%s: exit %d, want %d\n%s", line, o.exit_code, rows[i].exit_code, o.err);
        fr_screen_fits(line, o.out);
        if (strncmp(o.out, rows[i].question, strlen(rows[i].question)) != 0)
            fail_msg("%s: does not begin with \"%s\"\n%s", line, rows[i].question, o.out);
        if (!fr_test_says(o.out, rows[i].says))
            fail_msg("%s: does not say \"%s\"\n%s", line, rows[i].says, o.out);
        if (!strstr(o.out, "\nsoftware ") && !strstr(o.out, "; software ") &&
            !strstr(o.out, "software megatron") && !strstr(o.out, "\nruntimes "))
            fail_msg("%s: no software\n%s", line, o.out);
        if (!strstr(o.out, "fits ") && !strstr(o.out, "\nmemory ") &&
            !strstr(o.out, "\nhelps "))
            fail_msg("%s: does not say whether it fits\n%s", line, o.out);
        if (!strstr(o.out, "\nsure ") && !strstr(o.out, "cannot run") &&
            !strstr(o.out, "no plan is feasible"))
            fail_msg("%s: does not say how sure\n%s", line, o.out);
        if (strstr(o.out, " nan") || strstr(o.out, " inf "))
            fail_msg("%s: a number that is none\n%s", line, o.out);
        fr_test_output_free(&o);
    }
}

/* Through a shell, which reads the quotes of values. */
static int run_in_shell(const char *command, struct fr_text *printed) {
    const char *words[] = {"sh", "-c", command, NULL};
    const struct fr_process p = {
        .words = words, .out.text = printed, .err.text = printed, .text_B = FR_FILE_MAX_B};
    struct fr_ended ended;
    FR_TRUE(fr_process_run(&p, &ended, NULL) == FR_OK, "%s cannot be run", command);
    return ended.code;
}

/* Commands that are suggested run: of a question that cannot be answered they may find nothing, too. */
static void next_runs(void **state) {
    (void)state;
    setenv("PATH", FR_BIN_DIR ":/usr/bin:/bin", 1);
    int n = 0;
    for (int i = 0; i < ROWS; i++) {
        struct output o = asked(rows[i].line, "");
        char command[1200];
        const bool slow = strstr(rows[i].line, "predict") == rows[i].line &&
                          strstr(rows[i].line, "gpt-tiny") == NULL;
        for (int k = 0; fr_screen_next(o.out, k, command, sizeof command); k++) {
            struct fr_text printed = {0};
            size_t used = strlen(command);
            if (slow && strstr(command, "forerun search")) /* the whole recipe: few of it do */
                snprintf(command + used, sizeof command - used, " --vary tp=1,2,8");
            int code = run_in_shell(command, &printed);
            if (code != 0 && code != 4)
                fail_msg("%s suggests %s: exit %d\n%s", rows[i].line, command, code,
                         fr_text_get(&printed));
            fr_text_free(&printed);
            n++;
        }
        fr_test_output_free(&o);
    }
    FR_TRUE(n > ROWS / 2, "only %d commands in %s", n, "next");
}

/* "--explain, --all, --json" of the last row. */
static void the_rest_is_there(void **state) {
    (void)state;
    for (int i = 0; i < ROWS; i++) {
        if (i > 0 && i != 10 && i != 19 && i < 21)
            continue; /* one of each verb, and all the last */
        struct output brief = asked(rows[i].line, ""), whole = asked(rows[i].line, " --all");
        FR_TRUE(whole.exit_code == rows[i].exit_code, "%s --all: exit %d", rows[i].line,
                whole.exit_code);
        FR_TRUE(strcmp(brief.out, whole.out) != 0, "%s: --all prints %s", rows[i].line,
                "the same");
        fr_test_output_free(&brief);
        fr_test_output_free(&whole);
    }
}

static const json_t *best_of(const json_t *root) {
    const json_t *best = json_object_get(root, "best");
    if (!best) best = json_object_get(root, "outcome");
    return best ? best : root;
}

/* The time, the energy and the rate of the text are those of the JSON. */
static void numbers_are_the_documents(void **state) {
    static const struct {
        const char *key;
        fr_quantity quantity;
    } keys[] = {{"iteration_time_s", FR_QUANTITY_TIME},
                {"iteration_energy_J", FR_QUANTITY_ENERGY},
                {"total_time_s", FR_QUANTITY_TIME}};
    (void)state;
    for (int i = 0; i < ROWS && strncmp(rows[i].line, "compare", 7) != 0; i++) {
        struct output text = asked(rows[i].line, ""), document = asked(rows[i].line, " --json");
        json_t *root = json_loads(document.out, 0, NULL);
        FR_TRUE(root != NULL, "%s: no JSON: %s", rows[i].line, document.err);
        const json_t *best = best_of(root);
        for (size_t k = 0; k < sizeof keys / sizeof *keys && best; k++) {
            const json_t *number = json_object_get(best, keys[k].key);
            char words[FR_READABLE];
            if (!json_is_number(number)) continue;
            fr_readable(json_number_value(number), keys[k].quantity, words);
            if (!fr_test_says(text.out, words))
                fail_msg("%s: %s is %s, which is not in\n%s", rows[i].line, keys[k].key, words,
                         text.out);
        }
        json_decref(root);
        fr_test_output_free(&text);
        fr_test_output_free(&document);
    }
}

static void a_tuned_cluster(void **state) {
    (void)state;
    struct output o = asked("tune --cluster dgx-h100 --runs " RUNS " --out tuned.json", "");
    FR_TRUE(o.exit_code == 0, "tune: %s", o.err);
    fr_test_output_free(&o);
    static const char *const lines[] = {
        "predict --cluster tuned.json --model llama-3-8b --set tp=8 --set zero=1",
        "search --cluster tuned.json --model llama-3-8b --ranks 64 " FEW};
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        o = asked(lines[i], "");
        FR_TRUE(o.exit_code == 0, "%s: %s", lines[i], o.err);
        fr_screen_fits(lines[i], o.out);
        FR_TRUE(strstr(o.out, "tuned") != NULL, "%s: not said to be tuned\n%s", lines[i],
                o.out);
        fr_test_output_free(&o);
    }
}

/* The next command does not repeat what a trainer's file says. */
static void a_trainers_script(void **state) {
    static const char script[] =
        "torchrun --nproc-per-node 8 pretrain_gpt.py --num-layers 32 --hidden-size 4096 "
        "--num-attention-heads 32 --seq-length 4096 --max-position-embeddings 4096 "
        "--tensor-model-parallel-size 8 --micro-batch-size 1 --global-batch-size 64 --bf16 "
        "--vocab-size 32000\n";
    static const char line[] = "predict --from train.sh --cluster dgx-h100";
    char command[1200];
    (void)state;
    assert_int_equal(fr_file_write("train.sh", script, sizeof script - 1, NULL), FR_OK);
    struct output o = asked(line, "");
    FR_TRUE(o.exit_code == 0, "%s: %s", line, o.err);
    fr_screen_fits(line, o.out);
    FR_TRUE(fr_screen_next(o.out, 0, command, sizeof command) &&
                strncmp(command, "forerun predict --from train.sh --cluster dgx-h100 --emit ",
                        58) == 0,
            "next: %s%s", command, "");
    fr_test_output_free(&o);
    unlink("train.sh");
}

/* A question without a name has no blanks in its place. */
static void runs_of_a_model_without_a_name(void **state) {
    static const char table[] =
        "model.kind,model.layers,model.hidden,model.heads,model.sequence,model.vocabulary,"
        "plan.tp,plan.global_batch,model.dtype,ranks,measured_s\n"
        "transformer,32,4096,32,4096,32000,8,64,bf16,8,7.1\n";
    static const char line[] = "score --cluster dgx-h100 --runs unnamed.csv",
                      question[] = "1 measured run on dgx-h100 beside their predictions\n";
    (void)state;
    assert_int_equal(fr_file_write("unnamed.csv", table, sizeof table - 1, NULL), FR_OK);
    struct output o = asked(line, "");
    FR_TRUE(o.exit_code == 0, "%s: %s", line, o.err);
    fr_screen_fits(line, o.out);
    FR_TRUE(strncmp(o.out, question, strlen(question)) == 0, "%s:\n%s", line, o.out);
    fr_test_output_free(&o);
    unlink("unnamed.csv");
}

/* A list of its own of what was left out, and the second line is the plan. */
static void search_answers_in_its_second_line(void **state) {
    (void)state;
    struct output o = asked("search --cluster dgx-h100 --model llama-3-70b --ranks 512 --vary "
                            "tp=1,4,8 --vary pp=4 --vary schedule=interleaved --vary "
                            "chunks=4,5,8,10 --vary micro_batch=1,2 --set zero=1 --set "
                            "overlap=gradient --set sequence_parallel=true",
                            "");
    fr_screen_fits("search", o.out);
    const char *second = strchr(o.out, '\n') + 1;
    FR_TRUE(strncmp(second, "best       tp ", 14) == 0, "second line: %s%s", second, "");
    FR_TRUE(fr_test_says(o.out, "left out: ") && fr_test_says(o.out, "do not fit"), "%s%s",
            o.out, "");
    FR_TRUE(strstr(o.out, "\nlike it ") != NULL, "no near-ties in\n%s%s", o.out, "");
    fr_test_output_free(&o);
}

/* Every preset has a row, and a cluster's says when its values were set and how they were checked. */
static void clusters_say_how_they_were_checked(void **state) {
    (void)state;
    struct output o = fr_test_run("forerun list clusters"),
                  models = fr_test_run("forerun list models");
    int n = 0;
    for (const struct fr_preset *p = fr_presets; p->name; p++) {
        const bool cluster = strcmp(p->kind, "cluster") == 0;
        char row[80];
        if (!cluster && strcmp(p->kind, "model") != 0) continue;
        snprintf(row, sizeof row, "\n%s ", p->name);
        const char *at = strstr(cluster ? o.out : models.out, row);
        FR_TRUE(at != NULL, "%s is in no list%s", p->name, "");
        const char *below = at ? strchr(at + 1, '\n') : NULL;
        FR_TRUE(!cluster || (below && strncmp(below + 1, "              202", 17) == 0),
                "%s: no date below its row in\n%s", p->name, o.out);
        n += cluster;
    }
    FR_TRUE(n >= 20 && !strstr(o.out, "does not say") && !strstr(o.out, "cannot be read"),
            "%d clusters:\n%s", n, o.out);
    fr_test_output_free(&o);
    fr_test_output_free(&models);
}

static void numbers_as_people_write_them(void **state) {
    static const struct {
        double si;
        fr_quantity quantity;
        const char *want;
    } cases[] = {{30.0365, FR_QUANTITY_TIME, "30.0 s"},
                 {1639.6, FR_QUANTITY_TIME, "1,640 s"},
                 {0.1817, FR_QUANTITY_TIME, "182 ms"},
                 {999.96e-3, FR_QUANTITY_TIME, "1.00 s"},
                 {16.24e6, FR_QUANTITY_ENERGY, "16.2 MJ"},
                 {50e9, FR_QUANTITY_RATE, "50.0 GB/s"},
                 {0, FR_QUANTITY_TIME, "0 s"},
                 {12812.7, FR_QUANTITY_TIME, "12,800 s"}};
    char out[FR_READABLE];
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_string_equal(fr_readable(cases[i].si, cases[i].quantity, out), cases[i].want);
    assert_string_equal(fr_readable_count(1048576, out), "1,048,576");
    assert_string_equal(fr_readable_count(-512, out), "-512");
    assert_string_equal(fr_readable_number(1090.9, out), "1,091");
    assert_string_equal(fr_readable_number(0.01234, out), "0.0123");
    assert_string_equal(fr_readable_number(NAN, out), "-");
    assert_string_equal(fr_readable_percent(0.0312, out), "3.1 %");
    assert_string_equal(fr_readable_percent(-0.456, out), "-46 %");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_screen),
        cmocka_unit_test(next_runs),
        cmocka_unit_test(the_rest_is_there),
        cmocka_unit_test(numbers_are_the_documents),
        cmocka_unit_test(a_tuned_cluster),
        cmocka_unit_test(a_trainers_script),
        cmocka_unit_test(runs_of_a_model_without_a_name),
        cmocka_unit_test(search_answers_in_its_second_line),
        cmocka_unit_test(clusters_say_how_they_were_checked),
        cmocka_unit_test(numbers_as_people_write_them),
    };
    return cmocka_run_group_tests(tests, enter, leave);
}
