/* Tensors go to the host's memory and back: time against copies and products followed one by one, bytes and state by
 * hand, and a schedule's memory against its slots walked through. */
#include <math.h>

#include "models/outcome/cost.h"
#include "models/outcome/iteration.h"
#include "models/price/offload.h"
#include "tests/pipeline.h"

#define HOST                                                                                   \
    "cluster.device.host_link=20 GB/s", "cluster.device.host_bandwidth=40 GB/s",               \
        "cluster.device.interference=0", "cluster.device.memory=1e6 GB"

struct stages {
    struct fr_job job;
    struct fr_pipeline p;
};

static void make(const char *const *sets, struct stages *s) {
    fr_test_pipeline("dgx-a100", "gpt-2", sets, &s->job, &s->p);
}

static void drop(struct stages *s) { fr_test_pipeline_free(&s->job, &s->p); }

/* @p n products of a pass one after the other, a copy behind each on a link of its own: how much later
 * the last copy is over.  The same backwards: each product waits for its copy, one ahead. */
static double followed_s(int n, double pass_s, double copy_s) {
    double product_s = 0, link_s = 0;
    for (int i = 0; i < n; i++) {
        product_s += pass_s / n;
        link_s = fmax(link_s, product_s) + copy_s / n;
    }
    return link_s - pass_s;
}

static void activations_hide(void **state) {
    static const char *const links[] = {
        "cluster.device.host_link=1 GB/s", "cluster.device.host_link=20 GB/s",
        "cluster.device.host_link=400 GB/s", "cluster.device.host_link=100 TB/s"};
    (void)state;
    for (size_t l = 0; l < sizeof links / sizeof *links; l++)
        for (int pp = 1; pp <= 8; pp *= 2) {
            bool splits = pp == 8; /* the weight gradients' part finds them there */
            char stages[16];
            pp = splits ? 4 : pp;
            snprintf(stages, sizeof stages, "pp=%d", pp);
            const char *const sets[] = {HOST,
                                        "micro_batch=2",
                                        "global_batch=32",
                                        stages,
                                        links[l],
                                        "offload=activations",
                                        splits ? "schedule=zero-bubble" : "schedule=1f1b",
                                        NULL};
            struct stages s;
            make(sets, &s);
            const struct fr_stage *t = &s.p.stage[0];
            double copy_s = t->offloaded_B / s.job.cluster.device.host_link_B_per_s;
            FR_NEAR(t->forward.host_s,
                    followed_s(12 / pp, fr_pass_s(&t->forward, ~FR_WITH_OFFLOAD), copy_s),
                    1e-8);
            FR_NEAR(t->backward.host_s,
                    followed_s(12 / pp,
                               fr_pass_s(&t->backward, ~FR_WITH_OFFLOAD) -
                                   (splits ? fr_pass_s(&t->weight, ~FR_WITH_OFFLOAD) : 0),
                               copy_s),
                    1e-8);
            assert_true(splits || t->forward.host_s >= t->backward.host_s);
            assert_true(t->weight.host_s == 0);
            pp = splits ? 8 : pp;
            drop(&s);
        }
}

/* Three in a row, in pieces of a layer: down, step, up. */
static double step_s(int n, double down_s, double host_s, double up_s) {
    double a = 0, b = 0, c = 0;
    for (int i = 0; i < n; i++) {
        a += down_s / n;
        b = fmax(a, b) + host_s / n;
        c = fmax(b, c) + up_s / n;
    }
    return c;
}

/* GPT-2 in fp32: a rank has N parameters, 4 B of gradient and of weight each, 28 B that Adam reads and
 * writes, 8 B of state. */
static void the_optimizer_steps_there(void **state) {
    static const char *const zero[] = {"zero=0", "zero=1", "zero=2", "zero=3"};
    (void)state;
    for (int z = 0; z < 4; z++) {
        const char *const sets[] = {HOST,   "micro_batch=1", "global_batch=8",
                                    "dp=4", zero[z],         "offload=optimizer",
                                    NULL};
        struct stages s;
        make(sets, &s);
        const struct fr_stage *t = &s.p.stage[0];
        double n = t->parameters_rank / (z ? 4 : 1);
        FR_NEAR(t->offload_s, step_s(12, n * 4 / 20e9, n * 28 / 40e9, n * 4 / 20e9), 1e-12);
        FR_NEAR(t->host_state_B, 16 * n, 1e-12);
        FR_NEAR(t->sent_B[FR_SENT_HOST], 8 * n, 1e-12);
        assert_true(t->optimizer_s == 0 && t->forward.host_s == 0);
        drop(&s);
    }
}

