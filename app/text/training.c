#include "app/text/training.h"

#include <math.h>
#include <stdio.h>

#include "app/text/render.h"

fr_status fr_app_training(const struct fr_args *args, struct fr_training *training,
                          struct fr_error *err) {
    const struct fr_training_words words = {.tokens = fr_args_get(args, "tokens"),
                                            .samples = fr_args_get(args, "samples"),
                                            .price = fr_args_get(args, "price"),
                                            .carbon = fr_args_get(args, "carbon"),
                                            .pue = fr_args_get(args, "pue"),
                                            .mtbf = fr_args_get(args, "mtbf"),
                                            .storage = fr_args_get(args, "storage"),
                                            .checkpoint_size =
                                                fr_args_get(args, "checkpoint-size"),
                                            .restart = fr_args_get(args, "restart")};
    return fr_training_read(&words, training, err);
}

/* "12.3 days", "7.50 hours", "95.0 s". */
static const char *duration(double s, char *out, size_t capacity) {
    if (s >= 2 * 86400)
        snprintf(out, capacity, "%.3g days", s / 86400);
    else if (s >= 3600)
        snprintf(out, capacity, "%.3g hours", s / 3600);
    else
        snprintf(out, capacity, s >= 100 ? "%.0f s" : "%.3g s", s);
    return out;
}

/* "492 t", "37.1 kg". */
static const char *mass(double kg, char *out, size_t capacity) {
    snprintf(out, capacity, kg >= 1000 ? "%.4g t" : "%.3g kg", kg >= 1000 ? kg / 1000 : kg);
    return out;
}

static const char *energy(double kWh, char *out, size_t capacity) {
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
                 100 * c->goodput, c->n_failures, duration(c->failures.mtbf_s, a, sizeof a));
    fr_text_addf(text, "%-24s %14s   every %s iterations", "  checkpoint",
                 duration(c->failures.checkpoint_s, a, sizeof a),
                 fr_render_number(c->interval_iterations, b, sizeof b));
    fr_text_addf(text, ", %s\n", duration(c->interval_s, a, sizeof a));
    fr_text_addf(text, "%-24s %14s   ", "  by Young",
                 duration(fr_failures_young_s(&c->failures), a, sizeof a));
    fr_text_addf(text, "by Daly %s\n", duration(fr_failures_daly_s(&c->failures), b, sizeof b));
}

void fr_render_training(struct fr_text *text, const struct fr_training *t,
                        const struct fr_training_cost *c) {
    char a[40], b[40];
    bool tokens = t->tokens > 0;
    fr_text_addf(text, "%-24s %14s", "training",
                 isfinite(c->time_s) ? duration(c->time_s, a, sizeof a) : "-");
    if (c->high_s > 0)
        fr_text_addf(text, "   %s to %s", duration(c->low_s, a, sizeof a),
                     duration(c->high_s, b, sizeof b));
    fr_text_addf(text, "\n%-24s %14.4g   in %s iterations\n", tokens ? "  tokens" : "  samples",
                 tokens ? c->tokens : c->samples, fr_render_number(c->iterations, a, sizeof a));
    if (!isfinite(c->time_s) && c->goodput <= 0) render_failures(text, c);
    if (!isfinite(c->time_s)) return;
    fr_text_addf(text, "%-24s %14s", "  device-hours",
                 fr_render_number(c->device_s / 3600, a, sizeof a));
    if (isfinite(c->price))
        fr_text_addf(text, "   %s %s", fr_render_number(c->price, a, sizeof a), t->currency);
    fr_text_addf(text, "\n%-24s %14s", "  energy",
                 isfinite(c->energy_J) ? energy(c->energy_J / 3.6e6, a, sizeof a) : "-");
    if (isfinite(c->carbon_kg))
        fr_text_addf(text, "   %s CO2", mass(c->carbon_kg, a, sizeof a));
    fr_text_addf(text, "\n");
    if (t->device_mtbf_s > 0) render_failures(text, c);
}
