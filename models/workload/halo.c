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

struct fr_halo fr_halo_of(const struct fr_window *w, int64_t p, int64_t r) {
    const struct fr_rows own = fr_rows_of(w->height, p, r),
                         makes = fr_rows_of(fr_window_rows(w), p, r);
    const int64_t from = larger(makes.from * w->stride - w->padding, 0),
                  to = smaller((makes.to - 1) * w->stride - w->padding + w->kernel, w->height);
    if (makes.from >= makes.to || from >= to) return (struct fr_halo){0, 0};
    return (struct fr_halo){larger(own.from - from, 0), larger(to - own.to, 0)};
}

struct fr_halo fr_halo_most(const struct fr_window *w, int64_t p) {
    struct fr_halo most = {0, 0};
    for (int64_t r = 0; r < p; r++) {
        const struct fr_halo halo = fr_halo_of(w, p, r);
        most.above = larger(most.above, halo.above);
        most.below = larger(most.below, halo.below);
    }
    return most;
}

int64_t fr_halo_held(const struct fr_window *w, int64_t p) {
    int64_t most = 0;
    for (int64_t r = 0; r < p; r++) {
        const struct fr_rows own = fr_rows_of(w->height, p, r);
        const struct fr_halo halo = fr_halo_of(w, p, r);
        most = larger(most, own.to - own.from + halo.above + halo.below);
    }
    return most;
}

/* Has the rank above @p r as many rows as r reads of it, and the one below? */
static bool has_neighbours(const struct fr_window *w, int64_t p, int64_t r) {
    const struct fr_halo halo = fr_halo_of(w, p, r);
    const struct fr_rows above = fr_rows_of(w->height, p, r - 1),
                         below = fr_rows_of(w->height, p, r + 1);
    return (halo.above == 0 || halo.above <= above.to - above.from) &&
           (halo.below == 0 || halo.below <= below.to - below.from);
}

bool fr_halo_fits(const struct fr_window *w, int64_t p) {
    if (p > w->height || p > fr_window_rows(w)) return false;
    for (int64_t r = 0; r < p; r++)
        if (!has_neighbours(w, p, r)) return false;
    return true;
}
