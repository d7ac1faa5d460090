/* Matrix product times: the closed forms by hand, the table by reproducing a power law. */
#include "models/device/device.h"
#include "tests/cmocka.h"

static fr_status read(const char *text, struct fr_device *device, struct fr_error *err) {
    struct fr_json_document *document = NULL;
    *device = (struct fr_device){0};
    fr_status status = fr_json_parse(text, strlen(text), "device", &document, err);
    if (status != FR_OK) return status;
    struct fr_json root = fr_json_root(document);
    status = fr_device_read(&root, device, err);
    fr_json_free(document);
    return status;
}

static void must_read(const char *text, struct fr_device *device) {
    struct fr_error err = {0};
    if (read(text, device, &err) != FR_OK) fail_msg("%s: %s", err.where, err.detail);
}

static double time_of(const struct fr_device *device, double m, double n, double k,
                      double batch, bool *outside) {
    struct fr_gemm_shape shape = {m, n, k, batch, 0};
    return fr_gemm_time_s(device, FR_FP32, &shape, outside);
}

static void saturating(void **state) {
    (void)state;
    struct fr_device device;
    bool outside = false;
    must_read("{\"memory_bandwidth\": \"1 TB/s\", \"gemm\": {\"fp32\": {\"peak\": \"10 "
              "TFLOP/s\", \"half_dim\": 64}}}",
              &device);
    /* d = 64: half the peak. 2*64*100*1000 flop at 5 TFLOP/s. */
    FR_NEAR(time_of(&device, 100, 1000, 64, 1, &outside), 2.0 * 64 * 100 * 1000 / 5e12, 1e-15);
    assert_true(time_of(&device, 0, 10, 10, 1, &outside) == 0);
    assert_false(outside);
    fr_device_free(&device);
}

static void bare_peak_has_no_loss(void **state) {
    (void)state;
    struct fr_device device;
    bool outside = false;
    must_read(
        "{\"memory_bandwidth\": \"1 TB/s\", \"gemm\": {\"fp32\": {\"peak\": \"1 TFLOP/s\"}}}",
        &device);
    FR_NEAR(time_of(&device, 10, 10, 10, 1, &outside), 2e3 / 1e12, 1e-15);
    fr_device_free(&device);
}

/* Without half_k nothing is lost on short products. */
static void tiles_lose_nothing_unsaid(void **state) {
    (void)state;
    static const char *const halves[] = {"", ", \"half_k\": 0", ", \"half_k\": 64"};
    double time_s[3];
    for (int i = 0; i < 3; i++) {
        struct fr_device device;
        bool outside = false;
        char text[256];
        snprintf(text, sizeof text,
                 "{\"memory_bandwidth\": \"1 TB/s\", \"gemm\": {\"fp32\": {\"peak\": "
                 "\"1 TFLOP/s\", \"units\": 1%s}}}",
                 halves[i]);
        must_read(text, &device);
        time_s[i] = time_of(&device, 128, 128, 64, 1, &outside);
        fr_device_free(&device);
    }
    assert_true(time_s[0] == time_s[1]);
    assert_true(time_s[2] > 1.5 * time_s[0]);
}

static void by_batch(void **state) {
    (void)state;
    struct fr_device device;
    bool outside = false;
    must_read("{\"memory_bandwidth\": \"1 TB/s\", \"gemm\": {\"fp32\": {\"peak\": \"1 "
              "TFLOP/s\", \"half_batch\": 32, \"full_batch\": 256}}}",
              &device);
    FR_NEAR(time_of(&device, 10, 10, 10, 32, &outside), 2 * 2e3 / 1e12, 1e-15);
    FR_NEAR(time_of(&device, 10, 10, 10, 256, &outside),
            time_of(&device, 10, 10, 10, 10000, &outside), 1e-15);
    fr_device_free(&device);
}

