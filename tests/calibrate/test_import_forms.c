/* Every reader of printed benchmarks gives the same samples, whatever stands before and around the lines; and facts
 * that contradict each other are refused. */
#include <stdio.h>
#include <string.h>

#include "base/random.h"
#include "calibrate/samples/import.h"
#include "tests/cmocka.h"
#include "tests/wraps.h"

/* Each tool prints this, of 16 ranks on 2 nodes where it says so. */
static const struct form {
    const char *spelling, *text;
    int samples;
} forms[] = {
    {"nccl-tests",
     "mpirun -np 16 -N 8 ./build/all_reduce_perf -b 1K -e 8M\n"
     "# nThread 1 nGpus 1 minBytes 1024 maxBytes 8388608 step: 2(factor) warmup iters: 5\n"
     "#\n# Using devices\n"
     "#  Rank  0 Group  0 Pid 1000 on   node-0 device  0 [0x0a] NVIDIA H100 80GB HBM3\n"
     "#  Rank  7 Group  0 Pid 1007 on   node-0 device  7 [0x0b] NVIDIA H100 80GB HBM3\n"
     "#  Rank  8 Group  0 Pid 1000 on   node-1 device  0 [0x0a] NVIDIA H100 80GB HBM3\n"
     "#  Rank 15 Group  0 Pid 1007 on   node-1 device  7 [0x0b] NVIDIA H100 80GB HBM3\n"
     "#\n#                                                              out-of-place\n"
     "#       size         count      type   redop    root     time   algbw   busbw #wrong     "
     "time   algbw   busbw #wrong\n"
     "        1024           256     float     sum      -1    30.01    0.03    0.06      0    "
     "29.71    0.03    0.06      0\n"
     "     8388608       2097152     float     sum      -1    85.92   97.63  183.05      0    "
     "85.06   98.61  184.90      0\n"
     "# Out of bounds values : 0 OK\n",
     4},
    {"osu",
     "srun -N 2 --ntasks-per-node=8 osu_allreduce\n# OSU MPI Allreduce Latency Test v5.8\n"
     "# Size       Avg Latency(us)\n4                      12.45\n1024                   "
     "22.69\n"
     "65536                 124.29\n",
     3},
    {"imb",
     "mpirun -n 16 -ppn 8 IMB-MPI1 allreduce\n"
     "#----------------------------------------------------------------\n"
     "# Benchmarking Allreduce\n# #processes = 16\n"
     "#----------------------------------------------------------------\n"
     "       #bytes #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]\n"
     "            8         1000         4.50        18.59        11.69\n"
     "         1024         1000         8.73        20.20        14.63\n",
     2},
    {"imb",
     "mpirun -n 16 -ppn 8 IMB-MPI1 allreduce\n# Benchmarking Allreduce\n# #processes = 16\n"
     "#Benchmarking        #procs       #bytes #repetitions  t_min[usec]  t_max[usec]  "
     "t_avg[usec]\n"
     "Allreduce       16                  4         1000       297.88    298.07       297.95\n"
     "Allreduce       16               1024         1000       299.23  299.39       299.31\n",
     2},
    {"oneccl",
     "mpirun -n 16 -ppn 8 benchmark\n# Benchmarking: allreduce\n# #processes: 16\n"
     "        #bytes  #repetitions    t_min[usec]    t_max[usec]    t_avg[usec]  stddev[%]\n"
     "             4            16          23.50          25.10          24.02       1.80\n"
     "       1048576            16         151.00         160.20         155.40       1.20\n",
     2},
    {"nvshmem",
     "mpirun -np 16 -N 8 reduction_on_stream\n#reduction_on_stream\n"
     "size(B)     count     type      redop     latency(us)       min_lat(us)       "
     "max_lat(us)    "
     "   algbw(GB/s)   busbw(GB/s)\n"
     "8           2         int       sum       7.193600          7.194             7.194      "
     "    "
     "   0.001         0.002\n"
     "1048576     256       int       sum       8.881746          8.882             8.882      "
     "    "
     "   118.060         221.362\n",
     2},
    {"nvshmem",
     "nvshmrun -np 16 -ppn 8 fcollect_latency\n"
     "+------------------------+----------------------+\n"
     "| fcollect_device        | 32-bit-thread        |\n"
     "+------------------------+----------------------+\n"
     "| size (Bytes)           |    latency us        |\n"
     "+------------------------+----------------------+\n"
     "| 4                      | 30.200000            |\n"
     "+------------------------+----------------------+\n\n"
     "+------------------------+----------------------+\n"
     "| fcollect_device        | 32-bit-block         |\n"
     "+------------------------+----------------------+\n"
     "| size (Bytes)           |    latency us        |\n"
     "+------------------------+----------------------+\n"
     "| 4                      | 10.200000            |\n"
     "| 1024                   | 12.200000            |\n"
     "+------------------------+----------------------+\n",
     2},
    {"nvshmem",
     "mpirun -np 16 -N 8 reduction_latency\ndevice_reduction\n"
     "&&&& PERF device_reduction___int-sum-t___size__4___latency 30.2 -us\n"
     "&&&& PERF device_reduction___int-sum-b___size__4___latency 10.2 -us\n"
     "&&&& PERF device_reduction___int-sum-b___size__1024___latency 12.2 -us\n",
     2},
    {"osu",
     "mpirun_rsh -np 16 -ppn 8 -hostfile h osu_allreduce\n#OSU MPI Allreduce Latency Test "
     "v3.9\n"
     "#Size Avg Latency(us) Min Latency(us) Max Latency(us) Iterations\n4 12.45 11.0 13.1 "
     "1000\n"
     "1024 [node-0:4711] pml_ucx.c:130 WARN x\n22.69 20.0 25.1 1000\n",
     2},
    {"osu",
     "mpiexec --np 16 --ppn 8 /lus/osu_alltoall -f\n"
     "\\# OSU MPI All-to-All Personalized Exchange Latency Test v7.5\n"
     "\\# Size       Avg Latency(us)   Min Latency(us)   Max Latency(us)  Iterations\n"
     "4096                  467.38            460.43            474.05        1000\n",
     1},
    {"osu",
     "srun -N 2 -n 16 osu_allreduce -z\n# OSU MPI Allreduce Latency Test v7.5\n"
     "# Size       Avg Latency(us) P50 Tail Lat(us) P90 Tail Lat(us) P99 Tail Lat(us)\n"
     "4 12.45 12.0 13.1 20.5\n1024 22.69 22.0 25.1 30.5\n",
     2},
    {"osu",
     "srun -N 2 -n 16 osu_nccl_allreduce\n# OSU NCCL-CUDA Allreduce Latency Test v7.3\n"
     "# Size       Avg Latency(us)\n4                      12.45\n1024                   "
     "22.69\n"
     "4096                   2",
     2},
    {"imb",
     "mpirun -n 16 -ppn 8 IMB-MPI1 reduce_scatter_block\n## Benchmarking Reduce_scatter_block\n"
     "## #processes = 16\n#bytes #repetitions tmin[usec] tmax[usec] tavg[usec]\n"
     "8 1000 4.50 18.59 11.69\n1024 time-out.; Time limit is over\n",
     1},
    {"oneccl",
     "mpirun -n 16 -ppn 8 benchmark --csv_filepath x\n"
     "#ranks,collective,reduction,dtype,dtype_size,#elements/buffer,message_size,#buffers,"
     "#repetitions,t_min[usec],t_max[usec],t_avg[usec],stddev[%],wait_t_avg[usec]\n"
     "16,allreduce,sum,float32,4,1,4,1,16,23.5,25.1,24.0,1.8,0\n"
     "16,allgather,sum,float32,4,1,4,1,16,23.5,25.1,24.0,1.8,0\n",
     2},
    {"nccom-test",
     "mpirun -np 2 -N 1 nccom-test -r 16 alltoall\n"
     "\xE2\x94\x82 size (B) \xE2\x94\x82 count (elems) \xE2\x94\x82 type \xE2\x94\x82 time:p50 "
     "(us) "
     "\xE2\x94\x82 algbw (GB/s) \xE2\x94\x82 busbw (GB/s) \xE2\x94\x82\n"
     "\xE2\x94\x82 33554432 \xE2\x94\x82 33554432 \xE2\x94\x82 uint8 \xE2\x94\x82 768 "
     "\xE2\x94\x82 43.69 "
     "\xE2\x94\x82 43.69 \xE2\x94\x82\n",
     1},
    {"ucc",
     "srun -N 2 -n 16 ucc_perftest -c allreduce\nCollective:             Allreduce\n"
     "Datatype:               float32\nInplace:                0\n\n"
     "       Count        Size                Time, us\n"
     "                                 avg         min         max\n"
     "         128         512       14.32       13.99       14.65\n"
     "         256        1024       15.32       14.99       15.65\n",
     2},
    {"nccom-test",
     "nccom-test -r 16 -N 2 allr\n"
     "    size(B)    count(elems)     type    time:avg(us)    algbw(GB/s)    busbw(GB/s)\n"
     "   33554432        33554432    uint8             768          43.69          81.92\n"
     "   67108864        67108864    uint8            1536          43.69          81.92\n",
     2},
    {"hipblaslt-bench",
     "hipBLASLt version: 100200\nIs supported 1 / Total solutions: 1\n"
     "[0]:transA,transB,grouped_gemm,batch_count,m,n,k,alpha,lda,a_type,b_type,d_type,"
     "hipblaslt-"
     "Gflops,hipblaslt-GB/s,us\n"
     "    N,T,0,1,4096,6144,8192,1,4096,bf16_r,bf16_r,bf16_r,918371,452.429,448.965\n"
     "    N,T,0,4,896,896,896,1,896,f16_r,f16_r,f16_r,234500,100.0,24.54\n",
     2},
    {"cublaslt",
     "4096\t4096\t4096\t0\t196.5\t699.4\n4096 4096 4096 2 393.0 699.4\nm=1024, n=2048, k=4096: "
     "25.0 us, 687.2 TFLOPS\n",
     3},
    {"cublaslt",
     "+ ./cublasMatmulBench -p=t -P=qqssq -m=9728 -n=2048 -k=32768 -ta=1 -tb=0 -T=1000\n"
     "#### args: ta=T tb=N m=9728 n=2048 k=32768 lda=32768 ldb=32768 ldc=9728 loop=1000\n"
     "^^^^ gpu time statistics: runs 1000, mean 0.400000 ms, min 0.390000 ms\n"
     "^^^^ CUDA : elapsed = 0.4 sec,  Gflops = 3264175.145\n"
     "+ ./cublasMatmulBench -P=tst -m=8192 -n=9728 -k=16384 -ta=0 -tb=1 -T=1000 -p=t\n"
     "#### args: ta=N tb=T m=8192 n=9728 k=16384 lda=8192 ldb=9728 ldc=8192 loop=1000\n"
     "^^^^ CUDA : elapsed = 1.6 sec,  Gflops = 1632087.572\n",
     2},
    {"cublaslt",
     "batchCUBLAS Starting...\n\nTesting sgemm\n"
     "#### args: ta=0 tb=0 m=1536 n=1536 k=1536  alpha = (0xbf800000, -1) beta= (0x40000000, "
     "2)\n"
     "#### args: lda=1536 ldb=1536 ldc=1536\n^^^^ elapsed = 0.00249505 sec  GFLOPS=2904.85\n"
     "@@@@ sgemm test OK\nTesting dgemm\n"
     "#### args: ta=0 tb=0 m=1024 n=1024 k=1024  alpha = (0x0000000000000000, 0)\n"
     "#### args: lda=1024 ldb=1024 ldc=1024\n^^^^ elapsed = 0.00182 sec  GFLOPS=1182.16\n",
     2},
    {"mamf-finder",
     "** Dtype: torch.bfloat16\n      MxNxK           TFLOPS     W   MHz spread  runs\n"
     "  4096x4096x4096      743.0   679  1792   1.6%  749.6 743.2  <- MSMF\n"
     "Tried 4 shapes => the best outcomes were:\n"
     "MAMF (max achievable,  boost burst): 781 TFLOPS @ 4096x4096x4096 (MxNxK)  332W 1980MHz\n"
     "MSMF (max sustainable, saturated):   743 TFLOPS @ 4096x4096x4096 (MxNxK)  679W 1792MHz\n",
     2},
    {"mamf-finder",
     "** Dtype: torch.bfloat16\n    1 | 790.1 TFLOPS @ 4096x1792x10240 | best: 790.1 TFLOPS @ "
     "4096x1792x10240 (MxNxK)\n    2 | 700.5 TFLOPS @ 4096x4096x4096 | best: 790.1 TFLOPS @ "
     "4096x1792x10240 (MxNxK)\n",
     2},
    {"nccl-tests",
     "{\"version\":1,\"args\":[\"./build/all_reduce_perf\",\"-b\",\"8\"],"
     "\"env\":[\"A=b\",\"SLURM_NTASKS=16\"],\"config\":{\"nthreads\":1,\"ngpus\":1,"
     "\"aggregated_iterations\":1,\"graph\":0,\"devices\":["
     "{\"rank\":0,\"group\":0,\"pid\":1,\"hostname\":\"a\",\"device\":0,\"device_hex\":"
     "\"0x0a\","
     "\"device_info\":\"NVIDIA H100\"},{\"rank\":15,\"group\":0,\"pid\":1,\"hostname\":\"b\","
     "\"device\":7,\"device_hex\":\"0x0b\",\"device_info\":\"NVIDIA H100\"}]},"
     "\"results\":[{\"size\":8388608,\"count\":2097152,\"type\":\"float\",\"redop\":\"sum\","
     "\"root\":\"    "
     "-1\",\"out_of_place\":{\"time\":85.92,\"alg_bw\":97.632793,\"bus_bw\":183.061487,"
     "\"nwrong\":0.0},\"in_place\":null}]}\n",
     1},
    {"products",
     "| M | N | K | type | Latency (us) |\n|---|---:|---|---|---|\n"
     "| 4096 | 4096 | 4096 | bf16 | 196.3 |\n| 1024 | 4096 | 4096 | bf16 | 96.3 |\n",
     2},
    {"products",
     "m\tn\tk\tdtype\tGFLOPs\n4096\t4096\t4096\tbf16\t700200\n1024\t4096\t4096\tbf16\t600200\n6"
     "4\t4096\t4096\tbf16\t600200\n",
     3},
    {"cublaslt",
     "4096x4096x4096, bf16, 700.2 TFLOPS\nM: 1024, N: 2048, K: 4096, dtype: bf16, TFLOPS: "
     "687.2\n8192 x 8192 x 8192, bf16, 720 TFLOP/s\n",
     3},
    {"hipblaslt-bench",
     "transA,transB,batch_count,M,N,K,alpha,lda,d_type,rocblas-Gflops,us\n"
     "N,N,1,4096,4096,4096,1,4096,f16_r,500000,274.9\n"
     "N,N,1,1024,4096,4096,1,4096,f16_r,500000,68.7\nN,T,1,512,4096,4096,1,4096,f16_r,500000,"
     "34.36\n",
     3},
    {"products",
     "m,n,k,dtype,tflops\n4096,4096,4096,bfloat16,700\n1024,1024,1024,bf16,300\n64,64,64,bf16,"
     "1\n",
     3},
    {"collectives",
     "op,ranks,nodes,size_B,time_s\nall_reduce,16,2,1024,1e-5\nall_reduce,16,2,2048,2e-5\n", 2},
};
enum { FORMS = sizeof forms / sizeof *forms };

