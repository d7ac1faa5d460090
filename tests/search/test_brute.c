/* Random searches against every plan of their space, loaded key by key and priced one at a time: what is listed, in
 * which order, the front, the best of each method, and all of it again from blocks in any order.  Plans that the
 * search takes for one under several names have one outcome here. */
#include <stdlib.h>

#include "models/outcome/fits/fits.h"
#include "search/blocks.h"
#include "tests/job.h"
#include "tests/plan_values.h"

/* ---- spaces ------------------------------------------------------------------------------------ */

static const struct {
    const char *cluster, *model, *sets[4];
} jobs[] = {
    {"a100-hdr",
     "gpt-2",
     {"global_batch=16", "micro_batch=1",
      "cluster.device.power={\"busy\": \"400 W\", \"idle\": \"80 W\"}"}},
    {"dgx-a100", "gpt-2", {"global_batch=16", "micro_batch=2", "recompute=full"}},
    {"dgx-h100",
     "llama-3-8b",
     {"global_batch=16", "micro_batch=1", "attention=flash", "recompute=full"}},
    {"dgx-a100",
     "gpt-2.5b",
     {"global_batch=16", "micro_batch=1", "cluster.device.memory=60 GB"}},
    {"frontier", "ffn-4096", {"global_batch=64"}},
    {"cori-knl", "alexnet", {"global_batch=64", "method=grid"}},
};
enum { JOBS = sizeof jobs / sizeof *jobs, TRANSFORMERS = 4 /* of them, the first */ };

static const struct {
    const char *key, *values;
} keys[] = {
    {"tp", "1,2,4"},
    {"pp", "1,2,4"},
    {"dp", "1,2"},
    {"micro_batch", "1,2,4"},
    {"global_batch", "16,32"},
    {"zero", "0,1,3"},
    {"recompute", "none,full"},
    {"schedule", "gpipe,1f1b,zero-bubble"},
    {"overlap", "none,gradient"},
    {"method", "tensor,phantom,grid"},
    {"layer_tp", "uniform,[1,1,1,1,1,2,2,2],[2,2,2,2,2,2,2,2],[1,1,1,2,2,4,4,4]"},
    {"ghost", "2,8"},
    {"sequence_parallel", "false,true"},
    {"compression.gradient.stages", "0,1"},
    {"compression.backward.scope", "none,all"},
    {"cluster.levels.0.bandwidth", "100 GB/s,300 GB/s"},
    {"model.sequence", "512,1024"},
    {"domain", "0,1,2,5,6"}, /* of convolutions alone: not drawn */
};
enum { KEYS = sizeof keys / sizeof *keys - 1, VARY = 4 };

struct drawn {
    int job, n, key[VARY];
    bool plain; /* nothing of the model or the cluster is varied */
    char vary[VARY][96];
    const char *ranks;
    struct fr_search_options options;
};

static bool has(const struct drawn *d, const char *key) {
    for (int i = 0; i < d->n; i++)
        if (strcmp(keys[d->key[i]].key, key) == 0) return true;
    return false;
}

/* These are seldom drawn together. */
static const char *const together[][VARY] = {
    {"tp", "dp", "layer_tp"}, {"dp", "layer_tp"},       {"tp", "layer_tp", "pp"},
    {"layer_tp", "tp"},       {"layer_tp", "dp", "tp"}, {"method", "ghost", "tp"},
    {"method", "tp", "dp"},   {"schedule", "pp", "tp"}};

static void take(struct drawn *d, const char *key) {
    int k = 0;
    while (strcmp(keys[k].key, key) != 0) k++;
    snprintf(d->vary[d->n], sizeof *d->vary, "%s=%s", key, keys[k].values);
    d->key[d->n++] = k;
}

