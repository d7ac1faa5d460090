/* Runtimes: which of several files' facts is taken, what their presets must hold, and what is refused of a file. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/file.h"
#include "models/job/assume.h"
#include "models/job/formula.h"
#include "models/job/preset.h"
#include "models/job/release.h"
#include "models/job/runtime.h"
#include "models/outcome/cost.h"
#include "models/plan/key.h"
#include "tests/job.h"
#include "tests/plan_values.h"
#include "tests/scratch.h"

static bool is_preset(const struct fr_preset *p, const char *kind) {
    return strcmp(p->kind, kind) == 0;
}

static void read_runtime(const char *name, struct fr_runtime *runtime) {
    struct fr_error err = {0};
    if (fr_runtime_read(name, runtime, &err) != FR_OK)
        fail_msg("%s: %s", err.where, err.detail);
}

static void write_file(const char *name, const char *text) {
    FILE *f = fopen(name, "w");
    assert_non_null(f);
    fputs(text, f);
    assert_int_equal(fclose(f), 0);
}

/* ---- which fact is taken: random files --------------------------------------------------------------- */

enum { FILES = 5, FACTS_MAX = 8 };
static const char *const some_keys[] = {"host_skew", "attention.flash", "attention.backward"},
                         *const some_of[] = {"", "hopper", "H100-SXM5-80GB", "ampere"};
enum { KEYS = 3, OFS = 4 };

/* File i comes from files behind it; of "of" a set of names, bit k some_of[k] (bit 0: none is given). */
struct stated {
    int key, of;
    bool none;
    double value;
};
struct file {
    int n, from, costs_from; /* a file, or 0 */
    struct stated fact[FACTS_MAX];
};

static void draw_file(uint64_t *dice, int i, struct file *file) {
    int left = FILES - 1 - i;
    *file = (struct file){.n = (int)fr_test_random(dice, FACTS_MAX + 1)};
    for (int k = 0; k < file->n; k++)
        file->fact[k] = (struct stated){
            (int)fr_test_random(dice, KEYS),
            fr_test_random(dice, 3) == 0 ? 1 : 2 * (1 + (int)fr_test_random(dice, 7)),
            fr_test_random(dice, 5) == 0, (double)(1 + fr_test_random(dice, 99)) / 100};
    if (left > 0) file->from = i + 1 + (int)fr_test_random(dice, (uint64_t)left);
    if (left > 0 && fr_test_random(dice, 2))
        file->costs_from = i + 1 + (int)fr_test_random(dice, (uint64_t)left);
}

static void write_stated(FILE *f, const struct stated *s) {
    int some = 0;
    fprintf(f, "{\"key\": \"%s\", ", some_keys[s->key]);
    if (s->of != 1) {
        fprintf(f, "\"of\": [");
        for (int k = 1; k < OFS; k++)
            if (s->of >> k & 1) fprintf(f, "%s\"%s\"", some++ ? ", " : "", some_of[k]);
        fprintf(f, "], ");
    }
    if (s->none)
        fprintf(f, "\"value\": null}");
    else
        fprintf(f, "\"value\": %.17g}", s->value);
}

static void write_drawn(int i, const struct file *file) {
    char name[32];
    snprintf(name, sizeof name, "r%d.json", i);
    FILE *f = fopen(name, "w");
    assert_non_null(f);
    fprintf(f, "{\"name\": \"r%d\", ", i);
    if (file->from) fprintf(f, "\"from\": \"r%d.json\", ", file->from);
    if (file->costs_from) fprintf(f, "\"costs_from\": [\"r%d.json\"], ", file->costs_from);
    fprintf(f, "\"facts\": [");
    for (int k = 0; k < file->n; k++) {
        if (k) fprintf(f, ", ");
        write_stated(f, &file->fact[k]);
    }
    fprintf(f, "]}");
    assert_int_equal(fclose(f), 0);
}

/* A file alone is found by the name of the device before its generation, before neither; the first of equals. */
static const struct stated *closest(const struct file *file, int key) {
    static const int order[] = {2, 1, 0};
    for (int o = 0; o < 3; o++)
        for (int k = 0; k < file->n; k++)
            if (file->fact[k].key == key && file->fact[k].of >> order[o] & 1)
                return &file->fact[k];
    return NULL;
}

