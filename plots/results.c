#include "plots/results.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

/* Times and energies: beyond these bounds lies no training run, and no axis. */
static const double least = 1e-18, most = 1e24;
static const int64_t ranks_max = (int64_t)1 << 40;

/* null stands for unknown. */
static fr_status get_known(const struct fr_json *object, const char *key, double *out,
                           struct fr_error *err) {
    struct fr_json member = fr_json_member(object, key);
    bool something = fr_json_is_number(&member) || fr_json_is_string(&member) ||
                     fr_json_is_object(&member) || fr_json_is_array(&member);
    *out = (double)NAN;
    return something ? fr_json_get_number(object, key, true, least, most, out, err) : FR_OK;
}

/* A word for a label: what is no short string is passed over. */
static void get_word(const struct fr_json *object, const char *key, char *out,
                     size_t capacity) {
    struct fr_error ignored = {0};
    if (fr_json_get_string(object, key, false, out, capacity, &ignored) != FR_OK) *out = 0;
}

static fr_status read_compression(const struct fr_json *outcome, const struct fr_json *plan,
                                  struct fr_result_compression *c, struct fr_error *err) {
    char embedding[16] = "";
    struct fr_json all = fr_json_member(plan, "compression");
    struct fr_json backward = fr_json_member(&all, "backward");
    struct fr_json gradient = fr_json_member(&all, "gradient");
    struct fr_json lossy = fr_json_member(outcome, "lossy");
    get_word(&backward, "scope", c->scope, sizeof c->scope);
    get_word(&all, "embedding", embedding, sizeof embedding);
    c->fused = strcmp(embedding, "fused") == 0;
    FR_TRY(fr_json_get_integer(&gradient, "stages", false, 0, ranks_max, &c->gradient_stages,
                               err));
    FR_TRY(fr_json_get_number(&lossy, "gradient_bytes", false, 0, 1, &c->lossy_gradient, err));
    return fr_json_get_number(&lossy, "backward_messages", false, 0, 1, &c->lossy_backward,
                              err);
}

static fr_status read_plan(const struct fr_json *outcome, struct fr_result *r,
                           struct fr_error *err) {
    struct fr_json plan = fr_json_member(outcome, "plan");
    if (!fr_json_is_object(&plan))
        return fr_json_fail(outcome, err, "has no plan; is it a result of forerun search?");
    FR_TRY(fr_json_get_string(&plan, "method", true, r->method, sizeof r->method, err));
    FR_TRY(fr_json_get_integer(&plan, "tp", true, 1, ranks_max, &r->tp, err));
    FR_TRY(fr_json_get_integer(&plan, "dp", true, 1, ranks_max, &r->dp, err));
    FR_TRY(fr_json_get_integer(&plan, "pp", false, 1, ranks_max, &r->pp, err));
    FR_TRY(fr_json_get_integer(&plan, "ghost", false, 0, ranks_max, &r->ghost, err));
    FR_TRY(
        fr_json_get_integer(&plan, "micro_batch", false, 0, ranks_max, &r->micro_batch, err));
    char common[16] = "";
    FR_TRY(
        fr_json_get_integer(&plan, "global_batch", false, 0, ranks_max, &r->global_batch, err));
    get_word(&plan, "placement", r->placement, sizeof r->placement);
    get_word(&plan, "common", common, sizeof common);
    r->subgrid = strcmp(common, "subgrid") == 0;
    get_word(&plan, "schedule", r->schedule, sizeof r->schedule);
    get_word(&plan, "recompute", r->recompute, sizeof r->recompute);
    return read_compression(outcome, &plan, &r->compression, err);
}

static fr_status read_outcome(const struct fr_json *outcome, fr_per per, struct fr_result *r,
                              struct fr_error *err) {
    *r = (struct fr_result){.pp = 1};
    FR_TRY(read_plan(outcome, r, err));
    FR_TRY(fr_json_get_integer(outcome, "ranks", true, 1, ranks_max, &r->ranks, err));
    FR_TRY(fr_json_get_number(outcome, "iteration_time_s", true, least, most,
                              &r->iteration_time_s, err));
    struct fr_json plan = fr_json_member(outcome, "plan"), batch;
    batch = fr_json_member(&plan, "global_batch");
    if (per == FR_PER_SAMPLE && r->global_batch < 1)
        return fr_json_fail(fr_json_present(&batch) ? &batch : &plan, err,
                            "a ranking per sample needs each plan's global_batch");
    double share = per == FR_PER_SAMPLE ? 1.0 / (double)r->global_batch : 1;
    if (per != FR_PER_TRAINING)
        r->time_s = share * r->iteration_time_s;
    else
        FR_TRY(fr_json_get_number(outcome, "total_time_s", true, least, most, &r->time_s, err));
    FR_TRY(get_known(outcome, per != FR_PER_TRAINING ? "iteration_energy_J" : "total_energy_J",
                     &r->energy_J, err));
    r->energy_J *= share;
    struct fr_json parts = fr_json_member(outcome, "breakdown_s");
    for (int i = 0; i < FR_PART_COUNT; i++)
        FR_TRY(
            fr_json_get_number(&parts, fr_part_names[i], false, 0, most, &r->part_s[i], err));
    struct fr_json extrapolated = fr_json_member(outcome, "extrapolated");
    r->extrapolated = fr_json_array_length(&extrapolated) > 0;
    return FR_OK;
}

