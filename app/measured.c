#include "app/measured.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "app/load.h"
#include "base/file.h"
#include "base/range.h"
#include "calibrate/iterations.h"
#include "models/cost.h"

static fr_status read_range(const struct fr_args *args, const char *option,
                            const char *standard, int64_t **values, size_t *count,
                            struct fr_error *err) {
    const char *text = fr_args_get(args, option);
    char where[32];
    snprintf(where, sizeof where, "--%s", option);
    return fr_range_parse(text ? text : standard, false, 1, where, values, count, err);
}

fr_status fr_training_options_read(const struct fr_args *args, struct fr_training_options *o,
                                   int64_t *owned[2], struct fr_error *err) {
    *o = fr_training_defaults();
    long long width = o->width, layers = o->layers, batch = o->batch, seeds = o->seeds,
              most = o->most;
    owned[0] = owned[1] = NULL;
    FR_TRY(fr_args_integer(args, "width", 2, 1 << 16, &width, err));
    FR_TRY(fr_args_integer(args, "layers", 1, 1000, &layers, err));
    FR_TRY(fr_args_integer(args, "batch", 1, 1 << 20, &batch, err));
    FR_TRY(fr_args_integer(args, "seeds", 1, 1000, &seeds, err));
    FR_TRY(fr_args_integer(args, "most", 1, 1 << 30, &most, err));
    FR_TRY(fr_args_number(args, "loss", 0, 1e6, &o->loss, err));
    FR_TRY(fr_args_number(args, "rate", 0, 1e6, &o->rate, err));
    FR_TRY(read_range(args, "tp", "2,4,8", &owned[0], &o->n_tp, err));
    FR_TRY(read_range(args, "ghost", "4..64*4", &owned[1], &o->n_ghost, err));
    o->tp = owned[0];
    o->ghost = owned[1];
    o->width = width;
    o->layers = layers;
    o->batch = batch;
    o->seeds = seeds;
    o->most = most;
    o->samples = fr_args_get(args, "samples");
    if (!o->samples) o->samples = "iterations.jsonl";
    o->launch.n_ranks = fr_launch_cores();
    o->progress = isatty(STDERR_FILENO);
    return fr_file_check_writable(o->samples, err);
}

/* ---- reproduce phantom --measured ------------------------------------------------------------ */

struct measured {
    struct fr_reproduction *r;
    struct fr_job job;
    const struct fr_training_options *o;
    const struct fr_trained *rows;
    int n;
};

/* The model that was trained, priced on the job's cluster. */
static struct fr_outcome price(struct measured *m, const struct fr_method *method, int64_t p,
                               int64_t k) {
    struct fr_plan plan = fr_plan_default();
    struct fr_outcome out;
    plan.method = method;
    plan.tp = p;
    plan.ghost = k;
    fr_cost(&m->job, &plan, &out);
    return out;
}

static void add_row(struct measured *m, const struct fr_trained *row, const char *id,
                    const struct fr_outcome *out) {
    char note[200];
    double none = NAN;
    snprintf(note, sizeof note, "%d of %d seeds reached the loss, %.0f to %.0f", row->n_reached,
             row->n_seeds, row->low, row->high);
    fr_reproduce_add(m->r, FR_ROLE_PREDICTED, none, row->iterations, "1", 0, note,
                     "measured/%s/iterations", id);
    fr_reproduce_add(m->r, FR_ROLE_PREDICTED, none, out->energy_J, "J", 0,
                     "estimated from the cluster's times and power",
                     "measured/%s/energy_per_iteration", id);
    fr_reproduce_add(m->r, FR_ROLE_PREDICTED, none, row->iterations * out->energy_J, "J", 0,
                     NULL, "measured/%s/total_energy", id);
}

/* Ratio phantom / tensor of total energy in Table I, for the p that it has. */
static double published_ratio(int64_t p) { return p == 8 ? 11712.0 / 82084.0 : NAN; }

