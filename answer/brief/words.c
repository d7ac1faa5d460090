#include "answer/brief/words.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "answer/outcome/report.h"
#include "answer/predict/training_text.h"
#include "answer/text/render.h"
#include "base/text/readable.h"
#include "base/text/wrap.h"
#include "models/job/assume.h"
#include "models/job/runtime.h"
#include "models/outcome/fits/fits.h"
#include "models/outcome/rates.h"

/* ---- the question ------------------------------------------------------------------------------ */

const char *fr_brief_name(const char *name, char out[48]) {
    const char *slash = strrchr(name, '/');
    if (slash && slash[1]) name = slash + 1;
    snprintf(out, 48, strlen(name) > 40 ? "%.37s..." : "%s", name);
    return out;
}

const char *fr_brief_device(const struct fr_cluster *cluster) {
    static const char *const gpus[] = {"pascal", "volta",     "turing", "ampere", "ada",
                                       "hopper", "blackwell", "rubin",  "cdna",   NULL};
    const char *of = cluster->device.generation;
    for (int i = 0; gpus[i]; i++)
        if (strncmp(of, gpus[i], strlen(gpus[i])) == 0) return "GPU";
    return strncmp(of, "tpu", 3) == 0 ? "TPU" : "rank";
}

/* "2,048 x 8,192 tokens", "512 samples". */
static void add_batch(const struct fr_job *job, const struct fr_plan *plan, char *out,
                      size_t capacity) {
    char batch[FR_READABLE], tokens[FR_READABLE];
    const int64_t n = fr_job_batch(job, plan), sequence = job->workload.transformer.sequence;
    fr_readable_count(n, batch);
    if (n <= 0)
        *out = '\0';
    else if (job->workload.transformer.layers && sequence > 0)
        snprintf(out, capacity, ", %s x %s tokens", batch, fr_readable_count(sequence, tokens));
    else
        snprintf(out, capacity, ", %s sample%s", batch, n == 1 ? "" : "s");
}

static void add_nodes(const struct fr_job *job, int64_t ranks, char *out, size_t capacity) {
    const struct fr_levels levels =
        fr_levels_take(&job->cluster.levels, ranks, FR_UNITS_SEGMENTS);
    const int node = fr_levels_node(&job->cluster.levels);
    int64_t last = 0;
    char count[FR_READABLE];
    *out = '\0';
    if (strcmp(job->cluster.levels.level[node].name, "node") != 0) return;
    const int64_t n = fr_levels_units(&levels, node, ranks, &last);
    snprintf(out, capacity, " (%s node%s)", fr_readable_count(n, count), n == 1 ? "" : "s");
}

void fr_brief_question(struct fr_brief *brief, const struct fr_job *job,
                       const struct fr_plan *plan, int64_t ranks, const char *where) {
    char model[48], cluster[48], count[FR_READABLE], batch[80], nodes[60], line[400];
    const char *device = fr_brief_device(&job->cluster);
    fr_brief_name(job->workload.name[0] ? job->workload.name : job->model_from, model);
    fr_brief_name(job->cluster.name[0] ? job->cluster.name : job->cluster_from, cluster);
    add_batch(job, plan ? plan : &job->plan, batch, sizeof batch);
    add_nodes(job, ranks, nodes, sizeof nodes);
    for (int full = 1; full >= 0; full--) {
        snprintf(line, sizeof line, "%s on %s %s%s of %s%s%s, %s", model,
                 fr_readable_count(ranks, count), device, ranks == 1 ? "" : "s",
                 where ? where : cluster, full && !where ? nodes : "", batch,
                 fr_dtype_names[job->workload.dtype]);
        if (fr_letters(line, strlen(line)) <= FR_COLUMNS) break;
    }
    fr_brief_head(brief, line);
}

/* ---- the plan ---------------------------------------------------------------------------------- */

#define BIT(key) FR_PLAN_KEY_BIT(FR_PLAN_KEY_##key)

