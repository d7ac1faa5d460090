#include "base/text/launch_command.h"

#include <stdio.h>
#include <string.h>

#include "base/text.h"

#define FR_LAUNCHER(name) extern const struct fr_launcher fr_launcher_##name;
#include "base/text/launch_list.h"
#undef FR_LAUNCHER

const struct fr_launcher *const fr_launchers[] = {
#define FR_LAUNCHER(name) &fr_launcher_##name,
#include "base/text/launch_list.h"
#undef FR_LAUNCHER
    NULL};

void fr_launch_split(const char *line, struct fr_launch_command *c) {
    c->n = 0;
    snprintf(c->text, sizeof c->text, "%s", line);
    char *save = NULL;
    for (char *word = strtok_r(c->text, " \t\r\n", &save); word && c->n < FR_LAUNCH_WORDS_MAX;
         word = strtok_r(NULL, " \t\r\n", &save)) {
        while (*word && strchr("'\"[`(", *word)) word++;
        size_t n = strlen(word);
        while (n > 0 && strchr("'\",;`", word[n - 1])) word[--n] = '\0';
        if (n > 1 && (word[n - 1] == ']' || word[n - 1] == ')') &&
            !strchr(word, word[n - 1] == ']' ? '[' : '('))
            word[--n] = '\0';
        while (n > 0 && strchr("'\"", word[n - 1])) word[--n] = '\0';
        if (n > 0) c->word[c->n++] = word;
    }
}

static const char *after_slash(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

bool fr_launch_benchmark(const char *word) {
    const char *name = after_slash(word);
    return strstr(name, "_perf") || strncmp(name, "osu_", 4) == 0 ||
           strncmp(name, "IMB-", 4) == 0;
}

const struct fr_launcher *fr_launcher_at(const struct fr_launch_command *c, int i) {
    const char *name = after_slash(c->word[i]);
    for (int k = 0; fr_launchers[k]; k++) {
        const struct fr_launcher *l = fr_launchers[k];
        if (fr_place_in(l->words, name) < 0) continue;
        if (!l->second || (i + 1 < c->n && fr_place_in(l->second, c->word[i + 1]) >= 0))
            return l;
    }
    return NULL;
}
