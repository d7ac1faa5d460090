/* Lines that verify, and those that are dropped. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/file.h"
#include "base/file/collect.h"
#include "base/journal/journal.h"
#include "base/journal/seal.h"

enum { PLACE_B = 320, REPORTS_MAX = 8 };

/* ---- messages ------------------------------------------------------------------------------- */

static fr_journal_message_fn *stated;

void fr_journal_on_message(fr_journal_message_fn *fn) { stated = fn; }

void fr_journal_say(const char *place, const char *why) {
    fr_note("forerun: %s %s\n", place, why);
}

static const char *place_of(const char *name, int number, char place[PLACE_B]) {
    snprintf(place, PLACE_B, "%.256s: line %d", name, number);
    return place;
}

/* ---- digests that were seen ----------------------------------------------------------------- */

/* Open addressing; a digest of 0 is taken for none. */
struct seen {
    uint64_t *digest;
    size_t n, capacity; /* a power of two */
};

static uint64_t *slot(const struct seen *seen, uint64_t digest) {
    size_t at = (size_t)digest & (seen->capacity - 1);
    while (seen->digest[at] && seen->digest[at] != digest) at = (at + 1) & (seen->capacity - 1);
    return &seen->digest[at];
}

static bool grow(struct seen *seen) {
    struct seen more = {.n = seen->n, .capacity = seen->capacity ? 2 * seen->capacity : 1024};
    more.digest = fr_calloc(more.capacity, sizeof *more.digest);
    if (!more.digest) return false;
    for (size_t i = 0; i < seen->capacity; i++)
        if (seen->digest[i]) *slot(&more, seen->digest[i]) = seen->digest[i];
    free(seen->digest);
    *seen = more;
    return true;
}

/* @return false without memory */
static bool note(struct seen *seen, uint64_t digest, bool *twice) {
    if (2 * seen->n >= seen->capacity && !grow(seen)) return false;
    uint64_t *at = slot(seen, digest);
    *twice = digest && *at == digest;
    if (!*twice) seen->n++;
    *at = digest;
    return true;
}

/* ---- lines ---------------------------------------------------------------------------------- */

/* Lines move towards the beginning of the text that they stand in. */
struct checking {
    struct fr_journal *journal;
    const char *name;
    struct seen seen;
    int number;
    size_t put_B; /* what has been put back */
};

static void put(struct checking *c, const char *bytes, size_t n) {
    memmove(c->journal->text + c->put_B, bytes, n);
    c->put_B += n;
}

static void drop(struct checking *c, const char *why) {
    char place[PLACE_B];
    c->journal->n_dropped++;
    if (!stated || c->journal->n_dropped > REPORTS_MAX) return;
    stated(place_of(c->name, c->number, place), why);
}

static void tell_rest(const struct checking *c) {
    char why[80];
    int more = c->journal->n_dropped - REPORTS_MAX;
    if (!stated || more <= 0) return;
    snprintf(why, sizeof why, "and %d more line%s: left out too", more, more == 1 ? "" : "s");
    stated(c->name, why);
}

static fr_status check_header(struct checking *c, const char *line, size_t length, bool ended,
                              struct fr_error *err) {
    char place[PLACE_B];
    size_t body_B = 0;
    uint64_t digest = 0;
    c->journal->sealed = fr_seal_is_stated(line, length);
    if (!c->journal->sealed) {
        put(c, line, length + ended);
        return FR_OK;
    }
    if (fr_seal_check(line, length, &body_B, &digest) != FR_SEAL_GOOD || !ended)
        return fr_fail(
            err, FR_ERR_INPUT, place_of(c->name, c->number, place),
            "is not what was written: its digest differs, so nothing is known of the "
            "lines that follow; name another file, or begin it anew");
    put(c, line, fr_seal_question(line, body_B, &c->journal->question));
    put(c, "}\n", 2);
    bool twice = false;
    return note(&c->seen, digest, &twice)
               ? FR_OK
               : fr_fail(err, FR_ERR_NOMEM, c->name, "does not fit in memory");
}

