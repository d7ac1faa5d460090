/* mamf-finder: "... 790.1 TFLOPS @ 4096x1792x10240 ...", a line a shape, or parts of one that
 * a carriage return ends.  The mean of each shape counts, or the number that stands alone; the
 * dtype stands in "** Dtype: torch.bfloat16". */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "calibrate/samples/import_text.h"

struct reader {
    struct fr_import *in;
    char dtype[32];
    int found;
};

/* "4096x1792x10240" */
static bool shape_at(const char *at, struct fr_import_product *p) {
    long long m = 0, n = 0, k = 0;
    int used = 0;
    at += strspn(at, " ");
    if (sscanf(at, "%9lldx%9lldx%9lld%n", &m, &n, &k, &used) != 3 || used == 0) return false;
    p->m = m;
    p->n = n;
    p->k = k;
    return m > 0 && n > 0 && k > 0;
}

/* The rate before "@": the one marked "(mean)", else the first. */
static double rate_before(const char *part, const char *at) {
    const char *mean = strstr(part, "(mean)"), *from = mean && mean < at ? mean : NULL;
    if (!from) {
        from = strstr(part, "TFLOPS");
        if (!from || from > at) return 0;
        while (from > part && from[-1] == ' ') from--;
    }
    const char *number = from;
    while (number > part && strchr("0123456789.", number[-1])) number--;
    return number < from ? strtod(number, NULL) : 0;
}

static fr_status take_part(struct reader *r, long number, char *part, struct fr_error *err) {
    char *dtype = strstr(part, "Dtype:"), *best = strstr(part, "| best:"), *at;
    struct fr_import_product p = {.batch = 1, .dtype = r->dtype};
    if (dtype) sscanf(dtype + strlen("Dtype:"), " %31s", r->dtype);
    if (best) *best = '\0';
    /* "mean: 790.1 TFLOPS @ ..." of a summary repeats a shape. */
    if (strstr(part, "best outcome") || strncmp(part, "mean:", 5) == 0 ||
        strncmp(part, "median:", 7) == 0 || strncmp(part, "max:", 4) == 0) {
        if (r->found) return FR_OK;
    }
    for (at = strchr(part, '@'); at && !shape_at(at + 1, &p);) at = strchr(at + 1, '@');
    if (!at || !strstr(part, "TFLOPS")) return FR_OK;
    p.rate_flop_per_s = 1e12 * rate_before(part, at);
    if (!(p.rate_flop_per_s > 0)) return FR_OK;
    r->found++;
    return fr_import_product(r->in, number, &p, err);
}

static fr_status read(struct fr_import *in, struct fr_error *err) {
    struct reader r = {.in = in};
    long number = 1;
    char part[FR_LINE_MAX];
    in->has_sources = true; /* products have none */
    for (const char *at = in->text, *stop = in->text + in->length; at < stop;) {
        size_t n = strcspn(at, "\n\r");
        const char *from = at + strspn(at, " \t");
        size_t length = from < at + n ? (size_t)(at + n - from) : 0;
        snprintf(part, sizeof part, "%.*s",
                 (int)(length < sizeof part ? length : sizeof part - 1), from);
        FR_TRY(take_part(&r, number, part, err));
        number += at[n] == '\n';
        at += n + (at + n < stop);
    }
    if (r.found) return FR_OK;
    return fr_import_refuse(
        fr_import_unknown(in), 0, err,
        "no rate of mamf-finder (\"790.1 TFLOPS @ 4096x1792x10240\") in %ld "
        "lines",
        number);
}

const struct fr_importer fr_importer_mamf_finder = {
    .name = "mamf_finder",
    .spelling = "mamf-finder",
    .reads = "mamf-finder: the rate of each shape",
    .read = read,
};
