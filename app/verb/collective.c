/* One collective over sizes, as nccl-tests prints it. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "answer/piece/piece.h"
#include "app/load.h"
#include "app/page/page.h"
#include "app/verb.h"
#include "base/json/interval.h"
#include "base/range.h"
#include "base/text/wrap.h"
#include "models/job/runtime.h"
#include "trust/interval.h"

static const struct fr_option options[] = {
    FR_OPTION_CLUSTER,
    FR_OPTION_SET,
    {"op", "NAME",
     "broadcast, reduce, all_reduce, all_gather, reduce_scatter, all_to_all, send_recv, "
     "scatter, "
     "gather",
     0},
    {"ranks", "N", "ranks taking part", 'n'},
    {"stride", "S", "distance between neighbours (default 1)", 0},
    {"groups", "G", "so many such groups at once, sharing links (default: all ranks are busy)",
     0},
    {"size", "RANGE", "message sizes, e.g. 8..16MiB*2 (default); counted as nccl-tests does",
     0},
    {"algorithm", "NAME|all",
     "price an algorithm from the levels instead of the cluster's form", 0},
    FR_OPTION_JSON,
    FR_OPTION_CSV,
    FR_OPTION_HELP,
    FR_OPTION_END};

/* The pricing of a row: the cluster's own form (algorithm NULL) or one algorithm. */
struct pricing {
    const struct fr_collective *algorithm;
    bool automatic;
};

struct row {
    double size_B, time_s, low_s, high_s, algbw, busbw;
    const char *algorithm;
    bool extrapolated;
};

/* The group as it would be with a value of the links moved, whose width the cluster's file states. */
struct unsure {
    struct fr_group group;
    double sigma;
};

struct query {
    fr_op op;
    int64_t ranks, stride, groups;
    struct fr_group group;
    struct unsure unsure[FR_COEFFICIENT_MAX];
    int n_unsure;
    struct pricing pricing[32];
    int n_pricings;
    int64_t *sizes;
    size_t n_sizes;
};

static fr_status choose_pricing(const char *name, struct query *q, struct fr_error *err) {
    struct fr_collective_args a = fr_group_args(&q->group, 0);
    const char *known[34] = {"all", "auto"};
    int n = 2;
    if (!name) {
        q->pricing[q->n_pricings++] = (struct pricing){NULL, false};
        return FR_OK;
    }
    for (const struct fr_collective *const *c = fr_collectives; *c; c++) {
        if ((*c)->op != q->op) continue;
        known[n++] = (*c)->name;
        bool wanted = strcmp(name, "all") == 0 || strcmp(name, (*c)->name) == 0;
        if (!wanted) continue;
        if ((*c)->applicable(&a))
            q->pricing[q->n_pricings++] = (struct pricing){*c, false};
        else if (strcmp(name, "all") != 0)
            return fr_fail(err, FR_ERR_INPUT, "--algorithm",
                           "%s cannot run on %lld ranks placed so", name,
                           (long long)q->group.n_ranks);
    }
    if (strcmp(name, "auto") == 0) q->pricing[q->n_pricings++] = (struct pricing){NULL, true};
    if (q->n_pricings) return FR_OK;
    const char *near = fr_suggest(name, known);
    return fr_fail(err, FR_ERR_USAGE, "--algorithm", "no algorithm \"%.40s\" for %s%s%s%s",
                   name, fr_op_names[q->op],
                   near ? "; did you mean \"" : "; see forerun list collectives",
                   near ? near : "", near ? "\"?" : "");
}

static const double moved = 0.02; /* logarithm by which a value is moved */

static struct row price_on(const struct fr_group *group, const struct fr_price *own,
                           const struct pricing *by, double size_B) {
    struct fr_collective_args a = fr_group_args(group, size_B);
    struct row row = {.size_B = size_B, .algorithm = own->form->name};
    if (by->algorithm) {
        row.time_s = group->n_ranks > 1 ? by->algorithm->time_s(&a) : 0;
        row.algorithm = by->algorithm->name;
    } else if (by->automatic ||
               (own->form == &fr_form_algorithm && !own->algorithm && !own->own_link)) {
        const struct fr_collective *fastest = fr_collective_fastest(own->op, &a);
        row.time_s = fastest->time_s(&a);
        row.algorithm = fastest->name;
    } else {
        row.time_s = fr_comm_time_s(own, group, size_B, &row.extrapolated);
        if (!fr_comm_counts(own, group))
            row.algorithm = fr_collective_fastest(own->op, &a)->name;
        else if (own->algorithm)
            row.algorithm = own->algorithm->name;
    }
    return row;
}

