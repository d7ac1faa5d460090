/* Files of trainers as rows: what logs time, what arguments mean, what is refused. */
#include <math.h>
#include <stdlib.h>

#include "answer/trainer/megatron/megatron.h"
#include "answer/trainer/trainer.h"
#include "tests/cmocka.h"

static fr_status read_text(const char *by, const char *text, struct fr_run_row *row,
                           struct fr_trainer_result *trained, struct fr_error *err) {
    const struct fr_trainer_ask ask = {.by = by ? fr_trainer_find(by) : NULL};
    return fr_trainer_read(&ask, text, strlen(text), "log", row, trained, err);
}

static void must_read(const char *by, const char *text, struct fr_run_row *row,
                      struct fr_trainer_result *trained) {
    struct fr_error err = {0};
    if (read_text(by, text, row, trained, &err) != FR_OK)
        fail_msg("%s: %s\n%s", err.where, err.detail, text);
}

static void says(const struct fr_run_row *row, const char *key, const char *wanted) {
    const char *got = fr_run_row_get(row, key);
    FR_TRUE(got && strcmp(got, wanted) == 0, "%s: got %s, wanted %s", key, got ? got : "-",
            wanted);
}

/* ---- logs ----------------------------------------------------------------------------------- */

#define ITERATION(ms)                                                                          \
    " iteration 1/ 9 | consumed samples: 64 | elapsed time per iteration (ms): " ms " | loss"
/* The first two steps start everything up; of 3, 5 and 4 s the median is 4. */
static void a_log_of_megatron(void **state) {
    (void)state;
    struct fr_run_row row = {0};
    struct fr_trainer_result trained;
    fr_run_row_set(&row, "plan.micro_batch", "4"); /* said on the line: stays */
    must_read(
        "megatron",
        "------ arguments ------\n"
        "  bf16 ............................ True\n"
        "  fp16 ............................ False\n"
        "  micro_batch_size ................ 2\n"
        "  num_query_groups ................ None\n"
        "  recompute_granularity ........... full\n"
        "  tensor_model_parallel_size ...... 8\n"
        "  world_size ...................... 64\r\n" ITERATION("90000.0") "\n" ITERATION(
            "9000."
            "0") "\n[date]" ITERATION("3000.0") "\n" ITERATION("?") "\n" ITERATION("5000.0") "\n" ITERATION("-7") "\n" ITERATION("4000.0"),
        &row, &trained);
    says(&row, "measured_s", "4");
    says(&row, "plan.tp", "8");
    says(&row, "ranks", "64");
    says(&row, "plan.micro_batch", "4");
    says(&row, "plan.recompute", "full");
    says(&row, "model.dtype", "bf16");
    assert_null(fr_run_row_get(&row, "model.kv_heads"));
    assert_int_equal(trained.steps, 5);
    assert_int_equal(trained.malformed, 2);
    assert_int_equal(trained.first_malformed, 12);
    fr_trainer_result_free(&trained);
}

static const struct {
    const char *by, *text, *measured_s, *key, *value;
} logs[] = {
    {"nemo",
     "1/3 [global_step=0.0, train_step_timing in s=50.0]\r"
     "2/3 [global_step=1.0, train_step_timing in s=24.0]\r"
     "3/3 [global_step=2.0, train_step_timing in s=22.0]\n"
     "iteration 3/9 | global_batch_size: 1024 | train_step_timing in s: 20.0\n",
     "23", "plan.global_batch", "1024"},
    {NULL, "[titan] INFO - \033[31mstep: 10 \033[32m loss: 4.1 \033[36mtps: 5,000 mfu: 31%\n",
     "13.1072", "plan.zero", "3"},
    {NULL,
     ":::MLLOG {\"key\": \"global_batch_size\", \"value\": 8, \"time_ms\": 1}\n"
     ":::MLLOG {\"key\": \"tracked_stats\", \"value\": {\"train_step_time\": 0.5}, "
     "\"time_ms\": 2}\n",
     "0.5", NULL, NULL},
    {NULL,
     "10/17/2025 16:31:56 [INFO|DP=0|PP=0|TP=0]: iteration: 7 / 9 | "
     "elapsed_time_per_iteration_ms: "
     "11.5K | tokens_per_sec: 22.8K | global_batch_size: 64 |\n",
     "11.5", NULL, NULL},
    {NULL,
     "[2022-03-11 02:07:14,130] [INFO] [timer.py:189:stop] 0/50, SamplesPerSec=256, Mem=1GB\n",
     "2", NULL, NULL},
    {NULL,
     "I0811 21:54:55.531340 1 metric_logger.py:226] completed step: 1, seconds: 5.667, "
     "TFLOP/s/device: 134.9, Tokens/s/device: 8672.8, loss: 10.3\n",
     "5.667", NULL, NULL},
    {NULL,
     "2024-08-06 10:00:05.520 host:0  olmo.train:908  INFO    [step=2/739328,epoch=0]\n"
     "    throughput/device/tokens_per_second=26,668\n"
     "    throughput/device/batches_per_second=0.0250\n",
     "40", NULL, NULL},
    {NULL,
     "05/12/2025 10:00:01 [INFO|DP=0|PP=0|TP=0]: iteration: 5 / 500 | consumed_tokens: 4.19M | "
     "time_per_iteration_ms: 2.23K | tokens_per_sec: 941K | global_batch_size: 2.1M |\n",
     "2.23", NULL, NULL},
    {NULL, "[rank0]: step: 10  loss: 4.1  memory: 4.8GiB(6.1%)  wps: 5,000  mfu: 31%\n",
     "13.1072", NULL, NULL},
    {NULL,
     "INFO  [step=10/95,epoch=1]\n    throughput/device/BPS=0.25\n    "
     "throughput/device/TPS=8,192\n",
     "4", NULL, NULL},
    {NULL, "steps: 10 loss: 2.1 iter time (s): 0.513 samples/sec: 61.2\n", "0.513", NULL, NULL},
    {NULL,
     " 10%|#  | 10/100 [00:30<04:30,  3.00s/it]\r 11%|#  | 11/100 [00:33<04:27,  3.00s/it]\r"
     " 50%|##   | 1/2 [00:01<00:01,  1.00s/it]\r 12%|#  | 12/100 [00:36<04:24,  3.00s/it]\n",
     "3", NULL, NULL},
    {NULL, " iteration 5/20 | elapsed time per iteration (ms): 3500.0 | lm loss: 1.2E+01 |\n",
     "3.5", NULL, NULL},
    {NULL,
     "[titan] Building 2-D device mesh with ['dp_shard', 'tp'], [16, 8]\n"
     "[titan] step: 10  loss: 4.1 tps: 5,000 mfu: 31%\n",
     "13.1072", NULL, NULL},
    {NULL,
     "  Instantaneous batch size per device = 2\n  Total train batch size (w. parallel, "
     "distributed & accumulation) = 512\n  Gradient Accumulation steps = 4\n"
     " 10%|#  | 10/100 [00:30<04:30,  3.00s/it]\n",
     "3", "plan.micro_batch", "2"},
    {NULL,
     "{'train_runtime': 100.0, 'train_samples_per_second': 64.0, 'train_steps_per_second': "
     "0.5, "
     "'epoch': 1}\n",
     "2", NULL, NULL},
};

