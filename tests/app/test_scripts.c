/* Names that mean harm, through every place where a text of others enters and every script that leaves: the script is that
 * of harmless names in all but its comments, bash takes it, and with stand-ins for launchers it runs what that one runs. */
#include "tests/hostile.h"

#include <stdint.h>

#include "base/json.h"
#include "tests/app/command.h"

static char folder[] = "/tmp/forerun-scripts-XXXXXX";

/* ---- names ----------------------------------------------------------------------------------- */

/* As they stand in JSON, beside those of hostile.h. */
static const char *const of_scripts[] = {
    "x\\ntouch pwned\\n#",
    "x\\r#SBATCH --exclusive\\rtouch pwned",
    "\\n#SBATCH --exclusive",
    "#SBATCH --exclusive",
    "#!/bin/touch pwned",
    "\\nimport os; os.system('touch pwned')\\n",
    "\\nEND\\ntouch pwned\\n",
    "\\n)\\ntouch pwned\\nbridge=(",
    "\\n;;\\nesac\\ntouch pwned\\n",
    "\\u2028touch pwned\\u2029touch pwned\\u0085touch pwned",
    "$(touch pwned)`touch pwned`${x:=`touch pwned`}",
    "\\\\\\ntouch pwned \\\\",
    "'\\\"'\\\"\\ntouch pwned",
    "%s%n%100000d",
};
enum {
    N_OF_SCRIPTS = sizeof of_scripts / sizeof *of_scripts,
    N_NAMES = N_HOSTILE + N_OF_SCRIPTS + 1
};

/* The last is of 10 kB.  Freed by the caller. */
static char *name_of(int h) {
    struct fr_text name = {0};
    if (h < N_HOSTILE)
        fr_text_addf(&name, "%s", hostile[h]);
    else if (h < N_HOSTILE + N_OF_SCRIPTS)
        fr_text_addf(&name, "%s", of_scripts[h - N_HOSTILE]);
    else
        while (name.length < 10000) fr_text_addf(&name, "\\ntouch pwned");
    return name.data;
}

/* Names of files and values of keys stay as they are. */
static const char *const paths[] = {"p\ntouch pwned\n#", "p\n#SBATCH --exclusive\n",
                                    "p$(touch pwned)`touch pwned`", "p'\"\\; touch pwned; '",
                                    "p\xe2\x80\xa8touch pwned\r#SBATCH -x %s%n"};
enum { N_PATHS = sizeof paths / sizeof *paths };

/* ---- the folder ------------------------------------------------------------------------------ */

static void put(const char *name, const char *text) {
    assert_int_equal(fr_file_write(name, text, strlen(text), NULL), FR_OK);
}

static int shell(const char *line) { return system(line); }

/* Launchers that note what they are started with. */
static int enter(void **state) {
    static const char stub[] = "#!/bin/sh\nprintf '%s\\n' \"${0##*/}\" \"$@\" >>started\n";
    (void)state;
    if (!mkdtemp(folder) || chdir(folder) != 0) return -1;
    if (shell("mkdir stubs") != 0) return -1;
    put("stubs/torchrun", stub);
    return shell(
        "cd stubs && chmod +x torchrun && for name in srun scontrol python mpirun; do ln "
        "torchrun $name; done");
}

static int leave(void **state) {
    char line[128];
    (void)state;
    snprintf(line, sizeof line, "rm -r %s", folder);
    return chdir("/") == 0 ? shell(line) : -1;
}

/* ---- places ---------------------------------------------------------------------------------- */

static const char cluster[] =
    "{\"name\": \"N\", \"source\": \"SOURCE\", \"device\": {\"name\": \"N\", \"memory\": "
    "\"64 GB\", "
    "\"memory_bandwidth\": \"2 TB/s\", \"gemm\": {\"bf16\": {\"peak\": \"300 TFLOP/s\"}}, "
    "\"power\": {\"busy\": \"500 W\", \"idle\": \"90 W\", \"quality\": \"estimated\", "
    "\"source\": \"SOURCE\"}}, \"levels\": [{\"name\": \"SHORT\", \"ranks\": 4, \"latency\": "
    "\"2 "
    "us\", "
    "\"bandwidth\": \"50 GB/s\"}, {\"name\": \"system\", \"ranks\": 64, \"latency\": \"5 us\", "
    "\"bandwidth\": \"25 GB/s\"}]}";
