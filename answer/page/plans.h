/** @file
 *  Which plans does a result hold, and what does a whole training cost with each?
 *
 *  Days, money and CO2 follow from one step, as in answer/predict/training.h:
 *
 *      steps   n = ceil(N / B)             N tokens of the training, B tokens a step (samples where a model has none)
 *      time    n T / g                     T time of a step, g goodput
 *      money   ranks n T / g  p + energy  q     p price of a GPU hour, q price of a kWh
 *      CO2     n E / g  c                  E energy of a step, c kg a kWh
 *
 *  The page computes them again as its reader moves the sliders for N, p, q and c. */
#ifndef FR_ANSWER_PAGE_PLANS_H
#define FR_ANSWER_PAGE_PLANS_H

#include "answer/page/page.h"

enum { FR_PAGE_NAME = 900 };

/** Called with the outcome of a plan and its name: "dgx-h100: tensor tp 8 x dp 8". */
typedef void fr_page_plan_fn(const struct fr_json *outcome, const char *name, void *context);

/** Every plan of a result of @p kind ("search", "outcome", ...), in order; none where the kind has no plans.
 *  A search's plan that stands in both of its lists comes once. */
void fr_page_each_plan(const struct fr_json *root, const char *kind, fr_page_plan_fn *see,
                       void *context);

/** The plan that a result is about: a search's best, a simulation's, or the document itself. */
struct fr_json fr_page_plan_of(const struct fr_json *root);

/** An amount of tokens or samples as --tokens takes it: "1T", "300B", "4.5M".  @return @p out */
const char *fr_page_amount(double amount, char out[32]);

/** Sliders, and a row of days, money and CO2 for each plan. */
void fr_page_costs(struct fr_page *page, const struct fr_json *root, const char *kind);

#endif
