/* Time of one matrix product on a cluster's device. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "app/load.h"
#include "app/verb.h"

static const struct fr_option options[] = {
    FR_OPTION_CLUSTER,
    FR_OPTION_SET,
    {"m", "M", "rows of the result", 0},
    {"n", "N", "columns of the result", 0},
    {"k", "K", "inner dimension", 0},
    {"batch", "B",
     "samples it serves, for devices known by throughput against batch (default n)", 0},
    {"dtype", "NAME", "fp64, fp32, tf32, bf16, fp16, fp8, fp4 (default fp32)", 0},
    FR_OPTION_JSON,
    FR_OPTION_HELP,
    FR_OPTION_END};

static fr_status read_shape(const struct fr_args *args, struct fr_gemm_shape *shape,
                            struct fr_error *err) {
    const char *names[] = {"m", "n", "k", "batch"}, *given;
    double *fields[] = {&shape->m, &shape->n, &shape->k, &shape->batch};
    for (int i = 0; i < 4; i++) {
        long long value = (long long)shape->n;
        if (i < 3) FR_TRY(fr_args_required(args, names[i], &given, err));
        FR_TRY(fr_args_integer(args, names[i], 1, 1LL << 40, &value, err));
        *fields[i] = (double)value;
    }
    return FR_OK;
}

static void print_json(struct fr_text *text, const struct fr_gemm_shape *s, const char *dtype,
                       const char *form, double time_s, double launch_s, double rate,
                       bool extrapolated) {
    struct fr_json_writer w = {.text = text, .indent = 2};
    fr_json_begin_object(&w);
    fr_json_add_string(&w, "schema", "forerun/gemm/1");
    fr_json_add_string(&w, "dtype", dtype);
    fr_json_add_number(&w, "m", s->m);
    fr_json_add_number(&w, "n", s->n);
    fr_json_add_number(&w, "k", s->k);
    fr_json_add_string(&w, "form", form);
    fr_json_add_number(&w, "time_s", time_s);
    fr_json_add_number(&w, "launch_s", launch_s);
    fr_json_add_number(&w, "rate_flop_per_s", rate);
    fr_json_add_bool(&w, "extrapolated", extrapolated);
    fr_json_end_object(&w);
}

static fr_status gemm(const struct fr_args *args, struct fr_job *job, struct fr_error *err) {
    struct fr_gemm_shape shape = {0};
    struct fr_text text = {0};
    int dtype = FR_FP32;
    bool extrapolated = false;
    char time[40], rate_text[40], launch[40];
    FR_TRY(read_shape(args, &shape, err));
    FR_TRY(fr_args_choice(args, "dtype", fr_dtype_names, &dtype, err));
    FR_TRY(fr_app_load(args, false, job, err));
    const struct fr_device *device = &job->cluster.device;
    if (!device->gemm[dtype].form)
        return fr_fail(err, FR_ERR_INPUT, job->cluster_from,
                       "the device does not say how fast it is in %s", fr_dtype_names[dtype]);
    double time_s = fr_gemm_time_s(device, (fr_dtype)dtype, &shape, &extrapolated);
    double rate = 2 * shape.m * shape.n * shape.k / time_s;
    const char *form = device->gemm[dtype].form->name;
    if (fr_args_has(args, "json"))
        print_json(&text, &shape, fr_dtype_names[dtype], form, time_s, device->launch_s, rate,
                   extrapolated);
    else
        fr_text_addf(
            &text, "%.0f x %.0f x %.0f %s: %s, %s\n  form %s; launch %s on top%s\n", shape.m,
            shape.n, shape.k, fr_dtype_names[dtype],
            fr_quantity_format(time_s, FR_QUANTITY_TIME, time, sizeof time),
            fr_quantity_format(rate, FR_QUANTITY_WORK_RATE, rate_text, sizeof rate_text), form,
            fr_quantity_format(device->launch_s, FR_QUANTITY_TIME, launch, sizeof launch),
            extrapolated ? "; extrapolated" : "");
    return fr_app_print(&text, err);
}

static fr_status run(const struct fr_args *args, struct fr_error *err) {
    struct fr_job job = {0};
    fr_status status = gemm(args, &job, err);
    fr_job_free(&job);
    return status;
}

const struct fr_verb fr_verb_gemm = {
    .name = "gemm",
    .summary = "time of one matrix product",
    .usage = "--cluster C --m M --n N --k K [--dtype fp32] [--json]",
    .options = options,
    .run = run,
};
