/* Items come out in order, equals as they stood, with memory and without. */
#include "base/sort.h"

#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "tests/cmocka.h"

struct item {
    int key, place;
    char more[12]; /* no power of two */
};

static int by_key(const void *a, const void *b) {
    const struct item *x = a, *y = b;
    return (x->key > y->key) - (x->key < y->key);
}

static void check(size_t n, int keys, unsigned seed) {
    struct item *items = calloc(n + 1, sizeof *items);
    for (size_t i = 0; i < n; i++) {
        seed = seed * 1103515245u + 12345u;
        items[i].key = (int)(seed >> 16) % keys;
        items[i].place = (int)i;
        memset(items[i].more, (int)i & 0x7f, sizeof items->more);
    }
    fr_sort_items(items, n, sizeof *items, by_key);
    for (size_t i = 0; i < n; i++) {
        assert_int_equal(items[i].more[11], items[i].place & 0x7f);
        if (i == 0) continue;
        assert_true(items[i - 1].key <= items[i].key);
        if (items[i - 1].key == items[i].key)
            assert_true(items[i - 1].place < items[i].place);
    }
    free(items);
}

static void equals_keep_their_order(void **state) {
    (void)state;
    for (size_t n = 0; n < 70; n++)
        for (int keys = 1; keys < 9; keys++) check(n, keys, (unsigned)n + 77);
    check(5000, 10, 3);
    check(5000, 30000, 3);
}

static long comparisons;

static int counted(const void *a, const void *b) {
    comparisons++;
    return by_key(a, b);
}

/* n log2 n at most, whatever the order they come in; sorted ones, n - 1. */
static void comparisons_are_bounded(void **state) {
    (void)state;
    enum { LOG_N = 12, N = 1 << LOG_N };
    static struct item items[N];
    for (int order = 0; order < 3; order++) {
        for (int i = 0; i < N; i++)
            items[i].key = order == 0 ? i : order == 1 ? N - i : i * 7919 % N;
        comparisons = 0;
        fr_sort_items(items, N, sizeof *items, counted);
        assert_true(comparisons <= (long)N * LOG_N + N);
    }
    comparisons = 0;
    fr_sort_items(items, N, sizeof *items, counted);
    assert_int_equal(comparisons, N - 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equals_keep_their_order),
        cmocka_unit_test(comparisons_are_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