static const struct stated *nearest(const struct file *files, int i, int key) {
    const struct stated *found = closest(&files[i], key);
    if (!found && files[i].from) found = nearest(files, files[i].from, key);
    if (!found && files[i].costs_from) found = nearest(files, files[i].costs_from, key);
    return found;
}

static void the_nearest_file_wins(void **state) {
    uint64_t dice = 0x51ed270b;
    const struct fr_device device = {.name = "H100-SXM5-80GB", .generation = "hopper"};
    (void)state;
    for (int n = 0; n < 400; n++) {
        struct file files[FILES];
        struct fr_runtime runtime;
        for (int i = FILES - 1; i >= 0; i--) draw_file(&dice, i, &files[i]);
        for (int i = 0; i < FILES; i++) write_drawn(i, &files[i]);
        read_runtime("r0.json", &runtime);
        assert_string_equal(runtime.name, "r0");
        for (int k = 0; k < KEYS; k++) {
            const struct stated *want = nearest(files, 0, k);
            const struct fr_fact *got =
                fr_runtime_of_device(&runtime, fr_fact_find(some_keys[k], NULL), &device);
            double wanted = want && !want->none ? want->value : 0;
            FR_TRUE((got ? got->number : 0) == wanted, "case %d, %s: %g, want %g", n,
                    some_keys[k], got ? got->number : 0, wanted);
        }
        if (fr_runtime_set(&runtime, "runtime.host_skew", "7", NULL) != FR_OK) fail();
        assert_true(
            fr_runtime_of_device(&runtime, fr_fact_find("host_skew", NULL), &device)->number ==
            7);
        fr_runtime_free(&runtime);
    }
}

/* ---- jobs -------------------------------------------------------------------------------------------- */

static void load(const char *cluster, const char *model, const char *runtime,
                 struct fr_job *job) {
    char set[512];
    const char *sets[] = {set, NULL};
    snprintf(set, sizeof set, "runtime=%s", runtime);
    fr_test_job(cluster, model, sets, job);
}

/* A statement in a cluster's file wins and is named; --set goes before both. */
static void a_cluster_has_the_word(void **state) {
    struct fr_job job;
    static const char *const own[] = {"cluster.device.host_launch=3 us", "runtime=nemo-24.03",
                                      NULL},
                             *const settings[] = {"cluster.device.host_launch=3 us",
                                                  "runtime.host_launch=5 us", NULL};
    (void)state;
    fr_test_job("dgx-h100", "llama-3-8b", own, &job);
    FR_NEAR(job.cluster.device.host_launch_s, 3e-6, 1e-12);
    assert_string_equal(job.cluster.runtime, "nemo-24.03");
    assert_string_equal(job.cluster.software, "host_launch");
    fr_job_free(&job);
    fr_test_job("dgx-h100", "llama-3-8b", settings, &job);
    FR_NEAR(job.cluster.device.host_launch_s, 5e-6, 1e-12);
    assert_string_equal(job.cluster.software, "");
    fr_job_free(&job);
}

/* Software that was never known on a device has the costs of the newest that suits it, and says so. */
static void whose_costs(void **state) {
    static const struct {
        const char *cluster, *runtime, *costs;
    } rows[] = {{"mi300x", "nemo-24.03", "primus-2026"},
                {"mi355x", "torchtitan-2025", "primus-2026"},
                {"tpu-v5p", "megatron-2021", "maxtext-2025"},
                {"dgx-b200", "nemo-24.03", ""},
                {"dgx-h100", "primus-2026", ""},
                {"mi300x", "primus-2026", ""},
                {"dgx-h100", "own.json", "megatron-bridge-26.06"},
                {"dgx-h100", "knows.json", ""},
                {"cori-knl", "nemo-24.03", ""}};
    (void)state;
    write_file("own.json", "{\"facts\": [{\"key\": \"host_skew\", \"value\": 0.3}]}");
    write_file("knows.json", "{\"facts\": [{\"key\": \"host_skew\", \"of\": \"hopper\", "
                             "\"value\": null}]}");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct fr_job job, other;
        load(rows[i].cluster, "llama-3-8b", rows[i].runtime, &job);
        assert_string_equal(job.cluster.costs, rows[i].costs);
        if (*rows[i].costs) {
            load(rows[i].cluster, "llama-3-8b", rows[i].costs, &other);
            assert_true(job.cluster.device.attention.flash ==
                        other.cluster.device.attention.flash);
            assert_true(job.cluster.device.attention.flash > 0);
            fr_job_free(&other);
        }
        if (strcmp(rows[i].runtime, "own.json") == 0)
            assert_true(job.cluster.device.host_skew == 0.3);
        fr_job_free(&job);
    }
}

