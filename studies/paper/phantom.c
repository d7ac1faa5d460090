/* Seal et al. 2025, phantom parallelism: Table I, Eqs. 8 to 10, Figures 5 and 6.
 *
 * The paper does not state its batch, launch cost or fixed cost.  Three numbers (batch, launch
 * per kernel, fixed time per iteration) are fitted to the energies of 8, 16 and 32 ranks; 64
 * and 128 are predicted; 256, where both methods jump, is not explained and not used. */
#include <math.h>

#include "studies/interval.h"
#include "studies/phantom/figures.h"
#include "trust/numbers/nlfit.h"

static const struct table1 {
    int64_t p, k;
    double tp_size_M, tp_energy_J, tp_epochs, tp_total_J;
    double pp_size_M, pp_energy_J, pp_epochs, pp_total_J;
} table1[] = {
    {8, 16, 537, 181.2, 453, 82084, 71, 74.6, 157, 11712},
    {16, 6, 537, 333.6, 453, 151121, 37, 158.0, 175, 27650},
    {32, 4, 537, 658.4, 453, 298255, 21, 333.6, 267, 89071},
    {64, 2, 537, 1281.6, 453, 580565, 13, 779.2, 362, 282070},
    {128, 2, 537, 2611.2, 453, 1182874, 13, 2131.2, 488, 1040026},
    {256, 4, 537, 6873.6, 453, 3113741, 36, 6950.4, 232, 1612493},
};
enum { N_ROWS = sizeof table1 / sizeof *table1, N_FITTED = 3, N_PREDICTED = 5 };

static double tensor_J(const struct fr_phantom_setting *s, int i) {
    return fr_phantom_at(s, &fr_method_tensor, table1[i].p, 0).energy_J;
}
static double phantom_J(const struct fr_phantom_setting *s, int i) {
    return fr_phantom_at(s, &fr_method_phantom, table1[i].p, table1[i].k).energy_J;
}

static void apply(struct fr_phantom_setting *s, const double *params) {
    s->batch = params[0];
    s->job.cluster.device.launch_s = params[1];
    s->job.cluster.device.fixed_s = params[2];
}

static void residuals(void *context, const double *params, double *out) {
    struct fr_phantom_setting *s = context;
    apply(s, params);
    for (int i = 0; i < N_FITTED; i++) {
        out[2 * i] = tensor_J(s, i) / table1[i].tp_energy_J - 1;
        out[2 * i + 1] = phantom_J(s, i) / table1[i].pp_energy_J - 1;
    }
}

static fr_status fit(struct fr_phantom_setting *s, bool literal, double *rms,
                     struct fr_error *err) {
    double params[3] = {500, 8e-6, 14e-3};
    s->job.cluster.price[FR_OP_ALL_GATHER].per_rank = literal;
    s->job.cluster.price[FR_OP_REDUCE_SCATTER].per_rank = literal;
    FR_TRY(fr_nlfit(residuals, s, 3, 2 * N_FITTED, params, rms, err));
    apply(s, params);
    return FR_OK;
}

/* ---- exact statements -------------------------------------------------------------------- */

static void add_sizes(struct fr_reproduction *r, const struct fr_phantom_setting *s) {
    for (int i = 0; i < N_ROWS; i++) {
        const struct table1 *t = &table1[i];
        double tp_M = fr_phantom_at(s, &fr_method_tensor, t->p, 0).parameters / 1e6;
        double pp_M = fr_phantom_at(s, &fr_method_phantom, t->p, t->k).parameters / 1e6;
        /* Published to the million: holds when ours rounds to it. */
        fr_reproduce_add(r, FR_ROLE_IDENTITY, t->tp_size_M, tp_M, "M", 0.5 / t->tp_size_M, NULL,
                         "table1/p=%d/tensor/parameters", (int)t->p);
        fr_reproduce_add(r, FR_ROLE_IDENTITY, t->pp_size_M, pp_M, "M", 0.5 / t->pp_size_M,
                         "p - 1 decompressors a rank; p of them would give 72 at p = 8",
                         "table1/p=%d/phantom/parameters", (int)t->p);
    }
}

