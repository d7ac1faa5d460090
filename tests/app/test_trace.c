/* Traces of real simulations, read back: slices of a thread never overlap, events come by time,
 * each message leaves once and arrives once and later, processes and threads have names and
 * places, and the counters peak at the memory and the power that the outcome states. */
#include <math.h>
#include <stdlib.h>

#include "answer/simulate/simulation.h"
#include "tests/job.h"

enum { PIDS = 64, TIDS = 400, MESSAGES = 1 << 16 };

struct seen {
    double slice_end_us[PIDS][TIDS], now_us, memory_B, power_W;
    bool named[PIDS], sorted[PIDS], thread_named[PIDS][TIDS], thread_sorted[PIDS][TIDS];
    double left_us[MESSAGES];
    int64_t slices, starts, finishes;
};

static void look(struct seen *s, const struct fr_json *node) {
    char phase[4] = "", name[64] = "";
    double ts_us = 0, dur_us = 0, value = 0;
    int64_t pid = 0, tid = 0, id = 0;
    assert_int_equal(fr_json_get_string(node, "ph", true, phase, sizeof phase, NULL), FR_OK);
    assert_int_equal(fr_json_get_string(node, "name", true, name, sizeof name, NULL), FR_OK);
    assert_int_equal(fr_json_get_integer(node, "pid", true, 0, PIDS - 1, &pid, NULL), FR_OK);
    fr_json_get_integer(node, "tid", false, 0, TIDS - 1, &tid, NULL);
    fr_json_get_integer(node, "id", false, 0, MESSAGES - 1, &id, NULL);
    fr_json_get_number(node, "ts", false, 0, 1e18, &ts_us, NULL);
    fr_json_get_number(node, "dur", false, 0, 1e18, &dur_us, NULL);
    if (phase[0] == 'M') {
        if (strcmp(name, "process_name") == 0) s->named[pid] = true;
        if (strcmp(name, "process_sort_index") == 0) s->sorted[pid] = true;
        if (strcmp(name, "thread_name") == 0) s->thread_named[pid][tid] = true;
        if (strcmp(name, "thread_sort_index") == 0) s->thread_sorted[pid][tid] = true;
        return;
    }
    FR_TRUE(ts_us >= s->now_us, "%s at %.3f after %.3f", name, ts_us, s->now_us);
    s->now_us = ts_us;
    if (phase[0] == 'X') {
        assert_true(s->named[pid] && s->sorted[pid]);
        assert_true(s->thread_named[pid][tid] && s->thread_sorted[pid][tid]);
        FR_TRUE(ts_us >= s->slice_end_us[pid][tid] - 1e-6, "%s overlaps at %.3f", name, ts_us);
        s->slice_end_us[pid][tid] = ts_us + dur_us;
        s->slices++;
    } else if (phase[0] == 's') {
        s->left_us[id] = ts_us + 1;
        s->starts++;
    } else if (phase[0] == 'f') {
        FR_TRUE(s->left_us[id] > 0 && ts_us + 1 >= s->left_us[id], "message %d", (int)id);
        s->left_us[id] = 0; /* arrives once */
        s->finishes++;
    } else if (phase[0] == 'C') {
        struct fr_json args = fr_json_member(node, "args");
        const char *key = fr_json_key_at(&args, 0);
        assert_int_equal(fr_json_get_number(&args, key, true, -1, 1e18, &value, NULL), FR_OK);
        double *peak = key[0] == 'B' ? &s->memory_B : &s->power_W;
        *peak = fmax(*peak, value);
    }
}

