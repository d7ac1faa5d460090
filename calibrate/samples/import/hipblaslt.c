/* hipblaslt-bench, rocblas-bench: a header of names with commas, "[0]:transA,transB,...,m,n,k,...,us", and rows below it. */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "calibrate/samples/import_text.h"

enum { FIELD_B = 48 };

struct reader {
    struct fr_import *in;
    int columns; /* 0: no header yet */
    int m, n, k, batch, grouped, type, gflops, time;
};

/* The @p i-th field between commas. */
static bool field(const char *line, int i, char out[FIELD_B]) {
    for (; i > 0 && line; i--) {
        line = strchr(line, ',');
        if (line) line++;
    }
    if (!line) return false;
    line += strspn(line, " ");
    size_t n = strcspn(line, ", ");
    snprintf(out, FIELD_B, "%.*s", (int)(n < FIELD_B ? n : FIELD_B - 1), line);
    return true;
}

static bool header(struct reader *r, const char *line) {
    const char *from = strstr(line, "transA,transB,");
    char name[FIELD_B];
    if (!from) return false;
    *r = (struct reader){r->in, 0, -1, -1, -1, -1, -1, -1, -1, -1};
    for (int i = 0; field(from, i, name); i++) {
        if (!strcasecmp(name, "m")) r->m = i;
        if (!strcasecmp(name, "n")) r->n = i;
        if (!strcasecmp(name, "k")) r->k = i;
        if (!strcmp(name, "batch_count")) r->batch = i;
        if (!strcmp(name, "grouped_gemm")) r->grouped = i;
        if (!strcmp(name, "a_type") || (r->type < 0 && !strcmp(name, "d_type"))) r->type = i;
        if (!strcmp(name, "hipblaslt-Gflops") || !strcmp(name, "rocblas-Gflops")) r->gflops = i;
        if (!strcmp(name, "us")) r->time = i;
        r->columns = i + 1;
    }
    if (r->m < 0 || r->n < 0 || r->k < 0 || r->time < 0) r->columns = 0;
    return true;
}

static bool count_at(const char *line, int column, int64_t *out) {
    char text[FIELD_B];
    return column >= 0 && field(line, column, text) && fr_word_integer(text, out) && *out >= 1;
}

static fr_status take_row(struct reader *r, long number, const char *line,
                          struct fr_error *err) {
    struct fr_import_product p = {.batch = 1};
    char text[FIELD_B];
    double gflops = 0, time_us = 0;
    if (!count_at(line, r->m, &p.m) || !count_at(line, r->n, &p.n) ||
        !count_at(line, r->k, &p.k))
        return FR_OK;
    if (r->batch >= 0) count_at(line, r->batch, &p.batch);
    if (r->grouped >= 0 && field(line, r->grouped, text) && strcmp(text, "0") != 0) {
        fr_import_note(r->in, number, "left out: products of several shapes in one call");
        return FR_OK;
    }
    if (field(line, r->time, text) && fr_word_number(text, &time_us)) p.time_s = time_us * 1e-6;
    if (r->gflops >= 0 && field(line, r->gflops, text) && fr_word_number(text, &gflops))
        p.rate_flop_per_s = gflops * 1e9;
    if (r->type >= 0 && field(line, r->type, text)) p.dtype = text;
    return fr_import_product(r->in, number, &p, err);
}

static fr_status read(struct fr_import *in, struct fr_error *err) {
    struct reader r = {.in = in};
    struct fr_lines lines = fr_lines_begin(in);
    struct fr_words words;
    bool seen = false;
    in->has_sources = true; /* products have none */
    while (fr_lines_next(&lines, &words)) {
        char last[FIELD_B];
        if (header(&r, words.text))
            seen = true;
        else if (r.columns && field(words.text, r.columns - 1, last))
            FR_TRY(take_row(&r, lines.number, words.text, err));
    }
    if (seen) return FR_OK;
    return fr_import_refuse(fr_import_unknown(in), 0, err,
                            "no header of hipblaslt-bench (\"transA,transB,...\") in %ld lines",
                            lines.number);
}

const struct fr_importer fr_importer_hipblaslt = {
    .name = "hipblaslt",
    .spelling = "hipblaslt-bench",
    .reads = "hipblaslt-bench: products, batched too",
    .read = read,
};