static void add_totals(struct fr_reproduction *r) {
    for (int i = 0; i < N_ROWS; i++) {
        const struct table1 *t = &table1[i];
        const char *note = "published energy per epoch times published epochs, to the joule";
        fr_reproduce_add(r, FR_ROLE_IDENTITY, t->tp_total_J, t->tp_energy_J * t->tp_epochs, "J",
                         0.5 / t->tp_total_J, note, "table1/p=%d/tensor/product", (int)t->p);
        fr_reproduce_add(r, FR_ROLE_IDENTITY, t->pp_total_J, t->pp_energy_J * t->pp_epochs, "J",
                         0.5 / t->pp_total_J, note, "table1/p=%d/phantom/product", (int)t->p);
    }
    const struct table1 *last = &table1[N_ROWS - 1];
    fr_reproduce_add(r, FR_ROLE_IDENTITY, 0.518, last->pp_total_J / last->tp_total_J, "1",
                     0.001, "the text says about 50 %",
                     "table1/p=256/phantom_over_tensor/total_energy");
    fr_reproduce_add(r, FR_ROLE_IDENTITY, 266, last->tp_total_J / table1[0].pp_total_J, "1",
                     0.002, "over two orders of magnitude",
                     "table1/tensor@256_over_phantom@8/total_energy");
}

/* Eq. 9 with Tables II and III: per layer, TP - PP communication
 *      = 68.9 log2 p + (3.68e-3 n + 4.47e-3 (n/p - k)) b   [us], m literal, in floats. */
static void add_eq9(struct fr_reproduction *r, const struct fr_phantom_setting *literal) {
    double n = 16384, b = floor(literal->batch);
    struct fr_phantom_setting whole = *literal;
    whole.batch = b;
    for (int i = 0; i < N_ROWS; i++) {
        double p = (double)table1[i].p, k = (double)table1[i].k;
        double layers = literal->job.workload.layers[0].repeat;
        double ours_us =
            1e6 / layers *
            (fr_phantom_at(&whole, &fr_method_tensor, table1[i].p, 0).part_s[FR_PART_TP_COMM] -
             fr_phantom_at(&whole, &fr_method_phantom, table1[i].p, table1[i].k)
                 .part_s[FR_PART_TP_COMM]);
        /* 149.94 - 145.52 + ... : the all-gathers and reduce-scatters' c1 cancel. */
        double formula_us = 68.9 * log2(p) + (3.68e-3 * n + 4.47e-3 * (n / p - k)) * b;
        fr_reproduce_add(
            r, FR_ROLE_IDENTITY, formula_us, ours_us, "us", 1e-9,
            "Eq. 9 expanded with Tables II and III; positive, so PP communicates less",
            "eq9/p=%d/communication_saved", (int)table1[i].p);
    }
}

static void add_eq8(struct fr_reproduction *r) {
    bool exact = true;
    for (double n = 64; n <= 4096; n *= 4)
        for (double p = 2; p <= 32; p *= 2)
            for (double k = 1; k <= n / p; k++) {
                bool fewer = n * n / p + k * n * p < n * n, eq8 = k < n / p * (1 - 1 / p);
                exact = exact && fewer == eq8;
            }
    fr_reproduce_add_ordering(
        r, exact, "k < (n/p)(1 - 1/p) is exactly: fewer weights than tensor parallelism",
        "eq8/fewer_weights");
}

/* ---- Table I's energies ------------------------------------------------------------------ */

static fr_role role_of(int i) {
    return i < N_FITTED      ? FR_ROLE_FITTED
           : i < N_PREDICTED ? FR_ROLE_PREDICTED
                             : FR_ROLE_NOT_EXPLAINED;
}

