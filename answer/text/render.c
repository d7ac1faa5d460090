#include "answer/text/render.h"
#include "answer/search/fits_text.h"
#include "answer/text/fact_lines.h"
#include "base/text/wrap.h"
#include "models/job/assume.h"
#include "models/job/runtime.h"
#include "models/outcome/units.h"
#include "models/price/lines.h"
#include "models/work/transformer.h"

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

/* A file of no known family: like which it was read, and what came of it. */
static void add_likeness(struct fr_text *text, const struct fr_workload *workload,
                         int columns) {
    char line[200];
    if (!*workload->read_like) return;
    snprintf(line, sizeof line,
             "like %s, by its keys; %.4g billion parameters; say --set model.KEY=VALUE if that "
             "is wrong",
             workload->read_like, fr_transformer_parameters(workload) / 1e9);
    fr_wrap_head(text, "read", line, columns);
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
    add_likeness(text, &job->workload, columns);
    char assumed[FR_ASSUMED], line[FR_ASSUMED + 160];
    if (!*fr_job_assumed(job, plan, assumed, sizeof assumed)) return;
    snprintf(line, sizeof line, "%s, by %s%s", assumed, job->cluster.runtime,
             fr_job_left_out(plan ? plan : &job->plan));
    fr_wrap_head(text, "assumed", line, columns);
}

const char *fr_render_number(double value, char *out, size_t capacity) {
    snprintf(out, capacity, fabs(value) >= 1e4 ? "%.0f" : "%.5g", value);
    return out;
}

void fr_render_rates(struct fr_text *text, const struct fr_job *job,
                     const struct fr_outcome *out) {
    struct fr_outcome_view v;
    fr_outcome_view(job, out, &v);
    fr_fact_lines(text, &v, FR_LINES_RATES, FR_LINES_RATES_END);
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

static void render_memory(struct fr_text *text, const struct fr_outcome_view *v) {
    const struct fr_job *job = v->job;
    const struct fr_outcome *out = v->out;
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
                     out->peak_stage, out->peak_rank);
    fr_text_addf(text, "  %-22s %14s   %s\n", "peak",
                 fr_quantity_format(out->memory_peak_B, FR_QUANTITY_SIZE, value, sizeof value),
                 note);
    fr_fact_interval_line(text, v, FR_OUTCOME_memory_peak);
    fr_render_fits(text, job, out);
    if (!(out->host_memory_B > 0)) return;
    const double host_B = job->cluster.device.host_memory_B;
    snprintf(note, sizeof note, "%s%s", host_B > 0 ? "of " : "",
             host_B > 0 ? fr_quantity_format(host_B, FR_QUANTITY_SIZE, have, sizeof have) : "");
    fr_text_addf(text, "  %-22s %14s   %s\n", "on its host",
                 fr_quantity_format(out->host_memory_B, FR_QUANTITY_SIZE, value, sizeof value),
                 note);
}

