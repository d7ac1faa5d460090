/* Memory of the peak stage over the passes of an iteration, in the order of its schedule.  One
 * value is the memory after each pass: activations of the micro-batches that wait for their
 * backward passes, above what is always there.  The other is the most within the pass, whose
 * largest is the plan's peak. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "plots/provenance.h"
#include "plots/scale.h"

enum { STEPS_MAX = 4096, WIDTH_PX = 900, HEIGHT_PX = 480 };
static const struct fr_box plot_box = {90, 70, 570, 300};
static const double giga = 1e9;

struct steps {
    double held_B[STEPS_MAX], peak_B[STEPS_MAX];
    bool forward[STEPS_MAX];
    int n;
    double most_B;
};

static fr_status read_steps(const struct fr_json *list, struct steps *s, struct fr_error *err) {
    static const char *const passes[] = {"forward", "backward", "weight", NULL};
    FR_TRY(fr_json_array(list, 1, STEPS_MAX, err));
    for (int64_t i = 0; i < fr_json_array_length(list); i++) {
        struct fr_json one = fr_json_element(list, i);
        int pass = 0;
        FR_TRY(fr_json_get_choice(&one, "pass", true, passes, &pass, err));
        FR_TRY(fr_json_get_number(&one, "held_B", true, 0, 1e18, &s->held_B[i], err));
        FR_TRY(fr_json_get_number(&one, "peak_B", true, 0, 1e18, &s->peak_B[i], err));
        s->forward[i] = pass == 0;
        s->most_B = fmax(s->most_B, s->peak_B[i]);
    }
    s->n = (int)fr_json_array_length(list);
    return s->most_B > 0 ? FR_OK : fr_json_fail(list, err, "holds nothing");
}

static fr_status read_all(const struct fr_json *root, struct steps *s, const char **moment,
                          struct fr_error *err) {
    static const char *const schemas[] = {"forerun/explain/1", NULL};
    struct fr_json explain = fr_json_member(root, "explain"),
                   memory = fr_json_member(&explain, "memory"),
                   steps = fr_json_member(&memory, "steps"),
                   at = fr_json_member(&memory, "moment");
    int schema = 0;
    FR_TRY(fr_json_get_choice(root, "schema", true, schemas, &schema, err));
    if (!fr_json_present(&memory) || fr_json_array_length(&steps) == 0)
        return fr_json_fail(root, err,
                            "has no order of passes that hold memory; made by forerun predict "
                            "--explain --json of a transformer's plan");
    FR_TRY(fr_json_text(&at, moment, err));
    return read_steps(&steps, s, err);
}

/* Bars from one pass to the next of what is held, above them what a pass holds at most. */
static void draw_steps(struct fr_picture *p, const struct steps *s) {
    static const char *const names[] = {"in a forward pass, at most",
                                        "in a backward pass, at most"};
    int block = fr_picture_block(p);
    for (int i = 0; i < s->n; i++) FR_ROW(p, i + 1, s->held_B[i] / giga);
    fr_picture_curve(p, block, "after the pass",
                     "using 1:2 with boxes fs solid 0.35 noborder lc rgb '%s'",
                     fr_picture_colour(1));
    for (int forward = 1; forward >= 0; forward--) {
        bool any = false;
        for (int i = 0; i < s->n; i++) any = any || s->forward[i] == forward;
        if (!any) continue;
        block = fr_picture_block(p);
        for (int i = 0; i < s->n; i++)
            if (s->forward[i] == forward) FR_ROW(p, i + 1, s->peak_B[i] / giga);
        fr_picture_curve(p, block, names[!forward],
                         "using 1:2 with points pt %d ps 0.7 lc rgb '%s'",
                         fr_picture_point(!forward), fr_picture_colour(forward ? 2 : 3));
    }
}

static fr_status draw_all(struct fr_picture *p, const struct fr_json *root, struct steps *steps,
                          struct fr_error *err) {
    struct fr_json outcome = fr_json_member(root, "outcome"),
                   from = fr_json_member(&outcome, "provenance");
    const char *moment = "";
    int64_t stage = 0;
    char words[40];
    FR_TRY(read_all(root, steps, &moment, err));
    FR_TRY(fr_json_get_integer(&outcome, "fullest_stage", true, 0, 1 << 20, &stage, err));
    snprintf(words, sizeof words, "%s", moment);
    for (char *c = words; *c; c++)
        if (*c == '_') *c = ' ';
    fr_text_addf(&p->title, "Memory of stage %lld, which has the peak: %.1f GB at %s",
                 (long long)stage, steps->most_B / giga, words);
    fr_provenance_line(p, "predict", &from);
    fr_picture_panel(p, &plot_box, "");
    fr_text_addf(&p->script, "set xrange [0.4:%.9g]\nset yrange [0:%.9g]\nset boxwidth 1\n",
                 steps->n + 0.6, 1.08 * steps->most_B / giga);
    fr_picture_axis_label(p, "x", "pass, in the order of the schedule");
    fr_picture_axis_label(p, "y", "tensors [GB]");
    fr_picture_key(p, plot_box.left + plot_box.width + 15, plot_box.top);
    draw_steps(p, steps);
    fr_picture_plotted(p);
    return FR_OK;
}

static fr_status draw(struct fr_picture *p, const struct fr_json *roots, int n_inputs,
                      struct fr_error *err) {
    struct steps *steps = fr_calloc(1, sizeof *steps);
    (void)n_inputs;
    fr_status status = steps ? draw_all(p, &roots[0], steps, err)
                             : fr_fail(err, FR_ERR_NOMEM, NULL, "out of memory");
    free(steps);
    return status;
}

const struct fr_figure fr_figure_memory = {
    .name = "memory",
    .summary = "memory of the fullest stage over the passes of an iteration",
    .inputs = "predict --explain --json",
    .one_input = true,
    .size_px = {WIDTH_PX, HEIGHT_PX},
    .stacks = true,
    .draw = draw,
};
