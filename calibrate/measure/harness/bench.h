/** @file
 *  The harness: what the machine does, measured by all ranks of an MPI job at once.
 *
 *  A benchmark is a row that plans points (a collective at one size, a product of one shape) and
 *  runs one of them.  One place decides for all how often, in which order and until when (visits.h,
 *  sampling.h).  Every point is timed by a team of ranks (teams.h); rank 0 is in every team,
 *  decides what comes next, and alone writes.
 *
 *  To add one: calibrate/measure/harness/bench/<name>.c exporting fr_bench_<name>, and a row
 *  FR_BENCH(<name>) in calibrate/measure/harness/bench_list.h.
 */
#ifndef FR_CALIBRATE_MEASURE_HARNESS_BENCH_H
#define FR_CALIBRATE_MEASURE_HARNESS_BENCH_H

#include "base/clock.h"
#include "calibrate/measure/device/device.h"
#include "calibrate/measure/harness/sampling.h"
#include "calibrate/measure/harness/teams.h"
#include "calibrate/samples/samples.h"

struct fr_bench_options {
    const char *samples; /**< file to write */
    double max_size_B;   /**< largest message */
    bool max_stated;     /**< by the user, so that nothing goes beyond */
    int64_t *sizes;      /**< message sizes, instead of the usual ones; or NULL */
    size_t n_sizes;
    int64_t *groups; /**< collectives over these rank counts only; or NULL */
    size_t n_groups;
    const char *only; /**< rows to run, separated by commas; NULL: all */
    bool quick;       /**< fewer shapes and shorter warm-ups */
    uint64_t seed;
    int reps;        /**< at most, per point and launch */
    double budget_s; /**< of this launch */
    double limit_s;  /**< of all launches from now on; 0: budget_s */
    double since_s;  /**< seconds since 1970 from which both count; 0: from the first point */
    int n_launches;  /**< that there are to be in the file */
    bool resume;     /**< go on with the file instead of starting it anew */
    bool force;      /**< start it anew even if it holds something */
    bool progress;   /**< rank 0 says on stderr what it does */
    int node_size;   /**< ranks that count as a node; 0: ask MPI which share memory */
    bool watch;      /**< notice ranks that die or hang */
    double patience_s;
    const char *meter;  /**< row of the power meters; NULL: the first that works */
    const char *clocks; /**< row of the knobs; NULL: no clock is set */
    const char *device; /**< row of the device drivers; NULL: processors */
};

struct fr_bench_row;

/** Step of points without which nothing can be fitted: measured even beyond the budget. */
enum { FR_STEP_NEEDED = -1 };

/** One thing to measure.  Rows use the members that they need. */
struct fr_point {
    const struct fr_bench_row *row;
    const struct fr_team *team;
    int count; /**< floats of a message */
    fr_dtype dtype;
    int m, n, k, batch;
    fr_transposed transposed;
    bool blocks; /**< scales of a product's blocks */
    struct fr_sample_attention attention;
    struct fr_device_choice choice; /**< of a collective, noted with its samples */
    int part;
    int step; /**< of the first pass: FR_STEP_NEEDED, 0 what decides most, and on; visits.h */
    struct fr_pace pace;
};

struct fr_bench {
    MPI_Comm world, node; /**< errors are returned on both */
    int rank, n_ranks;
    int node_rank, n_node_ranks;
    int *node_of; /**< [n_ranks], numbered from 0 in order of their first rank */
    int n_nodes;
    struct fr_bench_options options;
    struct fr_provenance provenance;
    int fd; /**< rank 0: the samples; elsewhere -1 */
    int launch;
    struct fr_teams teams;
    double *size_B; /**< messages to measure, ascending */
    int n_sizes;
    float *send,
        *recv; /**< as large as the largest message of any rank count; recv also as those beyond */
    /** Collectives go one after the other through the first `capacity` floats of both buffers.  So
     *  a message is as far from the processor as in a step, where other data have evicted it. */
    size_t capacity, turn;
    struct fr_point *points;
    int n_points, points_capacity;
    void **state;                          /**< [rows], each row's own */
    const struct fr_device_driver *driver; /**< NULL: processors are measured */
    struct fr_device_handle *device;       /**< this rank's */
    const struct fr_point *prepared;       /**< what the device is ready for */
    bool refused;                          /**< a rank has no device; all know why */
    bool no_groups; /**< devices exchange no messages here; rank 0 has said why */
};

