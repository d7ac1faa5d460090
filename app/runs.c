#include "app/runs.h"

fr_status fr_app_runs(const struct fr_args *args, struct fr_runs *runs, struct fr_error *err) {
    const char *files[FR_ARGS_MAX], *first = NULL;
    FR_TRY(fr_args_required(args, "runs", &first, err));
    int n = fr_args_all(args, "runs", files);
    for (int i = 0; i < n; i++) FR_TRY(fr_runs_read(files[i], NULL, runs, err));
    return runs->count ? FR_OK
                       : fr_fail(err, FR_ERR_INPUT, first, "holds no run that can be used");
}
