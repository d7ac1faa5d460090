#include "answer/upgrade/upgrade.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "answer/predict/predict.h"
#include "base/alloc.h"
#include "models/job/assume.h"
#include "models/job/runtime.h"
#include "search/chosen.h"

const char *const fr_upgrade_terms[] = {"starts", "attention", "products",
                                        "host",   "plan",      NULL};
const char *const fr_upgrade_term_words[] = {"what models and plans start from",
                                             "attention",
                                             "products of 8 and 4 bits",
                                             "host and fixed time",
                                             "another plan (the first's values in brackets)",
                                             NULL};

const struct fr_outcome *fr_upgrade_outcome(const struct fr_upgrade *u, int row) {
    const struct fr_upgrade_row *r = &u->row[row];
    if (!u->searched) return &r->plan;
    const struct fr_found_list *top = &r->of->result.top;
    return top->count ? &top->items[0].outcome : NULL;
}

const struct fr_job *fr_upgrade_job(const struct fr_upgrade *u, int row) {
    const struct fr_outcome *out = fr_upgrade_outcome(u, row);
    return out && out->job ? out->job : &u->row[row].of->job;
}

/* The first's batch over that of @p out. */
static double per_batch(const struct fr_upgrade *u, const struct fr_job *job,
                        const struct fr_outcome *out) {
    const struct fr_outcome *first = fr_upgrade_outcome(u, 0);
    double batch = (double)fr_job_batch(job, &out->plan);
    return first ? (double)fr_job_batch(fr_upgrade_job(u, 0), &first->plan) / batch : 1;
}

double fr_upgrade_part_s(const struct fr_upgrade *u, int row, int part) {
    const struct fr_outcome *out = fr_upgrade_outcome(u, row);
    double rest_s = out ? out->time_s : NAN;
    if (!out) return NAN;
    for (int i = 0; i < FR_PART_COUNT; i++) rest_s -= out->part_s[i];
    return (part < FR_PART_COUNT ? out->part_s[part] : rest_s) *
           per_batch(u, fr_upgrade_job(u, row), out);
}

/* ---- a row ------------------------------------------------------------------------------------- */

/* The replicas that the ranks make, where a plan leaves them open. */
static fr_status take_ranks(const char *ranks, struct fr_job *job, char *set, size_t capacity,
                            struct fr_error *err) {
    char *end = NULL;
    long long n = ranks ? strtoll(ranks, &end, 10) : 0;
    int64_t own = fr_plan_ranks(&job->plan), others = own / job->plan.dp;
    *set = '\0';
    if (!ranks) return FR_OK;
    if (*end || n < 1 || n > FR_RANKS_MAX)
        return fr_fail(err, FR_ERR_USAGE, "--ranks",
                       "\"%.40s\" is no number of ranks; of one plan there is one", ranks);
    if (n == own) return FR_OK;
    if (fr_job_plan_says(job, "dp"))
        return fr_fail(err, FR_ERR_USAGE, "--ranks",
                       "the plan has %" PRId64 " ranks (dp x cp x pp x tp), not %lld", own, n);
    if (n % others != 0)
        return fr_fail(err, FR_ERR_USAGE, "--ranks",
                       "%lld ranks cannot be divided by the plan's %" PRId64 " (cp x pp x tp)",
                       n, others);
    snprintf(set, capacity, "plan.dp=%lld", n / (long long)others);
    return FR_OK;
}

/* Load with one more --set ("": none). */
static fr_status load_with(const struct fr_job_names *names, const char *const *more, int n,
                           struct fr_job *job, struct fr_error *err) {
    const char **sets = fr_calloc((size_t)(names->n_sets + n) + 1, sizeof *sets);
    struct fr_job_names with = *names;
    if (!sets) return fr_fail(err, FR_ERR_NOMEM, NULL, "out of memory");
    for (int i = 0; i < names->n_sets; i++) sets[i] = names->sets[i];
    for (int i = 0; i < n; i++) sets[names->n_sets + i] = more[i];
    with.sets = sets;
    with.n_sets += n;
    fr_status status = fr_job_load(&with, job, err);
    free(sets);
    return status;
}

