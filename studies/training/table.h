/** @file
 *  A table of the accuracy report: runs of one kind, predicted by one procedure. */
#ifndef FR_STUDIES_TRAINING_TABLE_H
#define FR_STUDIES_TRAINING_TABLE_H

#include "studies/reproduce.h"
#include "trust/study.h"

/** Scores that a table must reach, and scores that it aims at; 0: nothing asked. */
struct fr_table_limits {
    double mean, median, worst, tau, regret_mean, regret_worst; /**< must */
    double aim_mean, aim_tau, aim_regret_mean;
    double covered_from, covered_to; /**< share of rows in their 90 % interval */
};

/** Requirement on every table's intervals. */
#define FR_TABLE_COVERED .covered_from = 0.8, .covered_to = 0.97

/** Runs selected from a file of the data folder. */
struct fr_table_set {
    struct fr_runs runs;
    const struct fr_run **use; /**< [n] */
    int n;
    char command
        [512]; /**< that scores these rows under presets as they are; "": there is none */
};

/** Read @p file below the data folder.  @return FR_OK; FR_ERR_IO where it is absent. */
fr_status fr_table_read(const char *file, struct fr_table_set *set, struct fr_error *err);
void fr_table_free(struct fr_table_set *set);

/** Facts that a row must state of its run to be used; NULL: any.  Never its name. */
struct fr_table_selection {
    const char *dtype, *sharded; /**< note.dtype, note.sharded: exactly */
    const char *experts;         /**< note.experts, likewise */
    const char *device;          /**< note.device holds it */
    const char *from_date;       /**< note.date is that or later */
};
void fr_table_keep(struct fr_table_set *set, const struct fr_table_selection *want);

/** A cluster preset, read.  Free with fr_cluster_free. */
fr_status fr_table_cluster(const char *preset, struct fr_cluster *cluster,
                           struct fr_error *err);
/** The same as @p software has it (NULL: the newest runtime). */
fr_status fr_table_cluster_of(const char *preset, const char *software,
                              struct fr_cluster *cluster, struct fr_error *err);

/** Add a row for each reason why rows of @p file were left out: how many. */
void fr_table_left_out(struct fr_reproduction *r, const char *file, const struct fr_runs *runs);

/** The runs that a table predicts, each once, and what the preset says of them before anything was
 *  fitted [s]. */
struct fr_table_of {
    const struct fr_run *const *runs;
    const double *alone_s;
    int n;
    const char
        *command; /**< that prints the mean error of the preset alone; NULL or "": none */
};

/** Fill @p alone_s[n]. */
void fr_table_alone(const struct fr_cluster *preset, const struct fr_run *const *runs, int n,
                    double *alone_s);

/** Add the rows of table @p name: each run (measured, predicted), then how many runs and plans there
 *  are, the scores, and the mean error of the preset alone.
 *  @param procedure  a sentence: what was fitted to what
 *  @param of         NULL: its rows are no training runs with plans
 *  @param n          predictions: some procedures predict a run more than once
 *  @param unit       of what is measured; NULL: the runs one by one are left out */
fr_status fr_table_add(struct fr_reproduction *r, const char *name, const char *procedure,
                       const struct fr_table_of *of, const struct fr_scored *scored, int n,
                       const struct fr_table_limits *limits, const char *unit,
                       struct fr_error *err);

/** Parallel plans among @p n runs: sets of the plan's keys, but for how many replicas and samples. */
int fr_table_plans(const struct fr_run *const *runs, int n);

#endif
