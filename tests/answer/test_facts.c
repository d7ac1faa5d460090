/* Values made from the rows of facts say the same as the rows. */
#include <stdlib.h>

#include "answer/outcome/outcome_fact.h"
#include "answer/outcome/report.h"
#include "base/json/interval.h"
#include "tests/job.h"

/* Names carry the unit of their kind, and every fact is explained. */
static void rows_are_whole(void **state) {
    static const struct {
        fr_outcome_kind kind;
        fr_quantity quantity;
    } units[] = {{FR_OUTCOME_IS_TIME, FR_QUANTITY_TIME},
                 {FR_OUTCOME_IS_ENERGY, FR_QUANTITY_ENERGY},
                 {FR_OUTCOME_IS_SIZE, FR_QUANTITY_SIZE},
                 {FR_OUTCOME_IS_RATE, FR_QUANTITY_RATE},
                 {FR_OUTCOME_IS_POWER, FR_QUANTITY_POWER}};
    (void)state;
    for (int i = 0; i < FR_OUTCOME_FACTS; i++) {
        const struct fr_outcome_fact *fact = &fr_outcome_facts[i];
        fr_quantity quantity = FR_QUANTITY_FREQUENCY;
        bool has = fr_unit_of(fact->name, strlen(fact->name), &quantity);
        for (size_t k = 0; k < sizeof units / sizeof *units; k++)
            FR_TRUE((has && quantity == units[k].quantity) == (fact->kind == units[k].kind) ||
                        fact->kind >= FR_OUTCOME_IS_PUT,
                    "%s: its unit and its kind differ", fact->name);
        if (fact->kind == FR_OUTCOME_IS_ENDS) continue;
        FR_TRUE(*fact->sentence || i == FR_OUTCOME_schema, "%s: no sentence", fact->name);
        FR_TRUE(!fact->csv.group || fact->number, "%s: no number for its column", fact->name);
        for (int k = 0; k < i; k++)
            FR_TRUE(strcmp(fact->name, fr_outcome_facts[k].name) != 0, "%s twice", fact->name);
    }
}

static void has(const struct fr_json *object, const char *key) {
    struct fr_json found = fr_json_member(object, key);
    FR_TRUE(fr_json_present(&found), "the document lacks %s", key);
}

static void same(const struct fr_json *root, const struct fr_outcome_fact *fact,
                 const struct fr_outcome_view *v) {
    char object[FR_FACT_KEY], key[FR_UNIT_KEY];
    struct fr_json in = *root;
    if (*fr_fact_object(fact, object)) in = fr_json_member(root, object);
    for (int k = 0; k < fact->count; k++) {
        has(&in, fr_fact_key(fact, k, key));
        if (!fact->number || fact->kind == FR_OUTCOME_IS_FLAG) continue;
        double got = fr_json_number_at(&in, key), want = fact->number(v, k);
        FR_TRUE(got == want || !isfinite(want), "%s: %g for %g", key, got, want);
    }
    for (int k = 0; fact->interval && fr_fact_ends(fact, v)->stated && k < 2; k++)
        has(root, fr_unit_key(fact->interval, k ? "high" : "low", key));
}

static int cells(const char *line) {
    int n = 1;
    for (bool quoted = false; *line; line++) {
        quoted ^= *line == '"';
        n += *line == ',' && !quoted;
    }
    return n;
}

/* Plans that can be and one that cannot: every fact stands in the document, and a cell under every head. */
static void documents_and_columns(void **state) {
    static const char *const sets[][3] = {
        {"dp=8", NULL}, {"tp=8", "pp=2", NULL}, {"tp=3", NULL}};
    (void)state;
    for (size_t i = 0; i < sizeof sets / sizeof *sets; i++) {
        struct fr_job job;
        struct fr_outcome out;
        struct fr_outcome_view v;
        struct fr_text text = {0}, head = {0}, row = {0};
        struct fr_json_writer w = {.text = &text};
        struct fr_json_document *document = NULL;
        fr_test_job("dgx-h100", "gpt-8.3b", sets[i], &job);
        fr_cost(&job, &job.plan, &out);
        if (i == 0) out.low_s = out.time_s, out.high_s = 2 * out.time_s;
        fr_outcome_view(&job, &out, &v);
        fr_report_json(&w, &job, &out);
        assert_int_equal(fr_json_parse(text.data, text.length, "outcome", &document, NULL),
                         FR_OK);
        struct fr_json root = fr_json_root(document);
        for (int k = 0; k < FR_OUTCOME_FACTS; k++) {
            const struct fr_outcome_fact *fact = &fr_outcome_facts[k];
            if (fact->kind == FR_OUTCOME_IS_ENDS) continue;
            if (fact->stated ? fact->stated(&v) : fact->always) same(&root, fact, &v);
        }
        fr_report_csv_header(&head, &job);
        fr_report_csv_row(&row, &job, &out);
        assert_int_equal(cells(fr_text_get(&head)), cells(fr_text_get(&row)));
        fr_json_free(document);
        fr_text_free(&text), fr_text_free(&head), fr_text_free(&row);
        fr_job_free(&job);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_are_whole),
        cmocka_unit_test(documents_and_columns),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
