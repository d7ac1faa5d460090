/* Least squares of few columns, held against what defines them: residuals at right angles to every column. */
#include "trust/numbers/least_squares.h"

#include <math.h>
#include <stdlib.h>

#include "tests/cmocka.h"
#include "trust/numbers/random_at.h"

enum { ROWS = 40, MAX = FR_LEAST_SQUARES_MAX };

/* In (-1, 1), the same at each call. */
static double drawn(int i) { return 2 * fr_uniform_at(77, 0, (uint64_t)i) - 1; }

struct rows {
    double x[ROWS][MAX], y[ROWS];
};

static void draw(struct rows *r, int seed, const double scale[MAX]) {
    for (int i = 0; i < ROWS; i++) {
        r->y[i] = 3 + drawn(seed * 1000 + i * 4);
        for (int j = 0; j < MAX; j++)
            r->x[i][j] = scale[j] * (2 + drawn(seed * 1000 + i * 4 + 1 + j));
    }
}

static struct fr_least_squares system_of(const struct rows *r, int n, int columns) {
    struct fr_least_squares s = {.columns = columns};
    for (int i = 0; i < n; i++) fr_least_squares_add(&s, r->x[i], r->y[i]);
    return s;
}

static void residuals_stand_on_every_column(void **state) {
    static const double scales[][MAX] = {{1, 1, 1}, {1e-9, 1, 1e9}, {1e100, 1e-100, 1}};
    (void)state;
    for (int seed = 0; seed < 60; seed++) {
        struct rows r;
        double c[MAX] = {0}, squares = 0, along[MAX] = {0}, length[MAX] = {0};
        int columns = 1 + seed % 3, n = columns + 1 + seed % (ROWS - MAX - 1);
        draw(&r, seed, scales[seed % 3]);
        struct fr_least_squares s = system_of(&r, n, columns);
        assert_true(fr_least_squares_solve(&s, 1e-12, c));
        for (int i = 0; i < n; i++) {
            double off = r.y[i];
            for (int j = 0; j < columns; j++) off -= c[j] * r.x[i][j];
            squares += off * off;
            for (int j = 0; j < columns; j++)
                along[j] += off * r.x[i][j], length[j] = hypot(length[j], r.x[i][j]);
        }
        for (int j = 0; j < columns; j++)
            FR_TRUE(fabs(along[j]) <= 1e-11 * length[j] * sqrt(n),
                    "seed %d, column %d: %g of %g", seed, j, along[j], length[j]);
        FR_TRUE(fabs(squares - s.squares) <= 1e-10 * (squares + 1e-20) + 1e-22,
                "seed %d: %g, told %g", seed, squares, s.squares);
    }
}

/* Columns that are one, or one of the others' sum, and rows too few; what is left in c then is as it was. */
static void what_cannot_be_told_apart_is_refused(void **state) {
    (void)state;
    for (int seed = 0; seed < 30; seed++) {
        struct rows r;
        static const double ones[MAX] = {1, 1, 1};
        double c[MAX] = {5, 6, 7};
        draw(&r, seed, ones);
        struct fr_least_squares few = system_of(&r, 2, 3);
        assert_false(fr_least_squares_solve(&few, 1e-12, c));
        for (int i = 0; i < ROWS; i++)
            r.x[i][2] = seed % 3 == 0   ? 2 * r.x[i][0]
                        : seed % 3 == 1 ? r.x[i][0] - 3 * r.x[i][1]
                                        : 0;
        struct fr_least_squares alike = system_of(&r, ROWS, 3);
        assert_false(fr_least_squares_solve(&alike, 1e-12, c));
        r.x[0][0] = NAN;
        struct fr_least_squares none = system_of(&r, ROWS, 2);
        assert_false(fr_least_squares_solve(&none, 1e-12, c));
        assert_true(c[0] == 5 && c[1] == 6 && c[2] == 7);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(residuals_stand_on_every_column),
                                       cmocka_unit_test(what_cannot_be_told_apart_is_refused)};
    return cmocka_run_group_tests_name("laws.least_squares", tests, NULL, NULL);
}
