/* Benchmarks of cuBLASLt, a line a product: "m n k batch us tflops", six numbers that agree with each other, or
 * words with their values: "m=4096 n=4096 k=4096 ... time 123.4 us", "... 700 TFLOPS".  NVIDIA's cublasMatmulBench and
 * its sample batchCUBLAS print a product in two lines:
 *
 *     #### args: ta=T tb=N m=8192 n=9728 k=16384 lda=... loop=1000
 *     ^^^^ CUDA : elapsed = 0.381 sec,  Gflops = 6844957.711
 *
 * elapsed is of all loops, so that the rate counts.  The dtype stands in the command, -P=hsh, or in "Testing sgemm". */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "calibrate/samples/import_text.h"

static const double AGREE = 0.03; /* of digits that were printed */

/* 2 m n k b over the time is the rate that is printed beside it. */
static bool of_numbers(const struct fr_words *words, struct fr_import_product *p) {
    double us = 0, tflops = 0;
    if (words->count != 6 || !fr_word_integer(words->word[0], &p->m) ||
        !fr_word_integer(words->word[1], &p->n) || !fr_word_integer(words->word[2], &p->k) ||
        !fr_word_integer(words->word[3], &p->batch) || !fr_word_number(words->word[4], &us) ||
        !fr_word_number(words->word[5], &tflops) || p->m < 1 || p->n < 1 || p->k < 1)
        return false;
    if (p->batch < 1) p->batch = 1; /* 0: not batched */
    double flop = 2.0 * (double)p->m * (double)p->n * (double)p->k * (double)p->batch;
    if (!(us > 0) || fabs(flop / us * 1e-6 / tflops - 1) > AGREE) return false;
    p->time_s = us * 1e-6;
    return true;
}

/* The value behind "@p name=", "name:", "name = ". */
static bool value_of(const char *line, const char *name, double *out) {
    size_t n = strlen(name);
    for (const char *at = line; (at = strstr(at, name)); at += n) {
        bool begins = at == line || strchr(" ,\t(", at[-1]);
        const char *after = at + n;
        while (*after == ' ' || *after == '\t') after++;
        if (!begins || (*after != '=' && *after != ':')) continue;
        char *end = NULL;
        double value = strtod(after + 1, &end);
        if (end == after + 1 || !isfinite(value)) continue;
        *out = value;
        return true;
    }
    return false;
}

/* The number before a unit: "123.4 us", "700TFLOPS". */
static bool number_before(const char *line, const char *const *units, double *out) {
    for (; *units; units++)
        for (const char *at = line; (at = strstr(at, *units)); at++) {
            const char *after = at + strlen(*units), *to = at;
            if (*after && !strchr(" ,;)\t\r", *after)) continue;
            while (to > line && to[-1] == ' ') to--;
            const char *from = to;
            while (from > line && strchr("0123456789.e+", from[-1])) from--;
            if (from == to) continue;
            char *end = NULL;
            double value = strtod(from, &end);
            if (end != to || !isfinite(value)) continue;
            *out = value;
            return true;
        }
    return false;
}

/* "4096x4096x4096", "4096 x 4096 x 4096": m, n, k */
static bool shape_of(const char *line, double *m, double *n, double *k) {
    for (const char *at = line; (at = strpbrk(at, "0123456789"));
         at += strspn(at, "0123456789")) {
        int used = 0;
        if (sscanf(at, "%10lf x %10lf x %10lf%n", m, n, k, &used) == 3 && used > 0 &&
            !memchr(at, '.', (size_t)used))
            return true;
    }
    return false;
}

/* The only dtype that a word of @p line names, or NULL. */
static const char *dtype_of(const char *line) {
    int found = -1;
    char word[24];
    for (const char *at = line; *at;) {
        at += strspn(at, " ,;:=()[]\t");
        size_t n = strcspn(at, " ,;:=()[]\t");
        snprintf(word, sizeof word, "%.*s", (int)(n < 23 ? n : 23), at);
        int dtype = n > 2 && isalpha((unsigned char)*word) ? fr_import_dtype(word) : -1;
        if (dtype >= 0 && found >= 0 && dtype != found) return NULL;
        if (dtype >= 0) found = dtype;
        at += n;
    }
    return found >= 0 ? fr_dtype_names[found] : NULL;
}

