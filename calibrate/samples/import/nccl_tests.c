/* nccl-tests and rccl-tests, 2019 to 2025.  Columns are found by the header line:
 *
 *    size  count  type  [redop]  [root]   time  algbw  busbw  #wrong|error   time  ...  [timestamp]
 *
 * from a time to the next is out of place, the next in place; -I 1 adds four columns to each, -T a date and a time
 * to the line.  Size is the whole buffer for every collective (nccl-tests src/all_gather.cu and its siblings). */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "calibrate/samples/import_text.h"

/* Old releases print the largest relative error instead of a count of wrong elements; rounding
 * of half precision stays below this, a wrong result is of order one. */
static const double ERROR_MAX = 1e-2;

struct reader {
    struct fr_import *in;
    struct fr_launch launch;
    struct fr_import_options stated; /* of the list of devices */
    char last_host[64];
    struct fr_text hosts;                   /* of the list of devices, "|a|b|" */
    int64_t listed, last_rank, last_device; /* of that list: lines, and the largest numbers */
    int64_t last_group;                     /* communicators at once are numbered from 0 */
    bool elided;                            /* it leaves ranks out */
    bool listing, alone;                    /* no row since the list began; it began twice */
    int64_t per_process;                    /* threads times GPUs of each */
    bool op_known, op_priced;
    char op_name[64];
    fr_op op;
    int before;        /* columns left of the first time; 0: no header yet */
    int halves, width; /* tables on the right, and columns of each */
    int behind;        /* words of a row behind them */
    bool processor;    /* its times are the processor's */
    bool unplaced;     /* the block's place is not settled yet */
    bool old;          /* an error column in place of a count */
    struct fr_import_block block;
    int64_t launches[FR_OP_COUNT];
    long joined; /* rows that were put together */
};

static void name_op(struct reader *r, const char *name) {
    snprintf(r->op_name, sizeof r->op_name, "%.63s", name);
    r->op_known = true;
    r->op_priced = fr_import_op(name, &r->op);
}

/* "-a 3": of each rank's time the slowest's is printed. */
static void find_average(struct reader *r, const struct fr_words *words, int i) {
    static const char *const statistics[] = {"rank 0's", "average", "minimum", "maximum"};
    for (i++; i + 1 < words->count; i++) {
        int64_t which = 0;
        bool option =
            strcmp(words->word[i], "-a") == 0 || strcmp(words->word[i], "--average") == 0;
        if (option && fr_word_integer(words->word[i + 1], &which) && which < 4)
            snprintf(r->in->source.statistic, sizeof r->in->source.statistic, "%s",
                     statistics[which]);
    }
}

/* "all_reduce_perf" as a word of its own or at the end of a path. */
static void find_program(struct reader *r, const struct fr_words *words) {
    for (int i = 0; i < words->count; i++) {
        const char *base = strrchr(words->word[i], '/');
        fr_op op;
        base = base ? base + 1 : words->word[i];
        const char *perf = strstr(base, "_perf");
        /* "allreduceperf": a page of Markdown has eaten what stood between. */
        if (!perf && strlen(base) > 4 && !strcmp(base + strlen(base) - 4, "perf") &&
            fr_import_op(base, &op)) {
            name_op(r, base);
            return;
        }
        if (perf && perf != base && (perf[5] == '\0' || perf[5] == '_')) {
            char name[64];
            snprintf(name, sizeof name, "%.*s", (int)(perf - base), base);
            name_op(r, name);
            find_average(r, words, i);
            return;
        }
    }
}

/* A list that goes 0, 7, 8, 15: as many as its last number says, on as many nodes as its devices allow. */
static void count_listed(struct reader *r) {
    r->elided |= r->listed != r->last_rank + 1;
    r->stated.n_ranks = r->last_rank + 1;
    int64_t a_node = r->last_device + 1;
    if (r->elided && r->stated.n_ranks / a_node > r->stated.nodes)
        r->stated.nodes = (r->stated.n_ranks + a_node - 1) / a_node;
}

