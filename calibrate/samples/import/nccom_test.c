/* AWS Neuron's nccom-test:
 *
 *    nccom-test -r 32 allr
 *        size(B)    count(elems)    type    time:avg(us)    algbw(GB/s)    busbw(GB/s)
 *
 * The command says the operation and, by -r and -N, ranks and nodes; some releases print bus bandwidth
 * as they print algorithm bandwidth, which then says nothing. */
#include <stdio.h>
#include <string.h>

#include "calibrate/samples/import_table.h"

static const struct {
    const char *name;
    fr_op op;
} operations[] = {
    {"allr", FR_OP_ALL_REDUCE},       {"all_reduce", FR_OP_ALL_REDUCE},
    {"allreduce", FR_OP_ALL_REDUCE},  {"allg", FR_OP_ALL_GATHER},
    {"all_gather", FR_OP_ALL_GATHER}, {"allgather", FR_OP_ALL_GATHER},
    {"redsct", FR_OP_REDUCE_SCATTER}, {"reduce_scatter", FR_OP_REDUCE_SCATTER},
    {"alltoall", FR_OP_ALL_TO_ALL},   {"a2a", FR_OP_ALL_TO_ALL},
    {"sendrecv", FR_OP_SEND_RECV},    {"bcast", FR_OP_BROADCAST},
    {"broadcast", FR_OP_BROADCAST},
};

struct reader {
    struct fr_import *in;
    struct fr_launch launch;
    struct fr_import_table table;
    struct fr_import_options stated;
    bool known;
    fr_op op;
    struct fr_import_block block;
    int64_t launches[FR_OP_COUNT];
};

static bool find_op(struct reader *r, const char *word) {
    for (size_t i = 0; i < sizeof operations / sizeof *operations; i++)
        if (strcmp(word, operations[i].name) == 0) {
            r->op = operations[i].op;
            r->known = true;
            return true;
        }
    return false;
}

/* "nccom-test -r 32 -N 2 -b 8 allr" */
static void take_command(struct reader *r, const struct fr_words *words) {
    bool command = false;
    for (int i = 0; i < words->count; i++) {
        const char *word = words->word[i],
                   *next = i + 1 < words->count ? words->word[i + 1] : "";
        if (strstr(word, "nccom-test")) {
            command = true;
            r->stated = (struct fr_import_options){0};
        }
        if (!command) continue;
        if (!strcmp(word, "-r") || !strcmp(word, "--nworkers"))
            fr_word_integer(next, &r->stated.n_ranks);
        if (!strcmp(word, "-N") || !strcmp(word, "--nnodes"))
            fr_word_integer(next, &r->stated.nodes);
        find_op(r, word);
    }
}

static fr_status begin(struct reader *r, const struct fr_lines *lines,
                       const struct fr_words *words, struct fr_error *err) {
    if (!r->known && r->in->given.op) r->known = fr_import_op(r->in->given.op, &r->op);
    if (!r->known)
        return fr_import_refuse(r->in, lines->number, err,
                                "no command (\"nccom-test -r 32 allr\") says which collective "
                                "this is; give --op");
    r->block = (struct fr_import_block){.op = r->op, .launch = r->launches[r->op]++};
    fr_import_table_ratio(&r->table, lines, words, &r->block.ratio);
    if (r->block.ratio.low < 1.01) r->block.ratio.rows = 0;
    /* mpirun starts the command once a node; the command says the ranks. */
    struct fr_launch_facts started = fr_launch_resolve(&r->launch);
    bool each_node = r->stated.n_ranks && started.ranks && started.ranks == started.nodes;
    const struct fr_launch none = {.list = false};
    if (each_node && !r->stated.nodes) r->stated.nodes = started.nodes;
    return fr_import_place(r->in, lines->number, &r->stated, each_node ? &none : &r->launch,
                           &r->block, err);
}

static fr_status read(struct fr_import *in, struct fr_error *err) {
    static const char *const times[] = {"time:avg(us)", "time(us)", "time", NULL};
    struct reader r = {.in = in};
    struct fr_lines lines = fr_lines_begin(in);
    struct fr_words words;
    bool seen = false;
    snprintf(in->source.tool, sizeof in->source.tool, "nccom-test");
    snprintf(in->source.statistic, sizeof in->source.statistic, "average");
    while (fr_lines_next(&lines, &words)) {
        int64_t size_B = 0;
        double time_us = 0;
        if (words.count == 0) continue;
        if (fr_import_table_header(&r.table, &words, times)) {
            r.block.n_ranks = 0;
            seen = true;
            if (strstr(words.text, "time:p50") && !strstr(words.text, "time:avg"))
                snprintf(in->source.statistic, sizeof in->source.statistic, "median");
        } else if (fr_import_table_row(&r.table, &words, &size_B, &time_us)) {
            if (r.block.n_ranks == 0) FR_TRY(begin(&r, &lines, &words, err));
            if (r.table.type >= 0)
                snprintf(in->source.dtype, sizeof in->source.dtype, "%.23s",
                         words.word[r.table.type]);
            struct fr_row row = {.size_B = (double)size_B, .time_s = time_us * 1e-6};
            FR_TRY(fr_import_add(in, lines.number, &r.block, &row, err));
        } else {
            take_command(&r, &words);
            fr_launch_add(&r.launch, words.text);
        }
    }
    if (seen) return FR_OK;
    return fr_import_refuse(fr_import_unknown(in), 0, err,
                            "no table of nccom-test (\"size(B) count(elems) type time:avg(us) "
                            "...\") in %ld lines",
                            lines.number);
}

const struct fr_importer fr_importer_nccom_test = {
    .name = "nccom_test",
    .spelling = "nccom-test",
    .reads = "AWS Neuron's nccom-test: all-reduce, all-gather, reduce-scatter, all-to-all",
    .read = read,
};
