/* Any text is read as every trainer's log, or refused with its place; a time that is read is positive. */
#include <math.h>
#include <stdlib.h>

#include "answer/trainer/trainer.h"
#include "tests/fuzz/fuzz.h"

static void read_with(const struct fr_trainer *by, const char *text, size_t size) {
    const struct fr_trainer_ask ask = {.by = by};
    struct fr_run_row row = {0};
    struct fr_trainer_result trained;
    struct fr_error err = {0};
    fr_run_row_set(&row, "ranks", "8");
    fr_run_row_set(&row, "model.sequence", "2048");
    fr_status status = fr_trainer_read(&ask, text, size, "log", &row, &trained, &err);
    fr_trainer_result_free(&trained);
    if (status != FR_OK) {
        FR_FUZZ_REQUIRE(err.where[0] && err.detail[0]);
        return;
    }
    const char *time = fr_run_row_get(&row, "measured_s");
    FR_FUZZ_REQUIRE(!time || (atof(time) >= 0 && isfinite(atof(time))));
}

/* Whose it is must be said of any text, and each trainer's reader must bear it. */
FR_FUZZ_TEXT(text, size) {
    fr_trainer_of(text, size);
    read_with(NULL, text, size);
    for (int i = 0; fr_trainers[i]; i++) read_with(fr_trainers[i], text, size);
}