/* Half a 90 % interval of what the file's values of links make unsure, in logarithms: each moves the time by itself. */
static double unsure_half(const struct query *q, const struct fr_price *own,
                          const struct pricing *by, const struct row *row) {
    double variance = 0;
    for (int k = 0; k < q->n_unsure && row->time_s > 0; k++) {
        double moved_s = price_on(&q->unsure[k].group, own, by, row->size_B).time_s;
        variance += pow(q->unsure[k].sigma * log(moved_s / row->time_s) / moved, 2);
    }
    return log(fr_spread_reach(sqrt(variance)));
}

static struct row price(const struct fr_cluster *cluster, const struct query *q,
                        const struct pricing *by, double size_B) {
    const struct fr_price *own = &cluster->price[q->op];
    struct row row = price_on(&q->group, own, by, size_B);
    row.low_s = row.high_s = row.time_s;
    if (!by->algorithm && !by->automatic)
        fr_price_interval(own, &q->group, size_B, row.time_s, &row.low_s, &row.high_s);
    bool levels = by->algorithm || by->automatic;
    fr_collective_widen(cluster, levels ? fr_form_algorithm.name : own->form->name,
                        unsure_half(q, own, by, &row), row.time_s, &row.low_s, &row.high_s);
    /* A hypervisor or a container may withhold the switch's sums; then rings run, and the slow end is theirs. */
    if (!by->algorithm && strcmp(row.algorithm, "switch") == 0) {
        struct pricing rings = {fr_collective_find(q->op, "rail_ring"), false};
        row.high_s = fmax(row.high_s, price(cluster, q, &rings, size_B).high_s);
    }
    row.algbw = row.time_s > 0 ? size_B / row.time_s : 0;
    row.busbw = row.algbw * fr_op_bus_factor(q->op, q->group.n_ranks);
    return row;
}

static void print_json_row(struct fr_json_writer *w, const struct row *r) {
    fr_json_begin_object(w);
    fr_json_add_number(w, "size_B", r->size_B);
    fr_json_add_number(w, "time_s", r->time_s);
    fr_json_add_interval(w, "_s", r->low_s, r->high_s);
    fr_json_add_number(w, "algbw_B_per_s", r->algbw);
    fr_json_add_number(w, "busbw_B_per_s", r->busbw);
    fr_json_add_string(w, "algorithm", r->algorithm);
    fr_json_add_bool(w, "extrapolated", r->extrapolated);
    fr_json_end_object(w);
}

static void print_json(struct fr_text *text, const struct fr_cluster *cluster,
                       const struct query *q) {
    struct fr_json_writer w = {.text = text, .indent = 2};
    fr_json_begin_object(&w);
    fr_json_add_string(&w, "schema", "forerun/collective/1");
    fr_json_add_string(&w, "op", fr_op_names[q->op]);
    fr_json_add_integer(&w, "ranks", q->group.n_ranks);
    fr_runtime_put(cluster, &w);
    fr_calibration_put(&cluster->calibration, &w);
    fr_json_add_array(&w, "rows");
    for (size_t i = 0; i < q->n_sizes; i++)
        for (int p = 0; p < q->n_pricings; p++) {
            struct row r = price(cluster, q, &q->pricing[p], (double)q->sizes[i]);
            print_json_row(&w, &r);
        }
    fr_json_end_array(&w);
    fr_json_end_object(&w);
}

static void print_csv(struct fr_text *text, const struct fr_cluster *cluster,
                      const struct query *q) {
    fr_text_addf(text, "op,ranks,size_B,time_s,low_s,high_s,algbw_B_per_s,busbw_B_per_s,"
                       "algorithm,extrapolated\r\n");
    for (size_t i = 0; i < q->n_sizes; i++)
        for (int p = 0; p < q->n_pricings; p++) {
            struct row r = price(cluster, q, &q->pricing[p], (double)q->sizes[i]);
            fr_text_addf(text, "%s,%lld,%.0f,%.9g,%.9g,%.9g,%.9g,%.9g,%s,%s\r\n",
                         fr_op_names[q->op], (long long)q->group.n_ranks, r.size_B, r.time_s,
                         r.low_s, r.high_s, r.algbw, r.busbw, r.algorithm,
                         r.extrapolated ? "true" : "false");
        }
}

