/* NVSHMEM's perftest of collectives, in the three forms of its releases:
 *
 *    #reduction_on_stream
 *    size(B)  count  type  redop  [scope]  latency(us)  [min_lat(us)  max_lat(us)]  algbw(GB/s)  busbw(GB/s)
 *
 *    | device_reduction       | int-sum-b            |
 *    | size (Bytes)           |    latency us        |
 *
 *    &&&& PERF device_reduction___int-sum-b___size__1024___latency 10.2 -us
 *
 * With a column of counts the size is the whole buffer; before that fcollect, alltoall and reducescatter print the bytes
 * of one PE.  A thread's and a warp's collectives are left out: what trains uses a block's, or the stream's. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "calibrate/samples/import_table.h"

static const struct {
    const char *contains;
    fr_op op;
} tests[] = {
    {"reducescatter", FR_OP_REDUCE_SCATTER}, {"reduction", FR_OP_ALL_REDUCE},
    {"fcollect", FR_OP_ALL_GATHER},          {"alltoall", FR_OP_ALL_TO_ALL},
    {"broadcast", FR_OP_BROADCAST},          {"bcast", FR_OP_BROADCAST},
};
enum { TESTS = sizeof tests / sizeof *tests };

struct reader {
    struct fr_import *in;
    struct fr_launch launch;
    struct fr_import_table table;
    int test; /* -1: none named yet, or one that is not modelled */
    bool named, scopes_told;
    char scope;                  /* of a table that says it in its title: t, w, b; '\0': none */
    char before[64], behind[64]; /* the two words of the line before, of a table in a box */
    struct fr_import_block block;
    int64_t launches[FR_OP_COUNT];
};

static void name_test(struct reader *r, long line, const char *name) {
    r->test = -1;
    r->named = true;
    r->table.columns = 0;
    r->block.n_ranks = 0;
    r->scope = '\0';
    for (int i = 0; i < TESTS && r->test < 0; i++)
        if (strstr(name, tests[i].contains)) r->test = i;
    if (r->test < 0)
        fr_import_note(r->in, line, "%.60s is no operation that is modelled; left out", name);
}

/* "int-sum-b", "32-bit-block": the last part is who took part of each device. */
static char scope_of(const char *title) {
    const char *last = strrchr(title, '-');
    if (!last) return '\0';
    if (strcmp(last, "-t") == 0 || strcmp(last, "-thread") == 0) return 't';
    if (strcmp(last, "-w") == 0 || strcmp(last, "-warp") == 0) return 'w';
    return strcmp(last, "-b") == 0 || strcmp(last, "-block") == 0 ? 'b' : '\0';
}

static bool is_left_out(struct reader *r, long line, char scope) {
    if (scope != 't' && scope != 'w') return false;
    if (!r->scopes_told)
        fr_import_note(r->in, line,
                       "collectives of one thread or warp of each device are left out");
    r->scopes_told = true;
    return true;
}

static fr_status take_row(struct reader *r, const struct fr_lines *lines,
                          const struct fr_words *words, double size_B, double time_us,
                          struct fr_error *err) {
    struct fr_import_options silent = {0};
    if (!r->named)
        return fr_import_refuse(fr_import_unknown(r->in), lines->number, err,
                                "a row before the name of its test (\"#reduction_on_stream\")");
    char scope = r->table.scope >= 0 && words ? *words->word[r->table.scope] : r->scope;
    if (r->test < 0 || is_left_out(r, lines->number, scope)) return FR_OK;
    if (r->block.n_ranks == 0) {
        r->block = (struct fr_import_block){.op = tests[r->test].op};
        r->block.launch = r->launches[r->block.op]++;
        if (words) fr_import_table_ratio(&r->table, lines, words, &r->block.ratio);
        FR_TRY(fr_import_place(r->in, lines->number, &silent, &r->launch, &r->block, err));
    }
    bool of_one = !words || r->table.count < 0;
    struct fr_row row = {.size_B = size_B, .per_rank = of_one, .time_s = time_us * 1e-6};
    if (of_one && r->block.op == FR_OP_REDUCE_SCATTER) row.size_B *= (double)r->block.n_ranks;
    return fr_import_add(r->in, lines->number, &r->block, &row, err);
}

