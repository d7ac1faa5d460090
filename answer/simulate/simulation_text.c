#include "answer/simulate/simulation_text.h"

#include <inttypes.h>
#include <math.h>

#include "answer/simulate/conflicts_words.h"
#include "answer/text/render.h"
#include "base/text/wrap.h"

static void add_quantity(struct fr_text *text, int width, double value, fr_quantity quantity) {
    char number[40];
    if (isnan(value))
        fr_text_addf(text, " %*s", width, "-");
    else
        fr_text_addf(text, " %*s", width,
                     fr_quantity_format(value, quantity, number, sizeof number));
}

static void stages_text(struct fr_text *text, const struct fr_simulation *s) {
    enum { SHOWN = 32 };
    bool all = s->conflicts.played;
    fr_text_addf(text, "\n%s\n%6s %11s %11s %11s %11s %11s %7s\n",
                 all ? "each rank" : "one rank of each stage", all ? "rank" : "stage",
                 "computing", "collectives", "blocked", "idle", "energy", "used");
    for (int32_t i = 0; i < s->n_stages && i < SHOWN; i++) {
        const struct fr_stage_use *use = &s->stages[i];
        fr_text_addf(text, "%6d", i);
        add_quantity(text, 11, use->busy_s, FR_QUANTITY_TIME);
        add_quantity(text, 11, use->comm_s, FR_QUANTITY_TIME);
        add_quantity(text, 11, use->blocked_s, FR_QUANTITY_TIME);
        add_quantity(text, 11, use->idle_s, FR_QUANTITY_TIME);
        add_quantity(text, 11, use->energy_J, FR_QUANTITY_ENERGY);
        fr_text_addf(text, " %5.1f %%\n", 100 * use->busy_s / s->outcome.time_s);
    }
    if (s->n_stages > SHOWN) fr_text_addf(text, "   ... and %d more\n", s->n_stages - SHOWN);
}

/* Parts of the critical path, longest first, then its steps where they are few. */
static void critical_text(struct fr_text *text, const struct fr_simulation *s) {
    enum { SHOWN = 12 };
    double kind_s[FR_TASK_COUNT] = {0}, all_s = 0;
    int64_t kind_n[FR_TASK_COUNT] = {0}, n = 0;
    for (int64_t k = 0; k < s->timeline.count; k++) {
        const struct fr_span *span = &s->timeline.spans[k];
        double critical_s = fr_span_critical_s(span);
        if (!(critical_s > 0)) continue;
        kind_s[span->kind] += critical_s;
        all_s += critical_s;
        kind_n[span->kind]++;
        n++;
    }
    if (n == 0) return;
    char length[40];
    fr_text_addf(text, "\ncritical path, %" PRId64 " tasks, %s\n", n,
                 fr_quantity_format(all_s, FR_QUANTITY_TIME, length, sizeof length));
    for (int left = FR_TASK_COUNT; left > 0; left--) {
        int most = 0;
        for (int kind = 1; kind < FR_TASK_COUNT; kind++)
            if (kind_s[kind] > kind_s[most]) most = kind;
        if (kind_s[most] <= 0) break;
        fr_text_addf(text, "  %-24s", fr_task_names[most]);
        add_quantity(text, 11, kind_s[most], FR_QUANTITY_TIME);
        fr_text_addf(text, "  %5.1f %%  %8" PRId64 " tasks\n", 100 * kind_s[most] / all_s,
                     kind_n[most]);
        kind_s[most] = 0;
    }
    for (int64_t k = 0, shown = 0; k < s->timeline.count && n <= SHOWN; k++) {
        const struct fr_span *span = &s->timeline.spans[k];
        if (!(fr_span_critical_s(span) > 0)) continue;
        fr_text_addf(text, "%s%s", shown++ ? " > " : "  ", fr_task_names[span->kind]);
        if (span->micro >= 0) fr_text_addf(text, " %d", span->micro);
        fr_text_addf(text, " @%d", span->rank);
    }
    fr_text_addf(text, n <= SHOWN ? "\n" : "  task by task: --json, or marked in --gantt\n");
}

void fr_simulation_text(struct fr_text *text, const struct fr_job *job,
                        const struct fr_simulation *s) {
    fr_render_outcome(text, job, &s->outcome);
    if (s->n_stages == 0) return;
    stages_text(text, s);
    critical_text(text, s);
    fr_text_addf(text, "\n%" PRId64 " tasks, network %s:\n", s->n_tasks, s->network->name);
    fr_wrap_cell(text, 0, s->network->summary);
    struct fr_text words = {0};
    fr_conflicts_words(s, &words);
    if (words.length > 0) fr_wrap_cell(text, 0, fr_text_get(&words));
    fr_text_free(&words);
}