/* The software, and what the calibration says of itself, as lines of comment. */
static void print_inputs(struct fr_text *text, const struct fr_cluster *cluster) {
    struct fr_text message = {0}, lines = {0};
    char software[FR_RUNTIME_LINE];
    fr_text_addf(&lines, "software ");
    fr_wrap(&lines, fr_runtime_line(cluster, software, sizeof software), 11, 0, FR_COLUMNS - 2);
    fr_calibration_tell(&cluster->calibration, &message);
    if (message.length) {
        fr_text_addf(&lines, "\n");
        fr_wrap(&lines, fr_text_get(&message), 2, 0, FR_COLUMNS - 2);
    }
    for (const char *line = lines.length ? fr_text_get(&lines) : NULL; line;) {
        size_t length = strcspn(line, "\n");
        fr_text_addf(text, "# %.*s\n", (int)length, line);
        line = line[length] ? line + length + 1 : NULL;
    }
    text->failed = text->failed || message.failed || lines.failed;
    fr_text_free(&message);
    fr_text_free(&lines);
}

static void print_table(struct fr_text *text, const struct fr_cluster *cluster,
                        const struct query *q) {
    bool extrapolated = false;
    print_inputs(text, cluster);
    if (cluster->calibration.oversubscribed)
        fr_text_addf(text, "# caution: measured with more ranks than cores\n");
    fr_text_addf(text, "# %s, %lld ranks, innermost level \"%s\"; bandwidths in GB/s\n",
                 fr_op_names[q->op], (long long)q->group.n_ranks,
                 cluster->levels.level[q->group.level].name);
    fr_text_addf(text, "# %9s %9s %9s %9s %6s %6s   %s\n", "size [B]", "time [us]", "low [us]",
                 "high [us]", "algbw", "busbw", "algorithm");
    for (size_t i = 0; i < q->n_sizes; i++)
        for (int p = 0; p < q->n_pricings; p++) {
            struct row r = price(cluster, q, &q->pricing[p], (double)q->sizes[i]);
            fr_text_addf(text, "%11.0f %9.2f %9.2f %9.2f %6.2f %6.2f %s %s\n", r.size_B,
                         r.time_s * 1e6, r.low_s * 1e6, r.high_s * 1e6, r.algbw * 1e-9,
                         r.busbw * 1e-9, r.extrapolated ? "x" : " ", r.algorithm);
            extrapolated = extrapolated || r.extrapolated;
        }
    if (extrapolated) fr_text_addf(text, "# x: lies outside what was measured\n");
}

/* All groups that there are, or only so many (@p groups > 0), in the order of a mesh's axis (topology/communicator.h). */
static fr_status at_once(const struct fr_job *job, int64_t ranks, int64_t stride,
                         int64_t groups, struct fr_group *group, struct fr_error *err) {
    if (groups == 0) {
        *group = fr_group_make(&job->cluster.levels, ranks, stride);
        return FR_OK;
    }
    const struct fr_communicator c = {.n_ranks = ranks, .stride = stride, .n_groups = groups};
    int64_t all = fr_levels_capacity(&job->cluster.levels);
    double spans = (double)((groups + stride - 1) / stride);
    if (spans * (double)stride * (double)ranks > (double)all)
        return fr_fail(
            err, FR_ERR_INPUT, job->cluster_from,
            "%lld groups of %lld ranks, %lld apart, are asked for, the cluster holds "
            "%lld ranks",
            (long long)groups, (long long)ranks, (long long)stride, (long long)all);
    return fr_group_of(&job->cluster.levels, &c, group, err);
}

/* The group, and, where the file says how unsure its values are, what it would be with each value of the links moved: by
 * its prior where none is stated, as in predictions. */
