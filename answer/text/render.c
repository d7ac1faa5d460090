#include "answer/text/render.h"
#include "answer/search/fits_text.h"
#include "base/text/wrap.h"
#include "models/device/jitter.h"
#include "models/job/assume.h"
#include "models/job/runtime.h"
#include "models/outcome/energy.h"
#include "models/outcome/memory.h"
#include "models/outcome/rates.h"
#include "models/outcome/units.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

const char *fr_render_quantity(double si, fr_quantity quantity, char *out, size_t capacity) {
    if (!isfinite(si))
        snprintf(out, capacity, "-");
    else
        fr_quantity_format(si, quantity, out, capacity);
    return out;
}

/* A source may be long; the first clause tells where to look. */
static void add_source(struct fr_text *text, const char *what, const char *name,
                       const char *from, const char *source, int columns) {
    struct fr_text line = {0};
    int clause = 0;
    while (source[clause] && source[clause] != ';' && strncmp(source + clause, ": ", 2) != 0)
        clause++;
    fr_text_addf(&line, "%s", name[0] ? name : from);
    if (clause > 0) fr_text_addf(&line, " (%.*s)", clause, source);
    fr_wrap_head(text, what, fr_text_get(&line), columns);
    fr_text_free(&line);
}

void fr_render_software(struct fr_text *text, const struct fr_cluster *cluster, int columns) {
    char line[FR_RUNTIME_LINE], beyond[FR_DRIFT_LINE];
    fr_wrap_head(text, "software", fr_runtime_line(cluster, line, sizeof line), columns);
    if (*fr_drift_line(&cluster->drift, beyond, sizeof beyond))
        fr_wrap_head(text, "", beyond, columns);
}

void fr_render_inputs(struct fr_text *text, const struct fr_job *job,
                      const struct fr_plan *plan, int columns) {
    struct fr_text verdict = {0};
    add_source(text, "cluster", job->cluster.name, job->cluster_from, job->cluster.source,
               columns);
    if (job->cluster.calibration.oversubscribed)
        fr_wrap_head(
            text, "caution",
            "measured with more ranks than cores: its collectives time the scheduler too",
            columns);
    if (*job->cluster.calibration.verdict)
        fr_calibration_tell(&job->cluster.calibration, &verdict);
    if (verdict.length) fr_wrap_head(text, "", verdict.data, columns);
    fr_text_free(&verdict);
    fr_render_software(text, &job->cluster, columns);
    add_source(text, "model", job->workload.name, job->model_from, job->workload.source,
               columns);
    char assumed[FR_ASSUMED], line[FR_ASSUMED + 80];
    if (!*fr_job_assumed(job, plan, assumed, sizeof assumed)) return;
    snprintf(line, sizeof line, "%s, by %s", assumed, job->cluster.runtime);
    fr_wrap_head(text, "assumed", line, columns);
}

/* "what       value   note". */
static void say(struct fr_text *text, const char *what, const char *value, const char *note) {
    enum { NOTE = 42 };
    fr_text_addf(text, "%-24s %14s   ", what, value);
    fr_wrap(text, note, NOTE, NOTE, FR_COLUMNS);
    fr_end_line(text);
}

static void row(struct fr_text *text, const char *what, double si, fr_quantity quantity,
                const char *note) {
    char value[40];
    say(text, what, fr_render_quantity(si, quantity, value, sizeof value), note);
}

const char *fr_render_number(double value, char *out, size_t capacity) {
    snprintf(out, capacity, fabs(value) >= 1e4 ? "%.0f" : "%.5g", value);
    return out;
}

/* Which scores the share counts, where attention has a mask. */
static const char *counted(const struct fr_job *job) {
    const struct fr_transformer *t = &job->workload.transformer;
    if (!t->layers || t->both_ways) return "";
    return job->palm_flop ? ", all scores (PaLM)" : ", half of causal scores";
}

