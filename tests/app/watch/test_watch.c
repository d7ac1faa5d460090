/* A run in flight: what watch says of a whole log is what score says, and of one that grows each timed line is answered:
 * lines in two writes, a log that comes late, is rotated or cut, a slow phase, pauses, silence, Ctrl-C. */
#include <jansson.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/resource.h>
#include <time.h>

#include "answer/trainer/trainer.h"
#include "tests/app/command.h"
#include "tests/scratch.h"
#include "tests/screen.h"

static const char words[] = "--cluster dgx-h100";
static const char log_path[] = "train.log";
static double usual_ms; /* of the run below, as predicted */

/* ---- logs -------------------------------------------------------------------------------------- */

static const char head[] = "------------------------ arguments ------------------------\n"
                           "  bf16 ............................................ True\n"
                           "  context_parallel_size ........................... 1\n"
                           "  ffn_hidden_size ................................. 20480\n"
                           "  global_batch_size ............................... 512\n"
                           "  group_query_attention ........................... False\n"
                           "  hidden_size ..................................... 5120\n"
                           "  max_position_embeddings ......................... 2048\n"
                           "  micro_batch_size ................................ 2\n"
                           "  num_attention_heads ............................. 40\n"
                           "  num_experts ..................................... None\n"
                           "  num_layers ...................................... 40\n"
                           "  padded_vocab_size ............................... 50304\n"
                           "  pipeline_model_parallel_size .................... 2\n"
                           "  seq_length ...................................... 2048\n"
                           "  sequence_parallel ............................... True\n"
                           "  tensor_model_parallel_size ...................... 4\n"
                           "  use_distributed_optimizer ....................... True\n"
                           "  world_size ...................................... 64\n"
                           "-------------------- end of arguments ---------------------\n";

enum { STEPS = 30 };

static const char *step(int i, double ms, double clock_s, char line[400]) {
    const int s = (int)clock_s;
    char stamp[64] = "";
    if (clock_s > 0)
        snprintf(stamp, sizeof stamp, "[2026-05-04 %02d:%02d:%06.3f] ", 10 + s / 3600,
                 s / 60 % 60, fmod(clock_s, 60));
    snprintf(
        line, 400,
        " %siteration %d/ %d | consumed samples: %d | elapsed time per iteration (ms): %.1f | "
        "global batch size: 512 | number of skipped iterations: 0 |\n",
        stamp, i, STEPS, 512 * i, ms);
    return line;
}

static void append(const char *text, size_t length) {
    FILE *f = fopen(log_path, "a");
    assert_non_null(f);
    assert_int_equal(fwrite(text, 1, length, f), length);
    assert_int_equal(fclose(f), 0);
}

static void append_all(const char *text) { append(text, strlen(text)); }

static void pause_s(double s) {
    const struct timespec t = {(time_t)s, (long)(1e9 * fmod(s, 1))};
    nanosleep(&t, NULL);
}

/* ---- answers ----------------------------------------------------------------------------------- */

static struct output watch(const char *options) {
    char line[6000];
    snprintf(line, sizeof line, "forerun watch %s %s %s", log_path, words, options);
    return fr_test_run(line);
}

static double number(const json_t *object, const char *key) {
    const json_t *value = json_object_get(object, key);
    return json_is_number(value) ? json_number_value(value) : (double)NAN;
}

static const char *text_of(const json_t *object, const char *key) {
    const json_t *value = json_object_get(object, key);
    return json_is_string(value) ? json_string_value(value) : "";
}

static json_t *document(const char *text) {
    json_error_t why;
    json_t *root = json_loads(text, 0, &why);
    if (!root) fail_msg("no JSON: %s\n%s", why.text, text);
    return root;
}

static json_t *last_of(const char *out) {
    const char *at = out + strlen(out);
    for (at -= at > out; at > out && at[-1] != '\n';) at--;
    return document(at);
}

static json_t *answer(const char *options, int exit_code) {
    char more[400];
    snprintf(more, sizeof more, "%s --json", options);
    struct output o = watch(more);
    FR_TRUE(o.exit_code == exit_code, "watch %s: exit %d, want %d: %s", options, o.exit_code,
            exit_code, o.err);
    json_t *root = document(o.out);
    fr_test_output_free(&o);
    return root;
}

