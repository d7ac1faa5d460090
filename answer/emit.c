#include "answer/emit.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/script/script.h"
#include "base/units.h"
#include "models/job/runtime.h"
#include "models/outcome/report.h"
#include "models/price/seats.h"
#include "models/work/transformer.h"
#include "search/stage_layers.h"

#define FR_EMITTER(name) extern const struct fr_emitter fr_emitter_##name;
#include "answer/emit_list.h"
#undef FR_EMITTER

const struct fr_emitter *const fr_emitters[] = {
#define FR_EMITTER(name) &fr_emitter_##name,
#include "answer/emit_list.h"
#undef FR_EMITTER
    NULL};

const struct fr_emitter *fr_emitter_find(const char *name) {
    for (int i = 0; fr_emitters[i]; i++)
        if (strcmp(fr_emitters[i]->name, name) == 0) return fr_emitters[i];
    return NULL;
}

bool fr_emitter_of(const struct fr_emitter *to, const char *name) {
    size_t length = strlen(to->runtimes);
    return strncmp(name, to->runtimes, length) == 0 && (!name[length] || name[length] == '-');
}

/* ---- what is said --------------------------------------------------------------------------- */

static struct fr_emit_line *add(struct fr_emitted *e, const char *name, const char *fmt,
                                va_list args) {
    e->full = e->full || e->n == FR_EMIT_LINES_MAX;
    struct fr_emit_line *line = &e->line[e->full ? FR_EMIT_LINES_MAX - 1 : e->n++];
    *line = (struct fr_emit_line){.about = e->about};
    snprintf(line->name, sizeof line->name, "%s", name);
    int length = vsnprintf(line->text, sizeof line->text, fmt, args);
    e->full = e->full || length >= (int)sizeof line->text;
    return line;
}

void fr_emit_option(struct fr_emitted *e, const char *name, const char *fmt, ...) {
    va_list args;
    va_start(args, fmt);
    add(e, name, fmt, args);
    va_end(args);
}

void fr_emit_variable(struct fr_emitted *e, const char *name, const char *variable) {
    fr_emit_option(e, name, "%s", variable);
    e->line[e->n - 1].expands = true;
}

void fr_emit_remark(struct fr_emitted *e, const char *fmt, ...) {
    va_list args;
    va_start(args, fmt);
    add(e, "", fmt, args);
    va_end(args);
}

void fr_emit_lack(struct fr_emitted *e, const char *fmt, ...) {
    va_list args;
    va_start(args, fmt);
    add(e, "", fmt, args)->lacks = true;
    va_end(args);
}

int64_t fr_emit_micro_batches(const struct fr_emitted *e) {
    int64_t samples = e->plan.dp * e->plan.micro_batch; /* 0: a plan that left them open */
    return samples > 0 ? e->plan.global_batch / samples : 0;
}

int64_t fr_emit_layers(const struct fr_emitted *e, int64_t i) {
    const struct fr_plan *p = &e->plan;
    const struct fr_transformer *t = &e->job->workload.transformer;
    int64_t chunk = i / p->pp, stage = i % p->pp, lacking = p->pp * p->chunks - t->layers;
    int64_t layers = fr_transformer_stage_layers(t, p, stage);
    /* Where logits and embedding count as layers, the last chunk of all and the first lack one. */
    if (!p->stage_layers && p->chunks > 1 && lacking > 0)
        return i == p->pp * p->chunks - 1 || (i == 0 && lacking == 2) ? 0 : 1;
    return layers / p->chunks + (chunk < layers % p->chunks);
}

bool fr_emit_layers_equal(const struct fr_emitted *e) {
    for (int64_t i = 1; i < e->plan.pp * e->plan.chunks; i++)
        if (fr_emit_layers(e, i) != fr_emit_layers(e, 0)) return false;
    return true;
}

/* Some keys are left to others: those of fr_job_said. */
static bool states_all(const struct fr_job *job) {
    int stated = 0;
    for (int k = 0; k < FR_PLAN_KEYS; k++)
        stated += fr_job_plan_says(job, fr_plan_keys[k].name);
    return stated >= FR_PLAN_KEYS - 4;
}

/* Is the size of buckets another than the default, or stated by a plan that does not state every key, as plans that
 * forerun prints do? */
static bool bucket_chosen(const struct fr_emitted *e) {
    if (e->plan.bucket_size_B != fr_plan_default().bucket_size_B) return true;
    return fr_job_plan_says(e->job, "bucket") && !states_all(e->job);
}

