#include "calibrate/samples/compare.h"

#include <gsl/gsl_cdf.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/sort.h"
#include "trust/numbers/statistics.h"

struct timed {
    char *key;
    int64_t launch;
    double time_s;
};

struct list {
    struct timed *item;
    size_t n, capacity;
    bool failed;
};

/* Takes the head, which it frees. */
static void put(struct list *list, struct fr_text *head, int64_t launch, double time_s) {
    char key[192];
    if (list->n == list->capacity) {
        size_t capacity = list->capacity ? 2 * list->capacity : 1024;
        void *grown = fr_realloc(list->item, capacity, sizeof *list->item);
        list->failed = list->failed || !grown;
        if (grown) {
            list->item = grown;
            list->capacity = capacity;
        }
    }
    fr_sample_key(fr_text_get(head), key, sizeof key);
    fr_text_free(head);
    char *copy = list->failed ? NULL : fr_strdup(key);
    list->failed = list->failed || !copy;
    if (!list->failed)
        list->item[list->n++] = (struct timed){.key = copy, .launch = launch, .time_s = time_s};
}

static int by_key(const void *a, const void *b) {
    const struct timed *x = a, *y = b;
    int order = strcmp(x->key, y->key);
    if (order) return order;
    return FR_ORDER(x->launch, y->launch);
}

#define PUT_ALL(array, type)                                                                   \
    for (size_t i = 0; i < samples->n_##array && !list->failed; i++) {                         \
        const struct fr_sample_##type *s = &samples->array[i];                                 \
        struct fr_text head = {0};                                                             \
        fr_sample_head_##type(s, &head);                                                       \
        put(list, &head, s->launch, s->time_s);                                                \
    }

static void put_all(struct list *list, const struct fr_samples *samples) {
    PUT_ALL(collective, collective)
    PUT_ALL(segmented, collective)
    PUT_ALL(gemm, gemm)
    PUT_ALL(batched, gemm)
    PUT_ALL(scaled, gemm)
    PUT_ALL(attention, attention)
    PUT_ALL(memory, memory)
    PUT_ALL(kernel, kernel)
    PUT_ALL(link, link)
    PUT_ALL(pairs, pairs)
    PUT_ALL(overlap, overlap)
    PUT_ALL(codec, codec)
}

/* Standard deviation of the logarithms of what @p value says of the launches, and the median of it. */
static double between_launches(const struct timed *item, size_t n,
                               double (*value)(const double *sorted, size_t n), double *scratch,
                               int *n_launches, double *median_s) {
    double sum = 0, squares = 0;
    *n_launches = 0;
    for (size_t i = 0, stop; i < n; i = stop) {
        double *times_s = scratch + *n_launches; /* no more launches than samples before */
        for (stop = i; stop < n && item[stop].launch == item[i].launch; stop++)
            times_s[stop - i] = item[stop].time_s;
        fr_sort(times_s, stop - i);
        times_s[0] = value(times_s, stop - i);
        double log_s = log(times_s[0]);
        sum += log_s;
        squares += log_s * log_s;
        ++*n_launches;
    }
    fr_sort(scratch, (size_t)*n_launches);
    *median_s = fr_sorted_median(scratch, (size_t)*n_launches);
    if (*n_launches < 2) return 0;
    double mean = sum / *n_launches;
    return sqrt(fmax(0, (squares - *n_launches * mean * mean) / (*n_launches - 1)));
}

static struct fr_known_point summarise(const struct timed *item, size_t n, double *scratch) {
    struct fr_known_point p = {.key = item->key, .n = (int)n};
    p.own_between = between_launches(item, n, fr_sorted_own, scratch, &p.n_launches, &p.own_s);
    p.between =
        between_launches(item, n, fr_sorted_median, scratch, &p.n_launches, &p.median_s);
    for (size_t i = 0; i < n; i++) scratch[i] = item[i].time_s;
    fr_sort(scratch, n);
    p.median_s = fr_sorted_median(scratch, n);
    p.half_width = fr_sorted_median_uncertainty(scratch, n, 0.95);
    p.own_half_width =
        fr_sorted_median_uncertainty(scratch, fr_sorted_near_fastest(scratch, n), 0.95);
    double t = p.n_launches > 1 ? gsl_cdf_tdist_Pinv(0.975, p.n_launches - 1) : 0;
    p.interval = p.half_width < 1e9 ? sqrt(2 * p.half_width * p.half_width +
                                           2 * t * p.between * t * p.between / p.n_launches)
                                    : 1e9;
    return p;
}

/* A point of one launch takes its spread from the points that had several: their usual spread
 * between launches, with the normal quantile. */
static void borrow_between(struct fr_known_points *points, double *scratch) {
    size_t n = 0;
    for (size_t i = 0; i < points->n; i++)
        if (points->item[i].n_launches > 1) scratch[n++] = points->item[i].own_between;
    if (n == 0) return;
    fr_sort(scratch, n);
    double usual_own = fr_sorted_median(scratch, n), usual;
    n = 0;
    for (size_t i = 0; i < points->n; i++)
        if (points->item[i].n_launches > 1) scratch[n++] = points->item[i].between;
    fr_sort(scratch, n);
    usual = fr_sorted_median(scratch, n);
    for (size_t i = 0; i < points->n; i++) {
        struct fr_known_point *p = &points->item[i];
        if (p->n_launches == 1) p->own_between = usual_own;
        if (p->n_launches > 1 || p->interval >= 1e9) continue;
        p->between = usual;
        p->interval = sqrt(2 * p->half_width * p->half_width + 2 * 1.96 * usual * 1.96 * usual);
    }
}

fr_status fr_known_points_find(const struct fr_samples *samples,
                               struct fr_known_points *points) {
    struct list list = {0};
    *points = (struct fr_known_points){0};
    put_all(&list, samples);
    double *scratch = fr_malloc(list.n + 1, sizeof *scratch);
    points->item = fr_calloc(list.n + 1, sizeof *points->item);
    bool failed = list.failed || !scratch || !points->item;
    if (!failed && list.n > 0) fr_sort_items(list.item, list.n, sizeof *list.item, by_key);
    for (size_t i = 0, stop; !failed && i < list.n; i = stop) {
        for (stop = i + 1; stop < list.n && strcmp(list.item[i].key, list.item[stop].key) == 0;
             stop++)
            continue;
        points->item[points->n++] = summarise(&list.item[i], stop - i, scratch);
        for (size_t j = i + 1; j < stop; j++)
            free(list.item[j].key); /* the first one is kept */
    }
    if (failed)
        for (size_t i = 0; i < list.n; i++) free(list.item[i].key);
    else
        borrow_between(points, scratch);
    free(list.item);
    free(scratch);
    if (failed) fr_known_points_free(points);
    return failed ? FR_ERR_NOMEM : FR_OK;
}

void fr_known_points_free(struct fr_known_points *points) {
    for (size_t i = 0; i < points->n; i++) free(points->item[i].key);
    free(points->item);
    *points = (struct fr_known_points){0};
}

static int find(const void *key, const void *item) {
    return strcmp(key, ((const struct fr_known_point *)item)->key);
}

const struct fr_known_point *fr_known_points_get(const struct fr_known_points *points,
                                                 const char *key) {
    return points->n ? bsearch(key, points->item, points->n, sizeof *points->item, find) : NULL;
}