static const char model[] =
    "{\"kind\": \"transformer\", \"defaults\": \"modern\", \"name\": \"N\", \"source\": "
    "\"SOURCE\", "
    "\"aliases\": [\"N\"], \"layers\": 4, \"hidden\": 512, \"heads\": 8, \"ffn\": 2048, "
    "\"sequence\": 512, \"vocabulary\": 32000, \"dtype\": \"bf16\", \"global_batch\": 64}";
static const char config[] =
    "{\"_name_or_path\": \"LONG\", \"architectures\": [\"LlamaForCausalLM\", \"LONG\"], "
    "\"model_type\": "
    "\"llama\", \"hidden_size\": 512, \"intermediate_size\": 2048, \"num_attention_heads\": 8, "
    "\"num_hidden_layers\": 4, \"num_key_value_heads\": 8, \"vocab_size\": 32000, "
    "\"max_position_embeddings\": 512, \"torch_dtype\": \"bfloat16\", \"rms_norm_eps\": 1e-05, "
    "\"tie_word_embeddings\": false, \"hidden_act\": \"silu\", \"transformers_version\": "
    "\"N\"}";

static const char order[] = "{\"name\": \"N\", \"stages\": [\"F0 F1 B0 B1\", \"F0 B0 F1 B1\"]}";

/* @p form with @p name for its texts, as far as they may be that long, in the file @p path @p end. */
static void put_named(const char *path, const char *end, const char *form, const char *name) {
    static const struct {
        const char *mark;
        size_t most_B;
    } places[] = {
        {"\"LONG\"", SIZE_MAX}, {"\"SOURCE\"", 1023}, {"\"N\"", 63}, {"\"SHORT\"", 31}};
    enum { PLACES = sizeof places / sizeof *places };
    struct fr_text text = {0};
    char file[256];
    while (*form) {
        int p = 0;
        while (p < PLACES && strncmp(form, places[p].mark, strlen(places[p].mark)) != 0) p++;
        if (p == PLACES) {
            fr_text_add(&text, form++, 1);
            continue;
        }
        fr_text_addf(&text, "\"%s\"",
                     strlen(name) <= places[p].most_B ? name : "\\ntouch pwned\\n#");
        form += strlen(places[p].mark);
    }
    snprintf(file, sizeof file, "%s%s", path, end);
    put(file, text.data);
    fr_text_free(&text);
}

/* All files of a run, whose texts are @p name and whose paths start with @p path. */
static void put_all(const char *path, const char *name) {
    put_named(path, "cluster.json", cluster, name);
    put_named(path, "model.json", model, name);
    put_named(path, "config.json", config, name);
    put_named(path, "plan.json", "{\"tp\": 2, \"dp\": 4}", name);
    put_named(path, "order.json", order, name);
    put_named(path, "seats.json", "[1, 0, 3, 2, 6, 7, 5, 4]", name);
}

/* ---- scripts --------------------------------------------------------------------------------- */

/* The words of a command; @ stands for the path's start. */
static const struct {
    const char *words[24];
    int exit_code;
} questions[] = {
#define FILES(cluster, model) "-c", "@" cluster, "-m", "@" model
    {{"predict", FILES("cluster.json", "model.json"), "-p", "@plan.json"}, 0},
    {{"predict", FILES("cluster.json", "model.json"), "-p", "@plan.json", "--set",
      "cluster.device.memory=100 MB"},
     4},
    {{"predict", FILES("cluster.json", "model.json"), "--set", "dp=8", "--set",
      "placement=file:@seats.json"},
     0},
    {{"predict", FILES("cluster.json", "model.json"), "--set", "pp=2", "--set", "tp=4", "--set",
      "global_batch=2", "--set", "micro_batch=1", "--set", "schedule=@order.json"},
     0},
    {{"predict", FILES("cluster.json", "config.json"), "-p", "@plan.json", "--set",
      "global_batch=64"},
     0},
    {{"search", FILES("cluster.json", "model.json"), "--ranks", "8", "--top", "1", "--vary",
      "model.name=@,plain", "--fix", "micro_batch=1", "--fix", "tp=1", "--fix", "pp=1", "--fix",
      "cp=1", "--fix", "zero=1"},
     0},
#undef FILES
};
enum { QUESTIONS = sizeof questions / sizeof *questions };

