/* Stands in for libcublasLt.so.13.  With FAKE_OLD it is a version that lacks a function. */
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "tests/calibrate/fake_cuda/fake.h"

#define DECLARE(result, name, arguments) result name arguments;
FR_BLAS_FUNCTIONS(DECLARE)
#undef DECLARE

enum { INVALID_VALUE = 7 };

struct layout {
    cudaDataType_t type;
    uint64_t rows, columns;
    int64_t stride;
    int32_t batch; /* equal ones, `apart` values from one to the next */
    int64_t apart;
};
struct how {
    cublasComputeType_t sum;
    int transposed[2];
    unsigned long long scale[2];
    int mode[2];
};
struct cublasLtContext {
    int some;
};

#define MAY_FAIL()                                                                             \
    do {                                                                                       \
        unsigned code_ = fake_fault(__func__);                                                 \
        if (code_) return code_;                                                               \
    } while (0)

size_t cublasLtGetVersion(void) { return 130100; }

cublasStatus_t cublasLtCreate(cublasLtHandle_t *handle) {
    static struct cublasLtContext some;
    MAY_FAIL();
    *handle = &some;
    return 0;
}

cublasStatus_t cublasLtDestroy(cublasLtHandle_t handle) {
    (void)handle;
    MAY_FAIL();
    return 0;
}

cublasStatus_t cublasLtMatmulDescCreate(cublasLtMatmulDesc_t *how, cublasComputeType_t sum,
                                        cudaDataType_t scale) {
    (void)scale;
    MAY_FAIL();
    struct how *made = calloc(1, sizeof *made);
    made->sum = sum;
    *how = made;
    return 0;
}

cublasStatus_t cublasLtMatmulDescDestroy(cublasLtMatmulDesc_t how) {
    free(how); /* also where it says that it failed, so that no test leaks */
    MAY_FAIL();
    return 0;
}

cublasStatus_t cublasLtMatmulDescSetAttribute(cublasLtMatmulDesc_t desc,
                                              cublasLtMatmulDescAttributes_t which,
                                              const void *value, size_t size_B) {
    struct how *how = desc;
    MAY_FAIL();
    if (which == FR_BLAS_DESC_TRANSA || which == FR_BLAS_DESC_TRANSB) {
        if (size_B != sizeof(int)) return INVALID_VALUE;
        memcpy(&how->transposed[which - FR_BLAS_DESC_TRANSA], value, size_B);
    }
    if (which == FR_BLAS_DESC_SCALE_MODE_A || which == FR_BLAS_DESC_SCALE_MODE_B)
        memcpy(&how->mode[which - FR_BLAS_DESC_SCALE_MODE_A], value, size_B);
    if (which == FR_BLAS_DESC_SCALE_A || which == FR_BLAS_DESC_SCALE_B) {
        if (size_B != sizeof *how->scale) return INVALID_VALUE;
        memcpy(&how->scale[which - FR_BLAS_DESC_SCALE_A], value, size_B);
    }
    return 0;
}

cublasStatus_t cublasLtMatrixLayoutCreate(cublasLtMatrixLayout_t *layout, cudaDataType_t type,
                                          uint64_t rows, uint64_t columns, int64_t stride) {
    MAY_FAIL();
    if (stride < (int64_t)rows) return INVALID_VALUE;
    struct layout *made = calloc(1, sizeof *made);
    *made = (struct layout){type, rows, columns, stride, 1, 0};
    *layout = made;
    return 0;
}

cublasStatus_t cublasLtMatrixLayoutDestroy(cublasLtMatrixLayout_t layout) {
    MAY_FAIL();
    free(layout);
    return 0;
}

cublasStatus_t cublasLtMatrixLayoutSetAttribute(cublasLtMatrixLayout_t of,
                                                cublasLtMatrixLayoutAttribute_t which,
                                                const void *value, size_t size_B) {
    struct layout *layout = of;
    MAY_FAIL();
    if (which == FR_BLAS_LAYOUT_BATCH && size_B == sizeof layout->batch)
        memcpy(&layout->batch, value, size_B);
    else if (which == FR_BLAS_LAYOUT_STRIDE && size_B == sizeof layout->apart)
        memcpy(&layout->apart, value, size_B);
    else
        return INVALID_VALUE;
    return 0;
}

cublasStatus_t cublasLtMatmulPreferenceCreate(cublasLtMatmulPreference_t *preference) {
    MAY_FAIL();
    *preference = malloc(1);
    return 0;
}

cublasStatus_t cublasLtMatmulPreferenceDestroy(cublasLtMatmulPreference_t preference) {
    MAY_FAIL();
    free(preference);
    return 0;
}

cublasStatus_t cublasLtMatmulPreferenceSetAttribute(cublasLtMatmulPreference_t preference,
                                                    cublasLtMatmulPreferenceAttributes_t which,
                                                    const void *value, size_t size_B) {
    (void)preference, (void)which, (void)value, (void)size_B;
    MAY_FAIL();
    return 0;
}

/* Columns and rows of the product as cuBLAS counts them, or a sum over nothing where they do not match. */
struct sizes {
    uint64_t m, n, k;
};

static int measure(const struct how *how, const struct layout *a, const struct layout *b,
                   const struct layout *c, struct sizes *s) {
    uint64_t inner = how->transposed[1] ? b->columns : b->rows;
    s->m = how->transposed[0] ? a->columns : a->rows;
    s->k = how->transposed[0] ? a->rows : a->columns;
    s->n = how->transposed[1] ? b->rows : b->columns;
    return inner == s->k && c->rows == s->m && c->columns == s->n;
}

