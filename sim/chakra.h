/** @file
 *  A program as Chakra execution traces, one a rank, which ASTRA-sim and its kin read (Sridharan et al.,
 *  Chakra: Advancing Performance Benchmarking and Co-design using Standardized Execution Traces, 2023;
 *  mlcommons/chakra, schema/protobuf/et_def.proto).
 *
 *      file of a rank      GlobalMetadata, then its Nodes, each behind its length (protobuf); or the same
 *                          messages in protobuf's JSON mapping, one a line
 *      COMP_NODE           work: duration_micros, what a reader replays
 *      COMM_SEND_NODE,     a message: comm_size [B], comm_src, comm_dst, comm_tag
 *      COMM_RECV_NODE
 *      COMM_COLL_NODE      a collective: comm_type, comm_size [B] (as nccl-tests counts it), pg_name; its
 *                          duration_micros is what the cluster file makes of it, by whatever form
 *
 *  A folded program is unfolded: rank (d n + r) tp + t is place t of stage r of replica d.  Process groups,
 *  by pg_name, stand in a file of their own, as ASTRA-sim reads them: {"1": [0, 8], ...}.
 *
 *  The format does not hold times below a microsecond.  Durations of a rank's work are rounded so that their sum is
 *  right, and duration_ns has each to the nanosecond.  It does not hold either that a stream does one thing at a
 *  time; the dependencies state that.  A pipeline's program does not separate the collectives inside a pass (tensor,
 *  context and expert parallelism's): they are part of its time, as is the embedding's all-reduce. */
#ifndef FR_SIM_CHAKRA_H
#define FR_SIM_CHAKRA_H

#include "base/text.h"
#include "sim/network.h"

enum { FR_CHAKRA_RANKS_MAX = 4096, FR_CHAKRA_NODES_MAX = 1 << 24 };

struct fr_chakra {
    bool json;      /**< in: JSON, not protobuf */
    bool layers;    /**< in: of layers, whose classes say which collective they are */
    bool scattered; /**< in: a pipeline's gradients are reduce-scattered (ZeRO) */
    bool
        common_apart; /**< in: common layers are on one sub-grid, over the replicas of a place */
    int32_t n_ranks;  /**< out, as all below */
    int64_t n_nodes;  /**< of all ranks */
    struct fr_text *rank; /**< [n_ranks]: a file each */
    struct fr_text groups;
};

/** Fill @p chakra with @p work, whose task of class c takes class_s[c].  Free with fr_chakra_free, also on
 *  error.  @return FR_OK; FR_ERR_UNSUPPORTED for more ranks or nodes than above; FR_ERR_NOMEM. */
fr_status fr_chakra_write(const struct fr_network_work *work, const double *class_s,
                          struct fr_chakra *chakra, struct fr_error *err);
void fr_chakra_free(struct fr_chakra *chakra);

#endif
