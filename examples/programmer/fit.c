/* Measurements into a cluster, and at once a prediction on it.
 *     cc fit.c $(pkg-config --cflags --libs forerun) -o fit && ./fit samples.jsonl > cluster.json */
#include <forerun.h>
#include <stdio.h>

int main(int argc, char **argv) {
    const char *samples[] = {argc > 1 ? argv[1] : "samples.jsonl", NULL};
    const char *model = "{\"kind\": \"ffn\", \"width\": 1024, \"layers\": 4, "
                        "\"global_batch\": 64, \"dtype\": \"fp32\"}";
    const char *plan[] = {"tp=4", NULL};
    forerun_job *job = NULL;
    forerun_result *fitted = NULL, *predicted = NULL;
    forerun_error error;
    forerun_status status = forerun_fit(samples, NULL, &fitted, &error);
    if (status == FORERUN_OK)
        status = forerun_load(forerun_text(fitted), model, NULL, plan, &job, &error);
    if (status == FORERUN_OK) status = forerun_predict(job, &predicted, &error);
    if (status == FORERUN_OK) {
        const forerun_outcome *o = forerun_outcome_at(predicted, 0);
        printf("%s", forerun_text(fitted));
        fprintf(stderr, "%.4g ms an iteration, 90 %% between %.4g and %.4g ms\n",
                1e3 * o->time_s, 1e3 * o->low_s, 1e3 * o->high_s);
    } else
        fprintf(stderr, "%s\n", error.message);
    forerun_result_free(predicted);
    forerun_result_free(fitted);
    forerun_job_free(job);
    return status;
}
