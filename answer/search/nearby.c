#include "answer/search/nearby.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "answer/outcome/report.h"
#include "answer/search/search.h"
#include "base/alloc.h"
#include "base/units.h"

static int64_t common(int64_t a, int64_t b) {
    while (b) {
        int64_t rest = a % b;
        a = b, b = rest;
    }
    return a;
}

static bool fits(int64_t ranks, int64_t batch) {
    return common(batch, ranks) == (batch < ranks ? batch : ranks);
}

/* The ranks fill whole nodes, or an even part of one. */
static bool fills(int64_t ranks, int64_t node) {
    return ranks > node ? ranks % node == 0 : node % ranks == 0;
}

int64_t fr_nearby_ranks(int64_t ranks, int64_t batch, int64_t node, int64_t most) {
    for (int64_t far = 1; far <= ranks / 2; far++)
        for (int side = 1; side >= -1; side -= 2) {
            int64_t n = ranks + side * far;
            if (n > 1 && n <= most && fits(n, batch) && fills(n, node)) return n;
        }
    return 0;
}

int64_t fr_nearby_batch(int64_t ranks, int64_t batch) {
    if (batch >= ranks) return (batch + ranks / 2) / ranks * ranks;
    int64_t up = batch, down = batch;
    while (ranks % up) up++;
    while (ranks % down) down--;
    return up - batch <= batch - down ? up : down;
}

/* Cost of a sample in the quantity that was ranked: seconds of a rank, or joules. */
static double of_sample(const struct fr_searched *r, const struct fr_outcome *out,
                        int64_t batch) {
    double samples = (double)batch;
    if (r->options.objective == FR_OBJECTIVE_TIME)
        return out->time_s * (double)out->ranks / samples;
    return r->options.objective == FR_OBJECTIVE_ENERGY ? out->energy_J / samples : NAN;
}

/* The same search, of other ranks or another batch. */
static fr_status search_other(const struct fr_searched *r, const char *ranks,
                              const char *const *vary, int n_vary,
                              const struct fr_job_names *names, struct fr_searched *other,
                              struct fr_error *err) {
    other->lossy = r->lossy;
    other->fixed = r->fixed;
    other->able = r->able;
    other->options = r->options;
    other->options.top = 1;
    FR_TRY(fr_job_load(names, &other->job, err));
    return fr_searched_make(ranks, vary, n_vary, names, other, err);
}

static void keep(const struct fr_searched *other, const char *key, int64_t value, int64_t batch,
                 struct fr_searched *r) {
    static const double LEAST = 0.02;
    struct fr_nearby *one = &r->nearby[r->n_nearby];
    if (other->result.top.count == 0) return;
    const struct fr_outcome *best = &other->result.top.items[0].outcome;
    *one = (struct fr_nearby){key, value, best->time_s, best->energy_J, NAN, ""};
    fr_report_outcome_line(best, one->line, sizeof one->line);
    if (r->result.top.count > 0) {
        const struct fr_outcome *now = &r->result.top.items[0].outcome;
        one->gain =
            of_sample(r, now, fr_job_batch(&r->job, &now->plan)) / of_sample(r, best, batch) -
            1;
        if (!(one->gain >= LEAST)) return;
    }
    r->n_nearby++;
}

static fr_status try(const char *key, int64_t value, int64_t ranks, int64_t batch,
                     const char *const *vary, int n_vary, const struct fr_job_names *names,
                     struct fr_searched *r, struct fr_error *err) {
    char count[32], set[64];
    struct fr_job_names changed = *names;
    struct fr_error ignored = {.status = FR_OK};
    const char **sets = fr_calloc((size_t)names->n_sets + 1, sizeof *sets);
    struct fr_searched *other = fr_calloc(1, sizeof *other);
    fr_status status = FR_OK;
    if (!sets || !other) {
        status = fr_fail(err, FR_ERR_NOMEM, NULL, "out of memory");
        goto done;
    }
    for (int i = 0; i < names->n_sets; i++) sets[i] = names->sets[i];
    snprintf(count, sizeof count, "%" PRId64, ranks);
    snprintf(set, sizeof set, "plan.global_batch=%" PRId64, batch);
    changed.sets = sets;
    if (batch != fr_job_batch(&r->job, &r->job.plan)) sets[changed.n_sets++] = set;
    status = search_other(r, count, vary, n_vary, &changed, other, &ignored);
    if (status == FR_OK) keep(other, key, value, batch, r);
    /* A change that the other keys do not allow is no advice. */
    status = status == FR_ERR_NOMEM ? fr_fail(err, FR_ERR_NOMEM, NULL, "out of memory") : FR_OK;
done:
    if (other) fr_searched_free(other);
    free(other);
    free(sets);
    return status;
}

