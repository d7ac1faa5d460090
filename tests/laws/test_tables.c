/* Kinds of models, families, importers, shapes, networks, figures and meters: every row has an example here and keeps the
 * contract of its kind. */
#include <stdlib.h>
#include <unistd.h>

#include "base/file.h"
#include "base/json/key.h"
#include "calibrate/measure/power.h"
#include "calibrate/samples/import.h"
#include "models/workload/family.h"
#include "plots/figure.h"
#include "sim/run.h"
#include "tests/laws/stages.h"
#include "tests/topology/read_levels.h"
#include "topology/route.h"

static const char *file_of(const char *text) {
    static char path[64];
    snprintf(path, sizeof path, "/tmp/forerun-test-laws-%d.json", (int)getpid());
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
    return path;
}

static fr_status load(const char *text, const char *set, struct fr_job *job) {
    struct fr_error err = {0};
    struct fr_job_names names = {.cluster = "dgx-a100", .model = file_of(text), .sets = &set};
    names.n_sets = set != NULL;
    fr_status status = fr_job_load(&names, job, &err);
    unlink(names.model);
    if (status != FR_OK && !set) fail_msg("%s: %s: %s", text, err.where, err.detail);
    if (status != FR_OK) assert_true(strlen(err.where) > 0 && strlen(err.detail) > 10);
    return status;
}

static void refused(const char *text, const char *set) {
    struct fr_job job;
    FR_TRUE(load(text, set, &job) != FR_OK, "%s is taken with %s", text, set);
    fr_job_free(&job);
}

/* ---- kinds ------------------------------------------------------------------------------------ */

static const struct {
    const char *kind, *text;
    double parameters;
    const char *refused[4];
} kinds[] = {
    {"ffn",
     "{\"kind\":\"ffn\",\"width\":64,\"layers\":3,\"global_batch\":8}",
     3 * (64 * 64 + 64),
     {"model.width=0", "model.layers=-1", "model.width=\"64\"", NULL}},
    {"mlp",
     "{\"kind\":\"mlp\",\"layers\":[64,32,16],\"global_batch\":8}",
     64 * 32 + 32 + 32 * 16 + 16,
     {"model.layers=[64]", "model.layers=[64,0]", "model.layers=3", NULL}},
    {"cnn",
     "{\"kind\":\"cnn\",\"input\":[3,8,8],\"global_batch\":8,\"layers\":[{\"type\":\"conv\","
     "\"filters\":4,\"kernel\":3,\"padding\":1,\"pool\":{\"kernel\":2,\"stride\":2}},"
     "{\"type\":\"conv\",\"filters\":8,\"kernel\":1,\"groups\":2},"
     "{\"type\":\"full\",\"outputs\":10}]}",
     4 * 27 + 4 + 8 * 2 + 8 + 8 * 16 * 10 + 10,
     {"model.input=[3,1,1]", "model.layers=[]", "model.input=[0,8,8]", NULL}},
    {"stages",
     "{\"kind\":\"stages\",\"forward\":\"1 ms\",\"backward\":\"2 ms\",\"message\":\"1 MB\","
     "\"global_batch\":8}",
     0,
     {"model.forward=1", "model.forward=-1ms", "model.message=1", NULL}},
    {"transformer",
     "{\"kind\":\"transformer\",\"layers\":2,\"hidden\":64,\"heads\":4,\"sequence\":32,"
     "\"vocabulary\":256,\"global_batch\":8}",
     NAN,
     {"model.heads=5", "model.hidden=0", "model.sequence=0", NULL}},
    {"branches",
     "{\"kind\":\"branches\",\"width\":16,\"positions\":4,\"global_batch\":8,\"layers\":["
     "{\"out\":32},{\"branches\":4,\"split\":\"slice\",\"join\":\"concatenation\",\"layers\":["
     "{\"out\":6}]}]}",
     16 * 32 + 32 + 4 * (8 * 6 + 6),
     {"model.width=0", "model.positions=0", "model.layers=[]", NULL}},
};

/* Rows times what each is made of are the weights, and times positions the outputs; a convolution of g
 * groups sees 1 / g of the channels. */
