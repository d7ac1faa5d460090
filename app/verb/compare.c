/* A second calibration beside the first; or clusters (app/clusters.h), or runtimes (app/upgrade.h),
 * side by side. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/clusters.h"
#include "app/load.h"
#include "app/page/page.h"
#include "app/text/next.h"
#include "app/training_options.h"
#include "app/upgrade.h"
#include "app/verb.h"
#include "base/alloc.h"
#include "base/sort.h"
#include "base/text/wrap.h"
#include "calibrate/samples/compare.h"
#include "trust/numbers/statistics.h"

static const struct fr_option options[] = {
    {"cluster", "FILE|PRESET", "one of several clusters side by side; may be repeated", 'c'},
    {"model", "FILE|PRESET", "what is trained there; may be repeated", 'm'},
    {"runtime", "FILE|PRESET",
     "software of all; repeated: the runtimes side by side, and what the first is behind by",
     0},
    FR_OPTION_PLAN,
    {"ranks", "RANGE", "rank counts of each: 512, 8..512*2", 'n'},
    FR_OPTION_SET,
    {"vary", "KEY=RANGE", "as of search; without it the whole recipe is searched", 'v'},
    {"fix", "KEY=VALUE", "hold a key of the recipe, as of search", 0},
    {"objective", "NAME", "time (default), energy or edp (energy times time)", 'o'},
    {"per-iteration", NULL, "rank one iteration, without the iterations to the loss", 0},
    FR_OPTIONS_FIT,
    {"max-lossy", "X",
     "most of gradient bytes or backward messages that may go compressed, 0 to 1", 0},
    {"threads", "T", "threads (default: processors); the result is the same for any number", 0},
    FR_OPTIONS_TRAINING,
    FR_OPTION_ALL,
    FR_OPTION_JSON,
    FR_OPTION_HELP,
    FR_OPTION_END};

enum { KINDS_MAX = 12, WORST = 5 };

struct match {
    const struct fr_known_point *first;
    double log_ratio; /* of the second median over the first */
};

struct kind {
    char name[24];
    size_t n, reproduced, in_median, unstated;
    double difference, interval; /* medians */
};

struct comparison {
    struct match *match; /* points of both that state an interval */
    size_t n;
    struct kind all, kind[KINDS_MAX];
    int n_kinds;
};

static struct kind *kind_of(struct comparison *c, const char *key) {
    char name[24];
    snprintf(name, sizeof name, "%.*s", (int)strcspn(key, " "), key);
    for (int i = 0; i < c->n_kinds; i++)
        if (strcmp(c->kind[i].name, name) == 0) return &c->kind[i];
    if (c->n_kinds == KINDS_MAX) return &c->kind[KINDS_MAX - 1];
    struct kind *kind = &c->kind[c->n_kinds++];
    snprintf(kind->name, sizeof kind->name, "%s", name);
    return kind;
}

static void count(struct kind *kind, const struct match *m) {
    kind->n++;
    kind->reproduced += fabs(m->log_ratio) <= m->first->interval;
    kind->in_median += fabs(m->log_ratio) <= m->first->half_width;
}

static void compare(const struct fr_known_points *a, const struct fr_known_points *b,
                    struct comparison *c) {
    for (size_t i = 0; i < a->n; i++) {
        const struct fr_known_point *first = &a->item[i],
                                    *second = fr_known_points_get(b, first->key);
        if (!second) continue;
        struct kind *kind = kind_of(c, first->key);
        if (first->interval >= 1e9) {
            kind->unstated++;
            c->all.unstated++;
            continue;
        }
        struct match *m = &c->match[c->n++];
        *m = (struct match){first, log(second->median_s / first->median_s)};
        count(kind, m);
        count(&c->all, m);
    }
}

/* Medians of difference and interval over the matches of a kind (NULL: of all). */
static void find_medians(const struct comparison *c, const char *name, double *scratch,
                         struct kind *kind) {
    for (int which = 0; which < 2; which++) {
        size_t n = 0, length = name ? strlen(name) : 0;
        for (size_t i = 0; i < c->n; i++) {
            const struct match *m = &c->match[i];
            if (name && (strncmp(m->first->key, name, length) != 0 ||
                         (m->first->key[length] && m->first->key[length] != ' ')))
                continue;
            scratch[n++] = which ? expm1(m->first->interval) : fabs(expm1(m->log_ratio));
        }
        fr_sort(scratch, n);
        double median = n ? fr_sorted_median(scratch, n) : 0;
        *(which ? &kind->interval : &kind->difference) = median;
    }
}

