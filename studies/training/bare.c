#include "studies/training/bare.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "models/job/preset.h"

/* Keys that a user knows, who knows no recipe. */
static const char *const known[] = {"id",
                                    "group",
                                    "ranks",
                                    "measured_s",
                                    "model",
                                    "cluster",
                                    "model.layers",
                                    "model.dtype",
                                    "model.fp8_scaling",
                                    "model.sequence",
                                    "plan.tp",
                                    "plan.pp",
                                    "plan.cp",
                                    "plan.ep",
                                    "plan.etp",
                                    "plan.dp",
                                    "plan.chunks",
                                    "plan.schedule",
                                    "plan.micro_batch",
                                    "plan.global_batch",
                                    "note.device",
                                    "note.source",
                                    NULL};

/* The date of the runtime that @p row names, as its preset has it. */
static const char *date_of(const struct fr_run_row *row) {
    const char *name = fr_run_row_get(row, "runtime");
    const struct fr_preset *preset = name ? fr_preset_find("runtime", name) : NULL;
    return preset ? preset->date : NULL;
}

static void make(const char *how, const struct fr_run_row *row, struct fr_run_row *bare) {
    const char *runtime = fr_run_row_get(row, "runtime"), *date = date_of(row);
    *bare = (struct fr_run_row){0};
    for (int k = 0; known[k]; k++) {
        const char *value = fr_run_row_get(row, known[k]);
        if (value) fr_run_row_set(bare, known[k], "%s", value);
    }
    if (strcmp(how, "release") == 0 && runtime) fr_run_row_set(bare, "runtime", "%s", runtime);
    if (strcmp(how, "date") == 0 && date) fr_run_row_set(bare, "runtime.date", "%s", date);
    fr_run_row_set(bare, "model.defaults", "modern");
}

fr_status fr_bare_runs(const char *how, struct fr_runs *runs, struct fr_error *err) {
    struct fr_runs *made = fr_calloc(1, sizeof *made);
    struct fr_run_row *bare = fr_malloc(1, sizeof *bare);
    fr_status status = FR_OK;
    if (!made || !bare)
        status = fr_fail(err, FR_ERR_NOMEM, NULL, "the runs do not fit in memory");
    if (status == FR_OK) made->ask = runs->ask;
    for (int i = 0; status == FR_OK && i < runs->count; i++) {
        const struct fr_run *run = &runs->items[i];
        if (run->workload.transformer.experts == 0 || !run->cluster) continue;
        if (strcmp(how, "run") == 0)
            *bare = *run->row;
        else
            make(how, run->row, bare);
        fr_run_row_set(bare, "note.known", "%s", how);
        status = fr_runs_add(run->id, bare, made, err);
    }
    free(bare);
    if (status == FR_OK) {
        struct fr_runs old = *runs;
        *runs = *made;
        *made = old;
    }
    if (made) fr_runs_free(made);
    free(made);
    return status;
}