void fr_emit_recompute_layers(struct fr_emitted *e) {
    if (e->plan.recompute_layers == 0)
        fr_emit_remark(e, "all layers, where they recompute");
    else if (e->plan.recompute == FR_RECOMPUTE_FULL)
        fr_emit_remark(e, "%" PRId64 ", as the method above has it", e->plan.recompute_layers);
    else
        fr_emit_lack(e, "%" PRId64 ": it takes some layers with granularity full alone",
                     e->plan.recompute_layers);
}

void fr_emit_bucket(struct fr_emitted *e, bool used, const char *name) {
    double value_B = fr_dtype_size_B(e->job->workload.gradient_dtype);
    if (!used)
        fr_emit_remark(e, "nothing goes in buckets of a stated size");
    else if (bucket_chosen(e))
        fr_emit_option(e, name, "%" PRId64, (int64_t)(e->plan.bucket_size_B / value_B));
    else
        fr_emit_remark(e, "of its own size, as nobody chose one; %.0f MiB were priced",
                       e->plan.bucket_size_B / (1 << 20));
}

bool fr_emit_offloaded_layers(struct fr_emitted *e, int64_t *layers) {
    const struct fr_plan *p = &e->plan;
    if (!(p->offload & FR_OFFLOAD_ACTIVATIONS)) return false;
    if (p->pp > 1 || p->recompute != FR_RECOMPUTE_NONE) {
        fr_emit_lack(e, "activations: it offloads them in one stage, none recomputed");
        return false;
    }
    *layers = p->offload_layers ? p->offload_layers : e->job->workload.transformer.layers - 1;
    return true;
}

/* ---- a row ---------------------------------------------------------------------------------- */

/* What no framework has an option for, where its rows say nothing else. */
static const struct {
    int key;
    const char *what;
} nowhere[] = {
    {FR_PLAN_KEY_ghost, "ghost neurons"},
    {FR_PLAN_KEY_branches, "sub-graph parallelism"},
    {FR_PLAN_KEY_common, "sub-graph parallelism"},
    {FR_PLAN_KEY_exchange, "sub-graph parallelism"},
    {FR_PLAN_KEY_divide, "division of two products that follow but in pairs"},
    {FR_PLAN_KEY_placement, "seat for a rank, which the launcher gives it: sbatch"},
    {FR_PLAN_KEY_backward_scope, "compressed messages between stages"},
    {FR_PLAN_KEY_backward_rank, "compressed messages between stages"},
    {FR_PLAN_KEY_lazy_error, "compressed messages between stages"},
    {FR_PLAN_KEY_forward_rank, "compressed messages between stages"},
    {FR_PLAN_KEY_gradient_stages, "low-rank gradients"},
    {FR_PLAN_KEY_gradient_rank, "low-rank gradients"},
    {FR_PLAN_KEY_codec, "codec of gradients"},
    {FR_PLAN_KEY_warm_up, "codec of gradients"},
    {FR_PLAN_KEY_layer_tp, "grid of its own for each layer"},
    {FR_PLAN_KEY_launches, "switch for launches that block: export CUDA_LAUNCH_BLOCKING=1"},
    {FR_PLAN_KEY_clock, "clock of a device: nvidia-smi --lock-gpu-clocks on each node"},
    {FR_PLAN_KEY_power_cap, "limit of a device's power: nvidia-smi --power-limit on each node"},
};

/* Of keys that they have, a value that none has; whatever the row says of others. */
static bool asks_for_a_policy(const struct fr_plan *plan) {
    return fr_recompute_saves(plan->recompute);
}

static const struct {
    int key;
    bool (*asked)(const struct fr_plan *plan);
    const char *what;
} values_nowhere[] = {
    {FR_PLAN_KEY_recompute, asks_for_a_policy,
     "none: a policy that keeps what attention's products made (JAX)"},
};

static const char *lacked_value(const struct fr_emitted *e, int key) {
    for (size_t i = 0; i < sizeof values_nowhere / sizeof *values_nowhere; i++)
        if (values_nowhere[i].key == key && values_nowhere[i].asked(&e->plan))
            return values_nowhere[i].what;
    return NULL;
}

static const struct fr_emit_row *row_of(const struct fr_emitter *to, int key) {
    for (int i = 0; i < FR_PLAN_KEYS; i++)
        if (to->rows[i].key == key &&
            (to->rows[i].option || to->rows[i].say || to->rows[i].none))
            return &to->rows[i];
    return NULL;
}

static const char *lacked(int key) {
    for (size_t i = 0; i < sizeof nowhere / sizeof *nowhere; i++)
        if (nowhere[i].key == key) return nowhere[i].what;
    return NULL;
}

/* Nothing is lost where the plan does not ask for it. */
static void say_none(struct fr_emitted *e, const struct fr_plan_key *key, const char *no,
                     const char *what) {
    const struct fr_plan plain = fr_plan_default();
    char value[FR_PLAN_WORD];
    if (key->type->same(key, &e->plan, &plain)) {
        fr_emit_remark(e, "%s%s", no, what);
        return;
    }
    key->type->text(key, &e->plan, value, sizeof value);
    fr_emit_lack(e, "%s: %s%s", value, no, what);
}