static const struct fr_importer *find(const char *spelling) {
    for (int i = 0; fr_importers[i]; i++)
        if (strcmp(fr_importers[i]->spelling, spelling) == 0) return fr_importers[i];
    fail_msg("no importer %s", spelling);
    return NULL;
}

/* All samples as they are written, "" where the file is refused; what was said in @p message. */
static void read_all(const char *spelling, const struct fr_import_options *given,
                     const char *text, size_t length, struct fr_text *out,
                     struct fr_text *message) {
    struct fr_samples samples = {0};
    struct fr_error err = {0};
    const struct fr_import_options silent = {.dtype =
                                                 strcmp(spelling, "cublaslt") ? NULL : "bf16"};
    fr_status status = fr_import_text(find(spelling), text, length, "log.txt", NULL,
                                      given ? given : &silent, &samples, message, &err);
    if (status == FR_OK)
        fr_import_write(&samples, out);
    else
        fr_text_addf(message, "%s: %s", err.where, err.detail);
    fr_samples_free(&samples);
}

static int count_of(const struct fr_text *written) {
    int n = 0;
    for (const char *at = fr_text_get(written); (at = strstr(at, "\"time_s\"")); at++) n++;
    return n;
}

static void every_reader_reads_what_its_tool_prints(void **state) {
    (void)state;
    for (int i = 0; i < FORMS; i++) {
        struct fr_text out = {0}, message = {0};
        read_all(forms[i].spelling, NULL, forms[i].text, strlen(forms[i].text), &out, &message);
        FR_TRUE(count_of(&out) == forms[i].samples, "%s: %d samples, wanted %d; %s",
                forms[i].spelling, count_of(&out), forms[i].samples, fr_text_get(&message));
        bool collective = strstr(fr_text_get(&out), "\"collective\"") != NULL;
        FR_TRUE(!collective ||
                    strstr(fr_text_get(&out), "\"ranks\": 16, \"level\": \"system\", "
                                              "\"nodes\": 2"),
                "%s: not of 16 ranks on 2 nodes: %s", forms[i].spelling, fr_text_get(&out));
        fr_text_free(&out);
        fr_text_free(&message);
    }
}

