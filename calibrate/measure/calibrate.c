#include "calibrate/measure/calibrate.h"

#include <inttypes.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/journal/keep.h"
#include "calibrate/measure/watch/wire.h"
#include "calibrate/samples/repair.h"
#include "calibrate/samples/samples.h"

/* Until a job begins, which may wait in a queue; starting one takes a few seconds on any machine. */
static const double QUEUE_S = 60, START_S = 10;

enum { WORDS_MAX = 40, NUMBER_B = 48, NUMBERS_MAX = 12 };

struct words {
    const char *word[WORDS_MAX];
    int count;
    char number[NUMBERS_MAX][NUMBER_B];
    int n_numbers;
};

static void add_text(struct words *w, const char *option, const char *value) {
    if (!value) return;
    w->word[w->count++] = option;
    w->word[w->count++] = value;
}

static void add_flag(struct words *w, const char *option, bool wanted) {
    if (wanted) w->word[w->count++] = option;
}

static void add_number(struct words *w, const char *option, double value, const char *unit) {
    char *text = w->number[w->n_numbers++];
    snprintf(text, NUMBER_B, "%.17g%s", value, unit);
    add_text(w, option, text);
}

/* One launch of the job. */
static fr_status launch(const struct fr_calibrate_options *o, int64_t launches, bool resume,
                        double budget_s, double limit_s, struct fr_error *err) {
    struct words w = {.count = 0};
    bool simulated = o->launch.launcher && strncmp(o->launch.launcher, "smpi:", 5) == 0;
    w.word[w.count++] = "calibrate";
    add_text(&w, "--samples", o->samples);
    add_number(&w, "--launches", (double)launches, "");
    if (o->max_size_B > 0) add_number(&w, "--max-size", o->max_size_B, " B");
    if (o->seed >= 0) add_number(&w, "--seed", (double)o->seed, "");
    if (o->reps > 0) add_number(&w, "--reps", (double)o->reps, "");
    if (o->node_size > 0) add_number(&w, "--node-size", (double)o->node_size, "");
    if (o->patience_s > 0) add_number(&w, "--patience", o->patience_s, "");
    add_number(&w, "--budget", budget_s, "");
    add_number(&w, "--limit", limit_s, "");
    if (!simulated) add_number(&w, "--since", (double)time(NULL), "");
    add_text(&w, "--size", o->sizes);
    add_text(&w, "--groups", o->groups);
    add_text(&w, "--only", o->only);
    add_text(&w, "--meter", o->meter);
    add_text(&w, "--clocks", o->clocks);
    add_text(&w, "--device", o->device);
    add_flag(&w, "--quick", o->quick);
    add_flag(&w, "--resume", resume);
    add_flag(&w, "--force", o->force && !resume);
    add_flag(&w, "--progress", o->progress);
    w.word[w.count] = NULL;
    struct fr_launch_options how = o->launch;
    how.begins = simulated ? NULL : o->samples;
    how.patience_s = o->patience_s;
    how.start_s = o->patience_s > 0 ? fmax(o->patience_s, START_S) : QUEUE_S;
    how.busy_s = fr_patience_points_s(o->patience_s > 0 ? o->patience_s : FR_PATIENCE_S);
    return fr_launch_mpi(&how, w.word, err);
}

/* How many launches the file has brought to their end; none where it is empty, of one that was killed before its
 * first line. */
static fr_status count_ended(const char *path, int64_t *n_ended, struct fr_error *err) {
    struct fr_samples samples = {0};
    *n_ended = 0;
    if (fr_file_exists(path) && !fr_file_holds(path)) return FR_OK;
    fr_status status = fr_samples_read(path, &samples, err);
    for (size_t i = 0; i < samples.n_end; i++)
        *n_ended += samples.end[i].reason != FR_END_SIGNAL;
    fr_samples_free(&samples);
    return status;
}

/* A job that failed after it began has left its samples in the file. */
static bool measured_anything(const char *path) {
    struct fr_samples s = {0};
    bool any =
        fr_samples_read(path, &s, NULL) == FR_OK &&
        s.n_collective + s.n_gemm + s.n_memory + s.n_kernel + s.n_link + s.n_attention > 0;
    fr_samples_free(&s);
    return any;
}

static fr_status run(const struct fr_calibrate_options *o, struct fr_error *err) {
    enum { USUAL = 3, LEAST_S = 3 };
    const char *launcher = o->launch.launcher;
    bool once = launcher && (strncmp(launcher, "smpi:", 5) == 0 || fr_launch_inside_mpi());
    once =
        once || o->device; /* a GPU has its buffers and no neighbours whose places are drawn */
    int64_t launches = o->launches > 0 ? o->launches : once ? 1 : USUAL, first = 0;
    double budget_s = o->budget_s > 0 ? o->budget_s : o->quick ? 15 : 60;
    if (o->resume) FR_TRY(count_ended(o->samples, &first, err));
    /* Ranks of a job that is already running cannot start it again. */
    int64_t last = fr_launch_inside_mpi() && first < launches ? first + 1 : launches;
    double end_s = fr_now_s() + budget_s;
    for (int64_t i = first; i < last; i++) {
        double left_s = end_s - fr_now_s(), share_s = left_s / (double)(last - i);
        if (o->launches == 0 && i > first && left_s < LEAST_S) break; /* --resume adds them */
        fr_status status = launch(o, launches, o->resume || i > first, fmax(share_s, 0.1),
                                  fmax(left_s, 0.1), err);
        if (status == FR_ERR_EXTERNAL && measured_anything(o->samples))
            status = fr_fail(err, FR_ERR_PARTIAL, o->samples,
                             "the job ended early; what was measured is kept here, and "
                             "--resume goes on");
        FR_TRY(status);
    }
    return FR_OK;
}

fr_status fr_calibrate_run(const struct fr_calibrate_options *o, struct fr_error *err) {
    struct fr_keep keep;
    /* Ranks of a running job ask when all are there: by now the file may be a faster rank's. */
    if (fr_launch_inside_mpi()) {
        FR_TRY(fr_file_check_writable(o->samples, err));
        return run(o, err);
    }
    FR_TRY(fr_keep_measurements(o->samples, o->resume, o->force, err));
    int64_t n_ended = 0; /* of a file that is not there none is made */
    if (o->resume && !fr_file_holds(o->samples)) FR_TRY(count_ended(o->samples, &n_ended, err));
    fr_status status = fr_keep_hold(o->samples, o->resume, o->force, &keep, err);
    bool replaced = false;
    if (status == FR_OK && o->resume) status = fr_samples_repair(o->samples, &replaced, err);
    if (status == FR_OK && replaced) status = fr_keep_hold_again(&keep, err);
    if (status == FR_OK) status = run(o, err);
    fr_keep_release(&keep);
    return status;
}
