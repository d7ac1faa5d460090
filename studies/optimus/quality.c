/* Functions of a result that optimus_quality.study calls. */
#include "studies/optimus/quality.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "studies/engine/study.h"
#include "studies/optimus/curves.h"
#include "studies/quality_curve.h"

/* Kinds of plans, by the names of Song et al. */
enum { BASE, CB, CB_WITHOUT_LEP, NAIVE, NAIVE_LEP, SC, FE, N_KINDS };
static const char *const kinds[N_KINDS] = {"base", "cb", "cb_without_lep", "naive", "naive_lep",
                                           "sc",   "fe"};

struct found {
    struct fr_reproduction *r;
    int row[N_KINDS]; /* -1: not in the result */
    struct fr_json rows, pairs;
};

/* ---- plans in the result --------------------------------------------------------------------- */

/* Compression that a row's plan states: of "backward", "gradient" or "forward". */
static struct fr_json part_of(const struct fr_json *plan, const char *what) {
    struct fr_json compression = fr_json_member(plan, "compression");
    return fr_json_member(&compression, what);
}

/* Rank of activations between stages; 0: they go whole. */
static double rank_forward(const struct fr_json *plan) {
    struct fr_json forward = part_of(plan, "forward");
    double rank = fr_json_number_at(&forward, "rank");
    return rank > 0 ? rank : 0;
}

static int kind_of(const struct fr_json *plan) {
    struct fr_json compression = fr_json_member(plan, "compression"),
                   backward = part_of(plan, "backward"), gradient = part_of(plan, "gradient"),
                   lazy = fr_json_member(&backward, "lazy_error");
    const char *scope = fr_json_text_at(&backward, "scope");
    bool fused = strcmp(fr_json_text_at(&compression, "embedding"), "fused") == 0;
    bool coded = fr_json_number_at(&gradient, "stages") > 0, made_up = true;
    if (rank_forward(plan) > 0) return -1;
    if (fr_json_present(&lazy))
        (void)fr_json_get_bool(&backward, "lazy_error", false, &made_up, NULL);
    if (strcmp(scope, "epilogue") == 0 && coded) return made_up ? SC : -1;
    if (coded) return -1;
    if (strcmp(scope, "epilogue") == 0) return made_up ? CB : CB_WITHOUT_LEP;
    if (strcmp(scope, "all") == 0) return made_up ? NAIVE_LEP : NAIVE;
    return fused ? FE : BASE;
}

static struct fr_json row_at(const struct found *found, int64_t i) {
    return fr_json_element(&found->rows, i);
}

static struct fr_json plan_at(const struct found *found, int64_t i) {
    struct fr_json row = row_at(found, i);
    return fr_json_member(&row, "plan");
}

static fr_status find(const struct fr_json *root, struct found *found, struct fr_error *err) {
    static const char *const schemas[] = {"forerun/quality/1", NULL};
    int schema = 0;
    FR_TRY(fr_json_get_choice(root, "schema", true, schemas, &schema, err));
    found->rows = fr_json_member(root, "rows");
    found->pairs = fr_json_member(root, "pairs");
    FR_TRY(fr_json_array(&found->rows, 1, 1000, err));
    FR_TRY(fr_json_array(&found->pairs, 0, 1 << 20, err));
    for (int k = 0; k < N_KINDS; k++) found->row[k] = -1;
    for (int64_t i = 0; i < fr_json_array_length(&found->rows); i++) {
        struct fr_json plan = plan_at(found, i);
        int kind = kind_of(&plan);
        if (kind >= 0 && found->row[kind] < 0) found->row[kind] = (int)i;
    }
    return FR_OK;
}

/* ---- functions ------------------------------------------------------------------------------- */

static int64_t index_of(const struct fr_study_call *c, int place) {
    return (int64_t)fr_call_number(c, "row", place, -1);
}

static fr_status row(struct fr_study_call *c) {
    const struct found *found = c->context;
    int k = 0;
    while (k < N_KINDS - 1 && strcmp(kinds[k], fr_call_word(c, "kind", 0)) != 0) k++;
    return fr_say(c, found->row[k]);
}

