#include "studies/phantom/figures.h"
#include "studies/interval.h"

#include <math.h>

static void set_network(struct fr_phantom_setting *s, double width, int layers) {
    s->job.workload.layers[0] = fr_layer_fully_connected(width, width, true, layers);
}
static void set_width(struct fr_phantom_setting *s, double width) { set_network(s, width, 2); }

static void add_figure5(struct fr_reproduction *r, const struct fr_phantom_setting *fitted) {
    struct fr_phantom_setting s = *fitted;
    struct fr_layer own = fitted->job.workload.layers[0], copy;
    s.job.workload.layers = &copy;
    copy = own;
    set_network(&s, 65536, 6);
    for (int64_t p = 32; p <= 128; p *= 2) {
        double pp_s = fr_phantom_at(&s, &fr_method_phantom, p, 64).part_s[FR_PART_TP_COMM],
               tp_s = fr_phantom_at(&s, &fr_method_tensor, p, 0).part_s[FR_PART_TP_COMM];
        fr_reproduce_add(
            r, FR_ROLE_PREDICTED, NAN, pp_s / tp_s, "1", 0,
            "phantom over tensor communication, n = 65536, L = 6, k = 64; the text "
            "has no number",
            "fig5a/p=%d/phantom_over_tensor/communication", (int)p);
        fr_reproduce_add_ordering(r, pp_s < tp_s,
                                  "phantom communicates less, n = 65536, L = 6, k = 64",
                                  "fig5a/p=%d/communication", (int)p);
    }
    set_width(&s, 4096);
    double ratio[2] = {0};
    for (int64_t p = 8; p <= 256; p *= 2) {
        double pp_s = fr_phantom_at(&s, &fr_method_phantom, p, 3).time_s,
               tp_s = fr_phantom_at(&s, &fr_method_tensor, p, 0).time_s;
        ratio[p == 256] = pp_s / tp_s;
        fr_reproduce_add_ordering(r, pp_s < tp_s, "phantom is faster, n = 4096, k = 3",
                                  "fig5b/p=%d/time", (int)p);
    }
    fr_reproduce_add(
        r, FR_ROLE_PREDICTED, 0.95, ratio[1], "1", 0.053,
        "phantom over tensor time at n = 4096, p = 256, k = 3: the two converge, 0.9 to 1",
        "fig5b/p=256/phantom_over_tensor");
    set_width(&s, 16384);
    for (int64_t p = 8; p <= 256; p *= 2) /* the widest of the figure's k that Eq. 8 allows */
        for (int64_t k = 4; k <= 16; k *= 2)
            fr_reproduce_add_ordering(r,
                                      fr_phantom_at(&s, &fr_method_phantom, p, k).time_s <
                                          fr_phantom_at(&s, &fr_method_tensor, p, 0).time_s,
                                      "phantom is faster, n = 16384, larger k too",
                                      "fig5c/p=%d/k=%d/time", (int)p, (int)k);
}

static double flip_s(struct fr_phantom_setting *s, double width, double batch) {
    set_width(s, width);
    s->batch = batch;
    return fr_phantom_at(s, &fr_method_phantom, 256, 64).time_s -
           fr_phantom_at(s, &fr_method_tensor, 256, 0).time_s;
}

/* ---- curves of figures whose text has no numbers -------------------------------------------------- */

/* Both methods' time an iteration from @p first to 256 ranks; what does not fit is left out. */
static void add_times(struct fr_reproduction *r, const struct fr_phantom_setting *s,
                      int64_t first, int64_t ghost_low, int64_t ghost_high,
                      const char *figure) {
    for (int64_t p = first; p <= 256; p *= 2) {
        struct fr_outcome tp = fr_phantom_stated(s, &fr_method_tensor, p, 0);
        if (!tp.reasons)
            fr_reproduce_add_point(r, tp.time_s, "s", "%s/p=%d/tensor/iteration", figure,
                                   (int)p);
        if (!tp.reasons) fr_reproduce_time_interval(r, &tp, 1);
        for (int64_t k = ghost_low; k <= ghost_high; k *= 2) {
            struct fr_outcome pp = fr_phantom_stated(s, &fr_method_phantom, p, k);
            if (pp.reasons) continue;
            fr_reproduce_add_point(r, pp.time_s, "s", "%s/p=%d/phantom k=%d/iteration", figure,
                                   (int)p, (int)k);
            fr_reproduce_time_interval(r, &pp, 1);
        }
    }
}

