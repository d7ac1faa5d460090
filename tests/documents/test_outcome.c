/* Facts of an outcome: docs/schemas/outcome.json and the table in docs/reference/outputs.md, as the rows have them.
 *
 * The schema's head, and facts that are no number or word, stay as the file has them. */
#include "answer/outcome/outcome_fact.h"
#include "base/json/interval.h"
#include "tests/documents/schema.h"

/* ---- pieces ----------------------------------------------------------------------------------- */

static void copy(struct fr_json_writer *w, const struct fr_json *object, const char *key) {
    struct fr_json value = fr_json_member(object, key);
    fr_json_key(w, key);
    fr_json_put_copy(w, &value);
}

static void as_it_was(struct fr_json_writer *w, const struct fr_json *old) {
    for (const char *key = fr_json_is_object(old) ? fr_json_key_after(old, NULL) : NULL; key;
         key = fr_json_key_after(old, key))
        if (strcmp(key, "description") != 0 && strcmp(key, "$comment") != 0) copy(w, old, key);
}

static void keep(struct fr_json_writer *w, const struct fr_json *old,
                 const char *const *names) {
    for (; *names; names++) {
        struct fr_json value = fr_json_member(old, *names);
        if (fr_json_present(&value)) copy(w, old, *names);
    }
}

/* ---- the schema ------------------------------------------------------------------------------- */

static void add_type(struct fr_json_writer *w, const char *type, bool known) {
    if (known) {
        fr_json_add_string(w, "type", type);
        return;
    }
    fr_json_add_array(w, "type");
    fr_json_put_string(w, type);
    fr_json_put_string(w, "null");
    fr_json_end_array(w);
}

static void add_values(struct fr_json_writer *w, const struct fr_outcome_fact *fact) {
    bool whole = fact->kind == FR_OUTCOME_IS_WHOLE;
    if (fact->kind == FR_OUTCOME_IS_FLAG) {
        fr_json_add_string(w, "type", "boolean");
    } else if (fact->kind == FR_OUTCOME_IS_WORD) {
        fr_json_add_array(w, "enum");
        for (int i = 0; fact->names[i]; i++) fr_json_put_string(w, fact->names[i]);
        fr_json_end_array(w);
    } else {
        add_type(w, whole || fact->kind == FR_OUTCOME_IS_COUNT ? "integer" : "number", whole);
        if (fact->kind != FR_OUTCOME_IS_PART) fr_json_add_integer(w, "minimum", 0);
        if (fact->kind == FR_OUTCOME_IS_CHANCE) fr_json_add_integer(w, "maximum", 1);
    }
}

static void put_ends(struct fr_json_writer *w, const struct fr_outcome_fact *fact) {
    char key[FR_UNIT_KEY], sentence[160];
    for (int i = 0; fact->interval && i < 2; i++) {
        fr_json_add_object(w, fr_unit_key(fact->interval, i ? "high" : "low", key));
        add_values(w, fact);
        snprintf(sentence, sizeof sentence, "%s end of the 90 %% interval of %s",
                 i ? "upper" : "lower", fact->name);
        add_sentence(w, "description", sentence);
        fr_json_end_object(w);
    }
}

static void put_members(struct fr_json_writer *w, const struct fr_outcome_fact *fact,
                        const struct fr_json *old) {
    for (int i = 0; i < fact->count; i++) {
        char key[FR_FACT_KEY];
        fr_json_add_object(w, fr_fact_key(fact, i, key));
        struct fr_json was = fr_json_member(old, fact->name);
        if (fact->put)
            as_it_was(w, &was);
        else
            add_values(w, fact);
        if (fact->count == 1) add_sentence(w, "description", fact->sentence);
        fr_json_end_object(w);
    }
}

static void require(struct fr_json_writer *w, const char *object) {
    char before[FR_FACT_KEY] = "", own[FR_FACT_KEY], key[FR_UNIT_KEY];
    fr_json_add_array(w, "required");
    for (int i = 0; i < FR_OUTCOME_FACTS; i++) {
        const struct fr_outcome_fact *fact = &fr_outcome_facts[i];
        bool begins = !fr_fact_in(fact, before);
        strcpy(before, fr_fact_object(fact, own));
        if (!*object && begins && *own) fr_json_put_string(w, own);
        for (int k = 0; strcmp(own, object) == 0 && fact->always && k < fact->count; k++)
            fr_json_put_string(w, fr_fact_key(fact, k, key));
        for (int k = 0; !*object && fact->interval && fact->always_in && k < 2; k++)
            fr_json_put_string(w, fr_unit_key(fact->interval, k ? "high" : "low", key));
    }
    fr_json_end_array(w);
    fr_json_add_bool(w, "additionalProperties", false);
}