void fr_render_rates(struct fr_text *text, const struct fr_job *job,
                     const struct fr_outcome *out) {
    const struct fr_rates rates = fr_rates_of(job, out);
    bool tokens = isfinite(rates.tokens_per_s);
    double per_s = tokens ? rates.tokens_per_s : rates.samples_per_s;
    char note[64] = "", all[40], each[40];
    fr_text_addf(text, "%-24s %14s   %s a device\n", tokens ? "tokens/s" : "samples/s",
                 fr_render_number(per_s, all, sizeof all),
                 fr_render_number(per_s / (double)out->ranks, each, sizeof each));
    if (isfinite(rates.epoch_time_s)) {
        snprintf(note, sizeof note, "%.6g iterations of %" PRId64, rates.iterations_per_epoch,
                 fr_job_batch(job, &out->plan));
        row(text, "epoch", rates.epoch_time_s, FR_QUANTITY_TIME, note);
        if (isfinite(rates.epoch_energy_J))
            row(text, "epoch's energy", rates.epoch_energy_J, FR_QUANTITY_ENERGY, "");
    }
    *note = 0;
    if (!isfinite(rates.model_flop_per_s_per_device)) return;
    if (isfinite(rates.mfu))
        snprintf(note, sizeof note, "MFU %.1f %%%s", 100 * rates.mfu, counted(job));
    else if (isfinite(rates.samples_per_s))
        snprintf(note, sizeof note, "no MFU: no nominal_peak beside %s's measured products",
                 fr_dtype_names[job->workload.dtype]);
    row(text, "model FLOP/s a device", rates.model_flop_per_s_per_device, FR_QUANTITY_WORK_RATE,
        note);
    if (rates.hardware_flop_per_s_per_device <= rates.model_flop_per_s_per_device) return;
    if (isfinite(rates.hfu)) snprintf(note, sizeof note, "HFU %.1f %%, ", 100 * rates.hfu);
    strcat(note, "recomputation counted");
    row(text, "hardware FLOP/s a device", rates.hardware_flop_per_s_per_device,
        FR_QUANTITY_WORK_RATE, note);
}

static void render_parts(struct fr_text *text, const struct fr_outcome *out) {
    char value[40];
    fr_text_addf(text, "\nwhere the iteration goes\n");
    for (int i = 0; i < FR_PART_COUNT; i++) {
        if (out->part_s[i] == 0) continue;
        fr_text_addf(text, "  %-22s %14s  %5.1f %%\n", fr_part_names[i],
                     fr_quantity_format(out->part_s[i], FR_QUANTITY_TIME, value, sizeof value),
                     100 * out->part_s[i] / out->time_s);
    }
}

static void render_interval(struct fr_text *text, const struct fr_job *job,
                            const struct fr_outcome *out) {
    static const char *const from[] = {
        [FR_INTERVAL_TUNING] = "from the runs it was tuned to",
        [FR_INTERVAL_CALIBRATION] = "from priors and the calibration's own errors",
        [FR_INTERVAL_WIDTHS] = "from the cluster's widths; forerun tune narrows it",
        [FR_INTERVAL_PRIORS] = "from priors alone; forerun tune narrows it"};
    char high[40], note[120];
    if (!(out->high_s > 0)) return;
    if (fabs(fr_outcome_expected_s(out) / out->time_s - 1) >= FR_EXPECTED_DIFFERS) {
        snprintf(note, sizeof note, "%+.1f %%: what runs of this model or plan took besides",
                 100 * (out->expected_s / out->time_s - 1));
        row(text, "  expected", out->expected_s, FR_QUANTITY_TIME, note);
    }
    snprintf(note, sizeof note, "to %s, %s",
             fr_quantity_format(out->high_s, FR_QUANTITY_TIME, high, sizeof high),
             from[fr_cluster_interval_source(&job->cluster)]);
    row(text, "  90 % interval", out->low_s, FR_QUANTITY_TIME, note);
}

/* How far steps are apart, whatever their time. */
static void render_steps(struct fr_text *text, const struct fr_job *job,
                         const struct fr_outcome *out) {
    char high[40], note[120];
    double p05_s, p95_s;
    if (!fr_jitter_steps(&job->cluster.device, (double)out->ranks, fr_outcome_expected_s(out),
                         &p05_s, &p95_s))
        return;
    snprintf(note, sizeof note, "to %s, nine in ten",
             fr_quantity_format(p95_s, FR_QUANTITY_TIME, high, sizeof high));
    row(text, "  its steps", p05_s, FR_QUANTITY_TIME, note);
}

