/* torchtitan's TOML: [section] lines, and "key = value" below them. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "answer/trainer/settings.h"

static bool of_name(char c) { return isalnum((unsigned char)c) || strchr("_.-", c) != NULL; }

/* "[section]" alone on its line, its length; 0: it is none. */
static size_t section(const char *line, size_t n, const char **name) {
    while (n && isspace((unsigned char)*line)) line++, n--;
    if (!n || *line != '[') return 0;
    while (n && *line == '[') line++, n--;
    *name = line;
    size_t length = 0;
    while (length < n && line[length] && of_name(line[length])) length++;
    size_t end = length;
    while (end < n && line[end] == ']') end++;
    bool closed = end > length;
    while (end < n && isspace((unsigned char)line[end])) end++;
    bool alone = closed && (end == n || line[end] == '#');
    return alone && isalpha((unsigned char)*line) ? length : 0;
}

/* Where a comment begins, or the end. */
static size_t without_comment(const char *value, size_t n) {
    char quote = 0;
    for (size_t i = 0; i < n; i++) {
        if (quote ? value[i] == quote : value[i] == '"' || value[i] == '\'')
            quote = quote ? 0 : value[i];
        else if (!quote && value[i] == '#')
            return i;
    }
    return n;
}

static void read(const char *text, size_t length, struct fr_settings *s) {
    char name[256], inside[128] = "";
    const char *line, *at_name;
    size_t n;
    int number = 0;
    for (size_t at = 0; fr_settings_line(text, length, &at, &line, &n);) {
        const char *equals = memchr(line, '=', n);
        number++;
        size_t of = section(line, n, &at_name);
        if (of) {
            snprintf(inside, sizeof inside, "%.*s", of < 120 ? (int)of : 120, at_name);
            continue;
        }
        if (!equals) continue;
        size_t from = 0, end = (size_t)(equals - line);
        while (from < end && isspace((unsigned char)line[from])) from++;
        while (end > from && isspace((unsigned char)line[end - 1])) end--;
        if (end == from || end - from > 100 || line[from] == '#') continue;
        int used = snprintf(name, sizeof name, "%s%s%.*s", inside, *inside ? "." : "",
                            (int)(end - from), line + from);
        size_t rest = n - (size_t)(equals + 1 - line);
        if (used > 0)
            fr_settings_add(s, name, strlen(name), equals + 1,
                            without_comment(equals + 1, rest), number);
    }
}

static bool knows(const char *text, size_t length) {
    const char *line, *name;
    size_t n;
    for (size_t at = 0; fr_settings_line(text, length, &at, &line, &n);)
        if (n > 2 && section(line, n, &name)) return true;
    return false;
}

const struct fr_syntax fr_syntax_toml = {
    .name = "TOML", .knows = knows, .read = read, .whole = true};
