/* The forms of a cluster file's collectives. */
#include "models/network/comm.h"
#include "tests/cmocka.h"

static const struct fr_levels levels = {
    .count = 2,
    .level = {
        {.name = "node", .ranks = 8, .latency_s = 1e-6, .rate_B_per_s = 100e9, .shared_by = 1},
        {.name = "system",
         .ranks = 1024,
         .latency_s = 5e-6,
         .rate_B_per_s = 25e9,
         .shared_by = 4}}};

static fr_status read(const char *text, struct fr_price *price, struct fr_error *err) {
    struct fr_json_document *document = NULL;
    memset(price, 0, FR_OP_COUNT * sizeof *price);
    fr_status status = fr_json_parse(text, strlen(text), "c", &document, err);
    if (status != FR_OK) return status;
    struct fr_json root = fr_json_root(document);
    status = fr_comm_read(&root, &levels, price, err);
    fr_json_free(document);
    return status;
}

static void must_read(const char *text, struct fr_price *price) {
    struct fr_error err = {0};
    if (read(text, price, &err) != FR_OK) fail_msg("%s: %s", err.where, err.detail);
}

static double time_of(const struct fr_price *price, fr_op op, int64_t p, int64_t stride,
                      double size_B, bool *outside) {
    struct fr_group group = fr_group_make(&levels, p, stride);
    return fr_comm_time_s(&price[op], &group, size_B, outside);
}

static void log_form_and_its_message(void **state) {
    (void)state;
    struct fr_price price[FR_OP_COUNT];
    bool outside = false;
    must_read("{\"all_gather\": {\"form\": \"log\", \"c1\": \"10 us\", \"c2\": \"1 ns/B\", "
              "\"c3\": \"2 us\", \"message\": \"per_rank\"},"
              " \"reduce_scatter\": {\"form\": \"log\", \"c1\": \"10 us\", \"c2\": \"1 ns/B\", "
              "\"message\": \"total\"},"
              " \"all_reduce\": {\"form\": \"log\", \"c1\": \"10 us\", \"c2\": \"1 ns/B\", "
              "\"message\": \"per_rank\"}}",
              price);
    FR_NEAR(time_of(price, FR_OP_ALL_GATHER, 8, 1, 8000, &outside), 30e-6 + 1e-6 + 2e-6, 1e-12);
    FR_NEAR(time_of(price, FR_OP_REDUCE_SCATTER, 8, 1, 8000, &outside), 30e-6 + 8e-6, 1e-12);
    FR_NEAR(time_of(price, FR_OP_ALL_REDUCE, 8, 1, 8000, &outside), 30e-6 + 8e-6,
            1e-12); /* one buffer either way */
    assert_true(time_of(price, FR_OP_ALL_GATHER, 1, 1, 8000, &outside) == 0);
    for (int op = 0; op < FR_OP_COUNT; op++) /* nobody said how far they are off */
        assert_true(price[op].residual_median == -1 && price[op].residual_p90 == -1);
    assert_false(outside);
    fr_comm_free(price);
}

static void algorithm_prices_the_level_it_crosses(void **state) {
    (void)state;
    struct fr_price price[FR_OP_COUNT];
    bool outside = false;
    must_read("{\"all_reduce\": {\"form\": \"algorithm\", \"name\": \"ring\"}}", price);
    double inside_s = 2 * 7 * (1e-6 + 1e6 / 8 / 100e9),
           across_s = 2 * 7 * (5e-6 + 1e6 / 8 * 4 / 25e9);
    FR_NEAR(time_of(price, FR_OP_ALL_REDUCE, 8, 1, 1e6, &outside), inside_s, 1e-12);
    FR_NEAR(time_of(price, FR_OP_ALL_REDUCE, 8, 8, 1e6, &outside), across_s, 1e-12);
    /* Absent operations are "auto": never slower than any named algorithm. */
    double auto_s = time_of(price, FR_OP_ALL_GATHER, 16, 1, 1e6, &outside);
    struct fr_group group = fr_group_make(&levels, 16, 1);
    struct fr_collective_args args = fr_group_args(&group, 1e6);
    for (const struct fr_collective *const *c = fr_collectives; *c; c++)
        if ((*c)->op == FR_OP_ALL_GATHER && (*c)->applicable(&args))
            FR_TRUE(auto_s <= (*c)->time_s(&args), "%s", (*c)->name);
    fr_comm_free(price);
}

static void algorithm_that_cannot_run_is_replaced(void **state) {
    (void)state;
    struct fr_price price[FR_OP_COUNT];
    bool outside = false;
    must_read("{\"all_reduce\": {\"form\": \"algorithm\", \"name\": \"recursive_doubling\"}}",
              price);
    struct fr_group group = fr_group_make(&levels, 6, 1);
    struct fr_collective_args args = fr_group_args(&group, 1e6);
    double fastest_s = fr_collective_fastest_s(FR_OP_ALL_REDUCE, &args);
    FR_NEAR(time_of(price, FR_OP_ALL_REDUCE, 6, 1, 1e6, &outside), fastest_s, 1e-15);
    fr_comm_free(price);
}

