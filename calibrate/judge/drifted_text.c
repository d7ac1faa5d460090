#include "calibrate/judge/drifted_text.h"

static void put_names(const struct fr_drifted *d, bool slower, struct fr_text *text) {
    const char *between = "";
    for (int i = 0; i < d->n; i++) {
        if (!d->row[i].drifted || (d->row[i].ratio > 1) != slower) continue;
        fr_text_addf(text, "%s%s", between, d->row[i].name);
        between = ", ";
    }
    if (*between) fr_text_addf(text, slower ? " slower" : " faster");
}

void fr_drifted_sentence(const struct fr_drifted *d, struct fr_text *text) {
    struct fr_text slower = {0}, faster = {0};
    if (fr_drifted_is_as_before(d)) {
        fr_text_addf(text, "the machine is as it was calibrated");
        return;
    }
    put_names(d, true, &slower);
    put_names(d, false, &faster);
    fr_text_addf(text, "the machine is not as it was calibrated: %s%s%s",
                 slower.length ? fr_text_get(&slower) : "",
                 slower.length && faster.length ? "; " : "",
                 faster.length ? fr_text_get(&faster) : "");
    if (d->busier)
        fr_text_addf(
            text,
            "%sbusier: products lose %.0f %% of their time to what else runs here "
            "(%.0f %% then), a rank is interrupted every %.3g ms of its work for %.3g ms",
            slower.length + faster.length ? "; and " : "", 100 * d->lost_now,
            100 * d->lost_then, 1e3 * d->now.every_s, 1e3 * d->now.length_s);
    text->failed = text->failed || slower.failed || faster.failed;
    fr_text_free(&slower);
    fr_text_free(&faster);
}

void fr_drifted_print(const struct fr_drifted *d, struct fr_text *text) {
    char names[512];
    fr_text_addf(text, "%-15s %8s %8s %16s\n", "row", "points", "now/then", "beyond expected");
    for (int i = 0; i < d->n; i++) {
        const struct fr_drifted_row *row = &d->row[i];
        if (row->points == 0) continue;
        fr_text_addf(text, "%-15s %8d %8.2f %14.0f %% %s\n", row->name, row->points, row->ratio,
                     100.0 * row->outside / row->points,
                     !row->drifted    ? ""
                     : row->ratio > 1 ? "  slower"
                                      : "  faster");
    }
    fr_text_addf(text, "\n");
    fr_drifted_sentence(d, text);
    fr_drifted_names(d, names, sizeof names);
    fr_text_addf(text, *names ? ". forerun calibrate --refresh measures %s again.\n" : ".\n",
                 names);
    if (!*names && d->busier)
        fr_text_addf(
            text, "Other work takes its time, which is no property of the machine. Nothing "
                  "needs to be measured again, and predictions hold for when it is quiet.\n");
}
