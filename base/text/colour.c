#include "base/text/colour.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file/collect.h"

bool fr_colours(int fd) {
    const char *none = getenv("NO_COLOR"), *terminal = getenv("TERM");
    if (fr_collecting()) return false;
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

void fr_colour_verdicts(const char *plain, struct fr_text *out) {
    while (*plain) {
        size_t before = strncmp(plain, "verdict", 7) == 0 ? 7 + strspn(plain + 7, " ") : 0;
        const char *code = code_of(plain + before);
        if (code) {
            fr_text_addf(out, "%.*s\033[%sm%.4s\033[0m", (int)before, plain, code,
                         plain + before);
            plain += before + 4;
        }
        size_t rest = strcspn(plain, "\n");
        rest += plain[rest] == '\n';
        fr_text_add(out, plain, rest);
        plain += rest;
    }
}