static int set_up(void **state) {
    char line[400];
    if (fr_scratch_enter(state) != 0) return -1;
    append_all(head);
    for (int i = 1; i <= 8; i++) append_all(step(i, 9999, 0, line));
    json_t *root = answer("", 6);
    usual_ms = 1e3 * number(root, "predicted_s");
    json_decref(root);
    return usual_ms > 0 ? 0 : 1;
}

/* ---- a whole log ------------------------------------------------------------------------------- */

static unsigned drawn_state = 40;
static double drawn(double least, double most) {
    drawn_state = drawn_state * 1664525u + 1013904223u;
    return least + (most - least) * (drawn_state >> 8) / 16777216.0;
}

/* Warm-up, noise, stalls, pauses and a change of speed, as it comes. */
static void draw_log(void) {
    char line[400];
    const double speed = drawn(0.7, 1.4), later = drawn(0.8, 1.2);
    const int n = (int)drawn(1, 40);
    double clock_s = drawn(0, 1) < 0.5 ? 1 : 0;
    unlink(log_path);
    append_all(head);
    for (int i = 1; i <= n; i++) {
        double ms = usual_ms * speed * (i > n / 2 ? later : 1) * drawn(0.97, 1.03);
        if (i <= 2) ms *= 4;
        if (drawn(0, 1) < 0.05) ms *= 3;
        if (clock_s > 0) clock_s += 1e-3 * ms;
        append_all(step(i, ms, clock_s, line));
        if (drawn(0, 1) < 0.1) {
            append_all(" validation loss at iteration | lm loss value: 7.1E+00 |\n");
            if (clock_s > 0) clock_s += 20;
        }
        if (drawn(0, 1) < 0.1) append_all("  successfully saved checkpoint to /tmp\n");
    }
}

static void same(const json_t *watched, const char *key, const json_t *scored,
                 const char *as_key) {
    const double a = number(watched, key), b = number(scored, as_key);
    FR_TRUE(a == b || (isnan(a) && isnan(b)), "%s: watch %.17g, score %.17g", key, a, b);
}

static void watch_is_score(void **state) {
    enum { LOGS = 12 };
    (void)state;
    for (int i = 0; i < LOGS; i++) {
        char line[6000];
        draw_log();
        snprintf(line, sizeof line, "forerun score --from %s %s --json", log_path, words);
        struct output scored = fr_test_run(line), o = watch("--json");
        json_t *root = document(scored.out), *watched = document(o.out);
        const json_t *row = json_array_get(json_object_get(root, "rows"), 0);
        same(watched, "time_s", row, "measured_s");
        same(watched, "predicted_s", row, "predicted_s");
        same(watched, "low_s", row, "low_s");
        same(watched, "high_s", row, "high_s");
        same(watched, "error", row, "error");
        const bool inside = json_is_true(json_object_get(watched, "inside")),
                   outside = json_is_true(json_object_get(watched, "outside"));
        assert_int_equal(inside, number(row, "low_s") <= number(row, "measured_s") &&
                                     number(row, "measured_s") <= number(row, "high_s"));
        assert_true(inside || outside);
        assert_int_equal(o.exit_code, outside ? 6 : 0);
        json_decref(root);
        json_decref(watched);
        fr_test_output_free(&scored);
        fr_test_output_free(&o);
    }
}

/* Every line with a prefix, as a launcher puts it there. */
static void add_prefix(const char *prefix, const char *text, struct fr_text *out) {
    while (*text) {
        const size_t length = strcspn(text, "\n");
        fr_text_addf(out, "%s%.*s\n", prefix, (int)length, text);
        text += length + (text[length] == '\n');
    }
}

