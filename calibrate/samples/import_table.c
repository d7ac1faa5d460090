#include "calibrate/samples/import_table.h"

#include <string.h>

bool fr_import_table_header(struct fr_import_table *table, const struct fr_words *words,
                            const char *const *times) {
    struct fr_import_table t = {words->count, -1, -1, -1, -1, -1};
    for (int i = 0; i < words->count; i++) {
        const char *word = words->word[i];
        if (strncmp(word, "size(B)", 7) == 0) t.size = i;
        if (strncmp(word, "algbw", 5) == 0) t.algbw = i;
        if (strncmp(word, "busbw", 5) == 0) t.busbw = i;
        if (strcmp(word, "type") == 0) t.type = i;
        for (int k = 0; times[k] && t.time < 0; k++)
            if (strncmp(word, times[k], strlen(times[k])) == 0) t.time = i;
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
