/* 1.5D grids P_r x P_c of P ranks: how long an iteration takes on each, and on the largest P
 * what it consists of.  P_r = tp ranks share the model, P_c = dp ranks the batch. */
#include <math.h>
#include <stdio.h>

#include "plots/grid_table.h"
#include "plots/scale.h"

enum { WIDTH_PX = 1100, ROW_PX = 40, BARS_PX = 300 };
static const double left_px = 80, heat_width_px = 850, heat_top_px = 80;
/* Bars longer than this times the best would leave the others too short to read. */
static const double bar_limit = 8;

/* Colours as fr_picture_colour_of has them of parts. */
static const struct part_group {
    const char *name, *colour;
    int parts[4]; /* then -1 */
} groups[] = {
    {"compute", "#117733", {FR_PART_COMPUTE, -1}},
    {"launch and fixed", "#88c999", {FR_PART_LAUNCH, FR_PART_FIXED, -1}},
    {"model-axis (tp) communication", "#332288", {FR_PART_TP_COMM, -1}},
    {"data-axis (dp) communication", "#882255", {FR_PART_DP_COMM, -1}},
    {"redistribution", "#AA4499", {FR_PART_REDISTRIBUTION, -1}},
    {"other", "#999999", {-1}}, /* what is left of the iteration */
};
enum { N_GROUPS = sizeof groups / sizeof *groups, OTHER = N_GROUPS - 1 };

/* ---- heat map ----------------------------------------------------------------------------- */

static void heat_ticks(struct fr_picture *p, const struct fr_grid_table *t) {
    fr_text_addf(&p->script, "set xtics (");
    for (int j = 0; j < t->n_columns; j++)
        fr_text_addf(&p->script, "%s'%lld' %d", j ? ", " : "", (long long)t->column[j], j);
    fr_text_addf(&p->script, ")\nset ytics (");
    for (int i = 0; i < t->n_rows; i++)
        fr_text_addf(&p->script, "%s'%lld' %d", i ? ", " : "", (long long)t->row[i], i);
    fr_text_addf(&p->script,
                 ")\nset xrange [-0.5:%g]\nset yrange [-0.5:%g]\nunset grid\nset border 0\n"
                 "set tics scale 0\n",
                 t->n_columns - 0.5, t->n_rows - 0.5);
}

static void heat_colours(struct fr_picture *p, double height_px) {
    if (p->stack.on) {
        fr_text_addf(&p->script, "unset colorbox\n");
        height_px = 130;
    }
    height_px = fmax(height_px, 130); /* its ticks need space beside a single row, too */
    fr_text_addf(&p->script,
                 "set palette defined (0 '#eef5fb', 0.5 '#6baed6', 1 '#08306b')\n"
                 "set logscale cb\nset cbrange [1:10]\n"
                 "set cbtics ('best' 1, '2 x' 2, '5 x' 5, '>= 10 x' 10)\n"
                 "set colorbox user origin screen %.5f,%.5f size screen %.5f,%.5f\n",
                 (left_px + heat_width_px + 30) / p->width_px,
                 1 - (heat_top_px + height_px) / p->height_px, 16.0 / p->width_px,
                 height_px / p->height_px);
    fr_picture_axis_label(p, "cb", "time / best of row");
}

/* The time in every cell, light on the dark colours. */
static void add_cell_texts(struct fr_picture *p, const struct fr_grid_table *t) {
    int block = fr_picture_block(p);
    for (int i = 0; i < t->n_rows; i++)
        for (int j = 0; j < t->n_columns; j++) {
            bool dark = fr_grid_table_s(t, i, j) > 4 * fr_grid_table_s(t, i, t->best[i]);
            if (t->cell[i][j])
                FR_ROW(p, j, i, fr_grid_table_s(t, i, j) / t->unit_s, dark ? 0xffffff : 0);
        }
    fr_picture_curve(p, block, NULL,
                     "using 1:2:(sprintf($3 >= 1000 ? '%%.0f' : '%%.3g', $3)):4 with labels "
                     "tc rgb variable font sprintf('%%s,%%g', FACE, %g * FONT)",
                     p->stack.on ? 0.6 : 1);
}

