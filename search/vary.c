#include "search/vary.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "models/job/fact.h"
#include "models/job/key_meant.h"

enum { VARIANTS_MAX = 4096 };

/* ---- values ------------------------------------------------------------------------------- */

/* Length of the value that begins at @p text: to the next comma outside brackets and quotes. */
static size_t value_length(const char *text) {
    int depth = 0;
    bool quoted = false;
    size_t i = 0;
    for (; text[i]; i++) {
        if (text[i] == '"') quoted = !quoted;
        if (quoted) continue;
        if (strchr("[{", text[i])) depth++;
        if (strchr("]}", text[i])) depth--;
        if (text[i] == ',' && depth <= 0) break;
    }
    return i;
}

static fr_status no_memory(struct fr_error *err) {
    return fr_fail(err, FR_ERR_NOMEM, "--vary", "out of memory");
}

/* The values of "a,b,c" as texts; ranges of whole numbers among them are written out. */
static fr_status split(const char *text, char ***texts, size_t *count, struct fr_error *err) {
    for (const char *at = text;; at += value_length(at) + 1) {
        size_t length = value_length(at), n = 1;
        int64_t *numbers = NULL;
        char *one = fr_malloc(length + 1, 1);
        if (!one) return no_memory(err);
        snprintf(one, length + 1, "%s", at);
        bool range = strstr(one, "..") && strchr("+-0123456789", *one); /* no path ../a */
        fr_status status =
            range ? fr_range_parse(one, false, INT64_MIN, "--vary", &numbers, &n, err) : FR_OK;
        char **grown = status == FR_OK ? fr_realloc(*texts, *count + n, sizeof *grown) : NULL;
        if (grown) *texts = grown;
        for (size_t i = 0; grown && i < n; i++) {
            char number[32], *word;
            snprintf(number, sizeof number, "%" PRId64, range ? numbers[i] : 0);
            word = fr_strdup(range ? number : one);
            if (word)
                grown[(*count)++] = word;
            else
                grown = NULL;
        }
        free(numbers);
        bool more = at[length] == ',';
        bool empty = length == 0;
        free(one);
        if (status != FR_OK) return status;
        if (!grown) return no_memory(err);
        if (empty)
            return fr_fail(err, FR_ERR_USAGE, "--vary", "\"%.64s\" holds no value", text);
        if (!more) return FR_OK;
    }
}

static void free_texts(char **texts, size_t count) {
    for (size_t i = 0; i < count; i++) free(texts[i]);
    free(texts);
}

/* ---- keys of the plan ------------------------------------------------------------------------ */

static fr_status read_value(const struct fr_plan_key *key, const char *text,
                            const struct fr_plan *base, struct fr_plan *plan,
                            struct fr_plan_lists *lists, struct fr_error *err) {
    struct fr_json_document *document = NULL;
    struct fr_plan read;
    FR_TRY(fr_json_parse("{}", 2, "plan", &document, err));
    fr_status status = fr_json_set(document, key->name, text, "--vary", err);
    if (status == FR_OK) status = fr_plan_read(document, &read, lists, err);
    fr_json_free(document);
    if (status == FR_ERR_INPUT && err) err->status = FR_ERR_USAGE;
    if (status != FR_OK) return status == FR_ERR_INPUT ? FR_ERR_USAGE : status;
    *plan = *base;
    fr_plan_key_copy(key, &read, plan);
    return FR_OK;
}

