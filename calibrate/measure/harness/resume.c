/* Going on with a file: is this the machine it was measured on, and what is done already?
 *
 * A sample belongs to the point whose head its line begins with, byte for byte, since the same
 * code wrote it; the version is part of what must agree. */
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/digest.h"
#include "base/file.h"
#include "base/journal/journal.h"
#include "base/sort.h"
#include "calibrate/measure/harness/visits.h"

#define TEXT(member)                                                                           \
    { #member, offsetof(struct fr_provenance, member), true }
#define NUMBER(member)                                                                         \
    { #member, offsetof(struct fr_provenance, member), false }

/* Keys that must agree.  Not the date, the free memory, or the seed of the order. */
static const struct {
    const char *name;
    size_t at;
    bool text;
} fields[] = {TEXT(version),
              NUMBER(ranks),
              NUMBER(ranks_per_node),
              NUMBER(nodes),
              TEXT(hosts),
              TEXT(host_set),
              TEXT(cpu),
              NUMBER(cores),
              TEXT(kernel),
              TEXT(mpi),
              TEXT(blas),
              TEXT(blas_core),
              TEXT(pinning),
              TEXT(device),
              TEXT(device_driver),
              TEXT(device_libraries)};

static fr_status compare(const struct fr_bench *bench, const struct fr_provenance *then,
                         struct fr_error *err) {
    const struct fr_provenance *now = &bench->provenance;
    const char *path = bench->options.samples;
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        const char *a = (const char *)then + fields[i].at,
                   *b = (const char *)now + fields[i].at;
        if (fields[i].text) {
            if (strcmp(a, b) != 0)
                return fr_fail(err, FR_ERR_INPUT, path,
                               "cannot be resumed: the environment has changed: %s was "
                               "\"%.120s\", is \"%.120s\"; measure into another file",
                               fields[i].name, a, b);
            continue;
        }
        int64_t x, y;
        memcpy(&x, a, sizeof x);
        memcpy(&y, b, sizeof y);
        if (x != y)
            return fr_fail(err, FR_ERR_INPUT, path,
                           "cannot be resumed: the environment has changed: %s was %lld, is "
                           "%lld; measure into another file",
                           fields[i].name, (long long)x, (long long)y);
    }
    if (then->oversubscribed != now->oversubscribed || then->simulated != now->simulated)
        return fr_fail(
            err, FR_ERR_INPUT, path,
            "cannot be resumed: the environment has changed: it was%s oversubscribed "
            "and%s simulated; measure into another file",
            then->oversubscribed ? "" : " not", then->simulated ? "" : " not");
    return FR_OK;
}

uint64_t fr_resume_question(const struct fr_bench *bench) {
    const char *at = (const char *)&bench->provenance;
    uint64_t hash = FR_DIGEST_START;
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        const char *field = at + fields[i].at;
        hash = fr_digest_bytes(hash, field, fields[i].text ? strlen(field) : sizeof(int64_t));
    }
    return hash;
}

static bool ended(const struct fr_samples *samples, int64_t launch) {
    for (size_t i = 0; i < samples->n_end; i++)
        if (samples->end[i].launch == launch && samples->end[i].reason != FR_END_SIGNAL)
            return true;
    return false;
}

/* A killed writer may have left half a line; what comes next must begin a line of its own. */
static size_t whole_lines(const char *data, size_t length) {
    while (length > 0 && data[length - 1] != '\n') length--;
    return length;
}

static fr_status cut_tail(const struct fr_bench *bench, size_t whole, size_t length,
                          struct fr_error *err) {
    if (whole == length || ftruncate(bench->fd, (off_t)whole) == 0) return FR_OK;
    return fr_fail(err, FR_ERR_IO, bench->options.samples, "cannot be cut to whole lines: %s",
                   strerror(errno));
}

fr_status fr_resume_check(struct fr_bench *bench, struct fr_error *err) {
    const char *path = bench->options.samples;
    struct fr_samples samples = {0};
    struct fr_journal journal;
    char *data = NULL;
    size_t length = 0;
    FR_TRY(fr_file_read(path, FR_FILE_MAX_B, &data, &length, err));
    size_t whole_B = whole_lines(data, length);
    fr_status status = fr_journal_check(data, length, path, &journal, err);
    if (status == FR_OK)
        status = fr_samples_parse(journal.text, journal.length, path, &samples, err);
    if (status == FR_OK) status = compare(bench, &samples.provenance, err);
    if (status == FR_OK) status = cut_tail(bench, whole_B, length, err);
    bench->launch = 0;
    while (bench->launch < bench->options.n_launches && ended(&samples, bench->launch))
        bench->launch++;
    fr_samples_free(&samples);
    fr_journal_free(&journal);
    return status;
}

