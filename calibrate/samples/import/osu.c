/* OSU micro-benchmarks 2 to 7.5: tables under "# OSU MPI[-CUDA...] <what> Test v<version>", "# OSU NCCL ...".
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
    bool buffers_named;      /* its title says that buffers are the device's */
    int decimals;            /* of the value in the row before; -1: none yet */
    int columns, validation; /* of the table; validation 0: none */
    int64_t pairs;
    bool between_nodes; /* the text named two hosts for the pair */
    struct fr_import_block block;
    int64_t launches[FR_OP_COUNT][FR_PATTERNS];
};

static bool starts(const char *text, const char *with) {
    return strncmp(text, with, strlen(with)) == 0;
}

/* Where " Test v5.8" or " Test (Version 2.1)" begins; @p version is set behind it. */
static const char *test_of(const char *text, const char **version) {
    static const char *const forms[] = {" Test v", " Test (Version "};
    for (int i = 0; i < 2; i++) {
        const char *at = strstr(text, forms[i]);
        if (!at) continue;
        *version = at + strlen(forms[i]);
        return at;
    }
    return NULL;
}

/* Copy what stands between "OSU MPI[-CUDA] " and " Test"; one-sided tests ("OSU MPI_Put") and those of other
 * interfaces are none. */
static bool title_of(const char *text, char *title, size_t capacity, const char **version) {
    static const char *const libraries[] = {"MPI", "NCCL", "RCCL", "xCCL", NULL};
    const char *from = strstr(text, "OSU "), *to = test_of(text, version);
    if (!from || !to) return false;
    from += 4;
    for (int i = 0; libraries[i]; i++) {
        size_t n = strlen(libraries[i]);
        if (strncmp(from, libraries[i], n) != 0 || (from[n] != ' ' && from[n] != '-')) continue;
        from += strcspn(from, " ");
        if (to <= from) return false;
        snprintf(title, capacity, "%.*s", (int)(to - from - 1), from + 1);
        return true;
    }
    return false;
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
    if (!title_of(text, title, sizeof title, &version)) {
        fr_import_note(r->in, line,
                       "\"%.80s\" is no test of MPI's messages or collectives; left out", text);
        return FR_OK;
    }
    snprintf(source->tool_version, sizeof source->tool_version, "%.*s",
             (int)strcspn(version, ") "), version);
    const char *word = strstr(text, "OSU ") + 4, *dash = memchr(word, '-', strcspn(word, " "));
    r->buffers_named = dash && !*source->device;
    if (r->buffers_named) /* buffers on the device */
        snprintf(source->device, sizeof source->device, "%.*s", (int)strcspn(dash + 1, " "),
                 dash + 1);
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
    r->decimals = -1;
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
    /* Where blanks were put together, or a few of them: each column ends in a unit, or is one word. */
    const int apart = r->columns, validation = r->validation;
    static const char *const words[] = {"Size",       "MB/s",       "Messages/s",
                                        "Iterations", "Validation", NULL};
    r->columns = 0;
    for (at = text + strcspn(text, "S"); *at;) {
        size_t n = strcspn(at, " \t");
        bool unit = n > 0 && at[n - 1] == ')';
        for (int i = 0; words[i] && !unit; i++) unit = strncmp(at, words[i], n) == 0 && n > 3;
        if (starts(at, "Validation")) r->validation = r->columns;
        r->columns += unit;
        at += n + strspn(at + n, " \t");
    }
    if (apart < r->columns) return;
    r->columns = apart;
    r->validation = validation;
}

/* "# Send Buffer on DEVICE (D) and Receive Buffer on HOST (H)" */
static void read_buffers(struct reader *r, long line, const char *text) {
    const char *send = strstr(text, "Send Buffer on "),
               *receive = strstr(text, "Receive Buffer on ");
    if (!send || !receive) return;
    send += strlen("Send Buffer on ");
    receive += strlen("Receive Buffer on ");
    if (*send != *receive) {
        fr_import_note(r->in, line,
                       "messages between a host's memory and a device's; left out");
        r->active = false;
    } else if (*send == 'H' && r->buffers_named) {
        *r->in->source.device = '\0';
    }
}