static struct fr_job_names names_of(const struct fr_upgrade_asked *asked,
                                    const struct fr_upgrade *u, const char *runtime) {
    struct fr_job_names names = asked->of.names;
    names.cluster = u->cluster;
    names.model = u->model;
    names.runtime = runtime;
    if (u->training.pue > 0) names.pue = u->training.pue;
    return names;
}

static fr_status plan_row(const struct fr_upgrade_asked *asked,
                          const struct fr_job_names *names, const struct fr_upgrade *u,
                          struct fr_upgrade_row *row, char *replicas, size_t capacity,
                          struct fr_error *err) {
    const char *more = replicas;
    if (row == u->row) {
        FR_TRY(fr_job_load(names, &row->of->job, err));
        FR_TRY(take_ranks(asked->of.ranks, &row->of->job, replicas, capacity, err));
        if (*replicas) fr_job_free(&row->of->job);
    }
    if (!row->of->job.runtime)
        FR_TRY(load_with(names, &more, *replicas != 0, &row->of->job, err));
    FR_TRY(fr_training_check(&u->training, &row->of->job, err));
    return fr_predict(&row->of->job, FR_ENGINE_CLOSED, &row->plan, err);
}

/* ---- steps ------------------------------------------------------------------------------------- */

/* The first's plan under runtimes between the first and another. */
struct traversal {
    const struct fr_upgrade *u;
    struct fr_job_names names;
    const char **
        more; /* [n_more] --set on top: replicas, and what a search varies of model and cluster */
    int n_more;
    fr_plan_key_set
        varied;        /* keys of the plan that a search varies: no runtime fills them in */
    struct fr_job job; /* of the last step */
    struct fr_outcome out;
    double time_s;
};

/* The first's best plan without what its runtime filled in, filled in by the job's. */
static void take_plan(struct traversal *w) {
    const struct fr_outcome *first = fr_upgrade_outcome(w->u, 0);
    const struct fr_job *job = fr_upgrade_job(w->u, 0);
    struct fr_plan plan = first->plan;
    plan.resolved = 0;
    fr_job_forget(job, job->open, &plan);
    fr_job_complete(&w->job, w->job.open & ~w->varied, &plan);
    fr_cost_chosen(&w->job, &plan, &w->out);
}

static fr_status price(struct traversal *w, const struct fr_runtime *made,
                       struct fr_error *err) {
    fr_job_free(&w->job);
    w->names.made = made;
    FR_TRY(load_with(&w->names, w->more, w->n_more, &w->job, err));
    if (w->u->searched)
        take_plan(w);
    else
        FR_TRY(fr_predict(&w->job, FR_ENGINE_CLOSED, &w->out, err));
    w->time_s = w->out.time_s * per_batch(w->u, &w->job, &w->out);
    return FR_OK;
}

static fr_upgrade_term term_of(const struct fr_fact_row *row) {
    if (row->kind != FR_FACT_DEVICE) return FR_UPGRADE_STARTS;
    if (row->dtype != FR_DTYPE_COUNT) return FR_UPGRADE_PRODUCTS;
    return strncmp(row->key, "attention.", 10) == 0 ? FR_UPGRADE_ATTENTION : FR_UPGRADE_HOST;
}

/* The value of a row that @p job and its plan have; "": nothing is assumed. */
static void say_value(const struct fr_fact_row *row, const struct fr_job *job,
                      const struct fr_plan *plan, char out[FR_UPGRADE_WORD]) {
    char word[FR_PLAN_WORD];
    *out = '\0';
    if (row->kind == FR_FACT_PLAN) {
        const struct fr_plan_key *key = &fr_plan_keys[row->plan_key];
        snprintf(out, FR_UPGRADE_WORD, "%.380s", key->type->text(key, plan, word, sizeof word));
    } else if (row->kind == FR_FACT_DEVICE) {
        double value = 0;
        memcpy(&value, (const char *)&job->cluster.device + row->offset, sizeof value);
        if (row->is_quantity)
            fr_quantity_format(value, row->quantity, out, FR_UPGRADE_WORD);
        else
            snprintf(out, FR_UPGRADE_WORD, "%.4g", value);
    } else
        for (int i = 0; i < job->n_of_model; i++) {
            const struct fr_fact *fact = &job->runtime->fact[job->of_model[i]];
            if (&fr_facts[fact->row] == row) fr_fact_text(fact, out, FR_UPGRADE_WORD);
        }
}

