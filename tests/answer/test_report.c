/* An outcome in JSON and CSV: every number of the struct stands under its own name, whatever it is. */
#include <stdlib.h>

#include "answer/outcome/report.h"
#include "base/json.h"
#include "base/text/version.h"
#include "models/job/calibration.h"
#include "models/outcome/fits/fits.h"
#include "models/outcome/units.h"
#include "models/price/pipeline.h"
#include "tests/job.h"

/* An outcome of which no two numbers agree. */
static struct fr_outcome distinct(const struct fr_job *job) {
    struct fr_outcome out = {.plan = job->plan,
                             .ranks = 101,
                             .parameters = 1.25,
                             .parameters_rank_max = 2.25,
                             .time_s = 3.25,
                             .low_s = 4.25,
                             .high_s = 5.25,
                             .energy_J = 6.25,
                             .memory_peak_B = 7.25,
                             .memory_spare = 0.75,
                             .peak_stage = 3,
                             .peak_rank = 17,
                             .lossy_gradient = 0.5,
                             .lossy_backward = 0.75,
                             .break_even_gradient_B_per_s = 8.25,
                             .break_even_backward_B_per_s = 9.25,
                             .lossy_forward = 0.625,
                             .break_even_forward_B_per_s = 13.25,
                             .iterations = 10.25,
                             .iterations_origin = 2,
                             .total_time_s = 11.25,
                             .total_energy_J = 12.25};
    for (int i = 0; i < FR_PART_COUNT; i++) out.part_s[i] = 100.5 + i;
    for (int i = 0; i < FR_MEMORY_COUNT; i++) out.memory_B[i] = 200.5 + i;
    for (int i = 0; i < FR_SENT_COUNT; i++) out.sent_B[i] = 300.5 + i;
    return out;
}

static struct fr_json_document *written(const struct fr_job *job,
                                        const struct fr_outcome *out) {
    struct fr_text text = {0};
    struct fr_json_writer w = {.text = &text, .indent = 1};
    struct fr_json_document *document = NULL;
    struct fr_error err = {0};
    fr_report_json(&w, job, out);
    if (fr_json_parse(text.data, text.length, "outcome", &document, &err) != FR_OK)
        fail_msg("%s: %s", err.where, err.detail);
    fr_text_free(&text);
    return document;
}

static struct fr_json member(const struct fr_json *object, const char *key) {
    struct fr_json found = fr_json_member(object, key);
    if (!fr_json_present(&found)) fail_msg("no member %s", key);
    return found;
}

static void is_number(const struct fr_json *object, const char *key, double wanted) {
    struct fr_json node = member(object, key);
    struct fr_error err = {0};
    double got = -1;
    if (isnan(wanted)) {
        FR_TRUE(!fr_json_is_number(&node), "%s is a number, and not known", key);
        return;
    }
    if (fr_json_number(&node, -1e30, 1e30, &got, &err) != FR_OK) fail_msg("%s", err.detail);
    FR_TRUE(got == wanted, "%s: got %.17g, want %.17g", key, got, wanted);
}

static void is_text(const struct fr_json *node, const char *wanted) {
    const char *got = "";
    struct fr_error err = {0};
    if (fr_json_text(node, &got, &err) != FR_OK) fail_msg("%s: %s", wanted, err.detail);
    assert_string_equal(got, wanted);
}

static void says(const struct fr_json *object, const char *key, const char *wanted) {
    struct fr_json node = member(object, key);
    is_text(&node, wanted);
}

static void is_bool(const struct fr_json *object, const char *key, bool wanted) {
    bool got = !wanted;
    struct fr_error err = {0};
    assert_int_equal(fr_json_get_bool(object, key, true, &got, &err), FR_OK);
    FR_TRUE(got == wanted, "%s is %s", key, got ? "true" : "false");
}

static void are_numbers(const struct fr_json *root, const char *key, const char *const *names,
                        const double *wanted, int n, int others) {
    struct fr_json object = member(root, key);
    for (int i = 0; i < n; i++) is_number(&object, names[i], wanted[i]);
    assert_null(fr_json_key_at(&object, n + others));
    assert_non_null(fr_json_key_at(&object, n + others - 1));
}

