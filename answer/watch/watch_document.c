/* A run in flight as JSON. */
#include <inttypes.h>
#include <math.h>
#include <time.h>

#include "answer/watch/watch.h"
#include "base/json.h"
#include "models/outcome/rates.h"

static void add_clock(struct fr_json_writer *j, const char *key, double s, const char *format) {
    const time_t t = (time_t)(isfinite(s) ? s : 0);
    struct tm parts;
    char text[40];
    fr_json_key(j, key);
    if (isfinite(s) && fabs(s) < 1e11 && gmtime_r(&t, &parts) &&
        strftime(text, sizeof text, format, &parts) > 0)
        fr_json_put_string(j, text);
    else
        fr_json_put_null(j);
}

static void put_step(struct fr_json_writer *j, const struct fr_watch *w) {
    const struct fr_scored *s = &w->of->expected->scored;
    fr_json_add_number(j, "step", w->step);
    fr_json_add_number(j, "steps", w->total);
    fr_json_add_number(j, "time_s", w->time_s);
    fr_json_add_number(j, "predicted_s", s->predicted_s);
    fr_json_add_number(j, "low_s", s->high_s > 0 ? s->low_s : NAN);
    fr_json_add_number(j, "high_s", s->high_s > 0 ? s->high_s : NAN);
    fr_json_add_number(j, "error", w->error);
    fr_json_key(j, "inside");
    if (s->high_s > 0)
        fr_json_put_bool(j, w->inside);
    else
        fr_json_put_null(j);
    fr_json_add_number(j, "recent_s", w->recent_s);
    fr_json_add_integer(j, "recent_lines", w->recent_n);
    fr_json_add_number(j, "recent_error", w->recent_error);
    fr_json_add_number(j, "trend", w->trend);
    fr_json_add_bool(j, "stopped", w->stopped);
    fr_json_add_bool(j, "outside", w->outside);
}

static void put_rates(struct fr_json_writer *j, const struct fr_watch *w) {
    const struct fr_watch_expected *e = w->of->expected;
    const struct fr_rates expected = fr_rates_of(&e->job, &e->out);
    const double ranks = (double)e->out.ranks;
    fr_json_add_number(j, "tokens_per_s", w->tokens_per_s);
    fr_json_add_number(j, "tokens_per_s_per_device", w->tokens_per_s / ranks);
    fr_json_add_number(j, "samples_per_s", w->samples_per_s);
    fr_json_add_number(j, "mfu", w->mfu);
    fr_json_add_number(j, "predicted_tokens_per_s", expected.tokens_per_s);
    fr_json_add_number(j, "predicted_mfu", expected.mfu);
}

static void put_end(struct fr_json_writer *j, const struct fr_watch *w) {
    fr_json_add_number(j, "step_with_pauses_s", w->step_wall_s);
    fr_json_add_number(j, "left_s", w->left_s);
    add_clock(j, "ends_at", w->ends_s, "%Y-%m-%dT%H:%M:%SZ");
    add_clock(j, "ends_at_log", w->ends_log_s, "%Y-%m-%dT%H:%M:%S");
    fr_json_add_object(j, "whole");
    fr_json_add_number(j, "time_s", w->whole_s);
    fr_json_add_number(j, "device_hours", w->device_s / 3600);
    fr_json_add_number(j, "energy_J", w->energy_J);
    fr_json_add_number(j, "energy_kWh", w->energy_J / 3.6e6);
    fr_json_add_number(j, "price", w->price);
    if (w->of->training->price_per_s > 0)
        fr_json_add_string(j, "currency", w->of->training->currency);
    fr_json_add_number(j, "carbon_kg", w->carbon_kg);
    fr_json_end_object(j);
}

static void put_off(struct fr_json_writer *j, const struct fr_watch *w) {
    fr_json_key(j, "part");
    if (w->n_off > 0 && w->order[0] != FR_WATCH_MODEL)
        fr_json_put_string(j, fr_watch_off_names[w->order[0]]);
    else
        fr_json_put_null(j);
    fr_json_add_array(j, "likely_off");
    for (int i = 0; i < w->n_off; i++) {
        fr_json_begin_object(j);
        fr_json_add_string(j, "part", fr_watch_off_names[w->order[i]]);
        fr_json_add_number(j, "of_step", w->off[w->order[i]]);
        if (w->order[i] == FR_WATCH_SLOW_RANK && w->slow_rank >= 0)
            fr_json_add_integer(j, "rank", w->slow_rank);
        fr_json_end_object(j);
    }
    fr_json_end_array(j);
    fr_json_add_object(j, "lost");
    for (int i = FR_WATCH_STALL; i < FR_WATCH_OFF_COUNT; i++)
        fr_json_add_number(j, fr_watch_off_names[i], w->lost[i]);
    fr_json_end_object(j);
}

/* Phases that the trainer's timers tell. */
static void put_timers(struct fr_json_writer *j, const struct fr_timers *timers) {
    if (timers->reports == 0) return;
    fr_json_add_object(j, "timers");
    for (int i = 0; i < FR_TIMER_KINDS; i++) {
        double least_s = 0, most_s = 0;
        if (!fr_timers_of(timers, i, &least_s, &most_s)) continue;
        fr_json_add_object(j, fr_timer_names[i]);
        fr_json_add_number(j, "least_s", least_s);
        fr_json_add_number(j, "most_s", most_s);
        fr_json_end_object(j);
    }
    fr_json_end_object(j);
}

static void put_lines(struct fr_json_writer *j, const struct fr_logged_time *t) {
    fr_json_add_object(j, "lines");
    fr_json_add_integer(j, "counted", t->counted);
    fr_json_add_integer(j, "warm_up", t->warm_up);
    fr_json_add_integer(j, "ramp_up", t->ramp_up);
    fr_json_add_integer(j, "evaluation", t->evaluation);
    fr_json_add_integer(j, "checkpoint", t->checkpoint);
    fr_json_add_integer(j, "skipped", t->skipped);
    fr_json_add_integer(j, "healing", t->healing);
    fr_json_add_integer(j, "stalls", t->stalls);
    fr_json_end_object(j);
}

void fr_watch_json(const struct fr_watch *w, int indent, struct fr_text *text) {
    struct fr_json_writer j = {.text = text, .indent = indent};
    fr_json_begin_object(&j);
    fr_json_add_string(&j, "schema", "forerun/watch/1");
    fr_json_add_string(&j, "log", w->of->log);
    fr_json_add_string(&j, "state", fr_watch_states[w->state]);
    fr_json_add_string(&j, "cluster", w->of->run->cluster->name);
    fr_json_add_string(&j, "runtime", w->of->run->runtime);
    fr_json_add_integer(&j, "ranks", w->of->expected->out.ranks);
    put_step(&j, w);
    put_rates(&j, w);
    put_end(&j, w);
    put_off(&j, w);
    put_timers(&j, &w->of->read->timers);
    put_lines(&j, &w->of->read->timed);
    fr_json_end_object(&j);
    if (indent == 0) fr_text_addf(text, "\n");
}