static const char *note_of(int i, bool literal) {
    if (i >= N_PREDICTED)
        return "both methods jump at 256 ranks; +5.4 J a device would explain both: a system "
               "effect, not tuned to";
    if (!literal)
        return i < N_FITTED ? "batch, launch and fixed cost fitted to p = 8, 16, 32"
                            : "tolerance 5 %";
    return "m read literally as Table II's per-rank size; tolerance 12 %, what that reading "
           "attains";
}

static void add_energies(struct fr_reproduction *r, const struct fr_phantom_setting *s,
                         bool literal) {
    const char *convention = literal ? "/literal" : "";
    double tolerance = literal ? 0.12 : 0.05;
    for (int i = 0; i < N_ROWS; i++) {
        const struct table1 *t = &table1[i];
        const struct fr_outcome tp = fr_phantom_stated(s, &fr_method_tensor, t->p, 0),
                                pp = fr_phantom_stated(s, &fr_method_phantom, t->p, t->k);
        const struct fr_cluster *cluster = &s->job.cluster;
        double tp_J = tp.energy_J, pp_J = pp.energy_J;
        fr_reproduce_add(r, role_of(i), t->tp_energy_J, tp_J, "J", tolerance,
                         note_of(i, literal), "table1/p=%d/tensor/energy_per_epoch%s",
                         (int)t->p, convention);
        fr_reproduce_energy_interval(r, cluster, &tp, 1);
        fr_reproduce_add(r, role_of(i), t->pp_energy_J, pp_J, "J", tolerance,
                         note_of(i, literal), "table1/p=%d/phantom/energy_per_epoch%s",
                         (int)t->p, convention);
        fr_reproduce_energy_interval(r, cluster, &pp, 1);
        if (literal) continue;
        fr_reproduce_add(r, role_of(i), t->tp_total_J, tp_J * t->tp_epochs, "J", tolerance,
                         "published epochs", "table1/p=%d/tensor/total_energy", (int)t->p);
        fr_reproduce_energy_interval(r, cluster, &tp, t->tp_epochs);
        fr_reproduce_add(r, role_of(i), t->pp_total_J, pp_J * t->pp_epochs, "J", tolerance,
                         "published epochs", "table1/p=%d/phantom/total_energy", (int)t->p);
        fr_reproduce_energy_interval(r, cluster, &pp, t->pp_epochs);
    }
}

static void add_parameters(struct fr_reproduction *r, const struct fr_phantom_setting *s,
                           double rms, bool literal) {
    const char *convention = literal ? "literal" : "full_buffer";
    double none = NAN;
    fr_reproduce_add(r, FR_ROLE_FITTED, none, s->batch, "1", 0,
                     "samples; the paper does not state it", "fit/%s/batch", convention);
    fr_reproduce_add(r, FR_ROLE_FITTED, none, s->job.cluster.device.launch_s, "s", 0,
                     "per kernel, six an operator", "fit/%s/launch", convention);
    fr_reproduce_add(r, FR_ROLE_FITTED, none, s->job.cluster.device.fixed_s, "s", 0,
                     "per iteration, both methods", "fit/%s/fixed", convention);
    fr_reproduce_add(r, FR_ROLE_FITTED, none, rms, "1", 0,
                     "relative, over the six fitted energies", "fit/%s/rms_residual",
                     convention);
}

/* Figure 7: what training to the loss costs without communication, which goes as the model's size
 * times its epochs, and how long it takes.  Its energies (b) are Table I's. */