static void add_word(struct fr_text *words, const char *format, int64_t value) {
    if (words->length) fr_text_addf(words, ", ");
    fr_text_addf(words, format, (long long)value);
}

/* Words of this line in front of all other keys. */
static void add_mesh(const struct fr_plan *plan, fr_plan_key_set keys, struct fr_text *words) {
    if (keys & BIT(method) && strcmp(plan->method->name, "tensor") != 0)
        fr_text_addf(words, "%s", plan->method->name);
    add_word(words, "tp %lld", plan->tp);
    if (plan->pp > 1) {
        add_word(words, "pp %lld", plan->pp);
        const char *order = plan->schedule ? plan->schedule->name : "";
        if (strcmp(order, "interleaved") != 0 && keys & BIT(schedule))
            fr_text_addf(words, " (%s)", order);
        if (plan->chunks > 1) fr_text_addf(words, " with %lld chunks", (long long)plan->chunks);
    }
    if (plan->cp > 1) add_word(words, "cp %lld", plan->cp);
    add_word(words, "dp %lld", plan->dp);
}

void fr_brief_plan(const struct fr_outcome *out, fr_plan_key_set without, struct fr_text *to) {
    struct fr_text made = {0}, *words = &made;
    static const fr_plan_key_set mesh = BIT(method) | BIT(tp) | BIT(dp) | BIT(pp) | BIT(cp);
    const struct fr_plan *plan = &out->plan;
    const fr_plan_key_set keys = fr_plan_line_keys(plan) & ~without;
    fr_plan_key_set placed = mesh;
    char rest[FR_PLAN_LINE];
    if (plan->pp > 1 && (plan->chunks > 1 || plan->schedule))
        placed |= BIT(schedule) | BIT(chunks);
    add_mesh(plan, keys, words);
    fr_report_outcome_row(out, without | placed, rest, sizeof rest);
    for (const char *at = rest; *at;) {
        at += strspn(at, ", ");
        size_t length = strcspn(at, ",");
        if (!length) break;
        bool zero = strncmp(at, "zero ", 5) == 0;
        fr_text_addf(words, "%s%s%.*s", words->length ? ", " : "", zero ? "ZeRO" : "",
                     (int)(length - (zero ? 4 : 0)), at + (zero ? 4 : 0));
        at += length;
    }
    fr_text_addf(to, "%s", fr_text_get(&made));
    fr_text_free(&made);
}

/* ---- its numbers ------------------------------------------------------------------------------- */

void fr_brief_step(const struct fr_job *job, const struct fr_outcome *out,
                   struct fr_text *words) {
    const struct fr_rates rates = fr_rates_of(job, out);
    const bool tokens = isfinite(rates.tokens_per_s);
    char time[FR_READABLE], range[2 * FR_READABLE], rate[FR_READABLE], mfu[FR_READABLE];
    fr_text_addf(words, "%s a step", fr_readable(out->time_s, FR_QUANTITY_TIME, time));
    if (out->high_s > out->low_s)
        fr_text_addf(words, " (90 %%: %s)",
                     fr_readable_range(out->low_s, out->high_s, FR_QUANTITY_TIME, range));
    const double per_s = tokens ? rates.tokens_per_s : rates.samples_per_s;
    if (isfinite(per_s))
        fr_text_addf(words, ", %s %s/s a %s",
                     fr_readable_number(per_s / (double)out->ranks, rate),
                     tokens ? "tokens" : "samples", fr_brief_device(&job->cluster));
    if (isfinite(rates.mfu))
        fr_text_addf(words, ", MFU %s", fr_readable_percent(rates.mfu, mfu));
}

void fr_brief_fits(const struct fr_job *job, const struct fr_outcome *out,
                   struct fr_text *words) {
    const struct fr_fits fits = fr_fits_of(job, out);
    char line[FR_FITS_LINE], energy[FR_READABLE];
    if (isfinite(fits.needed_B))
        fr_text_addf(words, "%s", fr_fits_line(&fits, line));
    else
        fr_text_addf(words, "whether it fits is not known");
    if (isfinite(out->energy_J))
        fr_text_addf(words, "; %s a step",
                     fr_readable(out->energy_J, FR_QUANTITY_ENERGY, energy));
}

