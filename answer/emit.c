#include "answer/emit.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "answer/outcome/report.h"
#include "base/script/script.h"
#include "base/text/version.h"
#include "base/units.h"
#include "models/job/runtime.h"
#include "models/price/rank_map.h"
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

const struct fr_emit_row *fr_emit_row(const struct fr_emitter *to, int i) {
    for (int k = 0; k < fr_emit_n_rows; k++)
        if (fr_emit_rows[k].frameworks & to->shared && i-- == 0) return &fr_emit_rows[k];
    for (int k = 0; to->rows && to->rows[k].option; k++)
        if (i-- == 0) return &to->rows[k];
    return NULL;
}

bool fr_emitter_of(const struct fr_emitter *to, const char *name) {
    size_t length = strlen(to->runtimes);
    return strncmp(name, to->runtimes, length) == 0 && (!name[length] || name[length] == '-');
}

/* ---- a row ---------------------------------------------------------------------------------- */

/* Is the value called @p name, of @p length letters, one of the @p words up to the next space? */
static bool is_one_of(const struct fr_emitted *e, const char *name, size_t length,
                      const char *words) {
    char key[48], value[FR_EMIT_TEXT];
    snprintf(key, sizeof key, "%.*s", (int)length, name);
    if (!fr_emit_value(e, key, value, sizeof value)) return false; /* a test walks the rows */
    for (;; words++) {
        size_t n = strcspn(words, ", ");
        if (strlen(value) == n && strncmp(value, words, n) == 0) return true;
        words += n;
        if (*words != ',') return false;
    }
}

/* "NAME=WORD,WORD NAME!=WORD": do all hold? */
static bool holds(const struct fr_emitted *e, const char *where) {
    while (*where) {
        size_t name = strcspn(where, "!=");
        bool other = where[name] == '!';
        const char *words = where + name + 1 + other;
        if (is_one_of(e, where, name, words) == other) return false;
        where = words + strcspn(words, " ");
        where += strspn(where, " ");
    }
    return true;
}

/* Append @p text with the values of its braces.  @return false where it is cut, as it does not fit */
static bool render(const struct fr_emitted *e, char *out, const char *text) {
    char name[48], value[FR_EMIT_TEXT];
    size_t used = strlen(out);
    for (const char *close; *text; text = close) {
        size_t n = strcspn(text, "{");
        fr_line_addf(out, FR_EMIT_TEXT, &used, "%.*s", (int)n, text);
        close = text + n;
        if (!*close) break;
        text = close + 1;
        close = text + strcspn(text, "}");
        snprintf(name, sizeof name, "%.*s", (int)(close - text), text);
        if (fr_emit_value(e, name, value, sizeof value))
            fr_line_addf(out, FR_EMIT_TEXT, &used, "%s", value);
        close += *close == '}';
    }
    return used + 1 < FR_EMIT_TEXT;
}

/* The plan's value where it is not the default: nothing is lost where the plan does not ask for the key. */
static const char *asked(const struct fr_emitted *e, int k, char *out, size_t capacity) {
    const struct fr_plan plain = fr_plan_default();
    const struct fr_plan_key *key = &fr_plan_keys[k];
    if (key->type->same(key, &e->plan, &plain)) return NULL;
    return key->type->text(key, &e->plan, out, capacity);
}

static void say(struct fr_emitted *e, const char *about, const struct fr_emit_row *row) {
    static const struct fr_emit_line none;
    const bool held = holds(e, row->where), off = row->kind == FR_EMIT_SWITCH && !held;
    char value[FR_PLAN_WORD];
    if (!held && !off && row->kind != FR_EMIT_TRUTH) return;
    e->full = e->full || e->n == FR_EMIT_LINES_MAX;
    struct fr_emit_line *line = &e->line[e->full ? FR_EMIT_LINES_MAX - 1 : e->n++];
    *line = none;
    line->about = about;
    line->lacks = row->kind == FR_EMIT_LACK;
    line->expands = row->kind == FR_EMIT_VARIABLE;
    if (row->kind == FR_EMIT_NONE && asked(e, row->key, value, sizeof value)) {
        line->lacks = true;
        snprintf(line->text, sizeof line->text, "%s: ", value);
    }
    if (off)
        snprintf(line->text, sizeof line->text, "off, as without %s", row->option);
    else
        snprintf(line->name, sizeof line->name, "%s", row->option);
    if (row->kind == FR_EMIT_TRUTH)
        snprintf(line->text, sizeof line->text, "%s", held ? "true" : "false");
    else if (line->expands)
        snprintf(line->text, sizeof line->text, "%s", row->text);
    else if (!off)
        e->full = !render(e, line->text, row->text) || e->full;
}

static void say_all(struct fr_emitted *e) {
    static const char *const others[] = {"precision", "launch", "model"};
    const struct fr_emit_row *row;
    for (int k = 0; k < FR_EMIT_SUBJECTS; k++)
        for (int i = 0; (row = fr_emit_row(e->to, i)); i++)
            if (row->key == k)
                say(e, k < FR_PLAN_KEYS ? fr_plan_keys[k].name : others[k - FR_PLAN_KEYS], row);
}

/* Choose what a search left open. */
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
    e->plan = fr_job_stated(job, &filled);
    say_all(e);
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
                      range, fr_version);
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

/* The framework's own launcher, its values put in. */
static void own_launcher(struct fr_text *text, const struct fr_emitted *e) {
    char line[FR_EMIT_TEXT] = "";
    render(e, line, e->to->launcher);
    words(text, line);
    fr_script_piece(text, " ");
}

static void torchrun(struct fr_text *text, const struct fr_emitted *e) {
    const struct fr_levels levels = fr_rank_map_levels(&e->job->cluster.levels, &e->out->plan);
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
        if (e->to->write)
            e->to->write(e, text);
        else
            fr_emit_array(e, e->to->array, text);
    }
    if (launch) {
        fr_script_piece(text, launch->line);
        fr_script_piece(text, e->to ? "  python -u " : "  ");
    } else if (e->to && e->to->launcher)
        own_launcher(text, e);
    else
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
