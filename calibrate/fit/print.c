/* How well each form fits, for a person. */
#include <inttypes.h>
#include <string.h>

#include "calibrate/fit/parts.h"

/* A relative error in at most four characters: those of a sample that an interruption made a
 * thousand times too long must not push a table past its columns. */
static void add_error(double error, int decimals, struct fr_text *text) {
    if (100 * error >= 999.5)
        fr_text_addf(text, "%5s", ">999");
    else
        fr_text_addf(text, "%5.*f", 100 * error < 99.95 ? decimals : 0, 100 * error);
}

static void add_cell(const struct fr_fit_quality *quality, bool present, struct fr_text *text) {
    if (present && quality->n > 0) {
        add_error(quality->median, 1, text);
        add_error(quality->p90, 0, text);
    } else {
        fr_text_addf(text, "%10s", "-");
    }
}

static void add_curve(const struct fr_fit_op *op, const struct fr_fit_curve *curve,
                      struct fr_text *text) {
    const struct fr_fit_point *first = curve->points;
    fr_text_addf(text, "%-14s %-6s%5" PRId64 "%4d", fr_op_names[first->op],
                 fr_sample_level_names[first->level], first->n_ranks, curve->n_points);
    add_cell(&curve->log_ordinary, op->log_ordinary.present, text);
    for (int f = FR_FIT_LOG; f < FR_FIT_FORMS; f++)
        add_cell(&curve->quality[f], op->candidate[f].price.form != NULL, text);
    fr_text_addf(text, "\n");
}

static void add_held(const char *what, const struct fr_fit_op *op, bool ranks,
                     struct fr_text *text) {
    bool any = false;
    for (int f = FR_FIT_LOG; f < FR_FIT_FORMS; f++) {
        const struct fr_fit_candidate *c = &op->candidate[f];
        any = any || (ranks ? c->held_ranks.n : c->held_sizes.n) > 0;
    }
    if (!any) return;
    fr_text_addf(text, "%-14s %-6s %-18s", fr_op_names[op->points->op], what,
                 ranks ? "" : fr_fit_form_names[op->chosen]);
    for (int f = FR_FIT_LOG; f < FR_FIT_FORMS; f++) {
        const struct fr_fit_candidate *c = &op->candidate[f];
        add_cell(ranks ? &c->held_ranks : &c->held_sizes, c->price.form != NULL, text);
    }
    fr_text_addf(text, "\n");
}

/* A sort's passes, over the smallest and the largest set. */
static void print_selection(const struct fr_fit_working_sets *sets, struct fr_text *text) {
    const double *s_per_B = sets->s_per_B[FR_TRAFFIC_SELECT];
    char fast[32], slow[32];
    if (!sets->selects) return;
    fr_text_addf(
        text, "top-k's sort: %s over the smallest set, %s over the largest\n",
        fr_quantity_format(1 / s_per_B[0], FR_QUANTITY_RATE, fast, sizeof fast),
        fr_quantity_format(1 / s_per_B[sets->n - 1], FR_QUANTITY_RATE, slow, sizeof slow));
}

/* Rates of element-wise passes and of the optimiser, and what operands add to products. */
static void print_working_sets(const struct fr_fit_working_sets *sets, struct fr_text *text) {
    char size[32], rate[32];
    if (sets->n < 2) return;
    fr_text_addf(text, "working set");
    for (int kind = 0; kind < FR_TRAFFIC_SELECT; kind++)
        fr_text_addf(text, " %10s", fr_traffic_names[kind]);
    fr_text_addf(text, "  operands\n");
    for (int i = 0; i < sets->n; i++) {
        fr_text_addf(text, "%11s",
                     fr_quantity_format(sets->size_B[i], FR_QUANTITY_SIZE, size, sizeof size));
        for (int kind = 0; kind < FR_TRAFFIC_SELECT; kind++)
            fr_text_addf(text, " %10s",
                         fr_quantity_format(1 / sets->s_per_B[kind][i], FR_QUANTITY_RATE, rate,
                                            sizeof rate));
        double extra = sets->s_per_B[FR_TRAFFIC_OPERANDS][i];
        fr_text_addf(text, "  %s\n",
                     extra > 0
                         ? fr_quantity_format(1 / extra, FR_QUANTITY_RATE, rate, sizeof rate)
                         : "as in cache");
    }
    print_selection(sets, text);
}

