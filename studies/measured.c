#include "studies/measured.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* Table I at 8 ranks, the one p that both have: epochs, parameters [M], total energy [J]. */
static const struct {
    double p, epochs, parameters, total_J;
} published_tensor = {8, 453, 537, 82084}, published_phantom = {8, 157, 71, 11712};

struct measured {
    struct fr_reproduction *r;
    const struct fr_training_options *o;
    const struct fr_trained *rows, *dense; /* dense may be NULL, of a job that ended early */
    int n;
};

static bool reached(const struct fr_trained *row) {
    return row && row->n_seeds > 0 && row->n_reached == row->n_seeds;
}

static const char *note_of(const struct fr_trained *row, char *note, size_t capacity) {
    size_t used = 0;
    fr_line_addf(note, capacity, &used, "%d of %d seeds reached the loss", row->n_reached,
                 row->n_seeds);
    if (row->n_reached > 0)
        fr_line_addf(note, capacity, &used, ", %.0f to %.0f", row->low, row->high);
    if (!reached(row))
        fr_line_addf(note, capacity, &used, "; given up at %.4g after %.0f at most", row->loss,
                     row->gave_up);
    return note;
}

static void add_row(struct measured *m, const struct fr_trained *row, int64_t p,
                    const char *id) {
    char note[512];
    double joule = fr_training_cost(m->o, row, p);
    double iterations = reached(row) ? row->iterations : NAN;
    fr_reproduce_add(m->r, FR_ROLE_PREDICTED, NAN, iterations, "1", 0,
                     note_of(row, note, sizeof note), "measured/%s/iterations", id);
    fr_reproduce_add(m->r, FR_ROLE_PREDICTED, NAN, joule, "J", 0,
                     "estimated from the cluster's times and power",
                     "measured/%s/energy_per_iteration", id);
    fr_reproduce_add(m->r, FR_ROLE_PREDICTED, NAN, iterations * joule, "J", 0,
                     reached(row) ? "to the loss" : "the loss was not reached",
                     "measured/%s/total_energy", id);
}

/* The best k by one measure beside tensor parallelism: by energy, Table I; by iterations times
 * parameters, Figure 7a's estimate without communication, which needs no machine. */
struct measure {
    const char *name, *what;
    double published; /* phantom / tensor at published_tensor.p */
};

/* Where the best k lies, and what an iteration costs at both ends: where that is nearly the same,
 * the k with the fewest iterations wins, which is the largest. */
static const char *where_of(const struct measured *m, int64_t p,
                            const struct fr_training_options *by,
                            const struct fr_best_ghost *best, char *note, size_t capacity) {
    const struct fr_trained *low = NULL, *high = NULL;
    char where[300];
    for (int i = 0; i < m->n; i++) {
        if (m->rows[i].tp != p) continue;
        if (!low) low = &m->rows[i];
        high = &m->rows[i];
    }
    snprintf(note, capacity, "%s", fr_best_ghost_text(best, where, sizeof where));
    if (by->cluster && low && low != high)
        snprintf(note, capacity,
                 "%s; an iteration takes %.4g J at k = %" PRId64 ", %.4g J at %" PRId64, where,
                 fr_training_cost(by, low, p), low->ghost, fr_training_cost(by, high, p),
                 high->ghost);
    return note;
}

static void add_measure(struct measured *m, int64_t p, const struct fr_training_options *by,
                        const struct measure *measure) {
    const struct fr_trained *dense = m->dense;
    struct fr_best_ghost best = fr_training_best(by, m->rows, m->n, p);
    double tensor = reached(dense) ? dense->iterations * fr_training_cost(by, dense, p) : NAN;
    double published = (double)p == published_tensor.p ? measure->published : NAN;
    char note[512];
    fr_reproduce_add(m->r, FR_ROLE_PREDICTED, NAN, best.row ? (double)best.row->ghost : NAN,
                     "1", 0, where_of(m, p, by, &best, note, sizeof note),
                     "measured/p=%" PRId64 "/best_k_by_%s", p, measure->name);
    if (!best.row || !isfinite(tensor)) return;
    snprintf(
        note, sizeof note,
        "best k over tensor, %s; Table I's network is 16384 wide, its batch, rate and loss "
        "are not stated",
        measure->what);
    fr_reproduce_add(m->r, FR_ROLE_NOT_EXPLAINED, published, best.total / tensor, "1", 0, note,
                     "measured/p=%" PRId64 "/phantom_over_tensor/%s", p, measure->name);
    snprintf(note, sizeof note, "phantom at its best k needs less %s", measure->what);
    fr_reproduce_add_ordering(m->r, best.total < tensor, note,
                              "ordering/measured/p=%" PRId64 "/%s", p, measure->name);
}

static void add_rank_count(struct measured *m, int64_t p) {
    const struct measure energy = {"total_energy", "energy to the loss",
                                   published_phantom.total_J / published_tensor.total_J};
    const struct measure work = {"iterations_x_parameters",
                                 "work to the loss (iterations times parameters, Figure 7a)",
                                 published_phantom.epochs * published_phantom.parameters /
                                     (published_tensor.epochs * published_tensor.parameters)};
    struct fr_training_options unpriced = *m->o;
    const struct fr_trained *fewest = NULL;
    char id[64];
    unpriced.cluster = NULL;
    snprintf(id, sizeof id, "p=%" PRId64 "/tensor", p);
    if (m->dense) add_row(m, m->dense, p, id);
    for (int i = 0; i < m->n; i++) {
        const struct fr_trained *row = &m->rows[i];
        if (row->tp != p) continue;
        snprintf(id, sizeof id, "p=%" PRId64 "/phantom/k=%" PRId64, p, row->ghost);
        add_row(m, row, p, id);
        if (reached(row) && (!fewest || row->iterations < fewest->iterations)) fewest = row;
    }
    add_measure(m, p, m->o, &energy);
    add_measure(m, p, &unpriced, &work);
    if (fewest && reached(m->dense))
        fr_reproduce_add_ordering(m->r, fewest->iterations < m->dense->iterations,
                                  "some k needs fewer iterations than tensor",
                                  "ordering/measured/p=%" PRId64 "/iterations", p);
}

fr_status fr_measured_phantom(const struct fr_training_options *o, struct fr_reproduction *r,
                              struct fr_error *err) {
    struct fr_trained *rows = NULL;
    struct measured m = {.r = r, .o = o};
    fr_status status = fr_training_run(o, &rows, &m.n, err);
    m.rows = rows;
    if (m.n > 0 && rows[0].tp == 1) m.dense = &rows[0];
    /* Results of an ended job are shown; the status still states that it ended early. */
    for (size_t i = 0; (status == FR_OK || status == FR_ERR_PARTIAL) && i < o->n_tp; i++)
        if (o->tp[i] > 1) add_rank_count(&m, o->tp[i]);
    free(rows);
    return status;
}
