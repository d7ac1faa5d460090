#include "answer/trainer/shell.h"

#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "answer/trainer/shell_state.h"
#include "base/alloc.h"

struct fr_shell *fr_shell_new(void) {
    return fr_calloc(1, sizeof(struct fr_shell));
}

void fr_shell_free(struct fr_shell *shell) { free(shell); }

static truth opposite(truth a) { return a == MAYBE ? MAYBE : a == YES ? NO : YES; }
truth fr_truth_both(truth a, truth b) {
    return a == NO || b == NO ? NO : a == YES && b == YES ? YES : MAYBE;
}
static truth either(truth a, truth b) {
    return opposite(fr_truth_both(opposite(a), opposite(b)));
}

truth fr_shell_running(const struct fr_shell *s) {
    truth now = YES;
    for (int i = 0; i < s->depth; i++)
        now = fr_truth_both(now, s->branch[i].choosing ? NO : s->branch[i].now);
    return now;
}

/* ---- conditions --------------------------------------------------------------------------------- */

/* A word of a condition without its quote marks; a variable that has no value is empty.  @return false where the
 * script does not say it */
static bool plain(const struct fr_shell *s, const char *word, size_t n, char *out) {
    char raw[WORD], with[WORD];
    size_t used = 0;
    snprintf(raw, sizeof raw, "%.*s", (int)(n < WORD ? n : WORD - 1), word);
    fr_shell_expand(s, raw, with);
    for (const char *at = with; *at; at++) {
        if (*at == '"' || *at == '\'') continue;
        if (*at == '`' || strncmp(at, "$(", 2) == 0) return false;
        if (*at == '$') {
            const char *end = at[1] == '{' ? fr_shell_closing(at + 1, '{', '}') : NULL;
            size_t name = 1;
            while (!end && (fr_shell_of_name(at[name]) ||
                            (name == 1 && strchr("@#*?", at[1]) && at[1])))
                name++;
            const bool open = fr_shell_find(s, at + 1, name - 1) >= 0; /* branches disagree */
            if (open || (at[1] == '{' && !end)) return false;
            if (at[1] == '#') out[used++] = '0';
            at = end ? end : at + name - 1;
            continue;
        }
        out[used++] = *at;
    }
    out[used] = '\0';
    return true;
}

static truth compare(const char *a, const char *how, const char *b) {
    static const char *const numbers[] = {"-eq", "-ne", "-lt", "-le", "-gt", "-ge"};
    if (strcmp(how, "=") == 0 || strcmp(how, "==") == 0) return fnmatch(b, a, 0) == 0;
    if (strcmp(how, "!=") == 0) return fnmatch(b, a, 0) != 0;
    for (int i = 0; i < 6; i++) {
        if (strcmp(how, numbers[i]) != 0) continue;
        const long long x = strtoll(a, NULL, 10), y = strtoll(b, NULL, 10);
        const bool is[] = {x == y, x != y, x<y, x <= y, x> y, x >= y};
        return is[i];
    }
    return MAYBE;
}

enum { WORDS = 24 };

/* Words of a condition at blanks outside quote marks. */
static int split_words(const char *text, size_t n, const char **word, size_t *length) {
    int count = 0;
    for (size_t i = 0; i < n && count < WORDS;) {
        char quote = 0;
        int depth = 0;
        while (i < n && isspace((unsigned char)text[i])) i++;
        size_t from = i;
        for (; i < n && (quote || depth || !isspace((unsigned char)text[i])); i++) {
            if (quote ? text[i] == quote : text[i] == '"' || text[i] == '\'')
                quote = quote ? 0 : text[i];
            depth += (text[i] == '(' || text[i] == '{') - (text[i] == ')' || text[i] == '}');
        }
        if (i > from) word[count] = text + from, length[count++] = i - from;
    }
    return count;
}

static bool is_word(const char *word, size_t n, const char *text) {
    return strlen(text) == n && strncmp(word, text, n) == 0;
}

static truth primary(const struct fr_shell *s, const char **word, const size_t *length, int n) {
    char a[WORD], how[WORD], b[WORD];
    if (n > 1 && is_word(word[0], length[0], "!"))
        return opposite(primary(s, word + 1, length + 1, n - 1));
    if (n == 1) return plain(s, word[0], length[0], a) ? *a != '\0' : MAYBE;
    if (n == 2 && plain(s, word[1], length[1], a)) {
        if (is_word(word[0], length[0], "-z")) return *a == '\0';
        if (is_word(word[0], length[0], "-n")) return *a != '\0';
        return MAYBE;
    }
    if (n != 3 || !plain(s, word[0], length[0], a) || !plain(s, word[1], length[1], how) ||
        !plain(s, word[2], length[2], b))
        return MAYBE;
    return compare(a, how, b);
}