/* Ranks may go round the nodes: each counts once. */
static bool is_new_host(struct reader *r, const char *host) {
    char name[68];
    if (r->listed > 0 && strncmp(host, r->last_host, sizeof r->last_host - 1) == 0)
        return false;
    snprintf(name, sizeof name, "|%.63s|", host);
    if (strstr(fr_text_get(&r->hosts), name)) return false;
    fr_text_addf(&r->hosts, "%s", r->hosts.length ? name + 1 : name);
    return true;
}

/* "#  Rank  3 Group  0 Pid 204 on  nid005471 device  3 [0x1] NVIDIA GH200" */
static bool is_device(struct reader *r, const struct fr_words *words) {
    int64_t rank = 0, device = 0, group = 0;
    const char *host = NULL;
    int from = fr_words_after_hash(words);
    if (words->count < from + 5 || strcmp(words->word[from], "Rank")) return false;
    if (!fr_word_integer(words->word[from + 1], &rank)) return false;
    for (int i = from + 2; i + 1 < words->count && !host; i++)
        if (strcmp(words->word[i], "on") == 0) host = words->word[i + 1];
    if (!host) return false;
    for (int i = from + 2; i + 1 < words->count; i++)
        if (!strcmp(words->word[i], "device"))
            fr_word_integer(words->word[i + 1], &device);
        else if (!strcmp(words->word[i], "Group"))
            fr_word_integer(words->word[i + 1], &group);
    r->alone |= r->listing && rank == 0 && r->listed > 0;
    r->listing = true;
    if (rank == 0 || rank < r->last_rank) {
        r->stated = (struct fr_import_options){0};
        r->listed = r->last_rank = r->last_device = r->last_group = 0;
        r->elided = rank > 0;
        fr_text_free(&r->hosts);
    }
    r->stated.nodes += is_new_host(r, host);
    r->listed++;
    r->last_rank = rank < (int64_t)1 << 31 ? rank : 0;
    if (device > r->last_device && device < 1024) r->last_device = device;
    if (group > r->last_group) r->last_group = group;
    snprintf(r->last_host, sizeof r->last_host, "%.63s", host);
    const char *bracket = strchr(words->text, ']');
    if (bracket && !*r->in->source.device)
        snprintf(r->in->source.device, sizeof r->in->source.device, "%.90s",
                 bracket[1] == ' ' ? bracket + 2 : bracket + 1);
    return true;
}

/* "# nThread 1 nGpus 8 minBytes 8 ...": ranks of each process. */
static void find_threads(struct reader *r, const struct fr_words *words) {
    int64_t threads = 0, gpus = 0;
    for (int i = 0; i + 1 < words->count; i++) {
        if (!strcmp(words->word[i], "nThread")) fr_word_integer(words->word[i + 1], &threads);
        if (!strcmp(words->word[i], "nGpus")) fr_word_integer(words->word[i + 1], &gpus);
    }
    if (threads >= 1 && gpus >= 1 && threads <= 1024 && gpus <= 1024)
        r->per_process = threads * gpus;
}

static bool is_header(struct reader *r, const struct fr_words *words) {
    int from = fr_words_after_hash(words), time[2] = {0}, halves = 0, stamp = words->count;
    if (words->count < 8) return false;
    const char *first = words->word[from];
    first += *first == '#';
    if (strcmp(first, "size") || strcmp(words->word[from + 1], "count")) return false;
    for (int i = from + 1; i < words->count; i++) {
        bool processor = strcmp(words->word[i], "cputime") == 0;
        if (strcmp(words->word[i], "timestamp") == 0) stamp = i;
        if (!processor && strcmp(words->word[i], "time") != 0) continue;
        if (halves < 2) time[halves++] = i;
        r->processor = processor;
    }
    if (halves == 0) return false;
    r->before = time[0] - from;
    r->halves = halves;
    r->width = halves == 2 ? time[1] - time[0] : stamp - time[0];
    r->behind = stamp < words->count ? 2 : 0;
    r->old = strstr(words->text, " error") != NULL;
    r->unplaced = true;
    return r->before >= 3 && r->width >= 4;
}

