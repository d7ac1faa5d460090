#include "plots/figure.h"
#include "base/text/meant.h"

#include <stddef.h>
#include <string.h>

#include "plots/results.h"

#define FR_FIGURE(name) extern const struct fr_figure fr_figure_##name;
#include "plots/figure_list.h"
#undef FR_FIGURE

const struct fr_figure *const fr_figures[] = {
#define FR_FIGURE(name) &fr_figure_##name,
#include "plots/figure_list.h"
#undef FR_FIGURE
    NULL};

enum { N_FIGURES = sizeof fr_figures / sizeof *fr_figures - 1 };

fr_status fr_figure_find(const char *name, const struct fr_figure **figure,
                         struct fr_error *err) {
    const char *known[N_FIGURES + 1] = {NULL};
    for (int i = 0; i < N_FIGURES; i++) {
        known[i] = fr_figures[i]->name;
        if (strcmp(name, known[i]) != 0) continue;
        *figure = fr_figures[i];
        return FR_OK;
    }
    char tail[320];
    fr_meant_tail(name, known, tail, sizeof tail);
    return fr_fail(err, FR_ERR_USAGE, NULL, "there is no figure \"%.40s\"%s", name,
                   *tail ? tail : "; forerun list figures has them");
}

/* Build the picture, not yet drawn. */
static fr_status build(const struct fr_figure *figure, const struct fr_json *roots,
                       int n_inputs, const struct fr_figure_options *o,
                       struct fr_results *results, struct fr_picture *p, struct fr_error *err) {
    if (figure->draw) return figure->draw(p, roots, n_inputs, err);
    return figure->draw_results(p, results, roots, o, err);
}

/* Narrower than three quarters of what it was laid out for, its letters would be too small. */
static bool is_narrow(const struct fr_figure *figure, const struct fr_figure_options *o,
                      int width_px) {
    return figure->stacks && o->width_in > 0 && o->width_in * 96 < 0.75 * width_px;
}

fr_status fr_figure_draw(const struct fr_figure *figure, const struct fr_json *roots,
                         int n_inputs, const struct fr_figure_options *o,
                         struct fr_error *err) {
    struct fr_results results = {0};
    struct fr_picture p;
    fr_status status = FR_OK;
    if (figure->one_input && n_inputs != 1)
        return fr_fail(err, FR_ERR_USAGE, NULL, "figure %s takes one input, not %d",
                       figure->name, n_inputs);
    if (figure->draw_folder) return figure->draw_folder(roots, o, err);
    fr_picture_begin(&p, figure->size_px[0], figure->size_px[1]);
    p.o = o;
    if (!figure->draw) status = fr_results_read(roots, n_inputs, &results, err);
    if (status == FR_OK) status = build(figure, roots, n_inputs, o, &results, &p, err);
    /* Once to see the panels, once the height that they take below each other. */
    bool narrow = is_narrow(figure, o, p.width_px);
    for (int pass = 0; status == FR_OK && narrow && pass < 2; pass++) {
        struct fr_picture seen = p;
        fr_picture_begin(&p, 0, 0);
        p.o = o;
        fr_picture_stack(&p, (int)(o->width_in * 96), &seen);
        status = build(figure, roots, n_inputs, o, &results, &p, err);
        fr_picture_free(&seen);
    }
    status = fr_picture_end(&p, status, o, err);
    fr_results_free(&results);
    return status;
}
