/* Model files: AlexNet by hand, the kinds, and what is refused. */
#include "base/text.h"
#include "models/job/preset.h"
#include "models/plan/iterations.h"
#include "tests/cmocka.h"

static fr_status read(const char *text, struct fr_workload *w, struct fr_error *err) {
    struct fr_json_document *document = NULL;
    *w = (struct fr_workload){0};
    fr_status status = fr_json_parse(text, strlen(text), "m", &document, err);
    if (status != FR_OK) return status;
    status = fr_model_read(document, w, err);
    fr_json_free(document);
    return status;
}

static void must_read(const char *text, struct fr_workload *w) {
    struct fr_error err = {0};
    if (read(text, w, &err) != FR_OK) fail_msg("%s: %s", err.where, err.detail);
}

/* d_i = channels * height * width before pooling, weights with two groups: by hand. */
static void alexnet(void **state) {
    (void)state;
    static const double outputs[] = {290400, 186624, 64896, 64896, 43264, 4096, 4096, 1000};
    static const double weights[] = {34848,  307200,   884736,   663552,
                                     442368, 37748736, 16777216, 4096000};
    struct fr_workload w = {0};
    double flop = 0;
    struct fr_json_document *document = NULL;
    assert_int_equal(fr_preset_or_file_read("model", "alexnet", &document, NULL), FR_OK);
    assert_int_equal(fr_model_read(document, &w, NULL), FR_OK);
    fr_json_free(document);
    assert_int_equal(w.n_layers, 8);
    for (int i = 0; i < 8; i++) {
        FR_NEAR(w.layers[i].outputs, outputs[i], 0);
        FR_NEAR(w.layers[i].weights, weights[i], 0);
        flop += 2 * w.layers[i].rows * w.layers[i].positions * w.layers[i].inner;
    }
    FR_NEAR(flop, 2 * 724406816.0, 0); /* multiply-accumulates of one image, counted by hand */
    FR_NEAR(w.layers[5].inputs, 9216, 0);
    fr_workload_free(&w);
}

static void mlp_either_way(void **state) {
    (void)state;
    struct fr_workload a, b;
    must_read("{\"kind\": \"mlp\", \"layers\": [784, 512, 10]}", &a);
    must_read("{\"kind\": \"mlp\", \"layers\": [{\"in\": 784, \"out\": 512}, {\"out\": 10}]}",
              &b);
    assert_int_equal(a.n_layers, 2);
    for (int i = 0; i < 2; i++) FR_NEAR(a.layers[i].weights, b.layers[i].weights, 0);
    FR_NEAR(a.layers[0].weights + a.layers[0].biases, 784 * 512 + 512, 0);
    fr_workload_free(&a);
    fr_workload_free(&b);
}

static void adam_in_fp32_moves_28_and_holds_16_bytes(void **state) {
    (void)state;
    struct fr_workload w;
    must_read("{\"kind\": \"ffn\", \"width\": 8, \"layers\": 2}", &w);
    FR_NEAR(fr_workload_update_B(&w), 28, 0);
    FR_NEAR(fr_workload_state_B(&w, &(struct fr_device){0}), 16, 0);
    fr_workload_free(&w);
    must_read("{\"kind\": \"ffn\", \"width\": 8, \"layers\": 2, \"optimizer\": \"sgd\", "
              "\"dtype\": \"bf16\", \"gradient_dtype\": \"fp32\"}",
              &w);
    FR_NEAR(fr_workload_update_B(&w), 8, 0);
    fr_workload_free(&w);
}

