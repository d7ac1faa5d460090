/* The user's own log: the columns are the keys. */
#include "trust/runs/runs.h"

static const char *const columns[] = {"measured_s", NULL};

static fr_run_skip read(const struct fr_run_source *in, struct fr_run_row *out) {
    for (int i = 0; i < in->csv->n_columns; i++) {
        const char *cell = fr_run_cell(in, in->csv->column[i]);
        if (*cell) fr_run_row_set(out, in->csv->column[i], "%s", cell);
    }
    return FR_RUN_USABLE;
}

const struct fr_run_reader fr_run_reader_own = {
    .name = "own",
    .summary = "a runs.csv: dotted keys and measured_s",
    .source = "docs/files.md",
    .columns = columns,
    .read = read,
    .strict = true,
};
