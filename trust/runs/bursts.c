#include "trust/runs/bursts.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "trust/numbers/statistics.h"

/* Readings of one burst lie closer than this, and than a fourth of the wait for the next. */
static const double WITHIN_S = 0.25, WAIT_RATIO = 4;
enum { BURSTS_MIN = 3 };

/* The length of all bursts but the first and the last, which may be cut; 0: they differ. */
static int length_of(const double *time_s, int n, double within_s, int *bursts) {
    int length = 0, from = 0;
    *bursts = 0;
    for (int i = 1; i <= n; i++) {
        if (i < n && time_s[i] >= time_s[i - 1] && time_s[i] - time_s[i - 1] <= within_s)
            continue;
        bool first = from == 0, last = i == n;
        int here = i - from;
        ++*bursts;
        from = i;
        if (first || last) {
            if (length && here > length) return 0;
            if (last && first) return here;
            if (first) length = -here; /* of the first: at most what the others have */
            continue;
        }
        if (length < 0) length = -length > here ? 0 : here;
        if (here != length) return 0;
    }
    return length < 0 ? -length : length;
}

static void number(const double *time_s, int n, double within_s, int devices, int *device) {
    int from = 0;
    for (int i = 1; i <= n; i++) {
        if (i < n && time_s[i] >= time_s[i - 1] && time_s[i] - time_s[i - 1] <= within_s)
            continue;
        for (int k = from; k < i; k++) device[k] = from == 0 && i < devices ? -1 : k - from;
        from = i;
    }
}

int fr_bursts(const double *time_s, int n, int *device) {
    int bursts = 0, best = 0;
    double best_s = 0, best_ratio = 0;
    bool same = false;
    for (int i = 0; i < n; i++) {
        if (!isfinite(time_s[i])) return 0;
        same |= i > 0 && time_s[i] == time_s[i - 1];
        device[i] = 0;
    }
    if (n <= 1) return n;
    double *gap_s = fr_malloc((size_t)n, sizeof *gap_s);
    if (!gap_s) return -1;
    for (int i = 0; i + 1 < n; i++) gap_s[i] = fmax(0, time_s[i + 1] - time_s[i]);
    fr_sort(gap_s, (size_t)n - 1);
    if (same) best = length_of(time_s, n, 0, &bursts);
    for (int i = 0; i + 2 < n && best < 2; i++) {
        double ratio = gap_s[i + 1] / fmax(gap_s[i], 1e-9);
        if (gap_s[i] > WITHIN_S || ratio < WAIT_RATIO || ratio <= best_ratio) continue;
        int length = length_of(time_s, n, gap_s[i], &bursts);
        if (length < 2 || bursts < BURSTS_MIN) continue;
        best_ratio = ratio;
        best_s = gap_s[i];
        best = -length;
    }
    free(gap_s);
    best = abs(best);
    if (best < 2) return same ? 0 : 1;
    number(time_s, n, best_s, best, device);
    return best;
}