/* Each runtime has a price on each cluster; a model of 2019 with papers-2019 the one that it has by itself. */
static void every_runtime_on_every_cluster(void **state) {
    static const char *const plan[] = {"", "tp=2", "global_batch=8", "model.dtype=fp16", NULL};
    int priced = 0;
    (void)state;
    for (const struct fr_preset *r = fr_presets; r->name; r++)
        for (const struct fr_preset *c = fr_presets; is_preset(r, "runtime") && c->name; c++) {
            char named[80];
            const char *sets[6] = {NULL};
            struct fr_outcome cost, own;
            struct fr_job job, bare;
            if (!is_preset(c, "cluster")) continue;
            snprintf(named, sizeof named, "runtime=%s", r->name);
            for (int i = 1; i < 4; i++) sets[i] = plan[i];
            sets[0] = named;
            const struct fr_job_names names = {
                .cluster = c->name, .model = "gpt-2.5b", .sets = sets, .n_sets = 4};
            if (fr_job_load(&names, &job, NULL) != FR_OK) { /* a collective alone */
                fr_job_free(&job);
                continue;
            }
            fr_cost(&job, &job.plan, &cost);
            FR_TRUE(cost.reasons || (isfinite(cost.time_s) && cost.time_s > 0),
                    "%s with %s: %g s", c->name, r->name, cost.time_s);
            priced += cost.reasons == 0;
            if (strcmp(r->name, "papers-2019") == 0) {
                fr_test_job(c->name, "gpt-2.5b", sets + 1, &bare);
                fr_cost(&bare, &bare.plan, &own);
                assert_true(memcmp(&own.time_s, &cost.time_s, sizeof own.time_s) == 0);
                fr_job_free(&bare);
            }
            fr_job_free(&job);
        }
    FR_TRUE(priced > 200, "%d were priced", priced);
}

/* ---- presets ------------------------------------------------------------------------------------------ */

static bool says(const struct fr_json *device, const char *key) {
    char part[32];
    size_t length = strcspn(key, ".");
    snprintf(part, sizeof part, "%.*s", (int)length, key);
    struct fr_json member = fr_json_member(device, part);
    return fr_json_present(&member) && (!key[length] || says(&member, key + length + 1));
}

static void clusters_state_no_software(void **state) {
    int clusters = 0;
    (void)state;
    for (const struct fr_preset *p = fr_presets; p->name; p++) {
        struct fr_json_document *document = NULL;
        if (!is_preset(p, "cluster")) continue;
        assert_int_equal(fr_json_parse(p->text, p->length, p->name, &document, NULL), FR_OK);
        struct fr_json root = fr_json_root(document), device = fr_json_member(&root, "device");
        for (int i = 0; i < fr_fact_count; i++)
            if (fr_facts[i].kind == FR_FACT_DEVICE)
                FR_TRUE(!says(&device, fr_facts[i].key),
                        "%s states %s, which is a fact of a runtime", p->name, fr_facts[i].key);
        clusters++;
        fr_json_free(document);
    }
    assert_true(clusters >= 20);
}

static void each_fact_has_source_and_date(void **state) {
    (void)state;
    for (const struct fr_preset *p = fr_presets; p->name; p++) {
        struct fr_runtime runtime;
        if (!is_preset(p, "runtime")) continue;
        read_runtime(p->name, &runtime);
        assert_string_equal(runtime.name, p->name);
        assert_true(*runtime.date && *runtime.source);
        for (int i = 0; i < runtime.n_facts; i++)
            FR_TRUE(*runtime.fact[i].source && *runtime.fact[i].date,
                    "%s: %s of \"%s\" has no source or no date", p->name,
                    fr_facts[runtime.fact[i].row].key, runtime.fact[i].of);
        fr_runtime_free(&runtime);
    }
}

