/* NVSHMEM's perftest of collectives:
 *
 *    #reduction_on_stream
 *    size(B)  count  type  redop  latency(us)  min_lat(us)  max_lat(us)  algbw(GB/s)  busbw(GB/s)
 *
 * Its fcollect prints the bytes of one PE. */
#include <stdio.h>
#include <string.h>

#include "calibrate/samples/import_table.h"

static const struct {
    const char *begins;
    fr_op op;
    bool per_rank;
} tests[] = {
    {"reduction", FR_OP_ALL_REDUCE, false}, {"fcollect", FR_OP_ALL_GATHER, true},
    {"alltoall", FR_OP_ALL_TO_ALL, true},   {"broadcast", FR_OP_BROADCAST, false},
    {"bcast", FR_OP_BROADCAST, false},      {"reducescatter", FR_OP_REDUCE_SCATTER, false},
};
enum { TESTS = sizeof tests / sizeof *tests };

struct reader {
    struct fr_import *in;
    struct fr_launch launch;
    struct fr_import_table table;
    int test; /* -1: none named yet, or one that is not modelled */
    bool named;
    struct fr_import_block block;
    int64_t launches[FR_OP_COUNT];
};

static void name_test(struct reader *r, long line, const char *name) {
    r->test = -1;
    r->named = true;
    r->table.columns = 0;
    for (int i = 0; i < TESTS && r->test < 0; i++)
        if (strncmp(name, tests[i].begins, strlen(tests[i].begins)) == 0) r->test = i;
    if (r->test < 0)
        fr_import_note(r->in, line, "%.60s is no operation that is modelled; left out", name);
}

static fr_status take_row(struct reader *r, const struct fr_lines *lines,
                          const struct fr_words *words, int64_t size_B, double time_us,
                          struct fr_error *err) {
    struct fr_import_options silent = {0};
    if (!r->named)
        return fr_import_refuse(r->in, lines->number, err,
                                "a row before the name of its test (\"#reduction_on_stream\")");
    if (r->test < 0) return FR_OK;
    if (r->block.n_ranks == 0) {
        r->block = (struct fr_import_block){.op = tests[r->test].op};
        r->block.launch = r->launches[r->block.op]++;
        fr_import_table_ratio(&r->table, lines, words, &r->block.ratio);
        FR_TRY(fr_import_place(r->in, lines->number, &silent, &r->launch, &r->block, err));
    }
    struct fr_row row = {.size_B = (double)size_B,
                         .per_rank = tests[r->test].per_rank,
                         .time_s = time_us * 1e-6};
    return fr_import_add(r->in, lines->number, &r->block, &row, err);
}

static fr_status read(struct fr_import *in, struct fr_error *err) {
    static const char *const times[] = {"latency(us)", "lat(us)", "time(us)", NULL};
    struct reader r = {.in = in, .test = -1};
    struct fr_lines lines = fr_lines_begin(in);
    struct fr_words words;
    bool seen = false;
    snprintf(in->source.tool, sizeof in->source.tool, "nvshmem");
    snprintf(in->source.statistic, sizeof in->source.statistic, "average");
    while (fr_lines_next(&lines, &words)) {
        int64_t size_B = 0;
        double time_us = 0;
        if (words.count == 0) continue;
        if (fr_import_table_header(&r.table, &words, times)) {
            r.block.n_ranks = 0;
            seen = true;
        } else if (fr_import_table_row(&r.table, &words, &size_B, &time_us)) {
            FR_TRY(take_row(&r, &lines, &words, size_B, time_us, err));
        } else if (words.count == 1 && *words.text == '#' && words.text[1]) {
            name_test(&r, lines.number, words.text + 1);
        } else {
            fr_launch_add(&r.launch, words.text);
        }
    }
    if (seen) return FR_OK;
    return fr_import_refuse(in, 0, err,
                            "no table of NVSHMEM's perftest (\"size(B) count type redop "
                            "latency(us) ...\") in %ld lines",
                            lines.number);
}

const struct fr_importer fr_importer_nvshmem = {
    .name = "nvshmem",
    .spelling = "nvshmem",
    .reads = "NVSHMEM's perftest of collectives: reduction, fcollect, alltoall, broadcast, "
             "reducescatter",
    .read = read,
};
