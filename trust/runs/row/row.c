/* What readers make rows of: keys and values, and the cells that they take them from. */
#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "models/job/preset.h"
#include "trust/runs/runs.h"

/* ---- rows -------------------------------------------------------------------------------- */

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

/* ---- cells for readers ------------------------------------------------------------------- */

const char *fr_run_cell(const struct fr_run_source *in, const char *column) {
    const char *cell = fr_csv_get(in->csv, in->row, column);
    return cell ? cell : "";
}

bool fr_run_number(const struct fr_run_source *in, const char *column, double *value) {
    const char *cell = fr_run_cell(in, column);
    char *end = NULL;
    while (isspace((unsigned char)*cell)) cell++;
    if (!isdigit((unsigned char)*cell) && *cell != '.') return false;
    double number = strtod(cell, &end);
    if (*end == 'k' && !isalpha((unsigned char)end[1])) number *= 1000;
    if (end == cell || !isfinite(number)) return false;
    *value = number;
    return true;
}

bool fr_run_integer(const struct fr_run_source *in, const char *column, int64_t *value) {
    double number = 0;
    if (!fr_run_number(in, column, &number)) return false;
    if (number < 1 || number > 1e12 || number != floor(number)) return false;
    *value = (int64_t)number;
    return true;
}

bool fr_run_copy(const struct fr_run_source *in, const char *column, struct fr_run_row *out,
                 const char *key) {
    int64_t value = 0;
    if (!fr_run_integer(in, column, &value)) return false;
    fr_run_row_set(out, key, "%" PRId64, value);
    return true;
}

bool fr_run_mentions(const char *text, const char *word) {
    char plain[2][256];
    const char *from[2] = {text, word};
    for (int k = 0; k < 2; k++) {
        size_t n = 0;
        for (const char *c = from[k]; *c && n + 1 < sizeof plain[k]; c++)
            if (isalnum((unsigned char)*c)) plain[k][n++] = (char)tolower((unsigned char)*c);
        plain[k][n] = '\0';
    }
    return plain[1][0] && strstr(plain[0], plain[1]) != NULL;
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
            if (!fr_run_mentions(title, alias)) continue;
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