/* @p line in small letters. */
static bool of_words(const char *line, struct fr_import_product *p) {
    static const char *const us[] = {"us", "usec", NULL}, *const ms[] = {"ms", "msec", NULL},
                             *const tera[] = {"tflops", "tflop/s", NULL},
                             *const giga[] = {"gflops", "gflop/s", NULL};
    double m = 0, n = 0, k = 0, batch = 1, value = 0;
    bool named = value_of(line, "m", &m) && value_of(line, "n", &n) && value_of(line, "k", &k);
    if (!named && !shape_of(line, &m, &n, &k)) return false;
    value_of(line, "batch", &batch);
    static const double most = 2147483648.0;
    if (!(m >= 1 && m <= most && n >= 1 && n <= most && k >= 1 && k <= most)) return false;
    p->m = (int64_t)m;
    p->n = (int64_t)n;
    p->k = (int64_t)k;
    p->batch = batch >= 1 && batch <= most ? (int64_t)batch : 1;
    if (number_before(line, us, &value))
        p->time_s = value * 1e-6;
    else if (number_before(line, ms, &value))
        p->time_s = value * 1e-3;
    if (number_before(line, tera, &value) || value_of(line, "tflops", &value))
        p->rate_flop_per_s = value * 1e12;
    else if (number_before(line, giga, &value))
        p->rate_flop_per_s = value * 1e9;
    return p->time_s > 0 || p->rate_flop_per_s > 0;
}

/* A product whose rate comes on a later line. */
struct announced {
    struct fr_import_product product; /* m 0: none */
    const char *dtype;                /* NULL: nobody said */
};

/* The type of the first operand leads -P: "hsh", "tst", "qqssq"; NVIDIA's own letters. */
static const char *dtype_of_command(const char *line) {
    static const struct {
        const char *begins, *dtype;
    } known[] = {{"sss_fast_tf32", "tf32"},
                 {"s", "fp32"},
                 {"d", "fp64"},
                 {"h", "fp16"},
                 {"t", "bf16"},
                 {"q", "fp8"},
                 {"nv", "fp4"}};
    const char *at = strstr(line, "-P=");
    if (at && at > line && at[-1] == ' ')
        for (size_t i = 0; i < sizeof known / sizeof *known; i++)
            if (strncmp(at + 3, known[i].begins, strlen(known[i].begins)) == 0)
                return known[i].dtype;
    return strstr(line, "Testing sgemm")   ? "fp32"
           : strstr(line, "Testing dgemm") ? "fp64"
                                           : NULL;
}

/* @p line in small letters. @return whether it is one of the two lines; then a product is complete where its rate is */
static bool of_two_lines(const char *line, struct announced *a) {
    double m = 0, n = 0, k = 0, rate = 0;
    if (strncmp(line, "#### args:", 10) == 0) {
        if (value_of(line, "m", &m) && value_of(line, "n", &n) && value_of(line, "k", &k) &&
            m >= 1 && n >= 1 && k >= 1 && m < 2e9 && n < 2e9 && k < 2e9)
            a->product = (struct fr_import_product){
                .m = (int64_t)m, .n = (int64_t)n, .k = (int64_t)k, .batch = 1};
        return true;
    }
    if (strncmp(line, "^^^^", 4) != 0) return false;
    if (a->product.m > 0 && value_of(line, "gflops", &rate))
        a->product.rate_flop_per_s = rate * 1e9;
    return true;
}

static fr_status read(struct fr_import *in, struct fr_error *err) {
    struct announced announced = {.dtype = NULL};
    struct fr_lines lines = fr_lines_begin(in);
    struct fr_words words;
    in->has_sources = true; /* products have none */
    while (fr_lines_next(&lines, &words)) {
        struct fr_import_product p = {.batch = 1};
        if (of_numbers(&words, &p)) {
            FR_TRY(fr_import_product(in, lines.number, &p, err));
            continue;
        }
        p = (struct fr_import_product){.batch = 1};
        const char *stated = dtype_of_command(words.text);
        if (stated) announced.dtype = stated;
        for (char *at = words.text; *at; at++) *at = (char)tolower((unsigned char)*at);
        p.dtype = dtype_of(words.text);
        if (of_two_lines(words.text, &announced)) {
            if (!(announced.product.rate_flop_per_s > 0)) continue;
            announced.product.dtype = announced.dtype;
            FR_TRY(fr_import_product(in, lines.number, &announced.product, err));
            announced.product = (struct fr_import_product){.batch = 1};
            continue;
        }
        if (of_words(words.text, &p)) FR_TRY(fr_import_product(in, lines.number, &p, err));
    }
    return FR_OK;
}

const struct fr_importer fr_importer_cublaslt = {
    .name = "cublaslt",
    .spelling = "cublaslt",
    .reads = "benchmarks of cuBLASLt: cublasMatmulBench, or a line a product: m n k batch us "
             "tflops, or "
             "m=, n=, k= and a time or a rate",
    .read = read,
};
