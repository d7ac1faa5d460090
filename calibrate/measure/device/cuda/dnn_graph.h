/** @file
 *  How is a computation described to cuDNN, so that it makes one kernel of it?
 *
 *  Tensors have four sizes: batch, heads, rows, columns.  Those with a name lie in memory (or are a single value, handed
 *  over with each call); the others exist within the kernel alone.  An operation appends itself to the graph and
 *  returns its result, so that a graph reads like its formulas.  The first failure stays in the graph and all later
 *  operations do nothing: a caller looks once, at the plan.
 *
 *      struct fr_dnn_graph g = {.api = api, .err = err};
 *      struct fr_dnn_tensor s = fr_dnn_product(&g, q, k_transposed, FR_DNN_FP32);
 */
#ifndef FR_CALIBRATE_MEASURE_DEVICE_CUDA_DNN_GRAPH_H
#define FR_CALIBRATE_MEASURE_DEVICE_CUDA_DNN_GRAPH_H

#include "base/status.h"
#include "calibrate/measure/device/cuda/dnn_api.h"

enum { FR_DNN_AXES = 4, FR_DNN_MADE_MAX = 160, FR_DNN_OPERATIONS_MAX = 32 };

struct fr_dnn_tensor {
    int64_t size[FR_DNN_AXES], stride[FR_DNN_AXES];
    cudnnBackendDescriptor_t descriptor; /* NULL: none, or the graph has failed */
};

struct fr_dnn_graph {
    const struct fr_dnn_api *api;
    struct fr_error *err;
    fr_status status;                               /* of the first that failed */
    cudnnBackendDescriptor_t made[FR_DNN_MADE_MAX]; /* all, to be destroyed */
    cudnnBackendDescriptor_t operation[FR_DNN_OPERATIONS_MAX];
    int n_made, n_operations;
    int64_t last_name; /* of tensors within the kernel, counted down from 0 */
};

/** A tensor in memory, of @p type (FR_DNN_BF16, ...), called @p name > 0. */
struct fr_dnn_tensor fr_dnn_stored(struct fr_dnn_graph *g, int64_t name, int type,
                                   const int64_t size[FR_DNN_AXES],
                                   const int64_t stride[FR_DNN_AXES]);
/** One fp32 value of the host's, called @p name > 0. */
struct fr_dnn_tensor fr_dnn_value(struct fr_dnn_graph *g, int64_t name);

/** A function of every value of @p x, in fp32. */
struct fr_dnn_tensor fr_dnn_map(struct fr_dnn_graph *g, int mode, struct fr_dnn_tensor x);
/** The same of two values; @p b is repeated where it has size 1. */
struct fr_dnn_tensor fr_dnn_combine(struct fr_dnn_graph *g, int mode, struct fr_dnn_tensor x,
                                    struct fr_dnn_tensor b);
/** The same, written to @p y. */
void fr_dnn_combine_to(struct fr_dnn_graph *g, int mode, struct fr_dnn_tensor x,
                       struct fr_dnn_tensor b, struct fr_dnn_tensor y);
/** The same of a product's operand: rounded to @p type. */
struct fr_dnn_tensor fr_dnn_combine_as(struct fr_dnn_graph *g, int mode, struct fr_dnn_tensor x,
                                       struct fr_dnn_tensor b, int type);
void fr_dnn_copy_to(struct fr_dnn_graph *g, struct fr_dnn_tensor x, struct fr_dnn_tensor y);
/** x where the row's number is at least the column's, else @p other: a causal mask. */
struct fr_dnn_tensor fr_dnn_lower(struct fr_dnn_graph *g, struct fr_dnn_tensor x,
                                  struct fr_dnn_tensor other);
/** Sum or largest of each row: one column. */
struct fr_dnn_tensor fr_dnn_reduce(struct fr_dnn_graph *g, int mode, struct fr_dnn_tensor x);
void fr_dnn_reduce_to(struct fr_dnn_graph *g, int mode, struct fr_dnn_tensor x,
                      struct fr_dnn_tensor y);
/** C = A B, summed in fp32; heads of fewer serve several of the others.  Rounded to @p type. */
struct fr_dnn_tensor fr_dnn_product(struct fr_dnn_graph *g, struct fr_dnn_tensor a,
                                    struct fr_dnn_tensor b, int type);
void fr_dnn_product_to(struct fr_dnn_graph *g, struct fr_dnn_tensor a, struct fr_dnn_tensor b,
                       struct fr_dnn_tensor c);
/** Rows for columns, rounded to @p type: no values move. */
struct fr_dnn_tensor fr_dnn_transposed(struct fr_dnn_graph *g, struct fr_dnn_tensor x,
                                       int type);

/** Device that a plan is for: an open one, or the description of one that need not be there. */
struct fr_dnn_target {
    cudnnHandle_t handle;
    cudnnBackendDescriptor_t properties;
};

enum { FR_DNN_CANDIDATES = 8 };
/** Configurations of kernels that cuDNN proposes, the best first.  @return how many */
int64_t fr_dnn_propose(struct fr_dnn_graph *g, const struct fr_dnn_target *target,
                       cudnnBackendDescriptor_t candidate[FR_DNN_CANDIDATES]);
/** The first of the kernels that cuDNN proposes which can be made and needs at most @p most_B of workspace; the plan is
 *  the graph's.  @return FR_OK; FR_ERR_UNSUPPORTED: there is none, or this version has none; FR_ERR_EXTERNAL. */
fr_status fr_dnn_plan(struct fr_dnn_graph *g, const struct fr_dnn_target *target,
                      int64_t most_B, cudnnBackendDescriptor_t *plan, int64_t *workspace_B);
/** Memory of the named tensors, for fr_dnn_plan's kernel. */
fr_status fr_dnn_variants(struct fr_dnn_graph *g, int n, const int64_t *names,
                          void *const *pointers, void *workspace,
                          cudnnBackendDescriptor_t *variants);
/** Destroy all that was made. */
void fr_dnn_release(struct fr_dnn_graph *g);

#endif