static void render_memory(struct fr_text *text, const struct fr_job *job,
                          const struct fr_outcome *out) {
    char value[40], have[40], note[128] = "";
    if (job->cluster.device.memory_B > 0)
        snprintf(note, sizeof note, "of %s",
                 fr_quantity_format(job->cluster.device.memory_B, FR_QUANTITY_SIZE, have,
                                    sizeof have));
    fr_text_addf(text, "\nmemory of the fullest rank\n");
    for (int i = 0; i < FR_MEMORY_COUNT; i++)
        fr_text_addf(
            text, "  %-22s %14s\n", fr_memory_names[i],
            fr_quantity_format(out->memory_B[i], FR_QUANTITY_SIZE, value, sizeof value));
    if (out->plan.pp > 1)
        fr_text_addf(text, "  %-22s %14" PRId64 "   rank %" PRId64 "\n", "on stage",
                     out->fullest_stage, out->fullest_rank);
    fr_text_addf(text, "  %-22s %14s   %s\n", "peak",
                 fr_quantity_format(out->memory_peak_B, FR_QUANTITY_SIZE, value, sizeof value),
                 note);
    double low_B, high_B;
    if (fr_memory_interval(job, out, &low_B, &high_B)) {
        snprintf(note, sizeof note, "to %s, of tensors alone",
                 fr_quantity_format(high_B, FR_QUANTITY_SIZE, have, sizeof have));
        fr_text_addf(text, "  %-22s %14s   %s\n", "90 % interval",
                     fr_quantity_format(low_B, FR_QUANTITY_SIZE, value, sizeof value), note);
    }
    fr_render_fits(text, job, out);
    if (!(out->host_memory_B > 0)) return;
    const double host_B = job->cluster.device.host_memory_B;
    snprintf(note, sizeof note, "%s%s", host_B > 0 ? "of " : "",
             host_B > 0 ? fr_quantity_format(host_B, FR_QUANTITY_SIZE, have, sizeof have) : "");
    fr_text_addf(text, "  %-22s %14s   %s\n", "on its host",
                 fr_quantity_format(out->host_memory_B, FR_QUANTITY_SIZE, value, sizeof value),
                 note);
}

static const char *energy_note(const struct fr_job *job) {
    const struct fr_power *power = &job->cluster.device.power;
    return power->known ? power->quality : "the cluster states no power";
}

/* Who draws it, where the cluster states more than its devices, and how sure that is. */
static void render_energy(struct fr_text *text, const struct fr_job *job,
                          const struct fr_outcome *out) {
    double low_J, high_J;
    char note[80], high[32], name[32];
    int stated = 0;
    if (!fr_energy_interval(&job->cluster, out, &low_J, &high_J)) return;
    snprintf(note, sizeof note, "to %s",
             fr_quantity_format(high_J, FR_QUANTITY_ENERGY, high, sizeof high));
    row(text, "  90 % interval", low_J, FR_QUANTITY_ENERGY, note);
    for (int i = 0; i < FR_ENERGY_COUNT; i++) stated += fr_energy_known(&job->cluster, i);
    for (int i = 0; i < FR_ENERGY_COUNT && stated > 1; i++) {
        if (!fr_energy_known(&job->cluster, i)) continue;
        snprintf(name, sizeof name, "  %s", fr_energy_names[i]);
        snprintf(note, sizeof note, "%.1f %%", 100 * out->energy_part_J[i] / out->energy_J);
        row(text, name, out->energy_part_J[i], FR_QUANTITY_ENERGY, note);
    }
}

static const char *iterations_note(const struct fr_outcome *out) {
    if (out->plan.forward) return "a forward pass trains nothing";
    switch (out->iterations_origin) {
    case FR_ITERATIONS_GIVEN:
        return "";
    case FR_ITERATIONS_INTERPOLATED:
        return "iterations interpolated between two known plans";
    case FR_ITERATIONS_SCALED:
        return "as many samples as at the batch of the table, by its \"scaling\"";
    case FR_ITERATIONS_LAW:
        return "iterations by a law that was fitted to known plans";
    case FR_ITERATIONS_UNKNOWN:
        break;
    }
    return "iterations to the loss unknown; give them with --set model.iterations=...";
}

/* A paragraph: @p words, which are freed. */
static void tell(struct fr_text *text, struct fr_text *words) {
    fr_wrap(text, fr_text_get(words), 0, 0, FR_COLUMNS);
    fr_end_line(text);
    fr_text_free(words);
}

