/* mutate list FILE...              every single mutation of these C files, one a line
 * mutate pick SEED COUNT FILE...   so many of them at random, the same for the same seed and text
 * mutate apply FILE OFFSET LENGTH REPLACEMENT   the file's text with one of them, to stdout
 *
 * A line is   FILE TAB LINE TAB OFFSET TAB LENGTH TAB REPLACEMENT TAB ORIGINAL
 *
 * A mutation changes an arithmetic operator, a comparison, a logical one, a number by one, to zero or
 * to twice, a negation dropped, a statement dropped, one of a pair of names exchanged (fmin, fmax;
 * axes; fields).  Left alone: comments, strings, directives, declarations, lengths of arrays where
 * they are declared, lines about memory that runs out (other tests make it run out), numbers of a
 * hash, what a variable begins with that a key sets; and what changes nothing by its form:
 *
 *     a < b ? a : b         or equal: of two that are equal either is the answer
 *     if (a > b) b = a;     or equal: sets a number to what it is
 *     -1 to -2              that is set, given, returned: it says "none", of which the sign is read (it is
 *                           changed to 0, and where it is compared)
 *     1e-9 to 2e-9          what is 1e-6 and below is slack for rounding, of this order or that
 *     _Static_assert        said to the compiler, which refuses what is false
 *
 * The sources are formatted, so that a binary operator has blanks around it and a pointer's star has not. */
#define _GNU_SOURCE /* memmem */
#include <ctype.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct source {
    const char *path;
    char *text; /* as it is */
    char *code; /* the same, comments, strings and directives blank */
    size_t length;
};

struct mutant {
    const struct source *source;
    size_t offset, length;
    char replacement[40];
};

static struct mutant *mutants;
static size_t n_mutants, capacity;

static void die(const char *what, const char *detail) {
    fprintf(stderr, "mutate: %s: %s\n", what, detail);
    exit(2);
}

static void add(const struct source *s, size_t offset, size_t length, const char *replacement) {
    if (n_mutants == capacity) {
        capacity = capacity ? 2 * capacity : 1024;
        mutants = realloc(mutants, capacity * sizeof *mutants);
        if (!mutants) die("memory", "none left");
    }
    struct mutant *m = &mutants[n_mutants++];
    *m = (struct mutant){s, offset, length, ""};
    snprintf(m->replacement, sizeof m->replacement, "%s", replacement);
}

/* ---- reading ---------------------------------------------------------------------------------- */

static size_t skip_quoted(const char *text, size_t i) {
    char quote = text[i++];
    while (text[i] && text[i] != quote && text[i] != '\n') i += text[i] == '\\' ? 2 : 1;
    return text[i] ? i + 1 : i;
}

static size_t skip_directive(const char *text, size_t i) {
    while (text[i] && text[i] != '\n') i += text[i] == '\\' && text[i + 1] ? 2 : 1;
    return i;
}

static size_t skip_comment(const char *text, size_t i) {
    const char *end = text[i + 1] == '*' ? strstr(text + i + 2, "*/") : strchr(text + i, '\n');
    if (!end) return strlen(text);
    return (size_t)(end - text) + (text[i + 1] == '*' ? 2 : 0);
}

/* Blank what is no code; line ends stay. */
static void blank(struct source *s) {
    for (size_t i = 0; i < s->length;) {
        const char *t = s->text;
        size_t end = i;
        bool line_start = i == 0 || t[i - 1] == '\n';
        if (t[i] == '/' && (t[i + 1] == '*' || t[i + 1] == '/'))
            end = skip_comment(t, i);
        else if (t[i] == '"' || t[i] == '\'')
            end = skip_quoted(t, i);
        else if (line_start && t[i] == '#')
            end = skip_directive(t, i);
        if (end == i)
            end = i + 1;
        else
            for (size_t k = i; k < end && k < s->length; k++)
                if (t[k] != '\n') s->code[k] = t[k] == '"' ? '"' : ' ';
        i = end;
    }
}

static struct source read_source(const char *path) {
    struct source s = {.path = path};
    FILE *file = fopen(path, "rb");
    if (!file || fseek(file, 0, SEEK_END)) die(path, "cannot be read");
    s.length = (size_t)ftell(file);
    rewind(file);
    s.text = calloc(1, s.length + 2);
    s.code = calloc(1, s.length + 2);
    if (!s.text || !s.code || fread(s.text, 1, s.length, file) != s.length)
        die(path, "cannot be read");
    fclose(file);
    memcpy(s.code, s.text, s.length);
    blank(&s);
    return s;
}

