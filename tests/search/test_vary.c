/* --vary KEY=A,B,C holds the values that --set KEY=A, --set KEY=B and --set KEY=C do, in that order. */
#include <inttypes.h>

#include "search/vary.h"
#include "tests/job.h"
#include "tests/plan_values.h"

/* The plan that --set makes of one value. */
static void set(const struct fr_plan_key *key, const char *value, struct fr_plan *plan,
                struct fr_plan_lists *lists) {
    struct fr_json_document *document = NULL;
    struct fr_error err = {0};
    assert_int_equal(fr_json_parse("{}", 2, "plan", &document, NULL), FR_OK);
    if (fr_json_set(document, key->name, value, "--set", &err) != FR_OK ||
        fr_plan_read(document, plan, lists, &err) != FR_OK)
        fail_msg("%s=%s: %s", key->name, value, err.detail);
    fr_json_free(document);
}

/* The field of one key, in a plan of which the rest is @p like. */
static void take(const struct fr_dimension *d, size_t i, const struct fr_plan *like,
                 struct fr_plan *plan) {
    *plan = *like;
    memcpy((char *)plan + d->key->offset, d->values + i * d->key->size, d->key->size);
}

/* Every key, three random values; one that comes again stands once. */
static void a_list_is_of_what_set_makes(void **state) {
    uint64_t dice = 4101842887655102017u;
    int values = 0;
    (void)state;
    for (int round = 0; round < 30; round++)
        for (int k = 0; k < FR_PLAN_KEYS; k++) {
            const struct fr_plan_key *key = &fr_plan_keys[k];
            struct fr_plan plan[3], base = fr_plan_default();
            struct fr_plan_lists lists[3];
            struct fr_space space;
            struct fr_error err = {0};
            char value[3][160], vary[560];
            const char *text = vary;
            size_t kept = 0;
            memset(lists, 0, sizeof lists);
            for (int i = 0; i < 3; i++) {
                fr_test_value(key, &dice, value[i], sizeof value[i]);
                set(key, value[i], &plan[i], &lists[i]);
            }
            snprintf(vary, sizeof vary, "%s=%s,%s,%s", key->name, value[0], value[1], value[2]);
            if (fr_space_make("64", &text, 1, &base, false, false, NULL, &space, &err) != FR_OK)
                fail_msg("%s: %s", vary, err.detail);
            assert_int_equal(space.n_dimensions, 1);
            const struct fr_dimension *d = &space.dimension[0];
            assert_ptr_equal(d->key, key);
            for (int i = 0; i < 3; i++) {
                bool again = false;
                for (int j = 0; j < i; j++)
                    again = again || key->type->same(key, &plan[i], &plan[j]);
                if (again) continue;
                struct fr_plan got;
                FR_TRUE(kept < d->count, "%s: %zu values", vary, d->count);
                take(d, kept++, &plan[i], &got);
                FR_TRUE(key->type->same(key, &got, &plan[i]), "%s: value %d", vary, i);
            }
            FR_TRUE(d->count == kept, "%s: %zu values, not %zu", vary, d->count, kept);
            values += (int)kept;
            for (int i = 0; i < 3; i++) fr_plan_lists_free(&lists[i]);
            fr_space_free(&space);
        }
    FR_TRUE(values > 40 * FR_PLAN_KEYS, "%d values", values);
}

/* A range is its numbers written out; sizes have units. */
static void a_range_is_its_numbers(void **state) {
    static const struct {
        const char *range;
        const char *values[6];
    } rows[] = {
        {"tp=1..16*2", {"1", "2", "4", "8", "16"}},
        {"ghost=0..8+4", {"0", "4", "8"}},
        {"bucket=1 MiB..4 MiB*2", {"1 MiB", "2 MiB", "4 MiB"}},
        {"bucket=25 MB,1000003", {"25 MB", "1000003 B"}},
        {"micro_batch=5", {"5"}},
    };
    (void)state;
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
        struct fr_plan base = fr_plan_default();
        struct fr_space space;
        struct fr_error err = {0};
        size_t n = 0;
        if (fr_space_make("64", &rows[r].range, 1, &base, false, false, NULL, &space, &err) !=
            FR_OK)
            fail_msg("%s: %s", rows[r].range, err.detail);
        const struct fr_dimension *d = &space.dimension[0];
        for (; rows[r].values[n]; n++) {
            struct fr_plan want, got;
            struct fr_plan_lists lists = {0};
            set(d->key, rows[r].values[n], &want, &lists);
            assert_true(n < d->count);
            take(d, n, &want, &got);
            FR_TRUE(d->key->type->same(d->key, &got, &want), "%s: value %zu", rows[r].range, n);
        }
        assert_int_equal(d->count, n);
        fr_space_free(&space);
    }
}