/* Times t = 1 ns * m^0.9 n^0.8 k^0.7 on a grid: linear in logarithms, so reproduced between. */
static void table(void **state) {
    (void)state;
    struct fr_device device;
    struct fr_text text = {0};
    bool outside = false;
    fr_text_addf(&text, "{\"memory_bandwidth\": \"1 TB/s\", \"gemm\": {\"fp32\": {\"table\": "
                        "{\"m\": [2, 16, 1024], \"n\": [2, 64], \"k\": [1, 8, 512], \"unit\": "
                        "\"ns\", \"time\": [");
    double m_s[] = {2, 16, 1024}, n_s[] = {2, 64}, k_s[] = {1, 8, 512};
    for (int m = 0; m < 3; m++)
        for (int n = 0; n < 2; n++)
            for (int k = 0; k < 3; k++)
                fr_text_addf(&text, "%s%.17g", m + n + k ? ", " : "",
                             pow(m_s[m], 0.9) * pow(n_s[n], 0.8) * pow(k_s[k], 0.7));
    fr_text_addf(&text, "]}}}}");
    must_read(fr_text_get(&text), &device);
    for (double m = 2; m <= 1024; m *= 1.7)
        for (double n = 2; n <= 64; n *= 1.3)
            for (double k = 1; k <= 512; k *= 2.1)
                FR_NEAR(time_of(&device, m, n, k, 1, &outside),
                        1e-9 * pow(m, 0.9) * pow(n, 0.8) * pow(k, 0.7), 1e-12);
    assert_false(outside);
    FR_NEAR(device.gemm[FR_FP32].peak_flop_per_s,
            2e9 * pow(1024, 0.1) * pow(64, 0.2) * pow(512, 0.3), 1e-12);
    /* Beyond the largest shape the rate is kept: twice the work, twice the time. */
    double edge_s = time_of(&device, 1024, 64, 512, 1, &outside);
    assert_false(outside);
    FR_NEAR(time_of(&device, 2048, 64, 512, 1, &outside), 2 * edge_s, 1e-12);
    assert_true(outside);
    outside = false;
    FR_NEAR(time_of(&device, 1, 64, 512, 1, &outside),
            time_of(&device, 2, 64, 512, 1, &(bool){false}), 1e-12);
    assert_true(outside);
    fr_text_free(&text);
    fr_device_free(&device);
}

/* More of any dimension never takes less time, in every closed form. */
static void larger_is_never_faster(void **state) {
    (void)state;
    struct fr_device device;
    bool outside = false;
    must_read("{\"memory_bandwidth\": \"1 TB/s\", \"gemm\": {\"fp32\": {\"peak\": \"10 "
              "TFLOP/s\", \"half_dim\": 64}}}",
              &device);
    for (double m = 1; m < 4096; m *= 3)
        for (double n = 1; n < 4096; n *= 3)
            for (double k = 1; k < 4096; k *= 3) {
                double t = time_of(&device, m, n, k, 1, &outside);
                assert_true(time_of(&device, m + 1, n, k, 1, &outside) >= t);
                assert_true(time_of(&device, m, n + 1, k, 1, &outside) >= t);
                assert_true(time_of(&device, m, n, k + 1, 1, &outside) >= t);
            }
    fr_device_free(&device);
}

/* A product without rows, columns or depth is none, by every form; one of one element takes time. */
static void nothing_takes_no_time(void **state) {
    static const char *const forms[] = {
        "\"peak\": \"1 TFLOP/s\"", "\"peak\": \"1 TFLOP/s\", \"half_dim\": 64",
        "\"peak\": \"1 TFLOP/s\", \"half_batch\": 32, \"full_batch\": 256",
        "\"peak\": \"1 TFLOP/s\", \"units\": 8, \"tile\": 64, \"half_k\": 64, \"tail\": 0.5",
        ("\"table\": {\"m\": [1, 8], \"n\": [1, 8], \"k\": [1, 8], \"unit\": \"us\", "
         "\"time\": [1, 2, 3, 4, 5, 6, 7, 8]}")};
    (void)state;
    for (size_t f = 0; f < sizeof forms / sizeof *forms; f++) {
        char text[400];
        struct fr_device device;
        bool outside = false;
        snprintf(text, sizeof text,
                 "{\"memory_bandwidth\": \"1 TB/s\", \"gemm\": {\"fp32\": {%s}}}", forms[f]);
        must_read(text, &device);
        for (int none = 1; none < 8; none++)
            FR_TRUE(time_of(&device, none & 1 ? 0 : 2, none & 2 ? 0 : 3, none & 4 ? 0 : 4, 1,
                            &outside) == 0,
                    "form %zu, %d", f, none);
        assert_false(outside);
        assert_true(time_of(&device, 1, 1, 1, 1, &outside) > 0);
        fr_device_free(&device);
    }
}

