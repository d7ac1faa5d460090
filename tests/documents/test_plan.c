/* Keys of a plan and reasons against one: docs/schemas/plan.json and tables of docs/reference/, as the rows have them. */
#include "models/plan/key.h"
#include "models/plan/reason.h"
#include "tests/documents/schema.h"

/* Modules that stand together: those after the words that stand alone, and "selective". */
static void add_modules(struct fr_json_writer *w, const char *const *words) {
    struct fr_text one = {0}, pattern = {0};
    int alone = 0;
    while (strcmp(words[alone], "core_attn") != 0) alone++;
    fr_text_addf(&one, "(core_attn|selective");
    for (int i = alone + 1; words[i]; i++) fr_text_addf(&one, "|%s", words[i]);
    fr_text_addf(&pattern, "^%s)(\\+%s))+$", fr_text_get(&one), fr_text_get(&one));
    fr_json_add_array(w, "anyOf");
    fr_json_begin_object(w);
    add_words(w, words);
    fr_json_end_object(w);
    fr_json_begin_object(w);
    fr_json_add_string(w, "type", "string");
    fr_json_add_string(w, "pattern", fr_text_get(&pattern));
    fr_json_end_object(w);
    fr_json_begin_object(w);
    fr_json_add_string(w, "type", "array");
    fr_json_add_object(w, "items");
    add_words(w, words);
    fr_json_end_object(w);
    fr_json_add_integer(w, "minItems", 1);
    fr_json_end_object(w);
    fr_json_end_array(w);
    fr_text_free(&one);
    fr_text_free(&pattern);
}

/* A word, or a value, or a list of such: @p value is a schema. */
static void add_list(struct fr_json_writer *w, const char *const *words, bool alone,
                     const char *value) {
    fr_json_add_array(w, "anyOf");
    fr_json_begin_object(w);
    add_words(w, words);
    fr_json_end_object(w);
    if (alone) put(w, value);
    fr_json_begin_object(w);
    fr_json_add_string(w, "type", "array");
    add(w, "items", value);
    fr_json_end_object(w);
    fr_json_end_array(w);
}

static void add_key(struct fr_json_writer *w, const char *name, const struct fr_plan_key *key) {
    char text[256], value[320];
    fr_json_add_object(w, name);
    if (key->type == &fr_plan_integer) add_bounds(w, "integer", key->least, key->most);
    if (key->type == &fr_plan_number) add_bounds(w, "number", key->least, key->most);
    if (key->type == &fr_plan_size) refer_to_quantity(w, "", FR_QUANTITY_SIZE);
    if (key->type == &fr_plan_bool) fr_json_add_string(w, "type", "boolean");
    if (key->type == &fr_plan_choice || key->type == &fr_plan_row) add_words(w, key->words);
    if (key->type == &fr_plan_modules) add_modules(w, key->words);
    if (key->type == &fr_plan_list) {
        snprintf(value, sizeof value, "{'type': 'integer', 'minimum': %.0f}",
                 key->least > 1 ? key->least : 1);
        add_list(w, key->words, false, value);
    }
    if (key->type == &fr_plan_quantities) {
        fr_quantity q =
            key->words == fr_clock_words ? FR_QUANTITY_FREQUENCY : FR_QUANTITY_POWER;
        snprintf(value, sizeof value, "{'$ref': '#/$defs/%s'}", schema_quantities[q].name);
        add_list(w, key->words, true, value);
    }
    if (key->type == &fr_plan_placement)
        add(w, "anyOf",
            "[{'type': 'string', 'description': 'the name of a placement'},"
            " {'type': 'array', 'items': {'type': 'integer', 'minimum': 0},"
            "  'description': 'the seat of each rank'}]");
    if (key->type == &fr_plan_order)
        add(w, "anyOf",
            "[{'type': 'string',"
            "  'description': 'the name of a schedule, or the file of an order of your own'},"
            " {'$ref': '#/$defs/order'}, {'$ref': '#/$defs/stages'}]");
    add_sentence(w, "description", key->help);
    fr_plan_key_default(key, value, sizeof value - 10);
    snprintf(text, sizeof text, "default: %.240s", value);
    fr_json_add_string(w, "$comment", text);
    fr_json_end_object(w);
}