/* The object whose first member is row @p i.  @return how many rows are its */
static int put_object(struct fr_json_writer *w, int i, const struct fr_json *old) {
    const char *together = "";
    char object[FR_FACT_KEY];
    int n = 0;
    fr_json_add_object(w, fr_fact_object(&fr_outcome_facts[i], object));
    fr_json_add_string(w, "type", "object");
    fr_json_add_object(w, "properties");
    for (; i + n < FR_OUTCOME_FACTS && fr_fact_in(&fr_outcome_facts[i + n], object); n++) {
        put_members(w, &fr_outcome_facts[i + n], old);
        if (fr_outcome_facts[i + n].count > 1) together = fr_outcome_facts[i + n].sentence;
    }
    fr_json_end_object(w);
    require(w, object);
    add_sentence(w, "description", together);
    fr_json_end_object(w);
    return n;
}

static void put_properties(struct fr_json_writer *w, const struct fr_json *old) {
    fr_json_add_object(w, "properties");
    for (int i = 0; i < FR_OUTCOME_FACTS;) {
        const struct fr_outcome_fact *fact = &fr_outcome_facts[i];
        if (strchr(fact->name, '.')) {
            i += put_object(w, i, old);
            continue;
        }
        if (fact->kind == FR_OUTCOME_IS_ENDS) {
            for (int k = 0; k < FR_OUTCOME_FACTS; k++)
                if (fr_fact_in(&fr_outcome_facts[k], fact->name))
                    put_ends(w, &fr_outcome_facts[k]);
        } else {
            put_members(w, fact, old);
            put_ends(w, fact);
        }
        i++;
    }
    fr_json_end_object(w);
}

static void write_schema(const struct fr_json *old, struct fr_text *text) {
    static const char *const head[] = {"$schema", "title", "description", "type", NULL};
    struct fr_json_writer w = {.text = text, .indent = 1};
    struct fr_json properties = fr_json_member(old, "properties");
    fr_json_begin_object(&w);
    keep(&w, old, head);
    put_properties(&w, &properties);
    require(&w, "");
    fr_json_end_object(&w);
}

/* ---- the table -------------------------------------------------------------------------------- */

static void write_table(struct fr_text *text) {
    for (int i = 0; i < FR_OUTCOME_FACTS; i++) {
        const struct fr_outcome_fact *fact = &fr_outcome_facts[i];
        char low[FR_UNIT_KEY], high[FR_UNIT_KEY];
        if (fact->kind == FR_OUTCOME_IS_ENDS || !*fact->sentence) continue;
        size_t shown = strcspn(fact->name, "*");
        fr_text_addf(text, "| `%.*s%s`", (int)shown, fact->name, fact->name[shown] ? "…" : "");
        if (fact->interval)
            fr_text_addf(text, ", `%s`, `%s`", fr_unit_key(fact->interval, "low", low),
                         fr_unit_key(fact->interval, "high", high));
        fr_text_addf(text, " | %s |\n", fact->sentence);
    }
}

static void schema(void **state) {
    char path[512];
    struct fr_text text = {0};
    struct fr_json_document *old = NULL;
    (void)state;
    snprintf(path, sizeof path, "%s/docs/schemas/outcome.json", FR_SOURCE_DIR);
    assert_int_equal(fr_json_read(path, &old, NULL), FR_OK);
    struct fr_json root = fr_json_root(old);
    write_schema(&root, &text);
    hold_file("docs/schemas/outcome.json", fr_text_get(&text));
    fr_json_free(old);
    fr_text_free(&text);
}

static void table(void **state) {
    struct fr_text rows = {0};
    (void)state;
    write_table(&rows);
    hold_table("docs/reference/outputs.md", "| key of an outcome | meaning |\n|---|---|\n",
               fr_text_get(&rows));
    fr_text_free(&rows);
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(schema), cmocka_unit_test(table)};
    return DOCUMENTS_MAIN(argc, argv, tests);
}
