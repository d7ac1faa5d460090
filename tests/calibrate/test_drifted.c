/* Which rows of a calibration a second one contradicts, and how they are replaced. */
#include "calibrate/measure/drifted.h"

#include <math.h>
#include <stdio.h>

#include "base/text.h"
#include "tests/cmocka.h"

static double uniform(uint64_t *state) {
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return ((double)(*state >> 11) + 0.5) * 0x1p-53;
}

static void add_point(struct fr_samples *s, double size_B, double memory, double broadcast) {
    for (int rep = 0; rep < 20; rep++) {
        double noise = 1 + 0.002 * (rep % 10);
        fr_samples_add_memory(
            s, &(struct fr_sample_memory){.size_B = size_B,
                                          .moved_B = size_B,
                                          .launch = rep / 10,
                                          .rep = rep % 10,
                                          .time_s = 1e-10 * size_B * memory * noise});
        fr_samples_add_collective(
            s, &(struct fr_sample_collective){.op = FR_OP_BROADCAST,
                                              .n_ranks = 2,
                                              .n_nodes = 1,
                                              .n_groups = 1,
                                              .size_B = size_B,
                                              .launch = rep / 10,
                                              .rep = rep % 10,
                                              .time_s = 1e-9 * size_B * broadcast * noise});
    }
}

static struct fr_samples machine(double memory, double broadcast) {
    struct fr_samples s = {0};
    for (double size_B = 1e3; size_B < 1e6; size_B *= 2)
        add_point(&s, size_B, memory, broadcast);
    return s;
}

/* A fifth slower in memory alone: that row has drifted, by so much; the other has not, nor has either
 * when nothing changed, nor memory by two in a hundred. */
static void the_row_that_changed_is_named(void **state) {
    static const struct {
        double memory, broadcast;
        const char *names;
    } cases[] = {{1, 1, ""},         {1.02, 1, ""},         {1.2, 1, "memory"},
                 {0.8, 1, "memory"}, {1, 1.5, "broadcast"}, {2, 0.5, "memory,broadcast"}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct fr_samples then = machine(1, 1),
                          now = machine(cases[i].memory, cases[i].broadcast);
        struct fr_drifted d;
        char names[128];
        assert_int_equal(fr_drifted_find(&then, &now, &d), FR_OK);
        assert_int_equal(d.n, 2);
        fr_drifted_names(&d, names, sizeof names);
        if (strstr(cases[i].names, ","))
            assert_int_equal(strlen(names), strlen(cases[i].names)); /* in either order */
        else
            assert_string_equal(names, cases[i].names);
        for (int k = 0; k < d.n; k++) {
            double want =
                strcmp(d.row[k].name, "memory") == 0 ? cases[i].memory : cases[i].broadcast;
            if (!(d.row[k].points == 10 && d.row[k].ratio / want < 1.0001 &&
                  d.row[k].ratio / want > 0.9999))
                fail_msg("%s: %d points, %g", d.row[k].name, d.row[k].points, d.row[k].ratio);
        }
        fr_samples_free(&then);
        fr_samples_free(&now);
    }
}

static void rows_of_keys(void **state) {
    static const char *const cases[][2] = {
        {"collective op=all_reduce ranks=4 level=node nodes=1 size_B=8", "all_reduce"},
        {"collective op=all_reduce ranks=4 level=node nodes=1 groups=2 layout=block size_B=8",
         "segmented"},
        {"gemm dtype=fp32 m=2 n=2 k=2", "gemm"},
        {"gemm dtype=fp64 m=2 n=2 k=2", "gemm_fp64"},
        {"gemm dtype=fp32 m=2 n=2 k=2 batch=16", "gemm_batched"},
        {"memory size_B=65536 moved_B=1", "memory"},
        {"memory kernel=update size_B=65536", "memory"},
        {"memory kernel=operands size_B=65536 m=1 n=1 k=1", "operands"},
        {"kernel", "kernel"},
        {"pairs level=node direction=one pairs=1 size_B=8", "pairs"},
        {"overlap op=all_reduce ranks=2", "overlap"},
        {"codec codec=powersgd part=encode", "codec"},
        {"probe launch=0", ""},
        {"end launch=0", ""},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char name[32];
        fr_drifted_row_of(cases[i][0], name);
        assert_string_equal(name, cases[i][1]);
    }
}

/* The earlier file gives all but the row that drifted, with the ends of its points; the later one gives nothing else,
 * except for products the probes that they are divided by. */