/* The keys below @p prefix ("" or "compression."), an object for each of their own. */
static void add_keys(struct fr_json_writer *w, const char *prefix) {
    char inside[64] = "";
    fr_json_add_object(w, "properties");
    if (!*prefix) add_file_versions(w, "plan");
    for (int i = 0; i < FR_PLAN_KEYS; i++) {
        const char *name = fr_plan_keys[i].name + strlen(prefix), *dot = strchr(name, '.');
        char object[64];
        if (strncmp(fr_plan_keys[i].name, prefix, strlen(prefix)) != 0) continue;
        snprintf(object, sizeof object, "%s%.*s.", prefix, (int)strcspn(name, "."), name);
        if (!dot) {
            add_key(w, name, &fr_plan_keys[i]);
        } else if (strcmp(object, inside) != 0) {
            snprintf(inside, sizeof inside, "%s", object);
            object[strlen(object) - 1] = '\0';
            fr_json_add_object(w, object + strlen(prefix));
            fr_json_add_string(w, "type", "object");
            add_keys(w, inside);
            fr_json_end_object(w);
        }
    }
    fr_json_end_object(w);
    fr_json_add_bool(w, "additionalProperties", false);
}

static void schema(void **state) {
    struct fr_text text = {0};
    struct fr_json_writer w = {.text = &text, .indent = 1};
    (void)state;
    begin_schema(
        &w, "A plan: how a model is laid out over ranks, and in which order it runs",
        "What --plan and --set read, one key a row of `forerun list keys`. An absent key "
        "has its default.");
    add_keys(&w, "");
    fr_json_add_object(&w, "$defs");
    add(&w, "stages",
        "{'type': 'array', 'items': {'anyOf': [{'type': 'string'}, {'type': 'array',"
        " 'items': {'type': 'string', 'pattern': '^[FBW][0-9]+(\\\\.[0-9]+)?$'}}]},"
        " 'minItems': 1,"
        " 'description': 'for each stage its passes in the order they run: F0 F1 B0 B1'}");
    add(&w, "order",
        "{'type': 'object', 'properties': {'name': {'type': 'string'},"
        " 'source': {'type': 'string'}, 'stages': {'$ref': '#/$defs/stages'}},"
        " 'required': ['stages'], 'additionalProperties': false}");
    define_quantity(&w, FR_QUANTITY_SIZE);
    define_quantity(&w, FR_QUANTITY_FREQUENCY);
    define_quantity(&w, FR_QUANTITY_POWER);
    fr_json_end_object(&w);
    fr_json_end_object(&w);
    hold_file("docs/schemas/plan.json", fr_text_get(&text));
    fr_text_free(&text);
}

/* A line of the table: what it may be, means, needs, and is when nobody says. */
static void add_line(const struct fr_plan_key *key, struct fr_text *text) {
    char values[384], plain[256];
    bool any = false;
    fr_text_addf(text, "| `%s` | %s | %s | ", key->name,
                 fr_plan_key_values(key, values, sizeof values), key->help);
    for (int n = 0; fr_plan_need_names[n]; n++)
        if (key->needs >> n & 1) {
            fr_text_addf(text, "%s%s", any ? "; " : "", fr_plan_need_names[n]);
            any = true;
        }
    fr_plan_key_default(key, plain, sizeof plain);
    fr_text_addf(text, "%s | %s |", any ? "" : "-", plain);
}

static void keys(void **state) {
    struct fr_text rows = {0};
    (void)state;
    for (int i = 0; i < FR_PLAN_KEYS; i++) {
        add_line(&fr_plan_keys[i], &rows);
        fr_text_addf(&rows, "\n");
    }
    hold_table("docs/reference/plan-keys.md",
               "| key | values | meaning | needs | default |\n|---|---|---|---|---|\n",
               fr_text_get(&rows));
    fr_text_free(&rows);
}

static void reasons(void **state) {
    struct fr_text rows = {0};
    (void)state;
    for (int i = 0; i < FR_REASON_COUNT; i++)
        fr_text_addf(&rows, "| `%s` | %s | %s |\n", fr_reason_names[i], fr_reason_sentences[i],
                     fr_reason_helps[i]);
    hold_table("docs/reference/reasons.md",
               "| reason | why a plan cannot be | what would help |\n|---|---|---|\n",
               fr_text_get(&rows));
    fr_text_free(&rows);
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(schema), cmocka_unit_test(keys),
                                       cmocka_unit_test(reasons)};
    return DOCUMENTS_MAIN(argc, argv, tests);
}