static struct drawn draw(uint64_t *dice, int round) {
    static const char *const counts[] = {"4", "8", "2,4", "8,16"};
    struct drawn d = {.job = round % JOBS, .ranks = counts[fr_test_random(dice, 4)]};
    d.options =
        (struct fr_search_options){.objective = (fr_objective)fr_test_random(dice, 3),
                                   .per_iteration = true,
                                   .max_lossy = fr_test_random(dice, 3) ? 1 : 0.3,
                                   .memory_limit_B = round % 20 == 19 ? 0.5 /* nothing fits */
                                                     : fr_test_random(dice, 4) ? 0
                                                                               : 25e9,
                                   .threads = 1 + (int)fr_test_random(dice, 3),
                                   .exhaustive = fr_test_random(dice, 2)};
    static const double fits[] = {0, 0.5, 0.95};
    fr_search_ask_fit(&d.options, fits[round % 3]);
    bool layers = d.job >= TRANSFORMERS, each = strcmp(jobs[d.job].model, "alexnet") == 0;
    const char *const *some =
        together[fr_test_random(dice, sizeof together / sizeof *together)];
    if (each) d.options.objective = FR_OBJECTIVE_TIME; /* nobody states its power */
    for (int i = 0; each && round % 4 < 2 && i < VARY && some[i]; i++) take(&d, some[i]);
    d.plain = true;
    while (d.n < 2 + (int)fr_test_random(dice, VARY - 1) && d.n < VARY) {
        int k = (int)fr_test_random(dice, KEYS);
        const char *key = keys[k].key;
        bool of_layers = strcmp(key, "layer_tp") == 0; /* eight of them */
        bool of_transformers = strcmp(key, "zero") == 0 ||
                               strcmp(key, "sequence_parallel") == 0 ||
                               strcmp(key, "model.sequence") == 0;
        if (has(&d, key) || (layers && of_transformers) || (of_layers && !each)) continue;
        d.plain = d.plain && strncmp(key, "model.", 6) != 0 && strncmp(key, "cluster.", 8) != 0;
        take(&d, key);
    }
    return d;
}

/* The names of its job, before anything else is set; @p sets has capacity for these and more. */
static struct fr_job_names names_of(const struct drawn *d, const char **sets) {
    struct fr_job_names names = {.cluster = jobs[d->job].cluster,
                                 .model = jobs[d->job].model,
                                 .sets = sets,
                                 .n_sets = 1};
    sets[0] = "model.defaults=2019";
    for (int i = 0; i < 4 && jobs[d->job].sets[i]; i++)
        sets[names.n_sets++] = jobs[d->job].sets[i];
    return names;
}

static int load(const struct drawn *d, const char *const *more, int n, struct fr_job *job) {
    const char *sets[32];
    struct fr_job_names names = names_of(d, sets);
    for (int i = 0; i < n; i++) sets[names.n_sets++] = more[i];
    struct fr_error err = {0};
    fr_status status = fr_job_load(&names, job, &err);
    if (status != FR_OK) fr_job_free(job);
    return status == FR_OK;
}

/* ---- all plans --------------------------------------------------------------------------------- */

struct row {
    double value, time_s, energy_J, memory_B, lossy;
    int64_t ranks;
    const struct fr_method *method;
};
struct rows {
    struct row *row;
    int n;
};

static double samples_of(const struct fr_outcome *out, bool batches) {
    return batches ? (double)out->plan.global_batch : 1;
}

static struct row row_of(const struct drawn *d, const struct fr_outcome *out) {
    bool batches = has(d, "global_batch");
    double s = samples_of(out, batches), t = out->time_s / s, e = out->energy_J / s;
    fr_objective by = d->options.objective;
    return (struct row){by == FR_OBJECTIVE_TIME     ? t
                        : by == FR_OBJECTIVE_ENERGY ? e
                                                    : t * e,
                        t,
                        e,
                        out->memory_peak_B,
                        out->lossy_gradient + out->lossy_backward,
                        out->ranks,
                        out->plan.method};
}

static void add(struct rows *rows, struct row row) {
    rows->row = realloc(rows->row, (size_t)(rows->n + 1) * sizeof *rows->row);
    assert_non_null(rows->row);
    rows->row[rows->n++] = row;
}

static bool near(double a, double b) { return fabs(a - b) <= 1e-12 * fabs(a); }

/* In everything, but for rounding. */
static bool alike(const struct row *a, const struct row *b) {
    return near(a->value, b->value) && near(a->time_s, b->time_s) &&
           near(a->memory_B, b->memory_B) && near(a->lossy, b->lossy) && a->ranks == b->ranks;
}

static int find(const struct rows *rows, const struct row *row) {
    for (int i = 0; i < rows->n; i++)
        if (alike(&rows->row[i], row)) return i;
    return -1;
}

/* Keeps one of the plans that cost the same in everything. */
static void resolve(struct rows *rows) {
    struct rows kept = {rows->row, 0};
    for (int i = 0; i < rows->n; i++)
        if (find(&kept, &rows->row[i]) < 0) kept.row[kept.n++] = rows->row[i];
    rows->n = kept.n;
}