static int is_whole(const struct layout *x, int32_t batch) {
    return x->batch == batch && (batch == 1 || x->apart == (int64_t)(x->rows * x->columns));
}

/* Scales of an operand's blocks: 16 values of fp4; of fp8 on Hopper squares of weights and rows of 128 tokens. */
static int has_scales(const struct how *how, const struct layout *a) {
    if (a->type == FR_BLAS_REAL_E2M1)
        return how->mode[0] == FR_BLAS_SCALE_OF_16 && how->mode[1] == FR_BLAS_SCALE_OF_16;
    if (!how->mode[0] && !how->mode[1]) return 1;
    return how->mode[0] == FR_BLAS_SCALE_OF_SQUARE && how->mode[1] == FR_BLAS_SCALE_OF_128;
}

/* There is one layout at 8 bits and at 4, with scales that are aligned, as on Hopper and Blackwell. */
static cublasStatus_t check(const struct how *how, const struct layout *a,
                            const struct layout *b, const struct layout *c, struct sizes *s) {
    if (!measure(how, a, b, c, s)) return INVALID_VALUE;
    if (!is_whole(a, a->batch) || !is_whole(b, a->batch) || !is_whole(c, a->batch))
        return INVALID_VALUE;
    if (a->type != FR_BLAS_REAL_E4M3 && a->type != FR_BLAS_REAL_E2M1) return 0;
    if (!has_scales(how, a)) return FR_BLAS_NOT_SUPPORTED;
    int aligned =
        how->scale[0] && how->scale[1] && how->scale[0] % 16 == 0 && how->scale[1] % 16 == 0;
    return how->transposed[0] && !how->transposed[1] && aligned ? 0 : FR_BLAS_NOT_SUPPORTED;
}

cublasStatus_t cublasLtMatmulAlgoGetHeuristic(cublasLtHandle_t handle, cublasLtMatmulDesc_t how,
                                              cublasLtMatrixLayout_t a,
                                              cublasLtMatrixLayout_t b,
                                              cublasLtMatrixLayout_t c,
                                              cublasLtMatrixLayout_t d,
                                              cublasLtMatmulPreference_t preference, int wanted,
                                              cublasLtMatmulHeuristicResult_t *found, int *n) {
    struct sizes s;
    (void)handle, (void)d, (void)preference, (void)wanted;
    MAY_FAIL();
    memset(found, 0, sizeof *found);
    found->state = check(how, a, b, c, &s);
    *n = found->state == 0;
    return found->state;
}

static double tiles(uint64_t size) { return ceil((double)size / 128); }

static double rate_of(const struct how *how, const struct layout *a) {
    return how->sum == FR_BLAS_COMPUTE_TF32 ? FAKE_PEAK / 2
           : a->type == FR_BLAS_REAL_E2M1   ? FAKE_PEAK * 4
           : a->type == FR_BLAS_REAL_E4M3   ? FAKE_PEAK * 1979 / 989
           : a->type == FR_BLAS_REAL_FP32   ? FAKE_PEAK / 15
           : a->type == FR_BLAS_REAL_FP64   ? FAKE_PEAK / 15
                                            : FAKE_PEAK;
}

static double value_B(const struct layout *a) {
    return a->type == FR_BLAS_REAL_E2M1   ? 0.5
           : a->type == FR_BLAS_REAL_E4M3 ? 1
           : a->type == FR_BLAS_REAL_FP32 ? 4
           : a->type == FR_BLAS_REAL_FP64 ? 8
                                          : 2;
}

#ifndef FAKE_OLD
cublasStatus_t cublasLtMatmul(cublasLtHandle_t handle, cublasLtMatmulDesc_t desc,
                              const void *alpha, const void *a, cublasLtMatrixLayout_t a_layout,
                              const void *b, cublasLtMatrixLayout_t b_layout, const void *beta,
                              const void *c, cublasLtMatrixLayout_t c_layout, void *d,
                              cublasLtMatrixLayout_t d_layout,
                              const cublasLtMatmulAlgo_t *algorithm, void *workspace,
                              size_t workspace_B, cudaStream_t stream) {
    const struct layout *first = a_layout, *second = b_layout, *result = c_layout;
    struct sizes s;
    (void)handle, (void)alpha, (void)beta, (void)algorithm, (void)workspace, (void)workspace_B,
        (void)stream, (void)d_layout;
    MAY_FAIL();
    if (!a || !b || !c || !d) return INVALID_VALUE;
    cublasStatus_t code = check(desc, first, second, result, &s);
    if (code) return code;
    double all = tiles(s.m) * tiles(s.n), flop = 2 * all * 128 * 128 * (double)s.k;
    uint64_t align =
        first->type == FR_BLAS_REAL_E4M3 || first->type == FR_BLAS_REAL_E2M1 ? 128 : 64;
    double slow = s.m % align || s.n % align || s.k % align ? FAKE_MISALIGNED : 1;
    double batch = first->batch, at_once = batch > 1 ? FAKE_GROUPED : 1;
    double time_s =
        flop / (at_once * FAKE_EFFICIENCY * rate_of(desc, first)) *
        (1 + FAKE_TAIL * FAKE_UNITS / (batch * all)) * slow *
        (((struct how *)desc)->mode[0] == FR_BLAS_SCALE_OF_SQUARE ? FAKE_BLOCKS : 1);
    double moved_B = (double)s.m * (double)s.n * value_B(result);
    if (batch > 1) moved_B += (double)s.m * (double)s.k * value_B(first);
    fake_spend(batch * (time_s + moved_B / FAKE_MEMORY), FAKE_PRODUCT);
    return 0;
}
#endif