static const char *const part_words[FR_PART_COUNT] = {
    [FR_PART_COMPUTE] = "compute",
    [FR_PART_LAUNCH] = "kernel launches",
    [FR_PART_FIXED] = "fixed costs",
    [FR_PART_TP_COMM] = "tensor-parallel exchanges",
    [FR_PART_CP_COMM] = "context-parallel exchanges",
    [FR_PART_EP_COMM] = "expert exchanges",
    [FR_PART_PP_COMM] = "pipeline messages",
    [FR_PART_DP_COMM] = "gradient exchanges",
    [FR_PART_EMBEDDING_COMM] = "embedding exchanges",
    [FR_PART_REDISTRIBUTION] = "redistribution",
    [FR_PART_COMPRESSION] = "compression",
    [FR_PART_OFFLOAD] = "offload",
    [FR_PART_BUBBLE] = "pipeline bubble",
};

void fr_brief_parts(struct fr_brief *brief, const struct fr_outcome *out) {
    static const double LEAST = 0.005;
    struct fr_text words = {0};
    double rest = 1;
    bool keys[FR_PART_COUNT] = {false};
    char share[FR_READABLE];
    if (!(out->time_s > 0)) return;
    for (;;) {
        int most = -1;
        for (int i = 0; i < FR_PART_COUNT; i++)
            if (!keys[i] && out->part_s[i] >= LEAST * out->time_s &&
                (most < 0 || out->part_s[i] > out->part_s[most]))
                most = i;
        if (most < 0) break;
        keys[most] = true;
        rest -= out->part_s[most] / out->time_s;
        fr_text_addf(&words, "%s%s %s", words.length ? ", " : "", part_words[most],
                     fr_readable_percent(out->part_s[most] / out->time_s, share));
    }
    if (rest >= LEAST) fr_text_addf(&words, ", rest %s", fr_readable_percent(rest, share));
    fr_brief_words(brief, FR_BRIEF_SHOULD, "time", &words);
}

/* ---- what it is priced with -------------------------------------------------------------------- */

void fr_brief_inputs(struct fr_brief *brief, const struct fr_job *job,
                     const struct fr_outcome *out) {
    char line[FR_RUNTIME_LINE], beyond[FR_DRIFT_LINE], assumed[FR_ASSUMED];
    struct fr_text verdict = {0}, units = {0};
    fr_job_assumed(job, out ? &out->plan : NULL, assumed, sizeof assumed);
    fr_brief_row(brief, FR_BRIEF_MUST, "software", "%s",
                 fr_runtime_line(&job->cluster, line, sizeof line));
    if (*fr_drift_line(&job->cluster.drift, beyond, sizeof beyond))
        fr_brief_row(brief, FR_BRIEF_MAY, "", "%s", beyond);
    if (*assumed)
        fr_brief_row(brief, FR_BRIEF_MAY, "assumed", "%s%s", assumed,
                     fr_job_left_out(out ? &out->plan : &job->plan));
    if (out) fr_render_filled(&units, job, out, FR_COLUMNS_WIDE);
    fr_brief_lines(brief, FR_BRIEF_SHOULD, "nodes", &units);
    if (job->cluster.calibration.oversubscribed)
        fr_brief_row(brief, FR_BRIEF_SHOULD, "caution",
                     "measured with more ranks than cores: its collectives time the scheduler");
    if (*job->cluster.calibration.verdict)
        fr_calibration_tell(&job->cluster.calibration, &verdict);
    fr_brief_words(brief, FR_BRIEF_SHOULD, "caution", &verdict);
}

/* ---- a training -------------------------------------------------------------------------------- */

