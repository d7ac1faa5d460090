/* Benchmark output of other tools: one small text for each shape of it, with what must come out
 * worked out by hand, and every file that others published (skipped where it is absent). */
#include <stdio.h>
#include <string.h>

#include "base/data.h"
#include "calibrate/samples/import.h"
#include "tests/calibrate/near.h"
#include "tests/cmocka.h"

static const struct fr_importer *find(const char *spelling) {
    for (int i = 0; fr_importers[i]; i++)
        if (strcmp(fr_importers[i]->spelling, spelling) == 0) return fr_importers[i];
    fail_msg("no importer %s", spelling);
    return NULL;
}

struct outcome {
    fr_status status;
    struct fr_samples samples;
    struct fr_text notes;
    struct fr_error err;
};

static struct outcome take_with(const char *spelling, const char *text,
                                const struct fr_import_options *options) {
    struct outcome o = {0};
    o.status = fr_import_text(find(spelling), text, strlen(text), "log.txt", NULL, options,
                              &o.samples, &o.notes, &o.err);
    return o;
}

static struct outcome take(const char *spelling, const char *text) {
    return take_with(spelling, text, &(struct fr_import_options){0});
}

static void drop(struct outcome *o) {
    fr_samples_free(&o->samples);
    fr_text_free(&o->notes);
}

static void expect_refused(struct outcome *o, const char *where, const char *detail) {
    assert_int_equal(o->status, FR_ERR_INPUT);
    if (!strstr(o->err.where, where) || !strstr(o->err.detail, detail))
        fail_msg("got \"%s: %s\", wanted \"%s\" and \"%s\"", o->err.where, o->err.detail, where,
                 detail);
    assert_int_equal(o->samples.n_collective, 0);
    drop(o);
}

#define NEW_HEADER                                                                             \
    "#       size         count      type   redop    root     time   algbw   busbw  #wrong  "  \
    "   time   algbw   busbw  #wrong\n"

static const char *const nccl_new =
    "srun: job 17 queued\n"
    "# nccl-tests version 2.17.8 nccl-headers=22902\n"
    "# Collective test starting: alltoall_perf\n"
    "#  Rank  0 Group  0 Pid 20 on a01 device  0 [0000:1b:00] NVIDIA H100 80GB HBM3\n"
    "#  Rank  1 Group  0 Pid 21 on a01 device  1 [0000:2b:00] NVIDIA H100 80GB HBM3\n"
    "#  Rank  2 Group  0 Pid 22 on a02 device  0 [0000:1b:00] NVIDIA H100 80GB HBM3\n"
    "#  Rank  3 Group  0 Pid 23 on a02 device  1 [0000:2b:00] NVIDIA H100 80GB "
    "HBM3\n" NEW_HEADER
    "           0             0     float    none      -1    7.50    0.00    0.00       0     "
    "7.25    0.00    0.00    N/A\n"
    "a01: some library says 12 things\n"
    "        4096           256     float    none      -1   12.50    0.33    0.25       3    "
    "12.00    0.34    0.26    N/A\n"
    "        8192           512     float    none      -1   20.0    0.4\n";

static void test_nccl_new(void **state) {
    (void)state;
    struct outcome o = take("nccl-tests", nccl_new);
    assert_int_equal(o.status, FR_OK);
    assert_int_equal(o.samples.n_collective, 4);
    const struct fr_sample_collective *c = o.samples.collective;
    assert_int_equal(c[2].op, FR_OP_ALL_TO_ALL);
    assert_int_equal(c[2].n_ranks, 4);
    assert_int_equal(c[2].n_nodes, 2);
    assert_int_equal(c[2].level, FR_SAMPLE_SYSTEM);
    ASSERT_NEAR(c[0].size_B, 0, 0);
    ASSERT_NEAR(c[2].size_B, 4096, 0);
    ASSERT_NEAR(c[2].time_s, 12.5e-6, 1e-15);
    assert_true(c[2].failed && !c[2].in_place); /* three wrong */
    assert_true(!c[3].failed && c[3].in_place); /* N/A: not checked */
    const struct fr_sample_source *source = o.samples.source;
    assert_string_equal(source->tool_version, "2.17.8");
    assert_string_equal(source->device, "NVIDIA H100 80GB HBM3");
    assert_non_null(strstr(fr_text_get(&o.notes), "log.txt:12: 7 columns"));
    drop(&o);
}

