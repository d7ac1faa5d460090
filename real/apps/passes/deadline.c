#include "real/apps/passes/deadline.h"

#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <time.h>

#include "base/clock.h"
#include "calibrate/measure/harness/mpi_try.h"

/* Hosts' clocks may disagree: what starting the job took is no more than all of its time. */
static double late_s(double budget_s, double since_s) {
    return since_s > 0 ? fmin(fmax(0, (double)time(NULL) - since_s), budget_s) : 0;
}

struct fr_deadline fr_deadline_begin(double budget_s, double since_s, int n_wanted) {
    double now_s = fr_now_s();
    return (struct fr_deadline){
        .start_s = now_s,
        .end_s = budget_s > 0 ? now_s + budget_s - late_s(budget_s, since_s) : HUGE_VAL,
        .share_s = HUGE_VAL,
        .until_s = HUGE_VAL,
        .shown_s = now_s,
        .n_wanted = n_wanted};
}

fr_status fr_deadline_visit(struct fr_deadline *d, int n_pass, bool *over,
                            struct fr_error *err) {
    *over = false;
    if (isfinite(d->end_s)) {
        double now_s = fr_now_s(), left_s = d->end_s - now_s;
        bool late = d->n_begun > 0 && left_s < 0;
        double stated[2] = {late, n_pass > 0 ? fmax(0, left_s) / n_pass : HUGE_VAL};
        FR_MPI_TRY(MPI_Bcast(stated, 2, MPI_DOUBLE, 0, MPI_COMM_WORLD));
        *over = stated[0] != 0;
        d->share_s = stated[1];
        d->until_s = fmin(d->end_s, now_s + d->share_s);
    }
    d->n_begun += !*over;
    return FR_OK;
}

fr_status fr_deadline_is_over(const struct fr_deadline *d, bool *over, struct fr_error *err) {
    int late = isfinite(d->until_s) && fr_now_s() > d->until_s;
    *over = false;
    if (!isfinite(d->end_s)) return FR_OK;
    FR_MPI_TRY(MPI_Bcast(&late, 1, MPI_INT, 0, MPI_COMM_WORLD));
    *over = late != 0;
    return FR_OK;
}

/* Time that the budget leaves, else the time of visits so far times the number left. */
static double left_s(const struct fr_deadline *d, double now_s) {
    if (isfinite(d->end_s)) return fmax(0, d->end_s - now_s);
    int ended = d->n_begun - 1;
    return ended > 0 ? (now_s - d->start_s) / ended * (d->n_wanted - ended) : NAN;
}

void fr_deadline_show(struct fr_deadline *d, const char *what, bool screen) {
    enum { A_MINUTE_S = 60, LEFT_MAX_S = 1000000 };
    double now_s = fr_now_s(), left = left_s(d, now_s);
    if (!screen && now_s - d->shown_s < A_MINUTE_S) return;
    d->shown_s = now_s;
    fprintf(stderr, "%sreal runs on %s, visit %d of %d", screen ? "\r" : "forerun-mpi: ", what,
            d->n_begun, d->n_wanted);
    if (left < LEFT_MAX_S)
        fprintf(stderr, ", %s%d:%02d left%s", isfinite(d->end_s) ? "" : "about ",
                (int)left / 60, (int)left % 60, isfinite(d->end_s) ? " at most" : "");
    fputs(screen ? "\033[K" : "\n", stderr);
}
