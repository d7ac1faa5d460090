#include "calibrate/samples/import_text.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"

static const int64_t RANKS_MAX = (int64_t)1 << 31;
static const char IN_TEXT[] = "the text";

struct fr_lines fr_lines_begin(const struct fr_import *in) {
    return (struct fr_lines){.at = in->text, .stop = in->text + in->length};
}

/* Tables in boxes: signs between columns are blanks. */
static void cut_bars(char *text) {
    static const char *const bars[] = {"\xE2\x94\x82", "\xE2\x94\x83", "|"};
    if (strncmp(text, bars[0], 3) != 0 && strncmp(text, bars[1], 3) != 0 && *text != '|')
        return;
    for (int i = 0; i < 3; i++)
        for (char *at = text; (at = strstr(at, bars[i]));) memset(at, ' ', strlen(bars[i]));
    memmove(text, text + strspn(text, " "), strlen(text + strspn(text, " ")) + 1);
    for (size_t n = strlen(text); n > 0 && text[n - 1] == ' ';) text[--n] = '\0';
}

void fr_words_split(struct fr_words *words, const char *from, size_t length) {
    const char *to = from + length;
    words->count = 0;
    while (from < to && isspace((unsigned char)*from)) from++;
    while (to > from && isspace((unsigned char)to[-1])) to--;
    length = (size_t)(to - from);
    words->cut = length >= sizeof words->text;
    if (words->cut) length = sizeof words->text - 1;
    memmove(words->text, from, length);
    words->text[length] = '\0';
    cut_bars(words->text);
    memcpy(words->copy, words->text, strlen(words->text) + 1);
    for (char *at = words->copy; *at;) {
        while (isspace((unsigned char)*at)) *at++ = '\0';
        if (!*at) break;
        if (words->count == FR_WORDS_MAX) {
            words->cut = true;
            break;
        }
        words->word[words->count++] = at;
        while (*at && !isspace((unsigned char)*at)) at++;
    }
}

/* A carriage return within a line goes back to its beginning: what stands behind the last one is seen. */
bool fr_lines_next(struct fr_lines *lines, struct fr_words *words) {
    words->count = 0;
    words->cut = false;
    if (lines->at >= lines->stop) return false;
    const char *newline = memchr(lines->at, '\n', (size_t)(lines->stop - lines->at));
    const char *from = lines->at, *to = newline ? newline : lines->stop;
    lines->at = newline ? newline + 1 : lines->stop;
    lines->last = !newline;
    lines->number++;
    for (const char *at = from; at + 1 < to; at++)
        if (*at == '\r') from = at + 1;
    fr_words_split(words, from, (size_t)(to - from));
    return true;
}

int fr_words_after_hash(const struct fr_words *words) {
    return words->count > 0 && words->word[0][strspn(words->word[0], "#")] == '\0';
}

bool fr_word_integer(const char *word, int64_t *out) {
    char *end = NULL;
    if (!isdigit((unsigned char)*word)) return false;
    errno = 0;
    long long value = strtoll(word, &end, 10);
    if (*end || errno) return false;
    *out = value;
    return true;
}

bool fr_word_number(const char *word, double *out) {
    char *end = NULL;
    if (!isdigit((unsigned char)*word) && *word != '.' && *word != '-') return false;
    if (word[0] == '0' && (word[1] == 'x' || word[1] == 'X')) return false;
    double value = strtod(word, &end);
    if (end == word || *end || !isfinite(value)) return false;
    *out = value;
    return true;
}

bool fr_import_op(const char *name, fr_op *op) {
    static const struct {
        const char *word;
        fr_op op;
    } known[] = {
        {"allreduce", FR_OP_ALL_REDUCE},
        {"allgather", FR_OP_ALL_GATHER},
        {"reducescatter", FR_OP_REDUCE_SCATTER},
        {"reducescatterblock", FR_OP_REDUCE_SCATTER},
        {"alltoall", FR_OP_ALL_TO_ALL},
        {"alltoallpersonalizedexchange", FR_OP_ALL_TO_ALL},
        {"broadcast", FR_OP_BROADCAST},
        {"bcast", FR_OP_BROADCAST},
        {"reduce", FR_OP_REDUCE},
        {"sendrecv", FR_OP_SEND_RECV},
        {"scatter", FR_OP_SCATTER},
        {"gather", FR_OP_GATHER},
    };
    char plain[64];
    size_t n = 0;
    for (const char *at = name; *at && n < sizeof plain - 1; at++)
        if (isalnum((unsigned char)*at)) plain[n++] = (char)tolower((unsigned char)*at);
    plain[n] = '\0';
    if (n > 4 && strcmp(plain + n - 4, "perf") == 0) plain[n - 4] = '\0';
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(plain, known[i].word) == 0) {
            *op = known[i].op;
            return true;
        }
    return false;
}

