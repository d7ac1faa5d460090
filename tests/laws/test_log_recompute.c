/* A trainer's log states recomputation, which comes back as the plan that it was; so do our launch scripts. */
#include "answer/emit.h"
#include "answer/trainer/trainer.h"
#include "models/outcome/cost.h"
#include "tests/job.h"

static const char megatron_step[] = " iteration       20/     100 | consumed samples: 64 | "
                                    "elapsed time per iteration (ms): 543.2 | x\n";
static const char nemo_step[] =
    "Epoch 0: : 100%|#| 50/50 [23:22<00:00, global_step=49.00, train_step_timing in s=24.00]\n";
static const char titan_step[] =
    "step: 10  loss: 4.1  memory: 47.54GiB(50.05%)  tps: 5,762  mfu: 31%\n";

static void read_into(const char *format, const char *text, const char *step,
                      struct fr_run_row *row) {
    const struct fr_trainer_ask ask = {.by = fr_trainer_find(format)};
    struct fr_trainer_result trained;
    struct fr_error err = {0};
    char all[4096];
    snprintf(all, sizeof all, "%s%s%s%s%s", text, step, step, step, step);
    fr_run_row_set(row, "ranks", "8");
    fr_run_row_set(row, "plan.global_batch", "64");
    fr_run_row_set(row, "model.sequence", "8192");
    if (fr_trainer_read(&ask, all, strlen(all), "log", row, &trained, &err) != FR_OK)
        fail_msg("%s: %s", format, err.detail);
    fr_trainer_result_free(&trained);
}

static const char *stated(const struct fr_run_row *row, const char *key) {
    const char *value = fr_run_row_get(row, key);
    return value ? value : "";
}

static void settings(void **state) {
    static const struct {
        const char *format, *text, *recompute, *layers;
    } rows[] = {
        {"megatron", "  recompute_granularity ........................ full\n", "full", ""},
        {"megatron",
         "  recompute_granularity ........... full\n  recompute_method ............ block\n"
         "  recompute_num_layers ...... 4\n",
         "full", "4"},
        {"megatron",
         "  recompute_granularity ........... full\n  recompute_method ............ uniform\n"
         "  recompute_num_layers ...... 1\n",
         "full", ""},
        {"megatron",
         "  recompute_granularity ........... selective\n  recompute_method ............ None\n"
         "  recompute_modules ........ ['moe_act', 'layernorm']\n  recompute_num_layers ...... "
         "None\n",
         "moe_act+layernorm", ""},
        {"megatron",
         "  recompute_granularity ........... selective\n  recompute_modules ........ None\n",
         "selective", ""},
        {"megatron",
         "  recompute_granularity ........... None\n  recompute_modules ........ "
         "['core_attn']\n",
         "none", ""},
        {"nemo", "  recompute_granularity: selective\n  recompute_modules: [core_attn, moe]\n",
         "core_attn+moe", ""},
        {"nemo",
         "  recompute_granularity: full\n  recompute_method: block\n  recompute_num_layers: "
         "12\n",
         "full", "12"},
        {"nemo", "  recompute_granularity: null\n  recompute_method: null\n", "none", ""},
        {"torchtitan",
         "{\"model\": {}, \"activation_checkpoint\": {\"mode\": \"selective\", "
         "\"selective_ac_option\": \"op\"}}\n",
         "selective_op", ""},
        {"torchtitan", "{\"activation_checkpoint\": {\"mode\": \"full\"}}\n", "full", ""}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct fr_run_row row = {0};
        const char *step = *rows[i].format == 'm'   ? megatron_step
                           : *rows[i].format == 'n' ? nemo_step
                                                    : titan_step;
        read_into(rows[i].format, rows[i].text, step, &row);
        FR_TRUE(strcmp(stated(&row, "plan.recompute"), rows[i].recompute) == 0 &&
                    strcmp(stated(&row, "plan.recompute_layers"), rows[i].layers) == 0,
                "row %d: %s of %s", (int)i, stated(&row, "plan.recompute"),
                stated(&row, "plan.recompute_layers"));
    }
}

/* Arguments of --emit, printed as Megatron-LM prints them, are read as the plan. */
static void round_trip(void **state) {
    static const char *const words[] = {"core_attn", "full", "moe", "moe_act+layernorm",
                                        "core_attn+mlp+shared_experts"};
    (void)state;
    for (int layers = 0; layers < 3; layers += 2)
        for (size_t w = 0; w < sizeof words / sizeof *words; w++) {
            char set[128], number[40], text[2048];
            const char *sets[] = {
                "dp=8", "ep=8", "global_batch=64", set, layers ? number : NULL, NULL};
            struct fr_job job;
            struct fr_outcome out;
            struct fr_run_row row = {0};
            struct fr_emitted *e = calloc(1, sizeof *e);
            size_t used = 0;
            if (layers && strcmp(words[w], "full") != 0) { /* it takes some with full alone */
                free(e);
                continue;
            }
            snprintf(set, sizeof set, "recompute=%s", words[w]);
            snprintf(number, sizeof number, "recompute_layers=%d", layers);
            fr_test_job("dgx-h100", "mixtral-8x7b", sets, &job);
            fr_cost(&job, &job.plan, &out);
            assert_int_equal(fr_emit(&fr_emitter_megatron, &job, &out, e, NULL), FR_OK);
            if (strchr(words[w], '+')) { /* each a word of its own for the shell */
                struct fr_text script = {0};
                char list[128];
                snprintf(list, sizeof list, "--recompute-modules %s ", words[w]);
                for (char *c = list; *c; c++) *c = *c == '+' ? ' ' : *c;
                fr_emit_array(e, "megatron", &script);
                FR_TRUE(strstr(fr_text_get(&script), list) != NULL, "no %s", list);
                fr_text_free(&script);
            }
            *text = 0;
            for (int i = 0; i < e->n; i++) {
                char name[96];
                if (strncmp(e->line[i].name, "--recompute", 11) != 0) continue;
                snprintf(name, sizeof name, "%s", e->line[i].name + 2);
                for (char *c = name; *c; c++) *c = *c == '-' ? '_' : *c;
                fr_line_addf(text, sizeof text, &used, "  %s ........ %s\n", name,
                             e->line[i].text);
            }
            read_into("megatron", text, megatron_step, &row);
            assert_string_equal(stated(&row, "plan.recompute"), words[w]);
            assert_string_equal(stated(&row, "plan.recompute_layers"), layers ? "2" : "");
            free(e);
            fr_job_free(&job);
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(settings),
                                       cmocka_unit_test(round_trip)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
