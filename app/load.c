#include "app/load.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/escape.h"
#include "base/file.h"
#include "base/text/colour.h"
#include "models/job/runtime.h"
#include "models/outcome/rates.h"

static const char *runtime_of(const struct fr_args *args) {
    const char *name = fr_args_get(args, "runtime"), *year = fr_args_get(args, "defaults");
    return !name && year && strcmp(year, "2019") == 0 ? fr_runtime_2019 : name;
}

fr_status fr_app_runtime(const struct fr_args *args, const char **name, struct fr_error *err) {
    static const char *const words[] = {"2019", "modern", NULL};
    const char *all[FR_ARGS_MAX];
    int word = 0, n = fr_args_all(args, "runtime", all);
    *name = runtime_of(args);
    for (int i = 1; i < n; i++)
        if (strcmp(all[i], all[0]) != 0)
            return fr_fail(err, FR_ERR_USAGE, "--runtime",
                           "\"%.64s\" and \"%.64s\" are two runtimes: give one of them, or "
                           "both to forerun compare",
                           all[0], all[i]);
    return fr_args_choice(args, "defaults", words, &word, err);
}

fr_status fr_app_as_messages(const struct fr_args *args, bool *messages, struct fr_error *err) {
    static const char *const words[] = {"operations", "messages", NULL};
    int word = 0;
    fr_status status = fr_args_choice(args, "collectives", words, &word, err);
    *messages = word == 1;
    return status;
}

void fr_app_names(const struct fr_args *args, const char **sets, struct fr_job_names *names) {
    *names = (struct fr_job_names){.cluster = fr_args_get(args, "cluster"),
                                   .runtime = runtime_of(args),
                                   .model = fr_args_get(args, "model"),
                                   .plan = fr_args_get(args, "plan"),
                                   .sets = sets,
                                   .n_sets = fr_args_all(args, "set", sets)};
    names->n_sets += fr_args_all(args, "fix", sets + names->n_sets);
    const char *defaults = fr_args_get(args, "defaults");
    if (defaults && strcmp(defaults, "modern") == 0)
        sets[names->n_sets++] = FR_APP_DEFAULTS "modern";
    const char *flop = fr_args_get(args, "flop"), *pue = fr_args_get(args, "pue");
    names->palm_flop = flop && strcmp(flop, "palm") == 0;
    names->pue = pue ? strtod(pue, NULL) : 0; /* checked where trainings are read */
    if (fr_args_has(args, "undisturbed")) sets[names->n_sets++] = FR_APP_IDLE;
}

fr_status fr_app_cluster(const struct fr_args *args, char *own, const char **name,
                         struct fr_error *err) {
    *name = fr_args_get(args, "cluster");
    if (*name) return FR_OK;
    FR_TRY(fr_own_cluster(own, NULL, err));
    *name = own;
    return *own ? FR_OK : fr_args_required(args, "cluster", name, err);
}

fr_status fr_app_job_names(const struct fr_args *args, bool with_model, const char **sets,
                           char *own, struct fr_job_names *names, struct fr_error *err) {
    fr_app_names(args, sets, names);
    FR_TRY(fr_app_runtime(args, &names->runtime, err));
    names->model = NULL;
    FR_TRY(fr_app_cluster(args, own, &names->cluster, err));
    if (with_model) FR_TRY(fr_args_required(args, "model", &names->model, err));
    if (args->n_words > 0)
        return fr_fail(err, FR_ERR_USAGE, NULL, "unexpected word \"%.64s\"", args->word[0]);
    return FR_OK;
}

fr_status fr_app_load(const struct fr_args *args, bool with_model, struct fr_job *job,
                      struct fr_error *err) {
    const char *sets[FR_ARGS_MAX + 1];
    char own[FR_OWN_PATH_B];
    struct fr_job_names names;
    int word = 0;
    *job = (struct fr_job){0};
    FR_TRY(fr_args_choice(args, "flop", fr_rates_conventions, &word, err));
    FR_TRY(fr_app_job_names(args, with_model, sets, own, &names, err));
    return fr_job_load(&names, job, err);
}

static fr_status put(const struct fr_text *text, bool last, struct fr_error *err) {
    struct fr_text shown = {0}, coloured = {0};
    const struct fr_text *printed = text;
    if (!text->failed && !fr_is_plain(fr_text_get(text), text->length)) {
        fr_escape_terminal(&shown, text->data, text->length);
        printed = &shown;
    }
    if (!text->failed && fr_colours(STDOUT_FILENO)) { /* what is escaped is others' */
        fr_colour_answer(fr_text_get(printed), &coloured);
        printed = &coloured;
    }
    fr_status status = text->failed || shown.failed || coloured.failed
                           ? fr_fail(err, FR_ERR_NOMEM, NULL, "out of memory")
                           : FR_OK;
    if (status == FR_OK && last) status = fr_file_release(err);
    if (status == FR_OK)
        status = fr_file_write("-", fr_text_get(printed), printed->length, err);
    fr_text_free(&shown);
    fr_text_free(&coloured);
    return status;
}

fr_status fr_app_print(struct fr_text *text, struct fr_error *err) {
    fr_status status = put(text, true, err);
    fr_text_free(text);
    return status;
}

fr_status fr_app_print_part(struct fr_text *text, struct fr_error *err) {
    enum { PART_B = 1 << 20 };
    if (text->length < PART_B) return FR_OK;
    fr_status status = put(text, false, err);
    text->length = 0;
    return status;
}
