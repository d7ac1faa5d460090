#include "real/validate/validation_brief.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/script/command.h"
#include "base/text/brief.h"
#include "base/text/readable.h"
#include "base/text/wrap.h"
#include "models/job/runtime.h"
#include "real/validate/judge.h"

static bool is_compared(const struct fr_validate_row *row) {
    return row->n_samples > 0 && !row->reasons;
}

static void question(struct fr_brief *brief, const struct fr_cluster *cluster,
                     const struct fr_validation *v) {
    int64_t least = INT64_MAX, most = 0;
    char line[240], ranks[64];
    for (int i = 0; i < v->n_rows; i++) {
        if (v->rows[i].run.ranks < least) least = v->rows[i].run.ranks;
        if (v->rows[i].run.ranks > most) most = v->rows[i].run.ranks;
    }
    if (least < most)
        snprintf(ranks, sizeof ranks, "%" PRId64 " to %" PRId64 " ranks", least, most);
    else
        snprintf(ranks, sizeof ranks, "%" PRId64 " rank%s", most, most == 1 ? "" : "s");
    snprintf(line, sizeof line, "%d trainings run on %s of %s beside their predictions",
             v->n_run, ranks, *cluster->name ? cluster->name : "this machine");
    fr_brief_head(brief, line);
}

static void answer(struct fr_brief *brief, const struct fr_cluster *cluster,
                   const struct fr_validation *v) {
    struct fr_text words = {0};
    char median[FR_READABLE], p90[FR_READABLE], floor[FR_READABLE];
    fr_validate_judge(cluster, v, &words);
    fr_brief_words(brief, FR_BRIEF_MUST, "answer", &words);
    if (v->n_scored == 0) return;
    fr_brief_row(brief, FR_BRIEF_MUST, "error",
                 "median %s, nine in ten under %s, of %d configurations",
                 fr_readable_percent(v->median_error, median),
                 fr_readable_percent(v->p90_error, p90), v->n_scored);
    if (isfinite(v->floor))
        fr_brief_row(brief, FR_BRIEF_SHOULD, "",
                     "the machine itself changes by %s between visits",
                     fr_readable_percent(v->floor, floor));
    fr_brief_row(brief, FR_BRIEF_MUST, "sure",
                 "%s of the 90 %% intervals meet the measurements",
                 fr_readable_percent(v->coverage, median));
    if (isfinite(v->rank_correlation))
        fr_brief_row(brief, FR_BRIEF_SHOULD, "order", "Kendall's tau %.3f",
                     v->rank_correlation);
    if (v->n_groups > 0)
        fr_brief_row(
            brief, FR_BRIEF_SHOULD, "choice",
            "choosing by prediction costs %s in the median, %s at worst, of %d choices",
            fr_readable_percent(v->regret, median), fr_readable_percent(v->regret_worst, p90),
            v->n_groups);
}

/* A program, its runs, and the one that is furthest off. */
static void one_app(struct fr_brief *brief, const struct fr_validation *v, int first) {
    const char *app = v->rows[first].run.app;
    char a[FR_READABLE], b[FR_READABLE], error[FR_READABLE];
    const struct fr_validate_row *worst = NULL;
    const char *why = "";
    int n = 0, refused = 0;
    for (int i = first; i < v->n_rows; i++) {
        const struct fr_validate_row *row = &v->rows[i];
        if (strcmp(row->run.app, app) != 0) continue;
        if (row->refused[0] && refused++ == 0) why = row->refused;
        if (!is_compared(row)) continue;
        n++;
        if (!worst || fabs(row->error) > fabs(worst->error)) worst = row;
    }
    if (worst)
        fr_brief_row(brief, FR_BRIEF_MAY, app,
                     "%d run%s; furthest off %s: %s measured, %s predicted, %s%s", n,
                     n == 1 ? "" : "s", worst->run.label,
                     fr_readable(worst->measured_s, FR_QUANTITY_TIME, a),
                     fr_readable(worst->predicted_s, FR_QUANTITY_TIME, b),
                     worst->error > 0 ? "+" : "", fr_readable_percent(worst->error, error));
    if (refused > 0)
        fr_brief_row(brief, FR_BRIEF_MAY, worst ? "" : app, "%d cannot run here: %s", refused,
                     why);
}

static bool first_of_app(const struct fr_validation *v, int i) {
    for (int j = 0; j < i; j++)
        if (strcmp(v->rows[j].run.app, v->rows[i].run.app) == 0) return false;
    return true;
}

/* Work that runs beside it, and missing rows. */
static void changes(struct fr_brief *brief, const struct fr_validation *v) {
    char products[FR_READABLE], memory[FR_READABLE];
    if (v->products.n > 0)
        fr_brief_row(brief, FR_BRIEF_SHOULD, "machine",
                     "meanwhile products took %s times their calibration, memory %s",
                     fr_readable_number(v->products.median, products),
                     v->memory.n > 0 ? fr_readable_number(v->memory.median, memory) : "-");
    if (v->n_not_run > 0)
        fr_brief_row(brief, FR_BRIEF_SHOULD, "changes",
                     "with the %d of %d configurations that were not run: --resume",
                     v->n_not_run, v->n_run + v->n_not_run);
    else
        fr_brief_row(brief, FR_BRIEF_SHOULD, "changes",
                     "with another calibration, or forerun tune with runs of your own");
}

void fr_validation_brief(struct fr_text *text, const struct fr_cluster *cluster,
                         const char *cluster_from, const char *samples,
                         const struct fr_validation *v) {
    struct fr_brief brief = {0};
    struct fr_text verdict = {0}, command = {0};
    char line[FR_RUNTIME_LINE];
    question(&brief, cluster, v);
    answer(&brief, cluster, v);
    fr_brief_blank(&brief);
    for (int i = 0; i < v->n_rows; i++)
        if (first_of_app(v, i)) one_app(&brief, v, i);
    fr_brief_blank(&brief);
    changes(&brief, v);
    fr_brief_row(&brief, FR_BRIEF_SHOULD, "software", "%s",
                 fr_runtime_line(cluster, line, sizeof line));
    if (*cluster->calibration.verdict) fr_calibration_tell(&cluster->calibration, &verdict);
    fr_brief_words(&brief, FR_BRIEF_SHOULD, "caution", &verdict);
    if (cluster_from && strcmp(cluster_from, "-") != 0) {
        fr_command_begin(&command, "forerun validate");
        fr_command_option(&command, "cluster", cluster_from);
        fr_command_option(&command, "from", samples);
        fr_command_option(&command, "all", NULL);
        fr_brief_command(&brief, "next", fr_text_get(&command), "");
        fr_text_free(&command);
    }
    fr_brief_row(&brief, FR_BRIEF_MUST, cluster_from ? "" : "next", "or with --json");
    fr_brief_print(&brief, FR_COLUMNS, text);
}