void fr_brief_cost(const struct fr_training *t, const struct fr_training_cost *c, bool counts,
                   struct fr_text *words) {
    char a[FR_READABLE], b[FR_READABLE];
    fr_text_addf(words, "%s", fr_render_duration(c->time_s, a, sizeof a));
    if (c->high_s > 0)
        fr_text_addf(words, " (%s to %s)", fr_render_duration(c->low_s, a, sizeof a),
                     fr_render_duration(c->high_s, b, sizeof b));
    if (counts)
        fr_text_addf(words, ", %s steps, %s device-hours", fr_readable_number(c->iterations, a),
                     fr_readable_number(c->device_s / 3600, b));
    if (isfinite(c->price) && t->price_per_s > 0)
        fr_text_addf(words, ", %s %s", fr_readable_number(c->price, a), t->currency);
    if (isfinite(c->energy_J))
        fr_text_addf(words, ", %s", fr_render_energy(c->energy_J / 3.6e6, a, sizeof a));
    if (isfinite(c->carbon_kg) && t->carbon_kg_per_J > 0)
        fr_text_addf(words, ", %s of CO2", fr_render_mass(c->carbon_kg, a, sizeof a));
}

void fr_brief_training(struct fr_brief *brief, const struct fr_training *t,
                       const struct fr_training_cost *c) {
    char failures[FR_READABLE], share[FR_READABLE];
    struct fr_text words = {0};
    if (!fr_training_asked(t)) return;
    if (!isfinite(c->time_s)) {
        fr_brief_row(brief, FR_BRIEF_MUST, "training", "never ends: %s",
                     c->goodput <= 0 ? "it fails faster than it goes on"
                                     : "its time is not known");
        return;
    }
    fr_brief_cost(t, c, true, &words);
    if (t->device_mtbf_s > 0)
        fr_text_addf(&words, ", goodput %s with %s failures",
                     fr_readable_percent(c->goodput, share),
                     fr_readable_number(c->n_failures, failures));
    fr_brief_words(brief, FR_BRIEF_MUST, "training", &words);
}

/* ---- what is wrong with it --------------------------------------------------------------------- */

void fr_brief_reasons(struct fr_brief *brief, const struct fr_job *job,
                      const struct fr_outcome *out) {
    int n = 0;
    for (int i = 0; i < FR_REASON_COUNT; i++) {
        struct fr_text words = {0};
        if (!(out->reasons & FR_BECAUSE(i))) continue;
        fr_report_reason(job, out, i, &words);
        fr_brief_words(brief, n ? FR_BRIEF_SHOULD : FR_BRIEF_MUST, n ? "" : "cannot run",
                       &words);
        fr_brief_row(brief, FR_BRIEF_SHOULD, "helps", "%s", fr_reason_helps[i]);
        n++;
    }
}

void fr_brief_caveats(struct fr_brief *brief, const struct fr_outcome *out) {
    struct fr_text lossy = {0}, beyond = {0}, messages = {0};
    char a[FR_READABLE], b[FR_READABLE];
    if (fr_outcome_lossy(out) > 0) {
        fr_text_addf(&lossy, "%s of gradient bytes and %s of backward messages go compressed",
                     fr_readable_percent(out->lossy_gradient, a),
                     fr_readable_percent(out->lossy_backward, b));
        if (!isfinite(out->iterations))
            fr_text_addf(&lossy, "; how many steps more that takes is not known here");
    }
    fr_brief_words(brief, FR_BRIEF_SHOULD, "lossy", &lossy);
    for (int bit = 0; out->extrapolated && bit <= FR_OP_COUNT; bit++)
        if (out->extrapolated >> bit & 1)
            fr_text_addf(&beyond, "%s%s", beyond.length ? ", " : "beyond what was measured: ",
                         fr_report_extrapolated_name(bit));
    fr_brief_words(brief, FR_BRIEF_SHOULD, "caution", &beyond);
    fr_render_messages(out, &messages);
    fr_brief_words(brief, FR_BRIEF_SHOULD, "messages", &messages);
}
