#include "answer/upgrade/upgrade_text.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "answer/outcome/report.h"
#include "answer/predict/training_text.h"
#include "answer/text/render.h"
#include "base/text/wrap.h"
#include "models/outcome/rates.h"

enum { CAPACITY = 40, WORDS = 52 };

static const char *last_of(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash && slash[1] ? slash + 1 : path;
}

/* The name of a row: without the folders of its path, unless another is called so too. */
static const char *name_of(const struct fr_upgrade *u, int row) {
    const char *last = last_of(u->row[row].runtime);
    for (int i = 0; i < u->n; i++)
        if (i != row && strcmp(last_of(u->row[i].runtime), last) == 0)
            return u->row[row].runtime;
    return last;
}

/* ---- the table ------------------------------------------------------------------------------- */

static void head(struct fr_text *text, const struct fr_upgrade *u) {
    bool tokens = fr_upgrade_job(u, 0)->workload.transformer.sequence > 0;
    fr_text_addf(text, "  #  ranks  iteration %12s     energy     memory       gain\n",
                 tokens ? "tokens/s" : "samples/s");
}

static void training(struct fr_text *words, const struct fr_upgrade *u,
                     const struct fr_training_cost *c) {
    char time[CAPACITY], energy[CAPACITY], money[CAPACITY];
    if (isfinite(c->time_s))
        fr_text_addf(words, "; training %s", fr_render_duration(c->time_s, time, CAPACITY));
    if (isfinite(c->energy_J))
        fr_text_addf(words, ", %s", fr_render_energy(c->energy_J / 3.6e6, energy, CAPACITY));
    if (isfinite(c->price) && c->price > 0)
        fr_text_addf(words, ", %s %s", fr_render_number(c->price, money, CAPACITY),
                     u->training.currency);
}

static void numbers(struct fr_text *text, const struct fr_upgrade *u, int i) {
    const struct fr_outcome *out = fr_upgrade_outcome(u, i);
    const struct fr_rates rates = fr_rates_of(fr_upgrade_job(u, i), out);
    char time[CAPACITY], rate[CAPACITY], energy[CAPACITY], memory[CAPACITY],
        gain[CAPACITY] = "-";
    if (i > 0 && isfinite(u->row[i].gain))
        snprintf(gain, sizeof gain, "%+.2f %%", 100 * u->row[i].gain);
    fr_text_addf(text, "%3d %6" PRId64 " %10s %12s %10s %10s %10s\n", i + 1, out->ranks,
                 fr_render_quantity(out->time_s, FR_QUANTITY_TIME, time, CAPACITY),
                 fr_render_number(isfinite(rates.tokens_per_s) ? rates.tokens_per_s
                                                               : rates.samples_per_s,
                                  rate, CAPACITY),
                 fr_render_quantity(out->energy_J, FR_QUANTITY_ENERGY, energy, CAPACITY),
                 fr_render_quantity(out->memory_peak_B, FR_QUANTITY_SIZE, memory, CAPACITY),
                 gain);
}

/* Behind its name the plan, or why there is none. */
static void details(struct fr_text *text, const struct fr_upgrade *u, int i) {
    const struct fr_outcome *out = fr_upgrade_outcome(u, i);
    char plan[FR_PLAN_LINE];
    struct fr_text words = {0};
    fr_text_addf(&words, "%.60s: ", name_of(u, i));
    if (out)
        fr_text_addf(&words, "%s", fr_report_outcome_line(out, plan, sizeof plan));
    else
        fr_text_addf(&words, "no plan is feasible");
    for (int k = 0; out && k < FR_REASON_COUNT; k++)
        if (out->reasons & FR_BECAUSE(k)) {
            fr_text_addf(&words, "; cannot be: ");
            fr_report_reason(fr_upgrade_job(u, i), out, k, &words);
        }
    if (out && fr_training_asked(&u->training)) training(&words, u, &u->row[i].cost);
    fr_text_addf(text, "     ");
    fr_wrap(text, fr_text_get(&words), 5, 7, FR_COLUMNS);
    fr_end_line(text);
    fr_text_free(&words);
}

/* ---- what a gain is made of ------------------------------------------------------------------ */

/* Seconds saved, and their share of the first's time, behind a name of so many columns. */
static void saved(struct fr_text *text, const struct fr_upgrade *u, double gain_s) {
    char time[CAPACITY];
    fr_text_addf(text, " %12s %+9.2f %%\n",
                 fr_quantity_format(gain_s, FR_QUANTITY_TIME, time, sizeof time),
                 100 * gain_s / u->row[0].time_s);
}

static void name(struct fr_text *text, const char *words, int indent) {
    fr_text_addf(text, "%*s", indent, "");
    fr_wrap_list(text, words, indent, indent + 2, WORDS);
    const char *line = fr_text_get(text), *end = strrchr(line, '\n');
    int used = fr_letters(end ? end + 1 : line, strlen(end ? end + 1 : line));
    if (used > WORDS) fr_text_addf(text, "\n");
    fr_text_addf(text, "%*s", used > WORDS ? WORDS : WORDS - used, "");
}