static bool law_layers(const struct fr_workload *w, double *parameters, struct law_why *why) {
    *parameters = 0;
    for (int i = 0; i < w->n_layers; i++) {
        const struct fr_layer *l = &w->layers[i];
        LAW(l->repeat >= 1 && l->inputs >= 1 && l->outputs >= 1 && l->rows >= 1 &&
                l->positions >= 1 && l->inner >= 1 && l->groups >= 1,
            "layer %d has a size below 1", i);
        LAW(l->outputs == l->rows * l->positions, "layer %d: %g outputs of %g x %g", i,
            l->outputs, l->rows, l->positions);
        LAW(l->weights == 0 || l->weights == l->rows * l->inner, "layer %d: %g weights", i,
            l->weights);
        LAW(l->biases == 0 || l->biases == l->rows, "layer %d: %g biases", i, l->biases);
        LAW(!l->fully_connected || (l->positions == 1 && l->inner == l->inputs),
            "layer %d is fully connected and is not", i);
        *parameters += l->repeat * (l->weights + l->biases);
    }
    return true;
}

static void every_kind(void **state) {
    (void)state;
    for (const struct fr_kind *const *k = fr_kinds; *k; k++) {
        bool tried = false;
        for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
            struct fr_job job;
            struct law_why why = {""};
            double parameters;
            if (strcmp((*k)->name, kinds[i].kind) != 0) continue;
            tried = true;
            load(kinds[i].text, NULL, &job);
            assert_ptr_equal(job.workload.kind, *k);
            assert_int_equal(job.workload.global_batch, 8);
            FR_TRUE(law_layers(&job.workload, &parameters, &why), "%s: %s", (*k)->name,
                    why.text);
            if (!isnan(kinds[i].parameters)) FR_NEAR(parameters, kinds[i].parameters, 0);
            fr_job_free(&job);
            refused(kinds[i].text, "model.nonsense=1");
            refused(kinds[i].text, "model.global_batch=0");
            for (int r = 0; kinds[i].refused[r]; r++)
                refused(kinds[i].text, kinds[i].refused[r]);
        }
        FR_TRUE(tried, "kind %s has no example here", (*k)->name);
        assert_true(*(*k)->summary && (*k)->keys && (*k)->keys[0].name);
    }
}

/* ---- families --------------------------------------------------------------------------------- */

/* h = 64, f = 128 (GPT-2: 4 h), 4 heads of 16, 2 of keys and values (GPT-2: 4), two layers, 32 positions,
 * 256 words. */
static double rotary(double layer_besides) {
    double h = 64, layer = h * (64 + 2 * 32) + 64 * h + 3 * h * 128 + 2 * h + layer_besides;
    return 2 * layer + 2 * 256 * h + h;
}

/* A family's example: the keys of its sizes, what its parameters are beside those of a LLaMA layer's two norms
 * and products, its logits and embedding; and what must be refused. */
#define ROTARY                                                                                 \
    "\"num_hidden_layers\":2,\"hidden_size\":64,\"num_attention_heads\":4,"                    \
    "\"num_key_value_heads\":2,\"head_dim\":16,\"intermediate_size\":128,\"vocab_size\":256,"  \
    "\"max_position_embeddings\":32,\"tie_word_embeddings\":false,\"global_batch\":8"
#define GPT(layers, hidden, heads, more)                                                       \
    "\"" layers "\":2,\"" hidden "\":64,\"" heads "\":4,\"vocab_size\":256,"                   \
    "\"global_batch\":8," more
/* One of two layers has four experts and a shared one; queries from 24, keys and values from 16 values a token, 4 of
 * a head's 16 with a key for all. */
#define DEEPSEEK                                                                               \
    ROTARY ",\"n_routed_experts\":4,\"num_experts_per_tok\":2,\"moe_intermediate_size\":128,"  \
           "\"n_shared_experts\":1,\"first_k_dense_replace\":1,\"q_lora_rank\":24,"            \
           "\"kv_lora_rank\":16,\"qk_nope_head_dim\":12,\"qk_rope_head_dim\":4,"               \
           "\"v_head_dim\":16"
enum {
    LATENT = 64 * (24 + 16 + 4) + 24 + 16 + 24 * 64 + 16 * 4 * (12 + 16) + 64 * 64 -
             64 * (64 + 2 * 32 + 64),
    MIXED = ((3 + 1) * 3 * 64 * 128 + 64 * 4) / 2
};
enum { GPT_LAYERS = 2 * (12 * 64 * 64), TABLE = 256 * 64, NORM = 64 };

