/* Config.json files of 146 models: the number of their parameters, by shapes of the public implementations
 * (count_parameters.py) and, where known, as published; and files with a part that is not priced, which is named with the
 * way round it.  A line of configs.jsonl each. */
#include <stdlib.h>

#include "base/file.h"
#include "models/work/transformer.h"
#include "models/workload/family.h"
#include "models/workload/flop.h"
#include "tests/job.h"
#include "tests/plan_values.h"
#include "tests/work.h"

/* Written by itself, as a file holds it. */
static fr_status read_again(const struct fr_json *config, struct fr_workload *w,
                            struct fr_error *err) {
    struct fr_text text = {0};
    struct fr_json_writer writer = {.text = &text};
    struct fr_json_document *document = NULL;
    fr_json_put_copy(&writer, config);
    *w = (struct fr_workload){.n_layers = 0};
    fr_status status = fr_json_parse(text.data, text.length, "m", &document, err);
    if (status == FR_OK) status = fr_workload_read(document, w, err);
    fr_json_free(document);
    fr_text_free(&text);
    return status;
}

/* Forward flop of the operations of one sample are those that the model's own count says; of experts they are not, whose
 * rows fill tiles, and heads that kernels pad take the count of the padded ones. */
static void works(const char *name, const struct fr_workload *w) {
    const struct fr_transformer *t = &w->transformer;
    struct fr_plan plan = fr_plan_default();
    struct fr_rank_work work;
    double sum = 0;
    plan.attention = FR_ATTENTION_FLASH;
    plan.micro_batch = 1;
    if (t->experts > 0 || t->head_dim % 32 != 0 || t->other_layers > 0) return;
    fr_transformer_stage(w, &plan, 0, &work);
    for (int k = 0; k < work.n_ops; k++)
        if (work.op[k].pass == FR_PASS_FORWARD) sum += test_flop(&work.op[k]);
    double rows = (double)(fr_transformer_padded_vocabulary(t, 1) - t->vocabulary),
           padding = 2 * rows * (double)(t->hidden * t->sequence),
           want = fr_workload_forward_flop(w) + padding;
    FR_TRUE(fabs(sum / want - 1) < 1e-9, "%s: %g flop forward, the model says %g", name, sum,
            want);
}

static void counted(const char *name, const struct fr_json *row, const struct fr_json *config) {
    struct fr_workload w;
    struct fr_error err = {0};
    if (read_again(config, &w, &err) != FR_OK)
        fail_msg("%s: %s: %s", name, err.where, err.detail);
    double ours = fr_transformer_parameters(&w), shapes = fr_json_number_at(row, "parameters"),
           published = fr_json_number_at(row, "published");
    FR_TRUE(fabs(ours / shapes - 1) < 0.001, "%s: %.0f parameters, by shapes %.0f", name, ours,
            shapes);
    FR_TRUE(!(fabs(ours / published - 1) > 0.001), "%s: %.0f parameters, published %.0f", name,
            ours, published);
    works(name, &w);
    fr_workload_free(&w);
}

static void refused(const char *name, const char *part, const struct fr_json *config) {
    struct fr_workload w;
    struct fr_error err = {0};
    char way[128];
    FR_TRUE(read_again(config, &w, &err) == FR_ERR_INPUT, "%s: taken", name);
    snprintf(way, sizeof way, "%s=null", part);
    FR_TRUE(strstr(err.where, part) && strstr(err.detail, way), "%s: %s: %s", name, err.where,
            err.detail);
}

static void every_line(void **state) {
    char *text = NULL;
    size_t length = 0;
    int models = 0, parts = 0;
    (void)state;
    assert_int_equal(fr_file_read(FR_SOURCE_DIR "/tests/models/workload/configs.jsonl",
                                  FR_FILE_MAX_B, &text, &length, NULL),
                     FR_OK);
    for (char *at = text; *at; at += strcspn(at, "\n") + 1) {
        struct fr_json_document *document = NULL;
        assert_int_equal(fr_json_parse(at, strcspn(at, "\n"), "configs.jsonl", &document, NULL),
                         FR_OK);
        struct fr_json row = fr_json_root(document), config = fr_json_member(&row, "config");
        const char *name = fr_json_text_at(&row, "name"),
                   *part = fr_json_text_at(&row, "unpriced");
        if (*part)
            refused(name, part, &config);
        else
            counted(name, &row, &config);
        *(*part ? &parts : &models) += 1;
        fr_json_free(document);
    }
    assert_true(models >= 120 && parts >= 5);
    free(text);
}

/* A file whose family nobody knows is read by its keys: the same numbers, and the likeness is reported. */
static void unknown_families(void **state) {
    static const char *const known[] = {"llama-3-8b", "deepseek-v3", "qwen1.5-moe-a2.7b",
                                        "mixtral-8x7b", "mistral-7b"};
    (void)state;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        char path[512];
        struct fr_json_document *document = NULL;
        struct fr_workload w[2] = {{.n_layers = 0}, {.n_layers = 0}};
        struct fr_error err = {0};
        snprintf(path, sizeof path, FR_SOURCE_DIR "/tests/models/hf/%s.json", known[i]);
        assert_int_equal(fr_json_read(path, &document, &err), FR_OK);
        for (int unknown = 0; unknown < 2; unknown++) {
            if (unknown)
                assert_int_equal(fr_json_set(document, "model_type", "nobody_knows", "t", &err),
                                 FR_OK);
            if (fr_workload_read(document, &w[unknown], &err) != FR_OK)
                fail_msg("%s: %s: %s", known[i], err.where, err.detail);
        }
        FR_TRUE(fabs(fr_transformer_parameters(&w[1]) / fr_transformer_parameters(&w[0]) - 1) <
                    0.001,
                "%s as an unknown family: %.0f parameters, known %.0f", known[i],
                fr_transformer_parameters(&w[1]), fr_transformer_parameters(&w[0]));
        assert_true(!*w[0].read_like && *w[1].read_like);
        assert_non_null(strstr(w[1].source, "nobody_knows (not known, read like "));
        fr_workload_free(&w[0]);
        fr_workload_free(&w[1]);
        fr_json_free(document);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_line),
                                       cmocka_unit_test(unknown_families)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