bool fr_import_op_or_note(struct fr_import *in, long line, const char *name, fr_op *op) {
    if (fr_import_op(name, op)) return true;
    fr_import_note(in, line, "%.60s is no operation that is modelled; left out", name);
    return false;
}

void fr_import_note(struct fr_import *in, long line, const char *fmt, ...) {
    char what[320];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(what, sizeof what, fmt, ap);
    va_end(ap);
    for (char *at = what; *at; at++)
        if (iscntrl((unsigned char)*at)) *at = '?';
    if (line > 0)
        fr_text_addf(in->notes, "%s:%ld: %s\n", in->name, line, what);
    else
        fr_text_addf(in->notes, "%s: %s\n", in->name, what);
}

void fr_import_note_columns(struct fr_import *in, const struct fr_lines *lines,
                            const struct fr_words *row, int columns) {
    fr_import_note(in, lines->number, "%d columns where the header has %d; row left out%s",
                   row->count, columns, lines->last ? " (the file ends here)" : "");
}

fr_status fr_import_refuse(const struct fr_import *in, long line, struct fr_error *err,
                           const char *fmt, ...) {
    char where[320], what[480];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(what, sizeof what, fmt, ap);
    va_end(ap);
    if (line > 0)
        snprintf(where, sizeof where, "%.280s:%ld", in->name, line);
    else
        snprintf(where, sizeof where, "%.300s", in->name);
    return fr_fail(err, FR_ERR_INPUT, where, "%s", what);
}

const struct fr_import *fr_import_unknown(struct fr_import *in) {
    in->unknown_form = true;
    return in;
}

/* ---- where it was measured ---------------------------------------------------------------------- */

/* A number and who says it; 0: nobody. */
struct fact {
    int64_t value;
    const char *who;
};

/* The first fact.  One that differs from it is refused, unless the command line states which holds. */
static fr_status agree(struct fr_import *in, long line, const char *what, const char *option,
                       int64_t given, const struct fact *facts, int n, int64_t *out,
                       struct fr_error *err) {
    const struct fact *first = NULL;
    for (int i = 0; i < n; i++) {
        const struct fact *f = &facts[i];
        if (!f->value) continue;
        if (!first) first = f;
        if (f->value == first->value) continue;
        if (!given)
            return fr_import_refuse(in, line, err,
                                    "%s says %" PRId64 " %s, %s %" PRId64
                                    "; state which holds with %s N",
                                    first->who, first->value, what, f->who, f->value, option);
        fr_import_note(in, line, "%s says %" PRId64 " %s, %s %" PRId64 "; %s %" PRId64 " holds",
                       first->who, first->value, what, f->who, f->value, option, given);
    }
    bool known = !given || !first;
    for (int i = 0; i < n && !known; i++) known = facts[i].value == given;
    if (!known && strcmp(first->who, IN_TEXT) == 0)
        return fr_import_refuse(in, line, err,
                                "the text says %" PRId64 " %s, the command line %" PRId64,
                                first->value, what, given);
    if (!known)
        fr_import_note(in, line, "%s says %" PRId64 " %s; %s %" PRId64 " holds", first->who,
                       first->value, what, option, given);
    *out = given ? given : first ? first->value : 0;
    return FR_OK;
}