/* A line that means to be a row: two whole numbers, the name of a type, then numbers. */
static bool is_row(const struct fr_words *words) {
    int64_t number;
    return words->count >= 4 && fr_word_integer(words->word[0], &number) &&
           fr_word_integer(words->word[1], &number) &&
           strspn(words->word[2], "abcdefghijklmnopqrstuvwxyz0123456789_") ==
               strlen(words->word[2]) &&
           strspn(words->word[2], "0123456789") < strlen(words->word[2]);
}

static bool is_value(const char *word) {
    double value;
    return fr_word_number(word, &value) || strcmp(word, "N/A") == 0 || strcmp(word, "-") == 0;
}

/* The number that @p word begins with where a message was printed behind it: "-1libibverbs:", "-1[1746763068.1]". */
static size_t number_before(const char *word) {
    size_t n = word[0] == '-' ? 1 : 0, digits = strspn(word + n, "0123456789.");
    return digits ? n + digits : 0;
}

/* Cuts off a message that was printed behind the beginning of a row. */
static void cut_message(const struct reader *r, struct fr_words *words) {
    for (int i = r->before - 1;
         r->before > 0 && i < words->count && i < r->before + r->halves * r->width; i++) {
        const char *word = words->word[i];
        bool message = i > 3 && !is_value(word) && (strpbrk(word, "[:(") || i >= r->before) &&
                       !strchr(word, '*') && strncmp(word, "FAIL", 4) != 0;
        if (!message) continue;
        size_t length = (size_t)(word - words->copy) + number_before(word);
        fr_words_split(words, words->text, length);
        return;
    }
}

/* Does the row lack columns?  It has those before the times, and of the times none or the first half. */
static bool is_cut(const struct reader *r, const struct fr_words *words) {
    return r->before > 0 && words->count >= r->before &&
           words->count < r->before + r->halves * r->width + r->behind;
}

/* The rest of a row: numbers alone, as many as it lacks or fewer. */
static bool is_rest(const struct fr_words *words, int most) {
    for (int i = 0; i < words->count; i++)
        if (!is_value(words->word[i])) return false;
    return words->count > 0 && words->count <= most;
}

enum { MESSAGES_MAX = 400 };

/* A row that messages cut in two is put together with what it goes on with, a few lines on. */
static void put_together(struct reader *r, struct fr_lines *lines, struct fr_words *words) {
    struct fr_lines ahead = *lines;
    struct fr_words rest;
    char whole[2 * FR_LINE_MAX];
    for (int i = 0; i < MESSAGES_MAX && is_cut(r, words) && fr_lines_next(&ahead, &rest); i++) {
        if (rest.count == 0 || strstr(rest.text, " NCCL ")) continue;
        if (is_row(&rest) || *rest.text == '#') return;
        if (!is_rest(&rest, r->before + r->halves * r->width - words->count)) continue;
        int n = snprintf(whole, sizeof whole, "%s %s", words->text, rest.text);
        fr_words_split(words, whole, (size_t)n < sizeof whole ? (size_t)n : sizeof whole - 1);
        *lines = ahead;
        r->joined++;
    }
}

