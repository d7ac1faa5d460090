/* One launch: the points visited, then what measures on its own, then the end in the file. */
#include "calibrate/measure/harness/visits.h"

static fr_status measure_apart(struct fr_bench *bench, struct fr_error *err) {
    for (int i = 0; fr_bench_rows[i]; i++)
        if (fr_bench_rows[i]->measure && fr_bench_wanted(bench, fr_bench_rows[i]))
            FR_TRY(fr_bench_rows[i]->measure(bench, err));
    return FR_OK;
}

fr_status fr_bench_run(struct fr_bench *bench, struct fr_error *err) {
    struct fr_visits visits;
    int reason = FR_END_COMPLETE;
    if (bench->launch >= bench->options.n_launches) return FR_OK; /* resumed, and all is done */
    fr_status status = fr_visits_open(bench, &visits, err);
    if (status == FR_OK) status = fr_visits_run(&visits, &reason, err);
    if (status == FR_OK) status = measure_apart(bench, err);
    if (bench->rank == 0 && (status == FR_OK || status == FR_ERR_PARTIAL)) {
        fr_status ended = fr_record_end(&visits, reason, err);
        if (status == FR_OK) status = ended;
    }
    fr_visits_close(&visits);
    return status;
}