/* What was asked to go compressed and goes whole, since its rank would not make it smaller. */
static void render_whole(struct fr_text *text, const struct fr_outcome *out) {
    const struct fr_plan_compression *c = &out->plan.compression;
    struct fr_text backward = {0}, gradient = {0}, forward = {0};
    if (!isfinite(out->time_s)) return;
    if (c->forward_rank > 0 && out->lossy_forward <= 0)
        fr_text_addf(&forward,
                     "messages forward go whole: at rank %" PRId64 " they would not be smaller",
                     c->forward_rank);
    if (c->scope != FR_SCOPE_NONE && out->lossy_backward <= 0)
        fr_text_addf(&backward,
                     "backward messages go whole: at rank %" PRId64
                     " they would not be smaller",
                     c->backward_rank);
    if (c->gradient_stages > 0 && out->lossy_gradient <= 0)
        fr_text_addf(&gradient,
                     "gradients go whole: at rank %" PRId64
                     " no matrix of theirs would send fewer bytes",
                     c->gradient_rank);
    if (backward.length) fr_text_addf(text, "\n"), tell(text, &backward);
    if (forward.length) fr_text_addf(text, "\n"), tell(text, &forward);
    if (gradient.length) fr_text_addf(text, "\n"), tell(text, &gradient);
}

static void render_reasons(struct fr_text *text, const struct fr_job *job,
                           const struct fr_outcome *out) {
    for (int i = 0; i < FR_REASON_COUNT; i++) {
        struct fr_text words = {0};
        if (!(out->reasons & FR_BECAUSE(i))) continue;
        fr_text_addf(&words, "not feasible: ");
        fr_report_reason(job, out, i, &words);
        fr_text_addf(text, "\n");
        tell(text, &words);
    }
}

static void render_lossy(struct fr_text *text, const struct fr_outcome *out) {
    const struct fr_plan_compression *c = &out->plan.compression;
    struct fr_text words = {0};
    char rate[40];
    if (fr_outcome_lossy(out) > 0) {
        fr_text_addf(&words,
                     "lossy: %.1f %% of the gradient bytes (rank %" PRId64
                     ") and %.1f %% of the backward messages (rank %" PRId64 ")",
                     100 * out->lossy_gradient, c->gradient_rank, 100 * out->lossy_backward,
                     c->backward_rank);
        if (out->lossy_forward > 0)
            fr_text_addf(&words, " and %.1f %% of the messages forward (rank %" PRId64 ")",
                         100 * out->lossy_forward, c->forward_rank);
        fr_text_addf(
            &words, " go compressed; what that does to the iterations to the loss is %s",
            isfinite(out->iterations) ? "taken to be in the number given" : "not known here");
        fr_text_addf(text, "\n");
        tell(text, &words);
    }
    render_whole(text, out);
    struct fr_text backward = {0}, gradient = {0};
    if (out->break_even_backward_B_per_s > 0) {
        fr_text_addf(&backward,
                     "compressing backward messages pays where a rank gets less than %s of the "
                     "network",
                     fr_quantity_format(out->break_even_backward_B_per_s, FR_QUANTITY_RATE,
                                        rate, sizeof rate));
        tell(text, &backward);
    }
    struct fr_text forward = {0};
    if (out->break_even_forward_B_per_s > 0) {
        fr_text_addf(&forward, "compressing messages forward pays where it gets less than %s",
                     fr_quantity_format(out->break_even_forward_B_per_s, FR_QUANTITY_RATE, rate,
                                        sizeof rate));
        tell(text, &forward);
    }
    if (out->break_even_gradient_B_per_s > 0) {
        fr_text_addf(&gradient, "compressing gradients pays where it gets less than %s",
                     fr_quantity_format(out->break_even_gradient_B_per_s, FR_QUANTITY_RATE,
                                        rate, sizeof rate));
        tell(text, &gradient);
    }
}

static void render_caveats(struct fr_text *text, const struct fr_job *job,
                           const struct fr_outcome *out) {
    struct fr_text words = {0};
    render_reasons(text, job, out);
    render_lossy(text, out);
    if (!out->extrapolated) return;
    fr_text_addf(&words, "extrapolated beyond what was measured:");
    for (int bit = 0; bit <= FR_OP_COUNT; bit++)
        if (out->extrapolated >> bit & 1)
            fr_text_addf(&words, " %s", fr_report_extrapolated_name(bit));
    fr_text_addf(text, "\n");
    tell(text, &words);
}

/* "70.57 billion", "39.50 million". */
static const char *count(double n, char *out, size_t capacity) {
    static const struct {
        double unit;
        const char *word;
    } words[] = {{1e12, " trillion"}, {1e9, " billion"}, {1e6, " million"}, {1, ""}};
    int i = 0;
    while (words[i].unit > 1 && n < 0.99995 * words[i].unit) i++;
    snprintf(out, capacity, words[i].unit > 1 ? "%.4g%s" : "%.0f%s", n / words[i].unit,
             words[i].word);
    return out;
}

