/** @file
 *  Which ranks are timed together.
 *
 *  - everyone;
 *  - groups: the first p ranks for every power of two p and for all of them, and, where there
 *    are several nodes, one rank of each of the first p nodes, for what the network alone does;
 *  - segments: all ranks, in disjoint communicators of p neighbours or of every g-th rank, as
 *    the tensor and the data groups of a mesh are;
 *  - pairs: n pairs within the first node, or between the first two.
 *  Rank 0 of the world is rank 0 of every team.
 */
#ifndef FR_CALIBRATE_MEASURE_HARNESS_TEAMS_H
#define FR_CALIBRATE_MEASURE_HARNESS_TEAMS_H

#include <mpi.h>
#include <stdbool.h>

#include "base/status.h"

enum { FR_TEAMS_MAX = 160 };

struct fr_device_group;

typedef enum { FR_TEAM_EVERYONE, FR_TEAM_GROUP, FR_TEAM_SEGMENTS, FR_TEAM_PAIRS } fr_team_kind;

struct fr_team {
    fr_team_kind kind;
    int level;    /**< FR_SAMPLE_NODE when no communicator leaves its node */
    int n_ranks;  /**< of one communicator */
    int n_nodes;  /**< that it sits on; segments: the first one */
    int n_groups; /**< communicators at once */
    int layout;   /**< of segments */
    int n_pairs;
    MPI_Comm sync; /**< all who are timed; MPI_COMM_NULL for outsiders */
    MPI_Comm call; /**< the collective's; pairs: sync */
    int rank;      /**< in call */
    int partner;   /**< pairs: rank in sync */
    bool first;    /**< pairs: sends first */
    struct fr_device_group
        *group; /**< of the call's ranks' devices; NULL: not opened, or outside */
};

struct fr_teams {
    int count;
    struct fr_team team[FR_TEAMS_MAX];
};

struct fr_bench;
/** Fill bench->teams; collective over the world. */
fr_status fr_teams_open(struct fr_bench *bench, struct fr_error *err);
void fr_teams_close(struct fr_teams *teams);

#endif
