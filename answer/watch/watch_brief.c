/* A run in flight, on one screen, and on one line. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "answer/brief/words.h"
#include "answer/predict/training_text.h"
#include "answer/text/render.h"
#include "answer/watch/watch.h"
#include "base/text/readable.h"
#include "base/text/wrap.h"
#include "models/outcome/rates.h"

/* "+3.1 %" */
static const char *signed_percent(double share, char out[FR_READABLE]) {
    char plain[FR_READABLE];
    snprintf(out, FR_READABLE, "%s%.36s", share > 0 ? "+" : "",
             fr_readable_percent(share, plain));
    return out;
}

static const char *clock_of(double s, char out[FR_READABLE]) {
    const time_t t = (time_t)s;
    struct tm parts;
    if (!isfinite(s) || fabs(s) > 1e11 || !gmtime_r(&t, &parts) ||
        strftime(out, FR_READABLE, "%Y-%m-%d %H:%M", &parts) == 0)
        snprintf(out, FR_READABLE, "-");
    return out;
}

static void question(struct fr_brief *brief, const struct fr_watch *w) {
    const struct fr_watch_expected *e = w->of->expected;
    struct fr_job job = e->job;
    if (!*job.workload.name) {
        char name[48];
        snprintf(job.workload.name, sizeof job.workload.name, "%s",
                 fr_brief_name(w->of->log, name));
    }
    fr_brief_question(brief, &job, &e->out.plan, e->out.ranks, NULL);
}

static void progress(struct fr_brief *brief, const struct fr_watch *w) {
    char share[FR_READABLE];
    struct fr_text words = {0};
    if (isfinite(w->step))
        fr_text_addf(&words, "%.0f", w->step);
    else
        fr_text_addf(&words, "the log says a mean alone");
    if (isfinite(w->total) && isfinite(w->step))
        fr_text_addf(&words, " of %.0f, %s", w->total, fr_readable_percent(w->done, share));
    fr_text_addf(&words, "; %s",
                 w->state == FR_WATCH_IDLE          ? "nothing more was printed"
                 : w->state == FR_WATCH_INTERRUPTED ? "no longer watched"
                 : w->state == FR_WATCH_READ        ? "the log as it is now"
                                                    : fr_watch_states[w->state]);
    fr_brief_words(brief, FR_BRIEF_MUST, "step", &words);
}

static void times(struct fr_brief *brief, const struct fr_watch *w) {
    const struct fr_scored *s = &w->of->expected->scored;
    char a[FR_READABLE], b[FR_READABLE], c[FR_READABLE], range[2 * FR_READABLE];
    struct fr_text words = {0};
    fr_text_addf(&words, "%s a step; predicted %s", fr_readable(w->time_s, FR_QUANTITY_TIME, a),
                 fr_readable(s->predicted_s, FR_QUANTITY_TIME, b));
    if (s->high_s > s->low_s)
        fr_text_addf(&words, " (90 %%: %s)",
                     fr_readable_range(s->low_s, s->high_s, FR_QUANTITY_TIME, range));
    if (isfinite(w->error)) fr_text_addf(&words, ", error %s", signed_percent(w->error, c));
    fr_brief_words(brief, FR_BRIEF_MUST, "time", &words);
    if (w->recent_n > 0 && isfinite(w->step)) {
        fr_text_addf(&words, "%s a step in the last %d line%s",
                     fr_readable(w->recent_s, FR_QUANTITY_TIME, a), w->recent_n,
                     w->recent_n == 1 ? "" : "s");
        if (isfinite(w->trend))
            fr_text_addf(&words, "; %s since its first third", signed_percent(w->trend, c));
        fr_brief_words(brief, FR_BRIEF_MUST, "now", &words);
    }
    fr_brief_row(brief, FR_BRIEF_MUST, "verdict", "%s",
                 w->stopped   ? "stopped: silent for more than ten lines' time (exit code 6)"
                 : w->outside ? "outside its 90 % interval (exit code 6)"
                 : !isfinite(s->predicted_s) ? "the plan cannot be priced"
                 : !(s->high_s > 0)          ? "no interval is stated"
                 : w->inside                 ? "inside its 90 % interval"
                                             : "too few lines to say so; so far outside");
}