/* A log read on line by line gives the same as the log read at once. */
static void read_on_is_read(const char *text) {
    struct fr_trainer_ask ask = {.by = NULL};
    struct fr_trainer_result on = {.by = NULL};
    struct fr_run_row on_row = {0}, given = {0};
    fr_run_row_set(&given, "ranks", "64");
    fr_run_row_set(&given, "model.sequence", "8192");
    fr_run_row_set(&given, "plan.global_batch", "512");
    size_t seen = 0, n_on = 0;
    for (const char *at = text; *at;) {
        at += strcspn(at, "\n") + 1;
        const size_t length = (size_t)(at - text);
        struct fr_trainer_result all;
        struct fr_run_row row = given;
        if (fr_trainer_read(&ask, text, length, "log", &row, &all, NULL) != FR_OK ||
            all.steps == 0) {
            fr_trainer_result_free(&all);
            continue;
        }
        const bool further =
            seen > 0 && fr_trainer_read_on(text, length, seen, "log", &on_row, &on);
        n_on += further;
        if (!further) {
            fr_trainer_result_free(&on);
            on_row = row;
            on = all;
            seen = length;
            continue;
        }
        seen = length;
        assert_string_equal(fr_run_row_get(&on_row, "measured_s"),
                            fr_run_row_get(&row, "measured_s"));
        assert_string_equal(fr_text_get(&on.stated), fr_text_get(&all.stated));
        assert_int_equal(on.steps, all.steps);
        assert_int_equal(on.timed.counted, all.timed.counted);
        assert_int_equal(on.timed.evaluation, all.timed.evaluation);
        assert_true(on.total_steps == all.total_steps ||
                    (isnan(on.total_steps) && isnan(all.total_steps)));
        fr_trainer_result_free(&all);
    }
    FR_TRUE(n_on > 0, "nothing was read on of\n%s", text);
    fr_trainer_result_free(&on);
}

static void reading_on_is_reading(void **state) {
    static const char *const prefixes[] = {"", "[default0]: ", "[1,0]<stdout>: ", "7: "};
    (void)state;
    for (int i = 0; i < 8; i++) {
        char *text = NULL;
        size_t length = 0;
        struct fr_text with = {0};
        do draw_log();
        while (fr_file_read(log_path, 1 << 20, &text, &length, NULL) == FR_OK &&
               length < 5000 && (free(text), true));
        add_prefix(prefixes[i % 4], text, &with);
        read_on_is_read(fr_text_get(&with));
        fr_text_free(&with);
        free(text);
    }
}

/* A pause of 20 s behind each of 4 evaluations, a checkpoint of 9 s and one stall: by the stamps of the lines. */
static void pauses_are_told_apart(void **state) {
    char line[400];
    double clock_s = 1;
    const double step_s = 1e-3 * usual_ms;
    (void)state;
    unlink(log_path);
    append_all(head);
    for (int i = 1; i <= 22; i++) {
        const double ms = i == 13 ? 4 * usual_ms : usual_ms;
        clock_s += 1e-3 * ms;
        append_all(step(i, ms, clock_s, line));
        if (i % 5 == 0) {
            append_all(" validation loss at iteration | lm loss value: 7.1E+00 |\n");
            clock_s += 20;
        }
        if (i == 17) {
            append_all("  successfully saved checkpoint to /tmp\n");
            clock_s += 9;
        }
    }
    json_t *root = answer("", 0);
    const json_t *lost = json_object_get(root, "lost");
    const double all_s = 20 * step_s + 3 * step_s + 4 * 20 + 9;
    FR_NEAR(number(lost, "evaluation"), 80 / all_s, 0.01);
    FR_NEAR(number(lost, "checkpoint"), 9 / all_s, 0.01);
    FR_NEAR(number(lost, "stall"), 3 * step_s / all_s, 0.01);
    FR_NEAR(number(root, "left_s"), 8 * all_s / 20, 0.01);
    assert_string_equal(text_of(root, "part"), "evaluation");
    json_decref(root);
}

/* Eight ranks print; one is slower. */
static void a_slow_rank_is_named(void **state) {
    (void)state;
    unlink(log_path);
    for (int i = 1; i <= 8; i++)
        for (int rank = 0; rank < 8; rank++) {
            char line[200];
            snprintf(
                line, sizeof line,
                "[rank%d]: [titan] INFO - step: %d  loss: 4.1  memory: 47.5GiB(50%%)  tps: "
                "%d  tflops: 309.97  mfu: 31.34%%\n",
                rank, 10 * i, rank == 5 ? 5000 : 6000);
            append_all(line);
        }
    struct output o = watch("--model llama-3-8b --column ranks=8 --set global_batch=32 --set "
                            "model.sequence=8192 --set "
                            "micro_batch=1 --steps 1000 --json");
    json_t *root = document(o.out);
    bool named = false;
    for (size_t i = 0; i < json_array_size(json_object_get(root, "likely_off")); i++) {
        const json_t *off = json_array_get(json_object_get(root, "likely_off"), i);
        if (strcmp(text_of(off, "part"), "slow_rank") != 0) continue;
        named = true;
        assert_int_equal(number(off, "rank"), 5);
        FR_NEAR(number(off, "of_step"), 0.2, 0.01);
    }
    FR_TRUE(named, "no slow rank in %s", o.out);
    assert_int_equal(number(root, "steps"), 1000);
    assert_int_equal(o.exit_code, 6);
    json_decref(root);
    fr_test_output_free(&o);
}

