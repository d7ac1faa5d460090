/* The model and its number formats, where several arguments of Megatron-LM say them together. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "answer/trainer/megatron/megatron.h"

/* ---- attention ------------------------------------------------------------------------------- */

/* Heads of keys and values: num_query_groups counts only where groups are on. */
static void take_groups(struct fr_reading *r) {
    int64_t groups = fr_reading_integer(r, "num_query_groups", 0);
    bool on = fr_reading_on(r, "group_query_attention"),
         stated = on || fr_reading_off(r, "group_query_attention") || r->whole;
    const char *heads = fr_reading_stated(r, "model.heads");
    if (fr_reading_on(r, "multi_latent_attention")) return;
    if (groups > 0 && (on || !stated))
        fr_reading_say(r, "model.kv_heads", "%" PRId64, groups);
    else if (heads && stated)
        fr_reading_say(r, "model.kv_heads", "%s", heads);
}

/* A latent head has its own width and that of the key that all heads share. */
static void take_latent(struct fr_reading *r) {
    int64_t own = fr_reading_integer(r, "qk_head_dim", 128),
            shared = fr_reading_integer(r, "qk_pos_emb_head_dim", 64);
    if (!fr_reading_on(r, "multi_latent_attention")) return;
    fr_reading_say(r, "model.head_dim", "%" PRId64, own + shared);
    fr_reading_say(r, "model.rope_dim", "%" PRId64, shared);
    if (!fr_reading_stated(r, "model.value_dim")) fr_reading_say(r, "model.value_dim", "128");
}

/* "(4096, 0)", "[127, 0]" or "4096 0": a token and so many before it. */
static fr_status take_window(struct fr_reading *r, struct fr_error *err) {
    const char *value = fr_reading_value(r, "window_size");
    int64_t layers = strtoll(fr_reading_stated(r, "model.layers")
                                 ? fr_reading_stated(r, "model.layers")
                                 : "0",
                             NULL, 10),
            every = fr_reading_integer(r, "window_attn_skip_freq", 0);
    if (!value) return FR_OK;
    long long before = strtoll(value + strspn(value, "([ "), NULL, 10);
    if (before < 1 || before > 1 << 26)
        return fr_reading_refuse(r, "window_size", "model.window", err,
                                 "no window that is known");
    fr_reading_say(r, "model.window", "%lld", before + 1);
    if (fr_reading_value(r, "window_attn_skip_freq") && every < 2)
        return fr_reading_refuse(r, "window_attn_skip_freq", "model.window_layers", err,
                                 "layers with a window that are listed one by one");
    if (every >= 2 && layers > 0) /* every N-th layer attends to all */
        fr_reading_say(r, "model.window_layers", "%" PRId64, layers - layers / every);
    return FR_OK;
}

/* ---- the MLP --------------------------------------------------------------------------------- */

/* Without ffn_hidden_size four times the hidden values, of a gated one two thirds of that in steps of 64. */
static void take_ffn(struct fr_reading *r) {
    const char *hidden = fr_reading_stated(r, "model.hidden"),
               *gated = fr_reading_stated(r, "model.gated");
    int64_t h = hidden ? strtoll(hidden, NULL, 10) : 0,
            ffn = fr_reading_integer(r, "ffn_hidden_size", 0);
    if (h > 0 && h < 1 << 26 && ffn == 0 && r->whole)
        ffn = gated && strcmp(gated, "true") == 0 ? 8 * h / 3 / 64 * 64 : 4 * h;
    if (ffn > 0) fr_reading_say(r, "model.ffn", "%" PRId64, ffn);
}

/* "1", "2", "[0, 1, 1]" or "([0]*3+[1]*58)": the first layers without experts; @return -1 where they are not the first. */
static int64_t dense_layers(const char *freq, int64_t layers) {
    char *end = NULL;
    long long every = strtoll(freq, &end, 10);
    if (end != freq && !*end) return every == 1 ? 0 : -1;
    int64_t dense = 0, all = 0;
    bool experts = false;
    for (const char *at = freq; *at; at++) {
        if (*at != '0' && *at != '1') continue;
        char which = *at;
        const char *times = at + 1 + strspn(at + 1, "] ");
        long long n = 1;
        if (*times == '*') {
            n = strtoll(times + 1, &end, 10);
            at = end - 1;
        }
        if (n < 0 || n > 100000 || (which == '0' && experts && n)) return -1;
        experts |= which == '1' && n > 0;
        dense += which == '0' ? n : 0;
        all += n;
        if (all > layers) return -1;
    }
    return all == layers ? dense : -1;
}