static const char *const forms[] = {"megatron",
                                    "megatron-bridge",
                                    "torchtitan",
                                    "deepspeed",
                                    "sbatch",
                                    "sbatch,megatron",
                                    "sbatch,megatron-bridge",
                                    "sbatch,torchtitan",
                                    "sbatch,deepspeed"};
enum { FORMS = sizeof forms / sizeof *forms };

/* Runs the program and returns its output: @p question's words and then @p more. */
static char *script_of(const char *const *question, const char *const *more, const char *path,
                       int exit_code) {
    char program[4096], word[40][256];
    const char *words[40] = {program};
    struct fr_text out = {0}, printed = {0};
    struct fr_error err = {.status = FR_OK};
    struct fr_ended ended;
    int n = 1;
    snprintf(program, sizeof program, "%s/forerun", FR_BIN_DIR);
    for (int list = 0; list < 2; list++)
        for (const char *const *at = list ? more : question; *at; at++, n++) {
            const char *sign = strchr(*at, '@');
            snprintf(word[n], sizeof word[n], "%.*s%s%s", sign ? (int)(sign - *at) : 0, *at,
                     sign ? path : "", sign ? sign + 1 : *at);
            words[n] = word[n];
        }
    const struct fr_process p = {
        .words = words, .out.text = &out, .err.text = &printed, .text_B = FR_FILE_MAX_B};
    fr_text_add(&out, "", 0), fr_text_add(&printed, "", 0);
    if (fr_process_run(&p, &ended, &err) != FR_OK) fail_msg("%s: %s", program, err.detail);
    if (ended.code != exit_code)
        fail_msg("%s ... %s, path %s: exit %d, want %d: %s", question[0], more[1], path,
                 ended.code, exit_code, printed.data);
    fr_text_free(&printed);
    return out.data;
}

/* The lines of a script, each comment "#" alone. */
static char *without_comments(const char *script) {
    struct fr_text out = {0};
    fr_text_add(&out, "", 0);
    for (const char *at = script; *at;) {
        size_t length = strcspn(at, "\n") + (strchr(at, '\n') != NULL);
        if (at[0] == '#' && at[1] == ' ')
            fr_text_addf(&out, "#\n");
        else
            fr_text_add(&out, at, length);
        at += length;
    }
    return out.data;
}

/* Bash runs it beside stand-ins: the result has all that is printed, the programs that were started, and their
 * configuration. */
static char *done_by(const char *script, const char *what) {
    static const char line[] =
        "bash -n script.sh || exit 9; : >started; : >ds_config.json; "
        "PATH=$PWD/stubs:/usr/bin:/bin MODULE=m CONFIG=c TRAIN=t FAMILY=f RECIPE=r GPU=g "
        "SLURM_CPUS_ON_NODE=96 SLURM_JOB_ID=7 "
        "bash script.sh mine >done 2>&1; cat started ds_config.json >>done";
    char *text = NULL;
    size_t length = 0;
    put("script.sh", script);
    if (shell(line) != 0) fail_msg("%s: bash does not take it:\n%s", what, script);
    if (fr_file_exists("pwned")) fail_msg("%s ran a command:\n%s", what, script);
    if (fr_file_holds("ds_config.json")) {
        struct fr_json_document *document = NULL;
        struct fr_error err = {0};
        if (fr_json_read("ds_config.json", &document, &err) != FR_OK)
            fail_msg("%s: %s: %s", what, err.where, err.detail);
        fr_json_free(document);
    }
    if (fr_file_read("done", FR_FILE_MAX_B, &text, &length, NULL) != FR_OK)
        fail_msg("%s", what);
    return text;
}

static void same(const char *got, const char *want, const char *what, const char *script) {
    if (strcmp(got, want) != 0) fail_msg("%s differs:\n%s", what, script);
}

/* A script, and of the harmless one what it is held against. */
struct harmless {
    char *code, *done;
};

/* @p runs: bash too is asked, which takes much longer. */
static void hold(const char *script, struct harmless *to, bool runs, const char *what) {
    char *code = without_comments(script), *done = runs ? done_by(script, what) : NULL;
    if (first_hidden(script)) fail_msg("%s: %.60s", what, first_hidden(script));
    if (!to->code) {
        *to = (struct harmless){code, done};
        return;
    }
    same(code, to->code, what, script);
    if (done && to->done) same(done, to->done, what, script);
    free(code);
    free(done);
}