static fr_status is(struct fr_study_call *c) {
    struct fr_json plan = plan_at(c->context, index_of(c, 0));
    int kind = kind_of(&plan);
    return fr_say(c, kind >= 0 && strcmp(kinds[kind], fr_call_word(c, "kind", 1)) == 0);
}

static fr_status count(struct fr_study_call *c) {
    return fr_say(c, (double)fr_json_array_length(&((const struct found *)c->context)->rows));
}

static fr_status number_of(struct fr_study_call *c) {
    struct fr_json at = row_at(c->context, index_of(c, 0));
    return fr_say(c, fr_json_number_at(&at, fr_call_word(c, "key", 1)));
}

static fr_status pp(struct fr_study_call *c) {
    struct fr_json plan = plan_at(c->context, index_of(c, 0));
    return fr_say(c, fr_json_number_at(&plan, "pp"));
}

static fr_status stages(struct fr_study_call *c) {
    struct fr_json plan = plan_at(c->context, index_of(c, 0)),
                   gradient = part_of(&plan, "gradient");
    return fr_say(c, fr_json_number_at(&gradient, "stages"));
}

static fr_status rank(struct fr_study_call *c) {
    struct fr_json plan = plan_at(c->context, index_of(c, 0)),
                   gradient = part_of(&plan, "gradient");
    return fr_say(c, fr_json_number_at(&gradient, "rank"));
}

static fr_status forward_rank(struct fr_study_call *c) {
    struct fr_json plan = plan_at(c->context, index_of(c, 0));
    return fr_say(c, rank_forward(&plan));
}

/* Does it compress what goes backward, or gradients? */
static fr_status compresses_else(struct fr_study_call *c) {
    struct fr_json plan = plan_at(c->context, index_of(c, 0)),
                   backward = part_of(&plan, "backward"), gradient = part_of(&plan, "gradient");
    const char *scope = fr_json_text_at(&backward, "scope");
    return fr_say(c, (*scope && strcmp(scope, "none") != 0) ||
                         fr_json_number_at(&gradient, "stages") > 0);
}

struct difference {
    double mean, low, high; /* loss of b less that of a, nat */
    bool known, apart;
};

/* Difference of the losses of two rows of the result. */
static struct difference loss_between(const struct found *found, int64_t a, int64_t b) {
    struct difference d = {NAN, NAN, NAN, false, false};
    for (int64_t i = 0; i < fr_json_array_length(&found->pairs); i++) {
        struct fr_json pair = fr_json_element(&found->pairs, i);
        int64_t first = (int64_t)fr_json_number_at(&pair, "a"),
                second = (int64_t)fr_json_number_at(&pair, "b");
        bool same = first == a && second == b, turned = first == b && second == a;
        if (strcmp(fr_json_text_at(&pair, "by"), "loss") != 0 || (!same && !turned)) continue;
        double sign = same ? 1 : -1, low = fr_json_number_at(&pair, "difference_low"),
               high = fr_json_number_at(&pair, "difference_high");
        d.mean = sign * fr_json_number_at(&pair, "difference");
        d.low = same ? low : -high;
        d.high = same ? high : -low;
        d.known = true;
        d.apart = d.low > 0 || d.high < 0;
    }
    return d;
}

/* difference(a, b): mean, low, high, known, apart. */
static fr_status difference(struct fr_study_call *c) {
    struct difference d = loss_between(c->context, index_of(c, 0), index_of(c, 1));
    FR_TRY(fr_call_set(c, "mean", d.mean));
    FR_TRY(fr_call_set(c, "low", d.low));
    FR_TRY(fr_call_set(c, "high", d.high));
    FR_TRY(fr_call_set(c, "known", d.known));
    return fr_call_set(c, "apart", d.apart);
}

