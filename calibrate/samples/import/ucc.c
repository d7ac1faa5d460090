/* UCC's ucc_perftest:
 *
 *    Collective:             Allreduce
 *    ...
 *           Count        Size                Time, us
 *                                     avg         min         max
 *
 * The time taken is the average.  Size is the bytes of one rank for all-gather, gather and scatter; of all-to-all and
 * reduce-scatter the whole buffer (UCC, tools/perf). */
#include <stdio.h>
#include <string.h>

#include "calibrate/samples/import_text.h"

struct reader {
    struct fr_import *in;
    struct fr_launch launch;
    bool named, active, in_place;
    fr_op op;
    struct fr_import_block block;
    int64_t launches[FR_OP_COUNT];
};

static void name_op(struct reader *r, long line, const char *name) {
    r->named = true;
    r->block.n_ranks = 0;
    r->active = fr_import_op_or_note(r->in, line, name, &r->op);
}

static fr_status take_row(struct reader *r, const struct fr_lines *lines, int64_t size_B,
                          double time_us, struct fr_error *err) {
    struct fr_import_options silent = {0};
    if (r->block.n_ranks == 0) {
        r->block = (struct fr_import_block){.op = r->op, .launch = r->launches[r->op]++};
        FR_TRY(fr_import_place(r->in, lines->number, &silent, &r->launch, &r->block, err));
    }
    struct fr_row row = {.size_B = (double)size_B,
                         .per_rank = r->op != FR_OP_ALL_TO_ALL,
                         .time_s = time_us * 1e-6,
                         .in_place = r->in_place};
    return fr_import_add(r->in, lines->number, &r->block, &row, err);
}

static fr_status read(struct fr_import *in, struct fr_error *err) {
    struct reader r = {.in = in};
    struct fr_lines lines = fr_lines_begin(in);
    struct fr_words words;
    snprintf(in->source.tool, sizeof in->source.tool, "ucc_perftest");
    snprintf(in->source.statistic, sizeof in->source.statistic, "average");
    while (fr_lines_next(&lines, &words)) {
        int64_t count = 0, size_B = 0;
        double time_us = 0;
        if (words.count == 0) continue;
        if (words.count >= 2 && strcmp(words.word[0], "Collective:") == 0)
            name_op(&r, lines.number, words.word[1]);
        else if (words.count >= 2 && strcmp(words.word[0], "Inplace:") == 0)
            r.in_place = strcmp(words.word[1], "1") == 0;
        else if (words.count >= 2 && strcmp(words.word[0], "Datatype:") == 0)
            snprintf(in->source.dtype, sizeof in->source.dtype, "%.23s", words.word[1]);
        else if (r.active && words.count >= 5 && fr_word_integer(words.word[0], &count) &&
                 fr_word_integer(words.word[1], &size_B) &&
                 fr_word_number(words.word[2], &time_us) && time_us >= 0)
            FR_TRY(take_row(&r, &lines, size_B, time_us, err));
        else
            fr_launch_add(&r.launch, words.text);
    }
    if (r.named) return FR_OK;
    return fr_import_refuse(fr_import_unknown(in), 0, err,
                            "no head of ucc_perftest (\"Collective: Allreduce\") in %ld lines",
                            lines.number);
}

const struct fr_importer fr_importer_ucc = {
    .name = "ucc",
    .spelling = "ucc",
    .reads = "UCC's ucc_perftest: collectives",
    .read = read,
};