static void rates(struct fr_brief *brief, const struct fr_watch *w) {
    const struct fr_watch_expected *e = w->of->expected;
    const struct fr_rates expected = fr_rates_of(&e->job, &e->out);
    const bool tokens = isfinite(w->tokens_per_s);
    const double now = tokens ? w->tokens_per_s : w->samples_per_s,
                 then = tokens ? expected.tokens_per_s : expected.samples_per_s;
    char a[FR_READABLE], b[FR_READABLE], c[FR_READABLE];
    struct fr_text words = {0};
    if (!isfinite(now)) return;
    fr_text_addf(
        &words, "%s %s/s, %s a %s", fr_readable_number(now, a), tokens ? "tokens" : "samples",
        fr_readable_number(now / (double)e->out.ranks, b), fr_brief_device(&e->job.cluster));
    if (isfinite(w->mfu)) fr_text_addf(&words, ", MFU %s", fr_readable_percent(w->mfu, c));
    fr_text_addf(&words, "; predicted %s", fr_readable_number(then, a));
    if (isfinite(expected.mfu))
        fr_text_addf(&words, ", MFU %s", fr_readable_percent(expected.mfu, c));
    fr_brief_words(brief, FR_BRIEF_MUST, "rate", &words);
}

static void off(struct fr_brief *brief, const struct fr_watch *w) {
    char share[FR_READABLE];
    if (!isfinite(w->error)) {
        fr_brief_row(brief, FR_BRIEF_MUST, "likely off", "not known without a prediction");
        return;
    }
    if (w->n_off == 0)
        fr_brief_row(brief, FR_BRIEF_MUST, "likely off", "nothing by 2 %% of a step");
    for (int i = 0; i < w->n_off; i++) {
        const int what = w->order[i];
        char rank[60] = "";
        if (what == FR_WATCH_SLOW_RANK && w->slow_rank >= 0)
            snprintf(rank, sizeof rank, ": rank %lld", (long long)w->slow_rank);
        else if (what == FR_WATCH_SLOW_RANK)
            snprintf(rank, sizeof rank, " (--timing-log-option all says which)");
        fr_brief_row(brief, i < 2 ? FR_BRIEF_MUST : FR_BRIEF_SHOULD, i ? "" : "likely off",
                     "%s%s, %s of a step", fr_watch_off_words[what], rank,
                     signed_percent(w->off[what], share));
    }
}

/* Phases that the trainer's timers tell, fastest to slowest rank. */
static void timers(struct fr_brief *brief, const struct fr_watch *w) {
    static const char *const words[] = {"passes", "gradients", "optimiser"};
    char range[2 * FR_READABLE];
    struct fr_text text = {0};
    for (int i = 0; i < FR_TIMER_KINDS; i++) {
        double least_s = 0, most_s = 0;
        if (!fr_timers_of(&w->of->read->timers, i, &least_s, &most_s)) continue;
        fr_text_addf(&text, "%s%s %s", text.length ? ", " : "", words[i],
                     fr_readable_range(least_s, most_s, FR_QUANTITY_TIME, range));
    }
    if (text.length)
        fr_brief_words(brief, FR_BRIEF_SHOULD, "timers", &text);
    else
        fr_text_free(&text);
}

static void end(struct fr_brief *brief, const struct fr_watch *w) {
    char a[FR_READABLE], b[FR_READABLE];
    struct fr_text words = {0};
    if (!isfinite(w->left_s)) {
        fr_brief_row(
            brief, FR_BRIEF_MUST, "ends",
            isfinite(w->step)
                ? "not known: the log does not say how many steps; give --steps or --tokens"
                : "not known: the log does not say which step it is at");
        return;
    }
    if (w->state == FR_WATCH_COMPLETE) {
        fr_brief_row(brief, FR_BRIEF_MUST, "ends", "its last step is printed");
        return;
    }
    fr_text_addf(&words, "in %s", fr_render_duration(w->left_s, a, sizeof a));
    if (isfinite(w->ends_s)) fr_text_addf(&words, ", at %s UTC", clock_of(w->ends_s, b));
    if (isfinite(w->ends_log_s))
        fr_text_addf(&words, " (by the log's clock %s)", clock_of(w->ends_log_s, b));
    fr_text_addf(&words, "; %s a step with pauses",
                 fr_readable(w->step_wall_s, FR_QUANTITY_TIME, a));
    fr_brief_words(brief, FR_BRIEF_MUST, "ends", &words);
}

