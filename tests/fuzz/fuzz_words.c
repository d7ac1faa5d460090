/* Any words of a training to be paid for, one a line, are numbers above zero, or are refused; so is any
 * name of a placement. */
#include <math.h>

#include "answer/predict/training.h"
#include "tests/fuzz/fuzz.h"
#include "topology/placement.h"

enum { WORDS = 9 };

static bool good(double value) { return value >= 0 && isfinite(value); }

static void read_training(char *text) {
    const char *word[WORDS] = {NULL};
    char *rest = NULL;
    int n = 0;
    struct fr_training t;
    struct fr_error err = {0};
    for (char *at = strtok_r(text, "\n", &rest); at && n < WORDS;
         at = strtok_r(NULL, "\n", &rest))
        word[n++] = strcmp(at, "-") == 0 ? NULL : at;
    const struct fr_training_words words = {word[0], word[1], word[2], word[3], word[4],
                                            word[5], word[6], word[7], word[8]};
    if (fr_training_read(&words, &t, &err) == FR_OK)
        FR_FUZZ_REQUIRE(good(t.tokens) && good(t.samples) && good(t.price_per_s) &&
                        good(t.carbon_kg_per_J) && (t.pue == 0 || t.pue >= 1) &&
                        isfinite(t.pue) && good(t.device_mtbf_s) && good(t.storage_B_per_s) &&
                        good(t.checkpoint_B) && good(t.restart_s));
    else
        FR_FUZZ_REQUIRE(err.where[0] && err.detail[0]);
}

FR_FUZZ_TEXT(text, size) {
    struct fr_placement_choice choice = fr_placement_default();
    struct fr_error err = {0};
    int64_t *owned = NULL;
    (void)size;
    if (!strstr(text, "file")) { /* names of files are not tried */
        char name[256];
        if (fr_placement_parse(text, "fuzz", &choice, &owned, &err) == FR_OK)
            FR_FUZZ_REQUIRE(*fr_placement_write(&choice, name, sizeof name));
        else
            FR_FUZZ_REQUIRE(err.where[0] && err.detail[0]);
        free(owned);
    }
    read_training(text);
}