/* The ratio of busbw to algbw gives n in [low, high]. */
static fr_status check_ratio(struct fr_import *in, long line, struct fr_import_block *block,
                             struct fr_error *err) {
    const struct fr_import_ratio *r = &block->ratio;
    double low = 0, high = 0;
    if (!fr_import_ratio_ranks(r, block->op, &low, &high)) return FR_OK;
    int64_t from = (int64_t)ceil(low), to = (int64_t)floor(fmin(high, 1e15));
    if (block->n_ranks && (double)block->n_ranks >= low && (double)block->n_ranks <= high)
        return FR_OK;
    char stated[80];
    if (from == to)
        snprintf(stated, sizeof stated, "%" PRId64 " ranks", from);
    else if (from > to)
        snprintf(stated, sizeof stated, "no whole number of ranks");
    else if (high < 1e6)
        snprintf(stated, sizeof stated, "%.0f to %.0f ranks", ceil(low), floor(high));
    else
        snprintf(stated, sizeof stated, "%.0f ranks or more", ceil(low));
    if (block->n_ranks == 0) {
        if (from != to || from < 2) return FR_OK;
        block->n_ranks = from;
        fr_import_note(in, line, "busbw over algbw (%.4g) says %s", r->low, stated);
        return FR_OK;
    }
    if (block->elided && from == to && !in->given.n_ranks) {
        fr_import_note(in, line, "busbw over algbw (%.4g) says %s; the list leaves some out",
                       r->low, stated);
        block->n_ranks = from;
        return FR_OK;
    }
    return fr_import_refuse(in, line, err,
                            "busbw over algbw (%.4g) says %s, not %" PRId64
                            "%s; state how many there were with --ranks N",
                            r->low, stated, block->n_ranks,
                            in->given.n_ranks ? " as --ranks does" : "");
}

static fr_status place_ranks(struct fr_import *in, long line,
                             const struct fr_import_options *stated,
                             const struct fr_launch_facts *launched, int64_t environment,
                             struct fr_import_block *block, struct fr_error *err) {
    bool part = block->part && stated->n_ranks && stated->n_ranks < launched->ranks;
    /* A list that leaves ranks out may say too few. */
    bool weak = block->elided && (in->given.n_ranks || in->beside.n_ranks || launched->ranks);
    const struct fact facts[] = {
        {weak ? 0 : stated->n_ranks, IN_TEXT},
        {in->beside.n_ranks, "the file beside it"},
        {part ? 0 : launched->ranks, "its launch line"},
    };
    int64_t given = block->part && stated->n_ranks ? 0 : in->given.n_ranks;
    FR_TRY(agree(in, line, "ranks", "--ranks", given, facts, 3, &block->n_ranks, err));
    FR_TRY(check_ratio(in, line, block, err));
    if (block->n_ranks == 0) block->n_ranks = environment;
    if (environment && environment != block->n_ranks && !part)
        fr_import_note(
            in, line, "variables of its batch system say %" PRId64 " ranks; taken are %" PRId64,
            environment, block->n_ranks);
    if (block->n_ranks == 0)
        return fr_import_refuse(in, line, err,
                                "the text does not say how many ranks took part; give --ranks "
                                "N, or \"ranks\" in a .json file beside it");
    if (block->n_ranks < 2 || block->n_ranks > RANKS_MAX)
        return fr_import_refuse(
            in, line, err, "%" PRId64 " ranks; a collective needs 2 or more%s", block->n_ranks,
            launched->ranks > 1 ? " (its launch line starts more: was it "
                                  "built without MPI?)"
                                : "");
    return FR_OK;
}

static fr_status place_nodes(struct fr_import *in, long line,
                             const struct fr_import_options *stated,
                             const struct fr_launch_facts *launched,
                             struct fr_import_block *block, struct fr_error *err) {
    const struct fr_import_options *given = &in->given, *beside = &in->beside;
    int64_t ranks = block->n_ranks, from_given = 0, from_beside = beside->nodes,
            from_launch = 0;
    if (given->ranks_per_node)
        from_given = (ranks + given->ranks_per_node - 1) / given->ranks_per_node;
    if (given->nodes) from_given = given->nodes;
    if (beside->ranks_per_node)
        from_beside = (ranks + beside->ranks_per_node - 1) / beside->ranks_per_node;
    if (launched->ranks_per_node)
        from_launch = (ranks + launched->ranks_per_node - 1) / launched->ranks_per_node;
    else if (launched->ranks == 0 || launched->ranks == ranks)
        from_launch = launched->nodes;
    else if (launched->nodes && launched->ranks)
        from_launch =
            (int64_t)ceil((double)ranks * (double)launched->nodes / (double)launched->ranks);
    /* So may its nodes. */
    bool weak = block->elided && (ranks > stated->n_ranks || from_given || from_beside ||
                                  from_launch > stated->nodes);
    const struct fact facts[] = {{weak ? 0 : stated->nodes, IN_TEXT},
                                 {from_beside, "the file beside it"},
                                 {from_launch, "its launch line"}};
    FR_TRY(agree(in, line, "nodes", "--nodes", from_given, facts, 3, &block->nodes, err));
    if (block->nodes > ranks) block->nodes = ranks;
    return FR_OK;
}

