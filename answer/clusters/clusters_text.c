#include "answer/clusters/clusters_text.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "answer/outcome/report.h"
#include "answer/predict/training_text.h"
#include "answer/text/render.h"
#include "base/text/wrap.h"
#include "models/outcome/rates.h"

enum { CAPACITY = 40, WHAT = 16 };

static bool trains(const struct fr_rivals *r) { return fr_training_asked(&r->of[0].training); }

static bool several_models(const struct fr_rivals *r) {
    return strcmp(r->of[0].model, r->of[r->n - 1].model) != 0;
}

/* The name of a row: as long as the longest, short of a path's folders. */
static const char *last_of(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static const char *name_of(const struct fr_rivals *r, int i, char *out, size_t capacity) {
    if (several_models(r))
        snprintf(out, capacity, "%.40s, %.40s", last_of(r->of[i].cluster),
                 last_of(r->of[i].model));
    else
        snprintf(out, capacity, "%.60s", last_of(r->of[i].cluster));
    return out;
}

/* ---- the table ------------------------------------------------------------------------------- */

static void head(struct fr_text *text, const struct fr_rivals *r) {
    bool tokens = r->of[0].searched->job.workload.transformer.sequence > 0;
    fr_text_addf(text, "  #  ranks  iteration %15s    MFU",
                 tokens ? "tokens/s/device" : "samples/s/device");
    if (trains(r)) fr_text_addf(text, "    training      energy        CO2");
    fr_text_addf(text, "\n");
}

static const char *share(double x, char out[CAPACITY]) {
    if (isfinite(x))
        snprintf(out, CAPACITY, "%.1f %%", 100 * x);
    else
        snprintf(out, CAPACITY, "-");
    return out;
}

static void numbers(struct fr_text *text, const struct fr_rival *rival, int number) {
    const struct fr_outcome *best = fr_rival_best(rival);
    const struct fr_rates rates = fr_rates_of(fr_rival_job(rival), best);
    const struct fr_training_cost *c = &rival->cost;
    double each = (isfinite(rates.tokens_per_s) ? rates.tokens_per_s : rates.samples_per_s) /
                  (double)best->ranks;
    char a[CAPACITY], b[CAPACITY], m[CAPACITY];
    fr_text_addf(text, "%3d %6" PRId64 " %10s %15s %6s", number, best->ranks,
                 fr_render_quantity(best->time_s, FR_QUANTITY_TIME, a, CAPACITY),
                 fr_render_number(each, b, CAPACITY), share(rates.mfu, m));
    if (fr_training_asked(&rival->training))
        fr_text_addf(text, " %11s %11s %10s",
                     isfinite(c->time_s) ? fr_render_duration(c->time_s, a, CAPACITY) : "-",
                     isfinite(c->energy_J) ? fr_render_energy(c->energy_J / 3.6e6, b, CAPACITY)
                                           : "-",
                     isfinite(c->carbon_kg) ? fr_render_mass(c->carbon_kg, m, CAPACITY) : "-");
    fr_text_addf(text, "\n");
}

/* Behind its name: money, the interval and the plan. */
static void details(struct fr_text *text, const struct fr_rivals *r, int i) {
    const struct fr_rival *rival = &r->of[i];
    const struct fr_outcome *best = fr_rival_best(rival);
    char name[2 * CAPACITY + 4], plan[FR_PLAN_LINE], low[CAPACITY], high[CAPACITY],
        money[CAPACITY];
    struct fr_text words = {0};
    fr_text_addf(&words, "%s: ", name_of(r, i, name, sizeof name));
    if (isfinite(rival->cost.price) && rival->cost.price > 0)
        fr_text_addf(&words, "%s %s; ", fr_render_number(rival->cost.price, money, CAPACITY),
                     rival->training.currency);
    if (trains(r) && rival->cost.high_s > 0)
        fr_text_addf(&words, "%s to %s; ", fr_render_duration(rival->cost.low_s, low, CAPACITY),
                     fr_render_duration(rival->cost.high_s, high, CAPACITY));
    fr_text_addf(&words, "%s", fr_report_outcome_line(best, plan, sizeof plan));
    if (*fr_rival_job(rival)->cluster.runtime)
        fr_text_addf(&words, "; software %s", fr_rival_job(rival)->cluster.runtime);
    fr_text_addf(text, "     ");
    fr_wrap(text, fr_text_get(&words), 5, 7, FR_COLUMNS);
    fr_end_line(text);
    fr_text_free(&words);
}

/* The reason that left out most plans. */
static void why_none(struct fr_text *text, const struct fr_rivals *r, int i) {
    const struct fr_search_result *result = &r->of[i].searched->result;
    char name[2 * CAPACITY + 4];
    struct fr_text words = {0};
    int most = -1;
    for (int k = 0; k < FR_REASON_COUNT; k++)
        if (result->because[k] > 0 && (most < 0 || result->because[k] > result->because[most]))
            most = k;
    fr_text_addf(&words, "%s: no plan is feasible", name_of(r, i, name, sizeof name));
    if (most >= 0) {
        fr_text_addf(&words, "; %" PRId64 " of %" PRId64 ": ", result->because[most],
                     result->evaluated);
        fr_report_reason(&r->of[i].searched->job, &result->example[most].outcome, most, &words);
    }
    fr_text_addf(text, "%3d\n     ", i + 1);
    fr_wrap(text, fr_text_get(&words), 5, 7, FR_COLUMNS);
    fr_end_line(text);
    fr_text_free(&words);
}

/* ---- which is best at what ------------------------------------------------------------------- */

/* Time of a training, else of a sample. */
static double of_time(const struct fr_rival *rival) {
    return fr_training_asked(&rival->training)
               ? rival->cost.time_s
               : fr_rival_best(rival)->time_s / fr_search_samples(fr_rival_best(rival));
}
static double of_energy(const struct fr_rival *rival) {
    return fr_training_asked(&rival->training)
               ? rival->cost.energy_J
               : fr_rival_best(rival)->energy_J / fr_search_samples(fr_rival_best(rival));
}
static double of_money(const struct fr_rival *rival) {
    return rival->training.price_per_s > 0 ? rival->cost.price : NAN;
}
static double of_carbon(const struct fr_rival *rival) {
    return rival->training.carbon_kg_per_J > 0 ? rival->cost.carbon_kg : NAN;
}

/* Models train different things, and so are not held against each other; currencies neither. */
static bool comparable(const struct fr_rivals *r, bool money) {
    for (int i = 1; i < r->n; i++)
        if (money && strcmp(r->of[i].training.currency, r->of[0].training.currency) != 0)
            return false;
    return r->n > 1 && !several_models(r);
}

/* Aims at which one may be best. */
static const struct {
    const char *what;
    double (*of)(const struct fr_rival *rival);
    bool money;
} aims[] = {{"fastest", of_time, false},
            {"least energy", of_energy, false},
            {"least CO2", of_carbon, false},
            {"least money", of_money, true}};
enum { AIMS = sizeof aims / sizeof *aims };

const char *fr_rivals_best_at(const struct fr_rivals *r, int aim, struct fr_text *words) {
    char name[2 * CAPACITY + 4];
    int best = -1;
    if (aim >= AIMS) return NULL;
    if (!comparable(r, aims[aim].money)) return aims[aim].what;
    for (int i = 0; i < r->n; i++)
        if (fr_rival_best(&r->of[i]) && isfinite(aims[aim].of(&r->of[i])) &&
            (best < 0 || aims[aim].of(&r->of[i]) < aims[aim].of(&r->of[best])))
            best = i;
    if (best < 0) return aims[aim].what;
    fr_text_addf(words, "%s", name_of(r, best, name, sizeof name));
    for (int i = 0; i < r->n; i++) {
        if (i == best || !fr_rival_best(&r->of[i]) || !isfinite(aims[aim].of(&r->of[i])))
            continue;
        fr_text_addf(words, "; %s %+.1f %%", name_of(r, i, name, sizeof name),
                     100 * (aims[aim].of(&r->of[i]) / aims[aim].of(&r->of[best]) - 1));
    }
    return aims[aim].what;
}

const char *fr_rivals_name(const struct fr_rivals *r, int i, char out[FR_RIVAL_NAME]) {
    return name_of(r, i, out, FR_RIVAL_NAME);
}

void fr_render_rivals(struct fr_text *text, const struct fr_rivals *r) {
    struct fr_text lines = {0};
    const struct fr_job *first = &r->of[0].searched->job;
    if (!several_models(r)) fr_wrap_head(text, "model", first->workload.name, FR_COLUMNS);
    if (trains(r)) {
        const struct fr_training *t = &r->of[0].training;
        fr_text_addf(text, "training   %.4g %s\n", t->tokens > 0 ? t->tokens : t->samples,
                     t->tokens > 0 ? "tokens" : "samples");
    }
    fr_text_addf(text, "\n");
    head(text, r);
    for (int i = 0; i < r->n; i++) {
        if (!fr_rival_best(&r->of[i])) {
            why_none(text, r, i);
            continue;
        }
        numbers(text, &r->of[i], i + 1);
        details(text, r, i);
    }
    for (int aim = 0;; aim++) {
        struct fr_text words = {0};
        const char *what = fr_rivals_best_at(r, aim, &words);
        if (!what) break;
        if (!words.length) continue;
        fr_text_addf(&lines, "%-*s", WHAT, what);
        fr_wrap_list(&lines, fr_text_get(&words), WHAT, WHAT, FR_COLUMNS);
        fr_end_line(&lines);
        fr_text_free(&words);
    }
    if (lines.length) fr_text_addf(text, "\n%s", fr_text_get(&lines));
    fr_text_free(&lines);
}
