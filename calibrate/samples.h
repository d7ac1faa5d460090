/** @file
 *  samples.jsonl: measurements as they were taken, one JSON object a line (docs/files.md).
 *
 *  The file is a log.  Each line is written with one write(2) to a descriptor opened for
 *  appending, so that whatever kills the writer, all lines but perhaps the last are whole;
 *  the reader tolerates and counts a cut last line, and nothing else.
 */
#ifndef FR_CALIBRATE_SAMPLES_H
#define FR_CALIBRATE_SAMPLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "base/text.h"
#include "models/collective.h"
#include "models/device.h"

#define FR_SAMPLES_SCHEMA "forerun/samples/1"

/** Where the ranks of a measured group sit: within one node, or over several. */
enum { FR_SAMPLE_NODE, FR_SAMPLE_SYSTEM, FR_SAMPLE_LEVELS };
/** Spellings in that order, then NULL. */
extern const char *const fr_sample_level_names[];

/** How a file of samples was made. */
struct fr_provenance {
    char date[32]; /**< UTC, 2024-05-31T12:00:00Z */
    char host[96], kernel[128], cpu[128];
    int64_t cores;   /**< of rank 0's node */
    double memory_B; /**< of rank 0's node */
    char mpi[160], blas[160], blas_core[48];
    int64_t ranks, ranks_per_node, nodes;
    bool oversubscribed; /**< more ranks on some node than it has cores for them */
    int64_t seed;        /**< of the order in which points were visited */
    char version[32];
    char pinning[96]; /**< "" = not stated */
};

struct fr_sample_collective {
    fr_op op;
    int level; /**< FR_SAMPLE_NODE or FR_SAMPLE_SYSTEM */
    int64_t n_ranks;
    double size_B; /**< as fr_op counts it */
    int64_t launch, rep;
    double time_s; /**< of the slowest rank */
};
struct fr_sample_gemm {
    fr_dtype dtype;
    int64_t m, n, k;
    int64_t rep;
    double time_s; /**< of one call */
};
struct fr_sample_memory {
    double size_B; /**< read and written */
    int64_t rep;
    double time_s;
};
struct fr_sample_kernel {
    int64_t rep;
    double time_s;
};

/** Everything read; start zeroed. */
struct fr_samples {
    struct fr_provenance provenance; /**< of the first file, ranks and nodes of the largest */
    struct fr_sample_collective *collective;
    struct fr_sample_gemm *gemm;
    struct fr_sample_memory *memory;
    struct fr_sample_kernel *kernel;
    size_t n_collective, n_gemm, n_memory, n_kernel;
    int n_files;
    int n_cut; /**< last lines that were cut off */
};

/** Read @p path and add what it holds to @p samples.
 *  @return FR_OK, FR_ERR_INPUT ("samples.jsonl: line 7" as place) or FR_ERR_NOMEM. */
fr_status fr_samples_read(const char *path, struct fr_samples *samples, struct fr_error *err);
/** The same from text; @p name stands for the file. */
fr_status fr_samples_parse(const char *text, size_t length, const char *name,
                           struct fr_samples *samples, struct fr_error *err);
void fr_samples_free(struct fr_samples *samples);

/** Append one sample.  @return FR_OK or FR_ERR_NOMEM. */
fr_status fr_samples_add_collective(struct fr_samples *samples,
                                    const struct fr_sample_collective *sample);
fr_status fr_samples_add_gemm(struct fr_samples *samples, const struct fr_sample_gemm *sample);
fr_status fr_samples_add_memory(struct fr_samples *samples,
                                const struct fr_sample_memory *sample);
fr_status fr_samples_add_kernel(struct fr_samples *samples,
                                const struct fr_sample_kernel *sample);

/** Append one whole line, its end included, to @p line. */
void fr_sample_line_provenance(const struct fr_provenance *provenance, struct fr_text *line);
void fr_sample_line_collective(const struct fr_sample_collective *sample, struct fr_text *line);
void fr_sample_line_gemm(const struct fr_sample_gemm *sample, struct fr_text *line);
void fr_sample_line_memory(const struct fr_sample_memory *sample, struct fr_text *line);
void fr_sample_line_kernel(const struct fr_sample_kernel *sample, struct fr_text *line);

/** Write @p line with one write(2) to @p fd (opened O_APPEND) and free it.
 *  @return FR_OK or FR_ERR_IO. */
fr_status fr_sample_put(int fd, const char *path, struct fr_text *line, struct fr_error *err);

#endif
