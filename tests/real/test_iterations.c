/* Which k are trained, which is best, and the file of trainings: without training anything. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "models/job/preset.h"
#include "real/iterations/cells.h"
#include "real/iterations/laws.h"
#include "tests/cmocka.h"

static const int64_t ranks[] = {8};

static struct fr_training_options options(void) {
    struct fr_training_options o = fr_training_defaults();
    o.tp = ranks;
    o.n_tp = 1;
    o.seeds = 3;
    return o;
}

/* Iterations that a (p, k) "needs": a + b / k, a seed more or less; 0 below the k that can. */
struct law {
    double a, b;
    int64_t least;
};

static void train(struct fr_cells *cells, const struct law *law) {
    for (int i = 0; i < cells->n; i++) {
        struct fr_cell *c = &cells->items[i];
        double k = (double)c->ghost, seed = (double)c->seed - 2;
        bool can = c->tp == 1 || c->ghost >= law->least;
        c->done = true;
        c->iterations = !can ? 0 : c->tp == 1 ? law->a : law->a + law->b / k + seed;
        c->steps = can ? c->iterations + 1 : 128;
        c->lowest = can ? 0.12 : 0.13;
        c->parameters = c->tp == 1 ? 1 << 21 : 2 * (131072 + 8192 * k);
    }
}

/* Rounds until nothing more is wanted. */
static struct fr_best_ghost search(const struct fr_training_options *o, const struct law *law,
                                   struct fr_trained **rows, int *n) {
    struct fr_cells cells = {0};
    struct fr_error err = {0};
    bool more = true;
    *rows = NULL;
    for (int round = 0; more; round++) {
        assert_true(round < 12);
        free(*rows);
        assert_int_equal(fr_training_rows(&cells, rows, n, &err), FR_OK);
        assert_int_equal(fr_ladder_next(o, *rows, *n, &cells, &more, &err), FR_OK);
        train(&cells, law);
    }
    free(cells.items);
    return fr_training_best(o, *rows, *n, ranks[0]);
}

/* (a + b/k)(c + d k) is least at k = sqrt(b c / (a d)): here 16 c/d = 16, a = b / 16. */
static void a_minimum_is_found_and_bracketed(void **state) {
    (void)state;
    struct fr_training_options o = options();
    for (double at = 2; at <= 64; at *= 2) {
        const struct law law = {100, 100 * at * at / 16, 1};
        struct fr_trained *rows = NULL;
        int n = 0;
        struct fr_best_ghost best = search(&o, &law, &rows, &n);
        assert_non_null(best.row);
        FR_TRUE((double)best.row->ghost == at, "got k %d, want %g", (int)best.row->ghost, at);
        assert_true(best.below && best.above && !best.smallest && !best.largest);
        FR_TRUE(n < 9, "%d rows for a minimum at %g", n, at);
        FR_NEAR(best.row->iterations, law.a + law.b / at, 1e-12);
        FR_NEAR(best.row->high - best.row->low, 2, 1e-12);
        FR_NEAR(best.total, best.row->iterations * 2 * (131072 + 8192 * at), 1e-12);
        free(rows);
    }
}

static void edges_are_called_edges(void **state) {
    (void)state;
    struct fr_training_options o = options();
    struct fr_trained *rows = NULL;
    char text[100];
    int n = 0;
    const struct law large = {1, 1e9, 1}, small = {100, 0, 1}, capable = {100, 0, 60},
                     never = {100, 0, 1000};
    struct fr_best_ghost best = search(&o, &large, &rows, &n);
    /* (1024 / 8)(1 - 1/8) = 112, not itself allowed. */
    assert_int_equal(best.row->ghost, 111);
    assert_true(best.largest && !best.above);
    assert_non_null(strstr(fr_best_ghost_text(&best, text, sizeof text), "largest that Eq. 8"));
    free(rows);
    best = search(&o, &small, &rows, &n);
    assert_int_equal(best.row->ghost, 1);
    assert_true(best.smallest && !best.below);
    free(rows);
    /* Smaller k cannot reach the loss: they bound the minimum from below all the same. */
    best = search(&o, &capable, &rows, &n);
    assert_int_equal(best.row->ghost, 64);
    assert_true(best.below && best.above);
    free(rows);
    best = search(&o, &never, &rows, &n);
    assert_null(best.row);
    for (int i = 0; i < n; i++)
        if (rows[i].tp > 1) {
            assert_int_equal(rows[i].n_reached, 0);
            assert_true(isnan(rows[i].iterations));
            FR_NEAR(rows[i].loss, 0.13, 1e-12);
            FR_NEAR(rows[i].gave_up, 128, 1e-12);
        }
    free(rows);
}