/* Each reader, each wrap, and random ones two and three deep. */
static void wrapped_text_says_the_same(void **state) {
    uint64_t random = 12;
    (void)state;
    for (int i = 0; i < FORMS; i++) {
        struct fr_text clean = {0}, ignored = {0};
        read_all(forms[i].spelling, NULL, forms[i].text, strlen(forms[i].text), &clean,
                 &ignored);
        for (int k = 0; k < WRAPS + 60; k++) {
            const struct wrap *wrap[3] = {&wraps[k % WRAPS]};
            int n = k < WRAPS ? 1 : 2 + k % 2;
            for (int w = 1; w < n; w++) wrap[w] = &wraps[fr_random_next(&random) % WRAPS];
            if (!wraps_fit(wrap, n)) continue;
            /* One line tells no prefix that all of a file have, with others behind it. */
            if (n > 1 && strchr(forms[i].text, '\n')[1] == '\0' && !wraps_fit_a_line(wrap, n))
                continue;
            struct fr_text text = {0}, out = {0}, message = {0};
            if (k % 3 == 0) fr_text_addf(&text, "```text\n");
            wrap_lines(forms[i].text, wrap, n, &text);
            if (k % 3 == 0) fr_text_addf(&text, "```\n");
            read_all(forms[i].spelling, NULL, fr_text_get(&text), text.length, &out, &message);
            FR_TRUE(strcmp(fr_text_get(&out), fr_text_get(&clean)) == 0,
                    "%s, %s, %s, %s: %s\n%s\n%s", forms[i].spelling, wrap[0]->what,
                    n > 1 ? wrap[1]->what : "", n > 2 ? wrap[2]->what : "",
                    fr_text_get(&message), fr_text_get(&out), fr_text_get(&text));
            fr_text_free(&text);
            fr_text_free(&out);
            fr_text_free(&message);
        }
        fr_text_free(&clean);
        fr_text_free(&ignored);
    }
}