static void forget(struct harmless *all, int n) {
    for (int i = 0; i < n; i++) {
        free(all[i].code);
        free(all[i].done);
    }
}

/* Each name goes through every form; questions take turns, so that each form sees each question; bash sees one in nine. */
static void scripts_are_those_of_harmless_names(void **state) {
    struct harmless all[QUESTIONS][FORMS] = {{{NULL, NULL}}};
    (void)state;
    for (int h = -1; h < N_NAMES; h++) {
        char *name = h < 0 ? NULL : name_of(h);
        const char *path = h < 0 ? "p" : paths[h % N_PATHS];
        put_all(path, h < 0 ? "plain" : name);
        for (int q = 0; q < QUESTIONS; q++)
            for (int f = 0; f < FORMS; f++) {
                const char *const more[] = {"--emit", forms[f], NULL};
                char what[200];
                if (h >= 0 && (h + q + f) % QUESTIONS != 0) continue;
                snprintf(what, sizeof what, "name %d, question %d, %s", h, q, forms[f]);
                char *script =
                    script_of(questions[q].words, more, path, questions[q].exit_code);
                hold(script, &all[q][f], h < 0 ? q < 2 : (h + f) % 9 == 0, what);
                free(script);
            }
        free(name);
    }
    for (int q = 0; q < QUESTIONS; q++) forget(all[q], FORMS);
}

/* Lines for launchers; a rankfile is no script, so that bash only looks at Slurm's. */
static void launchers_lines_too(void **state) {
    static const char *const place[] = {
        "place", "-c",          "@cluster.json",    "-m", "@model.json", "--set",
        "dp=8",  "--placement", "file:@seats.json", NULL};
    static const char *const launchers[] = {"slurm", "rankfile"};
    (void)state;
    for (int l = 0; l < 2; l++) {
        const char *const more[] = {"--emit", launchers[l], NULL};
        char *want = NULL;
        for (int h = -1; h < N_NAMES; h++) {
            char *name = h < 0 ? NULL : name_of(h);
            const char *path = h < 0 ? "p" : paths[h % N_PATHS];
            put_all(path, h < 0 ? "plain" : name);
            char *script = script_of(place, more, path, 0), *code = without_comments(script);
            if (first_hidden(script)) fail_msg("name %d: %.60s", h, first_hidden(script));
            if (l == 0 && h % 9 == 0) free(done_by(script, launchers[l]));
            if (!want)
                want = strdup(code);
            else
                same(code, want, launchers[l], script);
            free(code);
            free(script);
            free(name);
        }
        free(want);
    }
}

/* ---- what Slurm sets ------------------------------------------------------------------------- */

/* Scripts of every form and launcher that ask Slurm, with texts that mean harm in each of its variables and in what
 * scontrol answers, beside stand-ins that start what they are given: no command is run, and the files that are made are
 * the script's own.  One shell tries them all. */
static const char slurm[] =
    "cat >stubs/srun <<'END'\n"
    "#!/bin/bash\n"
    "while [ $# -gt 0 ] && [ \"$1\" != bash ]; do shift; done\n"
    "[ $# = 0 ] || exec \"$@\"\n"
    "END\n"
    "cat >stubs/scontrol <<'END'\n"
    "#!/bin/sh\n"
    "printf '%s\\n' \"${HOSTS:-h0}\" h1 h2 h3\n"
    "END\n"
    "chmod +x stubs/srun stubs/scontrol; : >begun\n"
    "texts=('a[$(touch pwned)]' '$(touch pwned)' '`touch pwned`' '1; touch pwned' $'1\\ntouch "
    "pwned' '../../1' "
    "'PATH' '08' '-n' \"'; touch pwned; '\" '#SBATCH -x' '')\n"
    "variables=(SLURM_CPUS_ON_NODE SLURM_JOB_ID SLURM_JOB_NODELIST SLURM_PROCID SLURM_LOCALID "
    "SLURM_NTASKS HOSTS "
    "MASTER_PORT MODULE CONFIG TRAIN FAMILY RECIPE GPU)\n"
    "export SLURM_CPUS_ON_NODE=96 SLURM_JOB_ID=7 SLURM_JOB_NODELIST='h[0-3]' SLURM_PROCID=0 "
    "SLURM_LOCALID=0 SLURM_NTASKS=8\n"
    "export MODULE=m CONFIG=c TRAIN=t FAMILY=f RECIPE=r GPU=g PATH=$PWD/stubs:/usr/bin:/bin\n"
    "mkdir -p in && cd in || exit 9\n"
    "for script in ../slurm.[0-9]*; do\n"
    "  for variable in \"${variables[@]}\"; do\n"
    "    for text in \"${texts[@]}\"; do\n"
    "      [ $((tried++ % ${EVERY:-31})) = 0 ] || continue\n"
    "      env \"$variable=$text\" bash \"$script\" >/dev/null 2>&1\n"
    "      [ ! -e pwned ] || { echo \"$script: $variable=$text\"; exit 1; }\n"
    "    done\n"
    "  done\n"
    "  others=$(find .. -newer ../begun -type f ! -name hostfile.7 ! -name hostfile.08 ! -name "
    "ds_config.json ! -name "
    "started)\n"
    "  [ -z \"$others\" ] || { echo \"$script made $others\"; exit 1; }\n"
    "done\n";