/* Parts of "[ ... ]" from the left, with && -a || -o between them. */
static truth brackets(const struct fr_shell *s, const char *text, size_t n) {
    const char *word[WORDS];
    size_t length[WORDS];
    int count = split_words(text, n, word, length), from = 0;
    truth all = YES;
    bool any = false;
    for (int i = 0; i <= count; i++) {
        const bool and = i < count && (is_word(word[i], length[i], "&&") ||
                                       (is_word(word[i], length[i], "-a") && i > from + 1)),
                   or = i < count && (is_word(word[i], length[i], "||") ||
                                      is_word(word[i], length[i], "-o"));
        if (i < count && !and&&! or) continue;
        const truth one = i > from ? primary(s, word + from, length + from, i - from) : MAYBE;
        all = any ? either(all, one) : fr_truth_both(all, one);
        any = or ;
        from = i + 1;
    }
    return all;
}

static truth of_numbers(const struct fr_shell *s, const char *text, size_t n) {
    const char *end = text + n, *rest = text;
    long long a, b;
    if (!fr_shell_compute(s, text, n, &a, &rest)) return MAYBE;
    if (rest == end) return a != 0;
    const char how = *rest++;
    const bool equal = rest < end && *rest == '=';
    rest += equal;
    if (!fr_shell_compute(s, rest, (size_t)(end - rest), &b, &rest) || rest != end)
        return MAYBE;
    if (how == '>') return equal ? a >= b : a > b;
    if (how == '<') return equal ? a <= b : a < b;
    return equal && how == '=' ? a == b : equal && how == '!' ? a != b : MAYBE;
}

/* The test at the beginning of text[0..n), and how much of it that is; 0: it is another command. */
static truth test(const struct fr_shell *s, const char *text, size_t n, size_t *used) {
    static const char *const opens[] = {"[[ ", "[ ", "(("}, *const closes[] = {" ]]", " ]",
                                                                               "))"};
    size_t from = 0;
    *used = 0;
    while (from < n && isspace((unsigned char)text[from])) from++;
    if (from + 1 < n && text[from] == '!') {
        const truth inside = test(s, text + from + 1, n - from - 1, used);
        if (*used) *used += from + 1;
        return opposite(inside);
    }
    for (int i = 0; i < 3; i++) {
        const size_t open = strlen(opens[i]), close = strlen(closes[i]);
        if (n - from < open + close || strncmp(text + from, opens[i], open) != 0) continue;
        for (size_t end = from + open; end + close <= n; end++) {
            if (strncmp(text + end, closes[i], close) != 0) continue;
            *used = end + close;
            return i < 2 ? brackets(s, text + from + open, end - from - open)
                         : of_numbers(s, text + from + open, end - from - open);
        }
    }
    return MAYBE;
}

/* Tests with && and || between them. */
static truth condition(const struct fr_shell *s, const char *text, size_t n) {
    size_t used = 0;
    truth all = test(s, text, n, &used);
    while (used) {
        text += used, n -= used;
        while (n && isspace((unsigned char)*text)) text++, n--;
        if (n == 0) return all;
        const bool and = n > 2 && strncmp(text, "&&", 2) == 0,
                   or = n > 2 && strncmp(text, "||", 2) == 0;
        if (!and&&! or) return MAYBE;
        const truth one = test(s, text + 2, n - 2, &used);
        all = and? fr_truth_both(all, one) : either(all, one);
        if (used) used += 2;
    }
    return MAYBE;
}

/* ": ${NAME:=usual}" gives a variable that has no value one. */
static void set_usual(struct fr_shell *s, const char *text, size_t n) {
    for (size_t i = 0; i + 4 < n; i++) {
        size_t name = 0;
        char value[WORD];
        if (text[i] != '$' || text[i + 1] != '{') continue;
        const char *at = text + i + 2, *end = fr_shell_closing(text + i + 1, '{', '}');
        while (fr_shell_of_name(at[name])) name++;
        const char *how = at + name + (at[name] == ':');
        if (!end || *how != '=' || fr_shell_value(s, at, name)) continue;
        snprintf(value, sizeof value, "%.*s", (int)(end - how - 1), how + 1);
        fr_shell_set(s, at, name, value);
    }
}