/* Timers of the trainer tell a rank that others wait for, and an exchange of gradients that is late on every rank. */
static void timers_are_used(void **state) {
    static const char args[] =
        "  num_layers ....... 8\n  hidden_size ....... 4096\n"
        "  num_attention_heads ....... 32\n  seq_length ....... 2048\n"
        "  padded_vocab_size ....... 32000\n  micro_batch_size ....... 2\n"
        "  global_batch_size ....... 512\n  world_size ....... 4\n"
        "  tensor_model_parallel_size ....... 1\n  bf16 ....... True\n"
        "  pipeline_model_parallel_size ....... 1\n";
    (void)state;
    for (int all = 0; all < 2; all++) {
        char line[400];
        unlink(log_path);
        append_all(args);
        for (int i = 1; i <= 10; i++) {
            append_all(step(i, 9000, 0, line));
            append_all(
                all ? "times across ranks (ms):\n  forward-backward:\n     rank  0: 4000.00\n"
                      "     rank  1: 4000.00\n     rank  2: 5300.00\n     rank  3: 4000.00\n"
                    : "(min, max) time across ranks (ms):\n"
                      "    forward-backward .......: (4000.00, 5300.00)\n"
                      "    all-grads-sync .........: (3000.00, 4300.00)\n");
        }
        json_t *root = answer("", 6);
        const json_t *timers = json_object_get(root, "timers");
        FR_NEAR(number(json_object_get(timers, "passes"), "most_s"), 5.3, 1e-9);
        double slow = 0, exchange = 0, rank = -1;
        for (size_t i = 0; i < json_array_size(json_object_get(root, "likely_off")); i++) {
            const json_t *off = json_array_get(json_object_get(root, "likely_off"), i);
            if (strcmp(text_of(off, "part"), "slow_rank") == 0)
                slow = number(off, "of_step"), rank = number(off, "rank");
            if (strcmp(text_of(off, "part"), "communication") == 0)
                exchange = number(off, "of_step");
        }
        FR_NEAR(slow, 1.3 / 7.7, 1e-9);
        FR_TRUE(all ? rank == 2 : isnan(rank), "rank %g", rank);
        FR_TRUE(all || exchange > 0, "exchange %g", exchange);
        json_decref(root);
    }
}

/* The same log says rates alone, and no plan: model and plan of the command line make times of them. */
static void a_plan_fills_the_rest(void **state) {
    (void)state;
    json_t *root = answer("--model llama-3-8b --plan "
                          "{\"dp\":8,\"zero\":3,\"global_batch\":32,\"micro_batch\":1}",
                          6);
    FR_NEAR(number(root, "time_s"), 32 * 8192 / (8 * 6000.0), 1e-6);
    assert_int_equal(number(root, "ranks"), 8);
    json_decref(root);
}

/* The log's own values are taken; other values of --plan and --model are reported. */
static void disagreement_is_reported(void **state) {
    (void)state;
    draw_log();
    struct output plain = watch("--json"),
                  o = watch("--json --model llama-3-8b --plan {\"tp\":8,\"pp\":2}");
    assert_string_equal(o.out, plain.out);
    assert_non_null(strstr(o.err, "tp 4, not 8"));
    assert_null(strstr(o.err, "pp 2"));
    assert_non_null(strstr(o.err, "--model llama-3-8b"));
    fr_test_output_free(&plain);
    fr_test_output_free(&o);
}

/* ---- a log that grows -------------------------------------------------------------------------- */

/* A writer does this beside the command. */
struct writing {
    int from, to;  /* steps */
    int slow_from; /* three times as long from there on; 0: never */
    bool late, rotate,
        cut; /* begin late; a new file behind step 10; a shorter one behind step 20 */
    double between_s;
};

