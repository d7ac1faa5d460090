// Patterns of traffic.  Every thread moves 16 bytes at a time; the grid strides over the array.
// kernels.ptx is made of this, by hand, and compiled into the program (cmake/presets.cmake):
//     nvcc -ptx -arch=compute_75 -O3 kernels.cu
// with its first lines set back to what older drivers read: .version 6.4, .target sm_70; comments left out.
#include <cuda_bf16.h>
extern "C" {
__global__ void fr_nothing(int *x) { if (x) *x = 1; }

// y = x
__global__ void fr_stream(const uint4 *__restrict__ x, const uint4 *__restrict__ unused, uint4 *__restrict__ y, unsigned long long n) {
    for (unsigned long long i = blockIdx.x * (unsigned long long)blockDim.x + threadIdx.x; i < n; i += (unsigned long long)gridDim.x * blockDim.x)
        y[i] = x[i];
}
__device__ inline float low(unsigned v) { return __uint_as_float(v << 16); }
__device__ inline float high(unsigned v) { return __uint_as_float(v & 0xffff0000u); }
__device__ inline unsigned pack(float a, float b) { return (__float_as_uint(b) & 0xffff0000u) | (__float_as_uint(a) >> 16); }
__device__ inline unsigned sum(unsigned a, unsigned b) { return pack(low(a) + low(b), high(a) + high(b)); }

// z = x + y, of bf16
__global__ void fr_elementwise(const uint4 *__restrict__ x, const uint4 *__restrict__ y, uint4 *__restrict__ z, unsigned long long n) {
    for (unsigned long long i = blockIdx.x * (unsigned long long)blockDim.x + threadIdx.x; i < n; i += (unsigned long long)gridDim.x * blockDim.x) {
        uint4 a = x[i], b = y[i];
        z[i] = make_uint4(sum(a.x, b.x), sum(a.y, b.y), sum(a.z, b.z), sum(a.w, b.w));
    }
}
__device__ inline float squares(unsigned v) { return low(v) * low(v) + high(v) * high(v); }
__device__ inline unsigned scaled(unsigned v, float by) { return pack(low(v) * by, high(v) * by); }

__device__ inline float whole(float v, bool largest) {
    __shared__ float part[33];
    for (int step = 16; step > 0; step /= 2) {
        float other = __shfl_xor_sync(0xffffffffu, v, step);
        v = largest ? fmaxf(v, other) : v + other;
    }
    if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = v;
    __syncthreads();
    if (threadIdx.x < 32) {
        v = threadIdx.x < blockDim.x / 32 ? part[threadIdx.x] : (largest ? -3e38f : 0.0f);
        for (int step = 16; step > 0; step /= 2) {
            float other = __shfl_xor_sync(0xffffffffu, v, step);
            v = largest ? fmaxf(v, other) : v + other;
        }
        if (threadIdx.x == 0) part[32] = v;
    }
    __syncthreads();
    v = part[32];
    __syncthreads();
    return v;
}
// A row of 4,096 values of bf16 a block of 256 threads, over the root of its mean square: read once, kept in registers.
__global__ void fr_norm(const uint4 *__restrict__ x, const uint4 *__restrict__ unused, uint4 *__restrict__ y, unsigned long long n) {
    for (unsigned long long row = blockIdx.x; row < n / 512; row += gridDim.x) {
        uint4 a = x[row * 512 + threadIdx.x], b = x[row * 512 + 256 + threadIdx.x];
        float s = squares(a.x) + squares(a.y) + squares(a.z) + squares(a.w) + squares(b.x) + squares(b.y) + squares(b.z) + squares(b.w);
        float by = rsqrtf(whole(s, false) / 4096.0f + 1e-6f);
        y[row * 512 + threadIdx.x] = make_uint4(scaled(a.x, by), scaled(a.y, by), scaled(a.z, by), scaled(a.w, by));
        y[row * 512 + 256 + threadIdx.x] = make_uint4(scaled(b.x, by), scaled(b.y, by), scaled(b.z, by), scaled(b.w, by));
    }
}
// Likewise the row's softmax.
__device__ inline float top(uint4 a) { return fmaxf(fmaxf(fmaxf(low(a.x), high(a.x)), fmaxf(low(a.y), high(a.y))), fmaxf(fmaxf(low(a.z), high(a.z)), fmaxf(low(a.w), high(a.w)))); }
__device__ inline float ex(unsigned v, float t) { return __expf(low(v) - t) + __expf(high(v) - t); }
__device__ inline unsigned out(unsigned v, float t, float by) { return pack(__expf(low(v) - t) * by, __expf(high(v) - t) * by); }
__global__ void fr_softmax(const uint4 *__restrict__ x, const uint4 *__restrict__ unused, uint4 *__restrict__ y, unsigned long long n) {
    for (unsigned long long row = blockIdx.x; row < n / 512; row += gridDim.x) {
        uint4 a = x[row * 512 + threadIdx.x], b = x[row * 512 + 256 + threadIdx.x];
        float t = whole(fmaxf(top(a), top(b)), true);
        float s = ex(a.x, t) + ex(a.y, t) + ex(a.z, t) + ex(a.w, t) + ex(b.x, t) + ex(b.y, t) + ex(b.z, t) + ex(b.w, t);
        float by = 1.0f / whole(s, false);
        y[row * 512 + threadIdx.x] = make_uint4(out(a.x, t, by), out(a.y, t, by), out(a.z, t, by), out(a.w, t, by));
        y[row * 512 + 256 + threadIdx.x] = make_uint4(out(b.x, t, by), out(b.y, t, by), out(b.z, t, by), out(b.w, t, by));
    }
}
// Adam in fp32: x gradients; y holds n 16-byte pieces of weights, then of both moments.
__device__ inline void adam(float g, float &w, float &m, float &v) {
    m = 0.9f * m + 0.1f * g;
    v = 0.999f * v + 0.001f * g * g;
    w = w * 0.99999f - 1e-4f * m / (sqrtf(v) + 1e-8f);
}
__global__ void fr_update(const float4 *__restrict__ x, const float4 *__restrict__ unused, float4 *__restrict__ y, unsigned long long n) {
    for (unsigned long long i = blockIdx.x * (unsigned long long)blockDim.x + threadIdx.x; i < n; i += (unsigned long long)gridDim.x * blockDim.x) {
        float4 g = x[i], w = y[i], m = y[n + i], v = y[2 * n + i];
        adam(g.x, w.x, m.x, v.x);
        adam(g.y, w.y, m.y, v.y);
        adam(g.z, w.z, m.z, v.z);
        adam(g.w, w.w, m.w, v.w);
        y[i] = w;
        y[n + i] = m;
        y[2 * n + i] = v;
    }
}
}