static void json_is_the_outcome(void **state) {
    struct fr_job job;
    (void)state;
    fr_test_job("dgx-h100", "gpt-8.3b",
                (const char *const[]){"dp=4", "compression.gradient.rank=7",
                                      "compression.backward.rank=5", NULL},
                &job);
    struct fr_outcome out = distinct(&job);
    out.plan.compression.forward_rank = 3;
    struct fr_json_document *document = written(&job, &out);
    struct fr_json root = fr_json_root(document), lossy = member(&root, "lossy"),
                   memory = member(&root, "memory_B");
    says(&root, "schema", "forerun/outcome/1");
    says(&root, "engine", "closed");
    is_number(&root, "ranks", 101);
    is_number(&root, "parameters", 1.25);
    is_number(&root, "parameters_per_rank_max", 2.25);
    is_number(&root, "iteration_time_s", 3.25);
    is_number(&root, "iteration_time_low_s", 4.25);
    is_number(&root, "iteration_time_high_s", 5.25);
    is_number(&root, "iteration_energy_J", 6.25);
    is_number(&memory, "peak", 7.25);
    is_number(&root, "fullest_stage", 3);
    is_number(&root, "fullest_rank", 17);
    is_number(&root, "iterations", 10.25);
    says(&root, "iterations_origin", "interpolated");
    is_number(&root, "total_time_s", 11.25);
    is_number(&root, "total_energy_J", 12.25);
    are_numbers(&root, "breakdown_s", fr_part_names, out.part_s, FR_PART_COUNT, 0);
    are_numbers(&root, "bytes_per_rank", fr_sent_names, out.sent_B, FR_SENT_COUNT, 0);
    are_numbers(&root, "memory_B", fr_memory_names, out.memory_B, FR_MEMORY_COUNT, 4);
    is_number(&memory, "needed", 7.25); /* 2019: the device shows tensors */
    is_number(&root, "device_memory_B", job.cluster.device.memory_B);
    is_number(&root, "fits", fr_fits_probability(0.75));
    is_number(&lossy, "gradient_bytes", 0.5);
    is_number(&lossy, "gradient_rank", 7);
    is_number(&lossy, "backward_messages", 0.75);
    is_number(&lossy, "backward_rank", 5);
    is_number(&lossy, "gradient_break_even_B_per_s", 8.25);
    is_number(&lossy, "backward_break_even_B_per_s", 9.25);
    is_number(&lossy, "forward_messages", 0.625);
    is_number(&lossy, "forward_rank", 3);
    is_number(&lossy, "forward_break_even_B_per_s", 13.25);
    fr_json_free(document);
    fr_job_free(&job);
}

/* A value that was not priced, not stated or not done is null, absent or 0, not the struct's rest. */
static void what_is_not_known_is_null(void **state) {
    static const char *const lossy_null[] = {"gradient_break_even_B_per_s",
                                             "backward_break_even_B_per_s",
                                             "forward_break_even_B_per_s"};
    struct fr_job job;
    (void)state;
    fr_test_job("dgx-h100", "gpt-8.3b", (const char *const[]){"dp=4", NULL}, &job);
    struct fr_outcome out = distinct(&job);
    out.time_s = NAN, out.high_s = 0, out.parameters = NAN, out.peak_rank = -1;
    out.lossy_gradient = out.lossy_backward = out.lossy_forward = 0;
    out.break_even_gradient_B_per_s = out.break_even_backward_B_per_s = 0;
    out.break_even_forward_B_per_s = 0, out.plan.compression.forward_rank = 3;
    out.iterations = out.total_time_s = out.total_energy_J = NAN, out.iterations_origin = 0;
    struct fr_json_document *document = written(&job, &out);
    struct fr_json root = fr_json_root(document), lossy = member(&root, "lossy"),
                   memory = member(&root, "memory_B");
    struct fr_json low = fr_json_member(&root, "iteration_time_low_s"),
                   from = fr_json_member(&root, "interval_from");
    assert_false(fr_json_present(&low) || fr_json_present(&from));
    is_number(&root, "parameters", NAN);
    is_number(&root, "parameters_per_rank_max", NAN);
    is_number(&root, "iteration_time_s", NAN);
    is_number(&root, "fullest_rank", NAN);
    is_number(&root, "fullest_stage", NAN);
    is_number(&root, "iterations", NAN);
    says(&root, "iterations_origin", "unknown");
    is_number(&memory, "peak", NAN);
    is_number(&root, "memory_low_B", NAN);
    is_number(&root, "memory_high_B", NAN);
    for (int i = 0; i < FR_MEMORY_COUNT; i++) is_number(&memory, fr_memory_names[i], NAN);
    for (int i = 0; i < 3; i++) is_number(&lossy, lossy_null[i], NAN);
    is_number(&lossy, "gradient_rank", 0);
    is_number(&lossy, "backward_rank", 0);
    is_number(&lossy, "forward_rank", 0);
    is_bool(&root, "near_memory_edge", false);
    fr_json_free(document);
    fr_job_free(&job);
}

