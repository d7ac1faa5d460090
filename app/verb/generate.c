/* Time and energy of generated tokens, and memory of their cache. */
#include "answer/generate/generate.h"
#include "app/load.h"
#include "app/page/page.h"
#include "app/verb.h"

static const struct fr_option options[] = {
    FR_OPTION_CLUSTER,
    FR_OPTION_MODEL,
    FR_OPTION_PLAN,
    FR_OPTION_SET,
    FR_OPTION_IDLE,
    {"prompt", "N", "tokens of each prompt (default 1024)", 0},
    {"tokens", "N", "tokens that each sample gets, at least 2 (default 256)", 0},
    {"batch", "N", "samples that generate at once (default 1)", 0},
    FR_OPTION_JSON,
    FR_OPTION_HELP,
    FR_OPTION_END};

static fr_status read_question(const struct fr_args *args, struct fr_generation_asked *asked,
                               struct fr_error *err) {
    long long prompt = 1024, tokens = 256, batch = 1;
    FR_TRY(fr_args_integer(args, "prompt", 1, 1 << 24, &prompt, err));
    FR_TRY(fr_args_integer(args, "tokens", 2, 1 << 24, &tokens, err));
    FR_TRY(fr_args_integer(args, "batch", 1, 1 << 24, &batch, err));
    *asked = (struct fr_generation_asked){prompt, tokens, batch};
    return FR_OK;
}

static fr_status generate(const struct fr_args *args, struct fr_generation *g,
                          struct fr_error *err) {
    const char *sets[FR_ARGS_MAX + 1];
    char own[FR_OWN_PATH_B];
    struct fr_job_names names;
    struct fr_generation_asked asked;
    struct fr_text text = {0}, page = {0};
    FR_TRY(read_question(args, &asked, err));
    FR_TRY(fr_app_job_names(args, true, sets, own, &names, err));
    FR_TRY(fr_generate(&names, &asked, g, err));
    (fr_args_has(args, "json") ? fr_generation_json : fr_generation_text)(&text, g);
    if (fr_app_paged(args)) fr_generation_json(&page, g);
    FR_TRY(fr_app_answer(args, &text, &page, err));
    return g->last.reasons ? FR_ERR_INFEASIBLE : FR_OK;
}

static fr_status run(const struct fr_args *args, struct fr_error *err) {
    struct fr_generation generation = {0};
    fr_status status = generate(args, &generation, err);
    fr_generation_free(&generation);
    return status;
}

const struct fr_verb fr_verb_generate = {
    .name = "generate",
    .summary = "time and energy of generating tokens, memory of the cache",
    .usage = "--cluster C --model M [--plan P] [--set KEY=VALUE]... [--prompt N] [--tokens N] "
             "[--batch N] [--json]",
    .details = "The pass over the prompt makes the first token. Each other token is a step\n"
               "that reads all weights and the cache of keys and values. The software is\n"
               "vllm-2025 unless --runtime names another. Speculative decoding and\n"
               "continuous batching are not priced.\n\n"
               "examples:\n"
               "  forerun generate --cluster dgx-h100 --model llama-3-8b\n"
               "  forerun generate --cluster dgx-h100 --model llama-2-70b --set tp=8 --batch "
               "32 --prompt 2000\n",
    .options = options,
    .words = FR_WORDS_OPTIONS,
    .run = run,
};