/** Data of a row's run and call. */
struct fr_work {
    struct fr_bench *bench;
    const struct fr_point *point;
    void *state;
    float *send, *recv; /**< of a collective's call: its turn of the bench's */
    double stopped_s;   /**< set by a run that goes on after what it times is done */
};

struct fr_bench_row {
    const char *name;     /**< for --only and messages */
    const char *measures; /**< a line */
    const char *feeds;    /**< what in the cluster file comes from it */
    double call_s;        /**< a sample repeats the call until it lasts so long; 0: one call */
    double share;         /**< of the time of a call that is the result; 0 means 1 */
    bool by_node;         /**< timed from a node's first start to its last stop */
    bool shared_out; /**< each launch measures a part of the points of late steps, not all */
    int step;        /**< added to its points' */
    bool needs_processor;                    /**< makes no sense in a simulation */
    bool on_device;                          /**< of a device: in place of all others */
    fr_op op;                                /**< collectives */
    bool divided;                            /**< the message is p equal parts */
    bool pair_only;                          /**< between two ranks */
    int (*call)(const struct fr_work *work); /**< one collective; an MPI error code */

    /** Get what the row needs; NULL: nothing. */
    fr_status (*open)(struct fr_bench *bench, void **state, struct fr_error *err);
    void (*close)(void *state);
    /** Add the points, the same on all ranks. */
    fr_status (*plan)(struct fr_bench *bench, const struct fr_bench_row *row,
                      struct fr_error *err);
    /** Append the head of the point's samples (calibrate/samples/samples.h). */
    void (*head)(const struct fr_bench *bench, const struct fr_point *point,
                 struct fr_text *text);
    /** Context: struct fr_work. */
    fr_sampled *run;
    /** Points ask this of the device (fr_bench_device_run_task), which is busy with it for heat_s before the first
     *  sample. */
    struct fr_device_task (*task)(const struct fr_point *point);
    double heat_s;
    /** Instead of points: measure and record on its own, at the end of a launch. */
    fr_status (*measure)(struct fr_bench *bench, struct fr_error *err);
};

/** Rows that others name. */
extern const struct fr_bench_row fr_bench_all_reduce;
/** Rows in table order, then NULL. */
extern const struct fr_bench_row *const fr_bench_rows[];
int fr_bench_n_rows(void);
/** Does --only name it, and does it make sense here? */
bool fr_bench_wanted(const struct fr_bench *bench, const struct fr_bench_row *row);

/** Find out who is where and what this machine is, open or create the samples, plan. */
fr_status fr_bench_open(const struct fr_bench_options *options, struct fr_bench *bench,
                        struct fr_error *err);
/** Measure everything.  @return FR_OK; FR_ERR_PARTIAL when asked to stop. */
fr_status fr_bench_run(struct fr_bench *bench, struct fr_error *err);
void fr_bench_close(struct fr_bench *bench);

/** Fill bench->provenance; collective over bench->world. */
fr_status fr_bench_describe(struct fr_bench *bench, struct fr_error *err);

/** Add a point.  @return FR_OK or FR_ERR_NOMEM. */
fr_status fr_bench_add(struct fr_bench *bench, const struct fr_point *point,
                       struct fr_error *err);
/** Does --groups name it, or is there none? */
bool fr_bench_group_wanted(const struct fr_bench *bench, int n_ranks);
/** bench->size_B: powers of two from 8 B, and log-uniform ones between, by the seed alone. */
fr_status fr_bench_sizes(struct fr_bench *bench, struct fr_error *err);
/** Floats of a message of @p size_B, rounded up to whole parts where it is divided over p. */
int fr_bench_count(double size_B, bool divided, int n_ranks);

/* The parts that all collectives share, as designated initialisers of their rows. */
fr_status fr_bench_collective_plan(struct fr_bench *bench, const struct fr_bench_row *row,
                                   struct fr_error *err);
void fr_bench_collective_head(const struct fr_bench *bench, const struct fr_point *point,
                              struct fr_text *text);