/* Is it a question here: of one rank count and one batch, neither of them a file that was read to its end? */
static bool asks(const struct fr_searched *r, const struct fr_job_names *names) {
    static const int64_t MOST = 1000000; /* plans: advice takes no more time than the answer */
    if (!r->advise || !names) return false;
    const char *files[] = {names->cluster, names->model, names->plan};
    for (int i = 0; i < 3; i++)
        if (files[i] && strcmp(files[i], "-") == 0) return false;
    bool total = r->result.by == FR_RANK_TOTAL && r->result.top.count > 0;
    return r->space.n_ranks == 1 && r->space.n_inputs == 0 && !total &&
           !fr_space_has_batches(&r->space) && !r->slowdown.asked &&
           r->result.evaluated <= MOST;
}

fr_status fr_nearby_search(const char *const *vary, int n_vary,
                           const struct fr_job_names *names, struct fr_searched *r,
                           struct fr_error *err) {
    if (!asks(r, names)) return FR_OK;
    const struct fr_levels *levels = &r->job.cluster.levels;
    int64_t ranks = r->space.ranks[0], batch = fr_job_batch(&r->job, &r->job.plan);
    if (batch < 1 || fits(ranks, batch)) return FR_OK;
    int64_t node = levels->level[fr_levels_node(levels)].ranks;
    int64_t other = fr_nearby_ranks(ranks, batch, node, fr_levels_capacity(levels));
    if (other) FR_TRY(try("ranks", other, other, batch, vary, n_vary, names, r, err));
    other = fr_nearby_batch(ranks, batch);
    return try("global_batch", other, ranks, other, vary, n_vary, names, r, err);
}

/* ---- what is said ------------------------------------------------------------------------------ */

void fr_nearby_say(const struct fr_searched *r, const struct fr_nearby *one,
                   struct fr_text *text) {
    char time[40];
    bool ranks = strcmp(one->key, "ranks") == 0;
    int64_t asked = ranks ? r->space.ranks[0] : fr_job_batch(&r->job, &r->job.plan);
    fr_text_addf(text,
                 ranks ? "%" PRId64 " ranks in place of %" PRId64
                       : "a batch of %" PRId64 " in place of %" PRId64,
                 one->value, asked);
    if (isnan(one->gain))
        fr_text_addf(text, " would do: %s an iteration, ",
                     fr_quantity_format(one->time_s, FR_QUANTITY_TIME, time, sizeof time));
    else if (r->options.objective == FR_OBJECTIVE_ENERGY)
        fr_text_addf(text, " would take %.3g %% less energy a sample: ",
                     100 * one->gain / (1 + one->gain));
    else
        fr_text_addf(text, " would train %.3g %% more samples a second%s: %s an iteration, ",
                     100 * one->gain, ranks ? " and rank" : "",
                     fr_quantity_format(one->time_s, FR_QUANTITY_TIME, time, sizeof time));
    fr_text_addf(text, "%s", one->line);
}

void fr_nearby_put(const struct fr_searched *r, struct fr_json_writer *w) {
    if (r->n_nearby == 0) return;
    fr_json_add_array(w, "nearby");
    for (int i = 0; i < r->n_nearby; i++) {
        const struct fr_nearby *one = &r->nearby[i];
        fr_json_begin_object(w);
        fr_json_add_string(w, "key", one->key);
        fr_json_add_integer(w, "value", one->value);
        fr_json_add_string(w, "plan", one->line);
        fr_json_add_number(w, "iteration_time_s", one->time_s);
        fr_json_add_number(w, "iteration_energy_J", one->energy_J);
        fr_json_add_number(w, "gain", one->gain);
        fr_json_end_object(w);
    }
    fr_json_end_array(w);
}
