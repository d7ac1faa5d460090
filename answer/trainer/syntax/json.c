/* A configuration in JSON: DeepSpeed's, Hugging Face's, torchtitan's as it prints it. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "answer/trainer/settings.h"
#include "base/json.h"

static bool knows(const char *text, size_t length) {
    size_t i = 0;
    while (i < length && isspace((unsigned char)text[i])) i++;
    return i < length && text[i] == '{';
}

/* A scalar, or a list of scalars as "[a, b]"; @return false of anything else. */
static bool scalar(const struct fr_json *node, struct fr_text *out) {
    const char *word = NULL;
    if (fr_json_is_object(node)) return false;
    if (fr_json_is_array(node)) {
        fr_text_addf(out, "[");
        for (int64_t i = 0; i < fr_json_array_length(node); i++) {
            struct fr_json one = fr_json_element(node, i);
            if (i) fr_text_addf(out, ", ");
            if (fr_json_is_array(&one) || !scalar(&one, out)) return false;
        }
        fr_text_addf(out, "]");
        return true;
    }
    if (fr_json_is_string(node) && fr_json_text(node, &word, NULL) == FR_OK) {
        fr_text_addf(out, "%s", word);
        return true;
    }
    struct fr_json_writer w = {.text = out};
    fr_json_put_copy(&w, node);
    return true;
}

static void add(const struct fr_json *node, const char *name, int depth,
                struct fr_settings *s) {
    const char *key = NULL;
    char full[256];
    struct fr_text value = {0};
    if (fr_json_is_object(node)) {
        while (depth < 12 && (key = fr_json_key_after(node, key))) {
            struct fr_json member = fr_json_member(node, key);
            int n = snprintf(full, sizeof full, "%s%s%s", name, *name ? "." : "", key);
            if (n > 0 && n < (int)sizeof full) add(&member, full, depth + 1, s);
        }
        return;
    }
    if (scalar(node, &value))
        fr_settings_add(s, name, strlen(name), fr_text_get(&value), value.length, 1);
    s->failed |= value.failed;
    fr_text_free(&value);
}

static void read(const char *text, size_t length, struct fr_settings *s) {
    struct fr_json_document *document = NULL;
    if (fr_json_parse(text, length, "configuration", &document, NULL) != FR_OK) return;
    struct fr_json root = fr_json_root(document);
    add(&root, "", 0, s);
    fr_json_free(document);
}

const struct fr_syntax fr_syntax_json = {
    .name = "JSON", .knows = knows, .read = read, .whole = true};
