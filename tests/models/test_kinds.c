/* Layers of each kind of model, every field by hand. */
#include "models/plan/iterations.h"
#include "tests/cmocka.h"

static fr_status read_model(const char *text, struct fr_workload *w, struct fr_error *err) {
    struct fr_json_document *document = NULL;
    assert_int_equal(fr_json_parse(text, strlen(text), "m", &document, NULL), FR_OK);
    fr_status status = fr_model_read(document, w, err);
    fr_json_free(document);
    return status;
}

static struct fr_workload must_read(const char *text) {
    struct fr_workload w;
    struct fr_error err = {0};
    if (read_model(text, &w, &err) != FR_OK) fail_msg("%s: %s", err.where, err.detail);
    return w;
}

static void same(const struct fr_layer *got, const struct fr_layer *want) {
    FR_NEAR(got->repeat, want->repeat, 0);
    FR_NEAR(got->inputs, want->inputs, 0);
    FR_NEAR(got->outputs, want->outputs, 0);
    FR_NEAR(got->rows, want->rows, 0);
    FR_NEAR(got->positions, want->positions, 0);
    FR_NEAR(got->inner, want->inner, 0);
    FR_NEAR(got->groups, want->groups, 0);
    FR_NEAR(got->weights, want->weights, 0);
    FR_NEAR(got->biases, want->biases, 0);
    FR_NEAR(got->input_gradients, want->input_gradients, 0);
    FR_NEAR(got->branches, want->branches, 0);
    assert_int_equal(got->fully_connected, want->fully_connected);
    assert_int_equal(got->softmax, want->softmax);
    assert_int_equal(got->joint_in, want->joint_in);
    assert_int_equal(got->joint_out, want->joint_out);
}

/* 4 x 20 x 30; a kernel of 5 by 2 with a rim of 1: 9 x 14 of 8 filters in 2 groups; pooled by 3 each 2 with a
 * rim of 1: 5 x 7. */
static void convolutions(void **state) {
    struct fr_workload w = must_read(
        "{\"kind\": \"cnn\", \"input\": [4, 20, 30], \"layers\": [{\"type\": \"conv\", "
        "\"filters\": 8, \"kernel\": 5, \"stride\": 2, \"padding\": 1, \"groups\": 2, "
        "\"pool\": "
        "{\"kernel\": 3, \"stride\": 2, \"padding\": 1}}, {\"type\": \"conv\", \"filters\": 6, "
        "\"kernel\": 3, \"bias\": false}, {\"type\": \"full\", \"outputs\": 10}, {\"type\": "
        "\"full\", \"outputs\": 7, \"bias\": false}]}");
    const struct fr_layer want[] = {{.repeat = 1,
                                     .inputs = 4 * 20 * 30,
                                     .outputs = 8 * 9 * 14,
                                     .rows = 8,
                                     .positions = 9 * 14,
                                     .inner = 2 * 25,
                                     .groups = 2,
                                     .weights = 8 * 2 * 25,
                                     .biases = 8},
                                    {.repeat = 1,
                                     .inputs = 8 * 5 * 7,
                                     .outputs = 6 * 3 * 5,
                                     .rows = 6,
                                     .positions = 3 * 5,
                                     .inner = 8 * 9,
                                     .groups = 1,
                                     .weights = 6 * 8 * 9},
                                    {.repeat = 1,
                                     .inputs = 90,
                                     .outputs = 10,
                                     .rows = 10,
                                     .positions = 1,
                                     .inner = 90,
                                     .groups = 1,
                                     .weights = 900,
                                     .biases = 10,
                                     .fully_connected = true},
                                    {.repeat = 1,
                                     .inputs = 10,
                                     .outputs = 7,
                                     .rows = 7,
                                     .positions = 1,
                                     .inner = 10,
                                     .groups = 1,
                                     .weights = 70,
                                     .fully_connected = true}};
    (void)state;
    assert_int_equal(w.n_layers, 4);
    for (int i = 0; i < 4; i++) same(&w.layers[i], &want[i]);
    fr_workload_free(&w);
}