static bool same(const struct fr_result *a, const struct fr_result *b) {
    return strcmp(a->method, b->method) == 0 && a->ranks == b->ranks && a->dp == b->dp &&
           a->pp == b->pp && a->tp == b->tp && a->ghost == b->ghost && a->time_s == b->time_s &&
           a->micro_batch == b->micro_batch && strcmp(a->schedule, b->schedule) == 0 &&
           strcmp(a->placement, b->placement) == 0 && a->subgrid == b->subgrid &&
           a->compression.gradient_stages == b->compression.gradient_stages &&
           a->compression.fused == b->compression.fused &&
           strcmp(a->compression.scope, b->compression.scope) == 0;
}

/* Room for @p more results. */
static fr_status grow(struct fr_results *results, size_t more, struct fr_error *err) {
    struct fr_result *grown =
        fr_realloc(results->items, results->count + more + 1, sizeof *grown);
    if (!grown) return fr_fail(err, FR_ERR_NOMEM, NULL, "the results do not fit in memory");
    results->items = grown;
    return FR_OK;
}

static fr_status read_list(const struct fr_json *root, const char *key, size_t compare_from,
                           struct fr_results *results, struct fr_error *err) {
    struct fr_json list = fr_json_member(root, key);
    if (!fr_json_is_array(&list))
        return fr_json_fail(root, err, "has no list \"%s\"; is it a result of forerun search?",
                            key);
    int64_t n = fr_json_array_length(&list);
    size_t compare_to = results->count;
    FR_TRY(grow(results, (size_t)n, err));
    for (int64_t i = 0; i < n; i++) {
        struct fr_json outcome = fr_json_element(&list, i);
        struct fr_result *r = &results->items[results->count];
        bool repeated = false;
        FR_TRY(read_outcome(&outcome, results->per, r, err));
        for (size_t j = compare_from; j < compare_to && !repeated; j++)
            repeated = same(r, &results->items[j]);
        results->count += !repeated;
    }
    return FR_OK;
}

/* Append @p word unless the list holds it. */
static void add_distinct(struct fr_text *list, const char *word) {
    if (!*word || strstr(fr_text_get(list), word)) return;
    fr_text_addf(list, "%s%s", list->length ? ", " : "", word);
}

static fr_status read_provenance(const struct fr_json *outcome, struct fr_results *results,
                                 struct fr_error *err) {
    struct fr_json from = fr_json_member(outcome, "provenance");
    struct {
        const char *key;
        struct fr_text *into;
    } keys[] = {{"cluster", &results->cluster},
                {"model", &results->model},
                {"version", &results->version},
                {"power", &results->power}};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        char word[256] = "";
        FR_TRY(fr_json_get_string(&from, keys[i].key, false, word, sizeof word, err));
        add_distinct(keys[i].into, word);
    }
    return FR_OK;
}

static const char *const rankings[] = {"total_time_s",       "total_energy_J",
                                       "total_edp_J_s",      "iteration_time_s",
                                       "iteration_energy_J", "iteration_edp_J_s",
                                       "sample_time_s",      "sample_energy_J",
                                       "sample_edp_J_s",     NULL};

/* The document at @p place is ranked by rankings[@p choice], as the first one must be. */
static fr_status agree(const struct fr_json *place, int choice, struct fr_results *results,
                       struct fr_error *err) {
    fr_ranked ranked = (fr_ranked)(choice % 3);
    fr_per per = (fr_per)(choice / 3);
    if (results->count == 0) {
        results->ranked = ranked;
        results->per = per;
    }
    if (ranked == results->ranked && per == results->per) return FR_OK;
    return fr_json_fail(
        place, err, "is ranked by %s, the first input by %s; one figure cannot hold both",
        rankings[choice], rankings[(int)results->ranked + 3 * (int)results->per]);
}

static fr_status read_search(const struct fr_json *root, struct fr_results *results,
                             struct fr_error *err) {
    int choice = 0;
    size_t before = results->count;
    FR_TRY(fr_json_get_choice(root, "ranked_by", true, rankings, &choice, err));
    struct fr_json ranked_by = fr_json_member(root, "ranked_by");
    FR_TRY(agree(&ranked_by, choice, results, err));
    FR_TRY(read_list(root, "top", before, results, err));
    int64_t listed = (int64_t)(results->count - before), feasible = listed;
    if (listed == 0) return fr_json_fail(root, err, "holds no feasible configuration");
    FR_TRY(read_list(root, "pareto", before, results, err));
    FR_TRY(fr_json_get_integer(root, "feasible", false, 0, INT64_MAX >> 8, &feasible, err));
    results->feasible += feasible;
    struct fr_json top = fr_json_member(root, "top"), first = fr_json_element(&top, 0);
    return read_provenance(&first, results, err);
}

