/* The points at which every row of fr_collectives keeps its contract: p = 1..64, every r that
 * divides p and one that does not, sizes from nothing to much, and both orders of links. */
#ifndef FR_TESTS_COLLECTIVE_POINTS_H
#define FR_TESTS_COLLECTIVE_POINTS_H

#include <string.h>

#include "models/network/collective.h"
#include "tests/cmocka.h"

enum { MAX_RANKS = 64 };

typedef void fr_check(const struct fr_collective *row, const struct fr_collective_args *a);

/* Fail with where we are, then got and wanted. */
#define EXPECT(condition, row, a, ...)                                                         \
    do {                                                                                       \
        if (condition) break;                                                                  \
        print_error("%s %s, p = %d, r = %d, n = %g B, inner %g s + %g s/B, outer %g s + %g "   \
                    "s/B:\n    ",                                                              \
                    (row)->name, fr_op_names[(row)->op], (int)(a)->n_ranks,                    \
                    (int)(a)->ranks_per_node, (a)->size_B, (a)->inner.latency_s,               \
                    (a)->inner.s_per_B, (a)->outer.latency_s, (a)->outer.s_per_B);             \
        fail_msg(__VA_ARGS__);                                                                 \
    } while (0)

/* Every day those up to 20, and around larger powers. */
static inline bool is_tried(int64_t p) {
    return p <= 20 || p % 16 == 0 || p == 31 || p == 63 || fr_sample(1, 0);
}

/* Links of no class, of a node with a switch and InfiniBand, of a node without one and RoCE. */
enum { CLASSES = 3 };

static inline struct fr_collective_args with_classes(struct fr_collective_args a, int k) {
    static const char *const names[CLASSES][2] = {
        {"", ""}, {"nvswitch", "infiniband"}, {"xgmi", "roce"}};
    a.inside = a.between = NULL;
    a.hops_inside = a.hops_between = 1;
    for (int i = 0; fr_link_class_names[i]; i++) {
        if (strcmp(fr_link_class_names[i], names[k][0]) == 0) a.inside = &fr_link_classes[i];
        if (strcmp(fr_link_class_names[i], names[k][1]) == 0) a.between = &fr_link_classes[i];
    }
    return a;
}

static inline void at_every_size(fr_check *check, const struct fr_collective *row,
                                 struct fr_collective_args a) {
    static const double sizes_B[] = {0, 1, 1e6 / 3, 1e9};
    static const struct fr_link_cost links[] = {{1.3e-6, 1 / 300e9}, {5.7e-6, 1 / 25e9}};
    for (int slow_inside = 0; slow_inside < 2; slow_inside++)
        for (size_t i = 0; i < CLASSES * (sizeof sizes_B / sizeof *sizes_B); i++) {
            a.size_B = sizes_B[i / CLASSES];
            a = with_classes(a, (int)(i % CLASSES));
            a.inner = links[slow_inside];
            a.outer = links[1 - slow_inside];
            if (row->applicable(&a)) check(row, &a);
        }
}

static inline void at_every_point(fr_check *check) {
    for (const struct fr_collective *const *row = fr_collectives; *row; row++)
        for (int64_t p = 1; p <= MAX_RANKS; p++)
            for (int64_t r = 1; is_tried(p) && r <= p; r++)
                if (p % r == 0 || r == p - 1)
                    at_every_size(
                        check, *row,
                        (struct fr_collective_args){.n_ranks = p, .ranks_per_node = r});
}

/* Once for every (p, r): for what does not depend on size and links. */
static inline void at_every_shape(fr_check *check) {
    for (const struct fr_collective *const *row = fr_collectives; *row; row++)
        for (int64_t p = 1; p <= MAX_RANKS; p++)
            for (int64_t r = 1; is_tried(p) && r <= p; r++) {
                struct fr_collective_args a = {.n_ranks = p,
                                               .ranks_per_node = r,
                                               .size_B = (double)p,
                                               .inner = {1, 1},
                                               .outer = {1, 1}};
                for (int k = 0; k < CLASSES; k++) {
                    a = with_classes(a, k);
                    if ((p % r == 0 || r == p - 1) && (*row)->applicable(&a)) check(*row, &a);
                }
            }
}

#endif
