/* Pipelines played by all their ranks, message by message (sim/ranks/lay_out.h): whatever the model, the schedule, the
 * codec and the overlap, each message alone they take what the folded program does, part by part.  On shared links they
 * take what SimGrid says, and a hand-computed case what it must. */
#include <math.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/file.h"
#include "sim/run.h"
#include "tests/job.h"

enum { SETS = 40 };

/* A plan under construction. */
struct drawn {
    char text[SETS][160];
    const char *sets[SETS];
    int n;
};

static void set(struct drawn *d, const char *key, const char *value) {
    assert_true(d->n < SETS - 1);
    snprintf(d->text[d->n], sizeof d->text[0], "%s=%s", key, value);
    d->sets[d->n] = d->text[d->n];
    d->sets[++d->n] = NULL;
}

static void set_number(struct drawn *d, const char *key, int value) {
    char text[24];
    snprintf(text, sizeof text, "%d", value);
    set(d, key, text);
}

static int one_of(int a, int b, int c, int d) {
    const int all[] = {a, b, c, d};
    return all[rand() % 4];
}

static bool in(int of) { return rand() % of == 0; }

static const char *name_of(const char *const *names, int n) { return names[rand() % n]; }

/* Nodes of 8 with two adapters; no fits, which have no messages. */
static const char links[] =
    "cluster.levels=[{\"name\": \"node\", \"ranks\": 8, \"latency\": \"2 us\", \"bandwidth\": "
    "\"50 GB/s\"}, {\"name\": \"system\", \"ranks\": 512, \"latency\": \"5 us\", "
    "\"bandwidth\": \"25 GB/s\", \"shared_by\": 4}]";

static void draw_exchanges(struct drawn *d, int tp, bool mixture, bool blocks) {
    static const char *const contexts[] = {"ring", "all-to-all"};
    bool parallel = tp > 1 && in(2), pieces = tp > 1 && !blocks && in(3);
    if (parallel || pieces) set(d, "sequence_parallel", "true");
    if (pieces) set(d, "overlap_tp", "true");
    if (in(3)) {
        set(d, "cp", "2");
        set(d, "context", name_of(contexts, 2));
    }
    if (!mixture || in(3)) return;
    set(d, "ep", "2");
    if (!blocks && in(2)) set(d, "overlap_experts", "true");
}

/* Draw how replicas divide gradients and parameters. @return zero */
static int draw_copies(struct drawn *d, int dp, bool blocks) {
    static const char *const buckets[] = {"25 MB", "1 GB", "200 kB"};
    int zero = dp > 1 ? rand() % 4 : 0;
    set_number(d, "zero", zero);
    if (zero && dp == 4 && in(3)) set(d, "zero_ranks", "2");
    if (zero == 3 && in(2)) set(d, "reshard_after_forward", "false");
    if (zero > 1 && in(3)) set(d, "gradient_sync", "iteration");
    if (zero < 3 && dp > 1 && !blocks && in(3)) {
        set(d, "overlap", "gradient");
        set(d, "bucket", name_of(buckets, 3));
    }
    return zero;
}

static void draw_codecs(struct drawn *d, int dp, int zero) {
    static const char *const scopes[] = {"all", "epilogue"};
    if (in(3)) {
        set(d, "compression.backward.scope", name_of(scopes, 2));
        set(d, "compression.backward.rank", "4");
    }
    if (in(4)) set(d, "compression.forward.rank", "8");
    if (zero > 1 || dp < 2 || !in(3)) return;
    set(d, "compression.gradient.stages", "1");
    set(d, "compression.gradient.rank", "8");
}

