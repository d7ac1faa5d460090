#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "calibrate/samples/import_text.h"

static const double AGREE = 0.02; /* time and rate, of digits that were printed */

int fr_import_dtype(const char *name) {
    static const struct {
        const char *word, *dtype;
    } known[] = {
        {"bfloat16", "bf16"}, {"bf16", "bf16"},        {"bf16r", "bf16"},
        {"float16", "fp16"},  {"half", "fp16"},        {"f16", "fp16"},
        {"f16r", "fp16"},     {"fp16r", "fp16"},       {"fp16", "fp16"},
        {"float32", "fp32"},  {"float", "fp32"},       {"f32", "fp32"},
        {"f32r", "fp32"},     {"fp32", "fp32"},        {"fp32r", "fp32"},
        {"double", "fp64"},   {"float64", "fp64"},     {"f64", "fp64"},
        {"f64r", "fp64"},     {"fp64", "fp64"},        {"fp8", "fp8"},
        {"f8", "fp8"},        {"f8r", "fp8"},          {"fp8e4m3", "fp8"},
        {"f8e4m3", "fp8"},    {"float8e4m3fn", "fp8"}, {"float8e4m3fnuz", "fp8"},
        {"e4m3", "fp8"},      {"float8e4m3", "fp8"},   {"tf32", "tf32"},
        {"xf32r", "tf32"},    {"xf32", "tf32"},        {"fp4", "fp4"},
        {"nvfp4", "fp4"},     {"f4r", "fp4"},
    };
    char plain[32];
    size_t n = 0;
    const char *dot = strrchr(name, '.');
    for (const char *at = dot ? dot + 1 : name; *at && n + 1 < sizeof plain; at++)
        if (isalnum((unsigned char)*at)) plain[n++] = (char)tolower((unsigned char)*at);
    plain[n] = '\0';
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        for (int d = 0; strcmp(plain, known[i].word) == 0 && d < FR_DTYPE_COUNT; d++)
            if (strcmp(fr_dtype_names[d], known[i].dtype) == 0) return d;
    for (int d = 0; d < FR_DTYPE_COUNT; d++)
        if (strcmp(fr_dtype_names[d], plain) == 0) return d;
    return -1;
}

/*      t = 2 m n k b / rate */
fr_status fr_import_product(struct fr_import *in, long line, const struct fr_import_product *p,
                            struct fr_error *err) {
    const char *stated = p->dtype && *p->dtype ? p->dtype : in->given.dtype;
    if (!stated)
        return fr_import_refuse(in, line, err,
                                "does not say the dtype of its products: --dtype bf16, say");
    int dtype = fr_import_dtype(stated);
    if (dtype < 0) {
        fr_import_note(in, line, "left out: of a dtype that is not known, %.30s", stated);
        return FR_OK;
    }
    double flop = 2.0 * (double)p->m * (double)p->n * (double)p->k * (double)p->batch;
    double time_s = p->time_s > 0            ? p->time_s
                    : p->rate_flop_per_s > 0 ? flop / p->rate_flop_per_s
                                             : 0;
    if (p->time_s > 0 && p->rate_flop_per_s > 0 &&
        fabs(flop / p->time_s / p->rate_flop_per_s - 1) > AGREE) {
        fr_import_note(
            in, line,
            "left out: %.4g s are %.4g TFLOP/s for %.0f x %.0f x %.0f, and it says %.4g",
            p->time_s, flop / p->time_s * 1e-12, (double)p->m, (double)p->n, (double)p->k,
            p->rate_flop_per_s * 1e-12);
        return FR_OK;
    }
    if (!(time_s >= FR_SAMPLE_TIME_MIN_S && time_s <= FR_SAMPLE_TIME_MAX_S)) {
        fr_import_note(in, line, "left out: expected a time above 0");
        return FR_OK;
    }
    static const int64_t most = (int64_t)1 << 31;
    if (p->m > most || p->n > most || p->k > most || p->batch > most || p->m < 1 || p->n < 1 ||
        p->k < 1 || p->batch < 1) {
        fr_import_note(in, line, "left out: expected a shape");
        return FR_OK;
    }
    struct fr_sample_gemm s = {.dtype = (fr_dtype)dtype,
                               .m = p->m,
                               .n = p->n,
                               .k = p->k,
                               .batch = p->batch,
                               .time_s = time_s};
    in->n_rows++;
    fr_status status = s.batch > 1 ? fr_samples_add_batched(in->samples, &s)
                                   : fr_samples_add_gemm(in->samples, &s);
    return status == FR_OK ? FR_OK : fr_fail(err, status, in->name, "does not fit in memory");
}
