#include "models/job/preset.h"

#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "models/job/own.h"

const struct fr_preset *fr_preset_find(const char *kind, const char *name) {
    for (const struct fr_preset *p = fr_presets; p->name; p++)
        if (strcmp(p->kind, kind) == 0 && strcmp(p->name, name) == 0) return p;
    return NULL;
}

/* "h100" of "dgx-h100": a name of which it is a whole part, if there is one alone. */
static const char *part_of(const char *name, const char *const *known) {
    const char *found = NULL;
    size_t length = strlen(name);
    for (; length >= 2 && *known; known++)
        for (const char *at = strstr(*known, name); at; at = strstr(at + 1, name)) {
            bool begins = at == *known || at[-1] == '-',
                 ends = !at[length] || at[length] == '-';
            if (!begins || !ends) continue;
            if (found && found != *known) return NULL;
            found = *known;
        }
    return found;
}

/* A model where a cluster is asked for, or the like: two words were exchanged. */
static const char *exchanged(const char *kind, const char *name) {
    static const char *const kinds[] = {"cluster", "model", "runtime"};
    for (int i = 0; i < 3; i++)
        if (strcmp(kind, kinds[i]) != 0 && fr_preset_find(kinds[i], name)) return kinds[i];
    return NULL;
}

static fr_status unknown(const char *kind, const char *name, struct fr_error *err) {
    const char *known[64] = {NULL}, *other = exchanged(kind, name);
    int n = 0;
    for (const struct fr_preset *p = fr_presets; p->name && n < 63; p++)
        if (strcmp(p->kind, kind) == 0) known[n++] = p->name;
    const char *part = part_of(name, known), *near = part ? part : fr_suggest(name, known);
    if (other)
        return fr_fail(err, FR_ERR_INPUT, name,
                       "is a %s, and stands where a %s is asked for: give it as --%s", other,
                       kind, other);
    if (near)
        return fr_fail(err, FR_ERR_INPUT, name,
                       "is neither a file nor a %s preset; did you mean \"%s\"?", kind, near);
    return fr_fail(err, FR_ERR_INPUT, name,
                   "is neither a file nor a %s preset; see forerun list %ss", kind, kind);
}

/* JSON itself begins with a brace, which no preset does; a file that does is "./{...". */
static bool is_text(const char *name) { return name[strspn(name, " \t\r\n")] == '{'; }

const char *fr_preset_or_file_shown(const char *kind, const char *name) {
    return is_text(name) ? kind : name;
}

fr_status fr_preset_or_file_read(const char *kind, const char *name,
                                 struct fr_json_document **document, struct fr_error *err) {
    const struct fr_preset *preset = fr_preset_find(kind, name);
    char shown[96], own[FR_OWN_PATH_B];
    if (is_text(name)) return fr_json_parse(name, strlen(name), kind, document, err);
    if (!preset && strcmp(name, "-") != 0 && !fr_file_exists(name)) {
        FR_TRY(fr_own_file(kind, name, own, err));
        return *own ? fr_json_read(own, document, err) : unknown(kind, name, err);
    }
    if (!preset) return fr_json_read(name, document, err);
    snprintf(shown, sizeof shown, "preset %s", name);
    return fr_json_parse(preset->text, preset->length, shown, document, err);
}