static const char *const segments =
    "{\"all_reduce\": {\"form\": \"segments\", \"message\": \"total\", \"fits\": ["
    "{\"ranks\": 8, \"level\": \"node\", \"min\": \"8 B\", \"max\": \"1 MB\", \"segments\": ["
    "  {\"up_to\": \"1 KB\", \"latency\": \"4 us\", \"per_byte\": \"0 ns/B\"}, {\"up_to\": \"1 "
    "MB\", \"latency\": \"6 us\", \"per_byte\": \"1 ns/B\"}]},"
    "{\"ranks\": 2, \"level\": \"node\", \"min\": \"8 B\", \"max\": \"1 MB\", \"segments\": ["
    "  {\"up_to\": \"1 MB\", \"latency\": \"1 us\", \"per_byte\": \"1 ns/B\"}]}]}}";

static void segments_in_size_and_ranks(void **state) {
    (void)state;
    struct fr_price price[FR_OP_COUNT];
    bool outside = false;
    must_read(segments, price);
    FR_NEAR(time_of(price, FR_OP_ALL_REDUCE, 8, 1, 1000, &outside), 4e-6, 1e-12);
    FR_NEAR(time_of(price, FR_OP_ALL_REDUCE, 8, 1, 1001, &outside), 6e-6 + 1.001e-6, 1e-12);
    FR_NEAR(time_of(price, FR_OP_ALL_REDUCE, 2, 1, 1e6, &outside), 1e-6 + 1e-3, 1e-12);
    /* p = 4 lies half way between 2 and 8 in logarithms: the geometric mean. */
    FR_NEAR(time_of(price, FR_OP_ALL_REDUCE, 4, 1, 1000, &outside), sqrt(4e-6 * 2e-6), 1e-12);
    assert_false(outside);
    time_of(price, FR_OP_ALL_REDUCE, 8, 1, 2e6, &outside);
    assert_true(outside);
    outside = false;
    FR_NEAR(time_of(price, FR_OP_ALL_REDUCE, 2, 1, 1, &outside), 1e-6 + 8e-9, 1e-12);
    assert_true(outside);
    outside = false;
    double wide_s =
        time_of(price, FR_OP_ALL_REDUCE, 16, 1, 1000, &outside); /* another level, more ranks */
    assert_true(outside && wide_s >= 4e-6);
    fr_comm_free(price);
}

static void refuses(void **state) {
    (void)state;
    static const struct {
        const char *text, *where;
    } bad[] = {
        {"{\"allreduce\": {\"form\": \"log\"}}", "c#/allreduce"},
        {"{\"all_reduce\": {\"form\": \"logg\"}}", "c#/all_reduce/form"},
        {"{\"all_reduce\": {\"form\": \"log\", \"c1\": \"1 us\", \"c2\": \"1 ns/B\"}}",
         "c#/all_reduce/message"},
        {"{\"all_reduce\": {\"form\": \"log\", \"c1\": \"-1 us\", \"c2\": \"1 ns/B\", "
         "\"message\": \"total\"}}",
         "c#/all_reduce/c1"},
        {"{\"all_reduce\": {\"form\": \"log\", \"c1\": \"1 us\", \"c2\": \"1 us\", "
         "\"message\": \"total\"}}",
         "c#/all_reduce/c2"},
        {"{\"all_gather\": {\"form\": \"algorithm\", \"name\": \"rabenseifner\"}}",
         "c#/all_gather/name"},
        {"{\"all_gather\": {\"form\": \"segments\", \"message\": \"total\", \"fits\": []}}",
         "c#/all_gather/fits"},
        {"{\"all_gather\": {\"form\": \"segments\", \"message\": \"total\", \"fits\": "
         "[{\"ranks\": 2, \"level\": \"rack\", \"min\": \"1 B\", \"max\": \"2 B\", "
         "\"segments\": []}]}}",
         "c#/all_gather/fits/0/level"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct fr_price price[FR_OP_COUNT];
        struct fr_error err = {0};
        FR_TRUE(read(bad[i].text, price, &err) == FR_ERR_INPUT, "%s", bad[i].text);
        assert_string_equal(err.where, bad[i].where);
        fr_comm_free(price);
    }
}

/* A link of one's own: up to an hour of latency, and a second a byte. */
static void own_links_have_an_end(void **state) {
    static const struct {
        const char *latency, *per_byte;
        bool read;
    } links[] = {{"3600 s", "1 s/B", true},
                 {"3600.001 s", "1 s/B", false},
                 {"0 s", "0 s/B", true},
                 {"1 s", "1.001 s/B", false}};
    (void)state;
    for (size_t i = 0; i < sizeof links / sizeof *links; i++) {
        struct fr_price price[FR_OP_COUNT];
        struct fr_error err = {0};
        char text[256];
        snprintf(text, sizeof text,
                 "{\"all_reduce\": {\"form\": \"algorithm\", \"name\": \"ring\", "
                 "\"latency\": \"%s\", \"per_byte\": \"%s\"}}",
                 links[i].latency, links[i].per_byte);
        FR_TRUE((read(text, price, &err) == FR_OK) == links[i].read, "%s: %s", text,
                err.detail);
        fr_comm_free(price);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(log_form_and_its_message),
                                       cmocka_unit_test(algorithm_prices_the_level_it_crosses),
                                       cmocka_unit_test(algorithm_that_cannot_run_is_replaced),
                                       cmocka_unit_test(segments_in_size_and_ranks),
                                       cmocka_unit_test(own_links_have_an_end),
                                       cmocka_unit_test(refuses)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