/* These words, tp what is left of the ranks, or dp where tp is varied.  @return false: there is no such plan */
static bool cost(const struct drawn *d, const char *const *settings, int n, int64_t ranks,
                 struct fr_outcome *out) {
    const char *sets[VARY + 1];
    char mesh[32];
    struct fr_job job;
    for (int i = 0; i < n; i++) sets[i] = settings[i];
    if (!load(d, sets, n, &job)) return false;
    bool tp = has(d, "tp"), both = tp && has(d, "dp");
    int64_t all = fr_plan_ranks(&job.plan);
    fr_job_free(&job);
    if (both ? all != ranks : ranks % all != 0) return false;
    snprintf(mesh, sizeof mesh, "%s=%lld", tp ? "dp" : "tp", (long long)(ranks / all));
    sets[n] = mesh;
    if (!load(d, sets, n + !both, &job)) return false;
    fr_cost(&job, &job.plan, out);
    fr_job_free(&job);
    return true;
}

/* A key that nothing reads is not said: of the choices with fewest left out the first that has none such. */
static bool cost_resolved(const struct drawn *d, const char *const *settings, int64_t ranks,
                          struct fr_outcome *out) {
    for (int gone = 0; gone <= d->n; gone++)
        for (unsigned set = 0; set < 1u << d->n; set++) {
            const char *kept[VARY];
            int n = 0;
            for (int i = 0; i < d->n; i++)
                if (!(set >> i & 1)) kept[n++] = settings[i];
            if (d->n - n != gone || !cost(d, kept, n, ranks, out)) continue;
            if (!(out->reasons & FR_BECAUSE(FR_REASON_IDLE_KEY))) return true;
        }
    return false;
}

static void price(const struct drawn *d, const char *const *settings, int64_t ranks,
                  struct rows *rows) {
    struct fr_outcome out;
    const struct fr_search_options *o = &d->options;
    if (!cost_resolved(d, settings, ranks, &out)) return;
    bool known = o->objective == FR_OBJECTIVE_TIME || !isnan(out.energy_J);
    if (!out.reasons && known && fmax(out.lossy_gradient, out.lossy_backward) <= o->max_lossy &&
        !(o->memory_limit_B > 0 && out.memory_peak_B > o->memory_limit_B) &&
        !(o->fit > 0 && fr_fits_probability(out.memory_spare) < o->fit))
        add(rows, row_of(d, &out));
}

static void price_all(const struct drawn *d, int at, char settings[VARY][64],
                      struct rows *rows) {
    if (at < d->n) {
        for (const char *value = keys[d->key[at]].values; *value;) {
            int n = 0;
            for (int depth = 0; value[n] && (depth > 0 || value[n] != ','); n++)
                depth += (value[n] == '[') - (value[n] == ']');
            snprintf(settings[at], sizeof *settings, "%s=%.*s", keys[d->key[at]].key, n, value);
            value += n + (value[n] == ',');
            price_all(d, at + 1, settings, rows);
        }
        return;
    }
    const char *words[VARY];
    for (int i = 0; i < d->n; i++) words[i] = settings[i];
    for (const char *count = d->ranks; count; count = strchr(count, ',')) {
        count += *count == ',';
        price(d, words, strtoll(count, NULL, 10), rows);
    }
}

/* ---- what is found ----------------------------------------------------------------------------- */

enum { LISTED_MAX = 512 };
struct listing {
    const struct drawn *d;
    struct rows rows;
    char line[LISTED_MAX][FR_PLAN_LINE];
};

static bool list(void *context, size_t rank, const struct fr_outcome *out) {
    struct listing *l = context;
    assert_int_equal(rank, l->rows.n);
    assert_true(rank < LISTED_MAX);
    fr_plan_line(&out->plan, 0, l->line[rank], FR_PLAN_LINE);
    for (size_t i = 0; i < rank && l->d->plain; i++) /* a plan stands once */
        FR_TRUE(l->rows.row[i].ranks != out->ranks || strcmp(l->line[i], l->line[rank]) != 0,
                "twice: %s, of %s; %s; %s on %s", l->line[rank], l->d->vary[0], l->d->vary[1],
                l->d->vary[2], l->d->ranks);
    add(&l->rows, row_of(l->d, out));
    return true;
}

/* To the twelve digits at which the same sum in another order is the same. */
static bool no_more(double x, double y) { return x <= y * (1 + 1e-12); }

static bool as_good(const struct row *a, const struct row *b, bool energy) {
    return no_more(a->time_s, b->time_s) && (!energy || no_more(a->energy_J, b->energy_J)) &&
           no_more(a->memory_B, b->memory_B) && a->lossy <= b->lossy;
}

/* Nobody is on the front of whom another is better in something and worse in nothing; of everybody else
 * somebody there is as good. */