/* Prefixes that no row of the table of loggers knows, a number of the line in some. */
static void words_of_unknown_loggers_go(void **state) {
    static const char *const befores[] = {"[nccl-launcher-x2x4f] ",
                                          "[launcher main] ",
                                          "default/launcher[main]: ",
                                          "launcher main ",
                                          "{pod=\"x\", c=\"y\"} ",
                                          "build\tRun nccl\t",
                                          "INFO:root:",
                                          "[INFO] ",
                                          "2026-05-09 03:57:48,161 - root - INFO - ",
                                          "2026-05-09 03:57:48.1 | INFO     | run:main:12 - ",
                                          "I0509 03:57:48.123456  4711 run.cc:12] ",
                                          "Rank 0: ",
                                          "[gpu0] ",
                                          "%6d\t",
                                          "%d:",
                                          "slurm-123.out:%d:",
                                          "slurm-123.out:",
                                          "<<node-0>> ",
                                          "(0) ",
                                          "[0@node-0] ",
                                          "[0]",
                                          "0:",
                                          "+",
                                          "05/09/2026 03:57:48 AM ",
                                          "<34>1 2026-05-09T03:57:48.003Z node-0 app 4711 - - ",
                                          "worker: ",
                                          "10.0.0.1: ",
                                          "node-0\t"};
    (void)state;
    for (int i = 0; i < FORMS; i++) {
        struct fr_text clean = {0}, ignored = {0};
        static const char *const tables[] = {"products", "collectives", "cublaslt", NULL};
        bool table = fr_place_in(tables, forms[i].spelling) >= 0;
        read_all(forms[i].spelling, NULL, forms[i].text, strlen(forms[i].text), &clean,
                 &ignored);
        for (size_t k = 0; !table && k < sizeof befores / sizeof *befores; k++) {
            struct fr_text text = {0}, out = {0}, stated = {0};
            int number = 0;
            if (strcmp(befores[k], "+") == 0 && strcmp(forms[i].spelling, "nvshmem") == 0)
                continue;
            for (const char *at = forms[i].text; *at;) {
                size_t n = strcspn(at, "\n");
                char before[96];
                snprintf(before, sizeof before, befores[k], ++number);
                fr_text_addf(&text, "%s%.*s%s", before, (int)n, at, at[n] ? "\n" : "");
                at += n + (at[n] == '\n');
            }
            read_all(forms[i].spelling, NULL, fr_text_get(&text), text.length, &out, &stated);
            FR_TRUE(strcmp(fr_text_get(&out), fr_text_get(&clean)) == 0, "%s, \"%s\": %s\n%s",
                    forms[i].spelling, befores[k], fr_text_get(&stated), fr_text_get(&out));
            fr_text_free(&text);
            fr_text_free(&out);
            fr_text_free(&stated);
        }
        fr_text_free(&clean);
        fr_text_free(&ignored);
    }
}

