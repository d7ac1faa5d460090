#include "plots/measured.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/sort.h"

static const double least_s = 1e-18, most_s = 1e12;
static const int64_t count_max = (int64_t)1 << 40;

static fr_status out_of_memory(struct fr_error *err) {
    return fr_fail(err, FR_ERR_NOMEM, NULL, "out of memory");
}

static fr_status read_point(const struct fr_json *node, const char *chosen,
                            struct fr_measured_point *point, struct fr_error *err) {
    char key[48];
    FR_TRY(fr_json_get_number(node, "size_B", true, 0, 1e18, &point->size_B, err));
    FR_TRY(fr_json_get_number(node, "median_s", true, least_s, most_s, &point->median_s, err));
    FR_TRY(fr_json_get_known(node, "low_s", least_s, most_s, &point->low_s, err));
    FR_TRY(fr_json_get_known(node, "high_s", least_s, most_s, &point->high_s, err));
    FR_TRY(fr_json_get_known(node, "log_s", least_s, most_s, &point->log_s, err));
    snprintf(key, sizeof key, "%.20s_s", chosen);
    FR_TRY(fr_json_get_known(node, key, least_s, most_s, &point->chosen_s, err));
    snprintf(key, sizeof key, "%.20s_held_s", chosen);
    return fr_json_get_known(node, key, least_s, most_s, &point->held_s, err);
}

static int compare_points(const void *left, const void *right) {
    const struct fr_measured_point *a = left, *b = right;
    if (a->size_B != b->size_B) return FR_ORDER(a->size_B, b->size_B);
    return FR_ORDER(a->median_s, b->median_s);
}

static fr_status read_series(const struct fr_json *node, struct fr_measured_series *series,
                             struct fr_error *err) {
    FR_TRY(fr_json_get_string(node, "op", true, series->op, sizeof series->op, err));
    FR_TRY(fr_json_get_string(node, "level", false, series->level, sizeof series->level, err));
    FR_TRY(fr_json_get_integer(node, "ranks", true, 1, count_max, &series->ranks, err));
    snprintf(series->chosen, sizeof series->chosen, "segments");
    FR_TRY(
        fr_json_get_string(node, "chosen", false, series->chosen, sizeof series->chosen, err));
    struct fr_json points = fr_json_member(node, "points");
    if (!fr_json_is_array(&points)) return fr_json_fail(node, err, "has no list \"points\"");
    int64_t n = fr_json_array_length(&points);
    series->points = fr_calloc((size_t)n + 1, sizeof *series->points);
    if (!series->points) return out_of_memory(err);
    for (int64_t i = 0; i < n; i++) {
        struct fr_json point = fr_json_element(&points, i);
        struct fr_measured_point *into = &series->points[series->n];
        FR_TRY(read_point(&point, series->chosen, into, err));
        series->n += into->size_B > 0; /* a logarithmic axis has no place for 0 bytes */
    }
    fr_sort_items(series->points, series->n, sizeof *series->points, compare_points);
    return FR_OK;
}

static fr_status read_gemm(const struct fr_json *node, struct fr_measured_gemm *gemm,
                           struct fr_error *err) {
    FR_TRY(fr_json_get_string(node, "dtype", true, gemm->dtype, sizeof gemm->dtype, err));
    FR_TRY(fr_json_get_integer(node, "m", true, 1, count_max, &gemm->m, err));
    FR_TRY(fr_json_get_integer(node, "n", true, 1, count_max, &gemm->n, err));
    FR_TRY(fr_json_get_integer(node, "k", true, 1, count_max, &gemm->k, err));
    return fr_json_get_number(node, "median_s", true, least_s, most_s, &gemm->median_s, err);
}

static fr_status read_footer(const struct fr_json *root, struct fr_text *footer,
                             struct fr_error *err) {
    static const char *const keys[] = {"host", "cpu", "mpi", "date"};
    struct fr_json from = fr_json_member(root, "provenance");
    int64_t ranks = 0;
    bool oversubscribed = false;
    char version[64] = "";
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        char word[256] = "";
        FR_TRY(fr_json_get_string(&from, keys[i], false, word, sizeof word, err));
        word[strcspn(word, ",")] = '\0'; /* an MPI library may tell its whole history */
        if (*word) fr_text_addf(footer, "%s%s %s", footer->length ? "   " : "", keys[i], word);
    }
    FR_TRY(fr_json_get_integer(&from, "ranks", false, 0, count_max, &ranks, err));
    FR_TRY(fr_json_get_bool(&from, "oversubscribed", false, &oversubscribed, err));
    FR_TRY(fr_json_get_string(&from, "version", false, version, sizeof version, err));
    if (ranks > 0) fr_text_addf(footer, "   ranks %lld", (long long)ranks);
    if (oversubscribed) fr_text_addf(footer, " (more than cores)");
    if (*version) fr_text_addf(footer, "   forerun %s", version);
    return FR_OK;
}

fr_status fr_measured_read(const struct fr_json *root, struct fr_measured *measured,
                           struct fr_error *err) {
    static const char *const schemas[] = {"forerun/fit/1", NULL};
    int schema = 0;
    *measured = (struct fr_measured){0};
    FR_TRY(fr_json_get_choice(root, "schema", true, schemas, &schema, err));
    struct fr_json series = fr_json_member(root, "series"), gemm = fr_json_member(root, "gemm");
    if (fr_json_present(&series)) FR_TRY(fr_json_array(&series, 0, 1 << 20, err));
    if (fr_json_present(&gemm)) FR_TRY(fr_json_array(&gemm, 0, 1 << 20, err));
    int64_t n_series = fr_json_array_length(&series), n_gemms = fr_json_array_length(&gemm);
    measured->series = fr_calloc((size_t)n_series + 1, sizeof *measured->series);
    measured->gemms = fr_calloc((size_t)n_gemms + 1, sizeof *measured->gemms);
    if (!measured->series || !measured->gemms) return out_of_memory(err);
    for (int64_t i = 0; i < n_series; i++) {
        struct fr_json node = fr_json_element(&series, i);
        measured->n_series++; /* counted first, so that it is freed */
        FR_TRY(read_series(&node, &measured->series[i], err));
    }
    for (int64_t i = 0; i < n_gemms; i++) {
        struct fr_json node = fr_json_element(&gemm, i);
        FR_TRY(read_gemm(&node, &measured->gemms[measured->n_gemms++], err));
    }
    return read_footer(root, &measured->footer, err);
}

void fr_measured_free(struct fr_measured *measured) {
    for (int i = 0; i < measured->n_series; i++) free(measured->series[i].points);
    free(measured->series);
    free(measured->gemms);
    fr_text_free(&measured->footer);
    *measured = (struct fr_measured){0};
}
