#include "answer/predict/training_text.h"

#include <math.h>
#include <stdio.h>

#include "answer/text/render.h"

const char *fr_render_duration(double s, char *out, size_t capacity) {
    if (s >= 2 * 86400)
        snprintf(out, capacity, "%.3g days", s / 86400);
    else if (s >= 3600)
        snprintf(out, capacity, "%.3g hours", s / 3600);
    else
        snprintf(out, capacity, s >= 100 ? "%.0f s" : "%.3g s", s);
    return out;
}

const char *fr_render_mass(double kg, char *out, size_t capacity) {
    snprintf(out, capacity, kg >= 1000 ? "%.4g t" : "%.3g kg", kg >= 1000 ? kg / 1000 : kg);
    return out;
}

const char *fr_render_energy(double kWh, char *out, size_t capacity) {
    const char *unit = kWh >= 1e6 ? "GWh" : kWh >= 1e3 ? "MWh" : "kWh";
    snprintf(out, capacity, "%.4g %s",
             kWh >= 1e6   ? kWh / 1e6
             : kWh >= 1e3 ? kWh / 1e3
                          : kWh,
             unit);
    return out;
}

static void render_failures(struct fr_text *text, const struct fr_training_cost *c) {
    char a[40], b[40];
    if (c->goodput <= 0) {
        fr_text_addf(text, "%-24s %14s   it fails faster than it goes on\n", "  goodput",
                     "0 %");
        return;
    }
    fr_text_addf(text, "%-24s %12.1f %%   %.3g failures, one in %s\n", "  goodput",
                 100 * c->goodput, c->n_failures,
                 fr_render_duration(c->failures.mtbf_s, a, sizeof a));
    fr_text_addf(text, "%-24s %14s   every %s iterations", "  checkpoint",
                 fr_render_duration(c->failures.checkpoint_s, a, sizeof a),
                 fr_render_number(c->interval_iterations, b, sizeof b));
    fr_text_addf(text, ", %s\n", fr_render_duration(c->interval_s, a, sizeof a));
    fr_text_addf(text, "%-24s %14s   ", "  by Young",
                 fr_render_duration(fr_failures_young_s(&c->failures), a, sizeof a));
    fr_text_addf(text, "by Daly %s\n",
                 fr_render_duration(fr_failures_daly_s(&c->failures), b, sizeof b));
}

void fr_render_training(struct fr_text *text, const struct fr_training *t,
                        const struct fr_training_cost *c) {
    char a[40], b[40];
    bool tokens = t->tokens > 0;
    fr_text_addf(text, "%-24s %14s", "training",
                 isfinite(c->time_s) ? fr_render_duration(c->time_s, a, sizeof a) : "-");
    if (c->high_s > 0)
        fr_text_addf(text, "   %s to %s", fr_render_duration(c->low_s, a, sizeof a),
                     fr_render_duration(c->high_s, b, sizeof b));
    fr_text_addf(text, "\n%-24s %14.4g   in %s iterations\n", tokens ? "  tokens" : "  samples",
                 tokens ? c->tokens : c->samples, fr_render_number(c->iterations, a, sizeof a));
    if (!isfinite(c->time_s) && c->goodput <= 0) render_failures(text, c);
    if (!isfinite(c->time_s)) return;
    fr_text_addf(text, "%-24s %14s", "  device-hours",
                 fr_render_number(c->device_s / 3600, a, sizeof a));
    if (isfinite(c->price))
        fr_text_addf(text, "   %s %s", fr_render_number(c->price, a, sizeof a), t->currency);
    fr_text_addf(text, "\n%-24s %14s", "  energy",
                 isfinite(c->energy_J) ? fr_render_energy(c->energy_J / 3.6e6, a, sizeof a)
                                       : "-");
    if (isfinite(c->carbon_kg))
        fr_text_addf(text, "   %s CO2", fr_render_mass(c->carbon_kg, a, sizeof a));
    fr_text_addf(text, "\n");
    if (t->device_mtbf_s > 0) render_failures(text, c);
}