static void add_communication(struct fr_reproduction *r, const struct fr_phantom_setting *s) {
    for (int64_t p = 32; p <= 128; p *= 2) {
        fr_reproduce_add_point(
            r, fr_phantom_at(s, &fr_method_tensor, p, 0).part_s[FR_PART_TP_COMM], "s",
            "fig5a/p=%d/tensor/communication_time", (int)p);
        fr_reproduce_add_point(
            r, fr_phantom_at(s, &fr_method_phantom, p, 64).part_s[FR_PART_TP_COMM], "s",
            "fig5a/p=%d/phantom k=64/communication_time", (int)p);
    }
}

void fr_phantom_curves(struct fr_reproduction *r, const struct fr_phantom_setting *full) {
    struct fr_phantom_setting s = *full;
    struct fr_layer copy = full->job.workload.layers[0];
    s.job.workload.layers = &copy;
    set_network(&s, 65536, 6);
    add_communication(r, &s);
    set_width(&s, 4096);
    add_times(r, &s, 8, 3, 3, "fig5b");
    set_width(&s, 16384);
    add_times(r, &s, 8, 4, 16, "fig5c");
    set_width(&s, 131072);
    add_times(r, &s, 32, 64, 64, "fig6/n=131072");
    set_width(&s, 262144);
    add_times(r, &s, 32, 64, 64, "fig6/n=262144");
}

/* Batches between which tensor overtakes phantom at n = 131072 and not yet at 262144. */
static void add_figure6(struct fr_reproduction *r, const struct fr_phantom_setting *fitted,
                        bool literal) {
    const char *convention = literal ? "literal" : "full_buffer";
    struct fr_phantom_setting s = *fitted;
    struct fr_layer copy = fitted->job.workload.layers[0];
    double low = NAN, high = NAN, none = NAN;
    s.job.workload.layers = &copy;
    for (double batch = 1; batch <= fitted->batch; batch += 0.25) {
        bool flips = flip_s(&s, 131072, batch) > 0 && flip_s(&s, 262144, batch) <= 0;
        if (flips && isnan(low)) low = batch;
        if (flips) high = batch;
    }
    fr_reproduce_add(
        r, FR_ROLE_PREDICTED, none, low, "1", 0,
        "smallest batch at which tensor overtakes phantom at n = 131072, p = 256, k = 64 only",
        "fig6/window/%s/batch_low", convention);
    fr_reproduce_add(r, FR_ROLE_PREDICTED, none, high, "1", 0, "largest such batch",
                     "fig6/window/%s/batch_high", convention);
    fr_reproduce_add(
        r, FR_ROLE_PREDICTED, none, fitted->batch / high, "1", 0,
        "the largest such batch is this many times smaller than the one Table I implies",
        "fig6/window/%s/factor", convention);
    fr_reproduce_add_ordering(
        r, isfinite(low) && !(flip_s(&s, 131072, fitted->batch) > 0),
        "the flip comes out inside this window only, not at Table I's batch",
        "fig6/%s/flip_inside_window_only", convention);
}

static void add_memory(struct fr_reproduction *r, const struct fr_phantom_setting *fitted) {
    struct fr_phantom_setting s = *fitted;
    struct fr_layer copy;
    s.job.workload.layers = &copy;
    set_width(&s, 262144);
    copy.biases = 0;
    double state_B = fr_workload_state_B(&s.job.workload, &s.job.cluster.device), GiB = 0x1p30;
    struct fr_outcome tp = fr_phantom_at(&s, &fr_method_tensor, 32, 0),
                      pp = fr_phantom_at(&s, &fr_method_phantom, 32, 64);
    fr_reproduce_add(
        r, FR_ROLE_IDENTITY, 64, tp.parameters_rank_max * state_B / GiB, "GiB", 1e-12,
        "weights, gradients and Adam of one rank; n = 262144, p = 32, L = 2, 16 B a parameter",
        "fig6/n=262144/p=32/tensor/state");
    fr_reproduce_add(r, FR_ROLE_IDENTITY, 2.5, pp.parameters_rank_max * state_B / GiB, "GiB",
                     0.01, "k = 64", "fig6/n=262144/p=32/phantom/state");
    fr_reproduce_add_ordering(r, (tp.reasons & FR_BECAUSE(FR_REASON_MEMORY)) && !pp.reasons,
                              "tensor does not fit 64 GB, phantom does, as the paper saw",
                              "fig6/n=262144/p=32/fits");
}

void fr_phantom_figures(struct fr_reproduction *r, const struct fr_phantom_setting *full,
                        const struct fr_phantom_setting *literal) {
    add_figure5(r, full);
    add_figure6(r, full, false);
    add_figure6(r, literal, true);
    add_memory(r, full);
}