/* An option that changes the measurement is refused by name, or reported. */
static void what_changes_the_measurement_is_told(void **state) {
    static const struct {
        const char *spelling, *text, *says;
        int samples;
    } rows[] = {
        {"osu",
         "mpirun -np 2 -H a,b osu_put_latency\n# OSU MPI_Put Latency Test v5.6.2\n"
         "# Size          Latency (us)\n8 2.2\n",
         "MPI_Put Latency Test", 0},
        {"osu",
         "mpirun -np 2 -H a,b osu_latency\n# OSU MPI-CUDA Latency Test v5.6\n"
         "# Send Buffer on DEVICE (D) and Receive Buffer on HOST (H)\n"
         "# Size          Latency (us)\n8 2.2\n",
         "between a host's memory and a device's", 0},
        {"oneccl",
         "mpirun -n 16 -ppn 8 benchmark\n# Benchmarking: allreduce allgather\n# #processes: "
         "16\n"
         "#bytes #elem_count #repetitions t_min[usec] t_max[usec] t_avg[usec]\n4 1 16 23 25 "
         "24\n",
         "several collectives timed as one", 0},
        {"nccl-tests",
         "mpirun -np 16 -N 8 all_reduce_perf -C 1\n# size count type redop root cputime algbw "
         "busbw "
         "#wrong\n8388608 2097152 float sum -1 85.92 97.63 183.05 0\n",
         "what the processor took", 0},
        {"nccl-tests",
         "mpirun -np 2 -N 1 all_reduce_perf\n# Rank 0 Pid 1 on a device 0 [0x0a] H100\n"
         "# Rank 0 Pid 1 on b device 0 [0x0a] H100\n# size count type redop time algbw busbw "
         "error\n"
         "# size count type redop time algbw busbw error\n8388608 2097152 float sum 1.2 1.00 "
         "0.00 0\n",
         "each process ran alone", 0},
        {"nccl-tests",
         "mpirun -np 4 -N 2 all_reduce_perf\n"
         "# Rank 0 Group 0 Pid 1 on a device 0 [0x0a] H100\n"
         "# Rank 1 Group 1 Pid 1 on a device 1 [0x0a] H100\n"
         "# size count type redop root time algbw busbw #wrong\n"
         "8388608 2097152 float sum -1 85.92 97.63 97.63 0\n",
         "2 communicators ran it at once", 0},
        {"nccl-tests",
         "mpirun -np 16 -N 8 all_reduce_perf\n# nThread 1 nGpus 1 agg iters: 4 graph: 5\n"
         "# size count type redop root time algbw busbw #wrong i_min i_max i_p99 i_cv% time "
         "algbw "
         "busbw #wrong i_min i_max i_p99 i_cv% timestamp\n8388608 2097152 float sum -1 85.92 "
         "97.63 "
         "183.05 0 1 2 3 4 85.92 97.63 183.05 0 1 2 3 4 2026-05-09 03:57:48\n",
         "launched as CUDA graphs", 2},
        {"nccl-tests",
         "mpirun -np 16 -N 8 all_reduce_perf\n# Rank 0 Group 0 Pid 1 on a device 0 [0x0a] "
         "H100\n"
         "... 15 more lines ...\n# size count type redop root time algbw busbw #wrong time "
         "algbw "
         "busbw #wrong\n8388608 2097152 float sum -1 85.92 97.63 183.05 0 85.9",
         "leaves ranks out", 0},
        {"nccl-tests",
         "mpirun -np 16 -N 8 all_reduce_perf\n# size count type redop root time algbw busbw "
         "#wrong "
         "time algbw busbw #wrong\n8388608 2097152 float sum -1 85.92 97.63 183.05 0\n",
         "only the first 9 columns of 13", 1},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct fr_text out = {0}, stated = {0};
        read_all(rows[i].spelling, NULL, rows[i].text, strlen(rows[i].text), &out, &stated);
        FR_TRUE(strstr(fr_text_get(&stated), rows[i].says) && count_of(&out) == rows[i].samples,
                "row %zu: %d samples; %s", i, count_of(&out), fr_text_get(&stated));
        fr_text_free(&out);
        fr_text_free(&stated);
    }
}

