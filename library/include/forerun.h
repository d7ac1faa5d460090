/** @file
 *  Forerun: what will a distributed training cost in time, energy and memory, and which plan is
 *  best?  The answers of the commands of the same names, without a command line.
 *
 *      #include <forerun.h>                     cc x.c $(pkg-config --cflags --libs forerun)
 *
 *      const char *sets[] = {"method=phantom", "tp=8", "ghost=16", NULL};
 *      forerun_job *job;                        // a cluster, a model and a plan, checked
 *      forerun_result *result;                  // what a question was answered with
 *      forerun_error error;
 *      if (forerun_load("frontier", "ffn-16384", NULL, sets, &job, &error) ||
 *          forerun_predict(job, &result, &error))
 *          return puts(error.message), 1;
 *      const forerun_outcome *o = forerun_outcome_at(result, 0);
 *      printf("%g s, 90 %% between %g and %g s\n", o->time_s, o->low_s, o->high_s);
 *      puts(forerun_json(result));              // all of it, as forerun predict --json prints it
 *
 *  Units are SI and in the names: seconds, joules, bytes.  A number that nobody knows is NaN.
 *  Every result is the same for the same input, whatever the number of threads.
 *
 *  Errors are values: every function that can fail returns a status, 0 for success, and leaves a
 *  sentence in @c error (which may be NULL), naming the place in the input and what is accepted
 *  there.  On failure what was to be made is NULL, but for FORERUN_INFEASIBLE.  Memory that runs
 *  out is such an error too.  Nothing is printed, and no function ends the program.  The library changes
 *  one thing of the process: when it is loaded it lays a hook under jansson's allocator, which calls the
 *  allocator that was there.  forerun_fit says what it changes besides.
 *
 *  Threads: several may ask one job at a time, and read one result, as long as none sets or frees
 *  it.  Different jobs and results have nothing in common.  Strings belong to what they were
 *  asked of and live as long.  Answers take up to a few hundred kilobytes of the caller's stack.
 *
 *  Verbs: forerun_ask is any command that answers, with the words of its command line, and forerun_verbs.h
 *  has a function for each.  The functions below take structures in place of words.
 *
 *  Versions: functions and the last members of structures are added, never moved, while the
 *  library's name (libforerun.so.FORERUN_ABI) stays.  Options begin with their DEFAULTS, from which
 *  the library knows what the caller was compiled with. */
#ifndef FORERUN_H
#define FORERUN_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define FORERUN_VERSION_MAJOR 0
#define FORERUN_VERSION_MINOR 2
#define FORERUN_VERSION_PATCH 0
#define FORERUN_VERSION "0.2.0"
#define FORERUN_ABI 0

#if defined(__GNUC__)
#define FORERUN_API __attribute__((visibility("default")))
#else
#define FORERUN_API
#endif

/** Version of the library that answers, which may be newer than the header: "0.2.0". */
FORERUN_API const char *forerun_version(void);

/* ---- errors ----------------------------------------------------------------------------------- */

/** The numbers are the exit codes of the program. */
typedef enum forerun_status {
    FORERUN_OK = 0,
    FORERUN_FAILED = 1,     /**< at run time: a file cannot be read, a fit does not converge */
    FORERUN_USAGE = 2,      /**< an argument of the call, a KEY that leads nowhere */
    FORERUN_INPUT = 3,      /**< a file, a preset or a value that does not fit */
    FORERUN_INFEASIBLE = 4, /**< the plan cannot be, or none of them: the result says why */
    FORERUN_NO_MEMORY = 6
} forerun_status;

typedef struct forerun_error {
    forerun_status status;
    char message[1056]; /**< "cluster.json#/levels/1/bandwidth: "25" has no unit; ..." */
} forerun_error;

/* ---- jobs ------------------------------------------------------------------------------------- */

typedef struct forerun_job forerun_job;

/** Load and check what is asked about.
 *  @param cluster, model, plan  a preset's name, the path of a JSON file, or JSON itself ("{...").
 *         plan NULL: every key has its default.  model NULL: a cluster alone, for forerun_place
 *  @param sets  "KEY=VALUE" texts, then NULL; or NULL.  KEY is a key of the plan ("ghost=16") or a
 *         dotted path ("model.layers=4", "cluster.device.launch=5 us"); all are applied before
 *         anything is checked.  "runtime=NAME" names the software, a preset, the path of a file or JSON
 *         itself (else the newest that suits cluster and model), "runtime.KEY=VALUE" changes a fact of it */
FORERUN_API forerun_status forerun_load(const char *cluster, const char *model,
                                        const char *plan, const char *const *sets,
                                        forerun_job **job, forerun_error *error);

/** Change an input of @p job: one more "KEY=VALUE".  Where that is refused the job stays as it
 *  was.  Files are read anew. */
FORERUN_API forerun_status forerun_set(forerun_job *job, const char *key_value,
                                       forerun_error *error);

/** NULL is no job, and freed too. */
FORERUN_API void forerun_job_free(forerun_job *job);

/* ---- results ---------------------------------------------------------------------------------- */

typedef struct forerun_result forerun_result;