static const struct family_law {
    const char *family, *keys;
    double parameters;
    const char *layers, *heads; /* keys of the sizes */
} family_laws[] = {
    {"gpt2", GPT("n_layer", "n_embd", "n_head", "\"n_positions\":32"),
     GPT_LAYERS + 2 * 13 * 64 + TABLE + 32 * 64 + 2 * NORM, "n_layer", "n_head"},
    {"llama", ROTARY, 0, NULL, NULL},
    {"mistral", ROTARY, 0, NULL, NULL},
    {"gemma", ROTARY, 0, NULL, NULL},
    {"gemma2", ROTARY, 2 * NORM, NULL, NULL}, /* four norms */
    {"phi3", ROTARY, 0, NULL, NULL},
    {"cohere", ROTARY, 0, NULL, NULL},
    {"qwen2", ROTARY, 64 + 2 * 32, NULL, NULL}, /* biases of q, k and v */
    {"glm4", ROTARY, 64 + 2 * 32 + 2 * NORM, NULL, NULL},
    {"qwen3", ROTARY, 2 * 16, NULL, NULL}, /* norms of q and k */
    {"gemma3_text", ROTARY, 2 * 16 + 2 * NORM, NULL, NULL},
    {"olmo2", ROTARY, 2 * 16, NULL, NULL},
    /* four experts and a router in place of the MLP */
    {"mixtral", ROTARY ",\"num_local_experts\":4", 3 * 3 * 64 * 128 + 64 * 4, NULL, NULL},
    {"gpt_oss", ROTARY ",\"num_local_experts\":4", 3 * 3 * 64 * 128 + 64 * 4 + 64 + 2 * 32 + 64,
     NULL, NULL},
    {"qwen3_moe",
     ROTARY ",\"num_experts\":4,\"num_experts_per_tok\":2,\"moe_intermediate_size\":128",
     3 * 3 * 64 * 128 + 64 * 4 + 2 * 16, NULL, NULL},
    {"qwen2_moe",
     ROTARY ",\"num_experts\":4,\"num_experts_per_tok\":2,\"moe_intermediate_size\":128,"
            "\"shared_expert_intermediate_size\":96",
     3 * 3 * 64 * 128 + 64 * 4 + 3 * 64 * 96 + 64 + 2 * 32, NULL, NULL},
    {"deepseek_v2", DEEPSEEK, LATENT + MIXED, NULL, NULL},
    {"deepseek_v3", DEEPSEEK, LATENT + MIXED, NULL, NULL},
    {"gpt_neox",
     GPT("num_hidden_layers", "hidden_size", "num_attention_heads",
         "\"max_position_embeddings\":32,\"tie_word_embeddings\":false"),
     GPT_LAYERS + 2 * 13 * 64 + 2 * TABLE + 2 * NORM, "num_hidden_layers",
     "num_attention_heads"},
    {"bloom", GPT("n_layer", "n_embed", "n_head", "\"seq_length\":32"),
     GPT_LAYERS + 2 * 13 * 64 + TABLE + 2 * NORM, "n_layer", "n_head"},
    {"opt",
     GPT("num_hidden_layers", "hidden_size", "num_attention_heads",
         "\"max_position_embeddings\":32"),
     GPT_LAYERS + 2 * 13 * 64 + TABLE + 32 * 64 + 2 * NORM, "num_hidden_layers",
     "num_attention_heads"},
    {"mpt", GPT("n_layers", "d_model", "n_heads", "\"max_seq_len\":32"),
     GPT_LAYERS + 2 * 2 * NORM + TABLE + NORM, "n_layers", "n_heads"},
    /* one key and one value head of 16: 2 x 48 columns fewer */
    {"falcon",
     GPT("num_hidden_layers", "hidden_size", "num_attention_heads", "\"multi_query\":true"),
     GPT_LAYERS - 2 * 64 * 96 + 2 * 2 * 2 * NORM + TABLE + 2 * NORM, "num_hidden_layers",
     "num_attention_heads"},
    /* a state-space block: 64 x (2 x 128 + 2 x 16 + 8) in, 160 channels of four taps and a bias, three numbers a head, a norm
     * of 128, 128 x 64 out; with the norm before it */
    {"mamba2",
     "\"num_hidden_layers\":2,\"hidden_size\":64,\"vocab_size\":256,\"num_heads\":8,"
     "\"head_dim\":16,\"state_size\":8,\"n_groups\":2,\"tie_word_embeddings\":false",
     2 * (64 * 296 + 160 * 5 + 3 * 8 + 128 + 128 * 64 + NORM) + 2 * TABLE + NORM,
     "num_hidden_layers", "num_heads"},
    /* such a block, an attention alone and two products of an MLP alone */
    {"nemotron_h",
     "\"num_hidden_layers\":3,\"hidden_size\":64,\"num_attention_heads\":4,\"head_dim\":16,"
     "\"num_key_value_heads\":2,\"intermediate_size\":128,\"vocab_size\":256,"
     "\"max_position_embeddings\":32,\"hybrid_override_pattern\":\"M*-\",\"n_groups\":2,"
     "\"mamba_num_heads\":8,\"mamba_head_dim\":16,\"ssm_state_size\":8",
     (64 * 296 + 160 * 5 + 3 * 8 + 128 + 128 * 64) + (64 * 128 + 64 * 64) + 2 * 64 * 128 +
         3 * NORM + 2 * TABLE + NORM,
     "num_hidden_layers", NULL},
    /* two segments' vectors; a product, a norm and the logits' biases of the head; a pooler with two logits */
    {"bert",
     GPT("num_hidden_layers", "hidden_size", "num_attention_heads",
         "\"intermediate_size\":256,\"max_position_embeddings\":32"),
     GPT_LAYERS + 2 * 13 * 64 + TABLE + 32 * 64 + 2 * NORM + 2 * 64 + 64 * 64 + 64 + 2 * NORM +
         256 + 64 * 64 + 64 + 2 * 64 + 2,
     "num_hidden_layers", "num_attention_heads"},
    /* an encoder's and a decoder's layer a number, with a third norm and the cross-attention's products */
    {"t5",
     GPT("num_layers", "d_model", "num_heads", "\"d_kv\":16,\"d_ff\":256,\"n_positions\":32"),
     2 * GPT_LAYERS + 2 * (4 * 64 * 64 + NORM) + 4 * 2 * NORM + TABLE + NORM, "num_layers",
     "num_heads"},
};

