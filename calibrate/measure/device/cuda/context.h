/** @file
 *  An NVIDIA GPU at work: libraries, one stream, memory for operands and results.
 *
 *  Operands are read from `inputs`, which is filled with random values of one dtype at a time; results go to
 *  `outputs`.  Calls go through operand sets in turn, so that together they exceed twice the cache: in a training
 *  step others have pushed out what a product reads.
 */
#ifndef FR_CALIBRATE_MEASURE_DEVICE_CUDA_CONTEXT_H
#define FR_CALIBRATE_MEASURE_DEVICE_CUDA_CONTEXT_H

#include "calibrate/measure/device/cuda/attention.h"
#include "calibrate/measure/device/cuda/blas_api.h"
#include "calibrate/measure/device/cuda/driver_api.h"
#include "calibrate/measure/device/cuda/nccl_api.h"
#include "calibrate/measure/device/cuda/nvml_api.h"
#include "calibrate/measure/device/device.h"
#include "calibrate/measure/device/library.h"

enum { FR_CUDA_THREADS = 256, FR_CUDA_ALIGN_B = 256 };

/** One product, ready to run. */
struct fr_cuda_product {
    cublasLtMatmulDesc_t how;
    cublasLtMatrixLayout_t a, b, c; /* as cuBLAS counts them, column by column */
    cublasLtMatmulAlgo_t algorithm;
    size_t workspace_B;
    CUdeviceptr stride_inputs_B, offset_b_B, stride_outputs_B;
    int n_sets;
};

/** One pass of attention, ready to run. */
struct fr_cuda_pass {
    struct fr_dnn_graph graph;
    cudnnBackendDescriptor_t plan, variants;
};

struct fr_cuda_attention {
    CUdeviceptr place[FR_ATTENTION_NAMES];
    float value[FR_ATTENTION_NAMES];
    struct fr_cuda_pass pass[2]; /* forward, backward */
};

struct fr_gpu_platform;

struct fr_device_handle {
    const struct fr_gpu_platform *platform;
    int index;
    struct fr_device_facts facts;
    void *driver_library, *blas_library, *dnn_library, *nccl_library, *nvml_library;
    struct fr_cuda_api cuda;
    struct fr_blas_api blas;
    struct fr_dnn_api dnn;
    struct fr_nccl_api nccl;
    struct fr_nvml_api nvml; /* nvml_device NULL: not there */
    nvmlDevice_t nvml_device;
    void *management; /* of a platform whose library is not NVML's kin */
    CUdevice device;
    CUcontext context;
    CUstream stream, beside; /* beside: of collectives while the other multiplies */
    CUevent start, stop, joined;
    CUmodule kernels;
    CUfunction nothing, passes[FR_TRAFFIC_COUNT]; /* NULL: none of that kind */
    cublasLtHandle_t blas_handle;
    cudnnHandle_t dnn_handle; /* NULL: not there */
    CUdeviceptr inputs, outputs, workspace, scales, block_scales;
    size_t pool_B;                        /* of inputs and of outputs, each */
    unsigned char *drawn[FR_DTYPE_COUNT]; /* values that the inputs repeat; NULL: not yet */
    int filled;                           /* fr_dtype of the inputs; -1: nothing */
    unsigned ones;                        /* what block_scales repeat */
    void *host_pinned, *host_pages;
    size_t host_B;
    CUgraphExec graph; /* of FR_CUDA_GRAPH empty kernels */
    struct fr_device_task task;
    struct fr_cuda_product product;
    struct fr_cuda_attention attention;
    struct {
        char path[256];      /* of NCCL's log */
        long at;             /* read so far */
        void (*reset)(void); /* NULL: it is not asked */
    } choice;
};

/** Scales of blocks, all 1: one for 16 values of the largest operand. */
enum { FR_CUDA_BLOCK_SCALES_B = 32 << 20 };
enum { FR_CUDA_GRAPH = 256, FR_CUDA_WORKSPACE_B = 32 << 20 };

/** The text of kernels.ptx, which the driver compiles for the GPU. */
extern const unsigned char fr_cuda_kernels[];

