#include "models/network/comm.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/json/quantity.h"

#define FR_FORM(name) extern const struct fr_form fr_form_##name;
#include "models/network/form_list.h"
#undef FR_FORM

const struct fr_form *const fr_forms[] = {
#define FR_FORM(name) &fr_form_##name,
#include "models/network/form_list.h"
#undef FR_FORM
    NULL};

struct fr_collective_args fr_group_args(const struct fr_group *group, double size_B) {
    return (struct fr_collective_args){.n_ranks = group->n_ranks,
                                       .ranks_per_node = group->ranks_per_node,
                                       .size_B = size_B,
                                       .inner = group->inner,
                                       .outer = group->outer,
                                       .ring = group->ring,
                                       .rails = group->rails,
                                       .inside = group->inside,
                                       .between = group->between,
                                       .hops_inside = group->hops_inside,
                                       .hops_between = group->hops_between,
                                       .fewest = group->fewest,
                                       .nodes = group->nodes};
}

/* Tools count a message in two ways: all of it, or a rank's part of it. Sizes here are of the whole; a form fitted to
 * the other count is asked with that. */
double fr_price_message_B(const struct fr_price *price, int64_t n_ranks, double size_B) {
    bool divided = price->op == FR_OP_ALL_GATHER || price->op == FR_OP_REDUCE_SCATTER ||
                   price->op == FR_OP_ALL_TO_ALL || price->op == FR_OP_SCATTER ||
                   price->op == FR_OP_GATHER;
    return price->per_rank && divided ? size_B / (double)n_ranks : size_B;
}

static fr_status domain_read(const struct fr_json *node, struct fr_price_domain *d,
                             struct fr_error *err) {
    static const char *const keys[] = {"min_ranks", "max_ranks",     "min", "max",
                                       "one_node",  "several_nodes", NULL};
    FR_TRY(fr_json_object(node, keys, err));
    FR_TRY(fr_json_get_integer(node, "min_ranks", true, 2, FR_RANKS_MAX, &d->min_ranks, err));
    FR_TRY(fr_json_get_integer(node, "max_ranks", true, d->min_ranks, FR_RANKS_MAX,
                               &d->max_ranks, err));
    FR_TRY(fr_json_get_quantity(node, "min", true, FR_QUANTITY_SIZE, 0, 1e18, &d->min_B, err));
    FR_TRY(fr_json_get_quantity(node, "max", true, FR_QUANTITY_SIZE, d->min_B, 1e18, &d->max_B,
                                err));
    FR_TRY(fr_json_get_bool(node, "one_node", true, &d->one_node, err));
    FR_TRY(fr_json_get_bool(node, "several_nodes", true, &d->several_nodes, err));
    d->stated = true;
    return FR_OK;
}

static void domain_write(const struct fr_price_domain *d, struct fr_json_writer *w) {
    fr_json_add_object(w, "domain");
    fr_json_add_integer(w, "min_ranks", d->min_ranks);
    fr_json_add_integer(w, "max_ranks", d->max_ranks);
    fr_json_add_quantity(w, "min", d->min_B, FR_QUANTITY_SIZE);
    fr_json_add_quantity(w, "max", d->max_B, FR_QUANTITY_SIZE);
    fr_json_add_bool(w, "one_node", d->one_node);
    fr_json_add_bool(w, "several_nodes", d->several_nodes);
    fr_json_end_object(w);
}

static bool by_levels(const struct fr_price *price) {
    return price->form->by_levels && price->form->by_levels(price);
}

/* Does the measured form say anything of such a group? A form fitted inside a node knows nothing of the network
 * between nodes, however well it fits. */
bool fr_comm_counts(const struct fr_price *price, const struct fr_group *group) {
    const struct fr_price_domain *d = &price->domain;
    bool several = group->level > 0;
    if (by_levels(price)) return true;
    if (price->one_level && price->level != group->level) return false;
    if (d->stated && !(several ? d->several_nodes : d->one_node)) return false;
    return !price->form->measured || price->form->measured(price, group->level);
}

static bool inside_domain(const struct fr_price_domain *d, int64_t n_ranks, double size_B) {
    const double slack = 1e-9;
    if (!d->stated) return true;
    return n_ranks >= d->min_ranks && n_ranks <= d->max_ranks &&
           size_B >= d->min_B * (1 - slack) && size_B <= d->max_B * (1 + slack);
}

