/* The clock of an NVIDIA GPU, locked and unlocked by nvidia-smi (-lgc, -rgc; as root). */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/process.h"
#include "calibrate/measure/knob.h"
#include "trust/numbers/statistics.h"

struct nvidia {
    char index[16];
    double clock_Hz[FR_KNOB_CLOCKS_MAX]; /* ascending */
    int n;
};

/* Runs nvidia-smi on the GPU; @p text: what it said, or NULL. */
static fr_status smi(const struct nvidia *v, const char *what, const char *more,
                     struct fr_text *text, struct fr_error *err) {
    const char *words[] = {"nvidia-smi", "-i", v->index, what, more, NULL};
    const struct fr_process p = {
        .words = words, .out = {.text = text}, .text_B = 1 << 16, .limit_s = 30};
    return fr_process_run(&p, NULL, err);
}

/* A line a clock and memory clock: each counts once. */
static void read_clocks(struct nvidia *v, const char *text) {
    for (const char *at = text; *at; at += strcspn(at, "\n"), at += *at == '\n') {
        double clock_Hz = 1e6 * strtod(at, NULL);
        bool is_clock = clock_Hz > 0 && isfinite(clock_Hz),
             known = !is_clock || v->n == FR_KNOB_CLOCKS_MAX;
        for (int i = 0; i < v->n && !known; i++) known = v->clock_Hz[i] == clock_Hz;
        if (!known) v->clock_Hz[v->n++] = clock_Hz;
    }
    fr_sort(v->clock_Hz, (size_t)v->n);
}

static fr_status open_nvidia(const char *argument, void **state, struct fr_error *err) {
    struct nvidia *v = fr_calloc(1, sizeof *v);
    struct fr_text text = {0};
    if (!v) return fr_fail(err, FR_ERR_NOMEM, NULL, "out of memory");
    snprintf(v->index, sizeof v->index, "%.15s", argument && *argument ? argument : "0");
    fr_status status = smi(v, "--query-supported-clocks=graphics",
                           "--format=csv,noheader,nounits", &text, err);
    if (status == FR_OK) read_clocks(v, fr_text_get(&text));
    if (status == FR_OK && v->n < 2)
        status = fr_fail(err, FR_ERR_UNSUPPORTED, "nvidia-smi",
                         "names %d clocks that GPU %s supports", v->n, v->index);
    fr_text_free(&text);
    if (status == FR_OK)
        *state = v;
    else
        free(v);
    return status == FR_ERR_EXTERNAL ? FR_ERR_UNSUPPORTED : status;
}

static int clocks_of(const void *state, double *clock_Hz) {
    const struct nvidia *v = state;
    memcpy(clock_Hz, v->clock_Hz, (size_t)v->n * sizeof *clock_Hz);
    return v->n;
}

static fr_status set(void *state, double clock_Hz, struct fr_error *err) {
    char both[48];
    snprintf(both, sizeof both, "%.0f,%.0f", clock_Hz / 1e6, clock_Hz / 1e6);
    return smi(state, "-lgc", both, NULL, err);
}

static bool restore(void *state) {
    struct fr_error err;
    return smi(state, "-rgc", NULL, NULL, &err) == FR_OK;
}

const struct fr_knob fr_knob_nvidia = {
    .name = "nvidia",
    .summary = "the clock of one GPU of the node, locked by nvidia-smi",
    .argument = "which one, in place of 0",
    .open = open_nvidia,
    .clocks = clocks_of,
    .set = set,
    .restore = restore,
    .close = free,
};