static void test_nccl_old(void **state) {
    (void)state;
    struct outcome o = take(
        "nccl-tests", "mpirun -np 16 ./build/all_reduce_perf -b 8 -e 160K -f 2 -g 1 -n 250\n"
                      "#   size    count   type   redop   time  algbw  busbw  error   time  "
                      "algbw  busbw  error\n"
                      "       8        2  float     sum  25.06   0.00   0.00  4e-07  25.95   "
                      "0.00   0.00  2e+00\n");
    assert_int_equal(o.status, FR_OK);
    assert_int_equal(o.samples.n_collective, 2);
    assert_int_equal(o.samples.collective[0].n_ranks, 16); /* -n 250 are iterations */
    assert_false(o.samples.collective[0].failed);
    assert_true(o.samples.collective[1].failed);
    drop(&o);
    /* No redop and no root: the all-gather of 2019. */
    o = take_with(
        "nccl-tests",
        "#   size  count  type   time  algbw  busbw  error   time  algbw  busbw  error\n"
        "      48      1 float  57.46   0.00   0.00  0e+00  57.40   0.00   0.00  0e+00\n",
        &(struct fr_import_options){.n_ranks = 12, .nodes = 1, .op = "all_gather"});
    assert_int_equal(o.status, FR_OK);
    assert_int_equal(o.samples.collective[0].op, FR_OP_ALL_GATHER);
    ASSERT_NEAR(o.samples.collective[0].size_B, 48, 0);
    drop(&o);
}

static void test_nccl_refuses(void **state) {
    (void)state;
    const char *row = "  8  2 float sum -1 25.06 0.00 0.00 0 25.95 0.00 0.00 0\n";
    char text[2048];
    struct outcome o = take("nccl-tests", "hello\n");
    expect_refused(&o, "log.txt", "no header");
    o = take("nccl-tests", row);
    expect_refused(&o, "log.txt:1", "before any header");
    snprintf(text, sizeof text, NEW_HEADER "%s", row);
    o = take("nccl-tests", text);
    expect_refused(&o, "log.txt:2", "give --op");
    o = take_with("nccl-tests", text, &(struct fr_import_options){.op = "all_reduce"});
    expect_refused(&o, "log.txt:2", "give --ranks");
    snprintf(text, sizeof text, "%s  8  2 float sum -1 -3 0.00 0.00 0 25.95 0.00 0.00 0\n",
             NEW_HEADER);
    o = take_with("nccl-tests", text,
                  &(struct fr_import_options){.op = "all_reduce", .n_ranks = 8, .nodes = 1});
    expect_refused(&o, "log.txt:2", "no number of us >= 0");
    o = take_with("nccl-tests", nccl_new, &(struct fr_import_options){.n_ranks = 8});
    expect_refused(&o, "log.txt:9", "the text says 4 ranks, the command line 8");
}

static void test_osu(void **state) {
    (void)state;
    struct outcome o = take(
        "osu",
        "$ srun -N2 --ntasks-per-node=4 ./osu_allgather --validation\n"
        "    # OSU MPI-CUDA Allgather Latency Test v7.5\n    # Datatype: MPI_CHAR.\n"
        "    # Size       Avg Latency(us)   Min Latency(us)   Max Latency(us)  Iterations      "
        "  "
        "Validation\n"
        "    1024       22.26    20.00    30.00    1000      Pass\n"
        "    2048       23.26    20.00    30.00    1000      Fail\n    4096     24.1   20\n"
        "real 0m3.2s\n");
    assert_int_equal(o.status, FR_OK);
    assert_int_equal(o.samples.n_collective, 2);
    const struct fr_sample_collective *c = o.samples.collective;
    ASSERT_NEAR(c[0].size_B, 8192, 0); /* 8 ranks contribute 1024 B each */
    ASSERT_NEAR(c[0].time_s, 22.26e-6, 1e-15);
    assert_int_equal(c[0].n_nodes, 2);
    assert_true(!c[0].failed && c[1].failed);
    assert_non_null(
        strstr(fr_text_get(&o.notes), "log.txt:7: 3 columns where the header has 6"));
    drop(&o);
    o = take("osu",
             "# OSU MPI Allreduce Latency Test v5.8\n# Size       Avg Latency(us)\n4  9.5\n");
    expect_refused(&o, "log.txt:3", "give --ranks");
}