/* "let A=2*B", "((A = 2 * B))": assignments of numbers.  @return whether it was one */
static bool set_number(struct fr_shell *s, const char *text, size_t n) {
    size_t from = n > 4 && strncmp(text, "((", 2) == 0     ? 2
                  : n > 4 && strncmp(text, "let ", 4) == 0 ? 4
                                                           : 0;
    const char *end = text + n, *rest;
    char value[32];
    long long number;
    if (!from) return false;
    if (from == 2) {
        while (end > text && isspace((unsigned char)end[-1])) end--;
        if (end - text < 5 || end[-1] != ')' || end[-2] != ')') return false;
        end -= 2;
    }
    const char *at = text + from;
    while (at < end && (isspace((unsigned char)*at) || strchr("\"'", *at))) at++;
    while (from == 4 && end > at && strchr("\"'", end[-1])) end--;
    size_t name = 0;
    while (at + name < end && fr_shell_of_name(at[name])) name++;
    const char *equals = at + name;
    while (equals < end && isspace((unsigned char)*equals)) equals++;
    if (name == 0 || equals + 1 >= end || *equals != '=' || equals[1] == '=') return false;
    if (!fr_shell_compute(s, equals + 1, (size_t)(end - equals - 1), &number, &rest) ||
        rest != end)
        return false;
    snprintf(value, sizeof value, "%lld", number);
    fr_shell_set(s, at, name, value);
    return true;
}

/* "for TP in 4": a list of one word sets it, others leave it open. */
static bool set_single(struct fr_shell *s, const char *text, size_t n) {
    const char *word[WORDS];
    size_t length[WORDS];
    char value[WORD];
    if (split_words(text, n, word, length) != 3 || !is_word(word[1], length[1], "in"))
        return false;
    for (const char *many = "*{@"; *many; many++)
        if (memchr(word[2], *many, length[2])) return false;
    if (!plain(s, word[2], length[2], value) || !*value || strpbrk(value, " \t")) return false;
    fr_shell_set(s, word[0], length[0], value);
    return true;
}

/* ---- branches ------------------------------------------------------------------------------------- */

static void push(struct fr_shell *s, branch_kind kind, truth now) {
    if (s->depth == DEPTH) return;
    s->branch[s->depth++] = (struct branch){.kind = kind, .now = now, .before = now};
}

static struct branch *top(struct fr_shell *s, branch_kind kind) {
    struct branch *b = s->depth ? &s->branch[s->depth - 1] : NULL;
    return b && b->kind == kind ? b : NULL;
}

/* The next branch of an if, which is taken where none before it was. */
static void next_branch(struct branch *b, truth now) {
    b->now = fr_truth_both(opposite(b->before), now);
    b->before = either(b->before, now);
}

static void open_case(struct fr_shell *s, const char *text, size_t n) {
    const char *word[WORDS];
    size_t length[WORDS];
    push(s, CASE, NO);
    struct branch *b = top(s, CASE);
    if (!b) return;
    b->choosing = true;
    if (split_words(text, n, word, length) < 1 || !plain(s, word[0], length[0], b->subject)) {
        snprintf(b->subject, sizeof b->subject, "$");
        b->before = MAYBE;
    }
}

/* "7B|7b)" of a case; @return how much of the statement that is. */
static size_t choose(struct branch *b, const char *text, size_t n) {
    const char *end = memchr(text, ')', n);
    char pattern[WORD];
    if (!end) return n;
    truth fits = NO;
    for (const char *at = text; at < end;) {
        size_t length = 0, used = 0;
        while (at + length < end && at[length] != '|') length++;
        for (size_t i = 0; i < length && used + 1 < sizeof pattern; i++)
            if (!strchr(" \t\"'(", at[i])) pattern[used++] = at[i];
        pattern[used] = '\0';
        fits = either(fits, fnmatch(pattern, b->subject, 0) == 0);
        at += length + 1;
    }
    if (strcmp(b->subject, "$") == 0) fits = MAYBE;
    b->now = b->before == YES ? NO : fits;
    b->before = either(b->before, fits);
    b->choosing = false;
    return (size_t)(end + 1 - text);
}

static size_t keyword(const char *text, size_t n, const char *word) {
    const size_t length = strlen(word);
    return n >= length && strncmp(text, word, length) == 0 &&
                   (n == length || !fr_shell_of_name(text[length]))
               ? length
               : 0;
}

