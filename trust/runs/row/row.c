/* Rows as readers make them: keys and values. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/describe/expression.h"
#include "models/job/preset.h"
#include "trust/runs/runs.h"

static const char overflow_key[] = "(too much)";

void fr_run_row_set(struct fr_run_row *row, const char *key, const char *fmt, ...) {
    int i = 0;
    while (i < row->n && strcmp(row->item[i].key, key) != 0) i++;
    if (i == FR_RUN_KEYS_MAX || strlen(key) >= sizeof row->item[0].key) {
        snprintf(row->item[0].key, sizeof row->item[0].key, "%s", overflow_key);
        return;
    }
    if (i == row->n) row->n++;
    snprintf(row->item[i].key, sizeof row->item[i].key, "%s", key);
    va_list args;
    va_start(args, fmt);
    int length = vsnprintf(row->item[i].value, sizeof row->item[i].value, fmt, args);
    va_end(args);
    if (length >= (int)sizeof row->item[i].value && strncmp(key, "note.", 5) != 0)
        snprintf(row->item[0].key, sizeof row->item[0].key, "%s", overflow_key);
}

const char *fr_run_row_get(const struct fr_run_row *row, const char *key) {
    for (int i = 0; i < row->n; i++)
        if (strcmp(row->item[i].key, key) == 0) return row->item[i].value;
    return NULL;
}

bool fr_run_find_model(const char *title, struct fr_run_row *out) {
    size_t longest = 0;
    for (const struct fr_preset *p = fr_presets; p->name; p++) {
        struct fr_json_document *document = NULL;
        if (strcmp(p->kind, "model") != 0) continue;
        if (fr_json_parse(p->text, p->length, p->name, &document, NULL) != FR_OK) continue;
        struct fr_json root = fr_json_root(document), list = fr_json_member(&root, "aliases");
        int64_t layers = 0;
        for (int64_t i = 0; i < fr_json_array_length(&list); i++) {
            struct fr_json one = fr_json_element(&list, i);
            const char *alias = NULL;
            if (fr_json_text(&one, &alias, NULL) != FR_OK || strlen(alias) <= longest) continue;
            if (!fr_text_mentions(title, alias)) continue;
            longest = strlen(alias);
            fr_run_row_set(out, "model", "%s", p->name);
            fr_json_get_integer(&root, "layers", false, 1, INT64_MAX, &layers, NULL);
            struct fr_json experts = fr_json_member(&root, "experts");
            fr_run_row_set(out, "note.model_layers", "%" PRId64, layers);
            fr_run_row_set(out, "note.experts", fr_json_present(&experts) ? "yes" : "no");
        }
        fr_json_free(document);
    }
    return longest > 0;
}
