/* Laws of plan keys: what is written reads back the same, lines tell plans apart, and the rows are
 * what the documentation says. */
#include <stdlib.h>

#include "models/outcome/cost.h"
#include "tests/job.h"
#include "tests/plan_values.h"

struct plan {
    struct fr_plan plan;
    struct fr_plan_lists lists;
};

/* NULL where @p text is no plan. */
static struct plan *read_text(const char *text, size_t length) {
    struct fr_json_document *document = NULL;
    struct plan *p = calloc(1, sizeof *p);
    struct fr_error err = {0};
    assert_non_null(p);
    assert_int_equal(fr_json_parse(text, length, "plan", &document, NULL), FR_OK);
    if (fr_plan_read(document, &p->plan, &p->lists, &err) != FR_OK)
        fail_msg("%s: %s in %s", err.where, err.detail, text);
    fr_json_free(document);
    return p;
}

static struct plan *draw(uint64_t *state, uint64_t one_in) {
    struct fr_json_document *document = NULL;
    struct plan *p = calloc(1, sizeof *p);
    struct fr_error err = {0};
    assert_non_null(p);
    assert_int_equal(fr_test_plan_document(state, one_in, &document), FR_OK);
    if (fr_plan_read(document, &p->plan, &p->lists, &err) != FR_OK)
        fail_msg("%s: %s", err.where, err.detail);
    fr_json_free(document);
    return p;
}

static void drop(struct plan *p) {
    fr_plan_lists_free(&p->lists);
    free(p);
}

static void write_text(const struct fr_plan *plan, struct fr_text *text) {
    struct fr_json_writer w = {.text = text, .indent = 2};
    fr_plan_write(&w, plan);
}

static void written_reads_back(void **state) {
    (void)state;
    uint64_t dice = 88172645463325252u;
    for (int n = 0; n < fr_sample(4000, 1000); n++) {
        struct plan *p = draw(&dice, 3);
        struct fr_text first = {0}, second = {0};
        write_text(&p->plan, &first);
        struct plan *q = read_text(fr_text_get(&first), first.length);
        for (int i = 0; i < FR_PLAN_KEYS; i++) {
            const struct fr_plan_key *key = &fr_plan_keys[i];
            FR_TRUE(key->type->same(key, &p->plan, &q->plan), "%s is another in %s", key->name,
                    fr_text_get(&first));
        }
        write_text(&q->plan, &second);
        assert_string_equal(fr_text_get(&first), fr_text_get(&second));
        fr_text_free(&first);
        fr_text_free(&second);
        drop(p);
        drop(q);
    }
}

/* Two plans with one line are read the same; and no line is cut. */
static void lines_tell_apart(void **state) {
    (void)state;
    enum { DRAWN = 600 };
    static char line[DRAWN][FR_PLAN_LINE];
    struct plan *drawn[DRAWN];
    uint64_t dice = 2463534242u;
    for (int n = 0; n < DRAWN; n++) {
        drawn[n] = draw(&dice, 3);
        fr_plan_line(&drawn[n]->plan, 0, line[n], sizeof line[n]);
        assert_true(strlen(line[n]) + 1 < FR_PLAN_LINE);
        uint64_t missing = fr_plan_missing(NULL, &drawn[n]->plan);
        for (int m = 0; m < n; m++) {
            if (strcmp(line[m], line[n]) != 0) continue;
            for (int i = 0; i < FR_PLAN_KEYS; i++) {
                const struct fr_plan_key *key = &fr_plan_keys[i];
                FR_TRUE(key->needs & missing ||
                            key->type->same(key, &drawn[n]->plan, &drawn[m]->plan),
                        "%s does not show in \"%s\"", key->name, line[n]);
            }
        }
    }
    for (int n = 0; n < DRAWN; n++) drop(drawn[n]);
}

/* Key @p i of a drawn plan, by itself: said in the line where it is not at its default and read.
 * @return whether it was */
static bool key_shows(int i, const struct fr_plan *drawn, const struct fr_plan *plain) {
    const struct fr_plan_key *key = &fr_plan_keys[i];
    struct fr_plan other = *drawn;
    char line[FR_PLAN_LINE], less[FR_PLAN_LINE];
    fr_plan_key_copy(key, plain, &other);
    if (key->needs & fr_plan_missing(NULL, drawn) || key->type->same(key, drawn, &other))
        return false;
    fr_plan_line(drawn, 0, line, sizeof line);
    fr_plan_line(&other, 0, less, sizeof less);
    FR_TRUE(strcmp(line, less) != 0, "%s does not show in \"%s\"", key->name, line);
    fr_plan_line(drawn, FR_PLAN_KEY_BIT(i), less, sizeof less);
    FR_TRUE(strcmp(line, less) != 0, "%s stays in \"%s\"", key->name, less);
    return true;
}

