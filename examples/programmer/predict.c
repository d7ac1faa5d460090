/* What does an iteration of this plan cost?
 *     cc predict.c $(pkg-config --cflags --libs forerun) -o predict && ./predict */
#include <forerun.h>
#include <stdio.h>

int main(void) {
    const char *plan[] = {"method=phantom", "tp=8", "ghost=16", NULL};
    forerun_job *job = NULL;
    forerun_result *result = NULL;
    forerun_error error;
    forerun_status status = forerun_load("frontier", "ffn-16384", NULL, plan, &job, &error);
    if (status == FORERUN_OK) status = forerun_predict(job, &result, &error);
    if (status != FORERUN_OK) fprintf(stderr, "%s\n", error.message);
    if (result) {
        const forerun_outcome *o = forerun_outcome_at(result, 0);
        printf("%s on %lld ranks\n", o->plan, (long long)o->ranks);
        printf("%.4g ms an iteration, 90 %% between %.4g and %.4g ms\n", 1e3 * o->time_s,
               1e3 * o->low_s, 1e3 * o->high_s);
        printf("%.4g J, %.4g GB on the fullest rank\n", o->energy_J, 1e-9 * o->memory_B);
    }
    forerun_result_free(result);
    forerun_job_free(job);
    return status;
}