/* Predicted times and by exp(t s) of a transformer's plans; nothing of what no run says anything of. */
static void memory_has_an_interval(void **state) {
    static const char *const models[] = {"gpt-8.3b", "ffn-4096"};
    (void)state;
    for (int i = 0; i < 2; i++) {
        struct fr_job job;
        fr_test_job("dgx-h100", models[i], (const char *const[]){"dp=4", NULL}, &job);
        struct fr_outcome out = distinct(&job);
        struct fr_json_document *document = written(&job, &out);
        struct fr_json root = fr_json_root(document);
        double reach = exp(2.132 * 0.0289);
        is_number(&root, "memory_low_B", i == 0 ? out.memory_peak_B / reach : NAN);
        is_number(&root, "memory_high_B", i == 0 ? out.memory_peak_B * reach : NAN);
        fr_json_free(document);
        fr_job_free(&job);
    }
}

/* Who states the interval; and where ranks hold no rank, stages still do. */
static void an_interval_says_whose_it_is(void **state) {
    struct fr_job job;
    (void)state;
    fr_test_job("dgx-h100", "gpt-8.3b", (const char *const[]){"dp=4", NULL}, &job);
    struct fr_outcome out = distinct(&job);
    const char *const wanted[] = {"priors", "calibration", "tuning", "widths"};
    out.iterations_origin = 1, out.peak_rank = 0, out.engine = "event";
    for (int i = 0; i < 4; i++) {
        job.cluster.uncertainty.present = i > 0; /* what comes of more is named first */
        job.cluster.calibration.held_out = i == 1 ? 0.1 : 0;
        job.cluster.tuning.present = i == 2;
        struct fr_json_document *document = written(&job, &out);
        struct fr_json root = fr_json_root(document);
        says(&root, "interval_from", wanted[i]);
        says(&root, "engine", "event");
        says(&root, "iterations_origin", "given");
        is_number(&root, "fullest_rank", 0);
        fr_json_free(document);
    }
    fr_job_free(&job);
}

/* Behind the plan's line what of model and cluster was varied, a key and its value. */
static void a_line_says_what_was_varied(void **state) {
    static char sequence[] = "model.sequence=4096",
                link[] = "cluster.levels.1.bandwidth=25 GB/s";
    char *const varied[] = {sequence, link};
    struct fr_job job;
    struct fr_outcome out;
    char line[FR_PLAN_LINE + 200], plan[FR_PLAN_LINE], want[FR_PLAN_LINE + 200];
    (void)state;
    fr_test_job("dgx-h100", "gpt-8.3b", (const char *const[]){"dp=4", NULL}, &job);
    fr_cost(&job, &job.plan, &out);
    snprintf(want, sizeof want, "%s, model.sequence 4096, cluster.levels.1.bandwidth 25 GB/s",
             fr_plan_line(&out.plan, 0, plan, sizeof plan));
    struct fr_job of = job;
    of.varied = varied, of.n_varied = 2;
    out.job = &of;
    assert_string_equal(fr_report_outcome_line(&out, line, sizeof line), want);
    fr_job_free(&job);
}

