/* Collectives simulated by messages on placements: nodes that change places as wholes, and ranks that change places
 * within one, take as long as they did, on a network whose links are shared. */
#include "sim/run.h"
#include "tests/job.h"

static double time_of(const char *method, const char *mesh, const char *placement) {
    const char *const sets[] = {
        "cluster.levels=[{\"name\": \"node\", \"ranks\": 4, \"latency\": \"2 us\", "
        "\"bandwidth\": \"50 GB/s\"}, {\"name\": \"system\", \"ranks\": 8, \"latency\": \"5 "
        "us\", "
        "\"bandwidth\": \"25 GB/s\", \"shared_by\": 4}]",
        "cluster.collectives={}",
        "global_batch=32",
        "ghost=4",
        method,
        mesh,
        strcmp(mesh, "tp=4") == 0 ? "dp=2" : "dp=4",
        placement,
        NULL};
    const struct fr_simulate_options how = {.network = &fr_network_shared, .as_messages = true};
    struct fr_job job;
    struct fr_simulation s;
    struct fr_error err = {0};
    const char *plain[12];
    int n = 0;
    for (int i = 0; sets[i]; i++) /* only one method has ghosts */
        if (strcmp(sets[i], "ghost=4") != 0 || strcmp(method, "method=phantom") == 0)
            plain[n++] = sets[i];
    plain[n] = NULL;
    fr_test_job("frontier", "ffn-4096", plain, &job);
    if (fr_simulate(&job, &job.plan, &how, &s, &err) != FR_OK)
        fail_msg("%s: %s", err.where, err.detail);
    assert_int_equal(s.outcome.reasons, 0);
    double time_s = s.outcome.time_s;
    fr_simulation_free(&s);
    fr_job_free(&job);
    return time_s;
}

static void alike_seats_take_as_long(void **state) {
    static const char *const methods[] = {"method=tensor", "method=phantom", "method=grid"};
    static const char *const meshes[] = {"tp=4", "tp=2"};
    static const char *const rank_map[] = {
        "placement=[4,5,6,7,0,1,2,3]", "placement=[3,2,1,0,7,6,5,4]",
        "placement=[7,6,5,4,3,2,1,0]", "placement=[5,4,7,6,1,0,3,2]"};
    (void)state;
    for (int m = 0; m < 3; m++)
        for (int k = 0; k < 2; k++) {
            double linear_s = time_of(methods[m], meshes[k], "placement=linear");
            for (int p = 0; p < 4; p++)
                FR_NEAR(time_of(methods[m], meshes[k], rank_map[p]), linear_s, 1e-9);
            if (k > 0) continue; /* groups of four across nodes are another matter */
            double apart_s = time_of(methods[m], meshes[k], "placement=[0,4,1,5,2,6,3,7]");
            FR_TRUE(fabs(apart_s / linear_s - 1) > 1e-3, "%s %s: %g s, %g", methods[m],
                    meshes[k], apart_s, linear_s);
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(alike_seats_take_as_long)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