static void test_osu_messages(void **state) {
    (void)state;
    struct outcome o = take(
        "osu", "Point-to-point pairwise experiments for nodes a b\n"
               "# OSU MPI Latency Test v5.8\n# Size          Latency (us)\n0  1.5\n8  1.6\n"
               "# OSU MPI Bandwidth Test v5.8\n# Size      Bandwidth (MB/s)\n1000    500.00\n"
               "# OSU MPI Multiple Bandwidth / Message Rate Test v5.6.3\n"
               "# [ pairs: 4 ] [ window size: 64 ]\n"
               "# Size                  MB/s        Messages/s\n1000  2000.00  2000000.0\n"
               "# OSU MPI Non-blocking Allreduce Latency Test v7.5\n"
               "# Size  Overall(us)  Compute(us)\n4  1.0  1.0\n");
    assert_int_equal(o.status, FR_OK);
    assert_int_equal(o.samples.n_collective, 4);
    const struct fr_sample_collective *c = o.samples.collective;
    assert_int_equal(c[0].level, FR_SAMPLE_SYSTEM);
    assert_int_equal(c[1].pattern, FR_PATTERN_PING_PONG);
    assert_int_equal(c[2].pattern, FR_PATTERN_STREAM);
    ASSERT_NEAR(c[2].time_s, 2e-6, 1e-15); /* 1000 B at 500 MB/s */
    assert_int_equal(c[3].n_ranks, 8);
    ASSERT_NEAR(c[3].time_s, 2e-6, 1e-15); /* four pairs share 2000 MB/s */
    assert_non_null(strstr(fr_text_get(&o.notes), "Non-blocking"));
    drop(&o);
}

static void test_imb(void **state) {
    (void)state;
    struct outcome o = take_with(
        "imb",
        "#    Intel (R) MPI Benchmarks 4.1, MPI-1 part\n"
        "# Benchmarking Allgather\n# #processes = 4\n# ( 4 additional processes waiting in "
        "MPI_Barrier )\n       #bytes #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]\n"
        "            0         1000         0.00         0.00         0.00\n"
        "            8         1000         4.50        18.59        11.69\n"
        "           16         1000  int out of mem\n"
        "# Benchmarking PingPong\n# #processes = 2\n       #bytes #repetitions      t[usec]   "
        "Mbytes/sec\n            8         1000         1.72         4.64\n"
        "# Benchmarking Barrier\n# #processes = 4\n #repetitions  t_min[usec]  t_max[usec]\n"
        "         1000         1.00         1.50\n",
        &(struct fr_import_options){.n_ranks = 8, .ranks_per_node = 2});
    assert_int_equal(o.status, FR_OK);
    assert_int_equal(o.samples.n_collective, 2);
    const struct fr_sample_collective *c = o.samples.collective;
    ASSERT_NEAR(c[0].size_B, 32, 0);
    ASSERT_NEAR(c[0].time_s, 18.59e-6, 1e-15); /* the slowest rank */
    assert_int_equal(c[0].n_ranks, 4);
    assert_int_equal(c[0].level, FR_SAMPLE_SYSTEM); /* 4 ranks at 2 a node */
    assert_int_equal(c[1].level, FR_SAMPLE_NODE);
    assert_string_equal(o.samples.source[0].tool_version, "4.1");
    drop(&o);
}

/* ---- tables ------------------------------------------------------------------------------------ */

