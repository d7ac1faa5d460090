#include "plots/results.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text/readable.h"
#include "plots/provenance.h"

/* Times and energies: beyond these bounds lies no training run, and no axis. */
static const double least = 1e-18, most = 1e24;
static const int64_t ranks_max = (int64_t)1 << 40;

/* A word for a label: what is no short string is passed over. */
static void get_word(const struct fr_json *object, const char *key, char *out,
                     size_t capacity) {
    struct fr_error ignored = {0};
    if (fr_json_get_string(object, key, false, out, capacity, &ignored) != FR_OK) *out = 0;
}

/* The varied keys of model and cluster. */
static fr_status read_varied(const struct fr_json *outcome, struct fr_result *r,
                             struct fr_error *err) {
    struct fr_json varied = fr_json_member(outcome, "varied");
    if (!fr_json_present(&varied)) return FR_OK;
    for (const char *key = NULL; (key = fr_json_key_after(&varied, key));) {
        if (r->n_varied == FR_VARIED_MAX)
            return fr_json_fail(&varied, err, "names more than %d keys", FR_VARIED_MAX);
        char *name = r->varied_key[r->n_varied].name, *value = r->varied_key[r->n_varied].value;
        FR_TRY(fr_json_get_string(&varied, key, true, value, FR_ALONG_TEXT, err));
        snprintf(name, sizeof r->varied_key->name, "%s", key);
        r->n_varied++;
    }
    return FR_OK;
}

/* The same as lines have it. */
static void spell(struct fr_result *r, const char *without) {
    size_t used = 0;
    *r->varied = 0;
    for (int i = 0; i < r->n_varied; i++)
        if (strcmp(r->varied_key[i].name, without) != 0)
            fr_line_addf(r->varied, sizeof r->varied, &used, ", %s %s", r->varied_key[i].name,
                         r->varied_key[i].value);
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
    char common[16] = "";
    FR_TRY(
        fr_json_get_integer(&plan, "global_batch", false, 0, ranks_max, &r->global_batch, err));
    get_word(&plan, "placement", r->placement, sizeof r->placement);
    get_word(&plan, "common", common, sizeof common);
    r->subgrid = strcmp(common, "subgrid") == 0;
    struct fr_json lossy = fr_json_member(outcome, "lossy");
    FR_TRY(fr_json_get_number(&lossy, "gradient_bytes", false, 0, 1, &r->lossy_gradient, err));
    r->lists = fr_calloc(1, sizeof *r->lists);
    if (!r->lists) return fr_fail(err, FR_ERR_NOMEM, NULL, "out of memory");
    FR_TRY(fr_plan_read_object(&plan, &r->plan, r->lists, err));
    FR_TRY(read_varied(outcome, r, err));
    spell(r, "");
    return FR_OK;
}

static void forget(struct fr_result *r) {
    if (r->lists) fr_plan_lists_free(r->lists);
    free(r->lists);
}

static fr_status read_outcome(const struct fr_json *outcome, fr_per per, struct fr_result *r,
                              struct fr_error *err) {
    *r = (struct fr_result){.pp = 1};
    FR_TRY(read_plan(outcome, r, err));
    FR_TRY(fr_json_get_integer(outcome, "ranks", true, 1, ranks_max, &r->ranks, err));
    r->along = (double)r->ranks;
    snprintf(r->along_text, sizeof r->along_text, "%" PRId64, r->ranks);
    FR_TRY(fr_json_get_number(outcome, "iteration_time_s", true, least, most,
                              &r->iteration_time_s, err));
    struct fr_json plan = fr_json_member(outcome, "plan"), batch;
    batch = fr_json_member(&plan, "global_batch");
    if (per == FR_PER_SAMPLE && r->global_batch < 1)
        return fr_json_fail(fr_json_present(&batch) ? &batch : &plan, err,
                            "a ranking per sample needs each plan's global_batch");
    FR_TRY(fr_json_get_known(outcome, "iteration_time_low_s", least, most, &r->low_s, err));
    FR_TRY(fr_json_get_known(outcome, "iteration_time_high_s", least, most, &r->high_s, err));
    double iteration_J = NAN, share = per == FR_PER_SAMPLE ? 1.0 / (double)r->global_batch : 1;
    if (per != FR_PER_TRAINING)
        r->time_s = share * r->iteration_time_s;
    else
        FR_TRY(fr_json_get_number(outcome, "total_time_s", true, least, most, &r->time_s, err));
    FR_TRY(fr_json_get_known(outcome,
                             per != FR_PER_TRAINING ? "iteration_energy_J" : "total_energy_J",
                             least, most, &r->energy_J, err));
    FR_TRY(fr_json_get_known(outcome, "iteration_energy_J", least, most, &iteration_J, err));
    FR_TRY(fr_json_get_known(outcome, "iteration_energy_low_J", least, most, &r->low_J, err));
    FR_TRY(fr_json_get_known(outcome, "iteration_energy_high_J", least, most, &r->high_J, err));
    r->energy_J *= share;
    r->low_J *= r->energy_J / iteration_J;
    r->high_J *= r->energy_J / iteration_J;
    r->low_s *= r->time_s / r->iteration_time_s;
    r->high_s *= r->time_s / r->iteration_time_s;
    FR_TRY(fr_json_get_number(outcome, "break_even_iterations", false, least, most,
                              &r->break_even, err));
    struct fr_json parts = fr_json_member(outcome, "breakdown_s");
    for (int i = 0; i < FR_PART_COUNT; i++)
        FR_TRY(
            fr_json_get_number(&parts, fr_part_names[i], false, 0, most, &r->part_s[i], err));
    struct fr_json extrapolated = fr_json_member(outcome, "extrapolated");
    r->extrapolated = fr_json_array_length(&extrapolated) > 0;
    return FR_OK;
}

