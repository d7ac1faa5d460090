#include "plots/fit_svg.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/units.h"
#include "plots/html.h"

const char *const fr_fit_svg_forms[] = {"log", "segments", "algorithm", "similarity", NULL};
/* Okabe and Ito's, told apart by most eyes. */
const char *const fr_fit_svg_colours[] = {"#E69F00", "#0072B2", "#009E73", "#D55E00", NULL};

/* Pixels: the times above, what held-out sizes are missed by below. */
enum {
    WIDTH = 460,
    LEFT = 62,
    RIGHT = 24,
    TOP = 26,
    MAIN = 190,
    GAP = 26,
    BELOW = 80,
    FOOT = 30
};
static const double MISS_MAX = 60; /* percent; beyond it a mark sits at the edge */

struct frame {
    double x0, x1, y0, y1; /* log10 of size and time */
};

static double x_px(const struct frame *f, double size_B) {
    return LEFT + (log10(size_B) - f->x0) / (f->x1 - f->x0) * (WIDTH - LEFT - RIGHT);
}
static double y_px(const struct frame *f, double time_s) {
    return TOP + (f->y1 - log10(time_s)) / (f->y1 - f->y0) * MAIN;
}
static double miss_px(double percent) {
    double clipped = fmax(-MISS_MAX, fmin(MISS_MAX, percent));
    return TOP + MAIN + GAP + BELOW / 2.0 - clipped / MISS_MAX * BELOW / 2.0;
}

static void include(double *low, double *high, double value) {
    if (!(value > 0) || !isfinite(value)) return;
    *low = fmin(*low, log10(value));
    *high = fmax(*high, log10(value));
}

static struct frame frame_of(const struct fr_json *points) {
    struct frame f = {HUGE_VAL, -HUGE_VAL, HUGE_VAL, -HUGE_VAL};
    for (int64_t i = 0; i < fr_json_array_length(points); i++) {
        struct fr_json p = fr_json_element(points, i);
        include(&f.x0, &f.x1, fr_json_number_at(&p, "size_B"));
        include(&f.y0, &f.y1, fr_json_number_at(&p, "median_s"));
        include(&f.y0, &f.y1, fr_json_number_at(&p, "segments_s"));
    }
    if (!isfinite(f.x0)) f.x0 = 0, f.x1 = 1; /* no point has both */
    if (!isfinite(f.y0)) f.y0 = 0, f.y1 = 1;
    if (!(f.x1 > f.x0)) f.x0 -= 0.5, f.x1 = f.x0 + 1;
    if (!(f.y1 > f.y0)) f.y0 -= 0.5, f.y1 = f.y0 + 1;
    double room = 0.06 * (f.y1 - f.y0);
    f.y0 -= room;
    f.y1 += room;
    return f;
}

/* "1.000 kB" is written "1 kB". */
static const char *tick(double si, fr_quantity quantity, char *text, size_t capacity) {
    fr_quantity_format(si, quantity, text, capacity);
    char *point = strchr(text, '.'), *unit = strchr(text, ' ');
    if (!point || !unit) return text;
    char *end = unit;
    while (end > point && (end[-1] == '0' || end[-1] == '.')) end--;
    memmove(end, unit, strlen(unit) + 1);
    return text;
}

static void axes(const struct frame *f, struct fr_text *html) {
    char text[32];
    int bottom = TOP + MAIN + GAP + BELOW;
    int every = (int)ceil((f->x1 - f->x0) / 5), down = (int)ceil((f->y1 - f->y0) / 5);
    if (every < 1) every = 1;
    if (down < 1) down = 1;
    for (int e = (int)ceil(f->x0); e <= (int)floor(f->x1); e += every) {
        double x = x_px(f, pow(10, e));
        fr_html_addf(
            html,
            "<path class=\"g\" d=\"M%.1f %dV%dM%.1f %dV%d\"/><text x=\"%.1f\" y=\"%d\" "
            "text-anchor=\"middle\">%s</text>\n",
            x, TOP, TOP + MAIN, x, TOP + MAIN + GAP, bottom, x, bottom + 14,
            tick(pow(10, e), FR_QUANTITY_SIZE, text, sizeof text));
    }
    for (int e = (int)ceil(f->y0); e <= (int)floor(f->y1); e += down) {
        double y = y_px(f, pow(10, e));
        fr_html_addf(html,
                     "<path class=\"g\" d=\"M%d %.1fH%d\"/><text x=\"%d\" y=\"%.1f\" "
                     "text-anchor=\"end\">%s</text>\n",
                     LEFT, y, WIDTH - RIGHT, LEFT - 5, y + 4,
                     tick(pow(10, e), FR_QUANTITY_TIME, text, sizeof text));
    }
    for (int percent = -50; percent <= 50; percent += 50)
        fr_html_addf(html,
                     "<path class=\"%s\" d=\"M%d %.1fH%d\"/><text x=\"%d\" y=\"%.1f\" "
                     "text-anchor=\"end\">%+d %%</text>\n",
                     percent ? "g" : "z", LEFT, miss_px(percent), WIDTH - RIGHT, LEFT - 5,
                     miss_px(percent) + 4, percent);
}