static void a_row_is_replaced(void **state) {
    static const char earlier[] =
        "{\"schema\": \"forerun/samples/1\", \"kind\": \"provenance\", \"ranks\": 2}\n"
        "{\"kind\": \"kernel\", \"launch\": 0, \"rep\": 0, \"time_s\": 1}\n"
        "{\"kind\": \"memory\", \"size_B\": 8, \"launch\": 0, \"rep\": 0, \"time_s\": 1}\n"
        "{\"kind\": \"point\", \"point\": \"memory size_B=8\", \"launch\": 0, \"n\": 1}\n"
        "{\"kind\": \"memory\", \"size_B\": 80, \"launch\": 0, \"rep\": 0, \"time_s\": 3}\n"
        "{\"kind\": \"point\", \"point\": \"memory size_B=80\", \"launch\": 0, \"n\": 1}\n"
        "{\"kind\": \"point\", \"point\": \"kernel\", \"launch\": 0, \"n\": 1}\n"
        "{\"kind\": \"end\", \"launch\": 0}\n";
    static const char later[] =
        "{\"schema\": \"forerun/samples/1\", \"kind\": \"provenance\", \"ranks\": 2}\n"
        "{\"kind\": \"probe\", \"launch\": 0, \"rep\": 0}\n"
        "{\"kind\": \"memory\", \"size_B\": 8, \"launch\": 0, \"rep\": 0, \"time_s\": 2}\n"
        "{\"kind\": \"point\", \"point\": \"memory size_B=8\", \"launch\": 0, \"n\": 2}\n"
        "{\"kind\": \"kernel\", \"launch\": 0, \"rep\": 0, \"time_s\": 2}\n"
        "{\"kind\": \"end\", \"launch\": 0}\n{\"kind\": \"memory\", \"si";
    /* There was no time for another measurement of 80 bytes. */
    static const char want[] =
        "{\"schema\": \"forerun/samples/1\", \"kind\": \"provenance\", \"ranks\": 2}\n"
        "{\"kind\": \"kernel\", \"launch\": 0, \"rep\": 0, \"time_s\": 1}\n"
        "{\"kind\": \"memory\", \"size_B\": 80, \"launch\": 0, \"rep\": 0, \"time_s\": 3}\n"
        "{\"kind\": \"point\", \"point\": \"memory size_B=80\", \"launch\": 0, \"n\": 1}\n"
        "{\"kind\": \"point\", \"point\": \"kernel\", \"launch\": 0, \"n\": 1}\n"
        "{\"kind\": \"end\", \"launch\": 0}\n"
        "{\"kind\": \"memory\", \"size_B\": 8, \"launch\": 0, \"rep\": 0, \"time_s\": 2}\n"
        "{\"kind\": \"point\", \"point\": \"memory size_B=8\", \"launch\": 0, \"n\": 2}\n";
    struct fr_text merged = {0};
    struct fr_error err = {.status = FR_OK};
    (void)state;
    assert_int_equal(fr_drifted_replace(earlier, later, "memory", &merged, &err), FR_OK);
    assert_string_equal(fr_text_get(&merged), want);
    fr_text_free(&merged);
    assert_int_equal(fr_drifted_replace(earlier, later, "gemm", &merged, &err), FR_OK);
    assert_non_null(strstr(fr_text_get(&merged), "probe"));
    assert_int_equal(strncmp(fr_text_get(&merged), earlier, strlen(earlier)), 0);
    fr_text_free(&merged);
}

/* Products of 1 to 4 ms on two ranks, as many as a check takes, interrupted so often for 2 ms each time,
 * on a machine whose own times are @p slower. */
static struct fr_samples loaded(double rate, double slower, uint64_t random) {
    struct fr_samples s = machine(1, 1);
    s.provenance.ranks = 2;
    for (int rep = 0; rep < 400; rep++)
        for (int64_t m = 1; m <= 4; m++) {
            double own_s = 1e-3 * (double)m * slower, longest_s = 0;
            for (int rank = 0; rank < 2; rank++) {
                double t = own_s * (1 + 0.01 * uniform(&random));
                for (double at = -log(uniform(&random)) / rate; at < own_s;
                     at -= log(uniform(&random)) / rate)
                    t += 2e-3;
                longest_s = t > longest_s ? t : longest_s;
            }
            fr_samples_add_gemm(&s, &(struct fr_sample_gemm){.dtype = FR_FP32,
                                                             .m = m,
                                                             .n = 1,
                                                             .k = 1,
                                                             .batch = 1,
                                                             .launch = rep / 200,
                                                             .rep = rep % 200,
                                                             .time_s = longest_s});
        }
    return s;
}

/* Work beside it makes a machine busier, not slower; a machine at two thirds of its speed is slower, not
 * busier; both may be. */
static void busier_is_told_from_slower(void **state) {
    static const struct {
        double rate, slower;
        bool busier;
        const char *names;
    } cases[] = {{10, 1, false, ""},       {150, 1, true, ""}, {10, 1.5, false, "gemm"},
                 {150, 1.5, true, "gemm"}, {15, 1, false, ""}, {10, 0.7, false, "gemm"}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct fr_samples then = loaded(10, 1, 3),
                          now = loaded(cases[i].rate, cases[i].slower, 4);
        struct fr_drifted d;
        char names[128];
        assert_int_equal(fr_drifted_find(&then, &now, &d), FR_OK);
        fr_drifted_names(&d, names, sizeof names);
        if (d.busier != cases[i].busier || strcmp(names, cases[i].names) != 0)
            fail_msg("rate %g, slower %g: busier %d (lost %g, then %g), drifted \"%s\"",
                     cases[i].rate, cases[i].slower, d.busier, d.lost_now, d.lost_then, names);
        assert_int_equal(fr_drifted_is_as_before(&d), !cases[i].busier && !*cases[i].names);
        fr_samples_free(&then);
        fr_samples_free(&now);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_row_that_changed_is_named),
        cmocka_unit_test(rows_of_keys),
        cmocka_unit_test(a_row_is_replaced),
        cmocka_unit_test(busier_is_told_from_slower),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
