#include "app/outputs.h"

#include <string.h>

#include "base/file.h"
#include "base/json.h"
#include "models/job/own.h"
#include "models/job/plan_document.h"
#include "models/job/preset.h"

enum { OUTPUTS_MAX = 8, NAME_MAX_B = 4096 };

fr_status fr_output_apart(const char *output, const char *input, struct fr_error *err) {
    const char *of_input = strcmp(input, "-") == 0 ? "/dev/stdin" : input;
    if (strcmp(output, "-") == 0 || !fr_file_same(output, of_input)) return FR_OK;
    return fr_fail(
        err, FR_ERR_USAGE, output,
        "is an input of this command too (%.300s); nothing was written: name another "
        "file",
        input);
}

/* "file:PLACEMENT", "smpi:PLATFORM words" and "./order.json" lead to a file; other values
 * hardly ever are the name of one, and never of an output. */
static fr_status value_apart(const char *output, const char *value, struct fr_error *err) {
    char name[NAME_MAX_B];
    size_t length = strlen(value);
    if (strncmp(value, "file:", 5) == 0 || strncmp(value, "smpi:", 5) == 0) {
        length = value[0] == 's' ? strcspn(value, " ") : length;
        value += 5, length -= 5;
    }
    if (length == 0 || length >= sizeof name) return FR_OK;
    memcpy(name, value, length);
    name[length] = '\0';
    return fr_output_apart(output, name, err);
}

/* Files that a plan names.  A plan that cannot be read is refused by its reader. */
static fr_status plan_apart(const char *output, const char *path, struct fr_error *err) {
    static const char *const naming[] = {"schedule", "placement", NULL};
    struct fr_json_document *plan = NULL;
    fr_status status = FR_OK;
    if (!fr_file_holds(path) || fr_plan_document_read(path, &plan, NULL) != FR_OK) return FR_OK;
    struct fr_json root = fr_json_root(plan);
    for (int i = 0; naming[i] && status == FR_OK; i++) {
        struct fr_json member = fr_json_member(&root, naming[i]);
        const char *value = NULL;
        if (fr_json_is_string(&member) && fr_json_text(&member, &value, NULL) == FR_OK)
            status = value_apart(output, value, err);
    }
    fr_json_free(plan);
    return status;
}

/* The user's own file that @p name stands for where it is neither a preset nor a file itself.  Settings that
 * cannot be read are refused by their reader. */
static fr_status own_apart(const char *output, const char *kind, const char *name,
                           struct fr_error *err) {
    char path[FR_OWN_PATH_B];
    if (fr_preset_find(kind, name) || fr_file_exists(name)) return FR_OK;
    if (fr_own_file(kind, name, path, NULL) != FR_OK || !*path) return FR_OK;
    return fr_output_apart(output, path, err);
}

/* The cluster that is meant where none is named. */
static fr_status usual_apart(const struct fr_verb *verb, const struct fr_args *args,
                             const char *output, struct fr_error *err) {
    char name[FR_OWN_PATH_B];
    const struct fr_option *option = verb->options;
    while (option->name && strcmp(option->name, "cluster") != 0) option++;
    if (!option->name || fr_args_get(args, "cluster")) return FR_OK;
    if (fr_own_cluster(name, NULL, NULL) != FR_OK || !*name) return FR_OK;
    FR_TRY(fr_output_apart(output, name, err));
    return own_apart(output, "cluster", name, err);
}

/* An output of every verb that has it. */
static const struct fr_output page = {"page", NULL, NULL};

static bool is_output(const struct fr_verb *verb, const struct fr_option *option) {
    if (strcmp(page.option, option->name) == 0) return true;
    for (const struct fr_output *o = verb->outputs; o && o->option; o++)
        if (strcmp(o->option, option->name) == 0) return true;
    return false;
}

static fr_status option_apart(const char *output, const struct fr_option *option,
                              const char *value, struct fr_error *err) {
    const char *takes = option->argument;
    if (!takes || !value) return FR_OK;
    if (strncmp(takes, "FILE", 4) == 0) {
        bool named = strcmp(option->name, "model") == 0 || strcmp(option->name, "runtime") == 0;
        const char *kind = named ? option->name : "cluster";
        FR_TRY(fr_output_apart(output, value, err));
        if (strcmp(takes, "FILE|PRESET") == 0) FR_TRY(own_apart(output, kind, value, err));
        return strcmp(option->name, "plan") == 0 ? plan_apart(output, value, err) : FR_OK;
    }
    if (strncmp(takes, "KEY=", 4) == 0 && strchr(value, '='))
        return value_apart(output, strchr(value, '=') + 1, err);
    return strchr(value, ':') ? value_apart(output, value, err) : FR_OK;
}

static fr_status apart(const struct fr_verb *verb, const struct fr_args *args,
                       const char *output, struct fr_error *err) {
    for (int i = 0; i < args->n_options; i++)
        if (!is_output(verb, args->option[i]))
            FR_TRY(option_apart(output, args->option[i], args->value[i], err));
    for (int i = verb->first_input; i < args->n_words; i++)
        FR_TRY(fr_output_apart(output, args->word[i], err));
    return usual_apart(verb, args, output, err);
}

/* Outputs that are already known on this line. */
struct known {
    const char *name[OUTPUTS_MAX];
    int n;
};

static fr_status check(const struct fr_verb *verb, const struct fr_args *args,
                       const struct fr_output *o, struct known *known, struct fr_error *err) {
    const char *given = fr_args_get(args, o->option);
    const char *output = given ? given : o->standard;
    if (!output || !*output || (o->unless && fr_args_has(args, o->unless))) return FR_OK;
    FR_TRY(apart(verb, args, output, err));
    if ((verb->asks || o == &page) && !fr_args_has(args, "force") && strcmp(output, "-") != 0 &&
        fr_file_holds(output))
        return fr_fail(err, FR_ERR_USAGE, output,
                       "is there already: -f replaces it, or name another file");
    for (int i = 0; i < known->n; i++)
        if (strcmp(output, "-") != 0 && fr_file_same(output, known->name[i]))
            return fr_fail(err, FR_ERR_USAGE, output,
                           "is to hold two outputs of this command: name two files");
    known->name[known->n++] = output;
    return FR_OK;
}

fr_status fr_outputs_check(const struct fr_verb *verb, const struct fr_args *args,
                           struct fr_error *err) {
    struct known known = {.n = 0};
    for (const struct fr_output *o = verb->outputs; o && o->option; o++)
        FR_TRY(check(verb, args, o, &known, err));
    FR_TRY(check(verb, args, &page, &known, err));
    const char *written = fr_args_get(args, page.option);
    return written ? fr_file_check_writable(written, err) : FR_OK;
}