static void refuses(void **state) {
    (void)state;
    static const struct {
        const char *text, *where;
    } bad[] = {
        {"[]", "m#/"},
        {"{}", "m#/kind"},
        {"{\"kind\": \"fnn\"}", "m#/kind"},
        {"{\"kind\": \"ffn\", \"width\": 0, \"layers\": 2}", "m#/width"},
        {"{\"kind\": \"ffn\", \"width\": \"16384\", \"layers\": 2}", "m#/width"},
        {"{\"kind\": \"ffn\", \"widht\": 3, \"layers\": 2}", "m#/widht"},
        {"{\"kind\": \"ffn\", \"width\": 3, \"layers\": 2.5}", "m#/layers"},
        {"{\"kind\": \"mlp\", \"layers\": [5]}", "m#/layers"},
        {"{\"kind\": \"mlp\", \"layers\": [{\"in\": 4, \"out\": 5}, {\"in\": 6, \"out\": 7}]}",
         "m#/layers/1/in"},
        {"{\"kind\": \"cnn\", \"input\": [3, 8, 8], \"layers\": [{\"type\": \"conv\", "
         "\"filters\": 4, \"kernel\": 9}]}",
         "m#/layers/0/kernel"},
        {"{\"kind\": \"cnn\", \"input\": [3, 8, 8], \"layers\": [{\"type\": \"conv\", "
         "\"filters\": 4, \"kernel\": 3, \"groups\": 2}]}",
         "m#/layers/0/groups"},
        {"{\"kind\": \"ffn\", \"width\": 3, \"layers\": 2, \"iterations\": -1}",
         "m#/iterations"},
        {"{\"kind\": \"ffn\", \"width\": 3, \"layers\": 2, \"iterations\": {\"table\": "
         "[{\"method\": \"phantom\"}]}}",
         "m#/iterations/table/0/iterations"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct fr_workload w;
        struct fr_error err = {0};
        FR_TRUE(read(bad[i].text, &w, &err) == FR_ERR_INPUT, "%s", bad[i].text);
        assert_string_equal(err.where, bad[i].where);
        fr_workload_free(&w);
    }
}

/* A key that a transformer cannot be without is asked for by its name. */
static void a_transformer_needs_its_sizes(void **state) {
    static const char *const needed[] = {"layers", "hidden", "heads", "sequence", "vocabulary"};
    enum { NEEDED = sizeof needed / sizeof *needed };
    (void)state;
    for (int without = 0; without <= NEEDED; without++) {
        struct fr_workload w;
        struct fr_error err = {0};
        char text[400];
        size_t used = 0;
        fr_line_addf(text, sizeof text, &used,
                     "{\"kind\": \"transformer\", \"dtype\": \"fp32\", \"global_batch\": 8");
        for (int i = 0; i < NEEDED; i++)
            if (i != without) fr_line_addf(text, sizeof text, &used, ", \"%s\": 8", needed[i]);
        fr_line_addf(text, sizeof text, &used, "}");
        fr_status status = read(text, &w, &err);
        FR_TRUE(status == (without < NEEDED ? FR_ERR_INPUT : FR_OK), "%s: %s %s", text,
                err.where, err.detail);
        if (without < NEEDED)
            FR_TRUE(strstr(err.where, needed[without]) || strstr(err.detail, needed[without]),
                    "%s: %s", err.where, err.detail);
        fr_workload_free(&w);
    }
}

/* A measured layer is found by its tp and micro-batch both. */
static void measured_layers_are_found_by_both(void **state) {
    struct fr_workload w;
    char text[1024];
    size_t used = (size_t)snprintf(text, sizeof text, "%s",
                                   "{\"kind\": \"transformer\", \"layers\": 2, \"hidden\": 8, "
                                   "\"heads\": 4, \"sequence\": 4, "
                                   "\"vocabulary\": 8, \"layer_profile\": [");
    (void)state;
    for (int k = 0; k < 4; k++)
        used += (size_t)snprintf(text + used, sizeof text - used,
                                 "%s{\"tp\": %d, \"micro_batch\": %d, \"forward\": \"%d ms\", "
                                 "\"backward\": \"9 ms\"}",
                                 k ? ", " : "", 1 + k / 2, 1 + k % 2, k + 1);
    snprintf(text + used, sizeof text - used, "]}");
    must_read(text, &w);
    for (int k = 0; k < 4; k++) {
        const struct fr_layer_profile *row = fr_layer_profile_find(&w, 1 + k / 2, 1 + k % 2);
        assert_non_null(row);
        FR_NEAR(row->forward_s, (k + 1) * 1e-3, 1e-12);
    }
    assert_null(fr_layer_profile_find(&w, 1, 3));
    assert_null(fr_layer_profile_find(&w, 3, 1));
    fr_workload_free(&w);
}

/* A model file leaves these out, as docs/reference/model-keys.md has it. */
static void what_is_not_said_is_as_documented(void **state) {
    static const struct {
        const char *wanted;
        double state_B;
    } optimizers[] = {{"", 8},
                      {", \"optimizer\": \"adam\"", 8},
                      {", \"optimizer\": \"momentum\"", 4},
                      {", \"optimizer\": \"sgd\"", 0},
                      {", \"optimizer\": \"sgd\", \"optimizer_state\": \"6 B\"", 6}};
    (void)state;
    for (size_t i = 0; i < sizeof optimizers / sizeof *optimizers; i++) {
        struct fr_workload w;
        char text[256];
        snprintf(text, sizeof text, "{\"kind\": \"ffn\", \"width\": 8, \"layers\": 2%s}",
                 optimizers[i].wanted);
        must_read(text, &w);
        FR_NEAR(w.optimizer_state_B, optimizers[i].state_B, 0);
        assert_int_equal(w.global_batch, 256);
        assert_int_equal(w.micro_batch, 0);
        assert_int_equal(w.dtype, FR_FP32);
        assert_int_equal(w.gradient_dtype, FR_FP32);
        fr_workload_free(&w);
    }
    struct fr_workload w;
    must_read("{\"kind\": \"ffn\", \"width\": 8, \"layers\": 2, \"dtype\": \"bf16\"}", &w);
    assert_int_equal(w.gradient_dtype, FR_BF16); /* the dtype */
    fr_workload_free(&w);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(alexnet),
        cmocka_unit_test(mlp_either_way),
        cmocka_unit_test(adam_in_fp32_moves_28_and_holds_16_bytes),
        cmocka_unit_test(refuses),
        cmocka_unit_test(a_transformer_needs_its_sizes),
        cmocka_unit_test(what_is_not_said_is_as_documented),
        cmocka_unit_test(measured_layers_are_found_by_both)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
