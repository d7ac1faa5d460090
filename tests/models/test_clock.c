/* The law of the clock: by hand, and what it keeps whatever its coefficients. */
#include "models/device/clock.h"

#include <math.h>

#include "tests/cmocka.h"

static const struct fr_clock_power device = {{1.1e9, 0.8e-9}, 60, 190e-9};

static void near_to(double got, double want, double tolerance) {
    if (!(fabs(got - want) <= tolerance)) fail_msg("got %.12g, wanted %.12g", got, want);
}

/* At 1 GHz below the knee: 60 + 190.  At 1.35 GHz v = 1 + 0.8 * 0.25 = 1.2: 60 + 190 * 1.35 * 1.44. */
static void power_by_hand(void **state) {
    (void)state;
    near_to(fr_clock_power_W(&device, 1e9), 250, 1e-9);
    near_to(fr_clock_voltage_squared(&device.voltage, 1.35e9), 1.44, 1e-12);
    near_to(fr_clock_power_W(&device, 1.35e9), 60 + 190 * 1.35 * 1.44, 1e-9);
}

static void power_never_falls_with_the_clock(void **state) {
    double before_W = 0;
    (void)state;
    for (int mhz = 100; mhz <= 2000; mhz += 10) {
        double now_W = fr_clock_power_W(&device, mhz * 1e6);
        if (now_W <= before_W) fail_msg("%d MHz: got %g W after %g W", mhz, now_W, before_W);
        before_W = now_W;
    }
}

/* A limit that does not bind changes nothing; one that does is met; one that cannot be met ends at a
 * tenth of the clock. */
static void a_limit_is_the_clock_it_settles_at(void **state) {
    (void)state;
    near_to(fr_clock_steady_Hz(&device, 1.4e9, 1000), 1.4e9, 0);
    for (double limit_W = 100; limit_W < 450; limit_W += 25) {
        double clock_Hz = fr_clock_steady_Hz(&device, 1.4e9, limit_W);
        near_to(fr_clock_power_W(&device, clock_Hz), limit_W, 1e-6 * limit_W);
    }
    near_to(fr_clock_steady_Hz(&device, 1.4e9, 1), 0.14e9, 1);
}

static void what_does_not_scale_stays(void **state) {
    const struct fr_clock_time time = {0.2, 1e9};
    (void)state;
    near_to(fr_clock_time_s(&time, 1e9), 1.2, 1e-12);
    near_to(fr_clock_time_s(&time, 2e9), 0.7, 1e-12);
}

/* The highest of a device's clocks within a limit, asked of all; where none is, the lowest. */
static void the_highest_clock_within_a_limit(void **state) {
    struct fr_device_clock c = {.known = true,
                                .min_Hz = 0.6e9,
                                .max_Hz = 1.4e9,
                                .step_Hz = 50e6,
                                .static_share = 0.3,
                                .fixed_share = 0.1};
    c.voltage = device.voltage;
    (void)state;
    int n = fr_device_clocks(&c);
    assert_int_equal(n, 17);
    for (double limit_W = 20; limit_W < 450; limit_W += 7) {
        double wanted_Hz = c.min_Hz;
        for (int i = 0; i < n; i++)
            if (400 * fr_device_clock_power(&c, fr_device_clock_at(&c, i)) <= limit_W)
                wanted_Hz = fmax(wanted_Hz, fr_device_clock_at(&c, i));
        near_to(fr_device_clock_within(&c, 400, limit_W), wanted_Hz, 1);
    }
}

/* To the last of forty halvings of nine tenths of the clock: no clock that much higher is within the limit. */
static void settled_to_a_millionth_of_a_millionth(void **state) {
    const double clock_Hz = 1.4e9, last_Hz = 0.9 * clock_Hz / 0x1p40;
    (void)state;
    for (double limit_W = 90; limit_W < 400; limit_W += 7) {
        double steady_Hz = fr_clock_steady_Hz(&device, clock_Hz, limit_W);
        FR_TRUE(fr_clock_power_W(&device, steady_Hz) <= limit_W &&
                    fr_clock_power_W(&device, steady_Hz + 1.1 * last_Hz) > limit_W,
                "%g W: %.17g Hz", limit_W, steady_Hz);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(power_by_hand),
                                       cmocka_unit_test(power_never_falls_with_the_clock),
                                       cmocka_unit_test(a_limit_is_the_clock_it_settles_at),
                                       cmocka_unit_test(the_highest_clock_within_a_limit),
                                       cmocka_unit_test(settled_to_a_millionth_of_a_millionth),
                                       cmocka_unit_test(what_does_not_scale_stays)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
