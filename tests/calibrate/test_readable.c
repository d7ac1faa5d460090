/* Whatever samples the reader accepts, the cluster file that is fitted to them can be read, in every
 * form: random values all over what is accepted, its ends included. */
#include <math.h>
#include <stdio.h>

#include "calibrate/fit/fit.h"
#include "models/job/cluster.h"
#include "tests/cmocka.h"

static uint64_t state_of_random = 1;

static double uniform(void) {
    state_of_random = state_of_random * 6364136223846793005u + 1442695040888963407u;
    return ((double)(state_of_random >> 11) + 0.5) * 0x1p-53;
}

static int below(int n) { return (int)(uniform() * n); }

/* Log-uniform; every fourth time one of the ends. */
static double between(double low, double high) {
    if (below(4) == 0) return below(2) ? low : high;
    return low * pow(high / low, uniform());
}

static double a_time_s(void) { return below(3) ? between(1e-7, 1) : between(1e-12, 3600); }

static double whole(double low, double high) { return floor(between(low, high)); }

static void add_collective(struct fr_text *text, int i) {
    static const char *const ops[] = {"broadcast",  "reduce",         "all_reduce",
                                      "all_gather", "reduce_scatter", "all_to_all",
                                      "send_recv"};
    bool several = below(2), wide = below(5) == 0;
    double ranks = several || below(2) ? whole(2, wide ? 0x1p40 : 1024) : 2;
    double size_B = below(3) ? pow(2, below(24)) : whole(1, 1e18);
    fr_text_addf(
        text, "{\"kind\": \"collective\", \"op\": \"%s\", \"ranks\": %.0f, \"level\": \"%s\"",
        ops[below(7)], ranks, several ? "system" : "node");
    if (several && below(2)) fr_text_addf(text, ", \"nodes\": %.0f", whole(2, ranks));
    fr_text_addf(text, ", \"size_B\": %.0f, \"launch\": %d, \"rep\": %d, \"time_s\": %.17g}\n",
                 size_B, below(3), i, a_time_s());
}

static void add_device(struct fr_text *text, int i) {
    static const char *const kernels[] = {"stream", "elementwise", "norm", "softmax", "update"};
    double edge = pow(2, below(6));
    fr_text_addf(
        text,
        "{\"kind\": \"gemm\", \"dtype\": \"fp32\", \"m\": %.0f, \"n\": %d, \"k\": %.0f, "
        "\"launch\": %d, \"rep\": %d, \"time_s\": %.17g}\n",
        below(9) ? edge : whole(1, 0x1p40), 1 + below(2), edge, below(3), i, a_time_s());
    fr_text_addf(text,
                 "{\"kind\": \"memory\", \"kernel\": \"%s\", \"size_B\": %.0f, \"launch\": %d, "
                 "\"rep\": %d, \"time_s\": %.17g}\n",
                 kernels[below(5)], below(3) ? pow(2, below(20)) : whole(1, 1e18), below(3), i,
                 a_time_s());
    fr_text_addf(text,
                 "{\"kind\": \"kernel\", \"launch\": 0, \"rep\": %d, \"time_s\": %.17g}\n", i,
                 a_time_s());
    fr_text_addf(text,
                 "{\"kind\": \"probe\", \"launch\": %d, \"rep\": %d, \"product_s\": %.17g, "
                 "\"stream_s\": %.17g}\n",
                 i / 30, i, a_time_s(), a_time_s());
}

static void make(struct fr_text *text) {
    int nodes = 1 + below(3), per_node = 1 + below(4), n = 1 + below(below(4) ? 12 : 40);
    bool device = below(2);
    fr_text_addf(
        text,
        "{\"schema\": \"forerun/samples/1\", \"kind\": \"provenance\", \"date\": \"\", "
        "\"host\": \"h\", \"cpu\": \"\", \"cores\": 2, \"memory_B\": %.17g, \"ranks\": %d, "
        "\"ranks_per_node\": %d, \"nodes\": %d, \"oversubscribed\": %s}\n",
        between(1, 1e18), nodes * per_node, per_node, nodes, below(4) ? "false" : "true");
    for (int i = 0; i < n; i++) {
        add_collective(text, i);
        if (device) add_device(text, i);
    }
}

static fr_status read_back(const struct fr_fit_result *fit, struct fr_error *err) {
    struct fr_text text = {0};
    struct fr_json_document *document = NULL;
    struct fr_cluster cluster = {.name = ""};
    fr_fit_write_cluster(fit, &text);
    fr_status status =
        fr_json_parse(fr_text_get(&text), text.length, "cluster", &document, err);
    if (status == FR_OK) status = fr_cluster_read(document, &cluster, err);
    fr_cluster_free(&cluster);
    fr_json_free(document);
    fr_text_free(&text);
    return status;
}

static void what_is_accepted_is_fitted_and_read(void **state) {
    enum { ROUNDS = 600 };
    int fitted = 0;
    (void)state;
    for (int round = 0; round < ROUNDS; round++) {
        const struct fr_fit_options options = {
            .form = (fr_fit_form)below(FR_FIT_FORMS), .busy_W = -1, .idle_W = -1};
        struct fr_samples samples = {0};
        struct fr_fit_result fit = {0};
        struct fr_text text = {0};
        struct fr_error err = {.status = FR_OK};
        make(&text);
        if (fr_samples_parse(fr_text_get(&text), text.length, "s", &samples, &err) != FR_OK)
            fail_msg("round %d: %s: %s", round, err.where, err.detail);
        if (fr_fit(&samples, &options, &fit, &err) == FR_OK) {
            fitted++;
            if (read_back(&fit, &err) != FR_OK)
                fail_msg("round %d, form %s: %s: %s\n%s", round,
                         fr_fit_form_names[options.form], err.where, err.detail,
                         fr_text_get(&text));
        }
        fr_fit_free(&fit);
        fr_samples_free(&samples);
        fr_text_free(&text);
    }
    assert_true(fitted > ROUNDS / 2);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(what_is_accepted_is_fitted_and_read)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
