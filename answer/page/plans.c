#include "answer/page/plans.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "answer/page/table.h"
#include "models/plan/key.h"

enum { HOUR_S = 3600, DAY_S = 86400, KWH_J = 3600000, ROWS_MAX = 8, POINTS_MAX = 400 };

/* Where results have their plans: lists of outcomes, or of rows that have one.  A list inside another: "a.b". */
static const struct {
    const char *kind, *list[2], *names[3];
} holders[] = {
    {"search", {"top", "pareto"}, {NULL}},
    {"clusters", {"rows", NULL}, {"cluster", "model", NULL}},
    {"compare-plans", {"plans", NULL}, {"name", NULL}},
    {"compare-runtimes", {"comparisons.rows", NULL}, {"runtime", NULL}},
};
enum { HOLDERS = sizeof holders / sizeof *holders };

static const char *const alone[] = {"outcome", "explain", "training", "simulation", NULL};

struct fr_json fr_page_plan_of(const struct fr_json *root) {
    struct fr_json best = fr_json_member(root, "best"), own = fr_json_member(root, "outcome");
    return fr_json_is_object(&own) ? own : fr_json_is_object(&best) ? best : *root;
}

/* The plan in a line; "" where it is no plan of ours. */
static void spell(const struct fr_json *outcome, char *out, size_t capacity) {
    struct fr_json object = fr_json_member(outcome, "plan");
    struct fr_plan plan = fr_plan_default();
    struct fr_plan_lists lists = {0};
    *out = '\0';
    if (fr_json_is_object(&object) &&
        fr_plan_read_object(&object, &plan, &lists, NULL) == FR_OK)
        fr_plan_line(&plan, 0, out, capacity);
    fr_plan_lists_free(&lists);
}

struct visit {
    fr_page_plan_fn *see;
    void *context;
    const struct fr_json *root;
    int holder;
};

/* A plan of the front that is among the best, too. */
static bool is_repeated(const struct visit *v, const struct fr_json *outcome, int list) {
    struct fr_json first = fr_json_member(v->root, holders[v->holder].list[0]);
    double time_s = fr_json_number_at(outcome, "iteration_time_s"),
           energy_J = fr_json_number_at(outcome, "iteration_energy_J");
    for (int64_t i = 0; list > 0 && i < fr_json_array_length(&first) && i < POINTS_MAX; i++) {
        struct fr_json other = fr_json_element(&first, i);
        double other_J = fr_json_number_at(&other, "iteration_energy_J");
        if (fr_json_number_at(&other, "iteration_time_s") == time_s &&
            (other_J == energy_J || (isnan(other_J) && isnan(energy_J))))
            return true;
    }
    return false;
}

static void visit_row(const struct visit *v, const struct fr_json *row) {
    struct fr_json inner = fr_json_member(row, "outcome");
    const struct fr_json *outcome = fr_json_is_object(&inner) ? &inner : row;
    char line[FR_PLAN_LINE], name[FR_PAGE_NAME];
    size_t used = 0;
    *name = '\0';
    for (int i = 0; holders[v->holder].names[i]; i++) {
        const char *word = fr_json_text_at(row, holders[v->holder].names[i]);
        fr_line_addf(name, 200, &used, "%s%s", i && *word ? ", " : "", word);
    }
    spell(outcome, line, sizeof line);
    fr_line_addf(name, sizeof name, &used, "%s%s", used && *line ? ": " : "", line);
    if (fr_json_number_at(outcome, "iteration_time_s") > 0) v->see(outcome, name, v->context);
}

static void visit_list(const struct visit *v, const struct fr_json *object, const char *path,
                       int which) {
    char key[40];
    const char *dot = strchr(path, '.');
    snprintf(key, sizeof key, "%.*s", (int)strcspn(path, "."), path);
    struct fr_json list = fr_json_member(object, key);
    for (int64_t i = 0; i < fr_json_array_length(&list) && i < POINTS_MAX; i++) {
        struct fr_json row = fr_json_element(&list, i);
        if (dot)
            visit_list(v, &row, dot + 1, which);
        else if (!is_repeated(v, &row, which))
            visit_row(v, &row);
    }
}

