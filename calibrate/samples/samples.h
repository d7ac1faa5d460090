/** @file
 *  samples.jsonl: measurements as they were taken, one JSON object a line (docs/reference/formats.md).
 *
 *  The file is a journal (base/journal/journal.h): lines are appended, each with its digest.
 *  Whatever kills the writer, all lines but perhaps the last are whole.  Files of older versions
 *  and of other people have no digests.  In those the reader tolerates and counts a cut last line,
 *  and nothing else.
 */
#ifndef FR_CALIBRATE_SAMPLES_SAMPLES_H
#define FR_CALIBRATE_SAMPLES_SAMPLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/json.h"
#include "base/status.h"
#include "base/text.h"
#include "base/units.h"
#include "models/device/device.h"
#include "models/device/working_set.h"
#include "models/network/collective.h"

#define FR_SAMPLES_SCHEMA "forerun/samples/1"

/** Limits of a sample, so that whatever is read can be written, fitted and read again.  Times are
 *  those that a cluster file may state; messages and numbers of ranks can be counted. */
#define FR_SAMPLE_TIME_MIN_S 1e-12
#define FR_SAMPLE_TIME_MAX_S FR_COST_MAX_S
#define FR_SAMPLE_SIZE_MAX_B 1e18
#define FR_SAMPLE_COUNT_MAX ((int64_t)1 << 40)

/** Where the ranks of a measured group sit: within one node, or over several. */
enum { FR_SAMPLE_NODE, FR_SAMPLE_SYSTEM, FR_SAMPLE_LEVELS };
/** Spellings in that order, then NULL. */
extern const char *const fr_sample_level_names[];

/** Groups of neighbouring ranks, or of every g-th rank. */
enum { FR_LAYOUT_BLOCK, FR_LAYOUT_STRIDE };
extern const char *const fr_sample_layout_names[];
/** A pair's messages: there and back (one way is timed), or both ways at once. */
extern const char *const fr_sample_direction_names[];
/** Collective alone, product alone, both at once, the product's own time while both run. */
enum { FR_OVERLAP_COMM, FR_OVERLAP_COMPUTE, FR_OVERLAP_BOTH, FR_OVERLAP_DURING };
extern const char *const fr_sample_overlap_names[];
extern const char *const fr_sample_codec_names[]; /**< encode, decode */
/** Activity during a reading of a meter. */
enum {
    FR_POWER_IDLE,
    FR_POWER_BUSY,
    FR_POWER_COMMUNICATING,
    FR_POWER_MEMORY,
    FR_POWER_AWAITING,
    FR_POWER_STATES
};
extern const char *const fr_sample_power_names[];
/** How far a power figure is to be trusted. */
enum { FR_QUALITY_MEASURED, FR_QUALITY_SAMPLED, FR_QUALITY_ESTIMATED, FR_QUALITY_UNAVAILABLE };
extern const char *const fr_quality_names[];
/** How sampling of a point ended. */
enum { FR_POINT_CONVERGED, FR_POINT_UNCONVERGED };
extern const char *const fr_sample_state_names[];
/** How a launch ended.  Only the first two are ends; after the others --resume goes on. */
enum { FR_END_COMPLETE, FR_END_BUDGET, FR_END_SIGNAL };
extern const char *const fr_sample_end_names[];

/** How a send_recv was driven; other operations are FR_PATTERN_OP. */
enum {
    FR_PATTERN_OP,          /**< the operation itself: all ranks, each to the next */
    FR_PATTERN_PING_PONG,   /**< one way of a message that goes and comes back */
    FR_PATTERN_PING_PING,   /**< two messages that meet */
    FR_PATTERN_STREAM,      /**< many in flight one way; time_s is the gap between two */
    FR_PATTERN_STREAM_BOTH, /**< the same in both directions at once */
    FR_PATTERN_PAIRS,       /**< the same by several pairs of ranks at once */
    FR_PATTERNS
};
/** Spellings in that order ("op", "ping_pong", ...), then NULL. */
extern const char *const fr_pattern_names[];

/** One imported file: whose measurement it is.  Two files are of one series, and may be fitted
 *  together, when all texts but `file` and `dtype` agree. */