static fr_status take_experts(struct fr_reading *r, struct fr_error *err) {
    const char *freq = fr_reading_value(r, "moe_layer_freq"),
               *layers = fr_reading_stated(r, "model.layers"),
               *kind = fr_reading_value(r, "moe_token_dispatcher_type"),
               *backend = fr_reading_value(r, "moe_flex_dispatcher_backend");
    if (!fr_reading_on(r, "num_experts") && !fr_reading_on(r, "num_moe_experts")) return FR_OK;
    if (!fr_reading_stated(r, "model.experts_per_token"))
        fr_reading_say(r, "model.experts_per_token", "2"); /* arguments.py's default */
    int64_t dense = freq && layers ? dense_layers(freq, strtoll(layers, NULL, 10)) : 0;
    if (dense < 0)
        return fr_reading_refuse(r, "moe_layer_freq", "model.dense_layers", err,
                                 "layers with and without experts that alternate");
    if (dense > 0) fr_reading_say(r, "model.dense_layers", "%" PRId64, dense);
    bool flex =
        fr_reading_on(r, "moe_enable_deepep") || (kind && strcasecmp(kind, "flex") == 0);
    const char *ep = fr_reading_stated(r, "plan.ep");
    if (kind && strcasecmp(kind, "allgather") == 0 && ep && atoi(ep) > 1)
        return fr_reading_refuse(
            r, "moe_token_dispatcher_type", "plan.dispatch_ranks", err,
            "every rank gets all tokens; exchanges are priced as all-to-all");
    if (flex && backend && strcasecmp(backend, "hybridep") == 0)
        fr_reading_say(r, "plan.dispatch_ranks", "1");
    else if (flex) {
        fr_reading_say(r, "plan.dispatch_ranks", "8");
        fr_reading_tell(r,
                        "DeepEP: one copy of a token for the 8 ranks of a node; of other nodes "
                        "give plan.dispatch_ranks=N");
    } else if (kind)
        fr_reading_say(r, "plan.dispatch_ranks", "0");
    return FR_OK;
}

/* ---- number formats ----------------------------------------------------------------------------- */

static bool is_narrow(const struct fr_reading *r, const char *a, const char *b) {
    return fr_reading_on(r, a) || fr_reading_on(r, b);
}

static fr_status take_dtype(struct fr_reading *r, struct fr_error *err) {
    bool fp8 = is_narrow(r, "fp8", "fp8_format") || is_narrow(r, "fp8_hybrid", "fp8_e4m3"),
         fp4 = is_narrow(r, "fp4", "fp4_format"), bf16 = fr_reading_on(r, "bf16"),
         fp16 = fr_reading_on(r, "fp16");
    const char *recipe = fr_reading_value(r, "fp8_recipe"),
               *four = fr_reading_value(r, "fp4_recipe");
    const char *dtype = fp4 ? "fp4" : fp8 ? "fp8" : bf16 ? "bf16" : fp16 ? "fp16" : NULL;
    bool model = fr_reading_stated(r, "model.layers") != NULL; /* not a part of a script */
    if (!dtype && !fr_reading_stated(r, "model.dtype") &&
        ((r->whole && model) || (fr_reading_off(r, "bf16") && fr_reading_off(r, "fp16"))))
        dtype = "fp32";
    if (!dtype) return FR_OK;
    fr_reading_say(r, "model.dtype", "%s", dtype);
    if (fp8 && !fp4 && recipe && !fr_value_mentions(recipe, "delayed") &&
        !fr_value_mentions(recipe, "tensorwise") && !fr_value_mentions(recipe, "blockwise") &&
        !fr_value_mentions(recipe, "mxfp8"))
        FR_TRY(fr_reading_refuse(r, "fp8_recipe", "model.fp8_scaling", err,
                                 "a scaling of 8 bits that is not known"));
    if (fp4 && four && !fr_value_mentions(four, "nvfp4"))
        FR_TRY(fr_reading_refuse(r, "fp4_recipe", "model.dtype", err,
                                 "a scaling of 4 bits that is not known"));
    if (fp8 && !fp4 && (recipe || r->whole))
        fr_reading_say(r, "model.fp8_scaling", "%s",
                       fr_value_mentions(recipe, "mxfp8") || fr_value_mentions(recipe, "block")
                           ? "block"
                           : "tensor");
    if (fp8 || fp4) {
        bool narrow = fp4 ? is_narrow(r, "fp4_param_gather", "fp4_param")
                          : is_narrow(r, "fp8_param_gather", "fp8_param");
        fr_reading_say(r, "model.weight_dtype", "%s", narrow ? dtype : "bf16");
    }
    /* arguments.py: with bf16 gradients are added up and reduced at 32 bits by default. */
    bool wide = fr_reading_on(r, "accumulate_allreduce_grads_in_fp32") ||
                fr_reading_on(r, "grad_reduce_in_fp32"),
         narrow = fr_reading_on(r, "grad_reduce_in_bf16") ||
                  fr_reading_off(r, "grad_reduce_in_fp32");
    bool itself =
        r->whole || fr_reading_off(r, "grad_reduce_in_bf16") || r->by == &fr_trainer_megatron;
    if (wide || (bf16 && !narrow && itself))
        fr_reading_say(r, "model.gradient_dtype", "fp32");
    else if (narrow)
        fr_reading_say(r, "model.gradient_dtype", "%s", fp16 ? "fp16" : "bf16");
    return FR_OK;
}

