/* Time of one matrix product on a cluster's device. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "answer/piece/piece.h"
#include "app/load.h"
#include "app/page/page.h"
#include "app/verb.h"
#include "base/json/interval.h"
#include "base/text/wrap.h"
#include "models/job/runtime.h"

static const struct fr_option options[] = {
    FR_OPTION_CLUSTER,
    FR_OPTION_RUNTIME,
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

/* A product and what it takes. */
struct product {
    struct fr_gemm_shape shape;
    fr_dtype dtype;
    const char *form;
    double time_s, low_s, high_s, launch_s, rate;
    bool extrapolated;
};

static void price(struct fr_job *job, struct product *p) {
    const struct fr_device *device = &job->cluster.device;
    p->form = device->gemm[p->dtype].form->name;
    p->time_s = fr_gemm_time_s(device, p->dtype, &p->shape, &p->extrapolated);
    p->rate = 2 * p->shape.m * p->shape.n * p->shape.k / p->time_s;
    p->launch_s = device->launch_s;
    fr_product_interval(&job->cluster, p->dtype, &p->shape, p->time_s, p->extrapolated,
                        &p->low_s, &p->high_s);
}

/* The same product with other inner dimensions, from an eighth of its own to eight times as many. A narrow product is
 * slow for its work, and the rows beside it tell by how much. */
static void put_rows(struct fr_json_writer *w, const struct fr_job *job,
                     const struct product *p) {
    fr_json_add_array(w, "rows");
    for (int i = -3; i <= 3; i++) {
        struct fr_gemm_shape shape = p->shape;
        bool extrapolated = false;
        if (ldexp(shape.k, i) < 1) continue;
        shape.k = round(ldexp(shape.k, i));
        double time_s = fr_gemm_time_s(&job->cluster.device, p->dtype, &shape, &extrapolated);
        fr_json_begin_object(w);
        fr_json_add_number(w, "k", shape.k);
        fr_json_add_number(w, "time_s", time_s);
        fr_json_add_number(w, "rate_flop_per_s", 2 * shape.m * shape.n * shape.k / time_s);
        fr_json_add_bool(w, "extrapolated", extrapolated);
        fr_json_end_object(w);
    }
    fr_json_end_array(w);
}

static void print_json(struct fr_text *text, const struct fr_job *job,
                       const struct product *p) {
    struct fr_json_writer w = {.text = text, .indent = 2};
    fr_json_begin_object(&w);
    fr_json_add_string(&w, "schema", "forerun/gemm/1");
    fr_json_add_string(&w, "dtype", fr_dtype_names[p->dtype]);
    fr_json_add_number(&w, "m", p->shape.m);
    fr_json_add_number(&w, "n", p->shape.n);
    fr_json_add_number(&w, "k", p->shape.k);
    fr_runtime_put(&job->cluster, &w);
    fr_calibration_put(&job->cluster.calibration, &w);
    fr_json_add_string(&w, "form", p->form);
    fr_json_add_number(&w, "time_s", p->time_s);
    fr_json_add_interval(&w, "_s", p->low_s, p->high_s);
    fr_json_add_number(&w, "launch_s", p->launch_s);
    fr_json_add_number(&w, "rate_flop_per_s", p->rate);
    fr_json_add_bool(&w, "extrapolated", p->extrapolated);
    put_rows(&w, job, p);
    fr_json_end_object(&w);
}

static void print_text(struct fr_text *text, const struct fr_job *job,
                       const struct product *p) {
    char time[40], low[40], high[40], rate[40], launch[40], software[FR_RUNTIME_LINE];
    struct fr_text message = {0};
    fr_text_addf(text, "%.0f x %.0f x %.0f %s: %s, %s\n", p->shape.m, p->shape.n, p->shape.k,
                 fr_dtype_names[p->dtype],
                 fr_quantity_format(p->time_s, FR_QUANTITY_TIME, time, sizeof time),
                 fr_quantity_format(p->rate, FR_QUANTITY_WORK_RATE, rate, sizeof rate));
    fr_text_addf(text, "  90 %% interval %s to %s\n",
                 fr_quantity_format(p->low_s, FR_QUANTITY_TIME, low, sizeof low),
                 fr_quantity_format(p->high_s, FR_QUANTITY_TIME, high, sizeof high));
    fr_text_addf(text, "  form %s; launch %s on top%s\n", p->form,
                 fr_quantity_format(p->launch_s, FR_QUANTITY_TIME, launch, sizeof launch),
                 p->extrapolated ? "; extrapolated" : "");
    fr_text_addf(text, "  software ");
    fr_wrap(text, fr_runtime_line(&job->cluster, software, sizeof software), 11, 11,
            FR_COLUMNS);
    fr_end_line(text);
    fr_calibration_tell(&job->cluster.calibration, &message);
    if (message.length) {
        fr_text_addf(text, "  ");
        fr_wrap(text, fr_text_get(&message), 2, 4, FR_COLUMNS);
        fr_text_addf(text, "\n");
    }
    fr_text_free(&message);
}

static fr_status gemm(const struct fr_args *args, struct fr_job *job, struct fr_error *err) {
    struct product product = {.time_s = 0};
    struct fr_text text = {0}, page = {0};
    int dtype = FR_FP32;
    FR_TRY(read_shape(args, &product.shape, err));
    FR_TRY(fr_args_choice(args, "dtype", fr_dtype_names, &dtype, err));
    FR_TRY(fr_app_load(args, false, job, err));
    if (!job->cluster.device.gemm[dtype].form) {
        int other = FR_BF16;
        while (other >= 0 && !job->cluster.device.gemm[other].form)
            other = other == FR_BF16 ? FR_FP16 : other == FR_FP16 ? FR_FP32 : -1;
        return fr_fail(err, FR_ERR_INPUT, job->cluster_from,
                       "the device does not say how fast it is in %s%s%s",
                       fr_dtype_names[dtype], other < 0 ? "" : "; write --dtype ",
                       other < 0 ? "" : fr_dtype_names[other]);
    }
    product.dtype = (fr_dtype)dtype;
    price(job, &product);
    (fr_args_has(args, "json") ? print_json : print_text)(&text, job, &product);
    if (fr_app_paged(args)) print_json(&page, job, &product);
    return fr_app_answer(args, &text, &page, err);
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
    .words = FR_WORDS_OPTIONS,
    .run = run,
};
