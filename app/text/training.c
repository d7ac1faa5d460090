#include "app/text/training.h"

#include <math.h>
#include <stdio.h>

#include "app/text/render.h"

/* The i-th of n, of one all the last. */
static fr_status one_of(const struct fr_args *args, const char *option, int i, int n,
                        const char **value, struct fr_error *err) {
    const char *values[FR_ARGS_MAX];
    char where[32];
    int given = fr_args_all(args, option, values);
    *value = given > 1 && n > 1 ? values[given == n ? i : 0] : fr_args_get(args, option);
    snprintf(where, sizeof where, "--%s", option);
    if (given <= 1 || n == 1 || given == n) return FR_OK;
    return fr_fail(err, FR_ERR_USAGE, where,
                   "is given %d times; expected once, or for each of %d", given, n);
}

fr_status fr_app_training_of(const struct fr_args *args, int i, int n,
                             struct fr_training *training, struct fr_error *err) {
    struct fr_training_words words = {.tokens = fr_args_get(args, "tokens"),
                                      .samples = fr_args_get(args, "samples"),
                                      .mtbf = fr_args_get(args, "mtbf"),
                                      .storage = fr_args_get(args, "storage"),
                                      .checkpoint_size = fr_args_get(args, "checkpoint-size"),
                                      .restart = fr_args_get(args, "restart")};
    FR_TRY(one_of(args, "price", i, n, &words.price, err));
    FR_TRY(one_of(args, "carbon", i, n, &words.carbon, err));
    FR_TRY(one_of(args, "pue", i, n, &words.pue, err));
    return fr_training_read(&words, training, err);
}

fr_status fr_app_training(const struct fr_args *args, struct fr_training *training,
                          struct fr_error *err) {
    return fr_app_training_of(args, 0, 1, training, err);
}

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
