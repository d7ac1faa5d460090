/* A JSON text with something changed.  Texts are those of this tree: no escapes but in strings. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "tests/golden/walk/walk.h"

/* A value, and where its member or element begins: at its name, if it has one. */
struct span {
    size_t member, begin, end;
    bool named;
};
enum { SPANS = 6000 };
struct scan {
    const char *text;
    struct span span[SPANS];
    int n;
};

static size_t blanks(const char *text, size_t i) { return i + strspn(text + i, " \t\r\n"); }

static size_t string_end(const char *text, size_t i) {
    for (i++; text[i] && text[i] != '"'; i++) i += text[i] == '\\' && text[i + 1];
    return text[i] ? i + 1 : i;
}

/* @return the first place behind the value at @p i. */
static size_t scan_value(struct scan *s, size_t i, size_t member, bool named) {
    const char *t = s->text;
    int mine = s->n < SPANS ? s->n++ : -1;
    size_t begin = i;
    if (t[i] == '"')
        i = string_end(t, i);
    else if (t[i] == '{' || t[i] == '[') {
        char end = t[i] == '{' ? '}' : ']';
        for (i = blanks(t, i + 1); t[i] && t[i] != end; i = blanks(t, i)) {
            size_t from = i;
            if (end == '}') i = blanks(t, string_end(t, i)), i = blanks(t, i + 1);
            i = blanks(t, scan_value(s, i, from, end == '}'));
            if (t[i] == ',') i++;
        }
        i += t[i] != '\0';
    } else
        i += strcspn(t + i, " \t\r\n,]}");
    if (mine >= 0) s->span[mine] = (struct span){member, begin, i, named};
    return i;
}

static void add(struct fr_text *out, const char *words) {
    fr_text_add(out, words, strlen(words));
}

/* A number that is there a little other, with what stands behind it: "8 us" to "16 us". */
static bool scaled(struct walk *w, const char *value, size_t length, struct fr_text *out) {
    bool quoted = *value == '"';
    char *end = NULL, number[40];
    if (!isdigit((unsigned char)value[quoted])) return false;
    double was = strtod(value + quoted, &end);
    bool whole = !memchr(value, '.', (size_t)(end - value)) && was < 1e15;
    static const double by[] = {2, 0.5, 1.25, 3, 0.01, 100};
    double now = was * by[walk_below(w, 6)];
    if (whole && walk_chance(w, 0.4)) now = was + (walk_chance(w, 0.5) || was < 1 ? 1 : -1);
    snprintf(number, sizeof number, whole ? "%.0f" : "%.12g", now);
    if (quoted) add(out, "\"");
    add(out, number);
    fr_text_add(out, end, length - (size_t)(end - value));
    return true;
}

static const char rough[] = "0|-1|1|2|3|0.5|1e300|1e-300|1e18|-0.25|\"x\"|\"\"|null|true|false|"
                            "[]|{}|[1]|[1,2,3,4]|\"1 s\"|\"1 B\"|"
                            "\"-1 us\"|\"5\"|\"1 GB/s\"|\"1 ns/B\"|\"1 TFLOP/s\"|\"1 "
                            "W\"|3000000000|{\"form\":\"log\"}|\"0 s\"|"
                            "\"1e40 "
                            "GB\"|[[1,2],[3,4]]|[0,1]|\"best\"|0.999|1.001|4096|17|256|"
                            "\"node\"|\"all_reduce\"|\"1 GHz\"";

static void replace(struct walk *w, const struct scan *s, const struct span *at,
                    struct fr_text *out) {
    char word[64];
    const char *t = s->text;
    const struct span *other = &s->span[walk_below(w, s->n)];
    fr_text_add(out, t, at->begin);
    if (walk_chance(w, 0.3) && scaled(w, t + at->begin, at->end - at->begin, out)) {
    } else if (walk_chance(w, 0.35) && t[other->begin] != '{')
        fr_text_add(out, t + other->begin, other->end - other->begin);
    else
        add(out, walk_word(w, rough, word, sizeof word));
    add(out, t + at->end);
}

static void drop(const struct scan *s, const struct span *at, struct fr_text *out) {
    size_t from = at->member, to = blanks(s->text, at->end);
    if (s->text[to] == ',')
        to++;
    else
        while (from > 0 && s->text[from - 1] != '{' && s->text[from - 1] != '[')
            if (s->text[--from] == ',') break;
    fr_text_add(out, s->text, from);
    add(out, s->text + to);
}

static void twice(const struct scan *s, const struct span *at, struct fr_text *out) {
    fr_text_add(out, s->text, at->end);
    add(out, ", ");
    add(out, at->named ? "\"again\": " : "");
    fr_text_add(out, s->text + at->begin, at->end - at->begin);
    add(out, s->text + at->end);
}

/* The name of another member for this one's. */
static void rename_member(struct walk *w, const struct scan *s, const struct span *at,
                          struct fr_text *out) {
    const struct span *other = &s->span[walk_below(w, s->n)];
    const char *t = s->text;
    fr_text_add(out, t, at->member);
    if (other->named && other != at)
        fr_text_add(out, t + other->member, string_end(t, other->member) - other->member);
    else
        add(out, "\"other\"");
    add(out, t + string_end(t, at->member));
}

/* A number of the text, if one is soon found. */
static bool scale_one(struct walk *w, const struct scan *s, struct fr_text *out) {
    for (int tries = 0; tries < 20; tries++) {
        const struct span *at = &s->span[walk_below(w, s->n)];
        const char *value = s->text + at->begin;
        if (!isdigit((unsigned char)value[*value == '"'])) continue;
        fr_text_add(out, s->text, at->begin);
        scaled(w, value, at->end - at->begin, out);
        add(out, s->text + at->end);
        return true;
    }
    return false;
}

static void change_once(struct walk *w, const char *text, struct fr_text *out) {
    static struct scan s;
    s = (struct scan){.text = text};
    scan_value(&s, blanks(text, 0), 0, false);
    const struct span *at = &s.span[walk_below(w, s.n)];
    int way = walk_below(w, 100);
    if (walk_chance(w, 0.65) && scale_one(w, &s, out)) return;
    if (at->begin == 0 || way < 72)
        replace(w, &s, at, out);
    else if (way < 86)
        drop(&s, at, out);
    else if (way < 92)
        twice(&s, at, out);
    else if (at->named)
        rename_member(w, &s, at, out);
    else
        replace(w, &s, at, out);
}

void walk_change(struct walk *w, const struct fr_text *document, struct fr_text *out) {
    struct fr_text once = {0};
    if (walk_chance(w, 0.75)) {
        change_once(w, fr_text_get(document), out);
        return;
    }
    change_once(w, fr_text_get(document), &once);
    change_once(w, fr_text_get(&once), out);
    fr_text_free(&once);
}
