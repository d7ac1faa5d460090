/** @file
 *  Which operations of a PyTorch profiler's trace are samples?
 *
 *  An operation of the host ("cat": "cpu_op") says shapes and dtypes; the kernels that it launched have its "External id"
 *  and say how long they took.  A reader takes the event of an operation and says which product, attention or pass over
 *  memory it is.  Copies and collectives say all of it in the event of the device itself.
 *
 *  Order of arguments: PyTorch's aten/src/ATen/native/native_functions.yaml; of a collective's event: ParamCommsUtils.hpp.
 *
 *  To add an operation: a row of the table in trace_product.c, trace_attention.c or trace_traffic.c.
 */
#ifndef FR_CALIBRATE_SAMPLES_TRACE_H
#define FR_CALIBRATE_SAMPLES_TRACE_H

#include "base/json.h"
#include "calibrate/samples/samples.h"

enum { FR_TRACE_DIMENSIONS = 8 };

/** A tensor that an operation was given. */
struct fr_trace_tensor {
    fr_dtype dtype;
    double value_B;                     /**< of a value; 0: of a dtype that is not known */
    int n;                              /**< dimensions; 0: no tensor */
    int64_t size[FR_TRACE_DIMENSIONS];  /**< >= 1 */
    int64_t pitch[FR_TRACE_DIMENSIONS]; /**< values from one to the next; -1: not stated */
};

typedef enum {
    FR_TRACE_PRODUCT,
    FR_TRACE_ATTENTION,
    FR_TRACE_PASS, /**< over memory */
    FR_TRACE_KINDS
} fr_trace_kind;

/** One operation, and what its kernels took. */
struct fr_trace_call {
    int64_t id;
    fr_trace_kind kind;
    double time_s;
    union {
        struct fr_sample_gemm product;
        struct fr_sample_attention attention;
        struct fr_sample_memory pass;
    };
};

bool fr_trace_is(const struct fr_json *event, const char *key, const char *wanted);
/** A text of @p object; "": there is none. */
const char *fr_trace_text(const struct fr_json *object, const char *key);
/** A whole number from 1 on of "args"; 0: there is none. */
int64_t fr_trace_count(const struct fr_json *event, const char *key);
/** Seconds that an event took; negative: it does not say. */
double fr_trace_time_s(const struct fr_json *event);
/** Bytes of a value of PyTorch's dtype ("c10::BFloat16", "BFloat16", "float"), 0: not known.
 *  @param[out] dtype  where products have it, else FR_DTYPE_COUNT */
double fr_trace_value_B(const char *name, fr_dtype *dtype);
/** Argument @p which of an operation. */
struct fr_trace_tensor fr_trace_tensor(const struct fr_json *event, int which);
/** Argument @p which as it was printed ("True"); "": not stated. */
const char *fr_trace_argument(const struct fr_json *event, int which);

/** @return whether @p event is one with all that a sample needs; then its kind and sample are filled. */
bool fr_trace_product(const struct fr_json *event, struct fr_trace_call *call);
bool fr_trace_attention(const struct fr_json *event, struct fr_trace_call *call);
bool fr_trace_traffic(const struct fr_json *event, struct fr_trace_call *call);

/** A copy between host and device. @return whether it is one, large enough that its start does not count */
bool fr_trace_link(const struct fr_json *event, struct fr_sample_link *link);
/** A copy within the device, likewise. */
bool fr_trace_copy(const struct fr_json *event, struct fr_sample_memory *pass);
/** A collective's kernel.  @param per_node  ranks of a node, 0: not known
 *  @return whether it is one of equal parts */
bool fr_trace_collective(const struct fr_json *event, int64_t per_node,
                         struct fr_sample_collective *collective);

#endif