static bool same_value(const struct fr_fact *a, const struct fr_fact *b) {
    return a->none == b->none && a->number == b->number && strcmp(a->text, b->text) == 0 &&
           a->when == b->when && a->width == b->width;
}

/* Row @p i of a runtime changes nothing for @p device, whose value it is: without it there is the same. */
static bool changes_nothing(struct fr_runtime *r, int i, const struct fr_device *device) {
    struct fr_fact *fact = &r->fact[i], without;
    int row = fact->row;
    fact->row = -1;
    const struct fr_fact *hidden = fr_runtime_of_device(r, row, device);
    without = hidden ? *hidden : (struct fr_fact){.none = true};
    fact->row = row;
    return same_value(fact, &without);
}

/* Is it a value of some device that would have another without it? */
static bool is_of_use(struct fr_runtime *r, int i, const struct fr_device *devices, int n) {
    for (int d = 0; d < n; d++) {
        const struct fr_device *device = &devices[d];
        struct fr_fact *fact = &r->fact[i];
        bool of = strcmp(fact->of, device->name) == 0 ||
                  (*fact->of && strcmp(fact->of, device->generation) == 0) || !*fact->of;
        const struct fr_fact *taken = fr_runtime_of_device(r, fact->row, device);
        if (of && (taken == fact || (fact->none && !taken)) && !changes_nothing(r, i, device))
            return true;
    }
    return false;
}

/* Facts of plan and model of a key: do all rows of its file say what the next file with the key says? */
static bool repeats(const struct fr_runtime *r, int i) {
    int row = r->fact[i].row, file = r->fact[i].file, a = 0, b = i;
    while (b < r->n_facts && (r->fact[b].row != row || r->fact[b].file == file)) b++;
    if (b == r->n_facts) return false;
    int hidden = r->fact[b].file;
    for (;; a++, b++) {
        while (a < r->n_facts && (r->fact[a].row != row || r->fact[a].file != file)) a++;
        while (b < r->n_facts && (r->fact[b].row != row || r->fact[b].file != hidden)) b++;
        if (a == r->n_facts || b == r->n_facts) return a == b;
        if (!same_value(&r->fact[a], &r->fact[b])) return false;
    }
}

static int devices_of_presets(struct fr_device *devices, int most) {
    int n = 0;
    for (const struct fr_preset *p = fr_presets; p->name && n < most; p++) {
        struct fr_json_document *document = NULL;
        if (!is_preset(p, "cluster")) continue;
        assert_int_equal(fr_json_parse(p->text, p->length, p->name, &document, NULL), FR_OK);
        struct fr_json root = fr_json_root(document), device = fr_json_member(&root, "device");
        devices[n] = (struct fr_device){0};
        snprintf(devices[n].name, sizeof devices[n].name, "%s",
                 fr_json_text_at(&device, "name"));
        snprintf(devices[n].generation, sizeof devices[n].generation, "%s",
                 fr_json_text_at(&device, "generation"));
        n++;
        fr_json_free(document);
    }
    return n;
}

static void no_preset_states_a_value_again(void **state) {
    static struct fr_device devices[64];
    int n = devices_of_presets(devices, 64);
    (void)state;
    for (const struct fr_preset *p = fr_presets; p->name; p++) {
        struct fr_runtime r;
        if (!is_preset(p, "runtime")) continue;
        read_runtime(p->name, &r);
        for (int i = 0; i < r.n_facts && r.fact[i].file == 0; i++) {
            bool device = fr_facts[r.fact[i].row].kind == FR_FACT_DEVICE;
            FR_TRUE(device ? is_of_use(&r, i, devices, n) : !repeats(&r, i),
                    "%s: %s of \"%s\" says what %s without it", p->name,
                    fr_facts[r.fact[i].row].key, r.fact[i].of,
                    device ? "holds" : "what it comes from says");
        }
        fr_runtime_free(&r);
    }
}

