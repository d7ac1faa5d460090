/* Orders written by users: a table's row written out runs as the row does; what is no order, and
 * what deadlocks, is refused with its place and its cycle. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/text.h"
#include "models/outcome/cost.h"
#include "models/price/pipeline.h"
#include "sim/run.h"
#include "tests/job.h"
#include "tests/plan_values.h"
#include "tests/sim/pipeline_case.h"

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
            struct fr_outcome mine = price(path, own, event),
                              theirs = price(path, known, event);
            FR_NEAR(mine.time_s, theirs.time_s, 1e-15);
            for (int i = 0; i < FR_PART_COUNT; i++)
                assert_true(fabs(mine.part_s[i] - theirs.part_s[i]) <= 1e-12);
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

static void refused(void **state) {
    (void)state;
    static const struct {
        const char *order, *where, *detail;
    } bad[] = {
        {"[\"F0 B0\", \"B0 F0\"]", "plan#/schedule",
         "deadlocks: stage 1 at B0 waits for F0 of stage 1"},
        {"[\"F0 B0 F1 B1\", \"F1 B1 F0 B0\"]", "plan#/schedule",
         "deadlocks: stage 0 at B0 waits for B0 of stage 1, stage 1 at F1 waits for F1 of "
         "stage 0"},
        {"[\"F0 B0 F1 B1\", \"F0 F1 B0 B1\", \"F0 F1 B0 B1\"]", "plan#/schedule",
         "deadlocks: stage 0 at B0 waits for B0 of stage 1, stage 1 at F1 waits for F1 of "
         "stage 0"},
        {"[\"F0 W0 B0\"]", "plan#/schedule", "stage 0 at W0 waits for B0 of stage 0"},
        {"[\"F0 B0\", \"F0 B0 F1\"]", "plan#/schedule/0", "lists 2 passes"},
        {"[\"F0 F0 B0 B1\"]", "plan#/schedule/0", "twice"},
        {"[\"F0 X1\"]", "plan#/schedule/0", "\"X1\" is no pass"},
        {"[\"F0 B-1\"]", "plan#/schedule/0", "no pass"},
        {"[[\"F0\", 7]]", "plan#/schedule/0/1", "string"},
        {"[]", "plan#/schedule", "1"},
        {"{\"stages\": [\"F0 B0\"], \"x\": 1}", "plan#/schedule", "unknown"},
        {"/nowhere/order.json", "/nowhere/order.json", "No such file"},
        {"custom", "plan#/schedule", "needs an order"},
        {"7", "plan#/schedule", "object"},
    };
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        char set[256];
        snprintf(set, sizeof set, "schedule=%s", bad[k].order);
        struct fr_error err = fr_test_refused("a100-hdr", "gpt-2.5b", set);
        FR_TRUE(strncmp(err.where, bad[k].where, strlen(bad[k].where)) == 0 &&
                    strstr(err.detail, bad[k].detail),
                "%s: %s: %s", set, err.where, err.detail);
        assert_int_equal(fr_status_exit_code(err.status), 3);
    }
}

/* Around a ring of chunks: told whole of four stages, of five the first four and how many they are. */
static void long_cycles(void **state) {
    static const char *const told[] = {"the order of passes deadlocks: stage 0 at F0.1 waits "
                                       "for F0.0 of stage 3, stage 3 at F0.0 waits for "
                                       "F0.0 of stage 2, stage 2 at F0.0 waits for F0.0 of "
                                       "stage 1, stage 1 at F0.0 waits for F0.0 of stage 0",
                                       "the order of passes deadlocks: stage 0 at F0.1 waits "
                                       "for F0.0 of stage 4, stage 4 at F0.0 waits for "
                                       "F0.0 of stage 3, stage 3 at F0.0 waits for F0.0 of "
                                       "stage 2, stage 2 at F0.0 waits for F0.0 of stage "
                                       "1, and so on round 5 stages"};
    (void)state;
    for (int P = 4; P <= 5; P++) {
        struct fr_text set = {0};
        fr_text_addf(&set, "schedule=[\"F0.1 F0 B0.1 B0\"");
        for (int i = 1; i < P; i++) fr_text_addf(&set, ", \"F0 F0.1 B0.1 B0\"");
        fr_text_addf(&set, "]");
        struct fr_error err = fr_test_refused("a100-hdr", "gpt-2.5b", fr_text_get(&set));
        assert_string_equal(err.detail, told[P - 4]);
        fr_text_free(&set);
    }
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

/* ---- random orders ------------------------------------------------------------------------------ */

enum { STAGES = 6, SLOTS = 18 };

/* Orders of passes (kind, micro-batch, chunk) and how far each stage gets. */
struct orders {
    int P, M, C, kinds, n, at[STAGES];
    struct {
        int kind, micro, chunk;
    } pass[STAGES][SLOTS];
};

/* Chunks in a row are P C stages in a row: forward waits for the one below, backward for the one above and at the
 * end for the forward pass, a weight gradient for its backward pass. @return false: for nothing */
static bool waits_for(const struct orders *o, int stage, int k, int *on, int *kind,
                      int *chunk) {
    int place = o->pass[stage][k].chunk * o->P + stage, last = o->P * o->C - 1;
    *kind = o->pass[stage][k].kind;
    if (*kind == 2)
        *kind = 1;
    else if (*kind == 0 && place-- == 0)
        return false;
    else if (*kind == 1 && place++ == last)
        *kind = 0, place = last;
    *on = place % o->P, *chunk = place / o->P;
    return true;
}

static bool is_done(const struct orders *o, int stage, int kind, int micro, int chunk) {
    for (int k = 0; k < o->at[stage]; k++)
        if (o->pass[stage][k].kind == kind && o->pass[stage][k].micro == micro &&
            o->pass[stage][k].chunk == chunk)
            return true;
    return false;
}

/* One pass at a time, whoever can. */
static bool all_get_through(struct orders *o) {
    bool moved = true, all = true;
    memset(o->at, 0, sizeof o->at);
    while (moved) {
        moved = false;
        for (int i = 0; i < o->P; i++) {
            int on, kind, chunk, k = o->at[i];
            if (k == o->n) continue;
            if (waits_for(o, i, k, &on, &kind, &chunk) &&
                !is_done(o, on, kind, o->pass[i][k].micro, chunk))
                continue;
            o->at[i]++;
            moved = true;
        }
    }
    for (int i = 0; i < o->P; i++) all = all && o->at[i] == o->n;
    return all;
}

/* From the lowest stage that is stuck to the first that comes again, then round from the lowest of these. */
static void tell_cycle(const struct orders *o, struct fr_text *text) {
    int on[STAGES], kind[STAGES], chunk[STAGES], at = 0, lowest, length = 0;
    bool seen[STAGES] = {false};
    for (int i = 0; i < o->P; i++)
        if (o->at[i] < o->n) waits_for(o, i, o->at[i], &on[i], &kind[i], &chunk[i]);
    while (o->at[at] == o->n) at++;
    for (; !seen[at]; at = on[at]) seen[at] = true;
    lowest = at;
    for (int i = on[at]; i != at; i = on[i])
        if (i < lowest) lowest = i;
    at = lowest;
    do {
        int k = o->at[at], micro = o->pass[at][k].micro;
        if (length++ < 4) {
            fr_text_addf(text, "%sstage %d at %c%d", length > 1 ? ", " : "", at,
                         "FBW"[o->pass[at][k].kind], micro);
            if (o->C > 1) fr_text_addf(text, ".%d", o->pass[at][k].chunk);
            fr_text_addf(text, " waits for %c%d", "FBW"[kind[at]], micro);
            if (o->C > 1) fr_text_addf(text, ".%d", chunk[at]);
            fr_text_addf(text, " of stage %d", on[at]);
        }
        at = on[at];
    } while (at != lowest);
    if (length > 4) fr_text_addf(text, ", and so on round %d stages", length);
}

/* Micro-batch after micro-batch through all chunks; then a few passes change places. */
static void draw_orders(uint64_t *dice, struct orders *o) {
    *o = (struct orders){.P = 1 + (int)fr_test_random(dice, STAGES),
                         .M = 1 + (int)fr_test_random(dice, 3),
                         .C = 1 + (int)fr_test_random(dice, 2),
                         .kinds = 2 + (int)fr_test_random(dice, 2)};
    for (int i = 0; i < o->P; i++) {
        o->n = 0;
        for (int m = 0; m < o->M; m++)
            for (int kind = 0; kind < o->kinds; kind++)
                for (int c = 0; c < o->C; c++, o->n++) {
                    o->pass[i][o->n].kind = kind;
                    o->pass[i][o->n].micro = m;
                    o->pass[i][o->n].chunk = kind == 1 ? o->C - 1 - c : c;
                }
    }
    for (uint64_t swaps = fr_test_random(dice, 5); swaps-- > 0;) {
        int i = (int)fr_test_random(dice, (uint64_t)o->P),
            x = (int)fr_test_random(dice, (uint64_t)o->n),
            y = (int)fr_test_random(dice, (uint64_t)o->n);
        __typeof__(o->pass[i][x]) pass = o->pass[i][x];
        o->pass[i][x] = o->pass[i][y];
        o->pass[i][y] = pass;
    }
}

static void is_read(const struct orders *o, const struct fr_plan *plan, const char *set) {
    const struct fr_schedule_order *order = plan->order;
    FR_TRUE(order && order->stages == o->P && order->micro_batches == o->M &&
                order->chunks == o->C && order->n_slots == o->n &&
                order->splits_backward == (o->kinds == 3),
            "%s", set);
    FR_TRUE(plan->pp == o->P && plan->chunks == o->C, "%s", set);
    for (int i = 0; i < o->P; i++)
        for (int k = 0; k < o->n; k++) {
            const struct fr_slot *slot = &order->slots[i * order->n_slots + k];
            FR_TRUE(slot->kind == o->pass[i][k].kind && slot->micro == o->pass[i][k].micro &&
                        slot->chunk == o->pass[i][k].chunk,
                    "stage %d, pass %d: %s", i, k, set);
        }
}

/* Read as written where all get through; else the sentence goes round a cycle that is there.  Passes of one chunk say
 * no chunk, or 0; blanks and tabs part them; a stage is a text or a list. */
static void random_orders(void **state) {
    uint64_t dice = 0x853c49e6748fea9bu;
    int through = 0, stuck = 0;
    (void)state;
    for (int round = 0; round < 3000; round++) {
        struct orders o;
        struct fr_text set = {0}, cycle = {0};
        struct fr_error err = {0};
        struct fr_job job;
        draw_orders(&dice, &o);
        fr_text_addf(&set, "schedule=[");
        for (int i = 0; i < o.P; i++) {
            bool list = fr_test_random(&dice, 3) == 0;
            fr_text_addf(&set, "%s%s", i ? ", " : "", list ? "[\"" : "\"");
            for (int k = 0; k < o.n; k++) {
                if (k) fr_text_addf(&set, "%s", list && k % 2 ? "\", \"" : k % 3 ? " " : "  ");
                fr_text_addf(&set, "%c%d", "FBW"[o.pass[i][k].kind], o.pass[i][k].micro);
                if (o.C > 1 || k % 4 == 0) fr_text_addf(&set, ".%d", o.pass[i][k].chunk);
            }
            fr_text_addf(&set, "%s", list ? "\"]" : "\"");
        }
        fr_text_addf(&set, "]");
        const char *sets = fr_text_get(&set);
        struct fr_job_names names = {
            .cluster = "a100-hdr", .model = "gpt-2.5b", .sets = &sets, .n_sets = 1};
        fr_status status = fr_job_load(&names, &job, &err);
        if (all_get_through(&o)) {
            FR_TRUE(status == FR_OK, "%s: %s %s", sets, err.where, err.detail);
            is_read(&o, &job.plan, sets);
            through++;
        } else {
            tell_cycle(&o, &cycle);
            FR_TRUE(status == FR_ERR_INPUT &&
                        strncmp(err.detail, "the order of passes deadlocks: ", 31) == 0 &&
                        strcmp(err.detail + 31, fr_text_get(&cycle)) == 0,
                    "%s: \"%s\", not \"%s\"", sets, err.detail, fr_text_get(&cycle));
            stuck++;
        }
        fr_job_free(&job);
        fr_text_free(&set);
        fr_text_free(&cycle);
    }
    FR_TRUE(through > 500 && stuck > 500, "%d, %d", through, stuck);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(written_out_runs_alike),
                                       cmocka_unit_test(from_a_file),
                                       cmocka_unit_test(refused),
                                       cmocka_unit_test(long_cycles),
                                       cmocka_unit_test(blocking_deadlock),
                                       cmocka_unit_test(an_order_that_was_not_checked),
                                       cmocka_unit_test(weights_wait_for_their_inputs),
                                       cmocka_unit_test(random_orders)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
