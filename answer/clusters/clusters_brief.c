#include "answer/clusters/clusters_brief.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "answer/brief/words.h"
#include "answer/clusters/clusters_text.h"
#include "answer/outcome/report.h"
#include "answer/search/search_brief.h"
#include "base/text/readable.h"
#include "base/text/wrap.h"
#include "models/job/runtime.h"
#include "models/outcome/fits/fits.h"

int fr_rivals_fastest(const struct fr_rivals *r) {
    int best = -1;
    double least = INFINITY;
    for (int i = 0; i < r->n; i++) {
        const struct fr_outcome *out = fr_rival_best(&r->of[i]);
        if (!out) continue;
        const double each_s = fr_training_asked(&r->of[i].training)
                                  ? r->of[i].cost.time_s
                                  : out->time_s / fr_search_samples(out);
        if (best >= 0 && !(each_s < least)) continue;
        least = each_s;
        best = i;
    }
    return best;
}

static bool same_model(const struct fr_rivals *r) {
    for (int i = 1; i < r->n; i++)
        if (strcmp(r->of[i].model, r->of[0].model) != 0) return false;
    return true;
}

static void question(struct fr_brief *brief, const struct fr_rivals *r, int first) {
    const struct fr_rival *rival = &r->of[first < 0 ? 0 : first];
    const struct fr_outcome *out = fr_rival_best(rival);
    char where[64], line[120];
    const struct fr_space *space = &rival->searched->space;
    const int64_t asked = space->n_ranks > 0 ? space->ranks[space->n_ranks - 1] : 1;
    if (same_model(r)) {
        snprintf(where, sizeof where, "each of %d cluster%s", r->n, r->n == 1 ? "" : "s");
        fr_brief_question(brief, fr_rival_job(rival), out ? &out->plan : NULL,
                          out ? out->ranks : asked, where);
        return;
    }
    snprintf(line, sizeof line, "%d pairs of cluster and model, the best plan of each", r->n);
    fr_brief_head(brief, line);
}

/* Who is best at what; nobody where nothing can run. */
static void answers(struct fr_brief *brief, const struct fr_rivals *r, int first) {
    if (first < 0) fr_brief_row(brief, FR_BRIEF_MUST, "fastest", "no plan is feasible on any");
    bool any = first < 0;
    for (int aim = 0;; aim++) {
        struct fr_text words = {0}, message = {0};
        const char *what = fr_rivals_best_at(r, aim, &words);
        if (!what) break;
        if (strncmp(what, "least ", 6) == 0 && words.length)
            fr_text_addf(&message, "least %s: ", what + 6);
        if (words.length) fr_text_addf(&message, "%s", fr_text_get(&words));
        any = any || words.length;
        fr_brief_words(brief, FR_BRIEF_MUST, strcmp(what, "fastest") == 0 ? "fastest" : "",
                       &message);
        fr_text_free(&words);
    }
    if (any) return;
    char name[FR_RIVAL_NAME], time[FR_READABLE];
    fr_brief_row(brief, FR_BRIEF_MUST, "best", "%s: %s a step", fr_rivals_name(r, first, name),
                 fr_readable(fr_rival_best(&r->of[first])->time_s, FR_QUANTITY_TIME, time));
}

static void training(const struct fr_rival *rival, struct fr_text *words) {
    if (!fr_training_asked(&rival->training) || !isfinite(rival->cost.time_s)) return;
    fr_brief_cost(&rival->training, &rival->cost, false, words);
    fr_text_addf(words, "; ");
}

/* The reason why a cluster cannot run it. */
static void none(const struct fr_rival *rival, struct fr_text *words) {
    const int reason = fr_searched_main_reason(rival->searched);
    fr_text_addf(words, "no plan is feasible");
    if (reason >= 0) fr_text_addf(words, ": %s", fr_reason_sentences[reason]);
}

