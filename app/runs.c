#include "app/runs.h"

fr_status fr_runs_none(const struct fr_runs *runs, const char *first, struct fr_error *err) {
    struct fr_text why = {0};
    for (int i = 1; i < FR_RUN_SKIP_COUNT; i++)
        if (runs->skipped[i])
            fr_text_addf(&why, "%s%d row%s: %s", *fr_text_get(&why) ? "; " : ": ",
                         runs->skipped[i], runs->skipped[i] == 1 ? "" : "s",
                         fr_run_skip_names[i]);
    fr_fail(err, FR_ERR_INPUT, first, "holds no run that can be used%s", fr_text_get(&why));
    fr_text_free(&why);
    return FR_ERR_INPUT;
}

fr_status fr_app_runs(const struct fr_args *args, struct fr_runs *runs, struct fr_error *err) {
    const char *files[FR_ARGS_MAX], *first = NULL;
    FR_TRY(fr_args_required(args, "runs", &first, err));
    int n = fr_args_all(args, "runs", files);
    for (int i = 0; i < n; i++) FR_TRY(fr_runs_read(files[i], NULL, runs, err));
    return runs->count ? FR_OK : fr_runs_none(runs, first, err);
}