/** The cost of a plan. */
typedef struct forerun_outcome {
    int feasible;        /**< 0: it cannot be; the JSON has the reasons */
    int64_t ranks;       /**< dp x cp x pp x tp */
    double time_s;       /**< one iteration */
    double low_s;        /**< its 90 % interval begins here */
    double high_s;       /**< and ends here */
    double energy_J;     /**< one iteration, all ranks */
    double memory_B;     /**< peak of the fullest rank */
    double parameters;   /**< of the whole model as this plan trains it */
    double iterations;   /**< to the loss */
    double total_time_s; /**< to the loss */
    double total_energy_J;
    double compute_s; /**< of the iteration; these add up to it */
    double launch_s;
    double fixed_s;
    double tp_comm_s;
    double cp_comm_s;
    double ep_comm_s;
    double pp_comm_s;
    double dp_comm_s;
    double embedding_comm_s;
    double redistribution_s;
    double compression_s;
    double offload_s;
    double bubble_s;
    double probability_best; /**< of the first few of a search: to be the fastest of these */
    double expected_regret;  /**< how much slower it is than the fastest, as a share */
    const char *plan;        /**< in a line: "phantom tp 8 x dp 1, k 16" */
    const char *plan_json;   /**< whole, as forerun_load takes it */
    const char *runtime;     /**< the software it is priced with: "megatron-bridge-26.06" */
    double fits; /**< probability to fit into the device's memory; NaN: that is not stated */
} forerun_outcome;

/** The whole answer as JSON, as the command of the same name prints it with --json. */
FORERUN_API const char *forerun_json(const forerun_result *result);
/** The text that the question produced besides JSON: a trace, lines for a launcher, a cluster file;
 *  else "". */
FORERUN_API const char *forerun_text(const forerun_result *result);
/** Words beside the answer, a line each: what was assumed of an input, which rows were left out; else "". */
FORERUN_API const char *forerun_notes(const forerun_result *result);
/** Outcomes in it: 1 of a prediction, as many as were asked for of a search (the best first). */
FORERUN_API size_t forerun_count(const forerun_result *result);
/** Outcome @p i from 0, or NULL past the end. */
FORERUN_API const forerun_outcome *forerun_outcome_at(const forerun_result *result, size_t i);
/** NULL is no result, and freed too. */
FORERUN_API void forerun_result_free(forerun_result *result);

/* ---- questions -------------------------------------------------------------------------------- */

/** One plan: time with an interval, energy, memory, and where the iteration goes.
 *  @return FORERUN_INFEASIBLE for a plan that cannot be: the result is there all the same, and
 *          the message says why. */
FORERUN_API forerun_status forerun_predict(const forerun_job *job, forerun_result **result,
                                           forerun_error *error);

/** The same with what binds the iteration, and what changes of the machine would make of it: the JSON
 *  is forerun/explain/1. */
FORERUN_API forerun_status forerun_explain(const forerun_job *job, forerun_result **result,
                                           forerun_error *error);

/* Options of the others: begin with their DEFAULTS (its first member is their size), then set
 * members, as in
 *     forerun_search_options options = FORERUN_SEARCH_DEFAULTS;
 *     options.ranks = "64";
 * Where they may be NULL, that is the defaults. */

typedef struct forerun_search_options {
    size_t size;
    /** Required: "512", "8,16,32", "1..64", "1..512*2" (doubling). */
    const char *ranks;
    /** "KEY=RANGE" texts, then NULL: "tp=1..8*2", "method=tensor,phantom", "model.sequence=2048,4096".
     *  NULL: the whole recipe that suits the model, except keys that the job's plan states. */
    const char *const *vary;
    /** "time" (the default), "energy" or "edp" (energy times time). */
    const char *objective;
    /** Best plans in the answer (10); 0: every feasible one. */
    int64_t top;
    /** Limit of a rank's tensors; 0: none but the device's own. */
    double memory_limit_B;
    /** Most of gradient bytes or backward messages that may go compressed, 0 to 1.  -1 (the default):
     *  no limit, and none tried unasked. */
    double max_lossy;
    /** 0: as many as the process may use.  The answer is the same for any number. */
    int threads;
    /** Rank one iteration, without the iterations to the loss. */
    int per_iteration;
    /** Say in the JSON what binds, and what would change the choice. */
    int explain;
    /** How surely a plan must fit into the device's memory to be ranked, above 0 and below 1 (0.95); 0: all that is
     *  not refused, which is what fits with less than 5 %. */
    double fit;
} forerun_search_options;
#define FORERUN_SEARCH_DEFAULTS                                                                \
    { sizeof(forerun_search_options), NULL, NULL, "time", 10, 0, -1, 0, 0, 0, 0.95 }

/** Many plans: the best of them, with its margin, the Pareto front, and why the others cannot be.  If
 *  dp or tp is neither set nor varied, it takes what is left of the ranks.
 *  @return FORERUN_INFEASIBLE where no plan can be: the result counts the reasons. */
FORERUN_API forerun_status forerun_search(const forerun_job *job,
                                          const forerun_search_options *options,
                                          forerun_result **result, forerun_error *error);

