/* Configurations in YAML: NeMo's and Megatron-Bridge's, Primus', nanotron's, MaxText's, OLMo's.
 *
 * It reads nested "key: value", lists of scalars in either form.  Anchors, tags and texts of
 * several lines are passed over. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "answer/trainer/settings.h"

enum { DEPTH = 16, NAME = 200 };

struct place {
    size_t indent[DEPTH];
    char name[DEPTH][64];
    int depth;
};

static bool of_name(char c) { return isalnum((unsigned char)c) || strchr("_.-/", c) != NULL; }

/* "key:" behind @p from; @return where its value stands, or 0. */
static size_t key(const char *line, size_t n, size_t from, size_t *end) {
    size_t at = from;
    bool quoted = at < n && (line[at] == '"' || line[at] == '\'');
    if (quoted) at++;
    while (at < n && line[at] && of_name(line[at])) at++;
    *end = at;
    if (quoted && at < n) at++;
    if (at == from || at >= n || line[at] != ':') return 0;
    return at + 1 == n || line[at + 1] == ' ' ? at + 1 : 0;
}

/* "--micro-batch-size: 2": keys as the command line spells them. */
static bool is_option(const char *line, size_t n) {
    return n > 2 && line[0] == '-' && line[1] == '-' && isalpha((unsigned char)line[2]);
}

/* "${NAME:usual}" of Primus: the usual value; a name with a dot is OmegaConf's own function. */
static void add_value(const char *name, const char *value, size_t n, int line,
                      struct fr_settings *s) {
    size_t from = 0, colon = 0;
    while (from < n && strchr("\"'", value[from])) from++;
    size_t end = from + 2;
    while (end < n && (isalnum((unsigned char)value[end]) || value[end] == '_')) end++;
    if (end < n && strncmp(value + from, "${", 2) == 0 && value[end] == ':') colon = end + 1;
    if (colon && value[colon] == '-') colon++;
    const char *close = colon ? memchr(value + colon, '}', n - colon) : NULL;
    if (close) {
        n = (size_t)(close - value) - colon;
        value += colon;
    }
    fr_settings_add(s, name, strlen(name), value, n, line);
}

static size_t without_comment(const char *value, size_t n) {
    char quote = 0;
    for (size_t i = 0; i < n; i++) {
        if (quote ? value[i] == quote : value[i] == '"' || value[i] == '\'')
            quote = quote ? 0 : value[i];
        else if (!quote && value[i] == '#' && (i == 0 || value[i - 1] == ' '))
            return i;
    }
    return n;
}

static void full_name(const struct place *p, char out[NAME]) {
    size_t used = 0;
    out[0] = '\0';
    for (int i = 0; i < p->depth && used + 66 < NAME; i++)
        used += (size_t)snprintf(out + used, NAME - used, "%s%s", used ? "." : "", p->name[i]);
}

/* A list's items, gathered until it ends. */
struct list {
    char text[1024];
    size_t used;
    int line;
};

static void end_list(struct list *list, const char *name, struct fr_settings *s) {
    if (!list->used) return;
    char all[1040];
    int n = snprintf(all, sizeof all, "[%s]", list->text);
    fr_settings_add(s, name, strlen(name), all, (size_t)n, list->line);
    list->used = 0;
}

static void add_item(struct list *list, const char *item, size_t n, int line) {
    if (n > 200 || list->used + n + 4 > sizeof list->text) return;
    list->used += (size_t)snprintf(list->text + list->used, sizeof list->text - list->used,
                                   "%s%.*s", list->used ? ", " : "", (int)n, item);
    list->line = line;
}

static void read(const char *text, size_t length, struct fr_settings *s) {
    struct place p = {.depth = 0};
    struct list list = {.used = 0};
    char name[NAME] = "";
    const char *line;
    size_t n, end = 0;
    int number = 0;
    for (size_t at = 0; fr_settings_line(text, length, &at, &line, &n);) {
        size_t from = 0;
        number++;
        while (from < n && line[from] == ' ') from++;
        n = from + without_comment(line + from, n - from);
        if (from >= n) continue;
        bool item = line[from] == '-' && from + 1 < n && line[from + 1] == ' ';
        if (item && !key(line, n, from + 2, &end)) {
            add_item(&list, line + from + 2, n - from - 2, number);
            continue;
        }
        end_list(&list, name, s);
        if (item) from += 2;
        size_t value = key(line, n, from, &end);
        if (!value) continue;
        while (p.depth > 0 && p.indent[p.depth - 1] >= from) p.depth--;
        if (p.depth == DEPTH) continue;
        bool quoted = line[from] == '"' || line[from] == '\'';
        p.indent[p.depth] = from;
        if (is_option(line + from, n - from)) from += 2;
        snprintf(p.name[p.depth], sizeof p.name[0], "%.*s",
                 end - from - quoted < 60 ? (int)(end - from - quoted) : 60,
                 line + from + quoted);
        p.depth++;
        full_name(&p, name);
        while (value < n && line[value] == ' ') value++;
        if (value < n) add_value(name, line + value, n - value, number, s);
    }
    end_list(&list, name, s);
}

static bool knows(const char *text, size_t length) {
    const char *line;
    size_t n, end;
    int found = 0;
    for (size_t at = 0; found < 2 && fr_settings_line(text, length, &at, &line, &n);) {
        size_t from = 0;
        while (from < n && line[from] == ' ') from++;
        if (from < n &&
            (isalpha((unsigned char)line[from]) || is_option(line + from, n - from)))
            found += key(line, n, from, &end) > 0;
    }
    return found == 2;
}

const struct fr_syntax fr_syntax_yaml = {.name = "YAML", .knows = knows, .read = read};
