/* Traces of PyTorch's profiler: operations of every table with their arguments as PyTorch orders them (native_functions.yaml),
 * device events as Kineto writes them, and what nobody reads, which is said. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "calibrate/samples/import.h"
#include "tests/calibrate/near.h"
#include "tests/cmocka.h"

#define HEAD                                                                                   \
    "{\"deviceProperties\": [{\"id\": 0, \"name\": \"NVIDIA H100\", \"totalGlobalMem\": "      \
    "8e10}, "                                                                                  \
    "{\"id\": 1, \"name\": \"NVIDIA H100\", \"totalGlobalMem\": 8e10}], \"distributedInfo\": " \
    "{\"backend\": \"nccl\", \"nccl_version\": \"2.27.5\"}, \"traceEvents\": ["
#define BF "\"c10::BFloat16\""

struct outcome {
    fr_status status;
    struct fr_samples samples;
    struct fr_text notes;
    struct fr_error err;
};

static struct outcome take(const char *events, int64_t per_node) {
    struct outcome o = {0};
    const struct fr_importer *profiler = NULL;
    struct fr_text text = {0};
    const struct fr_import_options options = {.ranks_per_node = per_node};
    for (int i = 0; fr_importers[i]; i++)
        if (strcmp(fr_importers[i]->name, "profiler") == 0) profiler = fr_importers[i];
    assert_non_null(profiler);
    fr_text_addf(&text, HEAD "%s]}", events);
    o.status = fr_import_text(profiler, fr_text_get(&text), text.length, "trace.json", NULL,
                              &options, &o.samples, &o.notes, &o.err);
    fr_text_free(&text);
    return o;
}

static void drop(struct outcome *o) {
    fr_samples_free(&o->samples);
    fr_text_free(&o->notes);
}

static void says(const struct outcome *o, const char *wanted) {
    if (!strstr(fr_text_get(&o->notes), wanted))
        fail_msg("got \"%s\", wanted \"%s\"", fr_text_get(&o->notes), wanted);
}

/* Operation @p id with its one kernel of 500 us. */
static void put(struct fr_text *text, int id, const char *name, const char *dims,
                const char *types, const char *strides, const char *concrete) {
    fr_text_addf(text,
                 "{\"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"%s\", \"args\": {\"External "
                 "id\": %d, \"Input Dims\": %s, \"Input type\": %s, \"Input Strides\": %s, "
                 "\"Concrete Inputs\": %s}}, {\"ph\": \"X\", \"cat\": \"kernel\", \"name\": "
                 "\"kernel_%d\", \"dur\": 500, \"args\": {\"External id\": %d}},",
                 name, id, dims, types, strides, concrete, id, id);
}

static struct outcome take_one(const char *name, const char *dims, const char *types,
                               const char *strides, const char *concrete) {
    struct fr_text text = {0};
    put(&text, 3, name, dims, types, strides, concrete);
    fr_text_add(&text, "7", 1);
    struct outcome o = take(fr_text_get(&text), 0);
    fr_text_free(&text);
    return o;
}

#define Q "[2, 32, 4096, 128]"
#define KV "[2, 8, 4096, 128]"
#define Q_LAST "[2, 4096, 32, 128]"
#define KV_LAST "[2, 4096, 8, 128]"
#define E "\"\""

