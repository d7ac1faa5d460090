/* Which plan of this model is fastest on 64 GPUs, and how sure is that?
 *     cc search.c $(pkg-config --cflags --libs forerun) -o search && ./search */
#include <forerun.h>
#include <stdio.h>

int main(void) {
    const char *all[] = {"global_batch=128", "micro_batch=1", "sequence_parallel=true", NULL};
    const char *vary[] = {"tp=1..8*2", "pp=1..8*2", "recompute=none,selective", "zero=0..1",
                          NULL};
    forerun_search_options options = FORERUN_SEARCH_DEFAULTS;
    forerun_job *job = NULL;
    forerun_result *result = NULL;
    forerun_error error;
    options.ranks = "64";
    options.vary = vary;
    options.top = 3;
    forerun_status status = forerun_load("dgx-h100", "llama-3-70b", NULL, all, &job, &error);
    if (status == FORERUN_OK) status = forerun_search(job, &options, &result, &error);
    if (status != FORERUN_OK) fprintf(stderr, "%s\n", error.message);
    for (size_t i = 0; i < forerun_count(result); i++) {
        const forerun_outcome *o = forerun_outcome_at(result, i);
        printf("%.3f s  %.1f GB  best with %.0f %%  %s\n", o->time_s, 1e-9 * o->memory_B,
               100 * o->probability_best, o->plan);
    }
    forerun_result_free(result);
    forerun_job_free(job);
    return status;
}
