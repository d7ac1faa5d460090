#include "base/progress.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/text/readable.h"

static const double first_s = 1, again_s = 0.25;

static bool allowed;

void fr_progress_allow(void) { allowed = true; }

void fr_progress_begin(struct fr_progress *p, const char *what, int64_t total) {
    p->what = what;
    p->total = total;
    p->on = allowed && isatty(STDERR_FILENO) == 1;
    p->start_s = fr_now_s();
    p->shown_s = 0;
    atomic_init(&p->done, 0);
    atomic_flag_clear(&p->busy);
}

/* Time left, in what a person reads at a glance. */
static void put_left(double left_s, char *out, size_t capacity) {
    if (left_s < 120)
        snprintf(out, capacity, "%.0f s left", left_s);
    else
        snprintf(out, capacity, "%.0f min left", left_s / 60);
}

const char *fr_progress_points_text(const struct fr_progress_points *points, char *out,
                                    int capacity) {
    char visited[FR_READABLE], total[FR_READABLE], reached[FR_READABLE], left[40],
        sure[80] = "";
    put_left(points->left_s > 0 ? points->left_s : 0, left, sizeof left);
    if (points->half_width < 1) /* a simulation asks for none */
        snprintf(sure, sizeof sure, "%.3g %% reached by %s, ", 100 * points->half_width,
                 fr_readable_count(points->reached, reached));
    snprintf(out, (size_t)capacity, "%s of %s points, %s%s",
             fr_readable_count(points->visited, visited),
             fr_readable_count(points->total, total), sure, left);
    return out;
}

const char *fr_progress_text(const char *what, int64_t done, int64_t total, double elapsed_s,
                             char *out, int capacity) {
    double share = total > 0 ? (double)done / (double)total : 1;
    double left_s = share > 0 ? elapsed_s * (1 - share) / share : -1;
    char left[40];
    put_left(left_s, left, sizeof left);
    if (left_s < 0)
        snprintf(out, (size_t)capacity, "%s ...", what);
    else
        snprintf(out, (size_t)capacity, "%s %3.0f %%, %s", what, 100 * share, left);
    return out;
}

void fr_progress_add(struct fr_progress *p, int64_t steps) {
    int64_t done = atomic_fetch_add(&p->done, steps) + steps;
    char line[80];
    if (!p->on || atomic_flag_test_and_set(&p->busy)) return;
    double elapsed_s = fr_now_s() - p->start_s;
    if (elapsed_s >= first_s && elapsed_s >= p->shown_s + again_s) {
        p->shown_s = elapsed_s;
        fprintf(stderr, "\r%-60s",
                fr_progress_text(p->what, done, p->total, elapsed_s, line, sizeof line));
        fflush(stderr);
    }
    atomic_flag_clear(&p->busy);
}

void fr_progress_end(struct fr_progress *p) {
    if (p->on && p->shown_s > 0) fprintf(stderr, "\r%60s\r", "");
}