static void logs_of_each(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof logs / sizeof *logs; i++) {
        struct fr_run_row row = {0};
        struct fr_trainer_result trained;
        fr_run_row_set(&row, "ranks", "64");
        if (i != 0) fr_run_row_set(&row, "plan.global_batch", "512");
        fr_run_row_set(&row, "model.sequence", "8192");
        must_read(logs[i].by, logs[i].text, &row, &trained);
        says(&row, "measured_s", logs[i].measured_s);
        if (logs[i].key) says(&row, logs[i].key, logs[i].value);
        fr_trainer_result_free(&trained);
    }
}

static void logs_refused(void **state) {
    (void)state;
    static const struct {
        const char *by, *text, *where, *says;
    } rows[] = {
        {"megatron", "nothing\n" ITERATION("") "\n", "log:2", "does not say how long it took"},
        {NULL, "Epoch 0\n", "log", "no script, configuration or log"},
        {NULL, "step: 1 tps: 100\n", "log", "give --column ranks="}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct fr_run_row row = {0};
        struct fr_trainer_result trained;
        struct fr_error err = {0};
        assert_int_equal(read_text(rows[i].by, rows[i].text, &row, &trained, &err),
                         FR_ERR_INPUT);
        fr_trainer_result_free(&trained);
        assert_string_equal(err.where, rows[i].where);
        FR_TRUE(strstr(err.detail, rows[i].says) != NULL, "got \"%s\"", err.detail);
    }
}

/* ---- steps ---------------------------------------------------------------------------------- */

/* @p n steps of @p true_s, which the log calls @p stated_s; behind step @p odd stands @p what and a pause. */
static void steps_of(int n, double true_s, double stated_s, int odd, const char *what,
                     double pause_s, struct fr_text *text) {
    double at_s = 36000;
    for (int i = 1; i <= n; i++) {
        double shown_s = i == 1 ? 3 * stated_s : stated_s;
        at_s += i == 1 ? 3 * true_s : true_s;
        int whole = (int)at_s;
        fr_text_addf(text,
                     " [2026-04-02 %02d:%02d:%06.3f] iteration %d/ 99 | consumed samples: 64 | "
                     "elapsed time per iteration (ms): %.1f | global batch size: %d |\n",
                     whole / 3600, whole / 60 % 60, at_s - whole / 60 * 60, i, 1e3 * shown_s,
                     512);
        if (i != odd) continue;
        fr_text_addf(text, "%s\n", what);
        at_s += pause_s;
    }
}

static double time_of(const struct fr_text *text, struct fr_trainer_result *trained) {
    struct fr_run_row row = {0};
    must_read("megatron", fr_text_get(text), &row, trained);
    return atof(fr_run_row_get(&row, "measured_s"));
}

/* A mean that does not wait for the device is short by 1 to 12 %: stamps say the truth, whatever stood between. */
static void stamps_against_a_short_mean(void **state) {
    static const char *const what[] = {"nothing", "(min, max) time across ranks",
                                       " validation loss at iteration 5 | lm loss value: 2.0",
                                       "saving checkpoint at iteration 5 to /x"};
    const double TRUE_S = 5.003; /* stamps that are not whole seconds */
    (void)state;
    for (int percent = 0; percent <= 12; percent += 2)
        for (int w = 0; w < 4; w++) {
            struct fr_text text = {0};
            struct fr_trainer_result trained;
            steps_of(12, TRUE_S, TRUE_S * (1 - percent / 100.0), 5, what[w], w > 1 ? 60 : 0,
                     &text);
            double time_s = time_of(&text, &trained);
            FR_TRUE(fabs(time_s / TRUE_S - 1) < 0.006, "%d %% short, %s: %g s", percent,
                    what[w], time_s);
            assert_int_equal(trained.timed.warm_up, 2);
            assert_int_equal(trained.timed.evaluation, w == 2);
            assert_int_equal(trained.timed.checkpoint, w == 3);
            assert_int_equal(trained.timed.by_stamps, percent > 0);
            fr_text_free(&text);
            fr_trainer_result_free(&trained);
        }
}