static bool same(const struct fr_result *a, const struct fr_result *b) {
    char line_a[FR_PLAN_LINE], line_b[FR_PLAN_LINE];
    return a->time_s == b->time_s && a->ranks == b->ranks &&
           strcmp(a->varied, b->varied) == 0 &&
           strcmp(fr_plan_line(&a->plan, 0, line_a, sizeof line_a),
                  fr_plan_line(&b->plan, 0, line_b, sizeof line_b)) == 0;
}

/* Capacity for @p more results. */
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
        results->count++;
        FR_TRY(read_outcome(&outcome, results->per, r, err));
        for (size_t j = compare_from; j < compare_to && !repeated; j++)
            repeated = same(r, &results->items[j]);
        if (repeated) forget(&results->items[--results->count]);
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
                {"runtime", &results->runtime},
                {"model", &results->model},
                {"version", &results->version},
                {"power", &results->power}};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        char word[256] = "";
        FR_TRY(fr_json_get_string(&from, keys[i].key, false, word, sizeof word, err));
        add_distinct(keys[i].into, word);
    }
    /* A preset has a list of data sheets; a calibration has "measured on HOST, DATE, ...". */
    const char *source = fr_json_text_at(&from, "cluster_source");
    if (fr_provenance_measured(source)) add_distinct(&results->source, source);
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
    fr_ranked_by ranked = (fr_ranked_by)(choice % 3);
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
    results->count++;
    FR_TRY(read_outcome(root, true, &results->items[results->count - 1], err));
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

static void compare_varied(struct fr_results *results) {
    results->varied_alike = results->count > 1;
    for (size_t i = 0; i < results->count; i++)
        if (strcmp(results->items[i].varied, results->items[0].varied) != 0)
            results->varied_alike = false;
}

void fr_results_spell_varied(struct fr_results *results, const char *without) {
    for (size_t i = 0; i < results->count; i++) spell(&results->items[i], without);
    compare_varied(results);
}

fr_status fr_results_read(const struct fr_json *roots, int n_roots, struct fr_results *results,
                          struct fr_error *err) {
    *results = (struct fr_results){0};
    for (int i = 0; i < n_roots; i++) FR_TRY(read_root(&roots[i], results, err));
    results->best = &results->items[0];
    snprintf(results->along, sizeof results->along, "%s", FR_ALONG_RANKS);
    for (size_t i = 0; i < results->count; i++)
        fr_plan_common_add(&results->common, &results->items[i].plan);
    compare_varied(results);
    for (size_t i = 1; i < results->count; i++) {
        const struct fr_result *r = &results->items[i];
        if (fr_result_value(results, r) < fr_result_value(results, results->best))
            results->best = r;
    }
    return FR_OK;
}

void fr_results_free(struct fr_results *results) {
    for (size_t i = 0; i < results->count; i++) forget(&results->items[i]);
    free(results->items);
    fr_text_free(&results->source), fr_text_free(&results->cluster),
        fr_text_free(&results->model), fr_text_free(&results->runtime);
    fr_text_free(&results->version), fr_text_free(&results->power);
    *results = (struct fr_results){0};
}