static const struct family_law *law_of(const char *family) {
    for (size_t i = 0; i < sizeof family_laws / sizeof *family_laws; i++)
        if (strcmp(family_laws[i].family, family) == 0) return &family_laws[i];
    return NULL;
}

static void one_family(const struct fr_family *f) {
    const struct family_law *l = law_of(f->name);
    char text[960], wrong[4][64];
    struct fr_job job;
    struct law_why why = {""};
    snprintf(text, sizeof text, "{\"model_type\":\"%s\",%s}", f->name, l->keys);
    load(text, NULL, &job);
    struct law_model c = {.job = job, .plan = job.plan};
    c.plan.micro_batch = 1;
    FR_NEAR(law_stages_sum(&c).parameters, l->layers ? l->parameters : rotary(l->parameters),
            0);
    const struct fr_transformer *t = &job.workload.transformer;
    if (!t->experts && !t->pattern[0] && !t->masked_head) /* whose laws are their own */
        FR_TRUE(law_stages_flop(&c, &why) && law_stages_parameters(&c, &why), "%s: %s", f->name,
                why.text);
    fr_job_free(&job);
    snprintf(wrong[0], sizeof wrong[0], "model.%s=0", l->layers ? l->layers : "hidden_size");
    snprintf(wrong[1], sizeof wrong[1], "model.%s=-1",
             l->layers ? l->layers : "num_hidden_layers");
    snprintf(wrong[2], sizeof wrong[2], "model.vocab_size=1.5");
    snprintf(wrong[3], sizeof wrong[3], "model.%s=\"4\"",
             l->heads ? l->heads : "num_attention_heads");
    for (int i = 0; i < 4; i++) refused(text, wrong[i]);
}

static void every_family(void **state) {
    (void)state;
    for (const struct fr_family *const *f = fr_families; *f; f++) {
        assert_true(*(*f)->summary && *(*f)->architecture);
        bool example = law_of((*f)->name) != NULL; /* others are in models.configs */
        FR_TRUE(example || !(*f)->read, "family %s has no example here", (*f)->name);
        if (example) one_family(*f);
    }
}

/* ---- importers -------------------------------------------------------------------------------- */

