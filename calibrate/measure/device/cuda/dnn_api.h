/** @file
 *  The functions that we call of cuDNN's graph interface, after its API reference; held against cudnn_graph.h as
 *  driver_api.h says.
 */
#ifndef FR_CALIBRATE_MEASURE_DEVICE_CUDA_DNN_API_H
#define FR_CALIBRATE_MEASURE_DEVICE_CUDA_DNN_API_H

#include <stddef.h>
#include <stdint.h>

#include "calibrate/measure/device/cuda/blas_api.h"

#ifndef FR_DEVICE_REAL_HEADERS
typedef unsigned cudnnStatus_t, cudnnBackendDescriptorType_t, cudnnBackendAttributeName_t,
    cudnnBackendAttributeType_t;
typedef struct cudnnContext *cudnnHandle_t;
typedef void *cudnnBackendDescriptor_t;
#endif

#define FR_DNN_CONSTANTS(X)                                                                    \
    X(FR_DNN_OK, CUDNN_STATUS_SUCCESS, 0)                                                      \
    X(FR_DNN_NOT_SUPPORTED, CUDNN_STATUS_NOT_SUPPORTED, 3000)                                  \
    X(FR_DNN_FP32, CUDNN_DATA_FLOAT, 0)                                                        \
    X(FR_DNN_FP16, CUDNN_DATA_HALF, 2)                                                         \
    X(FR_DNN_INT32, CUDNN_DATA_INT32, 4)                                                       \
    X(FR_DNN_BF16, CUDNN_DATA_BFLOAT16, 9)                                                     \
    X(FR_DNN_BOOLEAN, CUDNN_DATA_BOOLEAN, 11)                                                  \
    X(FR_DNN_ADD, CUDNN_POINTWISE_ADD, 0)                                                      \
    X(FR_DNN_MUL, CUDNN_POINTWISE_MUL, 1)                                                      \
    X(FR_DNN_DIV, CUDNN_POINTWISE_DIV, 6)                                                      \
    X(FR_DNN_SUB, CUDNN_POINTWISE_SUB, 9)                                                      \
    X(FR_DNN_EXP, CUDNN_POINTWISE_EXP, 13)                                                     \
    X(FR_DNN_LOG, CUDNN_POINTWISE_LOG, 15)                                                     \
    X(FR_DNN_IDENTITY, CUDNN_POINTWISE_IDENTITY, 21)                                           \
    X(FR_DNN_AT_LEAST, CUDNN_POINTWISE_CMP_GE, 303)                                            \
    X(FR_DNN_INDEX, CUDNN_POINTWISE_GEN_INDEX, 501)                                            \
    X(FR_DNN_SELECT, CUDNN_POINTWISE_BINARY_SELECT, 601)                                       \
    X(FR_DNN_SUM, CUDNN_REDUCE_TENSOR_ADD, 0)                                                  \
    X(FR_DNN_LARGEST, CUDNN_REDUCE_TENSOR_MAX, 3)                                              \
    X(FR_DNN_MODE_A, CUDNN_HEUR_MODE_A, 3)                                                     \
    X(FR_DNN_IS_HANDLE, CUDNN_TYPE_HANDLE, 0)                                                  \
    X(FR_DNN_IS_DATA_TYPE, CUDNN_TYPE_DATA_TYPE, 1)                                            \
    X(FR_DNN_IS_BOOLEAN, CUDNN_TYPE_BOOLEAN, 2)                                                \
    X(FR_DNN_IS_INT64, CUDNN_TYPE_INT64, 3)                                                    \
    X(FR_DNN_IS_POINTER, CUDNN_TYPE_VOID_PTR, 6)                                               \
    X(FR_DNN_IS_HEURISTIC, CUDNN_TYPE_HEUR_MODE, 8)                                            \
    X(FR_DNN_IS_POINTWISE, CUDNN_TYPE_POINTWISE_MODE, 14)                                      \
    X(FR_DNN_IS_DESCRIPTOR, CUDNN_TYPE_BACKEND_DESCRIPTOR, 15)                                 \
    X(FR_DNN_IS_REDUCTION, CUDNN_TYPE_REDUCTION_OPERATOR_TYPE, 18)                             \
    X(FR_DNN_IS_CHAR, CUDNN_TYPE_CHAR, 24)                                                     \
    X(FR_DNN_POINTWISE, CUDNN_BACKEND_POINTWISE_DESCRIPTOR, 0)                                 \
    X(FR_DNN_CONFIGURATION, CUDNN_BACKEND_ENGINECFG_DESCRIPTOR, 3)                             \
    X(FR_DNN_HEURISTIC, CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR, 4)                                \
    X(FR_DNN_PLAN, CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR, 5)                                 \
    X(FR_DNN_DO_POINTWISE, CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR, 13)                   \
    X(FR_DNN_GRAPH, CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR, 15)                               \
    X(FR_DNN_VARIANTS, CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR, 16)                              \
    X(FR_DNN_TENSOR, CUDNN_BACKEND_TENSOR_DESCRIPTOR, 17)                                      \
    X(FR_DNN_MATMUL, CUDNN_BACKEND_MATMUL_DESCRIPTOR, 18)                                      \
    X(FR_DNN_DO_MATMUL, CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR, 19)                         \
    X(FR_DNN_REDUCTION, CUDNN_BACKEND_REDUCTION_DESCRIPTOR, 21)                                \
    X(FR_DNN_DO_REDUCTION, CUDNN_BACKEND_OPERATION_REDUCTION_DESCRIPTOR, 22)                   \
    X(FR_DNN_DO_RESHAPE, CUDNN_BACKEND_OPERATION_RESHAPE_DESCRIPTOR, 31)                       \
    X(FR_DNN_PROPERTIES, CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR, 38)                              \
    X(FR_DNN_POINTWISE_MODE, CUDNN_ATTR_POINTWISE_MODE, 0)                                     \
    X(FR_DNN_POINTWISE_TYPE, CUDNN_ATTR_POINTWISE_MATH_PREC, 1)                                \
    X(FR_DNN_POINTWISE_AXIS, CUDNN_ATTR_POINTWISE_AXIS, 9)                                     \
    X(FR_DNN_HEURISTIC_MODE, CUDNN_ATTR_ENGINEHEUR_MODE, 200)                                  \
    X(FR_DNN_HEURISTIC_GRAPH, CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, 201)                      \
    X(FR_DNN_HEURISTIC_RESULTS, CUDNN_ATTR_ENGINEHEUR_RESULTS, 202)                            \
    X(FR_DNN_HEURISTIC_PROPERTIES, CUDNN_ATTR_ENGINEHEUR_DEVICEPROP, 204)                      \
    X(FR_DNN_PLAN_HANDLE, CUDNN_ATTR_EXECUTION_PLAN_HANDLE, 400)                               \
    X(FR_DNN_PLAN_CONFIGURATION, CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, 401)                 \
    X(FR_DNN_PLAN_WORKSPACE_B, CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE, 402)                  \
    X(FR_DNN_PLAN_PROPERTIES, CUDNN_ATTR_EXECUTION_PLAN_DEVICEPROP, 407)                       \
    X(FR_DNN_POINTWISE_HOW, CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR, 750)                 \
    X(FR_DNN_POINTWISE_X, CUDNN_ATTR_OPERATION_POINTWISE_XDESC, 751)                           \
    X(FR_DNN_POINTWISE_B, CUDNN_ATTR_OPERATION_POINTWISE_BDESC, 752)                           \
    X(FR_DNN_POINTWISE_Y, CUDNN_ATTR_OPERATION_POINTWISE_YDESC, 753)                           \
    X(FR_DNN_POINTWISE_T, CUDNN_ATTR_OPERATION_POINTWISE_TDESC, 758)                           \
    X(FR_DNN_GRAPH_HANDLE, CUDNN_ATTR_OPERATIONGRAPH_HANDLE, 800)                              \
    X(FR_DNN_GRAPH_OPERATIONS, CUDNN_ATTR_OPERATIONGRAPH_OPS, 801)                             \
    X(FR_DNN_TENSOR_ALIGNMENT, CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, 900)                          \
    X(FR_DNN_TENSOR_TYPE, CUDNN_ATTR_TENSOR_DATA_TYPE, 901)                                    \
    X(FR_DNN_TENSOR_SIZES, CUDNN_ATTR_TENSOR_DIMENSIONS, 902)                                  \
    X(FR_DNN_TENSOR_STRIDES, CUDNN_ATTR_TENSOR_STRIDES, 903)                                   \
    X(FR_DNN_TENSOR_NAME, CUDNN_ATTR_TENSOR_UNIQUE_ID, 906)                                    \
    X(FR_DNN_TENSOR_IS_VIRTUAL, CUDNN_ATTR_TENSOR_IS_VIRTUAL, 907)                             \
    X(FR_DNN_TENSOR_IS_VALUE, CUDNN_ATTR_TENSOR_IS_BY_VALUE, 908)                              \
    X(FR_DNN_VARIANT_NAMES, CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, 1000)                          \
    X(FR_DNN_VARIANT_POINTERS, CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, 1001)                    \
    X(FR_DNN_VARIANT_WORKSPACE, CUDNN_ATTR_VARIANT_PACK_WORKSPACE, 1003)                       \
    X(FR_DNN_MATMUL_TYPE, CUDNN_ATTR_MATMUL_COMP_TYPE, 1500)                                   \
    X(FR_DNN_MATMUL_A, CUDNN_ATTR_OPERATION_MATMUL_ADESC, 1520)                                \
    X(FR_DNN_MATMUL_B, CUDNN_ATTR_OPERATION_MATMUL_BDESC, 1521)                                \
    X(FR_DNN_MATMUL_C, CUDNN_ATTR_OPERATION_MATMUL_CDESC, 1522)                                \
    X(FR_DNN_MATMUL_HOW, CUDNN_ATTR_OPERATION_MATMUL_DESC, 1523)                               \
    X(FR_DNN_REDUCTION_MODE, CUDNN_ATTR_REDUCTION_OPERATOR, 1600)                              \
    X(FR_DNN_REDUCTION_TYPE, CUDNN_ATTR_REDUCTION_COMP_TYPE, 1601)                             \
    X(FR_DNN_REDUCTION_X, CUDNN_ATTR_OPERATION_REDUCTION_XDESC, 1610)                          \
    X(FR_DNN_REDUCTION_Y, CUDNN_ATTR_OPERATION_REDUCTION_YDESC, 1611)                          \
    X(FR_DNN_REDUCTION_HOW, CUDNN_ATTR_OPERATION_REDUCTION_DESC, 1612)                         \
    X(FR_DNN_RESHAPE_X, CUDNN_ATTR_OPERATION_RESHAPE_XDESC, 2200)                              \
    X(FR_DNN_RESHAPE_Y, CUDNN_ATTR_OPERATION_RESHAPE_YDESC, 2201)                              \
    X(FR_DNN_PROPERTIES_TEXT, CUDNN_ATTR_DEVICEPROP_JSON_REPRESENTATION, 2702)

