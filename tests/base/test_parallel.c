/* Every piece is worked on once, whatever the number of threads. */
#include "base/parallel.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

enum { N_PIECES = 5000 };

static void count_piece(void *context, int64_t piece) { ((int *)context)[piece]++; }

static void every_piece_once(void **state) {
    static const int n_threads[] = {-1, 0, 1, 2, 7, 1000};
    (void)state;
    for (size_t t = 0; t < sizeof n_threads / sizeof *n_threads; t++) {
        int counts[N_PIECES];
        memset(counts, 0, sizeof counts);
        fr_parallel_for(n_threads[t], N_PIECES, count_piece, counts);
        for (int i = 0; i < N_PIECES; i++)
            if (counts[i] != 1)
                fail_msg("%d threads: piece %d %d times", n_threads[t], i, counts[i]);
    }
}

static void no_pieces_no_work(void **state) {
    (void)state;
    fr_parallel_for(4, 0, count_piece, NULL);
    assert_true(fr_processors() >= 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_piece_once),
        cmocka_unit_test(no_pieces_no_work),
    };
    return cmocka_run_group_tests_name("base.parallel", tests, NULL, NULL);
}
