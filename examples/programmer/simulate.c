/* A pipeline in the event engine on links that are shared, and its timeline for ui.perfetto.dev.
 *     cc simulate.c $(pkg-config --cflags --libs forerun) -o simulate && ./simulate trace.json */
#include <forerun.h>
#include <stdio.h>

int main(int argc, char **argv) {
    const char *stages =
        "{\"kind\": \"stages\", \"forward\": \"1 ms\", \"backward\": \"2 ms\", "
        "\"message\": \"1 MB\"}";
    const char *plan[] = {"pp=4", "global_batch=16", "schedule=zero-bubble", NULL};
    forerun_simulate_options options = FORERUN_SIMULATE_DEFAULTS;
    forerun_job *job = NULL;
    forerun_result *result = NULL;
    forerun_error error;
    options.network = "shared";
    options.trace = "chrome";
    forerun_status status = forerun_load("frontier", stages, NULL, plan, &job, &error);
    if (status == FORERUN_OK) status = forerun_simulate(job, &options, &result, &error);
    if (status == FORERUN_OK) {
        const forerun_outcome *o = forerun_outcome_at(result, 0);
        FILE *file = argc > 1 ? fopen(argv[1], "w") : NULL;
        printf("%.4g ms, of which %.4g ms bubble\n", 1e3 * o->time_s, 1e3 * o->bubble_s);
        if (file) fputs(forerun_text(result), file), fclose(file);
    } else
        fprintf(stderr, "%s\n", error.message);
    forerun_result_free(result);
    forerun_job_free(job);
    return status;
}