static void holds(const char *cluster, const char *model, const char *const *sets,
                  bool as_messages) {
    const struct fr_format *chrome = NULL;
    const struct fr_simulate_options how = {.timeline = true, .as_messages = as_messages};
    struct seen *s = calloc(1, sizeof *s);
    struct fr_job job;
    struct fr_simulation sim;
    struct fr_text text = {0};
    struct fr_error err = {0};
    struct fr_json_document *document = NULL;
    fr_test_job(cluster, model, sets, &job);
    if (fr_simulate(&job, &job.plan, &how, &sim, &err) != FR_OK)
        fail_msg("%s: %s", err.where, err.detail);
    assert_int_equal(fr_format_for_file("x.json", &chrome, NULL), FR_OK);
    assert_int_equal(fr_simulation_trace(&job, &sim, chrome, &text, &err), FR_OK);
    assert_int_equal(fr_json_parse(text.data, text.length, "trace", &document, &err), FR_OK);
    struct fr_json root = fr_json_root(document), events = fr_json_member(&root, "traceEvents");
    for (int64_t i = 0; i < fr_json_array_length(&events); i++) {
        struct fr_json node = fr_json_element(&events, i);
        look(s, &node);
    }
    struct fr_json notes = fr_json_member(&root, "otherData"),
                   fixed = fr_json_member(&notes, "fixed costs"); /* in the step, of no task */
    assert_int_equal(fr_json_present(&fixed), job.cluster.device.fixed_s > 0);
    assert_int_equal(s->slices, sim.timeline.count);
    assert_int_equal(s->starts, s->finishes);
    FR_NEAR(s->power_W, job.cluster.device.power.busy_W, 1e-9);
    if (job.workload.transformer.layers) FR_NEAR(s->memory_B, sim.outcome.memory_peak_B, 1e-6);
    /* Critical slices follow one another from the beginning to the end. */
    double path_s = 0;
    for (int64_t k = 0; k < sim.timeline.count; k++) {
        const struct fr_span *x = &sim.timeline.spans[k];
        path_s += fr_span_critical_s(x);
        if (x->critical) {
            assert_true(x->critical_from_s >= x->start_s && x->critical_to_s <= x->end_s);
        }
    }
    FR_NEAR(path_s, sim.timeline.makespan_s, 1e-9);
    /* Each rank's time and energy add up to the iteration's. */
    double energy_J = 0;
    for (int32_t i = 0; i < sim.n_stages; i++) {
        const struct fr_stage_use *u = &sim.stages[i];
        FR_NEAR(u->busy_s + u->comm_s + u->blocked_s + u->idle_s, sim.outcome.time_s, 1e-9);
        energy_J += u->energy_J * (double)(sim.outcome.ranks / sim.n_stages);
    }
    FR_NEAR(energy_J, sim.outcome.energy_J, 1e-12);
    fr_json_free(document);
    fr_text_free(&text);
    fr_simulation_free(&sim);
    fr_job_free(&job);
    free(s);
}

#define HOLDS(cluster, model, as_messages, ...)                                                \
    holds(cluster, model, (const char *const[]){__VA_ARGS__, NULL}, as_messages)
#define BASE "tp=8", "pp=4", "dp=4", "micro_batch=8"

static void pipelines(void **state) {
    (void)state;
    HOLDS("a100-hdr", "gpt-2.5b", false, BASE);
    HOLDS("a100-hdr", "gpt-2.5b", false, BASE, "p2p=duplex", "recompute=full");
    HOLDS("a100-hdr", "gpt-2.5b", false, BASE, "schedule=zero-bubble",
          "sequence_parallel=true");
    HOLDS("a100-hdr", "gpt-2.5b", false, BASE, "schedule=interleaved", "chunks=2",
          "overlap=gradient");
    HOLDS("a100-hdr", "gpt-2.5b", false, BASE, "compression.backward.scope=epilogue",
          "compression.embedding=fused", "compression.gradient.stages=2");
    HOLDS("a100-hdr", "gpt-2.5b", false, BASE, "overlap=gradient", "recompute=selective",
          "stage_layers=[10,14,16,12]");
    HOLDS("a100-hdr", "gpt-2.5b", false, BASE, "overlap=gradient", "recompute=full",
          "schedule=interleaved", "chunks=13", "bucket=10MB");
    HOLDS("a100-hdr", "gpt-2.5b", false, BASE, "overlap=gradient", "schedule=zero-bubble");
}

static void layers(void **state) {
    (void)state;
    HOLDS("frontier", "ffn-16384", false, "method=phantom", "ghost=4", "tp=8", "dp=2");
    HOLDS("frontier", "ffn-16384", true, "method=phantom", "ghost=4", "tp=4", "dp=2",
          "cluster.collectives={}");
    HOLDS("frontier", "ffn-16384", true, "method=tensor", "tp=8", "cluster.collectives={}");
    HOLDS("frontier", "ffn-16384", false, "method=phantom", "ghost=4", "tp=4", "pp=2",
          "micro_batch=64", "global_batch=512");
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(pipelines), cmocka_unit_test(layers)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