/* Stamps that cannot be of these steps are reported, and not taken. */
static void stamps_that_disagree(void **state) {
    struct fr_text text = {0};
    struct fr_trainer_result trained;
    (void)state;
    steps_of(12, 1, 5, 0, "", 0, &text);
    assert_true(fabs(time_of(&text, &trained) - 5) < 1e-9);
    assert_non_null(strstr(fr_text_get(&trained.stated), "disagree"));
    fr_text_free(&text);
    fr_trainer_result_free(&trained);
}

/* Steps behind the change from 4 bits to 8 are others, and a stall is in the mean alone. */
static void healing_and_stalls(void **state) {
    struct fr_text healed = {0}, stalled = {0};
    struct fr_trainer_result result;
    (void)state;
    steps_of(6, 2, 2, 6, "Healing: precision goes from fp4 to fp8", 0, &healed);
    steps_of(6, 3, 3, 0, "", 0, &healed);
    assert_true(fabs(time_of(&healed, &result) - 2) < 1e-9);
    assert_int_equal(result.timed.healing, 6);
    assert_int_equal(result.timed.counted, 4);
    fr_trainer_result_free(&result);
    for (int i = 0; i < 12; i++)
        fr_text_addf(&stalled, "%s\n", i == 7 ? ITERATION("9000.0") : ITERATION("3000.0"));
    assert_true(fabs(time_of(&stalled, &result) - 3) < 1e-9);
    assert_int_equal(result.timed.stalls, 1);
    assert_true(fabs(result.timed.mean_s - 3.6) < 1e-9);
    assert_non_null(strstr(fr_text_get(&result.stated), "some steps stalled"));
    fr_trainer_result_free(&result);
    fr_text_free(&healed);
    fr_text_free(&stalled);
}

/* A ramp-up counts by the batch that most steps have, and by the steps of that batch. */
static void ramp_up(void **state) {
    static const char *const batch[] = {"64",  "64",  "64",  "128", "128",
                                        "512", "512", "512", "512", "512"};
    struct fr_text text = {0};
    struct fr_run_row row = {0};
    struct fr_trainer_result trained;
    (void)state;
    fr_text_addf(&text, "  global_batch_size ........ 1024\n  rampup_batch_size ...... ['64', "
                        "'64', '1000']\n");
    for (int i = 0; i < 10; i++)
        fr_text_addf(
            &text,
            " iteration %d/ 99 | consumed samples: 1 | elapsed time per iteration (ms): "
            "%s.0 | global batch size: %s |\n",
            i + 1, batch[i], batch[i]);
    must_read("megatron", fr_text_get(&text), &row, &trained);
    says(&row, "measured_s", "0.512");
    says(&row, "plan.global_batch", "512");
    assert_int_equal(trained.timed.ramp_up, 3);
    fr_text_free(&text);
    fr_trainer_result_free(&trained);
}

/* ---- Megatron's arguments, one at a time ----------------------------------------------------- */

