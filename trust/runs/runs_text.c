/* Facts of files of runs, as text. */
#include <string.h>

#include "base/text/wrap.h"
#include "trust/runs/runs.h"

void fr_runs_print_skipped(const struct fr_runs *runs, struct fr_text *text) {
    for (int i = 1; i < FR_RUN_SKIP_COUNT; i++)
        if (runs->skipped[i])
            fr_text_addf(text, "%d row%s left out: %s\n", runs->skipped[i],
                         runs->skipped[i] == 1 ? "" : "s", fr_run_skip_names[i]);
    if (*runs->impossible) fr_text_addf(text, "  %s\n", runs->impossible);
    if (runs->replaced)
        fr_text_addf(text, "%d row%s a cluster of its own, which --cluster replaces\n",
                     runs->replaced, runs->replaced == 1 ? " names" : "s name");
}

void fr_runs_print_software(const struct fr_runs *runs, struct fr_text *text) {
    struct fr_text line = {0};
    bool several = false;
    for (int i = 1; i < runs->count; i++)
        several |= strcmp(runs->items[i].runtime, runs->items[0].runtime) != 0;
    fr_text_addf(&line, "software");
    for (int i = 0; i < runs->count; i++) {
        const char *name = runs->items[i].runtime;
        int first = 0, rows = 0;
        while (strcmp(runs->items[first].runtime, name) != 0) first++;
        if (first < i) continue;
        for (int k = i; k < runs->count; k++) rows += strcmp(runs->items[k].runtime, name) == 0;
        fr_text_addf(&line, "%s %s", i ? "," : "", name);
        if (several) fr_text_addf(&line, " of %d row%s", rows, rows == 1 ? "" : "s");
    }
    fr_wrap(text, fr_text_get(&line), 0, 2, FR_COLUMNS);
    fr_end_line(text);
    fr_text_free(&line);
}

void fr_runs_print_assumed(const struct fr_runs *runs, struct fr_text *text) {
    enum { SHOWN = 3 };
    int different = 0;
    for (int i = 0; i < runs->count; i++) {
        const char *assumed = runs->items[i].assumed;
        struct fr_text line = {0};
        int rows = 0, k = 0;
        while (strcmp(runs->items[k].assumed, assumed) != 0) k++;
        if (!*assumed || k < i || ++different > SHOWN) continue;
        for (; k < runs->count; k++) rows += strcmp(runs->items[k].assumed, assumed) == 0;
        fr_text_addf(&line,
                     "%d row%s leave%s keys of the plan open, completed as by predict: %s",
                     rows, rows == 1 ? "" : "s", rows == 1 ? "s" : "", assumed);
        fr_wrap(text, fr_text_get(&line), 0, 2, FR_COLUMNS);
        fr_end_line(text);
        fr_text_free(&line);
    }
    if (different > SHOWN)
        fr_text_addf(text, "and %d other ways of completing rows (--json: assumed)\n",
                     different - SHOWN);
}