void fr_page_each_plan(const struct fr_json *root, const char *kind, fr_page_plan_fn *see,
                       void *context) {
    char line[FR_PLAN_LINE];
    for (int h = 0; h < HOLDERS; h++)
        for (int i = 0; strcmp(holders[h].kind, kind) == 0 && i < 2; i++) {
            const struct visit v = {see, context, root, h};
            if (holders[h].list[i]) visit_list(&v, root, holders[h].list[i], i);
        }
    for (int i = 0; alone[i]; i++) {
        struct fr_json outcome = fr_page_plan_of(root);
        if (strcmp(alone[i], kind) != 0) continue;
        if (!(fr_json_number_at(&outcome, "iteration_time_s") > 0)) continue;
        spell(&outcome, line, sizeof line);
        see(&outcome, line, context);
    }
}

/* ---- costs of a training ----------------------------------------------------------------------- */

/* First values of the sliders: those of the command, else those that the page says it
 * assumes. */
struct rates {
    double amount, price, carbon_kg; /* tokens or samples; a GPU hour; a kWh */
    double goodput;
    bool amount_given, price_given, carbon_given, tokens;
    char currency[16];
};

struct costs {
    struct rates rates;
    struct fr_json_writer w;
    struct fr_text rows, data;
    int n;
};

static double given_or(double value, double otherwise, bool *given) {
    *given = isfinite(value) && value > 0;
    return *given ? value : otherwise;
}

static struct rates rates_of(const struct fr_json *root, bool tokens) {
    const double AMOUNT = tokens ? 1e12 : 1e9, PRICE = 2.5, CARBON_KG = 0.4;
    struct rates r = {.goodput = 1, .tokens = tokens};
    struct fr_json rows = fr_json_member(root, "rows"), first = fr_json_element(&rows, 0);
    const struct fr_json *holder = fr_json_present(&first) ? &first : root;
    struct fr_json training = fr_json_member(holder, "training"),
                   failures = fr_json_member(&training, "failures");
    bool stated = false;
    r.amount = given_or(fr_json_number_at(&training, tokens ? "tokens" : "samples"), AMOUNT,
                        &r.amount_given);
    r.price = given_or(fr_json_number_at(&training, "price") /
                           fr_json_number_at(&training, "device_hours"),
                       PRICE, &r.price_given);
    r.carbon_kg = given_or(fr_json_number_at(&training, "carbon_kg") /
                               fr_json_number_at(&training, "energy_kWh"),
                           CARBON_KG, &r.carbon_given);
    r.goodput = given_or(fr_json_number_at(&failures, "goodput"), 1, &stated);
    snprintf(r.currency, sizeof r.currency, "%.15s", fr_json_text_at(&training, "currency"));
    if (!*r.currency) snprintf(r.currency, sizeof r.currency, "USD");
    return r;
}

const char *fr_page_amount(double amount, char out[32]) {
    static const struct {
        double factor;
        const char *letter;
    } of[] = {{1e12, "T"}, {1e9, "B"}, {1e6, "M"}, {1, ""}};
    int i = 0;
    while (i < 3 && !(amount >= of[i].factor * (1 - 1e-9))) i++;
    snprintf(out, 32, "%.4g%s", amount / of[i].factor, of[i].letter);
    return out;
}

static void put_cell(double value, int decimals, struct fr_text *html) {
    char text[FR_PAGE_NUMBER];
    if (isfinite(value))
        fr_html_addf(html, "{td[data-v=\"%.9g\"] %s}", value,
                     fr_page_number(value, decimals, text));
    else
        fr_html_addf(html, "{td -}");
}

/* How much more than the slider says a GPU hour (or a kWh) of this row's own cluster costs. */
static double own_factor(const struct fr_json *training, const char *of, const char *each,
                         double slider) {
    double own = fr_json_number_at(training, of) / fr_json_number_at(training, each);
    return own > 0 && slider > 0 && isfinite(own) ? own / slider : 1;
}

