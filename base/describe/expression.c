#include "base/describe/expression.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"

/* ---- values ---------------------------------------------------------------------------------- */

struct fr_term fr_term_number(double number) {
    return (struct fr_term){.kind = FR_TERM_NUMBER, .number = number};
}

struct fr_term fr_term_text(const char *text) {
    struct fr_term value = {.kind = FR_TERM_TEXT};
    snprintf(value.text, sizeof value.text, "%s", text);
    return value;
}

bool fr_leading_number(const char *text, double *number) {
    char *end = NULL;
    while (isspace((unsigned char)*text)) text++;
    if (!isdigit((unsigned char)*text) && *text != '.') return false;
    double value = strtod(text, &end);
    if (*end == 'k' && !isalpha((unsigned char)end[1])) value *= 1000;
    if (end == text || !isfinite(value)) return false;
    *number = value;
    return true;
}

double fr_term_as_number(const struct fr_term *value) {
    double number = NAN;
    if (value->kind == FR_TERM_NUMBER) return value->number;
    return value->kind == FR_TERM_TEXT && fr_leading_number(value->text, &number) ? number
                                                                                  : NAN;
}

bool fr_term_is_true(const struct fr_term *value) {
    return value->kind == FR_TERM_TEXT
               ? *value->text != '\0'
               : value->kind == FR_TERM_NUMBER && !isnan(value->number) && value->number != 0;
}

bool fr_text_mentions(const char *text, const char *word) {
    char plain[2][256];
    const char *from[2] = {text, word};
    for (int k = 0; k < 2; k++) {
        size_t n = 0;
        for (const char *c = from[k]; *c && n + 1 < sizeof plain[k]; c++)
            if (isalnum((unsigned char)*c)) plain[k][n++] = (char)tolower((unsigned char)*c);
        plain[k][n] = '\0';
    }
    return plain[1][0] && strstr(plain[0], plain[1]) != NULL;
}

/* ---- reading --------------------------------------------------------------------------------- */

struct parse {
    const char *at;
    const struct fr_meaning *scope;
    struct fr_error *err;
    fr_status status; /* of the first that went wrong: nothing is read after it */
    int depth;
};

enum { DEPTH_MAX = 64 };

static struct fr_term ternary(struct parse *p);

static const struct fr_term none = {.kind = FR_TERM_NONE};

static struct fr_term wrong(struct parse *p, const char *expected) {
    if (p->status == FR_OK)
        p->status = fr_fail(p->err, FR_ERR_INPUT, NULL, "expected %s at \"%.40s\"", expected,
                            *p->at ? p->at : "the end");
    p->at += strlen(p->at);
    return none;
}

static void blanks(struct parse *p) {
    while (isspace((unsigned char)*p->at)) p->at++;
}

static bool sign(struct parse *p, const char *what) {
    size_t n = strlen(what);
    blanks(p);
    if (strncmp(p->at, what, n) != 0) return false;
    p->at += n;
    return true;
}

static bool is_of_name(char c) { return isalnum((unsigned char)c) || c == '_' || c == '.'; }

static bool keyword(struct parse *p, const char *word) {
    const char *before = p->at;
    if (sign(p, word) && !is_of_name(*p->at)) return true;
    p->at = before;
    return false;
}

/* ---- functions of every description ---------------------------------------------------------- */

static struct fr_term numbers_of(const char *name, double x, double y, bool *known) {
    static const struct {
        const char *name;
        double (*of)(double);
    } one[] = {{"cbrt", cbrt}, {"sqrt", sqrt},   {"log", log},   {"log2", log2},
               {"exp", exp},   {"floor", floor}, {"ceil", ceil}, {"abs", fabs}};
    *known = true;
    for (size_t i = 0; i < sizeof one / sizeof *one; i++)
        if (strcmp(name, one[i].name) == 0) return fr_term_number(one[i].of(x));
    if (strcmp(name, "hypot") == 0) return fr_term_number(hypot(x, y));
    if (strcmp(name, "mod") == 0) return fr_term_number(fmod(x, y));
    if (strcmp(name, "min") == 0) return fr_term_number(fmin(x, y));
    if (strcmp(name, "max") == 0) return fr_term_number(fmax(x, y));
    if (strcmp(name, "finite") == 0) return fr_term_number(isfinite(x));
    *known = false;
    return none;
}

static struct fr_term whole(double x) {
    char text[32];
    if (!(x >= 1 && x <= 1e12) || x != floor(x)) return none;
    snprintf(text, sizeof text, "%.0f", x);
    return fr_term_text(text);
}

/* The first letters, or the n-th word. */
static struct fr_term piece_of(const char *text, int n, bool word) {
    struct fr_term piece = fr_term_text("");
    for (int i = 1; word && i < n; i++) {
        text += strcspn(text, " ");
        text += strspn(text, " ");
    }
    if (word) n = (int)strcspn(text, " ");
    snprintf(piece.text, sizeof piece.text, "%.*s", n > 0 ? n : 0, text);
    return word && !*piece.text ? none : piece;
}

