/* Every kind of file in every place where it is taken, by name and from standard input, to the same answer: one verb takes
 * the files that another writes. */
#include "app/verb.h"
#include "base/text.h"
#include "models/job/file_kind.h"
#include "tests/app/command.h"
#include "tests/scratch.h"

/* ---- files ---------------------------------------------------------------------------------------- */

#define MODEL " -c frontier -m ffn-16384"
#define KEPT FR_SOURCE_DIR "/tests/releases/0.2/"

/* Files that verbs write, by the command whose output they are; none: kept or made here. */
static const struct {
    const char *name, *option, *command; /* option: where it is taken */
} files[] = {
    {KEPT "cluster.json", "cluster", NULL},
    {"samples.jsonl", "cluster", NULL},
    {"shown.json", "cluster", "show frontier"},
    {"fitted.json", "cluster", "fit samples.jsonl --out -"},
    {KEPT "model.json", "model", NULL},
    {FR_SOURCE_DIR "/tests/golden/in/hf.json", "model", NULL},
    {KEPT "runtime.json", "runtime", NULL},
    {KEPT "plan.json", "plan", NULL},
    {"outcome.json", "plan", "predict" MODEL " -p " KEPT "plan.json --json"},
    {"explained.json", "plan", "predict" MODEL " -p " KEPT "plan.json --explain --json"},
    {"simulation.json", "plan", "simulate" MODEL " -p " KEPT "plan.json --json"},
    {"search.json", "plan", "search" MODEL " --ranks 16 --top 2 --json"},
    {"plans.json", "plan", "compare-plans" MODEL " " KEPT "plan.json outcome.json --json"},
    {"runs.csv", "runs", NULL},
};
enum { FILES = sizeof files / sizeof *files };

/* ---- places ----------------------------------------------------------------------------------------- */

/* "@": the file. */
static const struct {
    const char *verb, *option, *words;
} places[] = {
    {"predict", "cluster", "-c @ -m " KEPT "model.json"},
    {"search", "cluster", "-c @ -m " KEPT "model.json --ranks 8"},
    {"generate", "cluster", "-c @ -m llama-3-8b --set tp=4"},
    {"simulate", "cluster", "-c @ -m " KEPT "model.json"},
    {"tune", "cluster", "-c @ --runs runs.csv"},
    {"score", "cluster", "-c @ --runs runs.csv"},
    {"place", "cluster", "-c @ -m " KEPT "model.json --set tp=8"},
    {"share", "cluster", "-c @ --name shared"},
    {"collective", "cluster", "-c @ --op all_reduce --ranks 8 --size 1MiB"},
    {"gemm", "cluster", "-c @ --m 64 --n 64 --k 64"},
    {"export", "cluster", "simgrid -c @ --ranks 8"},
    {"compare", "cluster", "-c @ -c dgx-h100 -m " KEPT "model.json --ranks 8"},
    {"compare-plans", "cluster", "-c @ -m " KEPT "model.json " KEPT "plan.json outcome.json"},
    {"fit", "base", "samples.jsonl --base @"},
    {"export", "model", "goal -c cori-knl -m @ --set global_batch=8 --set model.dtype=fp32"},
    {"export", "plan", "goal -c cori-knl -m ffn-16384 -p @"},
    {"compare", "plan",
     "-c frontier -m ffn-16384 --runtime papers-2019 --runtime megatron-bridge-26.06 -p @"},
    {"predict", "model", "-c frontier -m @"},
    {"search", "model", "-c frontier -m @ --ranks 8"},
    {"simulate", "model", "-c frontier -m @ --set global_batch=8"},
    {"place", "model", "-c frontier -m @ --set tp=8"},
    {"compare", "model", "-c frontier -c dgx-h100 -m @ --ranks 8"},
    {"compare-plans", "model", "-c frontier -m @ " KEPT "plan.json outcome.json"},
    {"predict", "runtime", "-c frontier -m ffn-16384 --runtime @"},
    {"search", "runtime", "-c frontier -m ffn-16384 --ranks 8 --runtime @"},
    {"generate", "runtime", "-c dgx-h100 -m llama-3-8b --runtime @"},
    {"simulate", "runtime", "-c frontier -m ffn-16384 --runtime @"},
    {"place", "runtime", "-c frontier -m ffn-16384 --set tp=8 --runtime @"},
    {"gemm", "runtime", "-c frontier --m 64 --n 64 --k 64 --runtime @"},
    {"compare-plans", "runtime",
     "-c frontier -m ffn-16384 " KEPT "plan.json outcome.json --runtime @"},
    {"predict", "plan", "-c frontier -m ffn-16384 -p @"},
    {"simulate", "plan", "-c frontier -m ffn-16384 -p @"},
    {"place", "plan", "-c frontier -m ffn-16384 -p @"},
    {"search", "plan", "-c frontier -m ffn-16384 --ranks 16 --include @"},
    {"compare-plans", "plan", "-c frontier -m ffn-16384 " KEPT "plan.json @"},
    {"score", "runs", "-c frontier --runs @"},
    {"score", "runs", "-c frontier @"},
    {"tune", "runs", "-c frontier --runs @"},
    {"tune", "runs", "-c frontier @"},
};
enum { PLACES = sizeof places / sizeof *places };