static void one(struct fr_brief *brief, const struct fr_rivals *r, int i) {
    const struct fr_rival *rival = &r->of[i];
    const struct fr_outcome *best = fr_rival_best(rival);
    const struct fr_job *job = fr_rival_job(rival);
    char name[FR_RIVAL_NAME], percent[FR_FITS_PERCENT];
    struct fr_text words = {0};
    fr_text_addf(&words, "%s: ", fr_rivals_name(r, i, name));
    if (!best) {
        none(rival, &words);
        fr_brief_words(brief, FR_BRIEF_SHOULD, i ? "" : "clusters", &words);
        return;
    }
    training(rival, &words);
    fr_brief_step(job, best, &words);
    const struct fr_fits fits = fr_fits_of(job, best);
    if (isfinite(fits.probability))
        fr_text_addf(&words, ", fits %s", fr_fits_percent(fits.probability, percent));
    fr_brief_words(brief, FR_BRIEF_SHOULD, i ? "" : "clusters", &words);
    fr_brief_plan(best, 0, &words);
    if (*job->cluster.runtime) fr_text_addf(&words, "; software %s", job->cluster.runtime);
    fr_brief_words(brief, FR_BRIEF_MAY, "", &words);
}

/* Time of a sample, or of the training [s], with the ends of its interval. */
struct span {
    double time_s, low_s, high_s;
};

static struct span span_of(const struct fr_rival *rival) {
    const struct fr_outcome *out = fr_rival_best(rival);
    const struct fr_training_cost *c = &rival->cost;
    if (!out) return (struct span){INFINITY, INFINITY, INFINITY};
    if (fr_training_asked(&rival->training))
        return (struct span){c->time_s, c->low_s, c->high_s};
    const double n = fr_search_samples(out);
    return (struct span){out->time_s / n, out->low_s / n, out->high_s / n};
}

/* Is the fastest surely the fastest, and at which price would another cost as little? */
static void sure(struct fr_brief *brief, const struct fr_rivals *r, int first) {
    struct fr_text apart = {0}, overlap = {0}, price = {0};
    char name[FR_RIVAL_NAME], share[FR_READABLE];
    if (first < 0 || !same_model(r)) return;
    const struct span best = span_of(&r->of[first]);
    const double ranks = (double)fr_rival_best(&r->of[first])->ranks;
    for (int i = 0; i < r->n; i++) {
        const struct span other = span_of(&r->of[i]);
        const struct fr_outcome *out = fr_rival_best(&r->of[i]);
        if (i == first || !out) continue;
        fr_rivals_name(r, i, name);
        struct fr_text *words = other.low_s > best.high_s ? &apart : &overlap;
        if (best.high_s > 0) fr_text_addf(words, "%s%s", words->length ? ", " : "", name);
        fr_text_addf(&price, "%s%s under %s", price.length ? ", " : "", name,
                     fr_readable_percent(
                         best.time_s * ranks / (other.time_s * (double)out->ranks), share));
    }
    if (overlap.length)
        fr_brief_row(brief, FR_BRIEF_SHOULD, "sure", "90 %% intervals overlap with those of %s",
                     fr_text_get(&overlap));
    else if (apart.length)
        fr_brief_row(brief, FR_BRIEF_SHOULD, "sure",
                     "the fastest's 90 %% interval lies below all others");
    if (price.length)
        fr_brief_row(brief, FR_BRIEF_SHOULD, "changes",
                     "cheaper where an hour of a device costs of the fastest's: %s",
                     fr_text_get(&price));
    fr_text_free(&apart);
    fr_text_free(&overlap);
    fr_text_free(&price);
}

void fr_rivals_brief(struct fr_text *text, const struct fr_rivals *r, const char *search) {
    struct fr_brief brief = {0};
    const int first = fr_rivals_fastest(r);
    question(&brief, r, first);
    answers(&brief, r, first);
    fr_brief_blank(&brief);
    for (int i = 0; i < r->n; i++) one(&brief, r, i);
    sure(&brief, r, first);
    fr_brief_blank(&brief);
    if (*search) fr_brief_command(&brief, "next", search, "");
    fr_brief_row(&brief, FR_BRIEF_MUST, *search ? "" : "next", "%s--all, --json",
                 *search ? "or with " : "the same with ");
    fr_brief_print(&brief, FR_COLUMNS, text);
}
