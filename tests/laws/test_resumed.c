/* Files that calibrate, validate, iterations and quality go on with, one byte of them set to each of its 256 values: what is
 * read is what was written, less whole lines, or the file is refused with its place. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/journal/journal.h"
#include "calibrate/samples/repair.h"
#include "calibrate/samples/samples.h"
#include "real/iterations/cells.h"
#include "real/quality/cells.h"
#include "real/validate/validate.h"
#include "tests/cmocka.h"

static char path[] = "/tmp/forerun-resumed-XXXXXX";
static int n_known;

static void count(const char *place, const char *why) {
    if (!strstr(place, path) || !*why) fail_msg("%s %s", place, why);
    n_known++;
}

/* ---- iterations ----------------------------------------------------------------------------- */

static const int64_t ranks[] = {8};

static struct fr_training_options training(void) {
    struct fr_training_options o = fr_training_defaults();
    o.tp = ranks;
    o.n_tp = 1;
    o.samples = path;
    return o;
}

static struct fr_cell cell_of(int64_t ghost, int64_t seed) {
    return (struct fr_cell){.tp = ghost ? 8 : 1,
                            .ghost = ghost,
                            .seed = seed,
                            .done = true,
                            .iterations = (double)(100 + 10 * ghost + seed),
                            .steps = 300,
                            .lowest = 0.12,
                            .parameters = 1 << 20,
                            .train_s = 1.5};
}

static void make_trainings(void) {
    struct fr_training_options o = training(), asked;
    struct fr_cells cells = {0};
    assert_int_equal(fr_training_want(&cells, &o, 1, 0, NULL), FR_OK);
    assert_int_equal(fr_training_want(&cells, &o, 8, 4, NULL), FR_OK);
    for (int i = 0; i < cells.n; i++)
        cells.items[i] = cell_of(cells.items[i].ghost, cells.items[i].seed);
    assert_int_equal(fr_cells_write(&cells, fr_training_cells_of(&o, &asked), NULL), FR_OK);
    free(cells.items);
}

static fr_status read_trainings(int *n, struct fr_error *err) {
    struct fr_training_options o = training(), asked;
    struct fr_cells cells = {0};
    fr_status status = fr_cells_read(&cells, fr_training_cells_of(&o, &asked), err);
    for (int i = 0; status == FR_OK && i < cells.n; i++) {
        const struct fr_cell *c = &cells.items[i], want = cell_of(c->ghost, c->seed);
        bool is = c->tp == want.tp && (c->ghost == 0 || c->ghost == 4) && c->seed >= 1 &&
                  c->seed <= o.seeds;
        is = is && (!c->done || (c->iterations == want.iterations && c->steps == want.steps &&
                                 c->lowest == want.lowest && c->train_s == want.train_s));
        for (int k = 0; k < i; k++)
            is = is && (cells.items[k].ghost != c->ghost || cells.items[k].seed != c->seed);
        if (!is) fail_msg("training %d was not written", i);
        *n += c->done + 1;
    }
    free(cells.items);
    return status;
}

/* ---- quality -------------------------------------------------------------------------------- */

static const char *const plans[] = {"{\"pp\": 2}", "{\"dp\": 2}"};

static struct fr_quality_options quality(void) {
    struct fr_quality_options o = fr_quality_defaults();
    o.plans = plans;
    o.n_plans = 2;
    o.model = "{\"kind\": \"mlp\"}";
    o.launch.n_ranks = 2;
    o.steps = 40;
    o.samples = path;
    return o;
}

static void make_learnings(void) {
    struct fr_quality_options o = quality();
    struct fr_cells cells = {0};
    for (int p = 0; p < 2; p++)
        for (int64_t seed = 0; seed < 2; seed++)
            assert_int_equal(fr_quality_want(&cells, &o, p, 0.008, seed, NULL), FR_OK);
    for (int i = 0; i < cells.n; i++) {
        struct fr_cell *c = &cells.items[i];
        c->done = true;
        c->train_s = 2 + c->plan;
        c->observed = strdup("[]");
        c->loss[0] = 3 + (double)c->seed;
    }
    assert_int_equal(fr_cells_write(&cells, fr_quality_cells_of(&o), NULL), FR_OK);
    fr_cells_free(&cells);
}

static fr_status read_learnings(int *n, struct fr_error *err) {
    struct fr_quality_options o = quality();
    struct fr_cells cells = {0};
    fr_status status = fr_cells_read(&cells, fr_quality_cells_of(&o), err);
    for (int i = 0; status == FR_OK && i < cells.n; i++) {
        const struct fr_cell *c = &cells.items[i];
        bool is = c->plan >= 0 && c->rate == 0.008 && c->seed >= 0 && c->seed < 2;
        is = is &&
             (!c->done || (c->train_s == 2 + c->plan && c->loss[0] == 3 + (double)c->seed));
        for (int k = 0; k < i; k++)
            is = is && (cells.items[k].plan != c->plan || cells.items[k].seed != c->seed);
        if (!is) fail_msg("training %d was not written", i);
        *n += c->done + 1;
    }
    fr_cells_free(&cells);
    return status;
}

