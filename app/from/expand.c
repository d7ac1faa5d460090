#include "app/from/expand.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "answer/trainer/plan.h"
#include "base/alloc.h"
#include "base/escape.h"
#include "base/file/collect.h"

void fr_app_tell(const struct fr_text *stated) {
    struct fr_text shown = {0};
    fr_escape_terminal(&shown, fr_text_get(stated), stated->length);
    fr_note("%s", fr_text_get(&shown));
    fr_text_free(&shown);
}

static fr_status out_of_memory(struct fr_error *err) {
    return fr_fail(err, FR_ERR_NOMEM, NULL, "out of memory");
}

/* A word that lives until the verb has run. */
static const char *keep(struct fr_app_from *from, const char *text) {
    char **more = fr_realloc(from->word, (size_t)from->n + 1, sizeof *more);
    if (!more) return NULL;
    from->word = more;
    char *word = fr_strdup(text);
    if (word) from->word[from->n++] = word;
    return word;
}

/* Options in front of those of the line. */
struct added {
    const struct fr_option *option[FR_ARGS_MAX];
    const char *value[FR_ARGS_MAX];
    int n;
};

static fr_status add(struct added *added, const struct fr_option *option, const char *text,
                     struct fr_app_from *from, struct fr_error *err) {
    if (!option || added->n == FR_ARGS_MAX) return FR_OK;
    const char *word = keep(from, text);
    if (!word) return out_of_memory(err);
    added->option[added->n] = option;
    added->value[added->n++] = word;
    return FR_OK;
}

static fr_status put_in_front(struct fr_args *args, const struct added *added,
                              struct fr_error *err) {
    if (args->n_options + added->n > FR_ARGS_MAX)
        return fr_fail(err, FR_ERR_USAGE, NULL, "more than %d options", FR_ARGS_MAX);
    memmove(args->option + added->n, args->option,
            (size_t)args->n_options * sizeof *args->option);
    memmove(args->value + added->n, args->value, (size_t)args->n_options * sizeof *args->value);
    memcpy(args->option, added->option, (size_t)added->n * sizeof *args->option);
    memcpy(args->value, added->value, (size_t)added->n * sizeof *args->value);
    args->n_options += added->n;
    args->n_read += added->n;
    return FR_OK;
}

/* Keys of a model that say how it is trained, not what it is: they hold beside a model of the line's own, too. */
static bool is_of_training(const char *key) {
    static const char *const keys[] = {
        "model.sequence",     "model.dtype",        "model.gradient_dtype",
        "model.weight_dtype", "model.global_batch", "model.defaults",
        "model.lora_rank",    "model.lora_on",      NULL};
    for (int i = 0; keys[i]; i++)
        if (strcmp(keys[i], key) == 0) return true;
    return false;
}

static bool starts(const char *key, const char *word) {
    return strncmp(key, word, strlen(word)) == 0;
}

/* Bytes of a file's name that a model's can hold, whole letters. */
static int name_length(const char *name) {
    const size_t most = sizeof((struct fr_workload *)0)->name - 1;
    size_t n = strcspn(name, "\"\\\n\t");
    if (n > most)
        for (n = most; n && ((unsigned char)name[n] & 0xC0) == 0x80; n--) {
        }
    return (int)n;
}

static fr_status add_row(const struct fr_verb *verb, const struct fr_run_row *row,
                         const char *path, bool own_model, struct added *added,
                         struct fr_app_from *from, struct fr_error *err) {
    const struct fr_option *set = fr_option_find(verb->options, "set");
    const char *base = fr_run_row_get(row, "model"), *slash = strrchr(path, '/');
    char text[400];
    if (!own_model && fr_trainer_has_model(row)) {
        const char *name = slash ? slash + 1 : path;
        snprintf(text, sizeof text, "{\"kind\": \"transformer\", \"name\": \"%.*s\"}",
                 name_length(name), name);
        FR_TRY(
            add(added, fr_option_find(verb->options, "model"), base ? base : text, from, err));
    }
    for (int i = 0; i < row->n; i++) {
        const char *key = row->item[i].key;
        bool model = starts(key, "model."), wanted = model || starts(key, "plan.") ||
                                                     starts(key, "runtime.") ||
                                                     strcmp(key, "runtime") == 0;
        if (!wanted || (model && own_model && !is_of_training(key))) continue;
        snprintf(text, sizeof text, "%.47s=%.143s", key, row->item[i].value);
        FR_TRY(add(added, set, text, from, err));
    }
    return FR_OK;
}

