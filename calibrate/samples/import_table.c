#include "calibrate/samples/import_table.h"

#include <stdio.h>
#include <string.h>

#include "base/csv.h"

bool fr_import_table_header(struct fr_import_table *table, const struct fr_words *words,
                            const char *const *times) {
    struct fr_import_table t = {0, -1, -1, -1, -1, -1, -1, -1};
    for (int i = 0; i < words->count; i++) {
        char word[64];
        const char *unit =
            i + 1 < words->count && *words->word[i + 1] == '(' ? words->word[i + 1] : "";
        int at = t.columns++;
        snprintf(word, sizeof word, "%.30s%.30s", words->word[i], unit); /* "size (B)" */
        i += *unit != '\0';
        if (strncmp(word, "size(B", 6) == 0 || strncmp(word, "size(b", 6) == 0) t.size = at;
        if (strncmp(word, "algbw", 5) == 0) t.algbw = at;
        if (strncmp(word, "busbw", 5) == 0) t.busbw = at;
        if (strcmp(word, "type") == 0) t.type = at;
        if (strcmp(word, "scope") == 0) t.scope = at;
        if (strncmp(word, "count", 5) == 0) t.count = at;
        for (int k = 0; times[k] && t.time < 0; k++)
            if (strncmp(word, times[k], strlen(times[k])) == 0) t.time = at;
    }
    if (t.size != 0 || t.time < 0) return false;
    *table = t;
    return true;
}

bool fr_import_table_row(const struct fr_import_table *table, const struct fr_words *words,
                         int64_t *size_B, double *time_us) {
    return table->columns > 0 && words->count == table->columns &&
           fr_word_integer(words->word[table->size], size_B) &&
           fr_word_number(words->word[table->time], time_us) && *time_us >= 0;
}

void fr_import_table_ratio(const struct fr_import_table *table, const struct fr_lines *lines,
                           const struct fr_words *row, struct fr_import_ratio *ratio) {
    struct fr_lines ahead = *lines;
    struct fr_words words;
    int64_t size_B;
    double time_us;
    if (table->algbw < 0 || table->busbw < 0) return;
    fr_import_ratio_add(ratio, row->word[table->algbw], row->word[table->busbw]);
    while (fr_lines_next(&ahead, &words)) {
        if (words.count > 0 && strncmp(words.word[0], "size", 4) == 0) break;
        if (fr_import_table_row(table, &words, &size_B, &time_us))
            fr_import_ratio_add(ratio, words.word[table->algbw], words.word[table->busbw]);
    }
}

/* ---- tables of other signs ---------------------------------------------------------------------- */

/* The separator of the columns of the header; ' ': blanks. */
static char sign_of(const char *header) {
    size_t n = strcspn(header, "\r\n");
    if (*header == '|') return '|';
    for (const char *sign = ",\t;"; *sign; sign++)
        if (memchr(header, *sign, n)) return *sign;
    return ' ';
}

/* A cell without blanks at its ends. */
static void put_cell(struct fr_text *csv, const char *from, const char *to) {
    char cell[256];
    while (from < to && strchr(" \t\r", *from)) from++;
    while (to > from && strchr(" \t\r", to[-1])) to--;
    snprintf(cell, sizeof cell, "%.*s", (int)(to - from < 255 ? to - from : 255), from);
    fr_csv_put(csv, cell);
}

static void put_line(struct fr_text *csv, const char *at, const char *end, char sign) {
    static const char rule[] = "|-: \t\r";
    char stop[] = {sign, '\t', '\0'};
    if (sign != ' ') stop[1] = '\0';
    while (at < end && strchr(" \r", *at)) at++;
    while (end > at && strchr(" \r", end[-1])) end--;
    if (strspn(at, rule) >= (size_t)(end - at)) return; /* empty, or the rule below a header */
    if (sign == '|' && *at == '|') at++;
    if (sign == '|' && end > at && end[-1] == '|') end--;
    for (bool first = true; at <= end; first = false) {
        size_t n = strcspn(at, stop);
        const char *to = n < (size_t)(end - at) ? at + n : end;
        if (!first) fr_text_addf(csv, ",");
        put_cell(csv, at, to);
        at = to + 1;
        while (sign == ' ' && at < end && strchr(stop, *at)) at++;
    }
}

void fr_import_as_csv(const struct fr_import *in, struct fr_text *csv) {
    const char *stop = in->text + in->length, *header = in->text + strspn(in->text, " \t\r\n");
    char sign = sign_of(header);
    if (sign == ',') {
        fr_text_add(csv, in->text, in->length);
        return;
    }
    for (const char *at = in->text; at < stop;) {
        const char *end = memchr(at, '\n', (size_t)(stop - at));
        put_line(csv, at, end ? end : stop, sign);
        fr_text_addf(csv, "\n");
        at = end ? end + 1 : stop;
    }
}
