#include "answer/simulate/simulation_brief.h"

#include <inttypes.h>
#include <math.h>

#include "answer/predict/predict_brief.h"
#include "answer/simulate/conflicts_words.h"
#include "base/text/readable.h"
#include "base/text/wrap.h"

/* The stages of a pipeline that compute most and least. */
static void stages(struct fr_brief *brief, const struct fr_simulation *s) {
    int most = 0, least = 0;
    const char *what = s->conflicts.played ? "rank" : "stage";
    char a[FR_READABLE], b[FR_READABLE];
    for (int i = 1; i < s->n_stages; i++) {
        if (s->stages[i].busy_s > s->stages[most].busy_s) most = i;
        if (s->stages[i].busy_s < s->stages[least].busy_s) least = i;
    }
    if (s->n_stages == 0) return;
    fr_readable_percent(s->stages[most].busy_s / s->outcome.time_s, a);
    fr_readable_percent(s->stages[least].busy_s / s->outcome.time_s, b);
    if (s->n_stages == 1)
        fr_brief_row(brief, FR_BRIEF_SHOULD, "busy", "a rank computes %s of the step", a);
    else
        fr_brief_row(brief, FR_BRIEF_SHOULD, s->conflicts.played ? "ranks" : "stages",
                     "%s %d of %d computes most, %s of the step; %s %d least, %s", what, most,
                     s->n_stages, a, what, least, b);
}

static void critical_path(struct fr_brief *brief, const struct fr_simulation *s) {
    enum { NAMED = 4 };
    double kind_s[FR_TASK_COUNT] = {0}, all_s = 0;
    struct fr_text words = {0};
    char share[FR_READABLE];
    int64_t n = 0;
    for (int64_t k = 0; k < s->timeline.count; k++) {
        const struct fr_span *span = &s->timeline.spans[k];
        const double critical_s = fr_span_critical_s(span);
        if (!(critical_s > 0)) continue;
        kind_s[span->kind] += critical_s;
        all_s += critical_s;
        n++;
    }
    if (n == 0) return;
    fr_text_addf(&words, "%s of tasks:", fr_readable_count(n, share));
    for (int named = 0; named < NAMED; named++) {
        int most = 0;
        for (int kind = 1; kind < FR_TASK_COUNT; kind++)
            if (kind_s[kind] > kind_s[most]) most = kind;
        if (!(kind_s[most] > 0)) break;
        fr_text_addf(&words, "%s %s %s", named ? "," : "", fr_task_names[most],
                     fr_readable_percent(kind_s[most] / all_s, share));
        kind_s[most] = 0;
    }
    fr_brief_words(brief, FR_BRIEF_SHOULD, "critical", &words);
}

static void conflicts(struct fr_brief *brief, const struct fr_simulation *s) {
    struct fr_text words = {0};
    fr_conflicts_words(s, &words);
    fr_brief_words(brief, FR_BRIEF_SHOULD, "conflicts", &words);
}

void fr_simulation_brief(struct fr_text *text, const struct fr_job *job,
                         const struct fr_simulation *s, const char *again) {
    struct fr_brief brief = {0};
    char tasks[FR_READABLE];
    fr_predict_rows(&brief, job, &s->outcome, NULL);
    if (s->n_stages > 0) {
        stages(&brief, s);
        critical_path(&brief, s);
        conflicts(&brief, s);
        fr_brief_row(&brief, FR_BRIEF_MAY, "network", "%s: %s; %s tasks were run",
                     s->network->name, s->network->summary,
                     fr_readable_count(s->n_tasks, tasks));
    }
    fr_brief_blank(&brief);
    if (*again && s->n_stages > 0) fr_brief_command(&brief, "next", again, "--trace step.json");
    fr_brief_row(&brief, FR_BRIEF_MUST, *again && s->n_stages > 0 ? "" : "next",
                 "or with --gantt step.svg, --all, --json");
    fr_brief_print(&brief, FR_COLUMNS, text);
}