static void add_plan(const struct fr_json *outcome, const char *name, void *context) {
    struct costs *c = context;
    const struct fr_json *row = outcome->parent ? outcome->parent : outcome;
    struct fr_json training = fr_json_member(row, "training");
    double price = own_factor(&training, "price", "device_hours", c->rates.price),
           carbon = own_factor(&training, "carbon_kg", "energy_kWh", c->rates.carbon_kg);
    double step_s = fr_json_number_at(outcome, "iteration_time_s"),
           step_J = fr_json_number_at(outcome, "iteration_energy_J"),
           ranks = fr_json_number_at(outcome, "ranks"),
           rate =
               fr_json_number_at(outcome, c->rates.tokens ? "tokens_per_s" : "samples_per_s");
    if (!(step_s * rate > 0)) return;
    double a_step = nearbyint(step_s * rate),
           steps = ceil(c->rates.amount / a_step * (1 - 1e-12)),
           time_s = steps * step_s / c->rates.goodput,
           kWh = steps * step_J / c->rates.goodput / KWH_J, hours = ranks * time_s / HOUR_S;
    fr_json_begin_array(&c->w);
    fr_json_put_string(&c->w, name);
    fr_json_put_number(&c->w, step_s);
    fr_json_put_number(&c->w, step_J);
    fr_json_put_number(&c->w, ranks);
    fr_json_put_number(&c->w, a_step);
    fr_json_put_number(&c->w, price);
    fr_json_put_number(&c->w, carbon);
    fr_json_end_array(&c->w);
    if (c->n++ >= ROWS_MAX) return;
    fr_html_addf(&c->rows, "{tr {td.l %s}", name);
    put_cell(time_s / DAY_S, 1, &c->rows);
    put_cell(hours, 0, &c->rows);
    put_cell(hours * c->rates.price * price, 0, &c->rows);
    put_cell(kWh, 0, &c->rows);
    put_cell(kWh * c->rates.carbon_kg * carbon / 1000, 1, &c->rows);
    fr_html_addf(&c->rows, "{/tr}\n");
}

/* A slider; those of amounts move by powers of ten. */
static void put_slider(const char *name, const char *label, double value, double least,
                       double most, double step, bool given, struct fr_text *html) {
    bool powers = strcmp(name, "amount") == 0;
    char text[32];
    if (powers)
        fr_page_amount(value, text);
    else
        snprintf(text, sizeof text, "%.3g", value);
    fr_html_addf(html, "{label %s {output %s", label, text);
    fr_html_addf(html,
                 "{/output}%s{input[type=range name=%s min=\"%g\" max=\"%g\" "
                 "step=\"%g\" value=\"%.6f\" data-v=\"%.17g\"]}{/label}\n",
                 given ? "" : " (assumed)", name, least, most, step,
                 powers ? log10(value) : value, value);
}

void fr_page_costs(struct fr_page *page, const struct fr_json *root, const char *kind) {
    struct fr_json plan = fr_page_plan_of(root);
    struct fr_text *html = &page->html;
    struct costs c = {.n = 0};
    struct fr_json rows = fr_json_member(root, "rows"), first = fr_json_element(&rows, 0),
                   of_first = fr_json_member(&first, "outcome");
    const struct fr_json *likely = fr_json_is_object(&of_first) ? &of_first : &plan;
    c.rates = rates_of(root, !(fr_json_number_at(likely, "samples_per_s") > 0) ||
                                 fr_json_number_at(likely, "tokens_per_s") > 0);
    const struct rates *r = &c.rates;
    c.w = (struct fr_json_writer){.text = &c.data};
    fr_json_begin_array(&c.w);
    fr_page_each_plan(root, kind, add_plan, &c);
    fr_json_end_array(&c.w);
    if (c.n > 0) {
        fr_html_addf(html,
                     "{h2 Days, money and CO2}\n{div.costs[data-plans=\"%s\" "
                     "data-goodput=\"%.17g\" data-currency=\"%s\"] \n{p.note Move a "
                     "slider: the table and the figure change with it.}\n",
                     fr_text_get(&c.data), r->goodput, r->currency);
        put_slider("amount", r->tokens ? "tokens" : "samples", r->amount, r->tokens ? 9 : 6,
                   r->tokens ? 14 : 12, 0.01, r->amount_given, html);
        put_slider("price", "price of a GPU hour", r->price, 0, fmax(10, 2 * r->price), 0.05,
                   r->price_given, html);
        put_slider("energy", "price of a kWh", 0, 0, 1, 0.01, true, html);
        put_slider("carbon", "kg of CO2 a kWh", r->carbon_kg, 0, fmax(1, 2 * r->carbon_kg),
                   0.01, r->carbon_given, html);
        fr_page_rows_begin((const char *const[]){"plan", "days", "GPU hours", r->currency,
                                                 "kWh", "t CO2", NULL},
                           1, html);
        fr_text_add(html, c.rows.data, c.rows.length);
        fr_page_rows_end(html);
        if (c.n > ROWS_MAX)
            fr_html_addf(html, "{p.note The first %d of %d plans.}\n", ROWS_MAX, c.n);
        fr_html_addf(html, "{/div}\n");
    }
    html->failed = html->failed || c.rows.failed || c.data.failed;
    fr_text_free(&c.rows), fr_text_free(&c.data);
}
