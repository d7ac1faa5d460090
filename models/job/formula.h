/** @file
 *  A size that a plan's mesh decides: what a runtime says where a framework reckons a value, "max(40e6, 1e6 dp cp)".
 *
 *      formula  product | max(formula, formula, ...) | min(formula, formula, ...)
 *      product  a number, dp, cp or a formula in brackets, one or more, side by side or with * between */
#ifndef FR_MODELS_JOB_FORMULA_H
#define FR_MODELS_JOB_FORMULA_H

#include "models/plan/plan.h"

enum { FR_FORMULA_STEPS = 32 };

struct fr_formula {
    int n; /**< steps, each after what it works on; 0: no formula */
    struct {
        char
            what; /**< n: a number, d: dp, c: cp, *: product, >: the larger of two, <: the smaller */
        double number;
    } step[FR_FORMULA_STEPS];
};

/** Is @p text meant as one, and not as a number with or without a unit? */
bool fr_formula_is(const char *text);
/** @return FR_OK; FR_ERR_INPUT with what was expected, and before what. */
fr_status fr_formula_read(const char *text, struct fr_formula *formula, struct fr_error *err);
double fr_formula_value(const struct fr_formula *formula, const struct fr_plan *plan);

#endif
