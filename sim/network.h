/** @file
 *  How long the tasks of a program take on a network.
 *
 *  A program says who does what after what; a network says when.  Work other than messages takes
 *  its class's time everywhere; networks differ in what messages do to each other.
 *
 *  To add one: sim/network/<name>.c exporting fr_network_<name>, row FR_NETWORK(<name>) in
 *  sim/network_list.h.
 */
#ifndef FR_SIM_NETWORK_H
#define FR_SIM_NETWORK_H

#include "sim/program.h"

/** Where the ranks of a program sit.  Rank r of the program stands for tp x dp replicas that do
 *  the same at the same time; replica (t, d) of it is rank (d n_ranks + r) tp + t of the plan. */
struct fr_network_rank_map {
    int64_t tp, dp;      /**< >= 1 */
    const int64_t *slot; /**< slot of each rank of the plan, or NULL: rank i in slot i */
};

/** A program with all that a network may ask. */
struct fr_network_work {
    const struct fr_cluster *cluster;
    const struct fr_program *program;
    const double *class_B; /**< class_B[n_classes]: bytes a message carries one way; else 0 */
    const double
        *class_gathered_B; /**< [n_classes]: of a rank's buffer in a collective; else 0 */
    const double
        *class_W;     /**< [n_classes]: power its work draws above waiting; NULL: not known */
    double waiting_W; /**< of a rank that does no work, where power is known */
    struct fr_network_rank_map rank_map;
};

struct fr_network {
    const char *name;
    const char *summary;
    const char *source;
    const char *engine; /**< that runs the program: of outcomes */
    /** Prepare what several runs of the same work share; NULL: nothing.
     *  @return FR_OK, or why this network cannot run the work. */
    fr_status (*open)(const struct fr_network_work *work, void **state, struct fr_error *err);
    void (*close)(void *state); /**< NULL with open */
    /** Run @p work, a task of class c taking class_s[c] when nothing else is under way.
     *  @param[out] start_s, end_s  [n_tasks]; of a message, from when it could start
     *  @param[out] makespan_s      end of the last task; 0 for an empty program */
    fr_status (*run)(const struct fr_network_work *work, void *state, const double *class_s,
                     double *start_s, double *end_s, double *makespan_s, struct fr_error *err);
    /** Energy of all replicas in the last run by the network's own account [J]; NULL: it keeps none. */
    double (*energy_J)(void *state);
    /** Wall-clock time another engine took for the last run, reading and writing left out [s]; NULL:
     *  it runs here. */
    double (*wall_s)(void *state);
};

/** Rows that others name. */
extern const struct fr_network fr_network_isolated, fr_network_shared, fr_network_fair,
    fr_network_simgrid;
/** Rows in table order, then NULL; and their names likewise. */
extern const struct fr_network *const fr_networks[];
extern const char *const fr_network_names[];

#endif