double fr_result_value(const struct fr_results *results, const struct fr_result *result) {
    if (results->ranked == FR_RANKED_TIME) return result->time_s;
    if (!isfinite(result->energy_J)) return (double)INFINITY; /* unknown is never best */
    return result->energy_J * (results->ranked == FR_RANKED_EDP ? result->time_s : 1);
}

bool fr_results_have_energy(const struct fr_results *results) {
    for (size_t i = 0; i < results->count; i++)
        if (isfinite(results->items[i].energy_J)) return true;
    return false;
}

fr_status fr_results_need_energy(const struct fr_results *results, const struct fr_json *root,
                                 struct fr_error *err) {
    if (fr_results_have_energy(results)) return FR_OK;
    struct fr_json top = fr_json_member(root, "top");
    return fr_json_fail(&top, err,
                        "no configuration has an energy; does the cluster state its power?");
}

const char *fr_result_label(const struct fr_results *results, const struct fr_result *r,
                            char *out, size_t capacity) {
    fr_plan_line(&r->plan, fr_plan_common_keys(&results->common), out, capacity);
    size_t used = strlen(out);
    if (!results->varied_alike) fr_line_addf(out, capacity, &used, "%s", r->varied);
    return out;
}

/* Keys that labels leave out. */
static void say_common(const struct fr_results *results, struct fr_picture *p) {
    enum { MARGIN_PX = 40, TITLE_SIZE = 15 };
    char line[FR_RESULT_LABEL];
    fr_plan_common_line(&results->common, line, sizeof line);
    size_t used = strlen(line);
    if (fr_plan_common_keys(&results->common) == 0) *line = 0, used = 0;
    if (results->varied_alike)
        fr_line_addf(line, sizeof line, &used, "%s",
                     results->items[0].varied +
                         (used ? 0 : 2 * (*results->items[0].varied != 0)));
    if (!used) return;
    if (fr_picture_text_px(fr_text_get(&p->title), TITLE_SIZE) +
            fr_picture_text_px(line, TITLE_SIZE) + 3 * MARGIN_PX <
        p->width_px)
        fr_text_addf(&p->title, "; all: %s", line);
    else
        fr_text_addf(&p->note, "All plans: %s.  ", line);
}

/* The meaning of short words in some plan's line. */
static void say_words(const struct fr_results *results, struct fr_picture *p) {
    static const struct {
        int key;
        const char *meaning;
    } words[] = {{FR_PLAN_KEY_backward_scope, "CB: compressed backward messages"},
                 {FR_PLAN_KEY_embedding, "FE: fused embedding all-reduce"},
                 {FR_PLAN_KEY_gradient_stages, "SC: stages whose gradients are compressed"}};
    bool any = false;
    for (size_t k = 0; k < sizeof words / sizeof *words; k++) {
        if (!(results->common.stated >> words[k].key & 1)) continue;
        fr_text_addf(&p->note, "%s%s", any ? ", " : "", words[k].meaning);
        any = true;
    }
    if (any) fr_text_addf(&p->note, ".  ");
}

void fr_results_footer(const struct fr_results *results, struct fr_picture *p, bool energy) {
    size_t extrapolated = 0;
    char count[FR_READABLE], feasible[FR_READABLE];
    say_common(results, p);
    say_words(results, p);
    for (size_t i = 0; i < results->count; i++) extrapolated += results->items[i].extrapolated;
    fr_text_addf(&p->footer, "cluster %s%s%s%s%s   model %s   forerun %s",
                 fr_text_get(&results->cluster), results->source.length ? ", " : "",
                 fr_text_get(&results->source), results->runtime.length ? "   software " : "",
                 fr_text_get(&results->runtime), fr_text_get(&results->model),
                 fr_text_get(&results->version));
    if (energy)
        fr_text_addf(&p->footer, "   energy %s",
                     results->power.length ? fr_text_get(&results->power) : "not stated");
    if ((int64_t)results->count < results->feasible)
        fr_text_addf(&p->note, "%s of %s feasible configurations (search --top 0 lists all).  ",
                     fr_readable_count((int64_t)results->count, count),
                     fr_readable_count(results->feasible, feasible));
    if (extrapolated)
        fr_text_addf(&p->note,
                     "%zu of %zu configurations extrapolate beyond what was measured.  ",
                     extrapolated, results->count);
}

void fr_results_interval_note(const struct fr_results *results, struct fr_picture *p) {
    for (size_t i = 0; i < results->count; i++)
        if (results->items[i].low_s > 0) {
            fr_text_addf(&p->note, "Bands and bars: 90 %% intervals, where they are known.  ");
            return;
        }
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