static void the_newest(void **state) {
    static const struct {
        bool modern;
        const char *generation, *name;
    } rows[] = {{true, "", "megatron-bridge-26.06"},
                {true, "hopper", "megatron-bridge-26.06"},
                {true, "blackwell-ultra", "megatron-bridge-26.06"},
                {true, "no such", "megatron-bridge-26.06"},
                {true, "cdna3", "primus-2026"},
                {true, "tpu-v6e", "maxtext-2025"},
                {false, "hopper", "papers-2019"},
                {false, "", "papers-2019"}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char name[FR_RUNTIME_NAME];
        fr_release_newest(rows[i].modern, rows[i].generation, NULL, name);
        assert_string_equal(name, rows[i].name);
    }
}

/* The newest of a line that was out by a date, the oldest where none was. */
static void the_newest_of_a_date(void **state) {
    static const struct {
        const char *generation, *until, *name;
    } rows[] = {{"hopper", "2027", "megatron-bridge-26.06"},
                {"hopper", "2026-06", "megatron-bridge-26.06"},
                {"hopper", "2026-05-31", "megatron-bridge-26.04"},
                {"hopper", "2026-03", "megatron-bridge-26.02"},
                {"blackwell", "2025", "megatron-bridge-25.11"},
                {"hopper", "2025-04", "nemo-25.04"},
                {"", "2024-10", "nemo-24.03"},
                {"ampere", "2015", "megatron-2021"},
                {"cdna3", "2025-06", "primus-2026"},
                {"tpu-v6e", "2024", "maxtext-2025"}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char name[FR_RUNTIME_NAME];
        fr_release_newest(true, rows[i].generation, rows[i].until, name);
        assert_string_equal(name, rows[i].name);
    }
}

/* A date of a preset names that preset or one before it, never a newer one. */
static void no_release_is_newer_than_its_date(void **state) {
    (void)state;
    for (const struct fr_preset *p = fr_presets; p->name; p++) {
        char name[FR_RUNTIME_NAME];
        if (strcmp(p->kind, "runtime") != 0 || strcmp(p->date, "2021-04") < 0) continue;
        fr_release_newest(true, "hopper", p->date, name);
        const struct fr_preset *found = fr_preset_find("runtime", name);
        FR_TRUE(strncmp(found->date, p->date, strlen(p->date)) <= 0, "%s: %s", p->date, name);
    }
}

/* A share or a number of three digits and more that a file states stands in no code that takes it. */
static void no_code_has_a_value(void **state) {
    static const char *const files[] = {"assume.c", "condition.c", "fact.c", "runtime.c",
                                        "fact_list.h"};
    struct fr_runtime r;
    (void)state;
    for (size_t f = 0; f < sizeof files / sizeof *files; f++) {
        char path[512], *code = NULL, number[40];
        size_t length = 0;
        snprintf(path, sizeof path, FR_SOURCE_DIR "/models/job/%s", files[f]);
        assert_int_equal(fr_file_read(path, FR_FILE_MAX_B, &code, &length, NULL), FR_OK);
        for (const struct fr_preset *p = fr_presets; p->name; p++) {
            if (!is_preset(p, "runtime")) continue;
            read_runtime(p->name, &r);
            for (int i = 0; i < r.n_facts; i++) {
                if (*r.fact[i].text || r.fact[i].none) continue;
                fr_fact_text(&r.fact[i], number, sizeof number);
                if (strlen(number) < 3) continue;
                for (const char *at = code; (at = strstr(at, number)); at++)
                    FR_TRUE(at > code && strchr("0123456789.", at[-1]),
                            "models/job/%s has %s, %s of %s", files[f], number,
                            fr_facts[r.fact[i].row].key, p->name);
            }
            fr_runtime_free(&r);
        }
        free(code);
    }
}

/* ---- what is refused ---------------------------------------------------------------------------------- */