static void *write_log(void *of) {
    const struct writing *w = of;
    char line[400], old[4200];
    snprintf(old, sizeof old, "%s.1", log_path);
    if (w->late) pause_s(0.2);
    if (w->from == 1) append_all(head);
    for (int i = w->from; i <= w->to; i++) {
        step(i, usual_ms * (w->slow_from && i >= w->slow_from ? 3 : 1), 0, line);
        append(line, 40);
        pause_s(w->between_s / 2);
        append_all(line + 40);
        pause_s(w->between_s / 2);
        if (i % 7 == 0)
            append_all(" validation loss at iteration | lm loss value: 7.1E+00 |\n");
        if (i == 10 && w->rotate) {
            pause_s(1); /* the command has begun */
            rename(log_path, old);
        }
        if (i == 20 && w->cut) {
            pause_s(1); /* all that was there is read */
            if (truncate(log_path, 0) != 0) return "the log cannot be cut";
        }
    }
    return NULL;
}

/* Run watch beside the writer. */
static struct output beside(struct writing *w, const char *options) {
    pthread_t thread;
    void *printed = NULL;
    if (w->late) unlink(log_path);
    assert_int_equal(pthread_create(&thread, NULL, write_log, w), 0);
    struct output o = watch(options);
    assert_int_equal(pthread_join(thread, &printed), 0);
    assert_null(printed);
    return o;
}

/* Steps go up by one line after another, the end comes nearer, and the last object is @p last. */
static void check_answers(const char *out, const char *last, double steps_seen) {
    double before = 0;
    char state[40] = "";
    for (const char *at = out; *at;) {
        const size_t length = strcspn(at, "\n");
        json_t *root = json_loadb(at, length, 0, NULL);
        FR_TRUE(root != NULL, "no JSON: %.*s", (int)length, at);
        FR_TRUE(number(root, "step") >= before, "step %g behind %g", number(root, "step"),
                before);
        before = number(root, "step");
        snprintf(state, sizeof state, "%s", text_of(root, "state"));
        assert_int_equal(number(root, "steps"), STEPS);
        if (!json_is_true(json_object_get(root, "outside")))
            FR_NEAR(number(root, "left_s"), (STEPS - before) * 1e-3 * usual_ms, 1e-3);
        assert_true(strlen(text_of(root, "ends_at")) == 20);
        json_decref(root);
        at += length + (at[length] == '\n');
    }
    assert_string_equal(state, last);
    FR_TRUE(before == steps_seen, "last step %g, want %g", before, steps_seen);
}

static void each_line_is_answered(void **state) {
    struct writing w = {
        .from = 1, .to = STEPS, .late = true, .rotate = true, .cut = true, .between_s = 0.02};
    (void)state;
    struct output o = beside(&w, "--follow --json --patience 60");
    FR_TRUE(o.exit_code == 0, "exit %d: %s", o.exit_code, o.err);
    check_answers(o.out, "complete", STEPS);
    fr_test_output_free(&o);
}

static void a_slow_phase_ends_with_6(void **state) {
    struct writing w = {.from = 1, .to = 25, .late = true, .slow_from = 15, .between_s = 0.02};
    (void)state;
    struct output o = beside(&w, "--follow --json --patience 60");
    FR_TRUE(o.exit_code == 6, "exit %d: %s", o.exit_code, o.err);
    json_t *root = last_of(o.out);
    assert_true(json_is_true(json_object_get(root, "outside")));
    assert_true(number(root, "step") >= 15);
    assert_string_equal(text_of(root, "part"), "change");
    json_decref(root);
    fr_test_output_free(&o);
}

/* Nothing comes: it waits without work, and ends when it is told to; text is lines, then a screen. */
static void silence_ends_it(void **state) {
    struct rusage before, after;
    struct writing w = {.from = 1, .to = 6, .late = true, .between_s = 0.02};
    (void)state;
    getrusage(RUSAGE_CHILDREN, &before);
    struct output o = beside(&w, "--follow --patience 2");
    getrusage(RUSAGE_CHILDREN, &after);
    FR_TRUE(o.exit_code == 0, "exit %d: %s", o.exit_code, o.err);
    assert_non_null(strstr(o.out, "nothing more was printed"));
    const double used_s = (double)(after.ru_utime.tv_sec - before.ru_utime.tv_sec) +
                          1e-6 * (double)(after.ru_utime.tv_usec - before.ru_utime.tv_usec);
    FR_TRUE(used_s < 1.5, "%.2f s of a processor for 6 lines and 2 s of silence", used_s);
    fr_test_output_free(&o);
}

