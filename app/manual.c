#include "app/manual.h"

#include <string.h>

#include "app/help.h"
#include "base/file.h"
#include "base/text/version.h"
#include "models/plan/key.h"

/* Signs that Markdown would read go after a backslash. */
static void plain(struct fr_text *text, const char *words) {
    for (; *words; words++)
        fr_text_addf(text, "%s%c", strchr("\\`*_<>[]#|", *words) ? "\\" : "", *words);
}

static void title(struct fr_text *text, const char *name, int section, const char *summary) {
    fr_text_addf(text,
                 "%% %s %d \"\" \"forerun %s\" \"Forerun\"\n\n"
                 "# NAME\n\n%s - ",
                 name, section, fr_version, name);
    plain(text, summary);
    fr_text_addf(text, "\n\n");
}

static void see_also(struct fr_text *text, const char *besides) {
    fr_text_addf(text,
                 "# EXIT STATUS\n\n0 ok, 1 failure at run time, 2 usage, 3 bad input, "
                 "4 nothing feasible, 5 partial result saved, 6 a run outside its "
                 "interval.\n\n# SEE ALSO\n\n"
                 "**forerun**(1), **forerun-plan**(5), **forerun-cluster**(5), "
                 "**forerun-runtime**(5), "
                 "**forerun-model**(5), **forerun-output**(5), **forerun-guide**(7)%s\n",
                 besides);
}

/* ---- verbs ------------------------------------------------------------------------------------ */

static void synopsis(struct fr_text *text, const struct fr_verb *verb) {
    fr_text_addf(text, "# SYNOPSIS\n\n");
    for (const char *line = verb->usage; *line;) {
        line += strspn(line, " ");
        size_t length = strcspn(line, "\n");
        struct fr_text words = {0};
        fr_text_add(&words, line, length);
        bool again = strncmp(line, "forerun ", 8) == 0;
        if (!again) fr_text_addf(text, "**forerun %s** ", verb->name);
        plain(text, fr_text_get(&words));
        fr_text_addf(text, "\n\n");
        fr_text_free(&words);
        line += length + (line[length] == '\n');
    }
}

/* A command as --help breaks it, indented by two more: of those, Markdown makes a block. */
static void block(struct fr_text *text, const char *command) {
    struct fr_text lines = {0};
    fr_help_details(&lines, command);
    for (const char *at = fr_text_get(&lines); *at; at += strcspn(at, "\n") + 1)
        fr_text_addf(text, "%s  %.*s", at == lines.data ? "" : "\n", (int)strcspn(at, "\n"),
                     at);
    fr_text_free(&lines);
}

/* Commands in a block of their own, as they are typed. */
static void details(struct fr_text *text, const char *lines) {
    bool command = false;
    fr_text_addf(text, "# DESCRIPTION\n\n");
    while (*lines) {
        size_t length = strcspn(lines, "\n");
        struct fr_text line = {0};
        fr_text_add(&line, lines, length);
        bool begins = strncmp(fr_text_get(&line), "  ", 2) == 0;
        if (begins != command) fr_text_addf(text, "\n");
        command = begins;
        if (command)
            block(text, line.data);
        else
            plain(text, fr_text_get(&line));
        fr_text_addf(text, "\n");
        fr_text_free(&line);
        lines += length + (lines[length] == '\n');
    }
    fr_text_addf(text, "\n");
}

static void words(struct fr_text *text, const struct fr_verb *verb) {
    fr_text_addf(text, "First word: ");
    for (int i = 0; verb->word(i); i++) {
        fr_text_addf(text, "%s", i ? ", " : "");
        plain(text, verb->word(i));
    }
    fr_text_addf(text, ".\n\n");
}

static void options(struct fr_text *text, const struct fr_verb *verb) {
    fr_text_addf(text, "# OPTIONS\n\n");
    for (const struct fr_option *o = verb->options; o->name; o++) {
        if (o->letter) fr_text_addf(text, "**-%c**, ", o->letter);
        fr_text_addf(text, "**--%s**", o->name);
        if (o->argument) {
            fr_text_addf(text, " ");
            plain(text, o->argument);
        }
        fr_text_addf(text, "\n: ");
        plain(text, o->help);
        fr_text_addf(text, "\n\n");
    }
}