fr_sampled fr_bench_collective_run;
/** The same @p calls of another row's collective on the point's team. */
fr_status fr_bench_collective_calls(struct fr_work *work, const struct fr_bench_row *row,
                                    int calls, struct fr_error *err);
/** Plan two more sizes for sums in place, which gradients are: up to four times the usual largest
 *  message.  None where the user chose what is measured, or where a sixteenth of a node's memory
 *  does not hold them. */
fr_status fr_bench_plan_beyond(struct fr_bench *bench, const struct fr_bench_row *row,
                               struct fr_error *err);
/** The largest of them [B]; 0: none. */
double fr_bench_beyond_B(const struct fr_bench *bench);
/** The row whose call carries out @p op. */
const struct fr_bench_row *fr_bench_row_of(fr_op op);

/** C = A B, row-major, m x k by k x n, with one of them stored transposed or none; operand set @p i of
 *  @p pool. */
void fr_bench_multiply(void *pool, fr_dtype dtype, int m, int n, int k, int i,
                       fr_transposed transposed);
/** C += A B in fp32, B stored transposed: a weight gradient. */
void fr_bench_add_product(void *pool, int m, int n, int k, int i);
/** Bytes of one operand set: A, B and C, to whole cache lines. */
size_t fr_bench_operands_B(fr_dtype dtype, int m, int n, int k);
enum { FR_BENCH_POOL_B = 64 << 20 }; /**< what the largest product of a table needs */
/** Operands of zeroes, @p size_B; NULL where memory is short. */
void *fr_bench_pool(size_t size_B);

/** Step of a product's dimension 2^i, i = 1 .. @p last: the ends and the middle, then what halves
 *  the gaps between, so that the points of the first few steps are a full grid. */
int fr_bench_dimension_step(int i, int last);

/** Open this rank's device, if one was asked for, and check that all ranks have one of a kind, each its own.  Collective.
 *  @return FR_OK; else the same error on all ranks, with bench->refused. */
fr_status fr_bench_device_open(struct fr_bench *bench, struct fr_error *err);
void fr_bench_device_close(struct fr_bench *bench);
/** Add the point unless some rank's device cannot do @p task, which is tried.  Collective. */
fr_status fr_bench_device_add(struct fr_bench *bench, const struct fr_point *point,
                              const struct fr_device_task *task, bool *added,
                              struct fr_error *err);
/** Let the devices of a team's ranks join a group of their own, once.  Collective over the world.
 *  @return FR_OK also where they cannot: then bench->no_groups, and rank 0 says why */
fr_status fr_bench_device_join(struct fr_bench *bench, struct fr_team *team,
                               struct fr_error *err);
/** Let the point's team carry @p task out once, and note what the devices' library chose for it.  One that fails is
 *  left to the measurement, which says so. */
void fr_bench_device_choose(struct fr_bench *bench, const struct fr_device_task *task,
                            struct fr_point *point);
typedef fr_status fr_bench_team_fn(struct fr_bench *bench, const struct fr_bench_row *row,
                                   const struct fr_team *team, struct fr_error *err);
/** Plan the points of each team of @p kind, once its devices have joined.  Collective over the world. */
fr_status fr_bench_device_teams(struct fr_bench *bench, const struct fr_bench_row *row,
                                fr_team_kind kind, fr_bench_team_fn *plan_team,
                                struct fr_error *err);
/** Carry @p task out, by the device's clock, the device busy with it for @p heat_s before a point's first
 *  sample of a visit. */
fr_status fr_bench_device_run(struct fr_work *work, const struct fr_device_task *task,
                              double heat_s, int calls, struct fr_error *err);
/** The task and heat of the point's row. */
fr_sampled fr_bench_device_run_task;
/** The same after a while of it, since a step's products run at the clock that the power limit leaves them. */
fr_status fr_bench_device_run_hot(struct fr_work *work, const struct fr_device_task *task,
                                  int calls, struct fr_error *err);

/** Windows of each state at a clock that a resumed file holds of this launch already; rank 0 tells all. */
fr_status fr_bench_power_done(struct fr_bench *bench, double clock_Hz,
                              int done[FR_POWER_STATES], struct fr_error *err);

/** Fill order[n] with a random permutation of what it holds. */
void fr_bench_shuffle(uint64_t *state, int *order, int n);

#endif
