/* One operation: its curves, both forms, how well each does, and which is kept. */
#include <math.h>
#include <stdlib.h>

#include "calibrate/fit_parts.h"
#include "calibrate/statistics.h"

static bool same_curve(const struct fr_fit_point *a, const struct fr_fit_point *b) {
    return a->level == b->level && a->n_ranks == b->n_ranks;
}

static fr_status make_curves(struct fr_fit_op *op) {
    op->curves = calloc((size_t)op->n_points, sizeof *op->curves);
    if (!op->curves) return FR_ERR_NOMEM;
    for (int i = 0; i < op->n_points; i++) {
        if (i == 0 || !same_curve(&op->points[i], &op->points[i - 1]))
            op->curves[op->n_curves++].points = &op->points[i];
        op->curves[op->n_curves - 1].n_points++;
    }
    for (int i = 0; i < op->n_curves; i++) {
        struct fr_fit_curve *curve = &op->curves[i];
        FR_TRY(fr_fit_segments(curve->points, curve->n_points, -1, &curve->fit));
    }
    return FR_OK;
}

/* Predictions of one form for @p points: of @p log if it is given, otherwise of @p curve. */
static void predict(const struct fr_fit_point *points, int n, const struct fr_fit_log *log,
                    const struct fr_segment_fit *fit, double *predicted_s) {
    for (int i = 0; i < n; i++)
        predicted_s[i] = log ? fr_fit_log_time_s(log, points[i].n_ranks, points[i].size_B)
                             : fr_fit_segments_time_s(fit, points[i].size_B);
}

static fr_status judge_log(const struct fr_fit_op *op, struct fr_fit_log *log,
                           const double *measured_s, double *scratch_s) {
    if (!log->present) return FR_OK;
    predict(op->points, op->n_points, log, NULL, scratch_s);
    return fr_fit_measure(scratch_s, measured_s, op->n_points, &log->quality);
}

static fr_status judge_curve(const struct fr_fit_op *op, struct fr_fit_curve *curve,
                             const double *measured_s, double *scratch_s) {
    const struct fr_fit_log *logs[] = {&op->log, &op->log_ordinary};
    struct fr_fit_quality *qualities[] = {&curve->log, &curve->log_ordinary};
    int n = curve->n_points;
    predict(curve->points, n, NULL, &curve->fit, scratch_s);
    FR_TRY(fr_fit_measure(scratch_s, measured_s, n, &curve->segments));
    for (int i = 0; i < 2; i++) {
        if (!logs[i]->present) continue;
        predict(curve->points, n, logs[i], NULL, scratch_s);
        FR_TRY(fr_fit_measure(scratch_s, measured_s, n, qualities[i]));
    }
    return FR_OK;
}

/* Measured and predicted times in one allocation of 2 n. */
static fr_status judge_all(struct fr_fit_op *op, double *measured_s, double *scratch_s) {
    for (int i = 0; i < op->n_points; i++) measured_s[i] = op->points[i].time_s;
    FR_TRY(judge_log(op, &op->log, measured_s, scratch_s));
    FR_TRY(judge_log(op, &op->log_ordinary, measured_s, scratch_s));
    for (int i = 0; i < op->n_curves; i++) {
        struct fr_fit_curve *curve = &op->curves[i];
        FR_TRY(judge_curve(op, curve, measured_s + (curve->points - op->points), scratch_s));
    }
    for (int i = 0, at = 0; i < op->n_curves; at += op->curves[i++].n_points)
        predict(op->curves[i].points, op->curves[i].n_points, NULL, &op->curves[i].fit,
                scratch_s + at);
    return fr_fit_measure(scratch_s, measured_s, op->n_points, &op->segments);
}

static fr_status left_out_segments(const struct fr_fit_curve *curve, int i, double *error) {
    struct fr_segment_fit fit;
    fr_status status = fr_fit_segments(curve->points, curve->n_points, i, &fit);
    if (status == FR_OK)
        *error = fabs(fr_fit_segments_time_s(&fit, curve->points[i].size_B) /
                          curve->points[i].time_s -
                      1);
    free(fit.segments);
    return status;
}

static fr_status left_out_log(const struct fr_fit_op *op, int i, double *error) {
    struct fr_fit_log log;
    const struct fr_fit_point *point = &op->points[i];
    FR_TRY(fr_fit_log_form(op->points, op->n_points, true, i, &log));
    double time_s = fr_fit_log_time_s(&log, point->n_ranks, point->size_B);
    *error = log.present ? fabs(time_s / point->time_s - 1) : HUGE_VAL;
    return FR_OK;
}

/* Each size inside a curve is left out in turn and predicted from the others; the ends are
 * not, since that would be extrapolation. */
static fr_status leave_out(struct fr_fit_op *op, double *log_errors, double *segment_errors) {
    size_t n = 0;
    for (int c = 0; c < op->n_curves; c++) {
        const struct fr_fit_curve *curve = &op->curves[c];
        for (int i = 1; i + 1 < curve->n_points; i++, n++) {
            FR_TRY(left_out_segments(curve, i, &segment_errors[n]));
            FR_TRY(left_out_log(op, (int)(curve->points - op->points) + i, &log_errors[n]));
        }
    }
    op->left_out_log = op->left_out_segments = -1;
    if (n == 0) return FR_OK;
    fr_sort(log_errors, n);
    fr_sort(segment_errors, n);
    op->left_out_segments = fr_sorted_median(segment_errors, n);
    if (op->log.present) op->left_out_log = fr_sorted_median(log_errors, n);
    return FR_OK;
}

fr_status fr_fit_operation(struct fr_fit_op *op, fr_fit_form form) {
    double *scratch = calloc(2 * (size_t)op->n_points, sizeof *scratch);
    fr_status status = scratch ? make_curves(op) : FR_ERR_NOMEM;
    if (status == FR_OK) status = fr_fit_log_form(op->points, op->n_points, true, -1, &op->log);
    if (status == FR_OK)
        status = fr_fit_log_form(op->points, op->n_points, false, -1, &op->log_ordinary);
    if (status == FR_OK) status = judge_all(op, scratch, scratch + op->n_points);
    if (status == FR_OK) status = leave_out(op, scratch, scratch + op->n_points);
    free(scratch);
    bool log_better = op->left_out_log >= 0 && op->left_out_log < op->left_out_segments;
    op->use_log =
        op->log.present && (form == FR_FIT_LOG || (form == FR_FIT_BEST && log_better));
    return status;
}

void fr_fit_operation_free(struct fr_fit_op *op) {
    for (int i = 0; i < op->n_curves; i++) free(op->curves[i].fit.segments);
    free(op->curves);
    *op = (struct fr_fit_op){0};
}
