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

struct fr_lines fr_lines_begin(const struct fr_import *in) {
    return (struct fr_lines){.at = in->text, .stop = in->text + in->length};
}

bool fr_lines_next(struct fr_lines *lines, struct fr_words *words) {
    words->count = 0;
    words->cut = false;
    if (lines->at >= lines->stop) return false;
    const char *newline = memchr(lines->at, '\n', (size_t)(lines->stop - lines->at));
    const char *from = lines->at, *to = newline ? newline : lines->stop;
    lines->at = newline ? newline + 1 : lines->stop;
    lines->last = !newline;
    lines->number++;
    while (from < to && isspace((unsigned char)*from)) from++;
    while (to > from && isspace((unsigned char)to[-1])) to--;
    size_t length = (size_t)(to - from);
    words->cut = length >= sizeof words->text;
    if (words->cut) length = sizeof words->text - 1;
    memcpy(words->text, from, length);
    words->text[length] = '\0';
    memcpy(words->room, words->text, length + 1);
    for (char *at = words->room; *at;) {
        while (isspace((unsigned char)*at)) *at++ = '\0';
        if (!*at) break;
        if (words->count == FR_WORDS_MAX) {
            words->cut = true;
            break;
        }
        words->word[words->count++] = at;
        while (*at && !isspace((unsigned char)*at)) at++;
    }
    return true;
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

/* The number of an option that is this word ("-N2", "--nodes=2") or the next ("-N 2"). */
static int64_t option_value(const struct fr_words *words, int i, const char *option) {
    size_t length = strlen(option);
    const char *word = words->word[i], *value = NULL;
    int64_t number = 0;
    if (strncmp(word, option, length) != 0) return 0;
    if (word[length] == '=')
        value = word + length + 1;
    else if (word[length] == '\0' && i + 1 < words->count)
        value = words->word[i + 1];
    else if (option[1] != '-' && option[2] == '\0')
        value = word + length;
    return value && fr_word_integer(value, &number) && number <= RANKS_MAX ? number : 0;
}

void fr_import_command(const struct fr_words *words, struct fr_import_options *found) {
    static const char *const ranks[] = {"-np", "-n", "--ntasks", NULL};
    static const char *const nodes[] = {"-N", "--nodes", NULL};
    static const char *const per_node[] = {"--ntasks-per-node", "-ppn", "--npernode", NULL};
    struct fr_import_options said = {0};
    bool launcher = false;
    for (int i = 0; i < words->count; i++) {
        const char *word = words->word[i], *base = strrchr(word, '/');
        base = base ? base + 1 : word;
        launcher = launcher || !strncmp(base, "mpirun", 6) || !strncmp(base, "mpiexec", 7) ||
                   !strcmp(base, "srun") || !strcmp(base, "aprun");
        if (!launcher) continue;
        if (strstr(base, "_perf") || strncmp(base, "osu_", 4) == 0) break; /* its own options */
        for (int k = 0; ranks[k]; k++)
            if (!said.n_ranks) said.n_ranks = option_value(words, i, ranks[k]);
        for (int k = 0; nodes[k]; k++)
            if (!said.nodes) said.nodes = option_value(words, i, nodes[k]);
        for (int k = 0; per_node[k]; k++)
            if (!said.ranks_per_node) said.ranks_per_node = option_value(words, i, per_node[k]);
    }
    if (!launcher) return;
    if (!said.n_ranks && said.nodes && said.ranks_per_node)
        said.n_ranks = said.nodes * said.ranks_per_node;
    /* srun -N2 alone starts a task a node. */
    if (!said.n_ranks && said.nodes) said.n_ranks = said.nodes;
    if (said.n_ranks) *found = said;
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

/* The first of the sources that says a number; two that disagree are refused. */
static fr_status settle(struct fr_import *in, long line, const char *what, int64_t said,
                        int64_t given, int64_t beside, int64_t command, int64_t *out,
                        struct fr_error *err) {
    if (said && given && said != given)
        return fr_import_refuse(in, line, err,
                                "the text says %" PRId64 " %s, the command line %" PRId64, said,
                                what, given);
    *out = said ? said : given ? given : beside ? beside : command;
    return FR_OK;
}

fr_status fr_import_place(struct fr_import *in, long line, const struct fr_import_options *said,
                          const struct fr_import_options *command,
                          struct fr_import_block *block, struct fr_error *err) {
    const struct fr_import_options *given = &in->given, *beside = &in->beside;
    int64_t per_node = 0;
    FR_TRY(settle(in, line, "ranks", said->n_ranks, given->n_ranks, beside->n_ranks,
                  command->n_ranks, &block->n_ranks, err));
    if (block->n_ranks == 0)
        return fr_import_refuse(in, line, err,
                                "the text does not say how many ranks took part; give --ranks "
                                "N, or \"ranks\" in a .json file beside it");
    if (block->n_ranks < 2 || block->n_ranks > RANKS_MAX)
        return fr_import_refuse(
            in, line, err, "%" PRId64 " ranks; a collective needs 2 or more", block->n_ranks);
    per_node = said->ranks_per_node     ? said->ranks_per_node
               : given->ranks_per_node  ? given->ranks_per_node
               : beside->ranks_per_node ? beside->ranks_per_node
                                        : command->ranks_per_node;
    FR_TRY(settle(in, line, "nodes", said->nodes, given->nodes, 0, 0, &block->nodes, err));
    if (block->nodes == 0 && per_node)
        block->nodes = (block->n_ranks + per_node - 1) / per_node;
    if (block->nodes == 0) block->nodes = beside->nodes ? beside->nodes : command->nodes;
    if (block->nodes > block->n_ranks) block->nodes = block->n_ranks;
    if (block->nodes == 0 && !in->nodes_assumed)
        fr_import_note(in, line,
                       "nobody says how many nodes the %" PRId64
                       " ranks were on; taken as one (give --nodes or --ranks-per-node)",
                       block->n_ranks);
    in->nodes_assumed = in->nodes_assumed || block->nodes == 0;
    return FR_OK;
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

/* What a log holds is any bytes, or was cut in the middle of a letter; samples are JSON. */
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
