/* A curve over an input, as CSV: what would a slower or faster network make of this plan?
 *     cc curve.c $(pkg-config --cflags --libs forerun) -o curve && ./curve */
#include <forerun.h>
#include <stdio.h>

int main(void) {
    const char *plan[] = {"tp=4", "pp=2", "dp=2", "micro_batch=8", "global_batch=32", NULL};
    forerun_job *job = NULL;
    forerun_error error;
    forerun_status status = forerun_load("a100-hdr", "gpt-2.5b", NULL, plan, &job, &error);
    if (status == FORERUN_OK) printf("bandwidth_GB_per_s,time_s,low_s,high_s,bubble_s\n");
    for (int rate = 5; status == FORERUN_OK && rate <= 80; rate *= 2) {
        forerun_result *result = NULL;
        char set[64];
        snprintf(set, sizeof set, "cluster.levels.1.bandwidth=%d GB/s", rate);
        status = forerun_set(job, set, &error);
        if (status == FORERUN_OK) status = forerun_predict(job, &result, &error);
        const forerun_outcome *o = forerun_outcome_at(result, 0);
        if (o)
            printf("%d,%.6g,%.6g,%.6g,%.6g\n", rate, o->time_s, o->low_s, o->high_s,
                   o->bubble_s);
        forerun_result_free(result);
    }
    if (status != FORERUN_OK) fprintf(stderr, "%s\n", error.message);
    forerun_job_free(job);
    return status;
}