/* Verbs that measure or train, and those whose other inputs their own tests hold (generate wants transformers). */
static const char *const elsewhere[] = {"calibrate", "validate", "iterations",
                                        "quality",   "watch",    "discover",
                                        "reproduce", "generate", NULL};

/* ---- running ---------------------------------------------------------------------------------------- */

enum { WORDS = 40, LINE = 4096 };

/* Run a line of forerun with @p input as standard input. @return exit code */
static int run(const char *verb, const char *words, const char *input, struct fr_text *out,
               struct fr_text *err) {
    char line[LINE], program[LINE], *rest = NULL;
    const char *word[WORDS] = {NULL};
    struct fr_ended ended;
    int n = 0;
    snprintf(program, sizeof program, "%s/forerun", FR_BIN_DIR);
    snprintf(line, sizeof line, "%s %s", verb, words);
    word[n++] = program;
    for (char *at = strtok_r(line, " ", &rest); at && n + 1 < WORDS;
         at = strtok_r(NULL, " ", &rest))
        word[n++] = at;
    const struct fr_process p = {.words = word,
                                 .in.file = input,
                                 .out.text = out,
                                 .err.text = err,
                                 .text_B = FR_FILE_MAX_B};
    assert_int_equal(fr_process_run(&p, &ended, NULL), FR_OK);
    return ended.code;
}

static bool has_json(const char *verb) {
    for (int v = 0; fr_verbs[v]; v++)
        if (strcmp(fr_verbs[v]->name, verb) == 0)
            return fr_option_find(fr_verbs[v]->options, "json");
    return false;
}

/* The line with @p file in its place, answered in JSON, which names no inputs, where the verb has it. */
static void with_file(const char *verb, const char *words, const char *file, char line[LINE]) {
    const char *at = strchr(words, '@');
    snprintf(line, LINE, "%.*s%s%s%s", (int)(at - words), words, file, at + 1,
             has_json(verb) && strcmp(verb, "export") != 0 ? " --json" : "");
}

/* Samples of a made-up machine: collectives that 0.2 keeps, and products and memory, without which no model is priced. */
static void put_samples(void) {
    static const struct {
        int size;
        const char *time_s;
    } products[] = {{64, "2e-7"}, {256, "2e-6"}, {512, "1e-5"}, {1024, "6e-5"}};
    struct fr_text text = {0};
    char *data = NULL;
    size_t length = 0;
    assert_int_equal(fr_file_read(KEPT "samples.jsonl", FR_FILE_MAX_B, &data, &length, NULL),
                     FR_OK);
    char *memory = strstr(data, "1e10"); /* more of it, so that models fit */
    assert_non_null(memory);
    memory[3] = '2';
    fr_text_add(&text, data, length);
    for (int i = 0; i < 4; i++)
        for (int rep = 0; rep < 3; rep++)
            fr_text_addf(&text,
                         "{\"kind\": \"gemm\", \"dtype\": \"fp32\", \"m\": %d, \"n\": %d, "
                         "\"k\": %d, \"launch\": 0, \"rep\": %d, \"time_s\": %s}\n",
                         products[i].size, products[i].size, products[i].size, rep,
                         products[i].time_s);
    fr_text_addf(&text, "{\"kind\": \"memory\", \"kernel\": \"stream\", \"size_B\": 67108864, "
                        "\"moved_B\": 201326592, \"launch\": 0, \"rep\": 0, \"time_s\": "
                        "0.001}\n{\"kind\": \"kernel\", \"launch\": 0, \"rep\": 0, "
                        "\"time_s\": 1e-6}\n");
    assert_int_equal(fr_file_write("samples.jsonl", text.data, text.length, NULL), FR_OK);
    fr_text_free(&text);
    free(data);
}

/* Runs that fit on eight ranks. */
static void put_runs(void) {
    static const char text[] = "model,plan.method,plan.tp,plan.dp,ranks,measured_s\n"
                               "ffn-16384,tensor,4,1,4,0.5\nffn-16384,tensor,8,1,8,0.3\n";
    assert_int_equal(fr_file_write("runs.csv", text, strlen(text), NULL), FR_OK);
}