/* An object and columns of their own for what was varied; frozen parameters and a plain iteration only where there are
 * some; of each level with units of which a job has several what is filled. */
static void what_some_outcomes_have(void **state) {
    static char first[] = "model.sequence=4096", second[] = "cluster.note=a, \"b\"=c";
    char *const varied[] = {first, second};
    struct fr_job job;
    (void)state;
    fr_test_job("dgx-h100", "gpt-8.3b", (const char *const[]){"dp=12", NULL}, &job);
    struct fr_outcome out = distinct(&job);
    out.ranks = 12; /* a node and a half */
    for (int some = 0; some < 2; some++) {
        struct fr_text head = {0}, row = {0};
        struct fr_filled filled[FR_LEVEL_MAX];
        job.varied = some ? (char **)varied : NULL, job.n_varied = 2 * some;
        out.parameters_frozen = some ? 0.75 : 0;
        out.plain_time_s = some ? 1.5 : 0, out.plain_energy_J = 2.5;
        struct fr_json_document *document = written(&job, &out);
        struct fr_json root = fr_json_root(document), of = fr_json_member(&root, "varied"),
                       trained = fr_json_member(&root, "parameters_trained"),
                       plain = fr_json_member(&root, "warm_up_iteration_time_s"),
                       units = member(&root, "units");
        assert_true(fr_json_present(&of) == some && fr_json_present(&trained) == some &&
                    fr_json_present(&plain) == some);
        if (some) {
            says(&of, "model.sequence", "4096");
            says(&of, "cluster.note", "a, \"b\"=c");
            assert_null(fr_json_key_at(&of, 2));
            is_number(&root, "parameters_trained", 0.5);
            is_number(&root, "warm_up_iteration_time_s", 1.5);
            is_number(&root, "warm_up_iteration_energy_J", 2.5);
        }
        int n = fr_outcome_filled(&job, &out, filled);
        assert_true(n > 0 && fr_json_array_length(&units) == n);
        for (int i = 0; i < n; i++) {
            struct fr_json unit = fr_json_element(&units, i);
            says(&unit, "level", filled[i].level);
            is_number(&unit, "units", (double)filled[i].units);
            is_number(&unit, "ranks", (double)filled[i].ranks);
            is_number(&unit, "last", (double)filled[i].last);
            is_number(&unit, "holds", (double)filled[i].holds);
        }
        assert_true(filled[0].units == 2 && filled[0].ranks == 8 && filled[0].last == 4 &&
                    filled[0].holds == 8);
        fr_report_csv_header(&head, &job);
        fr_report_csv_row(&row, &job, &out);
        const char *names = ",model.sequence,cluster.note\r\n",
                   *values = ",4096,\"a, \"\"b\"\"=c\"\r\n";
        const struct fr_text *both[] = {&head, &row};
        for (int i = 0; i < 2; i++) {
            const char *end = i ? values : names;
            bool ends = both[i]->length > strlen(end) &&
                        strcmp(both[i]->data + both[i]->length - strlen(end), end) == 0;
            FR_TRUE(ends == some, "%s does not end with %s", both[i]->data, end);
        }
        fr_json_free(document);
        fr_text_free(&head);
        fr_text_free(&row);
    }
    job.varied = NULL, job.n_varied = 0;
    fr_job_free(&job);
}

/* The last of nodes of eight is not full: as many in each would be in the fewest nodes that divide the ranks, and is
 * reported where it is half a node at least. */