/* Texts, each read as --set would; one that is there already is passed over. */
static fr_status add_texts(struct fr_dimension *d, const struct fr_plan *base,
                           char *const *texts, size_t n, struct fr_error *err) {
    d->values = fr_calloc(n, d->key->size);
    d->lists = fr_calloc(n, sizeof *d->lists);
    struct fr_plan *plans = fr_calloc(n, sizeof *plans);
    fr_status status = d->values && d->lists && plans ? FR_OK : no_memory(err);
    for (size_t i = 0; i < n && status == FR_OK; i++) {
        struct fr_plan *plan = &plans[d->count];
        struct fr_plan_lists *lists = &d->lists[d->count];
        bool again = false;
        status = read_value(d->key, texts[i], base, plan, lists, err);
        for (size_t v = 0; v < d->count && status == FR_OK && !again; v++)
            again = d->key->type->same(d->key, plan, &plans[v]);
        if (status != FR_OK || again) {
            fr_plan_lists_free(lists);
            continue;
        }
        memcpy(d->values + d->count++ * d->key->size, (char *)plan + d->key->offset,
               d->key->size);
    }
    free(plans);
    return status;
}

/* Whole numbers, many of them; sizes are bytes. */
static fr_status add_range(struct fr_dimension *d, const char *text, struct fr_error *err) {
    int64_t *numbers = NULL, least = (int64_t)d->key->least;
    FR_TRY(
        fr_range_parse(text, d->key->type->sizes, least, "--vary", &numbers, &d->count, err));
    for (size_t i = 0; i < d->count; i++)
        if ((double)numbers[i] > d->key->most) {
            fr_fail(err, FR_ERR_USAGE, "--vary", "%s: %" PRId64 " is above %.17g", d->key->name,
                    numbers[i], d->key->most);
            free(numbers);
            d->count = 0;
            return FR_ERR_USAGE;
        }
    if (d->key->type->sizes)
        for (size_t i = 0; i < d->count; i++) {
            double size = (double)numbers[i];
            memcpy(&numbers[i], &size, sizeof size);
        }
    d->values = (unsigned char *)numbers;
    return FR_OK;
}

static fr_status vary_plan(const struct fr_plan_key *key, const char *text,
                           struct fr_space *space, struct fr_error *err) {
    int number = (int)(key - fr_plan_keys);
    char **texts = NULL;
    size_t n = 0;
    if (space->varied >> number & 1)
        return fr_fail(err, FR_ERR_USAGE, "--vary", "\"%s\" is varied twice", key->name);
    space->varied |= FR_PLAN_KEY_BIT(number);
    space->dp_given = space->dp_given || number == FR_PLAN_KEY_dp;
    space->tp_given = space->tp_given || number == FR_PLAN_KEY_tp;
    struct fr_dimension *d = &space->dimension[space->n_dimensions++];
    d->key = key;
    if (key->type->ranges) return add_range(d, text, err);
    fr_status status = split(text, &texts, &n, err);
    if (status == FR_OK) status = add_texts(d, &space->base, texts, n, err);
    free_texts(texts, n);
    return status;
}

/* ---- keys of the model, the cluster and the runtime -------------------------------------------- */

static const char runtime_key[] = "runtime";

/* "model.KEY", "cluster.KEY", "runtime" or "runtime.KEY". */
static bool of_inputs(const char *key) {
    return strncmp(key, "model.", 6) == 0 || strncmp(key, "cluster.", 8) == 0 ||
           strncmp(key, "runtime.", 8) == 0 || strcmp(key, runtime_key) == 0;
}

/* A fact of runtimes is known before any is read. */
static fr_status check_fact(const char *key, struct fr_error *err) {
    const char *near = NULL;
    if (strncmp(key, "runtime.", 8) != 0 || fr_fact_find(key, &near) >= 0) return FR_OK;
    return fr_fail(err, FR_ERR_USAGE, "--vary", "\"%s\" is no fact of a runtime%s%s%s", key,
                   near ? "; did you mean \"runtime." : "; forerun list facts has them",
                   near ? near : "", near ? "\"?" : "");
}