static const struct {
    const char *name, *dims, *concrete;
    int kernel, pass;
    bool causal;
} attentions[] = {
    {"aten::_scaled_dot_product_flash_attention", "[" Q ", " KV ", " KV ", [], [], []]",
     "[" E ", " E ", " E ", \"0.\", \"True\", \"False\"]", FR_SAMPLE_FLASH_2, 0, true},
    {"aten::_flash_attention_forward", "[" Q_LAST ", " KV_LAST ", " KV_LAST "]",
     "[" E ", " E ", " E ", " E ", " E ", \"4096\", \"4096\", \"0.\", \"False\", \"False\"]",
     FR_SAMPLE_FLASH_2, 0, false},
    {"aten::_flash_attention_backward",
     "[" Q_LAST ", " Q_LAST ", " KV_LAST ", " KV_LAST ", " Q_LAST "]",
     "[" E ", " E ", " E ", " E ", " E ", " E ", " E ", " E
     ", \"4096\", \"4096\", \"0.\", \"True\"]",
     FR_SAMPLE_FLASH_2, 1, true},
    {"aten::_scaled_dot_product_cudnn_attention", "[" Q ", " KV ", " KV ", [], [], [], [], []]",
     "[" E ", " E ", " E ", " E ", \"True\", \"0.\", \"True\", \"False\"]", FR_SAMPLE_FLASH, 0,
     true},
    {"aten::_scaled_dot_product_cudnn_attention_backward",
     "[" Q ", " Q ", " KV ", " KV ", " Q "]",
     "[" E ", " E ", " E ", " E ", " E ", " E ", " E ", " E ", " E ", " E ", " E
     ", \"4096\", \"4096\", \"0.\", \"True\"]",
     FR_SAMPLE_FLASH, 1, true},
};

static void attention_is_read_from_every_operation(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof attentions / sizeof *attentions; i++) {
        struct outcome o =
            take_one(attentions[i].name, attentions[i].dims, "[" BF ", " BF ", " BF ", " BF "]",
                     "[]", attentions[i].concrete);
        if (o.status != FR_OK) fail_msg("%s: %s", attentions[i].name, o.err.detail);
        assert_int_equal(o.samples.n_attention, 1);
        const struct fr_sample_attention *a = o.samples.attention;
        if (a->kernel != attentions[i].kernel || a->pass != attentions[i].pass ||
            a->causal != attentions[i].causal || a->batch != 2 || a->sequence != 4096 ||
            a->heads != 32 || a->kv_heads != 8 || a->width != 128 || a->dtype != FR_BF16)
            fail_msg("%s: kernel %d, pass %d, causal %d, %lld x %lld, %lld of %lld heads",
                     attentions[i].name, a->kernel, a->pass, a->causal, (long long)a->batch,
                     (long long)a->sequence, (long long)a->kv_heads, (long long)a->heads);
        ASSERT_NEAR(a->time_s, 500e-6, 1e-12);
        drop(&o);
    }
}

/* Sequences of several lengths, or a mask that nobody states, are no sample. */
static void attention_without_its_facts_is_left_out(void **state) {
    static const char *const dims[] = {"[[8192, 32, 128], [8192, 8, 128], [8192, 8, 128]]",
                                       "[" Q_LAST ", [2, 512, 8, 128], [2, 512, 8, 128]]",
                                       "[" Q_LAST ", [2, 4096, 5, 128], [2, 4096, 5, 128]]"};
    (void)state;
    for (size_t i = 0; i < sizeof dims / sizeof *dims; i++) {
        struct outcome o = take_one("aten::_flash_attention_forward", dims[i],
                                    "[" BF ", " BF ", " BF "]", "[]", attentions[1].concrete);
        assert_int_equal(o.status, FR_ERR_INPUT);
        drop(&o);
    }
    struct outcome o = take_one(attentions[0].name, attentions[0].dims,
                                "[" BF ", " BF ", " BF "]", "[]", "[]");
    assert_int_equal(o.status, FR_ERR_INPUT);
    drop(&o);
}