static const char *const usual[][2] = {
    {"world_size", "64"},
    {"tensor_model_parallel_size", "2"},
    {"pipeline_model_parallel_size", "4"},
    {"context_parallel_size", "1"},
    {"expert_model_parallel_size", "1"},
    {"expert_tensor_parallel_size", "2"},
    {"virtual_pipeline_model_parallel_size", "None"},
    {"num_layers_per_virtual_pipeline_stage", "None"},
    {"micro_batch_size", "2"},
    {"global_batch_size", "512"},
    {"num_layers", "32"},
    {"hidden_size", "4096"},
    {"ffn_hidden_size", "14336"},
    {"num_attention_heads", "32"},
    {"group_query_attention", "False"},
    {"num_query_groups", "8"},
    {"kv_channels", "128"},
    {"seq_length", "4096"},
    {"max_position_embeddings", "4096"},
    {"padded_vocab_size", "32000"},
    {"swiglu", "True"},
    {"normalization", "RMSNorm"},
    {"add_bias_linear", "False"},
    {"untie_embeddings_and_output_weights", "True"},
    {"position_embedding_type", "rope"},
    {"bf16", "True"},
    {"fp16", "False"},
    {"fp8", "None"},
    {"fp8_recipe", "delayed"},
    {"fp8_param_gather", "False"},
    {"fp4", "None"},
    {"first_last_layers_bf16", "False"},
    {"sequence_parallel", "True"},
    {"use_distributed_optimizer", "True"},
    {"overlap_grad_reduce", "True"},
    {"overlap_param_gather", "True"},
    {"num_distributed_optimizer_instances", "1"},
    {"use_megatron_fsdp", "False"},
    {"data_parallel_sharding_strategy", "no_shard"},
    {"use_torch_fsdp2", "False"},
    {"grad_reduce_in_bf16", "False"},
    {"ddp_bucket_size", "None"},
    {"tp_comm_overlap", "False"},
    {"overlap_p2p_comm", "False"},
    {"use_tp_pp_dp_mapping", "False"},
    {"recompute_granularity", "None"},
    {"recompute_method", "None"},
    {"recompute_num_layers", "None"},
    {"recompute_modules", "None"},
    {"recompute_activations", "False"},
    {"distribute_saved_activations", "False"},
    {"transformer_impl", "transformer_engine"},
    {"use_flash_attn", "False"},
    {"attention_backend", "AttnBackend.auto"},
    {"cp_comm_type", "['p2p']"},
    {"num_experts", "None"},
    {"moe_router_topk", "2"},
    {"moe_ffn_hidden_size", "None"},
    {"moe_token_dispatcher_type", "alltoall"},
    {"moe_shared_expert_intermediate_size", "None"},
    {"moe_layer_freq", "1"},
    {"multi_latent_attention", "False"},
    {"kv_lora_rank", "32"},
    {"q_lora_rank", "None"},
    {"qk_head_dim", "128"},
    {"v_head_dim", "128"},
    {"mtp_num_layers", "None"},
    {"window_size", "None"},
    {"window_attn_skip_freq", "None"},
    {"reset_attention_mask", "False"},
    {"hidden_dropout", "0.0"},
    {"attention_dropout", "0.0"},
    {"optimizer", "adam"},
    {"optimizer_cpu_offload", "False"},
    {"optimizer_offload_fraction", "0.0"},
    {"use_precision_aware_optimizer", "False"},
    {"cpu_offloading", "False"},
    {"cpu_offloading_num_layers", "0"},
    {"cuda_graph_impl", "none"},
    {"enable_cuda_graph", "False"},
    {"cross_entropy_loss_fusion", "False"},
    {"gradient_accumulation_fusion", "True"},
    {"delay_wgrad_compute", "False"},
    {"pipeline_model_parallel_layout", "None"},
    {"account_for_embedding_in_pipeline_split", "False"},
    {"account_for_loss_in_pipeline_split", "False"},
    {"decoder_first_pipeline_num_layers", "None"},
    {"rampup_batch_size", "None"},
    {"skip_train", "False"},
    {"train_iters", "100"},
    {"lr", "0.0003"},
    {"seed", "1234"},
    {"num_workers", "2"},
    {"log_interval", "1"},
};
enum { USUAL = sizeof usual / sizeof *usual };

/* The arguments with up to three of them changed ("name=value name=value"), as Megatron-LM prints them. */
static void dump(const char *changes, struct fr_text *text) {
    fr_text_addf(text, "------------------------ arguments ------------------------\n");
    for (int i = 0; i < USUAL; i++) {
        char find[80];
        const char *value = usual[i][1];
        snprintf(find, sizeof find, " %s=", usual[i][0]);
        const char *at = strstr(changes, find);
        size_t n = at ? strcspn(at + strlen(find), " ") : 0;
        fr_text_addf(text, "  %s ......................... %.*s\n", usual[i][0],
                     (int)(at ? n : strlen(value)), at ? at + strlen(find) : value);
    }
    /* Changes of arguments that are not usual come behind. */
    for (const char *at = changes; (at = strchr(at, ' '));) {
        const size_t n = strcspn(++at, "="), all = strcspn(at, " ");
        bool known = false;
        for (int i = 0; i < USUAL; i++)
            known |= strlen(usual[i][0]) == n && strncmp(usual[i][0], at, n) == 0;
        if (!known && n < all)
            fr_text_addf(text, "  %.*s ......................... %.*s\n", (int)n, at,
                         (int)(all - n - 1), at + n + 1);
    }
    for (int i = 0; i < 6; i++) fr_text_addf(text, ITERATION("5000.0") "\n");
}

static bool same_rows(const struct fr_run_row *a, const struct fr_run_row *b) {
    if (a->n != b->n) return false;
    for (int i = 0; i < a->n; i++) {
        const char *value = fr_run_row_get(b, a->item[i].key);
        if (!value || strcmp(value, a->item[i].value) != 0) return false;
    }
    return true;
}