/* Time by the form on the links that it was measured over, carried to the present links.  Any form of latency and
 * bytes alone, t = f(alpha, n beta), is scaled by its dimensions: with alpha' = a alpha and beta' = b beta
 *
 *     t'(n) = a t(n b / a)                                                       (our derivation) */
static double form_time_s(const struct fr_price *price, const struct fr_group *group,
                          double size_B, bool *extrapolated) {
    struct fr_link_ratio r = group->changed;
    bool same = fabs(r.latency - 1) <= 0 && fabs(r.per_byte - 1) <= 0;
    if (!(r.latency > 0) || same || by_levels(price))
        return price->form->time_s(price, group, size_B, extrapolated);
    return r.latency *
           price->form->time_s(price, group, size_B * r.per_byte / r.latency, extrapolated);
}

double fr_comm_levels_s(const struct fr_price *price, const struct fr_group *group,
                        double size_B) {
    struct fr_collective_args args = fr_group_args(group, size_B);
    return fr_collective_fastest_s(price->op, &args);
}

/* The one place where a collective becomes seconds: by its measured form where it covers the group, else by the
 * fastest algorithm's closed form on the links (models/network/collective/). Outside the measured ranks and sizes the
 * form still answers, and the answer is marked extrapolated. */
double fr_comm_time_s(const struct fr_price *price, const struct fr_group *group, double size_B,
                      bool *extrapolated) {
    double time_s;
    if (group->n_ranks <= 1) return 0;
    if (!fr_comm_counts(price, group)) {
        time_s = fr_comm_levels_s(price, group, size_B);
        if (!price->one_level) *extrapolated = true;
    } else {
        if (!inside_domain(&price->domain, group->n_ranks, size_B)) *extrapolated = true;
        time_s = form_time_s(price, group, size_B, extrapolated);
    }
    return price->shift == 0 ? time_s : fr_price_shifted_s(price, group, size_B, time_s);
}

/* Octaves by which the ranks lie outside. */
static double outside(const struct fr_price_domain *d, int64_t n_ranks) {
    if (!d->stated) return 0;
    if (n_ranks > d->max_ranks) return log2((double)n_ranks / (double)d->max_ranks);
    return n_ranks < d->min_ranks ? log2((double)d->min_ranks / (double)n_ranks) : 0;
}

/* Half a 90 % interval for the doublings of the size beyond the domain, in log2 of time. */
static double size_reach(const struct fr_price *price, double size_B) {
    const double normal_90 = 1.645;
    if (!price->domain.stated || !(price->domain.max_B > 0)) return 0;
    return normal_90 * price->beyond_octave * fmax(0, log2(size_B / price->domain.max_B)) /
           log(2);
}

/* The level that a form with "level" was measured at, for all others the levels price. */
static fr_status level_read(const struct fr_json *object, const struct fr_levels *levels,
                            struct fr_price *price, struct fr_error *err) {
    struct fr_json level = fr_json_member(object, "level");
    const char *name = NULL;
    if (!fr_json_present(&level)) return FR_OK;
    FR_TRY(fr_json_text(&level, &name, err));
    price->one_level = true;
    price->level = fr_levels_find(levels, name);
    return price->level < 0 ? fr_json_fail(&level, err, "names no level of this cluster")
                            : FR_OK;
}

static fr_status price_read(const struct fr_json *object, const struct fr_levels *levels,
                            struct fr_price *price, struct fr_error *err) {
    const char *names[8] = {NULL};
    int which = 0;
    for (int i = 0; fr_forms[i]; i++) names[i] = fr_forms[i]->name;
    if (!fr_json_is_object(object))
        return fr_json_fail(object, err, "expected an object with a \"form\"");
    FR_TRY(fr_json_get_choice(object, "form", true, names, &which, err));
    struct fr_json residuals = fr_json_member(object, "residuals");
    if (fr_json_present(&residuals)) {
        static const char *const keys[] = {"median", "p90", "points", "beyond_octave", NULL};
        FR_TRY(fr_json_object(&residuals, keys, err));
        FR_TRY(fr_json_get_number(&residuals, "beyond_octave", false, 0, 10,
                                  &price->beyond_octave, err));
        FR_TRY(fr_json_get_number(&residuals, "median", false, 0, 1e9, &price->residual_median,
                                  err));
        FR_TRY(fr_json_get_number(&residuals, "p90", false, 0, 1e9, &price->residual_p90, err));
        int64_t points = 0;
        FR_TRY(fr_json_get_integer(&residuals, "points", false, 0, 1 << 30, &points, err));
        price->residual_points = (int)points;
    }
    FR_TRY(level_read(object, levels, price, err));
    struct fr_json domain = fr_json_member(object, "domain");
    if (fr_json_present(&domain)) FR_TRY(domain_read(&domain, &price->domain, err));
    price->form = fr_forms[which];
    return price->form->read(object, levels, price, err);
}