static void every_key_shows(void **state) {
    (void)state;
    struct fr_plan plain = fr_plan_default();
    uint64_t dice = 7;
    int shown[FR_PLAN_KEYS] = {0};
    for (int n = 0; n < fr_sample(1600, 500); n++) {
        struct plan *p = draw(&dice, 3);
        for (int i = 0; i < FR_PLAN_KEYS; i++) shown[i] += key_shows(i, &p->plan, &plain);
        drop(p);
    }
    for (int i = 0; i < FR_PLAN_KEYS; i++)
        FR_TRUE(shown[i] > 0, "%s was never drawn", fr_plan_keys[i].name);
}

static void refused(const char *text, const char *says) {
    struct fr_json_document *document = NULL;
    struct fr_error err = {0};
    struct fr_plan plan;
    struct fr_plan_lists lists;
    assert_int_equal(fr_json_parse(text, strlen(text), "plan", &document, NULL), FR_OK);
    FR_TRUE(fr_plan_read(document, &plan, &lists, &err) != FR_OK, "%s was accepted", text);
    FR_TRUE(strstr(err.detail, says) || strstr(err.where, says), "%s: %s: %s", text, err.where,
            err.detail);
    fr_plan_lists_free(&lists);
    fr_json_free(document);
}

static void refuses(void **state) {
    (void)state;
    refused("{\"tpp\": 2}", "tpp");
    refused("{\"bucket_B\": 5}", "bucket_B");
    refused("{\"compression\": {\"backwards\": {}}}", "backwards");
    refused("{\"compression\": {\"gradient\": {\"stage\": 1}}}", "stage");
    refused("{\"compression\": 3}", "compression");
    refused("{\"zero\": 4}", "zero");
    refused("{\"bucket\": 4}", "bucket");
    refused("{\"stage_layers\": \"even\"}", "even");
    refused("{\"stage_layers\": []}", "stage_layers");
    refused("{\"placement\": [0, 0]}", "slot");
    struct fr_error err = fr_test_refused("a100-hdr", "gpt-2.5b", "model.imbalance=2");
    assert_non_null(strstr(err.detail, "no effect"));
    err = fr_test_refused("a100-hdr", "gpt-2.5b", "model.capacity=1.25");
    assert_non_null(strstr(err.detail, "no effect"));
}

/* A key that nothing reads is refused, and its reason names it and what it needs. */
static void idle(const char *cluster, const char *model, const char *set, const char *needs) {
    const char *equals = strchr(set, '='), *sets[] = {set, NULL}, *says = "";
    struct fr_job job;
    struct fr_outcome *out = calloc(1, sizeof *out);
    assert_non_null(out);
    fr_test_job(cluster, model, sets, &job);
    fr_cost(&job, &job.plan, out);
    FR_TRUE(out->reasons & FR_BECAUSE(FR_REASON_IDLE_KEY), "%s on %s", set, model);
    const struct fr_plan_key *key = fr_plan_idle_key(&job.workload, &job.plan, &says);
    FR_TRUE(key && strlen(key->name) == (size_t)(equals - set) &&
                strncmp(set, key->name, strlen(key->name)) == 0 && strstr(says, needs),
            "%s: %s needs %s", set, key ? key->name : "no key", says);
    fr_job_free(&job);
    free(out);
}

static void idle_keys_are_refused(void **state) {
    (void)state;
    idle("frontier", "ffn-4096", "ghost=4", "ghost neurons");
    idle("frontier", "ffn-4096", "common=subgrid", "method subgraph");
    idle("a100-hdr", "gpt-2.5b", "branches=layer", "method subgraph");
    idle("a100-hdr", "gpt-2.5b", "exchange=all_gather", "method subgraph");
    idle("a100-hdr", "gpt-2.5b", "overlap_experts=true", "mixture of experts");
    idle("a100-hdr", "gpt-2.5b", "overlap_tp=true", "sequence_parallel");
    idle("a100-hdr", "gpt-2.5b", "ep=2", "mixture of experts");
    idle("a100-hdr", "gpt-2.5b", "etp=1", "mixture of experts");
    idle("cori-knl", "alexnet", "layer_tp=best", "method grid");
    idle("a100-hdr", "gpt-2.5b", "compression.embedding=fused", "pipeline");
    idle("a100-hdr", "gpt-2.5b", "compression.backward.scope=all", "pipeline");
    idle("a100-hdr", "gpt-2.5b", "compression.gradient.rank=4", "compression.gradient.stages");
    idle("a100-hdr", "gpt-2.5b", "bucket=1 MiB", "gradient");
    idle("dgx-h100", "llama-3-8b", "compression.embedding=fused", "share");
    idle("frontier", "ffn-4096", "zero=1", "kind transformer");
    idle("frontier", "ffn-4096", "schedule=gpipe", "pipeline");
}

