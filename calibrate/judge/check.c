#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "calibrate/judge/check.h"
#include "trust/interval.h"

const char *const fr_verdict_names[] = {"PASS", "WARN", "FAIL", NULL};

__attribute__((format(printf, 4, 5))) static void
add(struct fr_checks *checks, fr_verdict verdict, const char *subject, const char *fmt, ...) {
    va_list ap;
    if (checks->count == FR_CHECKS_MAX) return;
    struct fr_check *check = &checks->item[checks->count++];
    check->verdict = verdict;
    snprintf(check->subject, sizeof check->subject, "%s", subject);
    va_start(ap, fmt);
    vsnprintf(check->reason, sizeof check->reason, fmt, ap);
    va_end(ap);
}

/* The verdict on an error that is no part of every prediction, or is in the interval by
 * another number already. */
static fr_verdict warn(bool beyond) { return beyond ? FR_VERDICT_WARN : FR_VERDICT_PASS; }

/* An error passes that adds no more to a prediction's interval than the assumed model error. */
static fr_verdict warn_of(double spread) { return warn(!(spread <= fr_spread_assumed)); }

/* The interval that every prediction gets: beyond a factor of two it tells no plans apart. */
static void check_interval(const struct fr_json *root, struct fr_checks *checks) {
    static const double TWICE = 2;
    struct fr_json m = fr_json_member(root, "machine");
    double held_out = fr_json_number_at(root, "held_out"),
           variation = fr_json_number_at(&m, "variation");
    if (isnan(variation)) return; /* not one that forerun measured */
    bool known = !isnan(held_out);
    double off_by = known ? held_out : 0,
           reach = fr_spread_reach(fr_spread_calibrated(off_by, variation));
    fr_verdict verdict =
        reach > TWICE ? FR_VERDICT_FAIL : warn_of(hypot(fr_spread_of(off_by), variation));
    char model_error[80];
    if (known)
        snprintf(model_error, sizeof model_error,
                 "the median error on held-out points is %.1f %%", 100 * held_out);
    else {
        snprintf(model_error, sizeof model_error,
                 "of so few points none was held out, %.0f %% are assumed",
                 100 * fr_spread_assumed);
        verdict = verdict == FR_VERDICT_PASS ? FR_VERDICT_WARN : verdict;
    }
    add(checks, verdict, "interval",
        "90 %% intervals of predictions reach from %.2f to %.2f times the time predicted: %s, "
        "and the machine's time for the same work varies by %.1f %%",
        1 / reach, reach, model_error, 100 * variation);
}

static void check_setting(const struct fr_json *root, struct fr_checks *checks) {
    struct fr_json p = fr_json_member(root, "provenance");
    bool imported = strcmp(fr_json_text_at(&p, "host"), FR_HOST_IMPORTED) == 0;
    bool oversubscribed = false, simulated = false;
    fr_json_get_bool(&p, "oversubscribed", false, &oversubscribed, NULL);
    fr_json_get_bool(&p, "simulated", false, &simulated, NULL);
    const char *pinning = fr_json_text_at(&p, "pinning");
    if (imported) {
        add(checks, FR_VERDICT_WARN, "pinning",
            "imported measurements do not say how ranks were bound to cores");
        return;
    }
    if (oversubscribed)
        add(checks, FR_VERDICT_FAIL, "ranks and cores",
            "more ranks than cores: the collectives measure the scheduler more than the "
            "network");
    else
        add(checks, FR_VERDICT_PASS, "ranks and cores", "every rank had a core of its own");
    if (simulated)
        add(checks, FR_VERDICT_WARN, "machine",
            "measured inside SimGrid: times are a platform file's, not a machine's");
    if (*pinning)
        add(checks, strstr(pinning, "not") ? FR_VERDICT_WARN : FR_VERDICT_PASS, "pinning",
            "%.200s", pinning);
    else
        add(checks, FR_VERDICT_WARN, "pinning", "not stated");
}

/* Rows that the budget did not reach. */
static void check_missing(const struct fr_json *root, struct fr_checks *checks) {
    struct fr_json list = fr_json_member(root, "not_measured");
    for (int64_t i = 0; fr_json_is_array(&list) && i < fr_json_array_length(&list); i++) {
        struct fr_json one = fr_json_element(&list, i);
        const char *text = "";
        if (fr_json_text(&one, &text, NULL) == FR_OK)
            add(checks, FR_VERDICT_FAIL, "not measured", "%.200s", text);
    }
}

