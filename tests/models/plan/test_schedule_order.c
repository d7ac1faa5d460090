/* Orders of passes as they are read: what is no order, and what deadlocks, is refused with its place and its cycle. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "models/plan/schedule_order.h"
#include "tests/job.h"
#include "tests/plan_values.h"

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
        {"[\"\"]", "plan#/schedule", "lists no pass"},
        {"[\" \", []]", "plan#/schedule", ""},
        {"[\"F0\"]", "plan#/schedule/0", "lists 1 passes"},
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
    static const char *const stated[] = {"the order of passes deadlocks: stage 0 at F0.1 waits "
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
        assert_string_equal(err.detail, stated[P - 4]);
        fr_text_free(&set);
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

/* The written plan has the same order: passes of chunk 0 state no chunk, one blank parts them. */
static void is_written(const struct orders *o, const struct fr_plan *plan) {
    struct fr_text text = {0}, want = {0};
    struct fr_json_writer w = {.text = &text};
    struct fr_json_document *document = NULL;
    fr_plan_write(&w, plan);
    assert_int_equal(fr_json_parse(text.data, text.length, "plan", &document, NULL), FR_OK);
    struct fr_json root = fr_json_root(document), order = fr_json_member(&root, "schedule"),
                   stages = fr_json_member(&order, "stages");
    assert_int_equal(fr_json_array_length(&stages), o->P);
    for (int i = 0; i < o->P; i++) {
        struct fr_json stage = fr_json_element(&stages, i);
        const char *got = NULL;
        want.length = 0;
        for (int k = 0; k < o->n; k++) {
            fr_text_addf(&want, "%s%c%d", k ? " " : "", "FBW"[o->pass[i][k].kind],
                         o -> pass[i][k].micro);
            if (o->pass[i][k].chunk) fr_text_addf(&want, ".%d", o->pass[i][k].chunk);
        }
        assert_int_equal(fr_json_text(&stage, &got, NULL), FR_OK);
        assert_string_equal(got, fr_text_get(&want));
    }
    fr_json_free(document);
    fr_text_free(&text);
    fr_text_free(&want);
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
            if (round % 4 == 0) is_written(&o, &job.plan);
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

/* A name that ends in .json is a file here, without a slash too; a shorter one is no file. */
static void files_of_orders(void **state) {
    char folder[] = "/tmp/forerun-test-order-XXXXXX", back[1024];
    (void)state;
    assert_non_null(getcwd(back, sizeof back));
    assert_non_null(mkdtemp(folder));
    assert_int_equal(chdir(folder), 0);
    FILE *file = fopen("a.json", "w");
    assert_non_null(file);
    fputs("[\"F0 F1 B0 B1\", \"F0 B0 F1 B1\"]", file);
    fclose(file);
    static const char *const named[] = {"schedule=a.json", "schedule=./a.json",
                                        "schedule=.json", "schedule=b.json", "schedule=ajson"};
    static const char *const says[] = {NULL, NULL, "unknown value", "No such file",
                                       "unknown value"};
    for (int k = 0; k < 5; k++) {
        struct fr_job_names names = {
            .cluster = "a100-hdr", .model = "gpt-2.5b", .sets = &named[k], .n_sets = 1};
        struct fr_error err = {0};
        struct fr_job job;
        fr_status status = fr_job_load(&names, &job, &err);
        FR_TRUE((status == FR_OK) == (says[k] == NULL), "%s: %s", named[k], err.detail);
        if (status == FR_OK)
            assert_true(job.plan.order && job.plan.order->stages == 2 && job.plan.pp == 2);
        else
            FR_TRUE(strstr(err.detail, says[k]), "%s: %s", named[k], err.detail);
        fr_job_free(&job);
    }
    unlink("a.json");
    assert_int_equal(chdir(back), 0);
    assert_int_equal(rmdir(folder), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(refused), cmocka_unit_test(long_cycles),
                                       cmocka_unit_test(random_orders),
                                       cmocka_unit_test(files_of_orders)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