/* A keyword at the start of a statement moves between branches.  @return behind it, where a statement begins again; n: nothing
 * is left; 0: it is none */
static size_t take_keyword(struct fr_shell *s, const char *text, size_t n) {
    struct branch *b = top(s, CASE);
    size_t used = 0;
    if (b && b->choosing && !keyword(text, n, "esac")) return choose(b, text, n);
    if ((used = keyword(text, n, "then")) || (used = keyword(text, n, "do"))) return used;
    if ((used = keyword(text, n, "else"))) {
        if (top(s, IF)) next_branch(top(s, IF), YES);
        return used;
    }
    if ((used = keyword(text, n, "if"))) {
        push(s, IF, condition(s, text + used, n - used));
    } else if ((used = keyword(text, n, "elif"))) {
        if (top(s, IF)) next_branch(top(s, IF), condition(s, text + used, n - used));
    } else if ((used = keyword(text, n, "while"))) {
        push(s, LOOP, condition(s, text + used, n - used));
    } else if ((used = keyword(text, n, "for"))) {
        const bool single = fr_shell_running(s) != NO && set_single(s, text + used, n - used);
        push(s, LOOP, single ? YES : memchr(text, '@', n) ? NO : MAYBE);
    } else if ((used = keyword(text, n, "until"))) {
        push(s, LOOP, MAYBE);
    } else if ((used = keyword(text, n, "case"))) {
        open_case(s, text + used, n - used);
    } else if (keyword(text, n, "fi") || keyword(text, n, "done") || keyword(text, n, "esac")) {
        if (s->depth) s->depth--;
    } else
        return 0;
    return n;
}

/* An assignment, a test before "&&" or "||", which is a branch, or a command that runs.  @return where a statement begins
 * again */
static size_t take_command(struct fr_shell *s, const char *text, size_t n,
                           void (*run)(void *to, const char *statement, size_t n), void *to) {
    size_t used = 0;
    if (fr_shell_running(s) == NO || set_number(s, text, n)) return n;
    if (*text == ':') return set_usual(s, text, n), n;
    const truth holds = test(s, text, n, &used);
    while (used < n && isspace((unsigned char)text[used])) used++;
    const bool more = used && n - used > 2, both = more && strncmp(text + used, "&&", 2) == 0,
               either_one = more && strncmp(text + used, "||", 2) == 0;
    if (!both && !either_one) {
        if (!used) run(to, text, n);
        return n;
    }
    if (holds == (both ? NO : YES)) return n;
    push(s, IF, holds == MAYBE ? MAYBE : YES);
    return used + 2;
}

/* One statement, and those that follow its keywords and tests.  Branches of its tests end with it. */
static void step(struct fr_shell *s, const char *text, size_t n,
                 void (*run)(void *to, const char *statement, size_t n), void *to) {
    int pushed = 0, depth = s->depth;
    for (size_t used; n > 0; text += used, n -= used) {
        while (n && isspace((unsigned char)*text)) text++, n--;
        while (n && isspace((unsigned char)text[n - 1])) n--;
        if (n == 0) break;
        used = take_keyword(s, text, n);
        if (used) continue;
        const int before = s->depth;
        used = take_command(s, text, n, run, to);
        pushed += s->depth - before;
        depth = s->depth;
    }
    if (s->depth == depth) s->depth -= pushed;
}

void fr_shell_line(struct fr_shell *s, const char *line, size_t n,
                   void (*run)(void *to, const char *statement, size_t n), void *to) {
    char quote = 0;
    int depth = 0;
    size_t from = 0;
    for (size_t i = 0; i < n; i++) {
        const char c = line[i];
        if (quote ? c == quote : c == '"' || c == '\'')
            quote = quote ? 0 : c;
        else if (!quote && c == '#' && (i == 0 || isspace((unsigned char)line[i - 1]))) {
            n = i; /* the rest is a comment */
            break;
        } else if (!quote && (c == '(' || c == '{'))
            depth++;
        else if (!quote && (c == ')' || c == '}') && depth)
            depth--;
        if (quote || depth || c != ';') continue;
        step(s, line + from, i - from, run, to);
        if (i + 1 < n && line[i + 1] == ';') {
            struct branch *b = top(s, CASE);
            if (b) b->choosing = true, b->now = NO;
            i++;
        }
        from = i + 1;
    }
    if (from < n) step(s, line + from, n - from, run, to);
}
