#include "studies/optimus/quality.h"

#include "studies/optimus/curves.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- plans in the result --------------------------------------------------------------------- */

/* What tells a plan, as Song et al. name their own. */
enum { BASE, CB, CB_WITHOUT_LEP, NAIVE, NAIVE_LEP, SC, FE, N_KINDS };
static const char *const names[N_KINDS] = {
    "no compression",         "CB (epilogue, lazy error)",    "CB without lazy error",
    "all without lazy error", "all messages with lazy error", "CB+FE+SC",
    "fused embedding"};

struct found {
    int row[N_KINDS]; /* -1: not in the result */
    struct fr_json rows, pairs;
};

/* Of activations between stages; 0: they go whole. */
static double forward_rank(const struct fr_json *plan) {
    struct fr_json compression = fr_json_member(plan, "compression"),
                   forward = fr_json_member(&compression, "forward");
    double rank = fr_json_number_at(&forward, "rank");
    return rank > 0 ? rank : 0;
}

static int kind_of(const struct fr_json *plan) {
    struct fr_json compression = fr_json_member(plan, "compression"),
                   backward = fr_json_member(&compression, "backward"),
                   gradient = fr_json_member(&compression, "gradient"),
                   lazy = fr_json_member(&backward, "lazy_error");
    const char *scope = fr_json_text_at(&backward, "scope");
    bool fused = strcmp(fr_json_text_at(&compression, "embedding"), "fused") == 0;
    bool coded = fr_json_number_at(&gradient, "stages") > 0, made_up = true;
    if (forward_rank(plan) > 0) return -1;
    if (fr_json_present(&lazy))
        (void)fr_json_get_bool(&backward, "lazy_error", false, &made_up, NULL);
    if (strcmp(scope, "epilogue") == 0 && coded) return made_up ? SC : -1;
    if (coded) return -1;
    if (strcmp(scope, "epilogue") == 0) return made_up ? CB : CB_WITHOUT_LEP;
    if (strcmp(scope, "all") == 0) return made_up ? NAIVE_LEP : NAIVE;
    return fused ? FE : BASE;
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
        struct fr_json row = fr_json_element(&found->rows, i),
                       plan = fr_json_member(&row, "plan");
        int kind = kind_of(&plan);
        if (kind >= 0 && found->row[kind] < 0) found->row[kind] = (int)i;
    }
    return FR_OK;
}

/* ---- comparisons ----------------------------------------------------------------------------- */

struct difference {
    double mean, low, high; /* loss of b less that of a, nat */
    bool known, apart;
};