extern const struct fr_library fr_cuda_driver_library, fr_cuda_blas_library,
    fr_cuda_dnn_library, fr_cuda_nccl_library, fr_cuda_nvml_library;

/** FR_OK, or what the driver says of @p code in the call named @p what. */
fr_status fr_cuda_check(const struct fr_device_handle *d, CUresult code, const char *what,
                        struct fr_error *err);
#define FR_CUDA_TRY(d, call, ...)                                                              \
    FR_TRY(fr_cuda_check(d, (d)->cuda.call(__VA_ARGS__), #call, err))

/** Fill the inputs with normal random values of @p dtype, unless they are. */
fr_status fr_cuda_fill(struct fr_device_handle *d, fr_dtype dtype, struct fr_error *err);

/** FR_OK, or what the library of products says of @p code in the call named @p what. */
fr_status fr_cuda_blas_check(const struct fr_device_handle *d, cublasStatus_t code,
                             const char *what, struct fr_error *err);
#define FR_BLAS_TRY(d, call, ...)                                                              \
    FR_TRY(fr_cuda_blas_check(d, (d)->blas.call(__VA_ARGS__), #call, err))
/** Tell the prepared product's description what its narrow operands are scaled by.
 *  @return FR_OK; FR_ERR_UNSUPPORTED: this device or library has no such scales; FR_ERR_EXTERNAL */
fr_status fr_cuda_product_scales(struct fr_device_handle *d, struct fr_error *err);

fr_status fr_cuda_product_prepare(struct fr_device_handle *d, struct fr_error *err);
void fr_cuda_product_release(struct fr_device_handle *d);
fr_status fr_cuda_product_run(struct fr_device_handle *d, int calls, struct fr_error *err);

fr_status fr_cuda_attention_prepare(struct fr_device_handle *d, struct fr_error *err);
void fr_cuda_attention_release(struct fr_device_handle *d);
fr_status fr_cuda_attention_run(struct fr_device_handle *d, int calls, struct fr_error *err);

fr_status fr_cuda_group_id(struct fr_device_handle *d, unsigned char id[FR_DEVICE_GROUP_ID_B],
                           struct fr_error *err);
fr_status fr_cuda_group_open(struct fr_device_handle *d,
                             const unsigned char id[FR_DEVICE_GROUP_ID_B], int n_ranks,
                             int rank, struct fr_device_group **group, struct fr_error *err);
void fr_cuda_group_close(struct fr_device_handle *d, struct fr_device_group *group);
/** Let NCCL log its choices, before its first call; and no longer. */
void fr_cuda_choice_begin(struct fr_device_handle *d);
void fr_cuda_choice_end(struct fr_device_handle *d);
void fr_cuda_choice_of(struct fr_device_handle *d, struct fr_device_choice *choice);
/** @return whether a line of NCCL's log states a choice, which is then that. */
bool fr_cuda_choice_read(const char *line, struct fr_device_choice *choice);
fr_status fr_cuda_group_check(struct fr_device_handle *d, struct fr_error *err);
fr_status fr_cuda_collective_prepare(struct fr_device_handle *d, struct fr_error *err);
fr_status fr_cuda_collective_run(struct fr_device_handle *d, int calls, struct fr_error *err);
fr_status fr_cuda_beside_run(struct fr_device_handle *d, int calls, struct fr_error *err);

fr_status fr_cuda_pass_prepare(struct fr_device_handle *d, struct fr_error *err);
fr_status fr_cuda_pass_run(struct fr_device_handle *d, int calls, struct fr_error *err);
fr_status fr_cuda_launch_run(struct fr_device_handle *d, int calls, struct fr_error *err);
fr_status fr_cuda_graph_prepare(struct fr_device_handle *d, struct fr_error *err);
fr_status fr_cuda_graph_run(struct fr_device_handle *d, int calls, struct fr_error *err);
fr_status fr_cuda_link_prepare(struct fr_device_handle *d, struct fr_error *err);
fr_status fr_cuda_link_run(struct fr_device_handle *d, int calls, struct fr_error *err);
double fr_cuda_moved_B(const struct fr_device_task *task);

#endif