static void add_spread(const struct fr_fit_result *result, struct fr_text *text) {
    int unsure = 0, slow = 0, samples = 0;
    for (int i = 0; i < result->n_points; i++) {
        unsure += result->points[i].uncertainty > 0.05;
        slow += result->points[i].n_slow;
        samples += result->points[i].n;
    }
    fr_text_addf(text,
                 "%d points, %d samples; %d medians known no better than 5 %%;\n"
                 "  %d samples disturbed (kept)\n",
                 result->n_points, samples, unsure, slow);
}

static void print_disturbance(const struct fr_fit_speed *speed, struct fr_text *text) {
    char every[32], length[32];
    if (speed->n > 0)
        fr_text_addf(text,
                     "usually products take %.2f, memory %.2f of the time that they take when\n"
                     "  the machine is fast (%zu probes)\n",
                     speed->usual_products, speed->usual_memory, speed->n);
    if (speed->interruptions.every_s > 0)
        fr_text_addf(text,
                     "a rank is interrupted every %s of its work for %s;\n"
                     "  products lost %.1f %% to it\n",
                     fr_quantity_format(speed->interruptions.every_s, FR_QUANTITY_TIME, every,
                                        sizeof every),
                     fr_quantity_format(speed->interruptions.length_s, FR_QUANTITY_TIME, length,
                                        sizeof length),
                     100 * speed->lost);
}

/* The power of a rank by kind of work, or that it was not measured. */
static void print_power(const struct fr_fit_result *result, struct fr_text *text) {
    static const struct {
        int state;
        const char *words;
    } kinds[] = {{FR_POWER_BUSY, "products"},
                 {FR_POWER_MEMORY, "memory"},
                 {FR_POWER_COMMUNICATING, "collectives"},
                 {FR_POWER_AWAITING, "waiting"},
                 {FR_POWER_IDLE, "idle"}};
    const char *before = "power of a rank: ";
    char watts[32];
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        double power_W = result->work_W[kinds[i].state];
        if (!(power_W > 0)) continue;
        fr_text_addf(text, "%s%s %s", before, kinds[i].words,
                     fr_quantity_format(power_W, FR_QUANTITY_POWER, watts, sizeof watts));
        before = i == 2 ? ",\n  " : ", ";
    }
    fr_text_addf(text, "%s\n",
                 *before == ',' ? "" : "power: no meter was read and no clock set");
    if (result->clock.known)
        fr_text_addf(text,
                     "clock %.4g to %.4g GHz: %.0f %% of the power and %.0f %% of the time of "
                     "products\n  do not go with it\n",
                     result->clock.min_Hz / 1e9, result->clock.max_Hz / 1e9,
                     100 * result->clock.static_share, 100 * result->clock.fixed_share);
}

static void print_left_out(int dtype, int n, const char *why, struct fr_text *text) {
    if (n > 0)
        fr_text_addf(text, "products %s: %d left out, %s\n", fr_dtype_names[dtype], n, why);
}

static void print_singles(const struct fr_fit_result *result, struct fr_text *text) {
    for (int d = 0; d < FR_DTYPE_COUNT; d++) {
        const struct fr_fit_singles *s = &result->singles[d];
        print_left_out(d, s->beyond_peak,
                       "faster than the device's peak: their times, dtype or --base is wrong",
                       text);
        print_left_out(d, s->too_short,
                       "as short as ten launches: their times say as much of those", text);
        if (s->n == 0) continue;
        fr_text_addf(text, "products %s: %d%s, to the base's form:\n ", fr_dtype_names[d], s->n,
                     result->card.present ? "" : " of others");
        for (int k = 0; k < FR_PRODUCT_VALUES; k++)
            fr_text_addf(text, " %s %.4g (a deviation of %.0f %%)%s", s->names[k], s->value[k],
                         100 * s->sigma[k], k + 1 < FR_PRODUCT_VALUES ? "," : "\n");
        fr_text_addf(text, "  errors: median %.1f %%, p90 %.1f %%\n", 100 * s->quality.median,
                     100 * s->quality.p90);
        if (s->held_out.n > 0)
            fr_text_addf(text, "  every second from the others: median %.1f %%, p90 %.1f %%\n",
                         100 * s->held_out.median, 100 * s->held_out.p90);
        if (s->n_grouped > 0)
            fr_text_addf(
                text,
                "  %d samples of several at once: %.4g of that rate (a deviation of %.1f %%)\n",
                s->n_grouped, s->grouped, 100 * s->grouped_spread);
        if (s->n_blocks > 0)
            fr_text_addf(text,
                         "  %d with scales of blocks: %.3g times as long as with one a tensor, "
                         "which is what is priced\n",
                         s->n_blocks, s->blocks);
        fr_text_addf(
            text, "  m %.6g to %.6g, n %.6g to %.6g, k %.6g to %.6g: beyond is extrapolated\n",
            s->least[0], s->most[0], s->least[1], s->most[1], s->least[2], s->most[2]);
    }
}

