/* One plan, one price: random plans that say a few keys, through every verb that prices one.
 *
 * Asserted against each other: the complete plan and the time of an iteration that predict,
 * compare-plans and the library print are the same bytes; a search of this one plan and a row of a runs.csv with the same
 * keys have the same time; the event engine has the same plan, and a time within 1e-9 where the closed form is exact. */
#include <dlfcn.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "app/verb.h"
#include "base/file.h"
#include "base/json.h"
#include "base/text.h"
#include "library/include/forerun.h"
#include "tests/cmocka.h"
#include "tests/plan_values.h"

enum { PLANS = 1000, KEYS = 24, WORDS = 80, TEXT_B = 160 };

/* ---- a plan that says a few keys ------------------------------------------------------------- */

struct asked {
    const char *cluster, *model;
    long long tp, pp, cp, dp, ep;
    const char *runtime; /* "": the newest */
    char key[KEYS][40], value[KEYS][40];
    int n;
};

static void say(struct asked *a, const char *key, const char *value) {
    snprintf(a->key[a->n], sizeof a->key[0], "%s", key);
    snprintf(a->value[a->n++], sizeof a->value[0], "%s", value);
}

static void say_number(struct asked *a, const char *key, long long value) {
    char text[24];
    snprintf(text, sizeof text, "%lld", value);
    say(a, key, text);
}

/* Each key that follows is said of one plan in three. */
static void say_some(struct asked *a, uint64_t *state) {
    static const struct {
        const char *key, *values[6];
    } some[] = {{"plan.attention", {"standard", "flash", "flash-2", NULL}},
                {"plan.sequence_parallel", {"true", "false", NULL}},
                {"plan.overlap", {"none", "gradient", NULL}},
                {"plan.recompute", {"none", "selective", "full", NULL}},
                {"plan.zero", {"0", "1", "2", "3", NULL}},
                {"plan.rank_order", {"tp-pp-dp", "tp-dp-pp", NULL}},
                {"plan.schedule", {"1f1b", "gpipe", "zero-bubble", NULL}},
                {"plan.micro_batch", {"1", "2", NULL}},
                {"plan.graphs", {"none", "layers", "iteration", NULL}},
                {"plan.etp", {"1", NULL}},
                {"plan.overlap_experts", {"true", "false", NULL}},
                {"plan.placement", {"linear", "round-robin", NULL}},
                {"model.defaults", {"2019", "modern", NULL}},
                {"model.sequence", {"1024", "4096", NULL}},
                {"model.dtype", {"bf16", "fp8", NULL}},
                {"model.gradient_dtype", {"fp32", "bf16", NULL}}};
    for (size_t i = 0; i < sizeof some / sizeof *some; i++)
        if (fr_test_random(state, 3) == 0)
            say(a, some[i].key, fr_test_one_of(state, some[i].values));
}

static void draw(uint64_t *state, struct asked *a) {
    static const char *const clusters[] = {"dgx-h100",     "gb200-nvl72", "gb300-nvl72",
                                           "dgx-a100",     "mi300x",      "dgx-b200",
                                           "tpu-trillium", NULL};
    static const char *const models[] = {
        "llama-3-8b",   "llama-3-70b", "gpt-2.5b",        "qwen3-30b-a3b",
        "mixtral-8x7b", "deepseek-v3", "nemotron-3-nano", NULL};
    static const char *const runtimes[] = {"",
                                           "",
                                           "papers-2019",
                                           "nemo-24.03",
                                           "megatron-bridge-25.09",
                                           "",
                                           "primus-2026",
                                           "megatron-bridge-26.04",
                                           "torchtitan-2025",
                                           NULL};
    *a = (struct asked){.cluster = fr_test_one_of(state, clusters),
                        .model = fr_test_one_of(state, models),
                        .runtime = fr_test_one_of(state, runtimes),
                        .tp = 1LL << fr_test_random(state, 4),
                        .pp = 1LL << fr_test_random(state, 3),
                        .cp = fr_test_random(state, 4) ? 1 : 2,
                        .dp = 1LL << fr_test_random(state, 5)};
    bool experts = strchr("qmdn", a->model[0]) != NULL && strcmp(a->model, "gpt-2.5b") != 0;
    a->ep = experts && fr_test_random(state, 2) ? 1LL << fr_test_random(state, 4) : 1;
    say_number(a, "plan.tp", a->tp);
    say_number(a, "plan.pp", a->pp);
    say_number(a, "plan.dp", a->dp);
    say_number(a, "plan.global_batch", a->dp * 8);
    if (a->cp > 1) say_number(a, "plan.cp", a->cp);
    if (a->ep > 1) say_number(a, "plan.ep", a->ep);
    say_some(a, state);
}