struct fr_sample_source {
    char file[256];
    char tool[32], tool_version[48];
    char system[160], device[96], network[288], library[128], setup[288]; /**< "": not stated */
    char dtype[24];                         /**< of the elements; "": not stated */
    char statistic[24];                     /**< over ranks: "average", "maximum" */
    int64_t n_ranks, nodes, ranks_per_node; /**< of the largest block; nodes 0: not stated */
};

/** In place of a host where samples are others' (forerun import). */
#define FR_HOST_IMPORTED "imported"

/** How a file of samples was made. */
struct fr_provenance {
    char date[32]; /**< UTC, 2024-05-31T12:00:00Z */
    char host[96], kernel[128], cpu[128];
    char cluster[64]; /**< by the scheduler's name, "" = not stated */
    int64_t cores;    /**< of rank 0's node */
    double memory_B;  /**< of rank 0's node */
    char mpi[160], blas[160], blas_core[48];
    int64_t ranks, ranks_per_node, nodes;
    bool oversubscribed; /**< more ranks on some node than it has cores for them */
    int64_t seed;        /**< of the order in which points were visited */
    char version[32];
    char pinning[160];         /**< "" = not stated */
    char hosts[512];           /**< distinct, in order of rank, joined by blanks; may be cut */
    char host_set[24];         /**< a hash of which rank is on which host, "" = not stated */
    double clock_resolution_s; /**< 0 = not stated */
    bool simulated;            /**< by SimGrid: times are a platform file's, not a machine's */
    /** Rank 0's accelerator, where it was measured in place of processors; "": it was not. */
    char device[96], device_driver[48], device_libraries[192];
    double device_memory_B;  /**< as its management library shows it */
    double device_context_B; /**< taken by one process before it asks for any; 0: not known */
};

struct fr_sample_collective {
    fr_op op;
    int level; /**< FR_SAMPLE_NODE or FR_SAMPLE_SYSTEM */
    int64_t n_ranks;
    int64_t n_nodes;  /**< that the ranks sit on; 0 = not stated */
    int64_t n_groups; /**< disjoint communicators that did the same at once; 1 alone */
    int layout;       /**< of several groups: FR_LAYOUT_BLOCK or FR_LAYOUT_STRIDE */
    double size_B;    /**< as fr_op counts it */
    int64_t launch, rep;
    double time_s; /**< of the slowest rank */
    int source;    /**< index into fr_samples.source plus 1; 0: our own harness */
    int pattern;   /**< FR_PATTERN_... */
    bool in_place; /**< result in the buffer of the input, as nccl-tests tells apart */
    bool failed;   /**< the tool found wrong results: kept, never fitted */
    char algorithm[16],
        protocol[12]; /**< that a library chose ("ring", "simple"); "": not known */
};
struct fr_sample_gemm {
    fr_dtype dtype;
    int64_t m, n, k;
    int64_t batch; /**< products of one call, 1 unless batched */
    int64_t launch, rep;
    double time_s;  /**< of one call */
    int64_t probe;  /**< probes read before it */
    int transposed; /**< fr_transposed; 0: calls take turns, or nobody said */
    bool blocks;    /**< blocks of values have scales of their own, not a tensor one */
};
/** Arithmetic hides where operands come from in a product whose dimensions are all at least so
 *  long: it is not timed from memory. */
enum { FR_SAMPLE_LARGE = 512 };
/** It does not matter which operand is transposed in a product whose dimensions are all at least so
 *  long: it is timed only with none. */
enum { FR_SAMPLE_PLAIN = 256 };

/** Traffic through a working set of @p size_B (models/device/working_set.h). */
struct fr_sample_memory {
    int kernel;      /**< FR_TRAFFIC_... */
    double size_B;   /**< in use in turn */
    double moved_B;  /**< of one call, as models count it; 0 in files without: size_B */
    int64_t m, n, k; /**< operands: of the product that was timed; else 0 */
    bool adds;       /**< likewise: to what is there, with B transposed, as a weight gradient */
    int64_t launch, rep;
    double time_s; /**< of one call */
    int64_t probe; /**< probes read before it */
};
/** A call that does nothing; of an accelerator an empty kernel, alone or one of a graph's. */
struct fr_sample_kernel {
    bool graph;
    int64_t launch, rep;
    double time_s;
};
enum { FR_WAY_TO_DEVICE, FR_WAY_TO_HOST };
/** Spellings in that order, then NULL. */
extern const char *const fr_sample_way_names[];
/** A copy between a host and its accelerator. */
struct fr_sample_link {
    int way;     /**< FR_WAY_... */
    bool pinned; /**< the host's pages are locked in memory */
    double size_B;
    int64_t launch, rep;
    double time_s; /**< of one copy */
};