#define FACT(text) "{\"facts\": [" text "]}"
static const struct {
    const char *text, *place, *says;
} refused[] = {
    {"{", "runtime", ""},
    {"{]", "runtime", ""},
    {"{\"fact\": []}", "fact", "did you mean \"facts\""},
    {"{\"facts\": {}}", "facts", "array"},
    {"{\"facts\": [3]}", "facts/0", "object"},
    {"{\"name\": 3}", "name", "string"},
    {"{\"name\": \"0123456789012345678901234567890123456789012345678901234567890123456789\"}",
     "name", ""},
    {"{\"date\": \"June\"}", "date", "expected a date as 2026, 2026-06 or 2026-06-30"},
    {"{\"date\": \"2026-6\"}", "date", "expected a date"},
    {"{\"date\": 2026}", "date", "string"},
    {"{\"defaults\": \"2020\"}", "defaults", "did you mean \"2019\""},
    {"{\"from\": 3}", "from", "string"},
    {"{\"from\": \"nemo-24.12\"}", "nemo-24.12", "did you mean \"nemo-24.11\""},
    {"{\"from\": [\"nemo-24.03\", \"no such file.json\"]}", "no such file.json", "neither"},
    {"{\"costs_from\": [\"dgx-h100\"]}", "dgx-h100", "is a cluster"},
    {FACT("{\"value\": 1}"), "facts/0", "has no \"key\""},
    {FACT("{\"key\": \"fixed\"}"), "facts/0", "has no \"value\""},
    {FACT("{\"key\": 7, \"value\": 1}"), "facts/0/key", "string"},
    {FACT("{\"key\": \"atention\", \"value\": \"flash\"}"), "facts/0/key",
     "did you mean \"attention\""},
    {FACT("{\"key\": \"fixed\", \"value\": \"1 ms\", \"off\": \"hopper\"}"), "facts/0/off",
     "did you mean \"of\""},
    {FACT("{\"key\": \"attention.flash\", \"value\": 1.2}"), "facts/0/value", "1"},
    {FACT("{\"key\": \"attention.flash\", \"value\": \"0.5 s\"}"), "facts/0/value", "number"},
    {FACT("{\"key\": \"host_launch\", \"value\": 40}"), "facts/0/value", ""},
    {FACT("{\"key\": \"host_launch\", \"value\": \"40 GB\"}"), "facts/0/value", ""},
    {FACT("{\"key\": \"attention\", \"value\": \"flashy\"}"), "facts/0/value", "flash"},
    {FACT("{\"key\": \"zero\", \"value\": 4}"), "facts/0/value", "3"},
    {FACT("{\"key\": \"zero\", \"value\": [1]}"), "facts/0/value", ""},
    {FACT("{\"key\": \"stage_layers\", \"value\": [3, 4]}"), "facts/0/value", "rule"},
    {FACT("{\"key\": \"model.gradient_dtype\", \"value\": \"fp8\"}"), "facts/0/value",
     "bf16|fp32"},
    {FACT("{\"key\": \"model.document\", \"value\": 0}"), "facts/0/value", "1"},
    {FACT(
         "{\"key\": \"fixed\", \"value\": \"1 ms\"}, {\"key\": \"fixed\", \"value\": \"1 ms\", "
         "\"date\": \"06/2026\"}"),
     "facts/1/date", "expected a date"},
    {FACT("{\"key\": \"zero\", \"value\": 1, \"of\": \"hopper\"}"), "facts/0/of", "when"},
    {FACT("{\"key\": \"fixed\", \"value\": \"1 ms\", \"when\": \"always\"}"), "facts/0/when",
     "every plan"},
    {FACT("{\"key\": \"zero\", \"value\": 1, \"when\": \"expert\"}"), "facts/0/when",
     "experts"},
    {FACT("{\"key\": \"attention.half_keys\", \"value\": 200, \"width\": 0.1}"),
     "facts/0/width", "nothing takes"},
    {FACT("{\"key\": \"attention.flash\", \"value\": 0.5, \"width\": 7}"), "facts/0/width",
     "2"},
    {FACT("{\"key\": \"fixed\", \"value\": \"1 ms\", \"of\": []}"), "facts/0/of", ""},
    {FACT("{\"key\": \"fixed\", \"value\": \"1 ms\", \"of\": [\"hopper\", 3]}"), "facts/0/of/1",
     "string"},
    {FACT("{\"key\": \"fixed\", \"value\": \"1 ms\", \"of\": \"\"}"), "facts/0/of", "no name"},
    {FACT("{\"key\": \"bucket\", \"value\": \"max(40e6, 1e6 dp\"}"), "facts/0/value",
     "expected , or ) at its end"},
    {FACT("{\"key\": \"bucket\", \"value\": \"max(40e6)\"}"), "facts/0/value",
     "another value before \")\""},
    {FACT("{\"key\": \"bucket\", \"value\": \"1e6 dp tp\"}"), "facts/0/value", "before \"tp\""},
    {FACT("{\"key\": \"bucket\", \"value\": \"1e6 dp)\"}"), "facts/0/value",
     "its end before \")\""},
    {FACT("{\"key\": \"bucket\", \"value\": \"0x10 dp\"}"), "facts/0/value", "decimal number"},
    {FACT("{\"key\": \"bucket\", \"value\": \"((((((((((dp))))))))))\"}"), "facts/0/value",
     "brackets"},
    {FACT("{\"key\": \"zero\", \"value\": \"max(1, dp)\"}"), "facts/0/value", ""},
    {FACT("{\"key\": \"gemm.fp8.grouped\", \"value\": 0.9, \"width\": 0.1}"), "facts/0/width",
     "nothing takes"},
};

