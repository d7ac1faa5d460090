#include "answer/trainer/here.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

extern const struct fr_syntax fr_syntax_json, fr_syntax_toml, fr_syntax_yaml;

static bool of_word(char c) { return isalnum((unsigned char)c) || c == '_' || c == '-'; }

/* "<<" outside quote marks, which is no "<<<"; NULL: none. */
static const char *mark(const char *line, size_t n) {
    char quote = 0;
    for (size_t i = 0; i + 2 < n; i++) {
        if (quote ? line[i] == quote : line[i] == '"' || line[i] == '\'')
            quote = quote ? 0 : line[i];
        if (quote) continue;
        if (line[i] == '#' && (i == 0 || isspace((unsigned char)line[i - 1]))) return NULL;
        if (line[i] != '<' || line[i + 1] != '<') continue;
        if (line[i + 2] != '<' && (i == 0 || line[i - 1] != '<')) return line + i;
        while (i + 1 < n && line[i + 1] == '<') i++;
    }
    return NULL;
}

static bool has_word(const char *line, size_t n, const char *word) {
    const size_t length = strlen(word);
    for (size_t i = 0; i + length <= n; i++)
        if (strncmp(line + i, word, length) == 0 &&
            (i == 0 || strchr(" \t/|(;&", line[i - 1])) &&
            (i + length == n || isspace((unsigned char)line[i + length])))
            return true;
    return false;
}

/* Does a name on the line end so? */
static bool names_file(const char *line, size_t n, const char *ending) {
    const size_t length = strlen(ending);
    for (size_t i = 1; i + length <= n; i++)
        if (strncmp(line + i, ending, length) == 0 && !isspace((unsigned char)line[i - 1]) &&
            (i + length == n || !isalnum((unsigned char)line[i + length])))
            return true;
    return false;
}

static const struct fr_syntax *syntax_of(const char *line, size_t n) {
    if (names_file(line, n, ".json")) return &fr_syntax_json;
    if (names_file(line, n, ".toml")) return &fr_syntax_toml;
    if (names_file(line, n, ".yaml") || names_file(line, n, ".yml")) return &fr_syntax_yaml;
    return NULL;
}

/* A shell reads it, now or later, or a variable takes it. */
static bool is_script(const char *line, size_t n) {
    static const char taken[] = "$(cat";
    for (size_t i = 0; i + sizeof taken - 1 <= n; i++)
        if (strncmp(line + i, taken, sizeof taken - 1) == 0) return true;
    if (has_word(line, n, "read")) return true;
    static const char *const shells[] = {"bash", "sh", "sbatch", "ssh", "pdsh"};
    for (size_t i = 0; i < sizeof shells / sizeof *shells; i++)
        if (has_word(line, n, shells[i])) return true;
    return names_file(line, n, ".sh") || names_file(line, n, ".slurm") ||
           names_file(line, n, ".sbatch");
}

/* Is the line the one that ends it?  Tabs may stand before it, behind <<-. */
static bool is_end(const struct fr_here *here, const char *line, size_t n) {
    while (n && *line == '\t') line++, n--;
    while (n && isspace((unsigned char)line[n - 1])) n--;
    return n == strlen(here->end) && strncmp(line, here->end, n) == 0;
}

static bool ends(const struct fr_here *here, const char *rest, size_t left) {
    const char *line;
    size_t n;
    for (size_t at = 0; fr_settings_line(rest, left, &at, &line, &n);)
        if (is_end(here, line, n)) return true;
    return false;
}

bool fr_here_begin(const char *line, size_t n, int number, const char *rest, size_t left,
                   struct fr_here *here) {
    const char *at = mark(line, n), *stop = line + n;
    *here = (struct fr_here){.line = number + 1, .unended = here->unended};
    if (!at || here->unended == FR_HERE_UNENDED) return false;
    for (at += 2; at < stop && (*at == '-' || isspace((unsigned char)*at));) at++;
    here->literal = at < stop && strchr("'\"\\", *at);
    at += here->literal;
    size_t used = 0;
    while (at < stop && used + 1 < FR_HERE_WORD && of_word(*at)) here->end[used++] = *at++;
    here->syntax = syntax_of(line, n);
    here->lines = !here->syntax && is_script(line, n);
    if (used > 0 && ends(here, rest, left)) return true; /* A << B of arithmetic has no end */
    here->unended += used > 0;
    here->end[0] = '\0';
    return false;
}

bool fr_here_add(struct fr_here *here, const struct fr_shell *shell, const char *line,
                 size_t n) {
    char raw[FR_SHELL_WORD], with[FR_SHELL_WORD];
    if (is_end(here, line, n)) return true;
    if (!here->syntax) return false;
    if (here->literal || n >= sizeof raw) {
        fr_text_add(&here->text, line, n);
    } else {
        snprintf(raw, sizeof raw, "%.*s", (int)n, line);
        fr_shell_expand(shell, raw, with);
        fr_text_add(&here->text, with, strlen(with));
    }
    fr_text_add(&here->text, "\n", 1);
    return false;
}

void fr_here_end(struct fr_here *here, struct fr_settings *s) {
    const int before = s->n;
    if (here->text.failed) s->failed = true;
    if (here->syntax && here->text.data && !here->text.failed) {
        here->syntax->read(here->text.data, here->text.length, s);
        s->documents = s->documents || s->n > before;
    }
    for (int i = before; i < s->n; i++) s->item[i].line += here->line - 1;
    fr_text_free(&here->text);
    *here = (struct fr_here){.unended = here->unended};
}