static void cost(struct fr_brief *brief, const struct fr_watch *w) {
    char a[FR_READABLE], b[FR_READABLE];
    struct fr_text words = {0};
    if (!isfinite(w->whole_s)) return;
    fr_text_addf(&words, "%s in all, %s device-hours",
                 fr_render_duration(w->whole_s, a, sizeof a),
                 fr_readable_number(w->device_s / 3600, b));
    if (isfinite(w->price))
        fr_text_addf(&words, ", %s %s", fr_readable_number(w->price, a),
                     w->of->training->currency);
    if (isfinite(w->energy_J))
        fr_text_addf(&words, ", %s at the predicted power",
                     fr_render_energy(w->energy_J / 3.6e6, a, sizeof a));
    if (isfinite(w->carbon_kg))
        fr_text_addf(&words, ", %s of CO2", fr_render_mass(w->carbon_kg, a, sizeof a));
    fr_brief_words(brief, FR_BRIEF_MUST, "costs", &words);
}

/* The counted lines, in the sentences that import prints, too. */
static void counted(struct fr_brief *brief, const struct fr_watch *w) {
    const char *at = fr_text_get(&w->of->read->stated);
    for (int i = 0; *at; i++) {
        const size_t length = strcspn(at, "\n");
        fr_brief_row(brief, i == 0 ? FR_BRIEF_SHOULD : FR_BRIEF_MAY, i ? "" : "log", "%.*s",
                     (int)length, at);
        at += length + (at[length] == '\n');
    }
}

void fr_watch_brief(const struct fr_watch *w, const char *again, struct fr_text *text) {
    const struct fr_watch_expected *e = w->of->expected;
    struct fr_brief brief = {0};
    struct fr_text plan = {0}, fits = {0};
    question(&brief, w);
    progress(&brief, w);
    times(&brief, w);
    rates(&brief, w);
    end(&brief, w);
    cost(&brief, w);
    fr_brief_blank(&brief);
    off(&brief, w);
    timers(&brief, w);
    fr_brief_plan(&e->out, 0, &plan);
    fr_brief_words(&brief, FR_BRIEF_SHOULD, "plan", &plan);
    if (isfinite(e->out.time_s)) fr_brief_fits(&e->job, &e->out, &fits);
    fr_brief_words(&brief, FR_BRIEF_SHOULD, "memory", &fits);
    fr_brief_row(&brief, FR_BRIEF_SHOULD, "software", "%s", w->of->run->runtime);
    counted(&brief, w);
    if (!isfinite(e->out.time_s)) fr_brief_reasons(&brief, &e->job, &e->out);
    if (e->out.reasons)
        fr_brief_row(&brief, FR_BRIEF_SHOULD, "doubt",
                     "by prediction this plan cannot run, and it does: are model, plan and "
                     "cluster those of the run?");
    if (*again) fr_brief_command(&brief, "next", again, "");
    fr_brief_row(&brief, FR_BRIEF_MUST, *again ? "" : "next", "%s--json",
                 *again ? "or with " : "the same with ");
    fr_brief_print(&brief, FR_COLUMNS, text);
}

void fr_watch_line(const struct fr_watch *w, struct fr_text *text) {
    const struct fr_scored *s = &w->of->expected->scored;
    char a[FR_READABLE], b[FR_READABLE], line[FR_COLUMNS + 1];
    size_t used = 0;
    fr_line_addf(line, sizeof line, &used, "%.0f", w->step);
    if (isfinite(w->total)) fr_line_addf(line, sizeof line, &used, "/%.0f", w->total);
    fr_line_addf(line, sizeof line, &used, "  %s, predicted %s",
                 fr_readable(w->recent_s, FR_QUANTITY_TIME, a),
                 fr_readable(s->predicted_s, FR_QUANTITY_TIME, b));
    if (isfinite(w->mfu))
        fr_line_addf(line, sizeof line, &used, "  MFU %s", fr_readable_percent(w->mfu, a));
    if (isfinite(w->left_s) && w->state != FR_WATCH_COMPLETE)
        fr_line_addf(line, sizeof line, &used, "  ends in %s",
                     fr_render_duration(w->left_s, a, sizeof a));
    fr_line_addf(line, sizeof line, &used, "  %s",
                 w->state == FR_WATCH_COMPLETE ? "complete"
                 : w->outside                  ? "OUTSIDE"
                 : !w->judged                  ? "few lines"
                                               : "inside");
    fr_text_addf(text, "%s\n", line);
}