fr_status fr_comm_read(const struct fr_json *object, const struct fr_levels *levels,
                       struct fr_price price[FR_OP_COUNT], struct fr_error *err) {
    bool present = fr_json_present(object);
    if (present) FR_TRY(fr_json_object(object, fr_op_names, err));
    for (int op = 0; op < FR_OP_COUNT; op++) {
        price[op].op = (fr_op)op;
        price[op].form = &fr_form_algorithm;
        price[op].residual_median = price[op].residual_p90 = -1;
        if (!present) continue;
        struct fr_json one = fr_json_member(object, fr_op_names[op]);
        if (fr_json_present(&one)) FR_TRY(price_read(&one, levels, &price[op], err));
    }
    return FR_OK;
}

void fr_price_free(struct fr_price *price) {
    for (int i = 0; i < price->n_fits; i++) free(price->fits[i].segments);
    free(price->fits);
    fr_similarity_free(&price->similarity);
    *price = (struct fr_price){0};
}

void fr_comm_free(struct fr_price price[FR_OP_COUNT]) {
    for (int op = 0; op < FR_OP_COUNT; op++) fr_price_free(&price[op]);
}

void fr_price_write(const struct fr_price *price, const struct fr_levels *levels,
                    struct fr_json_writer *w) {
    fr_json_begin_object(w);
    fr_json_add_string(w, "form", price->form->name);
    if (price->one_level) fr_json_add_string(w, "level", levels->level[price->level].name);
    price->form->write(price, levels, w);
    if (price->domain.stated) domain_write(&price->domain, w);
    if (price->residual_median >= 0) {
        fr_json_add_object(w, "residuals");
        fr_json_add_number(w, "median", price->residual_median);
        fr_json_add_number(w, "p90", price->residual_p90);
        fr_json_add_integer(w, "points", price->residual_points);
        if (price->beyond_octave > 0)
            fr_json_add_number(w, "beyond_octave",
                               floor(price->beyond_octave * 1e4 + 0.5) / 1e4);
        fr_json_end_object(w);
    }
    fr_json_end_object(w);
}

/* t 2^-hypot(fast, further) to t 2^hypot(slow, further): errors of the fit and of sizes beyond it are independent. */
void fr_price_interval(const struct fr_price *price, const struct fr_group *group,
                       double size_B, double time_s, double *low_s, double *high_s) {
    double fast = 0, slow = 0;
    bool known = group->n_ranks > 1 && price->form->interval && fr_comm_counts(price, group) &&
                 price->form->interval(price, group, size_B, &fast, &slow);
    if (!known) {
        /* Per octave of ranks outside, what forms of one line were seen to miss by. */
        double fit = price->residual_p90 > 0 ? log2(1 + price->residual_p90) : 0;
        double octaves = outside(&price->domain, group->n_ranks);
        fast = hypot(fit, 0.4 * octaves);
        slow = hypot(fit, 0.6 * octaves);
    }
    double further = size_reach(price, size_B);
    *low_s = time_s * exp2(-hypot(fast, further));
    *high_s = time_s * exp2(hypot(slow, further));
}

bool fr_price_uncertain(const struct fr_price *price) {
    return price->form->interval || price->residual_p90 > 0 || price->domain.stated;
}

/* `shift` counts standard deviations: t exp(shift sigma), sigma = ln(high / low) / (2 1.645). */
double fr_price_shifted_s(const struct fr_price *price, const struct fr_group *group,
                          double size_B, double time_s) {
    const double normal_90 = 1.645;
    double low_s, high_s;
    fr_price_interval(price, group, size_B, time_s, &low_s, &high_s);
    if (!(low_s > 0)) return time_s;
    return time_s * exp(price->shift * log(high_s / low_s) / (2 * normal_90));
}
