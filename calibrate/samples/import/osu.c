/* OSU micro-benchmarks 5.6 to 7.5: tables under "# OSU MPI[-CUDA...] <what> Test v<version>".
 * Their columns are named by "# Size  <column>  <column> ...", parted by two blanks or more;
 * the first value column is the one that counts (the average over ranks for collectives).
 *
 * osu_allgather prints the bytes of one rank, osu_alltoall those for one destination, the
 * others the whole buffer (OSU c/mpi/collective). */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "calibrate/samples/import_text.h"

static const struct test {
    const char *title; /* between "MPI" and "Test" */
    int pattern;
    bool rate; /* prints MB/s instead of us; MB is 10^6 B */
} tests[] = {
    {"Latency", FR_PATTERN_PING_PONG, false},
    {"Bandwidth", FR_PATTERN_STREAM, true},
    {"Bi-Directional Bandwidth", FR_PATTERN_STREAM_BOTH, true},
    {"Multiple Bandwidth / Message Rate", FR_PATTERN_PAIRS, true},
    {NULL, 0, false},
};

struct reader {
    struct fr_import *in;
    struct fr_launch launch;
    const struct test *test; /* NULL: a collective */
    bool active;             /* inside a table that is read */
    int columns, validation; /* of the table; validation 0: none */
    int64_t pairs;
    bool between_nodes; /* the text named two hosts for the pair */
    struct fr_import_block block;
    int64_t launches[FR_OP_COUNT][FR_PATTERNS];
};

static bool starts(const char *text, const char *with) {
    return strncmp(text, with, strlen(with)) == 0;
}

/* Copy what stands between the first blank after "OSU MPI..." and " Test". */
static bool title_of(const char *text, char *title, size_t capacity, const char **version) {
    const char *from = strstr(text, "OSU MPI"), *to;
    if (!from || !(from = strchr(from + 4, ' ')) || !(to = strstr(from, " Test v")))
        return false;
    snprintf(title, capacity, "%.*s", (int)(to - from - 1), from + 1);
    *version = to + strlen(" Test v");
    return to > from;
}

/* Titles of collectives end in " Latency". */
static bool collective_of(const char *title, fr_op *op) {
    char name[80];
    const char *end = strstr(title, " Latency");
    if (!end || end == title || end[8] != '\0') return false;
    snprintf(name, sizeof name, "%.*s", (int)(end - title), title);
    return fr_import_op(name, op);
}

static fr_status place(struct reader *r, long line, struct fr_error *err) {
    struct fr_import *in = r->in;
    struct fr_import_options stated = {0};
    if (!r->test) return fr_import_place(in, line, &stated, &r->launch, &r->block, err);
    /* Messages between pairs: two ranks, whatever the job's size.  They sit on two nodes when
     * the text names them, or when the job has as many nodes as that. */
    int64_t launched = fr_launch_resolve(&r->launch).nodes;
    int64_t nodes = in->given.nodes ? in->given.nodes : launched ? launched : in->beside.nodes;
    r->block.n_ranks = r->pairs > 0 ? 2 * r->pairs : 2;
    r->block.nodes = r->between_nodes || nodes > 1 ? 2 : nodes;
    if (r->block.nodes == 0 && !in->nodes_assumed)
        fr_import_note(in, line,
                       "nobody says whether the two ranks share a node; taken as one node "
                       "(give --nodes)");
    in->nodes_assumed = in->nodes_assumed || r->block.nodes == 0;
    return FR_OK;
}

static fr_status begin_table(struct reader *r, long line, const char *text,
                             struct fr_error *err) {
    char title[96];
    const char *version = NULL;
    struct fr_sample_source *source = &r->in->source;
    r->active = false;
    r->columns = r->validation = 0;
    r->pairs = 0;
    if (!title_of(text, title, sizeof title, &version)) return FR_OK;
    snprintf(source->tool_version, sizeof source->tool_version, "%.47s", version);
    if (strstr(text, "OSU MPI-") && !*source->device) /* buffers on the device */
        snprintf(source->device, sizeof source->device, "%.*s",
                 (int)strcspn(strstr(text, "OSU MPI-") + 8, " "), strstr(text, "OSU MPI-") + 8);
    for (r->test = tests; r->test->title && strcmp(r->test->title, title) != 0;) r->test++;
    r->block = (struct fr_import_block){.op = FR_OP_SEND_RECV, .pattern = r->test->pattern};
    if (!r->test->title) {
        r->test = NULL;
        r->block.pattern = FR_PATTERN_OP;
        if (!collective_of(title, &r->block.op)) {
            fr_import_note(r->in, line, "\"%.80s\" is no operation that is modelled; left out",
                           title);
            return FR_OK;
        }
    }
    r->block.launch = r->launches[r->block.op][r->block.pattern]++;
    r->active = true;
    (void)err;
    return FR_OK;
}