static const struct {
    const char *name, *dims, *types, *strides;
    fr_dtype dtype;
    int64_t m, n, k, batch;
    int transposed;
} products[] = {
    {"aten::bmm", "[[64, 512, 128], [64, 128, 256]]", "[" BF ", " BF "]",
     "[[65536, 128, 1], [32768, 1, 128]]", FR_BF16, 512, 256, 128, 64, FR_TRANSPOSED_B},
    {"aten::baddbmm", "[[8, 4, 6], [8, 4, 5], [8, 5, 6]]", "[\"float\", \"float\", \"float\"]",
     "[[24, 6, 1], [20, 5, 1], [30, 6, 1]]", FR_FP32, 4, 6, 5, 8, FR_TRANSPOSED_NONE},
    {"aten::_scaled_mm", "[[4096, 2048], [2048, 512]]",
     "[\"c10::Float8_e4m3fn\", \"c10::Float8_e4m3fn\"]", "[[2048, 1], [1, 2048]]", FR_FP8, 4096,
     512, 2048, 1, FR_TRANSPOSED_B},
};

static void products_are_batched_and_narrow_too(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof products / sizeof *products; i++) {
        struct outcome o = take_one(products[i].name, products[i].dims, products[i].types,
                                    products[i].strides, "[]");
        if (o.status != FR_OK) fail_msg("%s: %s", products[i].name, o.err.detail);
        assert_int_equal(o.samples.n_gemm + o.samples.n_batched, 1);
        const struct fr_sample_gemm *p =
            products[i].batch > 1 ? o.samples.batched : o.samples.gemm;
        assert_non_null(p);
        if (p->dtype != products[i].dtype || p->m != products[i].m || p->n != products[i].n ||
            p->k != products[i].k || p->batch != products[i].batch ||
            p->transposed != products[i].transposed)
            fail_msg("%s: %lld x %lld x %lld, %lld of them, %d", products[i].name,
                     (long long)p->m, (long long)p->n, (long long)p->k, (long long)p->batch,
                     p->transposed);
        drop(&o);
    }
    /* Inner dimensions that differ are no product. */
    struct outcome o = take_one("aten::mm", "[[4, 5], [6, 7]]", "[" BF ", " BF "]", "[]", "[]");
    assert_int_equal(o.status, FR_ERR_INPUT);
    drop(&o);
}

static const struct {
    const char *name, *dims, *types, *strides;
    int kernel;
    double moved_B; /* 0: no sample */
} passes[] = {
    {"aten::add", "[[8192, 8192], [8192, 8192]]", "[" BF ", " BF "]", "[[8192, 1], [8192, 1]]",
     FR_TRAFFIC_ELEMENTWISE, 3 * 2 * 67108864.0},
    {"aten::copy_", "[[16384, 16384], [16384, 16384]]", "[\"float\", " BF "]",
     "[[16384, 1], [16384, 1]]", FR_TRAFFIC_STREAM, 6 * 268435456.0},
    {"aten::silu_backward", "[[16384, 16384], [16384, 16384]]", "[" BF ", " BF "]",
     "[[16384, 1], [16384, 1]]", FR_TRAFFIC_ELEMENTWISE, 6 * 268435456.0},
    {"aten::native_layer_norm", "[[8, 8192, 8192], [], [8192], [8192]]",
     "[" BF ", \"\", " BF ", " BF "]", "[[67108864, 8192, 1], [], [1], [1]]", FR_TRAFFIC_NORM,
     4 * 536870912.0},
    {"aten::add", "[[64, 64], [64, 64]]", "[" BF ", " BF "]", "[[64, 1], [64, 1]]", 0, 0},
    {"aten::copy_", "[[16384, 16384], [16384, 16384]]", "[" BF ", " BF "]",
     "[[16384, 1], [1, 16384]]", 0, 0}, /* it transposes */
    {"aten::add", "[[16384, 16384], [16384]]", "[" BF ", " BF "]", "[[16384, 1], [1]]", 0,
     0}, /* the other is repeated */
    {"aten::add", "[[16384, 16384], [16384, 16384]]", "[" BF ", " BF "]", "[]", 0,
     0}, /* it does not say how it lies */
    {"aten::copy_", "[[16384, 16384], [16384, 16384]]", "[" BF ", " BF "]",
     "[[32768, 1], [32768, 1]]", 0, 0}, /* with gaps */
};