/* pick and match: of pairs, and perhaps one behind them. */
static struct fr_term choose(const struct fr_term_argument *a, int n, bool mentioned) {
    for (int i = 1; i + 1 < n; i += 2)
        if (mentioned ? fr_text_mentions(a[0].value.text, a[i].value.text)
                      : strcmp(a[0].value.text, a[i].value.text) == 0)
            return a[i + 1].value;
    return n % 2 == 0 ? a[n - 1].value : none;
}

static bool usual(const char *name, const struct fr_term_argument *a, int n,
                  struct fr_term *out) {
    double x = n > 0 ? fr_term_as_number(&a[0].value) : NAN,
           y = n > 1 ? fr_term_as_number(&a[1].value) : NAN;
    bool known;
    if (n == 0) return false;
    if (strcmp(name, "first") == 0) {
        int i = 0;
        while (i < n - 1 && a[i].value.kind == FR_TERM_NONE) i++;
        *out = a[i].value;
    } else if (strcmp(name, "pick") == 0 || strcmp(name, "match") == 0)
        *out = choose(a, n, *name == 'm');
    else if (strcmp(name, "number") == 0)
        *out = isnan(x) ? none : fr_term_number(x);
    else if (strcmp(name, "positive") == 0)
        *out = x > 0 ? fr_term_number(x) : none;
    else if (strcmp(name, "whole") == 0)
        *out = whole(x);
    else if (n == 2 && (strcmp(name, "left") == 0 || strcmp(name, "word") == 0))
        *out = piece_of(a[0].value.text, y >= 0 && y < FR_TERM_TEXT_MAX ? (int)y : 0,
                        *name == 'w');
    else {
        *out = numbers_of(name, x, y, &known);
        return known;
    }
    return true;
}

/* ---- names, calls, words --------------------------------------------------------------------- */

static void argument(struct parse *p, struct fr_term_argument *a) {
    const char *before = p->at;
    size_t n = 0;
    *a->name = '\0';
    blanks(p);
    const char *from = p->at;
    while (is_of_name(p->at[n])) n++;
    p->at += n;
    if (n > 0 && n < sizeof a->name && sign(p, "=") && *p->at != '=')
        snprintf(a->name, sizeof a->name, "%.*s", (int)n, from);
    else
        p->at = before;
    a->value = ternary(p);
}

static struct fr_term call(struct parse *p, const char *name) {
    struct fr_term_argument *a =
        fr_malloc(FR_TERM_ARGUMENTS_MAX, sizeof *a); /* too many for the stack of a recursion */
    struct fr_term out = none;
    int n = 0;
    if (!a) p->status = fr_fail(p->err, FR_ERR_NOMEM, NULL, "out of memory");
    while (p->status == FR_OK && !sign(p, ")")) {
        if (n > 0 && !sign(p, ",")) wrong(p, ", or )");
        if (n == FR_TERM_ARGUMENTS_MAX) wrong(p, "no more arguments");
        if (p->status == FR_OK) argument(p, &a[n++]);
    }
    if (p->status == FR_OK && !usual(name, a, n, &out)) {
        p->status = p->scope->call ? p->scope->call(p->scope->context, name, a, n, &out, p->err)
                                   : FR_ERR_UNSUPPORTED;
        if (p->status == FR_ERR_UNSUPPORTED)
            p->status = fr_fail(p->err, FR_ERR_INPUT, NULL, "no function \"%.40s\"", name);
    }
    free(a);
    return out;
}

/* gain[3] is a name of its own. */
static void index_of(struct parse *p, char name[FR_TERM_NAME_MAX]) {
    while (p->status == FR_OK && *p->at == '[') {
        p->at++;
        struct fr_term of = ternary(p);
        size_t used = strlen(name);
        if (!sign(p, "]")) wrong(p, "]");
        if (of.kind == FR_TERM_NUMBER)
            fr_line_addf(name, FR_TERM_NAME_MAX, &used, "[%.12g]", of.number);
        else
            fr_line_addf(name, FR_TERM_NAME_MAX, &used, "[%s]", of.text);
        while (is_of_name(*p->at)) fr_line_addf(name, FR_TERM_NAME_MAX, &used, "%c", *p->at++);
    }
}

static struct fr_term look_up(struct parse *p, const char *name) {
    struct fr_term out = none;
    if (p->status != FR_OK) return none;
    p->status = p->scope->name(p->scope->context, name, &out, p->err);
    if (p->status == FR_ERR_UNSUPPORTED)
        p->status = fr_fail(p->err, FR_ERR_INPUT, NULL, "nothing is called \"%.60s\"", name);
    return out;
}

