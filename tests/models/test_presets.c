/* Laws of collectives on every cluster preset, at every number of ranks and size. */
#include <math.h>
#include <string.h>

#include "models/job/cluster.h"
#include "models/job/preset.h"
#include "tests/cmocka.h"

/* 16 GiB and less over ranks in a row and strided, on what the levels price.  A file's own statement about an
 * operation (frontier's fits are a paper's) is its own affair. */
static void check_halves(const struct fr_cluster *c, int64_t p, int64_t stride, double size_B) {
    static const fr_op halves[] = {FR_OP_ALL_GATHER, FR_OP_REDUCE_SCATTER};
    struct fr_group group = fr_group_make(&c->levels, p, stride);
    bool outside = false;
    double both_s = 0,
           all_s = fr_comm_time_s(&c->price[FR_OP_ALL_REDUCE], &group, size_B, &outside);
    for (int k = 0; k < 2; k++) {
        double half_s = fr_comm_time_s(&c->price[halves[k]], &group, size_B, &outside);
        both_s += half_s;
        if (!group.inside && half_s > all_s * (1 + 1e-12))
            fail_msg("%s, %d ranks %d apart, %g B: %s takes %g s, an all-reduce %g", c->name,
                     (int)p, (int)stride, size_B, fr_op_names[halves[k]], half_s, all_s);
    }
    /* NCCL has trees and sums in the switch for an all-reduce alone, and two rings are one of two turns at most. */
    if (group.inside) {
        if (all_s > both_s * (1 + 1e-12))
            fail_msg("%s, %d ranks %d apart, %g B: an all-reduce takes %g s, its halves %g",
                     c->name, (int)p, (int)stride, size_B, all_s, both_s);
        return;
    }
    /* Together they are one, but for its latencies: two messages after each other carry what one
     * exchange of recursive doubling does. */
    double latencies_s = fr_log2_ceil(p) * fmax(group.inner.latency_s, group.outer.latency_s);
    if (size_B >= 0x1p24 && both_s > all_s * (1 + 1e-12) + latencies_s)
        fail_msg("%s, %d ranks %d apart, %g B: the halves take %g s, an all-reduce %g", c->name,
                 (int)p, (int)stride, size_B, both_s, all_s);
}

static bool states_them(const struct fr_cluster *c) {
    return c->price[FR_OP_ALL_REDUCE].form != &fr_form_algorithm ||
           c->price[FR_OP_ALL_REDUCE].algorithm || c->price[FR_OP_ALL_GATHER].algorithm;
}

static void halves_of_an_all_reduce(void **state) {
    int checked = 0;
    (void)state;
    for (const struct fr_preset *row = fr_presets; row->kind; row++) {
        struct fr_json_document *document = NULL;
        struct fr_cluster cluster;
        if (strcmp(row->kind, "cluster") != 0) continue;
        assert_int_equal(fr_preset_or_file_read("cluster", row->name, &document, NULL), FR_OK);
        assert_int_equal(fr_cluster_read(document, &cluster, NULL), FR_OK);
        for (int64_t p = 2; p <= 96 && !states_them(&cluster); p++)
            for (int64_t stride = 1; stride <= 16; stride *= 2)
                for (double size_B = 1; size_B <= 0x1p34; size_B *= 16)
                    check_halves(&cluster, p, stride, size_B), checked++;
        fr_cluster_free(&cluster);
        fr_json_free(document);
    }
    assert_true(checked > 10000);
}

/* A name that is nearly one of the kind is suggested; one of the other kind is no suggestion. */
static void what_is_nearly_a_preset(void **state) {
    (void)state;
    for (const struct fr_preset *p = fr_presets; p->name; p++) {
        struct fr_json_document *document = NULL;
        struct fr_error err = {0};
        char name[96], stated[128];
        const char *other = strcmp(p->kind, "model") == 0 ? "cluster" : "model";
        snprintf(name, sizeof name, "%sx", p->name);
        if (!fr_preset_find(p->kind, name)) {
            snprintf(stated, sizeof stated, "did you mean \"%s", p->name);
            assert_int_equal(fr_preset_or_file_read(p->kind, name, &document, &err),
                             FR_ERR_INPUT);
            stated[strlen(stated) - 1] = '\0'; /* or one that is as near */
            FR_TRUE(strstr(err.detail, stated), "%s: %s", name, err.detail);
        }
        if (fr_preset_find(other, p->name)) continue;
        assert_int_equal(fr_preset_or_file_read(other, p->name, &document, &err), FR_ERR_INPUT);
        snprintf(stated, sizeof stated, "did you mean \"%s\"", p->name);
        FR_TRUE(!strstr(err.detail, stated), "%s as %s: %s", p->name, other, err.detail);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(what_is_nearly_a_preset),
                                       cmocka_unit_test(halves_of_an_all_reduce)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
