/** @file
 *  Which point is measured next, and until when.
 *
 *  Rank 0 decides.  First every point once, in steps: what decides most (both ends and one point of
 *  each decade, of each operation), then what refines it, in random order within a step; cut
 *  anywhere it leaves what can be fitted; points that the launches share out are in the end visited once more
 *  by another than theirs, so that no state of the machine at one moment decides them alone.  Then round after round the points whose medians are
 *  least certain, in random order again, until all are known well enough or the time is up; so a
 *  short budget goes where it helps most.  Only step 0 of the first launch may take more than that
 *  launch's share of the budget; only what nothing can be fitted without more than all of it, and that no
 *  longer than a fifth or ten seconds beyond.  Between two visits all ranks
 *  meet in one non-blocking reduction that brings what comes next to all and a request to stop
 *  from any; who has no part in a visit sleeps there.  Before a visit, as often as takes a fiftieth of
 *  the time, all ranks time a probe (probe.h): how fast the machine is just then.
 */
#ifndef FR_CALIBRATE_MEASURE_HARNESS_VISITS_H
#define FR_CALIBRATE_MEASURE_HARNESS_VISITS_H

#include "calibrate/measure/harness/bench.h"
#include "calibrate/measure/harness/probe.h"

/** What rank 0 knows of a point. */
struct fr_tally {
    double *time_s; /**< of this launch, in the order taken */
    int *rep;       /**< [n], the repetition of each */
    int n, capacity, last_rep;
    bool done;         /**< in this launch, or not this launch's to measure */
    bool second;       /**< another launch's to measure: visited once, when all else is */
    double half_width; /**< relative; 1e9 unknown */
};

struct fr_visits {
    struct fr_bench *bench;
    struct fr_sampling how;
    struct fr_tally *tally; /**< [n_points], on rank 0 */
    int *queue, n_queued, at;
    bool first_pass;
    uint64_t random;
    double start_s, end_s, limit_s, shown_s;
    struct fr_probe probe;
    double probed_s, probe_s; /**< when the last one ended, and how long it took */
    int n_probes;
    int n_done, n_user_plans, n_unconverged; /**< points of this launch */
};

fr_status fr_visits_open(struct fr_bench *bench, struct fr_visits *visits,
                         struct fr_error *err);
/** Visit points until done.  @return FR_OK, or FR_ERR_PARTIAL when asked to stop. */
fr_status fr_visits_run(struct fr_visits *visits, int *end_reason, struct fr_error *err);
void fr_visits_close(struct fr_visits *visits);

/* record.c: lines of the file, on rank 0. */
fr_status fr_record_samples(struct fr_visits *visits, int point, const double *time_s, int n,
                            struct fr_error *err);
/** The point's sampling has ended in this launch. */
fr_status fr_record_point(struct fr_visits *visits, int point, bool converged,
                          struct fr_error *err);
fr_status fr_record_probe(struct fr_visits *visits, double product_s, double stream_s,
                          struct fr_error *err);
fr_status fr_record_end(struct fr_visits *visits, int reason, struct fr_error *err);
/** Keep a sample in the tally.  @return FR_OK or FR_ERR_NOMEM. */
fr_status fr_tally_add(struct fr_tally *tally, int rep, double time_s);

/* resume.c */
/** Rank 0: read what the file already holds of this launch into the tallies. */
fr_status fr_resume_load(struct fr_visits *visits, struct fr_error *err);
/** A digest of the environment that a file is measured in: the question of its header. */
uint64_t fr_resume_question(const struct fr_bench *bench);
/** Rank 0: check that the file was measured in this environment, cut off a half line, and find
 *  which launch is next: bench->launch, or bench->options.n_launches when all are done.
 *  @return FR_OK; FR_ERR_INPUT naming what differs. */
fr_status fr_resume_check(struct fr_bench *bench, struct fr_error *err);

#endif