/* price(4).time_s is asked for as "#3.time_s", where the call is 3. */
static struct fr_term member(struct parse *p, struct fr_term of) {
    char name[FR_TERM_NAME_MAX];
    size_t n = 1, used = 0;
    if (p->status != FR_OK || *p->at != '.' || of.kind != FR_TERM_NUMBER) return of;
    while (is_of_name(p->at[n])) n++;
    fr_line_addf(name, sizeof name, &used, "#%.12g%.*s", of.number, (int)n, p->at);
    p->at += n;
    return look_up(p, name);
}

static struct fr_term named(struct parse *p) {
    char name[FR_TERM_NAME_MAX];
    size_t n = 0;
    while (is_of_name(p->at[n])) n++;
    snprintf(name, sizeof name, "%.*s", (int)n, p->at);
    p->at += n;
    if (*p->at == '(') return p->at++, member(p, call(p, name));
    index_of(p, name);
    return look_up(p, name);
}

static struct fr_term quoted(struct parse *p, char mark) {
    const char *end = strchr(p->at, mark);
    struct fr_term out = {.kind = FR_TERM_TEXT};
    char text[FR_TERM_TEXT_MAX];
    if (!end) return wrong(p, "an end of the text");
    snprintf(text, sizeof text, "%.*s", (int)(end - p->at), p->at);
    p->at = end + 1;
    if (mark == '\'') return fr_term_text(text);
    p->status = fr_template(text, p->scope, out.text, sizeof out.text, p->err);
    return out;
}

static struct fr_term primary(struct parse *p) {
    char *end = NULL;
    blanks(p);
    if (p->status != FR_OK) return none;
    if (p->depth > DEPTH_MAX) return wrong(p, "fewer parentheses");
    if (sign(p, "'")) return quoted(p, '\'');
    if (sign(p, "\"")) return quoted(p, '"');
    if (sign(p, "(")) {
        struct fr_term inner = ternary(p);
        return sign(p, ")") ? inner : wrong(p, ")");
    }
    if (isdigit((unsigned char)*p->at) || *p->at == '.') {
        double number = strtod(p->at, &end);
        if (end == p->at) return wrong(p, "a number");
        p->at = end;
        return fr_term_number(number);
    }
    return isalpha((unsigned char)*p->at) || *p->at == '_' ? named(p) : wrong(p, "a value");
}

/* ---- operators, from those that bind most ---------------------------------------------------- */

/* None where either is. */
static struct fr_term computed(char how, const struct fr_term *a, const struct fr_term *b) {
    double x = fr_term_as_number(a), y = fr_term_as_number(b);
    if (a->kind == FR_TERM_NONE || b->kind == FR_TERM_NONE) return none;
    switch (how) {
    case '+':
        return fr_term_number(x + y);
    case '-':
        return fr_term_number(x - y);
    case '*':
        return fr_term_number(x * y);
    case '/':
        return fr_term_number(x / y);
    default:
        return fr_term_number(pow(x, y));
    }
}

static struct fr_term unary(struct parse *p) {
    if (sign(p, "-")) {
        struct fr_term of = unary(p);
        return of.kind == FR_TERM_NONE ? none : fr_term_number(-fr_term_as_number(&of));
    }
    struct fr_term base = primary(p);
    if (!sign(p, "^")) return base;
    struct fr_term power = unary(p);
    return computed('^', &base, &power);
}

static struct fr_term product(struct parse *p) {
    struct fr_term left = unary(p);
    for (;;) {
        bool times = sign(p, "*");
        if (!times && !sign(p, "/")) return left;
        struct fr_term right = unary(p);
        left = computed(times ? '*' : '/', &left, &right);
    }
}

static struct fr_term sum(struct parse *p) {
    struct fr_term left = product(p);
    for (;;) {
        bool plus = sign(p, "+");
        if (!plus && !sign(p, "-")) return left;
        struct fr_term right = product(p);
        left = computed(plus ? '+' : '-', &left, &right);
    }
}

static bool is_number(const struct fr_term *value) {
    char *end = NULL;
    if (value->kind == FR_TERM_TEXT) (void)strtod(value->text, &end);
    return value->kind == FR_TERM_NUMBER || (end && end != value->text && !*end);
}

/* As numbers where both are, else by their letters; the same is the same text. */
static bool compare(int how, const struct fr_term *a, const struct fr_term *b) {
    double x = fr_term_as_number(a), y = fr_term_as_number(b);
    bool words = a->kind == FR_TERM_TEXT && b->kind == FR_TERM_TEXT;
    if (words && (how < 2 || !is_number(a) || !is_number(b))) {
        x = strcmp(a->text, b->text);
        y = 0;
    }
    switch (how) {
    case 0:
        return x == y;
    case 1:
        return x != y;
    case 2:
        return x <= y;
    case 3:
        return x >= y;
    case 4:
        return x < y;
    default:
        return x > y;
    }
}

