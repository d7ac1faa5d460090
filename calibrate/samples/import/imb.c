/* Intel MPI Benchmarks 4.1 to 2021 (IMB-MPI1).  A block:
 *
 *    # Benchmarking Allreduce
 *    # #processes = 144
 *    # ( 72 additional processes waiting in MPI_Barrier )
 *       #bytes #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]
 *
 * The time taken is t_max, the slowest rank's, or t where there is one column.  Allgather
 * prints the bytes of one rank, Alltoall those for one destination, Reduce_scatter and the
 * others the whole buffer (Intel MPI Benchmarks user guide). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "calibrate/samples/import_text.h"

static const struct test {
    const char *name;
    int pattern;
} messages[] = {
    {"PingPong", FR_PATTERN_PING_PONG},
    {"PingPing", FR_PATTERN_PING_PING},
    {"Sendrecv", FR_PATTERN_OP},
    {NULL, 0},
};

struct reader {
    struct fr_import *in;
    struct fr_launch launch;
    bool begun, active;
    char name[64];
    int64_t processes;
    int columns, time_column; /* 0: no header of this block yet */
    int before;               /* columns of older releases: the name and the processes */
    int defects;              /* column of it; 0: none */
    struct fr_import_block block;
    int64_t launches[FR_OP_COUNT][FR_PATTERNS];
};

static void begin_block(struct reader *r, long line, const char *name) {
    const struct test *message = messages;
    snprintf(r->name, sizeof r->name, "%.63s", name);
    r->begun = true;
    r->processes = r->columns = r->time_column = r->defects = r->before = 0;
    r->block = (struct fr_import_block){.op = FR_OP_SEND_RECV};
    while (message->name && strcmp(message->name, r->name) != 0) message++;
    r->block.pattern = message->pattern;
    r->active = message->name || fr_import_op_or_note(r->in, line, r->name, &r->block.op);
}

/* "#bytes #repetitions t[usec] Mbytes/sec": names without blanks.  Older releases: "#Benchmarking #procs #bytes ...". */
static bool read_header(struct reader *r, const struct fr_words *words) {
    int before = words->count > 2 &&
                         (!strcmp(words->word[1], "#procs") || !strcmp(words->word[1], "procs"))
                     ? 2
                     : 0;
    if (words->count < before + 3 || (strcmp(words->word[before], "#bytes") != 0 &&
                                      strcmp(words->word[before], "bytes") != 0))
        return false;
    r->before = before;
    r->columns = words->count;
    r->time_column = r->defects = 0;
    for (int i = 1; i < words->count; i++) {
        const char *word = words->word[i];
        bool slowest = !strcmp(word, "t_max[usec]") || !strcmp(word, "tmax[usec]"),
             other = !strcmp(word, "t[usec]") || !strcmp(word, "t_avg[usec]") ||
                     !strcmp(word, "tavg[usec]");
        if (slowest || (!r->time_column && other)) r->time_column = i;
        if (!strcmp(word, "defects")) r->defects = i;
    }
    return true;
}

static fr_status place(struct reader *r, long line, struct fr_error *err) {
    struct fr_import_options stated = {.n_ranks = r->processes};
    /* A block may use fewer processes than were started; --ranks speaks of all of them. */
    r->block.part = true;
    fr_status status = fr_import_place(r->in, line, &stated, &r->launch, &r->block, err);
    r->block.launch = r->launches[r->block.op][r->block.pattern]++;
    return status;
}

static fr_status take_row(struct reader *r, const struct fr_lines *lines,
                          const struct fr_words *words, int64_t size, struct fr_error *err) {
    long line = lines->number;
    double time_us = 0, defects = 0;
    if (!r->time_column)
        return fr_import_refuse(fr_import_unknown(r->in), line, err,
                                "a row of %.40s before its header (\"#bytes #repetitions ...\" "
                                "with t[usec] or t_max[usec])",
                                r->name);
    if (words->count != r->columns) {
        fr_import_note_columns(r->in, lines, words, r->columns);
        return FR_OK;
    }
    if (!fr_word_number(words->word[r->time_column], &time_us) || time_us < 0) {
        fr_import_note(r->in, line, "\"%.24s\" is no time; row left out",
                       words->word[r->time_column]);
        return FR_OK;
    }
    struct fr_row row = {.size_B = (double)size, .per_rank = true, .time_s = time_us * 1e-6};
    if (r->defects && fr_word_number(words->word[r->defects], &defects))
        row.failed = defects > 0;
    if (r->block.n_ranks == 0) FR_TRY(place(r, line, err));
    return fr_import_add(r->in, line, &r->block, &row, err);
}

static void find_version(struct reader *r, const struct fr_words *words) {
    for (int i = 0; i + 2 < words->count; i++)
        if (!strcmp(words->word[i], "MPI") && !strcmp(words->word[i + 1], "Benchmarks"))
            snprintf(r->in->source.tool_version, sizeof r->in->source.tool_version, "%.*s",
                     (int)strcspn(words->word[i + 2], ","), words->word[i + 2]);
}

static fr_status take_line(struct reader *r, const struct fr_lines *lines,
                           const struct fr_words *words, struct fr_error *err) {
    const char *text = words->text, *processes;
    int64_t size = 0;
    if (words->count == 0) return FR_OK;
    int hash = fr_words_after_hash(words);
    const char *first = words->word[hash < words->count ? hash : 0];
    first += strspn(first, "#");
    if (read_header(r, words)) return FR_OK;
    if (words->count > hash + 1 && !strcmp(first, "Benchmarking")) {
        begin_block(r, lines->number, words->word[hash + 1]);
        return FR_OK;
    }
    if (r->begun && (processes = strstr(text, "processes ="))) {
        r->processes = strtoll(processes + strlen("processes ="), NULL, 10);
        return FR_OK;
    }
    if (*text == '#') {
        find_version(r, words);
        if (words->count > 1) fr_launch_add(&r->launch, words->text);
        return FR_OK;
    }
    int at = r->before;
    if (r->active && words->count >= at + 3 && fr_word_integer(words->word[at], &size) &&
        strspn(words->word[at + 1], "0123456789") == strlen(words->word[at + 1]))
        return take_row(r, lines, words, size, err);
    if (r->active && r->columns && words->count >= 2 &&
        fr_word_integer(words->word[0], &size) &&
        (strstr(text, "time-out") || strstr(text, "overflow") || strstr(text, "out of mem"))) {
        fr_import_note(r->in, lines->number, "not measured: %.80s", text);
        return FR_OK;
    }
    fr_launch_add(&r->launch, words->text);
    return FR_OK;
}

static fr_status read(struct fr_import *in, struct fr_error *err) {
    struct reader r = {.in = in};
    struct fr_lines lines = fr_lines_begin(in);
    struct fr_words words;
    snprintf(in->source.tool, sizeof in->source.tool, "imb");
    snprintf(in->source.statistic, sizeof in->source.statistic, "maximum");
    while (fr_lines_next(&lines, &words)) FR_TRY(take_line(&r, &lines, &words, err));
    if (!r.begun)
        return fr_import_refuse(fr_import_unknown(in), 0, err,
                                "no block of Intel MPI Benchmarks (\"# Benchmarking ...\") in "
                                "%ld lines",
                                lines.number);
    return FR_OK;
}

const struct fr_importer fr_importer_imb = {
    .name = "imb",
    .spelling = "imb",
    .reads = "Intel MPI Benchmarks 4.1 to 2021, IMB-MPI1: PingPong, PingPing, Sendrecv, and "
             "collectives",
    .read = read,
};