/* How far a power is off where the file does not say: by how it was come by; where it does, that. */
static void power_is_as_certain_as_its_source(void **state) {
    static const struct {
        const char *wanted;
        double uncertainty;
    } rows[] = {{"", 0.3},
                {", \"quality\": \"measured\"", 0.05},
                {", \"quality\": \"sampled\"", 0.1},
                {", \"quality\": \"estimated\"", 0.3},
                {", \"quality\": \"unavailable\"", 0.3},
                {", \"quality\": \"measured\", \"uncertainty\": 0.5", 0.5},
                {", \"uncertainty\": 0", 0}};
    (void)state;
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        char text[300];
        struct fr_device device;
        snprintf(text, sizeof text,
                 "{\"memory_bandwidth\": \"1 TB/s\", \"gemm\": {\"fp32\": {\"peak\": \"1 "
                 "TFLOP/s\"}}, "
                 "\"power\": {\"busy\": \"300 W\", \"idle\": \"100 W\"%s}}",
                 rows[k].wanted);
        must_read(text, &device);
        FR_NEAR(device.power.uncertainty + 1, rows[k].uncertainty + 1, 0);
        fr_device_free(&device);
    }
}

static void refuses(void **state) {
    (void)state;
    static const struct {
        const char *text, *where;
    } bad[] = {
        {"{\"gemm\": {\"fp32\": {\"peak\": \"1 TFLOP/s\"}}}", "device#/memory_bandwidth"},
        {"{\"memory_bandwidth\": \"1 TB/s\", \"gemm\": {}}", "device#/gemm"},
        {"{\"memory_bandwidth\": \"1 TB/s\", \"gemm\": {\"fp23\": {\"peak\": \"1 TFLOP/s\"}}}",
         "device#/gemm/fp23"},
        {"{\"memory_bandwidth\": \"1 TB/s\", \"gemm\": {\"fp32\": {\"peak\": 47.9}}}",
         "device#/gemm/fp32/peak"},
        {"{\"memory_bandwidth\": \"1 TB/s\", \"gemm\": {\"fp32\": {\"peak\": \"0 FLOP/s\"}}}",
         "device#/gemm/fp32/peak"},
        {"{\"memory_bandwidth\": \"1 TB/s\", \"gemm\": {\"fp32\": {\"table\": {\"m\": [2, 1], "
         "\"n\": [1], \"k\": [1], \"unit\": \"us\", \"time\": [1, 2]}}}}",
         "device#/gemm/fp32/table/m/1"},
        {"{\"memory_bandwidth\": \"1 TB/s\", \"gemm\": {\"fp32\": {\"table\": {\"m\": [1], "
         "\"n\": [1], \"k\": [1], \"time\": [1]}}}}",
         "device#/gemm/fp32/table/unit"},
        {"{\"memory_bandwidth\": \"1 TB/s\", \"gemm\": {\"fp32\": {\"table\": {\"m\": [1], "
         "\"n\": [1], \"k\": [1], \"unit\": \"us\", \"time\": [0]}}}}",
         "device#/gemm/fp32/table/time/0"},
        {"{\"memory_bandwidth\": \"1 TB/s\", \"gemm\": {\"fp32\": {\"peak\": \"1 TFLOP/s\"}}, "
         "\"power\": {\"busy\": \"-5 W\", \"idle\": \"1 W\"}}",
         "device#/power/busy"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct fr_device device;
        struct fr_error err = {0};
        FR_TRUE(read(bad[i].text, &device, &err) == FR_ERR_INPUT, "%s", bad[i].text);
        assert_string_equal(err.where, bad[i].where);
        fr_device_free(&device);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(saturating),
                                       cmocka_unit_test(bare_peak_has_no_loss),
                                       cmocka_unit_test(tiles_lose_nothing_unsaid),
                                       cmocka_unit_test(by_batch),
                                       cmocka_unit_test(table),
                                       cmocka_unit_test(larger_is_never_faster),
                                       cmocka_unit_test(nothing_takes_no_time),
                                       cmocka_unit_test(power_is_as_certain_as_its_source),
                                       cmocka_unit_test(refuses)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
