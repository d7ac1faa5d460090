#include "answer/outcome/report.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "answer/outcome/outcome_fact.h"
#include "base/csv.h"
#include "base/json/interval.h"
#include "base/text.h"
#include "models/plan/key.h"

const char *fr_report_extrapolated_name(int bit) {
    static const char *const names[] = {
#define FR_EXTRAPOLATED_NAME(code, name) "collectives." #name,
        FR_OP_LIST(FR_EXTRAPOLATED_NAME)
#undef FR_EXTRAPOLATED_NAME
            "gemm"};
    return names[bit];
}

const char *fr_report_outcome_line(const struct fr_outcome *out, char *line, size_t capacity) {
    return fr_report_outcome_row(out, 0, line, capacity);
}

const char *fr_report_outcome_row(const struct fr_outcome *out, fr_plan_key_set without,
                                  char *line, size_t capacity) {
    const struct fr_job *job = out->job;
    fr_plan_line(&out->plan, without, line, capacity);
    size_t used = strlen(line);
    for (int i = 0; job && i < job->n_varied; i++) {
        const char *equals = strchr(job->varied[i], '=');
        fr_line_addf(line, capacity, &used, ", %.*s %s", (int)(equals - job->varied[i]),
                     job->varied[i], equals + 1);
    }
    return line;
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static void put_interval(struct fr_json_writer *w, const struct fr_outcome_fact *fact,
                         const struct fr_outcome_view *v) {
    const struct fr_outcome_ends *of = fr_fact_ends(fact, v);
    if (of && of->stated) fr_json_add_interval(w, fact->interval, of->low, of->high);
}

static void put_intervals_in(struct fr_json_writer *w, const char *object,
                             const struct fr_outcome_view *v) {
    for (int i = 0; i < FR_OUTCOME_FACTS; i++)
        if (fr_fact_in(&fr_outcome_facts[i], object)) put_interval(w, &fr_outcome_facts[i], v);
}

static void put_values(struct fr_json_writer *w, const struct fr_outcome_fact *fact,
                       const struct fr_outcome_view *v) {
    for (int i = 0; i < fact->count; i++) {
        char key[FR_FACT_KEY];
        fr_json_key(w, fr_fact_key(fact, i, key));
        if (fact->word)
            fr_json_put_string(w, fact->word(v));
        else if (fact->kind == FR_OUTCOME_IS_FLAG)
            fr_json_put_bool(w, fact->number(v, i) != 0);
        else
            fr_json_put_number(w, fact->number(v, i));
    }
}

static void put_fact(struct fr_json_writer *w, const struct fr_outcome_fact *fact,
                     const struct fr_outcome_view *v) {
    if (fact->kind == FR_OUTCOME_IS_ENDS)
        put_intervals_in(w, fact->name, v);
    else if (fact->put)
        fact->put(v, w);
    else if (fact->stated(v))
        put_values(w, fact, v);
    if (!strchr(fact->name, '.')) put_interval(w, fact, v);
}

/* Rows of an object are side by side. */
static void report(struct fr_json_writer *w, const struct fr_outcome_view *v) {
    char open[FR_FACT_KEY] = "", object[FR_FACT_KEY];
    fr_json_begin_object(w);
    for (int i = 0; i < FR_OUTCOME_FACTS; i++) {
        const struct fr_outcome_fact *fact = &fr_outcome_facts[i];
        if (!fr_fact_in(fact, open)) {
            if (*open) fr_json_end_object(w);
            strcpy(open, fr_fact_object(fact, object));
            if (*open) fr_json_add_object(w, open);
        }
        put_fact(w, fact, v);
    }
    if (*open) fr_json_end_object(w);
    fr_json_end_object(w);
}

void fr_report_json(struct fr_json_writer *w, const struct fr_job *job,
                    const struct fr_outcome *out) {
    struct fr_outcome_view v;
    fr_outcome_view(job, out, &v);
    report(w, &v);
}

void fr_report_whole_json(struct fr_json_writer *w, const struct fr_job *job,
                          const struct fr_outcome *out) {
    struct fr_outcome_view v;
    fr_outcome_view(job, out, &v);
    v.moments = true;
    report(w, &v);
}

/* ---- CSV ------------------------------------------------------------------------------------- */

/* Keys that stand before the numbers; the others follow them. */
static const fr_plan_key_set csv_first =
    FR_PLAN_KEY_BIT(FR_PLAN_KEY_method) | FR_PLAN_KEY_BIT(FR_PLAN_KEY_dp) |
    FR_PLAN_KEY_BIT(FR_PLAN_KEY_pp) | FR_PLAN_KEY_BIT(FR_PLAN_KEY_tp) |
    FR_PLAN_KEY_BIT(FR_PLAN_KEY_ghost);

void fr_report_csv_header(struct fr_text *text, const struct fr_job *job) {
    int facts[FR_OUTCOME_FACTS],
        n = fr_outcome_placed(offsetof(struct fr_outcome_fact, csv), facts);
    fr_text_addf(text, "method,ranks,dp,pp,tp,ghost,feasible");
    for (int k = 0; k < n; k++) {
        const struct fr_outcome_fact *fact = &fr_outcome_facts[facts[k]];
        const char *head = fact->csv.label ? fact->csv.label : fact->name;
        for (int i = 0; i < fact->count; i++)
            if (*head == '*')
                fr_text_addf(text, ",%s%s", fact->names[i], head + 1);
            else
                fr_text_addf(text, ",%s", head);
    }
    for (int i = 0; i < FR_PLAN_KEYS; i++)
        if (!(csv_first >> i & 1) && i != FR_PLAN_KEY_iterations)
            fr_text_addf(text, ",%s", fr_plan_keys[i].name);
    for (int i = 0; i < job->n_varied; i++)
        fr_text_addf(text, ",%.*s", (int)strcspn(job->varied[i], "="), job->varied[i]);
    fr_text_addf(text, "\r\n");
}

static void csv_number(struct fr_text *text, double value) {
    char number[40];
    fr_text_addf(text, ",%s",
                 isfinite(value) ? fr_number_write(value, number, sizeof number) : "");
}

/* A key that nothing reads is empty. */
static void csv_keys(struct fr_text *text, const struct fr_job *job,
                     const struct fr_plan *plan) {
    uint64_t missing = fr_plan_missing(&job->workload, plan);
    struct fr_plan plan_stated = fr_job_stated(job, plan);
    for (int i = 0; i < FR_PLAN_KEYS; i++) {
        const struct fr_plan_key *key = &fr_plan_keys[i];
        char word[FR_PLAN_WORD];
        if (csv_first >> i & 1 || i == FR_PLAN_KEY_iterations) continue;
        fr_text_addf(
            text, ",%s",
            key->needs & missing ? "" : key->type->text(key, &plan_stated, word, sizeof word));
    }
}

/* They are empty for a plan without a price. */
static void csv_facts(struct fr_text *text, const struct fr_outcome_view *v) {
    int facts[FR_OUTCOME_FACTS],
        n = fr_outcome_placed(offsetof(struct fr_outcome_fact, csv), facts);
    for (int k = 0; k < n; k++) {
        const struct fr_outcome_fact *fact = &fr_outcome_facts[facts[k]];
        for (int i = 0; i < fact->count; i++)
            csv_number(text, v->priced ? fact->number(v, i) : NAN);
    }
}

void fr_report_csv_row(struct fr_text *text, const struct fr_job *job,
                       const struct fr_outcome *out) {
    const struct fr_plan *plan = &out->plan;
    struct fr_outcome_view v;
    fr_outcome_view(job, out, &v);
    fr_text_addf(text, "%s,%" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRId64 ",%s",
                 plan->method->name, out->ranks, plan->dp, plan->pp, plan->tp,
                 plan->method->uses_ghost ? plan->ghost : 0, out->reasons ? "false" : "true");
    csv_facts(text, &v);
    csv_keys(text, v.job, plan);
    for (int i = 0; i < v.job->n_varied; i++) {
        fr_text_addf(text, ",");
        fr_csv_put(text, strchr(v.job->varied[i], '=') + 1);
    }
    fr_text_addf(text, "\r\n");
}
