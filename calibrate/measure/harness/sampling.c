#include "calibrate/measure/harness/sampling.h"

#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "trust/numbers/statistics.h"

enum { FEW = 6 };
static const double SHORTEST_S = 1e-9; /* no call is shorter; keeps quotients finite */

/* @p n samples of @p calls calls each, the same on all ranks.
 * @param wall_s  NULL; or gets how long that took, barriers and what interrupts included */
static fr_status take(const struct fr_sampling_comm *who, fr_sampled *run, void *context,
                      int calls, int n, double *time_s, double *wall_s, struct fr_error *err) {
    double own[2 * FR_VISIT_MAX + 1], all[2 * FR_VISIT_MAX + 1], begin_s = fr_now_s();
    bool by_node = who->node != MPI_COMM_NULL;
    for (int i = 0; i < n; i++) {
        FR_TRY(fr_mpi_barrier(who->comm, err));
        if (who->stopped_s) *who->stopped_s = 0;
        double start_s = fr_now_s();
        FR_TRY(run(context, calls, err));
        double stop_s = fr_now_s();
        if (who->stopped_s && *who->stopped_s > 0) stop_s = *who->stopped_s;
        own[2 * i] = by_node ? -start_s : 0;
        own[2 * i + 1] = by_node ? stop_s : stop_s - start_s;
    }
    if (by_node) {
        FR_MPI_TRY(MPI_Allreduce(own, all, 2 * n, MPI_DOUBLE, MPI_MAX, who->node));
        for (int i = 0; i < n; i++) {
            own[2 * i + 1] = all[2 * i] + all[2 * i + 1];
            own[2 * i] = 0;
        }
    }
    own[2 * n] = fr_now_s() - begin_s;
    FR_MPI_TRY(MPI_Reduce(own, all, 2 * n + 1, MPI_DOUBLE, MPI_MAX, 0, who->comm));
    FR_MPI_TRY(MPI_Bcast(all, 2 * n + 1, MPI_DOUBLE, 0, who->comm));
    if (wall_s) *wall_s = all[2 * n];
    for (int i = 0; i < n; i++) time_s[i] = fmax(all[2 * i + 1] / calls, SHORTEST_S);
    return FR_OK;
}

static double median_of(const double *time_s, int n) {
    double sorted[FR_VISIT_MAX];
    memcpy(sorted, time_s, (size_t)n * sizeof *sorted);
    fr_sort(sorted, (size_t)n);
    return fr_sorted_median(sorted, (size_t)n);
}

/* One call, then, where it is short, a few: the first may fault pages in or connect. */
static fr_status find_calls(const struct fr_sampling_comm *who, const struct fr_sampling *how,
                            fr_sampled *run, void *context, struct fr_pace *pace,
                            struct fr_error *err) {
    enum { TRIAL = 4, CALLS_MAX = 1000000 };
    double once_s = 0;
    FR_TRY(take(who, run, context, 1, 1, &once_s, NULL, err));
    pace->n_warm = 1;
    if (once_s < how->call_s) {
        FR_TRY(take(who, run, context, TRIAL, 1, &once_s, NULL, err));
        pace->n_warm++;
    }
    pace->calls = (int)fmin(fmax(1, ceil(how->call_s / once_s)), CALLS_MAX);
    pace->once_s = once_s;
    return FR_OK;
}

fr_status fr_sampling_warm_up(const struct fr_sampling_comm *who, const struct fr_sampling *how,
                              fr_sampled *run, void *context, struct fr_pace *pace,
                              struct fr_error *err) {
    double time_s[FR_WINDOW], before_s = 0, spent_s = 0, wall_s = 0;
    FR_TRY(find_calls(who, how, run, context, pace, err));
    pace->drift = 1e9;
    for (int window = 0; window < how->max_windows; window++) {
        if (window > 0 && spent_s > how->warm_s) break;
        /* A slow thing gets the windows that its time allows, down to single runs. */
        double sample_s = pace->once_s * pace->calls;
        int n = (int)fmin(fmax(1, how->warm_s / sample_s / 2), FR_WINDOW);
        FR_TRY(take(who, run, context, pace->calls, n, time_s, &wall_s, err));
        pace->n_warm += n;
        pace->once_s = median_of(time_s, n);
        spent_s += wall_s;
        if (window > 0) pace->drift = fabs(pace->once_s / before_s - 1);
        if (pace->drift < how->drift) break;
        before_s = pace->once_s;
    }
    return FR_OK;
}

fr_status fr_sampling_visit(const struct fr_sampling_comm *who, const struct fr_sampling *how,
                            fr_sampled *run, void *context, const struct fr_pace *pace,
                            double time_s[FR_VISIT_MAX], int *n, struct fr_error *err) {
    double warm_s = 0, wall_s = 0;
    FR_TRY(take(who, run, context, pace->calls, 1, &warm_s, &wall_s, err));
    int wanted = how->visit_n < FR_VISIT_MAX ? how->visit_n : FR_VISIT_MAX;
    /* On a busy machine each sample has turns of the scheduler around it; but it takes a few
     * for one of them to be uninterrupted. */
    int few = wanted < FEW ? wanted : FEW;
    *n = (int)fmin(fmax(1, how->visit_s / (warm_s * pace->calls)), wanted);
    if (*n > few) *n = (int)fmin(fmax(few, how->visit_s / wall_s), *n);
    return take(who, run, context, pace->calls, *n, time_s, NULL, err);
}

fr_sampling_verdict fr_sampling_judge(const struct fr_sampling *how, double *time_s, int n,
                                      double *half_width) {
    *half_width = 1e9;
    if (n == 0) return FR_SAMPLING_GO_ON;
    fr_sort(time_s, (size_t)n);
    *half_width = fr_sorted_median_uncertainty(time_s, (size_t)n, how->confidence);
    if (n >= how->min_n && *half_width < how->half_width) return FR_SAMPLING_CONVERGED;
    return n >= how->max_n ? FR_SAMPLING_UNCONVERGED : FR_SAMPLING_GO_ON;
}