static void make_files(void) {
    put_samples();
    put_runs();
    for (int i = 0; i < FILES; i++) {
        struct fr_text out = {0}, err = {0};
        if (!files[i].command) continue;
        int code = run(files[i].command, "", NULL, &out, &err);
        FR_TRUE(code == 0 && out.length, "%s: %d %s", files[i].command, code,
                fr_text_get(&err));
        assert_int_equal(fr_file_write(files[i].name, out.data, out.length, NULL), FR_OK);
        fr_text_free(&out), fr_text_free(&err);
    }
}

/* ---- laws ------------------------------------------------------------------------------------------- */

/* Without lines that name the file, and those of the clock. */
static void plain(struct fr_text *text, const char *name) {
    char *to = text->data;
    for (const char *at = text->data; at && *at;) {
        char line[LINE];
        size_t length = strcspn(at, "\n") + 1;
        snprintf(line, sizeof line, "%.*s", (int)length, at);
        bool named = strstr(line, name) || strstr(line, "\"-\"") || strstr(line, "elapsed_s");
        if (at[length - 1] == '\0') length--;
        if (!named) {
            memmove(to, at, length);
            to += length;
        }
        at += length;
    }
    if (to) *to = '\0';
}

/* By name and from standard input: the same exit code, that of an answer, and the same answer. */
static void hold(int p, int f) {
    char named[LINE], piped[LINE];
    struct fr_text a = {0}, b = {0}, err = {0}, other = {0};
    with_file(places[p].verb, places[p].words, files[f].name, named);
    with_file(places[p].verb, places[p].words, "-", piped);
    int code = run(places[p].verb, named, NULL, &a, &err),
        again = run(places[p].verb, piped, files[f].name, &b, &other);
    FR_TRUE(code == 0 || (code == 4 && a.length), "%s %s: %d %s", places[p].verb, named, code,
            fr_text_get(&err));
    FR_TRUE(again == code, "%s %s < %s: %d %s", places[p].verb, piped, files[f].name, again,
            fr_text_get(&other));
    plain(&a, files[f].name), plain(&b, files[f].name);
    FR_TRUE(*fr_text_get(&a) && strcmp(a.data, b.data) == 0, "%s %s:\n%s\n- :\n%s",
            places[p].verb, named, fr_text_get(&a), fr_text_get(&b));
    fr_text_free(&a), fr_text_free(&b), fr_text_free(&err), fr_text_free(&other);
}

static bool belongs(int p, int f) {
    const char *takes = places[p].option;
    return strcmp(files[f].option, strcmp(takes, "base") == 0 ? "cluster" : takes) == 0;
}

static void every_kind_in_every_place(void **state) {
    int n = 0;
    (void)state;
    make_files();
    for (int p = 0; p < PLACES; p++)
        for (int f = 0; f < FILES; f++)
            if (belongs(p, f)) hold(p, f), n++;
    assert_true(n > 80);
}

/* A verb with one of these options is in the table, or its own tests hold it. */
static void the_table_is_whole(void **state) {
    static const char *const options[] = {"cluster", "base", "model", "plan", "runs", NULL};
    (void)state;
    for (int v = 0; fr_verbs[v]; v++) {
        if (fr_place_in(elsewhere, fr_verbs[v]->name) >= 0) continue;
        for (int o = 0; options[o]; o++) {
            bool held = false;
            if (!fr_option_find(fr_verbs[v]->options, options[o])) continue;
            for (int p = 0; p < PLACES; p++)
                held = held || (strcmp(places[p].verb, fr_verbs[v]->name) == 0 &&
                                strcmp(places[p].option, options[o]) == 0);
            FR_TRUE(held, "%s --%s has no row", fr_verbs[v]->name, options[o]);
        }
    }
}

/* Standard input is one file. */
static void one_from_standard_input(void **state) {
    static const char *const lines[] = {"-c - -m -", "-c frontier -m - -p -"};
    (void)state;
    for (int i = 0; i < 2; i++) {
        struct fr_text out = {0}, err = {0};
        assert_int_equal(run("predict", lines[i], KEPT "model.json", &out, &err), 2);
        assert_non_null(strstr(fr_text_get(&err), "only one input"));
        fr_text_free(&out), fr_text_free(&err);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kind_in_every_place),
        cmocka_unit_test(the_table_is_whole),
        cmocka_unit_test(one_from_standard_input),
    };
    return cmocka_run_group_tests(tests, fr_scratch_enter, fr_scratch_leave);
}
