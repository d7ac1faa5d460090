#include "answer/text/even.h"

#include <math.h>
#include <stdio.h>

#include "models/plan/growth.h"

const char *fr_even_number(double x, char *out, size_t capacity) {
    snprintf(out, capacity, fabs(x - 1) < 0.005 ? "%.4f" : "%.3g", x);
    return out;
}

void fr_even_say(const struct fr_outcome *out, struct fr_text *words) {
    if (!(out->break_even_iterations > 0)) return;
    char number[32];
    fr_text_addf(words, "wins if it needs less than %s times the iterations of %s",
                 fr_even_number(out->break_even_iterations, number, sizeof number),
                 out->break_even_from == FR_BREAK_EVEN_BEST ? "the best exact plan"
                                                            : "the same plan without loss");
}

const char *fr_even_cell(const struct fr_outcome *out, char *cell, size_t capacity) {
    char number[32];
    snprintf(cell, capacity, out->break_even_iterations > 0 ? "%sx" : "-",
             fr_even_number(out->break_even_iterations, number, sizeof number));
    return cell;
}

const char *fr_even_steps(const struct fr_outcome *outcome, char *out, size_t capacity) {
    const double half = fr_growth_half(outcome->iterations_deviation);
    if (!(outcome->iterations_deviation > 0)) return "";
    snprintf(out, capacity, " (90 %%: %.3g to %.3g)", outcome->iterations / half,
             outcome->iterations * half);
    return out;
}