static void passes_say_what_they_move(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof passes / sizeof *passes; i++) {
        struct outcome o =
            take_one(passes[i].name, passes[i].dims, passes[i].types, passes[i].strides, "[]");
        assert_int_equal(o.samples.n_memory, passes[i].moved_B > 0);
        assert_int_equal(o.status, passes[i].moved_B > 0 ? FR_OK : FR_ERR_INPUT);
        if (passes[i].moved_B > 0) {
            assert_int_equal(o.samples.memory->kernel, passes[i].kernel);
            ASSERT_NEAR(o.samples.memory->moved_B, passes[i].moved_B, 0);
        }
        drop(&o);
    }
}

static void put_collective(struct fr_text *text, const char *name, double in, double out,
                           int ranks, const char *list, double us) {
    fr_text_addf(text,
                 "{\"cat\": \"kernel\", \"name\": \"ncclDevKernel_Generic\", \"dur\": %g, "
                 "\"args\": {\"Collective name\": \"%s\", \"In msg nelems\": %g, \"Out msg "
                 "nelems\": %g, \"Group size\": %d, \"dtype\": \"BFloat16\", \"Process Group "
                 "Ranks\": %s, \"In split size\": \"[]\", \"Out split size\": \"[]\"}},",
                 us, name, in, out, ranks, list);
}

/* Sizes count as fr_op says; of equal calls the shortest is left; ranks say over how many nodes. */
static void collectives_are_read_from_their_kernels(void **state) {
    static const struct {
        const char *name, *ranks;
        fr_op op;
        int n_ranks, nodes, level;
        double size_B;
    } wanted[] = {
        {"allreduce", "\"[0, 1, 2, 3]\"", FR_OP_ALL_REDUCE, 4, 1, FR_SAMPLE_NODE, 2e6},
        {"_allgather_base", "[0, 8, 16, 24]", FR_OP_ALL_GATHER, 4, 4, FR_SAMPLE_SYSTEM, 8e6},
        {"_reduce_scatter_base", "\"[4, 5, 6, 7, ...]\"", FR_OP_REDUCE_SCATTER, 16, 3,
         FR_SAMPLE_SYSTEM, 2e6},
        {"all_to_allv", "\"[0, 4]\"", FR_OP_ALL_TO_ALL, 2, 1, FR_SAMPLE_NODE, 2e6}};
    enum { N = sizeof wanted / sizeof *wanted };
    struct fr_text text = {0};
    (void)state;
    for (int call = 0; call < 3; call++)
        for (int i = 0; i < N; i++)
            put_collective(&text, wanted[i].name, 1e6, 4e6, wanted[i].n_ranks, wanted[i].ranks,
                           call == 1 ? 100 : 300);
    put_collective(&text, "send", 1e6, 1e6, 2, "[0, 8]", 1800);
    fr_text_add(&text, "7", 1);
    struct outcome o = take(fr_text_get(&text), 8);
    if (o.status != FR_OK) fail_msg("%s", o.err.detail);
    assert_int_equal(o.samples.n_collective, N);
    for (int i = 0; i < N; i++) {
        const struct fr_sample_collective *c = &o.samples.collective[i];
        if (c->op != wanted[i].op || c->n_ranks != wanted[i].n_ranks ||
            c->n_nodes != wanted[i].nodes || c->level != wanted[i].level || c->source != 1)
            fail_msg("%s: %lld ranks, %lld nodes, level %d", wanted[i].name,
                     (long long)c->n_ranks, (long long)c->n_nodes, c->level);
        ASSERT_NEAR(c->size_B, wanted[i].size_B, 0);
        ASSERT_NEAR(c->time_s, 100e-6, 1e-12);
    }
    assert_int_equal(o.samples.n_source, 1);
    assert_string_equal(o.samples.source->library, "NCCL 2.27.5");
    assert_int_equal(o.samples.source->ranks_per_node, 8);
    says(&o, "the shortest of each size counts");
    says(&o, "left out: 1 events, 39.1 % of the device's time; most took "
             "ncclDevKernel_Generic 1.8 ms"); /* 1800 of 4 (300 + 100 + 300) + 1800 us */
    drop(&o);
    fr_text_free(&text);
}