static double outside(const struct match *m) { return fabs(m->log_ratio) - m->first->interval; }

static int furthest_first(const void *a, const void *b) {
    double x = outside(a), y = outside(b);
    return (x < y) - (x > y);
}

static double share(size_t part, size_t all) { return all ? (double)part / (double)all : 0; }

static void json_kind(struct fr_json_writer *w, const struct kind *k) {
    fr_json_add_integer(w, "points", (int64_t)k->n);
    fr_json_add_number(w, "reproduced", share(k->reproduced, k->n));
    fr_json_add_number(w, "in_median_interval", share(k->in_median, k->n));
    fr_json_add_integer(w, "unstated", (int64_t)k->unstated);
    fr_json_add_number(w, "difference", k->difference);
    fr_json_add_number(w, "interval", k->interval);
}

static void write_json(const struct comparison *c, const struct fr_args *args,
                       struct fr_text *text) {
    struct fr_json_writer w = {.text = text, .indent = 2};
    fr_json_begin_object(&w);
    fr_json_add_string(&w, "schema", "forerun/compare/1");
    fr_json_add_string(&w, "first", args->word[0]);
    fr_json_add_string(&w, "second", args->word[1]);
    json_kind(&w, &c->all);
    fr_json_add_array(&w, "kinds");
    for (int i = 0; i < c->n_kinds; i++) {
        fr_json_begin_object(&w);
        fr_json_add_string(&w, "kind", c->kind[i].name);
        json_kind(&w, &c->kind[i]);
        fr_json_end_object(&w);
    }
    fr_json_end_array(&w);
    fr_json_add_array(&w, "worst");
    for (size_t i = 0; i < c->n && i < WORST && outside(&c->match[i]) > 0; i++) {
        fr_json_begin_object(&w);
        fr_json_add_string(&w, "point", c->match[i].first->key);
        fr_json_add_number(&w, "difference", expm1(c->match[i].log_ratio));
        fr_json_add_number(&w, "interval", expm1(c->match[i].first->interval));
        fr_json_end_object(&w);
    }
    fr_json_end_array(&w);
    fr_json_end_object(&w);
}

/* "12.3 %", however large. */
static const char *percent(char *cell, double x, int decimals) {
    if (fabs(x) < 100)
        snprintf(cell, 16, "%.*f %%", decimals, 100 * x);
    else
        snprintf(cell, 16, "%.0e %%", 100 * x);
    return cell;
}

static void text_kind(struct fr_text *text, const char *name, const struct kind *k) {
    char cell[4][16];
    fr_text_addf(text, "%-14s %8zu %10s %10s %10s %10s %10zu\n", name, k->n,
                 percent(cell[0], share(k->reproduced, k->n), 1),
                 percent(cell[1], k->difference, 2), percent(cell[2], k->interval, 2),
                 percent(cell[3], share(k->in_median, k->n), 1), k->unstated);
}

static void text_outside(struct fr_text *text, const struct match *m, bool first) {
    enum { POINT = 19 };
    struct fr_text words = {0};
    fr_text_addf(&words, "%s: %+.1f %%, stated %.1f %%", m->first->key,
                 100 * expm1(m->log_ratio), 100 * expm1(m->first->interval));
    fr_text_addf(text, "%-*s", POINT, first ? "furthest outside:" : "");
    fr_wrap_cell(text, POINT, fr_text_get(&words));
    text->failed = text->failed || words.failed;
    fr_text_free(&words);
}

static void write_text(const struct comparison *c, struct fr_text *text) {
    fr_text_addf(text, "%-14s %8s %10s %10s %10s %10s %10s\n", "kind", "points", "reproduced",
                 "difference", "interval", "in median", "unstated");
    for (int i = 0; i < c->n_kinds; i++) text_kind(text, c->kind[i].name, &c->kind[i]);
    text_kind(text, "all", &c->all);
    fr_text_addf(text, "\n");
    fr_wrap_cell(text, 0,
                 "reproduced: second median within the interval that the first calibration "
                 "states for a repetition; in median: within the first median's own; "
                 "unstated: points without an interval; difference, interval: medians over "
                 "points");
    for (size_t i = 0; i < c->n && i < WORST && outside(&c->match[i]) > 0; i++)
        text_outside(text, &c->match[i], i == 0);
}

