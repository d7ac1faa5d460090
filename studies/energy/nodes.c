/* MLPerf Training's power logs: whole nodes of eight GPUs in training, before and after their supplies.
 *
 *      P = W + u (B - W)          u = T1 N1 / (T N)          W = R + s (B - R)
 *
 * B power of a node that works, W of one that waits within an iteration, R of one at rest, u the share of the time that
 * it works.  s = 0.3, since devices that wait in a collective run its kernels (A40: 0.28, preset a40).  u is the time of a step
 * on the fewest nodes, divided over all, over the measured step time T on N (1 where no time is logged).  B is the
 * median over other benchmarks, R the mean after their runs ended.  Nodes that log no time may wait for each other;
 * they say nothing of B. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "calibrate/energy/line.h"
#include "models/outcome/energy.h"
#include "studies/energy/parts.h"
#include "studies/training/table.h"
#include "trust/numbers/statistics.h"
#include "trust/power_fit.h"

static const char *const file = "mlperf/power_runs.csv";

enum { KINDS_MAX = 256 };

/* Runs of one benchmark on one system, metered on one side. */
struct kind {
    const char *system, *side, *accelerator, *benchmark;
    double accelerators, runs, mean_W, square_W, idle_W, idle_runs, low_W, step_s, step_runs;
};

struct run {
    const char *id, *group;
    const struct kind *kind;
    double mean_W,
        switches_W; /* of a node; its share of the switches: as the submitter states it, else 0 */
    int64_t nodes;
};

struct nodes {
    struct kind kinds[KINDS_MAX];
    struct run *runs;
    int n_kinds, n_runs;
};

/* ---- reading -------------------------------------------------------------------------------- */

static struct kind *kind_of(struct nodes *n, const struct fr_csv *csv, int row) {
    struct kind key = {.system = fr_energy_text(csv, row, "system"),
                       .side = fr_energy_text(csv, row, "side"),
                       .accelerator = fr_energy_text(csv, row, "accelerator"),
                       .benchmark = fr_energy_text(csv, row, "benchmark"),
                       .accelerators = fr_energy_number(csv, row, "accelerators")};
    for (int i = 0; i < n->n_kinds; i++) {
        struct kind *k = &n->kinds[i];
        if (strcmp(k->system, key.system) == 0 && strcmp(k->side, key.side) == 0 &&
            strcmp(k->benchmark, key.benchmark) == 0 && k->accelerators == key.accelerators)
            return k;
    }
    if (n->n_kinds == KINDS_MAX) return NULL;
    n->kinds[n->n_kinds] = key;
    return &n->kinds[n->n_kinds++];
}

static void count_in(double value, double *sum, double *n) {
    if (isnan(value)) return;
    *sum += value;
    ++*n;
}

static void read_row(struct nodes *n, const struct fr_csv *csv, int row) {
    struct kind *k = kind_of(n, csv, row);
    double mean_W = fr_energy_number(csv, row, "measured_node_power_mean_W"), lows = 0;
    if (!k || isnan(mean_W)) return;
    count_in(mean_W, &k->mean_W, &k->runs);
    k->square_W += mean_W * mean_W;
    count_in(fr_energy_number(csv, row, "measured_idle_after_W"), &k->idle_W, &k->idle_runs);
    count_in(fr_energy_number(csv, row, "measured_step_time_s"), &k->step_s, &k->step_runs);
    count_in(fr_energy_number(csv, row, "measured_node_power_low_W"), &k->low_W, &lows);
    double nodes = fr_energy_number(csv, row, "nodes_in_system"),
           switches_W = fr_energy_number(csv, row, "switch_power_W") / nodes;
    n->runs[n->n_runs++] = (struct run){
        fr_energy_text(csv, row, "row_id"), fr_energy_text(csv, row, "run_group"), k, mean_W,
        switches_W > 0 ? switches_W : 0,    nodes > 0 ? (int64_t)nodes : 0};
}

static void means(struct nodes *n) {
    for (int i = 0; i < n->n_kinds; i++) {
        struct kind *k = &n->kinds[i];
        k->mean_W /= k->runs;
        k->low_W /= k->runs;
        k->idle_W = k->idle_runs > 0 ? k->idle_W / k->idle_runs : NAN;
        k->step_s = k->step_runs > 0 ? k->step_s / k->step_runs : NAN;
    }
}

/* ---- the model ------------------------------------------------------------------------------ */