/* One step further.  One that changes nothing is none; what could not be priced goes with the next. */
static fr_status step(struct traversal *w, const struct fr_fact_row *row, const char *key,
                      const struct fr_runtime *made, struct fr_upgrade_row *to,
                      struct fr_upgrade_step *open, struct fr_error *err) {
    double before_s = w->time_s;
    struct fr_upgrade_step now = {.term = row ? term_of(row) : FR_UPGRADE_STARTS};
    if (row)
        say_value(row, &w->job, &w->out.plan, now.from);
    else
        snprintf(now.from, sizeof now.from, "%s", w->job.runtime->modern ? "modern" : "2019");
    FR_TRY(price(w, made, err));
    if (row)
        say_value(row, &w->job, &w->out.plan, now.to);
    else
        snprintf(now.to, sizeof now.to, "%s", w->job.runtime->modern ? "modern" : "2019");
    bool same = (w->time_s == before_s || (isnan(w->time_s) && isnan(before_s))) &&
                strcmp(now.from, now.to) == 0;
    if (same) return FR_OK;
    if (*open->key) {
        snprintf(now.key, sizeof now.key, "%.300s, %.60s", open->key, key);
        now.term = open->term;
        *now.from = *now.to = '\0';
    } else {
        snprintf(now.key, sizeof now.key, "%s", key);
        open->before_s = before_s;
    }
    now.before_s = open->before_s;
    now.after_s = w->time_s;
    *open = now;
    if (isnan(w->time_s)) return FR_OK;
    to->step[to->n_steps++] = now;
    *open->key = '\0';
    return FR_OK;
}

/* The next fact of @p row behind @p i in the nearest file that has any, but for --set; n_facts: none is left. */
static int next_of(const struct fr_runtime *runtime, int row, int i) {
    for (int k = i + 1; k < runtime->n_facts; k++) {
        if (runtime->fact[k].row != row || runtime->fact[k].file < 0) continue;
        return i >= 0 && runtime->fact[k].file != runtime->fact[i].file ? runtime->n_facts : k;
    }
    return runtime->n_facts;
}

static bool alike(const struct fr_fact *a, const struct fr_fact *b) {
    return a->none == b->none && a->when == b->when && a->number == b->number &&
           strcmp(a->of, b->of) == 0 && strcmp(a->text, b->text) == 0;
}

/* Do both say the same of a row? */
static bool same_row(const struct fr_runtime *first, const struct fr_runtime *later, int row,
                     const struct fr_device *device) {
    if (fr_facts[row].kind == FR_FACT_DEVICE) {
        const struct fr_fact *one = fr_runtime_of_device(first, row, device),
                             *two = fr_runtime_of_device(later, row, device);
        return one == two || (one && two && one->number == two->number);
    }
    int a = next_of(first, row, -1), b = next_of(later, row, -1);
    while (a < first->n_facts && b < later->n_facts &&
           alike(&first->fact[a], &later->fact[b])) {
        a = next_of(first, row, a);
        b = next_of(later, row, b);
    }
    return a == first->n_facts && b == later->n_facts;
}

static fr_status walk_facts(struct traversal *w, const struct fr_runtime *first,
                            const struct fr_runtime *later, struct fr_upgrade_row *to,
                            struct fr_error *err) {
    bool taken[FR_CLUSTER_FACTS] = {false};
    struct fr_upgrade_step open = {.key = ""};
    struct fr_runtime made = {.fact = NULL};
    bool modern = first->modern;
    fr_status status = fr_runtime_mix(first, later, taken, &made, err);
    if (status == FR_OK) status = price(w, &made, err);
    for (int i = -1; i < fr_fact_count && status == FR_OK; i++) {
        if (i < 0 ? first->modern == later->modern
                  : same_row(first, later, i, &w->job.cluster.device))
            continue;
        if (i < 0)
            modern = later->modern;
        else
            taken[i] = true;
        struct fr_runtime next = {.fact = NULL};
        status = fr_runtime_mix(first, later, taken, &next, err);
        next.modern = modern;
        if (status == FR_OK)
            status = step(w, i < 0 ? NULL : &fr_facts[i], i < 0 ? "defaults" : fr_facts[i].key,
                          &next, to, &open, err);
        fr_runtime_free(&made);
        made = next;
    }
    fr_job_free(&w->job);
    fr_runtime_free(&made);
    return status;
}

