#include "base/text/colour.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file/collect.h"

const char *const fr_colour_names[] = {"auto", "always", "never", NULL};

/* The program sets it before it starts threads.  A call of the library collects what it says, and never reads it. */
static fr_colour when = FR_COLOUR_AUTO;

void fr_colour_set(fr_colour w) { when = w; }

bool fr_colours(int fd) {
    if (fr_collecting()) return false;
    if (when != FR_COLOUR_AUTO) return when == FR_COLOUR_ALWAYS;
    const char *none = getenv("NO_COLOR"), *terminal = getenv("TERM");
    return isatty(fd) && !(none && *none) && !(terminal && strcmp(terminal, "dumb") == 0);
}

static const struct {
    const char *word, *code;
} verdicts[] = {{"PASS", "32"}, {"WARN", "33"}, {"FAIL", "31"}};

/* The colour of the word that @p line begins with, or NULL. */
static const char *code_of(const char *line) {
    for (size_t i = 0; i < sizeof verdicts / sizeof *verdicts; i++)
        if (strncmp(line, verdicts[i].word, 4) == 0 && strchr(" :\n", line[4]))
            return verdicts[i].code;
    return NULL;
}

/* One line of an answer, without its end. */
static void colour_line(const char *line, size_t length, struct fr_text *out) {
    size_t before = strncmp(line, "verdict", 7) == 0 ? 7 + strspn(line + 7, " ") : 0;
    const char *code = code_of(line + before);
    if (strncmp(line, "best ", 5) == 0) {
        fr_text_addf(out, "\033[1m%.*s\033[0m", (int)length, line);
        return;
    }
    if (code) {
        fr_text_addf(out, "%.*s\033[%sm%.4s\033[0m", (int)before, line, code, line + before);
        line += before + 4;
        length -= before + 4;
    }
    fr_text_add(out, line, length);
}

void fr_colour_answer(const char *plain, struct fr_text *out) {
    const bool json = *plain == '{' || *plain == '[';
    while (*plain) {
        size_t length = json ? strlen(plain) : strcspn(plain, "\n");
        if (json)
            fr_text_add(out, plain, length);
        else
            colour_line(plain, length, out);
        plain += length;
        if (*plain) fr_text_add(out, plain++, 1);
    }
}

void fr_colour_error(const char *plain, struct fr_text *out) {
    static const char asks[] = "did you mean ";
    const char *word = strstr(plain, asks), *end = word ? strchr(word, '?') : NULL;
    if (!end) {
        fr_text_add(out, plain, strlen(plain));
        return;
    }
    word += sizeof asks - 1;
    fr_text_addf(out, "%.*s\033[32m%.*s\033[0m%s", (int)(word - plain), plain,
                 (int)(end - word), word, end);
}