static void is_front(const struct drawn *d, const struct rows *all,
                     const struct fr_found_list *front, bool energy) {
    for (size_t f = 0; f < front->count; f++) {
        struct row on = row_of(d, &front->items[f].outcome);
        for (int i = 0; i < all->n; i++)
            FR_TRUE(!as_good(&all->row[i], &on, energy) || as_good(&on, &all->row[i], energy),
                    "%s: %zu", d->vary[0], f);
        for (size_t g = 0; g < f; g++) {
            struct row other = row_of(d, &front->items[g].outcome);
            FR_TRUE(no_more(other.time_s, on.time_s) &&
                        !(as_good(&other, &on, energy) && as_good(&on, &other, energy)),
                    "%s: %zu, %zu", d->vary[0], g, f);
        }
    }
    for (int i = 0; i < all->n; i++) {
        bool covered = false;
        for (size_t f = 0; f < front->count; f++) {
            struct row on = row_of(d, &front->items[f].outcome);
            covered = covered || as_good(&on, &all->row[i], energy);
        }
        FR_TRUE(covered, "%s: %d", d->vary[0], i);
    }
}

static void is_best_of_methods(const struct rows *all, const struct fr_search_result *r) {
    for (int m = 0; fr_methods[m]; m++) {
        double least = INFINITY;
        for (int i = 0; i < all->n; i++)
            if (all->row[i].method == fr_methods[m]) least = fmin(least, all->row[i].value);
        assert_int_equal(r->of_method[m].index >= 0, isfinite(least));
        if (isfinite(least)) FR_NEAR(r->of_method[m].value, least, 0);
    }
    double least = INFINITY; /* of exact plans */
    for (int i = 0; i < all->n; i++)
        if (all->row[i].method->exact && all->row[i].lossy == 0)
            least = fmin(least, all->row[i].value);
    assert_int_equal(r->exact.index >= 0, isfinite(least));
    if (isfinite(least)) FR_NEAR(r->exact.value, least, 0);
}

static void same_result(const struct fr_search_result *a, const struct fr_search_result *b) {
    assert_true(a->evaluated == b->evaluated && a->feasible == b->feasible &&
                a->read == b->read && a->infeasible == b->infeasible && a->by == b->by);
    assert_int_equal(a->ranked.count, b->ranked.count);
    for (size_t i = 0; i < a->ranked.count; i++)
        assert_int_equal(a->ranked.items[i].index, b->ranked.items[i].index);
    assert_int_equal(a->pareto.count, b->pareto.count);
    for (size_t i = 0; i < a->pareto.count; i++)
        assert_int_equal(a->pareto.items[i].index, b->pareto.items[i].index);
    for (int r = 0; r < FR_REASON_COUNT; r++)
        assert_true(a->because[r] == b->because[r] &&
                    a->example[r].index == b->example[r].index);
    for (int m = 0; fr_methods[m]; m++)
        assert_true(a->of_method[m].index == b->of_method[m].index);
    assert_true(a->exact.index == b->exact.index && a->best_exact.index == b->best_exact.index);
}

/* The same in blocks of a few plans, each a line that is read again. */
static void in_blocks(const struct fr_job *job, const struct fr_space *space,
                      const struct fr_search_options *options,
                      const struct fr_search_result *whole, uint64_t *dice) {
    struct fr_blocks b;
    struct fr_search_result joined = {0};
    assert_int_equal(fr_blocks_open(job, space, options, &b, NULL), FR_OK);
    free(b.block);
    b.size = 1 + (int64_t)fr_test_random(dice, 9);
    b.n = (space->size + b.size - 1) / b.size;
    b.block = calloc((size_t)b.n + 1, sizeof *b.block);
    int64_t left = b.n, from = (int64_t)fr_test_random(dice, (uint64_t)b.n);
    for (int64_t k = 0; k < b.n; k++, left--) {
        struct fr_text line = {0};
        int64_t number = (from + k) % b.n;
        assert_true(!b.block[number].done && b.n_done == b.n - left);
        assert_int_equal(fr_blocks_search(&b, number, 1, &line, NULL), FR_OK);
        assert_int_equal(fr_blocks_take(&b, fr_text_get(&line), NULL), FR_OK);
        fr_text_free(&line);
        int64_t next = fr_blocks_next(&b, 0);
        FR_TRUE(k + 1 == b.n ? next == -1 : next >= 0 && !b.block[next].done, "%d", (int)next);
    }
    assert_int_equal(fr_blocks_join(&b, &joined, NULL), FR_OK);
    same_result(whole, &joined);
    fr_search_result_free(&joined);
    fr_blocks_free(&b);
}