static int decimals_of(const char *word) {
    const char *point = strchr(word, '.');
    return point ? (int)strspn(point + 1, "0123456789") : 0;
}

/* Was the file cut within the last number of this row? */
static bool is_cut_off(struct reader *r, const struct fr_lines *lines, const char *word) {
    int before = r->decimals;
    r->decimals = decimals_of(word);
    return lines->last && r->decimals < before;
}

static fr_status take_row(struct reader *r, const struct fr_lines *lines,
                          const struct fr_words *words, int64_t size, struct fr_error *err) {
    long line = lines->number;
    double value = 0;
    if (r->columns < 2)
        return fr_import_refuse(fr_import_unknown(r->in), line, err,
                                "a row of results before its header (\"# Size ...\")");
    if (words->count != r->columns) {
        fr_import_note_columns(r->in, lines, words, r->columns);
        return FR_OK;
    }
    if (words->count == 2 && is_cut_off(r, lines, words->word[1])) {
        fr_import_note(r->in, line, "the file ends within \"%.24s\"; row left out",
                       words->word[1]);
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

enum { AHEAD = 8 };

/* A row that a message cut behind its size is put together with what it goes on with. */
static bool put_together(struct reader *r, struct fr_lines *lines, struct fr_words *words) {
    struct fr_lines ahead = *lines;
    struct fr_words rest;
    char whole[2 * FR_LINE_MAX];
    for (int i = 0; i < AHEAD && fr_lines_next(&ahead, &rest); i++) {
        double value = 0;
        int numbers = 0;
        while (numbers < rest.count && fr_word_number(rest.word[numbers], &value)) numbers++;
        if (rest.count == 0 || numbers < rest.count || numbers != r->columns - 1) continue;
        int n = snprintf(whole, sizeof whole, "%s %s", words->word[0], rest.text);
        fr_words_split(words, whole, (size_t)n < sizeof whole ? (size_t)n : sizeof whole - 1);
        lines->at = ahead.at;
        fr_import_note(r->in, lines->number, "a row that a message had cut was put together");
        lines->number = ahead.number;
        return true;
    }
    fr_import_note(r->in, lines->number, "a row that a message has cut is left out: %.80s",
                   words->text);
    return false;
}

static fr_status take_line(struct reader *r, struct fr_lines *lines, struct fr_words *words,
                           struct fr_error *err) {
    const char *text = words->text, *pairs;
    int64_t size = 0;
    double value = 0;
    if (words->count == 0) return FR_OK;
    int hash = fr_words_after_hash(words);
    const char *first = words->count > hash ? words->word[hash] : "", *version;
    first += strspn(first, "#");
    bool title = strcmp(first, "OSU") == 0 && test_of(text, &version),
         head = r->active && words->count >= hash + 2 && !strcmp(first, "Size");
    if (*text == '#' || title || head) {
        if (title) return begin_table(r, lines->number, text, err);
        if (head) read_header(r, text);
        read_buffers(r, lines->number, text);
        if ((pairs = strstr(text, "pairs:"))) r->pairs = (int64_t)strtoll(pairs + 6, NULL, 10);
        return FR_OK;
    }
    if (starts(text, "Point-to-point pairwise")) r->between_nodes = true;
    if (r->active && words->count >= 2 && fr_word_integer(words->word[0], &size) &&
        fr_word_number(words->word[1], &value))
        return take_row(r, lines, words, size, err);
    if (r->active && r->columns >= 2 && fr_word_integer(words->word[0], &size) &&
        put_together(r, lines, words))
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
            fr_import_unknown(in), 0, err,
            "no title of OSU micro-benchmarks (\"# OSU MPI ... Test v...\") "
            "in %ld lines",
            lines.number);
    return FR_OK;
}

const struct fr_importer fr_importer_osu = {
    .name = "osu",
    .spelling = "osu",
    .reads = "OSU micro-benchmarks 2 to 7.5: blocking collectives, latency, bw, bibw, mbw_mr",
    .read = read,
};