static void connected_layers(void **state) {
    static const char *const texts[] = {
        "{\"kind\": \"ffn\", \"width\": 6, \"layers\": 3}",
        "{\"kind\": \"ffn\", \"width\": 6, \"layers\": 3, \"bias\": false}",
        "{\"kind\": \"mlp\", \"layers\": [6, 9], \"bias\": false}",
        "{\"kind\": \"mlp\", \"layers\": [{\"in\": 6, \"out\": 9}]}",
        "{\"kind\": \"mlp\", \"bias\": false, \"layers\": [{\"in\": 6, \"out\": 9}]}",
        ("{\"kind\": \"mlp\", \"bias\": false, "
         "\"layers\": [{\"in\": 6, \"out\": 9, \"bias\": true}]}")};
    (void)state;
    for (int i = 0; i < 6; i++) {
        struct fr_workload w = must_read(texts[i]);
        double out = i < 2 ? 6 : 9, biases = i == 0 || i == 3 || i == 5 ? out : 0;
        const struct fr_layer want = {.repeat = i < 2 ? 3 : 1,
                                      .inputs = 6,
                                      .outputs = out,
                                      .rows = out,
                                      .positions = 1,
                                      .inner = 6,
                                      .groups = 1,
                                      .weights = 6 * out,
                                      .biases = biases,
                                      .fully_connected = true,
                                      .input_gradients = 6};
        assert_int_equal(w.n_layers, 1);
        same(&w.layers[0], &want);
        assert_int_equal(fr_workload_width(&w), (int64_t)out);
        assert_int_equal(fr_workload_depth(&w), i < 2 ? 3 : 1);
        fr_workload_free(&w);
    }
}

/* 12 values at two positions: sliced into four branches of 3, an attention of 1 each, concatenated to 4; then
 * three copies of those, each 5, added up; then common. */
static void branches(void **state) {
    struct fr_workload w = must_read(
        "{\"kind\": \"branches\", \"width\": 12, \"positions\": 2, \"layers\": [{\"branches\": "
        "4, "
        "\"split\": \"slice\", \"join\": \"concatenation\", \"layers\": [{\"attention\": 1}]}, "
        "{\"branches\": 3, \"layers\": [{\"out\": 7}, {\"out\": 5, \"bias\": false}]}, "
        "{\"out\": "
        "6}]}");
    const struct fr_layer want[] = {
        /* scores of 2 x 2 a branch, then 2 positions of one value */
        {.repeat = 1,
         .inputs = 4 * 3 * 2,
         .outputs = 4 * 2 * 2,
         .rows = 4 * 2,
         .positions = 2,
         .inner = 1,
         .groups = 4,
         .softmax = true,
         .branches = 4,
         .joint_in = FR_JOINT_SLICE},
        {.repeat = 1,
         .inputs = 4 * 2 * 2,
         .outputs = 4 * 2,
         .rows = 4,
         .positions = 2,
         .inner = 2,
         .groups = 4,
         .branches = 4,
         .joint_out = FR_JOINT_CONCATENATION},
        {.repeat = 1,
         .inputs = 4 * 2,
         .outputs = 3 * 7 * 2,
         .rows = 21,
         .positions = 2,
         .inner = 4,
         .groups = 3,
         .weights = 3 * 28,
         .biases = 21,
         .branches = 3,
         .joint_in = FR_JOINT_SPLIT},
        {.repeat = 1,
         .inputs = 3 * 7 * 2,
         .outputs = 3 * 5 * 2,
         .rows = 15,
         .positions = 2,
         .inner = 7,
         .groups = 3,
         .weights = 3 * 35,
         .branches = 3,
         .joint_out = FR_JOINT_SUM},
        {.repeat = 1,
         .inputs = 5 * 2,
         .outputs = 6 * 2,
         .rows = 6,
         .positions = 2,
         .inner = 5,
         .groups = 1,
         .weights = 30,
         .biases = 6}};
    (void)state;
    assert_int_equal(w.n_layers, 5);
    for (int i = 0; i < 5; i++) same(&w.layers[i], &want[i]);
    fr_workload_free(&w);
    /* Once more where asked, of one position connected as any layer. */
    w = must_read("{\"kind\": \"branches\", \"width\": 6, \"repeat\": 3, \"bias\": false, "
                  "\"layers\": [{\"out\": 9}, {\"out\": 6}]}");
    assert_int_equal(w.n_layers, 6);
    for (int i = 0; i < 6; i++) {
        double in = i % 2 ? 9 : 6, out = 15 - in;
        const struct fr_layer one = {.repeat = 1,
                                     .inputs = in,
                                     .outputs = out,
                                     .rows = out,
                                     .positions = 1,
                                     .inner = in,
                                     .groups = 1,
                                     .weights = in * out,
                                     .fully_connected = true};
        same(&w.layers[i], &one);
    }
    fr_workload_free(&w);
}