/* A message of NCCL in a row, behind its first part or its second, on the line or on its own. */
static void rows_cut_in_two_are_put_together(void **state) {
    static const char *const cuts[] = {
        "\nnode-0:49:50 [0] NCCL INFO 256 Bytes -> Algo 0\n",
        "node-0:49:50 [0] NCCL INFO 256 Bytes -> Algo 0\n",
        "node-0:49:50 [0] NCCL INFO a\nnode-1:49:50 [1] NCCL INFO b\n",
        "[0] node-0:49:50 [0] NCCL INFO a\n[0] ",
        "\nlibibverbs: Warning: no config directory\n",
        "[1746763068.1] [node-0:49 :0] parser.c:2036 UCX  WARN unused variable: X\n",
        "[2026-05-09 03:57:48] node-0:49:50 [0] misc/shmutils.cc:72 NCCL WARN Error: failed\n"};
    struct fr_text clean = {0}, ignored = {0};
    const char *text = forms[0].text, *row = strstr(text, "     8388608");
    (void)state;
    read_all("nccl-tests", NULL, text, strlen(text), &clean, &ignored);
    for (int second = 0; second < 2; second++) {
        const char *place = strstr(row, second ? "    85.06" : "    85.92");
        for (size_t c = 0; c < sizeof cuts / sizeof *cuts; c++) {
            struct fr_text cut = {0}, out = {0}, message = {0};
            fr_text_addf(&cut, "%.*s%s%s", (int)(place - text), text, cuts[c], place);
            read_all("nccl-tests", NULL, fr_text_get(&cut), cut.length, &out, &message);
            FR_TRUE(strcmp(fr_text_get(&out), fr_text_get(&clean)) == 0, "cut %zu: %s", c,
                    fr_text_get(&message));
            assert_non_null(strstr(fr_text_get(&message), "put together"));
            fr_text_free(&cut);
            fr_text_free(&out);
            fr_text_free(&message);
        }
    }
    fr_text_free(&clean);
    fr_text_free(&ignored);
}