void fr_manual_verb(struct fr_text *text, const struct fr_verb *verb) {
    char name[64];
    snprintf(name, sizeof name, "forerun-%s", verb->name);
    title(text, name, 1, verb->summary);
    synopsis(text, verb);
    if (verb->details) details(text, verb->details);
    if (verb->word) words(text, verb);
    options(text, verb);
    see_also(text, "");
}

void fr_manual_program(struct fr_text *text) {
    title(text, "forerun", 1,
          "what will this training run cost, and which configuration is best?");
    fr_text_addf(text,
                 "# SYNOPSIS\n\n**forerun** VERB [OPTIONS]\n\n# DESCRIPTION\n\n"
                 "Time, energy and memory of distributed training: predicted, searched, "
                 "simulated, calibrated on your own hardware and confirmed by real runs.\n\n"
                 "# COMMANDS\n\n");
    for (const struct fr_verb *const *v = fr_verbs; *v; v++) {
        fr_text_addf(text, "**forerun-%s**(1)\n: ", (*v)->name);
        plain(text, (*v)->summary);
        fr_text_addf(text, "\n\n");
    }
    fr_text_addf(text,
                 "# ENVIRONMENT\n\n**FORERUN_CLUSTER**\n: the cluster where --cluster is not "
                 "given\n\n**FORERUN_PATH**\n: folders with your own cluster/NAME.json and "
                 "model/NAME.json, see **forerun-config**(5)\n\n**FORERUN_DATA**\n: folder of "
                 "published measurements, for forerun-reproduce(1)\n\n**NO_COLOR**\n: "
                 "messages without colour\n\n");
    see_also(text, "");
}

/* ---- keys of a plan --------------------------------------------------------------------------- */

static void needs(struct fr_text *text, const struct fr_plan_key *key) {
    const char *between = " Read with ";
    for (int i = 0; fr_plan_need_names[i]; i++) {
        if (!(key->needs & UINT64_C(1) << i)) continue;
        fr_text_addf(text, "%s", between);
        plain(text, fr_plan_need_names[i]);
        between = " and ";
    }
    if (key->needs) fr_text_addf(text, ".");
}

void fr_manual_plan(struct fr_text *text) {
    char line[384];
    title(text, "forerun-plan", 5,
          "how a training is divided: the keys of plan.json and --set");
    fr_text_addf(text, "# DESCRIPTION\n\nA dot stands for an object of the file: "
                       "compression.codec is {\"compression\": {\"codec\": ...}}.  "
                       "**--set** and **--vary** take the same names, also with \"plan.\" "
                       "before them.\n\n# KEYS\n\n");
    for (int i = 0; i < FR_PLAN_KEYS; i++) {
        const struct fr_plan_key *key = &fr_plan_keys[i];
        fr_text_addf(text, "**%s**: %s", key->name, fr_plan_key_values(key, line, sizeof line));
        fr_text_addf(text, "\n: %s. Default: %s.", key->help,
                     fr_plan_key_default(key, line, sizeof line));
        needs(text, key);
        fr_text_addf(text, "\n\n");
    }
    see_also(text, "");
}

/* ---- files ------------------------------------------------------------------------------------ */

static fr_status put(const char *folder, const char *page, struct fr_text *text,
                     struct fr_error *err) {
    char path[4096];
    snprintf(path, sizeof path, "%s/%s.md", folder, page);
    fr_status status = text->failed ? fr_fail(err, FR_ERR_NOMEM, path, "out of memory")
                                    : fr_file_write(path, fr_text_get(text), text->length, err);
    fr_text_free(text);
    return status;
}

fr_status fr_manual_write(const char *path, struct fr_error *err) {
    struct fr_text text = {0};
    char page[64];
    fr_manual_program(&text);
    FR_TRY(put(path, "forerun.1", &text, err));
    fr_manual_plan(&text);
    FR_TRY(put(path, "forerun-plan.5", &text, err));
    for (const struct fr_verb *const *v = fr_verbs; *v; v++) {
        fr_manual_verb(&text, *v);
        snprintf(page, sizeof page, "forerun-%s.1", (*v)->name);
        FR_TRY(put(path, page, &text, err));
    }
    return FR_OK;
}
