/* Random operands: products of zeros are 13 % faster than those of a training step. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/random.h"
#include "calibrate/measure/device/cuda/context.h"

/* Values that are drawn; the inputs repeat them. */
enum { DRAWN = 1 << 20 };

/* Nearest value of a format of @p exponent and @p mantissa bits, subnormals kept; @p x is far from its largest. */
static unsigned narrow(float x, int exponent_bits, int mantissa_bits) {
    int exponent = 0, bias = (1 << (exponent_bits - 1)) - 1;
    unsigned sign = x < 0 ? 1u << (exponent_bits + mantissa_bits) : 0;
    double size = fabs((double)x);
    frexp(size, &exponent); /* size = f 2^exponent, f from a half to one */
    if (size == 0 || exponent - 1 < 1 - bias) exponent = 2 - bias;
    unsigned code = (unsigned)rint(ldexp(size, mantissa_bits - (exponent - 1)));
    return sign | (code + ((unsigned)(exponent - 2 + bias) << mantissa_bits));
}

/* Two values of fp4 are drawn at once, a byte. */
static size_t size_B(fr_dtype dtype) {
    return dtype == FR_FP4 ? 1 : (size_t)fr_dtype_size_B(dtype);
}

static void put(fr_dtype dtype, float x, unsigned char *at) {
    unsigned code = 0;
    double wide = (double)x;
    switch (dtype) {
    case FR_BF16:
        memcpy(&code, &x, sizeof code);
        code >>= 16;
        break;
    case FR_FP16:
        code = narrow(x, 5, 10);
        break;
    case FR_FP8:
        code = narrow(x, 4, 3);
        break;
    case FR_FP4:
        code = narrow(fmaxf(-6, fminf(x, 6)), 2, 1);
        code |= code << 4;
        break;
    case FR_FP64:
        memcpy(at, &wide, sizeof wide);
        return;
    default:
        memcpy(at, &x, sizeof x);
        return;
    }
    for (size_t i = 0; i < size_B(dtype); i++) at[i] = (unsigned char)(code >> (8 * i));
}

/* Values that are there are doubled until they fill the inputs. */
static fr_status repeat(struct fr_device_handle *d, size_t there_B, struct fr_error *err) {
    while (there_B < d->pool_B) {
        size_t more_B = there_B < d->pool_B - there_B ? there_B : d->pool_B - there_B;
        FR_CUDA_TRY(d, cuMemcpyDtoDAsync_v2, d->inputs + there_B, d->inputs, more_B, d->stream);
        there_B += more_B;
    }
    FR_CUDA_TRY(d, cuStreamSynchronize, d->stream);
    return FR_OK;
}

/* No power of two, so that rows of a matrix are not all the same. */
static const size_t drawn = DRAWN - 1031;

/* Drawn once, since points of all dtypes take turns. */
static const unsigned char *draw(struct fr_device_handle *d, fr_dtype dtype) {
    unsigned char *values = d->drawn[dtype];
    uint64_t state = 1;
    if (values) return values;
    d->drawn[dtype] = values = fr_malloc(drawn, size_B(dtype));
    for (size_t i = 0; values && i < drawn; i++)
        put(dtype, (float)fr_random_normal(&state), values + i * size_B(dtype));
    return values;
}

fr_status fr_cuda_fill(struct fr_device_handle *d, fr_dtype dtype, struct fr_error *err) {
    size_t drawn_B = drawn * size_B(dtype);
    if (d->filled == (int)dtype) return FR_OK;
    const unsigned char *values = draw(d, dtype);
    if (!values) return fr_fail(err, FR_ERR_NOMEM, NULL, "out of memory");
    if (drawn_B > d->pool_B) drawn_B = d->pool_B;
    d->filled = -1;
    FR_CUDA_TRY(d, cuMemcpyHtoD_v2, d->inputs, values, drawn_B);
    FR_TRY(repeat(d, drawn_B, err));
    d->filled = (int)dtype;
    return FR_OK;
}
