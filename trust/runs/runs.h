/** @file
 *  Measured training runs: what was run, and how long an iteration took.
 *
 *  A run is a row of dotted keys, as --set takes them: `model` (a preset or file to start
 *  from), `model.layers`, `plan.tp`, ..., and besides
 *      measured_s   seconds of one iteration; measured_J its energy, of all ranks together
 *      measured_at  what those joules include, FR_RUN_METER_LIST
 *      measured_memory_B   of the fullest device; measured_memory_at who counted it, FR_RUN_COUNTED_LIST
 *      ranks        of the run; dp follows from it where plan.dp is absent
 *      cluster      preset or file of the machine it ran on, cluster.KEY what its source says of that beyond
 *      runtime      preset or file of the software it ran with, runtime.KEY what its source says of that beyond
 *      weight       of the row in a fit, 1 by default
 *      group        rows of one group compete: regret is what choosing among them by
 *                   prediction costs
 *      id           how reports call the row
 *      note.*       anything else, for --by: note.date, note.software
 *  A file of such rows is a runs.csv.  Files that others published have columns of their own; a reader
 *  (trust/runs/reader.h) turns their rows into these keys, and says of a row that it cannot use why.  Nothing is
 *  guessed.  Where a file leaves out a fact, the reader states it as a convention of that software, with its source,
 *  or the row is left out and counted.
 *
 *  A row that leaves a key of the plan open gets what the command line would give it (models/job/assume.h), on its
 *  cluster.  A published row states how its software ran.  So its reader names the defaults of 2019
 *  (`model.defaults`) and states all differences from them.  From the runtime that it names it takes the rates of
 *  devices alone.  A user's row that names a runtime starts from that, unless it states `model.defaults`.  Paths in a
 *  row are relative to the file.
 *
 *  To add a reader: trust/runs/reader.h.
 */
#ifndef FR_TRUST_RUNS_RUNS_H
#define FR_TRUST_RUNS_RUNS_H

#include "base/csv.h"
#include "models/job/assume.h"
#include "models/plan/plan.h"
#include "models/workload/workload.h"

/* Why a row of a published file is left out. */
#define FR_RUN_SKIP_LIST(X)                                                                    \
    X(FR_RUN_USABLE, "usable")                                                                 \
    X(FR_RUN_QUALITY, "quality C: the source contradicts itself")                              \
    X(FR_RUN_NO_TIME, "no measured time")                                                      \
    X(FR_RUN_NO_MICRO_BATCH, "missing micro-batch")                                            \
    X(FR_RUN_NO_BATCH, "missing global batch")                                                 \
    X(FR_RUN_NO_DEGREES, "missing parallel degrees")                                           \
    X(FR_RUN_NO_SIZES, "missing sizes of the model")                                           \
    X(FR_RUN_UNKNOWN_MODEL, "a model that no preset describes")                                \
    X(FR_RUN_DEGREES, "impossible degrees")                                                    \
    X(FR_RUN_DTYPE, "a number format that no model covers")                                    \
    X(FR_RUN_EXPERTS, "a mixture of experts that no preset describes")                         \
    X(FR_RUN_METHOD, "a kind of training that no model covers")                                \
    X(FR_RUN_WARM_UP, "warm-up or disturbed")                                                  \
    X(FR_RUN_CLOCKS, "clocks or limits that no plan states")                                   \
    X(FR_RUN_DUPLICATE, "a copy of another row")                                               \
    X(FR_RUN_NO_CLUSTER, "no cluster: the row names none, nor does --cluster")                 \
    X(FR_RUN_IMPOSSIBLE,                                                                       \
      "faster than the peak of its devices: its time, ranks or model is wrong")                \
    X(FR_RUN_INVALID, "sizes that fit no model")

typedef enum {
#define FR_RUN_SKIP_ENUM(code, text) code,
    FR_RUN_SKIP_LIST(FR_RUN_SKIP_ENUM)
#undef FR_RUN_SKIP_ENUM
        FR_RUN_SKIP_COUNT
} fr_run_skip;
extern const char *const fr_run_skip_names[];

/** Where a run's joules were metered: each includes those before it. */
#define FR_RUN_METER_LIST(X)                                                                   \
    X(FR_METER_DEVICE, device, "devices alone")                                                \
    X(FR_METER_NODE, node, "nodes behind their supplies")                                      \
    X(FR_METER_PLUG, plug, "nodes before their supplies")                                      \
    X(FR_METER_NETWORK, network, "switches too")                                               \
    X(FR_METER_FACILITY, facility, "the building too")

typedef enum {
#define FR_METER_ENUM(code, name, words) code,
    FR_RUN_METER_LIST(FR_METER_ENUM)
#undef FR_METER_ENUM
        FR_METER_COUNT,
    FR_METER_UNSAID = -1
} fr_run_meter;
extern const char *const fr_run_meter_names[];

/** Who counted a run's memory: each includes those before it.  The prediction is of the first. */
#define FR_RUN_COUNTED_LIST(X)                                                                 \
    X(FR_COUNTED_ALLOCATED, allocated, "tensors at their peak, by the framework's allocator")  \
    X(FR_COUNTED_RESERVED, reserved, "what the allocator holds, free blocks too")              \
    X(FR_COUNTED_DEVICE, device, "what the device shows: contexts and communicators too")

typedef enum {
#define FR_COUNTED_ENUM(code, name, words) code,
    FR_RUN_COUNTED_LIST(FR_COUNTED_ENUM)
#undef FR_COUNTED_ENUM
        FR_COUNTED_COUNT
} fr_run_counted;
extern const char *const fr_run_counted_names[];
extern const char *const fr_run_counted_words[];

enum { FR_RUN_KEYS_MAX = 96 };