static void slurms_variables_are_no_code(void **state) {
    static const char *const place[] = {
        "place", "-c",          "@cluster.json",    "-m", "@model.json", "--set",
        "dp=8",  "--placement", "file:@seats.json", NULL};
    static const char *const from_slurm[] = {"--emit", "slurm", NULL};
    (void)state;
    put_all("p", "plain");
    for (int f = 0; f <= FORMS; f++) {
        const char *const more[] = {"--emit", f < FORMS ? forms[f] : NULL, NULL};
        char file[32];
        char *script = f < FORMS ? script_of(questions[2].words, more, "p", 0)
                                 : script_of(place, from_slurm, "p", 0);
        snprintf(file, sizeof file, "slurm.%d", f);
        put(file, script);
        free(script);
    }
    put("slurm.sh", slurm);
    assert_int_equal(shell("rm -f stubs/srun stubs/scontrol; sleep 0.02"),
                     0); /* links of one stub */
    if (shell("bash slurm.sh 1>&2") != 0) fail_msg("a variable became code");
}

/* Where it is installed: of scripts with a harmful name, all at once, as it takes long to start. */
static void shellcheck_takes_them(void **state) {
    static const char line[] = "shellcheck -s bash checked.* 1>&2";
    (void)state;
    if (shell("command -v shellcheck >/dev/null") != 0) skip();
    for (int q = 0; q < 3; q++) {
        char *name = name_of(N_HOSTILE + q * 5);
        put_all(paths[q], name);
        for (int f = q + 1; f < FORMS; f += 4) {
            const char *const more[] = {"--emit", forms[f], NULL};
            char file[32];
            char *script = script_of(questions[2].words, more, paths[q], 0);
            snprintf(file, sizeof file, "checked.%d", f);
            put(file, script);
            free(script);
        }
        free(name);
    }
    assert_int_equal(shell(line), 0);
}

/* The texts do reach the scripts, else the rest holds of itself. */
static void names_are_told(void **state) {
    const char *const to_torchtitan[] = {"--emit", "torchtitan", NULL};
    (void)state;
    put_all("q", "x\\ntouch pwned");
    put_all("q\n#SBATCH", "x");
    char *script = script_of(questions[0].words, to_torchtitan, "q", 0);
    FR_TRUE(strstr(script, "check that it is x touch pwned's\n") != NULL, "%s", script);
    free(script);
    script = script_of(questions[5].words, to_torchtitan, "q\n#SBATCH", 0);
    FR_TRUE(strstr(script, "model.name") != NULL, "%s", script);
    free(script);
}

/* "all": each value of each variable of Slurm. */
int main(int argc, char **argv) {
    if (argc > 1 && strcmp(argv[1], "all") == 0) setenv("EVERY", "1", 1);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scripts_are_those_of_harmless_names),
        cmocka_unit_test(launchers_lines_too),
        cmocka_unit_test(names_are_told),
        cmocka_unit_test(shellcheck_takes_them),
        cmocka_unit_test(slurms_variables_are_no_code),
    };
    return cmocka_run_group_tests_name("app.scripts", tests, enter, leave);
}
