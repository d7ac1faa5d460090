/* How values of plan keys stand in a line and in files: sizes in the largest binary unit that divides them, clocks in
 * megahertz where they are whole, what stages have one after another; all of it against a second way to say it. */
#include <inttypes.h>
#include <stdlib.h>

#include "models/plan/key.h"
#include "tests/job.h"
#include "tests/plan_values.h"

static const struct fr_plan_key *key_of(int number) { return &fr_plan_keys[number]; }

/* The key's value is written so in a file: one text, or several. */
static struct fr_json_document *written(const struct fr_plan_key *key,
                                        const struct fr_plan *plan) {
    struct fr_text text = {0};
    struct fr_json_writer w = {.text = &text};
    struct fr_json_document *document = NULL;
    fr_json_begin_object(&w);
    fr_json_key(&w, "it");
    key->type->write(key, plan, &w);
    fr_json_end_object(&w);
    assert_int_equal(fr_json_parse(text.data, text.length, "it", &document, NULL), FR_OK);
    fr_text_free(&text);
    return document;
}

/* Thousands are cut off while they are zeros; what is left wins where it has fewer digits. */
static void shorter_in_tens(uint64_t size_B, char *want, size_t capacity) {
    static const char *const units[] = {"B", "kB", "MB", "GB", "TB"};
    char digits[32];
    int unit = 0;
    size_t n = (size_t)snprintf(digits, sizeof digits, "%" PRIu64, size_B);
    for (; unit < 4 && n > 3 && strcmp(digits + n - 3, "000") == 0; unit++)
        digits[n -= 3] = '\0';
    if (n < strcspn(want, " ")) snprintf(want, capacity, "%s %s", digits, units[unit]);
}

static void sizes(void **state) {
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
    const struct fr_plan_key *key = key_of(FR_PLAN_KEY_bucket);
    uint64_t dice = 9;
    (void)state;
    for (int round = 0; round < 2000; round++) {
        struct fr_plan plan = fr_plan_default();
        uint64_t odd = 1 + 2 * fr_test_random(&dice, 200), twos = fr_test_random(&dice, 42);
        uint64_t size_B = odd << twos;
        char text[64], want[64];
        int unit = twos / 10 > 4 ? 4 : (int)(twos / 10);
        snprintf(want, sizeof want, "%" PRIu64 " %s", size_B >> (10 * unit), units[unit]);
        shorter_in_tens(size_B, want, sizeof want);
        plan.bucket_size_B = (double)size_B;
        assert_string_equal(key->type->text(key, &plan, text, sizeof text), want);
        struct fr_json_document *document = written(key, &plan);
        struct fr_json root = fr_json_root(document);
        assert_string_equal(fr_json_text_at(&root, "it"), want);
        struct fr_plan back = fr_plan_default();
        struct fr_plan_lists lists = {0};
        assert_int_equal(key->type->read(key, &root, "it", &back, &lists, NULL), FR_OK);
        assert_true(back.bucket_size_B == plan.bucket_size_B);
        fr_json_free(document);
    }
}

/* Clocks and power limits of up to eight stages; many are shown as a number, which others do not have. */
static void quantities(void **state) {
    uint64_t dice = 10;
    (void)state;
    for (int round = 0; round < 2000; round++) {
        bool clock = round % 2 == 0;
        const struct fr_plan_key *key =
            key_of(clock ? FR_PLAN_KEY_clock : FR_PLAN_KEY_power_cap);
        int n = 1 + (int)fr_test_random(&dice, 8);
        int64_t values[8], other[8];
        char want[400] = "", text[200], also[200];
        struct fr_plan plan = fr_plan_default(), back = fr_plan_default();
        struct fr_plan_lists lists = {0};
        for (int i = 0; i < n; i++) {
            int64_t mega = 100 + (int64_t)fr_test_random(&dice, 3);
            bool whole = fr_test_random(&dice, 4) > 0;
            values[i] = i && fr_test_random(&dice, 2) ? values[i - 1]
                        : !clock                      ? mega
                                                      : 1000000 * mega + (whole ? 0 : 500000);
        }
        for (int i = 0, run; i < n; i += run) {
            char one[40];
            for (run = 1; i + run < n && values[i + run] == values[i];) run++;
            if (!clock)
                snprintf(one, sizeof one, "%" PRId64 " W", values[i]);
            else if (values[i] % 1000000)
                snprintf(one, sizeof one, "%" PRId64 " Hz", values[i]);
            else
                snprintf(one, sizeof one, "%" PRId64 " MHz", values[i] / 1000000);
            snprintf(want + strlen(want), sizeof want - strlen(want), "%s%s", i ? "+" : "",
                     one);
            if (run > 1) snprintf(want + strlen(want), sizeof want - strlen(want), "*%d", run);
        }
        if (clock)
            plan.clock_Hz = values, plan.n_clock_Hz = n;
        else
            plan.cap_W = values, plan.n_cap_W = n;
        key->type->text(key, &plan, text, sizeof text);
        if (strlen(want) < 48)
            assert_string_equal(text, want);
        else {
            FR_TRUE(text[0] == '#' && strlen(text) == 17, "%s for %s", text, want);
            memcpy(other, values, sizeof other);
            other[fr_test_random(&dice, (uint64_t)n)]++;
            struct fr_plan changed = plan;
            *(clock ? &changed.clock_Hz : &changed.cap_W) = other;
            FR_TRUE(strcmp(key->type->text(key, &changed, also, sizeof also), text) != 0, "%s",
                    want);
        }
        struct fr_json_document *document = written(key, &plan);
        struct fr_json root = fr_json_root(document);
        assert_int_equal(key->type->read(key, &root, "it", &back, &lists, NULL), FR_OK);
        assert_true(key->type->same(key, &plan, &back));
        if (clock)
            assert_true(back.n_clock_Hz == n &&
                        memcmp(back.clock_Hz, values, (size_t)n * 8) == 0);
        else
            assert_true(back.n_cap_W == n && memcmp(back.cap_W, values, (size_t)n * 8) == 0);
        fr_json_free(document);
        free(lists.clock_Hz);
        free(lists.cap_W);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(sizes), cmocka_unit_test(quantities)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