/* ---- validate ------------------------------------------------------------------------------- */

static void make_runs(void) {
    struct fr_text text = {0};
    fr_text_addf(&text, "{\"kind\": \"provenance\", \"schema\": \"forerun/runs/1\"}\n");
    for (int id = 0; id < 2; id++)
        fr_text_addf(
            &text,
            "{\"kind\": \"case\", \"id\": %d, \"app\": \"tensor\", \"ranks\": 2, "
            "\"group\": \"g\", \"label\": \"l%d\", \"model\": \"m\", \"plan\": \"p\"}\n",
            id, id);
    for (int pass = 0; pass < 3; pass++)
        for (int id = 0; id < 2; id++)
            fr_text_addf(&text,
                         "{\"kind\": \"run\", \"id\": %d, \"pass\": %d, \"time_s\": [%d]}\n",
                         id, pass, 1 + id + 2 * pass);
    assert_int_equal(fr_journal_write(path, text.data, text.length, 5, NULL), FR_OK);
    fr_text_free(&text);
}

static fr_status read_runs(int *n, struct fr_error *err) {
    struct fr_validation v = {0};
    fr_status status = fr_validate_read(path, &v, err);
    for (int i = 0; status == FR_OK && i < v.n_rows; i++) {
        const struct fr_validate_row *row = &v.rows[i];
        for (int k = 0; k < row->n_visits; k++)
            if (row->visit[k][1] != 1 + (double)row->run.id + 2 * row->visit[k][0])
                fail_msg("visit %d of case %d was not written", k, i);
        *n += row->n_visits + 1;
    }
    fr_validation_free(&v);
    return status;
}

/* ---- calibrate ------------------------------------------------------------------------------ */

enum { LAUNCHES_WRITTEN = 2, REPS = 4 };

static double time_of(int64_t launch, int64_t rep) {
    return 1e-6 * (double)(1 + launch + 10 * rep);
}

static void make_samples(void) {
    struct fr_provenance provenance = {.ranks = 2, .ranks_per_node = 2, .nodes = 1};
    struct fr_text text = {0};
    fr_sample_line_provenance(&provenance, &text);
    for (int launch = 0; launch < LAUNCHES_WRITTEN; launch++) {
        for (int rep = 0; rep < REPS; rep++) {
            struct fr_sample_kernel k = {
                .launch = launch, .rep = rep, .time_s = time_of(launch, rep)};
            fr_sample_line_kernel(&k, &text);
        }
        struct fr_sample_point p = {
            .key = "kernel", .launch = launch, .n = REPS, .median_s = 1};
        fr_sample_line_point(&p, NULL, &text);
        struct fr_sample_end e = {.launch = launch, .reason = FR_END_COMPLETE};
        fr_sample_line_end(&e, &text);
    }
    assert_int_equal(fr_journal_write(path, text.data, text.length, 7, NULL), FR_OK);
    fr_text_free(&text);
}

/* A launch that has ended is whole: that is what --resume goes by. */
static void ends_are_of_whole_launches(const struct fr_samples *s) {
    for (size_t i = 0; i < s->n_end; i++) {
        int reps = 0, points = 0;
        for (size_t k = 0; k < s->n_kernel; k++)
            reps += s->kernel[k].launch == s->end[i].launch;
        for (size_t k = 0; k < s->n_point; k++)
            points += s->point[k].launch == s->end[i].launch;
        if (reps != REPS || points != 1) fail_msg("launch %zu ended without all it had", i);
    }
}

static fr_status read_samples(int *n, struct fr_error *err) {
    struct fr_samples s = {0};
    char *before = NULL;
    size_t length = 0;
    bool replaced = false;
    fr_status status = fr_samples_read(path, &s, err);
    bool seen[LAUNCHES_WRITTEN][REPS] = {{false}};
    for (size_t i = 0; status == FR_OK && i < s.n_kernel; i++) {
        const struct fr_sample_kernel *k = &s.kernel[i];
        bool is =
            k->launch >= 0 && k->launch < LAUNCHES_WRITTEN && k->rep >= 0 && k->rep < REPS;
        if (!is || k->time_s != time_of(k->launch, k->rep) || seen[k->launch][k->rep])
            fail_msg("sample %zu was not written", i);
        seen[k->launch][k->rep] = true;
    }
    *n = (int)(s.n_kernel + s.n_point + s.n_end);
    fr_samples_free(&s);
    static int turn; /* a file that is replaced is flushed to the disk, which takes its time */
    if (status != FR_OK || turn++ % 61 != 0) return status;
    /* As --resume takes it. */
    assert_int_equal(fr_file_read(path, 1 << 20, &before, &length, NULL), FR_OK);
    int stated = n_known;
    status = fr_samples_repair(path, &replaced, err);
    n_known = stated;
    if (status == FR_OK) {
        assert_int_equal(fr_samples_read(path, &s, err), FR_OK);
        assert_int_equal(n_known, stated); /* nothing is dropped twice */
        ends_are_of_whole_launches(&s);
        fr_samples_free(&s);
        if (replaced) assert_int_equal(fr_file_write(path, before, length, NULL), FR_OK);
    }
    free(before);
    return status;
}

