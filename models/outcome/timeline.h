/** @file
 *  What ran when: the result of a simulation, for traces and pictures.
 *
 *  A span is one stretch of one stream of one rank.  Streams are the lanes that can be busy at
 *  the same time: compute, send, receive, collective.  On an isolated network several messages
 *  of one rank may be under way at once: then they take lanes of their stream.  Spans of one
 *  lane never overlap.
 *  A message is two spans of the same `message` number, on the sender's send stream and on the
 *  receiver's receive stream.
 */
#ifndef FR_MODELS_OUTCOME_TIMELINE_H
#define FR_MODELS_OUTCOME_TIMELINE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"

/* code, name in traces */
#define FR_STREAM_LIST(X)                                                                      \
    X(FR_STREAM_COMPUTE, compute)                                                              \
    X(FR_STREAM_SEND, send)                                                                    \
    X(FR_STREAM_RECV, recv)                                                                    \
    X(FR_STREAM_COLLECTIVE, collective)

/* code, name in traces */
#define FR_TASK_LIST(X)                                                                        \
    X(FR_TASK_FORWARD, forward)                                                                \
    X(FR_TASK_BACKWARD, backward)                                                              \
    X(FR_TASK_WEIGHT, weight_gradient)                                                         \
    X(FR_TASK_COMPRESS, compress)                                                              \
    X(FR_TASK_DECOMPRESS, decompress)                                                          \
    X(FR_TASK_FORWARD_COMPRESS, forward_compress)                                              \
    X(FR_TASK_FORWARD_DECOMPRESS, forward_decompress)                                          \
    X(FR_TASK_FORWARD_MESSAGE, forward_message)                                                \
    X(FR_TASK_BACKWARD_MESSAGE, backward_message)                                              \
    X(FR_TASK_COMPRESSED_MESSAGE, compressed_message)                                          \
    X(FR_TASK_COMPRESSED_FORWARD, compressed_forward_message)                                  \
    X(FR_TASK_EXCHANGE, exchange)                                                              \
    X(FR_TASK_GRADIENT, gradient_all_reduce)                                                   \
    X(FR_TASK_EMBEDDING, embedding_all_reduce)                                                 \
    X(FR_TASK_OPTIMIZER, optimizer)                                                            \
    X(FR_TASK_ELEMENTWISE, element_wise)                                                       \
    X(FR_TASK_COLLECTIVE, collective)                                                          \
    X(FR_TASK_COLLECTIVE_MESSAGE, collective_message)                                          \
    X(FR_TASK_RECOMPUTE, recompute)                                                            \
    X(FR_TASK_GRADIENT_CODEC, gradient_codec)

typedef enum {
#define FR_STREAM_ENUM(code, name) code,
    FR_STREAM_LIST(FR_STREAM_ENUM)
#undef FR_STREAM_ENUM
        FR_STREAM_COUNT
} fr_stream;

typedef enum {
#define FR_TASK_ENUM(code, name) code,
    FR_TASK_LIST(FR_TASK_ENUM)
#undef FR_TASK_ENUM
        FR_TASK_COUNT
} fr_task_kind;

extern const char *const fr_stream_names[]; /**< in order, then NULL */
extern const char *const fr_task_names[];   /**< in order, then NULL */

struct fr_span {
    double start_s, end_s;
    double size_B;   /**< of a message or collective; 0 for compute */
    int32_t rank;    /**< 0..n_ranks-1 */
    int32_t micro;   /**< micro-batch, or -1 */
    int32_t chunk;   /**< model chunk of an interleaved schedule, from 0 */
    int32_t peer;    /**< the other rank of a message, or -1 */
    int32_t message; /**< number shared by the two spans of a message, or -1 */
    uint8_t stream;  /**< fr_stream */
    uint8_t lane;    /**< of the stream, from 0 */
    uint8_t kind;    /**< fr_task_kind */
    bool critical;   /**< on the critical path */
    /** Its stretch there: less than the span where the path goes on from a part of a pass, by way
     *  of gradients that are reduced beside the rest. */
    double critical_from_s, critical_to_s;
    /** Its last part, in which the rank is with others and computes nothing; before that, a part
     *  in which ranks like it wait in the mean.  An asynchronous message has neither. */
    double communicating_s, waiting_s;
};

/** Seconds of @p span as a step of the critical path: told once, from the rank that sends or,
 *  where two do the same, from the lower one.  Over a timeline they add up to the makespan. */
double fr_span_critical_s(const struct fr_span *span);

struct fr_timeline {
    int32_t n_ranks;
    int32_t n_stages;      /**< rank r runs pipeline stage r / ranks_apart % n_stages */
    struct fr_span *spans; /**< by start, then in the order scheduled */
    int64_t count;
    double makespan_s;
    int32_t ranks_apart; /**< from a stage to the next; 0: one */
};

/** Ranks from a stage to the next, at least 1. */
static inline int32_t fr_timeline_apart(const struct fr_timeline *timeline) {
    return timeline->ranks_apart > 1 ? timeline->ranks_apart : 1;
}

/** The pipeline stage that rank @p rank runs. */
static inline int32_t fr_timeline_stage(const struct fr_timeline *timeline, int32_t rank) {
    return timeline->n_stages > 0 ? rank / fr_timeline_apart(timeline) % timeline->n_stages
                                  : rank;
}

void fr_timeline_free(struct fr_timeline *timeline);

#endif