/* Samples of four ranks on a node of eight are written so that they are read again. */
static void groups_smaller_than_a_node_are_read_again(void **state) {
    struct fr_text text = {0}, lines = {0};
    struct fr_samples back = {0};
    (void)state;
    put_collective(&text, "allreduce", 1e6, 1e6, 4, "[0, 1, 2, 3]", 300);
    fr_text_add(&text, "7", 1);
    struct outcome o = take(fr_text_get(&text), 8);
    if (o.status != FR_OK) fail_msg("%s", o.err.detail);
    fr_import_write(&o.samples, &lines);
    if (fr_samples_parse(fr_text_get(&lines), lines.length, "again", &back, &o.err) != FR_OK)
        fail_msg("%s: %s", o.err.where, o.err.detail);
    assert_int_equal(back.n_collective, 1);
    assert_int_equal(back.provenance.ranks_per_node, 4);
    assert_int_equal(back.source->ranks_per_node, 8);
    fr_samples_free(&back);
    fr_text_free(&lines);
    drop(&o);
    fr_text_free(&text);
}

/* Parts of an exchange that differ are no all-to-all of ours. */
static void uneven_exchanges_are_left_out(void **state) {
    (void)state;
    struct outcome o =
        take("{\"cat\": \"kernel\", \"dur\": 9, \"args\": {\"Collective name\": "
             "\"all_to_allv\", \"In msg nelems\": 96, \"Out msg nelems\": 96, \"Group size\": "
             "2, \"dtype\": \"Float\", \"In split size\": \"[32, 64]\"}}",
             0);
    assert_int_equal(o.status, FR_ERR_INPUT);
    drop(&o);
}

static void copies_cross_the_host_link(void **state) {
    (void)state;
    struct outcome o =
        take("{\"cat\": \"gpu_memcpy\", \"name\": \"Memcpy HtoD (Pinned -> Device)\", \"dur\": "
             "4000, \"args\": {\"bytes\": 100000000}}, {\"cat\": \"gpu_memcpy\", \"name\": "
             "\"Memcpy DtoH (Device -> Pageable)\", \"dur\": 9000, \"args\": {\"bytes\": "
             "100000000}}, {\"cat\": \"gpu_memcpy\", \"name\": \"Memcpy DtoD (Device -> "
             "Device)\", \"dur\": 600, \"args\": {\"bytes\": 800000000}}, {\"cat\": "
             "\"gpu_memcpy\", \"name\": \"Memcpy DtoH (Device -> Pinned)\", \"dur\": 3, "
             "\"args\": {\"bytes\": 8}}",
             0);
    if (o.status != FR_OK) fail_msg("%s", o.err.detail);
    assert_int_equal(o.samples.n_link, 2);
    assert_true(o.samples.link[0].pinned && o.samples.link[0].way == FR_WAY_TO_DEVICE);
    assert_true(!o.samples.link[1].pinned && o.samples.link[1].way == FR_WAY_TO_HOST);
    assert_int_equal(o.samples.n_memory, 1);
    ASSERT_NEAR(o.samples.memory->moved_B, 1.6e9, 0);
    says(&o, "left out: 1 events");
    drop(&o);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(attention_is_read_from_every_operation),
        cmocka_unit_test(attention_without_its_facts_is_left_out),
        cmocka_unit_test(products_are_batched_and_narrow_too),
        cmocka_unit_test(passes_say_what_they_move),
        cmocka_unit_test(collectives_are_read_from_their_kernels),
        cmocka_unit_test(groups_smaller_than_a_node_are_read_again),
        cmocka_unit_test(uneven_exchanges_are_left_out),
        cmocka_unit_test(copies_cross_the_host_link),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