/* Steps of a millisecond, as the line says: half a second of silence before the last step is no pause. */
static void a_run_that_stops_is_told(void **state) {
    (void)state;
    unlink(log_path);
    for (int i = 1; i <= 8; i++) {
        char line[200];
        snprintf(line, sizeof line, "completed step: %d, seconds: 0.010, loss: 10.3\n", i);
        append_all(line);
    }
    struct output o = watch("--model gpt-tiny --set model.dtype=bf16 --steps 20 --follow "
                            "--to-the-end --patience 0.5 --json");
    FR_TRUE(o.exit_code == 6, "exit %d: %s", o.exit_code, o.err);
    json_t *root = last_of(o.out);
    assert_true(json_is_true(json_object_get(root, "stopped")));
    assert_string_equal(text_of(root, "state"), "idle");
    json_decref(root);
    fr_test_output_free(&o);
}

static void an_interrupt_prints_the_last_answer(void **state) {
    char program[4096];
    struct fr_text out = {0}, printed = {0};
    struct fr_error err = {.status = FR_OK};
    struct fr_ended ended;
    snprintf(program, sizeof program, "%s/forerun", FR_BIN_DIR);
    /* Without --foreground timeout signals the child and then its group: the second interrupt ends anything. */
    const char *line[] = {"timeout",
                          "--foreground",
                          "--preserve-status",
                          "-s",
                          "INT",
                          "2",
                          program,
                          "watch",
                          log_path,
                          "--cluster",
                          "dgx-h100",
                          "--follow",
                          "--json",
                          NULL};
    const struct fr_process p = {
        .words = line, .out.text = &out, .err.text = &printed, .text_B = 1 << 20};
    (void)state;
    if (fr_process_run(&p, &ended, &err) != FR_OK) fail_msg("%s", err.detail);
    FR_TRUE(ended.code == 0, "exit %d: %s", ended.code, fr_text_get(&printed));
    check_answers(fr_text_get(&out), "interrupted", 6);
    fr_text_free(&out);
    fr_text_free(&printed);
}

/* ---- what is refused --------------------------------------------------------------------------- */

