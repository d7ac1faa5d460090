/* Fused attention of a device as transformers have it: short and long sequences of as many tokens together, narrow and wide
 * heads, keys and values shared or not, causal or not, forward and backward. */
#include "calibrate/measure/harness/bench.h"

enum { TOKENS = 16384 };

static const struct shape {
    int sequence, heads, kv_heads, width;
    bool causal;
    int step; /* of the first pass */
} shapes[] = {
    {4096, 32, 8, 128, true, 0},   {2048, 32, 8, 128, true, 0},   {8192, 32, 8, 128, true, 0},
    {1024, 32, 8, 128, true, 1},   {16384, 32, 8, 128, true, 1},  {4096, 32, 32, 128, true, 1},
    {4096, 32, 32, 128, false, 1}, {2048, 32, 32, 64, true, 1},   {8192, 32, 8, 64, true, 1},
    {4096, 16, 16, 256, true, 1},  {4096, 32, 32, 96, true, 2},   {32768, 32, 8, 128, true, 2},
    {65536, 32, 8, 128, true, 3},  {131072, 32, 8, 128, true, 3},
};
enum { N_SHAPES = sizeof shapes / sizeof *shapes };

static struct fr_device_task task_of(const struct fr_point *p) {
    const struct fr_sample_attention *a = &p->attention;
    return (struct fr_device_task){.kind = FR_DEVICE_ATTENTION,
                                   .dtype = a->dtype,
                                   .batch = a->batch,
                                   .sequence = a->sequence,
                                   .heads = a->heads,
                                   .kv_heads = a->kv_heads,
                                   .width = a->width,
                                   .causal = a->causal,
                                   .backward = a->pass != 0};
}

static fr_status plan(struct fr_bench *bench, const struct fr_bench_row *row,
                      struct fr_error *err) {
    for (int i = 0; i < N_SHAPES; i++)
        for (int pass = 0; pass < 2; pass++) {
            const struct shape *s = &shapes[i];
            const struct fr_point point = {
                .row = row,
                .team = &bench->teams.team[0],
                .step = s->step,
                .attention = {.kernel = FR_SAMPLE_FLASH,
                              .dtype = FR_BF16,
                              .batch = s->sequence < TOKENS ? TOKENS / s->sequence : 1,
                              .sequence = s->sequence,
                              .heads = s->heads,
                              .kv_heads = s->kv_heads,
                              .width = s->width,
                              .causal = s->causal,
                              .pass = pass}};
            const struct fr_device_task task = task_of(&point);
            bool added = false;
            if (bench->options.quick && s->step > 1) continue;
            FR_TRY(fr_bench_device_add(bench, &point, &task, &added, err));
        }
    return FR_OK;
}

static void head(const struct fr_bench *bench, const struct fr_point *point,
                 struct fr_text *text) {
    (void)bench;
    fr_sample_head_attention(&point->attention, text);
}

static fr_status run(void *context, int calls, struct fr_error *err) {
    struct fr_work *work = context;
    const struct fr_device_task task = task_of(work->point);
    return fr_bench_device_run_hot(work, &task, calls, err);
}

const struct fr_bench_row fr_bench_device_attention = {
    .name = "device_attention",
    .measures = "fused attention on a GPU, 1k to 128k tokens, heads of 64 to 256 values, both "
                "passes (--device)",
    .feeds = "device.attention",
    .call_s = 10e-3,
    .shared_out = true,
    .needs_processor = true,
    .on_device = true,
    .plan = plan,
    .head = head,
    .run = run,
};