static void draw_heat(struct fr_picture *p, const struct fr_grid_table *t) {
    char heading[96];
    struct fr_box box = {left_px, heat_top_px, heat_width_px, ROW_PX * t->n_rows};
    snprintf(heading, sizeof heading, "time per iteration [%s], best of each P outlined",
             t->unit);
    p->stack.plot_px = 24 * t->n_rows, p->stack.left_px = 58;
    fr_picture_panel(p, &box, heading);
    heat_ticks(p, t);
    heat_colours(p, box.height);
    fr_picture_axis_label(p, "x", "P_r, ranks that share the model (P_c = P / P_r)");
    fr_picture_axis_label(p, "y", "P, ranks");
    int cells = fr_picture_block(p);
    for (int i = 0; i < t->n_rows; i++)
        for (int j = 0; j < t->n_columns; j++)
            if (t->cell[i][j])
                FR_ROW(p, j, i, j - 0.5, j + 0.5, i - 0.5, i + 0.5,
                       fr_grid_table_s(t, i, j) / fr_grid_table_s(t, i, t->best[i]));
    int outlines = fr_picture_block(p);
    for (int i = 0; i < t->n_rows; i++)
        FR_ROW(p, t->best[i], i, t->best[i] - 0.47, t->best[i] + 0.47, i - 0.46, i + 0.46);
    fr_picture_curve(p, cells, NULL,
                     "using 1:2:3:4:5:6:7 with boxxyerror fs solid noborder lc palette");
    add_cell_texts(p, t);
    fr_picture_curve(p, outlines, NULL,
                     "using 1:2:3:4:5:6 with boxxyerror lc rgb '#000000' lw 3 fs empty border");
    fr_picture_plotted(p);
}

/* ---- bars --------------------------------------------------------------------------------- */

static double group_s(const struct fr_result *r, int group) {
    double sum_s = 0;
    for (const int *part = groups[group].parts; *part >= 0; part++) sum_s += r->part_s[*part];
    if (group != OTHER) return sum_s;
    for (int g = 0; g < OTHER; g++) sum_s += group_s(r, g);
    double left_s = r->iteration_time_s - sum_s;
    return left_s > 1e-3 * r->iteration_time_s ? left_s : 0; /* rounding is no part */
}

static int shown_bars(const struct fr_grid_table *t,
                      const struct fr_result *bar[FR_GRID_COLUMNS_MAX]) {
    int row = t->n_rows - 1, n = 0;
    for (int j = 0; j < t->n_columns; j++)
        if (fr_grid_table_s(t, row, j) <= bar_limit * fr_grid_table_s(t, row, t->best[row]))
            bar[n++] = t->cell[row][j];
    return n;
}

static void bar_axes(struct fr_picture *p, const struct fr_grid_table *t,
                     const struct fr_result *const *bar, int n) {
    double longest_s = 0;
    char label[32];
    fr_text_addf(&p->script,
                 "unset grid\nset grid y lt 1 lc rgb '#dddddd' lw 0.8\nset xtics (");
    for (int j = 0; j < n; j++) {
        longest_s = fmax(longest_s, bar[j]->iteration_time_s);
        fr_text_addf(&p->script, "%s'%lld x %lld' %d", j ? ", " : "", (long long)bar[j]->tp,
                     (long long)bar[j]->dp, j);
    }
    fr_text_addf(&p->script, ") scale 0\nset xrange [-0.6:%g]\nset yrange [0:%.9g]\n", n - 0.4,
                 1.14 * longest_s / t->unit_s);
    if (!p->stack.on) fr_picture_axis_label(p, "x", "P_r x P_c"); /* stated by the heading */
    snprintf(label, sizeof label, "time per iteration [%s]", t->unit);
    fr_picture_axis_label(p, "y", label);
}

/* Each group stands on those before it. */
static void add_bars(struct fr_picture *p, const struct fr_grid_table *t,
                     const struct fr_result *const *bar, int n) {
    double foot_s[FR_GRID_COLUMNS_MAX] = {0};
    for (int g = 0; g < N_GROUPS; g++) {
        double all_s = 0;
        for (int j = 0; j < n; j++) all_s += group_s(bar[j], g);
        if (all_s == 0) continue;
        int block = fr_picture_block(p);
        for (int j = 0; j < n; j++) {
            double top_s = foot_s[j] + group_s(bar[j], g);
            FR_ROW(p, j, foot_s[j] / t->unit_s, j - 0.34, j + 0.34, foot_s[j] / t->unit_s,
                   top_s / t->unit_s);
            foot_s[j] = top_s;
        }
        fr_picture_curve(p, block, groups[g].name,
                         "using 1:2:3:4:5:6 with boxxyerror fs solid noborder lc rgb '%s'",
                         groups[g].colour);
    }
}