static void bad_files_are_refused(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        struct fr_runtime runtime;
        struct fr_error err = {0};
        FR_TRUE(fr_runtime_read(refused[i].text, &runtime, &err) == FR_ERR_INPUT,
                "%s is accepted", refused[i].text);
        FR_TRUE(strstr(err.where, refused[i].place) && strstr(err.detail, refused[i].says) &&
                    *err.detail,
                "%s: \"%s: %s\", want %s: %s", refused[i].text, err.where, err.detail,
                refused[i].place, refused[i].says);
        fr_runtime_free(&runtime);
    }
}

static void bad_values_of_set_are_refused(void **state) {
    struct fr_runtime runtime;
    struct fr_error err = {0};
    (void)state;
    read_runtime("nemo-24.03", &runtime);
    assert_int_equal(fr_runtime_set(&runtime, "runtime.bucket", "max(40e6", &err),
                     FR_ERR_USAGE);
    assert_string_equal(err.detail, "runtime.bucket expected , and another value at its end");
    assert_int_equal(fr_runtime_set(&runtime, "runtime.zeros", "1", &err), FR_ERR_USAGE);
    assert_string_equal(err.detail, "\"runtime.zeros\" is no fact of a runtime; did you mean "
                                    "\"runtime.zero\"?");
    assert_int_equal(fr_runtime_set(&runtime, "attention.flash", "2", &err), FR_ERR_USAGE);
    FR_TRUE(strncmp(err.detail, "attention.flash ", 16) == 0, "%s", err.detail);
    fr_runtime_free(&runtime);
}

static void read_refused(const char *name, const char *place, const char *stated) {
    struct fr_runtime runtime;
    struct fr_error err = {0};
    assert_int_equal(fr_runtime_read(name, &runtime, &err), FR_ERR_INPUT);
    FR_TRUE(strstr(err.where, place) && strstr(err.detail, stated), "%s: %s", err.where,
            err.detail);
    fr_runtime_free(&runtime);
}

static void too_much_is_refused(void **state) {
    char many[60];
    (void)state;
    write_file("a.json", "{\"from\": \"b.json\"}");
    write_file("b.json", "{\"costs_from\": [\"c.json\"]}");
    write_file("c.json", "{\"facts\": [{\"key\": \"oops\"}]}");
    read_refused("a.json", "c.json#/facts/0", "\"value\"");
    write_file("c.json", "{\"from\": [\"nemo-24.03\", \"a.json\"]}");
    read_refused("a.json", "a.json", "comes from itself, by what \"c.json\"");
    write_file("self.json", "{\"costs_from\": \"self.json\"}");
    read_refused("self.json", "self.json", "comes from itself");
    for (int i = 0; i < 50; i++) {
        snprintf(many, sizeof many, "{\"from\": \"deep%d.json\"}", i + 1);
        char name[32];
        snprintf(name, sizeof name, "deep%d.json", i);
        write_file(name, many);
    }
    write_file("deep50.json", "{}");
    read_refused("deep0.json", "deep", "40 others");
    for (int listed = 0; listed < 2; listed++) {
        FILE *f = fopen("many.json", "w");
        assert_non_null(f);
        fprintf(f, listed ? "{\"facts\": [{\"key\": \"host_skew\", \"value\": 1, \"of\": ["
                          : "{\"facts\": [");
        for (int i = 0; i < 2000; i++)
            fprintf(f, listed ? "%s\"d%d\"" : "%s{\"key\": \"host_skew\", \"value\": %d}",
                    i ? "," : "", i % 100);
        fprintf(f, listed ? "]}]}" : "]}");
        assert_int_equal(fclose(f), 0);
        read_refused("many.json", listed ? "facts/0/of" : "facts", "1024");
    }
}