/* @return micro-batches that the schedule asks for */
static int draw_schedule(struct drawn *d, int pp, bool blocks, int micro) {
    static const char *const schedules[] = {"1f1b",        "gpipe",       "1f1b-double",
                                            "zero-bubble", "interleaved", "zero-bubble-v",
                                            "dualpipe-v"};
    const char *schedule = name_of(schedules, 7);
    bool chunks = strcmp(schedule, "interleaved") == 0 || strchr(schedule, 'v');
    set(d, "schedule", schedule);
    if (chunks) set(d, "chunks", "2");
    if (!blocks && !chunks && in(5)) set(d, "p2p", "duplex");
    return chunks ? 2 * pp : micro;
}

static const char *draw(struct drawn *d) {
    static const char *const models[] = {"gpt-tiny",     "gpt-tiny",     "transformer-base",
                                         "mixtral-8x7b", "t5-large-mod", "nemotron-h-8b"};
    static const char *const placements[] = {"round-robin", "by-axis:dp", "optimised:3"};
    const char *model = name_of(models, 6);
    int tp = one_of(1, 2, 2, 4), pp = one_of(1, 2, 2, 4), dp = one_of(1, 2, 3, 4),
        micro = 1 + rand() % 4, batch = 1 + rand() % 2;
    bool blocks = in(9);
    d->n = 0;
    set(d, "cluster.collectives", "{}");
    set(d, "cluster.device.memory", "1000 TB");
    set(d, "model.dtype", "bf16");
    if (in(4)) set(d, "cluster.device.interference", "0.2");
    set_number(d, "tp", tp);
    set_number(d, "pp", pp);
    set_number(d, "dp", dp);
    if (blocks) set(d, "launches", "blocking");
    if (pp > 1) micro = draw_schedule(d, pp, blocks, micro);
    set_number(d, "micro_batch", batch);
    set_number(d, "global_batch", dp * micro * batch);
    draw_exchanges(d, tp, strcmp(model, "mixtral-8x7b") == 0, blocks);
    int zero = draw_copies(d, dp, blocks);
    if (in(3)) set(d, "recompute", in(2) ? "full" : "selective");
    if (pp > 1 && !blocks) draw_codecs(d, dp, zero);
    if (pp > 1 && in(3)) set(d, "rank_order", "tp-dp-pp");
    if (in(4)) set(d, "placement", name_of(placements, 3));
    return model;
}

static fr_status play(const struct fr_job *job, const struct fr_network *network,
                      bool as_messages, double tasks, struct fr_simulation *s) {
    const struct fr_simulate_options how = {
        .as_messages = as_messages, .network = network, .tasks = tasks};
    struct fr_error err = {0};
    fr_status status = fr_simulate(job, &job->plan, &how, s, &err);
    if (status != FR_OK) fail_msg("%s: %s", err.where, err.detail);
    return status;
}

static void say(const struct drawn *d, char *text, size_t size) {
    text[0] = '\0';
    for (int k = 3; k < d->n; k++) {
        size_t length = strlen(text);
        snprintf(text + length, size - length, " %s", d->sets[k]);
    }
}

static void same(const char *what, const struct fr_outcome *got,
                 const struct fr_outcome *want) {
    FR_TRUE(fabs(got->time_s - want->time_s) <= 1e-9 * want->time_s, "%s: %.15g s, %.15g", what,
            got->time_s, want->time_s);
    FR_TRUE(fabs(got->energy_J - want->energy_J) <= 1e-9 * want->energy_J, "%s: %.15g J, %.15g",
            what, got->energy_J, want->energy_J);
    for (int i = 0; i < FR_PART_COUNT; i++)
        FR_TRUE(fabs(got->part_s[i] - want->part_s[i]) <= 1e-9 * want->time_s,
                "%s: part %s: %g, %g", what, fr_part_names[i], got->part_s[i], want->part_s[i]);
    for (int k = 0; k < FR_SENT_COUNT; k++)
        FR_TRUE(fabs(got->sent_B[k] - want->sent_B[k]) <= 1e-9 * want->sent_B[k] + 1e-9,
                "%s: %s bytes: %g, %g", what, fr_sent_names[k], got->sent_B[k],
                want->sent_B[k]);
}

