/* Orders written by users: a table's row written out runs as the row does; the engine reports deadlocks for lack of
 * buffers. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/text.h"
#include "models/outcome/cost.h"
#include "models/price/pipeline.h"
#include "sim/run.h"
#include "tests/job.h"
#include "tests/pipeline_case.h"

static const char path_form[] = "/tmp/fr_test_stages_XXXXXX";

/* A file of @p text; its path into @p path. */
static void write_file(const char *text, char *path) {
    strcpy(path, path_form);
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
    close(fd);
}

static const char model[] =
    "{\"kind\": \"stages\", \"forward\": \"1 ms\", \"backward\": \"2 ms\", "
    "\"weight\": \"1 ms\", \"message\": \"1 MB\", \"global_batch\": 12}";

/* @p schedule written out as --set takes it. */
static void write_out(const struct fr_schedule *schedule, const struct fr_schedule_args *a,
                      struct fr_text *text) {
    struct fr_slot slots[256];
    fr_text_addf(text, "schedule=[");
    for (int32_t i = 0; i < a->stages; i++) {
        int64_t n = schedule->order(a, i, slots);
        fr_text_addf(text, i ? ",\"" : "\"");
        for (int64_t k = 0; k < n; k++)
            fr_text_addf(text, "%s%c%d.%d", k ? " " : "", "FBW"[slots[k].kind], slots[k].micro,
                         slots[k].chunk);
        fr_text_addf(text, "\"");
    }
    fr_text_addf(text, "]");
}

static struct fr_outcome price(const char *path, const char *const *sets, bool event) {
    struct fr_job job;
    struct fr_outcome out;
    fr_test_job("a100-hdr", path, sets, &job);
    fr_cost(&job, &job.plan, &out);
    if (event) {
        struct fr_simulation s;
        struct fr_error err = {0};
        if (fr_simulate(&job, &job.plan, NULL, &s, &err) != FR_OK)
            fail_msg("%s: %s", err.where, err.detail);
        out = s.outcome;
        fr_simulation_free(&s);
    }
    fr_job_free(&job);
    return out;
}

static void written_out_runs_alike(void **state) {
    (void)state;
    char path[64];
    write_file(model, path);
    for (int k = 0; fr_schedules[k]; k++) {
        const struct fr_schedule *row = fr_schedules[k];
        struct fr_schedule_args a = {4, 12, row->interleaves ? 2 : 1, NULL};
        struct fr_text text = {0}, name = {0};
        if (row->refuses(&a) || row->folds)
            continue; /* custom itself; an order of one's own folds not */
        write_out(row, &a, &text);
        fr_text_addf(&name, "schedule=%s", row->name);
        const char *own[] = {fr_text_get(&text), NULL};
        const char *known[] = {fr_text_get(&name), "pp=4",
                               a.chunks == 2 ? "chunks=2" : "chunks=1", NULL};
        for (int event = 0; event < 2; event++) {
            struct fr_outcome ours = price(path, own, event),
                              theirs = price(path, known, event);
            FR_NEAR(ours.time_s, theirs.time_s, 1e-15);
            for (int i = 0; i < FR_PART_COUNT; i++)
                assert_true(fabs(ours.part_s[i] - theirs.part_s[i]) <= 1e-12);
        }
        fr_text_free(&text);
        fr_text_free(&name);
    }
    unlink(path);
}

/* A file, an object with "stages", stages as lists of passes. */
static void from_a_file(void **state) {
    (void)state;
    char path[64], order[80], set[128];
    write_file(model, path);
    snprintf(order, sizeof order, "%s.json", path);
    FILE *file = fopen(order, "w");
    fprintf(file, "{\"name\": \"mine\", \"stages\": [[\"F0\", \"F1\", \"B0\", \"B1\"], "
                  "[\"F0 B0\", \"F1 B1\"]]}");
    fclose(file);
    snprintf(set, sizeof set, "schedule=%s", order);
    const char *sets[] = {set, "global_batch=2", NULL};
    struct fr_outcome out = price(path, sets, true);
    assert_int_equal(out.plan.pp, 2);
    assert_string_equal(out.plan.schedule->name, "custom");
    assert_true(out.reasons == 0 && out.time_s > 9e-3);
    const char *other[] = {set, "global_batch=4", NULL};
    assert_true(price(path, other, false).reasons & FR_BECAUSE(FR_REASON_SCHEDULE));
    unlink(order);
    unlink(path);
}

