/** @file
 *  Tests of the driver use the libraries of this folder through this: a device, a task's time, and a product with its law.
 *  After cmocka.h; the driver is NVIDIA's, or the one that FR_DRIVER names. */
#ifndef FR_TESTS_CALIBRATE_FAKE_CUDA_USE_H
#define FR_TESTS_CALIBRATE_FAKE_CUDA_USE_H

#include "calibrate/measure/device/device.h"
#include "tests/calibrate/fake_cuda/fake.h"

#ifndef FR_DRIVER
#define FR_DRIVER fr_device_cuda
#endif

static const struct fr_device_driver *const driver = &FR_DRIVER;
static const struct fr_device_task product = {.kind = FR_DEVICE_PRODUCT,
                                              .dtype = FR_BF16,
                                              .m = 4096,
                                              .n = 6144,
                                              .k = 4096,
                                              .transposed = FR_TRANSPOSED_B};

static inline double time_s(struct fr_device_handle *device, const struct fr_device_task *task,
                            int calls) {
    struct fr_error err = {.status = FR_OK};
    double took_s = 0;
    if (driver->prepare(device, task, &err) != FR_OK ||
        driver->run(device, calls, &took_s, &err) != FR_OK)
        fail_msg("%s: %s", err.where, err.detail);
    return took_s / calls;
}

static inline struct fr_device_handle *open_device(void) {
    struct fr_device_handle *device = NULL;
    struct fr_error err = {.status = FR_OK};
    if (driver->open(0, &device, &err) != FR_OK) fail_msg("%s: %s", err.where, err.detail);
    return device;
}

static inline void near(double got, double wanted, const char *what) {
    if (!(got > wanted * 0.999 && got < wanted * 1.001))
        fail_msg("%s: got %g, wanted %g", what, got, wanted);
}

/* The law of fake.h, of m x n x k in whole tiles. */
static inline double product_s(const struct fr_device_task *t, double peak) {
    double tiles = (double)(t->m / 128) * (double)(t->n / 128);
    double value_B = t->dtype == FR_FP32 || t->dtype == FR_TF32 ? 4
                     : t->dtype == FR_FP64                      ? 8
                                                                : 2;
    return 2 * (double)t->m * (double)t->n * (double)t->k / (FAKE_EFFICIENCY * peak) *
               (1 + FAKE_TAIL * FAKE_UNITS / tiles) +
           (double)t->m * (double)t->n * value_B / FAKE_MEMORY;
}

#endif