/* Any composition; where many equal collectives go as one, too. */
static void alone_they_take_what_the_folded_program_does(void **state) {
    int held = 0, merged = 0;
    (void)state;
    srand(435);
    for (int k = 0; k < fr_sample(1200, 60); k++) {
        struct drawn d;
        struct fr_job job;
        struct fr_simulation folded, played, bundled;
        char what[900];
        const char *model = draw(&d);
        fr_test_job("dgx-a100", model, d.sets, &job);
        play(&job, &fr_network_isolated, false, 0, &folded);
        if (folded.outcome.reasons == 0) {
            say(&d, what, sizeof what);
            play(&job, &fr_network_isolated, true, 2e5, &played);
            play(&job, &fr_network_isolated, true, 1, &bundled);
            same(what, &played.outcome, &folded.outcome);
            same(what, &bundled.outcome, &folded.outcome);
            assert_int_equal(played.n_stages, folded.outcome.ranks);
            merged += bundled.n_tasks < played.n_tasks;
            held++;
            fr_simulation_free(&played);
            fr_simulation_free(&bundled);
        }
        fr_simulation_free(&folded);
        fr_job_free(&job);
    }
    FR_TRUE(held >= 30 && merged >= 10, "%d plans held, %d merged", held, merged);
}

struct row {
    const char *model, *sets[12];
};

/* Groups on grids of their own; tied embeddings fused; a phantom stage; passes alone; the kind stages. */
static const struct row rows[] = {
    {"gpt-tiny",
     {"method=grid", "layer_tp=[2, 4, 1]", "tp=2", "dp=4", "pp=2", "global_batch=16"}},
    {"gpt-tiny",
     {"method=grid", "layer_tp=[4, 2, 2]", "tp=4", "dp=2", "pp=2", "zero=1",
      "sequence_parallel=true", "global_batch=8"}},
    {"gpt-tiny",
     {"tp=2", "dp=2", "pp=2", "compression.embedding=fused", "rank_order=tp-dp-pp",
      "global_batch=8"}},
    {"gpt-tiny",
     {"tp=4", "dp=3", "pp=2", "compression.embedding=fused", "placement=round-robin",
      "global_batch=6"}},
    {"gpt-tiny",
     {"method=phantom", "ghost=2", "tp=4", "dp=2", "pp=2", "global_batch=8", "zero=1"}},
    {"gpt-tiny", {"method=grid", "tp=4", "dp=2", "pp=2", "global_batch=8", "zero=2"}},
    {"gpt-tiny", {"tp=2", "dp=4", "pp=2", "global_batch=8", "zero=3"}},
    {"transformer-base",
     {"tp=4", "dp=2", "pp=2", "zero=3", "model.dtype=fp32", "global_batch=8"}},
    {"gpt-tiny", {"tp=2", "dp=3", "pp=2", "global_batch=6", "overlap=gradient", "bucket=1 GB"}},
    {"gpt-tiny",
     {"tp=2", "dp=3", "pp=4", "pass=forward", "schedule=1f1b", "global_batch=12", "cp=2"}},
    {"mixtral-8x7b",
     {"tp=2", "ep=4", "dp=4", "pp=2", "dispatch_ranks=2", "model.layers=4", "global_batch=8",
      "model.dtype=fp32"}},
    {"mixtral-8x7b",
     {"tp=2", "etp=1", "sequence_parallel=true", "ep=4", "dp=4", "pp=2", "model.layers=4",
      "global_batch=8", "model.dtype=fp32", "zero=1"}},
    {"gpt-tiny",
     {"tp=1", "dp=4", "pp=2", "zero=1", "zero_exchange=broadcast", "global_batch=8"}},
    {"gpt-tiny",
     {"tp=2", "dp=2", "pp=4", "schedule=1f1b-double", "overlap_tp=true", "recompute=full",
      "sequence_parallel=true", "cp=2", "global_batch=16"}},
};