static struct fr_term comparison(struct parse *p) {
    static const char *const signs[] = {"==", "!=", "<=", ">=", "<", ">"};
    struct fr_term left = sum(p);
    bool holds = keyword(p, "has"), starts = !holds && keyword(p, "starts");
    if (holds || starts) {
        struct fr_term right = sum(p);
        return fr_term_number(holds ? fr_text_mentions(left.text, right.text)
                                    : strncmp(left.text, right.text, strlen(right.text)) == 0);
    }
    for (int i = 0; i < 6; i++) {
        if (!sign(p, signs[i])) continue;
        struct fr_term right = sum(p);
        return fr_term_number(compare(i, &left, &right));
    }
    return left;
}

static struct fr_term negation(struct parse *p) {
    if (!keyword(p, "not")) return comparison(p);
    struct fr_term of = negation(p);
    return fr_term_number(!fr_term_is_true(&of));
}

static struct fr_term both(struct parse *p) {
    struct fr_term left = negation(p);
    while (keyword(p, "and")) {
        struct fr_term right = negation(p);
        left = fr_term_number(fr_term_is_true(&left) && fr_term_is_true(&right));
    }
    return left;
}

static struct fr_term either(struct parse *p) {
    struct fr_term left = both(p);
    while (keyword(p, "or")) {
        struct fr_term right = both(p);
        left = fr_term_number(fr_term_is_true(&left) || fr_term_is_true(&right));
    }
    return left;
}

static struct fr_term ternary(struct parse *p) {
    if (p->status != FR_OK) return none;
    p->depth++;
    struct fr_term value = either(p);
    if (keyword(p, "if")) {
        struct fr_term condition = either(p), other = none;
        if (keyword(p, "else")) other = ternary(p);
        if (!fr_term_is_true(&condition)) value = other;
    }
    p->depth--;
    return value;
}

fr_status fr_expression(const char *text, const struct fr_meaning *scope, struct fr_term *out,
                        struct fr_error *err) {
    struct parse p = {.at = text, .scope = scope, .err = err};
    *out = ternary(&p);
    blanks(&p);
    if (p.status == FR_OK && *p.at) wrong(&p, "an end");
    return p.status;
}

/* ---- templates ------------------------------------------------------------------------------- */

/* "%.3g" and its like: one number, nothing else. */
static bool is_format(const char *format) {
    size_t n = strspn(format + 1, "+-0123456789. ");
    return *format == '%' && n < 8 && format[n + 1] && strchr("efgEG", format[n + 1]) &&
           (!format[n + 2] || strcmp(format + n + 2, "%%") == 0);
}

#if defined(__GNUC__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
#endif
static void put_formatted(char *out, size_t capacity, size_t *used, const char *format,
                          double number) {
    fr_line_addf(out, capacity, used, format, number);
}
#if defined(__GNUC__)
#pragma GCC diagnostic pop
#endif

static fr_status put_value(const char *braced, const struct fr_meaning *scope, char *out,
                           size_t capacity, size_t *used, struct fr_error *err) {
    char text[FR_TERM_TEXT_MAX];
    struct fr_term value;
    snprintf(text, sizeof text, "%s", braced);
    char *colon = strstr(text, ":%");
    if (colon) *colon++ = '\0';
    if (colon && !is_format(colon))
        return fr_fail(err, FR_ERR_INPUT, NULL, "\"%.40s\" is no format; write e.g. %%.3g",
                       colon);
    FR_TRY(fr_expression(text, scope, &value, err));
    if (colon)
        put_formatted(out, capacity, used, colon, fr_term_as_number(&value));
    else if (value.kind == FR_TERM_NUMBER)
        fr_line_addf(out, capacity, used, "%.15g", value.number);
    else
        fr_line_addf(out, capacity, used, "%s", value.text);
    return FR_OK;
}

fr_status fr_template(const char *text, const struct fr_meaning *scope, char *out,
                      size_t capacity, struct fr_error *err) {
    size_t used = 0;
    if (capacity > 0) *out = '\0';
    while (*text) {
        char braced[FR_TERM_TEXT_MAX];
        size_t n = strcspn(text, "{");
        fr_line_addf(out, capacity, &used, "%.*s", (int)n, text);
        text += n;
        if (!*text) break;
        const char *end = strchr(text, '}');
        if (!end) return fr_fail(err, FR_ERR_INPUT, NULL, "\"%.40s\" has no }", text);
        snprintf(braced, sizeof braced, "%.*s", (int)(end - text - 1), text + 1);
        FR_TRY(put_value(braced, scope, out, capacity, &used, err));
        text = end + 1;
    }
    return FR_OK;
}
