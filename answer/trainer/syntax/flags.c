/* A launch script, or a command line: "--micro-batch-size 2", "model.cp_comm_type=p2p", with the variables that it sets.
 *
 *      TP=8                    a variable;  $TP, ${TP}, ${TP:-4}, $((TP * PP)) are its value where it has one
 *      ARGS=(--swiglu ...)     options inside arrays and strings are read where they stand
 *      #SBATCH --nodes=4       options of the job, called sbatch_nodes
 *      # anything else         a comment
 *
 *  An option's values stand on its line. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "answer/trainer/settings.h"
#include "base/alloc.h"

enum { WORD = 512, VARIABLES = 128, VALUE = 1024 };

struct variables {
    struct {
        char name[64], value[WORD];
    } item[VARIABLES];
    int n;
};

static bool of_variable(char c) { return isalnum((unsigned char)c) || c == '_'; }

static const char *variable(const struct variables *v, const char *name, size_t length) {
    for (int i = v->n; i-- > 0;)
        if (strlen(v->item[i].name) == length && strncmp(v->item[i].name, name, length) == 0)
            return v->item[i].value;
    return NULL;
}

/* Whole numbers and variables with * and / between them, from the left: what scripts compute ranks with. */
static bool product(const struct variables *v, const char *at, const char *end,
                    long long *out) {
    char how = '*';
    *out = 1;
    while (at < end) {
        at += *at == ' ' || *at == '$' || *at == '{' || *at == '}';
        if (at < end && strchr(" ${}", *at)) continue;
        if (at == end) break;
        if (*at == '*' || *at == '/') {
            how = *at++;
            continue;
        }
        size_t n = 0;
        while (at + n < end && of_variable(at[n])) n++;
        if (n == 0) return false;
        const char *text = isdigit((unsigned char)*at) ? at : variable(v, at, n);
        long long value = text ? strtoll(text, NULL, 10) : 0;
        if (value <= 0 || value > 1000000000 || *out > 1000000000) return false;
        *out = how == '*' ? *out * value : *out / value;
        at += n;
    }
    return true;
}

/* One "$..." at @p at; @return how much of the word it is, 0 where it has no value. */
static size_t expand(const struct variables *v, const char *at, char *out, size_t capacity) {
    const char *end, *value = NULL;
    if (strncmp(at, "$((", 3) == 0) {
        long long number;
        end = strstr(at, "))");
        if (!end || !product(v, at + 3, end, &number)) return 0;
        snprintf(out, capacity, "%lld", number);
        return (size_t)(end + 2 - at);
    }
    bool braces = at[1] == '{';
    const char *name = at + 1 + braces;
    size_t n = 0;
    while (of_variable(name[n])) n++;
    if (n == 0) return 0;
    value = variable(v, name, n);
    end = name + n;
    if (braces) {
        const char *close = strchr(end, '}');
        if (!close) return 0;
        if (!value && (strncmp(end, ":-", 2) == 0 || *end == '-')) {
            const char *usual = end + (*end == ':' ? 2 : 1);
            snprintf(out, capacity, "%.*s", (int)(close - usual), usual);
            return (size_t)(close + 1 - at);
        }
        end = close + 1;
    }
    if (!value) return 0;
    snprintf(out, capacity, "%s", value);
    return (size_t)(end - at);
}

/* @p word with its variables' values; a variable without one stays. */
static void put_values(const struct variables *v, const char *word, char out[WORD]) {
    size_t used = 0;
    while (*word && used + 1 < WORD) {
        char value[WORD] = "";
        size_t n = *word == '$' ? expand(v, word, value, sizeof value) : 0;
        if (!n) {
            out[used++] = *word++;
            continue;
        }
        for (const char *c = value; *c && used + 1 < WORD; c++) out[used++] = *c;
        word += n;
    }
    out[used] = '\0';
}

/* The next word of a line: blanks, quote marks, brackets and backslashes are between words, but inside $(( )), ${ } and a
 * value's own brackets. */
static size_t next_word(const char *line, size_t n, size_t *at, char out[WORD]) {
    size_t used = 0;
    int depth = 0;
    while (*at < n && (isspace((unsigned char)line[*at]) || strchr("\"'()\\;`", line[*at])))
        ++*at;
    for (; *at < n && used + 1 < WORD; ++*at) {
        char c = line[*at];
        bool opens = strchr("({[", c) != NULL && c, closes = strchr(")}]", c) != NULL && c;
        if (closes && depth == 0 && c == ')') break;
        if (depth == 0 && (isspace((unsigned char)c) || c == '"' || c == '\'' || c == ';'))
            break;
        if (opens) depth++;
        if (closes && depth) depth--;
        out[used++] = c;
    }
    while (used && out[used - 1] == '\\') used--;
    out[used] = '\0';
    return used;
}