/* Whichever of the four are lists: the others hold for every stage; two of different lengths are refused. */
static void every_list_of_stages(void **state) {
    static const char *const names[] = {"forward", "backward", "weight", "gradient"};
    static const char *const one[] = {"\"4 ms\"", "\"8 ms\"", "\"2 ms\"", "\"3 MB\""};
    static const char *const three[] = {
        "[\"1 ms\", \"2 ms\", \"3 ms\"]", "[\"5 ms\", \"6 ms\", \"7 ms\"]",
        "[\"1 ms\", \"2 ms\", \"4 ms\"]", "[\"1 MB\", \"2 MB\", \"5 MB\"]"};
    static const double ones[] = {4e-3, 8e-3, 2e-3, 3e6}, threes[][3] = {{1e-3, 2e-3, 3e-3},
                                                                         {5e-3, 6e-3, 7e-3},
                                                                         {1e-3, 2e-3, 4e-3},
                                                                         {1e6, 2e6, 5e6}};
    (void)state;
    for (int lists = 0; lists < 16; lists++)
        for (int given = 3; given < 16; given += 4) { /* forward and backward are needed */
            struct fr_text text = {0};
            fr_text_addf(&text, "{\"kind\": \"stages\"");
            for (int k = 0; k < 4; k++)
                if (given >> k & 1)
                    fr_text_addf(&text, ", \"%s\": %s", names[k],
                                 lists >> k & 1 ? three[k] : one[k]);
            fr_text_addf(&text, "}");
            struct fr_workload w = must_read(fr_text_get(&text));
            const double *const values[] = {w.stages.forward_s, w.stages.backward_s,
                                            w.stages.weight_s, w.stages.gradient_B};
            assert_int_equal(w.stages.listed, lists & given ? 3 : 0);
            for (int k = 0; k < 4; k++) {
                assert_int_equal(values[k] != NULL, given >> k & 1);
                for (int i = 0; values[k] && i < (lists & given ? 3 : 1); i++)
                    FR_NEAR(values[k][i], lists >> k & 1 ? threes[k][i] : ones[k], 1e-12);
            }
            fr_workload_free(&w);
            fr_text_free(&text);
        }
    for (int a = 0; a < 4; a++)
        for (int b = 0; b < 4; b++) {
            struct fr_text text = {0};
            struct fr_workload w;
            struct fr_error err = {0};
            if (a == b) continue;
            fr_text_addf(&text, "{\"kind\": \"stages\"");
            for (int k = 0; k < 4; k++)
                fr_text_addf(&text, ", \"%s\": %s", names[k],
                             k == a   ? three[k]
                             : k != b ? one[k]
                             : k < 3  ? "[\"1 ms\", \"1 ms\"]"
                                      : "[\"1 MB\", \"1 MB\"]");
            fr_text_addf(&text, "}");
            struct fr_json_document *document = NULL;
            assert_int_equal(fr_json_parse(text.data, text.length, "m", &document, NULL),
                             FR_OK);
            FR_TRUE(fr_model_read(document, &w, &err) == FR_ERR_INPUT, "%s", text.data);
            fr_json_free(document);
            FR_TRUE(strstr(err.detail, "stages"), "%s", err.detail);
            fr_workload_free(&w);
            fr_text_free(&text);
        }
}