static const char *const changed[] = {
    " world_size=128",
    " tensor_model_parallel_size=4",
    " pipeline_model_parallel_size=8",
    " context_parallel_size=2",
    " context_parallel_size=2 cp_comm_type=['a2a']",
    " context_parallel_size=2 cp_comm_type=['allgather']",
    " virtual_pipeline_model_parallel_size=2",
    " num_layers_per_virtual_pipeline_stage=4",
    " virtual_pipeline_model_parallel_size=2 overlap_p2p_comm=True",
    " micro_batch_size=1",
    " global_batch_size=1024",
    " num_layers=40",
    " hidden_size=5120",
    " ffn_hidden_size=11008",
    " num_attention_heads=64",
    " group_query_attention=True",
    " group_query_attention=True num_query_groups=4",
    " kv_channels=64",
    " seq_length=8192",
    " padded_vocab_size=128256",
    " swiglu=False",
    " normalization=LayerNorm",
    " add_bias_linear=True",
    " untie_embeddings_and_output_weights=False",
    " position_embedding_type=learned_absolute",
    " bf16=False fp16=True",
    " bf16=False",
    " fp8=hybrid",
    " fp8=hybrid fp8_recipe=mxfp8",
    " fp8=hybrid fp8_param_gather=True",
    " fp8=hybrid first_last_layers_bf16=True",
    " fp4=e2m1",
    " sequence_parallel=False",
    " use_distributed_optimizer=False",
    " overlap_grad_reduce=False",
    " overlap_param_gather=False",
    " num_distributed_optimizer_instances=2",
    " use_megatron_fsdp=True data_parallel_sharding_strategy=optim_grads_params",
    " use_torch_fsdp2=True",
    " grad_reduce_in_bf16=True",
    " ddp_bucket_size=40000000",
    " tp_comm_overlap=True",
    " use_tp_pp_dp_mapping=True",
    " recompute_granularity=full",
    " recompute_granularity=full recompute_method=block recompute_num_layers=4",
    " recompute_granularity=full recompute_method=uniform recompute_num_layers=4",
    " recompute_granularity=selective",
    " recompute_granularity=selective recompute_modules=['mlp']",
    " recompute_activations=True",
    " distribute_saved_activations=True",
    " transformer_impl=local",
    " attention_backend=AttnBackend.unfused",
    " num_experts=8",
    " num_experts=8 moe_router_topk=4",
    " num_experts=8 moe_ffn_hidden_size=1408",
    " num_experts=8 expert_model_parallel_size=8",
    " num_experts=8 expert_model_parallel_size=8 expert_tensor_parallel_size=1",
    " num_experts=8 expert_model_parallel_size=8 moe_token_dispatcher_type=allgather",
    " num_experts=8 moe_shared_expert_intermediate_size=2048",
    " num_experts=8 moe_layer_freq=2",
    " num_experts=8 moe_layer_freq=([0]*3+[1]*29)",
    " multi_latent_attention=True",
    " multi_latent_attention=True kv_lora_rank=512",
    " multi_latent_attention=True q_lora_rank=1536",
    " multi_latent_attention=True qk_head_dim=64",
    " mtp_num_layers=1",
    " window_size=(4096,0)",
    " window_size=(4096,0) window_attn_skip_freq=4",
    " reset_attention_mask=True",
    " hidden_dropout=0.1",
    " optimizer=muon",
    " optimizer=sgd",
    " optimizer_cpu_offload=True optimizer_offload_fraction=1.0",
    " optimizer_cpu_offload=True optimizer_offload_fraction=0.5",
    " cpu_offloading=True cpu_offloading_num_layers=4",
    " cuda_graph_impl=transformer_engine",
    " enable_cuda_graph=True",
    " cross_entropy_loss_fusion=True",
    " gradient_accumulation_fusion=False",
    " delay_wgrad_compute=True",
    " pipeline_model_parallel_layout=Et*7|t*9|t*9|t*7L",
    " account_for_embedding_in_pipeline_split=True account_for_loss_in_pipeline_split=True",
    " decoder_first_pipeline_num_layers=5",
    " rampup_batch_size=['64','64','1000']",
    " skip_train=True",
    " train_iters=200",
};
/* These do not count while their switch is off, or do not count for the time at all. */
static const char *const unchanged[] = {
    " num_query_groups=4",
    " moe_router_topk=8",
    " kv_lora_rank=512",
    " fp8_recipe=mxfp8",
    " moe_token_dispatcher_type=allgather",
    " use_flash_attn=True",
    " recompute_num_layers=8",
    " cpu_offloading_num_layers=9",
    " lr=0.1",
    " seed=7",
    " num_workers=8",
    " v_head_dim=64",
    " optimizer_offload_fraction=1.0",
    " max_position_embeddings=8192",
};

/* @return whether it was read; else err says why. */
static bool read_dump(const char *changes, struct fr_run_row *row, struct fr_error *err) {
    struct fr_text text = {0};
    struct fr_trainer_result trained;
    dump(changes, &text);
    fr_status status = read_text(NULL, fr_text_get(&text), row, &trained, err);
    fr_text_free(&text);
    fr_trainer_result_free(&trained);
    return status == FR_OK;
}

static void one_at_a_time(void **state) {
    struct fr_run_row *plain = calloc(1, sizeof *plain), *row = calloc(1, sizeof *row);
    struct fr_run_row *seen = calloc(sizeof changed / sizeof *changed, sizeof *seen);
    struct fr_error err = {0};
    size_t n = 0;
    (void)state;
    if (!read_dump("", plain, &err)) fail_msg("%s: %s", err.where, err.detail);
    says(plain, "model.kv_heads", "32");
    for (size_t i = 0; i < sizeof changed / sizeof *changed; i++) {
        *row = (struct fr_run_row){0};
        bool is_read = read_dump(changed[i], row, &err);
        if (!is_read) {
            FR_TRUE(strstr(err.detail, "--ignore") != NULL, "%s: %s", changed[i], err.detail);
            continue;
        }
        FR_TRUE(!same_rows(plain, row), "%s: dropped without a word", changed[i]);
        bool spelled =
            strstr(changed[i], "recompute_activations") || /* other words for one */
            strstr(changed[i], "layers_per_virtual") || strstr(changed[i], "torch_fsdp2") ||
            strstr(changed[i], "attention_backend") || strstr(changed[i], "cuda_graph");
        for (size_t k = 0; k < n && !spelled; k++)
            FR_TRUE(!same_rows(&seen[k], row), "%s: reads as another change", changed[i]);
        seen[n++] = *row;
    }
    for (size_t i = 0; i < sizeof unchanged / sizeof *unchanged; i++) {
        *row = (struct fr_run_row){0};
        if (!read_dump(unchanged[i], row, &err)) fail_msg("%s: %s", unchanged[i], err.detail);
        FR_TRUE(same_rows(plain, row), "%s: alters the row", unchanged[i]);
    }
    free(plain);
    free(row);
    free(seen);
}