static fr_status make_groups(struct fr_job *job, struct query *q, struct fr_error *err) {
    FR_TRY(at_once(job, q->ranks, q->stride, q->groups, &q->group, err));
    bool stated = job->cluster.uncertainty.present || job->cluster.tuning.present;
    for (int j = 0; stated && j < fr_coefficient_count(); j++) {
        double *at = fr_coefficient_at(j, &job->cluster, FR_BF16);
        if (fr_coefficients[j].group != FR_GROUP_NETWORK || !at) continue;
        struct unsure *u = &q->unsure[q->n_unsure++];
        double value = *at;
        u->sigma = fr_interval_width(&job->cluster, j, FR_BF16);
        *at = value * exp(moved);
        fr_status status = at_once(job, q->ranks, q->stride, q->groups, &u->group, err);
        *at = value;
        FR_TRY(status);
    }
    return FR_OK;
}

/* Ranks of the smallest job whose groups lie side by side. */
static int64_t reach(long long ranks, long long stride, long long groups) {
    double spans = groups ? (double)((groups + stride - 1) / stride) : 1,
           all = spans * (double)stride * (double)ranks;
    return all < (double)FR_RANKS_MAX ? (int64_t)all : FR_RANKS_MAX;
}

static fr_status collective(const struct fr_args *args, struct fr_job *job, struct query *q,
                            struct fr_error *err) {
    const char *given = NULL, *size = fr_args_get(args, "size");
    struct fr_text text = {0}, page = {0};
    long long ranks = 1, stride = 1, groups = 0;
    int op = 0;
    FR_TRY(fr_args_required(args, "op", &given, err));
    FR_TRY(fr_args_choice(args, "op", fr_op_names, &op, err));
    FR_TRY(fr_args_required(args, "ranks", &given, err));
    FR_TRY(fr_args_integer(args, "ranks", 1, FR_RANKS_MAX, &ranks, err));
    FR_TRY(fr_args_integer(args, "stride", 1, FR_RANKS_MAX, &stride, err));
    FR_TRY(fr_args_integer(args, "groups", 1, FR_RANKS_MAX, &groups, err));
    FR_TRY(fr_range_parse(size ? size : "8..16MiB*2", true, 0, "--size", &q->sizes, &q->n_sizes,
                          err));
    FR_TRY(fr_app_load(args, false, job, err));
    job->cluster.levels =
        fr_levels_take(&job->cluster.levels, reach(ranks, stride, groups), FR_UNITS_SEGMENTS);
    if ((double)ranks * (double)stride - (double)stride >=
        (double)fr_levels_capacity(&job->cluster.levels))
        return fr_fail(err, FR_ERR_INPUT, job->cluster_from,
                       "%lld ranks are asked for, the cluster holds %lld%s", ranks,
                       (long long)fr_levels_capacity(&job->cluster.levels),
                       job->cluster.levels.count > 1
                           ? ""
                           : " in one node, and what was measured there says nothing of a "
                             "network; measure over several nodes, or give its levels to "
                             "forerun fit --base");
    q->op = (fr_op)op;
    q->ranks = ranks, q->stride = stride, q->groups = groups;
    FR_TRY(make_groups(job, q, err));
    FR_TRY(choose_pricing(fr_args_get(args, "algorithm"), q, err));
    if (fr_args_has(args, "json"))
        print_json(&text, &job->cluster, q);
    else if (fr_args_has(args, "csv"))
        print_csv(&text, &job->cluster, q);
    else
        print_table(&text, &job->cluster, q);
    if (fr_app_paged(args)) print_json(&page, &job->cluster, q);
    return fr_app_answer(args, &text, &page, err);
}

static fr_status run(const struct fr_args *args, struct fr_error *err) {
    struct fr_job job = {0};
    struct query q = {0};
    fr_status status = collective(args, &job, &q, err);
    free(q.sizes);
    fr_job_free(&job);
    return status;
}

const struct fr_verb fr_verb_collective = {
    .name = "collective",
    .summary = "time and bandwidth of a collective over message sizes",
    .usage =
        "--cluster C --op NAME --ranks N [--size RANGE] [--algorithm NAME|all] [--json|--csv]",
    .details = "The form in the cluster file prices the operation where it was measured. The "
               "algorithm\n"
               "column then shows \"log\" or \"segments\". Elsewhere the fastest algorithm by "
               "the levels is\n"
               "used. --algorithm prices one algorithm from the levels, and \"all\" shows them "
               "side by side.\n",
    .options = options,
    .words = FR_WORDS_OPTIONS,
    .run = run,
};