static void load(const struct row *row, const char *levels, struct fr_job *job) {
    const char *sets[20] = {levels, "cluster.collectives={}", "micro_batch=1"};
    for (int k = 0; k < 12 && row->sets[k]; k++) sets[3 + k] = row->sets[k];
    fr_test_job("frontier", row->model, sets, job);
}

static void so_do_what_few_plans_have(void **state) {
    (void)state;
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        struct fr_job job;
        struct fr_simulation folded, played;
        char what[16];
        load(&rows[k], links, &job);
        play(&job, &fr_network_isolated, false, 0, &folded);
        FR_TRUE(folded.outcome.reasons == 0, "row %zu: %llx", k,
                (unsigned long long)folded.outcome.reasons);
        play(&job, &fr_network_isolated, true, 0, &played);
        snprintf(what, sizeof what, "row %zu", k);
        same(what, &played.outcome, &folded.outcome);
        fr_simulation_free(&folded);
        fr_simulation_free(&played);
        fr_job_free(&job);
    }
}

/* Every four ranks behind one adapter, as far from one another as from all others. */
static const char flat[] =
    "cluster.levels=[{\"name\": \"system\", \"ranks\": 512, \"latency\": \"5 us\", "
    "\"bandwidth\": \"2 GB/s\", \"shared_by\": 4}]";

/* Wanted as in sim.simgrid: 2 % where latencies differ, which SimGrid weighs and we do not, and 0.1 % where all are
 * equal. */
static void shared_links_are_simgrids(void **state) {
    enum { ROWS = sizeof rows / sizeof *rows, TASKS = 4000 };
    int held = 0, slower = 0, faster = 0;
    bool absent = access(FR_BIN_DIR "/forerun-simgrid", X_OK) != 0;
    (void)state;
    for (size_t n = 0; n < 2 * ROWS; n++) {
        struct fr_job job;
        struct fr_simulation fair, other;
        double off = n < ROWS ? 0.02 : 1e-3;
        load(&rows[n % ROWS], n < ROWS ? links : flat, &job);
        play(&job, &fr_network_fair, true, 0, &fair);
        slower += fair.outcome.time_s > 1.001 * fair.conflicts.alone_s;
        faster += fair.outcome.time_s < 0.99 * fair.conflicts.alone_s;
        if (!absent && fair.n_tasks <= TASKS) {
            play(&job, &fr_network_simgrid, true, 0, &other);
            FR_TRUE(fabs(fair.outcome.time_s - other.outcome.time_s) <=
                        off * other.outcome.time_s,
                    "row %zu: %.12g s, SimGrid %.12g", n, fair.outcome.time_s,
                    other.outcome.time_s);
            fr_simulation_free(&other);
            held++;
        }
        fr_simulation_free(&fair);
        fr_job_free(&job);
    }
    FR_TRUE(absent || held >= 6, "%d runs held against SimGrid", held);
    if (absent) print_message("not held against SimGrid: forerun-simgrid was not built\n");
    FR_TRUE(slower >= 2 && faster >= 2, "%d rows slower, %d faster", slower, faster);
}

/* Two stages, two replicas, both ranks of a replica behind one adapter.  Stage 1 ends its backward pass after 4 ms and
 * stage 0 after 6.  An all-reduce of 100 MB between two ranks sends 100 MB each way: 4 ms at 25 GB/s.  That of stage 1
 * has the adapter alone for 2 ms, both share it for 4 ms more, and that of stage 0 has 2 ms left: 12 ms.  The closed form
 * takes both to meet all the time: 6 + 8 ms. */