/* The share of its time that a node works: times alone, no power. */
static double busy_share(const struct nodes *n, const struct kind *k) {
    const struct kind *first = k;
    for (int i = 0; i < n->n_kinds; i++) {
        const struct kind *o = &n->kinds[i];
        if (strcmp(o->benchmark, k->benchmark) == 0 && strcmp(o->side, k->side) == 0 &&
            strcmp(o->accelerator, k->accelerator) == 0 &&
            o->accelerators < first->accelerators && !isnan(o->step_s))
            first = o;
    }
    double share = first->step_s * first->accelerators / (k->step_s * k->accelerators);
    return isnan(share) ? 1 : fmin(1, share);
}

typedef bool left_out_fn(const struct kind *from, const struct kind *k);

static bool same_benchmark(const struct kind *from, const struct kind *k) {
    return strcmp(from->benchmark, k->benchmark) == 0;
}

static bool same_system(const struct kind *from, const struct kind *k) {
    return strcmp(from->system, k->system) == 0;
}

static bool same_hardware(const struct kind *from, const struct kind *k) {
    return strcmp(from->side, k->side) == 0 && strcmp(from->accelerator, k->accelerator) == 0;
}

struct node_power {
    double busy_W, waiting_W, sigma, waiting_sigma; /* relative, each of its own */
    int degrees;                                    /* of sigma */
};

/* Nodes that log no step times may wait for each other for any share of their time. */
static bool waits_unknown(const struct kind *k) {
    return isnan(k->step_s) && k->accelerators > 8;
}

/* Power of a device that waits within an iteration: this share of the way from rest to work. */
static const double waiting_share = 0.3;

/* How kinds that are not left out differ: by benchmark, from the median of their accelerator and side, and
 * by run; relative. */
struct spread {
    double squares, degrees;         /* by benchmark */
    double run_squares, run_degrees; /* by run, of one benchmark */
};

static void count_runs(const struct kind *k, struct spread *s) {
    s->run_squares += k->square_W / (k->mean_W * k->mean_W) - k->runs;
    s->run_degrees += k->runs - 1;
}

/* From the kinds like @p k that are not left out; busy NaN where there is none. */
static size_t busy_of(const struct nodes *n, const struct kind *like, const struct kind *k,
                      left_out_fn *left_out, double rest_W, struct spread *s,
                      double *median_W) {
    double busy_W[KINDS_MAX];
    size_t count = 0;
    for (int i = 0; i < n->n_kinds; i++) {
        const struct kind *from = &n->kinds[i];
        double u = busy_share(n, from);
        if (!same_hardware(from, like) || left_out(from, k) || waits_unknown(from) ||
            (u < 1 && isnan(rest_W)))
            continue;
        double works = u + (1 - u) * waiting_share;
        busy_W[count++] = u < 1 ? (from->mean_W - (1 - works) * rest_W) / works : from->mean_W;
        count_runs(from, s);
    }
    *median_W = NAN;
    if (count == 0) return 0;
    fr_sort(busy_W, count);
    *median_W = fr_sorted_median(busy_W, count);
    for (size_t i = 0; i < count; i++) s->squares += pow(busy_W[i] / *median_W - 1, 2);
    s->degrees += (double)count - 1;
    return count;
}

/* W, and how kinds differ in it; NaN where none, or only one, was left to itself after its runs. */
static double waiting_of(const struct nodes *n, const struct kind *like, const struct kind *k,
                         left_out_fn *left_out, double *sigma) {
    double idle_W = 0, square_W = 0, idles = 0;
    for (int i = 0; i < n->n_kinds; i++) {
        const struct kind *from = &n->kinds[i];
        if (!same_hardware(from, like) || left_out(from, k) || isnan(from->idle_W)) continue;
        idle_W += from->idle_W;
        square_W += from->idle_W * from->idle_W;
        idles++;
    }
    double mean_W = idles > 0 ? idle_W / idles : NAN,
           square = square_W / (mean_W * mean_W) - idles;
    if (sigma) *sigma = idles > 1 ? sqrt(fmax(0, square) / (idles - 1)) : NAN;
    return mean_W;
}

static bool first_like(const struct nodes *n, int i) {
    for (int j = 0; j < i; j++)
        if (strcmp(n->kinds[j].side, n->kinds[i].side) == 0 &&
            strcmp(n->kinds[j].accelerator, n->kinds[i].accelerator) == 0)
            return false;
    return true;
}

/* Spread over every accelerator on both sides. */
static struct spread spread_of(const struct nodes *n, const struct kind *k,
                               left_out_fn *left_out) {
    struct spread s = {0};
    for (int i = 0; i < n->n_kinds; i++) {
        double median_W;
        if (first_like(n, i))
            busy_of(n, &n->kinds[i], k, left_out,
                    waiting_of(n, &n->kinds[i], k, left_out, NULL), &s, &median_W);
    }
    return s;
}