/* ---- what may be changed ---------------------------------------------------------------------- */

static bool is_word(char c) { return isalnum((unsigned char)c) || c == '_'; }

struct pair {
    const char *from, *to;
};

static const struct pair operators[] = {
    {"+", "-"},   {"-", "+"},   {"*", "/"},   {"/", "*"},   {"%", "*"},   {"<", "<="},
    {"<", ">="},  {"<=", "<"},  {"<=", ">"},  {">", ">="},  {">", "<="},  {">=", ">"},
    {">=", "<"},  {"==", "!="}, {"!=", "=="}, {"&&", "||"}, {"||", "&&"}, {"+=", "-="},
    {"-=", "+="}, {"*=", "/="}, {"/=", "*="}, {"|", "&"},   {"&", "|"},
};

static const struct pair names[] = {
    {"fmin", "fmax"},
    {"fmax", "fmin"},
    {"floor", "ceil"},
    {"ceil", "floor"},
    {"true", "false"},
    {"false", "true"},
    {"FR_OP_ALL_GATHER", "FR_OP_ALL_REDUCE"},
    {"FR_OP_REDUCE_SCATTER", "FR_OP_ALL_REDUCE"},
    {"FR_OP_ALL_REDUCE", "FR_OP_ALL_GATHER"},
    {"FR_OP_ALL_TO_ALL", "FR_OP_ALL_GATHER"},
    {"FR_OP_BROADCAST", "FR_OP_REDUCE"},
    {"FR_OP_SCATTER", "FR_OP_BROADCAST"},
    {"FR_AXIS_TP", "FR_AXIS_DP"},
    {"FR_AXIS_DP", "FR_AXIS_TP"},
    {"FR_MESH_TP", "FR_MESH_DP"},
    {"FR_MESH_DP", "FR_MESH_PP"},
    {"FR_MESH_PP", "FR_MESH_DP"},
};

/* After -> or . only. */
static const struct pair fields[] = {
    {"dp", "tp"},
    {"tp", "dp"},
    {"pp", "dp"},
    {"cp", "dp"},
    {"ep", "dp"},
    {"forward", "backward"},
    {"backward", "forward"},
    {"parameters_rank", "parameters"},
    {"gradient_B", "parameter_B"},
    {"parameter_B", "gradient_B"},
    {"busy_W", "idle_W"},
    {"idle_W", "communicating_W"},
    {"communicating_W", "idle_W"},
    {"attention", "mlp"},
    {"n_ranks", "stride"},
    {"m", "n"},
    {"n", "k"},
    {"k", "m"},
};

#define COUNT(array) (sizeof(array) / sizeof *(array))

static bool starts(const char *text, const char *with) {
    return strncmp(text, with, strlen(with)) == 0;
}

/* Does the code before @p at end in the @p n letters of @p word, as a whole? */
static bool ends_in(const struct source *s, size_t at, const char *word, size_t n) {
    return n > 0 && at > n && strncmp(s->code + at - n, word, n) == 0 &&
           strchr(" (!", s->code[at - n - 1]);
}

/* "a < b ? a : b": of two that are equal either is the answer, so that "or equal" changes nothing. */
static bool picks_either(const struct source *s, size_t i, size_t n) {
    const char *right = s->code + i + n + 1, *asks = strstr(right, " ? ");
    const char *otherwise = asks ? strstr(asks, " : ") : NULL;
    if (!otherwise) return false;
    const char *then = asks + 3, *last = otherwise + 3;
    size_t n_right = (size_t)(asks - right), n_then = (size_t)(otherwise - then),
           n_last = strcspn(last, ";,)\n");
    bool right_then = n_then == n_right && strncmp(then, right, n_right) == 0,
         right_last = n_last == n_right && strncmp(last, right, n_right) == 0;
    return (right_then && ends_in(s, i - 1, last, n_last)) ||
           (right_last && ends_in(s, i - 1, then, n_then));
}

/* "if (a > b) b = a;" or "a = b": of two that are equal it sets a number to what it is. */
static bool sets_what_is(const struct source *s, size_t i, size_t n) {
    const char *right = s->code + i + n + 1, *end = strstr(right, ") ");
    size_t line = i, n_left, n_right;
    while (line > 0 && s->code[line - 1] != '\n') line--;
    const char *left = s->code + line + strspn(s->code + line, " ");
    if (!end || !starts(left, "if (") || left + 4 > s->code + i) return false;
    left += 4;
    n_left = (size_t)(s->code + i - 1 - left), n_right = (size_t)(end - right);
    char one[200], other[200];
    snprintf(one, sizeof one, "%.*s = %.*s;", (int)n_right, right, (int)n_left, left);
    snprintf(other, sizeof other, "%.*s = %.*s;", (int)n_left, left, (int)n_right, right);
    return starts(end + 2, one) || starts(end + 2, other);
}