fr_status fr_import_place(struct fr_import *in, long line,
                          const struct fr_import_options *stated,
                          const struct fr_launch *launch, struct fr_import_block *block,
                          struct fr_error *err) {
    struct fr_launch_facts launched = fr_launch_resolve(launch);
    int64_t each = block->per_process > 1 ? block->per_process : 1;
    launched.ranks *= each;
    launched.ranks_per_node *= each;
    /* One process, started by hand. */
    if (!launch->launcher && each > 1 && !stated->n_ranks && !in->given.n_ranks &&
        !in->beside.n_ranks)
        launched = (struct fr_launch_facts){.ranks = each, .nodes = 1};
    FR_TRY(
        place_ranks(in, line, stated, &launched, launch->environment.ranks * each, block, err));
    FR_TRY(place_nodes(in, line, stated, &launched, block, err));
    if (block->nodes == 0 && *launch->unread)
        return fr_import_refuse(in, line, err,
                                "its launch line leaves open on how many nodes the %" PRId64
                                " ranks were (%s); give --nodes N or --ranks-per-node N",
                                block->n_ranks, launch->unread);
    if (block->nodes == 0 && !in->nodes_assumed)
        fr_import_note(in, line,
                       "nobody says how many nodes the %" PRId64
                       " ranks were on; taken as one (give --nodes or --ranks-per-node)",
                       block->n_ranks);
    in->nodes_assumed = in->nodes_assumed || block->nodes == 0;
    return FR_OK;
}

/* ---- bus bandwidth over algorithm bandwidth ----------------------------------------------------- */

/* Half a unit of the last digit that was printed. */
static double half_unit(const char *word) {
    const char *point = strchr(word, '.');
    double unit = 0.5;
    for (const char *at = point ? point + 1 : ""; isdigit((unsigned char)*at); at++) unit /= 10;
    return unit;
}

void fr_import_ratio_add(struct fr_import_ratio *r, const char *algbw, const char *busbw) {
    double a = 0, b = 0;
    if (!fr_word_number(algbw, &a) || !fr_word_number(busbw, &b) || a <= 0 || b <= 0) return;
    double da = half_unit(algbw), db = half_unit(busbw);
    double low = (b - db) / (a + da), high = a > da ? (b + db) / (a - da) : INFINITY;
    if (!r->rows++) *r = (struct fr_import_ratio){low, high, 1};
    r->low = fmax(r->low, low);
    r->high = fmin(r->high, high);
}

/*      busbw / algbw = 2 (n-1)/n of an all-reduce, (n-1)/n where each sends to all      (nccl-tests, PERFORMANCE.md) */
bool fr_import_ratio_ranks(const struct fr_import_ratio *r, fr_op op, double *low,
                           double *high) {
    double most = fr_op_bus_shares[op];
    static const double slack = 1e-6;
    if (most == 0 || r->rows == 0 || r->low > r->high) return false;
    *low = r->low < most ? most / (most - r->low) * (1 - slack) : INFINITY;
    *high = r->high < most ? most / (most - r->high) * (1 + slack) : INFINITY;
    return isfinite(*low);
}

/* ---- rows --------------------------------------------------------------------------------------- */

