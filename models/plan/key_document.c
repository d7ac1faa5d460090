#include "models/plan/key_document.h"

#include <stdio.h>
#include <string.h>

#include "base/json/schema.h"
#include "models/plan/key.h"

/* Its type where the row has it all. @return false: it is as it was */
static bool put_type(struct fr_json_writer *w, const struct fr_plan_key *key) {
    if (key->type == &fr_plan_integer || key->type == &fr_plan_number) {
        fr_json_add_string(w, "type", key->type == &fr_plan_integer ? "integer" : "number");
        fr_json_add_number(w, "minimum", key->least);
        fr_json_add_number(w, "maximum", key->most);
    } else if (key->type == &fr_plan_choice || key->type == &fr_plan_row) {
        fr_json_add_array(w, "enum");
        for (int i = 0; key->words[i]; i++) fr_json_put_string(w, key->words[i]);
        fr_json_end_array(w);
    } else if (key->type == &fr_plan_bool) {
        fr_json_add_string(w, "type", "boolean");
    } else if (key->type == &fr_plan_size) {
        fr_json_add_string(w, "$ref", "#/$defs/size");
    } else
        return false;
    return true;
}

static void put_key(struct fr_json_writer *w, const struct fr_plan_key *key,
                    const struct fr_json *was) {
    char plain[256], comment[280];
    if (!put_type(w, key)) fr_schema_as_it_was(w, was);
    fr_schema_describe(w, key->help);
    snprintf(comment, sizeof comment, "default: %s",
             fr_plan_key_default(key, plain, sizeof plain));
    fr_json_add_string(w, "$comment", comment);
}

/* Rows from @p i on that stand in the object @p prefix, which ends with a dot or is "". @return the next row */
static int put_object(struct fr_json_writer *w, int i, const char *prefix,
                      const struct fr_json *old) {
    const size_t in = strlen(prefix);
    struct fr_json was = fr_json_member(old, "properties");
    fr_json_add_object(w, "properties");
    while (i < FR_PLAN_KEYS && strncmp(fr_plan_keys[i].name, prefix, in) == 0) {
        const char *name = fr_plan_keys[i].name + in;
        size_t length = strcspn(name, ".");
        char key[96], inner[200];
        snprintf(key, sizeof key, "%.*s", (int)length, name);
        snprintf(inner, sizeof inner, "%s%s.", prefix, key);
        struct fr_json before = fr_json_member(&was, key);
        fr_json_add_object(w, key);
        if (name[length]) {
            fr_json_add_string(w, "type", "object");
            i = put_object(w, i, inner, &before);
        } else
            put_key(w, &fr_plan_keys[i++], &before);
        fr_json_end_object(w);
    }
    fr_json_end_object(w);
    fr_json_add_bool(w, "additionalProperties", false);
    return i;
}

void fr_plan_keys_schema(const struct fr_json *old, struct fr_text *text) {
    static const char *const head[] = {"$schema", "title", "description", "type", NULL},
                             *const foot[] = {"$defs", NULL};
    struct fr_json_writer w = {.text = text, .indent = 1};
    fr_json_begin_object(&w);
    fr_schema_keep(&w, old, head);
    put_object(&w, 0, "", old);
    fr_schema_keep(&w, old, foot);
    fr_json_end_object(&w);
}

void fr_plan_keys_table(struct fr_text *text) {
    fr_text_addf(text, "| key | values | meaning | needs | default |\n|---|---|---|---|---|\n");
    for (int i = 0; i < FR_PLAN_KEYS; i++) {
        fr_plan_key_document(&fr_plan_keys[i], text);
        fr_text_addf(text, "\n");
    }
}