/* From the first's plan to the best with the other runtime. */
static void step_plan(const struct fr_upgrade *u, const struct traversal *w, int i) {
    const struct fr_upgrade_row *row = &u->row[i];
    struct fr_upgrade_step *last = &row->step[row->n_steps];
    char differs[FR_UPGRADE_WORD];
    *last = (struct fr_upgrade_step){.term = FR_UPGRADE_PLAN, .key = "plan"};
    fr_user_plan_differs(fr_upgrade_job(u, i), &fr_upgrade_outcome(u, i)->plan, &w->out.plan,
                         differs, sizeof differs);
    snprintf(last->to, sizeof last->to, "%s", differs);
    last->before_s = row->n_steps ? last[-1].after_s : u->row[0].time_s;
    last->after_s = row->time_s;
}

static fr_status make_steps(const struct fr_upgrade_asked *asked, struct fr_upgrade *u, int i,
                            const char *replicas, struct fr_error *err) {
    const struct fr_job *first = fr_upgrade_job(u, 0), *later = fr_upgrade_job(u, i);
    struct fr_upgrade_row *row = &u->row[i];
    struct traversal w = {.u = u, .names = names_of(asked, u, NULL)};
    if (!isfinite(u->row[0].time_s) || !isfinite(row->time_s)) return FR_OK;
    row->step = fr_calloc(FR_UPGRADE_STEPS, sizeof *row->step);
    w.more = fr_calloc((size_t)first->n_varied + 1, sizeof *w.more);
    if (!row->step || !w.more) {
        free(w.more);
        return fr_fail(err, FR_ERR_NOMEM, NULL, "out of memory");
    }
    if (*replicas) w.more[w.n_more++] = replicas;
    for (int k = 0; k < first->n_varied; k++) w.more[w.n_more++] = first->varied[k];
    if (u->searched) w.varied = u->row[0].of->space.varied;
    fr_status status = walk_facts(&w, first->runtime, later->runtime, row, err);
    if (status == FR_OK && u->searched && w.time_s != row->time_s) {
        step_plan(u, &w, i);
        row->n_steps++;
    }
    free(w.more);
    return status;
}

/* ---- all --------------------------------------------------------------------------------------- */

static fr_status make_row(const struct fr_upgrade_asked *asked, struct fr_upgrade *u, int i,
                          char *replicas, size_t capacity, struct fr_error *err) {
    struct fr_upgrade_row *row = &u->row[i];
    const struct fr_job_names names = names_of(asked, u, row->runtime);
    row->of = fr_calloc(1, sizeof *row->of);
    if (!row->of) return fr_fail(err, FR_ERR_NOMEM, NULL, "out of memory");
    FR_TRY(u->searched ? fr_searched_load(&asked->of, &names, &u->training, row->of, err)
                       : plan_row(asked, &names, u, row, replicas, capacity, err));
    const struct fr_outcome *out = fr_upgrade_outcome(u, i);
    row->time_s = out ? out->time_s * per_batch(u, fr_upgrade_job(u, i), out) : NAN;
    row->gain = u->row[0].time_s / row->time_s - 1;
    if (out && isfinite(out->time_s) && fr_training_asked(&u->training))
        row->cost = fr_training_cost_of(&u->training, fr_upgrade_job(u, i), out);
    return make_steps(asked, u, i, replicas, err);
}

fr_status fr_upgrade_make(const struct fr_upgrade_asked *asked, struct fr_upgrade *u,
                          struct fr_error *err) {
    char replicas[40] = "";
    u->searched = asked->search;
    for (int i = 0; i < u->n; i++)
        FR_TRY(make_row(asked, u, i, replicas, sizeof replicas, err));
    return FR_OK;
}

void fr_upgrade_free(struct fr_upgrade *u) {
    for (int i = 0; i < u->n; i++) {
        struct fr_upgrade_row *row = &u->row[i];
        if (row->of) fr_searched_free(row->of);
        free(row->of);
        free(row->step);
        row->of = NULL;
        row->step = NULL;
        row->n_steps = 0;
    }
}