/* Trainings that reached the loss on a cluster too small to price them: k is not known by energy,
 * which is not to say that none reached it; by work it is, and no rung is trained in vain. */
static void reached_is_not_priced(void **state) {
    (void)state;
    struct fr_training_options o = options(), unpriced = o;
    struct fr_cluster cluster;
    struct fr_json_document *document = NULL;
    struct fr_trained *rows = NULL, *plain = NULL;
    const struct law law = {100, 100, 1};
    int n = 0, n_plain = 0;
    char text[300];
    assert_int_equal(fr_preset_or_file_read("cluster", "frontier", &document, NULL), FR_OK);
    assert_int_equal(fr_cluster_read(document, &cluster, NULL), FR_OK);
    fr_json_free(document);
    cluster.levels.count = 1;
    cluster.levels.level[0].ranks = 4;
    o.cluster = &cluster;
    struct fr_best_ghost best = search(&o, &law, &rows, &n);
    assert_null(best.row);
    fr_best_ghost_text(&best, text, sizeof text);
    FR_TRUE(strstr(text, "not known: the energy") && strstr(text, "8 ranks"), "got %s", text);
    struct fr_best_ghost by_work = search(&unpriced, &law, &plain, &n_plain);
    assert_non_null(by_work.row);
    assert_int_equal(n, n_plain);
    free(rows);
    free(plain);
    fr_cluster_free(&cluster);
}

static void largest_k_is_the_last_below_eq8(void **state) {
    (void)state;
    for (int64_t n = 8; n <= 64; n += 4)
        for (int64_t p = 2; p <= 8; p++) {
            int64_t most = fr_ladder_most(n, p), want = 0;
            for (int64_t k = 1; n % p == 0 && k < n; k++)
                if (n * n / p + k * n * p < n * n) want = k; /* fewer weights than dense */
            FR_TRUE(most == want, "n %d, p %d: got %d, want %d", (int)n, (int)p, (int)most,
                    (int)want);
        }
}

static void a_file_gives_back_what_was_trained(void **state) {
    (void)state;
    char path[] = "/tmp/forerun-cells-XXXXXX", *text = NULL;
    size_t length = 0;
    struct fr_training_options o = options(), asked;
    const int64_t ghost_neurons[] = {4, 16};
    const struct law law = {30, 100, 8};
    struct fr_cells cells = {0}, read = {0};
    struct fr_error err = {0};
    bool more = false;
    close(mkstemp(path));
    o.samples = path;
    o.ghost = ghost_neurons;
    o.n_ghost = 2;
    assert_int_equal(fr_ladder_next(&o, NULL, 0, &cells, &more, &err), FR_OK);
    assert_int_equal(cells.n, 9);
    train(&cells, &law);
    cells.items[8].done = false;
    assert_int_equal(fr_cells_write(&cells, fr_training_cells_of(&o, &asked), &err), FR_OK);
    assert_int_equal(fr_cells_read(&read, fr_training_cells_of(&o, &asked), &err), FR_OK);
    assert_int_equal(read.n, cells.n);
    for (int i = 0; i < read.n; i++) {
        const struct fr_cell *a = &cells.items[i], *b = &read.items[i];
        assert_int_equal(a->tp, b->tp);
        assert_int_equal(a->ghost, b->ghost);
        assert_int_equal(a->seed, b->seed);
        assert_int_equal(a->done, b->done);
        if (a->done) assert_true(a->iterations == b->iterations && a->lowest == b->lowest);
    }
    /* Half a line at the end, as a kill leaves it, is of no training. */
    fr_file_read(path, FR_FILE_MAX_B, &text, &length, NULL);
    fr_file_write(path, text, length - 5, NULL);
    free(text);
    assert_int_equal(fr_cells_read(&read, fr_training_cells_of(&o, &asked), &err), FR_OK);
    assert_false(read.items[7].done);
    o.loss = 0.11;
    assert_int_equal(fr_cells_read(&read, fr_training_cells_of(&o, &asked), &err),
                     FR_ERR_INPUT);
    assert_non_null(strstr(err.detail, "cannot be resumed: loss was 0.12, is 0.11"));
    unlink(path);
    free(cells.items);
    free(read.items);
}