static void against_all(const struct drawn *d, uint64_t *dice, int *plans) {
    struct fr_job job;
    struct fr_space space;
    struct fr_search_result whole, some;
    static struct listing found;
    found = (struct listing){.d = d};
    struct rows all = {.n = 0};
    struct fr_error err = {0};
    const char *sets[5], *vary[VARY];
    char settings[VARY][64];
    struct fr_job_names names = names_of(d, sets);
    for (int i = 0; i < d->n; i++) vary[i] = d->vary[i];
    if (fr_job_load(&names, &job, &err) != FR_OK) fail_msg("%s: %s", err.where, err.detail);
    if (fr_space_make(d->ranks, vary, d->n, &job.plan, false, false, &names, &space, &err) !=
        FR_OK)
        fail_msg("%s", err.detail);
    price_all(d, 0, settings, &all);
    resolve(&all);
    assert_int_equal(fr_search(&job, &space, &d->options, &whole, NULL), FR_OK);
    assert_int_equal(fr_search_each(&job, &space, &d->options, &whole, list, &found, NULL),
                     FR_OK);
    for (int i = 0; i < found.rows.n; i++)
        FR_TRUE(found.rows.row[i].value == whole.ranked.items[i].value &&
                    (i == 0 || whole.ranked.items[i - 1].value <= whole.ranked.items[i].value),
                "%s: %d", d->vary[0], i);
    is_front(d, &found.rows, &whole.pareto,
             found.rows.n > 0 && !isnan(found.rows.row[0].energy_J));
    is_best_of_methods(&found.rows, &whole);
    int listed = found.rows.n;
    assert_int_equal(whole.feasible, listed);
    resolve(&found.rows);
    FR_TRUE(found.rows.n == all.n, "%s; %s; %s; %s on %s of job %d: %d of %d", d->vary[0],
            d->vary[1], d->n > 2 ? d->vary[2] : "", d->n > 3 ? d->vary[3] : "", d->ranks,
            d->job, found.rows.n, all.n);
    for (int i = 0; i < all.n; i++)
        FR_TRUE(find(&found.rows, &all.row[i]) >= 0, "%s: %d: %.17g is not listed", d->vary[0],
                i, all.row[i].value);
    for (size_t top = 1; top < 8; top += 3) {
        struct fr_search_options few = d->options;
        few.top = top;
        assert_int_equal(fr_search(&job, &space, &few, &some, NULL), FR_OK);
        assert_int_equal(some.ranked.count,
                         top < whole.ranked.count ? top : whole.ranked.count);
        for (size_t i = 0; i < some.ranked.count; i++)
            assert_int_equal(some.ranked.items[i].index, whole.ranked.items[i].index);
        assert_true(some.evaluated == whole.evaluated && some.feasible == whole.feasible);
        if (top == 4) in_blocks(&job, &space, &few, &some, dice);
        fr_search_result_free(&some);
    }
    *plans += all.n;
    free(all.row), free(found.rows.row);
    fr_search_result_free(&whole);
    fr_space_free(&space);
    fr_job_free(&job);
}

static void random_spaces(void **state) {
    const int rounds = fr_sample(160, 40);
    uint64_t dice = 88172645463325252u;
    int plans = 0;
    (void)state;
    for (int round = 0; round < rounds; round++) {
        struct drawn d = draw(&dice, round);
        against_all(&d, &dice, &plans);
    }
    FR_TRUE(plans > 5 * rounds, "%d", plans);
}

/* Images of alexnet, beside axes, micro-batches and what is done with gradients: one of six convolutions is none. */
static void images_by_height(void **state) {
    static const char *const spaces[][VARY] = {{"domain", "tp"},
                                               {"tp", "domain", "dp"},
                                               {"domain", "tp", "pp"},
                                               {"tp", "domain", "compression.gradient.stages"},
                                               {"domain", "tp", "overlap", "pp"},
                                               {"micro_batch", "domain", "tp", "method"}};
    uint64_t dice = 362436069;
    int plans = 0;
    (void)state;
    for (size_t k = 0; k < sizeof spaces / sizeof *spaces; k++) {
        struct drawn d = {.job = JOBS - 1,
                          .plain = true,
                          .ranks = k % 2 ? "8" : "4,8",
                          .options = {.objective = FR_OBJECTIVE_TIME,
                                      .per_iteration = true,
                                      .max_lossy = 1,
                                      .threads = 1 + (int)k % 3,
                                      .exhaustive = k % 2 == 0}};
        for (int i = 0; i < VARY && spaces[k][i]; i++) take(&d, spaces[k][i]);
        against_all(&d, &dice, &plans);
    }
    assert_true(plans > 80);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(random_spaces),
                                       cmocka_unit_test(images_by_height)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