static void add_totals(struct fr_picture *p, const struct fr_grid_table *t,
                       const struct fr_result *const *bar, int n) {
    const struct fr_result *best = t->cell[t->n_rows - 1][t->best[t->n_rows - 1]];
    int block = fr_picture_block(p);
    for (int j = 0; j < n; j++)
        FR_ROW(p, j, bar[j]->iteration_time_s / t->unit_s, bar[j] == best,
               bar[j] == best ? 0 : 0x444444);
    fr_picture_curve(p, block, NULL,
                     "using 1:2:(sprintf($3 == 1 ? 'best %%.4g' : '%%.4g', $2)):4 with labels "
                     "offset 0,0.7 tc rgb variable font sprintf('%%s,%%g', FACE, %g * FONT)",
                     p->stack.on ? 0.55 : 1);
}

static void draw_bars(struct fr_picture *p, const struct fr_grid_table *t) {
    const struct fr_result *bar[FR_GRID_COLUMNS_MAX];
    char heading[64];
    int n = shown_bars(t, bar);
    double top_px = heat_top_px + ROW_PX * t->n_rows + 110;
    struct fr_box box = {left_px, top_px, 740, BARS_PX};
    snprintf(heading, sizeof heading,
             p->stack.on ? "an iteration on P = %lld, by P_r x P_c"
                         : "what an iteration on P = %lld consists of",
             (long long)t->row[t->n_rows - 1]);
    fr_picture_panel(p, &box, heading);
    bar_axes(p, t, bar, n);
    if (p->stack.on) fr_text_addf(&p->script, "set xtics rotate by -60 left offset -0.4,0\n");
    fr_picture_key(p, box.left + box.width + 20, top_px);
    add_bars(p, t, bar, n);
    add_totals(p, t, bar, n);
    fr_picture_plotted(p);
}

/* The bars need parts; a list without any comes from elsewhere. */
static bool has_parts(const struct fr_grid_table *t) {
    double sum_s = 0;
    for (int j = 0; j < t->n_columns; j++)
        for (int i = 0; t->cell[t->n_rows - 1][j] && i < FR_PART_COUNT; i++)
            sum_s += t->cell[t->n_rows - 1][j]->part_s[i];
    return sum_s > 0;
}

static void draw_all(struct fr_picture *p, const struct fr_results *results,
                     const struct fr_grid_table *t) {
    const struct fr_result *bar[FR_GRID_COLUMNS_MAX];
    int row = t->n_rows - 1, slower = -shown_bars(t, bar);
    const struct fr_result *best = t->cell[row][t->best[row]];
    for (int j = 0; j < t->n_columns; j++) slower += t->cell[row][j] != NULL;
    if (!p->stack.on)
        p->height_px = (int)heat_top_px + ROW_PX * t->n_rows + 110 + BARS_PX + 100;
    fr_text_addf(&p->title, "Grids P_r x P_c; best of %lld ranks: %lld x %lld, %.4g %s",
                 (long long)best->ranks, (long long)best->tp, (long long)best->dp,
                 best->iteration_time_s / t->unit_s, t->unit);
    if (t->left_out)
        fr_text_addf(&p->note, "%lld grids do not fit here.  ", (long long)t->left_out);
    if (slower)
        fr_text_addf(&p->note, "No bar for %d grids over %g times the best.  ", slower,
                     bar_limit);
    fr_results_footer(results, p, false);
    draw_heat(p, t);
    draw_bars(p, t);
}

static fr_status draw(struct fr_picture *p, struct fr_results *results,
                      const struct fr_json *root, const struct fr_figure_options *o,
                      struct fr_error *err) {
    struct fr_grid_table table = {0};
    struct fr_json top = fr_json_member(root, "top");
    (void)o;
    fr_grid_table_fill(results, &table);
    if (table.n_rows == 0)
        return fr_json_fail(&top, err, "no configuration has method \"grid\"");
    if (!has_parts(&table))
        return fr_json_fail(&top, err, "no configuration states its breakdown_s");
    draw_all(p, results, &table);
    return FR_OK;
}

const struct fr_figure fr_figure_grid = {
    .name = "grid",
    .summary = "grids P_r x P_c: a heat map over rank counts, and where the time goes",
    .inputs = "results of forerun search --json --vary method=grid --vary tp=..., with --top 0",
    .size_px = {WIDTH_PX},
    .stacks = true,
    .draw_results = draw,
};
