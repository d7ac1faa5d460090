#include "studies/marked.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"

/* Where the part begins and ends in @p text, past the first mark's line and before the second's. */
static fr_status find(const char *path, const char *name, char *text, char **begin, char **end,
                      struct fr_error *err) {
    char mark[2][96];
    snprintf(mark[0], sizeof mark[0], "<!-- %s: begin -->\n", name);
    snprintf(mark[1], sizeof mark[1], "<!-- %s: end -->", name);
    *begin = strstr(text, mark[0]);
    *end = *begin ? strstr(*begin, mark[1]) : NULL;
    if (!*end)
        return fr_fail(err, FR_ERR_INPUT, path,
                       "has no lines \"%.*s\" and \"%s\" in that order",
                       (int)strlen(mark[0]) - 1, mark[0], mark[1]);
    *begin += strlen(mark[0]);
    return FR_OK;
}

fr_status fr_marked_read(const char *path, const char *name, struct fr_text *part,
                         struct fr_error *err) {
    char *text = NULL, *begin, *end;
    size_t length = 0;
    FR_TRY(fr_file_read(path, FR_FILE_MAX_B, &text, &length, err));
    fr_status status = find(path, name, text, &begin, &end, err);
    if (status == FR_OK) fr_text_add(part, begin, (size_t)(end - begin));
    free(text);
    if (status == FR_OK && part->failed)
        status = fr_fail(err, FR_ERR_NOMEM, path, "does not fit in memory");
    return status;
}

fr_status fr_marked_write(const char *path, const char *name, const char *part,
                          struct fr_error *err) {
    char *text = NULL, *begin, *end;
    struct fr_text whole = {0};
    size_t length = 0;
    FR_TRY(fr_file_read(path, FR_FILE_MAX_B, &text, &length, err));
    fr_status status = find(path, name, text, &begin, &end, err);
    if (status == FR_OK) {
        fr_text_add(&whole, text, (size_t)(begin - text));
        fr_text_add(&whole, part, strlen(part));
        fr_text_add(&whole, end, length - (size_t)(end - text));
        status = whole.failed ? fr_fail(err, FR_ERR_NOMEM, path, "does not fit in memory")
                              : fr_file_write(path, fr_text_get(&whole), whole.length, err);
    }
    fr_text_free(&whole);
    free(text);
    return status;
}