/* How the machine was while it was measured. */
static void check_machine(const struct fr_json *root, struct fr_checks *checks) {
    static const double NORMAL_DECILE = 1.2816;
    struct fr_json m = fr_json_member(root, "machine");
    double lost = fr_json_number_at(&m, "lost"),
           variation = fr_json_number_at(&m, "speed_variation");
    if (lost > 0)
        add(checks, warn_of(0.5 * log1p(lost)), "interruptions",
            "products lost %.1f %% of their time to what else runs here: a rank is interrupted "
            "every %.3g ms of its work for %.3g ms",
            100 * lost, 1e3 * fr_json_number_at(&m, "interrupted_every_s"),
            1e3 * fr_json_number_at(&m, "interruption_s"));
    if (!isnan(variation))
        add(checks, warn_of(variation / NORMAL_DECILE), "speed",
            "the machine's own speed varied by %.1f %% to either side; under typical load "
            "products take %.2f times as long as when it is idle",
            100 * variation, fr_json_number_at(&m, "usual_products"));
}

static const double normal_95 = 1.96;

/* unsure: known no better than 5 %; vague: known so badly that it alone would be a spread as large as
 * what is assumed of the model. */
struct tally {
    double points, samples, slow, unsure, vague, single, launches_min, nodes_max;
};

static void count_points(const struct fr_json *root, struct tally *t) {
    struct fr_json list = fr_json_member(root, "series");
    *t = (struct tally){.launches_min = HUGE_VAL};
    for (int64_t s = 0; s < fr_json_array_length(&list); s++) {
        struct fr_json series = fr_json_element(&list, s),
                       points = fr_json_member(&series, "points");
        bool several = strcmp(fr_json_text_at(&series, "level"), "node") != 0;
        t->nodes_max = fmax(t->nodes_max, several ? 2 : 1);
        for (int64_t i = 0; i < fr_json_array_length(&points); i++) {
            struct fr_json p = fr_json_element(&points, i);
            double n = fr_json_number_at(&p, "n");
            double median_s = fr_json_number_at(&p, "median_s");
            double high_s = fr_json_number_at(&p, "high_s");
            t->points++;
            t->samples += n;
            t->slow += fr_json_number_at(&p, "slow");
            t->single += n <= 1;
            t->unsure += n > 1 && !(high_s <= 1.05 * median_s);
            t->vague += n > 1 && !(high_s <= (1 + normal_95 * fr_spread_assumed) * median_s);
            t->launches_min = fmin(t->launches_min, fr_json_number_at(&p, "launches"));
        }
    }
}

static void check_points(const struct fr_json *root, struct fr_checks *checks) {
    struct tally t;
    count_points(root, &t);
    struct fr_json products = fr_json_member(root, "products"),
                   device = fr_json_member(root, "device");
    if (t.points == 0 && fr_json_present(&device)) {
        struct fr_json flash = fr_json_member(&device, "attention_flash");
        add(checks, FR_VERDICT_WARN, "points",
            "one GPU was measured: %slinks and collectives are the base's",
            fr_json_is_number(&flash) ? "" : "attention, ");
        return;
    }
    if (t.points == 0 && fr_json_is_array(&products) && fr_json_array_length(&products) > 0) {
        add(checks, FR_VERDICT_WARN, "points",
            "products of others alone were fitted: all else is the base's");
        return;
    }
    if (t.points == 0) {
        add(checks, FR_VERDICT_FAIL, "points", "no collective was measured");
        return;
    }
    if (t.single > 0)
        add(checks, FR_VERDICT_WARN, "repetitions",
            "%.0f of %.0f points are one number each: how far it is to be trusted is not known",
            t.single, t.points);
    if (t.single < t.points)
        add(checks, warn(2 * t.vague > t.points), "medians",
            "%.0f of %.0f points are known no better than 5 %% (95 %% interval, on the slow "
            "side), %.0f no better than %.0f %%. A longer --budget makes them surer",
            t.unsure, t.points, t.vague, 100 * normal_95 * fr_spread_assumed);
    if (t.single < t.points && t.launches_min < 3)
        add(checks, FR_VERDICT_WARN, "launches",
            "%.0f launch%s: three or more show the spread between launches", t.launches_min,
            t.launches_min == 1 ? "" : "es");
    add(checks, warn(10 * t.slow > t.samples), "disturbed samples",
        "%.0f of %.0f samples are slower than the median plus five scaled deviations; they are "
        "kept, and not fitted",
        t.slow, t.samples);
    if (t.nodes_max < 2)
        add(checks, FR_VERDICT_WARN, "validity",
            "measured inside one node: several nodes are not predicted without network levels");
}

