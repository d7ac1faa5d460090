/** @file
 *  Comparing doubles in tests; the cmocka of Debian 12 compares floats only. */
#ifndef FR_TESTS_CALIBRATE_NEAR_H
#define FR_TESTS_CALIBRATE_NEAR_H

/** Fails, saying both values, unless |got - wanted| <= tolerance.  After cmocka.h. */
#define ASSERT_NEAR(got, wanted, tolerance)                                                    \
    do {                                                                                       \
        double got_ = (got), wanted_ = (wanted);                                               \
        double off_ = got_ > wanted_ ? got_ - wanted_ : wanted_ - got_;                        \
        if (!(off_ <= (tolerance)))                                                            \
            fail_msg("%s: got %.17g, wanted %.17g", #got, got_, wanted_);                      \
    } while (0)

#endif