static struct fr_outcome outcome(const char *const *sets) {
    struct fr_job job;
    struct fr_outcome out;
    fr_test_job("dgx-a100", "gpt-2", sets, &job);
    fr_cost(&job, &job.plan, &out);
    fr_job_free(&job);
    return out;
}

/* A rank of 8 samples in micro-batches of 2, 12 layers kept of each: 34 T h + 5 a T s halves, at 4 B twice
 * that but for the two masks and the scores' (Korthikanti et al.: at 2 B a value 34 T h has 2 of masks, 5 S
 * one): forth and back with all four, in the host two pairs of layers less than all. */
static void bytes_by_hand(void **state) {
    const char *const sets[] = {HOST, "micro_batch=2", "global_batch=8", "offload=activations",
                                NULL};
    double T = 2 * 1024, h = 768, S = 12 * T * 1024;
    double layer_B = T * h * (2 * 32 + 2) + S * (2 * 4 + 1);
    struct fr_outcome out = outcome(sets);
    (void)state;
    FR_NEAR(out.sent_B[FR_SENT_HOST], 2 * 4 * 12 * layer_B, 1e-12);
    FR_NEAR(out.host_memory_B, 12 * layer_B, 1e-12);
    FR_NEAR(out.memory_B[FR_MEMORY_ACTIVATIONS], 2 * layer_B + T * (2 * h + 50304) * 4, 1e-12);
}

/* While the host steps the device waits: busy for less, waiting for more. */
static void the_device_waits(void **state) {
    const char *const saved[] = {HOST, "micro_batch=1", "global_batch=2", "offload=none", NULL};
    const char *const gone[] = {HOST, "micro_batch=1", "global_batch=2", "offload=optimizer",
                                NULL};
    struct fr_outcome here = outcome(saved), there = outcome(gone);
    double device_s = here.part_s[FR_PART_COMPUTE] - there.part_s[FR_PART_COMPUTE],
           waiting_W = 80 + 0.125 * (400 - 80);
    (void)state;
    FR_NEAR(there.time_s - here.time_s, there.part_s[FR_PART_OFFLOAD] - device_s, 1e-9);
    FR_NEAR(there.energy_part_J[FR_ENERGY_DEVICE] - here.energy_part_J[FR_ENERGY_DEVICE],
            waiting_W * there.part_s[FR_PART_OFFLOAD] - 400 * device_s, 1e-9);
}

/* Backward passes whose weight gradients are still to come, counted slot by slot. */
static void what_waits_for_weights(void **state) {
    const char *const sets[] = {HOST,   "micro_batch=1",        "global_batch=8",
                                "pp=4", "schedule=zero-bubble", "offload=activations",
                                NULL};
    struct stages s;
    make(sets, &s);
    (void)state;
    for (int32_t i = 0; i < 4; i++) {
        const struct fr_slot *slots = s.p.slots + i * s.p.n_slots;
        bool waits[8] = {false};
        int most = 0;
        for (int64_t k = 0; k < s.p.n_slots; k++) {
            int now = 0;
            if (slots[k].kind != FR_SLOT_FORWARD)
                waits[slots[k].micro] = slots[k].kind == FR_SLOT_BACKWARD;
            for (int m = 0; m < 8; m++) now += waits[m];
            if (now > most) most = now;
        }
        struct fr_pipeline_in_flight held = fr_pipeline_holds(&s.p, i);
        assert_true(held.waiting == most && most >= 1 && held.all >= held.waiting);
        const struct fr_stage *t = &s.p.stage[i];
        double all_B = held.all * t->activation_B;
        FR_NEAR(fr_offload_saved_B(t, held.all, held.waiting),
                fmin(all_B, held.all * t->ends_B + most * t->offloaded_B + 2 * t->layer_B),
                1e-12);
        FR_NEAR(fr_offload_host_B(t, held.all), held.all * t->offloaded_B, 1e-12);
    }
    drop(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(activations_hide), cmocka_unit_test(the_optimizer_steps_there),
        cmocka_unit_test(bytes_by_hand), cmocka_unit_test(the_device_waits),
        cmocka_unit_test(what_waits_for_weights)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
