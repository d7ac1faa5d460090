/* nanotron: its YAML, and run_train.py.  Fields of its configuration classes, SECTION.FIELD (src/nanotron/config).
 *
 * Replicas add gradients up by PyTorch's DDP, and divide the optimiser's state alone (ZeRO 1).  Models are Llama's, those
 * with experts Qwen2's. */
#include <string.h>

#include "answer/emit.h"
#include "base/script/script.h"

#define KEY(key, where, ...) {0, FR_PLAN_KEY_##key, where, FR_EMIT_##__VA_ARGS__},
#define REST(about, where, ...) {0, FR_EMIT_##about, where, FR_EMIT_##__VA_ARGS__},
#define S "", /* of a sentence */

/* clang-format off */
static const struct fr_emit_row rows[] = {
    /* ---- the mesh ---- */
    KEY(method, "", NONE, S "tensor parallelism is how nanotron divides a layer")
    KEY(tp, "", OPTION, "parallelism.tp", "{tp}")
    KEY(dp, "", OPTION, "parallelism.dp", "{dp}")
    KEY(pp, "", OPTION, "parallelism.pp", "{pp}")
    KEY(cp, "", OPTION, "parallelism.context_parallel_size", "{cp}")
    KEY(context, "cp=1", NOTE, S "one rank has the whole sequence")
    KEY(context, "cp!=1 context=ring", NOTE, S "a ring, as it has")
    KEY(context, "cp!=1 context!=ring", LACK, S "{context}: {no}exchange of heads for tokens; its ring is the only one")
    KEY(ep, "", OPTION, "parallelism.expert_parallel_size", "{ep}")
    KEY(etp, "experts=0", NOTE, S "the model has no experts")
    KEY(etp, "experts!=0", OPTION, "parallelism.expert_tensor_parallel_size", "{expert_tp}")
    KEY(etp, "experts!=0", OPTION, "parallelism.expert_data_parallel_size", "{expert_copies}")
    /* context.py: without experts ranks go tp-cp-dp-pp, with them tp-cp-pp-dp. */
    KEY(rank_order, "experts=0 stages_first=false", NOTE, S "ranks go tp-cp-dp-pp, as it numbers them")
    KEY(rank_order, "experts=0 stages_first=true", LACK, S "tp-pp-dp: it numbers ranks tp-cp-dp-pp")
    KEY(rank_order, "experts!=0 stages_beside=false", LACK, S "tp-dp-pp: with experts it numbers ranks tp-cp-pp-dp")
    KEY(rank_order, "experts!=0 stages_beside=true", NOTE, S "ranks go tp-cp-pp-dp, as it numbers them with experts")
    KEY(rank_order, "experts!=0 stages_first=true cp!=1", LACK, S "it keeps cp beside tp, the plan has it beside dp")

    /* ---- the pipeline ---- */
    KEY(schedule, "pp!=1 order=1f1b", OPTION, "parallelism.pp_engine", "1f1b")
    KEY(schedule, "pp!=1 order=gpipe", OPTION, "parallelism.pp_engine", "afab")
    KEY(schedule, "pp!=1 order!=1f1b,gpipe", LACK, S "{order}: its engines are 1f1b and afab (GPipe); 1f1b stands below")
    KEY(schedule, "pp!=1 order!=1f1b,gpipe", OPTION, "parallelism.pp_engine", "1f1b")
    KEY(chunks, "", NONE, S "{no}virtual stages")
    KEY(p2p, "", NONE, S "its engine sends and receives in turn")
    KEY(stage_layers, "pp=1", NOTE, S "one stage has all of them")
    KEY(stage_layers, "pp!=1 even=true", NOTE, S "equal, as it divides blocks by their cost")
    KEY(stage_layers, "pp!=1 even=false", LACK, S "uneven stages: it divides blocks by their cost itself")
    KEY(embedding, "", NONE, S "it reduces a tied embedding over the stages that hold it")

    /* ---- inside a layer ---- */
    KEY(sequence_parallel, "sequence_parallel=true", OPTION, "parallelism.tp_mode", "REDUCE_SCATTER")
    KEY(sequence_parallel, "sequence_parallel=false", OPTION, "parallelism.tp_mode", "ALL_REDUCE")
    KEY(overlap_tp, "", OPTION, "parallelism.tp_linear_async_communication", "{overlap_tp}")
    KEY(attention, "attention=flash", NOTE, S "FlashAttention; which release is the container's")
    KEY(attention, "attention=flash-2", OPTION, "model.model_config._attn_implementation", "flash_attention_2")
    KEY(attention, "attention!=flash,flash-2", LACK, S "{attention}: {no}kernel but FlashAttention's")

    /* ---- replicas ---- */
    KEY(zero, "zero=0,1", OPTION, "optimizer.zero_stage", "{zero}")
    KEY(zero, "zero=2,3", LACK, S "{zero}: replicas divide the optimiser's state alone; 1 stands below")
    KEY(zero, "zero=2,3", OPTION, "optimizer.zero_stage", "1")
    KEY(zero_ranks, "zero_whole=true", NOTE, S "all replicas, as it divides")
    KEY(zero_ranks, "zero_whole=false", LACK, S "groups of {zero_ranks}: it divides over all replicas")
    KEY(zero_exchange, "", NONE, S "its optimiser gathers parameters")
    KEY(reshard, "", NONE, S "parameters are not gathered for passes")
    KEY(gradient_sync, "", NONE, S "parameters are not divided")
    KEY(overlap, "overlap=gradient", NOTE, S "gradients are reduced beside the backward pass, always (DDP)")
    KEY(overlap, "overlap=none replicas=1", NOTE, S "there is nothing to reduce")
    KEY(overlap, "overlap=none replicas!=1", LACK, S "none: it always reduces gradients beside the backward pass (DDP)")
    KEY(bucket, "overlap=none", NOTE, S "nothing goes in buckets of a stated size")
    KEY(bucket, "overlap=gradient bucket_chosen=true", OPTION, "model.ddp_bucket_cap_mb", "{bucket_MiB}")
    KEY(bucket, "overlap=gradient bucket_chosen=false", NOTE,
        S "of its own size, as nobody chose one; {bucket_MiB} MiB were priced")

    /* ---- experts ---- */
    KEY(dispatch_ranks, "", NONE, S "{no}option for one copy of a token for several experts")
    KEY(overlap_experts, "", NONE, S "{no}option that hides the experts' all-to-all")

    /* ---- memory ---- */
    KEY(recompute, "recomputes=none", OPTION, "parallelism.recompute_layer", "false")
    KEY(recompute, "recomputes=full", OPTION, "parallelism.recompute_layer", "true")
    KEY(recompute, "recomputes!=none,full", LACK, S "{recompute}: it recomputes whole layers or none")
    KEY(recompute_layers, "recompute_layers=0", NOTE, S "all layers, where they recompute")
    KEY(recompute_layers, "recompute_layers!=0", LACK, S "{recompute_layers}: it recomputes all layers or none")
    KEY(offload, "", NONE, S "{no}option that keeps something in the host's memory")
    KEY(offload_layers, "", NONE, S "{no}option that keeps something in the host's memory")

    /* ---- kernels ---- */
    KEY(graphs, "", NONE, S "{no}graphs of a training step")
    KEY(accumulation, "", NOTE, S "apart: autograd adds gradients up in kernels of their own")
    KEY(loss, "tp=1", NOTE, S "{loss}: the model's configuration has an eager loss")
    KEY(loss, "tp!=1 loss=parallel", NOTE, S "parallel, as it divides the loss over tp")
    KEY(loss, "tp!=1 loss!=parallel", LACK, S "{loss}: it divides an eager loss over tp")

    /* ---- batches ---- */
    KEY(global_batch, "", OPTION, "tokens.batch_accumulation_per_replica", "{micro_batches}")
    KEY(micro_batch, "", OPTION, "tokens.micro_batch_size", "{micro_batch}")
    KEY(iterations, "steps=none", NOTE, S "none stated; give tokens.train_steps")
    KEY(iterations, "steps!=none", OPTION, "tokens.train_steps", "{steps}")

    /* ---- number formats ---- */
    REST(PRECISION, "dtype=bf16", OPTION, "model.dtype", "bfloat16")
    REST(PRECISION, "dtype=fp16", OPTION, "model.dtype", "float16")
    REST(PRECISION, "dtype=fp32", OPTION, "model.dtype", "float32")
    REST(PRECISION, "dtype!=bf16,fp16,fp32", LACK, S "{dtype}: {no}option for it")
    REST(PRECISION, "gradient_dtype=fp32", OPTION, "optimizer.accumulate_grad_in_fp32", "true")
    REST(PRECISION, "gradient_dtype!=fp32", OPTION, "optimizer.accumulate_grad_in_fp32", "false")
    REST(PRECISION, "optimizer_8_bit=true", LACK, S "optimizer_state 8-bit: {no}option for it")

    /* ---- the model ---- */
    REST(MODEL, "", OPTION, "tokens.sequence_length", "{sequence}")
    REST(MODEL, "experts=0 windows=none", OPTION, "model.model_config.is_llama_config", "true")
    REST(MODEL, "experts=0 windows!=none", OPTION, "model.model_config.is_qwen2_config", "true")
    REST(MODEL, "experts!=0", OPTION, "model.model_config.is_qwen2_config", "true")
    REST(MODEL, "", OPTION, "model.model_config.num_hidden_layers", "{layers}")
    REST(MODEL, "", OPTION, "model.model_config.hidden_size", "{hidden}")
    REST(MODEL, "", OPTION, "model.model_config.intermediate_size", "{ffn}")
    REST(MODEL, "", OPTION, "model.model_config.num_attention_heads", "{heads}")
    REST(MODEL, "", OPTION, "model.model_config.num_key_value_heads", "{kv_heads}")
    REST(MODEL, "", OPTION, "model.model_config.max_position_embeddings", "{sequence}")
    REST(MODEL, "", OPTION, "model.model_config.vocab_size", "{vocabulary}")
    REST(MODEL, "", OPTION, "model.model_config.tie_word_embeddings", "{tied}")
    REST(MODEL, "rotary_stated=true", OPTION, "model.model_config.rope_theta", "{rotary_base}")
    REST(MODEL, "experts!=0", OPTION, "model.model_config.moe_config.num_experts", "{experts}")
    REST(MODEL, "experts!=0", OPTION, "model.model_config.moe_config.top_k", "{experts_per_token}")
    REST(MODEL, "experts!=0", OPTION, "model.model_config.moe_config.moe_intermediate_size", "{expert_ffn}")
    REST(MODEL, "experts!=0 shared_ffn!=0", OPTION, "model.model_config.moe_config.enable_shared_expert", "true")
    REST(MODEL, "experts!=0 shared_ffn!=0", OPTION,
        "model.model_config.moe_config.shared_expert_intermediate_size", "{shared_ffn}")
    REST(MODEL, "experts!=0 dense_layers!=0", LACK, S "{dense_layers} dense layers: list the others as moe_config.layers")
    REST(MODEL, "windows=all", OPTION, "model.model_config.sliding_window_size", "{window}")
    REST(MODEL, "windows=some", LACK, S "windows: all layers have the same")
    REST(MODEL, "narrow_attention=true", LACK, S "attention_dtype: {no}attention of 8 bits")
    REST(MODEL, "narrow_logits=true", LACK, S "logits_dtype: {no}logits of 8 bits")
    REST(MODEL, "both_ways=true", LACK, S "causal: its models attend to tokens before alone")
    REST(MODEL, "gated=false", LACK, S "an MLP without gate: its models are Llama's and Qwen2's")
    REST(MODEL, "norm_biases=true", LACK, S "LayerNorm: its models have RMSNorm")
    REST(MODEL, "positions=true", LACK, S "learned positions: its models rotate")
    REST(MODEL, "heads_fill_hidden=false kv_latent=0", LACK, S "heads of {head_dim}: its heads fill the hidden size")
    REST(MODEL, "kv_latent!=0", LACK, S "latent attention: {no}option for it")
    REST(MODEL, "hybrid=true", LACK, S "pattern: {no}layers of several kinds")
    REST(MODEL, "own_blocks=true", LACK, S "blocks: {no}layers of several blocks, recurrent ones, gates or indexers")
    REST(MODEL, "lora_rank!=0", LACK, S "lora_rank: {no}adapters beside frozen weights")
    REST(MODEL, "predicted!=0", LACK, S "predicted_tokens: {no}layers that predict further tokens")
    REST(MODEL, "", NOTE, S "data, tokenizer, checkpoints, optimiser and learning rate are yours to add")
    {0, 0, NULL, FR_EMIT_NOTE, NULL, NULL}};