/* ---- laws -------------------------------------------------------------------------------------- */

/* Points of a law without noise give it back; of one too few, or along what does not vary, there is none. */
static void laws_are_found_again(void **state) {
    struct fr_law_point batch[4], ghost[6], share[2];
    struct fr_iterations_law law;
    (void)state;
    for (int i = 0; i < 4; i++) {
        double b = 8 << i;
        batch[i] = (struct fr_law_point){b, 1, 120 * (1 + 24 / b)};
    }
    for (int i = 0; i < 6; i++) {
        double k = 2 << i % 3, p = 2 + 2 * (i / 3);
        ghost[i] = (struct fr_law_point){k, p, 300 * pow(k, -0.4) * pow(p, 0.2)};
    }
    for (int i = 0; i < 2; i++)
        share[i] = (struct fr_law_point){0.25 + 0.75 * i, 1, exp(0.8 * (0.25 + 0.75 * i))};
    assert_true(fr_law_fit(FR_LAW_BATCH, batch, 4, &law));
    FR_NEAR(law.critical_batch, 24, 1e-9);
    assert_true(law.from == 8 && law.to == 64 && law.error < 1e-9);
    FR_NEAR(fr_law_batch(&law, 8, 24), 2.0 / 4, 1e-9);
    assert_false(fr_law_fit(FR_LAW_BATCH, batch, 2, &law));
    assert_true(fr_law_fit(FR_LAW_GHOST, ghost, 6, &law));
    FR_NEAR(law.iterations, 300, 1e-9);
    FR_NEAR(law.ghost_power, -0.4, 1e-9);
    FR_NEAR(law.tp_power, 0.2, 1e-9);
    assert_true(law.from == 2 && law.to == 8 && law.tp_from == 2 && law.tp_to == 4);
    assert_false(fr_law_fit(FR_LAW_GHOST, ghost, 2, &law));
    assert_true(fr_law_fit(FR_LAW_GHOST, ghost, 3, &law)); /* one p: its power is not asked */
    assert_true(law.tp_power == 0 && law.tp_from == law.tp_to);
    assert_true(fr_law_fit(FR_LAW_BACKWARD, share, 2, &law));
    FR_NEAR(law.slope, 0.8, 1e-12);
    assert_true(law.from == 0 && law.to == 1);
    assert_false(fr_law_fit(FR_LAW_GRADIENT, share, 1, &law));
    /* More iterations at a larger batch are no critical batch. */
    for (int i = 0; i < 4; i++) batch[i].iterations = batch[i].at;
    assert_false(fr_law_fit(FR_LAW_BATCH, batch, 4, &law));
    /* By hand: 100 and 104 where the law says 102: 1.98 % in the mean square of logarithms. */
    struct fr_law_point off[] = {{1, 2, 100}, {1, 2, 104}, {2, 2, 100}, {2, 2, 104}};
    assert_true(fr_law_fit(FR_LAW_GHOST, off, 4, &law));
    FR_NEAR(law.error, log(104.0 / 100) / 2, 1e-9);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(laws_are_found_again),
        cmocka_unit_test(a_minimum_is_found_and_bracketed),
        cmocka_unit_test(edges_are_called_edges),
        cmocka_unit_test(reached_is_not_priced),
        cmocka_unit_test(largest_k_is_the_last_below_eq8),
        cmocka_unit_test(a_file_gives_back_what_was_trained),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