/* The largest and the least of each key of numbers pass, what is one beyond does not. */
static void bounds_are_those_of_the_key(void **state) {
    int tried = 0;
    (void)state;
    for (int k = 0; k < FR_PLAN_KEYS; k++) {
        const struct fr_plan_key *key = &fr_plan_keys[k];
        if (key->type != &fr_plan_integer) continue;
        for (int beyond = 0; beyond < 2; beyond++)
            for (int high = 0; high < 2; high++) {
                struct fr_plan base = fr_plan_default();
                struct fr_space space;
                struct fr_error err = {0};
                char vary[160];
                const char *text = vary;
                int64_t bound = (int64_t)(high ? key->most : key->least);
                snprintf(vary, sizeof vary, "%s=%" PRId64, key->name,
                         bound + beyond * (high ? 1 : -1));
                fr_status status =
                    fr_space_make("64", &text, 1, &base, false, false, NULL, &space, &err);
                FR_TRUE(status == (beyond ? FR_ERR_USAGE : FR_OK), "%s: %s", vary, err.detail);
                fr_space_free(&space);
                tried++;
            }
    }
    FR_TRUE(tried >= 40, "%d", tried);
}

/* Commas within brackets and quotes belong to the value; nothing between two is refused. */
static void commas_part_values(void **state) {
    static const struct {
        const char *text;
        int count; /* 0: refused */
        const char *last;
    } rows[] = {
        {"model.a=1,2,3", 3, "3"},
        {"model.a=[1,2],[3,4]", 2, "[3,4]"},
        {"model.a=[[1,2],{\"b\": 3, \"c\": 4}],5", 2, "5"},
        {"model.a={\"b\": \"x,]y\", \"c\": 4}", 1, "{\"b\": \"x,]y\", \"c\": 4}"},
        {"model.a=\"x,y\",z", 2, "z"},
        {"model.a=1..4,9", 5, "9"},
        {"model.a=4..1", 0, ""},
        {"model.a=", 0, ""},
        {"model.a=1,,2", 0, ""},
        {"model.a=1,", 0, ""},
        {"model.a", 0, ""},
        {"=1", 0, ""},
    };
    const struct fr_job_names names = {.cluster = "frontier", .model = "ffn-4096"};
    (void)state;
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
        static struct fr_space space;
        struct fr_error err = {0};
        memset(&space, 0, sizeof space);
        space.n_variants = 1;
        fr_status status = fr_vary_parse(rows[r].text, &names, &space, &err);
        FR_TRUE(status == (rows[r].count ? FR_OK : FR_ERR_USAGE), "%s: %s", rows[r].text,
                err.detail);
        if (status == FR_OK) {
            const struct fr_space_input *input = &space.input[0];
            assert_string_equal(input->key, "model.a");
            FR_TRUE(input->count == (size_t)rows[r].count && space.n_variants == rows[r].count,
                    "%s: %zu values", rows[r].text, input->count);
            assert_string_equal(input->texts[input->count - 1], rows[r].last);
        }
        fr_space_free(&space);
    }
}