/* A value that @p row is for. */
static const char *other_value(const struct fr_meaning_row *row, char out[64]) {
    const size_t n = strcspn(row->where, ",");
    if (strcmp(row->where, "on") == 0) return "True";
    if (strcmp(row->where, "off") == 0) return "False";
    if (n == 0 || *row->where == '!') return "7";
    snprintf(out, 64, "%.*s", (int)n, row->where);
    return out;
}

/* No row of the table is dropped without a word: what it names alters what is read, or is told, or refuses the log. */
static void every_row_is_heard(void **state) {
    struct fr_run_row *plain = calloc(1, sizeof *plain), *row = calloc(1, sizeof *row);
    struct fr_error err = {0};
    int heard = 0;
    (void)state;
    for (const struct fr_meaning_row *r = fr_megatron_rows; r->name; r++) {
        char value[64], change[300], with[80] = "";
        if (r->kind != FR_MEANS_REFUSAL && r->kind != FR_MEANS_NOTE) continue;
        if (strcmp(r->name, "position_embedding_type") == 0) continue; /* of three rows */
        const bool counts =
            r->needs && (strstr(r->needs, "num_") || strcmp(r->needs, "fp8") == 0);
        if (r->needs) snprintf(with, sizeof with, " %.60s=%s", r->needs, counts ? "8" : "True");
        snprintf(change, sizeof change, "%s %.80s=%s", with, r->name, other_value(r, value));
        *row = *plain = (struct fr_run_row){0};
        bool without = read_dump(with, plain, &err);
        if (read_dump(change, row, &err))
            FR_TRUE(without && !same_rows(plain, row) && r->kind == FR_MEANS_NOTE,
                    "%s: dropped", change);
        else
            FR_TRUE(strstr(err.detail, "--ignore") != NULL, "%s: %s", change, err.detail);
        heard++;
    }
    FR_TRUE(heard > 80, "%d rows", heard);
    free(plain);
    free(row);
}

/* A refusal goes away with what it asks for: the key by hand, or --ignore. */
static void a_way_in(void **state) {
    static const char text[] =
        "  micro_batch_size ...... 1\n  reset_attention_mask ...... True\n";
    const char *ignore[] = {"reset_attention_mask", "--reset-attention-mask"};
    struct fr_run_row row = {0};
    struct fr_trainer_result trained;
    struct fr_error err = {0};
    (void)state;
    assert_int_equal(read_text("megatron", text, &row, &trained, &err), FR_ERR_INPUT);
    assert_string_equal(err.where, "log:2");
    assert_non_null(strstr(err.detail, "model.document=VALUE"));
    fr_trainer_result_free(&trained);
    fr_run_row_set(&row, "model.document", "512");
    must_read("megatron", text, &row, &trained);
    fr_trainer_result_free(&trained);
    for (int i = 0; i < 2; i++) {
        const struct fr_trainer_ask ask = {
            .by = &fr_trainer_megatron, .ignore = &ignore[i], .n_ignore = 1};
        struct fr_run_row other = {0};
        assert_int_equal(
            fr_trainer_read(&ask, text, sizeof text - 1, "log", &other, &trained, &err), FR_OK);
        fr_trainer_result_free(&trained);
    }
}

/* ---- scripts and configurations --------------------------------------------------------------- */