/* A benchmark more, beside the median of @p count. */
static void set_sigma(const struct spread *s, size_t count, struct node_power *p) {
    double between = s->squares / s->degrees * (1 + 1.0 / (double)count),
           runs = s->run_squares / s->run_degrees;
    p->sigma = s->degrees > 0 ? sqrt(between + (runs > 0 ? runs : 0)) : NAN;
    p->degrees = (int)s->degrees;
}

static struct node_power node_power(const struct nodes *n, const struct kind *k,
                                    left_out_fn *left_out) {
    struct node_power p = {.busy_W = NAN, .sigma = NAN};
    p.waiting_W = waiting_of(n, k, k, left_out, &p.waiting_sigma);
    struct spread all = spread_of(n, k, left_out), here = {0};
    size_t count = busy_of(n, k, k, left_out, p.waiting_W, &here, &p.busy_W);
    if (count > 0) set_sigma(&all, count, &p);
    p.waiting_W += waiting_share * (p.busy_W - p.waiting_W);
    return p;
}

static double mean_W(const struct node_power *p, double u) {
    return u < 1 ? p->waiting_W + u * (p->busy_W - p->waiting_W) : p->busy_W;
}

/* ---- another accelerator -------------------------------------------------------------------- */

/* Data sheets: what a device may draw, and eight of them in a node. */
static double limit_W(const char *accelerator) {
    return strncmp(accelerator, "H100", 4) == 0 ? 700
           : strcmp(accelerator, "B200") == 0   ? 1000
                                                : NAN;
}

static const double IDLE_SHARE = 1.0 / 7; /* of a device's limit at rest: assumed */

/* A node of another accelerator has the same host, and devices that draw the same share of their
 * limit. */
static struct node_power other_accelerator(const struct nodes *n, const struct kind *k,
                                           left_out_fn *left_out) {
    struct node_power best = {.busy_W = NAN, .sigma = NAN};
    for (int i = 0; i < n->n_kinds && isnan(best.busy_W); i++) {
        const struct kind *from = &n->kinds[i];
        if (strcmp(from->side, k->side) != 0 || left_out(from, k)) continue;
        struct kind as = *k;
        as.accelerator = from->accelerator;
        struct node_power p = node_power(n, &as, left_out);
        double from_W = 8 * limit_W(from->accelerator), to_W = 8 * limit_W(k->accelerator),
               rest_W = (p.waiting_W - waiting_share * p.busy_W) / (1 - waiting_share),
               host_W = rest_W - IDLE_SHARE * from_W,
               busy_W = host_W + (p.busy_W - host_W) / from_W * to_W,
               other_W = host_W + IDLE_SHARE * to_W;
        best = (struct node_power){busy_W, other_W + waiting_share * (busy_W - other_W),
                                   p.sigma, p.waiting_sigma, p.degrees};
    }
    return best;
}

/* ---- tables --------------------------------------------------------------------------------- */

/* Lowest power of nodes that may wait for any share of their time: in nine cases of ten for no more than nine tenths.
 */
static double least_W(const struct kind *k, const struct node_power *p) {
    return waits_unknown(k) ? mean_W(p, 0.1) : 0;
}

/* Deviation of the mean: work and waiting err independently. */
static double sigma_at(const struct node_power *p, double u) {
    double work = u < 1 ? u * p->busy_W / mean_W(p, u) : 1;
    return u < 1 ? hypot(work * p->sigma, (1 - work) * p->waiting_sigma) : p->sigma;
}

/* @param more_W  switches, beside those that the submitter states, within the share @p more_sigma */
static void push_with(struct fr_energy_rows *rows, const struct run *run,
                      const struct node_power *p, double u, double least_W, double more_W,
                      double more_sigma) {
    double node_W = mean_W(p, u), predicted_W = node_W + more_W,
           stated_W = more_W > 0 ? run->switches_W : 0;
    struct fr_energy_row row = {.measured = run->mean_W + stated_W,
                                .predicted = predicted_W,
                                .sigma = hypot(sigma_at(p, u) * node_W, more_sigma * more_W) /
                                         predicted_W,
                                .degrees = p->degrees,
                                .least = least_W};
    size_t length = strlen(run->id);
    snprintf(row.id, sizeof row.id, "%.2s/%.16s/%.24s/%s", run->kind->side,
             run->kind->benchmark, run->kind->system,
             run->id + (length > 20 ? length - 20 : 0));
    fr_energy_rows_add(rows, &row);
}

static void push(struct fr_energy_rows *rows, const struct run *run, const struct node_power *p,
                 double u, double least_W) {
    push_with(rows, run, p, u, least_W, 0, 0);
}