/** The keys of a run in the order given. */
struct fr_run_row {
    int n;
    struct {
        char key[48], value[144];
    } item[FR_RUN_KEYS_MAX];
};

/** Set @p key, replacing what it had. A row too full or a value too long keeps a mark that
 *  fr_run_make refuses. */
#if defined(__GNUC__)
__attribute__((format(printf, 3, 4)))
#endif
void fr_run_row_set(struct fr_run_row *row, const char *key, const char *fmt, ...);
/** The value of @p key, or NULL. */
const char *fr_run_row_get(const struct fr_run_row *row, const char *key);

struct fr_run {
    char id[96], group[192];
    const struct fr_cluster *cluster; /**< that it ran on; NULL: not known */
    struct fr_workload workload;
    struct fr_plan plan;           /**< complete */
    char assumed[FR_ASSUMED];      /**< what its row left open: fr_job_assumed */
    char runtime[64];              /**< the software that it was read with, by name */
    struct fr_plan_lists *lists;   /**< of the plan, as its row has them */
    int64_t *lighter;              /**< of the plan, as it was completed; or NULL */
    double measured_s, measured_J; /**< NaN: not measured */
    fr_run_meter meter;            /**< of measured_J */
    double measured_memory_B;      /**< of the fullest device; NaN: not measured */
    fr_run_counted counted; /**< measured_memory_B; allocated where the row does not say */
    double weight;
    struct fr_run_row *row; /**< as it was read */
    int reader, line;
};

/** Which rows of a file to read, set before reading; all zero: every row, of no cluster in particular. */
struct fr_runs_ask {
    const struct fr_cluster *on;             /**< the cluster of all rows, whatever they name */
    bool placed;                             /**< each row on its own cluster */
    bool needed;                             /**< then one that has none is left out */
    const struct fr_json_document *document; /**< of `on`, for rows that name a runtime of their
                                                own; NULL: those are on it as it is */
    const char *cluster;                     /**< then of rows that name none; NULL: none */
    const char *runtime;     /**< of rows that name none; NULL: the newest that suits */
    const char *const *sets; /**< [n_sets] "cluster.KEY=VALUE", of all these clusters, and
                                    "runtime.KEY=VALUE", of all runtimes */
    const char *const
        *where; /**< [n_where] "COLUMN=VALUE" that hold of the rows asked for (row/where.h) */
    int n_sets, n_where;
    const char
        *defaults; /**< of rows that name none, "2019" or "modern"; NULL: the model's own */
};

struct fr_machine;
struct fr_software;
struct fr_newest;

struct fr_runs {
    struct fr_runs_ask ask;
    struct fr_run *items;
    int count, capacity;
    int skipped[FR_RUN_SKIP_COUNT];
    struct fr_machine **machines; /**< [n_machines] clusters that rows name */
    int n_machines;
    struct fr_software **software; /**< [n_software] runtimes that were read (row/software.h) */
    struct fr_newest *newest;      /**< [n_newest] which is the newest that suits */
    int n_software, n_newest;
    char impossible[160]; /**< the first row above its devices' peak, and by how much */
    int replaced;         /**< rows whose own cluster ask.on stands in for */
    uint64_t where_known; /**< bit i: some row has the column of ask.where[i] */
};

struct fr_run_source;

/** Append the runs of @p path, read by the first reader whose columns it has.
 *  @return FR_OK; FR_ERR_INPUT with file, line and column; FR_ERR_NOMEM. */
fr_status fr_runs_read(const char *path, struct fr_runs *runs, struct fr_error *err);
/** Append the run of @p row, read elsewhere: a trainer's log.
 *  @param where   the file, for messages; its folder is that of paths in the row
 *  @return FR_OK; FR_ERR_INPUT with the place; FR_ERR_NOMEM. */
fr_status fr_runs_add(const char *where, const struct fr_run_row *row, struct fr_runs *runs,
                      struct fr_error *err);
void fr_runs_free(struct fr_runs *runs);

/** Where a row is read. */
struct fr_run_place {
    const char *where;                /**< file and line, for messages */
    const char *folder;               /**< of the file, for paths in the row; NULL: none */
    const struct fr_cluster *cluster; /**< that the run is on; NULL: not known */
    const char *defaults;             /**< where the row names none; NULL: the model's own */
    struct fr_runs *runs; /**< which keeps the runtimes that are read; NULL: nothing does */
};

/** Build a run of its keys, its plan completed as on the command line.  Free with fr_run_free, also on error.
 *  @param[out] skip  why a published row cannot be used, where it fails for its content */
fr_status fr_run_make(const struct fr_run_row *row, const struct fr_run_place *place,
                      struct fr_run *run, fr_run_skip *skip, struct fr_error *err);
void fr_run_free(struct fr_run *run);

/** Write the runs as a runs.csv, columns in order of first appearance. */
void fr_runs_write(const struct fr_runs *runs, struct fr_text *text);

/** One line a reason: "12 rows left out: missing micro-batch". */
void fr_runs_print_skipped(const struct fr_runs *runs, struct fr_text *text);

/** The software of the runs, a line: one name, or of several with how many rows each has. */
void fr_runs_print_software(const struct fr_runs *runs, struct fr_text *text);

/** Facts that completed rows with open keys, a line for each way: the first three, then the number of others. */
void fr_runs_print_assumed(const struct fr_runs *runs, struct fr_text *text);

/* ---- for readers ------------------------------------------------------------------------- */

/** Set "model" to the preset one of whose `aliases` the @p title holds, the longest that does, and
 *  "note.model_layers" and "note.experts" ("yes" or "no") to what it says.
 *  @return false where none does. */
bool fr_run_find_model(const char *title, struct fr_run_row *out);

#endif