static int bytes_of(const struct fr_reading *r, const char *name) {
    const char *value = fr_reading_value(r, name);
    if (!value || fr_value_mentions(value, "float32") || fr_value_mentions(value, "fp32"))
        return 4;
    if (fr_value_mentions(value, "uint8") || fr_value_mentions(value, "fp8")) return 1;
    return fr_value_mentions(value, "16") ? 2 : -1;
}

/* The precision-aware optimiser's moments, and its weights of 32 bits. */
static fr_status take_optimizer(struct fr_reading *r, struct fr_error *err) {
    int first = bytes_of(r, "exp_avg_dtype"), second = bytes_of(r, "exp_avg_sq_dtype"),
        weights = bytes_of(r, "main_params_dtype");
    const char *dtype = fr_reading_stated(r, "model.dtype"),
               *optimizer = fr_reading_stated(r, "model.optimizer");
    bool mixed = dtype && strcmp(dtype, "fp32") != 0;
    /* Adam's two moments and a weight of 32 bits beside those of 16. */
    if (mixed && (!optimizer || strcmp(optimizer, "adam") == 0))
        fr_reading_say(r, "model.optimizer_state", "12 B");
    if (fr_reading_off(r, "use_precision_aware_optimizer")) return FR_OK;
    if (first < 0 || second < 0 || weights < 0)
        return fr_reading_refuse(r, "exp_avg_dtype", "model.optimizer_state", err,
                                 "a number format that is not known");
    if (first == 4 && second == 4 && weights == 4) return FR_OK;
    if (first == 1 && second == 1 && weights == 4)
        fr_reading_say(r, "model.optimizer_state", "8-bit");
    else
        fr_reading_say(r, "model.optimizer_state", "%d B", first + second + weights);
    return FR_OK;
}

/* ---- layers of one block ------------------------------------------------------------------------- */

/* "M-M*-|M-M*-", perhaps with "/ME/ME" behind it: a letter a layer; a bar ends a stage, what is behind a slash
 * predicts a further token. */
static fr_status take_pattern(struct fr_reading *r, struct fr_error *err) {
    const char *value = fr_reading_value(r, "hybrid_layer_pattern"),
               *spec = fr_reading_value(r, "spec");
    char letters[256];
    size_t n = 0;
    if (!value) value = fr_reading_value(r, "hybrid_override_pattern");
    if (!value && spec && !fr_value_is_off(spec) && !fr_value_mentions(spec, "gpt_layer"))
        return fr_reading_refuse(r, "spec", NULL, err,
                                 "a model that a file of its own describes");
    if (!value) return FR_OK;
    const size_t end = strcspn(value, "/"), known = strspn(value, "M*-E|/");
    if (value[known])
        return fr_reading_refuse(
            r,
            fr_reading_value(r, "hybrid_layer_pattern") ? "hybrid_layer_pattern"
                                                        : "hybrid_override_pattern",
            "model.pattern", err, "a block \"%c\" that is not priced; known are M, *, - and E",
            value[known]);
    for (size_t i = 0; i < end && n + 1 < sizeof letters; i++)
        if (value[i] != '|') letters[n++] = value[i];
    letters[n] = '\0';
    if (n == 0) return FR_OK;
    fr_run_row_set(r->row, "model.pattern", "%.*s", (int)n, letters);
    if (!fr_reading_stated(r, "model.layers")) fr_reading_say(r, "model.layers", "%zu", n);
    const int64_t hidden = fr_reading_stated_integer(r, "model.hidden", 0),
                  each = fr_reading_stated_integer(r, "model.ssm_head_dim", 64);
    if (!fr_reading_stated(r, "model.ssm_heads") && hidden > 0 && hidden < 1 << 26 &&
        2 * hidden % each == 0) /* twice as wide as the layers */
        fr_reading_say(r, "model.ssm_heads", "%" PRId64, 2 * hidden / each);
    if (!fr_reading_stated(r, "model.ssm_groups")) fr_reading_say(r, "model.ssm_groups", "8");
    if (value[end] && !fr_reading_stated(r, "model.predicted_tokens"))
        fr_reading_tell(r,
                        "%.60s: modules of further tokens are left out; give "
                        "model.predicted_tokens=N to price them",
                        value + end);
    return FR_OK;
}