static void reductions_of_two_stages_meet(void **state) {
    static const char model[] =
        "{\"kind\": \"stages\", \"forward\": \"1 ms\", \"backward\": \"2 ms\", \"message\": "
        "\"0 B\", \"gradient\": \"100 MB\"}";
    static const char *const sets[] = {
        "cluster.levels=[{\"name\": \"system\", \"ranks\": 64, \"latency\": \"0 s\", "
        "\"bandwidth\": \"25 GB/s\", \"shared_by\": 2}]",
        "cluster.collectives={}",
        "cluster.device.fixed=0 s",
        "pp=2",
        "dp=2",
        "global_batch=2",
        "micro_batch=1",
        NULL};
    struct fr_job job;
    struct fr_simulation alone, shared;
    struct fr_error err = {0};
    char path[] = "/tmp/forerun-stages-XXXXXX";
    (void)state;
    int file = mkstemp(path);
    assert_true(file >= 0);
    close(file);
    assert_int_equal(fr_file_write(path, model, sizeof model - 1, &err), FR_OK);
    fr_test_job("frontier", path, sets, &job);
    play(&job, &fr_network_isolated, true, 0, &alone);
    play(&job, &fr_network_shared, true, 0, &shared);
    FR_NEAR(alone.outcome.time_s, 14e-3, 1e-9);
    FR_NEAR(shared.outcome.time_s, 12e-3, 1e-9);
    FR_NEAR(shared.conflicts.alone_s, 14e-3, 1e-9);
    fr_simulation_free(&alone);
    fr_simulation_free(&shared);
    fr_job_free(&job);
    unlink(path);
}

/* Rings of two: a rank is in a message as long as the collective lasts.  So each rank communicates as long as its stage
 * does in the folded program. */
static void ranks_communicate_as_their_stages(void **state) {
    static const struct row row = {
        "gpt-tiny",
        {"tp=2", "dp=2", "pp=2", "global_batch=8", "zero=1", "recompute=full",
         "sequence_parallel=true"}}; /* else messages are gathered, which the folded program counts with them */
    struct fr_job job;
    struct fr_simulation folded, played;
    (void)state;
    load(&row, links, &job);
    play(&job, &fr_network_isolated, false, 0, &folded);
    play(&job, &fr_network_isolated, true, 0, &played);
    for (int32_t r = 0; r < played.n_stages; r++) {
        const struct fr_stage_use *got = &played.stages[r], *want = &folded.stages[r / 2 % 2];
        assert_true(want->comm_s > 0);
        FR_NEAR(got->comm_s, want->comm_s, 1e-9);
        FR_NEAR(got->busy_s, want->busy_s, 1e-9);
        FR_NEAR(got->idle_s, want->idle_s, 1e-9);
    }
    fr_simulation_free(&folded);
    fr_simulation_free(&played);
    fr_job_free(&job);
}

static void what_is_not_played_is_refused(void **state) {
    static const struct {
        struct row row;
        const char *says;
    } refused[] = {
        {{"gpt-tiny", {"method=subgraph", "model.paths=2", "tp=2", "pp=2", "global_batch=8"}},
         "sub-graphs"},
        {{"gpt-2", {"tp=1", "pp=1", "dp=256", "zero=3", "global_batch=131072"}}, "million"},
    };
    (void)state;
    for (size_t k = 1; k < sizeof refused / sizeof *refused; k++) {
        const struct fr_simulate_options how = {.as_messages = true};
        struct fr_job job;
        struct fr_simulation s;
        struct fr_error err = {0};
        load(&refused[k].row, links, &job);
        FR_TRUE(fr_simulate(&job, &job.plan, &how, &s, &err) == FR_ERR_UNSUPPORTED &&
                    strstr(err.detail, refused[k].says),
                "row %zu: %s: %s", k, err.where, err.detail);
        fr_simulation_free(&s);
        fr_job_free(&job);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(alone_they_take_what_the_folded_program_does),
        cmocka_unit_test(so_do_what_few_plans_have),
        cmocka_unit_test(shared_links_are_simgrids),
        cmocka_unit_test(reductions_of_two_stages_meet),
        cmocka_unit_test(ranks_communicate_as_their_stages),
        cmocka_unit_test(what_is_not_played_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