/* A series is rows of one system, library and setup, wherever they stand; sizes are whole buffers. */
static void test_collectives(void **state) {
    static const char table[] = "op,ranks,nodes,size_B,time_s,system,setup\n"
                                "all_reduce,8,1,1024,2e-5,mine,a\n"
                                "all_gather,16,2,4096,3e-5,mine,b\n"
                                "all_reduce,8,1,2048,2.5e-5,mine,a\n"
                                "prefix_sum,8,1,2048,2.5e-5,mine,a\n";
    (void)state;
    struct outcome o = take("collectives", table);
    if (o.status != FR_OK) fail_msg("%s: %s", o.err.where, o.err.detail);
    assert_int_equal(o.samples.n_source, 2);
    assert_int_equal(o.samples.n_collective, 3);
    const struct fr_sample_collective *c = o.samples.collective;
    assert_true(c[0].source == 1 && c[1].source == 2 && c[2].source == 1);
    assert_true(c[1].op == FR_OP_ALL_GATHER && c[1].n_ranks == 16 && c[1].n_nodes == 2 &&
                c[1].level == FR_SAMPLE_SYSTEM && c[1].size_B == 4096 && c[1].time_s == 3e-5);
    assert_true(c[2].level == FR_SAMPLE_NODE && c[2].time_s == 2.5e-5);
    assert_string_equal(o.samples.source[1].setup, "b");
    assert_string_equal(o.samples.source[0].file, "log.txt");
    /* Written source by source, nothing is lost. */
    struct fr_text text = {0};
    struct fr_samples back = {0};
    fr_import_write(&o.samples, &text);
    assert_int_equal(fr_samples_parse(fr_text_get(&text), text.length, "again", &back, &o.err),
                     FR_OK);
    assert_int_equal(back.n_collective, 3);
    assert_true(back.collective[1].time_s == 2.5e-5 && back.collective[2].source == 2);
    fr_samples_free(&back);
    fr_text_free(&text);
    drop(&o);
    o = take_with("collectives", table, &(struct fr_import_options){.system = "theirs"});
    assert_string_equal(o.samples.source[1].system, "theirs");
    drop(&o);
    o = take("collectives", "op,ranks,size,time_s\nall_reduce,8,1,1\n");
    expect_refused(&o, "log.txt", "expected the columns op, ranks, size_B and time_s");
    o = take("collectives", "op,ranks,size_B,time_s\nall_reduce,1,8,1\n");
    expect_refused(&o, "log.txt:2#ranks", "number of ranks");
    o = take("collectives", "op,ranks,size_B,time_s\nall_reduce,8,8,1e-5\nall_reduce,8,8,-1\n");
    expect_refused(&o, "log.txt:3#time_s", "no time above 0");
    o = take("collectives", "op,ranks,size_B,time_s\nprefix_sum,8,8,1\n");
    expect_refused(&o, "log.txt", "no row of results");
}

