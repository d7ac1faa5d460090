/* Primus: Megatron-LM's arguments as overrides of an experiment in YAML (examples/megatron/configs).  Keys are the
 * arguments' names inside Megatron-LM, so a negated option is its field with false. */
#include <string.h>

#include "answer/emit/framework/megatron.h"
#include "base/script/script.h"

/* Options that are called otherwise inside. */
static const struct {
    const char *option, *key, *value; /* NULL: the option's */
} names[] = {{"--disable-bias-linear", "add_bias_linear", "false"},
             {"--no-gradient-accumulation-fusion", "gradient_accumulation_fusion", "false"},
             {"--no-overlap-p2p-communication", "overlap_p2p_comm", "false"},
             {"--no-check-for-nan-in-loss-and-grad", "check_for_nan_in_loss_and_grad", "false"},
             {"--fp8-format", "fp8", NULL},
             {"--fp4-format", "fp4", NULL}};

static void put_key(const char *option, struct fr_text *text) {
    char key[96];
    size_t n = 0;
    for (option += strspn(option, "-"); option[n] && n + 1 < sizeof key; n++)
        key[n] = option[n] == '-' ? '_' : option[n];
    key[n] = '\0';
    fr_script_word(text, FR_SCRIPT_BASH, key);
}

/* Several words, or numbers between commas, are a list. */
static void put_value(const char *value, struct fr_text *text) {
    const bool numbers = strchr(value, ',') && !value[strspn(value, "0123456789,")],
               list = numbers || strchr(value, ' ');
    char word[FR_EMIT_TEXT];
    if (!list) {
        fr_script_word(text, FR_SCRIPT_BASH, *value ? value : "true");
        return;
    }
    fr_script_piece(text, "[");
    for (const char *at = value; *at; at += strspn(at, " ,")) {
        size_t n = 0;
        if (at != value) fr_script_piece(text, ", ");
        while (at[n] && at[n] != ' ' && at[n] != ',') word[n] = at[n], n++;
        word[n] = '\0';
        fr_script_word(text, FR_SCRIPT_BASH, word);
        at += n;
    }
    fr_script_piece(text, "]");
}

static void put_override(const struct fr_emit_line *line, struct fr_text *text) {
    const char *key = line->name, *value = line->text;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (strcmp(line->name, names[i].option) != 0) continue;
        key = names[i].key;
        value = names[i].value ? names[i].value : value;
    }
    fr_script_piece(text, "      ");
    put_key(key, text);
    fr_script_piece(text, ": ");
    put_value(value, text);
    fr_script_piece(text, "\n");
}

static void write_configuration(const struct fr_emitted *e, struct fr_text *text) {
    fr_script_piece(text, "cat > primus.yaml <<'END'\n"
                          "work_group: amd\n"
                          "user_name: root\n"
                          "exp_name: forerun\n"
                          "workspace: ./output\n"
                          "modules:\n"
                          "  pre_trainer:\n"
                          "    framework: megatron\n"
                          "    config: pre_trainer.yaml\n"
                          "    model: language_model.yaml\n"
                          "    overrides:\n");
    for (int i = 0; i < e->n; i++)
        if (e->line[i].name[0]) put_override(&e->line[i], text);
    fr_script_piece(text, "END\n");
}

/* A search tries no other values, as for Megatron-LM. */
static const char *const able[] = {
    "schedule=1f1b,interleaved",       "method=tensor",
    "compression.backward.scope=none", "compression.gradient.stages=0",
    "compression.embedding=separate",  NULL};

const struct fr_emitter fr_emitter_primus = {
    .name = "primus",
    .framework = "Primus",
    .no = "Primus has no ",
    .runtimes = "primus",
    .version = "AMD-AGI/Primus at 711b97cf7f87; options of Megatron-LM at d98e8a64ddf3",
    .shared = FR_EMIT_MEGATRON,
    .rows = fr_emit_megatron_rows,
    .able = able,
    .write = write_configuration,
    .program = "primus/cli/main.py train pretrain --config primus.yaml ",
};