/* Two ranks are one rank count: nothing there was left unmeasured, and no plan of theirs asks
 * for growth.  A prediction for more is marked extrapolated; its interval is as wide as the
 * errors of laws that were seen. */
static bool knows_one_count(const struct fr_json *root) {
    struct fr_json p = fr_json_member(root, "provenance");
    return fr_json_number_at(&p, "ranks") <= 2;
}

static void check_operation(const struct fr_json *root, const struct fr_json *op,
                            struct fr_checks *checks) {
    char subject[64];
    const char *name = fr_json_text_at(op, "op"), *chosen = fr_json_text_at(op, "chosen");
    struct fr_json form = fr_json_member(op, chosen),
                   sizes = fr_json_member(&form, "held_sizes"),
                   ranks = fr_json_member(&form, "held_ranks");
    double at_sizes = fr_json_number_at(&sizes, "median");
    double at_ranks = fr_json_number_at(&ranks, "median");
    snprintf(subject, sizeof subject, "%.30s, unseen sizes", name);
    if (isnan(at_sizes))
        add(checks, FR_VERDICT_WARN, subject, "too few sizes to hold any out");
    else
        add(checks, warn_of(fr_spread_of(at_sizes)), subject,
            "%.20s misses every second size, held out, by %.1f %% in the median, p90 %.1f %%",
            chosen, 100 * at_sizes, 100 * fr_json_number_at(&sizes, "p90"));
    snprintf(subject, sizeof subject, "%.30s, unseen ranks", name);
    if (isnan(at_ranks))
        add(checks, knows_one_count(root) ? FR_VERDICT_PASS : FR_VERDICT_WARN, subject,
            "one rank count in each layout: growth with ranks follows the operation's nature, "
            "unconfirmed%s",
            knows_one_count(root) ? ", and is not needed on two ranks" : "");
    else
        add(checks, warn_of(fr_spread_of(at_ranks)), subject,
            "%.20s misses the largest rank count, held out, by %.1f %% in the median, p90 %.1f "
            "%%",
            chosen, 100 * at_ranks, 100 * fr_json_number_at(&ranks, "p90"));
}

fr_status fr_calibration_check(const struct fr_json *root, struct fr_checks *checks,
                               struct fr_error *err) {
    static const char *const schemas[] = {"forerun/fit/1", NULL};
    int schema = 0;
    checks->count = 0;
    FR_TRY(fr_json_get_choice(root, "schema", true, schemas, &schema, err));
    FR_TRY(fr_calibration_numbers_check(root, err));
    check_interval(root, checks);
    check_setting(root, checks);
    check_missing(root, checks);
    check_machine(root, checks);
    check_points(root, checks);
    struct fr_json ops = fr_json_member(root, "operations"),
                   gemm = fr_json_member(root, "gemm_left_out");
    for (int64_t i = 0; i < fr_json_array_length(&ops); i++) {
        struct fr_json op = fr_json_element(&ops, i);
        check_operation(root, &op, checks);
    }
    for (int64_t i = 0; fr_json_is_object(&gemm) && fr_json_key_at(&gemm, i); i++) {
        const char *dtype = fr_json_key_at(&gemm, i);
        struct fr_json one = fr_json_member(&gemm, dtype);
        char subject[64];
        double median = fr_json_number_at(&one, "median");
        snprintf(subject, sizeof subject, "products %.8s", dtype);
        if (!isnan(median))
            add(checks, warn_of(fr_spread_of(median)), subject,
                "a shape from its neighbours misses by %.1f %% in the median, p90 %.1f %%",
                100 * median, 100 * fr_json_number_at(&one, "p90"));
    }
    return FR_OK;
}

void fr_calibration_judge(const struct fr_checks *checks, struct fr_fit_verdict *judged) {
    enum { MOST = sizeof judged->reason / sizeof *judged->reason };
    *judged =
        (struct fr_fit_verdict){.verdict = fr_verdict_names[fr_calibration_verdict(checks)]};
    for (fr_verdict v = FR_VERDICT_FAIL; v > FR_VERDICT_PASS; v--)
        for (int i = 0; i < checks->count && judged->n_reasons < MOST; i++)
            if (checks->item[i].verdict == v)
                snprintf(judged->reason[judged->n_reasons++], sizeof *judged->reason, "%s: %s",
                         checks->item[i].subject, checks->item[i].reason);
}

fr_verdict fr_calibration_verdict(const struct fr_checks *checks) {
    fr_verdict worst = FR_VERDICT_PASS;
    for (int i = 0; i < checks->count; i++)
        if (checks->item[i].verdict > worst) worst = checks->item[i].verdict;
    return worst;
}
