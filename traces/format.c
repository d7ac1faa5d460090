#include "traces/format.h"

#include <stddef.h>
#include <string.h>
#include <strings.h>

#define FR_FORMAT(name) extern const struct fr_format fr_format_##name;
#include "traces/format_list.h"
#undef FR_FORMAT

const struct fr_format *const fr_formats[] = {
#define FR_FORMAT(name) &fr_format_##name,
#include "traces/format_list.h"
#undef FR_FORMAT
    NULL};

enum { N_FORMATS = sizeof fr_formats / sizeof *fr_formats - 1 };

/* "chrome (.json), paje (.paje) or csv (.csv)" */
static void list_formats(struct fr_text *list) {
    for (int i = 0; i < N_FORMATS; i++)
        fr_text_addf(list, "%s%s (%s)",
                     i == 0               ? ""
                     : i == N_FORMATS - 1 ? " or "
                                          : ", ",
                     fr_formats[i]->name, fr_formats[i]->ending);
}

fr_status fr_format_find(const char *name, const struct fr_format **format,
                         struct fr_error *err) {
    const char *known[N_FORMATS + 1] = {NULL};
    for (int i = 0; i < N_FORMATS; i++) {
        known[i] = fr_formats[i]->name;
        if (strcmp(name, known[i]) != 0) continue;
        *format = fr_formats[i];
        return FR_OK;
    }
    struct fr_text list = {0};
    list_formats(&list);
    const char *near = fr_suggest(name, known);
    fr_status status =
        fr_fail(err, FR_ERR_USAGE, NULL, "there is no trace format \"%.40s\"; %s%s%suse %s",
                name, near ? "did you mean \"" : "", near ? near : "", near ? "\"? " : "",
                fr_text_get(&list));
    fr_text_free(&list);
    return status;
}

fr_status fr_format_for_file(const char *path, const struct fr_format **format,
                             struct fr_error *err) {
    const char *slash = strrchr(path, '/'), *dot = strrchr(path, '.');
    if (!dot || (slash && dot < slash)) dot = "";
    if (strcasecmp(dot, ".trace") == 0) dot = fr_format_paje.ending;
    for (int i = 0; i < N_FORMATS; i++) {
        if (strcasecmp(dot, fr_formats[i]->ending) != 0) continue;
        *format = fr_formats[i];
        return FR_OK;
    }
    struct fr_text list = {0};
    list_formats(&list);
    fr_status status =
        fr_fail(err, FR_ERR_USAGE, path, "its ending does not say which trace to write; use %s",
                fr_text_get(&list));
    fr_text_free(&list);
    return status;
}
