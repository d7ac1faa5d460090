/* Yang et al. 2024 (Qwen2), also Qwen2.5: LLaMA with biases of the query, key and value products,
 * which no key of the file mentions. */
#include "models/workload/family.h"

static fr_status read(const struct fr_json *config, struct fr_transformer *t,
                      struct fr_error *err) {
    *t = (struct fr_transformer){.kv_heads = 32, .qkv_biases = true};
    bool slides = false;
    int64_t whole = 28; /* the first layers */
    FR_TRY(fr_family_read_rotary(config, t, err));
    FR_TRY(fr_family_bool(config, "use_sliding_window", &slides, err));
    FR_TRY(
        fr_family_integer(config, "max_window_layers", false, FR_FAMILY_SIZE_MAX, &whole, err));
    return slides ? fr_family_read_window(config, 4096, t->layers - whole, t, err) : FR_OK;
}

const struct fr_family fr_family_qwen2 = {
    .name = "qwen2",
    .sequence = 4096,
    .architecture = "Qwen2ForCausalLM",
    .summary = "as llama, with biases of queries, keys and values",
    .read = read,
};