/* Twice the same key, none, one that cannot be; more than eight keys of files, more than 4096 of them. */
static void what_cannot_be_varied(void **state) {
    static const struct {
        const char *first, *second, *wanted;
    } rows[] = {
        {"tp=1,2", "tp=4", "varied twice"},
        {"model.a=1", "model.a=2", "varied twice"},
        {"model.a=1..4096", "model.b=1,2", "more than 4096"},
        {"tp=1", "pt=1", "did you mean \"tp\""},
        {"tp=1", "micro_batsh=1", "did you mean \"micro_batch\""},
        {"runtime=nemo-24.03", "runtime=nemo-25.04", "varied twice"},
        {"runtime.host_launch=1us", "runtime.host_lunch=1us", "mean \"runtime.host_launch\""},
        {"tp=1", "runtme=nemo-24.03", "did you mean \"runtime\""},
        {"tp=1", "nothing_like_it=1", "cluster.KEY or runtime.KEY"},
    };
    const struct fr_job_names names = {.cluster = "frontier", .model = "ffn-4096"};
    struct fr_error err = {0};
    static struct fr_space space;
    (void)state;
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
        memset(&space, 0, sizeof space);
        space.n_variants = 1;
        assert_int_equal(fr_vary_parse(rows[r].first, &names, &space, &err), FR_OK);
        assert_int_equal(fr_vary_parse(rows[r].second, &names, &space, &err), FR_ERR_USAGE);
        FR_TRUE(strstr(err.detail, rows[r].wanted), "%s: %s", rows[r].second, err.detail);
        fr_space_free(&space);
    }
    memset(&space, 0, sizeof space);
    space.n_variants = 1;
    for (int i = 0; i <= FR_SPACE_INPUTS_MAX; i++) {
        char text[32];
        snprintf(text, sizeof text, "cluster.%c=1", 'a' + i);
        assert_int_equal(fr_vary_parse(text, &names, &space, &err),
                         i < FR_SPACE_INPUTS_MAX ? FR_OK : FR_ERR_USAGE);
    }
    assert_int_equal(fr_vary_parse("model.z=1", NULL, &space, &err), FR_ERR_USAGE);
    fr_space_free(&space);
}

/* Jobs of --vary runtime=A,B and of its facts are those of --set, by their names and to the last value. */
static void runtimes_are_what_set_takes(void **state) {
    static const char *const vary[] = {"runtime=papers-2019,nemo-24.03,megatron-bridge-26.04",
                                       "runtime.host_launch=3us,9us"};
    static const char *const of[] = {"papers-2019", "nemo-24.03", "megatron-bridge-26.04"},
                             *const launch[] = {"3us", "9us"};
    const struct fr_job_names names = {.cluster = "dgx-h100", .model = "llama-3-8b"};
    static struct fr_space space;
    struct fr_error err = {0};
    (void)state;
    memset(&space, 0, sizeof space);
    space.n_variants = 1;
    for (int i = 0; i < 2; i++)
        assert_int_equal(fr_vary_parse(vary[i], &names, &space, &err), FR_OK);
    if (fr_vary_load(&names, &space, &err) != FR_OK) fail_msg("%s: %s", err.where, err.detail);
    assert_int_equal(space.n_variants, 6);
    for (int v = 0; v < 6; v++) {
        char runtime[64], fact[64];
        const char *sets[] = {runtime, fact};
        struct fr_job_names one = names;
        struct fr_job job;
        snprintf(runtime, sizeof runtime, "runtime=%s", of[v / 2]);
        snprintf(fact, sizeof fact, "runtime.host_launch=%s", launch[v % 2]);
        one.sets = sets;
        one.n_sets = 2;
        assert_int_equal(fr_job_load(&one, &job, &err), FR_OK);
        const struct fr_job *varied = &space.variants[v];
        assert_string_equal(varied->cluster.runtime, of[v / 2]);
        assert_string_equal(varied->varied[0], runtime);
        assert_true(varied->cluster.device.host_launch_s == job.cluster.device.host_launch_s);
        assert_true(varied->cluster.device.attention.flash ==
                    job.cluster.device.attention.flash);
        assert_true(varied->workload.modern == job.workload.modern);
        assert_true(varied->open == job.open && varied->assumed == job.assumed);
        fr_job_free(&job);
    }
    fr_space_free(&space);
}

/* A path holds dots, and is no range. */
static void paths_are_no_ranges(void **state) {
    const struct fr_job_names names = {.cluster = "dgx-h100", .model = "llama-3-8b"};
    static struct fr_space space;
    struct fr_error err = {0};
    (void)state;
    memset(&space, 0, sizeof space);
    space.n_variants = 1;
    assert_int_equal(fr_vary_parse("runtime=../mine.json,a/../b.json", &names, &space, &err),
                     FR_OK);
    assert_int_equal(space.input[0].count, 2);
    assert_string_equal(space.input[0].texts[1], "a/../b.json");
    fr_space_free(&space);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_list_is_of_what_set_makes),
        cmocka_unit_test(a_range_is_its_numbers),
        cmocka_unit_test(bounds_are_those_of_the_key),
        cmocka_unit_test(commas_part_values),
        cmocka_unit_test(what_cannot_be_varied),
        cmocka_unit_test(runtimes_are_what_set_takes),
        cmocka_unit_test(paths_are_no_ranges),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
