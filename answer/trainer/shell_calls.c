#include "answer/trainer/shell_calls.h"

#include <ctype.h>
#include <string.h>

#include "answer/trainer/settings.h"
#include "answer/trainer/shell_state.h"

enum { ARGUMENTS = 9 };

static void skip_blanks(const char **line, size_t *n) {
    while (*n && isspace((unsigned char)**line)) ++*line, --*n;
}

/* The name of "name() {" or "function name {"; @return its length, 0: the line begins no function. */
static size_t function_at(const char *line, size_t n, const char **name) {
    static const char word[] = "function ";
    skip_blanks(&line, &n);
    const bool spelt = n > sizeof word - 1 && strncmp(line, word, sizeof word - 1) == 0;
    if (spelt) line += sizeof word - 1, n -= sizeof word - 1;
    if (spelt) skip_blanks(&line, &n);
    size_t length = 0;
    while (length < n && fr_shell_of_name(line[length])) length++;
    *name = line;
    const bool brackets = length + 1 < n && strncmp(line + length, "()", 2) == 0;
    return brackets || spelt ? length : 0;
}

/* The arguments of a call, from behind the name on. */
static int take_arguments(const char *at, size_t n, char out[ARGUMENTS][FR_SHELL_WORD]) {
    int count = 0;
    while (count < ARGUMENTS) {
        size_t used = 0;
        skip_blanks(&at, &n);
        if (n == 0 || strchr("|&;<>#", *at)) break;
        const char quote = *at == '"' || *at == '\'' ? *at : 0;
        if (quote) at++, n--;
        while (n && (quote ? *at != quote : !isspace((unsigned char)*at) && *at != ';')) {
            if (used + 1 < FR_SHELL_WORD) out[count][used++] = *at;
            at++, n--;
        }
        if (quote && n) at++, n--;
        out[count++][used] = '\0';
    }
    return count;
}

/* The one call, or the same one again.  @return how many arguments, -1: none is to be known */
static int find_call(const char *name, size_t length, const char *text, size_t end,
                     char out[ARGUMENTS][FR_SHELL_WORD]) {
    char other[ARGUMENTS][FR_SHELL_WORD];
    const char *line;
    size_t n;
    int count = -1;
    for (size_t at = 0; fr_settings_line(text, end, &at, &line, &n);) {
        skip_blanks(&line, &n);
        if (n <= length || strncmp(line, name, length) != 0 ||
            !isspace((unsigned char)line[length]))
            continue;
        const int again = take_arguments(line + length, n - length, count < 0 ? out : other);
        if (count >= 0 && again != count) return -1;
        for (int i = 0; count >= 0 && i < count; i++)
            if (strcmp(out[i], other[i]) != 0) return -1;
        count = again;
    }
    return count;
}

void fr_shell_call(struct fr_shell *shell, const char *line, size_t n, const char *text,
                   size_t length) {
    char arguments[ARGUMENTS][FR_SHELL_WORD];
    const char *name;
    const size_t of = function_at(line, n, &name);
    const bool ends = n > 0 && *line == '}';
    for (char number = '1'; (ends || of) && number <= '9'; number++)
        fr_shell_unset(shell, &number, 1);
    if (!of || shell->functions == FUNCTIONS) return;
    shell->functions++;
    for (size_t i = (size_t)(line - text); i + 6 < length && strncmp(text + i, "\n}", 2) != 0;
         i++)
        if (strncmp(text + i, "shift", 5) == 0) return;
    const int count = find_call(name, of, text, length, arguments);
    for (int i = 0; i < count; i++) {
        const char number = (char)('1' + i);
        fr_shell_set(shell, &number, 1, arguments[i]);
    }
}