static fr_status left_out_table(struct fr_reproduction *r, const struct nodes *n,
                                left_out_fn *left_out, const char *name, const char *procedure,
                                double most, struct fr_error *err) {
    const struct fr_table_limits limits = {.mean = most, FR_TABLE_COVERED};
    struct fr_energy_rows rows = {0};
    for (int i = 0; i < n->n_runs; i++) {
        const struct kind *k = n->runs[i].kind;
        struct node_power p = node_power(n, k, left_out);
        if (isnan(p.busy_W)) p = other_accelerator(n, k, left_out);
        double u = busy_share(n, k);
        if (!isnan(mean_W(&p, u))) push(&rows, &n->runs[i], &p, u, least_W(k, &p));
    }
    return fr_energy_rows_table(r, &rows, name, procedure, "W", &limits, err);
}

/* Switches of a node [W] of an eight-GPU cluster of @p nodes, whose presets state them by topology. */
static fr_status topology_W(const char *accelerator, int64_t nodes, double *switches_W,
                            struct fr_error *err) {
    struct fr_cluster cluster;
    FR_TRY(fr_table_cluster(strcmp(accelerator, "B200") == 0 ? "dgx-b200" : "dgx-h100",
                            &cluster, err));
    *switches_W = fr_energy_switches_W(&cluster, 8 * nodes) / (double)nodes;
    fr_cluster_free(&cluster);
    return FR_OK;
}

/* A node and its share of the switches.  The submitter's estimate counts as measured; the prediction has it too, or whole
 * switches by the number of nodes alone. */
static fr_status with_switches(struct fr_reproduction *r, const struct nodes *n, bool topology,
                               const char *name, const char *procedure, struct fr_error *err) {
    static const struct fr_table_limits limits = {.mean = 0.08, FR_TABLE_COVERED};
    const double unsure = fr_power_terms[fr_power_term_find("switches")].sigma;
    struct fr_energy_rows rows = {0};
    for (int i = 0; i < n->n_runs; i++) {
        const struct run *run = &n->runs[i];
        const struct kind *k = run->kind;
        struct node_power p = node_power(n, k, same_system);
        double u = busy_share(n, k), more_W = run->switches_W;
        if (!(more_W > 0) || isnan(mean_W(&p, u))) continue;
        if (topology) FR_TRY(topology_W(k->accelerator, run->nodes, &more_W, err));
        push_with(&rows, run, &p, u, least_W(k, &p) + more_W, more_W, topology ? unsure : 0);
    }
    return fr_energy_rows_table(r, &rows, name, procedure, "W", &limits, err);
}

/* More nodes from the same benchmark on the fewest: B its mean, W its lowest, while it waits for data. */
static fr_status scale(struct fr_reproduction *r, const struct nodes *n, struct fr_error *err) {
    static const struct fr_table_limits limits = {.mean = 0.05, FR_TABLE_COVERED};
    struct fr_energy_rows rows = {0};
    for (int i = 0; i < n->n_runs; i++) {
        const struct kind *k = n->runs[i].kind;
        double u = busy_share(n, k);
        for (int j = 0; j < n->n_kinds && u < 1; j++) {
            const struct kind *o = &n->kinds[j];
            if (!same_hardware(o, k) || same_system(o, k) || !same_benchmark(o, k)) continue;
            struct node_power p = node_power(n, k, same_benchmark);
            p.busy_W = o->mean_W, p.waiting_W = o->low_W;
            push(&rows, &n->runs[i], &p, u, 0);
            break;
        }
    }
    return fr_energy_rows_table(
        r, &rows, "nodes_scale",
        "more nodes from the same benchmark on one: its mean at work, its lowest waiting", "W",
        &limits, err);
}

/* ---- power supplies ------------------------------------------------------------------------- */

/* Power before the supplies over power after them. */
struct supply {
    double constant_W, slope, sigma;
};

static const struct run *supply_run(const struct nodes *n, const struct run *ac) {
    for (int j = 0; j < n->n_runs; j++)
        if (strcmp(n->runs[j].group, ac->group) == 0 &&
            strcmp(n->runs[j].kind->side, "DC") == 0)
            return &n->runs[j];
    return NULL;
}

static bool is_ac_of_other(const struct kind *k, const struct kind *but) {
    return strcmp(k->side, "AC") == 0 && !same_benchmark(k, but);
}

