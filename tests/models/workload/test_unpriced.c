/* A part that is not priced is there where its key has a value; null, 0, false, and an empty list say that it is not. */
#include "models/workload/workload.h"
#include "tests/cmocka.h"

static fr_status read(const char *text, struct fr_error *err) {
    struct fr_json_document *document = NULL;
    struct fr_workload w = {0};
    fr_status status = fr_json_parse(text, strlen(text), "m", &document, err);
    if (status == FR_OK) status = fr_workload_read(document, &w, err);
    fr_json_free(document);
    return status;
}

static void parts_that_are_there(void **state) {
    static const char *const keys[] = {"hc_mult", "cross_attention_layers", "share_q_dim",
                                       "is_encoder_decoder"};
    static const struct {
        const char *value;
        bool there;
    } values[] = {{"null", false}, {"0", false},  {"false", false}, {"[]", false},
                  {"-1", false},   {"1", true},   {"0.5", true},    {"1e301", true},
                  {"true", true},  {"[0]", true}, {"[1,2]", true},  {"{\"a\": 1}", true}};
    (void)state;
    for (size_t k = 0; k < sizeof keys / sizeof *keys; k++)
        for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
            char text[512];
            struct fr_error err = {0};
            snprintf(
                text, sizeof text,
                "{\"model_type\": \"llama\", \"num_hidden_layers\": 2, \"hidden_size\": 64, "
                "\"intermediate_size\": 96, \"num_attention_heads\": 32, "
                "\"max_position_embeddings\": 16, \"vocab_size\": 128, \"%s\": %s}",
                keys[k], values[i].value);
            bool refused = read(text, &err) != FR_OK;
            FR_TRUE(refused == values[i].there, "%s: %s %s", text, err.where, err.detail);
            FR_TRUE(!refused || strstr(err.detail, "not priced yet"), "%s", err.detail);
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(parts_that_are_there)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