/* "NAME=value" of the shell: capitals, digits and underscores before the sign. */
static bool is_variable(const char *word, size_t *name) {
    size_t n = 0;
    while (isupper((unsigned char)word[n]) || isdigit((unsigned char)word[n]) || word[n] == '_')
        n++;
    *name = n;
    return n && n < 60 && word[n] == '=' && !isdigit((unsigned char)*word);
}

static void set_variable(struct variables *v, const char *word, size_t name) {
    char value[WORD];
    if (v->n == VARIABLES) return;
    put_values(v, word + name + 1, value);
    snprintf(v->item[v->n].name, sizeof v->item[0].name, "%.*s", (int)name, word);
    snprintf(v->item[v->n].value, sizeof v->item[0].value, "%s", value);
    if (*value) v->n++;
}

/* A word "NAME=" whose value stands in quote marks behind it. */
static void quoted_value(const char *line, size_t n, size_t *at, char word[WORD]) {
    size_t used = strlen(word);
    if (!used || word[used - 1] != '=' || *at >= n || !strchr("\"'", line[*at])) return;
    char quote = line[*at];
    size_t from = *at + 1, end = from;
    while (end < n && line[end] != quote) end++;
    bool options = end - from >= 2 && line[from] == '-' && line[from + 1] == '-';
    if (options || memchr(line + from, ' ', end - from) || end == n) return;
    snprintf(word + used, WORD - used, "%.*s", (int)(end - from), line + from);
    *at = end + 1;
}

struct option {
    char name[WORD], value[VALUE];
    size_t used;
    int line;
    bool open;
};

static void end_option(struct option *o, struct fr_settings *s) {
    if (o->open)
        fr_settings_add(s, o->name, strlen(o->name), o->used ? o->value : "True",
                        o->used ? o->used : 4, o->line);
    *o = (struct option){.open = false};
}

static void add_value(struct option *o, const char *word) {
    size_t n = strlen(word);
    if (o->used + n + 2 > sizeof o->value) return;
    o->used += (size_t)snprintf(o->value + o->used, sizeof o->value - o->used, "%s%s",
                                o->used ? " " : "", word);
}

static bool is_option(const char *word) {
    return word[0] == '-' && (isalpha((unsigned char)word[1]) ||
                              (word[1] == '-' && isalpha((unsigned char)word[2])));
}

static void take_word(const char *raw, const char *prefix, int line, struct variables *v,
                      struct option *o, struct fr_settings *s) {
    char word[WORD];
    size_t name;
    if (is_variable(raw, &name)) {
        end_option(o, s);
        set_variable(v, raw, name);
        return;
    }
    put_values(v, raw, word);
    char *equals = strchr(word, '=');
    if (is_option(word)) {
        end_option(o, s);
        if (equals) *equals = '\0';
        snprintf(o->name, sizeof o->name, "%s%.*s", prefix, 400, word + strspn(word, "-"));
        o->line = line;
        o->open = true;
        o->used = 0;
        if (equals) {
            add_value(o, equals + 1);
            end_option(o, s);
        }
    } else if (o->open)
        add_value(o, word);
    else if (equals && equals > word && islower((unsigned char)*word))
        fr_settings_add(s, word, (size_t)(equals - word), equals + 1, strlen(equals + 1), line);
}

static void read_line(const char *line, size_t n, int number, struct variables *v,
                      struct fr_settings *s) {
    struct option option = {.open = false};
    const char *prefix = "";
    char word[WORD];
    size_t at = 0;
    while (at < n && isspace((unsigned char)line[at])) at++;
    if (n - at > 8 && strncmp(line + at, "#SBATCH ", 8) == 0) {
        prefix = "sbatch_";
        at += 8;
    }
    while (at < n) {
        size_t before = at;
        if (!next_word(line, n, &at, word) && at >= n) break;
        quoted_value(line, n, &at, word);
        if (*word == '#') break;
        if (*word) take_word(word, prefix, number, v, &option, s);
        if (at == before) at++;
    }
    end_option(&option, s);
}

static void read(const char *text, size_t length, struct fr_settings *s) {
    struct variables *v = fr_calloc(1, sizeof *v);
    const char *line;
    size_t n;
    int number = 0;
    if (!v) {
        s->failed = true;
        return;
    }
    for (size_t at = 0; fr_settings_line(text, length, &at, &line, &n);)
        read_line(line, n, ++number, v, s);
    free(v);
}

static bool knows(const char *text, size_t length) {
    const char *line;
    size_t n;
    for (size_t at = 0; fr_settings_line(text, length, &at, &line, &n);)
        for (size_t i = 0; i + 4 < n; i++)
            if (line[i] == '-' && line[i + 1] == '-' && isalpha((unsigned char)line[i + 2]) &&
                isalpha((unsigned char)line[i + 3]) &&
                (i == 0 || strchr(" \t\"'(", line[i - 1])))
                return true;
    return false;
}

const struct fr_syntax fr_syntax_flags = {
    .name = "a script", .knows = knows, .read = read, .whole = true};
