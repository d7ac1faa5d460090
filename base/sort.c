#include "base/sort.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

enum { ON_STACK_B = 1024 };

struct sort {
    size_t size_B;
    fr_compare_fn *compare;
    char *scratch; /* of n / 2 items */
};

/* A copy whose length is known to the compiler for the usual items: numbers and pointers. */
static void copy(const struct sort *s, char *to, const char *from) {
    if (s->size_B == 8)
        memcpy(to, from, 8);
    else
        memcpy(to, from, s->size_B);
}

/* Left and right half are sorted: the left one moves aside and comes back between the others. */
static void merge(const struct sort *s, char *items, size_t n_left, size_t n) {
    size_t step_B = s->size_B;
    char *left = s->scratch, *left_end = left + n_left * step_B,
         *right = items + n_left * step_B, *end = items + n * step_B;
    memcpy(left, items, n_left * step_B);
    for (; left < left_end; items += step_B) {
        bool from_right = right < end && s->compare(right, left) < 0;
        copy(s, items, from_right ? right : left);
        *(from_right ? &right : &left) += step_B;
    }
}

static void sort(const struct sort *s, char *items, size_t n) {
    if (n < 2) return;
    size_t n_left = n / 2;
    char *right = items + n_left * s->size_B;
    sort(s, items, n_left);
    sort(s, right, n - n_left);
    if (s->compare(right - s->size_B, right) > 0) merge(s, items, n_left, n);
}

/* Where there is no memory: each item moves past those behind which it goes, byte by byte. */
static void insert(char *items, size_t n, size_t size_B, fr_compare_fn *compare) {
    for (size_t i = 1; i < n; i++)
        for (char *at = items + i * size_B; at > items && compare(at - size_B, at) > 0;
             at -= size_B)
            for (size_t k = 0; k < size_B; k++) {
                char byte = at[k];
                at[k] = at[k - size_B];
                at[k - size_B] = byte;
            }
}

void fr_sort_items(void *items, size_t n, size_t size_B, fr_compare_fn *compare) {
    char small[ON_STACK_B], *scratch = small;
    if (n < 2) return;
    if (n / 2 > sizeof small / size_B) scratch = fr_malloc(n / 2, size_B);
    struct sort s = {size_B, compare, scratch};
    if (scratch)
        sort(&s, items, n);
    else
        insert(items, n, size_B, compare);
    if (scratch != small) free(scratch);
}