static void render_filled(struct fr_text *text, const struct fr_filled *f, int columns) {
    const char *s = f->level[0] && f->level[strlen(f->level) - 1] == 's' ? "" : "s";
    int64_t whole = f->units - (f->last < f->ranks);
    char line[320];
    size_t used = 0;
    fr_line_addf(line, sizeof line, &used, "%s%s of ", f->level, s);
    if (whole > 1) fr_line_addf(line, sizeof line, &used, "%" PRId64 " x ", whole);
    fr_line_addf(line, sizeof line, &used, "%" PRId64, f->ranks);
    if (f->last < f->ranks) fr_line_addf(line, sizeof line, &used, " + %" PRId64, f->last);
    fr_line_addf(line, sizeof line, &used, " ranks");
    if (f->ranks < f->holds)
        fr_line_addf(line, sizeof line, &used, ", which hold %" PRId64 " each", f->holds);
    if (f->equal)
        fr_line_addf(line, sizeof line, &used,
                     "; --set placement=balanced takes %" PRId64 " of each", f->equal);
    fr_wrap_head(text, "units", line, columns);
}

void fr_render_filled(struct fr_text *text, const struct fr_job *job,
                      const struct fr_outcome *out, int columns) {
    struct fr_filled filled[FR_LEVEL_MAX];
    int n = fr_outcome_filled(job, out, filled);
    for (int i = 0; i < n; i++) render_filled(text, &filled[i], columns);
}

void fr_render_outcome(struct fr_text *text, const struct fr_job *job,
                       const struct fr_outcome *out) {
    char line[FR_PLAN_LINE + 32], total[160];
    fr_render_inputs(text, job, &out->plan, FR_COLUMNS);
    fr_text_addf(text, "plan       ");
    fr_report_plan_line(&out->plan, line, sizeof line);
    snprintf(line + strlen(line), sizeof line - strlen(line), ", %" PRId64 " ranks",
             out->ranks);
    fr_wrap_list(text, line, 11, 11, FR_COLUMNS);
    fr_end_line(text);
    fr_render_filled(text, job, out, FR_COLUMNS);
    if (out->plan.layer_tp) {
        struct fr_text grids = {0};
        for (int i = 0; i < out->plan.n_layer_tp; i++)
            fr_text_addf(&grids, "%" PRId64 "x%" PRId64 " ", out->plan.layer_tp[i],
                         out->ranks / out->plan.pp / out->plan.layer_tp[i]);
        fr_text_addf(&grids, "(P_r x P_c by layer)");
        fr_wrap_head(text, "grids", fr_text_get(&grids), FR_COLUMNS);
        fr_text_free(&grids);
    }
    fr_text_addf(text, "\n");
    if (isfinite(out->time_s)) {
        if (isfinite(out->parameters)) {
            say(text, "parameters", count(out->parameters, total, sizeof total), "");
            if (out->parameters_frozen > 0)
                say(text, "  trained",
                    count(out->parameters - out->parameters_frozen, total, sizeof total), "");
            say(text, "  fullest rank", count(out->parameters_rank_max, total, sizeof total),
                "");
        }
        row(text, "iteration time", out->time_s, FR_QUANTITY_TIME, "");
        render_interval(text, job, out);
        render_steps(text, job, out);
        row(text, "iteration energy", out->energy_J, FR_QUANTITY_ENERGY, energy_note(job));
        render_energy(text, job, out);
        fr_render_rates(text, job, out);
        if (isfinite(out->iterations)) {
            snprintf(total, sizeof total, "%.6g iterations%s%s", out->iterations,
                     *iterations_note(out) ? ", " : "", iterations_note(out));
            row(text, "time to the loss", out->total_time_s, FR_QUANTITY_TIME, total);
            row(text, "energy to the loss", out->total_energy_J, FR_QUANTITY_ENERGY, "");
            if (out->plain_time_s > 0) {
                snprintf(total, sizeof total,
                         "an iteration of the first %" PRId64 ", uncompressed",
                         out->plan.compression.warm_up);
                row(text, "  warm-up", out->plain_time_s, FR_QUANTITY_TIME, total);
            }
        } else if (job->workload.n_iterations > 0 || job->workload.n_laws > 0)
            say(text, "to the loss", "-", iterations_note(out));
        render_parts(text, out);
        if (isfinite(out->parameters)) render_memory(text, job, out);
    }
    render_caveats(text, job, out);
}