static void say(struct fr_emitted *e, int k) {
    const struct fr_plan_key *key = &fr_plan_keys[k];
    const struct fr_emit_row *row = row_of(e->to, k);
    char value[FR_PLAN_WORD];
    e->about = key->name;
    if (!row && !lacked(k)) return; /* a test walks the keys */
    if (!row) {
        say_none(e, key, e->to->no, lacked(k));
    } else if (lacked_value(e, k)) {
        fr_emit_lack(e, "%s", lacked_value(e, k));
    } else if (row->say) {
        row->say(e);
    } else if (row->option) {
        key->type->text(key, &e->plan, value, sizeof value);
        fr_emit_option(e, row->option, "%s", value);
    } else
        say_none(e, key, "", row->none);
}

/* What a search left to be chosen. */
static fr_status choose_layers(const struct fr_job *job, struct fr_plan *plan,
                               struct fr_emitted *e, struct fr_error *err) {
    if (!plan->stage_layers_best) return FR_OK;
    if (plan->pp > FR_EMIT_STAGES)
        return fr_fail(err, FR_ERR_INPUT, "--emit", "stage_layers of more than %d stages",
                       FR_EMIT_STAGES);
    FR_TRY(fr_stage_layers_best(job, plan, e->stage_layers, err));
    plan->stage_layers = e->stage_layers;
    plan->n_stage_layers = (int)plan->pp;
    plan->stage_layers_best = false;
    return FR_OK;
}

fr_status fr_emit(const struct fr_emitter *to, const struct fr_job *job,
                  const struct fr_outcome *out, struct fr_emitted *e, struct fr_error *err) {
    if (out->job) job = out->job;
    if (job->workload.kind != &fr_kind_transformer)
        return fr_fail(err, FR_ERR_INPUT, "--emit", "%s trains transformers; model %s is none",
                       to->framework, job->workload.name);
    struct fr_plan filled = out->plan;
    fr_job_fill(job, &filled);
    *e = (struct fr_emitted){.to = to, .job = job, .out = out};
    FR_TRY(choose_layers(job, &filled, e, err));
    e->plan = fr_job_said(job, &filled);
    for (int k = 0; k < FR_PLAN_KEYS; k++) say(e, k);
    to->rest(e);
    return e->full ? fr_fail(err, FR_ERR_INPUT, "--emit",
                             "the plan has a list too long for a command line")
                   : FR_OK;
}

/* ---- the script ------------------------------------------------------------------------------ */

static void head(struct fr_text *text, const struct fr_emitted *e) {
    char plan[FR_PLAN_LINE], time[40], low[40], high[40], range[96] = "";
    const struct fr_outcome *out = e->out;
    fr_script_comment(text, "%s on %" PRId64 " ranks",
                      fr_report_outcome_line(out, plan, sizeof plan), out->ranks);
    if (out->high_s > 0)
        snprintf(range, sizeof range, " (%s to %s)",
                 fr_quantity_format(out->low_s, FR_QUANTITY_TIME, low, sizeof low),
                 fr_quantity_format(out->high_s, FR_QUANTITY_TIME, high, sizeof high));
    fr_script_comment(text, "predicted %s an iteration%s, forerun %s",
                      fr_quantity_format(out->time_s, FR_QUANTITY_TIME, time, sizeof time),
                      range, FR_VERSION);
    if (*e->job->cluster.runtime)
        fr_script_comment(text, "priced with the software %s", e->job->cluster.runtime);
    if (e->to) fr_script_comment(text, "%s; options of %s", e->to->framework, e->to->version);
    for (int i = 0; i < FR_REASON_COUNT; i++)
        if (out->reasons & FR_BECAUSE(i)) {
            struct fr_text reason = {0};
            fr_report_reason(e->job, out, i, &reason);
            fr_script_comment(text, "IT CANNOT RUN: %s", fr_text_get(&reason));
            text->failed = text->failed || reason.failed;
            fr_text_free(&reason);
        }
}

static void sentences(struct fr_text *text, const struct fr_emitted *e, bool lacks,
                      const char *title) {
    bool any = false;
    for (int i = 0; i < e->n; i++) {
        const struct fr_emit_line *line = &e->line[i];
        if (line->name[0] || line->lacks != lacks) continue;
        if (!any) fr_script_comment(text, "%s", title);
        any = true;
        fr_script_comment(text, "  %s: %s", line->about, line->text);
    }
}