/* With blocking messages an order may deadlock that runs without: then the engine says so. */
static void blocking_deadlock(void **state) {
    (void)state;
    char path[64];
    write_file(model, path);
    const char *sets[] = {"schedule=[\"F0 F1 F2 B0 B1 B2\", \"F0 B0 F1 B1 F2 B2\"]",
                          "p2p=duplex", "global_batch=3", NULL};
    struct fr_job job;
    struct fr_simulation s;
    struct fr_error err = {0};
    fr_test_job("a100-hdr", path, sets, &job);
    assert_int_equal(fr_simulate(&job, &job.plan, NULL, &s, &err), FR_ERR_INPUT);
    FR_TRUE(
        strstr(err.detail, "stage 0 blocks to send stage 1 the activation of micro-batch 1") &&
            strstr(err.detail, "stage 1 blocks to send stage 0 the gradient of micro-batch 0"),
        "%s", err.detail);
    fr_simulation_free(&s);
    fr_job_free(&job);
    unlink(path);
}

/* An order that nobody checked before: the engine tells where each stage stands.  Stage 0 has done F0 and is to
 * do B1 before F1; stage 1 waits for that F1. */
static void an_order_that_was_not_checked(void **state) {
    (void)state;
    static struct pipeline_case c;
    struct fr_program program;
    struct fr_error err = {0};
    case_uniform(&c, &fr_schedule_one_f_one_b, 2, 3, 1, false, 1, 2, 0.1);
    int64_t n = c.p.n_slots, first = -1, second = -1;
    for (int64_t k = 0; k < n; k++) {
        if (c.slots[k].kind == FR_SLOT_FORWARD && c.slots[k].micro == 1) first = k;
        if (c.slots[k].kind == FR_SLOT_BACKWARD && c.slots[k].micro == 1) second = k;
    }
    assert_true(first >= 0 && second > first);
    struct fr_slot slot = c.slots[first];
    c.slots[first] = c.slots[second];
    c.slots[second] = slot;
    assert_int_equal(fr_program_make(&c.p, &program, &err), FR_ERR_INPUT);
    FR_TRUE(strstr(err.detail, "stage 0 at B1 waits for F1 of stage 0") ||
                strstr(err.detail, "stage 0 at B1 waits for B1 of stage 1, stage 1 at F1 waits "
                                   "for F1 of stage 0"),
            "%s", err.detail);
    fr_program_free(&program);
}

/* Nor does a weight gradient run before its input gradient. */
static void weights_wait_for_their_inputs(void **state) {
    (void)state;
    static struct pipeline_case c;
    case_uniform(&c, &fr_schedule_zero_bubble, 2, 4, 1, false, 1, 1, 0.1);
    assert_true(c.p.splits_backward);
    for (int stage = 0; stage < 2; stage++)
        for (int micro = 0; micro < 4; micro++) {
            struct fr_slot *input = NULL, *weight = NULL,
                           *slots = c.slots + stage * c.p.n_slots;
            struct fr_program program;
            struct fr_error err = {0};
            for (int64_t k = 0; k < c.p.n_slots; k++) {
                if (slots[k].micro != micro) continue;
                if (slots[k].kind == FR_SLOT_BACKWARD) input = &slots[k];
                if (slots[k].kind == FR_SLOT_WEIGHT) weight = &slots[k];
            }
            assert_true(input && weight > input);
            const struct fr_slot kept[] = {*input, *weight};
            *input = kept[1], *weight = kept[0];
            assert_int_equal(fr_program_make(&c.p, &program, &err), FR_ERR_INPUT);
            char wanted[64];
            snprintf(wanted, sizeof wanted, "stage %d at W%d waits for B%d", stage, micro,
                     micro);
            FR_TRUE(strstr(err.detail, wanted), "%s: %s", wanted, err.detail);
            fr_program_free(&program);
            *input = kept[0], *weight = kept[1];
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(written_out_runs_alike), cmocka_unit_test(from_a_file),
        cmocka_unit_test(blocking_deadlock), cmocka_unit_test(an_order_that_was_not_checked),
        cmocka_unit_test(weights_wait_for_their_inputs)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