/* Bus bandwidth over algorithm bandwidth, of this row and those after it up to the next table. */
static void take_ratio(struct reader *r, const struct fr_lines *at,
                       const struct fr_words *row) {
    struct fr_lines ahead = *at;
    struct fr_words words = *row;
    long joined = r->joined;
    fr_words_split(&words, words.text, strlen(words.text));
    do {
        if (is_row(&words))
            for (int h = 0; r->before + r->width * h + 4 <= words.count && h < r->halves; h++)
                fr_import_ratio_add(&r->block.ratio, words.word[r->before + r->width * h + 1],
                                    words.word[r->before + r->width * h + 2]);
        int from = fr_words_after_hash(&words);
        if (words.count > from + 1 &&
            (!strcmp(words.word[from], "size") || !strcmp(words.word[from], "Rank")))
            break;
        if (!fr_lines_next(&ahead, &words)) break;
        if (is_row(&words)) cut_message(r, &words);
        if (is_row(&words) && is_cut(r, &words)) put_together(r, &ahead, &words);
    } while (true);
    r->joined = joined;
}

/* The collective: of the text, else of --op, the sidecar, the file's name. */
static fr_status resolve_op(struct reader *r, long line, struct fr_error *err) {
    static const char *const names[] = {
        "all_reduce", "allreduce", "all_gather",     "allgather", "alltoall",
        "all_to_all", "broadcast", "reduce_scatter", "sendrecv",  "bcast",
        "scatter",    "gather",    "reduce",         NULL};
    struct fr_import *in = r->in;
    const char *base = strrchr(in->name, '/');
    fr_op given;
    if (in->given.op && !fr_import_op(in->given.op, &given))
        return fr_import_refuse(in, 0, err, "--op %.40s is no collective known here",
                                in->given.op);
    if (r->op_known) {
        if (in->given.op && r->op_priced && given != r->op)
            return fr_import_refuse(in, line, err, "the text says %.40s, --op says %.40s",
                                    r->op_name, in->given.op);
        return FR_OK;
    }
    if (in->given.op)
        name_op(r, in->given.op);
    else if (in->beside.op)
        name_op(r, in->beside.op);
    for (int i = 0; names[i] && !r->op_known; i++)
        if (strstr(base ? base : in->name, names[i])) name_op(r, names[i]);
    if (!r->op_known)
        return fr_import_refuse(in, line, err,
                                "which collective this is stands neither in the text (\"# "
                                "Collective test starting\", a ..._perf command), nor in a "
                                "sidecar, nor in the file's name; give --op");
    return FR_OK;
}

static fr_status begin_block(struct reader *r, const struct fr_lines *lines,
                             const struct fr_words *words, struct fr_error *err) {
    long line = lines->number;
    FR_TRY(resolve_op(r, line, err));
    r->unplaced = false;
    r->block = (struct fr_import_block){.op = r->op};
    if (!r->op_priced) {
        fr_import_note(r->in, line,
                       "%.40s is no operation that is modelled; its rows are left out",
                       r->op_name);
        return FR_OK;
    }
    r->block = (struct fr_import_block){
        .op = r->op, .launch = r->launches[r->op]++, .per_process = r->per_process};
    if (r->alone)
        return fr_import_refuse(
            r->in, line, err,
            "rank 0 is listed more than once before this table: each process "
            "ran alone, as a build without MPI does (make MPI=1)");
    if (r->processor)
        return fr_import_refuse(r->in, line, err,
                                "its times are what the processor took (-C 1), not the "
                                "collective; run it without -C");
    if (r->last_group > 0 && !r->in->given.n_ranks)
        return fr_import_refuse(r->in, line, err,
                                "%" PRId64 " communicators ran it at once (NCCL_TESTS_SPLIT): "
                                "give the ranks of one and the nodes they are on with --ranks "
                                "and --nodes, and say it in --setup",
                                r->last_group + 1);
    if (r->last_group > 0)
        r->stated = (struct fr_import_options){0};
    else if (r->listed)
        count_listed(r);
    r->block.elided = r->elided;
    if (r->elided)
        fr_import_note(r->in, line,
                       "the list of devices leaves ranks out: %" PRId64 " lines, the last is "
                       "rank %" PRId64,
                       r->listed, r->last_rank);
    /* Old releases count the bandwidth of an all-gather otherwise. */
    if (!r->old || r->op == FR_OP_ALL_REDUCE) take_ratio(r, lines, words);
    return fr_import_place(r->in, line, &r->stated, &r->launch, &r->block, err);
}

