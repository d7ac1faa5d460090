#include "models/job/formula.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- reading --------------------------------------------------------------------------------------- */

enum { DEEPEST = 8 };

struct reader {
    const char *at;
    int depth;
    struct fr_formula *formula;
    struct fr_error *err;
};

static fr_status formula_read(struct reader *r);

static void skip(struct reader *r) { r->at += strspn(r->at, " \t"); }

static fr_status expected(const struct reader *r, const char *what) {
    return *r->at ? fr_fail(r->err, FR_ERR_INPUT, "formula", "expected %s before \"%.20s\"",
                            what, r->at)
                  : fr_fail(r->err, FR_ERR_INPUT, "formula", "expected %s at its end", what);
}

static fr_status add(struct reader *r, char what, double number) {
    if (r->formula->n == FR_FORMULA_STEPS)
        return fr_fail(r->err, FR_ERR_INPUT, "formula", "has more than %d parts",
                       FR_FORMULA_STEPS);
    r->formula->step[r->formula->n].what = what;
    r->formula->step[r->formula->n++].number = number;
    return FR_OK;
}

/* The word, which ends where no letter or digit follows. */
static bool take_word(struct reader *r, const char *word) {
    size_t length = strlen(word);
    if (strncmp(r->at, word, length) != 0 || isalnum((unsigned char)r->at[length]))
        return false;
    r->at += length;
    skip(r);
    return true;
}

static bool take_mark(struct reader *r, char mark) {
    if (*r->at != mark) return false;
    r->at++;
    skip(r);
    return true;
}

static fr_status read_number(struct reader *r) {
    static const char digits[] = "0123456789";
    char *end = NULL;
    size_t whole = strspn(r->at, digits);
    double number = strtod(r->at, &end);
    /* strtod reads hexadecimal numbers too, from "0x" on. */
    if (r->at[whole] == 'x' || !isfinite(number) || isalpha((unsigned char)*end))
        return expected(r, "a decimal number");
    r->at = end;
    skip(r);
    return add(r, 'n', number);
}

/* The rest of max(a, b, ...), which is the larger of a and b, and of that and what follows. */
static fr_status read_list(struct reader *r, char what) {
    if (!take_mark(r, '(')) return expected(r, "(");
    FR_TRY(formula_read(r));
    if (*r->at != ',') return expected(r, ", and another value");
    while (take_mark(r, ',')) {
        FR_TRY(formula_read(r));
        FR_TRY(add(r, what, 0));
    }
    return take_mark(r, ')') ? FR_OK : expected(r, ", or )");
}

static bool begins_factor(const struct reader *r) {
    return isalnum((unsigned char)*r->at) || *r->at == '(' || *r->at == '.';
}

static fr_status read_factor(struct reader *r) {
    if (isdigit((unsigned char)*r->at) || *r->at == '.') return read_number(r);
    if (take_word(r, "dp")) return add(r, 'd', 0);
    if (take_word(r, "cp")) return add(r, 'c', 0);
    if (take_word(r, "max")) return read_list(r, '>');
    if (take_word(r, "min")) return read_list(r, '<');
    if (!take_mark(r, '(')) return expected(r, "a number, dp, cp, max(...), min(...) or (");
    FR_TRY(formula_read(r));
    return take_mark(r, ')') ? FR_OK : expected(r, ")");
}

static fr_status formula_read(struct reader *r) {
    if (++r->depth > DEEPEST)
        return fr_fail(r->err, FR_ERR_INPUT, "formula", "has more than %d brackets in turn",
                       DEEPEST);
    FR_TRY(read_factor(r));
    while (take_mark(r, '*') || begins_factor(r)) {
        FR_TRY(read_factor(r));
        FR_TRY(add(r, '*', 0));
    }
    r->depth--;
    return FR_OK;
}

bool fr_formula_is(const char *text) {
    return strstr(text, "dp") || strstr(text, "cp") || strchr(text, '(');
}

fr_status fr_formula_read(const char *text, struct fr_formula *formula, struct fr_error *err) {
    struct reader r = {.at = text, .formula = formula, .err = err};
    *formula = (struct fr_formula){0};
    skip(&r);
    FR_TRY(formula_read(&r));
    return *r.at ? expected(&r, "its end") : FR_OK;
}

/* ---- reckoning -------------------------------------------------------------------------------------- */

double fr_formula_value(const struct fr_formula *formula, const struct fr_plan *plan) {
    double stack[FR_FORMULA_STEPS + 1] = {0}; /* its first is never taken */
    int top = 0;
    for (int i = 0; i < formula->n; i++) {
        double number = formula->step[i].number, last = stack[top];
        char what = formula->step[i].what;
        if (what == 'n' || what == 'd' || what == 'c') {
            stack[++top] = what == 'n'   ? number
                           : what == 'd' ? (double)plan->dp
                                         : (double)plan->cp;
            continue;
        }
        top--;
        stack[top] = what == '*'   ? stack[top] * last
                     : what == '>' ? fmax(stack[top], last)
                                   : fmin(stack[top], last);
    }
    return stack[top];
}
