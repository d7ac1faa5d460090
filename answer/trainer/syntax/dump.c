/* What Megatron-LM, Primus and DeepSpeed print of their arguments: "  micro_batch_size ........ 2", and MaxText of its
 * own: "Config param steps: 10"; whatever stands before the name. */
#include <ctype.h>
#include <string.h>

#include "answer/trainer/settings.h"

static bool of_name(char c) { return isalnum((unsigned char)c) || c == '_'; }

/* MaxText's "Config param name: value". */
static bool split_param(const char *line, size_t length, const char **name, size_t *name_length,
                        const char **value) {
    static const char word[] = "Config param ";
    const size_t n = sizeof word - 1;
    for (size_t i = 0; i + n < length; i++) {
        if (line[i] != 'C' || strncmp(line + i, word, n) != 0) continue;
        size_t end = i + n;
        while (end < length && of_name(line[end])) end++;
        *name = line + i + n;
        *name_length = end - i - n;
        *value = line + end + 1;
        return *name_length && end < length && line[end] == ':';
    }
    return false;
}

/* DeepSpeed's names that leave no room for dots: "[config.py:988:print]   train_micro_batch_size_per_gpu  2". */
static bool split_long(const char *line, size_t length, const char **name, size_t *name_length,
                       const char **value) {
    static const char word[] = ":print]";
    const size_t n = sizeof word - 1;
    for (size_t i = 0; i + n < length; i++) {
        if (line[i] != ':' || strncmp(line + i, word, n) != 0) continue;
        size_t from = i + n, end;
        while (from < length && line[from] == ' ') from++;
        for (end = from; end < length && of_name(line[end]);) end++;
        *name = line + from;
        *name_length = end - from;
        *value = line + end;
        return end > from && end + 2 < length && line[end] == ' ' && line[end + 1] == ' ';
    }
    return false;
}

/* The name and the value of a line; @return whether it is one. */
static bool split(const char *line, size_t length, const char **name, size_t *name_length,
                  const char **value) {
    enum { DOTS = 2 };
    for (size_t i = 1; i + DOTS < length; i++) {
        size_t from = i, dots = i;
        if (line[i] != '.' || line[i - 1] != ' ') continue;
        while (dots < length && line[dots] == '.') dots++;
        if (dots - i < DOTS || (dots < length && line[dots] != ' ')) return false;
        while (from && line[from - 1] == ' ') from--;
        size_t end = from;
        while (from && of_name(line[from - 1])) from--;
        *name = line + from;
        *name_length = end - from;
        *value = line + dots;
        return end > from && isalpha((unsigned char)**name);
    }
    return split_param(line, length, name, name_length, value) ||
           split_long(line, length, name, name_length, value);
}

static void read(const char *text, size_t length, struct fr_settings *s) {
    const char *line, *name, *value;
    size_t n, of = 0;
    int number = 0;
    for (size_t at = 0; fr_settings_line(text, length, &at, &line, &n);) {
        number++;
        if (split(line, n, &name, &of, &value))
            fr_settings_add(s, name, of, value, (size_t)(line + n - value), number);
    }
}

static bool knows(const char *text, size_t length) {
    const char *line, *name, *value;
    size_t n, of = 0;
    int found = 0;
    for (size_t at = 0; found < 2 && fr_settings_line(text, length, &at, &line, &n);)
        found += split(line, n, &name, &of, &value);
    return found == 2;
}

const struct fr_syntax fr_syntax_dump = {
    .name = "printed arguments", .knows = knows, .read = read};