/* A file that is no log is refused with its place, leaves no sample behind, and never crashes. */
static void every_importer(void **state) {
    static const char *const texts[] = {"",
                                        "\n\n\n",
                                        "hello",
                                        "# nccl-tests version 1\n",
                                        "0 0 0 0 0 0 0 0 0 0 0 0 0\n",
                                        "nan nan nan nan nan nan nan nan nan\n",
                                        "8 -1 float sum -1 -5 0 0 0 -5 0 0 0\n",
                                        "# OSU MPI Allreduce Latency Test\n# Size Avg\n8 -1\n",
                                        "\xff\xfe\x01",
                                        "{}"};
    (void)state;
    for (const struct fr_importer *const *m = fr_importers; *m; m++) {
        assert_true(*(*m)->spelling && *(*m)->reads);
        for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
            const struct fr_import_options given = {
                .n_ranks = 8, .nodes = 2, .op = "all_reduce"};
            struct fr_samples samples = {0};
            struct fr_text notes = {0};
            struct fr_error err = {0};
            fr_status status = fr_import_text(*m, texts[i], strlen(texts[i]), "log.txt", NULL,
                                              &given, &samples, &notes, &err);
            FR_TRUE(status == FR_ERR_INPUT && samples.n_collective == 0, "%s takes \"%s\"",
                    (*m)->spelling, texts[i]);
            FR_TRUE(strstr(err.where, "log.txt") && strlen(err.detail) > 10, "%s: %s: %s",
                    (*m)->spelling, err.where, err.detail);
            fr_samples_free(&samples);
            fr_text_free(&notes);
        }
    }
}

/* ---- shapes ----------------------------------------------------------------------------------- */

static void every_shape(void **state) {
    (void)state;
    for (const struct fr_shape *const *s = fr_shapes; *s; s++) {
        struct fr_levels levels;
        int64_t there[FR_ROUTE_MAX], back[FR_ROUTE_MAX];
        assert_true(*(*s)->summary && *(*s)->source && *(*s)->example);
        fr_test_topology((*s)->example, &levels);
        int64_t ranks = fr_levels_capacity(&levels), step = ranks > 48 ? ranks / 48 : 1;
        int64_t outer = levels.level[levels.count - 1].shared_by;
        if (levels.fabric.shape)
            FR_TRUE(levels.fabric.n_ports * outer == ranks && levels.fabric.rate_B_per_s > 0,
                    "%s: %d ports of %d ranks for %d", (*s)->name, (int)levels.fabric.n_ports,
                    (int)outer, (int)ranks);
        for (int64_t a = 0; a < ranks; a += step)
            for (int64_t b = 0; b < ranks; b += step) {
                int n = fr_route(&levels, a, b, there), m = fr_route(&levels, b, a, back);
                FR_TRUE(n == m && n <= FR_ROUTE_MAX && (n == 0) == (a == b),
                        "%s: %d links from %d to %d, %d back", (*s)->name, n, (int)a, (int)b,
                        m);
                for (int i = 0; i < n; i++)
                    for (int k = 0; k < i; k++)
                        FR_TRUE(there[i] != there[k], "%s: a link twice from %d to %d",
                                (*s)->name, (int)a, (int)b);
            }
    }
}

/* ---- networks --------------------------------------------------------------------------------- */

/* On @p network, or a negative time where it is not there. */
static double time_on(const struct fr_job *job, const struct fr_network *network) {
    struct fr_simulation s;
    struct fr_error err = {0};
    const struct fr_simulate_options how = {.network = network};
    double time_s = -1;
    if (fr_simulate(job, &job->plan, &how, &s, &err) == FR_OK)
        time_s = s.outcome.time_s;
    else
        assert_true(strlen(err.detail) > 10);
    fr_simulation_free(&s);
    return time_s;
}

/* Two stages, one micro-batch: forward, message, forward, backward, message, backward.  A message alone
 * takes its latency and its bytes over the link's rate on every network (SimGrid's own flow model adds
 * what it calls bandwidth and latency factors: a few per cent), and never less than on the isolated one. */
