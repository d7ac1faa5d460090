/* The work of Perseus' trainings is told from their waiting: by hand, and on a made-up device. */
#include "studies/energy/pipelined.h"
#include "studies/energy/stage_work.h"
#include "tests/cmocka.h"

/* By hand: bloom-3b's layer on 4 sequences of 1024 is 4 (2 12 2560^2 + 4 1024 2560) 4096 FLOP, its logits
 * 3 2 250880 2560 4096; the stem of a partition does not work. */
static void stages_count_their_layers(void **state) {
    double flop[FR_STAGES_MAX], layer = 4 * (24.0 * 2560 * 2560 + 4.0 * 1024 * 2560) * 4096,
                                logits = 6.0 * 250880 * 2560 * 4096;
    static const struct {
        const char *model, *partition;
        int stages;
    } refused[] = {
        {"bloom-3b", "custom:0,10,18,26,33", 4}, {"bloom-3b", "custom:0,10,18,26", 4},
        {"bloom-3b", "custom:0,10,10,26,32", 4}, {"bloom-3b", "custom:0,10,18,26,32,40", 4},
        {"bloom-3b", "uniform_transformer", 4},  {"bloom-3b", "uniform_transformer", 99},
        {"nobody", "uniform_transformer", 4}};
    (void)state;
    assert_true(fr_energy_stage_work("bloom-3b", "custom:0,10,18,26,32", 4, 4, flop));
    FR_NEAR(flop[0], 9 * layer, 1e-12);
    FR_NEAR(flop[2], 8 * layer, 1e-12);
    FR_NEAR(flop[3], 5 * layer + logits, 1e-12);
    assert_true(fr_energy_stage_work("bloom-3b", "uniform_transformer", 5, 4, flop));
    FR_NEAR(flop[4], 6 * layer + logits, 1e-12);
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
        assert_false(fr_energy_stage_work(refused[i].model, refused[i].partition,
                                          refused[i].stages, 4, flop));
}

/* Two pipelines on a made-up device of 10 TFLOP/s: one bound by its heaviest stage, one that waits for
 * messages nine tenths of its time. */
static void waiting_is_told_from_work(void **state) {
    struct fr_pipelined items[] = {{.device = "D",
                                    .devices = 4,
                                    .stages = 4,
                                    .micro_batches = 12,
                                    .balance = 0.75,
                                    .full_s = 10,
                                    .full_Hz = 2e9},
                                   {.device = "D",
                                    .devices = 4,
                                    .stages = 4,
                                    .micro_batches = 12,
                                    .balance = 1,
                                    .full_s = 40,
                                    .full_Hz = 2e9}};
    struct fr_pipelined_all t = {items, 2};
    struct fr_pipelined_device d = {.work_W = 300, .static_W = 60, .free_share = 1};
    (void)state;
    d.stage.voltage = (struct fr_clock_voltage){1e9, 0.5e-9};
    items[0].flop = 10e12 * 0.6 * 4 * 10; /* 12 / 15 x 0.75 of the time */
    items[1].flop = 10e12 * 0.1 * 4 * 40;
    FR_NEAR(fr_pipelined_share(&t, &items[0], &items[1]), 0.6, 1e-12);
    FR_NEAR(fr_pipelined_share(&t, &items[1], &items[1]), 0.1, 1e-12);
    /* 30 W x 0.1 and 90 W x 0.9 a device; all of it at full clock, whatever is split how */
    items[1].full_J = 4 * 40 * (0.1 * 300 + 0.9 * 90);
    FR_NEAR(fr_pipelined_waiting_W(&items[1], 0.1, 300), 90, 1e-12);
    struct fr_clock_plan full = {.mean_Hz = 2e9, .time_s = 40},
                         half = {.mean_Hz = 1e9, .time_s = 40};
    FR_NEAR(fr_pipelined_energy_J(&items[1], &full, &d, 0.1), items[1].full_J, 1e-12);
    /* v^2 falls from 2.25 to 1; the work's cycles take 8 s instead of 4, the rest waits at half the clock */
    FR_NEAR(fr_pipelined_energy_J(&items[1], &half, &d, 0.1),
            4 * (60 * 40 + 240 * 4 / 2.25 + 30 * 32 / 2.25 / 2), 1e-12);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(stages_count_their_layers),
                                       cmocka_unit_test(waiting_is_told_from_work)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
