/* Facts of a runtime: docs/schemas/runtime.json and the table of docs/reference/runtime-keys.md, as the rows have them. */
#include "models/job/assume.h"
#include "models/job/condition.h"
#include "models/job/fact.h"
#include "models/job/release.h"
#include "models/job/runtime.h"
#include "tests/documents/schema.h"

/* Are the values of two facts of one kind and within the same bounds? */
static bool valued_alike(const struct fr_fact_row *a, const struct fr_fact_row *b) {
    return a->is_quantity == b->is_quantity && a->quantity == b->quantity &&
           a->least == b->least && a->most == b->most && a->kind != FR_FACT_PLAN &&
           b->kind != FR_FACT_PLAN &&
           (a->word == b->word || (a->word && b->word && strcmp(a->word, b->word) == 0));
}

static void put_keys(struct fr_json_writer *w, bool (*of)(const struct fr_fact_row *row, int i),
                     int i) {
    fr_json_add_object(w, "if");
    fr_json_add_object(w, "properties");
    fr_json_add_object(w, "key");
    fr_json_add_array(w, "enum");
    for (int k = 0; k < fr_fact_count; k++)
        if (of(&fr_facts[k], i)) fr_json_put_string(w, fr_facts[k].key);
    fr_json_end_array(w);
    fr_json_end_object(w);
    fr_json_end_object(w);
    fr_json_end_object(w);
}

static bool alike(const struct fr_fact_row *row, int i) {
    return valued_alike(row, &fr_facts[i]);
}
static bool of_a_job(const struct fr_fact_row *row, int i) {
    return (void)i, row->kind == FR_FACT_PLAN || row->kind == FR_FACT_MODEL;
}
static bool of_a_device(const struct fr_fact_row *row, int i) {
    return (void)i, row->kind == FR_FACT_DEVICE;
}
static bool without_width(const struct fr_fact_row *row, int i) {
    return (void)i, row->value == FR_VALUE_COUNT && row->kind != FR_FACT_SOFTWARE;
}

/* The facts of row @p i take these values: null hides the value behind it. */
static void put_values(struct fr_json_writer *w, int i) {
    const struct fr_fact_row *row = &fr_facts[i];
    fr_json_begin_object(w);
    put_keys(w, alike, i);
    fr_json_add_object(w, "then");
    fr_json_add_object(w, "properties");
    fr_json_add_object(w, "value");
    fr_json_add_array(w, "anyOf");
    fr_json_begin_object(w);
    if (row->word) {
        fr_json_add_array(w, "enum");
        for (const char *at = row->word; *at; at += strcspn(at, "|"), at += *at == '|') {
            char word[32];
            snprintf(word, sizeof word, "%.*s", (int)strcspn(at, "|"), at);
            fr_json_put_string(w, word);
        }
        fr_json_end_array(w);
    } else if (row->is_quantity)
        refer_to_quantity(w, "cluster.json", row->quantity);
    else
        add_bounds(w, "number", row->least, row->most);
    fr_json_end_object(w);
    put(w, "{'type': 'null'}");
    fr_json_end_array(w);
    for (int depth = 0; depth < 4; depth++) fr_json_end_object(w);
}

/* Where the facts of @p of stand, members @p refused are not said. */
static void put_refusal(struct fr_json_writer *w,
                        bool (*of)(const struct fr_fact_row *row, int i), bool others,
                        const char *refused) {
    fr_json_begin_object(w);
    put_keys(w, of, 0);
    fr_json_add_object(w, others ? "else" : "then");
    add(w, "properties", refused);
    fr_json_end_object(w);
    fr_json_end_object(w);
}

static void define_fact(struct fr_json_writer *w) {
    fr_json_add_object(w, "fact");
    fr_json_add_string(w, "type", "object");
    fr_json_add_object(w, "properties");
    fr_json_add_object(w, "key");
    fr_json_add_array(w, "enum");
    for (int i = 0; i < fr_fact_count; i++) fr_json_put_string(w, fr_facts[i].key);
    fr_json_end_array(w);
    fr_json_add_string(w, "description", "a row of `forerun list facts`");
    fr_json_end_object(w);
    add(w, "value",
        "{'type': ['string', 'number', 'boolean', 'array', 'null'],"
        " 'description': 'as --set runtime.KEY takes it; null: nothing is assumed, and what is"
        " behind it is hidden'}");
    add(w, "of",
        "{'anyOf': [{'type': 'string', 'minLength': 1, 'maxLength': 63}, {'type': 'array',"
        " 'items': {'type': 'string', 'minLength': 1, 'maxLength': 63}, 'minItems': 1,"
        " 'maxItems': 1024}], 'description': 'the generation of a device (hopper) or its name,"
        " or a list of them; absent: every device'}");
    fr_json_add_object(w, "when");
    add_words(w, fr_condition_names);
    fr_json_add_string(w, "description",
                       "of a plan or a model: when it is taken; absent: always");
    fr_json_end_object(w);
    add(w, "width",
        "{'type': 'number', 'minimum': 0.001, 'maximum': 2,"
        " 'description': 'standard deviation of its logarithm'}");
    add(w, "source", "{'type': 'string', 'description': 'where the value is from'}");
    add(w, "date", "{'$ref': '#/$defs/date'}");
    add(w, "note", "{'description': 'read over'}");
    fr_json_end_object(w);
    add(w, "required", "['key', 'value']");
    fr_json_add_bool(w, "additionalProperties", false);
    fr_json_add_array(w, "allOf");
    for (int i = 0; i < fr_fact_count; i++) {
        int first = 0;
        while (first < i && !valued_alike(&fr_facts[first], &fr_facts[i])) first++;
        if (first == i && fr_facts[i].kind != FR_FACT_PLAN) put_values(w, i);
    }
    put_refusal(w, of_a_device, true, "{'of': false}");
    put_refusal(w, of_a_job, true, "{'when': false}");
    put_refusal(w, without_width, false, "{'width': false}");
    fr_json_end_array(w);
    fr_json_end_object(w);
}

