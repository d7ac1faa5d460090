/* Whose file is it, and in which syntax? */
#include <ctype.h>
#include <string.h>

#include "answer/trainer/reading.h"
#include "base/text/log_lines.h"

extern const struct fr_syntax fr_syntax_json, fr_syntax_dump, fr_syntax_yaml, fr_syntax_flags;
#define FR_TRAINER(name) extern const struct fr_trainer fr_trainer_##name;
#include "answer/trainer/framework_list.h"
#undef FR_TRAINER

const struct fr_trainer *const fr_trainers[] = {
#define FR_TRAINER(name) &fr_trainer_##name,
#include "answer/trainer/framework_list.h"
#undef FR_TRAINER
    NULL};

const struct fr_trainer *fr_trainer_find(const char *name) {
    for (int i = 0; fr_trainers[i]; i++)
        if (strcmp(fr_trainers[i]->name, name) == 0) return fr_trainers[i];
    return NULL;
}

/* ---- trainers --------------------------------------------------------------------------------- */

static bool has(const char *text, size_t length, const char *mark) {
    size_t n = strlen(mark);
    for (const char *at = text; length >= n;) {
        const char *found = memchr(at, *mark, length - n + 1);
        if (!found) return false;
        length -= (size_t)(found - at);
        if (memcmp(found, mark, n) == 0) return true;
        at = found + 1;
        length--;
    }
    return false;
}

static int score(const struct fr_trainer *by, const char *text, size_t length,
                 const struct fr_settings *s) {
    int sum = 0;
    for (int i = 0; by->signs && by->signs[i]; i++)
        sum += fr_settings_find(s, by->signs[i]) != NULL;
    for (int i = 0; by->marks && by->marks[i]; i++) sum += 4 * has(text, length, by->marks[i]);
    for (int i = 0; by->hints && by->hints[i]; i++) sum += has(text, length, by->hints[i]);
    return sum;
}

const struct fr_trainer *fr_trainer_choose(const char *text, size_t length,
                                           const struct fr_settings *s) {
    const struct fr_trainer *best = NULL;
    int most = 0;
    for (int i = 0; fr_trainers[i]; i++) {
        int sum = score(fr_trainers[i], text, length, s);
        if (sum > most) most = sum, best = fr_trainers[i];
    }
    return best;
}

/* ---- settings --------------------------------------------------------------------------------- */

/* Does some trainer's log look like it?  Its texts tell, without its settings. */
static bool is_log(const char *text, size_t length) {
    const struct fr_settings none = {0};
    return fr_trainer_choose(text, length, &none) != NULL;
}

/* JSON that a log prints among its lines: the first object that can be read. */
static void read_printed_json(const char *text, size_t length, struct fr_settings *s) {
    enum { TRIES = 64 };
    int tries = 0, before = s->n;
    for (size_t i = 0; i + 1 < length && tries < TRIES && s->n == before; i++) {
        size_t next = i + 1;
        if (text[i] != '{') continue;
        while (next < length && isspace((unsigned char)text[next])) next++;
        if (next == length || text[next] != '"') continue;
        int depth = 0;
        bool quoted = false;
        size_t end = i;
        for (; end < length; end++) {
            if (text[end] == '\\' && quoted)
                end++;
            else if (text[end] == '"')
                quoted = !quoted;
            else if (!quoted && text[end] == '{')
                depth++;
            else if (!quoted && text[end] == '}' && --depth == 0)
                break;
        }
        tries++;
        if (end < length) fr_syntax_json.read(text + i, end + 1 - i, s);
    }
}

/* Read the arguments or the configuration that a log prints, in whatever form. */
static void read_printed(const char *text, size_t length, struct fr_settings *s) {
    enum { FEW = 8 }; /* "loading ... done" looks like an argument */
    fr_syntax_dump.read(text, length, s);
    if (s->n < FEW && fr_syntax_yaml.knows(text, length)) fr_syntax_yaml.read(text, length, s);
    read_printed_json(text, length, s);
}

const struct fr_syntax *fr_trainer_settings(const char *text, size_t length,
                                            struct fr_settings *s) {
    if (is_log(text, length)) return read_printed(text, length, s), NULL;
    for (int i = 0; fr_syntaxes[i]; i++) {
        const struct fr_syntax *syntax = fr_syntaxes[i];
        if (!syntax->knows(text, length)) continue;
        syntax->read(text, length, s);
        if (syntax == &fr_syntax_flags && !s->documents)
            read_printed_json(text, length, s); /* beside a launcher */
        if (s->n) return syntax;
    }
    return NULL;
}

const struct fr_trainer *fr_trainer_of(const char *text, size_t length) {
    struct fr_settings s = {0};
    struct fr_log_text clean;
    if (fr_log_text_clean(text, length, FR_LOG_KEEP_TIMES, &clean) != FR_OK) return NULL;
    fr_trainer_settings(clean.text, clean.length, &s);
    const struct fr_trainer *by = fr_trainer_choose(clean.text, clean.length, &s);
    fr_settings_free(&s);
    fr_log_text_free(&clean);
    return by;
}