/* Is the result marked wrong?  "N/A" and "-" mean that it was not checked. */
static bool is_wrong(const struct reader *r, const char *word) {
    double value = 0;
    if (strchr(word, '*') || strncmp(word, "FAIL", 4) == 0) return true;
    if (!fr_word_number(word, &value)) return false;
    return r->old ? value > ERROR_MAX : value > 0;
}

static fr_status half(struct reader *r, long line, const struct fr_words *words, int at,
                      double size_B, bool in_place, struct fr_error *err) {
    const char *time = words->word[at], *wrong = words->word[at + 3];
    double time_us = 0;
    if (strcmp(time, "N/A") == 0 || strcmp(time, "-") == 0) return FR_OK; /* not measured */
    if (!fr_word_number(time, &time_us) || time_us < 0)
        return fr_import_refuse(r->in, line, err, "the time \"%.24s\" is no number of us >= 0",
                                time);
    struct fr_row row = {.size_B = size_B,
                         .time_s = time_us * 1e-6,
                         .rep = in_place,
                         .in_place = in_place,
                         .failed = is_wrong(r, wrong)};
    if (row.failed)
        fr_import_note(r->in, line, "%s result is wrong (%.24s); kept, marked failed",
                       in_place ? "the in-place" : "the out-of-place", wrong);
    return fr_import_add(r->in, line, &r->block, &row, err);
}

static fr_status take_row(struct reader *r, const struct fr_lines *lines,
                          const struct fr_words *words, struct fr_error *err) {
    long line = lines->number;
    int64_t size = 0;
    r->listing = false;
    if (r->before == 0)
        return fr_import_refuse(
            fr_import_unknown(r->in), line, err,
            "a row of results before any header (\"# size count type ...\")");
    /* A text that names another operation without a header begins another block too. */
    bool begun = r->block.n_ranks > 0 && r->block.op == r->op;
    if (r->unplaced || (r->op_priced && !begun)) FR_TRY(begin_block(r, lines, words, err));
    if (!r->op_priced) return FR_OK;
    int whole = r->before + r->halves * r->width + r->behind, left = words->count - r->before;
    bool some = words->count != whole && left > 0 && left % r->width == 0 && left < whole;
    if (words->count != whole && !some) {
        fr_import_note_columns(r->in, lines, words, whole);
        return FR_OK;
    }
    int halves = some ? left / r->width : r->halves;
    if (some)
        fr_import_note(r->in, line, "only the first %d columns of %d are there", words->count,
                       whole);
    fr_word_integer(words->word[0], &size);
    snprintf(r->in->source.dtype, sizeof r->in->source.dtype, "%.23s", words->word[2]);
    for (int h = 0; h < halves; h++)
        FR_TRY(half(r, line, words, r->before + r->width * h, (double)size, h == 1, err));
    return FR_OK;
}

/* "# nccl-tests version 2.17.8 ...", "rccl-tests: Version develop:a7809b3" */
static void find_version(struct reader *r, const struct fr_words *words) {
    struct fr_sample_source *source = &r->in->source;
    bool rccl = strstr(words->text, "rccl-tests") != NULL;
    if (!rccl && !strstr(words->text, "nccl-tests")) return;
    for (int i = 0; i + 1 < words->count; i++)
        if (!strcmp(words->word[i], "version") || !strcmp(words->word[i], "Version")) {
            snprintf(source->tool, sizeof source->tool, "%s",
                     rccl ? "rccl-tests" : "nccl-tests");
            snprintf(source->tool_version, sizeof source->tool_version, "%.47s",
                     words->word[i + 1]);
        }
}

