/* Predictions beside measured runs, on one screen. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/text/brief.h"
#include "base/text/readable.h"
#include "base/text/wrap.h"
#include "trust/scoring.h"

enum { KEYS_SHOWN = 12 };

/* The value that all runs have, or how many there are. */
static const char *shared(const struct fr_scoring *s,
                          const char *(*of)(const struct fr_run *run), const char *several,
                          char out[64]) {
    const char *one = of(&s->runs.items[0]);
    snprintf(out, 64, "%.60s", one);
    for (int i = 1; i < s->runs.count; i++)
        if (strcmp(of(&s->runs.items[i]), one) != 0) snprintf(out, 64, "%s", several);
    return out;
}

static const char *cluster_of(const struct fr_run *run) { return run->cluster->name; }
static const char *model_of(const struct fr_run *run) { return run->workload.name; }
static const char *runtime_of(const struct fr_run *run) { return run->runtime; }

static void question(struct fr_brief *brief, const struct fr_scoring *s) {
    char line[240], cluster[64], model[64], n[FR_READABLE];
    shared(s, model_of, "several models", model);
    shared(s, cluster_of, "several clusters", cluster);
    snprintf(line, sizeof line, "%s measured run%s%s%s%s%s beside their predictions",
             fr_readable_count(s->runs.count, n), s->runs.count == 1 ? "" : "s",
             *model ? " of " : "", model, *cluster ? " on " : "", cluster);
    fr_brief_head(brief, line);
}

static void add_score(const struct fr_score *score, struct fr_text *words) {
    char mape[FR_READABLE], median[FR_READABLE], p90[FR_READABLE], bias[FR_READABLE];
    fr_text_addf(words, "error %s on average, median %s, nine in ten under %s, bias %s%s",
                 fr_readable_percent(score->mape, mape),
                 fr_readable_percent(score->median_error, median),
                 fr_readable_percent(score->p90_error, p90), score->bias > 0 ? "+" : "",
                 fr_readable_percent(score->bias, bias));
}

static void answer(struct fr_brief *brief, const struct fr_score *score) {
    char covered[FR_READABLE], mean[FR_READABLE], worst[FR_READABLE];
    struct fr_text words = {0};
    if (score->n == 0)
        fr_text_addf(&words, "none of the %d runs could be predicted", score->missing);
    else
        add_score(score, &words);
    fr_brief_words(brief, FR_BRIEF_MUST, "time", &words);
    if (score->missing > 0 && score->n > 0)
        fr_brief_row(brief, FR_BRIEF_SHOULD, "", "%d more could not be predicted",
                     score->missing);
    if (isfinite(score->coverage))
        fr_brief_row(brief, FR_BRIEF_MUST, "sure",
                     "%s of the runs lie in their 90 %% intervals",
                     fr_readable_percent(score->coverage, covered));
    if (isfinite(score->kendall_tau))
        fr_brief_row(brief, FR_BRIEF_SHOULD, "order", "Kendall's tau %.3f", score->kendall_tau);
    if (isfinite(score->regret_mean))
        fr_brief_row(brief, FR_BRIEF_SHOULD, "choice",
                     "choosing by prediction costs %s on average, %s at worst, of %d groups",
                     fr_readable_percent(score->regret_mean, mean),
                     fr_readable_percent(score->regret_worst, worst), score->groups);
}

/* Runs ran: those that are said not to fit are errors, of the model or of the file. */
static fr_status fits(struct fr_brief *brief, const struct fr_scoring *s,
                      struct fr_error *err) {
    struct fr_text words = {0};
    const int wrong =
        s->refused.infeasible[FR_REASON_MEMORY] + s->refused.infeasible[FR_REASON_UNSURE];
    if (wrong > 0)
        fr_text_addf(&words, "%d of the runs would not fit, by prediction, and ran", wrong);
    else
        fr_text_addf(&words, "all fit, by prediction, as they did");
    fr_brief_words(brief, FR_BRIEF_MUST, "memory", &words);
    for (int at = 0; at < FR_COUNTED_COUNT; at++) {
        struct fr_score score;
        FR_TRY(fr_scoring_memory(s, (fr_run_counted)at, &score, err));
        if (score.n == 0) continue;
        fr_text_addf(&words, "beside %d that tell it, counted as %s: ", score.n,
                     fr_run_counted_words[at]);
        add_score(&score, &words);
        fr_brief_words(brief, FR_BRIEF_SHOULD, "", &words);
    }
    return FR_OK;
}

