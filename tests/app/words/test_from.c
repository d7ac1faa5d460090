/* Every verb takes the files that people have: a trainer's script, configuration or log as plan, model and measured
 * run. */
#include <stdio.h>

#include "tests/app/command.h"
#include "tests/scratch.h"

static void put(const char *name, const char *text) {
    FILE *file = fopen(name, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0 && fclose(file) == 0);
}

static const char script[] =
    "TP=4\nsrun -N 4 --ntasks-per-node=8 python pretrain_gpt.py \\\n"
    "  --tensor-model-parallel-size $TP --pipeline-model-parallel-size 2 --num-layers 32 \\\n"
    "  --hidden-size 4096 --num-attention-heads 32 --group-query-attention --num-query-groups "
    "8 \\\n"
    "  --ffn-hidden-size 14336 --seq-length 4096 --vocab-size 32000 --micro-batch-size 1 \\\n"
    "  --global-batch-size 128 --swiglu --bf16 --normalization RMSNorm --disable-bias-linear "
    "\\\n"
    "  --untie-embeddings-and-output-weights --position-embedding-type rope \\\n"
    "  --sequence-parallel --use-distributed-optimizer\n";

static const char steps[] =
    " iteration 1/ 9 | consumed samples: 8 | elapsed time per iteration (ms): 3000.0 | global "
    "batch size: 128 |\n"
    " iteration 2/ 9 | consumed samples: 8 | elapsed time per iteration (ms): 2900.0 | global "
    "batch size: 128 |\n";

static const char arguments[] =
    "  world_size ........ 32\n  tensor_model_parallel_size ........ 4\n"
    "  pipeline_model_parallel_size ........ 2\n  num_layers ........ 32\n"
    "  hidden_size ........ 4096\n  num_attention_heads ........ 32\n  seq_length ........ "
    "4096\n"
    "  padded_vocab_size ........ 32000\n  ffn_hidden_size ........ 14336\n"
    "  micro_batch_size ........ 1\n  bf16 ........ True\n  swiglu ........ True\n";

static void goes_in(void **state) {
    static const struct {
        const char *line;
        int exit_code;
        const char *out, *err;
    } rows[] = {
        {"forerun predict --cluster dgx-h100 --from run.sh --all", 0,
         "tensor tp 4 x dp 4 x pp 2", NULL},
        {"forerun predict --cluster dgx-h100 --from run.sh --set pp=1 --set dp=8 --all", 0,
         "tensor tp 4 x dp 8", NULL},
        {"forerun predict --cluster dgx-h100 --from run.sh --model llama-3-8b", 0, "llama-3-8b",
         NULL},
        {"forerun simulate --cluster dgx-h100 --from run.sh", 0, NULL, NULL},
        {"forerun predict --cluster dgx-h100 --from run.log --all", 0,
         "tensor tp 4 x dp 4 x pp 2", "2 timed lines counted"},
        {"forerun score --cluster dgx-h100 --from run.log", 0, "1 measured run",
         "2 timed lines counted"},
        {"forerun score --cluster dgx-h100 --runs run.log", 0, "1 measured run", NULL},
        {"forerun predict --cluster dgx-h100 --model llama-3-8b --plan ds.json --set "
         "recompute=full --all",
         0, "zero 3", NULL},
        {"forerun search --cluster dgx-h100 --model llama-3-8b --ranks 64 --vary tp=1,2 --set "
         "zero=3 "
         "--set global_batch=256 --include ds8.json",
         0, "ds8.json", NULL},
        {"forerun search --cluster dgx-h100 --model gpt3-175b --ranks 64 --vary tp=4,8 "
         "--include "
         "run.sh",
         3, NULL, "is of another model than the search"},
        {"forerun predict --cluster dgx-h100 --from ds.json", 3, NULL, "give --model"},
        {"forerun predict --cluster dgx-h100 --from words.txt", 3, NULL,
         "no script, configuration or log"},
        {"forerun predict --cluster dgx-h100 --from bad.sh", 3, NULL, "bad.sh:1"},
        {"forerun predict --cluster dgx-h100 --model llama-3-8b --from bad.sh --set tp=8 "
         "--ignore "
         "--moe-latent-size",
         0, NULL, NULL},
        {"forerun score --cluster dgx-h100 --from run.sh", 3, NULL, "times no step"},
    };
    char log[4096];
    (void)state;
    snprintf(log, sizeof log, "%s%s", arguments, steps);
    put("run.sh", script);
    put("run.log", log);
    put("words.txt", "once upon a time\n");
    put("bad.sh", "python pretrain_gpt.py --tensor-model-parallel-size 1 --micro-batch-size 1 "
                  "--num-experts 4 --moe-latent-size 64\n");
    put("ds.json", "{\"train_batch_size\": 256, \"train_micro_batch_size_per_gpu\": 2, "
                   "\"gradient_accumulation_steps\": 16, \"bf16\": {\"enabled\": true}, "
                   "\"zero_optimization\": {\"stage\": 3}}");
    put("ds8.json", "{\"train_batch_size\": 256, \"train_micro_batch_size_per_gpu\": 2, "
                    "\"zero_optimization\": {\"stage\": 3}}");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        fr_test_expect(rows[i].line, rows[i].exit_code, rows[i].out, rows[i].err);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(goes_in)};
    return cmocka_run_group_tests(tests, fr_scratch_enter, fr_scratch_leave);
}