static void test_products(void **state) {
    static const char table[] = "gpu,kind,M,N,K,b,time_us\n"
                                "a,x,64,128,256,1,10\n"
                                "b,x,64,128,256,1,11\n"
                                "a,y,64,128,256,2,12\n"
                                "a,x,64,128,0,1,13\n"
                                "a,x,8,16,32,1,none\n";
    static const char *const only[] = {"gpu=a", "kind=x"};
    const struct fr_import_options one = {.dtype = "bf16", .only = only, .n_only = 1},
                                   two = {.dtype = "bf16", .only = only, .n_only = 2};
    (void)state;
    struct outcome o = take_with("products", table, &one);
    if (o.status != FR_OK) fail_msg("%s: %s", o.err.where, o.err.detail);
    assert_true(o.samples.n_gemm == 1 && o.samples.n_batched == 1 && o.samples.n_source == 0);
    const struct fr_sample_gemm *g = &o.samples.gemm[0], *b = &o.samples.batched[0];
    assert_true(g->dtype == FR_BF16 && g->m == 64 && g->n == 128 && g->k == 256 &&
                g->batch == 1);
    FR_NEAR(g->time_s, 10e-6, 1e-12);
    assert_int_equal(b->batch, 2);
    FR_NEAR(b->time_s, 12e-6, 1e-12);
    assert_non_null(strstr(fr_text_get(&o.notes), "log.txt:5: left out: expected a shape"));
    assert_non_null(strstr(fr_text_get(&o.notes), "log.txt:6: left out: expected a time"));
    struct fr_text text = {0};
    struct fr_samples back = {0};
    fr_import_write(&o.samples, &text);
    assert_int_equal(fr_samples_parse(fr_text_get(&text), text.length, "again", &back, &o.err),
                     FR_OK);
    assert_true(back.n_gemm == 1 && back.n_batched == 1 && back.batched[0].batch == 2);
    fr_samples_free(&back);
    fr_text_free(&text);
    drop(&o);
    o = take_with("products", table, &two);
    assert_true(o.status == FR_OK && o.samples.n_gemm == 1 && o.samples.n_batched == 0);
    drop(&o);
    o = take_with("products", "m,n,k,dtype,time_s\n1,2,3,fp8,1\n1,2,3,int8,1\n",
                  &(struct fr_import_options){0});
    assert_true(o.status == FR_OK && o.samples.n_gemm == 1 &&
                o.samples.gemm[0].dtype == FR_FP8);
    assert_non_null(strstr(fr_text_get(&o.notes), "log.txt:3: left out: of a dtype"));
    drop(&o);
}

static void test_products_refused(void **state) {
    static const char table[] = "gpu,m,n,k,time_s\na,1,2,3,1\nb,1,2,3,1\n";
    static const char *const no_column[] = {"card=a"}, *const no_value[] = {"gpu"},
                             *const nobody[] = {"gpu=c"};
    (void)state;
    struct outcome o =
        take_with("products", table, &(struct fr_import_options){.dtype = "fp32"});
    expect_refused(&o, "log.txt", "(\"a\", \"b\"); choose with --only gpu=NAME");
    o = take("products", "m,n,k,time_s\n1,2,3,1\n");
    expect_refused(&o, "log.txt", "--dtype");
    o = take("products", "m,n,time_s\n1,2,1\n");
    expect_refused(&o, "log.txt", "expected the columns m, n, k");
    o = take_with("products", table,
                  &(struct fr_import_options){.dtype = "fp32", .only = nobody, .n_only = 1});
    expect_refused(&o, "log.txt", "no row of results");
    for (int i = 0; i < 2; i++) {
        const struct fr_import_options wrong = {
            .dtype = "fp32", .only = i ? no_value : no_column, .n_only = 1};
        o = take_with("products", table, &wrong);
        assert_int_equal(o.status, FR_ERR_USAGE);
        assert_non_null(strstr(o.err.detail, i ? "COLUMN=VALUE" : "no column"));
        drop(&o);
    }
}