static void what_a_balanced_job_would_fill(void **state) {
    struct fr_job job;
    int stated = 0;
    (void)state;
    fr_test_job("dgx-h100", "gpt-8.3b", (const char *const[]){"dp=9", NULL}, &job);
    struct fr_outcome out = distinct(&job);
    for (int64_t n = 9; n < 60; n++) {
        struct fr_filled filled[FR_LEVEL_MAX];
        int64_t units = (n + 7) / 8, equal = units;
        while (n % equal != 0) equal++;
        out.ranks = out.plan.dp = n;
        int levels = fr_outcome_filled(&job, &out, filled);
        assert_int_equal(levels, n % 8 != 0);
        if (levels == 0) continue;
        assert_true(filled[0].units == units && filled[0].ranks == 8 &&
                    filled[0].last == n % 8 && filled[0].holds == 8);
        FR_TRUE(filled[0].equal == (n / equal >= 4 ? n / equal : 0), "%d ranks: %d in each",
                (int)n, (int)filled[0].equal);
        stated += filled[0].equal > 0;
    }
    FR_TRUE(stated > 10, "%d", stated);
    fr_job_free(&job);
}

/* One sentence a reason, in the order of the table; one name a bit. */
static void reasons_and_names_are_counted(void **state) {
    struct fr_job job;
    (void)state;
    fr_test_job("dgx-h100", "gpt-8.3b", (const char *const[]){"dp=4", NULL}, &job);
    struct fr_outcome out = distinct(&job);
    for (int i = 0; i < FR_REASON_COUNT; i++) {
        struct fr_text text = {0};
        out.reasons = i ? FR_BECAUSE(i) | FR_BECAUSE(0) : 0;
        out.extrapolated = i <= FR_OP_COUNT ? (uint32_t)1 << i : 0;
        struct fr_json_document *document = written(&job, &out);
        struct fr_json root = fr_json_root(document), reasons = member(&root, "reasons"),
                       names = member(&root, "extrapolated");
        is_bool(&root, "feasible", i == 0);
        assert_int_equal(fr_json_array_length(&reasons), i == 0 ? 0 : 2);
        assert_int_equal(fr_json_array_length(&names), i <= FR_OP_COUNT);
        for (int k = 0; i && k < 2; k++) {
            struct fr_json one = fr_json_element(&reasons, k);
            text.length = 0;
            fr_report_reason(&job, &out, k ? i : 0, &text);
            is_text(&one, fr_text_get(&text));
        }
        struct fr_json name = fr_json_element(&names, 0);
        if (i < FR_OP_COUNT) {
            char wanted[64];
            snprintf(wanted, sizeof wanted, "collectives.%s", fr_op_names[i]);
            is_text(&name, wanted);
        } else if (i == FR_OP_COUNT) {
            is_text(&name, "gemm");
        }
        fr_text_free(&text);
        fr_json_free(document);
    }
    fr_job_free(&job);
}

/* Only from nine tenths of the device's memory to all of it. */
static void near_the_edge_is_said(void **state) {
    static const double shares[] = {0.5, 0.89, 0.91, 1, 1.01};
    struct fr_job job;
    (void)state;
    fr_test_job("dgx-h100", "gpt-8.3b", (const char *const[]){"dp=4", NULL}, &job);
    struct fr_outcome out = distinct(&job);
    for (int i = 0; i < 5; i++) {
        out.memory_peak_B = shares[i] * job.cluster.device.memory_B;
        struct fr_json_document *document = written(&job, &out);
        struct fr_json root = fr_json_root(document);
        is_bool(&root, "near_memory_edge", i == 2 || i == 3);
        fr_json_free(document);
    }
    fr_job_free(&job);
}

/* Where numbers come from: names, else files; power as it is known. */
static void provenance_names_its_sources(void **state) {
    static const char *const power[] = {"unavailable", "not stated", "sampled"};
    struct fr_job job;
    (void)state;
    fr_test_job("dgx-h100", "gpt-8.3b", (const char *const[]){"dp=4", NULL}, &job);
    struct fr_outcome out = distinct(&job);
    for (int i = 0; i < 3; i++) {
        struct fr_power *of = &job.cluster.device.power;
        of->known = i > 0;
        strcpy(of->quality, i == 2 ? "sampled" : "");
        job.cluster.calibration.oversubscribed = i == 1;
        if (i == 1) job.cluster.name[0] = job.workload.name[0] = '\0';
        struct fr_json_document *document = written(&job, &out);
        struct fr_json root = fr_json_root(document), from = member(&root, "provenance");
        says(&from, "power", power[i]);
        says(&from, "version", fr_version);
        says(&from, "cluster", i ? job.cluster_from : job.cluster.name);
        says(&from, "model", i ? job.model_from : job.workload.name);
        says(&from, "cluster_source", job.cluster.source);
        says(&from, "model_source", job.workload.source);
        is_bool(&from, "oversubscribed", i == 1);
        fr_json_free(document);
    }
    fr_job_free(&job);
}