/* Values given by hand stand for settings that no plan can state. */
static void give_sets(const struct fr_args *args, struct fr_run_row *row) {
    const char *sets[FR_ARGS_MAX];
    const int n = fr_args_all(args, "set", sets);
    for (int i = 0; i < n; i++) {
        char key[48];
        const char *equals = strchr(sets[i], '='), *dot = strchr(sets[i], '.');
        if (!equals || equals - sets[i] > 40) continue;
        snprintf(key, sizeof key, "%s%.*s", dot && dot < equals ? "" : "plan.",
                 (int)(equals - sets[i]), sets[i]);
        fr_run_row_set(row, key, "%.140s", equals + 1);
    }
}

static fr_status expand(const struct fr_verb *verb, struct fr_args *args, const char *path,
                        struct added *added, struct fr_app_from *from, struct fr_error *err) {
    struct fr_run_row *row = fr_calloc(1, sizeof *row);
    struct fr_text stated = {0};
    const char *ignore[FR_ARGS_MAX];
    bool own = fr_args_get(args, "model") != NULL;
    if (!row) return out_of_memory(err);
    int n = fr_args_all(args, "ignore", ignore);
    give_sets(args, row);
    int before = row->n;
    fr_status status = fr_trainer_read_file(path, ignore, n, row, &stated, err);
    if (status == FR_OK && !own && !fr_trainer_has_model(row)) {
        fr_app_tell(&stated); /* which model it names */
        status = fr_fail(err, FR_ERR_INPUT, path, "does not describe the model; give --model");
    }
    if (status == FR_OK && !own) status = fr_trainer_check_model(row, path, "--set", err);
    if (status == FR_OK && !fr_run_row_get(row, "plan.dp"))
        fr_text_addf(&stated, "%s does not say how many replicas train; give --set dp=N\n",
                     path);
    if (status == FR_OK) {
        memmove(row->item, row->item + before, (size_t)(row->n - before) * sizeof *row->item);
        row->n -= before;
        status = add_row(verb, row, path, own, added, from, err);
    }
    if (status == FR_OK) fr_app_tell(&stated);
    fr_text_free(&stated);
    free(row);
    return status;
}

/* --plan of a trainer's file: its plan as JSON, in place of the file's name. */
static bool states_plan(const struct fr_run_row *row) {
    for (int i = 0; i < row->n; i++)
        if (starts(row->item[i].key, "plan.")) return true;
    return false;
}

static fr_status replace_plan(struct fr_args *args, struct fr_app_from *from,
                              struct fr_error *err) {
    struct fr_run_row *row;
    struct fr_text stated = {0}, plan = {0};
    const char *ignore[FR_ARGS_MAX];
    fr_status status = FR_OK;
    for (int i = 0; i < args->n_options && status == FR_OK; i++) {
        if (strcmp(args->option[i]->name, "plan") != 0 || !args->value[i]) continue;
        if (!fr_trainer_is_file(args->value[i])) continue;
        row = fr_calloc(1, sizeof *row);
        if (!row) return out_of_memory(err);
        int n = fr_args_all(args, "ignore", ignore);
        status = fr_trainer_read_file(args->value[i], ignore, n, row, &stated, err);
        const bool stated_any = status == FR_OK && states_plan(row); /* a log may have steps alone */
        if (stated_any) status = fr_trainer_plan_text(row, &plan, err);
        const char *word = stated_any && status == FR_OK ? keep(from, fr_text_get(&plan)) : NULL;
        if (stated_any && status == FR_OK && !word) status = out_of_memory(err);
        if (word) args->value[i] = word;
        if (word) fr_app_tell(&stated);
        free(row);
        fr_text_free(&plan);
        fr_text_free(&stated);
    }
    return status;
}

fr_status fr_app_from_expand(const struct fr_verb *verb, struct fr_args *args,
                             struct fr_app_from *from, struct fr_error *err) {
    const char *path = fr_args_get(args, "from");
    if (fr_option_find(verb->options, "plan")) FR_TRY(replace_plan(args, from, err));
    /* Verbs whose --from is a trainer's file have --ignore too; that of validate and plot is another. */
    if (!path || !fr_option_find(verb->options, "model") ||
        !fr_option_find(verb->options, "ignore"))
        return FR_OK;
    struct added *added = fr_calloc(1, sizeof *added);
    if (!added) return out_of_memory(err);
    fr_status status = expand(verb, args, path, added, from, err);
    if (status == FR_OK) status = put_in_front(args, added, err);
    free(added);
    return status;
}

void fr_app_from_free(struct fr_app_from *from) {
    for (int i = 0; i < from->n; i++) free(from->word[i]);
    free(from->word);
    *from = (struct fr_app_from){0};
}