/* By its name, or with the document's before it; else the likeliest. */
static void keys_are_found_by_name(void **state) {
    const char *near = NULL;
    (void)state;
    for (int i = 0; i < FR_PLAN_KEYS; i++) {
        char prefixed[96];
        snprintf(prefixed, sizeof prefixed, "plan.%s", fr_plan_keys[i].name);
        assert_ptr_equal(fr_plan_key_find(fr_plan_keys[i].name, &near), &fr_plan_keys[i]);
        assert_ptr_equal(fr_plan_key_find(prefixed, &near), &fr_plan_keys[i]);
        snprintf(prefixed, sizeof prefixed, "plan_%s", fr_plan_keys[i].name);
        assert_null(fr_plan_key_find(prefixed, &near));
    }
    assert_null(fr_plan_key_find("micro_bacth", &near));
    assert_string_equal(near, "micro_batch");
}

/* 2^40 ranks are read, twice as many are not, whichever axis has them. */
static void ranks_have_an_end(void **state) {
    static const struct {
        int dp, pp, tp; /* powers of 2 */
        bool read;
    } cases[] = {{38, 1, 1, true},  {39, 1, 1, false}, {38, 2, 1, false},
                 {38, 1, 2, false}, {0, 10, 30, true}, {1, 10, 30, false}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct fr_json_document *document = NULL;
        struct fr_plan plan;
        struct fr_plan_lists lists;
        struct fr_error err = {0};
        char text[128];
        int n = snprintf(text, sizeof text, "{\"dp\": %.0f, \"pp\": %.0f, \"tp\": %.0f}",
                         ldexp(1, cases[i].dp), ldexp(1, cases[i].pp), ldexp(1, cases[i].tp));
        assert_int_equal(fr_json_parse(text, (size_t)n, "plan", &document, NULL), FR_OK);
        fr_status status = fr_plan_read(document, &plan, &lists, &err);
        FR_TRUE(status == (cases[i].read ? FR_OK : FR_ERR_INPUT), "%s: %s", text, err.detail);
        fr_plan_lists_free(&lists);
        fr_json_free(document);
    }
}

/* An unknown key is refused by its name, whatever object it stands in. */
static void strangers_are_refused_everywhere(void **state) {
    int tried = 0;
    (void)state;
    for (int i = 0; i < FR_PLAN_KEYS; i++) {
        const char *name = fr_plan_keys[i].name;
        for (const char *dot = strchr(name, '.'); dot; dot = strchr(dot + 1, '.')) {
            struct fr_json_document *document = NULL;
            struct fr_plan plan;
            struct fr_plan_lists lists = {0};
            struct fr_error err = {0};
            char path[96];
            snprintf(path, sizeof path, "%.*s.stranger", (int)(dot - name), name);
            assert_int_equal(fr_json_parse("{}", 2, "plan", &document, NULL), FR_OK);
            assert_int_equal(fr_json_set(document, path, "1", "--set", NULL), FR_OK);
            fr_status status = fr_plan_read(document, &plan, &lists, &err);
            FR_TRUE(status == FR_ERR_INPUT && strstr(err.where, "stranger"), "%s: %s %s", path,
                    err.where, err.detail);
            fr_plan_lists_free(&lists);
            fr_json_free(document);
            tried++;
        }
    }
    assert_true(tried > 2);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(written_reads_back),
                                       cmocka_unit_test(lines_tell_apart),
                                       cmocka_unit_test(every_key_shows),
                                       cmocka_unit_test(refuses),
                                       cmocka_unit_test(ranks_have_an_end),
                                       cmocka_unit_test(strangers_are_refused_everywhere),
                                       cmocka_unit_test(keys_are_found_by_name),
                                       cmocka_unit_test(idle_keys_are_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
