#include "app/words/wrong_value.h"

#include <stdio.h>
#include <string.h>

#include "base/text.h"

/* Is the place of @p err that of @p key?  "model.sequence" is "...#/sequence (--set)". */
static bool is_about(const struct fr_error *err, const char *key, size_t length) {
    char path[128], end[160];
    const char *dot = memchr(key, '.', length);
    size_t skip = dot ? (size_t)(dot - key) + 1 : 0;
    if (length >= sizeof path) return false;
    for (int whole = 1; whole >= 0; whole--) { /* "model.sequence", and "compression.rank" */
        size_t from = whole ? 0 : skip;
        snprintf(path, sizeof path, "%.*s", (int)(length - from), key + from);
        for (char *c = path; *c; c++)
            if (*c == '.') *c = '/';
        snprintf(end, sizeof end, "#/%s (--set)", path);
        if (strstr(err->where, end)) return true;
    }
    snprintf(end, sizeof end, "\"%.*s\"", (int)length, key);
    return strcmp(err->where, "--set") == 0 && strncmp(err->detail, end, strlen(end)) == 0;
}

static void name_option(struct fr_error *err, const char *option) {
    char where[sizeof err->where], *at = strstr(err->where, "--set");
    snprintf(where, sizeof where, "%.*s--%s%s", (int)(at - err->where), err->where, option,
             at + strlen("--set"));
    memcpy(err->where, where, sizeof where);
}

static bool is_several(const char *value) {
    return strstr(value, "..") || (strchr(value, ',') && !strpbrk(value, "[{"));
}

void fr_wrong_value(const struct fr_verb *verb, const struct fr_args *args,
                    struct fr_error *err) {
    for (int i = 0; i < args->n_options; i++) {
        const char *option = args->option[i]->name, *text = args->value[i];
        const char *equals = text ? strchr(text, '=') : NULL;
        bool keyed = strcmp(option, "set") == 0 || strcmp(option, "fix") == 0 ||
                     strcmp(option, "vary") == 0;
        if (!keyed || !equals || !is_about(err, text, (size_t)(equals - text))) continue;
        size_t used = strlen(err->detail);
        bool open = !strstr(err->detail, "; write ");
        name_option(err, option);
        if (strcmp(option, "vary") != 0 && open && is_several(equals + 1))
            fr_line_addf(err->detail, sizeof err->detail, &used,
                         "; several values: %s--vary %.64s",
                         fr_option_find(verb->options, "vary") ? "" : "forerun search ", text);
        return;
    }
}
