#include "studies/quality_curve.h"

#include <math.h>
#include <stdio.h>

enum { POINTS_MAX = 30 };

/* An id's words end at strokes. */
static void without_strokes(const char *name, char out[48]) {
    snprintf(out, 48, "%s", name);
    for (char *c = out; *c; c++)
        if (*c == '/') *c = '-';
}

static void add(const struct fr_json *point, const char *figure, const char *along, double at,
                const char *name, bool perplexity, struct fr_reproduction *r) {
    double loss = fr_json_number_at(point, "loss"), ours = perplexity ? exp(loss) : loss;
    if (isfinite(ours) && isfinite(at))
        fr_reproduce_add_point(r, ours, perplexity ? "ppl" : "nat", "quality/%.24s/%s=%.6g/%s",
                               figure, along, at, name);
}

void fr_quality_curve(const struct fr_json *row, const char *figure, const char *name,
                      bool perplexity, struct fr_reproduction *r) {
    struct fr_json curve = fr_json_member(row, "curve");
    int64_t n = fr_json_array_length(&curve), step = (n + POINTS_MAX - 1) / POINTS_MAX;
    char word[48];
    without_strokes(name, word);
    for (int64_t i = 0; i < n; i += step) {
        struct fr_json point = fr_json_element(&curve, i);
        add(&point, figure, "curve/iteration", fr_json_number_at(&point, "iteration"), word,
            perplexity, r);
    }
    for (int64_t i = 0; i < n; i += step) {
        struct fr_json point = fr_json_element(&curve, i);
        add(&point, figure, "clock/time", fr_json_number_at(&point, "time_s"), word, perplexity,
            r);
    }
}