/* "#  ...", "[...]", "... 14 more lines ...", "[snip]": ranks that the list of devices does not show. */
static bool is_ellipsis(const struct fr_words *words) {
    static const char *const signs[] = {
        "...", "..", "\xE2\x80\xA6", "snip", "omitted", "skipped", "truncated", "<more", NULL};
    for (int i = 0; signs[i] && words->count <= 8; i++)
        if (strstr(words->text, signs[i])) return true;
    return false;
}

/* Values that change the measurement, in the line of parameters: "... agg iters: 4 validation: 1 graph: 5 ...". */
static void find_mode(struct reader *r, long line, const struct fr_words *words) {
    static const struct {
        const char *name, *means;
        int64_t usual;
    } modes[] = {{"agg iters:", "operations grouped into one launch; a time is one's share", 1},
                 {"graph:", "launched as CUDA graphs", 0}};
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
        const char *at = strstr(words->text, modes[i].name);
        long long value = at ? strtoll(at + strlen(modes[i].name), NULL, 10) : modes[i].usual;
        if (value != modes[i].usual)
            fr_import_note(r->in, line, "%s %lld: %s; say it in --setup", modes[i].name, value,
                           modes[i].means);
    }
    if (strstr(words->text, "Blocking Enabled"))
        fr_import_note(r->in, line, "%.120s: times hold waiting; say it in --setup",
                       words->text + strspn(words->text, "# "));
}

static fr_status take_line(struct reader *r, struct fr_lines *lines, struct fr_words *words,
                           struct fr_error *err) {
    if (words->count == 0) return FR_OK;
    if (is_row(words)) {
        long line = lines->number;
        cut_message(r, words);
        if (is_cut(r, words)) put_together(r, lines, words);
        struct fr_lines at = *lines;
        at.number = line;
        return take_row(r, &at, words, err);
    }
    if (is_header(r, words) || is_device(r, words)) return FR_OK;
    if (r->listed && !r->block.n_ranks && is_ellipsis(words)) r->elided = true;
    find_threads(r, words);
    find_mode(r, lines->number, words);
    if (strstr(words->text, "Test NCCL failure") || strstr(words->text, "Test failure"))
        fr_import_note(r->in, lines->number, "the benchmark failed here: %.160s", words->text);
    find_version(r, words);
    fr_launch_add(&r->launch, words->text);
    if (!strstr(words->text, "concluded")) find_program(r, words);
    return FR_OK;
}

static fr_status read_lines(struct reader *r, struct fr_import *in, struct fr_error *err) {
    struct fr_lines lines = fr_lines_begin(in);
    struct fr_words words;
    while (fr_lines_next(&lines, &words)) FR_TRY(take_line(r, &lines, &words, err));
    if (r->joined)
        fr_import_note(in, 0, "%ld rows that messages had cut in two were put together",
                       r->joined);
    if (r->before == 0)
        return fr_import_refuse(fr_import_unknown(in), 0, err,
                                "no header of nccl-tests (\"# size count type ...\") in %ld "
                                "lines%s",
                                lines.number, in->notes->length ? "; see the notes above" : "");
    return FR_OK;
}

static fr_status read(struct fr_import *in, struct fr_error *err) {
    struct reader r = {.in = in};
    snprintf(in->source.tool, sizeof in->source.tool, "nccl-tests");
    snprintf(in->source.statistic, sizeof in->source.statistic, "average");
    struct fr_text lines = {0};
    const char *text = in->text;
    size_t length = in->length;
    if (fr_import_nccl_json(in, &lines)) {
        in->text = fr_text_get(&lines);
        in->length = lines.length;
    }
    fr_status status = read_lines(&r, in, err);
    in->text = text;
    in->length = length;
    fr_text_free(&lines);
    fr_text_free(&r.hosts);
    return status;
}

const struct fr_importer fr_importer_nccl_tests = {
    .name = "nccl_tests",
    .spelling = "nccl-tests",
    .reads = "nccl-tests and rccl-tests, 2019 to 2025, as printed or of -J, all operations but "
             "hypercube",
    .read = read,
};
