#include "models/workload/halo.h"

struct fr_rows fr_rows_of(int64_t height, int64_t p, int64_t r) {
    return (struct fr_rows){r * height / p, (r + 1) * height / p};
}

static int64_t made(const struct fr_window *w, int64_t size) {
    return (size + 2 * w->padding - w->kernel) / w->stride + 1;
}

int64_t fr_window_rows(const struct fr_window *w) { return made(w, w->height); }

int64_t fr_window_columns(const struct fr_window *w) { return made(w, w->width); }

static int64_t larger(int64_t a, int64_t b) { return a > b ? a : b; }
static int64_t smaller(int64_t a, int64_t b) { return a < b ? a : b; }

/* Rows of @p needed, cut to those that there are, outside of @p own. */
static struct fr_halo outside(struct fr_rows own, struct fr_rows needed, int64_t height) {
    needed.from = larger(needed.from, 0);
    needed.to = smaller(needed.to, height);
    if (needed.from >= needed.to) return (struct fr_halo){0, 0};
    return (struct fr_halo){larger(own.from - needed.from, 0), larger(needed.to - own.to, 0)};
}

struct fr_halo fr_halo_forward(const struct fr_window *w, int64_t p, int64_t r) {
    const struct fr_rows own = fr_rows_of(w->height, p, r),
                         makes = fr_rows_of(fr_window_rows(w), p, r);
    const struct fr_rows reads = {makes.from * w->stride - w->padding,
                                  (makes.to - 1) * w->stride - w->padding + w->kernel};
    if (makes.from >= makes.to) return (struct fr_halo){0, 0};
    return outside(own, reads, w->height);
}

/* a / b, rounded up; b is positive. */
static int64_t ceiling(int64_t a, int64_t b) { return a > 0 ? (a + b - 1) / b : -(-a / b); }

struct fr_halo fr_halo_backward(const struct fr_window *w, int64_t p, int64_t r) {
    const int64_t rows = fr_window_rows(w);
    const struct fr_rows own = fr_rows_of(rows, p, r), image = fr_rows_of(w->height, p, r);
    const struct fr_rows readers = {ceiling(image.from + w->padding - w->kernel + 1, w->stride),
                                    (image.to - 1 + w->padding) / w->stride + 1};
    if (image.from >= image.to) return (struct fr_halo){0, 0};
    return outside(own, readers, rows);
}

struct fr_halo_most fr_halo_most(const struct fr_window *w, int64_t p) {
    struct fr_halo_most most = {.held = 0};
    for (int64_t r = 0; r < p; r++) {
        const struct fr_rows own = fr_rows_of(w->height, p, r);
        const struct fr_halo ahead = fr_halo_forward(w, p, r), back = fr_halo_backward(w, p, r);
        most.forward.above = larger(most.forward.above, ahead.above);
        most.forward.below = larger(most.forward.below, ahead.below);
        most.backward.above = larger(most.backward.above, back.above);
        most.backward.below = larger(most.backward.below, back.below);
        most.held = larger(most.held, own.to - own.from + ahead.above + ahead.below);
    }
    return most;
}

/* Has the rank above @p r so many rows, and the one below? */
static bool near(struct fr_halo halo, int64_t height, int64_t p, int64_t r) {
    const struct fr_rows above = fr_rows_of(height, p, r - 1),
                         below = fr_rows_of(height, p, r + 1);
    return (halo.above == 0 || halo.above <= above.to - above.from) &&
           (halo.below == 0 || halo.below <= below.to - below.from);
}

bool fr_halo_fits(const struct fr_window *w, int64_t p) {
    const int64_t rows = fr_window_rows(w);
    if (p > w->height || p > rows) return false;
    for (int64_t r = 0; r < p; r++)
        if (!near(fr_halo_forward(w, p, r), w->height, p, r) ||
            !near(fr_halo_backward(w, p, r), rows, p, r))
            return false;
    return true;
}