/* @return false without memory */
static bool check_line(struct checking *c, const char *line, size_t length, bool ended) {
    size_t body_B = 0;
    uint64_t digest = 0;
    bool twice = false;
    fr_seal seal = fr_seal_check(line, length, &body_B, &digest);
    if (!ended && c->journal->sealed)
        drop(c, "was cut when its writer ended: it is left out");
    else if (length == 0 && c->journal->sealed)
        drop(c, "is empty: it is left out");
    else if (seal == FR_SEAL_BROKEN || (seal == FR_SEAL_NONE && c->journal->sealed))
        drop(c, "is not what was written, its digest differs: it is left out");
    else if (seal == FR_SEAL_GOOD) {
        if (!note(&c->seen, digest, &twice)) return false;
        if (twice)
            drop(c, "stands there already: it is left out");
        else {
            put(c, line, body_B);
            put(c, "}", 1);
        }
    } else
        put(c, line, length);
    if (ended) put(c, "\n", 1);
    return true;
}

static fr_status check_lines(struct checking *c, struct fr_error *err) {
    const char *at = c->journal->text, *stop = at + c->journal->length, *next;
    bool header = true;
    for (; at < stop; at = next) {
        const char *end = memchr(at, '\n', (size_t)(stop - at));
        size_t length = (size_t)((end ? end : stop) - at);
        next = end ? end + 1 : stop;
        c->number++;
        if (header && length > 0)
            FR_TRY(check_header(c, at, length, end != NULL, err));
        else if (!check_line(c, at, length, end != NULL))
            return fr_fail(err, FR_ERR_NOMEM, c->name, "does not fit in memory");
        header = header && length == 0;
    }
    return FR_OK;
}

fr_status fr_journal_check(char *text, size_t length, const char *name,
                           struct fr_journal *journal, struct fr_error *err) {
    struct checking c = {.journal = journal, .name = name};
    *journal = (struct fr_journal){.text = text, .length = length};
    fr_status status = check_lines(&c, err);
    free(c.seen.digest);
    if (status != FR_OK) return status;
    journal->length = c.put_B;
    journal->text[c.put_B] = '\0';
    tell_rest(&c);
    return FR_OK;
}

fr_status fr_journal_read(const char *path, size_t max_B, struct fr_journal *journal,
                          struct fr_error *err) {
    char *text = NULL;
    size_t length = 0;
    *journal = (struct fr_journal){0};
    FR_TRY(fr_file_read(path, max_B, &text, &length, err));
    return fr_journal_check(text, length, strcmp(path, "-") ? path : "<stdin>", journal, err);
}

void fr_journal_free(struct fr_journal *journal) {
    free(journal->text);
    *journal = (struct fr_journal){0};
}

/* ---- each of them --------------------------------------------------------------------------- */

static fr_status hand_on(struct fr_journal_line *line, fr_journal_line_fn *each, void *context,
                         struct fr_error *err) {
    struct fr_json_document *document = NULL;
    FR_TRY(fr_json_parse(line->text, line->length, line->place, &document, err));
    struct fr_json root = fr_json_root(document);
    line->root = &root;
    fr_status status = each(line, context, err);
    fr_json_free(document);
    return status;
}

fr_status fr_journal_each(const char *text, size_t length, const char *name,
                          fr_journal_line_fn *each, void *context, struct fr_error *err) {
    struct fr_journal_line line = {.text = text};
    bool any = false;
    char place[PLACE_B];
    for (const char *stop = text + length; line.text < stop; line.text += line.length + 1) {
        const char *end = memchr(line.text, '\n', (size_t)(stop - line.text));
        line.length = (size_t)((end ? end : stop) - line.text);
        line.place = place_of(name, ++line.number, place);
        if (!end && !any)
            return fr_fail(
                err, FR_ERR_INPUT, name,
                "is one line without an end: none of forerun's, or cut; name another "
                "file");
        if (!end) break;
        if (line.length == 0) continue;
        FR_TRY(hand_on(&line, each, context, err));
        any = true;
    }
    return FR_OK;
}

fr_status fr_journal_read_each(const char *path, size_t max_B, struct fr_journal *journal,
                               fr_journal_line_fn *each, void *context, struct fr_error *err) {
    FR_TRY(fr_journal_read(path, max_B, journal, err));
    return fr_journal_each(journal->text, journal->length, path, each, context, err);
}

fr_status fr_journal_schema(const struct fr_json *header, const char *schema,
                            struct fr_error *err) {
    struct fr_json node = fr_json_member(header, "schema");
    const char *is = NULL;
    FR_TRY(fr_json_text(&node, &is, err));
    if (strcmp(is, schema) == 0) return FR_OK;
    return fr_json_fail(&node, err, "is \"%.64s\"; this version reads \"%s\"", is, schema);
}