/* ---- in this process, what is printed kept ----------------------------------------------------- */

struct words {
    char text[WORDS][TEXT_B];
    int n;
};

static void add(struct words *w, const char *word) {
    snprintf(w->text[w->n++], TEXT_B, "%s", word);
}

static void add_sets(struct words *w, const struct asked *a, bool of_plan) {
    for (int i = 0; i < a->n; i++) {
        char word[TEXT_B];
        if (!of_plan && strncmp(a->key[i], "plan.", 5) == 0) continue;
        snprintf(word, sizeof word, "%s=%s", a->key[i], a->value[i]);
        add(w, "--set");
        add(w, word);
    }
}

static void about(struct words *w, const char *verb, const struct asked *a) {
    *w = (struct words){.n = 0};
    const char *const words[] = {verb, "--json", "-c", a->cluster, "-m", a->model};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) add(w, words[i]);
    if (!*a->runtime) return;
    add(w, "--runtime");
    add(w, a->runtime);
}

static char out_path[] = "/tmp/forerun_price_XXXXXX";

/* @return the exit code; *document NULL where nothing was printed */
static int answer(struct words *w, struct fr_json_document **document) {
    char *argv[WORDS + 2] = {(char[]){"forerun"}}, *text = NULL;
    size_t length = 0;
    for (int i = 0; i < w->n; i++) argv[i + 1] = w->text[i];
    fflush(stdout);
    fflush(stderr);
    int saved[2] = {dup(STDOUT_FILENO), dup(STDERR_FILENO)},
        file = open(out_path, O_WRONLY | O_TRUNC), nowhere = open("/dev/null", O_WRONLY);
    assert_true(file >= 0 && nowhere >= 0);
    dup2(file, STDOUT_FILENO);
    dup2(nowhere, STDERR_FILENO);
    int code = fr_app_main(w->n + 1, argv);
    fflush(stdout);
    for (int i = 0; i < 2; i++) {
        dup2(saved[i], STDOUT_FILENO + i);
        close(saved[i]);
    }
    close(file);
    close(nowhere);
    *document = NULL;
    if (fr_file_read(out_path, FR_FILE_MAX_B, &text, &length, NULL) == FR_OK && length)
        assert_int_equal(fr_json_parse(text, length, "answer", document, NULL), FR_OK);
    free(text);
    return code;
}

/* ---- what an outcome says -------------------------------------------------------------------- */

struct price {
    double time_s;
    struct fr_text plan;
};

static void price_of(const struct fr_json *outcome, struct price *p) {
    struct fr_json plan = fr_json_member(outcome, "plan");
    struct fr_json_writer w = {.text = &p->plan};
    p->time_s = NAN;
    if (!fr_json_present(&plan)) return;
    fr_json_put_copy(&w, &plan);
    fr_json_get_number(outcome, "iteration_time_s", false, 0, 1e18, &p->time_s, NULL);
}

static void agree(const struct asked *a, const char *who, const struct price *one,
                  const struct price *other, double within) {
    bool same = within > 0 ? fabs(other->time_s / one->time_s - 1) <= within
                           : other->time_s == one->time_s;
    struct fr_text line = {0};
    for (int i = 0; i < a->n; i++) fr_text_addf(&line, " --set %s=%s", a->key[i], a->value[i]);
    if (*a->runtime) fr_text_addf(&line, " --runtime %s", a->runtime);
    FR_TRUE(same, "%s: got %.17g s, predict %.17g s: -c %s -m %s%s", who, other->time_s,
            one->time_s, a->cluster, a->model, fr_text_get(&line));
    const char *x = fr_text_get(&one->plan), *y = fr_text_get(&other->plan);
    while (*x && *x == *y) x++, y++;
    FR_TRUE(!other->plan.length || *x == *y,
            "%s: got the plan \"...%.40s\", predict \"...%.40s\": -c %s -m %s%s", who, y - 20,
            x - 20, a->cluster, a->model, fr_text_get(&line));
    fr_text_free(&line);
}

/* ---- each way to ask ------------------------------------------------------------------------- */

/* The outcome where the document has it: itself, or a member. */
static void ask(struct words *w, const char *member, struct price *p, int *code) {
    struct fr_json_document *document = NULL;
    *p = (struct price){.time_s = NAN};
    *code = answer(w, &document);
    if (!document) return;
    struct fr_json at = fr_json_root(document);
    if (member) at = fr_json_member(&at, member);
    if (fr_json_is_array(&at)) at = fr_json_element(&at, 0);
    struct fr_json inside = fr_json_member(&at, "outcome");
    price_of(fr_json_present(&inside) ? &inside : &at, p);
    fr_json_free(document);
}

