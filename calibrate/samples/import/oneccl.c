/* oneCCL's benchmark:
 *
 *    # Benchmarking: allreduce
 *    # #processes: 4
 *            #bytes  #repetitions    t_min[usec]    t_max[usec]    t_avg[usec]  stddev[%]
 *
 * The time taken is t_max, the slowest rank's, or the average where it stands alone. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "calibrate/samples/import_text.h"

struct reader {
    struct fr_import *in;
    struct fr_launch launch;
    bool named, active;
    int columns, time;
    fr_op op;
    int64_t processes;
    struct fr_import_block block;
    int64_t launches[FR_OP_COUNT];
};

/* "# Benchmarking: allreduce" */
static bool name_op(struct reader *r, long line, const struct fr_words *words) {
    int at = fr_words_after_hash(words);
    if (words->count < at + 2 || strcmp(words->word[at], "Benchmarking:") != 0) return false;
    r->named = true;
    r->columns = 0;
    r->active = fr_import_op_or_note(r->in, line, words->word[at + 1], &r->op);
    return true;
}

/* "#bytes #repetitions t_min[usec] ..."; "#elem_count" stands before it in some releases. */
static bool header(struct reader *r, const struct fr_words *words) {
    int bytes = -1, time = -1;
    for (int i = 0; i < words->count; i++) {
        if (!strcmp(words->word[i], "#bytes") || !strcmp(words->word[i], "bytes")) bytes = i;
        if (!strcmp(words->word[i], "t_max[usec]")) time = i;
        if (time < 0 && !strcmp(words->word[i], "t_avg[usec]")) time = i;
        if (time < 0 && !strcmp(words->word[i], "t[usec]")) time = i;
    }
    if (bytes != 0 || time < 0) return false;
    r->columns = words->count;
    r->time = time;
    r->block.n_ranks = 0;
    return true;
}

static fr_status take_row(struct reader *r, const struct fr_lines *lines,
                          const struct fr_words *words, int64_t size_B, struct fr_error *err) {
    struct fr_import_options stated = {.n_ranks = r->processes};
    double time_us = 0;
    if (words->count != r->columns || !fr_word_number(words->word[r->time], &time_us) ||
        time_us < 0) {
        fr_import_note_columns(r->in, lines, words, r->columns);
        return FR_OK;
    }
    if (r->block.n_ranks == 0) {
        r->block = (struct fr_import_block){.op = r->op, .launch = r->launches[r->op]++};
        FR_TRY(fr_import_place(r->in, lines->number, &stated, &r->launch, &r->block, err));
    }
    struct fr_row row = {.size_B = (double)size_B, .per_rank = true, .time_s = time_us * 1e-6};
    return fr_import_add(r->in, lines->number, &r->block, &row, err);
}

static fr_status read(struct fr_import *in, struct fr_error *err) {
    struct reader r = {.in = in};
    struct fr_lines lines = fr_lines_begin(in);
    struct fr_words words;
    snprintf(in->source.tool, sizeof in->source.tool, "oneccl");
    snprintf(in->source.statistic, sizeof in->source.statistic, "maximum");
    while (fr_lines_next(&lines, &words)) {
        int64_t size_B = 0;
        double number = 0;
        const char *processes;
        if (words.count == 0 || name_op(&r, lines.number, &words)) continue;
        if ((processes = strstr(words.text, "processes:"))) {
            r.processes = strtoll(processes + strlen("processes:"), NULL, 10);
            continue;
        }
        if (header(&r, &words)) continue;
        if (r.active && r.columns && words.count >= 2 &&
            fr_word_integer(words.word[0], &size_B) && fr_word_number(words.word[1], &number))
            FR_TRY(take_row(&r, &lines, &words, size_B, err));
        else
            fr_launch_add(&r.launch, words.text);
    }
    if (r.named) return FR_OK;
    return fr_import_refuse(in, 0, err,
                            "no block of oneCCL's benchmark (\"# Benchmarking: allreduce\") in "
                            "%ld lines",
                            lines.number);
}

const struct fr_importer fr_importer_oneccl = {
    .name = "oneccl",
    .spelling = "oneccl",
    .reads = "oneCCL's benchmark: collectives",
    .read = read,
};
