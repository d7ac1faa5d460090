/* Keys of a model: docs/schemas/model.json and the tables of docs/reference/model-keys.md, as the rows have them.  A key that is a
 * list or an object keeps what the schema has of it. */
#include "base/json/key.h"
#include "models/workload/workload.h"
#include "tests/documents/schema.h"

static const char file[] = "docs/schemas/model.json";

/* Member @p name of @p object of the schema of today, or an empty one. */
static void put_kept(struct fr_json_writer *w, const struct fr_json *properties,
                     const char *name) {
    struct fr_json kept = fr_json_member(properties, name);
    if (fr_json_present(&kept))
        fr_json_put_copy(w, &kept);
    else
        put(w, "{}");
}

static void add_row(struct fr_json_writer *w, const struct fr_json_key *key,
                    const struct fr_json *properties) {
    fr_json_key(w, key->name);
    if (key->type == FR_KEY_OTHER) {
        put_kept(w, properties, key->name);
        return;
    }
    fr_json_begin_object(w);
    if (key->type == FR_KEY_INTEGER) add_bounds(w, "integer", key->least, key->most);
    if (key->type == FR_KEY_NUMBER) add_bounds(w, "number", key->least, key->most);
    if (key->type == FR_KEY_QUANTITY) refer_to_quantity(w, "", key->quantity);
    if (key->type == FR_KEY_BOOL) fr_json_add_string(w, "type", "boolean");
    if (key->type == FR_KEY_CHOICE) add_words(w, key->words);
    if (key->type == FR_KEY_TEXT) {
        fr_json_add_string(w, "type", "string");
        if (key->most > 0) fr_json_add_number(w, "maxLength", key->most);
    }
    add_sentence(w, "description", key->help);
    if (*key->otherwise) {
        char text[256];
        snprintf(text, sizeof text, "default: %s", key->otherwise);
        add_sentence(w, "$comment", text);
    }
    fr_json_end_object(w);
}

static void define_kind(struct fr_json_writer *w, const struct fr_kind *kind,
                        const struct fr_json *defs) {
    const struct fr_json_key *const lists[] = {fr_workload_keys, kind->keys};
    struct fr_json old = fr_json_member(defs, kind->name),
                   properties = fr_json_member(&old, "properties");
    fr_json_add_object(w, kind->name);
    fr_json_add_string(w, "type", "object");
    fr_json_add_object(w, "properties");
    add_file_versions(w, "model");
    for (int k = 0; k < 2; k++)
        for (const struct fr_json_key *key = lists[k]; key->name; key++)
            add_row(w, key, &properties);
    fr_json_end_object(w);
    fr_json_add_array(w, "required");
    for (int k = 0; k < 2; k++)
        for (const struct fr_json_key *key = lists[k]; key->name; key++)
            if (key->required) fr_json_put_string(w, key->name);
    fr_json_end_array(w);
    fr_json_add_bool(w, "additionalProperties", false);
    fr_json_end_object(w);
}

static void schema(void **state) {
    struct fr_text text = {0};
    struct fr_json_writer w = {.text = &text, .indent = 1};
    struct fr_json_document *document = NULL;
    char *today = file_of_docs(FR_SOURCE_DIR "/docs/schemas/model.json");
    (void)state;
    assert_int_equal(fr_json_parse(today, strlen(today), file, &document, NULL), FR_OK);
    struct fr_json root = fr_json_root(document), defs = fr_json_member(&root, "$defs");
    begin_schema(&w, "A model: what is trained",
                 "What --model reads, and what forerun iterations and quality write. A Hugging "
                 "Face config.json is read besides; its schema is theirs.");
    fr_json_add_array(&w, "oneOf");
    for (int i = 0; fr_kinds[i]; i++) {
        char ref[64];
        snprintf(ref, sizeof ref, "#/$defs/%s", fr_kinds[i]->name);
        fr_json_begin_object(&w);
        fr_json_add_string(&w, "$ref", ref);
        fr_json_end_object(&w);
    }
    fr_json_end_array(&w);
    fr_json_add_object(&w, "$defs");
    for (int i = 0; fr_kinds[i]; i++) define_kind(&w, fr_kinds[i], &defs);
    fr_json_key(&w, "iterations");
    put_kept(&w, &defs, "iterations");
    fr_json_key(&w, "layer_profile");
    put_kept(&w, &defs, "layer_profile");
    define_quantity(&w, FR_QUANTITY_TIME);
    define_quantity(&w, FR_QUANTITY_SIZE);
    fr_json_end_object(&w);
    fr_json_end_object(&w);
    hold_file(file, fr_text_get(&text));
    fr_text_free(&text);
    fr_json_free(document);
    free(today);
}

static const char *bound(const struct fr_json_key *key, double value, char *out,
                         size_t capacity) {
    int power = 20;
    while (power < 63 && value != (double)((int64_t)1 << power)) power++;
    if (key->type == FR_KEY_QUANTITY)
        fr_quantity_format(value, key->quantity, out, capacity);
    else if (power < 63)
        snprintf(out, capacity, "2^%d", power);
    else
        fr_number_write(value, out, capacity);
    return out;
}

/* The accepted values of a key, in words: "1 to 2^20", "`layer`, `rms`", "a size".  @return @p out */
static const char *key_values(const struct fr_json_key *key, char *out, size_t capacity) {
    char least[40], most[40];
    size_t used = 0;
    *out = '\0';
    for (int i = 0; key->words && key->words[i]; i++)
        fr_line_addf(out, capacity, &used, "%s`%s`", i ? ", " : "", key->words[i]);
    if (key->type == FR_KEY_BOOL) fr_line_addf(out, capacity, &used, "`false`, `true`");
    if (key->type == FR_KEY_TEXT) fr_line_addf(out, capacity, &used, "words");
    if (key->type <= FR_KEY_QUANTITY)
        fr_line_addf(out, capacity, &used, "%s to %s",
                     bound(key, key->least, least, sizeof least),
                     bound(key, key->most, most, sizeof most));
    if (key->type == FR_KEY_OTHER) fr_line_addf(out, capacity, &used, "below");
    return out;
}

static void add_rows_of_table(struct fr_text *rows, const char *kind,
                              const struct fr_json_key *key) {
    for (; key->name; key++) {
        char values[256];
        fr_text_addf(rows, "| %s | `%s` | %s | %s | %s |\n", kind, key->name,
                     key_values(key, values, sizeof values), key->help,
                     key->required ? "asked for" : key->otherwise);
    }
}

static void table(void **state) {
    struct fr_text rows = {0};
    (void)state;
    add_rows_of_table(&rows, "all", fr_workload_keys);
    for (int i = 0; fr_kinds[i]; i++)
        add_rows_of_table(&rows, fr_kinds[i]->name, fr_kinds[i]->keys);
    hold_table("docs/reference/model-keys.md",
               "| kind | key | values | meaning | default |\n|---|---|---|---|---|\n",
               fr_text_get(&rows));
    fr_text_free(&rows);
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(schema), cmocka_unit_test(table)};
    return DOCUMENTS_MAIN(argc, argv, tests);
}