/* One value for all stages, or as many as the longest list. */
static void stages(void **state) {
    struct fr_workload w =
        must_read("{\"kind\": \"stages\", \"forward\": [\"1 ms\", \"2 ms\", \"3 ms\"], "
                  "\"backward\": \"4 ms\", \"gradient\": [\"1 MB\", \"2 MB\", \"3 MB\"], "
                  "\"message\": \"5 MB\"}");
    (void)state;
    assert_int_equal(w.stages.listed, 3);
    assert_null(w.stages.weight_s);
    for (int i = 0; i < 3; i++) {
        FR_NEAR(w.stages.forward_s[i], 1e-3 * (i + 1), 1e-12);
        FR_NEAR(w.stages.backward_s[i], 4e-3, 1e-12);
        FR_NEAR(w.stages.gradient_B[i], 1e6 * (i + 1), 1e-12);
    }
    FR_NEAR(w.stages.message_B, 5e6, 1e-12);
    fr_workload_free(&w);
    w = must_read("{\"kind\": \"stages\", \"forward\": \"1 ms\", \"backward\": [\"4 ms\"], "
                  "\"weight\": \"3 ms\"}");
    assert_int_equal(w.stages.listed, 0);
    FR_NEAR(w.stages.weight_s[0], 3e-3, 1e-12);
    assert_true(w.stages.message_B == 0 && !w.stages.gradient_B);
    fr_workload_free(&w);
    struct fr_json_document *document = NULL;
    static const char uneven[] = "{\"kind\": \"stages\", \"forward\": [\"1 ms\", \"2 ms\"], "
                                 "\"backward\": [\"4 ms\", \"4 ms\", \"4 ms\"]}";
    struct fr_error err = {0};
    assert_int_equal(fr_json_parse(uneven, strlen(uneven), "m", &document, NULL), FR_OK);
    assert_int_equal(fr_model_read(document, &w, &err), FR_ERR_INPUT);
    assert_non_null(strstr(err.detail, "lists 3 stages, another key lists 2"));
    fr_json_free(document);
    fr_workload_free(&w);
}

/* A model file leaves these open. */
static void defaults(void **state) {
    struct fr_workload w =
        must_read("{\"kind\": \"transformer\", \"layers\": 2, \"hidden\": 64, "
                  "\"heads\": 4, \"sequence\": 32, \"vocabulary\": 100}");
    const struct fr_transformer *t = &w.transformer;
    (void)state;
    assert_true(t->kv_heads == 4 && t->head_dim == 16 && t->ffn == 256 && t->experts == 0);
    assert_true(t->tied && t->biases && t->norm_biases && t->positions && t->dropout &&
                !t->gated);
    assert_true(t->experts_per_token == 0 && t->cross_layers == 0 && t->head_kernels == 0);
    assert_true(t->vocabulary_multiple == 0 && t->capacity == 0 && t->imbalance == 0);
    fr_workload_free(&w);
    w = must_read(
        "{\"kind\": \"transformer\", \"layers\": 2, \"hidden\": 64, \"heads\": 4, "
        "\"sequence\": 32, \"vocabulary\": 100, \"experts\": 4, \"ffn\": 96, \"norm\": "
        "\"rms\", \"positions\": \"rotary\", \"head_kernels\": \"batched\"}");
    assert_true(t->experts_per_token == 2 && t->expert_ffn == 96);
    assert_true(!t->norm_biases && !t->positions && !t->dropout && t->head_kernels == 0);
    fr_workload_free(&w);
#define LATENT                                                                                 \
    "{\"kind\": \"transformer\", \"layers\": 2, \"hidden\": 64, \"heads\": 4, \"sequence\": "  \
    "32, "                                                                                     \
    "\"vocabulary\": 100, \"head_dim\": 24, \"kv_latent\": 16"
    w = must_read(LATENT ", \"rope_dim\": 8}"); /* values as wide as keys without positions */
    assert_true(t->value_dim == 16 && t->q_latent == 0);
    fr_workload_free(&w);
    w = must_read(LATENT ", \"rope_dim\": 24}"); /* no such keys: as wide as all of them */
    assert_true(t->value_dim == 24);
    fr_workload_free(&w);
    w = must_read(LATENT "}");
    assert_true(t->value_dim == 24 && t->rope_dim == 0);
    fr_workload_free(&w);
}

