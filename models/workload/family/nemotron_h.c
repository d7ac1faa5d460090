/* NVIDIA 2025 (Nemotron-H, Nemotron Nano 2 and 3): layers of one block each, state-space, attention, MLP of squared
 * relu, or experts, in an order that the file gives by letters or by words; no positions. */
#include <string.h>

#include "models/workload/family.h"
#include "models/workload/hybrid.h"

enum { MOST = FR_FAMILY_SIZE_MAX };

static fr_status refuse_others(const struct fr_json *config, struct fr_error *err) {
    static const char *const biases[] = {"use_bias", "mamba_proj_bias"};
    struct fr_json latent = fr_json_member(config, "moe_latent_size");
    for (int i = 0; i < 2; i++) {
        struct fr_json node = fr_json_member(config, biases[i]);
        bool some = false;
        FR_TRY(fr_family_bool(config, biases[i], &some, err));
        if (some) return fr_json_fail(&node, err, "such biases are not priced yet");
    }
    if (fr_json_is_number(&latent))
        return fr_json_fail(&latent, err, "experts of narrowed tokens are not priced yet");
    return fr_family_refuse_biases(config, err);
}

/* The names of newer files, a word a layer. */
static fr_status read_words(const struct fr_json *list, char letters[FR_PATTERN_MAX],
                            struct fr_error *err) {
    static const char *const words[] = {"mamba", "attention", "mlp", "moe", NULL};
    FR_TRY(fr_json_array(list, 1, FR_PATTERN_MAX - 1, err));
    int64_t n = fr_json_array_length(list);
    for (int64_t i = 0; i < n; i++) {
        struct fr_json one = fr_json_element(list, i);
        const char *word = NULL;
        int which = 0;
        FR_TRY(fr_json_text(&one, &word, err));
        while (words[which] && strcmp(words[which], word) != 0) which++;
        if (!words[which])
            return fr_json_fail(&one, err, "\"%.32s\" names no block that is known", word);
        letters[i] = "M*-E"[which];
    }
    letters[n] = '\0';
    return FR_OK;
}

static fr_status read_experts(const struct fr_json *config, struct fr_transformer *t,
                              struct fr_error *err) {
    static const struct fr_family_experts keys = {"n_routed_experts", "num_experts_per_tok",
                                                  "moe_intermediate_size"};
    int64_t shared = 0;
    FR_TRY(fr_family_read_experts(config, &keys, t, err));
    FR_TRY(fr_family_integer(config, "n_shared_experts", false, 1 << 20, &shared, err));
    t->shared_ffn = shared * t->expert_ffn;
    return fr_family_integer(config, "moe_shared_expert_intermediate_size", false, MOST,
                             &t->shared_ffn, err);
}

static fr_status read_pattern(const struct fr_json *config, struct fr_transformer *t,
                              struct fr_error *err) {
    struct fr_json node = fr_json_member(config, "hybrid_override_pattern"),
                   words = fr_json_member(config, "layers_block_type");
    char letters[FR_PATTERN_MAX];
    const char *pattern = letters;
    if (fr_json_is_array(&words)) {
        node = words;
        FR_TRY(read_words(&words, letters, err));
    } else
        FR_TRY(fr_json_text(&node, &pattern, err));
    if (strchr(pattern, 'E')) FR_TRY(read_experts(config, t, err));
    return fr_hybrid_set(&node, pattern, t, err);
}

static fr_status read(const struct fr_json *config, struct fr_transformer *t,
                      struct fr_error *err) {
    *t = (struct fr_transformer){
        .ssm_head_dim = 64, .ssm_state = 128, .ssm_groups = 8, .ssm_conv = 4, .ssm_chunk = 128};
    FR_TRY(refuse_others(config, err));
    FR_TRY(fr_family_integer(config, "attention_head_dim", false, MOST, &t->head_dim, err));
    FR_TRY(fr_family_read_rotary(config, t, err));
    t->gated = false;
    FR_TRY(fr_family_integer(config, "mamba_num_heads", true, MOST, &t->ssm_heads, err));
    FR_TRY(fr_family_integer(config, "mamba_head_dim", false, MOST, &t->ssm_head_dim, err));
    FR_TRY(fr_family_integer(config, "ssm_state_size", false, MOST, &t->ssm_state, err));
    FR_TRY(fr_family_read_scan(config, t, err));
    return read_pattern(config, t, err);
}

const struct fr_family fr_family_nemotron_h = {
    .name = "nemotron_h",
    .sequence = 8192,
    .architecture = "NemotronHForCausalLM",
    .summary = "state-space (Mamba-2) blocks among attention, MLPs and experts, RMSNorm",
    .read = read,
};
