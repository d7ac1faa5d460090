/* A recipe in Python: "cfg.model.tensor_model_parallel_size = 4", or an argument of a call, "micro_batch_size=1,". */
#include <ctype.h>
#include <string.h>

#include "answer/trainer/settings.h"

static bool of_name(char c) { return isalnum((unsigned char)c) || c == '_' || c == '.'; }

/* Length of the name that a line sets, and where its value stands. */
static size_t split(const char *line, size_t n, const char **name, const char **value) {
    size_t from = 0, end;
    while (from < n && isspace((unsigned char)line[from])) from++;
    for (end = from; end < n && of_name(line[end]);) end++;
    size_t at = end;
    while (at < n && line[at] == ' ') at++;
    if (at < n && line[at] == ':') /* with a type: "tensor_model_parallel_size: int = 4" */
        while (at < n && line[at] != '=') at++;
    if (end == from || at + 1 >= n || line[at] != '=' || line[at + 1] == '=') return 0;
    *name = line + from;
    *value = line + at + 1;
    return isalpha((unsigned char)**name) ? end - from : 0;
}

/* Up to the comma that ends an argument, or a comment. */
static size_t value_length(const char *value, size_t n) {
    int depth = 0;
    for (size_t i = 0; i < n; i++) {
        depth += strchr("([{", value[i]) && value[i] ? 1 : 0;
        depth -= strchr(")]}", value[i]) && value[i] ? 1 : 0;
        if (depth < 0 || (depth == 0 && (value[i] == ',' || value[i] == '#'))) return i;
    }
    return n;
}

static void read(const char *text, size_t length, struct fr_settings *s) {
    const char *line, *name, *value;
    size_t n;
    int number = 0;
    for (size_t at = 0; fr_settings_line(text, length, &at, &line, &n);) {
        number++;
        size_t of = split(line, n, &name, &value);
        if (of)
            fr_settings_add(s, name, of, value, value_length(value, n - (size_t)(value - line)),
                            number);
    }
}

static bool knows(const char *text, size_t length) {
    const char *line, *name, *value;
    size_t n;
    int found = 0;
    for (size_t at = 0; found < 2 && fr_settings_line(text, length, &at, &line, &n);)
        found += split(line, n, &name, &value) > 0;
    return found == 2;
}

const struct fr_syntax fr_syntax_assignments = {
    .name = "assignments of Python", .knows = knows, .read = read};