/* A binary operator between blanks (or a line's end). */
static void add_operators(const struct source *s, size_t i) {
    const char *c = s->code;
    size_t n = 0;
    if (i == 0 || !(c[i - 1] == ' ' || c[i - 1] == '\n')) return;
    while (c[i + n] && strchr("+-*/%<>=!&|", c[i + n])) n++;
    if (n == 0 || !(c[i + n] == ' ' || c[i + n] == '\n')) return;
    for (size_t k = 0; k < COUNT(operators); k++)
        if (strlen(operators[k].from) == n && strncmp(c + i, operators[k].from, n) == 0 &&
            !(strchr("<>", c[i]) && operators[k].to[0] == c[i] &&
              (picks_either(s, i, n) || sets_what_is(s, i, n))))
            add(s, i, n, operators[k].to);
}

static size_t line_begin(const struct source *s, size_t i) {
    while (i > 0 && s->code[i - 1] != '\n') i--;
    return i;
}

/* Does the line at @p begin declare something, beginning with a type? */
static bool declares(const struct source *s, size_t begin) {
    static const char *const types[] = {"char ",    "double ",   "int ",      "bool ",
                                        "size_t ",  "int64_t ",  "int32_t ",  "int16_t ",
                                        "uint8_t ", "uint64_t ", "uint32_t ", "struct "};
    const char *at = s->code + begin + strspn(s->code + begin, " ");
    while (starts(at, "static ") || starts(at, "const ")) at = strchr(at, ' ') + 1;
    for (size_t k = 0; k < COUNT(types); k++)
        if (starts(at, types[k])) return true;
    return false;
}

/* Within the brackets of a declared array, "char text[SIZE + 1]", before any value. */
static bool is_length(const struct source *s, size_t i) {
    const char *c = s->code;
    size_t begin = line_begin(s, i);
    int opened = 0;
    if (!declares(s, begin)) return false;
    for (size_t k = begin; k < i; k++) {
        if (c[k] == '=') return false;
        opened += (c[k] == '[') - (c[k] == ']');
    }
    return opened > 0;
}

/* A variable begins with this where a key sets it that must be there: "int width = 0", and behind it
 * "fr_json_get_integer(node, "width", true, ..., &width, err)". */
static bool is_set_by_key(const struct source *s, size_t i) {
    enum { BEHIND = 1500 };
    const char *c = s->code;
    size_t begin = line_begin(s, i), end = i, stop;
    char name[64];
    if (!declares(s, begin) || i < 4 || !starts(c + i - 3, " = ")) return false;
    end = i - 3;
    for (begin = end; begin > 0 && is_word(c[begin - 1]);) begin--;
    if (end - begin + 3 > sizeof name) return false;
    snprintf(name, sizeof name, "&%.*s,", (int)(end - begin), c + begin);
    stop = i + BEHIND < s->length ? i + BEHIND : s->length;
    const char *set = memmem(c + i, stop - i, name, strlen(name));
    if (!set) return false;
    begin = line_begin(s, (size_t)(set - c));
    if (!memmem(c + begin, (size_t)(set - c) - begin, "fr_json_get_", 12))
        begin = line_begin(s, begin ? begin - 1 : 0);
    size_t length = (size_t)(set - c) - begin;
    return memmem(c + begin, length, "fr_json_get_", 12) &&
           memmem(c + begin, length, " true,", 6);
}

/* "-1" that is set, given or returned: -2 says "none" as well.  Not where it is compared. */
static bool says_none(const struct source *s, size_t i) {
    const char *c = s->code + i;
    if (i < 8 || c[-1] != '-') return false;
    return starts(c - 3, ", -") || starts(c - 4, " = -") || starts(c - 4, " ? -") ||
           starts(c - 4, " : -") || starts(c - 8, "return -");
}

