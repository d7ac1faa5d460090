/* A number that cannot be divided is named with its divisor and the rule. */
#include "tests/app/command.h"

static void each_rule_names_its_numbers(void **state) {
    static const struct {
        const char *options, *says;
    } cases[] = {
        {"--model mixtral-8x7b --set dp=32 --set ep=64",
         "ep = 64 does not divide the 8 experts of a layer; ep x etp = 64 x 1 does not divide "
         "the "
         "tp x dp x cp = 1 x 32 x 1 = 32 ranks that share a layer"},
        {"--model qwen3-30b-a3b --set dp=32 --set ep=64 --set global_batch=32",
         "ep x etp = 64 x 1 does not divide the tp x dp x cp = 1 x 32 x 1 = 32 ranks"},
        {"--model mixtral-8x7b --set tp=4 --set dp=2 --set etp=2",
         "etp = 2: an expert is divided "
         "over tp = 4"},
        {"--model llama-3-8b --set tp=16", "tp = 16 does not divide the 8 key-value heads"},
        {"--model llama-3-8b --set tp=3", "tp = 3 does not divide the 32 attention heads"},
        {"--model llama-3-8b --set tp=4 --set model.ffn=14338",
         "tp = 4 does not divide the MLP's width of 14338"},
        {"--model llama-3-8b --set pp=18 --set schedule=interleaved --set chunks=2",
         "the model has 32 layers, too few for pp x chunks = 36, embedding and logits counted "
         "as "
         "layers"},
        {"--model llama-3-8b --set pp=33",
         "the model has 32 layers, too few for pp x chunks = 33"},
        {"--model llama-3-8b --set cp=3", "cp = 3 does not divide the sequence of 8192 tokens"},
        {"--model llama-3-8b --set tp=8 --set cp=2 --set sequence_parallel=true --set "
         "model.sequence=8200",
         "cp x tp = 2 x 8 does not divide the sequence of 8200 tokens"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char line[400];
        snprintf(line, sizeof line,
                 "forerun predict --cluster dgx-h100 --set model.dtype=bf16 %s",
                 cases[i].options);
        fr_test_expect(line, 4, cases[i].says, NULL);
    }
    fr_test_expect("forerun predict --cluster frontier --model ffn-16384 --set tp=7 --all", 4,
                   "tp = 7 does not divide a layer's 16384 outputs", NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(each_rule_names_its_numbers)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
