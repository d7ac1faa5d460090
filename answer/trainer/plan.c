#include "answer/trainer/plan.h"

#include <stdlib.h>
#include <string.h>

#include "answer/trainer/trainer.h"
#include "base/file.h"

static const char prefix[] = "plan.";
enum { PREFIX = sizeof prefix - 1, SCRIPT_MAX_B = 1 << 28 };

bool fr_trainer_is_file(const char *path) {
    char *text = NULL;
    size_t length = 0;
    const char *dot = strrchr(path, '.');
    bool table = dot && strcmp(dot, ".csv") == 0; /* whose cells may hold anything */
    if (table || strcmp(path, "-") == 0 || *path == '{' || !fr_file_holds(path)) return false;
    if (fr_file_read(path, SCRIPT_MAX_B, &text, &length, NULL) != FR_OK) return false;
    bool is = fr_trainer_of(text, length) != NULL;
    free(text);
    return is;
}

fr_status fr_trainer_read_file(const char *path, const char *const *ignore, int n_ignore,
                               struct fr_run_row *row, struct fr_text *stated,
                               struct fr_error *err) {
    const struct fr_trainer_ask ask = {.ignore = ignore, .n_ignore = n_ignore};
    struct fr_trainer_result trained = {.by = NULL};
    char *text = NULL;
    size_t length = 0;
    FR_TRY(fr_file_read(path, SCRIPT_MAX_B, &text, &length, err));
    fr_status status = fr_trainer_read(&ask, text, length, path, row, &trained, err);
    free(text);
    fr_text_add(stated, fr_text_get(&trained.stated), trained.stated.length);
    fr_trainer_result_free(&trained);
    return status;
}

fr_status fr_trainer_plan_text(const struct fr_run_row *row, struct fr_text *text,
                               struct fr_error *err) {
    struct fr_json_document *document = NULL;
    FR_TRY(fr_json_parse("{}", 2, "plan", &document, err));
    fr_status status = FR_OK;
    for (int i = 0; i < row->n && status == FR_OK; i++)
        if (strncmp(row->item[i].key, prefix, PREFIX) == 0)
            status = fr_json_set(document, row->item[i].key + PREFIX, row->item[i].value,
                                 "plan", err);
    struct fr_json_writer w = {.text = text};
    struct fr_json root = fr_json_root(document);
    if (status == FR_OK) fr_json_put_copy(&w, &root);
    fr_json_free(document);
    if (status == FR_OK && text->failed)
        status = fr_fail(err, FR_ERR_NOMEM, NULL, "out of memory");
    return status;
}

fr_status fr_trainer_check_model(const struct fr_run_row *row, const char *path,
                                 const char *option, struct fr_error *err) {
    static const struct {
        const char *key, *what;
    } needed[] = {{"model.vocabulary", "how many words its tokenizer has"},
                  {"model.heads", "how many heads its attention has"},
                  {"model.sequence", "how many tokens a sample has"}};
    const char *pattern = fr_run_row_get(row, "model.pattern");
    const bool attends = !pattern || strchr(pattern, '*');
    for (size_t i = 0; i < sizeof needed / sizeof *needed && !fr_run_row_get(row, "model"); i++)
        if (!fr_run_row_get(row, needed[i].key) && (i != 1 || attends))
            return fr_fail(err, FR_ERR_INPUT, path, "does not say %s; give %s %s=N",
                           needed[i].what, option, needed[i].key);
    return FR_OK;
}

fr_status fr_trainer_check_ranks(const struct fr_run_row *row, const char *path,
                                 struct fr_error *err) {
    if (fr_run_row_get(row, "ranks") || fr_run_row_get(row, "plan.dp")) return FR_OK;
    return fr_fail(err, FR_ERR_INPUT, path,
                   "does not say how many devices trained; give --column ranks=N");
}

bool fr_trainer_has_model(const struct fr_run_row *row) {
    return fr_run_row_get(row, "model") ||
           (fr_run_row_get(row, "model.layers") && fr_run_row_get(row, "model.hidden"));
}
