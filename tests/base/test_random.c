/* Streams of random numbers and digests hold their published numbers. */
#include "base/random.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include "tests/cmocka.h"

/* Rosetta Code, "Pseudo-random numbers/Splitmix64" and "/Xorshift star", seed 1234567. */
static void streams_are_the_published_ones(void **state) {
    static const uint64_t split[] = {UINT64_C(6457827717110365317),
                                     UINT64_C(3203168211198807973),
                                     UINT64_C(9817491932198370423)};
    static const uint64_t star[] = {3540625527, 2750739987, 4037983143};
    uint64_t a = 1234567, b = 1234567;
    (void)state;
    for (int i = 0; i < 3; i++) {
        uint64_t got = fr_random_next(&a), high = fr_random_xorshift(&b) >> 32;
        FR_TRUE(got == split[i], "splitmix64, number %d: %" PRIu64, i, got);
        FR_TRUE(high == star[i], "xorshift64*, number %d: %" PRIu64, i, high);
    }
}

/* Whoever asks for one place gets what a stream of all places has there. */
static void a_place_is_a_stream_of_its_own(void **state) {
    (void)state;
    for (uint64_t seed = 0; seed < 5; seed++)
        for (uint64_t stream = 0; stream < 5; stream++) {
            uint64_t first = fr_random_at(seed, stream, 0);
            for (uint64_t i = 1; i < 100; i++) {
                uint64_t bits = fr_random_at(seed, stream, i);
                double u = fr_random_uniform(bits);
                FR_TRUE(bits != first && u >= 0 && u < 1, "%g at %" PRIu64, u, i);
            }
        }
}

/* Noll's vectors of FNV-1a, 64 bits: "", "a", "foobar". */
static void digests_are_the_published_ones(void **state) {
    (void)state;
    assert_true(fr_digest_bytes(FR_DIGEST_START, "", 0) == UINT64_C(0xcbf29ce484222325));
    assert_true(fr_digest_bytes(FR_DIGEST_START, "a", 1) == UINT64_C(0xaf63dc4c8601ec8c));
    assert_true(fr_digest_bytes(FR_DIGEST_START, "foobar", 6) == UINT64_C(0x85944171f73967e8));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(streams_are_the_published_ones),
        cmocka_unit_test(a_place_is_a_stream_of_its_own),
        cmocka_unit_test(digests_are_the_published_ones),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