/* Other trainers' logs: a step on one line, on several, behind a progress bar. */
static void reading_on_of_others(void **state) {
    static const char *const logs[] = {
        "[titan] INFO - step: %d loss: 4.1 memory: 47GiB(50%%) tps: 5,76%d tflops: 309.97\n",
        "completed step: %d, seconds: 5.6%d, TFLOP/s/device: 134.9, loss: 10.3\n",
        "2024-08-06 10:00:05.520 host:0 olmo.train:908 INFO [step=%d/739328,epoch=0]\n"
        "    throughput/device/tokens_per_second=26,66%d\n"
        "    throughput/device/batches_per_second=0.0250\n",
        "[2022-03-11 02:07:14,130] [INFO] [timer.py:189:stop] 0/%d, SamplesPerSec=25%d, "
        "MemAllocated=1GB\n",
        "Training epoch 0, iteration %d/49 | global_batch_size: 512 | global_step: 7 | "
        "train_step_timing in s: 2%d.1\n",
    };
    (void)state;
    for (size_t i = 0; i < sizeof logs / sizeof *logs; i++) {
        struct fr_text text = {0};
        char line[400];
        for (int k = 0; k < 20; k++) {
/* A table of formats. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
            snprintf(line, sizeof line, logs[i], k, k % 10);
#pragma GCC diagnostic pop
            fr_text_addf(&text, "%s", line);
        }
        read_on_is_read(fr_text_get(&text));
        fr_text_free(&text);
    }
}

static void one_screen(void **state) {
    (void)state;
    for (int i = 0; i < 3; i++) {
        draw_log();
        struct output o = watch("--price 2USD/h --carbon 0.4kg/kWh");
        fr_screen_fits("watch", o.out);
        assert_null(strstr(o.out, "nan"));
        fr_test_output_free(&o);
    }
}

static void refused(void **state) {
    (void)state;
    fr_test_expect("forerun watch --cluster dgx-h100", 2, NULL, "names no log");
    fr_test_expect("forerun watch /nowhere/train.log --cluster dgx-h100", 3, NULL,
                   "does not exist");
    fr_test_expect("forerun watch /tmp --cluster dgx-h100", 3, NULL, NULL);
    fr_test_expect("forerun watch a.log --cluster dgx-h100 --patience 3s", 2, NULL,
                   "is of --follow");
    fr_test_expect("forerun watch a.log --cluster dgx-h100 --steps 5 --tokens 1T", 2, NULL,
                   "says again");
    unlink(log_path);
    append_all("nothing of interest\n");
    struct output o = watch("");
    assert_int_equal(o.exit_code, 3);
    fr_test_output_free(&o);
}

/* ---- at night ---------------------------------------------------------------------------------- */

/* The answer to each line of a log of a hundred thousand comes within a second. */
enum { BEFORE = 100000, TIMED = 20 };
static double written_s[TIMED];

static double now_s(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static const char *long_step(int i, char line[400]) {
    snprintf(
        line, 400,
        " iteration %d/ 200000 | consumed samples: %d | elapsed time per iteration (ms): %.1f "
        "| global batch size: 512 | number of skipped iterations: 0 |\n",
        i, 512 * i, usual_ms * (1 + 0.01 * (i % 7)));
    return line;
}

static void *write_timed(void *of) {
    char line[400];
    (void)of;
    pause_s(8); /* what is there is read */
    for (int i = 0; i < TIMED; i++) {
        append_all(long_step(BEFORE + i, line));
        written_s[i] = now_s();
        pause_s(0.4);
    }
    return NULL;
}

static void an_answer_within_a_second(void **state) {
    char command[5000], answered[16384], line[400];
    struct fr_text text = {0};
    pthread_t thread;
    int n = 0;
    (void)state;
    unlink(log_path);
    for (int i = 1; i < BEFORE; i++) fr_text_addf(&text, "%s", long_step(i, line));
    append_all(head);
    append(text.data, text.length);
    fr_text_free(&text);
    snprintf(command, sizeof command, "%s/forerun watch %s %s --follow --json --patience 20",
             FR_BIN_DIR, log_path, words);
    assert_int_equal(pthread_create(&thread, NULL, write_timed, NULL), 0);
    FILE *out = popen(command, "r");
    assert_non_null(out);
    while (fgets(answered, sizeof answered, out)) {
        const double at_s = now_s();
        json_t *root = document(answered);
        const int step_of = (int)number(root, "step") - BEFORE;
        const bool running = strcmp(text_of(root, "state"), "running") == 0;
        json_decref(root);
        if (step_of < 0 || step_of >= TIMED || !running) continue;
        FR_TRUE(at_s - written_s[step_of] < 1, "line %d: %.2f s", step_of,
                at_s - written_s[step_of]);
        n++;
    }
    pthread_join(thread, NULL);
    assert_int_equal(pclose(out), 0);
    FR_TRUE(n >= TIMED - 2, "%d of %d lines were answered", n, TIMED);
}

int main(int argc, char **argv) {
    const struct CMUnitTest second[] = {cmocka_unit_test(an_answer_within_a_second)};
    (void)argv;
    if (argc > 1) return cmocka_run_group_tests(second, set_up, fr_scratch_leave);
    const struct CMUnitTest tests[] = {cmocka_unit_test(watch_is_score),
                                       cmocka_unit_test(reading_on_is_reading),
                                       cmocka_unit_test(reading_on_of_others),
                                       cmocka_unit_test(pauses_are_told_apart),
                                       cmocka_unit_test(a_slow_rank_is_named),
                                       cmocka_unit_test(a_plan_fills_the_rest),
                                       cmocka_unit_test(timers_are_used),
                                       cmocka_unit_test(disagreement_is_reported),
                                       cmocka_unit_test(each_line_is_answered),
                                       cmocka_unit_test(a_slow_phase_ends_with_6),
                                       cmocka_unit_test(silence_ends_it),
                                       cmocka_unit_test(an_interrupt_prints_the_last_answer),
                                       cmocka_unit_test(a_run_that_stops_is_told),
                                       cmocka_unit_test(one_screen),
                                       cmocka_unit_test(refused)};
    return cmocka_run_group_tests(tests, set_up, fr_scratch_leave);
}