static fr_status vary_input(const char *key, const char *text, const struct fr_job_names *names,
                            struct fr_space *space, struct fr_error *err) {
    if (!names)
        return fr_fail(err, FR_ERR_USAGE, "--vary", "\"%s\" cannot be varied here", key);
    if (space->n_inputs == FR_SPACE_INPUTS_MAX)
        return fr_fail(err, FR_ERR_USAGE, "--vary",
                       "more than %d keys of model, cluster and runtime", FR_SPACE_INPUTS_MAX);
    FR_TRY(check_fact(key, err));
    for (int i = 0; i < space->n_inputs; i++)
        if (strcmp(space->input[i].key, key) == 0)
            return fr_fail(err, FR_ERR_USAGE, "--vary", "\"%s\" is varied twice", key);
    struct fr_space_input *input = &space->input[space->n_inputs++];
    snprintf(input->key, sizeof input->key, "%s", key);
    FR_TRY(split(text, &input->texts, &input->count, err));
    space->n_variants *= (int64_t)input->count;
    if (space->n_variants <= VARIANTS_MAX) return FR_OK;
    space->n_variants = 1;
    return fr_fail(err, FR_ERR_USAGE, "--vary", "more than %d models, clusters and runtimes",
                   VARIANTS_MAX);
}

static fr_status load_variant(const struct fr_job_names *names, struct fr_space *space,
                              int64_t variant, struct fr_error *err) {
    const char **sets = fr_calloc((size_t)(names->n_sets + space->n_inputs) + 1, sizeof *sets);
    char **settings = &space->settings[variant * space->n_inputs];
    int64_t left = variant;
    bool whole = true;
    if (!sets) return no_memory(err);
    for (int i = 0; i < names->n_sets; i++) sets[i] = names->sets[i];
    for (int i = space->n_inputs; i-- > 0;) {
        const struct fr_space_input *input = &space->input[i];
        struct fr_text text = {0};
        fr_text_addf(&text, "%s=%s", input->key, input->texts[left % (int64_t)input->count]);
        left /= (int64_t)input->count;
        settings[i] = text.data; /* its block */
        sets[names->n_sets + i] = settings[i];
        whole = whole && !text.failed;
    }
    if (!whole) {
        free(sets);
        return no_memory(err);
    }
    struct fr_job_names with = *names;
    with.sets = sets;
    with.n_sets = names->n_sets + space->n_inputs;
    struct fr_job *job = &space->variants[variant];
    fr_status status = fr_job_load(&with, job, err);
    job->varied = settings;
    job->n_varied = space->n_inputs;
    free(sets);
    return status;
}

fr_status fr_vary_load(const struct fr_job_names *names, struct fr_space *space,
                       struct fr_error *err) {
    if (space->n_inputs == 0) return FR_OK;
    space->variants = fr_calloc((size_t)space->n_variants, sizeof *space->variants);
    space->settings =
        fr_calloc((size_t)(space->n_variants * space->n_inputs), sizeof *space->settings);
    if (!space->variants || !space->settings) return no_memory(err);
    for (int64_t v = 0; v < space->n_variants; v++) FR_TRY(load_variant(names, space, v, err));
    return FR_OK;
}

/* ---- --vary ------------------------------------------------------------------------------------ */

fr_status fr_vary_parse(const char *text, const struct fr_job_names *names,
                        struct fr_space *space, struct fr_error *err) {
    const char *equals = strchr(text, '='), *near = NULL;
    char name[160];
    if (!equals || equals == text || (size_t)(equals - text) >= sizeof name)
        return fr_fail(err, FR_ERR_USAGE, "--vary", "\"%.64s\" is not of the form KEY=RANGE",
                       text);
    snprintf(name, sizeof name, "%.*s", (int)(equals - text), text);
    if (of_inputs(name)) return vary_input(name, equals + 1, names, space, err);
    const struct fr_plan_key *key = fr_plan_key_find(name, &near);
    if (key) return vary_plan(key, equals + 1, space, err);
    const char *const inputs[] = {runtime_key, NULL};
    near = fr_nearest(name, inputs);
    if (!near) return fr_key_unknown(name, "--vary", FR_ERR_USAGE, err);
    return fr_fail(err, FR_ERR_USAGE, "--vary", "\"%s\" is no key; did you mean \"%s\"?", name,
                   near);
}