/* Values of an option that takes several are words of their own. */
static void words(struct fr_text *text, const char *values) {
    char word[sizeof((struct fr_emit_line *)0)->text];
    for (const char *at = values; *at; at += strspn(at, " ")) {
        size_t n = strcspn(at, " ");
        snprintf(word, sizeof word, "%.*s", (int)n, at);
        if (at != values) fr_script_piece(text, " ");
        fr_script_word(text, FR_SCRIPT_BASH, word);
        at += n;
    }
}

/* "--option value ..." or "field=value". */
static void option(struct fr_text *text, const struct fr_emit_line *line) {
    bool dashes = line->name[0] == '-';
    fr_script_word(text, FR_SCRIPT_BASH, line->name);
    if (!line->text[0]) return;
    fr_script_piece(text, dashes ? " " : "=");
    if (!line->expands) {
        if (dashes)
            words(text, line->text);
        else
            fr_script_word(text, FR_SCRIPT_BASH, line->text);
        return;
    }
    fr_script_piece(text, "\"");
    fr_script_piece(text, line->text);
    fr_script_piece(text, "\"");
}

void fr_emit_array(const struct fr_emitted *e, const char *array, struct fr_text *text) {
    enum { COMMENTS = 59 }; /* their column */
    fr_script_piece(text, array);
    fr_script_piece(text, "=(\n");
    for (int i = 0; i < e->n; i++) {
        size_t from = text->length;
        if (!e->line[i].name[0]) continue;
        fr_script_piece(text, "  ");
        option(text, &e->line[i]);
        do fr_script_piece(text, " ");
        while (text->length - from < COMMENTS && !text->failed);
        fr_script_comment(text, "%s", e->line[i].about);
    }
    fr_script_piece(text, ")\n");
}

static void torchrun(struct fr_text *text, const struct fr_emitted *e) {
    const struct fr_levels levels = fr_seats_levels(&e->job->cluster.levels, &e->out->plan);
    int64_t a_node = levels.level[fr_levels_node(&levels)].ranks;
    if (a_node > e->out->ranks) a_node = e->out->ranks;
    if (e->out->ranks % a_node != 0) {
        const struct fr_levels equal =
            fr_levels_take(&e->job->cluster.levels, e->out->ranks, FR_UNITS_EQUAL);
        int64_t last = e->out->ranks % a_node;
        fr_script_comment(
            text,
            "torchrun starts as many ranks on every node; priced were nodes of %" PRId64
            ", the last of %" PRId64 ": placement balanced prices what follows",
            a_node, last);
        a_node = equal.level[fr_levels_node(&equal)].ranks;
    }
    fr_text_addf(text,
                 "torchrun --nnodes %" PRId64 " --nproc-per-node %" PRId64
                 " --rdzv-backend c10d \\\n"
                 "  --rdzv-endpoint \"${MASTER_ADDR:-localhost}:${MASTER_PORT:-29500}\" \\\n  ",
                 (e->out->ranks + a_node - 1) / a_node, a_node);
}

void fr_emit_script(struct fr_text *text, const struct fr_emitted *e,
                    const struct fr_emit_launch *launch) {
    if (launch) fr_script_piece(text, launch->head);
    head(text, e);
    if (e->to) {
        sentences(text, e, true, "NOT WHAT WAS PRICED, for want of an option");
        sentences(text, e, false, "without an option");
        e->to->write(e, text);
    }
    if (launch) {
        fr_script_piece(text, launch->line);
        fr_script_piece(text, e->to ? "  python -u " : "  ");
    } else
        torchrun(text, e);
    if (e->to) fr_script_piece(text, e->to->program);
    fr_script_piece(text, "\"$@\"\n");
}

void fr_emit_put(struct fr_json_writer *w, const struct fr_emitted *e) {
    char plan[FR_PLAN_LINE];
    fr_json_begin_object(w);
    fr_json_add_string(w, "framework", e->to->name);
    fr_json_add_string(w, "version", e->to->version);
    fr_runtime_put(&e->job->cluster, w);
    fr_json_add_string(w, "plan", fr_report_outcome_line(e->out, plan, sizeof plan));
    fr_json_add_integer(w, "ranks", e->out->ranks);
    fr_json_add_number(w, "time_s", e->out->time_s);
    fr_json_add_array(w, "told");
    for (int i = 0; i < e->n; i++) {
        const struct fr_emit_line *line = &e->line[i];
        fr_json_begin_object(w);
        fr_json_add_string(w, "about", line->about);
        if (line->name[0]) fr_json_add_string(w, "option", line->name);
        fr_json_add_string(w, line->name[0] ? "value" : "sentence", line->text);
        if (line->lacks) fr_json_add_bool(w, "lacks", true);
        fr_json_end_object(w);
    }
    fr_json_end_array(w);
    fr_json_end_object(w);
}
