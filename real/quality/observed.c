/* Effects of compression on messages, over seeds. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/json.h"
#include "real/quality/cells.h"

const char *const fr_quality_observed_names[] = {
#define FR_QUALITY_NAME(name) #name,
    FR_QUALITY_OBSERVED(FR_QUALITY_NAME)
#undef FR_QUALITY_NAME
        NULL};

void fr_quality_observed_free(struct fr_quality_row *row) {
    for (int i = 0; i < row->n_observed; i++) free(row->observed[i].micro[0]);
    free(row->observed);
    row->observed = NULL;
    row->n_observed = 0;
}

enum { MOST = 1 << 16 };

/* Capacity for one rank, as long as its first list. */
static fr_status begin_rank(const struct fr_json *one, struct fr_quality_observed *o,
                            struct fr_error *err) {
    struct fr_json list = fr_json_member(one, fr_quality_observed_names[0]);
    FR_TRY(fr_json_get_integer(one, "rank", true, 0, 1 << 24, &o->rank, err));
    FR_TRY(fr_json_array(&list, 1, MOST, err));
    o->n_micro = (int)fr_json_array_length(&list);
    size_t n = (size_t)o->n_micro;
    o->micro[0] = fr_calloc(FR_QUALITY_OBSERVED_COUNT * n, sizeof(double));
    if (!o->micro[0]) return fr_fail(err, FR_ERR_NOMEM, NULL, "what compression did");
    for (int k = 1; k < FR_QUALITY_OBSERVED_COUNT; k++)
        o->micro[k] = o->micro[0] + (size_t)k * n;
    return FR_OK;
}

/* A share of one seed's numbers. */
static fr_status add_rank(const struct fr_json *one, double share,
                          struct fr_quality_observed *o, struct fr_error *err) {
    double kept = 0, lazy = 0;
    FR_TRY(fr_json_get_number(one, "kept", true, 0, 1e300, &kept, err));
    FR_TRY(fr_json_get_number(one, "lazy", true, 0, 1e300, &lazy, err));
    o->kept += share * kept;
    o->lazy += share * lazy;
    for (int k = 0; k < FR_QUALITY_OBSERVED_COUNT; k++) {
        struct fr_json list = fr_json_member(one, fr_quality_observed_names[k]);
        FR_TRY(fr_json_array(&list, o->n_micro, o->n_micro, err));
        for (int m = 0; m < o->n_micro; m++) {
            struct fr_json at = fr_json_element(&list, m);
            double value = NAN; /* of a micro-batch that goes whole */
            if (!fr_json_is_null(&at)) FR_TRY(fr_json_number(&at, -1e300, 1e300, &value, err));
            o->micro[k][m] += share * value;
        }
    }
    return FR_OK;
}

static fr_status add_seed(const struct fr_json *list, double share, bool first,
                          struct fr_quality_row *row, struct fr_error *err) {
    int n = (int)fr_json_array_length(list);
    if (first) {
        row->observed = fr_calloc((size_t)n + 1, sizeof *row->observed);
        if (!row->observed) return fr_fail(err, FR_ERR_NOMEM, NULL, "what compression did");
    }
    if (!first && n != row->n_observed)
        return fr_json_fail(list, err, "is of other ranks than those of another seed");
    for (int i = 0; i < n; i++) {
        struct fr_json one = fr_json_element(list, i);
        if (first) FR_TRY(begin_rank(&one, &row->observed[row->n_observed++], err));
        FR_TRY(add_rank(&one, share, &row->observed[i], err));
    }
    return FR_OK;
}

fr_status fr_quality_observe(const struct fr_cell *const *cells, int n,
                             struct fr_quality_row *row, struct fr_error *err) {
    fr_status status = FR_OK;
    for (int i = 0; i < n && status == FR_OK; i++) {
        struct fr_json_document *document = NULL;
        const char *text = cells[i]->observed;
        status = fr_json_parse(text, strlen(text), "observed", &document, err);
        if (status == FR_OK) {
            struct fr_json root = fr_json_root(document);
            status = add_seed(&root, 1.0 / n, i == 0, row, err);
        }
        fr_json_free(document);
    }
    return status;
}