#define ROWS                                                                                   \
    "#       size         count      type   redop    root     time   algbw   busbw #wrong\n"   \
    "     8388608       2097152     float     sum      -1    85.92   97.63  183.05      0\n"
#define DEVICE(rank, host, device)                                                             \
    "#  Rank " #rank " Group  0 Pid 1 on " #host " device " #device " [0x0a] NVIDIA H100\n"

/* 183.05 / 97.63 = 1.875 is of 16 ranks. */
static void facts_are_held_against_each_other(void **state) {
    static const struct {
        const char *text, *says; /* NULL: read */
        int64_t ranks, given;
    } rows[] = {
        {"mpirun -np 16 -N 8 all_reduce_perf\n" ROWS, NULL, 16, 0},
        {"mpirun -np 8 -N 8 all_reduce_perf\n" ROWS,
         "busbw over algbw (1.875) says 16 ranks, not 8", 0, 0},
        {"mpirun -np 8 -N 8 all_reduce_perf\n" ROWS, NULL, 16, 16},
        {"all_reduce_perf\n" ROWS, NULL, 16, 0},
        {"all_reduce_perf\n" ROWS, "as --ranks does", 0, 8},
        {"all_reduce_perf\n" DEVICE(0, a, 0) DEVICE(7, a, 7) DEVICE(15, b, 7) ROWS, NULL, 16,
         0},
        {"all_reduce_perf\n" DEVICE(0, a, 0) DEVICE(1, a, 1) "# ...\n" ROWS, NULL, 16, 0},
        {"all_reduce_perf\n" DEVICE(0, a, 0) DEVICE(1, a, 1) ROWS, "not 2", 0, 0},
        {"mpirun -np 4 all_reduce_perf\n" DEVICE(0, a, 0) DEVICE(1, a, 1) ROWS,
         "the text says 2 ranks, its launch line 4", 0, 0},
        {"# nThread 1 nGpus 16 minBytes 8\nall_reduce_perf\n" ROWS, NULL, 16, 0},
        {"# nThread 1 nGpus 8 minBytes 8\nmpirun -np 2 -N 1 all_reduce_perf -g 8\n" ROWS, NULL,
         16, 0},
        {"mpirun -np 4 --map-by node -H a,b all_reduce_perf\n" DEVICE(0, a, 0) DEVICE(1, b, 0)
             DEVICE(2, a, 1)
                 DEVICE(3, b, 1) "# size count type redop root time algbw busbw #wrong\n"
                                 "8388608 2097152 float sum -1 85.92 100.00 150.00 0\n",
         NULL, 4, 0},
        {"SLURM_NTASKS=4\nmpirun -np 16 -N 8 all_reduce_perf\n" ROWS, NULL, 16, 0},
        {"mpirun -np 16 -hostfile h all_reduce_perf\n" ROWS, "leaves open on how many nodes", 0,
         0},
        {"0: all_reduce_perf\n0: # size count type redop root time algbw busbw #wrong\n"
         "0: 8388608 2097152 float sum -1 85.92 97.63 183.05 0\n"
         "1: 8388608 2097152 float sum -1 85.92 97.63 183.05 0\n",
         "each printed a table of its own", 0, 0},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct fr_text out = {0}, message = {0};
        const struct fr_import_options given = {.n_ranks = rows[i].given};
        char ranks[48];
        read_all("nccl-tests", &given, rows[i].text, strlen(rows[i].text), &out, &message);
        snprintf(ranks, sizeof ranks, "\"ranks\": %d, \"level\"", (int)rows[i].ranks);
        FR_TRUE(rows[i].says ? out.length == 0 && strstr(fr_text_get(&message), rows[i].says)
                             : strstr(fr_text_get(&out), ranks) != NULL,
                "%s: %s\n%s", rows[i].text, fr_text_get(&message), fr_text_get(&out));
        bool slurm = strncmp(rows[i].text, "SLURM", 5) == 0;
        FR_TRUE(!slurm || strstr(fr_text_get(&message), "4 ranks; taken are 16"),
                "not told: %s", fr_text_get(&message));
        fr_text_free(&out);
        fr_text_free(&message);
    }
}