/* One value of an accelerator, or that it is the base's. */
static void print_value(const char *name, double value, fr_quantity quantity,
                        struct fr_text *text) {
    char written[32];
    fr_text_addf(text, "%s %s", name,
                 value > 0 ? fr_quantity_format(value, quantity, written, sizeof written)
                           : "as the base says");
}

static void print_attention(const struct fr_fit_attention *a, struct fr_text *text) {
    fr_text_addf(text, "attention: %d kernels", a->n);
    if (a->flash > 0)
        fr_text_addf(text,
                     "; forward %.3g of the peak (a deviation of %.1f %%), half of it at %.0f "
                     "keys",
                     a->flash, 100 * a->flash_spread, a->half_keys);
    if (a->backward > 0)
        fr_text_addf(text, ",\n  backward %.3g of that rate (%.1f %%)", a->backward,
                     100 * a->backward_spread);
    if (a->exponentials > 0)
        fr_text_addf(text, ", heads narrower than %.0f values slower", a->exponentials);
    if (a->backward_keys > 0)
        fr_text_addf(text, ";\n  backward half of it at %.0f keys", a->backward_keys);
    if (a->flash_2 > 0) fr_text_addf(text, "; FlashAttention-2 %.3g", a->flash_2);
    if (a->flash_2_backward > 0)
        fr_text_addf(text, ", backward %.3g of that", a->flash_2_backward);
    fr_text_addf(text, "\n");
}

/* Pairs and groups of a mesh at once: 1 where they share no link. */
static void print_at_once(const struct fr_fit_card *card, struct fr_text *text) {
    for (int i = 0; i < card->n_at_once; i++) {
        const struct fr_fit_at_once *a = &card->at_once[i];
        if (a->op == FR_OP_SEND_RECV)
            fr_text_addf(text,
                         "%" PRId64 " pairs at once (%s, %s): %.3g times as long as one\n",
                         a->n, fr_sample_level_names[a->level],
                         fr_sample_direction_names[a->layout], a->slower);
        else
            fr_text_addf(text,
                         "%s in %" PRId64 " groups of %" PRId64
                         " at once (%s, %s): %.3g times as long as in one\n",
                         fr_op_names[a->op], a->n, a->n_ranks, fr_sample_level_names[a->level],
                         fr_sample_layout_names[a->layout], a->slower);
    }
}

static void print_card(const struct fr_fit_result *result, struct fr_text *text) {
    const struct fr_fit_card *card = &result->card;
    print_value("memory", card->memory_B, FR_QUANTITY_SIZE, text);
    print_value(" at", card->memory_rate_B_per_s, FR_QUANTITY_RATE, text);
    if (card->memory_spread > 0)
        fr_text_addf(text, " (other passes: a deviation of %.1f %%)",
                     100 * card->memory_spread);
    print_value(";\n  launch", card->launch_s, FR_QUANTITY_TIME, text);
    print_value(", in a graph", card->graph_s, FR_QUANTITY_TIME, text);
    print_value("; host link", card->link_rate_B_per_s, FR_QUANTITY_RATE, text);
    if (card->interference > 0)
        fr_text_addf(text, ";\n  a product loses %.3g of the time of a collective beside it",
                     card->interference);
    fr_text_addf(text, "\n");
    print_at_once(card, text);
    print_power(result, text);
    if (result->attention.n > 0) print_attention(&result->attention, text);
    fr_text_addf(text, "of the base:%s links%s, products but",
                 result->attention.n > 0 ? "" : " attention,",
                 result->n_points > 0 ? " and collectives that were not measured"
                                      : ", collectives");
    for (int d = 0, n = 0; d < FR_DTYPE_COUNT; d++)
        if (result->singles[d].n > 0)
            fr_text_addf(text, "%s%s", n++ ? ", " : " ", fr_dtype_names[d]);
    fr_text_addf(text, "\n");
}