static void add_figure7(struct fr_reproduction *r, const struct fr_phantom_setting *s) {
    for (int i = 0; i < N_ROWS; i++) {
        const struct table1 *t = &table1[i];
        struct fr_outcome tp = fr_phantom_stated(s, &fr_method_tensor, t->p, 0),
                          pp = fr_phantom_stated(s, &fr_method_phantom, t->p, t->k);
        fr_reproduce_add_point(r, tp.parameters * 1e-9 * t->tp_epochs, "1e9",
                               "fig7a/p=%d/tensor/size_times_epochs", (int)t->p);
        r->rows[r->count - 1].published = t->tp_size_M * 1e-3 * t->tp_epochs;
        fr_reproduce_add_point(r, pp.parameters * 1e-9 * t->pp_epochs, "1e9",
                               "fig7a/p=%d/phantom/size_times_epochs", (int)t->p);
        r->rows[r->count - 1].published = t->pp_size_M * 1e-3 * t->pp_epochs;
        fr_reproduce_add_point(r, tp.time_s * t->tp_epochs, "s",
                               "fig7c/p=%d/tensor/time_to_loss", (int)t->p);
        fr_reproduce_time_interval(r, &tp, t->tp_epochs);
        fr_reproduce_add_point(r, pp.time_s * t->pp_epochs, "s",
                               "fig7c/p=%d/phantom/time_to_loss", (int)t->p);
        fr_reproduce_time_interval(r, &pp, t->pp_epochs);
    }
}

static void add_orderings(struct fr_reproduction *r, const struct fr_phantom_setting *s) {
    for (int i = 0; i < N_ROWS; i++) {
        const struct table1 *t = &table1[i];
        double tp_J = tensor_J(s, i), pp_J = phantom_J(s, i);
        fr_reproduce_add_ordering(r, pp_J * t->pp_epochs < tp_J * t->tp_epochs,
                                  "phantom needs less energy to the loss",
                                  "ordering/p=%d/total_energy", (int)t->p);
        bool less = pp_J < tp_J;
        fr_reproduce_add_ordering(
            r, t->p < 256 ? less : !less,
            t->p < 256
                ? "phantom needs less energy per epoch"
                : "phantom needs more energy per epoch at 256: Eq. 10 is contradicted by "
                  "Table I's own row",
            "ordering/p=%d/energy_per_epoch", (int)t->p);
        fr_reproduce_add_ordering(r,
                                  fr_phantom_at(s, &fr_method_phantom, t->p, t->k).time_s <
                                      fr_phantom_at(s, &fr_method_tensor, t->p, 0).time_s,
                                  "phantom is faster at n = 16384", "ordering/p=%d/time",
                                  (int)t->p);
    }
}

/* ------------------------------------------------------------------------------------------ */

static fr_status reproduce(struct fr_phantom_setting *full, struct fr_phantom_setting *literal,
                           struct fr_reproduction *r, struct fr_error *err) {
    double rms_full = 0, rms_literal = 0;
    FR_TRY(fit(full, false, &rms_full, err));
    FR_TRY(fit(literal, true, &rms_literal, err));
    add_sizes(r, full);
    add_totals(r);
    add_eq8(r);
    add_eq9(r, literal);
    add_parameters(r, full, rms_full, false);
    add_parameters(r, literal, rms_literal, true);
    add_energies(r, full, false);
    add_energies(r, literal, true);
    add_orderings(r, full);
    fr_phantom_figures(r, full, literal);
    fr_phantom_curves(r, full);
    if (!r->failed) add_figure7(r, full);
    return FR_OK;
}

static fr_status run(struct fr_reproduction *r, struct fr_error *err) {
    const struct fr_job_names names = {.cluster = "frontier", .model = "ffn-16384"};
    struct fr_phantom_setting full = {0}, literal = {0};
    fr_status status = fr_job_load(&names, &full.job, err);
    if (status == FR_OK) status = fr_job_load(&names, &literal.job, err);
    if (status == FR_OK) status = reproduce(&full, &literal, r, err);
    fr_job_free(&full.job);
    fr_job_free(&literal.job);
    return status;
}

const struct fr_paper fr_paper_phantom = {
    .name = "phantom",
    .title = "Seal et al., Compression-Induced Communication-Efficient Large Model Training "
             "and Inferencing, 2025: Table I, Eqs. 8 to 10, Figures 5 and 6",
    .run = run,
};
