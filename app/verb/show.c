/* A preset, or the schema of a document, as the file that it is: to read, or to change and keep. */
#include <string.h>

#include "app/load.h"
#include "app/verb.h"
#include "models/job/preset.h"

static const struct fr_option options[] = {FR_OPTION_HELP, FR_OPTION_END};

static fr_status unknown(const char *name, struct fr_error *err) {
    const char *known[256] = {NULL};
    int n = 0;
    for (const struct fr_preset *p = fr_presets; p->name && n < 255; p++) known[n++] = p->name;
    char list[256];
    struct fr_meant meant = fr_meant(name, known);
    if (meant.count == 0)
        return fr_fail(
            err, FR_ERR_USAGE, NULL,
            "no preset is called \"%.40s\"; forerun list presets and schemas have them", name);
    return fr_fail(err, FR_ERR_USAGE, NULL, "no preset is called \"%.40s\"; did you mean %s?",
                   name, fr_meant_list(&meant, list, sizeof list));
}

static fr_status run(const struct fr_args *args, struct fr_error *err) {
    struct fr_text text = {0};
    if (args->n_words != 1)
        return fr_fail(err, FR_ERR_USAGE, NULL, "one preset: forerun show dgx-h100");
    for (const struct fr_preset *p = fr_presets; p->name; p++) {
        if (strcmp(p->name, args->word[0]) != 0) continue;
        fr_text_add(&text, p->text, p->length);
        if (p->length > 0 && p->text[p->length - 1] != '\n') fr_text_addf(&text, "\n");
        return fr_app_print(&text, err);
    }
    return unknown(args->word[0], err);
}

static const char *word(int i) {
    int n = 0;
    while (fr_presets[n].name && n < i) n++;
    return fr_presets[n].name;
}

const struct fr_verb fr_verb_show = {
    .name = "show",
    .summary = "a preset as the file that it is, to change and keep; a document's schema",
    .usage = "PRESET|SCHEMA",
    .details = "Example:\n"
               "  forerun show dgx-h100 > mine.json\n"
               "  forerun predict --cluster mine.json --model llama-3-8b\n"
               "A JSON Schema, one of forerun list schemas; all of them are installed too:\n"
               "  forerun show outcome > outcome.json\n",
    .options = options,
    .word = word,
    .run = run,
};