/* A number; not the length of an array, which is alone in its brackets and above 2, or declared. */
static void add_number(const struct source *s, size_t i, size_t n) {
    const char *c = s->code;
    char text[32], *end = NULL;
    if (n >= sizeof text) return;
    snprintf(text, sizeof text, "%.*s", (int)n, c + i);
    double value = strtod(text, &end);
    if (*end && *end != '.') return; /* hexadecimal, suffixes */
    if (i > 0 && c[i - 1] == '[' && c[i + n] == ']' && value > 2) return;
    if (is_length(s, i) || is_set_by_key(s, i)) return;
    bool whole = !strpbrk(text, ".eE"), none = whole && value == 1 && says_none(s, i);
    const double to[] = {value + 1, value - 1, 0, 2 * value};
    for (int k = 0; k < 4; k++) {
        char out[32];
        bool twice = to[k] == value;
        for (int j = 0; j < k; j++) twice = twice || to[j] == to[k];
        if (twice || to[k] < 0 || (none && to[k] > 0)) continue;
        if (k == 3 && value > 0 && value <= 1e-6) continue;
        snprintf(out, sizeof out, whole ? "%.0f" : "%.17g", to[k]);
        if (!whole && !strpbrk(out, ".e")) strcat(out, ".0");
        add(s, i, n, out);
    }
}

static void add_name(const struct source *s, size_t i, size_t n) {
    const char *c = s->code;
    bool field = i > 0 && (c[i - 1] == '.' || (i > 1 && c[i - 2] == '-' && c[i - 1] == '>'));
    const struct pair *pairs = field ? fields : names;
    size_t count = field ? COUNT(fields) : COUNT(names);
    for (size_t k = 0; k < count; k++)
        if (strlen(pairs[k].from) == n && strncmp(c + i, pairs[k].from, n) == 0)
            add(s, i, n, pairs[k].to);
}

/* A statement alone on its line: an assignment or a call whose result nobody looks at, with
 * nothing before it that it would belong to.  Not what frees or copes without memory. */
static void add_statement(const struct source *s, size_t begin, size_t end, char before) {
    const char *c = s->code;
    size_t i = begin;
    static const char *const saved[] = {"return",  "break", "continue", "goto",  "case",
                                        "default", "free",  "fclose",   "else",  "do",
                                        "while",   "const", "static",   "struct"};
    while (i < end && c[i] == ' ') i++;
    if (i == begin || i >= end || c[end - 1] != ';' || !strchr(";{})", before)) return;
    for (size_t k = 0; k < COUNT(saved); k++)
        if (starts(c + i, saved[k])) return;
    size_t j = i + (c[i] == '*');
    if (!isalpha((unsigned char)c[j])) return;
    while (is_word(c[j]) || strchr(".>[]", c[j]) || starts(c + j, "->")) {
        if (!c[j] || c[j] == '\n') return;
        if (c[j] == '[')
            while (c[j] && c[j] != ']') j++;
        j++;
    }
    bool assigned =
        starts(c + j, " = ") || (c[j] == ' ' && strchr("+-*/|", c[j + 1]) && c[j + 2] == '=');
    bool called = c[j] == '(' || starts(c + j, "++") || starts(c + j, "--");
    if ((assigned || called) && !memchr(c + i, '{', end - i)) add(s, i, end - i, ";");
    if (called && memmem(c + i, end - i, "_free(", 6)) n_mutants--;
}

/* Lines of which no single change says anything. */
static bool left_alone(const char *line, size_t n) {
    static const char *const words[] = {"uint64_t h[",
                                        "(h[",
                                        "hash = (hash",
                                        "0xbf58476d1ce4e5b9",
                                        "0x94d049bb133111eb", /* hashes */
                                        "malloc",
                                        "calloc",
                                        "realloc",
                                        "NOMEM",
                                        "_Static_assert",
                                        "enum {",
                                        "failed",
                                        "capacity",
                                        "snprintf",
                                        "fr_text_add",
                                        "fr_fail",
                                        "fr_json_fail",
                                        "fr_line_addf"};
    for (size_t k = 0; k < COUNT(words); k++)
        if (memmem(line, n, words[k], strlen(words[k]))) return true;
    return false;
}

/* One of the lines behind an allocation that asks whether it came to anything. */
static bool asks_for_memory(const struct source *s, size_t begin, size_t end) {
    enum { BEHIND = 6 };
    size_t above = begin, i = begin;
    while (i < end && s->text[i] == ' ') i++;
    if (!starts(s->text + i, "if (!")) return false;
    int opened = 0;
    for (i += 3; i < end; i++) {
        opened += s->text[i] == '(';
        opened -= s->text[i] == ')';
        if (opened == 0) break;
        bool arrow = s->text[i] == '>' && s->text[i - 1] == '-';
        if (strchr("=<>&", s->text[i]) && !arrow) return false; /* it asks for more */
    }
    const char *then = s->text + (i < end ? i + 1 : end);
    if (!starts(then, " return") && !starts(then, " goto") && !starts(then, " {") &&
        *then != '\n')
        return false;
    for (int lines = 0; lines < BEHIND && above > 0; lines++) {
        size_t stop = above--;
        while (above > 0 && s->text[above - 1] != '\n') above--;
        if (memmem(s->text + above, stop - above, "alloc(", 6)) return true;
        if (stop - above < 2 || s->text[above] == '}') return false;
    }
    return false;
}