/* "graphs none to layers"; of another plan what differs. */
static void say(struct fr_text *words, const struct fr_upgrade_step *step) {
    if (step->term == FR_UPGRADE_PLAN) {
        fr_text_addf(words, "%s", step->to);
        return;
    }
    fr_text_addf(words, "%s", step->key);
    if (*step->from || *step->to)
        fr_text_addf(words, " %s to %s", *step->from ? step->from : "none",
                     *step->to ? step->to : "none");
}

static void one_step(struct fr_text *text, const struct fr_upgrade *u,
                     const struct fr_upgrade_step *step) {
    struct fr_text words = {0};
    say(&words, step);
    name(text, fr_text_get(&words), 4);
    saved(text, u, step->before_s - step->after_s);
    text->failed = text->failed || words.failed;
    fr_text_free(&words);
}

static void steps(struct fr_text *text, const struct fr_upgrade *u,
                  const struct fr_upgrade_row *row) {
    for (int term = 0; term < FR_UPGRADE_TERMS; term++) {
        double gain_s = 0;
        int n = 0;
        for (int i = 0; i < row->n_steps; i++) {
            const struct fr_upgrade_step *step = &row->step[i];
            if ((int)step->term != term || step->before_s == step->after_s) continue;
            gain_s += step->before_s - step->after_s;
            n++;
        }
        if (n == 0) continue;
        name(text, fr_upgrade_term_words[term], 2);
        saved(text, u, gain_s);
        for (int i = 0; i < row->n_steps; i++)
            if ((int)row->step[i].term == term && row->step[i].before_s != row->step[i].after_s)
                one_step(text, u, &row->step[i]);
    }
}

/* Facts that differ, and that no time of this plan depends on. */
static void idle(struct fr_text *text, const struct fr_upgrade_row *row) {
    static const char head_of[] = "  without effect on the time: ";
    struct fr_text words = {0};
    for (int i = 0; i < row->n_steps; i++) {
        if (row->step[i].before_s != row->step[i].after_s) continue;
        if (words.length) fr_text_addf(&words, ", ");
        say(&words, &row->step[i]);
    }
    if (words.length) {
        fr_text_addf(text, "%s", head_of);
        fr_wrap_list(text, fr_text_get(&words), (int)sizeof head_of - 1, 4, FR_COLUMNS);
        fr_end_line(text);
    }
    text->failed = text->failed || words.failed;
    fr_text_free(&words);
}

static void parts(struct fr_text *text, const struct fr_upgrade *u, int row) {
    static const double LEAST = 5e-5; /* of the first's time: it would read as nothing */
    for (int i = 0; i <= FR_PART_COUNT; i++) {
        double gain_s = fr_upgrade_part_s(u, 0, i) - fr_upgrade_part_s(u, row, i);
        if (!(fabs(gain_s) >= LEAST * u->row[0].time_s)) continue;
        name(text, i < FR_PART_COUNT ? fr_part_names[i] : "overlap", 4);
        saved(text, u, gain_s);
    }
}

static void made_of(struct fr_text *text, const struct fr_upgrade *u, int row) {
    const struct fr_upgrade_row *r = &u->row[row];
    struct fr_text words = {0};
    fr_text_addf(&words, "from %.60s to %.60s, one fact after the other in this order",
                 name_of(u, 0), name_of(u, row));
    fr_text_addf(text, "\n");
    fr_wrap(text, fr_text_get(&words), 0, 2, FR_COLUMNS);
    fr_end_line(text);
    fr_text_free(&words);
    steps(text, u, r);
    name(text, "all", 2);
    saved(text, u, u->row[0].time_s - r->time_s);
    idle(text, r);
    if (u->row[0].time_s == r->time_s) return;
    fr_text_addf(text, "  the same by parts of the time\n");
    parts(text, u, row);
}

void fr_render_upgrade(struct fr_text *text, const struct fr_upgrade *u) {
    fr_wrap_head(text, "cluster", u->cluster, FR_COLUMNS);
    fr_wrap_head(text, "model", fr_upgrade_job(u, 0)->workload.name, FR_COLUMNS);
    fr_text_addf(text, "\n");
    head(text, u);
    for (int i = 0; i < u->n; i++) {
        if (fr_upgrade_outcome(u, i))
            numbers(text, u, i);
        else
            fr_text_addf(text, "%3d\n", i + 1);
        details(text, u, i);
    }
    for (int i = 1; i < u->n; i++)
        if (isfinite(u->row[i].gain)) made_of(text, u, i);
    fr_text_addf(text, "\n");
    fr_wrap(text,
            "gain: samples a second above the first's; of a fact: time that an iteration is "
            "shorter by once it is changed, those above it having been, and its share of the "
            "first's time",
            0, 0, FR_COLUMNS);
    fr_end_line(text);
}