static fr_status read_prediction(const struct fr_json *root, struct fr_results *results,
                                 struct fr_error *err) {
    enum { ITERATION_TIME = 3 };
    FR_TRY(agree(root, ITERATION_TIME, results, err));
    FR_TRY(grow(results, 1, err));
    FR_TRY(read_outcome(root, true, &results->items[results->count], err));
    results->count++;
    results->feasible++;
    return read_provenance(root, results, err);
}

static fr_status read_root(const struct fr_json *root, struct fr_results *results,
                           struct fr_error *err) {
    static const char *const schemas[] = {"forerun/search/1", "forerun/outcome/1", NULL};
    int schema = 0;
    FR_TRY(fr_json_get_choice(root, "schema", true, schemas, &schema, err));
    return (schema == 0 ? read_search : read_prediction)(root, results, err);
}

fr_status fr_results_read(const struct fr_json *roots, int n_roots, struct fr_results *results,
                          struct fr_error *err) {
    *results = (struct fr_results){0};
    for (int i = 0; i < n_roots; i++) FR_TRY(read_root(&roots[i], results, err));
    results->best = &results->items[0];
    for (size_t i = 1; i < results->count; i++) {
        const struct fr_result *r = &results->items[i];
        if (fr_result_value(results, r) < fr_result_value(results, results->best))
            results->best = r;
    }
    return FR_OK;
}

void fr_results_free(struct fr_results *results) {
    free(results->items);
    fr_text_free(&results->cluster), fr_text_free(&results->model);
    fr_text_free(&results->version), fr_text_free(&results->power);
    *results = (struct fr_results){0};
}

double fr_result_value(const struct fr_results *results, const struct fr_result *result) {
    if (results->ranked == FR_RANKED_TIME) return result->time_s;
    if (!isfinite(result->energy_J)) return (double)INFINITY; /* unknown is never best */
    return result->energy_J * (results->ranked == FR_RANKED_EDP ? result->time_s : 1);
}

fr_status fr_results_need_energy(const struct fr_results *results, const struct fr_json *root,
                                 struct fr_error *err) {
    for (size_t i = 0; i < results->count; i++)
        if (isfinite(results->items[i].energy_J)) return FR_OK;
    struct fr_json top = fr_json_member(root, "top");
    return fr_json_fail(&top, err,
                        "no configuration has an energy; does the cluster state its power?");
}

const char *fr_result_label(const struct fr_result *r, char *out, size_t capacity) {
    size_t used = 0;
    fr_line_addf(out, capacity, &used, "%s", r->method);
    if (r->ghost > 0) fr_line_addf(out, capacity, &used, " k %" PRId64, r->ghost);
    fr_line_addf(out, capacity, &used, ", tp %" PRId64, r->tp);
    if (r->dp > 1) fr_line_addf(out, capacity, &used, " x dp %" PRId64, r->dp);
    if (r->pp > 1) fr_line_addf(out, capacity, &used, " x pp %" PRId64, r->pp);
    return out;
}

const char *fr_result_compression_label(const struct fr_result *r, char *out, size_t capacity) {
    const struct fr_result_compression *c = &r->compression;
    bool backward = *c->scope && strcmp(c->scope, "none") != 0;
    size_t used = 0;
    *out = 0;
    if (backward)
        fr_line_addf(out, capacity, &used, strcmp(c->scope, "all") == 0 ? "CB all" : "CB");
    if (c->fused) fr_line_addf(out, capacity, &used, "%sFE", used ? "+" : "");
    if (c->gradient_stages > 0)
        fr_line_addf(out, capacity, &used, "%sSC %" PRId64, used ? "+" : "",
                     c->gradient_stages);
    if (!used) fr_line_addf(out, capacity, &used, "uncompressed");
    return out;
}

void fr_results_footer(const struct fr_results *results, struct fr_picture *p, bool energy) {
    size_t extrapolated = 0;
    for (size_t i = 0; i < results->count; i++) extrapolated += results->items[i].extrapolated;
    fr_text_addf(&p->footer, "cluster %s   model %s   forerun %s",
                 fr_text_get(&results->cluster), fr_text_get(&results->model),
                 fr_text_get(&results->version));
    if (energy)
        fr_text_addf(&p->footer, "   energy %s",
                     results->power.length ? fr_text_get(&results->power) : "not stated");
    if ((int64_t)results->count < results->feasible)
        fr_text_addf(&p->note,
                     "%zu of %" PRId64 " feasible configurations (search --top 0 lists all).  ",
                     results->count, results->feasible);
    if (extrapolated)
        fr_text_addf(&p->note,
                     "%zu of %zu configurations extrapolate beyond what was measured.  ",
                     extrapolated, results->count);
}

const char *fr_results_time_name(const struct fr_results *results) {
    static const char *const names[] = {"time to the loss", "time per iteration",
                                        "time per sample"};
    return names[results->per];
}

const char *fr_results_energy_name(const struct fr_results *results) {
    static const char *const names[] = {"energy to the loss", "energy per iteration",
                                        "energy per sample"};
    return names[results->per];
}