/* Kernels of an operation are summed; strides say which operand is transposed; what has no shape is passed over. */
static void test_profiler(void **state) {
    static const char
        head[] = "{\"deviceProperties\": [{\"name\": \"NVIDIA H100\", "
                 "\"totalGlobalMem\": 8e10}], \"traceEvents\": [",
        operations[] = "{\"cat\": \"kernel\", \"dur\": 100, \"args\": {\"External id\": 9}},"
                       "{\"cat\": \"cpu_op\", \"name\": \"aten::addmm\", \"args\": {\"External "
                       "id\": 9, \"Input Dims\": [[96], [64, 32], [32, 96]], \"Input type\": "
                       "[\"float\", \"c10::Half\", \"c10::Half\"]}},"
                       "{\"cat\": \"cpu_op\", \"name\": \"aten::mm\", \"args\": {\"External "
                       "id\": 7, \"Input Dims\": [[64, 32], [32, 96]], \"Input type\": "
                       "[\"c10::BFloat16\", \"c10::BFloat16\"], \"Input Strides\": [[1, 64], "
                       "[96, 1]]}},"
                       "{\"cat\": \"kernel\", \"dur\": 290.5, \"args\": {\"External id\": 7}},"
                       "{\"cat\": \"kernel\", \"dur\": 50, \"args\": {\"External id\": 9}},",
        shapeless[] = "{\"cat\": \"cpu_op\", \"name\": \"aten::mm\", \"args\": {\"External "
                      "id\": 8}}, {\"cat\": \"kernel\", \"dur\": 3, \"args\": {\"External "
                      "id\": 8}}, 7]}";
    char text[2048];
    (void)state;
    snprintf(text, sizeof text, "%s%s%s", head, operations, shapeless);
    struct outcome o = take("profiler", text);
    if (o.status != FR_OK) fail_msg("%s: %s", o.err.where, o.err.detail);
    const struct fr_sample_gemm *p = o.samples.gemm;
    assert_int_equal(o.samples.n_gemm, 2);
    assert_string_equal(o.samples.provenance.device, "NVIDIA H100");
    assert_true(p[0].dtype == FR_BF16 && p[0].transposed == FR_TRANSPOSED_A && p[0].n == 96);
    FR_NEAR(p[0].time_s, 290.5e-6, 1e-9);
    assert_true(p[1].dtype == FR_FP16 && p[1].transposed == FR_TRANSPOSED_MIXED &&
                p[1].m == 64 && p[1].k == 32);
    FR_NEAR(p[1].time_s, 150e-6, 1e-9);
    static const char huge[] =
        "{\"cat\": \"kernel\", \"dur\": 1e308, \"args\": {\"External id\": 7}}, {\"cat\": "
        "\"kernel\", \"dur\": -1, \"args\": {\"External id\": 7}}, {\"cat\": \"kernel\", "
        "\"dur\": 5, \"args\": {\"External id\": 1e300}},";
    drop(&o);
    snprintf(text, sizeof text, "%s%s%s%s", head, huge, operations, shapeless);
    o = take("profiler", text);
    if (o.status != FR_OK) fail_msg("%s: %s", o.err.where, o.err.detail);
    FR_NEAR(o.samples.gemm[0].time_s, 290.5e-6, 1e-9); /* what no kernel takes is left out */
    snprintf(text, sizeof text, "%s%s", head, shapeless);
    const struct {
        const char *text, *says;
    } wrong[] = {{text, "record_shapes=True"},
                 {"{\"traceEvents\": 3}", "no list \"traceEvents\""},
                 {"[", "is no JSON"}};
    drop(&o);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct outcome refused = take("profiler", wrong[i].text);
        assert_int_equal(refused.status, FR_ERR_INPUT);
        if (!strstr(refused.err.detail, wrong[i].says)) fail_msg("%s", refused.err.detail);
        drop(&refused);
    }
}

