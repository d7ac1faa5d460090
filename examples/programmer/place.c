/* Where should the ranks of this plan sit, and what does Slurm need to be told?
 *     cc place.c $(pkg-config --cflags --libs forerun) -o place && ./place */
#include <forerun.h>
#include <stdio.h>

int main(void) {
    const char *plan[] = {"tp=8", "pp=4", "dp=4", NULL};
    forerun_place_options options = FORERUN_PLACE_DEFAULTS;
    forerun_job *job = NULL;
    forerun_result *result = NULL;
    forerun_error error;
    options.launcher = "slurm";
    forerun_status status = forerun_load("a100-hdr", "gpt-8.3b", NULL, plan, &job, &error);
    if (status == FORERUN_OK) status = forerun_place(job, &options, &result, &error);
    if (status == FORERUN_OK)
        printf("%s", forerun_text(result)); /* seats of every placement: forerun_json(result) */
    else
        fprintf(stderr, "%s\n", error.message);
    forerun_result_free(result);
    forerun_job_free(job);
    return status;
}
