/* Memory: products that overflow are refused, and a failure reaches what main registered. */
#include "base/alloc.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "tests/cmocka.h"

static size_t failed_B;
static int failures;

static void note(size_t wanted_B) {
    failed_B = wanted_B;
    failures++;
}

static void blocks_are_what_was_asked_for(void **state) {
    (void)state;
    unsigned char *block = fr_calloc(7, 3);
    for (int i = 0; i < 21; i++) assert_int_equal(block[i], 0);
    memset(block, 9, 21);
    block = fr_realloc(block, 1000, 3);
    for (int i = 0; i < 21; i++) assert_int_equal(block[i], 9);
    free(block);
    block = fr_malloc(0, 8); /* none is no failure */
    assert_non_null(block);
    free(block);
    char *copy = fr_strdup("forerun");
    assert_string_equal(copy, "forerun");
    free(copy);
    void *aligned = fr_malloc_aligned(4096, 1);
    assert_int_equal((uintptr_t)aligned % 4096, 0);
    free(aligned);
}

/* Volatile, since compilers know these products for what they are. */
static void a_product_that_overflows_is_refused(void **state) {
    (void)state;
    volatile size_t many = SIZE_MAX / 4, all = SIZE_MAX;
    char saved = 'k', *block = malloc(1);
    *block = saved;
    failures = 0;
    fr_alloc_on_failure(note);
    assert_null(fr_malloc(many, 8));
    assert_int_equal(failed_B, SIZE_MAX);
    assert_null(fr_calloc(8, many));
    assert_null(fr_realloc(block, many, 8));
    assert_int_equal(*block, saved);
    assert_null(fr_malloc_aligned(64, all));
    assert_int_equal(failures, 4);
    assert_null(fr_malloc(all / 2, 1)); /* no overflow: the C library refuses */
    assert_int_equal(failed_B, SIZE_MAX / 2);
    fr_alloc_on_failure(NULL);
    assert_null(fr_malloc(many, 8)); /* nothing registered: a value */
    assert_int_equal(failures, 5);
    free(block);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_are_what_was_asked_for),
        cmocka_unit_test(a_product_that_overflows_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
