/* Words before lines by their shape alone: nearly all lines of a file begin with a word of one shape, and that shape is
 * a logger's, not the program's.  Used only where a reader finds nothing in the lines as they are. */
#include <ctype.h>
#include <string.h>

#include "base/text/log_lines.h"

enum { NAMES = 64, NAME_B = 96, NEARLY_ALL_PERCENT = 60 };

/* Length of the first word with the blank behind it, and its shape: the bracket that it begins with, the sign that ends
 * it, 'w' of one before a blank, 'm' of marks.  0: the line begins with what no logger writes. */
static size_t word_of(const char *line, char *shape) {
    static const char open[] = "[(<{", close[] = "])>}";
    size_t n = strspn(line, " \t");
    const char *bracket = line[n] ? strchr(open, line[n]) : NULL;
    if (bracket) {
        char end = close[bracket - open];
        const char *at = strchr(line + n, end);
        if (!at) return 0;
        n = (size_t)(at + 1 - line);
        while (line[n] == end || line[n] == ':') n++;
        *shape = *bracket;
    } else if (isalnum((unsigned char)line[n]) || line[n] == '_' || line[n] == '/') {
        n += strcspn(line + n, " \t:|>");
        *shape = line[n] && line[n] != ' ' && line[n] != '\t' ? line[n++] : 'w';
    } else {
        size_t from = n;
        while (line[n] && !isalnum((unsigned char)line[n]) && !strchr(" \t#_/[(<{", line[n]))
            n++;
        if (n == from) return 0;
        *shape = 'm';
    }
    return line[n] == ' ' || line[n] == '\t' ? n + 1 : n;
}

static bool is_empty(const char *line) { return line[strspn(line, " \t\r")] == '\0'; }

/* Has the line a rank that was cut already?  Then only those without are looked at: "[0]text" beside "[0]    8". */
static bool is_cut(const struct fr_log_text *t, size_t i, bool some) {
    return some && i < t->n_lines && t->tag[i].rank >= 0;
}

/* The shape of nearly all lines, or of all that have no rank where others have one; '\0': there is none.  Lines of the
 * text end with a zero byte. */
static char shape_of(const struct fr_log_text *t, const char *stop, bool some) {
    size_t count[256] = {0}, lines = 0, i = 0;
    for (const char *at = t->text; at < stop; at += strlen(at) + 1, i++) {
        char shape = '\0';
        if (is_empty(at) || is_cut(t, i, some)) continue;
        lines++;
        if (word_of(at, &shape)) count[(unsigned char)shape]++;
    }
    size_t least = some ? lines * 100 : lines * NEARLY_ALL_PERCENT;
    for (int k = 1; k < 256; k++)
        if (lines >= 1 && count[k] * 100 >= least && (!some || k == '[' || k == ':'))
            return (char)k;
    return '\0';
}

/* Names that stand there, as they came. */
struct names {
    char name[NAMES][NAME_B];
    int n;
    bool many;
};

static int64_t place_of(struct names *names, const char *word, size_t n) {
    if (n >= NAME_B) n = NAME_B - 1;
    for (int i = 0; i < names->n; i++)
        if (strncmp(names->name[i], word, n) == 0 && !names->name[i][n]) return i;
    names->many |= names->n == NAMES;
    if (names->many) return -1;
    memcpy(names->name[names->n], word, n);
    names->name[names->n][n] = '\0';
    return names->n++;
}

/* Each line without its first word of the shape.  Few names are those of hosts, unless they are said already. */
bool fr_log_text_peel(struct fr_log_text *t) {
    static struct names none;
    struct names names = none;
    char *out = t->text, *stop = t->text + t->length;
    for (char *at = t->text; (at = memchr(at, '\n', (size_t)(stop - at))); at++) *at = '\0';
    bool tagged = false, plain = false;
    for (size_t k = 0; k < t->n_lines; k++) *(t->tag[k].rank >= 0 ? &tagged : &plain) = true;
    bool some = tagged && plain;
    char shape = shape_of(t, stop, some);
    if (!shape && some) shape = shape_of(t, stop, some = false);
    size_t i = 0;
    for (char *at = t->text, *next; at < stop; at = next, i++) {
        size_t length = strlen(at), n = 0;
        char own = '\0';
        next = at + length + 1;
        if (shape && !is_empty(at) && !is_cut(t, i, some)) n = word_of(at, &own);
        if (own != shape) n = 0;
        if (n > 0 && i < t->n_lines) {
            int64_t place = place_of(&names, at, n);
            if (t->tag[i].rank < 0 && t->tag[i].host < 0) t->tag[i].host = place;
        }
        memmove(out, at + n, length - n);
        out += length - n;
        if (next <= stop) *out++ = '\n';
    }
    *out = '\0';
    t->length = (size_t)(out - t->text);
    bool many = names.many || (size_t)names.n * 3 > i;
    for (size_t k = 0; k < t->n_lines && many; k++) t->tag[k].host = -1;
    return shape != '\0';
}