typedef struct forerun_simulate_options {
    size_t size;
    /** "isolated" (each message alone), "shared" (they share links, those of a pair of ranks in order) or "fair"
     *  (all share at once).  NULL: as forerun_predict has it, shared where messages are slow. */
    const char *network;
    /** Leave the timeline in forerun_text: "chrome" (Perfetto reads it), "paje" or "csv"; or NULL. */
    const char *trace;
    /** All ranks, collectives as their messages. */
    int messages;
} forerun_simulate_options;
#define FORERUN_SIMULATE_DEFAULTS                                                              \
    { sizeof(forerun_simulate_options), NULL, NULL, 0 }

/** One plan run by the event engine: use of each stage, and the critical path. */
FORERUN_API forerun_status forerun_simulate(const forerun_job *job,
                                            const forerun_simulate_options *options,
                                            forerun_result **result, forerun_error *error);

typedef struct forerun_place_options {
    size_t size;
    /** Ranks to place; 0: the plan's. */
    int64_t ranks;
    /** Sub-grids of method subgraph; 0: the plan's.  Without a model the mesh is ranks over
     *  ways. */
    int64_t ways;
    /** 0: all that a node holds. */
    int64_t ranks_per_node;
    /** "linear", "round-robin", "by-axis:dp-tp-pp", "optimised", "file:PATH" or "all"; NULL: the plan's
     *  where it says one, else all. */
    const char *placement;
    /** Leave the lines for the best of them in forerun_text: "slurm" or "rankfile" (Open MPI); or NULL. */
    const char *launcher;
} forerun_place_options;
#define FORERUN_PLACE_DEFAULTS                                                                 \
    { sizeof(forerun_place_options), 0, 0, 0, NULL, NULL }

/** Where ranks sit: the rank of each slot, which groups stay inside a node, the time of an iteration.
 *  The JSON is one placement or a list of them; there are no outcomes. */
FORERUN_API forerun_status forerun_place(const forerun_job *job,
                                         const forerun_place_options *options,
                                         forerun_result **result, forerun_error *error);

typedef struct forerun_fit_options {
    size_t size;
    /** A cluster for what was not measured (device, levels, collectives), as forerun_load takes it; or
     *  NULL. */
    const char *base;
    /** "best" (the default), "log", "segments", "algorithm" or "similarity". */
    const char *form;
    /** Name of the cluster; NULL: the host's. */
    const char *name;
    /** Fit series with this text in their names; NULL: all. */
    const char *series;
    /** Power of a rank at work, and of one that waits; both, or -1 (the default): as measured. */
    double busy_W, idle_W;
} forerun_fit_options;
#define FORERUN_FIT_DEFAULTS                                                                   \
    { sizeof(forerun_fit_options), NULL, "best", NULL, NULL, -1, -1 }

/** Measurements (samples.jsonl of forerun calibrate or import) into a cluster: the JSON has every point
 *  with all fits, forerun_text the cluster file, which forerun_load takes as it is.  Calls wait for
 *  each other: while one runs, GSL's error handler, a setting of the process, is the library's.
 *  @param samples  paths, then NULL */
FORERUN_API forerun_status forerun_fit(const char *const *samples,
                                       const forerun_fit_options *options,
                                       forerun_result **result, forerun_error *error);

/** The plan of @p job as what starts it: forerun_text is the script, forerun_json the document with its options and with
 *  what the framework cannot express (docs/reference/outputs.md).
 *  @param framework  "megatron", "megatron-bridge", "torchtitan", "deepspeed", "sbatch" (no document), or one of
 *         them in a job script: "sbatch,megatron" */
FORERUN_API forerun_status forerun_emit(const forerun_job *job, const char *framework,
                                        forerun_result **result, forerun_error *error);

/* ---- verbs ------------------------------------------------------------------------------------ */

/** A command of the program, carried out in the calling process:
 *      const char *words[] = {"--cluster", "dgx-h100", "--op=all_reduce", "--ranks=64", NULL};
 *      forerun_ask("collective", words, &result, &error);
 *  The answer is the document that --json prints, in forerun_json.  A command without one, or words that ask for another
 *  form (--csv, --emit), leave what is printed in forerun_text.  The program's words on standard error are
 *  in forerun_notes.  There are no outcomes.  Files that words name are read and written as the program does; "-" for
 *  standard input is refused, and "-" for standard output is the answer.  A figure starts gnuplot (plot, pages), and the
 *  network simgrid its own program; nothing else starts a process.  Calls wait for each other, as those of forerun_fit.
 *  @param verb  one of forerun_verb(0), forerun_verb(1), ...
 *  @param words  of its command line, then NULL; NULL: none
 *  @return FORERUN_INFEASIBLE with the answer, as forerun_predict; else the program's exit code and sentence */
FORERUN_API forerun_status forerun_ask(const char *verb, const char *const *words,
                                       forerun_result **result, forerun_error *error);

/** Name of verb @p i of forerun_ask, from 0; NULL past the last. */
FORERUN_API const char *forerun_verb(size_t i);

#ifdef __cplusplus
}
#endif

#include "forerun_verbs.h"

#endif