static fr_status read_points(const char *path, struct fr_known_points *points,
                             struct fr_error *err) {
    struct fr_samples samples = {0};
    fr_status status = fr_samples_read(path, &samples, err);
    if (status == FR_OK && fr_known_points_find(&samples, points) != FR_OK)
        status = fr_fail(err, FR_ERR_NOMEM, path, "does not fit in memory");
    fr_samples_free(&samples);
    return status;
}

static fr_status report(struct comparison *c, const struct fr_args *args, double *scratch,
                        struct fr_error *err) {
    struct fr_text text = {0}, page = {0};
    for (int i = 0; i < c->n_kinds; i++) find_medians(c, c->kind[i].name, scratch, &c->kind[i]);
    find_medians(c, NULL, scratch, &c->all);
    if (c->n > 0) fr_sort_items(c->match, c->n, sizeof *c->match, furthest_first);
    if (fr_args_has(args, "json"))
        write_json(c, args, &text);
    else
        write_text(c, &text);
    if (fr_app_paged(args)) write_json(c, args, &page);
    return fr_app_answer(args, &text, &page, err);
}

static fr_status run(const struct fr_args *args, struct fr_error *err) {
    struct fr_known_points a = {0}, b = {0};
    struct comparison c = {.n = 0};
    double *scratch = NULL;
    const char *runtimes[FR_ARGS_MAX];
    if (fr_args_all(args, "runtime", runtimes) > 1) return fr_app_compare_runtimes(args, err);
    if (fr_args_has(args, "cluster")) return fr_app_compare_clusters(args, err);
    for (int i = 0; i < args->n_options; i++)
        if (strcmp(args->option[i]->name, "json") != 0 &&
            strcmp(args->option[i]->name, "all") != 0 &&
            strcmp(args->option[i]->name, "page") != 0)
            return fr_fail(err, FR_ERR_USAGE, "--cluster", "is needed beside --%s",
                           args->option[i]->name);
    if (args->n_words != 2)
        return fr_fail(err, FR_ERR_USAGE, NULL, "two files of samples are compared, got %d",
                       args->n_words);
    fr_status status = read_points(args->word[0], &a, err);
    if (status == FR_OK) status = read_points(args->word[1], &b, err);
    if (status != FR_OK) goto done;
    c.match = fr_calloc(a.n + 1, sizeof *c.match);
    scratch = fr_calloc(a.n + 1, sizeof *scratch);
    if (!c.match || !scratch) {
        status = fr_fail(err, FR_ERR_NOMEM, NULL, "out of memory");
        goto done;
    }
    compare(&a, &b, &c);
    status = c.n + c.all.unstated > 0 ? report(&c, args, scratch, err)
                                      : fr_fail(err, FR_ERR_INPUT, args->word[1],
                                                "has no point of %.200s", args->word[0]);
done:
    free(c.match);
    free(scratch);
    fr_known_points_free(&a);
    fr_known_points_free(&b);
    return status;
}

const struct fr_verb fr_verb_compare = {
    .name = "compare",
    .summary =
        "clusters, models or runtimes side by side; or a second calibration beside the first",
    .usage = "--cluster C --cluster D... --model M... --ranks RANGE ... | --runtime A "
             "--runtime B... "
             "--cluster C --model M [--plan P] ... | FIRST.jsonl SECOND.jsonl",
    .details =
        "Clusters: searches the best plan of each, and prints time, tokens a second and\n"
        "utilisation. --tokens adds the days, energy, money and CO2 of a training. --price,\n"
        "--carbon and --pue are given once, or for each cluster.\n"
        "  forerun compare --cluster dgx-h100 --cluster dgx-b200 --model llama-3-70b \\\n"
        "      --ranks 512 --tokens 1T --price \"2.5 USD/h\" --price \"4 USD/h\"\n"
        "Runtimes: prices the plan of --plan and --set with each, or with --ranks and no plan\n"
        "file the best plan of each. Prints the gain of an upgrade and the facts that cause "
        "it.\n"
        "  forerun compare --runtime nemo-24.03 --runtime megatron-bridge-26.04 \\\n"
        "      --cluster dgx-h100 --model llama-3-70b --set tp=8 --set pp=4 --set dp=2\n"
        "Calibrations: compares every point that both measured. The second median should lie\n"
        "in the interval that the first states for a repetition.\n",
    .options = options,
    .words = FR_WORDS_FILES,
    .run = run,
};