static void predicts(const struct asked *a, struct price *p, int *code) {
    struct words w;
    about(&w, "predict", a);
    add_sets(&w, a, true);
    ask(&w, NULL, p, code);
}

static void searches(const struct asked *a, const struct price *one) {
    struct words w;
    struct price p;
    int code;
    char word[TEXT_B];
    about(&w, "search", a);
    add_sets(&w, a, true);
    snprintf(word, sizeof word, "%lld", a->tp * a->pp * a->cp * a->dp);
    add(&w, "--ranks");
    add(&w, word);
    add(&w, "--per-iteration");
    add(&w, "--fit"); /* as unsure as predict's may be */
    add(&w, "any");
    add(&w, "--vary");
    snprintf(word, sizeof word, "tp=%lld", a->tp);
    add(&w, word);
    /* tp is varied, so that it is not set too */
    for (int i = 0; i < w.n; i++)
        if (strncmp(w.text[i], "plan.tp=", 8) == 0)
            snprintf(w.text[i], TEXT_B, "plan.pp=%lld", a->pp);
    ask(&w, "best", &p, &code);
    FR_TRUE(p.plan.length, "search: exit %d and no best plan, where predict has a price", code);
    fr_text_free(&p.plan); /* keys that nothing reads are at their defaults there */
    agree(a, "search", one, &p, 0);
    fr_text_free(&p.plan);
}

static void simulates(const struct asked *a, const struct price *one) {
    struct words w;
    struct price p;
    int code;
    about(&w, "simulate", a);
    add_sets(&w, a, true);
    ask(&w, "outcome", &p, &code);
    agree(a, "simulate", one, &p, 1e-9);
    fr_text_free(&p.plan);
}

/* The same plan twice: as a file that says the same keys. */
static void compares(const struct asked *a, const struct price *one) {
    static const char path[] = "/tmp/forerun_price_plan.json";
    struct fr_json_document *document = NULL;
    struct fr_text text = {0};
    struct fr_json_writer writer = {.text = &text};
    struct words w;
    struct price p;
    int code;
    assert_int_equal(fr_json_parse("{}", 2, "plan", &document, NULL), FR_OK);
    for (int i = 0; i < a->n; i++)
        if (strncmp(a->key[i], "plan.", 5) == 0)
            assert_int_equal(fr_json_set(document, a->key[i] + 5, a->value[i], "plan", NULL),
                             FR_OK);
    struct fr_json root = fr_json_root(document);
    fr_json_put_copy(&writer, &root);
    assert_int_equal(fr_file_write(path, fr_text_get(&text), text.length, NULL), FR_OK);
    fr_text_free(&text);
    fr_json_free(document);
    about(&w, "compare-plans", a);
    add_sets(&w, a, false);
    add(&w, path);
    add(&w, path);
    ask(&w, "plans", &p, &code);
    if (code == 0) agree(a, "compare-plans", one, &p, 0);
    fr_text_free(&p.plan);
    remove(path);
}

/* ---- the library ------------------------------------------------------------------------------ */

struct library {
    void *handle;
    __typeof__(&forerun_load) load;
    __typeof__(&forerun_predict) predict;
    __typeof__(&forerun_json) json;
    __typeof__(&forerun_result_free) result_free;
    __typeof__(&forerun_job_free) job_free;
};

static void *look_up(struct library *l, const char *name) {
    void *at = dlsym(l->handle, name);
    FR_TRUE(at != NULL, "the library has no %s", name);
    return at;
}

static void open_library(struct library *l) {
    l->handle = dlopen(FR_BIN_DIR "/../lib/libforerun.so", RTLD_NOW | RTLD_LOCAL);
    if (!l->handle) fail_msg("%s", dlerror());
    *(void **)&l->load = look_up(l, "forerun_load");
    *(void **)&l->predict = look_up(l, "forerun_predict");
    *(void **)&l->json = look_up(l, "forerun_json");
    *(void **)&l->result_free = look_up(l, "forerun_result_free");
    *(void **)&l->job_free = look_up(l, "forerun_job_free");
}