static void configurations(void **state) {
    static const struct {
        const char *text, *by, *keys[10][2];
    } rows[] = {
        {"TP=8\nPP=${PP:-4}\nGPT_ARGS=(\n  --tensor-model-parallel-size $TP\n"
         "  --pipeline-model-parallel-size ${PP} --num-layers 32 # layers\n"
         "  --micro-batch-size 1 --global-batch-size 256 --swiglu --bf16\n)\n"
         "torchrun --nproc_per_node 8 --nnodes=16 pretrain_gpt.py \"${GPT_ARGS[@]}\"\n",
         "megatron",
         {{"plan.tp", "8"},
          {"plan.pp", "4"},
          {"ranks", "128"},
          {"plan.dp", "4"},
          {"model.gated", "true"},
          {"model.dtype", "bf16"},
          {"plan.zero", "0"}}},
        {"#SBATCH --nodes=4\n#SBATCH --ntasks-per-node=8\nWORLD=$((4*8))\nsrun python "
         "pretrain_gpt.py --tensor-model-parallel-size 4 --micro-batch-size 2 "
         "--use-distributed-optimizer\n",
         "megatron",
         {{"ranks", "32"}, {"plan.dp", "8"}, {"plan.zero", "1"}}},
        {"modules:\n  pre_trainer:\n    overrides:\n      tensor_model_parallel_size: 2 # tp\n"
         "      micro_batch_size: 4\n      recompute_granularity: full\n",
         "megatron",
         {{"plan.tp", "2"}, {"plan.micro_batch", "4"}, {"plan.recompute", "full"}}},
        {"def recipe():\n    cfg.model.tensor_model_parallel_size = 4\n"
         "    cfg.train.global_batch_size=2048\n    cfg.train.micro_batch_size = 1\n"
         "    cfg.ddp.overlap_grad_reduce = True\n",
         "nemo",
         {{"plan.tp", "4"}, {"plan.global_batch", "2048"}, {"plan.overlap", "gradient"}}},
        {"[model]\nname = \"llama3\"\nflavor = \"8B\"\n[training]\nlocal_batch_size = "
         "2\nseq_len = "
         "8192\n[parallelism]\ndata_parallel_shard_degree = 8\ntensor_parallel_degree = 4\n"
         "[activation_checkpoint]\nmode = \"selective\" # op\nselective_ac_option = \"op\"\n",
         "torchtitan",
         {{"plan.tp", "4"},
          {"plan.dp", "8"},
          {"plan.zero", "3"},
          {"plan.micro_batch", "2"},
          {"plan.global_batch", "16"},
          {"plan.recompute", "selective_op"},
          {"model.sequence", "8192"}}},
        {"{\"train_batch_size\": 256, \"train_micro_batch_size_per_gpu\": 2, "
         "\"gradient_accumulation_steps\": 16, \"bf16\": {\"enabled\": true}, "
         "\"zero_optimization\": {\"stage\": 3, \"overlap_comm\": true}}",
         "deepspeed",
         {{"plan.zero", "3"},
          {"plan.dp", "8"},
          {"plan.micro_batch", "2"},
          {"model.dtype", "bf16"}}},
        {"[config.py:988:print]   train_batch_size ............. 64\n"
         "[config.py:988:print]   train_micro_batch_size_per_gpu  2\n"
         "[config.py:988:print]   zero_config .................. stage=3 reduce_scatter=True\n"
         "[config.py:988:print]   bfloat16_enabled ............. True\n",
         "deepspeed",
         {{"plan.zero", "3"},
          {"plan.micro_batch", "2"},
          {"plan.global_batch", "64"},
          {"model.dtype", "bf16"}}},
        {"model:\n  dtype: bfloat16\n  model_config:\n    hidden_size: 2048\n    "
         "num_hidden_layers: "
         "24\nparallelism:\n  dp: 4\n  pp: 1\n  tp: 2\n  tp_mode: REDUCE_SCATTER\ntokens:\n  "
         "micro_batch_size: 2\n  batch_accumulation_per_replica: 8\n  sequence_length: 4096\n"
         "optimizer:\n  zero_stage: 1\n",
         "nanotron",
         {{"plan.dp", "4"},
          {"plan.tp", "2"},
          {"plan.global_batch", "64"},
          {"plan.zero", "1"},
          {"model.hidden", "2048"},
          {"plan.sequence_parallel", "true"}}},
        {"per_device_batch_size: 2\nici_fsdp_parallelism: 16\nici_tensor_parallelism: 4\n"
         "max_target_length: 8192\nremat_policy: 'full'\n",
         "maxtext",
         {{"plan.tp", "4"},
          {"plan.dp", "16"},
          {"ranks", "64"},
          {"plan.global_batch", "128"},
          {"plan.recompute", "full"}}},
        {"model:\n  d_model: 4096\n  n_heads: 32\n  n_layers: 32\n  mlp_hidden_size: 22016\n"
         "  activation_type: swiglu\nglobal_train_batch_size: "
         "1024\ndevice_train_microbatch_size: "
         "4\nfsdp:\n  sharding_strategy: FULL_SHARD\n",
         "olmo",
         {{"plan.global_batch", "1024"},
          {"plan.micro_batch", "4"},
          {"model.ffn", "11008"},
          {"plan.zero", "3"}}},
        /* Branches, lower-case variables, an array that no command takes. */
        {"size=13B; tp=8\nif [ $size = 7B ]; then h=4096; l=32; else h=5120; l=40; fi\n"
         "OLD=(--recompute-granularity full)\n"
         "ARGS=(--num-layers $l --hidden-size $h --num-attention-heads 40 --seq-length 4096\n"
         "  --tensor-model-parallel-size ${tp} --micro-batch-size 1 --vocab-size 32000)\n"
         "ARGS+=(--global-batch-size $((tp * 16)) --swiglu)\n"
         "torchrun --nproc_per_node 8 --nnodes 2 pretrain_gpt.py \"${ARGS[@]}\"\n",
         "megatron",
         {{"model.hidden", "5120"},
          {"model.layers", "40"},
          {"plan.tp", "8"},
          {"ranks", "16"},
          {"plan.dp", "2"},
          {"plan.global_batch", "128"},
          {"plan.recompute", "none"}}},
        {"MODEL_ARGS:\n  --num-layers: 12\n  --hidden-size: 512\n  --num-attention-heads: 8\n"
         "  --tensor-model-parallel-size: 2\n  --micro-batch-size: 4\n  --seq-length: 1_024\n",
         "megatron",
         {{"model.layers", "12"}, {"plan.tp", "2"}, {"model.sequence", "1024"}}},
        {"modules:\n  pre_trainer:\n    model: llama3_8B.yaml\n    overrides:\n"
         "      tensor_model_parallel_size: ${TP:2}\n      micro_batch_size: 4\n",
         "megatron",
         {{"model", "llama-3-8b"}, {"plan.tp", "2"}}},
        {"torchrun --nproc_per_node 8 pretrain_mamba.py --hybrid-layer-pattern M-M*|-M/*E/*E "
         "--hidden-size 4096 --num-attention-heads 32 --mamba-num-heads 128 --tensor-model-"
         "parallel-size 1 --tokenizer-type GPT2BPETokenizer --seq-length 4096 "
         "--micro-batch-size 1 --spec megatron.core.models.mamba.mamba_layer_specs "
         "mamba_stack_spec\n",
         "megatron",
         {{"model.pattern", "M-M*-M"},
          {"model.layers", "6"},
          {"model.ssm_heads", "128"},
          {"model.ssm_groups", "8"},
          {"model.vocabulary", "50257"}}},
        {"base_emb_dim: 7168\nbase_num_query_heads: 128\nbase_num_kv_heads: 128\n"
         "base_mlp_dim: 18432\nbase_moe_mlp_dim: 2048\nbase_num_decoder_layers: 61\n"
         "first_num_dense_layers: 3\nmlp_activations: [\"silu\",\"linear\"]\n"
         "vocab_size: 129280\nnum_experts: 256\nnum_experts_per_tok: 8\nshared_experts: 1\n"
         "decoder_block: \"deepseek\"\nattention_type: \"mla\"\nq_lora_rank: 1536\n"
         "kv_lora_rank: 512\nqk_nope_head_dim: 128\nqk_rope_head_dim: 64\nv_head_dim: 128\n",
         "maxtext",
         {{"model.kv_latent", "512"},
          {"model.q_latent", "1536"},
          {"model.head_dim", "192"},
          {"model.experts_per_token", "8"},
          {"model.shared_ffn", "2048"},
          {"model.dense_layers", "3"},
          {"model.sequence", "2048"},
          {"plan.recompute", "full"},
          {"model.dtype", "bf16"}}},
        {"python3 -m MaxText.train configs/base.yml model_name=llama3-8b \\\n"
         "  per_device_batch_size=2 ici_fsdp_parallelism=8 remat_policy=minimal_flash\n",
         "maxtext",
         {{"model", "llama-3-8b"}, {"plan.recompute", "layernorm"}, {"plan.dp", "8"}}},
        {"model_name_or_path: meta-llama/Meta-Llama-3-8B\nfinetuning_type: lora\n"
         "lora_rank: 16\nlora_target: all\ncutoff_len: 2048\nper_device_train_batch_size: 2\n"
         "gradient_accumulation_steps: 8\nbf16: true\nworld_size: 8\n",
         "huggingface",
         {{"model", "llama-3-8b"},
          {"model.lora_rank", "16"},
          {"model.lora_on", "all"},
          {"plan.recompute", "full"},
          {"plan.global_batch", "128"}}},
        {"base_model: NousResearch/Meta-Llama-3-8B\nadapter: lora\nlora_r: 32\n"
         "lora_target_modules:\n  - q_proj\n  - v_proj\nsequence_len: 4096\n"
         "sample_packing: true\nmicro_batch_size: 2\ngradient_accumulation_steps: 4\n",
         "huggingface",
         {{"model.lora_rank", "32"},
          {"model.lora_on", "attention"},
          {"plan.micro_batch", "2"},
          {"model.sequence", "4096"}}},
        {"model:\n  d_model: 4096\n  n_heads: 32\n  n_layers: 30\n  mlp_hidden_size: 22016\n"
         "global_train_batch_size: 1024\ndevice_train_microbatch_size: 2\n"
         "precision: amp_bf16\nactivation_checkpointing: one_in_four\n"
         "fsdp:\n  wrapping_strategy: by_block_and_size\n  precision: mixed\n",
         "olmo",
         {{"model.dtype", "bf16"},
          {"plan.zero", "3"},
          {"plan.recompute", "full"},
          {"plan.recompute_layers", "8"},
          {"plan.graphs", "none"}}},
        {"per_device_train_batch_size: 4\ngradient_accumulation_steps: 2\nbf16: true\n"
         "gradient_checkpointing: true\nworld_size: 8\n",
         "huggingface",
         {{"plan.micro_batch", "4"}, {"plan.global_batch", "64"}, {"plan.recompute", "full"}}},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct fr_run_row row = {0};
        struct fr_trainer_result trained;
        must_read(NULL, rows[i].text, &row, &trained);
        assert_string_equal(trained.by->name, rows[i].by);
        for (int k = 0; k < 10 && rows[i].keys[k][0]; k++)
            says(&row, rows[i].keys[k][0], rows[i].keys[k][1]);
        fr_trainer_result_free(&trained);
    }
}