/* A paragraph: @p words, which are freed. */
static void tell(struct fr_text *text, struct fr_text *words) {
    fr_wrap(text, fr_text_get(words), 0, 0, FR_COLUMNS);
    fr_end_line(text);
    fr_text_free(words);
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

/* Messages that were to go compressed and go whole, since their rank would not make them
 * smaller; and where the rest pays. */
static void render_codecs(struct fr_text *text, const struct fr_outcome *out) {
    const struct fr_plan_compression *c = &out->plan.compression;
    const char *const would = "they would not be smaller";
    const struct {
        const char *what, *would;
        bool asked;
        int64_t rank;
        double share, pays_B_per_s;
    } codecs[] = {{"backward messages", would, c->scope != FR_SCOPE_NONE, c->backward_rank,
                   out->lossy_backward, out->break_even_backward_B_per_s},
                  {"messages forward", would, c->forward_rank > 0, c->forward_rank,
                   out->lossy_forward, out->break_even_forward_B_per_s},
                  {"gradients", "no matrix of theirs would send fewer bytes",
                   c->gradient_stages > 0, fr_plan_gradient_rank_most(&out->plan),
                   out->lossy_gradient, out->break_even_gradient_B_per_s}};
    char rate[40];
    for (int i = 0; i < 3 && isfinite(out->time_s); i++) {
        struct fr_text words = {0};
        if (!codecs[i].asked || codecs[i].share > 0) continue;
        fr_text_addf(&words, "%s go whole: at rank %" PRId64 " %s", codecs[i].what,
                     codecs[i].rank, codecs[i].would);
        fr_text_addf(text, "\n");
        tell(text, &words);
    }
    for (int i = 0; i < 3; i++) {
        struct fr_text words = {0};
        if (!(codecs[i].pays_B_per_s > 0)) continue;
        fr_text_addf(
            &words, "compressing %s pays where %s gets less than %s%s", codecs[i].what,
            i ? "it" : "a rank",
            fr_quantity_format(codecs[i].pays_B_per_s, FR_QUANTITY_RATE, rate, sizeof rate),
            i ? "" : " of the network");
        tell(text, &words);
    }
}

static void render_lossy(struct fr_text *text, const struct fr_outcome *out) {
    const struct fr_plan_compression *c = &out->plan.compression;
    struct fr_text words = {0};
    if (fr_outcome_lossy(out) > 0) {
        fr_text_addf(&words,
                     "lossy: %.1f %% of the gradient bytes (rank %" PRId64
                     ") and %.1f %% of the backward messages (rank %" PRId64 ")",
                     100 * out->lossy_gradient, fr_plan_gradient_rank_most(&out->plan),
                     100 * out->lossy_backward, c->backward_rank);
        if (out->lossy_forward > 0)
            fr_text_addf(&words, " and %.1f %% of the messages forward (rank %" PRId64 ")",
                         100 * out->lossy_forward, c->forward_rank);
        fr_text_addf(
            &words, " go compressed; what that does to the iterations to the loss is %s",
            isfinite(out->iterations) ? "taken to be in the number given" : "not known here");
        fr_text_addf(text, "\n");
        tell(text, &words);
    }
    render_codecs(text, out);
}

void fr_render_messages(const struct fr_outcome *out, struct fr_text *words) {
    if (out->messages != FR_MESSAGES_IN_ORDER) return;
    fr_text_addf(words, "of the pipeline wait for one another on slow links");
    for (int k = 0, n = 0; k < FR_BESIDE_COUNT; k++)
        if (out->beside >> k & 1)
            fr_text_addf(words, "%s%s",
                         n++ ? ", " : "; not counted on their links: ", fr_beside_words[k]);
}

static void render_caveats(struct fr_text *text, const struct fr_job *job,
                           const struct fr_outcome *out) {
    struct fr_text words = {0};
    render_reasons(text, job, out);
    render_lossy(text, out);
    if (out->messages == FR_MESSAGES_IN_ORDER) {
        fr_text_addf(&words, "messages ");
        fr_render_messages(out, &words);
        fr_text_addf(text, "\n");
        tell(text, &words);
    }
    if (!out->extrapolated) return;
    fr_text_addf(&words, "extrapolated beyond what was measured:");
    for (int bit = 0; bit <= FR_OP_COUNT; bit++)
        if (out->extrapolated >> bit & 1)
            fr_text_addf(&words, " %s", fr_report_extrapolated_name(bit));
    fr_text_addf(text, "\n");
    tell(text, &words);
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
    char line[FR_PLAN_LINE + 32];
    struct fr_outcome_view v;
    fr_outcome_view(job, out, &v);
    fr_render_inputs(text, job, &out->plan, FR_COLUMNS);
    fr_text_addf(text, "plan       ");
    fr_plan_line(&out->plan, 0, line, sizeof line);
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
    if (v.priced) {
        fr_fact_lines(text, &v, FR_LINES_FIRST, FR_LINES_LAST);
        if (!isfinite(out->iterations) && job->workload.n_iterations + job->workload.n_laws > 0)
            fr_line_say(text, "to the loss", "-", fr_iterations_note(out));
        render_parts(text, out);
        if (v.known) render_memory(text, &v);
    }
    render_caveats(text, job, out);
}