/* Of rows of the result. */
static struct difference loss_between(const struct found *found, int a, int b) {
    struct difference d = {NAN, NAN, NAN, false, false};
    for (int64_t i = 0; i < fr_json_array_length(&found->pairs); i++) {
        struct fr_json pair = fr_json_element(&found->pairs, i);
        int first = (int)fr_json_number_at(&pair, "a"),
            second = (int)fr_json_number_at(&pair, "b");
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

/* Of kinds of plans. */
static struct difference loss_of(const struct found *found, int a, int b) {
    return loss_between(found, found->row[a], found->row[b]);
}

/* The row appended last is shown beside the paper's, and judged or not. */
static void judge(struct fr_reproduction *r, bool judged, bool holds) {
    if (r->failed || r->count == 0) return;
    r->rows[r->count - 1].judged = judged;
    r->rows[r->count - 1].holds = judged && holds;
}

/* b's perplexity over a's: published, and exp of the difference of losses; judged where its interval
 * lies within 1 % of the published one, or without. */
static void add_ratio(const struct found *found, struct fr_reproduction *r, const char *id,
                      int a, int b, double published) {
    const double tolerance = 0.01;
    struct difference d = loss_of(found, a, b);
    char note[240];
    if (found->row[a] < 0 || found->row[b] < 0) return;
    double low = exp(d.low) / published - 1, high = exp(d.high) / published - 1;
    bool within = low >= -tolerance && high <= tolerance;
    bool without = low > tolerance || high < -tolerance;
    snprintf(note, sizeof note, "%s over %s: %.4f to %.4f%s", names[b], names[a], exp(d.low),
             exp(d.high), within || without ? "" : "; these seeds do not resolve 1 %");
    fr_reproduce_add(r, FR_ROLE_NOT_EXPLAINED, published, d.known ? exp(d.mean) : NAN, "1",
                     tolerance, note, "quality/%s/perplexity_ratio", id);
    judge(r, within || without, within);
}

/* "Row b loses more than row a": judged where the seeds tell. */
static void add_order_of(const struct found *found, struct fr_reproduction *r, const char *id,
                         int a, int b, const char *claim) {
    struct difference d = loss_between(found, a, b);
    char note[240];
    if (a < 0 || b < 0) return;
    snprintf(note, sizeof note, "%s; here %+.4f nat (%+.4f to %+.4f)%s", claim, d.mean, d.low,
             d.high, d.apart ? "" : ": not told apart, so nothing is confirmed");
    if (d.apart)
        fr_reproduce_add_ordering(r, d.low > 0, note, "quality/order/%s", id);
    else
        fr_reproduce_add(r, FR_ROLE_ORDERING, NAN, NAN, "1", 0, note, "quality/order/%s", id);
}

static void add_order(const struct found *found, struct fr_reproduction *r, const char *id,
                      int a, int b, const char *claim) {
    add_order_of(found, r, id, found->row[a], found->row[b], claim);
}

/* ---- what was observed ----------------------------------------------------------------------- */

static double mean_of(const struct fr_json *list) {
    double sum = 0;
    int n = 0;
    for (int64_t i = 0; i < fr_json_array_length(list); i++) {
        struct fr_json one = fr_json_element(list, i);
        double value = NAN;
        if (fr_json_is_null(&one) || fr_json_number(&one, -1e300, 1e300, &value, NULL) != FR_OK)
            continue;
        sum += value;
        n++;
    }
    return n ? sum / n : NAN;
}

static void add_observed(const struct found *found, struct fr_reproduction *r, int kind,
                         const char *id) {
    static const struct {
        const char *key, *what;
    } what[] = {
        {"cosine", "cosine of error and difference of activations; Fig. 11 has it near 0"},
        {"alike", "cosine of errors one after the other, Eq. 13"},
        {"error_mean", "mean over root mean square of errors; Eq. 14 has it 0"},
        {"difference_mean", "the same of differences of activations; Eq. 14 has it 0"}};
    if (found->row[kind] < 0) return;
    struct fr_json row = fr_json_element(&found->rows, found->row[kind]),
                   observed = fr_json_member(&row, "observed");
    for (int64_t i = 0; i < fr_json_array_length(&observed); i++) {
        struct fr_json rank = fr_json_element(&observed, i);
        for (size_t k = 0; k < sizeof what / sizeof *what; k++) {
            struct fr_json list = fr_json_member(&rank, what[k].key);
            double ours = mean_of(&list);
            if (!isfinite(ours)) continue;
            fr_reproduce_add(r, FR_ROLE_NOT_EXPLAINED, k == 1 ? NAN : 0, ours, "1", 0,
                             what[k].what, "quality/fig11/%s/rank=%.0f/%s", id,
                             fr_json_number_at(&rank, "rank"), what[k].key);
            judge(r, false, false); /* the paper shows a picture */
        }
    }
}

/* "CB without epilogue-only compression diverged" (section 9.3). */
static void add_divergence(const struct found *found, struct fr_reproduction *r, int kind,
                           const char *id) {
    if (found->row[kind] < 0) return;
    struct fr_json row = fr_json_element(&found->rows, found->row[kind]);
    double loss = fr_json_number_at(&row, "loss");
    char note[240];
    snprintf(note, sizeof note,
             "%s diverged with 2.5 and 8.3 billion parameters; here the loss after the last "
             "step is %.4f",
             names[kind], loss);
    fr_reproduce_add(r, FR_ROLE_NOT_EXPLAINED, 1, isfinite(loss) ? 0 : 1, "1", 0, note,
                     "quality/section9.3/diverges/%s", id);
    judge(r, false, false); /* of another size */
}

/* Of the paper's four stages the first three send coded gradients; a result has what it has. */
static void add_selective(struct found *found, struct fr_reproduction *r) {
    for (int64_t i = 0; i < fr_json_array_length(&found->rows); i++) {
        struct fr_json row = fr_json_element(&found->rows, i),
                       plan = fr_json_member(&row, "plan"),
                       compression = fr_json_member(&plan, "compression"),
                       gradient = fr_json_member(&compression, "gradient");
        double stages = fr_json_number_at(&gradient, "stages"),
               pp = fr_json_number_at(&plan, "pp");
        char id[64];
        if (kind_of(&plan) != SC) continue;
        found->row[SC] = (int)i;
        snprintf(id, sizeof id, "table2/gpt-8.3b/CB+FE+SC/%.0f_of_%.0f", stages, pp);
        add_ratio(found, r, id, CB, SC, 8.20 / 8.10);
        snprintf(id, sizeof id, "table2/gpt-2.5b/CB+FE+SC/%.0f_of_%.0f", stages, pp);
        add_ratio(found, r, id, CB, SC, 9.55 / 9.31);
        snprintf(id, sizeof id, "table2/SC_costs/%.0f_of_%.0f", stages, pp);
        add_order(found, r, id, CB, SC, "SC costs perplexity that CB does not");
    }
}

/* ---- forward compression ------------------------------------------------------------------------ */

static struct fr_json plan_of(const struct found *found, int64_t i) {
    struct fr_json row = fr_json_element(&found->rows, i);
    return fr_json_member(&row, "plan");
}

static double number_of(const struct found *found, int64_t i, const char *key) {
    struct fr_json row = fr_json_element(&found->rows, i);
    return fr_json_number_at(&row, key);
}

/* Does it compress what goes backward, or gradients? */
static bool compresses_else(const struct fr_json *plan) {
    struct fr_json compression = fr_json_member(plan, "compression"),
                   backward = fr_json_member(&compression, "backward"),
                   gradient = fr_json_member(&compression, "gradient");
    const char *scope = fr_json_text_at(&backward, "scope");
    return (*scope && strcmp(scope, "none") != 0) || fr_json_number_at(&gradient, "stages") > 0;
}

/* "Compressing the forward inter-stage activation yielded divergence in the model, even with a very low
 * compression rate" (section 5.1).  That it costs is an order; that it diverges is of their size. */
static void add_forward(const struct found *found, struct fr_reproduction *r) {
    for (int64_t i = 0; i < fr_json_array_length(&found->rows); i++) {
        struct fr_json plan = plan_of(found, i);
        double rank = forward_rank(&plan), loss = number_of(found, i, "loss");
        char id[64], note[240];
        if (!(rank > 0) || compresses_else(&plan)) continue;
        snprintf(id, sizeof id, "section5.1/forward_costs/rank=%.0f", rank);
        add_order_of(found, r, id, found->row[BASE], (int)i, "compressed activations cost");
        snprintf(id, sizeof id, "section5/forward_costs_more_than_backward/rank=%.0f", rank);
        add_order_of(found, r, id, found->row[NAIVE_LEP], (int)i,
                     "activations cost more than gradients of activations do");
        snprintf(
            note, sizeof note,
            "with 2.5 and 8.3 billion parameters; here the loss after the last step is %.4f, "
            "%.2f times fewer bytes",
            loss, number_of(found, i, "compression_ratio"));
        fr_reproduce_add(r, FR_ROLE_NOT_EXPLAINED, 1, isfinite(loss) ? 0 : 1, "1", 0, note,
                         "quality/section5.1/forward_diverges/rank=%.0f", rank);
        judge(r, false, false);
    }
}

/* ---- Figure 13 ------------------------------------------------------------------------------------ */

/* Stages whose gradients go compressed, of how many; 0: none. */
static double stages_of(const struct found *found, int64_t i, double *pp, double *rank) {
    struct fr_json plan = plan_of(found, i), compression = fr_json_member(&plan, "compression"),
                   gradient = fr_json_member(&compression, "gradient");
    double stages = fr_json_number_at(&gradient, "stages");
    *pp = fr_json_number_at(&plan, "pp");
    *rank = fr_json_number_at(&gradient, "rank");
    return forward_rank(&plan) > 0 || !(stages > 0) ? 0 : stages;
}

/* The better of two trade-offs: it sends no more and loses less, which the seeds tell.  +1: stages, -1: ranks,
 * 0: neither. */
static int better(const struct found *found, int64_t stages, int64_t ranks) {
    struct difference d = loss_between(found, (int)stages, (int)ranks);
    double s = number_of(found, stages, "sent_share"),
           q = number_of(found, ranks, "sent_share");
    if (!d.known || !d.apart) return 0;
    if (d.low > 0 && s <= q) return 1;
    return d.high < 0 && q <= s ? -1 : 0;
}

/* Perplexity over that without compressed gradients, of each number of stages and each rank: the paper's figure
 * shows points without numbers. */
static void add_trade(const struct found *found, struct fr_reproduction *r, int base,
                      int64_t i) {
    double pp, rank, stages = stages_of(found, i, &pp, &rank);
    struct difference d = loss_between(found, base, (int)i);
    char note[240];
    if (!(stages > 0) || !d.known) return;
    snprintf(note, sizeof note,
             "perplexity over that without SC: %.4f to %.4f, for %.0f %% of bytes%s",
             exp(d.low), exp(d.high), 100 * number_of(found, i, "sent_share"),
             d.apart ? "" : "; not told apart");
    fr_reproduce_add(r, FR_ROLE_NOT_EXPLAINED, NAN, exp(d.mean), "1", 0, note,
                     "quality/fig13/stages=%.0f_of_%.0f/rank=%.0f", stages, pp, rank);
}

/* "Selective stage compression always provides a better trade-off than adjusting ranks" (section 9.4). */
static void add_figure13(const struct found *found, struct fr_reproduction *r) {
    int base = found->row[CB] >= 0 ? found->row[CB] : found->row[BASE], wins[2] = {0, 0},
        pairs = 0;
    int64_t n = fr_json_array_length(&found->rows);
    char note[240];
    for (int64_t i = 0; i < n && base >= 0; i++) add_trade(found, r, base, i);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++) {
            double pp, rank, other_pp, other_rank,
                stages = stages_of(found, i, &pp, &rank),
                all = stages_of(found, j, &other_pp, &other_rank);
            if (!(stages > 0) || stages >= pp || all < other_pp || rank == other_rank) continue;
            int which = better(found, i, j);
            pairs++;
            wins[which < 0] += which != 0;
        }
    if (pairs == 0) return;
    snprintf(note, sizeof note,
             "some stages against all at another rank: of %d pairs %d where stages send no "
             "more and lose "
             "less, %d where ranks do, as far as seeds tell",
             pairs, wins[0], wins[1]);
    if (wins[0] + wins[1] > 0)
        fr_reproduce_add_ordering(r, wins[1] == 0, note, "quality/fig13/stages_always_better");
    else
        fr_reproduce_add(r, FR_ROLE_ORDERING, NAN, NAN, "1", 0, note,
                         "quality/fig13/stages_always_better");
}

/* "With compressed backpropagation and fused embedding synchronization the perplexity remains mostly the same";
 * selective stages cost some. */
static void add_figure9(const struct found *found, struct fr_reproduction *r) {
    static const struct {
        int kind;
        const char *name;
        bool same;
    } curves[] = {{CB, "CB", true}, {FE, "FE", true}, {SC, "CB+FE+SC", false}};
    if (found->row[BASE] < 0) return;
    struct fr_json base = fr_json_element(&found->rows, found->row[BASE]);
    for (size_t i = 0; i < sizeof curves / sizeof *curves; i++) {
        int at = found->row[curves[i].kind];
        if (at < 0) continue;
        struct fr_json other = fr_json_element(&found->rows, at);
        fr_optimus_curve(&base, &other, curves[i].name, curves[i].same, r);
    }
}

fr_status fr_optimus_quality(const struct fr_json *root, struct fr_reproduction *r,
                             struct fr_error *err) {
    struct found found;
    FR_TRY(find(root, &found, err));
    add_ratio(&found, r, "table2/gpt-8.3b/CB", BASE, CB, 8.10 / 8.10);
    add_ratio(&found, r, "table2/gpt-2.5b/CB", BASE, CB, 9.31 / 9.31);
    add_selective(&found, r);
    add_order(&found, r, "fig3/naive_costs", BASE, NAIVE, "compressing all messages costs");
    add_order(&found, r, "fig3/naive_costs_more_than_CB", CB, NAIVE,
              "the epilogue alone costs less than all messages");
    add_order(&found, r, "table4/lazy_error_helps", CB, CB_WITHOUT_LEP,
              "without lazy error propagation quality is lower");
    add_order(&found, r, "section5.1/lazy_error_helps_all", NAIVE_LEP, NAIVE,
              "the same with all messages compressed");
    add_divergence(&found, r, NAIVE, "without_lazy_error");
    add_divergence(&found, r, NAIVE_LEP, "with_lazy_error");
    add_figure9(&found, r);
    add_forward(&found, r);
    add_figure13(&found, r);
    add_observed(&found, r, CB, "epilogue");
    add_observed(&found, r, NAIVE_LEP, "all");
    return FR_OK;
}
