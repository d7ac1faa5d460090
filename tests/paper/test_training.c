/* forerun reproduce training: the accuracy that the tables must reach, on rows not fitted to, and
 * the document that shows it. */
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "app/papers/reproduce.h"
#include "app/papers/training/markdown.h"
#include "app/text/marked.h"
#include "base/data.h"
#include "tests/cmocka.h"

/* Step over a number that is the same but for its last place (another libm), or an equal byte. */
static bool agree(const char **a, const char **b) {
    char *end[2] = {NULL, NULL};
    if (!isdigit((unsigned char)**a) || !isdigit((unsigned char)**b)) return *(*a)++ == *(*b)++;
    double x = strtod(*a, &end[0]), y = strtod(*b, &end[1]);
    *a = end[0];
    *b = end[1];
    return fabs(x - y) <= 0.02;
}

/* docs/accuracy.md holds what the tables say today: `cmake --build BUILD --target accuracy`. */
static void document_is_up_to_date(const struct fr_reproduction *r) {
    struct fr_text now = {0}, written = {0};
    struct fr_error err = {0};
    fr_training_markdown(r, &now);
    if (fr_marked_read(FR_SOURCE_DIR "/docs/accuracy.md", FR_TRAINING_MARK, &written, &err) !=
        FR_OK)
        fail_msg("%s: %s", err.where, err.detail);
    const char *a = fr_text_get(&now), *b = fr_text_get(&written);
    while (*a && agree(&a, &b)) continue;
    FR_TRUE(!*a && !*b, "docs/accuracy.md: \"%.80s\", the tables: \"%.80s\"; build accuracy", b,
            a);
    fr_text_free(&now);
    fr_text_free(&written);
}

/* Coverages outside what their notes ask, of tables that only report; each must really miss, and
 * docs/accuracy.md says so.  175 of 180 and 120 of 123 rows lie in their intervals, one too many
 * each; 6 of the 11 sharded bf16 runs do. */
static const char *const known_misses[] = {"mpt/a100_40gb/coverage", "mpt/h100/coverage",
                                           "dgxc_fsdp/coverage", NULL};

static bool is_known_miss(const char *id) {
    for (size_t i = 0; known_misses[i]; i++)
        if (strcmp(known_misses[i], id) == 0) return true;
    return false;
}

static void tables_reach_what_they_must(void **state) {
    struct fr_reproduction r = {0};
    struct fr_error err = {0};
    char path[512];
    size_t runs = 0;
    (void)state;
    if (!fr_data_find("training/vtrain_single_node.csv", path, sizeof path)) skip();
    if (fr_paper_training.run(&r, &err) != FR_OK) fail_msg("%s: %s", err.where, err.detail);
    for (size_t i = 0; i < r.count; i++) {
        const struct fr_reproduce_row *x = &r.rows[i];
        runs += x->detail;
        FR_TRUE(isfinite(x->ours), "%s has no value", x->id);
        FR_TRUE(strncmp(x->id, "skipped", 7) != 0, "%s: %s", x->id, x->note);
        if (!x->judged) continue;
        FR_TRUE(x->holds != is_known_miss(x->id), "%s: got %g, %s", x->id, x->ours, x->note);
    }
    FR_TRUE(runs > 900, "got %zu runs", runs);
    document_is_up_to_date(&r);
    free(r.rows);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(tables_reach_what_they_must)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