/* A line through the other benchmarks' means, at work and at rest. */
static bool supply_line(const struct nodes *n, const struct kind *but, struct supply *line) {
    double x[FR_LINE_POINTS_MAX], y[FR_LINE_POINTS_MAX];
    int points = 0;
    for (int a = 0; a < n->n_kinds; a++)
        for (int d = 0; d < n->n_kinds && points + 2 <= FR_LINE_POINTS_MAX; d++) {
            const struct kind *ac = &n->kinds[a], *dc = &n->kinds[d];
            if (!is_ac_of_other(ac, but) || strcmp(dc->side, "DC") != 0 ||
                !same_system(ac, dc) || !same_benchmark(ac, dc))
                continue;
            x[points] = dc->mean_W;
            y[points++] = ac->mean_W;
            if (isnan(ac->idle_W) || isnan(dc->idle_W)) continue;
            x[points] = dc->idle_W;
            y[points++] = ac->idle_W;
        }
    if (points >= 3) fr_line_fit(x, y, points, &line->constant_W, &line->slope);
    return points >= 3;
}

/* How the runs of kind @p k scatter around it, mean square; NaN: none. */
static double supply_square(const struct nodes *n, const struct kind *k,
                            const struct supply *line) {
    double squares = 0, count = 0;
    for (int i = 0; i < n->n_runs; i++) {
        const struct run *ac = &n->runs[i], *dc = supply_run(n, ac);
        if (!dc || ac->kind != k) continue;
        squares += pow(ac->mean_W / (line->constant_W + line->slope * dc->mean_W) - 1, 2);
        count++;
    }
    return squares / count;
}

/* How the other kinds scatter, each counted alike; two are spent on the line. */
static void supply_scatter(const struct nodes *n, const struct kind *but,
                           const struct supply *line, struct node_power *p) {
    double squares = 0, count = 0;
    for (int i = 0; i < n->n_kinds; i++)
        if (is_ac_of_other(&n->kinds[i], but))
            count_in(supply_square(n, &n->kinds[i], line), &squares, &count);
    p->degrees = count > 3 ? (int)count - 2 : 1;
    p->sigma = sqrt(squares / p->degrees);
}

static fr_status supplies(struct fr_reproduction *r, const struct nodes *n,
                          struct fr_error *err) {
    static const struct fr_table_limits limits = {.mean = 0.02, FR_TABLE_COVERED};
    struct fr_energy_rows rows = {0};
    for (int i = 0; i < n->n_runs; i++) {
        const struct run *ac = &n->runs[i], *dc = supply_run(n, ac);
        struct supply line;
        if (!dc || strcmp(ac->kind->side, "AC") != 0 || !supply_line(n, ac->kind, &line))
            continue;
        struct node_power p = {.busy_W = NAN};
        supply_scatter(n, ac->kind, &line, &p);
        p.busy_W = line.constant_W + line.slope * dc->mean_W;
        push(&rows, ac, &p, 1, 0);
    }
    return fr_energy_rows_table(r, &rows, "nodes_supplies",
                                "before the supplies from behind them: a line through "
                                "other benchmarks at work and at rest",
                                "W", &limits, err);
}

static fr_status all(struct fr_reproduction *r, const struct nodes *n, struct fr_error *err) {
    FR_TRY(left_out_table(r, n, same_benchmark, "nodes_benchmark",
                          "power of a node given the step time, from the other benchmarks",
                          0.08, err));
    FR_TRY(left_out_table(r, n, same_system, "nodes_system",
                          "the same, from the other systems; another accelerator by its data "
                          "sheet's limit",
                          0.08, err));
    FR_TRY(with_switches(r, n, false, "nodes_switches",
                         "the same of nodes with switches, whose power is stated", err));
    FR_TRY(with_switches(r, n, true, "nodes_topology",
                         "the same, with whole switches by the number of nodes alone", err));
    FR_TRY(scale(r, n, err));
    return supplies(r, n, err);
}

fr_status fr_energy_nodes(struct fr_reproduction *r, struct fr_error *err) {
    struct fr_csv csv = {.text = NULL};
    struct nodes *n = fr_calloc(1, sizeof *n);
    fr_status status = n ? fr_energy_csv(file, &csv, err)
                         : fr_fail(err, FR_ERR_NOMEM, NULL, "the rows do not fit in memory");
    if (status == FR_OK) {
        n->runs = fr_calloc((size_t)csv.n_rows + 1, sizeof *n->runs);
        if (!n->runs)
            status = fr_fail(err, FR_ERR_NOMEM, NULL, "the rows do not fit in memory");
    }
    for (int row = 0; status == FR_OK && row < csv.n_rows; row++) read_row(n, &csv, row);
    if (status == FR_OK) {
        means(n);
        status = all(r, n, err);
    }
    if (n) free(n->runs);
    free(n);
    fr_csv_free(&csv);
    return status;
}
