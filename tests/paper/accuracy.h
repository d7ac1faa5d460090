/* docs/accuracy.md holds what tables say today: `cmake --build BUILD --target accuracy`. */
#ifndef FR_TESTS_PAPER_ACCURACY_H
#define FR_TESTS_PAPER_ACCURACY_H

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "app/papers/training/markdown.h"
#include "app/text/marked.h"
#include "tests/cmocka.h"

/* Step over a number that is the same but for its last place (another libm), or an equal byte. */
static inline bool accuracy_agree(const char **a, const char **b) {
    char *end[2] = {NULL, NULL};
    if (!isdigit((unsigned char)**a) || !isdigit((unsigned char)**b)) return *(*a)++ == *(*b)++;
    double x = strtod(*a, &end[0]), y = strtod(*b, &end[1]);
    *a = end[0];
    *b = end[1];
    return fabs(x - y) <= 0.02;
}

static inline void accuracy_is_up_to_date(const struct fr_reproduction *r, const char *mark) {
    struct fr_text now = {0}, written = {0};
    struct fr_error err = {0};
    fr_training_markdown(r, &now);
    if (fr_marked_read(FR_SOURCE_DIR "/docs/accuracy.md", mark, &written, &err) != FR_OK)
        fail_msg("%s: %s", err.where, err.detail);
    const char *a = fr_text_get(&now), *b = fr_text_get(&written);
    while (*a && accuracy_agree(&a, &b)) continue;
    FR_TRUE(!*a && !*b, "docs/accuracy.md: \"%.80s\", the tables: \"%.80s\"; build accuracy", b,
            a);
    fr_text_free(&now);
    fr_text_free(&written);
}

/* Judged rows hold, but for those of @p known_misses (NULL ends), which must really miss; every row has a
 * value and none is skipped.  @return rows of single runs */
static inline size_t accuracy_rows_hold(const struct fr_reproduction *r,
                                        const char *const *known_misses) {
    size_t runs = 0;
    for (size_t i = 0; i < r->count; i++) {
        const struct fr_reproduce_row *x = &r->rows[i];
        bool known = false;
        for (size_t k = 0; known_misses[k]; k++) known |= strcmp(known_misses[k], x->id) == 0;
        runs += x->detail;
        FR_TRUE(isfinite(x->ours), "%s has no value", x->id);
        FR_TRUE(strncmp(x->id, "skipped", 7) != 0, "%s: %s", x->id, x->note);
        if (x->judged && !x->detail)
            FR_TRUE(x->holds != known, "%s: got %g, %s", x->id, x->ours, x->note);
    }
    return runs;
}

#endif