static fr_status energy(struct fr_brief *brief, const struct fr_scoring *s,
                        struct fr_error *err) {
    struct fr_energy_score e;
    struct fr_text words = {0};
    char watts[FR_READABLE];
    FR_TRY(fr_scoring_energy(s, &e, err));
    if (e.score.n == 0) return FR_OK;
    fr_text_addf(&words, "of %d runs: ", e.score.n);
    add_score(&e.score, &words);
    fr_text_addf(&words, "; power %s off on average",
                 fr_readable_percent(e.watts_error, watts));
    fr_brief_words(brief, FR_BRIEF_SHOULD, "energy", &words);
    return FR_OK;
}

struct keys {
    struct fr_brief *brief;
    struct fr_score all;
    int n;
};

static void one_key(void *context, const char *name, const struct fr_score *score) {
    struct keys *keys = context;
    struct fr_text words = {0};
    if (keys->n++ == 0) {
        keys->all = *score;
        return;
    }
    if (keys->n > KEYS_SHOWN + 1) {
        keys->brief->left_out++;
        return;
    }
    fr_text_addf(&words, "%s (%d run%s): ", name, score->n, score->n == 1 ? "" : "s");
    add_score(score, &words);
    fr_brief_words(keys->brief, FR_BRIEF_MAY, keys->n == 2 ? "by" : "", &words);
}

/* The run that is furthest off. */
static void worst(struct fr_brief *brief, const struct fr_scoring *s) {
    int most = -1;
    double off = 0;
    char measured[FR_READABLE], predicted[FR_READABLE], error[FR_READABLE];
    for (int i = 0; i < s->runs.count; i++) {
        const double e = fabs(s->scored[i].predicted_s / s->scored[i].measured_s - 1);
        if (!(e > off)) continue;
        off = e;
        most = i;
    }
    if (most < 0) return;
    const struct fr_scored *row = &s->scored[most];
    fr_brief_row(brief, FR_BRIEF_SHOULD, "worst", "%s: %s measured, %s predicted, %s%s",
                 row->id, fr_readable(row->measured_s, FR_QUANTITY_TIME, measured),
                 fr_readable(row->predicted_s, FR_QUANTITY_TIME, predicted),
                 row->predicted_s > row->measured_s ? "+" : "",
                 fr_readable_percent(row->predicted_s / row->measured_s - 1, error));
}

static void changes(struct fr_brief *brief, const struct fr_scoring *s) {
    bool tuned = true;
    for (int i = 0; i < s->runs.count; i++)
        tuned = tuned && s->runs.items[i].cluster->tuning.present;
    fr_brief_row(brief, FR_BRIEF_SHOULD, "changes", "%s",
                 tuned
                     ? "with more runs: forerun tune takes them all"
                     : "with forerun tune, which takes these runs: nothing was tuned to them");
}

static void inputs(struct fr_brief *brief, const struct fr_scoring *s) {
    char runtime[64];
    int left_out = 0;
    for (int i = 1; i < FR_RUN_SKIP_COUNT; i++) left_out += (int)s->runs.skipped[i];
    fr_brief_row(brief, FR_BRIEF_SHOULD, "software", "%s",
                 shared(s, runtime_of, "several (--all)", runtime));
    if (left_out > 0)
        fr_brief_row(brief, FR_BRIEF_SHOULD, "left out", "%d rows of the files (--all)",
                     left_out);
}

fr_status fr_scoring_brief(const struct fr_scoring *s, const char *again, struct fr_text *text,
                           struct fr_error *err) {
    struct fr_brief brief = {0};
    struct fr_brief by = {0};
    struct keys keys = {.brief = &by};
    FR_TRY(fr_scoring_each(s, one_key, &keys, err));
    question(&brief, s);
    answer(&brief, &keys.all);
    fr_status status = fits(&brief, s, err);
    if (status == FR_OK) status = energy(&brief, s, err);
    fr_brief_blank(&brief);
    for (int i = 0; i < by.n; i++)
        fr_brief_words(&brief, by.row[i].stays, by.row[i].label, &by.row[i].words);
    brief.left_out += by.left_out;
    worst(&brief, s);
    changes(&brief, s);
    inputs(&brief, s);
    if (*again)
        fr_brief_command(&brief, "next", again, strstr(again, "--by") ? "--all" : "--by model");
    fr_brief_row(&brief, FR_BRIEF_MUST, *again ? "" : "next", "%s--all, --json",
                 *again ? "or with " : "the same with ");
    fr_brief_print(&brief, FR_COLUMNS, text);
    return status;
}