/* Plans, models, configurations of Hugging Face and tables are nobody's. */
static void nobodys(void **state) {
    static const char *const texts[] = {
        "",
        "{}",
        "{\"tp\": 8, \"sequence_parallel\": true, \"zero\": 3, \"micro_batch\": 1}",
        "{\"schema\": \"forerun/predict/1\", \"plan\": {\"sequence_parallel\": true}}",
        ("{\"model_type\": \"llama\", \"hidden_size\": 4096, \"num_attention_heads\": 32, "
         "\"num_key_value_heads\": 8, \"vocab_size\": 32000, \"head_dim\": 128}"),
        "measured_s,plan.tp,model\n1,8,gpt3-175b\n",
        "name: llama\nlayers: 32\n"};
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        FR_TRUE(fr_trainer_of(texts[i], strlen(texts[i])) == NULL, "%s is %s's", texts[i],
                fr_trainer_of(texts[i], strlen(texts[i]))->name);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_log_of_megatron),
                                       cmocka_unit_test(logs_of_each),
                                       cmocka_unit_test(logs_refused),
                                       cmocka_unit_test(stamps_against_a_short_mean),
                                       cmocka_unit_test(stamps_that_disagree),
                                       cmocka_unit_test(healing_and_stalls),
                                       cmocka_unit_test(ramp_up),
                                       cmocka_unit_test(one_at_a_time),
                                       cmocka_unit_test(every_row_is_heard),
                                       cmocka_unit_test(a_way_in),
                                       cmocka_unit_test(nobodys),
                                       cmocka_unit_test(configurations)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
