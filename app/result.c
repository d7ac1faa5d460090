#include "app/result.h"

#include <stdio.h>
#include <string.h>

#include "base/file.h"

fr_status fr_result_write(struct fr_result_file *r, const char *data, size_t length,
                          struct fr_error *err) {
    bool beside = r->lacks && strcmp(r->path, "-") != 0 && fr_file_holds(r->path);
    int needed =
        snprintf(r->written, sizeof r->written, "%s%s", r->path, beside ? ".partial" : "");
    if (needed < 0 || (size_t)needed >= sizeof r->written)
        return fr_fail(err, FR_ERR_IO, r->path, "has too long a name");
    FR_TRY(fr_file_write_last(r->written, data, length, err));
    if (!beside) return FR_OK;
    return fr_fail(err, FR_ERR_PARTIAL, r->path,
                   "is kept; the new result is in %.200s, since it lacks %.200s", r->written,
                   r->lacks);
}

fr_status fr_result_end(fr_status written, const struct fr_error *early, struct fr_error *err) {
    struct fr_error beside;
    if (early->status == FR_OK) return written;
    if (written != FR_OK && written != FR_ERR_PARTIAL) return written;
    if (written == FR_OK || !err) {
        if (err) *err = *early;
        return early->status;
    }
    beside = *err;
    return fr_fail(err, early->status, early->where, "%.300s; %.100s %.230s", early->detail,
                   beside.where, beside.detail);
}