/* order(ID, a, b, CLAIM): "row b loses more than row a", judged where the seeds tell. */
static fr_status order(struct fr_study_call *c) {
    const struct found *found = c->context;
    int64_t a = index_of(c, 1), b = index_of(c, 2);
    struct difference d = loss_between(found, a, b);
    const char *id = fr_call_word(c, "id", 0);
    char note[240];
    if (a < 0 || b < 0) return FR_OK;
    snprintf(note, sizeof note, "%.120s; here %+.4f nat (%+.4f to %+.4f)%s",
             fr_call_word(c, "claim", 3), d.mean, d.low, d.high,
             d.apart ? "" : ": no difference shown, so nothing is confirmed");
    if (d.apart)
        fr_reproduce_add_ordering(found->r, d.low > 0, note, "quality/order/%s", id);
    else
        fr_reproduce_add(found->r, FR_ROLE_ORDERING, NAN, NAN, "1", 0, note, "quality/order/%s",
                         id);
    return FR_OK;
}

/* curve(NAME, base, row, same=) */
static fr_status curve(struct fr_study_call *c) {
    const struct found *found = c->context;
    if (index_of(c, 1) < 0 || index_of(c, 2) < 0) return FR_OK;
    struct fr_json base = row_at(found, index_of(c, 1)), other = row_at(found, index_of(c, 2));
    fr_optimus_curve(&base, &other, fr_call_word(c, "name", 0),
                     fr_call_number(c, "same", -1, 0) != 0, found->r);
    return FR_OK;
}

/* draw(NAME, row): its perplexity, evaluation by evaluation. */
static fr_status draw(struct fr_study_call *c) {
    const struct found *found = c->context;
    struct fr_json at = row_at(found, index_of(c, 1));
    if (index_of(c, 1) >= 0)
        fr_quality_curve(&at, "fig9", fr_call_word(c, "name", 0), true, found->r);
    return FR_OK;
}

static struct fr_json observed_of(const struct fr_study_call *c) {
    struct fr_json at = row_at(c->context, index_of(c, 0));
    return fr_json_member(&at, "observed");
}

static fr_status observed(struct fr_study_call *c) {
    struct fr_json list = observed_of(c);
    return fr_say(c, index_of(c, 0) < 0 ? 0 : (double)fr_json_array_length(&list));
}

static struct fr_json observed_at(const struct fr_study_call *c) {
    struct fr_json list = observed_of(c);
    return fr_json_element(&list, (int64_t)fr_call_number(c, "which", 1, 0));
}

static fr_status observed_rank(struct fr_study_call *c) {
    struct fr_json one = observed_at(c);
    return fr_say(c, fr_json_number_at(&one, "rank"));
}

static fr_status observed_mean(struct fr_study_call *c) {
    struct fr_json one = observed_at(c), list = fr_json_member(&one, fr_call_word(c, "key", 2));
    double sum = 0;
    int n = 0;
    for (int64_t i = 0; i < fr_json_array_length(&list); i++) {
        struct fr_json x = fr_json_element(&list, i);
        double value = NAN;
        if (fr_json_is_null(&x) || fr_json_number(&x, -1e300, 1e300, &value, NULL) != FR_OK)
            continue;
        sum += value;
        n++;
    }
    return fr_say(c, n ? sum / n : NAN);
}

fr_status fr_optimus_quality(const struct fr_json *root, struct fr_reproduction *r,
                             struct fr_error *err) {
    static const struct fr_study_function functions[] = {{"row", row},
                                                         {"is", is},
                                                         {"count", count},
                                                         {"number_of", number_of},
                                                         {"pp", pp},
                                                         {"stages", stages},
                                                         {"rank", rank},
                                                         {"forward_rank", forward_rank},
                                                         {"compresses_else", compresses_else},
                                                         {"difference", difference},
                                                         {"order", order},
                                                         {"curve", curve},
                                                         {"draw", draw},
                                                         {"observed", observed},
                                                         {"observed_rank", observed_rank},
                                                         {"observed_mean", observed_mean},
                                                         {NULL, NULL}};
    extern const char fr_study_optimus_quality[];
    const struct fr_study_text study = {"optimus_quality", fr_study_optimus_quality, functions};
    struct found found = {.r = r};
    FR_TRY(find(root, &found, err));
    return fr_study_run(&study, &found, r, err);
}