/* The names of the columns of a table in a box: "size (Bytes) latency us". */
static bool begin_box(struct reader *r, long line, const struct fr_words *words) {
    if (words->count != 4 || strcmp(words->word[0], "size") != 0 || *words->word[1] != '(')
        return false;
    bool latency = strcmp(words->word[2], "latency") == 0 && strcmp(words->word[3], "us") == 0;
    name_test(r, line, latency ? r->before : words->word[2]);
    r->scope = scope_of(r->behind);
    r->table = (struct fr_import_table){2, 0, 1, -1, -1, -1, -1, -1};
    return true;
}

/* "&&&& PERF device_reduction___int-sum-b___size__1024___latency 10.2 -us" */
static fr_status take_perf(struct reader *r, const struct fr_lines *lines,
                           const struct fr_words *words, struct fr_error *err) {
    const char *name = words->word[2], *title = strstr(name, "___"),
               *size = strstr(name, "___size__");
    double time_us = 0;
    bool latency = size && strstr(size, "___latency") && strcmp(words->word[4], "-us") == 0;
    if (!latency || !fr_word_number(words->word[3], &time_us) || time_us < 0) {
        fr_import_note(r->in, lines->number, "%.80s is no latency in us; left out", name);
        return FR_OK;
    }
    char test[64], of[64];
    snprintf(test, sizeof test, "%.*s", (int)(title - name < 60 ? title - name : 60), name);
    snprintf(of, sizeof of, "%.*s",
             size > title + 3 && size - title < 60 ? (int)(size - title - 3) : 0, title + 3);
    if (!r->named || strcmp(test, r->before) != 0) name_test(r, lines->number, test);
    snprintf(r->before, sizeof r->before, "%s", test);
    r->scope = scope_of(of);
    return take_row(r, lines, NULL, strtod(size + strlen("___size__"), NULL), time_us, err);
}

static fr_status take_line(struct reader *r, const struct fr_lines *lines,
                           const struct fr_words *words, bool *seen, struct fr_error *err) {
    static const char *const times[] = {"latency(us)", "lat(us)", "time(us)", NULL};
    int64_t size_B = 0;
    double time_us = 0;
    if (words->count == 5 && strcmp(words->word[0], "&&&&") == 0) {
        *seen = true;
        return take_perf(r, lines, words, err);
    }
    if (fr_import_table_header(&r->table, words, times)) {
        r->block.n_ranks = 0;
        *seen = true;
    } else if (fr_import_table_row(&r->table, words, &size_B, &time_us)) {
        bool box = r->table.columns == 2;
        return take_row(r, lines, box ? NULL : words, (double)size_B, time_us, err);
    } else if (begin_box(r, lines->number, words)) {
        *seen = true;
    } else if (words->count == 1 && *words->text == '#' && words->text[1]) {
        name_test(r, lines->number, words->text + 1);
        *seen = true;
    } else {
        fr_launch_add(&r->launch, words->text);
    }
    if (words->word[0][0] != '+') {
        snprintf(r->before, sizeof r->before, "%.63s", words->word[0]);
        snprintf(r->behind, sizeof r->behind, "%.63s", words->count > 1 ? words->word[1] : "");
    }
    return FR_OK;
}

static fr_status read(struct fr_import *in, struct fr_error *err) {
    struct reader r = {.in = in, .test = -1};
    struct fr_lines lines = fr_lines_begin(in);
    struct fr_words words;
    bool seen = false;
    snprintf(in->source.tool, sizeof in->source.tool, "nvshmem");
    snprintf(in->source.statistic, sizeof in->source.statistic, "average");
    while (fr_lines_next(&lines, &words))
        if (words.count > 0) FR_TRY(take_line(&r, &lines, &words, &seen, err));
    if (seen) return FR_OK;
    return fr_import_refuse(fr_import_unknown(in), 0, err,
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