static void calls(const struct library *l, const struct asked *a, const struct price *one) {
    char set[KEYS][100];
    const char *sets[KEYS + 2] = {NULL};
    char runtime[64];
    forerun_error error;
    forerun_job *job = NULL;
    forerun_result *result = NULL;
    struct fr_json_document *document = NULL;
    struct price p = {.time_s = NAN};
    for (int i = 0; i < a->n; i++) {
        snprintf(set[i], sizeof set[i], "%s=%s", a->key[i], a->value[i]);
        sets[i] = set[i];
    }
    snprintf(runtime, sizeof runtime, "runtime=%s", a->runtime);
    if (*a->runtime) sets[a->n] = runtime;
    if (l->load(a->cluster, a->model, NULL, sets, &job, &error) != FORERUN_OK)
        fail_msg("library: %s", error.message);
    l->predict(job, &result, &error);
    const char *json = l->json(result);
    assert_int_equal(fr_json_parse(json, strlen(json), "library", &document, NULL), FR_OK);
    struct fr_json root = fr_json_root(document);
    price_of(&root, &p);
    agree(a, "library", one, &p, 0);
    fr_text_free(&p.plan);
    fr_json_free(document);
    l->result_free(result);
    l->job_free(job);
}

/* ---- rows of a runs.csv ------------------------------------------------------------------------ */

/* A file of all plans of the newest runtime, each key a column. */
static void write_runs(const char *path, const struct asked *all, const struct price *prices,
                       int n) {
    char column[64][40];
    int columns = 0;
    struct fr_text text = {0};
    for (int i = 0; i < n; i++)
        for (int k = 0; k < all[i].n; k++) {
            int c = 0;
            while (c < columns && strcmp(column[c], all[i].key[k]) != 0) c++;
            if (c == columns)
                snprintf(column[columns++], sizeof column[0], "%s", all[i].key[k]);
        }
    fr_text_addf(&text, "id,cluster,model,measured_s");
    for (int c = 0; c < columns; c++) fr_text_addf(&text, ",%s", column[c]);
    for (int i = 0; i < n; i++) {
        if (*all[i].runtime) continue;
        fr_text_addf(&text, "\n%d,%s,%s,%.17g", i, all[i].cluster, all[i].model,
                     prices[i].time_s);
        for (int c = 0; c < columns; c++) {
            int k = 0;
            while (k < all[i].n && strcmp(all[i].key[k], column[c]) != 0) k++;
            fr_text_addf(&text, ",%s", k < all[i].n ? all[i].value[k] : "");
        }
    }
    fr_text_addf(&text, "\n");
    assert_int_equal(fr_file_write(path, fr_text_get(&text), text.length, NULL), FR_OK);
    fr_text_free(&text);
}

static void scores(const struct asked *all, const struct price *prices, int n) {
    static const char path[] = "/tmp/forerun_price_runs.csv";
    struct fr_json_document *document = NULL;
    struct words w = {.n = 0};
    const char *const words[] = {"score", "--json", "--runs", path};
    write_runs(path, all, prices, n);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) add(&w, words[i]);
    assert_int_equal(answer(&w, &document), 0);
    struct fr_json root = fr_json_root(document), rows = fr_json_member(&root, "rows");
    int64_t at = 0;
    for (int i = 0; i < n; i++) {
        if (*all[i].runtime) continue;
        struct fr_json row = fr_json_element(&rows, at++);
        struct price p = {.time_s = NAN};
        fr_json_get_number(&row, "predicted_s", false, 0, 1e18, &p.time_s, NULL);
        agree(&all[i], "score", &prices[i], &p, 0);
    }
    assert_int_equal(fr_json_array_length(&rows), at);
    fr_json_free(document);
    remove(path);
}

/* ---- all of them ------------------------------------------------------------------------------ */

static void every_verb_has_one_price(void **state) {
    static struct asked all[PLANS];
    static struct price prices[PLANS];
    struct library library;
    uint64_t chance = 20261126;
    int n = 0, feasible = 0, drawn = 0;
    const int plans = fr_sample(PLANS, 200);
    (void)state;
    close(mkstemp(out_path));
    open_library(&library);
    for (; n < plans && drawn < 20 * plans; drawn++) {
        struct asked *a = &all[n];
        int code = 0;
        draw(&chance, a);
        predicts(a, &prices[n], &code);
        if (!isfinite(prices[n].time_s)) {
            fr_text_free(&prices[n].plan);
            continue;
        }
        if (code == 0 && ++feasible) searches(a, &prices[n]);
        simulates(a, &prices[n]);
        if (code == 0) compares(a, &prices[n]);
        calls(&library, a, &prices[n]);
        n++;
    }
    FR_TRUE(n == plans && feasible > plans / 20, "%d plans priced, %d feasible, of %d drawn", n,
            feasible, drawn);
    scores(all, prices, n);
    for (int i = 0; i < n; i++) fr_text_free(&prices[i].plan);
    dlclose(library.handle);
    remove(out_path);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_verb_has_one_price)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