/* ---- rules of plans ------------------------------------------------------------------------------------ */

static void formulas(void **state) {
    static const struct {
        const char *text;
        double value; /* dp 6, cp 7 */
    } rows[] = {{"max(40e6, 1e6 dp cp)", 42e6},
                {"min(40e6, 1e6 dp cp)", 40e6},
                {"dp", 6},
                {"2*cp", 14},
                {"max(1, 2, dp, 3)", 6},
                {"min(dp, max(cp, 9)) (2 * cp)", 84},
                {" .5 ( dp ) ", 3},
                {"max(dp,cp)max(2,1)", 14}};
    const struct fr_plan plan = {.dp = 6, .cp = 7};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct fr_formula formula;
        struct fr_error err = {0};
        if (fr_formula_read(rows[i].text, &formula, &err) != FR_OK)
            fail_msg("%s: %s", rows[i].text, err.detail);
        assert_true(fr_formula_is(rows[i].text));
        FR_NEAR(fr_formula_value(&formula, &plan), rows[i].value, 1e-15);
    }
}

static void rules_of_plans(void **state) {
    static const char runtime[] =
        "runtime={\"from\": \"nemo-24.03\", \"facts\": ["
        "{\"key\": \"zero\", \"value\": 1, \"when\": \"gradients reduced\"},"
        "{\"key\": \"zero_ranks\", \"value\": \"node\"},"
        "{\"key\": \"bucket\", \"value\": \"max(40e6, 1e6 dp cp)\"},"
        "{\"key\": \"overlap_tp\", \"value\": true, \"when\": \"dense, tp\"},"
        "{\"key\": \"accumulation\", \"value\": \"apart\"},"
        "{\"key\": \"recompute\", \"value\": \"full\"}]}";
    static const struct {
        const char *tp, *dp;
        double bucket_B; /* of gradients of 2 bytes */
        int64_t ranks;
    } rows[] = {{"tp=2", "dp=64", 128e6, 4},
                {"tp=8", "dp=8", 80e6, 0},
                {"tp=1", "dp=8", 80e6, 0},
                {"tp=1", "dp=24", 80e6, 8},
                {"tp=4", "dp=2", 80e6, 0}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *sets[] = {
            runtime, rows[i].tp, rows[i].dp, "global_batch=192", "model.gradient_dtype=bf16",
            NULL};
        const struct fr_job_names names = {
            .cluster = "dgx-h100", .model = "llama-3-8b", .sets = sets, .n_sets = 5};
        struct fr_job job;
        struct fr_error err = {0};
        if (fr_job_load(&names, &job, &err) != FR_OK) fail_msg("%s: %s", err.where, err.detail);
        FR_NEAR(job.plan.bucket_size_B, rows[i].bucket_B, 1e-15);
        assert_int_equal(job.plan.zero_ranks, rows[i].ranks);
        assert_int_equal(job.plan.overlap_tp, job.plan.tp > 1);
        assert_true(job.plan.adds_apart && job.plan.recompute == FR_RECOMPUTE_FULL);
        fr_job_free(&job);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_nearest_file_wins),
        cmocka_unit_test(a_cluster_has_the_word),
        cmocka_unit_test(whose_costs),
        cmocka_unit_test(every_runtime_on_every_cluster),
        cmocka_unit_test(clusters_state_no_software),
        cmocka_unit_test(each_fact_has_source_and_date),
        cmocka_unit_test(no_preset_states_a_value_again),
        cmocka_unit_test(the_newest),
        cmocka_unit_test(the_newest_of_a_date),
        cmocka_unit_test(no_release_is_newer_than_its_date),
        cmocka_unit_test(no_code_has_a_value),
        cmocka_unit_test(bad_files_are_refused),
        cmocka_unit_test(bad_values_of_set_are_refused),
        cmocka_unit_test(too_much_is_refused),
        cmocka_unit_test(formulas),
        cmocka_unit_test(rules_of_plans),
    };
    return cmocka_run_group_tests(tests, fr_scratch_enter, fr_scratch_leave);
}