/** Generations of fused attention that were timed, as --set attention names them: "flash", "flash-2". */
enum { FR_SAMPLE_FLASH, FR_SAMPLE_FLASH_2, FR_SAMPLE_ATTENTIONS };
extern const char *const fr_sample_attention_names[];
extern const char *const fr_sample_pass_names[]; /**< forward, backward */
/** A fused kernel of attention. */
struct fr_sample_attention {
    int kernel; /**< FR_SAMPLE_FLASH, ... */
    fr_dtype dtype;
    int64_t batch, sequence; /**< sequences, and tokens of each */
    int64_t heads, kv_heads; /**< of queries; of keys and values */
    int64_t width;           /**< values of a head */
    bool causal;             /**< a token attends to those before it alone */
    int pass;                /**< 0 forward, 1 backward */
    int64_t launch, rep;
    double time_s; /**< of one call */
};

/** Several pairs of ranks sending at once over one link or adapter. */
struct fr_sample_pairs {
    int level, direction;
    int64_t n_pairs;
    double size_B; /**< of one message */
    int64_t launch, rep;
    double time_s; /**< one way, of the slowest pair; direction both: the exchange */
};
/** A collective beside a matrix product that takes about as long. */
struct fr_sample_overlap {
    fr_op op;
    int level, part;
    int64_t n_ranks;
    double size_B;
    int64_t m, n, k; /**< fp32 */
    int64_t launch, rep;
    double time_s;
};
/** PowerSGD of an m x n fp32 matrix. */
struct fr_sample_codec {
    int part;
    int64_t m, n, rank;
    int64_t launch, rep;
    double time_s;
};
/** Mean power of a node over a window in which all its ranks were in one state. */
struct fr_sample_power {
    int state, quality;
    char meter[24];
    int64_t n_ranks; /**< on the node */
    double power_W;  /**< 0 when quality is unavailable */
    int64_t launch, rep;
    double time_s;   /**< length of the window */
    double clock_Hz; /**< that was set; 0: as it was found */
    double call_s;   /**< of one product or pass over memory, in the mean; 0: not stated */
};
/** Outcome of a point: written when its sampling ends. */
struct fr_sample_point {
    char key[192]; /**< "collective op=all_reduce ranks=4 ..." */
    int64_t launch, n, n_warm, n_outliers;
    int state;
    double median_s, half_width, drift; /**< of the median, relative; 1e9 = unknown */
};
/** A small product and a small stream, the same throughout: how fast the machine was just then. */
struct fr_sample_probe {
    int64_t launch, rep;
    double product_s, stream_s; /**< of the slowest rank */
};
struct fr_sample_end {
    int reason;
    int64_t launch, unconverged;
    double elapsed_s;
};

/** Everything read; start zeroed. */
struct fr_samples {
    struct fr_provenance provenance; /**< of the first file, ranks and nodes of the largest */
    struct fr_sample_collective *collective; /**< one group alone */
    struct fr_sample_collective *segmented;  /**< several groups at once */
    struct fr_sample_gemm *gemm;             /**< single products */
    struct fr_sample_gemm *batched;
    struct fr_sample_gemm *scaled; /**< single ones with scales of blocks */
    struct fr_sample_memory *memory;
    struct fr_sample_kernel *kernel;
    struct fr_sample_link *link;
    struct fr_sample_attention *attention;
    struct fr_sample_pairs *pairs;
    struct fr_sample_overlap *overlap;
    struct fr_sample_codec *codec;
    struct fr_sample_power *power;
    struct fr_sample_point *point;
    struct fr_sample_probe *probe;
    struct fr_sample_end *end;
    struct fr_sample_source *source;
    size_t n_source, n_collective, n_segmented, n_gemm, n_batched, n_scaled, n_memory, n_kernel,
        n_link, n_attention, n_pairs, n_overlap, n_codec, n_power, n_point, n_probe, n_end;
    int n_files;
    int64_t first_source; /**< of the file being read */
    int n_cut;            /**< last lines that were cut off */
};