/* "# Size       Avg Latency(us)   Validation": fields parted by two blanks or a tab. */
static void read_header(struct reader *r, const char *text) {
    const char *at = text + strcspn(text, "S");
    r->columns = r->validation = 0;
    while (*at) {
        const char *end = at;
        while (*end && !(isspace((unsigned char)end[0]) && isspace((unsigned char)end[1])) &&
               *end != '\t')
            end++;
        if (starts(at, "Validation")) r->validation = r->columns;
        r->columns++;
        for (at = end; isspace((unsigned char)*at);) at++;
    }
}

static fr_status take_row(struct reader *r, const struct fr_lines *lines,
                          const struct fr_words *words, int64_t size, struct fr_error *err) {
    long line = lines->number;
    double value = 0;
    if (r->columns < 2)
        return fr_import_refuse(r->in, line, err,
                                "a row of results before its header (\"# Size ...\")");
    if (words->count != r->columns) {
        fr_import_note_columns(r->in, lines, words, r->columns);
        return FR_OK;
    }
    if (!fr_word_number(words->word[1], &value) || value < 0)
        return fr_import_refuse(r->in, line, err, "\"%.24s\" is no number >= 0",
                                words->word[1]);
    struct fr_row row = {.size_B = (double)size, .per_rank = true, .time_s = value * 1e-6};
    if (r->validation && strcmp(words->word[r->validation], "Pass") != 0) row.failed = true;
    if (r->test && r->test->rate) {
        if (value <= 0 || size == 0) {
            fr_import_note(r->in, line, "a rate of 0 says no time; row left out");
            return FR_OK;
        }
        double streams = r->pairs > 0                                 ? (double)r->pairs
                         : r->test->pattern == FR_PATTERN_STREAM_BOTH ? 2
                                                                      : 1;
        row.time_s = streams * (double)size / (value * 1e6);
    }
    if (r->block.n_ranks == 0) FR_TRY(place(r, line, err));
    return fr_import_add(r->in, line, &r->block, &row, err);
}

static fr_status take_line(struct reader *r, const struct fr_lines *lines,
                           const struct fr_words *words, struct fr_error *err) {
    const char *text = words->text, *pairs;
    int64_t size = 0;
    double value = 0;
    if (words->count == 0) return FR_OK;
    int hash = fr_words_after_hash(words);
    bool title = words->count > hash && strncmp(words->word[hash], "OSU", 3) == 0 &&
                 strstr(text, " Test v"),
         head = r->active && words->count >= hash + 2 && !strcmp(words->word[hash], "Size");
    if (*text == '#' || title || head) {
        if (strstr(text, "OSU MPI")) return begin_table(r, lines->number, text, err);
        if (strstr(text, " Test v") && strstr(text, "OSU"))
            fr_import_note(r->in, lines->number, "\"%.80s\" is no MPI test; left out", text);
        if (head) read_header(r, text);
        if ((pairs = strstr(text, "pairs:"))) r->pairs = (int64_t)strtoll(pairs + 6, NULL, 10);
        return FR_OK;
    }
    if (starts(text, "Point-to-point pairwise")) r->between_nodes = true;
    if (r->active && words->count >= 2 && fr_word_integer(words->word[0], &size) &&
        fr_word_number(words->word[1], &value))
        return take_row(r, lines, words, size, err);
    fr_launch_add(&r->launch, words->text);
    return FR_OK;
}

static fr_status read(struct fr_import *in, struct fr_error *err) {
    struct reader r = {.in = in};
    struct fr_lines lines = fr_lines_begin(in);
    struct fr_words words;
    snprintf(in->source.tool, sizeof in->source.tool, "osu");
    snprintf(in->source.statistic, sizeof in->source.statistic, "average");
    while (fr_lines_next(&lines, &words)) FR_TRY(take_line(&r, &lines, &words, err));
    if (!*in->source.tool_version)
        return fr_import_refuse(
            in, 0, err,
            "no title of OSU micro-benchmarks (\"# OSU MPI ... Test v...\") "
            "in %ld lines",
            lines.number);
    return FR_OK;
}

const struct fr_importer fr_importer_osu = {
    .name = "osu",
    .spelling = "osu",
    .reads = "OSU micro-benchmarks 5.6 to 7.5: blocking collectives, latency, bw, bibw, mbw_mr",
    .read = read,
};