static void scan_line(const struct source *s, size_t begin, size_t end, char before) {
    const char *c = s->code;
    if (left_alone(s->text + begin, end - begin) || asks_for_memory(s, begin, end)) return;
    add_statement(s, begin, end, before);
    for (size_t i = begin; i < end;) {
        size_t n = 0;
        if (c[i] == '!' && c[i + 1] != '=' && (is_word(c[i + 1]) || c[i + 1] == '('))
            add(s, i, 1, " ");
        if (isdigit((unsigned char)c[i])) {
            while (is_word(c[i + n]) || c[i + n] == '.' ||
                   ((c[i + n] == '-' || c[i + n] == '+') && tolower(c[i + n - 1]) == 'e' &&
                    !strchr("xX", c[i + 1])))
                n++;
            add_number(s, i, n);
        } else if (is_word(c[i])) {
            while (is_word(c[i + n])) n++;
            add_name(s, i, n);
        } else
            add_operators(s, i);
        i += n ? n : 1;
    }
}

static void scan(const struct source *s) {
    char before = '}';
    for (size_t begin = 0, end; begin < s->length; begin = end + 1) {
        const char *newline = memchr(s->code + begin, '\n', s->length - begin);
        end = newline ? (size_t)(newline - s->code) : s->length;
        size_t last = end;
        while (last > begin && s->code[last - 1] == ' ') last--;
        scan_line(s, begin, last, before);
        if (last > begin) before = s->code[last - 1];
    }
}

/* ---- what to do ------------------------------------------------------------------------------- */

static void print(const struct mutant *m) {
    const char *text = m->source->text;
    size_t line = 1;
    for (size_t i = 0; i < m->offset; i++) line += text[i] == '\n';
    printf("%s\t%zu\t%zu\t%zu\t%s\t%.*s\n", m->source->path, line, m->offset, m->length,
           m->replacement, (int)m->length, text + m->offset);
}

static uint64_t random_next(uint64_t *state) { /* splitmix64 */
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

/* First a place, then one of what can be made of it: a number is no likelier than an operator. */
static void pick(uint64_t seed, size_t count) {
    size_t n_places = 0, *places = malloc((n_mutants + 1) * sizeof *places);
    if (!places) die("memory", "none left");
    for (size_t i = 0; i < n_mutants; i++)
        if (i == 0 || mutants[i].source != mutants[i - 1].source ||
            mutants[i].offset != mutants[i - 1].offset)
            places[n_places++] = i;
    places[n_places] = n_mutants;
    bool *taken = calloc(n_places + 1, sizeof *taken);
    for (size_t k = 0; k < count && k < n_places; k++) {
        size_t at;
        do at = (size_t)(random_next(&seed) % n_places);
        while (taken[at]);
        taken[at] = true;
        size_t ways = places[at + 1] - places[at];
        print(&mutants[places[at] + (size_t)(random_next(&seed) % ways)]);
    }
    free(taken);
    free(places);
}

static int apply(char **argv) {
    struct source s = read_source(argv[0]);
    size_t offset = strtoull(argv[1], NULL, 10), length = strtoull(argv[2], NULL, 10);
    if (offset + length > s.length) die(argv[0], "is shorter than that");
    fwrite(s.text, 1, offset, stdout);
    fputs(argv[3], stdout);
    fwrite(s.text + offset + length, 1, s.length - offset - length, stdout);
    return 0;
}

int main(int argc, char **argv) {
    const char *what = argc > 1 ? argv[1] : "";
    if (strcmp(what, "apply") == 0 && argc == 6) return apply(argv + 2);
    int first = strcmp(what, "pick") == 0 ? 4 : 2;
    if (argc <= first || (first == 2 && strcmp(what, "list") != 0))
        die("usage",
            "mutate list FILE... | pick SEED COUNT FILE... | apply FILE OFFSET LENGTH TEXT");
    struct source *sources = calloc((size_t)argc, sizeof *sources);
    if (!sources) die("memory", "none left");
    for (int i = first; i < argc; i++) {
        sources[i] = read_source(argv[i]);
        scan(&sources[i]);
    }
    if (first == 4)
        pick(strtoull(argv[2], NULL, 10), strtoull(argv[3], NULL, 10));
    else
        for (size_t i = 0; i < n_mutants; i++) print(&mutants[i]);
    return 0;
}