/* ---- the rest ----------------------------------------------------------------------------------- */

/* Words of tokenizers that a script names and does not count; those of a model are its preset's. */
static void take_tokenizer(struct fr_reading *r) {
    static const struct {
        const char *type;
        int words;
    } usual[] = {{"GPT2BPETokenizer", 50257},       {"Llama2Tokenizer", 32000},
                 {"BertWordPieceLowerCase", 30522}, {"BertWordPieceCase", 28996},
                 {"Llama3Tokenizer", 128256},       {"DeepSeekV3Tokenizer", 129280},
                 {"DeepSeekV2Tokenizer", 102400},   {"MixtralTokenizer", 32000}};
    /* A part of a name, the longest first; vocabularies as the models' config.json have them. */
    static const struct {
        const char *part;
        int words;
    } models[] = {{"Llama-2", 32000},      {"Llama-3", 128256},     {"Llama3", 128256},
                  {"Mixtral", 32000},      {"Mistral-7B", 32000},   {"Qwen3", 151936},
                  {"Qwen2", 151936},       {"DeepSeek-V3", 129280}, {"DeepSeek-R1", 129280},
                  {"DeepSeek-V2", 102400}, {"gpt-oss", 201088},     {"gpt2", 50257},
                  {"Llama-4", 202048}};
    const char *type = fr_reading_value(r, "tokenizer_type"),
               *model = fr_reading_value(r, "tokenizer_model");
    int words = fr_reading_value(r, "merge_file") && !type ? 50257 : 0; /* GPT-2's */
    if (words) type = "merge_file";
    if (model && strchr(model, '$')) model = NULL;
    for (size_t i = 0; type && i < sizeof usual / sizeof *usual; i++)
        if (strcmp(type, usual[i].type) == 0) words = usual[i].words;
    for (size_t i = 0; model && !words && i < sizeof models / sizeof *models; i++)
        if (fr_value_mentions(model, models[i].part)) words = models[i].words;
    if (!words) return;
    fr_reading_say(r, "model.vocabulary", "%d", words);
    fr_reading_tell(r,
                    "vocabulary of %.60s: %d words; give model.vocabulary=N if that is wrong",
                    model ? model : type, words);
}

static void take_vocabulary(struct fr_reading *r) {
    int64_t padded = fr_reading_integer(r, "padded_vocab_size", 0),
            words = fr_reading_integer(r, "vocab_size", 0),
            multiple = fr_reading_integer(r, "make_vocab_size_divisible_by", 0);
    if (padded > 0) {
        fr_reading_say(r, "model.vocabulary", "%" PRId64, padded);
        fr_reading_say(r, "model.vocabulary_multiple", "1");
        return;
    }
    if (words > 0)
        fr_reading_say(r, "model.vocabulary", "%" PRId64, words);
    else if (fr_reading_stated(r, "model.layers") && !fr_reading_stated(r, "model.vocabulary"))
        take_tokenizer(r);
    if (multiple > 0) fr_reading_say(r, "model.vocabulary_multiple", "%" PRId64, multiple);
}

static void take_dropout(struct fr_reading *r) {
    const char *a = fr_reading_value(r, "attention_dropout"),
               *h = fr_reading_value(r, "hidden_dropout");
    bool on = (a && atof(a) > 0) || (h && atof(h) > 0);
    if (r->whole && (!a || !h)) on = true; /* 0.1 by default */
    if (a || h || r->whole) fr_reading_say(r, "model.dropout", on ? "true" : "false");
}

static void take_rotary(struct fr_reading *r) {
    const char *base = fr_reading_value(r, "rotary_base"),
               *positions = fr_reading_stated(r, "model.positions");
    if (base && positions && strcmp(positions, "rotary") == 0)
        fr_reading_say(r, "model.rotary_base", "%s", base);
}

fr_status fr_megatron_model(struct fr_reading *r, struct fr_error *err) {
    FR_TRY(take_pattern(r, err));
    take_groups(r);
    take_latent(r);
    take_ffn(r);
    take_vocabulary(r);
    take_dropout(r);
    take_rotary(r);
    FR_TRY(take_window(r, err));
    FR_TRY(take_experts(r, err));
    FR_TRY(take_dtype(r, err));
    return take_optimizer(r, err);
}