/* ---- CSV --------------------------------------------------------------------------------------- */

/* Field @p at of a line without quotes; "" where it ends before. */
static const char *field(const char *line, int at, char *out, size_t capacity) {
    for (; at > 0 && *line; line++) at -= *line == ',';
    snprintf(out, capacity, "%.*s", (int)strcspn(line, ",\r"), at ? "" : line);
    return out;
}

static void column(const struct fr_text *head, const struct fr_text *row, const char *name,
                   double wanted) {
    char word[256];
    for (int i = 0; *field(fr_text_get((struct fr_text *)head), i, word, sizeof word); i++) {
        if (strcmp(word, name) != 0) continue;
        field(fr_text_get((struct fr_text *)row), i, word, sizeof word);
        if (isnan(wanted))
            FR_TRUE(!*word, "%s: got %s, want nothing", name, word);
        else
            FR_TRUE(*word && strtod(word, NULL) == wanted, "%s: got %s, want %g", name, word,
                    wanted);
        return;
    }
    fail_msg("no column %s", name);
}

static void columns_are_the_outcome(void **state) {
    struct fr_job job;
    (void)state;
    fr_test_job("dgx-h100", "gpt-8.3b",
                (const char *const[]){"dp=4", "pp=3", "tp=2", "micro_batch=6", NULL}, &job);
    struct fr_outcome out = distinct(&job);
    for (int priced = 0; priced < 2; priced++) {
        struct fr_text head = {0}, row = {0};
        char name[80];
        if (!priced)
            out.time_s = NAN;
        else
            out.time_s = 3.25;
        fr_report_csv_header(&head, &job);
        fr_report_csv_row(&row, &job, &out);
        column(&head, &row, "ranks", 101);
        column(&head, &row, "dp", 4);
        column(&head, &row, "pp", 3);
        column(&head, &row, "tp", 2);
        column(&head, &row, "ghost", 0);
        column(&head, &row, "micro_batch", 6);
        column(&head, &row, "parameters", priced ? 1.25 : NAN);
        column(&head, &row, "parameters_per_rank_max", priced ? 2.25 : NAN);
        column(&head, &row, "iteration_time_s", priced ? 3.25 : NAN);
        column(&head, &row, "iteration_energy_J", priced ? 6.25 : NAN);
        column(&head, &row, "iterations", priced ? 10.25 : NAN);
        column(&head, &row, "total_time_s", priced ? 11.25 : NAN);
        column(&head, &row, "total_energy_J", priced ? 12.25 : NAN);
        column(&head, &row, "memory_peak_B", priced ? 7.25 : NAN);
        column(&head, &row, "memory_shown_B", priced ? 7.25 : NAN);
        column(&head, &row, "fits", priced ? fr_fits_probability(0.75) : NAN);
        for (int i = 0; i < FR_PART_COUNT; i++) {
            snprintf(name, sizeof name, "%s_s", fr_part_names[i]);
            column(&head, &row, name, priced ? out.part_s[i] : NAN);
        }
        fr_text_free(&head);
        fr_text_free(&row);
    }
    fr_job_free(&job);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_has_an_interval),
        cmocka_unit_test(json_is_the_outcome),
        cmocka_unit_test(what_is_not_known_is_null),
        cmocka_unit_test(an_interval_says_whose_it_is),
        cmocka_unit_test(a_line_says_what_was_varied),
        cmocka_unit_test(what_some_outcomes_have),
        cmocka_unit_test(what_a_balanced_job_would_fill),
        cmocka_unit_test(reasons_and_names_are_counted),
        cmocka_unit_test(near_the_edge_is_said),
        cmocka_unit_test(provenance_names_its_sources),
        cmocka_unit_test(columns_are_the_outcome),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
