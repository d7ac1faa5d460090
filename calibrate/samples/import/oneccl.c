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

#include "base/text.h"
#include "calibrate/samples/import_text.h"

struct reader {
    struct fr_import *in;
    struct fr_launch launch;
    bool named, active;
    int columns, time;
    fr_op op;
    int64_t processes;
    char csv[FR_LINE_MAX]; /* names of columns, of a file in that form */
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
    if (words->count > at + 2) {
        fr_import_note(r->in, line, "several collectives timed as one (%.120s); left out",
                       words->text + strspn(words->text, "# "));
        r->active = false;
    }
    return true;
}

/* "#bytes #repetitions t_min[usec] ..."; "#elem_count" stands before it in some releases. */
static bool header(struct reader *r, const struct fr_words *words) {
    int bytes = -1, time = -1;
    for (int i = 0; i < words->count; i++) {
        static const char *const others[] = {"t_avg[usec]", "tavg[usec]", "t[usec]",
                                             "avg[usec]", NULL};
        const char *word = words->word[i];
        if (!strcmp(word, "#bytes") || !strcmp(word, "bytes")) bytes = i;
        if (!strcmp(word, "t_max[usec]") || !strcmp(word, "tmax[usec]")) time = i;
        if (time < 0 && fr_place_in(others, word) >= 0) time = i;
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

/* Lines of --csv_filepath: "#ranks,collective,reduction,dtype,dtype_size,#elements/buffer,message_size,...". */
static fr_status take_csv(struct reader *r, const struct fr_lines *lines,
                          const struct fr_words *words, struct fr_error *err) {
    enum { FIELDS = 20 };
    char text[FR_LINE_MAX], *field[FIELDS], *save = NULL;
    int n = 0, op = -1, size = -1, time = -1;
    snprintf(text, sizeof text, "%s", words->text);
    for (char *at = strtok_r(text, ",", &save); at && n < FIELDS;
         at = strtok_r(NULL, ",", &save))
        field[n++] = at;
    if (n > 4 && !strcmp(field[0], "#ranks")) {
        snprintf(r->csv, sizeof r->csv, "%s", words->text);
        r->named = true;
        return FR_OK;
    }
    char names[FR_LINE_MAX];
    int i = 0;
    snprintf(names, sizeof names, "%s", r->csv);
    for (char *at = strtok_r(names, ",", &save); at; at = strtok_r(NULL, ",", &save), i++) {
        if (!strcmp(at, "collective")) op = i;
        if (!strcmp(at, "message_size")) size = i;
        if (!strcmp(at, "t_max[usec]")) time = i;
    }
    int64_t size_B = 0;
    double time_us = 0;
    struct fr_import_options said = {0};
    if (n != i || op < 0 || size < 0 || time < 0 || !fr_word_integer(field[0], &said.n_ranks) ||
        !fr_word_integer(field[size], &size_B) || !fr_word_number(field[time], &time_us)) {
        fr_import_note_columns(r->in, lines, words, i);
        return FR_OK;
    }
    fr_op known;
    if (!fr_import_op_or_note(r->in, lines->number, field[op], &known)) return FR_OK;
    if (r->block.n_ranks != said.n_ranks || r->block.op != known) {
        r->block = (struct fr_import_block){.op = known, .launch = r->launches[known]++};
        FR_TRY(fr_import_place(r->in, lines->number, &said, &r->launch, &r->block, err));
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
            r.block.n_ranks = 0;
            continue;
        }
        if (header(&r, &words)) continue;
        if (*r.csv ? strchr(words.text, ',') != NULL : !strncmp(words.text, "#ranks,", 7)) {
            FR_TRY(take_csv(&r, &lines, &words, err));
            continue;
        }
        if (r.active && r.columns && words.count >= 2 &&
            fr_word_integer(words.word[0], &size_B) && fr_word_number(words.word[1], &number))
            FR_TRY(take_row(&r, &lines, &words, size_B, err));
        else
            fr_launch_add(&r.launch, words.text);
    }
    if (r.named) return FR_OK;
    return fr_import_refuse(fr_import_unknown(in), 0, err,
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
