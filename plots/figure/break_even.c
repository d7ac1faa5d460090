/* When does a plan that loses information win?  Cost to the loss against its iterations over those of an exact plan:
 *
 *     y(x) = x v / V        v, V: time or energy of an iteration of the lossy and of the exact plan
 *
 * One line a plan.  The exact plan needs its own iterations whatever x is: a level line at 1.  A line crosses it at the
 * plan's break-even, which is marked.  Left of the mark the lossy plan wins, right of it the exact one. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/sort.h"
#include "plots/results.h"
#include "plots/scale.h"

enum {
    WIDTH_PX = 1000,
    HEIGHT_PX = 520,
    LINES_MAX = 7,
    APART = 3 /* break-evens further apart are on logarithmic axes */
};
static const struct fr_box box = {90, 80, 480, 330};

/* The plans drawn: of those with one break-even the first. */
struct lines {
    const struct fr_result *of[LINES_MAX];
    int n, left_out;
    double most; /* the highest break-even */
};

static int by_break_even(const void *x, const void *y) {
    const struct fr_result *a = *(const struct fr_result *const *)x,
                           *b = *(const struct fr_result *const *)y;
    if (a->break_even != b->break_even) return FR_ORDER(b->break_even, a->break_even);
    return FR_ORDER(a, b);
}

/* Seven of them from the highest break-even down, as far apart as the list has them. */
static void choose(const struct fr_result **all, int n, struct lines *lines) {
    int kept = 0;
    for (int i = 0; i < n; i++)
        if (i == 0 || all[i]->break_even < all[kept - 1]->break_even * (1 - 1e-9))
            all[kept++] = all[i];
    lines->n = kept < LINES_MAX ? kept : LINES_MAX;
    lines->left_out = n - lines->n;
    for (int i = 0; i < lines->n; i++)
        lines->of[i] = all[lines->n > 1 ? i * (kept - 1) / (lines->n - 1) : 0];
    lines->most = lines->n ? lines->of[0]->break_even : 1;
}

static fr_status find(const struct fr_results *results, const struct fr_json *root,
                      struct lines *lines, struct fr_error *err) {
    const struct fr_result **all = fr_calloc(results->count + 1, sizeof *all);
    int n = 0;
    if (!all) return fr_fail(err, FR_ERR_NOMEM, NULL, "out of memory");
    for (size_t i = 0; i < results->count; i++)
        if (results->items[i].break_even > 0) all[n++] = &results->items[i];
    fr_sort_items(all, (size_t)n, sizeof *all, by_break_even);
    choose(all, n, lines);
    free(all);
    if (lines->n > 0) return FR_OK;
    return fr_json_fail(
        root, err,
        "holds no plan with \"break_even_iterations\"; search with --max-lossy, "
        "or predict a plan that compresses or has ghost neurons");
}

static void add_exact(struct fr_picture *p, double from, double to) {
    int block = fr_picture_block(p);
    FR_ROW(p, from, 1);
    FR_ROW(p, to, 1);
    fr_picture_curve(p, block, "exact", "using 1:2 with lines lc rgb '#444444' lw 2 dt 2");
}

enum { LINE_TITLE = FR_RESULT_LABEL + 40 };

/* The number first: a narrow picture cuts the end. */
static void line_title(const struct fr_results *results, const struct fr_result *r,
                       char label[FR_RESULT_LABEL], char title[LINE_TITLE]) {
    snprintf(title, LINE_TITLE, "below %.3g: %s", r->break_even,
             fr_result_label(results, r, label, FR_RESULT_LABEL));
}

static void add_line(struct fr_picture *p, const struct fr_results *results,
                     const struct fr_result *r, int i, double from, double to) {
    char label[FR_RESULT_LABEL], title[LINE_TITLE];
    int block = fr_picture_block(p);
    FR_ROW(p, from, from / r->break_even);
    FR_ROW(p, to, to / r->break_even);
    line_title(results, r, label, title);
    fr_picture_curve(p, block, title, "using 1:2 with lines lc rgb '%s' lw 1.6",
                     fr_picture_colour(i + 1));
    block = fr_picture_block(p);
    FR_ROW(p, r->break_even, 1);
    fr_picture_curve(p, block, NULL, "using 1:2 with points lc rgb '%s' pt %d ps 1.4",
                     fr_picture_colour(i + 1), fr_picture_point(i));
}

/* Logarithmic where the plans differ much: on a linear axis the steepest line hides all others. */
static void add_axes(struct fr_picture *p, double from, double to, double low, double high,
                     bool logarithmic) {
    if (logarithmic) {
        fr_scale_plain(p, "x", (struct fr_scale){from, to});
        fr_scale_plain(p, "y", (struct fr_scale){low, high});
    } else
        fr_text_addf(&p->script, "set xrange [%.9g:%.9g]\nset yrange [%.9g:%.9g]\n", from, to,
                     0.95 * low, 1.05 * high);
}

static void add_texts(struct fr_picture *p, const struct fr_results *results,
                      const struct lines *lines) {
    const struct fr_result *first = lines->of[0];
    char label[FR_RESULT_LABEL];
    fr_text_addf(&p->title, "Break-even: %s wins below %.3g times the iterations",
                 fr_result_label(results, first, label, sizeof label), first->break_even);
    fr_text_addf(&p->note, "Marks: a lossy plan costs as much as the exact one.  ");
    if (lines->left_out)
        fr_text_addf(&p->note, "%d more plan%s not drawn.  ", lines->left_out,
                     lines->left_out > 1 ? "s are" : " is");
    fr_results_footer(results, p, results->ranked != FR_RANKED_TIME);
}

static fr_status draw(struct fr_picture *p, struct fr_results *results,
                      const struct fr_json *root, const struct fr_figure_options *o,
                      struct fr_error *err) {
    struct lines lines = {.n = 0};
    (void)o;
    FR_TRY(find(results, root, &lines, err));
    const double least = lines.of[lines.n - 1]->break_even;
    const bool logarithmic = lines.most > APART * least;
    const double margin = logarithmic ? 1.6 : 1.1, from = fmin(1, least) / margin,
                 to = fmax(1, lines.most) * margin;
    for (int i = 0; i < lines.n; i++) {
        char label[FR_RESULT_LABEL], title[LINE_TITLE];
        line_title(results, lines.of[i], label, title);
        fr_picture_key_space(p, box.left + box.width + 25, title);
    }
    add_texts(p, results, &lines);
    fr_picture_panel(p, &box,
                     results->ranked == FR_RANKED_ENERGY
                         ? "energy to the loss over the exact plan's"
                     : results->ranked == FR_RANKED_EDP
                         ? "energy x time to the loss, its root over the exact plan's"
                         : "time to the loss over the exact plan's");
    add_axes(p, from, to, fmin(1, from / lines.most), fmax(1, to / least), logarithmic);
    fr_picture_axis_label(p, "x", "iterations over those of the exact plan");
    fr_picture_key(p, box.left + box.width + 25, box.top);
    add_exact(p, from, to);
    for (int i = 0; i < lines.n; i++) add_line(p, results, lines.of[i], i, from, to);
    fr_picture_plotted(p);
    return FR_OK;
}

const struct fr_figure fr_figure_break_even = {
    .name = "break-even",
    .summary = "cost to the loss against extra iterations: how many each lossy plan may need "
               "before an exact plan is better",
    .inputs = "results of forerun search --max-lossy X --json, or of forerun predict --json",
    .size_px = {WIDTH_PX, HEIGHT_PX},
    .stacks = true,
    .draw_results = draw,
};
