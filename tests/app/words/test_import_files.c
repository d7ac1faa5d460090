/* forerun import as a user runs it: several files of which one is bad, power of fewer devices than ranks, runs that
 * cannot be. */
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "tests/app/command.h"
#include "tests/cmocka.h"

static void write_file(const char *path, const char *text) {
    assert_int_equal(fr_file_write(path, text, strlen(text), NULL), FR_OK);
}

static const char osu[] =
    "srun -N 2 --ntasks-per-node=8 osu_allreduce\n# OSU MPI Allreduce Latency Test v5.8\n"
    "# Size       Avg Latency(us)\n4                      12.45\n";

static void a_bad_file_is_skipped(void **state) {
    (void)state;
    write_file("/tmp/forerun_good.txt", osu);
    write_file("/tmp/forerun_bad.txt", "nothing\n");
    fr_test_expect("forerun import osu /tmp/forerun_bad.txt /tmp/forerun_good.txt", 0,
                   "\"all_reduce\"", "skipped: /tmp/forerun_bad.txt");
    fr_test_expect("forerun import osu /tmp/forerun_good.txt /tmp/forerun_nowhere.txt", 0,
                   "\"all_reduce\"", "1 sample from 1 file; 1 skipped");
    fr_test_expect("forerun import osu --strict /tmp/forerun_bad.txt /tmp/forerun_good.txt", 3,
                   NULL, "no title of OSU");
    fr_test_expect("forerun import osu /tmp/forerun_bad.txt", 3, NULL, "no title of OSU");
    fr_test_expect("forerun import osu /tmp/forerun_bad.txt /tmp/forerun_bad.txt", 3, NULL,
                   "no title of OSU");
    remove("/tmp/forerun_good.txt");
    remove("/tmp/forerun_bad.txt");
}

/* A trace is the profiler importer's own kind of file: what it refuses is said by it, by others that it is a trace. */
static void a_trace_is_refused_by_its_reader(void **state) {
    (void)state;
    write_file(
        "/tmp/forerun_trace.json",
        "{\"traceEvents\": [{\"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"aten::mm\", "
        "\"ts\": 1, \"dur\": 2, \"pid\": 1, \"tid\": 1}]}");
    fr_test_expect("forerun import profiler /tmp/forerun_trace.json", 3, NULL,
                   "record_shapes=True");
    fr_test_expect("forerun import osu /tmp/forerun_trace.json", 3, NULL, "is a trace");
    remove("/tmp/forerun_trace.json");
    fr_test_expect("forerun share -c frontier --name=", 2, NULL, "--name: is empty");
}

static const char steps[] = " iteration        1/      10 | consumed samples: 64 | elapsed "
                            "time per iteration (ms): 1000.0 | lm loss: 1 |\n"
                            " iteration        2/      10 | consumed samples: 128 | elapsed "
                            "time per iteration (ms): 1000.0 | lm loss: 1 |\n";

/* 2 devices of 300 W: the run has 2 ranks, or 16. */
static void devices_are_compared_with_ranks(void **state) {
    static const char power[] = "timestamp, power.draw [W]\n2024/05/10 11:38:02.1, 300 "
                                "W\n2024/05/10 11:38:02.1, 300 W\n"
                                "2024/05/10 11:38:03.1, 300 W\n2024/05/10 11:38:03.1, 300 W\n"
                                "2024/05/10 11:38:04.1, 300 W\n2024/05/10 11:38:04.1, 300 W\n";
#define LOG                                                                                    \
    "forerun import megatron /tmp/forerun_steps.log --column model=gpt-2.5b --column "         \
    "model.dtype=fp16 --column plan.global_batch=64 --power /tmp/forerun_watts.csv"
    (void)state;
    write_file("/tmp/forerun_steps.log", steps);
    write_file("/tmp/forerun_watts.csv", power);
    fr_test_expect(LOG " --column ranks=2", 0, ",600,device", "2 devices by their time stamps");
    fr_test_expect(LOG " --column ranks=16", 3, NULL,
                   "the power of 2 devices, and the run has 16 ranks");
    fr_test_expect(LOG " --column ranks=16 --scale-power", 0, ",4800,device",
                   "scaled to 16 ranks");
    fr_test_expect(LOG " --power /tmp/forerun_watts.csv --column ranks=4", 0, ",1200,device",
                   NULL);
    write_file("/tmp/forerun_watts.csv", "time,watts\n1746763068,600\n1746763069,600\n");
    fr_test_expect(LOG " --column ranks=16", 0, ",600", "does not say where it was metered");
    remove("/tmp/forerun_steps.log");
    remove("/tmp/forerun_watts.csv");
}

/* 2.5 billion parameters, 64 x 2048 tokens: 8 devices of 312 TFLOP/s take more than 0.8 s. */
static void what_is_above_the_peak_is_told(void **state) {
    static const char rows[] =
        "id,model,model.dtype,ranks,plan.dp,plan.global_batch,measured_s\n"
        "slow,gpt-2.5b,fp16,8,8,64,3\nwrong,gpt-2.5b,fp16,8,8,64,0.1\n";
    (void)state;
    write_file("/tmp/forerun_peak.csv", rows);
    fr_test_expect("forerun score --cluster dgx-a100 --runs /tmp/forerun_peak.csv --all", 0,
                   "wrong: 0.1 s would be", NULL);
    fr_test_expect("forerun tune --cluster dgx-a100 --runs /tmp/forerun_peak.csv", 0,
                   "1 row left out: faster than the peak of its devices", NULL);
    fr_test_expect(
        "forerun tune --cluster dgx-a100 --runs /tmp/forerun_peak.csv --where id=wrong", 3,
        NULL, "faster than the peak of its devices");
    write_file("/tmp/forerun_rate.csv",
               "m,n,k,dtype,tflops\n4096,4096,4096,bf16,250\n8192,4096,4096,bf16,260\n"
               "8192,8192,4096,bf16,270\n8192,8192,8192,bf16,400\n");
    fr_test_expect("forerun import products /tmp/forerun_rate.csv -o /tmp/forerun_rate.jsonl",
                   0, NULL, NULL);
    fr_test_expect("forerun fit /tmp/forerun_rate.jsonl --base dgx-a100", 0,
                   "products bf16: 1 left out, faster than the device's peak", NULL);
    remove("/tmp/forerun_peak.csv");
    remove("/tmp/forerun_rate.csv");
    remove("/tmp/forerun_rate.jsonl");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_bad_file_is_skipped),
        cmocka_unit_test(a_trace_is_refused_by_its_reader),
        cmocka_unit_test(devices_are_compared_with_ranks),
        cmocka_unit_test(what_is_above_the_peak_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