/* A product's time and rate must agree. */
static void a_rate_that_the_time_denies_is_left_out(void **state) {
    static const char text[] = "m,n,k,dtype,time_us,tflops\n4096,4096,4096,bf16,196.3,700\n"
                               "4096,4096,4096,bf16,196.3,1400\n";
    struct fr_text out = {0}, message = {0};
    (void)state;
    read_all("products", NULL, text, sizeof text - 1, &out, &message);
    assert_int_equal(count_of(&out), 1);
    assert_non_null(strstr(fr_text_get(&message), "log.txt:3: left out"));
    fr_text_free(&out);
    fr_text_free(&message);
}

static void the_reader_that_fits_is_named(void **state) {
    struct fr_text out = {0}, message = {0};
    (void)state;
    read_all("nccl-tests", NULL, forms[5].text, strlen(forms[5].text), &out, &message);
    assert_non_null(strstr(fr_text_get(&message), "forerun import nvshmem reads it"));
    fr_text_free(&out);
    fr_text_free(&message);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_reader_reads_what_its_tool_prints),
        cmocka_unit_test(wrapped_text_says_the_same),
        cmocka_unit_test(words_of_unknown_loggers_go),
        cmocka_unit_test(what_changes_the_measurement_is_told),
        cmocka_unit_test(rows_cut_in_two_are_put_together),
        cmocka_unit_test(facts_are_held_against_each_other),
        cmocka_unit_test(a_rate_that_the_time_denies_is_left_out),
        cmocka_unit_test(the_reader_that_fits_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