static void test_gpu(void **state) {
    static const char lines[] =
        "{\"kind\": \"provenance\", \"device\": \"NVIDIA H100\", \"memory_B\": 8e10, "
        "\"torch\": \"2.11\", "
        "\"cuda\": \"13.0\", \"driver\": \"580.1, 700 W\"}\n"
        "{\"kind\": \"product\", \"dtype\": \"bf16\", \"what\": \"weight\", \"m\": 64, \"n\": "
        "128, \"k\": 256, "
        "\"time_s\": 1e-5}\n"
        "{\"kind\": \"product\", \"dtype\": \"fp8\", \"what\": \"forward\", "
        "\"fast_accumulation\": false, "
        "\"m\": 64, \"n\": 128, \"k\": 256, \"time_s\": 1e-5}\n"
        "{\"kind\": \"product\", \"dtype\": \"bf16\", \"what\": \"input\", \"m\": -1, \"n\": "
        "1e30, \"k\": 256, "
        "\"time_s\": 1e-5}\n"
        "\n"
        "{\"kind\": \"traffic\", \"what\": \"add\", \"size_B\": 64, \"moved_B\": 192, "
        "\"time_s\": 2e-6}\n"
        "{\"kind\": \"launch\", \"what\": \"graph of 1000 small kernels\", \"device_s\": "
        "9e-7}\n"
        "{\"kind\": \"launch\", \"what\": \"eager small kernels\", \"device_s\": 9e-6}\n"
        "{\"kind\": \"host_link\", \"way\": \"to host\", \"pinned\": true, \"size_B\": 4096, "
        "\"time_s\": 3e-6}\n"
        "{\"kind\": \"power\", \"during\": \"idle after\", \"W\": 175}\n"
        "{\"kind\": \"attention\", \"kernel\": \"flash-2\", \"causal\": true, \"batch\": 2, "
        "\"heads\": 8, \"width\": 64, \"sequence\": 1024, \"forward_s\": 1e-4, "
        "\"backward_s\": 3e-4}\n"
        "{\"kind\": \"attention\", \"kernel\": \"another\", \"forward_s\": 1e-4}\n"
        "{\"kind\": \"blocks\", \"step_s\": 1}\n";
    (void)state;
    struct outcome o = take("gpu", lines);
    if (o.status != FR_OK) fail_msg("%s: %s", o.err.where, o.err.detail);
    struct fr_text text = {0};
    struct fr_samples back = {0};
    fr_import_write(&o.samples, &text);
    assert_int_equal(fr_samples_parse(fr_text_get(&text), text.length, "again", &back, &o.err),
                     FR_OK);
    assert_string_equal(back.provenance.device, "NVIDIA H100");
    assert_string_equal(back.provenance.device_driver, "580.1");
    assert_string_equal(back.provenance.device_libraries, "PyTorch 2.11, CUDA 13.0");
    FR_NEAR(back.provenance.device_memory_B, 8e10, 0);
    assert_true(back.n_gemm == 1 && back.gemm->transposed == FR_TRANSPOSED_A &&
                back.gemm->k == 256);
    assert_true(back.n_memory == 1 && back.memory->kernel == FR_TRAFFIC_ELEMENTWISE &&
                back.memory->size_B == 192);
    assert_true(back.n_kernel == 1 && back.kernel->graph);
    assert_true(back.n_attention == 2 && back.attention[1].pass == 1 &&
                back.attention[1].kernel == FR_SAMPLE_FLASH_2 &&
                back.attention[1].kv_heads == 8 && back.attention[1].time_s == 3e-4);
    assert_true(back.n_link == 1 && back.link->way == FR_WAY_TO_HOST && back.link->pinned);
    assert_true(back.n_power == 1 && back.power->state == FR_POWER_IDLE);
    assert_non_null(strstr(fr_text_get(&o.notes), "log.txt:3: left out: not the accumulation"));
    assert_non_null(strstr(fr_text_get(&o.notes), "log.txt:4: left out: expected a shape"));
    assert_non_null(
        strstr(fr_text_get(&o.notes), "log.txt:8: left out: a framework's launches"));
    fr_samples_free(&back);
    fr_text_free(&text);
    drop(&o);
    o = take("gpu", "{\"kind\": \"power\", \"during\": \"idle after\", \"W\": 175}\n");
    assert_int_equal(o.samples.n_power, 0);
    expect_refused(&o, "log.txt", "does not say whose timings");
    o = take("gpu", "{\"kind\": \"provenance\", \"device\": \"X\"}\nno JSON\n");
    assert_string_equal(o.samples.provenance.device, "");
    expect_refused(&o, "log.txt:2", "is no JSON");
}

/* A written file must be read back the same. */
static void test_round_trip(void **state) {
    (void)state;
    struct outcome o = take("nccl-tests", nccl_new);
    struct fr_text text = {0};
    struct fr_samples back = {0};
    struct fr_error err = {0};
    fr_import_write(&o.samples, &text);
    assert_int_equal(fr_samples_parse(fr_text_get(&text), text.length, "again", &back, &err),
                     FR_OK);
    assert_int_equal(back.n_collective, o.samples.n_collective);
    assert_int_equal(back.n_source, 1);
    for (size_t i = 0; i < back.n_collective; i++) {
        const struct fr_sample_collective *a = &o.samples.collective[i],
                                          *b = &back.collective[i];
        assert_true(a->op == b->op && a->n_ranks == b->n_ranks && a->size_B == b->size_B &&
                    a->time_s == b->time_s && a->n_nodes == b->n_nodes &&
                    a->source == b->source && a->in_place == b->in_place &&
                    a->failed == b->failed && a->pattern == b->pattern && a->level == b->level);
    }
    assert_string_equal(back.source[0].device, o.samples.source[0].device);
    fr_samples_free(&back);
    fr_text_free(&text);
    drop(&o);
}