static void schema(void **state) {
    static const char bases[] =
        "{'anyOf': [{'type': 'string'}, {'type': 'array', 'items': {'type': 'string'},"
        " 'maxItems': 64}], 'description': '%s'}";
    struct fr_text text = {0};
    struct fr_json_writer w = {.text = &text, .indent = 1};
    char value[512];
    (void)state;
    begin_schema(
        &w, "A runtime: software with a date",
        "What --runtime reads: what plans start from with a release of a framework, and "
        "what devices reach with it.");
    fr_json_add_object(&w, "properties");
    add_file_versions(&w, "runtime");
    add(&w, "name", "{'type': 'string', 'maxLength': 63}");
    add(&w, "date", "{'$ref': '#/$defs/date'}");
    add(&w, "source", "{'type': 'string', 'maxLength': 2047}");
    add(&w, "defaults",
        "{'enum': ['2019', 'modern'],"
        " 'description': 'what models start from with it; modern where it does not say'}");
    add(&w, "suits",
        "{'type': 'array', 'items': {'type': 'string'}, 'maxItems': 64,"
        " 'description': 'generations of devices that it is taken for where nobody names a"
        " runtime, or any; absent: never by itself'}");
    snprintf(value, sizeof value, bases, "what it does not state comes from there");
    add(&w, "from", value);
    snprintf(value, sizeof value, bases,
             "of these the facts of devices alone, in this order, after from");
    add(&w, "costs_from", value);
    add(&w, "facts",
        "{'type': 'array', 'items': {'$ref': '#/$defs/fact'}, 'maxItems': 1024,"
        " 'description': 'of a key the first whose condition holds; those of a key and device"
        " hide all that the files behind say of it'}");
    fr_json_end_object(&w);
    fr_json_add_bool(&w, "additionalProperties", false);
    fr_json_add_object(&w, "$defs");
    add(&w, "date",
        "{'type': 'string', 'pattern': '^[0-9]{4}(-[0-9]{2}(-[0-9]{2})?)?$',"
        " 'description': '2026, 2026-06 or 2026-06-30'}");
    define_fact(&w);
    fr_json_end_object(&w);
    fr_json_end_object(&w);
    hold_file("docs/schemas/runtime.json", fr_text_get(&text));
    fr_text_free(&text);
}

static void facts(void **state) {
    struct fr_text rows = {0};
    (void)state;
    for (int i = 0; i < fr_fact_count; i++) {
        char values[384];
        fr_text_addf(&rows, "| `%s` | %s | %s | %s |\n", fr_facts[i].key,
                     fr_fact_kinds[fr_facts[i].kind], fr_facts[i].help,
                     fr_fact_values(&fr_facts[i], values, sizeof values));
    }
    hold_table("docs/reference/runtime-keys.md",
               "| key | of | meaning | values |\n|---|---|---|---|\n", fr_text_get(&rows));
    fr_text_free(&rows);
}

/* The newest runtime assumes these of plans and models. */
static void assumptions(void **state) {
    struct fr_text rows = {0};
    struct fr_runtime newest;
    struct fr_assumption a;
    char name[FR_RUNTIME_NAME];
    (void)state;
    fr_release_newest(true, "", NULL, name);
    assert_int_equal(fr_runtime_read(name, &newest, NULL), FR_OK);
    for (int i = 0; fr_assumption_at(&newest, i, &a); i++)
        fr_text_addf(&rows, "| `%s` | %s | %s | %s |\n", a.key, a.value, a.when, a.why);
    hold_table("docs/reference/runtime-keys.md",
               "| key | value | where | why |\n|---|---|---|---|\n", fr_text_get(&rows));
    fr_text_free(&rows);
    fr_runtime_free(&newest);
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(schema), cmocka_unit_test(facts),
                                       cmocka_unit_test(assumptions)};
    return DOCUMENTS_MAIN(argc, argv, tests);
}
