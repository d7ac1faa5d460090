#include "base/script/command.h"

#include "base/script/script.h"

void fr_command_begin(struct fr_text *command, const char *ours) {
    fr_script_piece(command, ours);
}

void fr_command_option(struct fr_text *command, const char *name, const char *value) {
    fr_text_addf(command, "\n--%s", name);
    if (!value) return;
    fr_text_addf(command, " ");
    fr_script_word(command, FR_SCRIPT_BASH, value);
}

void fr_command_word(struct fr_text *command, const char *word) {
    fr_text_addf(command, "\n");
    fr_script_word(command, FR_SCRIPT_BASH, word);
}
