#include "models/plan/compression.h"

#include <math.h>

const struct fr_compression *const fr_compressions[] = {
#define FR_COMPRESSION(name) &fr_compression_##name,
#include "models/plan/compression_list.h"
#undef FR_COMPRESSION
    NULL};

const char *const fr_compression_names[] = {
#define FR_COMPRESSION(name) #name,
#include "models/plan/compression_list.h"
#undef FR_COMPRESSION
    NULL};

double fr_codec_time_s(const struct fr_device *device, fr_dtype dtype,
                       const struct fr_codec_work *work, double working_set_B,
                       bool *extrapolated) {
    double set_B = fmax(work->moved_B, working_set_B);
    double time_s = work->kernels * device->launch_s +
                    fr_device_traffic_s(device, FR_TRAFFIC_STREAM, work->moved_B, set_B);
    for (int k = 0; k < work->n_gemms; k++)
        time_s += work->gemm[k].count * fr_device_product_s(device, dtype, &work->gemm[k].shape,
                                                            working_set_B, extrapolated);
    return time_s;
}