/* --------------------------------------------------------------------------------------------- */

static const struct kind {
    const char *name;
    void (*make)(void);
    fr_status (*read)(int *n, struct fr_error *err);
} kinds[] = {{"iterations", make_trainings, read_trainings},
             {"quality", make_learnings, read_learnings},
             {"validate", make_runs, read_runs},
             {"calibrate", make_samples, read_samples}};

static void put_byte(size_t at, char byte) {
    int fd = open(path, O_WRONLY);
    assert_int_equal(pwrite(fd, &byte, 1, (off_t)at), 1);
    close(fd);
}

static void one_kind(const struct kind *kind, size_t step) {
    char *data = NULL;
    size_t length = 0;
    int whole = 0, dropped = 0, refused = 0;
    kind->make();
    assert_int_equal(fr_file_read(path, 1 << 20, &data, &length, NULL), FR_OK);
    n_known = 0;
    assert_int_equal(kind->read(&whole, NULL), FR_OK);
    assert_int_equal(n_known, 0);
    assert_true(whole > 0);
    for (size_t i = 0; i < length; i += step)
        for (int value = 0; value < 256; value++) {
            struct fr_error err = {.status = FR_OK};
            int n = 0;
            if ((char)value == data[i]) continue;
            put_byte(i, (char)value);
            n_known = 0;
            fr_status status = kind->read(&n, &err);
            bool right = status == FR_OK ? n_known > 0 && n < whole
                                         : status == FR_ERR_INPUT && *err.where && *err.detail;
            if (!right)
                fail_msg("%s, byte %zu := %d: %d of %d, %d told; %s: %s", kind->name, i, value,
                         n, whole, n_known, err.where, err.detail);
            *(status == FR_OK ? &dropped : &refused) += 1;
            put_byte(i, data[i]);
        }
    print_message("%s: %d with lines dropped, %d refused\n", kind->name, dropped, refused);
    assert_true(dropped > 0 && refused > 0);
    free(data);
}

static void one_byte_changed(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) one_kind(&kinds[i], 53);
}

/* Another version's file is refused by every reader alike. */
static void unknown_schemas_are_refused(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        struct fr_journal journal;
        struct fr_error err = {.status = FR_OK};
        int n = 0;
        kinds[i].make();
        assert_int_equal(fr_journal_read(path, 1 << 20, &journal, NULL), FR_OK);
        struct fr_text text = {0};
        char *at = strstr(journal.text, "/1\"");
        assert_non_null(at);
        fr_text_addf(&text, "%.*s/99%s", (int)(at - journal.text), journal.text, at + 2);
        for (int sealed = 0; sealed < 2; sealed++) {
            if (sealed)
                assert_int_equal(fr_journal_write(path, text.data, text.length, 1, NULL),
                                 FR_OK);
            else
                assert_int_equal(fr_file_write(path, text.data, text.length, NULL), FR_OK);
            assert_int_equal(kinds[i].read(&n, &err), FR_ERR_INPUT);
            if (!strstr(err.detail, "/99\"; this version reads \"forerun/"))
                fail_msg("%s: %s", kinds[i].name, err.detail);
        }
        fr_text_free(&text);
        fr_journal_free(&journal);
    }
}

/* A file without digests, of an older version, is read as it was. */
static void older_files_are_read(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        struct fr_journal journal;
        int whole = 0, n = 0;
        kinds[i].make();
        assert_int_equal(kinds[i].read(&whole, NULL), FR_OK);
        assert_int_equal(fr_journal_read(path, 1 << 20, &journal, NULL), FR_OK);
        assert_null(strstr(journal.text, "digest\": \""));
        assert_int_equal(fr_file_write(path, journal.text, journal.length, NULL), FR_OK);
        assert_int_equal(kinds[i].read(&n, NULL), FR_OK);
        assert_int_equal(n, whole);
        fr_journal_free(&journal);
    }
}

static void what_is_none_of_ours_is_refused(void **state) {
    static const char *const texts[] = {"an afternoon's work", "{\"kind\": \"provenance\"}",
                                        "[1]", "{}\n"};
    (void)state;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        for (size_t k = 0; k < sizeof texts / sizeof *texts; k++) {
            struct fr_error err = {.status = FR_OK};
            int n = 0;
            assert_int_equal(fr_file_write(path, texts[k], strlen(texts[k]), NULL), FR_OK);
            if (kinds[i].read(&n, &err) != FR_ERR_INPUT)
                fail_msg("%s takes \"%s\"", kinds[i].name, texts[k]);
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(one_byte_changed),
                                       cmocka_unit_test(unknown_schemas_are_refused),
                                       cmocka_unit_test(older_files_are_read),
                                       cmocka_unit_test(what_is_none_of_ours_is_refused)};
    int fd = mkstemp(path);
    if (fd < 0) return 1;
    close(fd);
    fr_journal_on_message(count);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    unlink(path);
    return failed;
}
