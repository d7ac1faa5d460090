#include "trust/numbers/least_squares.h"

#include <math.h>

enum { MAX = FR_LEAST_SQUARES_MAX };

void fr_least_squares_add(struct fr_least_squares *s, const double *x, double y) {
    double row[MAX] = {0};
    for (int j = 0; j < s->columns; j++) row[j] = x[j];
    for (int k = 0; k < s->columns; k++) {
        double length = hypot(s->r[k][k], row[k]);
        if (length == 0) continue;
        double cosine = s->r[k][k] / length, sine = row[k] / length, q = s->q[k];
        for (int j = k; j < s->columns; j++) {
            double above = s->r[k][j];
            s->r[k][j] = cosine * above + sine * row[j];
            row[j] = cosine * row[j] - sine * above;
        }
        s->q[k] = cosine * q + sine * y;
        y = cosine * y - sine * q;
    }
    s->squares += y * y;
}

bool fr_least_squares_solve(const struct fr_least_squares *s, double tolerance, double *c) {
    double solved[MAX];
    for (int k = s->columns - 1; k >= 0; k--) {
        double length = 0, left = s->q[k];
        for (int i = 0; i <= k; i++) length = hypot(length, s->r[i][k]);
        if (!(fabs(s->r[k][k]) > tolerance * length)) return false;
        for (int j = k + 1; j < s->columns; j++) left -= s->r[k][j] * solved[j];
        solved[k] = left / s->r[k][k];
    }
    for (int k = 0; k < s->columns; k++) c[k] = solved[k];
    return true;
}