static void every_network(void **state) {
    static const char *const stages = "{\"kind\":\"stages\",\"forward\":\"1 ms\",\"backward\":"
                                      "\"2 ms\",\"message\":\"30 MB\",\"global_batch\":1}";
    (void)state;
    for (const struct fr_network *const *n = fr_networks; *n; n++) {
        struct fr_job job;
        const char *sets[] = {"pp=2", NULL};
        const char *path = file_of(stages);
        fr_test_job("frontier", path, sets, &job);
        unlink(path);
        const struct fr_level *node = &job.cluster.levels.level[0];
        double want_s = job.cluster.device.fixed_s + 6e-3 +
                        2 * (node->latency_s + 30e6 / node->rate_B_per_s);
        double got_s = time_on(&job, *n);
        assert_true(*(*n)->summary && *(*n)->source && (*n)->run);
        if (got_s >= 0) FR_NEAR(got_s, want_s, (*n)->wall_s ? 0.05 : 1e-12);
        if (got_s < 0) FR_TRUE((*n)->wall_s != NULL, "%s runs nothing", (*n)->name);
        fr_job_free(&job);
    }
}

/* ---- figures ---------------------------------------------------------------------------------- */

/* A file that is no result is refused, and no picture is left behind. */
static void every_figure(void **state) {
    static const char *const texts[] = {"{}", "[]", "{\"schema\":\"forerun/nonsense/1\"}",
                                        "{\"schema\":\"forerun/search/1\"}",
                                        "{\"schema\":1,\"rows\":[],\"top\":[{}]}"};
    (void)state;
    for (const struct fr_figure *const *f = fr_figures; *f; f++) {
        char output[64];
        snprintf(output, sizeof output, "/tmp/forerun-test-laws-%d.svg", (int)getpid());
        assert_true(*(*f)->summary && *(*f)->inputs);
        for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
            struct fr_json_document *document = NULL;
            struct fr_error err = {0};
            const struct fr_figure_options o = {.output = output};
            assert_int_equal(
                fr_json_parse(texts[i], strlen(texts[i]), "in.json", &document, &err), FR_OK);
            struct fr_json root = fr_json_root(document);
            FR_TRUE(fr_figure_draw(*f, &root, 1, &o, &err) == FR_ERR_INPUT, "%s draws %s",
                    (*f)->name, texts[i]);
            FR_TRUE(strstr(err.where, "in.json") && strlen(err.detail) > 5, "%s: %s: %s",
                    (*f)->name, err.where, err.detail);
            assert_false(fr_file_exists(output));
            fr_json_free(document);
        }
    }
}

/* ---- meters ----------------------------------------------------------------------------------- */

/* A meter that works on this machine gives no negative value, its counter never falls, and the energy between two
 * times is the sum of the parts; one that does not work says why. */
static void every_meter(void **state) {
    int opened = 0;
    (void)state;
    for (const struct fr_meter *const *m = fr_meters; *m; m++) {
        void *meter = NULL;
        struct fr_error err = {0};
        const char *argument = strcmp((*m)->name, "constant") == 0 ? "250 W" : NULL;
        struct fr_power_log log = {.counter = (*m)->counter};
        if ((*m)->open(argument, &meter, &err) != FR_OK) {
            FR_TRUE(strlen(err.detail) > 10, "%s does not say why", (*m)->name);
            continue;
        }
        opened++;
        double before = 0, t_s[3] = {0, 2, 5};
        for (int i = 0; i < 3; i++) {
            double value = -1;
            int quality = (*m)->quality;
            if ((*m)->read(meter, t_s[i], &value, &quality, &err) != FR_OK) continue;
            FR_TRUE(value >= 0 && (!(*m)->counter || value >= before), "%s reads %g",
                    (*m)->name, value);
            before = value;
            fr_power_log_add(&log, t_s[i], value, quality);
        }
        int quality = 0;
        double first_J = fr_power_log_energy_J(&log, 0, 2, &quality),
               rest_J = fr_power_log_energy_J(&log, 2, 5, &quality);
        assert_true(first_J >= 0 && rest_J >= 0);
        assert_true(
            law_near(first_J + rest_J, fr_power_log_energy_J(&log, 0, 5, &quality), 1e-9));
        if (argument) FR_NEAR(first_J + rest_J, 5 * 250.0, 1e-9);
        fr_power_log_free(&log);
        (*m)->close(meter);
    }
    assert_true(opened >= 1); /* constant always works */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kind),     cmocka_unit_test(every_family),
        cmocka_unit_test(every_importer), cmocka_unit_test(every_shape),
        cmocka_unit_test(every_network),  cmocka_unit_test(every_figure),
        cmocka_unit_test(every_meter)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