/* Heads of all points, sorted, to find a line's point. */
struct known {
    char *text;
    size_t length;
    int point;
};

static int by_text(const void *a, const void *b) {
    const struct known *x = a, *y = b;
    size_t shorter = x->length < y->length ? x->length : y->length;
    int order = memcmp(x->text, y->text, shorter);
    return order ? order : FR_ORDER(x->length, y->length);
}

static struct known *make_heads(const struct fr_bench *bench) {
    struct known *heads = fr_calloc((size_t)bench->n_points + 1, sizeof *heads);
    for (int i = 0; heads && i < bench->n_points; i++) {
        struct fr_text text = {0};
        bench->points[i].row->head(bench, &bench->points[i], &text);
        heads[i] = (struct known){.text = text.data, .length = text.length, .point = i};
    }
    if (heads) fr_sort_items(heads, (size_t)bench->n_points, sizeof *heads, by_text);
    return heads;
}

/* "..., "launch": 1, "rep": 4, "time_s": 1e-5}" */
static fr_status load_line(struct fr_visits *s, const struct known *heads, char *line,
                           size_t length) {
    static const char mark[] = ", \"launch\": ", number[] = "\"rep\": ",
                      time[] = "\"time_s\": ";
    char *cut = NULL;
    for (char *at = line; (at = strstr(at, mark)) && at < line + length; at++) cut = at;
    if (!cut) return FR_OK;
    const struct known wanted = {.text = line, .length = (size_t)(cut - line)};
    const struct known *found =
        bsearch(&wanted, heads, (size_t)s->bench->n_points, sizeof *heads, by_text);
    const char *value = strstr(cut, time);
    if (!found || !value || atoi(cut + sizeof mark - 1) != s->bench->launch) return FR_OK;
    const char *rep = strstr(cut, number);
    return fr_tally_add(&s->tally[found->point], rep ? atoi(rep + sizeof number - 1) : 0,
                        strtod(value + sizeof time - 1, NULL));
}

static fr_status load_lines(struct fr_visits *s, const struct known *heads, char *data) {
    for (char *line = data, *end; (end = strchr(line, '\n')); line = end + 1) {
        *end = '\0';
        FR_TRY(load_line(s, heads, line, (size_t)(end - line)));
        *end = '\n';
    }
    return FR_OK;
}

/* Points whose sampling ended in this launch. */
static void load_done(struct fr_visits *s, const struct known *heads,
                      const struct fr_samples *samples) {
    char key[sizeof samples->point->key];
    for (int i = 0; i < s->bench->n_points; i++) {
        struct fr_tally *tally = &s->tally[heads[i].point];
        if (tally->done || tally->n == 0) continue;
        fr_sample_key(heads[i].text, key, sizeof key);
        for (size_t j = 0; j < samples->n_point && !tally->done; j++) {
            const struct fr_sample_point *point = &samples->point[j];
            if (point->launch != s->bench->launch || strcmp(point->key, key) != 0) continue;
            tally->done = true;
            s->n_done++;
            s->n_unconverged += point->state == FR_POINT_UNCONVERGED;
        }
    }
}

/* Probes of this launch go on counting where they were. */
static void load_probes(struct fr_visits *s, const struct fr_samples *samples) {
    for (size_t i = 0; i < samples->n_probe; i++)
        if (samples->probe[i].launch == s->bench->launch &&
            samples->probe[i].rep >= s->n_probes)
            s->n_probes = (int)samples->probe[i].rep + 1;
}

fr_status fr_resume_load(struct fr_visits *s, struct fr_error *err) {
    const char *path = s->bench->options.samples;
    struct fr_samples samples = {0};
    struct known *heads = make_heads(s->bench);
    struct fr_journal journal = {0};
    fr_status status = heads ? FR_OK : FR_ERR_NOMEM;
    if (status == FR_OK) status = fr_journal_read(path, FR_FILE_MAX_B, &journal, err);
    if (status == FR_OK)
        status = fr_samples_parse(journal.text, journal.length, path, &samples, err);
    if (status == FR_OK) status = load_lines(s, heads, journal.text);
    if (status == FR_OK) {
        load_done(s, heads, &samples);
        load_probes(s, &samples);
    }
    if (status == FR_ERR_NOMEM) fr_fail(err, status, path, "does not fit in memory");
    for (int i = 0; heads && i < s->bench->n_points; i++) free(heads[i].text);
    free(heads);
    fr_journal_free(&journal);
    fr_samples_free(&samples);
    return status;
}