enum {
#define FR_DNN_ENUM(ours, theirs, value) ours = (value),
    FR_DNN_CONSTANTS(FR_DNN_ENUM)
#undef FR_DNN_ENUM
};

/* result, name, arguments */
#define FR_DNN_FUNCTIONS(X)                                                                    \
    X(size_t, cudnnGetVersion, (void))                                                         \
    X(const char *, cudnnGetErrorString, (cudnnStatus_t))                                      \
    X(cudnnStatus_t, cudnnCreate, (cudnnHandle_t *))                                           \
    X(cudnnStatus_t, cudnnDestroy, (cudnnHandle_t))                                            \
    X(cudnnStatus_t, cudnnSetStream, (cudnnHandle_t, cudaStream_t))                            \
    X(cudnnStatus_t, cudnnBackendCreateDescriptor,                                             \
      (cudnnBackendDescriptorType_t, cudnnBackendDescriptor_t *))                              \
    X(cudnnStatus_t, cudnnBackendDestroyDescriptor, (cudnnBackendDescriptor_t))                \
    X(cudnnStatus_t, cudnnBackendFinalize, (cudnnBackendDescriptor_t))                         \
    X(cudnnStatus_t, cudnnBackendSetAttribute,                                                 \
      (cudnnBackendDescriptor_t, cudnnBackendAttributeName_t, cudnnBackendAttributeType_t,     \
       int64_t, const void *))                                                                 \
    X(cudnnStatus_t, cudnnBackendGetAttribute,                                                 \
      (cudnnBackendDescriptor_t const, cudnnBackendAttributeName_t,                            \
       cudnnBackendAttributeType_t, int64_t, int64_t *, void *))                               \
    X(cudnnStatus_t, cudnnBackendExecute,                                                      \
      (cudnnHandle_t, cudnnBackendDescriptor_t, cudnnBackendDescriptor_t))

struct fr_dnn_api {
#define FR_DNN_POINTER(result, name, arguments) result(*name) arguments;
    FR_DNN_FUNCTIONS(FR_DNN_POINTER)
#undef FR_DNN_POINTER
};

#endif