/* Rows of a run are printed by one process. */
static fr_status one_printer(struct fr_import *in, long line, struct fr_error *err) {
    struct fr_log_tag tag = fr_log_text_tag(in->cleaned, line);
    bool rank = tag.rank >= 0 && in->printer.rank >= 0 && tag.rank != in->printer.rank,
         host = tag.host >= 0 && in->printer.host >= 0 && tag.host != in->printer.host;
    if (in->n_rows == 0) in->printer = tag;
    if (in->n_rows == 0 || (!rank && !host)) return FR_OK;
    return fr_import_refuse(in, line, err,
                            "rows of results come from several processes (%s %" PRId64
                            " and %" PRId64 "): each printed a table of its own, as a build "
                            "without MPI does; keep the lines of one and give --ranks N",
                            rank ? "ranks" : "hosts",
                            rank ? in->printer.rank : in->printer.host,
                            rank ? tag.rank : tag.host);
}

static void widen(struct fr_import *in, const struct fr_import_block *block, int64_t per_node) {
    if (block->n_ranks <= in->largest) return;
    in->largest = block->n_ranks;
    in->source.n_ranks = block->n_ranks;
    in->source.nodes = block->nodes;
    in->source.ranks_per_node = per_node;
}

fr_status fr_import_add(struct fr_import *in, long line, const struct fr_import_block *block,
                        const struct fr_row *row, struct fr_error *err) {
    bool of_one =
        row->per_rank && (block->op == FR_OP_ALL_GATHER || block->op == FR_OP_ALL_TO_ALL ||
                          block->op == FR_OP_SCATTER || block->op == FR_OP_GATHER);
    int64_t nodes = block->nodes ? block->nodes : 1;
    int64_t per_node = (block->n_ranks + nodes - 1) / nodes;
    struct fr_sample_collective sample = {
        .op = block->op,
        .level = nodes > 1 ? FR_SAMPLE_SYSTEM : FR_SAMPLE_NODE,
        .n_ranks = block->n_ranks,
        .n_nodes = block->nodes,
        .n_groups = 1,
        .size_B = row->size_B * (of_one ? (double)block->n_ranks : 1),
        .launch = block->launch,
        .rep = row->rep,
        .time_s = row->time_s,
        .source = (int)in->samples->n_source + 1,
        .pattern = block->pattern,
        .in_place = row->in_place,
        .failed = row->failed,
    };
    if (sample.size_B < 0 || sample.size_B > FR_SAMPLE_SIZE_MAX_B)
        return fr_import_refuse(in, line, err, "a message of %g B is none", sample.size_B);
    if (sample.time_s < 0 || sample.time_s > FR_SAMPLE_TIME_MAX_S)
        return fr_import_refuse(in, line, err, "a time of %g s is none", sample.time_s);
    if (sample.time_s < FR_SAMPLE_TIME_MIN_S) {
        fr_import_note(in, line, "a time of 0 is below the clock; row left out");
        return FR_OK;
    }
    FR_TRY(one_printer(in, line, err));
    widen(in, block, per_node);
    in->n_rows++;
    return fr_samples_add_collective(in->samples, &sample);
}

/* Length of the UTF-8 sequence at @p at, 0 when it is none (RFC 3629; overlong forms and
 * surrogates of the three-byte range are left to '?', too). */
static int sequence_length(const unsigned char *at) {
    int length = at[0] >= 0xC2 && at[0] <= 0xDF   ? 2
                 : at[0] >= 0xE1 && at[0] <= 0xEC ? 3
                 : at[0] >= 0xF1 && at[0] <= 0xF3 ? 4
                                                  : 0;
    for (int i = 1; i < length; i++)
        if ((at[i] & 0xC0) != 0x80) return 0;
    return length;
}

/* A log may have any bytes, or be cut in the middle of a letter; samples are JSON. */
static void clean(char *text) {
    for (unsigned char *at = (unsigned char *)text; *at;) {
        int length = sequence_length(at);
        if (*at < 0x20 || *at == 0x7F || (*at >= 0x80 && length == 0)) *at = '?';
        at += length > 0 ? length : 1;
    }
}

void fr_import_clean(struct fr_sample_source *s) {
    char *const texts[] = {s->file,    s->tool,    s->tool_version, s->system, s->device,
                           s->network, s->library, s->setup,        s->dtype,  s->statistic};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) clean(texts[i]);
}