static void add_rank_count(struct measured *m, int64_t p) {
    const struct fr_trained *dense = &m->rows[0], *best = NULL;
    struct fr_outcome tensor = price(m, &fr_method_tensor, p, 0);
    double tensor_J = dense->iterations * tensor.energy_J, best_J = INFINITY;
    char id[64], note[200];
    snprintf(id, sizeof id, "p=%" PRId64 "/tensor", p);
    if (!tensor.reasons) add_row(m, dense, id, &tensor);
    for (int i = 1; i < m->n; i++) {
        const struct fr_trained *row = &m->rows[i];
        if (row->tp != p || row->n_reached == 0) continue;
        struct fr_outcome out = price(m, &fr_method_phantom, p, row->ghost);
        if (out.reasons) continue;
        snprintf(id, sizeof id, "p=%" PRId64 "/phantom/k=%" PRId64, p, row->ghost);
        add_row(m, row, id, &out);
        double total_J = row->iterations * out.energy_J;
        if (total_J < best_J) best_J = total_J, best = row;
    }
    if (!best || !isfinite(tensor_J)) return;
    snprintf(note, sizeof note,
             "best k = %" PRId64 "; Table I's network is 16384 wide and its loss another",
             best->ghost);
    fr_reproduce_add(m->r, FR_ROLE_NOT_EXPLAINED, published_ratio(p), best_J / tensor_J, "1", 0,
                     note, "measured/p=%" PRId64 "/phantom_over_tensor/total_energy", p);
    fr_reproduce_add_ordering(m->r, best->iterations < dense->iterations,
                              "the best k by energy needs fewer iterations than tensor",
                              "ordering/measured/p=%" PRId64 "/iterations", p);
    fr_reproduce_add_ordering(m->r, best_J < tensor_J, "phantom needs less energy to the loss",
                              "ordering/measured/p=%" PRId64 "/total_energy", p);
}

static fr_status load(const struct fr_args *args, struct measured *m, const char *path,
                      struct fr_error *err) {
    const char *cluster = fr_args_get(args, "cluster");
    struct fr_text text = {0};
    fr_training_write_model(m->o, m->rows, m->n, &text);
    fr_status status = fr_file_write(path, fr_text_get(&text), text.length, err);
    fr_text_free(&text);
    const struct fr_job_names names = {.cluster = cluster ? cluster : "frontier",
                                       .model = path};
    return status == FR_OK ? fr_job_load(&names, &m->job, err) : status;
}

static fr_status add_all(const struct fr_args *args, struct measured *m, struct fr_error *err) {
    char path[] = "/tmp/forerun-model-XXXXXX";
    int fd = mkstemp(path);
    if (fd < 0) return fr_fail(err, FR_ERR_IO, path, "cannot be created");
    close(fd);
    fr_status status = load(args, m, path, err);
    unlink(path);
    if (status == FR_OK && !m->job.cluster.device.power.known)
        status =
            fr_fail(err, FR_ERR_INPUT, m->job.cluster_from,
                    "does not say what power a rank draws; calibrate with --power-busy and "
                    "--power-idle");
    for (size_t i = 0; status == FR_OK && i < m->o->n_tp; i++) add_rank_count(m, m->o->tp[i]);
    fr_job_free(&m->job);
    return status;
}

fr_status fr_measured_phantom(const struct fr_args *args, struct fr_reproduction *r,
                              struct fr_error *err) {
    struct fr_training_options o;
    struct fr_trained *rows = NULL;
    int64_t *owned[2];
    struct measured m = {.r = r, .o = &o};
    fr_status status = fr_training_options_read(args, &o, owned, err);
    if (status == FR_OK) status = fr_training_run(&o, &rows, &m.n, err);
    m.rows = rows;
    if (status == FR_OK) status = add_all(args, &m, err);
    free(rows);
    free(owned[0]);
    free(owned[1]);
    return status;
}