/* Algorithm and protocol that a library chose, and from which size on another. */
static void print_choices(const struct fr_fit_curve *curve, struct fr_text *text) {
    char size[32];
    const char *last = NULL;
    for (int i = 0; i < curve->n_points; i++) {
        const struct fr_fit_point *p = &curve->points[i];
        if (!*p->choice || (last && strcmp(last, p->choice) == 0)) continue;
        if (!last)
            fr_text_addf(text, "chosen for %s of %" PRId64 " ranks (%s): %s",
                         fr_op_names[p->op], p->n_ranks, fr_sample_level_names[p->level],
                         p->choice);
        else
            fr_text_addf(text, ", from %s %s",
                         fr_quantity_format(p->size_B, FR_QUANTITY_SIZE, size, sizeof size),
                         p->choice);
        last = p->choice;
    }
    if (last) fr_text_addf(text, "\n");
}

static void add_device(const struct fr_fit_result *result, struct fr_text *text) {
    char rate[32], launch[32], latency[32];
    for (int i = 0; i < FR_DTYPE_COUNT; i++) {
        const struct fr_fit_gemm *gemm = &result->gemm[i];
        if (gemm->n_m == 0) continue;
        fr_text_addf(text,
                     "products %s: %d x %d x %d shapes;\n"
                     "  a shape from its neighbours: median %.1f %%, p90 %.1f %%\n",
                     fr_dtype_names[i], gemm->n_m, gemm->n_n, gemm->n_k,
                     100 * gemm->quality.median, 100 * gemm->quality.p90);
        if (gemm->n_filled)
            fr_text_addf(text, "  %d of them not measured: from the shapes around them\n",
                         gemm->n_filled);
        if (gemm->n_dropped)
            fr_text_addf(text, "  %d shapes dropped: the grid was not complete\n",
                         gemm->n_dropped);
    }
    print_singles(result, text);
    if (result->card.present) print_card(result, text);
    if (result->has_device) {
        fr_text_addf(
            text, "memory %s, call %s\n",
            fr_quantity_format(result->memory_rate_B_per_s, FR_QUANTITY_RATE, rate,
                               sizeof rate),
            fr_quantity_format(result->launch_s, FR_QUANTITY_TIME, launch, sizeof launch));
        print_disturbance(&result->speed, text);
        print_working_sets(&result->working_sets, text);
        print_power(result, text);
    }
    for (int i = 0; i < result->levels.count; i++) {
        const struct fr_level *level = &result->levels.level[i];
        fr_text_addf(
            text, "level %s: %" PRId64 " ranks, %s, %s\n", level->name, level->ranks,
            fr_quantity_format(level->latency_s, FR_QUANTITY_TIME, latency, sizeof latency),
            fr_quantity_format(level->rate_B_per_s, FR_QUANTITY_RATE, rate, sizeof rate));
    }
}

void fr_fit_print(const struct fr_fit_result *result, struct fr_text *text) {
    fr_text_addf(text,
                 "relative errors in percent, median and 90th percentile\n%-14s %-6s%5s%4s%10s",
                 "operation", "level", "ranks", "of", "log, OLS");
    for (int f = FR_FIT_LOG; f < FR_FIT_FORMS; f++)
        fr_text_addf(text, "%10.*s", f == FR_FIT_SIMILARITY ? 7 : 9, fr_fit_form_names[f]);
    fr_text_addf(text, "\n");
    for (int i = 0; i < FR_OP_COUNT; i++)
        for (int c = 0; c < result->ops[i].n_curves; c++)
            add_curve(&result->ops[i], &result->ops[i].curves[c], text);
    fr_text_addf(
        text,
        "held out: every second size, the largest rank count; named is the form written:\n"
        "the similarity table, unless another is clearly better\n");
    for (int i = 0; i < FR_OP_COUNT; i++) {
        if (result->ops[i].n_points == 0) continue;
        add_held("sizes", &result->ops[i], false, text);
        add_held("ranks", &result->ops[i], true, text);
    }
    for (int i = 0; i < FR_OP_COUNT; i++)
        for (int c = 0; c < result->ops[i].n_curves; c++)
            print_choices(&result->ops[i].curves[c], text);
    if (result->beyond_links)
        fr_text_addf(
            text,
            "%zu collectives left out, faster than the links of --base: their sizes, ranks, "
            "nodes or --base are wrong\n",
            result->beyond_links);
    add_spread(result, text);
    add_device(result, text);
}
