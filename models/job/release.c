#include "models/job/release.h"

#include <stdio.h>
#include <string.h>

#include "models/job/preset.h"
#include "models/job/runtime.h"

static const char kind[] = "runtime", any[] = " any ";

/* 0: it does not suit; 1: it suits any device; 2: this generation. */
static int suits(const char *list, const char *generation) {
    char word[FR_RUNTIME_NAME + 2];
    snprintf(word, sizeof word, " %s ", generation);
    return *generation && strstr(list, word) ? 2 : strstr(list, any) != NULL;
}

static const struct fr_preset *newest_that_suits(bool modern, const char *generation) {
    const struct fr_preset *newest = NULL;
    int best = 1;
    for (const struct fr_preset *p = fr_presets; p->name; p++) {
        if (strcmp(p->kind, kind) != 0 || (strcmp(p->defaults, "modern") == 0) != modern)
            continue;
        int how = suits(p->suits, generation);
        if (how < best || (newest && how == best && strcmp(p->date, newest->date) < 0))
            continue;
        best = how;
        newest = p;
    }
    return newest;
}

/* The preset that @p p comes from, if it is older; else NULL. */
static const struct fr_preset *before(const struct fr_preset *p) {
    struct fr_json_document *document = NULL;
    const struct fr_preset *from = NULL;
    char name[FR_RUNTIME_NAME] = "";
    if (fr_preset_or_file_read(kind, p->name, &document, NULL) == FR_OK) {
        struct fr_json root = fr_json_root(document);
        if (fr_json_get_string(&root, "from", false, name, sizeof name, NULL) == FR_OK)
            from = fr_preset_find(kind, name);
    }
    fr_json_free(document);
    return from && strcmp(from->date, p->date) < 0 ? from : NULL;
}

static bool is_newer(const struct fr_preset *p, const char *until) {
    return until && strncmp(p->date, until, strlen(until)) > 0;
}

void fr_release_newest(bool modern, const char *generation, const char *until, char *name) {
    const struct fr_preset *p = NULL, *at = newest_that_suits(modern, generation);
    for (; at; at = is_newer(at, until) ? before(at) : NULL) p = at;
    snprintf(name, FR_RUNTIME_NAME, "%s", p ? p->name : "");
}

/* Value of the last of @p sets that begins with @p equal; NULL: none does. */
static const char *last_set(const char *equal, const char *const *sets, int n_sets) {
    const size_t length = strlen(equal);
    const char *value = NULL;
    for (int i = 0; i < n_sets; i++)
        if (strncmp(sets[i], equal, length) == 0) value = sets[i] + length;
    return value;
}

const char *fr_release_name_set(const char *const *sets, int n_sets) {
    return last_set("runtime=", sets, n_sets);
}

const char *fr_release_date_set(const char *const *sets, int n_sets) {
    return last_set("runtime.date=", sets, n_sets);
}