static void curve(const struct fr_json *points, const struct frame *f, const char *form,
                  const char *colour, bool dashed, struct fr_text *html) {
    char key[32];
    bool begun = false;
    snprintf(key, sizeof key, "%s_s", form);
    fr_html_addf(html, "<path fill=\"none\" stroke=\"%s\" stroke-width=\"1.6\"", colour);
    fr_html_addf(html, dashed ? " stroke-dasharray=\"5 3\" d=\"" : " d=\"");
    for (int64_t i = 0; i < fr_json_array_length(points); i++) {
        struct fr_json p = fr_json_element(points, i);
        double t = fr_json_number_at(&p, key), n = fr_json_number_at(&p, "size_B");
        if (!(t > 0) || !(n > 0)) continue;
        double y = fmax(TOP, fmin(TOP + MAIN, y_px(f, t)));
        fr_html_addf(html, "%s%.1f %.1f", begun ? "L" : "M", x_px(f, n), y);
        begun = true;
    }
    fr_html_addf(html, "\"/>\n");
}

static void misses(const struct fr_json *points, const struct frame *f, const char *form,
                   const char *colour, struct fr_text *html) {
    char key[32];
    snprintf(key, sizeof key, "%s_held_s", form);
    for (int64_t i = 0; i < fr_json_array_length(points); i++) {
        struct fr_json p = fr_json_element(points, i);
        double t = fr_json_number_at(&p, key), n = fr_json_number_at(&p, "size_B");
        double off = 100 * (t / fr_json_number_at(&p, "median_s") - 1);
        if (!isfinite(off) || !(n > 0)) continue;
        fr_html_addf(html, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"2.6\" fill=\"%s\"/>\n",
                     x_px(f, n), miss_px(off), colour);
    }
}

static void measured(const struct fr_json *points, const struct frame *f,
                     struct fr_text *html) {
    for (int64_t i = 0; i < fr_json_array_length(points); i++) {
        struct fr_json p = fr_json_element(points, i);
        double t = fr_json_number_at(&p, "median_s"), n = fr_json_number_at(&p, "size_B");
        double low = fr_json_number_at(&p, "low_s"), high = fr_json_number_at(&p, "high_s");
        if (!(t > 0) || !(n > 0)) continue;
        if (low > 0 && isfinite(high))
            fr_html_addf(html, "<path stroke=\"#222\" d=\"M%.1f %.1fV%.1f\"/>", x_px(f, n),
                         fmin(TOP + MAIN, y_px(f, low)), fmax(TOP, y_px(f, high)));
        fr_html_addf(html, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"2.6\" class=\"m\"/>\n",
                     x_px(f, n), y_px(f, t));
    }
}

void fr_fit_svg(const struct fr_json *series, struct fr_text *html) {
    struct fr_json points = fr_json_member(series, "points");
    if (fr_json_array_length(&points) == 0) return;
    struct frame f = frame_of(&points);
    int height = TOP + MAIN + GAP + BELOW + FOOT;
    fr_html_addf(html,
                 "<svg viewBox=\"0 0 %d %d\" width=\"%d\" height=\"%d\" role=\"img\">"
                 "<text x=\"%d\" y=\"16\" class=\"t\">%s, %.0f ranks, %s</text>"
                 "<text x=\"%d\" y=\"%d\" class=\"s\">held-out sizes, predicted / measured - "
                 "1</text>\n",
                 WIDTH, height, WIDTH, height, LEFT, fr_json_text_at(series, "op"),
                 fr_json_number_at(series, "ranks"), fr_json_text_at(series, "level"), LEFT,
                 TOP + MAIN + GAP - 6);
    axes(&f, html);
    for (int i = 0; fr_fit_svg_forms[i]; i++) {
        curve(&points, &f, fr_fit_svg_forms[i], fr_fit_svg_colours[i], i == 0, html);
        misses(&points, &f, fr_fit_svg_forms[i], fr_fit_svg_colours[i], html);
    }
    measured(&points, &f, html);
    fr_html_addf(html, "</svg>\n");
}
