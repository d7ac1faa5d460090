#include "answer/upgrade/upgrade_brief.h"

#include <math.h>
#include <stdio.h>

#include "answer/brief/words.h"
#include "answer/outcome/report.h"
#include "base/text/readable.h"
#include "base/text/wrap.h"

/* The runtime that is fastest for as many samples; -1: none can run. */
static int fastest(const struct fr_upgrade *u) {
    int best = -1;
    for (int i = 0; i < u->n; i++) {
        const struct fr_outcome *out = fr_upgrade_outcome(u, i);
        if (!out || out->reasons || !isfinite(u->row[i].time_s)) continue;
        if (best < 0 || u->row[i].time_s < u->row[best].time_s) best = i;
    }
    return best;
}

static void question(struct fr_brief *brief, const struct fr_upgrade *u) {
    const struct fr_outcome *out = NULL;
    int row = 0;
    for (int i = 0; i < u->n && !out; i++) {
        out = fr_upgrade_outcome(u, i);
        row = out ? i : 0;
    }
    fr_brief_question(brief, fr_upgrade_job(u, row), out ? &out->plan : NULL,
                      out ? out->ranks : 1, NULL);
}

static void answer(struct fr_brief *brief, const struct fr_upgrade *u, int best) {
    char name[48], first[48], gain[FR_READABLE];
    if (best < 0) {
        fr_brief_row(brief, FR_BRIEF_MUST, "fastest", "no plan is feasible with any runtime");
        return;
    }
    fr_brief_name(u->row[best].runtime, name);
    if (best == 0)
        fr_brief_row(brief, FR_BRIEF_MUST, "fastest", "%s: no other gains over it", name);
    else
        fr_brief_row(brief, FR_BRIEF_MUST, "fastest", "%s: %s more samples a second than %s",
                     name, fr_readable_percent(u->row[best].gain, gain),
                     fr_brief_name(u->row[0].runtime, first));
}

static void one(struct fr_brief *brief, const struct fr_upgrade *u, int i) {
    const struct fr_outcome *out = fr_upgrade_outcome(u, i);
    const char *label = i ? "" : "runtimes";
    struct fr_text words = {0};
    char name[48];
    fr_text_addf(&words, "%s: ", fr_brief_name(u->row[i].runtime, name));
    if (!out) {
        fr_text_addf(&words, "no plan is feasible");
        fr_brief_words(brief, FR_BRIEF_SHOULD, label, &words);
        return;
    }
    fr_brief_step(fr_upgrade_job(u, i), out, &words);
    for (int k = 0; k < FR_REASON_COUNT; k++)
        if (out->reasons & FR_BECAUSE(k)) {
            fr_text_addf(&words, "; cannot run: ");
            fr_report_reason(fr_upgrade_job(u, i), out, k, &words);
            break;
        }
    fr_brief_words(brief, FR_BRIEF_SHOULD, label, &words);
    fr_brief_plan(out, 0, &words);
    fr_brief_words(brief, FR_BRIEF_SPARE, "", &words);
    fr_brief_fits(fr_upgrade_job(u, i), out, &words);
    fr_brief_words(brief, FR_BRIEF_MAY, "", &words);
}

/* Parts of the gain, the largest first. */
static void gain(struct fr_brief *brief, const struct fr_upgrade *u, int best) {
    double gain_s[FR_UPGRADE_TERMS] = {0};
    struct fr_text words = {0};
    char share[FR_READABLE];
    if (best < 1) return;
    for (int i = 0; i < u->row[best].n_steps; i++) {
        const struct fr_upgrade_step *step = &u->row[best].step[i];
        gain_s[step->term] += step->before_s - step->after_s;
    }
    for (;;) {
        int most = 0;
        for (int t = 1; t < FR_UPGRADE_TERMS; t++)
            if (fabs(gain_s[t]) > fabs(gain_s[most])) most = t;
        if (!(fabs(gain_s[most]) >= 5e-4 * u->row[0].time_s)) break;
        fr_text_addf(&words, "%s%s %s%s", words.length ? ", " : "", fr_upgrade_term_words[most],
                     gain_s[most] > 0 ? "" : "+",
                     fr_readable_percent(-gain_s[most] / u->row[0].time_s, share));
        gain_s[most] = 0;
    }
    if (words.length) fr_text_addf(&words, " of the first's time");
    fr_brief_words(brief, FR_BRIEF_SHOULD, "changes", &words);
}

void fr_upgrades_brief(struct fr_text *text, const struct fr_upgrade *u, int n,
                       const char *again) {
    struct fr_brief brief = {0};
    for (int k = 0; k < n; k++) {
        const int best = fastest(&u[k]);
        fr_brief_blank(&brief);
        question(&brief, &u[k]);
        answer(&brief, &u[k], best);
        for (int i = 0; i < u[k].n; i++) one(&brief, &u[k], i);
        gain(&brief, &u[k], best);
    }
    fr_brief_row(&brief, FR_BRIEF_SHOULD, "sure",
                 "a gain is of one plan's model: errors that runtimes share fall out of it");
    fr_brief_blank(&brief);
    if (*again) fr_brief_command(&brief, "next", again, "--all");
    fr_brief_row(&brief, FR_BRIEF_MUST, *again ? "" : "next", "or with --json");
    fr_brief_print(&brief, FR_COLUMNS, text);
}