/* clang-format on */

/* A search tries no other values. */
static const char *const able[] = {"schedule=1f1b,gpipe",
                                   "chunks=1",
                                   "overlap=gradient",
                                   "zero=0,1",
                                   "recompute=none,full",
                                   "offload=none",
                                   "overlap_experts=false",
                                   "method=tensor",
                                   "compression.backward.scope=none",
                                   "compression.gradient.stages=0",
                                   "compression.embedding=separate",
                                   NULL};

/* ---- YAML: a dot of a name is an object around the rest ------------------------------------------ */

/* Is it the first line whose name begins with these letters? */
static bool is_first(const struct fr_emitted *e, int i, size_t length) {
    for (int k = 0; k < i; k++)
        if (strncmp(e->line[k].name, e->line[i].name, length) == 0) return false;
    return true;
}

/* The fields of the object that the first @p length letters of line @p of name. */
static void put_object(const struct fr_emitted *e, int of, size_t length, int depth,
                       struct fr_text *text) {
    for (int i = of; i < e->n; i++) {
        const struct fr_emit_line *line = &e->line[i];
        if (!line->name[0] || strncmp(line->name, e->line[of].name, length) != 0) continue;
        const size_t field = length + strcspn(line->name + length, ".");
        const bool inner = line->name[field] == '.';
        char key[sizeof line->name];
        if (inner && !is_first(e, i, field + 1)) continue;
        size_t n = 0;
        while (length + n < field) key[n] = line->name[length + n], n++;
        key[n] = '\0';
        for (int k = 0; k < depth; k++) fr_script_piece(text, "  ");
        fr_script_word(text, FR_SCRIPT_BASH, key);
        fr_script_piece(text, inner ? ":\n" : ": ");
        if (inner) {
            put_object(e, i, field + 1, depth + 1, text);
            continue;
        }
        fr_script_word(text, FR_SCRIPT_BASH, line->text);
        fr_script_piece(text, "\n");
    }
}

static void write_configuration(const struct fr_emitted *e, struct fr_text *text) {
    fr_script_piece(text, "cat > nanotron.yaml <<'END'\n");
    put_object(e, 0, 0, 0, text);
    fr_script_piece(text, "END\n");
}

const struct fr_emitter fr_emitter_nanotron = {
    .name = "nanotron",
    .framework = "nanotron",
    .no = "nanotron has no ",
    .runtimes = "nanotron",
    .version = "huggingface/nanotron at 009b8f716603 (2025)",
    .shared = FR_EMIT_OTHERS,
    .rows = rows,
    .able = able,
    .write = write_configuration,
    .program = "run_train.py --config-file nanotron.yaml ",
};
