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
    {"mamf-finder",
     "** Dtype: torch.bfloat16\n    1 | 790.1 TFLOPS @ 4096x1792x10240 | best: 790.1 TFLOPS @ "
     "4096x1792x10240 (MxNxK)\n    2 | 700.5 TFLOPS @ 4096x4096x4096 | best: 790.1 TFLOPS @ "
     "4096x1792x10240 (MxNxK)\n",
     2},
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
            /* Few lines tell no prefix that all of a file have. */
            struct fr_text text = {0}, out = {0}, message = {0};
            if (k % 3 == 0) fr_text_addf(&text, "```text\n");
            wrap_lines(forms[i].text, wrap, n, &text);
            if (k % 3 == 0) fr_text_addf(&text, "```\n");
            read_all(forms[i].spelling, NULL, fr_text_get(&text), text.length, &out, &message);
            bool fenced_table = k % 3 == 0 && strchr(forms[i].text, ',') && out.length == 0;
            FR_TRUE(fenced_table || strcmp(fr_text_get(&out), fr_text_get(&clean)) == 0,
                    "%s, %s, %s: %s\n%s", forms[i].spelling, wrap[0]->what,
                    n > 1 ? wrap[1]->what : "", fr_text_get(&message), fr_text_get(&out));
            fr_text_free(&text);
            fr_text_free(&out);
            fr_text_free(&message);
        }
        fr_text_free(&clean);
        fr_text_free(&ignored);
    }
}

/* A message of NCCL in a row, behind its first part or its second, on the line or on its own. */
static void rows_cut_in_two_are_put_together(void **state) {
    static const char *const cuts[] = {
        "\nnode-0:49:50 [0] NCCL INFO 256 Bytes -> Algo 0\n",
        "node-0:49:50 [0] NCCL INFO 256 Bytes -> Algo 0\n",
        "node-0:49:50 [0] NCCL INFO a\nnode-1:49:50 [1] NCCL INFO b\n"};
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
        cmocka_unit_test(rows_cut_in_two_are_put_together),
        cmocka_unit_test(facts_are_held_against_each_other),
        cmocka_unit_test(a_rate_that_the_time_denies_is_left_out),
        cmocka_unit_test(the_reader_that_fits_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