/* Layers of one block each are not priced beside what divides layers otherwise, however small: each by its name. */
static void hybrids_beside_others(void **state) {
    static const char *const rows[][2] = {
        {"\"lora_rank\": 1", "lora_rank"},
        {"\"head_dim\": 16, \"kv_latent\": 1", "kv_latent"},
        {"\"cross_layers\": 1", "cross_layers"},
        {"\"window\": 1", "a window"},
        {"\"predicted_tokens\": 1", "predicted_tokens"},
        {"\"experts\": 2, \"expert_ffn\": 8, \"dense_layers\": 1", "dense_layers"}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (int first = 0; first < 2; first++) { /* in either order of keys */
            char text[400], want[80];
            struct fr_workload w;
            struct fr_error err = {0};
            snprintf(text, sizeof text,
                     "{\"kind\": \"transformer\", \"layers\": 4, \"hidden\": 64, \"heads\": 4, "
                     "\"sequence\": 32, \"vocabulary\": 100, %s%s%s}",
                     first ? rows[i][0] : "\"pattern\": \"*-\", ",
                     first ? ", \"pattern\": \"*-\"" : "", first ? "" : rows[i][0]);
            FR_TRUE(read_model(text, &w, &err) != FR_OK, "%s", text);
            snprintf(want, sizeof want, "is not priced beside %s", rows[i][1]);
            FR_TRUE(strstr(err.detail, want) && strstr(err.where, "pattern"), "%s: %s: %s",
                    rows[i][0], err.where, err.detail);
            fr_workload_free(&w);
        }
}

/* Adapters on the MLP of a mixture are refused, of one expert too. */
static void adapters_of_experts(void **state) {
    (void)state;
    for (int experts = 0; experts < 3; experts++) {
        char text[300];
        struct fr_workload w;
        struct fr_error err = {0};
        snprintf(text, sizeof text,
                 "{\"kind\": \"transformer\", \"layers\": 2, \"hidden\": 64, \"heads\": 4, "
                 "\"sequence\": 32, \"vocabulary\": 100, \"lora_rank\": 4, \"lora_on\": "
                 "\"mlp\"%s%s%s}",
                 experts ? ", \"experts\": " : "",
                 experts == 1 ? "1"
                 : experts    ? "2"
                              : "",
                 experts ? ", \"experts_per_token\": 1" : "");
        fr_status status = read_model(text, &w, &err);
        FR_TRUE((status == FR_OK) == (experts == 0), "%s: %s: %s", text, err.where, err.detail);
        if (status == FR_OK)
            fr_workload_free(&w);
        else
            assert_non_null(strstr(err.detail, "every one would have adapters of its own"));
    }
}

/* A key that only experts have is refused by name on a model without. */
static void experts_keys_of_a_dense_model(void **state) {
    static const char *const keys[] = {"capacity",   "imbalance",     "dense_layers",
                                       "shared_ffn", "expert_groups", "groups_per_token"};
    (void)state;
    for (size_t k = 0; k < sizeof keys / sizeof *keys; k++)
        for (int mixture = 0; mixture < 2; mixture++) {
            char text[300];
            struct fr_workload w;
            struct fr_error err = {0};
            snprintf(text, sizeof text,
                     "{\"kind\": \"transformer\", \"layers\": 2, \"hidden\": 64, \"heads\": 4, "
                     "\"sequence\": 32, \"vocabulary\": 100, \"%s\": 1%s%s}",
                     keys[k], mixture ? ", \"experts\": 4, \"experts_per_token\": 1" : "",
                     mixture && k == 5 ? ", \"expert_groups\": 2" : "");
            fr_status status = read_model(text, &w, &err);
            FR_TRUE((status == FR_OK) == mixture, "%s: %s: %s", text, err.where, err.detail);
            if (mixture) {
                fr_workload_free(&w);
                continue;
            }
            assert_non_null(strstr(err.where, keys[k]));
            assert_string_equal(err.detail, "has no effect without experts");
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(convolutions),
                                       cmocka_unit_test(connected_layers),
                                       cmocka_unit_test(branches),
                                       cmocka_unit_test(stages),
                                       cmocka_unit_test(every_list_of_stages),
                                       cmocka_unit_test(defaults),
                                       cmocka_unit_test(hybrids_beside_others),
                                       cmocka_unit_test(adapters_of_experts),
                                       cmocka_unit_test(experts_keys_of_a_dense_model)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