/** Read @p path and add what it holds to @p samples.
 *  @return FR_OK, FR_ERR_INPUT ("samples.jsonl: line 7" as place) or FR_ERR_NOMEM. */
fr_status fr_samples_read(const char *path, struct fr_samples *samples, struct fr_error *err);
/** The same from text without digests; @p name stands for the file. */
fr_status fr_samples_parse(const char *text, size_t length, const char *name,
                           struct fr_samples *samples, struct fr_error *err);
void fr_samples_free(struct fr_samples *samples);

/** Append one sample.  @return FR_OK or FR_ERR_NOMEM. */
#define FR_SAMPLES_ADD(kind, type)                                                             \
    fr_status fr_samples_add_##kind(struct fr_samples *samples,                                \
                                    const struct fr_sample_##type *sample);
/* array, struct */
#define FR_SAMPLES_LIST(X)                                                                     \
    X(collective, collective)                                                                  \
    X(segmented, collective)                                                                   \
    X(gemm, gemm)                                                                              \
    X(batched, gemm)                                                                           \
    X(scaled, gemm)                                                                            \
    X(memory, memory)                                                                          \
    X(kernel, kernel)                                                                          \
    X(link, link)                                                                              \
    X(attention, attention)                                                                    \
    X(pairs, pairs)                                                                            \
    X(overlap, overlap)                                                                        \
    X(codec, codec)                                                                            \
    X(power, power)                                                                            \
    X(point, point)                                                                            \
    X(probe, probe)                                                                            \
    X(end, end)                                                                                \
    X(source, source)
FR_SAMPLES_LIST(FR_SAMPLES_ADD)
#undef FR_SAMPLES_ADD

/** Kinds of samples that have a head. */
#define FR_SAMPLE_HEADS(X)                                                                     \
    X(collective)                                                                              \
    X(gemm)                                                                                    \
    X(memory)                                                                                  \
    X(kernel)                                                                                  \
    X(link)                                                                                    \
    X(attention)                                                                               \
    X(pairs)                                                                                   \
    X(overlap)                                                                                 \
    X(codec)                                                                                   \
    X(power)
/** fr_sample_line_<kind> appends one whole line, its end included, to @p line;
 *  fr_sample_head_<kind> the part that says which point it is, the object left open. */
#define FR_SAMPLE_DECLARE(kind)                                                                \
    void fr_sample_head_##kind(const struct fr_sample_##kind *s, struct fr_text *line);        \
    void fr_sample_line_##kind(const struct fr_sample_##kind *s, struct fr_text *line);
FR_SAMPLE_HEADS(FR_SAMPLE_DECLARE)
#undef FR_SAMPLE_DECLARE
/** Append the rest of a line, which follows a head. */
void fr_sample_tail(int64_t launch, int64_t rep, double time_s, struct fr_text *line);
/** The same with what a library chose for a collective, behind the time, so that a line is still found by its head. */
void fr_sample_tail_chosen(int64_t launch, int64_t rep, double time_s, const char *algorithm,
                           const char *protocol, struct fr_text *line);
void fr_sample_line_provenance(const struct fr_provenance *provenance, struct fr_text *line);
/** @param outliers  rep of each of sample->n_outliers */
void fr_sample_line_point(const struct fr_sample_point *sample, const int *outliers,
                          struct fr_text *line);
void fr_sample_line_probe(const struct fr_sample_probe *sample, struct fr_text *line);
void fr_sample_line_end(const struct fr_sample_end *sample, struct fr_text *line);
/** @param index  how samples refer to it */
void fr_sample_line_source(const struct fr_sample_source *source, int index,
                           struct fr_text *line);
/** A head as people read it: "collective op=all_reduce ranks=4 level=node size_B=1024". */
void fr_sample_key(const char *head, char *key, size_t capacity);

/** Begin a line of @p kind; the writer keeps @p line, which is empty. */
struct fr_json_writer fr_sample_begin(struct fr_text *line, const char *kind);

#endif