/* Every published file is read, or refused with a place and a reason. */
static void traverse(const char *folder, const char *spelling, int min_files) {
    char path[512];
    char **files = NULL;
    size_t count = 0;
    struct fr_error err = {0};
    if (!fr_data_find(folder, path, sizeof path)) {
        print_message("skipped: no %s\n", folder);
        skip();
    }
    assert_int_equal(fr_folder_list(path, ".txt", &files, &count, &err), FR_OK);
    assert_true((int)count >= min_files);
    size_t read = 0;
    for (size_t i = 0; i < count; i++) {
        struct outcome o = {0};
        o.status = fr_import_file(find(spelling), files[i], &(struct fr_import_options){0},
                                  &o.samples, &o.notes, &o.err);
        if (o.status == FR_OK) {
            assert_true(o.samples.n_collective > 0);
            read++;
        } else {
            assert_int_equal(o.status, FR_ERR_INPUT);
            assert_non_null(strstr(o.err.where, files[i]));
            assert_true(strlen(o.err.detail) > 20);
        }
        for (size_t k = 0; k < o.samples.n_collective; k++) {
            const struct fr_sample_collective *c = &o.samples.collective[k];
            assert_true(c->time_s > 0 && c->size_B >= 0 && c->n_ranks >= 2);
            assert_true(c->n_nodes >= 0 && c->n_nodes <= c->n_ranks);
        }
        drop(&o);
    }
    print_message("%s: %zu of %zu files read\n", folder, read, count);
    assert_true(read * 10 >= count * 9);
    fr_folder_free(files, count);
}
static void test_all_nccl(void **state) {
    (void)state;
    traverse("nccl-tests", "nccl-tests", 1);
}
static void test_all_osu(void **state) {
    (void)state;
    traverse("osu", "osu", 1);
}
static void test_all_imb(void **state) {
    (void)state;
    traverse("imb", "imb", 1);
}

/* A setup that was bad on purpose is read like any other, and is slow. */
static void test_degraded_is_slow(void **state) {
    (void)state;
    static const char *const files[] = {"nccl-tests/gh200_cscs_n2x4_all_reduce.txt",
                                        "nccl-tests/gh200_cscs_n2x4_all_reduce_nofabric.txt"};
    double time_s[2] = {0};
    char path[512];
    for (int i = 0; i < 2; i++) {
        struct outcome o = {0};
        if (!fr_data_find(files[i], path, sizeof path)) skip();
        assert_int_equal(fr_import_file(find("nccl-tests"), path,
                                        &(struct fr_import_options){0}, &o.samples, &o.notes,
                                        &o.err),
                         FR_OK);
        for (size_t k = 0; k < o.samples.n_collective; k++)
            if (o.samples.collective[k].size_B == 134217728 &&
                !o.samples.collective[k].in_place)
                time_s[i] = o.samples.collective[k].time_s;
        drop(&o);
    }
    assert_true(time_s[0] > 0 && time_s[1] > 5 * time_s[0]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nccl_new),
        cmocka_unit_test(test_nccl_old),
        cmocka_unit_test(test_nccl_refuses),
        cmocka_unit_test(test_osu),
        cmocka_unit_test(test_osu_messages),
        cmocka_unit_test(test_imb),
        cmocka_unit_test(test_collectives),
        cmocka_unit_test(test_products),
        cmocka_unit_test(test_products_refused),
        cmocka_unit_test(test_round_trip),
        cmocka_unit_test(test_gpu),
        cmocka_unit_test(test_profiler),
        cmocka_unit_test(test_all_nccl),
        cmocka_unit_test(test_all_osu),
        cmocka_unit_test(test_all_imb),
        cmocka_unit_test(test_degraded_is_slow),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
